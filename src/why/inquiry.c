/* SPDX-License-Identifier: MIT */
/*
 * The answer is written where the caller stands, and handed over as text.
 */
#include "why/inquiry.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/attr.h"
#include "call/phase.h"
#include "machine/names.h"
#include "step/expect.h"

enum { CALL_TEXT = 4096, SECONDS = 30 };

/* The gates that can have refused it, by witnesses on the kernel. */
static void tell_gates(struct asking *a)
{
	const struct model *model = a->inquiry->model;
	json_t *gates;
	unsigned mask;

	if (a->found.outcome != REFUSED)
		return;
	gates = json_array();
	if (a->asker.attempts && !a->asker.stage->no_files) {
		mask = phase_infer(model->phases, &a->call, a->found.err, a->zombie,
				   model->machine.env);
		for (size_t i = 0; i < model->phases->count; i++)
			if (mask >> i & 1)
				json_array_append_new(gates,
						      json_string(model->phases->list[i].name));
		json_object_set(a->answer, "witnessed", gates);
	}
	if (a->found.check && a->found.is_foreseen)
		json_object_set_new(a->answer, "gate",
				    json_string(model->phases->list[a->found.check->gate].name));
	json_decref(gates);
}

/* As strace would show it. */
static void tell_call(struct asking *a)
{
	struct answer answer = {.fd = a->found.outcome == OPENS ? 3 : -1, .err = a->found.err};
	char text[CALL_TEXT], *end;

	call_format(&a->call, &answer, a->inquiry->model->machine.env, text, sizeof(text));
	end = strstr(text, ") = ");
	if (a->found.outcome == UNFORESEEN && end) /* nobody has made it */
		end[1] = '\0';
	json_object_set_new(a->answer, "call", json_string(text));
}

/* All that is to be said of the call. */
static void ask_all(struct asking *a)
{
	const struct inquiry *inquiry = a->inquiry;
	bool opens = a->found.outcome == OPENS ||
		     (a->found.outcome == UNFORESEEN && was_told_ok(inquiry)) ||
		     (inquiry->follow_count && a->found.outcome != REFUSED);

	tell_gates(a);
	if (!opens)
		json_object_set_new(a->answer, "others",
				    remarks_of(&inquiry->knowledge->others, a));
	if (opens) {
		count_call(a, &a->call);
		tell_counted(a);
		json_object_set_new(a->answer, "notes", remarks_of(&inquiry->knowledge->notes, a));
		if (inquiry->follow_count)
			follow_all(a);
	} else {
		seek_remedies(a);
	}
}

static void ask(struct asking *a)
{
	a->asker.world.told = told_errno(a->inquiry);
	a->asker.looks_behind = a->inquiry->is_brief;
	a->found = asker_ask(&a->asker, &a->call);
	a->asker.looks_behind = true;
	tell_call(a);
	tell_finding(a->answer, &a->found, a);
	if (!a->inquiry->is_brief)
		ask_all(a);
}

/* Of a machine that is not this one, by the model. */
static json_t *inquire_there(const struct inquiry *inquiry, enum identity as, char *why,
			     size_t size)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	struct asking *a = calloc(1, sizeof(*a));
	json_t *answer = NULL;
	int err = stage && a ? stage_imagine(stage, inquiry->plan, inquiry->model) : -ENOMEM;

	if (err) {
		snprintf(why, size, "%s",
			 err == -ENOENT ? "the call names what its `given` does not bind"
					: strerror(-err));
	} else {
		answer = json_object();
		*a = (struct asking){
			.inquiry = inquiry,
			.asker = {.model = inquiry->model,
				  .stage = stage,
				  .caller = caller_as(&inquiry->model->machine.env->rights, as),
				  .world = stage->world},
			.call = stage->seeds[0].call,
			.answer = answer};
		a->asker.caller.has_files = !stage->no_files;
		ask(a);
	}
	if (stage)
		stage_forget(stage);
	free(stage);
	free(a);
	return answer;
}

enum { SHARED = 1 << 20 };

/* What the child that stands in the caller's place is given. */
struct standing {
	const struct inquiry *inquiry;
	enum identity as;
	char *text; /* SHARED bytes: the answer, or behind a 0 what went wrong */
};

static void end_children(struct stage *stage)
{
	for (size_t i = 0; i < stage->steps->child_count; i++)
		if (stage->steps->children[i].id > 0 && !stage->steps->children[i].is_thread)
			kill(stage->steps->children[i].id, SIGKILL);
}

static int fail_standing(struct standing *s, const char *what, const char *why)
{
	snprintf(s->text + 1, SHARED - 1, "%s%s%s", what, *why ? ": " : "", why);
	return -EINVAL;
}

/* The answer as text for the one who waits. */
static int hand_over(const json_t *answer, struct standing *s)
{
	size_t n = json_dumpb(answer, NULL, 0, JSON_COMPACT);

	if (!n || n >= SHARED)
		return fail_standing(s, "the answer is too long to be handed over", "");
	json_dumpb(answer, s->text, SHARED, JSON_COMPACT);
	return 0;
}

/* Asks, as the caller that the process has become. 0 with the answer in s->text. */
static int stand_and_ask(void *context)
{
	struct standing *s = context;
	const struct inquiry *inquiry = s->inquiry;
	struct stage *stage = calloc(1, sizeof(*stage));
	struct asking *a = calloc(1, sizeof(*a));
	struct attempts attempts;
	struct who who = {.as = s->as};
	char failed[600];
	int err;

	if (!stage || !a)
		return fail_standing(s, "memory", "");
	attempts_survive_signals();
	err = attempts_begin(&attempts, inquiry->model->machine.env);
	if (err)
		return fail_standing(s, "memory for attrs", strerror(-err));
	*a = (struct asking){
		.inquiry = inquiry, .zombie = phase_make_zombie(), .answer = json_object()};
	err = stage_set(stage, inquiry->plan, inquiry->model, inquiry->tables, &who, 0);
	snprintf(failed, sizeof(failed), "step %zu: %s", stage->failed_step, stage->failure);
	if (err || stage->failed_step)
		return fail_standing(s, "what was `given` could not be had",
				     stage->failed_step ? failed : strerror(-err));
	a->asker = (struct asker){.model = inquiry->model,
				  .stage = stage,
				  .caller = caller_as(&inquiry->model->machine.env->rights, s->as),
				  .world = stage->world,
				  .attempts = &attempts};
	a->asker.caller.has_files = !stage->no_files;
	a->call = stage->seeds[0].call;
	ask(a);
	end_children(stage);
	return hand_over(a->answer, s);
}

json_t *inquire(const struct inquiry *inquiry, enum identity as, char *why, size_t size)
{
	struct standing s = {.inquiry = inquiry, .as = as};
	struct who who = {.as = as};
	json_t *answer = NULL;
	int err;

	if (!inquiry->is_tried)
		return inquire_there(inquiry, as, why, size);
	s.text = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.text == MAP_FAILED) {
		snprintf(why, size, "%s", strerror(errno));
		return NULL;
	}
	block_settle(&inquiry->plan->block, &who, inquiry->model->machine.env);
	err = identity_run(as, SECONDS, stand_and_ask, &s);
	if (!err)
		answer = json_loads(s.text, JSON_REJECT_DUPLICATES, NULL);
	if (!answer)
		snprintf(why, size, "%s",
			 !err                      ? "an answer that is no JSON"
			 : !s.text[0] && s.text[1] ? s.text + 1
			 : err == -EIO             ? "the process that was to ask was killed"
			 : err == -ETIMEDOUT       ? "the process that was to ask did not end"
						   : strerror(-err));
	munmap(s.text, SHARED);
	return answer;
}
