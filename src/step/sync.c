/* SPDX-License-Identifier: MIT */
/*
 * A few futexes in memory that is shared.
 */
#include "step/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In a word's counter: one has failed, and it may never come. */
static const uint32_t nobody_posts = 1U << 31;

struct meeting {
	uint32_t lock;
	uint32_t has_failed;
	struct failure failure;
	struct {
		char name[MEETING_WORD];
		uint32_t posted; /* how often, less how often it was awaited */
	} words[MEETING_WORDS];
};

/* Cases count file descriptors, from 3 on. */
static int out_of_the_way(int fd)
{
	struct rlimit limit = {1001, 1001};
	int high;

	getrlimit(RLIMIT_NOFILE, &limit);
	high = fcntl(fd, F_DUPFD, limit.rlim_cur > 1000 ? 1000 : (int)limit.rlim_cur - 1);

	if (high >= 0)
		close(fd);
	return high >= 0 ? high : fd;
}

struct meeting *meeting_make(int *fd)
{
	void *at;

	if (*fd < 0)
		*fd = out_of_the_way((int)syscall(SYS_memfd_create, "perfabi", 0U));
	if (*fd < 0 || ftruncate(*fd, sizeof(struct meeting)))
		return NULL;
	at = mmap(NULL, sizeof(struct meeting), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void lock(struct meeting *m)
{
	while (__atomic_exchange_n(&m->lock, 1, __ATOMIC_ACQUIRE))
		futex_wait(&m->lock, 1);
}

static void unlock(struct meeting *m)
{
	__atomic_store_n(&m->lock, 0, __ATOMIC_RELEASE);
	futex_wake(&m->lock);
}

/* The word's counter, made when it is first spoken of; NULL when there are too many. */
static uint32_t *counter_of(struct meeting *m, const char *word)
{
	uint32_t *found = NULL;

	lock(m);
	for (size_t i = 0; i < MEETING_WORDS && !found; i++) {
		if (m->words[i].name[0] && strcmp(m->words[i].name, word) != 0)
			continue;
		snprintf(m->words[i].name, MEETING_WORD, "%s", word);
		found = &m->words[i].posted;
	}
	unlock(m);
	return found;
}

int meeting_post(struct meeting *m, const char *word)
{
	uint32_t *counter = counter_of(m, word);

	if (!counter)
		return -E2BIG;
	__atomic_add_fetch(counter, 1, __ATOMIC_RELEASE);
	futex_wake(counter);
	return 0;
}

int meeting_await(struct meeting *m, const char *word)
{
	uint32_t *counter = counter_of(m, word), have;

	while (counter) {
		have = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
		if (have & nobody_posts)
			return -ECANCELED;
		if (!have)
			futex_wait(counter, 0);
		else if (__atomic_compare_exchange_n(counter, &have, have - 1, false,
						     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return 0;
	}
	return -E2BIG;
}

void meeting_tell(struct meeting *m, const struct failure *failure)
{
	lock(m);
	if (!m->has_failed)
		m->failure = *failure;
	__atomic_store_n(&m->has_failed, 1, __ATOMIC_RELEASE);
	unlock(m);
	for (size_t i = 0; i < MEETING_WORDS; i++) {
		__atomic_fetch_or(&m->words[i].posted, nobody_posts, __ATOMIC_RELEASE);
		futex_wake(&m->words[i].posted);
	}
}

bool meeting_failed(const struct meeting *m, struct failure *failure)
{
	if (!__atomic_load_n(&m->has_failed, __ATOMIC_ACQUIRE))
		return false;
	*failure = m->failure;
	return true;
}
