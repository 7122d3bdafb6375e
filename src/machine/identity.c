/* SPDX-License-Identifier: MIT */
/*
 * Dropping privilege. The kernel asks for capabilities and for ptrace access, so an identity is a
 * uid, a set of capabilities, and a process that is dumpable.
 */
#include "machine/identity.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/limits.h"
#include "machine/clock.h"
#include "text/error.h"

const char *const identity_names[] = {"root", "perfmon", "sys-admin", "user", NULL};
const char identity_choice[] = "root, perfmon, sys-admin or user";

enum { UIDS_LOWEST = 60000 };

/* Uids that nobody gives out, neither to people nor to containers (systemd's UIDS-GIDS.md). */
static const uid_t UNUSED_FIRST = 1879048192, UNUSED_LAST = 2147352575;

int identity_by_name(const char *name)
{
	return name_index(name, identity_names, NULL);
}

static uint64_t capabilities_of(enum identity as)
{
	if (as == AS_PERFMON)
		return UINT64_C(1) << CAP_PERFMON;
	if (as == AS_SYS_ADMIN)
		return UINT64_C(1) << CAP_SYS_ADMIN;
	return 0;
}

static bool has_cap(const struct rights *own, int cap)
{
	return own->capabilities >> cap & 1;
}

uint64_t identity_capabilities(const struct rights *own, enum identity as)
{
	return as == AS_ROOT ? own->capabilities : capabilities_of(as);
}

bool identity_kernel_has(int capability)
{
	return prctl(PR_CAPBSET_READ, (unsigned long)capability, 0UL, 0UL, 0UL) >= 0 ||
	       errno != EINVAL;
}

bool identity_changes_uid(const struct rights *own)
{
	uid_t uid;

	if (own->uid || !has_cap(own, CAP_SETUID) || !has_cap(own, CAP_SETGID))
		return false;
	identity_choose_uids(&uid, 1);
	return uid != IDENTITY_STAYS;
}

/* The first of what it takes to become anybody that is not there; NULL: all is. */
static const char *lacking(const struct rights *own)
{
	if (!has_cap(own, CAP_SYS_ADMIN))
		return "CAP_SYS_ADMIN";
	if (!has_cap(own, CAP_SETUID))
		return "CAP_SETUID";
	if (!has_cap(own, CAP_SETGID))
		return "CAP_SETGID";
	return own->has_perfmon && !has_cap(own, CAP_PERFMON) ? "CAP_PERFMON" : NULL;
}

/* The calling process's; 0 or a negative errno, and none. */
static int get_capabilities(uint64_t *effective, uint64_t *permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	int err = syscall(SYS_capget, &header, data) ? -errno : 0;

	*effective = data[0].effective | (uint64_t)data[1].effective << 32;
	*permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return err;
}

uint64_t identity_effective(void)
{
	uint64_t effective, permitted;

	get_capabilities(&effective, &permitted);
	return effective;
}

bool identity_available(const struct rights *own, enum identity as, char *why, size_t size)
{
	why[0] = '\0';
	if (as == AS_USER)
		return true;
	if (as == AS_PERFMON && !own->has_perfmon) {
		snprintf(why, size, "CAP_PERFMON came with Linux 5.8");
		return false;
	}
	if (!own->init_user_namespace) {
		snprintf(why, size,
			 "perfabi is in a user namespace, whose root has no rights to perf");
		return false;
	}
	if (own->uid && as != AS_ROOT && !(capabilities_of(as) & ~own->capabilities))
		return true; /* it is that already, and gives up the rest */
	if (own->uid) {
		snprintf(why, size, "perfabi runs as uid %u, and only root can become others",
			 (unsigned)own->uid);
		return false;
	}
	if (lacking(own)) {
		snprintf(why, size, "perfabi runs as root without %s", lacking(own));
		return false;
	}
	return true;
}

static int set_capabilities(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{.effective = (uint32_t)effective, .permitted = (uint32_t)permitted},
		{.effective = (uint32_t)(effective >> 32),
		 .permitted = (uint32_t)(permitted >> 32)}};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int identity_suspend(uint64_t *held)
{
	uint64_t effective;
	int err = get_capabilities(&effective, held);

	return err ? err : set_capabilities(0, *held);
}

int identity_resume(uint64_t held)
{
	return set_capabilities(held, held);
}

/*
 * Root that was left without CAP_SETUID or CAP_SETGID is a user as far as capabilities go: it stays
 * who it is.
 */
static bool may_change_uid(void)
{
	uint64_t have = identity_effective();

	return geteuid() == 0 && have >> CAP_SETUID & 1 && have >> CAP_SETGID & 1;
}

/* Uids from UIDS_LOWEST up to IDENTITY_NOBODY that are taken. */
struct taken {
	bool uids[IDENTITY_NOBODY - UIDS_LOWEST + 1];
};

static void note_taken(struct taken *taken, uid_t uid)
{
	if (uid >= UIDS_LOWEST && uid <= IDENTITY_NOBODY)
		taken->uids[uid - UIDS_LOWEST] = true;
}

static void take_users(struct taken *taken)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *user;

	while (f && (user = fgetpwent(f)))
		note_taken(taken, user->pw_uid);
	if (f)
		fclose(f);
}

static void take_processes(struct taken *taken)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct stat st;

	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    !fstatat(dirfd(proc), entry->d_name, &st, 0))
			note_taken(taken, st.st_uid);
	if (proc)
		closedir(proc);
}

/* The ids that the user namespace has by this map; all of them where there is no map to read. */
static void find_mapped(struct taken *mapped, const char *map)
{
	FILE *f = fopen(map, "re");
	unsigned first, outside, count;

	memset(mapped, f ? 0 : 1, sizeof(*mapped));
	while (f && fscanf(f, "%u %u %u", &first, &outside, &count) == 3)
		for (uid_t uid = UIDS_LOWEST; uid <= IDENTITY_NOBODY; uid++)
			if (uid >= first && uid - first < count)
				note_taken(mapped, uid);
	if (f)
		fclose(f);
}

/* Which a process can have as uid and as gid. */
static bool is_uid_mapped(const struct taken *uids, const struct taken *gids, uid_t id)
{
	return uids->uids[id - UIDS_LOWEST] && gids->uids[id - UIDS_LOWEST];
}

/* Whether the user namespace has all ids from one to another by this map. */
static bool maps(const char *map, uid_t from, uid_t to)
{
	FILE *f = fopen(map, "re");
	unsigned first, outside, count;
	bool found = !f;

	while (f && !found && fscanf(f, "%u %u %u", &first, &outside, &count) == 3)
		found = first <= from && to - first < count;
	if (f)
		fclose(f);
	return found;
}

/* Some that nobody has, and that nobody can foretell. */
static void choose_unused(uid_t *uids, size_t count)
{
	uid_t first = UNUSED_FIRST + (uid_t)(draw() % (UNUSED_LAST - UNUSED_FIRST - count));

	for (size_t i = 0; i < count; i++)
		uids[i] = first + (uid_t)i;
}

/* In a user namespace that has less: some that no user and no process has that we see. */
static void choose_mapped(uid_t *uids, size_t count)
{
	struct taken taken = {{0}}, mapped, groups;
	uid_t uid = IDENTITY_NOBODY;

	take_users(&taken);
	take_processes(&taken);
	find_mapped(&mapped, "/proc/self/uid_map");
	find_mapped(&groups, "/proc/self/gid_map");
	for (size_t i = 0; i < count; i++) {
		while (uid > UIDS_LOWEST) {
			uid--;
			if (is_uid_mapped(&mapped, &groups, uid) && !taken.uids[uid - UIDS_LOWEST])
				break;
		}
		uids[i] = uid > UIDS_LOWEST                                  ? uid
			  : is_uid_mapped(&mapped, &groups, IDENTITY_NOBODY) ? IDENTITY_NOBODY
									     : IDENTITY_STAYS;
	}
}

void identity_choose_uids(uid_t *uids, size_t count)
{
	if (maps("/proc/self/uid_map", UNUSED_FIRST, UNUSED_LAST) &&
	    maps("/proc/self/gid_map", UNUSED_FIRST, UNUSED_LAST))
		choose_unused(uids, count);
	else
		choose_mapped(uids, count);
}

/* What no exec could bring back: no_new_privs bars it too, but not for what comes after 3.5. */
static void drop_bounding_set(uint64_t but)
{
	for (unsigned long cap = 0; cap < 64; cap++)
		if (!(but >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return; /* the last one was before, or we may not */
}

/* A user namespace may have it that groups stay as they are (user_namespaces(7), setgroups). */
static int drop_groups(void)
{
	return setgroups(0, NULL) && errno != EPERM ? -1 : 0;
}

int identity_become(enum identity as, uid_t uid, uint64_t more)
{
	uint64_t capabilities = capabilities_of(as) | more;

	if (as == AS_ROOT)
		return 0;
	drop_bounding_set(capabilities);
	if (uid != IDENTITY_STAYS && may_change_uid()) {
		if (prctl(PR_SET_KEEPCAPS, 1) || drop_groups() || setresgid(uid, uid, uid) ||
		    setresuid(uid, uid, uid))
			return -errno;
	}
	if (set_capabilities(capabilities, capabilities))
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 1))
		return -errno;
	return 0;
}

int identity_run(enum identity as, unsigned seconds, int (*what)(void *), void *argument)
{
	int *answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result, status;
	uid_t uid;
	pid_t pid;

	if (answer == MAP_FAILED)
		return -errno;
	*answer = -EIO;
	identity_choose_uids(&uid, 1);
	pid = fork();
	if (pid == 0) {
		int err;

		setsid();
		descriptors_close_from(3, -1, -1);
		err = identity_become(as, uid, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*answer = err ? err : what(argument);
		_exit(0);
	}
	result = pid < 0 ? -errno : 0;
	if (pid > 0 && !patience_await(pid, seconds, NULL, &status))
		*answer = -ETIMEDOUT;
	if (!result)
		result = *answer;
	munmap(answer, sizeof(*answer));
	return result;
}
