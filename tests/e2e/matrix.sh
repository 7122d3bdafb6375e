# SPDX-License-Identifier: MIT
# What of ci/matrix needs no machine to boot: the cells, archives, what a guest hands out, and what is made of it.
. tests/e2e/lib.sh

"$PYTHON" tests/schema.py matrix.schema.json ci/matrix.json || fail "ci/matrix.json"
"$PYTHON" tests/matrix.py || fail "tests/matrix.py"
status 0 ci/matrix list 'arm64-*'
[ "$(wc -l <"$scratch/out")" -ge 2 ] || fail "ci/matrix list 'arm64-*'"
status 2 ci/matrix list nothing-of-that-name
says err "no cell matches nothing-of-that-name"
status 2 ci/matrix
# The first process of a guest compiles without a warning.
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -Werror -O2 -Isrc -o "$scratch/init" ci/guest/init.c src/machine/alarm.c -lz || fail "ci/guest/init.c"
# The page of what kernels break is that of cases/baseline.json.
ci/matrix deviations | cmp - docs/deviations.md || fail "docs/deviations.md is out of date: ci/matrix deviations >docs/deviations.md"
# A wrong ci/matrix.json is named by what is wrong with it.
while IFS='|' read -r json message; do
	printf '%s\n' "$json" >"$scratch/matrix.json"
	status 2 ci/matrix --matrix "$scratch/matrix.json" list
	says err "$message"
done <<'END'
x|has not the form of ci/matrix.json
{"cells":[1],"arches":{}}|cell 1 is no object
{"cells":[{"name":"a","arch":"x","suite":"s"}],"arches":{}}|cell 1 has no for
{"cells":[{"name":"a","arch":"x","suite":"s","for":"f","flavuor":"f"}],"arches":{}}|flavuor is no key of it
{"cells":[{"name":"a","arch":"x","suite":1,"for":"f"}],"arches":{}}|suite must be string
{"cells":[{"name":"a","arch":"x","suite":"s","for":"f","flavour":"f"}],"arches":{}}|no architecture is called x
END
# The page of what cells have shown: here of one.
mkdir -p "$scratch/cells/amd64-6.12"
cat >"$scratch/cells/amd64-6.12/amd64.root.2.jsonl" <<'END'
{"type":"environment","perfabi":"0.1.0","host":{"name":"(none)"},"environment":{"kernel":"6.12.107","machine":"x86_64","sysctls":{}}}
{"type":"begin","id":"a.b"}
{"type":"result","id":"a.b","outcome":"pass","title":"b","suite":"a"}
{"type":"result","id":"a.c","outcome":"skip","title":"c","suite":"a"}
{"type":"summary"}
END
echo '{"cell": "amd64-6.12", "runs": [{"name": "amd64.root.2", "alone": {}}]}' >"$scratch/cells/amd64-6.12/result.json"
if [ "$B" = build ]; then # ci/matrix goes by build/perfabi
	status 0 ci/matrix page --out "$scratch/cells" --page "$scratch/page.html"
	grep -q '"name":"amd64-6.12","kernel"' "$scratch/page.html" || fail "the page has not the cell's name"
	[ "$(grep -o '<tr><th scope=row>.*' "$scratch/page.html")" = '<tr><th scope=row>a.b<td>b<td><td>pass
<tr><th scope=row>a.c<td>c<td><td class=skip>skip' ] || fail "the page has other cases than the report"
fi
status 2 ci/matrix page --out "$scratch" --page "$scratch/none.html"
says err "has no results"
# A token that a report has found lacking is not listed; all others are, with how many cases require them.
mkdir -p "$scratch/tokens/cell"
status 0 ci/matrix tokens --out "$scratch/tokens"
says out "breakpoint: "
says out "cgroup.v2: "
echo '{"type": "result", "id": "a", "outcome": "skip", "token": "breakpoint"}' >"$scratch/tokens/cell/x.jsonl"
echo '{"type": "result", "id": "b", "outcome": "skip", "token": "cgroup.v2"}' >"$scratch/more.jsonl"
status 0 ci/matrix tokens --out "$scratch/tokens" "$scratch/more.jsonl"
if grep -E "^(breakpoint|cgroup.v2): " "$scratch/out"; then fail "a token that was lacking is listed"; fi
says out "breakpoint.counts: "
