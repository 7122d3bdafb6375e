# SPDX-License-Identifier: MIT
# What the end-to-end scripts share; sourced from the top of the tree.
set -eu
B=${B:-build}
PYTHON=${PYTHON:-$(ci/python || :)}
perfabi=$PWD/$B/perfabi
decode=$PWD/$B/perfabi-decode
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

# status WANTED COMMAND... : runs it with its output in $scratch/out and $scratch/err.
status() {
	wanted=$1
	shift
	got=0
	"$@" >"$scratch/out" 2>"$scratch/err" || got=$?
	[ "$got" -eq "$wanted" ] || { cat "$scratch/out" "$scratch/err"; fail "exit status $got, not $wanted: $*"; }
}
says() { grep -qF -- "$2" "$scratch/$1" || { cat "$scratch/$1"; fail "$1 does not say: $2"; }; }
# holds FILTER FILE : whether the JSON is so; jq -e alone is content with an empty file.
holds() { [ -s "$2" ] && jq -e "$1" "$2" >/dev/null; }
