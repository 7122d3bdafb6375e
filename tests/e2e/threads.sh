# SPDX-License-Identifier: MIT
# test-all: it needs a build with sanitizers
# --jobs and the library's threads under TSan: no race, and the same output.
. tests/e2e/lib.sh

tsan=$PWD/$B/tsan/perfabi-decode
threads=$PWD/$B/tsan/tests/threads
# Some kernels spread a process wider than TSan can follow; without randomization none does.
run="setarch -R"
$run true 2>/dev/null || run=
for packed in fixtures/recorded/*.data.gz; do
	input=$scratch/$(basename "${packed%.gz}")
	gzip -dc "$packed" >"$input"
	"$decode" "$input" >"$scratch/one" || true
	$run "$tsan" -j4 "$input" >"$scratch/four" 2>"$scratch/err" || true
	[ ! -s "$scratch/err" ] || { head -n 40 "$scratch/err"; fail "$packed"; }
	cmp "$scratch/one" "$scratch/four" || fail "$packed"
	$run "$threads" "$input" >"$scratch/threads" 2>"$scratch/err" || true
	[ ! -s "$scratch/err" ] || { head -n 40 "$scratch/err"; fail "$packed, by threads of the caller's"; }
	[ "$(uniq "$scratch/threads" | wc -l)" = 1 ] && [ "$(wc -l <"$scratch/threads")" = 4 ] || fail "$packed: threads that saw different things"
done
