/* SPDX-License-Identifier: MIT */
/*
 * Verbs on an event's file descriptor, as C.
 */
#include <ctype.h>
#include <string.h>

#include "step/in_c.h"
#include "step/verbs/in_c.h"

static const char *argument_of_open(struct translation *t, const json_t *open, const char *key,
				    const char *fallback, const struct abi_family *set)
{
	const json_t *json = json_object_get(open, key);

	return json ? c_number(t, json, set) : fallback;
}

/* The attr as it is passed: the union itself, or a copy in memory of another kind. */
static const char *attr_pointer(struct translation *t, const json_t *memory, const char *attr)
{
	const char *kind = json_string_value(memory);
	const json_t *mapped = json_object_get(memory, "mapped");

	if (mapped)
		return c_text(t, "cut_off(&%s, sizeof(%s), %s)", attr, attr,
			      c_number(t, mapped, NULL));
	if (kind && !strcmp(kind, "null")) {
		c_line(t, "(void)%s; /* is not passed */", attr);
		return "NULL";
	}
	if (kind && !strcmp(kind, "read-only"))
		return c_text(t, "read_only(&%s, sizeof(%s))", attr, attr);
	return c_text(t, "&%s", attr);
}

const char *open_call_in_c(struct translation *t, const json_t *open, const char *attr)
{
	const struct abi_family *flags = abi_family(t->tables->abi, "open_flags");
	const json_t *memory = json_object_get(open, "memory");

	c_attr(t, attr, json_object_get(open, "attr"), json_object_get(open, "bytes"));
	return c_text(t, "open_event(%s, %s, %s, %s, %s)", attr_pointer(t, memory, attr),
		      c_cast(t, "int", argument_of_open(t, open, "pid", "0", NULL)),
		      c_cast(t, "int", argument_of_open(t, open, "cpu", "-1", NULL)),
		      c_cast(t, "int", argument_of_open(t, open, "group_fd", "-1", NULL)),
		      argument_of_open(t, open, "flags", "0", flags));
}

/* The event and its id, which records and signals have. */
static void bind_event(struct translation *t, const struct statement *s, const char *call)
{
	static const struct c_shape number = {.kind = C_NUMBER};
	struct c_name *event = c_bind(t, s->bind, "uint64_t", &number);
	const char *id = c_text(t, "%s.id", s->bind), *c_id;
	struct c_name *name;

	if (!event)
		return;
	event->open = s->operands[0].made;
	c_line(t, "%s = (uint64_t)expect_errno(%s, 0);", event->c, call);
	if (!strstr(t->text, c_text(t, "$%s.id", s->bind)))
		return;
	c_id = c_declare(t, c_text(t, "%s_id", s->bind), "uint64_t", "");
	c_line(t, "%s = event_id(%s);", c_id, event->c);
	if (strlen(id) >= VARIABLE_NAME)
		return;
	name = c_named(t, id);
	if (!name && t->name_count < C_NAMES)
		name = &t->names[t->name_count++];
	if (!name) {
		c_missing(t, "more than %d names", C_NAMES);
		return;
	}
	*name = (struct c_name){.shape = number, .pointer = "."};
	snprintf(name->name, sizeof(name->name), "%s", id);
	snprintf(name->c, sizeof(name->c), "%s", c_id);
}

/* The call, and what it leaves of attr and of the descriptor. */
static void judged_open_in_c(struct translation *t, const struct statement *s, const char *call)
{
	static const struct c_member members[] = {
		{.path = "size", .c = "attr.size", .kind = C_NUMBER}, {0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	const json_t *pattern = s->expected ? s->expected->pattern : NULL;
	const json_t *attr = json_object_get(pattern, "attr");
	const json_t *cloexec = json_object_get(pattern, "cloexec");

	if (!attr)
		c_line(t, "union attr before = attr;");
	if (cloexec)
		call = c_text(t, "fd = %s", call);
	if (cloexec)
		c_line(t, "long fd;");
	call_in_c(t, s, call);
	if (attr)
		c_expect(t, attr, "attr", ".", &shape);
	else
		c_line(t, "expect(!memcmp(&attr, &before, sizeof(attr)), attr.attr.size);");
	if (cloexec)
		c_line(t, "expect((fcntl((int)fd, F_GETFD) & FD_CLOEXEC) == %s, fd);",
		       json_is_true(cloexec) ? "FD_CLOEXEC" : "0");
}

void open_in_c(struct translation *t, const struct statement *s)
{
	const json_t *open = statement_json(s, "open"), *times = statement_json(s, "times");
	const char *attr = "attr", *call;

	if (times && s->bind && !is_refusal(s))
		c_line(t, "/* the first of them is %s */", s->bind);
	c_line(t, "{");
	t->indent++;
	call = open_call_in_c(t, open, attr);
	if (!s->bind && !times && !json_object_get(open, "memory"))
		judged_open_in_c(t, s, call);
	else if (is_refusal(s) || !s->bind)
		call_in_c(t, s, call);
	else
		bind_event(t, s, call);
	if (times) {
		c_line(t, "for (uint64_t i = 1; i < %s; i++)", number_in_c(t, s, "times"));
		t->indent++;
		call_in_c(t, s, call);
		t->indent--;
	}
	t->indent--;
	c_line(t, "}");
}

void close_in_c(struct translation *t, const struct statement *s)
{
	call_in_c(t, s, c_text(t, "close(%s)", fd_in_c(t, s, "close")));
}

void prctl_in_c(struct translation *t, const struct statement *s)
{
	const char *option = json_string_value(statement_json(s, "prctl"));
	json_t *list = json_pack("[s]", option);

	call_in_c(t, s, c_text(t, "prctl(%s, 0, 0, 0, 0)", c_words(t, list, "PR_")));
	json_decref(list);
}

/* What the request is called; a number of the case's own as it is. */
static const char *request_in_c(struct translation *t, const json_t *request, const char **kind)
{
	const char *text = json_string_value(request);
	const struct abi_value *value =
		text ? abi_value(abi_family(t->tables->abi, "ioctl"), text, NULL) : NULL;
	char upper[64];
	size_t n = 0;

	*kind = value ? json_string_value(json_object_get(value->json, "arg")) : NULL;
	if (!value)
		return c_text(t, "(unsigned long)(%s)", c_number(t, request, NULL));
	for (const char *p = value->name; *p && n + 1 < sizeof(upper); p++)
		upper[n++] = (char)toupper((unsigned char)*p);
	upper[n] = '\0';
	return c_text(t, "PERF_EVENT_IOC_%s", upper);
}

/* What it points to: a number of its own, which the kernel may write. */
static void word_in_c(struct translation *t, const struct statement *s, const char *fd,
		      const char *request)
{
	static const struct c_shape number = {.kind = C_NUMBER};
	const json_t *json = statement_json(s, "u64");
	const char *word = bind_number(t, s, json ? c_number(t, json, NULL) : "0");

	call_in_c(t, s, c_text(t, "ioctl(%s, %s, &%s)", fd, request, word));
	shown_in_c(t, s, word, ".", &number);
}

static void query_in_c(struct translation *t, const struct statement *s, const char *fd,
		       const char *request)
{
	static const struct c_member members[] = {
		{.path = "ids_len", .c = "ids_len", .kind = C_NUMBER},
		{.path = "prog_cnt", .c = "prog_cnt", .kind = C_NUMBER},
		{.path = "ids", .c = "ids", .kind = C_LIST},
		{.path = "ids[]", .c = "", .kind = C_NUMBER},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct bpf_query", &shape) : NULL;
	const char *c =
		name ? c_text(t, "%s", name->c) : c_declare(t, "query", "struct bpf_query", "");

	c_line(t, "%s = (struct bpf_query){.ids_len = (uint32_t)(%s), .prog_cnt = UINT32_MAX};", c,
	       number_in_c(t, s, "ids"));
	call_in_c(t, s, c_text(t, "ioctl(%s, %s, &%s)", fd, request, c));
	c_line(t, "%s.ids_nr = ids_in(&%s);", c, c);
	shown_in_c(t, s, c, ".", &shape);
	if (s->expected && s->expected->err && s->expected->pattern)
		c_expect(t, s->expected->pattern, c, ".", &shape);
}

static void attr_in_c(struct translation *t, const struct statement *s, const char *fd,
		      const char *request)
{
	static const struct c_member members[] = {
		{.path = "size", .c = "attr.size", .kind = C_NUMBER}, {0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	const char *attr = "attr";

	c_line(t, "{");
	t->indent++;
	c_attr(t, attr, statement_json(s, "attr"), NULL);
	call_in_c(t, s, c_text(t, "ioctl(%s, %s, &%s)", fd, request, attr));
	if (s->expected && s->expected->pattern)
		c_expect(t, s->expected->pattern, attr, ".", &shape);
	t->indent--;
	c_line(t, "}");
}

void ioctl_in_c(struct translation *t, const struct statement *s)
{
	const char *kind, *request = request_in_c(t, statement_json(s, "ioctl"), &kind);
	const char *fd = fd_in_c(t, s, "on");
	bool takes_word = !kind || strcmp(kind, "u32") != 0;

	if (statement_json(s, "attr"))
		attr_in_c(t, s, fd, request);
	else if (statement_json(s, "ids"))
		query_in_c(t, s, fd, request);
	else if (statement_json(s, "text"))
		call_in_c(t, s,
			  c_text(t, "ioctl(%s, %s, %s)", fd, request,
				 c_string(t, statement_json(s, "text"))));
	else if (statement_json(s, "arg"))
		call_in_c(t, s,
			  c_text(t, "ioctl(%s, %s, %s)", fd, request,
				 c_cast(t, "unsigned long", number_in_c(t, s, "arg"))));
	else if (statement_json(s, "address"))
		call_in_c(t, s,
			  c_text(t, "ioctl(%s, %s, %s)", fd, request,
				 c_cast(t, "unsigned long", number_in_c(t, s, "address"))));
	else if (takes_word || statement_json(s, "u64"))
		word_in_c(t, s, fd, request);
	else
		call_in_c(t, s, c_text(t, "ioctl(%s, %s, 0)", fd, request));
}

/* A copy of the descriptor is the same event, read and mapped as it is. */
void dup_in_c(struct translation *t, const struct statement *s)
{
	struct c_name *event = c_named(t, json_string_value(statement_json(s, "dup")));
	const struct opening *open = event ? event->open : NULL;
	const char *c = bind_number(
		t, s, c_text(t, "(uint64_t)expect_errno(dup(%s), 0)", fd_in_c(t, s, "dup")));
	struct c_name *copy = s->bind ? c_named(t, s->bind) : NULL;

	(void)c;
	if (copy)
		copy->open = open;
}
