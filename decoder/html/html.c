/* SPDX-License-Identifier: MIT */
#include "html/html.h"

#include <string.h>

void html_piece(FILE *f, const char *text, size_t size)
{
	static const char special[] = "<>&\"'";
	static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
	const char *end = text + size, *plain = text;

	for (; text < end; text++) {
		const char *found = *text ? strchr(special, *text) : NULL;

		if (!found)
			continue;
		fwrite(plain, 1, (size_t)(text - plain), f);
		fputs(entities[found - special], f);
		plain = text + 1;
	}
	fwrite(plain, 1, (size_t)(end - plain), f);
}

void html_text(FILE *f, const char *text)
{
	html_piece(f, text, strlen(text));
}

const char *html_fill(FILE *f, const char *template, const struct html_slot *slots)
{
	const char *open, *close;

	while ((open = strstr(template, "{{")) && (close = strstr(open, "}}"))) {
		size_t size = (size_t)(close - open - 2);
		const struct html_slot *slot = slots;
		const char *end;

		while (slot->name &&
		       (strlen(slot->name) != size || memcmp(slot->name, open + 2, size)))
			slot++;
		end = slot->name ? open : open + 2;
		fwrite(template, 1, (size_t)(end - template), f);
		if (slot->name && !slot->write)
			return close + 2;
		if (slot->name)
			slot->write(f, slot->context);
		template = slot->name ? close + 2 : end;
	}
	fputs(template, f);
	return NULL;
}

void html_slot_raw(FILE *f, const void *context)
{
	fputs(context, f);
}

void html_slot_text(FILE *f, const void *context)
{
	html_text(f, context);
}
