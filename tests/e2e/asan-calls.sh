# SPDX-License-Identifier: MIT
# test-all: it needs a build with sanitizers
# The runner under ASan and UBSan: all cases are loaded, calls are made and judged.
. tests/e2e/lib.sh
asan=$B/asan/perfabi
"$asan" check || fail "check"
"$asan" run --timeout 60 order group.join group.output open.fd open.memory || [ $? -eq 4 ] || fail "run"
