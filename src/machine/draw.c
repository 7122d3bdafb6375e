/* SPDX-License-Identifier: MIT */
#include "machine/draw.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t draw(void)
{
	uint64_t drawn;
	struct timespec now = {0};

	if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) == sizeof(drawn))
		return drawn;
	clock_gettime(CLOCK_REALTIME, &now);
	drawn = (uint64_t)getpid() << 32 ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
	return drawn * UINT64_C(0x9e3779b97f4a7c15);
}
