# SPDX-License-Identifier: MIT
# perfabi why: the stories of fixtures/why are told, what it names helps, and nothing is left behind.
. tests/e2e/lib.sh
"$PYTHON" tests/why.py "$perfabi" "$scratch" || fail "why"
