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

#include "command/barred.h"
#include "hunt/report.h"
#include "machine/draw.h"
#include "machine/lock.h"
#include "text/say.h"

static const char program[] = "perfabi hunt";

static const char help[] =
	"usage: perfabi hunt [OPTIONS]\n\n"
	"Makes random calls of perf_event_open(2), and holds what the kernel says against what\n"
	"the model says (perfabi predict). Whatever differs is made as simple as it can be, and\n"
	"printed as a case. No event stays open.\n\n"
	"  -n, --calls N        so many calls, of each caller (default 100000)\n"
	"      --seconds S      for so long, each caller\n"
	"      --seed N         the calls that this number decides (default: another each time)\n"
	"      --as LIST        callers: root, perfmon, sys-admin, user (default: all that can "
	"be)\n"
	"  -j, --jobs N         processes at a time (default: one a cpu, at most 3)\n"
	"      --boundaries     no random calls, but for each check those that just meet its\n"
	"                       predicate, and that miss it by one term alone\n"
	"      --mutate         the same, and each term of each predicate is turned round: a call\n"
	"                       must then be predicted otherwise\n"
	"      --format FORMAT  pretty or json\n"
	"  -c, --cases DIR      the tables below DIR, not the built-in ones\n"
	"  -h, --help           this help\n\n"
	"exit status: 0 nothing differs, 1 something does, 2 wrong usage, 3 perfabi failed,\n"
	"4 nothing can be judged here\n";

struct settings {
	const char *folder;
	struct hunt_options options;
	bool json, seeded, limited;
};

static const struct option long_options[] = {{"calls", required_argument, NULL, 'n'},
					     {"seconds", required_argument, NULL, 't'},
					     {"seed", required_argument, NULL, 's'},
					     {"as", required_argument, NULL, 'a'},
					     {"jobs", required_argument, NULL, 'j'},
					     {"format", required_argument, NULL, 'f'},
					     {"boundaries", no_argument, NULL, 'b'},
					     {"mutate", no_argument, NULL, 'm'},
					     {"cases", required_argument, NULL, 'c'},
					     {"help", no_argument, NULL, 'h'},
					     {NULL, 0, NULL, 0}};

static int bad_value(const char *option, const char *got, const char *expected)
{
	say(stderr, "%s: --%s \"%s\"\n  expected: %s\n", program, option, got, expected);
	return EXIT_USAGE;
}

static int parse_number(const char *option, const char *text, uint64_t most, uint64_t *out)
{
	char expected[64], *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (end != text && !*end && !errno && text[0] != '-' && *out <= most)
		return 0;
	snprintf(expected, sizeof(expected), "a number, up to %llu", (unsigned long long)most);
	return bad_value(option, text, expected);
}

static int parse_seconds(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0.1 && *out <= 86400))
		return bad_value("seconds", text, "seconds, from 0.1 to 86400");
	return 0;
}

static int parse_callers(struct settings *s, const char *text)
{
	char name[32];

	do {
		size_t n = strcspn(text, ",");
		int as;

		snprintf(name, sizeof(name), "%.*s", (int)n, text);
		as = identity_by_name(name);
		if (as < 0)
			return bad_value("as", name, identity_choice);
		s->options.as[as] = true;
		text += n + (text[n] == ',');
	} while (*text);
	return 0;
}

static int parse_hunt_option(struct settings *s, int option, const char *value)
{
	uint64_t number;
	int status = 0;

	switch (option) {
	case 'n':
		s->limited = true;
		status = parse_number("calls", value, UINT64_C(1) << 40, &s->options.calls);
		return status || s->options.calls ? status
						  : bad_value("calls", value, "at least 1");
	case 't':
		return parse_seconds(value, &s->options.seconds);
	case 's':
		s->seeded = true;
		return parse_number("seed", value, UINT64_MAX, &s->options.seed);
	case 'a':
		return parse_callers(s, value);
	case 'j':
		status = parse_number("jobs", value, HUNT_JOBS, &number);
		s->options.jobs = (unsigned)number;
		return status || number ? status : bad_value("jobs", value, "at least 1");
	case 'f':
		s->json = !strcmp(value, "json");
		return s->json || !strcmp(value, "pretty")
			       ? 0
			       : bad_value("format", value, "pretty or json");
	case 'm':
		s->options.mutates = true;
		/* fall through */
	case 'b':
		s->options.boundaries = true;
		s->options.jobs = 1;
		return 0;
	case 'c':
		s->folder = value;
		return 0;
	case 'h':
		return fputs(help, stdout) < 0 ? EXIT_HARNESS : -1;
	default:
		return EXIT_USAGE;
	}
}

static int parse_options(struct settings *s, int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int option, status = 0;

	s->options.jobs = cpus < 1 ? 1 : cpus > 3 ? 3 : (unsigned)cpus;
	while (!status && (option = getopt_long(argc, argv, "n:j:c:h", long_options, NULL)) != -1)
		status = parse_hunt_option(s, option, optarg);
	if (!status && optind < argc) {
		say(stderr, "%s: it takes no argument \"%s\"\n", program, argv[optind]);
		return EXIT_USAGE;
	}
	if (!s->limited && s->options.seconds <= 0)
		s->options.calls = 100000;
	if (!s->seeded)
		s->options.seed = draw() >> 32;
	return status;
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

	if (!identity_available(&hunt->model->machine.env->rights, as, why, sizeof(why))) {
		if (is_named)
			say(stderr, "%s: not as %s: %s\n", program, identity_names[as], why);
		return is_named ? EXIT_USAGE : 0;
	}
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
	bool has_begun = sum && !hunt_sum_begin(sum, &hunt, s->json);
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

int command_hunt(int argc, char **argv)
{
	struct settings s = {0};
	struct plan_of_stage plan = {0};
	struct machine_lock lock = {.lock = -1, .next = -1};
	struct modelled *m;
	struct error e = {0};
	char barred[BARRED_TEXT];
	int held[HUNT_HELD];
	size_t count = 0;
	int status = parse_options(&s, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	m = calloc(1, sizeof(*m));
	if (!m)
		return EXIT_HARNESS;
	wait_for_machine(&lock);
	status = modelled_load(m, s.folder, NULL, program);
	if (!status && stage_load(&plan, sources_find(&m->loaded.sources, "stage.json"),
				  &m->loaded.cases.tables, &e)) {
		error_print(stderr, program, &e);
		status = EXIT_USAGE;
	}
	if (!status && is_barred_here(&m->model, program, barred)) {
		say(stderr, "%s\n", barred);
		status = EXIT_ALL_SKIPPED;
	}
	if (!status) {
		/* Names that only root can look up, and events that cost much while they are the
		 * first of their kind. */
		stage_look_up(&plan, m->model.machine.env);
		count = hunt_hold(&m->model, held);
		status = hunt_all(&s, m, &plan);
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
