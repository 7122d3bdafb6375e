/* SPDX-License-Identifier: MIT */
/*
 * Loading is strict: a key that nothing reads is an error, and so is a value of another kind.
 */
#include "probe/guide.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "language/keys.h"
#include "machine/names.h"

enum key_use { TEXT, TEXTS, TRUTH, CHOICE, OBJECT };

static const char *const answers[] = {"no", "denied", "unknown", NULL};
static const char *const shows[] = {"first-refused-bit", NULL};

/* A member that an object can have. */
struct key {
	const char *name;
	enum key_use use;
	bool is_required;
	const char *const *choice;
};

static const struct key fact_keys[] = {
	{"key", TEXT, true, NULL},       {"title", TEXT, true, NULL},
	{"at", TEXTS, true, NULL},       {"unit", TEXT, false, NULL},
	{"shows", CHOICE, false, shows}, {"instead", TEXT, false, NULL},
	{NULL, TEXT, false, NULL}};
static const struct key reason_keys[] = {
	{"key", TEXT, false, NULL},    {"caller", TEXT, false, NULL},
	{"token", TEXT, false, NULL},  {"errno", TEXT, false, NULL},
	{"opens", TRUTH, false, NULL}, {"answer", CHOICE, false, answers},
	{"because", TEXT, true, NULL}, {"instead", TEXT, false, NULL},
	{"when", OBJECT, false, NULL}, {NULL, TEXT, false, NULL}};

static bool is_of_use(const json_t *value, const struct key *key)
{
	const json_t *one;
	size_t i;

	switch (key->use) {
	case TRUTH:
		return json_is_true(value);
	case OBJECT:
		return json_is_object(value);
	case TEXT:
		return json_is_string(value) && json_string_length(value);
	case CHOICE:
		return json_is_string(value) &&
		       name_index(json_string_value(value), key->choice, NULL) >= 0;
	default:
		json_array_foreach(value, i, one)
			if (!json_is_string(one))
				return false;
		return json_array_size(value) > 0;
	}
}

static int check_object(const json_t *json, const struct key *keys, const struct where *w,
			struct error *e)
{
	static const char *const expected[] = {"a text", "a list of texts", "true",
					       "one of its values", "an object"};
	const char *names[16] = {NULL};

	for (size_t i = 0; keys[i].name; i++)
		names[i] = keys[i].name;
	if (keys_check(json, names, "a member of the list", w, e))
		return -EINVAL;
	for (; keys->name; keys++) {
		const json_t *value = json_object_get(json, keys->name);
		struct where at = where_key(w, keys->name);

		if (value ? !is_of_use(value, keys) : keys->is_required)
			return error_value(e, &at, value, "%s", expected[keys->use]);
	}
	return 0;
}

static int check_list(const json_t *list, const struct key *keys, const struct where *w,
		      struct error *e)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(list))
		return error_value(e, w, list, "a list");
	json_array_foreach(list, i, one) {
		struct where at = where_index(w, i);

		if (check_object(one, keys, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int check_topics(const json_t *topics, const struct where *w, struct error *e)
{
	static const char *const names[] = {"topic", "title", "facts", NULL};
	const json_t *topic;
	size_t i;

	if (!json_is_array(topics))
		return error_value(e, w, topics, "a list of topics");
	json_array_foreach(topics, i, topic) {
		const json_t *facts = json_object_get(topic, "facts");
		struct where at = where_index(w, i), at_facts = where_key(&at, "facts");

		if (keys_check(topic, names, "a topic", &at, e))
			return -EINVAL;
		if (!json_string_value(json_object_get(topic, "topic")) ||
		    !json_string_value(json_object_get(topic, "title")))
			return error_value(e, &at, topic, "a topic and its title");
		if (facts && check_list(facts, fact_keys, &at_facts, e))
			return -EINVAL;
	}
	return 0;
}

static int check_reasons(const json_t *reasons, const struct when_names *names,
			 const struct where *w, struct error *e)
{
	const json_t *reason;
	size_t i;

	if (check_list(reasons, reason_keys, w, e))
		return -EINVAL;
	json_array_foreach(reasons, i, reason) {
		const char *err = json_string_value(json_object_get(reason, "errno"));
		struct where at = where_index(w, i), at_errno = where_key(&at, "errno");
		struct where at_when = where_key(&at, "when");
		struct nearest near = nearest_to(err ? err : "");

		if (err && !errno_by_name(err, &near))
			return error_name(e, &at_errno, err, near.best, "the name of an errno");
		if (when_check(json_object_get(reason, "when"), names, &at_when, e))
			return -EINVAL;
	}
	return 0;
}

int guide_load(struct guide *guide, const struct source *source, const struct when_names *names,
	       struct error *e)
{
	static const char *const keys[] = {"$schema", "about", "topics", "reasons", NULL};
	struct where root = where_root(source), at_topics, at_reasons;

	*guide = (struct guide){.json = source_parse(source, e)};
	if (!guide->json)
		return -EINVAL;
	guide->topics = json_object_get(guide->json, "topics");
	guide->reasons = json_object_get(guide->json, "reasons");
	at_topics = where_key(&root, "topics");
	at_reasons = where_key(&root, "reasons");
	return keys_check(guide->json, keys, "probe.json", &root, e) ||
			       check_topics(guide->topics, &at_topics, e) ||
			       check_reasons(guide->reasons, names, &at_reasons, e)
		       ? -EINVAL
		       : 0;
}

void guide_free(struct guide *guide)
{
	json_decref(guide->json);
}

/* Whether a reason's glob of that key, if it has one, matches. */
static bool glob_fits(const json_t *reason, const char *key, const char *text)
{
	const char *glob = json_string_value(json_object_get(reason, key));

	return !glob || (text && !fnmatch(glob, text, 0));
}

const json_t *guide_reason(const struct guide *guide, const struct absence_of *what,
			   struct environment *env)
{
	const struct who who = {.as = (enum identity)identity_by_name(what->caller)};
	const json_t *reason;
	size_t i;

	json_array_foreach(guide->reasons, i, reason) {
		bool is_of_token = json_object_get(reason, "token") != NULL;
		bool is_of_opened = json_is_true(json_object_get(reason, "opens"));

		if (is_of_token == (what->token != NULL) &&
		    glob_fits(reason, "token", what->token) &&
		    (!is_of_opened || (!what->token && !what->err)) &&
		    glob_fits(reason, "key", what->key) &&
		    glob_fits(reason, "caller", what->caller) &&
		    glob_fits(reason, "errno", what->err ? errno_name(what->err) : NULL) &&
		    when_holds(json_object_get(reason, "when"), &who, env))
			return reason;
	}
	return NULL;
}
