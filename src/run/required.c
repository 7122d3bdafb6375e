/* SPDX-License-Identifier: MIT */
/*
 * A case that another one asks for runs as any does, in a process of its own, and with a page for
 * its verdict; what it requires in its turn must be met, but for other cases.
 */
#include "case/cases.h"
#include "run/required.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "machine/patience.h"
#include "machine/require.h"
#include "step/expect.h"

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

bool required_case_met(const struct cases *cases, struct environment *env, const char *token,
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
