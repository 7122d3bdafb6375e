/* SPDX-License-Identifier: MIT */
/*
 * Once for a file, before anything of it is merged.
 */
#include "case/bases.h"

#include <errno.h>
#include <string.h>

#include "language/merge.h"

/* The recursion is as deep as the JSON. NOLINTBEGIN(misc-no-recursion) */

/* What `open` becomes: a new reference, or NULL with `e` filled. */
static json_t *over_base(const json_t *open, const json_t *bases, const struct where *w,
			 struct error *e)
{
	const json_t *name = json_object_get(open, "base");
	const char *text = json_string_value(name), *known;
	const json_t *base = text ? json_object_get(json_object_get(bases, text), "open") : NULL;
	struct nearest near = nearest_to(text ? text : "");
	struct where at = where_key(w, "base");
	json_t *own, *out, *ignored;

	json_object_foreach((json_t *)bases, known, ignored)
		nearest_try(&near, known);
	if (!base) {
		error_name(e, &at, text ? text : "", near.best, "a base event of vehicles.json");
		return NULL;
	}
	own = json_copy((json_t *)open);
	json_object_del(own, "base");
	out = own ? merge(base, own) : NULL;
	json_decref(own);
	if (!out)
		error_no_memory(e, w, "memory for a case");
	return out;
}

static int apply_to_open(json_t *holder, const json_t *bases, const struct where *w,
			 struct error *e)
{
	const json_t *open = json_object_get(holder, "open");
	json_t *whole;

	if (!json_object_get(open, "base"))
		return 0;
	whole = over_base(open, bases, w, e);
	if (!whole)
		return -EINVAL;
	return json_object_set_new(holder, "open", whole)
		       ? error_no_memory(e, w, "memory for a case")
		       : 0;
}

int bases_apply(json_t *json, const json_t *bases, const struct where *w, struct error *e)
{
	struct where at_open = where_key(w, "open");
	const char *key;
	json_t *value;
	size_t i;

	if (apply_to_open(json, bases, &at_open, e))
		return -EINVAL;
	json_object_foreach(json, key, value) {
		struct where at = where_key(w, key);

		if (bases_apply(value, bases, &at, e))
			return -EINVAL;
	}
	json_array_foreach(json, i, value) {
		struct where at = where_index(w, i);

		if (bases_apply(value, bases, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* NOLINTEND(misc-no-recursion) */
