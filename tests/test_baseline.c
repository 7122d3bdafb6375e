/* SPDX-License-Identifier: MIT */
/*
 * Baselines: which entry is about a case on which kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "run/baseline.h"
#include "unit.h"

static const struct row {
	const char *xfail, *release;
	enum outcome before, after;
	const char *reason; /* NULL: none */
} rows[] = {
	{"{'a.b': 'why'}", "6.1.0", FAIL, XFAIL, "why"},
	{"{'a.b': 'why'}", "6.1.0", PASS, XPASS, "why"},
	{"{'a.b': 'why'}", "6.1.0", ERROR, ERROR, NULL},
	{"{'a': 'why'}", "6.1.0", FAIL, XFAIL, "why"},
	{"{'a.*': 'why'}", "6.1.0", FAIL, XFAIL, "why"},
	{"{'a.c': 'why'}", "6.1.0", FAIL, FAIL, NULL},
	{"{'a.b': {'reason': 'why'}}", "6.1.0", FAIL, XFAIL, "why"},
	{"{'a.b': {'function': 'f', 'reason': 'errs'}}", "6.1.0", FAIL, XFAIL, "f() errs"},
	{"{'a.b': {'reason': 'why', 'sometimes': 's'}}", "6.1.0", FAIL, XFAIL, "why"},
	{"{'a.b': {'reason': 'why', 'sometimes': 's'}}", "6.1.0", PASS, PASS, NULL},
	{"{'a.b': {'when': {'kernel': '>=5.13'}, 'reason': 'r'}}", "5.12.9", FAIL, FAIL, NULL},
	{"{'a.b': {'when': {'kernel': '>=5.13'}, 'reason': 'r'}}", "5.13.0", FAIL, XFAIL, "r"},
	{"{'a.b': {'when': {'kernel': '>=5.13'}, 'reason': 'r'}}", "5.12.9", PASS, PASS, NULL},
	{"{'a.b': {'when': {'kernel': ['>=5.13', '<6.18']}, 'reason': 'r'}}", "6.17.9-x", FAIL,
	 XFAIL, "r"},
	{"{'a.b': {'when': {'kernel': ['>=5.13', '<6.18']}, 'reason': 'r'}}", "6.18.0", FAIL, FAIL,
	 NULL},
	{"{'a.b': {'when': {'arch': 'x86'}, 'reason': 'r'}}", "6.1.0", FAIL, XFAIL, "r"},
	{"{'a.b': {'when': {'arch': 'arm64'}, 'reason': 'r'}}", "6.1.0", FAIL, FAIL, NULL},
	{"{'a.b': {'when': {'kernel': '>=6.0', 'arch': 'arm64'}, 'reason': 'r'}}", "6.1.0", FAIL,
	 FAIL, NULL},
	{"{'a.b': [{'when': {'kernel': '<6.0'}, 'reason': '1'}, {'when': {'kernel': '<7.0'}, "
	 "'reason': '2'}, {'reason': '3'}]}",
	 "6.1.0", FAIL, XFAIL, "2"},
	{"{'a.b': [{'when': {'kernel': '<6.0'}, 'reason': '1'}]}", "6.1.0", FAIL, FAIL, NULL},
	{"{'a.b': {'when': {'kernel': '<6.0'}, 'reason': '1'}, 'a.*': 'the next'}", "6.1.0", FAIL,
	 XFAIL, "the next"},
};

START_TEST(entry_is_about_the_kernel)
{
	const struct row *row = &rows[_i];
	struct abi *abi = test_abi();
	struct environment env = {.abi = abi, .arch = abi_arch(abi, "x86_64")};
	struct instance instance = {.id = (char[]){"a.b"}};
	struct result result = {.instance = &instance, .verdict = {.outcome = (int)row->before}};
	struct baseline baseline = {.json = json_pack("{s:o}", "xfail", test_json(row->xfail))};

	strcpy(env.release, row->release);
	baseline_apply(&baseline, &env, &result, 1);
	ck_assert_msg(result.verdict.outcome == (int)row->after, "%s on %s: %s", row->xfail, row->release,
		      outcome_names[result.verdict.outcome]);
	ck_assert_pstr_eq(result.reason, row->reason);
	free(result.reason);
	baseline_free(&baseline);
	abi_free(abi);
}
END_TEST

Suite *suite_baseline(void)
{
	Suite *s = suite_create("baseline");
	TCase *c = tcase_create("entries");

	tcase_add_loop_test(c, entry_is_about_the_kernel, 0, sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(s, c);
	return s;
}
