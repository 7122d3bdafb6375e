/* SPDX-License-Identifier: MIT */
/*
 * Lies about what the kernel writes: records, the metadata page, and the words of read(2). What the
 * decoder made of it is changed, so that a member has its name whatever the layout.
 */
#include <stdlib.h>
#include <string.h>

#include "lie.h"
#include "step/values.h"

typedef int values_fn(struct values *out, const struct values_by *by, enum perfabi_format format,
		      const unsigned char *bytes, size_t size, struct error *e);
values_fn __real_values_of, __wrap_values_of;
json_t *__real_values_of_page(const struct values_by *by, const unsigned char *page, size_t size,
			      struct error *e);
json_t *__wrap_values_of_page(const struct values_by *by, const unsigned char *page, size_t size,
			      struct error *e);
json_t *__real_values_of_read(const struct values_by *by, const unsigned char *bytes, size_t size,
			      struct error *e);
json_t *__wrap_values_of_read(const struct values_by *by, const unsigned char *bytes, size_t size,
			      struct error *e);

static json_t *change_text(const char *was, bool adds)
{
	char *text, *at;
	json_t *is;

	if (!strncmp(was, "0x", 2))
		return json_sprintf("0x%llx", adds ? strtoull(was, NULL, 16) + 1 : 0);
	if (!was[0])
		return json_string("x");
	text = strdup(was);
	if (!text)
		return NULL;
	at = adds ? text + strlen(text) - 1 : text;
	*at = *at == '0' ? '1' : '0';
	is = json_string(text);
	free(text);
	return is;
}

/* A list with its last element less, or without any. */
static json_t *change_list(json_t *was, bool adds)
{
	json_t *is = json_copy(was);

	if (adds)
		json_array_remove(is, json_array_size(is) - 1);
	else
		json_array_clear(is);
	return is;
}

static json_int_t change_number(json_int_t was, const char *how)
{
	return !strcmp(how, "plus") ? was + 1 : !strcmp(how, "second") ? was + 1000000000 : 0;
}

/* The value that is written instead; a new reference, or NULL if it would be the same. */
static json_t *change_value(json_t *was, const char *how)
{
	bool adds = !strcmp(how, "plus");
	json_t *is = NULL;

	if (json_is_integer(was))
		is = json_integer(change_number(json_integer_value(was), how));
	else if (json_is_string(was))
		is = change_text(json_string_value(was), adds);
	else if (json_is_array(was))
		is = change_list(was, adds);
	if (!is || !json_equal(is, was))
		return is;
	json_decref(is);
	return NULL;
}

/* "values[-1].id": the first name, the place in a list (or none), and what is behind. */
struct path {
	char name[40];
	bool is_list;
	int index;
	const char *rest; /* NULL: this is the last */
};

static struct path path_of(const char *text)
{
	struct path p = {.rest = strchr(text, '.')};
	size_t n = p.rest ? (size_t)(p.rest - text) : strlen(text);
	char *bracket;

	memcpy(p.name, text, n < sizeof(p.name) ? n : sizeof(p.name) - 1);
	bracket = strchr(p.name, '[');
	if (bracket) {
		*bracket = '\0';
		p.is_list = true;
		p.index = atoi(bracket + 1);
	}
	p.rest = p.rest ? p.rest + 1 : NULL;
	return p;
}

/* What changes the member, or NULL: there is none, or it stays the same. `*in` is what holds it. */
static json_t *change_member(json_t *at, const char *text, const char *how, json_t **in,
			     struct path *last)
{
	struct path p = path_of(text);
	json_t *member = json_object_get(at, p.name), *value = member;

	if (p.is_list) {
		size_t n = json_array_size(member);

		p.index += p.index < 0 ? (int)n : 0;
		value = p.index >= 0 ? json_array_get(member, (size_t)p.index) : NULL;
	}
	if (value && p.rest)
		return change_member(value, p.rest, how, in, last);
	*in = p.is_list ? member : at;
	*last = p;
	return value ? change_value(value, how) : NULL;
}

static void lie_about_member(const struct lie *lie, json_t *record)
{
	struct path last;
	json_t *in, *is = change_member(record, lie->path, lie->how, &in, &last);

	if (is && lie_tells(lie)) {
		if (last.is_list)
			json_array_set(in, (size_t)last.index, is);
		else
			json_object_set(in, last.name, is);
	}
	json_decref(is);
}

static size_t index_of(const json_t *list, const char *name)
{
	size_t i = 0;

	while (i < json_array_size(list) &&
	       strcmp(json_string_value(json_array_get(list, i)), name) != 0)
		i++;
	return i;
}

/* `value` 1: one of the modes of the cpu, of which there is one at a time. */
static void lie_about_misc(const struct lie *lie, json_t *record)
{
	json_t *misc = json_object_get(record, "misc");
	size_t i = index_of(misc, lie->path);
	bool is_there = i < json_array_size(misc);

	if (!misc || is_there == !strcmp(lie->how, "add") || !lie_tells(lie))
		return;
	if (is_there)
		json_array_remove(misc, i);
	else if (lie->value && json_array_size(misc))
		json_array_set_new(misc, 0, json_string(lie->path));
	else
		json_array_append_new(misc, json_string(lie->path));
}

static bool is_type(const json_t *record, const char *type)
{
	const char *is = json_string_value(json_object_get(record, "type"));

	return is && !strcmp(is, type);
}

static void lie_about_record(json_t *record)
{
	for (struct lie *const *l = lies_of(LIE_MEMBER); *l; l++)
		if (is_type(record, (*l)->type))
			lie_about_member(*l, record);
	for (struct lie *const *l = lies_of(LIE_MISC); *l; l++)
		if (is_type(record, (*l)->type))
			lie_about_misc(*l, record);
}

/* The first or last record of the type; the number of records if there is none. */
static size_t find(const json_t *records, const char *type, bool first)
{
	size_t n = json_array_size(records), found = n;

	for (size_t i = 0; i < n && (found == n || !first); i++)
		if (is_type(json_array_get(records, i), type))
			found = i;
	return found;
}

static void lose(json_t *records, const char *type, const char *which)
{
	size_t at;

	if (!strcmp(which, "lost")) {
		for (at = json_array_size(records); at-- > 0;)
			if (is_type(json_array_get(records, at), type))
				json_array_remove(records, at);
		return;
	}
	json_array_remove(records, find(records, type, !strcmp(which, "first-lost")));
}

/* The first record and the next of another kind, each in the other's place. */
static void swap(const struct lie *lie, json_t *records)
{
	size_t i = find(records, lie->type, true), n = json_array_size(records);
	json_t *first = json_array_get(records, i), *second = json_array_get(records, i + 1);

	if (i + 1 >= n || json_equal(first, second) || !lie_tells(lie))
		return;
	json_incref(first);
	json_array_set(records, i, second);
	json_array_set_new(records, i + 1, first);
}

static void lie_about_records(const struct lie *lie, json_t *records)
{
	size_t at = find(records, lie->type, true);

	if (at == json_array_size(records))
		return;
	if (!strcmp(lie->how, "swapped"))
		swap(lie, records);
	else if (!lie_tells(lie))
		return;
	else if (!strcmp(lie->how, "doubled"))
		json_array_insert(records, at, json_array_get(records, at));
	else
		lose(records, lie->type, lie->how);
}

static void tell(json_t *records)
{
	json_t *record;
	size_t i;

	json_array_foreach(records, i, record)
		lie_about_record(record);
	for (struct lie *const *l = lies_of(LIE_RECORDS); *l; l++)
		lie_about_records(*l, records);
}

int __wrap_values_of(struct values *out, const struct values_by *by, enum perfabi_format format,
		     const unsigned char *bytes, size_t size, struct error *e)
{
	int err = __real_values_of(out, by, format, bytes, size, e);

	if (!err)
		tell(out->records);
	return err;
}

static void lie_about(json_t *object, const char *type)
{
	for (struct lie *const *l = lies_of(LIE_MEMBER); object && *l; l++)
		if (!strcmp((*l)->type, type))
			lie_about_member(*l, object);
}

json_t *__wrap_values_of_page(const struct values_by *by, const unsigned char *page, size_t size,
			      struct error *e)
{
	json_t *members = __real_values_of_page(by, page, size, e);

	lie_about(members, "page");
	return members;
}

/* Its lies are those about a record with a member `read`. */
json_t *__wrap_values_of_read(const struct values_by *by, const unsigned char *bytes, size_t size,
			      struct error *e)
{
	json_t *members = __real_values_of_read(by, bytes, size, e);
	json_t *record = members ? json_pack("{s:O}", "read", members) : NULL;

	lie_about(record, "read(2)");
	json_decref(record);
	return members;
}
