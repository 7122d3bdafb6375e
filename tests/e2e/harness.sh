# SPDX-License-Identifier: MIT
# The tests' own machinery: what fails, takes too long or has no place in tests/order.yml is seen, by its name.
. tests/e2e/lib.sh
export PYTHON
unset TEST_COUNTS # what fails here is not counted with what this is run beside
cat >"$scratch/fails.sh" <<'EOT'
sleep 36000 >/dev/null 2>&1 &
echo $! >"$0.left"
echo "why it did"
printf 'ok 1 - a part\nnot ok 2 - another\n1..2\n' >"$CK_TAP_LOG_FILE_NAME"
exit 3
EOT
echo 'sleep 0.1' >"$scratch/passes.sh"
cat >"$scratch/hangs.sh" <<EOT
trap '' TERM
"$PYTHON" -c 'import time; print("child", flush=True); time.sleep(3600)' "$scratch" &
wait
EOT
tap() { "$PYTHON" tests/tap "$@"; }

status 0 tap "$scratch/passes.sh"
says out "ok 1 - $scratch/passes.sh, "
says out "1..1"
status 0 tap "$scratch/fails.sh"
[ "$(sed 's/, [0-9.]* s/, S/' "$scratch/out")" = "# why it did
ok 1 - a part
not ok 2 - another
not ok 3 - $scratch/fails.sh, S: exit status 3
1..3" ] || { cat "$scratch/out"; fail "a test that fails"; }
says err "why it did"
says err "$scratch/fails.sh: exit status 3"
! kill -0 "$(cat "$scratch/fails.sh.left")" 2>/dev/null || fail "what a test that failed has left running goes on"
# Time that passes is no reason, nor is a clock of processor time that hardly moves. slow.sh and hangs.sh take their time, and run beside the rest.
echo 'for _ in 1 2 3 4 5 6 7 8; do sleep 0.9; i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; done' >"$scratch/slow.sh"
env TEST_IDLE=4 "$PYTHON" tests/tap "$scratch/slow.sh" >"$scratch/slow" 2>&1 &
slow=$!
env TEST_IDLE=5 TEST_GRACE=2 "$PYTHON" tests/tap "$scratch/hangs.sh" >"$scratch/hung" 2>&1 &
hangs=$!
echo 'while :; do :; done' >"$scratch/spins.sh"
status 0 env TEST_LIMIT=1 "$PYTHON" tests/tap "$scratch/spins.sh"
says err "$scratch/spins.sh: it hangs"
# What does not begin, or is left out, is named and not counted.
status 0 env TEST_UNTIL=1 TEST_COUNTS="$scratch/counts" "$PYTHON" tests/tap "$scratch/spins.sh"
says out "# SKIP no time was left"
echo 'echo "left out: this and that"' >"$scratch/less.sh"
status 0 env TEST_COUNTS="$scratch/counts" "$PYTHON" tests/tap "$scratch/less.sh"
[ "$(cat "$scratch/counts")" = "0 0
left out: spins: no time was left
1 0
left out: less: this and that" ] || { cat "$scratch/counts"; fail "what is left out"; }
# What does less in `make test` says so.
grep -l '^[^#]*TEST_WHOLE' tests/e2e/*.sh | grep -v '/\(lib\|harness\)\.sh$' | while read -r script; do
	grep -q '^# \(more with \)\?test-all: ' "$script" || { echo "$script"; exit 1; }
done || fail "a script that goes by TEST_WHOLE, and has no line '# more with test-all: '"

# A copy of the tests, of which a few are there, and one is changed.
mkdir -p "$scratch/tree/tests/e2e"
cp tests/run-all tests/tap "$scratch/tree/tests"
sed -e '/\/\(run\|hunt\|abi\|fields\|diff\)\.sh$/p' -e '/- tests\//d' tests/order.yml >"$scratch/tree/tests/order.yml"
for test in $(sed -n 's/^ *- \(tests\/.*\.sh\)$/\1/p' "$scratch/tree/tests/order.yml"); do echo exit 0 >"$scratch/tree/$test"; done
status 0 "$scratch/tree/tests/run-all"
says out "All tests successful."
says out "5 tests ran, 0 failed"
echo 'exit 1' >"$scratch/tree/tests/e2e/fields.sh"
status 1 "$scratch/tree/tests/run-all" abi fields
[ "$(tail -n 1 "$scratch/out")" = "2 tests ran, 1 failed" ] || { cat "$scratch/out"; fail "a test of two that fails"; }
status 1 "$scratch/tree/tests/run-all" feilds
says err "no test is called feilds"
printf '# test-all: it is long\nexit 1\n' >"$scratch/tree/tests/e2e/fields.sh"
status 0 "$scratch/tree/tests/run-all"
status 1 "$scratch/tree/tests/run-all" --all --within 60
status 1 "$scratch/tree/tests/run-all" --rest
[ "$(tail -n 1 "$scratch/out")" = "1 tests ran, 1 failed" ] || { cat "$scratch/out"; fail "what is left out without --all"; }
status 1 "$scratch/tree/tests/run-all" fields
echo 'exit 0' >"$scratch/tree/tests/e2e/new.sh"
status 1 "$scratch/tree/tests/run-all"
says err "tests/e2e/new.sh"
rm "$scratch/tree/tests/e2e/new.sh" "$scratch/tree/tests/e2e/abi.sh"
status 1 "$scratch/tree/tests/run-all"
says err "tests/e2e/abi.sh"

# What began beside all this.
wait $slow || fail "a slow test: exit status $?"
grep -q "^ok 1 - $scratch/slow.sh" "$scratch/slow" || { cat "$scratch/slow"; fail "a slow test"; }
wait $hangs || fail "a test that hangs: exit status $?"
grep -q "^not ok 1 - $scratch/hangs.sh" "$scratch/hung" && grep -q "^$scratch/hangs.sh: it hangs" "$scratch/hung" || { cat "$scratch/hung"; fail "a test that hangs"; }
if cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -q "time.sleep(3600)[ ]$scratch "; then fail "a test that hangs runs on"; fi
