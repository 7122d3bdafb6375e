# SPDX-License-Identifier: MIT
# The suite on this kernel, as whoever runs the tests: every case is judged, or has the reason why not.
# more with test-all: every case, not one in five
. tests/e2e/lib.sh
least=1500
if [ -z "$TEST_WHOLE" ]; then
	least=300
	"$perfabi" list >"$scratch/out" || fail "list"
	# Five, for the ids go by two and by four: by each caller, on each vehicle.
	awk 'BEGIN {srand(); first = int(rand() * 5)} NR % 5 == first {print $1}' "$scratch/out" >"$scratch/chosen"
	echo "every fifth case, from $(head -n 1 "$scratch/chosen") on"
	# By one worker, for other tests run beside this one.
	# shellcheck disable=SC2046 # ids are meant to be split
	set -- -j 1 $(cat "$scratch/chosen")
fi
got=0
"$perfabi" run "$@" --format "json:$scratch/report.json" --format pretty || got=$?
judged "$scratch/report.json" $got
if [ "$(id -u)" -eq 0 ] && holds '.environment.identities.root == "opens events"' "$scratch/report.json"; then
	holds ".summary | .pass + .fail + .xfail + .xpass >= $least" "$scratch/report.json" || fail "fewer than $least cases were judged as root"
fi
# Every result names where its promise stands, every skip its token and what was found, every failure what came.
holds '[.results[] | (.spec.man // .spec.kernel) != null] | all' "$scratch/report.json" || fail "a promise of nobody's"
holds '[.results[] | select(.outcome == "skip") | .token and .reason] | all' "$scratch/report.json" || fail "a skip without its reason"
holds '[.results[] | select(.outcome == "fail") | .got and .expected] | all' "$scratch/report.json" || fail "a failure that does not say what came"

# What the kernel reports of itself during the run is an alarm, with the cases that were running; what it had reported before is none.
# alarmed TAINTED LINE PREFIX... : a run of two cases that sleep side by side, into $scratch/report.json and others. As both sleep, the kernel's
# log gets a line, and `tainted` its value. PREFIX begins the command that runs perfabi.
alarmed() {
	echo 512 >"$scratch/tainted"
	echo '4,1,100,-;WARNING: CPU: 0 PID: 1 at before' >"$scratch/kmsg"
	got=0
	unshare --mount sh -c '
		scratch=$1 perfabi=$2 tainted=$3 line=$4
		shift 4
		mount --bind "$scratch/tainted" /proc/sys/kernel/tainted && mount --bind "$scratch/kmsg" /dev/kmsg || exit 77
		: >"$scratch/report.jsonl"
		"$@" "$perfabi" run -j 2 --baseline none --format json:"$scratch/report.json" --format jsonl:"$scratch/report.jsonl" --format pretty:"$scratch/pretty" \
			--format tap:"$scratch/tap" --format ktap:"$scratch/ktap" --format junit:"$scratch/junit" read.times.not-while-asleep &
		until [ "$(grep -c "\"begin\"" "$scratch/report.jsonl")" -eq 2 ]; do sleep 0.01; kill -0 $! || exit 78; done
		[ -z "$line" ] || echo "$line" >>"$scratch/kmsg"
		echo "$tainted" >"$scratch/tainted"
		wait $!' sh "$scratch" "$perfabi" "$@" || got=$?
}
if [ "$(id -u)" -eq 0 ] && opens_events root && opens_events && unshare --mount true 2>/dev/null && [ -e /proc/sys/kernel/tainted ] && [ -e /dev/kmsg ]; then
	during='.during == {count: 2, last: ["read.times.not-while-asleep.root", "read.times.not-while-asleep.user"]}'
	alarmed 512 ''
	holds '.summary.alarms == []' "$scratch/report.json" && [ $got -eq 0 ] || fail "an alarm of what was before"
	# Whoever writes to /dev/kmsg is no kernel.
	alarmed 512 '12,2,100,-;WARNING: CPU: 0 PID: 1 at test'
	holds '.summary.alarms == []' "$scratch/report.json" && [ $got -eq 0 ] || fail "an alarm of a process"
	# The kernel had warned before, so only the log shows that it did again.
	alarmed 512 '4,2,100,-;WARNING: kernel/x.c:1 at <f>+0x1/0x2
 SUBSYSTEM=x
6,3,100,-;perf: interrupt took too long (2501 > 2500)
3,4,100,-;rcu: INFO: rcu_sched self-detected stall on CPU'
	[ $got -eq 1 ] || fail "exit status $got of a run with alarms"
	holds '[.summary.alarms[] | .is] == ["warning", "rcu stall"] and (.summary.alarms | all('"$during"'))' "$scratch/report.json" || fail "alarms of the log"
	holds '.summary.alarms[0].text == "WARNING: kernel/x.c:1 at <f>+0x1/0x2"' "$scratch/report.json" || fail "the text of an alarm"
	jq -es '[.[] | select(.type == "alarm")] | length == 2 and all('"$during"')' "$scratch/report.jsonl" >/dev/null || fail "alarms as they are found"
	grep -q '^2 alarms of the kernel; 2 of 2 pass\.' "$scratch/pretty" || fail "the verdict leaves out alarms"
	for format in pretty tap ktap; do
		grep -A 1 'ALARM the kernel reports a fault of its own (warning): WARNING: kernel/x.c:1 at <f>+0x1/0x2$' "$scratch/$format" |
			grep -q 'during:  *read.times.not-while-asleep.root, read.times.not-while-asleep.user$' || fail "an alarm in $format"
	done
	xmllint --noout --schema tests/junit.xsd "$scratch/junit" 2>/dev/null || fail "an alarm in junit"
	[ "$(xmllint --xpath 'count(//testsuite[@name = "kernel"]/testcase/failure[contains(., "not-while-asleep.root")])' "$scratch/junit")" -eq 2 ] || fail "alarms in junit"
	"$PYTHON" tests/schema.py report.schema.json "$scratch/report.json" && "$PYTHON" tests/schema.py --each-line report.schema.json "$scratch/report.jsonl" || fail "the schema of alarms"
	# Without a line of the log, the bit says it; with one, it is the same alarm.
	alarmed 640 ''
	holds '.summary.alarms | length == 1 and (.[0] | .is == "oops" and (has("text") | not) and '"$during"')' "$scratch/report.json" || fail "an alarm by tainted alone"
	alarmed 640 '4,2,100,-;Oops: 0000 [#1] SMP'
	holds '[.summary.alarms[] | .text] == ["Oops: 0000 [#1] SMP"]' "$scratch/report.json" || fail "an alarm by both"
	# Who may read neither says nothing of alarms.
	chmod 000 "$scratch/tainted" "$scratch/kmsg"
	unshare --mount sh -c 'mount --bind "$1/tainted" /proc/sys/kernel/tainted && mount --bind "$1/kmsg" /dev/kmsg || exit 77
		shift
		exec "$@"' sh "$scratch" setpriv --reuid 65534 --regid 65534 --clear-groups "$perfabi" run --format json read.times.not-while-asleep.user >"$scratch/report.json" || fail "a user's run"
	holds '.summary | has("alarms") | not' "$scratch/report.json" || fail "alarms where nobody looked"
fi

# What leaves the machine changed runs only where that is said to be right, and a write of it only there.
mkdir "$scratch/changes"
cat >"$scratch/changes/changes.json" <<'END'
{"suite": "changes", "about": "a", "spec": {"man": "perf_event_open(2)"},
 "defaults": {"as": ["root"], "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1}}},
 "cases": [
  {"name": "told", "title": "t", "machine": "expendable", "steps": [{"open": {}}]},
  {"name": "written", "title": "t", "steps": [{"write": "/proc/self/fail-nth", "text": "0", "expect": {"errno": "EACCES"}}]}]}
END
if [ "$(id -u)" = 0 ]; then
	got=0
	"$perfabi" run --cases "$scratch/changes" --format json --jobs 1 >"$scratch/report.json" || got=$?
	holds '[.results[] | .outcome, .token // ""] == ["skip", "machine.expendable", "error", ""]' "$scratch/report.json" && [ $got -eq 3 ] || fail "exit status $got of cases that change the machine"
	"$perfabi" run --cases "$scratch/changes" --format json --expendable changes.told >"$scratch/report.json" || fail "--expendable"
	holds '.summary.pass == 1' "$scratch/report.json" || fail "a case of an expendable machine"
fi
