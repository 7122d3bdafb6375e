/* SPDX-License-Identifier: MIT */
/*
 * The case's own process: bounded, alone in its group and session, without privilege it should not
 * have, and with no file descriptor of the runner's.
 */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "given.h"

const char *const stage_names[] = {"starting", "preparing", "in the call under test",
				   "asking which gate refused", "done"};

enum { FILES = 4096, FILE_BYTES = 4 << 20 };

static void bound(__rlimit_resource_t resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_cur > most)
		limit.rlim_cur = most;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	setrlimit(resource, &limit);
}

/* Cases open hundreds of events: the soft limit may be less than that, and the hard one more. */
static void bound_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < FILES ? limit.rlim_max : FILES;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void bound_resources(unsigned seconds)
{
	bound(RLIMIT_CORE, 0);
	bound(RLIMIT_CPU, seconds + 1);
	bound(RLIMIT_FSIZE, FILE_BYTES);
	bound_files();
#if !defined(SANITIZED) /* the sanitizers' shadow memory is larger */
	bound(RLIMIT_AS, (rlim_t)1 << 30);
#endif
}

static void close_from(int first)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)first, ~0U, 0U))
		return;
#endif
	for (int fd = first; fd < FILES; fd++)
		close(fd);
}

static void isolate(int devnull, unsigned seconds)
{
	sigset_t none;

	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(devnull, 0);
	dup2(devnull, 1);
	close_from(3);
	bound_resources(seconds);
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
	int err = identity_become(instance->as);

	if (err)
		give_up(slot, ERROR, "to become the identity that the case is for", strerror(-err));
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the uids changed: that clears it */
	if (getppid() == 1)
		_exit(1);
}

static void prepare(const struct instance *instance, const struct body *body,
		    const struct cases *cases, struct scope *scope, struct call *call,
		    struct slot *slot)
{
	struct where root = where_root(instance->source), at_cases = where_key(&root, "cases");
	struct where at = where_index(&at_cases, instance->case_index);
	struct where at_given = where_key(&at, "given"), at_open = where_key(&at, "open");
	struct error e = {0};
	int err = given_run(body->given, cases->abi, scope, &at_given, &e);

	/* A kernel that refuses what the case builds on has failed it; anything else is our fault.
	 */
	if (err)
		give_up(slot, err == -ECANCELED ? FAIL : ERROR, e.expected, e.got);
	if (call_from_json(call, cases->abi, scope->env->arch, body->open, scope, &at_open, &e))
		give_up(slot, ERROR, e.expected, e.got);
}

_Noreturn void child_run(const struct instance *instance, enum flip flip, const struct cases *cases,
			 struct environment *env, struct slot *slot, int devnull, unsigned seconds)
{
	struct scope scope = {.env = env};
	struct observation seen = {0};
	struct expectation expectation;
	struct verdict verdict;
	struct body body;
	struct call call;
	pid_t zombie = 0;
	int err;

	slot->stage = STAGE_PREPARING;
	if (body_make(cases, instance, &body) ||
	    expect_choose(instance, &body, cases, env, &expectation))
		give_up(slot, ERROR, "a case and its expectation", "none");
	if (flip)
		expect_flip(&expectation, flip, cases);
	isolate(devnull, seconds);
	become(instance, slot);
	scope.unmapped = call_unmapped_page(env);
	if (body.given) /* before there are events that a fork could inherit */
		zombie = phase_make_zombie();
	prepare(instance, &body, cases, &scope, &call, slot);

	slot->stage = STAGE_CALLING;
	err = call_issue(&call, env, &seen.answer);
	if (err)
		give_up(slot, ERROR, "memory to pass the attr in", strerror(-err));
	call_format(&call, &seen.answer, env, slot->call, sizeof(slot->call));

	slot->stage = STAGE_ASKING;
	if (seen.answer.err && instance->kind == CONFORMANCE)
		seen.phases = phase_infer(&cases->phases, &call, seen.answer.err, zombie, env);
	expect_judge(&expectation, &seen, cases, &scope, &verdict);
	tell(slot, &verdict, &seen);
	finish(slot, verdict.outcome);
}
