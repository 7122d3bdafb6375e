/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary as a list, found by name.
 */
#include <errno.h>
#include <string.h>

#include "abi/attr.h"
#include "machine/names.h"
#include "model/fact.h"

int facts_add(struct facts *facts, const struct fact *fact)
{
	if (facts->count == FACTS_MAX)
		return -ENOSPC;
	facts->list[facts->count++] = *fact;
	return 0;
}

int facts_add_list(struct facts *facts, const struct fact *list)
{
	int err = 0;

	for (; list->name && !err; list++)
		err = facts_add(facts, list);
	return err;
}

int facts_find(const struct facts *facts, const char *name, struct nearest *near)
{
	for (size_t i = 0; i < facts->count; i++) {
		if (!strcmp(facts->list[i].name, name))
			return (int)i;
		if (near)
			nearest_try(near, facts->list[i].name);
	}
	return -1;
}

int fact_print_errno(const struct fact *fact, const struct situation *s, uint64_t value, char *out,
		     size_t size)
{
	(void)fact;
	(void)s;
	return snprintf(out, size, "%s", errno_name((int)value));
}

void facts_help(const struct facts *facts, FILE *f)
{
	for (size_t i = 0; i < facts->count; i++)
		fprintf(f, "  %-32s %s\n", facts->list[i].name, facts->list[i].about);
}

uint64_t fact_member(const struct fact *fact, const void *object)
{
	const char *at = (const char *)object + fact->index;

	switch (fact->kind) {
	case A_BOOL:
		return *(const bool *)at;
	case AN_INT:
		return (uint64_t)(int64_t) * (const int *)at;
	case AN_INT32:
		return (uint64_t)(int64_t) * (const int32_t *)at;
	case AN_INT64:
		return (uint64_t) * (const int64_t *)at;
	case A_UINT64:
		return *(const uint64_t *)at;
	case NO_MEMBER:
		break;
	}
	return 0;
}
