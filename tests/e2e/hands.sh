# SPDX-License-Identifier: MIT
# What processes of cases, other users and other runs can do to a run of root's.
. tests/e2e/lib.sh

[ "$(id -u)" = 0 ] || { echo "skipped: this is not root"; exit 0; }
"$PYTHON" tests/hands.py "$perfabi" "$scratch" || fail "root's hands"
