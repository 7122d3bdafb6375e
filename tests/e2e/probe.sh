# SPDX-License-Identifier: MIT
# perfabi probe: every answer has its reason, what it says agrees with what was found in other ways, and the rows say the same.
# more with test-all: what it costs, all topics, of an ordinary user and under kernels that lie
. tests/e2e/lib.sh
needs_events "what this machine can do"
some="event breakpoints records pmus"
[ -z "$TEST_WHOLE" ] || some=
status 0 "$perfabi" probe --json
cp "$scratch/out" "$scratch/probed.json"
status 0 "$perfabi" probe --read "$scratch/probed.json"
for title in Events Records Breakpoints Limits "The ABI" "Sandboxes and security" "PMUs in /sys"; do
	says out "$title"
done
"$PYTHON" tests/schema.py probed.schema.json "$scratch/probed.json" || fail "the JSON is not what the schema says"
holds '[.topics[].capabilities[].answers[] | select(.answer != "yes" and ((.because // "") == ""))] == []' "$scratch/probed.json" ||
	fail "an answer without its reason"
holds '(.topics | map(.topic)) == ["event", "sampling", "records", "hardware", "breakpoints", "probes", "user-reads", "callers", "limits", "abi", "sandbox"]' \
	"$scratch/probed.json" || fail "topics"
# The same, found in other ways: by the environment, by the model's own opens, by sysfs. Where watchpoints never fire each that opens is none.
holds '.environment as $e | $e.learned["kernel.data_breakpoints"] as $slots | [.topics[].capabilities[] | select(.key | startswith("breakpoints.at-once")) |
	.answers | to_entries[0].value.answer | select(. == "yes")] | length as $n | ($slots | type) == "number" and
	$n == (if $e.breakpoint_hits == 0 then 0 else [$slots, 6] | min end)' "$scratch/probed.json" ||
	fail "not as many breakpoints as the model has learned"
holds '.environment as $e | [.topics[].capabilities[] | select(.key == "event.cycles.counts") | .answers[].answer] |
	if $e.hardware_events then all(. == "yes") else all(. != "yes") end' "$scratch/probed.json" || fail "cycles"
holds '.environment as $e | [.topics[].facts[] | select(.key == "abi.attr-size" or .key == "limits.paranoid") | .value] ==
	[$e.sysctls.perf_event_paranoid, $e.attr_size]' "$scratch/probed.json" || fail "facts"
{ ls /sys/bus/event_source/devices 2>/dev/null || :; } >"$scratch/pmus"
jq -r '.pmus[].name' "$scratch/probed.json" | sort | cmp - "$scratch/pmus" || fail "PMUs"
# Each event that a PMU lists was asked, and each kind of cores; what is not "yes" has its reason.
holds '[.pmus[] | (.tried // {} | keys) != (.events // {} | keys | map(select(test("[.](unit|scale|snapshot|per-pkg)$") | not)))] | any | not' "$scratch/probed.json" ||
	fail "other events were tried than sysfs lists"
holds '[.pmus[] | (.processors // false) != has("cycles")] | any | not' "$scratch/probed.json" || fail "cycles of each kind of cores"
holds '.environment as $e | [.pmus[] | .cycles // empty | .counts.answer == "yes"] | all(. == $e.hardware_events)' "$scratch/probed.json" || fail "cycles of a PMU"
holds '[.pmus[] | (.cycles // {} | .[]), (.tried // {} | .[]), (.aux // empty) | select((.answer == "yes") == (has("because") or has("errno")))] == []' "$scratch/probed.json" ||
	fail "a PMU without its reason"
if [ "$(id -u)" = 0 ] && [ -e /sys/bus/event_source/devices/msr/events/tsc ]; then
	holds '.pmus[] | select(.name == "msr") | .tried.tsc | .answer == "yes" and .count > 1000' "$scratch/probed.json" || fail "the time stamp counter"
fi
# Rows: one for each caller of each capability, and for each fact; nothing of the host where that is not wanted.
status 0 "$perfabi" probe --format jsonl --host 'a "host" <&>'
"$PYTHON" tests/schema.py --each-line probe-row.schema.json "$scratch/out" || fail "the rows are not what the schema says"
[ "$(jq -c 'select(.topic != "pmus")' "$scratch/out" | wc -l)" = "$(jq '[.topics[] | ([.capabilities[].answers | length] | add // 0) + (.facts | length)] | add' "$scratch/probed.json")" ] ||
	fail "other rows than answers"
jq -r 'select(.topic == "pmus") | .key' "$scratch/out" | sort >"$scratch/rows"
jq -r '.pmus[] | "pmus.\(.name)." + ((.cycles // {} | keys[] | "cycles.\(.)"), (.tried // {} | keys[] | "event.\(.)"), (select(.aux) | "aux"))' "$scratch/probed.json" |
	sort | cmp - "$scratch/rows" || fail "other rows of PMUs than answers"
[ "$(jq -r .host "$scratch/out" | sort -u)" = 'a "host" <&>' ] || fail "--host"
status 0 "$perfabi" probe --no-host --json breakpoints
holds '(.host | has("name") or has("boot_id") | not) and (.topics | map(.topic) == ["breakpoints"]) and (has("pmus") | not)' "$scratch/out" || fail "--no-host"
status 0 "$perfabi" probe 'event.page-faults*'
says out "page-faults counts"
if grep -q cpu-clock "$scratch/out"; then fail "more than was asked for"; fi
# Topics of facts alone, and a fact by its key; beside cases they bring no others.
for topic in limits abi sandbox; do
	status 0 "$perfabi" probe --json "$topic"
	jq --arg topic "$topic" '.topics[] | select(.topic == $topic) | .facts | map(.key)' "$scratch/probed.json" >"$scratch/want"
	jq '.topics | if length == 1 then .[0].facts | map(.key) else "not one topic" end' "$scratch/out" | cmp - "$scratch/want" || fail "$topic"
done
status 0 "$perfabi" probe --json limits.mlock-kb 'event.page-faults*' pmus
holds '(.topics | map([.topic, (.facts | length)]) == [["event", 0], ["limits", 1]]) and has("pmus")' "$scratch/out" || fail "a fact, events and PMUs"
status 2 "$perfabi" probe evnt
says err 'there is no topic or key "evnt"'
says err 'nearest: "event"'
says err "limits, abi, sandbox, pmus"
status 2 "$perfabi" probe --format xml
says err "text, json or jsonl"
status 2 "$perfabi" probe --host ""
# Where others hold each slot of a breakpoint, nobody can know what they would do; without sysfs, not even whether there are any.
if [ "$(id -u)" = 0 ] && [ -e /sys/bus/event_source/devices/breakpoint ] && holds '[.topics[].capabilities[] | select(.key == "breakpoints.write").answers[].answer] | all(. == "yes")' "$scratch/probed.json"; then
	[ -x "$B/tests/disturb" ] || fail "$B/tests/disturb is not built: \`make test\` builds it"
	"$B/tests/disturb" 16 60 >"$scratch/disturb" &
	other=$!
	comes_true grep -qs ready "$scratch/disturb"
	status 0 "$perfabi" probe --json breakpoints
	kill "$other"
	holds '[.topics[].capabilities[].answers[] | [.answer, (.because // "" | startswith("others hold"))]] | unique == [["unknown", true]]' "$scratch/out" ||
		fail "breakpoints that others hold"
fi
# As an ordinary user alone.
if [ "$(id -u)" = 0 ]; then
	cp "$perfabi" "$scratch/own" # where that user may run it
	chmod 755 "$scratch" "$scratch/own"
	# shellcheck disable=SC2086 # words are meant to be split
	status 0 setpriv --reuid 65533 --regid 65533 --clear-groups "$scratch/own" probe --json $some
	holds '.callers == ["user"] and ([.topics[].capabilities[].answers | keys[]] | unique == ["user"])' "$scratch/out" || fail "callers of an ordinary user"
fi
# A kernel that is out of reach, or refuses all: no answer is yes, and each says why.
lie() {
	got=0
	# shellcheck disable=SC2086 # words are meant to be split
	ANSWER=$1 LD_PRELOAD=$PWD/$B/tests/answer.so "$perfabi" probe --json $some >"$scratch/out" 2>"$scratch/err" || got=$?
	[ "$got" = "$4" ] || fail "$1: exit status $got: $(cat "$scratch/err")"
	holds "[.topics[].capabilities[].answers[] | select($2 | not)] == []" "$scratch/out" || fail "where every open gives $1"
	holds "[.pmus[] | (.cycles // {} | .[]), (.tried // {} | .[]) | select([.answer, .errno] != $3)] == []" "$scratch/out" || fail "PMUs, where every open gives $1"
}
lie -38 '.answer == "no" and (.because | contains("is not available at all"))' '["no", "ENOSYS"]' 4 # there is no call
lie -2 '.answer != "yes" and (.because // "") != ""' '["no", "ENOENT"]' 0
lie -13 '.answer != "yes" and (.because // "") != ""' '["denied", "EACCES"]' 0
# Where sysfs shows no PMU nobody knows which there are.
if unshare --mount mount -t tmpfs none /sys 2>/dev/null && ! holds .environment.refuses_all "$scratch/probed.json"; then
	status 0 unshare --mount sh -c 'mount -t tmpfs none /sys; exec "$@"' sh "$perfabi" probe --json breakpoints probes
	holds '[.topics[].capabilities[].answers[] | select(.because // "" | contains("sysfs is not mounted here"))] | length > 10 and all(.answer == "unknown")' \
		"$scratch/out" || fail "without sysfs"
fi
# What it costs, in processor time, against a run of the same cases: their opens, and no search. Each the least of three, for both are short.
cost() {
	: >"$scratch/costs"
	for _ in 1 2 3; do
		/usr/bin/time -f '%U %S' -o "$scratch/time" "$@" >/dev/null || return
		awk '{print $1 + $2}' "$scratch/time" >>"$scratch/costs"
	done
	sort -n "$scratch/costs" | head -n 1
}
if [ -n "$TEST_WHOLE" ]; then
	running=$(cost sh -c '"$1" run -j 1 probe || :' sh "$perfabi")
	probing=$(cost "$perfabi" probe)
	awk "BEGIN { exit !($probing <= 2 * $running) }" || fail "it took $probing s of processor time, and a run of the same cases $running"
fi
# What was recorded elsewhere is shown as it was; what is none is refused.
status 0 "$perfabi" probe --read "$scratch/probed.json" --json
cmp "$scratch/out" "$scratch/probed.json" || fail "--read --json is another file"
for text in '{"callers": [1], "topics": [], "environment": {}}' '{"callers": "root", "topics": [], "environment": {}}'; do
	echo "$text" >"$scratch/bad.json"
	status 2 "$perfabi" probe --read "$scratch/bad.json"
	says err "what perfabi probe --json prints"
done
# What a file has does nothing to a terminal.
jq '.host.name = "a\u001b]0;b\u0007" | .callers[0] = "\u001b[31m" | (.topics[0] | .title, .capabilities[0].title) = "\u009b31m" |
	(.topics[].capabilities[].answers[] | select(.because) | .because) = "\u001b[2J x" | .pmus[0].format = {"\u001b[1m": "x"}' "$scratch/probed.json" >"$scratch/bad.json"
status 0 "$perfabi" probe --read "$scratch/bad.json"
if LC_ALL=C grep -q "$(printf '[\033\007]')" "$scratch/out"; then fail "control characters reach the terminal"; fi
says out 'a\x1b]0;b\x07'
status 2 "$perfabi" probe --read cases/probe.json
says err "what perfabi probe --json prints"
status 2 "$perfabi" probe --read "$scratch/probed.json" event
status 2 "$perfabi" probe --read /nonexistent
# What is wrong in probe.json is said, and where.
cp -r cases "$scratch/cases"
wrong() {
	jq "$1" cases/probe.json >"$scratch/cases/probe.json"
	status 2 "$perfabi" probe --cases "$scratch/cases" breakpoints
	says err "$2"
}
wrong '.topics[0].subject = "x"' "subject"
wrong '.topics = {}' "a list of topics"
wrong '.topics[8].facts[0].at = "paranoid"' "a list of names"
wrong '.reasons[0].errno = "ENOTHING"' "the name of an errno"
wrong '.reasons[0].answer = "perhaps"' "unknown, no or denied"
wrong 'del(.reasons[0].because)' "/reasons/0/because"
# What this kernel breaks, by the baseline: the reason names its function, and a run does not take the answer for a promise that is kept.
cp -r cases "$scratch/broken"
sed -i 's/"comm": "perfabi-x"/"comm": "perfabi-y"/' "$scratch/broken/probe/records.json"
echo '{"deviations": [{"id": "probe.records.comm", "function": "perf_event_comm", "why": "forgets the name", "seen": ["2.6.32"], "fixed": "99.1"}]}' >"$scratch/broken/baseline.json"
status 0 "$perfabi" probe --cases "$scratch/broken" --json records
holds '[.topics[].capabilities[] | select(.key == "records.comm") | .answers[] | select(.answer == "no") | [.because, .instead]] | unique ==
	[["this kernel breaks it: perf_event_comm() forgets the name", "a kernel with the fix: 99.1"]]' "$scratch/out" || fail "what the baseline knows"
status 0 "$perfabi" run --cases "$scratch/broken" --format json probe.records.comm
holds '.summary.xpass == 0 and ([.results[] | select(.outcome == "pass") | .capability] | unique) == ["no"]' "$scratch/out" || fail "an answer is no promise"
