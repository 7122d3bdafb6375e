/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary as a list, found by name.
 */
#include <errno.h>
#include <string.h>

#include "abi/attr.h"
#include "machine/names.h"
#include "machine/property.h"
#include "model/fact.h"

int facts_add(struct facts *facts, const struct fact *fact)
{
	if (facts->count == FACTS_MAX)
		return -ENOSPC;
	facts->list[facts->count++] = *fact;
	return 0;
}

int facts_add_list(struct facts *facts, const struct fact *list)
{
	int err = 0;

	for (; list->name && !err; list++)
		err = facts_add(facts, list);
	return err;
}

int facts_find(const struct facts *facts, const char *name, struct nearest *near)
{
	for (size_t i = 0; i < facts->count; i++)
		if (!strcmp(facts->list[i].name, name))
			return (int)i;
	for (size_t i = 0; near && i < facts->count; i++)
		nearest_try(near, facts->list[i].name);
	return -1;
}

int fact_print_errno(const struct fact *fact, const struct situation *s, uint64_t value, char *out,
		     size_t size)
{
	(void)fact;
	(void)s;
	return snprintf(out, size, "%s", errno_name((int)value));
}

void facts_help(const struct facts *facts, FILE *f)
{
	for (size_t i = 0; i < facts->count; i++)
		fprintf(f, "  %-32s %s\n", facts->list[i].name, facts->list[i].about);
}

bool fact_compute(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const void *of;
	bool known;

	if (fact->get)
		return fact->get(s, value);
	if (fact->get_by)
		return fact->get_by(fact, s, value);
	of = fact->of ? fact->of(s) : NULL;
	known = of && datum_get(of, &fact->datum, value);
	if (fact->mask)
		*value = (*value & fact->mask) != 0;
	return known;
}

static const void *environment_itself(struct situation *s)
{
	return s->machine->env;
}

int facts_add_properties(struct facts *facts)
{
	const struct property *p;
	int err = 0;

	for (size_t i = 0; !err && (p = property_at(i)); i++) {
		struct fact fact = {.name = p->fact.name,
				    .about = p->fact.about,
				    .unknown = p->fact.unknown,
				    .is_signed = p->fact.is_signed,
				    .of = environment_itself,
				    .datum = p->of};

		err = fact.name ? facts_add(facts, &fact) : 0;
	}
	return err;
}

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
				    .get_by = learned_value,
				    .is_mask = learned->list[i].bits_of != NULL,
				    .index = i};

		err = facts_add(facts, &fact);
	}
	return err;
}
