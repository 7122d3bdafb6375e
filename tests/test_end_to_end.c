/* SPDX-License-Identifier: MIT */
/*
 * The scripts of tests/e2e, each as one test: the real programs on the real kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "unit.h"

static const char *const scripts[] = {"run",      "user",    "formats", "schema", "broken",
				      "mutate",   "liar",    "abi",     "bounds", "options",
				      "install",  "decode",  "fields",  "faults", "threads",
				      "fixtures", "capture", "restore", "hands",  "coverage"};

START_TEST(script)
{
	char command[128];
	int status;

	snprintf(command, sizeof(command), "sh tests/e2e/%s.sh 2>&1", scripts[_i]);
	fflush(NULL);
	status = system(command);
	ck_assert_msg(status == 0, "tests/e2e/%s.sh: exit status %d", scripts[_i],
		      WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
END_TEST

Suite *suite_end_to_end(void)
{
	Suite *s = suite_create("end to end");
	TCase *c = tcase_create("scripts");

	tcase_set_timeout(c, 240);
	tcase_add_loop_test(c, script, 0, sizeof(scripts) / sizeof(scripts[0]));
	suite_add_tcase(s, c);
	return s;
}
