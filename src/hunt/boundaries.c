/* SPDX-License-Identifier: MIT */
/*
 * The search: from each of the setup's calls, one change at a time, to more terms that are as they
 * are to be, and to a check that is nearer to the one that is to decide.
 */
#include "hunt/boundaries.h"
#include "text/json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A predicate as a list of ways, each a list of terms: its disjunctive normal form.
 * NOLINTBEGIN(misc-no-recursion): as deep as the predicate, which is bounded where it is compiled
 */

enum { LITERALS_MAX = 24, WAYS_MAX = 96, NONE_MISSED = -1 };

/* A term, and whether it is to hold. */
struct literal {
	const struct term *term;
	bool holds;
};

/* One way in which a predicate can hold: all of these. */
struct way {
	struct literal list[LITERALS_MAX];
	size_t count;
};

/* All of them that there is room for. */
struct ways {
	struct way list[WAYS_MAX];
	size_t count;
};

/* Whatever holds in both. */
static void join(const struct ways *a, const struct ways *b, struct ways *out)
{
	out->count = 0;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			struct way *way = &out->list[out->count];

			if (out->count == WAYS_MAX ||
			    a->list[i].count + b->list[j].count > LITERALS_MAX)
				return;
			*way = a->list[i];
			for (size_t k = 0; k < b->list[j].count; k++)
				way->list[way->count++] = b->list[j].list[k];
			out->count++;
		}
}

/* Of several parts each is to hold, or to not hold: all of them, or one. What asks for a token that
 * this machine does not meet is left out. */
static void expand_predicate(const struct predicate *p, bool holds, struct ways *out)
{
	bool all = (p->kind == ALL) == holds;
	struct ways *part, *joined;

	out->count = all; /* one way that asks nothing, or none */
	out->list[0].count = 0;
	if (p->kind == NOT) {
		expand_predicate(p->parts[0], !holds, out);
		return;
	}
	if (p->kind == TERM) {
		out->count = 1;
		out->list[0] = (struct way){.list = {{&p->term, holds}}, .count = 1};
		return;
	}
	if (p->kind == TOKEN) {
		out->count = p->settled == (holds ? HOLDS : DOES_NOT_HOLD);
		return;
	}
	part = or_exit(calloc(1, sizeof(*part)));
	joined = or_exit(calloc(1, sizeof(*joined)));
	for (size_t i = 0; i < p->count; i++) {
		part->count = 0;
		expand_predicate(p->parts[i], holds, part);
		for (size_t j = 0; !all && j < part->count && out->count < WAYS_MAX; j++)
			out->list[out->count++] = part->list[j];
		if (!all)
			continue;
		join(out, part, joined);
		*out = *joined;
	}
	free(part);
	free(joined);
}
/* NOLINTEND(misc-no-recursion) */

struct prediction trial_predict(struct judge *h, const struct trial *t)
{
	h->caller.has_files = !t->no_files;
	judge_begin(h, &t->call);
	return model_predict(h->model, &h->evaluation);
}

enum { STEPS_MOST = 6, STARTS_MOST = 4, DECIDERS = 1024 };

/* A search on its way. */
struct search {
	struct judge *hunter;
	struct drawer *drawer;
	const struct way *way;
	int missed;   /* the index of the term that it misses by; NONE_MISSED */
	size_t check; /* the index of the one that is to decide, or to be passed */
	struct trial trial;

	struct trial best; /* of those considered, with its score and an image of its own */
	size_t best_score;

	void (*each)(void *context, const struct check *check, bool is_met, struct trial *trial);
	void *context;
};

/* The index of the check that decides; behind all of them: none does. */
static size_t decider(struct search *s)
{
	const struct model *model = s->hunter->model;
	struct prediction p = trial_predict(s->hunter, &s->trial);

	return p.check ? (size_t)(p.check - model->checks) : model->count;
}

/* The more terms are as they are to be, the better; then, the later the check that decides. */
static size_t score(struct search *s, bool *is_there)
{
	const struct facts *facts = &s->hunter->model->facts;
	size_t at = decider(s), good = 0, near = 0;

	for (size_t i = 0; i < s->way->count; i++) {
		const struct literal *literal = &s->way->list[i];
		bool wanted = literal->holds != ((int)i == s->missed);
		enum truth truth =
			predicate_term_holds(literal->term, facts, &s->hunter->evaluation, NULL);
		/* A call of another PMU is far away, whatever else of it is right. */
		bool is_kind = !strcmp(facts->list[literal->term->fact].name, "pmu.kind");

		if (truth != (wanted ? HOLDS : DOES_NOT_HOLD))
			continue;
		good++;
		near += is_kind ? 8 : 1;
	}
	*is_there = good == s->way->count &&
		    (s->missed == NONE_MISSED ? at == s->check : at > s->check);
	return near * DECIDERS + (at < s->check ? at : s->check) + (*is_there ? DECIDERS : 0) + 1;
}

/* Puts another call in the trial's place, with the image that it has. */
static void take_trial(struct search *s, struct trial *to, const struct trial *from)
{
	struct trial taken = *from;

	taken.call.image = to->call.image;
	call_assign(&taken.call, &from->call, s->drawer->model->abi);
	*to = taken;
}

/* Looks at the call as it is now changed, and keeps the best; true once it is what is sought. */
static bool consider(struct search *s)
{
	bool is_there;
	size_t now = score(s, &is_there);

	if (now > s->best_score) {
		s->best_score = now;
		take_trial(s, &s->best, &s->trial);
	}
	return is_there;
}

/* The i-th of the numbers that are tried of it: those that matter, then single bits, turned round
 * in `base`. False behind the last. */
static bool value_to_try(const struct aspect *aspect, size_t i, uint64_t base, uint64_t *value)
{
	size_t count = aspect->domain.count;

	if (i < count)
		*value = aspect->domain.values[i] ^ (aspect->toggles ? base : 0);
	else
		*value = base ^ UINT64_C(1) << ((i - count) & 63);
	return i < count + aspect->width;
}

static bool consider_aspect(struct search *s, const struct aspect *aspect)
{
	struct call *call = &s->trial.call;
	uint64_t was = call_get(call, aspect->part), value;
	bool is_there = false;

	for (size_t i = 0; !is_there && value_to_try(aspect, i, was, &value); i++) {
		call_set(call, aspect->part, value);
		is_there = call_get(call, aspect->part) != was && consider(s);
	}
	call_set(call, aspect->part, was);
	return is_there;
}

static bool consider_memory(struct search *s)
{
	struct call *call = &s->trial.call;
	const struct call was = *call;
	bool is_there = false;

	for (size_t i = 0; i <= s->drawer->mapped.count && !is_there; i++) {
		call->memory = i ? MEMORY_CUT : MEMORY_NULL;
		call->mapped = i ? s->drawer->mapped.values[i - 1] : 0;
		is_there = consider(s);
		*call = was;
	}
	for (size_t i = 0; i < s->drawer->size.domain.count && !is_there; i++) {
		uint64_t at = s->drawer->size.domain.values[i];

		/* What is behind all fields; those are changed as fields. */
		if (at < s->drawer->model->abi->attr_size ||
		    at >= s->drawer->model->machine.env->page_size || call->poke_count == POKES_MAX)
			continue;
		call->pokes[call->poke_count++] = (struct poke){.offset = at, .byte = 1};
		is_there = consider(s);
		*call = was;
	}
	return is_there;
}

/* From one of the setup's calls. True once it is what is sought. */
static bool search_from(struct search *s, const struct seed *seed)
{
	const struct trial first = {.call = seed->call};
	const struct drawer *d = s->drawer;
	bool is_there;

	take_trial(s, &s->trial, &first);
	s->best_score = 0;
	is_there = consider(s);
	for (unsigned step = 0; step < STEPS_MOST && !is_there; step++) {
		size_t before = s->best_score;

		/* Each change of one number, or of the memory. */
		is_there = consider_aspect(s, &d->flags);
		s->trial.no_files = !s->trial.no_files;
		is_there = is_there || consider(s);
		s->trial.no_files = !s->trial.no_files;
		is_there = is_there || consider_aspect(s, &d->pid) || consider_aspect(s, &d->cpu) ||
			   consider_aspect(s, &d->group_fd) || consider_memory(s);
		for (size_t i = 0; i < d->field_count && !is_there; i++)
			is_there = consider_aspect(s, &d->fields[i]);
		is_there = is_there || consider_aspect(s, &d->size);
		if (s->best_score == before)
			return false;
		take_trial(s, &s->trial, &s->best);
	}
	return is_there;
}

/* The calls of the setup, those first that are nearer to what is sought. */
struct start {
	const struct seed *seed;
	size_t score;
};

static int by_score(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->seed < y->seed ? -1 : x->seed > y->seed;
}

/* Each type is tried, however far away its calls are. */
static bool is_first_of_type(const struct search *s, const struct start *starts, size_t at)
{
	const struct call_part type = {PART_FIELD, s->drawer->model->machine.type};
	size_t i = 0;

	while (call_get(&starts[i].seed->call, type) != call_get(&starts[at].seed->call, type))
		i++;
	return i == at;
}

static bool search_all(struct search *s)
{
	const struct setup *setup = s->hunter->setup;
	struct start starts[SETUP_CALLS];
	unsigned char *image = s->trial.call.image;
	bool is_there;

	for (size_t i = 0; i < setup->seed_count; i++) {
		s->trial = (struct trial){.call = setup->seeds[i].call};
		starts[i] = (struct start){&setup->seeds[i], score(s, &is_there)};
	}
	qsort(starts, setup->seed_count, sizeof(starts[0]), by_score);
	s->trial.call.image = image;
	for (size_t i = 0; i < setup->seed_count; i++)
		if ((i < STARTS_MOST || is_first_of_type(s, starts, i)) &&
		    search_from(s, starts[i].seed))
			return true;
	return false;
}

/* Whether the way can be had at all here, but for the term that it is to miss by. */
static bool is_possible(struct search *s)
{
	const struct facts *facts = &s->hunter->model->facts;

	decider(s);
	for (size_t i = 0; i < s->way->count; i++) {
		const struct literal *literal = &s->way->list[i];
		const char *name = facts->list[literal->term->fact].name;
		bool wanted = literal->holds != ((int)i == s->missed);

		/* What the machine or the caller is, no call changes. */
		if ((!strncmp(name, "machine.", 8) || !strncmp(name, "kernel.", 7) ||
		     (!strncmp(name, "caller.", 7) &&
		      strcmp(name, "caller.can_open_files") != 0)) &&
		    predicate_term_holds(literal->term, facts, &s->hunter->evaluation, NULL) !=
			    (wanted ? HOLDS : DOES_NOT_HOLD))
			return false;
	}
	return true;
}

/* Tells of a call as it is; of a copy, which is shrunk where it differs. */
static void announce(struct search *s)
{
	struct trial made = s->trial;

	s->each(s->context, &s->drawer->model->checks[s->check], s->missed == NONE_MISSED, &made);
}

/* The other values of the term's field by which the call is at the same boundary. */
static void announce_others(struct search *s, const struct term *term)
{
	const struct aspect *aspect =
		drawer_field(s->drawer, s->hunter->model->facts.list[term->fact].field);
	struct call *call = &s->trial.call;
	uint64_t was = aspect ? call_get(call, aspect->part) : 0, value;
	bool is_there;

	for (size_t i = 0; aspect && value_to_try(aspect, i, 0, &value); i++) {
		call_set(call, aspect->part, value);
		if (call_get(call, aspect->part) != was && (score(s, &is_there), is_there))
			announce(s);
	}
	if (aspect)
		call_set(call, aspect->part, was);
}

void boundaries_find(struct judge *h, struct drawer *d, uint64_t *sought, uint64_t *found,
		     void (*each)(void *context, const struct check *check, bool is_met,
				  struct trial *trial),
		     void *context)
{
	size_t size = d->model->abi->attr_size;
	unsigned char *images = or_exit(calloc(2, size));
	struct ways *ways = or_exit(calloc(1, sizeof(*ways)));
	struct search s = {.hunter = h, .drawer = d, .each = each, .context = context};

	s.best.call.image = images + size;
	for (s.check = 0; s.check < d->model->count; s.check++) {
		ways->count = 0;
		expand_predicate(d->model->checks[s.check].when, true, ways);
		for (s.way = ways->list; s.way < ways->list + ways->count; s.way++)
			for (s.missed = NONE_MISSED; s.missed < (int)s.way->count; s.missed++) {
				s.trial = (struct trial){.call = h->setup->seeds[0].call};
				if (!is_possible(&s))
					continue;
				++*sought;
				s.trial.call.image = images;
				if (!search_all(&s))
					continue;
				++*found;
				announce(&s);
				for (size_t i = 0; i < s.way->count; i++)
					if (s.missed == NONE_MISSED || (int)i == s.missed)
						announce_others(&s, s.way->list[i].term);
			}
	}
	free(images);
	free(ways);
}
