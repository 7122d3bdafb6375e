/* SPDX-License-Identifier: MIT */
/*
 * The table of verbs, and a list of steps from its first to its last: do, look at what came, bind.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "step.h"

static const struct verb verbs[] = {
	{"open", verb_open, "times", CALLS, BINDS_RESULT,
	 "an event, as `open` of a case has it; times: N of them; binds the fd, and NAME.id"},
	{"close", verb_close, "", CALLS, BINDS_NOTHING, "the file descriptor NAME"},
	{"dup", verb_dup, "", CALLS, BINDS_RESULT, "the file descriptor NAME"},
	{"ioctl", verb_ioctl, "on arg address text u64 attr ids", CALLS, BINDS_SEEN,
	 "a PERF_EVENT_IOC_ by its name, or a request by number, `on` an event; arg: a number; or what "
	 "it points to: address, text, u64, attr, ids (room for QUERY_BPF)"},
	{"prctl", verb_prctl, "", CALLS, BINDS_NOTHING,
	 "\"task_perf_events_enable\" or \"task_perf_events_disable\""},
	{"mmap", verb_mmap, "pages length offset prot private", CALLS, BINDS_RESULT,
	 "an event's ring buffer of 1 + `pages` pages, or `length` bytes at `offset`; prot: "
	 "[\"read\", \"write\"] or \"exec\"; binds the address"},
	{"munmap", verb_munmap, "length offset", CALLS, BINDS_NOTHING,
	 "the mapping of the event NAME, or `length` bytes of it at `offset`"},
	{"mremap", verb_mremap, "length to", CALLS, BINDS_NOTHING,
	 "the mapping of the event NAME: `length` bytes of it to `to` bytes"},
	{"mprotect", verb_mprotect, "length offset prot", CALLS, BINDS_NOTHING,
	 "`length` bytes at `offset` of the mapping of the event NAME"},
	{"read", verb_read, "size at", CALLS, BINDS_SEEN,
	 "an event, as its read_format says, into a buffer of `size` bytes, or `at` an address"},
	{"pread", verb_pread, "", CALLS, BINDS_NOTHING, "an event at an offset"},
	{"write", verb_write, "text", CALLS, BINDS_NOTHING,
	 "`text` to an event, or to the file /PATH (what sysctl of the case restores)"},
	{"lseek", verb_lseek, "", CALLS, BINDS_NOTHING, "an event"},
	{"page", verb_page, "", SHOWS, BINDS_SEEN, "an event's metadata page, member by member"},
	{"rdpmc", verb_rdpmc, "", SHOWS, BINDS_SEEN,
	 "an event's count read in user space by the man page's algorithm"},
	{"records", verb_records, "of keep", SHOWS, BINDS_SEEN,
	 "what an event's ring buffer holds, decoded strictly; of: these types alone; keep: leaves them "
	 "unread"},
	{"poll", verb_poll, "events ms by", CALLS, BINDS_SEEN,
	 "an event for `ms`, by poll, epoll or select; shows revents"},
	{"fcntl", verb_fcntl, "on arg", CALLS, BINDS_SEEN,
	 "F_GETFL, F_SETFL, F_GETSIG, F_SETSIG, F_GETOWN, F_SETOWN or F_GETFD `on` an event; shows value"},
	{"signals", verb_signals, "on owner setsig", PREPARES, BINDS_NOTHING,
	 "from now on that signal is noted; on: an event's overflows, by F_SETOWN, F_SETSIG and O_ASYNC"},
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
	{"await", verb_await, "", PREPARES, BINDS_NOTHING, "waits until this word is posted"},
	{"become", verb_become, "", PREPARES, BINDS_NOTHING,
	 "perfmon, sys-admin or user, for good"},
	{"affinity", verb_affinity, "", PREPARES, BINDS_NOTHING,
	 "this thread runs on that cpu alone"},
	{"enter", verb_enter, "", PREPARES, BINDS_NOTHING, "this process moves to that cgroup"},
	{"mkdir", verb_mkdir, "", PREPARES, BINDS_NOTHING,
	 "a cgroup below the one that the case has"},
	{"file", verb_file, "mode", PREPARES, BINDS_RESULT,
	 "a file or folder, opened to read; mode: \"read\" or \"read-write\""},
	{"cgroup", verb_cgroup, "entry", PREPARES, BINDS_RESULT,
	 "the root of \"v2\" or \"v1.CONTROLLER\"; entry: a file in it"},
	{"memfd", verb_memfd, "", PREPARES, BINDS_RESULT, "an anonymous file of that many zero bytes"},
	{"string", verb_string, "times", PREPARES, BINDS_RESULT,
	 "the address of a string; times: it repeated"},
	{"buffer", verb_buffer, "prot", PREPARES, BINDS_RESULT,
	 "the address of that many zero bytes, at a page's start; prot as of mmap"},
	{"poke", verb_poke, "value offset member", PREPARES, BINDS_NOTHING,
	 "stores an u64 at an address, an `offset` behind it, or at a member of the metadata page; "
	 "the signal that comes of it is the process's"},
	{"peek", verb_peek, "offset member", SHOWS, BINDS_SEEN, "the u64 at such a place"},
	{"function", verb_function, "", PREPARES, BINDS_SEEN,
	 "what \"call\" of workload calls: address, path and offset for a uprobe"},
	{"limit", verb_limit, "to", PREPARES, BINDS_NOTHING, "\"nofile\" or \"memlock\": the soft limit"},
	{"stat", verb_stat, "", SHOWS, BINDS_SEEN, "of a path: ino, maj, min, size"},
	{"text", verb_text, "", SHOWS, BINDS_SEEN, "what a small file holds"},
	{"socket", verb_socket, "", PREPARES, BINDS_NOTHING,
	 "a pair of sockets, to be called NAME_a and NAME_b"},
	{"send", verb_send, "over", PREPARES, BINDS_NOTHING, "an fd over a socket, SCM_RIGHTS"},
	{"receive", verb_receive, "as", PREPARES, BINDS_RESULT,
	 "the fd that was sent over a socket; as: the event that it is"},
	{"bpf", verb_bpf, "", PREPARES, BINDS_SEEN,
	 "a BPF program of that type that returns 0: fd, id, tag, name"},
	{"clock", verb_clock, "", SHOWS, BINDS_SEEN, "nanoseconds of a clock of clock_gettime(2)"},
	{"value", verb_value, "", SHOWS, BINDS_SEEN, "an expression"},
	{"pmu-events", verb_pmu_events, "", SHOWS, BINDS_SEEN,
	 "each file in events/ of that PMU, opened: tried, opened, refused"},
	{"workload", verb_workload,
	 "times ms signals filled bytes at size pages name length prot private what op counted", PREPARES,
	 BINDS_SEEN, "something to be counted or recorded:"},
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void help_verb(FILE *f, const struct verb *v)
{
	fprintf(f, "  %-13s %s\n", v->name, v->help);
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

/* Whether `word` is one of those in `list`, a space between. */
static bool in_words(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

static bool knows_key(const struct verb *v, const char *key)
{
	if (!strcmp(key, v->name) || in_words(v->keys, key) || !strcmp(key, "when"))
		return true;
	return (v->binds && !strcmp(key, "bind")) || (v->kind != PREPARES && !strcmp(key, "expect"));
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

const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e)
{
	const struct verb *found = find_verb(step);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)step, key, value) {
		struct where at = where_key(w, key);
		struct nearest near = nearest_to(key);

		if (found && knows_key(found, key))
			continue;
		for (size_t i = 0; i < VERBS; i++)
			nearest_try(&near, verbs[i].name);
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

int step_failed(struct step *s, int err)
{
	char got[96];

	snprintf(got, sizeof(got), "%s (%s)", strerrorname_np(err), strerror(err));
	error_text(s->error, s->where, got, "this preparation to succeed");
	return -err;
}

static const json_t *value_at(struct step *s, const char *key, struct where *at)
{
	*at = key ? where_key(s->where, key) : s->at;
	return key ? json_object_get(s->json, key) : s->argument;
}

int step_number(struct step *s, const char *key, uint64_t fallback, uint64_t max, uint64_t *out)
{
	struct vars vars = scope_vars(s->scope);
	struct where at;
	const json_t *json = value_at(s, key, &at);
	struct value value;

	*out = fallback;
	if (!json)
		return 0;
	if (value_eval(json, NULL, &vars, &at, &value, s->error))
		return -EINVAL;
	if (value.known && value.bits > max)
		return error_value(s->error, &at, json, "0 to %llu", (unsigned long long)max);
	*out = value.bits;
	return 0;
}

int step_signed(struct step *s, const char *key, int fallback, int *out)
{
	uint64_t value;
	int err = step_number(s, key, (uint64_t)fallback, UINT64_MAX, &value);

	*out = (int)value;
	return err;
}

int step_bound(struct step *s, const char *key, uint64_t *out)
{
	struct vars vars = scope_vars(s->scope);
	struct where at;
	const json_t *json = value_at(s, key, &at);
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	bool known;

	if (!name)
		return error_value(s->error, &at, json, "a name bound before");
	if (vars.lookup(vars.context, name, out, &known, &near))
		return error_name(s->error, &at, name, near.best, "a name bound before");
	return 0;
}

int step_text(struct step *s, const char *key, char *out, size_t size)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);
	const char *text = json_string_value(json);
	int err;

	if (!text)
		return error_value(s->error, &at, json, "a text");
	err = scope_expand(s->scope, text, out, size);
	if (err == -ENOENT)
		return error_value(s->error, &at, json, "$names that are known here");
	return err ? error_value(s->error, &at, json, "less than %zu bytes", size) : 0;
}

int step_word(struct step *s, const char *key, const char *const words[], int fallback, int *out)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);
	const char *text = json_string_value(json);
	struct nearest near = nearest_to(text ? text : "");
	char all[160] = "";

	*out = fallback;
	if (!json && fallback >= 0)
		return 0;
	*out = text ? name_index(text, words, &near) : -1;
	if (*out >= 0)
		return 0;
	for (size_t i = 0; words[i]; i++) {
		size_t n = strlen(all);

		snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", words[i]);
	}
	return text ? error_name(s->error, &at, text, near.best, "one of %s", all)
		    : error_value(s->error, &at, json, "one of %s", all);
}

int step_truth(struct step *s, const char *key, bool fallback, bool *out)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);

	*out = json ? json_is_true(json) : fallback;
	return json && !json_is_boolean(json) ? error_value(s->error, &at, json, "true or false")
					      : 0;
}

int step_bits(struct step *s, const char *key, const struct step_bit *bits, size_t count,
	      unsigned fallback, unsigned *out)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);
	json_t *item;
	size_t i;

	*out = json ? 0 : fallback;
	if (json && !json_is_array(json))
		return error_value(s->error, &at, json, "a list of names");
	json_array_foreach(json, i, item) {
		const char *text = json_string_value(item);
		struct nearest near = nearest_to(text ? text : "");
		size_t k = 0;

		for (; k < count && strcmp(bits[k].name, text ? text : ""); k++)
			nearest_try(&near, bits[k].name);
		if (k == count)
			return error_name(s->error, &at, text ? text : "", near.best,
					  "names such as \"%s\"", bits[0].name);
		*out |= bits[k].bit;
	}
	return 0;
}

void step_say(struct step *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->call, sizeof(s->call), format, args);
	va_end(args);
}

void step_answer(struct step *s, long ret)
{
	size_t n;

	s->err = ret == -1 ? errno : 0;
	n = strlen(s->call);
	if (!n)
		return;
	if (s->err)
		snprintf(s->call + n, sizeof(s->call) - n, " = -1 %s (%s)",
			 strerrorname_np(s->err), strerror(s->err));
	else
		snprintf(s->call + n, sizeof(s->call) - n, " = %ld", ret);
}

void step_show(struct step *s, const char *key, json_t *value)
{
	if (!s->seen)
		s->seen = json_object();
	json_object_set_new(s->seen, key, value);
}

void step_show_number(struct step *s, const char *key, uint64_t value)
{
	step_show(s, key, json_integer((json_int_t)value));
}

struct opened *step_event(struct step *s, int fd)
{
	for (size_t i = s->run->event_count; i-- > 0;)
		if (s->run->events[i].fd == fd)
			return &s->run->events[i];
	return NULL;
}

struct map *step_map(struct step *s, int fd)
{
	for (size_t i = s->run->map_count; i-- > 0;)
		if (s->run->maps[i].at && s->run->maps[i].fd == fd && s->run->maps[i].is_data)
			return &s->run->maps[i];
	return NULL;
}

/* A list in which an element has `when` is one of alternatives; any other is a pattern. */
static bool is_alternatives(const json_t *expect)
{
	json_t *item;
	size_t i;

	json_array_foreach(expect, i, item)
		if (json_object_get(item, "when"))
			return true;
	return false;
}

/* The pattern that an alternative has on what was seen; a new reference, or NULL. */
static json_t *pattern_of(const json_t *expect)
{
	json_t *pattern;

	if (!json_is_object(expect))
		return json_incref((json_t *)expect);
	pattern = json_copy((json_t *)expect);
	json_object_del(pattern, "when");
	json_object_del(pattern, "ok");
	if (json_object_size(pattern))
		return pattern;
	json_decref(pattern);
	return NULL;
}

static int check_errno(const json_t *expect, const struct verb *verb, const struct where *w,
		       struct error *e)
{
	const json_t *name = json_object_get(expect, "errno");
	const char *text = json_string_value(name);
	struct nearest near = nearest_to(text ? text : "");
	struct where at = where_key(w, "errno");

	if (verb->kind != CALLS)
		return error_value(e, &at, name, "no errno: %s is no call that is under test",
				   verb->name);
	if (!text || !errno_by_name(text, &near))
		return error_name(e, &at, text ? text : "", near.best, "the name of an errno");
	if (json_object_size(expect) > 1 + (json_object_get(expect, "when") != NULL))
		return error_value(e, w, expect, "errno alone, or what the call shows");
	return 0;
}

static int check_alternative(const json_t *expect, const struct verb *verb,
			     const struct cases *cases, struct scope *scope, const struct where *w,
			     struct error *e)
{
	struct where at = where_key(w, "when");
	json_t *pattern;
	int err = expect_check_when(json_object_get(expect, "when"), cases, &at, e);

	if (err || json_object_get(expect, "errno"))
		return err ? err : check_errno(expect, verb, w, e);
	pattern = pattern_of(expect);
	err = pattern ? pattern_check(pattern, scope, w, e) : 0;
	json_decref(pattern);
	return err;
}

static int check_expect(const json_t *expect, const struct verb *verb, const struct cases *cases,
			struct scope *scope, const struct where *w, struct error *e)
{
	json_t *item;
	size_t i;

	if (!is_alternatives(expect))
		return check_alternative(expect, verb, cases, scope, w, e);
	json_array_foreach(expect, i, item) {
		struct where at = where_index(w, i);

		if (check_alternative(item, verb, cases, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* Names what came. 0 or -EINVAL with `e` filled. */
static int bind_result(struct step *s, const struct verb *verb)
{
	const json_t *bind = json_object_get(s->json, "bind");
	struct where at = where_key(s->where, "bind");
	const char *name = json_string_value(bind);
	int err;

	if (!bind || s->err)
		return 0;
	if (verb->binds == BINDS_SEEN && s->seen)
		err = name ? scope_bind_json(s->scope, name, s->seen) : -EINVAL;
	else
		err = name ? scope_bind(s->scope, name, s->result) : -EINVAL;
	if (err == -ENOSPC)
		return error_value(s->error, &at, bind, "at most %d names", SCOPE_MAX);
	if (err == -EEXIST)
		return error_value(s->error, &at, bind, "a name that means nothing yet");
	if (err)
		return error_value(s->error, &at, bind, "a name of a-z, 0-9 and _, at most %d",
				   SCOPE_NAME - 1);
	return 0;
}

static int check_step(const json_t *json, const struct cases *cases, struct scope *scope,
		      const struct where *w, struct error *e)
{
	const struct verb *verb = verb_of(json, w, e);
	const json_t *expect = json_object_get(json, "expect");
	struct where at_expect = where_key(w, "expect"), at_when = where_key(w, "when");
	struct step s = {
		.json = json, .cases = cases, .scope = scope, .where = w, .error = e};
	int err;

	if (!verb || expect_check_when(json_object_get(json, "when"), cases, &at_when, e))
		return -EINVAL;
	s.argument = json_object_get(json, verb->name);
	s.at = where_key(w, verb->name);
	err = verb->run(&s);
	if (!err && expect)
		err = check_expect(expect, verb, cases, scope, &at_expect, e);
	return err ? err : bind_result(&s, verb);
}

int steps_check(const json_t *list, const struct cases *cases, struct scope *scope,
		const struct where *w, struct error *e)
{
	json_t *step;
	size_t i;

	if (list && !json_is_array(list))
		return error_value(e, w, list, "a list of steps");
	json_array_foreach(list, i, step) {
		struct where at = where_index(w, i);

		if (check_step(step, cases, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* The alternative that applies; NULL with *missing if none does. */
static const json_t *choose(const json_t *expect, const struct instance *instance,
			    struct environment *env, bool *missing)
{
	json_t *item;
	size_t i;

	*missing = false;
	if (!is_alternatives(expect))
		return expect;
	json_array_foreach(expect, i, item)
		if (expect_applies(item, instance, env))
			return item;
	*missing = true;
	return NULL;
}

static bool fail(struct failure *f, enum outcome outcome, const char *expected, const char *got)
{
	f->outcome = (int)outcome;
	snprintf(f->expected, sizeof(f->expected), "%s", expected);
	snprintf(f->got, sizeof(f->got), "%s", got);
	return false;
}

static bool judge_seen(struct step *s, const json_t *expect, struct failure *f)
{
	json_t *pattern = pattern_of(expect);
	struct mismatch why;
	bool fits = !pattern || pattern_match_json(pattern, s->seen, s->scope, &why);

	json_decref(pattern);
	if (fits)
		return true;
	f->outcome = FAIL;
	snprintf(f->expected, sizeof(f->expected), "%s%s%s", why.path, why.path[0] ? " " : "",
		 why.expected);
	snprintf(f->got, sizeof(f->got), "%s", why.got);
	return false;
}

static bool judge(struct step *s, struct failure *f)
{
	bool missing;
	const json_t *expect = choose(json_object_get(s->json, "expect"), s->run->instance,
				      s->run->env, &missing);
	const char *name = json_string_value(json_object_get(expect, "errno"));
	int wanted = name ? errno_by_name(name, NULL) : 0;

	if (missing)
		return fail(f, ERROR, "an alternative of expect that applies here", "none");
	f->err = s->err;
	if (s->err != wanted)
		return fail(f, FAIL, wanted ? name : "success",
			    s->err ? strerrorname_np(s->err) : "success");
	return wanted || judge_seen(s, expect, f);
}

/* Shows the step that failed: where it stands, and the call if it was one. */
static void show_call(const struct step *s, struct failure *f)
{
	char *text = s->call[0] ? NULL : json_dumps(s->json, JSON_COMPACT);
	size_t index = s->where->index;

	snprintf(f->call, sizeof(f->call), "step %zu: %s", index + 1,
		 s->call[0] ? s->call : text ? text : "?");
	free(text);
}

static bool run_step(struct steps *run, const json_t *json, const struct where *w,
		     struct failure *f)
{
	struct error e = {0};
	const struct verb *verb = verb_of(json, w, &e);
	struct step s = {.json = json,
			 .cases = run->cases,
			 .scope = &run->scope,
			 .run = run,
			 .where = w,
			 .error = &e};
	bool good = false;
	int err;

	if (!expect_applies(json, run->instance, run->env))
		return true;
	s.argument = verb ? json_object_get(json, verb->name) : NULL;
	s.at = where_key(w, verb ? verb->name : "");
	err = verb ? verb->run(&s) : -EINVAL;
	if (s.inner && s.inner->outcome != PASS)
		*f = *s.inner;
	else if (err)
		fail(f, err == -ECANCELED ? FAIL : ERROR, e.expected, e.got);
	else if (judge(&s, f))
		good = !bind_result(&s, verb) || fail(f, ERROR, e.expected, e.got);
	if (!good && !s.inner)
		show_call(&s, f);
	free(s.inner);
	json_decref(s.seen);
	return good;
}

bool steps_run(struct steps *run, const json_t *list, const struct where *w,
	       struct failure *failure)
{
	json_t *step;
	size_t i;

	*failure = (struct failure){0};
	json_array_foreach(list, i, step) {
		struct where at = where_index(w, i);

		if (run->at_step)
			*run->at_step = (unsigned)i + 1;
		if (!run_step(run, step, &at, failure))
			return false;
	}
	return true;
}

/* Fails as the step of the list does that failed. */
int verb_repeat(struct step *s)
{
	const json_t *list = json_object_get(s->json, "do");
	struct where at = where_key(s->where, "do");
	uint64_t times;
	int err = step_number(s, NULL, 1, 100000, &times);

	if (err)
		return err;
	if (step_is_checked(s))
		return steps_check(list, s->cases, s->scope, &at, s->error);
	s->inner = calloc(1, sizeof(*s->inner));
	if (!s->inner)
		return step_failed(s, ENOMEM);
	for (uint64_t i = 0; i < times; i++)
		if (!steps_run(s->run, list, &at, s->inner))
			return -EPROTO;
	return 0;
}

int steps_begin(struct steps *s, const struct instance *instance, const struct cases *cases,
		struct environment *env)
{
	*s = (struct steps){.cases = cases, .instance = instance, .env = env};
	s->scope.env = env;
	s->scope.unmapped = call_unmapped_page(env);
	s->meeting_fd = -1;
	s->meeting = meeting_make(&s->meeting_fd);
	return s->meeting ? 0 : -ENOMEM;
}

/* Records that no step asked for must be well formed too. */
static bool decode_rest(struct steps *run, struct failure *f)
{
	struct where at = where_root(run->instance->source);

	for (size_t i = run->first_map; i < run->map_count; i++) {
		struct error e = {0};
		json_t *json = json_pack("{s:i}", "records", run->maps[i].fd);
		struct step s = {.json = json,
				 .argument = json_object_get(json, "records"),
				 .cases = run->cases,
				 .scope = &run->scope,
				 .run = run,
				 .where = &at,
				 .error = &e};
		bool is_readable = run->maps[i].at && run->maps[i].is_data && !run->maps[i].mangled;
		int err = is_readable ? verb_records(&s) : 0;

		json_decref(s.seen);
		if (err) {
			fail(f, err == -ECANCELED ? FAIL : ERROR, e.expected, e.got);
			snprintf(f->call, sizeof(f->call), "decoding the buffer of fd %d at the end",
				 run->maps[i].fd);
		}
		json_decref(json);
		if (err)
			return false;
	}
	return true;
}

static bool end_child(struct steps *run, struct child *child, struct failure *f)
{
	struct error e = {0};
	struct where at = where_root(run->instance->source);
	struct step s = {.run = run, .error = &e, .where = &at};
	int status = 0, err = child_wait(&s, child, &status);

	if (meeting_failed(run->meeting, f))
		return false;
	return (!err && !status) || fail(f, ERROR, "a child of the case to end well", "otherwise");
}

bool steps_end(struct steps *run, struct failure *failure)
{
	for (size_t i = 0; i < run->child_count; i++)
		if (run->children[i].id && !end_child(run, &run->children[i], failure))
			return false;
	return !meeting_failed(run->meeting, failure) && decode_rest(run, failure);
}

static json_t *flip_list(const json_t *list, const struct instance *instance,
			 struct environment *env, unsigned *index);

/* An expectation turned round: of an errno, success; of success where nothing is shown, EINVAL. */
static json_t *flip_expect(const json_t *expect, const struct verb *verb, unsigned *index)
{
	json_t *pattern = pattern_of(expect), *flipped = NULL;

	if (json_object_get(expect, "errno"))
		flipped = (*index)-- ? NULL : json_pack("{s:b}", "ok", 1);
	else if (pattern)
		flipped = pattern_flip(pattern, index);
	if (!flipped && !json_object_get(expect, "errno") && verb->kind == CALLS && *index != UINT32_MAX &&
	    !(*index)--)
		flipped = json_pack("{s:s}", "errno", "EINVAL");
	json_decref(pattern);
	return flipped;
}

static json_t *flip_step(const json_t *step, const struct instance *instance,
			 struct environment *env, unsigned *index)
{
	static const char *const nested[] = {"fork", "thread", "exec", "do"};
	struct where nowhere = {0};
	struct error e = {0};
	const struct verb *verb = verb_of(step, &nowhere, &e);
	const char *key = "expect";
	json_t *flipped = NULL, *out = NULL;
	bool missing;

	if (!verb || !expect_applies(step, instance, env))
		return NULL;
	for (size_t i = 0; i < 4 && !flipped; i++) {
		if (!json_is_array(json_object_get(step, nested[i])))
			continue;
		key = nested[i];
		flipped = flip_list(json_object_get(step, key), instance, env, index);
	}
	if (!flipped && verb->kind != PREPARES)
		flipped = flip_expect(choose(json_object_get(step, "expect"), instance, env,
					     &missing),
				      verb, index);
	if (flipped)
		out = json_copy((json_t *)step);
	if (out)
		json_object_set(out, key, flipped);
	json_decref(flipped);
	return out;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as lists of steps are nested */
static json_t *flip_list(const json_t *list, const struct instance *instance,
			 struct environment *env, unsigned *index)
{
	json_t *step, *out;
	size_t i;

	json_array_foreach(list, i, step) {
		json_t *flipped = flip_step(step, instance, env, index);

		if (!flipped)
			continue;
		out = json_copy((json_t *)list);
		json_array_set_new(out, i, flipped);
		return out;
	}
	return NULL;
}

json_t *steps_flip(const json_t *list, const struct instance *instance, struct environment *env,
		   unsigned index)
{
	return flip_list(list, instance, env, &index);
}
