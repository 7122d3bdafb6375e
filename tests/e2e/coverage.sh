# SPDX-License-Identifier: MIT
# What of the ABI no case covers has a reason; the cases that the README names are there; the schema
# knows each verb of the steps with the keys that the help shows; no case stops the tracepoints of others,
# or takes $cpu, which is where it runs just then, for the same cpu twice.
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
"""A BPF program belongs to the tracepoint, not to the event: one that returns 0 keeps the hits of all tasks from counting. A case that attaches one runs alone."""
import json, pathlib, re
rare = {"sched:sched_kthread_stop", "sched:sched_process_hang"}  # which no case counts
found = 0


def objects(json):
    if isinstance(json, dict):
        yield json
    for one in json.values() if isinstance(json, dict) else json if isinstance(json, list) else ():
        yield from objects(one)


for path in pathlib.Path("cases").glob("*/*.json"):
    file = json.loads(path.read_text())
    for case in file.get("cases", ()) if "suite" in file else ():
        all_steps = [*case.get("given", ()), *case.get("steps", ()), {key: case[key] for key in ("open", "then") if key in case}]
        here = [step for step in all_steps if re.search(r'"\$cpu\b', json.dumps(step))]
        assert len(here) < 2 or "affinity" in here[0], f"{file['suite']}.{case['name']} uses $cpu twice, and does not pin itself first"
        steps = [one for one in objects(case.get("steps", [])) if one.get("ioctl") == "set_bpf" or "bpf" in one or "bpf-link" in one]
        if all("to" in one for one in steps if "bpf" in one) or all("errno" in one.get("expect", {}) for one in steps if "bpf" not in one):
            continue  # it returns 1, or is not attached
        defaults = file.get("defaults", {})
        text = json.dumps(case["steps"])
        hit = set(re.findall(r"\$tracepoint\.([\w:]+)", text if "$tracepoint" in text else json.dumps(defaults))) - rare
        found += bool(hit)
        assert not hit or case.get("alone") or defaults.get("alone"), f"{file['suite']}.{case['name']} has a program on {hit}, and does not run alone"
assert found >= 4, found
PY
