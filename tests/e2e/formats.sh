# SPDX-License-Identifier: MIT
# Every report is taken by a reader that is not ours: prove, python3-tap, xmllint, jq, jsonschema.
. tests/e2e/lib.sh
cases="open.size attr.clock attr.bits pmu.hardware"
mkdir "$scratch/cases"
cat >"$scratch/cases/bad.json" <<'JSON'
{"suite": "bad", "about": "cases that fail, so that failures are printed too", "spec": {"kernel": "none & <never>"},
 "defaults": {"as": "user", "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1}}},
 "cases": [
  {"name": "wrong-errno", "title": "a \"quoted\" <title> & more # not a directive", "open": {"attr": {"size": 1}},
   "expect": {"errno": "EFAULT", "phase": "copy"}},
  {"name": "wrong-gate", "title": "the errno is right, the gate is not", "open": {"pid": -2}, "expect": {"errno": "ESRCH", "phase": "context"}},
  {"name": "known", "title": "known to fail", "open": {}, "expect": {"errno": "EINVAL", "phase": "pmu"}},
  {"name": "known-too", "title": "known to fail, twice", "each": {"n": [1, 2]}, "open": {"attr": {"read_format": "$n"}}, "expect": {"errno": "EINVAL", "phase": "pmu"}},
  {"name": "mended", "title": "was known to fail", "open": {}, "expect": {"ok": true}},
  {"name": "lost", "title": "no alternative applies", "open": {}, "expect": [{"when": {"kernel": "<1.0"}, "ok": true}]}]}
JSON
cat >"$scratch/baseline.json" <<'JSON'
{"deviations": [
  {"id": "bad.mended", "when": {"kernel": [">=2.6", "<99"]}, "function": "g", "why": "was broken # once", "seen": ["6.1"]},
  {"id": ["bad.known", "bad.known-too"], "function": "perf_f", "why": "does what the test wants", "seen": ["5.4", "6.1"], "read": ["6.2"],
   "since": "5.3 (0123)", "fixed": "99.1"}]}
JSON

needs_events "reports of runs"
# shellcheck disable=SC2086 # words are meant to be split
"$perfabi" run $cases -f "ktap:$scratch/good.ktap" -f "tap:$scratch/good.tap" -f "junit:$scratch/good.xml" \
	-f "json:$scratch/good.json" -f "jsonl:$scratch/good.jsonl" -f "pretty:$scratch/good.txt" || fail "the run"
status 3 "$perfabi" run --cases "$scratch/cases" --baseline "$scratch/baseline.json" -f "ktap:$scratch/bad.ktap" \
	-f "tap:$scratch/bad.tap" -f "junit:$scratch/bad.xml" -f "json:$scratch/bad.json" -f "jsonl:$scratch/bad.jsonl" -f pretty
says out "FAIL bad.wrong-errno"
says out "expected:  EFAULT from copy"
says out "got:       E2BIG from copy"
says out "ESRCH from target"
says out "3 xfail"
# each entry once, in a line with what is known of it
grep -A3 "^This kernel" "$scratch/out" >"$scratch/known" || fail "pretty has no list of what the kernel breaks"
cat >"$scratch/wanted" <<'TEXT'
This kernel breaks 1 promise:
  perf_f() does what the test wants
      bad.known, bad.known-too: 3 failures; since 5.3 (0123); fixed in 99.1; seen on 5.4 to 6.1; source read of 6.2

TEXT
cmp "$scratch/known" "$scratch/wanted" || { cat "$scratch/known"; fail "the list of what the kernel breaks"; }
says out "reason:    passes here, though the baseline says that it fails where {\"kernel\": [\">=2.6\", \"<99\"]} (g() was broken # once); change \`when\` or \`id\` of /deviations/0 in $scratch/baseline.json"

prove -v -e cat "$scratch/good.tap" >"$scratch/prove" || { tail "$scratch/prove"; fail "prove refuses the TAP"; }
prove -e cat "$scratch/good.ktap" || fail "prove refuses the KTAP"
# LAVA's test cases: each has an id of its own, of letters, digits, dots and dashes.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "$1" >>"%s/lava"\n' "$scratch" >"$scratch/bin/lava-test-case"
chmod +x "$scratch/bin/lava-test-case"
PATH=$scratch/bin:$PATH sh ci/ready/lava-cases <"$scratch/good.ktap" >"$scratch/said"
cmp -s "$scratch/said" "$scratch/good.ktap" || fail "lava-cases does not print what it reads"
[ "$(grep -c '^    \(not \)*ok ' "$scratch/good.ktap")" = "$(($(grep -v '^complete$' "$scratch/lava" | sort -u | wc -l)))" ] || fail "LAVA's ids are not one each"
if grep -v '^[A-Za-z0-9.-]*$' "$scratch/lava"; then fail "LAVA's ids"; fi
if prove -e cat "$scratch/bad.tap" >"$scratch/prove" 2>&1; then fail "prove sees no failure"; fi
grep -q 'Failed 4/7 subtests' "$scratch/prove" || { cat "$scratch/prove"; fail "prove sees other failures"; }
"$PYTHON" - "$scratch" <<'PY'
import sys
from tap.parser import Parser
folder = sys.argv[1]
def lines(name):
    return [l for l in Parser().parse_file(f"{folder}/{name}") if l.category == "test"]
good, bad = lines("good.tap"), lines("bad.tap")
assert len(good) > 300 and all(l.ok for l in good) and any(l.skip for l in good), "good.tap"
assert not any(l.ok for l in bad), [l.ok for l in bad]
by_name = {l.description: l for l in bad}
assert [l.number for l in bad] == list(range(1, 8)) and sum(bool(l.todo) for l in bad) == 3, bad
assert by_name["- bad.known"].directive.reason == "perf_f() does what the test wants; fixed in 99.1", by_name["- bad.known"].directive.reason
# Suites with their plans, in them the cases as they ended, and a line for those that were skipped for one requirement.
import json, re
def suites(name):
    plan, suite, found, top = None, None, {}, []
    for line in open(f"{folder}/{name}"):
        if m := re.match(r"    # Subtest: (\S+)$", line):
            suite = found[m[1]] = []
        elif m := re.match(r"    1\.\.([0-9]+)$", line):
            plan = int(m[1])
        elif m := re.match(r"    (not )?ok ([0-9]+) - (\S+)( # (SKIP|XFAIL|ERROR).*)?$", line):
            suite.append((m[3], not m[1], m[4] or ""))
            assert int(m[2]) == len(suite), line
        elif m := re.match(r"(not )?ok ([0-9]+) - (\S+)$", line):
            top.append(m[3])
            assert int(m[2]) == len(top) and plan == len(found[m[3]]), line
            assert bool(m[1]) == any(not ok for _, ok, _ in found[m[3]]), line
    assert top == list(found), top
    return found
results = json.load(open(f"{folder}/good.json"))["results"]
for suite, cases in suites("good.ktap").items():
    own = [r for r in results if r["suite"] == suite]
    assert sorted(name for name, _, more in cases if "SKIP" not in more) == sorted(r["id"] for r in own if r["outcome"] != "skip"), suite
    skips = {name: int(re.match(r" # SKIP ([0-9]+) case", more)[1]) for name, _, more in cases if "SKIP" in more}
    wanted = {}
    for r in own:
        if r["outcome"] == "skip":
            wanted[r["token"]] = wanted.get(r["token"], 0) + 1
    assert skips == wanted, (suite, skips, wanted)
assert {name for name, ok, _ in suites("bad.ktap")["bad"] if not ok} == {r["id"] for r in json.load(open(f"{folder}/bad.json"))["results"] if r["outcome"] in ("fail", "error", "xpass")}
PY
grep -q '<failure type="fail" message="expected EFAULT from copy, got E2BIG from copy">' "$scratch/bad.xml" || fail "JUnit's message of a failure"
for f in good bad; do
	xmllint --noout --schema tests/junit.xsd "$scratch/$f.xml" 2>"$scratch/err" || { cat "$scratch/err"; fail "$f.xml"; }
	"$PYTHON" tests/schema.py report.schema.json "$scratch/$f.json" || fail "$f.json"
	"$PYTHON" tests/schema.py --each-line report.schema.json "$scratch/$f.jsonl" || fail "$f.jsonl"
	a=$(jq -r '.results[] | "\(.id) \(.outcome)"' "$scratch/$f.json" | sort)
	b=$(jq -r 'select(.type == "result") | "\(.id) \(.outcome)"' "$scratch/$f.jsonl" | sort)
	[ "$a" = "$b" ] || fail "json and jsonl of $f differ"
done
[ "$(xmllint --xpath 'sum(//testsuite/@failures)' "$scratch/bad.xml")" = 3 ] || fail "JUnit counts failures"
[ "$(xmllint --xpath 'sum(//testsuite/@errors)' "$scratch/bad.xml")" = 1 ] || fail "JUnit counts errors"
# A case that runs has a line before it does, which a panic leaves behind; one that is skipped has none.
sed -n 's/^# started //p' "$scratch/good.ktap" | sort >"$scratch/begun"
sed -n '/ # SKIP /d; s/^    ok [0-9]* - //p' "$scratch/good.ktap" | sort | cmp - "$scratch/begun" || fail "KTAP's cases that begin"
jq -r 'select(.type == "begin").id' "$scratch/good.jsonl" | sort | cmp - "$scratch/begun" || fail "jsonl's cases that begin"
awk '$1 == "#" && $2 == "started" { begun[$3] = 1 } /^    .* - / && !/ # SKIP / && !begun[$(NF)] { bad = 1 } END { exit bad }' "$scratch/good.ktap" || fail "a case ends before it begins"
grep -q '^    not ok [0-9]* - bad.wrong-gate$' "$scratch/bad.ktap" || fail "KTAP's not ok"
grep -q '^    ok [0-9]* - bad.known # XFAIL perf_f() does what the test wants; fixed in 99.1$' "$scratch/bad.ktap" || fail "KTAP's XFAIL"
[ "$(xmllint --xpath 'string(//testcase[@name="known"]/skipped/@message)' "$scratch/bad.xml")" = \
	"known to fail: perf_f() does what the test wants; fixed in 99.1" ] || fail "JUnit's known failure"
# json and jsonl have the baseline's entry itself
jq -c '.deviations[]' "$scratch/baseline.json" | sort >"$scratch/wanted"
jq -c '.results[].deviation | select(.)' "$scratch/bad.json" | sort -u | cmp - "$scratch/wanted" || fail "json's deviations"
jq -c 'select(.type == "result").deviation | select(.)' "$scratch/bad.jsonl" | sort -u | cmp - "$scratch/wanted" || fail "jsonl's deviations"
if grep -q "$(printf '\033')" "$scratch/good.txt"; then fail "colour in a file"; fi

# Every report says which machine and which cases it is of, in its own way; or not, where that is not wanted.
status 0 "$perfabi" run --host 'a <&"> b' --format pretty:"$scratch/r.pretty" --format ktap:"$scratch/r.ktap" --format tap:"$scratch/r.tap" \
	--format junit:"$scratch/r.junit" --format json:"$scratch/r.json" --format jsonl:"$scratch/r.jsonl" open.flags.none
hash=$(jq -r .cases "$scratch/r.json")
[ ${#hash} = 16 ] || fail "the hash of the cases"
jq -e --arg hash "$hash" '.host.name == "a <&\"> b" and .time and .cases == $hash' "$scratch/r.json" >/dev/null || fail "JSON's host"
head -1 "$scratch/r.jsonl" | jq -e --arg hash "$hash" '.host.name == "a <&\"> b" and .cases == $hash' >/dev/null || fail "JSON Lines' host"
grep -qx "  host        a <&\"> b" "$scratch/r.pretty" && grep -qx "  cases       $hash" "$scratch/r.pretty" || fail "pretty's host"
for format in ktap tap; do
	grep -qx "# host        a <&\"> b" "$scratch/r.$format" && grep -qx "# cases       $hash" "$scratch/r.$format" || fail "$format's host"
done
grep -q '<property name="host" value="a &lt;&amp;&quot;&gt; b"/>' "$scratch/r.junit" && grep -q "<property name=\"cases\" value=\"$hash\"/>" "$scratch/r.junit" ||
	fail "JUnit's host"
status 0 "$perfabi" run --no-host --format json open.flags.none
jq -e '.host | has("name") or has("boot_id") | not' "$scratch/out" >/dev/null || fail "--no-host"
status 2 "$perfabi" run --host "" open.flags.none
# The same cases from a folder have the same hash, and others another.
status 0 "$perfabi" run --cases cases --format json open.flags.none
[ "$(jq -r .cases "$scratch/out")" = "$hash" ] || fail "cases/ and the built-in cases have two hashes"

# A failure's place and the command that runs it again, which fails in the same way.
cat >"$scratch/again it.json" <<'JSON'
{"suite": "again", "about": "some that fail", "spec": {"kernel": "none"}, "defaults": {"as": ["user"], "open": {"base": "dummy"}},
 "cases": [
  {"name": "good", "title": "it opens", "expect": {"ok": true}},
  {"name": "refused", "title": "it does not", "expect": {"errno": "EINVAL", "phase": "validate"}},
  {"name": "other", "title": "nor does another",
   "expect": {"errno": "ENOENT", "phase": "pmu"}}]}
JSON
run_to "$scratch/first.json" "$scratch/err" "$perfabi" run --baseline none --format json "$scratch/again it.json"
failed=$(jq -r '.results[] | select(.outcome == "fail" or .outcome == "error") | .id' "$scratch/first.json")
[ "$(echo $failed)" = "again.refused.user again.other.user" ] || fail "other failures: $failed"
run_to "$scratch/out" "$scratch/err" "$perfabi" run --baseline none "$scratch/again it.json"
for id in $failed; do
	again=$(sed -n "s/^  again: *perfabi \\(run .* $id\\)$/\\1/p" "$scratch/out" | head -1)
	[ -n "$again" ] || fail "no command that runs $id again"
	[ "$(eval "printf '%s\n' perfabi $again" | jq -R . | jq -sc .)" = "$(jq -c --arg id "$id" '.again + [$id]' "$scratch/first.json")" ] || fail "the report has another command than: perfabi $again"
	(eval "\"$perfabi\" $again") >"$scratch/again" && fail "$id does not fail again"
	grep -q "^[A-Z]* $id$" "$scratch/again" || fail "$id is not what runs again"
	line=$(jq -r --arg id "$id" '.results[] | select(.id == $id) | .place' "$scratch/first.json")
	sed -n "${line##*:}p" "$scratch/again it.json" | grep -q "\"name\": \"$(echo "$id" | cut -d. -f2)\"" || fail "$id is not at $line"
done
# A folder whose name is no UTF-8 is in no JSON, which stays JSON.
bytes=$(printf 'bytes\377')
mkdir "$scratch/$bytes"
cp "$scratch/again it.json" "$scratch/$bytes/again.json"
"$perfabi" run --cases "$scratch/$bytes" --baseline none --format json again.good.user >"$scratch/bytes.json" || true
holds 'has("again") | not' "$scratch/bytes.json" || fail "a folder whose name is no UTF-8"
# --rerun runs these and no others, from either format; what had begun when a machine died counts, and half a line is none.
run_to "$scratch/first.jsonl" "$scratch/err" "$perfabi" run --baseline none --format jsonl "$scratch/again it.json"
[ "$(head -n 1 "$scratch/first.jsonl" | jq .again)" = "$(jq .again "$scratch/first.json")" ] || fail "JSON Lines have another command that runs a case again"
for report in first.json first.jsonl; do
	status 0 "$perfabi" run --list --rerun "$scratch/$report" "$scratch/again it.json"
	[ "$(sort "$scratch/out")" = "$(echo "$failed" | sort)" ] || fail "--rerun $report"
done
one=$(jq -r '.results[0].id' "$scratch/r.json")
{ head -1 "$scratch/r.jsonl"; echo "{\"type\":\"begin\",\"id\":\"$one\"}"; printf '{"type":"resu'; } >"$scratch/died.jsonl"
status 0 "$perfabi" run --list --rerun "$scratch/died.jsonl"
[ "$(cat "$scratch/out")" = "$one" ] || fail "--rerun of a machine that died"
status 0 "$perfabi" run --rerun "$scratch/r.json"
says err "nothing failed in"
# With the baseline of that run, unless another is given
jq '.again = ["perfabi", "run", "--baseline", "/nonexistent/baseline.json"]' "$scratch/first.json" >"$scratch/of-baseline.json"
status 2 "$perfabi" run --rerun "$scratch/of-baseline.json" "$scratch/again it.json"
says err "/nonexistent/baseline.json"
status 1 "$perfabi" run --baseline none --rerun "$scratch/of-baseline.json" "$scratch/again it.json"
# Beside it, ids and globs narrow; an id that no case has any more is said, and the others run.
one=$(echo "$failed" | head -1)
status 0 "$perfabi" run --list --rerun "$scratch/first.json" "$scratch/again it.json" "=$one"
[ "$(cat "$scratch/out")" = "$one" ] || fail "--rerun beside an id"
jq '.results[0].id = "no.such.case" | .results[0].outcome = "fail"' "$scratch/first.json" >"$scratch/older.json"
status 0 "$perfabi" run --list --rerun "$scratch/older.json" "$scratch/again it.json"
says err "has no.such.case, which no case here is called; it is left out"
[ -s "$scratch/out" ] || fail "an id that is gone keeps the others from running"
status 2 "$perfabi" run --rerun "$scratch/older.json" "=$(jq -r '.results[] | select(.outcome == "pass").id' "$scratch/r.json" | head -1)"
says err "none of what failed in"
status 2 "$perfabi" run --rerun "$scratch/none.json"
says err "No such file"
if grep -q 'none.json:' "$scratch/err"; then fail "the line of a file that is not there"; fi
status 2 "$perfabi" run --rerun "$scratch/again it.json"
says err "expected: a report"
# An id with a = in front is that case alone, though others begin with it.
status 0 "$perfabi" run --list =open.flags.none.root
[ "$(cat "$scratch/out")" = open.flags.none.root ] || fail "an exact id"
status 2 "$perfabi" run --list =open.flags
# The first failure ends the run: with one process at a time, what comes behind it is skipped in each format, and runs no more.
cat >"$scratch/fast.json" <<'EOF'
{"suite": "fast", "about": "The second one is wrong.", "spec": {"man": "perf_event_open(2), ERRORS", "kernel": "sys_perf_event_open", "since": "2.6.32"},
 "defaults": {"as": "user", "open": {"base": "dummy"}},
 "cases": [
  {"name": "a", "title": "it takes a while", "steps": [{"workload": "sleep", "ms": 500}]},
  {"name": "b", "title": "it is refused", "expect": {"errno": "EINVAL", "phase": "entry"}},
  {"name": "c", "title": "it opens", "expect": {"ok": true}}]}
EOF
status 1 "$perfabi" run -j 1 --fail-fast --baseline none --format json --format "jsonl:$scratch/fast.jsonl" --format "tap:$scratch/fast.tap" "$scratch/fast.json"
holds '[.results[] | [.outcome, .token]] == [["pass", null], ["fail", null], ["skip", "fail-fast"]]' "$scratch/out" || fail "--fail-fast"
[ "$(grep -c '"begin"' "$scratch/fast.jsonl") $(grep -c '^ok' "$scratch/fast.tap")" = "2 2" ] || fail "--fail-fast goes on"
says out '"reason": "fast.b'
status 1 "$perfabi" run -j 1 --baseline none --format json "$scratch/fast.json"
holds '[.results[] | .outcome] == ["pass", "fail", "pass"] and ([.results[] | has("beside")] == [false, false, false])' "$scratch/out" || fail "without --fail-fast"
# With two at a time, the second one has failed while the first had its process, and the report says so.
status 1 "$perfabi" run -j 2 --baseline none --format pretty --format "json:$scratch/beside.json" "$scratch/fast.json"
says out "  beside:    fast.a"
holds '[.results[] | .beside] == [null, {count: 1, last: ["fast.a"]}, null]' "$scratch/beside.json" || fail "what ran beside"
"$PYTHON" tests/schema.py report.schema.json "$scratch/beside.json" || fail "beside is not in the schema"
# Quiet: one line where nothing fails, no more than the failures else. Colours where they are asked for.
status 0 "$perfabi" run -q open.flags.none
[ "$(wc -l <"$scratch/out")" = 1 ] || fail "-q says more than its summary"
status 0 "$perfabi" run --color always open.flags.none
grep -q "$(printf '\033')" "$scratch/out" || fail "--color always"
status 0 env -u NO_COLOR "$perfabi" run --color never open.flags.none
if grep -q "$(printf '\033')" "$scratch/out"; then fail "--color never"; fi
status 2 "$perfabi" run --color sometimes
