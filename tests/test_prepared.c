/* SPDX-License-Identifier: MIT */
/*
 * The prepared tables against those that are loaded from the same JSON: written as C, they are the
 * same text.
 */
#include "unit.h"

/* The writer, without its main(). */
#define main prepare_main
int prepare_main(int argc, char **argv);
#include "../ci/prepare.c"

static char *written(const struct abi *abi, const struct paths *paths)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	put_tables(f, abi, paths);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

START_TEST(they_are_what_the_json_says)
{
	struct abi *abi = test_abi();
	struct events events;
	struct error e = {0};
	struct paths paths;
	char *loaded, *prepared;

	ck_assert_int_eq(events_init(&events, abi, &e), 0);
	ck_assert_int_eq(events_gather(&events, &paths), 0);
	loaded = written(abi, &paths);
	prepared = written(&abi_prepared, &paths_prepared);
	ck_assert_uint_gt(strlen(loaded), 100000);
	ck_assert_str_eq(loaded, prepared);
	free(loaded);
	free(prepared);
	paths_free(&paths);
	events_free(&events);
	abi_free(abi);
}
END_TEST

START_TEST(a_path_has_a_number_and_a_number_its_path)
{
	ck_assert_uint_gt(paths_number(&paths_prepared, "sample_id.time"), 0);
	for (uint32_t i = 1; i <= paths_prepared.count; i++)
		ck_assert_uint_eq(paths_number(&paths_prepared, paths_name(&paths_prepared, i)), i);
	ck_assert_uint_eq(paths_number(&paths_prepared, "sample_id.tim"), 0);
	ck_assert_ptr_null(paths_name(&paths_prepared, 0));
	ck_assert_ptr_null(paths_name(&paths_prepared, (uint32_t)paths_prepared.count + 1));
}
END_TEST

Suite *suite_prepared(void)
{
	Suite *s = suite_create("prepared");
	TCase *c = tcase_create("prepared");

	tcase_add_test(c, they_are_what_the_json_says);
	tcase_add_test(c, a_path_has_a_number_and_a_number_its_path);
	suite_add_tcase(s, c);
	return s;
}
