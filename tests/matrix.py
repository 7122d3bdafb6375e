# SPDX-License-Identifier: MIT
"""What ci/cells makes of blocks, archives and results, where no machine has to boot."""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, 'ci'))
sys.dont_write_bytecode = True

from cells import blocks, jobs, results  # noqa: E402
from cells.initramfs import Initramfs  # noqa: E402

NONCE = bytes(range(16))


def block(stream, number, payload, nonce=NONCE, crc=None):
    head = nonce + struct.pack('<4I', stream, number, len(payload), zlib.crc32(payload) if crc is None else crc)
    return (head + payload).ljust(blocks.BLOCK, b'\0')


def read(*parts):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b''.join(parts))
        file.flush()
        return blocks.read(file, NONCE)


def test_blocks():
    full, page = b'x' * (blocks.BLOCK - 32), b'\0' * blocks.BLOCK
    assert read(page, block(3, 0, full), page * 5, block(3, 1, b'end')) == {3: full + b'end'}
    assert read(block(3, 1, b'end'), block(3, 0, full)) == {3: full + b'end'}, 'in whatever order they lie'
    assert read(block(3, 0, b'end'), block(3, 0, b'en')) == {3: b'end'}, 'an older copy of a block'
    assert read(block(3, 0, b'end', crc=1)) == {}, 'a block that was being written'
    assert read(block(3, 0, full), block(3, 2, b'later')) == {3: full}, 'what follows a block that is missing'
    assert read(block(3, 0, b'x', nonce=b'y' * 16)) == {}, "another guest's"
    assert read(b'\0' * 8, block(3, 0, b'x')) == {}, 'a copy of a block elsewhere, as on a stack'
    assert read(block(0, 0, b'{"a":1}\n'), block(1, 0, b'{"b":')) == {0: b'{"a":1}\n', 1: b'{"b":'}
    assert blocks.lines(b'{"a":1}\n{"b":') == [{'a': 1}]


def test_holes():
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(1 << 30)
        os.pwrite(file.fileno(), block(1, 0, b'far'), 900 << 20)
        assert blocks.read(file, NONCE) == {1: b'far'}


def test_initramfs():
    image = Initramfs()
    image.file('a/b/c', b'text')
    image.file('run', b'#!/bin/sh\n', 0o755)
    with tempfile.TemporaryDirectory() as folder:
        image.write(f'{folder}/image')
        if not shutil.which('cpio'):
            print('no cpio here: what it makes of an archive is not tried')
            return
        with open(f'{folder}/image', 'rb') as file:
            subprocess.run(f'gzip -dc | cpio -idm --quiet -D {folder}', shell=True, stdin=file, check=True)
        with open(f'{folder}/a/b/c', 'rb') as file:
            assert file.read() == b'text'
        assert os.access(f'{folder}/run', os.X_OK) and not os.access(f'{folder}/a/b/c', os.X_OK)


def judged(*lines, own=({'over': 'j', 'status': 0, 'signal': 0, 'seconds': 1.0},)):
    def text(dicts):
        return ''.join(json.dumps(line) + '\n' for line in dicts).encode()

    with tempfile.TemporaryDirectory() as folder:
        outcome, = results.judge(folder, [jobs.Job('j', ['/x'])], {0: text(own), 1: text(lines)}, None)
    return outcome


def test_suite():
    end = {'type': 'summary'}
    passed, failed = ({'type': 'result', 'id': name, 'outcome': name} for name in ('pass', 'fail'))
    assert judged(passed, end).wrong == [] and judged(passed, end).tally['pass'] == 1
    assert judged(passed, failed, end).lines() == ['fail fail']
    # A guest that hung: who had begun is named, and nothing else passes for an end.
    hung = judged(passed, {'type': 'begin', 'id': 'a.b'}, own=())
    assert hung.wrong[0] == 'it had not ended when the guest was stopped' and 'a.b' in hung.wrong[1], hung.wrong
    assert judged(own=({'over': 'j', 'status': 2, 'signal': 0, 'seconds': 1.0},)).wrong, 'wrong usage'
    assert judged(passed, end, own=({'over': 'j', 'status': 0, 'signal': 11, 'seconds': 1.0},)).wrong, 'a signal'
    assert judged(own=({'over': 'j', 'status': 0, 'signal': 0, 'seconds': 1.0},)).wrong, 'nothing printed'


def test_run_again():
    def run(*pairs, own=({'over': 'j', 'status': 1, 'signal': 0, 'seconds': 1.0},)):
        return judged(*({'type': 'result', 'id': name, 'outcome': outcome} for name, outcome in pairs), {'type': 'summary'}, own=own)

    first = run(('a', 'pass'), ('b', 'fail'), ('c', 'error'), ('d', 'fail'))
    assert results.is_to_run_again(first)
    assert jobs.alone(first.job, first.bad).words == ['/x', '--jobs', '1', 'b', 'c', 'd']
    results.correct(first, run(('b', 'pass'), ('c', 'fail'), ('d', 'fail')))
    assert first.alone == {'b': 'fail'} and first.lines() == ['fail c', 'fail d'], (first.alone, first.lines())
    assert first.tally == {'pass': 2, 'fail': 2, 'skip': 0, 'xfail': 0, 'xpass': 0, 'error': 0}, first.tally
    # What did not come to an end, the first time or the second, changes nothing.
    assert not results.is_to_run_again(run(('b', 'fail'), own=()))
    first = run(('b', 'fail'))
    results.correct(first, run(('b', 'pass'), own=()))
    assert first.bad == {'b': 'fail'} and not first.alone and first.wrong, first.lines()
    assert not results.is_to_run_again(run(('a', 'pass'))), 'nothing is bad'
    assert not results.is_to_run_again(run(*((str(i), 'fail') for i in range(results.AGAIN + 1)))), 'that is no accident'


def main():
    for name, function in sorted(globals().items()):
        if name.startswith('test_'):
            function()
            print(f'{name}: as it should be')


main()
