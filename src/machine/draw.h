/* SPDX-License-Identifier: MIT */
/*
 * What nobody can foretell, as far as the kernel has randomness, and nobody else has.
 */
#ifndef PERFABI_DRAW_H
#define PERFABI_DRAW_H

#include <stdint.h>

/* 64 bits; where the kernel has no randomness yet, made of the time and the pid. */
uint64_t draw(void);

/* The next number. *state is the seed at first, and any number will do. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
