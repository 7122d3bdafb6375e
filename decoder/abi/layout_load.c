/* SPDX-License-Identifier: MIT */
/*
 * All layouts of the tables: words of bit fields first, then each layout in its turn, or before one
 * that uses it.
 */
#include <errno.h>
#include <string.h>

#include "abi/layout_read.h"

/* [first, width] within 64 bits. */
static int read_bits(struct layout_bits *out, const json_t *bits, const struct where *w,
		     struct error *e)
{
	long long first = json_integer_value(json_array_get(bits, 0));
	long long width = json_integer_value(json_array_get(bits, 1));

	if (json_array_size(bits) != 2 || first < 0 || width < 1 || width > 64 ||
	    first > 64 - width)
		return error_value(e, w, bits, "[first, width] within the word");
	out->first = (uint8_t)first;
	out->width = (uint8_t)width;
	return 0;
}

/* Members share bits only where none of them is told together with the other. */
static int check_shared_bits(const struct layout_word *word, const struct layout_bits *bits,
			     const struct where *w, struct error *e)
{
	for (size_t i = 0; i < word->count; i++) {
		const struct layout_bits *other = &word->bits[i];
		bool apart = other->first + other->width <= bits->first ||
			     bits->first + bits->width <= other->first;

		if (!apart && !(other->only && bits->only))
			return error_name(e, w, bits->name, NULL, "bits that \"%s\" does not have",
					  other->name);
	}
	return 0;
}

/* {"field": "type", "is": 15}: a bit field that means something only with another's value. */
static int read_only(struct layout_bits *bits, const struct abi_family *family,
		     const struct layout_bits *all, const json_t *only, const struct where *w,
		     struct error *e)
{
	const char *name = json_string_value(json_object_get(only, "field"));
	const json_t *is = json_object_get(only, "is");

	for (size_t i = 0; name && i < family->count; i++) {
		if (strcmp(family->values[i].name, name) != 0 || !json_is_integer(is))
			continue;
		bits->only = &all[i];
		bits->is = (uint64_t)json_integer_value(is);
		return 0;
	}
	return error_value(e, w, only, "{\"field\": another member, \"is\": a number}");
}

static int read_set(struct abi *abi, struct layout_bits *bits, const json_t *set,
		    const struct where *w, struct error *e)
{
	const char *name = json_string_value(set);
	struct nearest near = nearest_to(name ? name : "");

	bits->set = name ? abi_family(abi, name) : NULL;
	if (bits->set)
		return 0;
	for (size_t i = 0; i < abi->family_count; i++)
		nearest_try(&near, abi->families[i].name);
	return name ? error_name(e, w, name, near.best, "a family of constants")
		    : error_value(e, w, set, "the name of a family of constants");
}

static int read_family_word(struct abi *abi, struct abi_family *family, const struct where *w,
			    struct error *e)
{
	struct layout_word *word = arena_array(&abi->arena, 1, sizeof(*word));
	struct layout_bits *bits = arena_array(&abi->arena, family->count, sizeof(*bits));
	struct where at_values = where_key(w, "values");

	if (!word || !bits)
		return error_no_memory(e, w, "memory for the ABI tables");
	word->bits = bits;
	word->declared = json_object_get(family->json, "order") != NULL;
	word->omit_zero = json_is_true(json_object_get(family->json, "omit_zero"));
	for (size_t i = 0; i < family->count; i++) {
		const json_t *json = family->values[i].json, *only = json_object_get(json, "only"),
			     *set = json_object_get(json, "set");
		struct where at = where_index(&at_values, i), at_bits = where_key(&at, "bits"),
			     at_only = where_key(&at, "only"), at_set = where_key(&at, "set");

		bits[i].name = family->values[i].name;
		if (read_bits(&bits[i], json_object_get(json, "bits"), &at_bits, e) ||
		    (set && read_set(abi, &bits[i], set, &at_set, e)) ||
		    (only && read_only(&bits[i], family, bits, only, &at_only, e)) ||
		    check_shared_bits(word, &bits[i], &at_bits, e))
			return -EINVAL;
		word->count++;
	}
	family->word = word;
	return 0;
}

static int read_words(struct abi *abi, struct error *e)
{
	for (size_t i = 0; i < abi->family_count; i++) {
		struct abi_family *family = &abi->families[i];
		struct where root = where_root(family->source),
			     constants = where_key(&root, "constants"),
			     at = where_key(&constants, family->name);
		const char *kind = json_string_value(json_object_get(family->json, "kind"));
		int err = 0;

		if (kind && !strcmp(kind, "layout"))
			err = read_family_word(abi, family, &at, e);
		if (err)
			return err;
	}
	return 0;
}

/* Where its list of fields stands. */
static int read_at_its_place(struct layout_reader *r, struct layout *layout)
{
	struct where root = where_root(layout->source), layouts = where_key(&root, "layouts");
	struct where alone = where_key(&layouts, layout->name);
	struct where constants = where_key(&root, "constants");
	struct where family = where_key(&constants, layout->family ? layout->family->name : "");
	struct where values = where_key(&family, "values");
	struct where value = where_index(&values, layout->index);
	struct where fields = where_key(&value, "fields");

	return layout_read_list(r, &layout->list, layout->json, layout->family ? &fields : &alone);
}

/* NOLINTNEXTLINE(misc-no-recursion): a layout in a layout, LAYOUT_DEPTH at most */
static int read_layout(struct abi *abi, struct layout *layout, unsigned chain, struct error *e)
{
	struct layout_reader r = {.abi = abi, .e = e, .layout = layout, .chain = chain};
	int err;

	layout->state = LAYOUT_BEING_READ;
	err = read_at_its_place(&r, layout);
	layout->state = LAYOUT_READ;
	return err;
}

int layout_read(struct layout_reader *r, struct layout *layout, const struct where *w,
		const json_t *used)
{
	int err = 0;

	if (layout->state == LAYOUT_BEING_READ || r->chain == LAYOUT_DEPTH)
		return error_value(r->e, w, used, "fields no more than %d deep", LAYOUT_DEPTH);
	if (layout->state == LAYOUT_UNREAD)
		err = read_layout(r->abi, layout, r->chain + 1, r->e);
	return err ? err : layout_add_limits(r, layout, w, used);
}

static enum layout_owner owner_of(const struct abi_family *family)
{
	return !strcmp(family->name, "record")        ? LAYOUT_OF_RECORD
	       : !strcmp(family->name, "tool_record") ? LAYOUT_OF_TOOL_RECORD
						      : LAYOUT_OF_VALUE;
}

/* Gives each value that has fields its layout, not yet read. */
static int take_values(struct abi *abi, struct abi_family *family, struct error *e)
{
	struct layout *layouts = arena_array(&abi->arena, family->count, sizeof(*layouts));

	if (!layouts)
		return error_no_memory(e, NULL, "memory for the ABI tables");
	for (size_t i = 0; i < family->count; i++) {
		struct abi_value *value = (struct abi_value *)&family->values[i];
		const json_t *fields = json_object_get(value->json, "fields");

		if (!fields && owner_of(family) == LAYOUT_OF_VALUE)
			continue;
		layouts[i] = (struct layout){.name = value->name,
					     .owner = owner_of(family),
					     .json = fields,
					     .source = family->source,
					     .family = family,
					     .index = i};
		value->layout = &layouts[i];
	}
	return 0;
}

static int read_values(struct abi *abi, const struct abi_family *family, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < family->count && !err; i++) {
		struct layout *layout = (struct layout *)family->values[i].layout;

		if (layout && layout->state == LAYOUT_UNREAD)
			err = read_layout(abi, layout, 0, e);
	}
	return err;
}

int layouts_load(struct abi *abi, struct error *e)
{
	int err = read_words(abi, e);

	for (size_t i = 0; i < abi->family_count && !err; i++)
		err = take_values(abi, &abi->families[i], e);
	for (size_t i = 0; i < abi->layout_count && !err; i++)
		if (abi->layouts[i].state == LAYOUT_UNREAD)
			err = read_layout(abi, &abi->layouts[i], 0, e);
	for (size_t i = 0; i < abi->family_count && !err; i++)
		err = read_values(abi, &abi->families[i], e);
	return err;
}
