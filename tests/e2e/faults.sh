# SPDX-License-Identifier: MIT
# Reads, writes and allocations that fail: the output of an undisturbed run, or exit status 3 and why.
# more with test-all: faults many times as close
. tests/e2e/lib.sh

fine=13 wide=49000
[ -z "$TEST_WHOLE${FAULT_STEP-}" ] || fine=1 wide=$((${FAULT_STEP:-61} * 82))
features=fixtures/built/features.le.data
gzip -dc fixtures/recorded/pipe.data.gz >"$scratch/pipe"
gzip -dc fixtures/recorded/zstd.data.gz >"$scratch/zstd"
ids=fixtures/built/ids.le.data
"$decode" --attr-of $ids >"$scratch/ids.json"
dd if=$ids of="$scratch/bare" bs=1 skip="$("$decode" --header $ids | jq .data.offset)" 2>/dev/null
tests/faults/faults.py "$B/tests/faults.so" "$decode" 1 "$fine" "--machine none /dev/null" \
	"$features" "--attr-of $features" \
	"$scratch/pipe" "--attr-of $scratch/pipe" "-L --attr $scratch/ids.json $scratch/bare" \
	"$scratch/zstd" "-j2 $scratch/zstd" \
	"--attr fixtures/built/ring-wrapped.le.attr.json fixtures/built/ring-wrapped.le.ring" || fail "faults"
# The first loads one file and what it requires, the second loads all.
tests/faults/faults.py "$B/tests/faults.so" "$perfabi" $((wide / 8)) $((wide / 8)) "help phases" "list --json open.size" || fail "faults of perfabi list"
tests/faults/faults.py "$B/tests/faults.so" "$perfabi" "$wide" "$wide" "help phases" "check open.size" || fail "faults of perfabi check"

# The reader of records: what it gave before is a beginning of the whole, and it says what failed.
read=$B/tests/read
for file in fixtures/built/compressed.le.data fixtures/built/samples.le.data; do
	FAULT_COUNT=$scratch/count LD_PRELOAD=$PWD/$B/tests/faults.so "$read" "$file" >"$scratch/whole"
	# shellcheck disable=SC2046 # numbers
	set -- $(cat "$scratch/count")
	[ "$#" -ge 2 ] && [ "$1" -ge 50 ] && [ "$2" -ge 1 ] || fail "counts: $*"
	failed=0
	for at in $(seq 1 "$1") $(seq -f 'r%.0f' 1 "$2"); do
		got=0
		case $at in
		r*) FAULT_READ=${at#r} LD_PRELOAD=$PWD/$B/tests/faults.so "$read" "$file" >"$scratch/part" || got=$? ;;
		*) FAULT_ALLOC=$at LD_PRELOAD=$PWD/$B/tests/faults.so "$read" "$file" >"$scratch/part" || got=$? ;;
		esac
		case $got in
		0) cmp "$scratch/whole" "$scratch/part" || fail "$file: $at failed, and nobody said so" ;;
		3)
			failed=$((failed + 1))
			tail -n 1 "$scratch/part" | grep -q '^failed: .' || fail "$file: $at: no reason"
			sed '$d' "$scratch/part" >"$scratch/beginning"
			head -c "$(wc -c <"$scratch/beginning")" "$scratch/whole" | cmp - "$scratch/beginning" || fail "$file: $at: no beginning"
			;;
		*) fail "$file: $at: exit status $got" ;;
		esac
	done
	[ "$failed" -ge 20 ] || fail "$file: $failed failures"
done
