#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The whole suite where a machine gives it less: no case fails there, and none errs; what cannot be told is skipped.

usage: surroundings.py PERFABI CLOSED.so [NAME...]
       surroundings.py PERFABI DISTURB [NAME...]

As root. With CLOSED.so, which is built from closed.c: with fewer files, cpus and the like, and where users may open
nothing; else beside DISTURB, which is built from disturb.c: another user of perf. All of these, or those named.
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
RATE = pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate")


def suite(perfabi, *before):
    return subprocess.run([*before, perfabi, "run", "--format", "json"], capture_output=True, text=True, check=False)


def in_shell(perfabi, prepare, *before):
    return suite(perfabi, *before, "sh", "-c", prepare + '; exec "$@"', "sh")


def beside(disturb, what):
    def run(perfabi):
        with subprocess.Popen([disturb, str(what), "300"], stdout=subprocess.PIPE, text=True) as other:
            try:
                if other.stdout.readline() != "ready\n":
                    sys.exit(f"disturb {what} did not get its events")
                return suite(perfabi)
            finally:
                other.kill()
    return run


def slower(perfabi):
    was = RATE.read_text()
    RATE.write_text("200")
    try:
        return suite(perfabi)
    finally:
        RATE.write_text(was)


NAMES = {
    "one cpu of those online": lambda perfabi: suite(perfabi, "taskset", "-c", "0"),
    "64 files": lambda perfabi: in_shell(perfabi, "ulimit -n 64"),
    "64 KiB of locked memory": lambda perfabi: in_shell(perfabi, "ulimit -l 64"),
    "64 files, 64 KiB, no way to raise them": lambda perfabi: in_shell(
        perfabi, "ulimit -n 64; ulimit -l 64", "setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource"),
    "a low perf_event_max_sample_rate": slower,
    "a user namespace of one uid": lambda perfabi: suite(perfabi, "unshare", "--user", "--map-root-user"),
    "no /dev": lambda perfabi: in_shell(perfabi, "mount -t tmpfs none /dev", "unshare", "--mount"),
    "no hierarchy of cgroups": lambda perfabi: in_shell(perfabi, "mount -t tmpfs none /sys/fs/cgroup", "unshare", "--mount"),
    "no tracefs where it is looked for": lambda perfabi: in_shell(
        perfabi, "mount -t tmpfs none /sys/kernel/tracing; mount -t tmpfs none /sys/kernel/debug", "unshare", "--mount"),
    "nowhere to write": lambda perfabi: in_shell(
        perfabi, "for d in /tmp /var/tmp /dev/shm; do mount -o bind,ro $d $d; done", "unshare", "--mount"),
    "no /sys": lambda perfabi: in_shell(perfabi, "umount -l /sys", "unshare", "--mount"),
    "a time namespace": lambda perfabi: suite(perfabi, "unshare", "--time", "--monotonic", "1000", "--boottime", "100000"),
    "an ordinary user": lambda perfabi: suite(perfabi, "setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups"),
}
OTHERS = {"another user of perf: " + name: what for name, what in {
    "mmap2 with build ids": 1, "BPF programs": 2, "sampling": 4, "counting": 8, "all of these": 15, "breakpoints": 16,
    "breakpoints that come and go": 48, "all of these and breakpoints, mapped alone": 95}.items()}


def judge(name, result):
    """None, or what is wrong."""
    try:
        report = json.loads(result.stdout)
    except ValueError:
        return f"exit status {result.returncode}: {result.stderr[:400]}"
    summary = report["summary"]
    print(f"{name}: " + ", ".join(f"{summary[key]} {key}" for key in ("pass", "fail", "unstable", "skip", "xfail", "xpass", "error")), flush=True)
    wrong = [r for r in report["results"] if r["outcome"] in ("fail", "unstable", "error", "xpass")]
    if result.returncode or wrong or not summary["pass"]:
        return f"exit status {result.returncode}\n" + "\n".join(
            f"  {r['outcome']} {r['id']}: {r.get('expected', '')} / {r.get('got', r.get('reason', ''))}" for r in wrong[:20])
    return None


def too_little(perfabi):
    """Where nothing could be judged nothing is: it is said what to do. None, or what is wrong."""
    raises_nothing = ("setpriv", "--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource")
    for what, before, script, wanted in (
            ("perf's sysctls hidden", ("unshare", "--mount"), "mount -t tmpfs none /proc/sys/kernel", "cannot be read, and cases go by it"),
            ("8 files", raises_nothing, "ulimit -n 8", "the limit of open files is 8 here, and cases need 64"),
            ("files of 4 KiB", raises_nothing, "prlimit --pid $$ --fsize=4096", "the limit of a file's bytes is 4096 here, and cases need 1048576"),
            ("as many processes as one case needs", ("setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups"),
             "prlimit --pid $$ --nproc=10", "processes more can be had here, and"),
            ("no signal may be pending", raises_nothing, "prlimit --pid $$ --sigpending=0",
             "the limit of pending signals is 0 here, and cases need 64")):
        with tempfile.TemporaryDirectory() as folder:  # where any user can go
            os.chmod(folder, 0o755)
            result = in_shell(shutil.copy(perfabi, folder), script, *before)
        print(f"{what}: exit status {result.returncode}, {result.stderr.strip()}", flush=True)
        if result.returncode != 3 or wanted not in result.stderr:
            return f"{what}: exit status {result.returncode}: {result.stderr[:400]}{result.stdout[:400]}"
    return None


def closed(perfabi, preload):
    """Where users may open nothing, the cases that set another perf_event_paranoid run all the same, and those that become one who may not are
    skipped."""
    was = PARANOID.read_text()
    PARANOID.write_text("3")
    wrong = None
    try:
        with tempfile.TemporaryDirectory() as folder:  # where any user can go
            os.chmod(folder, 0o755)
            own, closing = shutil.copy(perfabi, folder), shutil.copy(preload, folder)
            for what in "run", "hunt", "probe":
                nobody = subprocess.run(["setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups", "env", f"LD_PRELOAD={closing}", own, what],
                                        capture_output=True, text=True, check=False)
                said = "".join(line for line in (nobody.stdout + nobody.stderr).splitlines(True) if "waiting for perfabi" not in line)
                print(f"{what} by a user who may open nothing: exit status {nobody.returncode}, {said[:300]}", flush=True)
                if nobody.returncode != 4 or said.count("\n") != 1 or "set perf_event_paranoid to 2 or lower" not in said:
                    wrong = f"{what} by a user who may open nothing: exit status {nobody.returncode}: {said[:400]}"
        result = subprocess.run([perfabi, "run", "--format", "json", "--filter", "as=user", "machine.paranoid", "count.software"],
                                env={**os.environ, "LD_PRELOAD": preload}, capture_output=True, text=True, check=False)
        others = subprocess.run([perfabi, "run", "--format", "json", "machine.others"], capture_output=True, text=True, check=False,
                                env={**os.environ, "LD_PRELOAD": preload, "CLOSED_TO_PERFMON": "1"})
    finally:
        PARANOID.write_text(was)
    wrong = wrong or judge("users may open nothing", result) or judge("CAP_PERFMON may open nothing either", others)
    results = [] if wrong else json.loads(result.stdout)["results"]
    if not wrong and not [r for r in results if r["suite"] == "machine.paranoid" and r["outcome"] == "pass"]:
        return "users may open nothing: no case that sets perf_event_paranoid has passed"
    for r in results:
        shut = r.get("token") == "as.user"
        if shut == (r["suite"] == "machine.paranoid"):
            return f"users may open nothing: {r['outcome']} {r['id']}: {r.get('reason', '')}"
    return wrong


def packed_config(perfabi):
    """A configuration that is packed in another way than perfabi reads is no configuration: it is said, and nothing is judged by it."""
    try:
        text = gzip.decompress(pathlib.Path("/proc/config.gz").read_bytes())
    except OSError:
        print("the kernel does not show its configuration in /proc")
        return None
    for suffix, pack in ("xz", "xz -c"), ("zstd", "zstd -c"), ("bzip2", "bzip2 -c"), (None, "cat"), (None, "gzip -c"):
        with tempfile.NamedTemporaryFile() as packed:
            try:
                packed.write(subprocess.run(pack.split(), input=text, capture_output=True, check=True).stdout)
            except FileNotFoundError:
                continue
            packed.flush()
            result = subprocess.run(
                ["unshare", "--mount", "sh", "-c", f'mount --bind {packed.name} /proc/config.gz; exec "$@"', "sh", perfabi, "run", "--format",
                 "json", "attr.sample-type", "ioctl.set-bpf"], capture_output=True, text=True, check=False)
            wrong = judge(f"configuration by {pack}", result)
            if wrong:
                return wrong
            reasons = {r["reason"] for r in json.loads(result.stdout)["results"] if "the kernel's configuration:" in r.get("reason", "")}
            if suffix and (not reasons or not all(f"is packed by {suffix};" in reason for reason in reasons)) or not suffix and reasons:
                return f"configuration by {pack}: {reasons}"
    return None


def no_proc(perfabi):
    result = in_shell(perfabi, "umount -l /proc", "unshare", "--mount")
    if result.returncode != 3 or "mount -t proc proc /proc" not in result.stderr or result.stdout:
        return f"no /proc: exit status {result.returncode}: {result.stderr[:200]}"
    print("no /proc: it says what to mount")
    return None


def main():
    perfabi, other, *names = sys.argv[1:]
    perfabi = os.path.abspath(perfabi)
    less = other.endswith(".so")
    runs = NAMES if less else {name: beside(os.path.abspath(other), what) for name, what in OTHERS.items()}
    first = [no_proc(perfabi), too_little(perfabi), closed(perfabi, os.path.abspath(other)), packed_config(perfabi)] if less and not names else []
    wrong = [why for why in first if why]
    for name, run in runs.items():
        if names and name not in names:
            continue
        why = judge(name, run(perfabi))
        if why:
            wrong.append(f"{name}: {why}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
