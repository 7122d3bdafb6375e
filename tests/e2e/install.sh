# SPDX-License-Identifier: MIT
# make: right after any edit, a flag or a case file included; installs; one static binary a program.
. tests/e2e/lib.sh
mkdir "$scratch/tree"
cp -r Makefile ci cases decoder src tests "$scratch/tree/"
cd "$scratch/tree"
# This make is not a part of the one that runs the tests.
unset MAKEFLAGS MAKELEVEL MFLAGS B PYTHON
# What is built here is not used for long.
export CFLAGS=-O0
make -s -j2 all >/dev/null || fail "make"
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
make -s CFLAGS='-O1 -g' install DESTDIR="$scratch/root" PREFIX=/usr >/dev/null || fail "make install"
for f in bin/perfabi bin/perfabi-decode share/man/man1/perfabi.1 share/perfabi/cases/open/size.json share/perfabi/cases/baseline.json \
	lib/libperfabi.a lib/libperfabi.so lib/libperfabi.so.0 lib/pkgconfig/perfabi.pc include/perfabi.h; do
	[ -f "$scratch/root/usr/$f" ] || fail "not installed: $f"
done
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
make -s uninstall DESTDIR="$scratch/root" PREFIX=/usr
[ -z "$(find "$scratch/root" ! -type d)" ] || fail "uninstall leaves files"
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
