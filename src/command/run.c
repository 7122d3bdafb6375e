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

#include "case/cases.h"
#include "case/load.h"
#include "command/session.h"
#include "machine/clock.h"
#include "model/learned.h"
#include "report/file.h"
#include "run/alarms.h"
#include "run/baseline.h"
#include "text/json_text.h"
#include "text/outfile.h"
#include "text/say.h"

/*
 * A report never writes over what the run reads, nor over another report.
 */

enum { OUTPUTS_MAX = 8 };

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct outputs {
	struct output list[OUTPUTS_MAX];
	size_t count;
	int colour; /* enum colour */
	bool is_verbose, is_quiet;
};

/* Adds one of --format's FORMAT[:FILE] to struct outputs. 0, or -EINVAL after a message. */
static int outputs_add(void *to, const char *text, const struct option_row *row,
		       const char *program)
{
	struct outputs *outputs = to;
	const char *colon = strchr(text, ':');
	char name[16];
	struct nearest near;
	struct output *out = &outputs->list[outputs->count];

	if (outputs->count == OUTPUTS_MAX)
		return option_bad_value(program, row->name, text, "at most 8 formats");
	snprintf(name, sizeof(name), "%.*s", colon && colon - text < 15 ? (int)(colon - text) : 15,
		 text);
	near = nearest_to(name);
	*out = (struct output){.printer = printer_by_name(name, &near),
			       .path = colon && strcmp(colon, ":-") != 0 ? colon + 1 : NULL};
	if (!out->printer || (colon && !colon[1]))
		return option_bad_value(program, row->name, text,
					PRINTER_NAMES ", and :FILE if you like");
	for (size_t i = 0; i < outputs->count; i++)
		if (!out->path && !outputs->list[i].path)
			return option_bad_value(program, row->name, text,
						"one format alone on standard output; give "
						"the others a file, as junit:report.xml");
	outputs->count++;
	return 0;
}

/* Where another format goes already: into a file or pipe; a terminal or /dev/null takes both. */
static bool is_taken(const struct outputs *outputs, size_t count)
{
	struct stat own, other;

	if (fstat(fileno(outputs->list[count].f), &own) || S_ISCHR(own.st_mode))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!fstat(fileno(outputs->list[i].f), &other) && other.st_dev == own.st_dev &&
		    other.st_ino == own.st_ino)
			return true;
	return false;
}

/* Whether it is a file that this run reads: a case file, the baseline. */
static bool is_read(const struct session *session, const char *baseline, FILE *f)
{
	const struct sources *sources = &session->loaded.sources;
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
	return !baseline_is_none(baseline) && is_file_at(baseline, &own);
}

/* As no-color.org has it, and only where a terminal shows it. */
static bool wants_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && no[0]) && isatty(fileno(f)) && strcmp(term ? term : "dumb", "dumb") != 0;
}

/*
 * Opens all of them, pretty where there is none. What was in the files is gone when all can be
 * written, and none is one that the run reads. 0, or EXIT_USAGE after a message.
 */
static int outputs_open(struct outputs *outputs, const struct session *session,
			const char *baseline)
{
	struct stat st;

	if (!outputs->count)
		outputs_add(outputs, printer_pretty.name, NULL, session->program);
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *out = &outputs->list[i];

		out->verbose = outputs->is_verbose;
		out->quiet = outputs->is_quiet;
		out->f = out->path ? fopen(out->path, "ae") : stdout;
		if (!out->f)
			return fail(EXIT_USAGE, "perfabi run: cannot write %s: %s\n", out->path,
				    strerror(errno));
		if (is_read(session, baseline, out->f))
			return fail(EXIT_USAGE,
				    "perfabi run: %s is a file that this run reads\n"
				    "  write the report to another one\n",
				    out->path);
		if (is_taken(outputs, i))
			return fail(EXIT_USAGE,
				    "perfabi run: %s is where another format is written already\n"
				    "  give each format a file of its own\n",
				    out->path ? out->path : "standard output");
		out->colour = outputs->colour == COLOUR_ALWAYS ||
			      (outputs->colour == COLOUR_AUTO && wants_colour(out->f));
	}
	for (size_t i = 0; i < outputs->count; i++) {
		int fd = fileno(outputs->list[i].f);

		if (outputs->list[i].path && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    ftruncate(fd, 0))
			continue; /* then writing fails, and says why */
	}
	return 0;
}

/* 0, or EXIT_HARNESS after a message if something could not be written. */
static int outputs_close(struct outputs *outputs)
{
	int status = 0;

	for (size_t i = 0; i < outputs->count; i++) {
		struct output *out = &outputs->list[i];

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

/* When an output is told something: first, when an instance starts, when it ended, when the kernel
 * has raised an alarm, and last. */
enum moment { BEGINS, STARTED, ENDED, RAISED, ENDS };

static void outputs_tell(struct outputs *outputs, enum moment moment, const struct report *report,
			 const struct instance *instance, const struct result *result)
{
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *out = &outputs->list[i];
		const struct printer *printer = out->printer;

		errno = 0;
		if (moment == BEGINS && printer->begin) {
			printer->begin(out, report);
			fflush(out->f);
		} else if (moment == STARTED && printer->started) {
			printer->started(out, instance);
		} else if (moment == ENDED && printer->ended) {
			printer->ended(out, report, result);
		} else if (moment == RAISED && printer->raised) {
			printer->raised(out, report);
		} else if (moment == ENDS) {
			printer->end(out, report);
		}
		/* The first error of a stream, while errno still has it. */
		if (ferror(out->f) && !out->error)
			out->error = errno ? errno : EIO;
	}
}

/* Leaves of the cases that are picked those of these ids, and says which of the ids no case has. */
static int rerun_narrow(struct session *session, const json_t *ids, const char *path)
{
	const char *id, *first = NULL;
	size_t kept = 0, gone = 0;
	json_t *unused;

	/* A case that was renamed since, or is of other files. */
	json_object_foreach((json_t *)ids, id, unused) {
		if (cases_find(&session->loaded.cases, id))
			continue;
		first = first ? first : id;
		gone++;
	}
	if (gone == 1)
		say(stderr, "%s: %s has %s, which no case here is called; it is left out\n",
		    session->program, path, first);
	else if (gone)
		say(stderr,
		    "%s: %s has %zu ids that no case here is called, as %s; they are left out\n",
		    session->program, path, gone, first);
	for (size_t i = 0; i < session->count; i++)
		if (json_object_get(ids, session->picked[i]->id))
			session->picked[kept++] = session->picked[i];
	session->count = kept;
	return kept ? 0
		    : fail(EXIT_USAGE, "%s: none of what failed in %s is among the cases picked\n",
			   session->program, path);
}

static void add_option(json_t *words, const char *name, const char *value)
{
	if (!value)
		return;
	json_array_append_new(words, json_string(name));
	json_array_append_new(words, json_stringn_nocheck(value, strlen(value)));
}

/* `perfabi run` with the same case files and baseline, as a list of words, which the id of a case
 * is to follow. A word has the bytes that were given, UTF-8 or not. A new reference. */
static json_t *again_words(const struct session *s, const char *baseline, char *const arguments[])
{
	char timeout[32];
	json_t *words = json_pack("[s, s]", "perfabi", "run");

	add_option(words, "--cases", s->folder);
	add_option(words, "--baseline", baseline);
	snprintf(timeout, sizeof(timeout), "%.9g", s->options.timeout);
	add_option(words, "--timeout", s->options.timeout != TIMEOUT ? timeout : NULL);
	for (size_t i = 0; arguments[i]; i++)
		if (is_path(arguments[i]))
			json_array_append_new(
				words, json_stringn_nocheck(arguments[i], strlen(arguments[i])));
	return words;
}

/* These for a shell, each as it is, or in quotes. Free it. */
static char *again_command(const json_t *words)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:@%,";
	char *text = NULL;
	const json_t *one;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	json_array_foreach(words, i, one) {
		const char *word = json_string_value(one);
		bool is_plain = word[0] && !word[strspn(word, plain)];

		fprintf(f, "%s%s", i ? " " : "", is_plain ? word : "'");
		for (; !is_plain && *word; word++)
			if (*word == '\'')
				fputs("'\\''", f);
			else
				fputc(*word, f);
		fputs(is_plain ? "" : "'", f);
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static const char *const colours[] = {"auto", "always", "never", NULL};

/* Everything that one `perfabi run` holds. */
struct run {
	struct session session;
	const char *baseline_choice; /* as baseline_load() has it */
	bool is_strict, only_lists, fails_fast;
	const char *update;     /* the file for the baseline as this run would have it, ... */
	struct outfile updated; /* ... open from the beginning */
	const char *rerun;      /* a report, whose failures are run again */
	json_t *failed;         /* their ids, as keys of an object; NULL without --rerun */
	json_t *rerun_baseline; /* of the report, a text; owned, or NULL */
	struct host host;
	json_t *again_words; /* how a case of this run is run by itself; owned */
	char *again;         /* the same for a shell; owned */
	struct outputs outputs;
	struct alarms alarms; /* of the kernel, from the beginning on */
	struct report report;
	struct baseline baseline;
	bool has_begun;           /* the outputs have */
	char barred[BARRED_TEXT]; /* why nothing can be judged; or "" */
};

static const struct option_row rows[] = {
	{"format", 'f', OPTION_TAKEN, "FORMAT[:FILE]",
	 PRINTER_CHOICE "; can be repeated, and one report can go to standard output",
	 AT(struct run, outputs), .take = outputs_add},
	{"cases", .kind = OPTION_ROWS, .rows = session_options, AT(struct run, session)},
	{"baseline", 0, OPTION_TEXT, "FILE",
	 "read known failures from FILE instead of the built-in list; with none, no failure is "
	 "known",
	 AT(struct run, baseline_choice)},
	{"update-baseline", 0, OPTION_TEXT, "FILE",
	 "write the baseline to FILE, updated with this kernel's results", AT(struct run, update)},
	{"strict", 0, OPTION_SET, NULL, "exit with status 1 for known failures, too",
	 AT(struct run, is_strict)},
	{"verbose", 'v', OPTION_SET, NULL, "print every case in full (pretty)",
	 AT(struct run, outputs.is_verbose)},
	{"quiet", 'q', OPTION_SET, NULL, "print only failures and the summary (pretty)",
	 AT(struct run, outputs.is_quiet)},
	{"color", 0, OPTION_WORD, "WHEN", "always, never, or auto (default): only on a terminal",
	 AT(struct run, outputs.colour), .words = colours},
	{"fail-fast", 0, OPTION_SET, NULL, "stop at the first failure that is not known",
	 AT(struct run, fails_fast)},
	{"list", 0, OPTION_SET, NULL, "print the ids of the cases that would run, and run nothing",
	 AT(struct run, only_lists)},
	{"try-skipped", 0, OPTION_SET, NULL,
	 "run the cases that lack one requirement, too, and list those that pass without it",
	 AT(struct run, session.options.tries_skipped)},
	{"expendable", 0, OPTION_SET, NULL,
	 "run the cases, too, that leave the machine changed: it can be thrown away",
	 AT(struct run, session.options.is_expendable)},
	{"rerun", 0, OPTION_TEXT, "FILE",
	 "run what failed in FILE, a json or jsonl report, or was running when the machine died",
	 AT(struct run, rerun)},
	{"host", 0, OPTION_TAKEN, "NAME",
	 "name this machine NAME in reports (default: its host name)", AT(struct run, host),
	 .take = take_host},
	{"no-host", 0, OPTION_TAKEN, NULL, "omit the machine's name and boot id from reports",
	 AT(struct run, host), .take = take_no_host},
	{0}};

static const struct command_line command_line = {
	.program = "perfabi run",
	.usage = "usage: perfabi run [OPTIONS] [PATH|ID-GLOB...]\n"
		 "\n"
		 "Runs the cases that match against this kernel; without an argument, all of them. "
		 "A PATH, a\n"
		 "case file or a folder of them, replaces the built-in cases. An ID selects that "
		 "case, and a\n"
		 "prefix that ends before a dot (open.size) every case below it; =ID is never a "
		 "prefix.\n"
		 "\n",
	.rows = rows};

static void started(void *context, const struct instance *instance)
{
	struct run *run = context;

	outputs_tell(&run->outputs, STARTED, &run->report, instance, NULL);
}

static bool ended(void *context, const struct result *result, size_t done, size_t total)
{
	struct run *run = context;
	struct result shown = *result;

	session_progress(&run->session, done, total);
	shown.reason = result->reason ? strdup(result->reason) : NULL;
	baseline_apply(&run->baseline, &run->session.loaded.env, &shown, 1);
	if (result->runs == run->session.options.repeat)
		outputs_tell(&run->outputs, ENDED, &run->report, NULL, &shown);
	free(shown.reason);
	return !run->fails_fast ||
	       !(outcome_is_bad(shown.verdict.outcome) || shown.differed || run->alarms.count);
}

static void raised(void *context, const struct raised *alarm)
{
	struct run *run = context;

	(void)alarm;
	if (run->has_begun) /* else the end tells of it */
		outputs_tell(&run->outputs, RAISED, &run->report, NULL, NULL);
}

/* The machine is known: what is printed first is about it. */
static void begin_outputs(void *context)
{
	struct run *run = context;
	struct loaded *loaded = &run->session.loaded;
	const struct source *model = sources_find(&loaded->sources, "model.json");
	bool has_json = false;

	if (run->has_begun)
		return;
	/* What predictions for this machine go by elsewhere is in reports that programs read. */
	for (size_t i = 0; i < run->outputs.count; i++)
		if (!strncmp(run->outputs.list[i].printer->name, "json", 4))
			has_json = true;
	if (has_json && model && !loaded->env.learned)
		loaded->env.learned = learned_for_report(model, &loaded->env);
	outputs_tell(&run->outputs, BEGINS, &run->report, NULL, NULL);
	run->has_begun = true;
}

static int pick_cases(struct run *run, char *const arguments[])
{
	int status;

	run->session.whole = run->failed || run->update ||
			     (run->baseline_choice && !baseline_is_none(run->baseline_choice));
	status = session_prepare(&run->session, arguments);
	if (!status && run->failed)
		status = rerun_narrow(&run->session, run->failed, run->rerun);
	return status;
}

static int prepare(struct run *run, char *const arguments[])
{
	struct session *s = &run->session;
	int status = pick_cases(run, arguments);

	if (status)
		return status;
	status = baseline_load(&run->baseline, run->baseline_choice, &s->loaded, s->program);
	if (status)
		return status;
	run->again_words = again_words(s, run->baseline_choice, arguments);
	run->again = again_command(run->again_words);
	run->report = (struct report){.env = &s->loaded.env,
				      .again = run->again,
				      .again_words = run->again_words,
				      .host = &run->host,
				      .cases_hash = sources_hash(&s->loaded.sources),
				      .cases = &s->loaded.cases,
				      .instances = s->picked,
				      .count = s->count,
				      .rounds = s->options.repeat,
				      .baseline = &run->baseline};
	status = barred_of_here(&s->loaded, s->program, run->barred);
	if (status)
		return status;
	run->report.barred = run->barred[0] ? run->barred : NULL;
	run->report.alarms = &run->alarms;
	s->options.alarms = &run->alarms;
	s->options.baseline = &run->baseline;
	s->options.started = started;
	s->options.ended = ended;
	s->options.begun = begin_outputs;
	s->shows_progress = s->shows_progress && !run->outputs.is_quiet;
	s->options.context = run;
	if (run->update) {
		int err = outfile_open(&run->updated, run->update, outfile_mode(run->update));

		if (err)
			return fail(EXIT_USAGE, "%s: cannot write %s: %s\n", s->program,
				    run->update, strerror(-err));
	}
	return outputs_open(&run->outputs, s, run->baseline_choice);
}

static int report(struct run *run)
{
	struct session *s = &run->session;
	const unsigned *tally = run->report.tally;
	bool tells_people = false;

	begin_outputs(run); /* where it has waited in vain */
	baseline_apply(&run->baseline, &s->loaded.env, s->results, s->count);
	run->report.results = s->results;
	run->report.interrupted = s->end.signal;
	alarms_look(&run->alarms, NULL);
	memset(run->report.tally, 0, sizeof(run->report.tally));
	for (size_t i = 0; i < s->count; i++) {
		run->report.tally[s->results[i].verdict.outcome]++;
		run->report.unreached +=
			s->results[i].verdict.outcome == ERROR && !result_has_run(&s->results[i]);
	}
	run->report.seconds = clock_seconds() - s->began;
	outputs_tell(&run->outputs, ENDS, &run->report, NULL, NULL);
	for (size_t i = 0; i < run->outputs.count; i++)
		if (run->outputs.list[i].printer == &printer_pretty && !run->outputs.list[i].path)
			tells_people = true;
	if (run->report.barred && !tells_people)
		say(stderr, "%s\n", run->report.barred);
	if (tally[ERROR] || session_is_flawed(s))
		return EXIT_HARNESS;
	if (run->alarms.count || tally[FAIL] || tally[UNSTABLE] || tally[XPASS] ||
	    (run->is_strict && tally[XFAIL]))
		return EXIT_FAILED;
	return s->count && tally[SKIP] == s->count ? EXIT_ALL_SKIPPED : 0;
}

static int update_baseline(struct run *run)
{
	const struct session *s = &run->session;
	struct baseline_changes changes;
	json_t *json =
		baseline_update(&run->baseline, &s->loaded.env, s->results, s->count, &changes);
	int err = baseline_write(json, &run->updated);

	json_decref(json);
	if (err)
		return fail(EXIT_HARNESS, "%s: cannot write %s: %s\n", s->program, run->update,
			    strerror(-err));
	say(stderr,
	    "%s: %s: %zu new, %zu known and now seen on this kernel, %zu that now end before it\n",
	    s->program, run->update, changes.added, changes.seen, changes.narrowed);
	if (changes.added)
		say(stderr, "  say in each new one which function breaks the promise, and how\n");
	if (changes.left)
		say(stderr,
		    "  %zu results are left to you: errors, runs that differed, or a pass beside "
		    "a failure of the same entry\n",
		    changes.left);
	return 0;
}

static int run_picked(struct run *run, char *const arguments[])
{
	struct session *s = &run->session;
	int status = prepare(run, arguments), written = 0;
	bool has_run;

	if (!status)
		status = session_run(s, s->picked, s->count);
	has_run = !status;
	if (has_run)
		status = report(run);
	if (has_run && run->update && !s->end.signal)
		written = update_baseline(run);
	if (outputs_close(&run->outputs))
		written = EXIT_HARNESS;
	return written ? written : status;
}

static void begin(void *settings)
{
	struct run *run = settings;

	run->updated.fd = -1;
	session_begin(&run->session, command_line.program);
	alarm_watch_begin(&run->alarms.watch, false);
	run->alarms.raised = raised;
	run->alarms.context = run;
	host_read(&run->host);
}

/* The --baseline of the run that a report is of. */
static int note_head(void *context, const json_t *head, const struct where *w)
{
	json_t *words = json_object_get(head, "again");
	struct run *run = context;

	(void)w;
	if (!words && !run->baseline_choice)
		say(stderr,
		    "%s: %s does not name the baseline of its run; using the built-in one\n",
		    run->session.program, run->rerun);
	for (size_t i = 0; i + 1 < json_array_size(words); i++) {
		const char *option = json_string_value(json_array_get(words, i));
		json_t *value = json_array_get(words, i + 1);
		double seconds = json_is_string(value) ? strtod(json_string_value(value), NULL) : 0;

		if (option && !strcmp(option, "--baseline") && !run->rerun_baseline)
			run->rerun_baseline = json_incref(value);
		if (option && !strcmp(option, "--timeout") &&
		    run->session.options.timeout == TIMEOUT && seconds >= 0.01 && seconds <= 3600)
			run->session.options.timeout = seconds;
	}
	return 0;
}

/* Whether it did not come out well: failed, passed against the baseline, could not be judged, or
 * had begun and has no end. */
static int note_result(void *context, const json_t *result, enum outcome outcome)
{
	struct run *run = context;

	if (outcome_is_bad((int)outcome))
		json_object_set_new(run->failed, member_text(result, "id"), json_true());
	return 0;
}

static int run_cases(void *settings, char **operands)
{
	struct run *run = settings;
	const struct report_sink sink = {.head = note_head, .result = note_result, .context = run};
	struct error e = {0};
	int status;

	if (run->rerun) {
		run->failed = json_object();
		if (report_file_read(run->rerun, &sink, NULL, &e))
			return fail_with(run->session.program, &e);
		if (!run->baseline_choice)
			run->baseline_choice = json_string_value(run->rerun_baseline);
		if (!json_object_size(run->failed))
			return fail(0, "%s: nothing failed in %s\n", run->session.program,
				    run->rerun);
	}
	if (!run->only_lists)
		return run_picked(run, operands);
	status = pick_cases(run, operands);
	for (size_t i = 0; !status && i < run->session.count; i++)
		printf("%s\n", run->session.picked[i]->id);
	return status;
}

static void end(void *settings)
{
	struct run *run = settings;

	outfile_close(&run->updated);
	alarm_watch_end(&run->alarms.watch);
	baseline_free(&run->baseline);
	free(run->again);
	json_decref(run->again_words);
	json_decref(run->failed);
	json_decref(run->rerun_baseline);
	session_end(&run->session);
}

const struct command run_command = {
	"run", "run cases against this kernel", &command_line, sizeof(struct run), begin, run_cases,
	end};
