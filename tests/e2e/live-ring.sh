# SPDX-License-Identifier: MIT
# libperfabi on a ring that the kernel is writing: every record once, in order, around the end, and what was lost is said.
. tests/e2e/lib.sh
needs_events "a live ring"
got=0
"$B/tests/live_ring" >"$scratch/out" || got=$?
cat "$scratch/out"
[ $got = 77 ] && exit 0
[ $got = 0 ] || fail "exit status $got"
