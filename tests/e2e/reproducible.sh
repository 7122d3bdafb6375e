# SPDX-License-Identifier: MIT
# test-all: it compiles the tree again
# The same source gives the same bytes: the tarballs, and what is built in folders of other names, by other hands.
. tests/e2e/lib.sh
if [ ! -e .git ] && [ ! -f MANIFEST ]; then
	echo "left out: neither .git nor MANIFEST tells which files belong to perfabi"
	exit 0
fi
unset MAKEFLAGS MAKELEVEL MFLAGS SOURCE_DATE_EPOCH
version=$("$perfabi" --version | cut -d ' ' -f 2)
name=perfabi-$version
ci/pack source "$version" "$scratch/$name.tar.gz" >/dev/null || fail "ci/pack source"
# Another umask, time zone and language; and what is unpacked gives the tarball again, whatever lies there besides.
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 make -s dist B="$scratch/again" >/dev/null) || fail "make dist"
cmp "$scratch/$name.tar.gz" "$scratch/again/$name.tar.gz" || fail "make dist gives other bytes"
mkdir "$scratch/one" "$scratch/another-with-a-longer-name"
tar -xzf "$scratch/$name.tar.gz" -C "$scratch/one"
(umask 077 && tar -xzf "$scratch/$name.tar.gz" -C "$scratch/another-with-a-longer-name")
one=$scratch/one/$name another=$scratch/another-with-a-longer-name/$name
(cd "$one" && cp MANIFEST "$scratch/manifest" && LC_ALL=C find . -type f | sed 's|^\./||' | grep -vx MANIFEST | LC_ALL=C sort | cmp - MANIFEST) || fail "MANIFEST"
if [ -e .git ]; then git ls-files | LC_ALL=C sort | cmp - "$one/MANIFEST" || fail "the tarball lacks files that git has"; fi
echo "mine" >"$another/notes"
touch "$another/README.md"
(cd "$another" && make -s dist >/dev/null) || fail "make dist in an unpacked tarball"
cmp "$scratch/$name.tar.gz" "$another/build/$name.tar.gz" || fail "the tarball of an unpacked tarball"
rm -r "$another/build"
tar --numeric-owner -tvzf "$scratch/$name.tar.gz" >"$scratch/list"
[ "$(awk '{print $2, $4, $5}' "$scratch/list" | sort -u | wc -l)" = 1 ] || fail "more than one owner and time in the tarball"
if grep -v '^-rw-r--r-- \|^-rwxr-xr-x \|^drwxr-xr-x ' "$scratch/list"; then fail "modes in the tarball"; fi
# Where a file's time is to be another, it is.
SOURCE_DATE_EPOCH=86400 ci/pack source "$version" "$scratch/early.tar.gz" >/dev/null
TZ=UTC tar -tvzf "$scratch/early.tar.gz" early/README.md | grep -q ' 1970-01-02 00:00 ' || fail "SOURCE_DATE_EPOCH"
# Neither a clone nor an unpacked tarball.
rm "$another/MANIFEST"
status 2 sh -c 'cd "$1" && make -s dist' sh "$another"
says err "no .git and no MANIFEST"

# Built twice, at other paths, by one job and by two, with debug information.
built="perfabi perfabi-decode libperfabi.a libperfabi.so.0"
export CFLAGS='-O0 -g'
(cd "$one" && make -s -j2 all >/dev/null) || fail "make in a folder"
(cd "$another" && umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 HOME=/nowhere make -s -j1 all B="$scratch/elsewhere" >/dev/null) || fail "make in another folder"
for file in $built; do
	cmp "$one/build/$file" "$scratch/elsewhere/$file" || fail "$file has other bytes in another folder"
	if grep -aqF "$scratch" "$one/build/$file"; then fail "$file has the path of its folder"; fi
done
"$one/build/perfabi" check >/dev/null || fail "what was built"
