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
#include "why/count.h"
#include "why/search.h"

enum { SENTENCE = 1024, SUSPECTS = 6, DEAD_ENDS = 3, CALL_TEXT = 4096, SECONDS = 30 };

/* Who asks, and what about. */
struct asking {
	const struct inquiry *inquiry;
	struct asker asker;
	struct call call; /* that is asked about; its image is the stage's */
	struct finding found;
	struct counted counted;
	pid_t zombie; /* for the witnesses */
	json_t *answer;
};

static void set_sentence(json_t *json, const char *key, const struct sentence *sentence,
			 struct asking *a)
{
	char text[SENTENCE];

	if (!sentence->count)
		return;
	sentence_write(sentence, &a->inquiry->model->facts, &a->asker.situation, text,
		       sizeof(text));
	json_object_set_new(json, key, json_string(text));
}

static json_t *saying_json(const struct saying *saying, struct asking *a)
{
	json_t *json = json_object();

	set_sentence(json, "because", &saying->because, a);
	set_sentence(json, "instead", &saying->instead, a);
	return json;
}

/* Of a check's causes the one that holds; before it those that may. */
static void tell_causes(json_t *json, const struct check *check, struct asking *a)
{
	enum truth truth = DOES_NOT_HOLD;
	json_t *others = json_array();
	bool any = false;

	for (size_t i = 0; i < check->saying_count && truth != HOLDS; i++) {
		const struct saying *saying = &check->says[i];
		const struct fact *why;
		json_t *one;

		truth = saying->when ? predicate_holds(saying->when, &a->inquiry->model->facts,
						       &a->asker.situation, &why)
				     : HOLDS;
		if (truth == DOES_NOT_HOLD)
			continue;
		one = saying_json(saying, a);
		if (any)
			json_array_append(others, one);
		else
			json_object_update(json, one);
		any = true;
		json_decref(one);
	}
	if (json_array_size(others))
		json_object_set(json, "or", others);
	json_decref(others);
}

/* What a check is and says of the call whose situation the asker has. */
static void tell_check(json_t *json, const struct check *check, struct asking *a)
{
	json_object_set_new(json, "check", json_string(check->id));
	json_object_set(json, "function", json_object_get(check->json, "function"));
	tell_causes(json, check, a);
	if (!json_object_get(json, "because") && !check->unsaid.count)
		json_object_set(json, "because", json_object_get(check->json, "condition"));
}

/* What can be the cause where the model cannot tell: of checks whose ids begin with `family`. */
static void tell_suspects(json_t *json, int err, char family, struct asking *a)
{
	const struct model *model = a->inquiry->model;
	const struct check **suspects = calloc(model->suspect_count + 1, sizeof(struct check *));
	json_t *list = json_array();
	size_t n = 0;

	if (suspects)
		n = model_suspects(model, &a->asker.situation, err, suspects, model->suspect_count);
	for (size_t i = 0; i < n && json_array_size(list) < SUSPECTS; i++) {
		json_t *one = suspects[i]->id[0] == family ? json_object() : NULL;

		if (!one)
			continue;
		tell_check(one, suspects[i], a);
		json_array_append_new(list, one);
	}
	if (json_array_size(list))
		json_object_set(json, "suspects", list);
	json_decref(list);
	free(suspects);
}

static void tell_unknown(json_t *json, const struct finding *f, struct asking *a)
{
	if (f->check && f->check->unsaid.count)
		set_sentence(json, "unknown", &f->check->unsaid, a);
	else if (f->unknown && f->unknown->unknown)
		json_object_set_new(json, "unknown", json_string(f->unknown->unknown));
}

static int told_errno(const struct inquiry *inquiry)
{
	return inquiry->told ? errno_by_name(inquiry->told, NULL) : 0;
}

/* The finding as members of `json`, for the call whose situation the asker has. */
static void tell_finding(json_t *json, const struct finding *f, struct asking *a)
{
	int err = f->outcome == REFUSED ? f->err : told_errno(a->inquiry);

	if (f->outcome != UNFORESEEN)
		json_object_set_new(json, "opened", json_boolean(f->outcome == OPENS));
	if (f->outcome == REFUSED)
		json_object_set_new(json, "errno", json_string(errno_name(f->err)));
	if (f->outcome == REFUSED && f->is_foreseen && f->check) {
		tell_check(json, f->check, a);
		return;
	}
	if (f->outcome == OPENS)
		return;
	tell_unknown(json, f, a);
	tell_suspects(json, err, 'O', a);
}

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
	end = strrchr(text, ')');
	if (a->found.outcome == UNFORESEEN && (end = strstr(text, ") = ")))
		end[1] = '\0';
	json_object_set_new(a->answer, "call", json_string(text));
}

/* A number by the name that `given` has for such a thing; else as it is. */
static json_t *named_or_number(const struct asking *a, enum role role, int32_t value)
{
	const struct thing *thing = stage_thing(a->asker.stage, role, (uint64_t)value);

	return thing && thing->name ? json_sprintf("$%s", thing->name) : json_integer(value);
}

/* The call as `open` of a case has it. */
static json_t *open_as_json(const struct asking *a, const struct call *call)
{
	const struct environment *env = a->inquiry->model->machine.env;
	bool of_cgroup = call->flags &
			 abi_value(abi_family(env->abi, "open_flags"), "pid_cgroup", NULL)->value;
	json_t *attr =
		attr_to_json(env->abi, env->arch, call->image, env->abi->attr_size, host_order());

	return json_pack("{s:o,s:o,s:i,s:o,s:I}", "attr", attr, "pid",
			 named_or_number(a, of_cgroup ? A_FILE : A_TASK, call->pid), "cpu",
			 call->cpu, "group_fd", named_or_number(a, AN_EVENT, call->group_fd),
			 "flags", (json_int_t)call->flags);
}

/* Holds a remark's condition; *proven: by what is known, and not only for all that is. */
static bool remark_holds(const struct remark *remark, struct asking *a, bool *proven)
{
	const struct fact *why = NULL;
	enum truth truth =
		predicate_holds(remark->when, &a->inquiry->model->facts, &a->asker.situation, &why);

	*proven = truth == HOLDS;
	return truth == HOLDS || (truth == NOT_KNOWN && !remark->is_measured && why &&
				  !strncmp(why->name, "counted.", 8));
}

/* What there is to say of the call whose situation the asker has: {"says", "proven", "useless"}. */
static json_t *remarks_of(const struct remarks *remarks, struct asking *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < remarks->count; i++) {
		json_t *one;
		bool proven;

		if (!remark_holds(&remarks->list[i], a, &proven))
			continue;
		one = json_pack("{s:b}", "proven", proven);
		set_sentence(one, "says", &remarks->list[i].says, a);
		if (remarks->list[i].check)
			json_object_set_new(one, "check", json_string(remarks->list[i].check));
		if (remarks->list[i].is_useless)
			json_object_set_new(one, "useless", json_true());
		json_array_append_new(list, one);
	}
	return list;
}

/* Counts the event of that call, and begins its situation with what was counted. */
static void count_call(struct asking *a, const struct call *call)
{
	const struct model *model = a->inquiry->model;

	a->asker.world.counted = NULL;
	if (a->asker.attempts && count_event(call, model->machine.env, &a->counted))
		a->asker.world.counted = &a->counted;
	situation_begin(&a->asker.situation, &model->machine, call, &a->asker.caller,
			&a->asker.world);
}

static void tell_counted(struct asking *a)
{
	const struct counted *c = a->asker.world.counted;
	json_t *json;

	if (!c)
		return;
	json = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "value", (json_int_t)c->value, "time_enabled",
			 (json_int_t)c->enabled, "time_running", (json_int_t)c->running, "switches",
			 (json_int_t)c->switches, "page_faults", (json_int_t)c->faults,
			 "system_calls", (json_int_t)c->syscalls);
	if (c->has_samples) {
		json_object_set_new(json, "samples", json_integer((json_int_t)c->samples));
		json_object_set_new(json, "throttled", json_integer((json_int_t)c->throttled));
	}
	json_object_set_new(a->answer, "counted", json);
}

/* A remedy as it is told, change by change. */
struct telling {
	struct asking *asking;
	json_t *does, *loses;
};

static void tell_change(void *context, const struct change *change, struct situation *s)
{
	struct telling *t = context;
	const struct model *model = t->asking->inquiry->model;
	char text[SENTENCE];

	change_write(change, model, s, text, sizeof(text));
	json_array_append_new(t->does, json_string(text));
	if (!change->loses.count)
		return;
	sentence_write(&change->loses, &model->facts, s, text, sizeof(text));
	json_array_append_new(t->loses, json_string(text));
}

/* Whether the event would be of no use; then it is said why. */
static bool tell_uselessness(json_t *json, struct asking *a, const struct call *changed)
{
	json_t *remarks, *one;
	size_t i;
	bool useless = false;

	count_call(a, changed);
	remarks = remarks_of(&a->inquiry->knowledge->notes, a);
	json_array_foreach(remarks, i, one) {
		if (useless || !json_object_get(one, "useless"))
			continue;
		json_object_set(json, "useless", json_object_get(one, "says"));
		useless = true;
	}
	json_decref(remarks);
	return useless;
}

static json_t *remedy_json(struct asking *a, const struct remedy *remedy, struct call *changed)
{
	struct telling t = {.asking = a, .does = json_array(), .loses = json_array()};
	json_t *json = json_pack("{s:o,s:o,s:b}", "do", t.does, "loses", t.loses, "tried",
				 a->asker.attempts != NULL);

	remedy_make(remedy, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
		    tell_change, &t);
	if (remedy->is_fallback)
		json_object_set_new(json, "fallback", json_true());
	tell_uselessness(json, a, changed);
	json_object_set_new(json, "open", open_as_json(a, changed));
	return json;
}

/* What refuses the call once the first of a remedy's changes are made. */
static void tell_behind(struct asking *a, const struct remedy *remedy, struct call *changed)
{
	json_t *behind = json_array();

	for (size_t n = 1; n < remedy->count; n++) {
		struct remedy first = *remedy;
		struct finding f;
		json_t *json;

		first.count = n;
		remedy_make(&first, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
			    NULL, NULL);
		f = asker_ask(&a->asker, changed);
		if (f.outcome != REFUSED || f.check == a->found.check)
			continue;
		json = json_object();
		tell_finding(json, &f, a);
		json_object_del(json, "opened");
		json_array_append_new(behind, json);
	}
	if (json_array_size(behind))
		json_object_set(a->answer, "behind", behind);
	json_decref(behind);
}

/* Those of use first; of two that make the same call, the first. */
static void put_remedy(json_t *list, json_t *remedy)
{
	const json_t *one;
	size_t at = 0, i;

	json_array_foreach(list, i, one) {
		if (!json_equal(json_object_get(one, "open"), json_object_get(remedy, "open")))
			continue;
		json_decref(remedy);
		return;
	}
	if (json_object_get(remedy, "useless")) {
		json_array_append_new(list, remedy);
		return;
	}
	while (at < json_array_size(list) && !json_object_get(json_array_get(list, at), "useless"))
		at++;
	json_array_insert_new(list, at, remedy);
}

/* What one change alone brings, where it brings the call to another check and does not open it. */
static json_t *dead_end_json(struct asking *a, size_t change, struct call *changed)
{
	struct telling t = {.asking = a, .does = json_array(), .loses = json_array()};
	const struct remedy one = {.changes = {change}, .count = 1};
	struct finding f;
	json_t *json = NULL;

	remedy_make(&one, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
		    tell_change, &t);
	f = asker_ask(&a->asker, changed);
	if (f.outcome == REFUSED && f.is_foreseen && f.check > a->found.check) {
		json = json_pack("{s:O}", "do", t.does);
		tell_finding(json, &f, a);
		json_object_del(json, "opened");
	}
	json_decref(t.does);
	json_decref(t.loses);
	return json;
}

/* What looks as if it helped: of those that lead to one check, the first. */
static void tell_dead_ends(struct asking *a, struct call *changed)
{
	json_t *list = json_array(), *seen = json_object();

	for (size_t i = 0;
	     i < a->inquiry->knowledge->changes.count && json_array_size(list) < DEAD_ENDS; i++) {
		json_t *one = dead_end_json(a, i, changed);
		const char *check = json_string_value(json_object_get(one, "check"));

		if (check && !json_object_get(seen, check)) {
			json_object_set_new(seen, check, json_true());
			json_array_append(list, one);
		}
		json_decref(one);
	}
	if (json_array_size(list))
		json_object_set(a->answer, "dead_ends", list);
	json_decref(list);
	json_decref(seen);
}

static void seek_remedies(struct asking *a)
{
	struct remedies *found = calloc(1, sizeof(*found));
	struct call changed = {.image = calloc(1, a->inquiry->model->abi->attr_size)};
	json_t *list = json_array();

	if (found && changed.image && a->found.outcome == REFUSED &&
	    !search_remedies(&a->asker, &a->inquiry->knowledge->changes, &a->call, &a->found,
			     found)) {
		for (size_t i = 0; i < found->count; i++)
			put_remedy(list, remedy_json(a, &found->list[i], &changed));
		if (found->count)
			tell_behind(a, &found->list[0], &changed);
		else
			tell_dead_ends(a, &changed);
		if (found->is_cut)
			json_object_set_new(a->answer, "cut", json_true());
	}
	json_object_set(a->answer, "changes", list);
	json_decref(list);
	free(changed.image);
	free(found);
}

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

/* The largest buffer of 2^n pages that can be mapped now; 0: none. */
static uint64_t largest_buffer(const struct environment *env, int fd)
{
	for (uint64_t pages = 1 << 16; pages; pages /= 2) {
		size_t length = (size_t)(pages + 1) * env->page_size;
		void *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (at == MAP_FAILED)
			continue;
		munmap(at, length);
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
		err = follow_do(&follow, env, fd, &buffer);
		tell_step(json, &follow, err, a);
		if (err && follow.verb == FOLLOW_MMAP && !buffer.at)
			json_object_set_new(json, "largest",
					    json_integer((json_int_t)largest_buffer(env, fd)));
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
			return check->err;
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
		err = is_last && a->inquiry->told ? told_errno(a->inquiry)
						  : foresee_step(&follow, a);
		tell_step(json, &follow, err, a);
		json_array_append_new(list, json);
		if (err)
			return;
	}
}

static void follow_all(struct asking *a)
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

/* All that is to be said of the call. */
static void ask_all(struct asking *a)
{
	const struct inquiry *inquiry = a->inquiry;
	bool opens = a->found.outcome == OPENS ||
		     (a->found.outcome == UNFORESEEN && inquiry->told && !told_errno(inquiry)) ||
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
	a->found = asker_ask(&a->asker, &a->call);
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
		snprintf(why, size, "the call names what its `given` does not bind");
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
	return json_dumpb(a->answer, s->text, SHARED, JSON_COMPACT) < SHARED ? 0 : -E2BIG;
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
	else
		snprintf(why, size, "%s", s.text[1] ? s.text + 1 : strerror(-err));
	munmap(s.text, SHARED);
	return answer;
}
