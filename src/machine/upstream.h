/* SPDX-License-Identifier: MIT */
/*
 * Which version of kernel.org's a distribution's kernel is of. Its release does not always tell:
 * Debian's 5.10.223 calls itself 5.10.0-32-amd64, Ubuntu's 5.15.131 is 5.15.0-91-generic.
 */
#ifndef PERFABI_UPSTREAM_H
#define PERFABI_UPSTREAM_H

#include <stddef.h>

/*
 * Of uname(2)'s release and version, and the line of Ubuntu's /proc/version_signature ("" if that
 * is not there): what Debian's version or Ubuntu's signature says, if it is of the release's
 * series, else the release itself.
 */
void upstream_version(const char *release, const char *version, const char *signature, char *out,
		      size_t size);

#endif
