#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Streams of zstd blocks by hand (RFC 8878), and what must come out of them.

usage: zstd_stream.py PERFABI-DECODE SCRATCH-FILE

A block of one byte repeated stands for 128 KiB. Of the byte 8, each 2056 bytes are a record: of a type
that nobody knows, 0x08080808, and of that size.
"""
import json
import struct
import subprocess
import sys

from build_fixtures import IP, Attr, Recording

BLOCK, RECORD = 128 * 1024, 0x0808
SAME = struct.pack("<I", 1 << 1 | BLOCK << 3)[:3] + b"\x08"
ZEROS = struct.pack("<I", 1 << 1 | BLOCK << 3)[:3] + b"\0"
BAD = struct.pack("<I", 3 << 1)[:3]  # a type that is reserved


def frame(*blocks):
    return struct.pack("<IBB", 0xFD2FB528, 0, 0x50) + b"".join(blocks)


def decode(program, path, *payloads):
    rec = Recording("<", [(Attr("<", config=9, sample_type=IP), [])])
    for payload in payloads:
        rec.record(81, "COMPRESSED", payload)
    with open(path, "wb") as file:
        file.write(rec.file())
    outputs = []
    for options in ([], ["-j2"]):
        run = subprocess.run([program, *options, path], capture_output=True, check=False)
        outputs.append((run.returncode, run.stdout))
    assert outputs[0] == outputs[1], "--jobs changes the output"
    run = subprocess.run([program], input=rec.file(), capture_output=True, check=False)
    assert outputs[0] == (run.returncode, run.stdout), "a pipe changes the output"
    status, text = outputs[0]
    shards = [subprocess.run([program, "--shard", f"{n}/3", path], capture_output=True, check=False).stdout for n in (1, 2, 3)]
    assert b"".join(shards) == b"".join(text.splitlines(True)[:-1]), "--shard changes the output"
    lines = [json.loads(line) for line in text.splitlines()]
    return status, [line for line in lines if line["type"] == "UNKNOWN"], \
        [(line["code"], line.get("skipped", 0)) for line in lines if line["type"] == "diagnostic" and line["code"] != "unknown-type"]


def expect(what, got, records, diagnostics):
    _, lines, found = got
    wanted = [n * RECORD for n in range(records)]
    assert [line["within"] for line in lines] == wanted, f"{what}: {len(lines)} records for {records}"
    assert found == diagnostics, f"{what}: {found} for {diagnostics}"
    print(f"{what}: {records} records, {diagnostics}")


def main():
    program, path = sys.argv[1:]
    whole, left = divmod(7 * BLOCK, RECORD)
    # 896 KiB of a record that is 34 bytes long: more than is decompressed at a time.
    expect("tail", decode(program, path, frame(*[SAME] * 7)), whole, [("truncated", left)])
    expect("two pieces", decode(program, path, frame(*[SAME] * 7)[:20], frame(*[SAME] * 7)[20:]), whole, [("truncated", left)])
    whole, left = divmod(2 * BLOCK, RECORD)
    expect("damaged block", decode(program, path, frame(SAME, SAME, BAD, SAME)), whole, [("truncated", left), ("zstd", len(BAD + SAME))])
    # The stream's last bytes are damage, or less than there must be.
    whole = BLOCK // RECORD + 1
    expect("damage to the end", decode(program, path, frame(SAME, ZEROS)), whole, [("size-zero", 2 * BLOCK - whole * RECORD)])
    whole, left = divmod(BLOCK, RECORD)
    for cut, diagnostics in ((4, []), (3, [("zstd", 1)]), (2, [("zstd", 2)]), (1, [("zstd", 3)])):
        expect(f"{cut} bytes cut off", decode(program, path, frame(SAME, SAME)[:-cut]), whole, [("truncated", left)] + diagnostics)
    expect("a frame's header cut", decode(program, path, frame()[:3]), 0, [("zstd", 3)])
    # 4 MiB and 512 times what was read are the most.
    status, lines, found = decode(program, path, frame(*[SAME] * 4000))
    most = (4 << 20) + 512 * 16006
    assert status == 1 and lines and len(lines) * RECORD <= most + BLOCK, len(lines)
    assert [code for code, _ in found] == ["truncated", "zstd"], found
    print(f"growth: {len(lines)} records of {4000 * BLOCK // RECORD}")


if __name__ == "__main__":
    main()
