/* SPDX-License-Identifier: MIT */
/*
 * What an event counts of a load.
 */
#ifndef PERFABI_WHY_COUNT_H
#define PERFABI_WHY_COUNT_H

#include "call/call.h"
#include "model/world.h"

/*
 * Opens the event, lets it count some milliseconds of this process's work, and closes it. Whether
 * that tells anything: false for events on other processes or cgroups, and where it does not open.
 */
bool count_event(const struct call *call, const struct environment *env, struct counted *out);

#endif
