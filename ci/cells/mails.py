# SPDX-License-Identifier: MIT
"""For each entry of cases/baseline.json a mail to the kernel's list, and a program that shows the bug."""

import json
import os
import subprocess
import textwrap

from cells import deviations

README = '''# What to send to the kernel's list

A mail for each of the kernel's bugs in [deviations.md](../deviations.md), with a program that shows the bug. `ci/matrix mails` writes both: the mail from
[cases/baseline.json](../../cases/baseline.json) and the case, the program with `perfabi show --c`. A comment marks each number in a program that was looked up on the machine that wrote it.

A program ends with PASS and exit status 0 if the kernel keeps the promise, with FAIL and 1 if it does not.

'''


def _list(value):
    return value if isinstance(value, list) else [value] if value is not None else []


def _show(perfabi, *arguments):
    done = subprocess.run([perfabi, 'show', *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def _cases(perfabi):
    done = subprocess.run([perfabi, 'list', '--json'], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def _wrapped(text):
    return '\n'.join(textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False))


def _mail(entry, case, program):
    function, fixed = entry['function'], entry.get('fixed')
    spec = case.get('spec', {})
    parts = ['To: linux-perf-users@vger.kernel.org' + ('\nCc: stable@vger.kernel.org' if fixed else ''),
             textwrap.shorten(f'Subject: perf: {function}() {entry["why"].split(":")[0]}', 100, placeholder=' ...'), '',
             'Hello,', '',
             _wrapped(f'{function}() breaks a promise of perf_event_open(2): {case["title"]}' +
                      (f' ({spec["man"].removeprefix("perf_event_open(2), ")}).' if 'man' in spec else '.')), '',
             _wrapped(f'It {entry["why"]}.'), '']
    if 'sometimes' in entry:
        parts += [_wrapped(f'The bug does not show when {entry["sometimes"]}.'), '']
    facts = [f'Affected:  {deviations.where(entry)}']
    for key, text in (('since', 'Since:     '), ('fixed', 'Fixed in:  '), ('seen', 'Seen on:   '), ('read', 'Read in:   '), ('note', 'Note:      ')):
        if key in entry:
            facts.append(text + ', '.join(_list(entry[key])))
    parts += ['\n'.join(textwrap.fill(fact, 72, subsequent_indent=' ' * 11, break_long_words=False, break_on_hyphens=False) for fact in facts), '']
    if fixed:
        parts += [_wrapped('Mainline has the fix; the stable kernels named above do not.'), '']
    sudo = 'sudo ' if case['as'] == 'root' else ''
    parts += [_wrapped(f'The program {program} shows the bug: it prints what is not as expected, and ends with FAIL and exit status 1:'), '',
              f'    cc -Wall -Wextra -pthread -o repro {program} && {sudo}./repro', '',
              _wrapped(f'It is the case {case["id"]} of perfabi.')]
    return '\n'.join(parts) + '\n'


def write(top, perfabi, folder):
    """Writes them all into the folder. Returns the names of the files."""
    cases, used, lines, names = _cases(perfabi), set(), [], []
    for entry in deviations.entries(top):
        name = base = entry['function'].strip('_')
        number = 1
        while name in used:
            number += 1
            name = f'{base}-{number}'
        used.add(name)
        # The first that promises something; a capability where there is none.
        case = min((one for one in cases if deviations.is_of(entry, one['id'])), key=lambda one: one.get('kind') == 'capability')
        with open(os.path.join(folder, name + '.c'), 'w', encoding='utf-8') as file:
            file.write(_show(perfabi, '--c', case['id']))
        with open(os.path.join(folder, name + '.txt'), 'w', encoding='utf-8') as file:
            file.write(_mail(entry, case, name + '.c'))
        lines.append(f'- {entry["function"]}(): [mail]({name}.txt), [program]({name}.c)')
        names += [name + '.c', name + '.txt']
    with open(os.path.join(folder, 'README.md'), 'w', encoding='utf-8') as file:
        file.write(README + '\n'.join(lines) + '\n')
    return sorted(names + ['README.md'])
