/* SPDX-License-Identifier: MIT */
/*
 * The fast writer against printf and jansson; plans of layouts that are none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/events.h"
#include "text/json.h"
#include "text/say.h"
#include "unit.h"

static void check_number(uint64_t v)
{
	char got[64 + PUT_SLACK], wanted[64];

	*put_u64(got, v) = '\0';
	snprintf(wanted, sizeof(wanted), "%" PRIu64, v);
	ck_assert_str_eq(got, wanted);
	*put_s64(got, (int64_t)v) = '\0';
	snprintf(wanted, sizeof(wanted), "%" PRId64, (int64_t)v);
	ck_assert_str_eq(got, wanted);
	*put_hex(got, v) = '\0';
	snprintf(wanted, sizeof(wanted), "%" PRIx64, v);
	ck_assert_str_eq(got, wanted);
}

START_TEST(numbers_are_what_printf_writes)
{
	uint64_t power = 1, state = 1;

	for (int i = 0; i < 20; i++, power *= 10)
		for (uint64_t d = 0; d < 3; d++) {
			check_number(power - 1 + d);
			check_number(9 * power + d);
		}
	for (int bit = 0; bit < 64; bit++)
		for (uint64_t d = 0; d < 3; d++)
			check_number((UINT64_C(1) << bit) - 1 + d);
	for (int i = 0; i < 100000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		check_number(state >> (i % 64));
	}
	check_number(0);
	check_number(UINT64_MAX);
}
END_TEST

START_TEST(four_digits_have_their_zeros)
{
	char got[64 + PUT_SLACK], wanted[64];

	for (uint32_t v = 0; v < 10000; v++) {
		*put_all4(got, v) = '\0';
		snprintf(wanted, sizeof(wanted), "%04" PRIu32, v);
		ck_assert_str_eq(got, wanted);
	}
}
END_TEST

/* Numbers that share their place in the list, keys of several lengths, and texts that are too long
 * for it: each time what is asked for. */
START_TEST(numbers_that_come_again_are_the_same)
{
	static const char keys[][PUT_KEY + 8] = {"", "\"pid\":", "\"a_key_of_thirty_characters\":",
						 "\"a_key_of_more_than_thirty_two\":"};
	static struct again list[AGAIN];
	char got[128 + PUT_SLACK], wanted[128];

	for (int i = 0; i < 4000; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			uint64_t v = (uint64_t)(i / 2 % 7) << 8 << i % 50;

			*put_again(got, list, keys[k], keys[k], strlen(keys[k]), v) = '\0';
			snprintf(wanted, sizeof(wanted), "%s%" PRIu64, keys[k], v);
			ck_assert_str_eq(got, wanted);
		}
}
END_TEST

START_TEST(bytes_are_two_digits_each)
{
	unsigned char bytes[70];
	char got[256 + PUT_SLACK], wanted[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37 + 11);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		*put_bytes(got, bytes, n) = '\0';
		wanted[0] = '\0';
		for (size_t i = 0; i < n; i++)
			snprintf(wanted + 2 * i, 3, "%02x", bytes[i]);
		ck_assert_str_eq(got, wanted);
	}
}
END_TEST

static void check_string(const char *bytes, size_t n, const char *wanted)
{
	char got[256 + PUT_SLACK];

	*put_string(got, (const unsigned char *)bytes, n) = '\0';
	ck_assert_str_eq(got, wanted);
}

START_TEST(strings_come_back)
{
	char all[128 * PUT_STRING_MAX + PUT_STRING_FIXED + PUT_SLACK];
	unsigned char ascii[127];
	json_t *json;

	check_string("plain", 5, "\"plain\"");
	check_string("q\" b\\ \n\t\x01\x0b", 10, "\"q\\\" b\\\\ \\n\\t\\u0001\\u000b\"");
	check_string("caf\xc3\xa9 \xf0\x9f\x90\xa7", 10, "\"caf\xc3\xa9 \xf0\x9f\x90\xa7\"");
	/* no UTF-8: alone, cut, overlong, a surrogate, past U+10FFFF */
	check_string("a\xff", 2, "{\"text\":\"a\xef\xbf\xbd\",\"bytes\":\"61ff\"}");
	check_string("\xc3", 1, "{\"text\":\"\xef\xbf\xbd\",\"bytes\":\"c3\"}");
	check_string("\xc0\x80", 2, "{\"text\":\"\xef\xbf\xbd\xef\xbf\xbd\",\"bytes\":\"c080\"}");
	check_string("\xed\xa0\x80", 3,
		     "{\"text\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\"bytes\":\"eda080\"}");
	check_string("\xf4\x90\x80\x80", 4,
		     "{\"text\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\"bytes\":"
		     "\"f4908080\"}");
	for (unsigned i = 0; i < sizeof(ascii); i++)
		ascii[i] = (unsigned char)(i + 1);
	*put_string(all, ascii, sizeof(ascii)) = '\0';
	json = json_loads(all, JSON_DECODE_ANY, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_mem_eq(json_string_value(json), ascii, sizeof(ascii));
	json_decref(json);
}
END_TEST

START_TEST(doubles_read_back)
{
	static const double numbers[] = {0, 1e-6, 0.1, 1.0 / 3, 1e300, -2.5, 6.103515625e-05};
	char text[64];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		*put_double(text, numbers[i]) = '\0';
		ck_assert_double_eq(strtod(text, NULL), numbers[i]);
	}
	*put_double(text, 1e-6) = '\0';
	ck_assert_str_eq(text, "1e-06");
	*put_double(text, 1 / 0.0) = '\0';
	ck_assert_str_eq(text, "\"inf\"");
}
END_TEST

/* One layout each that is none, and what is said of it. */
static const struct {
	const char *fields, *expected, *nearest;
} broken[] = {
	{"[{'name': 'a', 'type': 'u33'}]", "a type", "u32"},
	{"[{'name': 'a', 'type': 'u32', 'sett': 'record'}]", "a key of such a field", "set"},
	{"[{'name': 'a', 'type': 'u32', 'set': 'recor'}]", "a family of constants", "record"},
	{"[{'name': 'n', 'type': 'u64'}, {'name': 'a', 'count': 'm', 'each': {'type': 'u64'}}]",
	 "the name of a field before this one", NULL},
	{"[{'use': 'sample_ids'}]", "a name in layouts", "sample_id"},
	{"[{'when': {'misc': 'exact_ap'}, 'then': []}]", "a bit of misc", "exact_ip"},
	{"[{'when': {'sample_type': 'ipp'}, 'then': []}]", NULL, NULL},
	{"[{'name': 'size', 'type': 'u32'}]", "a name that a record's line does not have", NULL},
	{"[{'pad': -1}]", "a number from 0 to 65535", NULL},
	{"[{'name': 'a', 'count': 'u64', 'fields': []}]", "elements of one byte at least", NULL},
	{"[{}]", "a field: type, pad, align, count, fields, regs, use or when", NULL},
	{"[7]", "a field", NULL},
	{"[{'type': 'u32'}]", "a field with a name", NULL},
	{"[{'name': 'a', 'count': 1, 'each': {'name': 'b', 'type': 'string'}}]",
	 "an element: one value without a name", NULL},
	{"[{'when': {'misc': 'exact_ip'}, 'then': [{'name': 'n', 'type': 'u32'}]},"
	 "{'name': 'a', 'type': 'bytes', 'size': 'n'}]",
	 "the name of a field before this one", NULL},
	{"[{'name': 'a', 'count': '$nr_cpus_avalable', 'each': {'type': 'u8'}}]",
	 "a field with `keep` that came before, after the $", "nr_cpus_available"},
	{"[{'name': 'a', 'type': 'u32', 'counts': 'losses'}]", "lost or lost_samples", NULL},
	{"[{'name': 'a', 'type': 'u32', 'bitfield': 'data_src'}]",
	 "bits that are among the 32 of the word", NULL},
	{"[{'name': 'a', 'type': 'u32', 'bitfield': 'sample_type'}]", "a family of kind layout",
	 NULL},
	{"[{'use': 'sample'}, {'use': 'read_format'}, {'use': 'mmap_page'}]",
	 "a name that a record's line does not have", NULL},
};

static const struct harmless_row {
	const char *text, *shown; /* in 16 bytes */
} harmless_rows[] = {
	{"perf", "perf"},
	{"", ""},
	{"a\x1b[2J", "a\\x1b[2J"},
	{"\xff\n\t", "\\xff\\x0a\\x09"},
	{"\xc3\xa9\xc3", "\xc3\xa9\\xc3"},
	{"\xc2\x9b", "\\xc2\\x9b"},
	{"0123456789abcdef", "0123456789abcde"},
	{"0123456789ab\x07", "0123456789ab"},
	{"0123456789abcd\xc3\xa9", "0123456789abcd"},
};

START_TEST(names_from_outside_are_made_harmless)
{
	const struct harmless_row *row = &harmless_rows[_i];
	char shown[16];

	ck_assert_str_eq(say_harmless(row->text, shown, sizeof(shown)), row->shown);
}
END_TEST

/* The tables that are built in, and a file more. */
static struct abi *abi_with(const struct source *more, struct error *e)
{
	struct sources all = abi_builtin();
	struct source *list = calloc(all.count + 1, sizeof(*list));
	struct sources sources = {.list = list, .count = all.count + 1};
	struct abi *abi;

	ck_assert_ptr_nonnull(list);
	memcpy(list, all.list, all.count * sizeof(*list));
	list[all.count] = *more;
	abi = abi_load(&sources, e);
	free(list);
	return abi;
}

START_TEST(broken_layouts_are_refused)
{
	json_t *json =
		json_pack("{s:{s:{s:s,s:s,s:[{s:s,s:i,s:s,s:o}]}}}", "constants", "record",
			  "prefix", "PERF_RECORD_", "kind", "enum", "values", "name", "made_up",
			  "value", 60, "since", "9.0", "fields", test_json(broken[_i].fields));
	char *text = json_dumps(json, 0);
	struct source source = {
		.name = "abi/t.json", .root = "cases", .text = text, .length = strlen(text)};
	struct error e = {0};

	ck_assert_ptr_null(abi_with(&source, &e));
	if (broken[_i].expected)
		ck_assert_str_eq(e.expected, broken[_i].expected);
	if (broken[_i].nearest)
		ck_assert_str_eq(e.nearest, broken[_i].nearest);
	ck_assert_msg(!strncmp(e.pointer, "/constants/record/values/0/fields", 33), "%s",
		      e.pointer);
	ck_assert_str_eq(e.file, "cases/abi/t.json");
	free(text);
	json_decref(json);
}
END_TEST

static void assert_printed(const char *text, const char *wanted)
{
	char *got = NULL;
	size_t size;
	FILE *f = open_memstream(&got, &size);

	ck_assert_ptr_nonnull(f);
	one_line_print(f, text, "#\n");
	fclose(f);
	ck_assert_str_eq(got, wanted);
	free(got);
}

START_TEST(a_line_of_text_is_one)
{
	static const char *const good[] = {"a", "a line", "\xc2\xa0", "\xc3\xa9t\xc3\xa9", "#"};
	static const char *const bad[] = {"",      "  ",   "a\nb",      "a\tb",
					  "a\x1b", "\x7f", "a\xc2\x80", "\xc2\x9f"};
	char text[9001];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(one_line(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!one_line(bad[i]), "%zu", i);
	assert_printed("a\nok 99 # SKIP", "a ok 99   SKIP");
	assert_printed("a\x1b[2J\xc2\x9b", "a\\x1b[2J\\xc2\\x9b");
	for (size_t i = 0; i < 3000; i++)
		memcpy(text + 3 * i, "\xe2\x82\xac", 3);
	text[9000] = '\0';
	assert_printed(text, text);
}
END_TEST

Suite *suite_json(void)
{
	Suite *s = suite_create("json");
	TCase *c = tcase_create("writer and plans");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, numbers_are_what_printf_writes);
	tcase_add_test(c, four_digits_have_their_zeros);
	tcase_add_test(c, numbers_that_come_again_are_the_same);
	tcase_add_test(c, bytes_are_two_digits_each);
	tcase_add_test(c, strings_come_back);
	tcase_add_test(c, doubles_read_back);
	tcase_add_test(c, a_line_of_text_is_one);
	tcase_add_loop_test(c, broken_layouts_are_refused, 0, sizeof(broken) / sizeof(broken[0]));
	tcase_add_loop_test(c, names_from_outside_are_made_harmless, 0,
			    sizeof(harmless_rows) / sizeof(harmless_rows[0]));
	suite_add_tcase(s, c);
	return s;
}
