/* SPDX-License-Identifier: MIT */
/*
 * Lines are the same if their bytes are. Where they are not, both are parsed to say which member.
 */
#include "stream/compare.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "text/say.h"
#include "text/json_text.h"

enum { PATH_SIZE = 512, SHOWN = 160, LINE_SHOWN = 2000, DEPTH = 32, LINE_MAX_BYTES = 1 << 26 };

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

static char *short_text(const json_t *value)
{
	char *text = value ? json_text(value, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("nothing");

	if (text && strlen(text) > SHOWN)
		strcpy(text + SHOWN - 4, "...");
	return text;
}

static const char *dots_behind(const char *text)
{
	return strlen(text) > LINE_SHOWN ? "..." : "";
}

static void say_difference(const struct compare *c, const char *path, const char *want,
			   const char *got)
{
	say(stderr,
	    "perfabi-decode: %s:%zu: %s\n"
	    "  expected: %.*s%s\n"
	    "  got:      %.*s%s\n",
	    c->name, c->line, path[0] ? path : "/", LINE_SHOWN, want, dots_behind(want), LINE_SHOWN,
	    got, dots_behind(got));
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
	a = short_text(want);
	b = short_text(got);
	say_difference(c, path, a ? a : "?", b ? b : "?");
	free(a);
	free(b);
	return true;
}

/* A number over INT64_MAX, which jansson does not take, is compared as a real one. */
static json_t *parse_line(const char *text)
{
	json_t *json;

	errno = 0;
	json = json_loads(text, JSON_DECODE_ANY, NULL);
	return json || errno == ENOMEM
		       ? json
		       : json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
}

/* Whether that is why parse_line() failed. */
static bool failed_for_memory(const json_t *json)
{
	return !json && errno == ENOMEM;
}

static bool has_real(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	json_decref(json);
	return !json;
}

static int line_differs(struct compare *c)
{
	json_t *want = parse_line(c->want),
	       *got = failed_for_memory(want) ? NULL : parse_line(c->got);
	char path[PATH_SIZE] = "";
	bool found = true;

	if ((!want || !got) && errno == ENOMEM) {
		json_decref(want);
		return -ENOMEM;
	}
	if (want && got && differ(c, path, want, got, 0))
		found = true;
	else if (want && got && !has_real(c->want)) /* the order of members is nobody's business */
		found = false;
	else /* such numbers that are equal as real ones, or a file that is no JSON */
		say_difference(c, path, c->want, c->got);
	json_decref(want);
	json_decref(got);
	c->differs = c->differs || found;
	return found ? -ECANCELED : 0;
}

static int put_char(struct compare *c, size_t at, int character)
{
	if (at == c->want_capacity) {
		size_t capacity = 2 * at + 256;
		char *grown = at < LINE_MAX_BYTES ? realloc(c->want, capacity) : NULL;

		if (!grown)
			return at < LINE_MAX_BYTES ? -ENOMEM : -EFBIG;
		c->want = grown;
		c->want_capacity = capacity;
	}
	c->want[at] = (char)character;
	return 0;
}

/* The next expected line, without its newline, in c->want. 1, 0 at the end, or a negative errno. */
static int next_line(struct compare *c)
{
	size_t n = 0;
	int got = 0;

	errno = 0;
	while (!c->err && (got = getc_unlocked(c->expected)) != EOF && got != '\n')
		c->err = put_char(c, n++, got ? got : '?'); /* a text has no NUL */
	if (!c->err && got == EOF && ferror(c->expected))
		c->err = errno ? -errno : -EIO;
	if (!c->err && got == EOF && !n)
		return 0;
	if (!c->err)
		c->err = put_char(c, n, '\0');
	c->line += !c->err;
	return c->err ? c->err : 1;
}

static int one_line(struct compare *c)
{
	int more = next_line(c);

	if (more < 0)
		return more;
	if (!more) {
		c->line++;
		say_difference(c, "", "the end of the file", c->got);
		c->differs = true;
		return -ECANCELED;
	}
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

int compare_end(struct compare *c)
{
	int more;

	if (c->differs)
		return 0;
	more = next_line(c);
	if (more <= 0)
		return more < 0 ? more : 1;
	say_difference(c, "", c->want, "the end of the output");
	return 0;
}
