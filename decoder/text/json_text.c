/* SPDX-License-Identifier: MIT */
/*
 * jansson's writer over a buffer of our own, which knows whether something was lost.
 */
#include "text/json_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/out.h"
#include "text/say.h"

static int append_piece(const char *bytes, size_t size, void *out)
{
	return out_append(out, bytes, size) ? -1 : 0;
}

char *json_text(const json_t *json, size_t flags)
{
	struct out text = {0};

	if (!json_dump_callback(json, append_piece, &text, flags) && !text.err && text.base)
		return text.base;
	free(text.base);
	return NULL;
}

const char *member_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/*
 * jansson's allocators take no context: the program's name is the one that the C library keeps.
 */

void *or_exit(void *memory)
{
	if (memory)
		return memory;
	say(stderr, "%s: %s\n", program_invocation_short_name, strerror(ENOMEM));
	_exit(EXIT_NO_MEMORY);
}

static void *allocate(size_t size)
{
	return or_exit(malloc(size));
}

void json_memory_or_exit(void)
{
	json_set_alloc_funcs(allocate, free);
}
