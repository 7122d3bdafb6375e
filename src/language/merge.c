/* SPDX-License-Identifier: MIT */
/*
 * Merging and substituting. The depth of recursion is that of the JSON, which jansson bounds when
 * it parses.
 */
#include "language/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/value.h"
#include "text/json_text.h"

size_t elements(const json_t *value)
{
	return json_is_array(value) ? json_array_size(value) : value != NULL;
}

const json_t *element(const json_t *value, size_t i)
{
	if (json_is_array(value))
		return json_array_get(value, i);
	return i ? NULL : value;
}

/* NOLINTBEGIN(misc-no-recursion) */

json_t *merge(const json_t *base, const json_t *patch)
{
	const char *key;
	json_t *value, *out;

	if (!json_is_object(patch))
		return json_incref((json_t *)patch);
	out = json_is_object(base) ? json_copy((json_t *)base) : json_object();
	if (json_object_get(patch, "type") && !json_object_get(patch, "config"))
		json_object_del(out, "config");
	json_object_foreach((json_t *)patch, key, value) {
		if (json_is_null(value))
			json_object_del(out, key);
		else
			json_object_set_new(out, key, merge(json_object_get(out, key), value));
	}
	return out;
}

/* The member whose name is so many bytes; NULL: there is none. */
static const json_t *member_of(const json_t *object, const char *name, size_t length)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
		if (strlen(key) == length && !memcmp(key, name, length))
			return value;
	return NULL;
}

/* The value behind ".member.member", and in *rest what follows it. */
static const json_t *member(const json_t *value, const char *text, const char **rest)
{
	*rest = text;
	while (json_is_object(value) && *text == '.') {
		size_t n = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
		const json_t *next = member_of(value, text + 1, n);

		if (!next)
			break;
		value = next;
		text += n + 1;
		*rest = text;
	}
	return value;
}

/* `text` with each "$name" and "$name.member" replaced. */
static json_t *substitute_text(const char *text, const char *name, const json_t *value)
{
	size_t n = strlen(name), size;
	char *whole = NULL;
	FILE *out = or_exit(open_memstream(&whole, &size));
	json_t *json;

	while (*text) {
		const json_t *part;
		char *dump;

		if (*text != '$' || strncmp(text + 1, name, n) ||
		    strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") != n) {
			fputc(*text++, out);
			continue;
		}
		part = member(value, text + 1 + n, &text);
		if (json_is_string(part)) {
			fputs(json_string_value(part), out);
			continue;
		}
		dump = or_exit(json_text(part, JSON_COMPACT | JSON_ENCODE_ANY));
		fputs(dump, out);
		free(dump);
	}
	or_exit(fclose(out) ? NULL : whole);
	json = json_string(whole);
	free(whole);
	return json;
}

static json_t *substitute_string(const json_t *json, const char *name, const json_t *value)
{
	const char *text = json_string_value(json), *rest;
	size_t n = strlen(name);

	if (text[0] == '$' && !strncmp(text + 1, name, n)) {
		const json_t *whole = member(value, text + 1 + n, &rest);

		if (!*rest)
			return json_incref((json_t *)whole);
	}
	return substitute_text(text, name, value);
}

/* What was made of `json`: `json` itself where all is the same. */
static json_t *made(json_t *out, const json_t *json, bool same)
{
	if (!same)
		return out;
	json_decref(out);
	return json_incref((json_t *)json);
}

static json_t *substitute_array(const json_t *json, const char *name, const json_t *value)
{
	json_t *out = json_array(), *item;
	bool same = true;
	size_t i;

	json_array_foreach(json, i, item) {
		json_t *new_item = substitute(item, name, value);

		same = same && new_item == item;
		json_array_append_new(out, new_item);
	}
	return made(out, json, same);
}

static json_t *substitute_object(const json_t *json, const char *name, const json_t *value)
{
	json_t *out = json_object(), *item;
	bool same = true;
	const char *key;

	json_object_foreach((json_t *)json, key, item) {
		json_t *new_item = substitute(item, name, value);
		json_t *new_key =
			strchr(key, '$') ? substitute_text(key, name, value) : json_string(key);

		same = same && new_item == item && !strcmp(json_string_value(new_key), key);
		json_object_set_new(out, json_string_value(new_key), new_item);
		json_decref(new_key);
	}
	return made(out, json, same);
}

json_t *substitute(const json_t *json, const char *name, const json_t *value)
{
	if (json_is_string(json) && strchr(json_string_value(json), '$'))
		return substitute_string(json, name, value);
	if (json_is_array(json))
		return substitute_array(json, name, value);
	if (json_is_object(json))
		return substitute_object(json, name, value);
	return json_incref((json_t *)json);
}

/* NOLINTEND(misc-no-recursion) */

/*
 * Tables of rows, written out or made of the ABI.
 */

/* An ABI name as part of an id: _ becomes -, upper case lower, leading _ goes. */
static void row_name(const char *name, char *out, size_t size)
{
	size_t n = 0;

	while (*name == '_')
		name++;
	for (; *name && n + 1 < size; name++)
		out[n++] = *name == '_'                   ? '-'
			   : *name >= 'A' && *name <= 'Z' ? (char)(*name + 32)
							  : *name;
	out[n] = '\0';
}

static void add_row(json_t *rows, const char *name, const char *since, json_t *value)
{
	char row[64];

	row_name(name, row, sizeof(row));
	json_object_set_new(
		rows, row,
		json_pack("{s:s, s:s*, s:o}", "name", name, "since", since, "value", value));
}

static void family_rows(json_t *rows, const struct abi_family *family)
{
	for (size_t i = 0; i < family->count; i++)
		add_row(rows, family->values[i].name, family->values[i].since,
			value_json(family->values[i].value));
}

static void attr_rows(json_t *rows, const struct abi *abi, bool bits)
{
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];

		if (!field->reserved && (field->width != 0) == bits)
			add_row(rows, field->name, field->since, json_integer(1));
	}
}

/* The bits of attr that are refused, by their numbers; the value is the place in __reserved_1. */
static void reserved_rows(json_t *rows, const struct abi *abi)
{
	const struct abi_field *field = abi_field(abi, "__reserved_1");
	char number[16];

	for (unsigned bit = 0; field && bit < field->width; bit++) {
		snprintf(number, sizeof(number), "%u", field->first + bit);
		add_row(rows, number, field->since, json_integer(bit));
	}
}

static json_t *abi_rows(const char *set, const struct abi *abi, const struct abi_arch *arch,
			const struct where *w, struct error *e)
{
	const struct abi_family *family = abi_family(abi, set);
	json_t *rows = json_object();

	if (family)
		family_rows(rows, family);
	else if (!strcmp(set, "attr.bits") || !strcmp(set, "attr.fields"))
		attr_rows(rows, abi, !strcmp(set, "attr.bits"));
	else if (!strcmp(set, "attr.reserved"))
		reserved_rows(rows, abi);
	else if (!strcmp(set, "attr.sizes")) {
		for (size_t i = 0; i < abi->size_count; i++)
			add_row(rows, abi->sizes[i].name, abi->sizes[i].since,
				json_integer(abi->sizes[i].size));
	} else if (!strcmp(set, "regs")) {
		if (arch) /* no rows where the architecture is not known */
			family_rows(rows, &arch->regs);
	} else {
		struct nearest near = nearest_to(set);

		for (size_t i = 0; i < abi->family_count; i++)
			nearest_try(&near, abi->families[i].name);
		json_decref(rows);
		error_name(e, w, set, near.best,
			   "a family of constants, attr.bits, attr.fields, attr.reserved, "
			   "attr.sizes or regs");
		return NULL;
	}
	return rows;
}

enum { ROWS_MAX = 4096, PAIRS_MAX = 91 /* names, of which 4095 rows are made */ };

/* "A..B", both whole numbers of 64 bits that are in order. */
static bool read_range(const char *text, long long *first, long long *last)
{
	char *end;

	errno = 0;
	*first = strtoll(text, &end, 10);
	if (end == text || strncmp(end, "..", 2))
		return false;
	text = end + 2;
	*last = strtoll(text, &end, 10);
	return end != text && !*end && !errno && *first <= *last;
}

static json_t *range_rows(const char *text, const struct where *w, struct error *e)
{
	json_t *rows;
	long long first, last;

	if (!strstr(text, "..")) {
		error_name(e, w, text, NULL, "\"$abi.SET\" or a range \"A..B\"");
		return NULL;
	}
	if (!read_range(text, &first, &last) ||
	    (unsigned long long)last - (unsigned long long)first >= ROWS_MAX) {
		error_name(e, w, text, NULL, "a range \"A..B\" of at most %d values", ROWS_MAX);
		return NULL;
	}
	rows = json_object();
	for (long long i = 0; i <= last - first; i++) {
		char name[24];

		snprintf(name, sizeof(name), "%lld", first + i);
		json_object_set_new(rows, name, json_integer(first + i));
	}
	return rows;
}

static json_t *list_rows(const json_t *list, const struct where *w, struct error *e)
{
	json_t *rows = json_object(), *item;
	size_t i;

	json_array_foreach(list, i, item) {
		char *text = or_exit(json_text(item, JSON_ENCODE_ANY)), name[64];

		row_name(json_is_string(item) ? json_string_value(item) : text, name, sizeof(name));
		free(text);
		if (json_is_object(item) || json_is_array(item) || json_object_get(rows, name))
			error_value(e, AT_INDEX(w, i), item, "scalars, each once");
		else
			json_object_set(rows, name, item);
	}
	if (!error_is_set(e))
		return rows;
	json_decref(rows);
	return NULL;
}

/* The row of two names, which has no _: {"a": A, "b": B, "sum": what both have}. */
static int add_pair(json_t *out, const char *a, json_t *of_a, const char *b, json_t *of_b,
		    const struct where *w, struct error *e)
{
	json_int_t sum;
	char *row = NULL;

	if (__builtin_add_overflow(json_integer_value(of_a), json_integer_value(of_b), &sum))
		return error_value(e, w, of_b, "numbers whose sums, two at a time, fit in 64 bits");
	or_exit(asprintf(&row, "%s-%s", a, b) < 0 ? NULL : row);
	for (char *c = row; *c; c++)
		*c = *c == '_' ? '-' : *c;
	if (json_object_get(out, row))
		error_name(e, w, row, NULL, "each row's name once; it is two names joined by -");
	else
		json_object_set_new(out, row,
				    json_pack("{s:s,s:s,s:I}", "a", a, "b", b, "sum", sum));
	free(row);
	return error_is_set(e) ? -EINVAL : 0;
}

/* The rows of one name with each that stands behind it. */
static int add_pairs(json_t *out, json_t *table, const char *a, json_t *of_a, const struct where *w,
		     struct error *e)
{
	bool behind = false;
	const char *b;
	json_t *of_b;

	json_object_foreach(table, b, of_b) {
		struct where at = where_key(w, b);

		if (!json_is_integer(of_b))
			return error_value(e, &at, of_b, "a number");
		if (behind && add_pair(out, a, of_a, b, of_b, &at, e))
			return -EINVAL;
		behind = behind || a == b;
	}
	return 0;
}

/* {"$pairs": {NAME: number, ...}}: each two names, in the order in which they stand. */
static json_t *pair_rows(json_t *table, const struct where *w, struct error *e)
{
	struct where at = where_key(w, "$pairs");
	json_t *out = json_object(), *of_a;
	const char *a;

	if (json_object_size(table) > PAIRS_MAX)
		error_value(e, &at, table, "at most %d names: a row each two", PAIRS_MAX);
	json_object_foreach(table, a, of_a)
		if (error_is_set(e) || add_pairs(out, table, a, of_a, &at, e))
			break;
	if (!error_is_set(e))
		return out;
	json_decref(out);
	return NULL;
}

json_t *each_rows(const json_t *rows, const struct abi *abi, const struct abi_arch *arch,
		  const struct where *w, struct error *e)
{
	const char *text = json_string_value(rows);

	if (text && !strncmp(text, "$abi.", 5))
		return abi_rows(text + 5, abi, arch, w, e);
	if (text)
		return range_rows(text, w, e);
	if (json_array_size(rows))
		return list_rows(rows, w, e);
	if (json_object_size(json_object_get(rows, "$pairs")) > 1 && json_object_size(rows) == 1)
		return pair_rows(json_object_get(rows, "$pairs"), w, e);
	if (json_object_size(rows))
		return json_incref((json_t *)rows);
	error_value(e, w, rows, "rows: an object, a list of scalars, \"A..B\" or \"$abi.SET\"");
	return NULL;
}
