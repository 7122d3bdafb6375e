# SPDX-License-Identifier: MIT
# A signal's handler adds nothing to the page faults that are counted meanwhile, wherever the stack happens to
# end: the environment moves it through a page.
# more with test-all: places of the stack closer to each other
. tests/e2e/lib.sh
fixed=
if setarch -R true 2>/dev/null; then fixed="setarch -R"; fi
cat >"$scratch/one" <<'EOT'
# usage: one BYTES PERFABI [COMMAND...]    BYTES more in the environment; 4: no case can run
size=$1 perfabi=$2
shift 2
got=0
out=$(env -i "PAD=$(printf "%${size}s" | tr ' ' x)" "$@" "$perfabi" run 'overflow.signal.page-faults*') || got=$?
[ $got -eq 0 ] || [ $got -eq 4 ] || { echo "$out"; echo "FAILED: with $size bytes more in the environment"; }
exit $got
EOT
step=512
[ -z "$TEST_WHOLE" ] || step=32
got=0
# shellcheck disable=SC2086 # words are meant to be split
sh "$scratch/one" 0 "$perfabi" $fixed || got=$?
if [ $got -eq 4 ]; then
	echo "left out: no case of overflow.signal.page-faults can run here"
	exit 0
fi
# Each counts its own: several at a time.
# shellcheck disable=SC2086
{ [ $got -eq 0 ] && seq 32 "$step" 4096 | xargs -P "$(nproc)" -I SIZE sh "$scratch/one" SIZE "$perfabi" $fixed; } || fail "page faults that are not the case's"
