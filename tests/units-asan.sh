# SPDX-License-Identifier: MIT
# The unit tests under ASan and UBSan, in one process, so that what is not freed is seen.
CK_FORK=no exec "${B:-build}/asan/unit"
