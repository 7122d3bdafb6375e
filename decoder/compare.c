/* SPDX-License-Identifier: MIT */
/*
 * Lines are the same if their bytes are. Where they are not, both are parsed to say which member.
 */
#include "compare.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 512, SHOWN = 160, DEPTH = 32 };

int compare_open(struct compare *c, const char *path)
{
	*c = (struct compare){.name = path};
	c->expected = fopen(path, "re");
	return c->expected ? 0 : -errno;
}

void compare_close(struct compare *c)
{
	if (c->expected)
		fclose(c->expected);
	free(c->got);
	free(c->want);
}

static char *show(const json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("nothing");

	if (text && strlen(text) > SHOWN)
		strcpy(text + SHOWN - 4, "...");
	return text;
}

static void say(const struct compare *c, const char *path, const char *want, const char *got)
{
	fprintf(stderr,
		"perfabi-decode: %s:%zu: %s\n"
		"  expected: %s\n"
		"  got:      %s\n",
		c->name, c->line, path[0] ? path : "/", want, got);
}

static bool differ(const struct compare *c, char *path, const json_t *want, const json_t *got,
		   int depth);

static bool member_differs(const struct compare *c, char *path, const char *key, size_t index,
			   const json_t *want, const json_t *got, int depth)
{
	size_t end = strlen(path);
	bool found;

	if (key)
		snprintf(path + end, PATH_SIZE - end, "/%s", key);
	else
		snprintf(path + end, PATH_SIZE - end, "/%zu", index);
	found = differ(c, path, want, got, depth + 1);
	path[end] = '\0';
	return found;
}

/* Says the first difference below `path`; false if there is none. */
static bool differ(const struct compare *c, char *path, const json_t *want, const json_t *got,
		   int depth)
{
	const char *key;
	json_t *value;
	char *a, *b;

	if (want && got && json_equal(want, got))
		return false;
	if (json_is_object(want) && json_is_object(got) && depth < DEPTH) {
		json_object_foreach((json_t *)want, key, value)
			if (member_differs(c, path, key, 0, value, json_object_get(got, key),
					   depth))
				return true;
		json_object_foreach((json_t *)got, key, value)
			if (!json_object_get(want, key) &&
			    member_differs(c, path, key, 0, NULL, value, depth))
				return true;
	}
	if (json_is_array(want) && json_is_array(got) && depth < DEPTH)
		for (size_t i = 0; i < json_array_size(want) || i < json_array_size(got); i++)
			if (member_differs(c, path, NULL, i, json_array_get(want, i),
					   json_array_get(got, i), depth))
				return true;
	a = show(want);
	b = show(got);
	say(c, path, a ? a : "?", b ? b : "?");
	free(a);
	free(b);
	return true;
}

/* A number over INT64_MAX, which jansson does not take, is compared as a real one. */
static json_t *parse(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	return json ? json : json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
}

static bool has_real(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	json_decref(json);
	return !json;
}

static int line_differs(struct compare *c)
{
	json_t *want = parse(c->want), *got = parse(c->got);
	char path[PATH_SIZE] = "";
	bool found = true;

	if (want && got && differ(c, path, want, got, 0))
		found = true;
	else if (want && got && !has_real(c->want)) /* the order of members is nobody's business */
		found = false;
	else /* such numbers that are equal as real ones, or a file that is no JSON */
		say(c, path, c->want, c->got);
	json_decref(want);
	json_decref(got);
	c->differs = c->differs || found;
	return found ? -ECANCELED : 0;
}

static int one_line(struct compare *c)
{
	ssize_t n = getline(&c->want, &c->want_capacity, c->expected);

	c->line++;
	if (n < 0) {
		say(c, "", "the end of the file", c->got);
		c->differs = true;
		return -ECANCELED;
	}
	if (n && c->want[n - 1] == '\n')
		c->want[n - 1] = '\0';
	return strcmp(c->want, c->got) ? line_differs(c) : 0;
}

int compare_text(void *context, const char *text, size_t size)
{
	struct compare *c = context;

	while (size) {
		const char *newline = memchr(text, '\n', size);
		size_t n = newline ? (size_t)(newline - text) : size;
		int err;

		if (c->got_size + n + 1 > c->got_capacity) {
			size_t capacity = 2 * (c->got_size + n + 1);
			char *grown = realloc(c->got, capacity);

			if (!grown)
				return -ENOMEM;
			c->got = grown;
			c->got_capacity = capacity;
		}
		memcpy(c->got + c->got_size, text, n);
		c->got_size += n;
		c->got[c->got_size] = '\0';
		text += n;
		size -= n;
		if (!newline)
			continue;
		text++;
		size--;
		c->got_size = 0;
		err = one_line(c);
		if (err)
			return err;
	}
	return 0;
}

bool compare_end(struct compare *c)
{
	ssize_t n;

	if (c->differs)
		return false;
	n = getline(&c->want, &c->want_capacity, c->expected);
	if (n < 0)
		return true;
	c->line++;
	if (n && c->want[n - 1] == '\n')
		c->want[n - 1] = '\0';
	say(c, "", c->want, "the end of the output");
	return false;
}
