/* SPDX-License-Identifier: MIT */
/*
 * The configuration that the kernel was built with.
 */
#ifndef PERFABI_KERNEL_CONFIG_H
#define PERFABI_KERNEL_CONFIG_H

#include <stddef.h>

/* Where it is for that release, among the places that distributions and the kernel have for it;
 * empty if it is at none. */
void kernel_config_find(const char *release, char *path, size_t size);

/*
 * The file as text, packed by gzip(1) or plain; free() it. NULL if it cannot be read, has over
 * 8 MiB or is none: then `why` says so.
 */
char *kernel_config_read(const char *path, char *why, size_t why_size);

/*
 * Of uname(2)'s release and version, and the line of Ubuntu's /proc/version_signature ("" if that
 * is not there): what Debian's version or Ubuntu's signature says, if it is of the release's
 * series, else the release itself.
 */
void upstream_version(const char *release, const char *version, const char *signature, char *out,
		      size_t size);

#endif
