/* SPDX-License-Identifier: MIT */
/*
 * Reads a recording by its fields, and prints each record as a line. For tests in which reads and
 * allocations fail.
 *
 * usage: read FILE    exit status 0, or 3 if something failed, which stands behind the last line
 */
#include <fcntl.h>
#include <inttypes.h>
#include <perfabi.h>
#include <stdio.h>
#include <unistd.h>

static void print(const struct perfabi_record *record)
{
	printf("%s %" PRIu64, record->name, record->offset);
	for (size_t i = 0; i < record->field_count; i++)
		printf(" %" PRIu32 "=%" PRIu64, record->fields[i].number, record->fields[i].value);
	printf("\n");
}

int main(int argc, char **argv)
{
	static char buffer[65536], message[1024];
	const struct perfabi_record *record;
	struct perfabi_reader *reader = NULL;
	struct perfabi_result result = {0};
	struct perfabi *perfabi;
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1, err;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer)); /* which is no allocation */
	perfabi = perfabi_new(NULL, message, sizeof(message));
	if (!perfabi) {
		printf("failed: %s\n", message);
		return 3;
	}
	err = perfabi_open(perfabi, fd, NULL, &reader, &result);
	if (!err) {
		while ((err = perfabi_next(reader, &record)) == 1)
			print(record);
		perfabi_reader_result(reader, &result);
	}
	if (err)
		printf("failed: %s\n", result.message);
	perfabi_close(reader);
	perfabi_free(perfabi);
	return err ? 3 : 0;
}
