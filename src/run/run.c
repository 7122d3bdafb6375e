/* SPDX-License-Identifier: MIT */
/*
 * The scheduler. The runner is one thread that forks, waits for SIGCHLD or the next look at
 * what runs, and reaps. It is a subreaper: what a case leaves behind comes to it, and is killed
 * with the case's group.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "case/cases.h"
#include "machine/clock.h"
#include "machine/limits.h"
#include "machine/require.h"
#include "machine/restore.h"
#include "machine/sysctl.h"
#include "run/alarms.h"
#include "run/baseline.h"
#include "run/child.h"
#include "run/runner.h"
#include "run/requirements.h"
#include "step/step.h"
#include "step/runtime/signals.h"
#include "text/json_text.h"
#include "text/say.h"

/* How often a case runs that failed once, as long as that takes no longer than one case may; how
 * often its controls are asked before a failure that comes and goes is the kernel's. */
enum { TRIAL_RUNS = 8, CONTROL_ASKED = 32 };

/* How often the kernel has killed for want of memory since it booted; 0 where it does not say. */
static unsigned long oom_kills(void)
{
	unsigned long count = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen("/proc/vmstat", "re");

	while (f && !count && getline(&line, &size, f) > 0)
		sscanf(line, "oom_kill %lu", &count);
	free(line);
	if (f)
		fclose(f);
	return count;
}

/*
 * Looks whether somebody else has changed a sysctl, but for those that a case may have changed;
 * cases go by what it is from then on.
 */
static void watch_sysctls(struct runner *r, const struct sysctl_set *ours)
{
	char moved[sizeof(r->moved)];
	bool by_kernel;

	if (!sysctl_watch_moved(&r->sysctls, ours, moved, sizeof(moved), &by_kernel))
		return;
	r->moves.all++;
	r->moves.by_kernel += by_kernel;
	if (!by_kernel || r->moves.by_kernel == r->moves.all)
		memcpy(r->moved, moved, sizeof(moved));
	environment_read_sysctls(r->env);
}

/*
 * A sysctl that somebody else changed while the case ran: what it found is of neither machine. The
 * sample rate is lowered by the kernel itself at times: a case that has passed all the same did not
 * hang on it. Whether the result is void now.
 */
static bool void_if_sysctl_moved(const struct runner *r, const struct worker *w,
				 struct result *result)
{
	unsigned moves = r->moves.all - w->moves.all;
	unsigned by_kernel = r->moves.by_kernel - w->moves.by_kernel;
	char why[160];

	if (!moves || (moves == by_kernel && result->verdict.outcome == PASS))
		return false;
	snprintf(why, sizeof(why), "%s: it was changed while this case ran, and not by this run",
		 r->moved);
	result_void(result, why);
	return true;
}

/* Why a failure may be of another machine than the case was made for, or NULL. */
static const char *disturbance(const struct runner *r, const struct worker *w)
{
	if (oom_kills() != w->oom_kills)
		return "out of memory: the kernel killed a process during this case";
	if (sysconf(_SC_NPROCESSORS_ONLN) != (long)r->env->cpus_online)
		return "a cpu has come or gone since the run began";
	return NULL;
}

/* Not in step with somebody who comes and goes: up to two milliseconds. */
static void get_out_of_step(struct runner *r)
{
	struct timespec pause = {.tv_nsec = (long)(random_next(&r->jitter) % 2000000)};

	nanosleep(&pause, NULL);
}

/*
 * Whether a failure with that errno, or whatever came, is what the others would cause that the
 * tokens are about: a capability that says no to some errnos is about these.
 */
static bool may_be_theirs(const struct runner *r, const struct worker *w, const char *tokens,
			  int err)
{
	enum identity as = r->instances[w->index]->who.as;
	char one[REQUIRE_TOKEN];
	bool may = false;

	while (!may && require_next(&tokens, one, sizeof(one))) {
		const struct instance *asked =
			require_case_id(one) ? cases_required(r->cases, one, as, NULL) : NULL;

		may = !strcmp(one, "quiet") || (asked && required_case_says_no(asked, err));
	}
	return may;
}

/*
 * Asks the controls of what the case requires, each time it has run: whether others use perf now,
 * and whether the machine loses debug registers. Whoever is there makes any failure theirs; what
 * is lost at times explains only what fails at times. True if the trial is over: a skip.
 */
static bool ask_controls(struct runner *r, struct worker *w, struct result *result)
{
	const struct instance *instance = r->instances[w->index];
	struct trial *trial = &w->trial;
	const json_t *requirement;
	char why[384];
	size_t i;

	json_array_foreach(instance->program->requirements, i, requirement) {
		const char *tokens = json_string_value(requirement);
		const char *control = require_control(tokens);
		bool is_fleeting = require_is_fleeting(tokens);

		if (!control || (trial->control && !is_fleeting) ||
		    (is_fleeting && !may_be_theirs(r, w, tokens, trial->failure.err)) ||
		    requirements_truth(&r->requirements, w->uid, instance, control, why,
				       sizeof(why)))
			continue;
		if (is_fleeting) {
			result_skip(result, tokens, why);
			return true;
		}
		trial->control = control;
		snprintf(trial->why, sizeof(trial->why), "%s", why);
	}
	return false;
}

/* What came of all runs. */
static void end_trial(struct runner *r, const struct worker *w, struct result *result)
{
	const struct trial *trial = &w->trial;
	char why[640];

	result_set_text(&result->reason, NULL); /* of a run that could not be judged */
	result->disturbed = false;
	result->verdict = trial->failure;
	r->confirmed += trial->failures == TRIAL_RUNS;
	result->tried = trial->runs;
	result->failed = trial->failures;
	if (trial->failures == trial->runs)
		return;
	result->verdict.outcome = UNSTABLE;
	if (!trial->control)
		return;
	snprintf(why, sizeof(why), "failed %u of %u runs, and meanwhile %s; got %.150s",
		 trial->failures, trial->runs, trial->why,
		 trial->failure.got[0] ? trial->failure.got : "nothing");
	result_skip(result, trial->control, why);
}

/*
 * What failed, and the baseline does not expect, runs again: whether it fails each time is part of
 * what is to be told. True if it is to run once more; else `result` is what came of all its runs.
 */
static bool is_on_trial(struct runner *r, struct worker *w, struct result *result)
{
	const struct instance *instance = r->instances[w->index];
	struct trial *trial = &w->trial;
	bool has_failed = result->verdict.outcome == FAIL, is_last;
	unsigned asks;

	if (!trial->runs &&
	    (!has_failed || r->options->parts || r->confirmed >= CONFIRMED ||
	     (r->options->baseline && baseline_find(r->options->baseline, instance, r->env))))
		return false;
	if (!has_failed && result->verdict.outcome != PASS) {
		end_trial(r, w, result); /* it could not be judged once more */
		return false;
	}
	if (!trial->runs++)
		trial->ends = clock_seconds() + r->options->timeout;
	if (has_failed && !trial->failures++)
		trial->failure = result->verdict;
	is_last = r->interrupted || (trial->runs >= 2 &&
				     (trial->runs == TRIAL_RUNS || clock_seconds() >= trial->ends));
	/* What comes and goes may be somebody who does. */
	asks = is_last && trial->failures < trial->runs ? CONTROL_ASKED : 1;
	for (unsigned i = 0; i < asks && !r->interrupted; i++) {
		get_out_of_step(r);
		if (ask_controls(r, w, result))
			return false;
	}
	if (!is_last)
		return true;
	end_trial(r, w, result);
	return false;
}

/*
 * The end of a case's process, by itself, by a signal, or because it took too long.
 */

/* Signals that perf has nothing to do with: somebody sent them, or memory ran out. */
static bool is_from_elsewhere(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP ||
	       signal == SIGKILL;
}

/*
 * A case whose process did not come to its end: in the call it is the kernel's fault, else ours. A
 * clock on the wall proves nothing: where nobody can say what time the case had, that is no
 * failure.
 */
static void take_death(const struct worker *w, int status, double timeout, struct result *result)
{
	enum outcome outcome = ERROR;
	int stage = w->slot->stage;
	char got[160];

	if (stage < STAGE_NONE || stage > STAGE_DONE)
		stage = STAGE_NONE;
	if (w->timed_out)
		snprintf(got, sizeof(got), "no end within %g s: killed while %s", timeout,
			 stage_names[stage]);
	else if (WIFSIGNALED(status))
		snprintf(got, sizeof(got), "signal %d (%s) while %s", WTERMSIG(status),
			 strsignal(WTERMSIG(status)), stage_names[stage]);
	else if (WEXITSTATUS(status) == EXIT_SIGNALS)
		snprintf(got, sizeof(got), "more than %d signals while %s", SIGNALS_MAX,
			 stage_names[stage]);
	else if (WEXITSTATUS(status) == EXIT_NO_MEMORY)
		snprintf(got, sizeof(got), "no memory while %s", stage_names[stage]);
	else
		snprintf(got, sizeof(got), "exit status %d while %s", WEXITSTATUS(status),
			 stage_names[stage]);
	if (stage == STAGE_STEPPING &&
	    ((w->timed_out && w->patience.was_seen && !w->patience.was_stopped) ||
	     (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SIGNALS) ||
	     (WIFSIGNALED(status) && !is_from_elsewhere(WTERMSIG(status)))))
		outcome = FAIL;
	result->verdict = (struct verdict){0};
	verdict_set(&result->verdict, outcome, "the case to end", got);
	if (stage == STAGE_STEPPING)
		snprintf(result->verdict.call, sizeof(result->verdict.call), "step %u",
			 w->slot->step);
}

/*
 * Its verdict, or, where it came to none, what became of it: `status` is that of waitpid(2),
 * `timeout` in seconds. The process may have been killed while it wrote its slot.
 */
static void death_take_verdict(const struct worker *w, int status, double timeout,
			       struct result *result)
{
	struct verdict *v = &result->verdict;

	if (w->slot->stage != STAGE_DONE || w->slot->verdict.outcome < 0 ||
	    w->slot->verdict.outcome >= OUTCOMES) {
		take_death(w, status, timeout, result);
		return;
	}
	*v = w->slot->verdict;
	v->capability[sizeof(v->capability) - 1] = '\0';
	v->expected[sizeof(v->expected) - 1] = '\0';
	v->got[sizeof(v->got) - 1] = '\0';
	v->call[sizeof(v->call) - 1] = '\0';
}

static const double LOCK_POLL = 0.05, FIRST_PAUSE = 0.1; /* seconds */

/* How often a void case runs again, and how often the pauses before that double. */
enum { TURNS = 8, MOST_DOUBLED = 4 };

static void settle(struct runner *r, size_t index, struct result *fresh)
{
	struct result *kept = &r->results[index];

	result_add_round(kept, fresh);
	kept->instance = r->instances[index];
	r->done++;
	if (r->options->ended &&
	    !r->options->ended(r->options->context, kept, r->done, r->count * r->options->repeat) &&
	    !r->enough)
		r->enough = kept->instance;
}

static unsigned part_of(const struct runner *r, size_t index)
{
	return r->options->parts ? r->options->parts[index] : 0;
}

/* Each of those that have a process has this one beside it from now on, and it them. */
static void note_beside(struct runner *r, struct worker *w)
{
	w->beside = (struct beside){0};
	for (unsigned i = 0; i < r->options->jobs; i++) {
		struct worker *other = &r->workers[i];

		if (other == w || !other->pid)
			continue;
		beside_add(&w->beside, r->instances[other->index]);
		beside_add(&other->beside, r->instances[w->index]);
	}
}

/*
 * Looks for alarms of the kernel, so often that whatever it finds came up while these had a
 * process, or the runner asked what `asking` (NULL: nobody) requires.
 */
static void look_for_alarms(const struct runner *r, const struct worker *asking)
{
	struct beside during = {0};

	if (!r->options->alarms)
		return;
	for (unsigned i = 0; i < r->options->jobs; i++)
		if (r->workers[i].pid || &r->workers[i] == asking)
			beside_add(&during, r->instances[r->workers[i].index]);
	alarms_look(r->options->alarms, &during);
}

static void fork_case(struct runner *r, struct worker *w, struct result *result)
{
	*w->slot = (struct slot){.runner = getpid(), .uid = w->uid};
	w->timed_out = false;
	w->moves = r->moves;
	w->oom_kills = oom_kills();
	w->began = clock_seconds();
	w->patience = patience_begin(r->options->timeout);
	trace_begin(r->options->trace);
	madvise(w->slot, sizeof(*w->slot), MADV_DOFORK); /* its own, and nobody else's */
	w->pid = fork();
	if (w->pid)
		madvise(w->slot, sizeof(*w->slot), MADV_DONTFORK);
	if (!w->pid)
		child_run(r->instances[w->index], part_of(r, w->index), r->cases, r->env, w->slot,
			  &r->surroundings, w->cgroup);
	if (w->pid > 0) {
		note_beside(r, w);
		machine_note(r->machine, (unsigned)(w - r->workers), w->pid);
		return;
	}
	w->pid = 0;
	result_error(result, strerror(errno));
}

/* True if what the case wants of the machine is there now; else `result` says why not. */
static bool prepare_machine(struct runner *r, struct worker *w, const struct program *program,
			    struct result *result)
{
	const char *name = "sysctl";
	char token[64], why[96];
	int err;

	if (program->is_expendable && !r->options->is_expendable) {
		result_skip(result, "machine.expendable",
			    "the case leaves the machine changed: --expendable runs it, on one "
			    "that can be thrown away");
	} else if (program->sysctl && !machine_lock_is_there(machine_lock_of(r->machine))) {
		result_skip(
			result, "machine.lock",
			r->env->rights.uid
				? "this user can neither write sysctls nor keep other runs away"
				: "there is no folder of tracefs or debugfs that root alone can "
				  "open, by which runs in other containers are seen");
	} else if (program->sysctl) {
		w->sysctls = program->sysctls;
		err = machine_set(r->machine, (json_t *)program->sysctl, &w->sysctls, &name);
		sysctl_watch_accept(&r->sysctls, &w->sysctls);
		environment_read_sysctls(r->env);
		snprintf(token, sizeof(token), "sysctl.%s", name);
		snprintf(why, sizeof(why), "it cannot be written: %s", strerror(-err));
		if (err)
			result_skip(result, token, why);
		result->disturbed = err == -EBUSY; /* while anybody has such an event */
	}
	if (program->has_cgroup && !result->token) {
		const char *path = machine_make_cgroup(r->machine, (unsigned)(w - r->workers));

		w->cgroup = path ? strdup(path) : NULL;
		snprintf(why, sizeof(why), "none can be made: %s", strerror(errno));
		if (!w->cgroup)
			result_skip(result, "cgroup.v2", why);
	}
	return !result->token;
}

/* What the case wanted of the machine is put back. */
static void restore_machine(struct runner *r, struct worker *w)
{
	unsigned place = (unsigned)(w - r->workers);
	struct sysctl_set restored;

	machine_note(r->machine, place, 0);
	machine_remove_cgroup(r->machine, place); /* if it has one */
	free(w->cgroup);
	w->cgroup = NULL;
	if (sysctl_set_is_empty(&w->sysctls))
		return;
	restored = machine_restore(r->machine);
	sysctl_watch_accept(&r->sysctls, &restored);
	sysctl_watch_accept(&r->sysctls, &w->sysctls);
	environment_read_sysctls(r->env);
	w->sysctls = (struct sysctl_set){{false}};
}

static bool can_begin(struct runner *r, struct worker *w, const struct instance *instance,
		      struct result *result)
{
	const unsigned part = part_of(r, w->index);

	if (requirements_bar(&r->requirements, instance, result) ||
	    !prepare_machine(r, w, instance->program, result))
		return false;
	if (!requirements_allow(&r->requirements, w->uid, instance, result)) {
		if (!r->options->tries_skipped || instance->program->is_expendable ||
		    (result->token &&
		     (result->lacks > 1 || !require_may_be_tried(result->token, r->env))))
			return false;
		w->skipped = *result;
		*result = (struct result){0};
	}
	if (!part || steps_part(instance->program, &instance->who, r->env, &r->cases->tables, part,
				false) != NO_PART)
		return true;
	result_skip(result, "mutation", "this mutation does not apply");
	return false;
}

/* Runs what the worker is at; its result is there at once if it cannot. */
static void attempt(struct runner *r, struct worker *w)
{
	struct result result = {0};
	bool begins;

	look_for_alarms(r, NULL);
	begins = can_begin(r, w, r->instances[w->index], &result);
	look_for_alarms(r, w);
	if (begins) {
		if (r->options->started && !w->trial.runs && !r->turn && !r->results[w->index].runs)
			r->options->started(r->options->context, r->instances[w->index]);
		fork_case(r, w, &result);
	}
	if (w->pid)
		return;
	result_clear(&w->skipped);
	restore_machine(r, w);
	if (w->trial.runs && result.verdict.outcome == ERROR)
		end_trial(r, w, &result); /* it could not begin once more */
	settle(r, w->index, &result);
}

/* Kills what is left of a case's session, and reaps what came to us as subreaper. */
static void sweep(pid_t group)
{
	for (int tries = 0; tries < 1000 && !kill(-group, SIGKILL); tries++) {
		struct timespec pause = {.tv_nsec = 100000};

		while (waitpid(-group, NULL, WNOHANG) > 0)
			;
		if (kill(-group, 0))
			break;
		nanosleep(&pause, NULL);
	}
}

/* In the next turn. What came is kept for now: the run may end before that. */
static void run_again_later(struct runner *r, size_t index, struct result *result)
{
	struct result *kept = &r->results[index];

	if (!kept->runs) {
		result_clear(kept);
		*kept = *result;
	} else {
		result_clear(result);
	}
	r->order[r->again++] = index;
}

/* It was to be skipped, and ran all the same: a skip it is, and whether it passes is told. */
static void take_skipped(struct worker *w, struct result *result)
{
	const struct verdict *v = &result->verdict;

	w->skipped.passes_without =
		v->outcome == PASS && (!v->capability[0] || !strcmp(v->capability, "yes"));
	w->skipped.seconds = result->seconds;
	result_clear(result);
	*result = w->skipped;
	w->skipped = (struct result){0};
}

static void finish(struct runner *r, struct worker *w, int status)
{
	struct result result = {.instance = r->instances[w->index],
				.seconds = clock_seconds() - w->began};
	bool is_void = false;
	const char *why;

	sweep(w->pid);
	look_for_alarms(r, NULL);
	w->pid = 0;
	watch_sysctls(r, &w->sysctls);
	restore_machine(r, w);
	death_take_verdict(w, status, r->options->timeout, &result);
	if (w->skipped.token)
		take_skipped(w, &result);
	else
		is_void = void_if_sysctl_moved(r, w, &result);
	why = result.verdict.outcome == FAIL ? disturbance(r, w) : NULL;
	if (why)
		result_void(&result, why);
	result.beside = w->beside;
	if (is_void && r->turn < TURNS && !w->timed_out) {
		run_again_later(r, w->index, &result);
	} else if (!is_void && is_on_trial(r, w, &result)) {
		result_clear(&result);
		attempt(r, w);
	} else {
		settle(r, w->index, &result);
	}
}

static void reap(struct runner *r)
{
	siginfo_t dead = {0};
	int status;

	/* Looked at before it is reaped: a zombie's group number is still its own. */
	while (!waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) && dead.si_pid) {
		struct worker *w = NULL;

		for (unsigned i = 0; i < r->options->jobs; i++)
			if (r->workers[i].pid == dead.si_pid)
				w = &r->workers[i];
		if (w)
			kill(-w->pid, SIGKILL);
		if (waitpid(dead.si_pid, &status, 0) > 0 && w)
			finish(r, w, status);
		dead.si_pid = 0;
	}
}

static void kill_overdue(struct runner *r, double t)
{
	for (unsigned i = 0; i < r->options->jobs; i++) {
		struct worker *w = &r->workers[i];

		if (!w->pid || w->timed_out || t < w->patience.look ||
		    !patience_is_over(&w->patience, w->pid))
			continue;
		w->timed_out = true;
		kill(-w->pid, SIGKILL);
		kill(w->pid, SIGKILL); /* it may not lead its own session yet */
	}
}

/*
 * Sleeps until a child ends, a signal asks us to stop, or a case is to be looked at; at most `most`
 * seconds.
 */
static void wait_for_something(struct runner *r, double most)
{
	double t = clock_seconds(), next = t + most;
	struct timespec timeout;
	int sig;

	for (unsigned i = 0; i < r->options->jobs; i++)
		if (r->workers[i].pid && !r->workers[i].timed_out &&
		    r->workers[i].patience.look < next)
			next = r->workers[i].patience.look;
	next = next > t ? next - t : 0;
	timeout.tv_sec = (time_t)next;
	timeout.tv_nsec = (long)((next - (double)timeout.tv_sec) * 1e9);
	sig = sigtimedwait(&r->waited, NULL, &timeout);
	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
		r->interrupted = sig;
	kill_overdue(r, clock_seconds());
}

/* Leaves the machine to whoever is in the way, even if a child ends meanwhile. */
static void pause_turn(struct runner *r)
{
	unsigned doubled = r->turn < MOST_DOUBLED ? r->turn : MOST_DOUBLED;
	double until = clock_seconds() + FIRST_PAUSE * (1 << doubled);

	environment_let_go(r->env);
	machine_lock_give_up(machine_lock_of(r->machine));
	for (double t; !r->interrupted && (t = clock_seconds()) < until;)
		wait_for_something(r, until - t);
}

static bool any_running(const struct runner *r)
{
	for (unsigned i = 0; i < r->options->jobs; i++)
		if (r->workers[i].pid)
			return true;
	return false;
}

static void say_waiting(struct runner *r, bool alone)
{
	char who[96];

	say(stderr,
	    "perfabi: waiting for %s, which %s (--wait SECONDS bounds this, Ctrl-C ends it)\n",
	    machine_lock_holder(machine_lock_of(r->machine), who, sizeof(who)),
	    alone ? "is running: some cases change sysctls, or must run alone"
		  : "changes sysctls, or must run alone");
}

/*
 * The lock was got, the first time or again: whoever had it may have left the sysctls other than
 * they were. What was read of them before is of no machine in particular: another run's cases may
 * have had them just then.
 */
static void look_at_machine(struct runner *r)
{
	environment_hold(r->env);
	if (r->has_begun) {
		watch_sysctls(r, &(struct sysctl_set){{false}});
		return;
	}
	sysctl_watch_begin(&r->sysctls);
	environment_read_alone(r->env);
	r->has_begun = true;
	if (r->options->begun)
		r->options->begun(r->options->context);
}

/*
 * Those that run alone do so on the whole machine. False while another perfabi is in the way, or
 * when it was too long.
 */
static bool take_lock(struct runner *r, bool alone)
{
	bool is_news = !r->has_begun || !machine_lock_is_held(machine_lock_of(r->machine), alone);
	double now = clock_seconds();

	if (is_news) /* whoever gets it in our place may ask that nobody else has events */
		environment_let_go(r->env);
	if (!machine_lock_try(machine_lock_of(r->machine), alone)) {
		r->waiting_since = 0;
		if (is_news)
			look_at_machine(r);
		return true;
	}
	if (r->waiting_since <= 0) {
		r->waiting_since = now;
		say_waiting(r, alone);
	}
	r->gave_up = r->options->wait >= 0 && now - r->waiting_since >= r->options->wait;
	return false;
}

/*
 * Gives each idle worker something to do, as far as running alone and other runs allow it. False
 * if there is no hope of that any more.
 */
static bool start_more(struct runner *r)
{
	if (r->enough)
		r->next = r->end;
	for (unsigned i = 0; i < r->options->jobs && r->next < r->end; i++) {
		while (!r->workers[i].pid && r->next < r->end) {
			size_t index = r->order[r->next];

			if (r->instances[index]->alone && any_running(r))
				return true;
			if (!take_lock(r, r->instances[index]->alone))
				return !r->gave_up;
			r->next++;
			r->workers[i].index = index;
			r->workers[i].trial = (struct trial){0};
			attempt(r, &r->workers[i]);
			if (r->workers[i].pid && r->instances[index]->alone)
				return true;
		}
	}
	return true;
}

/* The order of this round. Those that run alone come last, in a block. */
static void runner_order(struct runner *r)
{
	uint64_t state = r->options->seed + r->round;
	size_t at = 0, together;

	for (int alone = 0; alone < 2; alone++)
		for (size_t i = 0; i < r->count; i++)
			if (r->instances[i]->alone == (alone == 1))
				r->order[at++] = i;
	if (!r->options->shuffle)
		return;
	for (together = 0; together < r->count && !r->instances[r->order[together]]->alone;)
		together++;
	for (size_t i = together; i > 1; i--) {
		size_t j = (size_t)(random_next(&state) % i), swap = r->order[i - 1];

		r->order[i - 1] = r->order[j];
		r->order[j] = swap;
	}
}

/* Runs all cases, and the void ones again once whoever was in the way may be done. */
static void run_round(struct runner *r)
{
	runner_order(r);
	r->confirmed = 0;
	r->end = r->count;
	for (r->turn = 0; r->end; r->turn++) {
		r->next = r->again = 0;
		while (!r->interrupted && start_more(r)) {
			if (!any_running(r) && r->waiting_since <= 0)
				break;
			wait_for_something(r, r->waiting_since > 0 ? LOCK_POLL : 1);
			reap(r);
		}
		r->end = r->interrupted || r->gave_up || r->enough ? 0 : r->again;
		if (r->end)
			pause_turn(r);
	}
}

static void stop_all(struct runner *r)
{
	for (unsigned i = 0; i < r->options->jobs; i++) {
		struct worker *w = &r->workers[i];

		if (!w->pid)
			continue;
		kill(-w->pid, SIGKILL);
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
		sweep(w->pid);
		w->pid = 0;
		restore_machine(r, w);
	}
}

/* Each worker's in pages of its own, which only its own children get, and a uid for each. */
static int make_slots(struct runner *r, unsigned jobs)
{
	uid_t *uids = or_exit(calloc(jobs, sizeof(*uids)));

	identity_choose_uids(uids, jobs);
	for (unsigned i = 0; i < jobs; i++) {
		struct slot *slot = mmap(NULL, sizeof(*slot), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (slot == MAP_FAILED || madvise(slot, sizeof(*slot), MADV_DONTFORK)) {
			free(uids);
			return -ENOMEM;
		}
		r->workers[i].slot = slot;
		r->workers[i].uid = uids[i];
	}
	free(uids);
	return 0;
}

static int set_up(struct runner *r)
{
	static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
	unsigned jobs = r->options->jobs;

	r->surroundings.devnull = descriptors_open_null();
	if (r->surroundings.devnull < 0)
		return -errno;
	r->order = or_exit(calloc(r->count + 1, sizeof(*r->order)));
	r->workers = or_exit(calloc(jobs, sizeof(*r->workers)));
	/* Who is ignored here, by whoever has started us, leaves nothing to wait for. */
	signal(SIGCHLD, SIG_DFL);
	if (make_slots(r, jobs))
		return -ENOMEM;
	r->machine = machine_begin(jobs);
	if (!r->machine)
		return -errno;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&r->waited);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&r->waited, signals[i]);
	return sigprocmask(SIG_BLOCK, &r->waited, &r->before) ? -errno : 0;
}

/* False if the machine is not as it was. */
static bool tear_down(struct runner *r)
{
	bool restored;

	sigprocmask(SIG_SETMASK, &r->before, NULL);
	if (r->surroundings.devnull >= 0)
		close(r->surroundings.devnull);
	for (unsigned i = 0; r->workers && i < r->options->jobs; i++)
		if (r->workers[i].slot)
			munmap(r->workers[i].slot, sizeof(*r->workers[i].slot));
	if (r->has_begun)
		sysctl_watch_end(&r->sysctls);
	environment_let_go(r->env); /* before the lock is another run's */
	restored = machine_end(r->machine);
	free(r->workers);
	free(r->order);
	return restored;
}

/* What only the whole run can say: runs that differed, instances that were not reached. */
static void conclude(struct runner *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct result *result = &r->results[i];
		struct verdict *v = &result->verdict;
		char got[sizeof(v->got)];

		if (!result->runs && r->enough && !r->interrupted) {
			snprintf(got, sizeof(got), "%s ended the run%s%s", r->enough->id,
				 result->reason ? " before this case ran again: " : "",
				 result->reason ? result->reason : "");
			result_skip(result, "fail-fast", got);
		} else if (!result_has_run(result)) {
			result_error(result, r->gave_up ? "gave up waiting for another perfabi"
							: "the run was ended before this case");
		} else if (result->differed) {
			v->outcome = UNSTABLE;
			result->tried = 0; /* that is of one round */
			snprintf(got, sizeof(got), "%u of %u runs differed: %.900s",
				 result->differed, result->runs, v->got[0] ? v->got : "no result");
			memcpy(v->got, got, sizeof(got));
		}
		result->instance = r->instances[i];
	}
}

int run_all(const struct instance *const *instances, size_t count, const struct cases *cases,
	    struct environment *env, const struct run_options *options, struct result *results,
	    struct run_end *end)
{
	struct runner r = {.instances = instances,
			   .cases = cases,
			   .env = env,
			   .options = options,
			   .results = results,
			   .count = count,
			   .surroundings = {.devnull = -1,
					    .trace = options->trace,
					    .seconds = (unsigned)options->timeout + 1,
					    .altered = signals_altered()}};
	int err;

	r.requirements = (struct requirements){cases, env, &r.surroundings, options->timeout,
					       options->tries_skipped};
	memset(results, 0, count * sizeof(*results));
	err = set_up(&r);
	if (err) {
		tear_down(&r);
		return err;
	}
	for (r.round = 0; r.round < options->repeat && !r.interrupted && !r.gave_up && !r.enough;
	     r.round++)
		run_round(&r);
	look_for_alarms(&r, NULL);
	stop_all(&r);
	*end = (struct run_end){r.interrupted, r.gave_up, tear_down(&r)};
	conclude(&r);
	return 0;
}
