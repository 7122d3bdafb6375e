/* SPDX-License-Identifier: MIT */
#include "stream/perfdata_header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/join.h"
#include "text/json.h"

enum {
	ATTR_MAX = 4096,
	IDS_AT_ONCE = 4096,
	SECTION_MAX = 1024 * 1024, /* of one that is printed */
};

struct section {
	unsigned feature;
	const struct abi_value *value; /* NULL: cases/abi has none */
	struct segment range;
	uint64_t named_at; /* where the file says so; if it ends before, it is cut */
	bool is_cut, is_decoded;
};

/* What perfdata_header_put() works with, on its way through the file's sections. */
struct reader {
	const struct perfdata *file;
	struct input *in;
	struct events *events;
	struct lines *lines;
	struct out *out;
	uint64_t ids; /* bytes of ids so far */
	struct section sections[FEATURES];
	size_t section_count;
};

/* True if the range lies in the file; if not, a diagnostic says so of `what`, unless it is NULL. */
static bool in_file(const struct reader *r, const struct segment *range, uint64_t named_at,
		    const char *what)
{
	if (range->offset <= r->in->size && range->size <= r->in->size - range->offset)
		return true;
	if (what)
		lines_diagnostic(r->lines, place_at(named_at), "section-past-end", 0,
				 "%s: offset %llu, size %llu, in a file of %llu bytes", what,
				 (unsigned long long)range->offset, (unsigned long long)range->size,
				 (unsigned long long)r->in->size);
	return false;
}

int perfdata_header_add_id(struct events *events, uint64_t id, struct place place,
			   struct lines *lines, int *event)
{
	int err = *event >= 0 ? events_add_id(events, id, *event) : 0;

	if (err == -E2BIG) {
		lines_diagnostic(lines, place, "too-many-ids", 0, "more than %d ids", IDS_MAX);
		*event = -1;
	}
	lines_id_clashes(lines, events, place);
	if (events->found) {
		const json_t *last =
			json_array_get(*events->found, json_array_size(*events->found) - 1);

		if (json_array_append_new(json_object_get(last, "ids"), value_json(id)))
			return -ENOMEM;
	}
	return err == -ENOMEM ? err : 0;
}

static int put_ids(const struct reader *r, int event, const struct segment *range)
{
	unsigned char *ids = malloc(IDS_AT_ONCE * 8);
	int err = ids ? 0 : -ENOMEM;

	for (uint64_t at = 0; !err && at + 8 <= range->size;) {
		uint64_t left = (range->size - at) & ~UINT64_C(7);
		long n = input_read_at(r->in, range->offset + at, ids,
				       left < IDS_AT_ONCE * 8 ? (size_t)left : IDS_AT_ONCE * 8);

		err = n < 0 ? (int)n : 0;
		for (long i = 0; i + 8 <= n && !err; i += 8, at += 8) {
			uint64_t id = load_word(ids + i, 8, r->events->order);
			char *p = out_room(r->out, 22);

			err = perfdata_header_add_id(r->events, id, place_at(range->offset + at),
						     r->lines, &event);
			if (p)
				r->out->at = put_u64(at ? put_text(p, ",") : p, id);
		}
		err = err ? err : r->out->err;
	}
	free(ids);
	if (!err && range->size % 8)
		lines_diagnostic(r->lines, place_at(range->offset + range->size / 8 * 8),
				 "truncated", 0,
				 "an attr's ids end with a part of one: %u of 8 bytes",
				 (unsigned)(range->size % 8));
	return err;
}

/* The fields that decide how records are read, with bits that cases/abi has no name for. */
static void check_bits(struct events *events, const unsigned char *attr, size_t size,
		       uint64_t offset, struct lines *lines)
{
	static const char *const fields[] = {"sample_type", "read_format", "branch_sample_type"};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct abi_field *field = abi_field(events->abi, fields[i]);
		uint64_t value;

		if (!field || !field->set || field->offset + field->size > size)
			continue;
		value = attr_get(field, attr, events->order);
		for (size_t k = 0; k < field->set->count; k++)
			value &= ~field->set->values[k].value;
		if (value)
			lines_diagnostic(lines, place_at(offset + field->offset), "unknown-bits", 0,
					 "attr.%s has bits 0x%llx that cases/abi has no name for: "
					 "records may hold more than is known",
					 fields[i], (unsigned long long)value);
	}
}

/* Adds the attr to events->found, with the register names of their machine. 0 or -ENOMEM. */
static int add_found(const struct events *events, const unsigned char *attr, size_t size)
{
	json_t *json;

	if (!events->found)
		return 0;
	if (!*events->found)
		*events->found = json_array();
	json = attr_to_json(events->abi, events->with.arch, attr, size, events->order);
	return json_array_append_new(*events->found, json_pack("{s:o, s:[]}", "attr", json, "ids"))
		       ? -ENOMEM
		       : 0;
}

int perfdata_header_add_attr(struct events *events, const unsigned char *attr, size_t size,
			     uint64_t offset, struct lines *lines, int *event)
{
	struct error e = {0};

	*event = add_found(events, attr, size) ? -ENOMEM : events_add(events, attr, size, &e);
	check_bits(events, attr, size, offset, lines);
	if (*event >= 0)
		return names_by_attr(events, *event, attr, size);
	if (!error_is_set(&e) || e.no_memory)
		return -ENOMEM;
	lines_diagnostic(lines, place_at(offset), "attr", 0, "expected %s, got %s", e.expected,
			 e.got);
	return 0;
}

int given_attrs_add(const struct attr_list *list, struct events *events, struct error *e)
{
	enum byte_order order = events->order;
	size_t size = events->abi->attr_size;
	int err = 0;

	for (size_t i = 0; i < list->count && !err; i++) {
		int event;

		events->order = host_order();
		event = events_add(events, list->bytes + i * size, size, e);
		err = event < 0 ? event
				: names_by_attr(events, event, list->bytes + i * size, size);
		events->order = order;
		for (size_t k = 0; k < list->ids[i].count && !err; k++)
			err = events_add_id(events, list->ids[i].ids[k], event);
		if (err == -E2BIG)
			err = error_text(e, NULL, "more", "at most %d ids", IDS_MAX);
	}
	return err;
}

int given_attrs_put(const struct attr_list *list, const struct events *events, struct out *out)
{
	size_t size = events->abi->attr_size;
	int err = out_text(out, "\"attrs\":[");

	for (size_t i = 0; i < list->count && !err; i++) {
		const struct attr_ids *ids = &list->ids[i];
		char *text = attr_to_text(events->abi, events->with.arch, list->bytes + i * size,
					  size, host_order());

		out_text(out, i ? ",{\"attr\":" : "{\"attr\":");
		err = text ? out_text(out, text) : -ENOMEM;
		free(text);
		for (size_t k = 0; k < ids->count; k++) /* as --attr takes them back */
			out_format(out,
				   ids->ids[k] <= INT64_MAX ? "%s%" PRIu64 : "%s\"0x%" PRIx64 "\"",
				   k ? "," : ",\"ids\":[", ids->ids[k]);
		out_text(out, ids->count ? "]}" : "}");
	}
	err = err ? err : out_text(out, "]");
	return err ? err : names_put(events, out);
}

/*
 * How many bytes of the entry are the attr's. No kernel takes one that says it is smaller than the
 * first was; perf reads as much in any case.
 */
static size_t valid_size(const struct reader *r, const unsigned char *attr, uint64_t offset,
			 size_t entry)
{
	uint64_t size = load_word(attr + 4, 4, r->events->order);
	size_t smallest = r->events->abi->attr_smallest;

	if (!size)
		return smallest;
	if (size < smallest) {
		lines_diagnostic(r->lines, place_at(offset + 4), "attr-size", 0,
				 "attr.size is %llu, and no attr is smaller than %zu: it is read "
				 "as one of these",
				 (unsigned long long)size, smallest);
		return smallest;
	}
	if (size > entry) {
		lines_diagnostic(r->lines, place_at(offset + 4), "attr-short", 0,
				 "attr.size is %llu, and its entry has %zu bytes of it: the last "
				 "%llu are missing and taken for 0",
				 (unsigned long long)size, entry,
				 (unsigned long long)(size - entry));
		return entry;
	}
	return (size_t)size;
}

/* One entry: an attr and where its ids are. *more: others may follow. */
static int put_entry(struct reader *r, const unsigned char *entry, uint64_t offset, bool *more)
{
	const struct events *events = r->events;
	size_t attr_size = (size_t)r->file->attr_size - 16;
	size_t size = valid_size(r, entry, offset, attr_size);
	struct segment ids = perfdata_segment(entry + attr_size, events->order);
	int event, err = perfdata_header_add_attr(r->events, entry, size, offset, r->lines, &event);
	char *text = err ? NULL
			 : attr_to_text(events->abi, events->with.arch, entry, size, events->order);

	if (!text)
		return -ENOMEM;
	out_text(r->out, "{\"attr\":");
	out_text(r->out, text);
	out_text(r->out, ",\"ids\":[");
	free(text);
	/*
	 * Ids of attrs do not overlap: together they cannot be more than the file. A file that says
	 * so could grow without end.
	 */
	if (in_file(r, &ids, offset + attr_size, "ids of an attr")) {
		if (ids.size > r->in->size - r->ids) {
			lines_diagnostic(r->lines, place_at(offset + attr_size), "ids-overlap", 0,
					 "the ids of this attr and those before it are more than "
					 "the file's %llu bytes",
					 (unsigned long long)r->in->size);
		} else {
			r->ids += ids.size;
			err = put_ids(r, event, &ids);
		}
	}
	*more = event >= 0; /* that was said; there may be millions of them */
	return err ? err : out_text(r->out, "]}");
}

static int put_attrs(struct reader *r)
{
	const struct perfdata *file = r->file;
	unsigned char entry[ATTR_MAX + 16];
	uint64_t count = file->attr_size ? file->attrs.size / file->attr_size : 0;
	uint64_t smallest = r->events->abi->attr_smallest + 16u;
	bool sizes = file->attr_size >= smallest && file->attr_size <= sizeof(entry), more = true;
	int err = out_text(r->out, ",\"attrs\":[");

	if (!sizes && file->attrs.size)
		lines_diagnostic(r->lines, place_at(PERFDATA_ATTR_SIZE), "attr-size", 0,
				 "attr entries of %llu bytes: expected %llu to %zu",
				 (unsigned long long)file->attr_size, (unsigned long long)smallest,
				 sizeof(entry));
	if (!sizes || !in_file(r, &file->attrs, PERFDATA_ATTRS, "attrs"))
		count = 0;
	else if (file->attrs.size % file->attr_size)
		lines_diagnostic(r->lines, place_at(file->attrs.offset + count * file->attr_size),
				 "attr-size", 0,
				 "the attrs end with a part of an entry: %llu of %llu bytes",
				 (unsigned long long)(file->attrs.size % file->attr_size),
				 (unsigned long long)file->attr_size);
	for (uint64_t i = 0; !err && more && i < count; i++) {
		uint64_t offset = file->attrs.offset + i * file->attr_size;
		long n = input_read_at(r->in, offset, entry, (size_t)file->attr_size);

		err = n < 0 ? (int)n : i ? out_text(r->out, ",") : 0;
		if (!err)
			err = put_entry(r, entry, offset, &more);
	}
	lines_no_ids(r->lines, r->events, place_at(file->attrs.offset));
	return err ? err : out_text(r->out, "]");
}

static void put_feature_name(struct out *out, const struct section *section)
{
	if (section->value)
		out_format(out, "\"%s\":", section->value->name);
	else
		out_format(out, "\"feature_%u\":", section->feature);
}

/* "name":{"offset":...,"size":...}: where it is, not what. */
static int put_range(struct out *out, const struct section *section)
{
	put_feature_name(out, section);
	return out_format(out, "{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 "}",
			  section->range.offset, section->range.size);
}

/* The text of a section goes out as it grows, by out_spill(): a MiB of attrs is many of JSON. Or
 * nowhere, where it is only to be seen whether its layout fits. */
static char *forget(void *out, char *p)
{
	char *base = ((struct out *)out)->at;

	*base = p[-1]; /* which put_close() looks at */
	return base + 1;
}

static enum record_problem run_section(const struct reader *r, const struct plan *plan,
				       const unsigned char *bytes, size_t size,
				       char *(*where)(void *, char *), char **p)
{
	struct record *record = &r->lines->raw;
	enum record_problem problem;

	record->order = r->events->order;
	record->arch = r->events->with.arch;
	record->spill = where;
	record->spill_to = r->out;
	record->dry = where == forget;
	problem = record_put(plan, record, bytes, 0, size, 0, p);
	record->spill = NULL;
	record->dry = false;
	return problem;
}

/*
 * Bytes that no field accounts for make the members an object of their own: "rest" is in it. So
 * whether the layout fits is settled first: how the text begins hangs on it, and the text of a MiB
 * of attrs, 18 MiB, is more than may be held until its end is known.
 */
static int put_section(const struct reader *r, const struct section *section,
		       const struct plan *plan, const unsigned char *bytes)
{
	size_t size = (size_t)section->range.size;
	struct record *record = &r->lines->raw;
	size_t longest = record_longest(plan, record, size) + 256;
	char *p = out_room(r->out, longest), text[160];
	enum record_problem problem;

	if (!p)
		return -ENOMEM;
	problem = run_section(r, plan, bytes, size, forget, &p);
	if (problem)
		lines_diagnostic(r->lines, place_at(section->range.offset + record->failed_at),
				 "feature", 0, "%s: %s", section->value->name,
				 record_problem_text(problem, record, text, sizeof(text)));
	if (record->err)
		return record->err;
	if (problem && problem < RECORD_IMPOSSIBLE)
		return put_range(r->out, section);
	if (problem == RECORD_LEFT) {
		put_feature_name(r->out, section);
		out_text(r->out, "{");
	}
	p = out_room(r->out, longest);
	if (!p)
		return -ENOMEM;
	run_section(r, plan, bytes, size, out_spill, &p);
	p -= p[-1] == ',';
	if (problem == RECORD_LEFT)
		*p++ = '}';
	r->out->at = p;
	return record->err;
}

/* The bytes of a section that is decoded; NULL in *bytes where it is given by its place alone. */
static int read_section(struct input *in, const struct segment *range, size_t most,
			unsigned char **bytes)
{
	long n;

	*bytes = NULL;
	if (range->size > most)
		return 0;
	*bytes = malloc(range->size ? (size_t)range->size : 1);
	if (!*bytes)
		return -ENOMEM;
	n = input_read_at(in, range->offset, *bytes, (size_t)range->size);
	if (n == (long)range->size)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return n < 0 ? (int)n : 0;
}

static int put_feature(const struct reader *r, const struct section *section)
{
	const struct layout *layout = section->value ? section->value->layout : NULL;
	const struct plan_for with = {.abi = r->events->abi};
	unsigned char *bytes = NULL;
	struct plan plan;
	int err = 0;

	if (layout && (!layout->list.count || !section->range.size)) {
		put_feature_name(r->out, section);
		return out_text(r->out, layout->list.count ? "null" : "true");
	}
	if (layout)
		err = read_section(r->in, &section->range, SECTION_MAX, &bytes);
	if (err || !bytes)
		return err ? err : put_range(r->out, section);
	err = plan_make(&plan, &with, layout);
	if (!err) {
		err = put_section(r, section, &plan, bytes);
		plan_free(&plan);
	}
	free(bytes);
	return err;
}

/*
 * The table of sections stands behind the data and has an entry for each bit that is set; one that
 * is cut is the last that is known. 0 or a negative errno.
 */
static int read_sections(struct reader *r)
{
	const struct abi_family *features = abi_family(r->events->abi, "feature");
	const struct segment *data = &r->file->data;
	bool is_absurd = data->size > UINT64_MAX / 2 || data->offset > UINT64_MAX / 2;
	uint64_t at = is_absurd ? 0 : data->offset + data->size;
	unsigned char entry[16];

	for (unsigned i = 0; i < FEATURES; i++) {
		struct section *s = &r->sections[r->section_count];
		long n;

		if (!(r->file->features[i / 64] >> i % 64 & 1))
			continue;
		*s = (struct section){
			.feature = i, .value = abi_value_of(features, i), .named_at = at};
		r->section_count++;
		n = is_absurd ? 0 : input_read_at(r->in, at, entry, sizeof(entry));
		s->is_cut = n < (long)sizeof(entry);
		if (s->is_cut)
			return n < 0 ? (int)n : 0;
		s->range = perfdata_segment(entry, r->events->order);
		at += sizeof(entry);
	}
	return 0;
}

/* Bytes of one that was decoded before: all of them together could grow without end. */
static bool overlaps_others(const struct reader *r, const struct section *s)
{
	for (const struct section *other = r->sections; other < s; other++)
		if (other->is_decoded &&
		    s->range.offset < other->range.offset + other->range.size &&
		    other->range.offset < s->range.offset + s->range.size)
			return true;
	return false;
}

static int put_features(struct reader *r)
{
	const char *comma = "";
	int err = out_text(r->out, ",\"features\":{");

	for (size_t i = 0; i < r->section_count && !err; i++) {
		struct section *s = &r->sections[i];
		char what[32];

		if (s->is_cut) {
			lines_diagnostic(r->lines, place_at(s->named_at), "section-past-end", 0,
					 "the table of feature sections ends past the file");
			break;
		}
		snprintf(what, sizeof(what), "feature %u", s->feature);
		if (!in_file(r, &s->range, s->named_at, what))
			continue;
		out_text(r->out, comma);
		comma = ",";
		s->is_decoded = !overlaps_others(r, s);
		if (!s->is_decoded)
			lines_diagnostic(r->lines, place_at(s->named_at), "sections-overlap", 0,
					 "%s shares bytes with another section: only its place is "
					 "printed",
					 what);
		err = s->is_decoded ? put_feature(r, s) : put_range(r->out, s);
	}
	return err ? err : out_text(r->out, "}");
}

int perfdata_header_take_formats(struct events *events, const unsigned char *bytes, size_t size)
{
	/* a few bytes cost as a MiB does: all events are looked through each time */
	size_t cost = size > TRACING_DATA_MAX / 32 ? size : TRACING_DATA_MAX / 32;
	int err;

	if (cost > TRACING_DATA_MAX - events->formats.taken)
		return 0;
	events->formats.taken += cost;
	err = formats_add_all(&events->formats, events->abi, bytes, size);
	events_set_formats(events);
	return err == -ENOMEM ? err : names_by_formats(events);
}

int perfdata_header_take_feature(struct events *events, uint64_t feature,
				 const unsigned char *bytes, size_t size)
{
	const struct abi_value *value = abi_value_of(abi_family(events->abi, "feature"), feature);

	if (value && !strcmp(value->name, "tracing_data"))
		return perfdata_header_take_formats(events, bytes, size);
	return value && value->layout ? names_by(events, value, bytes, 0, size) : 0;
}

/* What records go by of a feature section: the machine, or names of events. */
static int take_section(const struct reader *r, const char *name)
{
	const struct section *s = r->sections, *end = s + r->section_count;
	unsigned char *bytes;
	int err;

	while (s < end && (!s->value || strcmp(s->value->name, name) != 0))
		s++;
	if (s == end || s->is_cut || !in_file(r, &s->range, 0, NULL) ||
	    (!r->lines->join && !strcmp(name, "build_id")))
		return 0;
	err = read_section(r->in, &s->range, TRACING_DATA_MAX, &bytes);
	if (!err && bytes && !strcmp(name, "build_id"))
		err = join_build_ids(r->lines->join, bytes, (size_t)s->range.size);
	else if (!err && bytes)
		err = perfdata_header_take_feature(r->events, s->value->value, bytes,
						   (size_t)s->range.size);
	free(bytes);
	return err;
}

int perfdata_header_put(const struct perfdata *file, struct input *in, struct events *events,
			struct lines *lines, struct out *out)
{
	static const char *const sections[] = {"tracing_data", "simpleperf_meta_info", "event_desc",
					       "build_id"};
	struct reader r = {.file = file, .in = in, .events = events, .lines = lines, .out = out};
	int err;

	out_format(out,
		   "{\"type\":\"header\",\"format\":\"perf.data%s\",\"version\":%u,"
		   "\"byte_order\":\"%s\"",
		   file->is_pipe ? " pipe" : "", file->version,
		   events->order == BIG ? "big" : "little");
	if (file->is_pipe)
		return out_text(out, "}\n");
	err = read_sections(&r);
	if (!err)
		err = take_section(&r, "arch");
	if (!err)
		err = put_attrs(&r);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && !err; i++)
		err = take_section(&r, sections[i]);
	if (!err && !events->found) {
		out_format(out, ",\"data\":{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 "}",
			   file->data.offset, file->data.size);
		err = names_put(events, out);
		if (!err)
			err = put_features(&r);
	}
	return err ? err : out_text(out, "}\n");
}
