/* SPDX-License-Identifier: MIT */
/*
 * struct perf_event_attr as an initializer. What an old header has no name for is laid over it.
 */
#include <string.h>

#include "abi/attr.h"
#include "translate/translate.h"

/* What <linux/perf_event.h> of 5.10 has as a member of its own. */
static bool is_in_header(const struct abi_field *field)
{
	return !field->reserved && !field->of_bits &&
	       abi_version_compare(field->since, "5.10") <= 0;
}

/* "l1d:read:miss", of which each part has names of its own. */
static const char *cache_event_in_c(struct translation *t, const char *text)
{
	static const char *const families[] = {"hw_cache_id", "hw_cache_op", "hw_cache_result"};
	const char *all = "";

	for (size_t i = 0; i < 3 && *text; i++) {
		size_t n = strcspn(text, ":");
		const struct abi_family *set = abi_family(t->tables->abi, families[i]);
		json_t *name = json_stringn(text, n);

		all = c_text(t, "%s%s%s << %u", all, i ? " | " : "",
			     abi_value(set, json_string_value(name), NULL)
				     ? c_capitals(t, set->prefix, json_string_value(name))
				     : "0",
			     set->shift);
		json_decref(name);
		text += n + (text[n] == ':');
	}
	return all;
}

/* Registers have names of the architecture's; their bits are written as numbers. */
static const char *field_value(struct translation *t, const struct abi_field *field,
			       const json_t *attr, const json_t *json)
{
	const char *type = json_string_value(json_object_get(attr, "type"));
	const struct abi_value *of =
		type ? abi_value(abi_family(t->tables->abi, "type"), type, NULL) : NULL;
	const struct abi_family *set = NULL;
	struct vars vars = scope_vars(t->scope);
	struct where nowhere = {0};
	struct error e = {0};
	struct value value;

	if (!field->regs)
		set = abi_field_set(field, of ? (uint32_t)of->value : UINT32_MAX, t->tables->arch);
	else if (t->tables->arch)
		set = &t->tables->arch->regs;
	if (!strcmp(field->name, "config") && json_is_string(json) &&
	    strchr(json_string_value(json), ':') && json_string_value(json)[0] != '$')
		return cache_event_in_c(t, json_string_value(json));
	if (!field->regs)
		return c_number(t, json, set);
	if (value_eval(json, set, &vars, &nowhere, &value, &e)) {
		c_missing(t, "the registers of \"%s\"", field->name);
		return "0";
	}
	return c_text(t, "UINT64_C(%#llx)", (unsigned long long)value.bits);
}

void c_note_attr(struct translation *t, const json_t *attr, bool has_bytes)
{
	const struct abi *abi = t->tables->abi;

	t->has_room = t->has_room || has_bytes || json_object_get(attr, "size");
	t->has_union = t->has_union || t->has_room;
	for (size_t i = 0; i < abi->field_count; i++)
		if (json_object_get(attr, abi->fields[i].name) && !is_in_header(&abi->fields[i]))
			t->has_union = true;
}

void c_attr(struct translation *t, const char *name, const json_t *attr, const json_t *bytes)
{
	const struct abi *abi = t->tables->abi;
	const char *offset, *bits;
	json_t *byte;

	c_line(t,
	       t->has_union ? "union long_attr %s = {.attr = {" : "struct perf_event_attr %s = {",
	       name);
	t->indent++;
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		const json_t *json = json_object_get(attr, field->name);
		const char *value =
			json && is_in_header(field) ? field_value(t, field, attr, json) : NULL;

		if (value) /* an int that is written as a number beyond INT_MAX is a negative one */
			c_line(t, ".%s = %s,", field->name,
			       field->is_signed ? c_cast(t, "int32_t", value) : value);
		else if (!json && !strcmp(field->name, "size"))
			c_line(t, t->has_union ? ".size = ATTR_SIZE," : ".size = sizeof(%s),",
			       name);
	}
	t->indent--;
	c_line(t, t->has_union ? "}};" : "};");
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		const json_t *json = json_object_get(attr, field->name);
		/* Of a bit field, from the least significant bit of its unit. */
		unsigned shift = field->width && host_order() == BIG
					 ? field->size * 8 - field->first - field->width
					 : field->first;

		if (!json || is_in_header(field))
			continue;
		bits = field_value(t, field, attr, json);
		bits = c_text(t,
			      bits[strspn(bits, "0123456789")] ? "(uint64_t)(%s)" : "UINT64_C(%s)",
			      bits);
		if (field->width && shift)
			bits = c_text(t, "%s << %u", bits, shift);
		c_line(t, "put_bits(%s.bytes + %u, %u, %s); /* %s, since Linux %s */", name,
		       field->offset, field->size, bits, field->name, field->since);
	}
	json_object_foreach((json_t *)bytes, offset, byte) {
		json_t *at = json_string(offset);

		c_line(t, "put_byte(%s.bytes, sizeof(%s), %s, %s);", name, name,
		       c_number(t, at, NULL), c_number(t, byte, NULL));
		json_decref(at);
	}
}
