/* SPDX-License-Identifier: MIT */
/*
 * In which order a round runs its instances.
 */
#include "machine/draw.h"
#include "run/runner.h"

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
		size_t j = (size_t)(random_next(&state) % i), swap = r->order[i - 1];

		r->order[i - 1] = r->order[j];
		r->order[j] = swap;
	}
}
