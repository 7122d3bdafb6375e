/* SPDX-License-Identifier: MIT */
/*
 * attr as the kernel reads it: attr.size bytes of it, 64 where that is 0, zeros behind.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/fact.h"
#include "model/predicate.h"
#include "text/json_text.h"

/* Bytes at `attr` that the caller has there. */
static uint64_t readable(const struct evaluation *s)
{
	if (s->call->memory == MEMORY_NULL)
		return 0;
	return s->call->memory == MEMORY_CUT ? s->call->mapped : UINT64_MAX;
}

static bool attr_size_is_readable(struct evaluation *s, uint64_t *value)
{
	*value = readable(s) >= s->machine->size->offset + s->machine->size->size;
	return true;
}

static bool attr_is_readable(struct evaluation *s, uint64_t *value)
{
	*value = readable(s) >= s->size;
	return true;
}

/*
 * The first byte that is not 0 behind the kernel's struct, up to attr.size; 0: there is none. What
 * is there is looked at word by word before the rest is read, so that such a byte counts where it
 * comes before the first that cannot be read (copy_struct_from_user).
 */
static bool tail_byte(struct evaluation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;
	uint64_t end = s->size < readable(s) ? s->size : readable(s);

	for (uint64_t i = env->attr_size; i < end && i < env->abi->attr_size && !*value; i++)
		*value = s->call->image[i] ? i : 0;
	for (size_t i = 0; i < s->call->poke_count; i++) {
		uint64_t at = s->call->pokes[i].offset;

		if (s->call->pokes[i].byte && at >= env->attr_size && at < end &&
		    (!*value || at < *value))
			*value = at;
	}
	return env->attr_size != 0;
}

static bool attr_has_tail(struct evaluation *s, uint64_t *value)
{
	bool known = tail_byte(s, value);

	*value = known && *value;
	return known || s->size <= s->machine->env->abi->attr_smallest;
}

/* All bit fields from disabled on, as one word in the machine's own order. */
static bool attr_bits(struct evaluation *s, uint64_t *value)
{
	*value = field_get(&s->machine->bits, s->attr);
	return true;
}

static bool attr_field(const struct fact *fact, struct evaluation *s, uint64_t *value)
{
	*value = field_get(fact->field, s->attr);
	return true;
}

static const char recorded[] = "it is not recorded of this machine";

/* The call has something where the kernel, by attr.size, does not look. */
static bool attr_has_fields_behind_size(struct evaluation *s, uint64_t *value)
{
	size_t n = s->machine->env->abi->attr_size;

	*value = 0;
	for (size_t i = s->size < n ? (size_t)s->size : n; i < n && !*value; i++)
		*value = s->call->image[i] != 0;
	return true;
}

const void *fact_evaluation(struct evaluation *s)
{
	return s;
}

const struct fact attr_facts[] = {
	{"attr.size_read", "the bytes of attr that the kernel reads, from attr.size", NULL,
	 .of = fact_evaluation, .datum = DATUM(struct evaluation, size, ALWAYS_KNOWN)},
	{"attr.has_fields_behind_size", "1: attr has something behind these bytes", NULL,
	 .get = attr_has_fields_behind_size},
	{"attr.size_is_readable", "1: the word attr.size can be read", NULL,
	 .get = attr_size_is_readable},
	{"attr.is_readable", "1: so can the bytes that it covers", NULL, .get = attr_is_readable},
	{"attr.has_tail", "1: a byte past the end of the kernel's own struct is nonzero", recorded,
	 .get = attr_has_tail},
	{"attr.size", "as it was passed", NULL, .of = fact_evaluation,
	 .datum = DATUM(struct evaluation, size_given, ALWAYS_KNOWN)},
	{"attr.bits", "the bits from disabled on, as one word", NULL, .get = attr_bits,
	 .is_mask = true},
	{.name = NULL}};

/* The first field there, by its place in the ABI's list. */
static bool attr_field_behind_size(struct evaluation *s, uint64_t *value)
{
	const struct abi *abi = s->machine->env->abi;

	for (*value = 0; *value < abi->field_count; ++*value) {
		const struct abi_field *field = &abi->fields[*value];

		if (field->offset >= s->size && attr_get(field, s->call->image, host_order()))
			return true;
	}
	return false;
}

/* "config2 (bp_len, probe_offset)": a field with the other names that its bytes have. */
static const char *all_names(const struct abi *abi, const struct abi_field *field,
			     struct arena *arena)
{
	char text[128];
	size_t at = (size_t)snprintf(text, sizeof(text), "%s", field->name);
	bool any = false;

	for (size_t i = 0; i < abi->field_count && at < sizeof(text); i++) {
		const struct abi_field *other = &abi->fields[i];

		if (other == field || other->offset != field->offset || field->width)
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", any ? ", " : " (",
				       other->name);
		any = true;
	}
	return or_exit(arena_join(arena, text, any && at < sizeof(text) ? ")" : ""));
}

/* The fields' names by their places. */
static const struct abi_family *names_of_fields(const struct abi *abi, struct arena *arena)
{
	struct abi_family *names = or_exit(arena_alloc(arena, sizeof(*names)));
	struct abi_value *values = or_exit(arena_array(arena, abi->field_count, sizeof(*values)));

	for (size_t i = 0; i < abi->field_count; i++)
		values[i] = (struct abi_value){.name = all_names(abi, &abi->fields[i], arena),
					       .value = i};
	*names = (struct abi_family){
		.name = "field", .prefix = "", .values = values, .count = abi->field_count};
	return names;
}

void facts_add_fields(struct facts *facts, const struct abi *abi, struct arena *arena)
{
	struct fact behind = {"attr.field_behind_size",
			      "the first nonzero field that attr.size leaves out", "there is none",
			      .get = attr_field_behind_size, .names = names_of_fields(abi, arena)};

	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		struct fact fact = {.name = or_exit(arena_join(arena, "attr.", field->name)),
				    .about = "the field; 0 past attr.size",
				    .get_by = attr_field,
				    .is_signed = field->is_signed,
				    .is_mask = field->regs || field->of_bits ||
					       (field->set && field->set->mask),
				    .names = field->set,
				    .field = field};

		if (facts_find(facts, fact.name, NULL) < 0)
			facts_add(facts, &fact);
	}
	facts_add(facts, &behind);
}

/*
 * Of fields that are masks, the lowest bit that is set and that this kernel does not know; people
 * read its name, and since when Linux has it.
 */

/* In the order of `index`. */
static const struct {
	const char *of;     /* the field; NULL: flags */
	const char *item;   /* what the kernel knows */
	const char *family; /* that its bits' names are of; NULL: fields of attr are its bits */
} masks[] = {{NULL, "kernel.flags", "open_flags"},
	     {"attr.bits", "kernel.bits", NULL},
	     {"attr.aux_action", "kernel.aux_action", NULL},
	     {"attr.sample_type", "kernel.sample_type", "sample_type"},
	     {"attr.read_format", "kernel.read_format", "read_format"},
	     {"attr.branch_sample_type", "kernel.branch_sample_type", "branch_sample_type"}};

static bool lowest_unknown(const struct fact *fact, struct evaluation *s, uint64_t *value)
{
	const char *of = masks[fact->index].of;
	uint64_t more = s->call->flags, known;

	if (!learned_get(s->machine->learned, masks[fact->index].item, &known))
		return false;
	if (of) {
		struct abi_field field = learned_field(s->machine->env->abi, of);

		more = field_get(&field, s->attr);
	}
	more &= ~known;
	*value = more & (~more + 1);
	return true;
}

/* The field of attr that is this bit of the word. */
static const struct abi_field *field_of_bit(const struct abi *abi, const char *of, uint64_t bit)
{
	const struct abi_field word = learned_field(abi, of);

	for (size_t i = 0; i < abi->field_count; i++)
		if (field_bits(&abi->fields[i], &word) & bit)
			return &abi->fields[i];
	return NULL;
}

static int print_since(const char *prefix, const char *name, const char *since, char *out,
		       size_t size)
{
	int n = sentence_constant(prefix, name, out, size);

	if (n < 0 || (size_t)n >= size)
		return n;
	return n + snprintf(out + n, size - (size_t)n, ", which came with Linux %s", since);
}

static int print_unknown(const struct fact *fact, const struct evaluation *s, uint64_t value,
			 char *out, size_t size)
{
	const struct abi *abi = s->machine->env->abi;
	const struct abi_family *family =
		masks[fact->index].family ? abi_family(abi, masks[fact->index].family) : NULL;
	const struct abi_value *name = family ? abi_value_of(family, value) : NULL;
	const struct abi_field *field =
		family ? NULL : field_of_bit(abi, masks[fact->index].of, value);
	unsigned bit = 0;

	if (name)
		return print_since(family->prefix, name->name, name->since, out, size);
	if (field)
		return print_since("", field->name, field->since, out, size);
	while (bit < 63 && !(value >> bit & 1))
		bit++;
	return snprintf(out, size, "bit %u, which has no meaning up to Linux %s", bit, abi->newest);
}

static int print_tail(const struct fact *fact, const struct evaluation *s, uint64_t value,
		      char *out, size_t size)
{
	const struct abi *abi = s->machine->env->abi;

	(void)fact;
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];

		if (!field->width && !field->reserved && value >= field->offset &&
		    value < field->offset + field->size)
			return print_since("", field->name, field->since, out, size);
	}
	return snprintf(out, size, "byte %llu of attr, behind all fields up to Linux %s",
			(unsigned long long)value, abi->newest);
}

static const char unlearned[] = "which bits that kernel knows is not recorded";

#define UNKNOWN(NAME, PLACE, FAMILY)                                                               \
	{                                                                                          \
		.name = "unknown." NAME,                                                           \
		.about = "the lowest bit there that this kernel does not know, or 0",              \
		.unknown = unlearned, .get_by = lowest_unknown, .print = print_unknown,            \
		.family = (FAMILY), .index = (PLACE), .is_mask = true                              \
	}

const struct fact unknown_facts[] = {
	UNKNOWN("flags", 0, "open_flags"),
	UNKNOWN("bits", 1, NULL),
	UNKNOWN("aux_action", 2, NULL),
	UNKNOWN("sample_type", 3, "sample_type"),
	UNKNOWN("read_format", 4, "read_format"),
	UNKNOWN("branch_sample_type", 5, "branch_sample_type"),
	{"unknown.tail", "the first nonzero byte past the end of the kernel's own struct",
	 unlearned, .get = tail_byte, .print = print_tail},
	{.name = NULL}};
