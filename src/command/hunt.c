/* SPDX-License-Identifier: MIT */
/*
 * perfabi hunt: calls that no case names, predicted and made.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/modelled.h"
#include "command/command.h"
#include "hunt/hunt.h"
#include "machine/clock.h"
#include "machine/lock.h"
#include "text/json_text.h"
#include "text/options.h"
#include "text/say.h"

/*
 * Printing results as they come, or all of them as one object.
 */

/* What all callers together have come to. */
struct hunt_sum {
	const struct hunt *hunt;
	bool is_json;
	json_t *callers; /* a list, owned */
	bool met[HUNT_CHECKS];
	unsigned char noticed[HUNT_TERMS];
	bool any_differ;
};

static const struct environment *machine_of(const struct hunt_sum *sum)
{
	return sum->hunt->model->machine.env;
}

/* 0 or -ENOMEM. Free with hunt_sum_free(). */
static int hunt_sum_begin(struct hunt_sum *sum, const struct hunt *hunt, bool is_json)
{
	*sum = (struct hunt_sum){.hunt = hunt, .is_json = is_json, .callers = json_array()};
	if (!is_json)
		printf("perfabi hunt on Linux %s %s, seed %llu\n\n", machine_of(sum)->release,
		       machine_of(sum)->machine, (unsigned long long)hunt->options->seed);
	return sum->callers ? 0 : -ENOMEM;
}

static void hunt_sum_free(struct hunt_sum *sum)
{
	json_decref(sum->callers);
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_caller(const struct hunt_result *r)
{
	const struct tally *t = r->sum;

	printf("  %-10s %llu calls: %llu refused, %llu opened, %.2f %% unknown, %llu differ; "
	       "%.0f a second\n",
	       identity_names[r->as], (unsigned long long)t->calls, (unsigned long long)t->refused,
	       (unsigned long long)t->opened, share(t->unknown, t->calls),
	       (unsigned long long)t->differ, r->seconds > 0 ? (double)t->calls / r->seconds : 0);
	if (t->sought)
		printf("             %llu of %llu boundaries\n", (unsigned long long)t->found,
		       (unsigned long long)t->sought);
	if (t->unsteady)
		printf("             %llu differed once and not again\n",
		       (unsigned long long)t->unsteady);
	if (t->moved)
		printf("             %llu differed after a sysctl had been changed\n",
		       (unsigned long long)t->moved);
	if (t->held)
		printf("             %llu were refused, perhaps because another program holds what "
		       "they need\n",
		       (unsigned long long)t->held);
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

static json_t *caller_json(const struct hunt_result *r, const struct model *model)
{
	static const char *const keys[] = {"calls",  "refused",  "opened", "unknown",
					   "differ", "unsteady", "moved",  "held",
					   "sought", "found",    NULL};
	const struct tally *t = r->sum;
	const uint64_t values[] = {t->calls,    t->refused, t->opened, t->unknown, t->differ,
				   t->unsteady, t->moved,   t->held,   t->sought,  t->found};
	json_t *json = json_object(), *differences = json_array();

	json_object_set_new(json, "as", json_string(identity_names[r->as]));
	for (size_t i = 0; keys[i]; i++)
		json_object_set_new(json, keys[i], json_integer((json_int_t)values[i]));
	json_object_set_new(json, "seconds", json_real(r->seconds));
	json_object_set_new(json, "checks", counts_json(model, t->by_check));
	json_object_set_new(json, "unknown_checks", counts_json(model, t->unknown_by_check));
	for (unsigned i = 0; i < t->difference_count; i++)
		json_array_append_new(differences, json_loads(t->differences[i], 0, NULL));
	json_object_set_new(json, "differences", differences);
	return json;
}

/* Adds a caller's result, and prints it where people read. */
static void hunt_sum_add(struct hunt_sum *sum, const struct hunt_result *result)
{
	for (size_t i = 0; i < HUNT_CHECKS; i++)
		sum->met[i] |= result->sum->met[i];
	for (size_t i = 0; i < HUNT_TERMS; i++)
		sum->noticed[i] |= result->sum->noticed[i];
	sum->any_differ = sum->any_differ || result->sum->differ;
	if (sum->is_json)
		json_array_append_new(sum->callers, caller_json(result, sum->hunt->model));
	else
		print_caller(result);
}

/* The checks that no call met. */
static json_t *unmet_json(const struct hunt_sum *sum)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sum->hunt->model->count && i < HUNT_CHECKS; i++)
		if (!sum->met[i])
			json_array_append_new(list, json_string(sum->hunt->model->checks[i].id));
	return list;
}

/* Terms that nobody noticed, of checks that were met. */
struct unnoticed {
	const struct hunt_sum *sum;
	json_t *list;
	size_t terms;
};

static void note_unnoticed(void *context, size_t number, const struct check *check,
			   struct term *term)
{
	struct unnoticed *u = context;
	const struct model *model = u->sum->hunt->model;

	if (!u->sum->met[check - model->checks])
		return;
	u->terms++;
	if (!u->sum->noticed[number])
		json_array_append_new(u->list, json_sprintf("%s %s", check->id,
							    model->facts.list[term->fact].name));
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

static void print_sum(const struct hunt_sum *sum, json_t *unmet, const struct unnoticed *u)
{
	const struct environment *env = machine_of(sum);
	json_t *json =
		json_pack("{s:s,s:s,s:I,s:O}", "kernel", env->release, "machine", env->machine,
			  "seed", (json_int_t)sum->hunt->options->seed, "callers", sum->callers);
	char *text;

	if (sum->hunt->options->boundaries)
		json_object_set(json, "unmet", unmet);
	if (sum->hunt->options->mutates) {
		json_object_set_new(json, "terms", json_integer((json_int_t)u->terms));
		json_object_set(json, "unnoticed", u->list);
	}
	text = json ? json_text(json, JSON_INDENT(2)) : NULL;
	puts(text ? text : "");
	free(text);
	json_decref(json);
}

/*
 * Prints what is to be said of all. False: something differs, or a term was turned round and nobody
 * noticed, of a check that a call met.
 */
static bool hunt_sum_end(struct hunt_sum *sum)
{
	struct unnoticed u = {.sum = sum, .list = json_array()};
	json_t *unmet = unmet_json(sum);
	bool is_good;

	if (sum->hunt->options->mutates)
		hunt_terms(sum->hunt->model, note_unnoticed, &u);
	is_good = !sum->any_differ && !json_array_size(u.list);
	if (sum->is_json) {
		print_sum(sum, unmet, &u);
	} else if (sum->hunt->options->boundaries) {
		printf("\n");
		print_list("no call here meets", unmet);
		print_list("turned round, and not noticed:", u.list);
		if (sum->hunt->options->mutates)
			printf("  %zu of %zu terms noticed when they are turned round\n",
			       u.terms - json_array_size(u.list), u.terms);
	}
	json_decref(unmet);
	json_decref(u.list);
	return is_good;
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
	{"calls", 'n', OPTION_U64, "N", "so many calls, of each caller (default 100000)",
	 AT(struct settings, options.calls), .least = 1, .most = 1099511627776.0 /* 1<<40 */,
	 .given = offsetof(struct settings, limited)},
	{"seconds", 0, OPTION_SECONDS, "S", "for so long, each caller",
	 AT(struct settings, options.seconds), .least = 0.1, .most = 86400},
	{"seed", 0, OPTION_U64, "N",
	 "the calls that this number decides (default: another each time)",
	 AT(struct settings, options.seed), .given = offsetof(struct settings, seeded)},
	{"as", 0, OPTION_TAKEN, "LIST",
	 "callers: root, perfmon, sys-admin, user (default: all that can be)",
	 AT(struct settings, options.as), .take = take_callers},
	{"jobs", 'j', OPTION_UNSIGNED, "N", "processes at a time (default: one a cpu, at most 3)",
	 AT(struct settings, options.jobs), .least = 1, .most = HUNT_JOBS},
	{"boundaries", 0, OPTION_SET, NULL,
	 "no random calls, but for each check those that just meet its predicate, and that miss it "
	 "by one term alone",
	 AT(struct settings, options.boundaries)},
	{"mutate", 0, OPTION_SET, NULL,
	 "the same, and each term of each predicate is turned round: a call must then be predicted "
	 "otherwise",
	 AT(struct settings, options.mutates)},
	{"format", 0, OPTION_WORD, "FORMAT", "pretty or json", AT(struct settings, format),
	 .words = (const char *const[]){"pretty", "json", NULL}},
	{"cases", 'c', OPTION_TEXT, "DIR", "the tables below DIR, not the built-in ones",
	 AT(struct settings, folder)},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi hunt [OPTIONS]\n\n"
		 "Makes random calls of perf_event_open(2), and holds what the kernel says against "
		 "what\n"
		 "the model says (perfabi predict). Whatever differs is made as simple as it can "
		 "be, and\n"
		 "printed as a case. No event stays open.\n\n",
	.rows = rows,
	.end = "\nexit status: 0 nothing differs, 1 something does, 2 wrong usage, 3 perfabi "
	       "failed,\n"
	       "4 nothing can be judged here\n",
	.too_many = "it takes no argument \"%s\""};

static void begin(void *settings)
{
	struct hunt_options *options = &((struct settings *)settings)->options;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	options->jobs = cpus < 1 ? 1 : cpus > 3 ? 3 : (unsigned)cpus;
}

/* Not while another perfabi has the machine for itself. */
static void wait_for_machine(struct machine_lock *lock)
{
	char holder[96];

	if (!machine_lock_open(lock) || machine_lock_wait(lock, false, 0))
		return;
	say(stderr, "%s: waiting for %s\n", program,
	    machine_lock_holder(lock, holder, sizeof(holder)));
	machine_lock_wait(lock, false, HUGE_VAL);
}

/* Hunts as one caller, if perfabi can become it, as it must where `is_named`. 0 or an exit status
 * after a message. */
static int hunt_caller(const struct hunt *hunt, enum identity as, bool is_named,
		       struct hunt_sum *sum)
{
	struct hunt_result result;
	char why[128];
	int err;

	if (!identity_available(&hunt->model->machine.env->rights, as, why, sizeof(why)))
		return is_named ? fail(EXIT_USAGE, "%s: not as %s: %s\n", program,
				       identity_names[as], why)
				: 0;
	err = hunt_as(hunt, as, &result);
	if (err || result.sum->failure[0])
		say(stderr, "%s: as %s: %s\n", program, identity_names[as],
		    err ? strerror(-err) : result.sum->failure);
	if (!err)
		hunt_sum_add(sum, &result);
	err = err || result.sum->failure[0];
	hunt_result_free(&result);
	return err ? EXIT_HARNESS : 0;
}

static int hunt_all(const struct settings *s, struct modelled *m, const struct plan_of_stage *plan)
{
	const struct hunt hunt = {.model = &m->model,
				  .tables = &m->loaded.cases.tables,
				  .plan = plan,
				  .options = &s->options};
	struct hunt_sum *sum = calloc(1, sizeof(*sum));
	bool any = false;
	bool has_begun = sum && !hunt_sum_begin(sum, &hunt, s->format);
	int status = has_begun ? 0 : EXIT_HARNESS;

	for (enum identity as = 0; as < IDENTITIES; as++)
		any = any || s->options.as[as];
	for (enum identity as = 0; as < IDENTITIES && !status; as++)
		if (!any || s->options.as[as])
			status = hunt_caller(&hunt, as, any, sum);
	/* What was found before something failed is found. */
	if (has_begun && !hunt_sum_end(sum) && !status)
		status = EXIT_FAILED;
	if (sum)
		hunt_sum_free(sum);
	free(sum);
	return status;
}

static int run(void *settings, char **operands)
{
	struct settings *s = settings;
	struct plan_of_stage plan = {0};
	struct machine_lock lock = {.lock = -1, .next = -1};
	struct modelled *m = calloc(1, sizeof(*m));
	struct error e = {0};
	char barred[BARRED_TEXT];
	int held[HUNT_HELD];
	size_t count = 0;
	int status;

	(void)operands;
	if (!m)
		return EXIT_HARNESS;
	/* What an option says of others. */
	if (s->options.mutates)
		s->options.boundaries = true;
	if (s->options.boundaries)
		s->options.jobs = 1;
	if (!s->limited && s->options.seconds <= 0)
		s->options.calls = 100000;
	if (!s->seeded)
		s->options.seed = draw() >> 32;
	wait_for_machine(&lock);
	status = modelled_load(m, s->folder, NULL, program);
	if (!status && stage_load(&plan, sources_find(&m->loaded.sources, "stage.json"),
				  &m->loaded.cases.tables, &e))
		status = fail_with(program, &e);
	if (!status && is_barred_here(&m->model, program, barred))
		status = fail(EXIT_ALL_SKIPPED, "%s\n", barred);
	if (!status) {
		/* Names that only root can look up, and events that cost much while they are the
		 * first of their kind. */
		stage_look_up(&plan, m->model.machine.env);
		count = hunt_hold(&m->model, held);
		status = hunt_all(s, m, &plan);
	}
	for (size_t i = 0; i < count; i++) {
		if (held[i] >= 0)
			close(held[i]);
	}
	stage_free_plan(&plan);
	modelled_free(m);
	machine_lock_close(&lock);
	free(m);
	return status;
}

const struct command hunt_command = {
	"hunt",         "random calls, predicted and made: whatever differs, as a case",
	&command_line,  sizeof(struct settings),
	.begin = begin, .run = run};
