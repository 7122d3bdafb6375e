/* SPDX-License-Identifier: MIT */
/*
 * Verbs on memory: mappings of events, buffers, words, strings.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "step/verbs/build_id.h"
#include "call/mmap_page.h"
#include "step/step.h"
#include "step/verbs/workload.h"

static int keep_map(struct step *s, void *at, size_t length, int fd, unsigned prot, uint64_t offset)
{
	size_t i = s->run->first_map;

	while (i < s->run->map_count && s->run->maps[i].at)
		i++; /* the place of one that is gone will do */
	if (i == MAPS_MAX)
		return error_text(s->error, s->where, "more", "at most %d mappings", MAPS_MAX);
	if (i == s->run->map_count)
		s->run->map_count++;
	s->run->maps[i] = (struct map){.at = at,
				       .length = length,
				       .fd = fd,
				       .writable = (prot & PROT_WRITE) != 0,
				       .is_data = offset == 0};
	return 0;
}

int verb_mmap(struct step *s)
{
	uint64_t fd, pages, length, offset, page = s->run ? s->run->env->page_size : 4096;
	unsigned prot;
	bool is_private;
	void *at;
	int err = step_bound(s, NULL, &fd);

	if (!err)
		err = step_number(s, "pages", 8, 1 << 20, &pages);
	if (!err)
		err = step_number(s, "length", (1 + pages) * page, UINT64_MAX, &length);
	if (!err)
		err = step_number(s, "offset", 0, UINT64_MAX, &offset);
	if (!err)
		err = step_prot(s, PROT_READ | PROT_WRITE, &prot);
	if (!err)
		err = step_truth(s, "private", false, &is_private);
	if (err || step_is_checked(s))
		return err;
	step_say(s, "mmap(NULL, %llu, %s%s%s%s, %d, %#llx)", (unsigned long long)length,
		 prot & PROT_READ ? "PROT_READ|" : "", prot & PROT_WRITE ? "PROT_WRITE|" : "",
		 prot & PROT_EXEC ? "PROT_EXEC, " : "0, ",
		 is_private ? "MAP_PRIVATE" : "MAP_SHARED", (int)fd, (unsigned long long)offset);
	at = mmap(NULL, (size_t)length, (int)prot, is_private ? MAP_PRIVATE : MAP_SHARED, (int)fd,
		  (off_t)offset);
	step_answer(s, at == MAP_FAILED ? -1 : 0);
	s->result = (uintptr_t)at;
	return s->err ? 0 : keep_map(s, at, (size_t)length, (int)fd, prot, offset);
}

/* The newest mapping of the event NAME. */
static int find_map(struct step *s, struct map **map)
{
	uint64_t fd;
	int err = step_bound(s, NULL, &fd);

	*map = NULL;
	if (err || step_is_checked(s))
		return err;
	for (size_t i = s->run->map_count; i-- > 0 && !*map;)
		if (s->run->maps[i].at && s->run->maps[i].fd == (int)fd)
			*map = &s->run->maps[i];
	return *map ? 0 : error_value(s->error, &s->at, s->argument, "an event that is mapped");
}

/* `length` bytes at `offset` of a mapping; all of it by default. */
static int read_range(struct step *s, const struct map *map, unsigned char **at, size_t *length)
{
	uint64_t offset, size = 0, most = map ? map->length : UINT64_MAX;
	int err = step_number(s, "offset", 0, most, &offset);

	if (!err)
		err = step_number(s, "length", most - offset, most - offset, &size);
	*at = map ? map->at + offset : NULL;
	*length = (size_t)size;
	return err;
}

/* Other memory in the place of that: it is unmapped first. */
static long map_over(void *at, size_t length)
{
	return mmap(at, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) == MAP_FAILED
		       ? -1
		       : 0;
}

int verb_munmap(struct step *s)
{
	unsigned char *at;
	struct map *map;
	size_t length;
	bool replaced;
	int err = find_map(s, &map);

	if (!err)
		err = read_range(s, map, &at, &length);
	if (!err)
		err = step_truth(s, "replaced", false, &replaced);
	if (err || step_is_checked(s))
		return err;
	step_say(s, replaced ? "mmap(%p, %zu, MAP_FIXED)" : "munmap(%p, %zu)", (void *)at, length);
	step_answer(s, replaced ? map_over(at, length) : munmap(at, length));
	if (!s->err)
		map->at = NULL;
	return 0;
}

/* To `place`, so that it is not where it was; NULL: to where the kernel likes. */
static void *move(void *at, size_t length, size_t to, void *place)
{
	void *now = place ? mremap(at, length, to, MREMAP_MAYMOVE | MREMAP_FIXED, place)
			  : mremap(at, length, to, MREMAP_MAYMOVE);
	int err = errno;

	if (now == MAP_FAILED && place)
		munmap(place, to);
	errno = err;
	return now;
}

int verb_mremap(struct step *s)
{
	unsigned char *at;
	struct map *map;
	size_t length;
	uint64_t to;
	bool moves;
	void *now, *place = NULL;
	int err = find_map(s, &map);

	if (!err)
		err = read_range(s, map, &at, &length);
	if (!err)
		err = step_number(s, "to", 0, UINT64_MAX, &to);
	if (!err)
		err = step_truth(s, "move", false, &moves);
	if (err || step_is_checked(s))
		return err;
	if (moves)
		place = mmap(NULL, (size_t)to, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED) /* which is not what mremap says */
		return step_failed(s, errno);
	step_say(s, "mremap(%p, %zu, %llu, MREMAP_MAYMOVE%s)", (void *)at, length,
		 (unsigned long long)to, moves ? "|MREMAP_FIXED" : "");
	now = move(at, length, (size_t)to, place);
	step_answer(s, now == MAP_FAILED ? -1 : 0);
	if (!s->err) /* all of it that was moved is as it was; anything else is no longer it */
		map->at = length == map->length && to == length ? now : NULL;
	return 0;
}

int verb_mprotect(struct step *s)
{
	unsigned char *at;
	struct map *map;
	unsigned prot;
	size_t length;
	int err = find_map(s, &map);

	if (!err)
		err = read_range(s, map, &at, &length);
	if (!err)
		err = step_prot(s, PROT_READ | PROT_WRITE, &prot);
	if (err || step_is_checked(s))
		return err;
	step_say(s, "mprotect(%p, %zu, %#x)", (void *)at, length, prot);
	step_answer(s, mprotect(at, length, (int)prot));
	if (!s->err && !(prot & PROT_WRITE))
		map->mangled = true; /* data_tail cannot be written any more */
	return 0;
}

int verb_buffer(struct step *s)
{
	uint64_t size;
	unsigned prot;
	int err = step_number(s, NULL, 0, 1 << 24, &size);
	void *map;

	if (!err)
		err = step_prot(s, PROT_READ | PROT_WRITE, &prot);
	if (err || step_is_checked(s))
		return err;
	map = mmap(NULL, (size_t)size, (int)prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s->result = (uintptr_t)map;
	return map == MAP_FAILED ? step_failed(s, errno) : 0;
}

int verb_string(struct step *s)
{
	uint64_t times;
	char text[256], end[256] = "", *all;
	int err = step_text(s, NULL, text, sizeof(text));
	size_t n;

	if (!err)
		err = step_number(s, "times", 1, 1 << 16, &times);
	if (!err && json_object_get(s->json, "end"))
		err = step_text(s, "end", end, sizeof(end));
	if (err || step_is_checked(s))
		return err;
	n = strlen(text);
	all = calloc(times * n + sizeof(end), 1); /* lives as long as the process */
	if (!all)
		return step_failed(s, ENOMEM);
	for (uint64_t i = 0; i < times; i++)
		memcpy(all + i * n, text, n);
	memcpy(all + times * n, end, sizeof(end));
	s->result = (uintptr_t)all;
	return 0;
}

/* The offset of a member of the metadata page, by its name. */
static int read_member(struct step *s, uint64_t *offset)
{
	const char *name = json_string_value(json_object_get(s->json, "member"));
	struct where at = where_key(s->where, "member");
	int found = name ? mmap_page_offset(s->cases->abi, name) : -1;

	*offset = (uint64_t)found;
	return found < 0 ? error_value(s->error, &at, json_object_get(s->json, "member"),
				       "a member of the metadata page")
			 : 0;
}

/* An address: a name, or an expression; with an offset, or the one of a member. */
static int read_address(struct step *s, uint64_t *address)
{
	uint64_t offset;
	int err = step_number(s, NULL, 0, UINT64_MAX, address);

	if (!err)
		err = step_number(s, "offset", 0, UINT64_MAX, &offset);
	if (!err && json_object_get(s->json, "member"))
		err = read_member(s, &offset);
	if (!err)
		*address += offset;
	return err;
}

int verb_poke(struct step *s)
{
	uint64_t address, value;
	int err = read_address(s, &address);

	if (!err)
		err = step_number(s, "value", 0, UINT64_MAX, &value);
	if (err || step_is_checked(s))
		return err;
	for (size_t i = 0; i < s->run->map_count; i++)
		if (address - (uintptr_t)s->run->maps[i].at < s->run->maps[i].length)
			s->run->maps[i].mangled = true;
	*(volatile uint64_t *)(uintptr_t)address = value;
	return 0;
}

int verb_peek(struct step *s)
{
	uint64_t address;
	int err = read_address(s, &address);

	if (err || step_is_checked(s))
		return err;
	s->seen = json_integer((json_int_t) * (volatile uint64_t *)(uintptr_t)address);
	return 0;
}

int verb_function(struct step *s)
{
	char path[256], build_id[BUILD_ID_TEXT];
	uint64_t offset;
	int err;

	if (!json_is_string(s->argument) || strcmp(json_string_value(s->argument), "probed") != 0)
		return error_value(s->error, &s->at, s->argument, "\"probed\"");
	if (step_is_checked(s))
		return 0;
	err = workload_probed_place(path, sizeof(path), &offset);
	if (err)
		return step_failed(s, -err);
	step_show_number(s, "address", (uintptr_t)workload_probed);
	step_show_number(s, "offset", offset);
	step_show(s, "path", json_string(path));
	build_id_text(build_id);
	step_show(s, "build_id", json_string(build_id));
	return 0;
}
