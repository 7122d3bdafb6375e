# SPDX-License-Identifier: MIT
# cases/abi against this machine's <linux/perf_event.h>: no value may differ; what the header has
# beyond cases/abi is said.
. tests/e2e/lib.sh
if ! echo '#include <linux/perf_event.h>' | "${CC:-cc}" -E - >/dev/null 2>&1; then
	echo "no <linux/perf_event.h> here; left out"
	exit 0
fi
"$PYTHON" tests/abi_header.py "${CC:-cc}" "$scratch"
