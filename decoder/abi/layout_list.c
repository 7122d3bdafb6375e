/* SPDX-License-Identifier: MIT */
/*
 * Lists of fields: which of them others can name, and what a layout takes at most.
 */
#include "abi/layout_read.h"

#include <errno.h>
#include <string.h>

/* What a line can have besides, where a record is damaged, compressed or not known. */
static const char *const taken[] = {"type_id", "within", "at", "bytes", "rest", NULL};

static bool line_has_name(const char *name)
{
	for (const struct layout_member *member = layout_line; member->name; member++)
		if (!strcmp(member->name, name))
			return true;
	return name_index(name, taken, NULL) >= 0;
}

int layout_check_name(struct layout_reader *r, const char *name, const struct where *w)
{
	enum layout_owner owner = r->layout->owner;
	bool is_record = owner == LAYOUT_OF_RECORD || owner == LAYOUT_OF_TOOL_RECORD;

	if (is_record && !r->in_object && line_has_name(name))
		return error_name(r->e, w, name, NULL, "a name that a record's line does not have");
	return 0;
}

static int see(struct layout_reader *r, const struct layout_node *node, const struct where *w)
{
	if (r->visible_count == VISIBLE)
		return error_name(r->e, w, node->name, NULL,
				  "no more than %d fields that others could name", VISIBLE);
	r->visible[r->visible_count++] = node;
	return 0;
}

int layout_field_named(struct layout_reader *r, const json_t *json, const struct layout_node **out,
		       const struct where *w)
{
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");

	*out = NULL;
	if (!name)
		return error_value(r->e, w, json, "the name of a field before this one");
	if (name[0] == '$') {
		if (r->abi->kept && !strcmp(r->abi->kept, name + 1))
			return 0;
		return error_name(r->e, w, name, r->abi->kept,
				  "a field with `keep` that came before, after the $");
	}
	for (size_t i = r->visible_count; i--;) {
		struct layout_node *node = (struct layout_node *)r->visible[i];

		if (strcmp(node->name, name) != 0)
			continue;
		r->layout->named += !node->is_named_by_others;
		node->is_named_by_others = true;
		*out = node;
		return 0;
	}
	for (size_t i = 0; i < r->visible_count; i++)
		nearest_try(&near, r->visible[i]->name);
	return error_name(r->e, w, name, near.best, "the name of a field before this one");
}

static int check_limits(struct layout_reader *r, const struct where *w, const json_t *json)
{
	const struct layout *layout = r->layout;

	if (layout->depth > LAYOUT_DEPTH)
		return error_value(r->e, w, json, "fields no more than %d deep", LAYOUT_DEPTH);
	if (layout->loops > LAYOUT_LOOPS)
		return error_value(r->e, w, json, "arrays in no more than %d arrays",
				   LAYOUT_LOOPS - 1);
	if (layout->named > LAYOUT_NAMED)
		return error_value(r->e, w, json, "fewer fields that others name");
	if (layout->fields > LAYOUT_FIELDS)
		return error_value(r->e, w, json, "no more than %d fields", LAYOUT_FIELDS);
	return 0;
}

int layout_add_limits(struct layout_reader *r, const struct layout *used, const struct where *w,
		      const json_t *json)
{
	struct layout *layout = r->layout;

	if (r->depth + used->depth > layout->depth)
		layout->depth = r->depth + used->depth;
	if (r->loops + used->loops > layout->loops)
		layout->loops = r->loops + used->loops;
	layout->named += used->named;
	layout->fields += used->fields;
	return check_limits(r, w, json);
}

int layout_read_list(struct layout_reader *r, struct layout_list *out, const json_t *list,
		     const struct where *w)
{
	const struct layout list_alone = {.depth = 1, .fields = (unsigned)json_array_size(list)};
	struct layout_names names;
	struct layout_node *nodes;
	const json_t *item;
	size_t i;
	int err;

	if (!json_is_array(list))
		return error_value(r->e, w, list, "a list of fields");
	err = layout_add_limits(r, &list_alone, w, list);
	if (err)
		return err;
	nodes = arena_array(&r->abi->arena, json_array_size(list), sizeof(*nodes));
	if (!nodes)
		return error_no_memory(r->e, w, "memory for the ABI tables");
	out->nodes = nodes;
	if (layout_names_begin(&names))
		err = error_no_memory(r->e, w, "memory for the ABI tables");
	r->depth++;
	json_array_foreach(list, i, item) {
		struct where at = where_index(w, i);

		if (!err)
			err = layout_read_field(r, &nodes[i], item, &at);
		if (!err)
			err = layout_names_add(r, &names, &nodes[i], &at);
		if (!err && nodes[i].name)
			err = layout_check_name(r, nodes[i].name, &at);
		if (!err && nodes[i].kind == LAYOUT_NUMBER && nodes[i].name)
			err = see(r, &nodes[i], &at);
		out->count++;
		if (!err)
			err = check_limits(r, &at, item);
		if (err)
			break;
	}
	r->depth--;
	layout_names_end(&names);
	return err;
}

int layout_read_branch(struct layout_reader *r, struct layout_list *out, const json_t *list,
		       const struct where *w)
{
	size_t seen = r->visible_count;
	int err = layout_read_list(r, out, list, w);

	r->visible_count = seen;
	return err;
}

static size_t size_smallest(const struct layout_size *size)
{
	return size->from == LAYOUT_FROM_PREFIX ? size->prefix
	       : size->from == LAYOUT_FROM_NUMBER
		       ? (size->number > size->less ? size->number - size->less : 0)
		       : 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
static size_t node_smallest(const struct abi *abi, const struct layout_node *node)
{
	size_t then, other;

	if (node->kind == LAYOUT_WHEN && !node->when.condition.attr)
		return 0; /* what one holds decides: it may do without */
	switch (node->kind) {
	case LAYOUT_NUMBER:
		return layout_types[node->number.type].width;
	case LAYOUT_WORD:
		return layout_types[node->word.type].width;
	case LAYOUT_STRING:
	case LAYOUT_BYTES:
	case LAYOUT_OPAQUE:
		return size_smallest(&node->text.size);
	case LAYOUT_ATTR:
		return abi->attr_smallest;
	case LAYOUT_PAD:
		return node->zeros;
	case LAYOUT_ARRAY:
		return node->array.count.from == LAYOUT_FROM_PREFIX ? node->array.count.prefix : 0;
	case LAYOUT_LOOP:
		return node->loop.count.from == LAYOUT_FROM_PREFIX ? node->loop.count.prefix : 0;
	case LAYOUT_OBJECT:
		return layout_smallest(abi, &node->object);
	case LAYOUT_USE:
		return layout_smallest(abi, &node->use->list);
	case LAYOUT_WHEN:
		then = layout_smallest(abi, &node->when.then);
		other = layout_smallest(abi, &node->when.other);
		return then < other ? then : other;
	default:
		return 0;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
size_t layout_smallest(const struct abi *abi, const struct layout_list *list)
{
	size_t size = 0;

	for (size_t i = 0; i < list->count; i++)
		size += node_smallest(abi, &list->nodes[i]);
	return size;
}
