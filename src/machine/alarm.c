/* SPDX-License-Identifier: MIT */
/*
 * A line of the log counts if it is the kernel's own (facility 0: what processes write to /dev/kmsg
 * has another), no less urgent than a warning, and begins as an alarm does. `tainted` is a mask, so
 * of two warnings it shows the first.
 */
#include "machine/alarm.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_MOST = 8192, TAINTS = 64, URGENT = 4 /* KERN_WARNING */ };

#define BIT(n) (UINT64_C(1) << (n))

/* The first that matches says what it is. */
static const struct {
	const char *is;
	uint64_t taints;
	const char *glob;
} texts[] = {
	{"warning", BIT(9), "WARNING: CPU: * at *"},
	{"warning", BIT(9), "WARNING: [!: ]*:[0-9]* at *"}, /* since 6.19 */
	{"lockdep", 0, "WARNING: possible *"},
	{"lockdep", 0, "WARNING: inconsistent lock state*"},
	{"lockdep", 0, "WARNING: bad unlock balance*"},
	{"lockdep", 0, "WARNING: held lock freed*"},
	{"lockdep", 0, "WARNING: lock held when *"},
	{"lockdep", 0, "WARNING: suspicious RCU usage*"},
	{"soft lockup", BIT(14), "BUG: soft lockup*"},
	{"hard lockup", 0, "Watchdog detected hard LOCKUP*"},
	{"hard lockup", 0, "CPU *detected hard LOCKUP*"},
	{"workqueue lockup", 0, "BUG: workqueue lockup*"},
	{"bad page", BIT(5), "BUG: Bad page *"},
	{"oops", BIT(5) | BIT(7) | BIT(9), "BUG: *"},
	{"oops", BIT(7), "kernel BUG at *"},
	{"oops", BIT(7), "Kernel bug detected*"}, /* MIPS */
	{"oops", BIT(7), "Oops*"},
	{"oops", BIT(7), "Internal error: *"},
	{"oops", BIT(7), "general protection fault*"},
	{"oops", BIT(7), "Unable to handle kernel *"},
	{"oops", BIT(7), "PANIC: *"},
	{"panic", 0, "Kernel panic*"},
	{"rcu stall", 0, "INFO: rcu* stall*"},
	{"hung task", 0, "INFO: task * blocked for more than *"},
	{"undefined behaviour", 0, "UBSAN: *"},
};

/* Documentation/admin-guide/tainted-kernels.rst */
static const char *const taints[TAINTS] = {
	"proprietary module",
	"forced module",
	"processor out of specification",
	"module forced out",
	"machine check",
	"bad page",
	"taint by a user",
	"oops",
	"overridden ACPI table",
	"warning",
	"staging driver",
	"firmware workaround",
	"out-of-tree module",
	"unsigned module",
	"soft lockup",
	"live patch",
	"auxiliary taint",
	"struct randomization",
	"kernel test",
	"firmware command",
};

/* The row of a text that begins as an alarm does, or does so behind "subsystem: "; or -1. */
static int row_of_text(const char *text)
{
	do {
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			if (!fnmatch(texts[i].glob, text, 0))
				return (int)i;
		text = strstr(text, ": ");
	} while (text && (text += 2));
	return -1;
}

bool alarm_of_record(const char *record, struct alarm *alarm)
{
	const char *text = strchr(record, ';');
	char *end;
	unsigned long priority = strtoul(record, &end, 10);
	int row;

	if (end == record || *end != ',' || !text || priority > URGENT)
		return false;
	text++;
	snprintf(alarm->text, sizeof(alarm->text), "%.*s", (int)strcspn(text, "\n"), text);
	row = row_of_text(alarm->text);
	if (row < 0)
		return false;
	alarm->is = texts[row].is;
	alarm->taints = texts[row].taints;
	return true;
}

static bool read_taint(uint64_t *taint)
{
	char text[32] = "";
	int fd = open("/proc/sys/kernel/tainted", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n > 0)
		*taint = strtoull(text, NULL, 10);
	return n > 0;
}

void alarm_watch_begin(struct alarm_watch *watch, bool whole)
{
	*watch = (struct alarm_watch){
		.log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
	watch->has_taint = read_taint(&watch->taint);
	if (whole)
		watch->taint = 0;
	else if (watch->log >= 0 && lseek(watch->log, 0, SEEK_END) < 0)
		alarm_watch_end(watch); /* what is old cannot be told from what is new */
}

/* Records, each a line, and lines behind it that begin with a space. */
static void look_at_records(struct alarm_watch *watch, char *records,
			    void (*found)(void *context, const struct alarm *alarm), void *context)
{
	struct alarm alarm;

	for (char *rest = records, *line; (line = strsep(&rest, "\n"));) {
		if (*line == ' ' || !alarm_of_record(line, &alarm))
			continue;
		watch->told |= alarm.taints;
		found(context, &alarm);
	}
}

void alarm_watch_look(struct alarm_watch *watch,
		      void (*found)(void *context, const struct alarm *alarm), void *context)
{
	char records[RECORD_MOST + 1];
	uint64_t taint = watch->taint, fresh;
	ssize_t n;

	/* The mask first: the line of what it shows is in the log by then. */
	if (watch->has_taint)
		read_taint(&taint);
	/* EPIPE: some were overwritten before they were read. */
	while (watch->log >= 0 &&
	       ((n = read(watch->log, records, RECORD_MOST)) > 0 || (n < 0 && errno == EPIPE))) {
		records[n > 0 ? n : 0] = '\0';
		look_at_records(watch, records, found, context);
	}
	fresh = taint & ~watch->taint & ~watch->told;
	watch->taint |= taint;
	for (unsigned bit = 0; bit < TAINTS; bit++)
		if (fresh >> bit & 1)
			found(context,
			      &(struct alarm){.is = taints[bit] ? taints[bit] : "unknown taint"});
}

void alarm_watch_end(struct alarm_watch *watch)
{
	if (watch->log >= 0)
		close(watch->log);
	watch->log = -1;
}
