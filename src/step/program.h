/* SPDX-License-Identifier: MIT */
/*
 * A case as a typed program: compiled once when its file is loaded; what `check` says is wrong was
 * found by that. `run` executes it, `mutate` edits it.
 */
#ifndef PERFABI_PROGRAM_H
#define PERFABI_PROGRAM_H

#include "call/call.h"
#include "language/pattern.h"
#include "language/verdict.h"
#include "language/when.h"
#include "machine/sysctl.h"
#include "step/verb.h"

/* One alternative of a statement's `expect`. */
struct alternative {
	const json_t *when;      /* NULL: it always counts */
	int err;                 /* that the call must have; 0: success */
	int phase;               /* the gate that must refuse, or -1: not said */
	struct pattern *pattern; /* on what is shown, or NULL */
	/* Of an open: what the kernel may write to attr, where the pattern has nothing on attr. */
	enum { ATTR_ANY, ATTR_KEPT, ATTR_WRITTEN } attr;
};

/* `outcome` of a capability: what is an answer to its question. */
struct outcomes {
	int no[PHASE_ERRNOS_MAX], denied[PHASE_ERRNOS_MAX]; /* errnos, behind the last 0 */
	bool otherwise;                                     /* whatever else comes means no */
};

/* A step, compiled. */
struct statement {
	const struct verb *verb;
	struct operand *operands; /* one an argument of the verb */
	const json_t *json;       /* as the complete case has it */
	const json_t *when;       /* NULL: it is always done */
	const char *bind;         /* or NULL */
	struct alternative *alternatives;
	size_t alternative_count; /* 0 of what is no test, else at least 1 */
	/* block_settle(): */
	bool is_on;                   /* it is done on this machine */
	struct alternative *expected; /* that counts here; NULL: none does, or it is no test */
};

/* A list of steps. */
struct block {
	struct statement *list;
	size_t count;
};

struct program {
	json_t *definition; /* the complete case, of which the rest borrows; owned */
	struct arena arena;
	struct block given;
	struct block steps; /* under test */
	bool is_call;       /* `open`: they are one */
	bool is_capability;
	struct outcomes outcomes;   /* of a capability */
	const json_t *requirements; /* a list of tokens, or NULL */
	const json_t *sysctl;       /* by name, what the machine has while it runs; or NULL */
	struct sysctl_set sysctls;  /* which of them it may change, in one way or another */
	bool has_cgroup;            /* one of its own */
};

/* What compiling goes by, and where it puts what it finds. */
struct compiling {
	const struct tables *tables;
	struct when_names names;
	const struct abi_arch *arch; /* that the case, or the step, is for; NULL: any */
	const char *parameter;       /* of the case's `each`, or NULL: no step may bind that name */
	struct scope *scope;         /* scope->checking; the names that steps have bound so far */
	struct arena *arena;
	struct error *error;
};

/*
 * Calls `visit` with each statement, those of lists within it first, until it returns other than 0.
 * Returns that. With `who` it leaves out what is not done here.
 */
int block_visit(const struct block *block, const struct who *who, struct environment *env,
		int (*visit)(void *context, struct statement *), void *context);

/* The value of the statement's argument at `key` as it is written; NULL: it is not there. */
const json_t *statement_json(const struct statement *statement, const char *key);

/* What its verb shows with these operands; kind 0: nothing. `tables` may be NULL: as far as known.
 */
struct value_shape statement_shape(const struct statement *statement, const struct tables *tables);

/* Whether one of the steps cannot be done on this machine: then `token` says the reason. */
bool block_is_barred(const struct block *block, const struct who *who, struct environment *env,
		     char *token, size_t size);

void program_free(struct program *program);

#endif
