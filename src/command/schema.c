/* SPDX-License-Identifier: MIT */
/*
 * JSON Schemas of the files below cases/, made of the rows by which these are read.
 */
#include "command/schema.h"

#include <string.h>

#include "abi/load.h"
#include "call/phase.h"
#include "case/case.h"
#include "case/cases.h"
#include "command/command.h"
#include "model/machine.h"
#include "model/model.h"
#include "probe/probe.h"
#include "run/baseline.h"
#include "step/verb.h"
#include "text/doc.h"
#include "text/json_text.h"
#include "why/knowledge.h"

/* A file below cases/, and the types that it, or another schema, names as #/$defs/NAME. */
static const struct schema_file {
	const char *name, *title;
	const struct doc_type *type;
	struct {
		const char *name;
		const struct doc_type *type;
	} defs[2];
} files[] = {
	{"abi", "perfabi: a file of the ABI", .type = &abi_file_type},
	{"baseline", "perfabi: a baseline", .type = &baseline_type,
	 .defs = {{"deviation", &deviation_type}}},
	{"case", "perfabi: a file of cases", &case_file_type,
	 .defs = {{"case", &case_type}, {"open", &call_type}}},
	{"checks", "perfabi: the kernel's checks", .type = &checks_file_type},
	{"model", "perfabi: facts and terms of the kernel's checks", .type = &model_file_type},
	{"phases", "perfabi: the gates", .type = &phases_type},
	{"probe", "perfabi: how probe shows the results of capability cases", .type = &guide_type},
	{"vehicles", "perfabi: the vehicles", .type = &vehicles_type},
	{"why", "perfabi: the changes, notes and reasons of perfabi why", .type = &knowledge_type}};

static json_t *takes_schema(const char *takes)
{
	bool is_own = takes[0] == '#' || strstr(takes, ".json#");

	return takes[0] == '{' ? json_loads(takes, 0, NULL)
			       : json_pack("{s:s+}", "$ref",
					   is_own ? "" : "names.schema.json#/$defs/", takes);
}

/*
 * As deep as types are nested, which is as deep as they were written.
 * NOLINTBEGIN(misc-no-recursion)
 */
static json_t *type_schema(const struct doc_type *type);

/* Of what a row reads; NULL: its type's row of the same key says it. */
static json_t *value_schema(const struct doc_row *row)
{
	const char *takes = row->takes                ? row->takes
			    : row->kind == DOC_STRING ? "{\"type\": \"string\"}"
						      : "line";
	json_t *one = json_object(), *list;

	/* words that a definition lists are not listed again */
	switch (row->kind == DOC_WORD && row->takes ? DOC_READ : row->kind) {
	case DOC_TEXT:
	case DOC_STRING:
		return takes_schema(takes);
	case DOC_TRUTH:
		return json_pack("{s:s}", "type", "boolean");
	case DOC_NUMBER:
		return json_pack("{s:s,s:I,s:I}", "type", "integer", "minimum",
				 (json_int_t)row->least, "maximum", (json_int_t)row->most);
	case DOC_WORD:
		list = json_array();
		for (const char *const *word = row->words; *word; word++)
			json_array_append_new(list, json_string(*word));
		return json_pack("{s:o}", "enum", list);
	case DOC_OBJECT:
		return type_schema(row->type);
	case DOC_LIST:
		one = json_pack("{s:s,s:I,s:o}", "type", "array", "minItems",
				(json_int_t)row->least, "items", type_schema(row->type));
		if (row->most)
			json_object_set_new(one, "maxItems", json_integer(row->most));
		return one;
	case DOC_STRINGS:
		return json_pack("{s:s,s:o}", "type", "array", "items", takes_schema(takes));
	case DOC_NAMES:
		one = takes_schema(takes);
		return json_pack("{s:[O,{s:s,s:o,s:i,s:b}]}", "anyOf", one, "type", "array",
				 "items", one, "minItems", 1, "uniqueItems", 1);
	case DOC_MAP:
	case DOC_ANY:
	case DOC_READ:
		break;
	}
	if (row->type)
		return json_pack("{s:s,s:o}", "type", "object", "additionalProperties",
				 type_schema(row->type));
	return row->takes ? takes_schema(row->takes) : json_object();
}

static json_t *type_schema(const struct doc_type *type)
{
	json_t *properties = json_object(), *required = json_array(), *schema, *rules;

	for (const struct doc_row *row = type->rows; row->key; row++) {
		bool is_unread = row->kind == DOC_ANY && !row->takes && type->unread;
		const struct doc_row *says = is_unread ? type->unread->rows : row;
		json_t *value;

		while (strcmp(says->key, row->key) != 0)
			says++;
		value = value_schema(says);
		if (says->help)
			json_object_set_new(value, "description", json_string(says->help));
		json_object_set_new(properties, row->key, value);
		if (row->is_required)
			json_array_append_new(required, json_string(row->key));
	}
	schema = json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties,
			   "required", required, "additionalProperties", 0);
	rules = type->rules ? json_loads(type->rules, 0, NULL) : NULL;
	if (rules)
		json_object_update(schema, rules);
	json_decref(rules);
	return schema;
}
/* NOLINTEND(misc-no-recursion) */

static json_t *file_schema(const struct schema_file *file)
{
	json_t *schema = json_pack("{s:s,s:s+,s:s}", "$schema",
				   "https://json-schema.org/draft/2020-12/schema", "$id",
				   file->name, ".schema.json", "title", file->title);
	json_t *defs = json_object(), *kinds = json_array();

	json_object_update(schema, type_schema(file->type));
	for (size_t i = 0; i < 2 && file->defs[i].name; i++)
		json_object_set_new(defs, file->defs[i].name, type_schema(file->defs[i].type));
	/* A list of fields of a layout, each of one of several kinds, has such lists within. */
	if (file->type == &abi_file_type) {
		for (size_t i = 0; abi_field_type(i); i++)
			json_array_append_new(kinds, type_schema(abi_field_type(i)));
		json_object_set_new(defs, "field", json_pack("{s:O}", "anyOf", kinds));
		json_object_set_new(defs, "fields",
				    json_pack("{s:s,s:{s:s}}", "type", "array", "items", "$ref",
					      "#/$defs/field"));
	}
	json_decref(kinds);
	json_object_set_new(schema, "$defs", defs);
	return schema;
}

bool schema_print(const char *topic)
{
	size_t n = strlen(topic), end = strlen("-schema");

	if (!strcmp(topic, "step-schema")) {
		steps_schema(stdout);
		return true;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *name = files[i].name;

		if (n != strlen(name) + end || strncmp(topic, name, n - end) != 0 ||
		    strcmp(topic + n - end, "-schema") != 0)
			continue;
		print_json(file_schema(&files[i]), JSON_INDENT(1));
		return true;
	}
	return false;
}
