/* SPDX-License-Identifier: MIT */
/*
 * jansson's writer over a buffer of our own, which knows whether something was lost.
 */
#include "text/json_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/say.h"

struct text {
	char *bytes;
	size_t size, capacity;
	bool is_cut;
};

static int append_piece(const char *bytes, size_t size, void *context)
{
	struct text *text = context;

	if (text->size + size + 1 > text->capacity) {
		size_t capacity = 2 * (text->size + size) + 64;
		char *grown = realloc(text->bytes, capacity);

		if (!grown) {
			text->is_cut = true;
			return -1;
		}
		text->bytes = grown;
		text->capacity = capacity;
	}
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
	return 0;
}

char *json_text(const json_t *json, size_t flags)
{
	struct text text = {0};

	if (!json_dump_callback(json, append_piece, &text, flags) && !text.is_cut && text.bytes)
		return text.bytes;
	free(text.bytes);
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
