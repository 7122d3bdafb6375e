/* SPDX-License-Identifier: MIT */
/*
 * One recording being decoded for a caller of the API: its options taken, its beginning read, and
 * what is to be said of it in the end.
 */
#ifndef PERFABI_LIBRARY_H
#define PERFABI_LIBRARY_H

#include "include/perfabi.h"
#include "stream/decode.h"
#include "text/source.h"

struct perfabi {
	struct sources sources;
	struct abi *loaded; /* from a folder, or NULL */
	const struct abi *abi;
	struct events base; /* what all recordings have in common */
	struct paths paths; /* of their fields */
};

/* Where the bytes are. */
struct call_input {
	int fd;
	const void *memory; /* instead, ... */
	size_t size;
	bool in_memory; /* ... if this is set */
};

struct call {
	const struct perfabi *perfabi;
	struct decoder decoder;
	bool types[TYPES]; /* of records that are wanted, ... */
	char **fields;     /* ... and their members; NULL: all */
	size_t field_count;
	char *tracefs; /* as options.tracefs; NULL: none */
	struct attr_list attrs;
	struct error error;
	bool is_started;
};

/* What to do with it; all zero but for one of `sink` and `finds`. */
struct call_for {
	int (*sink)(void *context, const char *text, size_t size);
	void *context;
	json_t **found; /* as events.found */
	struct finds *finds;
};

/*
 * All that comes before the first record; `options` may be NULL. 0 or a negative errno; end with
 * call_end() in any case.
 */
int call_begin(struct call *call, const struct perfabi *perfabi, const struct call_input *input,
	       const struct perfabi_options *options, const struct call_for *what);

/*
 * The same, of no input: records whose attrs are options->attr come from somewhere else. They are
 * of this machine.
 */
int call_begin_events(struct call *call, const struct perfabi *perfabi,
		      const struct perfabi_options *options, const struct call_for *what);

/* The counts so far, and if `err` is not 0, why. Returns `err`, as the API does. */
int call_result(const struct call *call, int err, const struct lines_sums *sums,
		struct perfabi_result *result);
int call_no_memory(struct perfabi_result *result);
void call_end(struct call *call);

#endif
