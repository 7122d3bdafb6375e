/* SPDX-License-Identifier: MIT */
/*
 * Options, loading, running; nothing is printed but progress and what is wrong.
 */
#include "command/session.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/clock.h"
#include "machine/limits.h"
#include "machine/names.h"
#include "machine/sysctl.h"
#include "text/say.h"

enum { REPORT_MAX = 256 << 20 };

int barred_by_death(const char *program)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		struct rlimit none = {0};

		setrlimit(RLIMIT_CORE, &none);
		syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0UL);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		return 0;
	return fail(EXIT_ALL_SKIPPED,
		    "%s: nothing can be judged here: a seccomp filter kills whoever calls "
		    "perf_event_open(2), whatever the call is; allow it in the profile of the "
		    "container or "
		    "service\n",
		    program);
}

void wait_for_others(struct machine_lock *lock, double silent, const char *program)
{
	char holder[96];

	if (machine_lock_wait(lock, false, silent))
		return;
	say(stderr, "%s: waiting for %s\n", program,
	    machine_lock_holder(lock, holder, sizeof(holder)));
	machine_lock_wait(lock, false, HUGE_VAL);
}

static int load_model(struct model *model, struct loaded *loaded, struct environment *env,
		      const char *program)
{
	struct error e = {0};
	struct model_sources from = {.model = sources_find(&loaded->sources, "model.json"),
				     .checks = sources_find(&loaded->sources, "checks.json"),
				     .list = loaded->cases.checks};

	if (model_load(model, &from, &loaded->cases.tables, env, &e))
		return fail_with(program, &e);
	machine_init(&model->machine, env, &model->kinds, &model->learned);
	return 0;
}

int model_of_here(struct model *model, struct loaded *loaded, const char *program)
{
	int status = load_model(model, loaded, &loaded->env, program);

	if (status)
		return status;
	learned_learn(&model->learned, &loaded->env);
	model->machine.is_this = true;
	machine_read_tracepoints(&model->machine);
	return 0;
}

/* A report has the environment as a member; or the file is the environment itself. */
static int settle_recorded(struct modelled *m, const char *path, const char *program)
{
	struct source source = {.name = path, .root = ""};
	struct where root = where_root(&source);
	struct error e = {0};
	char *text = text_read(path, &source.length, REPORT_MAX);
	json_t *json, *environment;
	int status;

	if (!text)
		return fail(EXIT_USAGE, "%s: %s: %s\n", program, path, strerror(errno));
	source.text = text;
	json = source_parse(&source, &e);
	environment = json_object_get(json, "environment");
	if (!environment)
		environment = json;
	m->is_recorded =
		json && !environment_from_json(&m->recorded, m->loaded.abi, environment, &root, &e);
	status = m->is_recorded ? 0 : fail_with(program, &e);
	m->has_model = m->is_recorded;
	if (!status)
		status = load_model(&m->model, &m->loaded, &m->recorded, program);
	if (!status)
		learned_from_json(&m->model.learned, json_object_get(environment, "learned"),
				  &m->recorded);
	json_decref(json);
	free(text);
	return status;
}

/* Reads this machine's environment. 0, or an exit status after a message: there is no /proc, which
 * cases and the model look into, or a seccomp filter kills whoever calls. */
static int read_machine(struct loaded *loaded, const char *program)
{
	int status;

	if (access("/proc/self/status", R_OK))
		return fail(EXIT_HARNESS,
			    "%s: /proc is not mounted here, and nothing can be judged without it\n"
			    "  mount -t proc proc /proc\n",
			    program);
	status = barred_by_death(program);
	if (status)
		return status;
	environment_read(&loaded->env, loaded->abi);
	loaded->has_env = true;
	return 0;
}

/* This machine: what its kernel does is learned, and its processes can be looked at. */
static int settle_here(struct modelled *m, const char *program)
{
	struct environment *env = &m->loaded.env;
	int status = read_machine(&m->loaded, program);

	if (status)
		return status;
	if (env->nofile < LIMITS_FILES_LEAST) /* what needs one would seem not to be there */
		return fail(EXIT_HARNESS,
			    "%s: the limit of open files is %llu here, and looking at the machine "
			    "needs %d\n  ulimit -n %d\n",
			    program, (unsigned long long)env->nofile, LIMITS_FILES_LEAST,
			    LIMITS_FILES_LEAST);
	environment_read_alone(env);
	m->has_model = true;
	return model_of_here(&m->model, &m->loaded, program);
}

int modelled_load(struct modelled *m, const char *folder, const char *machine, const char *program)
{
	int status;

	*m = (struct modelled){0};
	status = load_tables(&m->loaded, folder, program);
	if (status)
		return status;
	return machine ? settle_recorded(m, machine, program) : settle_here(m, program);
}

void modelled_free(struct modelled *m)
{
	if (m->has_model)
		model_free(&m->model);
	if (m->is_recorded)
		environment_free(&m->recorded);
	load_free(&m->loaded);
}

/* The sentence is what the model says of a plain dummy event of whoever runs perfabi. */
bool is_barred_here(const struct model *model, const char *program, char *says)
{
	struct environment *env = model->machine.env;
	const struct caller caller = caller_as(&env->rights, env->rights.uid ? AS_USER : AS_ROOT);
	const struct objects objects = {.known_errno = env->attr_size_errno};
	const struct scope scope = {.env = env};
	const char *because, *instead;
	struct where nowhere = {0};
	struct error e = {0};
	json_t *open, *told;
	struct call call;

	if (!environment_is_barred(env))
		return false;
	told = json_object();
	open = json_pack("{s:{s:s,s:s,s:i}}", "attr", "type", "software", "config", "dummy",
			 "exclude_kernel", 1);
	if (!call_from_json(&call, env->abi, env->arch, open, &scope, &nowhere, &e)) {
		model_tell_cause(model, &call, &caller, &objects, told);
		call_free(&call);
	}
	because = json_string_value(json_object_get(told, "because"));
	instead = json_string_value(json_object_get(told, "instead"));
	if (because)
		snprintf(says, BARRED_TEXT, "%s: nothing can be judged here: %s%s%s", program,
			 because, instead ? "; " : "", instead ? instead : "");
	else
		snprintf(says, BARRED_TEXT,
			 "%s: nothing can be judged here: every perf_event_open(2) gives %s",
			 program, errno_name(env->attr_size_errno));
	json_decref(open);
	json_decref(told);
	return true;
}

int barred_of_here(struct loaded *loaded, const char *program, char *says)
{
	struct model model;
	int status;

	says[0] = '\0';
	if (!environment_is_barred(&loaded->env))
		return 0;
	environment_read_alone(&loaded->env);
	status = model_of_here(&model, loaded, program);
	if (!status)
		is_barred_here(&model, program, says);
	model_free(&model);
	return status;
}

/*
 * Runs of cases.
 */

const struct option_row session_options[] = {
	{"cases", 'c', OPTION_TEXT, "DIR", "use the cases in DIR instead of the built-in ones",
	 AT(struct session, folder)},
	{"filter", 0, OPTION_TAKEN, "KEY=GLOB",
	 "only cases whose KEY matches GLOB, or with KEY!=GLOB does not; can be repeated, and all "
	 "must hold; KEY: id suite as kind vehicle title errno phase",
	 AT(struct session, filters), .take = filters_add},
	{"jobs", 'j', OPTION_UNSIGNED, "N", "run N cases at a time (default: two for each cpu)",
	 AT(struct session, options.jobs), .least = 1, .most = 1024},
	{"timeout", 0, OPTION_SECONDS, "SECONDS", "fail a case that takes longer (default 10)",
	 AT(struct session, options.timeout), .least = 0.01, .most = 3600},
	{"wait", 0, OPTION_SECONDS, "SECONDS",
	 "give up when another perfabi keeps the machine busy for longer (default: wait forever)",
	 AT(struct session, options.wait), .most = 1e6},
	{"repeat", 0, OPTION_UNSIGNED, "N",
	 "run every case N times; different results are failures",
	 AT(struct session, options.repeat), .least = 1, .most = 1e6},
	{"shuffle", 0, OPTION_U64, "SEED",
	 "run the cases in random order; the same SEED gives the same order",
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
			    .timeout = TIMEOUT,
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
	else if (nanosleep(&(struct timespec){0}, NULL) && errno == ENOSYS)
		say(stderr,
		    "%s: nanosleep(2) is not implemented here, and cases wait by it\n"
		    "  lift the seccomp filter; a 32-bit program needs CONFIG_COMPAT_32BIT_TIME, "
		    "or "
		    "a 64-bit perfabi in its place\n",
		    program);
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
	if (sig)
		end_by_signal(sig);
}

int end_by_signal(int sig)
{
	fflush(stdout);
	signal(sig, SIG_DFL); /* so that a shell sees what it expects */
	raise(sig);
	return 128 + sig;
}
