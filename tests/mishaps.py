#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages recordings in many ways and places: every record that the damage did not touch must come out as before.

usage: mishaps.py PERFABI-DECODE SCRATCH-FILE RECORDING.gz...
"""
import gzip
import json
import os
import random
import sys

from decoded import decode

TRIALS = 2 if os.environ.get("TEST_WHOLE") else 1


def records(lines):
    return [line for line in lines if "size" in line and line["type"] not in ("header", "diagnostic")]


def mishaps(rng, data, all_records):
    """(what, at, bytes there before, bytes there after)."""
    first, last = all_records[0]["offset"], all_records[-1]["offset"]
    order = "big" if data[:8] == b"2ELIFREP" else "little"

    def header(kind, size):
        return kind.to_bytes(4, order) + b"\0\0" + size.to_bytes(2, order)

    anywhere = [("1000 bytes of ff", 1000, b"\xff" * 1000), ("1000 zeros", 1000, b"\0" * 1000),
                ("1000 bytes at random", 1000, rng.randbytes(1000)), ("64 bytes at random", 64, rng.randbytes(64)),
                ("a byte gone", 1, b""), ("3 bytes gone", 3, b""), ("8 bytes gone", 8, b""), ("5 bytes more", 0, b"\1\2\3\4\5")]
    for what, before, after in anywhere:
        yield what, rng.randrange(first, last - 1000), before, after
    begins = {record["offset"] for record in all_records}
    for kind, size in ((99, 16), (9, 65535), (9, 65528), (99, 65528), (0xffffffff, 4096), (9, 0), (3, 7)):
        record = rng.choice([record for record in all_records if not size or record["offset"] + size not in begins])  # else who could tell
        yield f"type {kind}, size {size}", record["offset"], 8, header(kind, size)


def lost(all_records, lines, at, before, after):
    """Untouched records that are not in the output, where they now are. Names and formats of events are behind the records, in sections
    that may be where nobody finds them."""
    def one(line):
        known = {key: value for key, value in line.items() if key not in ("event", "raw", "common")}
        return json.dumps({**known, "named": "event" in line, "traced": "raw" in line}, sort_keys=True)

    there = {one(line) for line in records(lines)}
    for record in all_records:
        if record["offset"] + record["size"] <= at:
            shift = 0
        elif record["offset"] >= at + before:
            shift = len(after) - before
        else:
            continue
        if one({**record, "offset": record["offset"] + shift}) not in there:
            yield record


def main():
    program, path, *recordings = sys.argv[1:]
    rng = random.Random(1)
    for recording in recordings:
        with gzip.open(recording) as file:
            data = file.read()
        all_records = records(decode(program, path, data)[1])
        for _ in range(TRIALS):
            for what, at, before, after in mishaps(rng, data, all_records):
                _, lines = decode(program, path, data[:at] + after + data[at + before:])
                gone = list(lost(all_records, lines, at, before, after))
                if len(after) != before:
                    # The header says where the data end, as before; and what the record that is hit lacks, it takes of the next.
                    behind = [record for record in all_records if record["offset"] >= at + before]
                    gone = [record for record in gone if record not in (behind[0], behind[-1])]
                assert not gone, f"{recording}: {what} at {at}: {len(gone)} records are gone, the first at {gone[0]['offset']}"
        print(f"{recording}: {len(all_records)} records, none lost by what did not touch it")


if __name__ == "__main__":
    main()
