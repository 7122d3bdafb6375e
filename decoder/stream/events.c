/* SPDX-License-Identifier: MIT */
#include "stream/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/record.h"

static const char *const record_families[] = {"record", "tool_record"};

/* The bits, of events->uses, of the fields that a layout uses; one for which there is no bit. */
struct user {
	struct events *events;
	uint32_t uses;
	const struct abi_field *excess;
};

static void note_use(void *context, const struct abi_field *field)
{
	struct user *user = context;
	struct events *events = user->events;
	size_t i = 0;

	while (i < events->use_count && events->uses[i] != field)
		i++;
	if (i == USES_MAX) {
		user->excess = field;
		return;
	}
	if (i == events->use_count)
		events->uses[events->use_count++] = field;
	user->uses |= UINT32_C(1) << i;
}

/* 0, or -EINVAL with `e` filled. */
static int uses_of(struct events *events, const struct layout *layout, uint32_t *uses,
		   struct error *e)
{
	struct user user = {.events = events};

	layout_attr_fields(&layout->list, note_use, &user);
	*uses = user.uses;
	return user.excess ? error_name(e, NULL, user.excess->name, NULL,
					"records that depend on no more than %d fields of attr",
					USES_MAX)
			   : 0;
}

static void slot_records(struct events *events)
{
	const struct abi *abi = events->abi;

	for (int i = 0; i < TYPES; i++)
		events->slot_of[i] = -1;
	for (size_t f = 0; f < sizeof(record_families) / sizeof(record_families[0]); f++) {
		const struct abi_family *family = abi_family(abi, record_families[f]);

		for (size_t i = 0; family && i < family->count; i++) {
			const struct abi_value *value = &family->values[i];
			unsigned type = type_index((uint32_t)value->value);

			if (!type || value->value > UINT32_MAX || events->slot_of[type] >= 0)
				continue;
			events->records[events->record_count].family = family;
			events->records[events->record_count].value = value;
			events->is_sample[type] = !strcmp(value->name, "sample");
			events->is_tool[type] = f > 0;
			events->slot_of[type] = (int)events->record_count++;
		}
	}
}

static void forget_plan(struct plan **plan)
{
	if (*plan)
		plan_free(*plan);
	free(*plan);
	*plan = NULL;
}

static void shape_free(struct shape *shape, size_t slots)
{
	if (!shape)
		return;
	for (size_t i = 0; shape->plans && i < slots; i++)
		forget_plan(&shape->plans[i]);
	pthread_mutex_destroy(&shape->making);
	free(shape->plans);
	free(shape->attr);
	free(shape);
}

void events_free(struct events *events)
{
	for (size_t i = 0; i < events->shape_count; i++)
		shape_free(events->shapes[i], events->record_count);
	shape_free(events->bare, events->record_count);
	for (size_t i = 0; i < events->count; i++)
		free(events->list[i].name);
	free(events->list);
	formats_free(&events->formats);
	free(events->ids.slots);
	*events = (struct events){0};
}

/* Where the id stands: IDENTIFIER, which has one place in all attrs, then ID, then STREAM_ID. */
static int id_offset(const struct plan *plan, const char *object)
{
	static const char *const names[] = {"identifier", "id", "stream_id"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[32];
		int offset;

		snprintf(path, sizeof(path), "%s%s", object, names[i]);
		offset = plan_offset(plan, path);
		if (offset >= 0)
			return offset;
	}
	return -1;
}

const struct plan *events_make_plan(const struct events *events, struct shape *shape, int slot)
{
	struct plan *plan;

	pthread_mutex_lock(&shape->making);
	plan = shape->plans[slot];
	if (!plan) {
		plan = malloc(sizeof(*plan));
		if (plan && plan_make(plan, &shape->with, events->records[slot].value->layout)) {
			free(plan);
			plan = NULL;
		}
		if (plan)
			plan->tail = plan->trailer ? shape->tail : 0;
		__atomic_store_n(&shape->plans[slot], plan, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&shape->making);
	return plan;
}

/* The size of the sample_id, and where ids are. */
static int find_places(struct shape *shape, const struct events *events)
{
	const struct plan *sample;
	struct plan trailer;
	int at, err = plan_make(&trailer, &shape->with, abi_layout(events->abi, "sample_id"));

	if (err)
		return err;
	shape->tail = (uint32_t)plan_fixed_size(&trailer);
	at = id_offset(&trailer, "sample_id.");
	shape->tail_id = at >= 0 ? (int)shape->tail - at : -1;
	at = plan_offset(&trailer, "sample_id.time");
	shape->tail_time = at >= 0 ? (int)shape->tail - at : -1;
	shape->tail_names = UINT64_C(0xcbf29ce484222325); /* tells one list from another */
	for (size_t i = 0; i < trailer.count; i++)
		for (const char *p = trailer.ops[i].path; p && *p; p++)
			shape->tail_names =
				(shape->tail_names ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	plan_free(&trailer);
	for (int type = 0; type < TYPES; type++) {
		if (!events->is_sample[type])
			continue;
		sample = events_plan(events, shape, events->slot_of[type]);
		if (!sample)
			return -ENOMEM;
		shape->sample_id = id_offset(sample, "");
		shape->sample_time = plan_offset(sample, "time");
	}
	return 0;
}

/* NULL when there is no memory. */
static struct shape *shape_new(const struct events *events, const unsigned char *attr)
{
	struct shape *shape = calloc(1, sizeof(*shape));

	if (!shape)
		return NULL;
	pthread_mutex_init(&shape->making, NULL);
	shape->sample_id = -1;
	shape->plans = calloc(events->record_count, sizeof(*shape->plans));
	shape->attr = calloc(1, events->abi->attr_size);
	if (!shape->plans || !shape->attr) {
		shape_free(shape, 0);
		return NULL;
	}
	if (attr)
		memcpy(shape->attr, attr, events->abi->attr_size);
	shape->with = events->with;
	shape->with.attr = shape->attr;
	return shape;
}

int events_init(struct events *events, const struct abi *abi, struct error *e)
{
	uint32_t trailer = 0;
	int err = 0;

	*events = (struct events){.abi = abi, .order = host_order(), .with = {.abi = abi}};
	slot_records(events);
	for (size_t i = 0; i < events->record_count && !err; i++)
		err = uses_of(events, events->records[i].value->layout, &events->records[i].uses,
			      e);
	if (!err)
		err = uses_of(events, abi_layout(abi, "sample_id"), &trailer, e);
	for (size_t i = 0; i < events->record_count; i++)
		events->records[i].uses &= ~trailer;
	return err;
}

int events_begin(struct events *events, const struct events *base, const struct plan_for *with)
{
	*events = *base;
	events->with = *with;
	events->with.abi = base->abi;
	events->formats.flat = with->flat;
	events->formats.value_names = with->value_names;
	events->bare = shape_new(events, NULL);
	return events->bare ? find_places(events->bare, events) : -ENOMEM;
}

int events_gather(const struct events *events, struct paths *paths)
{
	struct plan_for with = {.abi = events->abi, .gathered = json_object()};
	int err = with.gathered ? 0 : -ENOMEM;

	*paths = (struct paths){.gathered = with.gathered};
	for (size_t i = 0; i < events->record_count && !err; i++) {
		struct plan plan;

		err = plan_make(&plan, &with, events->records[i].value->layout);
		if (!err)
			plan_free(&plan);
	}
	return err ? err : paths_sort(paths);
}

static int shape_of(struct events *events, const unsigned char *attr, struct error *e)
{
	uint64_t key[USES_MAX] = {0};
	struct shape *shape;
	int err;

	for (size_t i = 0; i < events->use_count; i++)
		key[i] = attr_get(events->uses[i], attr, host_order());
	for (size_t i = 0; i < events->shape_count; i++)
		if (!memcmp(events->shapes[i]->key, key, sizeof(key)))
			return (int)i;
	if (events->shape_count == SHAPES_MAX)
		return error_text(e, NULL, "one more", "no more than %d kinds of attrs",
				  SHAPES_MAX);
	shape = shape_new(events, attr);
	if (!shape)
		return -ENOMEM;
	memcpy(shape->key, key, sizeof(key));
	err = find_places(shape, events);
	if (err) {
		shape_free(shape, events->record_count);
		return err;
	}
	events->shapes[events->shape_count] = shape;
	return (int)events->shape_count++;
}

static void set_format(struct events *events, size_t i)
{
	if (!events->list[i].is_traced)
		return;
	events->list[i].format = formats_find(&events->formats, events->list[i].config);
	events->formatless += !events->list[i].format;
}

void events_set_formats(struct events *events)
{
	events->formatless = 0;
	for (size_t i = 0; i < events->count; i++)
		set_format(events, i);
	events->changes++;
}

uint64_t events_attr(const struct events *events, const unsigned char *attr, size_t size,
		     const char *name)
{
	const struct abi_field *field = abi_field(events->abi, name);

	return field && field->offset + field->size <= size ? attr_get(field, attr, events->order)
							    : 0;
}

int events_add(struct events *events, const unsigned char *attr, size_t size, struct error *e)
{
	const struct abi *abi = events->abi;
	unsigned char *native;
	int shape;

	if (events->count == EVENTS_MAX)
		return error_text(e, NULL, "one more", "no more than %d attrs", EVENTS_MAX);
	native = calloc(1, abi->attr_size);
	if (!native ||
	    list_grow(&events->list, events->count, &events->capacity, sizeof(*events->list))) {
		free(native);
		return -ENOMEM;
	}
	/* field by field into the host's order; layouts need nothing that a newer kernel has */
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];

		if (field->offset + field->size <= size && !field->alias_of)
			attr_set(field, native, host_order(), attr_get(field, attr, events->order));
	}
	shape = shape_of(events, native, e);
	if (shape >= 0) {
		uint64_t type = events_attr(events, attr, size, "type");

		events->list[events->count] = (__typeof__(*events->list)){
			.shape = events->shapes[shape],
			.is_traced = type == abi_number(abi, "type", "tracepoint") &&
				     events_attr(events, attr, size, "sample_type") &
					     abi_number(abi, "sample_type", "raw"),
			.type = type,
			.config = events_attr(events, attr, size, "config"),
			.period = events_attr(events, attr, size, "freq")
					  ? 1
					  : events_attr(events, attr, size, "sample_period"),
		};
		events->is_backward |= events_attr(events, attr, size, "write_backward");
		events->count++;
		events->changes++;
		set_format(events, events->count - 1);
	}
	free(native);
	return shape < 0 ? shape : (int)events->count - 1;
}

void events_set_arch(struct events *events, const struct abi_arch *arch)
{
	if (!arch || arch == events->with.arch || events->arch_is_given)
		return;
	events->with.arch = arch;
	events->changes++;
	for (size_t i = 0; i < events->shape_count; i++) {
		struct shape *shape = events->shapes[i];

		shape->with.arch = arch;
		for (size_t k = 0; k < events->record_count; k++)
			forget_plan(&shape->plans[k]);
	}
}

int events_add_id(struct events *events, uint64_t id, int event)
{
	int other = events_of_id(events, id);

	if (events->ids.count >= IDS_MAX)
		return -E2BIG;
	if (other >= 0 && other != event) {
		struct id_clash *clash =
			&events->clashes[events->list[other].shape != events->list[event].shape];

		if (!clash->found)
			*clash = (struct id_clash){true, false, id, other, event};
	}
	events->changes++;
	return table_put(&events->ids, &id, sizeof(id), (void *)((uintptr_t)event + 1));
}

int events_of_id(const struct events *events, uint64_t id)
{
	void *event = table_find(&events->ids, &id, sizeof(id));

	return event ? (int)((uintptr_t)event - 1) : EVENT_UNKNOWN;
}

/* The id in a record as that shape would have it; false if it has none. */
static bool id_in(const struct events *events, const struct shape *shape, bool is_sample,
		  const unsigned char *bytes, size_t size, uint64_t *id)
{
	int place = is_sample ? shape->sample_id : shape->tail_id;
	size_t at = (size_t)place, least = (is_sample ? at : shape->tail) + 8;

	if (place < 0 || size < least)
		return false;
	*id = load_word(bytes + (is_sample ? at : size - at), 8, events->order);
	return true;
}

bool events_differ(const struct events *events)
{
	for (size_t i = 1; i < events->shape_count; i++)
		if (events->shapes[i]->tail_names != events->shapes[0]->tail_names)
			return true;
	return false;
}

/*
 * A record that names no event is read by the first attr, as perf does. Those that perf makes up
 * have zeros for a sample_id, and are as it says; of others that is a guess if there are attrs that
 * say otherwise. (Where there are no ids at all, the attrs tell.)
 */
static int of_no_event(const struct events *events, unsigned type, const unsigned char *bytes,
		       size_t size)
{
	uint32_t tail = events->shapes[0]->tail, uses = events->records[events->slot_of[type]].uses;

	for (size_t i = 1; i < events->shape_count; i++)
		for (size_t k = 0; k < events->use_count; k++)
			if (uses >> k & 1 && events->shapes[i]->key[k] != events->shapes[0]->key[k])
				return EVENT_GUESSED;
	if (events->shape_count < 2 || !events->ids.count || size < tail + 8)
		return EVENT_NONE;
	while (tail && !bytes[size - tail])
		tail--;
	return tail && events_differ(events) ? EVENT_GUESSED : EVENT_NONE;
}

int events_find(const struct events *events, unsigned type, const unsigned char *bytes, size_t size,
		struct shape **shape)
{
	bool is_sample = events->is_sample[type], named = false, is_zero = false;

	*shape = events->shape_count ? events->shapes[0] : NULL;
	if (!events->count)
		return EVENT_NONE;
	if (is_sample && events->count == 1)
		return 0;
	for (size_t i = 0; i < events->shape_count; i++) {
		uint64_t id = 0;
		int event;

		if (!id_in(events, events->shapes[i], is_sample, bytes, size, &id))
			continue;
		if (!id && !is_sample) { /* perf wrote it, for no event */
			is_zero = true;
			continue;
		}
		event = events_of_id(events, id);
		if (event >= 0 && events->list[event].shape == events->shapes[i]) {
			*shape = events->shapes[i];
			return event;
		}
		named = true;
	}
	if (is_sample && events->shape_count > 1)
		*shape = NULL;
	if (is_sample || (named && !is_zero && events->ids.count))
		return EVENT_UNKNOWN;
	return of_no_event(events, type, bytes, size);
}

int events_time(const struct events *events, unsigned type, const unsigned char *bytes, size_t size,
		uint64_t *time)
{
	struct shape *shape;
	bool is_sample = events->is_sample[type];
	const struct plan *plan;
	int at;

	*time = 0;
	if (!type || events->is_tool[type] || events->slot_of[type] < 0)
		return 0;
	events_find(events, type, bytes, size, &shape);
	plan = shape ? events_plan(events, shape, events->slot_of[type]) : NULL;
	if (!plan || (!is_sample && (!plan->trailer || shape->tail_time < 0)))
		return shape && !plan ? -ENOMEM : 0;
	at = is_sample ? shape->sample_time : (int)size - shape->tail_time;
	if (at >= 8 && (size_t)at + 8 <= size)
		*time = load_word(bytes + at, 8, events->order);
	return 0;
}
