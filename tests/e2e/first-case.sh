# SPDX-License-Identifier: MIT
# docs/first-case.md: the case is as it stands there, and perfabi says of it, and of what is broken in it, what the page says.
. tests/e2e/lib.sh
page=$PWD/docs/first-case.md
sed -n '/^    {$/,/^    }$/s/^    //p' "$page" >"$scratch/first.json"
[ "$(wc -l <"$scratch/first.json")" = 15 ] || fail "the case has $(wc -l <"$scratch/first.json") lines, not 15"
cd "$scratch"
# shown FIRST LAST : the lines of the page from one that begins so to one that begins so. A descriptor may be another.
shown() { sed -n "/^    $1/,/^    $2/s/^    //p" "$page" | sed 's/read([0-9]*,/read(N,/'; }
status 0 "$perfabi" check first.json
says out "1 case, all well formed"

sed 's/"pages": 5/"page": 5/' first.json >right.json && mv first.json kept.json && mv right.json first.json
status 2 "$perfabi" check first.json
cat out err >got
shown 'perfabi check: first' 'perfabi check: 1' | diff - got || fail "the page shows another message"
mv kept.json first.json

got=0
"$perfabi" run first.json >out || got=$?
[ "$got" != 4 ] || { echo "left out: the case does not run here"; exit 0; }
[ "$got" = 0 ] || { cat out && fail "exit status $got"; }
sed -i 's/"value": 5/"value": 6/' first.json
status 1 "$perfabi" run first.json
sed -n '/^FAIL/,/^  again/s/read([0-9]*,/read(N,/; /^FAIL/,/^  again/p' out >got
shown FAIL '  again' | diff - got || fail "the page shows another failure"
status 1 "$perfabi" mutate first.json
says out "FAIL first."
sed -i 's/"value": 6/"value": 5/' first.json
status 0 "$perfabi" mutate first.json
tail -n 1 out >got
grep -qF "$(tail -n 1 got)" "$page" || fail "the page has not: $(cat got)"
