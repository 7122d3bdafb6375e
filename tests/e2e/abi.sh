# SPDX-License-Identifier: MIT
# cases/abi: what is missing in it is said; and against this machine's <linux/perf_event.h>, no value may
# differ, and what the header has beyond cases/abi is said.
. tests/e2e/lib.sh
# What the programs ask for by name is there, or they say what is not.
cp -r cases "$scratch/cases"
for name in type open_flags ioctl record misc cpumode tool_record feature sample_id sample read_format mmap_page; do
	"$PYTHON" - cases "$scratch/cases" "$name" <<'PY'
import json, pathlib, sys
whole, without, name = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
for path in whole.glob("abi/*.json"):
    table = json.loads(path.read_text())
    gone = [table[part].pop(name) for part in ("constants", "layouts") if name in table.get(part, {})]
    (without / "abi" / path.name).write_text(json.dumps(table) if gone else path.read_text())
PY
	status 2 "$perfabi" list --cases "$scratch/cases"
	status 2 "$decode" --cases "$scratch/cases" fixtures/built/ids.le.data
done
says err "expected a layout called \"mmap_page\" in a file abi/*.json, got none"
# A type of a record is one record's, whoever writes it.
"$PYTHON" - cases "$scratch/cases" <<'PY'
import json, pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob("abi/*.json"):
    table = json.loads(path.read_text())
    for value in table.get("constants", {}).get("tool_record", {}).get("values", [])[:1]:
        value["value"] = 1
    (pathlib.Path(sys.argv[2]) / "abi" / path.name).write_text(json.dumps(table))
PY
status 2 "$decode" --cases "$scratch/cases" fixtures/built/ids.le.data
says err "expected a value that the record \"mmap\" does not have"

if ! echo '#include <linux/perf_event.h>' | "${CC:-cc}" -E - >/dev/null 2>&1; then
	echo "no <linux/perf_event.h> here; left out"
	exit 0
fi
"$PYTHON" tests/abi_header.py "${CC:-cc}" "$scratch"
