/* SPDX-License-Identifier: MIT */
/*
 * Verbs that read an event and its buffer, as C.
 */
#include <string.h>

#include "step/in_c.h"
#include "step/verbs/in_c.h"

/* Where the event's read function stands: made when it is first read. */
static struct c_name *opened_event(struct translation *t, const struct statement *s,
				   const char *key)
{
	struct c_name *event = c_named(t, json_string_value(statement_json(s, key)));

	if (!event || !event->open) {
		c_missing(t, "\"%s\" of what no step of this process opened", key);
		return NULL;
	}
	return event;
}

void read_in_c(struct translation *t, const struct statement *s)
{
	const char *size = statement_json(s, "size") ? number_in_c(t, s, "size") : "65536";
	const char *at = statement_json(s, "at") ? number_in_c(t, s, "at") : NULL;
	struct c_name *event = c_named(t, json_string_value(statement_json(s, "read")));
	const char *type, *function, *value;
	struct c_shape shape;

	if (is_refusal(s)) {
		call_in_c(t, s,
			  c_text(t, "read(%s, %s, %s)", fd_in_c(t, s, "read"),
				 at ? c_text(t, "(void *)(uintptr_t)(%s)", at) : "(char[65536]){0}",
				 size));
		return;
	}
	if (!event || !event->open) {
		if (!s->bind && (!s->expected || !s->expected->pattern))
			call_in_c(t, s,
				  c_text(t, "read(%s, (char[65536]){0}, %s)", fd_in_c(t, s, "read"),
					 size));
		else
			c_missing(t, "a read of what no step of this process opened");
		return;
	}
	type = c_read_layout(t, event->name, event->open, &shape, &function);
	value = c_text(t, "%s(%s, %s, %s)", function, fd_in_c(t, s, "read"),
		       at ? c_text(t, "(void *)(uintptr_t)(%s)", at) : "NULL", size);
	if (s->bind) {
		struct c_name *name = c_bind(t, s->bind, type, &shape);

		c_line(t, "%s = %s;", name ? name->c : "", value);
		value = name ? c_text(t, "%s", name->c) : "";
	} else {
		const char *c = c_declare(t, c_text(t, "%s_now", event->name), type, "");

		c_line(t, "%s = %s;", c, value);
		value = c;
	}
	shown_in_c(t, s, value, ".", &shape);
}

void pread_in_c(struct translation *t, const struct statement *s)
{
	call_in_c(t, s, c_text(t, "pread(%s, (char[256]){0}, 256, 0)", fd_in_c(t, s, "pread")));
}

void lseek_in_c(struct translation *t, const struct statement *s)
{
	call_in_c(t, s, c_text(t, "lseek(%s, 0, SEEK_SET) < 0 ? -1 : 0", fd_in_c(t, s, "lseek")));
}

void write_in_c(struct translation *t, const struct statement *s)
{
	const char *to = json_string_value(statement_json(s, "write"));
	const char *text = c_string(t, statement_json(s, "text"));

	if (to[0] == '/')
		call_in_c(t, s,
			  c_text(t, "write_file(%s, %s)", c_string(t, statement_json(s, "write")),
				 text));
	else
		call_in_c(
			t, s,
			c_text(t, "write(%s, %s, strlen(%s))", fd_in_c(t, s, "write"), text, text));
}

#define PAGE_MEMBER(name)                                                                          \
	{                                                                                          \
		.path = #name, .c = #name, .kind = C_NUMBER                                        \
	}
#define CAPABILITY(name)                                                                           \
	{                                                                                          \
		.path = "capabilities." #name, .c = #name, .kind = C_NUMBER                        \
	}

/* The header has pmc_width and the capabilities as a newer one than 3.12 has them. */
static const struct c_member page_members[] = {PAGE_MEMBER(version),
					       PAGE_MEMBER(compat_version),
					       PAGE_MEMBER(lock),
					       PAGE_MEMBER(index),
					       PAGE_MEMBER(offset),
					       PAGE_MEMBER(time_enabled),
					       PAGE_MEMBER(time_running),
					       {.path = "capabilities", .c = "", .kind = C_OBJECT},
					       CAPABILITY(cap_bit0),
					       CAPABILITY(cap_bit0_is_deprecated),
					       CAPABILITY(cap_user_rdpmc),
					       CAPABILITY(cap_user_time),
					       CAPABILITY(cap_user_time_zero),
					       CAPABILITY(cap_user_time_short),
					       PAGE_MEMBER(pmc_width),
					       PAGE_MEMBER(time_shift),
					       PAGE_MEMBER(time_mult),
					       PAGE_MEMBER(time_offset),
					       PAGE_MEMBER(time_zero),
					       PAGE_MEMBER(size),
					       PAGE_MEMBER(time_cycles),
					       PAGE_MEMBER(time_mask),
					       PAGE_MEMBER(data_head),
					       PAGE_MEMBER(data_tail),
					       PAGE_MEMBER(data_offset),
					       PAGE_MEMBER(data_size),
					       PAGE_MEMBER(aux_head),
					       PAGE_MEMBER(aux_tail),
					       PAGE_MEMBER(aux_offset),
					       PAGE_MEMBER(aux_size),
					       {0}};

void page_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_shape shape = {.kind = C_OBJECT, .members = page_members};
	static const char type[] = "struct perf_event_mmap_page";
	struct c_name *event = opened_event(t, s, "page");
	const char *c, *map;

	if (!event || !event->map[0]) {
		c_missing(t, "the page of what is not mapped here");
		return;
	}
	map = c_text(t, "%s", event->map);
	if (s->bind) {
		struct c_name *name = c_bind(t, s->bind, type, &shape);

		c = name ? c_text(t, "%s", name->c) : "";
	} else {
		c = c_declare(t, c_text(t, "%s_page", event->name), type, "");
	}
	c_line(t, "memcpy(&%s, %s, sizeof(%s));", c, map, c);
	shown_in_c(t, s, c, ".", &shape);
}

void rdpmc_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_member members[] = {
		{.path = "index", .c = "index", .kind = C_NUMBER},
		{.path = "value", .c = "value", .kind = C_NUMBER, .has = "has_value"},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	struct c_name *event = opened_event(t, s, "rdpmc");
	const char *c, *map;

	if (!event || !event->map[0]) {
		c_missing(t, "rdpmc of what is not mapped here");
		return;
	}
	map = c_text(t, "%s", event->map);
	if (s->bind) {
		struct c_name *name = c_bind(t, s->bind, "struct rdpmc", &shape);

		c = name ? c_text(t, "%s", name->c) : "";
	} else {
		c = c_declare(t, c_text(t, "%s_rdpmc", event->name), "struct rdpmc", "");
	}
	c_line(t, "%s = rdpmc(%s);", c, map);
	shown_in_c(t, s, c, ".", &shape);
}

/* A bit for each type of record that the step asks for. */
static const char *types_in_c(struct translation *t, const json_t *of)
{
	const struct abi_family *records = abi_family(t->tables->abi, "record");
	uint64_t types = 0;
	json_t *name;
	size_t i;

	json_array_foreach(of, i, name) {
		const struct abi_value *value = abi_value(records, json_string_value(name), NULL);

		if (value && value->value < 64)
			types |= UINT64_C(1) << value->value;
	}
	return of ? c_text(t, "%#llx", (unsigned long long)types) : "UINT64_MAX";
}

void records_in_c(struct translation *t, const struct statement *s)
{
	struct c_name *event = opened_event(t, s, "records");
	const char *type, *function, *c, *map;
	struct c_shape shape;

	if (!event || !event->map[0]) {
		c_missing(t, "the records of what is not mapped here");
		return;
	}
	map = c_text(t, "%s", event->map);
	type = c_text(t, "%s *", c_record_layout(t, event->name, event->open, &shape, &function));
	if (s->bind) {
		struct c_name *name = c_bind(t, s->bind, type, &shape);

		c = name ? c_text(t, "%s", name->c) : "";
	} else {
		c = c_declare(t, c_text(t, "%s_records", event->name), type, "");
	}
	c_declare(t, c_text(t, "%s_nr", c), "uint64_t", "");
	c_line(t, "%s = %s(%s, %s, %s, &%s_nr);", c, function, map,
	       types_in_c(t, statement_json(s, "of")),
	       json_is_true(statement_json(s, "keep")) ? "true" : "false", c);
	shown_in_c(t, s, c, ".", &shape);
}
