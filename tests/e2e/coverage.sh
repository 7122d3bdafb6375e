# SPDX-License-Identifier: MIT
# What of the ABI no case covers has a reason; the cases that the README names are there; the schema
# knows each verb of the steps with the keys that the help shows.
. tests/e2e/lib.sh
"$PYTHON" ci/coverage-abi "$perfabi" >"$scratch/out" || { tail -20 "$scratch/out"; fail "coverage-abi"; }
tail -1 "$scratch/out"
"$perfabi" help steps >"$scratch/steps"
"$PYTHON" - "$scratch/steps" <<'PY'
import json, re, sys
branches = {b["required"][0]: set(b["propertyNames"]["enum"])
            for b in json.load(open("cases/schema/case.schema.json"))["$defs"]["step"]["oneOf"]}
help = open(sys.argv[1]).read()
verbs = {m[1]: set((m[2] or "").split()) for m in re.finditer(r"^  ([a-z][a-z-]*) +.*\n(?: {16}(?! *keys:).*\n)*(?: +keys: (.*)\n)?", help, re.M)}
verbs.pop("counted:", None)
assert len(verbs) >= 50, len(verbs)
for verb, keys in verbs.items():
    assert verb in branches, f"the schema has no verb {verb}"
    missing = keys - branches[verb]
    assert not missing, f"the schema does not let {verb} have {missing}"
for verb in branches:
    assert verb in verbs, f"the help has no verb {verb}"
PY
