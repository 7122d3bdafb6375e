/* SPDX-License-Identifier: MIT */
/*
 * Which perfabi may run on this machine, whatever container it is in.
 */
#ifndef PERFABI_MACHINE_LOCK_H
#define PERFABI_MACHINE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Two files of the kernel's that root alone can open, or -1. */
struct machine_lock {
	int lock, next;
	bool held, alone; /* what we have of `lock` */
	bool is_next;     /* nobody else is served before us */
};

/*
 * Opens them. false if there are none that root alone can open: for an ordinary user, in a user
 * namespace, where the kernel has neither tracefs nor debugfs or they cannot be mounted, and where
 * their folders are open to others. Then there is no lock.
 */
bool machine_lock_open(struct machine_lock *lock);
void machine_lock_close(struct machine_lock *lock);

/* Whether it could be opened. */
bool machine_lock_is_there(const struct machine_lock *lock);

/*
 * Tries to run: beside others, or alone. 0, or -EWOULDBLOCK: another perfabi is in the way, and
 * trying again keeps our place. What was held before is given up first. Without a lock: 0.
 */
int machine_lock_try(struct machine_lock *lock, bool alone);

/* Tries so for `seconds`, 0 to HUGE_VAL; false: another perfabi is still in the way. */
bool machine_lock_wait(struct machine_lock *lock, bool alone, double seconds);

/* To run no more. */
void machine_lock_give_up(struct machine_lock *lock);

/*
 * To be alone if nobody else runs just then, whoever is next; what was held before is given up. It
 * may be held already by the process that forked this one, which has ended: that is ours.
 */
bool machine_lock_snatch(struct machine_lock *lock);

/* Whether trying would change nothing: it was got so, and not given up since. */
bool machine_lock_is_held(const struct machine_lock *lock, bool alone);

/* Who is in the way: "perfabi, process 1234". Returns `text`. */
const char *machine_lock_holder(const struct machine_lock *lock, char *text, size_t size);

#endif
