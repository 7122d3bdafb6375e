/* SPDX-License-Identifier: MIT */
/*
 * Damaged recordings: every prefix of a fixture, every single bit of a small one turned over.
 * Nothing may crash, read over, or go on for ever (the sanitizers and the time limit watch), and of
 * a prefix every whole record comes out.
 */
#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "include/perfabi.h"
#include "unit.h"

enum { SMALL = 1300, PREFIXES = 1000, RECORDS = 8192, FILE_MAX = 1 << 20 };

struct subject {
	struct perfabi *perfabi;
	struct perfabi_options options;
	unsigned char *bytes;
	size_t size;
	int fd;
	char *attr;
	size_t ends[RECORDS]; /* of the records that come out of the whole */
	size_t end_count;
};

static char *read_file(const char *path, size_t *size)
{
	bool packed = strstr(path, ".gz") != NULL;
	char command[512], *bytes = malloc(FILE_MAX);
	FILE *f;

	snprintf(command, sizeof(command), "gzip -dc %s", path);
	f = packed ? popen(command, "re") : fopen(path, "re");
	ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
	ck_assert_ptr_nonnull(bytes);
	*size = fread(bytes, 1, FILE_MAX - 1, f);
	bytes[*size] = '\0';
	ck_assert_int_eq(packed ? pclose(f) : fclose(f), 0);
	return bytes;
}

struct text {
	char bytes[4 * FILE_MAX];
	size_t size;
};

static int gather(void *context, const char *bytes, size_t size)
{
	struct text *text = context;

	ck_assert_uint_le(text->size + size, sizeof(text->bytes) - 1);
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	return 0;
}

static int discard(void *context, const char *bytes, size_t size)
{
	unsigned *sum = context;

	for (size_t i = 0; i < size; i++)
		*sum += (unsigned char)bytes[i];
	return 0;
}

static void note_ends(struct subject *s, const struct text *text)
{
	for (const char *line = text->bytes, *end; (end = strchr(line, '\n')); line = end + 1) {
		json_t *json =
			json_loadb(line, (size_t)(end - line), JSON_DECODE_INT_AS_REAL, NULL);
		const json_t *offset = json_object_get(json, "offset");
		const json_t *size = json_object_get(json, "size");

		if (offset && size && !json_object_get(json, "within")) {
			ck_assert_uint_lt(s->end_count, RECORDS);
			s->ends[s->end_count++] =
				(size_t)(json_real_value(offset) + json_real_value(size));
		}
		json_decref(json);
	}
}

static struct subject *open_subject(const char *path)
{
	struct subject *s = calloc(1, sizeof(*s));
	struct text *text = calloc(1, sizeof(*text));
	struct perfabi_result result;
	char attr[4096];
	size_t n = strlen(path), size;

	ck_assert_ptr_nonnull(s);
	ck_assert_ptr_nonnull(text);
	s->perfabi = perfabi_new(NULL, NULL, 0);
	ck_assert_ptr_nonnull(s->perfabi);
	s->bytes = (unsigned char *)read_file(path, &s->size);
	s->fd = memfd_create("recording", MFD_CLOEXEC);
	ck_assert_int_ge(s->fd, 0);
	if (!strcmp(path + n - 5, ".ring")) {
		snprintf(attr, sizeof(attr), "%.*s.attr.json", (int)(n - 5), path);
		s->attr = read_file(attr, &size);
		s->options.attr = s->attr;
		s->options.format = PERFABI_RING;
	}
	ck_assert_int_eq(pwrite(s->fd, s->bytes, s->size, 0), (ssize_t)s->size);
	ck_assert_int_eq(perfabi_decode(s->perfabi, s->fd, &s->options, gather, text, &result), 0);
	note_ends(s, text);
	free(text);
	return s;
}

static void close_subject(struct subject *s)
{
	perfabi_free(s->perfabi);
	close(s->fd);
	free(s->bytes);
	free(s->attr);
	free(s);
}

static int decode(struct subject *s, struct perfabi_result *result)
{
	unsigned sum = 0;

	ck_assert_int_eq(lseek(s->fd, 0, SEEK_SET), 0);
	return perfabi_decode(s->perfabi, s->fd, &s->options, discard, &sum, result);
}

static const char *subject_path(int i)
{
	static glob_t found;

	if (!found.gl_pathc) {
		glob("fixtures/built/*.data", 0, NULL, &found);
		glob("fixtures/built/*.ring", GLOB_APPEND, NULL, &found);
		glob("fixtures/recorded/*.data.gz", GLOB_APPEND, NULL, &found);
	}
	return (size_t)i < found.gl_pathc ? found.gl_pathv[i] : NULL;
}

/* With TEST_WHOLE each place; else an odd number apart, so that every alignment comes. */
static size_t stride(void)
{
	const char *whole = getenv("TEST_WHOLE");

	return whole && *whole ? 1 : 5;
}

START_TEST(every_prefix)
{
	const char *path = subject_path(_i);
	struct subject *s = path ? open_subject(path) : NULL;
	bool is_ring = s && s->options.attr;
	size_t step = stride();

	ck_assert_msg(path != NULL, "fixture %d", _i);
	if (strstr(path, "recorded") && s->size > PREFIXES)
		step *= s->size / PREFIXES | 1; /* odd, so that it comes by every alignment */
	/* From the end: the file only ever gets shorter. */
	for (size_t n = s->size - 1; n >= step; n -= step) {
		struct perfabi_result result;
		size_t whole = 0;
		int err;

		if (is_ring && n % 8 && n > 4200) /* the same pages again and again */
			continue;
		ck_assert_int_eq(ftruncate(s->fd, (off_t)n), 0);
		err = decode(s, &result);
		while (whole < s->end_count && s->ends[whole] <= n)
			whole++;
		ck_assert_msg(err == 0 || err == -EINVAL, "%s cut at %zu: %s", path, n,
			      strerror(-err));
		ck_assert_msg(is_ring || result.records >= whole,
			      "%s cut at %zu: %llu of %zu records", path, n,
			      (unsigned long long)result.records, whole);
	}
	close_subject(s);
}
END_TEST

START_TEST(every_bit)
{
	const char *path = subject_path(_i);
	struct subject *s = path ? open_subject(path) : NULL;

	ck_assert_msg(path != NULL, "fixture %d", _i);
	for (size_t i = 0; i < s->size && s->size <= SMALL; i += stride())
		for (unsigned bit = 0; bit < 8; bit++) {
			unsigned char changed = (unsigned char)(s->bytes[i] ^ 1u << bit);
			struct perfabi_result result;
			int err;

			ck_assert_int_eq(pwrite(s->fd, &changed, 1, (off_t)i), 1);
			err = decode(s, &result);
			ck_assert_int_eq(pwrite(s->fd, &s->bytes[i], 1, (off_t)i), 1);
			ck_assert_msg(err == 0 || err == -EINVAL, "%s with bit %u of byte %zu: %s",
				      path, bit, i, strerror(-err));
		}
	close_subject(s);
}
END_TEST

static void add_result(struct perfabi_result *to, const struct perfabi_result *from)
{
	to->records += from->records;
	to->lost += from->lost;
	to->errors += from->errors;
	to->warnings += from->warnings;
	to->notes += from->notes;
}

/* What is counted of the shards is what is counted of the whole. */
START_TEST(every_shard)
{
	const char *path = subject_path(_i);
	struct subject *s = path ? open_subject(path) : NULL;
	struct perfabi_result whole;

	ck_assert_msg(path != NULL, "fixture %d", _i);
	ck_assert_int_eq(decode(s, &whole), 0);
	for (unsigned shards = 1; shards <= 7 && !s->options.attr; shards += 3) {
		struct perfabi_result sum = {0}, part;

		s->options.shards = shards;
		for (unsigned i = 1; i <= shards; i++) {
			s->options.shard = i;
			ck_assert_int_eq(decode(s, &part), 0);
			add_result(&sum, &part);
		}
		ck_assert_msg(sum.records == whole.records, "%s in %u: %llu records of %llu", path,
			      shards, (unsigned long long)sum.records,
			      (unsigned long long)whole.records);
		ck_assert_msg(sum.lost == whole.lost, "%s in %u: %llu lost of %llu", path, shards,
			      (unsigned long long)sum.lost, (unsigned long long)whole.lost);
		ck_assert_msg(sum.errors == whole.errors && sum.warnings == whole.warnings &&
				      sum.notes == whole.notes,
			      "%s in %u: other diagnostics", path, shards);
	}
	close_subject(s);
}
END_TEST

Suite *suite_damage(void)
{
	Suite *s = suite_create("damage");
	TCase *c = tcase_create("recordings");
	int count = 0;

	while (subject_path(count))
		count++;
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, every_prefix, 0, count ? count : 1);
	tcase_add_loop_test(c, every_bit, 0, count ? count : 1);
	tcase_add_loop_test(c, every_shard, 0, count ? count : 1);
	suite_add_tcase(s, c);
	return s;
}
