/* SPDX-License-Identifier: MIT */
/*
 * perfabi predict: what the kernel will say to calls, without making them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/call.h"
#include "command/session.h"
#include "machine/names.h"
#include "text/json.h"
#include "text/options.h"
#include "setup/setup.h"
#include "text/say.h"
#include "why/question.h"
#include "text/doc.h"
#include "text/json_text.h"

static const char program[] = "perfabi predict";

enum { LINE_MOST = 1 << 20 }; /* bytes of a call, with its newline */

struct settings {
	const char *folder, *machine, *event;
	int as; /* enum identity */
	bool facts;
};

static const struct option_row rows[] = {
	{"event", 'e', OPTION_TEXT, "EVENT",
	 "predict only this event, as perf writes it: cycles:u, cpu/event=0x3c/, "
	 "sched:sched_switch, mem:0x1000:w",
	 AT(struct settings, event)},
	{"as", 0, OPTION_WORD, "CALLER",
	 "root, perfmon, sys-admin or user (default): the caller of lines that name none",
	 AT(struct settings, as), .words = identity_names},
	{"machine", 'm', OPTION_TEXT, "FILE",
	 "predict for another machine; FILE is a report of perfabi run --format json, or its "
	 "environment",
	 AT(struct settings, machine)},
	{"cases", 'c', OPTION_TEXT, "DIR",
	 "use checks.json and model.json in DIR instead of the built-in ones",
	 AT(struct settings, folder)},
	{"facts", 0, OPTION_SET, NULL, "list the facts that the model uses, and exit",
	 AT(struct settings, facts)},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi predict [OPTIONS] [FILE]\n"
		 "       perfabi predict [OPTIONS] --event EVENT\n"
		 "\n"
		 "Reads calls of perf_event_open(2) from FILE or standard input, one JSON object "
		 "per line:\n"
		 "\n"
		 "  {\"as\": \"user\", \"open\": {\"attr\": {\"type\": \"software\", \"config\": "
		 "\"dummy\"}, \"pid\": 0, \"cpu\": -1}}\n"
		 "\n"
		 "Without making the calls, it prints the kernel's answer to each, one per line:\n"
		 "\n"
		 "  {\"ok\":true}\n"
		 "  "
		 "{\"errno\":\"EACCES\",\"gate\":\"permission\",\"check\":\"O031\",\"because\":\".."
		 ".\",\"instead\":\"...\"}\n"
		 "  {\"unknown\":\"...\"}\n"
		 "\n"
		 "A line can also be one that strace -v prints. \"as\" is root, perfmon, sys-admin "
		 "or user\n"
		 "(the default). \"open\" is as in case files; a descriptor in it is -1, or is not "
		 "an\n"
		 "event's.\n\n",
	.rows = rows,
	.end = "\n"
	       "Exit status: 0 all calls were read, 1 one was not, and its line says why, 2 wrong "
	       "usage,\n"
	       "4 this machine cannot be judged\n",
	.most = 1,
	.too_many = "one file at a time, not \"%s\" too"};

/* One run of the command. */
struct oracle {
	struct modelled m;
	struct objects objects;
	struct scope scope;
	struct caller callers[IDENTITIES];
	struct evaluation evaluation;
	struct object_event group_fd; /* that a line of strace has, opened before; fd -1: none */
	const char *as;               /* who makes a call that does not say so */
	bool any_error;
};

/* What the model says: a new reference. */
static json_t *prediction_json(struct oracle *o, const struct prediction *p)
{
	const struct model *model = &o->m.model;
	const struct facts *facts = &model->facts;
	const char *unknown = p->unknown && p->unknown->unknown ? p->unknown->unknown
								: "the machine does not say";
	const struct reason *reason;
	json_t *said;

	if (p->outcome == OPENS)
		return json_pack("{s:b}", "ok", 1);
	if (p->outcome == REFUSED) {
		said = json_pack("{s:s, s:s, s:s}", "errno", errno_name(p->err), "gate",
				 model->phases->list[p->check->gate].name, "check", p->check->id);
		reason = check_reason(model, p->check, &o->evaluation);
		if (reason) {
			sentence_tell(&reason->because, facts, &o->evaluation, said, "because");
			sentence_tell(&reason->instead, facts, &o->evaluation, said, "instead");
		}
		return said;
	}
	said = json_pack("{s:s}", "unknown", unknown);
	sentence_tell(&p->check->unsaid, facts, &o->evaluation, said, "unknown");
	json_object_set_new(said, "check", json_string(p->check->id));
	return said;
}

/* Prints what becomes of the call. 0, or -EINVAL with `e` filled. */
static int predict_call(struct oracle *o, const json_t *json, const struct where *root,
			struct error *e)
{
	struct asked {
		int as;
		const json_t *open;
	} in = {.as = o->as ? identity_by_name(o->as) : -1};
	static const struct doc_row members[] = {{"as", DOC_WORD, false, AT(struct asked, as),
						  .words = identity_names,
						  .expected = identity_choice},
						 {"open", DOC_ANY, false, AT(struct asked, open)},
						 {0}};
	static const struct doc_type type = {"a call (as, open)", .rows = members};
	const struct environment *env = o->m.model.machine.env;
	struct doc d = {.e = e};
	struct prediction prediction;
	struct call call;

	if (doc_read(&d, &type, json, &in, root))
		return -EINVAL;
	if (in.as < 0)
		return error_value(e, AT_KEY(root, "as"), NULL, "%s", identity_choice);
	setup_settle_tracepoint(&o->m.model, json);
	if (call_from_json(&call, env->abi, env->arch, in.open, &o->scope, AT_KEY(root, "open"), e))
		return -EINVAL;
	o->objects.event_count = o->group_fd.fd != -1;
	evaluation_begin(&o->evaluation, &o->m.model.machine, &call, &o->callers[in.as],
			 &o->objects);
	prediction = model_predict(&o->m.model, &o->evaluation);
	print_json(prediction_json(o, &prediction), JSON_COMPACT);
	call_free(&call);
	return 0;
}

static void predict_line(struct oracle *o, char *line, size_t size)
{
	struct source source = {.name = "-", .root = "", .text = line, .length = size};
	struct where root = where_root(&source);
	struct strace_result result;
	struct error e = {0};
	char text[1024], shown[sizeof(text) * PUT_STRING_MAX + PUT_STRING_FIXED + PUT_SLACK];
	json_t *json, *open;

	o->group_fd = (struct object_event){.fd = -1, .is_unknown = true};
	if (line[0] != '{' && strace_has_call(line)) {
		/* Of the caller whom --as names. */
		open = strace_open(line, o->m.model.abi, &result, &root, &e);
		json = open ? json_pack("{s:s,s:o}", "as", o->as, "open", open) : NULL;
		if (open && result.group_is_event)
			o->group_fd.fd = atoi(json_string_value(json_object_get(open, "group_fd")));
	} else {
		json = call_text_parse(&source, &e);
	}
	if (!json || predict_call(o, json, &root, &e)) {
		o->any_error = true;
		snprintf(text, sizeof(text), "%s%sexpected %s, got %s%s%s", e.pointer,
			 e.pointer[0] ? ": " : "", e.expected, e.got,
			 e.nearest[0] ? "; nearest: " : "", e.nearest);
		*put_string(shown, (const unsigned char *)text, strlen(text)) = '\0';
		printf("{\"error\":%s}\n", shown); /* whatever bytes the line has */
	}
	json_decref(json);
}

/* Each line, in memory of LINE_MOST bytes with a NUL for its newline. */
static int predict_all(struct oracle *o, FILE *f)
{
	char *line = or_exit(malloc(LINE_MOST));
	unsigned long number = 1;
	size_t size = 0;
	int c = 0, err = 0, status;

	errno = 0;
	while (c != EOF && size < LINE_MOST && !ferror(stdout)) {
		c = getc_unlocked(f);
		if (c != EOF && c != '\n') {
			line[size++] = (char)c;
			continue;
		}
		if (ferror(f)) {
			err = errno ? errno : EIO;
			break;
		}
		line[size] = '\0';
		if (size)
			predict_line(o, line, size);
		size = 0;
		number++;
	}
	free(line);
	status = o->any_error;
	if (size == LINE_MOST)
		status = fail(EXIT_USAGE, "%s: line %lu: longer than 1 MiB, and no call\n", program,
			      number);
	else if (err)
		status = fail(EXIT_USAGE, "%s: reading: %s\n", program, strerror(err));
	return status;
}

static int predict(struct oracle *o, const struct settings *s, const char *path)
{
	bool is_stdin = !path || !strcmp(path, "-");
	const struct source *events;
	struct where nowhere = {0};
	struct error e = {0};
	json_t *names, *attr, *json;
	FILE *f;
	int status, err;

	o->group_fd.fd = -1;
	o->objects = (struct objects){.sees_processes = o->m.model.machine.is_this,
				      .events = &o->group_fd};
	o->scope.env = o->m.model.machine.env;
	for (enum identity as = 0; as < IDENTITIES; as++)
		o->callers[as] = caller_as(&o->m.model.machine.env->rights, as);
	o->as = identity_names[s->as];
	if (s->event) { /* on the caller's own task */
		events = sources_find(&o->m.loaded.sources, "events.json");
		names = events ? source_parse(events, &e) : NULL;
		attr = names ? event_attr(s->event, names, o->m.model.machine.env, NULL, &e) : NULL;
		json = attr ? json_pack("{s:s,s:{s:o}}", "as", o->as, "open", "attr", attr) : NULL;
		err = !json || predict_call(o, json, &nowhere, &e);
		json_decref(json);
		json_decref(names);
		return err ? fail_with(program, &e) : 0;
	}
	f = is_stdin ? stdin : fopen(path, "re");
	if (!f)
		return fail(EXIT_USAGE, "%s: %s: %s\n", program, path, strerror(errno));
	status = predict_all(o, f);
	if (!is_stdin)
		fclose(f);
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
	o = or_exit(calloc(1, sizeof(*o)));
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
	"predict",      "predict the kernel's answer to calls without making them",
	&command_line,  sizeof(struct settings),
	.begin = begin, .run = run};
