/* SPDX-License-Identifier: MIT */
/*
 * Verbs on what else a machine has, as C.
 */
#include <string.h>

#include "step/in_c.h"
#include "step/verbs/in_c.h"

/* A name of the case's: "v2", or "v1.CONTROLLER". */
void cgroup_in_c(struct translation *t, const struct statement *s)
{
	const char *hierarchy = json_string_value(statement_json(s, "cgroup"));
	const json_t *entry = statement_json(s, "entry");
	const char *controller = strchr(hierarchy, '.');

	bind_number(t, s,
		    c_text(t, "cgroup_open(%s, %s)",
			   controller ? c_quote(t, controller + 1) : "NULL",
			   entry ? c_string(t, entry) : "\"\""));
}

void enter_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "cgroup_enter(%s);", c_string(t, statement_json(s, "enter")));
}

void mkdir_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "must(!mkdir(%s, 0755));", c_string(t, statement_json(s, "mkdir")));
}

void file_in_c(struct translation *t, const struct statement *s)
{
	const char *mode = json_string_value(statement_json(s, "mode"));
	const char *c =
		bind_number(t, s,
			    c_text(t, "(uint64_t)open(%s, %s | O_CLOEXEC)",
				   c_string(t, statement_json(s, "file")),
				   mode && !strcmp(mode, "read-write") ? "O_RDWR" : "O_RDONLY"));

	c_line(t, "must((int)%s >= 0);", c);
}

void memfd_in_c(struct translation *t, const struct statement *s)
{
	bind_number(t, s, c_text(t, "memfd(%s)", number_in_c(t, s, "memfd")));
}

void limit_in_c(struct translation *t, const struct statement *s)
{
	json_t *list = json_pack("[O]", statement_json(s, "limit"));

	c_line(t, "set_limit(%s, %s);", c_words(t, list, "RLIMIT_"), number_in_c(t, s, "to"));
	json_decref(list);
}

void stat_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_member members[] = {
		{.path = "ino", .c = "st_ino", .kind = C_NUMBER},
		{.path = "dev", .c = "st_dev", .kind = C_NUMBER},
		{.path = "size", .c = "st_size", .kind = C_NUMBER},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct stat", &shape) : NULL;
	const char *c =
		name ? c_text(t, "%s", name->c)
		     : c_declare(t, c_text(t, "stat_%u", ++t->functions_made), "struct stat", "");

	c_line(t, "must(!stat(%s, &%s));", c_string(t, statement_json(s, "stat")), c);
	shown_in_c(t, s, c, ".", &shape);
}

void text_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_shape number = {.kind = C_NUMBER};

	shown_in_c(t, s,
		   bind_number(t, s,
			       c_text(t, "number_in(%s)", c_string(t, statement_json(s, "text")))),
		   ".", &number);
}

void socket_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_shape number = {.kind = C_NUMBER};
	const char *name = json_string_value(statement_json(s, "socket"));
	struct c_name *a = c_bind(t, c_text(t, "%s_a", name), "uint64_t", &number);
	const char *c_a = a ? c_text(t, "%s", a->c) : "";
	struct c_name *b = c_bind(t, c_text(t, "%s_b", name), "uint64_t", &number);

	if (a && b)
		c_line(t, "make_sockets(&%s, &%s);", c_a, b->c);
}

void send_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "send_fd(%s, %s);", fd_in_c(t, s, "over"), fd_in_c(t, s, "send"));
}

void receive_in_c(struct translation *t, const struct statement *s)
{
	const char *as = json_string_value(statement_json(s, "as"));
	const struct c_name *event = as ? c_named(t, as) : NULL;
	const struct opening *open = event ? event->open : NULL;
	struct c_name *name;

	bind_number(t, s, c_text(t, "receive_fd(%s)", fd_in_c(t, s, "receive")));
	name = s->bind ? c_named(t, s->bind) : NULL;
	if (name)
		name->open = open;
}

void bpf_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_member members[] = {
		{.path = "fd", .c = "fd", .kind = C_NUMBER},
		{.path = "id", .c = "id", .kind = C_NUMBER},
		{.path = "type", .c = "type", .kind = C_NUMBER},
		{.path = "tag", .c = "tag", .kind = C_STRING},
		{.path = "address", .c = "address", .kind = C_NUMBER},
		{.path = "length", .c = "length", .kind = C_NUMBER},
		{.path = "name", .c = "name", .kind = C_STRING},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	json_t *list = json_pack("[O]", statement_json(s, "bpf"));
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct bpf_program", &shape) : NULL;

	if (name)
		c_line(t, "%s = bpf_load(%s);", name->c, c_words(t, list, "BPF_PROG_TYPE_"));
	json_decref(list);
}

void clock_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_shape number = {.kind = C_NUMBER};
	json_t *list = json_pack("[O]", statement_json(s, "clock"));

	shown_in_c(t, s,
		   bind_number(t, s, c_text(t, "nanoseconds(%s)", c_words(t, list, "CLOCK_"))), ".",
		   &number);
	json_decref(list);
}

/* What a name stands for is looked at where it is; an expression is a number of its own. */
void value_in_c(struct translation *t, const struct statement *s)
{
	const json_t *json = statement_json(s, "value");
	const char *text = json_string_value(json), *value = NULL;
	struct c_shape shape = {.kind = C_NUMBER};

	if (text && text[0] == '$' && scope_name_length(text + 1) == strlen(text + 1))
		value = c_variable(t, text + 1, &shape);
	if (!value || (shape.kind == C_NUMBER && s->bind))
		value = bind_number(t, s, c_number(t, json, NULL));
	else if (s->bind)
		c_missing(t, "another name for \"%s\"", text);
	shown_in_c(t, s, value, ".", &shape);
}
