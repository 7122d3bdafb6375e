/* SPDX-License-Identifier: MIT */
/*
 * Lines of the kernel's log: which are alarms, and of what.
 */
#include <string.h>

#include "machine/alarm.h"
#include "unit.h"

static const struct {
	const char *record, *is; /* NULL: no alarm */
} records[] = {
	{"4,1,100,-;WARNING: CPU: 0 PID: 1 at kernel/events/core.c:1 f+0x1/0x2", "warning"},
	{"4,1,100,-;WARNING: kernel/events/core.c:1 at f+0x1/0x2, CPU#0: x/1", "warning"},
	{"4,1,100,-,caller=T1;WARNING: CPU: 0 PID: 1 at f", "warning"},
	{"4,1,100,-;WARNING: possible circular locking dependency detected", "lockdep"},
	{"4,1,100,-;Spectre V2 : WARNING: Unprivileged eBPF is enabled, at your risk", NULL},
	{"0,1,100,-;watchdog: BUG: soft lockup - CPU#0 stuck for 26s!", "soft lockup"},
	{"0,1,100,-;watchdog: Watchdog detected hard LOCKUP on cpu 1", "hard lockup"},
	{"3,1,100,-;rcu: INFO: rcu_sched self-detected stall on CPU", "rcu stall"},
	{"3,1,100,-;rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", "rcu stall"},
	{"1,1,100,-;BUG: unable to handle page fault for address: 00000000dead", "oops"},
	{"1,1,100,-;BUG: Bad page state in process x  pfn:1", "bad page"},
	{"3,1,100,-;BUG: KASAN: slab-use-after-free in f+0x1/0x2", "oops"},
	{"2,1,100,-;kernel BUG at kernel/events/core.c:1!", "oops"},
	{"4,1,100,-;Oops: general protection fault, probably for non-canonical address", "oops"},
	{"4,1,100,-;general protection fault: 0000 [#1] PREEMPT SMP", "oops"},
	{"0,1,100,-;traps: PANIC: double fault, error_code: 0x0", "oops"},
	{"1,1,100,-;Unable to handle kernel paging request at virtual address 0", "oops"},
	{"0,1,100,-;Internal error: Oops: 0000000096000004 [#1] SMP", "oops"},
	{"0,1,100,-;Kernel panic - not syncing: x", "panic"},
	{"3,1,100,-;INFO: task x:1 blocked for more than 120 seconds.", "hung task"},
	/* A process wrote it, however urgent it says that it is. */
	{"12,1,100,-;WARNING: CPU: 0 PID: 1 at test", NULL},
	{"8,1,100,-;BUG: x", NULL},
	{"6,1,100,-;perf: interrupt took too long (2501 > 2500), lowering", NULL},
	{"4,1,100,-;perf: interrupt took too long (2501 > 2500), lowering", NULL},
	{"6,1,100,-;traps: x[1] general protection fault ip:0 sp:0 error:0", NULL},
	{"6,1,100,-;BUG: x", NULL},
	{"4,1,100,-;a DEBUG: line", NULL},
	{"4,1,100,-;: ", NULL},
	{"4,1,100", NULL},
	{"", NULL},
	{";BUG: x", NULL},
	{" SUBSYSTEM=BUG: x", NULL},
};

START_TEST(the_kernels_alarms_are_found)
{
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct alarm alarm;
		bool is = alarm_of_record(records[i].record, &alarm);

		ck_assert_msg(is == (records[i].is != NULL), "%s", records[i].record);
		if (!is)
			continue;
		ck_assert_msg(!strcmp(alarm.is, records[i].is), "%s: %s", records[i].record,
			      alarm.is);
		ck_assert_str_eq(alarm.text, strchr(records[i].record, ';') + 1);
	}
}
END_TEST

Suite *suite_alarm(void)
{
	Suite *suite = suite_create("alarm");
	TCase *test = tcase_create("alarm");

	tcase_add_test(test, the_kernels_alarms_are_found);
	suite_add_tcase(suite, test);
	return suite;
}
