# SPDX-License-Identifier: MIT
# Loader and schema agree on what is broken, and the loader says so as it did.
# more with test-all: each case file by itself
. tests/e2e/lib.sh
"$PYTHON" tests/broken.py "$perfabi" || fail "see build/broken.got"
