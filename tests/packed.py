#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs recordings as gzip, xz and zstd do: what comes out is what comes of the plain ones, and what is cut or damaged is said.

usage: packed.py PERFABI-DECODE SCRATCH RECORDING [OPTION...]

The recording is tried as a file, in each of WAYS, as a pipe, in memory (perfabi.py) and in several members. OPTION... is what it
needs: --attr FILE.
"""
import gzip
import json
import lzma
import pathlib
import random
import shutil
import struct
import subprocess
import sys

from decoded import run

WAYS = [], ["-j3"], ["--bytes"], ["--check"], ["--sort"], ["--join"], ["--header"], ["--format", "folded"], ["--type", "sample"]
CUTS, FLIPS, BLOCK, ZSTD = 24, 24, 4096, b"\x28\xb5\x2f\xfd"


def zstd(data):
    """zstd(1) adds a checksum; where it is not, blocks that are stored as they are, without one (RFC 8878)."""
    if shutil.which("zstd"):
        return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    blocks = [data[at:at + BLOCK] for at in range(0, len(data), BLOCK)] or [b""]
    heads = [struct.pack("<I", (n + 1 == len(blocks)) | len(block) << 3)[:3] for n, block in enumerate(blocks)]
    return ZSTD + b"\0\x38" + b"".join(head + block for head, block in zip(heads, blocks))


FORMATS = {"gzip": lambda data: gzip.compress(data, mtime=0), "xz": lzma.compress, "zstd": zstd}


def fields(record):
    return record.type, record.offset, (record.message if record.type == "diagnostic" else record.bytes)


def alike(program, path, data, packed, needs):
    """Every way to get the bytes, and every way to print them."""
    import perfabi  # here: it needs the library, and tests/fuzz/seeds only FORMATS
    path.write_bytes(data)
    plain = [run(program, *needs, *way, str(path)) for way in WAYS]
    path.write_bytes(packed)
    for way, wanted in zip(WAYS, plain):
        got = run(program, *needs, *way, str(path))
        assert (got.returncode, got.stdout) == (wanted.returncode, wanted.stdout), f"a file, {way}"
    wanted = plain[0]
    got = run(program, *needs, data=packed)
    assert (got.returncode, got.stdout) == (wanted.returncode, wanted.stdout), "a pipe"
    attr = {"attr": pathlib.Path(needs[1]).read_text(encoding="utf-8")} if needs else {}
    assert "".join(line + "\n" for line in perfabi.lines(packed, **attr)).encode() == wanted.stdout, "memory"
    with perfabi.open(packed, **attr) as one, perfabi.open(data, **attr) as other:
        assert list(map(fields, one)) == list(map(fields, other)), "records in memory"


def harm(rng, packed, whole):
    """What ends with a member is whole; blocks without a checksum do not tell of other bytes."""
    inside = [at for at in range(6, len(packed)) if at != whole]
    for at in rng.sample(inside, min(CUTS, len(inside))):
        yield f"cut at {at}", packed[:at]
    for at in rng.sample(inside, min(FLIPS, len(inside))) if shutil.which("zstd") or not packed.startswith(ZSTD) else ():
        yield f"byte {at}", packed[:at] + bytes([packed[at] ^ 1 << rng.randrange(8)]) + packed[at + 1:]


def places(stdout):
    """Of each record; names of events and formats may stand behind the records, and be lost."""
    lines = [json.loads(line) for line in stdout.splitlines()]
    return [(line["type"], line["offset"]) for line in lines if "size" in line and line["type"] not in ("header", "diagnostic")]


def harmed(program, packed, whole, wanted, needs):
    """The damage is an error, or hurts nothing: a bit that no reader of the format looks at. What comes out of a part is its beginning."""
    said = 0
    for what, data in harm(random.Random(1), packed, whole):
        got = run(program, *needs, data=data)
        codes = [line["code"] for line in map(json.loads, got.stdout.splitlines()) if line["type"] == "diagnostic"]
        if what.startswith("cut"):
            assert got.returncode, f"{what}: exit status 0"
            assert places(wanted)[:len(places(got.stdout))] == places(got.stdout), f"{what}: other records"
        assert got.returncode in (1, 2) or got.stdout == wanted, f"{what}: exit status {got.returncode}"
        assert got.returncode != 1 or "packed" in codes, f"{what}: {codes}"
        said += "packed" in codes
    return said


def main():
    program, path, needs = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[4:]
    data = pathlib.Path(sys.argv[3]).read_bytes()
    said = {}
    for name, pack in FORMATS.items():
        first = pack(data[:len(data) // 2])
        packed = first + pack(data[len(data) // 2:])  # members, streams and frames may follow one another
        try:
            alike(program, path, data, pack(data), needs)
            wanted = run(program, *needs, data=data)
            assert run(program, *needs, data=packed).stdout == wanted.stdout, "two members"
            said[name] = 0 if wanted.returncode else harmed(program, packed, len(first), wanted.stdout, needs)
            assert said[name] or wanted.returncode or needs, "no damage was said"  # half a ring is none
        except AssertionError as error:
            sys.exit(f"{sys.argv[3]} in {name}: {error}")
    print(f"{pathlib.Path(sys.argv[3]).name}: as the plain one; damage was said {said} times")


if __name__ == "__main__":
    main()
