/* SPDX-License-Identifier: MIT */
/*
 * Breadth first: all sets of one change, then all of two. From there on only such sets grow as have
 * brought the call past the check that refused it.
 */
#include "why/search.h"

#include <errno.h>
#include <stdlib.h>

#include "machine/clock.h"
#include "text/json_text.h"

/*
 * The kernel has the last word; the model says which check it is.
 */

struct finding judge_call(struct judge *judge, const struct call *call)
{
	const struct check *behind = NULL;
	struct prediction p;
	struct answer answer;
	struct finding f;
	int err;

	judge->asked++;
	judge_begin(judge, call);
	p = model_predict(judge->model, &judge->evaluation);
	f = (struct finding){.outcome = p.outcome,
			     .err = p.err,
			     .check = p.check,
			     .unknown = p.unknown,
			     .is_foreseen = p.outcome != UNFORESEEN};
	/* A check that refuses whatever a PMU says before it is as good as known. */
	if (!judge->is_tried && judge->looks_behind && p.outcome == UNFORESEEN)
		behind = model_check_behind(judge->model, &judge->evaluation, p.check);
	if (behind)
		f = (struct finding){.outcome = REFUSED,
				     .err = behind->result.err,
				     .check = behind,
				     .unknown = p.unknown,
				     .is_foreseen = true};
	err = judge->is_tried ? call_try(call, judge->setup->no_files, judge->model->machine.env,
					 &judge->memory, &answer)
			      : -EOPNOTSUPP;
	if (err < 0)
		return f;
	f.is_foreseen = p.outcome != UNFORESEEN && p.err == err;
	/* Without /sys the PMUs are not known: then the model is not held to its word. */
	f.differs = p.outcome != UNFORESEEN && p.err != err && judge->model->machine.env->pmu_count;
	f.predicted = p.err;
	if (p.outcome == REFUSED && !f.is_foreseen)
		f.check = NULL;
	f.outcome = err ? REFUSED : OPENS;
	f.err = err;
	return f;
}

/* So many calls, for so long: one tracepoint alone can take the kernel 0.2 seconds. */
enum { ASKED_MOST = 40000, SETS_MOST = 4096 };
static const double seconds_most = 2;

/* The sets of one size that did not open. */
struct sets {
	struct remedy *list;
	size_t count;
};

struct search {
	struct judge *judge;
	const struct changes *changes;
	const struct call *call;
	const struct finding *refused;
	struct remedies *found;
	struct call changed; /* its image is its own */
	double until;
};

/* Makes one change more. Whether it changes anything. */
static bool change_once(struct judge *judge, const struct change *change, struct call *call)
{
	judge_begin(judge, call);
	return change_make(change, judge->model, &judge->evaluation, call);
}

void remedy_make(const struct remedy *remedy, struct judge *judge, const struct changes *changes,
		 const struct call *call, struct call *changed)
{
	call_assign(changed, call, judge->model->abi);
	call_fold(changed, judge->model->abi);
	for (size_t i = 0; i < remedy->count; i++)
		change_once(judge, &changes->list[remedy->changes[i]], changed);
}

/* Whether the call got further than the one that was asked about. */
static bool has_gone_on(const struct search *s, const struct finding *f)
{
	if (f->check && s->refused->check)
		return f->check > s->refused->check;
	return f->err != s->refused->err || f->check != s->refused->check;
}

static bool is_over(struct search *s)
{
	if (s->judge->asked < ASKED_MOST && clock_seconds() < s->until)
		return false;
	s->found->is_cut = true;
	return true;
}

static bool has_change(const struct remedy *set, size_t change)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->changes[i] == change)
			return true;
	return false;
}

/* Whether one of the list has no change that this set does not have. */
static bool has_part_of(const struct remedy *list, size_t count, const struct remedy *set)
{
	for (size_t i = 0; i < count; i++) {
		size_t same = 0;

		while (same < list[i].count && has_change(set, list[i].changes[same]))
			same++;
		if (same == list[i].count)
			return true;
	}
	return false;
}

/* Tries all sets that have one change more than this one: each is a remedy, or may grow. Pairs are
 * made in the order of the changes; from then on each change comes behind those that have brought
 * the call to where it helps. */
static void grow_set(struct search *s, const struct remedy *first, struct sets *next)
{
	size_t from = first->count == 1 ? first->changes[0] + 1 : 0;

	for (size_t j = from; j < s->changes->count && !is_over(s); j++) {
		const struct change *change = &s->changes->list[j];
		struct remedy set = *first;
		struct finding f;

		if (has_change(first, j))
			continue;
		set.changes[set.count++] = j;
		set.is_fallback = first->is_fallback || change->is_fallback;
		if (has_part_of(s->found->list, s->found->count, &set) ||
		    (set.count >= 3 && has_part_of(next->list, next->count, &set)))
			continue;
		remedy_make(first, s->judge, s->changes, s->call, &s->changed);
		if (!change_once(s->judge, change, &s->changed))
			continue;
		f = judge_call(s->judge, &s->changed);
		if (f.outcome != REFUSED && s->found->count < REMEDIES) {
			set.unsure = f;
			set.is_unsure = f.outcome == UNFORESEEN;
			s->found->list[s->found->count++] = set;
		} else if (f.outcome == REFUSED && next->count < SETS_MOST &&
			   (set.count == 1 || has_gone_on(s, &f))) {
			next->list[next->count++] = set;
		}
	}
}

void search_remedies(struct judge *judge, const struct changes *changes, const struct call *call,
		     const struct finding *refused, struct remedies *found)
{
	struct sets sets = {.count = 1}, next = {0};
	struct search s = {.judge = judge,
			   .changes = changes,
			   .call = call,
			   .refused = refused,
			   .found = found,
			   .until = clock_seconds() + seconds_most};
	bool is_enough = false;

	*found = (struct remedies){0};
	sets.list = or_exit(calloc(SETS_MOST, sizeof(*sets.list)));
	next.list = or_exit(calloc(SETS_MOST, sizeof(*next.list)));
	s.changed.image = or_exit(malloc(judge->model->abi->attr_size));
	for (size_t n = 0; n < CHANGES_AT_ONCE; n++) {
		struct sets was = sets;

		/* Another event is only taken for want of the one that was asked for. */
		for (size_t i = 0; i < found->count; i++)
			is_enough = is_enough || !found->list[i].is_fallback;
		if (found->is_cut || is_enough)
			break;
		next.count = 0;
		for (size_t i = 0; i < sets.count && !s.found->is_cut; i++)
			grow_set(&s, &sets.list[i], &next);
		sets = next;
		next = was;
	}
	free(sets.list);
	free(next.list);
	free(s.changed.image);
}
