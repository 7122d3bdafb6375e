/* SPDX-License-Identifier: MIT */
/*
 * perf.data as tools/perf/util/header.c writes it. The layouts of the sections are in cases/abi;
 * the file header is here.
 */
#include "perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum {
	OFFSET_SIZE = 8,
	OFFSET_ATTR_SIZE = 16,
	OFFSET_ATTRS = 24,
	OFFSET_FEATURES = 72,
	ATTR_MAX = 4096,
	IDS_AT_ONCE = 4096,
	SECTION_MAX = 1024 * 1024,
};

static const char magic_2[] = "PERFILE2", magic_1[] = "PERFFILE";

/* The magic is a number: a file of the other byte order has it backwards. */
static bool is_magic(const unsigned char *bytes, const char *magic, bool backwards)
{
	for (size_t i = 0; i < PERFDATA_MAGIC; i++)
		if (bytes[i] != (unsigned char)magic[backwards ? PERFDATA_MAGIC - 1 - i : i])
			return false;
	return true;
}

bool perfdata_detect(const unsigned char *bytes, size_t n, enum byte_order *order)
{
	if (n < PERFDATA_MAGIC)
		return false;
	/* PERFFILE was written as text, in either order alike; the sizes behind it tell. */
	if (is_magic(bytes, magic_1, false)) {
		*order = n >= 16 && load_word(bytes + OFFSET_SIZE, 8, LITTLE) > UINT32_MAX ? BIG
											   : LITTLE;
		return true;
	}
	if (is_magic(bytes, magic_2, false))
		*order = LITTLE;
	else if (is_magic(bytes, magic_2, true) || is_magic(bytes, magic_1, true))
		*order = BIG;
	else
		return false;
	return true;
}

static struct segment section_at(const unsigned char *bytes, enum byte_order order)
{
	return (struct segment){load_word(bytes, 8, order), load_word(bytes + 8, 8, order)};
}

/*
 * The bits were written as unsigned longs: by a big-endian machine of 32 bits the halves of each
 * word are the other way round. HOSTNAME, which perf always writes, tells.
 */
static void read_features(struct perfdata *file, const struct abi *abi, const unsigned char *bytes,
			  enum byte_order order)
{
	const struct abi_family *features = abi_family(abi, "feature");
	const struct abi_value *hostname = features ? abi_value(features, "hostname", NULL) : NULL;
	uint64_t bit = hostname && hostname->value < 32 ? UINT64_C(1) << hostname->value : 0;

	for (size_t i = 0; i < FEATURES / 64; i++)
		file->features[i] = load_word(bytes + 8 * i, 8, order);
	if (order == LITTLE || file->features[0] & bit || !(file->features[0] >> 32 & bit))
		return;
	for (size_t i = 0; i < FEATURES / 64; i++)
		file->features[i] = file->features[i] >> 32 | file->features[i] << 32;
}

int perfdata_open(struct perfdata *file, const struct abi *abi, struct input *in,
		  enum byte_order order, struct error *e)
{
	unsigned char bytes[PERFDATA_HEADER] = {0};
	size_t n = input_fill(in, PERFDATA_PIPE_HEADER);

	*file = (struct perfdata){.version = 2};
	if (n < PERFDATA_PIPE_HEADER)
		return error_text(e, NULL, "less", "a perf.data of at least %d bytes",
				  PERFDATA_PIPE_HEADER);
	memcpy(bytes, input_bytes(in), PERFDATA_PIPE_HEADER);
	if (is_magic(bytes, magic_1, false) || is_magic(bytes, magic_1, true))
		file->version = 1;
	file->header_size = load_word(bytes + OFFSET_SIZE, 8, order);
	if (file->header_size == PERFDATA_PIPE_HEADER) {
		file->is_pipe = true;
		return 0;
	}
	n = input_fill(in, PERFDATA_HEADER);
	if (n > PERFDATA_HEADER)
		n = PERFDATA_HEADER;
	memcpy(bytes, input_bytes(in), n);
	if (n < OFFSET_FEATURES || file->header_size < OFFSET_FEATURES)
		return error_text(e, NULL, "less", "a file header of at least %d bytes",
				  OFFSET_FEATURES);
	file->attr_size = load_word(bytes + OFFSET_ATTR_SIZE, 8, order);
	file->attrs = section_at(bytes + OFFSET_ATTRS, order);
	file->data = section_at(bytes + PERFDATA_DATA_OFFSET, order);
	if (file->header_size >= PERFDATA_HEADER && n == PERFDATA_HEADER)
		read_features(file, abi, bytes + OFFSET_FEATURES, order);
	file->open_ended = !file->data.size;
	return 0;
}

static struct place at_offset(uint64_t offset)
{
	return (struct place){offset, -1};
}

/* True if the range lies in the file; if not, a diagnostic says so. */
static bool in_file(const struct input *in, const struct segment *range, uint64_t named_at,
		    struct lines *lines, const char *what)
{
	if (range->offset <= in->size && range->size <= in->size - range->offset)
		return true;
	lines_diagnostic(lines, at_offset(named_at), "section-past-end", 0,
			 "%s: offset %llu, size %llu, in a file of %llu bytes", what,
			 (unsigned long long)range->offset, (unsigned long long)range->size,
			 (unsigned long long)in->size);
	return false;
}

static char *put_attr_json(struct out *out, const struct events *events, const unsigned char *bytes,
			   size_t size)
{
	json_t *json = attr_to_json(events->abi, events->arch, bytes, size, events->order);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL, *p = NULL;

	if (text && (p = out_room(out, strlen(text) + 64))) {
		p = put_text(put_text(p, "{\"attr\":"), text);
		out->at = p;
	}
	free(text);
	json_decref(json);
	return p;
}

static void put_ids(struct out *out, struct input *in, struct events *events, int event,
		    const struct segment *range, struct lines *lines)
{
	unsigned char *ids = malloc(IDS_AT_ONCE * 8);
	uint64_t at = 0;
	char *p = out_room(out, 16);

	if (p)
		out->at = put_text(p, ",\"ids\":[");
	while (ids && at + 8 <= range->size) {
		size_t want = range->size - at < IDS_AT_ONCE * 8 ? (size_t)(range->size - at)
								 : IDS_AT_ONCE * 8;
		long n = input_read_at(in, range->offset + at, ids, want & ~(size_t)7);

		p = out_room(out, IDS_AT_ONCE * 22);
		if (n < 8 || !p)
			break;
		for (long i = 0; i + 8 <= n; i += 8) {
			uint64_t id = load_word(ids + i, 8, events->order);

			if (event >= 0 && events_add_id(events, id, event) == -E2BIG) {
				lines_diagnostic(lines, at_offset(range->offset + at),
						 "too-many-ids", 0, "more than %d ids", IDS_MAX);
				event = -1;
			}
			p = put_u64(p, id);
			*p++ = ',';
		}
		out->at = p;
		at += (uint64_t)n;
	}
	free(ids);
	p = out_room(out, 16);
	if (p)
		out->at = put_text(put_close(out->at, ']'), "},");
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
			lines_diagnostic(lines, at_offset(offset + field->offset), "unknown-bits",
					 0,
					 "attr.%s has bits 0x%llx that cases/abi has no name for: "
					 "records may hold more than is known",
					 fields[i], (unsigned long long)value);
	}
}

int perfdata_add_attr(struct events *events, const unsigned char *attr, size_t size,
		      uint64_t offset, struct lines *lines)
{
	struct error e = {0};
	int event = events_add(events, attr, size, &e);

	check_bits(events, attr, size, offset, lines);
	if (event < 0)
		lines_diagnostic(lines, at_offset(offset), "attr", 0, "expected %s, got %s",
				 error_is_set(&e) ? e.expected : "memory",
				 error_is_set(&e) ? e.got : "none");
	return event;
}

static size_t valid_size(const struct events *events, const unsigned char *attr, uint64_t entry)
{
	uint64_t size = load_word(attr + 4, 4, events->order);

	if (!size)
		size = events->abi->attr_smallest;
	return (size_t)(size < entry ? size : entry);
}

static void put_attrs(const struct perfdata *file, struct input *in, struct events *events,
		      struct lines *lines, struct out *out)
{
	unsigned char entry[ATTR_MAX + 16];
	uint64_t count = file->attr_size ? file->attrs.size / file->attr_size : 0;
	uint64_t smallest = events->abi->attr_smallest + 16u;
	bool sizes = file->attr_size >= smallest && file->attr_size <= sizeof(entry);
	char *p = out_room(out, 16);

	if (p)
		out->at = put_text(p, "\"attrs\":[");
	if (!sizes && file->attrs.size)
		lines_diagnostic(lines, at_offset(OFFSET_ATTR_SIZE), "attr-size", 0,
				 "attr entries of %llu bytes: expected %llu to %zu",
				 (unsigned long long)file->attr_size, (unsigned long long)smallest,
				 sizeof(entry));
	if (!sizes || !in_file(in, &file->attrs, OFFSET_ATTRS, lines, "attrs"))
		count = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t offset = file->attrs.offset + i * file->attr_size;
		size_t attr_size = (size_t)file->attr_size - 16, size;
		struct segment ids;
		int event;

		if (input_read_at(in, offset, entry, (size_t)file->attr_size) <
		    (long)file->attr_size)
			break;
		size = valid_size(events, entry, attr_size);
		ids = section_at(entry + attr_size, events->order);
		event = perfdata_add_attr(events, entry, size, offset, lines);
		if (!in_file(in, &ids, offset + attr_size, lines, "ids of an attr"))
			ids.size = 0;
		if (!put_attr_json(out, events, entry, size))
			break;
		put_ids(out, in, events, event, &ids, lines);
		if (event < 0) /* that was said; there may be millions of them */
			break;
	}
	p = out_room(out, 16);
	if (p)
		out->at = put_text(put_close(out->at, ']'), ",");
}

static const struct abi_value *feature_value(const struct abi *abi, unsigned feature)
{
	const struct abi_family *features = abi_family(abi, "feature");

	return features ? abi_value_of(features, feature) : NULL;
}

static char *put_feature_name(char *p, const struct abi_value *value, unsigned feature)
{
	*p++ = '"';
	if (value)
		p = put_text(p, value->name);
	else
		p = put_u64(put_text(p, "feature_"), feature);
	return put_text(p, "\":");
}

static char *put_range(char *p, const struct segment *range)
{
	p = put_u64(put_text(p, "{\"offset\":"), range->offset);
	return put_text(put_u64(put_text(p, ",\"size\":"), range->size), "},");
}

/* Bytes that no field accounts for make the members an object of their own: "rest" is in it. */
static char *wrap(char *start, char *end, const struct abi_value *value, unsigned feature)
{
	char name[96];
	size_t n = (size_t)(put_feature_name(name, value, feature) - name);

	memmove(start + n + 1, start, (size_t)(end - start));
	memcpy(start, name, n);
	start[n] = '{';
	return put_text(put_close(end + n + 1, '}'), ",");
}

void perfdata_put_feature(unsigned feature, const unsigned char *bytes, const struct segment *range,
			  struct lines *lines, struct out *out)
{
	const struct abi *abi = lines->events->abi;
	const struct abi_value *value = feature_value(abi, feature);
	struct plan_for with = {.abi = abi};
	bool notes = lines->record.notes;
	size_t size = (size_t)range->size;
	enum record_problem problem;
	struct plan plan;
	struct error e = {0};
	char text[160], *p, *start;

	if (!value || plan_make(&plan, &with, abi_family(abi, "feature"), value, &e))
		return;
	p = start = out_room(out, record_longest(&plan, size));
	if (p) {
		lines->record.order = lines->events->order;
		lines->record.arch = lines->events->arch;
		lines->record.notes = false;
		problem = record_put(&plan, &lines->record, bytes, 0, size, 0, &p);
		lines->record.notes = notes;
		if (problem)
			lines_diagnostic(
				lines, at_offset(range->offset + lines->record.failed_at),
				"feature", 0, "%s: %s", value->name,
				record_problem_text(problem, &lines->record, text, sizeof(text)));
		if (problem == RECORD_LEFT)
			p = wrap(start, p, value, feature);
		else if (problem)
			p = put_range(put_feature_name(start, value, feature), range);
		out->at = p;
	}
	plan_free(&plan);
}

static void put_feature(struct input *in, unsigned feature, const struct segment *range,
			struct lines *lines, struct out *out)
{
	const struct abi_value *value = feature_value(lines->events->abi, feature);
	const json_t *fields = value ? json_object_get(value->json, "fields") : NULL;
	unsigned char *bytes = NULL;
	char *p = out_room(out, 256);

	if (!p)
		return;
	if (fields && !json_array_size(fields)) {
		out->at = put_text(put_feature_name(p, value, feature), "true,");
		return;
	}
	if (fields && range->size <= SECTION_MAX)
		bytes = malloc(range->size ? (size_t)range->size : 1);
	if (bytes &&
	    input_read_at(in, range->offset, bytes, (size_t)range->size) == (long)range->size) {
		perfdata_put_feature(feature, bytes, range, lines, out);
	} else {
		out->at = put_range(put_feature_name(p, value, feature), range);
	}
	free(bytes);
}

/* The table of sections stands behind the data, an entry for each bit that is set. */
static void each_feature(const struct perfdata *file, struct input *in, struct lines *lines,
			 struct out *out, int only)
{
	uint64_t at = file->data.offset + file->data.size;
	unsigned char entry[16];

	for (unsigned i = 0; i < FEATURES && !file->open_ended; i++) {
		struct segment range;
		char what[32];

		if (!(file->features[i / 64] >> i % 64 & 1))
			continue;
		if (input_read_at(in, at, entry, sizeof(entry)) < (long)sizeof(entry)) {
			if (only < 0)
				lines_diagnostic(
					lines, at_offset(at), "section-past-end", 0,
					"the table of feature sections ends past the file");
			return;
		}
		range = section_at(entry, lines->events->order);
		snprintf(what, sizeof(what), "feature %u", i);
		if ((only < 0 || (int)i == only) &&
		    (only >= 0 ? range.size <= in->size && range.offset <= in->size - range.size
			       : in_file(in, &range, at, lines, what)))
			put_feature(in, i, &range, lines, out);
		at += sizeof(entry);
	}
}

/* The recording's own machine, which the names of registers in its attrs hang on. */
static void find_arch(const struct perfdata *file, struct input *in, struct events *events,
		      struct lines *lines)
{
	const struct abi_family *features = abi_family(events->abi, "feature");
	const struct abi_value *arch = features ? abi_value(features, "arch", NULL) : NULL;
	struct lines_sums sums = lines->sums;
	struct out text, unsaid, *said = lines->out;

	if (!arch || out_init(&text, NULL, NULL))
		return;
	if (!out_init(&unsaid, NULL, NULL)) { /* what is wrong is said when all are read */
		lines->out = &unsaid;
		each_feature(file, in, lines, &text, (int)arch->value);
		perfdata_set_arch(events, text.base, (size_t)(text.at - text.base));
		lines->out = said;
		lines->sums = sums;
		out_free(&unsaid);
	}
	out_free(&text);
}

void perfdata_set_arch(struct events *events, const char *member, size_t size)
{
	static const char key[] = "\"arch\":\"";
	char machine[65];
	size_t n;

	if (size < sizeof(key) || memcmp(member, key, sizeof(key) - 1))
		return;
	member += sizeof(key) - 1;
	size -= sizeof(key) - 1;
	for (n = 0; n < size && n < sizeof(machine) - 1 && member[n] != '"'; n++)
		machine[n] = member[n];
	machine[n] = '\0';
	events_set_arch(events, abi_arch(events->abi, machine));
}

int perfdata_header(const struct perfdata *file, struct input *in, struct events *events,
		    struct lines *lines, struct out *out, struct error *e)
{
	char *p = out_room(out, 256);

	(void)e;
	if (!p)
		return -ENOMEM;
	p = put_text(p, "{\"type\":\"header\",\"format\":\"");
	p = put_text(p, file->is_pipe ? "perf.data pipe" : "perf.data");
	p = put_u64(put_text(p, "\",\"version\":"), file->version);
	p = put_text(put_text(p, ",\"byte_order\":\""), events->order == BIG ? "big" : "little");
	out->at = put_text(p, "\",");
	if (!file->is_pipe) {
		find_arch(file, in, events, lines);
		put_attrs(file, in, events, lines, out);
		p = out_room(out, 128);
		if (!p)
			return -ENOMEM;
		p = put_u64(put_text(p, "\"data\":{\"offset\":"), file->data.offset);
		p = put_u64(put_text(p, ",\"size\":"), file->data.size);
		out->at = put_text(p, "},\"features\":{");
		each_feature(file, in, lines, out, -1);
		if (out_room(out, 16))
			out->at = put_text(put_close(out->at, '}'), ",");
	}
	p = out_room(out, 16);
	if (p)
		out->at = put_text(put_close(p, '}'), "\n");
	return out->err;
}
