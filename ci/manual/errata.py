# SPDX-License-Identifier: MIT
"""perf_event_open(2)'s errata: what the cases know that the man page has wrong or leaves out, and what kernels are known to break.

An entry is a `note` of a `spec`, a deviation of the baseline whose cases have none, or an entry of cases/manpage.json. Of a note the clauses that speak of
the man page are set apart; nothing is said that neither the note nor the case says.
"""

import fnmatch
import glob
import json
import os
import re

from cells import deviations
from manual import mdoc
from manual.error import Wrong

NAME = 'perf_event_open-errata'
ABOUT = 'errors and omissions of the man page of perf_event_open(2)'
INTRODUCTION = (
    'This page lists what the cases of perfabi know that the man page of perf_event_open(2) has wrong or leaves out, in the order of that page.',
    'Each entry begins with the promise of the kernel that the cases test. "Man page" says what the man page has instead. "Note" has more details, '
    '"Since" is the version that introduced the promise, and "Broken" lists the kernels that break it. `perfabi show CASE` prints a case, '
    'and `perfabi run CASE` tests the running kernel.')

# The man page's sections, in its order; what of a `man` belongs to which.
ARGUMENTS, ATTR, READING, MMAP, OVERFLOW, IOCTL, PRCTL, FILES, ERRORS, OTHERS = (
    'Arguments', 'The perf_event_attr structure', 'Reading results', 'MMAP layout', 'Overflow handling', 'perf_event ioctl calls',
    'Using prctl(2)', 'perf_event related configuration files', 'List of errors', 'Other man pages')
SECTIONS = (ARGUMENTS, ATTR, READING, MMAP, OVERFLOW, IOCTL, PRCTL, FILES, ERRORS, OTHERS)
BY_NAME = (
    (r'PERF_EVENT_IOC_|perf_event ioctl calls', IOCTL),
    (r'PERF_RECORD_|MMAP layout|cap_user', MMAP),
    (r'Reading results', READING),
    (r'Overflow handling', OVERFLOW),
    (r'prctl', PRCTL),
    (r'/proc/|perf_event related configuration files', FILES),
    (r'ERRORS', ERRORS),
    (r'pid|cpu\b|group_fd|flags|PERF_FLAG_', ARGUMENTS),
)


def section_of(man):
    """The section and what it is about: "perf_event_open(2), type; ERRORS" is of attr, type."""
    first = man.split(';')[0].strip()
    page, _, topic = first.partition(', ')
    if page != 'perf_event_open(2)':
        return OTHERS, first
    for pattern, section in BY_NAME:
        if re.match(pattern, topic):
            topic = '' if topic == section else re.sub(f'^(ERRORS|{re.escape(section)})(, |$)', '', topic)
            return section, topic
    return ATTR, '' if topic == 'the perf_event_attr structure' else topic


def clauses(note):
    """What a note says of the man page, and the rest of it."""
    parts = re.split(r'(; |(?<=[a-z)])\. (?=[A-Z]))', note)
    of_page, rest = [], ''
    for separator, part in zip(['', *parts[1::2]], parts[::2]):
        if re.match('the man page', part):
            of_page.append(re.sub(r'^the man page(: | )', '', part))
        else:
            rest += (separator if rest else '') + part
    return of_page, rest


def _files(top):
    for path in sorted(glob.glob(os.path.join(top, 'cases/*/*.json'))):
        if os.path.basename(os.path.dirname(path)) not in ('abi', 'schema'):
            with open(path) as file:
                yield json.load(file)


def _entry(file, case):
    """One note, or None's: `case` is the file's own where it is None."""
    spec = {**file['spec'], **(case or {}).get('spec', {})}
    if case and 'note' not in case.get('spec', {}):
        spec.pop('note', None)
    page, note = clauses(spec.get('note', ''))
    section, topic = section_of(spec['man'])
    title = case['title'] if case else file['about']
    if re.fullmatch('[A-Z0-9_]+', title):  # of probe, whose cases are called as what they look for
        title += ' records are written'
    return {'section': section, 'topic': topic, 'title': title, 'page': page, 'note': note,
            'kernel': spec.get('kernel'), 'since': spec.get('since'), 'man': spec['man'], 'broken': [],
            'case': f'{file["suite"]}.{case["name"]}' if case else file['suite'], 'whole': case is None}


def _numbers(version):
    return [int(part) for part in version.split('.')]


def _oldest(top):
    """The oldest kernel that ran the cases: what is said of older ones is from sources and texts."""
    with open(os.path.join(top, 'cases/abi/regs.json')) as file:
        return min((arch['booted'] for arch in json.load(file)['regs'].values() if 'booted' in arch), key=_numbers)


def _marked(since, oldest):
    """`since`, with a mark if no kernel that ran the cases is older."""
    versions = [part.split(':')[0].strip() for part in since.split(';')] if since else []
    tried = not versions or any(not re.fullmatch('[0-9.]+', version) or _numbers(version) > _numbers(oldest) for version in versions)
    return since if tried else f'{since} (untried below {oldest})'


def _since_of(top):
    """Since when each constant and field of attr is, by family.name; and how C has it."""
    found = {}
    for path in glob.glob(os.path.join(top, 'cases/abi/*.json')):
        with open(path) as file:
            data = json.load(file)
        for family, one in data.get('constants', {}).items():
            for value in one['values']:
                name = one.get('prefix', '').upper() + value['name'].upper() + one.get('suffix', '') if one.get('prefix') else value['name']
                found[f'{family}.{value["name"]}'] = name, value.get('since')
        for field in data.get('attr', {}).get('fields', ()):
            found[f'attr.{field["name"]}'] = f'attr.{field["name"]}', field['since']
    return found


def _general(top):
    """What cases/manpage.json has: what is about more than one case."""
    with open(os.path.join(top, 'cases/manpage.json')) as file:
        listed = json.load(file)['entries']
    since = _since_of(top)
    for one in listed:
        unknown = [name for name in one.get('constants', ()) if name not in since]
        if unknown:
            raise Wrong(f'cases/manpage.json: "{one["title"]}": cases/abi has no {", ".join(unknown)}')
        section, topic = section_of(f'perf_event_open(2), {one["man"]}')
        names = {}
        for name in one.get('constants', ()):
            names.setdefault(since[name][1], []).append(since[name][0])
        versions = sorted(names, key=_numbers)
        yield {'section': section, 'topic': topic, 'title': one['title'], 'page': [one['says']], 'note': one['does'], 'kernel': None, 'man': one['man'], 'broken': [],
               'since': '; '.join(f'{version}: {", ".join(names[version])}' for version in versions) or None, 'cases': one['shown_by'], 'whole': False}


def _shows(case, entry):
    """Whether the deviation is of that case: its ids may go deeper than the case's name, into its instances."""
    ids = entry['id'] if isinstance(entry['id'], list) else [entry['id']]
    parts = case.split('.')
    return deviations.is_of(entry, case) or any(fnmatch.fnmatch(case, '.'.join(one.split('.')[:len(parts)])) for one in ids)


def entries(top):
    """Every erratum, in the man page's order, of one section by what it is about."""
    broken, found = deviations.entries(top), []
    for file in _files(top):
        if 'note' in file['spec']:
            found.append(_entry(file, None))
        for case in file['cases']:
            one = _entry(file, case)
            one['broken'] = [entry for entry in broken if _shows(one['case'], entry)]
            if one['page'] or one['note'] or one['broken']:
                found.append(one)
    merged = {}
    for one in found:
        key = json.dumps([one['man'], one['title'], one['page'], one['note'], one['kernel'], one['since'], [entry['id'] for entry in one['broken']]])
        merged.setdefault(key, {**one, 'cases': []})['cases'].append(one['case'])
    oldest = _oldest(top)
    return sorted(({**one, 'since': _marked(one['since'], oldest)} for one in [*_general(top), *merged.values()]), key=lambda one: (SECTIONS.index(one['section']), one['topic'].lower(), not one['page'], one['cases'][0]))


def _lines(one):
    """What an entry says, as pairs of a word and a text, in which `code` stands as here."""
    if one['page']:
        yield 'Man page', '; '.join(one['page'])
    if one['note']:
        yield 'Note', one['note']
    if one['since']:
        yield 'Since', one['since']
    if one['kernel']:
        yield 'Function', re.sub(r'\b\w*_\w*\b', lambda name: f'`{name[0]}`', one['kernel'])
    for entry in one['broken']:
        yield 'Broken', f'{deviations.where(entry)}: {entry["function"]}() {entry["why"]}'
    yield 'Cases', ', '.join(f'`{case}`' + (', all' if one['whole'] else '') for case in one['cases'])


def _sections(found):
    """Entries by section, and in it by what they are about."""
    for section in SECTIONS:
        topics = {}
        for one in found:
            if one['section'] == section:
                topics.setdefault(one['topic'], []).append(one)
        if topics:
            yield section, topics


def _plain(words):
    """Text of a case in Markdown, of which only `code` means anything."""
    return re.sub(r'(`[^`]*`|\b\w+\(\)|\b\w*_\w*\b(?!\(\d))|([*<>|\[\]_])', lambda m: ('`' + m[1].strip('`') + '`') if m[1] else '\\' + m[2], words)


def markdown(top):
    out = ['# Errata of perf_event_open(2)', '', *[f'{paragraph}\n' for paragraph in INTRODUCTION],
           '`make reference` writes this page, from the `spec` of the cases, from [cases/manpage.json](../cases/manpage.json) and from [cases/baseline.json](../cases/baseline.json). '
           'It is also a man page, perf_event_open-errata(7). [What kernels break](deviations.md) has more about broken kernels.', '']
    for section, topics in _sections(entries(top)):
        out += [f'## {section}', '']
        for topic, found in topics.items():
            out += [f'### {_plain(topic)}', ''] if topic else []
            for one in found:
                out.append(f'**{_plain(mdoc.sentence(one["title"]))}**')
                out.append('')
                for word, text in _lines(one):
                    out.append(f'- {word}: {_plain(text)}')
                out.append('')
    return '\n'.join(out).rstrip('\n') + '\n'


def manual(top, date):
    body = ['.Sh DESCRIPTION', *mdoc.text(INTRODUCTION[0]), '.Pp', *mdoc.text(INTRODUCTION[1])]
    for section, topics in _sections(entries(top)):
        body.append(f'.Sh {section.upper()}')
        for topic, found in topics.items():
            body += [f'.Ss {mdoc.argument(topic).strip(chr(34))}'] if topic else []
            elements = []
            for one in found:
                lines = []
                for word, text in _lines(one):
                    lines += [*(['.br'] if lines else []), *mdoc.text(mdoc.sentence(f'{word}: {text}') if word != 'Cases' else f'{word}: {text}')]
                elements.append([f'.It {mdoc.argument(mdoc.sentence(one["title"]))}', *lines])
            body += mdoc.tags(elements)
    body += ['.Sh SEE ALSO', '.Xr perfabi 1 ,', '.Xr perf_event_open 2 ,', '.Xr perfabi-records 5']
    return mdoc.page(NAME, 7, date, ABOUT, body)
