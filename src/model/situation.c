/* SPDX-License-Identifier: MIT */
/*
 * What of a call several facts need.
 */
#include "model/situation.h"

#include <string.h>
#include <unistd.h>

#include "abi/attr.h"
#include "model/processes.h"

/* The single bytes that a call lays over its attr. */
static void lay_over(const struct situation *s, unsigned char *attr, uint64_t end)
{
	for (size_t i = 0; i < s->call->poke_count; i++)
		if (s->call->pokes[i].offset < end)
			attr[s->call->pokes[i].offset] = s->call->pokes[i].byte;
}

/* The size comes first: it says how much there is to read. */
static void read_attr(struct situation *s)
{
	const struct abi *abi = s->machine->env->abi;
	const struct abi_field *size = s->machine->size;
	size_t kernels = s->machine->env->attr_size ? s->machine->env->attr_size : abi->attr_size;
	size_t n = size->offset + size->size;

	memcpy(s->attr, s->call->image, n);
	lay_over(s, s->attr, n);
	s->size_given = attr_get(size, s->attr, host_order());
	s->size = s->size_given ? s->size_given : abi->attr_smallest;
	n = s->size < kernels ? (size_t)s->size : kernels;
	n = n < ATTR_BYTES_MAX ? n : ATTR_BYTES_MAX;
	memset(s->attr, 0, sizeof(s->attr));
	memcpy(s->attr, s->call->image, n < abi->attr_size ? n : abi->attr_size);
	lay_over(s, s->attr, n);
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
	s->path_was_sought = false;
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

int32_t situation_pid(const struct situation *s)
{
	int32_t pid = s->call->pid;

	return pid > 0 && s->world->sees_processes && pid == (int32_t)gettid() ? 0 : pid;
}

bool situation_has_task(const struct situation *s)
{
	return s->call->pid != -1 && !(s->call->flags & s->machine->pid_cgroup);
}

const struct world_task *situation_task(struct situation *s)
{
	if (!s->task_was_sought) {
		s->task_was_sought = true;
		s->task_is_known = world_task(s->world, s->caller, situation_pid(s), &s->task);
	}
	return s->task_is_known ? &s->task : NULL;
}
