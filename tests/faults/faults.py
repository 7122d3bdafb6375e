#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every n-th allocation, read and write of a program fails, one a run.

usage: faults.py FAULTS.SO PROGRAM STEP FINE BEFORE COMMAND-LINE...

BEFORE and each COMMAND-LINE are the arguments of the program, in one word. Whatever fails, the outcome is the
output of an undisturbed run, or exit status 3 with a message; what was printed by then is how that
output begins. Of as much as BEFORE does (the layouts of cases/abi are read), which is the same for all of
them, every STEP-th is tried; of all else, every FINE-th allocation, and each read and write.
"""
import collections
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

KINDS = ("ALLOC", "READ", "WRITE")


def run(faults, command, **environment):
    return subprocess.run(command, capture_output=True, check=False, timeout=3600, stdin=subprocess.DEVNULL,
                          env={**os.environ, "LD_PRELOAD": faults, **environment})


def counts(faults, command):
    with tempfile.NamedTemporaryFile() as file:
        result = run(faults, command, FAULT_COUNT=file.name)
        return result, [int(n) for n in file.read().split()]


def judge(whole, result):
    """None if the outcome is as it should be."""
    if result.returncode == 3:
        if not result.stderr.strip():
            return "exit status 3 without a message"
        return None if whole.stdout.startswith(result.stdout) else "other output before exit status 3"
    if (result.returncode, result.stdout) != (whole.returncode, whole.stdout):
        return f"exit status {result.returncode}, {len(result.stdout)} bytes of output for {len(whole.stdout)}"
    return None


def main():
    faults, program, step, fine, before, *lines = sys.argv[1:]
    faults, wrong, table = os.path.abspath(faults), 0, collections.Counter()
    _, before = counts(faults, [program, *shlex.split(before)])
    for line in lines:
        command = [program, *shlex.split(line)]
        whole, after = counts(faults, command)
        for kind, first, last in zip(KINDS, before, after):
            places = list(range(1, first + 1, int(step))) + list(range(first + 1, last + 1, int(fine) if kind == "ALLOC" else 1))
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                results = list(pool.map(lambda n: run(faults, command, **{"FAULT_" + kind: str(n)}), places))
            for n, result in zip(places, results):
                why = judge(whole, result)
                table[kind, "exit status 3" if result.returncode == 3 else "the same output"] += not why
                if why:
                    wrong += 1
                    print(f"{line}: {kind} {n} of {last}: {why}; {result.stderr.decode(errors='replace')[:200]}")
        print(f"{line}: {after[0]} allocations, {after[1]} reads, {after[2]} writes")
    for (kind, outcome), n in sorted(table.items()):
        print(f"{kind:5} {n:6} {outcome}")
    print(f"{wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
