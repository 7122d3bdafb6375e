/* SPDX-License-Identifier: MIT */
/*
 * A step while it is done: what verbs are given, and what they use.
 */
#ifndef PERFABI_STEP_H
#define PERFABI_STEP_H

#include "step/state.h"

struct step {
	const struct statement *statement;
	const void *arguments; /* of the verb, evaluated */
	const struct tables *tables;
	struct scope *scope;
	struct steps *run;
	const struct alternative
		*expected; /* of `expect`, the one that counts; NULL: it is no test */
	struct error *error;
	struct verdict *verdict;

	/* What came. */
	int err;              /* errno of the call, or 0 */
	unsigned phases;      /* the gates that can have refused it; 0: nobody asked */
	bool attr_is_written; /* by an open: its size */
	uint64_t result;      /* for bind, unless there is more to see */
	json_t *shown;        /* what `expect` and bind are about, owned; or NULL */
	char call[1000];      /* as strace would show it; empty: the step's own JSON will do */
	struct call made;     /* of an open that hangs on variables */
	void *scratch;        /* memory that goes with the step */
};

/* Does it: the verb's run(). */
int step_do(struct step *s);

/* Zeroed memory that goes with the step, once in one; NULL with the step's error filled. */
void *step_scratch(struct step *s, size_t size);

/* What a verb returns when something failed that is not under test. */
int step_failed(struct step *s, int err);

/* The same when what a step names is not what the verb is for. */
int step_misnamed(struct step *s, const char *key, const char *expected);

/* What the kernel did against its word: "got", and what was expected. */
int step_broken(struct step *s, const char *got, const char *expected);

/* Notes the call for people. */
void step_say(struct step *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes what a system call returned: its errno if `ret` is -1. */
void step_answer(struct step *s, long ret);

/* Sets a member of what is shown; takes the reference. */
void step_show(struct step *s, const char *key, json_t *value);
void step_show_number(struct step *s, const char *key, uint64_t value);
void step_show_address(struct step *s, const char *key, uint64_t address);

/* The open event of that fd, or NULL. */
struct opened *step_event(struct step *s, int fd);

/* Which event that fd is of, or was when it was closed; NO_EVENT: of none that has a name. */
int step_which(const struct step *s, int fd);

/* The newest mapping of the event whose fd that is or was, of its data alone or any; or NULL. */
struct map *step_map(struct step *s, int fd, bool is_data);

/* Remembers another fd of an event. */
void step_keep_copy(struct step *s, const struct opened *event, int fd);

/* Binds beside what the step binds: NAME.`member`. */
void step_bind_member(struct step *s, const char *member, uint64_t value);

#endif
