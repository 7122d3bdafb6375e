# SPDX-License-Identifier: MIT
# Whenever perfabi is interrupted or killed, what its cases changed in the machine is put back.
. tests/e2e/lib.sh
"$PYTHON" tests/restore.py "$perfabi" "${TIMES:-12}" || fail "something of the system is changed"
