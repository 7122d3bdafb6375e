# SPDX-License-Identifier: MIT
# perfabi hunt: the model is right of random calls and of those at the boundaries, and one that is wrong is found out.
# more with test-all: more calls, and the boundaries
. tests/e2e/lib.sh
# Of a copy, so that others' processes are not taken for its own.
cp "$perfabi" "$scratch/perfabi"
perfabi=$scratch/perfabi
none_left() {
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe")" != "$perfabi" ] || return 1
	done
}
callers=user
[ "$(id -u)" -ne 0 ] || callers=root,user
calls=20000
[ -z "$TEST_WHOLE" ] || calls=300000
got=0
"$perfabi" hunt --calls 10 --as user >"$scratch/out" 2>&1 || got=$?
[ $got != 4 ] || { echo "left out: hunts, for perf_event_open opens nothing here"; exit 0; }
status 0 "$perfabi" hunt --calls $calls --seed 20261123 --as $callers --format json
cp "$scratch/out" "$scratch/hunt.json"
jq -r '.callers[] | "\(.as): \(.calls) calls, \(.refused) refused, \(.opened) opened, \(.unknown) unknown, \(.unsteady) unsteady"' "$scratch/hunt.json"
holds "[.callers[] | .calls == $calls and .refused + .opened + .unknown == .calls and .differ == 0] | length > 0 and all" \
	"$scratch/hunt.json" || fail "random calls"
[ -e /sys/bus/event_source/devices/software ] || { echo "left out: what hunts foretell, for sysfs shows no PMU"; exit 0; }
holds '[.callers[] | .unknown * 50 < .calls] | all' "$scratch/hunt.json" || fail "random calls that are not foretold"
# Where sysfs is hidden less is foretold, and nothing wrong: seed 1 has calls that a check of cpus, unknown then, refuses before the one that is known.
if unshare --mount mount -t tmpfs none /sys 2>/dev/null; then
	status 0 unshare --mount sh -c 'mount -t tmpfs none /sys; exec "$@"' sh "$perfabi" hunt --calls 20000 --seed 1 --as $callers --format json
fi
# In a user namespace that maps no uid everybody is nobody: whose a process is, is not known.
if unshare --user true 2>/dev/null; then
	status 0 unshare --user "$perfabi" hunt --calls 2000 --seed 1 --format json
fi
# Where pids are few, a descriptor's number is one, and perfabi's own, too.
if unshare --user --map-root-user --pid --fork --mount --mount-proc true 2>/dev/null; then
	status 0 unshare --user --map-root-user --pid --fork --mount --mount-proc "$perfabi" hunt --calls 3000 --seed 10 --format json
fi
# Refused and opened, both: otherwise it proves nothing.
holds '[.callers[] | .refused > .calls / 2 and .opened > .calls / 20] | all' "$scratch/hunt.json" || fail "the calls are all of one kind"
# The same seed makes the same calls, which the same checks refuse unless somebody has changed a sysctl meanwhile.
sysctls() { cat /proc/sys/kernel/perf_* 2>/dev/null || :; }
steady=
for _ in 1 2 3 4 5; do
	sysctls >"$scratch/before"
	for hunt in a b; do
		status 0 "$perfabi" hunt --calls 10000 --seed 7 --jobs 1 --as user --format json
		jq -c '.callers[].checks' "$scratch/out" >"$scratch/$hunt"
		holds '[length > 20, (add > 5000)] | all' "$scratch/$hunt" || fail "a hunt that counts no checks"
		holds '[.callers[].moved] == [0]' "$scratch/out" || continue 2
	done
	sysctls | cmp -s - "$scratch/before" && steady=1 && break
done
if [ -n "$steady" ]; then
	cmp "$scratch/a" "$scratch/b" || fail "the same seed made other calls"
else
	echo "left out: hunts of the same seed, for somebody else keeps changing sysctls"
fi
# Where somebody else has the breakpoints, a call that the kernel has no room for is no difference. Of a cgroup it counts a task's, too.
cat >"$scratch/holds.json" <<'JSON'
{"suite": "holds", "about": "x", "spec": {"kernel": "__reserve_bp_slot"}, "cases": [{"name": "all", "title": "t", "as": "user", "requires": ["breakpoint"],
 "steps": [{"buffer": 64, "bind": "w"}, {"repeat": 4, "do": [{"open": {"attr": {"type": "breakpoint", "bp_type": ["w"], "bp_addr": "$w", "bp_len": 4, "exclude_kernel": 1}}}]},
  {"repeat": 600, "do": [{"workload": "sleep", "ms": 1000}]}]}]}
JSON
"$perfabi" run --timeout 3600 "$scratch/holds.json" >"$scratch/held" 2>&1 &
pid=$!
has_ended() { ! grep -q '^State:.*[^Z] ' /proc/$pid/status 2>/dev/null; }
has_all() { # or has ended: there are fewer, or somebody has them
	has_ended && return
	for child in $(children_of $pid | sed 's/ .*//'); do
		[ "$(find "/proc/$child/fd" -lname '*perf_event*' 2>/dev/null | wc -l)" -lt 4 ] || { seen=1 && return 0; }
	done
	[ "$(id -u)" -eq 0 ] && ! ls "/proc/$child/fd" >/dev/null 2>&1 && [ -e "/proc/$child" ] # root without CAP_SYS_PTRACE cannot see
}
seen= child=
comes_true has_all || fail "no breakpoints are held"
status 0 "$perfabi" hunt --calls 10000 --seed 7 --as "${callers%%,*}" --format json
jq -r '.callers[] | "beside breakpoints of another program: \(.held) held"' "$scratch/out"
# Root's calls that are of a cpu meet them, where four are all that there are: on x86.
[ "$callers" = user ] || ! uname -m | grep -q '86' || [ -z "$seen" ] || has_ended || holds '[.callers[].held] | add > 0' "$scratch/out" || fail "no call has met the breakpoints of another program"
kill -INT $pid 2>/dev/null || :
wait $pid || :
# A model that is wrong: random calls show it, and how many there are of a kind.
mkdir "$scratch/wrong" "$scratch/cases"
jq '(.checks.O042 // .O042).if["call.group_fd"] = {"lt": -1}' cases/checks.json >"$scratch/wrong/checks.json"
cmp -s cases/checks.json "$scratch/wrong/checks.json" && fail "nothing was made wrong"
status 1 "$perfabi" hunt --calls 3000 --seed 1 --jobs 1 --as user --cases "$scratch/wrong" --format json
holds '[.callers[].differences[] | select(.title == "the model says that it opens, the kernel EBADF")] | length == 1' "$scratch/out" || { cat "$scratch/out"; fail "a wrong model was not found out"; }
# One that is wrong in one number: the call is found, made simple, and printed as a case.
if [ -n "$TEST_WHOLE" ]; then
sed 's/"attr.sample_stack_user": {"not": {"without": 7}}/"attr.sample_stack_user": {"not": {"without": 15}}/' cases/checks.json >"$scratch/cases/checks.json"
cmp -s cases/checks.json "$scratch/cases/checks.json" && fail "nothing was made wrong"
status 1 "$perfabi" hunt --boundaries --as user --cases "$scratch/cases" --format json
holds '[.callers[].differences[] | select(.title == "the model says EINVAL (O022), the kernel opens it")] | length == 1' "$scratch/out" ||
	{ cat "$scratch/out"; fail "a wrong model was not found out"; }
jq '.callers[].differences[] | select(.covers == ["O022"]) | {suite: "found", about: "x", spec: {kernel: "f", since: "5.0"}, cases: [. + {name: "it"}]}' \
	"$scratch/out" >"$scratch/found.json"
status 0 "$perfabi" check "$scratch/found.json"
status 0 "$perfabi" run "$scratch/found.json"
ci/boundaries "$perfabi" || fail "boundaries"
fi
# A worker that somebody kills has not done its calls.
"$perfabi" hunt --calls 100000000 --jobs 1 --as user >"$scratch/out" 2>"$scratch/err" &
pid=$!
is_killed() {
	for child in $(children_of $pid | sed 's/ .*//'); do kill -KILL "$child" 2>/dev/null || :; done
	has_ended
}
comes_true is_killed
got=0
wait $pid || got=$?
[ $got -eq 3 ] || { cat "$scratch/err"; fail "exit status $got of a hunt whose worker was killed"; }
says err "as user: a worker ended by signal 9"
status 2 "$perfabi" hunt --calls many
status 2 "$perfabi" hunt --as nobody
status 2 "$perfabi" hunt --seconds 0
status 2 "$perfabi" hunt --calls 0
status 2 "$perfabi" hunt --format xml
status 2 "$perfabi" hunt more
# No process is left, and so no event, once init has reaped them.
comes_true none_left || fail "processes were left"
# Without sysfs, or with the /proc of others, more is unknown and nothing is wrong.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs none /sys && exec "$0" hunt --calls 5000 --seed 1 --as root,user' "$perfabi" >"$scratch/hidden" || { cat "$scratch/hidden"; fail "without /sys"; }
	[ "$(grep -c ' 0 differ' "$scratch/hidden")" -eq 2 ] || fail "two callers without /sys"
	unshare -m sh -c 'mount -t tmpfs none /sys && exec "$0" predict --as root --event cpu-clock' "$perfabi" | grep -qx '{"ok":true}' || fail "a software event without /sys"
	unshare -m sh -c 'mount -t tmpfs none /sys && "$0" why --json --as root cpu/event=0x3c/; "$0" why --json --as root cycles' "$perfabi" >"$scratch/hidden" || true # both are refused
	grep -q '"cannot be looked up here"' "$scratch/hidden" || fail "a PMU without /sys"
	if grep -q 'this virtual machine has no PMU' "$scratch/hidden"; then fail "without /sys it is not known which PMUs there are"; fi
	unshare -pf "$perfabi" hunt --calls 5000 --seed 1 --as root,user >"$scratch/others" || { cat "$scratch/others"; fail "the /proc of others"; }
	[ "$(grep -c ' 0 differ' "$scratch/others")" -eq 2 ] || fail "two callers with the /proc of others"
fi
# Interrupted, it tells what it has, and leaves nobody.
interruptible "$perfabi" hunt --seconds 600 --seed 2 --as $callers --format json >"$scratch/interrupted.json" &
hunter=$!
has_workers() { [ -n "$(cat "/proc/$hunter/task/$hunter/children" 2>/dev/null)" ]; }
comes_true has_workers
sleep 1
workers=$(cat "/proc/$hunter/task/$hunter/children")
kill -INT $hunter
got=0
wait $hunter || got=$?
[ $got -eq 130 ] || fail "exit status $got of an interrupted hunt, not 130"
holds '.interrupted == 2 and (.callers | length) == 1' "$scratch/interrupted.json" || fail "an interrupted hunt tells nothing"
for worker in $workers; do
	if kill -0 "$worker" 2>/dev/null; then fail "an interrupted hunt leaves worker $worker"; fi
done
