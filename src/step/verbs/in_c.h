/* SPDX-License-Identifier: MIT */
/*
 * The verbs whose C has a shape of its own; the rows of the verbs name these.
 */
#ifndef PERFABI_VERBS_IN_C_H
#define PERFABI_VERBS_IN_C_H

#include "step/program.h"
#include "translate/translate.h"

typedef void verb_in_c(struct translation *t, const struct statement *s);

verb_in_c open_in_c, ioctl_in_c, mmap_in_c, mremap_in_c, read_in_c, records_in_c, repeat_in_c,
	fork_in_c, thread_in_c, exec_in_c, wait_in_c, become_in_c, socket_in_c, value_of_in_c;

/* The program becomes who the case is for. */
void identity_in_c(struct translation *t, enum identity as, bool may_kill);

#endif
