/* SPDX-License-Identifier: MIT */
/*
 * Memory: strings, and mappings that go elsewhere.
 */
#ifndef PERFABI_RUNTIME_MEMORY_H
#define PERFABI_RUNTIME_MEMORY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The address of a text so many times, and another behind it; for as long as the process lives. */
static long repeated(const char *text, size_t times, const char *end)
{
	const size_t n = strlen(text);
	char *all = calloc(times * n + strlen(end) + 1, 1);

	for (size_t i = 0; all && i < times; i++)
		memcpy(all + i * n, text, n);
	if (all)
		strcpy(all + times * n, end);
	return all ? (long)(uintptr_t)all : -1;
}

/* Other memory in the place of that, which is unmapped first. */
static int map_over(void *at, size_t length)
{
	void *map = mmap(at, length, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	return map == MAP_FAILED ? -1 : 0;
}

/* By mremap(2) to `place`, so that it is not where it was; NULL: to where the kernel likes. */
static void *move_map(void *at, size_t length, size_t to, void *place)
{
	void *now = place ? mremap(at, length, to, MREMAP_MAYMOVE | MREMAP_FIXED, place)
			  : mremap(at, length, to, MREMAP_MAYMOVE);
	const int err = errno;

	if (now == MAP_FAILED && place)
		munmap(place, to);
	errno = err;
	return now;
}

#endif
