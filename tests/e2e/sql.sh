# SPDX-License-Identifier: MIT
# The rows of perfabi probe in a real database: 10,000 hosts, each like one of the recorded machines or this one.
. tests/e2e/lib.sh
for tool in node npm; do
	command -v $tool >/dev/null || { echo "left out: there is no $tool"; exit 0; }
done
cp tests/sql/* "$scratch"
(cd "$scratch" && npm install --silent --no-audit --no-fund >npm.log 2>&1) || { echo "left out: npm install: $(tail -1 "$scratch/npm.log")"; exit 0; }
"$perfabi" probe --format jsonl >"$scratch/out" || [ $? = 4 ] || fail "probe"
cp "$scratch/out" "$scratch/here.jsonl"
for machine in fixtures/probe/*.json; do
	"$PYTHON" tests/schema.py probed.schema.json "$machine" || fail "$machine"
	status 0 "$perfabi" probe --read "$machine" --format jsonl
	cp "$scratch/out" "$scratch/$(basename "$machine")l"
	"$PYTHON" tests/schema.py --each-line probe-row.schema.json "$scratch/out" || fail "rows of $machine"
done
node "$scratch/probed.mjs" 10000 "$scratch"/*.jsonl || fail "what DuckDB says is not what the files have"
