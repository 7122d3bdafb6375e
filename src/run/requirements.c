/* SPDX-License-Identifier: MIT */
/*
 * What keeps an instance from running here is told before it runs, and never by the errno that it
 * is about.
 */
#include "run/requirements.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "case/cases.h"
#include "machine/names.h"
#include "machine/clock.h"
#include "machine/require.h"
#include "step/program.h"

/*
 * A case that another one asks for runs as any does, in a process of its own, and with a page for
 * its verdict; what it requires in its turn must be met, but for other cases.
 */

/* What it asks for itself. */
static bool meets_its_own(struct environment *env, const struct instance *instance, char *found,
			  size_t size)
{
	const json_t *requirement;
	bool can = true;
	size_t i;

	json_array_foreach(instance->program->requirements, i, requirement)
		can = can && require_any_met(env, json_string_value(requirement), instance->who.as,
					     found, size);
	return can;
}

/* Whether somebody wants the run to end: the runner blocks these signals and looks for them. */
static bool is_to_end(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1);
}

enum reply { NO, YES, UNFORESEEN };

/* Of a capability: what its outcome does not foresee. */
static enum reply reply_of(const struct slot *slot, const struct instance *instance, char *found,
			   size_t size)
{
	const struct verdict *v = &slot->verdict;
	bool done = slot->stage == STAGE_DONE;

	if (done && v->outcome == PASS &&
	    (instance->kind == CONFORMANCE || !strcmp(v->capability, "yes")))
		return YES;
	if (done && v->outcome == FAIL && instance->kind != CONFORMANCE)
		return UNFORESEEN;
	snprintf(found, size, "%s: %.120s", instance->title,
		 !done       ? "it did not end"
		 : v->got[0] ? v->got
			     : "it does not pass here");
	return NO;
}

/* An answer, or a negative errno: it could not be run. */
static int run_it(const struct instance *instance, const struct cases *cases,
		  struct environment *env, const struct surroundings *surroundings, uid_t uid,
		  double timeout, char *found, size_t size)
{
	struct slot *slot = mmap(NULL, sizeof(*slot), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct surroundings untold = *surroundings;
	int answer, status;
	pid_t pid;

	untold.trace = NULL; /* its calls are not those of the case that requires it */
	if (slot == MAP_FAILED)
		return -errno;
	*slot = (struct slot){.runner = getpid(), .uid = uid};
	pid = fork();
	answer = pid < 0 ? -errno : NO;
	if (!pid)
		child_run(instance, 0, cases, env, slot, &untold, NULL);
	if (pid > 0) {
		patience_await(pid, timeout, is_to_end, &status);
		answer = (int)reply_of(slot, instance, found, size);
	}
	munmap(slot, sizeof(*slot));
	return answer;
}

bool required_case_says_no(const struct instance *instance, int err)
{
	const struct outcomes *outcomes = &instance->program->outcomes;

	return instance->kind == CONFORMANCE || outcomes->otherwise ||
	       (err && outcome_lists(outcomes->no, err));
}

/*
 * Runs it in a process of its own, for `timeout` seconds at most, and waits. Whether the token is
 * met: a conformance case has passed, a capability is there. If not, `found` says what came. A
 * capability whose outcome does not foresee what came keeps no case from telling of it: it is met.
 */
static bool required_case_met(const struct cases *cases, struct environment *env, const char *token,
			      enum identity as, const struct surroundings *surroundings, uid_t uid,
			      double timeout, char *found, size_t size)
{
	const struct instance *instance = cases_required(cases, token, as, NULL);
	bool negated = token[0] == '!';
	int answer;

	if (!instance) {
		snprintf(found, size, "there is no such case");
		return false;
	}
	if (!meets_its_own(env, instance, found, size))
		return false; /* which is not known, either way */
	answer = run_it(instance, cases, env, surroundings, uid, timeout, found, size);
	if (answer < 0)
		snprintf(found, size, "it could not be run: %s", strerror(-answer));
	else if (answer == YES && negated)
		snprintf(found, size, "it passes here: %s", instance->title);
	return answer == UNFORESEEN || (answer >= 0 && (answer == YES) != negated);
}

/*
 * Some distributions let users open nothing at all (Debian's perf_event_paranoid 3). Then only what
 * is refused before that can be told.
 */
static bool opens_nothing(const struct requirements *here, const struct instance *instance,
			  char *why, size_t size)
{
	const struct environment *env = here->env;
	const struct phases *phases = &here->cases->tables.phases;
	const struct program *program = instance->program;
	int err = environment_control(env, instance->who.as);
	int permission = phase_by_name(phases, "permission", NULL);
	const struct alternative *x =
		program->is_call ? expect_choose(program->steps.list, &instance->who, here->env)
				 : NULL;

	if ((err != EACCES && err != EPERM) || env->control[AS_ROOT] == err ||
	    (program->is_capability && program->is_call))
		return false;
	snprintf(why, size, "a plain dummy event gives %s %s, perf_event_paranoid is %d",
		 identity_names[instance->who.as], errno_name(err), env->sysctls[SYSCTL_PARANOID]);
	/* steps would not get far without an event */
	return !x || !x->err || x->phase > permission || (x->phase == permission && x->err != err);
}

static bool is_token_met(const struct requirements *here, uid_t uid,
			 const struct instance *instance, const char *token, char *why, size_t size)
{
	if (!require_case_id(token))
		return require_met(here->env, token, instance->who.as, why, size);
	return required_case_met(here->cases, here->env, token, instance->who.as,
				 here->surroundings, uid, here->timeout, why, size);
}

bool requirements_meet(const struct requirements *here, uid_t uid, const struct instance *instance,
		       const char *tokens, char *why, size_t size)
{
	char one[REQUIRE_TOKEN];
	bool met = false;

	why[0] = '\0';
	while (!met && require_next(&tokens, one, sizeof(one))) {
		size_t n = strlen(why);

		snprintf(why + n, size - n, "%s", n ? "; " : "");
		n = strlen(why);
		met = is_token_met(here, uid, instance, one, why + n, size - n);
	}
	return met;
}

bool requirements_bar(const struct requirements *here, const struct instance *instance,
		      struct result *result)
{
	char why[192], token[40];

	snprintf(token, sizeof(token), "as.%s", identity_names[instance->who.as]);
	if (environment_is_barred(here->env)) {
		snprintf(why, sizeof(why), "an open with size 1 gives %s, seccomp mode %d",
			 errno_name(here->env->attr_size_errno), here->env->seccomp);
		result_skip(result, "perf_event_open", why);
	} else if (!identity_available(&here->env->rights, instance->who.as, why, sizeof(why)))
		result_skip(result, token, why);
	return result->token != NULL;
}

/* The first of its tokens that is not met is what it is skipped for. */
static bool meets_all(const struct requirements *here, uid_t uid, const struct instance *instance,
		      struct result *result)
{
	const json_t *requirement;
	char why[384];
	size_t i;

	json_array_foreach(instance->program->requirements, i, requirement) {
		const char *text = json_string_value(requirement);

		if (requirements_meet(here, uid, instance, text, why, sizeof(why)))
			continue;
		result_skip(result, text, why);
		return false;
	}
	return true;
}

bool requirements_allow(const struct requirements *here, uid_t uid, const struct instance *instance,
			struct result *result)
{
	const struct program *program = instance->program;
	char why[384], token[40];

	if (!meets_all(here, uid, instance, result))
		return false;
	if (block_is_barred(&program->steps, &instance->who, here->env, token, sizeof(token))) {
		result_skip(result, token, "perfabi may not run there: it is not in its cpuset");
		return false;
	}
	if (!opens_nothing(here, instance, why, sizeof(why)))
		return true;
	snprintf(token, sizeof(token), "as.%s", identity_names[instance->who.as]);
	result_skip(result, token, why);
	return false;
}
