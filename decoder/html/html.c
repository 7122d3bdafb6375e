/* SPDX-License-Identifier: MIT */
/*
 * Escapes and templates.
 */
#include "html/html.h"

#include <string.h>

static const char *entity_of(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return "&#39;";
	}
}

void html_piece(FILE *f, const char *text, size_t size)
{
	const char *end = text + size, *plain = text;

	for (; text < end; text++) {
		if (!*text || !strchr("<>&\"'", *text))
			continue;
		fwrite(plain, 1, (size_t)(text - plain), f);
		fputs(entity_of(*text), f);
		plain = text + 1;
	}
	fwrite(plain, 1, (size_t)(end - plain), f);
}

void html_text(FILE *f, const char *text)
{
	html_piece(f, text, strlen(text));
}

void html_json(FILE *f, const char *json)
{
	size_t plain;

	/* Outside strings JSON has no <, and inside them it may be written so. */
	while (json[plain = strcspn(json, "<")]) {
		fwrite(json, 1, plain, f);
		fputs("\\u003c", f);
		json += plain + 1;
	}
	fputs(json, f);
}

static const struct html_slot *slot_of(const struct html_slot *slots, const char *name, size_t size)
{
	for (; slots->name; slots++)
		if (strlen(slots->name) == size && !memcmp(slots->name, name, size))
			return slots;
	return NULL;
}

void html_fill(FILE *f, const char *template, const struct html_slot *slots)
{
	const char *open, *close;

	while ((open = strstr(template, "{{")) && (close = strstr(open, "}}"))) {
		const struct html_slot *slot = slot_of(slots, open + 2, (size_t)(close - open - 2));
		const char *end = slot ? open : open + 2;

		fwrite(template, 1, (size_t)(end - template), f);
		if (slot)
			slot->write(f, slot->context);
		template = slot ? close + 2 : end;
	}
	fputs(template, f);
}

void html_slot_raw(FILE *f, const void *context)
{
	fputs(context, f);
}

void html_slot_text(FILE *f, const void *context)
{
	html_text(f, context);
}
