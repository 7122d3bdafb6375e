# SPDX-License-Identifier: MIT
"""mdoc(7): text, lists and displays as lines that `mandoc -Tlint` has nothing to say about.

Running text is Markdown's simplest: `code` becomes a literal, everything else is as it stands. A sentence begins a line.
"""

import re
import textwrap

WIDTH = 76
OPENING, CLOSING = '([', '.,;:)]!?'


def escape(text):
    """Text as it is to be seen: nothing in it is an escape sequence."""
    text = text.replace('\\', '\\e').replace('…', '...').replace('–', '\\(en').replace('’', "'")
    return text.replace('-', '\\-') if text in ('-', '--') else text


def line(text):
    """A line of text, which is no request."""
    return '\\&' + text if text[:1] in ('.', "'") else text


def argument(text):
    """One argument of a macro, whatever is in it."""
    text = escape(text).replace('"', '\\(dq')
    if re.fullmatch(r'[A-Z][a-z][a-z]?|%[A-Z]', text) or text[:1] in OPENING + CLOSING + '|':
        text = '\\&' + text
    return f'"{text}"' if ' ' in text or not text else text


def _wrapped(text):
    """Plain text: each sentence on lines of its own."""
    for sentence in re.split(r'(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z"\'(\\0-9])|(?<=[.!?][)"\'])\s+(?=[A-Z"\'(])', text.strip()):
        for part in textwrap.wrap(sentence, WIDTH, break_long_words=False, break_on_hyphens=False):
            yield line(part)


# What has a macro of its own in running text: `code`, function(), and page(3).
MARKED = re.compile(r'`+([^`]+)`+|\b([A-Za-z_]\w*)\(\)|\b([a-z][\w.-]*)\(([1-8])\)|(?<![\w-])-(-?[a-z][\w-]*)')


def _macro(found):
    code, function, page, section, option = found.groups()
    if option:
        return f'.Fl {{}}{option}'
    if code:
        return f'.Ql {{}}{argument(code)}'
    return f'.Fn {{}}{function}' if function else f'.Xr {{}}{page} {section}'


def text(words):
    """A paragraph, as lines."""
    words, out, before, at = ' '.join(words.split()), [], '', 0
    for found in MARKED.finditer(words):
        head, opening = re.fullmatch(r'(.*?)([(\[]*)', before + words[at:found.start()], re.S).groups()
        closing = re.match(r'[.,;:)\]!?]*', words[found.end():]).group()
        after = words[found.end() + len(closing):][:1]
        if (head and head[-1] != ' ') or after not in ('', ' '):  # in the middle of a word
            before += words[at:found.start()] + (f'"{found[1]}"' if found[1] else found[0])
            at = found.end()
            continue
        out += _wrapped(escape(head))
        out.append(' '.join([_macro(found).format(''.join(one + ' ' for one in opening)), *closing]))
        before, at = '', found.end() + len(closing)
    return out + list(_wrapped(escape(before + words[at:])))


# How values begin that --help lists for an option.
VALUE = re.compile(r'[a-z]+( \(default[,)]|, [a-z-]+( \(default\))?(,| or )| or [a-z]+$)')


def sentence(words):
    """What stands as a phrase in help and data, as a sentence: "the errno" as "The errno."."""
    words = ' '.join(words.split())
    if not words:
        return ''
    # A word that is a name stays as it is: of lower case letters with a bracket, a number or an underline behind them.
    # So does a value that an option takes: "json, or jsonl", "pretty (default)".
    first = re.match(r'\S+', words).group()
    if re.fullmatch(r"[a-z]+('s)?[,;:.]?", first) and not VALUE.match(words):
        words = words[0].upper() + words[1:]
    return words if words[-1] in '.!?:' else words + '.'


def tag(macro, head, body):
    """An element of tags(): what it is, and lines."""
    return [f'.It {macro} {argument(head)}', *body]


def tags(elements):
    elements = list(elements)
    return ['.Bl -tag -width Ds', *[one for element in elements for one in element], '.El'] if elements else []


def literal(lines):
    return ['.Bd -literal -offset indent', *[line(escape(part)) for one in lines for part in one.split('\n')], '.Ed']


def hanging(text, column):
    """A line of a display, folded at WIDTH; what goes on stands from that column on."""
    return '\n'.join(textwrap.wrap(text, WIDTH + 4, subsequent_indent=' ' * column, break_long_words=False, break_on_hyphens=False, drop_whitespace=True) or [''])


# How a page begins.
HEAD = ['.\\" SPDX-License-Identifier: MIT', '.\\" Made by ci/reference (make reference): change what it is made from.']


def synopsis(usage):
    """A usage as a help has it: "perfabi run [OPTIONS] [PATH|ID-GLOB...]"."""
    words = []
    for word in re.findall(r'\[[^\]]*\]|\S+', usage):
        inner = word.strip('[]')
        words.append(f'Oo Ar {argument(inner)} Oc' if word.startswith('[') else f'Fl {word[1:]}' if word.startswith('-') else
                     f'Ar {argument(word)}' if re.match('[A-Z]', word) else f'Cm {word}')
    return ['.' + ' '.join(words)]


def page(name, section, date, about, *parts):
    """The whole page: `parts` are lists of lines."""
    head = [*HEAD, f'.Dd {date}', f'.Dt {name.upper()} {section}', '.Os', '.Sh NAME', f'.Nm {name}', f'.Nd {about}']
    return '\n'.join(head + [one for part in parts for one in part]) + '\n'
