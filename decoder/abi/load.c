/* SPDX-License-Identifier: MIT */
/*
 * The files of cases/abi -> struct abi. The JSON is kept: every name in the tables points into it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "text/source.h"

/* A string member; with `fallback` NULL it must be there. */
static const char *text_of(const json_t *object, const char *key, const char *fallback,
			   const struct where *w, struct error *e)
{
	const json_t *value = json_object_get(object, key);
	struct where at = where_key(w, key);

	if (!value && fallback)
		return fallback;
	if (!json_is_string(value)) {
		error_value(e, &at, value, "a string");
		return NULL;
	}
	return json_string_value(value);
}

/* An integer member or element from 0 to `max`. */
static uint64_t read_integer(const json_t *value, uint64_t max, const struct where *w,
			     struct error *e)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max) {
		error_value(e, w, value, "an integer from 0 to %llu", (unsigned long long)max);
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

static uint64_t hex_of(const json_t *value, const struct where *w, struct error *e)
{
	const char *text = json_string_value(value);
	unsigned long long n;
	char *end;

	if (!text || text[0] != '0' || text[1] != 'x') {
		error_value(e, w, value, "a string \"0x...\"");
		return 0;
	}
	errno = 0;
	n = strtoull(text, &end, 16);
	if (*end || errno)
		error_value(e, w, value, "a string \"0x...\" of 64 bits");
	return n;
}

/* Of a bit of misc: the records in which it means something, by name. */
static int load_misc_records(struct abi *abi, const json_t *records, struct abi_value *out,
			     const struct where *w, struct error *e)
{
	const char **names;
	const json_t *name;
	size_t i;

	if (!records)
		return 0;
	if (!json_is_array(records))
		return error_value(e, w, records, "a list of records' names");
	names = arena_array(&abi->arena, json_array_size(records) + 1, sizeof(*names));
	if (!names)
		return error_no_memory(e, w, "memory for the ABI tables");
	json_array_foreach(records, i, name) {
		struct where at = where_index(w, i);

		if (!json_is_string(name))
			return error_value(e, &at, name, "a record's name");
		names[i] = json_string_value(name);
	}
	out->records = names;
	return 0;
}

/* A word, or {"field": ..., "align": ...}. */
static void load_followed_by(const json_t *json, struct abi_value *out, const struct where *w,
			     struct error *e)
{
	const json_t *align = json_object_get(json, "align");
	struct where at = where_key(w, "align");

	if (!json)
		return;
	if (json_is_string(json)) {
		out->followed_by = json_string_value(json);
		return;
	}
	out->followed_by = text_of(json, "field", NULL, w, e);
	out->follow_align = align ? read_integer(align, 4096, &at, e) : 1;
}

static int load_value(struct abi *abi, const json_t *json, struct abi_value *out,
		      const char *fallback_since, const struct where *w, struct error *e)
{
	const json_t *bit = json_object_get(json, "bit"), *value = json_object_get(json, "value");
	struct where at_bit = where_key(w, "bit"), at_value = where_key(w, "value");
	struct where at_records = where_key(w, "records"), at_follow = where_key(w, "followed_by");

	out->json = json;
	load_misc_records(abi, json_object_get(json, "records"), out, &at_records, e);
	load_followed_by(json_object_get(json, "followed_by"), out, &at_follow, e);
	out->name = text_of(json, "name", NULL, w, e);
	out->since = text_of(json, "since", fallback_since, w, e);
	if (bit)
		out->value = UINT64_C(1) << (read_integer(bit, 63, &at_bit, e) & 63);
	else if (json_is_integer(value))
		out->value = (uint64_t)json_integer_value(value);
	else if (value)
		out->value = hex_of(value, &at_value, e);
	else if (!json_object_get(json, "bits"))
		error_value(e, &at_value, NULL, "a value or a bit");
	return error_is_set(e) ? -EINVAL : 0;
}

static int load_values(struct abi *abi, const json_t *list, struct abi_family *family,
		       const char *fallback_since, const struct where *w, struct error *e)
{
	struct abi_value *values;
	const json_t *json;
	size_t i;

	if (!json_is_array(list))
		return error_value(e, w, list, "a list of values");
	values = arena_array(&abi->arena, json_array_size(list), sizeof(*values));
	if (!values)
		return error_no_memory(e, w, "memory for the ABI tables");
	family->values = values;
	json_array_foreach(list, i, json) {
		struct where at = where_index(w, i);
		int err = load_value(abi, json, &values[i], fallback_since, &at, e);

		if (err)
			return err;
		family->count++;
	}
	return 0;
}

/* Of what is one of several, each value has one name. */
static int check_values(const struct abi_family *family, const struct where *w, struct error *e)
{
	json_t *names = json_object();
	int err = names ? 0 : error_no_memory(e, w, "memory for the ABI tables");

	for (size_t i = 0; i < family->count && !err; i++) {
		const struct abi_value *value = &family->values[i];
		struct where at = where_index(w, i);
		const char *other;
		char key[24];

		snprintf(key, sizeof(key), "%llx", (unsigned long long)value->value);
		other = json_string_value(json_object_get(names, key));
		if (other)
			err = error_name(e, &at, value->name, NULL,
					 "a value that \"%s\" does not have", other);
		else if (json_object_set_new(names, key, json_string(value->name)))
			err = error_no_memory(e, &at, "memory for the ABI tables");
	}
	json_decref(names);
	return err;
}

static int load_family(struct abi *abi, const char *name, const json_t *json, const struct where *w,
		       struct error *e)
{
	struct where at_values = where_key(w, "values");
	const char *kind = text_of(json, "kind", NULL, w, e);
	struct abi_family *family;
	int err;

	if (!kind)
		return -EINVAL;
	family = &abi->families[abi->family_count++];
	family->name = name;
	family->json = json;
	family->source = w->source;
	family->prefix = text_of(json, "prefix", NULL, w, e);
	family->mask = !strcmp(kind, "mask");
	family->shift = (unsigned)json_integer_value(json_object_get(json, "shift")) & 63;
	err = load_values(abi, json_object_get(json, "values"), family, NULL, &at_values, e);
	/* a bit of a mask may have several names, and bit fields of a word have no value */
	if (!err && !family->mask && strcmp(kind, "layout") != 0)
		err = check_values(family, &at_values, e);
	return err;
}

static int load_families(struct abi *abi, json_t *constants, const struct where *w, struct error *e)
{
	size_t count = abi->family_count + json_object_size(constants);
	struct abi_family *grown;
	const char *name;
	json_t *json;

	grown = arena_array(&abi->arena, count, sizeof(*grown));
	if (!grown)
		return error_no_memory(e, w, "memory for the ABI tables");
	if (abi->family_count)
		memcpy(grown, abi->families, abi->family_count * sizeof(*grown));
	abi->families = grown;
	json_object_foreach(constants, name, json) {
		struct where at = where_key(w, name);
		int err = load_family(abi, name, json, &at, e);

		if (err)
			return err;
	}
	return 0;
}

static int load_storage_unit(const json_t *json, struct abi_field *field, const struct where *w,
			     struct error *e)
{
	static const struct {
		const char *name;
		unsigned size;
		bool is_signed;
	} units[] = {{"u16", 2, false}, {"u32", 4, false}, {"s32", 4, true}, {"u64", 8, false}};
	struct where at_offset = where_key(w, "offset"), at_type = where_key(w, "type");
	const char *type = text_of(json, "type", NULL, w, e);

	field->offset =
		(unsigned)read_integer(json_object_get(json, "offset"), 4088, &at_offset, e);
	for (size_t i = 0; type && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].name, type))
			continue;
		field->size = units[i].size;
		field->is_signed = units[i].is_signed;
	}
	if (type && !field->size)
		error_name(e, &at_type, type, NULL, "u16, u32, s32 or u64");
	return error_is_set(e) ? -EINVAL : 0;
}

static int load_bits(const json_t *bits, struct abi_field *field, const struct where *w,
		     struct error *e)
{
	struct where at = where_key(w, "bits");
	struct where at_first = where_index(&at, 0), at_width = where_index(&at, 1);
	unsigned unit = field->size * 8;

	if (!bits)
		return 0;
	if (json_array_size(bits) != 2)
		return error_value(e, &at, bits, "[first, width]");
	field->first = (unsigned)read_integer(json_array_get(bits, 0), unit - 1, &at_first, e);
	field->width =
		(unsigned)read_integer(json_array_get(bits, 1), unit - field->first, &at_width, e);
	if (!field->width)
		error_value(e, &at_width, json_array_get(bits, 1), "a width of at least 1");
	return error_is_set(e) ? -EINVAL : 0;
}

static int load_field_set(const struct abi *abi, const json_t *json, struct abi_field *field,
			  const struct where *w, struct error *e)
{
	const json_t *set = json_object_get(json, "set");
	const json_t *by_type = json_object_get(json, "set_by_type");
	const struct abi_family *types = abi_family(abi, "type");
	struct where at = where_key(w, "set"), at_by_type = where_key(w, "set_by_type");
	const char *type_name;
	json_t *name;

	if (json_is_string(set) && !strcmp(json_string_value(set), "regs"))
		field->regs = true;
	else if (json_is_string(set))
		field->set = abi_family(abi, json_string_value(set));
	if (set && !field->regs && !field->set)
		return error_value(e, &at, set, "the name of a family of constants");
	json_object_foreach((json_t *)by_type, type_name, name) {
		const struct abi_value *type = types ? abi_value(types, type_name, NULL) : NULL;
		const struct abi_family *family =
			json_is_string(name) ? abi_family(abi, json_string_value(name)) : NULL;

		if (!type || !family ||
		    type->value >= sizeof(field->by_type) / sizeof(field->by_type[0]))
			return error_value(e, &at_by_type, by_type,
					   "types and families of constants");
		field->by_type[type->value] = family;
	}
	return 0;
}

static int load_field(struct abi *abi, const json_t *json, const struct where *w, struct error *e)
{
	struct abi_field *field = &abi->fields[abi->field_count++];
	const struct abi_field first = {.name = text_of(json, "name", NULL, w, e),
					.since = text_of(json, "since", NULL, w, e)};
	struct where at_aliases = where_key(w, "aliases");
	json_t *alias;
	size_t i;

	*field = first;
	field->reserved = json_is_true(json_object_get(json, "reserved"));
	field->of_bits = json_is_true(json_object_get(json, "of_bits"));
	if (error_is_set(e) || load_storage_unit(json, field, w, e) ||
	    load_bits(json_object_get(json, "bits"), field, w, e) ||
	    load_field_set(abi, json, field, w, e))
		return -EINVAL;
	json_array_foreach(json_object_get(json, "aliases"), i, alias) {
		struct abi_field *other = &abi->fields[abi->field_count++];
		struct where at = where_index(&at_aliases, i);

		*other = *field;
		other->alias_of = field->name;
		other->name = text_of(alias, "name", NULL, &at, e);
		other->since = text_of(alias, "since", NULL, &at, e);
		other->when = json_string_value(json_object_get(alias, "when"));
		if (error_is_set(e) || load_field_set(abi, alias, other, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* Bits of the struct, as little endian counts them: from `first` on up to, but not, `end`. */
static void bit_range(const struct abi_field *field, unsigned *first, unsigned *end)
{
	*first = field->offset * 8 + field->first;
	*end = *first + (field->width ? field->width : field->size * 8);
}

/* A word and its bit fields share their place if it says so. */
static bool may_overlap(const struct abi_field *a, const struct abi_field *b)
{
	bool same_word = a->offset == b->offset && a->size == b->size;

	return a->of_bits != b->of_bits && same_word && (a->of_bits ? b->width : a->width);
}

/* Each bit of attr is one field's, but for the aliases of that. */
static int check_own_bits(const struct abi *abi, const struct abi_field *field,
			  const struct where *w, struct error *e)
{
	unsigned first, end, other_first, other_end;

	bit_range(field, &first, &end);
	for (const struct abi_field *other = abi->fields; other < field; other++) {
		bit_range(other, &other_first, &other_end);
		if (other->alias_of || end <= other_first || other_end <= first ||
		    may_overlap(field, other))
			continue;
		return error_name(e, w, field->name, NULL, "bits of attr that \"%s\" does not have",
				  other->name);
	}
	return 0;
}

static int load_fields(struct abi *abi, const json_t *list, const struct where *w, struct error *e)
{
	size_t i, count = json_array_size(list);
	json_t *json;

	json_array_foreach(list, i, json)
		count += json_array_size(json_object_get(json, "aliases"));
	abi->fields = arena_array(&abi->arena, count, sizeof(*abi->fields));
	if (!abi->fields)
		return error_no_memory(e, w, "memory for the ABI tables");
	json_array_foreach(list, i, json) {
		struct where at = where_index(w, i);
		const struct abi_field *field = &abi->fields[abi->field_count];
		int err = load_field(abi, json, &at, e);

		if (!err)
			err = check_own_bits(abi, field, &at, e);
		if (err)
			return err;
	}
	return 0;
}

static int load_sizes(struct abi *abi, const json_t *list, const struct where *w, struct error *e)
{
	json_t *json;
	size_t i;

	abi->sizes = arena_array(&abi->arena, json_array_size(list), sizeof(*abi->sizes));
	if (!abi->sizes)
		return error_no_memory(e, w, "memory for the ABI tables");
	json_array_foreach(list, i, json) {
		struct where at = where_index(w, i);
		struct where at_size = where_key(&at, "size");
		struct abi_size *size = &abi->sizes[abi->size_count++];

		size->name = text_of(json, "name", NULL, &at, e);
		size->since = text_of(json, "since", NULL, &at, e);
		size->size =
			(unsigned)read_integer(json_object_get(json, "size"), 4096, &at_size, e);
		if (size->size <= abi->attr_size)
			error_value(e, &at_size, json_object_get(json, "size"),
				    "sizes that ascend");
		if (!abi->attr_smallest)
			abi->attr_smallest = size->size;
		abi->attr_size = size->size;
		if (error_is_set(e))
			return -EINVAL;
	}
	return 0;
}

static int load_machines(struct abi *abi, const json_t *list, struct abi_arch *arch,
			 const struct where *w, struct error *e)
{
	const char **machines =
		arena_array(&abi->arena, json_array_size(list) + 1, sizeof(*machines));
	json_t *json;
	size_t i;

	if (!machines)
		return error_no_memory(e, w, "memory for the ABI tables");
	json_array_foreach(list, i, json)
		machines[i] = json_string_value(json);
	arch->machines = machines;
	return 0;
}

static int load_arch(struct abi *abi, const char *name, const json_t *json, const struct where *w,
		     struct error *e)
{
	struct where at_regs = where_key(w, "regs"), at_reserved = where_key(w, "reserved");
	struct where at_extended = where_key(w, "extended");
	const json_t *reserved = json_object_get(json, "reserved");
	const json_t *extended = json_object_get(json, "extended");
	struct abi_arch *arch = &abi->archs[abi->arch_count++];
	const char *since = text_of(json, "since", NULL, w, e);

	arch->name = name;
	arch->prefix = text_of(json, "prefix", NULL, w, e);
	arch->regs = (struct abi_family){.name = "regs", .prefix = arch->prefix, .mask = true};
	if (reserved) {
		arch->reserved[0] = hex_of(json_object_get(reserved, "32"), &at_reserved, e);
		arch->reserved[1] = hex_of(json_object_get(reserved, "64"), &at_reserved, e);
	}
	if (extended)
		arch->extended = hex_of(extended, &at_extended, e);
	if (error_is_set(e) || load_machines(abi, json_object_get(json, "machines"), arch, w, e))
		return -EINVAL;
	return load_values(abi, json_object_get(json, "regs"), &arch->regs, since, &at_regs, e);
}

static int load_archs(struct abi *abi, json_t *regs, const struct where *w, struct error *e)
{
	const char *name;
	json_t *json;

	abi->archs = arena_array(&abi->arena, json_object_size(regs), sizeof(*abi->archs));
	if (!abi->archs)
		return error_no_memory(e, w, "memory for the ABI tables");
	json_object_foreach(regs, name, json) {
		struct where at = where_key(w, name);
		int err = load_arch(abi, name, json, &at, e);

		if (err)
			return err;
	}
	return 0;
}

/* Constants come first: the fields of attr name families of them, whatever file they are in. */
static int load_constants(struct abi *abi, json_t *file, const struct where *w, struct error *e)
{
	json_t *constants = json_object_get(file, "constants");
	struct where at = where_key(w, "constants");

	return constants ? load_families(abi, constants, &at, e) : 0;
}

/* The lists of fields, by name; what they say is read when all tables are there. */
static int load_layouts(struct abi *abi, json_t *layouts, const struct where *w, struct error *e)
{
	size_t count = abi->layout_count + json_object_size(layouts);
	struct layout *grown = arena_array(&abi->arena, count, sizeof(*grown));
	const char *name;
	json_t *fields;

	if (!grown)
		return error_no_memory(e, w, "memory for the ABI tables");
	if (abi->layout_count)
		memcpy(grown, abi->layouts, abi->layout_count * sizeof(*grown));
	abi->layouts = grown;
	json_object_foreach(layouts, name, fields) {
		struct where at = where_key(w, name);

		if (!json_is_array(fields))
			return error_value(e, &at, fields, "a list of fields");
		if (abi_layout(abi, name))
			return error_name(e, &at, name, NULL, "each layout once");
		grown[abi->layout_count++] = (struct layout){
			.name = name, .owner = LAYOUT_ALONE, .json = fields, .source = w->source};
	}
	return 0;
}

static int load_other_tables(struct abi *abi, json_t *file, const struct where *w, struct error *e)
{
	const json_t *attr = json_object_get(file, "attr");
	json_t *regs = json_object_get(file, "regs");
	json_t *layouts = json_object_get(file, "layouts");
	struct where at_layouts = where_key(w, "layouts");
	struct where at_attr = where_key(w, "attr"), at_regs = where_key(w, "regs");
	struct where at_fields = where_key(&at_attr, "fields");
	struct where at_sizes = where_key(&at_attr, "sizes");
	int err = 0;

	if (attr) {
		abi->newest = text_of(file, "newest", NULL, w, e);
		err = abi->newest ? 0 : -EINVAL;
		if (!err)
			err = load_sizes(abi, json_object_get(attr, "sizes"), &at_sizes, e);
		if (!err)
			err = load_fields(abi, json_object_get(attr, "fields"), &at_fields, e);
	}
	if (!err && regs)
		err = load_archs(abi, regs, &at_regs, e);
	if (!err && layouts)
		err = load_layouts(abi, layouts, &at_layouts, e);
	return err;
}

static int is_abi(const struct source *source)
{
	return !strncmp(source->name, "abi/", 4);
}

static int parse_files(struct abi *abi, const struct sources *sources, struct error *e)
{
	for (size_t i = 0; i < sources->count; i++) {
		json_t *file;

		if (!is_abi(&sources->list[i]))
			continue;
		file = source_parse(&sources->list[i], e);
		if (!file)
			return -EINVAL;
		if (json_object_set_new(abi->files, sources->list[i].name, file))
			return error_no_memory(e, NULL, "memory for the ABI tables");
	}
	return 0;
}

static int for_each_file(struct abi *abi, const struct sources *sources, struct error *e,
			 int (*load)(struct abi *, json_t *, const struct where *, struct error *))
{
	for (size_t i = 0; i < sources->count; i++) {
		struct where root = where_root(&sources->list[i]);
		int err;

		if (!is_abi(&sources->list[i]))
			continue;
		err = load(abi, json_object_get(abi->files, sources->list[i].name), &root, e);
		if (err)
			return err;
	}
	return 0;
}

/* What code asks for by name is there, so that it need not look. */
static int check_complete(const struct abi *abi, struct error *e)
{
	static const char *const fields[] = {"type", "size", "config", "sample_type",
					     "read_format"};
	static const char *const families[] = {"type", "open_flags", "ioctl",       "record",
					       "misc", "cpumode",    "tool_record", "feature"};
	static const char *const layouts[] = {"sample_id", "sample", "read_format", "mmap_page"};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!abi_family(abi, families[i]))
			return error_text(e, NULL, "none",
					  "constants called \"%s\" in a file abi/*.json",
					  families[i]);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (!abi_layout(abi, layouts[i]))
			return error_text(e, NULL, "none",
					  "a layout called \"%s\" in a file abi/*.json",
					  layouts[i]);
	if (!abi->size_count)
		return error_text(e, NULL, "none", "a file abi/*.json with \"attr\" and its sizes");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!abi_field(abi, fields[i]))
			return error_name(e, NULL, fields[i], NULL, "this field in attr.fields");
	for (size_t i = 0; i < abi->field_count; i++)
		if (abi->fields[i].offset + abi->fields[i].size > abi->attr_size)
			return error_name(e, NULL, abi->fields[i].name, NULL,
					  "fields within the newest size, %u", abi->attr_size);
	return 0;
}

/* A record's type is the kernel's or perf's. */
static int check_record_types(const struct abi *abi, struct error *e)
{
	const struct abi_family *kernel = abi_family(abi, "record"),
				*tool = abi_family(abi, "tool_record");
	struct where root = where_root(tool->source), constants = where_key(&root, "constants");
	struct where family = where_key(&constants, tool->name);
	struct where values = where_key(&family, "values");

	for (size_t i = 0; i < tool->count; i++) {
		const struct abi_value *other = abi_value_of(kernel, tool->values[i].value);
		struct where at = where_index(&values, i);

		if (other)
			return error_name(e, &at, tool->values[i].name, NULL,
					  "a value that the record \"%s\" does not have",
					  other->name);
	}
	return 0;
}

struct abi *abi_load(const struct sources *sources, struct error *e)
{
	struct abi *abi = calloc(1, sizeof(*abi));

	if (abi)
		abi->files = json_object();
	if (!abi || !abi->files) {
		error_no_memory(e, NULL, "memory for the ABI tables");
		free(abi);
		return NULL;
	}
	if (parse_files(abi, sources, e) || for_each_file(abi, sources, e, load_constants) ||
	    for_each_file(abi, sources, e, load_other_tables) || check_complete(abi, e) ||
	    check_record_types(abi, e) || layouts_load(abi, e)) {
		abi_free(abi);
		return NULL;
	}
	return abi;
}

void abi_free(struct abi *abi)
{
	if (!abi)
		return;
	arena_free(&abi->arena);
	json_decref(abi->files);
	free(abi);
}
