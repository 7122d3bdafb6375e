/* SPDX-License-Identifier: MIT */
/*
 * Drawing calls.
 */
#include "hunt/draw.h"

#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "machine/proc.h"
#include "machine/clock.h"

/* A number below n. */
static size_t below(struct drawer *d, size_t n)
{
	return (size_t)((random_next(&d->state) >> 32) * n >> 32);
}

static bool one_in(struct drawer *d, size_t n)
{
	return !below(d, n);
}

static void domain_add(struct domain *domain, uint64_t value)
{
	for (size_t i = 0; i < domain->count; i++)
		if (domain->values[i] == value)
			return;
	if (domain->count < DOMAIN_MAX)
		domain->values[domain->count++] = value;
}

static void domain_add_around(struct domain *domain, uint64_t value)
{
	domain_add(domain, value - 1);
	domain_add(domain, value);
	domain_add(domain, value + 1);
}

static uint64_t pick(struct drawer *d, const struct domain *domain)
{
	return domain->count ? domain->values[below(d, domain->count)] : 0;
}

bool drawer_is_field(const struct drawer *d, size_t i, const struct abi_field *field)
{
	return d->fields[i]->offset == field->offset && d->fields[i]->first == field->first &&
	       d->fields[i]->width == field->width;
}

/* What the checks hold a field against, and what is one off. */
struct gathering {
	struct drawer *drawer;
	struct situation *situation;
};

static void gather_term(struct term *term, void *context)
{
	struct gathering *g = context;
	const struct facts *facts = &g->drawer->model->facts;
	const struct abi_field *field = facts->list[term->fact].field;
	uint64_t value = term->operand.value;

	if (!field ||
	    (term->operand.is_fact && !fact_get(facts, term->operand.fact, g->situation, &value)))
		return;
	for (size_t i = 0; i < g->drawer->field_count; i++)
		if (drawer_is_field(g->drawer, i, field))
			domain_add_around(&g->drawer->of_field[i], value);
}

static void gather_operands(struct drawer *d)
{
	static const struct world nothing;
	const struct caller nobody = {.as = AS_USER, .has_files = true};
	struct situation situation;
	struct gathering g = {.drawer = d, .situation = &situation};

	situation_begin(&situation, &d->model->machine, &d->stage->seeds[0].call, &nobody,
			&nothing);
	for (size_t i = 0; i < d->model->count; i++)
		predicate_terms(d->model->checks[i].when, gather_term, &g);
}

static void add_names(struct domain *domain, const struct abi_family *family)
{
	for (size_t i = 0; family && i < family->count; i++)
		domain_add(domain, family->values[i].value);
}

static void begin_fields(struct drawer *d)
{
	static const uint64_t plain[] = {0, 1, 2, 3, 4, 8, 0xff, 0xffff, UINT32_MAX, UINT64_MAX};
	const struct abi *abi = d->model->abi;

	for (size_t i = 0; i < abi->field_count && d->field_count < FIELDS_MAX; i++) {
		const struct abi_field *field = &abi->fields[i];
		struct domain *domain = &d->of_field[d->field_count];

		if (field->alias_of || !strcmp(field->name, "size"))
			continue;
		d->fields[d->field_count++] = field;
		if (field->width == 1)
			continue; /* its other value is all there is */
		for (size_t j = 0; j < sizeof(plain) / sizeof(plain[0]); j++)
			domain_add(domain, plain[j]);
		add_names(domain, field->set);
		for (size_t j = 0; j < 8; j++)
			add_names(domain, field->by_type[j]);
	}
}

/* Where config1 can point to, and what type can be. */
static void add_machine(struct drawer *d)
{
	const struct environment *env = d->model->machine.env;

	for (size_t i = 0; i < d->field_count; i++) {
		bool is_type = !strcmp(d->fields[i]->name, "type");
		bool is_address = !strcmp(d->fields[i]->name, "config1");

		for (size_t j = 0; is_type && j < env->pmu_count; j++)
			domain_add(&d->of_field[i], env->pmus[j].type);
		for (size_t j = 0; is_type && j < 12; j++)
			domain_add(&d->of_field[i], j);
		for (size_t j = 0; is_address && j < d->stage->things.count; j++)
			if (d->stage->things.list[j].role == A_TEXT ||
			    d->stage->things.list[j].role == SOME_MEMORY)
				domain_add_around(&d->of_field[i], d->stage->things.list[j].value);
	}
}

static void begin_arguments(struct drawer *d)
{
	const struct environment *env = d->model->machine.env;
	const struct abi *abi = d->model->abi;

	for (int i = -2; i <= 0; i++)
		domain_add(&d->pids, (uint64_t)i);
	domain_add(&d->pids, INT32_MAX);
	domain_add(&d->fds, (uint64_t)-1);
	domain_add(&d->fds, (uint64_t)-2);
	domain_add(&d->fds, 999999);
	for (size_t i = 0; i < d->stage->things.count; i++) {
		const struct thing *thing = &d->stage->things.list[i];

		if (thing->role == A_TASK || thing->role == A_FILE)
			domain_add(&d->pids, thing->value);
		if (thing->role == AN_EVENT || thing->role == A_FILE)
			domain_add(&d->fds, thing->value);
	}
	for (unsigned cpu = 0; cpu < env->cpu_limit && cpu < 4; cpu++)
		domain_add(&d->cpus, cpu);
	domain_add(&d->cpus, (uint64_t)-1);
	domain_add(&d->cpus, (uint64_t)-2);
	domain_add_around(&d->cpus, env->cpu_limit);
	domain_add(&d->cpus, INT32_MAX);
	for (unsigned i = 0; i < 5; i++)
		domain_add(&d->flags, UINT64_C(1) << i);
	domain_add(&d->flags, UINT64_C(1) << 31);
	domain_add(&d->sizes, 0);
	domain_add(&d->sizes, 1);
	for (size_t i = 0; i < abi->size_count; i++)
		domain_add_around(&d->sizes, abi->sizes[i].size);
	domain_add_around(&d->sizes, env->attr_size);
	domain_add_around(&d->sizes, env->page_size);
	domain_add(&d->sizes, UINT32_MAX);
	for (size_t i = 0; i < d->sizes.count; i++)
		if (d->sizes.values[i] <= env->page_size)
			domain_add(&d->mapped, d->sizes.values[i]);
	for (uint64_t i = 2; i <= 8; i++)
		domain_add(&d->mapped, i);
}

void drawer_begin(struct drawer *d, const struct model *model, const struct stage *stage,
		  uint64_t seed)
{
	*d = (struct drawer){.model = model, .stage = stage, .state = seed};
	begin_fields(d);
	add_machine(d);
	gather_operands(d);
	begin_arguments(d);
}

/* A value for a field of so many bits: one that matters, a bit or two, or anything. */
static uint64_t draw_value(struct drawer *d, const struct domain *domain, unsigned width)
{
	size_t kind = below(d, 20);

	if (kind < 13)
		return pick(d, domain);
	if (kind < 17)
		return UINT64_C(1) << below(d, width);
	if (kind < 19)
		return UINT64_C(1) << below(d, width) | UINT64_C(1) << below(d, width);
	return random_next(&d->state);
}

static void change_field(struct drawer *d, struct call *call)
{
	size_t i = below(d, d->field_count);
	const struct abi_field *field = d->fields[i];
	unsigned width = field->width ? field->width : field->size * 8;
	uint64_t value, now = attr_get(field, call->image, host_order());

	if (width == 1)
		value = !now;
	else if (field->set && field->set->mask && below(d, 3))
		value = now | draw_value(d, &d->of_field[i], width);
	else
		value = draw_value(d, &d->of_field[i], width);
	attr_set(field, call->image, host_order(), value);
}

static void change_memory(struct drawer *d, struct call *call)
{
	const struct abi_field *size = abi_field(d->model->abi, "size");

	switch (below(d, 8)) {
	case 0:
		call->memory = MEMORY_NULL;
		return;
	case 1:
		call->memory = MEMORY_READ_ONLY;
		return;
	case 2:
		call->memory = MEMORY_CUT;
		call->mapped = pick(d, &d->mapped);
		return;
	case 3:
		if (call->poke_count < POKES_MAX)
			call->pokes[call->poke_count++] =
				(struct poke){.offset = pick(d, &d->mapped) +
							below(d, 2 * d->model->abi->attr_size),
					      .byte = 1};
		return;
	default:
		attr_set(size, call->image, host_order(),
			 below(d, 4) ? pick(d, &d->sizes) : random_next(&d->state) & 0xfff);
	}
}

static void change_argument(struct drawer *d, struct call *call, bool *no_files)
{
	switch (below(d, 9)) {
	case 0:
	case 1:
		call->pid = (int32_t)pick(d, &d->pids);
		return;
	case 2:
	case 3:
		call->cpu = (int32_t)pick(d, &d->cpus);
		return;
	case 4:
	case 5:
		call->group_fd = (int32_t)pick(d, &d->fds);
		return;
	case 6:
		call->flags ^= pick(d, &d->flags);
		return;
	case 7:
		if (one_in(d, 16))
			*no_files = true;
		return;
	default:
		change_memory(d, call);
	}
}

static const struct seed *draw_seed(struct drawer *d)
{
	for (;;) {
		const struct seed *seed = &d->stage->seeds[below(d, d->stage->seed_count)];

		if (seed->rare <= 1 || one_in(d, seed->rare))
			return seed;
	}
}

void drawer_draw(struct drawer *d, struct call *call, bool *no_files)
{
	static const unsigned char changes[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 8, 12};
	const struct seed *seed = draw_seed(d);
	unsigned char *image = call->image;
	size_t n = changes[below(d, sizeof(changes))];

	*call = seed->call;
	call->image = image;
	memcpy(image, seed->call.image, d->model->abi->attr_size);
	*no_files = false;
	while (n--) {
		if (below(d, 5) < 3)
			change_field(d, call);
		else
			change_argument(d, call, no_files);
	}
}

/*
 * A predicate as a list of ways, each a list of terms: its disjunctive normal form.
 * NOLINTBEGIN(misc-no-recursion): as deep as the predicate, which is bounded where it is compiled
 */

/* Whatever holds in both. */
static void join(const struct ways *a, const struct ways *b, struct ways *out)
{
	out->count = 0;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			struct way *way = &out->list[out->count];

			if (out->count == WAYS_MAX ||
			    a->list[i].count + b->list[j].count > LITERALS_MAX) {
				out->is_cut = true;
				return;
			}
			*way = a->list[i];
			for (size_t k = 0; k < b->list[j].count; k++)
				way->list[way->count++] = b->list[j].list[k];
			out->count++;
		}
}

static void append_ways(struct ways *out, const struct ways *more)
{
	for (size_t i = 0; i < more->count; i++) {
		if (out->count == WAYS_MAX) {
			out->is_cut = true;
			return;
		}
		out->list[out->count++] = more->list[i];
	}
}

static void expand_predicate(const struct predicate *p, bool holds, struct ways *out);

/* Each part is to hold, or to not hold: all of them, or one. */
static void expand_parts(const struct predicate *p, bool holds, bool all, struct ways *out)
{
	struct ways *part = calloc(1, sizeof(*part)), *joined = calloc(1, sizeof(*joined));

	if (part && joined) {
		out->count = all; /* one way that asks nothing, or none */
		out->list[0].count = 0;
		for (size_t i = 0; i < p->count; i++) {
			part->count = 0;
			expand_predicate(p->parts[i], holds, part);
			if (!all) {
				append_ways(out, part);
				continue;
			}
			join(out, part, joined);
			*out = *joined;
		}
	}
	free(part);
	free(joined);
}

static void expand_predicate(const struct predicate *p, bool holds, struct ways *out)
{
	switch (p->kind) {
	case TERM:
		out->count = 1;
		out->list[0] = (struct way){.list = {{&p->term, holds}}, .count = 1};
		return;
	case TOKEN:
		out->count = p->settled == (holds ? HOLDS : DOES_NOT_HOLD);
		out->list[0].count = 0;
		return;
	case NOT:
		expand_predicate(p->parts[0], !holds, out);
		return;
	default:
		expand_parts(p, holds, (p->kind == ALL) == holds, out);
	}
}

void ways_of(const struct predicate *predicate, struct ways *ways)
{
	ways->count = 0;
	ways->is_cut = false;
	expand_predicate(predicate, true, ways);
}
/* NOLINTEND(misc-no-recursion) */
