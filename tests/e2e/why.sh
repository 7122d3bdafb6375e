# SPDX-License-Identifier: MIT
# perfabi why: the stories of fixtures/why are told, what it names helps, and nothing is left behind.
# more with test-all: every story and part
. tests/e2e/lib.sh
cp "$perfabi" "$scratch" # where another user may run it
opens_events || export OPENS_NOTHING=1
"$PYTHON" tests/why.py "$scratch/perfabi" "$scratch" || fail "why"
