/* SPDX-License-Identifier: MIT */
/*
 * Which gate of the kernel refused a call. An errno alone does not tell, so witnesses do: the call
 * is made again with a violation added that belongs to a known gate and has another errno. If that
 * errno comes, the first refusal lies behind the witness; if the old one comes, before it.
 * cases/phases.json has the gates in the kernel's order, the errnos each can give, and the
 * witnesses.
 */
#ifndef PERFABI_PHASE_H
#define PERFABI_PHASE_H

#include "abi/abi.h"
#include "machine/identity.h"
#include "text/doc.h"

struct call;
struct environment;

enum { PHASES_MAX = 16, PHASE_ERRNOS_MAX = 24 };

/* A violation that can be added to any call, and the errno that it has. */
struct witness {
	const char *name;
	int at_end; /* behind its gate's other checks; else before them */
	int err;
	int as_user;            /* made without capabilities */
	const json_t *no_files; /* made with RLIMIT_NOFILE 0, or NULL */
	bool zombie;            /* made on a process that is dead and not reaped */
	struct witness_open {
		const json_t *attr;        /* fields that it sets, or NULL */
		const json_t *pid, *flags; /* or NULL */
		const json_t *null;        /* made with a NULL attr; or NULL */
	} open;
	const json_t * or ;    /* attr bits it adds, or NULL */
	const json_t *unless;  /* of a call with one of these bits of attr its errno may be another
				  gate's; or NULL */
	uint64_t unless_flags; /* not for a call that has one of these */
	/* What makes it another violation, where it is refused as before. */
	struct witness_again {
		const struct abi_field *flip; /* a bit that is turned round; NULL: nothing */
		const json_t *attr, * or ;
	} again;
};

struct phase {
	const char *name, *about;
	int errnos[PHASE_ERRNOS_MAX]; /* behind the last 0 */
	const struct witness *witnesses;
	size_t witness_count;
};

struct phases {
	const struct phase *list;
	size_t count;
	struct arena arena;
};

extern const struct doc_type phases_type;

/* 0 or -EINVAL with `e` filled. Free with phases_free(). */
int phases_load(struct phases *phases, const struct source *source, const struct abi *abi,
		struct error *e);
void phases_free(struct phases *phases);

/* The index, or -1; `near` may be NULL. */
int phase_by_name(const struct phases *phases, const char *name, struct nearest *near);

/* The index of the gate of that name, which can give `err`; -EINVAL with `e` filled. */
int phase_giving(const struct phases *phases, const char *name, int err, const struct where *w,
		 struct error *e);

/*
 * The gates, as a mask by index, that can have refused `call` with `err` when made by the calling
 * process. Makes as many further calls as it takes to leave one, none of which stays open. `zombie`
 * is a dead child that is not reaped, or 0 to make one when it is needed: a process that has
 * inherited events open must not fork here, since a fork can swap its contexts with the child's.
 */
unsigned phase_infer(const struct phases *phases, const struct call *call, int err, pid_t zombie,
		     const struct environment *env);

/* A dead child that is not reaped; a negative errno if it could not be made. */
pid_t phase_make_zombie(void);

/* "EINVAL from validate or fd": the gates as far as anybody asked. */
void phase_describe(const struct phases *phases, int err, unsigned mask, char *out, size_t size);

/* The names in a mask, "permission or fd". */
void phase_names(const struct phases *phases, unsigned mask, char *out, size_t size);

#endif
