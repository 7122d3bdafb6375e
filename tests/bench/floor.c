/* SPDX-License-Identifier: MIT */
/*
 * The floor under any program that prints JSON: the bytes that come out, read from a file, copied
 * once, and written to the same place. usage: floor FILE
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char in[256 * 1024], out[256 * 1024];
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n;

	if (fd < 0)
		return 2;
	while ((n = read(fd, in, sizeof(in))) > 0) {
		memcpy(out, in, (size_t)n);
		if (write(STDOUT_FILENO, out, (size_t)n) != n)
			return 3;
	}
	return n < 0 ? 3 : 0;
}
