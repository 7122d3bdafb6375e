/* SPDX-License-Identifier: MIT */
#include "language/one_or_list.h"

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
