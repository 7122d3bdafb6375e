/* SPDX-License-Identifier: MIT */
/*
 * attr <-> bytes <-> JSON. One loop over the field table in each direction; no field is named here
 * but those on which names hang: type for config's, the one below for registers'.
 */
#include "abi/attr.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_text.h"
#include "text/source.h"

#define SIMD "sample_simd_regs_enabled"

static unsigned width_of(const struct abi_field *field)
{
	return field->width ? field->width : field->size * 8;
}

static uint64_t mask_of(const struct abi_field *field)
{
	return UINT64_MAX >> (64 - width_of(field));
}

static unsigned shift_of(const struct abi_field *field, enum byte_order order)
{
	if (!field->width)
		return 0;
	return order == LITTLE ? field->first : field->size * 8 - field->first - field->width;
}

uint64_t attr_get(const struct abi_field *field, const unsigned char *bytes, enum byte_order order)
{
	uint64_t unit = load_word(bytes + field->offset, field->size, order);
	uint64_t value = unit >> shift_of(field, order) & mask_of(field);

	if (field->is_signed && value >> (width_of(field) - 1))
		value |= ~mask_of(field);
	return value;
}

void attr_set(const struct abi_field *field, unsigned char *bytes, enum byte_order order,
	      uint64_t value)
{
	uint64_t unit = load_word(bytes + field->offset, field->size, order);
	uint64_t mask = mask_of(field) << shift_of(field, order);

	unit = (unit & ~mask) | ((value << shift_of(field, order)) & mask);
	for (unsigned i = 0; i < field->size; i++, unit >>= 8)
		bytes[field->offset + (order == BIG ? field->size - 1 - i : i)] =
			(unsigned char)unit;
}

/* A generalized cache event: "l1d:read:access", each part by name. -ENOENT: it is none. */
static int cache_config(const struct abi *abi, const char *text, const struct where *w,
			struct value *out, struct error *e)
{
	static const char *const families[] = {"hw_cache_id", "hw_cache_op", "hw_cache_result"};
	const char *at = text;

	if (!text || !strchr(text, ':'))
		return -ENOENT;
	*out = (struct value){.known = true};
	for (size_t i = 0; i < 3; i++) {
		const struct abi_family *family = abi_family(abi, families[i]);
		size_t n = strcspn(at, ":");
		struct nearest near;
		const struct abi_value *part;
		char name[32];

		snprintf(name, sizeof(name), "%.*s", n > 31 ? 31 : (int)n, at);
		near = nearest_to(name);
		part = family ? abi_value(family, name, &near) : NULL;
		if (!part || (i < 2 && !at[n]) || (i == 2 && at[n]))
			return error_name(e, w, part ? text : name, near.best,
					  "\"id:op:result\" of a cache event, as l1d:read:access");
		out->bits |= part->value << family->shift;
		at += n + 1;
	}
	return 0;
}

/* Whether it has a name where a number could stand. */
static const char *name_in(const json_t *json)
{
	const char *text = json_string_value(json), *found = NULL;
	json_t *part;
	size_t i;

	if (text)
		return isalpha((unsigned char)text[0]) ? text : NULL;
	json_array_foreach(json, i, part)
		found = found || !json_is_string(part) ? found : name_in(part);
	return found;
}

static int eval_field(const struct abi *abi, const struct abi_arch *arch,
		      const struct abi_field *field, const json_t *json, uint32_t type, bool simd,
		      const struct vars *vars, const struct where *w, struct value *out,
		      struct error *e)
{
	const struct abi_family *set =
		field->regs ? abi_regs(arch, simd) : abi_field_set(field, type, arch);
	const char *name = field->regs && !arch ? name_in(json) : NULL;
	unsigned width = width_of(field);
	int err = -ENOENT;
	bool fits;

	if (name) /* registers have the names of one architecture, which must be known */
		return error_name(
			e, w, name, NULL,
			"a number; registers have names where one architecture is known "
			"(a case requires it, as arch.x86; a recording says its machine)");
	if (set && !strcmp(set->name, "hw_cache_id"))
		err = cache_config(abi, json_string_value(json), w, out, e);
	if (err == -ENOENT)
		err = value_eval(json, set, vars, w, out, e);
	if (err || !out->known)
		return err;
	fits = out->negative ? !field->width && (width == 64 || !(~out->bits >> (width - 1)))
			     : !(out->bits & ~mask_of(field));
	return fits ? 0
		    : error_value(e, w, json, "a value of %u %sbit%s", width,
				  field->is_signed ? "signed " : "", width == 1 ? "" : "s");
}

/* The field of that name. Two names of one place, or a field and its unit, are one too many. */
static const struct abi_field *find_field(const struct abi *abi, const json_t *attr,
					  const char *name, const struct where *w, struct error *e)
{
	const struct abi_field *field = abi_field(abi, name);
	struct nearest near = nearest_to(name);

	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *other = &abi->fields[i];

		if (!field)
			nearest_try(&near, other->name);
		else if (other != field && other->offset == field->offset &&
			 !(other->width && field->width) && json_object_get(attr, other->name)) {
			error_name(e, w, name, NULL, "one name of a place in attr, not \"%s\" too",
				   other->name);
			return NULL;
		}
	}
	if (!field)
		error_name(e, w, name, near.best, "a field of struct perf_event_attr");
	return field;
}

int attr_from_json(const struct abi *abi, const struct abi_arch *arch, const json_t *attr,
		   const struct vars *vars, const struct where *w, unsigned char *bytes,
		   struct error *e)
{
	const struct abi_field *type_field = abi_field(abi, "type");
	const json_t *type_json = json_object_get(attr, "type");
	struct value type = {.bits = attr_get(type_field, bytes, host_order()), .known = true};
	const char *name;
	json_t *json;

	if (!json_is_object(attr))
		return error_value(e, w, attr, "an object of attr fields");
	if (type_json && eval_field(abi, arch, type_field, type_json, 0, false, vars,
				    AT_KEY(w, "type"), &type, e))
		return -EINVAL;
	json_object_foreach((json_t *)attr, name, json) {
		struct where at = where_key(w, name);
		const struct abi_field *field = find_field(abi, attr, name, &at, e);
		struct value value;

		if (!field || eval_field(abi, arch, field, json, (uint32_t)type.bits,
					 json_object_get(attr, SIMD) != NULL, vars, &at, &value, e))
			return -EINVAL;
		if (value.known)
			attr_set(field, bytes, host_order(), value.bits);
	}
	return 0;
}

const struct abi_family *attr_names(const struct abi *abi, const struct abi_field *field,
				    const struct abi_arch *arch, const unsigned char *bytes,
				    size_t length, enum byte_order order)
{
	const struct abi_field *simd = abi_field(abi, SIMD);
	uint32_t type = length >= 4 ? (uint32_t)load_word(bytes, 4, order) : 0;

	if (field->regs)
		return abi_regs(arch, simd && simd->offset + simd->size <= length &&
					      attr_get(simd, bytes, order));
	return abi_field_set(field, type, arch);
}

/* The names of the bits set, and what has no name as one "0x…". */
static json_t *mask_json(const struct abi_family *set, uint64_t value)
{
	json_t *list = json_array();
	int err = !list;

	for (size_t i = 0; i < set->count && !err; i++) {
		uint64_t bit = set->values[i].value;

		if (!bit || (bit & (bit - 1)) || !(value & bit))
			continue;
		value &= ~bit;
		err = json_array_append_new(list, json_string(set->values[i].name));
	}
	if (!err && value)
		err = json_array_append_new(list,
					    json_sprintf("0x%llx", (unsigned long long)value));
	if (!err)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *field_json(const struct abi_field *field, const struct abi_family *set,
			  uint64_t value)
{
	const struct abi_value *constant = set ? abi_value_of(set, value) : NULL;

	if (set && set->mask)
		return mask_json(set, value);
	if (constant && strcmp(set->name, "bp_len") && strcmp(set->name, "hw_cache_id"))
		return json_string(constant->name);
	return field->is_signed || value <= INT32_MAX
		       ? json_integer((json_int_t)value)
		       : json_sprintf("0x%llx", (unsigned long long)value);
}

/*
 * Of the names of one place: an alias where its flag is set (sample_freq with freq), bp_addr and
 * bp_len for a breakpoint, the first for all others.
 */
static bool is_shown(const struct abi *abi, const struct abi_field *field, bool is_breakpoint,
		     const unsigned char *bytes, size_t length, enum byte_order order)
{
	const char *place = field->alias_of ? field->alias_of : field->name;
	bool has_bp_name = !strcmp(place, "config1") || !strcmp(place, "config2");

	if (field->reserved && field->width)
		return true;
	if (is_breakpoint && has_bp_name)
		return !strncmp(field->name, "bp_", 3);
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *alias = &abi->fields[i];
		const struct abi_field *flag = alias->when ? abi_field(abi, alias->when) : NULL;

		if (flag && !strcmp(alias->alias_of, place) &&
		    flag->offset + flag->size <= length && attr_get(flag, bytes, order))
			return field == alias;
	}
	return !field->alias_of && !field->of_bits;
}

json_t *attr_to_json(const struct abi *abi, const struct abi_arch *arch, const unsigned char *bytes,
		     size_t length, enum byte_order order)
{
	const struct abi_value *breakpoint = abi_value(abi_family(abi, "type"), "breakpoint", NULL);
	const size_t types = sizeof(abi->fields->by_type) / sizeof(abi->fields->by_type[0]);
	json_t *attr = json_object(), *tail = json_object();
	uint32_t type = length >= 4 ? (uint32_t)load_word(bytes, 4, order) : 0;
	int err = !attr || !tail;

	for (size_t i = 0; i < abi->field_count && !err; i++) {
		const struct abi_field *field = &abi->fields[i];
		uint64_t value;

		if (field->offset + field->size > length ||
		    !is_shown(abi, field, breakpoint && type == breakpoint->value, bytes, length,
			      order))
			continue;
		value = attr_get(field, bytes, order);
		/* a config of 0 is an event with a name where the type names its configs */
		if (value || !strcmp(field->name, "type") || (type < types && field->by_type[type]))
			err = json_object_set_new(
				attr, field->name,
				field_json(field,
					   attr_names(abi, field, arch, bytes, length, order),
					   value));
	}
	for (size_t i = abi->attr_size; i < length && !err; i++) {
		char offset[24];

		snprintf(offset, sizeof(offset), "%zu", i);
		if (bytes[i])
			err = json_object_set_new(tail, offset, json_integer(bytes[i]));
	}
	if (!err && json_object_size(tail))
		err = json_object_set(attr, "bytes", tail);
	json_decref(tail);
	if (!err)
		return attr;
	json_decref(attr);
	return NULL;
}

char *attr_to_text(const struct abi *abi, const struct abi_arch *arch, const unsigned char *bytes,
		   size_t length, enum byte_order order)
{
	json_t *json = attr_to_json(abi, arch, bytes, length, order);
	char *text = json ? json_text(json, JSON_COMPACT) : NULL;

	json_decref(json);
	return text;
}

static int read_ids(struct attr_ids *out, const json_t *ids, const struct where *w, struct error *e)
{
	const json_t *id;
	size_t i;

	if (ids && !json_is_array(ids))
		return error_value(e, w, ids, "a list of ids");
	if (!json_array_size(ids))
		return 0;
	out->ids = calloc(json_array_size(ids), sizeof(*out->ids));
	if (!out->ids)
		return error_no_memory(e, w, "memory for the ids of an attr");
	json_array_foreach(ids, i, id) {
		struct value value;
		int err = value_eval(id, NULL, NULL, AT_INDEX(w, i), &value, e);

		if (err)
			return err;
		out->ids[out->count++] = value.bits;
	}
	return 0;
}

/* An attr, perhaps beside its ids. */
static int read_one(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		    const json_t *one, const struct vars *vars, const struct where *w,
		    struct error *e)
{
	const json_t *attr = json_object_get(one, "attr");
	unsigned char *bytes = list->bytes + list->count * abi->attr_size;
	const struct abi_field *size = abi_field(abi, "size");
	unsigned end = abi->attr_size;
	const char *key;
	json_t *value;
	size_t i = 0;
	int err;

	json_object_foreach((json_t *)one, key, value) {
		if (attr && strcmp(key, "attr") && strcmp(key, "ids"))
			return error_name(e, AT_KEY(w, key), key, NULL, "attr or ids");
	}
	err = read_ids(&list->ids[list->count++], json_object_get(one, "ids"), AT_KEY(w, "ids"), e);
	if (!err)
		err = attr_from_json(abi, arch, attr ? attr : one, vars,
				     attr ? AT_KEY(w, "attr") : w, bytes, e);
	if (err || !size || attr_get(size, bytes, host_order()))
		return err;
	/* of the oldest ABI that has all fields that are not zero: older perfs take it */
	while (end && !bytes[end - 1])
		end--;
	while (i + 1 < abi->size_count && abi->sizes[i].size < end)
		i++;
	attr_set(size, bytes, host_order(), abi->sizes[i].size);
	return 0;
}

int attr_list_read(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		   const char *text, const char *name, const struct vars *vars, struct error *e)
{
	struct source source = {.name = name, .root = "", .text = text, .length = strlen(text)};
	struct where root = where_root(&source);
	json_t *json = source_parse(&source, e);
	size_t count = json_is_array(json) ? json_array_size(json) : 1;
	int err = 0;

	*list = (struct attr_list){0};
	if (!json)
		return -EINVAL;
	list->bytes = calloc(count ? count : 1, abi->attr_size);
	list->ids = calloc(count ? count : 1, sizeof(*list->ids));
	if (!count)
		err = error_value(e, &root, json, "an attr");
	else if (!list->bytes || !list->ids)
		err = error_no_memory(e, &root, "memory for the attrs");
	for (size_t i = 0; !err && i < count; i++) {
		const json_t *one = json_is_array(json) ? json_array_get(json, i) : json;

		err = read_one(list, abi, arch, one, vars, one == json ? &root : AT_INDEX(&root, i),
			       e);
	}
	json_decref(json);
	return err;
}

void attr_list_free(struct attr_list *list)
{
	for (size_t i = 0; list->ids && i < list->count; i++)
		free(list->ids[i].ids);
	free(list->ids);
	free(list->bytes);
	*list = (struct attr_list){0};
}
