# SPDX-License-Identifier: MIT
# A kernel with one answer to every open is caught: no case passes that expects anything else.
# more with test-all: more lies, of all suites
. tests/e2e/lib.sh
has_perf_events || { echo "left out: kernels that lie, for this one has no perf events"; exit 0; }
# Cases that no lie about the open reaches: their steps make none.
"$perfabi" list --json >"$scratch/all.json"
jq -c '[.[] | select(.steps and (.steps | tostring | contains("\"open\"") | not)) | {key: .id, value: true}] | from_entries' \
	"$scratch/all.json" >"$scratch/without.json"
# Some suites; with TEST_WHOLE all.
chosen="-j 1 open.flags open.target count.software count.tracepoint attr.fields"
[ -z "$TEST_WHOLE" ] || chosen="-j 2"
# lie NAME ANSWER JQ-CONDITION : runs under it; what passed must expect it, and fulfil the condition.
lie() {
	jq -c --arg errno "\"$1\"" \
		'([.[] | select([.expect, .outcome, .steps] | tostring | contains($errno) or contains("\"otherwise\"")) |
		   {key: .id, value: true}] | from_entries)' "$scratch/all.json" >"$scratch/may.json"
	ANSWER=$2 LD_PRELOAD=$PWD/$B/tests/answer.so "$perfabi" run --timeout 30 --format json $chosen >"$scratch/report.json" 2>"$scratch/err" || true
	holds .summary "$scratch/report.json" >/dev/null || { cat "$scratch/err"; fail "$1: no report"; }
	jq -c --arg name "$1" '[$name, .summary]' "$scratch/report.json"
	jq -r --slurpfile may "$scratch/may.json" --slurpfile without "$scratch/without.json" \
		".results[] | select(.outcome == \"pass\") | select((\$without[0][.id] or (\$may[0][.id] and ($3))) | not) | .id" \
		"$scratch/report.json" >"$scratch/out"
	[ ! -s "$scratch/out" ] || { head "$scratch/out"; fail "under $1 these pass"; }
}
if [ -n "$TEST_WHOLE" ]; then
	lie ENOENT -2 '(.capability // "") != "yes"'
	lie EACCES -13 '(.capability // "") != "yes"'
	lie EXDEV -18 '(.capability // "") != "yes"'
fi
lie EINVAL -22 '(.capability // "") != "yes"'
lie success 42 'true'

# Whom everything is refused learns nothing of one bit: it is as on the kernels of that version.
for errno in 13 38; do
	ANSWER=-$errno LD_PRELOAD=$PWD/$B/tests/answer.so "$perfabi" probe --json limits >"$scratch/out" 2>"$scratch/err" || true
	jq -c '[.. | objects | select(has("kernel.text_poke_is_privileged")) | [.["kernel.text_poke_is_privileged"], .["kernel.has_regs"]]] | unique' "$scratch/out" >"$scratch/learned"
	case $(uname -r) in
	[1-6].*) grep -qx '\[\]\|\[\[0,null\]\]' "$scratch/learned" || { cat "$scratch/learned"; fail "errno $errno for all calls is taken for an answer"; } ;;
	esac
done

needs_events "kernels that refuse breakpoints alone"
# Where breakpoints alone are refused, and others cannot be seen: no case is skipped as if they held the slots.
held="-j 1 count.breakpoint machine.quiet overflow.sigtrap probe.breakpoints"
[ -z "$TEST_WHOLE" ] || held=
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	ANSWER=-22 ANSWER_TYPE=5 LD_PRELOAD=$PWD/$B/tests/answer.so unshare --pid --fork --mount-proc \
		"$perfabi" run $held --filter as=user --format json >"$scratch/report.json" 2>"$scratch/err" || true
	holds '[.results[] | select(.outcome == "skip" and (.token // "" | contains("slots")))] | length == 0' "$scratch/report.json" >/dev/null ||
		fail "skipped for slots that nobody holds"
	holds '[.results[] | select(.id == "machine.quiet.slots.user" or .id == "count.breakpoint.write.user.8") | .outcome + ":" + (.token // "")] |
		. == ["fail:", "fail:"] or . == ["skip:breakpoint", "skip:breakpoint"]' \
		"$scratch/report.json" >/dev/null || fail "breakpoints that are refused are not seen"
else
	echo "no pid namespace can be made; breakpoints that are refused: not tried"
fi

chosen="open.flags count.breakpoint overflow.sigtrap"
[ -z "$TEST_WHOLE" ] || chosen=
# A processor without breakpoints, whose kernel has the PMU: what needs one is skipped, and says so.
ANSWER=-19 ANSWER_TYPE=5 LD_PRELOAD=$PWD/$B/tests/answer.so "$perfabi" run --format json $chosen >"$scratch/report.json" \
	2>"$scratch/err" || true
cp "$scratch/report.json" "$scratch/without.report"
"$perfabi" run --format json $chosen >"$scratch/report.json" 2>"$scratch/err" || true
jq -r '.results[] | select(.outcome == "fail") | .id' "$scratch/report.json" >"$scratch/anyway"
jq -r '.results[] | select(.outcome == "fail") | .id' "$scratch/without.report" | grep -vxF -f "$scratch/anyway" && fail "without breakpoints these fail"
cp "$scratch/without.report" "$scratch/report.json"
holds '[.results[] | select(.suite == "count.breakpoint" or .suite == "overflow.sigtrap") | .outcome] | unique == ["skip"]' \
	"$scratch/report.json" || fail "without breakpoints their cases run"

# A hit that is lost once is a failure that does not come each time, unless a debugger loses hits meanwhile, too. As root, who can leave
# the file that ends it.
[ "$(id -u)" = 0 ] || { echo "left out: this is not root"; exit 0; }
cat >"$scratch/missed.json" <<'EOT'
{"suite": "missed", "about": "t", "spec": {"kernel": "perf_bp_event"}, "cases": [
 {"name": "always", "title": "t", "as": "root", "requires": ["breakpoint.counts"], "steps": [
  {"buffer": 64, "bind": "w"},
  {"open": {"attr": {"type": "breakpoint", "config": 0, "bp_type": ["w"], "bp_addr": "$w", "bp_len": 4, "exclude_kernel": 1}}, "bind": "e"},
  {"workload": "store", "at": "$w", "times": 1, "counted": "e"},
  {"read": "e", "expect": {"value": 3}}]},
 {"name": "once", "title": "t", "as": "root", "requires": ["breakpoint.counts"], "steps": [
  {"buffer": 64, "bind": "w"},
  {"open": {"attr": {"type": "breakpoint", "config": 0, "bp_type": ["w"], "bp_addr": "$w", "bp_len": 4, "sample_period": 777, "exclude_kernel": 1}}, "bind": "e"},
  {"workload": "store", "at": "$w", "times": 3, "counted": "e"},
  {"read": "e", "expect": {"value": 3}}]}]}
EOT
# It is tried whatever failed before it, as `always` does.
# missed UNTIL OUTCOME TRIED : what comes of it, and in how many of how many runs it failed
missed() {
	until=$1
	has_slots() { # which somebody else may hold for a while
		MISS_UNTIL=$until LD_PRELOAD=$PWD/$B/tests/answer.so "$perfabi" run --jobs 1 --format json "$scratch/missed.json" >"$scratch/report.json" || true
		! holds '[.results[].got] | index("ENOSPC from pmu")' "$scratch/report.json"
	}
	comes_true has_slots || { echo "left out: hits that go missing, for somebody else holds the breakpoints"; exit 0; }
	holds ".results[1] | \"\(.outcome) \(.token // .got) \(.tried // {} | [.failed, .runs])\" == \"$2 $3\" or
		(.token == \"breakpoint.counts\" and (.reason | startswith(\"failed\") | not))" \
		"$scratch/report.json" || { cat "$scratch/report.json"; fail "hits that go missing until $1"; }
}
missed "$scratch/until" "unstable 0" "[1,8]"
# What the baseline knows is known, also where rounds differ.
echo '{"deviations": [{"id": "missed.once", "function": "f", "why": "forgets", "seen": ["2.6.32"]}, {"id": "missed.always", "function": "f", "why": "forgets", "seen": ["2.6.32"]}]}' >"$scratch/known.json"
rm "$scratch/until"
MISS_UNTIL="$scratch/until" LD_PRELOAD=$PWD/$B/tests/answer.so "$perfabi" run --jobs 1 --repeat 4 --baseline "$scratch/known.json" --format json "$scratch/missed.json" >"$scratch/report.json" || true
holds '[.results[] | select(.token | not) | .outcome] | unique - ["xfail"] == []' "$scratch/report.json" || fail "rounds that differ, and are known to"
missed "" "fail 0" "[8,8]"
if [ "$(jq -r .environment.arch "$scratch/report.json")" = x86 ]; then
	export FORGETS_REGISTERS=1
	rm "$scratch/until"
	missed "$scratch/until" "skip case.machine.quiet.debug-registers" "[null,null]"
	missed "" "fail 0" "[8,8]"
fi
