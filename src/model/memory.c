/* SPDX-License-Identifier: MIT */
/*
 * Reading this process's memory as the kernel does: what is not there is an answer, no signal.
 */
#include "model/memory.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Bytes up to the next page of the smallest size there is: all of them can be read, or none. */
static size_t to_page_end(uint64_t address)
{
	enum { SMALLEST_PAGE = 4096 };

	return SMALLEST_PAGE - (size_t)(address & (SMALLEST_PAGE - 1));
}

/* Copies the text with its NUL, as far as it can be read and fits; the bytes that came. */
static size_t copy_text(uint64_t address, char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t n = to_page_end(address + at);
		struct iovec to = {.iov_base = text + at, .iov_len = n < size - at ? n : size - at};
		struct iovec from = {.iov_base = (void *)(uintptr_t)(address + at),
				     .iov_len = to.iov_len};
		ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

		if (got <= 0)
			return at;
		at += (size_t)got;
		if (memchr(to.iov_base, 0, (size_t)got))
			return at;
	}
	return at;
}

static void look_at_file(const char *path, struct text_at *out)
{
	struct statfs fs;
	struct stat st;

	out->err = stat(path, &st) ? errno : 0;
	if (out->err)
		return;
	out->is_regular = S_ISREG(st.st_mode);
	out->size = (uint64_t)st.st_size;
	out->is_nameless = !st.st_nlink;
	/* The files of these have no pages. */
	out->has_pages = !statfs(path, &fs) && (unsigned long)fs.f_type != PROC_SUPER_MAGIC &&
			 (unsigned long)fs.f_type != SYSFS_MAGIC;
}

void text_read_at(uint64_t address, struct text_at *out)
{
	char text[TEXT_AT_MAX];
	size_t n = address == (uintptr_t)address ? copy_text(address, text, sizeof(text)) : 0;
	const char *end = memchr(text, 0, n);

	*out = (struct text_at){.length = end ? (uint64_t)(end - text) : n,
				.is_readable = end || n == sizeof(text)};
	if (end)
		look_at_file(text, out);
}
