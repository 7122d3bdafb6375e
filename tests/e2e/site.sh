# SPDX-License-Identifier: MIT
# `make site`: the documentation as HTML. Every link leads somewhere.
# more with test-all: a browser searches it from file://
. tests/e2e/lib.sh
for tool in cmark-gfm mandoc; do
	command -v "$tool" >/dev/null || { echo "left out: there is no $tool"; exit 0; }
done
status 0 "$PYTHON" ci/matrix mails --to "$scratch/mails"
ci/site "$scratch/site" "$scratch/mails" || fail "ci/site"
ci/site "$scratch/again" "$scratch/mails" || fail "ci/site, again"
diff -r "$scratch/site" "$scratch/again" || fail "the same sources give other pages"

# What links lead to is there, and so is the place in it; nothing leads out but https.
"$PYTHON" - "$scratch/site" <<'END' || fail "links"
import glob, html, os, re, sys
top = sys.argv[1]
pages = glob.glob(f'{top}/*.html') + glob.glob(f'{top}/man/*.html')
ids = {page: set(re.findall(r' id="([^"]*)"', open(page).read())) for page in pages}
wrong, links = [], 0
for page in pages:
    for href in re.findall(r'(?:href|src)="([^"]*)"', open(page).read()):
        links += 1
        href = html.unescape(href)
        if re.match('https?://|mailto:', href):
            continue
        path, _, anchor = href.partition('#')
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.isfile(target) or (anchor and target in ids and anchor not in ids[target]):
            wrong.append(f'{os.path.relpath(page, top)}: {href}')
found = set(re.findall(r'"href":"([^"]*)"', open(f'{top}/index.js').read()))
wrong += [f'index.js: {one}' for one in found if not os.path.isfile(f'{top}/{one.partition("#")[0]}')
          or ('#' in one and one.partition('#')[2] not in ids[f'{top}/{one.partition("#")[0]}'])]
print('\n'.join(wrong[:20]))
assert not wrong and links > 1000 and len(pages) == len(glob.glob('docs/*.md')) + len(glob.glob('docs/man/man*/*')) + 6, (len(pages), links)
END

# A folder with other things stays as it is; a page that no group has, and a link to nothing, are told.
mkdir "$scratch/theirs" && echo theirs >"$scratch/theirs/file"
status 1 ci/site "$scratch/theirs"
says err "has other files"
[ "$(ls "$scratch/theirs")" = file ] || fail "what was in the folder"
mkdir "$scratch/tree"
for each in .ci *; do
	case $each in build | node_modules) ;; *) cp -r "$each" "$scratch/tree" ;; esac
done
echo '# More' >"$scratch/tree/docs/more.md"
status 1 "$scratch/tree/ci/site" "$scratch/other"
says err "no group for docs/more.md"
rm "$scratch/tree/docs/more.md"
echo '[nowhere](nothing.md)' >>"$scratch/tree/docs/why.md"
status 1 "$scratch/tree/ci/site" "$scratch/other"
says err "docs/why.md links to nothing.md, which is not there"
sed -i '$s/.*/[nowhere](running.md#nothing)/' "$scratch/tree/docs/why.md"
status 1 "$scratch/tree/ci/site" "$scratch/other"
says err "docs/why.md links to running.md#nothing, and there is no such heading"

[ -n "$TEST_WHOLE" ] || exit 0
for tool in node npm; do
	command -v "$tool" >/dev/null || { echo "left out: there is no $tool for the browser"; exit 0; }
done
CHROMIUM=${CHROMIUM:-$(command -v chromium || :)}
[ -n "$CHROMIUM" ] || { echo "left out: there is no chromium"; exit 0; }
export CHROMIUM
mkdir "$scratch/node" "$scratch/shots"
cp tests/page/*.mjs tests/page/*.json "$scratch/node"
(cd "$scratch/node" && npm ci --silent --no-audit --no-fund >npm.log 2>&1) || { echo "left out: npm ci: $(tail -1 "$scratch/node/npm.log")"; exit 0; }
node "$scratch/node/site.mjs" "$scratch/site" "$scratch/shots" || fail "the site in a browser"
if [ -n "${SHOTS-}" ]; then cp "$scratch"/shots/* "$SHOTS"; fi
