/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says when something is wrong with itself: lines of its log, and the bits of
 * /proc/sys/kernel/tainted. The first process of an emulated machine (ci/guest/init.c) has this,
 * too, so nothing here needs another file.
 */
#ifndef PERFABI_ALARM_H
#define PERFABI_ALARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarm {
	const char *is;  /* "warning", "oops", "rcu stall", ...; static */
	char text[240];  /* the line of the log, cut to fit; empty: only `tainted` says so */
	uint64_t taints; /* the bits that the kernel may set with it, as a mask */
};

/* Whether a line of /dev/kmsg is one in which the kernel itself raises an alarm. */
bool alarm_of_record(const char *record, struct alarm *alarm);

struct alarm_watch {
	int log;        /* /dev/kmsg; -1: it cannot be read */
	bool has_taint; /* `tainted` can be read */
	uint64_t taint; /* what it was at the last look */
	uint64_t told;  /* bits that a line of the log has explained */
};

/*
 * Begins at the end of the log; `whole`: at its beginning, with no taint. Other readers of the log
 * lose nothing by it. The descriptor is closed at exec.
 */
void alarm_watch_begin(struct alarm_watch *watch, bool whole);

/* Tells `found` what has come since the last look. */
void alarm_watch_look(struct alarm_watch *watch,
		      void (*found)(void *context, const struct alarm *alarm), void *context);

void alarm_watch_end(struct alarm_watch *watch);

#endif
