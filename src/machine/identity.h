/* SPDX-License-Identifier: MIT */
/*
 * Who makes a call (`as` of a case), and becoming it.
 */
#ifndef PERFABI_IDENTITY_H
#define PERFABI_IDENTITY_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef CAP_PERFMON /* Linux 5.8 */
#define CAP_PERFMON 38
#endif

enum identity {
	AS_ROOT,      /* uid 0 with every capability that the runner has */
	AS_PERFMON,   /* an ordinary user with CAP_PERFMON and no other capability */
	AS_SYS_ADMIN, /* the same with CAP_SYS_ADMIN */
	AS_USER,      /* an ordinary user (the runner's own uid where it cannot change), none */
	IDENTITIES
};

extern const char *const identity_names[]; /* NULL-terminated */
extern const char identity_choice[];       /* "root, ... or user": for messages */

/* -1 if there is none of that name. */
int identity_by_name(const char *name);

/* What the runner has, of which it can become others. */
struct rights {
	uid_t uid;
	uint64_t capabilities;    /* effective */
	bool init_user_namespace; /* the one that the kernel asks */
	bool has_perfmon;         /* the kernel has CAP_PERFMON */
	bool changes_uid;         /* it is root that can become another user */
};

/* The effective capabilities of the calling process, as a mask; capget(2). */
uint64_t identity_effective(void);

/* The effective capabilities, as a mask, that it has when this runner becomes it. */
uint64_t identity_capabilities(const struct rights *own, enum identity as);

/* Whether this kernel knows that capability. */
bool identity_kernel_has(int capability);

/* Whether this runner is root that can become another user. */
bool identity_changes_uid(const struct rights *own);

/* Whether this runner can become it; else `why` says what is in the way. */
bool identity_available(const struct rights *own, enum identity as, char *why, size_t size);

#define IDENTITY_STAYS ((uid_t)-1)
/* nobody's; and in a user namespace what is shown for each uid that it has not mapped */
#define IDENTITY_NOBODY ((uid_t)65534)

/*
 * Uids for `count` ordinary users, each its own: drawn from those that nobody gives out, or in a
 * user namespace without these, of no process and in no line of /etc/passwd. Where there are too
 * few, what is left is nobody's, 65534, or IDENTITY_STAYS: an ordinary user is who the runner is,
 * without its capabilities. A uid of its own keeps the processes of one case from those of another,
 * and from other programs'.
 */
void identity_choose_uids(uid_t *uids, size_t count);

/*
 * Makes the calling process that identity, for good: groups, uids (`uid` where it is an ordinary
 * user's), capability sets, bounding set, no_new_privs; capabilities(7), setresuid(2). The process
 * stays dumpable, as an ordinary user's is. `more` is a mask of capabilities beside those of the
 * identity. 0 or a negative errno, after which the process must not go on.
 */
int identity_become(enum identity as, uid_t uid, uint64_t more);

/*
 * Puts the calling process's effective capabilities aside, into *held, and takes them back. 0 or a
 * negative errno.
 */
int identity_suspend(uint64_t *held);
int identity_resume(uint64_t held);

/*
 * Runs `what` in a forked process of that identity, in a session of its own, and waits for it.
 * Returns what it returned, or a negative errno when it could not be run: -ETIMEDOUT if it did not
 * end when it had had `seconds` (struct patience).
 */
int identity_run(enum identity as, unsigned seconds, int (*what)(void *), void *argument);

#endif
