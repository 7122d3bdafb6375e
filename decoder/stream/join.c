/* SPDX-License-Identifier: MIT */
/*
 * Threads, processes and the kernel as MMAP, COMM, FORK, KSYMBOL tell of them;
 * tools/perf/util/machine.c.
 */
#include "stream/join.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/table.h"
#include "plan/record.h"
#include "text/json.h"

/* The fields that are read. */
#define FIELDS(FIELD)                                                                              \
	FIELD(IP, "ip"), FIELD(PID, "pid"), FIELD(TID, "tid"), FIELD(PPID, "ppid"),                \
		FIELD(PTID, "ptid"), FIELD(TIME, "time"), FIELD(PERIOD, "period"),                 \
		FIELD(CALLCHAIN, "callchain"), FIELD(IPS, "ips"), FIELD(COOKIE, "cookie"),         \
		FIELD(ADDR, "addr"), FIELD(LEN, "len"), FIELD(PGOFF, "pgoff"),                     \
		FIELD(FILENAME, "filename"), FIELD(BUILD_ID, "build_id"),                          \
		FIELD(BUILD_ID_SIZE, "build_id_size"), FIELD(COMM, "comm"), FIELD(NAME, "name"),   \
		FIELD(FLAGS, "flags")
#define AS_NUMBER(number, name) number
#define AS_NAME(number, name) name

enum wanted { FIELDS(AS_NUMBER), WANTED };

static const char *const wanted_names[] = {FIELDS(AS_NAME)};

/* Samples whose call chain ends in the same record. */
struct waiting_list {
	struct held *first, *last;
	unsigned count;
};

struct chain {
	const unsigned char *bytes;
	uint64_t count;
};

struct join {
	const struct events *events;
	struct record record;
	struct arena arena;
	/* What a program that is executed had mapped stays, as perf has it, until something else is
	 * there: samples on the way still have its addresses. */
	struct table processes; /* struct map * */
	struct table threads;   /* their names; NULL: not known */
	struct table objects, texts, symbols, build_ids, waiting;
	struct map *kernel;
	uint64_t random, numbers[WANTED];
	uint64_t kernel_mode, user_mode, guest_kernel_mode, guest_user_mode, fork_exec, unregister;
	uint64_t context_max, context_kernel, context_user, context_deferred;
	const struct perfabi_field *fields[WANTED]; /* of the record that is taken */
	const unsigned char *bytes;
	struct joined joined;
	size_t held_bytes;
	struct held *oldest, *newest;   /* of those that wait */
	bool is_over;                   /* no more records come */
	struct held *released, *handed; /* those that come next, and the one that was given out */
	struct chain deferred;          /* what their call chains end with */
	unsigned char addresses[UINT16_MAX];
	struct frame *frames;
	size_t frame_capacity;
	const struct perfabi_options *options; /* symbol() of them */
	char comm[32];
};

/* perf's map of the kernel ends with .text; so much is taken for the rest of it, .init.text. */
enum { KERNEL_IMAGE = 64 * 1024 * 1024, HELD_MAX = 64 * 1024 * 1024, HELD_A_COOKIE = 256 };

/* A number that nobody outside can know before. */
static uint64_t next_random(struct join *join)
{
	join->random ^= join->random << 13;
	join->random ^= join->random >> 7;
	join->random ^= join->random << 17;
	return join->random;
}

/* What the number has in the table; made of zeros if it has nothing yet. NULL: no memory. */
static void *entry(struct join *join, struct table *table, uint64_t key, size_t size)
{
	return table_entry(table, &join->arena, &key, sizeof(key), size);
}

static const char *keep_text(struct join *join, const void *bytes, size_t size)
{
	return table_text(&join->texts, &join->arena, bytes, size);
}

/* A file of that name and build ID, or of the build ID that the recording says the name has. */
static const struct object *object_named(struct join *join, const char *name, size_t size,
					 const char *build_id)
{
	const char *const *known;
	const void *key[2] = {NULL, NULL};
	struct object *object;

	size = size > PATH_MAX ? PATH_MAX : size; /* a line may have 8,000 of them */
	known = table_entry(&join->build_ids, &join->arena, name, size, sizeof(*known));
	key[0] = keep_text(join, name, size);
	if (!known || !key[0])
		return NULL;
	key[1] = build_id ? build_id : *known ? *known : "";
	object = table_entry(&join->objects, &join->arena, key, sizeof(key), sizeof(*object));
	if (object && !object->name)
		*object = (struct object){key[0], key[1], join->objects.count - 1};
	return object;
}

static const char *text_of_build_id(struct join *join, const unsigned char *bytes, size_t size)
{
	char text[64 + PUT_SLACK];

	size = size > 20 ? 20 : size;
	return keep_text(join, text, (size_t)(put_bytes(text, bytes, size) - text));
}

static const void *bytes_of(const struct join *join, enum wanted field, size_t *size)
{
	const struct perfabi_field *f = join->fields[field];

	*size = f ? (size_t)f->value : 0;
	return f ? join->bytes + f->offset : NULL;
}

struct join *join_new(const struct events *events, const struct perfabi_options *options)
{
	struct join *join = calloc(1, sizeof(*join));
	const struct abi *abi = events->abi;

	if (!join)
		return NULL;
	join->events = events;
	join->record = (struct record){.abi = abi};
	join->random = table_seed();
	for (int i = 0; i < WANTED; i++)
		join->numbers[i] = paths_number(events->with.paths, wanted_names[i]);
	join->kernel_mode = abi_number(abi, "cpumode", "kernel");
	join->user_mode = abi_number(abi, "cpumode", "user");
	join->guest_kernel_mode = abi_number(abi, "cpumode", "guest_kernel");
	join->guest_user_mode = abi_number(abi, "cpumode", "guest_user");
	join->fork_exec = abi_number(abi, "misc", "fork_exec");
	join->unregister = abi_number(abi, "ksymbol_flags", "unregister");
	join->context_max = abi_number(abi, "callchain_context", "max");
	join->context_kernel = abi_number(abi, "callchain_context", "kernel");
	join->context_user = abi_number(abi, "callchain_context", "user");
	join->context_deferred = abi_number(abi, "callchain_context", "user_deferred");
	join->options = options;
	return join;
}

void join_free(struct join *join)
{
	struct table *tables[] = {&join->threads,   &join->objects, &join->texts,    &join->symbols,
				  &join->build_ids, &join->waiting, &join->processes};

	while (join_next(join, true))
		; /* then all that it has */
	for (size_t i = 0; i < join->processes.capacity; i++)
		if (join->processes.slots[i].value)
			maps_drop(*(struct map **)join->processes.slots[i].value);
	maps_drop(join->kernel);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		free(tables[i]->slots);
	free(join->record.fields);
	free(join->frames);
	arena_free(&join->arena);
	free(join);
}

/* Reads the record's fields. False if they do not fit. */
static bool read_wanted(struct join *join, const struct lines_record *record,
			const unsigned char *bytes)
{
	enum record_problem problem;

	memset(join->fields, 0, sizeof(join->fields));
	join->bytes = bytes;
	join->record.order = join->events->order;
	problem =
		record_put(record->plan, &join->record, bytes, 8, record->size, record->misc, NULL);
	if (problem && problem < RECORD_IMPOSSIBLE)
		return false;
	for (size_t i = join->record.field_count; i--;)
		for (int k = 0; k < WANTED; k++)
			if (join->record.fields[i].number == join->numbers[k])
				join->fields[k] = &join->record.fields[i];
	return true;
}

static uint64_t value_of(const struct join *join, enum wanted field, uint64_t otherwise)
{
	return join->fields[field] ? join->fields[field]->value : otherwise;
}

/* Where an older perf wrote 0 for the size of a build ID, the zeros behind it tell. */
static int take_build_id(struct join *join)
{
	size_t most, name_size, size = (size_t)value_of(join, BUILD_ID_SIZE, 0);
	const unsigned char *id = bytes_of(join, BUILD_ID, &most);
	const char *name = bytes_of(join, FILENAME, &name_size), **known;

	if (!id || !name)
		return 0;
	while (!size && most && !id[most - 1])
		most--;
	known = table_entry(&join->build_ids, &join->arena, name, name_size, sizeof(*known));
	if (known)
		*known = text_of_build_id(join, id, size && size < most ? size : most);
	return known && *known ? 0 : -ENOMEM;
}

int join_build_ids(struct join *join, const unsigned char *bytes, size_t size)
{
	const struct events *events = join->events;
	struct lines_record record = {0};
	int slot = 0, err = 0;

	while (strcmp(events->records[slot].value->name, "header_build_id") != 0)
		if (++slot == (int)events->record_count)
			return 0;
	record.plan = events_plan(events, events->bare, slot);
	while (record.plan && size >= 8 && !err) {
		record.size = record_size(events, bytes);
		if (record.size < 8 || record.size > size)
			break;
		err = read_wanted(join, &record, bytes) ? take_build_id(join) : join->record.err;
		bytes += record.size;
		size -= record.size;
	}
	return record.plan ? err : -ENOMEM;
}

static int take_mmap(struct join *join, const struct lines_record *record)
{
	int64_t pid = (int64_t)value_of(join, PID, 0);
	unsigned mode = record->misc & MISC_CPUMODE;
	bool is_kernel = pid == -1 || mode == join->kernel_mode;
	struct map **maps =
		is_kernel ? NULL : entry(join, &join->processes, (uint64_t)pid, sizeof(*maps));
	uint64_t start = value_of(join, ADDR, 0), length = value_of(join, LEN, 0);
	uint64_t end = length > UINT64_MAX - start ? UINT64_MAX : start + length;
	const char *build_id = NULL;
	const struct object *object;
	size_t size, name_size;
	const void *id = bytes_of(join, BUILD_ID, &size);
	const char *name = bytes_of(join, FILENAME, &name_size);

	if (!is_kernel && !maps)
		return -ENOMEM;
	if (!name || mode == join->guest_kernel_mode || mode == join->guest_user_mode)
		return 0;
	if (id && size && !(build_id = text_of_build_id(join, id, size)))
		return -ENOMEM;
	if (is_kernel && name_size > 18 && !memcmp(name, "[kernel.kallsyms]_", 18)) {
		name_size = 17; /* _text or _stext: the symbol that perf found it by */
		if (end - start < KERNEL_IMAGE && start < UINT64_MAX - KERNEL_IMAGE)
			end = start + KERNEL_IMAGE;
	}
	object = object_named(join, name, name_size, build_id);
	if (!object)
		return -ENOMEM;
	return maps_add(is_kernel ? &join->kernel : maps, start, end, value_of(join, PGOFF, 0),
			object, next_random(join));
}

static int take_comm(struct join *join)
{
	const char **thread = entry(join, &join->threads, value_of(join, TID, 0), sizeof(*thread));
	size_t size;
	const char *comm = bytes_of(join, COMM, &size);

	if (!thread)
		return -ENOMEM;
	if (comm)
		*thread = keep_text(join, comm, size);
	return comm && !*thread ? -ENOMEM : 0;
}

static int take_fork(struct join *join, const struct lines_record *record)
{
	uint64_t pid = value_of(join, PID, 0), ppid = value_of(join, PPID, 0);
	const char **child = entry(join, &join->threads, value_of(join, TID, 0), sizeof(*child)),
		   **parent = entry(join, &join->threads, value_of(join, PTID, 0), sizeof(*parent));
	struct map **maps = entry(join, &join->processes, pid, sizeof(*maps)),
		   **from = entry(join, &join->processes, ppid, sizeof(*from));

	if (!child || !parent || !maps || !from)
		return -ENOMEM;
	*child = *parent;
	if (pid == ppid)
		return 0;
	maps_drop(*maps);
	/* perf makes such up for processes that were there, and then their maps */
	*maps = record->misc & join->fork_exec ? NULL : maps_share(*from);
	return 0;
}

static int take_ksymbol(struct join *join)
{
	uint64_t start = value_of(join, ADDR, 0), length = value_of(join, LEN, 0);
	const struct object *object;
	size_t size;
	const char *name = bytes_of(join, NAME, &size);

	if (value_of(join, FLAGS, 0) & join->unregister)
		return maps_remove(&join->kernel, start);
	object = name ? object_named(join, name, size, NULL) : NULL;
	if (!object || length > UINT64_MAX - start)
		return name && !object ? -ENOMEM : 0;
	return maps_add(&join->kernel, start, start + length, 0, object, next_random(join));
}

/* The name of what is at that place of the object, looked up once; NULL: none is known. */
static const char *symbol_at(struct join *join, const struct object *object, uint64_t offset)
{
	static const char none[] = "";
	const uint64_t key[2] = {object->number, offset};
	const char **known;
	char name[1024];

	if (!join->options->symbol)
		return NULL;
	known = table_entry(&join->symbols, &join->arena, key, sizeof(key), sizeof(*known));
	if (known && !*known)
		*known = join->options->symbol(join->options->symbol_context, object->name,
					       object->build_id, offset, name, sizeof(name)) > 0
				 ? keep_text(join, name, strlen(name))
				 : none;
	return known && *known && *known != none ? *known : NULL;
}

/* Adds the frame of an address in these maps. 0 or -ENOMEM. */
static int add_frame(struct join *join, uint64_t ip, const struct map *maps)
{
	const struct map *map = maps_find(maps, ip);
	struct frame *frame;

	if (list_grow(&join->frames, join->joined.frame_count, &join->frame_capacity,
		      sizeof(*join->frames)))
		return -ENOMEM;
	frame = &join->frames[join->joined.frame_count++];
	*frame = (struct frame){.ip = ip};
	if (!map)
		return 0;
	frame->object = map->object;
	frame->offset = ip - map->start + map->pgoff;
	frame->symbol = symbol_at(join, frame->object, frame->offset);
	return 0;
}

/*
 * The addresses of an array field, in the maps `in` until a marker among them says otherwise, then
 * the kernel's, the process's or, in a guest, none. Where the rest of them comes later, *cookie
 * says in which record.
 */
static int add_chain(struct join *join, const struct chain *chain, const struct map *process,
		     const struct map *in, const unsigned char **cookie)
{
	bool swap = join->events->order != host_order();
	const unsigned char *at = chain->bytes;
	int err = 0;

	for (uint64_t i = 0; i < chain->count && !err; i++, at += 8) {
		uint64_t ip = load_swapped(at, 8, swap);

		if (ip < join->context_max)
			err = add_frame(join, ip, in);
		else if (ip == join->context_deferred)
			*cookie = ++i < chain->count ? at += 8 : NULL;
		else
			in = ip == join->context_kernel ? join->kernel
			     : ip == join->context_user ? process
							: NULL;
	}
	return err;
}

/* Keeps a sample until the record with that cookie comes. 1, -ENOMEM, or 0 where too many wait. */
static int hold(struct join *join, const struct lines_record *record, struct place place,
		uint64_t cookie)
{
	struct waiting_list *list = entry(join, &join->waiting, cookie, sizeof(*list));
	struct held *held;

	join->joined.is_cut = list && (list->count == HELD_A_COOKIE || join->held_bytes > HELD_MAX);
	if (join->joined.is_cut)
		return 0;
	held = list ? malloc(sizeof(*held) + record->size) : NULL;
	if (!held)
		return -ENOMEM;
	join->held_bytes += sizeof(*held) + record->size;
	*held = (struct held){.older = join->newest, .record = *record, .place = place};
	held->record.head = NULL; /* which is the lines', and does not last */
	memcpy(held->bytes, join->bytes, record->size);
	if (list->last)
		list->last->next = held;
	else
		list->first = held;
	list->last = held;
	list->count++;
	*(held->older ? &held->older->newer : &join->oldest) = held;
	join->newest = held;
	return 1;
}

static struct chain chain_of(const struct join *join, enum wanted field)
{
	const struct perfabi_field *f = join->fields[field];

	return (struct chain){join->bytes + f->offset + f->size - 8 * f->value, f->value};
}

/* The samples that wait for this record come next. */
static int take_deferred(struct join *join)
{
	struct waiting_list *list =
		entry(join, &join->waiting, value_of(join, COOKIE, 0), sizeof(*list));
	struct chain chain;

	if (!list || !join->fields[IPS])
		return list ? 0 : -ENOMEM;
	chain = chain_of(join, IPS);
	if (list->first) { /* it is in a record of 64 KiB at most */
		memcpy(join->addresses, chain.bytes, 8 * chain.count);
		join->deferred = (struct chain){join->addresses, chain.count};
	}
	join->released = list->first;
	for (struct held *held = list->first; held; held = held->next) {
		*(held->older ? &held->older->newer : &join->oldest) = held->newer;
		*(held->newer ? &held->newer->older : &join->newest) = held->older;
	}
	*list = (struct waiting_list){0};
	return 0;
}

/* 0, 1 if it is held, or -ENOMEM. */
static int take_sample(struct join *join, const struct lines_record *record, struct place place)
{
	const unsigned char *cookie = NULL;
	struct joined *joined = &join->joined;
	struct map **maps = entry(join, &join->processes, value_of(join, PID, 0), sizeof(*maps));
	const char **thread = entry(join, &join->threads, value_of(join, TID, 0), sizeof(*thread));
	unsigned mode = record->misc & MISC_CPUMODE;
	const struct map *in = NULL;
	uint64_t period = record->event < 0 ? 1 : join->events->list[record->event].period;
	int err = maps && thread ? 0 : -ENOMEM;

	*joined = (struct joined){.event = record->event,
				  .pid = (int64_t)value_of(join, PID, UINT64_MAX),
				  .tid = (int64_t)value_of(join, TID, UINT64_MAX),
				  .time = value_of(join, TIME, 0),
				  .period = value_of(join, PERIOD, period)};
	if (err)
		return err;
	if (mode == join->kernel_mode || mode == join->user_mode)
		in = mode == join->kernel_mode ? join->kernel : *maps;
	snprintf(join->comm, sizeof(join->comm), ":%" PRId64, joined->tid);
	joined->comm = *thread ? *thread : joined->tid ? join->comm : "swapper";
	if (join->fields[CALLCHAIN]) {
		struct chain chain = chain_of(join, CALLCHAIN);

		err = add_chain(join, &chain, *maps, in, &cookie);
	}
	if (!err && cookie && !join->handed)
		err = hold(join, record, place, load_word(cookie, 8, join->events->order));
	if (!err && cookie && join->handed)
		err = add_chain(join, &join->deferred, *maps, *maps, &cookie);
	if (!err && !joined->frame_count && join->fields[IP])
		err = add_frame(join, join->fields[IP]->value, in);
	joined->frames = join->frames;
	return err;
}

int join_take(struct join *join, const struct lines_record *record, const unsigned char *bytes,
	      struct place place, const struct joined **joined)
{
	const char *name = record->plan->name;
	int err = 0;

	*joined = NULL;
	if (!read_wanted(join, record, bytes))
		return join->record.err;
	if (!strcmp(name, "header_build_id")) {
		err = take_build_id(join);
	} else if (join->events->is_tool[record->index]) {
		return 0;
	} else if (join->events->is_sample[record->index]) {
		err = take_sample(join, record, place);
		*joined = err ? NULL : &join->joined;
	} else if (!strcmp(name, "mmap") || !strcmp(name, "mmap2")) {
		err = take_mmap(join, record);
	} else if (!strcmp(name, "comm")) {
		err = take_comm(join);
	} else if (!strcmp(name, "fork")) {
		err = take_fork(join, record);
	} else if (!strcmp(name, "ksymbol")) {
		err = take_ksymbol(join);
	} else if (!strcmp(name, "callchain_deferred")) {
		err = take_deferred(join);
	}
	return err;
}

const struct held *join_next(struct join *join, bool at_end)
{
	free(join->handed);
	if (at_end && !join->is_over) { /* all that wait, in the order in which they came */
		join->is_over = true;
		join->released = join->oldest;
		join->deferred.count = 0;
		for (struct held *held = join->oldest; held; held = held->newer)
			held->next = held->newer;
	}
	join->handed = join->released;
	if (join->released) {
		join->held_bytes -= sizeof(*join->handed) + join->handed->record.size;
		join->released = join->released->next;
	}
	return join->handed;
}

static char *put_address(char *p, const char *key, uint64_t value, bool is_flat)
{
	p = put_text(p, key);
	return is_flat ? put_text(put_u64(p, value), ",")
		       : put_text(put_hex(put_text(p, "\"0x"), value), "\",");
}

static char *put_member_text(char *p, const char *key, const char *name, bool is_flat)
{
	return (is_flat ? put_lossy : put_string)(put_text(p, key), (const unsigned char *)name,
						  strlen(name));
}

static char *put_frame(char *p, const struct frame *frame, bool is_flat)
{
	p = put_address(p, "{\"ip\":", frame->ip, is_flat);
	if (frame->object) {
		p = put_member_text(p, "\"object\":", frame->object->name, is_flat);
		p = put_text(put_text(p, ",\"build_id\":\""), frame->object->build_id);
		p = put_address(p, "\",\"object_offset\":", frame->offset, is_flat);
	}
	if (frame->symbol) {
		p = put_member_text(p, "\"symbol\":", frame->symbol, is_flat);
		*p++ = ',';
	}
	return put_text(put_close(p, '}'), ",");
}

size_t join_longest(const struct joined *joined)
{
	size_t longest = PUT_STRING_FIXED + PUT_STRING_MAX * strlen(joined->comm) + 64;

	for (size_t i = 0; i < joined->frame_count; i++) {
		const struct frame *frame = &joined->frames[i];

		longest += 256 +
			   (frame->object ? PUT_STRING_MAX * strlen(frame->object->name) : 0) +
			   (frame->symbol ? PUT_STRING_MAX * strlen(frame->symbol) : 0);
	}
	return longest;
}

char *join_put(const struct joined *joined, bool is_flat, char *p)
{
	p = put_member_text(p, "\"comm\":", joined->comm, is_flat);
	p = put_text(p, ",\"frames\":[");
	for (size_t i = 0; i < joined->frame_count; i++)
		p = put_frame(p, &joined->frames[i], is_flat);
	return put_text(put_close(p, ']'), ",");
}
