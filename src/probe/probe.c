/* SPDX-License-Identifier: MIT */
/*
 * The answers as one JSON object, which the table and the rows are made from.
 */
#include "probe/probe.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "machine/names.h"
#include "report/report.h"
#include "text/json_text.h"

/*
 * What is read of cases/probe.json.
 */

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
		{"at", DOC_READ, true, AT(struct guide_fact, path), .read = value_path,
		 .takes = "path", .help = "its path in the environment of a report"},
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

static const char *const guide_answers[] = {"unknown", "no", "denied", NULL};

static const struct doc_type reason_type = {
	"a reason",
	(const struct doc_row[]){
		{"key", DOC_TEXT, false, AT(struct guide_reason, key),
		 .help = "a glob of TOPIC.NAME"},
		{"caller", DOC_TEXT, false, AT(struct guide_reason, caller)},
		{"token", DOC_TEXT, false, AT(struct guide_reason, token),
		 .help = "a glob of the token that does not hold; without it the call was tried"},
		{"errno", DOC_READ, false, AT(struct guide_reason, err), .read = errno_text,
		 .takes = "errno"},
		{"opens", DOC_TRUTH, false, AT(struct guide_reason, is_of_opened),
		 .help = "it opens, but does not work"},
		{"answer", DOC_WORD, false, AT(struct guide_reason, answer), .words = guide_answers,
		 .help = "for a case that did not run"},
		{"because", DOC_TEXT, true, AT(struct guide_reason, because)},
		{"instead", DOC_TEXT, false, AT(struct guide_reason, instead)},
		{"when", DOC_READ, false, AT(struct guide_reason, when), .read = reason_when,
		 .takes = "when",
		 .help = "the machines to which the reason applies; without it, all"},
		{0}},
	.size = sizeof(struct guide_reason)};

const struct doc_type guide_type = {
	"probe.json",
	(const struct doc_row[]){
		{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
		{"about", DOC_ANY, false, .at = DOC_NOWHERE},
		{"topics", DOC_LIST, true, AT(struct guide, topics), .type = &topic_type,
		 .count = offsetof(struct guide, topic_count), .expected = "a list of topics"},
		{"reasons", DOC_LIST, true, AT(struct guide, reasons), .type = &reason_type,
		 .count = offsetof(struct guide, reason_count), .expected = "a list of reasons",
		 .help = "the first that matches a missing capability"},
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

/*
 * Why a capability is not there: what cases/probe.json says of it, or the model of the call that
 * was refused, or else what the case has found.
 */

/* What the model says of a call that was refused; false: nothing. */
static bool ask_model(json_t *json, const struct probe *probe, const struct result *result)
{
	const struct refused *refused = &result->verdict.refused;
	struct caller caller = caller_as(&probe->env->rights, result->instance->who.as);
	struct object_event leader = {.fd = refused->group_fd, .is_unknown = true};
	struct objects objects = {.known_errno = result->verdict.err,
				  .events = &leader,
				  .event_count = refused->group_fd >= 0,
				  .sees_processes = true};
	const struct call call = {.image = (unsigned char *)refused->attr, /* only read */
				  .pid = refused->pid,
				  .cpu = refused->cpu,
				  .group_fd = refused->group_fd,
				  .flags = refused->flags};

	return model_tell_cause(probe->model, &call, &caller, &objects, json);
}

/* A glob that is not there matches anything; one that is, no text that is not. */
static bool glob_fits(const char *glob, const char *text)
{
	return !glob || (text && !fnmatch(glob, text, 0));
}

/* The first reason that is about what came, and holds on this machine; or NULL. */
static const struct guide_reason *reason_of(const struct probe *probe, const struct result *result,
					    const char *key)
{
	const struct who who = {.as = result->instance->who.as};
	const char *err = result->verdict.err ? errno_name(result->verdict.err) : NULL;

	for (size_t i = 0; i < probe->guide->reason_count; i++) {
		const struct guide_reason *reason = &probe->guide->reasons[i];

		if (!reason->token == !result->token && glob_fits(reason->token, result->token) &&
		    (!reason->is_of_opened || (!result->token && !err)) &&
		    glob_fits(reason->key, key) &&
		    glob_fits(reason->caller, identity_names[who.as]) &&
		    glob_fits(reason->err, err) && when_holds(reason->when, &who, probe->env))
			return reason;
	}
	return NULL;
}

static void set_reason(json_t *json, const struct probe *probe, const struct result *result,
		       const struct guide_reason *reason)
{
	const struct verdict *v = &result->verdict;
	const struct deviation *known =
		v->err || result->token
			? NULL
			: baseline_find(probe->baseline, result->instance, probe->env);
	json_t *because = NULL, *instead = NULL, *both;
	char words[900];

	/* How a kernel, or a machine, is known to break it, and the version that mended it. */
	if (known && !(known->of_machine && reason)) {
		deviation_words(known, words, sizeof(words));
		because = json_sprintf("this %s breaks it: %s", deviation_whose(known), words);
		if (known->fixed)
			instead = json_sprintf("a kernel with the fix: %s", known->fixed);
	} else if (reason) {
		because = json_string(reason->because);
		instead = reason->instead ? json_string(reason->instead) : NULL;
	} else if (v->refused.is_there && v->err && ask_model(json, probe, result)) {
		return;
	} else if (result->token) {
		because = json_sprintf("it takes %s: %s", result->token,
				       result->reason ? result->reason : "it is not met");
	} else if (v->err) {
		because = json_sprintf("the kernel says %s to %.400s", errno_name(v->err),
				       v->call[0] ? v->call : "it");
	} else if (v->expected[0] || v->got[0]) {
		because = json_sprintf("the event opens, and what came is not what was looked for: "
				       "expected %.200s, got %.200s",
				       v->expected, v->got);
	} else if (result->reason) {
		because = json_string(result->reason);
	}
	both = json_pack("{s:o*, s:o*}", "because", because, "instead", instead);
	json_object_update(json, both);
	json_decref(both);
}

/* What came of one capability as one caller: a new reference to an object. */
static json_t *answer_json(const struct probe *probe, const struct result *result, const char *key)
{
	const struct guide_reason *reason = reason_of(probe, result, key);
	const struct verdict *v = &result->verdict;
	const char *answer = "unknown";
	json_t *json;

	if (v->outcome == SKIP && result->token) /* what its token says of the machine */
		answer = reason ? guide_answers[reason->answer] : answer;
	else if (v->outcome == PASS)
		answer = v->capability[0] ? v->capability : answer;
	else if (v->outcome == FAIL) /* the kernel does another thing than it says */
		answer = "no";
	json = json_pack("{s:s, s:s*, s:s*}", "answer", answer, "errno",
			 v->err ? errno_name(v->err) : NULL, "token", result->token);
	if (strcmp(answer, "yes") != 0)
		set_reason(json, probe, result, reason);
	return json;
}

/*
 * The answers as one JSON object.
 */

bool probe_wants(char *const wanted[], const char *key)
{
	bool wants = !wanted[0];

	for (size_t i = 0; wanted[i] && !wants; i++)
		wants = id_matches(wanted[i], key);
	return wants;
}

/* Callers whom this runner cannot become were not asked: they are not in the answers. */
static bool was_asked(const struct probe *probe, const struct result *result)
{
	char why[128];

	return identity_available(&probe->env->rights, result->instance->who.as, why, sizeof(why));
}

static json_t *capabilities_json(const struct probe *probe, const char *topic)
{
	json_t *capabilities = json_array(), *last = NULL;
	char key[256];

	for (size_t i = 0; i < probe->count; i++) {
		const struct result *result = &probe->results[i];

		if (strcmp(result->instance->suite + strlen(PROBE_SUITES), topic) ||
		    !was_asked(probe, result))
			continue;
		/* Everything but the caller: "event.cycles.counts" of the suite probe.event. Rows
		 * of a case follow another. */
		snprintf(key, sizeof(key), "%s.%s", topic, result->instance->name);
		if (!last || strcmp(member_text(last, "key"), key) != 0) {
			last = json_pack("{s:s, s:s, s:{}}", "key", key, "title",
					 result->instance->title, "answers");
			json_array_append_new(capabilities, last);
		}
		json_object_set_new(json_object_get(last, "answers"),
				    identity_names[result->instance->who.as],
				    answer_json(probe, result, key));
	}
	return capabilities;
}

static json_t *fact_json(const struct guide_fact *fact, const json_t *environment,
			 const char *topic)
{
	const json_t *value = environment, *name;
	uint64_t bits;
	size_t i;

	json_array_foreach(fact->path, i, name)
		value = json_object_get(value, json_string_value(name));
	bits = ~(uint64_t)json_integer_value(value); /* those that are refused */
	return json_pack("{s:o, s:s, s:o?, s:s*, s:s*}", "key",
			 json_sprintf("%s.%s", topic, fact->key), "title", fact->title, "value",
			 fact->shows && json_is_integer(value)
				 ? json_integer(bits ? __builtin_ctzll(bits) : 64)
				 : json_incref((json_t *)value),
			 "unit", fact->unit, "instead", fact->instead);
}

static json_t *topic_json(const struct probe *probe, const struct guide_topic *topic,
			  const json_t *environment)
{
	json_t *facts = json_array();

	for (size_t i = 0; i < topic->fact_count; i++) {
		json_t *fact = fact_json(&topic->facts[i], environment, topic->name);

		if (probe_wants(probe->wanted, json_string_value(json_object_get(fact, "key"))))
			json_array_append(facts, fact);
		json_decref(fact);
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "topic", topic->name, "title", topic->title,
			 "capabilities", capabilities_json(probe, topic->name), "facts", facts);
}

json_t *probe_json(const struct probe *probe)
{
	json_t *json = head_json(probe->env, probe->host, probe->cases_hash);
	json_t *environment = json_object_get(json, "environment"), *topics = json_array();
	json_t *callers = json_array();
	bool has[IDENTITIES] = {false};

	json_object_set_new(environment, "learned", learned_json(&probe->model->learned));
	for (size_t i = 0; i < probe->guide->topic_count; i++) {
		json_t *one = topic_json(probe, &probe->guide->topics[i], environment);

		if (json_array_size(json_object_get(one, "capabilities")) ||
		    json_array_size(json_object_get(one, "facts")))
			json_array_append(topics, one);
		json_decref(one);
	}
	for (size_t i = 0; i < probe->count; i++)
		if (was_asked(probe, &probe->results[i]))
			has[probe->results[i].instance->who.as] = true;
	for (enum identity as = 0; as < IDENTITIES; as++)
		if (has[as])
			json_array_append_new(callers, json_string(identity_names[as]));
	json_object_set_new(json, "callers", callers);
	json_object_set_new(json, "topics", topics);
	if (probe_wants(probe->wanted, PROBE_PMUS))
		json_object_set_new(json, "pmus", pmus_json(probe));
	return json;
}
