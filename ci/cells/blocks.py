# SPDX-License-Identifier: MIT
"""What a guest has handed out: blocks of 4 KiB in its RAM or on its disk, which the host has as a file.

ci/guest/init.c says what a block is.
"""

import json
import os
import struct
import zlib

BLOCK, NONCE = 4096, 16
CHUNK = 1 << 22


def _data(file):
    """The parts of a file that are there, without its holes, in chunks that begin where a block may."""
    at, size = 0, os.fstat(file.fileno()).st_size
    while at < size:
        try:
            at = os.lseek(file.fileno(), at, os.SEEK_DATA) // BLOCK * BLOCK
        except OSError:  # ENXIO: only a hole is left
            return
        end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
        while at < end:
            part = os.pread(file.fileno(), min(CHUNK, end - at), at)
            if not part:
                return
            yield part
            at += len(part)


def read(file, nonce):
    """The streams of an open file by number, each as far as its blocks follow each other."""
    blocks = {}
    for part in _data(file):
        at = part.find(nonce)
        while at >= 0:
            if at % BLOCK == 0 and len(part) - at >= BLOCK:
                _take(part[at:at + BLOCK], blocks)
            at = part.find(nonce, at + 1)
    streams = {}
    for stream, numbers in blocks.items():
        parts = []
        while len(parts) in numbers:
            parts.append(numbers[len(parts)])
        streams[stream] = b''.join(parts)
    return streams


def _take(block, blocks):
    stream, number, length, crc = struct.unpack_from('<4I', block, NONCE)
    payload = block[NONCE + 16:NONCE + 16 + length]
    if zlib.crc32(payload) != crc:
        return
    numbers = blocks.setdefault(stream, {})
    if len(payload) >= len(numbers.get(number, b'')):  # an older copy of a page can lie about
        numbers[number] = payload


def lines(data):
    """The objects in a stream, a line each; what a guest did not finish writing, and other lines, are left out."""
    out = []
    for line in data.decode('utf-8', 'replace').splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict):
            out.append(one)
    return out
