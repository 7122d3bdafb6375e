/* SPDX-License-Identifier: MIT */
/*
 * A number for each name that a field can have: "sample_id.time", "branch_stack.entries[].from".
 * They are gathered once, by compiling each layout with all that any attr could ask for, and looked
 * up whenever a plan is made.
 */
#ifndef PERFABI_PATHS_H
#define PERFABI_PATHS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paths {
	json_t *numbers;    /* path -> number, from 1 on */
	const char **names; /* by number - 1; the keys of `numbers` */
	size_t count, capacity;
};

/* 0 or -ENOMEM. Free with paths_free() in any case. */
int paths_init(struct paths *paths);
void paths_free(struct paths *paths);

/* Adds a path that is not there yet. 0 or -ENOMEM. */
int paths_add(struct paths *paths, const char *path);

/* The number of a path, 0 if it has none; the path of a number, or NULL. Threads may ask. */
uint32_t paths_number(const struct paths *paths, const char *path);
const char *paths_name(const struct paths *paths, uint32_t number);

#endif
