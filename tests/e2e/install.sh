# SPDX-License-Identifier: MIT
# test-all: it compiles the tree again
# make: right after any edit, a flag or a case file included; installs; one static binary a program.
. tests/e2e/lib.sh
mkdir "$scratch/tree"
cp -r Makefile ci cases completions decoder docs src tests "$scratch/tree/"
cd "$scratch/tree"
# This make is not a part of the one that runs the tests.
unset MAKEFLAGS MAKELEVEL MFLAGS B PYTHON
# What is built here is not used for long.
export CFLAGS=-O0
make -s -j2 all >/dev/null || fail "make"
[ -s build/completions/perfabi.bash ] && ! grep -q "^@" build/completions/* || fail "make leaves no whole completion in build/completions"
[ -z "$(make -s all)" ] || fail "make again does something"
built() { stat -c %Y.%y "$1"; }
before=$(built build/src/run/run.o)
sleep 0.02
touch src/run/run.h && make -s all >/dev/null
[ "$before" != "$(built build/src/run/run.o)" ] || fail "a header's edit does not rebuild"
before=$(built build/perfabi)
cat >cases/open/added.json <<'JSON'
{"suite": "open.added", "about": "a file that is added", "spec": {"kernel": "none"},
 "cases": [{"name": "x", "title": "x", "as": "user", "open": {"attr": {"type": "software", "config": "dummy"}}, "expect": {"ok": true}}]}
JSON
make -s all >/dev/null
build/perfabi list open.added >/dev/null || fail "a case file that is added is not built in"
rm cases/open/added.json
make -s all >/dev/null
if build/perfabi list open.added >/dev/null 2>&1; then fail "a case file that is taken away is still built in"; fi
before=$(built build/decoder/abi/abi.o)
make -s -j2 CFLAGS='-O1 -g' all >/dev/null
[ "$before" != "$(built build/decoder/abi/abi.o)" ] || fail "a changed flag does not rebuild"
# What lies there of others stays: their files beside perfabi's, and a folder that is theirs alone.
for theirs in bin/perf share/perfabi/cases/theirs share/man/man1/perf.1 share/bash-completion/completions/perf lib/pkgconfig/perf.pc; do
	mkdir -p "$scratch/root/usr/${theirs%/*}"
	echo theirs >"$scratch/root/usr/$theirs"
done
files() { (cd "$1" && find . ! -type d -exec ls -l '{}' + | sort -k 9); }
files "$scratch/root" >"$scratch/before"
make -s CFLAGS='-O1 -g' install DESTDIR="$scratch/root" PREFIX=/usr PYTHONDIR=/usr/python >/dev/null || fail "make install"
for f in bin/perfabi bin/perfabi-decode share/man/man1/perfabi.1 share/man/man1/perfabi-decode.1 share/perfabi/cases/open/size.json \
	share/perfabi/cases/baseline.json share/perfabi/cases/schema/case.schema.json lib/libperfabi.a lib/libperfabi.so lib/libperfabi.so.0 \
	lib/pkgconfig/perfabi.pc include/perfabi.h share/bash-completion/completions/perfabi share/bash-completion/completions/perfabi-decode \
	python/perfabi.py share/zsh/site-functions/_perfabi share/fish/vendor_completions.d/perfabi.fish share/fish/vendor_completions.d/perfabi-decode.fish; do
	[ -s "$scratch/root/usr/$f" ] || fail "not installed: $f"
done
[ "$(find "$scratch/root/usr/share/perfabi" -name '*.json' | wc -l)" = "$(find cases -name '*.json' | wc -l)" ] || fail "cases that are not installed"
"$scratch/root/usr/bin/perfabi" check --cases "$scratch/root/usr/share/perfabi/cases" >/dev/null || fail "the installed cases"
# A program of somebody else's, against what is installed.
cat >"$scratch/use.c" <<'END'
#include <perfabi.h>
#include <stdio.h>
#include <unistd.h>

static int print(void *context, const char *text, size_t size)
{
	(void)context;
	return fwrite(text, 1, size, stdout) == size ? 0 : -1;
}

int main(void)
{
	char message[256];
	struct perfabi *perfabi = perfabi_new(NULL, message, sizeof(message));
	struct perfabi_options options = {0};
	struct perfabi_result result;
	int err = perfabi ? perfabi_decode(perfabi, STDIN_FILENO, &options, print, NULL, &result) : -1;

	perfabi_free(perfabi);
	return err ? 1 : 0;
}
END
export PKG_CONFIG_PATH="$scratch/root/usr/lib/pkgconfig"
# shellcheck disable=SC2046 # flags are meant to be split
cc -o "$scratch/use" "$scratch/use.c" -I"$scratch/root/usr/include" -L"$scratch/root/usr/lib" \
	$(pkg-config --libs perfabi) || fail "a program with libperfabi"
LD_LIBRARY_PATH=$scratch/root/usr/lib "$scratch/use" <"$OLDPWD/fixtures/built/samples.be.data" | cmp - "$OLDPWD/fixtures/built/samples.be.jsonl" || fail "libperfabi's output"
[ "$(nm -g --defined-only "$scratch/root/usr/lib/libperfabi.a" | grep -vc ' perfabi_\|^$\|:$')" = 0 ] || fail "libperfabi has other names"
make -s uninstall DESTDIR="$scratch/root" PREFIX=/usr PYTHONDIR=/usr/python
files "$scratch/root" | diff "$scratch/before" - || fail "uninstall leaves files, or takes others' away"
rm "$scratch/root/usr/share/perfabi/cases/theirs"
# Each folder where it is to be: one of libraries for each architecture, manuals elsewhere.
set -- DESTDIR="$scratch/a root" PREFIX=/opt/p LIBDIR=/opt/p/lib/there INCLUDEDIR=/opt/i BINDIR=/opt/b MANDIR=/opt/m DATADIR=/opt/d
make -s CFLAGS='-O1 -g' install "$@" >/dev/null || fail "make install with folders"
for f in b/perfabi i/perfabi.h m/man1/perfabi.1 d/perfabi/cases/model.json p/lib/there/libperfabi.so.0 p/lib/there/pkgconfig/perfabi.pc; do
	[ -s "$scratch/a root/opt/$f" ] || fail "not installed: $f"
done
[ "$(PKG_CONFIG_PATH="$scratch/a root/opt/p/lib/there/pkgconfig" pkg-config --libs --cflags perfabi | sed 's/ *$//')" = \
	"-I/opt/i -L/opt/p/lib/there -lperfabi" ] || fail "pkg-config, with folders"
echo theirs >"$scratch/a"
make -s uninstall "$@"
[ -z "$(find "$scratch/a root/opt" ! -type d)" ] || fail "uninstall with folders leaves files"
[ "$(cat "$scratch/a")" = theirs ] || fail "uninstall takes another file away"
[ ! -e "$scratch/a root/opt/d/perfabi" ] || fail "uninstall leaves perfabi's own folder"
if make -s -j2 static >/dev/null 2>"$scratch/err"; then
	if ldd build/static/perfabi >/dev/null 2>&1; then fail "build/static/perfabi is not static"; fi
	(cd / && "$scratch/tree/build/static/perfabi" check >/dev/null) || fail "the static binary"
else
	grep -q 'cannot find' "$scratch/err" || { cat "$scratch/err"; fail "make static"; }
	echo "no static libraries here; the static build is left out"
fi
make -s compile_commands.json
jq -e 'length > 30 and (.[0] | .directory and .command and .file)' compile_commands.json >/dev/null || fail "compile_commands.json"
make -s clean
[ ! -e build ] || fail "make clean"
