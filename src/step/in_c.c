/* SPDX-License-Identifier: MIT */
/*
 * A list of steps as lines of C.
 */
#include "step/in_c.h"

#include <stdlib.h>
#include <string.h>

#include "machine/names.h"
#include "step/vocabulary.h"

static const struct c_shape number_shape = {.kind = C_NUMBER};

/* The step as the case has it, in front of what it becomes. */
static void say_step(struct translation *t, const struct statement *s)
{
	char *text = json_dumps(s->json, JSON_COMPACT | JSON_ENSURE_ASCII);
	size_t n = text ? strlen(text) : 0;

	if (text && n < 100 && !strstr(text, "*/") && !strstr(text, "/*") && !strstr(text, "??"))
		c_line(t, "/* %s */", text);
	else
		c_line(t, "/* %s */", verb_key(s->verb));
	free(text);
}

void block_in_c(struct translation *t, const struct block *block)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct statement *s = &block->list[i];

		if (!s->is_on && !t->is_behind_exec)
			continue;
		if (!s->verb->in_c) {
			c_missing(t, "the step \"%s\"", s->verb->name);
			return;
		}
		c_blank(t);
		say_step(t, s);
		s->verb->in_c(t, s);
	}
}

void child_in_c(struct translation *t, const struct block *block, const char *last)
{
	struct c_name *names = arena_alloc(t->arena, sizeof(t->names));
	size_t count = t->name_count;

	if (!names) {
		c_missing(t, "a child, for want of memory");
		return;
	}
	memcpy(names, t->names, sizeof(t->names));
	block_in_c(t, block);
	c_line(t, "%s", last);
	memcpy(t->names, names, sizeof(t->names));
	t->name_count = count;
}

static const struct argument *argument_at(const struct statement *s, const char *key, size_t *index)
{
	const struct argument *a = s->verb->arguments;

	for (size_t i = 0; a[i].key; i++) {
		*index = i;
		if (!strcmp(a[i].key, key))
			return &a[i];
	}
	return NULL;
}

const struct block *block_of(const struct statement *s, const char *key)
{
	static const struct block none;
	size_t i;

	return argument_at(s, key, &i) && s->operands[i].made ? s->operands[i].made : &none;
}

const char *number_in_c(struct translation *t, const struct statement *s, const char *key)
{
	const json_t *json = statement_json(s, key);
	size_t i;
	const struct argument *a = argument_at(s, key, &i);

	if (json)
		return c_number(t, json, NULL);
	return c_text(t, "%llu", a ? (unsigned long long)a->fallback : 0ULL);
}

const char *name_in_c(struct translation *t, const struct statement *s, const char *key)
{
	const char *name = json_string_value(statement_json(s, key));
	struct c_shape shape;
	const char *c = name ? c_variable(t, name, &shape) : NULL;

	if (!c)
		c_missing(t, "the name \"%s\"", name ? name : key);
	return c ? c : "0";
}

const char *fd_in_c(struct translation *t, const struct statement *s, const char *key)
{
	return c_text(t, "(int)%s", name_in_c(t, s, key));
}

bool is_refusal(const struct statement *s)
{
	return s->expected && s->expected->err;
}

void call_in_c(struct translation *t, const struct statement *s, const char *call)
{
	if (s->verb->kind == PREPARES)
		c_line(t, "must(%s != -1);", call);
	else if (is_refusal(s))
		c_line(t, "expect_errno(%s, %s);", call, errno_name(s->expected->err));
	else
		c_line(t, "expect_errno(%s, 0);", call);
}

void shown_in_c(struct translation *t, const struct statement *s, const char *value,
		const char *pointer, const struct c_shape *shape)
{
	if (s->expected && !s->expected->err && s->expected->pattern)
		c_expect(t, s->expected->pattern, value, pointer, shape);
}

const char *bind_number(struct translation *t, const struct statement *s, const char *value)
{
	const char *c;

	if (s->bind) {
		struct c_name *name = c_bind(t, s->bind, "uint64_t", &number_shape);

		c = name ? c_text(t, "%s", name->c) : "";
	} else {
		c = c_declare(t, c_text(t, "value_%u", ++t->functions_made), "uint64_t", "");
	}
	c_line(t, "%s = %s;", c, value);
	return c;
}
