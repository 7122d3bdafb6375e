/* SPDX-License-Identifier: MIT */
/*
 * perfabi hunt: calls that no case names, predicted and made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/session.h"
#include "hunt/hunt.h"
#include "machine/clock.h"
#include "machine/lock.h"
#include "text/options.h"
#include "text/say.h"
#include "text/json_text.h"

/*
 * Printing results as they come, or all of them as one object.
 */

/* What all callers together have come to. */
struct hunt_sum {
	const struct hunt *hunt;
	bool is_json;
	json_t *callers; /* a list, owned */
	bool met[HUNT_CHECKS];
	bool noticed[HUNT_TERMS];
	bool any_differ;
	json_t *unnoticed; /* terms of checks that were met; owned */
	size_t terms;
	int interrupted; /* the signal that has ended it early, or 0 */
};

static void print_caller(const struct tally *t, enum identity as)
{
	static const struct {
		enum hunt_count count;
		const char *text;
	} notes[] = {
		{COUNT_UNSTEADY, "differed once and not again"},
		{COUNT_MOVED, "differed after a sysctl had been changed"},
		{COUNT_HELD, "were refused, perhaps because another program holds what they need"}};
	const uint64_t *n = t->counts;

	printf("  %-10s %llu calls: %llu refused, %llu opened, %.2f %% unknown, %llu differ; "
	       "%.0f a second\n",
	       identity_names[as], (unsigned long long)n[COUNT_CALLS],
	       (unsigned long long)n[COUNT_REFUSED], (unsigned long long)n[COUNT_OPENED],
	       n[COUNT_CALLS] ? 100.0 * (double)n[COUNT_UNKNOWN] / (double)n[COUNT_CALLS] : 0,
	       (unsigned long long)n[COUNT_DIFFER],
	       t->seconds > 0 ? (double)n[COUNT_CALLS] / t->seconds : 0);
	if (n[COUNT_SOUGHT])
		printf("             %llu of %llu boundaries\n", (unsigned long long)n[COUNT_FOUND],
		       (unsigned long long)n[COUNT_SOUGHT]);
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (n[notes[i].count])
			printf("             %llu %s\n", (unsigned long long)n[notes[i].count],
			       notes[i].text);
	for (unsigned i = 0; i < t->difference_count; i++)
		printf("%s\n", t->differences[i]);
	fflush(stdout);
}

static json_t *counts_json(const struct model *model, const uint64_t counts[HUNT_CHECKS])
{
	json_t *json = json_object();

	for (size_t i = 0; i < model->count && i < HUNT_CHECKS; i++)
		if (counts[i])
			json_object_set_new(json, model->checks[i].id,
					    json_integer((json_int_t)counts[i]));
	return json;
}

static json_t *caller_json(const struct tally *t, enum identity as, const struct model *model)
{
	json_t *json = json_pack("{s:s}", "as", identity_names[as]), *differences = json_array();

	for (size_t i = 0; i < COUNTS; i++)
		json_object_set_new(json, hunt_count_names[i],
				    json_integer((json_int_t)t->counts[i]));
	for (unsigned i = 0; i < t->difference_count; i++)
		json_array_append_new(differences, json_loads(t->differences[i], 0, NULL));
	json_object_set_new(json, "seconds", json_real(t->seconds));
	json_object_set_new(json, "checks", counts_json(model, t->by_check));
	json_object_set_new(json, "unknown_checks", counts_json(model, t->unknown_by_check));
	json_object_set_new(json, "differences", differences);
	return json;
}

static void note_unnoticed(void *context, size_t number, const struct check *check,
			   struct term *term)
{
	struct hunt_sum *sum = context;
	const struct model *model = sum->hunt->model;

	if (!sum->met[check - model->checks])
		return;
	sum->terms++;
	if (!sum->noticed[number])
		json_array_append_new(
			sum->unnoticed,
			json_sprintf("%s %s", check->id, model->facts.list[term->fact].name));
}

static void print_list(const char *what, const json_t *list)
{
	json_t *item;
	size_t i;

	if (!json_array_size(list))
		return;
	printf("  %s", what);
	json_array_foreach(list, i, item)
		printf("%s%s", i ? ", " : " ", json_string_value(item));
	printf("\n");
}

/*
 * Prints what is to be said of all. False: something differs, or a term was turned round and nobody
 * noticed, of a check that a call met.
 */
static bool end_sum(struct hunt_sum *sum)
{
	const struct model *model = sum->hunt->model;
	const struct hunt_options *options = sum->hunt->options;
	const struct environment *env = model->machine.env;
	json_t *unmet = json_array();
	size_t unnoticed;

	for (size_t i = 0; i < model->count && i < HUNT_CHECKS; i++)
		if (!sum->met[i])
			json_array_append_new(unmet, json_string(model->checks[i].id));
	if (options->mutates)
		hunt_terms(model, note_unnoticed, sum);
	unnoticed = json_array_size(sum->unnoticed);
	if (sum->is_json) {
		json_int_t terms = (json_int_t)sum->terms;

		print_json(json_pack("{s:s, s:s, s:I, s:O, s:O*, s:o*, s:O*, s:o*}", "kernel",
				     env->release, "machine", env->machine, "seed",
				     (json_int_t)options->seed, "callers", sum->callers, "unmet",
				     options->boundaries ? unmet : NULL, "terms",
				     options->mutates ? json_integer(terms) : NULL, "unnoticed",
				     options->mutates ? sum->unnoticed : NULL, "interrupted",
				     sum->interrupted ? json_integer(sum->interrupted) : NULL),
			   JSON_INDENT(2));
	} else if (options->boundaries) {
		printf("\n");
		print_list("no call here meets", unmet);
		print_list("turned round, and not noticed:", sum->unnoticed);
		if (options->mutates)
			printf("  %zu of %zu terms noticed when they are turned round\n",
			       sum->terms - unnoticed, sum->terms);
	}
	json_decref(unmet);
	return !sum->any_differ && !unnoticed;
}

static const char program[] = "perfabi hunt";

struct settings {
	const char *folder;
	struct hunt_options options;
	int format; /* 1: json */
	bool seeded, limited;
};

static int take_callers(void *to, const char *text, const struct option_row *row, const char *of)
{
	bool *callers = to;
	char name[32];

	do {
		size_t n = strcspn(text, ",");
		int as;

		snprintf(name, sizeof(name), "%.*s", (int)n, text);
		as = identity_by_name(name);
		if (as < 0)
			return option_bad_value(of, row->name, name, identity_choice);
		callers[as] = true;
		text += n + (text[n] == ',');
	} while (*text);
	return 0;
}

static const struct option_row rows[] = {
	{"calls", 'n', OPTION_U64, "N", "make N calls as each caller (default 100000)",
	 AT(struct settings, options.calls), .least = 1, .most = 1099511627776.0 /* 1<<40 */,
	 .given = offsetof(struct settings, limited)},
	{"seconds", 0, OPTION_SECONDS, "S", "make calls for S seconds as each caller",
	 AT(struct settings, options.seconds), .least = 0.1, .most = 86400},
	{"seed", 0, OPTION_U64, "N",
	 "the random seed; the same N gives the same calls (default: a new one each time)",
	 AT(struct settings, options.seed), .given = offsetof(struct settings, seeded)},
	{"as", 0, OPTION_TAKEN, "LIST",
	 "callers: root, perfmon, sys-admin, user (default: all that perfabi can become)",
	 AT(struct settings, options.as), .take = take_callers},
	{"jobs", 'j', OPTION_UNSIGNED, "N",
	 "use N processes (default: one for each cpu, at most 3)",
	 AT(struct settings, options.jobs), .least = 1, .most = HUNT_JOBS},
	{"boundaries", 0, OPTION_SET, NULL,
	 "instead of random calls, make for each check the calls that just satisfy its predicate, "
	 "and those that miss it by one term",
	 AT(struct settings, options.boundaries)},
	{"mutate", 0, OPTION_SET, NULL,
	 "like --boundaries, and negate each term of each predicate: some prediction must change",
	 AT(struct settings, options.mutates)},
	{"format", 0, OPTION_WORD, "FORMAT", "pretty or json", AT(struct settings, format),
	 .words = (const char *const[]){"pretty", "json", NULL}},
	{"cases", 'c', OPTION_TEXT, "DIR", "use the tables in DIR instead of the built-in ones",
	 AT(struct settings, folder)},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi hunt [OPTIONS]\n"
		 "\n"
		 "Makes random calls of perf_event_open(2), and compares the kernel's answers with "
		 "those of the\n"
		 "model (perfabi predict). It reduces each call whose answers differ to a minimal "
		 "one, and prints\n"
		 "it as a case. No event stays open.\n"
		 "\n",
	.rows = rows,
	.end = "\n"
	       "Exit status: 0 no difference, 1 some difference, 2 wrong usage, 3 perfabi failed,\n"
	       "4 this machine cannot be judged\n",
	.too_many = "it takes no argument \"%s\""};

static void begin(void *settings)
{
	struct hunt_options *options = &((struct settings *)settings)->options;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	options->jobs = cpus < 1 ? 1 : cpus > 3 ? 3 : (unsigned)cpus;
}

/* Hunts as one caller, if perfabi can become it, as it must where `is_named`. 0 or an exit status
 * after a message. */
static int hunt_caller(const struct hunt *hunt, enum identity as, bool is_named,
		       struct hunt_sum *sum)
{
	struct tally *tally;
	char why[128];
	int err;

	if (!identity_available(&hunt->model->machine.env->rights, as, why, sizeof(why)))
		return is_named ? fail(EXIT_USAGE, "%s: not as %s: %s\n", program,
				       identity_names[as], why)
				: 0;
	tally = or_exit(calloc(1, sizeof(*tally)));
	err = hunt_as(hunt, as, tally);
	if (err || tally->failure[0])
		say(stderr, "%s: as %s: %s\n", program, identity_names[as],
		    err ? strerror(-err) : tally->failure);
	for (size_t i = 0; i < HUNT_CHECKS && !err; i++)
		sum->met[i] |= tally->met[i];
	for (size_t i = 0; i < HUNT_TERMS && !err; i++)
		sum->noticed[i] |= tally->noticed[i];
	if (!err) {
		sum->interrupted = tally->interrupted;
		sum->any_differ = sum->any_differ || tally->counts[COUNT_DIFFER];
		if (sum->is_json)
			json_array_append_new(sum->callers,
					      caller_json(tally, as, sum->hunt->model));
		else
			print_caller(tally, as);
	}
	err = err || tally->failure[0];
	free(tally);
	return err ? EXIT_HARNESS : 0;
}

enum { HUNT_HELD = 128 };

/*
 * Opens events, that are off, of those kinds of which the first and the last one cost the kernel
 * much: code that is changed, and waits for all cpus. The descriptors, -1 for what could not be
 * had; how many there are.
 */
static size_t hunt_hold(const struct model *model, int held[HUNT_HELD])
{
	const struct machine *machine = &model->machine;
	uint64_t events;
	size_t n = 0;

	learned_get(&model->learned, "kernel.software_events", &events);
	for (unsigned i = 0; i < 64; i++)
		if (events >> i & 1)
			held[n++] = probe_hold(machine->env->abi, "software", i);
	for (size_t id = 2; id < machine->tracepoint_limit && n < HUNT_HELD; id++)
		if (machine->tracepoints[id] && (id <= 8 || id == 255 || !(id & (id - 1))))
			held[n++] = probe_hold(machine->env->abi, "tracepoint", id);
	return n;
}

static int hunt_all(const struct settings *s, struct modelled *m, const struct setup_plan *plan)
{
	const struct hunt hunt = {.model = &m->model,
				  .tables = &m->loaded.cases.tables,
				  .plan = plan,
				  .options = &s->options};
	struct hunt_sum *sum = or_exit(calloc(1, sizeof(*sum)));
	bool any = false;
	int status = 0;

	*sum = (struct hunt_sum){.hunt = &hunt,
				 .is_json = s->format,
				 .callers = json_array(),
				 .unnoticed = json_array()};
	if (!sum->is_json)
		printf("perfabi hunt on Linux %s %s, seed %llu\n\n", m->model.machine.env->release,
		       m->model.machine.env->machine, (unsigned long long)s->options.seed);
	for (enum identity as = 0; as < IDENTITIES; as++)
		any = any || s->options.as[as];
	for (enum identity as = 0; as < IDENTITIES && !status && !sum->interrupted; as++)
		if (!any || s->options.as[as])
			status = hunt_caller(&hunt, as, any, sum);
	/* What was found before something failed is found. */
	if (!end_sum(sum) && !status)
		status = EXIT_FAILED;
	if (sum->interrupted)
		status = end_by_signal(sum->interrupted);
	json_decref(sum->callers);
	json_decref(sum->unnoticed);
	free(sum);
	return status;
}

static int run(void *settings, char **operands)
{
	struct settings *s = settings;
	struct setup_plan plan = {0};
	struct machine_lock lock = {.lock = -1, .next = -1};
	struct modelled *m = or_exit(calloc(1, sizeof(*m)));
	struct error e = {0};
	char barred[BARRED_TEXT];
	int held[HUNT_HELD];
	size_t count = 0;
	int status;

	(void)operands;
	/* What an option says of others. */
	if (s->options.mutates)
		s->options.boundaries = true;
	if (s->options.boundaries)
		s->options.jobs = 1;
	if (!s->limited && s->options.seconds <= 0)
		s->options.calls = 100000;
	if (!s->seeded)
		s->options.seed = draw() >> 32;
	if (machine_lock_open(&lock))
		wait_for_others(&lock, 0, program);
	status = modelled_load(m, s->folder, NULL, program);
	if (!status) {
		const struct source *source = sources_find(&m->loaded.sources, "setup.json");
		const struct where root = where_root(source);

		if (setup_load(&plan, source_parse(source, &e), &root, &m->loaded.cases.tables, &e))
			status = fail_with(program, &e);
	}
	if (!status && is_barred_here(&m->model, program, barred))
		status = fail(EXIT_ALL_SKIPPED, "%s\n", barred);
	if (!status) {
		/* Names that only root can look up, and events that cost much while they are the
		 * first of their kind. */
		setup_look_up(&plan, m->model.machine.env);
		count = hunt_hold(&m->model, held);
		status = hunt_all(s, m, &plan);
	}
	for (size_t i = 0; i < count; i++) {
		if (held[i] >= 0)
			close(held[i]);
	}
	setup_free_plan(&plan);
	modelled_free(m);
	machine_lock_close(&lock);
	free(m);
	return status;
}

const struct command hunt_command = {
	"hunt",         "make random calls, and print those that the model predicts wrongly",
	&command_line,  sizeof(struct settings),
	.begin = begin, .run = run};
