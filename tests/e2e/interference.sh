# SPDX-License-Identifier: MIT
# What processes of cases, other users and other runs can do to a run of root's.
# more with test-all: every part
. tests/e2e/lib.sh

[ "$(id -u)" = 0 ] || { echo "left out: this is not root"; exit 0; }
needs_events "what others do to a run"
parts=
[ -n "$TEST_WHOLE" ] || parts="cases_of_users verdict_is_no_command users_do_not_block sysctls_that_move no_programs_by_path"
# shellcheck disable=SC2086 # words are meant to be split
"$PYTHON" tests/interference.py "$perfabi" "$scratch" $parts || fail "what others do to a run of root's"
