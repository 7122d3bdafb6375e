/* SPDX-License-Identifier: MIT */
#include "stream/aux.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/out.h"

enum { NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC };

int aux_open(struct aux *aux, const char *dir)
{
	if (mkdir(dir, 0777) && errno != EEXIST)
		return -errno;
	aux->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (aux->dir < 0)
		return -errno;
	aux->index = openat(aux->dir, "index.jsonl", NEW_FILE, 0666);
	return aux->index < 0 ? -errno : 0;
}

void aux_close(struct aux *aux)
{
	if (aux->index >= 0)
		close(aux->index);
	if (aux->dir >= 0)
		close(aux->dir);
	free(aux->seen.slots);
	arena_free(&aux->arena);
	*aux = (struct aux){.dir = -1, .index = -1};
}

int aux_take(struct aux *aux, struct input *in, uint64_t size, const struct plan *plan,
	     const unsigned char *bytes, enum byte_order order, struct place place, uint64_t *taken)
{
	uint64_t idx = 0, tid = 0, cpu = 0, aux_offset = 0, reference = 0, *at;
	const unsigned char *data;
	char name[48], line[512];
	size_t some;
	int fd, n, err = 0;

	plan_number(plan, "idx", bytes, AUX_RECORD, order, &idx);
	at = table_entry(&aux->seen, &aux->arena, &idx, sizeof(idx), sizeof(*at));
	if (!at)
		return -ENOMEM;
	snprintf(name, sizeof(name), "aux-idx%" PRIu64 ".bin", idx);
	fd = openat(aux->dir, name, *at ? O_WRONLY | O_APPEND | O_CLOEXEC : NEW_FILE, 0666);
	if (fd < 0)
		return -errno;
	while (!err && (some = input_take(in, size - *taken, &data))) {
		err = write_fully(fd, data, some);
		*taken += some;
	}
	if (close(fd) && !err)
		err = -errno;
	plan_number(plan, "tid", bytes, AUX_RECORD, order, &tid);
	plan_number(plan, "cpu", bytes, AUX_RECORD, order, &cpu);
	plan_number(plan, "aux_offset", bytes, AUX_RECORD, order, &aux_offset);
	plan_number(plan, "reference", bytes, AUX_RECORD, order, &reference);
	n = snprintf(line, sizeof(line),
		     "{\"file\":\"%s\",\"at\":%" PRIu64 ",\"size\":%" PRIu64
		     ",\"cpu\":%d,\"tid\":%d,\"aux_offset\":\"0x%" PRIx64
		     "\",\"reference\":\"0x%" PRIx64 "\",\"record\":%" PRIu64 "}\n",
		     name, *at, *taken, (int32_t)cpu, (int32_t)tid, aux_offset, reference,
		     place.offset);
	err = err ? err : write_fully(aux->index, line, (size_t)n);
	*at += *taken;
	return err;
}
