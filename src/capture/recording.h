/* SPDX-License-Identifier: MIT */
/*
 * Writing a perf.data that perf(1) reads: file header, ids, attrs, data, features.
 */
#ifndef PERFABI_RECORDING_H
#define PERFABI_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"

struct recording {
	int fd;
	uint64_t attrs_offset, attrs_size, entry_size;
	uint64_t data_offset, data_size;
};

/* One attr with the ids of its events. */
struct recording_attr {
	const unsigned char *attr; /* in this machine's order */
	const uint64_t *ids;
	size_t id_count;
};

/* Writes all before the data; `fd` is empty and stays the caller's. 0 or a negative errno. */
int recording_begin(struct recording *r, int fd, const struct recording_attr *attrs, size_t count,
		    size_t attr_size);

/* Bytes of the data section. 0 or a negative errno. */
int recording_append(struct recording *r, const void *bytes, size_t size);

/* Features (the machine, the command) behind the data, and the header at the front. */
int recording_end(struct recording *r, const struct abi *abi, char *const command[]);

#endif
