# SPDX-License-Identifier: MIT
# perfabi diff: what is worse, better and otherwise different, of reports and of probes; exact lists, whatever the texts hold.
. tests/e2e/lib.sh
head='"perfabi":"0.1.0","cases":"0","time":"2026-01-01T00:00:00Z"'
result() { echo "{\"id\":\"$1\",\"suite\":\"${1%.*}\",\"title\":\"what $1 promises\",\"outcome\":\"$2\"${3:+,$3}}"; }
report() { # FILE KERNEL, results on standard input
	jq -s "{$head, host: {name: \"h\"}, environment: {kernel: \"$2\", machine: \"x86_64\"}, results: .}" >"$scratch/$1.json"
	jq -c '{type: "environment"} + del(.results), (.results[] | {type: "begin", id: .id}, {type: "result"} + .), {type: "summary"}' "$scratch/$1.json" >"$scratch/$1.jsonl"
}
{ for one in t.kept:pass t.broken:fail t.worse:pass t.worse-known:pass t.unjudged:pass t.better:xfail t.known:xfail t.gone:pass u.cap:pass; do result "${one%:*}" "${one#*:}"; done
	result u.word pass '"capability":"yes"'; } | report a 6.1
{ result t.kept pass; result t.broken fail; result t.worse fail '"expected":"E|N<b>","got":"`x` & y"'; result t.worse-known xfail '"reason":"f() forgets"'
	result t.unjudged skip '"token":"kernel>=7","reason":"this is 6.2"'; result t.better pass; result t.known fail; result t.new pass; result u.cap skip '"token":"pmu.x","reason":"none"'
	result u.word pass '"capability":"no"'; } | report b 6.2
for a in a.json a.jsonl; do for b in b.json b.jsonl; do
	status 1 "$perfabi" diff --json "$scratch/$a" "$scratch/$b"
	"$PYTHON" tests/schema.py diff.schema.json "$scratch/out" || fail "the JSON is not what the schema says"
	holds '[.worse, .better, .other, .only_a, .only_b] | map(map(.id)) == [["t.worse", "t.worse-known", "u.word"], ["t.better"],
		["t.unjudged", "t.known", "u.cap"], ["t.gone"], ["t.new"]]' "$scratch/out" || fail "$a $b"
	holds '.same == 2 and .a.kernel == "6.1" and .b.kernel == "6.2" and .worse[0].because == "expected E|N<b>, got `x` & y" and
		.other[0].because == "requires kernel>=7: this is 6.2"' "$scratch/out" || fail "what is known of $a $b"
done; done
# The same file twice, and the other way round: nothing is worse, or what was better is.
status 0 "$perfabi" diff "$scratch/a.json" "$scratch/a.jsonl"
says out "0 worse, 0 better, 0 otherwise different, 0 only in A, 0 only in B, 0 facts; 10 the same"
status 1 "$perfabi" diff --json "$scratch/b.json" "$scratch/a.json"
holds '(.worse | map(.id)) == ["t.better"] and (.better | map(.id)) == ["t.worse", "t.worse-known", "u.word"]' "$scratch/out" || fail "the other way round"
status 1 "$perfabi" diff "$scratch/a.json" "$scratch/b.json"
says out "Worse in B: 3"
says out "    pass -> fail  t.worse"
says out '      expected E|N<b>, got `x` & y'
counts="3 worse, 1 better, 3 otherwise different, 1 only in A, 1 only in B, 0 facts; 2 the same"
[ "$(tail -n 1 "$scratch/out")" = "$counts" ] || fail "other counts than: $counts"
status 1 "$perfabi" diff --format markdown "$scratch/a.json" "$scratch/b.json"
[ "$(head -n 1 "$scratch/out")" = "**perf_event_open(2): $counts**" ] || fail "Markdown has other counts than: $counts"
says out '| t.worse | pass | fail | expected E\|N&lt;b>, got \`x\` &amp; y |'
# Each that is worse stands by itself; what they have as their reason stands once, with -v behind each.
for one in v.two:pass v.one:pass v.other:pass; do result "${one%:*}" "${one#*:}"; done | report c 6.1
{ for one in one two; do result "v.$one" fail '"expected":"ENOENT","got":"EINVAL"'; done; result v.other fail '"expected":"ENOENT","got":"EPERM"'; } | report d 6.2
status 1 "$perfabi" diff "$scratch/c.json" "$scratch/d.json"
printf '%s\n' "    pass -> fail  v.one" "    pass -> fail  v.two" "      expected ENOENT, got EINVAL" "    pass -> fail  v.other" "      expected ENOENT, got EPERM" >"$scratch/want"
sed -n '/^  v$/,/^$/p' "$scratch/out" | sed '1d;$d' | cmp - "$scratch/want" || fail "a reason that two have"
status 1 "$perfabi" diff -v "$scratch/c.json" "$scratch/d.json"
[ "$(grep -c '^      expected ENOENT, got EINVAL$' "$scratch/out")" = 2 ] || fail "-v: a reason that two have"
# What could not be judged any more is worse, and the other way round better; what was broken before is neither.
for one in z.kept:pass z.known:xfail z.skipped:skip; do result "${one%:*}" "${one#*:}"; done | report i 6.1
for one in z.kept z.known z.skipped; do result $one error '"reason":"it was disturbed"'; done | report j 6.1
status 1 "$perfabi" diff --json "$scratch/i.json" "$scratch/j.json"
holds '[.worse, .better, .other] | map(map(.id)) == [["z.kept"], [], ["z.skipped", "z.known"]]' "$scratch/out" || fail "errors in B"
status 0 "$perfabi" diff --json "$scratch/j.json" "$scratch/i.json"
holds '[.worse, .better, .other] | map(map(.id)) == [[], ["z.kept"], ["z.skipped", "z.known"]]' "$scratch/out" || fail "errors in A"
# What fails at times is worse than what never does.
result z.kept unstable '"got":"failed 3 of 8"' | report k 6.1
status 1 "$perfabi" diff --json "$scratch/i.json" "$scratch/k.json"
holds '[.worse, .other] | map(map(.id)) == [["z.kept"], []]' "$scratch/out" || fail "a case that is unstable in B"
# What one side alone has: by topic, and of it the worst answer first; what is alike stands once, with -v each by itself.
result w.a pass | report e 6.1
{ for one in w.a:pass w.b:pass w.c:fail w.d:skip w.e:fail w.f:pass x.a:pass; do result "${one%:*}" "${one#*:}"; done; result x.b pass '"capability":"yes"'; result x.c pass '"capability":"no"'; result x.d skip; } | report f 6.1
status 0 "$perfabi" diff "$scratch/e.json" "$scratch/f.json"
printf '%s\n' "Only in B: 9" "  w" "    fail  2 cases" "    pass  2 cases" "    skip  w.d" "  x" "    no  x.c" "    yes  x.b" "    pass  x.a" "    skip  x.d" >"$scratch/want"
sed -n '/^Only in B/,/^$/p' "$scratch/out" | sed '$d' | cmp - "$scratch/want" || { cat "$scratch/out"; fail "what is only in B"; }
status 0 "$perfabi" diff -v "$scratch/f.json" "$scratch/e.json"
[ "$(sed -n '/^Only in A/,/^$/p' "$scratch/out" | grep -c '^    [a-z]*  [wx]\.[a-f]$')" = 9 ] || fail "-v: what is only in A"
status 0 "$perfabi" diff --format markdown "$scratch/e.json" "$scratch/f.json"
says out "| 2 cases of w |  | fail |  |"
status 0 "$perfabi" diff --format markdown "$scratch/f.json" "$scratch/e.json"
says out "| 2 cases of w | fail |  |  |"
# Other case files: what follows from that is told, in each format; and of the same ones nothing.
line="A and B had different case files: a difference can come from a case that was changed, not from the machine."
jq '.cases = "1"' "$scratch/e.json" >"$scratch/other.json"
for format in text markdown; do
	status 0 "$perfabi" diff --format $format "$scratch/e.json" "$scratch/other.json"
	grep -qxF "$line" "$scratch/out" || fail "--format $format says nothing of other case files"
	status 0 "$perfabi" diff --format $format "$scratch/e.json" "$scratch/f.json"
	if grep -q "case files" "$scratch/out"; then fail "--format $format tells of other case files that are the same"; fi
done
# A reason that only A has is told as A's, whatever list it stands in.
{ result y.mended fail '"expected":"E","got":"F"'; result y.newer skip '"token":"kernel>=7","reason":"this is 6.1"'; result y.known xfail '"reason":"f() forgets"'; } | report g 6.1
{ result y.mended pass; result y.newer pass; result y.known xpass '"reason":"it was known to fail"'; } | report h 7.0
status 0 "$perfabi" diff "$scratch/g.json" "$scratch/h.json"
for line in "      in A: expected E, got F" "      in A: requires kernel>=7: this is 6.1" "      it was known to fail"; do
	grep -qxF "$line" "$scratch/out" || { cat "$scratch/out"; fail "no line: $line"; }
done
status 0 "$perfabi" diff --format markdown "$scratch/g.json" "$scratch/h.json"
for cell in "| in A: expected E, got F |" "| in A: requires kernel>=7: this is 6.1 |" "| it was known to fail |"; do says out "$cell"; done
# From a pipe; a line that a machine which died has left cut is none.
{ cat "$scratch/b.jsonl"; printf '{"type":"resu'; } | status 1 "$perfabi" diff --json "$scratch/a.json" -
holds '(.worse | length) == 3' "$scratch/out" || fail "a cut line"
# A run without an end, and one that was ended: what it did not reach is counted and not compared.
head -n -1 "$scratch/a.jsonl" >"$scratch/cut.jsonl"
status 1 "$perfabi" diff "$scratch/a.json" "$scratch/cut.jsonl"
says out "   the run has no end"
says out "0 worse"
status 0 "$perfabi" diff --json "$scratch/cut.jsonl" "$scratch/a.json"
"$PYTHON" tests/schema.py diff.schema.json "$scratch/out" || fail "the JSON of a cut report"
holds '.a.ended == false and (.b | has("ended") | not)' "$scratch/out" || fail "which of them has no end"
jq '.results |= map(if .id | startswith("t.g") or startswith("u.") then .outcome = "error" | .reached = false else . end) | .summary.interrupted = 2' "$scratch/a.json" >"$scratch/ended.json"
status 1 "$perfabi" diff --json "$scratch/a.json" "$scratch/ended.json"
holds '.worse == [] and .b == (.a + {ended: false, unreached: 3}) and (.only_a | length) == 3' "$scratch/out" || fail "a run that was ended"
status 1 "$perfabi" diff --format markdown "$scratch/a.json" "$scratch/ended.json"
says out "the run has no end; 3 cases were not reached"
jq '.results[0] += {outcome: "x"} | .results[0].outcome = "pass" | .results[0].capability = "\u001b[31m" | .time = "\u001b[1m" | .host.name = "\u001b[2m\u202e\u2028"' "$scratch/a.json" >"$scratch/raw.json"
status 0 "$perfabi" diff "$scratch/a.json" "$scratch/raw.json"
if LC_ALL=C grep -q "$(printf '\033')" "$scratch/out"; then fail "control characters reach the terminal"; fi
says out '\xe2\x80\xae'
# The machines that were recorded, one against the other.
status 0 "$perfabi" diff --json fixtures/probe/amd64-5.10.json fixtures/probe/amd64-newest.json
cp "$scratch/out" "$scratch/older.json"
"$PYTHON" tests/schema.py diff.schema.json "$scratch/older.json" || fail "the JSON of a probe is not what the schema says"
status 1 "$perfabi" diff --json fixtures/probe/amd64-5.10.json fixtures/probe/arm64-6.12.json
[ "$(jq -c '[(.worse, .better, .other, .only_a, .only_b, .facts) | length] + [.same]' "$scratch/older.json" "$scratch/out" | tr '\n' ' ')" = "[0,7,0,0,0,5,341] [2,11,3,0,0,8,332] " ] ||
	fail "other counts between the recorded machines"
status 1 "$perfabi" diff --format markdown fixtures/probe/amd64-5.10.json fixtures/probe/arm64-6.12.json
says out "| capability | A | B | why |"
says out "| 4 capabilities of Events | no | yes | in A: this machine has no PMU"
if grep -q "cases of" "$scratch/out"; then fail "a probe has cases"; fi
status 1 "$perfabi" diff fixtures/probe/amd64-5.10.json fixtures/probe/arm64-6.12.json
says out "    no -> yes  4 capabilities"
status 1 "$perfabi" diff --json fixtures/probe/amd64-5.10.json fixtures/probe/arm64-6.12.json
holds '.facts | map(select(.id == "abi.attr-size")) == [{id: "abi.attr-size", topic: "The ABI", title: "struct perf_event_attr", a: 120, b: 136}]' "$scratch/out" || fail "facts"
# What is no such file, and two kinds of them.
status 2 "$perfabi" diff "$scratch/a.json" fixtures/probe/amd64-5.10.json
says err "one of these files is of perfabi run, the other of perfabi probe"
status 2 "$perfabi" diff "$scratch/a.json"
says err "expected two files"
status 2 "$perfabi" diff "$scratch/a.json" "$scratch/none.json"
says err "No such file"
status 2 "$perfabi" diff --format xml "$scratch/a.json" "$scratch/b.json"
says err "expected: text, json or markdown"
for text in '' '{' '[]' '{"results":[1],"environment":{}}' '{"results":[]}' '{"topics":[{}],"environment":{}}'; do
	printf '%s' "$text" >"$scratch/bad.json"
	status 2 "$perfabi" diff "$scratch/a.json" "$scratch/bad.json"
	says err "bad.json"
done
