# SPDX-License-Identifier: MIT
# --fields leaves members out and changes no other: recordings of fixtures/, some sets of members.
# more with test-all: every recording, many sets of members
. tests/e2e/lib.sh

for input in fixtures/built/*.le.data fixtures/built/samples.be.data fixtures/built/ids.be.data; do
	"$PYTHON" tests/fields.py "$decode" "$input" || fail "$input"
done
for input in fixtures/built/*.le.ring; do
	"$PYTHON" tests/fields.py "$decode" "$input" --attr "${input%.ring}.attr.json" || fail "$input"
done
some="[c-g]*"
[ -z "$TEST_WHOLE" ] || some="*"
for packed in fixtures/recorded/$some.data.gz; do
	input=$scratch/$(basename "${packed%.gz}")
	gzip -dc "$packed" >"$input"
	"$PYTHON" tests/fields.py "$decode" "$input" || fail "$packed"
done
