# SPDX-License-Identifier: MIT
# Every recording in fixtures/ decodes to the lines beside it, whole, in threads and in shards, by what is built in and by cases/; what comes
# out is as the schema says, and what perf prints of the same recording.
# more with test-all: each line held against the schema, and more threads
. tests/e2e/lib.sh

# The hand-built ones are what their generator writes.
"$PYTHON" tests/build_fixtures.py "$scratch/built"
diff -r "$scratch/built" fixtures/built || fail "fixtures/built is not what tests/build_fixtures.py writes"

threads=-j3
[ -z "$TEST_WHOLE" ] || threads="-j2 -j5"
# as_expected INPUT LINES [--attr FILE]
as_expected() {
	input=$1 lines=$2
	shift 2
	"$decode" "$@" "$input" >"$scratch/one" || [ $? = 1 ]
	cmp "$lines" "$scratch/one" || fail "$input"
	for how in $threads; do
		"$decode" "$@" $how "$input" | cmp - "$scratch/one" || fail "$input $how"
	done
	"$decode" --cases cases "$@" "$input" | cmp - "$scratch/one" || fail "$input: the layouts of cases/, and those built in"
	case $input in
	*.ring) ;; # a ring has no shards
	*)
		grep -v '"type":"summary"' "$scratch/one" >"$scratch/whole" || true
		for shard in 1 2 3; do
			"$decode" "$@" --shard $shard/3 "$input" || true
		done >"$scratch/shards"
		cmp "$scratch/whole" "$scratch/shards" || fail "$input in shards"
		;;
	esac
	cat "$scratch/one" >>"$scratch/all"
	"$decode" --flat "$@" "$input" >>"$scratch/flat" || true # exits with 1 where something is wrong
}
for input in fixtures/built/*.data; do
	as_expected "$input" "${input%.data}.jsonl"
done
for input in fixtures/built/*.ring; do
	as_expected "$input" "${input%.ring}.jsonl" --attr "${input%.ring}.attr.json"
done
for packed in fixtures/recorded/*.data.gz fixtures/recorded/*.ring.gz; do
	input=$scratch/$(basename "${packed%.gz}")
	name=${packed%.gz}
	name=${name%.*}
	[ -e "$name.jsonl.gz" ] || continue
	gzip -dc "$packed" >"$input"
	gzip -dc "$name.jsonl.gz" >"$scratch/lines"
	case $packed in
	*.ring.gz) as_expected "$input" "$scratch/lines" --attr "$name.attr.json" ;;
	*) as_expected "$input" "$scratch/lines" ;;
	esac
	# What a kernel and perf wrote holds against the strict check, but for what was killed.
	wanted=0
	case $packed in *sigkill*) wanted=1 ;; esac
	got=0
	case $packed in
	*.ring.gz) "$decode" --check --attr "$name.attr.json" "$input" >"$scratch/check" || got=$? ;;
	*) "$decode" --check "$input" >"$scratch/check" || got=$? ;;
	esac
	[ $got = $wanted ] || { cat "$scratch/check"; fail "--check $packed: exit status $got"; }
	[ -e "$name.script-D.txt.gz" ] || continue
	"$PYTHON" tests/perf_script.py "$name.script-D.txt.gz" "$name.jsonl.gz" || fail "$packed is not what perf script -D prints"
done
"$decode" --flat --bytes fixtures/built/samples.le.data >>"$scratch/flat"
most=20 # of each type
[ -z "$TEST_WHOLE" ] || most=1000000
for lines in all:decoded flat:flat; do
	awk -F'"' -v most=$most 'seen[$4]++ < most' "$scratch/${lines%:*}" >"$scratch/some"
	"$PYTHON" tests/schema.py --each-line "${lines#*:}.schema.json" "$scratch/some" || fail "${lines#*:}.schema.json"
done
# The comparison can fail.
gzip -dc fixtures/recorded/callgraph.jsonl.gz | sed "s/\"period\":250000/\"period\":250001/" >"$scratch/wrong"
if "$PYTHON" tests/perf_script.py fixtures/recorded/callgraph.script-D.txt.gz "$scratch/wrong" >"$scratch/said"; then
	fail "perf_script.py sees no wrong period"
fi
# Each kernel record and each of perf's is in some recording.
grep -o '^{"type":"[A-Z0-9_]*"' "$scratch/all" | cut -d'"' -f4 | sort -u >"$scratch/types"
jq -r '.constants | (.record // empty, .tool_record // empty) | .values[].name | ascii_upcase' cases/abi/*.json | sort >"$scratch/known"
echo "in no recording: $(comm -13 "$scratch/types" "$scratch/known" | tr '\n' ' ')"
[ "$(comm -13 "$scratch/types" "$scratch/known"  | grep -c .)" -eq 0 ] || fail "a record type in no recording"

# check.py finds nothing wrong with perfabi-decode, and something with a reader that sees another pid or no second sample.
status 0 "$PYTHON" fixtures/check.py "$decode"
cat >"$scratch/reader" <<'END'
#!/bin/sh
"$DECODE" -t sample "$2" | sed "$1"
END
chmod +x "$scratch/reader"
export DECODE="$decode"
status 1 "$PYTHON" fixtures/check.py "$scratch/reader" 's/"pid":30657,/"pid":1,/'
[ "$(grep FAIL "$scratch/out" | cut -d: -f1,2)" = "FAIL callgraph: 16 of 16 samples missing or different, as {\"ip\"" ] || { cat "$scratch/out"; fail "check.py with another pid"; }
status 1 "$PYTHON" fixtures/check.py "$scratch/reader" 3d
says out 'ok   newer-attr.le' && says out 'FAIL callgraph: 1 of 16 samples missing'

# fixtures/index.json and the tables are those of the files.
"$PYTHON" ci/fixtures-index --check || fail "ci/fixtures-index"

# fixtures/README.md says what the recordings do not cover.
"$PYTHON" tests/recorded.py >"$scratch/uncovered"
while IFS= read -r line; do
	grep -qxF -- "$line" fixtures/README.md || fail "fixtures/README.md does not have: $line"
done <"$scratch/uncovered"
