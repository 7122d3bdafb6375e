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
chosen=$(printf 'fixtures/recorded/%s.data.gz ' callgraph dwarf group-read be-s390x.fields)
[ -z "$TEST_WHOLE" ] || chosen="fixtures/recorded/*.data.gz"
for packed in $chosen; do
	input=$scratch/$(basename "${packed%.gz}")
	gzip -dc "$packed" >"$input"
	"$PYTHON" tests/fields.py "$decode" "$input" || fail "$packed"
done
