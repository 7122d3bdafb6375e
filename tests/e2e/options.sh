# SPDX-License-Identifier: MIT
# The command line as people use it, wrongly too.
. tests/e2e/lib.sh
status 2 "$perfabi"
status 2 "$perfabi" rnu
says err 'nearest:  "run"'
status 0 "$perfabi" --version
status 0 "$perfabi" --help
says out "Exit status: 0 nothing failed"
for topic in $("$perfabi" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p') tokens phases given variables; do
	status 0 "$perfabi" help "$topic"
	[ "$(wc -l <"$scratch/out")" -ge 5 ] || fail "help $topic is short"
done
for option in -h --help; do
	status 0 "$perfabi" help $option
	says out "usage: perfabi help"
	status 0 tests/run-all $option
	says out "usage: tests/run-all"
done
status 2 "$perfabi" help nothing
if opens_events; then
	(ulimit -n 20 && status 3 "$perfabi" why page-faults)
	says err "looking at the machine needs 64"
fi
status 2 "$perfabi" run --no-such-option
says err "perfabi run --help"
status 2 "$perfabi" run opne.size
says err 'nearest:  "open.size"'
status 2 "$perfabi" run --jobs 0
says err "a number from 1 to 1024"
status 2 "$perfabi" run --jobs many
status 2 "$perfabi" run --timeout -1
status 2 "$perfabi" run --repeat 0
status 2 "$perfabi" run --shuffle x
status 2 "$perfabi" run --filter phases=copy
says err "KEY=GLOB"
status 2 "$perfabi" run --format jnuit
says err "pretty, ktap, tap, junit, json, jsonl"
status 2 "$perfabi" run --format tap --format json
says err "one format alone on standard output"
status 2 "$perfabi" run --cases /nonexistent
says err "/nonexistent"
status 2 "$perfabi" run /nonexistent/file.json
status 2 "$perfabi" run --format json:/nonexistent/report open.flags.none
says err "cannot write /nonexistent/report"
status 2 "$perfabi" run --baseline /nonexistent
says err "for --baseline"
mkdir "$scratch/empty"
status 2 "$perfabi" run "$scratch/empty"
says err "these files hold no case"
# nor does the name of a built-in case pick one beside files, whatever their cases may require
status 2 "$perfabi" list --filter as=user cases/open/flags.json machine.quiet
says err 'none of the cases in the files given has the id "machine.quiet"'
says err "files take the place of the built-in cases"
# of a file with ten thousand errors it says a hundred
"$PYTHON" - >"$scratch/wrong.json" <<'PY'
import json
print(json.dumps({"suite": "wrong", "about": "x", "spec": {"kernel": "f"},
                  "cases": [{"name": f"n{n}", "title": "t", "open": {"attr": {"tipe": 1}}, "expect": {"ok": True}} for n in range(10000)]}))
PY
status 2 "$perfabi" check "$scratch/wrong.json"
[ "$(grep -c '^  expected:' "$scratch/err")" -eq 100 ] || fail "errors of one file"
says err "wrong.json: more than 100 cases are wrong; the rest was not checked"
status 2 "$perfabi" check cases/open/flags.json cases/open
says err "each file once; cases/open/flags.json has it"
for option in --type --fields --machine; do
	status 2 "$decode" $option nothing.so fixtures/built/samples.le.data
	says err "perfabi-decode: $option: expected a "
	if grep samples.le.data "$scratch/err"; then fail "the file is blamed for $option"; fi
done
status 2 "$decode" --cases /nonexistent fixtures/built/samples.le.data
says err "/nonexistent: expected a readable file or folder"
# What is known: of a file, of nothing, of the folder of the cases, of the built-in list; by --strict it counts all the same.
mkdir "$scratch/known"
cat >"$scratch/known/bad.json" <<'JSON'
{"suite": "bad", "about": "a case that fails", "spec": {"kernel": "none"},
 "cases": [{"name": "wrong", "title": "dummy events are refused", "as": "user", "open": {"attr": {"type": "software", "config": "dummy", "exclude_kernel": 1}},
            "expect": {"errno": "EINVAL", "phase": "pmu"}}]}
JSON
entry() { # CONDITION
	printf '{"deviations": [{"id": "bad.wrong", "when": {%s}, "function": "f", "why": "opens it", "seen": ["6.1"], "fixed": "99.1"}]}\n' "$1"
}
with() { # EXIT-STATUS BASELINE OPTION...
	exit_status=$1 baseline=$scratch/$2
	shift 2
	status "$exit_status" "$perfabi" run "$scratch/known/bad.json" --baseline "$baseline" "$@"
}
entry '"kernel": ">=2.6"' >"$scratch/broken-here"
entry '"kernel": "<6.2", "token": "lockdown.confidentiality"' >"$scratch/broken-elsewhere"
judges=
if opens_events; then judges=1; else echo "left out: verdicts, for perf_event_open opens nothing for a user here"; fi
if [ -n "$judges" ]; then
	with 0 broken-here
	says out " 1 xfail in "
	with 1 broken-here --strict
	says out " 1 xfail in "
	says out "This kernel breaks 1 promise:"
	with 1 broken-elsewhere
	says out " 1 fail,"
	status 1 "$perfabi" run "$scratch/known/bad.json" --baseline none
	says out " 1 fail,"
	status 1 "$perfabi" run "$scratch/known/bad.json"
	status 1 "$perfabi" run --cases "$scratch/known"
fi
cp "$scratch/broken-here" "$scratch/known/baseline.json"
if [ -n "$judges" ]; then
	status 0 "$perfabi" run --cases "$scratch/known"
	status 1 "$perfabi" run --cases "$scratch/known" --baseline none
fi
status 0 "$perfabi" check --cases "$scratch/known"
says out "1 case, all well formed"
cat >"$scratch/unused.json" <<'EOT'
{"suite": "unused", "about": "t", "spec": {"kernel": "perf_copy_attr"}, "cases": [
  {"name": "used", "title": "t", "as": "user", "requires": ["since.attr.sigtrap", "!pmu.none|cgroup.v2"], "open": {"attr": {"sigtrap": 1}}, "expect": {"ok": true}},
  {"name": "unused", "title": "t", "as": "user", "requires": ["since.attr.sigtrap", "breakpoint"], "open": {"attr": {"freq": 0}}, "expect": {"ok": true}}]}
EOT
status 2 "$perfabi" check "$scratch/unused.json"
says err "unused.json:3: /cases/1"
says err "no step of unused.unused uses this token"
sed 's/"since.attr.sigtrap", "breakpoint"/"!config.BPF", "config.BPF"/' "$scratch/unused.json" >"$scratch/never.json"
status 2 "$perfabi" check "$scratch/never.json"
says err "not a token and its opposite: unused.unused can run nowhere"

# What is said of a machine is about that machine: a name of what only some have needs a condition.
for change in '.checks.O136.because = "only x86 has 4"' '.checks.O136 |= (.if.token = "arch.s390" | .because = "only x86 has 4")'; do
	rm -rf "$scratch/named"
	cp -r cases "$scratch/named"
	jq "$change" cases/checks.json >"$scratch/named/checks.json"
	status 2 "$perfabi" check --cases "$scratch/named"
	says err "/checks/O136/because"
	says err "a condition that is about it"
	says err "got:      x86"
done
jq '.checks.O136 |= (.if.token = "arch.x86" | .because = "x86 has 4")' cases/checks.json >"$scratch/named/checks.json"
status 0 "$perfabi" check --cases "$scratch/named"
jq '.checks.O136.because = "my_x86 has x86_64"' cases/checks.json >"$scratch/named/checks.json"
status 0 "$perfabi" check --cases "$scratch/named"
# A mend that is misspelt holds nowhere, and would be learned of every kernel.
sed 's/mend.text-poke-privilege/mend.text-poke-privelege/' cases/model.json >"$scratch/named/model.json"
status 2 "$perfabi" check --cases "$scratch/named"
says err "/learned/kernel.text_poke_is_privileged"
sed -i 's/bad.wrong/bad.wrogn/' "$scratch/known/baseline.json"
for command in run check; do
	status 2 "$perfabi" $command --cases "$scratch/known"
	says err "$scratch/known/baseline.json:1: /deviations/0/id"
	says err 'nearest:  "bad.wrong"'
done
# The built-in list is known without being named, beside a built-in case that is a file too.
builtin() { # ID : whether the built-in baseline has it, by --baseline of the file and without
	"$perfabi" run "$1" -f json | jq -c '[.results[] | [.id, .outcome]]' >"$scratch/a"
	"$perfabi" run --baseline cases/baseline.json "$1" -f json | jq -c '[.results[] | [.id, .outcome]]' >"$scratch/b"
	cmp "$scratch/a" "$scratch/b" || fail "the built-in baseline is not cases/baseline.json"
}
builtin sample.user.stack-none-in-the-middle
if holds '.[0][1] == "xfail"' "$scratch/a"; then
	status 0 "$perfabi" run sample.user.stack-none-in-the-middle
	status 1 "$perfabi" run --strict sample.user.stack-none-in-the-middle
	status 1 "$perfabi" run --baseline none sample.user.stack-none-in-the-middle
	if grep -q "This kernel breaks" "$scratch/out"; then fail "--baseline none knows something"; fi
	status 0 "$perfabi" run cases/sample/user.json
	says out "perf_output_sample_ustack() writes dyn_size although the header's size does not include it"
fi
for command in run list check; do
	status 2 "$perfabi" $command open.size --filter kind=capability
	says err "no case fits"
done
status 2 "$perfabi" show
status 2 "$perfabi" show open.size.zero.usr
says err "nearest:"
status 2 "$perfabi" run =open.size.below-ver0
says err "without the =, it picks the cases whose ids begin so"
status 2 "$perfabi" show open.fd.no-such-thing-at-all
says err 'there is "open.fd"'
status 2 "$perfabi" run --no-such-option
says err "perfabi run: unrecognized option"
status 2 "$perfabi" run --host "$(printf 'a\377')" --list open.fd
says err "a name of 1 to 64 bytes of UTF-8"
status 0 "$perfabi" show open.size.zero.user
holds '.open.attr.size == 0 and .as == "user"' "$scratch/out" >/dev/null
status 0 "$perfabi" list open.flags
[ "$(cut -f1 "$scratch/out" | sort -u | wc -l)" = "$(wc -l <"$scratch/out")" ] || fail "ids are not unique"
if cut -f1 "$scratch/out" | grep -v '^[a-z0-9.-]*$'; then fail "an id that LAVA would not take"; fi
status 0 "$perfabi" list '*.zero.*' --filter as=user --filter 'suite!=attr.*'
says out "open.size.zero.user"
filters=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
	filters="$filters --filter as=user"
done
# shellcheck disable=SC2086 # words are meant to be split
status 0 "$perfabi" list $filters --filter 'suite=open.*'
says out "open.size.zero.user"
if grep -v "^open" "$scratch/out"; then fail "the last of many filters is lost"; fi
status 0 "$perfabi" list --json
holds 'length > 450' "$scratch/out" >/dev/null
# perfabi loads no other file beside the one that is asked for: no case can require one of another file.
holds '[.[] | .suite as $suite | .requires[]? | split("|")[] | select(startswith("case.")) | ltrimstr("case.") |
	select(startswith("machine.") or startswith("pmu.hardware.") or startswith($suite + ".") | not)] == []' "$scratch/out" ||
	fail "a case requires one of a file that is not loaded with it"
# a file given by its path, in place of the built-in cases
cp cases/open/flags.json "$scratch/mine.json"
status 0 "$perfabi" list "$scratch/mine.json"
[ "$(cut -d. -f1-2 "$scratch/out" | sort -u)" = open.flags ] || fail "a case file by its path"
# `show` takes a file and ids in it as `list` does, in each of its forms; --c and --strace take one case.
status 0 "$perfabi" show "$scratch/mine.json" open.flags.none.user
[ "$(jq -c .id "$scratch/out")" = '"open.flags.none.user"' ] || fail "show FILE ID shows other cases"
status 0 "$perfabi" show --c "$scratch/mine.json" open.flags.none.user
says out " * open.flags.none.user"
status 0 "$perfabi" show --strace "$scratch/mine.json" open.flags.none.user
says out " */"
for form in c strace; do
	for what in "$scratch/mine.json" open.size.below-ver0; do
		status 2 "$perfabi" show --$form "$what"
		says err " cases fit, and --$form "
		says err "expected: the id of one, such as open."
	done
done
cat >"$scratch/alike.json" <<'JSON'
{"suite": "alike", "about": "ids of which one begins as another", "spec": {"kernel": "none"}, "cases": [
 {"name": "one", "title": "one", "as": "user", "open": {"attr": {}}, "expect": {"ok": true}},
 {"name": "one.more", "title": "more", "as": "user", "open": {"attr": {}}, "expect": {"ok": true}}]}
JSON
status 0 "$perfabi" show "$scratch/alike.json" alike.one
[ "$(jq -c .id "$scratch/out")" = '"alike.one"' ] || fail "a whole id is that case alone"
status 0 "$perfabi" list --cases cases
cp "$scratch/out" "$scratch/from-folder"
status 0 "$perfabi" list
sort "$scratch/out" >"$scratch/a"; sort "$scratch/from-folder" >"$scratch/b"
cmp "$scratch/a" "$scratch/b" || fail "the built-in cases are not those of cases/"
# one order for a seed, another for another; where somebody changed a sysctl meanwhile a case's result comes later, and its begin does not
order() {
	"$perfabi" run -j1 open.flags --shuffle "$1" -f jsonl | jq -r 'select(.type == "begin" or .type == "result") | .id' | awk '!seen[$0]++'
}
order 1 >"$scratch/a"; order 1 >"$scratch/b"; order 2 >"$scratch/c"
cmp -s "$scratch/a" "$scratch/b" || fail "a seed does not decide the order"
if cmp -s "$scratch/a" "$scratch/c"; then fail "two seeds, one order"; fi
echo before >"$scratch/same"
status 2 "$perfabi" run open.size -f "tap:$scratch/same" -f "json:$scratch/same"
says err "give each format a file of its own"
[ "$(cat "$scratch/same")" = before ] || fail "a file that was refused is emptied"
# a full disk, a closed pipe
if [ -c /dev/full ]; then
	formats=$("$perfabi" run --format none-such 2>&1 | sed -n 's/^  expected: \(.*\), and :FILE if you like$/\1/p' | tr -d ,)
	[ -n "$formats" ] || fail "no formats are listed"
	for format in $formats; do
		status 3 sh -c '"$1" run open.flags.none --format "$2" >/dev/full' sh "$perfabi" $format
		says err "No space left on device"
		status 3 "$perfabi" run open.flags.none --format $format:/dev/full
		says err "No space left on device"
	done
	status 3 sh -c '"$1" list >/dev/full' sh "$perfabi"
fi
"$perfabi" list | head -n 1 >/dev/null
"$perfabi" run open.flags | head -n 1 >/dev/null
# everything skipped
status 4 "$perfabi" run open.permission.regs-intr-locked-down
# What was skipped stands below what a person would change, of several tokens the easiest.
cat >"$scratch/lacking.json" <<'JSON'
{"suite": "lacking", "about": "what no machine has", "spec": {"kernel": "none"},
 "defaults": {"as": "user"}, "cases": [
 {"name": "a", "title": "a", "requires": ["pmu.none_such"], "open": {"attr": {}}, "expect": {"ok": true}},
 {"name": "b", "title": "b", "requires": ["pmu.none_such|paranoid>1000"], "open": {"attr": {}}, "expect": {"ok": true}},
 {"name": "c", "title": "c", "requires": ["attr_size>=100000"], "open": {"attr": {}}, "expect": {"ok": true}},
 {"name": "d", "title": "d", "requires": ["!since.attr.exclude_kernel"], "open": {"attr": {}}, "expect": {"ok": true}}]}
JSON
status 4 "$perfabi" run "$scratch/lacking.json"
sed -n '/^skipped/,/^$/p' "$scratch/out" | sed -e '1d' -e '/^$/d' -e 's/  *[0-9]  .*//' >"$scratch/a"
cat >"$scratch/b" <<'EOT'
  mount or load what is missing, or set a sysctl or a limit:
    pmu.none_such|paranoid>1000
  run on another kernel, or another build of perfabi:
    attr_size>=100000
    !since.attr.exclude_kernel
  run on other hardware, or under another hypervisor:
    pmu.none_such
EOT
# Where sysfs shows no PMU there may be one to mount.
[ -z "$judges" ] || [ ! -e /sys/bus/event_source/devices/software ] || cmp "$scratch/a" "$scratch/b" || { cat "$scratch/out"; fail "what was skipped does not stand below what a person would change"; }
# two names of one file are one file
ln -s same.tap "$scratch/same.xml"
status 2 "$perfabi" run --format "tap:$scratch/same.tap" --format "junit:$scratch/same.xml" attr.bits
says err "is where another format is written already"
# check takes every path, and says what it cannot read
mkdir "$scratch/checked" "$scratch/checked/none" "$scratch/checked/loop"
ln -s x.json "$scratch/checked/loop/x.json"
top=$PWD
cd "$scratch/checked"
for what in nonexistent none none/ loop loop/; do
	status 2 "$perfabi" check "$what"
done
says err "Too many levels of symbolic links"
# one of many cases is found at once
"$PYTHON" - many.json <<'PY'
import json, sys
one = {"title": "t", "open": {"attr": {"type": "software", "config": "dummy"}}, "expect": {"ok": True}}
cases = [{"name": f"n{i}", "requires": ["case.many.last"], **one} for i in range(20000)] + [{"name": "last", **one}]
json.dump({"suite": "many", "about": "many", "spec": {"man": "none"}, "defaults": {"as": "user"}, "cases": cases},
          open(sys.argv[1], "w"))
PY
status 0 sh -c 'ulimit -t 60 && exec "$1" check many.json' sh "$perfabi"
# and so are many of them
seq -f '=many.n%.0f' 0 19999 >many.ids
status 0 sh -c 'ulimit -t 60 && exec "$1" run --list many.json $(cat many.ids)' sh "$perfabi"
sed 's/^=//' many.ids | cmp - "$scratch/out" || fail "20000 ids, and other cases"
# a link to a folder is that folder, wherever it stands, and a ring of them ends
mkdir -p real/open tree/below
cp "$top/cases/open/flags.json" real/open
status 0 "$perfabi" check real
cp "$scratch/out" "$scratch/a"
ln -s real link
ln -s ../real/open tree/open
ln -s ../../tree tree/below/ring
for what in link link/ tree; do
	status 0 "$perfabi" check "$what"
	cmp "$scratch/out" "$scratch/a" || fail "check $what does not see the cases behind a link"
done
# a folder below the root is as well formed as the root, and the file's name still counts
status 0 "$perfabi" check real/open/
cmp "$scratch/out" "$scratch/a" || fail "check real/open differs from check real"
mkdir -p else/open
cp real/open/flags.json else/open/other.json
status 2 "$perfabi" check else/open
says err '"other", as the file is called'
mkdir reopen
cp real/open/flags.json reopen
status 2 "$perfabi" check reopen
ln -s gone tree/dangling
status 2 "$perfabi" check tree
says err "tree/dangling"
# what would never end is not opened, and what cannot be looked into is not passed over
mkdir pipe devices locked locked/away
mkfifo pipe/x.json
ln -s /dev/zero devices/x.json
for what in pipe/x.json devices/x.json; do
	for argument in "$what" "${what%/*}"; do
		status 2 "$perfabi" check "$argument"
		says err "$what"
		says err "neither a file nor a folder"
	done
done
cp real/open/flags.json locked
cp "$perfabi" "$scratch/perfabi" # where another user may run it
chmod 0 locked/away
as_user=$([ "$(id -u)" -ne 0 ] || echo "setpriv --reuid 65534 --regid 65534 --clear-groups")
# shellcheck disable=SC2086 # words are meant to be split
status 2 $as_user "$scratch/perfabi" check locked
says err "locked/away"
says err "Permission denied"
chmod 755 locked/away
: >locked/away/x.json
chmod 4 locked/away
# shellcheck disable=SC2086 # words are meant to be split
status 2 $as_user "$scratch/perfabi" check locked
says err "Permission denied"
chmod 755 locked/away
status 2 "$perfabi" capture --attr - -o x.data -- true <<'EOF'
{"type": "software", "config": "cpu_clock", "sample_period": 100000, "sample_type": ["ip"], "write_backward": 1, "disabled": 1, "enable_on_exec": 1, "exclude_kernel": 1, "exclude_hv": 1}
EOF
says err "perfabi capture --raw"

# A report goes into no file that the run reads.
cp "$top"/cases/open/size.json "$scratch/own.json"
sed -i 's/"suite": "open.size"/"suite": "own"/' "$scratch/own.json"
cp "$scratch/own.json" "$scratch/own.before"
status 2 "$perfabi" run -f "json:$scratch/own.json" "$scratch/own.json"
says err "is a file that this run reads"
cp "$top"/cases/baseline.json "$scratch/known.json"
status 2 "$perfabi" run -f "json:$scratch/known.json" --baseline "$scratch/known.json" open.size
cmp "$scratch/own.json" "$scratch/own.before" && cmp "$scratch/known.json" "$top/cases/baseline.json" || fail "a file that the run reads was written"
cp "$scratch/broken-here" "$scratch/known/baseline.json"
status 2 "$perfabi" run -f "json:$scratch/known/baseline.json" --cases "$scratch/known"
says err "is a file that this run reads"
