/* SPDX-License-Identifier: MIT */
/*
 * Verbs: what a step can be. Each is a row beside its own function, in the file of verbs/ that it
 * belongs to; workloads are rows of the same kind, under one key.
 */
#ifndef PERFABI_VERB_H
#define PERFABI_VERB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "call/tables.h"
#include "text/error.h"

struct argument;
struct block;
struct c_shape;
struct compiling;
struct statement;
struct step;
struct translation;
struct workload;

/* What is written for an argument, looked at once. */
struct operand {
	const json_t *json; /* NULL: it is not there */
	bool is_settled;    /* it is a number that hangs on nothing that is known only later: */
	uint64_t number;    /* which */
	void *made;         /* what else was made of it, in the program's memory; or NULL */
};

struct argument_type {
	/*
	 * Makes of operand->json, of c->argument, what can be made: while a case is compiled, as
	 * scope->checking says, and of some once more when the step is done. 0, or a negative errno
	 * with c->error filled.
	 */
	int (*parse)(struct compiling *c, struct operand *operand);
	bool is_parsed_again;
	bool is_made; /* operand->made is it; else operand->number */
	/* The JSON Schema of what can be written: its text, or made of the argument's range or
	 * words; both NULL: a string. */
	const char *schema;
	json_t *(*make_schema)(const struct argument *a);
	/* How it is written in C. */
	enum { C_AS_NUMBER, C_AS_FD, C_AS_TEXT, C_AS_NAME, C_AS_WORDS, C_AS_TRUTH, C_AS_TARGET } c;
	/* Whether operand->made is a block of steps: done here, or by a child that has names of its
	 * own. */
	enum { HOLDS_NO_STEPS, HOLDS_STEPS, HOLDS_CHILD } holds;
};

/* A name and what it stands for. */
struct word {
	const char *name; /* of the last: NULL */
	uint64_t value;
};

struct argument {
	const char *key;
	const struct argument_type *type;
	size_t at, room;  /* its member of struct arguments: offset and size; 0: none */
	bool is_required; /* as the verb's own always is */
	bool is_long;     /* it is passed as a long, a size or an address */
	uint64_t fallback;
	uint64_t most; /* of a number, or the length of a text; 0: no bound of its own */
	const struct word *words;
	const char *help; /* or NULL */
};

/* The arguments of all verbs, evaluated; each verb has some of them. */
struct arguments {
	int fd; /* or the id of a process */
	int over, as, counted, filled, signo;
	int prot, kind;
	uint64_t number, times, ms, pages, size, length, offset, to, at, address, member, value;
	uint64_t arg, word, ids, refresh, signals, bytes, events, owner, with;
	bool is_private, is_locked, is_huge, is_replaced, moves, keeps, by_number, is_realtime;
	const char *text, *end; /* empty: not there */
	const char *path;       /* of what is written; NULL: it is the fd */
	const char *literal;
	const struct block *block;
	unsigned char *attr;
};

/* The member of struct arguments: initializers of `at` and `room`. */
#define MEMBER(name)                                                                               \
	.at = offsetof(struct arguments, name), .room = sizeof((struct arguments){0}.name)

/* Of a verb's row: its arguments. */
#define ARGUMENTS(...)                                                                             \
	.arguments = (const struct argument[])                                                     \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

struct verb {
	const char *name, *help;
	enum verb_kind {
		PREPARES, /* it is no test: it succeeds, or the case is in error */
		SHOWS,    /* something that `expect` can be about */
		CALLS     /* the kernel, which may refuse */
	} kind;
	enum { BINDS_NOTHING, BINDS_RESULT, BINDS_SHOWN } binds;
	/*
	 * Acts. 0, or with the step's error filled: -ECANCELED if the kernel did not keep its word,
	 * another negative errno if what is not under test failed. -EPROTO: the step's verdict says
	 * what came.
	 */
	int (*run)(struct step *s);
	/* What it is in C, counted, in front of what is counted, and behind it; and what it shows.
	 * The form of these is in in_c.c. c NULL: in_c() writes the step; NULL, too: nobody has
	 * written that yet. */
	const char *c, *c_ready, *c_tidy, *c_value;
	void (*in_c)(struct translation *t, const struct statement *s);
	const struct argument *arguments; /* the verb's own first; the last has no key */
	const char *key;          /* NULL: the name; else the key under which the name stands */
	const char *binds_member; /* beside NAME: NAME.this; or NULL */
	struct value_shape shows; /* kind 0: nothing */
	/* Where cases/abi, or what is asked for, says what is shown. */
	void (*shape)(const struct tables *tables, const struct statement *statement,
		      struct value_shape *out);
	/* What the arguments are to each other; the step is at c->where. 0, or -EINVAL with
	 * compiling->error filled. */
	int (*check)(struct compiling *c, const struct statement *statement);
	/* Whether it cannot be done on this machine; `why` says the reason as a token. */
	bool (*is_barred)(const struct statement *statement, const struct environment *env,
			  char *token, size_t size);
	bool is_behind_exec;             /* it needs neither the ABI nor anything open */
	bool has_gates;                  /* of the refusal it is asked which gate it came from */
	const struct workload *workload; /* of one that is one */
};

/* The verbs, by what they are about; a list each, the last without a name. */
extern const struct verb event_verbs[], memory_verbs[], read_verbs[], signal_verbs[],
	process_verbs[], machine_verbs[], workload_verbs[];

/* The verb of a step: the one that knows all its keys. NULL with `e` filled (may be NULL). */
const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e);

/* All verbs in the order of the help: the next, or the first for NULL; NULL behind the last. */
const struct verb *verb_next(const struct verb *verb);

/* The key that the verb has in a step. */
const char *verb_key(const struct verb *verb);

/* The verbs and the workloads with their arguments and what they show. */
void steps_help(FILE *f);

/* The schema of a step: one of all verbs, each in a line. */
void steps_schema(FILE *f);

/* Writes each step that is done on this machine; what cannot be written is noted: t->missing. */
void block_in_c(struct translation *t, const struct block *block);

/* What a row says of a value: its shape, and in *type its type. */
struct c_shape value_in_c(struct translation *t, const char *text, const char **type);

/* The verbs whose C has a shape of its own. */
typedef void verb_in_c(struct translation *t, const struct statement *s);

verb_in_c open_in_c, ioctl_in_c, mmap_in_c, mremap_in_c, read_in_c, records_in_c, repeat_in_c,
	fork_in_c, thread_in_c, exec_in_c, wait_in_c, become_in_c, text_of_file_in_c, socket_in_c,
	value_of_in_c;

/* The program becomes who the case is for. */
void identity_in_c(struct translation *t, enum identity as, bool may_kill);

/*
 * The types of argument that many verbs have. What only one has stands beside that verb.
 */

/* A number of 64 bits, an expression; negative ones are taken in two's complement. This and all
 * that are numbers go to any integer, or a bool; without a member, it is not evaluated. */
extern const struct argument_type argument_number;
/* What a name was bound to before. */
extern const struct argument_type argument_bound;
/* A text with its $names put in: const char *, which is the step's. */
extern const struct argument_type argument_text;
/* A text as it is, which is not empty: const char *; `most` is its length at most. */
extern const struct argument_type argument_literal;
/* One of `words`: its value. */
extern const struct argument_type argument_word;
/* A list of `words`: their values or-ed. */
extern const struct argument_type argument_words;
/* True or false. */
extern const struct argument_type argument_truth;
/* Nothing but true: there is nothing to say. No member. */
extern const struct argument_type argument_nothing;
/* A list of steps: const struct block *. */
extern const struct argument_type argument_steps;
/* The same, done in another process or thread: what is bound there is not bound here. */
extern const struct argument_type argument_child;

/* As `open` of a case has it: a struct opening, in operand->made. */
extern const struct argument_type argument_open;

/* The path of a file that is read: a text. While the case is compiled, what stands before the first
 * $ decides. */
extern const struct argument_type argument_path_read;
/* Of one that is written: no PMU's. */
extern const struct argument_type argument_path_written;
/* A file to be written by its path, or an event by its name: the member `path`, or `fd`. */
extern const struct argument_type argument_write_target;

/* Whether what is written to that file stays, so that only an expendable machine may have it. */
bool path_stays_changed(const char *path);

/* The bits of mmap(2) and mprotect(2); verbs/memory.c. */
extern const struct word memory_prots[];

/* How many signals have been noted since the step that looked at them; verbs/signal.c. */
unsigned signals_noted(void);

/* Before an event counts: signals that come then touch nothing new. 0 or a negative errno. */
int signals_rehearse(void);

/* Finds what the workload "call" calls; verbs/workload.c. */
int run_function(struct step *s);
extern const struct word probeable_functions[];

#endif
