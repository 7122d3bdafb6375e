/* SPDX-License-Identifier: MIT */
/*
 * Steps as C. What a verb is in C stands in its row: verb.c, or verb.in_c.
 */
#ifndef PERFABI_STEP_IN_C_H
#define PERFABI_STEP_IN_C_H

#include "step/program.h"
#include "translate/translate.h"

/* Writes each step that is done on this machine; what cannot be written is noted: t->missing. */
void block_in_c(struct translation *t, const struct block *block);

/* What a row says of a value: its shape, and in *type its type. */
struct c_shape value_in_c(struct translation *t, const char *text, const char **type);

/* The verbs whose C has a shape of its own. */
typedef void verb_in_c(struct translation *t, const struct statement *s);

verb_in_c open_in_c, ioctl_in_c, mmap_in_c, mremap_in_c, read_in_c, records_in_c, repeat_in_c,
	fork_in_c, thread_in_c, exec_in_c, wait_in_c, become_in_c, socket_in_c, value_of_in_c;

/* The program becomes who the case is for. */
void identity_in_c(struct translation *t, enum identity as, bool may_kill);

#endif
