# SPDX-License-Identifier: MIT
# perfabi-decode --attr-of: the bytes of an attr to the JSON that a case takes.
. tests/e2e/lib.sh
status 0 "$decode" --help
status 0 "$decode" --version
status 2 "$decode" --attr-of /nonexistent
says err "No such file"
printf 'short' >"$scratch/short"
status 2 "$decode" --attr-of "$scratch/short"
says err "at least 64 bytes"
for fixture in fixtures/attr/*.bin; do
	name=${fixture%.bin}
	# shellcheck disable=SC2046 # words are meant to be split
	status 0 "$decode" --attr-of "$fixture" $(cat "$name.options")
	jq -S . "$scratch/out" >"$scratch/got"
	jq -S . "$name.json" | cmp - "$scratch/got" || { cat "$scratch/got"; fail "$fixture"; }
done
