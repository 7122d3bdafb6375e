# SPDX-License-Identifier: MIT
# The whole suite on this kernel, as whoever runs the tests: nothing fails but what the baseline knows,
# nothing errs.
. tests/e2e/lib.sh
got=0
"$perfabi" run --format "json:$scratch/report.json" --format pretty || got=$?
holds '.summary | .fail == 0 and .error == 0' "$scratch/report.json" >/dev/null || fail "exit status $got"
# A kernel that does better than the baseline says passes against it.
[ $got -eq 0 ] || [ $got -eq 4 ] || holds '.summary.xpass > 0' "$scratch/report.json" >/dev/null ||
	fail "exit status $got"
if [ "$(id -u)" -eq 0 ] && [ -r /proc/sys/kernel/perf_event_paranoid ] &&
	holds '.environment.identities.root == "opens events"' "$scratch/report.json" >/dev/null; then
	holds '.summary.pass >= 1500' "$scratch/report.json" >/dev/null || fail "less than 1500 cases ran as root"
fi
# Every result names where its promise stands, every skip its token and what was found.
holds '[.results[] | (.spec.man // .spec.kernel) != null] | all' "$scratch/report.json" >/dev/null
holds '[.results[] | select(.outcome == "skip") | .token and .reason] | all' "$scratch/report.json" >/dev/null
