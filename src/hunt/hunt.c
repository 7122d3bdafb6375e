/* SPDX-License-Identifier: MIT */
/*
 * Workers: each a process of its own, bounded, with a setup of its own, and memory that it shares
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
#include "machine/names.h"
#include "step/program.h"
#include "text/json_text.h"

const char *const hunt_count_names[] = {"calls",  "refused",  "opened", "unknown",
					"differ", "unsteady", "moved",  "held",
					"sought", "found",    NULL};

/*
 * Trying a call, and making it simple.
 */

/* Where the kernel's own size is written back: the check says so, and the memory can be written. */
static bool writes_size(const struct trial *t)
{
	return t->prediction.outcome == REFUSED &&
	       json_object_get(t->prediction.check->json, "writes_size") &&
	       t->call.memory != MEMORY_READ_ONLY;
}

static bool is_of_other_gate(const struct trial *t)
{
	return t->prediction.outcome == REFUSED && !t->prediction.unknown && t->gates &&
	       !(t->gates >> t->prediction.check->gate & 1);
}

static bool agrees(const struct judge *h, const struct trial *t)
{
	if (t->prediction.err != t->result.err || t->result.other_written || is_of_other_gate(t))
		return false;
	if (writes_size(t))
		return t->result.size_after == h->model->machine.env->attr_size;
	return !t->result.size_written;
}

/*
 * Predicts, makes the call, and says whether both agree. A call of which the model cannot tell is
 * not made: of those nobody knows what they set going.
 */
static bool trial_run(struct judge *h, struct trial *t)
{
	t->prediction = trial_predict(h, t);
	t->result = (struct answer){.fd = -1};
	if (t->prediction.outcome == UNFORESEEN)
		return true;
	if (call_try(&t->call, t->no_files, h->model->machine.env, &h->memory, &t->result) < 0)
		return true;
	/* Of what stands before the kernel the witnesses tell nothing. */
	if (t->prediction.check && t->prediction.check->id[0] == 'S')
		t->gates = 0;
	if (t->gates)
		t->gates = t->result.err && !t->no_files
				   ? phase_infer(h->model->phases, &t->call, t->result.err,
						 h->zombie, h->model->machine.env)
				   : ~0U;
	return agrees(h, t);
}

/* What is not as predicted, in words; "" if all is. */
static void trial_describe(const struct judge *h, const struct trial *t, char *text, size_t size)
{
	const char *came = t->result.err ? errno_name(t->result.err) : "it opens";
	char predicted[64], gates[128];

	text[0] = '\0';
	if (agrees(h, t))
		return;
	if (t->prediction.outcome == REFUSED)
		snprintf(predicted, sizeof(predicted), "%s (%s)", errno_name(t->prediction.err),
			 t->prediction.check->id);
	else
		snprintf(predicted, sizeof(predicted), "that it opens");
	if (t->prediction.err != t->result.err)
		snprintf(text, size, "the model says %s, the kernel %s", predicted,
			 t->result.err ? errno_name(t->result.err) : "opens it");
	else if (is_of_other_gate(t)) {
		phase_names(h->model->phases, t->gates, gates, sizeof(gates));
		snprintf(text, size,
			 "%s as predicted, from %s by the model and %s by the witnesses", predicted,
			 h->model->phases->list[t->prediction.check->gate].name, gates);
	} else if (t->result.other_written)
		snprintf(text, size, "%s as predicted, and attr is changed beyond its size", came);
	else
		snprintf(text, size, "%s as predicted, and attr.size is %u afterwards", came,
			 t->result.size_after);
}

/* Whether the simpler call differs in the same way; then it is taken. */
static bool take_if_same(struct judge *h, struct trial *best, struct trial *candidate)
{
	const struct check *check = best->prediction.check;
	int err = best->result.err;

	if (trial_run(h, candidate) || candidate->result.err != err ||
	    candidate->prediction.check != check)
		return false;
	*best = *candidate;
	return true;
}

/* Another number; puts the old one back if the call does not differ in the same way. Trials share
 * one image. */
static bool try_number(struct judge *h, struct trial *best, struct call_part part, uint64_t value)
{
	uint64_t was = call_get(&best->call, part);
	struct trial t = *best;

	if (value == was)
		return false;
	call_set(&t.call, part, value);
	if (take_if_same(h, best, &t))
		return true;
	call_set(&best->call, part, was);
	return false;
}

/* None, or else fewer bits. */
static bool try_fewer(struct judge *h, struct trial *best, struct call_part part)
{
	bool any = try_number(h, best, part, 0);

	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t value = call_get(&best->call, part);

		if (value >> bit & 1)
			any = try_number(h, best, part, value & ~(UINT64_C(1) << bit)) || any;
	}
	return any;
}

/* Makes the trial's call simpler while what differs stays the same. The image is changed in place.
 * Whether it is simpler now. */
static bool simplify(struct judge *h, struct trial *best)
{
	const struct call_part pid = {.of = PART_PID}, cpu = {.of = PART_CPU},
			       fd = {.of = PART_GROUP_FD}, flags = {.of = PART_FLAGS};
	const struct abi *abi = h->model->abi;
	struct trial t = *best;
	bool any;

	t.no_files = false;
	any = best->no_files && take_if_same(h, best, &t);
	t = *best;
	t.call.memory = MEMORY_WRITABLE;
	any = (best->call.memory != MEMORY_WRITABLE && take_if_same(h, best, &t)) || any;
	t = *best;
	any = (t.call.poke_count && t.call.poke_count-- && take_if_same(h, best, &t)) || any;
	any = try_number(h, best, fd, (uint64_t)-1) || any;
	any = try_number(h, best, pid, 0) || any;
	any = try_number(h, best, cpu, (uint64_t)-1) || any;
	any = (best->call.cpu > 0 && try_number(h, best, cpu, 0)) || any;
	any = try_fewer(h, best, flags) || any;
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct call_part field = {PART_FIELD, &abi->fields[i]};

		if (abi->fields[i].alias_of || abi->fields[i].of_bits)
			continue;
		any = (field.field == h->model->machine.size
			       ? try_number(h, best, field, abi->attr_size)
			       : try_fewer(h, best, field)) ||
		      any;
	}
	return any;
}

/* Whether a text anywhere in the JSON has that name. */
static bool names_it(const json_t *json, const char *name)
{
	char *text = json_dumps(json, 0);
	const char *at = text ? strchr(text, '$') : NULL;
	size_t n = strlen(name);
	bool is_named;

	while (at && (strncmp(at + 1, name, n) != 0 || scope_name_length(at + 1) != n))
		at = strchr(at + 1, '$');
	is_named = at != NULL;
	free(text);
	return is_named;
}

/* The steps of the setup that the call hangs on, in their order. */
static json_t *given_json(const struct judge *h, const json_t *open)
{
	static const char *const keys[] = {"bind", "mmap", "kill"};
	const json_t *all = json_object_get(h->setup->plan->json, "given");
	json_t *given = json_array(), *step;
	size_t i = json_array_size(all);

	while (i-- > 0) {
		const char *name = NULL;

		step = json_array_get(all, i);
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]) && !name; k++)
			name = json_string_value(json_object_get(step, keys[k]));
		if (name && (names_it(open, name) || names_it(given, name)))
			json_array_insert(given, 0, step);
	}
	return given;
}

/* The call as a case of a case file: a new reference. */
static json_t *trial_case(struct judge *h, const struct trial *t)
{
	const struct phases *phases = h->model->phases;
	const struct check *check = t->prediction.check;
	const char *phase = NULL;
	json_t *open = setup_open_json(&h->setup->names, h->model->machine.env, &t->call);
	json_t *given = given_json(h, open), *expect;
	unsigned gates;
	char text[256];

	trial_describe(h, t, text, sizeof(text));
	if (t->result.err) {
		gates = phase_infer(phases, &t->call, t->result.err, h->zombie,
				    h->model->machine.env);
		for (size_t i = 0; i < phases->count; i++)
			if (gates == 1U << i)
				phase = phases->list[i].name;
		expect = json_pack("{s:s, s:s*}", "errno", errno_name(t->result.err), "phase",
				   phase);
	} else {
		expect = json_pack("{s:b}", "ok", 1);
	}
	if (!json_array_size(given)) {
		json_decref(given);
		given = NULL;
	}
	return json_pack("{s:s, s:[s], s:o*, s:o, s:o, s:o*}", "title", text, "as",
			 identity_names[h->caller.as], "given", given, "open", open, "expect",
			 expect, "covers", check ? json_pack("[s]", check->id) : NULL);
}

/*
 * Workers.
 */

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
	struct setup setup;
	struct drawer drawer;
	struct trial *kept; /* calls that were made, for mutations; their images are their own */
	size_t kept_count;
};

_Noreturn static void fail(struct worker *w, const char *what, int err)
{
	snprintf(w->tally->failure, sizeof(w->tally->failure), "%s: %s", what, strerror(err));
	_exit(1);
}

static void prepare_setup(struct worker *w)
{
	struct who who = {.as = w->as};
	struct model *model = w->hunt->model;
	int err;

	block_settle(&w->hunt->plan->block, &who, model->machine.env);
	setsid();
	setup_survive_signals();
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	descriptors_close_from(3, -1, -1);
	limits_set((unsigned)w->hunt->options->seconds + 24 * 3600);
	err = identity_become(w->as, w->uid, 0);
	if (err)
		fail(w, "becoming the caller", -err);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the uids changed: that clears it */
	if (getppid() != w->runner)
		_exit(1);
	w->hunter.zombie = phase_make_zombie();
	err = setup_prepare(&w->setup, w->hunt->plan, model, w->hunt->tables, &who,
			    model->machine.env->rights.changes_uid ? w->runner : 0);
	if (err)
		fail(w, "preparing the setup", -err);
	w->hunter.model = model;
	w->hunter.caller = caller_as(&model->machine.env->rights, w->as);
	w->hunter.setup = &w->setup;
	w->hunter.objects = w->setup.objects;
	drawer_begin(&w->drawer, model, &w->setup,
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
	for (unsigned round = 0; round < 8 && simplify(&w->hunter, t); round++)
		;
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
	    model_may_be_others(w->hunter.model, &w->hunter.evaluation, t->result.err,
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

/* Makes a call at a boundary, each held against the witnesses. */
static void make_boundary(void *context, const struct check *check, bool is_met, struct trial *t)
{
	struct worker *w = context;
	struct trial *kept;

	t->gates = ~0U;
	if (!trial_run(&w->hunter, t))
		look_again(w, t);
	count_trial(w, t);
	if (is_met)
		w->tally->met[check - w->hunter.model->checks] = 1;
	if (!w->hunt->options->mutates)
		return;
	w->kept = kept = or_exit(realloc(w->kept, (w->kept_count + 1) * sizeof(*kept)));
	kept += w->kept_count++;
	*kept = *t;
	call_copy(&kept->call, &t->call, w->hunt->model->abi);
}

/* Whether one of the calls is predicted in another way once the term is turned round. */
static void turn_term(void *context, size_t number, const struct check *check, struct term *term)
{
	struct worker *w = context;

	(void)check;
	term->is_turned = !term->is_turned;
	for (size_t i = 0; i < w->kept_count && !w->tally->noticed[number]; i++) {
		const struct prediction *was = &w->kept[i].prediction;
		struct prediction now = trial_predict(&w->hunter, &w->kept[i]);

		w->tally->noticed[number] = now.outcome != was->outcome || now.err != was->err ||
					    now.check != was->check;
	}
	term->is_turned = !term->is_turned;
}

_Noreturn static void work(struct worker *w)
{
	unsigned char *image = or_exit(calloc(1, w->hunt->model->abi->attr_size));
	struct trial t = {.call.image = image};
	uint64_t *counts = w->tally->counts;

	prepare_setup(w);
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
		boundaries_find(&w->hunter, &w->drawer, &counts[COUNT_SOUGHT], &counts[COUNT_FOUND],
				make_boundary, w);
		if (w->hunt->options->mutates)
			hunt_terms(w->hunter.model, turn_term, w);
	}
	w->tally->is_done = true;
	kill(0, SIGKILL); /* all of its session: the setup's processes */
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

void hunt_terms(const struct model *model,
		void (*each)(void *context, size_t number, const struct check *check,
			     struct term *term),
		void *context)
{
	const struct check *check;
	size_t number = 0;

	for (check = model->checks; check < model->checks + model->count; check++)
		for (struct term *t = check->when->terms; t && number < HUNT_TERMS; t = t->next)
			each(context, number++, check, t);
}

/* Signals that end the hunt before its time, and that of a worker's end: in hunt_as() they are
 * blocked, and taken one by one. */
static sigset_t signals_of_ends(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	return set;
}

/* Waits for a worker, and ends it if a signal asks for the end; *interrupted is that signal. */
static void wait_for(struct tally *tally, pid_t pid, const sigset_t *ends, int *interrupted)
{
	int status = 0;

	while (!*interrupted && !waitpid(pid, &status, WNOHANG)) {
		int sig = sigwaitinfo(ends, NULL);

		*interrupted = sig == SIGCHLD || sig < 0 ? 0 : sig;
	}
	kill(-pid, SIGKILL); /* what it began, if it did not come to that itself */
	if (*interrupted) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return;
	}
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
	struct worker *w = or_exit(calloc(1, sizeof(*w)));
	struct tally *tallies =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned started = 0;
	pid_t pids[HUNT_JOBS];
	uid_t uids[HUNT_JOBS];
	const sigset_t ends = signals_of_ends();
	sigset_t before;
	int err = tallies != MAP_FAILED ? 0 : -errno;

	identity_choose_uids(uids, options->jobs);
	signal(SIGCHLD, SIG_DFL); /* who started us may ignore it: nothing would come then */
	sigprocmask(SIG_BLOCK, &ends, &before);
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
		if (!pids[i]) {
			sigprocmask(SIG_SETMASK, &before, NULL);
			work(w);
		}
		err = pids[i] < 0 ? -errno : 0;
		started += !err;
	}
	for (unsigned i = 0; i < started; i++)
		wait_for(&tallies[i], pids[i], &ends, &sum->interrupted);
	sigprocmask(SIG_SETMASK, &before, NULL);
	for (unsigned i = 0; i < started; i++)
		add_tally(sum, &tallies[i]);
	if (tallies != MAP_FAILED)
		munmap(tallies, size);
	free(w);
	sum->seconds = clock_seconds() - began;
	return err;
}
