/* SPDX-License-Identifier: MIT */
/*
 * Verbs on an event's file descriptor: opening, closing, ioctl(2), prctl(2).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "call/call.h"
#include "step/step.h"
#include "text/json_text.h"

/* Remembers it, so that it can be read and decoded. FD_OUTPUT says where its records go. */
static int keep_event(struct step *s, const struct call *call, int fd)
{
	const bool goes_elsewhere =
		call->flags & abi_number(s->tables->abi, "open_flags", "fd_output");
	int which = (int)s->run->event_count;
	struct opened event = {.fd = fd,
			       .event = which,
			       .output = goes_elsewhere ? step_which(s, call->group_fd) : which};
	size_t size = s->tables->abi->attr_size;

	if (!s->statement->bind)
		return 0; /* no step can name it */
	if (s->run->event_count == OPENED_MAX)
		return error_text(s->error, NULL, "more", "at most %d events with a name",
				  OPENED_MAX);
	event.image = malloc(size);
	if (!event.image)
		return step_failed(s, ENOMEM);
	memcpy(event.image, call->image, size);
	event_ioctl(s->tables->abi, fd, "id", &event.id);
	s->run->events[s->run->event_count++] = event;
	scope_bind_member(s->scope, s->statement->bind, "id", event.id);
	return 0;
}

static int open_event(struct step *s, const struct call *call)
{
	const struct alternative *x = s->expected;
	struct refused *refused = s->run->refused;
	const size_t size = s->tables->abi->attr_size;
	struct answer answer;
	int err = call_issue(call, s->run->env, &answer);

	if (err)
		return step_failed(s, -err);
	call_format(call, &answer, s->run->env, s->call, sizeof(s->call));
	s->err = answer.err;
	s->attr_is_written = answer.size_written;
	if (answer.other_written)
		return step_broken(s, "attr written past its size",
				   "attr.size written, or nothing");
	if (x && x->pattern) {
		step_show(s, "attr", json_pack("{s:I}", "size", (json_int_t)answer.size_after));
		if (!answer.err)
			step_show(s, "cloexec", json_boolean(answer.fd_cloexec));
	}
	if (refused) /* whatever fails after one that opens is not an open's refusal */
		*refused = (struct refused){.is_there = answer.err,
					    .pid = call->pid,
					    .cpu = call->cpu,
					    .group_fd = call->group_fd,
					    .flags = call->flags};
	if (refused)
		memcpy(refused->attr, call->image,
		       size < sizeof(refused->attr) ? size : sizeof(refused->attr));
	/*
	 * Which gate refused, where the case did not foresee the errno, or says the gate. A process
	 * that has had events must not fork for a witness: a fork can swap its contexts with the
	 * child's.
	 */
	if (answer.err && x && (x->phase >= 0 || (s->run->asks_gates && s->err != x->err)))
		s->phases =
			phase_infer(&s->tables->phases, call, s->err, s->run->zombie, s->run->env);
	if (answer.err)
		return 0;
	if (!s->run->zombie)
		s->run->zombie = -1;
	if (!answer.fd_is_event || !answer.fd_rdwr)
		return step_broken(s,
				   answer.fd_is_event ? "a file descriptor that is not O_RDWR"
						      : "a file descriptor of something else",
				   "an event, or a refusal");
	s->result = (uint64_t)answer.fd;
	return 0;
}

static const struct member attr_shows[] = {{.name = "size", .shape = {.kind = SHAPE_NUMBER}}, {0}};
static const struct member open_shows[] = {
	{"cloexec", {.kind = SHAPE_TRUTH}, "of the file descriptor"},
	{"attr", {.kind = SHAPE_OBJECT, .members = attr_shows}, "as the kernel has left it"},
	{0}};

/* The first of them is the one that has the name. */
static int run_open(struct step *s)
{
	const struct call *call;
	uint64_t first = 0;
	int err = opening_make(s->statement->operands[0].made, s->tables->abi, s->tables->arch,
			       s->scope, &s->made, &call, s->error);

	for (uint64_t i = 0; i < s->arguments.times && !err && !s->err; i++) {
		err = open_event(s, call);
		if (!i && !err && !s->err) {
			first = s->result;
			err = keep_event(s, call, (int)first);
		}
	}
	s->result = first;
	return err;
}

static int run_close(struct step *s)
{
	const struct arguments *a = &s->arguments;
	struct opened *event = step_event(s, a->fd);

	step_say(s, "close(%d)", a->fd);
	step_answer(s, close(a->fd));
	if (event && !s->err)
		event->is_closed = true;
	return 0;
}

static int run_dup(struct step *s)
{
	const struct arguments *a = &s->arguments;
	struct opened *event = step_event(s, a->fd);
	int copy;

	step_say(s, "dup(%d)", a->fd);
	copy = dup(a->fd);
	step_answer(s, copy);
	s->result = (uint64_t)copy;
	if (copy < 0 || !event)
		return 0;
	if (s->statement->bind)
		scope_bind_member(s->scope, s->statement->bind, "id", event->id);
	step_keep_copy(s, event, copy);
	return 0;
}

enum { QUERY_IDS = 128, ATTR_ROOM = 8192 };

static const struct abi_value *request_named(const struct abi *abi, const json_t *json,
					     struct nearest *near)
{
	const char *text = json_string_value(json);

	return text ? abi_value(abi_family(abi, "ioctl"), text, near) : NULL;
}

static int parse_request(struct compiling *c, struct operand *operand)
{
	const char *text = json_string_value(operand->json);
	struct nearest near = nearest_to(text ? text : "");
	const struct abi_value *value = request_named(c->tables->abi, operand->json, &near);

	if (!value && text && text[0] != '0' && text[0] != '$')
		return error_name(c->error, c->where, text, near.best, "an ioctl of cases/abi");
	if (!value)
		return argument_number.parse(c, operand);
	operand->number = event_ioctl_number(c->tables->abi, value->name);
	return 0;
}

static const struct argument_type argument_request = {
	.parse = parse_request,
	.is_parsed_again = true,
	.schema = "{\"type\": [\"string\", \"integer\"]}"};

/* A struct perf_event_attr in a page, so that whatever size it says is there to be read. */
static int parse_attr(struct compiling *c, struct operand *operand)
{
	const struct abi *abi = c->tables->abi;
	struct vars vars = scope_vars(c->scope);

	operand->made = or_exit(arena_alloc(c->arena, ATTR_ROOM));
	attr_set(abi_field(abi, "size"), operand->made, host_order(), abi->attr_size);
	return attr_from_json(abi, c->arch, operand->json, &vars, c->where, operand->made,
			      c->error);
}

static const struct argument_type argument_attr = {
	.parse = parse_attr,
	.is_made = true,
	.is_parsed_again = true,
	.schema = "{\"$ref\": \"names.schema.json#/$defs/attr\"}"};

static const char *const ioctl_arguments[] = {"arg", "address", "text", "u64", "attr", "ids", NULL};

static int check_ioctl(struct compiling *c, const struct statement *statement)
{
	const char *first = NULL;

	for (size_t i = 0; ioctl_arguments[i]; i++) {
		if (!statement_json(statement, ioctl_arguments[i]))
			continue;
		if (first)
			return error_name(c->error, AT_KEY(c->where, ioctl_arguments[i]),
					  ioctl_arguments[i], NULL,
					  "one argument alone, and there is \"%s\"", first);
		first = ioctl_arguments[i];
	}
	return 0;
}

static void shape_ioctl(const struct tables *tables, const struct statement *statement,
			struct value_shape *out)
{
	static const struct member query[] = {{"ids_len", {.kind = SHAPE_NUMBER}, NULL},
					      {"prog_cnt", {.kind = SHAPE_NUMBER}, NULL},
					      {"ids", {.kind = SHAPE_LIST}, NULL},
					      {0}};

	(void)tables;
	if (statement_json(statement, "attr"))
		*out = (struct value_shape){.kind = SHAPE_OBJECT, .members = attr_shows};
	else if (statement_json(statement, "ids"))
		*out = (struct value_shape){.kind = SHAPE_OBJECT, .members = query};
	else
		*out = (struct value_shape){.kind = SHAPE_NUMBER};
}

/* struct perf_event_query_bpf, with room for so many ids. */
struct query {
	uint32_t ids_len, prog_cnt, ids[QUERY_IDS];
};

static void show_query(struct step *s, const struct query *query)
{
	json_t *ids = json_array();

	for (uint32_t i = 0; i < query->prog_cnt && i < QUERY_IDS && query->prog_cnt != UINT32_MAX;
	     i++)
		if (query->ids[i])
			json_array_append_new(ids, json_integer(query->ids[i]));
	step_show_number(s, "ids_len", query->ids_len);
	if (query->prog_cnt != UINT32_MAX)
		step_show_number(s, "prog_cnt", query->prog_cnt);
	step_show(s, "ids", ids);
}

/* `arg` and `address` are passed as they are, the others pointed to. */
static int run_ioctl(struct step *s)
{
	const struct arguments *a = &s->arguments;
	const struct abi *abi = s->tables->abi;
	const struct opened *event = step_event(s, a->fd);
	struct query query = {.ids_len = (uint32_t)a->ids, .prog_cnt = UINT32_MAX};
	const struct abi_value *known =
		request_named(abi, statement_json(s->statement, "ioctl"), NULL);
	const char *name = known ? known->name : NULL; /* NULL: it is a number of the case's own */
	const char *arg = known ? json_string_value(json_object_get(known->json, "arg")) : "u64";
	/* ENABLE and its like take a number, 0 by default; others point to nothing without a key.
	 */
	bool takes = arg && strcmp(arg, "u32") != 0, shows_word = false;
	char upper[32] = "";
	uint64_t word = a->word;
	unsigned long argument = 0;

	if (step_has(s, "text")) {
		argument = (unsigned long)(uintptr_t)a->text;
	} else if (a->attr) {
		argument = (unsigned long)(uintptr_t)a->attr;
	} else if (step_has(s, "ids")) {
		argument = (unsigned long)(uintptr_t)&query;
	} else if (step_has(s, "arg") || step_has(s, "address")) {
		argument = (unsigned long)(a->arg | a->address);
	} else if (takes || step_has(s, "u64")) {
		argument = (unsigned long)(uintptr_t)&word;
		shows_word = takes;
	}
	for (size_t i = 0; name && i + 1 < sizeof(upper) && name[i]; i++)
		upper[i] = (char)(name[i] == '_' ? '_' : name[i] - 'a' + 'A');
	if (name)
		step_say(s, "ioctl(%d, PERF_EVENT_IOC_%s, %#lx)", a->fd, upper, argument);
	else
		step_say(s, "ioctl(%d, %#lx, %#lx)", a->fd, (unsigned long)a->number, argument);
	step_answer(s, ioctl(a->fd, (ioctl_request)a->number, argument));
	s->result = word;
	if (step_has(s, "ids"))
		show_query(s, &query);
	else if (a->attr)
		step_show_number(s, "size",
				 attr_get(abi_field(abi, "size"), a->attr, host_order()));
	else if (shows_word && !s->err)
		s->shown = value_json(word);
	if (!s->err && event && name && !strcmp(name, "set_output"))
		s->run->events[event->event].output =
			(long)argument < 0 ? event->event : step_which(s, (int)argument);
	return 0;
}

static const struct word prctl_options[] = {
	{"task_perf_events_disable", PR_TASK_PERF_EVENTS_DISABLE},
	{"task_perf_events_enable", PR_TASK_PERF_EVENTS_ENABLE},
	{0}};

static int run_prctl(struct step *s)
{
	step_say(s, "prctl(PR_TASK_PERF_EVENTS_%s)",
		 s->arguments.number == PR_TASK_PERF_EVENTS_ENABLE ? "ENABLE" : "DISABLE");
	step_answer(s, prctl((int)s->arguments.number, 0, 0, 0, 0));
	return 0;
}

const struct verb event_verbs[] = {
	{"open", "open an event, as `open` of a case does; binds the fd, and NAME.id", CALLS,
	 BINDS_RESULT, run_open, NULL, .in_c = open_in_c, .binds_member = "id", .has_gates = true,
	 .shows = {.kind = SHAPE_OBJECT, .members = open_shows},
	 ARGUMENTS({.key = "open", .type = &argument_open},
		   {"times", &argument_number, MEMBER(times), .fallback = 1, .most = 4096,
		    .help = "the number of events to open"})},
	{"close", "close the file descriptor NAME", CALLS, BINDS_NOTHING, run_close,
	 "close(@close)", ARGUMENTS({"close", &argument_bound, MEMBER(fd)})},
	{"dup", "duplicate the file descriptor NAME; binds as open does", CALLS, BINDS_RESULT,
	 run_dup, "dup(@dup)", .c_value = "int", .binds_member = "id",
	 ARGUMENTS({"dup", &argument_bound, MEMBER(fd)})},
	{"ioctl", "make an ioctl(2): a PERF_EVENT_IOC_ by its name, or a request by number", CALLS,
	 BINDS_SHOWN, run_ioctl, NULL, .in_c = ioctl_in_c, .shape = shape_ioctl,
	 .check = check_ioctl,
	 ARGUMENTS(
		 {"ioctl", &argument_request, MEMBER(number), .most = UINT32_MAX},
		 {"on", &argument_bound, MEMBER(fd), .is_required = true,
		  .help = "a name bound by an earlier step"},
		 {"arg", &argument_number, MEMBER(arg), .is_long = true,
		  .help = "the argument, a number"},
		 {"address", &argument_number, MEMBER(address), .is_long = true,
		  .help = "the argument, a pointer"},
		 {"text", &argument_text, MEMBER(text), .most = 4159,
		  .help = "the argument, a pointer to this text"},
		 {"u64", &argument_number, MEMBER(word),
		  .help = "the argument, a pointer to this number; shows the number afterwards"},
		 {"attr", &argument_attr, MEMBER(attr),
		  .help = "the argument, a pointer to this attr; shows its size"},
		 {"ids", &argument_number, MEMBER(ids), .most = 4096,
		  .help = "for QUERY_BPF: room for this many ids; shows ids_len, prog_cnt, ids"})},
	{"prctl", "enable or disable this task's events with prctl(2)", CALLS, BINDS_NOTHING,
	 run_prctl, "prctl(PR_@prctl, 0, 0, 0, 0)",
	 ARGUMENTS({"prctl", &argument_word, MEMBER(number), .words = prctl_options})},
	{0}};
