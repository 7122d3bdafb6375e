/* SPDX-License-Identifier: MIT */
/*
 * Telling the model what the steps of a stage have left behind.
 */
#ifndef PERFABI_STAGE_NOTE_H
#define PERFABI_STAGE_NOTE_H

#include "stage/things.h"

/* Notes what a step has made or undone; the name that it binds stands for that already. */
void stage_note(struct stage *stage, const struct environment *env, const json_t *step);

/* A thing that no step has made. */
void stage_add_thing(struct stage *stage, enum role role, const char *name, uint64_t value);

#endif
