# SPDX-License-Identifier: MIT
"""The page of the matrix: what the cells have shown, as one report for each kind of program of each cell.

A cell runs the suite as several callers. Each case is one caller's, so that most are skipped but in one run; where several
have a result of it, the worst counts."""

import json
import os
import subprocess
import tempfile

from . import blocks
from .error import Trouble

TITLE = 'perf_event_open(2) by kernel and architecture'
WORST_FIRST = ('fail', 'unstable', 'error', 'xpass', 'xfail', 'pass', 'skip')


def read_lines(path):
    try:
        with open(path, 'rb') as file:
            return blocks.lines(file.read())
    except OSError as e:
        raise Trouble(f'{path}: {e.strerror}')


def _is_result(line):
    return line.get('type') == 'result' and isinstance(line.get('id'), str) and line.get('outcome') in WORST_FIRST


def _run(folder, run):
    """The lines of one run; a case that passed when it was run again, alone, has passed."""
    lines = read_lines(os.path.join(folder, f'{run["name"]}.jsonl'))
    if not run['alone']:
        return lines
    again = {line['id']: line for line in read_lines(os.path.join(folder, 'again', f'{run["name"]}.jsonl')) if _is_result(line)}
    return [again.get(line['id'], line) if _is_result(line) and line['id'] in run['alone'] else line for line in lines]


def merge(name, runs):
    """The runs of one kind of program as the lines of one report, of the machine `name`; none if no run has begun."""
    heads = [line for lines in runs for line in lines if line.get('type') == 'environment']
    if not heads:
        return []
    head = json.loads(json.dumps(heads[0]))
    head['host'] = {**head.get('host', {}), 'name': name}
    settings = {json.dumps(one['environment'].get('sysctls', {}).get('perf_event_paranoid')) for one in heads}
    if len(settings) > 1:
        head['environment'].get('sysctls', {}).pop('perf_event_paranoid', None)
    best, begun = {}, {}
    for lines in runs:
        running = {}
        for line in lines:
            if line.get('type') == 'begin' and isinstance(line.get('id'), str):
                running[line['id']] = line
            if _is_result(line):
                running.pop(line['id'], None)
                before = best.get(line['id'])
                if not before or WORST_FIRST.index(line['outcome']) < WORST_FIRST.index(before['outcome']):
                    best[line['id']] = line
        begun.update(running)
    ended = all(any(line.get('type') == 'summary' for line in lines) for lines in runs)
    return [head, *(best[one] for one in sorted(best) if one not in begun), *(begun[one] for one in sorted(begun)), *([{'type': 'summary'}] if ended else [])]


def reports(out):
    """By the file's name, the lines of a report for each kind of program of each cell."""
    found = {}
    for cell in sorted(os.listdir(out)):
        folder = os.path.join(out, cell)
        path = os.path.join(folder, 'result.json')
        if not os.path.exists(path):
            continue
        with open(path) as file:
            result = json.load(file)
        runs = [run for run in result['runs'] if run['name'] != 'recordings']
        arches = list(dict.fromkeys(run['name'].split('.')[0] for run in runs))
        for arch in arches:
            name = cell if arch == arches[0] else f'{cell} {arch}'
            lines = merge(name, [_run(folder, run) for run in runs if run['name'].split('.')[0] == arch])
            if lines:
                found[name.replace(' ', '.') + '.jsonl'] = lines
    if not found:
        raise Trouble(f'{out} has no results; `ci/matrix run` makes them')
    return found


def write(perfabi, out, page):
    """The page from the results in the folder `out`."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, lines in reports(out).items():
            paths.append(os.path.join(folder, name))
            with open(paths[-1], 'w') as file:
                file.writelines(json.dumps(line) + '\n' for line in lines)
        done = subprocess.run([perfabi, 'report', '--title', TITLE, '--output', page, *paths])
        if done.returncode:
            raise Trouble(f'{page} was not written')
