/* SPDX-License-Identifier: MIT */
/*
 * Verbs on processes and threads. A child does a list of steps of its own, with what was bound
 * before it began.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "step/sync.h"
#include "step/step.h"

/* What failed in another process or thread has failed here, and is said in its words. */
static int failed_elsewhere(struct step *s)
{
	struct failure failure;

	if (!meeting_failed(s->run->meeting, &failure))
		return 0;
	error_text(s->error, s->where, failure.got, "%s, in %s", failure.expected, failure.call);
	return failure.outcome == FAIL ? -ECANCELED : -EIO;
}

/* post's and await's: a word in *word. */
static int read_word(struct step *s, const char **word)
{
	*word = json_string_value(s->argument);
	if (!*word || !(*word)[0] || strlen(*word) >= MEETING_WORD)
		return error_value(s->error, &s->at, s->argument, "a word of 1 to %d letters",
				   MEETING_WORD - 1);
	return 0;
}

static int too_many_words(struct step *s, const char *word)
{
	return error_text(s->error, s->where, word, "at most %d words", MEETING_WORDS);
}

int verb_post(struct step *s)
{
	const char *word;
	int err = read_word(s, &word);

	if (err || step_is_checked(s))
		return err;
	return meeting_post(s->run->meeting, word) ? too_many_words(s, word) : 0;
}

int verb_await(struct step *s)
{
	const char *word;
	int err = read_word(s, &word);

	if (err || step_is_checked(s))
		return err;
	err = meeting_await(s->run->meeting, word);
	return err == -ECANCELED ? failed_elsewhere(s) : err ? too_many_words(s, word) : 0;
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

int verb_process(struct step *s)
{
	static const char *const kinds[] = {"sleeping", "spinning", "zombie", "gone", NULL};
	pid_t parent = getpid(), pid;
	siginfo_t info;
	int kind, err = step_word(s, NULL, kinds, -1, &kind);

	if (err || step_is_checked(s))
		return err;
	pid = fork();
	if (pid < 0)
		return step_failed(s, errno);
	if (!pid) {
		if (kind < 2)
			live(parent, kind == 1);
		_exit(0);
	}
	s->result = (uint64_t)pid;
	if (kind >= 2 && waitid(P_PID, (id_t)pid, &info, WEXITED | (kind == 2 ? WNOWAIT : 0)))
		return step_failed(s, errno);
	return 0;
}

/* A run of its own for a child: it has what was there, and no children yet. */
static void inherit(struct steps *to, const struct steps *from)
{
	*to = *from;
	scope_copy(&to->scope, &from->scope);
	to->child_count = 0;
	to->first_map = to->map_count;
	to->at_step = NULL;
}

/* The list to its end, and whether all was well; a failure is told to the others. */
static bool do_list(struct steps *run, const json_t *list, const struct where *w)
{
	struct failure *failure = calloc(1, sizeof(*failure));
	bool good = failure && steps_run(run, list, w, failure) && steps_end(run, failure);

	if (failure && !good)
		meeting_tell(run->meeting, failure);
	free(failure);
	return good;
}

_Noreturn static void be_child(struct step *s, pid_t parent)
{
	struct steps *run = malloc(sizeof(*run));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!run || getppid() != parent)
		_exit(1);
	inherit(run, s->run);
	run->map_count = run->first_map = 0; /* a buffer is not there in a child: VM_DONTCOPY */
	_exit(do_list(run, s->argument, &s->at) ? 0 : 1);
}

static int keep_child(struct step *s, struct child child)
{
	if (s->run->child_count == CHILDREN_MAX)
		return error_text(s->error, s->where, "more", "at most %d children", CHILDREN_MAX);
	s->result = (uint64_t)child.id;
	s->run->children[s->run->child_count++] = child;
	return 0;
}

/* The steps of a child see what is bound here; what it binds is its own. */
static int check_child(struct step *s)
{
	const char *name = json_string_value(json_object_get(s->json, "bind"));
	struct scope *scope = malloc(sizeof(*scope));
	int err;

	if (!scope)
		return error_no_memory(s->error, &s->at, "memory for the names of a child");
	scope_copy(scope, s->scope);
	if (name) /* anything else is refused as in any step */
		scope_bind(scope, name, 0);
	err = steps_check(s->argument, s->cases, scope, &s->at, s->error);
	scope_free(scope);
	free(scope);
	return err;
}

int verb_fork(struct step *s)
{
	pid_t parent = getpid(), pid;

	if (step_is_checked(s))
		return check_child(s);
	pid = fork();
	if (!pid)
		be_child(s, parent);
	if (pid < 0)
		return step_failed(s, errno);
	return keep_child(s, (struct child){.id = pid});
}

/* What a thread begins with, and what it ends with. */
struct thread {
	pthread_t pthread;
	struct steps run;
	const json_t *list;
	struct where at, up[8]; /* its own: the step that began it goes on */
	uint32_t tid;
	bool good;
};

static void *be_thread(void *argument)
{
	struct thread *t = argument;

	__atomic_store_n(&t->tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	futex_wake(&t->tid);
	t->good = do_list(&t->run, t->list, &t->at);
	return NULL;
}

/* A chain of places that outlives the caller's stack. */
static void keep_place(struct thread *t, const struct where *w)
{
	size_t n = 0;

	t->at = *w;
	for (const struct where *up = w->up; up && n < 8; up = up->up)
		t->up[n++] = *up;
	t->at.up = n ? &t->up[0] : NULL;
	for (size_t i = 0; i < n; i++)
		t->up[i].up = i + 1 < n ? &t->up[i + 1] : NULL;
}

int verb_thread(struct step *s)
{
	struct thread *t;
	int err;

	if (step_is_checked(s))
		return check_child(s);
	t = calloc(1, sizeof(*t));
	if (!t)
		return step_failed(s, ENOMEM);
	inherit(&t->run, s->run);
	t->list = s->argument;
	keep_place(t, &s->at);
	err = pthread_create(&t->pthread, NULL, be_thread, t);
	if (err)
		return step_failed(s, err);
	while (!__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE))
		futex_wait(&t->tid, 0);
	return keep_child(s, (struct child){.id = (pid_t)t->tid, .is_thread = true, .thread = t});
}

int child_wait(struct child *child, int *status)
{
	pid_t id = child->id;
	int err;

	child->id = 0;
	*status = 0;
	if (child->is_thread) {
		err = -pthread_join(child->thread->pthread, NULL);
		*status = child->thread->good ? 0 : 1 << 8;
		return err;
	}
	while (waitpid(id, status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static struct child *find_child(struct step *s, pid_t id)
{
	for (size_t i = 0; i < s->run->child_count; i++)
		if (s->run->children[i].id == id)
			return &s->run->children[i];
	return NULL;
}

int verb_wait(struct step *s)
{
	struct child *child, process = {0};
	char name[32];
	uint64_t id;
	int status, err = step_bound(s, NULL, &id);

	if (err || step_is_checked(s))
		return err;
	process.id = (pid_t)id;
	child = find_child(s, (pid_t)id);
	err = child_wait(child ? child : &process, &status);
	if (err)
		return step_failed(s, -err);
	if (WIFSIGNALED(status)) {
		snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(WTERMSIG(status)));
		step_show(s, "signal", json_string(name));
	} else {
		step_show_number(s, "exit", (uint64_t)WEXITSTATUS(status));
	}
	err = failed_elsewhere(s);
	if (err)
		return err;
	if (!status || json_object_get(s->json, "expect"))
		return 0;
	error_text(s->error, s->where, WIFSIGNALED(status) ? name : "an exit status of its own",
		   "the child to come to its end");
	return -ECANCELED;
}

int verb_kill(struct step *s)
{
	struct child *child;
	uint64_t pid;
	int err = step_bound(s, NULL, &pid);

	if (err || step_is_checked(s))
		return err;
	if (kill((pid_t)pid, SIGKILL) || waitpid((pid_t)pid, NULL, 0) < 0)
		return step_failed(s, errno);
	child = find_child(s, (pid_t)pid);
	if (child)
		child->id = 0;
	return 0;
}

int verb_become(struct step *s)
{
	static const struct step_bit more[] = {{"kill", 1U << CAP_KILL}};
	unsigned with;
	int as, err = step_word(s, NULL, identity_names, -1, &as);

	if (!err)
		err = step_bits(s, "with", more, sizeof(more) / sizeof(more[0]), 0, &with);
	if (err || step_is_checked(s))
		return err;
	err = identity_become_with((enum identity)as, s->run->uid, with);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* changed uids clear it */
	return err ? step_failed(s, -err) : 0;
}

int verb_affinity(struct step *s)
{
	const struct sched_param lowest = {.sched_priority = 1};
	cpu_set_t set;
	uint64_t cpu;
	bool is_realtime;
	int err = step_number(s, NULL, 0, CPU_SETSIZE - 1, &cpu);

	if (!err)
		err = step_truth(s, "realtime", false, &is_realtime);
	if (err || step_is_checked(s))
		return err;
	if (is_realtime && sched_setscheduler(0, SCHED_FIFO, &lowest))
		return step_failed(s, errno);
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? step_failed(s, errno) : 0;
}

/* Behind an exec there is no ABI, and nothing is open that a step could name. */
static int check_behind_exec(struct step *s)
{
	static const char *const verbs[] = {"workload", "post", "await", NULL};
	json_t *step;
	size_t i;

	json_array_foreach(s->argument, i, step) {
		struct where at = where_index(&s->at, i);
		const struct verb *verb = verb_of(step, &at, s->error);

		if (!verb)
			return -EINVAL;
		if (name_index(verb->name, verbs, NULL) < 0 || json_object_get(step, "when") ||
		    json_object_get(step, "counted"))
			return error_name(s->error, &at, verb->name, NULL,
					  "workload, post or await: that is all there is behind "
					  "an exec");
	}
	return steps_check(s->argument, s->cases, s->scope, &s->at, s->error);
}

/* The numbers that are bound, for the other side. */
static json_t *bound_json(const struct scope *scope)
{
	json_t *out = json_object();

	for (size_t i = 0; i < scope->count; i++)
		json_object_set_new(out, scope->list[i].name,
				    scope->list[i].json
					    ? json_incref(scope->list[i].json)
					    : json_integer((json_int_t)scope->list[i].value));
	return out;
}

int verb_exec(struct step *s)
{
	char fd_text[16];
	char *list, *bound;
	json_t *json;

	if (step_is_checked(s))
		return check_behind_exec(s);
	json = bound_json(&s->run->scope);
	list = json_dumps(s->argument, JSON_COMPACT);
	bound = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	if (!list || !bound)
		return step_failed(s, ENOMEM);
	snprintf(fd_text, sizeof(fd_text), "%d", s->run->meeting_fd);
	execl("/proc/self/exe", "perfabi", "behind-exec", fd_text, list, bound, (char *)NULL);
	return step_failed(s, errno);
}

static int take_bound(struct scope *scope, const char *text)
{
	json_t *bound = json_loads(text, 0, NULL), *value;
	const char *name;
	int err = bound ? 0 : -EINVAL;

	json_object_foreach(bound, name, value) {
		char word[SCOPE_NAME];
		const char *dot = strchr(name, '.');

		snprintf(word, sizeof(word), "%.*s", dot ? (int)(dot - name) : SCOPE_NAME, name);
		if (err)
			break;
		if (!json_is_integer(value))
			err = scope_bind_json(scope, word, value);
		else if (dot)
			err = scope_bind_member(scope, word, dot + 1,
						(uint64_t)json_integer_value(value));
		else
			err = scope_bind(scope, word, (uint64_t)json_integer_value(value));
	}
	json_decref(bound);
	return err;
}

/* argv: "behind-exec", the fd of the meeting, the steps, what was bound. */
int steps_after_exec(int argc, char **argv)
{
	struct environment env = {.page_size = (unsigned)sysconf(_SC_PAGESIZE), .bits = 64};
	struct source source = {.name = "behind-exec", .root = ""};
	struct instance instance = {.source = &source};
	struct steps *run = calloc(1, sizeof(*run));
	struct where root = where_root(&source);
	json_t *list = argc == 4 ? json_loads(argv[2], 0, NULL) : NULL;
	int fd = argc == 4 ? atoi(argv[1]) : -1, status = 1;

	if (run && list && fd > 2) {
		*run = (struct steps){.env = &env, .instance = &instance};
		run->scope.env = &env;
		run->meeting = meeting_make(&fd);
		if (run->meeting && !take_bound(&run->scope, argv[3]))
			status = do_list(run, list, &root) ? 0 : 1;
	}
	if (run)
		scope_free(&run->scope);
	json_decref(list);
	free(run);
	return status;
}
