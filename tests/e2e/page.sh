# SPDX-License-Identifier: MIT
# perfabi report: the page of several machines' reports, and files that are no reports.
# more with test-all: the page in a browser, and how long a search takes
. tests/e2e/lib.sh
judged=0
opens_events || judged=4
status $judged "$perfabi" run --host here --format json open.size open.flags open.target attr.clock attr.sample-type
cp "$scratch/out" "$scratch/here.json"
"$PYTHON" tests/page/reports.py few "$scratch/here.json" "$scratch/few"
"$PYTHON" tests/schema.py report.schema.json "$scratch"/few/*.json || fail "a report for the test is none"
status 0 "$perfabi" report "$scratch"/few/*.json -o "$scratch/few.html"

# It begins with a verdict, each case by the worst that a machine says of it.
bad=$(jq -s '[[.[].results[] | select(.outcome == "fail").id] | unique | length] | "\(.[0]) case\(if .[0] == 1 then " fails" else "s fail" end)"' "$scratch"/few/*.json | tr -d '"')
grep '<p id="verdict">' "$scratch/few.html" | grep -q "<p id=\"verdict\">$bad" || fail "the verdict is not $bad"

# The same input, the same bytes, whatever stands first of equals; nothing of when or where it was made.
status 0 "$perfabi" report "$scratch"/few/*.json
cmp "$scratch/out" "$scratch/few.html" || fail "standard output has another page"
# shellcheck disable=SC2046 # words are meant to be split
status 0 "$perfabi" report $(printf '%s\n' "$scratch"/few/*.json | sort -r)
sed -n '/<noscript>/,$p' "$scratch/out" >"$scratch/backward"
sed -n '/<noscript>/,$p' "$scratch/few.html" | cmp - "$scratch/backward" || fail "the order of the reports counts"
if grep -q "$scratch" "$scratch/few.html"; then fail "the page says where the reports were"; fi
[ "$(grep -c '</script>' "$scratch/few.html")" = 3 ] || fail "a name ends a script"
status 0 "$perfabi" report --title 'a <title> & "more"' "$scratch/here.json"
says out '<title>a &lt;title&gt; &amp; &quot;more&quot;</title>'

# JSON Lines say the same; of a machine that died they have what had begun.
jsonl() { jq -c '({type: "environment"} + del(.summary, .results)), (.results[] | {type: "begin", id}, {type: "result"} + .), ({type: "summary"} + .summary)' "$1"; }
jsonl "$scratch/few/0.json" >"$scratch/0.jsonl"
status 0 "$perfabi" report "$scratch/few/0.json"
sed 's/"file":"[^"]*"//' "$scratch/out" >"$scratch/whole"
status 0 "$perfabi" report "$scratch/0.jsonl"
sed 's/"file":"[^"]*"//' "$scratch/out" | cmp - "$scratch/whole" || fail "JSON Lines make another page"
head -n 6 "$scratch/0.jsonl" >"$scratch/died.jsonl"
printf '{"type":"result","id":"op' >>"$scratch/died.jsonl"
id=$(sed -n '6s/.*"id":"\([^"]*\)".*/\1/p' "$scratch/died.jsonl")
status 0 "$perfabi" report "$scratch/died.jsonl"
says out '"cut":true'
says out "[[{\"outcome\":\"error\",\"reason\":\"the report ends while this case runs\"}],[0]]"
sed -n '/<noscript>/,$p' "$scratch/out" | grep -A3 ">$id" | grep -q '<td class=error>error' || fail "what ran when the machine died"

# A page takes the place of none of its reports.
cp "$scratch/here.json" "$scratch/own.json"
status 2 "$perfabi" report "$scratch/few/0.json" "$scratch/own.json" -o "$scratch/own.json"
says err "is one of the reports"
cmp "$scratch/own.json" "$scratch/here.json" || fail "the page has taken a report's place"
# What is no report is told, and where; the page that was there stays.
echo kept >"$scratch/kept.html"
wrong() {
	status 2 "$perfabi" report "$scratch/few/1.json" "$scratch/wrong.json" -o "$scratch/kept.html"
	says err "$1"
	says err "$scratch/wrong.json"
	[ "$(cat "$scratch/kept.html")" = kept ] || fail "a page of what is no report: $1"
}
change() { jq "$1" "$scratch/few/0.json" >"$scratch/wrong.json"; }
head -c 2000 "$scratch/few/0.json" >"$scratch/wrong.json"
wrong "valid JSON in UTF-8"
: >"$scratch/wrong.json"
wrong "valid JSON in UTF-8"
echo '{"a": 1}' >"$scratch/wrong.json"
wrong "a report of perfabi run --format json or jsonl"
echo '[1]' >"$scratch/wrong.json"
wrong "a report of perfabi run --format json or jsonl"
change 'del(.results)'
wrong "/results"
change '.results[2].outcome = "fial"'
wrong "/results/2/outcome"
says err '"fail"'
change '.results[3].id = 7'
wrong "/results/3/id"
change '.results[3].id = ""'
wrong "/results/3/id"
change '.results[1].title = ["x"]'
wrong "/results/1/title"
change '.results[1].spec = "x"'
wrong "/results/1/spec"
change '.results[4] = 1'
wrong "/results/4"
change '.results += [.results[0]]'
wrong "each case once in a report"
change '.host.name = 5'
wrong "/host/name"
change '.again = ["perfabi", 1]'
wrong "/again"
change '.again = "perfabi run"'
wrong "a list of words"
change '.environment.kernel = {}'
wrong "/environment/kernel"
cp "$scratch/few/1.json" "$scratch/wrong.json"
wrong "another run than that of 1.json"
(sed -n 1,3p "$scratch/0.jsonl"; echo '{"type":'; sed -n '4,$p' "$scratch/0.jsonl") >"$scratch/wrong.json"
wrong "wrong.json:4"
(cat "$scratch/0.jsonl"; head -n 1 "$scratch/0.jsonl") >"$scratch/wrong.json"
wrong "one report in a file"
status 2 "$perfabi" report "$scratch/nothing"
says err "No such file"
status 2 "$perfabi" report
status 2 "$perfabi" report --no-such-option
status 2 "$perfabi" report "$scratch/here.json" -o "$scratch/no/folder.html"
status 3 "$perfabi" report "$scratch/here.json" -o /dev/full
"$perfabi" report "$scratch/here.json" >/dev/full 2>"$scratch/err" && fail "a page that is not written"
# What a newer perfabi may say beside is left out; versions and cases that differ are told on the page.
change '.new = 1 | .host.new = {} | .results[0].new = [] | .perfabi = "9.9.9"'
status 0 "$perfabi" report "$scratch/few/1.json" "$scratch/wrong.json"
# Two reports of one machine and kernel are told apart by what differs.
jq '.environment.uid = 4242 | .environment.sysctls.perf_event_paranoid = 3' "$scratch/few/0.json" >"$scratch/user.json"
status 0 "$perfabi" report "$scratch/few/0.json" "$scratch/user.json"
says out '"note":"uid 4242, paranoid 3"'

[ -n "$TEST_WHOLE" ] || exit 0
needs_events "the page in a browser"
for tool in node npm; do
	command -v $tool >/dev/null || { echo "left out: there is no $tool"; exit 0; }
done
CHROMIUM=${CHROMIUM:-$(command -v chromium || :)}
[ -n "$CHROMIUM" ] || { echo "left out: there is no chromium"; exit 0; }
export CHROMIUM
mkdir "$scratch/node"
cp tests/page/*.mjs tests/page/*.json "$scratch/node"
(cd "$scratch/node" && npm ci --silent --no-audit --no-fund >npm.log 2>&1) || { echo "left out: npm ci: $(tail -1 "$scratch/node/npm.log")"; exit 0; }
node "$scratch/node/page.mjs" "$scratch/few.html" "$scratch"/few/*.json || fail "the page"
"$perfabi" run --host here --format json >"$scratch/all.json" || [ $? -ne 2 ]
for cases in 100 1000; do
	"$PYTHON" tests/page/reports.py many "$scratch/all.json" "$scratch/many.$cases" 50 $cases
	status 0 "$perfabi" report "$scratch/many.$cases"/*.json -o "$scratch/many.$cases.html"
done
node "$scratch/node/speed.mjs" "$scratch/many.1000.html" "$scratch/many.100.html" || fail "the page of 1,000 cases on 50 machines"
