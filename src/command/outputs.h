/* SPDX-License-Identifier: MIT */
/*
 * Where the reports of a run go: several formats at once, each to a file of its own, and at most
 * one to standard output.
 */
#ifndef PERFABI_OUTPUTS_H
#define PERFABI_OUTPUTS_H

#include "command/session.h"

enum { OUTPUTS_MAX = 8 };

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct outputs {
	struct output list[OUTPUTS_MAX];
	size_t count;
	int colour; /* enum colour */
	bool is_verbose, is_quiet;
};

/* Adds one of --format's FORMAT[:FILE] to struct outputs. 0, or -EINVAL after a message. */
int outputs_add(void *outputs, const char *text, const struct option_row *row, const char *program);

/*
 * Opens all of them, pretty where there is none. What was in the files is gone when all can be
 * written, and none is one that the run reads: `sources`, the file of `baseline` (or NULL). 0, or a
 * negative errno after a message.
 */
int outputs_open(struct outputs *outputs, const struct session *session, const char *baseline);

/* 0, or EXIT_HARNESS after a message if something could not be written. */
int outputs_close(struct outputs *outputs);

/* What each of them prints first, when an instance starts, when it ended, and last. */
void outputs_begin(struct outputs *outputs, const struct report *report);
void outputs_started(struct outputs *outputs, const struct instance *instance);
void outputs_ended(struct outputs *outputs, const struct report *report,
		   const struct result *result);
void outputs_end(struct outputs *outputs, const struct report *report);

/* Whether one of them is for programs: json or jsonl. */
bool outputs_have_json(const struct outputs *outputs);

/* Whether one of them is for people, on standard output. */
bool outputs_tell_people(const struct outputs *outputs);

#endif
