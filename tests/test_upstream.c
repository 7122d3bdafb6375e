/* SPDX-License-Identifier: MIT */
/*
 * Which version of kernel.org's a kernel is of, by what distributions say.
 */
#include "machine/environment.h"
#include "unit.h"

static const struct {
	const char *release, *version, *signature, *upstream;
} kernels[] = {
	{"5.10.0-32-amd64", "#1 SMP Debian 5.10.223-1 (2024-08-10)", "", "5.10.223"},
	{"6.12.107+deb13-s390x", "#1 SMP Debian 6.12.107-1 (2026-09-12)", "", "6.12.107"},
	{"6.5.0-0.deb12.4-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.5.10-1~bpo12+1 (2023-11-23)", "",
	 "6.5.10"},
	{"5.15.0-91-generic", "#101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023",
	 "Ubuntu 5.15.0-91.101-generic 5.15.131", "5.15.131"},
	{"6.18.44-fc-v669", "#1 SMP PREEMPT_DYNAMIC @0", "", "6.18.44-fc-v669"},
	/* What is built on a Debian of another version, or in a container of one. */
	{"6.18.44", "#1 SMP Debian 5.10.223-1", "", "6.18.44"},
	{"6.18.44", "#1 SMP Debian", "Ubuntu", "6.18.44"},
};

START_TEST(it_is_what_the_distribution_says)
{
	char upstream[65];

	upstream_version(kernels[_i].release, kernels[_i].version, kernels[_i].signature, upstream,
			 sizeof(upstream));
	ck_assert_str_eq(upstream, kernels[_i].upstream);
}
END_TEST

Suite *suite_upstream(void)
{
	Suite *s = suite_create("upstream");
	TCase *c = tcase_create("upstream");

	tcase_add_loop_test(c, it_is_what_the_distribution_says, 0,
			    sizeof(kernels) / sizeof(kernels[0]));
	suite_add_tcase(s, c);
	return s;
}
