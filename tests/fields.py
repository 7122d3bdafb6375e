#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--fields writes of each line exactly the members that are asked for, with the values of the whole line.

usage: fields.py PERFABI-DECODE RECORDING [OPTION...]

Each member alone, all but each, and a few sets at random; of a long recording, and without TEST_WHOLE of any, a few of these. What is no record's member (diagnostics, the
header, the summary, the bytes of a record that does not fit) is as it is without --fields.
"""
import json
import os
import random
import subprocess
import sys

ALWAYS = {"type", "type_id"}
WHOLE = bool(os.environ.get("TEST_WHOLE"))
LONG, SOME = (60, 16) if WHOLE else (0, 6)  # of a recording with more lines, so many of the sets
WITH = {"within": "offset", "common": "raw"}  # a member that goes with another


def lines_of(decode, recording, *options):
    run = subprocess.run([decode, *options, recording], capture_output=True, check=False)
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


def cut(line, names):
    """What is left of a whole line."""
    if not line["type"].isupper():
        return line
    return {key: value for key, value in line.items() if key in ALWAYS or WITH.get(key, key) in names}


def difference(whole, part, names):
    if part[0] != whole[0]:
        return f"exit status {part[0]} for {whole[0]}"
    if len(part[1]) != len(whole[1]):
        return f"{len(part[1])} lines for {len(whole[1])}"
    for got, line in zip(part[1], whole[1]):
        if got != cut(line, names):
            return f"{json.dumps(got)} for {json.dumps(cut(line, names))}"
    return None


def main():
    decode, recording, *options = sys.argv[1:]
    whole = lines_of(decode, recording, *options)
    members = sorted({key for line in whole[1] if line["type"].isupper() for key in line} - ALWAYS - set(WITH))
    chance = random.Random(1)
    sets = [{name} for name in members] + [set(members) - {name} for name in members if len(members) > 1]
    sets += [set(chance.sample(members, chance.randint(1, len(members)))) for _ in range(8) if members]
    if len(whole[1]) > LONG:
        sets = [{"ip"} & set(members) or set(members[:1])] + chance.sample(sets, min(len(sets), SOME))
    for names in sets:
        part = lines_of(decode, recording, *options, "--fields", ",".join(sorted(names)))
        why = difference(whole, part, names)
        if why:
            sys.exit(f"{recording}: --fields {','.join(sorted(names))}: {why}")
    print(f"{recording}: {len(sets)} sets of members")


if __name__ == "__main__":
    main()
