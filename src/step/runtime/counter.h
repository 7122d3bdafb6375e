/* SPDX-License-Identifier: MIT */
/*
 * Counters, read in user space.
 */
#ifndef PERFABI_RUNTIME_COUNTER_H
#define PERFABI_RUNTIME_COUNTER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * counter_read() reads the counter whose `index` the metadata page has, from 1 on. False: this
 * program has no instruction that reads it. Where the kernel lets nobody read it, the instruction
 * is SIGILL or SIGSEGV. Those of arm64 and riscv have the counter's number in themselves.
 */
#define EACH_OF_FIVE(ONE, a, b, c, d, e) ONE(a) ONE(b) ONE(c) ONE(d) ONE(e)
#define EACH_TO_30(ONE)                                                                            \
	EACH_OF_FIVE(ONE, 0, 1, 2, 3, 4)                                                           \
	EACH_OF_FIVE(ONE, 5, 6, 7, 8, 9)                                                           \
	EACH_OF_FIVE(ONE, 10, 11, 12, 13, 14)                                                      \
	EACH_OF_FIVE(ONE, 15, 16, 17, 18, 19)                                                      \
	EACH_OF_FIVE(ONE, 20, 21, 22, 23, 24) EACH_OF_FIVE(ONE, 25, 26, 27, 28, 29) ONE(30)

#if defined(__x86_64__) || defined(__i386__)
static bool counter_read(uint32_t index, uint64_t *value)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
	*value = (uint64_t)high << 32 | low;
	return true;
}
#elif defined(__aarch64__)
#define READ_COUNTER(n)                                                                            \
	case n:                                                                                    \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(*value));                     \
		return true;

static bool counter_read(uint32_t index, uint64_t *value)
{
	switch (index - 1) {
		EACH_TO_30(READ_COUNTER)
	case 31: /* ARMV8_IDX_CYCLE_COUNTER_USER */
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(*value));
		return true;
	default:
		return false;
	}
}
#elif defined(__riscv) && __riscv_xlen == 64
#define READ_COUNTER(n)                                                                            \
	case n:                                                                                    \
		__asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(*value));                           \
		return true;

static bool counter_read(uint32_t index, uint64_t *value)
{
	switch (index - 1) {
		EACH_TO_30(READ_COUNTER)
		READ_COUNTER(31)
	default:
		return false;
	}
}
#else
static bool counter_read(uint32_t index, uint64_t *value)
{
	(void)index;
	(void)value;
	return false;
}
#endif

/* A count that is read by the algorithm of perf_event_open(2), MMAP layout. */
struct rdpmc {
	uint64_t index, value;
	bool has_value;
};

static struct rdpmc rdpmc_count(const void *map)
{
	const volatile struct perf_event_mmap_page *page = map;
	struct rdpmc got;
	uint32_t before;
	uint64_t raw;

	do {
		before = page->lock;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		got = (struct rdpmc){.index = page->index, .value = (uint64_t)page->offset};
		if (page->cap_user_rdpmc && page->pmc_width && page->pmc_width <= 64 && got.index)
			got.has_value = counter_read((uint32_t)got.index, &raw);
		if (got.has_value) {
			raw <<= 64 - page->pmc_width;
			got.value += (uint64_t)((int64_t)raw >> (64 - page->pmc_width));
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (page->lock != before);
	return got;
}

#endif
