#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Streams of zstd blocks by hand (RFC 8878), and what must come out of them.

usage: zstd_stream.py PERFABI-DECODE SCRATCH-FILE

A block stands for 128 KiB: of zeros, or of records of 2056 bytes, of a type that nobody knows, one after the
other.
"""
import os
import struct
import sys

from build_fixtures import IP, Attr, Recording
from decoded import decode

BLOCK, RECORD, UNKNOWN = 128 * 1024, 2056, 45
ZEROS = struct.pack("<I", 1 << 1 | BLOCK << 3)[:3] + b"\0"
# Five records of 48 bytes as `zstd --no-check` packs them: a frame of one compressed block.
PACKED = bytes.fromhex("28b52ffd00583d020024032d0030000001020304050607052d003000070b15253b5779a1051c"
                       "23365580b7fa4e3f496593d32a8e09707da2df39a630cd080000e741c983c253bd01b4070106ed038005")
BAD = struct.pack("<I", 3 << 1)[:3]  # a type that is reserved


def repeated(literals, *codes_and_bits):
    """A compressed block: literals, and one sequence that fills it with what came RECORD bytes before."""
    codes, bits, at = [], 0, 0
    for code, width, extra in codes_and_bits:  # of the literals' length, the match's length, the offset
        codes.append(code)
        bits |= extra << at
        at += width
    stream = (bits | 1 << at).to_bytes(at // 8 + 1, "little")
    size = struct.pack("<H", 1 << 2 | len(literals) << 4) if literals else b"\0"
    length, match, offset = codes
    block = size + literals + bytes([1, 0x54, length, offset, match]) + stream  # one sequence, each of its codes alone
    return struct.pack("<I", 2 << 1 | len(block) << 3)[:3] + block


OFFSET = 11, 11, RECORD + 3 - 2048
FIRST = repeated(struct.pack("<IHH", UNKNOWN, 0, RECORD) + bytes(RECORD - 8), (30, 11, RECORD - 2048), (52, 16, BLOCK - RECORD - 65539), OFFSET)
AGAIN = repeated(b"", (0, 0, 0), (52, 16, BLOCK - 65539), OFFSET)


def frame(*blocks):
    return struct.pack("<IBB", 0xFD2FB528, 0, 0x50) + b"".join(blocks)


def raw(data, last=0):
    return struct.pack("<I", last | len(data) << 3)[:3] + data


def stream_of(program, path, *payloads):
    rec = Recording("<", [(Attr("<", config=9, sample_type=IP), [])])
    for payload in payloads:
        rec.record(81, "COMPRESSED", payload)
    status, lines = decode(program, path, rec.file())
    offsets = [line["offset"] for line in lines if line["type"] == "COMPRESSED"]
    return status, [line for line in lines if line["type"] == "UNKNOWN"], \
        [(line["code"], line.get("skipped", 0), offsets.index(line["offset"]), line.get("within")) for line in lines
         if line["type"] == "diagnostic" and line["code"] != "unknown-type"]


def expect(what, got, records, diagnostics, size=RECORD):
    _, lines, found = got
    wanted = records if isinstance(records, list) else [n * size for n in range(records)]
    assert [line["within"] for line in lines] == wanted, f"{what}: records at {[line['within'] for line in lines]} for {wanted}"
    assert found == diagnostics, f"{what}: {found} for {diagnostics}"
    print(f"{what}: {len(wanted)} records, (code, bytes, compressed record, place in the stream): {diagnostics}")


def main():
    program, path = sys.argv[1:]
    # What is said of the stream: code, bytes, which compressed record, and where in the stream.
    whole, left = divmod(7 * BLOCK, RECORD)
    seven = frame(FIRST, *[AGAIN] * 6)
    # 896 KiB of a record that is 2 KiB long: more than is decompressed at a time.
    expect("tail", stream_of(program, path, seven), whole, [("truncated", left, 0, whole * RECORD)])
    expect("two pieces", stream_of(program, path, seven[:20], seven[20:]), whole,
           [("truncated", left, 1, whole * RECORD)])
    whole, left = divmod(2 * BLOCK, RECORD)
    expect("damaged block", stream_of(program, path, frame(FIRST, AGAIN, BAD, AGAIN)), whole,
           [("truncated", left, 0, whole * RECORD), ("zstd", len(BAD + AGAIN), 0, None)])
    # The stream's last bytes are damage, or less than there must be.
    # The last two, of which nobody knows whether they are records, are part of it: nothing that can be one is behind them.
    whole = BLOCK // RECORD - 1
    expect("damage to the end", stream_of(program, path, frame(FIRST, ZEROS)), whole, [("no-record", 2 * BLOCK - whole * RECORD, 0, whole * RECORD)])
    # Each piece of damage is said where it is; what is too little to tell waits for the next compressed record.
    more = raw(b"\0" * 1004)
    expect("damage, and more to the end", stream_of(program, path, frame(ZEROS, more)), 0,
           [("size-zero", BLOCK, 0, 0), ("size-zero", 1004, 0, BLOCK)])
    stream = frame(ZEROS, more, ZEROS, ZEROS)
    pieces = [stream[:10], stream[10:-8], stream[-8:-4], stream[-4:]]
    first, second = BLOCK, 1000 + BLOCK  # 4 bytes at the end of each are too few to be 8 of a record
    expect("damage in four", stream_of(program, path, *pieces), 0,
           [("size-zero", first, 0, 0), ("size-zero", second, 1, first), ("size-zero", BLOCK, 2, first + second), ("size-zero", 4, 3, first + second + BLOCK)])
    whole, left = divmod(BLOCK, RECORD)
    for cut, diagnostics in ((4, []), (3, [("zstd", 1, 0, BLOCK)]), (2, [("zstd", 2, 0, BLOCK)]), (1, [("zstd", 3, 0, BLOCK)])):
        expect(f"{cut} bytes cut off", stream_of(program, path, frame(FIRST, ZEROS)[:-cut]), whole,
               [("truncated", left, 0, whole * RECORD)] + diagnostics)
    expect("a frame's header cut", stream_of(program, path, frame()[:3]), 0, [("zstd", 3, 0, 0)])
    # Of the last block as much may be missing as a block's header is long; what it has comes out, if it is not compressed.
    record = struct.pack("<IHH", UNKNOWN, 0, 48) + bytes(40)
    last = frame(raw(record * 2, last=1))
    expect("a last block", stream_of(program, path, last), 2, [], 48)
    some = 1 if os.environ.get("TEST_WHOLE") else 3
    for missing in range(1, 8, some):
        for first in (0, 7, 10, len(last) - missing - 1)[::some]:  # the frame in one piece, or in two
            pieces = [piece for piece in (last[:first], last[first:-missing]) if piece]
            expect(f"a last block without {missing}, {first}", stream_of(program, path, *pieces), 1,
                   [("truncated", 48 - missing, len(pieces) - 1, 48), ("zstd", 0, len(pieces) - 1, 96 - missing)], 48)
    # Of a compressed block nothing comes out before it is whole: five records in one last block.
    for missing in range(1, 10, some):
        expect(f"a last compressed block without {missing}", stream_of(program, path, PACKED[:-missing]), 0,
               [("zstd", len(PACKED) - 6 - missing, 0, 0)])
    expect("a last compressed block", stream_of(program, path, PACKED), 5, [], 48)
    # A checksum that is cut off takes nothing with it; a frame that is skipped has no blocks.
    summed = struct.pack("<IBB", 0xFD2FB528, 4, 0x50) + raw(record, last=1)
    for more in range(4):
        expect(f"{more} bytes of a checksum", stream_of(program, path, summed + bytes(more)), 1, [("zstd", more, 0, 48)], 48)
    skipped = struct.pack("<II", 0x184D2A50, 5) + b"\1\1\1\1\1"
    expect("a frame that is skipped", stream_of(program, path, skipped, last), 2, [], 48)
    # What has an effect outside of a compressed record has none inside, and that is said. What follows AUXTRACE is no record there either.
    for name, kind, body in (("header_attr", 64, struct.pack("<IIQQQ", 1, 64, 9, 1, 7).ljust(64, b"\0") + struct.pack("<Q", 5)),
                             ("header_feature", 80, struct.pack("<QI", 6, 8) + b"s390x\0\0\0"), ("compressed", 81, last),
                             ("compressed2", 83, struct.pack("<Q", len(last)) + last)):
        inside = struct.pack("<IHH", kind, 0, 8 + len(body)) + body
        stream = frame(raw(record + inside), raw(record, last=1))
        for cut in (20, 6 + 3 + 60):
            expect(f"{name} inside", stream_of(program, path, stream[:cut], stream[cut:]), [0, 48 + len(inside)],
                   [("misplaced", 0, 1, 48)], 48)
    stream = record + struct.pack("<IHHQQQIIII", 71, 0, 48, 3 * 48, 0, 0, 0, 0, 0, 0) + record * 4
    for cut in (20, 6 + 3 + 100, 6 + 3 + 96 + 100, 6 + 3 + 96 + 3 * 48):
        pieces = frame(raw(stream, last=1))[:cut], frame(raw(stream, last=1))[cut:]
        expect("auxtrace inside", stream_of(program, path, *pieces), [0, 96 + 3 * 48], [])
    expect("auxtrace inside, cut", stream_of(program, path, frame(raw(stream[:190], last=1)), frame(raw(stream[190:200], last=1))), [0],
           [("truncated", 0, 1, 200)])
    # 4 MiB and 512 times what was read are the most.
    much = frame(FIRST, *[AGAIN] * 3999)
    status, lines, found = stream_of(program, path, much[:60000], much[60000:])
    most = (4 << 20) + 512 * len(much)
    assert status == 1 and lines and len(lines) * RECORD <= most + BLOCK, len(lines)
    assert [code for code, *_ in found] == ["truncated", "zstd"], found
    print(f"growth: {len(lines)} records of {4000 * BLOCK // RECORD}")


if __name__ == "__main__":
    main()
