# SPDX-License-Identifier: MIT
# test-all: it needs a build with sanitizers
# The unit tests under ASan and UBSan, in one process, so that what is not freed is seen.
CK_FORK=no exec "${B:-build}/asan/unit"
