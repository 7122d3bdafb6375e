/* SPDX-License-Identifier: MIT */
/*
 * jansson's writer over a buffer of our own, which knows whether something was lost.
 */
#include "text/json_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
