/* SPDX-License-Identifier: MIT */
/*
 * attr <-> bytes <-> JSON. One loop over the field table in each direction; no field is named here
 * but type, on which the names of config hang.
 */
#include "abi/attr.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_text.h"
#include "text/source.h"

static void store(unsigned char *p, unsigned size, enum byte_order order, uint64_t value)
{
	for (unsigned i = 0; i < size; i++, value >>= 8)
		p[order == BIG ? size - 1 - i : i] = (unsigned char)value;
}

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
	store(bytes + field->offset, field->size, order, unit);
}

static bool fits_field(const struct abi_field *field, const struct value *value)
{
	unsigned width = width_of(field);

	if (value->negative)
		return !field->width && (width == 64 || (~value->bits >> (width - 1)) == 0);
	return (value->bits & ~mask_of(field)) == 0;
}

/* A generalized cache event: "l1d:read:access", each part by name. -ENOENT: it is not of that form.
 */
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

/* Registers have the names of one architecture, which must be known. */
static int check_arch_known(const struct abi_field *field, const struct abi_arch *arch,
			    const json_t *json, const struct where *w, struct error *e)
{
	const char *name = field->regs && !arch ? name_in(json) : NULL;

	return name ? error_name(e, w, name, NULL,
				 "a number; registers have names where one architecture is known "
				 "(a case requires it, as arch.x86; a recording says its machine)")
		    : 0;
}

static int eval_field(const struct abi *abi, const struct abi_arch *arch,
		      const struct abi_field *field, const json_t *json, uint32_t type,
		      const struct vars *vars, const struct where *w, struct value *out,
		      struct error *e)
{
	const struct abi_family *set = abi_field_set(field, type, arch);
	int err = -ENOENT;

	if (check_arch_known(field, arch, json, w, e))
		return -EINVAL;
	if (set && !strcmp(set->name, "hw_cache_id"))
		err = cache_config(abi, json_string_value(json), w, out, e);
	if (err == -ENOENT)
		err = value_eval(json, set, vars, w, out, e);
	if (!err && out->known && !fits_field(field, out))
		err = error_value(e, w, json, "a value of %u %sbit%s", width_of(field),
				  field->is_signed ? "signed " : "",
				  width_of(field) == 1 ? "" : "s");
	return err;
}

/* Two names of one place, or a field and the whole unit it lies in, cannot both be given. */
static int check_named_once(const struct abi *abi, const json_t *attr,
			    const struct abi_field *field, const struct where *w, struct error *e)
{
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *other = &abi->fields[i];

		if (other == field || other->offset != field->offset ||
		    (other->width && field->width) || !json_object_get(attr, other->name))
			continue;
		return error_name(e, w, field->name, NULL,
				  "one name of a place in attr, not \"%s\" too", other->name);
	}
	return 0;
}

static const struct abi_field *find_field(const struct abi *abi, const char *name,
					  const struct where *w, struct error *e)
{
	const struct abi_field *field = abi_field(abi, name);
	struct nearest near = nearest_to(name);

	if (field)
		return field;
	for (size_t i = 0; i < abi->field_count; i++)
		nearest_try(&near, abi->fields[i].name);
	error_name(e, w, name, near.best, "a field of struct perf_event_attr");
	return NULL;
}

int attr_from_json(const struct abi *abi, const struct abi_arch *arch, const json_t *attr,
		   const struct vars *vars, const struct where *w, unsigned char *bytes,
		   struct error *e)
{
	const struct abi_field *type_field = abi_field(abi, "type");
	const json_t *type_json = json_object_get(attr, "type");
	struct where at_type = where_key(w, "type");
	struct value type = {.bits = attr_get(type_field, bytes, host_order()), .known = true};
	const char *name;
	json_t *json;

	if (!json_is_object(attr))
		return error_value(e, w, attr, "an object of attr fields");
	if (type_json && eval_field(abi, arch, type_field, type_json, 0, vars, &at_type, &type, e))
		return -EINVAL;
	json_object_foreach((json_t *)attr, name, json) {
		struct where at = where_key(w, name);
		const struct abi_field *field = find_field(abi, name, &at, e);
		struct value value;

		if (!field || check_named_once(abi, attr, field, &at, e) ||
		    eval_field(abi, arch, field, json, (uint32_t)type.bits, vars, &at, &value, e))
			return -EINVAL;
		if (value.known)
			attr_set(field, bytes, host_order(), value.bits);
	}
	return 0;
}

static json_t *number_json(const struct abi_field *field, uint64_t value)
{
	char text[24];

	if (field->is_signed)
		return json_integer((json_int_t)value);
	if (value <= INT32_MAX)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	return json_string(text);
}

/* The names of the bits set, and what has no name as one "0x…". */
static json_t *mask_json(const struct abi_family *set, uint64_t value)
{
	json_t *list = json_array();
	int err = !list;
	char rest[24];

	for (size_t i = 0; i < set->count && !err; i++) {
		uint64_t bit = set->values[i].value;

		if (!bit || (bit & (bit - 1)) || !(value & bit))
			continue;
		value &= ~bit;
		err = json_array_append_new(list, json_string(set->values[i].name));
	}
	snprintf(rest, sizeof(rest), "0x%llx", (unsigned long long)value);
	if (!err && value)
		err = json_array_append_new(list, json_string(rest));
	if (!err)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *field_json(const struct abi_field *field, const struct abi_arch *arch, uint32_t type,
			  uint64_t value)
{
	const struct abi_family *set = abi_field_set(field, type, arch);
	const struct abi_value *constant = set ? abi_value_of(set, value) : NULL;

	if (set && set->mask)
		return mask_json(set, value);
	if (constant && strcmp(set->name, "bp_len") && strcmp(set->name, "hw_cache_id"))
		return json_string(constant->name);
	return number_json(field, value);
}

/* Whether the flag is set on which an alias's being the right name hangs. */
static bool flag_is_set(const struct abi *abi, const char *name, const unsigned char *bytes,
			size_t length, enum byte_order order)
{
	const struct abi_field *flag = abi_field(abi, name);

	return flag && flag->offset + flag->size <= length && attr_get(flag, bytes, order);
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

		if (alias->when && !strcmp(alias->alias_of, place) &&
		    flag_is_set(abi, alias->when, bytes, length, order))
			return field == alias;
	}
	return !field->alias_of && !field->of_bits;
}

/* A config of 0 is an event with a name where the type names its configs. */
static bool has_named_zero(const struct abi_field *field, uint32_t type)
{
	return type < sizeof(field->by_type) / sizeof(field->by_type[0]) && field->by_type[type];
}

json_t *attr_to_json(const struct abi *abi, const struct abi_arch *arch, const unsigned char *bytes,
		     size_t length, enum byte_order order)
{
	const struct abi_value *breakpoint = abi_value(abi_family(abi, "type"), "breakpoint", NULL);
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
		if (value || !strcmp(field->name, "type") || has_named_zero(field, type))
			err = json_object_set_new(attr, field->name,
						  field_json(field, arch, type, value));
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

/*
 * Attrs in JSON, in the words of a case -> their bytes.
 */

/* The size of the oldest ABI that has all fields that are not zero: older kernels and perfs take
 * it. */
static unsigned smallest_size(const struct abi *abi, const unsigned char *bytes)
{
	unsigned end = abi->attr_size;
	size_t i = 0;

	while (end && !bytes[end - 1])
		end--;
	while (i + 1 < abi->size_count && abi->sizes[i].size < end)
		i++;
	return abi->sizes[i].size;
}

/* Beside an attr there are its ids, and nothing that could be a misspelt `ids`. */
static int check_attr_or_ids(const json_t *one, const struct where *w, struct error *e)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)one, key, value) {
		struct where at = where_key(w, key);

		if (strcmp(key, "attr") && strcmp(key, "ids"))
			return error_name(e, &at, key, NULL, "attr or ids");
	}
	return 0;
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
		struct where at = where_index(w, i);
		struct value value;
		int err = value_eval(id, NULL, NULL, &at, &value, e);

		if (err)
			return err;
		out->ids[out->count++] = value.bits;
	}
	return 0;
}

static int read_one(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		    const json_t *one, const struct vars *vars, const struct where *w,
		    struct error *e)
{
	const json_t *attr = json_object_get(one, "attr");
	struct where at_attr = where_key(w, "attr"), at_ids = where_key(w, "ids");
	unsigned char *bytes = list->bytes + list->count * abi->attr_size;
	const struct abi_field *size = abi_field(abi, "size");
	int err = attr ? check_attr_or_ids(one, w, e) : 0;

	if (!err)
		err = read_ids(&list->ids[list->count++], json_object_get(one, "ids"), &at_ids, e);
	if (!err)
		err = attr_from_json(abi, arch, attr ? attr : one, vars, attr ? &at_attr : w, bytes,
				     e);
	if (!err && size && !attr_get(size, bytes, host_order()))
		attr_set(size, bytes, host_order(), smallest_size(abi, bytes));
	return err;
}

static int read_all(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		    const json_t *json, const struct vars *vars, const struct where *root,
		    struct error *e)
{
	size_t i, count = json_is_array(json) ? json_array_size(json) : 1;
	const json_t *one;
	int err;

	if (!count)
		return error_value(e, root, json, "an attr");
	list->bytes = calloc(count, abi->attr_size);
	list->ids = calloc(count, sizeof(*list->ids));
	if (!list->bytes || !list->ids)
		return error_no_memory(e, root, "memory for the attrs");
	if (!json_is_array(json))
		return read_one(list, abi, arch, json, vars, root, e);
	json_array_foreach(json, i, one) {
		struct where at = where_index(root, i);

		err = read_one(list, abi, arch, one, vars, &at, e);
		if (err)
			return err;
	}
	return 0;
}

int attr_list_read(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		   const char *text, const char *name, const struct vars *vars, struct error *e)
{
	struct source source = {.name = name, .root = "", .text = text, .length = strlen(text)};
	struct where root = where_root(&source);
	json_t *json = source_parse(&source, e);
	int err;

	*list = (struct attr_list){0};
	if (!json)
		return -EINVAL;
	err = read_all(list, abi, arch, json, vars, &root, e);
	json_decref(json);
	return err;
}

bool attr_list_flag(const struct attr_list *list, const struct abi *abi, const char *field)
{
	const struct abi_field *found = abi_field(abi, field);

	return list->count && found && attr_get(found, list->bytes, host_order());
}

void attr_list_free(struct attr_list *list)
{
	for (size_t i = 0; list->ids && i < list->count; i++)
		free(list->ids[i].ids);
	free(list->ids);
	free(list->bytes);
	*list = (struct attr_list){0};
}
