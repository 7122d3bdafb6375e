/* SPDX-License-Identifier: MIT */
/*
 * Lies about the calls that come after the open: ioctl, read, poll, and what any of them refuses.
 * Nothing is looked up or written behind an ioctl that switches an event on, but what was touched
 * before: cases count to the last page fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <unistd.h>

#include "abi/attr.h"
#include "call/call.h"
#include "lie.h"
#include "step/step.h"

/* What a step's verb calls is what the case is about; the same call elsewhere is the harness's. */
int __real_step_do(struct step *s);
int __wrap_step_do(struct step *s);
int __wrap_step_do(struct step *s)
{
	const char *before = lie_verb;
	int ret;

	lie_verb = verb_key(s->statement->verb);
	ret = __real_step_do(s);
	lie_verb = before;
	return ret;
}

/* What the call gives in the end, if the step of that name made it. */
static long answer(const char *verb, long ret)
{
	int err;

	if (ret != -1 || !lie_in(verb))
		return ret;
	err = lie_errno(verb, errno);
	errno = err;
	return err ? -1 : 0;
}

/* True if the call is to be left out. */
static bool does_nothing(const char *call)
{
	for (struct lie *const *l = lies_of(LIE_NOTHING); *l; l++)
		if (!(*l)->request && !strcmp((*l)->call, call) && lie_tells(*l))
			return true;
	return false;
}

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

static bool is_of(const struct lie *lie, unsigned long request)
{
	return lie->request == request;
}

static uint64_t word; /* that PERIOD is given instead */

/* The argument that the kernel takes instead, and whether it is another. */
static bool change_argument(const struct lie *lie, unsigned long was, unsigned long *is)
{
	*is = was;
	if (!strcmp(lie->how, "ungrouped"))
		*is = was & ~1ul;
	else if (!strcmp(lie->how, "grouped"))
		*is = was | 1;
	else if (!strcmp(lie->how, "plus"))
		*is = was + 1;
	else if (!strcmp(lie->how, "not"))
		*is = !was;
	else if (lie_peek(&word, (const void *)was, sizeof(word)) && ++word)
		*is = (unsigned long)&word;
	return *is != was;
}

/* One ioctl's name in lies about errnos. */
static int ioctl_errno(unsigned long request, int err)
{
	for (struct lie *const *l = lies_of(LIE_ERRNO); *l; l++)
		if ((*l)->request && is_of(*l, request) && (*l)->err == err && lie_tells(*l))
			return (*l)->to;
	return lie_errno("ioctl", err);
}

/* What it wrote is a little more. */
static void change_result(unsigned long request, unsigned long argument)
{
	for (struct lie *const *l = lies_of(LIE_RESULT); *l; l++) {
		uint32_t *at = (uint32_t *)argument + (*l)->value;

		if (is_of(*l, request) && lie_tells(*l))
			++*at;
	}
}

/* The attr that MODIFY_ATTRIBUTES takes instead; what it points to if it is no other. */
static unsigned long kept_attr(int fd, unsigned long request, unsigned long argument)
{
	static __thread unsigned char attr[4096];
	const unsigned char *opened = lie_opened(fd);

	for (struct lie *const *l = lies_of(LIE_KEEP); *l; l++) {
		const struct abi_field *field = (*l)->field;
		uint64_t was;

		if (!is_of(*l, request) || !opened ||
		    !lie_peek(attr, (const void *)argument, sizeof(attr)))
			continue;
		was = attr_get(field, opened, host_order());
		if (attr_get(field, attr, host_order()) == was || !lie_tells(*l))
			continue;
		attr_set(field, attr, host_order(), was);
		return (unsigned long)attr;
	}
	return argument;
}

static int ioctl_lying(int fd, unsigned long request, unsigned long argument)
{
	unsigned long asked = request, changed;
	int ret, err;

	for (struct lie *const *l = lies_of(LIE_NOTHING); *l; l++)
		if (is_of(*l, asked) && lie_tells(*l))
			return 0;
	for (struct lie *const *l = lies_of(LIE_AS); *l; l++)
		if (is_of(*l, asked) && lie_tells(*l))
			request = (*l)->other;
	for (struct lie *const *l = lies_of(LIE_ARG); *l; l++)
		if (is_of(*l, asked) && change_argument(*l, argument, &changed) && lie_tells(*l))
			argument = changed;
	argument = kept_attr(fd, asked, argument);
	ret = __real_ioctl(fd, request, argument);
	if (ret) {
		err = ioctl_errno(asked, errno);
		errno = err;
		return err ? -1 : 0;
	}
	for (struct lie *const *l = lies_of(LIE_ALSO); *l; l++)
		if (is_of(*l, asked) && lie_tells(*l))
			__real_ioctl(fd, (*l)->other, 0ul);
	change_result(asked, argument);
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	unsigned long argument;
	va_list list;

	va_start(list, request);
	argument = va_arg(list, unsigned long);
	va_end(list);
	if (!lies_here() || _IOC_TYPE(request) != '$')
		return __real_ioctl(fd, request, argument);
	return ioctl_lying(fd, request, argument);
}

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size)
{
	ssize_t n = answer("read", __real_read(fd, to, size));

	if (!lie_in("read") || n < 16)
		return n;
	for (struct lie *const *l = lies_of(LIE_SHORT); *l; l++)
		if (lie_tells(*l))
			n -= 8;
	return n;
}

/* A call of the libc whose only lies are to do nothing, and its errno. */
#define CALL(verb, name, type, declared, passed)                                                   \
	type __real_##name declared;                                                               \
	type __wrap_##name declared;                                                               \
	type __wrap_##name declared                                                                \
	{                                                                                          \
		if (lie_in(#verb) && does_nothing(#verb))                                          \
			return 0;                                                                  \
		return (type)answer(#verb, __real_##name passed);                                  \
	}
CALL(pread, pread64, ssize_t, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
CALL(lseek, lseek64, off_t, (int fd, off_t at, int whence), (fd, at, whence))
CALL(write, write, ssize_t, (int fd, const void *from, size_t n), (fd, from, n))
CALL(munmap, munmap, int, (void *at, size_t n), (at, n))
CALL(mprotect, mprotect, int, (void *at, size_t n, int prot), (at, n, prot))
CALL(close, close, int, (int fd), (fd))

void *__real_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	void *map = __real_mmap64(at, n, prot, flags, fd, offset);

	if (map != MAP_FAILED || answer("mmap", -1))
		return map;
	return __real_mmap64(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void *__real_mremap(void *at, size_t from, size_t to, int flags, ...);
void *__wrap_mremap(void *at, size_t from, size_t to, int flags, ...);
void *__wrap_mremap(void *at, size_t from, size_t to, int flags, ...)
{
	void *map = __real_mremap(at, from, to, flags);

	return map != MAP_FAILED || answer("mremap", -1) ? map : at;
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
	unsigned long argument;
	va_list list;

	va_start(list, command);
	argument = va_arg(list, unsigned long);
	va_end(list);
	if ((lie_in("fcntl") || lie_in("signals")) && does_nothing("fcntl"))
		return 0;
	return (int)answer("fcntl", __real_fcntl64(fd, command, argument));
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;

	va_start(list, option);
	for (size_t i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (lie_in("prctl")) {
		if (does_nothing("prctl"))
			return 0;
		if (does_nothing("prctl.swapped"))
			option ^= PR_TASK_PERF_EVENTS_ENABLE ^ PR_TASK_PERF_EVENTS_DISABLE;
	}
	return (int)answer("prctl", __real_prctl(option, a[0], a[1], a[2], a[3]));
}

/* The bits of revents; err, hup and nval come unasked. */
static unsigned change_bits(unsigned bits, unsigned asked)
{
	for (struct lie *const *l = lies_of(LIE_POLL); *l; l++) {
		unsigned bit = (unsigned)(*l)->value;
		bool adds = !strcmp((*l)->how, "add");

		if (adds == !(bits & bit) &&
		    (!adds || bit & (asked | POLLERR | POLLHUP | POLLNVAL)) && lie_tells(*l))
			bits ^= bit;
	}
	return bits;
}

int __real_poll(struct pollfd *list, nfds_t n, int ms);
int __wrap_poll(struct pollfd *list, nfds_t n, int ms);
int __wrap_poll(struct pollfd *list, nfds_t n, int ms)
{
	int ret = (int)answer("poll", __real_poll(list, n, ms));

	if (ret < 0 || !lie_in("poll"))
		return ret;
	list->revents =
		(short)change_bits((unsigned short)list->revents, (unsigned short)list->events);
	return list->revents != 0;
}

int __real_epoll_wait(int fd, struct epoll_event *events, int most, int ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int most, int ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	int ret = (int)answer("poll", __real_epoll_wait(fd, events, most, ms));

	if (ret < 0 || !lie_in("poll"))
		return ret;
	events->events = change_bits(ret ? events->events : 0, POLLIN);
	return events->events != 0;
}

int __real_select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *t);
int __wrap_select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *t);
int __wrap_select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *t)
{
	int ret = (int)answer("poll", __real_select(n, in, out, other, t));

	if (ret < 0 || !lie_in("poll"))
		return ret;
	if (change_bits(ret > 0 ? POLLIN : 0, POLLIN) & POLLIN) {
		FD_SET(n - 1, in);
		return 1;
	}
	FD_ZERO(in);
	return 0;
}
