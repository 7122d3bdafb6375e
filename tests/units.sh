# SPDX-License-Identifier: MIT
# more with test-all: damage to every bit, and at every place, of small recordings
# The unit tests; libcheck has each in a process of its own, and tests/tap ends what hangs.
[ -x "${B:-build}/unit" ] || { echo "${B:-build}/unit is not built: \`make test\` builds it"; exit 1; }
CK_TIMEOUT_MULTIPLIER=100 exec "${B:-build}/unit"
