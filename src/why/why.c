/* SPDX-License-Identifier: MIT */
/*
 * Asks the kernel as a caller, among what was given, in a process that has become both; or the
 * model. Then what others would meet, and this caller with other sysctls.
 */
#include "why/why.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "call/phase.h"
#include "language/merge.h"
#include "machine/names.h"
#include "machine/sysctl.h"
#include "step/program.h"
#include "text/json_text.h"
#include "text/say.h"

enum { POOL_SIZE = 16 << 20, POOL_ALIGN = 16 };

struct pool {
	size_t used; /* of the whole, this included */
};

/* Zeroed memory for `count` of `size` bytes, as long as the pool. One that has no more ends the
 * process after a message: it has room for any answer that somebody would read. */
static void *pool_take(struct pool *pool, size_t count, size_t size)
{
	size_t room = POOL_SIZE - pool->used;
	unsigned char *at = (unsigned char *)pool + pool->used;

	if (size && count > room / size) {
		say(stderr, "perfabi why: the answer is too long\n");
		_exit(EXIT_NO_MEMORY);
	}
	room -= count * size;
	pool->used = POOL_SIZE - room / POOL_ALIGN * POOL_ALIGN;
	return at;
}

__attribute__((format(printf, 2, 3))) static const char *pool_print(struct pool *pool,
								    const char *format, ...)
{
	va_list args, again;
	char *text;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	text = pool_take(pool, (size_t)(n > 0 ? n : 0) + 1, 1);
	vsnprintf(text, (size_t)(n > 0 ? n : 0) + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

/* Where a question stands that is no file. */
static const struct source asked = {.name = "question", .root = "", .text = "{}", .length = 2};

enum { CALL_TEXT = 4096, SENTENCE = 1024, SECONDS = 30, ALONE_SECONDS = 2, STEADY_TRIES = 5 };

struct explainer {
	const struct why *why;
	enum identity as;
	bool is_brief; /* what the call comes to is all that is asked */
	struct explanation *out;
	struct judge judge;
	struct setup setup;
	struct call call; /* that is asked about; its image is the setup's */
	struct finding found;
};

/* The sentence about the judge's evaluation; NULL: there is none. */
static const char *say_sentence(struct explainer *x, const struct sentence *sentence)
{
	char text[SENTENCE];

	if (!sentence->count)
		return NULL;
	sentence_write(sentence, &x->why->model->facts, &x->judge.evaluation, text, sizeof(text));
	return pool_print(x->why->pool, "%s", text);
}

static enum truth truth_of(struct explainer *x, const struct predicate *predicate,
			   const struct fact **unknown)
{
	return predicate_holds(predicate, &x->why->model->facts, &x->judge.evaluation, unknown);
}

/* Counts the event of the call, and begins its evaluation with what was counted. */
static bool count_call(struct explainer *x, const struct call *call, struct counted *counted)
{
	bool is_counted =
		x->judge.is_tried && count_event(call, x->why->model->machine.env, counted);

	x->judge.objects.counted = is_counted ? counted : NULL;
	judge_begin(&x->judge, call);
	return is_counted;
}

/* The notes on the call of the evaluation, proven by counting where that can be. */
static struct note *note_call(struct explainer *x, const struct note_rules *rules, size_t *count)
{
	struct note *list = pool_take(x->why->pool, rules->count + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < rules->count; i++) {
		const struct note_rule *rule = &rules->list[i];
		const struct fact *unknown = NULL;
		enum truth truth = truth_of(x, rule->when, &unknown);

		if (truth == DOES_NOT_HOLD ||
		    (truth == NOT_KNOWN &&
		     (rule->is_measured || !unknown || strncmp(unknown->name, "counted.", 8) != 0)))
			continue;
		list[(*count)++] = (struct note){.is_proven = truth == HOLDS,
						 .is_useless = rule->is_useless,
						 .says = say_sentence(x, &rule->says),
						 .check = rule->check};
	}
	return list;
}

/*
 * What a call came to, by which check, and why.
 */

enum { SUSPECTS = 8, SUSPECTS_OF_ERRNO = 5 };

static const char *check_member(const struct check *check, const char *key)
{
	return json_string_value(json_object_get(check->json, key));
}

static void tell_check(struct cause *out, const struct check *check)
{
	out->check = check->id;
	out->function = check_member(check, "function");
	if (!out->because && !check->unsaid.count)
		out->because = check_member(check, "condition");
}

/* Of a check that can be the cause: of its own causes the one that holds, and those before it that
 * may. */
static void tell_suspect(struct explainer *x, const struct check *check, struct cause *out)
{
	enum truth truth = DOES_NOT_HOLD;
	bool any = false;

	out->others = pool_take(x->why->pool, check->reason_count, sizeof(*out->others));
	for (size_t i = 0; i < check->reason_count && truth != HOLDS; i++) {
		const struct reason *reason = &check->says[i];
		struct cause *one = any ? &out->others[out->other_count] : out;

		truth = reason->when ? truth_of(x, reason->when, NULL) : HOLDS;
		if (truth == DOES_NOT_HOLD)
			continue;
		one->because = say_sentence(x, &reason->because);
		one->instead = say_sentence(x, &reason->instead);
		out->other_count += any;
		any = true;
	}
	if (!out->other_count)
		out->others = NULL;
	tell_check(out, check);
}

/* What can be the cause where the model cannot tell: of checks whose ids begin with `family`. */
static void tell_suspects(struct explainer *x, int err, char family, struct cause *out)
{
	const struct model *model = x->why->model;
	const struct check **suspects =
		pool_take(x->why->pool, model->suspect_count + 1, sizeof(*suspects));
	size_t n = model_suspects(model, &x->judge.evaluation, err, suspects, model->suspect_count);
	size_t most = err ? SUSPECTS_OF_ERRNO : SUSPECTS;

	for (size_t i = 0; i < n && out->suspect_count < most; i++) {
		if (suspects[i]->id[0] != family)
			continue;
		if (!out->suspects)
			out->suspects = pool_take(x->why->pool, most, sizeof(*out->suspects));
		tell_suspect(x, suspects[i], &out->suspects[out->suspect_count++]);
	}
}

static const char *say_uncertainty(struct explainer *x, const struct finding *f)
{
	if (f->check && f->check->unsaid.count)
		return say_sentence(x, &f->check->unsaid);
	return f->unknown ? f->unknown->unknown : NULL;
}

/* The errno of the open that somebody was told, or 0. */
static int told_errno(const struct why *why)
{
	return why->question->told ? errno_by_name(why->question->told, NULL) : 0;
}

/* Whether it opened elsewhere: somebody said so, or what the last call behind it came to. */
static bool was_told_ok(const struct why *why)
{
	return why->question->told_behind || (why->question->told && !told_errno(why));
}

/* The finding, about the judge's evaluation. */
static struct cause tell_finding(struct explainer *x, const struct finding *f)
{
	int told = x->judge.objects.known_errno;
	struct cause out = {.opened = f->outcome == UNFORESEEN ? UNSAID
				      : f->outcome == OPENS    ? SAID_YES
							       : SAID_NO,
			    .err = f->outcome == REFUSED ? errno_name(f->err) : NULL};

	x->judge.objects.known_errno = f->outcome == REFUSED ? f->err : told_errno(x->why);
	if (f->outcome == REFUSED && f->is_foreseen && f->check) {
		const struct reason *reason =
			check_reason(x->why->model, f->check, &x->judge.evaluation);

		out.because = reason ? say_sentence(x, &reason->because) : NULL;
		out.instead = reason ? say_sentence(x, &reason->instead) : NULL;
		tell_check(&out, f->check);
	} else {
		if (f->differs)
			out.predicted = f->predicted ? errno_name(f->predicted) : "ok";
		if (f->outcome != OPENS && !(f->outcome == UNFORESEEN && was_told_ok(x->why))) {
			out.unknown = say_uncertainty(x, f);
			tell_suspects(x, x->judge.objects.known_errno, 'O', &out);
		}
	}
	x->judge.objects.known_errno = told;
	return out;
}

/*
 * What is done with the event once it is open, here or on a machine that is only told of.
 */

/* 256 MiB of pages of 4 KiB: more is not locked to try. */
enum { LARGEST_TRIED = 1 << 16 };

static void begin_then(struct explainer *x, const struct then_call *call)
{
	x->judge.objects.then = &call->then;
	judge_begin(&x->judge, &x->call);
}

/* The largest buffer of 2^n pages, and of fewer than were asked for, that can be mapped now; 0:
 * none. */
static int64_t largest_buffer(const struct environment *env, int fd, uint64_t length)
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
		return (int64_t)pages;
	}
	return 0;
}

/* The errno of the first check of the call's family that is known to refuse; 0: none is. */
static int foresee_then(struct explainer *x, const struct then_call *call,
			struct then_buffer *buffer)
{
	const struct model *model = x->why->model;

	if (call->verb == THEN_MMAP && !call->then.offset)
		buffer->length = call->then.length;
	if (call->verb == THEN_MUNMAP)
		buffer->length = 0;
	begin_then(x, call);
	for (size_t i = 0; i < model->suspect_count; i++) {
		const struct check *check = &model->suspects[i];

		if (check->when && check->id[0] == call->then.family &&
		    truth_of(x, check->when, NULL) == HOLDS)
			return check->result.err;
	}
	return 0;
}

/* The calls on the event, as far as they go; on another machine the last is what somebody was
 * told. */
static void explain_then(struct explainer *x)
{
	const struct why *why = x->why;
	const char *told = why->question->told_behind;
	const struct environment *env = why->model->machine.env;
	bool is_here = x->judge.is_tried;
	struct answer answer = {.fd = -1};
	struct then_buffer buffer = {0};
	int err = 0;

	x->out->then = pool_take(why->pool, THEN_MOST, sizeof(*x->out->then));
	if (is_here && (call_issue(&x->call, env, &answer) || answer.fd < 0))
		return;
	for (size_t i = 0; i < why->then_count && !err; i++) {
		struct then_told *out = &x->out->then[x->out->then_count++];
		struct then_call call = why->then[i];
		char text[SENTENCE];

		call.then.buffer = buffer.length;
		if (is_here)
			err = then_do(&call, x->setup.scope, answer.fd, &buffer);
		else if (i + 1 == why->then_count && told)
			err = errno_by_name(told, NULL);
		else
			err = foresee_then(x, &call, &buffer);
		then_write(&call, text, sizeof(text));
		*out = (struct then_told){.call = pool_print(why->pool, "%s", text), .largest = -1};
		begin_then(x, &call);
		if (err) {
			out->cause.err = errno_name(err);
			tell_suspects(x, err, call.then.family, &out->cause);
		}
		if (is_here && (err == EPERM || err == ENOMEM) && call.verb == THEN_MMAP &&
		    !buffer.at)
			out->largest = largest_buffer(env, answer.fd, call.then.length);
	}
	if (is_here)
		close(answer.fd);
}

/*
 * The changes by which a refused call opens, what is behind its first refusal, and what leads
 * nowhere.
 */

static struct remedy_found remedy_new(struct pool *pool, const char *does, const char *loses)
{
	struct remedy_found new = {.does = pool_take(pool, DOES_MOST + 1, sizeof(*new.does)),
				   .loses = pool_take(pool, DOES_MOST + 1, sizeof(*new.loses))};

	new.does[0] = does;
	new.loses[0] = loses;
	return new;
}

/* Makes the remedy's changes in *changed, and tells them. */
static struct remedy_found tell_remedy(struct explainer *x, const struct remedy *remedy,
				       struct call *changed)
{
	const struct why *why = x->why;
	const struct changes *changes = &why->knowledge->changes;
	struct remedy_found out = remedy_new(why->pool, NULL, NULL);
	struct remedy before = *remedy;
	size_t loses = 0;
	char text[SENTENCE];

	for (before.count = 0; before.count < remedy->count; before.count++) {
		const struct change *change = &changes->list[remedy->changes[before.count]];

		remedy_make(&before, &x->judge, changes, &x->call, changed);
		judge_begin(&x->judge, changed);
		change_write(change, why->model, &x->judge.evaluation, text, sizeof(text));
		out.does[before.count] = pool_print(why->pool, "%s", text);
		if (change->loses.count)
			out.loses[loses++] = say_sentence(x, &change->loses);
	}
	remedy_make(remedy, &x->judge, changes, &x->call, changed);
	return out;
}

static struct remedy_found explain_remedy(struct explainer *x, const struct remedy *remedy,
					  struct call *changed, const struct setup_names *names)
{
	const struct model *model = x->why->model;
	struct remedy_found out = tell_remedy(x, remedy, changed);
	struct counted counted;
	struct note *notes;
	size_t count;

	out.is_tried = x->judge.is_tried;
	out.is_fallback = remedy->is_fallback;
	judge_begin(&x->judge, changed);
	out.unsure = remedy->is_unsure ? say_uncertainty(x, &remedy->unsure) : NULL;
	count_call(x, changed, &counted);
	notes = note_call(x, &x->why->knowledge->notes, &count);
	x->judge.objects.counted = NULL;
	for (size_t i = 0; i < count && !out.useless; i++)
		out.useless = notes[i].is_useless ? notes[i].says : NULL;
	out.call.image = pool_take(x->why->pool, 1, model->abi->attr_size);
	call_assign(&out.call, changed, model->abi);
	out.names = names;
	out.env = model->machine.env;
	return out;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* What refuses the call once the first of a remedy's changes are made. */
static void explain_behind(struct explainer *x, const struct remedy *remedy, struct call *changed)
{
	struct explanation *out = x->out;

	for (size_t n = 1; n < remedy->count; n++) {
		struct remedy first = *remedy;
		const struct cause *last;
		struct finding f;
		struct cause cause;

		first.count = n;
		remedy_make(&first, &x->judge, &x->why->knowledge->changes, &x->call, changed);
		f = judge_call(&x->judge, changed);
		if (f.outcome != REFUSED || f.check == x->found.check)
			continue;
		cause = tell_finding(x, &f);
		cause.opened = UNSAID;
		if (!out->behind)
			out->behind = pool_take(x->why->pool, BEHIND_MOST, sizeof(*out->behind));
		last = out->behind_count ? &out->behind[out->behind_count - 1] : NULL;
		if (!last || !is_same_text(last->err, cause.err) ||
		    !is_same_text(last->check, cause.check) ||
		    !is_same_text(last->because, cause.because) ||
		    !is_same_text(last->unknown, cause.unknown))
			out->behind[out->behind_count++] = cause;
	}
}

/* What looks as if it helped, for one change alone brings the call to another check: of those that
 * lead to one check, the first. */
static void explain_dead_ends(struct explainer *x, struct call *changed)
{
	const struct changes *changes = &x->why->knowledge->changes;
	struct explanation *out = x->out;

	for (size_t i = 0; i < changes->count && out->dead_end_count < DEAD_ENDS_MOST; i++) {
		const struct remedy one = {.changes = {i}, .count = 1};
		const char **does = tell_remedy(x, &one, changed).does;
		struct finding f = judge_call(&x->judge, changed);
		size_t seen = 0;

		if (f.outcome != REFUSED || !f.is_foreseen || !x->found.check ||
		    f.check <= x->found.check)
			continue;
		if (!out->dead_ends)
			out->dead_ends =
				pool_take(x->why->pool, DEAD_ENDS_MOST, sizeof(*out->dead_ends));
		while (seen < out->dead_end_count &&
		       strcmp(out->dead_ends[seen].cause.check, f.check->id) != 0)
			seen++;
		if (seen < out->dead_end_count)
			continue;
		out->dead_ends[seen] = (struct dead_end){does, tell_finding(x, &f)};
		out->dead_ends[seen].cause.opened = UNSAID;
		out->dead_end_count++;
	}
}

/* The call changed, then who calls or a sysctl, then another event, then what is of no use. */
static int rank_of(const struct remedy_found *remedy)
{
	if (remedy->useless)
		return 3;
	if (remedy->is_fallback)
		return 2;
	return remedy->call.image ? 0 : 1;
}

/* Whether both make the same call, or read the same. */
static bool is_same_remedy(const struct remedy_found *a, const struct remedy_found *b)
{
	const struct call *x = &a->call, *y = &b->call;
	size_t i = 0;

	/* Of the bytes behind attr a change takes some away, with a smaller attr.size. */
	if (x->image && y->image && !memcmp(x->image, y->image, a->env->abi->attr_size) &&
	    x->pid == y->pid && x->cpu == y->cpu && x->group_fd == y->group_fd &&
	    x->flags == y->flags && x->poke_count == y->poke_count)
		return true;
	while (a->does[i] && b->does[i] && !strcmp(a->does[i], b->does[i]))
		i++;
	return !a->does[i] && !b->does[i];
}

/* Takes one remedy more into x->remedies, in its place; one that makes the same call, or reads the
 * same, is left out. */
static void add_remedy(struct explanation *x, const struct remedy_found *remedy)
{
	size_t at = 0;

	for (size_t i = 0; i < x->remedy_count; i++)
		if (is_same_remedy(&x->remedies[i], remedy))
			return;
	if (x->remedy_count == REMEDIES_MOST)
		return;
	while (at < x->remedy_count && rank_of(&x->remedies[at]) <= rank_of(remedy))
		at++;
	memmove(&x->remedies[at + 1], &x->remedies[at],
		(x->remedy_count++ - at) * sizeof(*x->remedies));
	x->remedies[at] = *remedy;
}

static void explain_remedies(struct explainer *x)
{
	const struct why *why = x->why;
	struct remedies *found = pool_take(why->pool, 1, sizeof(*found));
	struct setup_names *names = pool_take(why->pool, 1, sizeof(*names));
	struct call changed = {.image = pool_take(why->pool, 1, why->model->abi->attr_size)};

	*names = x->setup.names;
	x->out->remedies = pool_take(why->pool, REMEDIES_MOST, sizeof(*x->out->remedies));
	if (x->found.outcome != REFUSED)
		return;
	search_remedies(&x->judge, &why->knowledge->changes, &x->call, &x->found, found);
	for (size_t i = 0; i < found->count; i++) {
		struct remedy_found remedy = explain_remedy(x, &found->list[i], &changed, names);

		add_remedy(x->out, &remedy);
	}
	if (found->count)
		explain_behind(x, &found->list[0], &changed);
	else
		explain_dead_ends(x, &changed);
	x->out->is_cut = found->is_cut;
}

/* The gates that can have refused it: by witnesses on the kernel, and by the model. */
static void explain_gates(struct explainer *x)
{
	const struct model *model = x->why->model;
	const struct phases *phases = model->phases;
	const char **names;
	unsigned mask;
	size_t n = 0;

	if (x->judge.is_tried && !x->setup.no_files) {
		mask = phase_infer(phases, &x->call, x->found.err, x->judge.zombie,
				   model->machine.env);
		names = pool_take(x->why->pool, phases->count + 1, sizeof(*names));
		for (size_t i = 0; i < phases->count; i++)
			if (mask >> i & 1)
				names[n++] = phases->list[i].name;
		x->out->witnessed = names;
	}
	if (x->found.check && x->found.is_foreseen)
		x->out->gate = phases->list[x->found.check->gate].name;
}

/* The setup is set: asks. */
static void explain_in_setup(struct explainer *x)
{
	const struct why *why = x->why;
	const struct model *model = why->model;
	const struct knowledge *knowledge = why->knowledge;
	struct explanation *out = x->out;
	struct answer answer = {.fd = -1};
	char text[CALL_TEXT];
	bool opens;

	x->call = x->setup.seeds[0].call;
	x->judge.model = model;
	x->judge.setup = &x->setup;
	x->judge.caller = caller_as(&model->machine.env->rights, x->as);
	x->judge.caller.has_files = !x->setup.no_files;
	x->judge.objects = x->setup.objects;
	x->judge.objects.known_errno = told_errno(why);
	x->judge.looks_behind = x->is_brief;
	x->found = judge_call(&x->judge, &x->call);
	x->judge.looks_behind = true;
	answer.fd = x->found.outcome == OPENS ? 3 : -1;
	answer.err = x->found.err;
	call_format(&x->call, x->found.outcome == UNFORESEEN ? NULL : &answer, model->machine.env,
		    text, sizeof(text));
	out->call = pool_print(why->pool, "%s", text);
	out->cause = tell_finding(x, &x->found);
	/* Not refused as it was elsewhere: that has a reason, too. */
	if (x->judge.objects.known_errno && !out->cause.suspects &&
	    x->judge.objects.known_errno != x->found.err)
		tell_suspects(x, x->judge.objects.known_errno, 'O', &out->cause);
	if (x->is_brief)
		return;
	opens = x->found.outcome == OPENS ||
		(x->found.outcome == UNFORESEEN && (was_told_ok(why) || why->then_count));
	if (x->found.outcome == REFUSED)
		explain_gates(x);
	if (opens) {
		out->is_counted = count_call(x, &x->call, &out->counted);
		out->notes = note_call(x, &knowledge->notes, &out->note_count);
		if (why->then_count)
			explain_then(x);
	} else {
		if (out->cause.err)
			x->judge.objects.known_errno = x->found.err;
		out->others = note_call(x, &knowledge->others, &out->other_count);
		x->judge.objects.known_errno = told_errno(why);
		explain_remedies(x);
	}
}

/* In the process that has become the caller. */
static int explain_here(void *context)
{
	struct explainer *x = context;
	const struct why *why = x->why;
	struct who who = {.as = x->as};
	char failed[600];
	int err;

	setup_survive_signals();
	x->judge.is_tried = true;
	x->judge.zombie = phase_make_zombie();
	err = setup_prepare(&x->setup, &why->plan, why->model, why->tables, &who, 0);
	snprintf(failed, sizeof(failed), "step %zu: %s", x->setup.failed_step, x->setup.failure);
	if (err || x->setup.failed_step) {
		x->out->failure = pool_print(why->pool, "what was `given` could not be had: %s",
					     x->setup.failed_step ? failed : strerror(-err));
		return -EINVAL;
	}
	explain_in_setup(x);
	for (size_t i = 0; i < x->setup.steps->child_count; i++)
		if (x->setup.steps->children[i].id > 0 && !x->setup.steps->children[i].thread)
			kill(x->setup.steps->children[i].id, SIGKILL);
	return 0;
}

/* What one caller's call comes to, and why; with its `failure` where it could not be asked. It is
 * tried in a process that has become the caller, or else the model alone is asked. */
static struct explanation *explain_as(const struct why *why, enum identity as, bool is_tried,
				      bool is_brief)
{
	struct explainer *x = or_exit(calloc(1, sizeof(*x)));
	struct explanation *out = pool_take(why->pool, 1, sizeof(*out));
	struct who who = {.as = as};
	int err;

	*x = (struct explainer){.why = why, .as = as, .is_brief = is_brief, .out = out};
	if (is_tried) {
		block_settle(&why->plan.block, &who, why->model->machine.env);
		err = identity_run(as, SECONDS, explain_here, x);
	} else {
		/* Of a machine that is not this one, by the model. */
		err = setup_imagine(&x->setup, &why->plan, why->model);
		if (err == -ENOENT)
			out->failure = "the call names what its `given` does not bind";
		if (!err)
			explain_in_setup(x);
		setup_forget(&x->setup);
	}
	if (err && !out->failure)
		out->failure = err == -EIO         ? "the process that was to ask was killed"
			       : err == -ETIMEDOUT ? "the process that was to ask did not end"
						   : strerror(-err);
	free(x);
	return out;
}

/*
 * The caller's own explanation, and what others would meet.
 */

/* `given` is of the caller, and no other. */
static int plan_question(struct why *why, struct error *e)
{
	const struct question *q = why->question;
	const struct where root = where_root(&asked), at_then = where_key(&root, "then");
	size_t count = elements(q->then), i;
	json_t *json, *step;

	json_array_foreach(q->given, i, step) {
		if (json_object_get(step, "become"))
			return error_value(e, AT_INDEX(AT_KEY(&root, "given"), i), step,
					   "no `become`; `as` says who calls");
	}
	json = json_pack("{s:{s:{s:O}}, s:O*}", "calls", "asked", "open", q->open, "given",
			 q->given);
	if (setup_load(&why->plan, json, &root, why->tables, e))
		return -EINVAL;
	if (count > THEN_MOST)
		return error_text(e, &at_then, "more", "at most %d calls", THEN_MOST);
	for (i = 0; i < count; i++)
		if (then_from_json(&why->then[i], element(q->then, i), why->model->machine.env,
				   json_is_array(q->then) ? AT_INDEX(&at_then, i) : &at_then, e))
			return -EINVAL;
	why->then_count = count;
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
	const struct explanation *x = explain_as(why, as, is_tried, true);

	return x->failure ? NULL : &x->cause;
}

/* What refuses the call behind the check that the caller met. */
static void note_behind(const struct why *why, struct explanation *x, const struct cause *other)
{
	struct cause *behind;

	if (is_same_text(other->check, x->cause.check))
		return;
	for (size_t i = 0; i < x->behind_count; i++)
		if (is_same_text(other->check, x->behind[i].check))
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
		remedy.unsure = other->opened == SAID_YES ? NULL : other->unknown;
		add_remedy(x, &remedy);
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
		const struct explanation *other;

		if (!has_more_rights(why, as))
			continue;
		other = explain_as(why, as, can_be(why, as), false);
		for (size_t j = 0; j < other->remedy_count; j++) {
			struct remedy_found remedy = other->remedies[j];

			memmove(&remedy.does[1], remedy.does,
				(DOES_MOST - 1) * sizeof(*remedy.does));
			remedy.does[0] = k->callers[i].says;
			remedy.as = identity_names[as];
			add_remedy(x, &remedy);
		}
		x->is_cut = x->is_cut || other->is_cut;
	}
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
	struct machine_lock *lock;
	json_t *sysctls;
	const char *failed;

	if (change->is_untried || why->is_spoiled || !why->restorer)
		return NULL;
	lock = machine_lock_of(why->restorer);
	if (!machine_lock_wait(lock, true, ALONE_SECONDS)) { /* others run: we give up our place */
		machine_lock_try(lock, false);
		return NULL;
	}
	if (!machine_lock_is_there(lock))
		return NULL;
	sysctls = json_pack("{s:i}", change->set.name, value);
	set.has[change->set.place] = true;
	if (!machine_set(why->restorer, sysctls, &set, &failed)) {
		environment_read_alone(env);
		cause = ask_briefly(why, why->as, true);
	}
	machine_restore(why->restorer);
	machine_lock_try(lock, false); /* others may run again */
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

/* The first sysctl with which the caller may. The facts of the call that sysctls go by are attr's
 * and the machine's. */
static void try_sysctls(struct why *why, struct explanation *x)
{
	const struct knowledge *k = why->knowledge;
	const struct facts *facts = &why->model->facts;
	struct setup *setup = or_exit(calloc(1, sizeof(*setup)));
	struct evaluation *s = or_exit(calloc(1, sizeof(*s)));
	struct caller caller = caller_as(&why->model->machine.env->rights, why->as);
	bool is_set = !setup_imagine(setup, &why->plan, why->model), is_done = false;

	if (is_set)
		evaluation_begin(s, &why->model->machine, &setup->seeds[0].call, &caller,
				 &setup->objects);
	for (size_t i = 0; is_set && i < k->sysctl_count && !is_done; i++) {
		const struct sysctl_change *change = &k->sysctls[i];
		const struct cause *tried, *other;
		struct remedy_found remedy;
		char loses[SENTENCE];
		uint64_t value;

		if (predicate_holds(change->when, facts, s, NULL) != HOLDS ||
		    !right_side_get(&change->set.to, facts, s, &value))
			continue;
		tried = ask_with_sysctl(why, change, (int)value);
		other = tried ? tried : ask_as_if(why, change, (int)value);
		if (!other || other->opened == SAID_NO)
			continue;
		sentence_write(&change->loses, facts, s, loses, sizeof(loses));
		remedy = remedy_new(why->pool,
				    pool_print(why->pool, "set the sysctl kernel.%s to %d",
					       change->set.name, (int)value),
				    pool_print(why->pool, "%s", loses));
		remedy.sysctl = change->set.name;
		remedy.value = (int)value;
		remedy.is_tried = tried != NULL;
		remedy.unsure = other->opened == SAID_YES ? NULL : other->unknown;
		add_remedy(x, &remedy);
		is_done = true;
	}
	setup_forget(setup);
	free(setup);
	free(s);
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
	struct environment *env = why->model->machine.env;
	struct explanation *x;
	int before[SYSCTLS];

	for (unsigned i = 0;; i++) {
		if (why->is_tried)
			environment_read_sysctls(env);
		memcpy(before, env->sysctls, sizeof(before));
		x = explain_as(why, why->as, why->is_tried, false);
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
	const struct knowledge *k = why->knowledge;
	bool is_confined = !why->model->machine.env->rights.init_user_namespace;
	struct explanation *x;

	why->pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (why->pool == MAP_FAILED) {
		why->pool = NULL;
		error_no_memory(e, &root, "memory for an answer");
		return NULL;
	}
	why->pool->used = POOL_ALIGN;
	if (plan_question(why, e))
		return NULL;
	if (why->is_tried)
		setup_look_up(&why->plan, why->model->machine.env);
	x = explain_steadily(why);
	if (x->failure) {
		error_text(e, &root, x->failure, "an answer");
		e->line = 0;
		return NULL;
	}
	x->as = identity_names[why->as];
	x->caller = identity_names[why->as];
	for (size_t i = 0; i < k->caller_count; i++)
		if (k->callers[i].as == (int)why->as)
			x->caller = is_confined && k->callers[i].is_confined
					    ? k->callers[i].is_confined
					    : k->callers[i].is;
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
	setup_free_plan(&why->plan);
	if (why->pool)
		munmap(why->pool, POOL_SIZE);
}
