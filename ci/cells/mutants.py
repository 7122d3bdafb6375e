# SPDX-License-Identifier: MIT
"""Mutants of a kernel's source: changes of places that decide something, each of which has a number that switches it on.

A place is chosen by what it looks like, whoever tests it: in each function of a file each comparison, each part of a condition, each errno, each
assignment to what outlives the function, each write into a buffer, each counter, each truth that is returned. ci/mutants/perf_mutant.c knows which
one is on, and which were reached.
"""

import hashlib
import re

# An errno that is as likely where a call refuses.
OTHER_ERRNO = {'EINVAL': 'EOPNOTSUPP'}
NEIGHBOUR = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
CONDITION = re.compile(r'\bif \(')
COMPARISON = re.compile(r'(?<![-<>=!])(<=|>=|==|!=|<|>)(?![<>=])')
ERRNO = re.compile(r'(?<![=!<>] )(?<!case )-(E[A-Z0-9]{3,})\b')
TRUTH = re.compile(r'\breturn (true|false);')
ASSIGNMENT = re.compile(r'^[ \t]+((?:[*&(]*)[A-Za-z_][\w.>()\[\]+*&-]*?)[ \t]*(=|\+=|-=|\|=|&=)[ \t]*(?!=)([^;{}]*);', re.M)
CONSTANT = re.compile(r'[A-Z0-9_| ]+|true|false|\d+')
CALL = re.compile(r'^[ \t]+((?:perf_output_(?:put|copy|skip|sample_regs|sample_ustack)|__output_(?:copy|skip)|local_(?:inc|dec|set|add|sub)|local64_(?:set|add|sub)'
                  r'|atomic(?:_long|64)?_(?:inc|dec|set|add|sub)|perf_event_(?:header__init_id|_output_id_sample|wakeup|update_time|update_userpage))'
                  r'\([^;{}]*\));', re.M)


class Mutant:
    """The text [start, end) of a file gets something before and behind it. `says` is for people; `key` stays what it is where the source changes elsewhere."""

    def __init__(self, kind, start, end, before, behind, says):
        self.kind, self.start, self.end, self.before, self.behind, self.says = kind, start, end, before, behind, ' '.join(says.split())
        self.file = self.function = self.key = self.number = self.line = None


def _blank(text):
    """The text with blanks for comments and lines of the preprocessor, and with strings of nothing but x: as long as before."""
    def blanks(found):
        return re.sub(r'[^\n]', 'x' if found.group()[0] in '"\'' else ' ', found.group())
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blanks, text, flags=re.S)
    return re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', blanks, text, flags=re.M)


def _functions(text):
    """Name, start and end of the body of each function: its braces are in the first column, as the kernel's style has it."""
    for found in re.finditer(r'^\{$', text, re.M):
        head = text[text.rfind('\n\n', 0, found.start()) + 1:found.start()]
        named = re.search(r'^(?!struct \w+ =)[^\n=;]*?\b(\w+)\s*\(', head, re.M)
        end = text.find('\n}', found.end())
        if named and end > 0:
            yield named.group(1), found.end(), end


def _closing(text, at):
    """Where the bracket that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in '([{') - (text[i] in ')]}')
        if not depth:
            return i
    return len(text)


def _trimmed(text, start, end):
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _split(text, start, end, joint):
    """Where what `joint` joins begins and ends, outside of brackets."""
    cuts, depth = [], 0
    for i in range(start, end):
        depth += (text[i] in '([{') - (text[i] in ')]}')
        if not depth and text.startswith(joint, i) and text[i - 1] != joint[0]:
            cuts.append(i)
    return list(zip([start] + [cut + 2 for cut in cuts], cuts + [end]))


def _parts(text, start, end, passes=False):
    """The parts of a condition, and of each whether the condition is true as far as that part is concerned if it is left out."""
    start, end = _trimmed(text, start, end)
    word = re.match(r'(?:un)?likely\s*', text[start:end])
    opens = start + (word.end() if word else 0)
    if text[opens:opens + 1] == '(' and _closing(text, opens) == end - 1:
        yield from _parts(text, opens + 1, end - 1, passes)
        return
    for joint in ('||', '&&'):
        pieces = _split(text, start, end, joint)
        if len(pieces) > 1:
            for a, b in pieces:
                yield from _parts(text, a, b, joint == '&&')
            return
    yield start, end, passes


def _comparison(text):
    """The one operator that compares outside of brackets: where, and which."""
    flat, depth = [], 0
    for c in text:
        depth -= c in ')]'
        flat.append(' ' if depth else c)
        depth += c in '(['
    flat = re.sub(r'->|<<|>>', '  ', ''.join(flat))
    found = list(COMPARISON.finditer(flat))
    return found[0] if len(found) == 1 and '?' not in flat else None


def _of_condition(source, text, start, end):
    for a, b, passes in _parts(text, start, end):
        part, one = source[a:b], _comparison(text[a:b])
        if 'WARN_ON' in part or 'lockdep' in part or not part:
            continue
        if one:
            other = NEIGHBOUR[one.group()]
            yield Mutant('comparison', a, b, f'(M(@) ? ({part[:one.start()]}{other}{part[one.end():]}) : (', '))', f'{other} for {one.group()} in "{part}"')
        yield Mutant('check', a, b, '(M(@) || (' if passes else '(!M(@) && (', '))', f'without the check "{part}"')


def _of_function(source, text, begin, end):
    for found in CONDITION.finditer(text, begin, end):
        yield from _of_condition(source, text, found.end(), _closing(text, found.end() - 1))
    for found in ERRNO.finditer(text, begin, end):
        other = OTHER_ERRNO.get(found.group(1), 'EINVAL')
        yield Mutant('errno', *found.span(), f'(M(@) ? -{other} : ', ')', f'{other} for {found.group(1)}')
    for found in TRUTH.finditer(text, begin, end):
        yield Mutant('truth', *found.span(1), '(M(@) ^ ', ')', f'the opposite of "{found.group()}"')
    for found in ASSIGNMENT.finditer(text, begin, end):
        lasts = re.search(r'->|\.|\[|\*', found.group(1)) or found.group(2) != '=' or CONSTANT.fullmatch(found.group(3).strip())
        if lasts:
            yield Mutant('assignment', found.start(1), found.end(), 'do { if (!M(@)) ', ' } while (0);', f'without "{source[found.start(1):found.end()]}"')
    for found in CALL.finditer(text, begin, end):
        yield Mutant('call', found.start(1), found.end(), 'do { if (!M(@)) ', ' } while (0);', f'without "{source[found.start(1):found.end()]}"')


def find(name, source):
    """The mutants of a file, in the order of their places."""
    text, seen = _blank(source), {}
    for function, begin, end in _functions(text):
        for one in sorted(_of_function(source, text, begin, end), key=lambda one: (one.start, -one.end)):
            place = f'{name} {function} {one.kind} {" ".join(source[one.start:one.end].split())}'
            seen[place] = nth = seen.get(place, 0) + 1
            one.file, one.function, one.line = name, function, text.count('\n', 0, one.start) + 1
            one.key = hashlib.sha256(f'{place} {nth}'.encode()).hexdigest()[:8]
            yield one


def put(source, mutants):
    """The file's text with its mutants, which have numbers."""
    at = {}
    for one in mutants:  # what begins first is outside, and so is what is longer
        at.setdefault(one.start, []).append(one.before.replace('@', str(one.number)))
    for one in reversed(mutants):
        at.setdefault(one.end, []).append(one.behind)
    pieces, past = [], 0
    # Where one ends and another begins, the end comes first; no two mutants do so, for there is a sign between them.
    for place in sorted(at):
        pieces += [source[past:place], *at[place]]
        past = place
    return '#include <linux/perf_mutant.h>\n' + ''.join(pieces) + source[past:]
