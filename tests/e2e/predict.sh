# SPDX-License-Identifier: MIT
# perfabi predict: a line for a line, for this machine and for a recorded one, and what is no call.
. tests/e2e/lib.sh
# A line that is no call however long is told, and its number; the last one needs no newline.
{ echo '{"open": {"attr": {}}}'; head -c 1100000 /dev/zero | tr '\0' ' '; } | status 2 "$perfabi" predict
says err "line 2: longer than 1 MiB"
[ "$(wc -l <"$scratch/out")" = 1 ] || fail "the line before a long one"
printf '{"open": {"attr": {}}}\n\n{"open": {"attr": {}}}' | status 0 "$perfabi" predict
[ "$(wc -l <"$scratch/out")" = 2 ] || fail "a last line without a newline"
machine=fixtures/machines/x86_64-6.18-vm.json
cat >"$scratch/calls" <<'JSON'
{"as": "user", "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1}, "pid": 0, "cpu": -1, "group_fd": -1, "flags": 0}}
{"open": {"attr": {"type": "software", "config": "dummy"}}}
{"as": "root", "open": {"attr": {"type": "hardware", "config": "cpu_cycles"}}}
{"as": "user", "open": {"attr": {"type": 1, "freq": 1, "sample_freq": 100001, "exclude_kernel": 1}}}
{"as": "root", "open": {"attr": {"type": "tracepoint", "config": 1}}}
{"as": "root", "open": {"attr": {"type": 1, "size": 8}}}

{"as": "nobody", "open": {}}
{"as": "root", "open": {"atr": {}}}
not json
JSON
status 1 "$perfabi" predict --machine "$machine" "$scratch/calls"
cut -d, -f1-3 "$scratch/out" >"$scratch/short"
cat >"$scratch/expected" <<'JSON'
{"ok":true}
{"errno":"EACCES","gate":"permission","check":"O031"
{"errno":"ENOENT","gate":"pmu","check":"O051"
{"errno":"EINVAL","gate":"permission","check":"O035"
{"unknown":"which tracepoints the machine has is not known: tracefs cannot be read","check":"O063"}
{"errno":"E2BIG","gate":"copy","check":"O004"
JSON
head -6 "$scratch/short" | cmp - "$scratch/expected" || { cat "$scratch/short"; fail "predictions for a recorded machine"; }
[ "$(wc -l <"$scratch/out")" -eq 9 ] || fail "not a line for a line"
says out '{"error":"/as: expected root, perfmon, sys-admin or user, got \"nobody\""}'
says out '/open/atr'
says out '"because":"sample_freq is 100001, above perf_event_max_sample_rate, which is 100000"'
# Standard input, and each line is JSON.
head -4 "$scratch/calls" | status 0 "$perfabi" predict --machine "$machine" -
jq -e . "$scratch/out" >/dev/null || fail "what predict prints is no JSON"
# This machine: an unknown flag, without a kernel that says so.
if opens_events; then
echo '{"as": "user", "open": {"attr": {}, "flags": "1<<31"}}' | status 0 "$perfabi" predict
says out '"check":"O001"'
# A report of a run is a machine.
"$perfabi" run open.size --format json:"$scratch/report.json" >/dev/null || fail "a report"
head -1 "$scratch/calls" | status 0 "$perfabi" predict --machine "$scratch/report.json"
holds '.environment.learned["kernel.sample_type"] > 0' "$scratch/report.json" || fail "a report without what was learned"
fi
# An event as perf writes it.
"$perfabi" predict --event cpu-clock:u >"$scratch/out" || fail "an event"
! opens_events || says out '{"ok":true}'
status 2 "$perfabi" predict -e nobody/event=1/
status 2 "$perfabi" predict -e nosuch
says err 'an event, as perf list shows them'
status 2 "$perfabi" predict -e cycles:q
status 2 "$perfabi" predict --as nobody
# What strace prints.
cat >"$scratch/strace" <<'TRACE'
1234  12:00:00.1 perf_event_open({type=PERF_TYPE_HARDWARE, size=0x88 /* PERF_ATTR_SIZE_VER8 */, config=PERF_COUNT_HW_CPU_CYCLES, sample_period=4000, sample_type=PERF_SAMPLE_IP|PERF_SAMPLE_TID, read_format=0, disabled=1, exclude_kernel=1, precise_ip=2 /* requested to have 0 skid */}, 1234<cat>, -1, -1, PERF_FLAG_FD_CLOEXEC) = -1 ENOENT (No such file or directory)
perf_event_open({type=PERF_TYPE_HW_CACHE, size=136, config=PERF_COUNT_HW_CACHE_RESULT_MISS<<16|PERF_COUNT_HW_CACHE_OP_READ<<8|PERF_COUNT_HW_CACHE_L1D, exclude_kernel=1}, 0, -1, 3<anon_inode:[perf_event]>, 0) = 4
perf_event_open({type=PERF_TYPE_SOFTWARE, size=136, config=PERF_COUNT_SW_DUMMY, sample_period=0, ...}, 0, -1, -1, 0) = 3
perf_event_open({type=PERF_TYPE_SOFTWARE, size=136, config=PERF_COUNT_SW_DUMMY}, 0, -1
perf_event_open(NULL, 0, -1, -1, 0) = -1 EFAULT (Bad address)
TRACE
status 1 "$perfabi" predict --machine "$machine" --as root "$scratch/strace"
cut -c1-60 "$scratch/out" >"$scratch/short"
cat >"$scratch/expected" <<'JSON'
{"unknown":"whether there is such a process, and who may obs
{"unknown":"group_fd is an event that was opened before, and
{"error":"expected all of attr, as strace -v prints it; with
{"error":"expected pid, cpu, group_fd and flags behind attr,
{"errno":"EFAULT","gate":"copy","check":"O002","because":"at
JSON
cmp "$scratch/short" "$scratch/expected" || { cat "$scratch/out"; fail "lines of strace"; }
# A tracepoint that one line names is there; of the others of that machine nothing is known by it.
cat >"$scratch/tracepoints" <<'JSON'
{"as": "root", "open": {"attr": {"type": "tracepoint", "config": "$tracepoint.sched:sched_switch"}}}
{"as": "root", "open": {"attr": {"type": "tracepoint", "config": 7}}}
JSON
status 0 "$perfabi" predict --machine "$machine" "$scratch/tracepoints"
[ "$(sed -n 1p "$scratch/out")" = '{"ok":true}' ] || fail "a tracepoint by its name"
sed -n 2p "$scratch/out" | grep -q '^{"unknown":' || fail "a tracepoint that nobody has named"
status 2 "$perfabi" predict -e cycles -m "$machine"
status 2 "$perfabi" predict --machine "$scratch/calls" /dev/null
status 2 "$perfabi" predict --machine "$scratch/none" /dev/null
status 2 "$perfabi" predict "$scratch/none"
status 2 "$perfabi" predict a b
status 2 "$perfabi" predict --nonsense
status 0 "$perfabi" predict --facts
says out 'attr.sample_type'
says out 'kernel.sample_type'
# Who may observe a process is by its capabilities and its user namespace: one of another is observed by whoever owns that, or not known.
sleep 36000 >/dev/null &
beside=$!
sh -c 'true & exec sleep 36000' >/dev/null &
parent=$!
is_dead() { dead=$(children_of $parent | sed 's/ .*//') && [ -n "$dead" ] && grep -q '^State:.*Z ' "/proc/$dead/status"; }
comes_true is_dead || fail "a zombie"
PYTHONDONTWRITEBYTECODE=1 "$PYTHON" tests/opened.py "$perfabi" 0 $beside "$dead" || fail "a process beside, and a dead one"
kill $parent
if unshare --user --map-root-user true 2>/dev/null; then
	unshare --user --map-root-user sleep 36000 >/dev/null &
	inside=$!
	is_inside() { ! cmp -s /proc/$inside/uid_map /proc/self/uid_map; }
	comes_true is_inside || fail "unshare"
	PYTHONDONTWRITEBYTECODE=1 "$PYTHON" tests/opened.py "$perfabi" $inside || fail "a process of another user namespace"
	unshare --user --map-root-user sh -c 'sleep 36000 >/dev/null & "$@" $!; got=$?; kill $!; exit $got' sh env PYTHONDONTWRITEBYTECODE=1 \
		"$PYTHON" tests/opened.py "$perfabi" 0 $beside $inside || fail "processes, from another user namespace"
	kill $inside
else
	echo "left out: user namespaces, for unshare is refused"
fi
kill $beside
# A check that is wrong is told, with its place.
mkdir "$scratch/cases"
sed 's/"attr.sample_stack_user": {"ge": 65535}/"attr.sample_stak_user": {"ge": 65535}/' cases/checks.json >"$scratch/cases/checks.json"
status 2 "$perfabi" predict --cases "$scratch/cases" /dev/null
says err '/checks/O021/if/attr.sample_stak_user'
says err 'attr.sample_stack_user'
