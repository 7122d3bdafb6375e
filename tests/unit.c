/* SPDX-License-Identifier: MIT */
/*
 * Runs the libcheck suites.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

struct abi *test_abi(void)
{
	struct sources sources = abi_builtin();
	struct error e = {0};
	struct abi *abi = abi_load(&sources, &e);

	ck_assert_msg(abi != NULL, "%s: %s", e.pointer, e.expected);
	return abi;
}

json_t *test_json(const char *text)
{
	char *copy = strdup(text);
	json_t *json;

	ck_assert_ptr_nonnull(copy);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json = json_loads(copy, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(json != NULL, "%s", copy);
	free(copy);
	return json;
}

int main(void)
{
	SRunner *runner = srunner_create(suite_abi());
	int failed;

	srunner_add_suite(runner, suite_attr());
	srunner_add_suite(runner, suite_prepared());
	srunner_add_suite(runner, suite_value());
	srunner_add_suite(runner, suite_source());
	srunner_add_suite(runner, suite_json());
	srunner_add_suite(runner, suite_values());
	srunner_add_suite(runner, suite_damage());
	srunner_add_suite(runner, suite_merge());
	srunner_add_suite(runner, suite_sort());
	srunner_add_suite(runner, suite_steps());
	srunner_add_suite(runner, suite_verbs());
	srunner_add_suite(runner, suite_case());
	srunner_add_suite(runner, suite_baseline());
	srunner_add_suite(runner, suite_descriptors());
	srunner_add_suite(runner, suite_names());
	srunner_add_suite(runner, suite_upstream());
	srunner_add_suite(runner, suite_cpu_list());
	srunner_add_suite(runner, suite_alarm());
	srunner_add_suite(runner, suite_model());
	srunner_add_suite(runner, suite_event_name());
	srunner_add_suite(runner, suite_paste());
	srunner_add_suite(runner, suite_question());
	srunner_add_suite(runner, suite_changes());
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
