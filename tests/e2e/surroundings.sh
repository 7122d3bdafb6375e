# SPDX-License-Identifier: MIT
# test-all: it runs the suite some ten times
# The suite where a machine gives it less.
. tests/e2e/lib.sh

[ "$(id -u)" = 0 ] || { echo "left out: this is not root"; exit 0; }
"$PYTHON" tests/surroundings.py "$perfabi" "$B/tests/closed.so" || fail "surroundings"
