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


# What a reason begins with. Of these, a case is what somebody could still write.
KINDS = ('assertion', 'compiled', 'boot', 'callers', 'architecture', 'PMU', 'machine', 'security', 'memory', 'race', 'dead', 'case')


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
        """The innermost function that the line is in; its name and its first line. One that is nowhere but inlined has none: ? and 0."""
        found = [(start, name) for name, (start, end) in self.functions.items() if start <= line <= end]
        start, name = max(found, default=(0, '?'))
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
    return _rows(rows)


def table_of_branches(files, kinds):
    """Markdown: of each file the branches that are taken, those that cannot be, by kind, those that a case could take, and what is taken of all that can be."""
    names = sorted({kind for of_file in kinds.values() for kind in of_file}, key=lambda kind: -sum(of_file.get(kind, 0) for of_file in kinds.values()))
    rows = [['file', 'branches', 'taken', *names, 'left', 'taken of what can be'], ['---', *['--:'] * (len(names) + 4)]]
    for file, counts in files.items():
        taken, branches = counts.tally()[2]
        explained = sum(kinds[file].values())
        rows.append([file, branches, taken, *(kinds[file].get(name, 0) for name in names), branches - taken - explained, percent(taken, branches - explained)])
    return _rows(rows)


def _rows(rows):
    return ''.join('| ' + ' | '.join(map(str, row)) + ' |\n' for row in rows)


def explain(files, known):
    """Of ci/kernel-uncovered.json's reasons: blocks without one, reasons of blocks that are reached now, and how many lines each kind explains."""
    used, without, lines = set(), [], {}
    for file, counts in files.items():
        for name, first, last in counts.unreached():
            start, end = counts.functions.get(name, (0, 0))
            n = sum(1 for line in range(start + first, (end if last is None else start + last) + 1) if line in counts.lines and not counts.lines[line])
            reason = _reason(known, file, name, first, last)
            if reason is None:
                without.append((file, name, first, last, n))
            else:
                used.add(reason)
                kind = _kind(known[reason]['why'])
                lines[kind] = lines.get(kind, 0) + n
    return without, [one for i, one in enumerate(known) if i not in used], lines


def explain_branches(src, files, known, of_branches):
    """
    Of the branches that are not taken, as (file, function, line from the function's first, how many, the line's text): those that nothing explains.
    What explains none, or more than there are; and by file how many each kind explains. A branch of a line that does not run has the line's reason; one of
    a line that runs is explained by what the line has (`text`), or by where it is (`at`), as many as that says.
    """
    by_text = {one['text']: one['why'] for one in of_branches if 'text' in one}
    by_place = _by_place(of_branches)
    used, without, stale, kinds = set(), [], [], {}
    for file, counts in files.items():
        with open(os.path.join(src, next(stem for stem in MEASURED if name_of(stem) == file) + '.c')) as source:
            text = source.read().split('\n')
        blocks = {}
        for name, first, last in counts.unreached():
            start, end = counts.functions.get(name, (0, 0))
            blocks.update((line, (name, first, last)) for line in range(start + first, (end if last is None else start + last) + 1))
        kinds[file] = {}
        for line, taken in sorted(counts.branches.items()):
            n, (name, start) = taken.count(0), counts.function_of(line)
            if not n:
                continue
            key, explained = (file, f'{name}+{line - start}'), n
            if not counts.lines.get(line):
                reason = _reason(known, file, *blocks.get(line, (name, line - start, line - start)))
                why = None if reason is None else known[reason]['why']
            else:
                key = next((one for one in by_text if re.search(one, text[line - 1])), key)
                used.add(key)
                why = by_text.get(key)
                if key in by_place:
                    why, explained = by_place[key]
                    if explained > n:
                        stale.append(f'{" ".join(key)}, {explained} branches, {n} of them not taken')
                        explained = n
            if why is None or _kind(why) == 'case':
                explained = 0
            else:
                kinds[file][_kind(why)] = kinds[file].get(_kind(why), 0) + explained
            if n > explained:
                without.append((file, name, line - start, n - explained, text[line - 1].strip()))
    return without, stale + [one if isinstance(one, str) else ' '.join(one) for one in [*by_text, *by_place] if one not in used], kinds


def _by_place(of_branches):
    """By (file, FUNCTION+LINE) why branches are not taken, and how many: 1, or what follows the line behind a colon. What is in no function is at ?+LINE."""
    found = {}
    for one in of_branches:
        for place in one.get('at', '').split():
            match = re.fullmatch(r'((?:\w+|\?)\+\d+)(?::([1-9]\d*))?', place)
            if not match or (one['file'], match[1]) in found:
                raise Trouble(f'branches of {one["file"]}: expected FUNCTION+LINE or FUNCTION+LINE:NUMBER, once; got {place}')
            found[one['file'], match[1]] = (one['why'], int(match[2] or 1))
    return found


def _kind(why):
    return why.split(':')[0]


def _reason(known, file, name, first, last):
    return next((i for i, one in enumerate(known) if one['file'] == file and _covers(one, name, first, last)), None)


def _covers(one, name, first, last):
    """Whether a reason is about a block: of its function, and of these lines of it if it says so, as "12-15 20"."""
    if not any(fnmatch.fnmatch(name, pattern) for pattern in one['functions'].split()):
        return False
    if 'lines' not in one or last is None:
        return 'lines' not in one and last is None
    ranges = [tuple(map(int, (part.split('-') * 2)[:2])) for part in one['lines'].split()]
    return any(a <= first and last <= b for a, b in ranges)


def load_reasons(path):
    """Those of lines, those of branches of lines that run, and how many branches of each file may be left."""
    with open(path) as file:
        known = json.load(file)
    for one in known['uncovered']:
        if set(one) - {'file', 'functions', 'lines', 'why'} or not {'file', 'functions', 'why'} <= set(one) or not re.fullmatch(r'(\d+(-\d+)?( |$))+', one.get('lines', '0')):
            raise Trouble(f'{path}: an entry has file, functions, why, and lines if it is not about all of them: {json.dumps(one)}')
    for one in known['branches']:
        if set(one) not in ({'text', 'why'}, {'file', 'at', 'why'}):
            raise Trouble(f'{path}: an entry of branches has why, and text, or file and at: {json.dumps(one)}')
        if 'text' in one and re.search(one['text'], ''):
            raise Trouble(f'{path}: text "{one["text"]}" matches every line')
    for one in known['uncovered'] + known['branches']:
        if _kind(one['why']) not in KINDS:
            raise Trouble(f'{path}: why begins with one of {", ".join(KINDS)} and a colon: {one["why"]}')
    texts = [one['text'] for one in known['branches'] if 'text' in one]
    if len(set(texts)) < len(texts):
        raise Trouble(f'{path}: two entries of branches have one text')
    if sorted(known['left']) != sorted(map(name_of, MEASURED)):
        raise Trouble(f'{path}: left has each file that is measured, and no other')
    _by_place(known['branches'])
    return known['uncovered'], known['branches'], known['left']
