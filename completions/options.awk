# SPDX-License-Identifier: MIT
# Reads what a command prints with --help, and prints what it declares, a line each, between tabs:
#   option   -f,--format   FORMAT[:FILE]   its values, if it lists some   what it does
#   operand  PATH|ID-GLOB...
#   word     name          what it is       a command, or a topic of help
#   topic    name          one that the text lists behind "Topics:"
# The value @run is: those of the same option of perfabi run.
function finish(  list) {
	if (word != "")
		print "word\t" word
	word = ""
	if (flags == "")
		return
	list = argument == "" ? "" : values(text)
	print "option\t" flags "\t" argument "\t" list "\t" text
	flags = argument = text = ""
}
# "a (default), b or c: more words": a b c. One word alone is none of a list.
function values(said,  list, count, item) {
	if (said ~ /, as for run$/)
		return "@run"
	if (match(said, /KEY: [a-z ]+$/)) {
		list = substr(said, RSTART + 5)
		gsub(/ /, "= ", list)
		return list "="
	}
	sub(/^[a-z]+: /, "", said)
	while (match(said, /^(or )?[a-z][a-z.-]*/)) {
		item = substr(said, RSTART, RLENGTH)
		said = substr(said, RSTART + RLENGTH)
		count++
		sub(/^or /, "", item)
		list = list (list == "" ? "" : " ") item
		sub(/^ \(default[^)]*\)/, "", said)
		if (!sub(/^, /, "", said) && !sub(/^ or /, "or ", said))
			break
	}
	return count > 1 ? list : ""
}
function operands(usage) {
	sub(/^(usage:)? *[a-z-]+/, "", usage)
	sub(/^ [a-z]+( |$)/, " ", usage)
	gsub(/\[OPTIONS\]|--[a-z-]+ [A-Za-z.]+/, "", usage)
	gsub(/[][]/, "", usage)
	gsub(/^ +| +$/, "", usage)
	if (usage != "")
		print "operand\t" usage
}
function topics(said,  list, count, i) {
	sub(/.*Topics: /, "", said)
	sub(/[.].*/, "", said)
	count = split(said, list, /, */)
	for (i = 1; i <= count; i++)
		print "topic\t" list[i]
}
/^usage: / {
	operands($0)
	next
}
/^       perfabi/ && !body {
	operands($0)
	next
}
/^  (    )?-/ {
	finish()
	line = $0
	sub(/^ +/, "", line)
	while (match(line, /^-[A-Za-z-]+/)) {
		flags = flags (flags == "" ? "" : ",") substr(line, 1, RLENGTH)
		line = substr(line, RLENGTH + 1)
		if (!sub(/^, /, "", line))
			break
	}
	if (match(line, /^ [A-Z][^ ]*/)) {
		argument = substr(line, 2, RLENGTH - 1)
		line = substr(line, RLENGTH + 1)
	}
	sub(/^ +/, "", line)
	text = line
	next
}
/^          / && flags != "" {
	line = $0
	sub(/^ +/, "", line)
	text = text (text == "" ? "" : " ") line
	next
}
/^          / && word != "" {
	sub(/^ +/, "")
	word = word " " $0
	next
}
{
	finish()
	body = 1
	said = said " " $0
}
/^[a-z ]*commands:$/ {
	listing = 1
}
/^$/ {
	listing = listing && !words
}
/^  [a-z]/ && (listing || /^  [a-z-]+  +/) {
	words++
	line = substr($0, 3)
	match(line, / +/)
	word = substr(line, 1, RSTART - 1) "\t" substr(line, RSTART + RLENGTH)
}
END {
	finish()
	if (said ~ /Topics: /)
		topics(said)
}
