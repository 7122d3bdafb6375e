# SPDX-License-Identifier: MIT
# perfabi capture: what it writes is what the kernel wrote, and perfabi-decode and perf read it.
. tests/e2e/lib.sh
cd "$scratch"
cat >attr.json <<'END'
{"type": "software", "config": "page_faults", "sample_period": 1, "sample_type": ["identifier", "ip", "tid", "time", "addr", "cpu"],
 "sample_id_all": 1, "exclude_kernel": 1, "exclude_hv": 1, "mmap": 1, "mmap2": 1, "comm": 1, "comm_exec": 1, "task": 1,
 "disabled": 1, "enable_on_exec": 1, "inherit": 1}
END
status 0 "$perfabi" capture --help
status 2 "$perfabi" capture -- true
says err "no --attr"
status 2 "$perfabi" capture --attr attr.json
says err "no command"
needs_events "recordings"
status 2 "$perfabi" capture --attr missing.json -- true
says err "cannot read missing.json: No such file or directory"
status 2 "$perfabi" capture --attr attr.json --pages 3 -- true
says err "a power of two"
status 2 "$perfabi" capture --attr attr.json --aux-pages 3 -- true
says err "a power of two"
status 2 "$perfabi" capture --attr attr.json --aux-pages 4 --raw -- true
says err "--raw writes no AUX area"
sed 's/exclude_kernel/exclude_kernal/' attr.json >typo.json
status 2 "$perfabi" capture --attr typo.json -- true
says err "typo.json:2: /exclude_kernal"
says err 'nearest:  "exclude_kernel"'
{ cat attr.json && printf '\0 this is no JSON'; } >behind.json
status 2 "$perfabi" capture --attr behind.json -- true
says err "behind.json: expected JSON, got a NUL byte at "

if ! "$perfabi" capture --attr attr.json -o a.data -- true 2>err && grep -q 'the kernel does not allow it' err; then
	echo "left out: this kernel lets this user open no event"
	exit 0
fi
# A trace is recorded in the matrix, where a PMU made of software has one (ci/cells/recordings.py).
status 2 "$perfabi" capture --attr attr.json --aux-pages 4 -- mkdir ran
says err "its PMU has none"
[ ! -e ran ] || fail "it ran without its AUX area"
status 0 "$perfabi" capture --attr attr.json -o a.data -- sh -c 'true; sh -c true; exit 0'
says err "a.data: "
says err ", lost: 0,"
status 0 "$decode" --check a.data
status 0 "$decode" a.data
jq -se '(map(select(.type == "COMM" and (.misc | contains(["comm_exec"])))) | map(.comm) | contains(["sh"]))
	and (map(select(.type == "SAMPLE")) | length > 10 and all((.event | startswith("page-faults")) and .addr and .cpu >= 0))
	and (map(select(.type == "FORK")) | length == 1) and (map(select(.type == "EXIT")) | length == 2)
	and .[0].features.cmdline == ["sh", "-c", "true; sh -c true; exit 0"]' out >/dev/null || fail "a.data"
# The recording as its attr makes a second one.
status 0 "$decode" --attr-of a.data
cp out again.json
status 0 "$perfabi" capture --attr again.json -o b.data -- true
if command -v perf >/dev/null; then
	perf script -i a.data >script 2>&1 || fail "perf script"
	[ "$("$decode" --type sample --no-summary a.data | grep -c SAMPLE)" = "$(grep -c page-faults script)" ] || fail "perf script's samples"
	perf report --stdio -i a.data >report 2>&1 || fail "perf report"
	grep -q 'sh ' report || fail "perf report"
fi

# A command whose recording cannot be written is not run, and what was recorded before stays.
cp a.data old.data
status 3 "$perfabi" capture --attr attr.json -o /dev/full -- mkdir ran
says err "No space left on device"
for where in new.data old.data; do
	"$PYTHON" -c 'import resource, os, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
os.execv(sys.argv[1], sys.argv[1:])' "$perfabi" capture --attr attr.json -o "$where" -- mkdir ran 2>&1 | cat >err
	says err "writing $where: File too large"
done
[ ! -e ran ] || fail "the command ran though nothing could be written"
cmp a.data old.data || fail "a recording that was there is gone"
# One that is killed leaves a recording that was not closed.
"$perfabi" capture --attr attr.json -o killed.data -- sleep 600 2>err &
capture=$!
sleeps() { children_of $capture | grep -q " sleep$" || ! kill -0 $capture; }
comes_true sleeps
has_comm() { "$decode" killed.data 2>/dev/null | grep -q '"COMM"' || ! kill -0 $capture; }
comes_true has_comm
sleeping=$(children_of $capture | sed -n 's/ sleep$//p')
kill -9 $capture
wait $capture 2>/dev/null || true
[ -z "$sleeping" ] || kill "$sleeping" 2>/dev/null || : # nobody waits for it now
status 1 "$decode" killed.data
jq -se '[.[] | select(.type == "diagnostic") | .code] == ["not-closed"] and ([.[] | select(.type == "COMM")] | length == 1)' out >/dev/null ||
	fail "a capture that was killed"
# Where the command may run is its own affair: its samples are there, whatever cpus we are held to.
if [ "$(nproc)" -gt 1 ] && taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null; then
	status 0 taskset -c 0 "$perfabi" capture --attr attr.json -o c.data -- taskset -c 1 sh -c 'sh -c true'
	taskset -c 0 "$perfabi" capture --attr attr.json -o d.data -- sh -c 'grep Cpus_allowed_list /proc/self/status >allowed' 2>err
	grep -q '[[:space:]]0$' allowed || { cat allowed; fail "the command may run where its caller may not"; }
	"$decode" c.data >lines
	jq -se '[.[] | select(.type == "SAMPLE" and .cpu == 1)] | length > 10' lines >/dev/null || fail "samples on a cpu that capture was not on"
fi

# A group: the sibling's count is in the leader's samples.
cat >group.json <<'END'
[{"type": "software", "config": "page_faults", "sample_period": 1, "sample_type": ["identifier", "read"], "exclude_kernel": 1,
  "read_format": ["group", "id"], "disabled": 1, "enable_on_exec": 1},
 {"type": "software", "config": "task_clock", "sample_type": ["identifier", "read"], "read_format": ["group", "id"], "exclude_kernel": 1}]
END
status 0 "$perfabi" capture --attr group.json -o group.data -- true
"$decode" group.data >lines
jq -se '.[0].attrs as $attrs | map(select(.type == "SAMPLE")) | length > 3 and all(.read.nr == 2
	and .read.values[0].id == $attrs[0].ids[0] and .read.values[1].id == $attrs[1].ids[0])
	and (map(.read.values[0].value) | . == sort)' lines >/dev/null || fail "group.data"
# Records that nobody could tell apart are not recorded; an event that only counts has none.
attr='"type": "software", "config": "page_faults", "sample_period": 1, "exclude_kernel": 1'
for other in '["ip"]' '["tid", "time"]'; do
	echo "[{$attr, \"sample_type\": [\"identifier\", \"ip\"]}, {$attr, \"sample_type\": $other}]" >apart.json
	status 2 "$perfabi" capture --attr apart.json -o apart.data -- mkdir ran
	says err "nothing in the records of attr 1 tells them from those of the others"
	says err "add identifier to the sample_type of each attr"
done
[ ! -e apart.data ] && [ ! -e ran ] || fail "a recording that nobody can decode"
echo "[{$attr, \"sample_type\": [\"ip\", \"id\"]}, {$attr, \"sample_type\": [\"tid\", \"id\"]}, {\"type\": \"software\", \"config\": \"dummy\", \"exclude_kernel\": 1}]" >apart.json
status 0 "$perfabi" capture --attr apart.json -o apart.data -- true
status 0 "$decode" --check apart.data

# Each event is switched on by its own attr: a sibling that is disabled, too.
sed 's/"exclude_kernel": 1}\]/"exclude_kernel": 1, "disabled": 1, "sample_period": 100000}]/; s/, "enable_on_exec": 1//' group.json >sibling.json
status 0 "$perfabi" capture --attr sibling.json -o sibling.data -- sh -c ': $(seq 100000)'
"$decode" sibling.data >lines
jq -se '[.[] | select(.type == "SAMPLE") | .event] | unique | length == 2' lines >/dev/null || fail "a sibling that is disabled has no samples"

# However long the command is, the header has it.
status 0 "$perfabi" capture --attr group.json -o long.data -- true $(seq 100000 103000)
status 0 "$decode" --check long.data
"$decode" long.data | jq -se '.[0].features.cmdline == ["true", (range(100000; 103001) | tostring)]' >/dev/null || fail "a long command"

# Images of the ring: the first records, or with write_backward the last ones.
sed 's/, "inherit": 1//' attr.json >ring.json
status 0 "$perfabi" capture --raw -m 1 --attr ring.json -o first.ring -- sh -c ':'
status 0 "$decode" --check --attr ring.json first.ring
"$decode" --attr ring.json first.ring | grep -q '"comm":"sh"' || fail "first.ring has not its beginning"
sed 's/"sample_id_all": 1/"sample_id_all": 1, "write_backward": 1/' ring.json >backward.json
status 0 "$perfabi" capture --raw -m 1 --attr backward.json -o last.ring -- sh -c ':'
"$decode" --attr backward.json last.ring | grep -q '"type":"EXIT"' || fail "last.ring has not its end"
status 2 "$perfabi" capture --raw --attr attr.json -o x.ring -- true

# A recording without records is whole, too.
echo '{"type": "software", "config": "dummy", "exclude_kernel": 1}' >dummy.json
status 0 "$perfabi" capture --attr dummy.json -o dummy.data -- true
status 0 "$decode" dummy.data

# What goes wrong is said.
status 2 "$perfabi" capture --attr attr.json -o x.data -- ./nothing
says err "cannot run ./nothing: No such file or directory"
[ ! -e x.data ] || fail "a command that was not run leaves a file"
cp dummy.data kept.data
status 2 "$perfabi" capture --attr attr.json -o kept.data -- ./nothing
cmp dummy.data kept.data || fail "a command that was not run takes the old recording along"
[ ! -e kept.data.old ] || fail "a command that was not run renames the old recording"
# As perf does, what was there is kept, once; an empty file is nothing.
: >kept.empty
status 0 "$perfabi" capture --attr attr.json -o kept.data -- true
cmp dummy.data kept.data.old || fail "the old recording is not in kept.data.old"
cp kept.data second.data
status 0 "$perfabi" capture --attr attr.json -o kept.data -- true
cmp second.data kept.data.old || fail "the second recording is not in kept.data.old"
status 0 "$perfabi" capture --attr attr.json -o kept.empty -- true
[ ! -e kept.empty.old ] || fail "an empty file is kept"
status 2 "$perfabi" capture --attr attr.json -o - -- mkdir ran
says err "--output -: a recording needs a file"
[ ! -e ran ] && [ ! -e ./- ] || fail "a file called -"
[ -z "$(find . -name '*.data.??????')" ] || fail "a file is left: $(find . -name '*.data.??????')"
# The attr is no place for the recording, by whatever name.
ln -s attr.json other-name.json
ln attr.json link.json
cp attr.json attr.copy
for name in attr.json other-name.json link.json ./attr.json; do
	status 2 "$perfabi" capture --attr attr.json -o $name -- mkdir ran
	says err "$name is the file of --attr"
done
status 2 "$perfabi" capture --attr - -o attr.json -- mkdir ran <attr.json
cmp attr.json attr.copy || fail "the attr's file is another"
[ ! -e ran ] && [ ! -e attr.json.old ] || fail "a recording in the attr's place"
status 1 "$perfabi" capture --attr attr.json -o x.data -- sh -c 'exit 7'
says err "exit status 7"
status 0 "$decode" --check x.data
status 3 "$perfabi" capture --attr attr.json -o /dev/full -- true
says err "No space left on device"
status 3 "$perfabi" capture --attr attr.json -o /nonexistent/x -- true
echo '{"type": 4000000000, "sample_type": ["ip"], "exclude_kernel": 1}' >unknown.json
status 2 "$perfabi" capture --attr unknown.json -o x.data -- true
says err "no such event"
# Ctrl-C ends the command, and the recording is whole.
got=0
( interruptible "$perfabi" capture --attr attr.json -o int.data -- sh -c 'kill -INT $PPID $$' ) 2>err || got=$?
says err "killed by signal 2"
status 0 "$decode" --check int.data
if [ "$(id -u)" = 0 ]; then
	mkdir -m 777 user
	chmod 755 .
	status 0 setpriv --reuid 65534 --clear-groups "$perfabi" capture --attr attr.json -o user/u.data -- true
	status 0 "$decode" --check user/u.data
fi
