/* SPDX-License-Identifier: MIT */
/*
 * The case's own process: bounded, alone in its group and session, without privilege it should not
 * have, and with no file descriptor of the runner's.
 */
#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/descriptors.h"
#include "machine/limits.h"
#include "step/steps.h"

const char *const stage_names[] = {"starting",
				   "preparing",
				   "in the call under test",
				   "carrying out its steps",
				   "asking which gate refused",
				   "done"};

sigset_t signals_altered(void)
{
	struct sigaction action;
	sigset_t altered;

	sigemptyset(&altered);
	for (int sig = 1; sig < NSIG; sig++)
		if (!sigaction(sig, NULL, &action) && action.sa_handler != SIG_DFL)
			sigaddset(&altered, sig);
	return altered;
}

static void isolate(const struct surroundings *surroundings)
{
	const struct sched_param none_better = {0};
	sigset_t none;

	setsid();
	/* As any task: of those that are scheduled in another way cases promise nothing. */
	if (sched_getscheduler(0) != SCHED_OTHER)
		sched_setscheduler(0, SCHED_OTHER, &none_better);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&surroundings->altered, sig) == 1)
			signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	descriptors_null(surroundings->devnull);
	descriptors_close_from(3, -1, -1);
	limits_set(surroundings->seconds);
}

_Noreturn static void finish(struct slot *slot, enum outcome outcome)
{
	slot->outcome = (int)outcome;
	slot->stage = STAGE_DONE;
	_exit(0);
}

_Noreturn static void give_up(struct slot *slot, enum outcome outcome, const char *expected,
			      const char *got)
{
	snprintf(slot->expected, sizeof(slot->expected), "%s", expected);
	snprintf(slot->got, sizeof(slot->got), "%s", got);
	finish(slot, outcome);
}

/* What the file descriptor of the call holds is of no further use: the next case must not wait for
 * it. */
static void tell(struct slot *slot, const struct verdict *verdict, const struct observation *seen)
{
	snprintf(slot->expected, sizeof(slot->expected), "%s", verdict->expected);
	snprintf(slot->got, sizeof(slot->got), "%s", verdict->got);
	snprintf(slot->capability, sizeof(slot->capability), "%s",
		 verdict->capability ? verdict->capability : "");
	slot->phases = seen->phases;
	slot->err = seen->answer.err;
}

static void become(const struct instance *instance, struct slot *slot)
{
	int err = identity_become(instance->as, slot->uid);

	if (err)
		give_up(slot, ERROR, "to become the identity that the case is for", strerror(-err));
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the uids changed: that clears it */
	if (getppid() != slot->runner)
		_exit(1);
}

/* Where the case stands in its file. */
struct place_of_case {
	struct where root, at_cases, at;
};

static void find_place(struct place_of_case *p, const struct instance *instance)
{
	p->root = where_root(instance->source);
	p->at_cases = where_key(&p->root, "cases");
	p->at = where_index(&p->at_cases, instance->case_index);
}

_Noreturn static void fail(struct slot *slot, const struct failure *failure)
{
	snprintf(slot->call, sizeof(slot->call), "%s", failure->call);
	give_up(slot, (enum outcome)failure->outcome, failure->expected, failure->got);
}

static void prepare(const struct instance *instance, const struct body *body,
		    const struct cases *cases, struct steps *steps, struct call *call,
		    struct slot *slot)
{
	struct place_of_case p;
	struct failure failure;
	struct error e = {0};

	find_place(&p, instance);
	struct where at_given = where_key(&p.at, "given"), at_open = where_key(&p.at, "open");

	/* A kernel that refuses what the case builds on has failed it. */
	if (!steps_run(steps, body->given, &at_given, &failure))
		fail(slot, &failure);
	if (call_from_json(call, cases->abi, steps->env->arch, body->open, &steps->scope, &at_open,
			   &e))
		give_up(slot, ERROR, e.expected, e.got);
}

/* A case that is one call. */
_Noreturn static void run_call(const struct instance *instance, struct flip flip,
			       const struct body *body, struct steps *steps, struct slot *slot)
{
	const struct cases *cases = steps->cases;
	struct environment *env = steps->env;
	struct observation seen = {0};
	struct expectation expectation;
	struct verdict verdict;
	struct call call;
	pid_t zombie = 0;
	int err;

	if (expect_choose(instance, body, cases, env, &expectation))
		give_up(slot, ERROR, "an expectation", "none");
	if (flip.kind)
		expect_flip(&expectation, flip.kind, cases);
	if (body->given) /* before there are events that a fork could inherit */
		zombie = phase_make_zombie();
	prepare(instance, body, cases, steps, &call, slot);

	slot->stage = STAGE_CALLING;
	err = call_issue(&call, env, &seen.answer);
	if (err)
		give_up(slot, ERROR, "memory to pass the attr in", strerror(-err));
	call_format(&call, &seen.answer, env, slot->call, sizeof(slot->call));

	slot->stage = STAGE_ASKING;
	if (seen.answer.err && instance->kind == CONFORMANCE)
		seen.phases = phase_infer(&cases->phases, &call, seen.answer.err, zombie, env);
	expect_judge(&expectation, &seen, cases, &steps->scope, &verdict);
	tell(slot, &verdict, &seen);
	finish(slot, verdict.outcome);
}

/* What a capability's steps say: that it is there, or which of its errnos it has not. */
static void judge_capability(const struct body *body, const struct failure *failure,
			     struct slot *slot)
{
	const char *capability = "yes";

	if (failure->outcome != PASS)
		capability =
			failure->outcome == FAIL ? expect_capability(body, failure->err) : NULL;
	if (!capability)
		return;
	snprintf(slot->capability, sizeof(slot->capability), "%s", capability);
	finish(slot, PASS);
}

static json_t *steps_of(const struct instance *instance, struct flip flip, const struct body *body,
			struct environment *env)
{
	if (flip.kind == FLIP_PART)
		return steps_flip(body->steps, instance, env, flip.part);
	return json_incref((json_t *)body->steps);
}

_Noreturn static void run_steps(const struct instance *instance, struct flip flip,
				const struct body *body, struct steps *steps, struct slot *slot)
{
	json_t *list = steps_of(instance, flip, body, steps->env);
	struct failure *failure = calloc(1, sizeof(*failure));
	struct place_of_case p;

	find_place(&p, instance);
	struct where at = where_key(&p.at, "steps");

	if (!list || !failure)
		give_up(slot, ERROR, "steps", "none");
	slot->stage = STAGE_STEPPING;
	steps->at_step = &slot->step;
	if (steps_run(steps, list, &at, failure))
		steps_end(steps, failure);
	if (instance->kind == CAPABILITY)
		judge_capability(body, failure, slot);
	if (failure->outcome != PASS)
		fail(slot, failure);
	finish(slot, PASS);
}

/* Its own cgroup, as $cgroup.path, .id and .fd. */
static int bind_cgroup(struct steps *steps, const char *path)
{
	struct stat st;
	json_t *json;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, err;

	if (!path)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	json = json_pack("{s:s,s:I,s:i}", "path", path, "id", (json_int_t)st.st_ino, "fd", fd);
	err = scope_bind_json(&steps->scope, "cgroup", json);
	json_decref(json);
	return err;
}

_Noreturn void child_run(const struct instance *instance, struct flip flip,
			 const struct cases *cases, struct environment *env, struct slot *slot,
			 const struct surroundings *surroundings, const char *cgroup)
{
	struct steps *steps = malloc(sizeof(*steps));
	struct body body;

	slot->stage = STAGE_PREPARING;
	if (!steps || body_make(cases, instance, &body))
		give_up(slot, ERROR, "memory for a case", strerror(ENOMEM));
	isolate(surroundings);
	become(instance, slot);
	if (steps_begin(steps, instance, cases, env) || bind_cgroup(steps, cgroup))
		give_up(slot, ERROR, "memory and a cgroup that can be opened", strerror(errno));
	steps->restores_sysctls = body.sysctl != NULL;
	steps->uid = slot->uid;
	if (body.steps)
		run_steps(instance, flip, &body, steps, slot);
	run_call(instance, flip, &body, steps, slot);
}
