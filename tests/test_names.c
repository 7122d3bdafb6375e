/* SPDX-License-Identifier: MIT */
/*
 * The names of errnos and signals, held against the C library's where it has them.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "machine/names.h"
#include "unit.h"

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
START_TEST(they_are_the_c_librarys)
{
	char text[32];

	for (int err = 1; err < 2000; err++) {
		const char *name = err == 524 ? "ENOTSUPP" : strerrorname_np(err);

		ck_assert_str_eq(errno_name(err), name ? name : "an errno without a name");
		ck_assert_int_eq(name ? errno_by_name(name, NULL) : err, err);
	}
	for (int signo = 1; signo < 32; signo++) {
		const char *name = sigabbrev_np(signo);

		snprintf(text, sizeof(text), "SIG%s", signo == SIGIO ? "IO" : name ? name : "?");
		ck_assert_str_eq(signal_name(signo), text);
		ck_assert_int_eq(name ? signal_by_name(text) : signo, signo);
	}
}
END_TEST
#endif

START_TEST(what_has_no_name)
{
	struct nearest near = nearest_to("EINVALL");

	ck_assert_int_eq(errno_by_name("EINVALL", &near), 0);
	ck_assert_str_eq(near.best, "EINVAL");
	ck_assert_str_eq(errno_name(523), "an errno without a name");
	ck_assert_str_eq(errno_name(524), "ENOTSUPP"); /* the kernel's own, and not libc's */
	ck_assert_int_eq(signal_by_name("SIGNONE"), 0);
	ck_assert_str_eq(signal_name(SIGRTMIN), "SIGRTMIN");
	ck_assert_int_eq(signal_by_name("SIGPOLL"), SIGIO);
}
END_TEST

Suite *suite_names(void)
{
	Suite *s = suite_create("names");
	TCase *c = tcase_create("names");

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
	tcase_add_test(c, they_are_the_c_librarys);
#endif
	tcase_add_test(c, what_has_no_name);
	suite_add_tcase(s, c);
	return s;
}
