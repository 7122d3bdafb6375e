# SPDX-License-Identifier: MIT
"""docs/deviations.md: what kernels and machines break, from cases/baseline.json, a section for each of the kernel's functions, and one for machines."""

import fnmatch
import json
import os
import re

HEAD = '''# What kernels break

These are promises of perf_event_open(2) that some kernels break. A case of perfabi tests each. `ci/matrix deviations` writes this page from
[cases/baseline.json](../cases/baseline.json); a run of perfabi ends with the list of those that its kernel breaks.

"Seen on" lists kernels on which the case failed, "Source read of" those whose source has the bug. Without an upper limit, no fix is known.
[Machines](#machines) come last: there the cause lies below the kernel.
'''

MACHINES = '''## Machines

Here the processor or the hypervisor is at fault, not the kernel. Only machines on which the bug was seen are listed; elsewhere the same failure counts as a failure.
'''

MACHINE_KEYS = ('hypervisor', 'vendor', 'cpu')


def _list(value):
    return value if isinstance(value, list) else [value] if value is not None else []


def _range(limits):
    """[">=5.13", "<6.17.13"] as "5.13 up to, not including, 6.17.13"."""
    text = {limit[:-len(limit.lstrip('<>='))]: limit.lstrip('<>=') for limit in _list(limits)}
    if set(text) - {'>=', '<'}:
        return ' '.join(_list(limits))
    since, before = text.get('>='), text.get('<')
    if since and before:
        return f'{since} up to, not including, {before}'
    return f'{since} and later' if since else f'before {before}'


def _condition(when):
    """One `when` as words."""
    parts = []
    if 'kernel' in when:
        parts.append('Linux ' + _range(when['kernel']))
    if 'arch' in when:
        parts.append('on ' + ' and '.join(_list(when['arch'])))
    parts += [f'{key} {" or ".join(f"`{one}`" for one in _list(value))}' for key, value in when.items() if key in MACHINE_KEYS]
    parts += [f'where `{token}` holds (`perfabi help tokens`)' for token in _list(when.get('token'))]
    parts += [f'{key} {" ".join(map(str, _list(value)))}' for key, value in when.items() if key not in ('kernel', 'arch', 'token', *MACHINE_KEYS)]
    return ', '.join(parts)


def where(entry):
    """Which kernels break it, as words."""
    conditions = [_condition(when) for when in _list(entry.get('when'))]
    where = '; or '.join(conditions) or 'every kernel that was tested'
    return f'{where}, unless it has the fix' if 'mend' in entry else where


def _section(entry):
    kernel = 'function' in entry
    says = f'It {entry["why"]}.' if kernel else f'{entry["why"][0].upper()}{entry["why"][1:]}.'
    if 'sometimes' in entry:
        says += f' But {"it keeps the promise" if kernel else "the promise is kept"} when {entry["sometimes"]}.'
    lines = [says, '', f'- {"Kernels" if kernel else "Machines"}: {where(entry)}']
    for key, text in (('since', 'Since'), ('fixed', 'Fixed in'), ('seen', 'Seen on'), ('read', 'Source read of'), ('note', 'Note')):
        if key in entry:
            lines.append(f'- {text}: {", ".join(_list(entry[key]))}')
    lines.append('- Cases: ' + ', '.join(f'`{one}`' for one in _list(entry['id'])))
    return '\n'.join(lines) + '\n'


def _load(top, path):
    with open(os.path.join(top, 'cases', path)) as file:
        return json.load(file)


def _baseline(top):
    """Its entries; of one that a mend ends, `fixed` says where that came."""
    mends, found = _load(top, 'abi/mends.json')['mends'], _load(top, 'baseline.json')['deviations']
    for entry in found:
        if entry.get('fixed', '').startswith('mend.'):
            entry['mend'] = mends[entry['fixed'].removeprefix('mend.')]
            newest, *stable = reversed(entry['mend']['in'])
            entry['fixed'] = ', '.join([newest + (f' ({entry["mend"]["commit"]})' if 'commit' in entry['mend'] else ''), *stable])
    return found


def entries(top):
    """What the baseline has of kernels; an entry of a machine has no function."""
    return [entry for entry in _baseline(top) if 'function' in entry]


def is_of(entry, case):
    """Whether the entry is about the case of that id."""
    return any(case == one or case.startswith(one + '.') or fnmatch.fnmatch(case, one) for one in _list(entry['id']))


def unlisted(top, results):
    """What cells have seen and `seen` does not have: pairs of an entry and the versions."""
    for entry in entries(top):
        seen = {result['kernel']['version'].split('-')[0] for result in results for run in result.get('runs', ())
                for case, function in run['known'] if function == entry['function'] and is_of(entry, case)}
        missing = sorted(seen - set(_list(entry.get('seen'))), key=lambda version: [int(n) for n in re.findall(r'\d+', version)])
        if missing:
            yield entry, missing


def page(top):
    functions = {}
    for entry in entries(top):
        functions.setdefault(entry['function'], []).append(entry)
    parts = [HEAD]
    for function in sorted(functions):
        parts.append(f'## {function}()\n')
        parts += [_section(entry) for entry in functions[function]]
    parts += [MACHINES, *(_section(entry) for entry in _baseline(top) if 'function' not in entry)]
    return '\n'.join(parts)
