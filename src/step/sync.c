/* SPDX-License-Identifier: MIT */
/*
 * A few futexes in memory that is shared.
 */
#include "step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In a word's counter: one has failed, and it may never come. */
static const uint32_t nobody_posts = 1U << 31;

struct sync {
	uint32_t lock;
	uint32_t has_failed;
	struct verdict failure;
	struct {
		char name[SYNC_WORD];
		uint32_t posted; /* how often, less how often it was awaited */
	} words[SYNC_WORDS];
};

struct sync *sync_make(int *fd)
{
	struct rlimit limit = {1001, 1001};
	void *at;

	if (*fd < 0) { /* out of the way: cases count file descriptors, from 3 on */
		int low = (int)syscall(SYS_memfd_create, "perfabi", 0U);

		getrlimit(RLIMIT_NOFILE, &limit);
		*fd = fcntl(low, F_DUPFD, limit.rlim_cur > 1000 ? 1000 : (int)limit.rlim_cur - 1);
		if (*fd >= 0)
			close(low);
		else
			*fd = low;
	}
	if (*fd < 0 || ftruncate(*fd, sizeof(struct sync)))
		return NULL;
	at = mmap(NULL, sizeof(struct sync), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
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

static void lock(struct sync *s)
{
	while (__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
		futex_wait(&s->lock, 1);
}

static void unlock(struct sync *s)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
	futex_wake(&s->lock);
}

/* The word's counter, made when it is first spoken of; NULL when there are too many. */
static uint32_t *counter_of(struct sync *s, const char *word)
{
	uint32_t *found = NULL;

	lock(s);
	for (size_t i = 0; i < SYNC_WORDS && !found; i++) {
		if (s->words[i].name[0] && strcmp(s->words[i].name, word) != 0)
			continue;
		snprintf(s->words[i].name, SYNC_WORD, "%s", word);
		found = &s->words[i].posted;
	}
	unlock(s);
	return found;
}

int sync_post(struct sync *s, const char *word)
{
	uint32_t *counter = counter_of(s, word);

	if (!counter)
		return -E2BIG;
	__atomic_add_fetch(counter, 1, __ATOMIC_RELEASE);
	futex_wake(counter);
	return 0;
}

int sync_await(struct sync *s, const char *word)
{
	uint32_t *counter = counter_of(s, word), have;

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

void sync_tell(struct sync *s, const struct verdict *failure)
{
	lock(s);
	if (!s->has_failed)
		s->failure = *failure;
	__atomic_store_n(&s->has_failed, 1, __ATOMIC_RELEASE);
	unlock(s);
	for (size_t i = 0; i < SYNC_WORDS; i++) {
		__atomic_fetch_or(&s->words[i].posted, nobody_posts, __ATOMIC_RELEASE);
		futex_wake(&s->words[i].posted);
	}
}

bool sync_failed(const struct sync *s, struct verdict *failure)
{
	if (!__atomic_load_n(&s->has_failed, __ATOMIC_ACQUIRE))
		return false;
	*failure = s->failure;
	return true;
}
