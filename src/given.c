/* SPDX-License-Identifier: MIT */
/*
 * The steps that prepare a call, in one table of verbs.
 */
#include "given.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"

/* One step on its way through its verb. */
struct step {
	const json_t *json;
	const json_t *argument; /* the verb's own value */
	const struct abi *abi;
	const struct abi_arch *arch;
	struct scope *scope;
	const struct where *where; /* of the step */
	struct where at;           /* of the argument */
	struct error *error;
	uint64_t result; /* for bind */
};

static int number(struct step *s, const char *key, uint64_t fallback, uint64_t max, uint64_t *out)
{
	struct vars vars = scope_vars(s->scope);
	const json_t *json = key ? json_object_get(s->json, key) : s->argument;
	struct where at = key ? where_key(s->where, key) : s->at;
	struct value value;

	*out = fallback;
	if (!json)
		return 0;
	if (value_eval(json, NULL, &vars, &at, &value, s->error))
		return -EINVAL;
	if (value.known && (value.negative || value.bits > max))
		return error_value(s->error, &at, json, "0 to %llu", (unsigned long long)max);
	*out = value.bits;
	return 0;
}

static int bound(struct step *s, uint64_t *out)
{
	struct vars vars = scope_vars(s->scope);
	const char *name = json_string_value(s->argument);
	struct nearest near = nearest_to(name ? name : "");
	bool known;

	if (!name)
		return error_value(s->error, &s->at, s->argument, "a name bound before");
	if (vars.lookup(vars.context, name, out, &known, &near))
		return error_name(s->error, &s->at, name, near.best, "a name bound before");
	return 0;
}

static int failed(struct step *s, int err)
{
	char got[96];

	snprintf(got, sizeof(got), "%s (%s)", strerrorname_np(err), strerror(err));
	error_text(s->error, s->where, got, "this preparation to succeed");
	return -err;
}

static int one_open(struct step *s, const struct call *call)
{
	struct answer answer;
	char text[200];
	int err = call_issue(call, s->scope->env, &answer);

	if (err)
		return failed(s, -err);
	if (!answer.err && answer.fd_is_event) {
		s->result = (uint64_t)answer.fd;
		return 0;
	}
	call_format(call, &answer, s->scope->env, text, sizeof(text));
	error_text(s->error, s->where, text, "this preparation to open an event");
	return -ECANCELED;
}

static int run_open(struct step *s)
{
	uint64_t times, first = 0;
	struct call call;
	int err = number(s, "times", 1, 4096, &times);

	if (!err)
		err = call_from_json(&call, s->abi, s->arch, s->argument, s->scope, &s->at,
				     s->error);
	if (err || s->scope->checking)
		return err;
	for (uint64_t i = 0; i < times && !err; i++) {
		err = one_open(s, &call);
		if (!i)
			first = s->result;
	}
	s->result = first;
	call_free(&call);
	return err;
}

static int run_close(struct step *s)
{
	uint64_t fd;
	int err = bound(s, &fd);

	if (err || s->scope->checking)
		return err;
	return close((int)fd) ? failed(s, errno) : 0;
}

static int run_mmap(struct step *s)
{
	uint64_t fd, pages;
	int err = bound(s, &fd);
	void *map;

	if (!err)
		err = number(s, "pages", 2, 1 << 16, &pages);
	if (err || s->scope->checking)
		return err;
	map = mmap(NULL, (size_t)pages * s->scope->env->page_size, PROT_READ | PROT_WRITE,
		   MAP_SHARED, (int)fd, 0);
	s->result = (uintptr_t)map;
	return map == MAP_FAILED ? failed(s, errno) : 0;
}

/* Sleeps or spins until it is killed, with its parent if not before. */
_Noreturn static void live(pid_t parent, bool spins)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		if (!spins)
			pause();
	_exit(0);
}

static int run_process(struct step *s)
{
	static const char *const kinds[] = {"sleeping", "spinning", "zombie", "gone", NULL};
	const char *kind = json_string_value(s->argument);
	pid_t parent = getpid(), pid;
	siginfo_t info;
	int i = kind ? name_index(kind, kinds, NULL) : -1;

	if (i < 0)
		return error_value(s->error, &s->at, s->argument,
				   "\"sleeping\", \"spinning\", \"zombie\" or \"gone\"");
	if (s->scope->checking)
		return 0;
	pid = fork();
	if (pid < 0)
		return failed(s, errno);
	if (!pid) {
		if (i < 2)
			live(parent, i == 1);
		_exit(0);
	}
	s->result = (uint64_t)pid;
	if (i >= 2 && waitid(P_PID, (id_t)pid, &info, WEXITED | (i == 2 ? WNOWAIT : 0)))
		return failed(s, errno);
	return 0;
}

static int run_kill(struct step *s)
{
	uint64_t pid;
	int err = bound(s, &pid);

	if (err || s->scope->checking)
		return err;
	if (kill((pid_t)pid, SIGKILL) || waitpid((pid_t)pid, NULL, 0) < 0)
		return failed(s, errno);
	return 0;
}

static int text_argument(struct step *s, char *out, size_t size)
{
	const char *text = json_string_value(s->argument);
	int err;

	if (!text)
		return error_value(s->error, &s->at, s->argument, "a string");
	err = scope_expand(s->scope, text, out, size);
	if (err == -ENOENT)
		return error_value(s->error, &s->at, s->argument, "$names that are known here");
	return err ? error_value(s->error, &s->at, s->argument, "less than %zu bytes", size) : 0;
}

static int run_file(struct step *s)
{
	char path[256];
	int err = text_argument(s, path, sizeof(path)), fd;

	if (err || s->scope->checking)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	s->result = (uint64_t)fd;
	return fd < 0 ? failed(s, errno) : 0;
}

static int run_cgroup(struct step *s)
{
	const char *hierarchy = json_string_value(s->argument);
	const json_t *file = json_object_get(s->json, "entry");
	struct where at_file = where_key(s->where, "entry");
	char path[320];
	size_t n;
	int fd;

	if (!hierarchy || (strcmp(hierarchy, "v2") && strncmp(hierarchy, "v1.", 3)))
		return error_value(s->error, &s->at, s->argument, "\"v2\" or \"v1.CONTROLLER\"");
	if (file && !json_is_string(file))
		return error_value(s->error, &at_file, file, "the name of a file in the cgroup");
	if (s->scope->checking)
		return 0;
	if (environment_cgroup(hierarchy, path, 256))
		return failed(s, ENOENT);
	n = strlen(path);
	if (file)
		snprintf(path + n, sizeof(path) - n, "/%.60s", json_string_value(file));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	s->result = (uint64_t)fd;
	return fd < 0 ? failed(s, errno) : 0;
}

static int run_memfd(struct step *s)
{
	uint64_t size;
	int err = number(s, NULL, 0, 1 << 20, &size), fd;

	if (err || s->scope->checking)
		return err;
	fd = (int)syscall(SYS_memfd_create, "perfabi", 1U /* MFD_CLOEXEC */);
	s->result = (uint64_t)fd;
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return failed(s, errno);
	return 0;
}

static int run_string(struct step *s)
{
	uint64_t times;
	char text[256], *all;
	int err = text_argument(s, text, sizeof(text));

	if (!err)
		err = number(s, "times", 1, 1 << 16, &times);
	if (err || s->scope->checking)
		return err;
	all = calloc(times + 1, strlen(text) + 1); /* lives as long as the process */
	if (!all)
		return failed(s, ENOMEM);
	for (uint64_t i = 0; i < times; i++)
		strcat(all + i * strlen(text), text);
	s->result = (uintptr_t)all;
	return 0;
}

static int run_buffer(struct step *s)
{
	uint64_t size;
	int err = number(s, NULL, 0, 1 << 20, &size);
	void *map;

	if (err || s->scope->checking)
		return err;
	map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s->result = (uintptr_t)map;
	return map == MAP_FAILED ? failed(s, errno) : 0;
}

static int run_nofile(struct step *s)
{
	struct rlimit limit;
	uint64_t soft;
	int err = number(s, NULL, 0, 1 << 20, &soft);

	if (err || s->scope->checking)
		return err;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return failed(s, errno);
	limit.rlim_cur = soft;
	return setrlimit(RLIMIT_NOFILE, &limit) ? failed(s, errno) : 0;
}

static const struct verb {
	const char *name;
	int (*run)(struct step *);
	const char *extra; /* a further key it knows */
	bool binds;
	const char *help;
} verbs[] = {
	{"open", run_open, "times", true,
	 "an event, opened as `open` of a case is; times: N of them"},
	{"close", run_close, NULL, false, "the file descriptor NAME"},
	{"mmap", run_mmap, "pages", true, "the event NAME's ring buffer, of `pages` pages"},
	{"process", run_process, NULL, true,
	 "a child: \"sleeping\", \"spinning\", \"zombie\", or \"gone\""},
	{"kill", run_kill, NULL, false, "the child NAME, and reap it"},
	{"file", run_file, NULL, true, "a file or folder, opened to read"},
	{"cgroup", run_cgroup, "entry", true,
	 "the root of \"v2\" or \"v1.CONTROLLER\"; entry: a file in it"},
	{"memfd", run_memfd, NULL, true, "an anonymous file of that many zero bytes"},
	{"string", run_string, "times", true, "the address of a string; times: it repeated"},
	{"buffer", run_buffer, NULL, true,
	 "the address of that many zero bytes, at a page's start"},
	{"nofile", run_nofile, NULL, false, "the soft RLIMIT_NOFILE"},
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

void given_help(FILE *f)
{
	for (size_t i = 0; i < VERBS; i++)
		fprintf(f, "  %-8s %s%s\n", verbs[i].name, verbs[i].help,
			verbs[i].binds ? "; bind" : "");
}

static const struct verb *find_verb(const json_t *step, const struct where *w, struct error *e)
{
	const struct verb *found = NULL;
	struct nearest near = {0};
	const char *key;
	json_t *value;

	for (size_t i = 0; i < VERBS && !found; i++)
		if (json_object_get(step, verbs[i].name))
			found = &verbs[i];
	json_object_foreach((json_t *)step, key, value) {
		struct where at = where_key(w, key);

		if (found && (!strcmp(key, found->name) || (found->binds && !strcmp(key, "bind")) ||
			      (found->extra && !strcmp(key, found->extra))))
			continue;
		near = nearest_to(key);
		for (size_t i = 0; i < VERBS; i++)
			nearest_try(&near, verbs[i].name);
		error_name(e, &at, key, near.best, found ? "\"%s\"%s%s%s alone" : "a step's verb",
			   found ? found->name : "", found && found->extra ? ", " : "",
			   found && found->extra ? found->extra : "",
			   found && found->binds ? ", bind" : "");
		return NULL;
	}
	if (!found)
		error_value(e, w, step, "an object with a step's verb (open, process, file, ...)");
	return found;
}

static int run_step(const json_t *json, const struct abi *abi, const struct abi_arch *arch,
		    struct scope *scope, const struct where *w, struct error *e)
{
	const struct verb *verb = find_verb(json, w, e);
	const json_t *bind = json_object_get(json, "bind");
	struct where at_bind = where_key(w, "bind");
	struct step step = {
		.json = json, .abi = abi, .arch = arch, .scope = scope, .where = w, .error = e};
	int err;

	if (!verb)
		return -EINVAL;
	step.argument = json_object_get(json, verb->name);
	step.at = where_key(w, verb->name);
	err = verb->run(&step);
	if (err || !bind)
		return err;
	if (!json_is_string(bind) || scope_bind(scope, json_string_value(bind), step.result))
		return error_value(e, &at_bind, bind, "a name of a-z, 0-9 and _, at most %d",
				   SCOPE_NAME - 1);
	return 0;
}

static int run_all(const json_t *given, const struct abi *abi, const struct abi_arch *arch,
		   struct scope *scope, const struct where *w, struct error *e)
{
	json_t *step;
	size_t i;

	if (given && !json_is_array(given))
		return error_value(e, w, given, "a list of steps");
	json_array_foreach(given, i, step) {
		struct where at = where_index(w, i);
		int err = run_step(step, abi, arch, scope, &at, e);

		if (err)
			return err;
	}
	return 0;
}

int given_check(const json_t *given, const struct abi *abi, const struct abi_arch *arch,
		struct scope *scope, const struct where *w, struct error *e)
{
	return run_all(given, abi, arch, scope, w, e);
}

int given_run(const json_t *given, const struct abi *abi, struct scope *scope,
	      const struct where *w, struct error *e)
{
	return run_all(given, abi, scope->env->arch, scope, w, e);
}
