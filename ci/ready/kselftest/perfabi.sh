#!/bin/sh
# SPDX-License-Identifier: MIT
# KTAP as it comes: a comment as a case begins, a line as it ends. perfabi's exit status 4, all skipped, is kselftest's, too.
exec "$(dirname "$0")/perfabi" run --format ktap "$@"
