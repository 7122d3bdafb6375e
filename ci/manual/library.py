# SPDX-License-Identifier: MIT
"""libperfabi(3): the comments and declarations of decoder/include/perfabi.h, and the example of docs/library.md."""

import os
import re

from manual import mdoc
from manual.error import Wrong

NAME = 'libperfabi'
ABOUT = "perf's recordings as lines of JSON, or record by record as fields"


def _words(comment):
    """The paragraphs of a comment; indented lines are a list by themselves."""
    lines = [re.sub(r'^\s*(/\*+|\*/|\*)? ?', '', one).replace('*/', '').rstrip() for one in comment.strip().splitlines()]
    paragraphs, current = [], []
    for line in [*lines, '']:
        if not line.strip() or (line.startswith('  ') and current and not current[0].startswith('  ')):
            paragraphs += [current] if current else []
            current = []
        elif not line.startswith('  ') and current and current[0].startswith('  '):
            paragraphs.append(current)
            current = []
        if line.strip():
            current.append(line)
    return paragraphs


def _paragraphs(comment):
    out = []
    for at, lines in enumerate(_words(comment)):
        if lines[0].startswith('  '):
            out += mdoc.literal(one[2:] for one in lines)
        else:
            out += [*(['.Pp'] if at else []), *mdoc.text(' '.join(lines))]
    return out


def _blocks(header):
    """(comment, declaration) of the part that C++ takes for C's; a comment by itself has no declaration."""
    inner = header[header.index('extern "C" {'):header.rindex('#ifdef __cplusplus')]
    for block in re.split(r'\n\n', inner.split('#endif\n', 1)[1].strip('\n')):
        found = re.fullmatch(r'(?:(/\*.*?\*/)\n)?(.*)', block, re.S)
        yield found[1] or '', found[2]


def _functions(declaration):
    """(result, name, parameters) of each function that is declared there."""
    for result, name, parameters in re.findall(r'^([a-z][\w ]*?[ *]+)(perfabi_\w+)\((.*?)\);', declaration, re.M | re.S):
        # A comma within a pointer to a function is of its own parameters.
        whole = ' '.join(parameters.split())
        yield result.strip(), name, re.split(r', (?![^(]*\))', whole)


def _synopsis(functions):
    out = []
    for result, name, parameters in functions:
        out += [f'.Ft "{result}"', f'.Fo {name}', *[f'.Fa "{one}"' for one in parameters], '.Fc']
    return out


def _example(top):
    with open(os.path.join(top, 'docs/library.md')) as file:
        found = re.search(r'^```c\n(.*?)^```', file.read(), re.S | re.M)
    if not found:
        raise Wrong('docs/library.md has no example in C')
    return found[1].rstrip('\n').replace('\t', '    ').split('\n')


def manual(top, date):
    with open(os.path.join(top, 'decoder/include/perfabi.h')) as file:
        header = file.read()
    about = re.search(r'\*/\n(/\*\n.*?\*/)', header, re.S)[1]
    structs, functions, declared = [], [], []
    for comment, declaration in _blocks(header):
        found = list(_functions(declaration))
        if found:
            declared += found
            functions += [*[f'.It Fn {name}' for _, name, _ in found[:-1]], f'.It Fn {found[-1][1]}', *_paragraphs(comment)]
        else:
            if re.fullmatch(r'struct \w+;', declaration):
                continue
            structs += [*(['.Pp', *_paragraphs(comment)] if comment else []), *(mdoc.literal(declaration.replace('\t', '    ').split('\n')) if declaration else [])]
    body = ['.Sh SYNOPSIS', '.In perfabi.h', *_synopsis(declared),
            '.Sh DESCRIPTION', *_paragraphs(about), '.Sh FUNCTIONS', '.Bl -tag -width Ds', *functions, '.El',
            '.Sh STRUCTURES', *(structs[1:] if structs[0] == '.Pp' else structs), '.Sh EXAMPLES', *mdoc.text('A program that counts the samples of each process. pkg-config(1) has the options to build it: `cc sum.c $(pkg-config --cflags --libs perfabi)`.'),
            *mdoc.literal(_example(top)), '.Sh SEE ALSO', '.Xr perfabi-decode 1 ,', '.Xr perf_event_open 2 ,', '.Xr perfabi-records 5']
    return mdoc.page(NAME, 3, date, ABOUT, body)
