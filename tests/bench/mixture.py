#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording as a developer makes it: several software events, of user and kernel, of a compiler, find(1) and git(1).

usage: mixture.py FILE [BYTES]

Records into FILE, with perf, and repeats the records until there are at least so many bytes (60 MB): nothing else takes
as long to make. Needs root.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

EVENTS = ("cpu-clock", "task-clock", "page-faults", "context-switches")
WORK = """
for file in decoder/abi/abi.c decoder/input/ring.c decoder/stream/events.c decoder/text/json.c; do
	cc -std=c11 -D_GNU_SOURCE -Idecoder -Idecoder/include -O2 -c -o "$1/object" "$file"
done
find /usr -name '*.h'
git log --stat -300
"""
DATA_SIZE, FEATURES = 48, 72  # places in the header of a perf.data


def record(path):
    with tempfile.TemporaryDirectory() as folder:
        events = [word for event in EVENTS for word in ("-e", event)]
        subprocess.run(["perf", "record", "-q", "-F", "4000", "-m", "1024", "-o", str(path), *events, "--", "sh", "-c", WORK, "sh", folder],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def repeat(path, least):
    """Its data as often as it takes; the feature sections behind them move."""
    whole = bytearray(path.read_bytes())
    offset, size = struct.unpack_from("=QQ", whole, DATA_SIZE - 8)
    times, end = -(-least // size), offset + size
    for bit in range(bin(int.from_bytes(whole[FEATURES:FEATURES + 32], sys.byteorder)).count("1")):
        section, = struct.unpack_from("=Q", whole, end + 16 * bit)
        struct.pack_into("=Q", whole, end + 16 * bit, section + size * (times - 1))
    struct.pack_into("=Q", whole, DATA_SIZE, size * times)
    path.write_bytes(whole[:offset] + whole[offset:end] * times + whole[end:])


def main(path, least="60000000"):
    path = pathlib.Path(path)
    record(path)
    repeat(path, int(least))


if __name__ == "__main__":
    main(*sys.argv[1:])
