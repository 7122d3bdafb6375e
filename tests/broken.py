#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the loader and the schema against each other.

Every file of tests/broken must be refused by both; every file of tests/broken-loader by the loader,
for what a schema cannot say (duplicate keys and ids, names bound elsewhere, sums that do not fit).
The loader's messages must be those in tests/broken.expected. Every case file of cases/ must be taken
by the loader, with TEST_WHOLE each alone too; schema.sh asks the schema. What is in the folders' baseline/ is no case file but a baseline.

usage: broken.py PERFABI [--update]
"""
import json
import os
import pathlib
import subprocess
import sys

import schema

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPECTED = ROOT / "tests" / "broken.expected"


def load_below(perfabi, path, scratch):
    """(exit status, message) of the loader, with the file alone in a folder of cases, so that its suite is checked too."""
    folder = scratch / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(path.read_bytes())
    done = subprocess.run([perfabi, "check", "--cases", "."], cwd=folder, capture_output=True, text=True,
                          errors="replace")
    return done.returncode, done.stderr


def load_as_baseline(perfabi, path, _):
    """As load_below(), with the file as the baseline of a run that would be of one case."""
    done = subprocess.run([perfabi, "run", "--baseline", path.name, "open.size.zero.user"], cwd=path.parent, capture_output=True,
                          text=True, errors="replace")
    return done.returncode, done.stderr


def main(arguments):
    import tempfile
    perfabi = str(pathlib.Path(arguments[0]).resolve())
    check = schema.validator("case.schema.json")
    kinds = {"broken": (check, load_below), "broken-loader": (None, load_below),
             "broken/baseline": (schema.validator("baseline.schema.json"), load_as_baseline),
             "broken-loader/baseline": (None, load_as_baseline)}
    failures, messages, counts = [], [], {}
    with tempfile.TemporaryDirectory() as scratch:
        for folder, (refusing, loading) in kinds.items():
            paths = sorted((ROOT / "tests" / folder).glob("*.json"))
            counts[folder] = len(paths)
            for path in paths:
                status, message = loading(perfabi, path, pathlib.Path(scratch))
                messages.append(f"# {folder}/{path.name}\n{message}")
                if status != 2:
                    failures.append(f"{path.name}: the loader takes it (exit status {status})")
                if "expected:" not in message or path.name not in message:
                    failures.append(f"{path.name}: the message does not say what and where")
                if refusing and not schema.problem(refusing, json.loads(path.read_text())):
                    failures.append(f"{path.name}: the schema takes it")
    alone = [path for path in sorted((ROOT / "cases").glob("*/*.json")) if path.parent.name not in ("abi", "schema")]
    for words in [["--cases", ROOT / "cases"]] + [[path] for path in alone if os.environ.get("TEST_WHOLE")]:
        done = subprocess.run([perfabi, "check", *words], capture_output=True, text=True, errors="replace")
        if done.returncode:
            failures.append(f"the loader refuses {words[-1]}: {done.stderr}")
    text = "\n".join(messages)
    if "--update" in arguments:
        EXPECTED.write_text(text)
    elif not EXPECTED.exists() or EXPECTED.read_text() != text:
        failures.append("the messages are not those of tests/broken.expected (--update writes them)")
        (ROOT / "build" / "broken.got").write_text(text)
    for failure in failures:
        print(failure)
    print(f"{counts['broken']} files that loader and schema must refuse, {counts['broken-loader']} more for "
          f"the loader alone, {counts['broken/baseline']} and {counts['broken-loader/baseline']} baselines: {len(failures)} failures")
    return 1 if failures or counts["broken"] < 60 or counts["broken/baseline"] < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
