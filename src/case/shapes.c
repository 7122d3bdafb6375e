/* SPDX-License-Identifier: MIT */
/*
 * Made of the layouts of cases/abi, by which the decoder goes: it and a case cannot come to differ.
 */
#include "case/shapes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "call/mmap_page.h"

enum { MEMBERS_MAX = 256 };

/* Members as they are told, each once. */
struct gathered {
	const struct abi *abi;
	struct arena *arena;
	struct member list[MEMBERS_MAX + 1];
	size_t count;
	bool has_failed;
};

static struct member *keep_members(struct gathered *g);

static enum shape_kind shape_kind_of(const struct layout_member *told)
{
	static const enum shape_kind kinds[] = {[VALUE_NUMBER] = SHAPE_NUMBER,
						[VALUE_TEXT] = SHAPE_TEXT,
						[VALUE_NAMES] = SHAPE_NAMES,
						[VALUE_LIST] = SHAPE_LIST,
						[VALUE_OBJECT] = SHAPE_OBJECT};

	return kinds[told->value];
}

static void add_member(void *context, const struct layout_member *told);

/* The members of an object, or of a list's elements; NULL where nothing is told of them. */
static struct member *inner(const struct gathered *of, const struct layout_member *told,
			    bool *has_failed)
{
	struct gathered *g = calloc(1, sizeof(*g));
	struct member *members = NULL;

	if (g) {
		*g = (struct gathered){.abi = of->abi, .arena = of->arena};
		layout_members_of(of->abi, told->node, add_member, g);
		members = g->count ? keep_members(g) : NULL;
	}
	*has_failed = *has_failed || !g || g->has_failed;
	free(g);
	return members;
}

/* One that is told twice, and not alike, can be anything. NOLINTNEXTLINE(misc-no-recursion) */
static void add_member(void *context, const struct layout_member *told)
{
	struct gathered *g = context;
	enum shape_kind kind = shape_kind_of(told);
	struct member *known = (struct member *)member_named(g->list, told->name, NULL);

	if (known) {
		if (known->shape.kind != kind || known->shape.members)
			known->shape = (struct value_shape){.kind = SHAPE_ANY};
		return;
	}
	if (g->count == MEMBERS_MAX) {
		g->has_failed = true;
		return;
	}
	known = &g->list[g->count++];
	*known = (struct member){.name = told->name, .shape = {.kind = kind}};
	if (kind == SHAPE_OBJECT || kind == SHAPE_LIST)
		known->shape.members = inner(g, told, &g->has_failed);
}

/* The list in the arena, its end behind it. */
static struct member *keep_members(struct gathered *g)
{
	struct member *out = arena_alloc(g->arena, (g->count + 1) * sizeof(*out));

	if (out)
		memcpy(out, g->list, g->count * sizeof(*out));
	g->has_failed = g->has_failed || !out;
	return out;
}

/* All that has this layout can show. */
static struct member *members_of(const struct abi *abi, struct arena *arena,
				 const struct layout *layout)
{
	struct gathered *g = calloc(1, sizeof(*g));
	struct member *out;

	if (!g)
		return NULL;
	*g = (struct gathered){.abi = abi, .arena = arena};
	layout_members(layout, add_member, g);
	out = keep_members(g);
	if (g->has_failed)
		out = NULL;
	free(g);
	return out;
}

/* What every line has. */
static struct member *common_members(struct arena *arena)
{
	struct gathered *g = calloc(1, sizeof(*g));
	struct member *out = NULL;

	if (g) {
		*g = (struct gathered){.arena = arena};
		for (const struct layout_member *m = layout_line; m->name; m++)
			add_member(g, m);
		out = keep_members(g);
	}
	free(g);
	return out;
}

/* The type as the decoder writes it: "MMAP2". */
static void type_text(const char *name, char *out, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		out[i] = (char)toupper((unsigned char)name[i]);
	out[i] = '\0';
}

static bool shapes_of_records(struct record_shapes *out, const struct abi *abi, struct arena *arena)
{
	const struct abi_family *records = abi_family(abi, "record");

	*out = (struct record_shapes){
		.list = arena_alloc(arena, (records->count + 1) * sizeof(*out->list)),
		.common = common_members(arena)};
	for (size_t i = 0; out->list && i < records->count; i++) {
		struct record_shape *shape = &out->list[out->count];

		if (!records->values[i].layout)
			continue;
		type_text(records->values[i].name, shape->type, sizeof(shape->type));
		shape->members = members_of(abi, arena, records->values[i].layout);
		if (!shape->members)
			return false;
		out->count++;
	}
	return out->list && out->common;
}

int shapes_load(struct tables *tables, struct arena *arena, struct error *e)
{
	static const char *const names[PAGE_MEMBERS] = {[PAGE_DATA_HEAD] = "data_head",
							[PAGE_DATA_TAIL] = "data_tail",
							[PAGE_LOCK] = "lock",
							[PAGE_INDEX] = "index",
							[PAGE_OFFSET] = "offset"};

	if (!shapes_of_records(&tables->records, tables->abi, arena))
		return error_no_memory(e, NULL, "memory for the members of records");
	tables->read = members_of(tables->abi, arena, abi_layout(tables->abi, "read_format"));
	tables->page = members_of(tables->abi, arena, abi_layout(tables->abi, "mmap_page"));
	if (!tables->read || !tables->page)
		return error_no_memory(e, NULL, "memory for the members of what is read");
	for (size_t i = 0; i < PAGE_MEMBERS; i++) {
		tables->page_at[i] = mmap_page_offset(tables->abi, names[i]);
		if (tables->page_at[i] < 0)
			return error_text(e, NULL, "none",
					  "a member \"%s\" of mmap_page in a file abi/*.json",
					  names[i]);
	}
	return 0;
}
