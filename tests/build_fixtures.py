#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the recordings that no machine at hand makes, with the JSON that they must decode to.

usage: build_fixtures.py FOLDER

Each record is packed field by field, in either byte order, from <linux/perf_event.h> and perf's
event.h and header.c; the expected member is written down beside each field. Nothing here reads
cases/abi or calls perfabi.
"""
import json
import pathlib
import struct
import sys

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW = (1 << n for n in range(11))
BRANCH, REGS_USER, STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR = (1 << n for n in range(11, 20))
AUX, CGROUP, DATA_PAGE, CODE_PAGE, WEIGHT_STRUCT = (1 << n for n in range(20, 25))
TYPE_BITS = ["ip", "tid", "time", "addr", "read", "callchain", "id", "cpu", "period", "stream_id", "raw", "branch_stack",
             "regs_user", "stack_user", "weight", "data_src", "identifier", "transaction", "regs_intr", "phys_addr", "aux",
             "cgroup", "data_page_size", "code_page_size", "weight_struct"]
READ_BITS = ["total_time_enabled", "total_time_running", "id", "group", "lost"]
ATTR_FLAGS = ["disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle", "mmap",
              "comm", "freq", "inherit_stat", "enable_on_exec", "task", "watermark", "precise_ip", None, "mmap_data",
              "sample_id_all"]


PIDS = {"pid", "tid", "ppid", "ptid", "next_prev_pid", "next_prev_tid"}
WARNINGS = {"unknown-type", "unknown-bits", "bytes-left", "impossible", "overwritten"}
NOTES = {"reserved", "padding"}


def diagnostic(offset, code, message, skipped=0):
    """The line; offset None: the record's, filled in later."""
    grade = "warning" if code in WARNINGS else "note" if code in NOTES else "error"
    line = {"type": "diagnostic", "offset": offset, "code": code, "grade": grade, "message": message}
    return {**line, "skipped": skipped} if skipped else line


class Bytes:
    """Bytes in one order, and the members that they stand for."""

    def __init__(self, order):
        self.order, self.data, self.members = order, b"", {}

    def put(self, code, *values):
        self.data += struct.pack(self.order + code, *values)
        return self

    def num(self, code, name, value):
        self.members[name] = value
        return self.put(code, value & (1 << 8 * struct.calcsize("=" + code)) - 1)

    def u8(self, name, value):
        return self.num("B", name, value)

    def u16(self, name, value):
        return self.num("H", name, value)

    def u32(self, name, value):
        self.num("I", name, value)
        if name in PIDS and value >> 31:
            self.members[name] -= 1 << 32
        return self

    def u64(self, name, value):
        return self.num("Q", name, value)

    def hex(self, name, value, code="Q"):
        self.put(code, value)
        self.members[name] = "0x%x" % value
        return self

    def named(self, code, name, value, text):
        self.put(code, value)
        self.members[name] = text
        return self

    def raw(self, data):
        self.data += data
        return self

    def say(self, **members):
        self.members.update(members)
        return self

    def string(self, name, text, multiple=8):
        """NUL-terminated, zero-padded to a multiple."""
        data = text if isinstance(text, bytes) else text.encode()
        self.members[name] = shown(data)
        data += b"\0"
        return self.raw(data + b"\0" * (-len(data) % multiple))


def shown(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"text": replaced(data), "bytes": data.hex()}


def replaced(data):
    """Each byte that is part of no character becomes U+FFFD."""
    out = ""
    while data:
        for n in range(1, 5):
            try:
                out += data[:n].decode()
                data = data[n:]
                break
            except UnicodeDecodeError:
                continue
        else:
            out += "\ufffd"
            data = data[1:]
    return out


def bits(names, value):
    return [name for bit, name in enumerate(names) if name and value >> bit & 1]


class Attr:
    def __init__(self, order, size=136, **fields):
        self.order, self.size, self.f = order, size, fields

    def bytes(self):
        f = self.f
        flags = 0
        for bit, name in enumerate(ATTR_FLAGS):
            if name and f.get(name):
                # C bit fields: from the other end on big endian
                flags |= f[name] << (bit if self.order == "<" else 63 - bit)
        out = struct.pack(self.order + "IIQQQQQIIQ", f.get("type", 1), self.size, f.get("config", 0), f.get("sample_period", 0),
                          f.get("sample_type", 0), f.get("read_format", 0), flags, 0, 0, 0)
        out += struct.pack(self.order + "QQQIiQIHHIIQQQ", 0, f.get("branch_sample_type", 0), f.get("sample_regs_user", 0),
                           f.get("sample_stack_user", 0), 0, f.get("sample_regs_intr", 0), 0, 0, 0, 0, 0, 0, 0, 0)
        out = (out + f.get("tail", b"")).ljust(self.size, b"\0")
        return out[:self.size]

    def name(self):
        """As perf would call the event, with what is counted where something is excluded."""
        f = self.f
        name = {(1, 9): "dummy", (0, 0): "cpu-cycles", (1, 0): "cpu-clock"}[f.get("type", 1), f.get("config", 0)]
        levels = "".join(c for c, of in (("u", "user"), ("k", "kernel"), ("h", "hv")) if not f.get("exclude_" + of))
        after = ("" if levels == "ukh" else levels) + "p" * f.get("precise_ip", 0)
        return name + (":" + after if after else "")

    def json(self):
        f = self.f
        out = {"type": {0: "hardware", 1: "software"}[f.get("type", 1)], "size": self.size,
               "config": {(1, 9): "dummy", (0, 0): "cpu_cycles", (1, 0): "cpu_clock"}[f.get("type", 1), f.get("config", 0)]}
        if f.get("sample_period"):
            out["sample_period"] = f["sample_period"]
        if f.get("sample_type"):
            out["sample_type"] = bits(TYPE_BITS, f["sample_type"])
        if f.get("read_format"):
            out["read_format"] = bits(READ_BITS, f["read_format"])
        for name in ATTR_FLAGS:
            if name and f.get(name):
                out[name] = f[name]
        out.update(f.get("also", {}))
        return out


class Recording:
    def __init__(self, order, attrs, features=(), **options):
        """attrs: (Attr, ids); features: (bit, bytes, members)."""
        self.order, self.attrs, self.features, self.options = order, attrs, list(features), options
        self.parts, self.lines, self.data = [], [], b""

    def base(self):
        entry = self.attrs[0][0].size + 16 if self.attrs else 80
        return 104 + sum(8 * len(ids) for _, ids in self.attrs) + len(self.attrs) * entry

    def record(self, kind, name, body, misc=0, misc_names=(), event=None, follow=b"", says=None):
        offset = self.base() + len(self.data)
        if isinstance(body, Bytes):
            members, data = body.members, body.data
        else:
            members, data = {}, body
        size = 8 + len(data)
        line = {"type": name, "offset": offset, "size": size, "misc": list(misc_names)}
        if event is not None:
            line["event"] = self.names()[event]
        line.update(members)
        if says:
            self.diagnostic(*says)
        self.lines.append(line)
        self.data += struct.pack(self.order + "IHH", kind, misc, size) + data + follow
        return self

    def damage(self, data, code, message, skipped):
        self.diagnostic(code, message, skipped)
        self.data += data

    def diagnostic(self, code, message, skipped=0, offset=None):
        self.lines.append(diagnostic(self.base() + len(self.data) if offset is None else offset, code, message, skipped))

    def file(self):
        order, o = self.order, self.options
        entry = (self.attrs[0][0].size if self.attrs else 64) + 16
        ids_at, at = [], 104
        for _, ids in self.attrs:
            ids_at.append((at, 8 * len(ids)))
            at += 8 * len(ids)
        magic = o.get("magic", b"PERFILE2")
        words = [0, 0, 0, 0]
        for bit, _, _ in self.features:
            words[bit // 64] |= 1 << bit % 64
        data_size = o.get("data_size", len(self.data))
        head = (magic if order == "<" or o.get("magic") else magic[::-1]) + struct.pack(
            order + "QQQQQQQQ4Q", 104, entry, at, entry * len(self.attrs), self.base(), data_size, 0, 0, *words)
        body = b"".join(struct.pack(order + "%dQ" % len(ids), *ids) for _, ids in self.attrs)
        for (attr, _), section in zip(self.attrs, ids_at):
            body += attr.bytes() + struct.pack(order + "QQ", *section)
        table_at = self.base() + len(self.data)
        sections_at = table_at + 16 * len(self.features)
        table = sections = b""
        for _, payload, _ in self.features:
            table += struct.pack(order + "QQ", sections_at + len(sections), len(payload))
            sections += payload
        return head + body + self.data + table + sections

    def names(self):
        return self.options.get("names") or [attr.name() for attr, _ in self.attrs]

    def header(self):
        features = {}
        for _, _, members in self.features:
            features.update(members)
        return {"type": "header", "format": "perf.data", "version": 1 if self.options.get("magic") else 2,
                "byte_order": "little" if self.order == "<" else "big",
                "attrs": [{"attr": attr.json(), "ids": ids} for attr, ids in self.attrs],
                "data": {"offset": self.base(), "size": self.options.get("data_size", len(self.data))},
                "events": self.names(), "features": features}

    def expected(self):
        lines = [self.header()] + self.options.get("first", []) + self.lines
        return lines + [summary(lines, self.options.get("sums", {}))]


ORDER = {name: n for n, name in enumerate(
    "MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 AUX ITRACE_START LOST_SAMPLES SWITCH SWITCH_CPU_WIDE "
    "NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE AUX_OUTPUT_HW_ID CALLCHAIN_DEFERRED HEADER_ATTR HEADER_EVENT_TYPE "
    "HEADER_TRACING_DATA HEADER_BUILD_ID FINISHED_ROUND ID_INDEX AUXTRACE_INFO AUXTRACE AUXTRACE_ERROR THREAD_MAP CPU_MAP "
    "STAT_CONFIG STAT STAT_ROUND EVENT_UPDATE TIME_CONV HEADER_FEATURE COMPRESSED FINISHED_INIT COMPRESSED2 BPF_METADATA "
    "SCHEDSTAT_CPU SCHEDSTAT_DOMAIN SIMPLEPERF_KERNEL_SYMBOL SIMPLEPERF_DSO SIMPLEPERF_SYMBOL SIMPLEPERF_SPLIT SIMPLEPERF_SPLIT_END "
    "SIMPLEPERF_EVENT_ID SIMPLEPERF_CALLCHAIN SIMPLEPERF_UNWINDING_RESULT SIMPLEPERF_TRACING_DATA "
    "SIMPLEPERF_DEBUG UNKNOWN".split())}


def summary(lines, sums):
    count, size = {}, 0
    out = {"lost": 0, "lost_samples": 0, "skipped": 0, "passed_over": 0, "errors": 0, "warnings": 0, "notes": 0}
    for line in lines:
        if line["type"] == "diagnostic":
            out[line["grade"] + "s"] += 1
            out["skipped"] += line.get("skipped", 0)
        elif line["type"] != "header":
            count[line["type"]] = count.get(line["type"], 0) + 1
            size += line["size"]
        if line["type"] == "LOST":
            out["lost"] += line.get("lost", 0)
        if line["type"] == "LOST_SAMPLES":
            out["lost_samples"] += line.get("lost", 0)
    out.update(sums)
    return {"type": "summary", "records": {name: count[name] for name in sorted(count, key=ORDER.get)}, "bytes": size, **out}


# What the kernel writes beside samples.

TRAILER = TID | TIME | ID | STREAM_ID | CPU | IDENTIFIER


def trailer(b, time, id_=77, of_all=True):
    if not of_all:
        return b
    b.put("IIQQQIIQ", 1001, 1002, time, id_, id_ + 1, 3, 0, id_)
    b.members["sample_id"] = {"pid": 1001, "tid": 1002, "time": time, "id": id_, "stream_id": id_ + 1, "cpu": 3, "identifier": id_}
    return b


def kernel_records(order, of_all):
    attr = Attr(order, config=9, sample_type=TRAILER, read_format=1 | 2 | 4 | 16, sample_id_all=int(of_all))
    rec = Recording(order, [(attr, [77])])
    time = [1000]

    def add(kind, name, body, misc=0, names=(), **more):
        time[0] += 10
        rec.record(kind, name, trailer(body, time[0], of_all=of_all), misc, names, 0 if of_all else None, **more)

    def new():
        return Bytes(order)

    add(1, "MMAP", new().u32("pid", 5).u32("tid", 6).hex("addr", 0x7f0000001000).hex("len", 0x2000).hex("pgoff", 0x3000)
        .string("filename", "/usr/lib/caf\u00e9.so"), 2 | 0x2000, ["user", "mmap_data"])
    add(2, "LOST", new().u64("id", 77).u64("lost", 12))
    add(3, "COMM", new().u32("pid", 5).u32("tid", 6).string("comm", b"\xff\xfebad\t\"q\\"), 0x2000, ["comm_exec"])
    add(3, "COMM", new().u32("pid", 5).u32("tid", 6).string("comm", "sevenxx"))
    add(4, "EXIT", new().u32("pid", 5).u32("ppid", 1).u32("tid", 6).u32("ptid", 1).u64("time", 99))
    add(5, "THROTTLE", new().u64("time", 1).u64("id", 77).u64("stream_id", 78))
    add(6, "UNTHROTTLE", new().u64("time", 2).u64("id", 77).u64("stream_id", 78))
    add(7, "FORK", new().u32("pid", 9).u32("ppid", 5).u32("tid", 0xffffffff).u32("ptid", 6).u64("time", 0xffffffffffffffff))
    add(8, "READ", new().u32("pid", 5).u32("tid", 6).u64("value", (1 << 64) - 2).u64("time_enabled", 100).u64("time_running", 50)
        .u64("id", 77).u64("lost", 3))
    add(10, "MMAP2", new().u32("pid", 5).u32("tid", 6).hex("addr", 0x400000).hex("len", 0x1000).hex("pgoff", 0)
        .u32("maj", 8).u32("min", 1).u64("ino", 1 << 40).u64("ino_generation", 7)
        .named("I", "prot", 5, ["read", "exec"]).named("I", "flags", 0x802, ["private", "denywrite"]).string("filename", "//anon"),
        2, ["user"])
    add(10, "MMAP2", new().u32("pid", 5).u32("tid", 6).hex("addr", 0xffffffff81000000).hex("len", 0x1000).hex("pgoff", 0)
        .u8("build_id_size", 16).raw(b"\0" * 3).raw(bytes(range(16)) + b"\0" * 4).say(build_id=bytes(range(16)).hex())
        .named("I", "prot", 7 | 0x100, ["read", "write", "exec", "0x100"]).named("I", "flags", 1, ["shared"])
        .string("filename", "a/../b"), 1 | 0x4000, ["kernel", "mmap_build_id"],
        says=("impossible", "MMAP2: prot has a value that no kernel gives it"))
    add(11, "AUX", new().hex("aux_offset", 0x10000).u64("aux_size", 4096)
        .named("Q", "flags", 1 | 4 | 8 | 0x100, ["truncated", "partial", "collision", "coresight_format_raw"]))
    add(12, "ITRACE_START", new().u32("pid", 5).u32("tid", 6))
    add(13, "LOST_SAMPLES", new().u64("lost", 4))
    add(14, "SWITCH", new(), 0x2000 | 0x4000, ["switch_out", "switch_out_preempt"])
    add(15, "SWITCH_CPU_WIDE", new().u32("next_prev_pid", 8).u32("next_prev_tid", 9), 0x2000, ["switch_out"])
    spaces = new().u32("pid", 5).u32("tid", 6).put("Q", 8)
    names = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup", "0x7"]
    for n in range(8):
        spaces.put("QQ", 4, 0xeffffff0 + n)
    add(16, "NAMESPACES", spaces.say(namespaces=[{"name": names[n], "dev": 4, "inode": 0xeffffff0 + n} for n in range(8)]))
    add(17, "KSYMBOL", new().hex("addr", 0xffffffffc0001000).u32("len", 0x40).named("H", "ksym_type", 2, "ool")
        .named("H", "flags", 1, ["unregister"]).string("name", "kprobe_optinsn_page"))
    add(18, "BPF_EVENT", new().named("H", "bpf_type", 2, "prog_unload").hex("flags", 0, "H").u32("id", 44)
        .raw(bytes.fromhex("0011223344556677")).say(tag="0011223344556677"))
    add(19, "CGROUP", new().u64("id", 12345).string("path", "/user.slice/a\nb"))
    add(20, "TEXT_POKE", new().hex("addr", 0xffffffff81234567).u16("old_len", 5).u16("new_len", 2).raw(b"\x0f\x1f\x44\0\0\xe8\x01")
        .raw(b"\0" * 5).say(old_bytes="0f1f440000", new_bytes="e801"), 1, ["kernel"])
    add(21, "AUX_OUTPUT_HW_ID", new().hex("hw_id", 0xfedcba9876543210))
    add(22, "CALLCHAIN_DEFERRED", new().hex("cookie", 0x1_0000_0007).put("QQQ", 2, 0x401000, 0x401100)
        .say(ips=["0x401000", "0x401100"]), 2, ["user"])
    return rec


def read_formats(order):
    """PERF_SAMPLE_READ in all 32 formats, one event each, told apart by IDENTIFIER."""
    attrs, rec = [], None
    for fmt in range(32):
        attrs.append((Attr(order, config=9, sample_type=IDENTIFIER | READ, read_format=fmt), [100 + fmt]))
    rec = Recording(order, attrs)
    for fmt in range(32):
        b = Bytes(order).u64("identifier", 100 + fmt)
        values = [{"value": (1 << 63) + n, "id": 100 + fmt + n, "lost": n} for n in range(2 if fmt & 8 else 1)]
        for v in values:
            if not fmt & 4:
                del v["id"]
            if not fmt & 16:
                del v["lost"]
        times = [("time_enabled", 1 << 40)] * (fmt & 1) + [("time_running", 5)] * (fmt >> 1 & 1)
        read = {}
        if fmt & 8:
            b.put("Q", 2)
            read["nr"] = 2
        else:
            b.put("Q", values[0]["value"])
            read["value"] = values[0]["value"]
        for name, value in times:
            b.put("Q", value)
            read[name] = value
        for v in values:
            if fmt & 8:
                b.put("Q", v["value"])
            for name in ("id", "lost"):
                if name in v:
                    b.put("Q", v[name])
                    if not fmt & 8:
                        read[name] = v[name]
        if fmt & 8:
            read["values"] = values
        rec.record(9, "SAMPLE", b.say(read=read), 1, ["kernel"], fmt)
    return rec


def branch_flags(order, mispred=0, predicted=0, in_tx=0, abort=0, cycles=0, type_=0, spec=0, new_type=0, priv=0, reserved=0):
    value, at = 0, 0
    for member, width in ((mispred, 1), (predicted, 1), (in_tx, 1), (abort, 1), (cycles, 16), (type_, 4), (spec, 2), (new_type, 4),
                          (priv, 3), (reserved, 31)):
        value |= member << (at if order == "<" else 64 - at - width)
        at += width
    return value


def samples(order):
    everything = (IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD | READ | CALLCHAIN | RAW | BRANCH | REGS_USER
                  | STACK_USER | WEIGHT_STRUCT | DATA_SRC | TRANSACTION | REGS_INTR | PHYS_ADDR | CGROUP | DATA_PAGE | CODE_PAGE | AUX)
    hw, counters = 1 << 17, 1 << 19
    branch_names = {1 << 3: "any", hw: "hw_index", counters: "counters"}

    def attr(sample_type, branch=0, user=0, intr=0, **more):
        also = {}
        if branch:
            also["branch_sample_type"] = [name for bit, name in branch_names.items() if branch & bit]
        names = ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip"]
        if user:
            also["sample_regs_user"] = bits(names, user)
        if more.get("sample_stack_user"):
            also["sample_stack_user"] = more["sample_stack_user"]
        if intr:
            also["sample_regs_intr"] = bits(names, intr)
        return Attr(order, type=0, sample_type=sample_type, branch_sample_type=branch, sample_regs_user=user, sample_regs_intr=intr,
                    also=also, **more)

    rec = Recording(order, [
        (attr(everything, 8 | hw | counters, 0x181, 0x100, sample_stack_user=16), [1]),
        (attr(IDENTIFIER | BRANCH | WEIGHT, 8 | hw), [2]),
        (attr(IDENTIFIER | BRANCH, 8), [3]),
        (attr(IDENTIFIER | REGS_USER | STACK_USER | REGS_INTR, 0, 0x101, 0x101, sample_stack_user=8), [4]),
        (attr(IDENTIFIER | CALLCHAIN | RAW), [5]),
    ], [(6, lstring(order, "x86_64"), {"arch": "x86_64"})])

    b = Bytes(order).u64("identifier", 1).hex("ip", 0xffffffff81000000).u32("pid", 7).u32("tid", 8).u64("time", 123456789012345)
    b.hex("addr", 0x7ffe00001000).u64("id", 1).u64("stream_id", 2).u32("cpu", 1).put("I", 0).u64("period", 10000000000000000000)
    b.put("Q", 55).say(read={"value": 55})
    b.put("QQQQ", 3, (1 << 64) - 128, 0xffffffff81000000, (1 << 64) - 512)
    b.say(callchain=[{"context": "kernel"}, "0xffffffff81000000", {"context": "user"}])
    b.put("I", 12).raw(bytes(range(12))).say(raw=bytes(range(12)).hex())
    b.put("QQ", 2, 0xffffffffffffffff)
    b.put("QQQ", 0x1000, 0x2000, branch_flags(order, mispred=1, cycles=65535, type_=4, spec=2, priv=1))
    b.put("QQQ", 0x3000, 0xffffffff81000000, branch_flags(order, predicted=1, in_tx=1, abort=1, cycles=1, type_=15, spec=3, new_type=2,
                                                          priv=2, reserved=5 if order == "<" else 0))
    b.put("QQ", 0x21, 0x43)
    first = {"from": "0x1000", "to": "0x2000", "mispred": 1, "predicted": 0, "in_tx": 0, "abort": 0, "cycles": 65535, "type": "call",
             "spec": "non_spec_correct_path", "priv": "user"}
    second = {"from": "0x3000", "to": "0xffffffff81000000", "mispred": 0, "predicted": 1, "in_tx": 1, "abort": 1, "cycles": 1,
              "type": "extend_abi", "spec": "spec_correct_path", "new_type": "fault_inst", "priv": "kernel"}
    if order == "<":
        second["bits"] = "0x%x" % (5 << 33)
    b.say(branch_stack={"nr": 2, "hw_idx": -1, "entries": [first, second], "counters": ["0x21", "0x43"]})
    b.put("QQQQ", 2, 1, 0x7ffe00000000, 0x401000)
    b.say(regs_user={"abi": "64", "regs": {"ax": "0x1", "sp": "0x7ffe00000000", "ip": "0x401000"}})
    b.put("Q", 16).raw(b"stackstackstack!").put("Q", 10)
    b.say(stack_user={"size": 16, "data": b"stackstackstack!".hex(), "dyn_size": 10})
    b.put("Q", 3 << 48 | 2 << 32 | 1).say(weight={"var1_dw": 1, "var2_w": 2, "var3_w": 3})
    source = (2 | (2 | 8) << 5 | 16 << 19 | 2 << 24 | (2 | 8) << 26 | 9 << 33 | 1 << 37 | 3 << 38 | 4 << 40 | 2 << 43 | 9 << 46)
    b.put("Q", source).say(data_src={
        "mem_op": ["load"], "mem_lvl": ["hit", "l1"], "mem_snoop": ["hitm"], "mem_lock": ["locked"], "mem_dtlb": ["hit", "l1"],
        "mem_lvl_num": "cxl", "mem_remote": "remote", "mem_snoopx": ["fwd", "peer"], "mem_blk": ["addr"], "mem_hops": "1",
        "mem_region": "mem1"})
    b.put("Q", 0xab << 32 | 1 | 0x20).say(transaction={"flags": ["elision", "conflict"], "abort_code": 0xab})
    b.put("QQ", 1, 0x1234).say(regs_intr={"abi": "32", "regs": {"ip": "0x1234"}})
    b.hex("phys_addr", 0x123456000).u64("cgroup", 99).u64("data_page_size", 4096).u64("code_page_size", 2 << 20)
    b.put("Q", 8).raw(b"AUXDATA!").say(aux=b"AUXDATA!".hex())
    rec.record(9, "SAMPLE", b, 1 | 0x4000, ["kernel", "exact_ip"], 0)

    # A PMU that delivered no branches writes nr alone; one that delivered none of them, hw_idx too.
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 2).put("Q", 0).say(branch_stack={"nr": 0, "entries": []})
               .u64("weight", 5), 2, ["user"], 1)
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 2).put("QQ", 0, 9).say(branch_stack={"nr": 0, "hw_idx": 9, "entries": []})
               .u64("weight", 6), 2, ["user"], 1)
    plain = {"from": "0x1", "to": "0x2", "mispred": 0, "predicted": 1, "in_tx": 0, "abort": 0, "cycles": 0, "type": "unknown",
             "spec": "spec_na", "priv": "unknown"}
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 3).put("QQQQ", 1, 1, 2, branch_flags(order, predicted=1))
               .say(branch_stack={"nr": 1, "entries": [plain]}), 0, [], 2)
    # No registers where abi is 0, no dyn_size where the stack is empty.
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 4).put("QQQ", 0, 0, 0)
               .say(regs_user={"abi": "none"}, stack_user={"size": 0}, regs_intr={"abi": "none"}), 4, ["guest_kernel"], 3)
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 4).put("QQQ", 2, 10, 11).put("QQQ", 8, 0, 0).put("QQQ", 1, 12, 13)
               .say(regs_user={"abi": "64", "regs": {"ax": "0xa", "ip": "0xb"}},
                    stack_user={"size": 8, "data": "00" * 8, "dyn_size": 0},
                    regs_intr={"abi": "32", "regs": {"ax": "0xc", "ip": "0xd"}}), 5, ["guest_user"], 3)
    # Every context, one that has no name, a deferred one with its cookie; raw data that is none.
    marks = [(-32, "hv"), (-128, "kernel"), (-512, "user"), (-2048, "guest"), (-2176, "guest_kernel"), (-2560, "guest_user")]
    b = Bytes(order).u64("identifier", 5).put("Q", 11)
    chain = []
    for value, name in marks:
        b.put("Q", value & (1 << 64) - 1)
        chain.append({"context": name})
    b.put("QQQQQ", 0x10, (1 << 64) - 5, (1 << 64) - 4096, (1 << 64) - 640, 0x77).put("II", 4, 0)
    chain += ["0x10", {"context": "0xfffffffffffffffb"}, "0xfffffffffffff000", {"context": "user_deferred", "cookie": "0x77"}]
    rec.record(9, "SAMPLE", b.say(callchain=chain, raw="00000000"), 3, ["hypervisor"], 4)
    return rec


# What perf writes.

def lstring(order, text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 64)
    return struct.pack(order + "I", len(data)) + data


def features(order):
    def p(code, *values):
        return struct.pack(order + code, *values)

    def s(text):
        return lstring(order, text)

    attr = Attr(order, config=9, sample_type=IP | TID)
    build = p("IHH", 0, 0x8002, 36 + 64) + p("i", -1) + bytes(range(20)) + b"\x14\0\0\0" + b"/bin/true".ljust(64, b"\0")
    rec = Recording(order, [(attr, [5, 6])])
    rec.record(68, "FINISHED_ROUND", Bytes(order))
    rec.options["first"] = [diagnostic(0, "parts", "this is one file of a recording that is a directory, whose data.0, data.1, ... have the other "
                                       "records: decode the directory")]
    caches = [{"level": 1, "line_size": 64, "sets": 64, "ways": 8, "type": "Data", "size": "32K", "map": "0"}]
    rec.features = [
        (2, build, {"build_ids": [{"misc": "0x8002", "record_size": 100, "pid": -1, "build_id": bytes(range(20)).hex(),
                                   "build_id_size": 20, "filename": "/bin/true"}]}),
        (3, s("host"), {"hostname": "host"}), (4, s("7.3.4"), {"osrelease": "7.3.4"}), (5, s("7.3"), {"version": "7.3"}),
        (6, s("aarch64"), {"arch": "aarch64"}), (7, p("II", 2, 1), {"nr_cpus_available": 2, "nr_cpus_online": 1}),
        (8, s("CPU"), {"cpudesc": "CPU"}), (9, s("id,1"), {"cpuid": "id,1"}), (10, p("Q", 1 << 20), {"total_mem_kib": 1 << 20}),
        (11, p("I", 2) + s("perf") + s("record"), {"cmdline": ["perf", "record"]}),
        (12, p("II", 1, 136) + attr.bytes() + p("I", 2) + s("dummy") + p("QQ", 5, 6),
         {"nr_events": 1, "event_attr_size": 136, "event_desc": [{"attr": attr.json(), "nr_ids": 2, "name": "dummy", "ids": [5, 6]}]}),
        (13, p("I", 1) + s("0-1") + p("I", 2) + s("0") + s("1") + p("IIII", 0, 0, 1, 0) + p("I", 1) + s("0-1") + p("II", 0, 0),
         {"cpu_topology": {"packages": ["0-1"], "cores": ["0", "1"], "cpus": [{"core_id": 0, "socket_id": 0},
                                                                             {"core_id": 1, "socket_id": 0}],
                           "dies": ["0-1"], "die_ids": [0, 0]}}),
        (14, p("I", 1) + p("I", 0) + p("QQ", 4096, 1024) + s("0-1"),
         {"numa_topology": [{"node": 0, "mem_total_kib": 4096, "mem_free_kib": 1024, "cpus": "0-1"}]}),
        (15, b"", {"branch_stack": True}),
        (16, p("I", 1) + p("I", 1) + s("software"), {"pmu_mappings": [{"pmu_type": 1, "name": "software"}]}),
        (17, p("I", 1) + s("{a,b}") + p("II", 0, 2), {"group_desc": [{"name": "{a,b}", "leader_idx": 0, "nr_members": 2}]}),
        (18, p("Q", 1) + p("QQ", 512, 48), {"auxtrace_index": [{"file_offset": 512, "size": 48}]}),
        (19, b"", {"stat": True}),
        (20, p("II", 1, 1) + p("IIII", 1, 64, 64, 8) + s("Data") + s("32K") + s("0"), {"cache_version": 1, "caches": caches}),
        (21, p("QQ", 10, 20), {"sample_time_first": 10, "sample_time_last": 20}),
        (22, p("QQQ", 1, 4096, 1) + p("QQQ", 0, 2, 65) + p("QQ", 3, 1),
         {"mem_topology_version": 1, "mem_block_size": 4096,
          "mem_topology": [{"node": 0, "nr_blocks": 2, "bitmap_size": 65, "bitmap": ["0x3", "0x1"]}]}),
        (23, p("Q", 1), {"clockid_resolution_ns": 1}), (24, p("Q", 1), {"dir_format_version": 1}),
        (25, p("I", 1) + p("IIQ", 8, 4, 3) + b"INFOINFO" + b"DATA",
         {"bpf_prog_info": [{"info_len": 8, "data_len": 4, "arrays": "0x3", "info": b"INFOINFO".hex(), "data": b"DATA".hex()}]}),
        (26, p("I", 1) + p("II", 3, 4) + b"BTF!", {"bpf_btf": [{"id": 3, "data_size": 4, "data": b"BTF!".hex()}]}),
        (27, p("IIIII", 1, 1, 3, 5, 4096),
         {"compressed": {"version": 1, "type": "zstd", "level": 3, "ratio": 5, "mmap_len": 4096}}),
        (28, p("I", 1) + s("branches") + s("32"), {"cpu_pmu_caps": [{"name": "branches", "value": "32"}]}),
        (29, p("IIQQ", 1, 1, 1700000000000000000, 5),
         {"clock_data": {"version": 1, "clockid": "monotonic", "wall_clock_ns": 1700000000000000000, "clockid_time_ns": 5}}),
        (30, p("I", 1) + s("cpu_core") + s("0-1"), {"hybrid_topology": [{"pmu": "cpu_core", "cpus": "0-1"}]}),
        (31, p("I", 1) + p("I", 1) + s("max_precise") + s("3") + s("cpu"),
         {"pmu_caps": [{"caps": [{"name": "max_precise", "value": "3"}], "pmu": "cpu"}]}),
        (32, p("II", 17, 1) + p("II", 0, 1) + p("I", 0) + s("MC") + s("3") + s("0-1"),
         {"schedstat_version": 17, "max_sched_domains": 1,
          "cpu_domain_info": [{"cpu": 0, "domains": [{"domain": 0, "name": "MC", "cpumask": "3", "cpulist": "0-1"}]}]}),
        (33, p("II", 183, 0), {"e_machine": 183, "e_flags": "0x0"}), (34, p("I", 64), {"cln_size": 64}),
    ]
    return rec


def tool_records(order):
    attr = Attr(order, config=9, sample_type=IP | TID)
    rec = Recording(order, [(attr, [5])], sums={"passed_over": 64})

    def new():
        return Bytes(order)

    rec.record(65, "HEADER_EVENT_TYPE", new().u64("event_id", 9).string("name", "cycles", 64))
    rec.record(66, "HEADER_TRACING_DATA", new().u32("data_size", 13).put("I", 0), follow=b"tracing data!".ljust(16, b"\0"))
    rec.record(67, "HEADER_BUILD_ID", new().num("I", "pid", -1).raw(bytes(20)).say(build_id="00" * 20).u8("build_id_size", 20)
               .raw(b"\0\0\0").string("filename", "[kernel.kallsyms]"), 0x8001, ["kernel", "ext_reserved"])
    rec.record(68, "FINISHED_ROUND", new())
    rec.record(69, "ID_INDEX", new().u64("nr", 1).put("QQqq", 5, 0, -1, 77).put("qq", 1, 2)
               .say(entries=[{"id": 5, "idx": 0, "cpu": -1, "tid": 77}], guests=[{"machine_pid": 1, "vcpu": 2}]))
    rec.record(70, "AUXTRACE_INFO", new().named("I", "auxtrace_type", 1, "intel_pt").put("I", 0).put("QQ", 10, 11)
               .say(priv=["0xa", "0xb"]))
    rec.record(71, "AUXTRACE", new().u64("data_size", 48).hex("aux_offset", 0x2000).hex("reference", 0x1f).u32("idx", 1)
               .num("I", "tid", -1).num("I", "cpu", 1).put("I", 0), follow=b"\x02\x82" * 24)
    rec.record(72, "AUXTRACE_ERROR", new().named("I", "error_type", 1, "itrace").u32("code", 5).num("I", "cpu", 1).num("I", "pid", 7)
               .num("I", "tid", 8).u32("fmt", 2).hex("ip", 0x401000).u64("time", 99).string("msg", "overflow", 64)
               .num("I", "machine_pid", 3).num("I", "vcpu", 1))
    rec.record(73, "THREAD_MAP", new().put("Qq", 1, 42).string("", "bash", 16).say(entries=[{"pid": 42, "comm": "bash"}]))
    rec.lines[-1].pop("", None)
    rec.record(74, "CPU_MAP", new().named("H", "map_type", 0, "cpus").put("HHH", 2, 0, 3).say(cpus=[0, 3]))
    rec.record(74, "CPU_MAP", new().named("H", "map_type", 1, "mask").u16("nr", 1).u16("long_size", 8).raw(bytes(4))
               .put("Q", 0x8000000000000001).raw(bytes(6)).say(mask=["0x8000000000000001"]))
    rec.record(74, "CPU_MAP", new().named("H", "map_type", 1, "mask").u16("nr", 1).u16("long_size", 4).put("I", 3).raw(bytes(6))
               .say(mask=["0x3"]))
    rec.record(74, "CPU_MAP", new().named("H", "map_type", 2, "range_cpus").u8("any_cpu", 1).raw(b"\0").u16("start_cpu", 0)
               .u16("end_cpu", 63))
    rec.record(75, "STAT_CONFIG", new().put("QQQQQ", 2, 1, 1000, 3, 2)
               .say(entries=[{"tag": "interval", "val": 1000}, {"tag": "aggr_level", "val": 2}]))
    rec.record(76, "STAT", new().u64("id", 5).num("I", "cpu", -1).num("I", "thread", 0).u64("val", 1).u64("ena", 2).u64("run", 3))
    rec.record(77, "STAT_ROUND", new().named("Q", "round_type", 1, "final").u64("time", 5))
    rec.record(78, "EVENT_UPDATE", new().named("Q", "update_type", 0, "unit").u64("id", 5).string("unit", "msec"))
    rec.record(78, "EVENT_UPDATE", new().named("Q", "update_type", 1, "scale").u64("id", 5).put("d", 2.3283064365386963e-10).say(scale=2.3283064365386963e-10))
    rec.record(78, "EVENT_UPDATE", new().named("Q", "update_type", 2, "name").u64("id", 5).string("name", "cpu/x/"))
    rec.record(78, "EVENT_UPDATE", new().named("Q", "update_type", 3, "cpus").u64("id", 5).put("HHHH", 0, 2, 1, 2)
               .say(cpus={"map_type": "cpus", "cpus": [1, 2]}))
    rec.record(79, "TIME_CONV", new().u64("time_shift", 31).u64("time_mult", 5).u64("time_zero", 7).u64("time_cycles", 1)
               .hex("time_mask", 0xffffff).u8("cap_user_time_zero", 1).u8("cap_user_time_short", 0).raw(bytes(6)))
    rec.record(79, "TIME_CONV", new().u64("time_shift", 31).u64("time_mult", 5).u64("time_zero", 7))
    rec.record(80, "HEADER_FEATURE", new().named("Q", "feat_id", 3, "hostname").raw(lstring(order, "h")).say(hostname="h"))
    rec.record(80, "HEADER_FEATURE", new().named("Q", "feat_id", 35, "0x23"))
    rec.record(82, "FINISHED_INIT", new())
    rec.record(84, "BPF_METADATA", new().string("prog_name", "prog", 512).put("Q", 1).string("", "k", 64).string("", "v", 256)
               .say(entries=[{"key": "k", "value": "v"}]))
    rec.lines[-1].pop("", None)
    counters = "yld_count array_exp sched_count sched_goidle ttwu_count ttwu_local".split()
    b = new().u64("timestamp", 1).u32("cpu", 0).u16("version", 17).raw(b"\0\0")
    for n, name in enumerate(counters):
        b.u32(name, n)
    rec.record(85, "SCHEDSTAT_CPU", b.u64("rq_cpu_time", 1).u64("run_delay", 2).u64("pcount", 3))
    old = "count balanced failed imbalance gained hot_gained nobusyq nobusyg".split()
    new17 = ("count balanced failed imbalance_load imbalance_util imbalance_task imbalance_misfit gained hot_gained nobusyq "
             "nobusyg").split()
    tail = ("alb_count alb_failed alb_pushed sbe_count sbe_balanced sbe_pushed sbf_count sbf_balanced sbf_pushed ttwu_wake_remote "
            "ttwu_move_affine ttwu_move_balance").split()
    for version, kinds, fields in ((15, ("idle", "busy", "newidle"), old), (16, ("busy", "idle", "newidle"), old),
                                   (17, ("busy", "idle", "newidle"), new17)):
        b = new().u64("timestamp", 1).u32("cpu", 0).u16("version", version).u16("domain", 2)
        for n, name in enumerate([f"{kind}_lb_{field}" for kind in kinds for field in fields] + tail):
            b.u32(name, n)
        if len(b.data) % 8:
            b.put("I", 0)
        rec.record(86, "SCHEDSTAT_DOMAIN", b)
    return rec


def damaged(order):
    """Whole records between damaged ones: each of the whole comes out."""
    attr = Attr(order, config=9, sample_type=IDENTIFIER | IP | CALLCHAIN)
    rec = Recording(order, [(attr, [1]), (Attr(order, config=9, sample_type=IDENTIFIER | TIME), [2])])

    def head(kind, size):
        return struct.pack(order + "IHH", kind, 0, size)

    def whole(ip):
        rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 1).hex("ip", ip).put("QQ", 1, ip).say(callchain=["0x%x" % ip]), 1,
                   ["kernel"], 0)

    def short(size, code):
        rec.damage(head(9, size), code, f"record size {size} is less than its header's 8", 8)

    whole(0x1000)
    short(0, "size-zero")
    whole(0x2000)
    short(4, "size-short")
    whole(0x3000)
    short(7, "size-short")
    whole(0x4000)
    body = struct.pack(order + "QQQQ", 1, 0x5000, 1 << 60, 0x5000)
    rec.record(9, "SAMPLE", Bytes(order).raw(body).say(bytes=body.hex()), 1, ["kernel"], 0,
               says=("field-past-end", "SAMPLE: callchain has more elements than bytes"))
    for kind in (45, 200):
        rec.diagnostic("unknown-type", f"cases/abi has no record type {kind}")
        rec.lines.append({"type": "UNKNOWN", "offset": rec.base() + len(rec.data), "size": 16, "type_id": kind, "misc": ["0x0"],
                          "bytes": "0102030405060708"})
        rec.data += head(kind, 16) + bytes(range(1, 9))
    body = struct.pack(order + "QQQQ", 99, 0x6000, 1, 0x6000)
    rec.diagnostic("unknown-id", "SAMPLE: the id in it is of no event of this recording")
    rec.lines.append({"type": "SAMPLE", "offset": rec.base() + len(rec.data), "size": 40, "misc": ["0x0"], "bytes": body.hex()})
    rec.data += head(9, 40) + body
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 2).u64("time", 5).say(rest="0000000000000001" if order == ">" else
                                                                                 "0100000000000000").put("Q", 1), 0, [], 1,
               says=("bytes-left", "SAMPLE: no field accounts for the bytes from 24 on"))
    whole(0x7000)
    rec.damage(head(9, 40) + bytes(12), "truncated", "a record of 40 bytes, and 20 are left", 20)
    return rec


def old_file(order):
    """PERFFILE, the magic of 2.6.31, and an attr of VER0."""
    attr = Attr(order, size=64, config=9, sample_type=IP | TID)
    rec = Recording(order, [(attr, [])], magic=b"PERFFILE")
    rec.record(9, "SAMPLE", Bytes(order).hex("ip", 0x400000).u32("pid", 1).u32("tid", 2), 2, ["user"], 0)
    rec.record(3, "COMM", Bytes(order).u32("pid", 1).u32("tid", 2).string("comm", "old"))
    return rec


def simpleperf(order):
    """What simpleperf writes and perf does not: its types of records, tracing data inside a record, its feature sections."""
    attr = Attr(order, config=9, sample_type=IP | TID)

    def new():
        return Bytes(order)

    def chain(*ips):
        return b"".join(struct.pack(order + "Q", ip) for ip in ips)

    types = b"event_type_info\0my-event:u,1,9\nother,1,0\0"
    file = (b"[kernel.kallsyms]\0" + struct.pack(order + "IQI", 0, 0xffff000000000000, 1) + struct.pack(order + "QI", 0xffff000000000010, 32)
            + b"do_mem_abort\0")
    elf = b"/bin/x\0" + struct.pack(order + "IQIQ", 2, 0x400000, 0, 0x1000)
    files = b"".join(struct.pack(order + "I", len(f)) + f for f in (file, elf))
    rec = Recording(order, [(attr, [])], [
        (128, files, {"files": [
            {"size": len(file), "path": "[kernel.kallsyms]", "file_type": "kernel", "min_vaddr": "0xffff000000000000",
             "symbols": [{"addr": "0xffff000000000010", "len": 32, "name": "do_mem_abort"}]},
            {"size": len(elf), "path": "/bin/x", "file_type": "elf_file", "min_vaddr": "0x400000", "symbols": [],
             "file_offset_of_min_vaddr": "0x1000"}]}),
        (129, types, {"meta_info": [{"key": "event_type_info", "value": "my-event:u,1,9\nother,1,0"}]})])
    rec.options["names"] = ["my-event:u"]
    rec.record(66, "HEADER_TRACING_DATA", new().u32("data_size", 40).raw(b"t" * 40).say(tracing_data=40))
    rec.record(9, "SAMPLE", new().hex("ip", 0x1000).u32("pid", 0xffffffff).u32("tid", 1), 2, ["user"], 0)
    rec.record(32775, "SIMPLEPERF_CALLCHAIN", new().u32("pid", 1).u32("tid", 2).u64("chain_type", 2).u64("time", 5).u64("nr", 2)
               .raw(chain(0x10, 0x20, 0x30, 0x40)).say(ips=["0x10", "0x20"], sps=["0x30", "0x40"]))
    rec.record(32776, "SIMPLEPERF_UNWINDING_RESULT", new().u64("time", 5).u64("used_time", 6).named("Q", "stop_reason", 8, "map_missing")
               .hex("stop_info", 0).hex("stack_start", 0x7000).hex("stack_end", 0x8000).raw(chain(1)).say(words=["0x1"]))
    rec.record(10, "MMAP2", new().u32("pid", 5).u32("tid", 6).hex("addr", 0x400000).hex("len", 0x1000).hex("pgoff", 0)
               .u32("maj", 8).u32("min", 1).u64("ino", 1).u64("ino_generation", 7)
               .named("I", "prot", 0x4001, ["read", "simpleperf_jit_symfile_map"]).named("I", "flags", 2, ["private"])
               .string("filename", "app_cache"), 2, ["user"])
    rec.record(32774, "SIMPLEPERF_EVENT_ID", new().put("QQQ", 1, 0, 44).say(entries=[{"attr": 0, "id": 44}]))
    rec.record(32777, "SIMPLEPERF_TRACING_DATA", new().u32("data_size", 8).raw(b"t" * 8).raw(b"\0" * 4).say(tracing_data=8))
    rec.record(32769, "SIMPLEPERF_KERNEL_SYMBOL", new().put("I", 8).raw(b"0 t a\n\0\0").put("I", 0).say(kallsyms="0 t a\n"))
    rec.record(32770, "SIMPLEPERF_DSO", new().u64("dso_type", 2).u64("dso_id", 1).hex("min_vaddr", 0x1000).string("dso_name", "/bin/x"))
    rec.record(32771, "SIMPLEPERF_SYMBOL", new().hex("addr", 0x1000).hex("len", 16).u64("dso_id", 1).string("name", "main"))
    rec.record(32772, "SIMPLEPERF_SPLIT", new().raw(b"12345678").say(split=b"12345678".hex()))
    rec.record(32773, "SIMPLEPERF_SPLIT_END", new())
    rec.record(32778, "SIMPLEPERF_DEBUG", new().u64("time", 9).string("text", "a"))
    return rec


def unknown_abi(order):
    """Registers of an ABI that nobody knows: what follows in the sample may be anything."""
    also = {"sample_regs_user": ["ax", "ip"]}
    rec = Recording(order, [(Attr(order, config=9, sample_type=IP | REGS_USER | CGROUP, sample_regs_user=0x101, also=also), [])],
                    [(6, lstring(order, "x86_64"), {"arch": "x86_64"})])
    for abi, known in ((2, True), (10, False), (1, True)):
        b = Bytes(order).hex("ip", 0x1000)
        tail = struct.pack(order + "QQQ", 12, 13, 99)
        b.put("Q", abi).raw(tail)
        if known:
            b.say(regs_user={"abi": {1: "32", 2: "64"}[abi], "regs": {"ax": "0xc", "ip": "0xd"}}, cgroup=99)
        else:
            b.say(regs_user={"abi": "0xa"}, rest=tail.hex())
        rec.record(9, "SAMPLE", b, 2, ["user"], 0, says=None if known else
                   ("unknown-shape", "SAMPLE: abi has a value that cases/abi has no name for: what follows is not known"))
    return rec


def simd(order):
    """SIMD registers (Linux 7.4): four counts and as many words behind regs[], in which other bits have other names."""
    def attr(sample_type, kind, regs, names, vectors, pred, vector_qwords, pred_qwords, **more):
        also = {"sample_regs_" + kind: names, **{name: value for name, value in more.items() if name == "sample_stack_user"}}
        words = {"sample_simd_regs_enabled": 1, "sample_simd_pred_reg_qwords": pred_qwords, "sample_simd_vec_reg_qwords": vector_qwords,
                 "sample_simd_pred_reg_" + kind: pred, "sample_simd_vec_reg_" + kind: vectors}
        of = words.get
        tail = struct.pack(order + "HHHHIIQQ", 1, pred_qwords, vector_qwords, 0, *(
            of("sample_simd_%s_reg_%s" % (which, side), 0) for which in ("pred", "vec") for side in ("intr", "user")))
        also.update((name, "0x%x" % value if value >> 31 else value) for name, value in words.items() if value)
        return Attr(order, size=176, config=9, sample_type=sample_type, tail=tail, also=also, **{"sample_regs_" + kind: regs, **more})

    def wide(prefix, of, qwords, start):
        """The words of the registers whose numbers are in `of`, and what they are shown as."""
        values = [[start + qwords * n + i for i in range(qwords)] for n in range(len(of))]
        return (struct.pack(order + "%dQ" % (len(of) * qwords), *sum(values, [])),
                {"%s%d" % (prefix, n): ["0x%x" % v for v in value] for n, value in zip(of, values)})

    def sample(abi, regs, vectors, pred):
        """The bytes behind regs[], and regs_user or regs_intr as it is shown."""
        of_vectors, of_pred = (part and wide(*part) for part in (vectors, pred))
        counts = [len(vectors[1]), vectors[2], len(pred[1]), pred[2]]
        shown = dict(zip(("nr_vectors", "vector_qwords", "nr_pred", "pred_qwords"), counts))
        return (struct.pack(order + "4Q", *counts) + of_vectors[0] + of_pred[0],
                {"abi": abi, "regs": regs, "simd": {**shown, "vectors": of_vectors[1], "pred": of_pred[1]}})

    all_of_zmm, all_of_xmm, all_of_k = range(32), range(16), range(8)
    rec = Recording(order, [
        (attr(IDENTIFIER | REGS_USER | STACK_USER, "user", 1 << 40 | 1 << 32 | 1 << 24 | 0x101, ["ax", "ip", "r16", "r24", "ssp"],
              0xffffffff, 0xff, 8, 1, sample_stack_user=8), [1]),
        (attr(IDENTIFIER | REGS_INTR | CGROUP, "intr", 0, [], 0xffff, 0, 2, 0), [2]),
        (attr(IDENTIFIER | REGS_USER | CGROUP, "user", 0x100, ["ip"], 0x14, 0xff, 4, 1), [3]),
    ], [(6, lstring(order, "x86_64"), {"arch": "x86_64"})])
    for a, _ in rec.attrs:
        a.f["also"] = {name: value for name, value in a.f["also"].items() if value != []}

    # Each kind of register, at the user's registers and with the stack behind them.
    data, user = sample("64_simd", {"ax": "0x1", "ip": "0x2", "r16": "0x3", "r24": "0x4", "ssp": "0x5"},
                        ("zmm", all_of_zmm, 8, 0xa1a2a3a4a5a60000), ("k", all_of_k, 1, 0xb1b2b3b4b5b60000))
    stack = {"size": 8, "data": b"stack!!!".hex(), "dyn_size": 8}
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 1).put("6Q", 6, 1, 2, 3, 4, 5).raw(data)
               .put("Q", 8).raw(b"stack!!!").put("Q", 8).say(regs_user=user, stack_user=stack), 2, ["user"], 0)
    # None of regs[], none of the predicates; a 32-bit task.
    data, intr = sample("32_simd", {}, ("xmm", all_of_xmm, 2, 0x8877665544330000), ("k", [], 0, 0))
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 2).put("Q", 5).raw(data).say(regs_intr=intr).u64("cgroup", 99), 2, ["user"], 1)
    # No registers at all, and a kernel's thread: nothing follows the abi.
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 2).put("Q", 0).say(regs_intr={"abi": "none"}).u64("cgroup", 98), 1, ["kernel"], 1)
    # Fewer than were asked for: the lower ones of the mask, and of each its lower words.
    data, user = sample("64_simd", {"ip": "0x7"}, ("ymm", [2], 2, 0x10), ("k", [], 1, 0))
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 3).put("QQ", 6, 7).raw(data).say(regs_user=user).u64("cgroup", 97), 2, ["user"], 2)
    # More than were asked for: nobody knows which they are, and where they end.
    data, user = sample("64_simd", {"ip": "0x7"}, ("ymm", [2, 4, 5], 1, 0x10), ("k", [], 1, 0))
    del user["simd"]["vectors"], user["simd"]["pred"]
    rest = data[32:] + struct.pack(order + "Q", 96)
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 3).put("QQ", 6, 7).raw(data).put("Q", 96).say(regs_user=user, rest=rest.hex()), 2,
               ["user"], 2, says=("unknown-shape", "SAMPLE: nr_vectors is more than attr asks for: what follows is not known"))
    data, user = sample("64_simd", {"ip": "0x7"}, ("ymm", [2], 1, 0x10), ("k", range(9), 1, 0))
    del user["simd"]["pred"]
    rest = data[40:] + struct.pack(order + "Q", 95)
    rec.record(9, "SAMPLE", Bytes(order).u64("identifier", 3).put("QQ", 6, 7).raw(data).put("Q", 95).say(regs_user=user, rest=rest.hex()), 2,
               ["user"], 2, says=("unknown-shape", "SAMPLE: nr_pred is more than attr asks for: what follows is not known"))
    return rec


def newer_attr(order):
    """An attr larger than any that is known, of a kernel to come, and a sample_type bit without a name."""
    tail = bytes(40) + b"\x01" + bytes(7)
    attr = Attr(order, size=192, config=9, sample_type=IP | 1 << 30, tail=tail, also={"bytes": {"184": 1}})
    rec = Recording(order, [(attr, [])])
    rec.options["first"] = [diagnostic(104 + 24, "unknown-bits", "attr.sample_type has bits 0x40000000 that cases/abi has no name for: "
                                       "records may hold more than is known")]
    attr.json_type = attr.json

    def with_bit():
        out = attr.json_type()
        out["sample_type"] = ["ip", "0x40000000"]
        return out

    attr.json = with_bit
    rec.record(9, "SAMPLE", Bytes(order).hex("ip", 0x400000).put("Q", 7).say(rest=struct.pack(order + "Q", 7).hex()), 2, ["user"], 0,
               says=("bytes-left", "SAMPLE: no field accounts for the bytes from 16 on"))
    return rec


def older_shapes(order):
    """What kernels and perfs before ours wrote, or write by mistake; peers read it all, and none of it is an error."""
    attr = Attr(order, config=9, sample_type=TID, sample_id_all=1)
    rec = Recording(order, [(attr, [])])

    def mmap2(filename, shape):
        b = Bytes(order).u32("pid", 1).u32("tid", 2).hex("addr", 0x400000).hex("len", 0x1000).hex("pgoff", 0)
        b.u32("maj", 8).u32("min", 1).u64("ino", 77).u64("ino_generation", 3)
        shape(b)
        b.string("filename", filename).put("II", 1, 2)
        return b.say(sample_id={"pid": 1, "tid": 2})

    def newer(prot, names):
        return lambda b: b.named("I", "prot", prot, names).named("I", "flags", 2, ["private"])

    # Linux 3.10 of RHEL 7, and 3.12: neither prot nor flags.
    rec.record(10, "MMAP2", mmap2("/usr/bin/true", lambda b: b), 2, ["user"])
    rec.record(10, "MMAP2", mmap2("[vdso]", lambda b: b), 2, ["user"])
    rec.record(10, "MMAP2", mmap2("/usr/bin/true", newer(5, ["read", "exec"])), 2, ["user"])
    # A protection of a kernel to come is no name of a file.
    rec.record(10, "MMAP2", mmap2("/usr/bin/true", newer(0x15, ["read", "exec", "0x10"])), 2, ["user"],
               says=("impossible", "MMAP2: prot has a value that no kernel gives it"))
    # BPF_EVENT beside another: 8 bytes of a sample_id too many (perf_event_bpf_output, 6.18).
    b = Bytes(order).named("H", "bpf_type", 1, "prog_load").hex("flags", 0, "H").u32("id", 9).put("8s", b"TAGTAGTA")
    b.say(tag=b"TAGTAGTA".hex()).put("II", 1, 2)
    rec.record(18, "BPF_EVENT", b.say(sample_id={"pid": 1, "tid": 2}))
    b = Bytes(order).named("H", "bpf_type", 1, "prog_load").hex("flags", 0, "H").u32("id", 9).put("8s", b"TAGTAGTA")
    b.say(tag=b"TAGTAGTA".hex()).put("IIII", 1, 2, 1, 2)
    b.say(sample_id={"pid": 1, "tid": 2}, rest=struct.pack(order + "II", 1, 2).hex())
    rec.record(18, "BPF_EVENT", b, says=("bytes-left", "BPF_EVENT: no field accounts for the bytes from 32 on"))
    # perf trimmed the name of an event to a multiple of 8, and had no name for some processors.
    rec.record(65, "HEADER_EVENT_TYPE", Bytes(order).u64("event_id", 1).string("name", "cpu-clock"))
    rec.features = [(8, b"", {"cpudesc": None})]
    return rec


def killed(order):
    """data.size 0: perf was killed before it wrote it."""
    rec = old_file(order)
    rec.options = {"data_size": 0, "first": [diagnostic(48, "not-closed",
                                                       "data.size is 0: perf did not close this file; read on to its end")]}
    return rec


def zstd(data, zeros=0, behind=b""):
    """A frame of zstd (RFC 8878) with blocks that are stored, not compressed, and between them one of zeros."""
    size = len(data) + zeros + len(behind)
    blocks = [(0, len(data), data)] + ([(1, zeros, b"\0"), (0, len(behind), behind)] if zeros else [])
    frame = struct.pack("<IBB", 0xFD2FB528, 0x20, size) if size < 256 else struct.pack("<IBI", 0xFD2FB528, 0xA0, size)
    for i, (kind, length, content) in enumerate(blocks, 1):
        frame += struct.pack("<I", (i == len(blocks)) | kind << 1 | length << 3)[:3] + content
    return frame


def compressed(order):
    """A record in two pieces of one stream, one in COMPRESSED2 with padding behind, and one of more than 64 KiB before another."""
    attr = Attr(order, config=9, sample_type=IP | TID)
    rec = Recording(order, [(attr, [])], sums={"passed_over": 65544})

    def sample(ip):
        return struct.pack(order + "IHHQII", 9, 2, 24, ip, 1, 2)

    frame = zstd(sample(0x1000) + sample(0x2000))
    inner = [{"type": "SAMPLE", "size": 24, "misc": ["user"], "event": attr.name(), "ip": ip, "pid": 1, "tid": 2}
             for ip in ("0x1000", "0x2000", "0x3000")]

    def put(kind, name, body, *inside):
        offset = rec.base() + len(rec.data)
        rec.record(kind, name, body)
        for within, line in inside:
            rec.lines.append({"type": "SAMPLE", "offset": offset, "within": within, **line})

    put(81, "COMPRESSED", Bytes(order).raw(frame[:40]).say(compressed_bytes=40), (0, inner[0]))
    put(81, "COMPRESSED", Bytes(order).raw(frame[40:]).say(compressed_bytes=len(frame) - 40), (24, inner[1]))
    last = zstd(sample(0x3000))
    put(83, "COMPRESSED2", Bytes(order).u64("data_size", len(last)).raw(last).say(compressed_bytes=len(last))
        .raw(b"\0" * (-len(last) % 8)), (48, inner[2]))
    large = zstd(struct.pack(order + "IHH", 33000, 1, 16), 65544, sample(0x3000))
    offset = rec.base() + len(rec.data)
    rec.record(81, "COMPRESSED", Bytes(order).raw(large).say(compressed_bytes=len(large)))
    large_one = diagnostic(offset, "unknown-type", "a record of 65552 bytes is passed over")
    rec.lines.append({"type": "diagnostic", "offset": offset, "within": 72, **large_one})
    rec.lines.append({"type": "SAMPLE", "offset": offset, "within": 72 + 65552, **inner[2]})
    return rec


def ids(order):
    """Three events told apart by ID, by STREAM_ID, by IDENTIFIER, none at the other's place; sample_ids too."""
    rec = Recording(order, [(Attr(order, config=9, sample_type=IP | ID, sample_id_all=1), [10]),
                            (Attr(order, config=9, sample_type=TIME | STREAM_ID, sample_id_all=1), [11]),
                            (Attr(order, config=9, sample_type=IDENTIFIER | TID, sample_id_all=1), [12, 13])])

    def new():
        return Bytes(order)

    def comm(tail):
        b = new().u32("pid", 1).u32("tid", 1).string("comm", "x")
        b.data += tail.data
        b.members["sample_id"] = tail.members
        return b

    rec.record(9, "SAMPLE", new().hex("ip", 0x10).u64("id", 10), 2, ["user"], 0)
    rec.record(9, "SAMPLE", new().u64("time", 5).u64("stream_id", 11), 2, ["user"], 1)
    rec.record(9, "SAMPLE", new().u64("identifier", 13).u32("pid", 1).u32("tid", 2), 2, ["user"], 2)
    rec.record(3, "COMM", comm(new().u64("id", 10)), 0, [], 0)
    rec.record(3, "COMM", comm(new().u64("time", 6).u64("stream_id", 11)), 0, [], 1)
    rec.record(3, "COMM", comm(new().u32("pid", 1).u32("tid", 2).u64("identifier", 12)), 0, [], 2)
    return rec


# Images of the mmap area.

def page(order, head, tail, size):
    b = Bytes(order)
    b.u32("version", 0).u32("compat_version", 0).u32("lock", 2).u32("index", 0).u64("offset", 0)
    b.u64("time_enabled", 7).u64("time_running", 8)
    capabilities = {"cap_bit0": 0, "cap_bit0_is_deprecated": 1, "cap_user_rdpmc": 0, "cap_user_time": 1, "cap_user_time_zero": 1,
                    "cap_user_time_short": 0}
    b.put("Q", sum(value << (bit if order == "<" else 63 - bit) for bit, value in enumerate(capabilities.values())))
    b.say(capabilities=capabilities)
    b.u16("pmc_width", 0).u16("time_shift", 31).u32("time_mult", 5).u64("time_offset", 1).u64("time_zero", 2).u32("size", 96)
    b.put("I", 0).u64("time_cycles", 0).hex("time_mask", 0).raw(bytes(928))
    b.u64("data_head", head).u64("data_tail", tail).u64("data_offset", 4096).u64("data_size", size)
    for name in ("aux_head", "aux_tail", "aux_offset", "aux_size"):
        b.u64(name, 0)
    return b


def ring(order, backward=False, overwritten=False, bits=64, origin=0, total=None):
    """A ring of one page whose records wrap: (image, attr in JSON, lines). A kernel of 32 bits has as many in data_head."""
    size = 4096
    attr = {"type": "software", "size": 144, "config": "dummy", "sample_type": ["ip", "time"]}
    if backward:
        attr["write_backward"] = 1
    data = bytearray(size)
    written = []  # (position, bytes, members)
    position, n = (origin, 0) if not backward else (1 << 64, 0)
    total = total or (4096 + 1000 if overwritten or backward else 3000)
    start = origin + 2000 if not overwritten and not backward else origin
    while (position < start + total) if not backward else (position > (1 << 64) - total):
        chain = Bytes(order).string("filename", "x" * (n * 7 % 50))
        b = Bytes(order).u32("pid", n).u32("tid", n).hex("addr", n).hex("len", n).hex("pgoff", n).raw(chain.data)
        b.members["filename"] = "x" * (n * 7 % 50)
        record = struct.pack(order + "IHH", 1, 2, 8 + len(b.data)) + b.data
        if backward:
            position -= len(record)
        written.append((position, record, b.members))
        for i, byte in enumerate(record):
            data[(position + i) % size] = byte
        if not backward:
            position += len(record)
        n += 1
    head = position & (1 << bits) - 1
    if overwritten:
        tail, oldest = 0, position - size
    else:
        tail = 0 if backward else next(at for at, _, _ in written if at >= start)
        oldest = tail
    top = page(order, head, tail & (1 << bits) - 1, size)
    lines = [{"type": "header", "format": "ring", "byte_order": "little" if order == "<" else "big",
              "attrs": [{"attr": attr}], "events": ["dummy"], "page": top.members}]

    def line(at, record, members):
        return {"type": "MMAP", "offset": 4096 + at % size, "size": len(record), "misc": ["user"], **members}

    if backward:
        left = min(size, (1 << 64) - position)
        for at, record, members in reversed(written):
            if not left:
                break
            if len(record) > left:
                lines.append(diagnostic(4096 + at % size, "overwritten",
                                        f"a record of {len(record)} bytes, and {left} are left: newer ones took its place", left))
                break
            lines.append(line(at, record, members))
            left -= len(record)
    else:
        kept = [w for w in written if w[0] >= oldest]
        if overwritten:
            lines.append(diagnostic(4096 + oldest % size, "overwritten",
                                    "the buffer was written more than once around: records before this are lost",
                                    kept[0][0] - oldest))
        lines += [line(*w) for w in kept]
    lines.append(summary(lines, {}))
    return top.data.ljust(4096, b"\0") + bytes(data), attr, lines


FILES = {"kernel-records": lambda o: kernel_records(o, True), "kernel-records-bare": lambda o: kernel_records(o, False),
         "read-formats": read_formats, "samples": samples, "features": features, "tool-records": tool_records, "damaged": damaged,
         "old-file": old_file, "newer-attr": newer_attr, "killed": killed,
         "older-shapes": older_shapes, "simpleperf": simpleperf, "unknown-abi": unknown_abi, "simd": simd,
         "compressed": compressed, "ids": ids}
RINGS = {"ring-wrapped": {}, "ring-backward": {"backward": True}, "ring-overwritten": {"overwritten": True},
         "ring-wrapped-32": {"bits": 32, "origin": (1 << 32) - 3000}, "ring-backward-32": {"bits": 32, "backward": True, "total": 3000}}


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines))


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for order, suffix in (("<", "le"), (">", "be")):
        for name, make in FILES.items():
            recording = make(order)
            (folder / f"{name}.{suffix}.data").write_bytes(recording.file())
            write_lines(folder / f"{name}.{suffix}.jsonl", recording.expected())
        for name, options in RINGS.items():
            image, attr, lines = ring(order, **options)
            (folder / f"{name}.{suffix}.ring").write_bytes(image)
            (folder / f"{name}.{suffix}.attr.json").write_text(json.dumps(attr) + "\n")
            write_lines(folder / f"{name}.{suffix}.jsonl", lines)


if __name__ == "__main__":
    main(sys.argv[1])
