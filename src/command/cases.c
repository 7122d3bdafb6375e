/* SPDX-License-Identifier: MIT */
/*
 * perfabi list, check and show.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/session.h"
#include "show/show.h"
#include "machine/require.h"
#include "run/baseline.h"
#include "step/step.h"
#include "text/say.h"

/* What these commands can be told. */
struct settings {
	const char *folder;
	struct filters filters;
	bool json;
};

#define PICKING(help)                                                                              \
	{"cases",                                                                                  \
	 'c',                                                                                      \
	 OPTION_TEXT,                                                                              \
	 "DIR",                                                                                    \
	 "use the cases in DIR instead of the built-in ones",                                      \
	 AT(struct settings, folder)},                                                             \
	{                                                                                          \
		"filter", 0, OPTION_TAKEN, "KEY=GLOB", help, AT(struct settings, filters),         \
			.take = filters_add                                                        \
	}

static const struct option_row list_rows[] = {PICKING("list only matching cases, as for run"),
					      {"json", 0, OPTION_SET, NULL,
					       "print the cases in full, as one JSON list",
					       AT(struct settings, json)},
					      {0}};

static const struct command_line list_line = {
	.program = "perfabi list",
	.usage = "usage: perfabi list [OPTIONS] [PATH|ID-GLOB...]\n"
		 "\n"
		 "Prints the id and title of each case, one per line.\n"
		 "\n",
	.rows = list_rows};

static const struct option_row check_rows[] = {PICKING("count only matching cases, as for run"),
					       {0}};

static const struct command_line check_line = {
	.program = "perfabi check",
	.usage = "usage: perfabi check [OPTIONS] [PATH|ID-GLOB...]\n"
		 "\n"
		 "Loads case files, and the baseline in the same folder, as `run` does, and "
		 "reports what is wrong\n"
		 "with each case; the exit status is then 2. Without an argument, it checks the "
		 "built-in cases.\n"
		 "\n",
	.rows = check_rows};

/* The case in full; a new reference. */
static json_t *instance_json(const struct instance *instance)
{
	json_t *json = json_pack("{s:s}", "id", instance->id);

	json_object_update(json, instance->program->definition);
	json_object_set_new(json, "as", json_string(identity_names[instance->who.as]));
	if (instance->who.vehicle)
		json_object_set_new(json, "vehicle", json_string(instance->who.vehicle));
	return json;
}

/* Those cases that the arguments and filters pick. 0, or an exit status after a message. */
static int load_picked(const struct settings *s, char *const arguments[], bool whole,
		       const char *program, struct loaded *l, const struct instance ***picked,
		       size_t *count)
{
	int status = load_cases(l, s->folder, arguments, whole, program);

	*picked = NULL;
	return status ? status : pick(&l->cases, arguments, &s->filters, picked, count, program);
}

static int list(void *settings, char **operands)
{
	const struct settings *s = settings;
	struct loaded l;
	const struct instance **picked;
	size_t count;
	int status = load_picked(s, operands, false, "perfabi list", &l, &picked, &count);

	if (picked && s->json) {
		json_t *list = json_array();

		for (size_t i = 0; i < count; i++)
			json_array_append_new(list, instance_json(picked[i]));
		print_json(list, JSON_INDENT(2));
	}
	for (size_t i = 0; picked && !s->json && i < count; i++) {
		printf("%s\t", picked[i]->id);
		one_line_print(stdout, picked[i]->title, "\n\t");
		putchar('\n');
	}
	free(picked);
	load_free(&l);
	return status;
}

/* What is learned names what there is, and what is said of a machine is about that machine. 0, or
 * an exit status after a message. */
static int check_model(const struct sources *sources, const struct abi *abi)
{
	static const char *const files[] = {"checks.json", "probe.json", "why.json"};
	struct model_file file;
	struct arena arena = {0};
	struct error e = {0};
	const struct source *model = sources_find(sources, "model.json");
	struct where root = where_root(model);
	int err = model_file_load(&file, model, &arena, &e);

	if (!err)
		err = learned_check(&file.learned, abi, AT_KEY(&root, "learned"), &e);
	for (size_t i = 0; !err && i < sizeof(files) / sizeof(*files); i++)
		err = sentences_check(sources_find(sources, files[i]), &file, &e);
	arena_free(&arena);
	return err ? fail_with("perfabi check", &e) : 0;
}

static int check(void *settings, char **operands)
{
	struct loaded l;
	struct baseline baseline = {0};
	const struct instance **picked;
	size_t count = 0;
	int status = load_picked(settings, operands, true, "perfabi check", &l, &picked, &count);

	if (!status)
		status = baseline_load(&baseline, NULL, &l, "perfabi check");
	if (!status)
		status = check_model(&l.sources, l.abi);
	if (!status && !cases_check_use(picked, count, "perfabi check"))
		status = EXIT_USAGE;
	if (!status)
		printf("%zu case%s, all well formed\n", count, count == 1 ? "" : "s");
	free(picked);
	baseline_free(&baseline);
	load_free(&l);
	return status;
}

static void end(void *settings)
{
	filters_free(&((struct settings *)settings)->filters);
}

const struct command list_command = {"list",      "list the ids and titles of the cases",
				     &list_line,  sizeof(struct settings),
				     .run = list, .end = end};
const struct command check_command = {"check",      "check case files for errors",
				      &check_line,  sizeof(struct settings),
				      .run = check, .end = end};

/*
 * perfabi show.
 */

struct show_settings {
	const char *folder, *to; /* NULL: the built-in cases; standard output */
	bool as_c, as_strace;
};

static const struct option_row show_rows[] = {
	{"c", 0, OPTION_SET, NULL,
	 "print one case as a C program for this machine, which makes the same calls, prints what "
	 "it expects and gets, and exits with 0 if the case passes, 1 if it fails",
	 AT(struct show_settings, as_c)},
	{"strace", 0, OPTION_SET, NULL,
	 "run one case, and print its calls as strace(1) would; other steps, and the result, are "
	 "comments; the exit status is 0 even if the case fails",
	 AT(struct show_settings, as_strace)},
	{"output", 'o', OPTION_TEXT, "DIR",
	 "with --c: write each case's program to DIR/ID.c; DIR is created, and cases without a "
	 "program are reported",
	 AT(struct show_settings, to)},
	{"cases", 'c', OPTION_TEXT, "DIR", "use the cases in DIR instead of the built-in ones",
	 AT(struct show_settings, folder)},
	{0}};

static const struct command_line show_line = {
	.program = "perfabi show",
	.usage = "usage: perfabi show [OPTIONS] PATH|ID-GLOB...\n"
		 "\n"
		 "Prints cases in full, with their defaults, vehicle and parameters filled in.\n"
		 "\n",
	.rows = show_rows};

/* What the case requires and this machine has not, but for what other cases find out; else NULL. */
static const char *missing_here(struct loaded *l, const struct instance *instance, char *found,
				size_t size)
{
	const json_t *requirement;
	size_t i;

	json_array_foreach(instance->program->requirements, i, requirement) {
		const char *tokens = json_string_value(requirement);

		if (!require_is_fleeting(tokens) &&
		    !require_any_met(&l->env, tokens, instance->who.as, found, size))
			return tokens;
	}
	return NULL;
}

/* One program. 0, -ENOTSUP after a message, or another negative errno after one. */
static int print_c(struct loaded *l, const struct instance *instance, FILE *f)
{
	struct error e = {0};
	int err = show_in_c(f, instance, &l->cases, &l->env, &e);

	if (err == -ENOTSUP)
		say(stderr,
		    "perfabi show: %s cannot be written as C yet: it has %s\n"
		    "  `perfabi show %s` shows it as JSON\n",
		    instance->id, e.got, instance->id);
	else if (err)
		error_print(stderr, "perfabi show", &e);
	return err;
}

/* The program in a file of its own; none is left of what cannot be written. */
static int write_c(struct loaded *l, const struct instance *instance, const char *folder)
{
	char path[4096];
	FILE *f;
	int err;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.c", folder, instance->id) >= sizeof(path))
		errno = ENAMETOOLONG, f = NULL;
	else
		f = fopen(path, "we");
	if (!f) {
		err = -errno;
		say(stderr, "perfabi show: %s: %s\n", path, strerror(-err));
		return err;
	}
	err = print_c(l, instance, f);
	if (!err && ferror(f))
		err = -EIO;
	if (fclose(f) && !err)
		err = -errno;
	if (err)
		unlink(path);
	if (err && err != -ENOTSUP)
		say(stderr, "perfabi show: %s: %s\n", path, strerror(-err));
	return err;
}

static int write_all_c(struct loaded *l, const struct instance *const *picked, size_t count,
		       const char *folder)
{
	size_t left_out = 0, missing = 0;
	char found[192];

	if (mkdir(folder, 0777) && errno != EEXIST)
		return fail(EXIT_USAGE, "perfabi show: %s: %s\n", folder, strerror(errno));
	for (size_t i = 0; i < count; i++) {
		int err = write_c(l, picked[i], folder);

		left_out += err == -ENOTSUP;
		missing += !err && missing_here(l, picked[i], found, sizeof(found));
		if (err && err != -ENOTSUP)
			return EXIT_HARNESS;
	}
	say(stderr, "perfabi show: %zu of %zu cases written to %s\n", count - left_out, count,
	    folder);
	if (missing)
		say(stderr,
		    "  %zu of these require what this machine has not; their programs say SKIP\n",
		    missing);
	return 0;
}

/* 0, or EXIT_USAGE after a message: `what` is done with one case alone. */
static int need_one(const struct instance *const *picked, size_t count, const char *what,
		    const char *or_else)
{
	if (count == 1)
		return 0;
	return fail(EXIT_USAGE,
		    "perfabi show: %zu cases fit, and %s\n  expected: the id of one%s%s%s\n", count,
		    what, count ? ", such as " : "", count ? picked[0]->id : "", or_else);
}

static int show_as_c(const struct show_settings *s, struct loaded *l,
		     const struct instance *const *picked, size_t count)
{
	int err = barred_by_death("perfabi show");
	const char *tokens;
	char found[192];

	if (err)
		return err;
	environment_read(&l->env, l->abi);
	l->has_env = true;
	if (s->to)
		return write_all_c(l, picked, count, s->to);
	if (need_one(picked, count, "--c prints one program",
		     "; or a folder for all of them: -o DIR"))
		return EXIT_USAGE;
	tokens = missing_here(l, picked[0], found, sizeof(found));
	if (tokens) /* whoever runs the program here has to know */
		say(stderr,
		    "perfabi show: this case is skipped here, for it requires %s: %s\n"
		    "  its program says SKIP where that is missing\n",
		    tokens, found);
	err = print_c(l, picked[0], stdout);
	return !err ? 0 : err == -ENOTSUP ? EXIT_USAGE : EXIT_HARNESS;
}

/* Runs the case once, as `run` does. */
static int show_as_strace(const struct show_settings *s, char *const arguments[])
{
	struct session session;
	const struct result *result;
	const struct verdict *v;
	int status;

	session_begin(&session, "perfabi show");
	session.folder = s->folder;
	session.options.jobs = 1;
	session.options.trace = trace_make();
	if (!session.options.trace)
		return fail(EXIT_HARNESS, "perfabi show: memory for the calls: %s\n",
			    strerror(errno));
	status = session_prepare(&session, arguments);
	if (!status)
		status = need_one(session.picked, session.count,
				  "--strace runs one case, by its ID", "");
	if (!status)
		status = session_run(&session, session.picked, session.count);
	if (!status) {
		trace_print(session.options.trace, stdout);
		/* What came of it; of a case that did not run, why. */
		result = &session.results[0];
		v = &result->verdict;
		printf("/* %s", outcome_names[v->outcome]);
		if (result->token)
			printf(": it requires %s: %s", result->token,
			       result->reason ? result->reason : "");
		else if (result->reason)
			printf(": %s", result->reason);
		else if (v->outcome != PASS && v->expected[0])
			printf(": expected %s, got %s", v->expected, v->got);
		else if (v->capability[0])
			printf(": %s", v->capability);
		printf(" */\n");
		status = session_is_flawed(&session) ? EXIT_HARNESS : 0;
	}
	trace_free(session.options.trace);
	session_end(&session);
	return status;
}

static int show_cases(void *settings, char **operands)
{
	const struct show_settings *s = settings;
	const struct settings from = {.folder = s->folder};
	const struct instance **picked;
	struct loaded l;
	size_t count = 0;
	int status;

	if (!operands[0])
		return fail(EXIT_USAGE, "perfabi show: no ID given; `perfabi list` shows them\n");
	if (s->as_strace && s->as_c)
		return fail(EXIT_USAGE, "perfabi show: --strace runs one case, by its ID, and goes "
					"without --c\n");
	if (s->to && !s->as_c)
		return fail(EXIT_USAGE, "perfabi show: --output is the folder of --c's programs\n");
	if (s->as_strace)
		return show_as_strace(s, operands);
	status = load_picked(&from, operands, false, "perfabi show", &l, &picked, &count);
	if (!status && s->as_c)
		status = show_as_c(s, &l, picked, count);
	for (size_t i = 0; !status && !s->as_c && i < count; i++)
		print_json(instance_json(picked[i]), JSON_INDENT(2));
	free(picked);
	load_free(&l);
	return status;
}

const struct command show_command = {"show", "show a case in full", &show_line,
				     sizeof(struct show_settings), .run = show_cases};
