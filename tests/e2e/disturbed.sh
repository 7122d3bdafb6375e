# SPDX-License-Identifier: MIT
# The suite beside others who use perf.
. tests/e2e/lib.sh

[ "$(id -u)" = 0 ] || { echo "skipped: this is not root"; exit 0; }
"$PYTHON" tests/surroundings.py "$perfabi" "$B/tests/disturb" || fail "disturbed"
