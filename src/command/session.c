/* SPDX-License-Identifier: MIT */
/*
 * Options, loading, running; nothing is printed but progress and what is wrong.
 */
#include "command/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/modelled.h"
#include "machine/clock.h"
#include "machine/limits.h"
#include "machine/sysctl.h"
#include "text/say.h"

const struct option_row session_options[] = {
	{"cases", 'c', OPTION_TEXT, "DIR", "the cases below DIR, not the built-in ones",
	 AT(struct session, folder)},
	{"filter", 0, OPTION_TAKEN, "KEY=GLOB",
	 "only cases whose KEY matches, or with KEY!=GLOB does not; given again, all must hold; "
	 "KEY: id suite as kind vehicle title errno phase",
	 AT(struct session, filters), .take = filters_add},
	{"jobs", 'j', OPTION_UNSIGNED, "N", "processes at a time (default: two a cpu)",
	 AT(struct session, options.jobs), .least = 1, .most = 1024},
	{"timeout", 0, OPTION_SECONDS, "SECONDS",
	 "stop a case after so long, as a failure (default 10)",
	 AT(struct session, options.timeout), .least = 0.01, .most = 3600},
	{"wait", 0, OPTION_SECONDS, "SECONDS",
	 "wait so long for another perfabi to be done with the machine (default: as long as it "
	 "takes)",
	 AT(struct session, options.wait), .most = 1e6},
	{"repeat", 0, OPTION_UNSIGNED, "N", "run every case N times; runs that differ are failures",
	 AT(struct session, options.repeat), .least = 1, .most = 1e6},
	{"shuffle", 0, OPTION_U64, "SEED", "run in an order that the number SEED decides",
	 AT(struct session, options.seed), .given = offsetof(struct session, options.shuffle)},
	{0}};

int take_host(void *host, const char *name, const struct option_row *row, const char *program)
{
	return !one_line(name) || host_rename(host, name)
		       ? option_bad_value(program, row->name, name,
					  "a name of 1 to 64 bytes of UTF-8, without control "
					  "characters")
		       : 0;
}

int take_no_host(void *host, const char *value, const struct option_row *row, const char *program)
{
	(void)value;
	(void)row;
	(void)program;
	host_hide(host);
	return 0;
}

void session_begin(struct session *s, const char *program)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*s = (struct session){
		.program = program,
		.options = {/* more than cpus: closing a probe waits for RCU without using one */
			    .jobs = cpus > 0 ? (unsigned)cpus * 2 : 2,
			    .timeout = 10,
			    .wait = -1,
			    .repeat = 1}};
}

void session_progress(struct session *s, size_t done, size_t total)
{
	double t, rate, left;

	if (!s->shows_progress)
		return;
	t = clock_seconds();
	if (t - s->began < 0.5 || t - s->shown < 0.1)
		return;
	s->shown = t;
	rate = (double)done / (t - s->began);
	left = (double)(total - done) / rate;
	fprintf(stderr, "\r\033[K%zu of %zu, %.0f a second, ", done, total, rate);
	if (left < 100)
		fprintf(stderr, "%.0f s left", left + 0.5);
	else
		fprintf(stderr, "%.0f min left", left / 60 + 0.5);
}

bool session_is_flawed(const struct session *s)
{
	return s->end.gave_up || !s->end.is_restored;
}

/* Without perf's sysctls, files and signals nothing can be judged; says what is to be done. */
static bool lacks_something(const struct environment *env, unsigned jobs, const char *program)
{
	static const char paranoid[] = "perf_event_paranoid";
	const unsigned wanted = LIMITS_PROCESSES_OF_RUN + jobs * LIMITS_PROCESSES_OF_CASE;
	const struct {
		const char *what, *letter;
		uint64_t has;
		int least, unit; /* a shell's */
	} limits[] = {{"open files", "n", env->nofile, LIMITS_FILES_LEAST, 1},
		      {"pending signals", "i", env->sigpending, LIMITS_SIGNALS_LEAST, 1},
		      /* bash has units of 1024, others of 512 bytes */
		      {"a file's bytes", "f", env->fsize, LIMITS_FILE_BYTES_LEAST, 512},
		      {"a stack's bytes", "s", env->stack, LIMITS_STACK_LEAST, 1024}};
	unsigned processes;
	long value;
	int err;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (limits[i].has >= (uint64_t)limits[i].least)
			continue;
		say(stderr,
		    "%s: the limit of %s is %llu here, and cases need %d\n  ulimit -%s %d\n",
		    program, limits[i].what, (unsigned long long)limits[i].has, limits[i].least,
		    limits[i].letter, limits[i].least / limits[i].unit);
		return true;
	}
	processes = limits_processes(wanted);
	err = sysctl_read(paranoid, &value);
	if (processes < wanted)
		say(stderr,
		    "%s: %u processes more can be had here, and %u cases at a time need %u\n"
		    "  --jobs N with a smaller N, or ulimit -u with a larger number\n",
		    program, processes, jobs, wanted);
	else if (err && env->attr_size_errno != ENOSYS)
		say(stderr,
		    "%s: /proc/sys/kernel/%s cannot be read, and cases go by it: %s\n"
		    "  mount a whole /proc, without subset=pid, and nothing over its sys\n",
		    program, paranoid, strerror(-err));
	else
		return false;
	return true;
}

int session_prepare(struct session *s, char *const arguments[])
{
	int status = load_cases(&s->loaded, s->folder, arguments, s->whole, s->program);

	if (status)
		return status;
	status = pick(&s->loaded.cases, arguments, &s->filters, &s->picked, &s->count, s->program);
	if (status)
		return status;
	status = read_machine(&s->loaded, s->program);
	if (status)
		return status;
	if (lacks_something(&s->loaded.env, s->options.jobs, s->program))
		return EXIT_HARNESS;
	s->began = clock_seconds();
	s->shows_progress = isatty(2);
	return 0;
}

int session_run(struct session *s, const struct instance *const *instances, size_t count)
{
	int err;

	results_free(s->results, s->result_count);
	s->results = results_new(count);
	s->result_count = s->results ? count : 0;
	err = s->results ? run_all(instances, count, &s->loaded.cases, &s->loaded.env, &s->options,
				   s->results, &s->end)
			 : -ENOMEM;
	if (s->shown > 0)
		fputs("\r\033[K", stderr);
	if (err)
		return fail(EXIT_HARNESS, "%s: the runner could not be set up: %s\n", s->program,
			    strerror(-err));
	if (s->end.gave_up)
		say(stderr, "%s: gave up after %g s of waiting for another perfabi\n", s->program,
		    s->options.wait);
	return 0;
}

void session_end(struct session *s)
{
	int sig = s->end.signal;

	results_free(s->results, s->result_count);
	free(s->picked);
	filters_free(&s->filters);
	load_free(&s->loaded);
	if (!sig)
		return;
	signal(sig, SIG_DFL); /* so that a shell sees what it expects */
	raise(sig);
}
