# SPDX-License-Identifier: MIT
# Every file below cases/ is valid by its schema, and the schemas are those that the program and cases/abi make.
. tests/e2e/lib.sh
check() { "$PYTHON" tests/schema.py "$@" || fail "$1"; }
check abi.schema.json cases/abi/*.json
# shellcheck disable=SC2046 # names without spaces
check case.schema.json $(ls cases/*/*.json | grep -v '^cases/\(abi\|schema\)/')
check --named cases/*.json
# Each jsonschema that is installed finds one schema from another: what does that has changed with 4.18.
for python in python3 /usr/bin/python3; do
	if "$python" -c 'import jsonschema' 2>/dev/null; then
		"$python" -W error tests/schema.py case.schema.json cases/open/size.json || fail "schema.py with the jsonschema of $python"
		! "$python" -W error tests/schema.py case.schema.json cases/checks.json >"$scratch/out" || fail "$python: checks.json is no case file"
		says out "cases/checks.json: /"
	fi
done
ci/schema-names >"$scratch/names" || fail "ci/schema-names"
cmp "$scratch/names" cases/schema/names.schema.json || fail "names.schema.json is out of date: make schema"
# The rest are the rows of the program; by hand are those of what it writes, and of what it does not read.
"$perfabi" help help | tr ', ' '\n\n' | sed -n 's/-schema$//p' >"$scratch/made"
[ "$(wc -l <"$scratch/made")" = 10 ] || fail "ten schemas: $(cat "$scratch/made")"
while read -r name; do
	"$perfabi" help "$name-schema" >"$scratch/schema" || fail "help $name-schema"
	cmp "$scratch/schema" "cases/schema/$name.schema.json" || fail "$name.schema.json is out of date: make schema"
done <"$scratch/made"
# The tokens that the help shows are those that the schema takes.
"$perfabi" help tokens | sed -n 's/^  \([^ ]*\) .*/\1/p' >"$scratch/tokens"
[ "$(wc -l <"$scratch/tokens")" -ge 15 ] || fail "help tokens"
"$PYTHON" - "$scratch/tokens" <<'PY'
import json, re, sys
pattern = json.load(open("cases/schema/names.schema.json"))["$defs"]["token"]["pattern"]
for token in open(sys.argv[1]).read().split():
    assert re.search(pattern, token), token
PY
