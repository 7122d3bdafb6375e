# SPDX-License-Identifier: MIT
# test-all: it compiles the tree again
# All C compiles with musl's headers: nothing of it is glibc's alone. The libraries' headers are this machine's.
. tests/e2e/lib.sh
command -v musl-gcc >/dev/null || { echo "left out: there is no musl-gcc"; exit 0; }
mkdir "$scratch/include"
link() { ln -s "$1" "$scratch/include/${1##*/}"; }
machine=$(${CC:-cc} -dumpmachine)
for name in linux asm-generic jansson.h zstd.h zstd_errors.h zlib.h zconf.h; do
	link "/usr/include/$name"
done
for name in asm jansson_config.h; do
	[ -e "/usr/include/$machine/$name" ] && link "/usr/include/$machine/$name" || link "/usr/include/$name"
done
count=0
for file in decoder/*.c decoder/*/*.c src/*.c src/*/*.c src/*/*/*.c; do
	musl-gcc -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Idecoder -Isrc -idirafter "$scratch/include" -fsyntax-only -Wall -Wextra \
		-Werror "$file" || fail "$file"
	count=$((count + 1))
done
[ "$count" -ge 100 ] || fail "$count files"
echo "$count files"
