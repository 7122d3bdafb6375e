/* SPDX-License-Identifier: MIT */
/*
 * perfabi list, check and help.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case/cases.h"
#include "command/command.h"
#include "command/schema.h"
#include "text/say.h"
#include "language/pattern.h"
#include "machine/require.h"
#include "run/baseline.h"
#include "step/verb.h"
#include "text/json_text.h"
#include "text/options.h"

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
	 "the cases below DIR, not the built-in ones",                                             \
	 AT(struct settings, folder)},                                                             \
	{                                                                                          \
		"filter", 0, OPTION_TAKEN, "KEY=GLOB", help, AT(struct settings, filters),         \
			.take = filters_add                                                        \
	}

static const struct option_row list_rows[] = {
	PICKING("only these, as for run"),
	{"json", 0, OPTION_SET, NULL, "every case in full, in one list", AT(struct settings, json)},
	{0}};

static const struct command_line list_line = {
	.program = "perfabi list",
	.usage = "usage: perfabi list [OPTIONS] [PATH|ID-GLOB...]\n\n"
		 "The cases, an id and its title a line.\n\n",
	.rows = list_rows};

static const struct option_row check_rows[] = {PICKING("counts only these, as for run"), {0}};

static const struct command_line check_line = {
	.program = "perfabi check",
	.usage = "usage: perfabi check [OPTIONS] [PATH|ID-GLOB...]\n\n"
		 "Loads case files, and the baseline beside them, as `run` does and says what is "
		 "wrong\n"
		 "with each case; exit status 2 then. Without an argument, the built-in ones.\n\n",
	.rows = check_rows};

json_t *instance_json(const struct instance *instance)
{
	json_t *json = json_pack("{s:s}", "id", instance->id);

	json_object_update(json, instance->program->definition);
	json_object_set_new(json, "as", json_string(identity_names[instance->who.as]));
	if (instance->who.vehicle)
		json_object_set_new(json, "vehicle", json_string(instance->who.vehicle));
	return json;
}

void print_json(json_t *json, size_t flags)
{
	char *text = json_text(json, flags);

	puts(text ? text : "");
	free(text);
	json_decref(json);
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

const struct command list_command = {"list",      "the ids and titles of the cases",
				     &list_line,  sizeof(struct settings),
				     .run = list, .end = end};
const struct command check_command = {
	"check",      "load case files, and say what is wrong with them",
	&check_line,  sizeof(struct settings),
	.run = check, .end = end};

static void help_phases(FILE *f)
{
	struct loaded l;

	if (!load_tables(&l, NULL, "perfabi help"))
		for (size_t i = 0; i < l.cases.tables.phases.count; i++)
			fprintf(f, "  %-12s %s\n", l.cases.tables.phases.list[i].name,
				l.cases.tables.phases.list[i].about);
	load_free(&l);
}

static const struct command_line help_line = {
	.program = "perfabi help",
	.usage = "usage: perfabi help [COMMAND|TOPIC]\n\n"
		 "Without an argument, the commands. The topics are words of the case language:\n\n"
		 "  tokens       what `requires` and `when` can ask of a machine\n"
		 "  phases       the gates of perf_event_open(2)\n"
		 "  steps        the verbs of `steps` and `given`\n"
		 "  step-schema  the same, as JSON Schema; so do abi-schema, baseline-schema,\n"
		 "               case-schema, checks-schema, model-schema, phases-schema,\n"
		 "               probe-schema, vehicles-schema and why-schema for files of cases/\n"
		 "  patterns     what `expect` can say of a result\n"
		 "  variables    what `$name` stands for\n\n",
	.rows = (const struct option_row[]){{0}}};

static const struct topic {
	const char *name, *about;
	void (*help)(FILE *f);
} topics[] = {
	{"tokens", "Tokens of `requires` and `when`; \"!\" negates one:\n\n", require_help},
	{"phases", "The gates of perf_event_open(2), in the kernel's order:\n\n", help_phases},
	{"steps",
	 "Verbs of the steps in `steps` and `given`. Each step has one; \"bind\": NAME names what\n"
	 "came of it, \"expect\" says what must (perfabi help patterns), \"when\" when it is "
	 "done:\n\n",
	 steps_help},
	{"patterns",
	 "A pattern is a value that must be equal, an object whose members must fit, a list whose\n"
	 "elements must, or an object of these, all of which must hold:\n\n",
	 pattern_help},
	{"variables",
	 "What `$name` stands for, besides what steps bind and the parameter of `each`:\n\n",
	 scope_help}};

static int help(void *settings, char **operands)
{
	const char *name = operands[0] ? operands[0] : "";
	const struct command *command = command_find(name, NULL);
	int err = schema_print(stdout, name);

	(void)settings;
	if (err == -ENOMEM)
		return fail(EXIT_HARNESS, "perfabi help: %s\n", strerror(ENOMEM));
	if (!err)
		return 0;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		const struct topic *topic = &topics[i];

		if (strcmp(name, topic->name) &&
		    (strcmp(name, "given") || topic->help != steps_help))
			continue;
		fputs(topic->about, stdout);
		topic->help(stdout);
		return 0;
	}
	if (command)
		options_help(command->line, stdout);
	else if (!name[0])
		usage(stdout);
	else
		return fail(
			EXIT_USAGE,
			"perfabi help: no help on \"%s\"\n  expected: a command, tokens, phases, "
			"steps, step-schema, patterns or variables\n",
			name);
	return 0;
}

const struct command help_command = {
	"help",
	"help on a command, or on tokens, phases, steps, step-schema, patterns,\n           "
	"variables",
	&help_line, 1, .run = help};
