/* SPDX-License-Identifier: MIT */
/*
 * An open that names no variable is the same call each time.
 */
#include "call/opening.h"

#include <string.h>

#include "text/json_text.h"

int opening_compile(struct opening *out, const json_t *json, const struct abi *abi,
		    const struct abi_arch *arch, struct scope *scope, struct arena *arena,
		    const struct where *w, struct error *e)
{
	bool asked = false;
	unsigned char *image = or_exit(arena_alloc(arena, abi->attr_size));
	int err;

	scope->was_asked = &asked;
	err = call_from_json(&out->call, abi, arch, json, scope, w, e);
	scope->was_asked = NULL;
	if (err)
		return err;
	out->json = asked ? json : NULL;
	memcpy(image, out->call.image, abi->attr_size);
	call_free(&out->call);
	out->call.image = image;
	return 0;
}

int opening_make(const struct opening *open, const struct tables *tables, const struct scope *scope,
		 struct call *made, const struct call **call, struct error *e)
{
	struct where nowhere = {0};

	*made = (struct call){0};
	*call = open->json ? made : &open->call;
	return open->json ? call_from_json(made, tables->abi, tables->arch, open->json, scope,
					   &nowhere, e)
			  : 0;
}
