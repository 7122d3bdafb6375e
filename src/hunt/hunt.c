/* SPDX-License-Identifier: MIT */
/*
 * Workers: each a process of its own, bounded, with a stage of its own, and memory that it shares
 * with the one that waits for it.
 */
#include "hunt/hunt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hunt/boundaries.h"
#include "machine/clock.h"
#include "machine/limits.h"
#include "machine/environment.h"
#include "step/step.h"
#include "text/json_text.h"

const char *const hunt_count_names[] = {"calls",  "refused",  "opened", "unknown",
					"differ", "unsteady", "moved",  "held",
					"sought", "found",    NULL};

/* Of so many calls one is held against the witnesses, too. */
enum { BATCH = 512, REPEATS = 3, WITNESSED = 256 };

/* One process. */
struct worker {
	const struct hunt *hunt;
	enum identity as;
	unsigned index;
	uint64_t calls; /* how many it makes; 0: until `until` */
	double until;   /* by clock_seconds(), or 0 */
	pid_t runner;
	uid_t uid;
	struct tally *tally;

	struct judge hunter;
	struct stage stage;
	struct drawer drawer;
	struct trial *kept; /* calls that were made, for mutations; their images are their own */
	size_t kept_count;
};

_Noreturn static void fail(struct worker *w, const char *what, int err)
{
	snprintf(w->tally->failure, sizeof(w->tally->failure), "%s: %s", what, strerror(err));
	_exit(1);
}

static void set_stage(struct worker *w)
{
	struct who who = {.as = w->as};
	struct model *model = w->hunt->model;
	int err;

	block_settle(&w->hunt->plan->block, &who, model->machine.env);
	setsid();
	stage_survive_signals();
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	descriptors_close_from(3, -1, -1);
	limits_set((unsigned)w->hunt->options->seconds + 24 * 3600);
	err = identity_become(w->as, w->uid);
	if (err)
		fail(w, "becoming the caller", -err);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the uids changed: that clears it */
	if (getppid() != w->runner)
		_exit(1);
	w->hunter.zombie = phase_make_zombie();
	err = stage_set(&w->stage, w->hunt->plan, model, w->hunt->tables, &who,
			model->machine.env->rights.changes_uid ? w->runner : 0);
	if (err)
		fail(w, "setting the stage", -err);
	w->hunter.model = model;
	w->hunter.caller = caller_as(&model->machine.env->rights, w->as);
	w->hunter.stage = &w->stage;
	w->hunter.world = w->stage.world;
	drawer_begin(&w->drawer, model, &w->stage,
		     w->hunt->options->seed * 1000003 + (uint64_t)w->as * 257 + w->index);
}

/* Of each kind one is kept. */
static bool is_new(const struct tally *tally, const char *text)
{
	for (unsigned i = 0; i < tally->difference_count; i++)
		if (strstr(tally->differences[i], text))
			return false;
	return tally->difference_count < DIFFERENCES;
}

static void keep_difference(struct worker *w, struct trial *t)
{
	struct tally *tally = w->tally;
	char *text, what[256], *out;
	json_t *json;

	trial_describe(&w->hunter, t, what, sizeof(what));
	if (!is_new(tally, what))
		return;
	trial_shrink(&w->hunter, t);
	json = trial_case(&w->hunter, t);
	text = json ? json_text(json, 0) : NULL;
	out = tally->differences[tally->difference_count];
	snprintf(out, DIFFERENCE_TEXT, "%s", text ? text : what);
	tally->difference_count++;
	free(text);
	json_decref(json);
}

/* It differs: once, each time, or since somebody has changed a sysctl. */
static void look_again(struct worker *w, struct trial *t)
{
	static const int told[] = {SYSCTL_MAX_SAMPLE_RATE, SYSCTL_PARANOID, SYSCTL_MAX_STACK};
	struct environment *env = w->hunter.model->machine.env;
	uint64_t *counts = w->tally->counts;
	int before[SYSCTLS];

	memcpy(before, env->sysctls, sizeof(before));
	environment_read_sysctls(env);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (before[told[i]] != env->sysctls[told[i]]) {
			counts[COUNT_MOVED]++;
			return;
		}
	for (unsigned i = 0; i < REPEATS; i++)
		if (trial_run(&w->hunter, t)) {
			counts[COUNT_UNSTEADY]++;
			return;
		}
	if (t->result.err && t->result.err != t->prediction.err &&
	    model_may_be_others(w->hunter.model, &w->hunter.situation, t->result.err,
				t->prediction.check)) {
		counts[COUNT_HELD]++;
		return;
	}
	counts[COUNT_DIFFER]++;
	keep_difference(w, t);
}

static void count_trial(struct worker *w, const struct trial *t)
{
	struct tally *tally = w->tally;
	const struct prediction *p = &t->prediction;
	bool is_unknown = p->outcome == UNFORESEEN;

	tally->counts[COUNT_CALLS]++;
	tally->counts[is_unknown ? COUNT_UNKNOWN : t->result.err ? COUNT_REFUSED : COUNT_OPENED]++;
	if (p->check)
		(is_unknown ? tally->unknown_by_check
			    : tally->by_check)[p->check - w->hunter.model->checks]++;
}

/* Keeps a call for the mutations. */
static void keep_call(struct worker *w, const struct trial *t)
{
	struct trial *kept;

	w->kept = or_exit(realloc(w->kept, (w->kept_count + 1) * sizeof(*w->kept)));
	kept = &w->kept[w->kept_count++];
	*kept = *t;
	call_copy(&kept->call, &t->call, w->hunt->model->abi);
}

/* Makes a call at a boundary, each held against the witnesses. */
static void make_boundary(void *context, const struct check *check, bool is_met, struct trial *t)
{
	struct worker *w = context;

	t->gates = ~0U;
	if (!trial_run(&w->hunter, t))
		look_again(w, t);
	count_trial(w, t);
	if (w->hunt->options->mutates)
		keep_call(w, t);
	if (is_met)
		w->tally->met[check - w->hunter.model->checks] = 1;
}

/* Whether one of the calls is now predicted in another way than it was. */
static bool is_noticed(struct worker *w)
{
	for (size_t i = 0; i < w->kept_count; i++) {
		const struct trial *t = &w->kept[i];
		struct prediction now = trial_predict(&w->hunter, t);

		if (now.outcome != t->prediction.outcome || now.err != t->prediction.err ||
		    now.check != t->prediction.check)
			return true;
	}
	return false;
}

static void turn_term(void *context, size_t number, const struct check *check, struct term *term)
{
	struct worker *w = context;

	(void)check;
	term->is_turned = !term->is_turned;
	w->tally->noticed[number] = is_noticed(w);
	term->is_turned = !term->is_turned;
}

_Noreturn static void work(struct worker *w)
{
	unsigned char *image = calloc(1, w->hunt->model->abi->attr_size);
	struct trial t = {.call.image = image};
	uint64_t *counts = w->tally->counts;
	int err;

	if (!image)
		fail(w, "memory for an attr", ENOMEM);
	set_stage(w);
	while (!w->hunt->options->boundaries && (!w->calls || counts[COUNT_CALLS] < w->calls)) {
		if (w->until > 0 && !(counts[COUNT_CALLS] % BATCH) && clock_seconds() >= w->until)
			break;
		t.call.image = image;
		drawer_draw(&w->drawer, &t.call, &t.no_files);
		t.gates = counts[COUNT_CALLS] % WITNESSED ? 0 : ~0U;
		if (!trial_run(&w->hunter, &t))
			look_again(w, &t);
		count_trial(w, &t);
	}
	if (w->hunt->options->boundaries) {
		err = boundaries_find(&w->hunter, &w->drawer, &counts[COUNT_SOUGHT],
				      &counts[COUNT_FOUND], make_boundary, w);
		if (err)
			fail(w, "memory for boundaries", -err);
		if (w->hunt->options->mutates)
			hunt_terms(w->hunter.model, turn_term, w);
	}
	w->tally->is_done = true;
	kill(0, SIGKILL); /* all of its session: the stage's processes */
	_exit(0);
}

static void add_tally(struct tally *sum, const struct tally *one)
{
	for (size_t i = 0; i < COUNTS; i++)
		sum->counts[i] += one->counts[i];
	for (size_t i = 0; i < HUNT_CHECKS; i++) {
		sum->by_check[i] += one->by_check[i];
		sum->unknown_by_check[i] += one->unknown_by_check[i];
		sum->met[i] |= one->met[i];
	}
	for (size_t i = 0; i < HUNT_TERMS; i++)
		sum->noticed[i] |= one->noticed[i];
	for (unsigned i = 0; i < one->difference_count; i++) {
		const char *text = one->differences[i];
		char title[DIFFERENCE_TEXT];

		snprintf(title, sizeof(title), "%.*s", (int)strcspn(text, ","), text);
		if (is_new(sum, title))
			memcpy(sum->differences[sum->difference_count++], text, DIFFERENCE_TEXT);
	}
	if (!sum->failure[0])
		memcpy(sum->failure, one->failure, sizeof(sum->failure));
}

/* Numbers the terms on their way to `each`. */
struct numbering {
	void (*each)(void *, size_t, const struct check *, struct term *);
	void *context;
	const struct check *check;
	size_t number;
};

static void number_term(struct term *term, void *context)
{
	struct numbering *n = context;

	if (n->number < HUNT_TERMS)
		n->each(n->context, n->number++, n->check, term);
}

void hunt_terms(const struct model *model,
		void (*each)(void *context, size_t number, const struct check *check,
			     struct term *term),
		void *context)
{
	struct numbering n = {.each = each, .context = context};

	for (size_t i = 0; i < model->count; i++) {
		n.check = &model->checks[i];
		predicate_terms(model->checks[i].when, number_term, &n);
	}
}

size_t hunt_hold(const struct model *model, int held[HUNT_HELD])
{
	const struct machine *machine = &model->machine;
	const struct lesson *events = learned_find(&model->learned, "kernel.software_events");
	size_t n = 0;

	for (unsigned i = 0; events && i < 64; i++)
		if (events->value >> i & 1)
			held[n++] = probe_hold(machine->env->abi, "software", i);
	for (size_t id = 2; id < machine->tracepoint_limit && n < HUNT_HELD; id++)
		if (machine->tracepoints[id] && (id <= 8 || id == 255 || !(id & (id - 1))))
			held[n++] = probe_hold(machine->env->abi, "tracepoint", id);
	return n;
}

static void wait_for(struct tally *tally, pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL); /* what it began, if it did not come to that itself */
	if (!tally->is_done && !tally->failure[0])
		snprintf(tally->failure, sizeof(tally->failure), "a worker ended by %s %d",
			 WIFSIGNALED(status) ? "signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

int hunt_as(const struct hunt *hunt, enum identity as, struct tally *sum)
{
	double began = clock_seconds();
	const struct hunt_options *options = hunt->options;
	size_t size = options->jobs * sizeof(struct tally);
	struct worker *w = calloc(1, sizeof(*w));
	struct tally *tallies =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned started = 0;
	pid_t pids[HUNT_JOBS];
	uid_t uids[HUNT_JOBS];
	int err = w && tallies != MAP_FAILED ? 0 : -ENOMEM;

	identity_choose_uids(uids, options->jobs);
	for (unsigned i = 0; i < options->jobs && !err; i++) {
		*w = (struct worker){.hunt = hunt,
				     .as = as,
				     .index = i,
				     .calls = options->calls / options->jobs +
					      (i < options->calls % options->jobs),
				     .until = options->seconds > 0 ? began + options->seconds : 0,
				     .runner = getpid(),
				     .uid = uids[i],
				     .tally = &tallies[i]};
		pids[i] = fork();
		if (!pids[i])
			work(w);
		err = pids[i] < 0 ? -errno : 0;
		started += !err;
	}
	for (unsigned i = 0; i < started; i++)
		wait_for(&tallies[i], pids[i]);
	for (unsigned i = 0; i < started; i++)
		add_tally(sum, &tallies[i]);
	if (tallies != MAP_FAILED)
		munmap(tallies, size);
	free(w);
	sum->seconds = clock_seconds() - began;
	return err;
}
