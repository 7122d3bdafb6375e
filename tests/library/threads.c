/* SPDX-License-Identifier: MIT */
/*
 * One struct perfabi for several threads: each reads the same recording by fields, then as lines.
 * Run under TSan and ASan.
 *
 * usage: threads FILE [ATTR]    prints how many records and fields each thread saw
 */
#include <fcntl.h>
#include <perfabi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4 };

struct job {
	const struct perfabi *perfabi;
	const char *file;
	struct perfabi_options options;
	unsigned long records, fields, lines, sum;
};

static int count_lines(void *context, const char *text, size_t size)
{
	struct job *job = context;

	for (size_t i = 0; i < size; i++)
		job->lines += text[i] == '\n';
	return text[size - 1] == '\n' ? 0 : -1;
}

/* Each byte of each field is looked at, and each name asked for. */
static void look_at(struct job *job, const struct perfabi_record *record)
{
	job->records++;
	for (size_t i = 0; i < record->field_count; i++) {
		const struct perfabi_field *field = &record->fields[i];
		const char *name = perfabi_field_name(job->perfabi, field->number);

		if (!name || perfabi_field_number(job->perfabi, name) != field->number)
			exit(1);
		for (uint32_t k = 0; k < field->size; k++)
			job->sum += record->bytes[field->offset + k];
		if (field->kind == PERFABI_ARRAY)
			for (uint64_t k = 0; k < field->value; k++)
				job->sum += perfabi_element(record, field, k);
		job->sum += perfabi_value_name(record, field, field->value) != NULL;
		job->fields++;
	}
	if (record->message)
		job->sum += strlen(record->message);
}

static void *work(void *argument)
{
	struct job *job = argument;
	const struct perfabi_record *record;
	struct perfabi_reader *reader;
	int fd = open(job->file, O_RDONLY);

	if (!perfabi_open(job->perfabi, fd, &job->options, &reader, NULL)) {
		while (perfabi_next(reader, &record) == 1)
			look_at(job, record);
		perfabi_close(reader);
	}
	lseek(fd, 0, SEEK_SET);
	job->options.jobs = 2;
	perfabi_decode(job->perfabi, fd, &job->options, count_lines, job, NULL);
	close(fd);
	return NULL;
}

static char *read_text(const char *path)
{
	char *text = calloc(1, 65536);
	FILE *f = fopen(path, "r");

	if (!text || !f || !fread(text, 1, 65535, f))
		exit(1);
	fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	struct perfabi *perfabi = perfabi_new(NULL, NULL, 0);
	char *attr = argc > 2 ? read_text(argv[2]) : NULL;
	struct job jobs[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){perfabi, argv[1], {.attr = attr}, 0, 0, 0, 0};
		if (pthread_create(&threads[i], NULL, work, &jobs[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		printf("%lu records, %lu fields, %lu lines\n", jobs[i].records, jobs[i].fields,
		       jobs[i].lines);
	perfabi_free(perfabi);
	free(attr);
	return 0;
}
