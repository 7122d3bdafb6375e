# SPDX-License-Identifier: MIT
# A kernel that lies is caught: under strace's injection no case passes that expects anything else.
. tests/e2e/lib.sh
if ! strace -o /dev/null -e inject=getppid:retval=1 true 2>/dev/null; then
	echo "strace cannot trace here; left out"
	exit 0
fi
# Cases that no lie about the open reaches: their steps make none.
"$perfabi" list --json >"$scratch/all.json"
jq -c '[.[] | select(.steps and (.steps | tostring | contains("\"open\"") | not)) | {key: .id, value: true}] | from_entries' \
	"$scratch/all.json" >"$scratch/without.json"
# lie NAME INJECTION JQ-CONDITION : runs under it; what passed must expect it, and fulfil the condition.
lie() {
	jq -c --arg errno "\"$1\"" --slurpfile without "$scratch/without.json" \
		'([.[] | select([.expect, .outcome, .steps] | tostring | contains($errno) or contains("\"otherwise\"")) |
		   {key: .id, value: true}] | from_entries) + $without[0]' "$scratch/all.json" >"$scratch/may.json"
	strace -f -qq -o /dev/null -e trace=perf_event_open -e "inject=perf_event_open:$2" \
		"$perfabi" run -j 2 --timeout 30 --format json >"$scratch/report.json" 2>"$scratch/err" || true
	jq -e .summary "$scratch/report.json" >/dev/null || { cat "$scratch/err"; fail "$1: no report"; }
	jq -c --arg name "$1" '[$name, .summary]' "$scratch/report.json"
	jq -r --slurpfile may "$scratch/may.json" \
		".results[] | select(.outcome == \"pass\") | select((\$may[0][.id] and ($3)) | not) | .id" \
		"$scratch/report.json" >"$scratch/out"
	[ ! -s "$scratch/out" ] || { head "$scratch/out"; fail "under $1 these pass"; }
}
for errno in EINVAL ENOENT EACCES EXDEV; do
	lie "$errno" "error=$errno" '(.capability // "") != "yes"'
done
lie "success" "retval=42" 'true'
