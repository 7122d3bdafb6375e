/* SPDX-License-Identifier: MIT */
/*
 * Looking things up in the tables by their names and values.
 */
#include "abi/abi.h"

#include <string.h>

#include "text/ascii.h"

const struct abi_family *abi_family(const struct abi *abi, const char *name)
{
	for (size_t i = 0; i < abi->family_count; i++)
		if (!strcmp(abi->families[i].name, name))
			return &abi->families[i];
	return NULL;
}

const struct abi_field *abi_field(const struct abi *abi, const char *name)
{
	for (size_t i = 0; i < abi->field_count; i++)
		if (!strcmp(abi->fields[i].name, name))
			return &abi->fields[i];
	return NULL;
}

const struct abi_arch *abi_arch(const struct abi *abi, const char *machine)
{
	for (size_t i = 0; i < abi->arch_count; i++)
		if (name_index(machine, abi->archs[i].machines, NULL) >= 0)
			return &abi->archs[i];
	return NULL;
}

/* Equal but for case, and - for _, in their first n bytes. */
static bool same_name(const char *a, const char *b, size_t n)
{
	for (; n && *a && *b; a++, b++, n--) {
		char x = *a == '-' ? '_' : *a, y = *b == '-' ? '_' : *b;

		if (ascii_lower(x) != ascii_lower(y))
			return false;
	}
	return !n || *a == *b;
}

const struct abi_value *abi_value(const struct abi_family *family, const char *name,
				  struct nearest *near)
{
	size_t prefix = strlen(family->prefix);
	const char *bare = same_name(name, family->prefix, prefix) ? name + prefix : name;

	for (size_t i = 0; i < family->count; i++)
		if (same_name(family->values[i].name, bare, SIZE_MAX))
			return &family->values[i];
	for (size_t i = 0; i < family->count && near; i++)
		nearest_try(near, family->values[i].name);
	return NULL;
}

uint64_t abi_number(const struct abi *abi, const char *family, const char *name)
{
	const struct abi_family *values = abi_family(abi, family);
	const struct abi_value *value = values ? abi_value(values, name, NULL) : NULL;

	return value ? value->value : 0;
}

const struct abi_value *abi_value_of(const struct abi_family *family, uint64_t value)
{
	for (size_t i = 0; i < family->count; i++)
		if (family->values[i].value == value)
			return &family->values[i];
	return NULL;
}

bool abi_is_of_record(const struct abi_value *bit, const char *record)
{
	return !bit->records || name_index(record, bit->records, NULL) >= 0;
}

const struct abi_family *abi_regs(const struct abi_arch *arch, bool simd)
{
	return !arch ? NULL : simd && arch->simd.regs.count ? &arch->simd.regs : &arch->regs;
}

const struct abi_family *abi_field_set(const struct abi_field *field, uint32_t type,
				       const struct abi_arch *arch)
{
	if (field->regs)
		return abi_regs(arch, false);
	if (field->set)
		return field->set;
	if (type < sizeof(field->by_type) / sizeof(field->by_type[0]))
		return field->by_type[type];
	return NULL;
}
