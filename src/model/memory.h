/* SPDX-License-Identifier: MIT */
/*
 * What an address in this very process points to, for calls that it makes itself.
 */
#ifndef PERFABI_MODEL_MEMORY_H
#define PERFABI_MODEL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum { TEXT_AT_MAX = 8192 };

/* A text, and the file that it names. */
struct text_at {
	bool is_readable; /* up to its NUL, or to TEXT_AT_MAX bytes */
	uint64_t length;  /* bytes without the NUL; TEXT_AT_MAX: there is none */
	int err;          /* of finding the file, or 0 */
	bool is_regular;
	bool has_pages;   /* that a probe can be put in */
	uint64_t size;    /* of the file, in bytes */
	bool is_nameless; /* no folder has it: nobody else has it mapped */
};

/* Reads it, whatever the address. */
void text_read_at(uint64_t address, struct text_at *out);

#endif
