/* SPDX-License-Identifier: MIT */
/*
 * What nobody can foretell, as far as the kernel has randomness, and nobody else has.
 */
#ifndef PERFABI_DRAW_H
#define PERFABI_DRAW_H

#include <stdint.h>

/* 64 bits; where the kernel has no randomness yet, made of the time and the pid. */
uint64_t draw(void);

#endif
