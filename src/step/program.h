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
	bool is_expendable;         /* the machine must be: it is not put back */
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
	const struct argument *argument; /* that is parsed, */
	const struct where *where;       /* and where it is */
};

/*
 * Calls `visit` with each statement, those of lists within it first, until it returns other than 0.
 * Returns that. With `who` it leaves out what is not done here.
 */
int block_visit(const struct block *block, const struct who *who, struct environment *env,
		int (*visit)(void *context, struct statement *), void *context);

/* The value of the statement's argument at `key` as it is written; NULL: it is not there. */
const json_t *statement_json(const struct statement *statement, const char *key);

/* Whether one of the steps cannot be done on this machine: then `token` says the reason. */
bool block_is_barred(const struct block *block, const struct who *who, struct environment *env,
		     char *token, size_t size);

void program_free(struct program *program);

/*
 * Compiles a list of steps (NULL: none), and binds the names that they would bind. 0, or a negative
 * errno with compiling->error filled.
 */
int block_compile(struct compiling *c, struct block *out, const json_t *list,
		  const struct where *w);

/* The same of one step, which stands at `w` itself. */
int block_compile_one(struct compiling *c, struct block *out, const json_t *step,
		      const struct where *w);

/*
 * Reads `outcome` of a capability that is one call, or of steps, which may answer no otherwise than
 * by an errno. 0, or a negative errno with compiling->error filled.
 */
int outcomes_compile(struct compiling *c, struct outcomes *out, const json_t *json, bool is_call,
		     const struct where *w);

/* Whether that errno is one of them. */
bool outcome_lists(const int errnos[PHASE_ERRNOS_MAX], int err);

/* What the verdict on its steps says of a capability: that it is there, or which errno it has. */
void outcomes_judge(const struct outcomes *outcomes, bool is_call, struct verdict *v);

/* The alternative that counts. NULL: none does, or the step is no test. */
struct alternative *expect_choose(const struct statement *statement, const struct who *who,
				  struct environment *env);

/*
 * Settles what `when` says of each statement, those of lists within it too: once, by who begins a
 * case, with the rights to look.
 */
void block_settle(const struct block *block, const struct who *who, struct environment *env);

/* What a part is of. */
enum part {
	PART_PATTERN,
	PART_OUTCOME,
	PART_ERRNO,
	PART_GATE_BEFORE,
	PART_GATE_AFTER,
	PART_ATTR,
	PART_COUNT,
	NO_PART = PART_COUNT
};
extern const char *const part_names[PART_COUNT];

/*
 * Finds the part of that number, from 1, among what the steps expect here; with `edit`, makes it
 * wrong, in place. NO_PART: there are fewer.
 */
enum part steps_part(struct program *program, const struct who *who, struct environment *env,
		     const struct tables *tables, unsigned number, bool edit);

#endif
