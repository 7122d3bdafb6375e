/* SPDX-License-Identifier: MIT */
/*
 * Lies about perf_event_open(2). The call is made as it is first: what the kernel refuses stays
 * refused. Only then it is made again as a kernel would that overlooks something.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/attr.h"
#include "lie.h"

enum { PAGE = 4096, SIZE_AT = 4, VER0 = 64, FDS = 1024, ATTR_BYTES = 256 };

/* The arguments, with a copy of what attr points to. */
struct args {
	const void *attr;
	long pid, cpu, group;
	unsigned long flags;
	union {
		unsigned char bytes[PAGE];
		uint32_t words[2];
	} image;
	size_t size; /* bytes of image that the kernel reads */
};

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static long open_real(const struct args *a, const void *attr)
{
	return __real_syscall(SYS_perf_event_open, attr, a->pid, a->cpu, a->group, a->flags);
}

/* An event that is nobody's: what a kernel gives that refuses too little. */
static long open_any(unsigned long flags)
{
	static const uint64_t attr[VER0 / 8] = {
		[0] = 1 | (uint64_t)VER0 << 32, [1] = 9 /* dummy */, [5] = 1 | 1 << 5 | 1 << 6};

	return __real_syscall(SYS_perf_event_open, attr, 0L, -1L, -1L, flags & 8);
}

/* What MODIFY_ATTRIBUTES could leave as it was. */
static unsigned char opened[FDS][ATTR_BYTES];

const unsigned char *lie_opened(int fd)
{
	return fd >= 0 && fd < FDS ? opened[fd] : NULL;
}

static void note_opened(const struct args *a, long fd)
{
	if (*lies_of(LIE_KEEP) && lie_opened((int)fd))
		memcpy(opened[fd], a->image.bytes, ATTR_BYTES);
}

/* The kernel's size in attr, taken back to what the caller had there. */
static void lie_about_size(const struct args *a, uint32_t before, bool was_read)
{
	uint32_t now;
	void *at = (char *)(uintptr_t)a->attr + SIZE_AT;

	if (!was_read || !lie_peek(&now, at, sizeof(now)) || now == before)
		return;
	for (struct lie *const *l = lies_of(LIE_SIZE); *l; l++)
		if (lie_tells(*l))
			memcpy(at, &before, sizeof(before));
}

static long refused(const struct args *a, int err)
{
	for (struct lie *const *l = lies_of(LIE_ERRNO); *l; l++) {
		long fd;

		if ((*l)->err != err || strcmp((*l)->call, "open") != 0 || !lie_would_tell(*l))
			continue;
		fd = (*l)->to ? -1 : open_any(a->flags);
		if ((*l)->to || fd >= 0)
			lie_told();
		err = (*l)->to ? (*l)->to : errno;
		if (fd >= 0)
			return fd;
	}
	errno = err;
	return -1;
}

static bool is_about(const struct lie *lie, const struct args *a)
{
	const unsigned char *image = a->image.bytes;
	uint32_t type = a->image.words[0];

	if (lie->field->offset + lie->field->size > a->size)
		return false;
	if (lie->when && !attr_get(lie->when, image, host_order()))
		return false;
	if (lie->unless && attr_get(lie->unless, image, host_order()))
		return false;
	/* PMUs that are numbered as they come are all of type 6 here */
	return lie->attr_type < 0 || lie->attr_type == (type < 6 ? type : 6);
}

/* The field as the kernel takes it, in a copy; whether that is anything else. */
static bool change_attr(const struct lie *lie, const struct args *a, struct args *changed)
{
	uint64_t was, is;

	if (!is_about(lie, a))
		return false;
	was = is = attr_get(lie->field, a->image.bytes, host_order());
	if (!strcmp(lie->how, "ignored"))
		is &= ~lie->value;
	else if (!strcmp(lie->how, "set"))
		is |= lie->value;
	else if (was)
		is++;
	*changed = *a;
	attr_set(lie->field, changed->image.bytes, host_order(), is);
	return memcmp(changed->image.bytes, a->image.bytes, a->size) != 0;
}

static bool change_target(const struct lie *lie, const struct args *a, struct args *changed)
{
	*changed = *a;
	if (!strcmp(lie->how, "pid"))
		changed->pid = 0;
	else if (!strcmp(lie->how, "cpu"))
		changed->cpu = -1;
	else
		changed->group = -1;
	return changed->pid != a->pid || changed->cpu != a->cpu || changed->group != a->group;
}

static bool change_flags(const struct lie *lie, const struct args *a, struct args *changed)
{
	*changed = *a;
	if (!strcmp(lie->how, "set"))
		changed->flags |= lie->value;
	else
		changed->flags &= ~lie->value;
	return changed->flags != a->flags;
}

/* In the place of `fd`; where even a lie cannot do it, the truth. */
static long open_again(long fd, const struct args *a, const struct args *changed)
{
	long again;

	close((int)fd);
	again = open_real(changed, changed->image.bytes);
	if (again < 0)
		return open_real(a, a->attr);
	lie_told();
	return again;
}

static long accepted(struct args *a, long fd)
{
	static const struct {
		enum lie_kind kind;
		bool (*change)(const struct lie *, const struct args *, struct args *);
	} ways[] = {{LIE_ATTR, change_attr}, {LIE_TARGET, change_target}, {LIE_FLAG, change_flags}};
	static __thread struct args changed;
	uint32_t head[2];

	if (!lie_peek(head, a->attr, sizeof(head)))
		return fd;
	a->size = head[1] ? head[1] : VER0;
	if (a->size > PAGE || !lie_peek(a->image.bytes, a->attr, a->size))
		return fd;
	note_opened(a, fd);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (struct lie *const *l = lies_of(ways[i].kind); *l; l++)
			if (ways[i].change(*l, a, &changed) && lie_would_tell(*l))
				return open_again(fd, a, &changed);
	return fd;
}

static long open_lying(struct args *a)
{
	uint32_t before = 0;
	bool was_read = lie_peek(&before, (const char *)a->attr + SIZE_AT, sizeof(before));
	long fd = open_real(a, a->attr);
	int err = errno;

	if (fd >= 0)
		return accepted(a, fd);
	lie_about_size(a, before, was_read);
	return refused(a, err);
}

long __wrap_syscall(long number, ...)
{
	static __thread struct args a;
	long argument[6];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	if (number != SYS_perf_event_open || !lies_here())
		return __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
				      argument[4], argument[5]);
	a.attr = (const void *)(uintptr_t)argument[0];
	a.pid = (int)argument[1];
	a.cpu = (int)argument[2];
	a.group = (int)argument[3];
	a.flags = (unsigned long)argument[4];
	memset(a.image.bytes, 0, 512);
	return open_lying(&a);
}
