# SPDX-License-Identifier: MIT
"""perfabi-records(5): what records hold, by cases/abi."""

import json
import os
import re

from manual import mdoc
from manual.error import Wrong

NAME = 'perfabi-records'
ABOUT = "the records of perf's ring buffers and recordings, and the lines they become"
INTRODUCTION = (
    'This page lists the records that perf_event_open(2) writes to a ring buffer, and those that perf(1) adds to a perf.data: every field in the order of its bytes, its condition, and '
    'the first mainline kernel that has it. Stable and distribution kernels may have it earlier.',
    'perfabi-decode(1) prints a record as one JSON object with these members. This page comes from the tables with which perfabi and perfabi-decode read records.')
HEADER = (
    'A record begins with struct perf_event_header: u32 `type`, u16 `misc`, u16 `size`. `size` includes the header; the kernel writes multiples of 8. '
    'Fields have no padding other than that listed here, and the byte order of the machine.',)
LINES = (
    'Each line is an object. Its `type` is the name of the record without PERF_RECORD_; lower-case types are perfabi\'s own: `header` (once, first), `diagnostic`, and `summary` (once, last). '
    '`event` is the index of the event in the header\'s list of attrs. An address, a mask and opaque data is a string, "0x..."; '
    'a count, an id, a size or a time is an exact number; flags are a list of names, with bits without a name as "0x...".',)
TYPES = (
    ('u8, u16, u32, u64', 'a number of that many bits'), ('s8, s16, s32, s64', 'a signed number'), ('f64', 'a double'),
    ('hex16, hex32, hex64', 'a number printed in hexadecimal: an address, a mask, or opaque data'), ('string', 'NUL-terminated text, padded with NULs to a multiple of 8 bytes'),
    ('bytes', 'bytes, printed in hexadecimal'), ('opaque', 'bytes, printed only as their number'), ('attr', 'struct perf_event_attr, of its own size field'))
# How many elements or bytes, where it is no number and no field's name.
OF_TYPE = re.compile(r'[us]\d+$')


class Tables:
    """cases/abi, by what is looked up: families of constants and layouts by their names."""

    def __init__(self, top):
        self.families, self.layouts, self.files = {}, {}, {}
        for name in sorted(os.listdir(os.path.join(top, 'cases/abi'))):
            with open(os.path.join(top, 'cases/abi', name)) as file:
                data = json.load(file)
            self.files[name] = data
            self.families.update(data.get('constants', {}))
            self.layouts.update(data.get('layouts', {}))

    def constant(self, family, name):
        """A constant as C has it."""
        found = self.families[family]
        return found.get('prefix', '').upper() + name.upper() + found.get('suffix', '')


def _since(entry):
    return f' Since Linux {entry["since"]}.' if 'since' in entry else ''


def _names(value):
    return value if isinstance(value, list) else [value]


def condition(tables, when):
    """The condition of a field, as what follows "if"."""
    (key, value), *more = when.items()
    if key == 'misc':
        return ' and '.join(f'the header\'s misc has {tables.constant("misc", one)}' for one in _names(value))
    if key in ('sample_type', 'read_format', 'branch_sample_type'):
        return ' and '.join(f'{key} has {tables.constant(key, one)}' for one in _names(value))
    if key == 'attr':
        return ' and '.join(f'attr.{one} is set' for one in _names(value))
    if key == 'maybe':
        return 'the record has a size that fits only this layout'
    if key == 'left':
        return f'at least {value} bytes are left'
    if key == 'field' and len(more) == 1:
        relation, operand = more[0]
        words = {'is': 'is', 'not': 'is not', 'at_least': 'is at least'}
        if relation in words:
            return f'{value} {words[relation]} {operand}'
    raise Wrong(f'ci/manual/records.py cannot say {json.dumps(when)}')


def _opposite(tables, when):
    """The same for `else`."""
    text = condition(tables, when)
    for yes, no in (("misc has", "misc does not have"), (" has ", " does not have "), (" is set", " is not set"), (" is not ", " is "), (" is at least ", " is less than "),
                    ("at least ", "fewer than "), (" is ", " is not ")):
        if yes in text and ' and ' not in text:
            return text.replace(yes, no, 1)
    return 'otherwise'


def _length(value):
    """How many bytes or elements, as it follows the colon of "so many as ... says"."""
    if isinstance(value, int):
        return str(value)
    if value == 'rest':
        return 'up to the end of the record'
    if OF_TYPE.match(value):
        return f'their number in the {value} before them'
    return f'their number in {value}'


def _of_bytes(field):
    size = field.get('size', field.get('length'))
    if size is None:
        return ''
    text = f', {size} bytes' if isinstance(size, int) else f', {_length(size)}'
    if 'less' in field:
        text += f', less {field["less"]}'
    if 'used' in field:
        text += f'; {field["used"]} is the number of valid ones'
    return text


def _number(tables, field):
    text = field['type'] + _of_bytes(field)
    if 'set' in field:
        text += f': {"bits" if tables.families[field["set"]]["kind"] == "mask" else "one"} of {_family(tables, field["set"])}'
    if 'markers' in field:
        text += f', or one of {_family(tables, field["markers"])}'
    return text


def _family(tables, name):
    found = tables.families[name]
    prefix = found.get('prefix', '').upper()
    return f'{prefix}*' if prefix else f'the names of {name}'


def _row(indent, name, what):
    return [('  ' * indent, name, what)]


def _array(tables, field, indent):
    count = _length(field['count']) + (f', {field["per"]} to one' if 'per' in field else '')
    if 'each' in field:
        return _row(indent, field['name'] + '[]', f'{_number(tables, field["each"])}; {count}')
    return _row(indent, field['name'] + '[]', f'objects; {count}') + rows(tables, field['fields'], indent + 1)


def _word(tables, field, indent):
    found = tables.families[field['bitfield']]
    out = _row(indent, field['name'], f'{field["type"]}, in which') if 'name' in field else _row(indent, '', f'{field["type"]}, in which')
    for one in found['values']:
        first, width = one['bits']
        bits = f'bit {first}' if width == 1 else f'bits {first} to {first + width - 1}'
        kind = f': one of {_family(tables, one["set"])}' if 'set' in one else ''
        out += _row(indent + 1, one['name'], f'{bits}{kind}{";" + _since(one)[:-1].lower().replace("linux", "Linux") if "since" in one else ""}')
    return out


def rows(tables, fields, indent=0):
    """Fields as (indentation, name, what it is), in wire order; conditions are rows without a name."""
    out = []
    for field in fields:
        if 'when' in field:
            out += _row(indent, None, f'if {condition(tables, field["when"])}:') + rows(tables, field['then'], indent + 1)
            if 'else' in field:
                out += _row(indent, None, f'if {_opposite(tables, field["when"])}:') + rows(tables, field['else'], indent + 1)
        elif 'pad' in field:
            out += _row(indent, '', f'{field["pad"]} bytes of padding')
        elif 'align' in field:
            out += _row(indent, '', f'padding to a multiple of {field["align"]}')
        elif 'use' in field:
            out += _row(indent, field.get('name', ''), f'the fields of {field["use"]}')
        elif 'switch' in field:
            out += _row(indent, '', f'the fields of {field["over"]} that {field["switch"]} names')
        elif 'count' in field:
            out += _array(tables, field, indent)
        elif 'regs' in field:
            out += _row(indent, field['name'], f'a u64 for each bit of attr.{field["regs"]}, lowest first, by the register\'s name')
        elif 'index' in field:
            out += _row(indent, field['name'], f'no bytes: the element\'s place has a name in {field["index"]}')
        elif 'bitfield' in field:
            out += _word(tables, field, indent)
        elif 'fields' in field:
            out += rows(tables, field['fields'], indent) if not field.get('name') else _row(indent, field['name'], 'an object') + rows(tables, field['fields'], indent + 1)
        else:
            out += _row(indent, field['name'], _number(tables, field))
    return out


def _table(found):
    """Rows as a display: the name, and what it is beside it."""
    width = max((len(indent) + len(name or '') for indent, name, _ in found), default=0)
    lines = []
    for indent, name, what in found:
        lines.append(f'{indent}{what}' if name is None else f'{indent + name:<{width}}  {what}')
    return mdoc.literal(mdoc.hanging(line, (width + 2) if name is not None else len(indent) + 2) for line, (indent, name, _) in zip(lines, found))


def _layout(tables, fields):
    return _table(rows(tables, fields)) if fields else mdoc.text('It has no fields.')


def _record(tables, family, value):
    name = tables.constant(family, value['name'])
    lines = [f'.It Dv {name} Pq {value["value"]}', *mdoc.text(_since(value))]
    if 'note' in value:
        lines += mdoc.text(mdoc.sentence(value['note']))
    if 'followed_by' in value:
        follows = value['followed_by']
        lines += mdoc.text(f'It is followed by {follows["field"]} bytes, which its size does not include.')
    if 'fields' not in value:
        return lines + mdoc.text('A line has only its offset and size in the file.')
    return lines + _layout(tables, value['fields'])


def _records(tables, family):
    return mdoc.tags(_record(tables, family, value) for value in tables.families[family]['values'])


def _number_of(value):
    if 'bit' in value:
        return f'1 << {value["bit"]}'
    return str(value['value']) if 'value' in value else 'bit ' + '-'.join(str(one) for one in (value['bits'][0], value['bits'][0] + value['bits'][1] - 1)[:value['bits'][1]])


def _constants(tables, name):
    found = tables.families[name]
    about = '; '.join(one for one in (f'of {found["field"]}' if 'field' in found else '', found.get('note', '')) if one)
    lines = [f'.It Li {name}', *(mdoc.text(mdoc.sentence(about)) if about else [])]
    rows_of = []
    for value in found['values']:
        more = [f'since {value["since"]}' if 'since' in value else '', 'of ' + ', '.join(one.upper() for one in value['records']) if 'records' in value else '',
                value.get('note', '')]
        rows_of.append(('', tables.constant(name, value['name']), f'{_number_of(value):<10}  ' + '; '.join(filter(None, more))))
    return lines + _table([(indent, key, what.rstrip()) for indent, key, what in rows_of])


def _attr(tables):
    attr = tables.files['attr.json']['attr']
    sizes = [('', f'PERF_ATTR_SIZE_{one["name"]}', f'{one["size"]:>4} bytes  since {one["since"]}') for one in attr['sizes']]
    fields = []
    for one in attr['fields']:
        place = f'{one["offset"]:>3}  {one["type"]}'
        if 'bits' in one:
            first, width = one['bits']
            place += f'  bit {first}' if width == 1 else f'  bits {first} to {first + width - 1}'
        fields.append(('', one['name'], f'{place:<22}  since {one["since"]}' + (f'; {one["note"]}' if 'note' in one else '')))
        fields += [('  ', alias['name'], f'{"the same":<20}  since {alias["since"]}' + (f', if {alias["when"]} is set' if 'when' in alias else '')) for alias in one.get('aliases', ())]
    return [*mdoc.text('Its size has grown:'), *_table(sizes), '.Pp',
            *mdoc.text('Offset in bytes, type, and of a bit its place, counted from the least significant one on little-endian machines and from the most significant one on the others:'),
            *_table(fields)]


def _registers(tables):
    out = []
    for machine, found in tables.files['regs.json']['regs'].items():
        names = [f'{one["bit"]} {one["name"]}' for one in found['regs']]
        out.append([f'.It Li {machine}', *mdoc.text(f'{", ".join(found["machines"])}, since Linux {found["since"]}: {", ".join(names)}.')])
    return mdoc.tags(out)


def manual(top, date):
    tables = Tables(top)
    families = [name for name, found in tables.families.items() if name not in ('record', 'tool_record', 'feature') and found['kind'] != 'layout']
    body = ['.Sh DESCRIPTION', *mdoc.text(INTRODUCTION[0]), '.Pp', *mdoc.text(INTRODUCTION[1]), '.Ss Lines', *mdoc.text(LINES[0]),
            '.Ss Types', *mdoc.tags(mdoc.tag('Li', name, mdoc.text(mdoc.sentence(about))) for name, about in TYPES),
            '.Sh RECORDS OF THE KERNEL', *mdoc.text(HEADER[0]), *_records(tables, 'record'),
            '.Sh BLOCKS', *mdoc.text('Records share these. The attr of the event decides which of their fields exist.')]
    for name in ('sample', 'sample_id', 'read_format'):
        body += [f'.Ss {name}', *_layout(tables, tables.layouts[name])]
    body += ['.Sh THE FIRST PAGE', *mdoc.text('The first page of an mmap(2) area is struct perf_event_mmap_page:'), *_layout(tables, tables.layouts['mmap_page']),
             '.Sh STRUCT PERF_EVENT_ATTR', *_attr(tables),
             '.Sh RECORDS OF PERF', *mdoc.text('perf(1) writes these into a perf.data. No kernel does.'), *_records(tables, 'tool_record'),
             '.Ss Feature sections', *mdoc.text('In the header of a perf.data, or each in a HEADER_FEATURE:'), *_records(tables, 'feature')]
    for name in ('build_id_event', 'cpu_map_data'):
        body += [f'.Ss {name}', *_layout(tables, tables.layouts[name])]
    body += ['.Sh CONSTANTS', *mdoc.tags(_constants(tables, name) for name in families),
             '.Sh REGISTERS', *mdoc.text('The registers of sample_regs_user and sample_regs_intr, from bit 0 on:'), *_registers(tables),
             '.Sh SEE ALSO', '.Xr perfabi-decode 1 ,', '.Xr perf_event_open 2 ,', '.Xr libperfabi 3 ,', '.Xr perfabi-cases 5']
    return mdoc.page(NAME, 5, date, ABOUT, body)
