/* SPDX-License-Identifier: MIT */
/*
 * perfabi run: cases, and reports in several formats at once.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/rerun.h"
#include "command/session.h"
#include "machine/clock.h"
#include "model/learned.h"
#include "run/baseline.h"
#include "text/say.h"

enum { OUTPUTS_MAX = 8 };

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
static const char *const colours[] = {"auto", "always", "never", NULL};

/* Everything that one `perfabi run` holds. */
struct run {
	struct session session;
	const char *baseline_choice; /* as baseline_load() has it */
	bool is_verbose, is_strict, is_quiet, only_lists;
	enum colour colour;
	const char *rerun; /* a report, whose failures are run again */
	struct host host;
	char *again; /* how a case of this run is run by itself; owned */
	struct output outputs[OUTPUTS_MAX];
	size_t output_count;
	struct report report;
	struct baseline baseline;
	bool has_begun; /* the outputs have */
};

static const struct option long_options[] = {SESSION_OPTIONS,
					     {"format", required_argument, NULL, 'f'},
					     {"baseline", required_argument, NULL, 'b'},
					     {"strict", no_argument, NULL, 'S'},
					     {"verbose", no_argument, NULL, 'v'},
					     {"quiet", no_argument, NULL, 'q'},
					     {"color", required_argument, NULL, 'C'},
					     {"list", no_argument, NULL, 'l'},
					     {"rerun", required_argument, NULL, 'R'},
					     {"host", required_argument, NULL, 'H'},
					     {"no-host", no_argument, NULL, 'N'},
					     {NULL, 0, NULL, 0}};

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
	session_help(f);
	fputs("      --baseline FILE      what kernels are known to break, in place of the "
	      "built-in list;\n"
	      "                           none: nothing is known\n"
	      "      --strict             what is known to fail counts as failed: exit status 1\n"
	      "  -v, --verbose            pretty: every case in full\n"
	      "  -q, --quiet              pretty: what failed, and the summary alone; no progress\n"
	      "      --color WHEN         always, never, or auto (default): on a terminal\n"
	      "      --list               what would run, an id a line; nothing is run\n"
	      "      --rerun FILE         what failed in a report of --format json or jsonl, or "
	      "had "
	      "begun\n"
	      "                           when the machine died\n"
	      "      --host NAME          this machine's name in reports (default: its own)\n"
	      "      --no-host            reports have neither its name nor its boot id\n"
	      "  -h, --help\n",
	      f);
}

static int add_output(struct run *run, const char *text)
{
	const char *colon = strchr(text, ':');
	char name[16];
	struct nearest near;
	struct output *out = &run->outputs[run->output_count];

	if (run->output_count == OUTPUTS_MAX)
		return session_bad_value(&run->session, "format", text, "at most 8 formats");
	snprintf(name, sizeof(name), "%.*s", colon && colon - text < 15 ? (int)(colon - text) : 15,
		 text);
	near = nearest_to(name);
	*out = (struct output){.printer = printer_by_name(name, &near),
			       .path = colon ? colon + 1 : NULL};
	if (!out->printer || (colon && !colon[1]))
		return session_bad_value(
			&run->session, "format", text,
			"pretty, ktap, tap, junit, json or jsonl, and :FILE if you like");
	for (size_t i = 0; i < run->output_count; i++)
		if (!out->path && !run->outputs[i].path)
			return session_bad_value(&run->session, "format", text,
						 "one format alone on standard output; give "
						 "the others a file, as junit:report.xml");
	run->output_count++;
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

static bool is_file_at(const char *path, const struct stat *file)
{
	struct stat st;

	return path && !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Whether it is a file that this run reads: a case file, the baseline. */
static bool is_read(const struct run *run, FILE *f)
{
	const struct sources *sources = &run->session.loaded.sources;
	char path[PATH_MAX];
	struct stat own;

	if (fstat(fileno(f), &own) || !S_ISREG(own.st_mode))
		return false;
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->list[i];

		snprintf(path, sizeof(path), "%s%s%s", source->root, source->root[0] ? "/" : "",
			 source->name);
		if (is_file_at(path, &own))
			return true;
	}
	return !baseline_is_none(run->baseline_choice) && is_file_at(run->baseline_choice, &own);
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

/* As no-color.org has it, and only where a terminal shows it. */
static bool wants_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && no[0]) && isatty(fileno(f)) && strcmp(term ? term : "dumb", "dumb") != 0;
}

static int open_outputs(struct run *run)
{
	if (!run->output_count)
		add_output(run, "pretty");
	for (size_t i = 0; i < run->output_count; i++) {
		struct output *out = &run->outputs[i];

		out->verbose = run->is_verbose;
		out->f = out->path ? fopen(out->path, "ae") : stdout;
		if (!out->f) {
			say(stderr, "perfabi run: cannot write %s: %s\n", out->path,
			    strerror(errno));
			return -errno;
		}
		if (is_read(run, out->f)) {
			say(stderr,
			    "perfabi run: %s is a file that this run reads\n"
			    "  write the report to another one\n",
			    out->path);
			return -EINVAL;
		}
		if (is_taken(run, i)) {
			say(stderr,
			    "perfabi run: %s is where another format is written already\n"
			    "  give each format a file of its own\n",
			    out->path ? out->path : "standard output");
			return -EINVAL;
		}
		out->colour = run->colour == COLOUR_ALWAYS ||
			      (run->colour == COLOUR_AUTO && wants_colour(out->f));
		out->quiet = run->is_quiet;
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

static void started(void *context, const struct instance *instance)
{
	struct run *run = context;

	for (size_t i = 0; i < run->output_count; i++) {
		if (!run->outputs[i].printer->started)
			continue;
		run->outputs[i].printer->started(&run->outputs[i], instance);
		note_error(&run->outputs[i]);
	}
}

static void ended(void *context, const struct result *result, size_t done, size_t total)
{
	struct run *run = context;
	struct result shown = *result;

	session_progress(&run->session, done, total);
	if (result->runs < run->session.options.repeat)
		return;
	shown.reason = result->reason ? strdup(result->reason) : NULL;
	baseline_apply(&run->baseline, &run->session.loaded.env, &shown, 1);
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
	for (size_t i = 0; i < run->session.count; i++)
		run->report.tally[run->session.results[i].verdict.outcome]++;
	run->report.seconds = clock_seconds() - run->session.began;
}

static int exit_status(const struct report *report, bool is_strict, bool is_flawed)
{
	if (report->tally[ERROR] || is_flawed)
		return EXIT_HARNESS;
	if (report->tally[FAIL] || report->tally[XPASS] || (is_strict && report->tally[XFAIL]))
		return EXIT_FAILED;
	return report->count && report->tally[SKIP] == report->count ? EXIT_ALL_SKIPPED : 0;
}

/* What predictions for this machine go by elsewhere is in reports that programs read. */
static void learn_for_reports(struct run *run)
{
	struct loaded *loaded = &run->session.loaded;
	const struct source *model = sources_find(&loaded->sources, "model.json");
	bool wanted = false;

	for (size_t i = 0; i < run->output_count; i++)
		wanted = wanted || !strncmp(run->outputs[i].printer->name, "json", 4);
	if (wanted && model && !loaded->env.learned)
		loaded->env.learned = learned_for_report(model, &loaded->env);
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

	if (!run->has_begun)
		learn_for_reports(run);
	for (size_t i = 0; !run->has_begun && i < run->output_count; i++)
		begin_output(&run->outputs[i], &run->report);
	run->has_begun = true;
}

static int take_colour(struct run *run, const char *when)
{
	int i = name_index(when, colours, NULL);

	if (i < 0)
		return session_bad_value(&run->session, "color", when, "auto, always or never");
	run->colour = (enum colour)i;
	return 0;
}

static int parse_option(struct run *run, int option, const char *value)
{
	switch (option) {
	case 'f':
		return add_output(run, value);
	case 'b':
		run->baseline_choice = value;
		return 0;
	case 'S':
		run->is_strict = true;
		return 0;
	case 'v':
		run->is_verbose = true;
		return 0;
	case 'q':
		run->is_quiet = true;
		return 0;
	case 'C':
		return take_colour(run, value);
	case 'l':
		run->only_lists = true;
		return 0;
	case 'R':
		run->rerun = value;
		return 0;
	case 'H':
		return session_host(&run->session, &run->host, value);
	case 'N':
		host_hide(&run->host);
		return 0;
	default:
		return session_option(&run->session, option, value);
	}
}

/* 0 to go on, 1 after help was printed, or -EINVAL. */
static int parse_options(struct run *run, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:f:j:vqh", long_options, NULL)) != -1) {
		if (option == 'h') {
			help(stdout);
			return 1;
		}
		if (option == '?') {
			say(stderr, "  `perfabi run --help` lists the options\n");
			return -EINVAL;
		}
		if (parse_option(run, option, optarg))
			return -EINVAL;
	}
	return 0;
}

/* A word for a shell: as it is, or in quotes. */
static void put_word(FILE *f, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:@%,";

	if (word[0] && !word[strspn(word, plain)]) {
		fprintf(f, " %s", word);
		return;
	}
	fputs(" '", f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

/* The cases and the baseline that this run has, without which cases it picks. NULL without memory.
 */
static char *make_again(const struct run *run, char *const arguments[])
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("perfabi run", f);
	if (run->session.folder) {
		fputs(" --cases", f);
		put_word(f, run->session.folder);
	}
	if (run->baseline_choice) {
		fputs(" --baseline", f);
		put_word(f, run->baseline_choice);
	}
	for (size_t i = 0; arguments[i]; i++)
		if (is_path(arguments[i]))
			put_word(f, arguments[i]);
	fclose(f);
	return text;
}

/* 0, or an exit status after a message. */
static int prepare(struct run *run, char *const arguments[])
{
	struct session *s = &run->session;
	int status = session_prepare(s, arguments);

	if (status)
		return status;
	status = baseline_load(&run->baseline, run->baseline_choice, &s->loaded, s->program);
	if (status)
		return status;
	run->again = make_again(run, arguments);
	run->report = (struct report){.env = &s->loaded.env,
				      .again = run->again,
				      .host = &run->host,
				      .cases_hash = sources_hash(&s->loaded.sources),
				      .cases = &s->loaded.cases,
				      .instances = s->picked,
				      .count = s->count,
				      .rounds = s->options.repeat,
				      .baseline = &run->baseline};
	s->options.started = started;
	s->options.ended = ended;
	s->options.begun = begin_outputs;
	s->shows_progress = s->shows_progress && !run->is_quiet;
	s->options.context = run;
	return open_outputs(run) ? EXIT_USAGE : 0;
}

static int report(struct run *run)
{
	struct session *s = &run->session;

	begin_outputs(run); /* where it has waited in vain */
	baseline_apply(&run->baseline, &s->loaded.env, s->results, s->count);
	run->report.results = s->results;
	run->report.interrupted = s->end.signal;
	tally(run);
	for (size_t i = 0; i < run->output_count; i++) {
		run->outputs[i].printer->end(&run->outputs[i], &run->report);
		note_error(&run->outputs[i]);
	}
	return exit_status(&run->report, run->is_strict, session_is_flawed(s));
}

/* The ids of what would run. */
static int list_picked(struct run *run, char *const arguments[])
{
	struct session *s = &run->session;
	int status = session_prepare(s, arguments);

	for (size_t i = 0; !status && i < s->count; i++)
		printf("%s\n", s->picked[i]->id);
	return status;
}

static int run_picked(struct run *run, char *const arguments[])
{
	struct session *s = &run->session;
	int status = prepare(run, arguments), written;

	if (!status)
		status = session_run(s, s->picked, s->count);
	if (!status)
		status = report(run);
	written = close_outputs(run);
	return written ? written : status;
}

static int do_run(struct run *run, char *const arguments[])
{
	char **again = NULL;
	int status;

	if (run->rerun) {
		again = rerun_arguments(run->rerun, arguments, run->session.program);
		if (!again)
			return EXIT_USAGE;
		arguments = again;
	}
	if (again && !again[0]) {
		say(stderr, "%s: nothing failed in %s\n", run->session.program, run->rerun);
		status = 0;
	} else {
		status = run->only_lists ? list_picked(run, arguments) : run_picked(run, arguments);
	}
	rerun_free(again);
	return status;
}

int command_run(int argc, char **argv)
{
	struct run run = {0};
	int parsed, status;

	session_begin(&run.session, "perfabi run");
	host_read(&run.host);
	parsed = parse_options(&run, argc, argv);
	if (parsed) {
		filters_free(&run.session.filters);
		return parsed > 0 ? 0 : EXIT_USAGE;
	}
	status = do_run(&run, argv + optind);
	baseline_free(&run.baseline);
	free(run.again);
	session_end(&run.session);
	return status;
}
