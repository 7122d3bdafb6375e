/* SPDX-License-Identifier: MIT */
/*
 * The scripts of tests/e2e, each as one test: the real programs on the real kernel.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "unit.h"

static glob_t found;

/* All scripts but what they share. */
static size_t find_scripts(void)
{
	if (!found.gl_pathc)
		glob("tests/e2e/*.sh", 0, NULL, &found);
	return found.gl_pathc;
}

START_TEST(script)
{
	const char *path = find_scripts() > (size_t)_i ? found.gl_pathv[_i] : NULL;
	char command[160];
	int status;

	ck_assert_msg(path != NULL, "script %d", _i);
	if (!strcmp(path, "tests/e2e/lib.sh"))
		return;
	snprintf(command, sizeof(command), "sh %.120s 2>&1", path);
	fflush(NULL);
	status = system(command);
	ck_assert_msg(status == 0, "%s: exit status %d", path,
		      WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
END_TEST

Suite *suite_end_to_end(void)
{
	Suite *s = suite_create("end to end");
	TCase *c = tcase_create("scripts");
	size_t count = find_scripts();

	tcase_set_timeout(c, 240);
	tcase_add_loop_test(c, script, 0, count ? (int)count : 1);
	suite_add_tcase(s, c);
	return s;
}
