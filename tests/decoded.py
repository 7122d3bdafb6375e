# SPDX-License-Identifier: MIT
"""What perfabi-decode makes of bytes, whatever way it gets them; the tests of damaged and made-up recordings share it."""
import itertools
import json
import os
import subprocess

WAYS = "threads", "a pipe", "shards"
turn = itertools.cycle(WAYS)


def run(program, *options, data=None):
    return subprocess.run([program, *options], input=data, capture_output=True, check=False)


def decode(program, path, data):
    """
    The exit status and the lines, parsed, of a file at `path` with that data. Neither hangs on the way: two threads, a pipe, three
    shards. One of these is tried, by turns; with TEST_WHOLE each.
    """
    with open(path, "wb") as file:
        file.write(data)
    one = run(program, path)
    for way in WAYS if os.environ.get("TEST_WHOLE") else (next(turn),):
        if way == "shards":
            shards = b"".join(run(program, "--shard", f"{n}/3", path).stdout for n in (1, 2, 3))
            assert shards == b"".join(one.stdout.splitlines(True)[:-1]), "--shard changes the output"
        else:
            other = run(program, "-j2", path) if way == "threads" else run(program, data=data)
            assert (other.returncode, other.stdout) == (one.returncode, one.stdout), f"{way}: the output is another"
    return one.returncode, [json.loads(line) for line in one.stdout.splitlines()]
