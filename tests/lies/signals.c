/* SPDX-License-Identifier: MIT */
/*
 * Lies about the signals of overflows: between the kernel and the handler of step/verbs/signal.c.
 */
#include <signal.h>
#include <string.h>

#include "lie.h"

enum { PERF_BYTES = 24 };

static void (*handler)(int, siginfo_t *, void *);

/* A member of siginfo by its name; those of perf stand behind si_addr, whatever the header knows.
 */
static void change_info(const char *member, siginfo_t *info)
{
	char *perf = (char *)&info->si_addr + sizeof(info->si_addr);
	const struct {
		const char *name;
		void *at;
	} members[] = {{"code", &info->si_code},
		       {"fd", &info->si_fd},
		       {"band", &info->si_band},
		       {"addr", &info->si_addr},
		       {"perf_data", perf},
		       {"perf_type", perf + sizeof(long)},
		       {"perf_flags", perf + sizeof(long) + 4}};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(members[i].name, member))
			++*(unsigned char *)members[i].at;
}

static void handle(int signo, siginfo_t *info, void *context)
{
	struct lie *const *l = lies_of(LIE_SIGNAL);
	siginfo_t changed = *info;
	static unsigned came;
	unsigned times = 1;

	came++;
	if (*l && (!strcmp((*l)->how, "lost") || (came == 1 && !strcmp((*l)->how, "first-lost"))))
		times = 0;
	else if (*l && !strcmp((*l)->how, "doubled"))
		times = 2;
	else if (*l && strcmp((*l)->how, "first-lost") != 0)
		change_info((*l)->how, &changed);
	while (times--)
		handler(signo, &changed, context);
}

int __real_sigaction(int signo, const struct sigaction *to, struct sigaction *from);
int __wrap_sigaction(int signo, const struct sigaction *to, struct sigaction *from);
int __wrap_sigaction(int signo, const struct sigaction *to, struct sigaction *from)
{
	struct sigaction ours;
	bool tells = false;

	if (!lie_in("signals") || !to)
		return __real_sigaction(signo, to, from);
	for (struct lie *const *l = lies_of(LIE_SIGNAL); *l; l++)
		tells = lie_tells(*l) || tells;
	if (!tells)
		return __real_sigaction(signo, to, from);
	ours = *to;
	handler = to->sa_sigaction;
	ours.sa_sigaction = handle;
	return __real_sigaction(signo, &ours, from);
}
