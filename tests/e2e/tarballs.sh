# SPDX-License-Identifier: MIT
# test-all: it builds packages
# The tarball for those who implement the call or a reader, and that of static programs: what is in them works by itself.
. tests/e2e/lib.sh
if [ ! -e .git ] && [ ! -f MANIFEST ]; then
	echo "left out: neither .git nor MANIFEST tells which files belong to perfabi"
	exit 0
fi
version=$("$perfabi" --version | cut -d ' ' -f 2)
name=perfabi-cases-$version
ci/pack cases "$version" "$scratch/$name.tar.gz" >/dev/null || fail "ci/pack cases"
mkdir "$scratch/out-there" "$scratch/again"
(umask 077 && TZ=Asia/Tokyo ci/pack cases "$version" "$scratch/again/$name.tar.gz" >/dev/null)
cmp "$scratch/$name.tar.gz" "$scratch/again/$name.tar.gz" || fail "another tarball of the same cases"
SOURCE_DATE_EPOCH=86400 ci/pack cases "$version" "$scratch/early.tar.gz" >/dev/null
[ "$(TZ=UTC tar --numeric-owner -tvzf "$scratch/early.tar.gz" | awk '{print $2, $4, $5}' | sort -u)" = "0/0 1970-01-02 00:00" ] || fail "owners and times"
tar -xzf "$scratch/$name.tar.gz" -C "$scratch/out-there"
top=$scratch/out-there/$name
[ "$(ls "$top")" = "LICENSE
LICENSES
README.md
cases
docs
fixtures" ] || fail "what is at its top: $(ls "$top")"
status 0 "$perfabi" check --cases "$top/cases"
says out "$("$perfabi" list | wc -l) cases, all well formed"
# Each relative link of each page leads to a file that is in the tarball, and the pages are those that make sense there.
[ "$(ls "$top/docs/man")" = "man5
man7" ] || fail "its man pages: $(ls "$top/docs/man")"
links_of() { grep -o ']([^)#: ]*' "$1" | cut -c 3- | grep . | sort -u || true; }
find "$top" -name '*.md' >"$scratch/pages"
while read -r page; do
	links_of "$page" >"$scratch/links"
	while read -r link; do
		[ -e "${page%/*}/$link" ] || fail "${page#"$top/"} of the tarball: $link is not there"
	done <"$scratch/links"
	# No link is lost whose file is there; the page at the top is made from one of docs/.
	from=${page#"$top/"}
	[ "$from" != README.md ] || from=docs/implementing.md
	kept=$(links_of "$from" | while read -r link; do [ ! -e "$top/${from%/*}/$link" ] || echo; done | wc -l)
	[ "$(wc -l <"$scratch/links")" = "$kept" ] || fail "${page#"$top/"} of the tarball: $(wc -l <"$scratch/links") links, and $from has $kept to what is there"
	echo "$(wc -l <"$scratch/links") ${page#"$top/"}" >>"$scratch/linked"
done <"$scratch/pages"
awk '$2 == "README.md" && $1 >= 8 {top = 1} END {exit !top}' "$scratch/linked" || fail "links of the pages: $(cat "$scratch/linked")"
# What is no link there stands as words, also where they are on two lines.
grep -q 'the checklist for a case\.$' "$top/docs/first-case.md" || fail "the words of a link to adding.md"
# There is no Makefile: who says make says where.
if grep '`make' "$top/README.md" | grep -v "clone of perfabi\|perfabi's source"; then fail "make in its README.md"; fi
debian/tests/decode "$decode" "$top/fixtures" >/dev/null || fail "its recordings"
# What docs/implementing.md says of a part of the fields, and of asking for another machine.
zcat "$top/fixtures/recorded/callgraph.jsonl.gz" | jq -c 'select(.type == "SAMPLE") | [.pid, .tid, .time, .ip]' >"$scratch/samples"
[ "$(wc -l <"$scratch/samples")" -ge 10 ] || fail "samples"
if grep -q null "$scratch/samples"; then fail "samples without such members"; fi
echo '{"as": "user", "open": {"attr": {"type": "software", "config": "dummy"}}}' |
	"$perfabi" predict --machine "$top/fixtures/machines/x86_64-6.18-vm.json" >"$scratch/predicted"
holds '.errno == "EACCES" and .check == "O031"' "$scratch/predicted" || fail "predict"

command -v xz >/dev/null || { echo "left out: the static programs, for there is no xz"; exit 0; }
# Static programs, as few bytes as can be sent about.
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) echo "left out: there is no tarball of programs for $(uname -m)" && exit 0 ;;
esac
unset MAKEFLAGS MAKELEVEL MFLAGS
# A build of its own only in part: what make finds built in $B stays.
if ! make -s release-tarball ARCH=$arch B="$B" PYTHON="$PYTHON" >"$scratch/out" 2>"$scratch/err"; then
	grep -q '^perfabi: .*\(Debian\|not there\|deb\.debian\.org\)' "$scratch/err" || { cat "$scratch/err"; fail "make release-tarball"; }
	echo "left out: $(head -n 1 "$scratch/err")"
	exit 0
fi
file=$B/perfabi-$version-linux-$arch.tar.xz
[ "$(wc -c <"$file")" -lt 2000000 ] || fail "$file has $(wc -c <"$file") bytes"
tar -xf "$file" -C "$scratch/out-there"
top=$scratch/out-there/perfabi-$version-linux-$arch
for program in perfabi perfabi-decode; do
	if ldd "$top/$program" >/dev/null 2>&1; then fail "$program is not static"; fi
	[ "$(cd / && "$top/$program" --version | cut -d ' ' -f 2)" = "$version" ] || fail "$program --version"
done
(cd / && "$top/perfabi" check >/dev/null) || fail "its perfabi"
debian/tests/decode "$top/perfabi-decode" fixtures >/dev/null || fail "its perfabi-decode"
mandoc -T lint -W error "$top/perfabi.1" "$top/perfabi-decode.1" || fail "its man pages"
for library in jansson zstd zlib; do
	grep -qi copyright "$top"/licences/*$library* || fail "the licence of $library"
done
