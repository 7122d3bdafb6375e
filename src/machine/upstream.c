/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "machine/upstream.h"

/* Copies the version that `text` begins with if it has three numbers, the first two those of
 * `release`. */
static bool take(const char *text, const char *release, char *out, size_t size)
{
	unsigned ours[2], theirs[3];

	if (sscanf(release, "%u.%u", &ours[0], &ours[1]) != 2 ||
	    sscanf(text, "%u.%u.%u", &theirs[0], &theirs[1], &theirs[2]) != 3 ||
	    ours[0] != theirs[0] || ours[1] != theirs[1])
		return false;
	snprintf(out, size, "%u.%u.%u", theirs[0], theirs[1], theirs[2]);
	return true;
}

void upstream_version(const char *release, const char *version, const char *signature, char *out,
		      size_t size)
{
	static const char debian[] = "Debian ";
	const char *found = strstr(version, debian), *last = strrchr(signature, ' ');

	if ((found && take(found + strlen(debian), release, out, size)) ||
	    (last && take(last + 1, release, out, size)))
		return;
	snprintf(out, size, "%s", release);
}
