/* SPDX-License-Identifier: MIT */
/*
 * Objects of JSON as structs: a row a member says how it is read, what is wrong with it, and where
 * it goes. What no row knows is an error, with the nearest key.
 */
#ifndef PERFABI_DOC_H
#define PERFABI_DOC_H

#include <stdint.h>

#include "text/arena.h"
#include "text/error.h"
#include "text/source.h"

/* A reading: what is made lives as long as the arena, and as the JSON. */
struct doc {
	struct arena *arena;
	struct error *e;
	void *context; /* for `read` and `check` functions */
};

struct doc_type;

struct doc_row {
	const char *key;
	enum doc_kind {
		DOC_ANY,    /* const json_t *: as it is */
		DOC_TEXT,   /* const char *: not empty, without control characters */
		DOC_STRING, /* const char *: any */
		DOC_TRUTH,  /* bool */
		DOC_NUMBER, /* uint32_t, from `least` to `most` */
		DOC_WORD,   /* int: the index of one of `words` */
		DOC_OBJECT, /* a struct of `type` */
		DOC_LIST, /* a pointer to structs of `type`; `most` (0: any) of them, in `count` */
		DOC_MAP,  /* the same of an object's members; a struct begins with its name */
		DOC_STRINGS, /* const char *const *: a list of texts, NULL-terminated; `read` has
				each */
		DOC_NAMES,   /* the same of one text, or a list of at least one */
		DOC_READ     /* whatever `read` makes of it */
	} kind;
	bool is_required;
	size_t at; /* in the struct; DOC_NOWHERE: it is only looked at */
	const struct doc_type *type;
	size_t count; /* of a size_t in the struct */
	uint32_t least, most;
	const char *const *words;
	/* 0, or a negative errno with the reading's error filled. */
	int (*read)(struct doc *d, const json_t *json, void *at, const struct where *w);
	const char *expected; /* what a message says it should be; NULL: what its kind is */
	/* For JSON Schema: what it is, and, where neither kind nor type say it, what it takes: a
	 * definition's name in names.schema.json, "#..." one of the file's own, or a schema. */
	const char *help, *takes;
};

#define DOC_NOWHERE SIZE_MAX

/* A row's `at`, also of an option's: where its value goes. */
#define AT(type, member) .at = offsetof(type, member)

struct doc_type {
	const char *what; /* "a gate", for messages */
	const struct doc_row *rows;
	size_t size; /* 0: the object is only looked at, or fills a struct that is ready */
	/* What members are to each other. As `read`. */
	int (*check)(struct doc *d, void *made, const json_t *json, const struct where *w);
	/* For JSON Schema: what `check` holds, as members of a schema; and the type whose rows of
	 * the same key say what those of DOC_ANY here are. Either may be NULL. */
	const char *rules;
	const struct doc_type *unread;
};

/* Reads the object into *out, zeroed before (of a type without a size, not; NULL: nowhere). 0, or a
 * negative errno with d->e filled. */
int doc_read(struct doc *d, const struct doc_type *type, const json_t *json, void *out,
	     const struct where *w);

/* The same of a whole file, which the arena keeps. */
int doc_load(struct doc *d, const struct doc_type *type, const struct source *source, void *out);

#endif
