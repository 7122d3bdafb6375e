# SPDX-License-Identifier: MIT
# test-all: it runs the suite some ten times
# Every expectation that is made wrong is caught.
. tests/e2e/lib.sh
"$perfabi" mutate >"$scratch/out" || { tail -40 "$scratch/out"; fail "an expectation that was wrong passed"; }
tail -8 "$scratch/out"
