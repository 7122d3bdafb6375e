/* SPDX-License-Identifier: MIT */
/*
 * What is done with the event once it is open, here or on a machine that is only told of.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/names.h"
#include "why/asking.h"

/* 256 MiB of pages of 4 KiB: more is not locked to try. */
enum { SENTENCE = 1024, LARGEST_TRIED = 1 << 16 };

/* The checks of the step's family that give that errno. */
static void tell_step(json_t *json, const struct follow *follow, int err, struct asking *a)
{
	const struct inquiry *inquiry = a->inquiry;
	char text[SENTENCE];

	follow_write(follow, text, sizeof(text));
	json_object_set_new(json, "call", json_string(text));
	a->asker.world.then = &follow->then;
	situation_begin(&a->asker.situation, &inquiry->model->machine, &a->call, &a->asker.caller,
			&a->asker.world);
	if (!err)
		return;
	json_object_set_new(json, "errno", json_string(errno_name(err)));
	tell_suspects(json, err, follow->then.family, a);
}

/* The largest buffer of 2^n pages, and of fewer than were asked for, that can be mapped now; 0:
 * none. */
static uint64_t largest_buffer(const struct environment *env, int fd, uint64_t length)
{
	uint64_t most = length / env->page_size, pages = 1;

	while (pages * 2 < most && pages < LARGEST_TRIED)
		pages *= 2;
	for (; pages; pages /= 2) {
		size_t size = (size_t)(pages + 1) * env->page_size;
		void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (at == MAP_FAILED)
			continue;
		munmap(at, size);
		return pages;
	}
	return 0;
}

/* What was to be done with the event: done, as far as it goes. */
static void follow_here(struct asking *a, json_t *list, int fd)
{
	const struct environment *env = a->inquiry->model->machine.env;
	struct followed_buffer buffer = {0};

	for (size_t i = 0; i < a->inquiry->follow_count; i++) {
		struct follow follow = a->inquiry->follows[i];
		json_t *json = json_object();
		int err;

		follow.then.buffer = buffer.length;
		err = follow_settle(&follow, a->asker.stage->scope)
			      ? EBADF
			      : follow_do(&follow, env, fd, &buffer);
		tell_step(json, &follow, err, a);
		if ((err == EPERM || err == ENOMEM) && follow.verb == FOLLOW_MMAP && !buffer.at)
			json_object_set_new(json, "largest",
					    json_integer((json_int_t)largest_buffer(
						    env, fd, follow.then.length)));
		json_array_append_new(list, json);
		if (err)
			return;
	}
}

/* The errno of the first check of the step's family that is known to refuse; 0: none is. */
static int foresee_step(const struct follow *follow, struct asking *a)
{
	const struct model *model = a->inquiry->model;

	a->asker.world.then = &follow->then;
	situation_begin(&a->asker.situation, &model->machine, &a->call, &a->asker.caller,
			&a->asker.world);
	for (size_t i = 0; i < model->suspect_count; i++) {
		const struct check *check = &model->suspects[i];
		const struct fact *why;

		if (check->when && check->id[0] == follow->then.family &&
		    predicate_holds(check->when, &model->facts, &a->asker.situation, &why) == HOLDS)
			return check->result.err;
	}
	return 0;
}

/* On another machine the last is what somebody was told. */
static void follow_there(struct asking *a, json_t *list)
{
	uint64_t buffer = 0;

	for (size_t i = 0; i < a->inquiry->follow_count; i++) {
		struct follow follow = a->inquiry->follows[i];
		json_t *json = json_object();
		bool is_last = i + 1 == a->inquiry->follow_count;
		int err;

		follow.then.buffer = buffer;
		if (follow.verb == FOLLOW_MMAP && !follow.then.offset)
			buffer = follow.then.length;
		if (follow.verb == FOLLOW_MUNMAP)
			buffer = 0;
		err = is_last && a->inquiry->told_behind
			      ? errno_by_name(a->inquiry->told_behind, NULL)
			      : foresee_step(&follow, a);
		tell_step(json, &follow, err, a);
		json_array_append_new(list, json);
		if (err)
			return;
	}
}

void follow_all(struct asking *a)
{
	struct answer answer = {.fd = -1};
	json_t *list = json_array();

	if (!a->asker.attempts)
		follow_there(a, list);
	else if (!call_issue(&a->call, a->inquiry->model->machine.env, &answer) && answer.fd >= 0) {
		follow_here(a, list, answer.fd);
		close(answer.fd);
	}
	json_object_set_new(a->answer, "then", list);
}
