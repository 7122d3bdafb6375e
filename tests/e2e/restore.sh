# SPDX-License-Identifier: MIT
# Whenever perfabi is interrupted or killed, what its cases changed in the machine is put back.
. tests/e2e/lib.sh
if [ "$(id -u)" = 0 ] && [ -w /proc/sys/kernel/perf_cpu_time_max_percent ] && has_perf_events; then
	# The kernel takes a rate only while the share of cpu time is between 0 and 100: perfabi sees to that, before the case and behind it.
	run_to "$scratch/out" "$scratch/err" "$perfabi" run -f json machine.sysctl.rate-without-limit
	[ "$got" -eq 0 ] || [ "$got" -eq 4 ] || { cat "$scratch/err"; fail "exit status $got"; } # 4: skipped, for want of the machine's lock or so
	holds '[.results[].token] | index("sysctl.perf_event_max_sample_rate") == null' "$scratch/out" || fail "the rate could not be set"
	! grep "could not be put back" "$scratch/err" || fail "the rate could not be put back" # it may also say what it waits for
fi
"$PYTHON" tests/restore.py "$perfabi" "${TIMES:-12}" || fail "something of the system is changed"
