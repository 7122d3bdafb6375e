/* SPDX-License-Identifier: MIT */
/*
 * There is one interpreter of plans, and it writes text: what it wrote is taken from there.
 */
#include "plan/members.h"

#include <stdlib.h>

#include "text/json.h"

json_t *members_of(const struct plan *plan, struct record *r, const unsigned char *bytes,
		   size_t size, enum record_problem *problem)
{
	char *text = malloc(record_longest(plan, size) + PUT_SLACK), *p = text;
	json_t *json;

	if (!text)
		return NULL;
	*p++ = '{';
	*problem = record_put(plan, r, bytes, 0, size, 0, &p);
	p = put_close(p, '}');
	json = r->err ? NULL : json_loadb(text, (size_t)(p - text), 0, NULL);
	free(text);
	return json;
}
