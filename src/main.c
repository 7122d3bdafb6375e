/* SPDX-License-Identifier: MIT */
/*
 * perfabi: commands and their options.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "machine/heap.h"
#include "machine/limits.h"
#include "perfabi.h"
#include "step/steps.h"
#include "text/json_memory.h"
#include "text/say.h"
#include "text/standard.h"

static const struct command commands[] = {
	{"run", command_run, "run cases against this kernel, and report"},
	{"probe", command_probe, "what this machine can do, and why not more"},
	{"diff", command_diff, "what differs between two reports or machines; what is worse first"},
	{"report", command_report, "reports of several machines as one page of HTML"},
	{"list", command_list, "the ids and titles of the cases"},
	{"show", command_show, "a case in full"},
	{"check", command_check, "load case files, and say what is wrong with them"},
	{"mutate", command_mutate,
	 "make every expectation wrong in turn, and demand that it fails"},
	{"capture", command_capture,
	 "record an attr while a command runs, for perfabi-decode and perf"},
	{"predict", command_predict, "what the kernel will say to calls, without making them"},
	{"why", command_why, "why a call is refused, and what opens it"},
	{"hunt", command_hunt, "random calls, predicted and made: whatever differs, as a case"},
	{"help", command_help,
	 "help on a command, or on tokens, phases, steps, step-schema, patterns,\n           "
	 "variables"},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

void usage(FILE *f)
{
	fputs("perfabi says what perf_event_open(2) really does on this machine.\n\n"
	      "usage: perfabi COMMAND [OPTIONS] [ARGUMENTS]\n\ncommands:\n",
	      f);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n  -h, --help     this, or a command's own help behind its name\n"
	      "  -V, --version\n\n"
	      "exit status: 0 nothing failed, 1 something failed or passed against its baseline,\n"
	      "2 wrong usage or input, 3 perfabi itself failed, 4 everything was skipped\n",
	      f);
}

const struct command *command_find(const char *name, struct nearest *near)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
		if (near)
			nearest_try(near, commands[i].name);
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

int main(int argc, char **argv)
{
	const struct command *command;
	struct nearest near;
	char program[32];
	int status, err = standard_hold();

	if (err) {
		say(stderr, "perfabi: /dev/null, for what is closed: %s\n", strerror(-err));
		return EXIT_HARNESS;
	}
	heap_prepare();
	json_memory_or_exit();
	limits_raise_stack();
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write(2) */
	if (argc < 2) {
		usage(stderr);
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
		status = command->run(argc - 1, argv + 1);
		return status ? status : flush_stdout();
	}
	say(stderr, "perfabi: there is no command \"%s\"\n", argv[1]);
	if (near.best)
		say(stderr, "  nearest:  \"%s\"\n", near.best);
	say(stderr, "  `perfabi help` lists them\n");
	return EXIT_USAGE;
}
