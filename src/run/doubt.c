/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own failures come each time, and on a machine that is the case's own.
 */
#include "run/doubt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "case/cases.h"
#include "machine/draw.h"
#include "machine/require.h"
#include "machine/sysctl.h"
#include "run/required.h"

/*
 * How often a case fails, one run after the other, until that is no longer others' doing; and of
 * how many cases, until it is plain that it is the kernel's.
 */
enum { FAILURES = 8, CONFIRMED = 40 };

unsigned long doubt_oom_kills(void)
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

void doubt_watch_sysctls(struct runner *r, const struct sysctl_set *ours)
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

bool doubt_void_if_moved(const struct runner *r, const struct worker *w, struct result *result)
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

const char *doubt_what_happened(const struct runner *r, const struct worker *w)
{
	if (doubt_oom_kills() != w->oom_kills)
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
 * A case that failed beside somebody who came after it had begun has found out nothing: what it
 * asked of the others is asked again. True if it asked anything, and that is so.
 */
static bool hangs_on_others(struct runner *r, struct worker *w, struct result *result)
{
	const struct instance *instance = r->instances[w->index];
	const json_t *requirement;
	bool hangs = false;
	char why[384];
	size_t i;

	if (result->verdict.outcome != FAIL)
		return false;
	json_array_foreach(instance->program->requirements, i, requirement) {
		const char *token = json_string_value(requirement);

		if (!require_is_fleeting(token) || !may_be_theirs(r, w, token, result->verdict.err))
			continue;
		snprintf(w->asked, sizeof(w->asked), "%s", token);
		w->suspects = "others";
		get_out_of_step(r);
		hangs = site_meets(&r->site, w->uid, instance, token, why, sizeof(why));
		if (hangs)
			continue;
		result_skip(result, token, why);
		break;
	}
	return hangs;
}

/*
 * A virtual machine's debug registers are its hypervisor's to keep. On one, hits went missing at
 * times, or came as a SIGTRAP that nobody asked for. What the kernel refuses is its own.
 */
static bool hangs_on_hypervisor(const struct runner *r, struct worker *w,
				const struct result *result)
{
	const json_t *requirement;
	size_t i;

	if (result->verdict.outcome != FAIL || result->verdict.err || !r->env->hypervisor[0])
		return false;
	json_array_foreach(r->instances[w->index]->program->requirements, i, requirement) {
		const char *token = json_string_value(requirement);

		if (!require_is_of_breakpoints(token))
			continue;
		snprintf(w->asked, sizeof(w->asked), "%s", token);
		w->suspects = "the hypervisor, which keeps the debug registers,";
		return true;
	}
	return false;
}

void doubt_skip_if_unconfirmed(const struct worker *w, struct result *result)
{
	char why[384];

	if (result->verdict.outcome != PASS || !w->failures)
		return;
	snprintf(why, sizeof(why), "it failed (%u of %u runs), and %s may be why; got %s",
		 w->failures, w->failures + 1, w->suspects, w->failure);
	result_skip(result, w->asked, why);
}

bool doubt_runs_again(struct runner *r, struct worker *w, struct result *result)
{
	if (w->timed_out || r->options->parts ||
	    (!hangs_on_others(r, w, result) && !hangs_on_hypervisor(r, w, result)))
		return false;
	w->failures++;
	snprintf(w->failure, sizeof(w->failure), "%.150s",
		 result->verdict.got[0] ? result->verdict.got : "nothing");
	r->confirmed += w->failures == FAILURES;
	return w->failures < FAILURES && r->confirmed < CONFIRMED;
}
