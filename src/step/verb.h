/* SPDX-License-Identifier: MIT */
/*
 * Verbs: what a step can be. Each is a row beside its own function, in the file of verbs/ that it
 * belongs to; workloads are rows of the same kind, under one key.
 */
#ifndef PERFABI_VERB_H
#define PERFABI_VERB_H

#include "call/tables.h"
#include "step/argument.h"

struct statement;
struct workload;
struct translation;

struct verb {
	const char *name;
	const char *key; /* NULL: the name; else the key under which the name stands */
	const char *help;
	/*
	 * Acts. 0, or with the step's error filled: -ECANCELED if the kernel did not keep its word,
	 * another negative errno if what is not under test failed. -EPROTO: the step's verdict says
	 * what came.
	 */
	int (*run)(struct step *s);
	/* What it is in C, in front of what is counted, counted, and behind it; and what it shows.
	 * The form of these is in in_c.c. c NULL: in_c() writes the step. */
	const char *c_ready, *c, *c_tidy, *c_value;
	void (*in_c)(struct translation *t, const struct statement *statement);
	const struct argument *arguments; /* the verb's own first; the last has no key */
	size_t size;                      /* of the struct that they go to */
	enum verb_kind {
		PREPARES, /* it is no test: it succeeds, or the case is in error */
		SHOWS,    /* something that `expect` can be about */
		CALLS     /* the kernel, which may refuse */
	} kind;
	enum { BINDS_NOTHING, BINDS_RESULT, BINDS_SHOWN } binds;
	const char *binds_member; /* beside NAME: NAME.this; or NULL */
	struct value_shape shows; /* kind 0: nothing */
	/* Where cases/abi, or what is asked for, says what is shown. */
	void (*shape)(const struct tables *tables, const struct statement *statement,
		      struct value_shape *out);
	/* What the arguments are to each other. 0, or -EINVAL with compiling->error filled. */
	int (*check)(struct compiling *c, const struct statement *statement, const struct where *w);
	/* Whether it cannot be done on this machine; `why` says the reason as a token. */
	bool (*is_barred)(const struct statement *statement, const struct environment *env,
			  char *token, size_t size);
	bool is_behind_exec;             /* it needs neither the ABI nor anything open */
	bool has_gates;                  /* of the refusal it is asked which gate it came from */
	const struct workload *workload; /* of one that is one */
};

#endif
