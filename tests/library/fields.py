# SPDX-License-Identifier: MIT
"""libperfabi.so as a program of somebody else's meets it, by ctypes: fields are what lines say, lines are whole, errors
are the library's own, memory is as good as a file.

usage: fields.py LIBRARY FILE...    each FILE is a recording; FILE.attr.json beside it, if there is one, has its attrs
"""
import ctypes as C
import json
import locale
import os
import re
import struct
import sys

SINK = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_char), C.c_size_t)
LITTLE, BIG = 1, 2
(UNSIGNED, HEX, SIGNED, DOUBLE, BITS, STRING, BYTES, OPAQUE, ATTR, ARRAY, LIST, INDEX) = range(1, 13)
GRADES = ("error", "warning", "note")


class Options(C.Structure):
    _fields_ = [("format", C.c_int), ("order", C.c_int), ("machine", C.c_char_p), ("attr", C.c_char_p),
                ("attr_name", C.c_char_p), ("types", C.POINTER(C.c_char_p)), ("type_count", C.c_size_t),
                ("fields", C.POINTER(C.c_char_p)), ("field_count", C.c_size_t), ("header_only", C.c_bool),
                ("no_summary", C.c_bool), ("check", C.c_bool), ("bytes", C.c_bool), ("pieces", C.c_bool), ("sort", C.c_bool), ("join", C.c_bool),
                ("jobs", C.c_uint), ("shard", C.c_uint), ("shards", C.c_uint), ("tracefs", C.c_char_p), ("output", C.c_int),
                ("event", C.c_char_p), ("symbol", C.c_void_p), ("symbol_context", C.c_void_p), ("reserved", C.c_uint64 * 8)]


class Result(C.Structure):
    _fields_ = [("errors", C.c_uint64), ("warnings", C.c_uint64), ("notes", C.c_uint64), ("records", C.c_uint64),
                ("lost", C.c_uint64), ("option", C.c_char_p), ("reserved", C.c_uint64 * 8), ("message", C.c_char * 1024)]


class Field(C.Structure):
    _fields_ = [("number", C.c_uint32), ("offset", C.c_uint32), ("size", C.c_uint32), ("kind", C.c_uint8),
                ("width", C.c_uint8), ("element", C.c_uint8), ("reserved", C.c_uint8), ("own", C.c_uint32 * 2),
                ("value", C.c_uint64)]


class Record(C.Structure):
    _fields_ = [("what", C.c_uint32), ("order", C.c_uint32), ("type", C.c_uint32), ("misc", C.c_uint16),
                ("size", C.c_uint16), ("bytes", C.POINTER(C.c_ubyte)), ("name", C.c_char_p), ("event", C.c_int32),
                ("grade", C.c_uint32), ("offset", C.c_uint64), ("within", C.c_int64), ("fields", C.POINTER(Field)),
                ("field_count", C.c_size_t), ("message", C.c_char_p), ("skipped", C.c_uint64),
                ("own", C.c_void_p)]


def load(path):
    lib = C.CDLL(path)
    lib.perfabi_new.restype = C.c_void_p
    lib.perfabi_new.argtypes = [C.c_char_p, C.c_char_p, C.c_size_t]
    lib.perfabi_free.argtypes = [C.c_void_p]
    lib.perfabi_decode.argtypes = [C.c_void_p, C.c_int, C.POINTER(Options), SINK, C.c_void_p, C.POINTER(Result)]
    lib.perfabi_decode_memory.argtypes = [C.c_void_p, C.c_char_p, C.c_size_t, C.POINTER(Options), SINK, C.c_void_p,
                                          C.POINTER(Result)]
    lib.perfabi_attrs.argtypes = [C.c_void_p, C.c_int, C.POINTER(Options), C.POINTER(C.c_void_p), C.POINTER(Result)]
    lib.perfabi_attrs_memory.argtypes = [C.c_void_p, C.c_char_p, C.c_size_t, C.POINTER(Options), C.POINTER(C.c_void_p),
                                         C.POINTER(Result)]
    lib.perfabi_open.argtypes = [C.c_void_p, C.c_int, C.POINTER(Options), C.POINTER(C.c_void_p), C.POINTER(Result)]
    lib.perfabi_open_memory.argtypes = [C.c_void_p, C.c_char_p, C.c_size_t, C.POINTER(Options), C.POINTER(C.c_void_p),
                                        C.POINTER(Result)]
    lib.perfabi_open_ring.argtypes = [C.c_void_p, C.c_void_p, C.c_size_t, C.POINTER(Options), C.POINTER(C.c_void_p),
                                      C.POINTER(Result)]
    lib.perfabi_next.argtypes = [C.c_void_p, C.POINTER(C.POINTER(Record))]
    lib.perfabi_reader_result.argtypes = [C.c_void_p, C.POINTER(Result)]
    lib.perfabi_close.argtypes = [C.c_void_p]
    lib.perfabi_field_name.restype = C.c_char_p
    lib.perfabi_field_name.argtypes = [C.c_void_p, C.c_uint32]
    lib.perfabi_field_number.restype = C.c_uint32
    lib.perfabi_field_number.argtypes = [C.c_void_p, C.c_char_p]
    lib.perfabi_event_name.restype = C.c_char_p
    lib.perfabi_event_name.argtypes = [C.c_void_p, C.c_int32]
    lib.perfabi_value_name.restype = C.c_char_p
    lib.perfabi_value_name.argtypes = [C.POINTER(Record), C.POINTER(Field), C.c_uint64]
    lib.perfabi_field.restype = C.POINTER(Field)
    lib.perfabi_field.argtypes = [C.POINTER(Record), C.c_uint32]
    lib.perfabi_element.restype = C.c_uint64
    lib.perfabi_element.argtypes = [C.POINTER(Record), C.POINTER(Field), C.c_uint64]
    return lib


def check(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(str(w) for w in what))


class Perfabi:
    def __init__(self, path):
        self.lib = load(path)
        self.p = self.lib.perfabi_new(None, None, 0)
        self.names = {}

    def lines(self, source, options):
        """(error, the pieces that the sink got, result); source: bytes, or a descriptor."""
        pieces, result = [], Result()
        sink = SINK(lambda context, text, size: pieces.append(text[:size]) or 0)
        if isinstance(source, bytes):
            err = self.lib.perfabi_decode_memory(self.p, source, len(source), options, sink, None, result)
        else:
            err = self.lib.perfabi_decode(self.p, source, options, sink, None, result)
        return err, pieces, result

    def open(self, source, options):
        reader, result = C.c_void_p(), Result()
        if isinstance(source, bytes):
            err = self.lib.perfabi_open_memory(self.p, source, len(source), options, reader, result)
        else:
            err = self.lib.perfabi_open(self.p, source, options, reader, result)
        return err, reader, result

    def name(self, number):
        if number not in self.names:
            name = self.lib.perfabi_field_name(self.p, number).decode()
            check(self.lib.perfabi_field_number(self.p, name.encode()) == number, name, "has another number")
            self.names[number] = name
        return self.names[number]

    def records(self, source, options):
        """Yields what perfabi_next() gives, as dicts; ends with the result."""
        err, reader, result = self.open(source, options)
        check(err == 0, "perfabi_open", err, result.message)
        record = C.POINTER(Record)()
        while (err := self.lib.perfabi_next(reader, record)) == 1:
            plain = self.plain(record)
            name = self.lib.perfabi_event_name(reader, plain.get("event", -1))
            yield {**plain, "event": name.decode() if name else None}
        check(err == 0, "perfabi_next", err)
        self.lib.perfabi_reader_result(reader, result)
        self.lib.perfabi_close(reader)
        yield {"type": "result", "records": result.records, "errors": result.errors, "warnings": result.warnings,
               "notes": result.notes, "lost": result.lost}

    def plain(self, record):
        r = Record.from_buffer_copy(record.contents)  # which does as well as the library's
        if r.what:
            return {"type": "diagnostic", "code": r.name.decode(), "grade": GRADES[r.grade], "offset": r.offset,
                    "within": r.within, "message": r.message.decode(), "skipped": r.skipped}
        data = bytes(r.bytes[:r.size])
        return {"type": r.name.decode(), "type_id": r.type, "misc": r.misc, "offset": r.offset, "within": r.within,
                "size": r.size, "event": r.event, "bytes": data,
                "fields": [self.field(r, r.fields[i], data, "><"[r.order == LITTLE]) for i in range(r.field_count)]}

    def field(self, record, field, data, order):
        taken = data[field.offset:field.offset + field.size]
        check(len(taken) == field.size, "a field ends past its record")
        value = field.value
        if field.kind == SIGNED:
            value = C.c_int64(value).value
        elif field.kind == DOUBLE:
            value = struct.unpack("d", struct.pack("Q", value))[0]
        elif field.kind == ARRAY:
            value = [self.lib.perfabi_element(record, field, i) for i in range(value)]
        elif field.kind in (STRING, BYTES):
            check(value <= field.size, "more bytes than a field has")
            value = taken[field.size - value:] if field.kind == BYTES and value == field.size else value
        if field.kind == UNSIGNED and field.size == field.width:
            check(int.from_bytes(taken, "big" if order == ">" else "little") == value, self.name(field.number), "differs")
        asked = set(value) if field.kind == ARRAY else {field.value} | {1 << b for b in range(64) if field.value >> b & 1}
        names = {v: (self.lib.perfabi_value_name(record, field, v) or b"").decode() for v in asked}
        return self.name(field.number), field.kind, value, taken, names


def flat(value, path, out, lists):
    """A line's members as [(name, value)], in order; names as perfabi_field_name() has them, of which some are lists."""
    if isinstance(value, dict) and not ("text" in value and "bytes" in value and len(value) == 2) and not path.endswith("attr"):
        for key, member in value.items():
            flat(member, f"{path}.{key}" if path else key, out, lists)
    elif path in lists:
        out.append((path, value))
        for element in value:
            flat(element, path + "[]", out, lists)
    else:
        out.append((path, value))


def says(value, field):
    """Whether a line's value is what the field has."""
    _, kind, raw, taken, names = field
    if kind in (UNSIGNED, BITS, HEX, INDEX) and isinstance(value, list):  # a mask
        bits = sum(1 << b for b in range(64) if raw >> b & 1 and names[1 << b] in value)
        rest = sum(int(v, 16) for v in value if v.startswith("0x"))
        return raw == bits | rest
    if kind == INDEX and value.startswith("0x"):
        return int(value, 16) == raw
    if kind in (UNSIGNED, BITS, INDEX, HEX) and isinstance(value, str) and not value.startswith("0x"):
        return names[raw] == value
    if kind in (HEX, UNSIGNED, BITS) and isinstance(value, str):
        return int(value, 16) == raw
    if kind in (UNSIGNED, BITS, SIGNED, INDEX):
        return value == raw
    if kind == DOUBLE:
        return value == raw or str(raw) == value
    if kind == STRING:
        text = bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value.encode()
        end = taken.find(text) if text else 0
        return raw == len(text) and end >= 0
    if kind == BYTES:
        data = bytes.fromhex(value)
        return (raw if isinstance(raw, bytes) else taken[:raw]) == data if len(taken) == len(data) else data in taken
    if kind == OPAQUE:
        return value == raw
    if kind == ATTR:
        return isinstance(value, dict) and len(taken) >= 64
    if kind == LIST:
        return isinstance(value, list) and len(value) == raw
    if kind == ARRAY:
        told = []
        for v in value:
            if isinstance(v, dict):
                marker = [r for r in raw if names[r] == v["context"] or hex(r) == v["context"]]
                told.append(marker[0] if marker else None)
                told += [int(v["cookie"], 16)] if "cookie" in v else []
            else:
                told.append(int(v, 16) if isinstance(v, str) else v)
        return told == raw
    return False


def compare(line, record, path):
    """A line against a record, member by member."""
    where = f"{path}: {line['type']} at {line['offset']}"
    for name in ("type", "offset"):
        check(line[name] == record[name], where, name, record[name])
    check(line.get("within", -1) == record["within"], where, "within")
    if line["type"] == "diagnostic":
        check(all(line[n] == record[n] for n in ("code", "grade", "message")), where, record)
        check(line.get("skipped", 0) == record["skipped"], where, "skipped")
        return 0
    check(line["size"] == record["size"] == len(record["bytes"]), where, "size")
    check(line.get("event") == record["event"], where, "event")
    members = {k: v for k, v in line.items() if k not in ("type", "type_id", "offset", "within", "size", "misc", "event")}
    if "bytes" in members:
        check(bytes.fromhex(members["bytes"]) == record["bytes"][8:] and not record["fields"], where, "bytes")
        return 0
    wanted, got = [], [f for f in record["fields"]]
    flat(members, "", wanted, {f[0] for f in got if f[1] == LIST})
    # A word with members is a number to who takes fields; a line has the members alone. An empty object is none.
    names = {name for name, _ in wanted}
    got = [f for f in got if f[0] in names or not any(n.startswith(f[0] + ".") for n in names) and f[2] != 0]
    wanted = [(n, v) for n, v in wanted if v != {}]
    check([n for n, _ in wanted] == [f[0] for f in got], where, [n for n, _ in wanted], [f[0] for f in got])
    for (name, value), field in zip(wanted, got):
        check(says(value, field), where, name, value, field)
    return len(got)


def whole_lines(api):
    """A header line of a megabyte, records in several threads, and a sink that has enough."""
    record = struct.pack("<IHHQ", 9, 2, 16, 0)
    attr = {"attr": {"type": 1, "sample_type": ["ip"]}, "ids": list(range(1, 100001))}
    options = Options(order=LITTLE, attr=json.dumps(attr).encode(), format=3)
    data = record * 30000
    err, whole, _ = api.lines(data, options)
    check(err == 0 and all(piece.endswith(b"\n") for piece in whole), "lines are not whole")
    check(len(whole[0]) > 500000 and whole[0].count(b"\n") == 1, "no long header line", len(whole[0]))
    check(sum(piece.count(b"\n") for piece in whole) == 30002, "not all lines")
    options.jobs = 4
    err, several, _ = api.lines(data, options)
    check(err == 0 and b"".join(several) == b"".join(whole), "other lines with threads")
    check(all(piece.endswith(b"\n") for piece in several), "lines of threads are not whole")
    options.pieces = True
    err, pieces, _ = api.lines(data, options)
    check(err == 0 and b"".join(pieces) == b"".join(whole), "other pieces")
    check(not pieces[0].endswith(b"\n"), "the header is in one piece after all")
    for jobs in 1, 4:
        got, options = [], Options(order=LITTLE, attr=json.dumps(attr).encode(), format=3, jobs=jobs)
        sink = SINK(lambda context, text, size: got.append(text[:size]) or (-5 if len(got) == 3 else 0))
        check(api.lib.perfabi_decode_memory(api.p, data, len(data), options, sink, None, None) == -5, "a sink's error")
        text = b"".join(got)
        check(len(got) == 3 and text.endswith(b"\n") and b"".join(whole).startswith(text), "not a beginning")


def large_ring(api):
    """An image larger than what is looked at at once, with a record across its end: from memory and from a file."""
    size, tail = 1 << 18, 100000
    stream, wanted = bytearray(), []
    while len(stream) + 40 <= size:
        wanted.append(0x1000 + len(stream))
        stream += struct.pack("<IHHQQQQ", 9, 2, 40, wanted[-1], 0, 0, 0)
    check((size - tail) % 40 != 0, "no record goes around the end")
    data = bytearray(size)
    for i, byte in enumerate(stream):
        data[(tail + i) % size] = byte
    page = bytearray(4096)
    page[1024:1056] = struct.pack("<QQQQ", tail + len(stream), tail, 4096, size)
    image = bytes(page + data)
    attr = b'{"type": 1, "sample_type": ["ip", "time", "addr", "id"]}'
    options = Options(format=2, order=LITTLE, attr=attr)
    with open(os.memfd_create("ring"), "w+b") as f:
        f.write(image)
        f.flush()
        f.seek(0)
        for source in image, f.fileno():
            got = [r for r in api.records(source, options)]
            check([r["type"] for r in got] == ["SAMPLE"] * len(wanted) + ["result"], "not all of a large ring")
            check([r["fields"][0][2] for r in got[:-1]] == wanted, "other samples in a large ring")
            check(got[-1]["errors"] == 0, "a large ring has errors")
        f.seek(0)
        check(b"".join(api.lines(image, options)[1]) == b"".join(api.lines(f.fileno(), options)[1]), "a large ring's lines")


def names(*texts):
    return (C.c_char_p * len(texts))(*texts), len(texts)


def errors(api):
    """Every way to be refused: the errno, the option that is named, the words, in which no option of a command is."""
    record = struct.pack("<IHHQ", 9, 2, 16, 0)
    attr = b'{"type": 1, "sample_type": ["ip"]}'
    perfdata = open("fixtures/built/samples.le.data", "rb").read()
    ring = open("fixtures/built/ring-wrapped.le.ring", "rb").read()
    types, fields = names(b"sampel"), names(b"ipp")
    reserved = Options()
    reserved.reserved[7] = 1
    refused = [
        (b"", Options(), None, "expected a recording, got empty input"),
        (record, Options(), "attr", "expected a perf.data, or records and their attrs in JSON, got neither"),
        (record, Options(format=1), None, "expected PERFILE2 or PERFFILE at the beginning, got other bytes"),
        (record, Options(attr=b"{"), "attr", None),
        (record, Options(attr=b'{"tipe": 1}'), "attr", None),
        (record, Options(attr=b'{"sample_regs_user": ["ax"]}', machine=b"i586"), None, None),
        (perfdata, Options(format=2), "format", "expected an image of the mmap area and its attrs, got a perf.data"),
        (perfdata, Options(format=3), "format", "expected records alone and their attrs, got a perf.data"),
        (perfdata, Options(format=9), "format", "expected an enum perfabi_format, got another number"),
        (perfdata, Options(order=9), "order", "expected an enum perfabi_order, got another number"),
        (perfdata, Options(machine=b"vax"), "machine", "expected a machine as uname -m names it, got vax"),
        (perfdata, Options(types=types[0], type_count=1), "types",
         'expected a record type, got "sampel" (nearest: "sample")'),
        (perfdata, Options(fields=fields[0], field_count=1), "fields",
         'expected a member of some record, got "ipp" (nearest: "ip")'),
        (perfdata, reserved, "reserved", "expected 0 in the reserve of the options, got another number"),
        (perfdata, Options(jobs=1025), "jobs", "expected at most 1024 threads, got 1025"),
        (perfdata, Options(shards=3, shard=4), "shard", "expected a shard from 1 to 3, got 4 of 3"),
        (ring, Options(attr=attr, shards=2, shard=1), "shards",
         "expected a perf.data or records, to decode one shard of it, got an image of the mmap area"),
        (ring[:4095], Options(attr=attr, format=2), None,
         "expected an image of the mmap area: a metadata page and 2^n data pages, got less than one page"),
    ]
    said = []
    for source, options, option, message in refused:
        err, pieces, result = api.lines(source, options)
        told = (err, (result.option or b"").decode() or None, result.message.decode(errors="replace"))
        if err == 0:  # a machine may know that register
            continue
        said.append(told[2])
        check(told[0] == -22 and not pieces, told)
        check(option is None or told[1] == option, told, "not", option)
        check(message is None or told[2] == message, told, "not", message)
        if options.shards or options.jobs:
            continue
        err, reader, result = api.open(source, options)
        check(not reader and (err, result.message.decode(errors="replace")) == (told[0], told[2]), err, result.message, "not", told)
    err, reader, result = api.open(perfdata, Options(shards=2, shard=1))
    check((err, result.option) == (-22, b"shards"), "shards of a reader", err, result.message)
    said.append(result.message.decode(errors="replace"))
    text = C.c_void_p()
    err = api.lib.perfabi_attrs_memory(api.p, perfdata, len(perfdata), reserved, text, result)
    check((err, result.option, text.value) == (-22, b"reserved", None), "the reserve of perfabi_attrs", err, result.message)
    area = C.create_string_buffer(ring, len(ring))
    for options, option in ((Options(), b"attr"), (Options(attr=b'{"write_backward": 1}'), b"attr"),
                            (Options(attr=attr, order=BIG if sys.byteorder == "little" else LITTLE), b"order")):
        err = api.lib.perfabi_open_ring(api.p, area, len(ring), options, reader, result)
        check((err, result.option) == (-22, option) and not reader, err, result.option, result.message)
        said.append(result.message.decode(errors="replace"))
    err = api.lib.perfabi_open_ring(api.p, area, 100, Options(attr=attr), reader, result)
    check(err == -22 and not reader, err, result.message)
    said.append(result.message.decode(errors="replace"))
    reads, writes = os.pipe()
    os.close(writes)
    for fd, wanted in ((-1, -9), (os.open(".", os.O_RDONLY), -22), (os.open("/proc/self/mem", os.O_RDONLY), -5)):
        err, _, result = api.lines(fd, Options(attr=attr))
        check(err == wanted and result.message and result.option is None, err, result.message)
        said.append(result.message.decode(errors="replace"))
    message = C.create_string_buffer(1024)
    check(not api.lib.perfabi_new(b"/nonexistent", message, 1024), "cases of nowhere")
    said.append(message.value.decode(errors="replace"))
    for text in said:
        check(text and "--" not in text and "perfabi-decode" not in text, "a command's words:", text)
    return len(said)


def selected(api):
    """Types and fields that are asked for, and no others."""
    with open("fixtures/built/samples.le.data", "rb") as f:
        data = f.read()
    all_of_it = [r for r in api.records(data, None) if r["type"] not in ("diagnostic", "result")]
    types, fields = names(b"sample"), names(b"identifier", b"callchain")
    options = Options(types=types[0], type_count=1, fields=fields[0], field_count=2)
    got = [r for r in api.records(data, options) if r["type"] not in ("diagnostic", "result")]
    wanted = [[f[:3] for f in r["fields"] if f[0] in ("identifier", "callchain")] for r in all_of_it if r["type"] == "SAMPLE"]
    check([[f[:3] for f in r["fields"]] for r in got] == wanted and wanted, "not what was asked for", got)
    check([r for r in api.records(data, Options(type_count=1, field_count=2)) if r["type"] not in ("diagnostic", "result")] ==
          all_of_it, "counts without lists select something")
    check(api.lib.perfabi_field_number(api.p, b"no_such_field") == 0, "a number for no field")
    with open("decoder/include/perfabi.h") as f:
        named = re.search(r'Fields have the names that lines have.*?\*/', f.read(), re.S).group()
    named = re.findall(r'"([a-z_.\[\]]+)"', named)
    check(len(named) == 3, "names in perfabi.h", named)
    for name in named:
        check(api.lib.perfabi_field_number(api.p, name.encode()), "no field is called as perfabi.h has it:", name)
    check(api.lib.perfabi_field_name(api.p, 0) is None and api.lib.perfabi_field_name(api.p, 1 << 20) is None, "a name for none")


def main():
    locale.setlocale(locale.LC_ALL, "")
    api = Perfabi(sys.argv[1])
    records = fields = 0
    whole_lines(api)
    selected(api)
    large_ring(api)
    refusals = errors(api)
    for path in sys.argv[2:]:
        attr = os.path.splitext(path)[0] + ".attr.json"
        options = Options()
        if os.path.exists(attr):
            with open(attr, "rb") as f:
                options.attr = f.read()
            options.order = BIG if ".be." in path else LITTLE
        with open(path, "rb") as f:
            data = f.read()
        err, pieces, result = api.lines(data, options)
        check(err == 0, path, err, result.message)
        check(all(p.endswith(b"\n") for p in pieces), path, "a line in pieces")
        lines = [json.loads(line) for line in b"".join(pieces).split(b"\n")[:-1]]
        with open(path, "rb") as f:
            check(b"".join(api.lines(f.fileno(), options)[1]) == b"".join(pieces), path, "memory is not as a file")
            f.seek(0)
            from_file = list(api.records(f.fileno(), options))
        got = list(api.records(data, options))
        check(len(got) == len(from_file) and
              all(a.get("bytes") == b.get("bytes") and a["type"] == b["type"] for a, b in zip(got, from_file)), path)
        summary, end = lines[-1], got[-1]
        check(all(end[n] == summary[n] for n in ("errors", "warnings", "notes", "lost")), path, end, summary)
        check(end["records"] == sum(summary["records"].values()), path, "records")
        wanted = lines[1:-1]
        check([w["type"] for w in wanted] == [g["type"] for g in got[:-1]], path, "other types")
        for line, record in zip(wanted, got):
            fields += compare(line, record, path)
            records += 1
    print(f"{len(sys.argv) - 2} recordings, {records} records, {fields} fields, {refusals} messages")


if __name__ == "__main__":
    main()
