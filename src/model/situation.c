/* SPDX-License-Identifier: MIT */
/*
 * What of a call several facts need.
 */
#include "model/situation.h"

#include <string.h>

#include "abi/attr.h"
#include "model/processes.h"

static void read_attr(struct situation *s)
{
	const struct abi *abi = s->machine->env->abi;
	uint64_t size = attr_get(s->machine->size, s->call->image, host_order());
	size_t kernels = s->machine->env->attr_size ? s->machine->env->attr_size : abi->attr_size;
	size_t n;

	s->size = size ? size : abi->attr_smallest;
	n = s->size < kernels ? (size_t)s->size : kernels;
	n = n < abi->attr_size ? n : abi->attr_size;
	n = n < ATTR_BYTES_MAX ? n : ATTR_BYTES_MAX;
	memset(s->attr, 0, sizeof(s->attr));
	memcpy(s->attr, s->call->image, n);
	for (size_t i = 0; i < s->call->poke_count; i++)
		if (s->call->pokes[i].offset < s->size && s->call->pokes[i].offset < kernels &&
		    s->call->pokes[i].offset < ATTR_BYTES_MAX)
			s->attr[s->call->pokes[i].offset] = s->call->pokes[i].byte;
}

void situation_begin(struct situation *s, const struct machine *machine, const struct call *call,
		     const struct caller *caller, const struct world *world)
{
	memset(s->state, FACT_NEW, sizeof(s->state));
	s->machine = machine;
	s->call = call;
	s->caller = caller;
	s->world = world;
	s->event = NULL;
	s->path = NULL;
	s->file = NULL;
	s->task_was_sought = s->task_is_known = s->pmu.was_sought = false;
	read_attr(s);
	for (size_t i = 0; i < world->event_count && call->group_fd != -1; i++)
		if (world->events[i].fd == call->group_fd)
			s->event = &world->events[i];
	for (size_t i = 0; i < world->file_count; i++)
		if (world->files[i].fd == call->pid)
			s->file = &world->files[i];
}

bool situation_has_task(const struct situation *s)
{
	return s->call->pid != -1 && !(s->call->flags & s->machine->pid_cgroup);
}

const struct world_task *situation_task(struct situation *s)
{
	if (!s->task_was_sought) {
		s->task_was_sought = true;
		s->task_is_known = world_task(s->world, s->caller, s->call->pid, &s->task);
	}
	return s->task_is_known ? &s->task : NULL;
}
