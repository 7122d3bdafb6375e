# SPDX-License-Identifier: MIT
# fish completion of perfabi and perfabi-decode. It asks the programs themselves: their --help has the commands and
# options, `perfabi list` the cases.

# What --help declares, as options.awk prints it: __perfabi_says PROGRAM [COMMAND]
function __perfabi_says
	command $argv --help 2>/dev/null | awk '
@options.awk@
	'
end

# The ids that begin with a word, up to their next dot: __perfabi_ids WORD PROGRAM [--cases DIR]
function __perfabi_ids
	set -lx WORD $argv[1]
	command $argv[2] list $argv[3..] 2>/dev/null | awk -F '\t' '
		index($1, ENVIRON["WORD"]) == 1 {
			begin = length(ENVIRON["WORD"])
			dot = index(substr($1, begin + 1), ".")
			id = dot ? substr($1, 1, begin + dot) : $1
			if (!seen[id]++)
				print id (dot ? "" : "\t" $2)
		}'
end

# The value of an option: __perfabi_value ARGUMENT VALUES WORD BEFORE, with BEFORE in front of each.
function __perfabi_value
	set -l before $argv[4]
	set -l word $argv[3]
	set -l offered (string split -n ' ' -- $argv[2])
	switch $argv[1]
		case '*DIR'
			set offered (__fish_complete_directories $word)
		case FILE '*.jsonl'
			set offered (__fish_complete_path $word)
		case '*:FILE*'
			if set -l parts (string split -m 1 : -- $word); and set -q parts[2]
				set offered $parts[1]:(__fish_complete_path $parts[2])
			end
		case LIST
			if set -l parts (string split -r -m 1 , -- $word); and set -q parts[2]
				set before $before$parts[1],
			end
	end
	for each in $offered
		echo $before$each
	end
end

function __perfabi_complete
	set -l tokens (commandline -opc)
	set -l word (commandline -ct)
	set -l program $tokens[1]
	set -l command
	if string match -qr '(^|/)perfabi$' -- $program
		if not set -q tokens[2]
			for line in (__perfabi_says $program)
				set -l member (string split \t -- $line)
				switch $member[1]
					case word
						echo $member[2]\t$member[3]
					case option
						for flag in (string split , -- $member[2])
							echo $flag\t$member[5]
						end
				end
			end
			return
		end
		set command $tokens[2]
	end
	if set -l end (contains -i -- -- $tokens)
		__fish_complete_subcommand --commandline $tokens[(math $end + 1)..] $word
		return
	end
	set -l folder
	for i in (seq (count $tokens))
		if contains -- $tokens[$i] -c --cases; and set -q tokens[(math $i + 1)]
			set folder --cases $tokens[(math $i + 1)]
		end
	end
	# Where an option's value stands: behind it, or in the same word behind =.
	set -l option $tokens[-1]
	set -l value $word
	set -l before
	if set -l parts (string match -r '^(--[a-z-]+)=(.*)' -- $word)
		set option $parts[2]
		set value $parts[3]
		set before $option=
	end
	set -l said (__perfabi_says $program $command)
	set -l operand
	set -l topics
	set -l options
	for line in $said
		set -l member (string split \t -- $line)
		switch $member[1]
			case option
				set -l flags (string split , -- $member[2])
				if test -n "$member[3]"; and contains -- $option $flags
					set -l values $member[4]
					if string match -q '@*' -- $values
						set values (__perfabi_says $program (string sub -s 2 -- $values) |
							awk -F '\t' -v flags=$member[2] '$2 == flags {print $4}')
					end
					__perfabi_value "$member[3]" "$values" "$value" "$before"
					return
				end
				for flag in $flags
					set -a options $flag\t$member[5]
				end
			case operand
				set -q operand[1]; or set operand $member[2]
			case topic word
				set -a topics $member[2]
		end
	end
	if string match -q -- '-*' $word
		string join \n -- $options
		return
	end
	switch "$operand"
		case '*ID-GLOB*'
			set -l ids (__perfabi_ids "$word" $program $folder)
			if set -q ids[1]
				string join \n -- $ids
			else
				__fish_complete_path $word
			end
		case '*TOPIC*'
			string join \n -- $topics
			if string match -q 'COMMAND*' -- $operand
				__perfabi_says $program | awk -F '\t' '$1 == "word" {print $2 FS $3}'
			end
		case '*FILE*' '*REPORT*' 'A B'
			__fish_complete_path $word
	end
end
complete -c perfabi -f -a '(__perfabi_complete)'
complete -c perfabi-decode -f -a '(__perfabi_complete)'
