# SPDX-License-Identifier: MIT
# What bash, zsh and fish offer behind `perfabi` and `perfabi-decode`: commands, options, values, ids and files.
. tests/e2e/lib.sh
unset MAKEFLAGS MAKELEVEL MFLAGS
made=$PWD/$B/completions
make -s B="$B" "$B/completions/perfabi.bash" "$B/completions/_perfabi" "$B/completions/perfabi.fish"
PATH=$PWD/$B:$PATH
mkdir -p "$scratch/files/folder"
touch "$scratch/files/a.json" "$scratch/files/b c.data"
one_case=$("$perfabi" list open.size | tail -n 1 | cut -f 1)
# An id that the first letters of its last word tell, and these.
part=$("$perfabi" list --filter 'as=root' attr | cut -f 1 | awk '{part = substr($1, 1, length($1) - 1); count[part]++} END {for (part in count) if (count[part] == 1) print part}' |
	sort | while read -r id; do [ "$("$perfabi" list "$id*" | wc -l)" != 1 ] || { echo "$id" && break; }; done)
whole=$("$perfabi" list "$part*" | cut -f 1)
commands=$("$perfabi" --help | awk '/^commands:/ {on = 1; next} on && /^  [a-z]/ {print $1} /^$/ {if (on && seen++) on = 0}' | sort)
[ "$(echo "$commands" | wc -l)" -ge 13 ] || fail "commands of --help: $commands"

# Every option of every command's --help is read, by another way than options.awk's.
for command in $commands; do
	"$perfabi" "$command" --help | sed -n 's/^ \{2,6\}\(-.*\)/\1/p' | grep -o -- '^-[^ ]*\(, --*[^ ]*\)*' | tr -d ',' | tr ' ' '\n' | sort >"$scratch/wanted"
	"$perfabi" "$command" --help | awk -f completions/options.awk | sed -n 's/^option\t\([^\t]*\).*/\1/p' | tr , '\n' | sort >"$scratch/got"
	diff "$scratch/wanted" "$scratch/got" || fail "options of $command"
done

# The questions: a line, and behind it what is offered, sorted; a tab between. The empty answer is none.
tab=$(printf '\t')
cat >"$scratch/questions" <<END
perfabi ru${tab}run
perfabi h${tab}help hunt
perfabi run --form${tab}--format
perfabi run --no${tab}--no-host
perfabi run --format j${tab}json jsonl junit
perfabi probe -f ${tab}json jsonl text
perfabi run --color a${tab}always auto
perfabi why --as ro${tab}root
perfabi predict --as u${tab}user
perfabi hunt --as root,pe${tab}root,perfmon
perfabi list --filter su${tab}suite=
perfabi mutate --filter er${tab}errno=
perfabi run open.si${tab}open.size.
perfabi run open.si zzz${tab}
perfabi show $one_case${tab}$one_case
perfabi run $part${tab}$whole
perfabi probe us${tab}user-reads
perfabi help st${tab}step-schema steps
perfabi help di${tab}diff
perfabi run --rerun a${tab}a.json
perfabi run --cases fo${tab}folder/
perfabi diff a${tab}a.json
perfabi report a${tab}a.json
perfabi run --cases folder open.si${tab}
perfabi run --timeout ${tab}
perfabi-decode --inp${tab}--input
perfabi-decode --input r${tab}records ring
perfabi-decode --cases fo${tab}folder/
perfabi-decode a${tab}a.json
END
echo "$commands" | grep -qx help || fail "no command help"

# ask SHELL : its answers, and the questions themselves for bash, zsh and fish alone.
answers() {
	while IFS= read -r line; do
		question=${line%%"$tab"*}
		printf '%s\t%s\n' "$question" "$("$1" "$question" | sort | tr '\n' ' ' | sed 's/ *$//')"
	done <"$scratch/questions" >"$scratch/answers"
	diff "$scratch/questions" "$scratch/answers" || fail "what $1 offers"
}

if command -v bash >/dev/null; then
	bash -n "$made/perfabi.bash" || fail "bash -n"
	# Words as bash makes them of the line: = and : are words of their own.
	cat >"$scratch/ask.bash" <<'END'
cd "$2/files" || exit
source "$1"
compopt() { :; } # there is no line that is edited
mapfile -t COMP_WORDS < <(grep -o '[=:]\|[^ =:]\+' <<<"$3")
[[ $3 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
word=${COMP_WORDS[COMP_CWORD]}
_perfabi "${COMP_WORDS[0]}" "$word" "${COMP_WORDS[COMP_CWORD - 1]}"
for reply in "${COMPREPLY[@]}"; do
	[[ ! -d $reply ]] || reply+=/
	printf '%s\n' "$reply"
done
END
	in_bash() { bash "$scratch/ask.bash" "$made/perfabi.bash" "$scratch" "$1"; }
	answers in_bash
	[ "$(in_bash 'perfabi run --format=jso' | tr '\n' ' ')" = "json jsonl " ] || fail "bash, a value behind ="
	[ "$(in_bash 'perfabi run --format=' | grep -cxE 'pretty|ktap|tap|junit|json|jsonl')" = 6 ] || fail "bash, all values behind ="
	[ "$(in_bash 'perfabi run --format json:a')" = a.json ] || fail "bash, the file of a format"
	[ "$(in_bash 'perfabi run --format=json:a')" = a.json ] || fail "bash, the file of a format behind ="
	in_bash 'perfabi capture --attr a.json -- sle' | grep -qx sleep || fail "bash, a program behind --"
	[ "$(in_bash 'perfabi ' | grep -v ^- | sort)" = "$commands" ] || fail "bash, the commands"
	[ "$(in_bash "$perfabi ru")" = run ] || fail "bash, another path of perfabi"
	# And in a shell that somebody types at.
	cat >"$scratch/type.py" <<'END'
import os, pty, select, sys, time
made, line = sys.argv[1:]
pid, terminal = pty.fork()
if not pid:
    os.environ.update(PS1="$ ", TERM="dumb", INPUTRC="/dev/null")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
def read(seconds):
    got, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and MARK not in got:
        if select.select([terminal], [], [], 0.1)[0]:
            got += os.read(terminal, 4096)
    return got
MARK = b"ready.."
os.write(terminal, f"source '{made}'; echo rea''dy..\n".encode())
read(600)
MARK = b"open.size."
os.write(terminal, line.encode())
print(read(600).decode(errors="replace"))
os.kill(pid, 9)
END
	"$PYTHON" "$scratch/type.py" "$made/perfabi.bash" "perfabi ru${tab}open.si${tab}" | tr -d '\r\007' | grep -q 'perfabi run open\.size\.' ||
		fail "bash, typed at"
else
	echo "left out: there is no bash"
fi

if command -v fish >/dev/null; then
	fish -n "$made/perfabi.fish" || fail "fish -n"
	in_fish() { HOME=$scratch fish --no-config -c "cd $scratch/files; source $made/perfabi.fish; complete -C '$1'" | cut -f 1; }
	answers in_fish
	[ "$(in_fish 'perfabi run --format=jso' | tr '\n' ' ')" = "--format=json --format=jsonl " ] || fail "fish, a value behind ="
	[ "$(in_fish 'perfabi run --format json:a')" = json:a.json ] || fail "fish, the file of a format"
	in_fish 'perfabi capture --attr a.json -- sle' | grep -qx sleep || fail "fish, a program behind --"
	[ "$(in_fish 'perfabi ' | grep -v ^- | sort)" = "$commands" ] || fail "fish, the commands"
else
	echo "left out: there is no fish"
fi

if command -v zsh >/dev/null; then
	zsh -n "$made/_perfabi" || fail "zsh -n"
	# Each line as it stands after a tab, where one answer alone is offered. zsh puts the = of an option and the comma of a list, too.
	cat >"$scratch/type.zsh.py" <<'END'
import os, pty, re, select, sys, time
made, files, questions = sys.argv[1:]
pid, terminal = pty.fork()
if not pid:
    os.environ.update(TERM="dumb", HOME=files)
    os.chdir(files)
    os.execvp("zsh", ["zsh", "-f", "-i"])
def read(until):
    got, end = "", time.monotonic() + 600
    while time.monotonic() < end and not re.search(until, got, re.S):
        if select.select([terminal], [], [], 0.1)[0]:
            got += os.read(terminal, 4096).decode(errors="replace").replace("\r\n", "")
    return got
def write(text):
    os.write(terminal, text.encode())
write(f"""PS1=; unsetopt prompt_sp zle_bracketed_paste; fpath=('{made}' $fpath); autoload -Uz compinit; compinit -u -D
tell() {{ print -r -- "LINE<$BUFFER>"; BUFFER=; }}; zle -N tell; bindkey '^X' tell; print rea''dy..
""")
read(r"ready\.\.")
for question in open(questions):
    line, answer = question.rstrip("\n").split("\t")
    if len(answer.split()) != 1 or line.endswith("/"):
        continue
    write(line + "\t\x18")
    found = re.findall(r"LINE<([^<>]*)>", read(r"LINE<[^<>]*>"))
    wanted = line[:len(line) - len(re.split(r"[ ]", line)[-1])] + answer
    if not found or found[-1].rstrip(" =,") != wanted.rstrip("="):
        sys.exit(f"zsh: {line!r}: {found}, not {wanted!r}")
    print(line)
os.kill(pid, 9)
END
	cat >>"$scratch/questions" <<END
perfabi run --format=jso${tab}--format=json
perfabi run --format json:a${tab}json:a.json
perfabi run --update-baseline=fo${tab}--update-baseline=folder/
END
	"$PYTHON" "$scratch/type.zsh.py" "$made" "$scratch/files" "$scratch/questions" >"$scratch/out" || { cat "$scratch/out"; fail "zsh"; }
	[ "$(wc -l <"$scratch/out")" -ge 20 ] || fail "zsh: $(wc -l <"$scratch/out") questions"
else
	echo "left out: there is no zsh"
fi
