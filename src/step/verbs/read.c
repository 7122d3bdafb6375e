/* SPDX-License-Identifier: MIT */
/*
 * Verbs that read an event: read(2) as its read_format lays it out, the metadata page, rdpmc.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call/mmap_page.h"
#include "step/path.h"

enum { READ_MOST = 64 * 1024 };

static void bytes_to_seen(struct step *s, const unsigned char *bytes, size_t size)
{
	json_t *words = json_array();

	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, 8);
		json_array_append_new(words, json_integer((json_int_t)word));
	}
	step_show(s, "words", words);
}

/*
 * What read(2) gives is what a sample with PERF_SAMPLE_READ holds: the decoder has its layout, so
 * the bytes are given to it as one.
 */
static int decode_read(struct step *s, const struct opened *event, const unsigned char *bytes,
		       size_t size)
{
	const struct abi *abi = s->cases->abi;
	const struct abi_family *types = abi_family(abi, "record"),
				*bits = abi_family(abi, "sample_type");
	const struct abi_field *type = abi_field(abi, "sample_type");
	const struct abi_value *sample = abi_value(types, "sample", NULL);
	struct opened as_sample = *event;
	const struct opened *list[] = {&as_sample};
	unsigned char *record = calloc(1, size + 8);
	uint32_t head[2] = {(uint32_t)sample->value, (uint32_t)(size + 8) << 16};
	json_t *records, *value;
	const char *key;

	if (BYTE_ORDER == BIG_ENDIAN)
		head[1] = (uint32_t)(size + 8);
	as_sample.image = malloc(abi->attr_size);
	if (!record || !as_sample.image) {
		free(record);
		free(as_sample.image);
		return step_failed(s, ENOMEM);
	}
	memcpy(record, head, 8);
	memcpy(record + 8, bytes, size);
	memcpy(as_sample.image, event->image, abi->attr_size);
	attr_set(type, as_sample.image, host_order(), abi_value(bits, "read", NULL)->value);
	records = decode_records(s, list, 1, record, size + 8);
	json_object_foreach(json_object_get(json_array_get(records, 0), "read"), key, value)
		step_show(s, key, json_incref(value));
	free(record);
	free(as_sample.image);
	json_decref(records);
	return records ? 0 : -ECANCELED;
}

int verb_read(struct step *s)
{
	uint64_t fd, size, at;
	struct opened *event;
	unsigned char *buffer;
	ssize_t n;
	int err = step_bound(s, NULL, &fd);

	if (!err)
		err = step_number(s, "size", READ_MOST, READ_MOST, &size);
	if (!err)
		err = step_number(s, "at", 0, UINT64_MAX, &at);
	if (err || step_is_checked(s))
		return err;
	buffer = calloc(1, READ_MOST);
	if (!buffer)
		return step_failed(s, ENOMEM);
	step_say(s, "read(%d, %llu)", (int)fd, (unsigned long long)size);
	n = read((int)fd, json_object_get(s->json, "at") ? (void *)(uintptr_t)at : buffer,
		 (size_t)size);
	step_answer(s, n);
	event = step_event(s, (int)fd);
	if (n > 0 && event)
		err = decode_read(s, event, buffer, (size_t)n);
	if (n >= 0) {
		step_show_number(s, "bytes", (uint64_t)n);
		bytes_to_seen(s, buffer, (size_t)n);
	}
	free(buffer);
	return err;
}

int verb_pread(struct step *s)
{
	unsigned char buffer[256];
	uint64_t fd;
	int err = step_bound(s, NULL, &fd);

	if (err || step_is_checked(s))
		return err;
	step_say(s, "pread(%d, %zu, 0)", (int)fd, sizeof(buffer));
	step_answer(s, pread((int)fd, buffer, sizeof(buffer), 0));
	return 0;
}

int verb_lseek(struct step *s)
{
	uint64_t fd;
	int err = step_bound(s, NULL, &fd);

	if (err || step_is_checked(s))
		return err;
	step_say(s, "lseek(%d, 0, SEEK_SET)", (int)fd);
	step_answer(s, lseek((int)fd, 0, SEEK_SET));
	return 0;
}

static int write_file(struct step *s, const char *text)
{
	char path[256];
	int err = step_path(s, STEP_WRITES, path, sizeof(path)), fd;

	if (err || step_is_checked(s))
		return err;
	if (!s->run->restores_sysctls)
		return error_text(s->error, s->where, path,
				  "a case with `sysctl`, after which they are put back");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	step_say(s, "write(\"%s\", \"%s\")", path, text);
	if (fd < 0) {
		step_answer(s, -1);
		return 0;
	}
	step_answer(s, write(fd, text, strlen(text)));
	close(fd);
	return 0;
}

int verb_write(struct step *s)
{
	const char *target = json_string_value(s->argument);
	char text[64];
	uint64_t fd;
	int err = step_text(s, "text", text, sizeof(text));

	if (err || (target && target[0] == '/'))
		return err ? err : write_file(s, text);
	err = step_bound(s, NULL, &fd);
	if (err || step_is_checked(s))
		return err;
	step_say(s, "write(%d, \"%s\")", (int)fd, text);
	step_answer(s, write((int)fd, text, strlen(text)));
	return 0;
}

/* The mapping of an event that the step names, or an error that says so. */
static int mapped(struct step *s, struct opened **event, struct map **map)
{
	uint64_t fd;
	int err = step_bound(s, NULL, &fd);

	if (err || step_is_checked(s))
		return err;
	*event = step_event(s, (int)fd);
	*map = step_map(s, (int)fd);
	return *event && *map
		       ? 0
		       : error_value(s->error, &s->at, s->argument, "an event that is mapped");
}

int verb_page(struct step *s)
{
	struct opened *event = NULL;
	struct map *map = NULL;
	json_t *all;
	int err = mapped(s, &event, &map);

	if (err || step_is_checked(s))
		return err;
	const struct opened *list[] = {event};

	all = decode_ring(s, list, 1, map);
	s->seen = json_incref(json_object_get(all, "page"));
	json_decref(all);
	return all ? 0 : -ECANCELED;
}

#if defined(__x86_64__) || defined(__i386__)
static bool read_counter(uint32_t index, uint64_t *value)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	*value = (uint64_t)high << 32 | low;
	return true;
}
#elif defined(__aarch64__)
static bool read_counter(uint32_t index, uint64_t *value)
{
	if (index != 31)
		return false; /* only the cycle counter has a register of a name of its own */
	__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(*value));
	return true;
}
#else
static bool read_counter(uint32_t index, uint64_t *value)
{
	(void)index;
	(void)value;
	return false;
}
#endif

/* One pass of the loop that the man page has around `lock`; true once it was not disturbed. */
static bool read_once(const struct map *map, const int offsets[3], bool may, unsigned width,
		      uint64_t *count, uint32_t *index, bool *read)
{
	uint32_t lock =
		__atomic_load_n((uint32_t *)(void *)(map->at + offsets[0]), __ATOMIC_ACQUIRE);
	uint64_t raw = 0;

	memcpy(index, map->at + offsets[1], sizeof(*index));
	memcpy(count, map->at + offsets[2], sizeof(*count));
	*read = may && *index && read_counter(*index - 1, &raw);
	if (*read) {
		raw <<= 64 - width;
		*count += (uint64_t)((int64_t)raw >> (64 - width));
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return *(volatile uint32_t *)(void *)(map->at + offsets[0]) == lock;
}

/* perf_event_open(2), MMAP layout. */
int verb_rdpmc(struct step *s)
{
	static const char *const names[] = {"lock", "index", "offset"};
	struct opened *event = NULL;
	struct map *map = NULL;
	json_t *all, *page;
	uint64_t count = 0;
	uint32_t index = 0;
	unsigned width;
	int err = mapped(s, &event, &map), offsets[3];
	bool may, read = false;

	if (err || step_is_checked(s))
		return err;
	const struct opened *list[] = {event};

	all = decode_ring(s, list, 1, map);
	page = json_object_get(all, "page");
	may = json_integer_value(json_object_get(json_object_get(page, "capabilities"),
						 "cap_user_rdpmc")) == 1;
	width = (unsigned)json_integer_value(json_object_get(page, "pmc_width"));
	json_decref(all);
	for (size_t i = 0; i < 3; i++)
		offsets[i] = mmap_page_offset(s->cases->abi, names[i]);
	if (!all || offsets[0] < 0 || offsets[1] < 0 || offsets[2] < 0)
		return -ECANCELED;
	while (!read_once(map, offsets, may && width && width <= 64, width, &count, &index, &read))
		;
	step_show_number(s, "index", index);
	if (read)
		step_show_number(s, "value", count);
	return 0;
}
