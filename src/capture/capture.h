/* SPDX-License-Identifier: MIT */
/*
 * Events on a process, and their buffers while it runs. perf_event_open(2), "MMAP layout".
 */
#ifndef PERFABI_CAPTURE_H
#define PERFABI_CAPTURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/abi.h"
#include "abi/attr_list.h"

/* A perf.data that is being written. */
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

enum { CAPTURE_ATTRS = 64, CAPTURE_CPUS = 4096 };

/* One ring buffer: of a cpu, or of the process wherever it runs. */
struct buffer {
	int cpu; /* -1: any */
	int fds[CAPTURE_ATTRS];
	uint64_t ids[CAPTURE_ATTRS];
	unsigned char *map;
	size_t size; /* of the data pages */
	bool hung_up;
};

struct capture {
	const struct abi *abi;
	const struct attr_list *attrs;
	struct buffer *buffers;
	size_t buffer_count;
	size_t page_size, pages;  /* data pages of each, a power of two */
	bool writable;            /* else the kernel overwrites what is old */
	int data_head, data_tail; /* where they stand in the metadata page */
};

/* What could not be done; for a message. */
struct capture_error {
	const char *what; /* "open", "map", "redirect" */
	size_t attr;
	int cpu, err;
};

/*
 * Opens all attrs on `pid` and maps a buffer for each cpu if one of them is inherited (the kernel
 * wants it so), else one for all; the first attr leads the group. 0, or a negative errno with `e`
 * filled. Free with capture_close() in any case.
 */
int capture_open(struct capture *c, const struct abi *abi, const struct attr_list *attrs, pid_t pid,
		 size_t pages, bool writable, struct capture_error *e);

/* Enables what neither is enabled nor will be by exec. 0 or a negative errno. */
int capture_enable(struct capture *c);

/* Disables the leaders, and with them all of the group. 0 or a negative errno. */
int capture_disable(struct capture *c);

/* Appends what the buffers hold, oldest first, and frees that room. 0 or a negative errno of
 * writing. */
int capture_drain(struct capture *c, struct recording *r, bool *any);

/* Writes the metadata page and data pages of the only buffer as they are. 0 or a negative errno. */
int capture_write_image(const struct capture *c, int fd);
void capture_close(struct capture *c);

#endif
