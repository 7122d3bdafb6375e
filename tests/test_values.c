/* SPDX-License-Identifier: MIT */
/*
 * The decoder as a function: what it gives are the lines of perfabi-decode, and the first finding.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step/values.h"
#include "text/source.h"
#include "unit.h"

/* One event, whose attr is JSON with ' for ". */
struct subject {
	struct abi *abi;
	struct attr_list attrs;
	struct values_by by;
	struct values values;
	struct error e;
};

static void begin(struct subject *s, const char *attr, bool strict)
{
	json_t *json = test_json(attr);
	char *text = json_dumps(json, JSON_COMPACT);

	*s = (struct subject){.abi = test_abi()};
	ck_assert_int_eq(attr_list_read(&s->attrs, s->abi, NULL, text, "attr", NULL, &s->e), 0);
	s->by = (struct values_by){s->abi, abi_arch(s->abi, "x86_64"), &s->attrs, strict};
	free(text);
	json_decref(json);
}

static void end(struct subject *s)
{
	values_free(&s->values);
	attr_list_free(&s->attrs);
	abi_free(s->abi);
}

static json_t *member(const struct subject *s, size_t record, const char *name)
{
	return json_object_get(json_array_get(s->values.records, record), name);
}

static const char *code(const struct subject *s)
{
	return json_string_value(json_object_get(s->values.finding, "code"));
}

/* Words of 64 bits behind the header of a SAMPLE. */
static size_t sample(unsigned char *bytes, const uint64_t *words, size_t count)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
	} header = {9, 0, (uint16_t)(8 + 8 * count)};

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), words, 8 * count);
	return header.size;
}

static const char cpu_and_period[] = "{'attr': {'sample_type': ['cpu', 'period']}, 'ids': [7]}";

START_TEST(numbers_that_no_integer_holds_are_text)
{
	const uint64_t words[] = {3, UINT64_MAX};
	unsigned char bytes[64];
	size_t size = sample(bytes, words, 2);
	struct subject s;

	begin(&s, cpu_and_period, true);
	ck_assert_int_eq(values_of(&s.values, &s.by, PERFABI_RECORDS, bytes, size, &s.e), 0);
	ck_assert_ptr_null(s.values.finding);
	ck_assert_uint_eq(json_array_size(s.values.records), 1);
	ck_assert_str_eq(json_string_value(member(&s, 0, "type")), "SAMPLE");
	ck_assert_int_eq(json_integer_value(member(&s, 0, "cpu")), 3);
	ck_assert_str_eq(json_string_value(member(&s, 0, "period")), "0xffffffffffffffff");
	end(&s);
}
END_TEST

START_TEST(a_number_up_to_int64_max_is_one)
{
	const uint64_t words[] = {0, INT64_MAX};
	unsigned char bytes[64];
	size_t size = sample(bytes, words, 2);
	struct subject s;

	begin(&s, cpu_and_period, true);
	ck_assert_int_eq(values_of(&s.values, &s.by, PERFABI_RECORDS, bytes, size, &s.e), 0);
	ck_assert_int_eq(json_integer_value(member(&s, 0, "period")), INT64_MAX);
	end(&s);
}
END_TEST

/* What lines keep of numbers is never another's: pids and tids alone and together, in all orders.
 */
START_TEST(numbers_that_come_again_are_their_own)
{
	static const int32_t numbers[] = {0, 5, 256, 1 << 30, 99999999, 100000000, INT32_MAX, -1};
	enum { N = sizeof(numbers) / sizeof(numbers[0]) };
	unsigned char bytes[2 * N * N * 24];
	struct subject s;
	size_t size = 0;

	for (size_t i = 0; i < 2 * N * N; i++) {
		uint64_t pid = (uint32_t)numbers[i % N], tid = (uint32_t)numbers[i / 2 / N];

		if (host_order() == BIG)
			size += sample(bytes + size, (uint64_t[]){pid << 32 | tid, pid << 32}, 2);
		else
			size += sample(bytes + size, (uint64_t[]){tid << 32 | pid, pid}, 2);
	}
	begin(&s, "{'attr': {'sample_type': ['tid', 'cpu']}, 'ids': [7]}", false);
	ck_assert_int_eq(values_of(&s.values, &s.by, PERFABI_RECORDS, bytes, size, &s.e), 0);
	for (size_t i = 0; i < 2 * N * N; i++) {
		int32_t pid = numbers[i % N], tid = numbers[i / 2 / N];

		ck_assert_int_eq(json_integer_value(member(&s, i, "pid")), pid);
		ck_assert_int_eq(json_integer_value(member(&s, i, "tid")), tid);
		ck_assert_int_eq(json_integer_value(member(&s, i, "cpu")), (uint32_t)pid);
	}
	end(&s);
}
END_TEST

START_TEST(only_a_strict_look_finds_what_is_reserved)
{
	const uint64_t words[] = {UINT64_C(1) << 32, 1}; /* behind the cpu */
	unsigned char bytes[64];
	size_t size = sample(bytes, words, 2);

	for (int strict = 0; strict < 2; strict++) {
		struct subject s;

		begin(&s, cpu_and_period, strict);
		ck_assert_int_eq(values_of(&s.values, &s.by, PERFABI_RECORDS, bytes, size, &s.e),
				 0);
		ck_assert_uint_eq(json_array_size(s.values.records), 1);
		if (strict)
			ck_assert_str_eq(code(&s), "reserved");
		else
			ck_assert_ptr_null(s.values.finding);
		end(&s);
	}
}
END_TEST

START_TEST(the_first_finding_is_given)
{
	const uint64_t words[] = {0, 1, 2};
	unsigned char bytes[128];
	size_t size = sample(bytes, words, 2);
	struct subject s;

	size += sample(bytes + size, words, 3); /* a word too many */
	begin(&s, cpu_and_period, false);
	ck_assert_int_eq(values_of(&s.values, &s.by, PERFABI_RECORDS, bytes, size - 8, &s.e), 0);
	ck_assert_str_eq(code(&s), "truncated");
	ck_assert_uint_eq(json_array_size(s.values.records), 1);
	values_free(&s.values);
	ck_assert_int_eq(values_of(&s.values, &s.by, PERFABI_RECORDS, bytes, size, &s.e), 0);
	ck_assert_str_eq(code(&s), "bytes-left");
	ck_assert_str_eq(json_string_value(member(&s, 1, "rest")), "0200000000000000");
	end(&s);
}
END_TEST

START_TEST(no_bytes_are_no_records)
{
	struct subject s;

	begin(&s, cpu_and_period, true);
	ck_assert_int_eq(values_of(&s.values, &s.by, PERFABI_RECORDS, NULL, 0, &s.e), 0);
	ck_assert_uint_eq(json_array_size(s.values.records), 0);
	ck_assert_ptr_null(s.values.finding);
	end(&s);
}
END_TEST

static const char group[] = "{'read_format': ['group', 'id', 'total_time_enabled']}";

START_TEST(what_read_gives_is_accounted_for_to_the_last_byte)
{
	const uint64_t words[] = {2, 10, UINT64_MAX, 5, 4, 6, 0};
	struct subject s;
	json_t *is, *want = test_json("{'nr': 2, 'time_enabled': 10, 'values': ["
				      "{'value': '0xffffffffffffffff', 'id': 5},"
				      "{'value': 4, 'id': 6}]}");

	begin(&s, group, true);
	is = values_of_read(&s.by, (const unsigned char *)words, 48, &s.e);
	ck_assert_ptr_nonnull(is);
	ck_assert(json_equal(is, want));
	json_decref(is);
	ck_assert_ptr_null(values_of_read(&s.by, (const unsigned char *)words, 56, &s.e));
	ck_assert(error_is_set(&s.e));
	s.e = (struct error){0};
	ck_assert_ptr_null(values_of_read(&s.by, (const unsigned char *)words, 40, &s.e));
	ck_assert(error_is_set(&s.e));
	json_decref(want);
	end(&s);
}
END_TEST

static char *read_file(const char *path, size_t *size)
{
	char *text = text_read(path, size, 1 << 20);

	ck_assert_msg(text != NULL, "%s", path);
	return text;
}

/* The records of the lines that go with a fixture, and its page. */
static void expected(const char *path, json_t *records, json_t **page)
{
	size_t size;
	char *text = read_file(path, &size);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		json_t *json = json_loads(line, 0, NULL);
		const char *type = json_string_value(json_object_get(json, "type"));

		if (!json)
			continue; /* the header of a ring whose data_head is over INT64_MAX */
		ck_assert_ptr_nonnull(type);
		if (!strcmp(type, "header"))
			*page = json_incref(json_object_get(json, "page"));
		else if (type[0] >= 'A' && type[0] <= 'Z')
			json_array_append(records, json);
		json_decref(json);
	}
	free(text);
}

START_TEST(a_ring_gives_what_its_lines_say)
{
	static const char *const rings[] = {"ring-wrapped", "ring-overwritten", "ring-backward"};
	const char *order = host_order() == BIG ? "be" : "le";
	char path[128], *image, *attr;
	json_t *records = json_array(), *page = NULL, *is;
	struct subject s = {.abi = test_abi()};
	size_t size, ignored;

	snprintf(path, sizeof(path), "fixtures/built/%s.%s.attr.json", rings[_i], order);
	attr = read_file(path, &ignored);
	ck_assert_int_eq(attr_list_read(&s.attrs, s.abi, NULL, attr, path, NULL, &s.e), 0);
	snprintf(path, sizeof(path), "fixtures/built/%s.%s.ring", rings[_i], order);
	image = read_file(path, &size);
	snprintf(path, sizeof(path), "fixtures/built/%s.%s.jsonl", rings[_i], order);
	expected(path, records, &page);
	s.by = (struct values_by){.abi = s.abi, .attrs = &s.attrs};
	ck_assert_int_eq(
		values_of(&s.values, &s.by, PERFABI_RING, (unsigned char *)image, size, &s.e), 0);
	ck_assert_ptr_null(s.values.finding); /* that older records are lost is none */
	ck_assert_uint_gt(json_array_size(records), 0);
	ck_assert(json_equal(s.values.records, records));
	is = values_of_page(&s.by, (unsigned char *)image, size, &s.e);
	if (page)
		ck_assert(json_equal(is, page));
	else
		ck_assert(json_is_string(json_object_get(is, "data_head")));
	json_decref(is);
	json_decref(page);
	json_decref(records);
	free(image);
	free(attr);
	end(&s);
}
END_TEST

Suite *suite_values(void)
{
	Suite *s = suite_create("values");
	TCase *c = tcase_create("values");

	tcase_add_test(c, numbers_that_no_integer_holds_are_text);
	tcase_add_test(c, a_number_up_to_int64_max_is_one);
	tcase_add_test(c, numbers_that_come_again_are_their_own);
	tcase_add_test(c, only_a_strict_look_finds_what_is_reserved);
	tcase_add_test(c, the_first_finding_is_given);
	tcase_add_test(c, no_bytes_are_no_records);
	tcase_add_test(c, what_read_gives_is_accounted_for_to_the_last_byte);
	tcase_add_loop_test(c, a_ring_gives_what_its_lines_say, 0, 3);
	suite_add_tcase(s, c);
	return s;
}
