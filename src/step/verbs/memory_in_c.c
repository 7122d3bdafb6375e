/* SPDX-License-Identifier: MIT */
/*
 * Verbs on memory, as C.
 */
#include <string.h>

#include "machine/names.h"

#include "step/in_c.h"
#include "step/verbs/in_c.h"

static const char *prot_in_c(struct translation *t, const struct statement *s, const char *fallback)
{
	const json_t *prot = statement_json(s, "prot");

	return !prot ? fallback : json_array_size(prot) ? c_words(t, prot, "PROT_") : "PROT_NONE";
}

/* A mapping's variable: one a mapping, for what was mapped before is still there. */
static const char *own_map(struct translation *t, const json_t *event)
{
	const char *name = c_text(t, "%s_map", json_string_value(event));

	for (unsigned i = 2; json_object_get(t->declared, name); i++)
		name = c_text(t, "%s_map_%u", json_string_value(event), i);
	return name;
}

void mmap_in_c(struct translation *t, const struct statement *s)
{
	struct c_name *event = c_named(t, json_string_value(statement_json(s, "mmap")));
	const char *map = c_declare(t, own_map(t, statement_json(s, "mmap")), "void *", "");
	const char *length = statement_json(s, "length") ? number_in_c(t, s, "length")
							 : c_text(t, "(1 + %s) * page_size()",
								  number_in_c(t, s, "pages"));
	const char *prot = prot_in_c(t, s, "PROT_READ | PROT_WRITE");
	const char *length_c = c_declare(t, c_text(t, "%s_length", map), "uint64_t", "");
	bool is_data = !statement_json(s, "offset") || !strcmp(number_in_c(t, s, "offset"), "0");

	c_line(t, "%s = %s;", length_c, length);
	c_line(t, "%s = expect_map(mmap(NULL, %s, %s, %s, %s, %s), %s);", map, length_c, prot,
	       json_is_true(statement_json(s, "private")) ? "MAP_PRIVATE" : "MAP_SHARED",
	       fd_in_c(t, s, "mmap"), c_cast(t, "off_t", number_in_c(t, s, "offset")),
	       is_refusal(s) ? errno_name(s->expected->err) : "0");
	if (is_refusal(s))
		return;
	if (event && is_data)
		snprintf(event->map, sizeof(event->map), "%s", map);
	if (s->bind)
		bind_number(t, s, c_text(t, "(uintptr_t)%s", map));
}

/* The part of the newest mapping that the step names. */
static bool part_in_c(struct translation *t, const struct statement *s, const char *key,
		      const char **at, const char **length)
{
	struct c_name *event = c_named(t, json_string_value(statement_json(s, key)));
	const char *offset = number_in_c(t, s, "offset");

	if (!event || !event->map[0]) {
		c_missing(t, "the mapping that \"%s\" is about", key);
		return false;
	}
	*at = c_text(t, "(char *)%s + %s", event->map, offset);
	*length = statement_json(s, "length") ? number_in_c(t, s, "length")
					      : c_text(t, "%s_length - %s", event->map, offset);
	return true;
}

void munmap_in_c(struct translation *t, const struct statement *s)
{
	const char *at, *length;

	if (!part_in_c(t, s, "munmap", &at, &length))
		return;
	if (json_is_true(statement_json(s, "replaced")))
		call_in_c(t, s,
			  c_text(t,
				 "mmap(%s, %s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS "
				 "| MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0",
				 at, length));
	else
		call_in_c(t, s, c_text(t, "munmap(%s, %s)", at, length));
}

void mremap_in_c(struct translation *t, const struct statement *s)
{
	struct c_name *event = c_named(t, json_string_value(statement_json(s, "mremap")));
	const char *at, *length, *to = number_in_c(t, s, "to"), *now;

	if (!part_in_c(t, s, "mremap", &at, &length))
		return;
	now = c_declare(t, c_text(t, "moved_%u", ++t->functions_made), "void *", "");
	c_line(t, "%s = move_map(%s, %s, %s, %s);", now, at, length, to,
	       json_is_true(statement_json(s, "move")) ? "true" : "false");
	call_in_c(t, s, c_text(t, "%s == MAP_FAILED ? -1 : 0", now));
	if (is_refusal(s))
		return;
	snprintf(event->map, sizeof(event->map), "%s", now);
	c_line(t, "%s = %s;", c_declare(t, c_text(t, "%s_length", now), "uint64_t", ""), to);
}

void mprotect_in_c(struct translation *t, const struct statement *s)
{
	const char *at, *length;

	if (part_in_c(t, s, "mprotect", &at, &length))
		call_in_c(t, s,
			  c_text(t, "mprotect(%s, %s, %s)", at, length,
				 prot_in_c(t, s, "PROT_READ | PROT_WRITE")));
}

void buffer_in_c(struct translation *t, const struct statement *s)
{
	bind_number(t, s,
		    c_text(t, "buffer_of(%s, %s)", number_in_c(t, s, "buffer"),
			   prot_in_c(t, s, "PROT_READ | PROT_WRITE")));
}

void string_in_c(struct translation *t, const struct statement *s)
{
	const json_t *end = statement_json(s, "end");

	bind_number(t, s,
		    c_text(t, "repeated(%s, %s, %s)", c_string(t, statement_json(s, "string")),
			   number_in_c(t, s, "times"), end ? c_string(t, end) : "\"\""));
}

static const char *place_in_c(struct translation *t, const struct statement *s, const char *key)
{
	const char *member = json_string_value(statement_json(s, "member"));
	const char *at = number_in_c(t, s, key);

	if (member)
		return c_text(t, "(%s) + offsetof(struct perf_event_mmap_page, %s)", at, member);
	return statement_json(s, "offset") ? c_text(t, "(%s) + %s", at, number_in_c(t, s, "offset"))
					   : at;
}

void poke_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "*(volatile uint64_t *)(uintptr_t)(%s) = (uint64_t)(%s);",
	       place_in_c(t, s, "poke"), number_in_c(t, s, "value"));
}

void peek_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_shape number = {.kind = C_NUMBER};

	shown_in_c(t, s,
		   bind_number(t, s,
			       c_text(t, "*(volatile uint64_t *)(uintptr_t)(%s)",
				      place_in_c(t, s, "peek"))),
		   ".", &number);
}

void function_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_member members[] = {
		{.path = "address", .c = "address", .kind = C_NUMBER},
		{.path = "offset", .c = "offset", .kind = C_NUMBER},
		{.path = "path", .c = "path", .kind = C_STRING},
		{.path = "build_id", .c = "build_id", .kind = C_STRING},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct function", &shape) : NULL;

	if (name)
		c_line(t, "%s = function_probed();", name->c);
}
