/* SPDX-License-Identifier: MIT */
/*
 * Patterns on what steps show, their mutations, and the names that steps bind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language/pattern.h"
#include "unit.h"

static struct scope scope;

static struct arena arena;

/* Whatever names stand in it are known only when it is matched. */
static struct pattern *compiled(const char *pattern)
{
	static const struct value_shape any = {.kind = SHAPE_ANY};
	struct scope checking = {.checking = true};
	const struct where nowhere = {0};
	struct error e = {0};
	struct pattern *p;

	ck_assert_int_eq(scope_bind(&checking, "a", 0), 0);
	ck_assert_int_eq(scope_bind(&checking, "e", 0), 0);
	ck_assert_int_eq(scope_bind(&checking, "x", 0), 0);
	p = pattern_compile(arena_keep(&arena, test_json(pattern)), &any, &checking, &arena,
			    &nowhere, &e);
	ck_assert_msg(p != NULL, "%s: %s, not %s", pattern, e.expected, e.got);
	return p;
}

static bool fits(const char *pattern, const char *got)
{
	json_t *g = got ? test_json(got) : NULL;
	bool fit = pattern_match(compiled(pattern), g, &scope, NULL);

	json_decref(g);
	arena_free(&arena);
	return fit;
}

static const struct row {
	const char *pattern, *got; /* NULL: nothing is there */
	bool fits;
} rows[] = {
	{"{'value': 17}", "{'value': 17, 'bytes': 8}", true},
	{"{'value': 17}", "{'value': 16}", false},
	{"{'value': 17}", "{}", false},
	{"{'a': {'b': 1}}", "{'a': {'b': 1, 'c': 2}}", true},
	{"{'a': {'b': 1}}", "{'a': 1}", false},
	{"'0x10'", "16", true},
	{"16", "'0x10'", true},
	{"'1<<4'", "'0x10'", true},
	{"'0xfffffffffffffe00'", "'0xfffffffffffffe00'", true},
	{"'x'", "'x'", true},
	{"'x'", "'y'", false},
	{"[1, 2]", "[1, 2]", true},
	{"[1, 2]", "[1, 2, 3]", false},
	{"[1, 2, 3]", "[1, 2]", false},
	{"[]", "[]", true},
	{"[]", "[1]", false},
	{"{'gt': 3, 'lt': 5}", "4", true},
	{"{'gt': 3, 'lt': 5}", "5", false},
	{"{'ge': '1<<63'}", "'0xffffffff81000000'", true},
	{"{'ge': 3}", NULL, false},
	{"{'gt': 5}", "-1", false},
	{"{'lt': 5}", "-1", true},
	{"{'ge': -1}", "5", true},
	{"{'ge': -1}", "-2", false},
	{"{'le': -1}", "5", false},
	{"{'le': '0-1'}", "-1", true},
	{"{'between': [-5, 5]}", "-1", true},
	{"{'between': [-5, 5]}", "-6", false},
	{"{'between': [-5, 5]}", "6", false},
	{"{'gt': -1}", "'0xffffffffffffffff'", true},
	{"{'lt': '0xffffffffffffffff'}", "-1", true},
	{"{'lt': '1<<63'}", "9223372036854775807", true},
	{"{'gt': 9223372036854775807}", "'0x8000000000000000'", true},
	{"{'ge': '-1<<63'}", "-9223372036854775807", true},
	{"{'between': ['-1<<63', '0xffffffffffffffff']}", "'0x8000000000000000'", true},
	{"-1", "'0xffffffffffffffff'", true},
	{"'0xffffffffffffffff'", "-1", true},
	{"{'has': '1<<63'}", "-1", true},
	{"{'between': [3, 5]}", "5", true},
	{"{'between': [3, 5]}", "6", false},
	{"5", "5", true},
	{"5", "6", false},
	{"'0xffffffffffffffff'", "'0xffffffffffffffff'", true},
	{"{'ge': 64}", "64", true},
	{"{'gt': 64}", "64", false},
	{"{'le': 64, 'ne': 3}", "3", false},
	{"{'le': 64, 'ne': 3}", "64", true},
	{"{'lt': 4}", "3", true},
	{"{'lt': 4}", "4", false},
	{"{'ne': 3}", "4", true},
	{"{'ne': 3}", "3", false},
	{"{'ne': 3}", NULL, false},
	{"{'not': 3}", NULL, true},
	{"{'absent': true}", NULL, true},
	{"{'absent': true}", "0", false},
	{"{'absent': false}", "0", true},
	{"{'has': ['a', 'b']}", "['b', 'c', 'a']", true},
	{"{'has': ['a', 'b']}", "['a', 'c']", false},
	{"{'without': ['a', 'b']}", "['c']", true},
	{"{'without': ['a', 'b']}", "['b', 'c']", false},
	{"{'without': ['a']}", NULL, false},
	{"{'has': 6}", "7", true},
	{"{'has': 6}", "5", false},
	{"{'without': 6}", "9", true},
	{"{'without': 6}", "4", false},
	{"{'like': '/memfd:*'}", "'/memfd:x (deleted)'", true},
	{"{'like': '/memfd:*'}", "'//anon'", false},
	{"{'exactly': [{'t': 1}, {'t': 2}]}", "[{'t': 1, 'u': 0}, {'t': 2}]", true},
	{"{'exactly': [{'t': 1}, {'t': 2}]}", "[{'t': 2}, {'t': 1}]", false},
	{"{'exactly': [{'t': 1}]}", "[{'t': 1}, {'t': 2}]", false},
	{"{'exactly': []}", "[]", true},
	{"{'in-order': [1, 3]}", "[1, 3]", true},
	{"{'in-order': [3, 1]}", "[1, 2, 3]", false},
	{"{'in-order': [1, 1]}", "[1]", false},
	{"{'some': [3, 3]}", "[3, 3]", true},
	{"{'some': [4]}", "[1, 2, 3]", false},
	{"{'never': 4}", "[1, 2, 3]", true},
	{"{'never': [4, 2]}", "[1, 2, 3]", false},
	{"{'every': {'ge': 1}}", "[1, 2, 3]", true},
	{"{'every': {'ge': 2}}", "[1, 2, 3]", false},
	{"{'every': 1}", "[]", false},
	{"{'length': {'between': [1, 3]}}", "[1, 2]", true},
	{"{'length': 3}", "[1, 2]", false},
	{"{'times': {'of': 1, 'is': 2}}", "[1, 2, 1]", true},
	{"{'times': [{'of': 1, 'is': 2}, {'of': 2, 'is': 0}]}", "[1, 2, 1]", false},
	{"{'first-u16': '0x1111'}", "'11110203'", true},
	{"{'first-u16': '0x1111'}", "'11120203'", false},
	{"{'first-u16': '0x11'}", "'11'", false},
	{"{'last-u64': '0x2222222222222222'}", "'112222222222222222'", true},
	{"{'last-u64': '0x2222222222222222'}", "'112222222222222223'", false},
	{"{'last-u64': 0}", "'00000000000000'", false},
	{"{'ascending': 't'}", "[{'t': 1}, {'t': 1}, {'t': 3}]", true},
	{"{'ascending': 't'}", "[{'t': 3}, {'t': 1}]", false},
	{"{'ascending': 't'}", "[{'t': -1}, {'t': 1}, {'t': '0x8000000000000000'}]", true},
	{"{'ascending': 't'}", "[{'t': 1}, {'t': -1}]", false},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

START_TEST(pattern_fits)
{
	const struct row *row = &rows[_i];

	ck_assert_msg(fits(row->pattern, row->got) == row->fits, "%s against %s", row->pattern,
		      row->got ? row->got : "nothing");
}
END_TEST

/* Whatever part of a pattern that fits is turned round, it fits no more. */
START_TEST(every_mutation_is_a_misfit)
{
	const struct row *row = &rows[_i];
	json_t *got = row->got ? test_json(row->got) : NULL;
	struct pattern *pattern = compiled(row->pattern);
	unsigned parts = 0, counted;

	for (;; parts++) {
		unsigned index = parts;
		bool is_there;

		counted = parts;
		is_there = pattern_mutate(pattern, &counted, NULL);
		ck_assert(!row->fits || pattern_match(pattern, got, &scope, NULL));
		ck_assert_int_eq(pattern_mutate(pattern, &index, &arena), is_there);
		if (!is_there)
			break;
		ck_assert_msg(!row->fits || !pattern_match(pattern, got, &scope, NULL),
			      "%s with part %u turned round fits %s", row->pattern, parts,
			      row->got ? row->got : "nothing");
		arena_free(&arena);
		pattern = compiled(row->pattern);
	}
	ck_assert_uint_ge(parts, 1);
	arena_free(&arena);
	json_decref(got);
}
END_TEST

static const struct {
	const char *pattern, *got, *path, *expected, *found;
} misfits[] = {
	{"{'exactly': [{'a': 1}, {'b': {'c': 2}}]}", "[{'a': 1}, {'b': {'c': 3}}]", "/1/b/c", "2",
	 "3"},
	{"{'some': [1, 2]}", "[1, 3]", "/some/1", "2", "0 of 2 fit: [1,3]"},
	{"{'never': [2, 1]}", "[1, 3, 1]", "/never/1", "1", "2 of 3 fit: [1,3,1]"},
	{"{'every': {'a': 1}}", "[{'a': 1}, {'a': 2}]", "/1/a", "1", "2"},
	{"{'every': {'a': 1}}", "[]", "", "{\"every\":{\"a\":1}}", "[]"},
	{"{'in-order': [1, 2]}", "[3, 1, 3]", "/in-order/1", "2", "none behind /1 fits: [3,1,3]"},
	{"{'in-order': [1, 2]}", "[2]", "/in-order/0", "1", "none fits: [2]"},
	{"{'times': [{'of': 1, 'is': 1}, {'of': 2, 'is': {'ge': 2}}]}", "[1, 2]", "/times/1",
	 "{\"of\":2,\"is\":{\"ge\":2}}", "1 of 2 fit: [1,2]"},
	{"{'a': {'times': {'of': 1, 'is': 0}}}", "{'a': [1]}", "/a/times/0", "{\"of\":1,\"is\":0}",
	 "1 of 1 fit: [1]"},
	{"{'times': {'of': 1, 'is': 0}}", "1", "", "{\"times\":{\"of\":1,\"is\":0}}", "1"},
};
enum { MISFITS = sizeof(misfits) / sizeof(misfits[0]) };

START_TEST(a_misfit_says_where)
{
	json_t *got = test_json(misfits[_i].got);
	struct verdict why;
	char expected[160];

	ck_assert(!pattern_match(compiled(misfits[_i].pattern), got, &scope, &why));
	snprintf(expected, sizeof(expected), "%s%s%s", misfits[_i].path,
		 misfits[_i].path[0] ? " " : "", misfits[_i].expected);
	ck_assert_str_eq(why.expected, expected);
	ck_assert_str_eq(why.got, misfits[_i].found);
	json_decref(got);
	arena_free(&arena);
}
END_TEST

START_TEST(names_have_members)
{
	json_t *value = test_json("{'values': [{'value': 5}], 'ip': '0x1000', 'path': '/x'}");
	char text[32];

	ck_assert_int_eq(scope_bind_json(&scope, "a", value), 0);
	ck_assert_int_eq(scope_bind(&scope, "e", 3), 0);
	ck_assert_int_eq(scope_bind_member(&scope, "e", "id", 77), 0);
	ck_assert(fits("'$a.values.0.value'", "5"));
	ck_assert(fits("'$a.values.0.value+2'", "7"));
	ck_assert(fits("'$a.ip'", "4096"));
	ck_assert(fits("'$e.id'", "77"));
	ck_assert(fits("'$e'", "3"));
	ck_assert(!fits("'$a.nothing'", "5"));
	ck_assert(!fits("'$a.path+1'", "5"));
	ck_assert_int_eq(scope_expand(&scope, "$a.path/$e.txt", text, sizeof(text)), -ENOENT);
	ck_assert_int_eq(scope_expand(&scope, "$a.path/$e", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "/x/3");
	ck_assert_int_eq(scope_bind(&scope, "pid", 3), -EEXIST);
	ck_assert_int_eq(scope_bind(&scope, "Not a name", 3), -EINVAL);
	json_decref(value);
	scope_free(&scope);
}
END_TEST

/* Of perfabi help variables: what is there without being bound can be had in a text and a number.
 */
START_TEST(each_variable_works_in_a_text)
{
	static const struct value_shape any = {.kind = SHAPE_ANY};
	struct scope checking = {.checking = true};
	struct vars vars = scope_vars(&checking);
	struct where nowhere = {0};
	char *help = NULL, *line, *rest;
	size_t size, count = 0;
	FILE *f = open_memstream(&help, &size);

	scope_help(f);
	fclose(f);
	for (line = strtok_r(help, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest), count++) {
		char text[128], out[128];
		struct error e = {0};
		struct value value;
		json_t *name, *like;

		ck_assert_int_eq(sscanf(line, " %100s", text), 1);
		name = json_string(text);
		ck_assert_msg(!value_eval(name, NULL, &vars, &nowhere, &value, &e), "%s", text);
		strcat(text, ": x");
		ck_assert_msg(!scope_expand(&checking, text, out, sizeof(out)), "%s", text);
		ck_assert_str_eq(out, "0: x");
		like = json_pack("{s:s}", "like", text);
		ck_assert_msg(pattern_compile(like, &any, &checking, &arena, &nowhere, &e), "%s",
			      text);
		arena_free(&arena);
		json_decref(like);
		json_decref(name);
	}
	ck_assert_uint_gt(count, 20);
	free(help);
}
END_TEST

static const struct {
	unsigned cpus, page_size;
	bool filtered;
	const char *over; /* NULL: it is not there */
} mlocks[] = {
	{2, 4096, false, "512"}, {40, 4096, false, "8192"},   {40, 4096, true, NULL},
	{1, 65536, false, "8"},  {508, 4096, false, "65536"}, {1024, 4096, false, NULL},
};
enum { MLOCKS = sizeof(mlocks) / sizeof(mlocks[0]) };

/* What a user may map is known where the kernel's cpus are, and asked for where it can be had. */
START_TEST(mlock_goes_by_cpus)
{
	struct environment env = {.sysctls = {[SYSCTL_MLOCK_KB] = 516},
				  .page_size = mlocks[_i].page_size,
				  .cpus_online = mlocks[_i].cpus,
				  .cpus_filtered = mlocks[_i].filtered};

	scope.env = &env;
	ck_assert_int_eq(fits("'$mlock.over'", mlocks[_i].over ? mlocks[_i].over : "0"),
			 mlocks[_i].over != NULL);
	scope.env = NULL;
}
END_TEST

START_TEST(bind_names_what_was_there)
{
	ck_assert(fits("{'a': {'bind': 'x'}}", "{'a': 12}"));
	ck_assert(fits("'$x'", "12"));
	ck_assert(!fits("{'a': {'bind': 'x'}}", "{}"));
	scope_free(&scope);
}
END_TEST

Suite *suite_steps(void)
{
	Suite *s = suite_create("steps");
	TCase *c = tcase_create("patterns");

	tcase_add_loop_test(c, pattern_fits, 0, ROWS);
	tcase_add_loop_test(c, every_mutation_is_a_misfit, 0, ROWS);
	tcase_add_loop_test(c, a_misfit_says_where, 0, MISFITS);
	tcase_add_test(c, names_have_members);
	tcase_add_test(c, each_variable_works_in_a_text);
	tcase_add_loop_test(c, mlock_goes_by_cpus, 0, MLOCKS);
	tcase_add_test(c, bind_names_what_was_there);
	suite_add_tcase(s, c);
	return s;
}
