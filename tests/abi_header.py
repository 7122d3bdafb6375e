#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds cases/abi against the host's <linux/perf_event.h>.

Every name that both have must have one value, every field one offset. Names that the header has and
cases/abi lacks are listed: the header is newer than what we describe. An older header costs nothing.

usage: abi_header.py CC SCRATCH
"""
import glob
import json
import re
import subprocess
import sys

INTERNAL = re.compile(r"(_MAX|_MASK|_SHIFT|^PERF_ATTR_SIZE|^PERF_MEM_[A-Z]|^PERF_BRANCH_|^PERF_BR_PRIV|"
                      r"^PERF_EVENT_IOC|^PERF_TXN_ABORT|^PERF_FLAG|^PERF_IOC|_NS_INDEX|^PERF_REG|^PERF_PMU|"
                      r"^PERF_HW_EVENT|^PERF_RECORD_MISC_CPUMODE|^PERF_BR_ARM64|^__|^PERF_AUX_FLAG_CORE|^PERF_AUX_FLAG_PMU|"
                      r"^PERF_SAMPLE_WEIGHT_TYPE|_LAST$|_PLM_ALL$)")


def ours():
    """C name -> value, and field -> (offset, size) for whole fields, and attr sizes."""
    names, fields, sizes = {}, {}, {}
    for path in sorted(glob.glob("cases/abi/*.json")):
        data = json.load(open(path))
        for name, family in data.get("constants", {}).items():
            if family["kind"] == "layout" or name in ("ioctl", "clockid") or "bits" in family:
                continue
            for value in family["values"]:
                number = 1 << value["bit"] if "bit" in value else int(str(value["value"]), 0)
                names[family["prefix"] + value["name"].upper() + family.get("suffix", "")] = number
        for field in data.get("attr", {}).get("fields", []):
            if "bits" not in field:
                for entry in [field, *field.get("aliases", [])]:
                    fields[entry["name"]] = field["offset"]
        for size in data.get("attr", {}).get("sizes", []):
            sizes["PERF_ATTR_SIZE_" + size["name"]] = size["size"]
    return names, fields, sizes


def theirs(cc):
    text = subprocess.run([cc, "-E", "-dD", "-"], input="#include <linux/perf_event.h>\n#include <linux/hw_breakpoint.h>\n",
                          capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r"^\s*((?:PERF_|HW_BREAKPOINT_)[A-Z0-9_]+)\s*(?:=|,|$)", text, re.M))
    names |= set(re.findall(r"^#define ((?:PERF_|HW_BREAKPOINT_)[A-Z0-9_]+) ", text, re.M))
    struct = re.search(r"struct perf_event_attr \{(.*?)\n\};", text, re.S).group(1)
    return names, struct


def main(cc, scratch):
    names, fields, sizes = ours()
    header, struct = theirs(cc)
    both = sorted(header & (set(names) | set(sizes)))
    have = [f for f in fields if re.search(r"\b%s\b" % re.escape(f), struct)]
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <linux/perf_event.h>",
             "#include <linux/hw_breakpoint.h>", "int main(void) {"]
    lines += [f'printf("%s %lld\\n", "{n}", (long long){n});' for n in both]
    lines += [f'printf("attr.%s %zu\\n", "{f}", offsetof(struct perf_event_attr, {f}));' for f in have]
    lines += ['printf("sizeof %zu\\n", sizeof(struct perf_event_attr));', "}"]
    source = f"{scratch}/header.c"
    open(source, "w").write("\n".join(lines))
    subprocess.run([cc, "-o", f"{scratch}/header", source], check=True)
    out = subprocess.run([f"{scratch}/header"], capture_output=True, text=True, check=True).stdout
    wrong = 0
    for line in out.splitlines():
        name, value = line.split()
        if name == "sizeof":
            print(f"the header's struct perf_event_attr has {value} bytes, cases/abi knows {max(sizes.values())}")
            continue
        if name.startswith("attr."):
            wanted = fields[name[5:]]
        else:
            wanted = names.get(name, sizes.get(name))
        if int(value) & (2**64 - 1) != wanted & (2**64 - 1):
            print(f"{name}: the header has {value}, cases/abi {wanted}")
            wrong += 1
    missing = sorted(n for n in header - set(names) - set(sizes) if not INTERNAL.search(n))
    print(f"{len(both)} constants and {len(have)} fields are as in the header, {wrong} are not")
    if missing:
        print("the header has names that cases/abi lacks: " + " ".join(missing))
    return 1 if wrong or len(both) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
