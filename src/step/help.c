/* SPDX-License-Identifier: MIT */
/*
 * Each verb a paragraph, each argument a line; and of the same rows an object schema each.
 */
#include "step/help.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "step/types.h"
#include "step/vocabulary.h"
#include "text/say.h"

enum { HELP_COLUMN = 16, ARGUMENT_COLUMN = 28, HELP_WIDTH = 92 };

/* "key" or "key: in, out, pri": what it is, what it can be. */
static void help_argument(FILE *f, const struct argument *a)
{
	char text[400], words[200] = "";

	if (a->words)
		argument_words_text(a->words, words, sizeof(words));
	snprintf(text, sizeof(text), "%s%s%s", a->help ? a->help : "",
		 a->help && words[0] ? ": " : "", words);
	fprintf(f, "%*s%-*s ", HELP_COLUMN, "", ARGUMENT_COLUMN - HELP_COLUMN - 1, a->key);
	say_wrapped(f, text, ARGUMENT_COLUMN, ARGUMENT_COLUMN, HELP_WIDTH);
}

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
	for (const struct argument *a = own + 1; a->key; a++)
		help_argument(f, a);
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

static json_t *keys_of(const struct verb *verb)
{
	json_t *keys = json_array();

	for (const struct argument *a = verb->arguments; a->key; a++)
		json_array_append_new(keys, json_string(a->key));
	if (verb->binds)
		json_array_append_new(keys, json_string("bind"));
	if (verb->kind != PREPARES)
		json_array_append_new(keys, json_string("expect"));
	json_array_append_new(keys, json_string("when"));
	return keys;
}

static json_t *verb_schema(const struct verb *verb)
{
	json_t *properties = json_object(), *required = json_array();
	const struct argument *own = verb->arguments;
	char shown[400];

	for (const struct argument *a = own; a->key; a++) {
		/* Of a verb that is one of several kinds its own argument is its name. */
		json_t *schema = schema_or_variable(
			a == own && verb->key ? json_pack("{s:s}", "const", verb->name)
					      : argument_schema(a));

		if (a->help && a != own)
			json_object_set_new(schema, "description", json_string(a->help));
		json_object_set_new(properties, a->key, schema);
		if (a->is_required || a == own)
			json_array_append_new(required, json_string(a->key));
	}
	if (shown_text(verb->shows.members, shown, sizeof(shown)))
		json_object_set_new(properties, "expect", json_pack("{s:s}", "description", shown));
	return json_pack("{s:o,s:s,s:{s:o},s:o}", "required", required, "description", verb->help,
			 "propertyNames", "enum", keys_of(verb), "properties", properties);
}

static bool put_schema(FILE *f, const struct verb *verb)
{
	json_t *schema = verb_schema(verb);
	char *text = schema ? json_dumps(schema, 0) : NULL;

	if (text)
		fprintf(f, "  %s%s\n", text, verb_next(verb) ? "," : "");
	free(text);
	json_decref(schema);
	return text != NULL;
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
	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v))
		if (!put_schema(f, v))
			return -ENOMEM;
	fputs(" ]\n}\n", f);
	return 0;
}
