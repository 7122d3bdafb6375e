/* SPDX-License-Identifier: MIT */
/*
 * perfabi mutate: every expectation made wrong, in each of its ways; each must fail then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/session.h"
#include "run/baseline.h"
#include "step/program.h"
#include "text/json_text.h"

/* Each case once for each way in which it is made wrong. */
struct wrongs {
	const struct instance **instances;
	unsigned *numbers; /* of the part, from 1 */
	enum part *parts;
	size_t count, room;
};

static const struct option_row rows[] = {{"cases", .kind = OPTION_ROWS, .rows = session_options},
					 {0}};

static const struct command_line command_line = {
	.program = "perfabi mutate",
	.usage = "usage: perfabi mutate [OPTIONS] [PATH|ID-GLOB...]\n"
		 "\n"
		 "Runs every case once for each part of its expectation, with that part made "
		 "wrong: success for\n"
		 "failure, another errno, the gate before or after the right one, an attr that is "
		 "written, each\n"
		 "part of each pattern. It lists the cases that still pass, which prove nothing, "
		 "and leaves out\n"
		 "those that fail unchanged, or that are known to fail here at times.\n"
		 "\n",
	.rows = rows};

static bool show_progress(void *context, const struct result *result, size_t done, size_t total)
{
	(void)result;
	session_progress(context, done, total);
	return true;
}

/* 0, or an exit status: what was run so tells nothing. */
static int run_whole(struct session *s, const struct instance *const *instances, size_t count)
{
	int status = session_run(s, instances, count);

	return status || s->end.signal || session_is_flawed(s) ? EXIT_HARNESS : 0;
}

/* A capability that is not there by its steps does not come as far as what is made wrong. */
static bool answers_yes(const struct result *result)
{
	const char *answer = result->verdict.capability;

	return result->verdict.outcome == PASS && (!answer[0] || !strcmp(answer, "yes"));
}

/* A case that this kernel fails at times may have passed by luck, and pass made wrong as well. */
static bool fails_sometimes(const struct baseline *baseline, const struct result *result,
			    struct environment *env)
{
	const struct deviation *known = baseline_find(baseline, result->instance, env);

	return known && known->sometimes;
}

/* With the part that was made wrong, from 1; 0: none was. */
static void tell(const struct result *result, unsigned number, enum part part, const char *how)
{
	printf("%s %s", how, result->instance->id);
	if (number)
		printf(" (%s, number %u)", part_names[part], number);
	printf("\n");
	print_details(stdout, result, NULL, "  ");
}

/*
 * A case that does not pass as it is tells nothing when it is made wrong: it is taken off the list.
 * 0, or an exit status: of failure where some failed and no case is left.
 */
static int keep_passing(struct session *s)
{
	size_t kept = 0, passed = 0, failed = 0;
	struct baseline baseline;
	int status = run_whole(s, s->picked, s->count);

	if (!status)
		status = baseline_load(&baseline, NULL, &s->loaded, s->program);
	if (status)
		return status;
	for (size_t i = 0; i < s->count; i++) {
		int outcome = s->results[i].verdict.outcome;

		failed += outcome_is_bad(outcome);
		passed += outcome == PASS;
		if (outcome_is_bad(outcome))
			tell(&s->results[i], 0, NO_PART,
			     outcome == FAIL    ? "FAIL"
			     : outcome == ERROR ? "ERROR"
						: "UNSTABLE");
		if (answers_yes(&s->results[i]) &&
		    !fails_sometimes(&baseline, &s->results[i], &s->loaded.env))
			s->picked[kept++] = s->picked[i];
	}
	baseline_free(&baseline);
	printf("cases as they are: %zu passed, %zu did not, %zu skipped\n", passed, failed,
	       s->count - passed - failed);
	s->count = kept;
	return kept || !failed ? 0 : EXIT_FAILED;
}

static void add_wrong(struct wrongs *w, const struct instance *instance, unsigned number,
		      enum part part)
{
	if (w->count == w->room) {
		w->room = w->room ? w->room * 2 : 1024;
		w->instances = or_exit(realloc(w->instances, w->room * sizeof(*w->instances)));
		w->numbers = or_exit(realloc(w->numbers, w->room * sizeof(*w->numbers)));
		w->parts = or_exit(realloc(w->parts, w->room * sizeof(*w->parts)));
	}
	w->instances[w->count] = instance;
	w->numbers[w->count] = number;
	w->parts[w->count++] = part;
}

/* Tells what was not caught. An exit status. */
static int tell_all(const struct session *s, const struct wrongs *w)
{
	size_t caught[PART_COUNT] = {0}, not [PART_COUNT] = {0}, all_caught = 0, all_not = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct result *result = &s->results[i];
		int outcome = result->verdict.outcome;
		bool is_survivor = answers_yes(result);

		caught[w->parts[i]] += outcome == FAIL || (outcome == PASS && !is_survivor);
		not [w->parts[i]] += is_survivor || outcome == ERROR;
		if (is_survivor || outcome == ERROR)
			tell(result, w->numbers[i], w->parts[i],
			     is_survivor ? "SURVIVED" : "ERROR");
	}
	for (int part = 0; part < PART_COUNT; part++) {
		printf("%-20s %5zu caught, %zu not\n", part_names[part], caught[part], not [part]);
		all_caught += caught[part];
		all_not += not [part];
	}
	printf("%zu wrong expectation%s caught, %zu not, in %zu %s\n", all_caught,
	       all_caught == 1 ? "" : "s", all_not, s->count, s->count == 1 ? "case" : "cases");
	if (all_not)
		return EXIT_FAILED;
	return all_caught ? 0 : EXIT_ALL_SKIPPED;
}

static int run(void *settings, char **operands)
{
	struct wrongs w = {0};
	struct session *s = settings;
	int status = session_prepare(s, operands);

	s->options.ended = show_progress;
	s->options.context = s;
	if (!status)
		status = keep_passing(s);
	for (size_t i = 0; !status && i < s->count; i++) {
		const struct instance *instance = s->picked[i];
		enum part part;

		/* Each part of what the case expects. */
		for (unsigned number = 1;
		     !status &&
		     (part = steps_part(instance->program, &instance->who, &s->loaded.env,
					&s->loaded.cases.tables, number, false)) != NO_PART;
		     number++)
			add_wrong(&w, instance, number, part);
	}
	s->options.parts = w.numbers;
	if (!status)
		status = run_whole(s, w.instances, w.count);
	if (!status)
		status = tell_all(s, &w);
	free(w.instances);
	free(w.numbers);
	free(w.parts);
	return status;
}

static void begin(void *settings)
{
	session_begin(settings, command_line.program);
}

static void end(void *settings)
{
	session_end(settings);
}

const struct command mutate_command = {"mutate",
				       "check that every wrong expectation fails",
				       &command_line,
				       sizeof(struct session),
				       begin,
				       run,
				       end};
