/* SPDX-License-Identifier: MIT */
/*
 * The kernel has the last word; the model says which check it is.
 */
#include "why/asker.h"

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
	if (!a->attempts)
		return f;
	err = attempts_make(a->attempts, call, a->stage->no_files).err;
	f.is_foreseen = p.outcome != UNFORESEEN && p.err == err;
	f.differs = p.outcome != UNFORESEEN && p.err != err;
	f.foretold = p.err;
	if (p.outcome == REFUSED && !f.is_foreseen)
		f.check = NULL;
	f.outcome = err ? REFUSED : OPENS;
	f.err = err;
	return f;
}
