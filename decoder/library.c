/* SPDX-License-Identifier: MIT */
/*
 * The public API but for readers: layouts once, then a decoder a call.
 */
#include "library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "text/ascii.h"
#include "text/json_text.h"

static void error_sentence(const struct error *e, int err, char *text, size_t size)
{
	char where[600] = "", line[16] = "";

	if (e->line)
		snprintf(line, sizeof(line), ":%d", e->line);
	if (e->file[0])
		snprintf(where, sizeof(where), "%s%s: %s%s", e->file, line, e->pointer,
			 e->pointer[0] ? ": " : "");
	if (e->no_memory)
		snprintf(text, size, "no %s", e->expected);
	else if (!error_is_set(e))
		snprintf(text, size, "%s", strerror(-err));
	else
		snprintf(text, size, "%sexpected %s, got %s%s%s%s", where, e->expected,
			 e->got[0] ? e->got : "nothing", e->nearest[0] ? " (nearest: \"" : "",
			 e->nearest, e->nearest[0] ? "\")" : "");
}

static bool is_for_memory(const struct error *e, int err)
{
	return e->no_memory || (err == -ENOMEM && !error_is_set(e));
}

/* Of an option that is checked here: -EINVAL with call->decoder.option its name. */
static int refuse_option(struct call *call, const char *option, const char *got,
			 const char *expected)
{
	call->decoder.option = option;
	return error_text(&call->error, NULL, got, "%s", expected);
}

static int check_options(struct call *call, const struct perfabi_options *o, bool has_lines)
{
	const char *whole = o->sort     ? "sort"
			    : o->join   ? "join"
			    : o->output ? "output"
			    : o->aux    ? "aux"
					: NULL;
	char got[64], expected[64];

	for (size_t i = 0; i < sizeof(o->reserved) / sizeof(o->reserved[0]); i++)
		if (o->reserved[i])
			return refuse_option(call, "reserved", "another number",
					     "0 in the reserve of the options");
	if ((unsigned)o->format > PERFABI_RECORDS)
		return refuse_option(call, "format", "another number", "an enum perfabi_format");
	if (o->shards && whole)
		return refuse_option(call, "shards", "a shard",
				     "the whole recording for sort, join, profiles and AUX data");
	if (!has_lines && (o->shards || whole))
		return refuse_option(call, whole ? whole : "shards", whole ? whole : "shards",
				     "an option that readers have");
	if (has_lines && (o->join || o->output) && o->field_count)
		return refuse_option(call, "fields", "some", "all members for join and profiles");
	if (has_lines && o->flat && o->value_names)
		return refuse_option(call, "value_names", "names", "numbers with flat");
	if ((unsigned)o->output > PERFABI_FIREFOX)
		return refuse_option(call, "output", "another number", "an enum perfabi_output");
	if ((unsigned)o->order > PERFABI_BIG)
		return refuse_option(call, "order", "another number", "an enum perfabi_order");
	if (o->shards && (!o->shard || o->shard > o->shards)) {
		snprintf(got, sizeof(got), "%u of %u", o->shard, o->shards);
		snprintf(expected, sizeof(expected), "a shard from 1 to %u", o->shards);
		return refuse_option(call, "shard", got, expected);
	}
	if (has_lines && o->jobs > PERFABI_JOBS_MAX) {
		snprintf(got, sizeof(got), "%u", o->jobs);
		snprintf(expected, sizeof(expected), "at most %d threads", PERFABI_JOBS_MAX);
		return refuse_option(call, "jobs", got, expected);
	}
	return 0;
}

/* The record types that are wanted, in any case. */
static int select_types(struct call *call, const struct perfabi_options *o,
			struct lines_options *lines)
{
	const struct events *events = &call->perfabi->base;

	if (!o->types || !o->type_count)
		return 0;
	call->decoder.option = "types";
	lines->types = call->types;
	for (size_t i = 0; i < o->type_count; i++) {
		const char *name = o->types[i];
		char lower[64] = ""; /* as cases/abi spells it */
		struct nearest near;
		bool found;

		for (size_t k = 0; name[k] && k + 1 < sizeof(lower); k++)
			lower[k] = ascii_lower(name[k]);
		near = nearest_to(lower);
		found = !strcmp(lower, "unknown");
		call->types[0] = call->types[0] || found;
		for (size_t k = 0; k < events->record_count; k++) {
			const struct abi_value *value = events->records[k].value;

			nearest_try(&near, value->name);
			if (abi_value(events->records[k].family, name, NULL) != value)
				continue;
			call->types[type_index((uint32_t)value->value)] = true;
			found = true;
		}
		if (!found)
			return error_name(&call->error, NULL, name, near.best, "a record type");
	}
	return 0;
}

struct search {
	struct nearest near;
	bool found;
};

static void try_member(void *context, const struct layout_member *member)
{
	struct search *search = context;

	search->found = search->found || !strcmp(member->name, search->near.name);
	nearest_try(&search->near, member->name);
}

/* The members that are wanted beside type. */
static int select_fields(struct call *call, const struct perfabi_options *o,
			 struct lines_options *lines)
{
	/* The first is there if it is asked for; the others are left out if they are not. */
	static const char *const common[] = {"event_index", "type",  "offset", "size",
					     "misc",        "event", "bytes",  NULL};
	bool no_type, *const flags[] = {&lines->event_index, &no_type,        &lines->no_offset,
					&lines->no_size,     &lines->no_misc, &lines->no_event,
					&lines->no_bytes};
	const struct events *events = &call->perfabi->base;

	if (!o->fields || !o->field_count)
		return 0;
	call->decoder.option = "fields";
	call->fields = calloc(o->field_count, sizeof(*call->fields));
	if (!call->fields)
		return -ENOMEM;
	for (size_t i = 1; common[i]; i++)
		*flags[i] = true;
	for (size_t i = 0; i < o->field_count; i++) {
		int known = name_index(o->fields[i], common, NULL);
		struct search search = {.near = nearest_to(o->fields[i]),
					.found = !strcmp(o->fields[i], "rest")};

		if (known >= 0) {
			*flags[known] = known == 0;
			continue;
		}
		for (size_t k = 0; k < events->record_count; k++)
			layout_members(&events->records[k].value->layout->list, try_member,
				       &search);
		if (!search.found)
			return error_name(&call->error, NULL, o->fields[i], search.near.best,
					  "a member of some record");
		call->fields[call->field_count] = strdup(o->fields[i]); /* plans are made later */
		if (!call->fields[call->field_count++])
			return -ENOMEM;
	}
	return 0;
}

/* What the caller's options come to. */
static int take_options(struct decode_options *out, struct call *call,
			const struct perfabi_options *o, const struct call_for *what)
{
	bool has_lines = !what->finds, is_profile = has_lines && o->output;
	int err = check_options(call, o, has_lines);
	struct perfabi_options *api = &out->api;
	struct utsname u;

	call->tracefs = o->tracefs ? strdup(o->tracefs) : NULL; /* it is read later */
	if (o->tracefs && !call->tracefs)
		return -ENOMEM;
	*out = (struct decode_options){.finds = what->finds};
	*api = has_lines ? *o
			 : (struct perfabi_options){
				   .format = o->format, .order = o->order, .no_summary = true};
	api->tracefs = call->tracefs;
	api->join = api->join || is_profile;
	api->sort = api->sort || api->join;
	api->no_summary = api->no_summary || is_profile;
	out->no_header = !has_lines || api->check || is_profile;
	out->lines = (struct lines_options){
		.notes = api->bytes, .strict = api->check, .unwritten = api->check};
	out->with.flat = api->flat;
	out->with.value_names = api->value_names;
	out->with.paths = has_lines && !api->join ? NULL : &call->perfabi->paths;
	if (!err)
		err = select_types(call, o, &out->lines);
	if (!err)
		err = select_fields(call, o, &out->lines);
	if (err)
		return err;
	call->decoder.option = NULL;
	out->with.fields = (const char *const *)call->fields;
	out->with.field_count = call->field_count;
	out->with.arch = abi_arch(call->perfabi->abi, o->machine  ? o->machine
						      : uname(&u) ? ""
								  : u.machine);
	out->arch_is_given = o->machine != NULL;
	return o->machine && !out->with.arch ? refuse_option(call, "machine", o->machine,
							     "a machine as uname -m names it")
					     : 0;
}

static int read_given_attrs(struct call *call, const struct perfabi_options *o)
{
	struct decoder *d = &call->decoder;

	call->decoder.option = "attr";
	if (!o->attr)
		return error_text(&call->error, NULL, "neither",
				  "a perf.data, or records and their attrs in JSON");
	return attr_list_read(&call->attrs, d->events.abi, d->events.with.arch, o->attr,
			      o->attr_name ? o->attr_name : "attr", NULL, &call->error);
}

enum { ATTR_ALONE_MAX = 65536 }; /* bytes */

/* Takes the input for the bytes of one attr, if the size that they say they have allows it. */
static int take_attr_alone(struct decoder *d)
{
	size_t n = input_fill(&d->part->in, ATTR_ALONE_MAX + 1);
	uint64_t size = d->part->in.seekable ? d->part->in.size : n, says;
	const unsigned char *bytes = input_bytes(&d->part->in);
	const struct abi *abi = d->events.abi;

	if (d->part->in.err)
		return d->part->in.err;
	if (size < abi->attr_smallest || size > ATTR_ALONE_MAX)
		return decoder_fail(d, -EINVAL,
				    "neither a perf.data nor a struct perf_event_attr, which has "
				    "%u to %d bytes: here are %llu",
				    abi->attr_smallest, ATTR_ALONE_MAX, (unsigned long long)size);
	says = load_word(bytes + 4, 4, d->events.order);
	/* No size is the oldest one's; more bytes than any attr has are something else. */
	if (says ? says < abi->attr_smallest || says > size : size > abi->attr_size)
		return decoder_fail(d, -EINVAL,
				    "neither a perf.data nor a struct perf_event_attr in this byte "
				    "order (-B, -L): its size would be %llu, of %llu bytes",
				    (unsigned long long)says, (unsigned long long)size);
	*d->events.found =
		attr_to_json(abi, d->events.with.arch, bytes, (size_t)size, d->events.order);
	input_select(&d->part->in, NULL, 0);
	return *d->events.found ? 0 : -ENOMEM;
}

static const struct perfabi_options no_options;

/* A decoder by the options, which has no input. */
static int call_open(struct call *call, const struct perfabi *perfabi,
		     const struct perfabi_options *options, const struct call_for *what)
{
	struct decode_options o;
	int err;

	*call = (struct call){.perfabi = perfabi,
			      .decoder = {.data = {.fd = -1},
					  .part = &call->decoder.data,
					  .aux = {.dir = -1, .index = -1}}};
	err = take_options(&o, call, options ? options : &no_options, what);
	if (!err)
		err = decoder_init(&call->decoder, &perfabi->base, &o, what->sink, what->context);
	call->decoder.events.found = what->found;
	call->is_started = !err;
	return err;
}

/* A file, or a directory with several, which are merged. */
static int open_input(struct call *call, int fd)
{
	struct decoder *d = &call->decoder;
	int err = input_open(&d->part->in, fd);

	if (err != -EISDIR)
		return err;
	if (d->options.api.shards)
		return refuse_option(call, "shards", "a directory",
				     "a file, to decode one shard of it");
	d->options.api.sort = d->options.api.sort || !d->options.finds;
	err = parts_find(&d->parts, fd);
	if (err == -E2BIG)
		return error_text(&call->error, NULL, "more", "at most %d files data.N", PARTS_MAX);
	if (d->events.found) /* `data` has all attrs */
		d->parts.count = 0;
	d->turns = err ? NULL : calloc(d->parts.count + 1, sizeof(*d->turns));
	d->more = d->turns ? calloc(d->parts.count + 1, sizeof(*d->more)) : NULL;
	if (!d->more)
		return err ? err : -ENOMEM;
	d->turns[d->turn_count++] = &d->data;
	for (size_t i = 0; i < d->parts.count; i++) {
		d->more[i] = (struct part){
			.fd = -1, .state = NOT_OPEN, .number = d->parts.numbers[i] + 1};
		d->turns[d->turn_count++] = &d->more[i];
	}
	d->data.state = NOT_OPEN;
	d->sorter.most += (uint64_t)d->parts.count * SORT_BYTES_A_PART;
	err = decoder_open_part(d, &d->data);
	if (err == -ENOENT)
		return error_text(&call->error, NULL, "a directory without the file `data`",
				  "a recording");
	return err;
}

int call_begin(struct call *call, const struct perfabi *perfabi, const struct call_input *input,
	       const struct perfabi_options *options, const struct call_for *what)
{
	struct decoder *d = &call->decoder;
	int err = call_open(call, perfabi, options, what);
	enum byte_order order;
	bool is_perfdata;
	size_t n;

	if (!err && input->in_memory)
		err = input_open_memory(&d->part->in, input->memory, input->size);
	else if (!err)
		err = open_input(call, input->fd);
	if (err)
		return err;
	options = options ? options : &no_options;
	n = input_fill(&d->part->in, PERFDATA_MAGIC);
	is_perfdata = perfdata_detect(input_bytes(&d->part->in), n, &order);
	if (d->events.found && !d->part->in.err && !is_perfdata)
		return take_attr_alone(d);
	err = decoder_find_format(d, &call->error);
	if (!err && d->format != PERFABI_PERF_DATA && !options->attr && is_perfdata) {
		return refuse_option(call, "format", "a perf.data",
				     d->format == PERFABI_RING
					     ? "an image of the mmap area and its attrs"
					     : "records alone and their attrs");
	}
	if (!err && d->format != PERFABI_PERF_DATA)
		err = read_given_attrs(call, options);
	d->attrs = &call->attrs;
	if (!err && d->options.api.aux) {
		err = aux_open(&d->aux, d->options.api.aux);
		if (err)
			decoder_fail(d, err, "%s%s: %s", d->options.api.aux,
				     d->aux.dir < 0 ? "" : "/index.jsonl", strerror(-err));
	}
	if (!err) {
		call->decoder.option = NULL;
		err = decoder_begin(d, &call->error);
	}
	if (!err)
		err = decoder_tracefs(d);
	if (!err && d->part->in.err)
		err = d->part->in.err;
	return err;
}

int call_begin_events(struct call *call, const struct perfabi *perfabi,
		      const struct perfabi_options *options, const struct call_for *what)
{
	struct decoder *d = &call->decoder;
	int err = call_open(call, perfabi, options, what);

	if (!err)
		err = read_given_attrs(call, options ? options : &no_options);
	if (!err)
		err = given_attrs_add(&call->attrs, &d->events, &call->error);
	if (err)
		return err;
	call->decoder.option = NULL;
	lines_id_clashes(&d->lines, &d->events, place_at(0));
	lines_no_ids(&d->lines, &d->events, place_at(0));
	return d->out.err;
}

int call_result(const struct call *call, int err, const struct lines_sums *sums,
		struct perfabi_result *result)
{
	const struct decoder *d = &call->decoder;

	*result = (struct perfabi_result){.errors = sums->diagnostics[PERFABI_ERROR],
					  .warnings = sums->diagnostics[PERFABI_WARNING],
					  .notes = sums->diagnostics[PERFABI_NOTE],
					  .records = sums->unknown,
					  .lost = sums->lost};
	for (size_t i = 0; i < TYPES; i++)
		result->records += sums->records[i];
	if (is_for_memory(&call->error, err))
		err = -ENOMEM;
	if (!err)
		return 0;
	result->option = err == -EINVAL ? call->decoder.option : NULL;
	if (d->message[0])
		memcpy(result->message, d->message, sizeof(result->message));
	else if (err == d->part->in.err)
		snprintf(result->message, sizeof(result->message), "reading: %s", input_why(err));
	else
		error_sentence(&call->error, err, result->message, sizeof(result->message));
	return err;
}

int call_no_memory(struct perfabi_result *result)
{
	error_sentence(&(struct error){0}, -ENOMEM, result->message, sizeof(result->message));
	return -ENOMEM;
}

void call_end(struct call *call)
{
	decoder_free(&call->decoder);
	attr_list_free(&call->attrs);
	for (size_t i = 0; i < call->field_count; i++)
		free(call->fields[i]);
	free(call->fields);
	free(call->tracefs);
}

/*
 * Nearly all text ends with a line, and is passed on as it is.
 */

struct whole_lines {
	int (*sink)(void *context, const char *text, size_t size);
	void *context;
	struct out begun; /* the line that has no end yet */
};

/* A sink. Hands on all lines that are whole now; 0, -ENOMEM or what the sink behind it returned. */
static int whole_lines_put(void *whole_lines, const char *text, size_t size)
{
	struct whole_lines *lines = whole_lines;
	struct out *begun = &lines->begun;
	const char *last = memrchr(text, '\n', size);
	size_t whole = last ? (size_t)(last + 1 - text) : 0;
	int err = 0;

	if (whole && begun->at > begun->base) {
		err = out_append(begun, text, whole);
		if (!err)
			err = lines->sink(lines->context, begun->base,
					  (size_t)(begun->at - begun->base));
		begun->at = begun->base;
	} else if (whole) {
		err = lines->sink(lines->context, text, whole);
	}
	return err || whole == size ? err : out_append(begun, text + whole, size - whole);
}

unsigned perfabi_version(void)
{
	return PERFABI_VERSION;
}

struct perfabi *perfabi_new(const char *cases, char *message, size_t size)
{
	struct perfabi *p = calloc(1, sizeof(*p));
	struct error e = {0};
	int err = p ? 0 : -ENOMEM;

	if (p && cases) {
		err = sources_read(&p->sources, cases, &e);
		p->loaded = err ? NULL : abi_load(&p->sources, &e);
		err = p->loaded ? 0 : -EINVAL;
	}
	if (!err) {
		p->abi = p->loaded ? p->loaded : &abi_prepared;
		err = events_init(&p->base, p->abi, &e);
	}
	if (!err && p->loaded)
		err = events_gather(&p->base, &p->paths);
	else if (!err)
		p->paths = paths_prepared;
	if (!err)
		return p;
	if (message)
		error_sentence(&e, err, message, size);
	perfabi_free(p);
	errno = is_for_memory(&e, err) ? ENOMEM : EINVAL;
	return NULL;
}

void perfabi_free(struct perfabi *perfabi)
{
	if (!perfabi)
		return;
	paths_free(&perfabi->paths);
	events_free(&perfabi->base);
	abi_free(perfabi->loaded);
	sources_free(&perfabi->sources);
	free(perfabi);
}

uint32_t perfabi_field_number(const struct perfabi *perfabi, const char *name)
{
	return paths_number(&perfabi->paths, name);
}

const char *perfabi_field_name(const struct perfabi *perfabi, uint32_t number)
{
	return paths_name(&perfabi->paths, number);
}

static int decode(const struct perfabi *perfabi, const struct call_input *input,
		  const struct perfabi_options *options, const struct call_for *what,
		  struct perfabi_result *result)
{
	struct call *call = malloc(sizeof(*call));
	struct perfabi_result unwanted;
	struct lines_sums sums = {0};
	int err;

	if (!result)
		result = &unwanted;
	*result = (struct perfabi_result){0};
	if (!call)
		return call_no_memory(result);
	err = call_begin(call, perfabi, input, options, what);
	for (bool more = !call->decoder.options.api.header_only; !err && more;)
		err = decoder_step(&call->decoder, &more);
	if (call->is_started)
		err = decoder_end(&call->decoder, err, &sums);
	err = call_result(call, err, &sums, result);
	call_end(call);
	free(call);
	return err;
}

static int decode_lines(const struct perfabi *perfabi, const struct call_input *input,
			const struct perfabi_options *options,
			int (*sink)(void *context, const char *text, size_t size), void *context,
			struct perfabi_result *result)
{
	struct whole_lines lines = {.sink = sink, .context = context};
	struct call_for what = {.sink = whole_lines_put, .context = &lines};
	int err;

	if (options && options->pieces)
		what = (struct call_for){.sink = sink, .context = context};
	err = decode(perfabi, input, options, &what, result);
	free(lines.begun.base);
	return err;
}

int perfabi_decode(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		   int (*sink)(void *context, const char *text, size_t size), void *context,
		   struct perfabi_result *result)
{
	return decode_lines(perfabi, &(struct call_input){.fd = fd}, options, sink, context,
			    result);
}

int perfabi_decode_memory(const struct perfabi *perfabi, const void *bytes, size_t size,
			  const struct perfabi_options *options,
			  int (*sink)(void *context, const char *text, size_t size), void *context,
			  struct perfabi_result *result)
{
	return decode_lines(perfabi,
			    &(struct call_input){.memory = bytes, .size = size, .in_memory = true},
			    options, sink, context, result);
}

static int find_attrs(const struct perfabi *perfabi, const struct call_input *input,
		      const struct perfabi_options *options, char **text,
		      struct perfabi_result *result)
{
	static const char *const types[] = {"header_attr"};
	struct perfabi_options alone = {.format = PERFABI_PERF_DATA,
					.order = options ? options->order : PERFABI_HOST,
					.machine = options ? options->machine : NULL,
					.types = types,
					.type_count = 1,
					.no_summary = true};
	json_t *found = NULL; /* a list; or one attr, if that was all */
	const struct call_for what = {.sink = out_drop, .found = &found};
	int err;

	if (options)
		memcpy(alone.reserved, options->reserved, sizeof(alone.reserved));
	err = decode(perfabi, input, &alone, &what, result);
	if (!err && !found)
		found = json_array();
	*text = err ? NULL : json_text(found, JSON_INDENT(2));
	json_decref(found);
	if (err || *text)
		return err;
	return result ? call_no_memory(result) : -ENOMEM;
}

int perfabi_attrs(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		  char **text, struct perfabi_result *result)
{
	return find_attrs(perfabi, &(struct call_input){.fd = fd}, options, text, result);
}

int perfabi_attrs_memory(const struct perfabi *perfabi, const void *bytes, size_t size,
			 const struct perfabi_options *options, char **text,
			 struct perfabi_result *result)
{
	return find_attrs(perfabi,
			  &(struct call_input){.memory = bytes, .size = size, .in_memory = true},
			  options, text, result);
}
