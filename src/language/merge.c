/* SPDX-License-Identifier: MIT */
/*
 * Merging and substituting. The depth of recursion is that of the JSON, which jansson bounds when
 * it parses.
 */
#include "language/merge.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(misc-no-recursion) */

/* Gives `out` a member and takes its reference; false if it, or its key, is NULL without memory. */
static bool put_member(json_t *out, const char *key, json_t *value)
{
	return value && !json_object_set_new(out, key, value);
}

static json_t *copy_of_object(const json_t *base)
{
	return json_is_object(base) ? json_copy((json_t *)base) : json_object();
}

json_t *merge(const json_t *base, const json_t *patch)
{
	const char *key;
	json_t *value, *out;
	bool good;

	if (!json_is_object(patch))
		return json_incref((json_t *)patch);
	out = copy_of_object(base);
	good = out != NULL;
	if (json_object_get(patch, "type") && !json_object_get(patch, "config"))
		json_object_del(out, "config");
	json_object_foreach((json_t *)patch, key, value) {
		if (json_is_null(value))
			json_object_del(out, key);
		else
			good = good &&
			       put_member(out, key, merge(json_object_get(out, key), value));
	}
	if (good)
		return out;
	json_decref(out);
	return NULL;
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

static bool put_part(FILE *out, const json_t *part)
{
	char *dump = NULL;
	bool good;

	if (json_is_string(part))
		return fputs(json_string_value(part), out) >= 0;
	dump = json_dumps(part, JSON_COMPACT | JSON_ENCODE_ANY);
	good = dump && fputs(dump, out) >= 0;
	free(dump);
	return good;
}

/* `text` with each "$name" and "$name.member" replaced; false without memory. */
static bool put_substituted(FILE *out, const char *text, const char *name, const json_t *value)
{
	size_t n = strlen(name);
	bool good = true;

	while (*text && good) {
		const json_t *part;

		if (*text != '$' || strncmp(text + 1, name, n) ||
		    strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") != n) {
			good = fputc(*text++, out) != EOF;
			continue;
		}
		part = member(value, text + 1 + n, &text);
		good = put_part(out, part);
	}
	return good;
}

static json_t *substitute_text(const char *text, const char *name, const json_t *value)
{
	char *whole = NULL;
	size_t size;
	FILE *out = open_memstream(&whole, &size);
	json_t *json = NULL;
	bool good;

	if (!out)
		return NULL;
	good = put_substituted(out, text, name, value);
	if (!fclose(out) && good)
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

/* What was made of `json`: `json` itself where all is the same, NULL where it went wrong. */
static json_t *made(json_t *out, const json_t *json, bool good, bool same)
{
	if (good && !same)
		return out;
	json_decref(out);
	return good ? json_incref((json_t *)json) : NULL;
}

static json_t *substitute_array(const json_t *json, const char *name, const json_t *value)
{
	json_t *out = json_array(), *item;
	bool same = true, good = out != NULL;
	size_t i;

	json_array_foreach(json, i, item) {
		json_t *new_item = substitute(item, name, value);

		same = same && new_item == item;
		good = new_item && !json_array_append_new(out, new_item) && good;
	}
	return made(out, json, good, same);
}

static json_t *substitute_object(const json_t *json, const char *name, const json_t *value)
{
	json_t *out = json_object(), *item;
	bool same = true, good = out != NULL;
	const char *key;

	json_object_foreach((json_t *)json, key, item) {
		json_t *new_item = substitute(item, name, value);
		json_t *new_key =
			strchr(key, '$') ? substitute_text(key, name, value) : json_string(key);

		same = same && new_item == item && new_key &&
		       !strcmp(json_string_value(new_key), key);
		good = put_member(out, json_string_value(new_key), new_item) && good;
		json_decref(new_key);
	}
	return made(out, json, good, same);
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
