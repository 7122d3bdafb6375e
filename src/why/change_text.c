/* SPDX-License-Identifier: MIT */
/*
 * Saying what a change does to a call.
 */
#include <stdio.h>
#include <string.h>

#include "abi/attr.h"
#include "model/bit_word.h"
#include "why/changes.h"

/* More of them than a reader would read. */
enum { BITS_NAMED = 6 };

/* The names that the values of a part have on this machine: registers are the processor's. */
static const struct abi_family *names_of(const struct setting *setting,
					 const struct machine *machine)
{
	const struct abi_field *field = setting->fact->field;

	if (field && field->regs)
		return machine->env->arch ? &machine->env->arch->regs : NULL;
	return setting->fact->names;
}

/* "a, b and c" of the names of these bits; a bit without a name, and a crowd, as a number. */
static void write_bits(char *out, size_t size, const struct abi_family *names, uint64_t bits)
{
	size_t at = 0;

	out[0] = '\0';
	if (__builtin_popcountll(bits) > BITS_NAMED) {
		snprintf(out, size, "%#llx", (unsigned long long)bits);
		return;
	}
	for (unsigned bit = 0; bit < 64 && at + 1 < size; bit++) {
		uint64_t one = UINT64_C(1) << bit;
		const struct abi_value *name = names ? abi_value_of(names, one) : NULL;
		const char *between = !at                                         ? ""
				      : bits & (one - 1 + one) && bits >> bit > 1 ? ", "
										  : " and ";
		char text[96];
		int n;

		if (!(bits & one))
			continue;
		if (name)
			sentence_constant(names->prefix, name->name, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "bit %u", bit);
		n = snprintf(out + at, size - at, "%s%s", between, text);
		at += n > 0 ? (size_t)n : 0;
	}
}

/* A field by its name, an argument by its own: what stands behind the dot. */
static const char *part_name(const struct setting *setting)
{
	if (setting->of == SETS_BITS)
		return "the bits of attr";
	return strchr(setting->fact->name, '.') + 1;
}

/* "clear use_clockid and inherit": the fields of attr that are bits and that differ. */
static int write_attr_bits(const struct machine *machine, uint64_t was, uint64_t now, char *out,
			   size_t size)
{
	const struct abi *abi = machine->env->abi;
	unsigned char before[ATTR_BYTES_MAX] = {0}, after[ATTR_BYTES_MAX] = {0};
	const char *between = "";
	size_t at = (size_t)snprintf(out, size, "clear ");

	attr_set(&machine->bits, before, host_order(), bit_word(was, machine->bits.size));
	attr_set(&machine->bits, after, host_order(), bit_word(now, machine->bits.size));
	for (size_t i = 0; i < abi->field_count && at < size; i++) {
		const struct abi_field *field = &abi->fields[i];

		if (!field->width || field->offset != machine->bits.offset ||
		    attr_get(field, before, host_order()) == attr_get(field, after, host_order()))
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%s", between,
				       field->reserved ? "the reserved bits" : field->name);
		between = " and ";
	}
	return (int)at;
}

static int write_setting(const struct setting *setting, const struct machine *machine, uint64_t was,
			 uint64_t now, char *out, size_t size)
{
	const struct abi_family *names = names_of(setting, machine);
	const struct abi_value *name = names && !names->mask ? abi_value_of(names, now) : NULL;
	const char *part = part_name(setting);
	char bits[256];

	if (name) {
		sentence_constant(names->prefix, name->name, bits, sizeof(bits));
		return snprintf(out, size, "set %s to %s", part, bits);
	}
	if (setting->fact->is_mask && !(now & ~was) && (now || names)) {
		write_bits(bits, sizeof(bits), names, was & ~now);
		return snprintf(out, size, "clear %s in %s", bits, part);
	}
	if (setting->fact->is_mask && !(was & ~now)) {
		write_bits(bits, sizeof(bits), names, now & ~was);
		return snprintf(out, size, "set %s in %s", bits, part);
	}
	if (setting->fact->is_mask && names && now) {
		write_bits(bits, sizeof(bits), names, now);
		return snprintf(out, size, "set %s to %s", part, bits);
	}
	if (setting->fact->is_signed)
		return snprintf(out, size, "set %s to %lld", part, (long long)now);
	return snprintf(out, size,
			setting->fact->is_mask && now ? "set %s to %#llx" : "set %s to %llu", part,
			(unsigned long long)now);
}

void change_write(const struct change *change, const struct model *model, struct situation *s,
		  char *out, size_t size)
{
	const struct call *call = s->call;
	size_t at = 0;

	out[0] = '\0';
	if (change->says.count) {
		sentence_write(&change->says, &model->facts, s, out, size);
		return;
	}
	for (size_t i = 0; i < change->set.count; i++) {
		const struct setting *setting = &change->set.list[i];
		uint64_t was = setting_get(setting, &model->machine, call), now;
		int n;

		if (!setting_value(setting, &model->facts, s, was, &now) || now == was)
			continue;
		if (at && at < size)
			at += (size_t)snprintf(out + at, size - at, " and ");
		if (at >= size)
			return;
		n = setting->of == SETS_BITS
			    ? write_attr_bits(&model->machine, was, now, out + at, size - at)
			    : write_setting(setting, &model->machine, was, now, out + at,
					    size - at);
		at += n > 0 ? (size_t)n : 0;
	}
}
