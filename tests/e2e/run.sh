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
