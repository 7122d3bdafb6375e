# SPDX-License-Identifier: MIT
"""Prints what of cases/abi no recording of a real kernel in fixtures/recorded covers: records, sample_type bits, members of a sample."""

import collections
import glob
import gzip
import json
import pathlib

TOP = pathlib.Path(__file__).resolve().parent.parent


def constants(family):
    for path in sorted((TOP / "cases/abi").glob("*.json")):
        found = json.loads(path.read_text()).get("constants", {}).get(family)
        if found:
            return [value["name"] for value in found["values"]]
    raise SystemExit(f"cases/abi has no constants {family}")


def walk(fields, into):
    """The names that a layout shows at its top."""
    for field in fields:
        if "name" in field:
            into.add(field["name"])
        for key in ("then", "else"):
            walk(field.get(key, []), into)
    return into


def main():
    seen, big = collections.defaultdict(set), collections.defaultdict(set)
    sample_types = set()
    for path in sorted(glob.glob(str(TOP / "fixtures/recorded/*.jsonl.gz"))):
        for line in gzip.open(path, "rt"):
            record = json.loads(line)
            if record["type"] == "header":
                is_big = record.get("byte_order") == "big"
                for one in record.get("attrs", []):
                    sample_types.update(one["attr"].get("sample_type", []))
            elif record["type"].isupper():
                seen[record["type"]].update(record)
                if is_big:
                    big[record["type"]].update(record)
    records = [name.upper() for name in constants("record")]

    def put(what, names):
        print(f"- {what}: " + (", ".join(f"`{name}`" for name in names) or "none"))

    put("records", [name for name in records if name not in seen])
    put("records in big endian", [name for name in records if name not in big])
    put("sample_type", [name for name in constants("sample_type") if name not in sample_types])
    layout = json.loads((TOP / "cases/abi/sample.json").read_text())["layouts"]["sample"]
    put("members of a sample", sorted(walk(layout, set()) - seen["SAMPLE"]))


main()
