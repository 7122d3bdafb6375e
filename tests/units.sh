# SPDX-License-Identifier: MIT
# The unit tests; libcheck has each in a process of its own.
[ -x "${B:-build}/unit" ] || { echo "${B:-build}/unit is not built: \`make test\` builds it"; exit 1; }
exec "${B:-build}/unit"
