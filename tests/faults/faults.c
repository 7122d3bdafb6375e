/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program: its n-th allocation, read or write fails. FAULT_ALLOC=N, FAULT_READ=N
 * or FAULT_WRITE=N says which (from 1); FAULT_COUNT=FILE has the numbers of all three written there
 * when the program ends. Failures come once: what follows one finds the machine well again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

struct fault {
	const char *name;
	long at, count; /* at: -1 until the environment was asked */
};

static struct fault alloc = {"FAULT_ALLOC", -1, 0}, reading = {"FAULT_READ", -1, 0},
		    writing = {"FAULT_WRITE", -1, 0};

static int fails(struct fault *fault, int err)
{
	const char *at;

	if (fault->at < 0) {
		at = getenv(fault->name);
		fault->at = at ? atol(at) : 0;
	}
	if (__atomic_add_fetch(&fault->count, 1, __ATOMIC_RELAXED) != fault->at)
		return 0;
	errno = err;
	return 1;
}

void *malloc(size_t size)
{
	return fails(&alloc, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(&alloc, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(&alloc, ENOMEM) ? NULL : __libc_realloc(old, size);
}

ssize_t read(int fd, void *bytes, size_t size)
{
	return fails(&reading, EIO) ? -1 : syscall(SYS_read, fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
	return fails(&reading, EIO) ? -1 : syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pread64(int fd, void *bytes, size_t size, off_t offset)
{
	return pread(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	return fd == STDOUT_FILENO && fails(&writing, EIO) ? -1
							   : syscall(SYS_write, fd, bytes, size);
}

static void __attribute__((destructor)) report(void)
{
	const char *path = getenv("FAULT_COUNT");
	long counts[] = {alloc.count, reading.count, writing.count};
	FILE *f = path ? fopen(path, "we") : NULL;

	if (!f)
		return;
	fprintf(f, "%ld %ld %ld\n", counts[0], counts[1], counts[2]);
	fclose(f);
}
