/* SPDX-License-Identifier: MIT */
/*
 * Drawing calls.
 */
#include "hunt/boundaries.h"

#include <string.h>

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

static void domain_add_all(struct domain *domain, const int64_t *values, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*values); i++)
		domain_add(domain, (uint64_t)values[i]);
}

static uint64_t pick(struct drawer *d, const struct domain *domain)
{
	return domain->count ? domain->values[below(d, domain->count)] : 0;
}

struct aspect *drawer_field(struct drawer *d, const struct abi_field *field)
{
	for (size_t i = 0; field && i < d->field_count; i++) {
		const struct abi_field *own = d->fields[i].part.field;

		if (own->offset == field->offset && own->first == field->first &&
		    own->width == field->width)
			return &d->fields[i];
	}
	return NULL;
}

/* What the check holds fields against, and what is one off. */
static void gather_terms(struct drawer *d, const struct check *check, struct evaluation *s)
{
	const struct facts *facts = &d->model->facts;
	uint64_t value;

	for (const struct term *term = check->when->terms; term; term = term->next) {
		struct aspect *aspect = drawer_field(d, facts->list[term->fact].field);

		if (aspect && right_side_get(&term->operand, facts, s, &value))
			domain_add_around(&aspect->domain, value);
	}
}

static void add_names(struct domain *domain, const struct abi_family *family)
{
	for (size_t i = 0; family && i < family->count; i++)
		domain_add(domain, family->values[i].value);
}

static void begin_fields(struct drawer *d)
{
	static const int64_t plain[] = {0, 1, 2, 3, 4, 8, 0xff, 0xffff, UINT32_MAX, -1};
	const struct environment *env = d->model->machine.env;
	const struct abi *abi = d->model->abi;
	struct domain *type, *address;

	for (size_t i = 0; i < abi->field_count && d->field_count < FIELDS_MAX; i++) {
		const struct abi_field *field = &abi->fields[i];
		struct aspect *aspect = &d->fields[d->field_count];
		struct domain *domain = &aspect->domain;

		if (field->alias_of || !strcmp(field->name, "size"))
			continue;
		d->field_count++;
		aspect->part = (struct call_part){PART_FIELD, field};
		aspect->width = field->width ? field->width : field->size * 8;
		if (field->width == 1)
			continue; /* its other value is all there is */
		domain_add_all(domain, plain, sizeof(plain));
		add_names(domain, field->set);
		for (size_t j = 0; j < 8; j++)
			add_names(domain, field->by_type[j]);
	}
	/* Where config1 can point to, and what type can be. */
	type = &drawer_field(d, d->model->machine.type)->domain;
	address = &drawer_field(d, d->model->machine.config1)->domain;
	for (size_t i = 0; i < env->pmu_count; i++)
		domain_add(type, env->pmus[i].type);
	for (size_t i = 0; i < 12; i++)
		domain_add(type, i);
	for (size_t i = 0; i < d->setup->names.count; i++)
		if (d->setup->names.list[i].role == A_TEXT ||
		    d->setup->names.list[i].role == SOME_MEMORY)
			domain_add_around(address, d->setup->names.list[i].value);
}

static void begin_arguments(struct drawer *d)
{
	static const int64_t pids[] = {-2, -1, 0, INT32_MAX}, fds[] = {-1, -2, 999999},
			     cpus[] = {-1, -2, INT32_MAX}, flags[] = {1, 2, 4, 8, 16, 1U << 31};
	const struct environment *env = d->model->machine.env;
	const struct abi *abi = d->model->abi;
	struct domain *size = &d->size.domain;

	d->size.part = (struct call_part){PART_FIELD, d->model->machine.size};
	d->pid.part.of = PART_PID;
	d->cpu.part.of = PART_CPU;
	d->group_fd.part.of = PART_GROUP_FD;
	d->flags.part.of = PART_FLAGS;
	d->flags.toggles = true;
	domain_add_all(&d->pid.domain, pids, sizeof(pids));
	domain_add_all(&d->group_fd.domain, fds, sizeof(fds));
	for (size_t i = 0; i < d->setup->names.count; i++) {
		const struct setup_name *named = &d->setup->names.list[i];

		if (named->role == A_TASK || named->role == A_FILE)
			domain_add(&d->pid.domain, named->value);
		if (named->role == AN_EVENT || named->role == A_FILE)
			domain_add(&d->group_fd.domain, named->value);
	}
	for (unsigned cpu = 0; cpu < env->cpu_limit && cpu < 4; cpu++)
		domain_add(&d->cpu.domain, cpu);
	domain_add_around(&d->cpu.domain, env->cpu_limit);
	domain_add_all(&d->cpu.domain, cpus, sizeof(cpus));
	domain_add_all(&d->flags.domain, flags, sizeof(flags));
	domain_add(size, 0);
	domain_add(size, 1);
	for (size_t i = 0; i < abi->size_count; i++)
		domain_add_around(size, abi->sizes[i].size);
	domain_add_around(size, env->attr_size);
	domain_add_around(size, env->page_size);
	domain_add(size, UINT32_MAX);
	for (size_t i = 0; i < size->count; i++)
		if (size->values[i] <= env->page_size)
			domain_add(&d->mapped, size->values[i]);
	for (uint64_t i = 2; i <= 8; i++)
		domain_add(&d->mapped, i);
}

void drawer_begin(struct drawer *d, const struct model *model, const struct setup *setup,
		  uint64_t seed)
{
	static const struct objects nothing;
	const struct caller nobody = {.as = AS_USER, .has_files = true};
	struct evaluation evaluation;

	*d = (struct drawer){.model = model, .setup = setup, .state = seed};
	begin_fields(d);
	evaluation_begin(&evaluation, &model->machine, &setup->seeds[0].call, &nobody, &nothing);
	for (size_t i = 0; i < model->count; i++)
		gather_terms(d, &model->checks[i], &evaluation);
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
	const struct aspect *aspect = &d->fields[below(d, d->field_count)];
	const struct abi_family *set = aspect->part.field->set;
	uint64_t now = call_get(call, aspect->part);

	if (aspect->width == 1)
		now = !now;
	else if (set && set->mask && below(d, 3))
		now |= draw_value(d, &aspect->domain, aspect->width);
	else
		now = draw_value(d, &aspect->domain, aspect->width);
	call_set(call, aspect->part, now);
}

static void change_memory(struct drawer *d, struct call *call)
{
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
		call_set(call, d->size.part,
			 below(d, 4) ? pick(d, &d->size.domain) : random_next(&d->state) & 0xfff);
	}
}

static void change_argument(struct drawer *d, struct call *call, bool *no_files)
{
	const struct aspect *const arguments[] = {&d->pid,      &d->pid,      &d->cpu,  &d->cpu,
						  &d->group_fd, &d->group_fd, &d->flags};
	enum { COUNT = sizeof(arguments) / sizeof(arguments[0]) };
	size_t i = below(d, COUNT + 2);
	uint64_t value = i < COUNT ? pick(d, &arguments[i]->domain) : 0;

	if (i < COUNT && arguments[i]->toggles)
		value ^= call_get(call, arguments[i]->part);
	if (i < COUNT)
		call_set(call, arguments[i]->part, value);
	else if (i > COUNT)
		change_memory(d, call);
	else if (one_in(d, 16))
		*no_files = true;
}

void drawer_draw(struct drawer *d, struct call *call, bool *no_files)
{
	static const unsigned char changes[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 8, 12};
	const struct seed *seed;
	size_t n;

	do
		seed = &d->setup->seeds[below(d, d->setup->seed_count)];
	while (seed->rare > 1 && !one_in(d, seed->rare));
	n = changes[below(d, sizeof(changes))];
	call_assign(call, &seed->call, d->model->abi);
	*no_files = false;
	while (n--) {
		if (below(d, 5) < 3)
			change_field(d, call);
		else
			change_argument(d, call, no_files);
	}
}
