# SPDX-License-Identifier: MIT
# test-all: it compiles the tree again
# perfabi show --c: which cases it can write, and that clang takes the programs without a warning. tests/e2e/show-c.sh runs them.
. tests/e2e/lib.sh
mkdir "$scratch/c"
status 0 "$perfabi" show --c -o "$scratch/c" '*'
sed -n 's/^perfabi show: \([^ ]*\) cannot be written.*/\1/p' "$scratch/err" >"$scratch/left-out"
cmp -s "$scratch/left-out" tests/show-c/left-out || { diff "$scratch/left-out" tests/show-c/left-out; fail "other cases than those of tests/show-c/left-out cannot be written"; }
status 0 "$PYTHON" tests/show-c/verdicts.py - - "$scratch/c" clang
says out ", 0 refused"
