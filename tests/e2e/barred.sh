# SPDX-License-Identifier: MIT
# Where no call gets as far as the kernel's checks one sentence says so, and what to do; what programs read has everything all the same.
. tests/e2e/lib.sh
barred() { # WHAT COMMAND... : it says so, and no more, and exits with 4
	what=$1
	shift
	status 4 "$@"
	[ "$(cat "$scratch/out" "$scratch/err" | grep -vc 'waiting for perfabi')" = 1 ] || { head "$scratch/out" "$scratch/err"; fail "more than a sentence: $*"; }
	grep -qF "nothing can be judged here: $what" "$scratch/out" "$scratch/err" || { cat "$scratch/out" "$scratch/err"; fail "it does not say $what: $*"; }
}
behind() { "$PYTHON" tests/filter.py "$@"; }
if ! has_perf_events; then
	barred "this kernel has no perf_event_open: " "$perfabi" run open
	echo "left out: seccomp filters, for this kernel has no perf events to refuse"
elif behind EPERM true >"$scratch/out"; then
	for errno in EPERM ENOSYS; do
		for command in run "run -q open.size" probe "probe event" "hunt --calls 2000" "run -f junit:$scratch/report.xml open.fd"; do
			# shellcheck disable=SC2086 # words are meant to be split
			barred "a seccomp filter or a sandbox answers perf_event_open with $errno" behind $errno "$perfabi" $command
		done
	done
	for command in run probe hunt "mutate open.fd"; do
		# shellcheck disable=SC2086
		barred "a seccomp filter kills" behind KILL "$perfabi" $command
	done
	# What such a kernel or filter is asked for all the same is told of.
	mkdir "$scratch/without"
	cat >"$scratch/without/zz.json" <<'JSON'
{"suite": "zz", "about": "No call.", "spec": {"man": "perf_event_open(2)"}, "cases": [{"name": "gives", "title": "it gives this errno", "as": ["root", "user"],
 "requires": ["!perf_event_open"], "each": {"errno": ["EPERM", "ENOSYS"]}, "steps": [{"open": {"base": "dummy"}, "expect": {"errno": "$errno"}}]}]}
JSON
	status 1 behind ENOSYS "$perfabi" run --cases "$scratch/without" --baseline none
	says out "nothing can be judged here"
	says out "FAIL zz.gives"
	says out "expected:  EPERM"
	status 0 behind ENOSYS "$perfabi" run --cases "$scratch/without" --baseline none 'zz.gives.*.enosys'
	says out " 0 fail"
	status 4 behind EPERM "$perfabi" run -f json open.fd
	says err "nothing can be judged here"
	holds '.summary.skip == (.results | length) and .summary.skip > 20 and ([.results[].token] | unique == ["perf_event_open"]) and .environment.refuses_all == "EPERM"' \
		"$scratch/out" || fail "the report of a run that could judge nothing"
	status 4 behind EPERM "$perfabi" run -f tap open.fd
	[ "$(grep -c "^ok .*SKIP perf_event_open" "$scratch/out")" -gt 20 ] || fail "TAP of a run that could judge nothing"
	[ "$(grep -c "<skipped" "$scratch/report.xml")" -gt 20 ] || fail "JUnit of a run that could judge nothing"
	status 4 behind EPERM "$perfabi" probe --json
	holds '[.topics[].capabilities[]] | length > 50' "$scratch/out" || fail "what --json prints of a machine that can do nothing"
	status 0 behind EPERM "$perfabi" probe sandbox
	says out "EPERM"
	"$perfabi" show --c open.flags.none.user >"$scratch/program.c" && "${CC:-cc}" -pthread -o "$scratch/program" "$scratch/program.c" || fail "show --c"
	status 4 behind ENOSYS "$scratch/program"
	says out "SKIP: the case needs perf_event_open"
	status 3 behind ENOSYS:sleep "$perfabi" run open.fd
	says err "nanosleep(2) is not implemented here"
	# `make run` is at its end then, and not at an error; a failure is one.
	status 0 behind EPERM make -s BUILD=: -o setup "B=$B" run ARGS=open.fd
	says out "nothing can be judged here"
	! grep -v "waiting for perfabi" "$scratch/err" || { cat "$scratch/err"; fail "make run behind a filter"; }
	status 2 make -s BUILD=: -o setup "B=$B" run ARGS=--no-such-option
	# A kernel without perf events has none of its sysctls, either.
	if unshare --mount mount -t tmpfs none /proc/sys/kernel 2>/dev/null; then
		barred "this kernel has no perf_event_open: " unshare --mount sh -c 'mount -t tmpfs none /proc/sys/kernel; exec "$@"' sh \
			"$PYTHON" tests/filter.py ENOSYS "$perfabi" run
	fi
else
	cat "$scratch/out"
	echo "left out: seccomp filters, for none can be made here"
fi
# Without /proc nothing is judged, but another machine.
if unshare --user --map-root-user --mount mount -t tmpfs none /proc 2>/dev/null; then
	for command in "run open.fd" "probe event" "hunt --calls 10" "mutate open.fd" "why cpu-clock" "predict -e cpu-clock"; do
		# shellcheck disable=SC2086
		status 3 unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$perfabi" $command
		says err "/proc is not mounted here"
	done
	status 1 unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$perfabi" why --machine fixtures/machines/x86_64-6.18-vm.json cycles
else
	echo "left out: a machine without /proc, for unshare is refused"
fi
