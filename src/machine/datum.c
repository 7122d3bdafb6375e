/* SPDX-License-Identifier: MIT */
#include "machine/datum.h"

#include <stdio.h>

bool datum_get(const void *object, const struct datum *datum, uint64_t *value)
{
	const void *at = (const char *)object + datum->at;
	int64_t n = 0;

	switch (datum->kind) {
	case NO_MEMBER:
		break;
	case A_BOOL:
		n = *(const bool *)at;
		break;
	case AN_INT:
		n = *(const int *)at;
		break;
	case AN_UNSIGNED:
		n = *(const unsigned *)at;
		break;
	case A_LONG:
		n = *(const long *)at;
		break;
	case AN_UNSIGNED_LONG:
		n = (int64_t) * (const unsigned long *)at;
		break;
	case A_LONG_LONG:
		n = *(const long long *)at;
		break;
	case AN_UNSIGNED_LONG_LONG:
		n = (int64_t) * (const unsigned long long *)at;
		break;
	case TEXT_OF:
		n = *(const char *)at != '\0';
		break;
	}
	*value = (uint64_t)n;
	switch (datum->known) {
	case UNKNOWN_IF_0:
		return n != 0;
	case UNKNOWN_IF_NEGATIVE:
		return n >= 0;
	case UNKNOWN_IF_ABSENT:
		return n != SYSCTL_ABSENT;
	default:
		return true;
	}
}

void datum_set(void *object, const struct datum *datum, uint64_t value)
{
	void *at = (char *)object + datum->at;

	switch (datum->kind) {
	case A_BOOL:
		*(bool *)at = value != 0;
		break;
	case AN_INT:
	case AN_UNSIGNED:
		*(unsigned *)at = (unsigned)value;
		break;
	case A_LONG:
	case AN_UNSIGNED_LONG:
		*(unsigned long *)at = (unsigned long)value;
		break;
	case A_LONG_LONG:
	case AN_UNSIGNED_LONG_LONG:
		*(unsigned long long *)at = value;
		break;
	case NO_MEMBER:
	case TEXT_OF:
		break;
	}
}

void datum_set_text(void *object, const struct datum *datum, const char *text)
{
	snprintf((char *)object + datum->at, datum->size, "%s", text ? text : "");
}

void datum_forget(void *object, const struct datum *datum)
{
	static const int64_t unknown[] = {[ALWAYS_KNOWN] = 0,
					  [UNKNOWN_IF_0] = 0,
					  [UNKNOWN_IF_NEGATIVE] = -1,
					  [UNKNOWN_IF_ABSENT] = SYSCTL_ABSENT};

	datum_set(object, datum, (uint64_t)unknown[datum->known]);
}
