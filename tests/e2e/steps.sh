# SPDX-License-Identifier: MIT
# What a step prepares for itself is not under test, and is taken back.
# more with test-all: cases that are stopped and go on
. tests/e2e/lib.sh

mkdir "$scratch/cases"
cat >"$scratch/cases/steps.json" <<'JSON'
{"suite": "steps", "about": "steps that prepare something", "spec": {"man": "mremap(2)", "since": "2.6.32"},
 "defaults": {"as": "user", "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1, "exclude_hv": 1}}},
 "cases": [
  {"name": "no-place", "title": "there is no place so large to move to: mremap is not asked",
   "steps": [{"open": {}, "bind": "e"}, {"mmap": "e", "pages": 1}, {"mremap": "e", "to": "1<<62", "move": true, "expect": {"errno": "ENOMEM"}}]},
  {"name": "refused", "title": "a place that was not moved to is free again: there is none for all of them",
   "steps": [{"open": {}, "bind": "e"}, {"mmap": "e", "pages": 1},
    {"repeat": 1024, "do": [{"mremap": "e", "offset": 1, "length": "$page_size", "to": "1<<28", "move": true, "expect": {"errno": "EINVAL"}}]}]}]}
JSON
needs_events "steps"
run_to "$scratch/out" "$scratch/err" "$perfabi" run --cases "$scratch/cases" --format json
holds '[.results[] | select(.id == "steps.no-place") | .outcome == "skip" or (.outcome == "error" and .expected == "this preparation to succeed")] | length == 1 and all' \
	"$scratch/out" >/dev/null || { cat "$scratch/out" "$scratch/err"; fail "a place that could not be had was taken for mremap's answer"; }
holds '[.results[] | select(.id == "steps.refused") | .outcome == "skip" or .outcome == "pass"] | length == 1 and all' \
	"$scratch/out" >/dev/null || { cat "$scratch/out" "$scratch/err"; fail "places for mremap are left mapped"; }

# A member that this read did not show stands for nothing: an error of the case, whatever the pattern makes of it.
"$PYTHON" - "$scratch/names.json" <<'PY'
import json, sys
patterns = [{"ne": "$r.id"}, {"not": "$r.id"}, {"without": "$r.id"}, "$r.id", {"le": "$r.id + 3"}, {"between": [0, "$r.lost"]}]
cases = [{"name": f"n{i}", "title": "t", "steps": [{"open": {}, "bind": "e"}, {"read": "e", "bind": "r"}, {"read": "e", "expect": {"value": pattern}}]}
         for i, pattern in enumerate([*patterns, "$r.value"])]
# Of text and of a list it is no other, and it need not be looked at for the verdict.
of_lists = [{"some": [{"comm": {"not": "$r.id"}}]}, {"not": "$r.id"}, {"never": [{"comm": {"like": "$r.id*"}}]}, {"never": [{"misc": {"has": "$r.id"}}]},
            {"never": [{"comm": {"gt": "$r.id"}}]}, {"never": [{"pid": {"le": 1}, "tid": "$r.id"}]}]
for i, pattern in enumerate(of_lists):
    cases.append({"name": f"r{i}", "title": "t", "steps": [{"open": {"attr": {"comm": 1}}, "bind": "e"}, {"mmap": "e", "pages": 1}, {"read": "e", "bind": "r"},
                                                          {"workload": "rename", "name": "abc"}, {"records": "e", "expect": pattern}]})
# What a pattern binds itself stands for something, whatever other name it is part of.
cases.append({"name": "own", "title": "t", "steps": [{"open": {"attr": {"read_format": ["id"]}}, "bind": "e"}, {"read": "e", "bind": "other"},
                                                     {"read": "e", "expect": {"value": {"bind": "t"}, "id": {"ne": "$other.value + $t"}}}]})
json.dump({"suite": "names", "about": "x", "spec": {"man": "read(2)", "since": "2.6.32"}, "cases": cases,
           "defaults": {"as": "user", "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1, "exclude_hv": 1}}}},
          open(sys.argv[1], "w"))
PY
run_to "$scratch/out" "$scratch/err" "$perfabi" run "$scratch/names.json" --format json
[ -s "$scratch/out" ] || { cat "$scratch/err"; fail "the run of names"; }
holds '[.results[] | if .id == "names.n6" or .id == "names.own" then .outcome == "pass" else .outcome == "error" and (.got | contains("$")) end] | length == 14 and all' \
	"$scratch/out" >/dev/null || [ $got -eq 4 ] || { cat "$scratch/out"; fail "names that stand for nothing"; }

# An open in a step tells which gate refused, where nobody foresaw the errno or the case names the gate; and a row that `when` names is that row alone.
cat >"$scratch/gates.json" <<'JSON'
{"suite": "gates", "about": "x", "spec": {"man": "perf_event_open(2)", "since": "2.6.31"}, "defaults": {"as": "user", "open": {"base": "dummy"}},
 "cases": [
  {"name": "unforeseen", "title": "t", "steps": [{"open": {"attr": {"size": 63}}}]},
  {"name": "another-gate", "title": "t", "steps": [{"open": {"attr": {"size": 63}}, "expect": {"errno": "E2BIG", "phase": "group"}}]},
  {"name": "that-gate", "title": "t", "steps": [{"open": {"attr": {"size": 63}}, "expect": {"errno": "E2BIG", "phase": "copy", "attr": {"size": {"ge": 64}}}}]},
  {"name": "written", "title": "t", "steps": [{"open": {"attr": {"size": 63}}, "expect": {"errno": "E2BIG", "phase": "copy"}}]},
  {"name": "rows", "title": "t", "each": {"n": {"a": 63, "b": 64}}, "open": {"attr": {"size": "$n"}},
   "expect": [{"when": {"row": "a"}, "errno": "E2BIG", "phase": "copy", "attr": {"size": {"ge": 64}}}, {"ok": true}]}]}
JSON
run_to "$scratch/out" "$scratch/err" "$perfabi" run "$scratch/gates.json" --format json
[ -s "$scratch/out" ] || { cat "$scratch/err"; fail "the run of gates"; }
holds '[.results[] | {(.id[6:]): [.outcome, .expected, .got, .phases]}] | add ==
	{unforeseen: ["fail", "an event", "E2BIG from copy", ["copy"]], "another-gate": ["fail", "E2BIG from group", "E2BIG from copy", ["copy"]],
	 "that-gate": ["pass", null, null, null], written: ["fail", "attr as it was", "another attr.size", ["copy"]], "rows.a": ["pass", "E2BIG from copy, then attr {\"size\":{\"ge\":64}}", "E2BIG from copy", ["copy"]],
	 "rows.b": ["pass", "an event", "an event", null]}' "$scratch/out" >/dev/null || [ $got -eq 4 ] || { cat "$scratch/out"; fail "the gate of an open in a step"; }

# What `when` asks is settled once, with the runner's rights; behind an exec the machine is the same.
cat >"$scratch/settled.json" <<'JSON'
{"suite": "settled", "about": "x", "spec": {"man": "read(2)", "since": "2.6.31"}, "defaults": {"as": ["root", "user"], "requires": ["quiet|!quiet"], "open": {"base": "dummy"}},
 "cases": [
  {"name": "step", "title": "t", "steps": [{"open": {}, "bind": "e"},
    {"read": "e", "expect": [{"when": {"token": "quiet"}, "bytes": {"gt": 0}}, {"when": {"token": "!quiet"}, "bytes": {"gt": 0}}]}]},
  {"name": "call", "title": "t", "open": {}, "expect": [{"when": {"token": "quiet"}, "ok": true}, {"when": {"token": "!quiet"}, "ok": true}]},
  {"name": "exec", "title": "t", "steps": [{"fork": [{"exec": [{"workload": "touch", "pages": "$cpus"}]}], "bind": "c"}, {"wait": "c", "expect": {"exit": 0}}]}]}
JSON
# Again where somebody came or went between the two questions.
for _ in 1 2 3 4 5 6 7 8; do
	run_to "$scratch/out" "$scratch/err" "$perfabi" run "$scratch/settled.json" --format json
	settled=0
	holds '[.results[] | .outcome == "pass" or .outcome == "skip"] | length == 6 and all' "$scratch/out" >/dev/null || settled=1
	[ $settled -ne 0 ] || break
done
[ $settled -eq 0 ] || { cat "$scratch/out"; fail "when, or an exec"; }

# Where the case was stopped, with its runner or alone, the time is nobody's fault: it passes, or is an error once it is too long.
cat >"$scratch/frozen.json" <<'JSON'
{"suite": "frozen", "about": "x", "spec": {"man": "nanosleep(2)", "since": "2.6.31"}, "defaults": {"as": "user", "open": {"base": "dummy"}},
 "cases": [{"name": "sleeps", "title": "t", "steps": [{"repeat": 30, "do": [{"workload": "sleep", "ms": 100}]}]},
  {"name": "for-ever", "title": "t", "steps": [{"repeat": 1000, "do": [{"workload": "sleep", "ms": 2000}]}]}]}
JSON
# stop CASE WITH TIMEOUT SECONDS : runs it; the case, and WITH, the runner or nobody, is stopped for so long. The exit status is $got, and
# $late is not empty if the case had ended, or been ended, before that.
stop() {
	"$perfabi" run --timeout "$3" "$scratch/frozen.json" "frozen.$1" >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	leads_session() {
		case=$(children_of $runner | sed '/ perfabi-guard/d; s/ .*//')
		[ -n "$case" ] && [ "$(cut -d' ' -f6 "/proc/$case/stat" 2>/dev/null)" = "$case" ] || ! kill -0 $runner 2>/dev/null
	}
	comes_true leads_session
	stopped=$(children_of $runner | sed 's/ .*//' | tr '\n' ' ')
	[ "$2" = nobody ] || stopped="$runner $stopped"
	late=1 tries=0
	is_stopped() { grep -q ') T ' "/proc/$case/stat" 2>/dev/null; }
	# shellcheck disable=SC2086 # words are meant to be split
	kill -STOP $stopped 2>/dev/null || :
	until is_stopped || [ $tries -eq 50 ]; do tries=$((tries + 1)) && sleep 0.02; done
	! is_stopped || late=
	sleep "$4"
	# shellcheck disable=SC2086
	kill -CONT $stopped 2>/dev/null || :
	got=0
	wait $runner || got=$?
}
# frozen STATUS CASE WITH TIMEOUT SECONDS : and the exit status is so; again with more time if the case ended before it was stopped.
frozen() {
	wanted=$1
	shift
	for more in 1 2 4 8 16; do
		stop "$1" "$2" $(($3 * more)) "$4"
		[ -n "$late" ] && [ $got -ne 4 ] || break
	done
	[ $got -eq "$wanted" ] || [ $got -eq 4 ] || {
		[ -z "$late" ] || { echo "left out: frozen.$1, which ended each time before it was stopped"; return; }
		cat "$scratch/out"
		fail "frozen.$1 was stopped for $4 s with $2: exit status $got, not $wanted"
	}
}
[ -z "$TEST_WHOLE" ] || frozen 0 sleeps runner 4 2.5
[ -z "$TEST_WHOLE" ] || frozen 0 sleeps nobody 4 2.5
frozen 3 for-ever nobody 1 3

# Numbers have a sign where they are written or shown with one, and what comes to no number of 64 bits is an error of the case.
"$PYTHON" - "$scratch/numbers.json" <<'PY'
import json, sys
rows = [("pass", -1, -1), ("pass", -1, "0xffffffffffffffff"), ("pass", "0xffffffffffffffff", -1), ("fail", -1, {"gt": 5}), ("pass", -1, {"lt": 5}),
        ("pass", -1, {"between": [-5, 5]}), ("fail", -6, {"between": [-5, 5]}), ("pass", 5, {"ge": -1}), ("pass", "1<<63", {"gt": "0x7fffffffffffffff"}),
        ("fail", "1<<63", {"lt": 0}), ("pass", "2-3", {"lt": 0}), ("pass", "$none", {"lt": 0}), ("pass", "$none+1", 0), ("pass", "$most", {"gt": 0}),
        ("pass", "$most-1", "0xfffffffffffffffe"), ("error", "$most+1", 0), ("error", 3, {"lt": "$most+1"}), ("error", 3, {"ne": "$none<<64-0*$none"})]
cases = [{"name": f"n{i}-{outcome}", "title": "t", "steps": [{"value": -1, "bind": "none"}, {"value": "0xffffffffffffffff", "bind": "most"}, {"value": value, "expect": pattern}]}
         for i, (outcome, value, pattern) in enumerate(rows)]
json.dump({"suite": "numbers", "about": "x", "spec": {"man": "perf_event_open(2)", "since": "2.6.32"}, "cases": cases,
           "defaults": {"as": "user", "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1, "exclude_hv": 1}}}}, open(sys.argv[1], "w"))
PY
run_to "$scratch/out" "$scratch/err" "$perfabi" run "$scratch/numbers.json" --format json
[ -s "$scratch/out" ] || { cat "$scratch/err"; fail "the run of numbers"; }
holds '[.results[] | select(. as $r | .id | endswith("-" + $r.outcome))] | length == 18' "$scratch/out" >/dev/null ||
	[ $got -eq 4 ] || { cat "$scratch/out" "$scratch/err"; fail "numbers with a sign, or beyond 64 bits"; }
holds '[.results[] | select(.outcome == "error") | .got | contains("does not fit 64 bits")] | all' "$scratch/out" >/dev/null || { cat "$scratch/out"; fail "no word of 64 bits"; }

# Signals that do not end: the case ends at once, with a failure that says so, not at its deadline.
cat >"$scratch/endless.json" <<'JSON'
{"suite": "endless", "about": "more signals than there is room to note", "spec": {"man": "perf_event_open(2), Overflow handling", "since": "2.6.31"},
 "cases": [{"name": "signals", "title": "a signal for each of 5000 faults", "as": "user",
   "steps": [{"open": {"attr": {"type": "software", "config": "page_faults", "exclude_kernel": 1, "exclude_hv": 1, "disabled": 1, "sample_period": 1}}, "bind": "e"},
    {"signals": "SIGRTMIN", "on": "e"}, {"repeat": 50, "do": [{"workload": "touch", "pages": 100, "counted": "e"}]}, {"signals-seen": true, "expect": {"length": 1}}]}]}
JSON
status 1 "$perfabi" run "$scratch/endless.json" --format json
holds '[.results[] | [.outcome, .got]] == [["fail", "more than 4096 signals while carrying out its steps"]]' "$scratch/out"
