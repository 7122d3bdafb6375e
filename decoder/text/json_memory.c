/* SPDX-License-Identifier: MIT */
/*
 * jansson's allocators take no context: the program's name is the one that the C library keeps.
 */
#include "text/json_memory.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/say.h"

static void *allocate(size_t size)
{
	void *bytes = malloc(size);

	if (bytes)
		return bytes;
	say(stderr, "%s: %s\n", program_invocation_short_name, strerror(ENOMEM));
	_exit(EXIT_NO_MEMORY);
}

void json_memory_or_exit(void)
{
	json_set_alloc_funcs(allocate, free);
}
