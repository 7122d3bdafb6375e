/* SPDX-License-Identifier: MIT */
/*
 * zlib reads what is packed and what is not.
 */
#include "machine/kernel.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { CONFIG_MAX = 8 << 20, PIECE = 65536 };

void kernel_config_find(const char *release, char *path, size_t size)
{
	static const char *const formats[] = {
		"/proc/config.gz", "/boot/config-%s", "/usr/lib/modules/%s/config",
		"/lib/modules/%s/config", "/lib/modules/%s/build/.config"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(path, size, formats[i], release);
		if (!access(path, R_OK))
			return;
	}
	path[0] = '\0';
}

/* Appends all of it; the length, or -1. */
static long append(gzFile file, char **text)
{
	size_t size = 0, room = 0;

	for (;;) {
		char *grown = room - size > PIECE ? *text : realloc(*text, room += 2 * PIECE);
		int n;

		if (!grown)
			return -1;
		*text = grown;
		n = gzread(file, grown + size, PIECE);
		if (n < 0 || size + (size_t)n > CONFIG_MAX)
			return -1;
		if (!n)
			return (long)size;
		size += (size_t)n;
	}
}

/* What a file is packed by that zlib takes for plain; NULL: nothing that is known. */
static const char *packing(const char *text, size_t size)
{
	static const struct {
		const char *magic, *name;
	} packings[] = {{"\xfd\x37zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"BZh", "bzip2"}};

	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		size_t n = strlen(packings[i].magic);

		if (size >= n && !memcmp(text, packings[i].magic, n))
			return packings[i].name;
	}
	return NULL;
}

/* Whether it is a configuration; else `why` says what it is. */
static bool is_config(const char *text, size_t size, const char *path, char *why, size_t why_size)
{
	const char *by = packing(text, size);

	if (by)
		snprintf(why, why_size, "%s is packed by %s; perfabi reads gzip and plain text",
			 path, by);
	else
		snprintf(why, why_size, "%s has no line that begins with CONFIG_", path);
	return !by && strstr(text, "\nCONFIG_");
}

char *kernel_config_read(const char *path, char *why, size_t why_size)
{
	gzFile file = path[0] ? gzopen(path, "re") : NULL;
	char *text = NULL;
	long size = file ? append(file, &text) : -1;

	if (file && gzclose(file) != Z_OK)
		size = -1;
	snprintf(why, why_size, path[0] ? "%s cannot be read" : "%sthere is no file of it", path);
	if (size >= 0)
		text[size] = '\0';
	if (size >= 0 && is_config(text, (size_t)size, path, why, why_size))
		return text;
	free(text);
	return NULL;
}

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
