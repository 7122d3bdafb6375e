/* SPDX-License-Identifier: MIT */
/*
 * Verbs on what an event tells when it overflows: signals, poll(2), fcntl(2).
 *
 * A signal's handler runs while its event counts, and must add nothing to the count. It has a stack
 * of its own, so that each signal touches the same memory wherever it comes; and before an event
 * counts, signals_rehearse() sends this thread one of each kind that the case handles. What such a
 * signal touches, kernel, C library and handler alike, is there from then on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <unistd.h>

#include "call/call.h"
#include "machine/names.h"
#include "step/step.h"
#include "step/types.h"
#include "step/verbs/signals.h"
#include "step/verbs/in_c.h"
#include "step/verbs/verbs.h"

enum { SIGINFO_PERF = 24 };

/* One signal, as the handler found it. */
struct noted {
	int signo, code, fd;
	long band;
	uint64_t addr;
	pid_t tid;
	unsigned char perf[SIGINFO_PERF]; /* si_perf_data, si_perf_type, si_perf_flags */
};

/*
 * What the handler writes: it is given nothing that would lead it anywhere else. A child of the
 * case begins with a copy. It begins a page where pages have 4K, so that what nobody readied shows
 * there wherever the linker puts it.
 */
static _Alignas(4096) struct noted noted[SIGNALS_MAX + 1]; /* the last one for what is rehearsed */
static volatile unsigned noted_count;
static sigset_t handled;

/* What the handler does to the event that signals: two requests of ioctl(2), or none. */
static struct {
	unsigned long first, then;
	long argument;
} reaction;

static void react(int fd)
{
	if (!reaction.first)
		return;
	ioctl(fd, (ioctl_request)reaction.first, 0L);
	ioctl(fd, (ioctl_request)reaction.then, reaction.argument);
}

static void note_signal(int signo, siginfo_t *info, void *context)
{
	bool is_rehearsal = info->si_code == SI_TKILL;
	int was = errno;
	unsigned at = __atomic_fetch_add(&noted_count, is_rehearsal ? 0 : 1, __ATOMIC_RELAXED);

	(void)context;
	if (is_rehearsal)
		at = SIGNALS_MAX;
	else if (at >= SIGNALS_MAX)
		_exit(EXIT_SIGNALS); /* whoever is interrupted may never get on */
	noted[at] = (struct noted){.signo = signo,
				   .code = info->si_code,
				   .fd = info->si_fd,
				   .band = info->si_band,
				   .tid = gettid()};
	if (signo == SIGTRAP) {
		noted[at].addr = (uintptr_t)info->si_addr;
		/* Behind si_addr, whatever this libc's header knows: <asm-generic/siginfo.h>,
		 * _perf. */
		memcpy(noted[at].perf, (const char *)&info->si_addr + sizeof(info->si_addr),
		       SIGINFO_PERF);
	} else {
		react(is_rehearsal ? -1 : info->si_fd);
	}
	errno = was;
}

unsigned signals_noted(void)
{
	return __atomic_load_n(&noted_count, __ATOMIC_RELAXED);
}

/* Room for the frame that the kernel writes, which AT_MINSIGSTKSZ tells, and for the handler. */
enum { HANDLER_ROOM = 1 << 16 };
#if !defined(AT_MINSIGSTKSZ)
#define AT_MINSIGSTKSZ 51
#endif

/* Each thread has its stack; a child of the case has its copy. */
static int ready_stack(void)
{
	stack_t stack = {.ss_size = HANDLER_ROOM + getauxval(AT_MINSIGSTKSZ)}, now;

	if (sigaltstack(NULL, &now))
		return -errno;
	if (!(now.ss_flags & SS_DISABLE)) {
		memset(now.ss_sp, 0, now.ss_size);
		return 0;
	}
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) ? -errno : 0;
}

/* Where signals are noted: it may be new, or shared with a child until one of them writes. */
static void ready_notes(void)
{
	for (size_t i = 0; i < SIGNALS_MAX; i++)
		__atomic_fetch_add(&noted[i].signo, 0, __ATOMIC_RELAXED);
}

int signals_rehearse(void)
{
	bool any = false;
	int err;

	for (int signo = 1; signo <= SIGRTMAX && !any; signo++)
		any = sigismember(&handled, signo) == 1;
	err = any ? ready_stack() : 0;
	if (!any || err)
		return err;
	ready_notes();
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (sigismember(&handled, signo) == 1 && raise(signo))
			return -errno;
	return 0;
}

static int compile_signal(struct compiling *c, const struct argument *a, struct operand *operand,
			  const struct where *w)
{
	const char *name = json_string_value(operand->json);

	(void)a;
	operand->is_settled = true;
	operand->number = name ? (uint64_t)signal_by_name(name) : 0;
	return operand->number ? 0
			       : error_value(c->error, w, operand->json,
					     "a signal's name, as SIGIO or SIGRTMIN");
}

static const struct argument_type argument_signal = {
	.compile = compile_signal, .schema = "{\"type\": \"string\", \"pattern\": \"^SIG\"}"};

/* Overflows of `fd` become that signal: F_SETOWN_EX, F_SETSIG, O_ASYNC. */
static int direct(int fd, int signo, bool by_number, bool to_process)
{
	struct f_owner_ex to = {.type = to_process ? F_OWNER_PID : F_OWNER_TID,
				.pid = to_process ? getpid() : gettid()};

	if (fcntl(fd, F_SETOWN_EX, &to) || (by_number && fcntl(fd, F_SETSIG, signo)) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC))
		return -errno;
	return 0;
}

enum reaction { NOTES, REFRESHES, ENABLES };

/* As programs do that count overflows one by one: stop it, look, start it again. */
static void set_reaction(const struct abi *abi, uint64_t how)
{
	reaction.first = how != NOTES ? event_ioctl_number(abi, "disable") : 0;
	reaction.then = how == REFRESHES ? event_ioctl_number(abi, "refresh")
			: how == ENABLES ? event_ioctl_number(abi, "enable")
					 : 0;
	reaction.argument = how == REFRESHES;
}

struct signals_step {
	uint64_t signo, fd, to_process, handler;
	bool has_fd, by_number;
};

static int run_signals(struct step *s)
{
	const struct signals_step *a = s->arguments;
	struct sigaction action = {.sa_sigaction = note_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	int signo = (int)a->signo, err;

	noted_count = 0;
	set_reaction(s->tables->abi, a->handler);
	if (sigaction(signo, &action, NULL))
		return step_failed(s, errno);
	sigaddset(&handled, signo);
	if (!a->has_fd)
		return 0;
	err = direct((int)a->fd, signo, a->by_number, a->to_process != 0);
	return err ? step_failed(s, -err) : 0;
}

static const char *code_name(const struct noted *n)
{
	if (n->signo == SIGTRAP)
		return n->code == 6 ? "TRAP_PERF" : n->code == SI_KERNEL ? "SI_KERNEL" : "other";
	return n->code == POLL_IN     ? "POLL_IN"
	       : n->code == POLL_HUP  ? "POLL_HUP"
	       : n->code == POLL_ERR  ? "POLL_ERR"
	       : n->code == SI_KERNEL ? "SI_KERNEL"
	       : n->code == SI_USER   ? "SI_USER"
				      : "other";
}

static json_t *noted_json(const struct noted *n, unsigned count)
{
	uint64_t data;
	uint32_t type, flags;
	json_t *out = json_pack("{s:s,s:s,s:i,s:i}", "signo", signal_name(n->signo), "code",
				code_name(n), "count", (int)count, "tid", (int)n->tid);

	if (n->signo != SIGTRAP) {
		json_object_set_new(out, "fd", json_integer(n->fd));
		json_object_set_new(out, "band", json_integer(n->band));
		return out;
	}
	data = 0;
	memcpy(&data, n->perf, sizeof(long));
	memcpy(&type, n->perf + sizeof(long), 4);
	memcpy(&flags, n->perf + sizeof(long) + 4, 4);
	json_object_set_new(out, "addr", json_sprintf("0x%llx", (unsigned long long)n->addr));
	json_object_set_new(out, "perf_data", value_json(data));
	json_object_set_new(out, "perf_type", json_integer(type));
	json_object_set_new(out, "perf_flags", json_integer(flags));
	return out;
}

/* Alike ones in a row are one entry with their count. */
static int run_signals_seen(struct step *s)
{
	unsigned n = noted_count < SIGNALS_MAX ? noted_count : SIGNALS_MAX;

	s->shown = json_array();
	for (unsigned i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && !memcmp(&noted[i], &noted[i + run], sizeof(*noted));)
			run++;
		json_array_append_new(s->shown, noted_json(&noted[i], run));
	}
	noted_count = 0;
	memset(noted, 0, sizeof(noted));
	return 0;
}

static const struct word poll_bits[] = {{"in", POLLIN},
					{"out", POLLOUT},
					{"pri", POLLPRI},
					{"err", POLLERR},
					{"hup", POLLHUP},
					{"nval", POLLNVAL},
					{0}};

static json_t *bit_names(unsigned bits)
{
	json_t *names = json_array();

	for (const struct word *bit = poll_bits; bit->name; bit++)
		if (bits & bit->value)
			json_array_append_new(names, json_string(bit->name));
	return names;
}

static long by_poll(struct opened *event, int fd, unsigned events, int ms, unsigned *revents)
{
	struct pollfd one = {.fd = fd, .events = (short)events};
	int n;

	(void)event;
	while ((n = poll(&one, 1, ms)) < 0 && errno == EINTR)
		;
	*revents = (unsigned short)one.revents;
	return n;
}

/* One epoll for all the polls of an event: to be added to one takes a pending wakeup away. */
static long by_epoll(struct opened *event, int fd, unsigned events, int ms, unsigned *revents)
{
	struct epoll_event one = {.events = events}, got = {0};
	int n;

	if (!event->epoll) {
		event->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (event->epoll < 0 || epoll_ctl(event->epoll, EPOLL_CTL_ADD, fd, &one))
			return -1;
	}
	while ((n = epoll_wait(event->epoll, &got, 1, ms)) < 0 && errno == EINTR)
		;
	*revents = n > 0 ? got.events : 0;
	return n;
}

static long by_select(struct opened *event, int fd, unsigned events, int ms, unsigned *revents)
{
	struct timeval t = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	fd_set in;
	int n;

	(void)events;
	(void)event;
	if (fd >= FD_SETSIZE) {
		errno = EINVAL;
		return -1;
	}
	FD_ZERO(&in);
	FD_SET(fd, &in);
	n = select(fd + 1, &in, NULL, NULL, &t);
	*revents = n > 0 && FD_ISSET(fd, &in) ? POLLIN : 0;
	return n;
}

struct poll_step {
	uint64_t fd, ms, events, way;
};

enum poll_way { BY_POLL, BY_EPOLL, BY_SELECT };
static const struct word poll_ways[] = {
	{"poll", BY_POLL}, {"epoll", BY_EPOLL}, {"select", BY_SELECT}, {0}};

static int run_poll(struct step *s)
{
	static long (*const ways[])(struct opened *, int, unsigned, int, unsigned *) = {
		[BY_POLL] = by_poll, [BY_EPOLL] = by_epoll, [BY_SELECT] = by_select};
	const struct poll_step *a = s->arguments;
	struct opened *event = step_event(s, (int)a->fd);
	unsigned revents = 0;

	if (!event)
		return step_misnamed(s, "poll", "an event");
	step_say(s, "%s(%d, %#x, %llu)", poll_ways[a->way].name, (int)a->fd, (unsigned)a->events,
		 (unsigned long long)a->ms);
	step_answer(s, ways[a->way](event, (int)a->fd, (unsigned)a->events, (int)a->ms, &revents));
	step_show(s, "revents", bit_names(revents));
	return 0;
}

struct fcntl_step {
	uint64_t command, fd, arg;
};

static const struct word fcntl_commands[] = {{"F_GETFL", F_GETFL},   {"F_SETFL", F_SETFL},
					     {"F_SETSIG", F_SETSIG}, {"F_GETSIG", F_GETSIG},
					     {"F_SETOWN", F_SETOWN}, {"F_GETOWN", F_GETOWN},
					     {"F_GETFD", F_GETFD},   {0}};

static const char *fcntl_name(uint64_t command)
{
	const struct word *word = fcntl_commands;

	while (word->name && word->value != command)
		word++;
	return word->name;
}

static int run_fcntl(struct step *s)
{
	const struct fcntl_step *a = s->arguments;
	long ret;

	step_say(s, "fcntl(%d, %s, %ld)", (int)a->fd, fcntl_name(a->command), (long)a->arg);
	ret = fcntl((int)a->fd, (int)a->command, (long)a->arg);
	step_answer(s, ret);
	step_show(s, "value", json_integer(ret));
	return 0;
}

static const struct member seen_shows[] = {
	{"signo", {.kind = SHAPE_TEXT}, "its name"},
	{"code", {.kind = SHAPE_TEXT}, "POLL_IN, POLL_HUP, POLL_ERR, SI_KERNEL, TRAP_PERF, ..."},
	{"count", {.kind = SHAPE_NUMBER}, "so many in a row"},
	{"tid", {.kind = SHAPE_NUMBER}, "the thread that had it"},
	{"fd", {.kind = SHAPE_NUMBER}, "of all but SIGTRAP"},
	{"band", {.kind = SHAPE_NUMBER}, "the same"},
	{"addr", {.kind = SHAPE_NUMBER}, "of SIGTRAP"},
	{"perf_data", {.kind = SHAPE_NUMBER}, "the same"},
	{"perf_type", {.kind = SHAPE_NUMBER}, "the same"},
	{"perf_flags", {.kind = SHAPE_NUMBER}, "the same"},
	{0}};
static const struct member poll_shows[] = {{"revents", {.kind = SHAPE_NAMES}, NULL}, {0}};
static const struct member fcntl_shows[] = {{"value", {.kind = SHAPE_NUMBER}, NULL}, {0}};

const struct verb signal_verbs[] = {
	{.name = "poll",
	 .help = "an event",
	 .run = run_poll,
	 .in_c = poll_in_c,
	 .kind = CALLS,
	 .binds = BINDS_SHOWN,
	 .shows = {.kind = SHAPE_OBJECT, .members = poll_shows},
	 .size = sizeof(struct poll_step),
	 .arguments =
		 (const struct argument[]){{"poll", &argument_bound, MEMBER(struct poll_step, fd)},
					   {"events", &argument_words,
					    MEMBER(struct poll_step, events), .words = poll_bits,
					    .fallback = POLLIN, .help = "([\"in\"])"},
					   {"ms", &argument_number, MEMBER(struct poll_step, ms),
					    .most = 5000, .help = "for so many milliseconds (0)"},
					   {"by", &argument_word, MEMBER(struct poll_step, way),
					    .words = poll_ways, .help = "(poll)"},
					   {0}}},
	{.name = "fcntl",
	 .help = "on an event",
	 .run = run_fcntl,
	 .in_c = fcntl_in_c,
	 .kind = CALLS,
	 .binds = BINDS_SHOWN,
	 .shows = {.kind = SHAPE_OBJECT, .members = fcntl_shows},
	 .size = sizeof(struct fcntl_step),
	 .arguments =
		 (const struct argument[]){{"fcntl", &argument_word,
					    MEMBER(struct fcntl_step, command),
					    .words = fcntl_commands},
					   {"on", &argument_bound, MEMBER(struct fcntl_step, fd),
					    .is_required = true, .help = "a name bound before"},
					   {"arg", &argument_number, MEMBER(struct fcntl_step, arg),
					    .is_long = true, .help = "a number (0)"},
					   {0}}},
	{.name = "signals",
	 .help = "from now on that signal is noted",
	 .run = run_signals,
	 .in_c = signals_in_c,
	 .size = sizeof(struct signals_step),
	 .arguments =
		 (const struct argument[]){
			 {"signals", &argument_signal, MEMBER(struct signals_step, signo)},
			 {"on", &argument_bound, MEMBER(struct signals_step, fd),
			  .given = offsetof(struct signals_step, has_fd),
			  .help = "an event's overflows, by F_SETOWN, F_SETSIG and O_ASYNC"},
			 {"owner", &argument_word, MEMBER(struct signals_step, to_process),
			  .words = (const struct word[]){{"thread", 0}, {"process", 1}, {0}},
			  .help = "(thread)"},
			 {"setsig", &argument_truth, MEMBER(struct signals_step, by_number),
			  .fallback = 1, .help = "F_SETSIG (true)"},
			 {"handler", &argument_word, MEMBER(struct signals_step, handler),
			  .words = (const struct word[]){{"note", NOTES},
							 {"refresh", REFRESHES},
							 {"enable", ENABLES},
							 {0}},
			  .help = "refresh and enable: the handler also disables the event that "
				  "signals, then refreshes or enables it"},
			 {0}}},
	{.name = "signals-seen",
	 .help = "those noted since, a list",
	 .run = run_signals_seen,
	 .in_c = signals_seen_in_c,
	 .kind = SHOWS,
	 .binds = BINDS_SHOWN,
	 .shows = {.kind = SHAPE_LIST, .members = seen_shows},
	 .arguments = (const struct argument[]){{.key = "signals-seen", .type = &argument_nothing},
						{0}}},
	{0}};
