# SPDX-License-Identifier: MIT
"""What ci/cells makes of blocks, archives and results, where no machine has to boot."""

import argparse
import contextlib
import gzip
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import struct
import sys
import tempfile
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, 'ci'))
sys.dont_write_bytecode = True

from cells import blocks, debian, gcov, guest, jobs, kernels, mutants, page, programs, recordings, results  # noqa: E402
from cells.error import Trouble, Unavailable  # noqa: E402
from cells.initramfs import Initramfs  # noqa: E402

NONCE = bytes(range(16))


def block(stream, number, payload, nonce=NONCE, crc=None):
    head = nonce + struct.pack('<4I', stream, number, len(payload), zlib.crc32(payload) if crc is None else crc)
    return (head + payload).ljust(blocks.BLOCK, b'\0')


def read(*parts):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b''.join(parts))
        file.flush()
        return blocks.read(file, NONCE)


def test_blocks():
    full, page = b'x' * (blocks.BLOCK - 32), b'\0' * blocks.BLOCK
    assert read(page, block(3, 0, full), page * 5, block(3, 1, b'end')) == {3: full + b'end'}
    assert read(block(3, 1, b'end'), block(3, 0, full)) == {3: full + b'end'}, 'in whatever order they lie'
    assert read(block(3, 0, b'end'), block(3, 0, b'en')) == {3: b'end'}, 'an older copy of a block'
    assert read(block(3, 0, b'end', crc=1)) == {}, 'a block that was being written'
    assert read(block(3, 0, full), block(3, 2, b'later')) == {3: full}, 'what follows a block that is missing'
    assert read(block(3, 0, b'x', nonce=b'y' * 16)) == {}, "another guest's"
    assert read(b'\0' * 8, block(3, 0, b'x')) == {}, 'a copy of a block elsewhere, as on a stack'
    assert read(block(0, 0, b'{"a":1}\n'), block(1, 0, b'{"b":')) == {0: b'{"a":1}\n', 1: b'{"b":'}
    assert blocks.lines(b'{"a":1}\n[1]\n{"b":') == [{'a': 1}]
    many = b''.join(block(1, number, full) for number in range(8192))
    assert len(read(many)[1]) == 8192 * len(full), 'in no more than a second or two'


def test_holes():
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(1 << 30)
        os.pwrite(file.fileno(), block(1, 0, b'far'), 900 << 20)
        assert blocks.read(file, NONCE) == {1: b'far'}


def unpacked(archive):
    """The members of a cpio archive of the kind that the kernel reads (newc): name: (mode, content)."""
    members, at = {}, 0
    while True:
        assert archive[at:at + 6] == b'070701', at
        fields = [int(archive[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = archive[at + 110:at + 110 + name_size - 1].decode()
        content = (at + 110 + name_size + 3) & ~3
        if name == 'TRAILER!!!':
            return members
        members[name] = (mode, archive[content:content + size])
        at = (content + size + 3) & ~3


def test_initramfs():
    image = Initramfs()
    image.file('a/b/c', b'text')
    image.file('run', b'#!/bin/sh\n', 0o755)
    with tempfile.TemporaryDirectory() as folder:
        image.write(f'{folder}/image')
        with gzip.open(f'{folder}/image') as file:
            members = unpacked(file.read())
    assert members == {'a': (0o40755, b''), 'a/b': (0o40755, b''), 'a/b/c': (0o100644, b'text'), 'run': (0o100755, b'#!/bin/sh\n')}, members


def judged(*lines, own=({'over': 'j', 'status': 0, 'signal': 0, 'seconds': 1.0},), ends=(0,)):
    def text(dicts):
        return ''.join(json.dumps(line) + '\n' for line in dicts).encode()

    with tempfile.TemporaryDirectory() as folder:
        outcome, = results.judge(folder, [jobs.Job('j', ['/x'])], {0: text(own), 1: text(lines)}, None, ends)
    return outcome


def test_suite():
    end = {'type': 'summary'}
    passed, failed = ({'type': 'result', 'id': name, 'outcome': name} for name in ('pass', 'fail'))
    assert judged(passed, end).wrong == [] and judged(passed, end).tally['pass'] == 1
    assert judged(passed, failed, end).lines() == ['fail fail']
    skipped = {'over': 'j', 'status': 4, 'signal': 0, 'seconds': 1.0}
    assert judged(end, own=(skipped,)).wrong, 'everything was skipped'
    assert judged(end, own=(skipped,), ends=(4,)).wrong == [], 'on a kernel without perf events'
    assert judged(end, ends=(4,)).wrong, 'something was not'
    assert judged({'type': 'result', 'id': 'a', 'outcome': 'skip', 'token': 't', 'without': 'pass'}, end).without == {'a': 't'}
    assert judged({'type': 'result', 'id': 'a', 'outcome': 'odd'}, end).wrong, 'an outcome that is none'
    assert judged(own=({'over': 'j', 'status': -2, 'signal': 0, 'seconds': 0},)).wrong, 'it was not started'
    # A guest that hung: who had begun is named, and nothing else passes for an end.
    hung = judged(passed, {'type': 'begin', 'id': 'a.b'}, own=())
    assert hung.wrong[0] == 'it had not ended when the guest was stopped' and 'a.b' in hung.wrong[1], hung.wrong
    assert judged(passed, end, own=({'over': 'j'},)).wrong == hung.wrong[:1], 'what the guest says is garbled'
    failed = {'over': 'j', 'status': 1, 'signal': 0, 'seconds': 1.0}
    alarm = {'type': 'alarm', 'is': 'warning', 'text': 'WARNING: x', 'during': {'count': 2, 'last': ['a.b', 'c.d']}}
    assert judged(passed, alarm, end, own=(failed,)).wrong == ['the kernel reported a fault of its own (warning): WARNING: x; during a.b, c.d']
    assert judged(own=({'over': 'j', 'status': 2, 'signal': 0, 'seconds': 1.0},)).wrong, 'wrong usage'
    assert judged(passed, end, own=({'over': 'j', 'status': 0, 'signal': 11, 'seconds': 1.0},)).wrong, 'a signal'
    assert judged(own=({'over': 'j', 'status': 0, 'signal': 0, 'seconds': 1.0},)).wrong, 'nothing printed'


def test_run_again():
    def run(*pairs, own=({'over': 'j', 'status': 1, 'signal': 0, 'seconds': 1.0},)):
        return judged(*({'type': 'result', 'id': name, 'outcome': outcome, 'reason': ''.join(reason), 'token': ''.join(reason)} for name, outcome, *reason in pairs), {'type': 'summary'}, own=own)

    first = run(('a', 'pass'), ('b', 'fail'), ('c', 'error'), ('d', 'fail'), ('e', 'fail'), ('f', 'unstable', 'of another cause'), ('g', 'fail', 'of a third'))
    assert jobs.alone(first.job, results.to_run_again(first)).words == ['/x', '--jobs', '1', 'b', 'c', 'd', 'e', 'f', 'g']
    results.correct(first, run(('b', 'pass'), ('c', 'fail'), ('d', 'skip', 'quiet'), ('f', 'skip'), ('g', 'skip', 'case.machine.pmu.exact')))
    assert first.alone == {'b': 'fail beside other cases, pass alone', 'f': 'unstable beside other cases, skip alone', 'g': 'fail beside other cases, skip alone'}, 'what is skipped or missing has not passed'
    assert first.lines() == ['error c', 'fail d', 'fail e'], first.lines()
    assert first.tally == {'pass': 2, 'fail': 2, 'unstable': 0, 'skip': 2, 'xfail': 0, 'xpass': 0, 'error': 1}, first.tally
    # What did not come to an end, the first time or the second, changes nothing.
    assert not results.to_run_again(run(('b', 'fail'), own=()))
    first = run(('b', 'fail'))
    results.correct(first, run(('b', 'pass'), own=()))
    assert first.wrong, 'the second boot did not come to its end'
    assert not results.to_run_again(run(('a', 'pass'))), 'nothing is bad'
    assert not results.to_run_again(run(*((str(i), 'fail', str(i)) for i in range(results.AGAIN + 1)))), 'that is no accident'
    alike = run(*((str(i), 'fail') for i in range(results.ALIKE + 1)), ('odd', 'fail', 'another reason'))
    assert results.to_run_again(alike) == ['odd'], 'of many that are alike none is run again; of the others, each'


def test_counted_lines():
    """Blocks of lines that did not run, over boots, and the reasons for them."""
    def said(counts):
        lines = [{'line_number': n, 'count': count, 'branches': [{'count': count}, {'count': 0}] if n == 11 else []} for n, count in counts.items()]
        return {'functions': [{'name': 'f', 'start_line': 10, 'end_line': 16}, {'name': 'g', 'start_line': 20, 'end_line': 22}], 'lines': lines}

    file = gcov.File()
    file.add(said({10: 1, 11: 1, 12: 0, 14: 0, 15: 1, 16: 0, 20: 0, 22: 0}))
    assert file.unreached() == [('g', 0, None), ('f', 2, 4), ('f', 6, 6)], file.unreached()
    assert file.tally() == ((1, 2), (3, 8), (1, 2)), file.tally()
    known = [{'file': 'x.c', 'functions': 'g', 'why': 'boot: a'}, {'file': 'x.c', 'functions': 'f', 'lines': '6', 'why': 'race: b'}]
    without, idle, lines = gcov.explain({'x.c': file}, known)
    assert without == [('x.c', 'f', 2, 4, 2)] and not idle and lines == {'boot': 2, 'race': 1}, (without, idle, lines)
    # What another boot reaches is reached, and its reason is one too many.
    file.add(said({10: 1, 11: 1, 12: 0, 14: 0, 15: 0, 16: 1, 20: 1, 22: 0}))
    without, idle, lines = gcov.explain({'x.c': file}, known)
    assert idle == known and [one[1:4] for one in without] == [('f', 2, 4), ('g', 2, 2)], (without, idle)


def test_untaken_branches():
    """Why branches are not taken: by their line's text, by their place and number, or because their line does not run; and what a case could take."""
    def line(n, count, *taken):
        return {'line_number': n, 'count': count, 'branches': [{'count': one} for one in taken]}

    file = gcov.File()
    lines = [line(1, 1), line(2, 1, 1, 0), line(3, 1, 0, 1), line(4, 1, 0, 0), line(5, 0, 0, 0), line(6, 0, 0), line(7, 1, 0, 1), line(8, 1), line(10, 1, 1, 0)]
    file.add({'functions': [{'name': 'f', 'start_line': 1, 'end_line': 8}], 'lines': lines})
    known = [{'file': 'callchain.c', 'functions': 'f', 'lines': '4-5', 'why': 'race: a'}]
    places = 'f+1:3 f+2 f+3 f+6:2 f+8 ?+10'  # f+1 has a text, which comes first; of f+3 it is one of two, of f+6 two of one
    branches = [{'text': 'WARN', 'why': 'assertion: b'}, {'file': 'callchain.c', 'at': places, 'why': 'dead: c'}, {'file': 'core.c', 'at': 'f+3', 'why': 'dead: d'}]
    with tempfile.TemporaryDirectory() as src:
        os.makedirs(f'{src}/kernel/events')
        with open(f'{src}/kernel/events/callchain.c', 'w') as source:
            source.write('f()\nif (WARN_ON(x))\nif (y)\nif (z)\nif (never)\nif (either)\nif (two)\n}\n\nif (inlined)\n')
        without, idle, kinds = gcov.explain_branches(src, {'callchain.c': file}, known, branches)
        assert without == [('callchain.c', 'f', 3, 1, 'if (z)')], without
        assert idle == ['callchain.c f+6, 2 branches, 1 of them not taken', 'callchain.c f+1', 'callchain.c f+8', 'core.c f+3'], idle
        assert kinds == {'callchain.c': {'assertion': 1, 'dead': 4, 'race': 3}}, kinds
        # What waits for a case is left.
        known[0]['why'] = 'case: a'
        without, idle, _ = gcov.explain_branches(src, {'callchain.c': file}, known, branches[:1])
        assert [one[1:4] for one in without] == [('f', 2, 1), ('f', 3, 2), ('f', 4, 2), ('f', 5, 1), ('f', 6, 1), ('?', 10, 1)] and not idle, (without, idle)
    table = gcov.table_of_branches({'callchain.c': file}, kinds)
    assert table.splitlines()[-1] == '| callchain.c | 13 | 4 | 4 | 3 | 1 | 1 | 80.0 |', table
    left = {gcov.name_of(stem): 0 for stem in gcov.MEASURED}
    for branch, more, said in (
            *(({'file': 'core.c', 'at': wrong, 'why': 'dead: e'}, left, wrong.split()[-1]) for wrong in ('f', 'f+', 'f+1:', 'f+1:0', 'f+1 f+1:2')),
            ({'text': 'a*', 'why': 'dead: e'}, left, 'matches every line'), ({'text': 'a', 'why': 'Dead: e'}, left, 'why begins with'),
            ({'text': 'a', 'at': 'f+1', 'why': 'dead: e'}, left, 'has why, and text, or'), ({'text': 'a', 'why': 'dead: e'}, {}, 'left has each file')):
        with tempfile.NamedTemporaryFile('w') as reasons:
            json.dump({'uncovered': [], 'branches': [branch], 'left': more}, reasons)
            reasons.flush()
            try:
                gcov.load_reasons(reasons.name)
            except Trouble as e:
                assert said in str(e), e
            else:
                raise AssertionError(f'{branch} is no reason')


KERNEL = '''
/* a > b */
static int perf_x(struct event *event, int n)
{
	u64 size;

	if (n > 3 || (event->ok && has(n, 'x') == 1)) /* n < 3 */
		return -EINVAL;
	size = n + 1;
	event->size += size;
	if (n == -ENOENT)
		return -E2BIG;
	local64_set(&event->count, 0);
	return 0;
}

static bool is_x(const struct event *event)
{
	/* if (a < b) return -EINVAL; */
	return true;
}
'''
MUTANTS = '''
/* a > b */
static int perf_x(struct event *event, int n)
{
	u64 size;

	if ((M(1) ? (n >= 3) : ((!M(2) && (n > 3)))) || ((M(3) || (event->ok)) && (M(4) ? (has(n, 'x') != 1) : ((M(5) || (has(n, 'x') == 1)))))) /* n < 3 */
		return (M(6) ? -EOPNOTSUPP : -EINVAL);
	size = n + 1;
	do { if (!M(7)) event->size += size; } while (0);
	if ((M(8) ? (n != -ENOENT) : ((!M(9) && (n == -ENOENT)))))
		return (M(10) ? -EINVAL : -E2BIG);
	do { if (!M(11)) local64_set(&event->count, 0); } while (0);
	return 0;
}

static bool is_x(const struct event *event)
{
	/* if (a < b) return -EINVAL; */
	return (M(12) ^ true);
}
'''


def test_mutants():
    found = list(mutants.find('x.c', KERNEL))
    for number, one in enumerate(found, 1):
        one.number = number
    made = mutants.put(KERNEL, found)
    assert made == '#include <linux/perf_mutant.h>\n' + MUTANTS, made
    assert [(one.function, one.line) for one in (found[0], found[-1])] == [('perf_x', 7), ('is_x', 20)], [(one.function, one.line) for one in found]
    assert len({one.key for one in found}) == len(found)
    later = list(mutants.find('x.c', '\n\n' + KERNEL))
    assert [one.key for one in later] == [one.key for one in found], 'a key stays where lines move'


class FakeBoot:
    """A guest that finds these cases good, or bad, without a mutant."""

    def __init__(self, steady):
        self.steady = steady

    def run(self, name, word, files):
        return [f'{"alive" if self.steady else "unsteady"} 0 1'], None


def kernel_mutants():
    script = importlib.machinery.SourceFileLoader('kernel_mutants', os.path.join(TOP, 'ci/kernel-mutants'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('kernel_mutants', script))
    script.exec_module(module)
    return module


def judged_mutants(boot, *boots):
    """The results of mutants 1 and 2 after boots that said these lines and ended so, and what each boot has settled."""
    module = kernel_mutants()
    found = list(mutants.find('x.c', KERNEL))[:2]
    for number, one in enumerate(found, 1):
        one.number = number
    mapped = module.Map(['reach s 1 011'], [{'id': 's.a.root', 'suite': 's', 'name': 'a', 'as': 'root', 'spec': {'kernel': 'perf_x'}}])
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        results = module.Results(os.path.join(folder, 'results.json'), [])
        work = module.Work(boot, mapped, results, found, argparse.Namespace(deadline=1, out=folder))
        settled = [work.judge(lines, why) for lines, why in boots]
    return [results.all.get(one.key, {}).get('verdict') for one in found], settled, work


def test_record_of_mutants():
    """Which case noticed a mutant is kept beside why others are alive, and comes first the next time."""
    reason = {'mutants': 'a b', 'in': 'f', 'why': 'equal: "x"'}
    with tempfile.TemporaryDirectory() as folder:
        module = kernel_mutants()
        module.RECORD = os.path.join(folder, 'record.json')
        with open(module.RECORD, 'w') as file:
            json.dump({'alive': [reason], 'killed': {'c': 's.a.root', 'd': 's.a.root'}}, file)
        results = module.Results(os.path.join(folder, 'results.json'), [])
        assert results.noticed == {'c': 's.a.root', 'd': 's.a.root'}
        one, other = list(mutants.find('x.c', KERNEL))[:2]
        results.put(one, 'killed', 's.b.root (and without it from then on)')
        results.put(other, 'alive', '')
        module.update_record(results)
        assert module.read_record() == {'alive': [reason], 'killed': {'c': 's.a.root', 'd': 's.a.root', one.key: 's.b.root'}}, module.read_record()
        assert module.Results(os.path.join(folder, 'no.json'), []).noticed[one.key] == 's.b.root'


def test_judging_of_mutants():
    good = FakeBoot(True)
    verdicts, settled, work = judged_mutants(good, (['begin 1', 'ran 1', 'killed 1 s.a.root', 'begin 2', 'over 2 9', 'end'], None))
    assert verdicts == ['killed', 'alive'] and settled == [{1, 2}], (verdicts, settled)
    assert work.line(work.by_number[1]) == '1 1 =s.a.root\n', 'the case that noticed it comes first, and once'
    verdicts, settled, _ = judged_mutants(good, (['begin 1'], None), (['begin 1'], None))
    assert verdicts == ['killed', None] and settled == [set(), {1}], 'a crash is one the second time'
    verdicts, settled, _ = judged_mutants(good, (['begin 1', 'killed 2 s.a.root'], 'hung'))
    assert verdicts == [None, None] and settled == [set()], 'a verdict is of the mutant that was begun'
    unsteady = ['begin 1', 'unsteady 1 s.a.root']
    verdicts, settled, _ = judged_mutants(good, (unsteady, None), (unsteady, None))
    assert verdicts == ['killed', None], 'what stays in the kernel is the mutant\'s doing'
    verdicts, settled, work = judged_mutants(FakeBoot(False), (unsteady, None), (unsteady, None))
    assert verdicts == [None, None] and work.map.unsteady == {'s.a.root'}, 'a case that fails by itself kills nothing'


def test_alarms():
    """Those of the guest's log, with their jobs; what a run has told with its cases is told once."""
    lines = [{'release': '6.1'}, {'alarm': 'warning', 'text': 'WARNING: at boot'}, {'begin': 'j', 'job': 0}, {'alarm': 'oops', 'text': 'Oops: x'},
             {'alarm': 'rcu stall', 'text': 'INFO: rcu'}, {'over': 'j'}, {'alarm': 'taint', 'text': ''}, {'end': 0}]
    about, ended = results.guest({0: ''.join(json.dumps(line) + '\n' for line in lines).encode()})
    assert ended and [alarm['job'] for alarm in about['alarms']] == [None, 'j', 'j', None], about
    told = judged({'type': 'alarm', 'is': 'oops', 'text': 'Oops: x', 'during': {'count': 0, 'last': []}}, {'type': 'summary'})
    assert 'during no case' in told.wrong[0], told.wrong
    first, second, third = results.alarms_outside(about, [told])
    assert first.endswith('(warning): WARNING: at boot; during no job') and second.endswith('INFO: rcu; during j') and 'tainted' in third, (first, second, third)
    assert results.guest({}) == ({}, False)
    known = {'type': 'alarm', 'is': 'warning', 'text': 'WARNING: CPU: 0 PID: 165 at arch/riscv/kernel/probes/uprobes.c:75 arch_uprobe_post_xol+0x42/0x46'}
    assert not judged(known, {'type': 'summary'}).wrong and 'do_page_fault' in results.known_alarm(known)
    assert not results.alarms_outside({'alarms': [{**known, 'job': 'j'}]}, [])
    for other in known['text'].replace('post', 'pre'), known['text'].replace('riscv', 'x86'), known['text'].replace('WARNING', 'Oops'):
        assert judged({**known, 'text': other}, {'type': 'summary'}).wrong, other
    newer = 'WARNING: arch/riscv/kernel/probes/uprobes.c:75 at arch_uprobe_post_xol+0x42/0x46, CPU#0: perfabi/165'
    assert results.known_alarm({'text': newer}), newer


def test_console():
    with tempfile.NamedTemporaryFile('w+') as console:
        console.write('command line: quiet panic=-1\ncell: {"begin":"j"}\n')
        console.flush()
        assert results.said_by_kernel(console.name) == []
        for alarm in ('WARNING: CPU: 0 PID: 1 at kernel/events/core.c:1 f+0x1/0x2', 'WARNING: kernel/events/core.c:1 at f+0x1/0x2, CPU#0: x/1', 'rcu: INFO: rcu_sched self-detected stall on CPU', 'watchdog: BUG: soft lockup - CPU#0 stuck for 26s!'):
            assert re.search(results.ALARMS, f'[ 1.0] {alarm}'), alarm
        console.write('[   45.8] traps: PANIC: double fault, error_code: 0x0\n')
        console.flush()
        line, = results.said_by_kernel(console.name)
        assert 'PANIC: double fault' in line and console.name in line, line


def recorded(made, there, here=None, optional=True, holds=('SAMPLE',)):
    """A recording's outcome: the status of capture, the lines there, those of the decoder here, whether a kernel may refuse it, and what it must hold."""
    with tempfile.TemporaryDirectory() as folder:
        decode = os.path.join(folder, 'decode')
        with open(decode, 'w') as file:
            file.write(f"#!/bin/sh\nprintf '{there if here is None else here}'\n")
        os.chmod(decode, 0o755)
        own = ''.join(json.dumps({'over': name, 'status': made if name == 'r' else 0, 'signal': 0, 'seconds': 1.0}) + '\n' for name in ('r', 'r.lines', 'r.bytes'))
        todo = [jobs.Job('r', ['/x', '--output', 'r.data'], kind='record', attr=b'{}', holds=holds, optional=optional), jobs.Job('r.lines', ['/x'], kind='lines'),
                jobs.Job('r.bytes', ['/x'], kind='bytes')]
        error = b'perfabi capture: cannot open the event of attr 0: No such file or directory' if made == 2 else b'perfabi capture: wrong'
        outcome, = results.judge(folder, todo, {0: own.encode(), 2: error, 3: there.encode(), 5: b'bytes'}, decode)
    return outcome


def test_progress():
    """A guest may be as slow as it is, while it goes on; when it does not, it is over after a while, however often one asks."""
    going = guest.Progress(100)
    looks = []
    for now in range(0, 3000):
        assert not going.is_over(now, lambda: looks.append(now) or now // 90), now
    assert len(looks) == 3000 // guest.LOOK_SECONDS, 'a look costs'
    hung = guest.Progress(100)
    over = [now for now in range(0, 300) if hung.is_over(now, lambda: 'the same')]
    assert over[0] == 101, over[:1]


def test_kernels():
    """An image that is not what was fetched, or is of another cell's wishes, is none; and who cannot fetch one says where there is none."""
    cell = {'name': 'x', 'arch': 'amd64', 'suite': 's', 'flavour': 'f'}
    with tempfile.TemporaryDirectory() as cache:
        folder = os.path.join(cache, 'kernels/x')
        os.makedirs(folder)
        with open(f'{folder}/image', 'wb') as file:
            file.write(b'image')
        with open(f'{folder}/kernel.json', 'w') as file:
            json.dump({'asked': {key: cell.get(key) for key in ('arch', 'suite', 'flavour', 'version', 'user-mode')}, 'release': '1', 'image-sha256': debian.sha256(f'{folder}/image')}, file)
        assert kernels.cached(cache, cell)['release'] == '1' and kernels.fetch(cache, cell)['release'] == '1'
        assert not kernels.cached(cache, {**cell, 'suite': 'other'})
        with open(f'{folder}/image', 'wb') as file:
            file.write(b'damaged')
        assert not kernels.cached(cache, cell)
        before, kernels._fetch_packaged = kernels._fetch_packaged, lambda *_: (_ for _ in ()).throw(Unavailable('no network'))
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                kernels.fetch(cache, cell)
        except Unavailable as e:
            assert cache in str(e) and 'no network' in str(e), e
        else:
            raise AssertionError('a damaged image is used')
        finally:
            kernels._fetch_packaged = before
        assert 'damaged' in said.getvalue() and 'x' in said.getvalue(), said.getvalue()


def test_killed():
    """A decoder that was killed, or not started, has neither passed nor failed: the guest is what is wrong."""
    job = jobs.Job('d', ['/x'], kind='decode', expected=b'lines')
    for over, tally in (({'status': -1}, 0), ({'status': -2}, 0), ({'status': 0}, 1)):
        with tempfile.TemporaryDirectory() as folder:
            own = json.dumps({'over': 'd', 'signal': 0, 'seconds': 1.0, **over}).encode() + b'\n'
            outcome, = results.judge(folder, [job], {0: own, 1: b'other lines'}, None)
        assert outcome.tally['fail'] == tally and outcome.wrong, (over, outcome.tally)


def test_recordings():
    sample, lost = '{"type":"SAMPLE"}\n', '{"type":"LOST"}\n'
    assert recorded(0, sample).tally['pass'] == 1
    assert recorded(0, sample, lost).wrong == ['its lines there are not its lines here', 'perfabi capture: wrong']
    assert recorded(0, lost).wrong[0] == 'it holds too few: SAMPLE'
    assert recorded(0, sample, holds=('SAMPLE', 'SAMPLE')).wrong[0] == 'it holds too few: SAMPLE', 'one is not two'
    assert recorded(2, sample).tally['skip'] == 1, 'the kernel has no such event'
    assert recorded(2, sample, optional=False).tally['fail'] == 1, 'every kernel has it'
    assert recorded(3, sample).tally['fail'] == 1


def test_registers():
    """A recording has the registers that the kernel gives: of x86, those of its own word size."""
    narrow, wide = (recordings.registers(TOP, machine, bits) for machine, bits in (('i686', 32), ('x86_64', 64)))
    assert {'ds', 'es', 'fs', 'gs'} <= set(narrow) and 'r8' not in narrow, narrow
    assert 'r15' in wide and not {'ds', 'gs'} & set(wide), wide
    assert programs.bits(sys.executable) == struct.calcsize('P') * 8


def test_page():
    """The runs of a cell as one report: the worst of each case, but what passed alone; what a run left running is left so."""
    def environment(paranoid):
        return {'type': 'environment', 'perfabi': '0.1.0', 'host': {'name': '(none)'},
                'environment': {'kernel': '6.12.107', 'machine': 'x86_64', 'sysctls': {'perf_event_paranoid': paranoid}}}

    def outcomes(**pairs):
        return [{'type': 'result', 'id': name, 'outcome': outcome} for name, outcome in pairs.items()]

    def put(path, lines):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.writelines(json.dumps(line) + '\n' for line in lines)

    end = {'type': 'summary'}
    with tempfile.TemporaryDirectory() as out:
        cell = os.path.join(out, 'amd64-6.12')
        put(f'{cell}/amd64.root.2.jsonl', [environment(2), *outcomes(a='pass', b='fail', c='fail', d='skip'), end])
        put(f'{cell}/amd64.user.own.jsonl', [environment(3), *outcomes(a='skip', b='pass', c='pass', d='xfail'), end])
        put(f'{cell}/i386.root.2.jsonl', [environment(2), *outcomes(a='pass'), {'type': 'begin', 'id': 'b'}])
        put(f'{cell}/again/amd64.root.2.jsonl', [environment(2), *outcomes(b='fail', c='pass'), end])
        runs = [{'name': 'recordings', 'alone': {}}, {'name': 'amd64.root.2', 'alone': {'c': 'fail'}}, {'name': 'amd64.user.own', 'alone': {}},
                {'name': 'i386.root.2', 'alone': {}}]
        with open(f'{cell}/result.json', 'w') as file:
            json.dump({'cell': 'amd64-6.12', 'runs': runs}, file)
        os.makedirs(f'{out}/never-run')
        found = page.reports(out)
        assert list(found) == ['amd64-6.12.jsonl', 'amd64-6.12.i386.jsonl'], list(found)
        own, other = found.values()
        assert own[0]['host'] == {'name': 'amd64-6.12'} and own[0]['environment']['sysctls'] == {}, own[0]
        assert {line['id']: line['outcome'] for line in own[1:-1]} == {'a': 'pass', 'b': 'fail', 'c': 'pass', 'd': 'xfail'} and own[-1] == end, own
        assert other[0]['host'] == {'name': 'amd64-6.12 i386'} and other[0]['environment']['sysctls'] == {'perf_event_paranoid': 2}, other[0]
        assert other[1:] == [*outcomes(a='pass'), {'type': 'begin', 'id': 'b'}], 'a run without an end'
    with tempfile.TemporaryDirectory() as out:
        try:
            page.reports(out)
        except Trouble as e:
            assert 'has no results' in str(e)
        else:
            raise AssertionError('a page of nothing')


def main():
    for name, function in sorted(globals().items()):
        if name.startswith('test_'):
            function()
            print(f'{name}: as it should be')


main()
