# SPDX-License-Identifier: MIT
# libperfabi as it is installed: its names, its structs, the examples of docs/library.md, fields against lines.
# more with test-all: a build of the library alone, every recording, another locale, and a build with sanitizers
. tests/e2e/lib.sh
here=$PWD
built=$B
# This make is not a part of the one that runs the tests.
unset MAKEFLAGS MAKELEVEL MFLAGS B
root=$scratch/root/usr
if [ -n "$TEST_WHOLE" ]; then
	mkdir "$scratch/tree"
	cp -r Makefile ci cases decoder src tests "$scratch/tree/"
	(cd "$scratch/tree" && CFLAGS=-O1 make -s install-lib DESTDIR="$scratch/root" PREFIX=/usr PYTHONDIR=/usr/python) || fail "make install-lib"
else # what is built, as it is: without BUILD the target only copies
	make -s install-lib BUILD=: B="$built" DESTDIR="$scratch/root" PREFIX=/usr PYTHONDIR=/usr/python || fail "make install-lib"
fi
lib=$root/lib

# One soname, and links that lead there.
readelf -d "$lib/libperfabi.so" | grep -q 'SONAME.*\[libperfabi\.so\.0\]$' || fail "soname"
[ "$(readlink "$lib/libperfabi.so")" = libperfabi.so.0 ] || fail "libperfabi.so"
version=$(sed -n 's/^Version: //p' "$lib/pkgconfig/perfabi.pc")
[ "$(readlink "$lib/libperfabi.so.0")" = "libperfabi.so.$version" ] || fail "libperfabi.so.0"

# The names of the map, the header and either library are the same, to the last one.
sed -n 's/^	\([a-z_]*\);$/\1/p' decoder/libperfabi.map | sort >"$scratch/map"
[ "$(wc -l <"$scratch/map")" = 19 ] || fail "libperfabi.map has other than 19 functions"
nm -D --defined-only "$lib/libperfabi.so.0" | sed -n 's/^[0-9a-f]* T \(.*\)@@PERFABI_0$/\1/p' | sort | diff "$scratch/map" - || fail "libperfabi.so.0"
[ "$(nm -D --defined-only "$lib/libperfabi.so.0" | wc -l)" = 20 ] || fail "libperfabi.so.0 has more than functions and PERFABI_0"
nm -g --defined-only "$lib/libperfabi.a" | sed -n 's/^[0-9a-f]* T //p' | sort | diff "$scratch/map" - || fail "libperfabi.a"
[ "$(nm -g --defined-only "$lib/libperfabi.a" | grep -c '^[0-9a-f]* [A-Z] ')" = 19 ] || fail "libperfabi.a has other names"
sed -n 's/^[a-z].*[ *]\(perfabi_[a-z_]*\)(.*/\1/p' "$root/include/perfabi.h" | sort | diff "$scratch/map" - || fail "perfabi.h"

# Position independent, so that either library can become part of another; nothing to be done to its text when it is loaded.
if readelf -d "$lib/libperfabi.so.0" | grep -q TEXTREL; then fail "text relocations"; fi
cc -shared -o "$scratch/other.so" -Wl,--whole-archive "$lib/libperfabi.a" -Wl,--no-whole-archive || fail "libperfabi.a in a shared library"

# The structs, in C and C++; for 32 bits without the headers of such a system.
for compiler in cc clang 'g++ -x c++ -std=c++11' 'clang++ -x c++ -std=c++11' 'cc -m32 -ffreestanding' 'clang -m32 -ffreestanding' \
	'clang --target=armv7-linux-gnueabihf -ffreestanding' 'clang --target=s390x-linux-gnu -ffreestanding'; do
	command -v "${compiler%% *}" >/dev/null || continue
	case $compiler in *-m32*) [ "$(uname -m)" = x86_64 ] || continue ;; esac
	$compiler -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$root/include" tests/library/abi.c || fail "$compiler"
done

# pkg-config says what is needed, and no more.
export PKG_CONFIG_PATH="$lib/pkgconfig"
config() { pkg-config --define-variable=prefix="$root" "$@" perfabi; }
[ "$(config --libs | sed 's/ *$//')" = "-L$lib -lperfabi" ] || fail "pkg-config --libs: $(config --libs)"
for flag in -lperfabi -ljansson -lzstd -lz -llzma -pthread; do
	config --static --libs | grep -q -- "$flag" || fail "pkg-config --static --libs has no $flag"
done
[ "$(pkg-config --modversion perfabi)" = "$version" ] || fail "another version"

# The examples, as they stand in docs/library.md.
example() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$here/docs/library.md" | sed '1d;$d'; }
example c >"$scratch/sum.c"
example python >"$scratch/comms.py"
example py >"$scratch/lines.py"
[ "$(wc -l <"$scratch/sum.c")" -le 40 ] || fail "the example in C has $(wc -l <"$scratch/sum.c") lines"
[ "$(wc -l <"$scratch/comms.py")" -le 15 ] || fail "the example in Python has $(wc -l <"$scratch/comms.py") lines"
export LD_LIBRARY_PATH="$lib" PYTHONPATH="$root/python" PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2046 # flags are meant to be split
cc -Wall -Wextra -Werror -o "$scratch/sum" "$scratch/sum.c" $(config --cflags --libs) || fail "the example in C"
gzip -dc fixtures/recorded/several.data.gz >"$scratch/several.data"
"$decode" --type sample --fields pid "$scratch/several.data" | jq -r 'select(.pid) | .pid' | sort -n | uniq -c |
	sed 's/^ *\([0-9]*\) \(.*\)/pid \2: \1 samples/' >"$scratch/wanted"
[ -s "$scratch/wanted" ] || fail "no samples"
"$scratch/sum" <"$scratch/several.data" | diff "$scratch/wanted" - || fail "what the example in C prints"
[ "$("$scratch/sum" <fixtures/built/killed.le.data | head -n 1)" = "48: not-closed: data.size is 0: perf did not close this file; read on to its end" ] ||
	fail "what the example in C says of a file that was not closed"
status 2 "$scratch/sum" <Makefile
[ "$(cat "$scratch/err")" = "standard input: expected a perf.data, or records and their attrs in JSON, got neither" ] || fail "$(cat "$scratch/err")"
"$PYTHON" "$scratch/comms.py" "$scratch/several.data" >"$scratch/got" || fail "the example in Python"
"$decode" --type comm "$scratch/several.data" | jq -r 'select(.type == "COMM") | "\(.pid) \(.comm)"' | diff - "$scratch/got" ||
	fail "what the example in Python prints"
[ -s "$scratch/got" ] || fail "no COMM"
status 1 "$PYTHON" "$scratch/comms.py" Makefile
[ "$(cat "$scratch/err")" = "Makefile: expected a perf.data, or records and their attrs in JSON, got neither" ] || fail "the example in Python, of no recording: $(cat "$scratch/err")"
"$PYTHON" "$scratch/lines.py" "$scratch/several.data" >"$scratch/got" || fail "the example of lines in Python"
"$decode" --type sample "$scratch/several.data" | jq -r 'select(.type == "SAMPLE") | "\(.pid) \(.ip)"' | diff - "$scratch/got" ||
	fail "what the example of lines in Python prints"
# perfabi.py has the structs, numbers and functions of perfabi.h, and knows when they are others.
"$PYTHON" tests/library/structs.py >"$scratch/structs.c" || fail "structs.py"
cc -Wall -Wconversion -Werror -fsyntax-only -I"$root/include" "$scratch/structs.c" || fail "perfabi.py is not as perfabi.h"
sed -n 's/.* perfabi_\([a-z_]*\)(.*/perfabi_\1/p' "$scratch/structs.c" | sort | diff "$scratch/map" - || fail "functions of perfabi.py"
sed 's/uint64_t reserved\[8\]/uint64_t reserved[7]/' "$root/include/perfabi.h" >"$scratch/perfabi.h"
if cc -fsyntax-only -I"$scratch" "$scratch/structs.c" 2>"$scratch/err"; then fail "another reserve is not noticed"; fi

# What docs/library.md says of a folder where the loader does not look: -rpath does without LD_LIBRARY_PATH.
grep -q -- '-Wl,-rpath,' docs/library.md || fail "docs/library.md has no -rpath"
# shellcheck disable=SC2046
cc -o "$scratch/sum-rpath" "$scratch/sum.c" $(config --cflags --libs) "-Wl,-rpath,$lib" || fail "the example in C with -rpath"
(unset LD_LIBRARY_PATH && "$scratch/sum-rpath" <"$scratch/several.data") | diff "$scratch/wanted" - || fail "what it prints with -rpath"
# Without the shared library, and in a program all of which is static.
# shellcheck disable=SC2046
cc -o "$scratch/sum-a" "$scratch/sum.c" $(config --cflags) "$lib/libperfabi.a" -ljansson -lzstd -lz -llzma -pthread || fail "the example with libperfabi.a"
if readelf -d "$scratch/sum-a" | grep -q libperfabi; then fail "libperfabi.a is not in it"; fi
"$scratch/sum-a" <"$scratch/several.data" | diff "$scratch/wanted" - || fail "what it prints then"
# shellcheck disable=SC2046
if cc -static -o "$scratch/sum-static" "$scratch/sum.c" $(config --static --cflags --libs) 2>"$scratch/err"; then
	"$scratch/sum-static" <"$scratch/several.data" | diff "$scratch/wanted" - || fail "what the static program prints"
else
	grep -q 'cannot find' "$scratch/err" || { cat "$scratch/err"; fail "the static program"; }
fi
# From C++, with the version that the header has.
cat >"$scratch/version.cc" <<'END'
#include <perfabi.h>
#include <cstdio>

int main()
{
	std::printf("%d.%d.%d %s\n", PERFABI_VERSION_MAJOR, PERFABI_VERSION_MINOR, PERFABI_VERSION_PATCH, PERFABI_VERSION_TEXT);
	return perfabi_version() == PERFABI_VERSION ? 0 : 1;
}
END
if command -v g++ >/dev/null; then
	# shellcheck disable=SC2046
	g++ -Wall -Wextra -pedantic -Werror -o "$scratch/version" "$scratch/version.cc" $(config --cflags --libs) || fail "C++"
	[ "$("$scratch/version")" = "$version $version" ] || fail "the version in C++"
fi

# Every fixture by its fields against its lines; wholes, selections and errors.
mkdir "$scratch/recorded"
chosen=$(printf 'fixtures/recorded/%s.gz ' callgraph.data dwarf.data group-read.data memory.data pipe.data be-s390x.zstd.data be-s390x.ring.ring lost.data riscv64.cycles.data)
[ -z "$TEST_WHOLE" ] || chosen="fixtures/recorded/*.data.gz fixtures/recorded/*.ring.gz"
for packed in $chosen; do
	name=$(basename "${packed%.gz}")
	case $name in be-*.ring) name=${name%.ring}.be.ring ;; esac
	gzip -dc "$packed" >"$scratch/recorded/$name"
	attr=${packed%.ring.gz}.attr.json
	[ ! -f "$attr" ] || cp "$attr" "$scratch/recorded/${name%.ring}.attr.json"
done
"$PYTHON" tests/library/fields.py fixtures/built/*.data fixtures/built/*.ring "$scratch"/recorded/*.data \
	"$scratch"/recorded/*.ring || fail "fields"

# And in locales in which a point is a comma, or I is no upper i.
if localedef --version >/dev/null 2>&1 && [ -e /usr/share/i18n/locales/tr_TR ]; then
	mkdir "$scratch/locales"
	locales=tr_TR.ISO-8859-9 # which has both
	[ -z "$TEST_WHOLE" ] || locales="$locales de_DE.UTF-8"
	for locale in $locales; do
		localedef -i "${locale%.*}" -f "${locale#*.}" "$scratch/locales/$locale" || fail "localedef $locale"
		LOCPATH=$scratch/locales LC_ALL=$locale "$PYTHON" tests/library/fields.py fixtures/built/*.data || fail "$locale"
	done
else
	echo "left out: other locales, for there is no localedef, or none of its sources"
fi

# The same, with every byte of every field looked at; with TEST_WHOLE under ASan.
sanitized=tests/threads
[ -z "$TEST_WHOLE" ] || sanitized=asan/tests/threads
for input in fixtures/built/*.data "$scratch"/recorded/*.data; do
	"$built/$sanitized" "$input" >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/err"; fail "$input"; }
	[ "$(sort -u "$scratch/out" | wc -l)" = 1 ] || { cat "$scratch/out"; fail "$input: threads that saw different things"; }
	grep -q ' [1-9][0-9]* lines$' "$scratch/out" || fail "$input: no lines"
done
