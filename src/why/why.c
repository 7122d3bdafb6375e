/* SPDX-License-Identifier: MIT */
/*
 * The caller's own answer, and what others would meet.
 */
#include "why/why.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/attr.h"
#include "call/phase.h"
#include "machine/names.h"
#include "machine/sysctl.h"
#include "step/expect.h"
#include "text/json_text.h"
#include "why/asking.h"

/*
 * The answer is written where the caller stands, and handed over as text.
 */

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
	for (size_t i = 0; i < stage->steps->child_count; i++)
		if (stage->steps->children[i].id > 0 && !stage->steps->children[i].is_thread)
			kill(stage->steps->children[i].id, SIGKILL);
	return hand_over(a->answer, s);
}

/*
 * Asks as that caller: in a process of its own, where it is tried. A new reference to an object, of
 * which docs/why.md tells; NULL with `why` filled.
 */
static json_t *inquire(const struct inquiry *inquiry, enum identity as, char *why, size_t size)
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

enum { WHY_TEXT = 700, ALONE_SECONDS = 2, STEADY_TRIES = 5 };

/* An answer on its way. */
struct answering {
	const struct why *why;
	struct inquiry inquiry;
	struct plan_of_stage plan;
	json_t *answer, *changes;
	bool is_spoiled; /* a sysctl is not as it was: none is changed any more */
	char failure[WHY_TEXT];
};

/* Where a question stands that is no file. */
static const struct source asked = {.name = "question", .root = "", .text = "{}", .length = 2};

static int fail_answer(struct answering *a, struct error *e)
{
	const struct where root = where_root(&asked);

	error_text(e, &root, a->failure, "an answer");
	e->line = 0;
	return -EINVAL;
}

/* `given` is of the caller, and no other. */
static int check_given(const struct question *q, const struct where *root, struct error *e)
{
	json_t *step;
	size_t i;

	json_array_foreach(q->given, i, step) {
		if (json_object_get(step, "become"))
			return error_value(e, AT_INDEX(AT_KEY(root, "given"), i), step,
					   "no `become`; `as` says who calls");
	}
	return 0;
}

static int plan_question(struct answering *a, struct error *e)
{
	const struct question *q = a->why->question;
	const struct where root = where_root(&asked);
	json_t *json;

	if (check_given(q, &root, e))
		return -EINVAL;
	json = json_pack("{s:{s:{s:O}}}", "calls", "asked", "open", q->open);
	if (q->given)
		json_object_set(json, "given", q->given);
	return stage_load_json(&a->plan, json, &root, a->why->tables, e);
}

static int plan_follows(struct answering *a, struct error *e)
{
	const json_t *then = a->why->question->then;
	const struct where root = where_root(&asked), at_then = where_key(&root, "then");
	size_t count = json_is_array(then) ? json_array_size(then) : then != NULL;

	if (count > FOLLOWS_MAX)
		return error_text(e, &at_then, "more", "at most %d calls", FOLLOWS_MAX);
	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_is_array(then) ? json_array_get(then, i) : then;

		if (follow_from_json(&a->inquiry.follows[i], one, a->why->model->machine.env,
				     json_is_array(then) ? AT_INDEX(&at_then, i) : &at_then, e))
			return -EINVAL;
		a->inquiry.follow_count++;
	}
	return 0;
}

static bool was_opened(const json_t *answer)
{
	return json_is_true(json_object_get(answer, "opened"));
}

static bool was_refused(const json_t *answer)
{
	return json_is_false(json_object_get(answer, "opened"));
}

/* Whether it has more rights than the one who asked: to perf, CAP_SYS_ADMIN is CAP_PERFMON, too. */
static bool has_more_rights(const struct answering *a, enum identity as)
{
	return as != a->why->as && as != AS_USER &&
	       (a->why->as == AS_USER || as == AS_ROOT ||
		(a->why->as == AS_PERFMON && as == AS_SYS_ADMIN));
}

/* Whether perfabi can become it here. */
static bool can_be(const struct answering *a, enum identity as)
{
	char text[128];

	return a->inquiry.is_tried &&
	       identity_available(&a->why->model->machine.env->rights, as, text, sizeof(text));
}

/* What the call comes to for another caller, or on the machine as it is now; NULL: not known. */
static json_t *ask_briefly(const struct answering *a, enum identity as, bool is_tried)
{
	struct inquiry brief = a->inquiry;
	char failure[WHY_TEXT];

	brief.is_brief = true;
	brief.is_tried = is_tried;
	return inquire(&brief, as, failure, sizeof(failure));
}

static void add_change(struct answering *a, json_t *change, const json_t *other, bool is_tried)
{
	if (!was_opened(other))
		json_object_set(change, "unsure", json_object_get(other, "unknown"));
	json_object_set_new(change, "tried", json_boolean(is_tried));
	put_change(a->changes, change);
}

/* What refuses the call behind the check that the caller met. */
static void note_behind(struct answering *a, const json_t *other)
{
	json_t *behind = json_object_get(a->answer, "behind"), *copy, *one;
	size_t i;

	if (!strcmp(member_text(other, "check"), member_text(a->answer, "check")))
		return;
	json_array_foreach(behind, i, one)
		if (!strcmp(member_text(one, "check"), member_text(other, "check")))
			return;
	if (!behind) {
		json_object_set_new(a->answer, "behind", json_array());
		behind = json_object_get(a->answer, "behind");
	}
	copy = json_copy((json_t *)other);
	json_object_del(copy, "opened");
	json_object_del(copy, "call");
	json_array_append_new(behind, copy);
}

/* The first of those with more rights who may. */
static void try_callers(struct answering *a)
{
	const struct knowledge *k = a->why->knowledge;
	json_t *callers = json_object(), *last = NULL;
	bool any = false;

	for (size_t i = 0; i < k->caller_count && !any; i++) {
		enum identity as = (enum identity)k->callers[i].as;
		bool is_tried = can_be(a, as);
		json_t *other = has_more_rights(a, as) ? ask_briefly(a, as, is_tried) : NULL;

		if (!other)
			continue;
		any = !was_refused(other);
		if (is_tried || !a->inquiry.is_tried)
			json_object_set_new(callers, identity_names[as],
					    json_string(was_opened(other) ? "opens"
							: was_refused(other)
								? member_text(other, "errno")
								: "unknown"));
		if (any)
			add_change(a,
				   json_pack("{s:[s],s:[],s:s}", "do", k->callers[i].says, "loses",
					     "as", identity_names[as]),
				   other, is_tried);
		json_decref(last);
		last = other;
	}
	if (last && was_refused(last))
		note_behind(a, last);
	json_decref(last);
	if (json_object_size(callers))
		json_object_set(a->answer, "callers", callers);
	json_decref(callers);
}

/* Where nothing else helps: another caller, who changes the call, too. */
static void try_callers_with_changes(struct answering *a)
{
	const struct knowledge *k = a->why->knowledge;

	for (size_t i = 0; i < k->caller_count && !json_array_size(a->changes); i++) {
		enum identity as = (enum identity)k->callers[i].as;
		struct inquiry whole = a->inquiry;
		char failure[WHY_TEXT];
		json_t *other, *change, *does;
		size_t j;

		if (!has_more_rights(a, as))
			continue;
		whole.is_tried = can_be(a, as);
		other = inquire(&whole, as, failure, sizeof(failure));
		json_array_foreach(json_object_get(other, "changes"), j, change) {
			does = json_object_get(change, "do");
			json_array_insert_new(does, 0, json_string(k->callers[i].says));
			json_object_set_new(change, "as", json_string(identity_names[as]));
			put_change(a->changes, json_incref(change));
		}
		if (json_object_get(other, "cut"))
			json_object_set_new(a->answer, "cut", json_true());
		json_decref(other);
	}
}

/* Waits, not for ever, until no other perfabi runs. */
static bool wait_until_alone(struct restorer *restorer)
{
	if (machine_lock_wait(machine_lock_of(restorer), true, ALONE_SECONDS))
		return machine_lock_is_there(machine_lock_of(restorer));
	machine_lock_try(machine_lock_of(restorer), false); /* to give up our place */
	return false;
}

/* What the call comes to with that sysctl on this machine, which has its own back afterwards; NULL:
 * it could not be tried. */
static json_t *ask_with_sysctl(struct answering *a, const struct sysctl_change *change, int value)
{
	struct environment *env = a->why->model->machine.env;
	struct sysctl_set set = {.has = {false}};
	int before = env->sysctls[change->set.place];
	json_t *sysctls, *answer = NULL;
	const char *failed;

	if (change->is_untried || a->is_spoiled || !a->why->restorer ||
	    !wait_until_alone(a->why->restorer))
		return NULL;
	sysctls = json_pack("{s:i}", change->set.name, value);
	set.has[change->set.place] = true;
	if (!machine_set(a->why->restorer, sysctls, &set, &failed)) {
		environment_read_alone(env);
		answer = ask_briefly(a, a->why->as, true);
	}
	machine_restore(a->why->restorer);
	machine_lock_try(machine_lock_of(a->why->restorer), false); /* others may run again */
	environment_read_alone(env);
	a->is_spoiled = env->sysctls[change->set.place] != before;
	json_decref(sysctls);
	return answer;
}

/* The same on a machine that is only told of; what a plain event gave there was of the old value.
 */
static json_t *ask_as_if(struct answering *a, const struct sysctl_change *change, int value)
{
	struct environment *env = a->why->model->machine.env;
	int *sysctl = &env->sysctls[change->set.place], was = *sysctl;
	int control = env->control[AS_USER];
	json_t *answer;

	*sysctl = value;
	if (sysctl == &env->sysctls[SYSCTL_PARANOID] && value < was)
		env->control[AS_USER] = 0;
	answer = ask_briefly(a, a->why->as, false);
	*sysctl = was;
	env->control[AS_USER] = control;
	return answer;
}

/* The facts of the call that sysctls go by are attr's and the machine's. */
static bool begin_situation(struct answering *a, struct stage *stage, struct situation *s,
			    struct caller *caller)
{
	struct model *model = a->why->model;

	if (stage_imagine(stage, &a->plan, model))
		return false;
	*caller = caller_as(&model->machine.env->rights, a->why->as);
	situation_begin(s, &model->machine, &stage->seeds[0].call, caller, &stage->world);
	return true;
}

/* The first sysctl with which the caller may. */
static void try_sysctls(struct answering *a)
{
	const struct knowledge *k = a->why->knowledge;
	const struct facts *facts = &a->why->model->facts;
	struct stage *stage = calloc(1, sizeof(*stage));
	struct situation *s = calloc(1, sizeof(*s));
	struct caller caller;
	bool any = false, begun = stage && s && begin_situation(a, stage, s, &caller);

	for (size_t i = 0; begun && i < k->sysctl_count && !any; i++) {
		const struct sysctl_change *change = &k->sysctls[i];
		const struct fact *unknown;
		char loses[WHY_TEXT];
		bool is_tried;
		json_t *other;
		uint64_t value;

		if (predicate_holds(change->when, facts, s, &unknown) != HOLDS ||
		    !right_side_get(&change->set.to, facts, s, &value))
			continue;
		other = ask_with_sysctl(a, change, (int)value);
		is_tried = other != NULL;
		if (!is_tried)
			other = ask_as_if(a, change, (int)value);
		any = other && !was_refused(other);
		sentence_write(&change->loses, facts, s, loses, sizeof(loses));
		if (any)
			add_change(a,
				   json_pack("{s:[o],s:[s],s:{s:i}}", "do",
					     json_sprintf("set the sysctl kernel.%s to %d",
							  change->set.name, (int)value),
					     "loses", loses, "sysctl", change->set.name,
					     (int)value),
				   other, is_tried);
		json_decref(other);
	}
	if (stage)
		stage_forget(stage);
	free(stage);
	free(s);
}

static const char *who_is(const struct answering *a)
{
	const struct knowledge *k = a->why->knowledge;
	bool is_confined = !a->why->model->machine.env->rights.init_user_namespace;

	for (size_t i = 0; i < k->caller_count; i++)
		if (k->callers[i].as == (int)a->why->as)
			return is_confined && k->callers[i].is_confined ? k->callers[i].is_confined
									: k->callers[i].is;
	return identity_names[a->why->as];
}

static void tell_told(struct answering *a, const char *told, const char *got)
{
	json_object_set_new(a->answer, "told", json_string(told));
	if (got)
		json_object_set_new(a->answer, "as_told", json_boolean(!strcmp(told, got)));
}

/* What was told is of the open, or of the last of the calls behind it. */
static void compare_with_told(struct answering *a)
{
	const json_t *then = json_object_get(a->answer, "then");
	const json_t *last = json_array_get(then, a->inquiry.follow_count - 1);
	const char *got = was_opened(a->answer)    ? "ok"
			  : was_refused(a->answer) ? member_text(a->answer, "errno")
						   : NULL;

	if (a->inquiry.told)
		tell_told(a, a->inquiry.told, got);
	if (a->inquiry.told_behind && last)
		got = json_object_get(last, "errno") ? member_text(last, "errno") : "ok";
	if (a->inquiry.told_behind)
		tell_told(a, a->inquiry.told_behind, got);
}

/* perf's sysctls as they are now. */
static void read_sysctls(struct environment *env, int values[SYSCTLS])
{
	environment_read_sysctls(env);
	for (size_t i = 0; sysctl_names[i]; i++)
		values[i] = env->sysctls[i];
}

/* Asks again if somebody has changed a sysctl meanwhile: the answer is of one machine. */
static json_t *inquire_steadily(struct answering *a)
{
	struct environment *env = a->why->model->machine.env;
	json_t *answer = NULL;

	for (unsigned i = 0; i < STEADY_TRIES; i++) {
		int before[SYSCTLS] = {0}, after[SYSCTLS] = {0};

		if (a->inquiry.is_tried)
			read_sysctls(env, before);
		json_decref(answer);
		answer = inquire(&a->inquiry, a->why->as, a->failure, sizeof(a->failure));
		if (!a->inquiry.is_tried)
			return answer;
		read_sysctls(env, after);
		if (!memcmp(before, after, sizeof(before)))
			return answer;
		environment_read_alone(env);
	}
	return answer;
}

static int begin_answer(struct answering *a, struct error *e)
{
	const struct why *why = a->why;

	a->inquiry = (struct inquiry){.model = why->model,
				      .tables = why->tables,
				      .knowledge = why->knowledge,
				      .plan = &a->plan,
				      .told = json_string_value(why->question->told),
				      .told_behind = json_string_value(why->question->told_behind),
				      .is_tried = why->is_tried};
	if (plan_question(a, e) || plan_follows(a, e))
		return -EINVAL;
	if (why->is_tried)
		stage_look_up(&a->plan, why->model->machine.env);
	return 0;
}

json_t *why_answer(const struct why *why, struct error *e)
{
	struct answering a = {.why = why};

	if (!begin_answer(&a, e)) {
		a.answer = inquire_steadily(&a);
		if (!a.answer)
			fail_answer(&a, e);
	}
	if (a.answer) {
		json_object_set_new(a.answer, "as", json_string(identity_names[why->as]));
		json_object_set_new(a.answer, "caller", json_string(who_is(&a)));
		json_object_set_new(a.answer, "tried", json_boolean(why->is_tried));
		compare_with_told(&a);
		if (why->question->notes)
			json_object_set(a.answer, "instead_of", why->question->notes);
	}
	if (a.answer && was_refused(a.answer)) {
		a.changes = json_object_get(a.answer, "changes");
		try_callers(&a);
		try_sysctls(&a);
		try_callers_with_changes(&a);
	}
	stage_free_plan(&a.plan);
	return a.answer;
}
