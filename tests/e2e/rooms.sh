# SPDX-License-Identifier: MIT
# The folders of decoder/ and src/ are as README.md says, and use each other in that order; each kind of violation is seen.
. tests/e2e/lib.sh
ci/rooms || fail "ci/rooms"
ci/size || fail "ci/size"
jq '.rooms.call.most -= 1' ci/size.json >"$scratch/less.json"
! ci/size "$scratch/less.json" >"$scratch/out" || fail "a room that has outgrown its line is not seen"
says out "call has 1 lines too many"
jq 'del(.rooms.call)' ci/size.json >"$scratch/less.json"
! ci/size "$scratch/less.json" >"$scratch/out" || fail "files in no room are not seen"
says out "each file belongs to one room"

# planted WANTED COMMAND : what ci/rooms says, in a copy of the tree, after the command: this line and no other.
planted() {
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree/ci"
	cp -r decoder src README.md "$scratch/tree"
	cp ci/rooms ci/rooms.known ci/same-names.json "$scratch/tree/ci"
	(cd "$scratch/tree" && eval "$2")
	got=0
	(cd "$scratch/tree" && ci/rooms) >"$scratch/out" || got=$?
	[ $got -eq 1 ] && [ "$(cat "$scratch/out")" = "$1" ] || { cat "$scratch/out"; fail "exit status $got, and not just: $1"; }
}
planted 'src/machine/planted.c: includes report/report.h, but machine stands before report' \
	'echo "#include \"report/report.h\"" >src/machine/planted.c'
planted 'decoder/abi/planted.h: includes report/report.h, but decoder/abi stands before src/report' \
	'echo " # include \"report/report.h\"" >decoder/abi/planted.h'
planted 'src/machine/planted.c: includes main.h, but machine stands before src' \
	'echo >src/main.h; echo "#include \"main.h\"" >src/machine/planted.c'
planted "src/machine/planted.c: includes clock.h, which is not a header's room and name below decoder/ or below src/" \
	'echo "#include \"clock.h\"" >src/machine/planted.c'
planted 'a circle: src/report/a includes src/report/b, src/report/b includes src/report/c, src/report/c includes src/report/a' '
	echo "#include \"report/b.h\"" >src/report/a.c
	echo "#include \"report/c.h\"" >src/report/b.h
	echo >src/report/a.h
	echo "#include \"report/a.h\"" >src/report/c.c
	echo >src/report/c.h'
planted 'planted_twice: a static function in decoder/text/planted.h, src/step/verbs/planted.c' '
	echo "static inline int planted_twice(int a)" >decoder/text/planted.h
	echo "static __attribute__((noinline)) const char *planted_twice(void)" >src/step/verbs/planted.c'
planted 'ci/same-names.json: planted stands in one file only, or in none' \
	'sed -i "s/\"reasons\": {/&\"planted\": \"why\",/" ci/same-names.json'
planted 'ci/same-names.json: planted_twice has no reason' '
	sed -i "s/\"reasons\": {/&\"planted_twice\": \"\",/" ci/same-names.json
	for room in run case; do echo "static int planted_twice(void)" >src/$room/planted.c; done'
planted 'src/step/planted/: has no line in README.md under "Where things are"' \
	'mkdir src/step/planted; echo >src/step/planted/a.c'
planted 'README.md: has a line of src/planted/, which is no folder with C files' \
	'sed -i "s|^    src/machine/ |    src/planted/ this is none\\n&|" README.md'
planted 'README.md: has no sentence about src/machine/' 'sed -i "s|^    src/machine/ .*|    src/machine/|" README.md'
planted 'README.md: has two lines of src/machine/' 'sed -i "s|^    src/machine/ .*|&\\n&|" README.md'
planted 'ci/rooms.known: is needed no longer: what is no more' 'echo "what is no more" >>ci/rooms.known'
