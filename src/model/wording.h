/* SPDX-License-Identifier: MIT */
/*
 * `words` of cases/model.json: a part of many checks' sentences that hangs on the call, such as the
 * capability that is needed. Each is a fact, whose names are the texts.
 */
#ifndef PERFABI_MODEL_WORDING_H
#define PERFABI_MODEL_WORDING_H

#include "model/predicate.h"

struct wording {
	const struct facts *facts;
	struct predicate **when; /* of each text; NULL: always */
	struct abi_value *values;
	struct abi_family texts; /* with these values */
};

/*
 * Adds the facts words.NAME to `facts`, which stays where it is, with what `v` has. A wording may
 * go by those before it. 0, or a negative errno with `e` filled.
 */
int facts_add_words(struct facts *facts, const json_t *words, struct vocabulary *v,
		    const struct where *w, struct error *e);

#endif
