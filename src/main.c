/* SPDX-License-Identifier: MIT */
/*
 * perfabi: commands and their options.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/schema.h"
#include "machine/limits.h"
#include "machine/require.h"
#include "include/perfabi.h"
#include "language/pattern.h"
#include "step/verb.h"
#include "step/step.h"
#include "text/json_text.h"
#include "text/say.h"
#include "text/out.h"

static const struct command help_command;
static const struct command *const commands[] = {
	&run_command,  &probe_command, &diff_command,   &report_command,  &list_command,
	&show_command, &check_command, &mutate_command, &capture_command, &predict_command,
	&why_command,  &hunt_command,  &help_command};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void list_commands(FILE *f)
{
	fputs("perfabi shows what perf_event_open(2) really does on this machine.\n"
	      "\n"
	      "usage: perfabi COMMAND [OPTIONS] [ARGUMENTS]\n"
	      "\n"
	      "commands:\n",
	      f);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(f, "  %-8s %s\n", commands[i]->name, commands[i]->help);
	fputs("\n"
	      "  -h, --help     print this help; after a command, the command's help\n"
	      "  -V, --version\n"
	      "\n"
	      "Exit status: 0 nothing failed, 1 something failed, or passed though the baseline "
	      "says it fails,\n"
	      "2 wrong usage or input, 3 perfabi itself failed, 4 everything was skipped\n",
	      f);
}

/* The command of that name, or NULL; `near` (may be NULL) is offered all. */
static const struct command *command_find(const char *name, struct nearest *near)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
		if (near)
			nearest_try(near, commands[i]->name);
	}
	return NULL;
}

int flush_stdout(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	say(stderr, "perfabi: writing to standard output: %s\n", strerror(errno ? errno : EIO));
	return EXIT_HARNESS;
}

void print_json(json_t *json, size_t flags)
{
	char *text = or_exit(json_text(json, flags));

	puts(text);
	free(text);
	json_decref(json);
}

int fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_list(stderr, format, args);
	va_end(args);
	return status;
}

int fail_with(const char *program, const struct error *e)
{
	error_print(stderr, program, e);
	return e->no_memory ? EXIT_HARNESS : EXIT_USAGE;
}

/*
 * perfabi help.
 */

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
	.usage = "usage: perfabi help [COMMAND|TOPIC]\n"
		 "\n"
		 "Without an argument, lists the commands. The topics describe the case language:\n"
		 "\n"
		 "  tokens       conditions on a machine, for `requires` and `when`\n"
		 "  phases       the gates of perf_event_open(2)\n"
		 "  steps        the verbs of `steps` and `given`\n"
		 "  step-schema  the same, as JSON Schema; so do abi-schema, baseline-schema,\n"
		 "               case-schema, checks-schema, model-schema, phases-schema,\n"
		 "               probe-schema, vehicles-schema and why-schema for files of cases/\n"
		 "  patterns     what `expect` can demand of a result\n"
		 "  variables    the values of `$name`\n"
		 "\n",
	.rows = (const struct option_row[]){{0}}};

static const struct topic {
	const char *name, *about;
	void (*help)(FILE *f);
} topics[] = {
	{"tokens", "Tokens of `requires` and `when`; \"!\" negates one:\n\n", require_help},
	{"phases", "The gates of perf_event_open(2), in the kernel's order:\n\n", help_phases},
	{"steps",
	 "Verbs of the steps in `steps` and `given`. Each step has one verb. \"bind\": NAME names "
	 "its\n"
	 "result, \"expect\" is a pattern on what it shows (perfabi help patterns), \"when\" a "
	 "condition:\n"
	 "\n",
	 steps_help},
	{"patterns",
	 "A pattern is a value that must be equal, an object whose members must match, a list "
	 "whose\n"
	 "elements must match, or an object of these operators, all of which must hold:\n"
	 "\n",
	 pattern_help},
	{"variables",
	 "Values of `$name`, besides the names that steps bind and the parameter of `each`:\n"
	 "\n",
	 scope_help}};

static int help(void *settings, char **operands)
{
	const char *name = operands[0] ? operands[0] : "";
	const struct command *command = command_find(name, NULL);

	(void)settings;
	if (schema_print(name))
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
		list_commands(stdout);
	else
		return fail(
			EXIT_USAGE,
			"perfabi help: no help on \"%s\"\n  expected: a command, tokens, phases, "
			"steps, step-schema, patterns or variables\n",
			name);
	return 0;
}

static const struct command help_command = {
	"help",
	"help on a command, or on tokens, phases, steps, step-schema, patterns,\n           "
	"variables",
	&help_line, 1, .run = help};

/* Reads its options, and does it. */
static int do_command(const struct command *command, int argc, char **argv)
{
	void *settings = or_exit(calloc(1, command->size));
	int parsed, status = 0;

	if (command->begin)
		command->begin(settings);
	parsed = options_read(command->line, settings, argc, argv);
	if (!parsed)
		status = command->run(settings, argv + optind);
	else if (parsed < 0)
		status = EXIT_USAGE;
	if (command->end)
		command->end(settings);
	free(settings);
	return status ? status : flush_stdout();
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct nearest near;
	char program[32];
	int err = standard_hold();

	if (err)
		return fail(EXIT_HARNESS, "perfabi: /dev/null, for what is closed: %s\n",
			    strerror(-err));
	heap_prepare();
	json_memory_or_exit();
	limits_raise_stack();
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write(2) */
	if (argc < 2) {
		list_commands(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		printf("perfabi %s\n", PERFABI_VERSION_TEXT);
		return flush_stdout();
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		argv[1] = "help";
	if (!strcmp(argv[1], "behind-exec"))
		return steps_after_exec(argc - 1, argv + 1);
	near = nearest_to(argv[1]);
	command = command_find(argv[1], &near);
	if (command) {
		snprintf(program, sizeof(program), "perfabi %s", argv[1]);
		argv[1] = program; /* what getopt_long(3) puts in front of its messages */
		return do_command(command, argc - 1, argv + 1);
	}
	say(stderr, "perfabi: there is no command \"%s\"\n", argv[1]);
	if (near.best)
		say(stderr, "  nearest:  \"%s\"\n", near.best);
	say(stderr, "  `perfabi help` lists them\n");
	return EXIT_USAGE;
}
