# SPDX-License-Identifier: MIT
"""perfabi(1) and perfabi-decode(1): prose from docs/man/NAME.mdoc, options from the programs' own --help.

In the source `@commands` or `@options` in a line of its own is where they go. From `@more COMMAND OPTION` (`@more OPTION` of a
program without commands) to `@end` stands what the page says of that option behind what the help says.
"""

import os
import re

from manual import mdoc
from manual.error import Wrong

# What the help of each command leaves to who knows, or says of itself ("this help").
PLAIN = {'-h, --help': 'Print help.', '-V, --version': 'Print the version.'}


def _usage(lines):
    """"usage: program ..." and the lines that go on with it; the rest."""
    at = 1
    while at < len(lines) and lines[at].startswith('       '):
        at += 1
    return [re.sub('^(usage:| {6}) ', '', one).strip() for one in lines[:at]], lines[at:]


def parse(text):
    """A help as (usage, parts): a part is ('text', words), ('literal', lines) or ('options', [(head, words)])."""
    usage, lines = _usage(text.rstrip('\n').split('\n'))
    parts = []
    for line in lines:
        stripped, last = line.strip(), parts[-1] if parts else ('', [])
        if not stripped:
            parts.append(('', []))
        elif re.match(r' {2,6}-{1,2}\w', line):
            head, _, words = re.fullmatch(r'((?:(?! {2,}).)+)( {2,}(.*))?', stripped).groups()
            if last[0] != 'options':
                parts.append(('options', []))
            parts[-1][1].append([head, words or ''])
        elif last[0] == 'options' and line.startswith('          '):
            last[1][-1][1] = (last[1][-1][1] + ' ' + stripped).strip()
        elif line.startswith('  '):
            if last[0] != 'literal':
                parts.append(('literal', []))
            parts[-1][1].append(stripped)
        elif last[0] == 'text':
            last[1].append(stripped)
        else:
            parts.append(('text', [stripped]))
    return usage, [(kind, ' '.join(one) if kind == 'text' else one) for kind, one in parts if kind]


def _head(head):
    """"-f, --format FORMAT" as arguments of .It"""
    words = []
    for at, one in enumerate(head.split(', ')):
        option, _, argument = one.partition(' ')
        if not option.startswith('-') or len(option) < 2:
            raise Wrong(f'"{head}" of a help is no option')
        words += [*([','] if at else []), f'Fl {mdoc.argument(option[1:])}', *([f'Ar {mdoc.argument(argument)}'] if argument else [])]
    return '.It ' + ' '.join(words)


def _options(found, more):
    elements = []
    for head, words in found:
        text = mdoc.text(mdoc.sentence(PLAIN.get(head, words)))
        long = re.search(r'--[\w-]+', head)
        text += more.pop(long.group() if long else head, [])
        if not text:
            raise Wrong(f'the help does not say what {head} is')
        elements.append([_head(head), *text])
    return mdoc.tags(elements)


def body_of(parts, more):
    """What a help says behind its usage, as mdoc. Of `more` goes what was used."""
    out = []
    for kind, one in parts:
        out += ['.Pp'] if out and kind == 'text' and not out[-1].startswith('.Ss') else []
        if kind == 'text':
            out += mdoc.text(mdoc.sentence(one))
        else:
            out += mdoc.literal(one) if kind == 'literal' else _options(one, more)
    return out


def groups_of(parts, more):
    """The same of a help whose options stand under headings; what is in front of them is the source's to say."""
    out = []
    for (kind, one), (_, found) in zip(parts, parts[1:]):
        if kind == 'text' and isinstance(found, list) and found and isinstance(found[0], list):
            out += [f'.Ss {one}', *_options(found, more)]
    return out


def _source(top, name):
    """The lines of the source, and what it says more: by command, by option."""
    lines, more, into = [], {}, None
    with open(os.path.join(top, 'docs/man', f'{name}.mdoc')) as file:
        for line in file.read().splitlines()[1:]:  # the licence is in HEAD
            if line.startswith('@more '):
                *command, option = line.split()[1:]
                into = more.setdefault(' '.join(command), {}).setdefault(option, [])
            elif line == '@end':
                into = None
            elif into is not None:
                into.append(line)
            else:
                lines.append(line)
    return lines, more


def commands_of(text):
    """The commands that a program's help lists."""
    listed = re.search(r'^commands:\n((?:  .*\n)+)', text, re.M)
    if not listed:
        raise Wrong('the help of perfabi lists no commands as ci/manual/program.py reads them')
    return re.findall(r'^  (\w+) ', listed[1], re.M)


def _commands(program, help_of, more):
    out = []
    for command in commands_of(help_of()):
        if command == 'help':
            continue
        usage, parts = parse(help_of(command))
        out += [f'.Ss {program} {command}']
        for at, one in enumerate(usage):
            out += [*(['.br'] if at else []), *mdoc.synopsis(one)]
        out += ['.Pp', *body_of(parts, more.get(command, {}))]
    return out


def manual(top, date, name, help_of):
    """The page; help_of(command) is what `name command --help` prints, help_of() what `name --help` does."""
    lines, more = _source(top, name)
    out = []
    for line in lines:
        if line == '@commands':
            out += _commands(name, help_of, more)
        elif line == '@options':
            out += groups_of(parse(help_of())[1], more.get('', {}))
        else:
            out.append(line.replace('@date', date))
    left = [f'{command} {option}'.strip() for command, options in more.items() for option in options]
    if left:
        raise Wrong(f'docs/man/{name}.mdoc says more of what no help has: {", ".join(left)}')
    return '\n'.join([*mdoc.HEAD, *out]) + '\n'
