/* SPDX-License-Identifier: MIT */
/*
 * Verbs on what an event tells when it overflows: signals, poll(2), fcntl(2).
 */

#include "call/call.h"
#include "machine/names.h"
#include "step/runtime/signal.h"
#include "step/step.h"

unsigned signals_noted(void)
{
	return count_signals();
}

int signals_rehearse(void)
{
	return rehearse_signals() ? -errno : 0;
}

static int parse_signal(struct compiling *c, struct operand *operand)
{
	const char *name = json_string_value(operand->json);

	operand->number = name ? (uint64_t)signal_by_name(name) : 0;
	return operand->number ? 0
			       : error_value(c->error, c->where, operand->json,
					     "a signal's name, as SIGIO or SIGRTMIN");
}

static const struct argument_type argument_signal = {
	.c = C_AS_NAME,
	.parse = parse_signal,
	.schema = "{\"type\": \"string\", \"pattern\": \"^SIG\"}"};

enum handler { NOTE, REFRESH, ENABLE };

static int run_signals(struct step *s)
{
	const struct arguments *a = &s->arguments;
	const struct abi *abi = s->tables->abi;
	const char *then = a->kind == REFRESH ? "refresh" : "enable";

	/* As programs do that count overflows one by one: stop it, look, start it again. */
	if (note_signals(a->signo, a->kind ? event_ioctl_number(abi, "disable") : 0,
			 a->kind ? event_ioctl_number(abi, then) : 0, a->kind == REFRESH))
		return step_failed(s, errno);
	if (step_has(s, "on") &&
	    signal_overflows(a->fd, a->signo, a->by_number, (enum owner)a->owner))
		return step_failed(s, errno);
	return 0;
}

static int run_signals_seen(struct step *s)
{
	uint64_t count;
	struct seen *list = signals_seen(&count);

	if (!list)
		return step_failed(s, ENOMEM);
	s->shown = json_array();
	for (uint64_t i = 0; i < count; i++) {
		const struct seen *seen = &list[i];
		const bool is_trap = seen->signo == SIGTRAP;
		const int code = (int)seen->code;
		const char *name = code == SI_KERNEL              ? "SI_KERNEL"
				   : is_trap && code == 6         ? "TRAP_PERF"
				   : !is_trap && code == POLL_IN  ? "POLL_IN"
				   : !is_trap && code == POLL_HUP ? "POLL_HUP"
				   : !is_trap && code == POLL_ERR ? "POLL_ERR"
				   : !is_trap && code == SI_USER  ? "SI_USER"
								  : "other";
		json_t *out = json_pack("{s:s,s:s,s:I,s:I}", "signo", signal_name((int)seen->signo),
					"code", name, "count", (json_int_t)seen->count, "tid",
					(json_int_t)seen->tid);

		json_array_append_new(s->shown, out);
		if (!is_trap) {
			json_object_set_new(out, "fd", json_integer((json_int_t)seen->fd));
			json_object_set_new(out, "band", json_integer((json_int_t)seen->band));
			continue;
		}
		json_object_set_new(out, "addr",
				    json_sprintf("0x%llx", (unsigned long long)seen->addr));
		json_object_set_new(out, "perf_data", value_json(seen->perf_data));
		json_object_set_new(out, "perf_type", json_integer((json_int_t)seen->perf_type));
		json_object_set_new(out, "perf_flags", json_integer((json_int_t)seen->perf_flags));
	}
	free(list);
	return 0;
}

static const struct word poll_bits[] = {{"in", POLLIN},
					{"out", POLLOUT},
					{"pri", POLLPRI},
					{"err", POLLERR},
					{"hup", POLLHUP},
					{"nval", POLLNVAL},
					{0}};

/* The names of the bits that are set. A new reference. */
static json_t *words_of(const struct word *bits, uint64_t value)
{
	json_t *names = json_array();

	for (; bits->name; bits++)
		if (value & bits->value)
			json_array_append_new(names, json_string(bits->name));
	return names;
}

enum poll_way { BY_POLL, BY_EPOLL, BY_SELECT };
static const struct word poll_ways[] = {
	{"poll", BY_POLL}, {"epoll", BY_EPOLL}, {"select", BY_SELECT}, {0}};

static int run_poll(struct step *s)
{
	static int (*const ways[])(int, unsigned, int, uint64_t *) = {
		[BY_POLL] = by_poll, [BY_EPOLL] = by_epoll, [BY_SELECT] = by_select};
	const struct arguments *a = &s->arguments;
	uint64_t revents = 0;

	if (!step_event(s, a->fd))
		return step_misnamed(s, "poll", "an event");
	step_say(s, "%s(%d, %#x, %llu)", poll_ways[a->kind].name, a->fd, (unsigned)a->events,
		 (unsigned long long)a->ms);
	step_answer(s, ways[a->kind](a->fd, (unsigned)a->events, (int)a->ms, &revents));
	step_show(s, "revents", words_of(poll_bits, revents));
	return 0;
}

static const struct word fcntl_commands[] = {{"F_GETFL", F_GETFL},   {"F_SETFL", F_SETFL},
					     {"F_SETSIG", F_SETSIG}, {"F_GETSIG", F_GETSIG},
					     {"F_SETOWN", F_SETOWN}, {"F_GETOWN", F_GETOWN},
					     {"F_GETFD", F_GETFD},   {0}};

/* Of those that F_GETFL gives: their bits are not the same on each architecture. */
static const struct word file_flags[] = {
	{"rdwr", O_RDWR}, {"append", O_APPEND}, {"nonblock", O_NONBLOCK}, {"async", O_ASYNC}, {0}};

static int run_fcntl(struct step *s)
{
	const struct arguments *a = &s->arguments;
	const struct word *command = fcntl_commands;
	long ret;

	while (command->value != a->number)
		command++;
	step_say(s, "fcntl(%d, %s, %ld)", a->fd, command->name, (long)a->arg);
	ret = fcntl(a->fd, (int)a->number, (long)a->arg);
	step_answer(s, ret);
	step_show(s, "value", json_integer(ret));
	if (a->number == F_GETFL && ret >= 0)
		step_show(s, "flags", words_of(file_flags, (uint64_t)ret));
	return 0;
}

static const struct member seen_shows[] = {
	{"signo", {.kind = SHAPE_TEXT}, "the name of the signal"},
	{"code", {.kind = SHAPE_TEXT}, "POLL_IN, POLL_HUP, POLL_ERR, SI_KERNEL, TRAP_PERF, ..."},
	{"count", {.kind = SHAPE_NUMBER}, "how many in a row"},
	{"tid", {.kind = SHAPE_NUMBER}, "the thread that had it"},
	{"fd", {.kind = SHAPE_NUMBER}, "of all but SIGTRAP"},
	{"band", {.kind = SHAPE_NUMBER}, "the same"},
	{"addr", {.kind = SHAPE_NUMBER}, "of SIGTRAP"},
	{"perf_data", {.kind = SHAPE_NUMBER}, "the same"},
	{"perf_type", {.kind = SHAPE_NUMBER}, "the same"},
	{"perf_flags", {.kind = SHAPE_NUMBER}, "the same"},
	{0}};
static const struct member poll_shows[] = {{"revents", {.kind = SHAPE_NAMES}, NULL}, {0}};
static const struct member fcntl_shows[] = {
	{"value", {.kind = SHAPE_NUMBER}, NULL},
	{"flags", {.kind = SHAPE_NAMES}, "of F_GETFL: rdwr, append, nonblock, async"},
	{0}};

const struct verb signal_verbs[] = {
	{"poll", "wait for events on an event with poll(2), epoll(7) or select(2)", CALLS,
	 BINDS_SHOWN, run_poll, "by_@by(@poll, POLL@events, @ms, &@=)",
	 .c_value = "uint64_t: revents=:POLL",
	 .shows = {.kind = SHAPE_OBJECT, .members = poll_shows},
	 ARGUMENTS({"poll", &argument_bound, MEMBER(fd)},
		   {"events", &argument_words, MEMBER(events), .words = poll_bits,
		    .fallback = POLLIN, .help = "([\"in\"])"},
		   {"ms", &argument_number, MEMBER(ms), .most = 5000,
		    .help = "the timeout in milliseconds (0)"},
		   {"by", &argument_word, MEMBER(kind), .words = poll_ways, .help = "(poll)"})},
	{"fcntl", "make an fcntl(2) call on an event", CALLS, BINDS_SHOWN, run_fcntl,
	 "fcntl(@on, @fcntl, (long)(@arg))", .c_value = "uint64_t: value= flags=:O_",
	 .shows = {.kind = SHAPE_OBJECT, .members = fcntl_shows},
	 ARGUMENTS({"fcntl", &argument_word, MEMBER(number), .words = fcntl_commands},
		   {"on", &argument_bound, MEMBER(fd), .is_required = true,
		    .help = "a name bound by an earlier step"},
		   {"arg", &argument_number, MEMBER(arg), .is_long = true,
		    .help = "the argument (0)"})},
	{"signals", "note that signal from now on", PREPARES, BINDS_NOTHING, run_signals,
	 "needed(note_signals(@signals, @{handler?PERF_EVENT_IOC_DISABLE, "
	 "PERF_EVENT_IOC_@handler, PERF_EVENT_IOC_@handler == PERF_EVENT_IOC_REFRESH:0, 0, "
	 "0}));@{on?\nneeded(signal_overflows(@on, @signals, @setsig, OWNER_@owner));}",
	 ARGUMENTS({"signals", &argument_signal, MEMBER(signo)},
		   {"on", &argument_bound, MEMBER(fd),
		    .help = "signal the overflows of this event, with F_SETOWN, F_SETSIG and "
			    "O_ASYNC"},
		   {"owner", &argument_word, MEMBER(owner),
		    .words = (const struct word[]){{"thread", OWNER_THREAD},
						   {"process", OWNER_PROCESS},
						   {0}},
		    .help = "(thread)"},
		   {"setsig", &argument_truth, MEMBER(by_number), .fallback = 1,
		    .help = "F_SETSIG (true)"},
		   {"handler", &argument_word, MEMBER(kind),
		    .words = (const struct word[]){{"note", NOTE},
						   {"refresh", REFRESH},
						   {"enable", ENABLE},
						   {0}},
		    .help = "refresh and enable: the handler also disables the event that "
			    "signals, then refreshes or enables it"})},
	{"signals-seen", "list the signals that were noted", SHOWS, BINDS_SHOWN, run_signals_seen,
	 "@= = signals_seen(&@=_nr);",
	 .c_value = "struct seen *: signo: code: count tid fd band addr perf_data perf_type "
		    "perf_flags",
	 .shows = {.kind = SHAPE_LIST, .members = seen_shows},
	 .arguments = (const struct argument[]){{.key = "signals-seen", .type = &argument_nothing},
						{0}}},
	{0}};
