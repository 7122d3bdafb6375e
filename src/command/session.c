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

#include "command/barred.h"
#include "command/modelled.h"
#include "language/one_line.h"
#include "machine/clock.h"
#include "machine/limits.h"
#include "machine/sysctl.h"
#include "text/say.h"

void session_help(FILE *f)
{
	fputs("  -c, --cases DIR          the cases below DIR, not the built-in ones\n"
	      "      --filter KEY=GLOB    only cases whose KEY matches, or with KEY!=GLOB does "
	      "not;\n"
	      "                           given again, all must hold;\n"
	      "                           KEY: id suite as kind vehicle title errno phase\n"
	      "  -j, --jobs N             processes at a time (default: two a cpu)\n"
	      "      --timeout SECONDS    stop a case after so long, as a failure (default 10)\n"
	      "      --wait SECONDS       wait so long for another perfabi to be done with the "
	      "machine\n"
	      "                           (default: as long as it takes)\n"
	      "      --repeat N           run every case N times; runs that differ are failures\n"
	      "      --shuffle SEED       run in an order that the number SEED decides\n",
	      f);
}

int session_bad_value(const struct session *s, const char *option, const char *got,
		      const char *expected)
{
	say(stderr, "%s: --%s \"%s\"\n  expected: %s\n", s->program, option, got, expected);
	return -EINVAL;
}

int session_host(const struct session *s, struct host *host, const char *name)
{
	return !one_line(name) || host_rename(host, name)
		       ? session_bad_value(s, "host", name,
					   "a name of 1 to 64 bytes of UTF-8, without control "
					   "characters")
		       : 0;
}

static int parse_count(const struct session *s, const char *option, const char *text,
		       unsigned long most, unsigned *out)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (end == text || *end || errno || text[0] == '-' || !n || n > most) {
		char expected[48];

		snprintf(expected, sizeof(expected), "a number from 1 to %lu", most);
		return session_bad_value(s, option, text, expected);
	}
	*out = (unsigned)n;
	return 0;
}

static int parse_seed(struct session *s, const char *text)
{
	char *end;

	errno = 0;
	s->options.seed = strtoull(text, &end, 0);
	s->options.shuffle = true;
	if (end == text || *end || errno || text[0] == '-')
		return session_bad_value(s, "shuffle", text, "a number");
	return 0;
}

static int parse_timeout(const struct session *s, const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0.01 && *out <= 3600))
		return session_bad_value(s, "timeout", text, "seconds, from 0.01 to 3600");
	return 0;
}

static int parse_wait(const struct session *s, const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0 && *out <= 1e6))
		return session_bad_value(s, "wait", text, "seconds, from 0 to a million");
	return 0;
}

int session_option(struct session *s, int option, const char *value)
{
	switch (option) {
	case 'c':
		s->folder = value;
		return 0;
	case 'j':
		return parse_count(s, "jobs", value, 1024, &s->options.jobs);
	case 't':
		return parse_timeout(s, value, &s->options.timeout);
	case 'w':
		return parse_wait(s, value, &s->options.wait);
	case 'r':
		return parse_count(s, "repeat", value, 1000000, &s->options.repeat);
	case 's':
		return parse_seed(s, value);
	case 'F':
		return filters_add(&s->filters, value, s->program);
	default:
		return -ENOENT;
	}
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
	unsigned processes;
	long value;
	int err = sysctl_read(paranoid, &value);

	if (env->nofile < LIMITS_FILES_LEAST)
		say(stderr,
		    "%s: the limit of open files is %llu here, and cases need %d\n  ulimit -n %d\n",
		    program, (unsigned long long)env->nofile, LIMITS_FILES_LEAST,
		    LIMITS_FILES_LEAST);
	else if (env->sigpending < LIMITS_SIGNALS_LEAST)
		say(stderr,
		    "%s: the limit of pending signals is %llu here, and cases need %d\n  ulimit -i "
		    "%d\n",
		    program, (unsigned long long)env->sigpending, LIMITS_SIGNALS_LEAST,
		    LIMITS_SIGNALS_LEAST);
	else if (env->fsize < LIMITS_FILE_BYTES_LEAST)
		say(stderr,
		    "%s: the limit of a file's bytes is %llu here, and cases need %d\n  ulimit -f "
		    "%d\n",
		    program, (unsigned long long)env->fsize, LIMITS_FILE_BYTES_LEAST,
		    LIMITS_FILE_BYTES_LEAST / 512 /* a shell's unit is 512 bytes or 1024 */);
	else if (env->stack < LIMITS_STACK_LEAST)
		say(stderr,
		    "%s: a stack may have %llu bytes here, and cases need %d\n  ulimit -s %d\n",
		    program, (unsigned long long)env->stack, LIMITS_STACK_LEAST,
		    LIMITS_STACK_LEAST / 1024);
	else if ((processes = limits_processes(wanted)) < wanted)
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
	if (lacks_proc(s->program))
		return EXIT_HARNESS;
	status = barred_by_death(s->program);
	if (status)
		return status;
	environment_read(&s->loaded.env, s->loaded.abi);
	s->loaded.has_env = true;
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
	if (err) {
		say(stderr, "%s: the runner could not be set up: %s\n", s->program, strerror(-err));
		return EXIT_HARNESS;
	}
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
