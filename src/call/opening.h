/* SPDX-License-Identifier: MIT */
/*
 * `open` of a case, compiled: memory and arguments as far as they hang on nothing that is only
 * known when the call is made.
 */
#ifndef PERFABI_OPENING_H
#define PERFABI_OPENING_H

#include "call/call.h"
#include "call/tables.h"
#include "text/arena.h"

struct opening {
	struct call call;   /* what is settled of it; its image is the arena's */
	const json_t *json; /* the whole where something is not settled, else NULL */
};

/*
 * Registers have the names of `arch`, which need not be this machine's; of NULL, none. 0, or a
 * negative errno with `e` filled. `json` must outlive *out.
 */
int opening_compile(struct opening *out, const json_t *json, const struct abi *abi,
		    const struct abi_arch *arch, struct scope *scope, struct arena *arena,
		    const struct where *w, struct error *e);

/*
 * The call, with what `scope` has put in. *made is it, or a new one, which call_free() frees. 0, or
 * a negative errno with `e` filled.
 */
int opening_make(const struct opening *open, const struct tables *tables, const struct scope *scope,
		 struct call *made, const struct call **call, struct error *e);

#endif
