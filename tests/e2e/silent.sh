# SPDX-License-Identifier: MIT
# A machine whose breakpoints open and never fire: run, probe and why say so, and a baseline's entry of the machine, and no other, makes the failures xfails.
. tests/e2e/lib.sh
silent() { NEVER_FIRES=1 LD_PRELOAD=$PWD/$B/tests/silent.so "$perfabi" "$@"; }
broken='[.results[] | select(.outcome == "fail" or .outcome == "xfail") | .id]'

silent run --baseline none --format json:"$scratch/none.json" --format pretty count.breakpoint probe.breakpoints >"$scratch/out" 2>"$scratch/err" && got=0 || got=$?
holds .summary "$scratch/none.json" || { cat "$scratch/err"; fail "no report"; }
if holds '(.environment | has("breakpoint_hits") | not) or
	([.results[] | select(.suite == "count.breakpoint" and (.id | contains(".write."))) | .token // ""] | all(. != ""))' "$scratch/none.json"; then
	jq -r '[.results[] | select(.token and (.id | contains(".write."))) | "\(.token): \(.reason)"] | unique | .[]' "$scratch/none.json"
	echo "left out: no breakpoint can be opened here, so none can be silent"
	exit 0
fi

# Nothing knows it: what does not ask for hits beforehand fails, and the rest is skipped.
[ "$got" = 1 ] || { cat "$scratch/out"; fail "exit status $got, not 1"; }
holds "$broken | length > 0 and all(startswith(\"count.breakpoint.write.\") or startswith(\"probe.breakpoints.at-once.\"))" "$scratch/none.json" ||
	{ jq -c "$broken" "$scratch/none.json"; fail "other failures than write and at-once"; }
holds '[.results[] | select(.id | startswith("count.breakpoint.write.")) | .outcome] | all(. == "fail" or . == "skip")' "$scratch/none.json" || fail "count.breakpoint.write"
holds '[.results[] | select(.id | startswith("count.breakpoint.read-write.")) | .token | select(startswith("as.") | not)] | unique == ["breakpoint.counts"]' "$scratch/none.json" ||
	fail "what asks for hits is not skipped"
holds '.environment.breakpoint_hits == 0' "$scratch/none.json" || fail "the report does not say what a store counted"

# probe and why, which ask the same question, have no failure to tell, but a reason.
silent probe --json breakpoints >"$scratch/probe.json" || fail "probe"
# reasons FILE : what is said of those that opened, each once
reasons() { jq -c '[.topics[].capabilities[].answers[] | select(.answer == "no" and (has("errno") or has("token") | not)) | .because[:27]] | unique' "$1"; }
[ "$(reasons "$scratch/probe.json")" = '["it opens, and never fires: "]' ] || { reasons "$scratch/probe.json"; fail "probe gives another reason"; }
# The reason has a condition: where it does not hold, it is not given.
cp -r cases "$scratch/cases"
jq '(.reasons[] | select(.when.token == "breakpoint.hits==0").when.token) = "!breakpoint.hits==0"' cases/probe.json >"$scratch/cases/probe.json"
silent probe --json --cases "$scratch/cases" breakpoints.write breakpoints.sigtrap >"$scratch/probe.json" || fail "probe of other reasons"
case $(reasons "$scratch/probe.json") in
*fires* | '[]') reasons "$scratch/probe.json" && fail "a reason is given that does not hold here" ;;
*"signals do"*) [ "$(uname -m)" = aarch64 ] || fail "SIGTRAP: arm64's reason elsewhere" ;;
esac
call='{"as": "user", "open": {"attr": {"type": "breakpoint", "config": 0, "bp_type": ["w"], "bp_addr": 4096, "bp_len": 4, "exclude_kernel": 1, "exclude_hv": 1}}}'
echo "$call" | silent predict - >"$scratch/predicted" || fail "predict"
if holds .ok "$scratch/predicted"; then
	echo "$call" | status 0 silent why --json -
	holds '[.. | strings | select(startswith("it opens, and never fires: "))] != []' "$scratch/out" || { cat "$scratch/out"; fail "why does not say it"; }
else
	cat "$scratch/predicted"
	echo "a user may open no breakpoint here: why is not asked"
fi
if [ "$(id -u)" = 0 ] && silent why mem:0x1000:w >"$scratch/out"; then
	tr -s ' \n' ' ' <"$scratch/out" | grep -q "it opens, and never fires: " || { cat "$scratch/out"; fail "why of an event does not say it"; }
	if grep -q "proves nothing" "$scratch/out"; then fail "why: the count of 0 proves something here"; fi
fi
# Of a report the same can be asked elsewhere: nothing of this machine is put in its place.
echo "$call" | "$perfabi" why --json -m "$scratch/none.json" - >"$scratch/out" 2>"$scratch/err" || true
if holds .ok "$scratch/predicted" && ! grep -q "it opens, and never fires: " "$scratch/out"; then
	cat "$scratch/out" "$scratch/err"
	fail "why of a recorded machine does not say it"
fi

# An entry of this machine, by what the report has of it.
jq '{hypervisor: .environment.hypervisor, vendor: .host.cpu_vendor, cpu: .host.cpu_model} | map_values(select(. != null and . != "") | gsub("[*?\\[\\\\]"; "?"))' \
	"$scratch/none.json" >"$scratch/machine.json"
[ "$(jq length "$scratch/machine.json")" -gt 0 ] || { echo "left out: this machine names neither hypervisor nor processor"; exit 0; }
# entry WHEN : a baseline of that condition
entry() {
	jq -c "{deviations: [{id: [\"count.breakpoint.write\", \"probe.breakpoints.at-once\"], when: ($1), why: \"watchpoints open and never fire\", seen: [\"2.6.32\"]}]}" \
		"$scratch/machine.json" >"$scratch/baseline.json"
}
entry .
silent run --baseline "$scratch/baseline.json" --format json:"$scratch/known.json" --format tap:"$scratch/known.tap" --format junit:"$scratch/known.xml" --format pretty \
	--update-baseline "$scratch/updated.json" count.breakpoint probe.breakpoints >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/out" "$scratch/err"; fail "the entry does not hold"; }
says out "This machine breaks 1 promise:"
says out "  watchpoints open and never fire"
if grep -q "This kernel breaks" "$scratch/out"; then fail "the kernel is blamed"; fi
holds "$broken == ($(jq -c "$broken" "$scratch/none.json"))" "$scratch/known.json" || fail "not the same cases"
holds '[.results[] | select(.outcome == "xfail") | .whose] | unique == ["machine"]' "$scratch/known.json" || fail "json: whose"
grep -q '^not ok .* # [A-Z]* this machine, not its kernel: watchpoints open and never fire' "$scratch/known.tap" || fail "tap"
grep -q '<skipped message="known to fail: this machine, not its kernel: watchpoints open and never fire' "$scratch/known.xml" || fail "junit"
"$perfabi" diff --json "$scratch/none.json" "$scratch/known.json" >"$scratch/diff.json" || fail "diff: something is worse"
holds '[.other[].because] | unique == ["this machine, not its kernel: watchpoints open and never fire"]' "$scratch/diff.json" || fail "diff"
"$perfabi" report "$scratch/known.json" -o "$scratch/page.html" || fail "report"
grep -q '"whose":"machine"' "$scratch/page.html" || fail "the page does not know whose it is"
# It is kept as it was, but for the version.
[ "$(jq -c '.deviations[] | del(.seen)' "$scratch/updated.json")" = "$(jq -c '.deviations[] | del(.seen)' "$scratch/baseline.json")" ] ||
	{ cat "$scratch/updated.json"; fail "the entry is not kept"; }
"$perfabi" run --baseline "$scratch/baseline.json" --format json --update-baseline "$scratch/updated.json" count.breakpoint.write >"$scratch/xpass.json" 2>"$scratch/err" || true
if holds '[.results[].outcome] | all(. == "xpass")' "$scratch/xpass.json"; then
	cmp -s "$scratch/updated.json" "$scratch/baseline.json" ||
		[ "$(jq -c .deviations "$scratch/updated.json")" = "$(jq -c .deviations "$scratch/baseline.json")" ] || fail "a machine's entry ends with a kernel"
else
	echo "breakpoints are silent here by themselves, or cannot be seen: a pass against the entry is not tried"
fi

# Of another machine it is not.
for other in '. + {hypervisor: "no such"}' '. + {vendor: ["no", "such"]}' '. + {cpu: "no such*"}'; do
	entry "$other"
	status 1 silent run --baseline "$scratch/baseline.json" count.breakpoint.write
	says out "FAIL count.breakpoint.write."
done
entry 'map_values([.[:2] + "*", "no such"])'
status 0 silent run --baseline "$scratch/baseline.json" count.breakpoint.write
# What passes without breakpoint.counts there needs no hit; but for cases that expect none, which prove something only where there are some.
silent run --try-skipped --format json:"$scratch/tried.json" --format pretty count.breakpoint group.output inherit ioctl overflow records.read sample.values >"$scratch/out" 2>"$scratch/err" || true
jq -r '.results[] | select(.without and .token == "breakpoint.counts").id' "$scratch/tried.json" |
	grep -v '^count.breakpoint.\(beside\|kernel-writes\|no-call\|other-thread\)\.\|^ioctl.modify-attributes.disable\.\|^overflow.sigtrap.\(gone-at-exec\|inherit-thread-not-fork\)\.' >"$scratch/wasted" || true
[ ! -s "$scratch/wasted" ] || { cat "$scratch/wasted"; fail "these require breakpoint.counts and need no hit"; }
says out "skipped, and pass without what they require:"
holds '[.results[] | select(.without) | .outcome] | unique == ["skip"]' "$scratch/tried.json" || fail "what is skipped stays so"
