/* SPDX-License-Identifier: MIT */
/*
 * The files of cases/abi -> struct abi. The JSON is kept: every name in the tables points into it.
 */
#include "abi/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int read_family(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	const struct abi *abi = d->context;
	const char *name = json_string_value(json);
	const struct abi_family *family = name ? abi_family(abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");

	if (!name)
		return error_value(d->e, w, json, "the name of a family of constants");
	for (size_t i = 0; !family && i < abi->family_count; i++)
		nearest_try(&near, abi->families[i].name);
	memcpy(at, &family, sizeof(family));
	return family ? 0 : error_name(d->e, w, name, near.best, "a family of constants");
}

static int read_hex(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	const char *text = json_string_value(json);
	bool is_hex = text && text[0] == '0' && text[1] == 'x';
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(is_hex ? text : "", &end, 16);
	if (!is_hex || *end || errno)
		return error_value(d->e, w, json, "a string \"0x...\" of 64 bits");
	memcpy(at, &n, sizeof(n));
	return 0;
}

static int read_hex_or_number(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	uint64_t n = (uint64_t)json_integer_value(json);

	if (!json_is_integer(json))
		return read_hex(d, json, at, w);
	memcpy(at, &n, sizeof(n));
	return 0;
}

/* The bit of that number. */
static int read_bit(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	json_int_t bit = json_integer_value(json);

	if (!json_is_integer(json) || bit < 0 || bit > 63)
		return error_value(d->e, w, json, "an integer from 0 to 63");
	memcpy(at, &(uint64_t){UINT64_C(1) << bit}, sizeof(uint64_t));
	return 0;
}

/* Into two unsigned behind each other, `first` and `width`. */
static int read_bits(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	json_int_t first = json_integer_value(json_array_get(json, 0));
	json_int_t width = json_integer_value(json_array_get(json, 1));

	if (json_array_size(json) != 2 || first < 0 || width < 1 || width > 64 ||
	    first > 64 - width)
		return error_value(d->e, w, json, "[first, width] within the word");
	memcpy(at, (unsigned[]){(unsigned)first, (unsigned)width}, 2 * sizeof(unsigned));
	return 0;
}

/* A word, or {"field": ..., "align": ...}. */
static int read_followed_by(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	static const struct doc_row rows[] = {
		{"field", DOC_STRING, true, AT(struct abi_follow, field)},
		{"align", DOC_NUMBER, false, AT(struct abi_follow, align), .least = 1,
		 .most = 4096},
		{0}};
	static const struct doc_type type = {"what follows a record", rows,
					     .size = sizeof(struct abi_follow)};
	struct abi_follow *follow = at;

	follow->field = json_string_value(json);
	return follow->field ? 0 : doc_read(d, &type, json, follow, w);
}

static int check_constant(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	((struct abi_value *)made)->json = json;
	if (json_object_get(json, "bit") || json_object_get(json, "value") ||
	    json_object_get(json, "bits"))
		return 0;
	return error_value(d->e, AT_KEY(w, "value"), NULL, "a value or a bit");
}

static const struct doc_row value_rows[] = {
	{"name", DOC_STRING, true, AT(struct abi_value, name)},
	{"since", DOC_STRING, false, AT(struct abi_value, since), .takes = "version"},
	{"bit", DOC_READ, false, AT(struct abi_value, value), .read = read_bit, .takes = "bit"},
	{"value", DOC_READ, false, AT(struct abi_value, value), .read = read_hex_or_number,
	 .takes = "hex_or_number"},
	{"records", DOC_STRINGS, false, AT(struct abi_value, records),
	 .expected = "a record's name"},
	{"followed_by", DOC_READ, false, AT(struct abi_value, followed_by),
	 .read = read_followed_by, .takes = "followed_by"},
	{"dir", DOC_ANY, false, .at = DOC_NOWHERE},
	{"arg", DOC_ANY, false, .at = DOC_NOWHERE},
	{"note", DOC_ANY, false, .at = DOC_NOWHERE},
	{"config", DOC_ANY, false, .at = DOC_NOWHERE},
	{"bits", DOC_READ, false, AT(struct abi_value, bits.first), .read = read_bits,
	 .takes = "bit_range"},
	/* read by layout_load.c */
	{"fields", DOC_ANY, false, .at = DOC_NOWHERE, .takes = "#/$defs/fields"},
	{"set", DOC_ANY, false, .at = DOC_NOWHERE},
	{"only", DOC_ANY, false, .at = DOC_NOWHERE},
	{0}};
static const struct doc_type value_type = {
	"a value", value_rows, sizeof(struct abi_value), check_constant,
	.rules = "{\"oneOf\": [{\"required\": [\"bit\"]}, {\"required\": [\"value\"]}, "
		 "{\"required\": [\"bits\"]}]}"};

/* Of what is one of several, each value has one name. */
static int check_family(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct abi_family *family = made;

	family->json = json;
	family->source = w->source;
	family->mask = family->kind == ABI_MASK;
	family->declared = json_object_get(json, "order") != NULL;
	if (family->kind != ABI_ENUM) /* a bit may have several names, a bit field has no value */
		return 0;
	for (size_t i = 0; i < family->count; i++) {
		const struct abi_value *value = &family->values[i],
				       *first = abi_value_of(family, value->value);

		if (first != value)
			return error_name(d->e, AT_INDEX(AT_KEY(w, "values"), i), value->name, NULL,
					  "a value that \"%s\" does not have", first->name);
	}
	return 0;
}

static const char *const family_kinds[] = {"mask", "enum", "layout", NULL};
static const struct doc_row family_rows[] = {
	{"prefix", DOC_STRING, true, AT(struct abi_family, prefix), .expected = "a string"},
	{"kind", DOC_WORD, true, AT(struct abi_family, kind), .words = family_kinds,
	 .expected = "mask, enum or layout"},
	{"shift", DOC_NUMBER, false, AT(struct abi_family, shift), .most = 63},
	{"values", DOC_LIST, true, AT(struct abi_family, values), &value_type,
	 offsetof(struct abi_family, count), .expected = "a list of values"},
	{"suffix", DOC_ANY, false, .at = DOC_NOWHERE},
	{"field", DOC_ANY, false, .at = DOC_NOWHERE},
	{"magic", DOC_ANY, false, .at = DOC_NOWHERE},
	{"note", DOC_ANY, false, .at = DOC_NOWHERE},
	{"order", DOC_ANY, false, .at = DOC_NOWHERE},
	{"omit_zero", DOC_TRUTH, false, AT(struct abi_family, omit_zero)},
	{0}};
static const struct doc_type family_type = {"a family of constants", family_rows,
					    .size = sizeof(struct abi_family),
					    .check = check_family};

/* A field of attr, with the other names of its place; and each of these, which has less to say. */
struct field_in_file {
	struct abi_field field;
	enum { UNIT_U16, UNIT_U32, UNIT_S32, UNIT_U64 } unit;
	const json_t *set, *set_by_type;
	const struct field_in_file *aliases;
	size_t alias_count;
};

static int check_field(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	static const uint8_t sizes[] = {
		[UNIT_U16] = 2, [UNIT_U32] = 4, [UNIT_S32] = 4, [UNIT_U64] = 8};
	struct field_in_file *read = made;
	struct abi_field *field = &read->field;

	field->size = sizes[read->unit];
	field->is_signed = read->unit == UNIT_S32;
	return field->first + field->width <= field->size * 8
		       ? 0
		       : error_value(d->e, AT_KEY(w, "bits"), json_object_get(json, "bits"),
				     "[first, width] within the word");
}

static const struct doc_row alias_rows[] = {
	{"name", DOC_STRING, true, AT(struct field_in_file, field.name)},
	{"since", DOC_STRING, true, AT(struct field_in_file, field.since), .takes = "version"},
	{"when", DOC_STRING, false, AT(struct field_in_file, field.when)},
	{"set", DOC_ANY, false, AT(struct field_in_file, set)},
	{0}};
static const struct doc_type alias_type = {"a name of a field", alias_rows,
					   .size = sizeof(struct field_in_file)};
static const char *const units[] = {"u16", "u32", "s32", "u64", NULL};
static const struct doc_row field_rows[] = {
	{"name", DOC_STRING, true, AT(struct field_in_file, field.name)},
	{"since", DOC_STRING, true, AT(struct field_in_file, field.since), .takes = "version"},
	{"offset", DOC_NUMBER, true, AT(struct field_in_file, field.offset), .most = 4088,
	 .expected = "a number from 0 to 4088"},
	{"type", DOC_WORD, true, AT(struct field_in_file, unit), .words = units,
	 .expected = "u16, u32, s32 or u64"},
	{"bits", DOC_READ, false, AT(struct field_in_file, field.first), .read = read_bits,
	 .takes = "bit_range"},
	{"set", DOC_ANY, false, AT(struct field_in_file, set)},
	{"set_by_type", DOC_ANY, false, AT(struct field_in_file, set_by_type)},
	{"reserved", DOC_TRUTH, false, AT(struct field_in_file, field.reserved)},
	{"of_bits", DOC_TRUTH, false, AT(struct field_in_file, field.of_bits),
	 .help = "a whole word whose bit fields are also fields"},
	{"aliases", DOC_LIST, false, AT(struct field_in_file, aliases), &alias_type,
	 offsetof(struct field_in_file, alias_count)},
	{"note", DOC_ANY, false, .at = DOC_NOWHERE},
	{0}};
static const struct doc_type field_type = {
	"a field of attr", field_rows, .size = sizeof(struct field_in_file), .check = check_field};

/* What the files say: all of them into the tables, and apart from these what must wait. */
struct loading {
	struct abi abi;
	struct abi_family *families; /* of the file that is being read, ... */
	size_t family_count;
	const json_t *layouts;              /* ... as these; read when all tables are there */
	const struct field_in_file *fields; /* of attr; they need all constants */
	size_t field_count;
	const struct source *attr; /* the file that has it */
};

/* Sizes ascend. */
static int check_attr(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct loading *all = made;
	struct abi *abi = &all->abi;
	struct where at = where_key(w, "sizes");

	(void)json;
	for (size_t i = 1; i < abi->size_count; i++)
		if (abi->sizes[i].size <= abi->sizes[i - 1].size)
			return error_name(d->e, AT_INDEX(&at, i), abi->sizes[i].name, NULL,
					  "sizes that ascend");
	if (abi->size_count) {
		abi->attr_smallest = abi->sizes[0].size;
		abi->attr_size = abi->sizes[abi->size_count - 1].size;
	}
	all->attr = w->source;
	return 0;
}

static const struct doc_row size_rows[] = {
	{"name", DOC_STRING, true, AT(struct abi_size, name)},
	{"since", DOC_STRING, true, AT(struct abi_size, since), .takes = "version"},
	{"size", DOC_NUMBER, true, AT(struct abi_size, size), .least = 1, .most = 4096,
	 .expected = "a number from 1 to 4096"},
	{0}};
static const struct doc_type size_type = {"a size of attr", size_rows,
					  .size = sizeof(struct abi_size)};
static const struct doc_row attr_rows[] = {{"sizes", DOC_LIST, true, AT(struct loading, abi.sizes),
					    &size_type, offsetof(struct loading, abi.size_count)},
					   {"fields", DOC_LIST, true, AT(struct loading, fields),
					    &field_type, offsetof(struct loading, field_count)},
					   {0}};
static const struct doc_type attr_type = {"the sizes and fields of attr", attr_rows,
					  .check = check_attr};

static void name_regs(struct abi_family *regs, const char *name, const char *prefix,
		      const char *since)
{
	regs->name = name;
	regs->prefix = prefix;
	regs->mask = true;
	for (size_t i = 0; i < regs->count; i++)
		((struct abi_value *)&regs->values[i])->since = since;
}

/* The registers' `since` is the architecture's. With SIMD registers, some bits are others. */
static int check_arch(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct abi_arch *arch = made;
	struct abi_family *simd = &arch->simd.regs;
	const struct abi_family read = *simd;
	struct abi_value *all = arena_array(d->arena, read.count + arch->regs.count, sizeof(*all));

	(void)json;
	if (!all)
		return error_no_memory(d->e, w, "memory for the ABI tables");
	simd->values = all;
	simd->count = 0;
	for (size_t i = 0; read.count && i < arch->regs.count; i++)
		if (!(arch->regs.values[i].value & arch->extended))
			all[simd->count++] = arch->regs.values[i];
	for (size_t i = 0; i < read.count; i++)
		all[simd->count++] = read.values[i];
	name_regs(&arch->regs, "regs", arch->prefix, arch->since);
	name_regs(simd, "regs", arch->prefix, arch->simd.since);
	name_regs(&arch->simd.vectors, "vectors", "", arch->simd.since);
	name_regs(&arch->simd.pred, "pred", "", arch->simd.since);
	return 0;
}

static const struct doc_row reg_rows[] = {{"name", DOC_STRING, true, AT(struct abi_value, name)},
					  {"bit", DOC_READ, true, AT(struct abi_value, value),
					   .read = read_bit, .takes = "bit",
					   .expected = "a value or a bit"},
					  {0}};
static const struct doc_type reg_type = {"a register", reg_rows, .size = sizeof(struct abi_value)};
static const struct doc_row reserved_rows[] = {{"32", DOC_READ, true, .at = 0, .read = read_hex,
						.takes = "hex", .expected = "a string \"0x...\""},
					       {"64", DOC_READ, true, .at = sizeof(uint64_t),
						.read = read_hex, .takes = "hex",
						.expected = "a string \"0x...\""},
					       {0}};
static const struct doc_type reserved_type = {"the bits that are refused", reserved_rows,
					      .size = 2 * sizeof(uint64_t)};
static const struct doc_row wide_rows[] = {
	{"name", DOC_STRING, true, AT(struct abi_value, name)},
	{"qwords", DOC_READ, true, AT(struct abi_value, value), .read = read_hex_or_number,
	 .takes = "hex_or_number"},
	{"count", DOC_NUMBER, true, AT(struct abi_value, bits.width), .least = 1, .most = 64},
	{0}};
static const struct doc_type wide_type = {"SIMD registers of one width", wide_rows,
					  .size = sizeof(struct abi_value)};
static const struct doc_row simd_rows[] = {
	{"since", DOC_STRING, true, AT(struct abi_simd, since), .takes = "version"},
	{"regs", DOC_LIST, true, AT(struct abi_simd, regs.values), &reg_type,
	 offsetof(struct abi_simd, regs.count), .expected = "a list of values",
	 .help = "the registers in place of those that are `extended`"},
	{"vectors", DOC_LIST, true, AT(struct abi_simd, vectors.values), &wide_type,
	 offsetof(struct abi_simd, vectors.count), .expected = "a list of widths"},
	{"pred", DOC_LIST, true, AT(struct abi_simd, pred.values), &wide_type,
	 offsetof(struct abi_simd, pred.count), .expected = "a list of widths"},
	{0}};
static const struct doc_type simd_type = {"the SIMD registers", simd_rows,
					  .size = sizeof(struct abi_simd)};
static const struct doc_row arch_rows[] = {
	{"prefix", DOC_STRING, true, AT(struct abi_arch, prefix)},
	{"machines", DOC_STRINGS, true, AT(struct abi_arch, machines)},
	{"since", DOC_STRING, true, AT(struct abi_arch, since), .takes = "version"},
	{"reserved", DOC_OBJECT, false, AT(struct abi_arch, reserved), &reserved_type},
	{"extended", DOC_READ, false, AT(struct abi_arch, extended), .read = read_hex,
	 .takes = "hex"},
	{"simd", DOC_OBJECT, false, AT(struct abi_arch, simd), &simd_type},
	{"booted", DOC_STRING, false, AT(struct abi_arch, booted), .takes = "version",
	 .help = "the oldest kernel that ran the cases: what is older is from sources and texts"},
	{"regs", DOC_LIST, true, AT(struct abi_arch, regs.values), &reg_type,
	 offsetof(struct abi_arch, regs.count), .expected = "a list of values"},
	{"note", DOC_ANY, false, .at = DOC_NOWHERE},
	{0}};
static const struct doc_type arch_type = {"an architecture", arch_rows,
					  .size = sizeof(struct abi_arch), .check = check_arch};

static const struct doc_row mend_rows[] = {
	{"what", DOC_TEXT, true, AT(struct abi_mend, what),
	 .help = "what holds since then, in one clause"},
	{"commit", DOC_STRING, false, AT(struct abi_mend, commit),
	 .takes = "{\"type\": \"string\", \"pattern\": \"^[0-9a-f]{12}$\"}"},
	{"in", DOC_STRINGS, true, AT(struct abi_mend, in), .takes = "version",
	 .help = "the first version that has it: of mainline (7.3), and of stable branches "
		 "(6.12.113)"},
	{0}};
static const struct doc_type mend_type = {"a mend (what, commit, in)", mend_rows,
					  .size = sizeof(struct abi_mend)};

static const struct doc_row file_rows[] = {
	{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
	{"about", DOC_ANY, false, .at = DOC_NOWHERE},
	{"newest", DOC_STRING, false, AT(struct loading, abi.newest), .takes = "version"},
	{"constants", DOC_MAP, false, AT(struct loading, families), &family_type,
	 offsetof(struct loading, family_count)},
	{"attr", DOC_OBJECT, false, .at = 0, &attr_type},
	{"regs", DOC_MAP, false, AT(struct loading, abi.archs), &arch_type,
	 offsetof(struct loading, abi.arch_count)},
	{"mends", DOC_MAP, false, AT(struct loading, abi.mends), &mend_type,
	 offsetof(struct loading, abi.mend_count)},
	{"layouts", DOC_ANY, false, AT(struct loading, layouts),
	 .takes = "{\"type\": \"object\", \"additionalProperties\": {\"$ref\": "
		  "\"#/$defs/fields\"}}"},
	{0}};
const struct doc_type abi_file_type = {"a file of the ABI", file_rows, .size = 0};

/* Room for `more` behind the `count` things in the array to which *list points. */
static int room_for(struct doc *d, void *list, size_t count, size_t more, size_t size,
		    const struct where *w)
{
	void *old, *grown = arena_array(d->arena, count + more, size);

	if (!grown)
		return error_no_memory(d->e, w, "memory for the ABI tables");
	memcpy(&old, list, sizeof(old));
	if (count)
		memcpy(grown, old, count * size);
	memcpy(list, &grown, sizeof(grown));
	return 0;
}

static int take_layouts(struct doc *d, const json_t *layouts, const struct where *w)
{
	struct abi *abi = d->context;
	const char *name;
	json_t *fields;

	if (room_for(d, &abi->layouts, abi->layout_count, json_object_size(layouts),
		     sizeof(*abi->layouts), w))
		return -ENOMEM;
	json_object_foreach((json_t *)layouts, name, fields) {
		struct where at = where_key(w, name);

		if (!json_is_array(fields))
			return error_value(d->e, &at, fields, "a list of fields");
		if (abi_layout(abi, name))
			return error_name(d->e, &at, name, NULL, "each layout once");
		abi->layouts[abi->layout_count++] = (struct layout){
			.name = name, .owner = LAYOUT_ALONE, .json = fields, .source = w->source};
	}
	return 0;
}

/* Adds what a file has of the tables that are made of several. */
static int take_file(struct doc *d, const struct loading *all, const struct where *w)
{
	struct abi *abi = d->context;

	if (room_for(d, &abi->families, abi->family_count, all->family_count,
		     sizeof(*abi->families), w))
		return -ENOMEM;
	for (size_t i = 0; i < all->family_count; i++)
		abi->families[abi->family_count++] = all->families[i];
	if (all->attr == w->source && !abi->newest)
		return error_value(d->e, AT_KEY(w, "newest"), NULL, "a string");
	return take_layouts(d, all->layouts, AT_KEY(w, "layouts"));
}

/* A family of constants, or the registers of whatever architecture it is; or one by attr.type. */
static int take_sets(struct doc *d, const struct field_in_file *read, struct abi_field *field,
		     const struct where *w)
{
	const struct abi_family *types = abi_family(d->context, "type");
	const char *type_name, *name = json_string_value(read->set);
	struct where at_by_type = where_key(w, "set_by_type");
	json_t *set;

	if (name && !strcmp(name, "regs"))
		field->regs = true;
	else if (read->set && read_family(d, read->set, &field->set, AT_KEY(w, "set")))
		return -EINVAL;
	json_object_foreach((json_t *)read->set_by_type, type_name, set) {
		const struct abi_value *type = types ? abi_value(types, type_name, NULL) : NULL;
		struct where at_set = where_key(&at_by_type, type_name);

		if (!type || type->value >= sizeof(field->by_type) / sizeof(field->by_type[0]))
			return error_name(d->e, &at_set, type_name, NULL, "a type");
		if (read_family(d, set, &field->by_type[type->value], &at_set))
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

/* Each bit of attr is one field's, but for the aliases of that. */
static int check_own_bits(const struct abi *abi, const struct abi_field *field,
			  const struct where *w, struct error *e)
{
	unsigned first, end, other_first, other_end;

	bit_range(field, &first, &end);
	for (const struct abi_field *other = abi->fields; other < field; other++) {
		/* a word and its bit fields share their place if it says so */
		bool is_word = other->of_bits != field->of_bits && other->offset == field->offset &&
			       other->size == field->size &&
			       (field->of_bits ? other->width : field->width);

		bit_range(other, &other_first, &other_end);
		if (!other->alias_of && end > other_first && other_end > first && !is_word)
			return error_name(e, w, field->name, NULL,
					  "bits of attr that \"%s\" does not have", other->name);
	}
	return 0;
}

/* Fields, and each alias as one of its own behind its field. */
static int take_fields(struct doc *d, const struct loading *all)
{
	struct abi *abi = d->context;
	struct where at_fields = where_key(AT_KEY(AT_ROOT(all->attr), "attr"), "fields");
	size_t count = all->field_count;

	for (size_t i = 0; i < all->field_count; i++)
		count += all->fields[i].alias_count;
	abi->fields = arena_array(&abi->arena, count, sizeof(*abi->fields));
	if (!abi->fields)
		return error_no_memory(d->e, NULL, "memory for the ABI tables");
	for (size_t i = 0; i < all->field_count; i++) {
		const struct field_in_file *read = &all->fields[i];
		struct abi_field *field = &abi->fields[abi->field_count++];
		struct where at = where_index(&at_fields, i),
			     at_aliases = where_key(&at, "aliases");

		*field = read->field;
		if (take_sets(d, read, field, &at) || check_own_bits(abi, field, &at, d->e))
			return -EINVAL;
		for (size_t k = 0; k < read->alias_count; k++) {
			const struct abi_field *alias = &read->aliases[k].field;
			struct abi_field *other = &abi->fields[abi->field_count++];

			*other = *field;
			other->alias_of = field->name;
			other->name = alias->name;
			other->since = alias->since;
			other->when = alias->when;
			if (take_sets(d, &read->aliases[k], other, AT_INDEX(&at_aliases, k)))
				return -EINVAL;
		}
	}
	return 0;
}

/* Each file below abi/. */
static int read_files(struct doc *d, struct loading *all, const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->list[i];
		int err;

		if (strncmp(source->name, "abi/", 4) != 0)
			continue;
		all->family_count = 0;
		all->layouts = NULL;
		err = doc_load(d, &abi_file_type, source, all);
		if (!err)
			err = take_file(d, all, AT_ROOT(source));
		if (err)
			return err;
	}
	return take_fields(d, all);
}

/* What code asks for by name is there, so that it need not look. */
static int check_complete(const struct abi *abi, struct error *e)
{
	static const char *const fields[] = {"type", "size", "config", "sample_type",
					     "read_format"};
	enum { FAMILIES = 8, LAYOUTS = 4 };
	static const char *const names[FAMILIES + LAYOUTS] = {
		"type",        "open_flags", "ioctl",     "record", "misc",        "cpumode",
		"tool_record", "feature",    "sample_id", "sample", "read_format", "mmap_page"};

	for (size_t i = 0; i < FAMILIES + LAYOUTS; i++)
		if (i < FAMILIES ? !abi_family(abi, names[i]) : !abi_layout(abi, names[i]))
			return error_text(e, NULL, "none", "%s called \"%s\" in a file abi/*.json",
					  i < FAMILIES ? "constants" : "a layout", names[i]);
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

	for (size_t i = 0; i < tool->count; i++) {
		const struct abi_value *other = abi_value_of(kernel, tool->values[i].value);

		if (other)
			return error_name(e, AT_VALUE(tool, i), tool->values[i].name, NULL,
					  "a value that the record \"%s\" does not have",
					  other->name);
	}
	return 0;
}

struct abi *abi_load(const struct sources *sources, struct error *e)
{
	struct loading all = {0};
	struct doc d = {.arena = &all.abi.arena, .e = e, .context = &all.abi};
	struct abi *abi = malloc(sizeof(*abi));

	if (!abi)
		error_no_memory(e, NULL, "memory for the ABI tables");
	if (!abi || read_files(&d, &all, sources) || check_complete(&all.abi, e) ||
	    check_record_types(&all.abi, e) || layouts_load(&d)) {
		arena_free(&all.abi.arena);
		free(abi);
		return NULL;
	}
	*abi = all.abi;
	return abi;
}

void abi_free(struct abi *abi)
{
	if (abi)
		arena_free(&abi->arena);
	free(abi);
}
