# SPDX-License-Identifier: MIT
# bash completion of perfabi and perfabi-decode. It asks the programs themselves: their --help has the commands and
# options, `perfabi list` the cases.

# _perfabi_says PROGRAM [COMMAND] : what --help declares, as options.awk prints it.
_perfabi_says()
{
	"${1/#\~/$HOME}" "${@:2}" --help 2>/dev/null | awk '
@options.awk@
	'
}

# _perfabi_ids PROGRAM WORD [--cases DIR] : the ids that begin with WORD, up to their next dot.
_perfabi_ids()
{
	"${1/#\~/$HOME}" list "${@:3}" 2>/dev/null | WORD=$2 awk '
		index($1, ENVIRON["WORD"]) == 1 {
			begin = length(ENVIRON["WORD"])
			dot = index(substr($1, begin + 1), ".")
			id = dot ? substr($1, 1, begin + dot) : $1
			if (!seen[id]++)
				print id
		}'
}

# _perfabi_offer WORDS WORD : those of the words that begin with WORD.
_perfabi_offer()
{
	local word
	while read -r word; do
		COMPREPLY+=("$word")
	done < <(compgen -W "$1" -- "$2")
}

_perfabi_files()
{
	local file
	compopt -o filenames 2>/dev/null
	while read -r file; do
		COMPREPLY+=("$file")
	done < <(compgen "$1" -- "$2")
}

# _perfabi_cases PROGRAM WORD [--cases DIR] : ids, and files as well.
_perfabi_cases()
{
	local id
	while read -r id; do
		COMPREPLY+=("$id")
		[[ $id != *. ]] || compopt -o nospace 2>/dev/null
	done < <(_perfabi_ids "$@")
	[[ ${#COMPREPLY[@]} -gt 0 ]] || _perfabi_files -f "$2"
}

# _perfabi_value ARGUMENT VALUES WORD : the value of an option whose --help calls it ARGUMENT.
_perfabi_value()
{
	local list=
	case $1 in
	LIST | *,...)
		[[ $3 != *,* ]] || list=${3%,*},
		_perfabi_offer "$2" "${3##*,}"
		COMPREPLY=("${COMPREPLY[@]/#/$list}")
		;;
	KEY=*)
		compopt -o nospace 2>/dev/null
		_perfabi_offer "$2" "$3"
		;;
	*DIR) _perfabi_files -d "$3" ;;
	FILE | *.jsonl) _perfabi_files -f "$3" ;;
	*) _perfabi_offer "$2" "$3" ;;
	esac
}

_perfabi()
{
	local program=$1 word=${COMP_WORDS[COMP_CWORD]} said line kind flags argument values _
	local command='' folder=() part=''
	local at=$((COMP_CWORD - 1)) i
	COMPREPLY=()
	if [[ ${program##*/} == perfabi ]]; then
		if ((COMP_CWORD == 1)); then
			said=$(_perfabi_says "$program")
			_perfabi_offer "$(awk -F '\t' '$1 == "word" {print $2} $1 == "option" {gsub(/,/, " ", $2); print $2}' <<<"$said")" "$word"
			return
		fi
		command=${COMP_WORDS[1]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			elif ((i + 1 == COMP_CWORD)); then
				_perfabi_files -c "$word"
			else
				_perfabi_files -f "$word"
			fi
			return
			;;
		-c | --cases)
			[[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
			folder=(--cases "${COMP_WORDS[i + 1]}")
			;;
		esac
	done
	# bash makes words of their own of = and :, so that --format=json:FILE is five.
	if [[ $word == [=:] ]]; then
		part=$word word=
	elif [[ ${COMP_WORDS[at]} == [=:] ]]; then
		part=${COMP_WORDS[at]}
		((at--))
	fi
	if [[ $part == : ]]; then
		((at--))
		[[ ${COMP_WORDS[at]} != = ]] || ((at--))
	fi
	said=$(_perfabi_says "$program" ${command:+"$command"})
	# Tabs side by side are one to read: another separator keeps a member that is empty.
	while IFS=$'\037' read -r kind flags argument values _; do
		[[ $kind == option && -n $argument && ,$flags, == *,${COMP_WORDS[at]},* ]] || continue
		if [[ $values == @* ]]; then
			values=$(_perfabi_says "$program" "${values#@}" | awk -F '\t' -v flags="$flags" '$2 == flags {print $4}')
		fi
		if [[ $part == : ]]; then
			[[ $argument != *FILE* ]] || _perfabi_files -f "$word"
		else
			_perfabi_value "$argument" "$values" "$word"
		fi
		return
	done < <(tr '\t' '\037' <<<"$said")
	if [[ $word == -* ]]; then
		_perfabi_offer "$(awk -F '\t' '$1 == "option" {gsub(/,/, " ", $2); print $2}' <<<"$said")" "$word"
		return
	fi
	line=$(awk -F '\t' '$1 == "operand" {print $2; exit}' <<<"$said")
	case $line in
	*ID-GLOB*) _perfabi_cases "$program" "$word" "${folder[@]}" ;;
	*TOPIC*)
		[[ $line != COMMAND* ]] || said+=$'\n'$(_perfabi_says "$program")
		_perfabi_offer "$(awk -F '\t' '$1 == "topic" || $1 == "word" {print $2}' <<<"$said")" "$word"
		;;
	*FILE* | *REPORT* | 'A B') _perfabi_files -f "$word" ;;
	esac
}
complete -F _perfabi perfabi perfabi-decode
