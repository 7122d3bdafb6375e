/* SPDX-License-Identifier: MIT */
/*
 * Finding the verb of a step. Some words are a verb here and an argument there ("text", "value",
 * "signals"): the verb is the one that knows all the others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "step/step.h"
#include "text/say.h"

/* In the order in which the help has them. */
static const struct verb *const verb_lists[] = {event_verbs,    memory_verbs,  read_verbs,
						signal_verbs,   process_verbs, machine_verbs,
						workload_verbs, NULL};

const char *verb_key(const struct verb *verb)
{
	return verb->key ? verb->key : verb->name;
}

const struct verb *verb_next(const struct verb *verb)
{
	if (verb && verb[1].name)
		return verb + 1;
	for (size_t i = 0; verb_lists[i]; i++) {
		if (!verb && verb_lists[i]->name)
			return verb_lists[i];
		for (const struct verb *v = verb_lists[i]; verb && v->name; v++)
			verb = v == verb ? NULL : verb; /* the first of the next list */
	}
	return NULL;
}

const struct argument *verb_argument(const struct verb *verb, const char *key)
{
	for (const struct argument *a = verb->arguments; a->key; a++)
		if (!strcmp(a->key, key))
			return a;
	return NULL;
}

enum { KEYS = 16 };

/* What a step of that verb can have: its arguments, and what every verb of its kind can have. */
static void keys_of(const struct verb *verb, const char *keys[KEYS])
{
	size_t n = 0;

	for (const struct argument *a = verb->arguments; a->key && n + 4 < KEYS; a++)
		keys[n++] = a->key;
	if (verb->binds)
		keys[n++] = "bind";
	if (verb->kind != PREPARES)
		keys[n++] = "expect";
	keys[n++] = "when";
	keys[n] = NULL;
}

/* Whether the step's own key says that verb, and for what has kinds, which. */
static bool is_named(const struct verb *verb, const json_t *step)
{
	const json_t *value = json_object_get(step, verb_key(verb));
	const char *text = json_string_value(value);

	return value && (!verb->key || (text && !strcmp(text, verb->name)));
}

/* How many of the step's keys it does not know; the first is *unknown. */
static size_t count_unknown(const struct verb *verb, const json_t *step, const char **unknown)
{
	const char *key, *keys[KEYS];
	json_t *value;
	size_t n = 0;

	*unknown = NULL;
	keys_of(verb, keys);
	json_object_foreach((json_t *)step, key, value) {
		if (name_index(key, keys, NULL) >= 0)
			continue;
		*unknown = *unknown ? *unknown : key;
		n++;
	}
	return n;
}

/* Says those that it knows: `"read", size, at, bind, expect, when`. */
static int no_such_key(const struct verb *verb, const char *key, const struct where *w,
		       struct error *e)
{
	struct nearest near = nearest_to(key);
	const char *keys[KEYS];
	char text[200];
	size_t n = (size_t)snprintf(text, sizeof(text), "\"%s\"", verb->name);

	keys_of(verb, keys);
	name_index(key, keys, &near);
	for (size_t i = 1; keys[i] && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %s", keys[i]);
	return error_name(e, w, key, near.best, "%s alone (perfabi help steps)", text);
}

/* Whether verbs of several kinds stand under that key; then it says that none is of that name. */
static bool no_such_kind(const char *key, const json_t *value, const struct where *w,
			 struct error *e)
{
	const char *text = json_string_value(value);
	struct nearest near = nearest_to(text ? text : "");
	bool has_kinds = false;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		if (!v->key || strcmp(v->key, key) != 0)
			continue;
		has_kinds = true;
		nearest_try(&near, v->name);
	}
	if (has_kinds)
		error_name(e, AT_KEY(w, key), text ? text : "", near.best,
			   "a %s (perfabi help steps)", key);
	return has_kinds;
}

/* Says what is wrong with a step that no verb knows all the keys of. */
static void explain(const json_t *step, const struct where *w, struct error *e)
{
	const char *key, *unknown, *keys[KEYS] = {"bind", "expect", "when", NULL};
	const struct verb *best = NULL;
	json_t *value;
	size_t least = SIZE_MAX;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		size_t n = is_named(v, step) ? count_unknown(v, step, &unknown) : SIZE_MAX;

		if (n < least)
			best = v;
		least = n < least ? n : least;
	}
	if (best)
		keys_of(best, keys);
	json_object_foreach((json_t *)step, key, value) {
		struct nearest near = nearest_to(key);

		if (name_index(key, keys, NULL) >= 0 || (!best && no_such_kind(key, value, w, e)))
			continue;
		/* It may be a verb's, misspelt: of one that would know all the others. */
		for (const struct verb *v = verb_next(NULL); v; v = verb_next(v))
			if (!v->key && count_unknown(v, step, &unknown) == 1 &&
			    !strcmp(unknown, key))
				nearest_try(&near, v->name);
		if (near.best || !best)
			error_name(e, AT_KEY(w, key), key, near.best,
				   "a step's verb (perfabi help steps)");
		else
			no_such_key(best, key, AT_KEY(w, key), e);
	}
	error_value(e, w, step, "an object with a step's verb (perfabi help steps)");
}

int step_do(struct step *s)
{
	return s->statement->verb->run(s);
}

const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e)
{
	const char *unknown;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v))
		if (is_named(v, step) && !count_unknown(v, step, &unknown))
			return v;
	if (e)
		explain(step, w, e);
	return NULL;
}

/*
 * Each verb a paragraph, each argument a line; and of the same rows an object schema each.
 */

enum { HELP_COLUMN = 16, ARGUMENT_COLUMN = 28, HELP_WIDTH = 92 };

/* "a, b (what it is)": the members that the verb shows. Returns the length, 0 if there are none. */
static size_t shown_text(const struct member *members, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (const struct member *m = members; m && m->name && n < size; m++)
		n += (size_t)snprintf(text + n, size - n, "%s%s%s%s%s", n ? ", " : "", m->name,
				      m->help ? " (" : "", m->help ? m->help : "",
				      m->help ? ")" : "");
	return n;
}

static void help_verb(FILE *f, const struct verb *verb)
{
	const struct argument *own = verb->arguments;
	char words[200], text[600];

	snprintf(text, sizeof(text), "%s%s%s", verb->help, verb->binds ? " [bind]" : "",
		 verb->kind == PREPARES ? "" : " [expect]");
	fprintf(f, "  %s%-*s ", verb->key ? "  " : "", verb->key ? 11 : 13, verb->name);
	say_wrapped(f, text, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
	if (own->words) {
		argument_words_text(own->words, words, sizeof(words));
		fprintf(f, "%*s", HELP_COLUMN, "");
		say_wrapped(f, words, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
	}
	for (const struct argument *a = own + 1; a->key; a++) { /* "what it is: in, out, pri" */
		words[0] = '\0';
		if (a->words)
			argument_words_text(a->words, words, sizeof(words));
		snprintf(text, sizeof(text), "%s%s%s", a->help ? a->help : "",
			 a->help && words[0] ? ": " : "", words);
		fprintf(f, "%*s%-*s ", HELP_COLUMN, "", ARGUMENT_COLUMN - HELP_COLUMN - 1, a->key);
		say_wrapped(f, text, ARGUMENT_COLUMN, ARGUMENT_COLUMN, HELP_WIDTH);
	}
	if (!shown_text(verb->shows.members, text, sizeof(text)))
		return;
	fprintf(f, "%*s%-*s ", HELP_COLUMN, "", ARGUMENT_COLUMN - HELP_COLUMN - 1, "shows");
	say_wrapped(f, text, ARGUMENT_COLUMN, ARGUMENT_COLUMN, HELP_WIDTH);
}

void steps_help(FILE *f)
{
	const char *key = NULL;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		if (v->key && (!key || strcmp(key, v->key) != 0))
			fprintf(f, "  %-13s something to be counted or recorded:\n", v->key);
		key = v->key;
		help_verb(f, v);
	}
}

static json_t *verb_schema(const struct verb *verb)
{
	json_t *properties = json_object(), *required = json_array(), *names = json_array();
	const struct argument *own = verb->arguments;
	const char *keys[KEYS];
	char shown[400];

	keys_of(verb, keys);
	for (size_t i = 0; keys[i]; i++)
		json_array_append_new(names, json_string(keys[i]));
	for (const struct argument *a = own; a->key; a++) {
		/* Of a verb that is one of several kinds its own argument is its name. */
		json_t *schema = a == own && verb->key  ? json_pack("{s:s}", "const", verb->name)
				 : a->type->make_schema ? a->type->make_schema(a)
							: json_loads(a->type->schema, 0, NULL);

		schema = schema_or_variable(schema);

		if (a->help && a != own)
			json_object_set_new(schema, "description", json_string(a->help));
		json_object_set_new(properties, a->key, schema);
		if (a->is_required || a == own)
			json_array_append_new(required, json_string(a->key));
	}
	if (shown_text(verb->shows.members, shown, sizeof(shown)))
		json_object_set_new(properties, "expect", json_pack("{s:s}", "description", shown));
	return json_pack("{s:o,s:s,s:{s:o},s:o}", "required", required, "description", verb->help,
			 "propertyNames", "enum", names, "properties", properties);
}

int steps_schema(FILE *f)
{
	fputs("{\n"
	      " \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	      " \"$id\": \"step.schema.json\",\n"
	      " \"title\": \"A step: one verb, what it takes, what must come "
	      "(`perfabi help steps`; `make schema`)\",\n"
	      " \"type\": \"object\",\n"
	      " \"properties\": {\n"
	      "  \"bind\": {\"description\": \"a name for what came of the step\", "
	      "\"$ref\": \"names.schema.json#/$defs/name\"},\n"
	      "  \"when\": {\"description\": \"the step is done only if this holds\", "
	      "\"$ref\": \"names.schema.json#/$defs/when\"},\n"
	      "  \"expect\": {\"$ref\": \"names.schema.json#/$defs/outcome_of_step\"}\n"
	      " },\n"
	      " \"oneOf\": [\n",
	      f);
	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		json_t *schema = verb_schema(v);
		char *text = schema ? json_dumps(schema, 0) : NULL;

		json_decref(schema);
		if (!text)
			return -ENOMEM;
		fprintf(f, "  %s%s\n", text, verb_next(v) ? "," : "");
		free(text);
	}
	fputs(" ]\n}\n", f);
	return 0;
}
