# SPDX-License-Identifier: MIT
# What of the ABI no case covers has a reason; the cases that the README names are there; the schema
# knows each verb of the steps with the keys that the help shows; no case stops the tracepoints of others.
. tests/e2e/lib.sh
"$PYTHON" ci/coverage-abi "$perfabi" >"$scratch/out" || { tail -20 "$scratch/out"; fail "coverage-abi"; }
tail -1 "$scratch/out"
"$perfabi" help steps >"$scratch/steps"
"$PYTHON" - "$scratch/steps" <<'PY'
import json, re, sys
help, verb, shown = open(sys.argv[1]).read(), None, {}
for line in help.splitlines():
    if m := re.match(r" {2}( {2})?([a-z][a-z-]*) ", line):
        verb = shown.setdefault((bool(m[1]), m[2]), [])
    elif m := re.match(r" {16}([a-z0-9]+) ", line):
        verb.append(m[1])
branches = json.load(open("cases/schema/step.schema.json"))["oneOf"]
for b in branches:
    own = b["required"][0]
    kind = b["properties"][own]["anyOf"][0].get("const")
    keys = set(b["propertyNames"]["enum"]) - {own, "bind", "expect", "when"}
    kind = kind if isinstance(kind, str) else None
    there = shown.get((kind is not None, kind or own))
    assert there is not None, f"the help has no {own} {kind or ''}"
    assert keys <= set(there), f"the help of {own} {kind or ''} lacks {keys - set(there)}"
assert len(branches) >= 65 and len(shown) == len(branches) + 1, (len(branches), len(shown))  # and the line of workload
PY
"$PYTHON" - <<'PY'
"""A BPF program belongs to the tracepoint, not to the event: what it returns goes for all tasks' hits. A case that has one runs alone."""
import json, pathlib, re
rare = {"sched:sched_kthread_stop", "sched:sched_process_hang"}  # which no case counts
found = 0
for path in pathlib.Path("cases").glob("*/*.json"):
    file = json.loads(path.read_text())
    for case in file.get("cases", []) if "suite" in file else []:
        whole = json.dumps([case, file.get("defaults", {}).get("open", {})])
        if not re.search(r'"ioctl": "set_bpf"|"bpf-link"', whole) or '"tracepoint"' not in whole or not re.search(r'"bpf": "(tracepoint|\$)', whole):
            continue
        if re.search(r'"set_bpf", [^{}]*"expect": {"errno"', whole) and len(re.findall('"set_bpf"', whole)) == 1:
            continue  # no program is attached
        steps = json.dumps(case["steps"])
        hit = set(re.findall(r"\$tracepoint\.([\w:]+)", steps if "$tracepoint" in steps else whole)) - rare
        found += bool(hit)
        assert not hit or case.get("alone") or file.get("defaults", {}).get("alone"), f"{file['suite']}.{case['name']} has a program on {hit}, and does not run alone"
assert found >= 7, found
PY
