# SPDX-License-Identifier: MIT
# perfabi show --c: each case as a C program that gcc takes without a warning, and that says what `perfabi run` says.
# more with test-all: every case, not one in a hundred
. tests/e2e/lib.sh
mkdir "$scratch/c"
# One case in a hundred, from a random one on; with TEST_WHOLE each.
step=100
[ -z "$TEST_WHOLE" ] || step=1
"$perfabi" list | awk -v step=$step 'BEGIN {srand(); first = int(rand() * step)} NR % step == first {print $1}' >"$scratch/chosen"
# shellcheck disable=SC2046 # ids are meant to be split
status 0 "$perfabi" show --c -o "$scratch/c" $(cat "$scratch/chosen")
# shellcheck disable=SC2046
"$perfabi" run --format json --no-host $(cat "$scratch/chosen") >"$scratch/run.json" || [ $? -ne 2 ] || fail "run"
sysctls() { cat /proc/sys/kernel/perf_* 2>/dev/null || :; }
sysctls >"$scratch/before"
status 0 "$PYTHON" tests/show-c/verdicts.py "$perfabi" "$scratch/run.json" "$scratch/c" gcc
says out ", 0 with another verdict"
as_before() { sysctls | cmp -s - "$scratch/before"; } # somebody else may be setting one, too
comes_true as_before || { sysctls | diff "$scratch/before" -; fail "the programs left a sysctl that is not as it was"; }
# A program finds what a case finds: with a wrong errno, a wrong count and a wrong record in a case of its own.
mkdir "$scratch/wrong"
cat >"$scratch/wrong/wrong.json" <<'END'
{"suite": "wrong", "about": "promises that no kernel keeps", "spec": {"man": "none", "kernel": "none", "since": "2.6.31"},
 "defaults": {"as": ["root"]}, "cases": [
  {"name": "errno", "title": "/* a reserved */ bit is ??/ too big \\", "open": {"attr": {"type": "software", "config": "dummy", "__reserved_2": 1}}, "expect": {"errno": "E2BIG", "phase": "copy"}},
  {"name": "count", "title": "six faults are seven", "steps": [{"open": {"attr": {"type": "software", "config": "page_faults", "disabled": 1}}, "bind": "e"},
    {"workload": "touch", "pages": 6, "counted": "e"}, {"read": "e", "expect": {"value": 7}}]},
  {"name": "record", "title": "a comm is another", "steps": [{"open": {"attr": {"type": "software", "config": "dummy", "comm": 1}}, "bind": "e"}, {"mmap": "e", "pages": 1},
    {"workload": "rename", "name": "one??/"}, {"records": "e", "expect": {"exactly": [{"type": "COMM", "comm": "two"}]}}]}]}
END
for one in errno count record; do
	[ "$(id -u)" = 0 ] && opens_events root || { echo "left out: programs that fail, for root opens no event here"; break; }
	"$perfabi" show --c --cases "$scratch/wrong" "wrong.$one.root" >"$scratch/wrong.c" || fail "no program of wrong.$one.root"
	"${CC:-cc}" -Wall -Wextra -Werror -pthread -o "$scratch/program" "$scratch/wrong.c" || fail "wrong.$one.root does not compile"
	status 1 "$scratch/program"
	says out "FAIL"
done
[ "$one" != record ] || says out '"two"'
# Each bug of the kernel's that the baseline has comes with a mail, and with the program that it speaks of.
status 0 "$PYTHON" ci/matrix mails --to "$scratch/mails"
[ "$(ls "$scratch"/mails/*.txt | wc -l)" = "$(jq '[.deviations[] | select(.function)] | length' cases/baseline.json)" ] || fail "mails"
for mail in "$scratch"/mails/*.txt; do
	"${CC:-cc}" -Wall -Wextra -Werror -pthread -fsyntax-only "${mail%.txt}.c" || fail "${mail##*/}: the program does not compile"
	grep -q "${mail##*/}" "$scratch/mails/README.md" || fail "README.md lacks ${mail##*/}"
done
# Whoever ends a program ends its case: what it changed is set back, and its status is no verdict.
rate=/proc/sys/kernel/perf_event_max_sample_rate
if [ "$(id -u)" = 0 ] && [ -w $rate ] && opens_events root; then
	mkdir "$scratch/long"
	cat >"$scratch/long/long.json" <<'END'
{"suite": "long", "about": "a case that takes its time", "spec": {"man": "none", "kernel": "none", "since": "2.6.31"},
 "cases": [{"name": "sleep", "title": "it sleeps for sixteen seconds", "as": ["root"], "sysctl": {"perf_event_max_sample_rate": 54321}, "steps": [{"repeat": 8, "do": [{"workload": "sleep", "ms": 2000}]}]}]}
END
	"$perfabi" show --c --cases "$scratch/long" long.sleep.root >"$scratch/long.c" || fail "no program of long.sleep.root"
	"${CC:-cc}" -pthread -o "$scratch/program" "$scratch/long.c" || fail "long.sleep.root does not compile"
	was=$(cat $rate)
	changed() { [ "$(cat $rate)" != "$was" ]; }
	for sig in HUP TERM USR1; do
		"$scratch/program" >"$scratch/out" &
		comes_true changed || :
		[ "$(cat $rate)" = 54321 ] || fail "the program has not changed the sysctl"
		kill -s $sig $!
		wait $! && fail "SIG$sig: exit status 0"
		[ "$(cat $rate)" = "$was" ] || { echo "$was" >$rate; fail "SIG$sig leaves a sysctl changed"; }
	done
fi
# What programs take from writes no further than it has room, whatever the linker has put into its notes, and leaves limits as they were.
mkdir "$scratch/own"
echo '{"suite": "own", "about": "none", "spec": {"man": "none", "kernel": "none", "since": "2.6.31"}, "cases": [{"name": "one", "title": "one", "as": ["root"],
 "steps": [{"bpf": "socket-filter", "bind": "b"}, {"function": "probed", "bind": "f"}]}]}' >"$scratch/own/own.json"
"$perfabi" show --c --cases "$scratch/own" own.one.root >"$scratch/own.c" || fail "no program of own.one.root"
cat >"$scratch/snippets.c" <<'END'
#define _GNU_SOURCE
#include <assert.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* What it sets a limit to at last: not everybody may lift one. */
static struct rlimit after;
static int note_limit(int which, const struct rlimit *limit) { after = *limit; return which - RLIMIT_MEMLOCK; }

#define setrlimit note_limit
#define main the_case
#include "own.c"
#undef main

int main(int argc, char **argv)
{
	char text[256];
	struct rlimit before;

	memset(text, 'x', sizeof(text));
	build_id_of(text);
	assert(strspn(text, "0123456789abcdef") == (argc == 2 ? strtoul(argv[1], NULL, 10) : 0));
	for (size_t i = 41; i < sizeof(text); i++)
		assert(text[i] == 'x');
	assert(!getrlimit(RLIMIT_MEMLOCK, &before));
	if (bpf_load(BPF_PROG_TYPE_SOCKET_FILTER, BPF_DOES_NOTHING, -1, -1, &(struct bpf_program){0}))
		_exit(3);
	assert(before.rlim_cur == after.rlim_cur && before.rlim_max == after.rlim_max);
	return 0;
}
END
for id in none:0 sha1:40 "0x$(printf '%064d' 7):40"; do
	"${CC:-cc}" -pthread -Wl,--build-id="${id%:*}" -o "$scratch/snippets" "$scratch/snippets.c" || fail "snippets.c does not compile"
	got=0
	"$scratch/snippets" "${id#*:}" || got=$?
	[ "$got" = 0 ] || { [ "$got" = 3 ] && echo "left out: no BPF program can be loaded here"; } || fail "a build id of ${id%:*}: exit status $got"
done
# --c and its folder; what the case requires and the machine has not is said where it is written.
status 2 "$perfabi" show -o "$scratch/folder" open.fd
says err "the folder of --c's programs"
status 2 "$perfabi" show --c open.fd.closed.root open.fd.closed.user
says err "--c prints one program"
status 0 "$perfabi" show --c -o "$scratch/folder" open.fd.closed.root
[ -s "$scratch/folder/open.fd.closed.root.c" ] || fail "no program in a folder that was not there"
mkdir "$scratch/gone"
echo '{"suite": "gone", "about": "none", "spec": {"man": "none", "kernel": "none", "since": "2.6.31"}, "cases": [{"name": "one", "title": "one", "as": ["user"], "requires": ["pmu.none_such"],
 "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1}}, "expect": {"ok": true}}]}' >"$scratch/gone/gone.json"
status 0 "$perfabi" show --c --cases "$scratch/gone" gone.one.user
says err "it requires pmu.none_such"
mv "$scratch/out" "$scratch/gone.c"
"${CC:-cc}" -Wall -Wextra -Werror -pthread -o "$scratch/program" "$scratch/gone.c" || fail "gone.one.user does not compile"
status 4 "$scratch/program"
! opens_events || says out "SKIP: the case needs pmu.none_such"
status 0 "$perfabi" show --strace --cases "$scratch/gone" gone.one.user
! opens_events || says out "/* skip: it requires pmu.none_such"
status 2 "$perfabi" show --strace 'open.fd.*'
says err "runs one case, by its ID"
# --strace
if opens_events; then
	status 0 "$perfabi" show --strace ioctl.id.unique.user
	says out "perf_event_open({type=PERF_TYPE_SOFTWARE, size="
	says out "ioctl(3, PERF_EVENT_IOC_ID, "
	[ "$(tail -n 1 "$scratch/out")" = "/* pass */" ] || fail "the verdict behind the calls"
fi
status 2 "$perfabi" show --strace --c open.flags.none.root
says err "--strace runs one case, by its ID"
status 2 "$perfabi" show --c open.flags
says err "--c prints one program"
status 2 "$perfabi" show --strace nonsuch
says err 'no case has the id "nonsuch"'
