/* SPDX-License-Identifier: MIT */
/*
 * Names of record types and members, each held against what there is.
 */
#include "stream/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/ascii.h"

/* As cases/abi spells it. */
static const char *to_lower(const char *name, char *out, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		out[i] = ascii_lower(name[i]);
	out[i] = '\0';
	return out;
}

static int select_types(struct selection *s, const struct selection_names *names,
			const struct events *events, struct error *e)
{
	if (!names->type_count)
		return 0;
	s->lines.types = s->types;
	s->lines.no_unknown = true;
	for (size_t i = 0; i < names->type_count; i++) {
		const char *name = names->types[i];
		char lower[64];
		struct nearest near = nearest_to(to_lower(name, lower, sizeof(lower)));
		bool found = ascii_same(name, "unknown");

		if (found)
			s->lines.no_unknown = false;
		for (size_t k = 0; k < events->record_count; k++) {
			const struct abi_value *value = events->records[k].value;

			nearest_try(&near, value->name);
			if (abi_value(events->records[k].family, name, NULL) != value)
				continue;
			s->types[value->value] = true;
			found = true;
		}
		if (!found)
			return error_name(e, NULL, name, near.best, "a record type");
	}
	return 0;
}

struct search {
	struct nearest *near;
	const char *name;
	bool found;
};

static void try_member(void *context, const struct layout_member *member)
{
	struct search *search = context;

	search->found = search->found || !strcmp(member->name, search->name);
	nearest_try(search->near, member->name);
}

/* The members that every record has, and the option that leaves each out. */
static bool select_common(struct selection *s, const char *name)
{
	const struct {
		const char *name;
		bool *out;
	} common[] = {{"offset", &s->lines.no_offset},
		      {"size", &s->lines.no_size},
		      {"misc", &s->lines.no_misc},
		      {"event", &s->lines.no_event}};

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (!strcmp(common[i].name, name)) {
			*common[i].out = false;
			return true;
		}
	return !strcmp(name, "type");
}

static int select_fields(struct selection *s, const struct selection_names *names,
			 const struct events *events, struct error *e)
{
	if (!names->field_count)
		return 0;
	s->fields = calloc(names->field_count, sizeof(*s->fields));
	if (!s->fields)
		return -ENOMEM;
	s->lines.no_offset = s->lines.no_size = s->lines.no_misc = s->lines.no_event = true;
	for (size_t i = 0; i < names->field_count; i++) {
		struct nearest near = nearest_to(names->fields[i]);
		struct search search = {&near, names->fields[i], false};

		if (select_common(s, names->fields[i]))
			continue;
		for (size_t k = 0; k < events->record_count; k++)
			layout_members(events->records[k].value->layout, try_member, &search);
		if (!search.found)
			return error_name(e, NULL, names->fields[i], near.best,
					  "a member of some record");
		s->fields[s->field_count++] = names->fields[i];
	}
	return 0;
}

int selection_make(struct selection *s, const struct selection_names *names,
		   const struct events *events, struct error *e)
{
	int err;

	*s = (struct selection){0};
	err = select_types(s, names, events, e);
	return err ? err : select_fields(s, names, events, e);
}

void selection_free(struct selection *s)
{
	free(s->fields);
	s->fields = NULL;
}
