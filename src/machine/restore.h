/* SPDX-License-Identifier: MIT */
/*
 * What a case has changed in the machine (sysctls, a cgroup), and putting it back: when the case
 * has ended, and by a guardian process when perfabi was killed.
 */
#ifndef PERFABI_MACHINE_H
#define PERFABI_MACHINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "machine/lock.h"
#include "machine/sysctl.h"

struct restorer;

/*
 * For `jobs` cases at a time; starts the guardian. NULL if that fails, with errno. End with
 * machine_end().
 */
struct restorer *machine_begin(unsigned jobs);

/*
 * Puts back what is not as it was, and ends the guardian. False if something could not be put back,
 * which is said: the guardian keeps trying for some minutes.
 */
bool machine_end(struct restorer *machine);

/* Which process, that leads a session, runs in that place; 0: none. */
void machine_note(struct restorer *machine, unsigned place, pid_t session);

/* What keeps other runs on this machine away, wherever they run. Without one no sysctl may be
 * changed. */
struct machine_lock *machine_lock_of(struct restorer *machine);

/*
 * Writes the sysctls of an object by their names, noting first what those of the set were, which
 * has these and what else is to be put back. 0, or a negative errno with the name of the one that
 * could not be written in *failed.
 */
int machine_set(struct restorer *machine, json_t *sysctls, const struct sysctl_set *set,
		const char **failed);

/*
 * Puts back the sysctls that were noted, and returns which. One that cannot be written is tried
 * again the next time, and by the guardian.
 */
struct sysctl_set machine_restore(struct restorer *machine);

/* Makes a cgroup for a place; its path is valid until it is removed, in the runner alone. NULL with
 * errno. */
const char *machine_make_cgroup(struct restorer *machine, unsigned place);

/*
 * Removes it, if the place has one. One that cannot be removed is tried again at the end, and by
 * the guardian.
 */
void machine_remove_cgroup(struct restorer *machine, unsigned place);

#endif
