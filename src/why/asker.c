/* SPDX-License-Identifier: MIT */
/*
 * The kernel has the last word; the model says which check it is.
 */
#include "why/asker.h"

/* A check that refuses whatever a PMU says before it is as good as known. */
static void look_behind(struct asker *a, struct finding *f)
{
	const struct check *check = NULL;

	if (a->looks_behind && f->outcome == UNFORESEEN)
		check = model_check_behind(a->model, &a->situation, f->check);
	if (!check)
		return;
	f->outcome = REFUSED;
	f->err = check->result.err;
	f->check = check;
	f->is_foreseen = true;
}

struct finding asker_ask(struct asker *a, const struct call *call)
{
	struct prediction p;
	struct finding f;
	int err;

	a->asked++;
	situation_begin(&a->situation, &a->model->machine, call, &a->caller, &a->world);
	p = model_predict(a->model, &a->situation);
	f = (struct finding){.outcome = p.outcome,
			     .err = p.err,
			     .check = p.check,
			     .unknown = p.unknown,
			     .is_foreseen = p.outcome != UNFORESEEN};
	if (!a->attempts) {
		look_behind(a, &f);
		return f;
	}
	err = attempts_make(a->attempts, call, a->stage->no_files).err;
	f.is_foreseen = p.outcome != UNFORESEEN && p.err == err;
	/* Without /sys the PMUs are not known: then the model is not held to its word. */
	f.differs = p.outcome != UNFORESEEN && p.err != err && a->model->machine.env->pmu_count;
	f.foretold = p.err;
	if (p.outcome == REFUSED && !f.is_foreseen)
		f.check = NULL;
	f.outcome = err ? REFUSED : OPENS;
	f.err = err;
	return f;
}
