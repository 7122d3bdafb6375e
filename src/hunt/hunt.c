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
#include "hunt/draw.h"
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

static void become_caller(struct worker *w)
{
	int err;

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
}

static void set_stage(struct worker *w)
{
	struct who who = {.as = w->as};
	struct model *model = w->hunt->model;
	int err;

	block_settle(&w->hunt->plan->block, &who, model->machine.env);
	become_caller(w);
	w->hunter.zombie = phase_make_zombie();
	err = stage_set(&w->stage, w->hunt->plan, model, w->hunt->tables, &who,
			model->machine.env->rights.changes_uid ? w->runner : 0);
	if (err)
		fail(w, "setting the stage", -err);
	w->hunter.model = model;
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
	struct environment *env = w->hunter.model->machine.env;
	int rate = env->sysctls[SYSCTL_MAX_SAMPLE_RATE], paranoid = env->sysctls[SYSCTL_PARANOID],
	    stack = env->sysctls[SYSCTL_MAX_STACK];

	environment_read_sysctls(env);
	if (rate != env->sysctls[SYSCTL_MAX_SAMPLE_RATE] ||
	    paranoid != env->sysctls[SYSCTL_PARANOID] || stack != env->sysctls[SYSCTL_MAX_STACK]) {
		w->tally->counts[COUNT_MOVED]++;
		return;
	}
	for (unsigned i = 0; i < REPEATS; i++) {
		if (!trial_run(&w->hunter, t))
			continue;
		w->tally->counts[COUNT_UNSTEADY]++;
		return;
	}
	if (t->result.err && t->result.err != t->prediction.err &&
	    model_may_be_others(w->hunter.model, &w->hunter.situation, t->result.err,
				t->prediction.check)) {
		w->tally->counts[COUNT_HELD]++;
		return;
	}
	w->tally->counts[COUNT_DIFFER]++;
	keep_difference(w, t);
}

static void count_trial(struct worker *w, const struct trial *t)
{
	struct tally *tally = w->tally;

	tally->counts[COUNT_CALLS]++;
	if (t->prediction.outcome == UNFORESEEN) {
		tally->counts[COUNT_UNKNOWN]++;
		tally->unknown_by_check[t->prediction.check - w->hunter.model->checks]++;
		return;
	}
	if (t->result.err)
		tally->counts[COUNT_REFUSED]++;
	else
		tally->counts[COUNT_OPENED]++;
	if (t->prediction.check)
		tally->by_check[t->prediction.check - w->hunter.model->checks]++;
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
	w->hunter.caller = caller_as(&w->hunter.model->machine.env->rights, w->as);
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
		size_t n = strcspn(text, ","); /* the title */
		char title[DIFFERENCE_TEXT];

		memcpy(title, text, n);
		title[n] = '\0';
		if (is_new(sum, title))
			snprintf(sum->differences[sum->difference_count++], DIFFERENCE_TEXT, "%s",
				 text);
	}
	if (!sum->failure[0])
		memcpy(sum->failure, one->failure, sizeof(sum->failure));
}

static void wait_for(struct worker *w, pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL); /* what it began, if it did not come to that itself */
	if (!w->tally->is_done && !w->tally->failure[0])
		snprintf(w->tally->failure, sizeof(w->tally->failure), "a worker ended by %s %d",
			 WIFSIGNALED(status) ? "signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static struct worker *prepare_workers(const struct hunt *hunt, enum identity as, double now)
{
	const struct hunt_options *options = hunt->options;
	struct worker *workers = calloc(options->jobs, sizeof(*workers));
	uid_t uids[HUNT_JOBS];

	if (!workers)
		return NULL;
	identity_choose_uids(uids, options->jobs);
	for (unsigned i = 0; i < options->jobs; i++) {
		struct worker *w = &workers[i];

		*w = (struct worker){.hunt = hunt,
				     .as = as,
				     .index = i,
				     .calls = options->calls / options->jobs +
					      (i < options->calls % options->jobs),
				     .until = options->seconds > 0 ? now + options->seconds : 0,
				     .runner = getpid(),
				     .uid = uids[i]};
		w->tally = mmap(NULL, sizeof(*w->tally), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (w->tally == MAP_FAILED)
			return NULL;
	}
	return workers;
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

int hunt_as(const struct hunt *hunt, enum identity as, struct tally *sum)
{
	double began = clock_seconds();
	struct worker *workers = prepare_workers(hunt, as, began);
	unsigned started = 0;
	pid_t pids[HUNT_JOBS];
	int err = workers ? 0 : -ENOMEM;

	while (!err && started < hunt->options->jobs) {
		pids[started] = fork();
		if (!pids[started])
			work(&workers[started]);
		err = pids[started] < 0 ? -errno : 0;
		started += !err;
	}
	for (unsigned i = 0; i < started; i++)
		wait_for(&workers[i], pids[i]);
	for (unsigned i = 0; i < started; i++)
		add_tally(sum, workers[i].tally);
	for (unsigned i = 0; workers && i < hunt->options->jobs; i++)
		munmap(workers[i].tally, sizeof(*workers[i].tally));
	free(workers);
	sum->seconds = clock_seconds() - began;
	return err;
}
