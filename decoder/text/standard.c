/* SPDX-License-Identifier: MIT */
/*
 * /dev/null the wrong way round: EBADF, as of what is closed.
 */
#include "text/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int standard_hold(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* the lowest number that is free, which is this one */
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return -errno;
	}
	return 0;
}
