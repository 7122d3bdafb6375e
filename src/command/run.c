/* SPDX-License-Identifier: MIT */
/*
 * perfabi run and perfabi mutate.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/clock.h"
#include "run/baseline.h"
#include "command/command.h"
#include "machine/limits.h"
#include "text/say.h"
#include "machine/sysctl.h"

enum { OUTPUTS_MAX = 8 };

/* Everything that one `perfabi run` holds. */
struct run {
	struct run_settings settings;
	struct output outputs[OUTPUTS_MAX];
	size_t output_count;
	struct loaded loaded;
	const struct instance **picked;
	size_t count;
	struct result *results;
	struct report report;
	struct run_end end;
	struct baseline baseline;
	double began, shown;           /* when progress was last shown */
	bool show_progress, has_begun; /* the outputs have */
};

void run_options_help(FILE *f)
{
	fputs("  -c, --cases DIR          the cases below DIR, not the built-in ones\n"
	      "      --filter KEY=GLOB    only these; KEY!=GLOB: not these; again: all must hold\n"
	      "                           KEY: id suite as kind vehicle title errno phase\n"
	      "  -j, --jobs N             processes at a time (default: two a cpu)\n"
	      "      --timeout SECONDS    for one case (default 5)\n"
	      "      --wait SECONDS       for another perfabi to be done with the machine\n"
	      "                           (default: as long as it takes)\n"
	      "      --repeat N           every case N times; runs that differ are failures\n"
	      "      --shuffle SEED       in an order that the number SEED decides\n",
	      f);
}

static void help(FILE *f)
{
	fputs("usage: perfabi run [OPTIONS] [PATH|ID-GLOB...]\n\n"
	      "Runs the cases that match (all without an argument) against this kernel. A PATH, a "
	      "case\n"
	      "file or a folder of them, takes the place of the built-in cases.\n\n"
	      "  -f, --format FORMAT[:FILE]  pretty (default), ktap, tap, junit, json or jsonl; "
	      "again\n"
	      "                           for several at once, of which one may go to standard "
	      "output\n",
	      f);
	run_options_help(f);
	fputs("      --baseline FILE      known deviations, with the kernels that have them\n"
	      "  -v, --verbose            pretty: every case in full\n"
	      "  -h, --help\n",
	      f);
}

static int bad_value(const char *option, const char *got, const char *expected)
{
	say(stderr, "perfabi run: --%s \"%s\"\n  expected: %s\n", option, got, expected);
	return -EINVAL;
}

static int parse_count(const char *option, const char *text, unsigned long most, unsigned *out)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (end == text || *end || errno || text[0] == '-' || !n || n > most) {
		char expected[48];

		snprintf(expected, sizeof(expected), "a number from 1 to %lu", most);
		return bad_value(option, text, expected);
	}
	*out = (unsigned)n;
	return 0;
}

static int parse_seed(const char *text, struct run_options *options)
{
	char *end;

	errno = 0;
	options->seed = strtoull(text, &end, 0);
	options->shuffle = true;
	if (end == text || *end || errno || text[0] == '-')
		return bad_value("shuffle", text, "a number");
	return 0;
}

static int parse_timeout(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0.01 && *out <= 3600))
		return bad_value("timeout", text, "seconds, from 0.01 to 3600");
	return 0;
}

static int parse_wait(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0 && *out <= 1e6))
		return bad_value("wait", text, "seconds, from 0 to a million");
	return 0;
}

static int add_output(struct run *run, const char *text)
{
	const char *colon = strchr(text, ':');
	char name[16];
	struct nearest near;
	struct output *out = &run->outputs[run->output_count];

	if (run->output_count == OUTPUTS_MAX)
		return bad_value("format", text, "at most 8 formats");
	snprintf(name, sizeof(name), "%.*s", colon && colon - text < 15 ? (int)(colon - text) : 15,
		 text);
	near = nearest_to(name);
	*out = (struct output){.printer = printer_by_name(name, &near),
			       .path = colon ? colon + 1 : NULL};
	if (!out->printer || (colon && !colon[1]))
		return bad_value("format", text,
				 "pretty, ktap, tap, junit, json or jsonl, and :FILE if you like");
	for (size_t i = 0; i < run->output_count; i++)
		if (!out->path && !run->outputs[i].path)
			return bad_value("format", text,
					 "one format alone on standard output; give "
					 "the others a file, as junit:report.xml");
	run->output_count++;
	return 0;
}

static int parse_option(struct run *run, int option, const char *value)
{
	struct run_settings *s = &run->settings;

	switch (option) {
	case 'c':
		s->folder = value;
		return 0;
	case 'f':
		return add_output(run, value);
	case 'j':
		return parse_count("jobs", value, 1024, &s->options.jobs);
	case 't':
		return parse_timeout(value, &s->options.timeout);
	case 'w':
		return parse_wait(value, &s->options.wait);
	case 'r':
		return parse_count("repeat", value, 1000000, &s->options.repeat);
	case 's':
		return parse_seed(value, &s->options);
	case 'b':
		s->baseline = value;
		return 0;
	case 'v':
		s->verbose = true;
		return 0;
	case 'F':
		return filters_add(&s->filters, value, "perfabi run");
	default:
		return -EINVAL;
	}
}

static const struct option long_options[] = {
	{"cases", required_argument, NULL, 'c'},    {"format", required_argument, NULL, 'f'},
	{"filter", required_argument, NULL, 'F'},   {"jobs", required_argument, NULL, 'j'},
	{"timeout", required_argument, NULL, 't'},  {"wait", required_argument, NULL, 'w'},
	{"repeat", required_argument, NULL, 'r'},   {"shuffle", required_argument, NULL, 's'},
	{"baseline", required_argument, NULL, 'b'}, {"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};

/* 0 to go on, 1 after help was printed, or -EINVAL. */
static int parse_options(struct run *run, int argc, char **argv, void (*print_help)(FILE *))
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int option;

	run->settings.options = (struct run_options){
		/* more than cpus: closing a probe waits for RCU without using one */
		.jobs = cpus > 0 ? (unsigned)cpus * 2 : 2,
		.timeout = 5,
		.wait = -1,
		.repeat = 1};
	while ((option = getopt_long(argc, argv, "c:f:j:vh", long_options, NULL)) != -1) {
		if (option == 'h') {
			print_help(stdout);
			return 1;
		}
		if (option == '?') {
			say(stderr, "  `perfabi %s --help` lists the options\n", argv[0]);
			return -EINVAL;
		}
		if (parse_option(run, option, optarg))
			return -EINVAL;
	}
	return 0;
}

/* Where another format goes already: into a file or pipe; a terminal or /dev/null takes both. */
static bool is_taken(const struct run *run, size_t count)
{
	struct stat own, other;

	if (fstat(fileno(run->outputs[count].f), &own) || S_ISCHR(own.st_mode))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!fstat(fileno(run->outputs[i].f), &other) && other.st_dev == own.st_dev &&
		    other.st_ino == own.st_ino)
			return true;
	return false;
}

/* What was in the files is gone only when all of them can be written. */
static void empty_outputs(const struct run *run)
{
	struct stat st;

	for (size_t i = 0; i < run->output_count; i++) {
		int fd = fileno(run->outputs[i].f);

		if (run->outputs[i].path && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    ftruncate(fd, 0))
			continue; /* then writing fails, and says why */
	}
}

static int open_outputs(struct run *run)
{
	if (!run->output_count)
		add_output(run, "pretty");
	for (size_t i = 0; i < run->output_count; i++) {
		struct output *out = &run->outputs[i];

		out->verbose = run->settings.verbose;
		out->f = out->path ? fopen(out->path, "ae") : stdout;
		if (!out->f) {
			say(stderr, "perfabi run: cannot write %s: %s\n", out->path,
			    strerror(errno));
			return -errno;
		}
		if (is_taken(run, i)) {
			say(stderr,
			    "perfabi run: %s is where another format is written already\n"
			    "  give each format a file of its own\n",
			    out->path ? out->path : "standard output");
			return -EINVAL;
		}
		out->colour = !getenv("NO_COLOR") && isatty(fileno(out->f)) &&
			      strcmp(getenv("TERM") ? getenv("TERM") : "dumb", "dumb") != 0;
	}
	empty_outputs(run);
	return 0;
}

static int close_outputs(struct run *run)
{
	int status = 0;

	for (size_t i = 0; i < run->output_count; i++) {
		struct output *out = &run->outputs[i];

		if (!out->f)
			continue;
		if (out->f == stdout ? fflush(stdout) : fclose(out->f))
			out->error = out->error ? out->error : errno;
		out->f = NULL;
		if (!out->error)
			continue;
		say(stderr, "perfabi run: writing %s: %s\n",
		    out->path ? out->path : "to standard output", strerror(out->error));
		status = EXIT_HARNESS;
	}
	return status;
}

/* Keeps the first error of a stream while errno still has it. */
static void note_error(struct output *out)
{
	if (ferror(out->f) && !out->error)
		out->error = errno ? errno : EIO;
}

/* A line on a terminal once a run has taken half a second, at most ten times a second. */
static void progress(struct run *run, size_t done, size_t total)
{
	double t;

	if (!run->show_progress)
		return;
	t = clock_seconds();
	if (t - run->began < 0.5 || t - run->shown < 0.1)
		return;
	run->shown = t;
	fprintf(stderr, "\r\033[K%zu of %zu", done, total);
}

static void ended(void *context, const struct result *result, size_t done, size_t total)
{
	struct run *run = context;
	struct result shown = *result;

	progress(run, done, total);
	if (result->runs < run->settings.options.repeat)
		return;
	shown.reason = result->reason ? strdup(result->reason) : NULL;
	if (run->baseline.json)
		baseline_apply(&run->baseline, &run->loaded.env, &shown, 1);
	for (size_t i = 0; i < run->output_count; i++) {
		if (!run->outputs[i].printer->ended)
			continue;
		run->outputs[i].printer->ended(&run->outputs[i], &run->report, &shown);
		note_error(&run->outputs[i]);
	}
	free(shown.reason);
}

static void tally(struct run *run)
{
	memset(run->report.tally, 0, sizeof(run->report.tally));
	for (size_t i = 0; i < run->count; i++)
		run->report.tally[run->results[i].verdict.outcome]++;
	run->report.seconds = clock_seconds() - run->began;
}

static bool is_flawed(const struct run_end *end)
{
	return end->gave_up || !end->is_restored;
}

static int exit_status(const struct report *report, const struct run_end *end)
{
	if (report->tally[ERROR] || is_flawed(end))
		return EXIT_HARNESS;
	if (report->tally[FAIL] || report->tally[XPASS])
		return EXIT_FAILED;
	return report->count && report->tally[SKIP] == report->count ? EXIT_ALL_SKIPPED : 0;
}

/* Without perf's sysctls, files and signals nothing can be judged; says what is to be done. */
static bool lacks_something(const struct environment *env, const char *program)
{
	static const char paranoid[] = "perf_event_paranoid";
	long value;
	int err = sysctl_read(paranoid, &value);

	if (env->nofile < LIMITS_FILES_LEAST)
		say(stderr, "%s: %llu files may be open here, and cases need %d\n  ulimit -n %d\n",
		    program, (unsigned long long)env->nofile, LIMITS_FILES_LEAST,
		    LIMITS_FILES_LEAST);
	else if (env->sigpending < LIMITS_SIGNALS_LEAST)
		say(stderr,
		    "%s: %llu signals may be pending here, and cases need %d\n  ulimit -i %d\n",
		    program, (unsigned long long)env->sigpending, LIMITS_SIGNALS_LEAST,
		    LIMITS_SIGNALS_LEAST);
	else if (env->fsize < LIMITS_FILE_BYTES_LEAST)
		say(stderr,
		    "%s: a file may have %llu bytes here, and cases need %d\n  ulimit -f %d\n",
		    program, (unsigned long long)env->fsize, LIMITS_FILE_BYTES_LEAST,
		    LIMITS_FILE_BYTES_LEAST / 512 /* a shell's unit is 512 bytes or 1024 */);
	else if (err && env->attr_size_errno != ENOSYS)
		say(stderr,
		    "%s: /proc/sys/kernel/%s cannot be read, and cases go by it: %s\n"
		    "  mount a whole /proc, without subset=pid, and nothing over its sys\n",
		    program, paranoid, strerror(-err));
	else
		return false;
	return true;
}

/* Loads, picks, reads the machine. 0, or an exit status after a message. */
static int prepare(struct run *run, char **arguments, const char *program)
{
	int status = load_cases(&run->loaded, run->settings.folder, arguments, program);

	if (status)
		return status;
	run->picked =
		pick(&run->loaded.cases, arguments, &run->settings.filters, &run->count, program);
	if (!run->picked)
		return EXIT_USAGE;
	if (!run->count) {
		say(stderr, "%s: no case fits the filters\n", program);
		return EXIT_USAGE;
	}
	if (run->settings.baseline &&
	    baseline_read(&run->baseline, run->settings.baseline, &run->loaded.cases, program))
		return EXIT_USAGE;
	run->results = calloc(run->count, sizeof(*run->results));
	if (!run->results) {
		say(stderr, "%s: %s\n", program, strerror(ENOMEM));
		return EXIT_HARNESS;
	}
	if (access("/proc/self/status", R_OK)) {
		say(stderr,
		    "%s: /proc is not mounted here, and cases look into it\n"
		    "  mount -t proc proc /proc\n",
		    program);
		return EXIT_HARNESS;
	}
	environment_read(&run->loaded.env, run->loaded.abi);
	run->loaded.has_env = true;
	if (lacks_something(&run->loaded.env, program))
		return EXIT_HARNESS;
	run->report = (struct report){.env = &run->loaded.env,
				      .cases = &run->loaded.cases,
				      .results = run->results,
				      .count = run->count};
	run->settings.options.ended = ended;
	run->settings.options.context = run;
	run->began = clock_seconds();
	run->show_progress = isatty(2);
	return 0;
}

static int execute(struct run *run, const char *program)
{
	int err = run_all(run->picked, run->count, &run->loaded.cases, &run->loaded.env,
			  &run->settings.options, run->results, &run->end);

	if (run->shown > 0)
		fputs("\r\033[K", stderr);
	if (err) {
		say(stderr, "%s: the runner could not be set up: %s\n", program, strerror(-err));
		return EXIT_HARNESS;
	}
	if (run->end.gave_up)
		say(stderr, "%s: gave up after %g s of waiting for another perfabi\n", program,
		    run->settings.options.wait);
	run->report.interrupted = run->end.signal;
	return 0;
}

static void release(struct run *run)
{
	if (run->results)
		results_free(run->results, run->count);
	free(run->results);
	free(run->picked);
	filters_free(&run->settings.filters);
	baseline_free(&run->baseline);
	load_free(&run->loaded);
}

/* Dies of the signal that ended the run, so that a shell sees what it expects. */
static void die_of(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void begin_output(struct output *out, const struct report *report)
{
	if (!out->printer->begin)
		return;
	out->printer->begin(out, report);
	fflush(out->f);
	note_error(out);
}

/* The machine is known: what is printed first is about it. */
static void begin_outputs(void *context)
{
	struct run *run = context;

	for (size_t i = 0; !run->has_begun && i < run->output_count; i++)
		begin_output(&run->outputs[i], &run->report);
	run->has_begun = true;
}

static int run_and_report(struct run *run, char **arguments)
{
	int status = prepare(run, arguments, "perfabi run"), written;

	if (status)
		return status;
	if (open_outputs(run)) {
		close_outputs(run);
		return EXIT_USAGE;
	}
	run->settings.options.begun = begin_outputs;
	status = execute(run, "perfabi run");
	if (!status) {
		begin_outputs(run); /* where it has waited in vain */
		if (run->baseline.json)
			baseline_apply(&run->baseline, &run->loaded.env, run->results, run->count);
		tally(run);
		for (size_t i = 0; i < run->output_count; i++) {
			run->outputs[i].printer->end(&run->outputs[i], &run->report);
			note_error(&run->outputs[i]);
		}
		status = exit_status(&run->report, &run->end);
	}
	written = close_outputs(run);
	return written ? written : status;
}

int command_run(int argc, char **argv)
{
	struct run run = {0};
	int parsed = parse_options(&run, argc, argv, help), status, stopped;

	if (parsed) {
		filters_free(&run.settings.filters);
		return parsed > 0 ? 0 : EXIT_USAGE;
	}
	status = run_and_report(&run, argv + optind);
	stopped = run.report.interrupted;
	release(&run);
	if (stopped)
		die_of(stopped);
	return status;
}

static void mutate_help(FILE *f)
{
	fputs("usage: perfabi mutate [OPTIONS] [PATH|ID-GLOB...]\n\n"
	      "Runs every case with its expectation made wrong: another errno, success for "
	      "failure,\n"
	      "the gate before and behind the right one, attr written where it is not, "
	      "close-on-exec\n"
	      "turned round. A case that passes all the same tells nothing, and is listed.\n\n",
	      f);
	run_options_help(f);
	fputs("  -h, --help\n", f);
}

static void remember(void *context, const struct result *result, size_t done, size_t total)
{
	(void)result;
	progress(context, done, total);
}

static void tell_survivor(const struct result *result, struct mutation mutation, const char *how)
{
	printf("%s %s (%s", how, result->instance->id, mutation_name(mutation.kind));
	if (mutation.kind == MUTATION_OF_STEPS)
		printf(", number %u", mutation.part + 1);
	printf(")\n");
	print_details(stdout, result, "  ");
}

/* One way of being wrong for all cases; returns how many survived it, or -1. */
static int mutate_once(struct run *run, struct mutation mutation, size_t *caught)
{
	int survived = 0;

	run->settings.options.mutation = mutation;
	if (execute(run, "perfabi mutate") || run->end.signal || is_flawed(&run->end))
		return -1;
	for (size_t i = 0; i < run->count; i++) {
		const struct result *result = &run->results[i];

		if (result->verdict.outcome == PASS) {
			tell_survivor(result, mutation, "SURVIVED");
			survived++;
		} else if (result->verdict.outcome == FAIL) {
			(*caught)++;
		} else if (result->verdict.outcome == ERROR) {
			tell_survivor(result, mutation, "ERROR");
			survived++;
		}
	}
	results_free(run->results, run->count);
	return survived;
}

/* Of steps each part in turn, until no case has so many. */
static int mutate_kind(struct run *run, int kind, size_t *caught)
{
	struct mutation mutation = {.kind = kind};
	int all = 0, survived;
	size_t before;

	do {
		before = *caught;
		survived = mutate_once(run, mutation, caught);
		if (survived < 0)
			return survived;
		all += survived;
		mutation.part++;
	} while (kind == MUTATION_OF_STEPS && (survived || *caught > before));
	return all;
}

/*
 * A case that does not pass as it is tells nothing when it is made wrong: it is taken off the list.
 * 0 or -1.
 */
static int keep_passing(struct run *run)
{
	size_t kept = 0, failed = 0;

	run->settings.options.mutation = (struct mutation){MUTATION_NONE, 0};
	if (execute(run, "perfabi mutate") || run->end.signal || is_flawed(&run->end))
		return -1;
	for (size_t i = 0; i < run->count; i++) {
		int outcome = run->results[i].verdict.outcome;

		failed += outcome == FAIL || outcome == ERROR;
		if (outcome == PASS)
			run->picked[kept++] = run->picked[i];
	}
	results_free(run->results, run->count);
	printf("%zu cases pass as they are, %zu do not, %zu are skipped\n", kept, failed,
	       run->count - kept - failed);
	run->count = kept;
	return 0;
}

static int mutate_all(struct run *run)
{
	size_t all_caught = 0;
	int all_survived = 0;

	run->settings.options.ended = remember;
	if (keep_passing(run))
		return EXIT_HARNESS;
	for (int kind = MUTATION_NONE + 1; kind < MUTATIONS; kind++) {
		size_t caught = 0;
		int survived = mutate_kind(run, kind, &caught);

		if (survived < 0)
			return EXIT_HARNESS;
		printf("%-20s %5zu caught, %d not\n", mutation_name(kind), caught, survived);
		all_caught += caught;
		all_survived += survived;
	}
	printf("%zu wrong expectations caught, %d not, over %zu cases\n", all_caught, all_survived,
	       run->count);
	if (all_survived)
		return EXIT_FAILED;
	return all_caught ? 0 : EXIT_ALL_SKIPPED;
}

int command_mutate(int argc, char **argv)
{
	struct run run = {0};
	int parsed = parse_options(&run, argc, argv, mutate_help), status, stopped;

	if (parsed) {
		filters_free(&run.settings.filters);
		return parsed > 0 ? 0 : EXIT_USAGE;
	}
	status = prepare(&run, argv + optind, "perfabi mutate");
	if (!status)
		status = mutate_all(&run);
	stopped = run.report.interrupted;
	release(&run);
	if (stopped)
		die_of(stopped);
	return status;
}
