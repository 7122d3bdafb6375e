# SPDX-License-Identifier: MIT
"""What gcov says of a kernel's files, the sum of several boots, and ci/kernel-uncovered.json, which says why lines are not reached."""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import tempfile

from .error import Trouble
from .source import MEASURED


class File:
    """Of one file: `functions`, by name their first and last line, `lines`, how often each ran, and `branches` of a line, how often each was taken."""

    def __init__(self):
        self.functions, self.lines, self.branches = {}, {}, {}

    def add(self, said):
        for one in said['functions']:
            self.functions[one['name']] = (one['start_line'], one['end_line'])
        for one in said['lines']:
            number, taken = one['line_number'], [branch['count'] for branch in one['branches']]
            self.lines[number] = self.lines.get(number, 0) + one['count']
            before = self.branches.get(number, [])
            if len(before) == len(taken):
                taken = [a + b for a, b in zip(before, taken)]
            self.branches[number] = taken if len(taken) >= len(before) else before

    def function_of(self, line):
        """The innermost function that the line is in; its name and its first line."""
        found = [(start, name) for name, (start, end) in self.functions.items() if start <= line <= end]
        start, name = max(found, default=(line, '?'))
        return name, start

    def tally(self):
        """Reached and all: functions, lines, branches."""
        reached = sum(any(self.lines.get(n, 0) for n in range(start, end + 1)) for start, end in self.functions.values())
        branches = [count for line in self.branches.values() for count in line]
        return ((reached, len(self.functions)), (sum(n > 0 for n in self.lines.values()), len(self.lines)), (sum(n > 0 for n in branches), len(branches)))

    def unreached(self):
        """Blocks of lines that did not run, as (function, first line, last line), both counted from the function's own; whole functions have (name, 0, None)."""
        dead, found = {name for name, (start, end) in self.functions.items() if not any(self.lines.get(n, 0) for n in range(start, end + 1))}, []
        for line in sorted(self.lines):
            name, start = self.function_of(line)
            if self.lines[line] or name in dead or name == '?':  # a line of a macro's own, in no function
                continue
            at = line - start
            # A block goes on over lines that have no code.
            if found and found[-1][0] == name and not any(start + n in self.lines for n in range(found[-1][2] + 1, at)):
                found[-1] = (name, found[-1][1], at)
            else:
                found.append((name, at, at))
        return sorted((name, 0, None) for name in dead) + found


def name_of(stem):
    """What people call a file: its own name, with the architecture's if it has one."""
    return ('x86 ' if stem.startswith('arch/x86/') else '') + os.path.basename(stem) + '.c'


def read(src, folders):
    """The files by name, summed over folders of .gcda files, named as in MEASURED with - for /."""
    files = {name_of(stem): File() for stem in MEASURED}
    for folder in folders:
        for stem in MEASURED:
            data = os.path.join(folder, stem.replace('/', '-') + '.gcda')
            if not os.path.exists(data):
                raise Trouble(f'{folder} has no counts of {name_of(stem)}')
            for said in _gcov(src, stem, data)['files']:
                if said['file'].endswith(stem + '.c'):
                    files[name_of(stem)].add(said)
    return files


def _gcov(src, stem, data):
    with tempfile.TemporaryDirectory() as scratch:
        base = os.path.basename(stem)
        shutil.copy(data, os.path.join(scratch, base + '.gcda'))
        shutil.copy(os.path.join(src, stem + '.gcno'), os.path.join(scratch, base + '.gcno'))
        done = subprocess.run(['gcov', '--branch-probabilities', '--branch-counts', '--json-format', '--stdout', base + '.gcda'], cwd=scratch, capture_output=True, text=True)
        if done.returncode or not done.stdout:
            raise Trouble(f'gcov cannot read {data}: {done.stderr.strip()}')
        return json.loads(done.stdout)


def percent(part, whole):
    return f'{100 * part / whole:.1f}' if whole else '-'


def table(columns):
    """Markdown: a row for each file, and for each of the named sums of boots lines, branches and functions reached, in percent."""
    names = list(columns)
    head = ['file', *(f'{name}: {what}' for name in names for what in ('lines', 'branches', 'functions'))]
    rows = [head, ['---', *['--:'] * (len(head) - 1)]]
    for file in next(iter(columns.values())):
        row = [file]
        for name in names:
            functions, lines, branches = columns[name][file].tally()
            row += [f'{percent(*what)} ({what[0]}/{what[1]})' for what in (lines, branches, functions)]
        rows.append(row)
    return ''.join('| ' + ' | '.join(row) + ' |\n' for row in rows)


def explain(files, known):
    """Of ci/kernel-uncovered.json's reasons: blocks without one, reasons of blocks that are reached now, and how many lines each reason explains."""
    used, without, lines = set(), [], {}
    for file, counts in files.items():
        for name, first, last in counts.unreached():
            start, end = counts.functions.get(name, (0, 0))
            n = sum(1 for line in range(start + first, (end if last is None else start + last) + 1) if line in counts.lines and not counts.lines[line])
            reason = next((i for i, one in enumerate(known) if one['file'] == file and _covers(one, name, first, last)), None)
            if reason is None:
                without.append((file, name, first, last, n))
            else:
                used.add(reason)
                kind = known[reason]['why'].split(':')[0]
                lines[kind] = lines.get(kind, 0) + n
    return without, [one for i, one in enumerate(known) if i not in used], lines


def _covers(one, name, first, last):
    """Whether a reason is about a block: of its function, and of these lines of it if it says so, as "12-15 20"."""
    if not any(fnmatch.fnmatch(name, pattern) for pattern in one['functions'].split()):
        return False
    if 'lines' not in one or last is None:
        return 'lines' not in one and last is None
    ranges = [tuple(map(int, (part.split('-') * 2)[:2])) for part in one['lines'].split()]
    return any(a <= first and last <= b for a, b in ranges)


def load_reasons(path):
    with open(path) as file:
        known = json.load(file)['uncovered']
    for one in known:
        if set(one) - {'file', 'functions', 'lines', 'why'} or not {'file', 'functions', 'why'} <= set(one) or not re.fullmatch(r'[0-9 -]+', one.get('lines', '0')):
            raise Trouble(f'{path}: an entry has file, functions, why, and lines if it is not about all of them: {json.dumps(one)}')
    return known
