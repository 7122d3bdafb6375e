/* SPDX-License-Identifier: MIT */
/*
 * `if` of a check: a pattern on facts, compiled. Its members are facts with patterns of numbers,
 * terms of cases/model.json with true or false, `token` with a token of `requires`, and `all`,
 * `any` and `not` with others of its kind. All must hold.
 */
#ifndef PERFABI_MODEL_PREDICATE_H
#define PERFABI_MODEL_PREDICATE_H

#include "call/phase.h"
#include "model/fact.h"
#include "text/doc.h"

/* What may be known of a condition. */
enum truth { DOES_NOT_HOLD, HOLDS, NOT_KNOWN };

enum comparison { OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE, OP_HAS, OP_WITHOUT, OP_WITHIN };

struct right_side {
	bool is_fact;
	size_t fact;
	uint64_t value;
};

/* One comparison: the smallest thing that can hold or not. */
struct term {
	size_t fact;
	enum comparison op;
	bool is_turned; /* it holds where the comparison does not */
	struct right_side operand;
	struct term *next; /* of the whole predicate, or NULL */
};

struct predicate {
	enum predicate_kind { ALL, ANY, NOT, TERM, TOKEN } kind;
	struct term term;
	struct term *terms;       /* of a whole predicate: the first of all in it, or NULL */
	const char *token;        /* of kind TOKEN, or NULL ... */
	enum truth settled;       /* ... and whether the machine meets it */
	struct predicate **parts; /* of ALL, ANY and NOT */
	size_t count;
};

/* What predicates are made of. */
struct vocabulary {
	const struct abi *abi;
	const struct phases *phases;
	const struct facts *facts;
	const json_t *terms;     /* of cases/model.json */
	struct environment *env; /* against which tokens are settled; NULL: they stay unknown */
	struct arena *arena;
	unsigned depth;
	struct term **end; /* where the next term of the predicate is to be noted */
};

/*
 * What stands to the right of a fact: "$fact", "sw_id.dummy" of the ABI's constants, or a value
 * with the names that the fact `of` has. 0, or -EINVAL with `e` filled.
 */
int right_side_compile(struct right_side *out, const json_t *json, const struct fact *of,
		       struct vocabulary *v, const struct where *w, struct error *e);

/* Its value; false: the fact is not known. */
bool right_side_get(const struct right_side *side, const struct facts *facts, struct evaluation *s,
		    uint64_t *value);

/* NULL with `e` filled. It lives as long as the arena, and as the JSON. */
struct predicate *predicate_compile(const json_t *json, struct vocabulary *v, const struct where *w,
				    struct error *e);

/* The same as a doc_row reads it, with a struct vocabulary as context. */
int predicate_read(struct doc *d, const json_t *json, void *predicate, const struct where *w);

/* `why`, if it is not NULL, is set to a fact that is not known, if that decides. */
enum truth predicate_holds(const struct predicate *p, const struct facts *facts,
			   struct evaluation *s, const struct fact **why);

/* The same of one term. */
enum truth predicate_term_holds(const struct term *term, const struct facts *facts,
				struct evaluation *s, const struct fact **why);

/* Pieces of text, each with the fact behind it. */
struct sentence {
	struct piece {
		const char *text;
		size_t length;
		int fact; /* index, or -1 */
	} * pieces;
	size_t count;
};

/* Takes the text apart, as a doc_row reads it, with a struct vocabulary as context. */
int sentence_read(struct doc *d, const json_t *json, void *sentence, const struct where *w);

/* Writes the sentence of this evaluation, cut to fit, with a NUL. */
void sentence_write(const struct sentence *sentence, const struct facts *facts,
		    struct evaluation *s, char *out, size_t size);

/* The same as a member of `json`; a sentence without a piece is none. */
void sentence_tell(const struct sentence *sentence, const struct facts *facts, struct evaluation *s,
		   json_t *json, const char *key);

/* Writes a constant as C has it, "PERF_SAMPLE_IP"; as snprintf(3). */
int sentence_constant(const char *prefix, const char *name, char *out, size_t size);

/*
 * Each sentence of the file (because, instead, says, loses) that has such a name has a condition
 * about it, beside it or around it. 0, or -EINVAL with `e` filled.
 */
int sentences_check(const struct source *source, const struct model_file *file, struct error *e);

#endif
