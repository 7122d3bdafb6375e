/* SPDX-License-Identifier: MIT */
/*
 * Loading the model for this machine or a recorded one.
 */
#include "command/modelled.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/command.h"
#include "machine/limits.h"
#include "machine/names.h"
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

int read_machine(struct loaded *loaded, const char *program)
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
	const struct world world = {.told = env->attr_size_errno};
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
		model_tell_cause(model, &call, &caller, &world, told);
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
