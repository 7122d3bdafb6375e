# SPDX-License-Identifier: MIT
# Every file says that it is under the MIT licence (a kernel module: the GPL), or REUSE.toml says under which; and REUSE.toml has no path too many.
. tests/e2e/lib.sh
cmp LICENSE LICENSES/MIT.txt || fail "LICENSES/MIT.txt is not LICENSE"
[ "$(find LICENSES -type f | sort | tr '\n' ' ')" = "LICENSES/Apache-2.0.txt LICENSES/GPL-2.0-only.txt LICENSES/MIT.txt " ] || fail "licences that no file has"
if [ -e .git ] && command -v git >/dev/null; then
	git ls-files >"$scratch/files"
elif [ -f MANIFEST ]; then
	cp MANIFEST "$scratch/files"
else
	echo "left out: neither .git nor MANIFEST tells which files belong to perfabi"
	exit 0
fi
"$PYTHON" -c 'import tomllib' 2>/dev/null || { echo "left out: this Python has no tomllib"; exit 0; }
cat >"$scratch/covered.py" <<'END'
"""Prints each file of a list without a licence, and each path of REUSE.toml that no file needs. usage: covered.py LIST"""
import re
import sys
import tomllib

TAG = "SPDX-License-Identifier" + ": "


def matcher(path):
    """A path of REUSE.toml: * is within a folder, ** any depth."""
    parts = re.split(r"(\*\*|\*)", path)
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts))


with open("REUSE.toml", "rb") as file:
    tables = tomllib.load(file)["annotations"]
covers = []
for table in tables:
    if not table.get("SPDX-FileCopyrightText"):
        print("REUSE.toml: a table without copyright")
    paths = table["path"] if isinstance(table["path"], list) else [table["path"]]
    covers += [(path, matcher(path), table.get("SPDX-License-Identifier")) for path in paths]
used = set()
for name in open(sys.argv[1]).read().splitlines():
    if name.startswith("LICENSES/"):
        continue
    with open(name, "rb") as file:
        head = file.read(4096).decode("utf-8", "replace")
    said = re.findall(re.escape(TAG) + r"([\w.+-]+)", head)
    of = [(path, licence) for path, pattern, licence in covers if pattern.fullmatch(name)]
    if any(licence != ("GPL-2.0-only" if name.startswith(("ci/pmu/", "ci/mutants/")) else "MIT") for licence in said):
        print(f"{name}: {said}")
    if not of:
        print(f"{name}: no copyright")
    used |= {path for path, _ in of}
    if not said and (not of or of[-1][1] not in ("MIT", "Apache-2.0")):
        print(f"{name}: no licence")
for path, _, _ in covers:
    if path not in used:
        print(f"REUSE.toml: no file is {path}")
END
"$PYTHON" "$scratch/covered.py" "$scratch/files" >"$scratch/found"
[ ! -s "$scratch/found" ] || { cat "$scratch/found"; fail "files without a licence"; }
# One that has none is found.
tail -n +3 src/main.c >"$scratch/bare.c"
echo "$scratch/bare.c" >"$scratch/bare"
"$PYTHON" "$scratch/covered.py" "$scratch/bare" | grep -q "bare.c: no licence" || fail "a file without a licence is not found"
# And what reuse(1) says, where it knows REUSE.toml: from version 4 on.
if command -v reuse >/dev/null && [ "$(reuse --version | sed -n 's/^reuse, version \([0-9]*\).*/\1/p')" -ge 4 ] 2>/dev/null; then
	reuse lint >"$scratch/out" || { cat "$scratch/out"; fail "reuse lint"; }
else
	echo "reuse(1) of version 4 is not there; it was not asked"
fi
