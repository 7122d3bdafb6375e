/* SPDX-License-Identifier: MIT */
/*
 * Expressions, pointers and lines, merging, patterns.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "language/merge.h"
#include "abi/value.h"
#include "text/json_text.h"
#include "unit.h"

static int lookup(const void *context, const char *name, struct value *value, struct nearest *near)
{
	(void)context;
	*value = value_of_s64(4096);
	if (!strcmp(name, "paranoid"))
		*value = value_of_s64(-1);
	else if (!strcmp(name, "bound_later"))
		*value = (struct value){.known = false};
	else if (strcmp(name, "page_size")) {
		nearest_try(near, "page_size");
		return -ENOENT;
	}
	return 0;
}

static const struct vars vars = {.lookup = lookup};

static int eval(const char *text, struct value *out, struct error *e)
{
	struct where nowhere = {0};
	json_t *json = test_json(text);
	int err = value_eval(json, NULL, &vars, &nowhere, out, e);

	json_decref(json);
	return err;
}

START_TEST(expressions_are_c_expressions)
{
	static const struct {
		const char *text;
		uint64_t value;
	} rows[] = {
		{"7", 7},
		{"-1", UINT64_MAX},
		{"'0x10'", 16},
		{"'0xffffffffffffffff'", UINT64_MAX},
		{"'18446744073709551615'", UINT64_MAX},
		{"'1<<25'", 1 << 25},
		{"'1<<63'", UINT64_C(1) << 63},
		{"'1<<63|1'", (UINT64_C(1) << 63) + 1},
		{"'0xffffffff<<32'", UINT64_C(0xffffffff) << 32},
		{"'-1<<63'", UINT64_C(1) << 63},
		{"'0xfffffffffffffffe+1'", UINT64_MAX},
		{"'0x7fffffffffffffff*2+1'", UINT64_MAX},
		{"'-9223372036854775808'", UINT64_C(1) << 63},
		{"'-2*4611686018427387904'", UINT64_C(1) << 63},
		{"'0-9223372036854775808'", UINT64_C(1) << 63},
		{"'0xffffffffffffffff-0xffffffffffffffff'", 0},
		{"'-5+0xffffffffffffffff'", UINT64_MAX - 5},
		{"'--5'", 5},
		{"'-0'", 0},
		{"'$paranoid+1'", 0},
		{"'-$paranoid'", 1},
		{"'-1|1'", UINT64_MAX},
		{"'1<<2+3'", 32},
		{"'3*65536>>12'", 48},
		{"'0xffffffffffffffff>>63'", 1},
		{"'1<<8>>4|1'", 17},
		{"'2+3*4'", 14},
		{"'1|2|4'", 7},
		{"'$page_size-1'", 4095},
		{"'$page_size*2 + 1'", 8193},
		{"'-5'", (uint64_t)-5},
		{"[1,'1<<4',8]", 25},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = {0};
		struct value value;

		ck_assert_msg(!eval(rows[i].text, &value, &e), "%s: %s", rows[i].text, e.expected);
		ck_assert_msg(value.bits == rows[i].value, "%s", rows[i].text);
	}
}
END_TEST

START_TEST(broken_expressions_are_refused)
{
	static const char *const rows[] = {"''",
					   "'1<<'",
					   "'<<1'",
					   "'1 2'",
					   "'0x'",
					   "'(1)'",
					   "'$'",
					   "'$nothing'",
					   "'1<2'",
					   "'many'",
					   "1.5",
					   "true",
					   "{}",
					   "null",
					   "'0x10000000000000000'",
					   "'99999999999999999999'",
					   "[[1]]",
					   "[]"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = {0};
		struct value value;

		ck_assert_msg(eval(rows[i], &value, &e) < 0, "%s", rows[i]);
		ck_assert(error_is_set(&e));
	}
}
END_TEST

START_TEST(what_is_beyond_64_bits_is_refused)
{
	static const char *const rows[] = {"'1<<64'",
					   "'2<<63'",
					   "'1<<-1'",
					   "'-1>>1'",
					   "'1>>64'",
					   "'0<<64'",
					   "'-3<<63'",
					   "'0xffffffffffffffff+1'",
					   "'2*0xffffffffffffffff'",
					   "'-18446744073709551615'",
					   "'-9223372036854775809'",
					   "'-9223372036854775808-1'",
					   "'-2*4611686018427387905'",
					   "'0-9223372036854775809'",
					   "'0xffffffffffffffff+1-1'",
					   "[1, '1<<64']"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = {0};
		struct value value;

		ck_assert_msg(eval(rows[i], &value, &e) == -ERANGE, "%s", rows[i]);
		ck_assert_msg(strstr(e.got, "does not fit 64 bits"), "%s: %s", rows[i], e.got);
	}
}
END_TEST

/* What is settled later is held against the range then. */
START_TEST(what_hangs_on_a_later_name_is_no_number_yet)
{
	static const char *const rows[] = {"'1<<$bound_later-40'",
					   "'0xffffffffffffffff+$bound_later'",
					   "'$bound_later-0xffffffffffffffff'"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = {0};
		struct value value;

		ck_assert_msg(!eval(rows[i], &value, &e), "%s: %s", rows[i], e.got);
		ck_assert(!value.known);
	}
}
END_TEST

START_TEST(below_zero_is_known)
{
	static const struct {
		const char *text;
		bool negative;
	} rows[] = {{"-1", true},
		    {"'-1'", true},
		    {"'1-2'", true},
		    {"'2-1'", false},
		    {"'-1*-1'", false},
		    {"'-1*0'", false},
		    {"'-1<<63'", true},
		    {"'1<<63'", false},
		    {"'$paranoid'", true},
		    {"[-1, 1]", true},
		    {"'1-$page_size'", true},
		    {"'-1+1'", false},
		    {"'1|-1'", true},
		    {"'0xffffffffffffffff'", false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = {0};
		struct value value;

		ck_assert_msg(!eval(rows[i].text, &value, &e), "%s: %s", rows[i].text, e.got);
		ck_assert_msg(value.negative == rows[i].negative, "%s", rows[i].text);
	}
}
END_TEST

START_TEST(an_unknown_variable_has_a_nearest)
{
	struct error e = {0};
	struct value value;

	ck_assert_int_lt(eval("'$page_sise'", &value, &e), 0);
	ck_assert_str_eq(e.nearest, "page_size");
}
END_TEST

Suite *suite_value(void)
{
	Suite *s = suite_create("value");
	TCase *c = tcase_create("value");

	tcase_add_test(c, expressions_are_c_expressions);
	tcase_add_test(c, broken_expressions_are_refused);
	tcase_add_test(c, what_is_beyond_64_bits_is_refused);
	tcase_add_test(c, what_hangs_on_a_later_name_is_no_number_yet);
	tcase_add_test(c, below_zero_is_known);
	tcase_add_test(c, an_unknown_variable_has_a_nearest);
	suite_add_tcase(s, c);
	return s;
}

START_TEST(lines_of_pointers)
{
	static const char text[] = "{\n \"a\": [1, {\"b/c\":\n 2},\n \"]}\\\"\", 3],\n"
				   " \"d\": {\"e\": null,\n\"f\": [\n[]]}\n}\n";
	static const struct {
		const char *pointer;
		int line;
	} rows[] = {{"", 1},           {"/a", 2},   {"/a/1", 2},    {"/a/1/b~1c", 3}, {"/a/2", 4},
		    {"/a/3", 4},       {"/d", 5},   {"/d/e", 5},    {"/d/f", 6},      {"/d/f/0", 7},
		    {"/d/missing", 5}, {"/a/9", 2}, {"/nothing", 1}};
	struct source source = {.name = "t", .root = "", .text = text, .length = sizeof(text) - 1};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(where_line(&source, rows[i].pointer) == rows[i].line, "%s: %d",
			      rows[i].pointer, where_line(&source, rows[i].pointer));
}
END_TEST

START_TEST(pointers_are_escaped)
{
	struct source source = {.name = "t", .root = "r", .text = "{}", .length = 2};
	struct where root = where_root(&source), a = where_key(&root, "a/b~c");
	struct where b = where_index(&a, 12);
	struct error e = {0};

	error_value(&e, &b, NULL, "something");
	ck_assert_str_eq(e.pointer, "/a~1b~0c/12");
	ck_assert_str_eq(e.file, "r/t");
	ck_assert_str_eq(e.got, "nothing");
	error_value(&e, &root, NULL, "something else");
	ck_assert_str_eq(e.expected, "something"); /* the first error wins */
}
END_TEST

Suite *suite_source(void)
{
	Suite *s = suite_create("source");
	TCase *c = tcase_create("source");

	tcase_add_test(c, lines_of_pointers);
	tcase_add_test(c, pointers_are_escaped);
	suite_add_tcase(s, c);
	return s;
}

static void assert_json(json_t *got, const char *wanted_text)
{
	json_t *wanted = test_json(wanted_text);

	ck_assert_msg(json_equal(got, wanted), "got %s", json_dumps(got, JSON_ENCODE_ANY));
	json_decref(wanted);
	json_decref(got);
}

START_TEST(patches_merge)
{
	static const char *const rows[][3] = {
		{"{'a':1,'b':{'c':2}}", "{'b':{'d':3}}", "{'a':1,'b':{'c':2,'d':3}}"},
		{"{'a':1,'b':2}", "{'b':null}", "{'a':1}"},
		{"{'a':[1,2]}", "{'a':[3]}", "{'a':[3]}"},
		{"{'type':'software','config':'dummy','size':1}", "{'type':'raw'}",
		 "{'type':'raw','size':1}"},
		{"{'type':'software','config':'dummy'}", "{'type':'raw','config':5}",
		 "{'type':'raw','config':5}"},
		{"5", "{'a':1}", "{'a':1}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *base = test_json(rows[i][0]), *patch = test_json(rows[i][1]);

		assert_json(merge(base, patch), rows[i][2]);
		json_decref(base);
		json_decref(patch);
	}
}
END_TEST

START_TEST(long_texts_are_put_in_whole)
{
	static char text[5000];
	json_t *value, *json = test_json("{'a $x':['b $x c $x']}"), *got;
	const char *key;
	json_t *list;

	memset(text, 'x', sizeof(text) - 1);
	value = json_string(text);
	got = substitute(json, "x", value);
	ck_assert_uint_eq(json_object_size(got), 1);
	json_object_foreach(got, key, list) {
		ck_assert_uint_eq(strlen(key), 2 + sizeof(text) - 1);
		ck_assert_uint_eq(json_string_length(json_array_get(list, 0)),
				  5 + 2 * (sizeof(text) - 1));
	}
	json_decref(got);
	json_decref(json);
	json_decref(value);
}
END_TEST

START_TEST(without_memory_a_program_ends)
{
	int here, status = 0;
	pid_t pid = fork();

	if (!pid)
		or_exit(or_exit(&here) == &here ? NULL : &here);
	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), EXIT_NO_MEMORY);
}
END_TEST

START_TEST(parameters_are_put_in)
{
	static const char *const rows[][3] = {
		{"'$x'", "5", "5"},
		{"'$x-1'", "5", "'5-1'"},
		{"'$x.a'", "{'a':[1]}", "[1]"},
		{"'b.$x.a'", "{'a':'c'}", "'b.c'"},
		{"'$xy'", "5", "'$xy'"},
		{"{'k':['$x',1]}", "{'z':1}", "{'k':[{'z':1},1]}"},
		{"{'sample_$x':1}", "'regs'", "{'sample_regs':1}"},
		{"'$page_size'", "5", "'$page_size'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *json = test_json(rows[i][0]), *value = test_json(rows[i][1]);

		assert_json(substitute(json, "x", value), rows[i][2]);
		json_decref(json);
		json_decref(value);
	}
}
END_TEST

#define LONG_NAME "a-name-that-has-more-letters-than-the-sixty-that-were-once-enough-"

START_TEST(rows_come_from_lists_ranges_and_the_abi)
{
	struct abi *abi = test_abi();
	const struct {
		const char *rows;
		size_t count;
	} good[] = {{"{'a':1,'b':2}", 2},
		    {"[1,2,'three_four']", 3},
		    {"'1..63'", 63},
		    {"'5..5'", 1},
		    {"'$abi.read_format'", 5},
		    {"'$abi.attr.sizes'", abi->size_count},
		    {"'$abi.regs'", 40},
		    {"'0..4095'", 4096},
		    {"'9223372036854775807..9223372036854775807'", 1},
		    {"'-9223372036854775808..-9223372036854775807'", 2},
		    {"{'$pairs':{'a':1,'b':2,'c':4}}", 3},
		    {"{'$pairs':{'" LONG_NAME "a':1,'" LONG_NAME "b':2,'" LONG_NAME "c':4}}", 3}};
	static const char *const bad[] = {"{}",
					  "[]",
					  "5",
					  "'a..b'",
					  "'9..1'",
					  "'$abi.none'",
					  "[1,1]",
					  "'0..4096'",
					  "'-9223372036854775808..9223372036854775807'",
					  "'9223372036854775807..9223372036854775808'",
					  "'1..'",
					  "'1..2x'"};
	struct where nowhere = {0};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct error e = {0};
		json_t *json = test_json(good[i].rows);
		json_t *rows = each_rows(json, abi, abi_arch(abi, "x86_64"), &nowhere, &e);

		ck_assert_msg(rows && json_object_size(rows) == good[i].count, "%s: %zu",
			      good[i].rows, json_object_size(rows));
		json_decref(rows);
		json_decref(json);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error e = {0};
		json_t *json = test_json(bad[i]);

		ck_assert_ptr_null(each_rows(json, abi, NULL, &nowhere, &e));
		json_decref(json);
	}
	abi_free(abi);
}
END_TEST

Suite *suite_merge(void)
{
	Suite *s = suite_create("merge");
	TCase *c = tcase_create("merge");

	tcase_add_test(c, patches_merge);
	tcase_add_test(c, parameters_are_put_in);
	tcase_add_test(c, long_texts_are_put_in_whole);
	tcase_add_test(c, without_memory_a_program_ends);
	tcase_add_test(c, rows_come_from_lists_ranges_and_the_abi);
	suite_add_tcase(s, c);
	return s;
}
