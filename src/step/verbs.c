/* SPDX-License-Identifier: MIT */
/*
 * The table of verbs: what a step can be, with the keys it knows and a line of help.
 */
#include <stdio.h>
#include <string.h>

#include "step/step.h"

static const struct verb verbs[] = {
	{"open", verb_open, "times", CALLS, BINDS_RESULT,
	 "an event, as `open` of a case has it; times: N of them; binds the fd, and NAME.id"},
	{"close", verb_close, "", CALLS, BINDS_NOTHING, "the file descriptor NAME"},
	{"dup", verb_dup, "", CALLS, BINDS_RESULT, "the file descriptor NAME"},
	{"ioctl", verb_ioctl, "on arg address text u64 attr ids", CALLS, BINDS_SEEN,
	 "a PERF_EVENT_IOC_ by its name, or a request by number, `on` an event; arg: a number; or "
	 "what it points to: address, text, u64, attr, ids (room for QUERY_BPF)"},
	{"prctl", verb_prctl, "", CALLS, BINDS_NOTHING,
	 "\"task_perf_events_enable\" or \"task_perf_events_disable\""},
	{"mmap", verb_mmap, "pages length offset prot private", CALLS, BINDS_RESULT,
	 "an event's ring buffer of 1 + `pages` pages, or `length` bytes at `offset`; prot: "
	 "[\"read\", \"write\"] or \"exec\"; binds the address"},
	{"munmap", verb_munmap, "length offset replaced", CALLS, BINDS_NOTHING,
	 "the mapping of the event NAME, or `length` bytes of it at `offset`; replaced: true, by "
	 "mapping other memory there"},
	{"mremap", verb_mremap, "length offset to move", CALLS, BINDS_NOTHING,
	 "the mapping of the event NAME: `length` bytes of it at `offset` to `to` bytes; move: "
	 "true, "
	 "to another place"},
	{"mprotect", verb_mprotect, "length offset prot", CALLS, BINDS_NOTHING,
	 "`length` bytes at `offset` of the mapping of the event NAME"},
	{"read", verb_read, "size at", CALLS, BINDS_SEEN,
	 "an event, as its read_format says, into a buffer of `size` bytes, or `at` an address"},
	{"pread", verb_pread, "", CALLS, BINDS_NOTHING, "an event at an offset"},
	{"write", verb_write, "text", CALLS, BINDS_NOTHING,
	 "`text` to an event, or to the file /PATH (of a case with `sysctl`)"},
	{"lseek", verb_lseek, "", CALLS, BINDS_NOTHING, "an event"},
	{"page", verb_page, "", SHOWS, BINDS_SEEN, "an event's metadata page, member by member"},
	{"rdpmc", verb_rdpmc, "", SHOWS, BINDS_SEEN,
	 "an event's count read in user space by the man page's algorithm"},
	{"records", verb_records, "of keep", SHOWS_RECORDS, BINDS_SEEN,
	 "what an event's ring buffer holds, decoded strictly; of: these types alone; keep: leaves "
	 "them unread"},
	{"poll", verb_poll, "events ms by", CALLS, BINDS_SEEN,
	 "an event for `ms`, by poll, epoll or select; shows revents"},
	{"fcntl", verb_fcntl, "on arg", CALLS, BINDS_SEEN,
	 "F_GETFL, F_SETFL, F_GETSIG, F_SETSIG, F_GETOWN, F_SETOWN or F_GETFD `on` an event; shows "
	 "value"},
	{"signals", verb_signals, "on owner setsig handler", PREPARES, BINDS_NOTHING,
	 "from now on that signal is noted; on: an event's overflows, by F_SETOWN, F_SETSIG and "
	 "O_ASYNC; handler: \"refresh\" or \"enable\", which stops the event that signals, and "
	 "starts it "
	 "again"},
	{"signals-seen", verb_signals_seen, "", SHOWS, BINDS_SEEN,
	 "those noted since, a list: signo, code, count, fd, band, and what SIGTRAP has of perf"},
	{"process", verb_process, "", PREPARES, BINDS_RESULT,
	 "a child: \"sleeping\", \"spinning\", \"zombie\" or \"gone\""},
	{"repeat", verb_repeat, "do", PREPARES, BINDS_NOTHING, "the steps of `do`, so many times"},
	{"fork", verb_fork, "", PREPARES, BINDS_RESULT, "a child that does these steps"},
	{"thread", verb_thread, "", PREPARES, BINDS_RESULT, "a thread that does these steps"},
	{"exec", verb_exec, "", PREPARES, BINDS_NOTHING,
	 "/proc/self/exe, to do these workloads, post and await; in a child"},
	{"wait", verb_wait, "", SHOWS, BINDS_SEEN,
	 "for the end of a child or thread; shows exit, or signal"},
	{"kill", verb_kill, "", PREPARES, BINDS_NOTHING, "the child NAME, and reap it"},
	{"post", verb_post, "", PREPARES, BINDS_NOTHING, "lets one that awaits this word go on"},
	{"await", verb_await, "", PREPARES, BINDS_NOTHING,
	 "until this word is posted, or somebody has failed"},
	{"become", verb_become, "with", PREPARES, BINDS_NOTHING,
	 "perfmon, sys-admin or user, for good; with: [\"kill\"], that capability too"},
	{"affinity", verb_affinity, "realtime", PREPARES, BINDS_NOTHING,
	 "this thread runs on that cpu alone; realtime: true, as SCHED_FIFO, and so do its "
	 "children"},
	{"enter", verb_enter, "", PREPARES, BINDS_NOTHING, "this process moves to that cgroup"},
	{"mkdir", verb_mkdir, "", PREPARES, BINDS_NOTHING,
	 "a cgroup below the one that the case has"},
	{"file", verb_file, "mode", PREPARES, BINDS_RESULT,
	 "a file or folder, opened to read; mode: \"read\" or \"read-write\""},
	{"cgroup", verb_cgroup, "entry", PREPARES, BINDS_RESULT,
	 "the root of \"v2\" or \"v1.CONTROLLER\"; entry: a file in it"},
	{"memfd", verb_memfd, "", PREPARES, BINDS_RESULT,
	 "an anonymous file of that many zero bytes"},
	{"string", verb_string, "times end", PREPARES, BINDS_RESULT,
	 "the address of a string; times: it repeated; end: a text behind that"},
	{"buffer", verb_buffer, "prot", PREPARES, BINDS_RESULT,
	 "the address of that many zero bytes, at a page's start; prot as of mmap"},
	{"poke", verb_poke, "value offset member", PREPARES, BINDS_NOTHING,
	 "stores an u64 at an address, an `offset` behind it, or at a member of the metadata page; "
	 "the signal that comes of it is the process's"},
	{"peek", verb_peek, "offset member", SHOWS, BINDS_SEEN, "the u64 at such a place"},
	{"function", verb_function, "", PREPARES, BINDS_SEEN,
	 "what \"call\" of workload calls: address, path and offset for a uprobe, and the "
	 "program's "
	 "build_id"},
	{"limit", verb_limit, "to", PREPARES, BINDS_NOTHING,
	 "\"nofile\" or \"memlock\": the soft limit"},
	{"stat", verb_stat, "", SHOWS, BINDS_SEEN, "of a path: ino, maj, min, size"},
	{"text", verb_text, "", SHOWS, BINDS_SEEN, "what a small file holds"},
	{"socket", verb_socket, "", PREPARES, BINDS_NOTHING,
	 "a pair of sockets, to be called NAME_a and NAME_b"},
	{"send", verb_send, "over", PREPARES, BINDS_NOTHING, "an fd over a socket, SCM_RIGHTS"},
	{"receive", verb_receive, "as", PREPARES, BINDS_RESULT,
	 "the fd that was sent over a socket; as: the event that it is"},
	{"bpf", verb_bpf, "", PREPARES, BINDS_SEEN,
	 "a BPF program of that type that returns 0: fd, id, tag, name, and its code's address and "
	 "length, 0 where that is kept secret"},
	{"clock", verb_clock, "", SHOWS, BINDS_SEEN, "nanoseconds of a clock of clock_gettime(2)"},
	{"value", verb_value, "", SHOWS, BINDS_SEEN, "an expression"},
	{"pmu-events", verb_pmu_events, "", SHOWS, BINDS_SEEN,
	 "each file in events/ of that PMU, opened: tried, opened, refused"},
	{"workload", verb_workload,
	 "times ms signals filled bytes at size pages name length prot private what op counted "
	 "refresh",
	 PREPARES, BINDS_SEEN, "something to be counted or recorded:"},
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]), WORDS = 256 };

enum { HELP_COLUMN = 16, HELP_WIDTH = 92 };

void help_words(FILE *f, const char *words)
{
	size_t at = HELP_COLUMN;

	while (*words) {
		size_t n = strcspn(words, " "), blank = strspn(words + n, " ");

		if (at > HELP_COLUMN && at + 1 + n > HELP_WIDTH) {
			fprintf(f, "\n%*s", HELP_COLUMN, "");
			at = HELP_COLUMN;
		}
		at += (size_t)fprintf(f, "%s%.*s", at > HELP_COLUMN ? " " : "", (int)n, words);
		words += n + blank;
	}
	fputc('\n', f);
}

static void help_verb(FILE *f, const struct verb *v)
{
	fprintf(f, "  %-13s ", v->name);
	help_words(f, v->help);
	if (v->keys[0] || v->binds || v->kind != PREPARES)
		fprintf(f, "  %-13s   keys: %s%s%s%s%s\n", "", v->keys, v->keys[0] ? " " : "",
			v->binds ? "bind" : "", v->binds && v->kind != PREPARES ? " " : "",
			v->kind == PREPARES ? "" : "expect");
}

void steps_help(FILE *f)
{
	for (size_t i = 0; i < VERBS; i++)
		help_verb(f, &verbs[i]);
	workloads_help(f);
}

bool step_in_words(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

static bool knows_key(const struct verb *v, const char *key)
{
	if (!strcmp(key, v->name) || step_in_words(v->keys, key) || !strcmp(key, "when"))
		return true;
	return (v->binds && !strcmp(key, "bind")) ||
	       (v->kind != PREPARES && !strcmp(key, "expect"));
}

static bool knows_all_keys(const struct verb *v, const json_t *step)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)step, key, value)
		if (!knows_key(v, key))
			return false;
	return true;
}

/* Some words are a verb here and a key there: the verb is the one that knows all the others. */
static const struct verb *find_verb(const json_t *step)
{
	const struct verb *first = NULL;

	for (size_t i = 0; i < VERBS; i++) {
		if (!json_object_get(step, verbs[i].name))
			continue;
		if (knows_all_keys(&verbs[i], step))
			return &verbs[i];
		first = first ? first : &verbs[i];
	}
	return first;
}

/* What a misspelt key can have been: another verb, or a key of this one. */
static void offer_names(struct nearest *near, const struct verb *found, char words[WORDS])
{
	char *save = NULL;

	for (size_t i = 0; i < VERBS && !found; i++)
		nearest_try(near, verbs[i].name);
	if (!found)
		return;
	snprintf(words, WORDS, "%s bind expect when", found->keys);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (knows_key(found, word))
			nearest_try(near, word);
}

const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e)
{
	const struct verb *found = find_verb(step);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)step, key, value) {
		struct where at = where_key(w, key);
		struct nearest near = nearest_to(key);
		char words[WORDS];

		if (found && knows_key(found, key))
			continue;
		offer_names(&near, found, words);
		if (found)
			error_name(e, &at, key, near.best,
				   "\"%s\", %s%s%s%swhen alone (perfabi help steps)", found->name,
				   found->keys, found->keys[0] ? ", " : "",
				   found->binds ? "bind, " : "",
				   found->kind == PREPARES ? "" : "expect, ");
		else
			error_name(e, &at, key, near.best, "a step's verb (perfabi help steps)");
		return NULL;
	}
	if (!found)
		error_value(e, w, step, "an object with a step's verb (perfabi help steps)");
	return found;
}
