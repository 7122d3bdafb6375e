# SPDX-License-Identifier: MIT
"""perfabi-cases(5): the case language, from cases/schema and the topics of `perfabi help`."""

import json
import os
import re

from manual import mdoc
from manual.error import Wrong

NAME = 'perfabi-cases'
ABOUT = 'the language of case files'

# What the objects of case.schema.json are, in the order of the page: heading, where in the schema, what comes before the keys.
OBJECTS = (
    ('A file', '', 'A file of cases is one JSON object. Its path below the folder of cases names its suite: `open/size.json` is the suite `open.size`. '
                   'These are its members.'),
    ('Defaults', '/properties/defaults', 'These members of `defaults` are those of a case; `requires` is accumulated, `open` is merged, every other one is replaced.'),
    ('A case', '/$defs/case', 'Its id is `suite.name`, followed by the caller, the vehicle and the row, if the case has them in lists.'),
    ('Where the promise is written', '/properties/spec', 'The members of `spec`.'),
    ('The call', '/$defs/open', 'The members of `open`.'),
    ('The result', '/$defs/alternative', 'The members of `expect`, or of each of several alternatives.'),
    ('Conditions', '/$defs/when', 'The members of `when`. A comparison is a text such as `>=5.13`.'),
    ('Capabilities', '/$defs/outcome', 'The members of `outcome`.'),
)
TOPICS = (
    ('Tokens', 'tokens', 'What `requires` and `when` can ask of a machine; `!` negates a token, and of several joined by `|` one must hold. '
                         'Those with a number take any number and comparison. perfabi evaluates them before it runs the case.'),
    ('Gates', 'phases', 'The values of `phase`: groups of the checks of perf_event_open(2), in the order of the kernel.'),
    ('Patterns', 'patterns', 'What `expect` of a step can be: a value that must be equal, an object whose members must fit, a list whose elements must, or '
                             'an object of these operators, all of which must hold.'),
    ('Variables', 'variables', 'The values of `$name`, besides names that steps have bound and the parameter of `each`.'),
)
WORDS = {
    'number': 'a number', 'numbers': 'a number, or several to be or-ed', 'expression': 'a number', 'line': 'a line of text', 'spec': 'an object', 'as': 'a caller, or a list of them',
    'vehicles': 'a vehicle, or a list of them', 'requires': 'a list of tokens', 'steps': 'a list of steps', 'open': 'an object', 'outcome': 'an object',
    'expect': 'an object, or a list of them', 'when': 'an object', 'condition': 'a comparison, or a list of them', 'token': 'a token', 'errno': 'an errno',
    'phase': 'a gate', 'check': 'a check', 'case': 'a case', 'vehicle': 'a vehicle', 'attr': 'an object', 'attr_after': 'an object', 'pattern': 'a pattern',
    'rows': 'rows', 'name': 'a name', 'outcome_of_step': 'a pattern', 'open_flags_value': 'a number, or names', 'identity': 'a caller', 'step.schema.json': 'a step',
    'id': 'a text', 'some_steps': 'a list of steps', 'each': 'an object', 'sysctls': 'an object', 'bytes': 'an object', 'flags': 'a number, or names',
    'memory': '`writable`, `read-only`, `null` or an object', 'attr_or_parameter': 'an object'}


def _load(top, name):
    with open(os.path.join(top, 'cases/schema', f'{name}.schema.json')) as file:
        schema = json.load(file)
    if name != 'names':
        schema['$defs'] = {**_load(top, 'names')['$defs'], **schema['$defs']}
    return schema


def _or(words):
    words = list(dict.fromkeys(words))
    return words[0] if len(words) == 1 else ', '.join(words[:-1]) + ' or ' + words[-1]


def kind(schema):
    """What can be written there, in words; '' where the schema says nothing of it."""
    if '$ref' in schema:
        name = schema['$ref'].split('/')[-1]
        if name in ('parameter', 'whole_parameter'):
            return ''
        return WORDS[name] if name in WORDS else 'a number, or names' if name.endswith('_value') else _unknown(schema)
    if 'anyOf' in schema:
        kinds = [one for one in map(kind, schema['anyOf']) if one]
        if any(one.startswith('a number of') for one in kinds):  # or an expression that gives it
            kinds = [one for one in kinds if one != 'a number']
        return _or(kinds) if kinds else ''
    if 'const' in schema:
        return f'`{json.dumps(schema["const"])}`' if not isinstance(schema['const'], str) else f'`{schema["const"]}`'
    if 'enum' in schema:
        return _or([f'`{one}`' for one in schema['enum']])
    if schema.get('type') == 'array':
        inner = kind(schema['items']) or 'values'
        return f'a list of {inner}' if inner.startswith('`') else 'a list of ' + re.sub(r'^an? ', '', inner) + ('s' if re.match(r'an? \w+$', inner) else '')
    if schema.get('type') == 'integer' and 'maximum' in schema:
        return f'a number of {schema["minimum"]} to {schema["maximum"]}'
    return {'integer': 'a number', 'boolean': '`true` or `false`', 'string': 'a text', 'object': 'an object', None: ''}.get(
        schema.get('type') if not isinstance(schema.get('type'), list) else None, '')


def _unknown(schema):
    raise Wrong(f'ci/manual/language.py has no word for {schema["$ref"]}')


def _member(where, key, schema, required):
    about = schema.get('description')
    if not about:
        raise Wrong(f'cases/schema: {where}: {key} has no description')
    what = kind({one: value for one, value in schema.items() if one != 'description'})
    text = mdoc.sentence(about) + (f' {mdoc.sentence(what)}' if what else '') + (' Required.' if required else '')
    return mdoc.tag('Va', key, mdoc.text(text))


def _object(schema, where):
    found = schema
    for part in filter(None, where.split('/')):
        found = found[part]
    required = found.get('required', ())
    return mdoc.tags(_member(where or 'a file', key, one, key in required) for key, one in found['properties'].items() if key != '$schema')


def _rows(schema):
    lines = ['.Pp', *mdoc.text('The rows of `each` are one of these:'), '.Bl -bullet']
    for one in schema['$defs']['rows']['anyOf']:
        lines += ['.It', *mdoc.text(mdoc.sentence(one['description']))]
    return [*lines, '.El']


def _argument(verb, key, schema):
    what = kind({one: value for one, value in schema.items() if one != 'description'})
    about = schema.get('description', '')
    default = re.fullmatch(r'\((.*)\)|(.*) \(([^() ]+|\[.*\])\)', about, re.S)
    if default and not re.search(r'default', about):
        about, value = default[2] or '', default[1] or default[3]
        what += f'; {value.replace(chr(34), "")} by default' if what else f'{value} by default'
    text = ' '.join(dict.fromkeys(mdoc.sentence(part) for part in (about, what) if part))
    if not text:
        raise Wrong(f'perfabi help step-schema: {verb}: {key} has no description')
    return mdoc.tag('Va', key, mdoc.text(text))


def _verb(schema):
    """A verb, what it takes and what it shows."""
    own = schema['required'][0]
    first = schema['properties'][own]
    name = next((one['const'] for one in first.get('anyOf', ()) if 'const' in one), None) if own == 'workload' else None
    takes = [key for key in schema['properties'] if key not in (own, 'expect')]
    common = [key for key in schema['propertyNames']['enum'] if key in ('bind', 'expect')]
    what = '' if name else kind(first)
    text = mdoc.sentence(schema['description'])
    if what:
        text += f' The value is {what}.'
    if 'expect' in schema['properties']:
        text += f' It shows {schema["properties"]["expect"]["description"]}.'
    text += {(): ' It has neither `bind` nor `expect`.', ('bind',): ' It has no `expect`.', ('expect',): ' It has no `bind`.'}.get(tuple(common), '')
    shared = ('counted', 'refresh') if own == 'workload' else ()
    body = mdoc.text(text) + mdoc.tags(_argument(name or own, key, schema['properties'][key]) for key in takes if key not in shared)
    return mdoc.tag('Ic', name or own, body)


def _steps(schema):
    verbs = [one for one in schema['oneOf'] if one['required'][0] != 'workload']
    workloads = [one for one in schema['oneOf'] if one['required'][0] == 'workload']
    shared = workloads[0]['properties']
    return ['.Sh STEPS', *mdoc.text('A step is an object with one verb. These members go with a verb:'),
            *mdoc.tags([*(_member('a step', key, schema['properties'][key], False) for key in ('bind', 'when')),
                        mdoc.tag('Va', 'expect', mdoc.text('The promise. A pattern on what the step shows, an errno, both, or alternatives with `when`. '
                                                           'Without it the step must succeed.'))]),
            '.Ss Verbs', *mdoc.tags(map(_verb, verbs)),
            '.Ss Workloads', *mdoc.text('The values of the verb `workload`: something to be counted or recorded. Each takes these members, too:'),
            *mdoc.tags(_argument('workload', key, shared[key]) for key in ('counted', 'refresh')),
            '.Pp', *mdoc.text('They are:'), *mdoc.tags(map(_verb, workloads))]


def rows(text):
    """Of a topic of `perfabi help` the names and what they are; a row may go on in the next line."""
    found = []
    for row in text.splitlines():
        named = re.fullmatch(r' {2,4}(\S+) +(\S.*)', row)
        if named:
            found.append([named[1], named[2]])
        elif row.strip() and found:
            found[-1][1] += ' ' + row.strip()
    if not found:
        raise Wrong('perfabi help prints its topics otherwise than ci/manual/language.py reads them')
    return found


def _words(text):
    return mdoc.tags(mdoc.tag('Li', word, mdoc.text(mdoc.sentence(about))) for word, about in rows(text))


def manual(top, date, helps):
    """The page; helps[topic] is what `perfabi help topic` prints, helps['step-schema'] the schema of a step."""
    schema, steps = _load(top, 'case'), json.loads(helps['step-schema'])
    body = ['.Sh DESCRIPTION', *mdoc.text('A case is JSON: a call of perf_event_open(2), its caller, and the promised result. perfabi(1) runs it. '
                                          'This page lists every word of the language. '
                                          'The case language (docs/case-language.md) explains how they work together.'),
            '.Sh FILES OF CASES']
    for heading, where, text in OBJECTS:
        body += [f'.Ss {heading}', *mdoc.text(text), *_object(schema, where)]
        if where == '/$defs/case':
            body += _rows(schema)
    body += _steps(steps)
    body.append('.Sh WORDS')
    for heading, name, text in TOPICS:
        _, listed, *reported = helps[name].split('\n\n')
        body += [f'.Ss {heading}', *mdoc.text(text), *_words(listed)]
        if reported:  # tokens that are in reports alone
            body += ['.Pp', *mdoc.text(reported[0].strip()), *_words(reported[1])]
    body += ['.Sh SEE ALSO', '.Xr perfabi 1 ,', '.Xr perf_event_open 2 ,', '.Xr perfabi-records 5']
    return mdoc.page(NAME, 5, date, ABOUT, body)

