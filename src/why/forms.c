/* SPDX-License-Identifier: MIT */
/*
 * Which form a question has shows at its beginning.
 */
#include "why/forms.h"

#include <errno.h>
#include <string.h>

#include "why/attr_block.h"
#include "why/paste.h"
#include "why/strace.h"

int question_read(struct question *q, const struct source *text, const json_t *names,
		  struct environment *env, struct error *e)
{
	const char *at = text->text + strspn(text->text, " \t\n");
	struct where root = where_root(text);
	json_t *whole = json_stringn(text->text, text->length);
	bool is_text = whole && !memchr(text->text, '\0', text->length);

	*q = (struct question){0};
	json_decref(whole);
	if (!is_text)
		return error_text(e, &root, "other bytes", "a text in UTF-8, without NUL");
	if (*at == '{')
		return question_of_json(q, text, names, env, e);
	if (attr_block_is_in(at))
		return paste_blocks(q, text, env, e);
	if (strace_has_call(at))
		return paste_strace(q, text, env, e);
	return question_of_name(q, text, names, env, e);
}
