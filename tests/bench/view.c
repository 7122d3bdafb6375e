/* SPDX-License-Identifier: MIT */
/*
 * A recording in memory, as lines, as lines that are parsed, and as fields, in one process and one
 * thread: the best time of several rounds each, and the ratios.
 *
 * usage: view FILE [ROUNDS]
 */
#include <jansson.h>
#include <perfabi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t sum;

static int drop(void *context, const char *text, size_t size)
{
	(void)context;
	(void)text;
	sum += size;
	return 0;
}

/* What it takes to have values again. */
static int parse(void *context, const char *text, size_t size)
{
	(void)context;
	for (const char *at = text, *end; at < text + size; at = end + 1) {
		json_t *line;

		end = memchr(at, '\n', (size_t)(text + size - at));
		line = json_loadb(at, (size_t)(end - at), 0, NULL);
		sum += json_object_size(line);
		json_decref(line);
	}
	return 0;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int as_lines(const struct perfabi *perfabi, const void *bytes, size_t size)
{
	return perfabi_decode_memory(perfabi, bytes, size, NULL, drop, NULL, NULL);
}

static int as_parsed_lines(const struct perfabi *perfabi, const void *bytes, size_t size)
{
	return perfabi_decode_memory(perfabi, bytes, size, NULL, parse, NULL, NULL);
}

static int as_fields(const struct perfabi *perfabi, const void *bytes, size_t size)
{
	const struct perfabi_record *record;
	struct perfabi_reader *reader;
	uint64_t values = 0;
	int err = perfabi_open_memory(perfabi, bytes, size, NULL, &reader, NULL);

	while (!err && perfabi_next(reader, &record) == 1)
		for (size_t i = 0; i < record->field_count; i++)
			values += record->fields[i].value;
	if (!err)
		perfabi_close(reader);
	sum += values;
	return err;
}

static double best_of(int rounds, int (*run)(const struct perfabi *, const void *, size_t),
		      const struct perfabi *perfabi, const void *bytes, size_t size)
{
	double best = 1e9;

	for (int i = 0; i < rounds; i++) {
		double start = now();

		if (run(perfabi, bytes, size))
			exit(1);
		if (now() - start < best)
			best = now() - start;
	}
	return best;
}

int main(int argc, char **argv)
{
	struct perfabi *perfabi = perfabi_new(NULL, NULL, 0);
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	int rounds = argc > 2 ? atoi(argv[2]) : 5;
	double lines, parsed, fields;
	void *bytes;
	long size;

	if (!perfabi || !f || fseek(f, 0, SEEK_END) || (size = ftell(f)) <= 0 ||
	    fseek(f, 0, SEEK_SET))
		return 1;
	bytes = malloc((size_t)size);
	if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size)
		return 1;
	fclose(f);
	lines = best_of(rounds, as_lines, perfabi, bytes, (size_t)size);
	parsed = best_of(1, as_parsed_lines, perfabi, bytes, (size_t)size);
	fields = best_of(rounds, as_fields, perfabi, bytes, (size_t)size);
	printf("%ld bytes: lines %.3f s, lines parsed %.3f s, fields %.3f s (%.0f MB/s)\n", size,
	       lines, parsed, fields, (double)size / fields / 1e6);
	printf("fields: %.1f times as fast as lines, %.0f times as lines that are parsed\n",
	       lines / fields, parsed / fields);
	free(bytes);
	perfabi_free(perfabi);
	return 0;
}
