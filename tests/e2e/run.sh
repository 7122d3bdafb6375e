# SPDX-License-Identifier: MIT
# The suite on this kernel, as whoever runs the tests: every case is judged, or has the reason why not.
# more with test-all: every case, not one in four
. tests/e2e/lib.sh
# From a random one on.
step=4
[ -z "$TEST_WHOLE" ] || step=1
"$perfabi" list | awk -v step=$step 'BEGIN {srand(); first = int(rand() * step)} NR % step == first {print $1}' >"$scratch/chosen"
got=0
# By one worker, for other tests run beside this one.
# shellcheck disable=SC2046 # ids are meant to be split
"$perfabi" run -j 1 --format "json:$scratch/report.json" --format pretty $(cat "$scratch/chosen") || got=$?
judged "$scratch/report.json" $got
if [ "$(id -u)" -eq 0 ] && holds '.environment.identities.root == "opens events"' "$scratch/report.json"; then
	holds ".summary | .pass + .fail + .xfail + .xpass >= 1500 / $step" "$scratch/report.json" || fail "fewer than 1500 / $step cases were judged as root"
fi
# Every result names where its promise stands, every skip its token and what was found, every failure what came.
holds '[.results[] | (.spec.man // .spec.kernel) != null] | all' "$scratch/report.json" || fail "a promise of nobody's"
holds '[.results[] | select(.outcome == "skip") | .token and .reason] | all' "$scratch/report.json" || fail "a skip without its reason"
holds '[.results[] | select(.outcome == "fail") | .got and .expected] | all' "$scratch/report.json" || fail "a failure that does not say what came"
