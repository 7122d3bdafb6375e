/* SPDX-License-Identifier: MIT */
/*
 * What there is to say of a call that opens, proven by counting where that can be.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/attr.h"
#include "call/call.h"
#include "machine/names.h"
#include "model/world.h"
#include "why/asking.h"

/*
 * The load is a bit of everything: instructions, system calls, page faults, switches, on the cpu
 * that the event is on.
 */

enum { SPINS = 10000000, SYSCALLS = 200, PAGES = 64, SWITCHES = 20, NAP = 50000 /* ns */ };
enum { DATA_PAGES = 64 };

/* An event that is open, with its buffer where it could be mapped. */
struct open_event {
	int fd;
	unsigned char *buffer; /* NULL: none */
	size_t size;           /* of its data, in bytes */
};

/* The cpus before the load was put on one. */
struct stand {
	cpu_set_t cpus;
	bool was_moved;
};

static bool is_on_cgroup(const struct call *call, const struct environment *env)
{
	return call->flags &
	       abi_value(abi_family(env->abi, "open_flags"), "pid_cgroup", NULL)->value;
}

/* The call with both times in what read(2) gives, and nothing else beside the value. */
static int open_to_count(const struct call *call, const struct environment *env)
{
	const struct abi_family *format = abi_family(env->abi, "read_format");
	uint64_t times = abi_value(format, "total_time_enabled", NULL)->value |
			 abi_value(format, "total_time_running", NULL)->value;
	struct answer answer = {.fd = -1};
	struct call copy = {0};

	if (call_copy(&copy, call, env->abi))
		return -1;
	attr_set(abi_field(env->abi, "read_format"), copy.image, host_order(), times);
	if (call_issue(&copy, env, &answer))
		answer.fd = -1;
	call_free(&copy);
	return answer.fd;
}

static void map_for_samples(struct open_event *event, const struct environment *env)
{
	size_t page = env->page_size;
	void *at = mmap(NULL, (1 + DATA_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED,
			event->fd, 0);

	event->buffer = at == MAP_FAILED ? NULL : at;
	event->size = DATA_PAGES * page;
}

/* Puts the process where the event is. False: it cannot run there. */
static bool stand_on(int cpu, struct stand *stand)
{
	cpu_set_t one;

	*stand = (struct stand){0};
	if (cpu < 0)
		return true;
	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(stand->cpus), &stand->cpus))
		return false;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	stand->was_moved = !sched_setaffinity(0, sizeof(one), &one);
	return stand->was_moved;
}

static void touch_pages(const struct environment *env, struct counted *out)
{
	size_t size = PAGES * (size_t)env->page_size;
	volatile unsigned char *at =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	for (size_t i = 0; i < size; i += env->page_size)
		at[i] = 1;
	munmap((void *)at, size);
	out->faults += PAGES;
}

static void load(const struct environment *env, struct counted *out)
{
	const struct timespec nap = {.tv_nsec = NAP};

	for (volatile unsigned i = 0; i < SPINS; i++)
		;
	for (unsigned i = 0; i < SYSCALLS; i++)
		out->syscalls += syscall(SYS_getppid) > 0;
	touch_pages(env, out);
	for (unsigned i = 0; i < SWITCHES; i++)
		out->switches += !nanosleep(&nap, NULL);
}

/* value, time_enabled and time_running; an event in an error state gives nothing. */
static bool read_times(const struct open_event *event, struct counted *out)
{
	uint64_t words[3];
	ssize_t n = read(event->fd, words, sizeof(words));

	out->is_error = !n;
	if (n != sizeof(words))
		return !n;
	out->value = words[0];
	out->enabled = words[1];
	out->running = words[2];
	return true;
}

static void count_records(const struct open_event *event, const struct environment *env,
			  struct counted *out)
{
	const struct perf_event_mmap_page *page = (const void *)event->buffer;
	const unsigned char *data = event->buffer ? event->buffer + env->page_size : NULL;
	uint64_t head = data ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) : 0;
	uint64_t at = 0;

	out->has_samples = data && head <= event->size; /* written backward, it runs below 0 */
	while (out->has_samples && at < head) {
		struct perf_event_header header;

		memcpy(&header, data + at, sizeof(header));
		if (header.size < sizeof(header))
			return;
		out->samples += header.type == PERF_RECORD_SAMPLE;
		out->throttled += header.type == PERF_RECORD_THROTTLE;
		at += header.size;
	}
}

/*
 * Opens the event, lets it count some milliseconds of this process's work, and closes it. Whether
 * that tells anything: false for events on other processes or cgroups, and where it does not open.
 */
static bool count_event(const struct call *call, const struct environment *env, struct counted *out)
{
	struct open_event event = {.fd = -1};
	struct stand stand;
	bool good;

	*out = (struct counted){0};
	if (call->pid > 0 || is_on_cgroup(call, env))
		return false;
	event.fd = open_to_count(call, env);
	if (event.fd < 0)
		return false;
	if (call_field(call, env->abi, "sample_period"))
		map_for_samples(&event, env);
	good = stand_on(call->cpu, &stand) || call->pid == 0;
	/* A member counts only with its leader. */
	if (call->group_fd >= 0)
		ioctl(call->group_fd, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
	load(env, out);
	ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
	if (stand.was_moved)
		sched_setaffinity(0, sizeof(stand.cpus), &stand.cpus);
	good = read_times(&event, out) && good;
	count_records(&event, env, out);
	if (event.buffer)
		munmap(event.buffer, event.size + env->page_size);
	close(event.fd);
	return good;
}

enum { SENTENCE = 1024 };

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
json_t *remarks_of(const struct remarks *remarks, struct asking *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < remarks->count; i++) {
		char text[SENTENCE];
		json_t *one;
		bool proven;

		if (!remark_holds(&remarks->list[i], a, &proven))
			continue;
		one = json_pack("{s:b}", "proven", proven);
		sentence_write(&remarks->list[i].says, &a->inquiry->model->facts,
			       &a->asker.situation, text, sizeof(text));
		json_object_set_new(one, "says", json_string(text));
		if (remarks->list[i].check)
			json_object_set_new(one, "check", json_string(remarks->list[i].check));
		if (remarks->list[i].is_useless)
			json_object_set_new(one, "useless", json_true());
		json_array_append_new(list, one);
	}
	return list;
}

void count_call(struct asking *a, const struct call *call)
{
	const struct model *model = a->inquiry->model;

	a->asker.world.counted = NULL;
	if (a->asker.attempts && count_event(call, model->machine.env, &a->counted))
		a->asker.world.counted = &a->counted;
	situation_begin(&a->asker.situation, &model->machine, call, &a->asker.caller,
			&a->asker.world);
}

void tell_counted(struct asking *a)
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

/*
 * What a call came to, by which check, and why.
 */

enum { SUSPECTS = 8, SUSPECTS_OF_ERRNO = 5 };

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
		one = saying_json(a->inquiry->model, saying, &a->asker.situation);
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

/* What can be the cause where the model cannot tell: of checks whose ids begin with `family`. */
static void tell_suspects(json_t *json, int err, char family, struct asking *a)
{
	const struct model *model = a->inquiry->model;
	const struct check **suspects = calloc(model->suspect_count + 1, sizeof(struct check *));
	json_t *list = json_array();
	size_t n = 0;

	if (suspects)
		n = model_suspects(model, &a->asker.situation, err, suspects, model->suspect_count);
	for (size_t i = 0; i < n && json_array_size(list) < (err ? SUSPECTS_OF_ERRNO : SUSPECTS);
	     i++) {
		json_t *one = suspects[i]->id[0] == family ? json_object() : NULL;

		if (!one)
			continue;
		/* What a check is that can be the cause, and says of the call whose situation the
		 * asker has. */
		json_object_set_new(one, "check", json_string(suspects[i]->id));
		json_object_set(one, "function", json_object_get(suspects[i]->json, "function"));
		tell_causes(one, suspects[i], a);
		if (!json_object_get(one, "because") && !suspects[i]->unsaid.count)
			json_object_set(one, "because",
					json_object_get(suspects[i]->json, "condition"));
		json_array_append_new(list, one);
	}
	if (json_array_size(list))
		json_object_set(json, "suspects", list);
	json_decref(list);
	free(suspects);
}

static void tell_unknown(json_t *json, const char *key, const struct finding *f, struct asking *a)
{
	if (f->check && f->check->unsaid.count)
		sentence_tell(&f->check->unsaid, &a->inquiry->model->facts, &a->asker.situation,
			      json, key);
	else if (f->unknown && f->unknown->unknown)
		json_object_set_new(json, key, json_string(f->unknown->unknown));
}

int told_errno(const struct inquiry *inquiry)
{
	return inquiry->told ? errno_by_name(inquiry->told, NULL) : 0;
}

bool was_told_ok(const struct inquiry *inquiry)
{
	return inquiry->told_behind || (inquiry->told && !told_errno(inquiry));
}

/* What it came to; `err` is what it gave, here or elsewhere. */
static void tell_outcome(json_t *json, const struct finding *f, int err, struct asking *a)
{
	if (f->outcome != UNFORESEEN)
		json_object_set_new(json, "opened", json_boolean(f->outcome == OPENS));
	if (f->outcome == REFUSED)
		json_object_set_new(json, "errno", json_string(errno_name(f->err)));
	if (f->outcome == REFUSED && f->is_foreseen && f->check) {
		check_tell(a->inquiry->model, f->check, &a->asker.situation, json);
		return;
	}
	if (f->differs)
		json_object_set_new(json, "foretold",
				    json_string(f->foretold ? errno_name(f->foretold) : "ok"));
	if (f->outcome == OPENS || (f->outcome == UNFORESEEN && was_told_ok(a->inquiry)))
		return;
	tell_unknown(json, "unknown", f, a);
	tell_suspects(json, err, 'O', a);
}

/* The finding as members of `json`, for the call whose situation the asker has. */
void tell_finding(json_t *json, const struct finding *f, struct asking *a)
{
	int told = a->asker.world.told;

	a->asker.world.told = f->outcome == REFUSED ? f->err : told_errno(a->inquiry);
	tell_outcome(json, f, a->asker.world.told, a);
	a->asker.world.told = told;
}

/*
 * What is done with the event once it is open, here or on a machine that is only told of.
 */

/* 256 MiB of pages of 4 KiB: more is not locked to try. */
enum { LARGEST_TRIED = 1 << 16 };

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

/*
 * The changes by which a refused call opens, what is behind its first refusal, and what leads
 * nowhere.
 */

enum { DEAD_ENDS = 3 };

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

/* Says why the event would be of no use, if it would. */
static void tell_uselessness(json_t *json, struct asking *a, const struct call *changed)
{
	json_t *remarks, *one;
	size_t i;

	count_call(a, changed);
	remarks = remarks_of(&a->inquiry->knowledge->notes, a);
	json_array_foreach(remarks, i, one)
		if (json_object_get(one, "useless") && !json_object_get(json, "useless"))
			json_object_set(json, "useless", json_object_get(one, "says"));
	json_decref(remarks);
}

static json_t *remedy_json(struct asking *a, const struct remedy *remedy, struct call *changed)
{
	struct telling t = {.asking = a, .does = json_array(), .loses = json_array()};
	json_t *json = json_pack("{s:o,s:o,s:b}", "do", t.does, "loses", t.loses, "tried",
				 a->asker.attempts != NULL);

	remedy_make(remedy, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
		    tell_change, &t);
	situation_begin(&a->asker.situation, &a->inquiry->model->machine, changed, &a->asker.caller,
			&a->asker.world);
	if (remedy->is_unsure)
		tell_unknown(json, "unsure", &remedy->unsure, a);
	if (remedy->is_fallback)
		json_object_set_new(json, "fallback", json_true());
	tell_uselessness(json, a, changed);
	json_object_set_new(
		json, "open",
		stage_open_json(a->asker.stage, a->inquiry->model->machine.env, changed));
	return json;
}

/* What refuses the call once the first of a remedy's changes are made. */
static void tell_behind(struct asking *a, const struct remedy *remedy, struct call *changed)
{
	json_t *behind = json_array();

	for (size_t n = 1; n < remedy->count; n++) {
		struct remedy first = *remedy;
		struct finding f;
		json_t *json, *last;

		first.count = n;
		remedy_make(&first, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
			    NULL, NULL);
		f = asker_ask(&a->asker, changed);
		if (f.outcome != REFUSED || f.check == a->found.check)
			continue;
		json = json_object();
		tell_finding(json, &f, a);
		json_object_del(json, "opened");
		last = json_array_get(behind, json_array_size(behind) - 1);
		if (!json_equal(last, json))
			json_array_append(behind, json);
		json_decref(json);
	}
	if (json_array_size(behind))
		json_object_set(a->answer, "behind", behind);
	json_decref(behind);
}

/* The call changed, then who calls or a sysctl, then another event, then what is of no use. */
static int rank_of(const json_t *change)
{
	if (json_object_get(change, "useless"))
		return 3;
	if (json_object_get(change, "fallback"))
		return 2;
	return json_object_get(change, "open") ? 0 : 1;
}

void put_change(json_t *list, json_t *change)
{
	const json_t *open = json_object_get(change, "open");
	size_t at = 0, i;
	json_t *other;

	json_array_foreach(list, i, other) {
		if ((open && json_equal(json_object_get(other, "open"), open)) ||
		    json_equal(json_object_get(other, "do"), json_object_get(change, "do"))) {
			json_decref(change);
			return;
		}
	}
	while (at < json_array_size(list) && rank_of(json_array_get(list, at)) <= rank_of(change))
		at++;
	json_array_insert_new(list, at, change);
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
	if (f.outcome == REFUSED && f.is_foreseen && a->found.check && f.check > a->found.check) {
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

void seek_remedies(struct asking *a)
{
	struct remedies *found = calloc(1, sizeof(*found));
	struct call changed = {.image = calloc(1, a->inquiry->model->abi->attr_size)};
	json_t *list = json_array();

	if (found && changed.image && a->found.outcome == REFUSED &&
	    !search_remedies(&a->asker, &a->inquiry->knowledge->changes, &a->call, &a->found,
			     found)) {
		for (size_t i = 0; i < found->count; i++)
			put_change(list, remedy_json(a, &found->list[i], &changed));
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

/*
 * The kernel has the last word; the model says which check it is.
 */

/* A check that refuses whatever a PMU says before it is as good as known. */
static void look_behind(struct asker *a, struct finding *f)
{
	const struct check *check = NULL;

	if (a->looks_behind && f->outcome == UNFORESEEN)
		check = model_check_behind(a->model, &a->situation, f->check);
	if (!check)
		return;
	f->outcome = REFUSED;
	f->err = check->result.err;
	f->check = check;
	f->is_foreseen = true;
}

struct finding asker_ask(struct asker *a, const struct call *call)
{
	struct prediction p;
	struct finding f;
	int err;

	a->asked++;
	situation_begin(&a->situation, &a->model->machine, call, &a->caller, &a->world);
	p = model_predict(a->model, &a->situation);
	f = (struct finding){.outcome = p.outcome,
			     .err = p.err,
			     .check = p.check,
			     .unknown = p.unknown,
			     .is_foreseen = p.outcome != UNFORESEEN};
	if (!a->attempts) {
		look_behind(a, &f);
		return f;
	}
	err = attempts_make(a->attempts, call, a->stage->no_files).err;
	f.is_foreseen = p.outcome != UNFORESEEN && p.err == err;
	/* Without /sys the PMUs are not known: then the model is not held to its word. */
	f.differs = p.outcome != UNFORESEEN && p.err != err && a->model->machine.env->pmu_count;
	f.foretold = p.err;
	if (p.outcome == REFUSED && !f.is_foreseen)
		f.check = NULL;
	f.outcome = err ? REFUSED : OPENS;
	f.err = err;
	return f;
}
