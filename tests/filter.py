#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command behind a seccomp filter that answers perf_event_open(2) with an errno, as a container's does.

usage: filter.py ERRNO[:sleep] COMMAND...      such as EPERM or ENOSYS, or KILL for a filter that kills; with :sleep it answers nanosleep(2) and clock_nanosleep(2)
instead; exit status 77 if this machine's number of the call is not known
"""
import ctypes
import errno
import os
import platform
import struct
import sys

CALLS = {"x86_64": {"open": [298], "sleep": [35, 230]}, "aarch64": {"open": [241], "sleep": [101, 115]}, "riscv64": {"open": [241], "sleep": [101, 115]},
         "s390x": {"open": [331], "sleep": [162, 262]}, "ppc64le": {"open": [319], "sleep": [162, 248]}, "ppc64": {"open": [319], "sleep": [162, 248]}}.get(platform.machine())
SECCOMP_RET_KILL, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x80000000, 0x00050000, 0x7fff0000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def main(name, *command):
    name, _, calls = name.partition(":")
    if not CALLS:
        print("left out: the number of perf_event_open(2) is not known here")
        sys.exit(77)
    answer = SECCOMP_RET_KILL if name == "KILL" else SECCOMP_RET_ERRNO | getattr(errno, name)
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in (
        (0x20, 0, 0, 0),                 # the number of the call
        *(one for number in CALLS[calls or "open"] for one in ((0x15, 0, 1, number), (0x06, 0, 0, answer))),
        (0x06, 0, 0, SECCOMP_RET_ALLOW)))
    code = ctypes.create_string_buffer(program)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    given = Program(len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0):
        sys.exit(f"filter.py: {os.strerror(ctypes.get_errno())}")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
