/* SPDX-License-Identifier: MIT */
/*
 * Verbs on processes and threads. A child does a list of steps of its own, with what was bound
 * before it began.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "step/runtime/process.h"
#include "step/step.h"
#include "machine/limits.h"
#include "machine/names.h"
#include "text/json_text.h"

/*
 * What the processes and threads of a case share: words that one posts and another awaits, and the
 * first failure.
 */

enum { WORDS = 16, WORD_ROOM = 24 };

struct sync {
	uint32_t has_failed; /* 2 once `failure` says how */
	struct verdict failure;
	struct {
		uint32_t taken, posted; /* how often, less how often it was awaited */
		char name[WORD_ROOM];
	} words[WORDS];
};

/* In a word's counter: one has failed, and it may never come. */
static const uint32_t nobody_posts = 1U << 31;

/* Out of the way: cases count file descriptors, from 3 on. */
struct sync *sync_make(int *fd)
{
	struct rlimit limit = {1001, 1001};
	const int low = *fd < 0 ? (int)syscall(SYS_memfd_create, "perfabi", 0U) : -1;
	void *at;

	if (low >= 0) {
		getrlimit(RLIMIT_NOFILE, &limit);
		*fd = fcntl(low, F_DUPFD, limit.rlim_cur > 1000 ? 1000 : (int)limit.rlim_cur - 1);
		if (*fd >= 0)
			close(low);
		else
			*fd = low;
	}
	if (*fd < 0 || ftruncate(*fd, sizeof(struct sync)))
		return NULL;
	at = mmap(NULL, sizeof(struct sync), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

static void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Whether nobody has taken it before, and it is to be made 2; if another has, that is done. */
static bool takes_first(uint32_t *taken)
{
	uint32_t was = 0;

	if (__atomic_compare_exchange_n(taken, &was, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return true;
	while (__atomic_load_n(taken, __ATOMIC_ACQUIRE) == 1)
		sched_yield();
	return false;
}

/* Tells all others of a failure; the first is kept. */
static void sync_tell(struct sync *s, const struct verdict *failure)
{
	if (takes_first(&s->has_failed)) {
		s->failure = *failure;
		__atomic_store_n(&s->has_failed, 2, __ATOMIC_RELEASE);
	}
	for (size_t i = 0; i < WORDS; i++) {
		__atomic_fetch_or(&s->words[i].posted, nobody_posts, __ATOMIC_RELEASE);
		futex_wake(&s->words[i].posted);
	}
}

bool sync_failed(const struct sync *s, struct verdict *failure)
{
	if (__atomic_load_n(&s->has_failed, __ATOMIC_ACQUIRE) != 2)
		return false;
	*failure = s->failure;
	return true;
}

/* The counter of the step's word, made when it is first spoken of; NULL with the error filled. */
static uint32_t *counter_of(struct step *s)
{
	const char *word = s->arguments.literal;

	for (size_t i = 0; i < WORDS; i++) {
		uint32_t *taken = &s->run->sync->words[i].taken;
		char *name = s->run->sync->words[i].name;

		if (takes_first(taken)) {
			snprintf(name, WORD_ROOM, "%s", word);
			__atomic_store_n(taken, 2, __ATOMIC_RELEASE);
		}
		if (!strcmp(name, word))
			return &s->run->sync->words[i].posted;
	}
	error_text(s->error, NULL, word, "at most %d words", WORDS);
	return NULL;
}

/* What failed in another process or thread has failed here, and is said in its words. */
static int failed_elsewhere(struct step *s)
{
	struct verdict failure;

	if (!sync_failed(s->run->sync, &failure))
		return 0;
	error_text(s->error, NULL, failure.got, "%s, in %s", failure.expected, failure.call);
	s->verdict->err = failure.err; /* others may be why */
	return failure.outcome == FAIL ? -ECANCELED : -EIO;
}

static int run_post(struct step *s)
{
	uint32_t *counter = counter_of(s);

	if (!counter)
		return -EINVAL;
	__atomic_add_fetch(counter, 1, __ATOMIC_RELEASE);
	futex_wake(counter);
	return 0;
}

static int run_await(struct step *s)
{
	uint32_t *counter = counter_of(s), have;

	while (counter) {
		have = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
		if (have & nobody_posts)
			return failed_elsewhere(s);
		if (!have)
			futex_wait(counter, 0);
		else if (__atomic_compare_exchange_n(counter, &have, have - 1, false,
						     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return 0;
	}
	return -EINVAL;
}

static const struct word process_kinds[] = {
	{"sleeping", SLEEPING}, {"spinning", SPINNING}, {"zombie", ZOMBIE}, {"gone", GONE}, {0}};

static int run_process(struct step *s)
{
	step_say(s, "fork()");
	s->result = (uint64_t)make_process((enum process_kind)s->arguments.number);
	step_answer(s, (long)s->result);
	return 0;
}

/* Fails as the step of the list does that failed. */
static int run_repeat(struct step *s)
{
	for (uint64_t i = 0; i < s->arguments.times; i++)
		if (!steps_run(s->run, s->arguments.block, s->verdict))
			return -EPROTO;
	return 0;
}

/* A run of its own for a child: it has what was there, and no children yet. */
static void steps_inherit(struct steps *to, const struct steps *from)
{
	*to = *from;
	scope_copy(&to->scope, &from->scope);
	to->child_count = 0;
	to->first_map = to->map_count;
	to->at_step = NULL;
	to->refused = NULL; /* it would be this process's own */
}

/* All of its steps; a failure is told to the others. */
static bool steps_run_child(struct steps *run, const struct block *block)
{
	struct verdict *v = or_exit(calloc(1, sizeof(*v)));
	bool good = steps_run(run, block, v) && steps_end(run, v);

	if (!good)
		sync_tell(run->sync, v);
	free(v);
	return good;
}

_Noreturn static void be_child(struct step *s, pid_t parent)
{
	const struct arguments *a = &s->arguments;
	struct steps *run = or_exit(malloc(sizeof(*run)));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	steps_inherit(run, s->run);
	run->map_count = run->first_map = 0; /* a buffer is not there in a child: VM_DONTCOPY */
	_exit(steps_run_child(run, a->block) ? 0 : 1);
}

static int keep_child(struct step *s, struct child child)
{
	if (s->run->child_count == CHILDREN_MAX)
		return error_text(s->error, NULL, "more", "at most %d children", CHILDREN_MAX);
	s->result = (uint64_t)child.id;
	s->run->children[s->run->child_count++] = child;
	return 0;
}

static int run_fork(struct step *s)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid)
		be_child(s, parent);
	if (pid < 0)
		return step_failed(s, errno);
	return keep_child(s, (struct child){.id = pid});
}

static void *be_thread(void *argument)
{
	struct thread *t = argument;

	__atomic_store_n(&t->tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	futex_wake(&t->tid);
	t->good = steps_run_child(&t->run, t->block);
	return NULL;
}

static int run_thread(struct step *s)
{
	struct thread *t = calloc(1, sizeof(*t));
	pthread_attr_t attr;
	int err;

	if (!t)
		return step_failed(s, ENOMEM);
	steps_inherit(&t->run, s->run);
	t->block = s->arguments.block;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, LIMITS_STACK); /* whatever it was when we began */
	err = pthread_create(&t->pthread, &attr, be_thread, t);
	pthread_attr_destroy(&attr);
	if (err)
		return step_failed(s, err);
	while (!__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE))
		futex_wait(&t->tid, 0);
	return keep_child(s, (struct child){.id = (pid_t)t->tid, .thread = t});
}

static int run_debugger(struct step *s)
{
	int seen = watched_stores((unsigned)s->arguments.number);

	step_say(s, "ptrace(PTRACE_POKEUSER, ...)");
	step_answer(s, seen);
	s->shown = json_integer(seen);
	return 0;
}

static struct child *find_child(struct step *s, pid_t id)
{
	for (size_t i = 0; i < s->run->child_count; i++)
		if (s->run->children[i].id == id)
			return &s->run->children[i];
	return NULL;
}

static int run_wait(struct step *s)
{
	struct child *child = find_child(s, s->arguments.fd), process = {.id = s->arguments.fd};
	const char *got = "an exit status that no step gave";
	int status, err = child_wait(child ? child : &process, &status);

	if (!err && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_MEMORY)
		err = -ENOMEM;
	if (err)
		return step_failed(s, -err);
	if (WIFSIGNALED(status)) {
		got = signal_name(WTERMSIG(status));
		step_show(s, "signal", json_string(got));
	} else {
		step_show_number(s, "exit", (uint64_t)WEXITSTATUS(status));
	}
	err = failed_elsewhere(s);
	if (err || !status || statement_json(s->statement, "expect"))
		return err;
	return step_broken(s, got, "the child to come to its end");
}

static int run_kill(struct step *s)
{
	const struct arguments *a = &s->arguments;
	struct child *child = find_child(s, a->fd);

	if (kill(a->fd, SIGKILL) || waitpid(a->fd, NULL, 0) < 0)
		return step_failed(s, errno);
	if (child)
		child->id = 0;
	return 0;
}

/* Who makes calls from then on, as in `as`: uint64_t, an enum identity. */
static int parse_identity(struct compiling *c, struct operand *operand)
{
	const char *name = json_string_value(operand->json);
	struct nearest near = nearest_to(name ? name : "");
	int as = name ? name_index(name, identity_names, &near) : -1;

	operand->number = (uint64_t)as;
	return as >= 0 ? 0
		       : error_name(c->error, c->where, name ? name : "", near.best, "%s",
				    identity_choice);
}

static const struct argument_type argument_identity = {
	.parse = parse_identity, .schema = "{\"$ref\": \"names.schema.json#/$defs/identity\"}"};

static int run_become(struct step *s)
{
	int err =
		identity_become((enum identity)s->arguments.number, s->run->uid, s->arguments.with);

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* changed uids clear it */
	return err ? step_failed(s, -err) : 0;
}

static int run_seteuid(struct step *s)
{
	return step_prepared(s, seteuid((uid_t)s->arguments.number));
}

static int run_affinity(struct step *s)
{
	if (s->arguments.is_realtime && scheduler_set(SCHED_FIFO, 1))
		return step_failed(s, errno);
	return step_prepared(s, run_on((size_t)s->arguments.number));
}

/* A cpu of a number that is written down, to which this process may not go. */
static bool affinity_is_barred(const struct statement *statement, const struct environment *env,
			       char *token, size_t size)
{
	const struct operand *cpu = &statement->operands[0];

	if (!cpu->is_settled || CPU_ISSET((size_t)cpu->number, &env->cpus_usable))
		return false;
	snprintf(token, size, "cpu.%llu", (unsigned long long)cpu->number);
	return true;
}

/* Behind an exec there is no ABI, and nothing is open that a step could name. */
static int parse_behind_exec(struct compiling *c, struct operand *operand)
{
	json_t *step;
	size_t i;

	json_array_foreach(operand->json, i, step) {
		struct where at = where_index(c->where, i);
		const struct verb *verb = verb_of(step, &at, c->error);

		if (!verb)
			return -EINVAL;
		if (!verb->is_behind_exec || json_object_get(step, "when") ||
		    json_object_get(step, "counted"))
			return error_name(c->error, &at, verb_key(verb), NULL,
					  "workload, post or await: that is all there is behind "
					  "an exec");
	}
	return argument_steps.parse(c, operand);
}

static const struct argument_type argument_behind_exec = {
	.parse = parse_behind_exec, .schema = "{\"$ref\": \"names.schema.json#/$defs/steps\"}"};

/* What is bound goes to the other side, too. */
static int run_exec(struct step *s)
{
	const struct scope *scope = &s->run->scope;
	char *list = or_exit(json_text(s->statement->operands[0].json, JSON_COMPACT)), *bound;
	char fd_text[16];
	json_t *json = json_object();

	for (size_t i = 0; i < scope->count; i++)
		json_object_set_new(json, scope->list[i].name,
				    scope->list[i].json
					    ? json_incref(scope->list[i].json)
					    : json_integer((json_int_t)scope->list[i].value));
	bound = or_exit(json_text(json, JSON_COMPACT));
	json_decref(json);
	snprintf(fd_text, sizeof(fd_text), "%d", s->run->sync_fd);
	execl("/proc/self/exe", "perfabi", "behind-exec", fd_text, list, bound, (char *)NULL);
	return step_failed(s, errno);
}

static int take_bound(struct scope *scope, const char *text)
{
	json_t *bound = json_loads(text, 0, NULL), *value;
	const char *name;
	int err = bound ? 0 : -EINVAL;

	json_object_foreach(bound, name, value) {
		char word[VARIABLE_NAME];
		const char *dot = strchr(name, '.');

		snprintf(word, sizeof(word), "%.*s", dot ? (int)(dot - name) : VARIABLE_NAME, name);
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

/*
 * argv: "behind-exec", the fd of what is shared, the steps, what was bound. The list is compiled
 * again, for what came through the exec is its text.
 */
int steps_after_exec(int argc, char **argv)
{
	struct where root = where_root(&(struct source){.name = "behind-exec", .root = ""});
	json_t *list = argc == 4 ? json_loads(argv[2], 0, NULL) : NULL;
	int fd = argc == 4 ? atoi(argv[1]) : -1, err = -EINVAL;
	struct steps *run = or_exit(calloc(1, sizeof(*run)));
	struct environment env;
	struct arena arena = {0};
	struct error e = {0};
	struct compiling c = {.arena = &arena, .error = &e};
	struct block block;

	environment_read_plain(&env, NULL); /* for $variables */
	if (list && fd > 2) {
		*run = (struct steps){.env = &env};
		run->scope.env = &env;
		run->scope.unmapped = call_unmapped_page(&env);
		run->sync = sync_make(&fd);
		c.scope = &run->scope;
		err = run->sync ? take_bound(&run->scope, argv[3]) : -ENOMEM;
	}
	if (!err) {
		run->scope.checking = true;
		err = block_compile(&c, &block, list, &root);
		run->scope.checking = false;
	}
	if (!err) {
		block_settle(&block, &run->who, run->env);
		err = steps_run_child(run, &block) ? 0 : -ECANCELED;
	}
	scope_free(&run->scope);
	arena_free(&arena);
	json_decref(list);
	free(run);
	return err ? 1 : 0;
}

static const struct member wait_shows[] = {
	{"exit", {.kind = SHAPE_NUMBER}, "its exit status"},
	{"signal", {.kind = SHAPE_TEXT}, "or the signal that ended it, as SIGKILL"},
	{0}};

const struct verb process_verbs[] = {
	{"process", "start a child that does nothing", CALLS, BINDS_RESULT, run_process,
	 "make_process(@process)", .c_value = "int",
	 ARGUMENTS({"process", &argument_word, MEMBER(number), .words = process_kinds})},
	{"debugger",
	 "watch a child's stores with ptrace(2), as gdb does; shows how many are reported", CALLS,
	 BINDS_SHOWN, run_debugger, "watched_stores(@debugger)", .c_value = "int",
	 .shows = {.kind = SHAPE_NUMBER},
	 ARGUMENTS({"debugger", &argument_number, MEMBER(number), .most = 1000})},
	{"repeat", "do the steps of `do` this many times", PREPARES, BINDS_NOTHING, run_repeat,
	 NULL, .in_c = repeat_in_c,
	 ARGUMENTS({"repeat", &argument_number, MEMBER(times), .most = 100000},
		   {"do", &argument_steps, MEMBER(block), .is_required = true,
		    .help = "a list of steps"})},
	{"fork", "start a child that does these steps", PREPARES, BINDS_RESULT, run_fork, NULL,
	 .in_c = fork_in_c, ARGUMENTS({"fork", &argument_child, MEMBER(block)})},
	{"thread", "start a thread that does these steps", PREPARES, BINDS_RESULT, run_thread, NULL,
	 .in_c = thread_in_c, ARGUMENTS({"thread", &argument_child, MEMBER(block)})},
	{"exec", "execute /proc/self/exe, which does these workloads, post and await; in a child",
	 PREPARES, BINDS_NOTHING, run_exec, NULL, .in_c = exec_in_c,
	 .arguments =
		 (const struct argument[]){{.key = "exec", .type = &argument_behind_exec}, {0}}},
	{"wait", "wait until a child or thread ends", SHOWS, BINDS_SHOWN, run_wait, NULL,
	 .in_c = wait_in_c, .shows = {.kind = SHAPE_OBJECT, .members = wait_shows},
	 ARGUMENTS({"wait", &argument_bound, MEMBER(fd)})},
	{"kill", "kill the child NAME, and reap it", PREPARES, BINDS_NOTHING, run_kill,
	 "kill_child(@kill);", ARGUMENTS({"kill", &argument_bound, MEMBER(fd)})},
	{"post", "let one that awaits this word go on", PREPARES, BINDS_NOTHING, run_post,
	 "post(@post);", .is_behind_exec = true,
	 ARGUMENTS({"post", &argument_literal, MEMBER(literal), .most = WORD_ROOM - 1})},
	{"await", "wait until this word is posted, or another process of the case fails", PREPARES,
	 BINDS_NOTHING, run_await, "await(@await);", .is_behind_exec = true,
	 ARGUMENTS({"await", &argument_literal, MEMBER(literal), .most = WORD_ROOM - 1})},
	{"become", "become another identity, permanently", PREPARES, BINDS_NOTHING, run_become,
	 NULL, .in_c = become_in_c,
	 ARGUMENTS({"become", &argument_identity, MEMBER(number)},
		   {"with", &argument_words, MEMBER(with),
		    .words = (const struct word[]){{"kill", 1U << CAP_KILL}, {0}},
		    .help = "keep this capability"})},
	{"seteuid", "set the effective user ID", PREPARES, BINDS_NOTHING, run_seteuid,
	 "seteuid(@seteuid)",
	 ARGUMENTS({"seteuid", &argument_number, MEMBER(number), .most = UINT32_MAX})},
	{"affinity", "run this thread only on that cpu", PREPARES, BINDS_NOTHING, run_affinity,
	 "@{realtime?be_realtime();\n}needed(run_on(@affinity));", .is_barred = affinity_is_barred,
	 ARGUMENTS({"affinity", &argument_number, MEMBER(number), .most = CPU_SETSIZE - 1},
		   {"realtime", &argument_truth, MEMBER(is_realtime),
		    .help = "use SCHED_FIFO, also for its children"})},
	{0}};
