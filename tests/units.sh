# SPDX-License-Identifier: MIT
# The unit tests; libcheck has each in a process of its own, and tests/tap ends what hangs.
# more with test-all: damage to each byte, and at each place
[ -x "${B:-build}/unit" ] || { echo "${B:-build}/unit is not built: \`make test\` builds it"; exit 1; }
CK_TIMEOUT_MULTIPLIER=100 exec "${B:-build}/unit"
