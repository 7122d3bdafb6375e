# SPDX-License-Identifier: MIT
# What the end-to-end scripts share; sourced from the top of the tree.
set -eu
B=${B:-build}
PYTHON=${PYTHON:-$(ci/python || :)}
TEST_WHOLE=${TEST_WHOLE:-} # not empty: everything, however long it takes
perfabi=$PWD/$B/perfabi
decode=$PWD/$B/perfabi-decode
opening=$PWD/cases/open/flags.json # the few cases that opens_events needs
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT

# children_of PID : the pid and the name of each.
children_of() { cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) (\(.*\)) [A-Z] $1 .*/\1 \2/p"; }
fail() { echo "FAILED: $*"; exit 1; }

# run_to OUT ERR COMMAND... : its exit status is $got.
run_to() {
	into=$1 errors=$2 got=0
	shift 2
	"$@" >"$into" 2>"$errors" || got=$?
}
# status WANTED COMMAND... : runs it with its output in $scratch/out and $scratch/err.
status() {
	wanted=$1
	shift
	run_to "$scratch/out" "$scratch/err" "$@"
	[ "$got" -eq "$wanted" ] || { cat "$scratch/out" "$scratch/err"; fail "exit status $got, not $wanted: $*"; }
}
# interruptible COMMAND... : it hears of SIGINT, which a shell has those ignore that it starts in the background.
interruptible() {
	exec "$PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}
# comes_true COMMAND... : waits until it succeeds; whoever waits ten minutes in vain hears no.
comes_true() {
	end=$(($(date +%s) + 600))
	until "$@"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}
# judged FILE STATUS : the report is whole, and the exit status is that of its results. What the cases say of this kernel is not
# the tests' affair; an error is perfabi's own, unless somebody else was in the way.
judged() {
	holds '(.results | length) == (.summary | del(.seconds, .more_alarms) | [.[] | numbers] | add) and (.results | length) > 0' "$1" || fail "a report that is not whole"
	holds '(.summary.alarms // [] | length > 0) as $alarmed | .results | map(.outcome) | (any(. == "error") | if . then 3 else null end) //
		($alarmed or any(. == "fail" or . == "unstable" or . == "xpass") | if . then 1 else null end) // (if all(. == "skip") then 4 else 0 end) | . == '"$2" "$1" || fail "exit status $2, and $(jq -c .summary "$1")"
	jq -r '.results[] | select(.outcome == "error") | "\(.id): \(.expected // "") \(.got // "") \(.reason // "")"' "$1" |
		grep -v "it was changed while this case ran, and not by this run\|out of memory\|no memory while\|a cpu has come or gone\|signal 9 " \
			>"$scratch/errors" || true
	[ ! -s "$scratch/errors" ] || { cat "$scratch/errors"; fail "errors of perfabi's own"; }
}
# A kernel without perf events has none of its sysctls, and no preloaded kernel can stand for one that has them.
has_perf_events() { [ -e /proc/sys/kernel/perf_event_paranoid ]; }
# opens_events [CALLER] : whether such a caller's perf_event_open may succeed here at all; CALLER is root or user.
opens_events() {
	opened=0
	"$perfabi" run "$opening" "open.flags.none.${1:-user}" >"$scratch/opens" 2>&1 || opened=$?
	[ $opened -eq 0 ] || [ $opened -eq 4 ] || { cat "$scratch/opens"; fail "open.flags.none.${1:-user}: exit status $opened"; }
	return $opened
}
# needs_events WHAT : ends the script, and says that it leaves WHAT out, where an ordinary user may open no event.
needs_events() {
	opens_events || { echo "left out: $1, for perf_event_open opens nothing for a user here"; exit 0; }
}
says() { grep -qF -- "$2" "$scratch/$1" || { cat "$scratch/$1"; fail "$1 does not say: $2"; }; }
# holds FILTER FILE : whether the JSON is so; jq -e alone is content with an empty file.
holds() { [ -s "$2" ] && jq -e "$1" "$2" >/dev/null; }
