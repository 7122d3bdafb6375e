/* SPDX-License-Identifier: MIT */
/*
 * A predicate as a list of ways, each a list of terms: its disjunctive normal form.
 * NOLINTBEGIN(misc-no-recursion): as deep as the predicate, which is bounded where it is compiled
 */
#include "hunt/goals.h"

#include <stdlib.h>

/* Whatever holds in both. */
static void join(const struct ways *a, const struct ways *b, struct ways *out)
{
	out->count = 0;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			struct way *way = &out->list[out->count];

			if (out->count == WAYS_MAX ||
			    a->list[i].count + b->list[j].count > LITERALS_MAX) {
				out->is_cut = true;
				return;
			}
			*way = a->list[i];
			for (size_t k = 0; k < b->list[j].count; k++)
				way->list[way->count++] = b->list[j].list[k];
			out->count++;
		}
}

static void append_ways(struct ways *out, const struct ways *more)
{
	for (size_t i = 0; i < more->count; i++) {
		if (out->count == WAYS_MAX) {
			out->is_cut = true;
			return;
		}
		out->list[out->count++] = more->list[i];
	}
}

static void expand_predicate(const struct predicate *p, bool holds, struct ways *out);

/* Each part is to hold, or to not hold: all of them, or one. */
static void expand_parts(const struct predicate *p, bool holds, bool all, struct ways *out)
{
	struct ways *part = calloc(1, sizeof(*part)), *joined = calloc(1, sizeof(*joined));

	if (part && joined) {
		out->count = all; /* one way that asks nothing, or none */
		out->list[0].count = 0;
		for (size_t i = 0; i < p->count; i++) {
			part->count = 0;
			expand_predicate(p->parts[i], holds, part);
			if (!all) {
				append_ways(out, part);
				continue;
			}
			join(out, part, joined);
			*out = *joined;
		}
	}
	free(part);
	free(joined);
}

static void expand_predicate(const struct predicate *p, bool holds, struct ways *out)
{
	switch (p->kind) {
	case TERM:
		out->count = 1;
		out->list[0] = (struct way){.list = {{&p->term, holds}}, .count = 1};
		return;
	case TOKEN:
		out->count = p->settled == (holds ? HOLDS : DOES_NOT_HOLD);
		out->list[0].count = 0;
		return;
	case NOT:
		expand_predicate(p->parts[0], !holds, out);
		return;
	default:
		expand_parts(p, holds, (p->kind == ALL) == holds, out);
	}
}

void ways_of(const struct predicate *predicate, struct ways *ways)
{
	ways->count = 0;
	ways->is_cut = false;
	expand_predicate(predicate, true, ways);
}
/* NOLINTEND(misc-no-recursion) */
