# SPDX-License-Identifier: MIT
# The man pages and docs/errata.md are what `make reference` makes, mandoc has nothing against them, and each says what it is for.
. tests/e2e/lib.sh
plain() { sed "s/.$(printf '\b')//g"; } # without what prints over what is there
ci/reference "$B" "$scratch/made" || fail "ci/reference"
(cd "$scratch/made" && find . -type f | sort) >"$scratch/files"
diff "$scratch/files" - <<'END' || fail "other pages"
./docs/errata.md
./docs/man/man1/perfabi-decode.1
./docs/man/man1/perfabi.1
./docs/man/man3/libperfabi.3
./docs/man/man5/perfabi-cases.5
./docs/man/man5/perfabi-records.5
./docs/man/man7/perf_event_open-errata.7
END
while read -r file; do
	cmp "$scratch/made/$file" "$file" || fail "$file is out of date: make reference"
done <"$scratch/files"

# Whether the pages that it refers to are installed says nothing of a page.
for page in docs/man/man*/*; do
	mandoc -Tlint "$page" 2>&1 | grep -v -e 'referenced manual not found' -e 'outdated mandoc.db' -e 'unusual Xr' >"$scratch/lint" || true
	[ ! -s "$scratch/lint" ] || fail "$page: $(head -n 3 "$scratch/lint")"
done

# A sentence that a colon ends has no full stop; a value that an option takes stands as it is typed, not as a sentence begins.
for page in docs/man/man*/*; do
	mandoc -Tascii "$page" | plain >"$scratch/page"
	if grep ':\.\( \|$\)' "$scratch/page"; then fail "$page has \":.\""; fi
	if grep 'This help\.$' "$scratch/page"; then fail "$page is no help"; fi
done
for program in perfabi perfabi-decode; do
	mandoc -Tascii "docs/man/man1/$program.1" | plain >"$scratch/page"
	for command in $([ $program = perfabi-decode ] || "$perfabi" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p') ''; do
		# shellcheck disable=SC2086 # no command is no argument
		"$PWD/$B/$program" $command --help | awk -f completions/options.awk
	done | awk -F '\t' '$1 == "option" && $4 != "" && $4 !~ /^@|=/ {split($4, value, " "); print toupper(substr(value[1], 1, 1)) substr(value[1], 2)}' |
		sort -u >"$scratch/values"
	while read -r value; do
		if grep "^ \{13\}$value\(,\| (\| or \)" "$scratch/page"; then fail "$program(1) says $value where that is no value"; fi
	done <"$scratch/values"
	[ $program = perfabi-decode ] || [ "$(wc -l <"$scratch/values")" -ge 4 ] || fail "values of options: $(cat "$scratch/values")"
done
mandoc -Tascii docs/man/man1/perfabi.1 | plain | grep -q '=pmu\.type\.unknown' || fail "perfabi(1) has no =ID"

# Nothing is left out: commands, options, verbs, records, fields of attr, functions. A list that is empty is no list.
names() {
	cat >"$scratch/names" && [ -s "$scratch/names" ] || fail "no names to look for in $1"
	cat "$scratch/names"
}
page() { mandoc -Tascii "docs/man/$1" | plain; }
page man1/perfabi.1 >"$scratch/page"
for command in $("$perfabi" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | names "perfabi(1)"); do
	[ "$command" = help ] || grep -q "^   perfabi $command$" "$scratch/page" || fail "perfabi(1) has no $command"
	for option in $("$perfabi" "$command" --help | grep -o '^ *\(-[a-z], \)\?--[a-z-]*' | grep -o -- '--[a-z-]*'); do
		grep -q -- "$option" "$scratch/page" || fail "perfabi(1) has no $option of $command"
	done
done
page man1/perfabi-decode.1 >"$scratch/page"
for option in $("$decode" --help | grep -o '^  *\(-[a-zA-Z], \)\?--[a-z-]*' | grep -o -- '--[a-z-]*' | names "perfabi-decode(1)"); do
	grep -q -- "^     .*$option" "$scratch/page" || fail "perfabi-decode(1) has no $option"
done
page man5/perfabi-cases.5 >"$scratch/page"
for verb in $(jq -r '.oneOf[].required[0]' cases/schema/step.schema.json | sort -u | names "perfabi-cases(5)"); do
	[ "$verb" = workload ] || grep -q "^     $verb\( \|$\)" "$scratch/page" || fail "perfabi-cases(5) has no $verb"
done
page man5/perfabi-records.5 >"$scratch/page"
for record in $(jq -r '.constants | (.record // .tool_record).values[].name | ascii_upcase' cases/abi/records.json cases/abi/perf.json | names "perfabi-records(5)"); do
	grep -q "^     PERF_RECORD_$record (" "$scratch/page" || fail "perfabi-records(5) has no $record"
done
for field in $(jq -r '.attr.fields[].name' cases/abi/attr.json | names "struct perf_event_attr"); do
	grep -q "^ *$field  *[0-9]" "$scratch/page" || fail "perfabi-records(5) has no $field"
done
page man3/libperfabi.3 >"$scratch/page"
for function in $(sed -n 's/^\t\([a-z_]*\);$/\1/p' decoder/libperfabi.map | names "libperfabi(3)"); do
	grep -q "^     $function()$" "$scratch/page" || fail "libperfabi(3) has no $function"
done

# What cases/manpage.json names are cases.
"$perfabi" list --json >"$scratch/cases.json" || fail "perfabi list"
"$PYTHON" - "$scratch/cases.json" <<'END' || fail "cases/manpage.json"
import fnmatch, json, sys
ids = [case['id'] for case in json.load(open(sys.argv[1]))]
missing = [one for entry in json.load(open('cases/manpage.json'))['entries'] for one in entry['shown_by'] if not fnmatch.filter(ids, one)]
print('\n'.join(missing), end='')
assert len(ids) > 4000 and not missing
END

# A title stands alone: it goes on from no other, and is one clause of a line. Those of the capabilities below probe are names.
"$PYTHON" - "$scratch/cases.json" <<'END' || fail "titles of cases"
import json, re, sys
titles = {case['title'] for case in json.load(open(sys.argv[1])) if not case['suite'].startswith('probe.')}
wrong = sorted(one for one in titles if len(one) > 92 or one.endswith('.') or re.match('(and|but|nor|so|it|its|they|them|these|those|both|one that|none) ', one))
print('\n'.join(wrong), end='')
assert len(titles) > 900 and not wrong
END

# Every note of the cases is among the errata.
"$PYTHON" - <<'END' || fail "docs/errata.md"
import glob, json, re
page = re.sub(r'[`\\]', '', open('docs/errata.md').read())
missing = [f'{name}: {note}' for name in glob.glob('cases/*/*.json') if not name.startswith(('cases/abi/', 'cases/schema/'))
           for one in [json.load(open(name))] for spec in [one['spec'], *(case.get('spec', {}) for case in one['cases'])] if 'note' in spec
           for note in [re.sub(r'[`\\]', '', spec['note'])]
           for part in re.split(r'; |\. (?=[A-Z])', note) if re.sub('^the man page(: | )', '', part).rstrip('.') not in page]
print('\n'.join(missing[:5]), end='')
assert not missing
END
