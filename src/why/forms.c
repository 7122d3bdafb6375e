/* SPDX-License-Identifier: MIT */
/*
 * Which form a question has shows at its beginning.
 */
#include "why/forms.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"
#include "why/attr_block.h"
#include "why/question.h"
#include "why/strace.h"

/*
 * Of several calls the one that is asked about is found, those before it are given, and what of it
 * means something else here is replaced.
 */

static bool is_there(json_int_t pid)
{
	return pid <= 0 || pid > INT32_MAX || !kill((pid_t)pid, 0) || errno != ESRCH;
}

/* With PERF_FLAG_PID_CGROUP pid is a descriptor. */
static bool is_of_cgroup(const json_t *open)
{
	const json_t *flags = json_object_get(open, "flags");
	char *text = json_dumps(flags, JSON_ENCODE_ANY);
	bool is = (text && strstr(text, "PID_CGROUP")) ||
		  ((uint64_t)json_integer_value(flags) & PERF_FLAG_PID_CGROUP);

	free(text);
	return is;
}

static void note_substitute(struct question *q, const char *text)
{
	if (!q->notes)
		q->notes = json_array();
	json_array_append_new(q->notes, json_string(text));
}

/* A process that has ended since: the calling thread stands for it. */
static void replace_pid(struct question *q)
{
	const json_t *json = json_object_get(q->open, "pid");
	const char *text = json_string_value(json);
	json_int_t pid = text ? strtoll(text, NULL, 0) : json_integer_value(json);

	if (is_of_cgroup(q->open) || is_there(pid) ||
	    !strcmp(json_string_value(q->told) ? json_string_value(q->told) : "", "ESRCH"))
		return;
	json_object_set_new(q->open, "pid", json_integer(0));
	note_substitute(
		q, "pid is of a process that has ended: the calling thread stands for it here");
}

/* A pointer of the program that made the call means nothing here. */
static void replace_path(struct question *q, const struct environment *env)
{
	json_t *attr = json_object_get(q->open, "attr");
	const char *type = json_string_value(json_object_get(attr, "type"));
	const struct pmu *uprobe = environment_pmu(env, "uprobe");

	if (!type || !uprobe || strtoul(type, NULL, 0) != uprobe->type ||
	    !json_object_get(attr, "config1"))
		return;
	if (!q->given)
		q->given = json_array();
	json_array_append_new(q->given,
			      json_pack("{s:s,s:s}", "string", "/proc/self/exe", "bind", "path"));
	json_object_set_new(attr, "config1", json_string("$path"));
	note_substitute(q, "config1 points to a path in another process: /proc/self/exe, perfabi "
			   "itself, stands for it here");
}

/* What a pasted call says that means something else here is replaced, and that is said. */
static void settle_paste(struct question *q, const struct environment *env)
{
	if (!q->open || !env->runner) /* another machine's processes are not here anyway */
		return;
	replace_pid(q);
	replace_path(q, env);
}

/* A descriptor that an earlier line has opened is named by it. */
static void name_group(json_t *open, const json_t *opened)
{
	const json_t *fd = json_object_get(open, "group_fd");
	const char *number = json_string_value(fd);
	char name[32];

	if (json_is_integer(fd))
		snprintf(name, sizeof(name), "fd%lld", (long long)json_integer_value(fd));
	else
		snprintf(name, sizeof(name), "fd%.10s", number ? number : "");
	if (json_object_get(opened, name))
		json_object_set_new(open, "group_fd", json_sprintf("$%s", name));
}

static void give_what_opened(json_t *given, json_t *opened, json_t *open, int fd)
{
	char name[16];

	snprintf(name, sizeof(name), "fd%d", fd);
	json_array_append_new(given, json_pack("{s:O,s:s}", "open", open, "bind", name));
	json_object_set_new(opened, name, json_true());
}

static const char *group_of(const json_t *open)
{
	const char *group = json_string_value(json_object_get(open, "group_fd"));

	return group && *group == '$' ? group + 1 : NULL;
}

static bool is_breakpoint(const json_t *open)
{
	const char *type =
		json_string_value(json_object_get(json_object_get(open, "attr"), "type"));

	return type && (!strcmp(type, "PERF_TYPE_BREAKPOINT") ||
			strtoul(type, NULL, 0) == PERF_TYPE_BREAKPOINT);
}

/* The names of the events that the call hangs on: its leader, and that one's. */
static json_t *leaders_of(const struct question *q)
{
	json_t *names = json_object();
	const char *group = group_of(q->open);

	for (size_t i = json_array_size(q->given); group && i-- > 0;) {
		const json_t *step = json_array_get(q->given, i);

		if (strcmp(json_string_value(json_object_get(step, "bind")), group))
			continue;
		json_object_set_new(names, group, json_true());
		group = group_of(json_object_get(step, "open"));
	}
	return names;
}

/*
 * Of the events that were open before, those that the call meets: its leaders, their other members,
 * and breakpoints, of which there are few. The others may not be had here.
 */
static void keep_what_is_met(struct question *q)
{
	json_t *kept = json_array(), *leaders = leaders_of(q), *step;
	size_t i;

	json_array_foreach(q->given, i, step) {
		const json_t *open = json_object_get(step, "open");
		const char *bind = json_string_value(json_object_get(step, "bind"));
		const char *of = group_of(open);

		if (json_object_get(leaders, bind) || (of && json_object_get(leaders, of)) ||
		    (is_breakpoint(open) && !of))
			json_array_append(kept, step);
	}
	json_decref(leaders);
	json_decref(q->given);
	q->given = kept;
}

/* Who made the call of a line of strace -f: "1234 " or "[pid 1234] ". */
static void name_caller(const char *line, char *out, size_t size)
{
	size_t from = strcspn(line, "0123456789");

	snprintf(out, size, "%.*s", (int)strspn(line + from, "0123456789"), line + from);
}

/*
 * A call that strace -f prints in two parts, for others called meanwhile: the first is kept in
 * `parts` until the second comes. The whole line, to be freed; NULL: there is no whole line yet.
 */
static char *join_parts(char *line, json_t *parts)
{
	static const char first[] = " <unfinished ...>", second[] = "<... perf_event_open resumed>";
	char *cut = strstr(line, first), *rest = strstr(line, second), caller[24], *whole;
	const char *begun;

	if (!cut && !rest)
		return strdup(line);
	name_caller(line, caller, sizeof(caller));
	if (cut) {
		*cut = '\0';
		if (strace_has_call(line))
			json_object_set_new(parts, caller, json_string(line));
		return NULL;
	}
	begun = json_string_value(json_object_get(parts, caller));
	whole = begun ? malloc(strlen(begun) + strlen(rest) + 1) : NULL;
	if (whole)
		sprintf(whole, "%s%s", begun, rest + strlen(second));
	json_object_del(parts, caller);
	return whole;
}

static const char *first_text(const json_t *texts)
{
	const char *key;
	json_t *text;

	json_object_foreach((json_t *)texts, key, text)
		return json_string_value(text);
	return "perf_event_open(";
}

/* perf asks the kernel what it can by calls that are refused: others may be meant. */
static void note_others(struct question *q, unsigned refused)
{
	char note[128];

	if (refused < 2)
		return;
	snprintf(note, sizeof(note),
		 "%u calls were refused there: this is the first. Paste another alone to ask about "
		 "it",
		 refused);
	note_substitute(q, note);
}

/*
 * Fills the question from lines of strace, or from blocks of perf -vv. 0, or -EINVAL with `e`
 * filled.
 */
/* The last line is asked about, or the first that was refused; those before it were given. */
static int paste_strace(struct question *q, const struct source *text,
			const struct environment *env, struct error *e)
{
	struct where root = where_root(text);
	char *copy = strdup(text->text), *save = NULL;
	struct strace_result result = {.fd = -1};
	json_t *opened = json_object(), *parts = json_object();
	unsigned refused = 0;

	q->given = json_array();
	for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *whole = join_parts(line, parts);
		json_t *open;

		bool is_call = whole && strace_has_call(whole);

		refused += is_call && strstr(whole, "= -1 E");
		if (!is_call || result.error[0]) { /* what comes behind the first is only counted */
			free(whole);
			continue;
		}
		if (q->open && result.fd >= 0)
			give_what_opened(q->given, opened, q->open, result.fd);
		open = strace_open(whole, &result, &root, e);
		free(whole);
		json_decref(q->open);
		q->open = open;
		if (!open)
			break;
		strace_resolve_size(open, env->abi);
		name_group(open, opened);
	}
	free(copy);
	if (!q->open && !error_is_set(e)) /* a call that never came back */
		q->open = strace_open(first_text(parts), &result, &root, e);
	json_decref(opened);
	json_decref(parts);
	keep_what_is_met(q);
	if (q->open && result.is_told)
		q->told = json_string(result.error[0] ? result.error : "ok");
	settle_paste(q, env);
	if (q->open)
		note_others(q, refused);
	return q->open ? 0 : -EINVAL;
}

/* What there is of a text of several calls, so far. */
struct reading_calls {
	struct question *q;
	json_t *opened; /* the names of descriptors, true each */
	int fd;         /* of the last call, or -1 */
	int err;
};

static bool is_dummy(const json_t *open)
{
	const json_t *attr = json_object_get(open, "attr");
	const char *type = json_string_value(json_object_get(attr, "type"));
	const char *config = json_string_value(json_object_get(attr, "config"));

	return type && config && strtoul(type, NULL, 0) == PERF_TYPE_SOFTWARE &&
	       strtoul(config, NULL, 0) == PERF_COUNT_SW_DUMMY;
}

static bool take_call_of_block(void *context, json_t *open, int fd, int err)
{
	struct reading_calls *r = context;

	if (r->q->open && !err && is_dummy(open)) { /* perf's own, for side band */
		json_decref(open);
		return true;
	}
	if (r->q->open && r->fd >= 0)
		give_what_opened(r->q->given, r->opened, r->q->open, r->fd);
	json_decref(r->q->open);
	r->q->open = open;
	r->fd = fd;
	r->err = err;
	name_group(open, r->opened);
	return !err;
}

/* The call that failed is asked about, or the last; those before it were given. */
static int paste_blocks(struct question *q, const struct source *text,
			const struct environment *env, struct error *e)
{
	struct where root = where_root(text);
	struct reading_calls r = {.q = q, .opened = json_object(), .fd = -1};

	q->given = json_array();
	if (!attr_block_calls(text->text, env->abi, take_call_of_block, &r, &root, e))
		keep_what_is_met(q);
	if (!json_array_size(q->given)) {
		json_decref(q->given);
		q->given = NULL;
	}
	if (r.err)
		q->told = json_string(errno_name(r.err));
	json_decref(r.opened);
	settle_paste(q, env);
	return error_is_set(e) ? -EINVAL : 0;
}

int question_read(struct question *q, const struct source *text, const json_t *names,
		  struct environment *env, struct error *e)
{
	const char *at = text->text + strspn(text->text, " \t\n");
	struct where root = where_root(text);
	json_t *whole = json_stringn(text->text, text->length);
	bool is_text = whole && !memchr(text->text, '\0', text->length);

	*q = (struct question){0};
	json_decref(whole);
	if (!is_text)
		return error_text(e, &root, "other bytes", "a text in UTF-8, without NUL");
	if (*at == '{')
		return question_of_json(q, text, names, env, e);
	if (attr_block_is_in(at))
		return paste_blocks(q, text, env, e);
	if (strace_has_call(at))
		return paste_strace(q, text, env, e);
	return question_of_name(q, text, names, env, e);
}
