/* SPDX-License-Identifier: MIT */
/*
 * Reading the texts below cases/, and other files.
 */
#include "text/source.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MAX = 16 << 20 }; /* bytes of a file below cases/ */

json_t *source_parse(const struct source *source, struct error *e)
{
	struct where root = where_root(source);
	enum json_error_code code;
	json_error_t why;
	json_t *json;

	errno = 0; /* jansson takes most of a want of memory for a token that is none */
	json = json_loadb(source->text, source->length, JSON_REJECT_DUPLICATES, &why);
	if (json)
		return json;
	if (errno == ENOMEM) {
		error_no_memory(e, &root, "memory for JSON");
		return NULL;
	}
	/* a number, a string or the like is JSON, but with nothing in it */
	json = json_loadb(source->text, source->length, JSON_DECODE_ANY, NULL);
	if (json && !json_is_object(json) && !json_is_array(json)) {
		error_value(e, &root, json, "an object");
		json_decref(json);
		return NULL;
	}
	json_decref(json);
	code = json_error_code(&why);
	error_text(e, &root, why.text, "%s",
		   code == json_error_duplicate_key ? "each key once in an object"
		   : code == json_error_numeric_overflow
			   ? "numbers that fit 64 bits: integers up to "
			     "9223372036854775807, beyond it \"0x...\""
		   : code == json_error_stack_overflow ? "objects and lists nested less deeply"
						       : "valid JSON in UTF-8");
	e->line = why.line;
	return NULL;
}

/* 0 if it is a file: a pipe or a device is not even opened, which could take for ever. */
static int check_is_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP;
}

/* All of `f`, which is closed unless it is standard input; as text_read(). */
static char *read_and_close(FILE *f, size_t *size, size_t max)
{
	size_t capacity = 0, got = 1;
	char *text = NULL;
	int err = 0;

	for (*size = 0; got && !err; *size += got) {
		if (*size + 1 >= capacity) {
			char *grown = realloc(text, capacity = capacity ? 2 * capacity : 65536);

			if (!grown) {
				err = ENOMEM;
				break;
			}
			text = grown;
		}
		errno = 0;
		got = fread(text + *size, 1, capacity - *size - 1, f);
		if (*size + got > max)
			err = EFBIG;
	}
	if (!err && ferror(f))
		err = errno ? errno : EIO;
	if (f != stdin)
		fclose(f);
	if (!err) {
		text[*size] = '\0';
		return text;
	}
	free(text);
	errno = err;
	return NULL;
}

char *text_read(const char *path, size_t *size, size_t max)
{
	return strcmp(path, "-") ? text_read_in(AT_FDCWD, path, size, max)
				 : read_and_close(stdin, size, max);
}

char *text_read_in(int folder, const char *path, size_t *size, size_t max)
{
	int fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f ? read_and_close(f, size, max) : NULL;
}

DIR *folder_open_at(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *names = fd < 0 ? NULL : fdopendir(fd);

	if (!names && fd >= 0)
		close(fd);
	return names;
}

static int add_file(struct sources *s, const char *path, const char *name)
{
	struct source *grown, *source; /* which is freed as one that could be read */
	int err = check_is_file(path);

	if (err)
		return err;
	grown = realloc(s->list, (s->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->list = grown;
	source = &grown[s->count++];
	*source = (struct source){.root = s->owned_root, .name = strdup(name)};
	if (!source->name)
		return -ENOMEM;
	source->text = text_read_in(AT_FDCWD, path, &source->length, SOURCE_MAX);
	return source->text ? 0 : -errno;
}

static int entries_by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Takes back what was read if something could not be. Returns `err`. */
static int end_reading(struct sources *out, struct error *e, const char *path, int err)
{
	if (!err)
		return 0;
	sources_free(out);
	if (err == -ENOMEM)
		return error_no_memory(e, NULL, "memory for cases");
	error_text(e, NULL, err == -ENOTSUP ? "neither a file nor a folder" : strerror(-err),
		   "a readable file or folder of cases");
	snprintf(e->file, sizeof(e->file), "%s", path);
	return err;
}

/* What the walk has come to: a file is added, and what cannot be looked into is an error. */
static int take_entry(struct sources *out, FTS *walk, FTSENT *entry, const char *name)
{
	const char *suffix = strrchr(entry->fts_name, '.');
	bool is_json = suffix && suffix > entry->fts_name && entry->fts_name[0] != '.' &&
		       !strcmp(suffix, ".json");

	switch (entry->fts_info) {
	case FTS_D:
		return strcmp(name, "schema") ? 0 : fts_set(walk, entry, FTS_SKIP);
	case FTS_DP:
	case FTS_DC: /* a link to a folder that it is in, whose files are read already */
		return 0;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return -entry->fts_errno;
	case FTS_SLNONE: /* which might be a folder's */
		return entry->fts_name[0] == '.' ? 0 : check_is_file(entry->fts_path);
	default:
		return is_json ? add_file(out, entry->fts_path, name) : 0;
	}
}

int sources_read(struct sources *out, const char *folder, struct error *e)
{
	char *roots[] = {(char *)folder, NULL};
	FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, entries_by_name);
	FTSENT *entry = NULL;
	int err = walk ? 0 : -errno;

	*out = (struct sources){.owned_root = strdup(folder)};
	if (!out->owned_root)
		err = -ENOMEM;
	for (size_t n = strlen(folder); !err && n > 1 && folder[n - 1] == '/'; n--)
		out->owned_root[n - 1] = '\0';
	while (!err && (errno = 0, entry = fts_read(walk))) {
		const char *name = entry->fts_path + strlen(folder);

		err = take_entry(out, walk, entry, name + strspn(name, "/"));
	}
	if (!err)
		err = -errno;
	end_reading(out, e, entry ? entry->fts_path : folder, err);
	if (walk)
		fts_close(walk);
	return err;
}

int sources_read_file(struct sources *out, const char *path, struct error *e)
{
	*out = (struct sources){.owned_root = strdup("")};
	return end_reading(out, e, path, out->owned_root ? add_file(out, path, path) : -ENOMEM);
}

void sources_free(struct sources *s)
{
	for (size_t i = 0; i < s->count && s->owned_root; i++) {
		free((char *)s->list[i].text);
		free((char *)s->list[i].name);
	}
	if (s->owned_root)
		free(s->list);
	free(s->owned_root);
	*s = (struct sources){0};
}

const struct source *sources_find(const struct sources *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->list[i].name, name))
			return &s->list[i];
	return NULL;
}
