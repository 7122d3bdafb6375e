/* SPDX-License-Identifier: MIT */
/*
 * Baselines: found, read strictly, and applied to the results of a run.
 */
#include "run/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/one_line.h"

static int keep_json(struct doc *d, void *baseline, const json_t *json, const struct where *w)
{
	(void)d;
	(void)w;
	((struct baseline *)baseline)->json = json;
	return 0;
}

static const struct doc_type baseline_type = {
	"a baseline (about, deviations)",
	(const struct doc_row[]){{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
				 {"about", DOC_TEXT, false, .at = DOC_NOWHERE},
				 {"deviations", DOC_LIST, true, AT(struct baseline, list),
				  .type = &deviation_type,
				  .count = offsetof(struct baseline, count),
				  .expected = "a list of what kernels break"},
				 {0}},
	.size = offsetof(struct baseline, name), .check = keep_json};

int baseline_parse(struct baseline *baseline, const struct source *source,
		   const struct cases *cases, struct error *e)
{
	struct deviation_reading with = {cases, !cases->are_some && !source->is_borrowed};
	struct doc d = {&baseline->arena, e, &with};

	*baseline = (struct baseline){0};
	snprintf(baseline->name, sizeof(baseline->name), "%s%s%s", source->root,
		 source->root[0] ? "/" : "", source->name);
	return doc_load(&d, &baseline_type, source, baseline);
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
	arena_free(&baseline->arena);
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
