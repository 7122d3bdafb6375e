/* SPDX-License-Identifier: MIT */
/*
 * Paths and numbers.
 */
#include "plan/paths.h"

#include <errno.h>
#include <stdlib.h>

int paths_init(struct paths *paths)
{
	*paths = (struct paths){.numbers = json_object()};
	return paths->numbers ? 0 : -ENOMEM;
}

void paths_free(struct paths *paths)
{
	free(paths->names);
	json_decref(paths->numbers);
	*paths = (struct paths){0};
}

int paths_add(struct paths *paths, const char *path)
{
	if (paths_number(paths, path))
		return 0;
	if (paths->count == paths->capacity) {
		size_t capacity = paths->capacity ? 2 * paths->capacity : 512;
		const char **grown = realloc(paths->names, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		paths->names = grown;
		paths->capacity = capacity;
	}
	if (json_object_set_new(paths->numbers, path, json_integer((json_int_t)paths->count + 1)))
		return -ENOMEM;
	/* the object's own copy of the key, which stays where it is */
	paths->names[paths->count++] =
		json_object_iter_key(json_object_iter_at(paths->numbers, path));
	return 0;
}

uint32_t paths_number(const struct paths *paths, const char *path)
{
	return (uint32_t)json_integer_value(json_object_get(paths->numbers, path));
}

const char *paths_name(const struct paths *paths, uint32_t number)
{
	return number >= 1 && number <= paths->count ? paths->names[number - 1] : NULL;
}
