/* SPDX-License-Identifier: MIT */
/*
 * Records that wait for older ones: their order, and what they take.
 */
#include <string.h>

#include "stream/decode.h"
#include "unit.h"

/* The times of what came out. */
struct taken {
	uint64_t times[16];
	size_t count;
};

static int take_time(void *to, const unsigned char *bytes, size_t size, struct place place)
{
	struct taken *taken = to;

	ck_assert_uint_eq(size, sizeof(uint64_t));
	ck_assert_uint_lt(taken->count, 16);
	memcpy(&taken->times[taken->count++], bytes, size);
	ck_assert_uint_eq(taken->times[taken->count - 1], place.offset);
	return 0;
}

static void add_time(struct sorter *sorter, uint64_t time)
{
	unsigned char bytes[sizeof(time)];

	memcpy(bytes, &time, sizeof(time));
	ck_assert_int_eq(sort_add(sorter, time, bytes, sizeof(bytes), place_at(time)), 0);
}

START_TEST(rounds_come_out_in_order)
{
	static const uint64_t first[] = {1, 3, 5}, all[] = {1, 3, 5, 4, 6, 7};
	struct taken taken = {0};
	struct sorter sorter = {.put = take_time, .to = &taken, .most = SORT_BYTES};

	add_time(&sorter, 5);
	add_time(&sorter, 1);
	ck_assert_int_eq(sort_round(&sorter), 0);
	ck_assert_uint_eq(taken.count, 0);
	add_time(&sorter, 7);
	add_time(&sorter, 3);
	ck_assert_int_eq(sort_round(&sorter), 0);
	ck_assert_uint_eq(taken.count, 3);
	ck_assert_mem_eq(taken.times, first, sizeof(first));
	add_time(&sorter, 6);
	add_time(&sorter, 4); /* which is older than what came out */
	ck_assert_uint_eq(sorter.late, 1);
	ck_assert_int_eq(sort_end(&sorter), 0);
	ck_assert_uint_eq(taken.count, 6);
	ck_assert_mem_eq(taken.times, all, sizeof(all));
	sort_free(&sorter);
}
END_TEST

START_TEST(what_came_out_takes_nothing)
{
	struct taken taken = {0};
	struct sorter sorter = {.put = take_time, .to = &taken, .most = SORT_BYTES};

	for (uint64_t time = 1; time <= 8; time++)
		add_time(&sorter, time);
	ck_assert_uint_gt(sorter.bytes, 8 * sizeof(uint64_t));
	ck_assert_int_eq(sort_end(&sorter), 0);
	ck_assert_uint_eq(taken.count, 8);
	ck_assert_uint_eq(sorter.bytes, 0);
	sort_free(&sorter);
}
END_TEST

Suite *suite_sort(void)
{
	Suite *suite = suite_create("sort");
	TCase *test = tcase_create("sort");

	tcase_add_test(test, rounds_come_out_in_order);
	tcase_add_test(test, what_came_out_takes_nothing);
	suite_add_tcase(suite, test);
	return suite;
}
