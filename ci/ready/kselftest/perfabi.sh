#!/bin/sh
# SPDX-License-Identifier: MIT
# KTAP: a comment as a case begins, a suite as its last case ends. perfabi's exit status 4, all skipped, is kselftest's, too.
exec "$(dirname "$0")/perfabi" run --format ktap "$@"
