/* SPDX-License-Identifier: MIT */
/*
 * The verb that reads a ring buffer.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "step/buffer.h"
#include "step/step.h"
#include "step/types.h"
#include "step/verbs/in_c.h"
#include "step/verbs/verbs.h"

struct records_step {
	uint64_t fd;
	const json_t *types; /* NULL: all */
	bool keeps;
};

/* A list of records' types, by their names in cases/abi: const json_t *. */
static int compile_types(struct compiling *c, const struct argument *a, struct operand *operand,
			 const struct where *w)
{
	const struct abi_family *family = abi_family(c->tables->abi, "record");
	json_t *item;
	size_t i;

	(void)a;
	if (!json_is_array(operand->json))
		return error_value(c->error, w, operand->json, "a list of records' types");
	json_array_foreach(operand->json, i, item) {
		const char *name = json_string_value(item);
		struct nearest near = nearest_to(name ? name : "");

		if (!name || !abi_value(family, name, &near))
			return error_name(c->error, w, name ? name : "", near.best,
					  "a record of cases/abi");
	}
	return 0;
}

static int types_value(struct step *s, const struct argument *a, const struct operand *operand,
		       void *out)
{
	(void)s;
	(void)a;
	memcpy(out, &operand->json, sizeof(operand->json));
	return 0;
}

static const struct argument_type argument_types = {
	.compile = compile_types,
	.evaluate = types_value,
	.schema = "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}"};

static bool is_of(const json_t *types, const json_t *record)
{
	const char *type = json_string_value(json_object_get(record, "type"));
	json_t *item;
	size_t i;

	json_array_foreach(types, i, item)
		if (!strcasecmp(json_string_value(item), type))
			return true;
	return false;
}

static void keep_types(json_t *records, const json_t *types)
{
	for (size_t i = json_array_size(records); types && i-- > 0;)
		if (!is_of(types, json_array_get(records, i)))
			json_array_remove(records, i);
}

static int run_records(struct step *s)
{
	const struct records_step *a = s->arguments;
	struct map *map = step_map(s, (int)a->fd, true);

	if (!map || map->event == NO_EVENT)
		return step_misnamed(s, "records", "an event that is mapped");
	s->shown = buffer_records(s->run, map, a->keeps, s->error);
	if (!s->shown)
		return -ECANCELED;
	keep_types(s->shown, a->types);
	return 0;
}

static void shape_records(const struct tables *tables, const struct statement *statement,
			  struct value_shape *out)
{
	(void)statement;
	*out = (struct value_shape){.kind = SHAPE_RECORDS, .records = &tables->records};
}

const struct verb records_verbs[] = {
	{.name = "records",
	 .help = "what an event's ring buffer holds, decoded strictly",
	 .run = run_records,
	 .in_c = records_in_c,
	 .kind = SHOWS,
	 .binds = BINDS_SHOWN,
	 .shape = shape_records,
	 ARGUMENTS(struct records_step,
		   {"records", &argument_bound, MEMBER(struct records_step, fd)},
		   {"of", &argument_types, MEMBER(struct records_step, types),
		    .help = "these types alone"},
		   {"keep", &argument_truth, MEMBER(struct records_step, keeps),
		    .help = "leaves them unread"})},
	{0}};
