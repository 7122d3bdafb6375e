# SPDX-License-Identifier: MIT
# As an ordinary user, and as root without capabilities: nothing fails.
. tests/e2e/lib.sh
cp "$perfabi" "$scratch" # where another user may run it
if [ "$(id -u)" -ne 0 ]; then
	echo "not root: the run as oneself is the run as a user"
	exit 0
fi
for drop in "--reuid 65534 --regid 65534 --clear-groups" "--bounding-set -all --inh-caps -all"; do
	got=0
	# shellcheck disable=SC2086 # words are meant to be split
	setpriv $drop "$scratch/perfabi" run --format json >"$scratch/report.json" || got=$?
	[ $got -le 1 ] || [ $got -eq 4 ] || fail "setpriv $drop: exit status $got"
	jq -c .summary "$scratch/report.json"
	holds '.summary | .fail == 0 and .error == 0' "$scratch/report.json" >/dev/null
	holds '[.results[] | select(.as == "root" and .outcome != "skip")] == []' "$scratch/report.json" >/dev/null ||
		fail "a case as root ran without being root"
done
