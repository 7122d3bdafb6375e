# SPDX-License-Identifier: MIT
# Reads, writes and allocations that fail: the output of an undisturbed run, or exit status 3 and why.
. tests/e2e/lib.sh

features=fixtures/built/features.le.data
gzip -dc fixtures/recorded/pipe.data.gz >"$scratch/pipe"
gzip -dc fixtures/recorded/zstd.data.gz >"$scratch/zstd"
ids=fixtures/built/ids.le.data
"$decode" --attr-of $ids >"$scratch/ids.json"
dd if=$ids of="$scratch/bare" bs=1 skip="$("$decode" --header $ids | jq .data.offset)" 2>/dev/null
tests/faults/faults.py "$B/tests/faults.so" "$decode" "${FAULT_STEP:-61}" "--machine none /dev/null" \
	"$features" "--attr-of $features" "--expect ${features%.data}.jsonl $features" \
	"$scratch/pipe" "--attr-of $scratch/pipe" "-L --attr $scratch/ids.json $scratch/bare" \
	"$scratch/zstd" "-j2 $scratch/zstd" \
	"--attr fixtures/built/ring-wrapped.le.attr.json fixtures/built/ring-wrapped.le.ring" || fail "faults"
tests/faults/faults.py "$B/tests/faults.so" "$perfabi" $((${FAULT_STEP:-61} * 82)) "list --json open.size" "list --json open.size" "check open.size" || fail "faults of perfabi"
