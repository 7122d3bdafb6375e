# SPDX-License-Identifier: MIT
# What of ci/matrix needs no machine to boot: the cells, archives, what a guest hands out, and what is made of it.
. tests/e2e/lib.sh

"$PYTHON" tests/schema.py matrix.schema.json ci/matrix.json || fail "ci/matrix.json"
"$PYTHON" tests/matrix.py || fail "tests/matrix.py"
status 0 ci/matrix list 'arm64-*'
[ "$(wc -l <"$scratch/out")" -ge 2 ] || fail "ci/matrix list 'arm64-*'"
status 2 ci/matrix list nothing-of-that-name
says err "no cell matches nothing-of-that-name"
status 2 ci/matrix
# The first process of a guest compiles without a warning.
${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -Werror -O2 -o "$scratch/init" ci/guest/init.c -lz || fail "ci/guest/init.c"
# The page of what kernels break is that of cases/baseline.json.
ci/matrix deviations | cmp - docs/deviations.md || fail "docs/deviations.md is out of date: ci/matrix deviations >docs/deviations.md"
# A wrong ci/matrix.json is named by what is wrong with it.
while IFS='|' read -r json message; do
	printf '%s\n' "$json" >"$scratch/matrix.json"
	status 2 ci/matrix --matrix "$scratch/matrix.json" list
	says err "$message"
done <<'END'
x|has not the form of ci/matrix.json
{"cells":[1],"arches":{}}|cell 1 is no object
{"cells":[{"name":"a","arch":"x","suite":"s"}],"arches":{}}|cell 1 has no for
{"cells":[{"name":"a","arch":"x","suite":"s","for":"f","flavuor":"f"}],"arches":{}}|flavuor is no key of it
{"cells":[{"name":"a","arch":"x","suite":1,"for":"f"}],"arches":{}}|suite must be string
{"cells":[{"name":"a","arch":"x","suite":"s","for":"f","flavour":"f"}],"arches":{}}|no architecture is called x
END
