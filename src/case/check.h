/* SPDX-License-Identifier: MIT */
/*
 * Checking the parts of a case file. Each check returns 0, or -EINVAL with `e` filled.
 */
#ifndef PERFABI_CASE_CHECK_H
#define PERFABI_CASE_CHECK_H

#include "case/case.h"

/* The member `key` is a string of one line that is not blank. */
int case_check_text(const json_t *object, const char *key, const struct where *w, struct error *e);

/* A case's own spec only adds (`adds`) to its file's, which must say where the promise stands. */
int case_check_spec(const json_t *spec, bool adds, const struct where *w, struct error *e);

int case_check_vehicle(const json_t *vehicle, const struct cases *cases, const struct where *w,
		       struct error *e);

/* What a complete case and `defaults` have in common: who, on what, under which conditions. */
int case_check_common(const json_t *json, const struct cases *cases, const struct where *w,
		      struct error *e);

/* A case as case_complete() puts it together, but for what is compiled. */
int case_check_complete(const json_t *json, const struct cases *cases, const struct where *w,
			struct error *e);

/* Words of a-z and 0-9 joined by single . or -: what KTAP, LAVA and KCIDB take unchanged. */
bool case_is_id(const char *text);

enum kind case_kind(const json_t *json);

#endif
