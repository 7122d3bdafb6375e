/* SPDX-License-Identifier: MIT */
/*
 * zlib reads what is packed and what is not.
 */
#include "machine/kernel_config.h"

#include <stdio.h>
#include <stdlib.h>
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

char *kernel_config_read(const char *path)
{
	gzFile file = path[0] ? gzopen(path, "re") : NULL;
	char *text = NULL;
	long size = file ? append(file, &text) : -1;

	if (file && gzclose(file) != Z_OK)
		size = -1;
	if (size < 0) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}
