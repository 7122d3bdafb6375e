# SPDX-License-Identifier: MIT
# As an ordinary user, as one with CAP_PERFMON, and as root without capabilities: each case is judged as who it is for.
# more with test-all: all suites, not some
. tests/e2e/lib.sh
cp "$perfabi" "$scratch" # where another user may run it
if [ "$(id -u)" -ne 0 ]; then
	echo "left out: other callers, for this is not root"
	exit 0
fi
# By one worker, for another test runs beside this one.
chosen="-j 1 open probe.records count.software"
[ -z "$TEST_WHOLE" ] || chosen=
perfmon="--reuid 65534 --regid 65534 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon"
"$perfabi" run --format json open.flags.none >"$scratch/own.json" || :
for drop in "--reuid 65534 --regid 65534 --clear-groups" "$perfmon" "--bounding-set -all --inh-caps -all"; do
	got=0
	# shellcheck disable=SC2086 # words are meant to be split
	setpriv $drop "$scratch/perfabi" run $chosen --format json >"$scratch/report.json" || got=$?
	jq -c .summary "$scratch/report.json"
	# Whoever may read less knows the same hypervisor, if by a shorter name. PVM that runs on KVM is told from it by the log alone.
	cat "$scratch/own.json" "$scratch/report.json" | jq -s 'map(.environment.hypervisor // "")' >"$scratch/names"
	holds '. as [$whole, $short] | $short == "yes, not named" or ($whole | startswith($short)) or ($whole == "PVM" and $short == "KVM")' "$scratch/names" || fail "two hypervisors: $(jq -c . "$scratch/names")"
	judged "$scratch/report.json" $got
	holds '[.results[] | select(.as == "root" and .outcome != "skip")] == []' "$scratch/report.json" >/dev/null ||
		fail "a case as root ran without being root"
	if [ "$drop" = "$perfmon" ]; then
		# Where paranoid is 3 and means it, or CAP_PERFMON is not there, no such case can run.
		holds '.environment.identities.perfmon as $how | ($how | contains("only root") | not) and
			($how != "opens events" or any(.results[]; .id == "open.permission.kernel.perfmon.dummy" and .outcome == "pass"))' \
			"$scratch/report.json" >/dev/null || fail "no case ran as the user with CAP_PERFMON that this is"
	else
		holds '[.results[] | select(.as == "perfmon" and .outcome != "skip")] == []' "$scratch/report.json" >/dev/null ||
			fail "a case ran as perfmon without CAP_PERFMON"
	fi
done
