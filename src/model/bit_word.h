/* SPDX-License-Identifier: MIT */
/*
 * Words of bit fields, with the bits where a little-endian machine has them: so a record of one
 * machine means the same on another.
 */
#ifndef PERFABI_MODEL_BIT_WORD_H
#define PERFABI_MODEL_BIT_WORD_H

#include "abi/attr.h"

/* From the order of this machine to that one, and back, of a word of `size` bytes. */
static inline uint64_t bit_word(uint64_t word, unsigned size)
{
	uint64_t turned = 0;

	if (host_order() == LITTLE)
		return word;
	for (unsigned i = 0; i < size * 8; i++)
		turned |= (word >> i & 1) << (size * 8 - 1 - i);
	return turned;
}

#endif
