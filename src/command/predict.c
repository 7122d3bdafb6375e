/* SPDX-License-Identifier: MIT */
/*
 * perfabi predict: what the kernel will say to calls, without making them.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "call/call.h"
#include "command/command.h"
#include "command/modelled.h"
#include "language/keys.h"
#include "machine/names.h"
#include "text/json.h"
#include "text/options.h"
#include "text/out.h"
#include "stage/stage.h"
#include "text/say.h"
#include "why/event_name.h"
#include "why/question.h"

static const char program[] = "perfabi predict";

enum { LINE_MOST = 1 << 20 }; /* bytes of a call, with its newline */

struct settings {
	const char *folder, *machine, *event;
	int as; /* enum identity */
	bool facts;
};

static const struct option_row rows[] = {
	{"event", 'e', OPTION_TEXT, "EVENT",
	 "of this event alone, as perf writes it: cycles:u, cpu/event=0x3c/, sched:sched_switch, "
	 "mem:0x1000:w",
	 AT(struct settings, event)},
	{"as", 0, OPTION_WORD, "CALLER",
	 "root, perfmon, sys-admin or user (default): of what names no caller",
	 AT(struct settings, as), .words = identity_names},
	{"machine", 'm', OPTION_TEXT, "FILE",
	 "of another machine: a report of perfabi run --format json, or its environment",
	 AT(struct settings, machine)},
	{"cases", 'c', OPTION_TEXT, "DIR",
	 "checks.json and model.json below DIR, not the built-in ones",
	 AT(struct settings, folder)},
	{"facts", 0, OPTION_SET, NULL, "list what the model goes by, and end",
	 AT(struct settings, facts)},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi predict [OPTIONS] [FILE]\n"
		 "       perfabi predict [OPTIONS] --event EVENT\n\n"
		 "Reads calls of perf_event_open(2), a JSON object a line, from FILE or standard "
		 "input:\n\n"
		 "  {\"as\": \"user\", \"open\": {\"attr\": {\"type\": \"software\", \"config\": "
		 "\"dummy\"}, \"pid\": 0, \"cpu\": -1}}\n\n"
		 "It prints, without making them, what the kernel will say to each, a line for a "
		 "line:\n\n"
		 "  {\"ok\":true}\n"
		 "  "
		 "{\"errno\":\"EACCES\",\"gate\":\"permission\",\"check\":\"O031\",\"because\":\".."
		 ".\","
		 "\"instead\":\"...\"}\n"
		 "  {\"unknown\":\"...\"}\n\n"
		 "A line may also be one of strace -v. as is root, perfmon, sys-admin or user; "
		 "without it, user. open is as in case files. A\n"
		 "descriptor there is -1, or no event's.\n\n",
	.rows = rows,
	.end = "\nexit status: 0 each call was read, 1 one was not, and its line says why, 2 wrong "
	       "usage,\n"
	       "4 nothing can be judged here\n",
	.most = 1,
	.too_many = "one file at a time, not \"%s\" too"};

/* One run of the command. */
struct oracle {
	struct modelled m;
	struct world world;
	struct scope scope;
	struct caller callers[IDENTITIES];
	struct situation situation;
	struct world_event group_fd; /* that a line of strace has, opened before; fd -1: none */
	struct out out;
	const char *as; /* who makes a call that does not say so */
	bool any_error;
};

/* "key":"text", where `more` there has been something before. */
static void put_text_member(struct out *out, const char *key, const char *text, bool more)
{
	size_t n = strlen(text);
	char *p = out_room(out, n * PUT_STRING_MAX + strlen(key) + PUT_STRING_FIXED);

	if (!p)
		return;
	if (more)
		*p++ = ',';
	*p++ = '"';
	p = put_text(p, key);
	*p++ = '"';
	*p++ = ':';
	out->at = put_string(p, (const unsigned char *)text, n);
}

static void put_sentence(struct oracle *o, const char *key, const struct sentence *sentence,
			 bool more)
{
	char text[1024];

	if (!sentence->count)
		return;
	sentence_write(sentence, &o->m.model.facts, &o->situation, text, sizeof(text));
	put_text_member(&o->out, key, text, more);
}

static void put_refusal(struct oracle *o, const struct prediction *p)
{
	const struct saying *saying = check_saying(&o->m.model, p->check, &o->situation);

	put_text_member(&o->out, "errno", errno_name(p->err), false);
	put_text_member(&o->out, "gate", o->m.model.phases->list[p->check->gate].name, true);
	put_text_member(&o->out, "check", p->check->id, true);
	if (!saying)
		return;
	put_sentence(o, "because", &saying->because, true);
	put_sentence(o, "instead", &saying->instead, true);
}

static void put_unforeseen(struct oracle *o, const struct prediction *p)
{
	if (p->check->unsaid.count)
		put_sentence(o, "unknown", &p->check->unsaid, false);
	else if (p->unknown && p->unknown->unknown)
		put_text_member(&o->out, "unknown", p->unknown->unknown, false);
	else
		put_text_member(&o->out, "unknown", "the machine does not say", false);
	put_text_member(&o->out, "check", p->check->id, true);
}

static void put_error(struct oracle *o, const struct error *e)
{
	char text[1024];

	o->any_error = true;
	snprintf(text, sizeof(text), "%s%sexpected %s, got %s%s%s", e->pointer,
		 e->pointer[0] ? ": " : "", e->expected, e->got, e->nearest[0] ? "; nearest: " : "",
		 e->nearest);
	out_text(&o->out, "{");
	put_text_member(&o->out, "error", text, false);
	out_text(&o->out, "}\n");
}

static int predict_call(struct oracle *o, const json_t *json, const struct where *root,
			struct error *e)
{
	static const char *const keys[] = {"as", "open", NULL};
	const struct environment *env = o->m.model.machine.env;
	const json_t *named = json_object_get(json, "as");
	struct prediction prediction;
	const char *name;
	struct call call;
	int as;

	if (keys_check(json, keys, "a call (as, open)", root, e))
		return -EINVAL;
	name = named ? json_string_value(named) : o->as;
	as = name ? identity_by_name(name) : -1;
	if (as < 0)
		error_value(e, AT_KEY(root, "as"), named, "%s", identity_choice);
	if (stage_settle_tracepoint(&o->m.model, json))
		return error_no_memory(e, root, "memory for a tracepoint");
	if (as < 0 || call_from_json(&call, env->abi, env->arch, json_object_get(json, "open"),
				     &o->scope, AT_KEY(root, "open"), e))
		return -EINVAL;
	o->world.event_count = o->group_fd.fd != -1;
	situation_begin(&o->situation, &o->m.model.machine, &call, &o->callers[as], &o->world);
	prediction = model_predict(&o->m.model, &o->situation);
	out_text(&o->out, "{");
	if (prediction.outcome == OPENS)
		out_text(&o->out, "\"ok\":true");
	else if (prediction.outcome == REFUSED)
		put_refusal(o, &prediction);
	else
		put_unforeseen(o, &prediction);
	out_text(&o->out, "}\n");
	call_free(&call);
	return 0;
}

/* A line of strace is a call of the caller whom --as names. */
static json_t *parse_strace_line(struct oracle *o, const char *line, const struct where *w,
				 struct error *e)
{
	struct strace_result result;
	json_t *open = strace_open(line, &result, w, e);

	strace_resolve_size(open, o->m.model.machine.env->abi);
	o->group_fd = (struct world_event){.fd = -1, .is_unknown = true};
	if (open && result.group_is_event)
		o->group_fd.fd = atoi(json_string_value(json_object_get(open, "group_fd")));
	return open ? json_pack("{s:s,s:o}", "as", o->as, "open", open) : NULL;
}

static void predict_line(struct oracle *o, char *line, size_t size)
{
	struct source source = {.name = "-", .root = "", .text = line, .length = size};
	struct where root = where_root(&source);
	struct error e = {0};
	json_t *json;

	o->group_fd.fd = -1;
	json = line[0] != '{' && strace_has_call(line) ? parse_strace_line(o, line, &root, &e)
						       : call_text_parse(&source, &e);
	if (!json || predict_call(o, json, &root, &e))
		put_error(o, &e);
	json_decref(json);
}

/* The next line, with a NUL for its newline, into LINE_MOST bytes. 1, 0 behind the last, or a
 * negative errno; -EFBIG: there is no room for it. */
static int next_call(FILE *f, char *line, size_t *size)
{
	int c;

	*size = 0;
	errno = 0;
	while ((c = getc_unlocked(f)) != EOF && c != '\n') {
		if (*size == LINE_MOST - 1)
			return -EFBIG;
		line[(*size)++] = (char)c;
	}
	line[*size] = '\0';
	if (ferror(f))
		return errno ? -errno : -EIO;
	return c != EOF || *size;
}

static int predict_all(struct oracle *o, FILE *f)
{
	char *line = malloc(LINE_MOST);
	unsigned long number = 0;
	size_t size;
	int got;

	if (!line)
		return fail(EXIT_HARNESS, "%s: %s\n", program, strerror(ENOMEM));
	while ((got = next_call(f, line, &size)) > 0 && !o->out.err) {
		number++;
		if (size)
			predict_line(o, line, size);
	}
	free(line);
	if (got == -EFBIG)
		say(stderr, "%s: line %lu: longer than 1 MiB, and no call\n", program, number + 1);
	else if (got < 0)
		say(stderr, "%s: reading: %s\n", program, strerror(-got));
	if (out_flush(&o->out))
		return EXIT_HARNESS;
	return got < 0 ? EXIT_USAGE : o->any_error;
}

static int write_lines(void *context, const char *text, size_t size)
{
	(void)context;
	return write_fully(1, text, size);
}

/* The event's attr as a call on the caller's own task. 0, or an exit status after a message. */
static int predict_event(struct oracle *o, const struct settings *s)
{
	const struct source *events = sources_find(&o->m.loaded.sources, "events.json");
	struct where nowhere = {0};
	struct error e = {0};
	json_t *names = events ? source_parse(events, &e) : NULL, *json = NULL;
	json_t *attr = names ? event_attr(s->event, names, o->m.model.machine.env, NULL, &e) : NULL;
	int err = attr ? 0 : -EINVAL;

	if (!err) {
		json = json_pack("{s:s,s:{s:o}}", "as", o->as, "open", "attr", attr);
		err = predict_call(o, json, &nowhere, &e);
	}
	json_decref(json);
	json_decref(names);
	if (!err)
		return out_flush(&o->out) ? EXIT_HARNESS : 0;
	error_print(stderr, program, &e);
	return EXIT_USAGE;
}

static int predict_file(struct oracle *o, const char *path)
{
	bool is_stdin = !path || !strcmp(path, "-");
	FILE *f = is_stdin ? stdin : fopen(path, "re");
	int status;

	if (!f)
		return fail(EXIT_USAGE, "%s: %s: %s\n", program, path, strerror(errno));
	status = predict_all(o, f);
	if (!is_stdin)
		fclose(f);
	return status;
}

/* What was asked for, into the buffer in front of standard output. */
static int predict(struct oracle *o, const struct settings *s, const char *path)
{
	int status;

	o->group_fd.fd = -1;
	o->world = (struct world){.sees_processes = o->m.model.machine.is_this,
				  .events = &o->group_fd};
	o->scope.env = o->m.model.machine.env;
	for (enum identity as = 0; as < IDENTITIES; as++)
		o->callers[as] = caller_as(&o->m.model.machine.env->rights, as);
	o->as = identity_names[s->as];
	if (out_init(&o->out, write_lines, NULL))
		return EXIT_HARNESS;
	status = s->event ? predict_event(o, s) : predict_file(o, path);
	if (o->out.err)
		say(stderr, "%s: writing: %s\n", program, strerror(-o->out.err));
	out_free(&o->out);
	return status;
}

static void begin(void *settings)
{
	((struct settings *)settings)->as = AS_USER;
}

static int run(void *settings, char **operands)
{
	const struct settings *s = settings;
	struct oracle *o;
	int status;

	if (s->event && (s->machine || operands[0]))
		return fail(EXIT_USAGE, "%s: --event is of this machine, and of no file\n",
			    program);
	o = calloc(1, sizeof(*o));
	if (!o)
		return EXIT_HARNESS;
	status = modelled_load(&o->m, s->folder, s->machine, program);
	if (!status && s->facts)
		facts_help(&o->m.model.facts, stdout);
	else if (!status)
		status = predict(o, s, operands[0]);
	modelled_free(&o->m);
	free(o);
	return status;
}

const struct command predict_command = {
	"predict",      "what the kernel will say to calls, without making them",
	&command_line,  sizeof(struct settings),
	.begin = begin, .run = run};
