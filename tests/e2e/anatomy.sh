# SPDX-License-Identifier: MIT
# perfabi-decode --html: each record's bytes beside its members; its limits, and what has no bytes.
# more with test-all: the page in a browser
. tests/e2e/lib.sh
data=fixtures/built/samples.le.data
status 0 "$decode" --html "$data"
cp "$scratch/out" "$scratch/le.html"
status 0 "$decode" --html -o "$scratch/again.html" "$data"
cmp "$scratch/le.html" "$scratch/again.html" || fail "another page in a file"
# A page takes the place of no recording, and that of another page once it is whole; a link stays one.
cp "$data" "$scratch/own.data"
for own in "$scratch/own.data" "$scratch/../$(basename "$scratch")/own.data"; do
	status 2 "$decode" --html "$scratch/own.data" -o "$own"
	says err "is the recording"
	cmp "$scratch/own.data" "$data" || fail "the page has taken the recording's place"
done
echo kept >"$scratch/kept.html"
status 2 "$decode" --html README.md -o "$scratch/kept.html"
status 2 "$decode" --html --type nosuch "$data" -o "$scratch/kept.html"
[ "$(cat "$scratch/kept.html")" = kept ] || fail "a page that could not be made has taken the place of another"
ln -s kept.html "$scratch/link.html"
status 0 "$decode" --html "$data" -o "$scratch/link.html"
[ -L "$scratch/link.html" ] || fail "the page has taken a link's place"
cmp "$scratch/kept.html" "$scratch/le.html" || fail "another page behind a link"
status 0 "$decode" --html "$data" -o -
cmp "$scratch/out" "$scratch/le.html" || fail "another page on standard output"
status 2 "$decode" --html "$data" -o "$scratch/none/page.html"
status 2 "$decode" --html --check "$data"
says err "cannot be combined with --check"
[ -z "$(find "$scratch" -name '*.html.*')" ] || fail "a file is left behind"
# count PATTERN WANTED : lines of the page
count() { [ "$(grep -c "$1" "$scratch/out")" = "$2" ] || fail "$(grep -c "$1" "$scratch/out") lines, not $2: $1"; }
status 0 "$decode" --html "$data"
count '<section class=record><h2>SAMPLE' 7
length=$("$decode" "$data" | jq -rn 'first(inputs | select(.type == "SAMPLE")).size | "\(. % 256) \(. / 256 | floor)"')
length=$(printf '%02x %02x' ${length% *} ${length#* })
# The first record's bytes, and its line, where the script finds whose they are.
says out '<i>0000</i>  09 00 00 00 01 40 '"$length"' 01 00 00 00 00 00 00 00  '
says out '&quot;ip&quot;:&quot;0xffffffff81000000&quot;'
says out '&quot;ip&quot;:[16,8]'
says out '&quot;period&quot;:10000000000000000000'
# The page ends where it is to, and says so; --type and --fields pick as ever.
status 0 "$decode" --html --limit 3 "$data"
count '<section class=record>' 3
says out 'the page ends after 3 lines'
status 0 "$decode" --html --limit 7 --no-summary "$data"
if grep -q 'There is more' "$scratch/out"; then fail "there is no more"; fi
status 0 "$decode" --html --type lost fixtures/built/kernel-records.le.data
count '<section class=record>' 1
# 3,000 records: a thousand of them.
"$PYTHON" - "$scratch/many" <<'PY'
import struct, sys
open(sys.argv[1], "wb").write(b"".join(struct.pack("<IHHQQ", 2, 0, 24, i, 7) for i in range(3000)))
PY
echo '{"type": "software", "config": "dummy"}' >"$scratch/attr.json"
status 0 "$decode" --html --input records --attr "$scratch/attr.json" -L "$scratch/many"
count '<section class=record><h2>LOST' 1000
says out 'the page ends after 1000 lines'
says out '<h2>LOST <small>at 23976, 24 bytes</small>'
# A record of 60,000 bytes: the first of them.
"$PYTHON" - "$scratch/long" <<'PY'
import struct, sys
open(sys.argv[1], "wb").write(struct.pack("<IHH", 3, 0, 60000) + struct.pack("<II", 1, 2) + b"<b>&\"'" + bytes(60000 - 22))
PY
status 0 "$decode" --html --input records --attr "$scratch/attr.json" -L "$scratch/long" || :
says out 'The first 4096 bytes of 60000.'
count '^<i>\|<pre class=hex><i>' 256
says out '&lt;b&gt;&amp;'
if grep -q '<b>&' "$scratch/out"; then fail "a name is markup"; fi
# What has no bytes says why.
status 0 "$decode" --html fixtures/built/compressed.le.data
says out 'It stood compressed in the file.'
status 0 "$decode" --html --attr fixtures/built/ring-wrapped.le.attr.json fixtures/built/ring-wrapped.le.ring
says out 'The records of a ring have no place of their own in the file.'
status 0 sh -c "cat $data | $decode --html"
says out 'only a file has them'
status 1 "$decode" --html fixtures/built/damaged.le.data
says out '<section class="other error">'
status 2 "$decode" --limit 3 "$data"
says err "needs --html"
status 2 "$decode" -o "$scratch/x" "$data"
status 2 "$decode" --html --limit 0 "$data"
status 2 "$decode" --html -o "$scratch/no/page.html" "$data"
status 2 "$decode" --html "$scratch/nothing"
status 2 "$decode" --html "$scratch/attr.json"
status 3 "$decode" --html -o /dev/full "$data"

[ -n "$TEST_WHOLE" ] || exit 0
for tool in node npm; do
	command -v $tool >/dev/null || { echo "left out: there is no $tool"; exit 0; }
done
CHROMIUM=${CHROMIUM:-$(command -v chromium || :)}
[ -n "$CHROMIUM" ] || { echo "left out: there is no chromium"; exit 0; }
export CHROMIUM
mkdir "$scratch/node"
cp tests/page/*.mjs tests/page/*.json "$scratch/node"
(cd "$scratch/node" && npm ci --silent --no-audit --no-fund >npm.log 2>&1) || { echo "left out: npm ci: $(tail -1 "$scratch/node/npm.log")"; exit 0; }
for order in le be; do
	status 0 "$decode" --html -o "$scratch/page.html" fixtures/built/samples.$order.data
	status 0 "$decode" --bytes fixtures/built/samples.$order.data
	node "$scratch/node/record.mjs" "$scratch/page.html" fixtures/built/samples.$order.data "$scratch/out" || fail "the page of samples.$order.data"
done
