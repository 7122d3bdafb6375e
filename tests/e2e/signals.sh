# SPDX-License-Identifier: MIT
# A signal's handler adds nothing to the page faults that are counted meanwhile, wherever the stack happens to
# end: the environment moves it through a page.
. tests/e2e/lib.sh
fixed=
if setarch -R true 2>/dev/null; then fixed="setarch -R"; fi
for size in $(seq 0 32 4096); do
	got=0
	env -i "PAD=$(printf "%${size}s" | tr ' ' x)" $fixed "$perfabi" run 'overflow.signal.page-faults*' >"$scratch/out" || got=$?
	if [ $got -eq 4 ] && [ "$size" = 0 ]; then
		echo "skipped: no case of overflow.signal.page-faults can run here"
		exit 0
	fi
	[ $got -eq 0 ] || { cat "$scratch/out"; fail "with $size bytes more in the environment"; }
done
