#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the fields of tracepoints, as perfabi-decode prints them, with what libtraceevent reads in the same bytes.

usage: compare.py ORACLE PERFABI-DECODE made-up SCRATCH random
       compare.py ORACLE PERFABI-DECODE TRACEFS SCRATCH random
       compare.py ORACLE PERFABI-DECODE TRACEFS SCRATCH names
       compare.py ORACLE PERFABI-DECODE TRACEFS SCRATCH RECORDING

With random, of every format in TRACEFS, or of those below that no kernel at hand has, bytes at random in either byte order, by --tracefs and
by a recording's own formats. With names, --value-names of each list of names in a print fmt, for values in the list and others. Else what RECORDING has of each event, at most MOST samples. Prints events, fields and differences.
"""
import collections
import glob
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

MOST, TRIALS = 200, 3
LONG = struct.calcsize("l")  # of this kernel, mostly
ARRAY, POINTER, SIGNED, STRING, DYNAMIC = 1, 2, 4, 8, 16  # libtraceevent's flags
# Of each event, fields with their sizes and signs; None: a gap.
MADE_UP = {
    "relative": ["__rel_loc char[] name 4 0", "u32 between 4 0", "__rel_loc u16[] list 4 0", "__rel_loc u8[] opaque 4 0"],
    "dynamic": ["__data_loc char[] name 4 1", "__data_loc u64[] words 4 0", "__data_loc s16[] signed_ones 4 1", "__data_loc s32[] more 4 1",
                "__data_loc unsigned char[] bytes 4 0", "__data_loc cpumask_t mask 4 0", "__data_loc char[] other 4 1"],
    "arrays": ["short s16s[4] 8 1", "unsigned short u16s[4] 8 0", "int s32s[2] 8 1", "u32 u32s[3] 12 0", None, "unsigned long longs[2] 16 0",
               "s64 s64s[1] 8 1", "s8 s8s[5] 5 1", "bool bools[3] 3 0", "__u8 mac[6] 6 0", "unsigned char mac2[6] 6 0"],
    "texts": ["char comm[16] 16 0", "char macro[TASK_COMM_LEN] 16 1", "const char * pointer 8 0", "char one 1 1", "unsigned char another 1 0",
              "signed char third 1 1"],
    "numbers": ["s8 a 1 1", "u8 b 1 0", "s16 c 2 1", "u16 d 2 0", "s32 e 4 1", "u32 f 4 0", "s64 g 8 1", "u64 h 8 0", "enum thing i 1 0", "bool j 1 0", None,
                "struct thing * k 8 0", "void * l 4 0", "pid_t m 4 1", "struct { u64 x[3]; } n 24 0"],
}
EVENT = re.compile(rb'"event":"([^"]*)"')
FIELD = re.compile(rb"field:(.*?);\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d)")


def run(*command, data=None):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(command)[:200]}: exit status {done.returncode}")
    return done.stdout


def make_up(folder):
    """A folder like tracefs, with MADE_UP."""
    for number, (name, fields) in enumerate(MADE_UP.items(), 60000):
        path = pathlib.Path(folder, "events", "made_up", name)
        path.mkdir(parents=True, exist_ok=True)
        at, text = 8, f"name: {name}\nID: {number}\nformat:\n"
        for n, common in enumerate(("unsigned short common_type", "unsigned char common_flags", "unsigned char common_preempt_count", "int common_pid")):
            text += f"\tfield:{common};\toffset:{(0, 2, 3, 4)[n]};\tsize:{(2, 1, 1, 4)[n]};\tsigned:{n // 3};\n"
        text += "\n"
        for field in fields:
            if field:
                declared, size, signed = field.rsplit(" ", 2)
                text += f"\tfield:{declared};\toffset:{at};\tsize:{size};\tsigned:{signed};\n"
            at += int(size) if field else 3
        path.joinpath("format").write_text(text + '\nprint fmt: "none"\n', encoding="ascii")
        path.joinpath("id").write_text(f"{number}\n", encoding="ascii")
    return str(folder)


class Formats:
    def __init__(self, tracefs):
        self.paths = sorted(glob.glob(f"{tracefs}/events/*/*/format"))
        self.texts = {path: pathlib.Path(path).read_bytes() for path in self.paths}
        self.events = {path for path in self.paths if os.path.exists(path.removesuffix("format") + "id")}  # which perf can open
        self.by_id = {int(re.search(rb"^ID: (\d+)$", text, re.M)[1]): path for path, text in self.texts.items()}

    def name(self, number):
        return ":".join(self.by_id[number].split("/")[-3:-1])


def oracle(program, order, long_size, paths, events):
    """For each (id, bytes) a dict from names of fields to (type, flags, size of an element, value), or None: an array ends past the bytes."""
    text = run(program, order, str(long_size), *paths, data="".join(f"{number} {raw.hex()}\n" for number, raw in events).encode())
    for event in text.decode().split("end\n")[:-1]:
        lines = event.splitlines()
        if "past" in lines or "unknown" in lines:
            yield None
        else:
            yield {name: (type_, int(flags), int(width), value) for name, type_, flags, width, value in (line.split("\t") for line in lines)}


def is_text(type_):
    return re.search(r"\bchar\b", type_) and "unsigned" not in type_


def array_bytes(found, width, signed, order):
    """Of a list of numbers, or of hexadecimal bytes; what does not fit the element's size raises an error."""
    if isinstance(found, str):
        return bytes.fromhex(found.removeprefix("0x"))
    return b"".join((int(one, 16) if isinstance(one, str) else one).to_bytes(width, order, signed=signed) for one in found)


def same(found, wanted, order):
    """Whether a field is as libtraceevent reads it."""
    type_, flags, width, value = wanted
    if re.fullmatch(r"-?\d{1,20}", value) and not flags & (ARRAY | DYNAMIC):
        if flags & POINTER:
            return isinstance(found, str) and found.startswith("0x") and int(found, 16) == int(value)
        return type(found) is int and found == int(value)
    raw = bytes.fromhex(value)
    if is_text(type_):
        text = bytes.fromhex(found["bytes"]) if isinstance(found, dict) else found.encode() if isinstance(found, str) else None
        return text == raw.split(b"\0")[0]
    if isinstance(found, str):
        return width <= 1 and array_bytes(found, 1, False, order) == raw or len(raw) == 0
    width = width or (len(raw) // len(found) if found else 1)
    try:
        return array_bytes(found, width, bool(flags & SIGNED), order) == raw[:len(raw) // width * width]
    except OverflowError:
        return False


class Tally:
    def __init__(self):
        self.events, self.fields, self.samples, self.kinds, self.wrong = set(), set(), 0, collections.Counter(), []

    def compare(self, name, line, wanted, order, raw):
        if wanted is None:  # an array ends past the bytes: they come out as they are
            if line.get("raw") != raw.hex() and line.get("raw") != "0x" + raw.hex():
                self.wrong.append(f"{name}: an array ends past the bytes, and they are taken apart: {line.get('raw')}")
            self.kinds["past the end"] += 1
            return
        if not isinstance(line.get("raw"), dict):
            self.wrong.append(f"{name}: not taken apart: {raw.hex()}")
            return
        self.samples += 1
        self.events.add(name)
        found = {**line["common"], **line["raw"]}
        if list(found) != list(wanted):
            self.wrong.append(f"{name}: fields {list(found)}, not {list(wanted)}")
            return
        for field, value in found.items():
            type_, flags, width, text = wanted[field]
            if flags & ARRAY and not flags & DYNAMIC and not text:
                self.kinds["an array to the end, not compared"] += 1  # libtraceevent has nothing of it
                continue
            self.fields.add((name, field))
            self.kinds["text" if flags & (ARRAY | DYNAMIC) and is_text(type_) else "dynamic array" if flags & DYNAMIC else "array" if flags & ARRAY else
                       "pointer" if flags & POINTER else "number"] += 1
            if not same(value, wanted[field], order):
                self.wrong.append(f"{name}.{field}: {json.dumps(value)[:80]}, not {wanted[field]}"[:300])

    def tell(self, what):
        print(f"{what}: {len(self.events)} events, {len(self.fields)} fields, {self.samples} samples, {sum(self.kinds.values())} values "
              f"({', '.join(f'{count} {kind}' for kind, count in self.kinds.most_common())}), {len(self.wrong)} differences")
        for line in self.wrong[:20]:
            print("  " + line)


def random_raw(rng, number, text, order):
    """Bytes for a format, whose dynamic arrays lie behind its fields and now and then past the end."""
    fields = [(m[1], int(m[2]), int(m[3])) for m in FIELD.finditer(text)]
    end = max(offset + size for _, offset, size in fields)
    raw, tail = bytearray(rng.randbytes(end)), b""
    raw[:2] = number.to_bytes(2, order)
    for type_, offset, size in fields:
        is_char = b"char" in type_ and b"[" in type_
        if type_.startswith((b"__data_loc", b"__rel_loc")):
            length = rng.choice((0, 1, 3, 8, 16, 24) if is_char else (0, 8, 16, 24))
            at = end + len(tail) - (offset + size if type_.startswith(b"__rel_loc") else 0)
            if rng.randrange(40) == 0:
                at += 4096
            raw[offset:offset + 4] = (length << 16 | at).to_bytes(4, order)
            tail += "añ\U0001f600\0bcdefghijklmnopqrst".encode()[:length] if is_char and rng.randrange(2) else rng.randbytes(length)
        elif is_char and rng.randrange(2):
            raw[offset:offset + size] = "añ\"\n\0rest".encode()[:size].ljust(size, b"z")
    raw += tail
    return bytes(raw) + bytes(-(len(raw) + 4) % 8)


def tracing_data(formats, order, long_size):
    """tools/perf/util/trace-event-info.c."""
    def sized(text):
        return len(text).to_bytes(8, order) + text

    systems = collections.defaultdict(list)
    for path in formats.paths:
        systems[path.split("/")[-3]].append(formats.texts[path])
    out = b"\x17\x08\x44tracing" + b"0.6\0" + bytes([order == "big", long_size]) + (4096).to_bytes(4, order)
    out += b"header_page\0" + sized(b"page") + b"header_event\0" + sized(b"event")
    ftrace = systems.pop("ftrace", [])
    out += len(ftrace).to_bytes(4, order) + b"".join(map(sized, ftrace)) + len(systems).to_bytes(4, order)
    for system, texts in systems.items():
        out += system.encode() + b"\0" + len(texts).to_bytes(4, order) + b"".join(map(sized, texts))
    return out + bytes(4) + bytes(4) + bytes(8)


def recording(events, order, tracing):
    """A perf.data with a sample of each (id, raw bytes); attrs by id."""
    e = "<" if order == "little" else ">"
    numbers = sorted({number for number, _ in events})
    ids_at = 104
    attrs_at = ids_at + 8 * len(numbers)
    attrs = b"".join(struct.pack(e + "IIQQQQQ", 2, 128, number, 1, 1 << 16 | 1 << 10, 0, 0).ljust(128, b"\0") +
                     struct.pack(e + "QQ", ids_at + 8 * n, 8) for n, number in enumerate(numbers))
    data = b"".join(struct.pack(e + "IHHQI", 9, 1, 20 + len(raw), number, len(raw)) + raw for number, raw in events)
    data_at = attrs_at + len(attrs)
    features = struct.pack(e + "QQ", data_at + len(data) + 16, len(tracing)) + tracing if tracing else b""
    bitmap = struct.pack(e + "QQQQ", 2 if tracing else 0, 0, 0, 0)
    magic = b"PERFILE2" if order == "little" else b"2ELIFREP"
    head = magic + struct.pack(e + "QQQQQQQQ", 104, 144, attrs_at, len(attrs), data_at, len(data), 0, 0) + bitmap
    return head + struct.pack(e + f"{len(numbers)}Q", *numbers) + attrs + data + features


NAMED = re.compile(rb"__print_(symbolic|flags)(?:_u64)?\(")


def lists_of_names(formats):
    """Of each list of names in a print fmt that is of one field: (flags?, the field, the format with nothing else in its print fmt)."""
    for path, text in formats.texts.items():
        head, _, print_fmt = text.partition(b"print fmt:")
        for found in NAMED.finditer(print_fmt):
            end, depth = found.end(), 1
            while depth:
                depth += {b"(": 1, b")": -1}.get(print_fmt[end:end + 1], 0)
                end += 1
            call = print_fmt[found.start():end]
            fields = set(re.findall(rb"REC->(\w+)", call))
            # libtraceevent takes a & (b | c) for (a & b) | c, and what has bit 63 or is -1 in 32 bits for another number.
            if len(fields) == 1 and not re.search(rb"& \(\w+ \||<< 63|-1", call):
                yield found[1] == b"flags", path, fields.pop().decode(), head + b'print fmt: "%s", ' + call + b"\n"


def compare_names(oracle_path, program, tracefs, scratch):
    if tracefs == "made-up":
        return compare_by_hand(program, scratch)
    formats, rng, number, wrong, tally = Formats(tracefs), random.Random(2), 0, [], collections.Counter()
    folder, events, lists = pathlib.Path(scratch, "named"), [], {}
    for is_flags, path, field, text in lists_of_names(formats):
        declared = re.search(rb"field:[^;]*\b" + field.encode() + rb";\s*offset:(\d+);\s*size:(\d+);", text)
        if not declared or int(declared[2]) not in (1, 2, 4, 8):
            continue
        number += 1
        place = pathlib.Path(folder, "events", "named", f"n{number}")
        place.mkdir(parents=True)
        place.joinpath("format").write_bytes(re.sub(rb"ID: \d+", b"ID: %d" % number, re.sub(rb"name: .*", b"name: n%d" % number, text)))
        place.joinpath("id").write_text(f"{number}\n", encoding="ascii")
        lists[number] = (is_flags, path, field)
        at, size = int(declared[1]), int(declared[2])
        listed = [int(n, 0) for n in re.findall(rb"{\s*(-?(?:0x)?[0-9a-f]+)\s*,", text)] or [1]
        for _ in range(12):
            value = rng.choice((rng.choice(listed), rng.choice(listed) | rng.choice(listed), rng.getrandbits(8 * size), 1 << rng.randrange(8 * size)))
            raw = bytearray(random_raw(rng, number, text, "little"))
            raw[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
            events.append((number, bytes(raw)))
    path = pathlib.Path(scratch, "named.data")
    path.write_bytes(recording(events, "little", b""))
    paths = sorted(str(p) for p in folder.glob("events/named/*/format"))
    found = map(json.loads, samples(program, str(path), "--value-names", "--tracefs", str(folder)))
    text = run(oracle_path, "little", str(LONG), "--print", *paths, data="".join(f"{n} {raw.hex()}\n" for n, raw in events).encode()).decode()
    for (number, _), line, wanted in zip(events, found, text.split("\nend\n"), strict=False):
        (is_flags, path, field, *_), wanted = lists[number], wanted.split("\t")[4]
        if not isinstance(line["raw"], dict):  # an array ends past the bytes
            continue
        value = line["raw"][field]
        tally["samples"] += 1
        if type(value) is not (list if is_flags else str):
            tally["numbers"] += 1
            lists[number] = (is_flags, path, field, value)
        elif not is_flags and value != wanted or is_flags and not flags_agree(value, wanted):
            wrong.append(f"{path}: {field}: {value}, not {wanted}")
    numbers = {(path, field) for _, path, field, *value in lists.values() if value}
    print(f"names: {len(lists)} lists, {tally['samples']} samples, of {len(numbers)} lists numbers, {len(wrong)} differences")
    for line in wrong[:20]:
        print("  " + line[:300])
    return bool(wrong) or len(numbers) > len(lists) / 2  # most constants are resolved


# Of made-up fields (u8 a, s32 b, u64 c) with these values, what a print fmt makes of them.
BY_HAND = [
    (r'__print_symbolic(REC->a, {1, "RX (off)"}, {2, "b)"}, {3, "c"})', (2, 0, 0), {"a": "b)"}),
    (r'__print_flags(REC->a, ")", {1, "RX)"}, {2, "TX"})', (3, 0, 0), {"a": ["RX)", "TX"]}),
    (r'__print_symbolic(REC->a, {1, "O" "N" "E"}, {2, "T""WO"})', (1, 0, 0), {"a": "ONE"}),
    (r'__print_symbolic(REC->a, {256, "never"}, {0, "none"})', (0, 0, 0), {"a": "none"}),
    (r'__print_symbolic(REC->b, {-1, "minus"}, {0xfffffffe, "never"})', (0, -1, 0), {"b": "minus"}),
    (r'__print_symbolic(REC->b, {0xffffffff, "never"}, {1, "one"})', (0, -1, 0), {"b": "0xffffffff"}),
    (r'__print_symbolic(REC->a, {REC->b, "X"})', (5, 5, 0), {"a": 5, "b": 5}),
    (r'REC->a ? __print_symbolic(REC->b, {1, "X"}) : __print_symbolic(REC->b, {1, "Y"})', (0, 1, 0), {"b": 1}),
    (r'__print_flags(REC->c & ~1, "|", {1, "ONE"}, {6, "SIX"}, {1ULL << 63, "TOP"})', (0, 0, 1 << 63 | 14), {"c": ["SIX", "TOP", "0x8"]}),
    (r'__print_symbolic(REC->c >> 1, {1, "X"})', (0, 0, 2), {"c": 2}),
    (r'__print_symbolic(REC->a, {0b11, "X"}, {1, "Y"})', (1, 0, 0), {"a": 1}),
    (r'__print_symbolic(REC->a, {1, "X\"}, {2, "Y"})', (2, 0, 0), {"a": 2}),
    (r'__print_symbolic(REC->a, {1, "X"}, {LATER, "Y"})', (1, 0, 0), {"a": 1}),
    ('__print_symbolic(REC->a, {' + "(" * 500 + '1' + ")" * 500 + ', "X"})', (1, 0, 0), {"a": 1}),
    ('__print_flags(' * 4000, (1, 0, 0), {"a": 1}),
    ('__print_symbolic(REC->a, {1, "X"' + ' "y"' * 2000 + '})', (1, 0, 0), {"a": "X" + "y" * 2000}),
]


def compare_by_hand(program, scratch):
    events = []
    folder = pathlib.Path(scratch, "by-hand")
    for number, (print_fmt, (a, b, c), _) in enumerate(BY_HAND, 50000):
        place = pathlib.Path(folder, "events", "hand", f"n{number}")
        place.mkdir(parents=True)
        common = "field:unsigned short common_type; offset:0; size:2; signed:0;\n"
        fields = "field:u8 a; offset:8; size:1; signed:0;\nfield:int b; offset:12; size:4; signed:1;\nfield:u64 c; offset:16; size:8; signed:0;\n"
        place.joinpath("format").write_text(f"name: n{number}\nID: {number}\nformat:\n{common}{fields}print fmt: {print_fmt}\n", encoding="ascii")
        place.joinpath("id").write_text(f"{number}\n", encoding="ascii")
        events.append((number, struct.pack("<H6xB3xiQ", number, a, b, c) + bytes(4)))
    path = pathlib.Path(scratch, "by-hand.data")
    path.write_bytes(recording(events, "little", b""))
    lines = list(map(json.loads, samples(program, str(path), "--value-names", "--tracefs", str(folder))))
    wrong = [f"{print_fmt[:100]}: {line['raw']}, not {wanted}" for (print_fmt, _, wanted), line in zip(BY_HAND, lines, strict=True)
             if not isinstance(line["raw"], dict) or any(line["raw"][name] != value for name, value in wanted.items())]
    print("\n".join([f"by hand: {len(lines)} lists of names, {len(wrong)} differences", *wrong]))
    return bool(wrong)


def flags_agree(found, wanted):
    """The same names in the same order; what the print fmt masks is in our rest and not in the other."""
    names = [one for one in found if not one.startswith("0x")]
    rest = int(found[-1], 16) if len(names) < len(found) else 0
    for name in names:
        if not wanted.startswith(name):
            return False
        wanted = wanted[len(name):].lstrip("|, -:+")
    return not wanted or wanted.startswith("0x") and int(wanted, 16) & ~rest == 0


def samples(program, path, *options, data=None):
    lines = run(program, *options, "--no-summary", "--type", "sample", *([path] if path else []), data=data).splitlines()
    return [line for line in lines if line.startswith(b'{"type":"SAMPLE"')]


def compare_random(oracle_path, program, tracefs, scratch):
    tracefs = make_up(f"{scratch}/tracefs") if tracefs == "made-up" else tracefs
    formats, rng, failed = Formats(tracefs), random.Random(1), False
    for order in "little", "big":
        for long_size, how in ((8, "by its own formats"), (4, "by its own formats, long of 4 bytes"), (LONG, "by --tracefs")):
            own = how != "by --tracefs"
            events = [(number, random_raw(rng, number, formats.texts[path], order)) for number, path in formats.by_id.items()
                      if own or path in formats.events for _ in range(TRIALS)]
            path = pathlib.Path(scratch, "random.data")
            path.write_bytes(recording(events, order, tracing_data(formats, order, long_size) if own else b""))
            lines = samples(program, str(path), *([] if own else ["--tracefs", tracefs]))
            if len(lines) != len(events):
                sys.exit(f"{len(lines)} samples of {len(events)}")
            tally = Tally()
            for (number, raw), line, wanted in zip(events, map(json.loads, lines), oracle(oracle_path, order, long_size, formats.paths, events)):
                tally.compare(formats.name(number), line, wanted, order, raw)
            tally.tell(f"{order} endian, {how}")
            failed |= bool(tally.wrong) or len(tally.events) < 0.99 * len({number for number, _ in events})
    return failed


def compare_recording(oracle_path, program, tracefs, scratch, path):
    formats = Formats(tracefs)
    lines = samples(program, path)
    header = json.loads(run(program, "--header", path).splitlines()[0])
    attrs = pathlib.Path(scratch, "attrs.json")
    attrs.write_bytes(run(program, "--attr-of", path))
    with open(path, "rb") as file:
        file.seek(header["data"]["offset"])
        bare = file.read(header["data"]["size"])
    raws = samples(program, None, "--input", "records", "--attr", str(attrs), data=bare)
    taken, counts = [], collections.Counter()
    for line, raw in zip(lines, raws):
        event = EVENT.search(line)[1]
        counts[event] += 1
        if counts[event] > MOST:
            continue
        line, raw = json.loads(line), json.loads(raw)
        if line["offset"] != raw["offset"] + header["data"]["offset"] or not isinstance(raw["raw"], str):
            sys.exit(f"{path}: the bare record at {raw['offset']} is another: {str(raw)[:200]}")
        data = bytes.fromhex(raw["raw"].removeprefix("0x"))
        taken.append((int.from_bytes(data[:2], sys.byteorder), data, line))
    tally = Tally()
    for (number, data, line), wanted in zip(taken, oracle(oracle_path, sys.byteorder, LONG, formats.paths, [one[:2] for one in taken])):
        if line["event"].split("/")[0] != formats.name(number):
            tally.wrong.append(f"{line['event']} has the bytes of {formats.name(number)}")
        tally.compare(formats.name(number), line, wanted, sys.byteorder, data)
    tally.tell("recorded")
    return bool(tally.wrong) or not tally.events


def main():
    if sys.argv[5] == "random":
        sys.exit(compare_random(*sys.argv[1:5]))
    if sys.argv[5] == "names":
        sys.exit(compare_names(*sys.argv[1:5]))
    sys.exit(compare_recording(*sys.argv[1:]))


if __name__ == "__main__":
    main()
