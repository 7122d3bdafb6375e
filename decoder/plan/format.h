/* SPDX-License-Identifier: MIT */
/*
 * What tracefs says of tracepoints, events/SYSTEM/NAME/format, compiled into plans.
 */
#ifndef PERFABI_FORMAT_H
#define PERFABI_FORMAT_H

#include "abi/layout.h"
#include "plan/plan.h"
#include "text/table.h"

/* One tracepoint, by whose plan a sample's raw data is read. */
struct format {
	const char *system, *name;
	uint64_t id; /* attr.config, and common_type */
	struct layout layout;
	struct plan plan; /* "common":{...},"raw":{...} */
};

struct formats {
	struct table by_id;
	size_t tried;
	size_t taken;           /* bytes of tracing data that they came from */
	unsigned long_size;     /* of the machine: 4 or 8 */
	bool flat, value_names; /* as in plan_for */
	struct arena arena;
};

void formats_free(struct formats *formats);

/* The format of that id, or NULL. */
const struct format *formats_find(const struct formats *formats, uint64_t id);

/*
 * Adds what is in a file `format`, of `size` bytes. 0, -ENOMEM, or -EINVAL: it is none, or says
 * what cannot be.
 */
int formats_add(struct formats *formats, const struct abi *abi, const char *system,
		const char *text, size_t size);

/*
 * Adds all in the bytes of TRACING_DATA as perf and simpleperf write them
 * (tools/perf/util/trace-event-info.c). 0, -ENOMEM, or -EINVAL: they end, or are something else;
 * what came before is added.
 */
int formats_add_all(struct formats *formats, const struct abi *abi, const unsigned char *bytes,
		    size_t size);

/*
 * Tells, of a folder of tracefs, the text of the formats of `count` ids, as far as they are there;
 * of all where `ids` is NULL. 0, a negative errno, or what `tell` returned, which ends it.
 */
int tracefs_formats(int tracefs, const uint64_t *ids, size_t count,
		    int (*tell)(void *context, const char *system, const char *text, size_t size),
		    void *context);

/* Adds those of a folder of tracefs. 0 or a negative errno. */
int formats_add_tracefs(struct formats *formats, const struct abi *abi, const char *folder);

/*
 * print_fmt.c: finds each __print_symbolic() and __print_flags() of a print fmt whose first
 * argument is a field as it is, or masked, and makes its names those of the field's number in
 * `fields`. What cannot be evaluated (a constant that the kernel did not resolve, a field that is
 * computed with), and what two lists name, is left a number. `text` ends in NUL, is written to, and
 * must live as long as the fields; so must the arena. 0 or -ENOMEM.
 */
int print_fmt_names(struct arena *arena, char *text, struct layout_node *fields, size_t count);

#endif
