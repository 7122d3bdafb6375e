# SPDX-License-Identifier: MIT
# ci/setup on a machine that has next to nothing, with an apt-get and a sudo that only write down what they were asked.
. tests/e2e/lib.sh
bin=$scratch/bin
mkdir "$bin"
for tool in sh cat env mktemp rm tail; do
	ln -s "$(command -v $tool)" "$bin/$tool"
done
program() { cat >"$bin/$1" && chmod 755 "$bin/$1"; }
program apt-get <<END
#!$bin/sh
echo "apt-get \$*" >>"$scratch/asked"
[ ! -e "$scratch/\$1-fails" ] || { echo "E: no such package"; exit 100; }
END
program sudo <<END
#!$bin/sh
echo "sudo" >>"$scratch/asked"
exec "\$@"
END
# as UID : who asks from here on.
as() { printf '#!%s/sh\necho %s\n' "$bin" "$1" | program id; }
# setup WANTED ANSWER ARGUMENT... : exit status; what is typed on a terminal, `nobody` where
# the terminal is for output alone, or `-` for none.
setup() {
	wanted=$1 answer=$2
	shift 2
	: >"$scratch/asked"
	if [ "$answer" = - ]; then
		status "$wanted" env -i PATH="$bin" PYTHON=none ci/setup "$@" </dev/null
		return
	fi
	status "$wanted" "$PYTHON" - "$bin" "$answer" "$@" <<'PY'
import fcntl, os, pty, subprocess, sys, termios
path, answer, *arguments = sys.argv[1:]
terminal, slave = pty.openpty()
with open(os.devnull) as nobody:
    process = subprocess.Popen(["ci/setup", *arguments], stdin=nobody if answer == "nobody" else slave, stdout=slave, stderr=slave, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0), env={"PATH": path, "PYTHON": "none"})
os.write(terminal, (answer + "\n").encode())
# Held open and marked at its end: what a terminal still has when its last writer closes it can be lost.
status = process.wait()
os.write(slave, b"\0")
said = b""
while not said.endswith(b"\0"):
    said += os.read(terminal, 4096)
sys.stderr.write(said[:-1].decode().replace("\r", ""))
sys.exit(status)
PY
}
asked() { [ "$(cat "$scratch/asked")" = "$1" ] || { cat "$scratch/asked" "$scratch/err"; fail "asked for other things than: $1"; }; }
build="gcc libc6-dev pkg-config libjansson-dev libzstd-dev zlib1g-dev liblzma-dev"
install="apt-get install -y --no-install-recommends $build"

# root: one line says what is installed
as 0
setup 0 - build
asked "$install"
[ "$(cat "$scratch/err")" = "perfabi: installing with apt-get: $build" ] || { cat "$scratch/err"; fail "what root is told"; }
setup 0 - build test
says asked "$install check python3 python3-jsonschema python3-tap gzip libxml2-utils jq perl strace util-linux mandoc"
# a list of packages that is old is fetched again; what fails is said, with the command
touch "$scratch/install-fails"
setup 1 - build
asked "$install
apt-get update
$install"
says err "E: no such package"
says err "perfabi: that failed. Run:"
says err "  $install"
rm "$scratch/install-fails"

# a user, without a terminal: the command, and nothing else
as 1000
setup 1 - build
asked ""
says err "missing: cc pkg-config jansson libzstd zlib liblzma. Run:"
says err "  sudo $install"
setup 1 nobody build
asked ""
if grep -q "y/N" "$scratch/err"; then fail "a question to nobody"; fi
# on one: asked first
for answer in "" n no x; do
	setup 1 "$answer" build
	asked ""
	says err "perfabi: Install $build with sudo apt-get? [y/N] "
	says err "  sudo $install"
done
for answer in y Y yes; do
	setup 0 $answer build
	says err "perfabi: Install $build with sudo apt-get? [y/N] "
	asked "sudo
$install"
done
# without sudo: the command, for root
rm "$bin/sudo"
setup 1 y build
asked ""
says err "As root, run:"
says err "  $install"
# where nothing is missing nobody is asked
for tool in cc pkg-config; do
	printf '#!%s/sh\n' "$bin" | program $tool
done
setup 0 - build
asked ""
[ ! -s "$scratch/err" ] || { cat "$scratch/err"; fail "words where nothing is missing"; }
# neither apt-get nor another: what is missing is said
rm "$bin/apt-get" "$bin/cc"
setup 1 y build
says err "no package manager is known here to install them: cc"
# Without a compiler `make` says what installs one.
status 2 make CC=no-such-compiler B="$scratch/none" "$scratch/none/src/main.o"
says err 'there is no compiler no-such-compiler; `ci/setup build` installs what is missing'
