/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary as a list, found by name.
 */
#include <string.h>

#include "abi/attr.h"
#include "machine/names.h"
#include "machine/property.h"
#include "model/fact.h"

void facts_add(struct facts *facts, const struct fact *fact)
{
	facts->is_full = facts->is_full || facts->count == FACTS_MAX;
	if (!facts->is_full)
		facts->list[facts->count++] = *fact;
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

int fact_print_errno(const struct fact *fact, const struct evaluation *s, uint64_t value, char *out,
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

bool fact_compute(const struct fact *fact, struct evaluation *s, uint64_t *value)
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

static const void *environment_itself(struct evaluation *s)
{
	return s->machine->env;
}

void facts_add_properties(struct facts *facts)
{
	const struct property *p;

	for (size_t i = 0; (p = property_at(i)); i++) {
		struct fact fact = {.name = p->fact.name,
				    .about = p->fact.about,
				    .unknown = p->fact.unknown,
				    .is_signed = p->fact.is_signed,
				    .of = environment_itself,
				    .datum = p->of};

		if (fact.name)
			facts_add(facts, &fact);
	}
}

static bool learned_value(const struct fact *fact, struct evaluation *s, uint64_t *value)
{
	const struct learned_item *item = &s->machine->learned->list[fact->index];

	*value = item->value;
	return item->is_known;
}

void facts_add_learned(struct facts *facts, const struct learned *learned)
{
	for (size_t i = 0; i < learned->count; i++) {
		struct fact fact = {.name = learned->list[i].name,
				    .about = learned->list[i].about,
				    .unknown = "it could not be learned of this kernel",
				    .get_by = learned_value,
				    .is_mask = learned->list[i].bits_of != NULL,
				    .index = i};

		facts_add(facts, &fact);
	}
}
