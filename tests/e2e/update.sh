# SPDX-License-Identifier: MIT
# run --update-baseline: what fails becomes known, what passes ends its entry, and nothing else changes.
. tests/e2e/lib.sh
needs_events "baselines that are updated"
cat >"$scratch/up.json" <<'EOF'
{"suite": "up", "about": "The second one is wrong.", "spec": {"man": "perf_event_open(2), ERRORS", "kernel": "perf_copy_attr, sys_perf_event_open", "since": "2.6.32"},
 "defaults": {"as": "user", "open": {"base": "dummy"}},
 "cases": [
  {"name": "a", "title": "it opens", "expect": {"ok": true}},
  {"name": "b", "title": "it is refused", "expect": {"errno": "EINVAL", "phase": "entry"}}]}
EOF
run() { "$perfabi" run --format "json:$scratch/report.json" "$@" "$scratch/up.json"; }
version=$("$perfabi" run --format json open.flags.none.root | jq -r '.environment.upstream' | sed 's/^\([0-9.]*[0-9]\).*/\1/')
arch=$("$perfabi" run --format json open.flags.none.root | jq -r '.environment.arch')

# Nothing is new: the same bytes as the file that is built in.
status 0 "$perfabi" run --update-baseline "$scratch/same.json" open.flags.none
cmp "$scratch/same.json" cases/baseline.json || fail "a baseline without news is another one"
says err ": 0 new, 0 known and now seen on this kernel, 0 that now end before it"

# A failure that nothing knew is known from then on, on this architecture and from the first version of its branch on.
status 1 run --baseline none --update-baseline "$scratch/new.json"
"$PYTHON" tests/schema.py baseline.schema.json "$scratch/new.json" || fail "what was written is no baseline"
says err "say in each new one which function"
holds "[.deviations[] | del(.why)] == [{id: [\"up.b\"], when: {arch: \"$arch\", kernel: \">=$(echo "$version" | cut -d. -f1,2)\"}, function: \"perf_copy_attr\", seen: [\"$version\"]}]" \
	"$scratch/new.json" || fail "the new entry"
status 0 run --baseline "$scratch/new.json"
holds '[.results[].outcome] == ["pass", "xfail"]' "$scratch/report.json" || fail "the new entry is not known"
# Again, in place: nothing more.
cp "$scratch/new.json" "$scratch/again.json"
status 0 run --baseline "$scratch/again.json" --update-baseline "$scratch/again.json"
cmp "$scratch/new.json" "$scratch/again.json" || fail "an update of what is up to date"

# One that was seen elsewhere was seen here, too; one that passes ends before this version.
known() { echo "{\"deviations\": [{\"id\": $1, \"function\": \"f\", \"why\": \"forgets\", \"seen\": [$2]}]}"; }
known '"up.b"' '"2.6.32", "99.1"' >"$scratch/seen.json"
status 0 run --baseline "$scratch/seen.json" --update-baseline "$scratch/seen.json"
holds ".deviations[0].seen == [\"2.6.32\", \"$version\", \"99.1\"]" "$scratch/seen.json" || fail "seen here"
known '"up.a"' '"2.6.32"' >"$scratch/passes.json"
status 1 run --baseline "$scratch/passes.json" --update-baseline "$scratch/ended.json"
holds ".deviations[0].when == {kernel: \"<$version\"} and (.deviations | length) == 2" "$scratch/ended.json" || fail "an entry that ends"
status 0 run --baseline "$scratch/ended.json"
# A pass of what fails only sometimes is one, and is told all the same.
known '["up.a", "up.b"]' '"2.6.32"' | jq '.deviations[0].sometimes = "it remembers"' >"$scratch/at-times.json"
status 0 run --format pretty --baseline "$scratch/at-times.json"
says out "  up.a  except when it remembers"
if grep -q "  up.b  except" "$scratch/out"; then fail "a failure that is known is told as a pass"; fi
holds '[.results[] | .outcome, .deviation.why] == ["pass", "forgets", "xfail", "forgets"]' "$scratch/report.json" || fail "a pass of what fails at times"
# Beside a failure of its own, or where a later kernel has it, that is for people to say.
for entry in '"up" "2.6.32"' '"up.a" "99.1"'; do
	# shellcheck disable=SC2086 # two words
	known $entry >"$scratch/left.json"
	status 1 run --baseline "$scratch/left.json" --update-baseline "$scratch/left.new.json"
	says err "1 results are left to you"
	holds '.deviations[0] | has("when") | not' "$scratch/left.new.json" || fail "$entry: an entry that must not end"
done
# Where it cannot be written, and where something else went wrong, nothing is left behind.
status 2 run --baseline none --update-baseline "$scratch/none/new.json"
says err "cannot write"
status 2 run --baseline none --update-baseline "$scratch"
[ -z "$(find "$(dirname "$scratch")" -maxdepth 1 -name "$(basename "$scratch").*")" ] || fail "a file is left behind"
