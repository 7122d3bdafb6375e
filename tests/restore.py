# SPDX-License-Identifier: MIT
"""Interrupts and kills perfabi at random moments while it runs the cases that change the machine, and
compares what it must put back: sysctls, cgroups, mounts, uprobes, processes, open files of the system.

usage: restore.py PERFABI TIMES [SEED]
"""
import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CASES = ["machine", "records.cgroup", "records.throttle", "sample.id-all", "count.uprobe", "ioctl.set-bpf",
         "records.namespaces", "inherit", "overflow"]
perfabi, times = sys.argv[1], int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
rng = random.Random(seed)


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return None


def ours(program):
    """Processes that run it, but for zombies, which whoever inherits them may never reap."""
    found = []
    for folder in glob.glob("/proc/[0-9]*"):
        command, stat = read(f"{folder}/cmdline"), read(f"{folder}/stat")
        if not command or not stat or stat.rsplit(")", 1)[1].split()[0] in "ZX":
            continue
        if program in command:
            found.append(folder)
    return found


def state(program, temporary):
    out = {path: read(path) for path in glob.glob("/proc/sys/kernel/perf_*")}
    out["mounts"] = read("/proc/self/mounts")
    out["cgroups"] = sorted(glob.glob("/sys/fs/cgroup/**/perfabi*", recursive=True))
    out["uprobes"] = read("/sys/kernel/tracing/uprobe_events")
    out["processes"] = ours(program)
    out["files"] = sorted(os.listdir(temporary)) + sorted(glob.glob("/tmp/perfabi*")) + sorted(glob.glob("/run/perfabi*"))
    out["namespaces"] = os.readlink("/proc/self/ns/mnt")
    return out


def one(program, folder, number, before, slowness):
    how = signal.SIGKILL if number % 3 else signal.SIGINT
    process = subprocess.Popen([program, "run", "--repeat", "1000", "--shuffle", str(number), *CASES], cwd=folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait = rng.uniform(0.0, 1.2) * slowness
    time.sleep(wait)
    process.send_signal(how)
    try:
        process.wait(600)
    except subprocess.TimeoutExpired:
        print(f"{how.name} at {wait:.3f} s (seed {seed}, number {number}) did not end it within 600 s; where its processes are:")
        for proc in ours(program):
            print(proc, read(f"{proc}/wchan"), read(f"{proc}/stack"), read(f"{proc}/status"))
        process.kill()
        process.wait()
        return False
    deadline = time.time() + 600
    while True:
        after = state(program, folder)
        if after == before:
            return True
        if time.time() > deadline:
            break
        time.sleep(0.02)
    for key in before:
        if before[key] != after[key]:
            print(f"after {how.name} at {wait:.3f} s (seed {seed}, number {number}): {key} was {before[key]!r}, is {after[key]!r}")
    return False


def main():
    # Started in the background by a shell, we ignore SIGINT, and so would perfabi.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = tempfile.mkdtemp(prefix="restore-")
    os.chmod(folder, 0o755)
    program = os.path.join(folder, "perfabi-under-test")
    shutil.copy(perfabi, program)
    before = state(program, folder)
    began = time.monotonic()
    subprocess.run([program, "list"], stdout=subprocess.DEVNULL, check=True)
    slowness = max(1, (time.monotonic() - began) / 0.2)  # until a run begins its first case
    failed = sum(not one(program, folder, number, before, slowness) for number in range(times))
    shutil.rmtree(folder)
    print(f"{times} runs ended at random moments, {failed} left something changed")
    return 1 if failed else 0


sys.exit(main())
