/* SPDX-License-Identifier: MIT */
/*
 * A machine on which nothing can be judged, because no perf_event_open(2) reaches the kernel's
 * checks.
 */
#ifndef PERFABI_BARRED_H
#define PERFABI_BARRED_H

#include "command/modelled.h"

enum { BARRED_TEXT = 1024 };

/*
 * Whether nothing can be judged here; then `says` has the sentence for it, by the model: what is in
 * the way, and how to get it out. BARRED_TEXT bytes.
 */
bool is_barred_here(const struct model *model, const char *program, char *says);

/* The same where no model has been loaded. 0 with says[0] NUL where nothing is in the way; or an
 * exit status after a message. */
int barred_of_here(struct loaded *loaded, const char *program, char *says);

#endif
