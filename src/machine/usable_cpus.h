/* SPDX-License-Identifier: MIT */
/*
 * The cpus that a process may run on if it asks for them.
 */
#ifndef PERFABI_USABLE_CPUS_H
#define PERFABI_USABLE_CPUS_H

#include <sched.h>
#include <stddef.h>

/*
 * Writes to `set`, of `size` bytes, all cpus of the caller's cpuset: a mask that is narrower can be
 * widened so far by whoever has it (sched_setaffinity(2)), and the caller's is as it was
 * afterwards. To `own`, of the same size, which it is. 0, or a negative errno: -EINVAL where the
 * kernel knows more cpus than so many bytes have.
 */
int usable_cpus(cpu_set_t *set, cpu_set_t *own, size_t size);

#endif
