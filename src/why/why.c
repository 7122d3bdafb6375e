/* SPDX-License-Identifier: MIT */
/*
 * The caller's own explanation, and what others would meet.
 */
#include "why/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language/keys.h"
#include "machine/sysctl.h"
#include "why/explain.h"

enum { SENTENCE = 1024, ALONE_SECONDS = 2, STEADY_TRIES = 5 };

/* Where a question stands that is no file. */
static const struct source asked = {.name = "question", .root = "", .text = "{}", .length = 2};

/* `given` is of the caller, and no other. */
static int plan_question(struct why *why, struct error *e)
{
	const struct question *q = why->question;
	const struct where root = where_root(&asked);
	json_t *json, *step;
	size_t i;

	json_array_foreach(q->given, i, step) {
		if (json_object_get(step, "become"))
			return error_value(e, AT_INDEX(AT_KEY(&root, "given"), i), step,
					   "no `become`; `as` says who calls");
	}
	json = json_pack("{s:{s:{s:O}}}", "calls", "asked", "open", q->open);
	if (q->given)
		json_object_set(json, "given", q->given);
	return stage_load_json(&why->plan, json, &root, why->tables, e);
}

static int plan_then(struct why *why, struct error *e)
{
	const json_t *then = why->question->then;
	const struct where root = where_root(&asked), at_then = where_key(&root, "then");
	size_t count = elements(then);

	if (count > THEN_MOST)
		return error_text(e, &at_then, "more", "at most %d calls", THEN_MOST);
	for (; why->then_count < count; why->then_count++) {
		const struct where at_one = where_index(&at_then, why->then_count);

		if (then_from_json(&why->then[why->then_count], element(then, why->then_count),
				   why->model->machine.env,
				   json_is_array(then) ? &at_one : &at_then, e))
			return -EINVAL;
	}
	return 0;
}

/* Whether it has more rights than the one who asked: to perf, CAP_SYS_ADMIN is CAP_PERFMON, too. */
static bool has_more_rights(const struct why *why, enum identity as)
{
	return as != why->as && as != AS_USER &&
	       (why->as == AS_USER || as == AS_ROOT ||
		(why->as == AS_PERFMON && as == AS_SYS_ADMIN));
}

/* Whether perfabi can become it here. */
static bool can_be(const struct why *why, enum identity as)
{
	char text[128];

	return why->is_tried &&
	       identity_available(&why->model->machine.env->rights, as, text, sizeof(text));
}

/* What the call comes to for another caller, or on the machine as it is now; NULL: not known. */
static const struct cause *ask_briefly(const struct why *why, enum identity as, bool is_tried)
{
	const struct manner manner = {.as = as, .is_tried = is_tried, .is_brief = true};
	const struct explanation *x = explain(why, &manner);

	return x->failure ? NULL : &x->cause;
}

/* Adds it, by what the call comes to then. */
static void add_remedy(struct explanation *x, struct remedy_found *remedy,
		       const struct cause *other)
{
	remedy->unsure = other->opened == SAID_YES ? NULL : other->unknown;
	explanation_add(x, remedy);
}

/* What refuses the call behind the check that the caller met. */
static void note_behind(const struct why *why, struct explanation *x, const struct cause *other)
{
	const char *check = other->check ? other->check : "";
	struct cause *behind;

	if (!strcmp(check, x->cause.check ? x->cause.check : ""))
		return;
	for (size_t i = 0; i < x->behind_count; i++)
		if (!strcmp(x->behind[i].check ? x->behind[i].check : "", check))
			return;
	if (x->behind) {
		behind = &x->behind[x->behind_count++];
	} else {
		behind = x->behind_others = pool_take(why->pool, 1, sizeof(*behind));
		x->behind_others_count = 1;
	}
	*behind = *other;
	behind->opened = UNSAID;
}

/* The first of those with more rights who may. */
static void try_callers(const struct why *why, struct explanation *x)
{
	const struct cause *last = NULL;

	for (size_t i = 0; i < why->knowledge->caller_count; i++) {
		const struct caller_change *caller = &why->knowledge->callers[i];
		enum identity as = (enum identity)caller->as;
		bool is_tried = can_be(why, as);
		const struct cause *other =
			has_more_rights(why, as) ? ask_briefly(why, as, is_tried) : NULL;
		struct remedy_found remedy;

		if (!other)
			continue;
		last = other;
		if ((is_tried || !why->is_tried) && x->caller_count < IDENTITIES)
			x->callers[x->caller_count++] = (struct came){
				identity_names[as], other->opened == SAID_YES  ? "opens"
						    : other->opened == SAID_NO ? other->err
									       : "unknown"};
		if (other->opened == SAID_NO)
			continue;
		remedy = remedy_new(why->pool, caller->says, NULL);
		remedy.as = identity_names[as];
		remedy.is_tried = is_tried;
		add_remedy(x, &remedy, other);
		return;
	}
	if (last)
		note_behind(why, x, last);
}

/* Where nothing else helps: another caller, who changes the call, too. */
static void try_callers_with_changes(const struct why *why, struct explanation *x)
{
	const struct knowledge *k = why->knowledge;

	for (size_t i = 0; i < k->caller_count && !x->remedy_count; i++) {
		enum identity as = (enum identity)k->callers[i].as;
		const struct manner manner = {.as = as, .is_tried = can_be(why, as)};
		const struct explanation *other;

		if (!has_more_rights(why, as))
			continue;
		other = explain(why, &manner);
		for (size_t j = 0; j < other->remedy_count; j++) {
			struct remedy_found remedy = other->remedies[j];

			memmove(&remedy.does[1], remedy.does,
				(DOES_MOST - 1) * sizeof(*remedy.does));
			remedy.does[0] = k->callers[i].says;
			remedy.as = identity_names[as];
			explanation_add(x, &remedy);
		}
		x->is_cut = x->is_cut || other->is_cut;
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
static const struct cause *ask_with_sysctl(struct why *why, const struct sysctl_change *change,
					   int value)
{
	struct environment *env = why->model->machine.env;
	struct sysctl_set set = {.has = {false}};
	int before = env->sysctls[change->set.place];
	const struct cause *cause = NULL;
	json_t *sysctls;
	const char *failed;

	if (change->is_untried || why->is_spoiled || !why->restorer ||
	    !wait_until_alone(why->restorer))
		return NULL;
	sysctls = json_pack("{s:i}", change->set.name, value);
	set.has[change->set.place] = true;
	if (!machine_set(why->restorer, sysctls, &set, &failed)) {
		environment_read_alone(env);
		cause = ask_briefly(why, why->as, true);
	}
	machine_restore(why->restorer);
	machine_lock_try(machine_lock_of(why->restorer), false); /* others may run again */
	environment_read_alone(env);
	why->is_spoiled = env->sysctls[change->set.place] != before;
	json_decref(sysctls);
	return cause;
}

/* The same on a machine that is only told of; what a plain event gave there was of the old value.
 */
static const struct cause *ask_as_if(struct why *why, const struct sysctl_change *change, int value)
{
	struct environment *env = why->model->machine.env;
	int *sysctl = &env->sysctls[change->set.place], was = *sysctl;
	int control = env->control[AS_USER];
	const struct cause *cause;

	*sysctl = value;
	if (sysctl == &env->sysctls[SYSCTL_PARANOID] && value < was)
		env->control[AS_USER] = 0;
	cause = ask_briefly(why, why->as, false);
	*sysctl = was;
	env->control[AS_USER] = control;
	return cause;
}

/* The first sysctl with which the caller may, by the facts of the situation. */
static void try_sysctls_in(struct why *why, struct explanation *x, struct situation *s)
{
	const struct knowledge *k = why->knowledge;
	const struct facts *facts = &why->model->facts;

	for (size_t i = 0; i < k->sysctl_count; i++) {
		const struct sysctl_change *change = &k->sysctls[i];
		const struct cause *other;
		const struct fact *unknown;
		struct remedy_found remedy;
		char loses[SENTENCE];
		bool is_tried;
		uint64_t value;

		if (predicate_holds(change->when, facts, s, &unknown) != HOLDS ||
		    !right_side_get(&change->set.to, facts, s, &value))
			continue;
		other = ask_with_sysctl(why, change, (int)value);
		is_tried = other != NULL;
		if (!is_tried)
			other = ask_as_if(why, change, (int)value);
		if (!other || other->opened == SAID_NO)
			continue;
		sentence_write(&change->loses, facts, s, loses, sizeof(loses));
		remedy = remedy_new(why->pool,
				    pool_print(why->pool, "set the sysctl kernel.%s to %d",
					       change->set.name, (int)value),
				    pool_print(why->pool, "%s", loses));
		remedy.sysctl = change->set.name;
		remedy.value = (int)value;
		remedy.is_tried = is_tried;
		add_remedy(x, &remedy, other);
		return;
	}
}

/* The facts of the call that sysctls go by are attr's and the machine's. */
static void try_sysctls(struct why *why, struct explanation *x)
{
	struct machine *machine = &why->model->machine;
	struct stage *stage = calloc(1, sizeof(*stage));
	struct situation *s = calloc(1, sizeof(*s));
	struct caller caller = caller_as(&machine->env->rights, why->as);

	if (stage && s && !stage_imagine(stage, &why->plan, why->model)) {
		situation_begin(s, machine, &stage->seeds[0].call, &caller, &stage->world);
		try_sysctls_in(why, x, s);
	}
	if (stage)
		stage_forget(stage);
	free(stage);
	free(s);
}

static const char *who_is(const struct why *why)
{
	const struct knowledge *k = why->knowledge;
	bool is_confined = !why->model->machine.env->rights.init_user_namespace;

	for (size_t i = 0; i < k->caller_count; i++)
		if (k->callers[i].as == (int)why->as)
			return is_confined && k->callers[i].is_confined ? k->callers[i].is_confined
									: k->callers[i].is;
	return identity_names[why->as];
}

/* What was told is of the open, or of the last of the calls behind it. */
static void compare_with_told(const struct why *why, struct explanation *x)
{
	const struct cause *last = &x->cause;

	x->told = why->question->told;
	if (why->question->told_behind) {
		x->told = why->question->told_behind;
		if (x->then && x->then_count == why->then_count)
			last = &x->then[x->then_count - 1].cause;
	}
	if (!x->told || (last == &x->cause && last->opened == UNSAID))
		return;
	x->as_told = strcmp(x->told, last->err ? last->err : "ok") ? SAID_NO : SAID_YES;
}

/* Asks again if somebody has changed a sysctl meanwhile: the answer is of one machine. */
static struct explanation *explain_steadily(const struct why *why)
{
	const struct manner manner = {.as = why->as, .is_tried = why->is_tried};
	struct environment *env = why->model->machine.env;
	struct explanation *x;
	int before[SYSCTLS];

	for (unsigned i = 0;; i++) {
		if (why->is_tried)
			environment_read_sysctls(env);
		memcpy(before, env->sysctls, sizeof(before));
		x = explain(why, &manner);
		if (why->is_tried)
			environment_read_sysctls(env);
		if (!memcmp(before, env->sysctls, sizeof(before)) || i == STEADY_TRIES - 1)
			return x;
		environment_read_alone(env);
	}
}

struct explanation *why_explain(struct why *why, struct error *e)
{
	const struct where root = where_root(&asked);
	struct explanation *x;

	why->pool = pool_new();
	if (!why->pool) {
		error_no_memory(e, &root, "memory for an answer");
		return NULL;
	}
	if (plan_question(why, e) || plan_then(why, e))
		return NULL;
	if (why->is_tried)
		stage_look_up(&why->plan, why->model->machine.env);
	x = explain_steadily(why);
	if (x->failure) {
		error_text(e, &root, x->failure, "an answer");
		e->line = 0;
		return NULL;
	}
	x->as = identity_names[why->as];
	x->caller = who_is(why);
	x->is_tried = why->is_tried;
	compare_with_told(why, x);
	x->instead_of = why->question->notes;
	if (x->cause.opened == SAID_NO) {
		try_callers(why, x);
		try_sysctls(why, x);
		try_callers_with_changes(why, x);
	}
	return x;
}

void why_free(struct why *why)
{
	stage_free_plan(&why->plan);
	pool_free(why->pool);
}
