# SPDX-License-Identifier: MIT
# A kernel that lies is caught: under strace's injection no case passes that expects anything else.
. tests/e2e/lib.sh
if ! strace -o /dev/null -e inject=getppid:retval=1 true 2>/dev/null; then
	echo "strace cannot trace here; left out"
	exit 0
fi
# lie NAME INJECTION JQ-CONDITION : runs under it; what passed must fulfil the condition.
lie() {
	strace -f -qq -o /dev/null -e trace=perf_event_open -e "inject=perf_event_open:$2" \
		"$perfabi" run -j 2 --timeout 30 --format json >"$scratch/report.json" 2>"$scratch/err" || true
	jq -e .summary "$scratch/report.json" >/dev/null || { cat "$scratch/err"; fail "$1: no report"; }
	jq -c --arg name "$1" '[$name, .summary]' "$scratch/report.json"
	jq -r ".results[] | select(.outcome == \"pass\") | select($3 | not) | .id" "$scratch/report.json" >"$scratch/out"
	[ ! -s "$scratch/out" ] || { head "$scratch/out"; fail "under $1 these pass"; }
}
"$perfabi" list --json >"$scratch/all.json"
for errno in EINVAL ENOENT EACCES EXDEV; do
	jq -c "[.[] | select([.expect, .outcome] | tostring | contains(\"\\\"$errno\\\"\")) | {key: .id, value: true}] | from_entries" \
		"$scratch/all.json" >"$scratch/may.json"
	lie "$errno" "error=$errno" '(.capability // "") != "yes" and ([.expected, .kind] | tostring | contains("'$errno'") or contains("capability"))'
	jq -e --slurpfile may "$scratch/may.json" '[.results[] | select(.outcome == "pass") | $may[0][.id]] | all' \
		"$scratch/report.json" >/dev/null || fail "under $errno a case passes that does not expect it"
done
lie "success" "retval=42" 'false'
