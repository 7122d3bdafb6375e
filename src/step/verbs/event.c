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

#include "call/event_ioctl.h"
#include "step/step.h"

/* Where FD_OUTPUT sends its records, if the flag is set. */
static int output_of(const struct step *s, const struct call *call, int fd)
{
	const struct abi_family *flags = abi_family(s->cases->abi, "open_flags");
	const struct abi_value *output = flags ? abi_value(flags, "fd_output", NULL) : NULL;

	return output && call->flags & output->value ? call->group_fd : fd;
}

/* Remembers it, so that it can be read and decoded. */
static int keep_event(struct step *s, const struct call *call, int fd)
{
	struct opened event = {.fd = fd, .output = output_of(s, call, fd)};
	size_t size = s->cases->abi->attr_size;

	if (!json_object_get(s->json, "bind"))
		return 0; /* no step can name it */
	if (s->run->event_count == OPENED_MAX)
		return error_text(s->error, s->where, "more", "at most %d events with a name",
				  OPENED_MAX);
	event.image = malloc(size);
	if (!event.image)
		return step_failed(s, ENOMEM);
	memcpy(event.image, call->image, size);
	event_ioctl(s->cases->abi, fd, "id", &event.id);
	s->run->events[s->run->event_count++] = event;
	return 0;
}

static int open_one(struct step *s, const struct call *call)
{
	struct answer answer;
	int err = call_issue(call, s->run->env, &answer);

	if (err)
		return step_failed(s, -err);
	call_format(call, &answer, s->run->env, s->call, sizeof(s->call));
	s->err = answer.err;
	if (answer.err)
		return 0;
	if (!answer.fd_is_event) {
		error_text(s->error, s->where, "a file descriptor of something else",
			   "an event, or a refusal");
		return -ECANCELED;
	}
	s->result = (uint64_t)answer.fd;
	return 0;
}

/* NAME.id is the event's id, as records and reads have it. */
static void bind_id(struct step *s, int fd)
{
	const char *name = json_string_value(json_object_get(s->json, "bind"));
	const struct opened *event = step_is_checked(s) ? NULL : step_event(s, fd);

	if (name)
		scope_bind_member(s->scope, name, "id", event ? event->id : 0);
}

int verb_open(struct step *s)
{
	const struct abi_arch *arch = s->run ? s->run->env->arch : s->cases->arch;
	uint64_t times, first = 0;
	struct call call;
	int err = step_number(s, "times", 1, 4096, &times);

	if (!err)
		err = call_from_json(&call, s->cases->abi, arch, s->argument, s->scope, &s->at,
				     s->error);
	if (err)
		return err;
	if (step_is_checked(s)) {
		bind_id(s, -1);
		return 0;
	}
	for (uint64_t i = 0; i < times && !err && !s->err; i++) {
		err = open_one(s, &call);
		if (!i && !err && !s->err) {
			first = s->result;
			err = keep_event(s, &call, (int)first);
		}
	}
	s->result = first;
	call_free(&call);
	if (!err && !s->err)
		bind_id(s, (int)first);
	return err;
}

int verb_close(struct step *s)
{
	uint64_t fd;
	int err = step_bound(s, NULL, &fd);
	struct opened *event;

	if (err || step_is_checked(s))
		return err;
	event = step_event(s, (int)fd);
	step_say(s, "close(%d)", (int)fd);
	step_answer(s, close((int)fd));
	if (event && !s->err)
		event->fd = -1;
	return 0;
}

int verb_dup(struct step *s)
{
	uint64_t fd;
	int err = step_bound(s, NULL, &fd), copy;
	struct opened *event;

	if (err)
		return err;
	if (step_is_checked(s)) {
		bind_id(s, -1);
		return 0;
	}
	step_say(s, "dup(%d)", (int)fd);
	copy = dup((int)fd);
	step_answer(s, copy);
	s->result = (uint64_t)copy;
	event = step_event(s, (int)fd);
	if (copy >= 0 && event && s->run->event_count < OPENED_MAX) {
		s->run->events[s->run->event_count] = *event;
		s->run->events[s->run->event_count++].fd = copy;
		bind_id(s, copy);
	}
	return 0;
}

/* What an ioctl is given to read or write. */
struct argument {
	unsigned long value; /* as it is passed */
	uint64_t word;       /* for u64, and where ID writes */
	char text[4096 + 64];
	unsigned char *attr;     /* for MODIFY_ATTRIBUTES */
	uint32_t query[2 + 128]; /* struct perf_event_query_bpf */
	bool is_word, is_query;
};

static int read_attr_argument(struct step *s, struct argument *a)
{
	const struct abi_arch *arch = s->run ? s->run->env->arch : s->cases->arch;
	struct where at = where_key(s->where, "attr");
	struct vars vars = scope_vars(s->scope);
	const json_t *attr = json_object_get(s->json, "attr");
	const struct abi *abi = s->cases->abi;
	int err;

	/* A page, so that whatever size it says is there to be read. */
	a->attr = calloc(1, 8192);
	if (!a->attr)
		return -ENOMEM;
	attr_set(abi_field(abi, "size"), a->attr, host_order(), abi->attr_size);
	err = attr_from_json(abi, arch, attr, &vars, &at, a->attr, s->error);
	a->value = (unsigned long)(uintptr_t)a->attr;
	return err;
}

static int read_query_argument(struct step *s, struct argument *a)
{
	uint64_t ids;
	int err = step_number(s, "ids", 0, 4096, &ids);

	a->is_query = true;
	a->query[0] = (uint32_t)ids;
	a->query[1] = UINT32_MAX;
	a->value = (unsigned long)(uintptr_t)a->query;
	return err;
}

static int read_text_argument(struct step *s, struct argument *a)
{
	int err = step_text(s, "text", a->text, sizeof(a->text));

	a->value = (unsigned long)(uintptr_t)a->text;
	return err;
}

/* `arg` is passed as it is; the others are pointed to. */
static int read_argument(struct step *s, struct argument *a)
{
	uint64_t value = 0;
	int err;

	if (json_object_get(s->json, "text"))
		return read_text_argument(s, a);
	if (json_object_get(s->json, "attr"))
		return read_attr_argument(s, a);
	if (json_object_get(s->json, "ids"))
		return read_query_argument(s, a);
	if (json_object_get(s->json, "address") || json_object_get(s->json, "arg")) {
		err = step_number(s, json_object_get(s->json, "arg") ? "arg" : "address", 0,
				  UINT64_MAX, &value);
		a->value = (unsigned long)value;
		return err;
	}
	a->is_word = true;
	a->value = (unsigned long)(uintptr_t)&a->word;
	return step_number(s, "u64", 0, UINT64_MAX, &a->word);
}

/* The request by its name in cases/abi, or by number for one that is not there. */
static int read_request(struct step *s, unsigned long *request, const char **name)
{
	const struct abi_family *family = abi_family(s->cases->abi, "ioctl");
	const char *text = json_string_value(s->argument);
	struct nearest near = nearest_to(text ? text : "");
	const struct abi_value *value = text ? abi_value(family, text, &near) : NULL;
	uint64_t number = 0;

	*name = value ? value->name : NULL;
	*request = value ? event_ioctl_number(s->cases->abi, value->name) : 0;
	if (value)
		return 0;
	if (text && text[0] != '0' && text[0] != '$')
		return error_name(s->error, &s->at, text, near.best, "an ioctl of cases/abi");
	if (step_number(s, NULL, 0, UINT32_MAX, &number))
		return -EINVAL;
	*request = (unsigned long)number;
	return 0;
}

/* ENABLE and its like take a number, 0 by default; only these point to nothing without a key. */
static bool takes_word(const struct step *s, const char *name)
{
	const struct abi_value *value = abi_value(abi_family(s->cases->abi, "ioctl"), name, NULL);
	const char *arg = json_string_value(json_object_get(value->json, "arg"));

	return arg && strcmp(arg, "u32") != 0;
}

static void show_query(struct step *s, const struct argument *a)
{
	json_t *ids = json_array();

	for (uint32_t i = 0; i < a->query[1] && i < 128 && a->query[1] != UINT32_MAX; i++)
		if (a->query[2 + i])
			json_array_append_new(ids, json_integer(a->query[2 + i]));
	step_show_number(s, "ids_len", a->query[0]);
	if (a->query[1] != UINT32_MAX)
		step_show_number(s, "prog_cnt", a->query[1]);
	step_show(s, "ids", ids);
}

/* What a call changed that later steps hang on. */
static void note_effect(struct step *s, const char *name, int fd, const struct argument *a)
{
	struct opened *event = step_event(s, fd);

	if (!name || !event || strcmp(name, "set_output") != 0)
		return;
	event->output = (long)a->value < 0 ? fd : (int)a->value;
}

static void call_ioctl(struct step *s, const char *name, unsigned long request, int fd,
		       struct argument *a)
{
	char upper[32] = "";

	for (size_t i = 0; name && i + 1 < sizeof(upper) && name[i]; i++)
		upper[i] = (char)(name[i] == '_' ? '_' : name[i] - 'a' + 'A');
	if (name)
		step_say(s, "ioctl(%d, PERF_EVENT_IOC_%s, %#lx)", fd, upper, a->value);
	else
		step_say(s, "ioctl(%d, %#lx, %#lx)", fd, request, a->value);
	step_answer(s, ioctl(fd, request, a->value));
	s->result = a->word;
	if (a->is_query)
		show_query(s, a);
	else if (a->is_word && !s->err && takes_word(s, name ? name : "id"))
		s->seen = json_integer((json_int_t)a->word);
	if (a->attr)
		step_show_number(s, "size",
				 attr_get(abi_field(s->cases->abi, "size"), a->attr, host_order()));
	if (!s->err)
		note_effect(s, name, fd, a);
}

int verb_ioctl(struct step *s)
{
	struct argument a = {0};
	unsigned long request;
	const char *name;
	uint64_t fd;
	int err = read_request(s, &request, &name);

	if (!err)
		err = step_bound(s, "on", &fd);
	if (!err)
		err = read_argument(s, &a);
	if (!err && a.is_word && name && !takes_word(s, name) && !json_object_get(s->json, "u64"))
		a.value = 0;
	if (!err && !step_is_checked(s))
		call_ioctl(s, name, request, (int)fd, &a);
	free(a.attr);
	return err;
}

int verb_prctl(struct step *s)
{
	static const char *const names[] = {"task_perf_events_disable", "task_perf_events_enable",
					    NULL};
	int i, err = step_word(s, NULL, names, -1, &i);

	if (err || step_is_checked(s))
		return err;
	step_say(s, "prctl(PR_TASK_PERF_EVENTS_%s)", i ? "ENABLE" : "DISABLE");
	step_answer(
		s, prctl(i ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0));
	return 0;
}
