# SPDX-License-Identifier: MIT
# test-all: it runs the suite some ten times
# The suite beside others who use perf.
. tests/e2e/lib.sh

[ "$(id -u)" = 0 ] || { echo "left out: this is not root"; exit 0; }
"$PYTHON" tests/surroundings.py "$perfabi" "$B/tests/disturb" || fail "disturbed"
