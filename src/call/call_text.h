/* SPDX-License-Identifier: MIT */
/*
 * Calls as JSON texts that people or programs have written.
 */
#ifndef PERFABI_CALL_TEXT_H
#define PERFABI_CALL_TEXT_H

#include "text/source.h"

/*
 * The text as JSON, a new reference; where it is none only for its large numbers, with these as
 * texts, which value_eval() takes as well. NULL with `e` filled.
 */
json_t *call_text_parse(const struct source *source, struct error *e);

#endif
