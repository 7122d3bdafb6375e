/* SPDX-License-Identifier: MIT */
#include "stream/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
}

int aux_take(struct decoder *d, uint64_t *taken)
{
	static const char *const names[] = {"idx", "tid", "cpu", "aux_offset", "reference"};
	enum { IDX, TID, CPU, AUX_OFFSET, REFERENCE, NUMBERS };
	enum byte_order order = d->events.order;
	unsigned type = record_type(&d->events, d->aux.record);
	const struct plan *plan = events_plan(&d->events, d->events.bare, d->events.slot_of[type]);
	uint64_t numbers[NUMBERS] = {0}, *at;
	const unsigned char *data;
	char name[48], part[32] = "", line[512];
	size_t some;
	int fd, n, err = 0;

	for (size_t i = 0; plan && i < NUMBERS; i++)
		plan_number(plan, names[i], d->aux.record, sizeof(d->aux.record), order,
			    &numbers[i]);
	at = table_entry(&d->aux.seen, &d->aux.arena, &numbers[IDX], sizeof(uint64_t), sizeof(*at));
	if (!plan || !at)
		return -ENOMEM;
	snprintf(name, sizeof(name), "aux-idx%" PRIu64 ".bin", numbers[IDX]);
	fd = openat(d->aux.dir, name, *at ? O_WRONLY | O_APPEND | O_CLOEXEC : NEW_FILE, 0666);
	if (fd < 0)
		return -errno;
	while (!err && (some = input_take(&d->part->in, d->part->follow - *taken, &data))) {
		err = write_fully(fd, data, some);
		*taken += some;
	}
	if (close(fd) && !err)
		err = -errno;
	if (d->part->number)
		snprintf(part, sizeof(part), ",\"part\":\"data.%u\"", d->part->number - 1);
	n = snprintf(line, sizeof(line),
		     "{\"file\":\"%s\",\"at\":%" PRIu64 ",\"size\":%" PRIu64
		     ",\"cpu\":%d,\"tid\":%d,\"aux_offset\":\"0x%" PRIx64
		     "\",\"reference\":\"0x%" PRIx64 "\",\"record\":%" PRIu64 "%s}\n",
		     name, *at, *taken, (int32_t)numbers[CPU], (int32_t)numbers[TID],
		     numbers[AUX_OFFSET], numbers[REFERENCE], d->part->follow_place.offset, part);
	err = err ? err : write_fully(d->aux.index, line, (size_t)n);
	*at += *taken;
	return err;
}
