/* SPDX-License-Identifier: MIT */
/*
 * Verbs on what an event tells when it overflows, as C.
 */
#include <string.h>

#include "step/in_c.h"
#include "step/verbs/in_c.h"

static const char *word_or(const struct statement *s, const char *key, const char *fallback)
{
	const char *word = json_string_value(statement_json(s, key));

	return word ? word : fallback;
}

void poll_in_c(struct translation *t, const struct statement *s)
{
	static const char *const words[] = {"in", NULL};
	static const struct c_member members[] = {
		{.path = "revents", .c = "", .kind = C_BITS, .words = words, .prefix = "POLL"},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	const json_t *events = statement_json(s, "events");
	const char *by = word_or(s, "by", "poll");
	const char *c = c_declare(t, "revents", "uint64_t", "");

	call_in_c(t, s,
		  c_text(t, "%s_event(%s, %s, %s, &%s)", by, fd_in_c(t, s, "poll"),
			 events ? c_words(t, events, "POLL") : "POLLIN", number_in_c(t, s, "ms"),
			 c));
	shown_in_c(t, s, c, "", &shape);
}

void fcntl_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_member members[] = {{.path = "value", .c = "", .kind = C_NUMBER},
						  {0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	const char *c =
		bind_number(t, s,
			    c_text(t, "(uint64_t)fcntl(%s, %s, (long)(%s))", fd_in_c(t, s, "on"),
				   word_or(s, "fcntl", ""), number_in_c(t, s, "arg")));

	call_in_c(t, s, c_text(t, "(long)%s", c));
	shown_in_c(t, s, c, "", &shape);
}

void signals_in_c(struct translation *t, const struct statement *s)
{
	const char *signal = word_or(s, "signals", ""), *handler = word_or(s, "handler", "note");
	const json_t *by_number = statement_json(s, "setsig");

	c_line(t, "note_signals(%s, %s, %s, %s);", signal,
	       strcmp(handler, "note") != 0 ? "PERF_EVENT_IOC_DISABLE" : "0",
	       !strcmp(handler, "refresh")  ? "PERF_EVENT_IOC_REFRESH"
	       : !strcmp(handler, "enable") ? "PERF_EVENT_IOC_ENABLE"
					    : "0",
	       !strcmp(handler, "refresh") ? "1" : "0");
	if (statement_json(s, "on"))
		c_line(t, "signal_overflows(%s, %s, %s, %s);", fd_in_c(t, s, "on"), signal,
		       !by_number || json_is_true(by_number) ? "true" : "false",
		       !strcmp(word_or(s, "owner", "thread"), "process") ? "true" : "false");
}

void signals_seen_in_c(struct translation *t, const struct statement *s)
{
	static const char *const words[] = {"", NULL};
	static const struct c_member members[] = {
		{.path = "signo", .c = "signo", .kind = C_BITS, .words = words, .prefix = ""},
		{.path = "code", .c = "code", .kind = C_BITS, .words = words, .prefix = ""},
		{.path = "count", .c = "count", .kind = C_NUMBER},
		{.path = "tid", .c = "tid", .kind = C_NUMBER},
		{.path = "fd", .c = "fd", .kind = C_NUMBER},
		{.path = "band", .c = "band", .kind = C_NUMBER},
		{.path = "addr", .c = "addr", .kind = C_NUMBER},
		{.path = "perf_data", .c = "perf_data", .kind = C_NUMBER},
		{.path = "perf_type", .c = "perf_type", .kind = C_NUMBER},
		{.path = "perf_flags", .c = "perf_flags", .kind = C_NUMBER},
		{0}};
	static const struct c_shape shape = {.kind = C_LIST, .members = members};
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct seen *", &shape) : NULL;
	const char *c =
		name ? c_text(t, "%s", name->c) : c_declare(t, "signals_now", "struct seen *", "");

	c_declare(t, c_text(t, "%s_nr", c), "uint64_t", "");
	c_line(t, "%s = signals_seen(&%s_nr);", c, c);
	shown_in_c(t, s, c, ".", &shape);
}
