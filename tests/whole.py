#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what perfabi-decode makes of a recording as a whole against itself, and against perf.

usage: whole.py PERFABI-DECODE RECORDING [--perf]

Profiles (folded, pprof, firefox) of each event are made again of the lines of --join, and of what `perf script` prints. With --perf, --sort and
--join have the order, threads, addresses and files of `perf script`, and the summary has the counts of `perf report --stats`. RECORDING is a
file, or a folder of `perf record --threads`. Prints what was compared.
"""
import collections
import json
import os
import re
import subprocess
import sys

from pprof import profile

HEAD = re.compile(r"^(.*?) +(-?\d+) +(\d+)\.(\d{9}): *(.*)$")
FRAME = re.compile(r"^\s*([0-9a-f]+)(?: \((.*)\))?$")


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode > 1:  # 1: a recording that says of itself what is wrong
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def samples(program, recording, *options):
    lines = map(json.loads, output(program, *options, "--type", "sample", "--no-summary", recording).splitlines())
    return [line for line in lines if line["type"] == "SAMPLE"]


def same(what, one, other):
    """Of Counters and lists, the first elements that differ."""
    if one != other:
        if isinstance(one, collections.Counter):
            left, right = list((one - other).items())[:2], list((other - one).items())[:2]
        else:
            left, right = next(((a, b) for a, b in zip(one, other) if a != b), (len(one), len(other)))
        sys.exit(f"{what}: {left}\nnot {right}")


def label(frame):
    return f"{os.path.basename(frame['object']) or frame['object']}+{frame['object_offset']}" if "object" in frame else "[unknown]"


def text(comm):
    return comm if isinstance(comm, str) else comm["text"]


def stack(sample):
    """From the outermost frame to the innermost."""
    return tuple(label(frame) for frame in reversed(sample["frames"]))


def fold(all_samples):
    return collections.Counter((text(sample["comm"]), *stack(sample)) for sample in all_samples)


def folded(program, recording, event):
    counts = collections.Counter()
    for line in output(program, "--format", "folded", "--event", event, recording).decode().splitlines():
        names, count = line.rsplit(" ", 1)
        counts[tuple(names.split(";"))] += int(count)
    return counts


def check_pprof(program, recording, joined):
    types, found, mappings = profile(output(program, "--format", "pprof", recording))
    same("pprof's events", sorted({sample["event"] for sample in joined} - set(types[1:])), [])
    counts, periods = collections.Counter(), collections.Counter()
    for names, labels, values in found:
        counts[(labels["comm"], *reversed(names))] += values[0]
        periods.update(dict(zip(types[1:], values[1:])))
    same("pprof's stacks", counts, fold(joined))
    header = json.loads(output(program, "--header", recording).splitlines()[0])
    attrs = [one["attr"] for one in header.get("attrs", [])]  # a pipe has records of them
    fixed = {event: 1 if "freq" in attr else attr.get("sample_period", 1) for event, attr in zip(header.get("events", []), attrs)}
    wanted = collections.Counter()
    for sample in joined:
        wanted[sample["event"]] += sample.get("period") or fixed[sample["event"]]
    same("pprof's periods", +periods, +wanted)
    same("pprof's files", mappings, {(frame["object"], frame.get("build_id", "")) for sample in joined for frame in sample["frames"] if "object" in frame})


def firefox_samples(thread):
    stacks, frames, strings = thread["stackTable"]["data"], thread["frameTable"]["data"], thread["stringTable"]
    whole = []
    for at, (prefix, frame) in enumerate(stacks):
        assert prefix is None or 0 <= prefix < at, "a stack whose prefix comes behind it"
        assert 0 <= frame < len(frames) and 0 <= frames[frame][0] < len(strings), "an index that is out of range"
        whole.append((() if prefix is None else whole[prefix]) + (strings[frames[frame][0]],))
    for at, time, _ in thread["samples"]["data"]:
        assert at is None or 0 <= at < len(whole), "a sample without a stack"
        yield thread["tid"], thread["pid"], time, () if at is None else whole[at]


def check_firefox(program, recording, joined, event):
    def name(frame):
        return f"{label(frame)} (in {frame.get('object', '[unknown]')})"

    found = json.loads(output(program, "--format", "firefox", "--event", event, recording))
    same("firefox's samples", collections.Counter(one for thread in found["threads"] for one in firefox_samples(thread)), collections.Counter(
        (sample["tid"], sample["pid"], sample["time"] / 1e6, tuple(map(name, reversed(sample["frames"])))) for sample in joined))
    comms = {sample["tid"]: text(sample["comm"]) for sample in joined}
    same("firefox's threads", {thread["tid"]: thread["name"] for thread in found["threads"]}, comms)


def check_sorted(program, recording):
    """The same records, in the order of their time; those that the recording has too late are said to be."""
    def records(*options):
        lines = map(json.loads, output(program, *options, "--no-summary", recording).splitlines())
        return [line for line in lines if "misc" in line or line["type"] == "diagnostic"]

    plain, found = records(), records("--sort")
    times = [(line if line["type"] == "SAMPLE" else line.get("sample_id", {})).get("time") for line in found]
    times = [time for time in times if time]  # perf, too, sorts nothing whose time is 0
    late = [line for line in found if line.get("code") == "late"]
    same("times", times, times if late else sorted(times))
    same("records", *(collections.Counter(json.dumps(line) for line in lines if line.get("code") != "late") for lines in (plain, found)))


def perf_script(recording, *options):
    """(comm, tid, time, [(address, file)]) of each sample."""
    found = []
    for line in output("perf", "script", "-i", recording, "--ns", "--no-inline", *options).decode(errors="replace").splitlines():
        head = HEAD.match(line)
        if head and not FRAME.match(line):
            found.append((head[1].strip(), int(head[2]), int(head[3] + head[4]), []))
            line = head[5]
        frame = FRAME.match(line)
        if frame:
            found[-1][3].append((int(frame[1], 16), frame[2]))
    return found


def known(file):
    """perf may find the kernel's own file, and looks for names of what has no file."""
    if file.startswith("[kernel.kallsyms]") or "vmlinux" in file:
        return "[kernel]"
    return re.sub(r"^(//anon|/dev/zero|/anon_hugepage).*|^/tmp/perf-\d+\.map$", "[anon]", file)


def one_frame(frame, perfs):
    """perf prints the address or the place in the file; where it is either, it is perf's."""
    places = {int(frame["ip"], 16), int(frame.get("object_offset", frame["ip"]), 16)}
    return perfs[0] if perfs[0] in places else min(places), known(frame.get("object", "[unknown]"))


def is_corrupt(sample):
    """perf drops a call chain that has an entry like a context which there is not, such as -1; perfabi-decode leaves out the entry."""
    return any(isinstance(entry, dict) and entry["context"].startswith("0x") for entry in sample.get("callchain", []))


def check_perf(program, recording, joined):
    order = [(tid, time, frames[0][0]) for _, tid, time, frames in perf_script(recording, "-F", "comm,tid,time,ip", "-G")]
    same("--sort", [(sample["tid"], sample["time"], int(sample["ip"], 16)) for sample in samples(program, recording, "--sort")], order)
    chains = perf_script(recording, "-F", "comm,tid,time,ip,dso")
    same("--join", [(text(sample["comm"]).strip(), sample["tid"], sample["time"], 0 if is_corrupt(sample) else len(sample["frames"])) for sample in joined],
         [(comm, tid, time, len(frames)) for comm, tid, time, frames in chains])
    for sample, (*_, frames) in zip(joined, chains):
        same(f"--join at {sample['time']}", [one_frame(*both) for both in zip(sample["frames"], frames)],
             [(address, known(file)) for address, file in frames])
    stats = output("perf", "report", "--stats", "-i", recording).decode()
    counts = {name: int(count) for name, count in re.findall(r"^ +(\w+) events: +(\d+)", stats.split(" stats:")[1], re.MULTILINE)}
    records = json.loads(output(program, recording).splitlines()[-1])["records"]
    same("the summary", records, {name: count for name, count in counts.items() if name != "TOTAL" and count})
    return chains


def fold_perf(chains):
    """Of call chains in files perf prints the places in the file."""
    counts = collections.Counter()
    for comm, _, _, frames in chains:
        counts[(comm, *("[unknown]" if file == "[unknown]" else f"{os.path.basename(file)}+{address:#x}" for address, file in reversed(frames)))] += 1
    return counts


def main():
    program, recording = sys.argv[1:3]
    joined = samples(program, recording, "--join")
    events = collections.Counter(sample["event"] for sample in joined)
    for event in events:
        own = [sample for sample in joined if sample["event"] == event]
        same("folded", folded(program, recording, event), fold(own))
        check_firefox(program, recording, own, event)
    check_pprof(program, recording, joined)
    check_sorted(program, recording)
    print(f"{os.path.basename(recording)}: {dict(events)}, {sum(len(sample['frames']) for sample in joined)} frames", end="")
    if "--perf" in sys.argv:
        chains = check_perf(program, recording, joined)
        if len(events) == 1 and all("callchain" in sample for sample in joined) and os.path.isfile(recording):  # of other processes anything may come
            same("folded and perf", folded(program, recording, *events) - fold(filter(is_corrupt, joined)), fold_perf(one for one in chains if one[3]))
        print(", as perf has them", end="")
    print()


if __name__ == "__main__":
    main()
