# SPDX-License-Identifier: MIT
# test-all: it needs a build of its own, and a hundred runs
# A part of the lies that a kernel could tell, from a random one on: each is noticed, or has a reason. `make lies` tells all.
. tests/e2e/lib.sh
lies=$B/lies/perfabi
tests/lies/run "$lies" --part 25 >"$scratch/out" || { cat "$scratch/out"; fail "a lie that no case notices"; }
head -n 1 "$scratch/out"
grep '^all ' "$scratch/out"

# What no case notices is said where no reason stands, and that alone: of two lies, told to the cases of two suites.
echo '{"unnoticed": {}}' >"$scratch/none.json"
status 1 tests/lies/run "$lies" --case sample.id-all --case attr.fields --reasons "$scratch/none.json" "attr.config3.plus" "attr.sample_id_all.ignored"
says out "unnoticed: attr.config3.plus"
[ "$(grep -c '^unnoticed:' "$scratch/out")" -eq 1 ] || { cat "$scratch/out"; fail "more than one goes unnoticed"; }

# A reason is that of one site: a name that no lie has is refused, as is a glob.
echo '{"unnoticed": {"why": ["READ.value", "attr.*"]}}' >"$scratch/none.json"
status 1 tests/lies/run "$lies" --reasons "$scratch/none.json" "attr.config3.plus"
says err "no lie is about: attr.*"
