/* SPDX-License-Identifier: MIT */
/*
 * perfabi why: why a call is refused, and what opens it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/session.h"
#include "language/merge.h"
#include "text/json_text.h"
#include "text/options.h"
#include "text/say.h"
#include "why/why.h"

/*
 * Where the machine has no PMU of a processor, and one is asked for: a raw event is put in its
 * place, which is the kernel's own name for that PMU. `events` is cases/events.json. 0; -ENOENT:
 * what is absent is something else; or -EINVAL.
 */
static int absent_stand_in(struct question *q, const struct machine *machine, const json_t *events)
{
	const struct absence was = q->absence;
	struct error e = {0};
	char event[48];

	if (was.what != ABSENT_PMU || !kinds_is_processor(machine->kinds, was.name) ||
	    !machine->env->pmu_count || machine_processors_pmu(machine))
		return -ENOENT;
	snprintf(event, sizeof(event), "r0%s%s", was.modifiers[0] ? ":" : "", was.modifiers);
	q->notes = arena_keep(
		&q->arena,
		json_pack("[o]", json_sprintf("There is no PMU %s here. Type raw, config 0 is "
					      "asked about in its place.",
					      was.name)));
	return question_of_event(q, event, events, machine->env, &e);
}

static const char program[] = "perfabi why";

struct settings {
	const char *folder, *machine;
	int as; /* enum identity, or -1 */
	int pid, cpu, pages;
	bool has_pid, has_cpu, has_pages, json;
};

static const struct option_row rows[] = {
	{"as", 0, OPTION_WORD, "CALLER",
	 "root, perfmon, sys-admin or user (default: yourself; with --machine, user)",
	 AT(struct settings, as), .words = identity_names},
	{"pid", 'p', OPTION_INT, "PID", "count the process PID, or with -1 all processes on a cpu",
	 AT(struct settings, pid), .least = -1, .most = INT32_MAX,
	 .given = offsetof(struct settings, has_pid)},
	{"cpu", 'C', OPTION_INT, "CPU", "count only on that cpu", AT(struct settings, cpu),
	 .least = -1, .most = INT32_MAX, .given = offsetof(struct settings, has_cpu)},
	{"pages", 0, OPTION_INT, "N", "also map the event, with 1 + N pages",
	 AT(struct settings, pages), .most = INT32_MAX,
	 .given = offsetof(struct settings, has_pages)},
	{"machine", 'm', OPTION_TEXT, "FILE",
	 "answer from the model for another machine; FILE is a report of perfabi run --format "
	 "json, or its environment",
	 AT(struct settings, machine)},
	{"json", 0, OPTION_SET, NULL, "print the answer as one JSON object",
	 AT(struct settings, json)},
	{"cases", 'c', OPTION_TEXT, "DIR", "use the tables in DIR instead of the built-in ones",
	 AT(struct settings, folder)},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi why [OPTIONS] EVENT\n"
		 "       perfabi why [OPTIONS] [-]\n"
		 "\n"
		 "Makes a call of perf_event_open(2), and explains why the kernel refuses it and "
		 "what would make\n"
		 "it succeed, or what the event does not do although it opens. It tries each "
		 "change that it\n"
		 "suggests, as far as your rights allow; otherwise the model answers.\n"
		 "\n"
		 "EVENT is an event as perf writes it, such as cycles:u, cpu/event=0x3c/, "
		 "sched:sched_switch\n"
		 "or mem:0x1000:w. EVENT, or standard input, can also be one of these:\n"
		 "\n"
		 "  {\"attr\": {\"type\": \"software\", \"config\": \"dummy\"}, \"pid\": 0, "
		 "\"cpu\": -1}\n"
		 "  lines of strace -v\n"
		 "  what perf record -vv prints\n"
		 "\n",
	.rows = rows,
	.end = "\n"
	       "Exit status: 0 it opens, 1 it is refused or does not exist, 2 wrong usage, 3 "
	       "perfabi failed,\n"
	       "4 the model does not know, or this machine cannot be judged\n",
	.most = 1,
	.too_many = "one event at a time, not \"%s\" too"};

enum { EXIT_UNKNOWN = 4, TEXT_MOST = 1 << 20, SILENT_SECONDS = 2 };

static void begin(void *settings)
{
	((struct settings *)settings)->as = -1;
}

/* Who runs perfabi, as one of the callers; a root that has no rights to perf is an ordinary user.
 */
static enum identity own_identity(const struct rights *rights)
{
	const uint64_t asked_about = UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_PERFMON;
	enum identity as = AS_USER;
	char why[128];

	if (!rights->uid)
		as = AS_ROOT;
	else if (rights->capabilities >> CAP_SYS_ADMIN & 1)
		as = AS_SYS_ADMIN;
	else if (rights->capabilities >> CAP_PERFMON & 1)
		as = AS_PERFMON;
	if (identity_available(rights, as, why, sizeof(why))) {
		if (as != AS_ROOT && rights->capabilities & ~asked_about)
			say(stderr,
			    "%s: without your other capabilities, which it cannot ask with\n",
			    program);
		return as;
	}
	say(stderr, "%s: not as %s, but as an ordinary user: %s\n", program, identity_names[as],
	    why);
	return AS_USER;
}

/* What the options say of the call takes the place of what it says itself. The mapping comes before
 * what else is done with the event. */
static void put_arguments(struct question *q, const struct settings *s)
{
	q->open = arena_keep(&q->arena, json_copy(q->open));
	if (s->has_pid)
		json_object_set_new(q->open, "pid", json_integer(s->pid));
	if (s->has_cpu)
		json_object_set_new(q->open, "cpu", json_integer(s->cpu));
	else if (s->has_pid && s->pid == -1)
		json_object_set_new(q->open, "cpu", json_integer(0));
	if (s->has_pages) {
		json_t *then = json_pack("[{s:{s:i}}]", "mmap", "pages", s->pages);

		for (size_t i = 0; i < elements(q->then); i++)
			json_array_append(then, (json_t *)element(q->then, i));
		q->then = arena_keep(&q->arena, then);
	}
}

static int answer(const struct settings *s, struct modelled *m, const struct knowledge *k,
		  struct question *q, struct restorer *restorer)
{
	int as = s->as >= 0 ? s->as : q->as;
	const struct rights *rights = &m->model.machine.env->rights;
	struct why why = {.model = &m->model,
			  .tables = &m->loaded.cases.tables,
			  .knowledge = k,
			  .question = q,
			  .is_tried = !s->machine,
			  .restorer = restorer};
	struct error e = {0};
	const struct explanation *x;
	char text[128];
	int status;

	why.as = as >= 0 ? (enum identity)as : s->machine ? AS_USER : own_identity(rights);
	if (why.is_tried && why.as == AS_ROOT && !rights->uid)
		why.as = own_identity(rights); /* a container's root, as which it was asked */
	if (why.is_tried && !identity_available(rights, why.as, text, sizeof(text)))
		return fail(EXIT_USAGE, "%s: not as %s: %s\n", program, identity_names[why.as],
			    text);
	put_arguments(q, s);
	x = why_explain(&why, &e);
	if (!x) {
		status = fail_with(program, &e);
	} else {
		if (s->json)
			print_json(explanation_json(x), 0);
		else
			explanation_write(x, stdout);
		status = x->cause.opened == SAID_NO    ? EXIT_FAILED
			 : x->cause.opened == SAID_YES ? 0
						       : EXIT_UNKNOWN;
		for (size_t i = 0; i < x->then_count; i++)
			status = x->then[i].cause.err ? EXIT_FAILED : status;
		if (flush_stdout())
			status = EXIT_HARNESS;
	}
	why_free(&why);
	return status;
}

/* The first row that holds of what is absent on that machine, for that caller; or NULL. */
static const struct absent_sentences *say_absent(const struct knowledge *k,
						 const struct model *model,
						 const struct absence *absence, enum identity as)
{
	const struct objects nothing = {0};
	unsigned char zeros[ATTR_BYTES_MAX] = {0};
	const struct call no_call = {.image = zeros, .group_fd = -1};
	const struct caller caller = caller_as(&model->machine.env->rights, as);
	struct evaluation *s = or_exit(malloc(sizeof(*s)));
	const struct absent_sentences *found = NULL;

	evaluation_begin(s, &model->machine, &no_call, &caller, &nothing);
	for (size_t i = 0; i < k->absent_count && !found; i++) {
		const struct absent_sentences *row = &k->absent[i];

		if (absence->what == (enum absent)row->of + ABSENT_PMU &&
		    (!row->named || globs_match(row->named, absence->name)) &&
		    (!row->when || predicate_holds(row->when, &model->facts, s, NULL) == HOLDS))
			found = row;
	}
	free(s);
	return found;
}

/* There is no call to make: that is an answer, too. */
static int answer_absence(const struct settings *s, const struct knowledge *k,
			  const struct question *q, const struct model *model)
{
	const struct environment *env = model->machine.env;
	enum absent what = q->absence.what;
	enum identity as = s->as >= 0   ? (enum identity)s->as
			   : s->machine ? AS_USER
					: own_identity(&env->rights);
	struct absent_answer absent = {.what = absent_names[what - ABSENT_PMU],
				       .name = q->absence.name,
				       .says = say_absent(k, model, &q->absence, as)};

	if (!absent.says)
		return fail(EXIT_HARNESS, "%s: why.json says nothing of an absent %s\n", program,
			    absent.what);
	if (what == ABSENT_PMU)
		absent.there = or_exit(calloc(env->pmu_count + 1, sizeof(*absent.there)));
	for (size_t i = 0; absent.there && i < env->pmu_count; i++)
		absent.there[i] = env->pmus[i].name;
	if (s->json)
		print_json(absent_json(&absent), 0);
	else
		absent_write(&absent, stdout);
	free(absent.there);
	return flush_stdout() ? EXIT_HARNESS : EXIT_FAILED;
}

static int ask_question(const struct settings *s, struct modelled *m, const char *text, size_t size,
			struct restorer *restorer)
{
	struct source source = {.name = "question", .root = "", .text = text, .length = size};
	const struct source *from = sources_find(&m->loaded.sources, "why.json");
	const struct source *events = sources_find(&m->loaded.sources, "events.json");
	struct knowledge *k = or_exit(calloc(1, sizeof(*k)));
	struct environment *env = m->model.machine.env;
	struct question q = {.as = -1};
	struct error e = {0};
	json_t *names = source_parse(events, &e);
	int status = 0;

	if (!names || knowledge_load(k, from, &m->model, &e))
		status = fail_with(program, &e);
	else if (!question_read(&q, &source, names, env, &e) ||
		 !absent_stand_in(&q, &m->model.machine, names))
		status = answer(s, m, k, &q, restorer);
	else
		status = q.absence.what ? answer_absence(s, k, &q, &m->model)
					: fail_with(program, &e);
	question_free(&q);
	json_decref(names);
	knowledge_free(k);
	free(k);
	return status;
}

static int run(void *settings, char **operands)
{
	const struct settings *s = settings;
	const char *asked = operands[0];
	struct restorer *restorer;
	struct modelled *m;
	char *text;
	size_t size;
	int status;

	if (!asked && isatty(0))
		return fail(EXIT_USAGE,
			    "%s: which event or call? `perfabi help why` has the forms of both\n",
			    program);
	if (asked && strcmp(asked, "-")) {
		text = or_exit(strdup(asked));
		size = strlen(asked);
	} else {
		text = text_read("-", &size, TEXT_MOST);
	}
	if (!text && errno == EFBIG)
		return fail(EXIT_USAGE, "%s: standard input has more than %d bytes\n", program,
			    TEXT_MOST);
	m = text ? calloc(1, sizeof(*m)) : NULL;
	if (!m) {
		free(text);
		return fail(EXIT_HARNESS, "%s: %s\n", program, strerror(errno));
	}
	/* NULL where there is no lock to hold. */
	restorer = s->machine || geteuid() ? NULL : machine_begin(1);
	if (restorer)
		wait_for_others(machine_lock_of(restorer), SILENT_SECONDS, program);
	status = modelled_load(m, s->folder, s->machine, program);
	if (!status)
		status = ask_question(s, m, text, size, restorer);
	if (restorer && !machine_end(restorer))
		status = EXIT_HARNESS;
	modelled_free(m);
	free(m);
	free(text);
	return status;
}

const struct command why_command = {
	"why",          "explain why a call is refused, and what would make it succeed",
	&command_line,  sizeof(struct settings),
	.begin = begin, .run = run};
