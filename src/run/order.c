/* SPDX-License-Identifier: MIT */
/*
 * In which order a round runs its instances.
 */
#include "run/runner.h"

uint64_t runner_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void runner_order(struct runner *r)
{
	uint64_t state = r->options->seed + r->round;
	size_t at = 0, together;

	for (int alone = 0; alone < 2; alone++)
		for (size_t i = 0; i < r->count; i++)
			if (r->instances[i]->alone == (alone == 1))
				r->order[at++] = i;
	if (!r->options->shuffle)
		return;
	for (together = 0; together < r->count && !r->instances[r->order[together]]->alone;)
		together++;
	for (size_t i = together; i > 1; i--) {
		size_t j = (size_t)(runner_random(&state) % i), swap = r->order[i - 1];

		r->order[i - 1] = r->order[j];
		r->order[j] = swap;
	}
}
