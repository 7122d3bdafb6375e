/* SPDX-License-Identifier: MIT */
/*
 * First what the call answered, then what is shown.
 */
#include "step/judge.h"

#include <string.h>

#include "language/pattern.h"
#include "machine/names.h"

/* An errno with its gates, where they were asked for; or what success is. */
static void describe(const struct step *s, int err, unsigned phases, char *out, size_t size)
{
	if (err && phases)
		phase_describe(&s->tables->phases, err, phases, out, size);
	else
		snprintf(out, size, "%s",
			 err                             ? errno_name(err)
			 : s->statement->verb->has_gates ? "an event"
							 : "success");
}

static bool judge_answer(struct step *s)
{
	const struct alternative *x = s->expected;
	bool is_right = s->err == x->err && (x->phase < 0 || s->phases >> x->phase & 1);
	char expected[160], got[160];

	if (is_right && !s->run->is_call)
		return true;
	describe(s, x->err, x->phase < 0 ? 0 : 1U << x->phase, expected, sizeof(expected));
	describe(s, s->err, s->phases, got, sizeof(got));
	verdict_set(s->verdict, is_right ? PASS : FAIL, expected, got);
	return is_right;
}

/* What an open has left of attr. */
static bool judge_attr(struct step *s)
{
	if (s->expected->attr == ATTR_ANY ||
	    s->attr_is_written == (s->expected->attr == ATTR_WRITTEN))
		return true;
	return verdict_set(s->verdict, FAIL, "attr as it was",
			   s->attr_is_written ? "another attr.size" : "attr as it was");
}

bool step_judge(struct step *s)
{
	const struct alternative *x = s->expected;
	struct verdict why;
	bool good = false;

	if (!s->statement->alternative_count)
		return true;
	if (!x)
		return verdict_set(s->verdict, ERROR, "an alternative of expect that applies here",
				   "none");
	if (judge_answer(s) && judge_attr(s)) {
		if (!x->pattern || pattern_match_json(x->pattern, s->shown, s->scope, &why))
			good = true;
		else
			verdict_set(s->verdict, (enum outcome)why.outcome, why.expected, why.got);
	}
	if (!good || s->run->is_call) {
		s->verdict->err = s->err;
		s->verdict->phases = s->phases;
	}
	return good;
}
