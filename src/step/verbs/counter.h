/* SPDX-License-Identifier: MIT */
/*
 * A counter of the processor's PMU, read in user space.
 */
#ifndef PERFABI_COUNTER_H
#define PERFABI_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The counter whose `index` the metadata page has, from 1 on. False: this program has no
 * instruction that reads it. Where the kernel lets nobody read it, the instruction is SIGILL or
 * SIGSEGV.
 */
bool counter_read(uint32_t index, uint64_t *value);

#endif
