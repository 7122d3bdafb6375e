#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings that are made to cost much: the time they take grows as they do, and memory and output are bounded.

usage: hostile.py PERFABI-DECODE [DOUBLINGS]

Each kind is written at a size, at twice that size, and so on. The last may take three times as much
processor time for a byte as the first (what cannot be measured better on a machine that others use);
what grows with the square takes 2^(DOUBLINGS-1) times as much.
"""
import os
import struct
import subprocess
import sys
import tempfile

KIB = 1024
MEMORY = 16 * KIB  # KiB of resident memory
GROWTH = 64        # bytes of output for one of input, and ...
FREE = 128 << 20   # ... so many for compressed data, which may grow by itself
FLOOR = 0.01       # seconds: what starting takes, and no less can be measured
RATIO = 3


def perfdata(attrs, data, features=b"", bits=0):
    """A little-endian perf.data: attrs are (bytes of an attr, offset and size of its ids), behind ids that come first."""
    entry = len(attrs[0][0]) + 16
    ids_size = max((offset + size - 104 for _, offset, size in attrs if size), default=0)
    attrs_at = 104 + ids_size
    data_at = attrs_at + entry * len(attrs)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ4Q", 104, entry, attrs_at, entry * len(attrs), data_at, len(data), 0, 0, bits, 0, 0, 0)
    return head, b"".join(a + struct.pack("<QQ", o, s) for a, o, s in attrs) + data + features


def attr(sample_type=1 << 16, config=9):
    return struct.pack("<IIQQQQQ", 1, 64, config, 0, sample_type, 0, 1 << 18) + bytes(16)


ROUND = struct.pack("<IHH", 68, 0, 8)


def ids_file(ids, attrs):
    head, rest = perfdata(attrs, ROUND)
    return head + b"".join(struct.pack("<Q", i) for i in ids) + rest


def shared_ids(n):
    """Attrs that all have the same ids."""
    return ids_file(range(1, 100 * n), [(attr(), 104, 8 * (100 * n - 1))] * n)


def colliding_ids(n):
    """Ids that a table with a multiplicative hash of no seed would put in one place."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    ids = [(i << 44) * inverse % (1 << 64) for i in range(1, 200 * n)]
    return ids_file(ids, [(attr(), 104, 8 * len(ids))])


def late_failures(n):
    """Behind a header that cannot be, headers that all could, of records that fail at their very end."""
    one = struct.pack("<IHHQ", 9, 2, 0xFFF8, 0xA8C)
    head, rest = perfdata([(attr(1 << 10 | 1 << 11), 0, 0)], bytes(8) + one * (4096 * n))
    return head + rest


def nothing(n):
    """Zeros, each eight of which are a record of no size."""
    head, rest = perfdata([(attr(), 0, 0)], bytes(16384 * n))
    return head + rest


def many_shapes(n):
    """Sixty attrs of different fields, and samples whose ids none of them has."""
    attrs = [(attr(1 << 16 | 1 << 6 | i), 0, 0) for i in range(60)]
    head, rest = perfdata(attrs, struct.pack("<IHHQQQQ", 9, 0, 40, 1, 2, 3, 4) * (128 * n))
    return head + rest


def zstd_zeros(n):
    """A few bytes of zstd that stand for megabytes of one."""
    block = struct.pack("<I", 1 << 1 | (128 * KIB) << 3)[:3] + b"\x08"
    frame = struct.pack("<IBB", 0xFD2FB528, 0, 0x50) + block * (50 * n)
    records = b"".join(struct.pack("<IHH", 81, 0, 8 + len(frame[i:i + 60000])) + frame[i:i + 60000]
                       for i in range(0, len(frame), 60000))
    head, rest = perfdata([(attr(), 0, 0)], records)
    return head + rest


def feature_of(bit, section):
    def make(_):
        head, rest = perfdata([(attr(), 0, 0)], ROUND, b"", 1 << bit)
        at = len(head) + len(rest) + 16
        return head + rest + struct.pack("<QQ", at, len(section)) + section
    return make


def event_desc():
    entry = b"\xff" * 4 + struct.pack("<I", 64) + b"\xff" * 56 + struct.pack("<II", 0, 0)
    count = ((1 << 20) - 8) // len(entry)
    return struct.pack("<II", count, 64) + entry * count


def strings(byte):
    n = ((1 << 20) - 8) // 68
    return struct.pack("<I", n) + (struct.pack("<I", 64) + byte * 64) * n


KINDS = {"shared ids": shared_ids, "colliding ids": colliding_ids, "late failures": late_failures, "nothing": nothing,
         "many shapes": many_shapes, "zstd": zstd_zeros}
SECTIONS = {"1 MiB of attrs": feature_of(12, event_desc()), "1 MiB of controls": feature_of(11, strings(b"\x01")),
            "1 MiB of no UTF-8": feature_of(11, strings(b"\xff")),
            "1 MiB of index": feature_of(18, struct.pack("<Q", 65535) + b"\xff" * 16 * 65535)}


def measure(decode, path):
    """Processor seconds, peak KiB, bytes of output."""
    size = 0
    # What a process forked from this one uses at most is what this one does: time(1) is small.
    with subprocess.Popen(["time", "-f", "%U %S %M", decode, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        while chunk := run.stdout.read(1 << 20):
            size += len(chunk)
        told = run.stderr.read().split()
    assert run.returncode in (0, 1), told
    return float(told[-3]) + float(told[-2]), int(told[-1]), size


def main():
    decode, doublings, wrong = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 6, 0
    print(f"{'':18}{'input':>12}{'seconds':>9}{'KiB':>8}{'output':>12}")
    for name, make in {**KINDS, **SECTIONS}.items():
        first = None
        for step in range(doublings if name in KINDS else 1):
            with tempfile.NamedTemporaryFile() as file:
                file.write(make(16 << step))
                file.flush()
                size = os.path.getsize(file.name)
                seconds, memory, output = min(measure(decode, file.name) for _ in range(2))
            bad = []
            first = first or (max(seconds, FLOOR), size)
            if seconds / size > RATIO * first[0] / first[1]:
                bad.append(f"{seconds / size / (first[0] / first[1]):.1f} times the time for a byte")
            if memory > MEMORY:
                bad.append("memory")
            if output > GROWTH * size + (FREE if name == "zstd" else 0):
                bad.append("output")
            print(f"{name:18}{size:12}{seconds:9.3f}{memory:8}{output:12} {', '.join(bad)}", flush=True)
            wrong += len(bad)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
