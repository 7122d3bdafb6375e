#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares perfabi-decode's lines with what `perf script -D` prints of the same recording.

usage: perf_script.py TEXT LINES [--at-least N]

TEXT is perf's output (or .gz), LINES perfabi-decode's. Every record that perf prints must be in LINES
with the same offset, type, size, misc and every field that perf prints. Prints how many records and
fields were compared; says the first differences and exits 1 if there are any, or fewer records than N.
"""
import collections
import gzip
import json
import re
import sys

HEAD = re.compile(r"^(?:(-?\d+) )?(\d+) (0x[0-9a-f]+)(?:@\S+)? \[(0x[0-9a-f]+)\]: PERF_RECORD_(\w+)(.*)$")
EVENT = re.compile(r"^(0x[0-9a-f]+)(?:@\S+)? \[(0x[0-9a-f]+)\]: event: (\d+)$")
HEX = re.compile(r"^\.  [0-9a-f]{4}:((?: [0-9a-f]{2})+)")
NAMES = {"ATTR": "HEADER_ATTR", "EVENT_TYPE": "HEADER_EVENT_TYPE", "TRACING_DATA": "HEADER_TRACING_DATA",
         "BUILD_ID": "HEADER_BUILD_ID", "FEATURE": "HEADER_FEATURE"}  # as perf prints them
NO_TIME = ("18446744073709551615", "0")


def number(text, base=10):
    return int(text, base)


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", errors="surrogateescape") as file:
        return file.read().split("\n")


def perf_records(lines):
    """Yields (offset, size, name, cpu, time, rest, block of lines, first bytes) for each record."""
    first, at = {}, 0
    last_event = None
    while at < len(lines):
        line = lines[at]
        event, head = EVENT.match(line), HEAD.match(line)
        if event:
            last_event = (number(event[1], 16), number(event[2], 16), int(event[3]))
            dump = b""
            while at + 1 < len(lines) and (lines[at + 1].startswith(".") or not lines[at + 1]):
                at += 1
                bytes_ = HEX.match(lines[at])
                if bytes_:
                    dump += bytes.fromhex(bytes_[1].replace(" ", ""))[:16]
            first[last_event[:2]] = (last_event[2], dump[:8])
        if head:
            block = []
            while at + 1 < len(lines) and lines[at + 1] and not HEAD.match(lines[at + 1]) and not EVENT.match(lines[at + 1]):
                at += 1
                block.append(lines[at])
            yield (number(head[3], 16), number(head[4], 16), head[5], head[1], head[2], head[6], block, last_event,
                   first.get(last_event[:2]) if last_event else None)
        at += 1


class Differences:
    def __init__(self):
        self.count = collections.Counter()
        self.shown = 0
        self.total = 0

    def equal(self, record, field, ours, theirs):
        self.count[record["type"] + "." + field] += 1
        if ours == theirs:
            return True
        self.total += 1
        if self.shown < 20:
            self.shown += 1
            print(f"offset {record.get('offset')} {record['type']} {field}: perfabi {ours!r}, perf {theirs!r}")
        return False


def hexed(text):
    return "0x%x" % int(text, 16)


def word(value):
    """The text, or where it is no UTF-8 what perf's bytes are."""
    if isinstance(value, dict):
        return bytes.fromhex(value["bytes"]).decode("utf-8", "surrogateescape")
    return value


def two(record, diff, text, first, second):
    pid, tid = text.split("/") if "/" in text else text.split(":")
    for field, value in ((first, pid), (second, tid)):
        diff.equal(record, field, record[field] & 0xffffffff, int(value) & 0xffffffff)


def mmap(record, diff, rest, _block):
    match = re.match(r"\s*(-?\d+)/(-?\d+): \[(0x[0-9a-f]+|0)\((0x[0-9a-f]+|0)\) @ (0x[0-9a-f]+|0)(.*?)\]: (\S+) (.*)$", rest)
    if not match:
        return diff.equal(record, "text", "unparsed", rest)
    two(record, diff, f"{match[1]}/{match[2]}", "pid", "tid")
    for field, value in (("addr", match[3]), ("len", match[4]), ("pgoff", match[5])):
        diff.equal(record, field, record[field], hexed(value))
    if record["type"] == "MMAP2":
        more = match[6].split()
        if more and more[0].startswith("<"):
            diff.equal(record, "build_id", record["build_id"], more[0].strip("<>"))
        elif more:
            maj, minor = more[0].split(":")
            for field, value in (("maj", int(maj, 16)), ("min", int(minor, 16)), ("ino", int(more[1])),
                                 ("ino_generation", int(more[2]))):
                diff.equal(record, field, record[field], value)
        prot = "".join(letter if name in record["prot"] else "-"
                       for letter, name in zip("rwx", ("read", "write", "exec")))
        diff.equal(record, "prot", prot + ("s" if "shared" in record["flags"] else "p"), match[7])
    else:
        diff.equal(record, "misc.data", "mmap_data" in record["misc"], match[7] == "r")
    diff.equal(record, "filename", word(record["filename"]), match[8])


def comm(record, diff, rest, _block):
    match = re.match(r"( exec)?: (.*):(-?\d+)/(-?\d+)$", rest)
    diff.equal(record, "misc.exec", "comm_exec" in record["misc"], bool(match[1]))
    diff.equal(record, "comm", word(record["comm"]), match[2])
    two(record, diff, f"{match[3]}/{match[4]}", "pid", "tid")


def fork(record, diff, rest, _block):
    match = re.match(r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)$", rest)
    two(record, diff, f"{match[1]}/{match[2]}", "pid", "tid")
    two(record, diff, f"{match[3]}/{match[4]}", "ppid", "ptid")


def lost(record, diff, rest, _block):
    match = re.match(r": id:(\d+): lost:(\d+)$", rest)
    diff.equal(record, "id", record["id"], int(match[1]))
    diff.equal(record, "lost", record["lost"], int(match[2]))


def lost_samples(record, diff, rest, _block):
    match = re.search(r"lost (\d+)", rest)
    if match:
        diff.equal(record, "lost", record["lost"], int(match[1]))


def switch(record, diff, rest, _block):
    diff.equal(record, "misc.out", "switch_out" in record["misc"], " OUT" in rest)
    diff.equal(record, "misc.preempt", "switch_out_preempt" in record["misc"], "preempt" in rest)
    match = re.search(r"pid/tid:\s*(\d+)/(\d+)", rest)
    if match:
        two(record, diff, f"{match[1]}/{match[2]}", "next_prev_pid", "next_prev_tid")


def namespaces(record, diff, rest, block):
    match = re.match(r"\s*(\d+)/(\d+) - nr_namespaces: (\d+)$", rest)
    two(record, diff, f"{match[1]}/{match[2]}", "pid", "tid")
    theirs = {name: (int(dev), int(inode, 0))
              for name, dev, inode in re.findall(r"\d/(\w+): (\d+)/(0x[0-9a-f]+|0)", " ".join(block))}
    ours = {n["name"]: (n["dev"], n["inode"]) for n in record["namespaces"]}
    diff.equal(record, "namespaces", ours, theirs)
    diff.equal(record, "nr", len(record["namespaces"]), int(match[3]))


def cgroup(record, diff, rest, _block):
    match = re.match(r" cgroup: (\d+) (.*)$", rest)
    diff.equal(record, "id", record["id"], int(match[1]))
    diff.equal(record, "path", word(record["path"]), match[2])


def ksymbol(record, diff, rest, _block):
    match = re.match(r" addr ([0-9a-f]+) len (\d+) type (\d+) flags (0x[0-9a-f]+) name (.*)$", rest)
    diff.equal(record, "addr", record["addr"], hexed(match[1]))
    diff.equal(record, "len", record["len"], int(match[2]))
    diff.equal(record, "ksym_type", record["ksym_type"], {1: "bpf", 2: "ool"}.get(int(match[3]), "unknown"))
    diff.equal(record, "flags", record["flags"], ["unregister"] if int(match[4], 16) & 1 else [])
    diff.equal(record, "name", record["name"], match[5])


def bpf_event(record, diff, rest, _block):
    match = re.match(r" type (\d+), flags (\d+), id (\d+)$", rest)
    diff.equal(record, "bpf_type", record["bpf_type"], ["unknown", "prog_load", "prog_unload"][int(match[1])])
    diff.equal(record, "flags", record["flags"], hex(int(match[2])))
    diff.equal(record, "id", record["id"], int(match[3]))


def read_record(record, diff, rest, block):
    match = re.match(r": (\d+) (\d+) (\S+) (\d+)$", rest)
    two(record, diff, f"{match[1]}/{match[2]}", "pid", "tid")
    diff.equal(record, "value", record["value"], int(match[4]))
    for line in block:
        field = re.match(r"\.\.\. (time enabled|time running|id|lost)\s*: (\d+)$", line)
        if field:
            name = field[1].replace(" ", "_")
            diff.equal(record, name, record[name], int(field[2]))


def aux(record, diff, rest, _block):
    match = re.match(r" offset: (0x[0-9a-f]+|0) size: (0x[0-9a-f]+|0) flags: (0x[0-9a-f]+|0)", rest)
    diff.equal(record, "aux_offset", record["aux_offset"], hexed(match[1]))
    diff.equal(record, "aux_size", record["aux_size"], int(match[2], 0))


def id_index(record, diff, rest, block):
    diff.equal(record, "nr", record["nr"], int(rest.split()[-1]))
    for entry, line in zip(record["entries"], block):
        match = re.match(r" \.\.\. id: (\d+)  idx: (\d+)  cpu: (-?\d+)  tid: (-?\d+)", line)
        diff.equal(record, "entry", [entry[k] for k in ("id", "idx", "cpu", "tid")], [int(n) for n in match.groups()])


def event_update(record, diff, _rest, block):
    for line in block:
        match = re.match(r"\.\.\. (id|unit|scale|name):\s*(.*)$", line)
        if not match:
            continue
        if match[1] == "scale":
            diff.equal(record, "scale", "%f" % record["scale"], match[2])
        else:
            diff.equal(record, match[1], str(record[match[1]]), match[2])


def thread_map(record, diff, rest, _block):
    diff.equal(record, "pids", [e["pid"] for e in record["entries"]], [int(n) for n in re.findall(r"thread: (-?\d+)", rest)])


CONTEXTS = {"hv": -32, "kernel": -128, "user": -512, "user_deferred": -640, "guest": -2048, "guest_kernel": -2176,
            "guest_user": -2560}


def chain_values(record):
    for entry in record["callchain"]:
        if isinstance(entry, dict):
            context = entry["context"]
            yield int(context, 16) if context.startswith("0x") else CONTEXTS[context] & 0xffffffffffffffff
            if "cookie" in entry:
                yield int(entry["cookie"], 16)
        else:
            yield int(entry, 16)


def registers(record, diff, block, at, field, abi):
    theirs = {}
    for line in block[at + 1:]:
        match = re.match(r"\.{4} (\w+)\s+(0x[0-9a-f]+)$", line)
        if not match:
            break
        theirs[match[1].lower()] = hexed(match[2])
    ours = record[field]
    diff.equal(record, field + ".abi", str(ours["abi"]), {"64-bit": "64", "32-bit": "32", "none": "none"}.get(abi, abi))
    diff.equal(record, field, ours.get("regs", {}), theirs)


def group_read(record, diff, block, at):
    read, values = record["read"], []
    for line in block[at + 1:]:
        match = re.match(r"\.{6} time (enabled|running) ([0-9a-f]+)$", line)
        if match:
            diff.equal(record, "read.time_" + match[1], read["time_" + match[1]], int(match[2], 16))
            continue
        match = re.match(r"\.{5} id ([0-9a-f]+), value ([0-9a-f]+)(?:, lost ([0-9a-f]+))?$", line)
        if match:
            values.append([int(v, 16) for v in match.groups() if v])
        elif not line.startswith(".... group nr"):
            break
    ours = [[v[k] for k in ("id", "value", "lost") if k in v] for v in read.get("values", [read])]
    diff.equal(record, "read.values", ours, values)


def sample(record, diff, rest, block):
    match = re.match(r"\(IP, (0x[0-9a-f]+|0)\): (-?\d+)/(-?\d+): (0x[0-9a-f]+|0) period: (\d+) addr: (0x[0-9a-f]+|0)$", rest)
    if not match:
        return diff.equal(record, "text", "unparsed", rest)
    names = {"kernel": 1, "user": 2, "hypervisor": 3, "guest_kernel": 4, "guest_user": 5, "exact_ip": 0x4000}
    diff.equal(record, "misc", sum(names[m] for m in record["misc"]), int(match[1], 16))
    if "pid" in record:
        two(record, diff, f"{match[2]}/{match[3]}", "pid", "tid")
    if "ip" in record:
        diff.equal(record, "ip", record["ip"], hexed(match[4]))
    if "period" in record:
        diff.equal(record, "period", record["period"], int(match[5]))
    if "addr" in record:
        diff.equal(record, "addr", record["addr"], hexed(match[6]))
    for at, line in enumerate(block):
        found = re.match(r"\.\.\. (?:FP|LBR) chain: nr:(\d+)$", line)
        if found:
            ips = [int(m[1], 16) for m in (re.match(r"\.{5}\s*\d+: ([0-9a-f]+)$", l)
                                           for l in block[at + 1:at + 1 + int(found[1])]) if m]
            diff.equal(record, "callchain", list(chain_values(record)), ips)
        for pattern, field, value in (
                (r"\s*\. data_src: (0x[0-9a-f]+|0)$", None, None),
                (r"\s*\.\. phys_addr: (0x[0-9a-f]+|0)$", "phys_addr", hexed),
                (r"\s*\.\.\. weight: (\d+)", "weight", int),
                (r"\s*\.\.\. transaction: ([0-9a-f]+)$", None, None)):
            found = re.match(pattern, line)
            if found and field and field in record:
                diff.equal(record, field, record[field], value(found[1]))
            elif found and "data_src" in pattern and "data_src" in record:
                diff.equal(record, "data_src", data_src(record["data_src"]), int(found[1], 16))
        found = re.match(r"\.\.\. (user|intr) regs: mask (0x[0-9a-f]+) ABI (\S+)$", line)
        if found:
            registers(record, diff, block, at, "regs_" + found[1], found[3])
        found = re.match(r"\.\.\. ustack: size (\d+), offset (0x[0-9a-f]+)$", line)
        if found:
            stack = record["stack_user"]
            diff.equal(record, "stack_user.dyn_size", stack["dyn_size"], int(found[1]))
        found = re.match(r"\.\.\. branch (?:stack|callstack): nr:(\d+)$", line)
        if found:
            diff.equal(record, "branch_stack.nr", record["branch_stack"]["nr"], int(found[1]))
        if line == "... sample_read:":
            group_read(record, diff, block, at)


def data_src(members):
    """The word that the members were cut from, by perf_event.h."""
    places = {"mem_op": (0, ["na", "load", "store", "pfetch", "exec"]),
              "mem_lvl": (5, ["na", "hit", "miss", "l1", "lfb", "l2", "l3", "loc_ram", "rem_ram1", "rem_ram2", "rem_cce1",
                              "rem_cce2", "io", "unc"]),
              "mem_snoop": (19, ["na", "none", "hit", "miss", "hitm"]), "mem_lock": (24, ["na", "locked"]),
              "mem_dtlb": (26, ["na", "hit", "miss", "l1", "l2", "wk", "os"]), "mem_snoopx": (38, ["fwd", "peer"]),
              "mem_blk": (40, ["na", "data", "addr"])}
    numbers = {"mem_lvl_num": (33, {"l1": 1, "l2": 2, "l3": 3, "l4": 4, "ram": 13, "pmem": 14, "na": 15, "any_cache": 11,
                                    "lfb": 12}), "mem_remote": (37, {"remote": 1}), "mem_hops": (43, {"0": 1, "1": 2})}
    total = 0
    for name, value in members.items():
        if name in places:
            shift, bits = places[name]
            total |= sum(1 << bits.index(bit) for bit in value) << shift
        else:
            shift, values = numbers[name]
            total |= values[value] << shift
    return total


PARSERS = {"MMAP": mmap, "MMAP2": mmap, "COMM": comm, "FORK": fork, "EXIT": fork, "LOST": lost, "LOST_SAMPLES": lost_samples,
           "SWITCH": switch, "SWITCH_CPU_WIDE": switch, "NAMESPACES": namespaces, "CGROUP": cgroup, "KSYMBOL": ksymbol,
           "BPF_EVENT": bpf_event, "READ": read_record, "AUX": aux, "ID_INDEX": id_index, "EVENT_UPDATE": event_update,
           "THREAD_MAP": thread_map, "SAMPLE": sample}


def time_of(record):
    return record.get("time") if record["type"] == "SAMPLE" else record.get("sample_id", {}).get("time")


def main(text, lines, at_least):
    ours, before = collections.defaultdict(list), 0
    for line in read(lines):
        if line:
            record = json.loads(line)
            if record.get("format") == "perf.data pipe":
                before = 16  # perf counts from behind the pipe's header
            if "offset" in record and record["type"] != "diagnostic":
                ours[record["offset"], record["size"], record["type"]].append(record)
    diff, records = Differences(), 0
    for offset, size, name, cpu, time, rest, block, event, first in perf_records(read(text)):
        offset, name = offset + before, NAMES.get(name, name)
        found = ours[offset, size, name]
        same_time = [r for r in found if time in NO_TIME or time_of(r) in (None, int(time))]
        if not same_time:
            diff.equal({"type": name, "offset": offset}, "record", None, (size, time, rest))
            continue
        record = same_time[0]
        found.remove(record)
        records += 1
        if time_of(record) is not None and time != NO_TIME[0]:
            diff.equal(record, "time", time_of(record), int(time))
        where = record if name == "SAMPLE" else record.get("sample_id", {})
        if cpu is not None and cpu != "-1" and "cpu" in where:
            diff.equal(record, "cpu", where["cpu"], int(cpu))
        if name in PARSERS:
            PARSERS[name](record, diff, rest, block)
    kinds = collections.Counter()
    for field, count in diff.count.items():
        kinds[field.split(".")[0]] += count
    print(f"{records} records, {sum(kinds.values())} fields: "
          + ", ".join(f"{name} {count}" for name, count in sorted(kinds.items())))
    if diff.total:
        print(f"{diff.total} differences")
    return 1 if diff.total or records < at_least else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[4]) if len(sys.argv) > 4 else 1))
