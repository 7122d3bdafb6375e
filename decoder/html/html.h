/* SPDX-License-Identifier: MIT */
/*
 * Text within HTML, and a page made from a template. Errors stay on the stream, for whoever closes
 * it.
 */
#ifndef PERFABI_HTML_H
#define PERFABI_HTML_H

#include <stddef.h>
#include <stdio.h>

/* What stands at {{name}} of a template. */
struct html_slot {
	const char *name;
	void (*write)(FILE *f, const void *context);
	const void *context;
};

/* Text as text, also within a quoted attribute: nothing of it is markup. */
void html_text(FILE *f, const char *text);

/* The same of `size` bytes, of which none is NUL. */
void html_piece(FILE *f, const char *text, size_t size);

/*
 * The template with each {{name}} filled by the slot of that name, of which the last has a NULL for
 * its name. A name without a slot stays as it is. A slot without write() ends it: what is behind
 * that is returned, or NULL.
 */
const char *html_fill(FILE *f, const char *template, const struct html_slot *slots);

/* A slot's write() of the NUL-terminated text that is its context: as it is, or as text. */
void html_slot_raw(FILE *f, const void *context);
void html_slot_text(FILE *f, const void *context);

#endif
