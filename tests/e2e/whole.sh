# SPDX-License-Identifier: MIT
# Recordings as a whole: packed ones, perf's folders, and what --sort, --join and --format make of all records together.
# more with test-all: more recordings packed
. tests/e2e/lib.sh
export PYTHONPATH="$PWD/decoder/python" LD_LIBRARY_PATH="$PWD/$B" PYTHONDONTWRITEBYTECODE=1
case $B in /*) LD_LIBRARY_PATH=$B ;; esac

# What is packed is as what is not.
gzip -dc fixtures/recorded/pipe.data.gz >"$scratch/pipe.data"
gzip -dc fixtures/recorded/callgraph.data.gz >"$scratch/callgraph.data"
packed="$scratch/pipe.data $scratch/callgraph.data fixtures/built/kernel-records.be.data"
[ -z "$TEST_WHOLE" ] || packed="$packed fixtures/built/*.data"
for recording in $packed; do
	"$PYTHON" tests/packed.py "$decode" "$scratch/input" "$recording" || fail "a packed recording"
done
"$PYTHON" tests/packed.py "$decode" "$scratch/input" fixtures/built/ring-wrapped.be.ring --attr fixtures/built/ring-wrapped.be.attr.json ||
	fail "a packed ring"
gzip -nc "$scratch/callgraph.data" | head -c 1000 >"$scratch/cut.gz"
status 1 "$decode" "$scratch/cut.gz"
says out '"code":"packed","grade":"error","message":"the gzip data is cut off"'
{ gzip -nc "$scratch/callgraph.data" && echo and more; } >"$scratch/more.gz"
status 1 "$decode" "$scratch/more.gz"
says out '"code":"packed","grade":"error","message":"the gzip data is damaged: '

# Profiles are sums of the lines of --join, which has a deferred call chain where it belongs, and the order of --sort is that of time.
for recording in fixtures/recorded/*.data.gz; do
	"$PYTHON" tests/whole.py "$decode" "$recording" || fail "$recording"
done
"$decode" --join --type sample,callchain_deferred --no-summary fixtures/recorded/amd64.deferred.data.gz >"$scratch/lines"
jq -se '(map(select(.type == "CALLCHAIN_DEFERRED") | {key: .cookie, value: .}) | from_entries) as $chains |
	map(select(.type == "SAMPLE") | $chains[.callchain[-1] | objects | .cookie] as $chain | select($chain.sample_id.time > .time) |
		$chain.ips == [.frames[-($chain.ips | length):][].ip]) | length > 400 and all' "$scratch/lines" >"$scratch/out" || fail "samples without their deferred call chains"

"$PYTHON" tests/joined.py "$decode" "$scratch" "${CC:-cc}" || fail "--join"

# Samples whose chain never comes have the order of the recording.
gzip -dc fixtures/recorded/amd64.deferred.data.gz | head -c 60000 >"$scratch/cut.data"
"$decode" --join --type sample "$scratch/cut.data" >"$scratch/lines" || [ $? -eq 1 ]
"$decode" --join --type sample "$scratch/cut.data" | cmp - "$scratch/lines" || fail "--join twice"

# A folder, with threads and without; what is no file in it; a part of it alone.
mkdir "$scratch/folder"
data=$("$decode" --header "$scratch/callgraph.data" | jq -r '.data | "\(.offset) \(.size)"')
cp "$scratch/callgraph.data" "$scratch/folder/data"
dd if="$scratch/callgraph.data" of="$scratch/folder/data.0" bs=1 skip="${data% *}" count="${data#* }" 2>/dev/null
cp "$scratch/folder/data.0" "$scratch/folder/data.2"
status 1 "$decode" "$scratch/folder"
says out '"code":"parts","grade":"error","message":"data.1 is missing from the directory"'
mv "$scratch/folder/data.2" "$scratch/folder/data.1"
status 0 "$decode" "$scratch/folder"
jq -se 'map(select(.type == "SAMPLE")) | length % 3 == 0 and (group_by(.file) | map(length) | unique | length == 1)
	and (map(.time) | . == sort)' "$scratch/out" >/dev/null || fail "a folder"
"$decode" -j 3 "$scratch/folder" | cmp - "$scratch/out" || fail "a folder, with threads"
mkfifo "$scratch/folder/data.2"
status 2 timeout 20 "$decode" "$scratch/folder"
rm "$scratch/folder/data.2"
status 2 "$decode" --shard 1/2 "$scratch/folder"

# Nothing but stacks is in a profile, whatever the recording has.
status 1 "$decode" --format folded fixtures/built/damaged.le.data
if grep -q '"type"' "$scratch/out"; then fail "lines of JSON in a profile"; fi
status 2 "$decode" --format folded --event nosuch "$scratch/callgraph.data"
says err 'expected samples of an event called "nosuch", got none'
status 2 "$decode" --join --fields ip "$scratch/callgraph.data"

# What follows is recorded here.
leaves_out() { echo "left out: $1"; exit 0; }
command -v perf >/dev/null || leaves_out "recordings of this machine, for there is no perf"
cat >"$scratch/work.py" <<'END'
# Threads with names, programs that follow one another, code that comes and goes.
import ctypes, mmap, os, subprocess, sys, threading
libc = ctypes.CDLL(None)

def spin(name):
    libc.prctl(15, name, 0, 0, 0)  # PR_SET_NAME
    for n in range(40):
        sorted(range(3000))
        os.stat("/")
        with mmap.mmap(-1, 8192, prot=mmap.PROT_READ | mmap.PROT_EXEC):
            pass

for n in range(3):
    threads = [threading.Thread(target=spin, args=(name,)) for name in (b"one", b"two words", b"a long enough name")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not os.fork():
        spin(b"child")
        os.execvp("ls", ["ls", "-R", "/etc"])
    os.wait()
    subprocess.run(["sh", "-c", "ls /usr/bin | sort | head -3"])
END
# record NAME OPTION... : what perf cannot record here is left out.
record() {
	name=$1
	shift
	perf record -q -o "$scratch/$name" "$@" -- "$PYTHON" "$scratch/work.py" >"$scratch/out" 2>"$scratch/err" ||
		{ echo "left out: perf record $*: $(tail -n 1 "$scratch/err")"; return 1; }
}
# compared NAME
compared() { "$PYTHON" tests/whole.py "$decode" "$scratch/$1" --perf || fail "$1 is not what perf makes of it"; }
record one.data -e cpu-clock -F 4000 -g || exit 0
compared one.data
record several.data -e cpu-clock/freq=1000/,page-faults/period=3/,context-switches/period=1/ || exit 0
compared several.data
perf record -h 2>&1 | grep -q -- --threads || leaves_out "a folder, for this perf has no --threads"
record folder --threads=cpu -a -e cpu-clock -F 2000 -g || exit 0
compared folder

# One of its files says that it is a part, and says so in each way to get at it; a part that is damaged says which it is.
status 1 "$decode" "$scratch/folder/data"
says out '"code":"parts","grade":"error"'
status 1 "$decode" - <"$scratch/folder/data"
says out '"code":"parts"'
run_to "$scratch/out" "$scratch/err" "$decode" "$scratch/folder"
[ "$got" -eq 0 ] || { grep diagnostic "$scratch/out"; fail "a folder: exit status $got"; }
parts=$(jq -r '.file // empty' "$scratch/out" | sort -u | wc -l)
[ "$parts" -eq "$(find "$scratch/folder" -name 'data.[0-9]*' -size +0 | wc -l)" ] || fail "$parts parts"
printf '\1\2\3' >>"$scratch/folder/data.0"
status 1 "$decode" "$scratch/folder"
says out '"file":"data.0","code":"truncated"'
