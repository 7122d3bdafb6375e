/* SPDX-License-Identifier: MIT */
/*
 * The end of a case's process, by itself, by a signal, or because it took too long.
 */
#include "run/death.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "text/json_memory.h"
#include "run/child.h"
#include "step/verbs/signals.h"

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
	verdict_set(&result->verdict, outcome, "the case to come to its end", got);
	if (stage == STAGE_STEPPING)
		snprintf(result->verdict.call, sizeof(result->verdict.call), "step %u",
			 w->slot->step);
}

void death_take_verdict(const struct worker *w, int status, double timeout, struct result *result)
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
