/* SPDX-License-Identifier: MIT */
/*
 * Baselines: found, read strictly, and applied to the results of a run.
 */
#include "run/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language/keys.h"
#include "text/one_line.h"

static int read_deviations(struct baseline *baseline, const struct cases *cases, bool are_all,
			   const struct where *root, struct error *e)
{
	const json_t *list = json_object_get(baseline->json, "deviations");
	struct where at_list = where_key(root, "deviations");

	if (!json_is_array(list))
		return error_value(e, &at_list, list, "a list of what kernels break");
	baseline->list = calloc(json_array_size(list) + 1, sizeof(*baseline->list));
	if (!baseline->list)
		return error_no_memory(e, &at_list, "memory for the baseline");
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct where at = where_index(&at_list, i);

		if (deviation_read(&baseline->list[i], json_array_get(list, i), cases, are_all, &at,
				   e))
			return -EINVAL;
		baseline->count++;
	}
	return 0;
}

int baseline_parse(struct baseline *baseline, const struct source *source,
		   const struct cases *cases, struct error *e)
{
	static const char *const keys[] = {"$schema", "about", "deviations", NULL};
	struct where root = where_root(source), at_about = where_key(&root, "about");
	bool are_all = !cases->are_some && !source->is_borrowed;
	const json_t *about;

	*baseline = (struct baseline){.json = source_parse(source, e)};
	snprintf(baseline->name, sizeof(baseline->name), "%s%s%s", source->root,
		 source->root[0] ? "/" : "", source->name);
	if (!baseline->json ||
	    keys_check(baseline->json, keys, "a baseline (about, deviations)", &root, e))
		return -EINVAL;
	about = json_object_get(baseline->json, "about");
	if (about && !(json_is_string(about) && one_line(json_string_value(about))))
		return error_value(e, &at_about, about,
				   "a line of text without control characters");
	return read_deviations(baseline, cases, are_all, &root, e);
}

static int read_file(struct baseline *baseline, const char *path, const struct cases *cases,
		     struct error *e)
{
	struct sources sources = {0};
	int err = sources_read_file(&sources, path, e);

	if (err && !e->no_memory)
		snprintf(e->expected, sizeof(e->expected),
			 "a file of known deviations for --baseline, as cases/baseline.json is, or "
			 "none");
	if (!err)
		err = baseline_parse(baseline, &sources.list[0], cases, e);
	sources_free(&sources);
	return err;
}

int baseline_load(struct baseline *baseline, const char *choice, const struct loaded *loaded,
		  const char *program)
{
	const struct source *beside = sources_find(&loaded->sources, "baseline.json");
	struct error e = {0};

	*baseline = (struct baseline){0};
	if (choice && !baseline_is_none(choice))
		read_file(baseline, choice, &loaded->cases, &e);
	else if (!choice && beside)
		baseline_parse(baseline, beside, &loaded->cases, &e);
	if (!error_is_set(&e))
		return 0;
	error_print(stderr, program, &e);
	baseline_free(baseline);
	return e.no_memory ? EXIT_HARNESS : EXIT_USAGE;
}

bool baseline_is_none(const char *choice)
{
	return choice && !strcmp(choice, "none");
}

void baseline_free(struct baseline *baseline)
{
	json_decref(baseline->json);
	free(baseline->list);
	*baseline = (struct baseline){0};
}

const struct deviation *baseline_find(const struct baseline *baseline,
				      const struct instance *instance, struct environment *env)
{
	for (size_t i = 0; i < baseline->count; i++)
		if (deviation_holds(&baseline->list[i], instance, env))
			return &baseline->list[i];
	return NULL;
}

static void say_known(struct result *result, const struct deviation *deviation)
{
	char words[900], text[1000];

	deviation_words(deviation, words, sizeof(words));
	snprintf(text, sizeof(text), "%s%s%s%s",
		 deviation->of_machine ? "this machine, not its kernel: " : "", words,
		 deviation->fixed ? "; fixed in " : "", deviation->fixed ? deviation->fixed : "");
	result_set_text(&result->reason, text);
}

/* That the entry is not right, and what in it is to be changed. */
static void say_mended(struct result *result, const struct baseline *baseline,
		       const struct deviation *deviation)
{
	char kernels[256], words[900], text[2000];

	deviation_kernels(deviation, kernels, sizeof(kernels));
	deviation_words(deviation, words, sizeof(words));
	snprintf(text, sizeof(text),
		 "passes here, though the baseline says that %s breaks it (%s); change "
		 "`when` or `id` of /deviations/%zu in %s",
		 kernels, words, (size_t)(deviation - baseline->list), baseline->name);
	result_set_text(&result->reason, text);
}

/* A capability that is not there, as the baseline has it: the case found that out, and passes. */
static bool answers_no(const struct result *result)
{
	return result->verdict.capability[0] && strcmp(result->verdict.capability, "yes") != 0;
}

void baseline_apply(const struct baseline *baseline, struct environment *env,
		    struct result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct result *result = &results[i];
		const struct deviation *known = NULL;
		bool passes = result->verdict.outcome == PASS;

		if (passes || result->verdict.outcome == FAIL)
			known = baseline_find(baseline, result->instance, env);
		if (!known || (passes && (known->sometimes || answers_no(result))))
			continue;
		result->deviation = known;
		result->verdict.outcome = passes ? XPASS : XFAIL;
		if (passes)
			say_mended(result, baseline, known);
		else
			say_known(result, known);
	}
}
