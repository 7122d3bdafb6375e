/* SPDX-License-Identifier: MIT */
/*
 * The answers as one JSON object, which the table and the rows are made from.
 */
#include "probe/probe.h"

#include <string.h>

#include "case/load.h"
#include "report/report.h"

/* Everything but the caller: "event.cycles.counts" of the suite probe.event. */
static void key_of(const struct instance *instance, char *out, size_t size)
{
	snprintf(out, size, "%s.%s", instance->suite + strlen(PROBE_SUITES), instance->name);
}

static const char *topic_of(const struct instance *instance)
{
	return instance->suite + strlen(PROBE_SUITES);
}

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

/* The capability that has that key, which is the last one if any: rows of a case follow another. */
static json_t *capability_in(json_t *capabilities, const struct result *result, const char *key)
{
	size_t n = json_array_size(capabilities);
	json_t *last = n ? json_array_get(capabilities, n - 1) : NULL;

	if (last && !strcmp(json_string_value(json_object_get(last, "key")), key))
		return last;
	last = json_pack("{s:s, s:s, s:{}}", "key", key, "title", result->instance->title,
			 "answers");
	json_array_append_new(capabilities, last);
	return last;
}

static json_t *capabilities_json(const struct probe *probe, const char *topic)
{
	json_t *capabilities = json_array();
	char key[256];

	for (size_t i = 0; i < probe->count; i++) {
		const struct result *result = &probe->results[i];
		json_t *capability;

		if (strcmp(topic_of(result->instance), topic) || !was_asked(probe, result))
			continue;
		key_of(result->instance, key, sizeof(key));
		capability = capability_in(capabilities, result, key);
		json_object_set_new(json_object_get(capability, "answers"),
				    identity_names[result->instance->who.as],
				    answer_json(probe, result, key));
	}
	return capabilities;
}

/* What the environment has at a path of members, or NULL. */
static const json_t *value_at(const json_t *environment, const json_t *path)
{
	const json_t *name;
	size_t i;

	json_array_foreach(path, i, name)
		environment = json_object_get(environment, json_string_value(name));
	return environment;
}

static json_t *first_refused_bit(const json_t *mask)
{
	uint64_t bits = (uint64_t)json_integer_value(mask);

	return json_integer(~bits ? __builtin_ctzll(~bits) : 64);
}

static json_t *fact_json(const struct guide_fact *fact, const json_t *environment,
			 const char *topic)
{
	const json_t *value = value_at(environment, fact->path);
	json_t *json = json_pack("{s:o, s:s}", "key", json_sprintf("%s.%s", topic, fact->key),
				 "title", fact->title);

	if (!value)
		value = json_null();
	if (fact->shows && json_is_integer(value))
		json_object_set_new(json, "value", first_refused_bit(value));
	else
		json_object_set(json, "value", (json_t *)value);
	if (fact->unit)
		json_object_set_new(json, "unit", json_string(fact->unit));
	if (fact->instead)
		json_object_set_new(json, "instead", json_string(fact->instead));
	return json;
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

static json_t *callers_json(const struct probe *probe)
{
	json_t *callers = json_array();
	bool has[IDENTITIES] = {false};

	for (size_t i = 0; i < probe->count; i++)
		if (was_asked(probe, &probe->results[i]))
			has[probe->results[i].instance->who.as] = true;
	for (enum identity as = 0; as < IDENTITIES; as++)
		if (has[as])
			json_array_append_new(callers, json_string(identity_names[as]));
	return callers;
}

json_t *probe_json(const struct probe *probe)
{
	json_t *json = head_json(probe->env, probe->host, probe->cases_hash);
	json_t *environment = json_object_get(json, "environment"), *topics = json_array();

	json_object_set_new(environment, "learned", learned_json(&probe->model->learned));
	for (size_t i = 0; i < probe->guide->topic_count; i++) {
		json_t *one = topic_json(probe, &probe->guide->topics[i], environment);

		if (json_array_size(json_object_get(one, "capabilities")) ||
		    json_array_size(json_object_get(one, "facts")))
			json_array_append(topics, one);
		json_decref(one);
	}
	json_object_set_new(json, "callers", callers_json(probe));
	json_object_set_new(json, "topics", topics);
	if (probe_wants(probe->wanted, PROBE_PMUS))
		json_object_set_new(json, "pmus", pmus_json(probe));
	return json;
}
