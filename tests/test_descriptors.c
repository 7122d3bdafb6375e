/* SPDX-License-Identifier: MIT */
/*
 * Closing file descriptors, on a kernel that has close_range(2) and on one that has not.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/limits.h"
#include "unit.h"

#ifndef SYS_close_range /* Linux 5.9: one number everywhere */
#define SYS_close_range 436
#endif

enum { KEPT = 40, KEPT_TOO = 7, HIGH = 200 };

/* The test's process may not: a filter stays. */
static bool refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* How many are open that should not be, or the other way round. */
static int count_wrong(void)
{
	int wrong = 0;

	for (int fd = 3; fd <= HIGH; fd++)
		wrong += is_open(fd) != (fd == KEPT || fd == KEPT_TOO);
	return wrong;
}

/*
 * With files above the limit: a program that lowers its own before it runs us leaves such. One that
 * tried them one after the other up to the limit would leave them open.
 */
static int try_closing(bool has_close_range)
{
	const struct rlimit low = {16, 16};

	if (!has_close_range && !refuse_close_range())
		return -1;
	for (int fd = 3; fd <= HIGH; fd += 1 + fd % 3)
		dup2(0, fd);
	dup2(0, KEPT);
	dup2(0, KEPT_TOO);
	dup2(0, HIGH);
	if (setrlimit(RLIMIT_NOFILE, &low))
		return -1;
	descriptors_close_from(3, KEPT, KEPT_TOO);
	return count_wrong();
}

START_TEST(all_but_the_kept_are_closed)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(try_closing(_i == 0) & 0xff);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "status 0x%x", (unsigned)status);
	if (WEXITSTATUS(status) == 0xff)
		return; /* no filter can be set here */
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

Suite *suite_descriptors(void)
{
	Suite *s = suite_create("descriptors");
	TCase *c = tcase_create("descriptors");

	tcase_add_loop_test(c, all_but_the_kept_are_closed, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
