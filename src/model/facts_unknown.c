/* SPDX-License-Identifier: MIT */
/*
 * Of fields that are masks, the lowest bit that is set and that this kernel does not know; people
 * read its name, and since when Linux has it.
 */
#include "model/bit_word.h"
#include "model/sentence.h"

/* In the order of `index`. */
static const struct {
	const char *of;     /* the field; NULL: flags */
	const char *lesson; /* what the kernel knows */
	const char *family; /* that its bits' names are of; NULL: fields of attr are its bits */
} masks[] = {{NULL, "kernel.flags", "open_flags"},
	     {"attr.bits", "kernel.bits", NULL},
	     {"attr.aux_action", "kernel.aux_action", NULL},
	     {"attr.sample_type", "kernel.sample_type", "sample_type"},
	     {"attr.read_format", "kernel.read_format", "read_format"},
	     {"attr.branch_sample_type", "kernel.branch_sample_type", "branch_sample_type"}};

static uint64_t value_of_mask(const struct situation *s, size_t i)
{
	struct abi_field field;

	if (!masks[i].of)
		return s->call->flags;
	field = lesson_field(s->machine->env->abi, masks[i].of);
	return field.of_bits ? bit_word(attr_get(&field, s->attr, host_order()), field.size)
			     : attr_get(&field, s->attr, host_order());
}

static bool lowest_unknown(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct lesson *lesson = learned_find(s->machine->learned, masks[fact->index].lesson);
	uint64_t more;

	if (!lesson || !lesson->is_known)
		return false;
	more = value_of_mask(s, fact->index) & ~lesson->value;
	*value = more & (~more + 1);
	return true;
}

/* The field of attr that is this bit of the word. */
static const struct abi_field *field_of_bit(const struct abi *abi, const char *of, uint64_t bit)
{
	const struct abi_field word = lesson_field(abi, of);

	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		struct abi_field moved = *field;
		unsigned char bytes[8] = {0};

		if (!field->width || field->reserved || field->offset != word.offset)
			continue;
		moved.offset = 0;
		attr_set(&moved, bytes, host_order(), UINT64_MAX);
		if (bit_word(load_word(bytes, word.size, host_order()), word.size) & bit)
			return field;
	}
	return NULL;
}

/* The first byte behind the kernel's own struct that is not 0; 0: there is none. */
static bool tail_byte(struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;
	uint64_t end = s->size < env->abi->attr_size ? s->size : env->abi->attr_size;

	for (uint64_t i = end; env->attr_size && i > env->attr_size; i--)
		*value = s->call->image[i - 1] ? i - 1 : *value;
	for (size_t i = 0; i < s->call->poke_count; i++) {
		uint64_t at = s->call->pokes[i].offset;

		if (s->call->pokes[i].byte && at >= env->attr_size && at < s->size &&
		    (!*value || at < *value))
			*value = at;
	}
	return env->attr_size != 0;
}

static int print_since(const char *prefix, const char *name, const char *since, char *out,
		       size_t size)
{
	int n = sentence_constant(prefix, name, out, size);

	if (n < 0 || (size_t)n >= size)
		return n;
	return n + snprintf(out + n, size - (size_t)n, ", which came with Linux %s", since);
}

static int print_unknown(const struct fact *fact, const struct situation *s, uint64_t value,
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

static int print_tail(const struct fact *fact, const struct situation *s, uint64_t value, char *out,
		      size_t size)
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
	{.name = "unknown.tail",
	 .about = "the first byte that is set behind the kernel's own struct",
	 .unknown = unlearned,
	 .get = tail_byte,
	 .print = print_tail},
	{.name = NULL}};
