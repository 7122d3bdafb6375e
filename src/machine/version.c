/* SPDX-License-Identifier: MIT */
/*
 * Number by number, and fixes by the branches that they are in.
 */
#include "machine/version.h"

#include <stdlib.h>
#include <string.h>

const struct abi_mend *abi_mend(const struct abi *abi, const char *name, struct nearest *near)
{
	for (size_t i = 0; i < abi->mend_count; i++) {
		if (!strcmp(abi->mends[i].name, name))
			return &abi->mends[i];
		if (near)
			nearest_try(near, abi->mends[i].name);
	}
	return NULL;
}

bool abi_mend_is_in(const struct abi_mend *mend, const char *version)
{
	for (size_t i = 0; mend->in[i]; i++) {
		const char *in = mend->in[i], *dot = strchr(in, '.');
		/* of 6.12 in 6.12.113; 0: it is mainline's */
		size_t n = dot && (dot = strchr(dot + 1, '.')) ? (size_t)(dot - in) : 0;

		if (abi_version_compare(version, in) >= 0 &&
		    (!n || (!strncmp(version, in, n) && version[n] == '.')))
			return true;
	}
	return false;
}

int abi_version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		char *end_a, *end_b;
		unsigned long x = strtoul(a, &end_a, 10), y = strtoul(b, &end_b, 10);

		if (x != y)
			return x < y ? -1 : 1;
		a = *end_a == '.' ? end_a + 1 : "";
		b = *end_b == '.' ? end_b + 1 : "";
	}
	return 0;
}
