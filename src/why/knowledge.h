/* SPDX-License-Identifier: MIT */
/*
 * cases/why.json: what is tried of a refused call, what is said of one that opens, and who else
 * could change the machine.
 */
#ifndef PERFABI_WHY_KNOWLEDGE_H
#define PERFABI_WHY_KNOWLEDGE_H

#include "machine/sysctl.h"
#include "setup/setup.h"

enum { CHANGE_SETTINGS = 8 };

enum setting_how { SET_TO, SET_WITH, SET_WITHOUT, SET_WITHIN, SET_ALIGNED };

/* What of a call is set, which is a fact, too. */
struct setting {
	const struct fact *fact;
	struct call_part part;
	bool is_bits; /* the word of all bit fields, as facts have it */
	enum setting_how how;
	struct right_side to;
};

struct change {
	struct predicate *when; /* of calls that it is for; NULL: any that it changes */
	struct settings_of_change {
		struct setting list[CHANGE_SETTINGS];
		size_t count;
	} set;
	struct sentence says, loses;
	bool is_fallback; /* another event takes the place of the one that was asked for */
};

struct changes {
	const struct change *list;
	size_t count;
};

/* One of them, read with a struct vocabulary as context. */
extern const struct doc_type change_type;

/*
 * Makes the change in *call, whose image is its own, and whose evaluation `s` has begun with.
 * Whether it has changed anything: false also where it is not for the call.
 */
bool change_make(const struct change *change, const struct model *model, struct evaluation *s,
		 struct call *call);

/*
 * What it changes in the call of that evaluation, for people: "set cpu to -1"; cut at `size`.
 */
void change_write(const struct change *change, const struct model *model, struct evaluation *s,
		  char *out, size_t size);

/* Something to say of calls that a predicate is about. */
struct note_rule {
	struct predicate *when;
	struct sentence says;
	const char *check; /* that says so, or NULL */
	bool is_measured;  /* it is only said of what was counted */
	bool is_useless;   /* an event that opens, and does nothing of what it is for */
};

struct note_rules {
	const struct note_rule *list;
	size_t count;
};

/* A sysctl that could be another. */
struct sysctl_change {
	struct sysctl_setting {
		const char *name;
		size_t place;         /* in sysctl_names */
		struct right_side to; /* as `fact` */
	} set;
	struct predicate *when;
	struct sentence loses;
	bool is_untried; /* it could not always be put back: the model alone answers */
};

/* A caller, from the one with the fewest rights on. */
struct caller_change {
	int as; /* enum identity */
	const char *is, *says;
	const char *is_confined; /* what it is in a user namespace, if that is another; or NULL */
};

/* What is said of an event that asks for what is not there. */
struct absent_sentences {
	int of;                   /* the place in absent_names */
	const char *const *named; /* globs; NULL: any name */
	struct predicate *when;   /* on the machine and the caller; NULL: always */
	const char *is, *because, *instead;
};

extern const char *const absent_names[]; /* what can be absent, NULL-terminated */

struct knowledge {
	const struct absent_sentences *absent;
	size_t absent_count;
	struct changes changes;
	const struct caller_change *callers;
	size_t caller_count;
	const struct sysctl_change *sysctls;
	size_t sysctl_count;
	struct note_rules notes, others;
	struct arena arena;
};

extern const struct doc_type knowledge_type;

/* 0, or a negative errno with `e` filled. Free with knowledge_free(), whatever came. */
int knowledge_load(struct knowledge *k, const struct source *source, const struct model *model,
		   struct error *e);
void knowledge_free(struct knowledge *k);

/*
 * The fewest changes by which a refused call opens: one, then pairs, then what one more change
 * brings further.
 */

/* What a call comes to. */
struct finding {
	enum fate outcome;          /* never UNFORESEEN of a call that was made */
	int err;                    /* where it is refused */
	const struct check *check;  /* that refuses it, or that cannot be told; or NULL */
	const struct fact *unknown; /* that keeps the model from telling; or NULL */
	bool is_foreseen;           /* the model says the same, and names the check */
	bool differs;               /* the model says something else: ... */
	int predicted;              /* ... this errno; 0: that it opens */
};

/* The judge's evaluation is that of the call afterwards. */
struct finding judge_call(struct judge *judge, const struct call *call);

enum { CHANGES_AT_ONCE = 4, REMEDIES = 12 };

/* A set of changes that lets the call open. */
struct remedy {
	size_t changes[CHANGES_AT_ONCE]; /* indexes, in their order */
	size_t count;
	bool is_fallback;      /* one of them puts another event in the place of the first */
	bool is_unsure;        /* nothing is tried, and the model cannot tell whether it opens */
	struct finding unsure; /* why not */
};

struct remedies {
	struct remedy list[REMEDIES];
	size_t count;
	bool is_cut; /* the search was given up before its end */
};

/*
 * Seeks them, by what the judge says of each call; `refused` is what the call as it is came to.
 * What is found with the fewest changes comes first, and of those with as many, what
 * stands first among the changes.
 */
void search_remedies(struct judge *judge, const struct changes *changes, const struct call *call,
		     const struct finding *refused, struct remedies *found);

/*
 * Makes the remedy's changes in *changed, whose image is abi->attr_size bytes of its own. Bytes
 * laid over attr become attr's own, so that changes are of what the kernel reads.
 */
void remedy_make(const struct remedy *remedy, struct judge *judge, const struct changes *changes,
		 const struct call *call, struct call *changed);

#endif
