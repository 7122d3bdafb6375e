#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf_event_open(2) of a dummy event, in user space and off; and `perfabi predict` held against it.

usage: opened.py PERFABI PID...    as whoever runs it, on each process
"""
import ctypes
import errno
import json
import os
import struct
import subprocess
import sys

NUMBERS = {"x86_64": 298, "i686": 336, "aarch64": 241, "riscv64": 241, "s390x": 331, "ppc64le": 319}


def open_event(sample_type=0, pid=0):
    """A descriptor, or an errno below 0."""
    attr = struct.pack("=IIQQQQQ24x", 1, 64 + 8, 9, 0, sample_type, 0, 1 | 1 << 5 | 1 << 6)
    fd = ctypes.CDLL(None, use_errno=True).syscall(NUMBERS[os.uname().machine], attr, pid, -1, -1, 0)
    return -ctypes.get_errno() if fd < 0 else fd


def predicted(perfabi, pid):
    caller = "user" if os.getuid() else "root"
    call = {"as": caller, "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1, "exclude_hv": 1}, "pid": pid}}
    return json.loads(subprocess.run([perfabi, "predict"], input=json.dumps(call), capture_output=True, text=True, check=True).stdout)


def main():
    perfabi, *pids = sys.argv[1:]
    if os.uname().machine not in NUMBERS or (fd := open_event()) < 0:
        print("left out: who may observe whom, for no event can be opened here, or its number is not known")
        return
    os.close(fd)
    for pid in map(int, pids):
        said, fd = predicted(perfabi, pid), open_event(pid=pid)
        if fd >= 0:
            os.close(fd)
        kernel = errno.errorcode[-fd] if fd < 0 else None
        print(f"process {pid}: the kernel {kernel or 'opens it'}, predicted {said.get('errno') or 'ok' if 'unknown' not in said else 'nothing'}")
        if "unknown" not in said and said.get("errno") != kernel:
            sys.exit(f"process {pid}: the kernel {kernel or 'opens it'}, and not {said}")


if __name__ == "__main__":
    main()
