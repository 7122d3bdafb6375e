/* SPDX-License-Identifier: MIT */
/*
 * Fields, one function a kind; the shape of what may stand in a layout is in docs/layouts.md and
 * cases/schema/abi.schema.json.
 */
#include "abi/layout_read.h"

#include <errno.h>
#include <string.h>

int layout_unknown_keys(struct layout_reader *r, const json_t *item, const char *const known[],
			const struct where *w)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)item, key, value) {
		struct nearest near = nearest_to(key);
		struct where at = where_key(w, key);

		if (name_index(key, known, &near) < 0)
			return error_name(r->e, &at, key, near.best, "a key of such a field");
	}
	return 0;
}

int layout_small_number(struct layout_reader *r, const json_t *item, const char *key, uint32_t *out,
			const struct where *w)
{
	const json_t *value = json_object_get(item, key);
	struct where at = where_key(w, key);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > LAYOUT_NUMBER_MAX)
		return error_value(r->e, &at, value, "a number from 0 to %d", LAYOUT_NUMBER_MAX);
	*out = (uint32_t)json_integer_value(value);
	return 0;
}

const struct abi_family *layout_family(struct layout_reader *r, const json_t *item, const char *key,
				       const struct where *w)
{
	const struct abi *abi = r->abi;
	const json_t *value = json_object_get(item, key);
	const char *name = json_string_value(value);
	const struct abi_family *family = name ? abi_family(abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, key);

	if (family)
		return family;
	for (size_t i = 0; i < abi->family_count; i++)
		nearest_try(&near, abi->families[i].name);
	if (name)
		error_name(r->e, &at, name, near.best, "a family of constants");
	else
		error_value(r->e, &at, value, "the name of a family of constants");
	return NULL;
}

static int type_named(const char *name)
{
	for (int i = 0; name && i < LAYOUT_TYPES; i++)
		if (!strcmp(layout_types[i].name, name))
			return i;
	return -1;
}

static int read_counts(struct layout_reader *r, struct layout_node *node, const json_t *item,
		       const struct where *w)
{
	static const char *const names[] = {"lost", "lost_samples", NULL};
	const json_t *counts = json_object_get(item, "counts");
	const char *name = json_string_value(counts);
	struct where at = where_key(w, "counts");
	int i = name ? name_index(name, names, NULL) : -1;

	if (!counts)
		return 0;
	if (i < 0)
		return error_value(r->e, &at, counts, "lost or lost_samples");
	node->number.counts = i ? COUNTS_LOST_SAMPLES : COUNTS_LOST;
	return 0;
}

/* What later records go by: there is one such field, in all of cases/abi. */
static int read_keep(struct layout_reader *r, struct layout_node *node, const json_t *item,
		     const struct where *w)
{
	struct where at = where_key(w, "keep");

	if (!node->name || !json_is_true(json_object_get(item, "keep")))
		return 0;
	if (r->abi->kept && strcmp(r->abi->kept, node->name) != 0)
		return error_name(r->e, &at, node->name, NULL, "one field to keep, not \"%s\" too",
				  r->abi->kept);
	node->number.keep = true;
	r->abi->kept = node->name;
	return 0;
}

static int read_plain_number(struct layout_reader *r, struct layout_node *node, const json_t *item,
			     enum layout_type type, const struct where *w)
{
	static const char *const known[] = {"name",   "type",     "set", "keep",
					    "counts", "possible", NULL};
	int err = layout_unknown_keys(r, item, known, w);

	node->kind = LAYOUT_NUMBER;
	node->number.type = type;
	if (!err && json_object_get(item, "set")) {
		node->number.set = layout_family(r, item, "set", w);
		err = node->number.set ? 0 : -EINVAL;
	}
	if (!err)
		err = read_counts(r, node, item, w);
	if (!err)
		err = read_keep(r, node, item, w);
	if (err || !json_is_true(json_object_get(item, "possible")))
		return err;
	if (!node->number.set)
		return error_value(r->e, w, item, "a set beside `possible`");
	node->number.possible = true;
	node->is_named_by_others = true; /* by the test */
	r->layout->named++;
	return 0;
}

static int read_word(struct layout_reader *r, struct layout_node *node, const json_t *item,
		     enum layout_type type, const struct where *w)
{
	static const char *const known[] = {"name", "type", "bitfield", NULL};
	const struct abi_family *family = layout_family(r, item, "bitfield", w);
	struct where at = where_key(w, "bitfield");
	unsigned unit = layout_types[type].width * 8u;

	if (!family || layout_unknown_keys(r, item, known, w))
		return -EINVAL;
	if (!family->word)
		return error_name(r->e, &at, family->name, NULL, "a family of kind layout");
	for (size_t i = 0; i < family->word->count; i++)
		if (family->word->bits[i].first + family->word->bits[i].width > unit)
			return error_name(r->e, &at, family->word->bits[i].name, NULL,
					  "bits that are among the %u of the word", unit);
	node->kind = LAYOUT_WORD;
	node->word.type = type;
	node->word.word = family->word;
	r->layout->named++;
	return 0;
}

static int read_zeros(struct layout_reader *r, struct layout_node *node, const json_t *item,
		      const char *key, const struct where *w)
{
	const char *const known[] = {key, NULL};
	int err = layout_unknown_keys(r, item, known, w);

	node->kind = key[0] == 'p' ? LAYOUT_PAD : LAYOUT_ALIGN;
	if (!err)
		err = layout_small_number(r, item, key, &node->zeros, w);
	if (node->kind == LAYOUT_ALIGN && !node->zeros)
		node->zeros = 1;
	return err;
}

static int read_pad(struct layout_reader *r, struct layout_node *node, const json_t *item,
		    const struct where *w)
{
	return read_zeros(r, node, item, "pad", w);
}

static int read_align(struct layout_reader *r, struct layout_node *node, const json_t *item,
		      const struct where *w)
{
	return read_zeros(r, node, item, "align", w);
}

/* size, length, count: a number, a field's name, the type of a prefix, "rest". */
static int read_size(struct layout_reader *r, const json_t *value, struct layout_size *out,
		     const struct where *w)
{
	const char *text = json_string_value(value);
	int type = type_named(text);

	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
	    json_integer_value(value) <= LAYOUT_NUMBER_MAX) {
		out->from = LAYOUT_FROM_NUMBER;
		out->number = (uint32_t)json_integer_value(value);
		return 0;
	}
	if (type >= 0) {
		out->from = LAYOUT_FROM_PREFIX;
		out->prefix = layout_types[type].width;
		return 0;
	}
	if (text && !strcmp(text, "rest")) {
		out->from = LAYOUT_FROM_REST;
		return 0;
	}
	if (layout_field_named(r, value, &out->field, w))
		return -EINVAL;
	out->from = out->field ? LAYOUT_FROM_FIELD : LAYOUT_FROM_KEPT;
	return 0;
}

/* string, bytes, opaque, attr: as many bytes as something says. */
static int read_text(struct layout_reader *r, struct layout_node *node, const json_t *item,
		     enum layout_kind kind, const struct where *w)
{
	static const char *const known[] = {"name", "type", "size",     "length",
					    "less", "used", "readable", NULL};
	const char *key = json_object_get(item, "size") ? "size" : "length";
	const json_t *size = json_object_get(item, key), *used = json_object_get(item, "used");
	struct where at_size = where_key(w, key), at_used = where_key(w, "used");
	int err = layout_unknown_keys(r, item, known, w);

	node->kind = kind;
	node->text.size.from = kind == LAYOUT_STRING ? LAYOUT_FROM_NUL : LAYOUT_FROM_REST;
	node->text.readable = json_is_true(json_object_get(item, "readable"));
	if (!err && size)
		err = read_size(r, size, &node->text.size, &at_size);
	if (!err && used)
		err = layout_field_named(r, used, &node->text.used, &at_used);
	return err ? err : layout_small_number(r, item, "less", &node->text.size.less, w);
}

static int read_array(struct layout_reader *r, struct layout_node *node, const json_t *each,
		      enum layout_type type, const struct layout_size *count, const struct where *w)
{
	static const char *const known[] = {"type", "markers", NULL};
	const struct abi_family *markers = NULL;

	if (layout_unknown_keys(r, each, known, w))
		return -EINVAL;
	if (json_object_get(each, "markers")) {
		markers = layout_family(r, each, "markers", w);
		if (!markers)
			return -EINVAL;
		if (layout_types[type].width != 8)
			return error_value(r->e, w, each, "markers of 64 bits");
	}
	node->kind = LAYOUT_ARRAY;
	node->array.count = *count;
	node->array.type = type;
	node->array.markers = markers;
	return 0;
}

static int read_body(struct layout_reader *r, struct layout_list *out, const json_t *body,
		     bool bare, const struct where *w)
{
	bool in_object = r->in_object;
	json_t *one = bare ? json_pack("[O]", body) : json_incref((json_t *)body);
	int err;

	if (!one)
		return error_no_memory(r->e, w, "memory for the ABI tables");
	r->in_object = true;
	r->is_element = bare;
	r->loops++;
	err = layout_read_branch(r, out, one, w);
	r->loops--;
	r->in_object = in_object;
	json_decref(one);
	return err;
}

static int read_loop(struct layout_reader *r, struct layout_node *node, const json_t *body,
		     bool bare, const struct layout_size *count, const struct where *w)
{
	int err;

	node->kind = LAYOUT_LOOP;
	node->loop.count = *count;
	node->loop.bare = bare;
	err = read_body(r, &node->loop.body, body, bare, w);
	if (!err && !layout_smallest(r->abi, &node->loop.body))
		err = error_value(r->e, w, body, "elements of one byte at least");
	return err;
}

static int read_count(struct layout_reader *r, struct layout_node *node, const json_t *item,
		      const struct where *w)
{
	static const char *const known[] = {"name", "count", "per", "each", "fields", NULL};
	const json_t *each = json_object_get(item, "each"),
		     *fields = json_object_get(item, "fields");
	struct where at_count = where_key(w, "count"),
		     at_each = where_key(w, each ? "each" : "fields");
	struct layout_size count = {0};
	int type = type_named(json_string_value(json_object_get(each, "type")));
	int err = layout_unknown_keys(r, item, known, w);

	if (!err && !each == !fields)
		err = error_value(r->e, w, item, "each or fields");
	if (!err)
		err = read_size(r, json_object_get(item, "count"), &count, &at_count);
	if (!err)
		err = layout_small_number(r, item, "per", &count.per, w);
	if (err)
		return err;
	if (each && type >= 0)
		return read_array(r, node, each, (enum layout_type)type, &count, &at_each);
	return read_loop(r, node, each ? each : fields, each != NULL, &count, &at_each);
}

static int read_object(struct layout_reader *r, struct layout_node *node, const json_t *item,
		       const struct where *w)
{
	static const char *const known[] = {"name", "fields", NULL};
	struct where at = where_key(w, "fields");
	bool in_object = r->in_object;
	int err = layout_unknown_keys(r, item, known, w);

	if (err || !node->name)
		return error_value(r->e, w, item, "an object with a name and fields");
	node->kind = LAYOUT_OBJECT;
	r->in_object = true;
	err = layout_read_list(r, &node->object, json_object_get(item, "fields"), &at);
	r->in_object = in_object;
	return err;
}

/* The registers of the architecture that a mask in attr asks for. */
static int read_regs(struct layout_reader *r, struct layout_node *node, const json_t *item,
		     const struct where *w)
{
	static const char *const known[] = {"name", "regs", NULL};
	const char *mask = json_string_value(json_object_get(item, "regs"));
	int err = layout_unknown_keys(r, item, known, w);

	node->kind = LAYOUT_REGS;
	node->regs = mask ? abi_field(r->abi, mask) : NULL;
	if (!err && (!node->regs || !node->name))
		err = error_value(r->e, w, item, "a name, and regs: a field of attr");
	return err;
}

static int read_index(struct layout_reader *r, struct layout_node *node, const json_t *item,
		      const struct where *w)
{
	static const char *const known[] = {"name", "index", NULL};

	node->kind = LAYOUT_INDEX;
	node->index = layout_family(r, item, "index", w);
	if (!node->index || layout_unknown_keys(r, item, known, w))
		return -EINVAL;
	return r->loops ? 0 : error_value(r->e, w, item, "an array around an index");
}

static int read_typed(struct layout_reader *r, struct layout_node *node, const json_t *item,
		      const struct where *w)
{
	static const struct {
		const char *name;
		enum layout_kind kind;
	} texts[] = {{"string", LAYOUT_STRING},
		     {"bytes", LAYOUT_BYTES},
		     {"opaque", LAYOUT_OPAQUE},
		     {"attr", LAYOUT_ATTR}};
	const char *name = json_string_value(json_object_get(item, "type"));
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, "type");
	int type = type_named(name);

	if (type >= 0 && json_object_get(item, "bitfield"))
		return read_word(r, node, item, (enum layout_type)type, w);
	if (type >= 0)
		return read_plain_number(r, node, item, (enum layout_type)type, w);
	for (size_t i = 0; name && i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(texts[i].name, name))
			return read_text(r, node, item, texts[i].kind, w);
		nearest_try(&near, texts[i].name);
	}
	for (size_t i = 0; i < LAYOUT_TYPES; i++)
		nearest_try(&near, layout_types[i].name);
	if (name)
		return error_name(r->e, &at, name, near.best, "a type");
	return error_value(r->e, w, item,
			   "a field: type, pad, align, count, fields, regs, use or when");
}

/* The key by which a field is of that kind; where an item has several, the first of these counts.
 */
static const struct {
	const char *key;
	int (*read)(struct layout_reader *r, struct layout_node *node, const json_t *item,
		    const struct where *w);
} kinds[] = {
	{"when", layout_read_when},     {"pad", read_pad},     {"align", read_align},
	{"use", layout_read_use},       {"count", read_count}, {"regs", read_regs},
	{"switch", layout_read_switch}, {"index", read_index}, {"fields", read_object},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int read_kind(struct layout_reader *r, struct layout_node *node, const json_t *item,
		     const struct where *w)
{
	size_t kind = KINDS;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)item, key, value)
		for (size_t i = 0; i < kind; i++)
			if (!strcmp(key, kinds[i].key))
				kind = i;
	return kind < KINDS ? kinds[kind].read(r, node, item, w) : read_typed(r, node, item, w);
}

/* Whether it comes out as a value. */
static bool is_value(const struct layout_node *node)
{
	switch (node->kind) {
	case LAYOUT_WORD:
	case LAYOUT_PAD:
	case LAYOUT_ALIGN:
	case LAYOUT_WHEN:
	case LAYOUT_USE:
	case LAYOUT_SWITCH:
		return false;
	default:
		return true;
	}
}

int layout_read_field(struct layout_reader *r, struct layout_node *node, const json_t *item,
		      const struct where *w)
{
	const json_t *name = json_object_get(item, "name");
	struct where at = where_key(w, "name");
	bool is_element = r->is_element;
	int err;

	r->is_element = false;
	if (!json_is_object(item))
		return error_value(r->e, w, item, "a field");
	if (name && !json_string_length(name))
		return error_value(r->e, &at, name, "a name");
	if (json_string_length(name) > LAYOUT_NAME)
		return error_text(r->e, &at, json_string_value(name), "a shorter name");
	node->name = json_string_value(name);
	err = read_kind(r, node, item, w);
	if (!err && is_element && (!is_value(node) || node->name))
		return error_value(r->e, w, item, "an element: one value without a name");
	if (!err && !is_element && is_value(node) && !node->name)
		return error_value(r->e, w, item, "a field with a name");
	return err;
}
