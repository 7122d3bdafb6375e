/* SPDX-License-Identifier: MIT */
/*
 * Why a call is refused, or does not do what it is for: as its caller, as others, and with other
 * sysctls.
 */
#ifndef PERFABI_WHY_H
#define PERFABI_WHY_H

#include <stdio.h>

#include "machine/restore.h"
#include "why/knowledge.h"
#include "why/question.h"

/*
 * What is done with an event once it is open: it counts a load, or what a question says is done:
 * {"mmap": {"pages": 8}}, {"ioctl": {"request": "period", "u64": 1}}, {"read": {"size": 8}},
 * {"munmap": {"length": 4096}}, {"poll": {}}.
 */

/* One of these, as it was written. */
struct then_call {
	enum then_verb { THEN_MMAP, THEN_MUNMAP, THEN_IOCTL, THEN_READ, THEN_POLL } verb;
	const char *request;  /* of ioctl(2) */
	const char *text;     /* that it points to, or NULL */
	const char *variable; /* of `given` that is its argument, or NULL */
	bool points;          /* it points to then.argument */
	uint64_t pages;       /* of mmap(2), behind the first: then.length has them */
	struct followed then;
};

/* 0, or -EINVAL with `e` filled. `json` must outlive *out. */
int then_from_json(struct then_call *out, const json_t *json, struct environment *env,
		   const struct where *w, struct error *e);

/* What is mapped of an event, from its beginning. */
struct then_buffer {
	unsigned char *at; /* NULL: nothing */
	uint64_t length;
};

/*
 * Does it with the event's descriptor, with what its variable stands for put in; EBADF: nothing has
 * that name. 0 or errno. What it maps is noted in *buffer.
 */
int then_do(struct then_call *call, const struct scope *scope, int fd, struct then_buffer *buffer);

/* The call as C has it: "mmap(NULL, 36864, ...)"; cut at `size`. */
void then_write(const struct then_call *call, char *out, size_t size);

/*
 * Opens the event, lets it count some milliseconds of this process's work, and closes it. Whether
 * that tells anything: false for events on other processes or cgroups, and where it does not open.
 */
bool count_event(const struct call *call, const struct environment *env, struct counted *out);

/*
 * The answer, as docs/why.md has it. It is made in a pool that whoever makes it shares with whoever
 * prints it: what a child leaves there is read in place.
 */

struct pool;

/* Of what is so, is not so, or is not said. */
enum said { UNSAID, SAID_NO, SAID_YES };

/* What a call came to, and why: each member may be NULL. */
struct cause {
	enum said opened;
	const char *err; /* the name of the errno */
	const char *check, *function, *because, *instead;
	struct cause *others; /* that can be it, too: because and instead */
	size_t other_count;
	const char *predicted; /* by the model, which says something else than the kernel */
	const char *unknown;   /* why nothing is certain, and the checks that it can be */
	struct cause *suspects;
	size_t suspect_count;
};

/* What is said of a call that opens, or of who could help. */
struct note {
	bool is_proven, is_useless;
	const char *says, *check;
};

enum { DOES_MOST = 5 };

/* What opens the call: `does` and `loses` have room for DOES_MOST texts, and end with NULL. */
struct remedy_found {
	const char **does, **loses;
	bool is_tried, is_fallback;
	const char *unsure, *useless; /* why it may not open, or be of no use; or NULL */
	const char *as, *sysctl;      /* another caller, and sysctl; or NULL */
	int value;                    /* of the sysctl */
	/* The call once it is changed, or without an image: it stays as it is. */
	struct call call;
	const struct setup_names *names;
	const struct environment *env;
};

/* What one change alone leads to. */
struct dead_end {
	const char **does;
	struct cause cause;
};

/* A call on the event that is open. */
struct then_told {
	const char *call;
	struct cause cause;
	int64_t largest; /* pages of a buffer that could be mapped; negative: not asked */
};

enum { REMEDIES_MOST = 16, BEHIND_MOST = 8, DEAD_ENDS_MOST = 3, THEN_MOST = 8 };

struct explanation {
	const char *failure; /* why there is none, or NULL */
	const char *call;    /* as strace has it */
	const char *as, *caller;
	bool is_tried, is_cut;
	struct cause cause;
	const char **witnessed, *gate; /* names of gates, or NULL */
	struct note *notes, *others;   /* NULL: not asked */
	size_t note_count, other_count;
	struct counted counted;
	bool is_counted;
	struct then_told *then;
	size_t then_count;
	/* What refuses it behind the first check, by its own changes or else for other callers. */
	struct cause *behind, *behind_others;
	size_t behind_count, behind_others_count;
	struct dead_end *dead_ends;
	size_t dead_end_count;
	struct remedy_found *remedies; /* NULL: not asked */
	size_t remedy_count;
	const char *told;
	enum said as_told;
	json_t *instead_of; /* texts: what of the call is another here; or NULL */
	struct came {
		const char *as, *to;
	} callers[IDENTITIES]; /* what it came to for others */
	size_t caller_count;
};

/* The event's name asks for what is not there. */
struct absent_answer {
	const char *what, *name;
	const struct absent_sentences *says;
	const char **there; /* of its kind; or NULL */
};

/* A new reference each. */
json_t *explanation_json(const struct explanation *x);
json_t *absent_json(const struct absent_answer *absent);

/* For people. */
void explanation_write(const struct explanation *x, FILE *f);
void absent_write(const struct absent_answer *absent, FILE *f);

struct why {
	/* What is asked, and of what the answer is made. */
	struct model *model;
	const struct tables *tables;
	const struct knowledge *knowledge;
	const struct question *question;
	enum identity as;
	bool is_tried; /* on this machine; else by the model alone */
	/* Holds the lock beside other perfabis, and puts sysctls back; NULL: none is written. */
	struct restorer *restorer;

	/* What why_explain() has made of it. */
	struct pool *pool;      /* the answer's */
	struct setup_plan plan; /* one call, `asked`, and what was given before */
	struct then_call then[THEN_MOST];
	size_t then_count;
	bool is_spoiled; /* a sysctl is not as it was: none is changed any more */
};

/*
 * The explanation, which lives as long as `why`: end that with why_free(), whatever came. NULL with
 * `e` filled: the question is wrong, or what is `given` could not be had.
 */
struct explanation *why_explain(struct why *why, struct error *e);
void why_free(struct why *why);

#endif
