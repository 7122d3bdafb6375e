#!/mutants/busybox sh
# SPDX-License-Identifier: MIT
# Within a kernel of mutants (ci/kernel-mutants): `map` says which of them each suite of /mutants/suites reaches, and `run` what becomes of each mutant
# of /mutants/list, a line of its number, the seconds that it may take, and groups of suites with commas between. What it says is for the host:
#   reach SUITE SECONDS HEX      a byte for each mutant
#   unsteady ID...               bad without any mutant
#   begin N
#   ran N                        something of it is done
#   killed N WHAT...             ids of cases, or an alarm of the kernel's
#   alive N SECONDS              all cases have passed
#   over N SECONDS               as many as there was time for
export PATH=/mutants/bin
parameter=/sys/module/kernel/parameters/perf_mutant
mkdir -p /mutants/bin
/mutants/busybox --install -s /mutants/bin
# A kernel that is at its end says so, and the host boots another.
echo 1 >/proc/sys/kernel/printk
echo 1 >/proc/sys/kernel/panic_on_oops
echo 1 >/proc/sys/kernel/panic_on_rcu_stall
echo 5 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
seconds() { sed 's/\..*//' /proc/uptime; }
# What is bad without a mutant is no sign of one; `left` are the seconds that there are.
left=600
run() { timeout -s INT $left /amd64/perfabi run --expendable --timeout 10 --format jsonl $(sed 's/^/--filter id!=/' /mutants/unsteady) "$@" >/tmp/report 2>/tmp/said; }
bad() { sed -n 's/^{"type":"result","id":"\([^"]*\)","outcome":"\(fail\|xpass\|unstable\|error\)".*/\1/p' /tmp/report; }
alarm() { sed -n 's/^{"type":"alarm","is":"\([^"]*\)".*/\1/p' /tmp/report; }

map() {
	while read -r suite; do
		echo 0 >$parameter
		began=$(seconds)
		run "$suite" || echo unsteady $(bad)
		echo "reach $suite $(($(seconds) - began)) $(hexdump -ve '1/1 "%x"' /sys/kernel/debug/perf_mutants)"
	done </mutants/suites
}

# One mutant and cases: killed, alive, or over, when its time is. What is bad with the mutant must be bad with it twice more, and good without it in
# between.
judge() {
	n=$1 left=$2
	shift 2
	for _ in 1 2 3; do
		echo "$n" >$parameter
		end=$(($(seconds) + left))
		run --fail-fast "$@"
		status=$?
		echo 0 >$parameter
		echo "ran $n"
		[ "$(seconds)" -lt $end ] || [ "$status" = 1 ] || { verdict=over; return; }
		[ "$status" = 1 ] || { verdict=alive; [ "$status" != 3 ] || verdict="killed status-3"; return; }
		what=$(alarm)
		[ -z "$what" ] || { verdict="killed alarm: $(echo $what | cut -d ' ' -f 1)"; return; }
		what=$(bad)
		verdict="killed $what" left=60
		for _ in 1 2; do
			run $(echo "$what" | sed 's/^/=/') || { verdict="unsteady $what"; return; }
			echo "ran $n"
			echo "$n" >$parameter
			run $(echo "$what" | sed 's/^/=/') && verdict=fluke
			echo 0 >$parameter
			[ "$verdict" != fluke ] || break
		done
		[ "$verdict" = fluke ] || return
	done
	verdict=alive
}

mutants() {
	while read -r n deadline groups; do
		echo "begin $n"
		began=$(seconds) verdict=alive
		for group in $groups; do
			left=$((began + deadline - $(seconds)))
			[ $left -gt 0 ] || { verdict=over; break; }
			judge "$n" $left $(echo "$group" | tr , ' ')
			[ "$verdict" = alive ] || break
		done
		case $verdict in
		alive | over) echo "$verdict $n $(($(seconds) - began))" ;;
		*) echo "${verdict%% *} $n" ${verdict#* } ;;
		esac
		# An alarm is raised once, and what a mutant leaves behind is no other's doing: a new kernel is.
		case $verdict in
		"killed alarm"* | "killed status"* | unsteady*) return ;;
		esac
	done </mutants/list
	echo end
}

case $1 in
map) map ;;
run) mutants ;;
esac
