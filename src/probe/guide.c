/* SPDX-License-Identifier: MIT */
/*
 * What is read of cases/probe.json, and the reason that is about something.
 */
#include "probe/guide.h"

#include <errno.h>
#include <fnmatch.h>

#include "machine/names.h"

/* The names of members on the way to a value. */
static int value_path(struct doc *d, const json_t *json, void *path, const struct where *w)
{
	bool good = json_array_size(json) > 0;

	for (size_t i = 0; i < json_array_size(json); i++)
		good = good && json_is_string(json_array_get(json, i));
	*(const json_t **)path = json;
	return good ? 0 : error_value(d->e, w, json, "a list of names");
}

static const struct doc_type fact_type = {
	"a fact",
	(const struct doc_row[]){
		{"key", DOC_TEXT, true, AT(struct guide_fact, key)},
		{"title", DOC_TEXT, true, AT(struct guide_fact, title)},
		{"at", DOC_READ, true, AT(struct guide_fact, path), .read = value_path},
		{"unit", DOC_TEXT, false, AT(struct guide_fact, unit)},
		{"shows", DOC_WORD, false, AT(struct guide_fact, shows),
		 .words = (const char *const[]){"value", "first-refused-bit", NULL}},
		{"instead", DOC_TEXT, false, AT(struct guide_fact, instead)},
		{0}},
	.size = sizeof(struct guide_fact)};

static const struct doc_type topic_type = {
	"a topic",
	(const struct doc_row[]){{"topic", DOC_TEXT, true, AT(struct guide_topic, name)},
				 {"title", DOC_TEXT, true, AT(struct guide_topic, title)},
				 {"facts", DOC_LIST, false, AT(struct guide_topic, facts),
				  .type = &fact_type,
				  .count = offsetof(struct guide_topic, fact_count)},
				 {0}},
	.size = sizeof(struct guide_topic)};

static int errno_text(struct doc *d, const json_t *json, void *name, const struct where *w)
{
	const char *text = json_string_value(json);
	struct nearest near = nearest_to(text ? text : "");

	*(const char **)name = text;
	return text && errno_by_name(text, &near) ? 0
						  : error_name(d->e, w, text ? text : "nothing",
							       near.best, "the name of an errno");
}

static int reason_when(struct doc *d, const json_t *json, void *when, const struct where *w)
{
	*(const json_t **)when = json;
	return when_check(json, d->context, w, d->e);
}

const char *const guide_answers[] = {"unknown", "no", "denied", NULL};

static const struct doc_type reason_type = {
	"a reason",
	(const struct doc_row[]){
		{"key", DOC_TEXT, false, AT(struct guide_reason, key)},
		{"caller", DOC_TEXT, false, AT(struct guide_reason, caller)},
		{"token", DOC_TEXT, false, AT(struct guide_reason, token)},
		{"errno", DOC_READ, false, AT(struct guide_reason, err), .read = errno_text},
		{"opens", DOC_TRUTH, false, AT(struct guide_reason, is_of_opened)},
		{"answer", DOC_WORD, false, AT(struct guide_reason, answer),
		 .words = guide_answers},
		{"because", DOC_TEXT, true, AT(struct guide_reason, because)},
		{"instead", DOC_TEXT, false, AT(struct guide_reason, instead)},
		{"when", DOC_READ, false, AT(struct guide_reason, when), .read = reason_when},
		{0}},
	.size = sizeof(struct guide_reason)};

static const struct doc_type guide_type = {
	"probe.json",
	(const struct doc_row[]){
		{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
		{"about", DOC_ANY, false, .at = DOC_NOWHERE},
		{"topics", DOC_LIST, true, AT(struct guide, topics), .type = &topic_type,
		 .count = offsetof(struct guide, topic_count), .expected = "a list of topics"},
		{"reasons", DOC_LIST, true, AT(struct guide, reasons), .type = &reason_type,
		 .count = offsetof(struct guide, reason_count), .expected = "a list of reasons"},
		{0}},
	.size = offsetof(struct guide, arena)};

int guide_load(struct guide *guide, const struct source *source, struct when_names *names,
	       struct error *e)
{
	struct doc d = {&guide->arena, e, names};

	*guide = (struct guide){0};
	return doc_load(&d, &guide_type, source, guide);
}

void guide_free(struct guide *guide)
{
	arena_free(&guide->arena);
}

/* A glob that is not there matches anything; one that is, no text that is not. */
static bool glob_fits(const char *glob, const char *text)
{
	return !glob || (text && !fnmatch(glob, text, 0));
}

const struct guide_reason *guide_reason(const struct guide *guide, const struct absence_of *what,
					struct environment *env)
{
	const struct who who = {.as = (enum identity)identity_by_name(what->caller)};

	for (size_t i = 0; i < guide->reason_count; i++) {
		const struct guide_reason *reason = &guide->reasons[i];

		if (!reason->token == !what->token && glob_fits(reason->token, what->token) &&
		    (!reason->is_of_opened || (!what->token && !what->err)) &&
		    glob_fits(reason->key, what->key) && glob_fits(reason->caller, what->caller) &&
		    glob_fits(reason->err, what->err ? errno_name(what->err) : NULL) &&
		    when_holds(reason->when, &who, env))
			return reason;
	}
	return NULL;
}
