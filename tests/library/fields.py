# SPDX-License-Identifier: MIT
"""libperfabi.so as a program of somebody else's meets it, by perfabi.py: fields are what lines say, lines are whole, errors
are the library's own, memory is as good as a file.

usage: fields.py FILE...    each FILE is a recording; FILE.attr.json beside it, if there is one, has its attrs
"""
import ctypes as C
import json
import locale
import mmap
import os
import random
import re
import struct
import sys

import perfabi
from perfabi import _Options as Options, _Result as Result, _SINK as SINK
from perfabi import _UNSIGNED as UNSIGNED, _HEX as HEX, _SIGNED as SIGNED, _DOUBLE as DOUBLE, _BITS as BITS, _STRING as STRING
from perfabi import _BYTES as BYTES, _OPAQUE as OPAQUE, _ATTR as ATTR, _ARRAY as ARRAY, _LIST as LIST, _INDEX as INDEX

LITTLE, BIG = 1, 2


def check(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(str(w) for w in what))


class Perfabi:
    """perfabi.py below its keywords: options that it would not make, what a sink gets, calls that fail."""
    lib, p = perfabi._lib, perfabi._tables()

    def lines(self, source, options):
        """(error, the pieces that the sink got, result); source: bytes, or a descriptor."""
        pieces, result = [], Result()
        sink = SINK(lambda context, text, size: pieces.append(C.string_at(text, size)) or 0)
        source = perfabi._Source(source)
        return source.function("decode")(self.p, *source.words, options, sink, None, result), pieces, result

    def open(self, source, options):
        reader, result = C.c_void_p(), Result()
        source = perfabi._Source(source)
        return source.function("open")(self.p, *source.words, options, reader, result), reader, result

    def records(self, source, options):
        """Yields records and diagnostics as dicts; ends with the result."""
        source = perfabi._Source(source)
        with perfabi.Recording(source.function("open"), source.words, options, None, source.close) as recording:
            for record in recording:
                yield record._asdict() if isinstance(record, perfabi.Diagnostic) else self.plain(record, recording)
            yield {"type": "result", **recording.result._asdict()}

    def plain(self, record, recording):
        places = sorted((place, name, field) for name, of in record._by_name().items() for place, field in of)
        fields = [self.field(name, record, field, recording.place, place) for place, name, field in places]
        for name, value in record.items():
            values = [f[2] for f in fields if f[0] == name]
            check(value == (values if "[]" in name else values[0]), name, "is not", value)
        return {**{name: getattr(record, name) for name in record.__slots__ if name[0] != "_"}, "fields": fields}

    def field(self, name, record, field, place, at):
        number, offset, size, kind, width, _, _, _, word = field
        check(self.lib.perfabi_field_number(self.p, name.encode()) == number, name, "has another number")
        taken, value = record.bytes[offset:offset + size], record._value(field)
        check(len(taken) == size, "a field ends past its record")
        c_field = C.byref(place.contents.fields[at])
        if kind == ARRAY and field[5] != DOUBLE:
            elements = [self.lib.perfabi_element(place, c_field, i) for i in range(word)]
            check([v & (1 << 64) - 1 for v in value] == elements, name, "has other elements")
        elif kind in (STRING, BYTES):
            check(word <= size, "more bytes than a field has")
        elif kind == UNSIGNED and size == width:
            check(int.from_bytes(taken, record.order) == value, name, "differs")
        asked = set(value) if kind == ARRAY else {word} | {1 << b for b in range(64) if word >> b & 1}
        names = {v: (self.lib.perfabi_value_name(place, c_field, v) or b"").decode() for v in asked}
        return name, kind, value, taken, names


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
    if kind in (UNSIGNED, BITS, INDEX, HEX) and isinstance(value, str) and not value.startswith("0x"):
        return names[raw] == value
    if kind in (HEX, UNSIGNED, BITS, INDEX) and isinstance(value, str):
        return int(value, 16) == raw
    if kind in (UNSIGNED, BITS, SIGNED, INDEX):
        return value == raw
    if kind == DOUBLE:
        return value == raw or str(raw) == value
    if kind == STRING:
        text = bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value.encode()
        return raw.encode("utf-8", "surrogateescape") == text
    if kind == BYTES:
        return raw == bytes.fromhex(value)
    if kind == OPAQUE:
        return value == len(raw)
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
    check(line.get("within") == record["within"] and line.get("file") == record["file"], where, "within")
    if line["type"] == "diagnostic":
        check(all(line[n] == record[n] for n in ("code", "grade", "message")), where, record)
        check(line.get("skipped", 0) == record["skipped"], where, "skipped")
        return 0
    check(line["size"] == len(record["bytes"]), where, "size")
    check(line.get("event") == record["event"], where, "event")
    members = {k: v for k, v in line.items() if k not in ("type", "type_id", "offset", "file", "within", "size", "misc", "event")}
    if "bytes" in members:
        check(bytes.fromhex(members["bytes"]) == record["bytes"][8:] and not record["fields"], where, "bytes")
        return 0
    wanted, got = [], [f for f in record["fields"]]
    if common := members.pop("common", None):  # a line has a tracepoint's fields, a record its bytes
        raw = next(f[3] for f in got if f[0] == "raw")
        check(common["common_type"] == int.from_bytes(raw[4:6], record["order"]), where, "raw", raw)
        members["raw"] = raw[4:].hex()
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
        sink = SINK(lambda context, text, size: got.append(C.string_at(text, size)) or (-5 if len(got) == 3 else 0))
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


def live_ring():
    """A ring that is written meanwhile, as Python reads it: records are given once, and data_tail goes behind them."""
    area = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    area[1024:1056] = struct.pack("@QQQQ", 0, 0, mmap.PAGESIZE, mmap.PAGESIZE)
    with perfabi.open_ring(area, attr={"type": 1, "sample_type": ["ip"]}) as ring:
        for written in range(3):
            check([r["ip"] for r in ring] == ([written] if written else []), "a live ring after", written)
            area[mmap.PAGESIZE + 16 * written:mmap.PAGESIZE + 16 * (written + 1)] = struct.pack("@IHHQ", 9, 2, 16, written + 1)
            area[1024:1032] = struct.pack("@Q", 16 * (written + 1))
            check(struct.unpack("@Q", area[1032:1040])[0] == 16 * written, "data_tail")
    check(struct.unpack("@Q", area[1032:1040])[0] == 32, "data_tail after all")


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


def each_alone(api, data, options, path):
    """A field that alone is asked for is what it is among all, and as much is wrong, also where the recording is damaged."""
    draw = random.Random(os.path.basename(path))
    places = [None] + [draw.randrange(min(len(data), 104), len(data)) for _ in range(3 if os.environ.get("TEST_WHOLE") else 1)]
    for place in places:
        damaged = data if place is None else data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1:]
        options.fields, options.field_count = None, 0
        whole = [(r["type"], r["offset"], r.get("code"), [f[:3] for f in r.get("fields", [])]) for r in api.records(damaged, options) if "offset" in r]
        for name in sorted({re.split(r"[.[]", f[0])[0] for _, _, _, fields in whole for f in fields}):
            options.fields, options.field_count = names(name.encode())
            alone = [(r["type"], r["offset"], r.get("code"), [f[:3] for f in r.get("fields", [])]) for r in api.records(damaged, options) if "offset" in r]
            wanted = [(*head, [f for f in fields if re.split(r"[.[]", f[0])[0] == name]) for *head, fields in whole]
            check(alone == wanted, path, name, "byte", place, [pair for pair in zip(alone, wanted) if pair[0] != pair[1]][:1])


def main():
    locale.setlocale(locale.LC_ALL, "")
    api = Perfabi()
    records = fields = 0
    whole_lines(api)
    selected(api)
    large_ring(api)
    live_ring()
    refusals = errors(api)
    for path in sys.argv[1:]:
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
        each_alone(api, data, options, path)
    print(f"{len(sys.argv) - 1} recordings, {records} records, {fields} fields, {refusals} messages")


if __name__ == "__main__":
    main()
