/* SPDX-License-Identifier: MIT */
/*
 * What libtraceevent reads in the raw data of tracepoints, for tests/tracepoints.py to compare.
 *
 * usage: oracle little|big LONG-SIZE [--print] FORMAT... <RAW
 *
 * A line of RAW is an event's id and its bytes in hexadecimal. Of each field it prints a line: its
 * name, its type, flags, the size of an element, and its value: a number, or of an array the bytes.
 * An event ends with a line "end"; one that libtraceevent does not know, or whose arrays end past
 * its bytes, has "unknown" or "past" in front of it. With --print, of an event what its print fmt
 * makes of it, as the value of "print fmt".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

enum { TEXT = 1 << 20, RAW = 65536, TAIL = 8 };

static int add_format(struct tep_handle *tep, const char *path, char *text)
{
	FILE *file = fopen(path, "r");
	const char *name = strrchr(path, '/'), *system = NULL;
	char copy[4096];
	size_t n;

	if (!file)
		return -1;
	n = fread(text, 1, TEXT, file);
	fclose(file);
	snprintf(copy, sizeof(copy), "%.*s", (int)(name ? name - path : 0), path);
	if (strrchr(copy, '/')) { /* SYSTEM/NAME/format */
		*strrchr(copy, '/') = '\0';
		system = strrchr(copy, '/');
	}
	return n < TEXT && tep_parse_event(tep, text, n, system ? system + 1 : "none") ? -1 : 0;
}

/* Where an array's bytes are; false: past the end. */
static bool place_of(const struct tep_format_field *field, const unsigned char *raw, size_t size,
		     size_t *offset, size_t *length)
{
	unsigned long long word;

	*offset = (size_t)field->offset;
	*length = (size_t)field->size;
	if (*offset + *length > size)
		return false;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
		return true;
	word = tep_read_number(field->event->tep, raw + *offset, field->size);
	*offset = (word & 0xffff) +
		  (field->flags & TEP_FIELD_IS_RELATIVE ? *offset + (size_t)field->size : 0);
	*length = word >> 16;
	return *offset + *length <= size;
}

static void print_field(struct tep_format_field *field, const unsigned char *raw, size_t size)
{
	size_t offset, length;
	unsigned long long value;

	if (!place_of(field, raw, size, &offset, &length)) {
		printf("past\n");
		return;
	}
	printf("%s\t%s\t%lu\t%u\t", field->name, field->type, field->flags, field->elementsize);
	if (field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC) || field->size > 8) {
		for (size_t i = 0; i < length; i++)
			printf("%02x", raw[offset + i]);
	} else {
		tep_read_number_field(field, raw, &value);
		if ((field->flags & TEP_FIELD_IS_SIGNED) && field->size < 8 &&
		    value >> (8 * field->size - 1) & 1)
			value |= ~0ULL << 8 * field->size;
		printf(field->flags & TEP_FIELD_IS_SIGNED ? "%lld" : "%llu", value);
	}
	printf("\n");
}

/* What its print fmt makes of it. */
static void print_text(struct tep_handle *tep, unsigned char *raw, size_t size)
{
	struct tep_record record = {.data = raw, .size = (int)size};
	struct trace_seq seq;

	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	printf("print fmt\t\t0\t0\t%s\nend\n", seq.buffer);
	trace_seq_destroy(&seq);
}

static void print_event(struct tep_handle *tep, int id, const unsigned char *raw, size_t size)
{
	struct tep_event *event = tep_find_event(tep, id);

	if (!event) {
		printf("unknown\nend\n");
		return;
	}
	for (struct tep_format_field *f = event->format.common_fields; f; f = f->next)
		print_field(f, raw, size);
	for (struct tep_format_field *f = event->format.fields; f; f = f->next)
		print_field(f, raw, size);
	printf("end\n");
}

int main(int argc, char **argv)
{
	struct tep_handle *tep = tep_alloc();
	char *text = malloc(TEXT);
	unsigned char *raw = malloc(RAW + TAIL);
	int failed = 0, prints = argc > 3 && !strcmp(argv[3], "--print"), id;

	if (argc < 3 || !tep || !text || !raw)
		return 2;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, strcmp(argv[1], "big") ? TEP_LITTLE_ENDIAN : TEP_BIG_ENDIAN);
	tep_set_local_bigendian(tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, atoi(argv[2]));
	for (int i = 3 + prints; i < argc; i++)
		failed += add_format(tep, argv[i], text) != 0;
	while (scanf("%d", &id) == 1) {
		size_t size = 0;

		while (size < RAW && scanf("%2hhx", &raw[size]) == 1) {
			int next = getchar();

			size++;
			ungetc(next, stdin);
			if (next == '\n' || next == EOF)
				break;
		}
		if (prints)
			print_text(tep, raw, size);
		else
			print_event(tep, id, raw, size);
	}
	if (failed)
		fprintf(stderr, "%d formats that libtraceevent does not parse whole\n", failed);
	tep_free(tep);
	free(text);
	free(raw);
	return 0;
}
