/* SPDX-License-Identifier: MIT */
/*
 * The search: from each of the stage's calls, one change at a time, to more terms that are as they
 * are to be, and to a check that is nearer to the one that is to decide.
 */
#include "hunt/boundaries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "hunt/draw.h"
#include "machine/names.h"

enum { STEPS_MOST = 6, STARTS_MOST = 4, DECIDERS = 1024 };

/* A search on its way. */
struct search {
	struct hunter *hunter;
	struct drawer *drawer;
	const struct way *way;
	int missed;
	size_t check; /* the index of the one that is to decide, or to be passed */
	struct trial trial;

	struct trial best; /* of those considered, with its score and the attr */
	size_t best_score;
	unsigned char *best_image;
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
			predicate_term_holds(literal->term, facts, &s->hunter->situation);
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

/* Looks at the call as it is now changed, and keeps the best; true once it is what is sought. */
static bool consider(struct search *s)
{
	bool is_there;
	size_t now = score(s, &is_there);

	if (now > s->best_score) {
		s->best_score = now;
		s->best = s->trial;
		memcpy(s->best_image, s->trial.call.image, s->drawer->model->abi->attr_size);
	}
	return is_there;
}

static bool consider_value(struct search *s, const struct abi_field *field, uint64_t value)
{
	uint64_t was = attr_get(field, s->trial.call.image, host_order());
	bool is_there;

	if (value == was)
		return false;
	attr_set(field, s->trial.call.image, host_order(), value);
	is_there = consider(s);
	attr_set(field, s->trial.call.image, host_order(), was);
	return is_there;
}

static bool consider_fields(struct search *s)
{
	const struct domain *sizes = &s->drawer->sizes;

	for (size_t i = 0; i < s->drawer->field_count; i++) {
		const struct abi_field *field = s->drawer->fields[i];
		const struct domain *domain = &s->drawer->of_field[i];
		unsigned width = field->width ? field->width : field->size * 8;
		uint64_t now = attr_get(field, s->trial.call.image, host_order());

		for (size_t j = 0; j < domain->count; j++)
			if (consider_value(s, field, domain->values[j]))
				return true;
		for (unsigned bit = 0; bit < width; bit++)
			if (consider_value(s, field, now ^ UINT64_C(1) << bit))
				return true;
	}
	for (size_t i = 0; i < sizes->count; i++)
		if (consider_value(s, s->drawer->model->machine.size, sizes->values[i]))
			return true;
	return false;
}

static bool consider_numbers(struct search *s, int32_t *number, const struct domain *domain)
{
	int32_t was = *number;
	bool is_there = false;

	for (size_t i = 0; i < domain->count && !is_there; i++) {
		*number = (int32_t)domain->values[i];
		is_there = *number != was && consider(s);
	}
	*number = was;
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
	for (size_t i = 0; i < s->drawer->sizes.count && !is_there; i++) {
		uint64_t at = s->drawer->sizes.values[i];

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

static bool consider_arguments(struct search *s)
{
	struct call *call = &s->trial.call;
	bool is_there = false;

	for (size_t i = 0; i < s->drawer->flags.count && !is_there; i++) {
		call->flags ^= s->drawer->flags.values[i];
		is_there = consider(s);
		call->flags ^= s->drawer->flags.values[i];
	}
	s->trial.no_files = !s->trial.no_files;
	is_there = is_there || consider(s);
	s->trial.no_files = !s->trial.no_files;
	return is_there || consider_numbers(s, &call->pid, &s->drawer->pids) ||
	       consider_numbers(s, &call->cpu, &s->drawer->cpus) ||
	       consider_numbers(s, &call->group_fd, &s->drawer->fds) || consider_memory(s);
}

/* From one of the stage's calls. True once it is what is sought. */
static bool search_from(struct search *s, const struct seed *seed)
{
	unsigned char *image = s->trial.call.image;
	bool is_there;
	size_t before;

	s->trial = (struct trial){.call = seed->call};
	s->trial.call.image = image;
	memcpy(image, seed->call.image, s->drawer->model->abi->attr_size);
	s->best_score = 0;
	is_there = consider(s);
	for (unsigned step = 0; step < STEPS_MOST && !is_there; step++) {
		before = s->best_score;
		is_there = consider_arguments(s) || consider_fields(s);
		if (s->best_score == before)
			return false;
		s->trial = s->best;
		s->trial.call.image = image;
		memcpy(image, s->best_image, s->drawer->model->abi->attr_size);
	}
	return is_there;
}

/* The calls of the stage, those first that are nearer to what is sought. */
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

static uint64_t type_of(const struct search *s, const struct start *start)
{
	return attr_get(s->drawer->model->machine.type, start->seed->call.image, host_order());
}

/* Each type is tried, however far away its calls are. */
static bool is_first_of_type(const struct search *s, const struct start *starts, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (type_of(s, &starts[i]) == type_of(s, &starts[at]))
			return false;
	return true;
}

static bool search_all(struct search *s)
{
	const struct stage *stage = s->hunter->stage;
	struct start starts[STAGE_CALLS];
	unsigned char *image = s->trial.call.image;
	bool is_there;

	for (size_t i = 0; i < stage->seed_count; i++) {
		s->trial = (struct trial){.call = stage->seeds[i].call};
		starts[i] = (struct start){&stage->seeds[i], score(s, &is_there)};
	}
	qsort(starts, stage->seed_count, sizeof(starts[0]), by_score);
	s->trial.call.image = image;
	for (size_t i = 0; i < stage->seed_count; i++)
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
		    predicate_term_holds(literal->term, facts, &s->hunter->situation) !=
			    (wanted ? HOLDS : DOES_NOT_HOLD))
			return false;
	}
	return true;
}

/* Who is told of what is found. */
struct listener {
	void (*each)(void *context, const struct boundary *boundary);
	void *context;
	struct boundary boundary;
	struct boundary_counts *counts;
};

static void announce(struct search *s, struct listener *l)
{
	struct trial made = s->trial;

	l->boundary.trial = &made;
	l->each(l->context, &l->boundary);
}

static void announce_value(struct search *s, const struct abi_field *field, uint64_t value,
			   struct listener *l)
{
	uint64_t was = attr_get(field, s->trial.call.image, host_order());
	bool is_there;

	attr_set(field, s->trial.call.image, host_order(), value);
	if (attr_get(field, s->trial.call.image, host_order()) != was) {
		score(s, &is_there);
		if (is_there)
			announce(s, l);
	}
	attr_set(field, s->trial.call.image, host_order(), was);
}

/* The other values of the term's field by which the call is at the same boundary. */
static void announce_others(struct search *s, const struct term *term, struct listener *l)
{
	const struct abi_field *field = s->hunter->model->facts.list[term->fact].field;
	size_t i = 0;

	while (field && i < s->drawer->field_count && !drawer_is_field(s->drawer, i, field))
		i++;
	if (!field || i == s->drawer->field_count)
		return;
	for (size_t j = 0; j < s->drawer->of_field[i].count; j++)
		announce_value(s, field, s->drawer->of_field[i].values[j], l);
	for (unsigned bit = 0; bit < (field->width ? field->width : field->size * 8); bit++)
		announce_value(s, field, UINT64_C(1) << bit, l);
}

/* Seeks each boundary of one way of a check. */
static void seek_way(struct search *s, unsigned char *image, struct listener *l)
{
	for (s->missed = NONE_MISSED; s->missed < (int)s->way->count; s->missed++) {
		s->trial = (struct trial){.call = s->hunter->stage->seeds[0].call};
		if (!is_possible(s))
			continue;
		l->counts->sought++;
		s->trial.call.image = image;
		if (!search_all(s))
			continue;
		l->counts->found++;
		l->boundary.missed = s->missed;
		announce(s, l);
		for (size_t i = 0; i < s->way->count; i++)
			if (s->missed == NONE_MISSED || (int)i == s->missed)
				announce_others(s, s->way->list[i].term, l);
	}
}

int boundaries_find(struct hunter *h, struct drawer *d, struct boundary_counts *counts,
		    void (*each)(void *context, const struct boundary *boundary), void *context)
{
	unsigned char *image = calloc(2, d->model->abi->attr_size);
	struct ways *ways = calloc(1, sizeof(*ways));
	struct listener l = {.each = each, .context = context, .counts = counts};
	struct search s = {.hunter = h, .drawer = d};
	int err = image && ways ? 0 : -ENOMEM;

	*counts = (struct boundary_counts){0};
	if (!err)
		s.best_image = image + d->model->abi->attr_size;
	for (size_t i = 0; i < d->model->count && !err; i++) {
		ways_of(d->model->checks[i].when, ways);
		s.check = i;
		l.boundary.check = &d->model->checks[i];
		for (size_t w = 0; w < ways->count; w++) {
			s.way = &ways->list[w];
			seek_way(&s, image, &l);
		}
	}
	free(image);
	free(ways);
	return err;
}

/*
 * Trying a call, and making it simple.
 */

/* Where the kernel's own size is written back: the check says so, and the memory can be written. */
static bool writes_size(const struct trial *t)
{
	return t->prediction.outcome == REFUSED &&
	       json_object_get(t->prediction.check->json, "writes_size") &&
	       t->call.memory != MEMORY_READ_ONLY;
}

static bool is_of_other_gate(const struct trial *t)
{
	return t->prediction.outcome == REFUSED && !t->prediction.unknown && t->gates &&
	       !(t->gates >> t->prediction.check->gate & 1);
}

static bool agrees(const struct hunter *h, const struct trial *t)
{
	if (t->prediction.err != t->result.err || t->result.other_written || is_of_other_gate(t))
		return false;
	if (writes_size(t))
		return t->result.size_after == h->model->machine.env->attr_size;
	return !t->result.size_written;
}

struct prediction trial_predict(struct hunter *h, const struct trial *t)
{
	h->caller.has_files = !t->no_files;
	situation_begin(&h->situation, &h->model->machine, &t->call, &h->caller, &h->stage->world);
	return model_predict(h->model, &h->situation);
}

bool trial_run(struct hunter *h, struct trial *t)
{
	t->prediction = trial_predict(h, t);
	t->result = (struct answer){.fd = -1};
	if (t->prediction.outcome == UNFORESEEN)
		return true;
	if (call_try(&t->call, t->no_files, h->model->machine.env, &h->memory, &t->result) < 0)
		return true;
	/* Of what stands before the kernel the witnesses tell nothing. */
	if (t->prediction.check && t->prediction.check->id[0] == 'S')
		t->gates = 0;
	if (t->gates)
		t->gates = t->result.err && !t->no_files
				   ? phase_infer(h->model->phases, &t->call, t->result.err,
						 h->zombie, h->model->machine.env)
				   : ~0U;
	return agrees(h, t);
}

void trial_describe(const struct hunter *h, const struct trial *t, char *text, size_t size)
{
	char predicted[64], gates[128];

	text[0] = '\0';
	if (agrees(h, t))
		return;
	if (t->prediction.outcome == REFUSED)
		snprintf(predicted, sizeof(predicted), "%s (%s)", errno_name(t->prediction.err),
			 t->prediction.check->id);
	else
		snprintf(predicted, sizeof(predicted), "that it opens");
	if (t->prediction.err != t->result.err)
		snprintf(text, size, "the model says %s, the kernel %s", predicted,
			 t->result.err ? errno_name(t->result.err) : "opens it");
	else if (is_of_other_gate(t)) {
		phase_names(h->model->phases, t->gates, gates, sizeof(gates));
		snprintf(text, size,
			 "%s as predicted, from %s by the model and %s by the witnesses", predicted,
			 h->model->phases->list[t->prediction.check->gate].name, gates);
	} else if (t->result.other_written)
		snprintf(text, size, "%s as predicted, and attr is changed beyond its size",
			 t->result.err ? errno_name(t->result.err) : "it opens");
	else
		snprintf(text, size, "%s as predicted, and attr.size is %u afterwards",
			 t->result.err ? errno_name(t->result.err) : "it opens",
			 t->result.size_after);
}

/* Whether the simpler call differs in the same way; then it is taken. */
static bool take_if_same(struct hunter *h, struct trial *best, struct trial *candidate)
{
	const struct check *check = best->prediction.check;
	int err = best->result.err;

	if (trial_run(h, candidate) || candidate->result.err != err ||
	    candidate->prediction.check != check)
		return false;
	*best = *candidate;
	return true;
}

static bool simplify_arguments(struct hunter *h, struct trial *best)
{
	bool any = false;
	struct trial t;

#define TRY(condition, change)                                                                     \
	do {                                                                                       \
		t = *best;                                                                         \
		if (condition) {                                                                   \
			change;                                                                    \
			any = take_if_same(h, best, &t) || any;                                    \
		}                                                                                  \
	} while (0)
	TRY(t.no_files, t.no_files = false);
	TRY(t.call.memory != MEMORY_WRITABLE, t.call.memory = MEMORY_WRITABLE);
	TRY(t.call.poke_count, t.call.poke_count--);
	TRY(t.call.group_fd != -1, t.call.group_fd = -1);
	TRY(t.call.pid != 0, t.call.pid = 0);
	TRY(t.call.cpu != -1, t.call.cpu = -1);
	TRY(t.call.cpu > 0, t.call.cpu = 0);
	for (unsigned bit = 0; bit < 64; bit++)
		TRY(t.call.flags >> bit & 1, t.call.flags &= ~(UINT64_C(1) << bit));
#undef TRY
	return any;
}

/* Sets a field of the one image that all trials share; puts it back if that is not the same. */
static bool try_value(struct hunter *h, struct trial *best, const struct abi_field *field,
		      uint64_t value)
{
	uint64_t was = attr_get(field, best->call.image, host_order());
	struct trial t = *best;

	if (value == was)
		return false;
	attr_set(field, best->call.image, host_order(), value);
	if (take_if_same(h, best, &t))
		return true;
	attr_set(field, best->call.image, host_order(), was);
	return false;
}

static bool simplify_field(struct hunter *h, struct trial *best, const struct abi_field *field)
{
	uint64_t value = attr_get(field, best->call.image, host_order());
	bool any = false;

	if (!strcmp(field->name, "size"))
		return try_value(h, best, field, h->model->abi->attr_size);
	if (!value)
		return false;
	if (try_value(h, best, field, 0))
		return true;
	for (unsigned bit = 0; bit < 64; bit++)
		if (value >> bit & 1 && try_value(h, best, field, value & ~(UINT64_C(1) << bit))) {
			value &= ~(UINT64_C(1) << bit);
			any = true;
		}
	return any;
}

void trial_shrink(struct hunter *h, struct trial *t)
{
	const struct abi *abi = h->model->abi;
	bool any = true;

	for (unsigned round = 0; any && round < 8; round++) {
		any = simplify_arguments(h, t);
		for (size_t i = 0; i < abi->field_count; i++)
			if (!abi->fields[i].alias_of && !abi->fields[i].of_bits)
				any = simplify_field(h, t, &abi->fields[i]) || any;
	}
}

/* Whether a text anywhere in the JSON names that thing. NOLINTNEXTLINE(misc-no-recursion) */
static bool names_thing(const json_t *json, const char *name)
{
	const char *text = json_string_value(json), *key;
	size_t n = strlen(name), i;
	json_t *item;

	if (text && text[0] == '$')
		return !strncmp(text + 1, name, n) && scope_name_length(text + 1) == n;
	if (text)
		return strstr(text, name) && strchr(text, '$');
	json_object_foreach((json_t *)json, key, item)
		if (names_thing(item, name))
			return true;
	json_array_foreach(json, i, item)
		if (names_thing(item, name))
			return true;
	return false;
}

/* The steps of the stage that the call hangs on, in their order. */
static json_t *given_json(const struct hunter *h, const json_t *open)
{
	const json_t *all = json_object_get(h->stage->plan->json, "given");
	json_t *given = json_array(), *step;
	size_t i = json_array_size(all);

	while (i-- > 0) {
		const char *name;

		step = json_array_get(all, i);
		name = json_string_value(json_object_get(step, "bind"));
		if (!name)
			name = json_string_value(json_object_get(step, "mmap"));
		if (!name)
			name = json_string_value(json_object_get(step, "kill"));
		if (name && (names_thing(open, name) || names_thing(given, name)))
			json_array_insert(given, 0, step);
	}
	return given;
}

static json_t *expect_json(struct hunter *h, const struct trial *t)
{
	unsigned gates;
	json_t *expect;

	if (!t->result.err)
		return json_pack("{s:b}", "ok", 1);
	gates = phase_infer(h->model->phases, &t->call, t->result.err, h->zombie,
			    h->model->machine.env);
	expect = json_pack("{s:s}", "errno", errno_name(t->result.err));
	for (size_t i = 0; i < h->model->phases->count; i++)
		if (gates == 1U << i)
			json_object_set_new(expect, "phase",
					    json_string(h->model->phases->list[i].name));
	return expect;
}

json_t *trial_case(struct hunter *h, const struct trial *t)
{
	json_t *json = json_object(),
	       *open = stage_open_json(&h->stage->things, h->model->machine.env, &t->call),
	       *given = given_json(h, open);
	const struct check *check = t->prediction.check;
	char text[256];

	trial_describe(h, t, text, sizeof(text));
	json_object_set_new(json, "title", json_string(text));
	json_object_set_new(json, "as", json_pack("[s]", identity_names[h->caller.as]));
	if (json_array_size(given))
		json_object_set(json, "given", given);
	json_decref(given);
	json_object_set_new(json, "open", open);
	json_object_set_new(json, "expect", expect_json(h, t));
	if (check)
		json_object_set_new(json, "covers", json_pack("[s]", check->id));
	return json;
}
