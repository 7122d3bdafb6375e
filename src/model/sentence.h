/* SPDX-License-Identifier: MIT */
/*
 * What a check says of a call: a sentence in which "$fact" stands for what the fact is.
 */
#ifndef PERFABI_MODEL_SENTENCE_H
#define PERFABI_MODEL_SENTENCE_H

#include "model/predicate.h"

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

/* Writes the sentence of this situation, cut to fit, with a NUL. */
void sentence_write(const struct sentence *sentence, const struct facts *facts, struct situation *s,
		    char *out, size_t size);

/* The same as a member of `json`; a sentence without a piece is none. */
void sentence_tell(const struct sentence *sentence, const struct facts *facts, struct situation *s,
		   json_t *json, const char *key);

/* Writes a constant as C has it, "PERF_SAMPLE_IP"; as snprintf(3). */
int sentence_constant(const char *prefix, const char *name, char *out, size_t size);

#endif
