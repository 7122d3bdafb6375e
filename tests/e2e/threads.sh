# SPDX-License-Identifier: MIT
# --jobs under TSan: no race, and the same output.
. tests/e2e/lib.sh

tsan=$PWD/$B/tsan/perfabi-decode
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
done
