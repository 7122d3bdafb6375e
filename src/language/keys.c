/* SPDX-License-Identifier: MIT */
/*
 * A key that is not known is a slip of the pen: the nearest that is known is offered.
 */
#include "language/keys.h"

int keys_check(const json_t *object, const char *const keys[], const char *what,
	       const struct where *w, struct error *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return error_value(e, w, object, "%s, an object", what);
	json_object_foreach((json_t *)object, key, value) {
		struct nearest near = nearest_to(key);

		if (name_index(key, keys, &near) < 0)
			return error_name(e, AT_KEY(w, key), key, near.best, "a key of %s", what);
	}
	return 0;
}

size_t elements(const json_t *value)
{
	return json_is_array(value) ? json_array_size(value) : value != NULL;
}

const json_t *element(const json_t *value, size_t i)
{
	if (json_is_array(value))
		return json_array_get(value, i);
	return i ? NULL : value;
}
