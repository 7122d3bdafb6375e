/* SPDX-License-Identifier: MIT */
/*
 * As deep as types are nested, which is as deep as they were written.
 * NOLINTBEGIN(misc-no-recursion)
 */
#include "text/doc.h"

#include <errno.h>
#include <string.h>

#include "text/say.h"

static const char *const text_kinds[] = {
	[DOC_TEXT] = "a line of text without control characters", [DOC_STRING] = "a string"};

static int doc_list(struct doc *d, const struct doc_row *row, const json_t *json,
		    unsigned char *out, const struct where *w)
{
	const struct doc_type *type = row->type;
	bool is_map = row->kind == DOC_MAP;
	size_t count = is_map ? json_object_size(json) : json_array_size(json);
	json_t *members = is_map ? (json_t *)json : NULL;
	void *member = json_object_iter(members);
	unsigned char *list = NULL;
	int err = 0;

	if (!(is_map ? json_is_object(json) : json_is_array(json)) || count < row->least)
		return error_value(d->e, w, json, "%s%s",
				   row->expected ? row->expected
				   : is_map      ? "an object; each member is "
						 : "a list; each element is ",
				   row->expected ? "" : type->what);
	if (row->most && count > row->most)
		return error_text(d->e, w, "more", "at most %u", row->most);
	if (type->size) {
		list = arena_array(d->arena, count + 1, type->size);
		if (!list)
			return error_no_memory(d->e, w, type->what);
		memcpy(out + row->at, &list, sizeof(list));
		memcpy(out + row->count, &count, sizeof(count));
	}
	for (size_t i = 0; i < count && !err;
	     i++, member = json_object_iter_next(members, member)) {
		struct where at =
			is_map ? where_key(w, json_object_iter_key(member)) : where_index(w, i);
		unsigned char *made = list ? list + i * type->size : NULL;

		err = doc_read(d, type,
			       is_map ? json_object_iter_value(member) : json_array_get(json, i),
			       made, &at);
		if (is_map && made)
			memcpy(made, &at.key, sizeof(at.key));
	}
	return err;
}

static int doc_strings(struct doc *d, const struct doc_row *row, const json_t *json,
		       unsigned char *at, const struct where *w)
{
	size_t count = json_is_array(json) ? json_array_size(json) : row->kind == DOC_NAMES;
	const char **list = arena_array(d->arena, count + 1, sizeof(*list));
	const char *expected = row->expected ? row->expected : "a string";

	if (row->kind == DOC_NAMES ? !count : !json_is_array(json))
		return error_value(d->e, w, json,
				   row->kind == DOC_NAMES ? "%s, or a list of at least one"
							  : "a list; each element is %s",
				   expected);
	if (!list)
		return error_no_memory(d->e, w, row->key);
	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_is_array(json) ? json_array_get(json, i) : json;
		struct where at_one = json_is_array(json) ? where_index(w, i) : *w;

		list[i] = json_string_value(one);
		if (!list[i] || !one_line(list[i]))
			return error_value(d->e, &at_one, one, "%s", expected);
		if (row->read && row->read(d, one, NULL, &at_one))
			return -EINVAL;
		for (size_t j = 0; row->kind == DOC_NAMES && j < i; j++)
			if (!strcmp(list[j], list[i]))
				return error_name(d->e, &at_one, list[i], NULL, "each once");
	}
	memcpy(at, &list, sizeof(list));
	return 0;
}

static int doc_word(struct doc *d, const struct doc_row *row, const json_t *json, int *out,
		    const struct where *w)
{
	const char *text = json_string_value(json), *expected;
	struct nearest near = nearest_to(text ? text : "");
	char words[128];

	*out = text ? name_index(text, row->words, &near) : -1;
	if (*out >= 0)
		return 0;
	expected = row->expected ? row->expected : words_as_text(row->words, words, sizeof(words));
	return text ? error_name(d->e, w, text, near.best, "%s", expected)
		    : error_value(d->e, w, json, "%s", expected);
}

static int read_member(struct doc *d, const struct doc_row *row, const json_t *json,
		       unsigned char *out, const struct where *w)
{
	struct {
		const void *p[2];
	} ignored;
	unsigned char *at = row->at == DOC_NOWHERE ? (unsigned char *)&ignored : out + row->at;
	const char *text = json_string_value(json);
	json_int_t number = json_integer_value(json);

	switch (row->kind) {
	case DOC_ANY:
		memcpy(at, &json, sizeof(json));
		return 0;
	case DOC_TEXT:
	case DOC_STRING:
		if (!text || (row->kind == DOC_TEXT && !one_line(text)))
			return error_value(d->e, w, json, "%s", text_kinds[row->kind]);
		memcpy(at, &text, sizeof(text));
		return 0;
	case DOC_TRUTH:
		if (!json_is_boolean(json))
			return error_value(d->e, w, json, "true or false");
		*(bool *)at = json_is_true(json);
		return 0;
	case DOC_NUMBER:
		if (!json_is_integer(json) || number < row->least || number > row->most)
			return error_value(d->e, w, json, "a number from %u to %u", row->least,
					   row->most);
		memcpy(at, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
		return 0;
	case DOC_WORD:
		return doc_word(d, row, json, (int *)(void *)at, w);
	case DOC_OBJECT:
		return doc_read(d, row->type, json, at, w);
	case DOC_LIST:
	case DOC_MAP:
		return doc_list(d, row, json, out, w);
	case DOC_STRINGS:
	case DOC_NAMES:
		return doc_strings(d, row, json, at, w);
	case DOC_READ:
		return row->read(d, json, at, w);
	}
	return -EINVAL;
}

int doc_read(struct doc *d, const struct doc_type *type, const json_t *json, void *out,
	     const struct where *w)
{
	const void *ignored[2];
	const char *key;
	json_t *value;
	int err = 0;

	if (type->size)
		memset(out, 0, type->size);
	else if (!out)
		out = ignored;
	if (!json_is_object(json))
		return error_value(d->e, w, json, "%s, an object", type->what);
	json_object_foreach((json_t *)json, key, value) {
		struct nearest near = nearest_to(key);
		const struct doc_row *row = type->rows;
		struct where at = where_key(w, key);

		while (row->key && strcmp(row->key, key) != 0)
			row++;
		if (!row->key) {
			for (row = type->rows; row->key; row++)
				nearest_try(&near, row->key);
			return error_name(d->e, &at, key, near.best, "a key of %s", type->what);
		}
		err = read_member(d, row, value, out, &at);
		if (err)
			return err;
	}
	for (const struct doc_row *row = type->rows; row->key; row++) {
		struct where at = where_key(w, row->key);

		if (row->is_required && !json_object_get(json, row->key))
			return error_value(d->e, &at, NULL, "%s",
					   row->expected             ? row->expected
					   : row->kind == DOC_OBJECT ? row->type->what
					   : row->kind == DOC_TEXT || row->kind == DOC_STRING
						   ? text_kinds[row->kind]
						   : type->what);
	}
	return type->check ? type->check(d, out, json, w) : 0;
}
/* NOLINTEND(misc-no-recursion) */

int doc_load(struct doc *d, const struct doc_type *type, const struct source *source, void *out)
{
	struct where root = where_root(source);
	const json_t *json = arena_keep(d->arena, source_parse(source, d->e));

	return json ? doc_read(d, type, json, out, &root)
		    : error_no_memory(d->e, &root, type->what);
}
