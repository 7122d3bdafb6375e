/* SPDX-License-Identifier: MIT */
/*
 * perfabi mutate: every expectation made wrong, in each of its ways; each must fail then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/session.h"
#include "text/say.h"

/* Each case once for each way in which it is made wrong. */
struct wrongs {
	const struct instance **instances;
	struct mutation *mutations;
	size_t count;
};

static const struct option long_options[] = {SESSION_OPTIONS, {NULL, 0, NULL, 0}};

static void help(FILE *f)
{
	fputs("usage: perfabi mutate [OPTIONS] [PATH|ID-GLOB...]\n\n"
	      "Runs every case with its expectation made wrong: another errno, success for "
	      "failure,\n"
	      "the gate before and behind the right one, attr written where it is not, "
	      "close-on-exec\n"
	      "turned round; of steps, each part of each pattern. A case that passes all the "
	      "same\n"
	      "proves nothing, and is listed; one that fails unchanged is listed, too, and "
	      "left out.\n\n",
	      f);
	session_help(f);
	fputs("  -h, --help\n", f);
}

/* 0 to go on, 1 after help was printed, or -EINVAL. */
static int parse_options(struct session *s, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:j:h", long_options, NULL)) != -1) {
		if (option == 'h') {
			help(stdout);
			return 1;
		}
		if (option == '?') {
			say(stderr, "  `perfabi mutate --help` lists the options\n");
			return -EINVAL;
		}
		if (session_option(s, option, optarg))
			return -EINVAL;
	}
	return 0;
}

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

	return result->verdict.outcome == PASS &&
	       (!result->instance->program->has_steps || !answer[0] || !strcmp(answer, "yes"));
}

static void tell(const struct result *result, struct mutation mutation, const char *how)
{
	printf("%s %s", how, result->instance->id);
	if (mutation.kind)
		printf(" (%s", mutation_name(mutation.kind));
	if (mutation.kind == MUTATION_OF_STEPS)
		printf(", number %u", mutation.part + 1);
	printf(mutation.kind ? ")\n" : "\n");
	print_details(stdout, result, NULL, "  ");
}

/*
 * A case that does not pass as it is tells nothing when it is made wrong: it is taken off the list.
 * 0, or an exit status: of failure where some failed and no case is left.
 */
static int keep_passing(struct session *s)
{
	size_t kept = 0, passed = 0, failed = 0;

	if (run_whole(s, s->picked, s->count))
		return EXIT_HARNESS;
	for (size_t i = 0; i < s->count; i++) {
		int outcome = s->results[i].verdict.outcome;

		failed += outcome == FAIL || outcome == ERROR;
		passed += outcome == PASS;
		if (outcome == FAIL || outcome == ERROR)
			tell(&s->results[i], (struct mutation){0},
			     outcome == FAIL ? "FAIL" : "ERROR");
		if (answers_yes(&s->results[i]))
			s->picked[kept++] = s->picked[i];
	}
	printf("cases as they are: %zu passed, %zu did not, %zu skipped\n", passed, failed,
	       s->count - passed - failed);
	s->count = kept;
	return kept || !failed ? 0 : EXIT_FAILED;
}

static int add_wrong(struct wrongs *w, const struct instance *instance, struct mutation mutation)
{
	size_t room = w->count ? w->count * 2 : 64;
	void *instances, *mutations;

	if (!w->count || (w->count >= 64 && !(w->count & (w->count - 1)))) {
		instances = realloc(w->instances, room * sizeof(struct instance *));
		w->instances = instances ? instances : w->instances;
		mutations = realloc(w->mutations, room * sizeof(*w->mutations));
		w->mutations = mutations ? mutations : w->mutations;
		if (!instances || !mutations)
			return -ENOMEM;
	}
	w->instances[w->count] = instance;
	w->mutations[w->count++] = mutation;
	return 0;
}

/* All ways of one case: those of a call, or each part of what its steps expect. */
static int add_ways(struct wrongs *w, const struct instance *instance, const struct tables *tables,
		    struct environment *env)
{
	for (int kind = MUTATION_OF_CALL; kind < MUTATIONS; kind++) {
		struct mutation mutation = {.kind = kind};

		while (mutation_applies(mutation, instance, tables, env)) {
			if (add_wrong(w, instance, mutation))
				return -ENOMEM;
			mutation.part++;
			if (kind != MUTATION_OF_STEPS)
				break;
		}
	}
	return 0;
}

/* Tells what was not caught. An exit status. */
static int tell_all(const struct session *s, const struct wrongs *w)
{
	size_t caught[MUTATIONS] = {0}, not [MUTATIONS] = {0}, all_caught = 0, all_not = 0;

	for (size_t i = 0; i < w->count; i++) {
		const struct result *result = &s->results[i];
		int outcome = result->verdict.outcome, kind = w->mutations[i].kind;
		bool is_survivor = answers_yes(result);

		caught[kind] += outcome == FAIL || (outcome == PASS && !is_survivor);
		not [kind] += is_survivor || outcome == ERROR;
		if (is_survivor || outcome == ERROR)
			tell(result, w->mutations[i], is_survivor ? "SURVIVED" : "ERROR");
	}
	for (int kind = MUTATION_OF_CALL; kind < MUTATIONS; kind++) {
		printf("%-20s %5zu caught, %zu not\n", mutation_name(kind), caught[kind],
		       not [kind]);
		all_caught += caught[kind];
		all_not += not [kind];
	}
	printf("%zu wrong expectation%s caught, %zu not, in %zu %s\n", all_caught,
	       all_caught == 1 ? "" : "s", all_not, s->count, s->count == 1 ? "case" : "cases");
	if (all_not)
		return EXIT_FAILED;
	return all_caught ? 0 : EXIT_ALL_SKIPPED;
}

static int mutate_all(struct session *s, struct wrongs *w)
{
	int status;

	s->options.ended = show_progress;
	s->options.context = s;
	status = keep_passing(s);
	if (status)
		return status;
	for (size_t i = 0; i < s->count; i++) {
		if (!add_ways(w, s->picked[i], &s->loaded.cases.tables, &s->loaded.env))
			continue;
		say(stderr, "%s: %s\n", s->program, strerror(ENOMEM));
		return EXIT_HARNESS;
	}
	s->options.mutations = w->mutations;
	if (run_whole(s, w->instances, w->count))
		return EXIT_HARNESS;
	return tell_all(s, w);
}

int command_mutate(int argc, char **argv)
{
	struct session session;
	struct wrongs wrongs = {0};
	int parsed, status;

	session_begin(&session, "perfabi mutate");
	parsed = parse_options(&session, argc, argv);
	if (parsed) {
		filters_free(&session.filters);
		return parsed > 0 ? 0 : EXIT_USAGE;
	}
	status = session_prepare(&session, argv + optind);
	if (!status)
		status = mutate_all(&session, &wrongs);
	free(wrongs.instances);
	free(wrongs.mutations);
	session_end(&session);
	return status;
}
