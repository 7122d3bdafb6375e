/* SPDX-License-Identifier: MIT */
/*
 * The public API but for readers: layouts once, then a decoder a call.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "include/perfabi.h"
#include "text/json_text.h"

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
		call_error_text(&e, err, message, size);
	perfabi_free(p);
	errno = call_is_for_memory(&e, err) ? ENOMEM : EINVAL;
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
	if (!err && !call->decoder.options.api.header_only)
		err = decoder_records(&call->decoder);
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
	struct found_attrs found = {0};
	const struct call_for what = {.sink = out_drop, .found = &found};
	int err;

	if (options)
		memcpy(alone.reserved, options->reserved, sizeof(alone.reserved));
	err = decode(perfabi, input, &alone, &what, result);
	if (!err && !found.json)
		found.json = json_array();
	*text = err ? NULL : json_text(found.json, JSON_INDENT(2));
	json_decref(found.json);
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
