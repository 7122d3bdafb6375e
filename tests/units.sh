# SPDX-License-Identifier: MIT
# The unit tests; libcheck has each in a process of its own.
exec "${B:-build}/unit"
