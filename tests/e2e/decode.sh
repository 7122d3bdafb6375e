# SPDX-License-Identifier: MIT
# perfabi-decode as its users meet it: options, messages, exit statuses, memory.
# more with test-all: damage to more recordings, in more places, every end of a stream of zstd, and recordings that are made to cost much
. tests/e2e/lib.sh
data=fixtures/built/kernel-records.le.data

status 0 "$decode" --help
status 0 "$decode" --version
status 2 "$decode" /nonexistent
says err "cannot read /nonexistent: No such file or directory"
status 2 "$decode" .
says err "expected a recording, got a directory without the file"
: >"$scratch/empty"
status 2 "$decode" "$scratch/empty"
says err "expected a recording, got empty input"
status 2 "$decode" Makefile
says err "expected a perf.data, or records and their attrs in JSON, got neither"
says err "--attr"
status 2 "$decode" --tipe SAMPLE "$data"
says err "--help"
status 2 "$decode" --type SAMPEL "$data"
says err 'nearest: "sample"'
status 2 "$decode" --fields filname "$data"
says err 'nearest: "filename"'
status 2 "$decode" --jobs 0 "$data"
status 2 "$decode" --shard 4/3 "$data"
status 2 "$decode" --input perfdata "$data"
says err "expected: perf.data, ring or records"
status 2 "$decode" --machine vax "$data"
status 2 "$decode" "$data" "$data"
says err "one recording at a time"
status 3 "$decode" /proc/self/mem
says err "Input/output error"

# Numbers are whole and in range, lists have names.
for jobs in 4294967297 -1 1x '' ' 2'; do
	status 2 "$decode" --jobs "$jobs" "$data"
	says err "a number from 1 to 1024"
done
for shard in 1/-1 4294967297/4294967298 1/0 /2 1/ 1 1/2/3; do
	status 2 "$decode" --shard "$shard" "$data"
	says err "expected: I/N"
done
for names in '' , comm, ,comm comm,,exit; do
	status 2 "$decode" --type "$names" "$data"
	says err "expected: up to 256 names"
	status 2 "$decode" --fields "$names" "$data"
done
"$PYTHON" -c 'print(",".join(["comm"] * 257))' >"$scratch/names"
status 2 "$decode" --type "$(cat "$scratch/names")" "$data"

# Names from anywhere do not reach the terminal as they are.
escape=$(printf 'a\033[31mb\302\233c\177')
status 2 "$decode" "/nonexistent/$escape"
says err '/nonexistent/a\x1b[31mb\xc2\x9bc\x7f'
printf '{"\\u001b[31m": 1}' >"$scratch/escape.json"
status 2 "$decode" --attr "$scratch/escape.json" fixtures/built/ring-wrapped.le.ring
says err '\x1b[31m'
LC_ALL=C grep -q "$(printf '\033')" "$scratch/err" && fail "an escape character in a message"

# A pipe that nobody reads any more is the end, and no error worth a word; whoever ignores SIGPIPE gets exit status 3.
"$PYTHON" -c 'import os, signal, subprocess, sys
for ignored, wanted in ((False, -signal.SIGPIPE), (True, 3)):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run([sys.argv[1], sys.argv[2]], stdout=writer, stderr=subprocess.PIPE, restore_signals=False)
    os.close(writer)
    assert run.returncode == wanted and not run.stderr, (run.returncode, run.stderr)' "$decode" "$data" || fail "closed pipe"

# A full disk.
got=0
"$decode" "$data" >/dev/full 2>"$scratch/err" || got=$?
[ $got = 3 ] || fail "full disk: exit status $got"
says err "perfabi-decode: writing: No space left on device"
for option in --help -h --version -V; do
	got=0
	"$decode" $option >/dev/full 2>"$scratch/err" || got=$?
	[ $got = 3 ] || fail "$option to a full disk: exit status $got"
	says err "perfabi-decode: writing to standard output: No space left on device"
done

# What is closed is not what is opened next: no output goes astray.
got=0
# shellcheck disable=SC2002
cat "$data" | "$decode" >&- 2>"$scratch/err" || got=$?
[ $got = 3 ] || fail "closed output: exit status $got"
says err "perfabi-decode: writing: Bad file descriptor"
got=0
"$perfabi" list >&- 2>"$scratch/err" || got=$?
[ $got = 3 ] || fail "closed output of perfabi: exit status $got"

# --type and --fields; the summary counts all the same.
status 0 "$decode" --type comm,LOST --fields comm,offset "$data"
[ "$(grep -c '"type":"COMM"' "$scratch/out")" = 2 ] || fail "--type"
grep -q '^{"type":"COMM","offset":[0-9]*,"comm":"sevenxx"}$' "$scratch/out" || fail "--fields"
says out '"MMAP2":2'
"$decode" --no-summary --type mmap "$data" | grep -q summary && fail "--no-summary"

# A fifo in the place of a format is none, and nobody waits for who would write it.
mkdir -p "$scratch/tracing/events/a/b"
mkfifo "$scratch/tracing/events/a/b/format"
echo '{"type": 2, "config": 1, "sample_type": ["raw"]}' >"$scratch/traced.json"
"$PYTHON" -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("=IHHIHBB", 9, 2, 16, 4, 1, 2, 3))' >"$scratch/traced"
status 0 timeout 60 "$decode" --attr "$scratch/traced.json" --tracefs "$scratch/tracing" "$scratch/traced"
says out '"code":"no-format","grade":"note"'
# Fields whose names begin with common_ come first; where one does not, the format is not taken.
rm "$scratch/tracing/events/a/b/format"
for fields in common_b,own own,common_b; do
	printf 'name: b\nID: 1\nformat:\n' >"$scratch/tracing/events/a/b/format"
	offset=0
	for field in common_type:2 "${fields%,*}:1" "${fields#*,}:1"; do
		printf '\tfield:unsigned char %s;\toffset:%d;\tsize:%d;\tsigned:0;\n' "${field%:*}" "$offset" "${field#*:}"
		offset=$((offset + ${field#*:}))
	done | sed 's/char common_type/short common_type/' >>"$scratch/tracing/events/a/b/format"
	status 0 "$decode" --attr "$scratch/traced.json" --tracefs "$scratch/tracing" "$scratch/traced"
	case $fields in
	common*) says out '"common":{"common_type":1,"common_b":2},"raw":{"own":3}' ;;
	*) grep -q '"raw":"[0-9a-f]*0203"' "$scratch/out" || fail "a format whose common fields do not come first" ;;
	esac
done

# A long format, and records that are looked at twice, at the end of what is read at once.
"$PYTHON" - "$scratch/long" <<'PY' || fail "a recording with a long format"
import struct, sys
def record(kind, form, *values):
    body = struct.pack("=" + form, *values)
    return struct.pack("=IHH", kind, 2, 8 + len(body)) + body
text = "name: t\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
text += "".join(f"\tfield:unsigned char {'x' * 34}{i};\toffset:{2 + i};\tsize:1;\tsigned:0;\n" for i in range(900))
big = sys.byteorder == "big"
order = ">" if big else "<"
data = b"\x17\x08\x44tracing0.6\0" + bytes([big, 8]) + struct.pack(order + "I", 4096) + b"header_page\0" + bytes(8) + b"header_event\0" + bytes(12)
data += struct.pack(order + "I4sIQ", 1, b"sys\0", 1, len(text)) + text.encode()
data += bytes(-len(data) % 8)
sample = record(9, "I902s2x", 904, struct.pack("=H", 7) + b"\xff" * 900)
magic = b"PERFILE2"[::-1 if big else 1]
with open(sys.argv[1], "wb") as file:
    file.write(magic + struct.pack("=Q", 16) + record(64, "IIQQQQQ16x", 2, 64, 7, 1, 1 << 10, 0, 0) + record(66, "I", len(data)) + data + sample * 4000)
PY
status 0 "$decode" "$scratch/long"
[ "$(grep -c '"x*899":255' "$scratch/out")" = 4000 ] || fail "samples with 900 fields"

# --bytes: the places of the members.
status 0 "$decode" --type lost --bytes "$data"
says out '"at":{"id":[8,8],"lost":[16,8],"sample_id.pid":[24,4]'

# --check: silence on what is whole; a reserved bit, dirty padding, a cut string are found. Errors alone decide the exit status.
status 0 "$decode" --check fixtures/built/compressed.be.data
status 1 "$decode" --check fixtures/built/damaged.le.data
says out '"code":"size-zero","grade":"error"'
status 0 "$decode" --check fixtures/built/samples.le.data
says out '"code":"reserved","grade":"note"'
status 0 "$decode" --check fixtures/built/older-shapes.be.data
says out '"code":"bytes-left","grade":"warning"'
says out '"errors":0,'
for code in $(jq -r '."$defs".diagnostic.properties.code.enum[]' cases/schema/decoded.schema.json); do
	grep -q -- "$code" docs/man/man1/perfabi-decode.1 || fail "perfabi-decode(1) does not say what $code is"
	grep -rv '^	{"[a-z-]*", PERFABI_' decoder/stream decoder/plan | grep -q "\"$code\"" || fail "nothing says $code"
done
for code in $(sed -n 's/^	{"\([a-z-]*\)", PERFABI_.*/\1/p' decoder/stream/lines.c) \
	$(grep -rhoz 'lines_diagnostic([^;"]*"[a-z-]*"' decoder/stream | tr '\0' '\n' | sed -n 's/.*"\([a-z-]\{1,\}\)"$/\1/p'); do
	jq -e --arg code "$code" '."$defs".diagnostic.properties.code.enum | index($code)' cases/schema/decoded.schema.json >/dev/null ||
		fail "decoded.schema.json has no code $code"
done
offset=$("$decode" --type lost "$data" | sed -n 's/^{"type":"LOST","offset":\([0-9]*\).*/\1/p')
cp "$data" "$scratch/dirty"
printf '\1' | dd of="$scratch/dirty" bs=1 seek=$((offset + 24 + 36)) conv=notrunc 2>/dev/null # res behind cpu
"$decode" --check "$scratch/dirty" | grep -q '"offset":'"$offset"',"code":"reserved"' || fail "a reserved word in sample_id"

# A record that does not exist, made up in JSON alone.
mkdir "$scratch/cases"
cp -r cases/abi "$scratch/cases/abi"
jq '.constants.record.values += [{"name": "made_up", "value": 40, "since": "9.9", "fields": [
	{"name": "pid", "type": "u32"}, {"name": "state", "type": "u32", "set": "bpf_event_type"},
	{"name": "items", "count": "u64", "fields": [{"name": "addr", "type": "hex64"}]},
	{"name": "label", "type": "string"}, {"use": "sample_id"}]}]' cases/abi/records.json >"$scratch/cases/abi/records.json"
echo '{"type": "software", "config": "dummy", "sample_type": ["tid"], "sample_id_all": 1}' >"$scratch/attr.json"
printf '\50\0\0\0\0\0\60\0\7\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0hi\0\0\0\0\0\0\1\0\0\0\2\0\0\0' >"$scratch/made-up"
status 0 "$decode" --cases "$scratch/cases" --attr "$scratch/attr.json" -L --no-summary "$scratch/made-up"
says out '{"type":"MADE_UP","offset":0,"size":48,"misc":[],"pid":7,"state":"prog_load","items":[{"addr":"0x1000"}],"label":"hi","sample_id":{"pid":1,"tid":2}}'
[ "$("$decode" --header --attr "$scratch/attr.json" "$scratch/made-up" | jq -r .byte_order)" = \
	"$("$PYTHON" -c 'import sys; print(sys.byteorder)')" ] || fail "the default byte order"
status 0 "$decode" --attr "$scratch/attr.json" -L "$scratch/made-up"
says out '"type":"UNKNOWN"'
sed -i 's/"type": "u32"/"type": "u33"/' "$scratch/cases/abi/records.json"
status 2 "$decode" --cases "$scratch/cases" "$data"
says err "records.json:"
says err 'nearest: "u32"'

# What stands wrong in a layout is said, with its place, whatever the recording has.
wrong() { # FILE OLD NEW PLACE MESSAGE
	rm -rf "$scratch/cases/abi"
	cp -r cases/abi "$scratch/cases/abi"
	sed -i "0,/$2/s//$3/" "$scratch/cases/abi/$1"
	cmp -s "cases/abi/$1" "$scratch/cases/abi/$1" && fail "nothing to make wrong in $1: $2"
	status 2 "$decode" --cases "$scratch/cases" "$data"
	says err "$4"
	says err "$5"
	status 2 "$perfabi" check --cases "$scratch/cases"
	says err "$5"
}
wrong sample.json '"sample_type": "time"' '"sample_type": "tiem"' ' /layouts/sample_id/' '"tiem"'
wrong records.json '"records": \["[a-z0-9_]*"' '"records": [1' '/records/0' "a record's name"
wrong words.json '"bits": \[[0-9]*, ' '"bits": [9223372036854775807, ' '/constants/branch_flags/values/0/bits' "within the word"

# Each field of attr on which a record hangs counts, or it is said that there are too many.
rm -rf "$scratch/cases/abi"
cp -r cases/abi "$scratch/cases/abi"
jq '[.attr.fields[] | select(.bits[1] == 1) | .name][:17]' cases/abi/attr.json >"$scratch/flags.json"
jq --slurpfile flags "$scratch/flags.json" '(.constants.record.values[] | select(.name == "comm") | .fields) +=
	[$flags[0][] | {"when": {"attr": .}, "then": [{"name": "of_\(.)", "type": "u64"}]}]' cases/abi/records.json >"$scratch/cases/abi/records.json"
status 2 "$decode" --cases "$scratch/cases" "$data"
says err "expected records that depend on no more than 16 fields of attr, got \""

# A text that none can be is written like any other, behind the warning; a later field that does not fit is an error.
rm -rf "$scratch/cases/abi"
cp -r cases/abi "$scratch/cases/abi"
jq '(.constants.record.values[] | select(.name == "comm") | .fields[] | select(.name == "comm")) += {"readable": true}' cases/abi/records.json \
	>"$scratch/cases/abi/records.json"
printf '\3\0\0\0\0\0\40\0\7\0\0\0\10\0\0\0\1x\0\0\0\0\0\0\1\0\0\0\2\0\0\0' >"$scratch/unreadable"
status 0 "$decode" --cases "$scratch/cases" --attr "$scratch/attr.json" -L --no-summary "$scratch/unreadable"
says out '"code":"impossible","grade":"warning"'
says out 'COMM: comm has a value that no kernel gives it'
says out '{"type":"COMM","offset":0,"size":32,"misc":[],"pid":7,"tid":8,"comm":"\u0001x","sample_id":{"pid":1,"tid":2}}'

# What is behind a NUL is no JSON, and no part of it either.
{ cat "$scratch/attr.json" && printf '\0 this is no JSON'; } >"$scratch/behind.json"
status 2 "$decode" --attr "$scratch/behind.json" -L "$scratch/made-up"
says err "behind.json: expected JSON, got a NUL byte at "
status 2 "$decode" --attr - -L "$scratch/made-up" <"$scratch/behind.json"
says err "got a NUL byte at "

# As many ids as there may be, and one more.
"$PYTHON" -c 'import json, sys
attr = {"type": "software", "config": "dummy", "sample_type": ["identifier"]}
json.dump([{"attr": attr, "ids": list(range(524289))}], sys.stdout)' >"$scratch/ids.json"
status 2 "$decode" --attr "$scratch/ids.json" -L "$scratch/made-up"
says err "expected at most 524288 ids"
sed 's/, 524288\]/]/' "$scratch/ids.json" >"$scratch/attrs.json"
status 0 "$decode" --attr "$scratch/attrs.json" -L "$scratch/made-up"

# Where there are fewer threads than asked for, or none, the output is the same.
user=
[ "$(id -u)" != 0 ] || user="setpriv --reuid 65534 --clear-groups"
gzip -dc fixtures/recorded/callgraph.data.gz >"$scratch/threads.data"
cp "$decode" "$scratch/decode" # where another user can go
chmod 755 "$scratch/decode"
chmod 644 "$scratch/threads.data"
"$decode" "$scratch/threads.data" >"$scratch/lines"
for most in 1 3; do
	status 0 $user prlimit --nproc=$most "$scratch/decode" -j 10 "$scratch/threads.data"
	cmp "$scratch/out" "$scratch/lines" || fail "$most processes at most, and another output"
done

# --attr-of goes by the file and its order alone, and says where there is more than it could read.
"$decode" --attr-of "$data" >"$scratch/attrs.json"
"$decode" --attr-of "$data" --shard 2/2 --header --fields ip --type comm | cmp - "$scratch/attrs.json" || fail "--attr-of and other options"
mkdir "$scratch/folder"
cp "$data" "$scratch/folder/data"
head -c 4000 /dev/zero >"$scratch/folder/data.0"
status 0 "$decode" --attr-of "$scratch/folder"
cmp "$scratch/out" "$scratch/attrs.json" || fail "--attr-of a folder"
(cd "$scratch/folder" && seq -f data.%.0f 0 8192 | xargs touch)
status 2 "$decode" "$scratch/folder"
says err "expected at most 8192 files data.N, got more"
head -c 200 "$data" >"$scratch/short"
status 1 "$decode" --attr-of "$scratch/short"
says err "perhaps more attrs"

# What contradicts itself is refused, and a perf.data that --input calls something else is named.
status 2 "$decode" --attr-of "$data" --check
says err "--attr-of cannot be combined with --check"
for option in '--type comm' '--fields ip' --bytes --flat --header; do
	# shellcheck disable=SC2086 # an option and its value
	status 2 "$decode" --format folded $option "$data"
	says err "--format cannot be combined with ${option% *}"
done
status 2 "$decode" --attr-of "$data" --attr "$scratch/attrs.json"
status 2 "$decode" -L -B "$data"
says err "--big-endian or --little-endian, not both"
status 0 "$decode" -L -L --header "$data"
status 2 "$decode" -i ring "$data"
says err "perfabi-decode: --input: expected an image of the mmap area and its attrs, got a perf.data"
status 2 "$decode" -i records "$data"
says err "perfabi-decode: --input: expected records alone and their attrs, got a perf.data"
status 2 sh -c 'cat "$1" | "$2" -i records' sh "$data" "$decode"
says err "got a perf.data"

# What is wrong behind the attrs of a file says nothing of them: perf was killed, a record has no size, the end is missing.
status 0 "$decode" --attr-of fixtures/built/killed.le.data
cp fixtures/built/ids.le.data "$scratch/hurt"
status 0 "$decode" --attr-of "$scratch/hurt"
cp "$scratch/out" "$scratch/whole.json"
offset=$("$decode" --header "$scratch/hurt" | jq .data.offset)
printf '\0\0' | dd of="$scratch/hurt" bs=1 seek=$((offset + 6)) conv=notrunc 2>/dev/null
status 1 "$decode" "$scratch/hurt"
status 0 "$decode" --attr-of "$scratch/hurt"
cmp "$scratch/out" "$scratch/whole.json" || fail "--attr-of and damage"
head -c $((offset + 3)) fixtures/built/ids.le.data >"$scratch/hurt"
status 0 "$decode" --attr-of "$scratch/hurt"
cmp "$scratch/out" "$scratch/whole.json" || fail "--attr-of and a missing end"
gzip -dc fixtures/recorded/callgraph.data.gz >"$scratch/hurt"
"$PYTHON" - "$scratch/hurt" <<'PY' # the feature sections are past the end
import os, sys
os.truncate(sys.argv[1], os.path.getsize(sys.argv[1]) - 8000)
PY
status 1 "$decode" --header "$scratch/hurt"
status 0 "$decode" --attr-of "$scratch/hurt"
{ gzip -dc fixtures/recorded/pipe.data.gz && head -c 8 /dev/zero; } >"$scratch/hurt" # of a pipe it does
status 1 "$decode" --attr-of "$scratch/hurt"
says err "perhaps more attrs"

status 2 "$decode" --attr-of "$scratch/attrs.json" # which is what it prints, not what it takes
says err "neither a perf.data nor a struct perf_event_attr"
jq 'map(.idz = .ids | del(.ids))' "$scratch/attrs.json" >"$scratch/misspelt.json"
status 2 "$decode" --attr "$scratch/misspelt.json" -L "$scratch/made-up"
says err "idz"

got=0
# shellcheck disable=SC2002
cat fixtures/built/samples.le.data | TMPDIR=/nonexistent "$decode" 2>"$scratch/err" || got=$?
[ $got = 3 ] || fail "TMPDIR: exit status $got"
says err "/nonexistent (TMPDIR): No such file"

# --attr and --attr-of are each other's inverse, whatever made the recording.
status 0 "$decode" --attr-of fixtures/built/samples.be.data
cp "$scratch/out" "$scratch/attrs.json"
dd if=fixtures/built/samples.be.data of="$scratch/bare" bs=1 skip="$("$decode" --header fixtures/built/samples.be.data | jq .data.offset)" \
	count="$("$decode" --header fixtures/built/samples.be.data | jq .data.size)" 2>/dev/null
status 0 "$decode" -B --machine x86_64 --attr "$scratch/attrs.json" --no-summary "$scratch/bare"
jq -c 'select(.type == "SAMPLE") | del(.offset)' "$scratch/out" >"$scratch/got"
jq -c 'select(.type == "SAMPLE") | del(.offset)' fixtures/built/samples.be.jsonl | cmp - "$scratch/got" || fail "bare records"
gzip -dc fixtures/recorded/pipe.data.gz >"$scratch/pipe"
status 0 "$decode" --attr-of "$scratch/pipe"
[ "$(jq -r '.[0].attr.config' "$scratch/out")" = cpu_clock ] || fail "--attr-of a pipe"
status 2 "$decode" --attr-of /nonexistent
# An id that no JSON integer holds is text, which --attr takes: of a file, and of a pipe.
"$PYTHON" - fixtures/built/ids.le.data "$scratch/pipe" "$scratch" <<'PY'
import struct, sys
file, pipe = (bytearray(open(name, "rb").read()) for name in sys.argv[1:3])
size, attrs = struct.unpack_from("<QQ", file, 16)
ids, = struct.unpack_from("<Q", file, attrs + size - 16)
file[ids:ids + 8] = b"\xff" * 8
open(sys.argv[3] + "/large", "wb").write(file)
length, attr = struct.unpack_from("<H", pipe, 16 + 6)[0], struct.unpack_from("<I", pipe, 16 + 12)[0]
assert struct.unpack_from("<I", pipe, 16) == (64,) and length >= 8 + attr + 8
pipe[16 + 8 + attr:16 + 8 + attr + 8] = b"\xff" * 8
open(sys.argv[3] + "/large-pipe", "wb").write(pipe)
PY
for large in "$scratch/large" "$scratch/large-pipe"; do
	"$decode" --attr-of "$large" >"$scratch/large.json" 2>"$scratch/err" || [ $? = 1 ] || fail "--attr-of $large"
	[ "$(jq -r '.[0].ids[0]' "$scratch/large.json")" = 0xffffffffffffffff ] || fail "--attr-of and a large id: $large"
	status 0 "$decode" -L -i records --attr "$scratch/large.json" --header "$scratch/bare"
done
# The bytes of one attr may come through a pipe.
# shellcheck disable=SC2002 # it is to be a pipe
cat fixtures/attr/be-s390x.zstd.bin | "$decode" -B -m s390x --attr-of - | jq -S . >"$scratch/got"
jq -S . fixtures/attr/be-s390x.zstd.json | cmp - "$scratch/got" || fail "an attr through a pipe"
head -c 8192 /dev/zero >"$scratch/zeros" # a ring's image is no attr, though the size that an attr has can be 0
status 2 "$decode" --attr-of "$scratch/zeros"
says err "its size would be 0, of 8192 bytes"
printf 'short' >"$scratch/short"
status 2 "$decode" --attr-of "$scratch/short"
says err "which has 64 to 65536 bytes"
for fixture in fixtures/attr/*.bin; do
	name=${fixture%.bin}
	# shellcheck disable=SC2046 # words are meant to be split
	status 0 "$decode" --attr-of "$fixture" $(cat "$name.options")
	jq -S . "$scratch/out" >"$scratch/got"
	jq -S . "$name.json" | cmp - "$scratch/got" || { cat "$scratch/got"; fail "$fixture"; }
done

# Registers go by the names of the recording's machine, or of the one that is given.
"$decode" --machine s390x --type sample fixtures/built/samples.le.data | grep -q '"regs_user":{"abi":"64","regs":{"r0":"0x1"' || fail "--machine"
"$decode" --type sample fixtures/built/samples.le.data | grep -q '"regs":{"ax":"0x1"' || fail "the recording's machine"

# A file through a pipe is what the file is.
"$decode" "$data" >"$scratch/from-file"
"$decode" <"$data" | cmp - "$scratch/from-file" || fail "standard input"
# shellcheck disable=SC2002 # it is to be a pipe
cat "$data" | "$decode" | cmp - "$scratch/from-file" || fail "a pipe"
# shellcheck disable=SC2002
cat fixtures/built/ring-wrapped.le.ring | "$decode" --attr fixtures/built/ring-wrapped.le.attr.json |
	cmp - fixtures/built/ring-wrapped.le.jsonl || fail "a ring through a pipe"

# So is damage that goes to the end, wherever the last read of a pipe ends.
for zeros in 8 4088 65528 65536 65544 131072 1024000; do
	{ cat "$scratch/pipe" && head -c $zeros /dev/zero; } >"$scratch/zeros"
	status 1 "$decode" "$scratch/zeros"
	says out "\"skipped\":$zeros,"
	cp "$scratch/out" "$scratch/from-file"
	# shellcheck disable=SC2002
	cat "$scratch/zeros" | "$decode" | cmp - "$scratch/from-file" || fail "$zeros zeros through a pipe"
done

# Which damage is found, and what is whole behind it, hangs neither on --type nor on shards.
apart=251
[ -z "$TEST_WHOLE" ] || apart=97
"$PYTHON" - "$decode" "$scratch/pipe" fixtures/recorded/zstd.data.gz "$scratch/hurt" $apart <<'PY' || fail "damage"
import gzip, json, subprocess, sys
decode, pipe, zstd, path = sys.argv[1:5]
def lines(*options):
    return subprocess.run([decode, *options, path], capture_output=True, check=False).stdout.splitlines(True)
def write(data):
    open(path, "wb").write(data)
data = open(pipe, "rb").read()
write(data)
features = [json.loads(line)["offset"] for line in lines("--type", "header_feature", "--no-summary") if b'"HEADER_FEATURE"' in line]
assert len(features) == 19, features
for offset in features:
    write(data[:offset + 6] + b"\0\0" + data[offset + 8:])
    whole, some = (json.loads(lines(*options)[-1]) for options in ((), ("--type", "mmap2")))
    assert [whole[name] for name in ("records", "skipped", "errors")] == [some[name] for name in ("records", "skipped", "errors")], offset
data = gzip.open(zstd).read()
found, places = 0, range(1000, 5000, int(sys.argv[5]))
for at in places:
    write(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
    whole = lines("--no-summary")
    found += any(b'"diagnostic"' in line for line in whole)
    for shards in 2, 3:
        assert [line for n in range(shards) for line in lines("--shard", f"{n + 1}/{shards}")] == whole, at
assert 2 * found >= len(places), found
PY

# The header is the first shard's alone, wherever the data begins and however little it is.
"$PYTHON" - "$decode" fixtures/built/ids.le.data "$scratch/left" <<'PY' || fail "shards of next to nothing"
import struct, subprocess, sys
decode, data, path = sys.argv[1:]
whole = bytearray(open(data, "rb").read())
for offset, size in ((0, 2), (0, 0), (0, 1 << 40), (1 << 40, 2), (len(whole), 1)):
    struct.pack_into("<QQ", whole, 40, offset, size)
    open(path, "wb").write(whole)
    def lines(*options):
        return subprocess.run([decode, *options, path], capture_output=True, check=False).stdout.splitlines(True)
    wanted = lines("--no-summary")
    assert b'"diagnostic"' in b"".join(wanted), (offset, size)
    for shards in 2, 3, 5:
        assert [line for n in range(shards) for line in lines("--shard", f"{n + 1}/{shards}")] == wanted, (offset, size, shards)
PY

# An attr is read as the first one's size at least, and as what its entry has at most; either is said.
"$PYTHON" - "$decode" fixtures/built/ids.le.data "$scratch/left" <<'PY' || fail "sizes of attrs"
import json, struct, subprocess, sys
decode, data, path = sys.argv[1:]
whole = open(data, "rb").read()
entry, attrs = struct.unpack_from("<QQ", whole, 16)
def run(size):
    file = bytearray(whole)
    struct.pack_into("<I", file, attrs + 4, size)
    open(path, "wb").write(file)
    run = subprocess.run([decode, path], capture_output=True, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return run.returncode, [(line["offset"], line["code"], line["grade"]) for line in lines if line["type"] == "diagnostic"], \
        [line for line in lines if line["type"] not in ("header", "diagnostic", "summary")]
first, said, records = run(struct.unpack_from("<I", whole, attrs + 4)[0])
for size, more in ((0, []), (1, "error"), (8, "error"), (63, "error"), (64, []), (entry - 16, []), (entry - 8, "warning"), (2 ** 32 - 1, "warning")):
    more = more and [(attrs + 4, "attr-size" if more == "error" else "attr-short", more)]
    wanted = 1 if more and size < 64 else first, more + said, records
    assert run(size) == wanted, (size, run(size), wanted)
PY

# What is left over of attrs or ids is said.
"$PYTHON" - "$decode" fixtures/built/ids.le.data "$scratch/left" <<'PY' || fail "what is left over of a section"
import json, struct, subprocess, sys
decode, data, path = sys.argv[1:]
whole = open(data, "rb").read()
entry, attrs, size = struct.unpack_from("<QQQ", whole, 16)
last = attrs + size - 8  # the size of the last attr's ids
for at, value, wanted in ((32, size - 8, (attrs + size - entry, "attr-size")),
                          (last, struct.unpack_from("<Q", whole, last)[0] + 4, None)):
    file = bytearray(whole)
    struct.pack_into("<Q", file, at, value)
    if not wanted:
        wanted = struct.unpack_from("<Q", whole, last - 8)[0] + value - 4, "truncated"
    open(path, "wb").write(file)
    run = subprocess.run([decode, path], capture_output=True, check=False)
    said = [(line["offset"], line["code"]) for line in map(json.loads, run.stdout.splitlines()) if line["type"] == "diagnostic"]
    assert run.returncode == 1 and wanted in said, (said, wanted)
PY

# Memory does not grow with the input, from a file or a pipe.
"$PYTHON" - "$decode" "$scratch" <<'PY' || fail "memory"
import os, resource, struct, subprocess, sys
decode, scratch = sys.argv[1:]
attr = open("fixtures/recorded/ring.attr.json").read()
sample = struct.pack("<IHHQIIQII", 9, 2, 40, 0x401000, 1, 2, 5, 0, 0)
path = scratch + "/large"
with open(path, "wb") as f:
    for _ in range(64):
        f.write(sample * 25000)
def peak(command, **more):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    return usage.ru_maxrss
base = [decode, "-L", "--attr", "fixtures/recorded/ring.attr.json"]
file = peak(base + [path])
pipe = peak(base, stdin=subprocess.Popen(["cat", path], stdout=subprocess.PIPE).stdout)
jobs = peak(base + ["-j2", path])
print(f"peak RSS of {os.path.getsize(path)} bytes: {file} KiB, from a pipe {pipe} KiB, with -j2 {jobs} KiB")
assert max(file, pipe, jobs) < 16 * 1024
PY

# Records of a pipe come out when they come in, not when it ends.
"$PYTHON" - "$decode" "$scratch/pipe" <<'PY' || fail "a pipe that is still open"
import json, select, subprocess, sys, time
data = open(sys.argv[2], "rb").read()
for jobs in ("-j1", "-j2"):
    run = subprocess.Popen([sys.argv[1], jobs], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    run.stdin.write(data[:3000])
    run.stdin.flush()
    text, end = b"", time.monotonic() + 600
    while b'"ID_INDEX"' not in text and time.monotonic() < end:
        if select.select([run.stdout], [], [], 0.1)[0]:
            text += run.stdout.read1()
    assert b'"ID_INDEX"' in text, text
    run.stdin.write(data[3000:])
    run.stdin.close()
    text += run.stdout.read()
    assert run.wait() == 0 and json.loads(text.splitlines()[-1])["type"] == "summary"
PY

# A megabyte of nothing in the middle: what is before and behind comes out.
"$PYTHON" - "$decode" "$scratch" <<'PY' || fail "a hole"
import json, struct, subprocess, sys
decode, scratch = sys.argv[1:]
sample = [struct.pack("<IHHQIIQII", 9, 2, 40, n, 1, 2, 5, 0, 0) for n in range(20000)]
path = scratch + "/hole"
open(path, "wb").write(b"".join(sample[:7000]) + bytes(1 << 20) + b"".join(sample[7000:]))
for jobs in ("-j1", "-j2"):
    for feed in ({}, {"stdin": open(path, "rb")}):
        out = subprocess.run([decode, "-L", jobs, "--attr", "fixtures/recorded/ring.attr.json", *([] if feed else [path])],
                             capture_output=True, **feed)
        lines = [json.loads(line) for line in out.stdout.splitlines()]
        ips = [int(line["ip"], 16) for line in lines if line["type"] == "SAMPLE"]
        assert out.returncode == 1 and ips == list(range(20000)), len(ips)
        assert lines[-1]["skipped"] == 1 << 20, lines[-1]
PY

# One stream of zstd in COMPRESSED records: what it still holds at the end, what it had before a damaged block, and no more than can be.
"$PYTHON" tests/zstd_stream.py "$decode" "$scratch/stream" || fail "zstd"

# Ids and attrs that do not tell whose a record is; so too in --attr.
"$PYTHON" tests/whose.py "$decode" "$scratch/whose" || fail "whose a record is"
echo '[{"attr": {"type": "software", "config": "dummy", "sample_type": ["identifier", "time"]}, "ids": [7]},
	{"attr": {"type": "software", "config": "dummy", "sample_type": ["identifier", "ip"]}, "ids": [7]}]' >"$scratch/attrs.json"
status 1 "$decode" --attr "$scratch/attrs.json" -L "$scratch/made-up"
says out '"offset":0,"code":"id-twice","grade":"error","message":"attrs 0 and 1 both have the id 7'
sed 's/"ids": \[7\]/"ids": []/; s/"sample_type"/"sample_id_all": 1, &/; s/"identifier", //' "$scratch/attrs.json" >"$scratch/no-ids.json"
status 1 "$decode" --attr "$scratch/no-ids.json" -L "$scratch/made-up"
says out '"offset":0,"code":"no-id"'

# Recordings that are made to cost much.
[ -z "$TEST_WHOLE" ] || "$PYTHON" tests/bench/hostile.py "$decode" 5 || fail "time, memory or output"
# A ring's image that is cut short is no list of records, from a file or from a pipe.
head -c 6735 fixtures/built/ring-backward.be.ring >"$scratch/cut"
status 2 "$decode" -B --attr fixtures/built/ring-backward.be.attr.json "$scratch/cut"
status 2 "$decode" -B --attr fixtures/built/ring-backward.be.attr.json - <"$scratch/cut"
status 2 sh -c 'cat "$1" | "$2" -B --attr fixtures/built/ring-backward.be.attr.json' sh "$scratch/cut" "$decode"
# Types and fields add up.
[ "$("$decode" -t sample -t comm fixtures/built/ids.le.data | sort)" = "$("$decode" -t sample,comm fixtures/built/ids.le.data | sort)" ] || fail "-t twice"

# Texts of fixed size in a list, of bytes that take the most room in JSON.
"$PYTHON" - >"$scratch/longest.data" <<'PY'
import struct, sys
element = b"\x01" * 63 + b"\xff" + b"\x01" * 255 + b"\xff"
body = b"\xff" * 512 + struct.pack("<Q", 203) + element * 203
sys.stdout.buffer.write(b"PERFILE2" + struct.pack("<QIHH", 16, 84, 0, 8 + len(body)) + body)
PY
status 0 "$decode" "$scratch/longest.data"
[ "$(jq -c 'select(.type == "BPF_METADATA") | .entries | length' "$scratch/out")" = 203 ] || fail "203 entries of BPF_METADATA"

# What damage did not touch comes out.
recordings="lost be-s390x.children"
[ -z "$TEST_WHOLE" ] || recordings="lost bpf side-band be-s390x.callgraph"
# shellcheck disable=SC2046,SC2086 # words are meant to be split
"$PYTHON" tests/mishaps.py "$decode" "$scratch/mishap.data" $(printf 'fixtures/recorded/%s.data.gz ' $recordings) || fail "damage takes more along than it touched"
