# SPDX-License-Identifier: MIT
"""What a cell's jobs have shown: kept as files, judged, and told in a line."""

import collections
import functools
import json
import os
import re
import subprocess

from . import blocks

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUTCOMES = ('pass', 'fail', 'unstable', 'skip', 'xfail', 'xpass', 'error')
BAD = ('fail', 'unstable', 'xpass', 'error')
SHOWN = 12  # ids of a job
ALIKE = 4  # more cases that are bad in the same way are no accident
# On a console, whose guest is dead; src/machine/alarm.c finds those of a log.
ALARMS = r'Kernel panic|PANIC:|Oops|BUG: |WARNING: .* at |rcu:? .*(stall|self-detected)|double fault|Unable to handle kernel'
AGAIN = 24  # cases of a job that are run again, alone; where more fail it is no accident


class Outcome:
    """Of one job: `all`, the outcome of each case, `tally` by outcome, `bad`, the cases that are not as they should be,
    and `wrong`, lines for people on anything else. `alone` are the cases that were bad beside others and pass alone,
    `without` those that were skipped and pass without the token that is their value."""

    def __init__(self, job):
        self.job, self.name, self.kind = job, job.name, job.kind
        self.tally, self.wrong, self.known, self.seconds = dict.fromkeys(OUTCOMES, 0), [], [], 0.0
        self.all, self.bad, self.alone, self.without, self.causes, self.unfit = {}, {}, {}, {}, {}, set()
        self.alarms = []
        self.ended = True

    def lines(self):
        """What is wrong, for people."""
        bad = [f'{outcome} {name}' for name, outcome in self.bad.items()]
        return [*self.wrong, *bad[:SHOWN], *([f'and {len(bad) - SHOWN} more'] if len(bad) > SHOWN else [])]


def _ended(own, name):
    """What the guest said of a job's end; what is garbled is not said."""
    numbers = {'status': int, 'signal': int, 'seconds': (int, float)}
    return next((line for line in own if line.get('over') == name and all(isinstance(line.get(key), of) for key, of in numbers.items())), None)


def _judge_end(outcome, over, allowed):
    """Whether the job came to its end, with one of the allowed statuses."""
    if over is None:
        outcome.wrong.append('it had not ended when the guest was stopped')
        outcome.ended = False
        return
    outcome.seconds += over['seconds']
    if over['status'] == -2:
        outcome.wrong.append('the guest could not start it; its console says why')
    elif over['status'] == -1:
        outcome.wrong.append(f'it was killed after {over["seconds"]:.0f} s')
    elif over['signal']:
        outcome.wrong.append(f'it died of signal {over["signal"]}')
    elif over['status'] not in allowed:
        outcome.wrong.append(f'its exit status was {over["status"]}')


def _judge_suite(outcome, over, lines, err, ends):
    begun = {}
    for line in lines:
        if line.get('type') == 'begin':
            begun[str(line.get('id'))] = True
        if line.get('type') != 'result':
            continue
        if line.get('outcome') not in OUTCOMES or not isinstance(line.get('id'), str):
            outcome.wrong.append(f'a result of its report is none: {json.dumps(line)[:80]}')
            continue
        begun.pop(line['id'], None)
        outcome.all[line['id']] = line['outcome']
        if line['outcome'] == 'skip' and str(line.get('token')).startswith('case.'):
            outcome.unfit.add(line['id'])
        outcome.tally[line['outcome']] += 1
        if line['outcome'] in BAD:
            outcome.bad[line['id']] = line['outcome']
            outcome.causes[line['id']] = tuple(str(line.get(key)) for key in ('suite', 'call', 'expected', 'got', 'reason'))
        if line.get('without') == 'pass':
            outcome.without[line['id']] = line['token']
        if line['outcome'] == 'xfail':
            outcome.known.append((line['id'], line.get('deviation', {}).get('function')))
    outcome.alarms = [line for line in lines if line.get('type') == 'alarm']
    _judge_end(outcome, over, (*ends, *((1,) if outcome.bad or outcome.alarms else ()), *((3,) if 'error' in outcome.bad.values() else ())))
    outcome.wrong += [_alarm(alarm, ', '.join(alarm.get('during', {}).get('last', ())) or 'no case') for alarm in outcome.alarms if not known_alarm(alarm)]
    if not any(line.get('type') == 'summary' for line in lines):
        outcome.wrong.append('its report has no end; ' + (f'these cases were running: {", ".join(begun)}' if begun else 'no case was running'))
        outcome.wrong += err.decode('utf-8', 'replace').splitlines()[:SHOWN]


@functools.lru_cache
def _known_alarms():
    with open(os.path.join(TOP, 'ci/matrix.json')) as file:
        return json.load(file)['alarms']


def known_alarm(alarm):
    """Why the kernel raises it, of one that ci/matrix.json knows, of whatever machine; or None."""
    return next((f'{one["function"]}() {one["why"]}' for one in _known_alarms() if re.search(one['in'], alarm.get('text') or '')), None)


def _alarm(alarm, during):
    return f'the kernel reported a fault of its own ({alarm.get("is")}): {alarm.get("text") or "see /proc/sys/kernel/tainted"}; during {during}'


def alarms_outside(about, runs):
    """For people, the alarms that the guest found in its kernel's log, but those that a run of the suite has told with its cases."""
    told = {alarm.get('text') for run in runs for alarm in run.alarms}
    return [_alarm(alarm, alarm['job'] or 'no job') for alarm in about.get('alarms', ()) if alarm['text'] not in told and not known_alarm(alarm)]


def to_run_again(outcome):
    """The ids of what is bad and may be the others' doing: the run came to its end, and few cases are bad, beside those that are bad in the same way as many."""
    alike = collections.Counter(outcome.causes.values())
    ids = [name for name in outcome.bad if alike[outcome.causes[name]] <= ALIKE]
    return ids if outcome.kind == 'suite' and not outcome.wrong and len(ids) <= AGAIN else []


def correct(outcome, again):
    """A run by what its bad cases did when they were run again, alone: what passes then has passed.

    An unstable one is skipped whose requirement, which is probed each time, does not hold then: it comes and goes as well. So is any whose
    requirement is another case, which finds then that the machine is not what this one needs."""
    outcome.seconds += again.seconds
    outcome.wrong += [f'run again alone: {line}' for line in again.wrong]
    for name, before in list(outcome.bad.items()):
        now = again.all.get(name)
        if now == 'pass' or now == 'skip' and (before == 'unstable' or name in again.unfit):
            outcome.alone[name] = f'{outcome.bad.pop(name)} beside other cases, {now} alone'
            outcome.tally[before] -= 1
            outcome.tally[now] += 1


def _judge_decode(outcome, over, job, out):
    _judge_end(outcome, over, (0, 1))  # 1: the recording is damaged
    same = out == job.expected
    if over is None or over['status'] < 0:
        return  # it has not run, or not to its end
    outcome.tally['pass' if same else 'fail'] += 1
    if not same:
        outcome.wrong.append('the lines are not those of fixtures/')


def _judge_recording(folder, decode, outcome, overs, outputs, job, error):
    """A recording, of three jobs: made, decoded there, handed out. What the host decodes of it must be the same, and have the records it is for."""
    if job.optional and overs[0] and overs[0]['status'] == 2 and b'cannot open the event' in error:
        outcome.tally['skip'] += 1
        return
    for over in overs:
        _judge_end(outcome, over, (0,))
    if not outcome.ended:
        return
    ring = '.ring' in job.words[job.words.index('--output') + 1]
    recording, attr = (os.path.join(folder, f'{job.name}.{suffix}') for suffix in ('ring' if ring else 'data', 'attr.json'))
    _write(folder, os.path.basename(recording), outputs[2])
    _write(folder, os.path.basename(attr), job.attr)
    here = subprocess.run([decode, *(['--attr', attr] if ring else []), recording], capture_output=True)
    if here.returncode or here.stdout != outputs[1]:
        _write(folder, f'{job.name}.there.jsonl', outputs[1])
        _write(folder, f'{job.name}.here.jsonl', here.stdout)
        outcome.wrong.append('its lines there are not its lines here' if here.stdout != outputs[1] else 'there is something wrong with it')
    missing = collections.Counter(job.holds) - collections.Counter(line.get('type') for line in blocks.lines(outputs[1]))
    if missing:
        outcome.wrong.append(f'it holds too few: {", ".join(sorted(missing))}')
    if outcome.wrong:
        outcome.wrong += error.decode('utf-8', 'replace').splitlines()[:SHOWN]
    outcome.tally['fail' if outcome.wrong else 'pass'] += 1


def judge(folder, jobs, streams, decode, ends=(0,)):
    """The outcomes of the jobs, whose output is put into the folder. `decode` is a perfabi-decode of this machine, `ends` are
    the exit statuses of a run of the suite in which nothing is bad: 4 is one that skipped everything."""
    own = blocks.lines(streams.get(0, b''))
    outcomes = []
    _write(folder, 'guest.jsonl', streams.get(0, b''))
    for number, job in enumerate(jobs):
        out, err = streams.get(2 * number + 1, b''), streams.get(2 * number + 2, b'')
        outcome, over = Outcome(job), _ended(own, job.name)
        if job.kind == 'suite':
            _judge_suite(outcome, over, blocks.lines(out), err, ends)
            _write(folder, f'{job.name}.jsonl', out)
        elif job.kind == 'record':
            _judge_recording(folder, decode, outcome, [_ended(own, one.name) for one in jobs[number:number + 3]],
                             [streams.get(2 * one + 1, b'') for one in range(number, number + 3)], job, err)
        elif job.kind in ('lines', 'bytes'):
            continue  # judged with what was recorded
        elif job.kind == 'decode':
            _judge_decode(outcome, over, job, out)
            if outcome.wrong:
                _write(folder, f'{job.name}.jsonl', out)
        if err:
            _write(folder, f'{job.name}.err', err)
        outcomes.append(outcome)
    return outcomes


def guest(streams):
    """What the guest said of itself: release, machine, page_size, cpus, paranoid; and whether it came to its end.

    `alarms` are those of its kernel, each with the job that was running."""
    own = blocks.lines(streams.get(0, b''))
    about, job = dict(next((line for line in own if 'release' in line), {})), None
    for line in own:
        job = line.get('begin', None if 'over' in line else job)
        if about and 'alarm' in line:
            about.setdefault('alarms', []).append({'is': line['alarm'], 'text': line.get('text', ''), 'job': job})
    if about:
        about['missing'] = [line for line in own if 'pmu' in line]
    return about, any('end' in line for line in own)


def missing_pmus(about):
    """What the guest said of PMUs of ci/pmu that it could not register."""
    return [f'{line["pmu"]}: {os.strerror(line["errno"])}' for line in about.get('missing', ())]


def said_by_kernel(console):
    """The first line of a console in which the kernel of a guest that has not come to its end says that it has gone wrong itself."""
    with open(console, errors='replace') as file:
        for line in file:
            if re.search(ALARMS, line):
                return [f'the kernel said: {line.strip()}; see {console}']
    return []


def _write(folder, name, data):
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(data)


def keep(folder, result):
    with open(os.path.join(folder, 'result.json'), 'w') as file:
        json.dump(result, file, indent=1)


HEAD = ('cell', 'kernel', 'run', *OUTCOMES, 'wrong', 'alone', 'seconds')


def rows(result):
    """The rows of the table for one cell: a run of the suite each, and one for all recordings."""
    for run in result['runs']:
        yield (result['cell'], result.get('release', ''), run['name'], *(str(run['tally'][o]) for o in OUTCOMES), str(run['wrong']), str(len(run['alone'])), f'{run["seconds"]:.0f}')
    why = result.get('left-out') or (not result['runs'] and result.get('wrong', [''])[0])
    if why:
        yield (result['cell'], result.get('release', ''), why.splitlines()[0], *[''] * (len(HEAD) - 3))


def table(results):
    """All cells as a table in Markdown, which also reads well as it is."""
    lines = [HEAD, *(row for result in results for row in rows(result))]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    numeric = range(3, len(HEAD))
    def put(line):
        return '| ' + ' | '.join(cell.rjust(w) if i in numeric else cell.ljust(w) for i, (cell, w) in enumerate(zip(line, widths))) + ' |\n'
    rule = '|' + '|'.join('-' * (w + 1) + ':' if i in numeric else '-' * (w + 2) for i, w in enumerate(widths)) + '|\n'
    return put(lines[0]) + rule + ''.join(put(line) for line in lines[1:])
