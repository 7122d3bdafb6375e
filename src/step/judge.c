/* SPDX-License-Identifier: MIT */
/*
 * First what the call answered, then what is shown.
 */
#include "step/judge.h"

#include <string.h>

#include "language/pattern.h"
#include "machine/names.h"

/* What the call gave, with its gate where somebody asked. */
static void describe(const struct step *s, char *out, size_t size)
{
	if (s->err && s->phases)
		describe_refusal(s->err, s->phases, s->tables, out, size);
	else
		snprintf(out, size, "%s", s->err ? errno_name(s->err) : "success");
}

static bool judge_answer(struct step *s)
{
	const struct alternative *x = s->expected;
	bool is_other_gate = x->phase >= 0 && !(s->phases >> x->phase & 1);
	char expected[160], got[160];

	if (s->err == x->err && !is_other_gate)
		return true;
	snprintf(expected, sizeof(expected), "%s%s%s", x->err ? errno_name(x->err) : "success",
		 x->phase >= 0 ? " from " : "",
		 x->phase >= 0 ? s->tables->phases.list[x->phase].name : "");
	describe(s, got, sizeof(got));
	return verdict_set(s->verdict, FAIL, expected, got);
}

bool step_judge(struct step *s)
{
	const struct alternative *x = s->expected;
	struct verdict why;

	if (!s->statement->alternative_count)
		return true;
	if (!x)
		return verdict_set(s->verdict, ERROR, "an alternative of expect that applies here",
				   "none");
	if (judge_answer(s)) {
		if (!x->pattern || pattern_match_json(x->pattern, s->shown, s->scope, &why))
			return true;
		verdict_set(s->verdict, (enum outcome)why.outcome, why.expected, why.got);
	}
	s->verdict->err = s->err;
	s->verdict->phases = s->phases;
	return false;
}
