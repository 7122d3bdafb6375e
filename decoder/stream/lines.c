/* SPDX-License-Identifier: MIT */
#include "stream/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/join.h"
#include "text/ascii.h"
#include "text/json.h"

enum { CPUS_MAX = 65536 };

void lines_init(struct lines *lines, const struct events *events,
		const struct lines_options *options, struct out *out)
{
	*lines = (struct lines){
		.events = events,
		.options = *options,
		.out = out,
		.modes = abi_family(events->abi, "cpumode"),
		.bits = abi_family(events->abi, "misc"),
		.changes = UINT_MAX,
		.credit = LINES_CREDIT,
	};
	lines->raw = (struct record){
		.abi = events->abi, .lossy = events->with.flat, .again = lines->again};
	lines->record = lines->raw;
	lines->record.raw = &lines->raw;
	lines->record.notes = options->notes;
	lines->record.strict = options->strict;
	if (options->notes || options->strict)
		lines->record.again = NULL;
	for (size_t i = 0; i <= events->record_count; i++) {
		const char *name =
			i < events->record_count ? events->records[i].value->name : "unknown";
		char *p = put_text(lines->begin[i].text, "{\"type\":\"");

		for (size_t k = 0; name[k] && k < sizeof(lines->begin[i].name) - 1; k++)
			lines->begin[i].name[k] = ascii_upper(name[k]);
		p = put_text(put_text(p, lines->begin[i].name), "\",");
		p = put_text(p, options->no_offset ? "" : "\"offset\":");
		lines->begin[i].length = (size_t)(p - lines->begin[i].text);
	}
}

void lines_free(struct lines *lines)
{
	out_free(&lines->notes);
	free(lines->last_time);
	free(lines->record.fields);
	*lines = (struct lines){0};
}

/* Behind the offset's key. */
static char *put_place(char *p, struct place place)
{
	p = put_u64(p, place.offset);
	*p++ = ',';
	if (place.part) {
		p = put_u64(put_text(p, "\"file\":\"data."), place.part - 1);
		p = put_text(p, "\",");
	}
	if (place.within < 0)
		return p;
	return put_text(put_u64(put_text(p, "\"within\":"), (uint64_t)place.within), ",");
}

/*
 * An error is what is missing from the output, or cannot be believed; a warning, what is not
 * understood or in order, and all there; a note, what kernels and perf write and should not.
 */
static const char *const grade_names[GRADES] = {"error", "warning", "note"};

/* Codes that are no errors. */
static const struct {
	const char *code;
	enum perfabi_grade grade;
} lesser[] = {
	{"overwritten", PERFABI_WARNING}, /* a buffer that goes round is meant to */
	{"size-unaligned", PERFABI_WARNING},
	{"unknown-type", PERFABI_WARNING},
	{"unknown-bits", PERFABI_WARNING},
	{"bytes-left", PERFABI_WARNING},
	{"impossible", PERFABI_WARNING},
	{"unterminated", PERFABI_WARNING},
	{"time-order", PERFABI_WARNING},
	{"attr-short", PERFABI_WARNING}, /* an older perf may have rewritten it */
	{"id-shared", PERFABI_WARNING},  /* their records have the same fields */
	{"feature", PERFABI_WARNING},
	{"format", PERFABI_NOTE},
	{"no-format", PERFABI_NOTE},
	{"reserved", PERFABI_NOTE},
	{"padding", PERFABI_NOTE},
	{"more", PERFABI_NOTE}, /* each of them counts in its own grade */
};

void lines_diagnostic(struct lines *lines, struct place place, const char *code, uint64_t skipped,
		      const char *format, ...)
{
	struct diagnostic wrong = {place, code, PERFABI_ERROR, skipped, ""};
	va_list args;
	char *p;

	if (lines->options.silent)
		return;
	va_start(args, format);
	vsnprintf(wrong.message, sizeof(wrong.message), format, args);
	va_end(args);
	for (size_t i = 0; i < sizeof(lesser) / sizeof(lesser[0]); i++)
		if (!strcmp(lesser[i].code, code))
			wrong.grade = lesser[i].grade;
	lines->sums.diagnostics[wrong.grade]++;
	lines->sums.skipped += skipped;
	if (lines->limit && !--lines->limit) {
		lines->limit = 1;
		lines->unsaid++;
		return;
	}
	if (lines->say && lines->say(lines->say_to, &wrong))
		lines->out->err = -ENOMEM;
	p = lines->profile || lines->say
		    ? NULL
		    : out_room(lines->out, sizeof(wrong.message) * PUT_STRING_MAX + 256);
	if (!p)
		return;
	p = put_place(put_text(p, "{\"type\":\"diagnostic\",\"offset\":"), place);
	p = put_text(put_text(put_text(p, "\"code\":\""), code), "\",\"grade\":\"");
	p = put_text(put_text(p, grade_names[wrong.grade]), "\",\"message\":");
	p = put_string(p, (const unsigned char *)wrong.message, strlen(wrong.message));
	if (skipped)
		p = put_u64(put_text(p, ",\"skipped\":"), skipped);
	lines->out->at = put_text(p, "}\n");
}

void lines_id_clashes(struct lines *lines, struct events *events, struct place place)
{
	static const struct {
		const char *code, *text;
	} kinds[] = {{"id-shared", "records of the first are taken for the second's"},
		     {"id-twice", "records of the first, which have other fields, are read as the "
				  "second's"}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct id_clash *clash = &events->clashes[i];

		if (!clash->found || clash->said)
			continue;
		clash->said = true;
		lines_diagnostic(lines, place, kinds[i].code, 0,
				 "attrs %d and %d both have the id %llu: %s", clash->first,
				 clash->second, (unsigned long long)clash->id, kinds[i].text);
	}
}

void lines_no_ids(struct lines *lines, struct events *events, struct place place)
{
	if (events->ids.count || events->no_ids_said || !events_differ(events))
		return;
	events->no_ids_said = true;
	lines_diagnostic(lines, place, "no-id", 0,
			 "attrs without ids that want different members in sample_id: all records "
			 "are read by the first");
}

void lines_no_formats(struct lines *lines, const struct events *events, struct place place)
{
	size_t count = events->formatless, first = 0;

	if (!count)
		return;
	while (!events->list[first].is_traced || events->list[first].format)
		first++;
	lines_diagnostic(lines, place, "no-format", 0,
			 "%zu tracepoint%s no format, %s%s: raw data is hexadecimal (--tracefs DIR "
			 "reads formats)",
			 count, count == 1 ? " has" : "s have", count == 1 ? "" : "the first is ",
			 events->list[first].name->name);
}

/* The cpumode by its name where it is not 0, then the names of the bits that the type has. */
static char *put_misc_names(char *p, const struct lines *lines, const struct plan *plan,
			    uint16_t misc)
{
	const struct abi_family *bits = lines->bits;
	const struct abi_value *mode = abi_value_of(lines->modes, misc & MISC_CPUMODE);
	uint64_t rest = misc;

	if (lines->events->with.flat)
		return put_text(put_u64(put_text(p, "\"misc\":"), misc), ",");
	p = put_text(p, "\"misc\":[");
	if (mode && mode->value) {
		p = put_text(put_text(put_text(p, "\""), mode->name), "\",");
		rest &= ~(uint64_t)MISC_CPUMODE;
	}
	for (size_t i = 0; i < bits->count && rest; i++) {
		const struct abi_value *bit = &bits->values[i];

		if (!(rest & bit->value) || !abi_is_of_record(bit, plan->name))
			continue;
		rest &= ~bit->value;
		p = put_text(put_text(put_text(p, "\""), bit->name), "\",");
	}
	if (rest)
		p = put_text(put_hex(put_text(p, "\"0x"), rest), "\"");
	return put_text(put_close(p, ']'), ",");
}

static bool writes_lines(const struct lines *lines)
{
	return !lines->options.unwritten && !lines->options.silent && !lines->profile;
}

/* Type, place, size: what is known of a record before anything is. */
static char *put_begin(char *p, struct lines *lines, int slot, struct place place)
{
	const char *text = lines->begin[slot].text;
	size_t length = lines->begin[slot].length;

	if (lines->options.no_offset)
		return put_key(p, text, length);
	if (place.offset < 10000 || place.within >= 0 || place.part)
		return put_place(put_key(p, text, length), place);
	p = put_again(p, lines->again, text, text, length, place.offset / 10000);
	p = put_all4(p, (uint32_t)(place.offset % 10000));
	*p++ = ',';
	return p;
}

static char *put_size(char *p, struct lines *lines, const struct lines_record *header)
{
	static const char key[PUT_KEY] = "\"size\":";

	if (lines->options.no_size)
		return p;
	p = put_again(p, lines->again, key, key, strlen(key), header->size);
	*p++ = ',';
	return p;
}

/* Size, misc and event: but for the size, the same for all records of a head. */
static char *put_head(char *p, struct lines *lines, const struct lines_record *header)
{
	struct head *head = header->head;
	char *end = p;
	size_t from;

	if (__builtin_expect(head && head->length, 1)) {
		from = head->size == header->size ? 0 : head->misc;
		p = from ? put_size(p, lines, header) : p;
		memcpy(p, head->text + from, PUT_SLACK);
		if (head->length > PUT_SLACK)
			memcpy(p, head->text + from, head->length - from);
		return p + head->length - from;
	}
	end = put_size(p, lines, header);
	from = (size_t)(end - p);
	if (!lines->options.no_misc)
		end = put_misc_names(end, lines, header->plan, header->misc);
	if (header->event >= 0 && !lines->options.no_event) {
		const struct event_name *name = lines->events->list[header->event].name;

		end = put_key(end, name->text, name->length);
	}
	if (header->event >= 0 && lines->options.event_index)
		end = put_text(put_u64(put_text(end, "\"event_index\":"), (uint64_t)header->event),
			       ",");
	if (head && (size_t)(end - p) <= sizeof(head->text)) {
		head->size = header->size;
		head->misc = (uint16_t)from;
		head->length = (size_t)(end - p);
		memcpy(head->text, p, head->length);
	}
	return end;
}

/*
 * A record that no plan describes; its type may not be known. `large`: how long it is, if that is
 * more than fits its header.
 */
static void put_raw(struct lines *lines, struct place place, const struct lines_record *header,
		    const unsigned char *bytes, uint64_t large)
{
	size_t begin = header->slot >= 0 ? (size_t)header->slot : lines->events->record_count;
	char *p = out_room(lines->out, 2 * (size_t)header->size + 512);

	if (!p || !writes_lines(lines))
		return;
	p = put_key(p, lines->begin[begin].text, lines->begin[begin].length);
	p = lines->options.no_offset ? p : put_place(p, place);
	if (large) {
		p = put_u64(put_text(p, "\"size\":"), large);
		p = put_u64(put_text(p, ",\"passed_over\":"), large - 8);
		lines->out->at = put_text(p, "}\n");
		return;
	}
	p = put_size(p, lines, header);
	if (header->slot < 0)
		p = put_text(put_u64(put_text(p, "\"type_id\":"), header->type), ",");
	if (lines->events->with.flat && !lines->options.no_misc)
		p = put_text(put_u64(put_text(p, "\"misc\":"), header->misc), ",");
	else if (!lines->options.no_misc)
		p = put_text(put_hex(put_text(p, "\"misc\":[\"0x"), header->misc), "\"],");
	if (!lines->options.no_bytes)
		p = put_text(put_bytes(put_text(p, "\"bytes\":\""), bytes + 8, header->size - 8u),
			     "\",");
	lines->out->at = put_text(put_close(p, '}'), "\n");
}

/* For --bytes. False if there is no memory. */
static bool room_for_notes(struct lines *lines, const struct plan *plan)
{
	if (!lines->options.notes)
		return true;
	lines->record.at = out_room(&lines->notes, plan->paths);
	if (!lines->record.at)
		lines->out->err = -ENOMEM;
	return lines->record.at;
}

static void check_time(struct lines *lines, struct place place, const char *name)
{
	const struct record *r = &lines->record;
	uint64_t last;

	/* a perf.data may have buffers of both directions */
	if (!r->has_time || !r->has_cpu || !r->time || r->cpu >= CPUS_MAX ||
	    lines->options.backward != lines->events->is_backward)
		return;
	if (!lines->last_time)
		lines->last_time = calloc(CPUS_MAX, sizeof(*lines->last_time));
	if (!lines->last_time) {
		lines->out->err = -ENOMEM;
		return;
	}
	last = lines->last_time[r->cpu];
	if (last && (lines->options.backward ? r->time > last : r->time < last))
		lines_diagnostic(lines, place, "time-order", 0,
				 "%s: time %llu on cpu %llu is %s the %llu of the record before it",
				 name, (unsigned long long)r->time, (unsigned long long)r->cpu,
				 lines->options.backward ? "behind" : "before",
				 (unsigned long long)last);
	lines->last_time[r->cpu] = r->time;
}

static void say_findings(struct lines *lines, struct place place, const struct lines_record *header)
{
	static const struct {
		const char *code, *text;
	} texts[] = {{"reserved", "reserved bits or bytes are not zero"},
		     {"padding", "the padding behind it is not zero"},
		     {"unterminated", "it does not end in a NUL"},
		     {"unknown-bits", "a value or bit that cases/abi has no name for"}};
	const char *name = lines->begin[header->slot].name;

	if (header->size % 8 && !lines->events->is_tool[header->index])
		lines_diagnostic(lines, place, "size-unaligned", 0,
				 "%s: its size %u is no multiple of 8", name, header->size);
	if (header->misc & ~(header->plan->misc_known | MISC_CPUMODE))
		lines_diagnostic(lines, place, "reserved", 0,
				 "%s: misc 0x%x has bits without a meaning here", name,
				 header->misc);
	for (size_t i = 0; i < lines->record.finding_count; i++) {
		const struct finding *found = &lines->record.findings[i];

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
			if (!strcmp(found->code, texts[k].code))
				lines_diagnostic(
					lines, place, found->code, 0, "%s: %s%sbyte %u: %s", name,
					found->path ? found->path : "", found->path ? ", " : "",
					found->offset, texts[k].text);
	}
	check_time(lines, place, name);
}

/* What the record says was lost: samples that a PMU dropped are no records. */
static void add_lost(struct lines *lines, const struct plan *plan, const unsigned char *bytes,
		     const struct lines_record *header)
{
	uint64_t lost;

	if (lines->options.silent || header->size < (size_t)plan->lost_offset + 8)
		return;
	lost = load_word(bytes + plan->lost_offset, 8, lines->events->order);
	if (plan->lost_samples)
		lines->sums.lost_samples += lost;
	else
		lines->sums.lost += lost;
}

static void say_problem(struct lines *lines, struct place place, const struct lines_record *header,
			enum record_problem problem)
{
	const char *code = problem == RECORD_LEFT         ? "bytes-left"
			   : problem == RECORD_IMPOSSIBLE ? "impossible"
			   : problem >= RECORD_UNKNOWN    ? "unknown-shape"
							  : "field-past-end";
	char text[160];

	lines_diagnostic(lines, place, code, 0, "%s: %s", lines->begin[header->slot].name,
			 record_problem_text(problem, &lines->record, text, sizeof(text)));
}

/* The plan for records of that slot; NULL: there is no shape, or no memory, which ends the
 * decoding. */
static const struct plan *plan_of(struct lines *lines, struct shape *shape, int slot)
{
	const struct plan *plan = shape ? events_plan(lines->events, shape, slot) : NULL;

	if (shape && !plan)
		lines->out->err = -ENOMEM;
	return plan;
}

/* The plan of a record that names no event. Likewise. */
static const struct plan *first_plan(struct lines *lines, const struct lines_record *record)
{
	const struct events *events = lines->events;
	struct shape *first = events->shape_count ? events->shapes[0] : NULL;

	return plan_of(lines, events->is_tool[record->index] ? events->bare : first, record->slot);
}

/* Which event a record is of and what to read it by; none where that cannot be known. */
static void find_plan(struct lines *lines, struct lines_record *header, const unsigned char *bytes,
		      struct place place)
{
	const struct events *events = lines->events;
	const char *name = lines->begin[header->slot].name;
	struct shape *shape;

	header->plan = first_plan(lines, header);
	if (events->is_tool[header->index] || !header->plan ||
	    !(header->plan->trailer || events->is_sample[header->index]))
		return;
	header->event = events_find(events, header->index, bytes, header->size, &shape);
	if (header->event == EVENT_UNKNOWN)
		lines_diagnostic(lines, place, "unknown-id", 0,
				 "%s: the id in it is of no event of this recording", name);
	if (header->event == EVENT_GUESSED)
		lines_diagnostic(lines, place, "no-id", 0,
				 "%s: it names no event, and not all attrs have it like the "
				 "first, by which it is read",
				 name);
	header->plan = plan_of(lines, shape, header->slot);
}

/*
 * Members and bytes where a record did not fit its plan, behind the diagnostic that says so: the
 * line is taken back and written again behind it. NULL: no memory.
 */
static char *put_misfit(struct lines *lines, struct place place, const struct lines_record *header,
			const unsigned char *bytes, enum record_problem problem, const char *start,
			size_t length, size_t longest)
{
	char *copy = malloc(length ? length : 1), *p;

	if (!copy) {
		lines->out->err = -ENOMEM;
		return NULL;
	}
	memcpy(copy, start, length);
	say_problem(lines, place, header, problem);
	p = out_room(lines->out, longest);
	if (p) {
		memcpy(p, copy, length);
		p += length;
	}
	free(copy);
	if (!p || problem >= RECORD_IMPOSSIBLE || lines->options.no_bytes)
		return p;
	p = put_bytes(put_text(p, "\"bytes\":\""), bytes + 8, header->size - 8u);
	return put_text(p, "\",");
}

static bool is_asked_for(const struct lines *lines, const struct lines_record *record)
{
	return !lines->options.types || lines->options.types[record->index];
}

/*
 * What others say of a sample, and what it says of others. False if it gets no line: it waits for
 * another, a profile takes it, or nobody asks for its type.
 */
static bool join_line(struct lines *lines, const struct lines_record *header,
		      const unsigned char *bytes, struct place place, const struct joined **joined)
{
	int err = join_take(lines->join, header, bytes, place, joined);

	if (*joined && (*joined)->is_cut)
		lines_diagnostic(lines, place, "deferred", 0,
				 "SAMPLE: the rest of its call chain comes later, and more samples "
				 "wait for theirs than there is room for");
	if (!err && lines->profile && *joined)
		err = profile_add(lines->profile, *joined);
	if (err < 0)
		lines->out->err = err;
	return !err && !lines->profile && is_asked_for(lines, header);
}

/* The line of a record by its plan. */
static void put_line(struct lines *lines, const struct lines_record *header,
		     const unsigned char *bytes, struct place place)
{
	const struct plan *plan = header->plan;
	const struct format *format =
		header->event >= 0 ? lines->events->list[header->event].format : NULL;
	size_t longest, n;
	const struct joined *joined = NULL;
	enum record_problem problem;
	char *start, *p;

	if (lines->join && !join_line(lines, header, bytes, place, &joined))
		return;
	lines->record.format = format;
	longest = record_longest(plan, &lines->record, header->size) +
		  (joined ? join_longest(joined) : 0);
	start = out_room(lines->out, longest);
	if (!start || !room_for_notes(lines, plan))
		return;
	p = put_head(put_begin(start, lines, header->slot, place), lines, header);
	problem = record_put(plan, &lines->record, bytes, 8, header->size, header->misc, &p);
	if (__builtin_expect(lines->record.err, 0))
		lines->out->err = lines->record.err;
	if (__builtin_expect(problem != RECORD_OK, 0)) {
		p = put_misfit(lines, place, header, bytes, problem, start, (size_t)(p - start),
			       longest);
		if (!p)
			return;
	}
	if (joined)
		p = join_put(joined, lines->events->with.flat, p);
	n = lines->options.notes ? (size_t)(lines->record.at - lines->notes.base) : 0;
	if (n) {
		p = put_text(p, "\"at\":{");
		memcpy(p, lines->notes.base, n - 1);
		p = put_text(p + n - 1, "},");
	}
	p = put_close(p, '}');
	*p++ = '\n';
	if (writes_lines(lines))
		lines->out->at = p;
	if (__builtin_expect(lines->record.misfit, 0))
		lines_diagnostic(lines, place, "format", 0,
				 "%s: its raw data does not fit the format of %s:%s, and is "
				 "hexadecimal",
				 lines->begin[header->slot].name, format->system, format->name);
	if (lines->options.strict)
		say_findings(lines, place, header);
}

/* Which event a record is of, and what to read it by, if it is to be read. */
static void find_reading(struct lines *lines, const unsigned char *bytes, struct place place,
			 struct lines_record *record)
{
	const struct lines_options *options = &lines->options;

	if (record->slot < 0) {
		lines_diagnostic(lines, place, "unknown-type", 0, "cases/abi has no record type %u",
				 record->type);
		record->taken = options->types && !options->types[0] ? LINES_PASSED_BY : LINES_RAW;
		return;
	}
	if (options->types && !options->types[record->index] && !options->strict && !lines->join) {
		/* only what it says was lost counts, and what later records go by */
		const struct plan *plan = first_plan(lines, record);
		bool is_read = plan && plan->keeps && room_for_notes(lines, plan);
		size_t longest = is_read ? record_longest(plan, &lines->record, record->size) : 0;
		char *p = is_read ? out_room(lines->out, longest) : NULL;

		record->taken = LINES_PASSED_BY;
		if (plan && plan->lost_offset)
			add_lost(lines, plan, bytes, record);
		if (p)
			record_put(plan, &lines->record, bytes, 8, record->size, record->misc, &p);
		return;
	}
	find_plan(lines, record, bytes, place);
	if (record->plan)
		record->taken = LINES_BY_PLAN;
	else if (record->event == EVENT_NONE)
		lines_diagnostic(lines, place, "no-attr", 0, "%s: no attr describes it",
				 lines->begin[record->slot].name);
}

/* A record that is not like the last of its head, but with `word` and `id`, if it has one. */
static __attribute__((noinline)) struct lines_record *
take_new(struct lines *lines, const unsigned char *bytes, struct place place, struct head *head,
	 uint64_t word, uint64_t id, bool has_id)
{
	const struct events *events = lines->events;
	struct lines_record *record = &lines->unlike;

	*record = (struct lines_record){.taken = LINES_RAW,
					.type = (uint32_t)load_word(bytes, 4, events->order),
					.misc = (uint16_t)load_word(bytes + 4, 2, events->order),
					.size = (uint16_t)load_word(bytes + 6, 2, events->order),
					.event = EVENT_NONE,
					.kind = ++lines->kinds};
	record->index = (uint16_t)type_index(record->type);
	record->slot = events->slot_of[record->index];
	find_reading(lines, bytes, place, record);
	if (record->taken != LINES_BY_PLAN ||
	    (has_id ? record->event < 0 : !events->is_tool[record->index] && events->count != 1))
		return record; /* its bytes say more than its head */
	record->head = head;
	*head = (struct head){.word = word, .id = id, .record = *record};
	return &head->record;
}

/*
 * Counts a record, and finds out by what to read it, if it is to be read. What it returns is good
 * until the next one.
 */
static inline struct lines_record *take_header(struct lines *lines, const unsigned char *bytes,
					       const struct place *place)
{
	const struct events *events = lines->events;
	bool swap = events->order != host_order();
	unsigned index = type_index((uint32_t)load_swapped(bytes, 4, swap));
	size_t size = load_swapped(bytes + 6, 2, swap);
	const struct id_place *place_of_id =
		events->is_sample[index] ? &lines->sample_id : &lines->other_id;
	bool has_id = size >= place_of_id->least && !events->is_tool[index];
	struct lines_record *record;
	uint64_t word, id = 0;
	struct head *head;

	memcpy(&word, bytes, 8);
	word &= htole64(UINT64_C(0xffffffffffff));
	if (has_id)
		memcpy(&id, bytes + (place_of_id->at < 0 ? size : 0) + place_of_id->at, 8);
	head = &lines->heads[(word ^ id) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
	record = &head->record;
	if (__builtin_expect(head->word == word && head->id == id && record->plan, 1))
		record->size = (uint16_t)size;
	else
		record = take_new(lines, bytes, *place, head, word, id, has_id);
	if (!lines->options.silent) {
		lines->sums.bytes += size;
		if (record->slot >= 0)
			lines->sums.records[record->slot]++;
		else
			lines->sums.unknown++;
	}
	if (record->taken == LINES_BY_PLAN && record->plan->lost_offset)
		add_lost(lines, record->plan, bytes, record);
	return record;
}

/* Forgets what was kept of events that are no more, and finds where all attrs have ids now. */
static void forget_events(struct lines *lines)
{
	const struct events *events = lines->events;
	const struct shape *first = events->count ? events->shapes[0] : NULL;
	bool samples = events->count > 1 && first->sample_id >= 0;
	bool others = first && first->tail_id >= 0;

	lines->changes = events->changes;
	lines->record.fixed = NULL;
	memset(lines->again, 0, sizeof(lines->again));
	memset(lines->heads, 0, sizeof(lines->heads));
	for (size_t i = 1; i < events->shape_count; i++) {
		const struct shape *shape = events->shapes[i];

		samples = samples && shape->sample_id == first->sample_id;
		others = others && shape->tail_id == first->tail_id && shape->tail == first->tail;
	}
	lines->sample_id = lines->other_id = (struct id_place){.least = SIZE_MAX};
	if (samples)
		lines->sample_id =
			(struct id_place){first->sample_id, (size_t)first->sample_id + 8};
	if (others)
		lines->other_id = (struct id_place){-first->tail_id, first->tail + 8u};
}

static inline void set_recording(struct lines *lines)
{
	lines->record.order = lines->events->order;
	lines->record.arch = lines->events->with.arch;
	if (__builtin_expect(lines->changes != lines->events->changes, 0))
		forget_events(lines);
}

const struct lines_record *lines_take(struct lines *lines, const unsigned char *bytes,
				      const struct place *place)
{
	const struct lines_record *record;
	enum record_problem problem;

	set_recording(lines);
	record = take_header(lines, bytes, place);
	if (record->taken != LINES_BY_PLAN) {
		lines->record.field_count = 0;
		lines->record.fixed = NULL;
		return record;
	}
	if (record_take_fixed(record->plan, &lines->record, bytes, record->size))
		return record;
	problem = record_put(record->plan, &lines->record, bytes, 8, record->size, record->misc,
			     NULL);
	if (lines->record.err)
		lines->out->err = lines->record.err;
	if (problem)
		say_problem(lines, *place, record, problem);
	if (problem && problem < RECORD_IMPOSSIBLE)
		lines->record.field_count = 0;
	return record;
}

bool lines_fits(struct lines *lines, const unsigned char *bytes, size_t size)
{
	const struct events *events = lines->events;
	unsigned type = record_type(events, bytes);
	uint16_t misc = (uint16_t)load_word(bytes + 4, 2, events->order);
	struct shape *shape = events->bare;
	int slot = events->slot_of[type];
	const struct plan *plan;
	struct record trial;
	bool fits;
	char *p;

	if (slot < 0 || (!events->is_tool[type] &&
			 events_find(events, type, bytes, size, &shape) == EVENT_UNKNOWN))
		return false;
	plan = plan_of(lines, shape, slot);
	if (!plan || (misc & ~(plan->misc_known | MISC_CPUMODE)))
		return false;
	set_recording(lines);
	/* nothing that comes out of it stays: it may be no record, or not its turn */
	trial = lines->record;
	trial.notes = false;
	trial.strict = true;
	trial.again = NULL;
	p = out_room(lines->out, record_longest(plan, &trial, size));
	fits = p && record_put(plan, &trial, bytes, 8, size, misc, &p) == RECORD_OK;
	for (size_t i = 0; i < trial.finding_count; i++) /* a text of the wrong length */
		if (!strcmp(trial.findings[i].code, "padding") ||
		    !strcmp(trial.findings[i].code, "unterminated"))
			fits = false;
	return fits;
}

void lines_put_held(struct lines *lines, bool at_end)
{
	const struct held *held;

	while ((held = join_next(lines->join, at_end))) {
		struct lines_record record = held->record;
		bool silent = lines->options.silent;

		lines->options.silent = true; /* it was said when the sample came */
		find_plan(lines, &record, held->bytes, held->place); /* its own may be no more */
		lines->options.silent = silent;
		if (record.plan)
			put_line(lines, &record, held->bytes, held->place);
	}
}

void lines_put(struct lines *lines, const unsigned char *bytes, size_t size, struct place place)
{
	set_recording(lines);
	while (size >= 8) {
		struct lines_record *record = take_header(lines, bytes, &place);
		size_t n = record->size;

		if (record->taken == LINES_BY_PLAN)
			put_line(lines, record, bytes, place);
		else if (record->taken == LINES_RAW && is_asked_for(lines, record))
			put_raw(lines, place, record, bytes, 0);
		if (lines->join)
			lines_put_held(lines, false);
		bytes += n;
		size -= n;
		place_advance(&place, n);
	}
}

void lines_put_large(struct lines *lines, const unsigned char *bytes, uint64_t size,
		     struct place place)
{
	const struct lines_record *record = take_header(lines, bytes, &place);

	if (!lines->options.silent)
		lines->sums.bytes += size - record->size;
	if (record->taken != LINES_PASSED_BY && is_asked_for(lines, record))
		put_raw(lines, place, record, bytes, size);
}

void lines_add_sums(struct lines_sums *to, const struct lines_sums *from)
{
	const uint64_t *more = (const uint64_t *)from; /* it has nothing but these */
	uint64_t *sums = (uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*sums); i++)
		sums[i] += more[i];
}

void lines_summary(struct lines *lines, const struct lines_sums *sums)
{
	struct out *out = lines->out;
	const char *comma = "";

	out_text(out, "{\"type\":\"summary\",\"records\":{");
	for (size_t i = 0; i < lines->events->record_count; i++) {
		if (!sums->records[i])
			continue;
		out_format(out, "%s\"%s\":%" PRIu64, comma, lines->begin[i].name, sums->records[i]);
		comma = ",";
	}
	if (sums->unknown)
		out_format(out, "%s\"UNKNOWN\":%" PRIu64, comma, sums->unknown);
	out_format(out,
		   "},\"bytes\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"lost_samples\":%" PRIu64
		   ",\"skipped\":%" PRIu64 ",\"passed_over\":%" PRIu64 ",\"errors\":%" PRIu64
		   ",\"warnings\":%" PRIu64 ",\"notes\":%" PRIu64 "}\n",
		   sums->bytes, sums->lost, sums->lost_samples, sums->skipped, sums->passed_over,
		   sums->diagnostics[PERFABI_ERROR], sums->diagnostics[PERFABI_WARNING],
		   sums->diagnostics[PERFABI_NOTE]);
}
