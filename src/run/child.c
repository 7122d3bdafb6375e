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

#include "machine/limits.h"
#include "step/step.h"
#include "text/json_text.h"

const char *const stage_names[] = {"starting", "preparing", "carrying out its steps", "done"};

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
	sigset_t none;
	int priority;

	setsid();
	/* As any task: of those that are scheduled in another way cases promise nothing. */
	if (scheduler_get(&priority) != SCHED_OTHER)
		scheduler_set(SCHED_OTHER, 0);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(&surroundings->altered, sig) == 1)
			signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	descriptors_null(surroundings->devnull);
	descriptors_close_from(3, -1, -1);
	limits_set(surroundings->seconds);
}

_Noreturn static void finish(struct slot *slot)
{
	slot->stage = STAGE_DONE;
	_exit(0);
}

_Noreturn static void give_up(struct slot *slot, const char *expected, const char *got)
{
	verdict_set(&slot->verdict, ERROR, expected, got);
	finish(slot);
}

static void become(const struct instance *instance, struct slot *slot)
{
	int err = identity_become(instance->who.as, slot->uid, 0);

	if (err)
		give_up(slot, "to become the identity that the case is for", strerror(-err));
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the uids changed: that clears it */
	if (getppid() != slot->runner)
		_exit(1);
}

/* A kernel that refuses what the case builds on has failed it. */
_Noreturn static void run_program(const struct instance *instance, struct steps *steps,
				  struct slot *slot)
{
	const struct program *program = instance->program;
	struct refused refused = {0};

	if (program->is_call && program->given.count) /* before a fork could inherit events */
		steps->zombie = phase_make_zombie();
	if (!steps_run(steps, &program->given, &slot->verdict))
		finish(slot);
	slot->stage = STAGE_STEPPING;
	steps->at_step = &slot->step;
	steps->is_call = program->is_call;
	if (program->is_capability)
		steps->refused = &refused;
	if (steps_run(steps, &program->steps, &slot->verdict))
		steps_end(steps, &slot->verdict);
	if (program->is_capability) {
		slot->verdict.refused = refused;
		outcomes_judge(&program->outcomes, program->is_call, &slot->verdict);
	}
	finish(slot);
}

/* Its own cgroup, as $cgroup.path, .name, .id and .fd. */
static int bind_cgroup(struct steps *steps, const char *path)
{
	struct stat st;
	json_t *json;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, err;

	if (!path)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	json = json_pack("{s:s,s:s,s:I,s:i}", "path", path, "name", strrchr(path, '/') + 1, "id",
			 (json_int_t)st.st_ino, "fd", fd);
	err = scope_bind_json(&steps->scope, "cgroup", json);
	json_decref(json);
	return err;
}

_Noreturn void child_run(const struct instance *instance, unsigned wrong_part,
			 const struct cases *cases, struct environment *env, struct slot *slot,
			 const struct surroundings *surroundings, const char *cgroup)
{
	const struct program *program = instance->program;
	struct steps *steps;

	slot->stage = STAGE_PREPARING;
	steps = or_exit(malloc(sizeof(*steps)));
	isolate(surroundings);
	/* What `when` asks of the machine, it asks with the runner's rights, as requirements.c
	 * does. */
	if (wrong_part && steps_part(instance->program, &instance->who, env, &cases->tables,
				     wrong_part, true) == NO_PART)
		give_up(slot, "a mutation that applies", "none");
	block_settle(&program->given, &instance->who, env);
	block_settle(&program->steps, &instance->who, env);
	become(instance, slot);
	if (steps_begin(steps, &cases->tables, &instance->who, env) || bind_cgroup(steps, cgroup))
		give_up(slot, "memory and a cgroup that can be opened", strerror(errno));
	steps->asks_gates = instance->kind == CONFORMANCE;
	steps->restores_sysctls = program->sysctl != NULL;
	steps->is_expendable = program->is_expendable;
	steps->uid = slot->uid;
	steps->trace = surroundings->trace;
	run_program(instance, steps, slot);
}
