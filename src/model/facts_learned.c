/* SPDX-License-Identifier: MIT */
/*
 * What was learned of the kernel, as facts.
 */
#include "model/fact.h"

static bool learned_value(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct lesson *lesson = &s->machine->learned->list[fact->index];

	*value = lesson->value;
	return lesson->is_known;
}

int facts_add_learned(struct facts *facts, const struct learned *learned)
{
	int err = 0;

	for (size_t i = 0; i < learned->count && !err; i++) {
		struct fact fact = {.name = learned->list[i].name,
				    .about = learned->list[i].about,
				    .unknown = "it could not be learned of this kernel",
				    .get = learned_value,
				    .is_mask = json_object_get(learned->list[i].json, "bits_of"),
				    .index = i};

		err = facts_add(facts, &fact);
	}
	return err;
}
