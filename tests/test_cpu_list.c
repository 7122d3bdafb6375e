/* SPDX-License-Identifier: MIT */
/*
 * Lists of cpus: what is in them, and those that did not fit.
 */
#include <string.h>

#include "machine/proc.h"
#include "unit.h"

START_TEST(lists_have_their_cpus)
{
	ck_assert(cpu_list_has("0-3,8,10-11\n", 0) && cpu_list_has("0-3,8,10-11", 3));
	ck_assert(cpu_list_has("0-3,8,10-11", 8) && cpu_list_has("0-3,8,10-11", 11));
	ck_assert(!cpu_list_has("0-3,8,10-11", 4) && !cpu_list_has("0-3,8,10-11", 12));
	ck_assert(!cpu_list_has("", 0) && !cpu_list_has(CPU_LIST_CUT, 0));
	ck_assert_uint_eq(cpu_list_end("0-3,8,10-11"), 12);
	ck_assert_uint_eq(cpu_list_end(CPU_LIST_CUT), 0);
}
END_TEST

START_TEST(a_list_that_did_not_fit_is_not_known)
{
	char fits[] = "0-3,8", cut[] = "0-3,8";

	cpu_list_settle(fits, sizeof(fits) + 1);
	ck_assert_str_eq(fits, "0-3,8");
	ck_assert(cpu_list_is_known(fits));
	cpu_list_settle(cut, sizeof(cut));
	ck_assert_str_eq(cut, CPU_LIST_CUT);
	ck_assert(!cpu_list_is_known(cut) && !cpu_list_is_known(""));
}
END_TEST

Suite *suite_cpu_list(void)
{
	Suite *suite = suite_create("cpu_list");
	TCase *test = tcase_create("cpu_list");

	tcase_add_test(test, lists_have_their_cpus);
	tcase_add_test(test, a_list_that_did_not_fit_is_not_known);
	suite_add_tcase(suite, test);
	return suite;
}
