# SPDX-License-Identifier: MIT
# test-all: it needs a build with sanitizers
# Steps under ASan and UBSan: no finding of theirs (their own memory makes page faults: counts are not judged).
. tests/e2e/lib.sh
got=0
# LeakSanitizer looks at a process with ptrace(2), which one with other rights than its own refuses.
"$B/asan/perfabi" run --timeout 60 --filter 'id!=inherit.exec.other-rights.root.other' ioctl read mmap records sample overflow inherit prctl machine files group rdpmc \
	>"$scratch/out" 2>"$scratch/err" || got=$?
if grep -E -A20 "Sanitizer|runtime error" "$scratch/err"; then
	fail "a finding of a sanitizer's"
fi
case $got in
0 | 1) grep -qE '[1-9][0-9]* pass' "$scratch/out" || fail "exit status $got, and nothing passed" ;;
4) ;; # nothing could run, which is so of a user who may open nothing
*) cat "$scratch/out" "$scratch/err" && fail "exit status $got" ;;
esac
