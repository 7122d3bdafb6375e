/* SPDX-License-Identifier: MIT */
/*
 * Events whose names ask for what the machine does not have: a PMU that no driver has registered, a
 * tracepoint that this kernel has not. There is no call to make, or another one.
 */
#ifndef PERFABI_WHY_ABSENT_H
#define PERFABI_WHY_ABSENT_H

#include "why/knowledge.h"
#include "why/question.h"

/*
 * Where the machine has no PMU of a processor, and one is asked for: a raw event is put in its
 * place, which is the kernel's own name for that PMU. `events` is cases/events.json. 0; -ENOENT:
 * what is absent is something else; or -ENOMEM.
 */
int absent_stand_in(struct question *q, const struct machine *machine, const json_t *events);

/* The answer where no call can be made: a new reference, as docs/why.md tells. */
json_t *absent_answer(const struct absence *absence, const struct knowledge *k,
		      const struct model *model);

#endif
