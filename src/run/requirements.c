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

enum reply { NOT_KNOWN = -1, NO, YES, UNFORESEEN };

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
	return !done || v->outcome == ERROR || !strcmp(v->capability, "denied") ? NOT_KNOWN : NO;
}

static enum reply run_it(const struct requirements *here, const struct instance *instance,
			 uid_t uid, char *found, size_t size)
{
	struct slot *slot = mmap(NULL, sizeof(*slot), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct surroundings untold = *here->surroundings;
	enum reply reply = NOT_KNOWN;
	int status;
	pid_t pid = -1;

	untold.trace = NULL; /* its calls are not those of the case that requires it */
	if (slot != MAP_FAILED) {
		*slot = (struct slot){.runner = getpid(), .uid = uid};
		pid = fork();
	}
	if (!pid)
		child_run(instance, 0, here->cases, here->env, slot, &untold, NULL);
	if (pid > 0) {
		patience_await(pid, here->timeout, is_to_end, &status);
		reply = reply_of(slot, instance, found, size);
	} else {
		snprintf(found, size, "it could not be run: %s", strerror(errno));
	}
	if (slot != MAP_FAILED)
		munmap(slot, sizeof(*slot));
	return reply;
}

bool required_case_says_no(const struct instance *instance, int err)
{
	const struct outcomes *outcomes = &instance->program->outcomes;

	return instance->kind == CONFORMANCE || outcomes->otherwise ||
	       (err && outcome_lists(outcomes->no, err));
}

/*
 * Runs it in a process of its own, and waits. 1 if the token is met: a conformance case has passed,
 * a capability is there. Else `found` says what came: 0 if not, -1 if that is not known. A
 * capability whose outcome does not foresee what came keeps no case from telling of it: it is met.
 */
static int required_case_truth(const struct requirements *here, const char *token, enum identity as,
			       uid_t uid, char *found, size_t size)
{
	const struct instance *instance = cases_required(here->cases, token, as, NULL);
	bool negated = token[0] == '!';
	enum reply reply;

	if (!instance) {
		snprintf(found, size, "there is no such case");
		return NOT_KNOWN;
	}
	if (!meets_its_own(here->env, instance, found, size))
		return NOT_KNOWN;
	reply = run_it(here, instance, uid, found, size);
	if (reply == YES && negated)
		snprintf(found, size, "it passes here: %s", instance->title);
	if (reply == NO || reply == YES)
		return (reply == YES) != negated;
	return reply == UNFORESEEN ? 1 : NOT_KNOWN;
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

int requirements_truth(const struct requirements *here, uid_t uid, const struct instance *instance,
		       const char *tokens, char *why, size_t size)
{
	char one[REQUIRE_TOKEN];
	int truth = 0;

	why[0] = '\0';
	while (truth != 1 && require_next(&tokens, one, sizeof(one))) {
		size_t n = strlen(why);
		enum identity as = instance->who.as;
		int is_met;

		snprintf(why + n, size - n, "%s", n ? "; " : "");
		n = strlen(why);
		is_met = require_case_id(one)
				 ? required_case_truth(here, one, as, uid, why + n, size - n)
				 : require_truth(here->env, one, as, why + n, size - n);
		if (is_met)
			truth = is_met;
	}
	return truth;
}

bool requirements_bar(const struct requirements *here, const struct instance *instance,
		      struct result *result)
{
	char why[192], token[40];

	snprintf(token, sizeof(token), "as.%s", identity_names[instance->who.as]);
	if (!case_is_without_call(instance->program->requirements) &&
	    require_truth(here->env, "perf_event_open", instance->who.as, why, sizeof(why)) != 1)
		result_skip(result, "perf_event_open", why);
	else if (!identity_available(&here->env->rights, instance->who.as, why, sizeof(why)))
		result_skip(result, token, why);
	return result->token != NULL;
}

/* The first of its tokens that is not met is what it is skipped for. */
static bool meets_all(const struct requirements *here, uid_t uid, const struct instance *instance,
		      struct result *result)
{
	const json_t *requirement;
	unsigned lacks = 0;
	char why[384];
	size_t i;

	json_array_foreach(instance->program->requirements, i, requirement) {
		const char *text = json_string_value(requirement);

		if (requirements_truth(here, uid, instance, text, why, sizeof(why)) == 1)
			continue;
		if (!lacks++)
			result_skip(result, text, why);
		if (!here->asks_all)
			break;
	}
	result->lacks = lacks;
	return !lacks;
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
