/* SPDX-License-Identifier: MIT */
/*
 * The public API: layouts once, then a decoder a call.
 */
#include "perfabi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "stream/decode.h"

static int check_options(struct decoder *d)
{
	const struct perfabi_options *o = d->options;

	if (o->shards && (o->shard < 1 || o->shard > o->shards))
		return decoder_fail(d, -EINVAL, "shard %u of %u: expected a number from 1 to %u",
				    o->shard, o->shards, o->shards);
	return 0;
}

static int load(struct decoder *d, const struct events *base, struct error *e)
{
	struct utsname u;
	int err = selection_make(&d->selection, d->options, base, e);

	if (!err)
		err = events_begin(&d->events, base, d->selection.fields, d->selection.field_count,
				   e);
	if (err)
		return err;
	d->abi = base->abi;
	d->events.arch = abi_arch(d->abi, d->options->machine ? d->options->machine
					  : uname(&u)         ? ""
							      : u.machine);
	d->events.arch_is_given = d->options->machine != NULL;
	if (d->options->machine && !d->events.arch)
		return error_text(e, NULL, d->options->machine, "a machine as uname -m names it");
	decoder_set_roles(d);
	return 0;
}

static int start(struct decoder *d)
{
	struct lines_options lines = d->selection.lines;
	unsigned jobs = d->options->check ? 1 : d->options->jobs; /* findings hang on the order */
	int err;

	if (jobs > 1) {
		d->jobs = jobs_start(jobs, &d->events, &lines, d->sink, d->context);
		if (!d->jobs)
			return -ENOMEM;
	}
	err = d->jobs ? out_init(&d->out, jobs_text, d->jobs)
		      : out_init(&d->out, d->sink, d->context);
	return err ? err : lines_init(&d->lines, &d->events, &lines, &d->out);
}

static int finish(struct decoder *d, int err)
{
	struct lines_sums sums = d->lines.sums;
	int late;

	if (d->jobs) {
		if (!err)
			err = out_flush(&d->out);
		late = jobs_end(d->jobs, &sums);
		d->jobs = NULL;
		err = err ? err : late;
		d->out.sink = d->sink;
		d->out.context = d->context;
	}
	d->result->errors = sums.diagnostics[GRADE_ERROR];
	d->result->warnings = sums.diagnostics[GRADE_WARNING];
	d->result->notes = sums.diagnostics[GRADE_NOTE];
	d->result->lost = sums.lost;
	d->result->records = sums.unknown;
	for (size_t i = 0; i < TYPES; i++)
		d->result->records += sums.records[i];
	if (!err && !d->options->no_summary && !d->options->shards && !d->options->header_only)
		lines_summary(&d->lines, &sums);
	if (!err)
		err = out_flush(&d->out);
	return err;
}

static void release(struct decoder *d)
{
	attr_list_free(&d->attrs);
	plan_free(&d->ring.plan);
	decompress_free(&d->decompress);
	lines_free(&d->lines);
	out_free(&d->out);
	events_free(&d->events);
	selection_free(&d->selection);
	input_close(&d->in);
	free(d);
}

struct perfabi {
	struct sources sources;
	bool own_sources, own_abi;
	const struct abi *abi;
	struct events base; /* what all recordings have in common */
};

static void error_text_of(const struct error *e, int err, char *text, size_t size)
{
	char where[600] = "";

	if (e->file[0])
		snprintf(where, sizeof(where), "%s:%d: %s: ", e->file, e->line, e->pointer);
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

struct perfabi *perfabi_new(const char *cases, char *message, size_t size)
{
	struct perfabi *p = calloc(1, sizeof(*p));
	struct error e = {0};
	int err = p ? 0 : -ENOMEM;

	if (p && cases) {
		err = sources_read(&p->sources, cases, &e);
		p->own_sources = !err;
	} else if (p) {
		p->sources = abi_builtin();
	}
	if (!err) {
		p->abi = abi_load(&p->sources, &e);
		p->own_abi = true;
		err = p->abi ? events_init(&p->base, p->abi, &e) : -EINVAL;
	}
	if (!err)
		return p;
	if (message)
		error_text_of(&e, err, message, size);
	perfabi_free(p);
	errno = is_for_memory(&e, err) ? ENOMEM : EINVAL;
	return NULL;
}

struct perfabi *decoder_over(const struct abi *abi, struct error *e)
{
	struct perfabi *p = calloc(1, sizeof(*p));

	if (!p) {
		error_no_memory(e, NULL, "memory for a decoder");
		return NULL;
	}
	p->abi = abi;
	if (!events_init(&p->base, abi, e))
		return p;
	perfabi_free(p);
	return NULL;
}

const struct abi *decoder_abi(const struct perfabi *perfabi)
{
	return perfabi->abi;
}

void perfabi_free(struct perfabi *perfabi)
{
	if (!perfabi)
		return;
	events_free(&perfabi->base);
	if (perfabi->own_abi)
		abi_free((struct abi *)perfabi->abi);
	if (perfabi->own_sources)
		sources_free(&perfabi->sources);
	free(perfabi);
}

int perfabi_decode(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		   int (*sink)(void *context, const char *text, size_t size), void *context,
		   struct perfabi_result *result)
{
	struct decoder *d = calloc(1, sizeof(*d));
	struct error e = {0};
	int err;

	*result = (struct perfabi_result){0};
	if (!d)
		return -ENOMEM;
	d->options = options;
	d->result = result;
	d->sink = sink;
	d->context = context;
	d->last = UINT64_MAX;
	err = check_options(d);
	if (!err)
		err = load(d, &perfabi->base, &e);
	if (!err)
		err = input_open(&d->in, fd);
	if (!err)
		err = start(d);
	if (!err) {
		err = decoder_begin(d, &e);
		if (!err && d->in.err)
			err = d->in.err;
		if (!err && !options->header_only)
			err = decoder_records(d);
		err = finish(d, err);
	}
	if (is_for_memory(&e, err))
		err = -ENOMEM;
	if (err && err == d->in.err && !result->message[0])
		decoder_fail(d, err, "reading: %s", strerror(-err));
	if (err && !result->message[0])
		error_text_of(&e, err, result->message, sizeof(result->message));
	release(d);
	return err;
}
