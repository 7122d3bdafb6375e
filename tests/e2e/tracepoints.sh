# SPDX-License-Identifier: MIT
# Fields of tracepoints against libtraceevent: of made-up formats, of bytes at random for each format of this kernel, and recorded.
# more with test-all: almost all tracepoints of this kernel are recorded
. tests/e2e/lib.sh
oracle=$PWD/$B/tests/oracle tracefs=/sys/kernel/tracing
case $B in /*) oracle=$B/tests/oracle ;; esac
[ -x "$oracle" ] || { echo "left out: libtraceevent is not here"; exit 0; }
compare() { "$PYTHON" tests/tracepoints/compare.py "$oracle" "$decode" "$@" || fail "fields of tracepoints are not what libtraceevent reads"; }

compare made-up "$scratch" random
compare made-up "$scratch" names
[ -r $tracefs/events/header_page ] || { echo "left out: this kernel's tracepoints, for $tracefs cannot be read"; exit 0; }
compare $tracefs "$scratch" random
compare $tracefs "$scratch" names
command -v perf >/dev/null || { echo "left out: tracepoints recorded here, for there is no perf"; exit 0; }

# Each event costs the kernel some 40 ms when it is closed: these are systems that have many events which mostly come, and calls of the load.
systems="block ext4 filemap kmem mmap_lock net sched signal skb sock task tcp timer workqueue writeback"
calls="bind brk clone close connect execve fcntl fsync futex getdents64 getpid ioctl listen lseek mkdir mmap mprotect munmap newfstatat openat pipe2 pread64 \
read recvfrom rename rmdir rt_sigaction sendto setitimer socket symlink unlink wait4 write"
[ -z "$TEST_WHOLE" ] || systems=$(ls $tracefs/events)
events() {
	for system in $systems; do
		case $system in
		# What perf may not open, what perf makes itself, and what comes for each record that it writes.
		exceptions | ftrace | irq_vectors | raw_syscalls | syscalls | page_isolation | xen) continue ;;
		esac
		for id in "$tracefs/events/$system"/*/id; do
			[ ! -r "$id" ] || basename "${id%/id}" | sed "s/^/$system:/"
		done
	done
	for call in $calls; do
		[ ! -d $tracefs/events/syscalls/sys_enter_"$call" ] || printf 'syscalls:sys_%s\n' "enter_$call" "exit_$call"
	done
}
cat >"$scratch/load.py" <<'END'
import mmap, os, select, signal, socket, subprocess, sys, threading, time
os.chdir(sys.argv[1])
for n in range(3):
    with open(f"file{n}", "wb") as file:
        file.write(b"x" * 200000)
        file.flush()
        os.fsync(file.fileno())
    os.rename(f"file{n}", "file")
    os.symlink("file", "link")
    os.unlink("link")
os.truncate("file", 100)
os.unlink("file")
os.mkdir("folder")
os.rmdir("folder")
listening = socket.create_server(("127.0.0.1", 0))

def serve():
    with listening.accept()[0] as one:
        one.sendall(b"x" * 100000)

thread = threading.Thread(target=serve)
thread.start()
with socket.create_connection(listening.getsockname()) as other:
    while other.recv(65536):
        pass
thread.join()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.bind(("127.0.0.1", 0))
    udp.sendto(b"y", udp.getsockname())
    udp.recv(10)
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.03)
with mmap.mmap(-1, 1 << 20) as area:
    for at in range(0, 1 << 20, 4096):
        area[at] = 1
for n in range(20):
    select.select([], [], [], 0.0001)
subprocess.run(["sh", "-c", "ls / | sort >list; (sleep 5 & kill $!; wait)"], check=False)
os.sync()
END
{
	# shellcheck disable=SC2046 # words are meant to be split
	perf record -q -a -c 1 -m 512 -o "$scratch/perf.data" $(events | sed 's/^/-e /') -- "$PYTHON" "$scratch/load.py" "$scratch" >"$scratch/err" 2>&1 || :
	: >"$scratch/ended"
} &
# The header has the size of the data when all is written; perf then closes its events, for which nobody waits yet.
is_written() { [ -s "$scratch/perf.data" ] && [ "$(od -An -tu8 -j48 -N8 "$scratch/perf.data" | tr -d ' ')" != 0 ]; }
is_done() { [ -e "$scratch/ended" ] || is_written; }
comes_true is_done || fail "perf record does not end"
is_written || { echo "left out: tracepoints recorded here: $(grep -v '^ *$' "$scratch/err" | tail -n 1)"; exit 0; }
compare $tracefs "$scratch" "$scratch/perf.data"
wait
