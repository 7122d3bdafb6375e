# SPDX-License-Identifier: MIT
# Reads, writes and allocations that fail: the output of an undisturbed run, or exit status 3 and why.
. tests/e2e/lib.sh

features=fixtures/built/features.le.data
gzip -dc fixtures/recorded/pipe.data.gz >"$scratch/pipe"
gzip -dc fixtures/recorded/zstd.data.gz >"$scratch/zstd"
tests/faults/faults.py "$B/tests/faults.so" "$decode" "${FAULT_STEP:-61}" \
	"$features" "--attr-of $features" "--expect ${features%.data}.jsonl $features" \
	"$scratch/pipe" "--attr-of $scratch/pipe" "$scratch/zstd" "-j2 $scratch/zstd" \
	"--attr fixtures/built/ring-wrapped.le.attr.json fixtures/built/ring-wrapped.le.ring" || fail "faults"
