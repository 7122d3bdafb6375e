/* SPDX-License-Identifier: MIT */
/*
 * A complete case -> its program.
 */
#ifndef PERFABI_CASE_COMPILE_H
#define PERFABI_CASE_COMPILE_H

#include "case/case.h"

/* What a row gives beside its value. */
struct row_context {
	const char *parameter; /* of `each`, or NULL */
	const json_t *rows;    /* all of them, by name; an empty object without `each` */
};

/*
 * The architecture that a list of tokens demands, whose names the case has on every machine: that
 * it cannot run here is no error of it, and a name that is wrong there is one everywhere. NULL:
 * any.
 */
const struct abi_arch *case_arch(const json_t *requirements, const struct abi *abi);

/*
 * Compiles what case_check_complete() has found well formed. Takes the reference to `definition`.
 * 0, or a negative errno with `e` filled; program_free() it in any case.
 */
int case_compile(struct program *out, json_t *definition, const struct cases *cases,
		 const struct row_context *row, const struct where *w, struct error *e);

/* Whether `given` and `open` of defaults or a vehicle could be compiled. */
int case_check_call(const json_t *json, const struct cases *cases, const struct where *w,
		    struct error *e);

#endif
