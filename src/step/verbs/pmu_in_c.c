/* SPDX-License-Identifier: MIT */
/*
 * The verb that tries a PMU's events, as C.
 */
#include "step/in_c.h"
#include "step/verbs/in_c.h"

void pmu_events_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_member members[] = {
		{.path = "tried", .c = "tried", .kind = C_LIST},
		{.path = "opened", .c = "opened", .kind = C_LIST},
		{.path = "refused", .c = "refused", .kind = C_LIST},
		{.path = "unread", .c = "unread", .kind = C_LIST},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct pmu_events", &shape) : NULL;
	const char *c = name ? c_text(t, "%s", name->c)
			     : c_declare(t, c_text(t, "events_%u", ++t->functions_made),
					 "struct pmu_events", "");

	c_line(t, "%s = try_pmu_events(%s);", c, c_string(t, statement_json(s, "pmu-events")));
	shown_in_c(t, s, c, ".", &shape);
}
