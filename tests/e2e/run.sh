# SPDX-License-Identifier: MIT
# The suite on this kernel, as whoever runs the tests: every case is judged, or has the reason why not.
# more with test-all: every case, not one in five
. tests/e2e/lib.sh
least=1500
if [ -z "$TEST_WHOLE" ]; then
	least=300
	"$perfabi" list >"$scratch/out" || fail "list"
	# Five, for the ids go by two and by four: by each caller, on each vehicle.
	awk 'BEGIN {srand(); first = int(rand() * 5)} NR % 5 == first {print $1}' "$scratch/out" >"$scratch/chosen"
	echo "every fifth case, from $(head -n 1 "$scratch/chosen") on"
	# By one worker, for other tests run beside this one.
	# shellcheck disable=SC2046 # ids are meant to be split
	set -- -j 1 $(cat "$scratch/chosen")
fi
got=0
"$perfabi" run "$@" --format "json:$scratch/report.json" --format pretty || got=$?
judged "$scratch/report.json" $got
if [ "$(id -u)" -eq 0 ] && holds '.environment.identities.root == "opens events"' "$scratch/report.json"; then
	holds ".summary | .pass + .fail + .xfail + .xpass >= $least" "$scratch/report.json" || fail "fewer than $least cases were judged as root"
fi
# Every result names where its promise stands, every skip its token and what was found, every failure what came.
holds '[.results[] | (.spec.man // .spec.kernel) != null] | all' "$scratch/report.json" || fail "a promise of nobody's"
holds '[.results[] | select(.outcome == "skip") | .token and .reason] | all' "$scratch/report.json" || fail "a skip without its reason"
holds '[.results[] | select(.outcome == "fail") | .got and .expected] | all' "$scratch/report.json" || fail "a failure that does not say what came"

# What the kernel has recorded of itself meanwhile is told; what it had recorded before is not.
# shellcheck disable=SC2119 # not this script's arguments
if opens_events && unshare --mount true 2>/dev/null && [ -e /proc/sys/kernel/tainted ]; then
	echo 512 >"$scratch/tainted"
	cat >"$scratch/alarm" <<'EOT'
: >"$1/lines"
mount --bind "$1/tainted" /proc/sys/kernel/tainted || exit 77
"$2" run --baseline none --repeat 1000000 --format jsonl --format "pretty:$1/pretty" read.times.off.user >"$1/lines" &
until grep -q '"begin"' "$1/lines"; do sleep 0.01; kill -0 $! || exit 1; done
[ -z "$3" ] || echo "$3" >"$1/tainted"
kill -TERM $!
wait $!
EOT
	for new in '' 640; do
		got=0
		unshare --mount sh "$scratch/alarm" "$scratch" "$perfabi" "$new" || got=$?
		[ $got -ne 77 ] || break
		tail -n 1 "$scratch/lines" >"$scratch/summary"
		case $new in
		'') holds '.type == "summary" and (has("alarms") | not)' "$scratch/summary" || fail "an alarm of what was before" ;;
		*)
			holds '.alarms == ["oops"]' "$scratch/summary" || fail "an alarm is not told"
			grep -q "ALARM the kernel reported a fault of its own during the run (oops)" "$scratch/pretty" || fail "an alarm is not told to people"
			;;
		esac
	done
fi
