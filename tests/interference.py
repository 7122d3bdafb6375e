#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What processes of cases, other users and other runs can do to a run of root's. As root.

usage: interference.py PERFABI SCRATCH-FOLDER [PART...]
"""
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

from opened import open_event

PROC = pathlib.Path("/proc")
SYSCTL = PROC / "sys/kernel/perf_event_mlock_kb"
NOBODY = 65534
FACTORS = (1, 5, 25)  # how much longer cases sleep where a machine was too slow, or somebody was in the way, to see them
factor = FACTORS[0]


def sleep(ms):
    return {"repeat": "FACTOR", "do": [{"workload": "sleep", "ms": ms}]}


SLEEPS = {"suite": "sleeps", "about": "x", "spec": {"man": "x", "since": "4.8"},
          "defaults": {"as": ["root", "perfmon", "sys-admin", "user"]},
          "cases": [{"name": f"w{n}", "title": "lives two seconds", "steps": [sleep(1900)]} for n in range(2)]}
BRIEF = {"suite": "brief", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "root"},
         "cases": [{"name": "a", "title": "lives a twentieth of a second", "steps": [sleep(50)]}]}
ALONE = {"suite": "alone", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "root"},
         "cases": [{"name": "a", "title": "lives four seconds, alone", "alone": True, "steps": [sleep(2000), sleep(2000)]}]}
STACK = {"suite": "stack", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "root"},
         "cases": [{"name": "a", "title": "has its depth of call chains for two seconds", "sysctl": {"perf_event_max_stack": 100},
                    "steps": [sleep(1900)]}]}
PARANOID = {"suite": "paranoid", "about": "x", "spec": {"man": "x", "since": "4.8"},
            "cases": [{"name": "low", "title": "has it at 1 for two seconds", "as": "root", "sysctl": {"perf_event_paranoid": 1},
                       "steps": [sleep(1900)]},
                      {"name": "as-it-is", "title": "finds it as it is when nobody has changed it", "as": "root", "requires": ["paranoid==2"],
                       "steps": [{"value": "$sysctl.perf_event_paranoid", "expect": 2}]}]}
QUIET = {"suite": "quiet", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "root", "requires": ["quiet"]},
         "cases": [{"name": "a", "title": "wants nobody else to have events", "steps": [{"workload": "sleep", "ms": 1}]}]}
ALONE_IN_QUIET = {"suite": "zquiet", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "root", "requires": ["quiet"]},
                  "cases": [{"name": "a", "title": "wants nobody else to have events, alone", "alone": True, "steps": [{"workload": "sleep", "ms": 1}]}]}
EVENTS = {"suite": "held", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "root"},
          "cases": [{"name": "held", "title": "has an event, and the runner one on a tracepoint, for two seconds", "requires": ["tracepoint.task:task_rename"],
                     "steps": [{"open": {"attr": {"type": "software", "config": "dummy"}}, "bind": "e"}, sleep(1900)]}]}
CGROUPS = {"suite": "cgroups", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "root"},
           "cases": [{"name": name, "title": "has a cgroup for a second", "cgroup": "v2", "steps": [sleep(1000)]} for name in "ab"]}
UNLOCKED = {"suite": "unlocked", "about": "x", "spec": {"man": "x", "since": "4.8"}, "defaults": {"as": "user"},
            "cases": [{"name": "a", "title": "sets a sysctl for an ordinary user", "sysctl": {"perf_event_paranoid": 1}, "steps": [{"workload": "sleep", "ms": 1}]}]}


class Wrong(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Wrong(text)


def status_of(pid, key):
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith(key + ":"):
            return line.split()[1:]
    raise KeyError(key)


def children(pid):
    """Of all threads, those that sleep in a case: the guardian leads no case."""
    found = []
    for child in (PROC / str(pid) / "task" / str(pid) / "children").read_text().split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
            if (PROC / child / "comm").read_text().strip() == "perfabi":
                found.append(int(child))
    return found


def start(perfabi, folder, *arguments, before=(), preexec_fn=None):
    return subprocess.Popen([*before, perfabi, "run", "--timeout", "3600", "--cases", folder, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, preexec_fn=preexec_fn)


def wait_for(what, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise Wrong("it did not come to that")


def as_nobody(what):
    """The exit status of a process of nobody's that does it."""
    pid = os.fork()
    if not pid:
        status = 99
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            status = what()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Part(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def can_reach(pid, address):
    """1: signals, 2: memory."""
    libc, buffer, reached = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(8), 0
    try:
        os.kill(pid, 0)
        reached |= 1
    except PermissionError:
        pass
    here, there = Part(ctypes.addressof(buffer), 8), Part(address, 8)
    if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0:
        reached |= 2
    return reached


def shared_mappings(pid):
    lines = (PROC / str(pid) / "maps").read_text().splitlines()
    return [line for line in lines if line.split()[1] == "rw-s" and "/dev/zero" in line]


def cases_of_users(perfabi, folder):
    """Each case's process has its verdict alone, a uid of its own, no capability to regain, and no file but 0 to 2."""
    run = start(perfabi, folder, "--jobs", "8", "sleeps")
    pids = wait_for(lambda: len(children(run.pid)) == 8 and all(
        status_of(p, "SigIgn") and len(os.listdir(PROC / str(p) / "fd")) >= 3 for p in children(run.pid)) and children(run.pid))
    time.sleep(0.3 * factor)
    uids = [int(status_of(p, "Uid")[1]) for p in pids]
    ordinary = [p for p, uid in zip(pids, uids) if uid]
    need(len(ordinary) == 6 and uids.count(0) == 2, f"uids {uids}")
    need(len({uid for uid in uids if uid}) == 6 and NOBODY not in uids, f"uids {uids}")
    for pid in pids:
        need(len(shared_mappings(pid)) == 1, f"process {pid} shares more than its verdict: {shared_mappings(pid)}")
        files = {int(n): os.readlink(PROC / str(pid) / "fd" / n) for n in os.listdir(PROC / str(pid) / "fd")}
        others = {n: path for n, path in files.items() if n > 2 and not path.startswith("/memfd:perfabi")}
        need(not others and all(files[n] == "/dev/null" for n in range(3)), f"files of a case: {files}")
    for pid in ordinary:
        bounding, permitted = (int(status_of(pid, key)[0], 16) for key in ("CapBnd", "CapPrm"))
        need(bounding == permitted, f"bounding set 0x{bounding:x} for 0x{permitted:x}")
        address = int(shared_mappings(pid)[0].split("-")[0], 16)
        need(as_nobody(lambda p=pid, a=address: can_reach(p, a)) == 0, "nobody reaches a case's process")
    need(as_nobody(lambda: can_reach(run.pid, 4096)) == 0, "nobody reaches the runner")
    out, _ = run.communicate()
    need(run.returncode == 0, out)
    print(f"6 cases of ordinary users: uids {sorted(uid for uid in uids if uid)}")


def verdict_is_no_command(perfabi, folder):
    """What a case's process writes over its verdict does not say who the next case is."""
    run = start(perfabi, folder, "--jobs", "1", "--filter", "as=user", "sleeps")
    time.sleep(0.8 * factor)  # processes that look at the machine have come and gone
    for n in range(2):
        pid, = wait_for(lambda: [p for p in children(run.pid) if n == 0 or p != pid])
        time.sleep(0.5 * factor)
        need(int(status_of(pid, "Uid")[1]) != 0, f"case {n} of an ordinary user runs as root")
        begin, end = (int(part, 16) for part in shared_mappings(pid)[0].split()[0].split("-"))
        with (PROC / str(pid) / "mem").open("r+b", buffering=0) as memory:
            memory.seek(begin)
            memory.write(bytes(end - begin))
    run.communicate()
    print("a verdict that its case has overwritten: the next case is who it should be")


def users_do_not_block(perfabi, folder):
    """Nobody holds all that nobody can open of perf's; root does not wait."""
    ready, go = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        os.setresuid(NOBODY, NOBODY, NOBODY)
        held = []
        for path in [*sorted((PROC / "sys/kernel").glob("perf_*")), PROC / "self/ns/user", PROC / "self/ns/pid", pathlib.Path("/sys"),
                     pathlib.Path("/sys/kernel/tracing"), pathlib.Path("/sys/kernel/debug"), pathlib.Path("/tmp"), pathlib.Path("/")]:
            try:
                held.append(os.open(path, os.O_RDONLY))
                fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                pass
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    run = start(perfabi, folder, "--wait", "60", "alone")  # others may have the machine for a moment
    _, err = run.communicate()
    os.write(go[1], b"x")
    os.waitpid(pid, 0)
    need(run.returncode == 0, f"a user blocks root: exit status {run.returncode}, {err}")
    print("an ordinary user's locks: in nobody's way")


def runs_wait(perfabi, folder, here, away):
    """One run waits for another; waiting ends by itself and by signals, and is said."""
    other = start(perfabi, folder, "alone", **away)
    time.sleep(1 * factor)
    begun = time.monotonic()
    run = start(perfabi, folder, "--wait", str(0.5 * factor), "--format", "json", "alone", **here)
    out, err = run.communicate()
    need(run.returncode == 3 and "waiting for perfabi" in err and "gave up after " in err, f"exit status {run.returncode}: {err}")
    need(time.monotonic() - begun < 2 * factor, "waited longer than was asked for")
    need([r["reason"] for r in json.loads(out)["results"]] == ["gave up waiting for another perfabi"], f"what was not run is not said: {out}")
    for sig in (signal.SIGINT, signal.SIGTERM):
        run = start(perfabi, folder, "alone", **here)
        os.set_blocking(run.stderr.fileno(), True)
        need("waiting for" in run.stderr.readline(), "nothing is said while waiting")
        begun = time.monotonic()
        run.send_signal(sig)
        run.communicate()
        need(run.returncode == -sig and time.monotonic() - begun < factor, f"signal {sig}: {run.returncode}")
    run = start(perfabi, folder, "alone", **here)
    out, _ = run.communicate()
    need(other.wait() == 0 and run.returncode == 0, out)


def other_containers(perfabi, folder):
    """Runs in other pid and mount namespaces are seen."""
    container = ("unshare", "--mount", "--pid", "--fork", "--mount-proc")
    if subprocess.run([*container, "true"], capture_output=True, check=False).returncode:
        print("runs in other containers: not tried, unshare is refused here")
        return
    runs_wait(perfabi, folder, {}, {"before": container})
    print("runs in other containers: waited for")


class SockFilter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class SockFprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_uint16), ("filter", ctypes.POINTER(SockFilter))]


def refuse_fsopen():
    """As the filters of containers do: fsopen(2) has one number everywhere."""
    code = (SockFilter * 4)(SockFilter(0x20, 0, 0, 0), SockFilter(0x15, 0, 1, 430), SockFilter(0x06, 0, 0, 0x00050001), SockFilter(0x06, 0, 0, 0x7fff0000))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(22, 2, ctypes.byref(SockFprog(4, code)), 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")


def no_tracefs(perfabi, folder):
    """Where tracefs cannot be had, runs meet in debugfs."""
    hide = ("umount -l /sys/kernel/tracing 2>/dev/null; mount -t debugfs none /sys/kernel/debug && mount -t tmpfs none /sys/kernel/debug/tracing && "
            'exec "$@"')
    here = {"before": ("unshare", "--mount", "sh", "-c", hide, "sh"), "preexec_fn": refuse_fsopen}
    if subprocess.run([*here["before"], "true"], capture_output=True, preexec_fn=refuse_fsopen, check=False).returncode:
        print("no tracefs: not tried, debugfs cannot be mounted here")
        return
    runs_wait(perfabi, folder, here, here)
    print("runs without tracefs: waited for")


def no_lock(perfabi, folder):
    """Root that has no lock changes no sysctl, and what it says of that is true though there is tracefs."""
    namespace = ("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "unshare", "--user", "--map-root-user")
    if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        print("no lock: not tried, unshare is refused here")
        return
    copy = shutil.copy(perfabi, folder)  # where a user may read it
    out, _ = start(copy, str(pathlib.Path(folder) / "unlocked.json"), "--format", "json", "unlocked", before=namespace).communicate()
    result, = json.loads(out)["results"]
    wanted = "there is no folder of tracefs or debugfs that root alone can open, by which runs in other containers are seen"
    need((result["outcome"], result["token"], result["reason"]) == ("skip", "machine.lock", wanted), result)
    print("root of a user namespace has no lock: it is said why")


def move_beside(perfabi, folder, ready, *arguments):
    """Writes another value once the run is `ready`: the value before, the one when the run has ended, exit status, outcomes, and how long it took."""
    was, began = int(SYSCTL.read_text()), time.monotonic()
    run = start(perfabi, folder, "--format", "json", *arguments)
    try:
        wait_for(lambda: ready(run))
        time.sleep(0.5 * factor)
        SYSCTL.write_text(f"{was + 8}\n")
        out, _ = run.communicate()
        now = int(SYSCTL.read_text())
    finally:
        SYSCTL.write_text(f"{was}\n")
    return was, now, run.returncode, [r["outcome"] for r in json.loads(out)["results"]], time.monotonic() - began


def sysctls_that_move(perfabi, folder):
    """Cases beside which somebody else writes a sysctl run again, and it stays as it was written."""
    was, now, status, outcomes, took = move_beside(perfabi, folder, lambda run: len(children(run.pid)) == 4, "--jobs", "4", "sleeps.w0")
    need(status == 0 and outcomes == ["pass"] * 4, f"exit status {status}: {outcomes}")
    need(took >= 2 * 1.9 * factor, f"they ran once: {took} s")
    need(now == was + 8, f"somebody else's {was + 8} became {now}")
    print("a sysctl that somebody else writes: 4 run again, and it stays")


def sysctls_that_move_beside(perfabi, folder):
    """So it is where the case has changed another one."""
    depth = PROC / "sys/kernel/perf_event_max_stack"
    depth_was = int(depth.read_text())
    was, now, status, outcomes, took = move_beside(perfabi, folder, lambda run: int(depth.read_text()) == 100, "stack")
    need(status == 0 and outcomes == ["pass"] and took >= 2 * 1.9 * factor, f"exit status {status}: {outcomes}, {took} s")
    need(now == was + 8 and int(depth.read_text()) == depth_was, f"{was + 8} became {now}, {depth_was} became {depth.read_text()}")
    print("a sysctl that somebody else writes beside one of the case's: it stays, the case's is put back")


def sysctls_that_move_and_return(perfabi, folder):
    """So they do where it is put back before the case has ended, and an ordinary user's run can tell it."""
    was = int(SYSCTL.read_text())
    copy = shutil.copy(perfabi, folder)  # where a user may read it
    for before, count in ((), 4), (("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"), 1):
        began = time.monotonic()
        run = start(copy, str(pathlib.Path(folder) / "sleeps.json"), "--format", "json", "--jobs", "4", "sleeps.w0", before=before)
        try:
            wait_for(lambda: len(children(run.pid)) == count)
            time.sleep(0.5 * factor)
            SYSCTL.write_text(f"{was + 8}\n")
        finally:
            SYSCTL.write_text(f"{was}\n")
        out, _ = run.communicate()
        outcomes, took = [r["outcome"] for r in json.loads(out)["results"] if r["outcome"] != "skip"], time.monotonic() - began
        need(run.returncode == 0 and outcomes == ["pass"] * count, f"{before}: exit status {run.returncode}: {outcomes}")
        need(took >= 2 * 1.9 * factor, f"{before}: they ran once: {took} s")
    print("a sysctl that somebody else writes and puts back: 4 of root's run and 1 of a user's run again")


def sysctls_that_keep_moving(perfabi, folder):
    """A case beside which somebody else writes a sysctl whenever it runs is an error that says so."""
    was, seen, runs = SYSCTL.read_text(), set(), 0
    run = start(perfabi, folder, "--format", "json", "brief")
    while run.poll() is None:
        if (now := set(children(run.pid))) - seen:
            SYSCTL.write_text(was)
            runs += 1
        seen = now
        time.sleep(0.002)
    result, = json.loads(run.stdout.read())["results"]
    wanted = f"perf_event_mlock_kb was written, and is {was.strip()} again: it was changed while this case ran, and not by this run"
    need(run.returncode == 3 and (result["outcome"], result["reason"]) == ("error", wanted), f"exit status {run.returncode}: {result}")
    need(runs >= 9, f"it ran {runs} times, and not again in each of eight turns")
    print("a sysctl that somebody else keeps writing: an error")


def sysctls_that_move_at_the_end(perfabi, folder):
    """Cases that would run again, where the run is ended first, are errors that say why."""
    was = int(SYSCTL.read_text())
    pretty = pathlib.Path(folder) / "pretty"
    run = start(perfabi, folder, "--format", "json", "--format", f"pretty:{pretty}", "--jobs", "4", "sleeps.w0")
    try:
        first = wait_for(lambda: len(found := children(run.pid)) == 4 and found)
        time.sleep(0.5 * factor)
        SYSCTL.write_text(f"{was + 8}\n")
        wait_for(lambda: not set(first) & set(children(run.pid)))
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate()
    finally:
        SYSCTL.write_text(f"{was}\n")
    wanted = f"perf_event_mlock_kb was {was} and is {was + 8}: it was changed while this case ran, and not by this run"
    reasons = [(r["outcome"], r["reason"], r.get("reached")) for r in json.loads(out)["results"]]
    need(run.returncode == -signal.SIGINT and reasons == [("error", wanted, None)] * 4, f"exit status {run.returncode}: {reasons}")
    need("ERROR sleeps.w0" in pretty.read_text() and ", and 3 cases alike" in pretty.read_text(), pretty.read_text())
    print("a run that is ended before its cases run again: 4 errors that say why")


def rounds_that_are_disturbed(perfabi, folder):
    """A round in which somebody else wrote a sysctl is held against nothing: the case passes by the others."""
    run = start(perfabi, folder, "--format", "json", "--repeat", "3", "--jobs", "4", "sleeps.w0")
    wait_for(lambda: len(children(run.pid)) == 4)
    time.sleep(0.5 * factor)
    was = SYSCTL.read_text()
    SYSCTL.write_text(was)
    out, _ = run.communicate()
    outcomes = [r["outcome"] for r in json.loads(out)["results"]]
    need(run.returncode == 0 and outcomes == ["pass"] * 4, f"exit status {run.returncode}: {outcomes}")
    print("a round of three in which somebody else writes a sysctl: 4 pass")


def no_signal_of_children(perfabi, folder):
    """Whoever starts the run may have SIGCHLD ignored."""
    run = start(perfabi, folder, "sleeps.w0", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    run.communicate()
    need(run.returncode == 0, f"exit status {run.returncode}")
    print("a run that begins with SIGCHLD ignored: ends")


def environment_of(out):
    """What the first line of JSON Lines says of the machine, and what came of the one case."""
    lines = [json.loads(line) for line in out.splitlines()]
    first, result, _ = (line for line in lines if line["type"] != "begin")
    return first["environment"], result["outcome"], result.get("reason", "")


def sysctls_of_another_run(perfabi, folder):
    """What another run's case has made of a sysctl for a while is nothing that a run judges by, or reports."""
    paranoid = PROC / "sys/kernel/perf_event_paranoid"
    was = paranoid.read_text()
    try:
        paranoid.write_text("2\n")
        other = start(perfabi, folder, "paranoid.low")
        wait_for(lambda: int(paranoid.read_text()) == 1)
        run = start(perfabi, folder, "--format", "jsonl", "paranoid.as-it-is")
        out, err = run.communicate()
        environment, outcome, reason = environment_of(out)
        need(other.wait() == 0 and "waiting for" in err, err)
        need(environment["sysctls"]["perf_event_paranoid"] == 2 and outcome == "pass", f"after waiting: {environment['sysctls']}, {outcome}: {reason}")
        if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
            print("a run that begins while another one ends: not tried, strace is refused here")
            return
        # Where the other run ends just before the lock is asked for, nobody waits.
        paranoid.write_text("1\n")
        run = start(perfabi, folder, "--format", "jsonl", "paranoid.as-it-is",
                    before=("strace", "-o", "/dev/null", "-e", "trace=flock", "-e", "inject=flock:delay_enter=2000000:when=1"))
        time.sleep(1 * factor)
        paranoid.write_text("2\n")
        out, err = run.communicate()
    finally:
        paranoid.write_text(was)
    environment, outcome, reason = environment_of(out)
    need("waiting" not in err, err)
    need(environment["sysctls"]["perf_event_paranoid"] == 2 and outcome == "pass", f"without waiting: {environment['sysctls']}, {outcome}: {reason}")
    print("a sysctl that another run had changed while this one began: it is judged by, and reported, as it is")


def open_with_call_chains():
    """While it is there, perf_event_max_stack cannot be written."""
    return open_event(1 << 5)


def user_with_event(name):
    """A process of nobody's that has an event and that name, until the pipe to it is closed."""
    (ready, tell), (wait, go) = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.close(go)
            os.setgroups([])
            os.setresuid(NOBODY, NOBODY, NOBODY)
            ctypes.CDLL(None).prctl(15, name, 0, 0, 0)  # PR_SET_NAME
            os.write(tell, b"y" if open_event() >= 0 else b"n")
            os.read(wait, 1)
            status = 0
        finally:
            os._exit(status)
    os.close(wait)
    need(os.read(ready, 1) == b"y", "nobody gets no event")
    for fd in (ready, tell):
        os.close(fd)
    return pid, go


def cgroup_root():
    """Where the second version's hierarchy is mounted, or None."""
    mounts = (line.split() for line in (PROC / "self/mounts").read_text().splitlines())
    return next((pathlib.Path(at) for _, at, kind, *_ in mounts if kind == "cgroup2"), None)


def cgroups_that_stay(perfabi, folder):
    """A cgroup that cannot be removed is said, with what to do, keeps no other case from its own, and is removed as soon as it can be."""
    root = cgroup_root()
    if not root:
        print("cgroups: not tried, there is no hierarchy of the second version")
        return
    run = start(perfabi, folder, "--jobs", "1", "--format", "json", "cgroups")
    ours, = wait_for(lambda: list(root.glob(f"perfabi-{run.pid}-*")))
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            (ours / "cgroup.procs").write_text(str(other.pid))
            out, err = run.communicate()
            stays = ours.exists()
        finally:
            other.kill()
    need([r["outcome"] for r in json.loads(out)["results"]] == ["pass"] * 2, out)
    need(stays and run.returncode == 3 and f"rmdir {ours}" in err, f"exit status {run.returncode}: {err}")
    wait_for(lambda: not ours.exists())
    need(not list(root.glob(f"perfabi-{run.pid}-*")), "a cgroup is left")
    print("a cgroup that cannot be removed: it is said, the next case has one, and it is removed later")


def cgroups_of_others(perfabi, folder):
    """The name of a cgroup is not given by pids alone, which runs in other containers have too, and leave behind."""
    root, container = cgroup_root(), ("unshare", "--mount", "--pid", "--fork", "--mount-proc")
    if not root or subprocess.run([*container, "true"], capture_output=True, check=False).returncode:
        print("cgroups of others: not tried, there is no hierarchy of the second version, or unshare is refused")
        return
    left = [root / f"perfabi-1-{place}" for place in range(2)]
    try:
        for path in left:
            path.mkdir()
        out, err = start(perfabi, folder, "--jobs", "2", "--format", "json", "cgroups", before=container).communicate()
        need(all(path.exists() for path in left), "somebody else's cgroup was removed")
    finally:
        for path in left:
            path.rmdir()
    need([r["outcome"] for r in json.loads(out)["results"]] == ["pass"] * 2, err + out)
    print("cgroups that a run of the same pid has left: in nobody's way")


def is_quiet(perfabi, folder):
    """Whether nobody has events, and that can be told."""
    return subprocess.run([perfabi, "run", "--cases", folder, "quiet"], capture_output=True, check=False).returncode == 0


def quiet_of_others(perfabi, folder):
    """Nobody's events are taken for the run's by the name of their process; its own are not in its way, nor are those of runs that wait."""
    if not is_quiet(perfabi, folder):
        print("quiet: not tried, it is not quiet here, or cannot be told")
        return
    pid, go = user_with_event(b"perfabi")
    try:
        out, _ = start(perfabi, folder, "--format", "json", "quiet").communicate()
    finally:
        os.close(go)
        os.waitpid(pid, 0)
    result, = json.loads(out)["results"]
    need(result["outcome"] == "skip" and result["reason"] == f"perfabi, process {pid}, has events", result)
    out, _ = start(perfabi, folder, "--jobs", "2", "--format", "json", "held", "quiet").communicate()
    need([r["outcome"] for r in json.loads(out)["results"]] == ["pass"] * 2, f"the run's own events are in its way: {out}")
    waits = start(perfabi, folder, "--jobs", "1", "held", "alone")
    time.sleep(1 * factor)
    run = start(perfabi, folder, "--format", "json", "alone", "zquiet")
    out, err = run.communicate()
    need("waiting for" in err and [r["outcome"] for r in json.loads(out)["results"]] == ["pass"] * 2, f"a run that waits is in the way: {err}{out}")
    need(waits.wait() == 0 and "waiting for" in waits.stderr.read(), "the other one has not waited")
    print("events of a user's process named perfabi: not quiet; the run's own, and those of a run that waits: quiet")


def names_in_reports(perfabi, folder):
    """What an ordinary user's process calls itself moves no cursor and breaks no report."""
    if not is_quiet(perfabi, folder):
        print("names in reports: not tried, it is not quiet here, or cannot be told")
        return
    pid, go = user_with_event(b"\x1b[2J\x07\xff\xef\xbf\xbf#x")
    try:
        said = {form: subprocess.run([perfabi, "run", "--cases", folder, "--format", form, "quiet"], capture_output=True, check=False).stdout
                for form in ("pretty", "tap", "ktap", "junit", "json", "jsonl")}
    finally:
        os.close(go)
        os.waitpid(pid, 0)
    for form, text in said.items():
        need(not any(byte in text for byte in (b"\x1b", b"\x07", b"\xff")), f"{form} has what a user's process is called: {text}")
    wanted = f"\\x1b[2J\\x07\\xff\uffff#x, process {pid}, has events"
    reason = json.loads(said["json"])["results"][0].get("reason")
    need(reason == wanted, f"the reason is {reason!r}, not {wanted!r}")
    need(wanted.encode() in said["pretty"], said["pretty"])
    ElementTree.fromstring(said["junit"])
    print("a user's process by the name of an escape sequence: it is shown, not sent")


@contextlib.contextmanager
def depth_that_sticks(perfabi, folder):
    """A run has ended that could not put the depth of call chains back: the file, what it was, the run, what it said, the event in the way."""
    depth = PROC / "sys/kernel/perf_event_max_stack"
    was = int(depth.read_text())
    run = start(perfabi, folder, "stack")
    try:
        wait_for(lambda: int(depth.read_text()) == 100)
        event = open_with_call_chains()
        need(event >= 0, "no event with call chains can be opened")
        _, err = run.communicate()
        yield depth, was, run, err, event
    finally:
        depth.write_text(f"{was}\n")


def sysctls_put_back_late(perfabi, folder):
    """What could not be put back is not put back under the hands of another run, but when that has ended."""
    with depth_that_sticks(perfabi, folder) as (depth, was, _, _, event):
        other = start(perfabi, folder, "--jobs", "1", "--filter", "as=root", "--format", "json", "sleeps")
        wait_for(lambda: children(other.pid))
        os.close(event)
        time.sleep(2.5 * factor)
        beside = int(depth.read_text())
        out, _ = other.communicate()
        need(beside == 100 and [r["outcome"] for r in json.loads(out)["results"]] == ["pass"] * 2, f"it became {beside} beside a run: {out}")
        wait_for(lambda: int(depth.read_text()) == was)
    print("a sysctl that can be put back while another run is there: when that has ended")


def sysctls_that_stick(perfabi, folder):
    """What cannot be put back is said, with what to do, and is put back as soon as it can be."""
    with depth_that_sticks(perfabi, folder) as (depth, was, run, err, event):
        stuck = int(depth.read_text())
        os.close(event)
        wait_for(lambda: int(depth.read_text()) == was)
    need(run.returncode == 3 and stuck == 100 and f"sysctl kernel.perf_event_max_stack={was}" in err, f"exit status {run.returncode}: {err}")
    print("a sysctl that cannot be put back: it is said, and put back later")


def no_programs_by_path(perfabi, folder):
    """The kernel's configuration is read without a program of whoever owns PATH."""
    trap = pathlib.Path(folder) / "bin"
    trap.mkdir()
    for name in ("sh", "gzip", "zcat"):
        (trap / name).write_text(f"#!/bin/sh\ntouch {trap}/called\n")
        (trap / name).chmod(0o755)
    run = subprocess.run([perfabi, "run", "ioctl.query-bpf"], env={"PATH": str(trap)}, capture_output=True, text=True, check=False)
    need(run.returncode == 0 and not (trap / "called").exists(), run.stdout)
    print("no program by PATH")


def tries(part, perfabi, scratch):
    """None, or what is wrong each time: once on a machine that is slow, or with others on it, says little."""
    global factor
    for factor in FACTORS:
        folder = pathlib.Path(scratch) / f"{part.__name__}.{factor}"
        folder.mkdir()
        (folder / "abi").symlink_to(pathlib.Path("cases/abi").resolve())
        for name in ("phases.json", "vehicles.json", "checks.json"):
            (folder / name).symlink_to((pathlib.Path("cases") / name).resolve())
        for suite in (SLEEPS, BRIEF, ALONE, STACK, PARANOID, QUIET, ALONE_IN_QUIET, EVENTS, CGROUPS, UNLOCKED):
            (folder / (suite["suite"] + ".json")).write_text(json.dumps(suite).replace('"FACTOR"', str(factor)))
        try:
            part(perfabi, str(folder))
            return None
        except (Wrong, OSError, ValueError, KeyError, IndexError) as wrong:
            print(f"{part.__name__}, sleeping {factor} times as long: {type(wrong).__name__}: {wrong}", flush=True)
            found = wrong
    return found


def main():
    perfabi, scratch, *wanted = sys.argv[1:]
    for part in (cases_of_users, verdict_is_no_command, users_do_not_block, other_containers, no_tracefs, no_lock, sysctls_that_move, sysctls_that_move_beside,
                 sysctls_that_move_and_return, sysctls_that_keep_moving, sysctls_that_move_at_the_end,
                 rounds_that_are_disturbed, no_signal_of_children, sysctls_of_another_run,
                 sysctls_that_stick, sysctls_put_back_late, cgroups_that_stay, cgroups_of_others, quiet_of_others, names_in_reports, no_programs_by_path):
        if not wanted or part.__name__ in wanted:
            wrong = tries(part, perfabi, scratch)
            if wrong:
                sys.exit(f"{part.__name__}: {wrong}")


if __name__ == "__main__":
    main()
