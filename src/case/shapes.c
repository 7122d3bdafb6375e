/* SPDX-License-Identifier: MIT */
/*
 * Made of the layouts of cases/abi by the decoder's own plans: it and a case cannot come to differ.
 */
#include "case/shapes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

/* Members as they are found, each once. */
struct gathered {
	struct member *list; /* ends with one without a name */
	size_t count;
	bool has_failed;
};

static void add_member(void *context, const char *name)
{
	struct gathered *g = context;
	struct member *grown;

	if (member_named(g->list, name, NULL))
		return;
	grown = realloc(g->list, (g->count + 2) * sizeof(*grown));
	if (!grown) {
		g->has_failed = true;
		return;
	}
	g->list = grown;
	g->list[g->count++] = (struct member){name, {SHAPE_ANY, NULL, NULL}, NULL};
	g->list[g->count] = (struct member){0};
}

/* The type as the decoder writes it: "MMAP2". */
static void type_text(const char *name, char *out, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		out[i] = (char)toupper((unsigned char)name[i]);
	out[i] = '\0';
}

static int add_record(struct record_shapes *out, const struct abi *abi,
		      const struct abi_family *records, const struct abi_value *value,
		      struct error *e)
{
	struct gathered g = {0};
	struct plan_for with = {.abi = abi, .offer = add_member, .context = &g};
	struct record_shape *shape = &out->list[out->count++];
	struct plan plan;
	int err = plan_make(&plan, &with, records, value, e);

	if (!err)
		plan_free(&plan);
	type_text(value->name, shape->type, sizeof(shape->type));
	shape->members = g.list;
	return !err && g.has_failed ? error_no_memory(e, NULL, "memory for records' members") : err;
}

int shapes_load(struct tables *tables, struct error *e)
{
	static const struct member common[] = {{"type", {SHAPE_TEXT, NULL, NULL}, NULL},
					       {"type_id", {SHAPE_NUMBER, NULL, NULL}, NULL},
					       {"offset", {SHAPE_NUMBER, NULL, NULL}, NULL},
					       {"size", {SHAPE_NUMBER, NULL, NULL}, NULL},
					       {"misc", {SHAPE_NAMES, NULL, NULL}, NULL},
					       {"event", {SHAPE_NUMBER, NULL, NULL}, NULL},
					       {"within", {SHAPE_NUMBER, NULL, NULL}, NULL},
					       {"at", {SHAPE_NUMBER, NULL, NULL}, NULL},
					       {"bytes", {SHAPE_TEXT, NULL, NULL}, NULL},
					       {"rest", {SHAPE_TEXT, NULL, NULL}, NULL},
					       {0}};
	const struct abi_family *records = abi_family(tables->abi, "record");
	struct record_shapes *out = &tables->records;

	*out = (struct record_shapes){calloc(records->count + 1, sizeof(*out->list)), 0, common};
	if (!out->list)
		return error_no_memory(e, NULL, "memory for records' members");
	for (size_t i = 0; i < records->count; i++)
		if (json_object_get(records->values[i].json, "fields") &&
		    add_record(out, tables->abi, records, &records->values[i], e))
			return -EINVAL;
	return 0;
}

void shapes_free(struct tables *tables)
{
	for (size_t i = 0; i < tables->records.count; i++)
		free(tables->records.list[i].members);
	free(tables->records.list);
	free(tables->read);
	free(tables->page);
}
