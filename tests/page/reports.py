#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports as of other machines, made of one of this machine.

usage: reports.py few REPORT FOLDER          eight machines: seven kernels, four architectures, every outcome and answer, a hostile name
       reports.py many REPORT FOLDER M N     M machines of N cases each
"""
import copy
import json
import pathlib
import sys

HOSTILE = "</script><b onmouseover=alert(1)>&amp;\"'{{table}}\u202e"
# name, kernel, machine, arch, and what the case of that number (from the first on, modulo 60) does there
FEW = [
    ("build-9", "7.3.4", "x86_64", "x86", {0: "fail", 1: "xfail", 7: "error", 10: "no", 11: "no"}),
    ("build-8", "7.2.13", "x86_64", "x86", {1: "xfail", 2: "skip", 6: "skip", 10: "denied", 11: "denied"}),
    ("arm-3", "6.12.107", "aarch64", "arm64", {1: "xfail", 3: "xpass", 4: "skip", 5: "skip", 10: "skip", 11: "yes"}),
    ("build-5", "6.12.107", "x86_64", "x86", {1: "xfail", 4: "skip", 10: "denied", 11: "yes"}),
    ("mainframe", "6.12.90-rc2", "s390x", "s390", {3: "fail", 8: None, 10: "no", 11: "yes", 12: "fail", 13: "skip"}),
    ("arm-2", "6.1.176", "aarch64", "arm64", {2: "skip", 6: "fail", 10: "no", 11: "yes"}),
    (HOSTILE, "6.1.100", "x86_64", "x86", {2: "skip", 9: "fail", 10: "no", 11: "yes"}),
    ("no-perf", "6.6.9", "riscv64", "riscv", {number: "skip" for number in range(60)}),
]
ANSWERS = ("yes", "no", "denied")
RUN = ["perfabi", "run"]
AGAIN = {"build-9": RUN, "build-8": [*RUN, "--baseline", "none"], "mainframe": [*RUN, "--cases", "<it's a folder>; x"], "arm-2": ["sh", "-c", "no perfabi"], "arm-3": [*RUN, "a\u202eb\n"]}
DEVIATION = {"id": "some.case", "function": "perf_swevent_init", "why": "does <not> what it \"should\"", "seen": ["6.12", "7.3"], "since": "6.12", "note": "a & b"}


def machine(base, name, kernel, arch, number):
    report = {key: copy.deepcopy(value) for key, value in base.items() if key != "results"}
    report["host"] = {**report["host"], "name": name, "boot_id": f"0000-{number}"}
    report["environment"].update(kernel=kernel, upstream=kernel, machine=arch[0], arch=arch[1])
    return report


def result(one, outcome):
    """As the case would have been reported with that outcome, or answer."""
    one = {key: value for key, value in one.items() if key not in ("reason", "token", "deviation")}
    one["outcome"] = "pass" if outcome in ANSWERS else outcome
    if outcome != "pass":
        one.pop("capability", None)
    if outcome in ANSWERS:
        one.update(kind="capability", capability=outcome)
    if outcome in ("fail", "xfail", "error"):
        one.update(expected="EINVAL from entry", got="ENOENT from <pmu>", phases=["pmu", "validate"])
    if outcome == "fail":
        one["tried"] = {"runs": 8, "failed": 8}
    if outcome == "xfail":
        one["deviation"] = DEVIATION
    if outcome == "skip":
        one = {key: value for key, value in one.items() if key not in ("call", "expected", "got", "phases")}
        one.update(token="kernel>=7.3", reason="this is an <older> kernel")
    if outcome == "error":
        one["reason"] = "a sysctl changed"
    return one


def results(base, what):
    for number, one in enumerate(base["results"]):
        outcome = what.get(number % 60, "pass")
        if outcome:
            yield result(one, outcome)


def write(folder, name, report):
    tally = {}
    for one in report["results"]:
        tally[one["outcome"]] = tally.get(one["outcome"], 0) + 1
    report["summary"] = {**{key: 0 for key in ("pass", "fail", "unstable", "skip", "xfail", "xpass", "error")}, **tally, "seconds": 1.5}
    pathlib.Path(folder, name).write_text(json.dumps(report), encoding="utf-8")


def few(base, folder):
    base["results"][9]["title"] = HOSTILE
    base["results"][14]["title"] = "a text with sattus: in it"
    for number, (name, kernel, kind, arch, what) in enumerate(FEW):
        report = machine(base, name, kernel, (kind, arch), number)
        report["results"] = list(results(base, what))
        if name in AGAIN:
            report["again"] = AGAIN[name]
        else:
            del report["again"]  # as perfabi wrote it before it told that
        write(folder, f"{number}.json", report)


def many(base, folder, machines, cases):
    arches = (("x86_64", "x86"), ("aarch64", "arm64"), ("s390x", "s390"))
    kinds = ("fail", "skip", "xfail", "skip", "error", "xpass")
    for m in range(machines):
        report = machine(base, f"machine-{m}", f"{5 + m // 15}.{m % 15}.{m}", arches[m % 3], m)
        what = {(m * 7 + k * 11) % 60: kinds[(m + k) % 6] for k in range(m % 6)}
        report["results"] = list(results({"results": base["results"][:cases]}, what))
        write(folder, f"{m:03}.json", report)


def main():
    mode, report, folder = sys.argv[1:4]
    base = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))
    pathlib.Path(folder).mkdir(exist_ok=True)
    if mode == "few":
        few(base, folder)
    else:
        many(base, folder, int(sys.argv[4]), int(sys.argv[5]))


if __name__ == "__main__":
    main()
