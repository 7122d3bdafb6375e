/* SPDX-License-Identifier: MIT */
/*
 * Which form a question has shows at its beginning.
 */
#include "why/question.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "call/call.h"
#include "machine/names.h"
#include "text/doc.h"
#include "text/json_text.h"

/*
 * perf_event_attr__fprintf() of perf writes "  name   value (NAME)", and of unions
 * "{ name, other }"; sys_perf_event_open writes "pid 1  cpu -1  group_fd -1  flags 0x8" behind it.
 */

static const char heading[] = "perf_event_attr:", call_words[] = "sys_perf_event_open: ";
static const char failed_words[] = "failed, error ";

enum { ERRNO_MOST = 4095 }; /* MAX_ERRNO of the kernel's */

bool attr_block_is_in(const char *text)
{
	return strstr(text, heading) != NULL;
}

/* A line of the block, without its spaces. */
struct line {
	char name[64], value[512];
};

static const char *line_behind(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

static void copy_trimmed(char *out, size_t size, const char *from, size_t n)
{
	while (n && isspace((unsigned char)*from)) {
		from++;
		n--;
	}
	while (n && isspace((unsigned char)from[n - 1]))
		n--;
	snprintf(out, size, "%.*s", (int)n, from);
}

/* Of a union the first name; which one fits what else the block says is attr's own affair. */
static bool take_field(const char *at, struct line *line)
{
	size_t n = strcspn(at, "\n");
	const char *open = memchr(at, '{', n), *close = open ? memchr(at, '}', n) : NULL;
	const char *from = open ? open + 1 : at + strspn(at, " \t");
	const char *end = from + strcspn(from, open ? ",}" : " \t\n");
	const char *behind = close ? close + 1 : end;
	char *comment;

	if (!strspn(at, " \t"))
		return false;
	copy_trimmed(line->name, sizeof(line->name), from, (size_t)(end - from));
	if (!line->name[0] || behind >= at + n)
		return false;
	copy_trimmed(line->value, sizeof(line->value), behind, (size_t)(at + n - behind));
	comment = strstr(line->value, " (");
	if (comment)
		*comment = '\0';
	return line->value[0] != '\0';
}

/* IP|TID|TIME as a list; cuts the text up. */
static json_t *names_json(char *text)
{
	json_t *list = json_array();
	char *save = NULL;

	for (char *name = strtok_r(text, "|", &save); name; name = strtok_r(NULL, "|", &save))
		json_array_append_new(list, json_string(name));
	return list;
}

/* A number of attr, which is a text here; `none` where it is none. */
static unsigned long attr_number(const json_t *attr, const char *name, unsigned long none)
{
	const char *text = json_string_value(json_object_get(attr, name));

	return text ? strtoul(text, NULL, 0) : none;
}

/* The union's names that an attr has by what else it says. */
static void name_unions(json_t *attr)
{
	static const struct {
		const char *first, *other, *with; /* NULL: with any type but a breakpoint's */
	} unions[] = {{"sample_period", "sample_freq", "freq"},
		      {"wakeup_events", "wakeup_watermark", "watermark"},
		      {"bp_addr", "config1", NULL},
		      {"bp_len", "config2", NULL}};
	bool is_breakpoint = attr_number(attr, "type", PERF_TYPE_MAX) == PERF_TYPE_BREAKPOINT;

	for (size_t i = 0; i < sizeof(unions) / sizeof(unions[0]); i++) {
		json_t *value = json_object_get(attr, unions[i].first);

		if (!value ||
		    (unions[i].with ? !json_object_get(attr, unions[i].with) : is_breakpoint))
			continue;
		json_object_set(attr, unions[i].other, value);
		json_object_del(attr, unions[i].first);
	}
}

/* The lines up to that of dashes. */
static json_t *take_block(const char **at, const struct abi *abi, const struct where *w,
			  struct error *e)
{
	json_t *attr = json_object();
	struct line line;
	bool is_name;

	for (*at = line_behind(*at); take_field(*at, &line); *at = line_behind(*at)) {
		struct nearest near = nearest_to(line.name);

		for (size_t i = 0; i < abi->field_count; i++)
			nearest_try(&near, abi->fields[i].name);
		if (!abi_field(abi, line.name)) {
			json_decref(attr);
			error_name(e, w, line.name, near.best, "a field of struct perf_event_attr");
			return NULL;
		}
		/* The names that cases have; a number as it is. */
		is_name = isalpha((unsigned char)line.value[0]);
		for (char *c = line.value; is_name && *c; c++)
			*c = (char)tolower((unsigned char)*c);
		json_object_set_new(attr, line.name,
				    is_name ? names_json(line.value) : json_string(line.value));
	}
	if (!json_object_size(attr)) {
		json_decref(attr);
		error_text(e, w, heading, "the fields of attr behind it, a line each");
		return NULL;
	}
	name_unions(attr);
	return attr;
}

static const char *find_words(const char *at, const char *end, const char *words)
{
	return at ? memmem(at, (size_t)(end - at), words, strlen(words)) : NULL;
}

/* The calls of one block, a cpu each; one that was not made where it has none. */
static bool tell_calls(const char *at, const char *end, json_t *attr, attr_block_call *each,
		       void *context)
{
	const char *call = find_words(at, end, call_words);

	do {
		const char *next = call ? find_words(call + 1, end, call_words) : NULL;
		const char *failed = find_words(call ? call : at, next ? next : end, failed_words);
		/* "failed, error -22" */
		long err = failed ? -strtol(failed + strlen(failed_words), NULL, 10) : 0;
		long pid = 0, cpu = -1, group_fd = -1;
		unsigned long flags = 0;
		int fd = -1;
		json_t *open;

		/* "pid 1  cpu -1  group_fd -1  flags 0x8", and " = 5" of one that opened */
		if (call)
			sscanf(call + strlen(call_words),
			       "pid %ld cpu %ld group_fd %ld flags %lx = %d", &pid, &cpu, &group_fd,
			       &flags, &fd);
		/* A process of perf's that is long gone is no part of the question. */
		open = json_pack("{s:O,s:i,s:I,s:I,s:I}", "attr", attr, "pid", pid == -1 ? -1 : 0,
				 "cpu", (json_int_t)cpu, "group_fd", (json_int_t)group_fd, "flags",
				 (json_int_t)flags);
		if (!each(context, open, fd, err > 0 && err <= ERRNO_MOST ? (int)err : 0))
			return false;
		call = next;
	} while (call);
	return true;
}

int attr_block_calls(const char *text, const struct abi *abi, attr_block_call *each, void *context,
		     const struct where *w, struct error *e)
{
	const char *at = strstr(text, heading);

	while (at) {
		const char *after = at, *end;
		json_t *attr = take_block(&after, abi, w, e);
		bool goes_on;

		if (!attr)
			return -EINVAL;
		at = strstr(after, heading);
		end = at ? at : after + strlen(after);
		goes_on = tell_calls(after, end, attr, each, context);
		json_decref(attr);
		if (!goes_on)
			return 0;
	}
	return 0;
}

/*
 * strace's notation: {name=value, ...} with constants joined by | and comments, then the arguments.
 */

static const char call_name[] = "perf_event_open(";

bool strace_has_call(const char *line)
{
	return strstr(line, call_name) != NULL;
}

static void skip_spaces(const char **at)
{
	while (isspace((unsigned char)**at))
		++*at;
}

/* A comment, as that of size=0x88 (PERF_ATTR_SIZE_VER8) between slashes and stars. */
static void skip_comment(const char **at)
{
	const char *end;

	skip_spaces(at);
	if (strncmp(*at, "/*", 2))
		return;
	end = strstr(*at, "*/");
	*at = end ? end + 2 : *at + strlen(*at);
	skip_spaces(at);
}

/* The letters of a number, a name or several joined by | or <<; moves *at behind them. */
static size_t value_length(const char *at)
{
	size_t n = 0;

	while (at[n] && !strchr(",}) \t<", at[n]))
		n++;
	if (at[n] == '<' && at[n + 1] == '<')
		n += 2 + value_length(at + n + 2);
	return n;
}

/* A number or a name as a text, constants that are joined as a list. */
static json_t *take_value(const char **at)
{
	size_t n = value_length(*at);
	char *text = or_exit(strndup(*at, n));
	char result[32], op[32], id[32];
	json_t *value;

	/* "L1D:READ:MISS", or a list, or one text */
	if (sscanf(text,
		   "PERF_COUNT_HW_CACHE_RESULT_%31[A-Z]<<16|PERF_COUNT_HW_CACHE_OP_"
		   "%31[A-Z]<<8|PERF_COUNT_HW_CACHE_%31[A-Z0-9]",
		   result, op, id) == 3)
		value = json_sprintf("%s:%s:%s", id, op, result);
	else
		value = strchr(text, '|') ? names_json(text) : json_string(text);
	free(text);
	*at += n;
	if (**at == '<') /* what a descriptor is, of strace -y */
		*at += strcspn(*at, ",)");
	skip_comment(at);
	return value;
}

static int refuse_line(const struct where *w, struct error *e, const char *at, const char *expected)
{
	char got[48];

	snprintf(got, sizeof(got), "%.40s", *at ? at : "the end of the line");
	return error_text(e, w, got, "%s", expected);
}

/* name=value, ... up to the closing brace, into `attr`. 0 or -EINVAL with `e` filled. */
static int take_attr(const char **at, json_t *attr, const struct where *w, struct error *e)
{
	char name[64];

	while (**at && **at != '}') {
		size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789_");

		if (!strncmp(*at, "...", 3))
			return refuse_line(w, e, *at,
					   "all of attr, as strace -v prints it; without -v it "
					   "leaves out the rest");
		if (!n || (*at)[n] != '=' || n >= sizeof(name))
			return refuse_line(w, e, *at, "name=value in attr, as strace -v prints it");
		snprintf(name, sizeof(name), "%.*s", (int)n, *at);
		*at += n + 1;
		json_object_set_new(attr, name, take_value(at));
		if (**at == ',')
			++*at;
		skip_comment(at);
	}
	*at += **at == '}';
	return 0;
}

/* What stands behind the name of the call. 0 or -EINVAL with `e` filled. */
static int take_arguments_of_strace(const char *at, json_t *open, struct strace_result *result,
				    const struct where *w, struct error *e)
{
	static const char *const arguments[] = {"pid", "cpu", "group_fd", "flags", NULL};
	static const char event[] = "<anon_inode:[perf_event]>";
	json_t *attr;

	skip_comment(&at);
	if (*at == '{') {
		at++;
		attr = json_object();
		json_object_set_new(open, "attr", attr);
		if (take_attr(&at, attr, w, e))
			return -EINVAL;
	} else {
		json_object_set_new(open, "memory", json_string("null"));
		at += strcspn(at, ",");
	}
	for (size_t i = 0; arguments[i]; i++) {
		skip_comment(&at);
		if (*at != ',')
			return refuse_line(w, e, at, "pid, cpu, group_fd and flags behind attr");
		at++;
		skip_comment(&at);
		if (!strcmp(arguments[i], "group_fd"))
			result->group_is_event =
				!strncmp(at + strspn(at, "0123456789"), event, strlen(event));
		json_object_set_new(open, arguments[i], take_value(&at));
	}
	/* ") = 3<anon_inode:[perf_event]>" or ") = -1 EINVAL (Invalid argument)"; short lines have
	 * more spaces, and of a process that was ended meanwhile it is ") = ?". */
	if (*at++ != ')')
		return 0;
	skip_spaces(&at);
	result->is_told = sscanf(at, "= -1 %15[A-Z0-9]", result->error) == 1 ||
			  sscanf(at, "= %d", &result->fd) == 1;
	return 0;
}

json_t *strace_open(const char *line, const struct abi *abi, struct strace_result *result,
		    const struct where *w, struct error *e)
{
	static const char prefix[] = "PERF_ATTR_SIZE_";
	json_t *open = json_object(), *attr;
	const char *size;

	*result = (struct strace_result){.fd = -1};
	if (!take_arguments_of_strace(strstr(line, call_name) + strlen(call_name), open, result, w,
				      e)) {
		attr = json_object_get(open, "attr");
		size = member_text(attr, "size");
		/* PERF_ATTR_SIZE_VER7 becomes its number. */
		for (size_t i = 0; i < abi->size_count; i++)
			if (!strncmp(size, prefix, strlen(prefix)) &&
			    !strcmp(abi->sizes[i].name, size + strlen(prefix))) {
				json_object_set_new(attr, "size", json_integer(abi->sizes[i].size));
				break;
			}
		return open;
	}
	json_decref(open);
	return NULL;
}

/*
 * Of several calls the one that is asked about is found, those before it are given, and what of it
 * means something else here is replaced.
 */

static void note_substitute(struct question *q, const char *text)
{
	if (!q->notes)
		q->notes = arena_keep(&q->arena, json_array());
	json_array_append_new(q->notes, json_string(text));
}

/* Whether `pid` is of a process that has ended since; of a cgroup it is a descriptor. */
static bool is_of_ended(const json_t *open)
{
	const json_t *pid = json_object_get(open, "pid"), *flags = json_object_get(open, "flags");
	char *names = flags ? or_exit(json_text(flags, JSON_ENCODE_ANY)) : NULL;
	const char *text = json_string_value(pid);
	json_int_t number = text ? strtoll(text, NULL, 0) : json_integer_value(pid);
	bool is_of_cgroup = (names && strstr(names, "PID_CGROUP")) ||
			    (uint64_t)json_integer_value(flags) & PERF_FLAG_PID_CGROUP;

	free(names);
	return !is_of_cgroup && number > 0 && number <= INT32_MAX && kill((pid_t)number, 0) &&
	       errno == ESRCH;
}

/* What pasted calls say that means something else here is replaced, and that is said. */
static void settle_paste(struct question *q, const struct environment *env)
{
	json_t *attr = json_object_get(q->open, "attr"), *open = q->open;
	const struct pmu *uprobe = environment_pmu(env, "uprobe");
	bool is_gone = false;

	if (!env->runner) /* another machine's processes are not here anyway */
		return;
	/* That the process was gone may be what is asked about. */
	for (size_t i = 0; open; open = json_object_get(json_array_get(q->given, i++), "open"))
		if ((open != q->open || !q->told || strcmp(q->told, "ESRCH") != 0) &&
		    is_of_ended(open))
			is_gone = !json_object_set_new(open, "pid", json_integer(0));
	if (is_gone)
		note_substitute(q, "pid is of a process that has ended: the calling thread stands "
				   "for it here");
	/* A pointer of the program that made the call. */
	if (uprobe && attr_number(attr, "type", ULONG_MAX) == uprobe->type &&
	    json_object_get(attr, "config1")) {
		if (!q->given)
			q->given = arena_keep(&q->arena, json_array());
		json_array_append_new(q->given, json_pack("{s:s,s:s}", "string", "/proc/self/exe",
							  "bind", "path"));
		json_object_set_new(attr, "config1", json_string("$path"));
		note_substitute(q, "config1 points to a path in another process: /proc/self/exe, "
				   "perfabi itself, stands for it here");
	}
}

/* What there is of a text of several calls, so far. */
struct pasted {
	struct question *q;
	json_t *opened; /* the names of descriptors, true each */
	int fd;         /* that the last call gave, or -1 */
	int err;        /* its errno, or 0 */
};

/* Takes the next call, of which it takes the reference: the one before was given, if it opened. */
static void take_call(struct pasted *p, json_t *open)
{
	struct question *q = p->q;
	json_t *group;
	char name[16];

	if (q->open && p->fd >= 0) {
		snprintf(name, sizeof(name), "fd%d", p->fd);
		json_array_append_new(q->given,
				      json_pack("{s:O,s:s}", "open", q->open, "bind", name));
		json_object_set_new(p->opened, name, json_true());
	}
	q->open = arena_keep(&q->arena, open);
	/* A descriptor that an earlier line has opened is named by it. */
	group = json_object_get(open, "group_fd");
	group = json_is_integer(group)
			? json_sprintf("$fd%lld", (long long)json_integer_value(group))
			: json_sprintf("$fd%.10s", member_text(open, "group_fd"));
	if (json_object_get(p->opened, json_string_value(group) + 1))
		json_object_set(open, "group_fd", group);
	json_decref(group);
}

static const char *group_of(const json_t *open)
{
	const char *group = json_string_value(json_object_get(open, "group_fd"));

	return group && *group == '$' ? group + 1 : NULL;
}

static bool is_breakpoint(const json_t *open)
{
	const json_t *attr = json_object_get(open, "attr");

	return !strcmp(member_text(attr, "type"), "PERF_TYPE_BREAKPOINT") ||
	       attr_number(attr, "type", ULONG_MAX) == PERF_TYPE_BREAKPOINT;
}

/*
 * Of the events that were open before, those that the call meets: its leaders, their other members,
 * and breakpoints, of which there are few. The others may not be had here.
 */
static void keep_what_is_met(struct question *q)
{
	json_t *kept = json_array(), *leaders = json_object(), *step;
	const char *group = group_of(q->open);
	size_t i = json_array_size(q->given);

	while (group && i-- > 0) { /* its leader, and that one's */
		step = json_array_get(q->given, i);
		if (strcmp(member_text(step, "bind"), group) != 0)
			continue;
		json_object_set_new(leaders, group, json_true());
		group = group_of(json_object_get(step, "open"));
	}
	json_array_foreach(q->given, i, step) {
		const json_t *open = json_object_get(step, "open");
		const char *of = group_of(open);

		if (json_object_get(leaders, member_text(step, "bind")) ||
		    (of && json_object_get(leaders, of)) || (is_breakpoint(open) && !of))
			json_array_append(kept, step);
	}
	json_decref(leaders);
	q->given = arena_keep(&q->arena, kept);
}

/*
 * A call that strace -f prints in two parts, for others called meanwhile: the first is kept in
 * `parts` until the second comes. The whole line, to be freed; NULL: there is no whole line yet.
 */
static char *join_parts(char *line, json_t *parts)
{
	static const char first[] = " <unfinished ...>", second[] = "<... perf_event_open resumed>";
	char *cut = strstr(line, first), *rest = strstr(line, second), caller[24], *whole;
	const char *begun, *from;

	if (!cut && !rest)
		return or_exit(strdup(line));
	/* Who made the call: "1234 " or "[pid 1234] ". */
	from = line + strcspn(line, "0123456789");
	snprintf(caller, sizeof(caller), "%.*s", (int)strspn(from, "0123456789"), from);
	if (cut) {
		*cut = '\0';
		if (strace_has_call(line))
			json_object_set_new(parts, caller, json_string(line));
		return NULL;
	}
	begun = json_string_value(json_object_get(parts, caller));
	whole = begun ? or_exit(malloc(strlen(begun) + strlen(rest) + 1)) : NULL;
	if (whole)
		sprintf(whole, "%s%s", begun, rest + strlen(second));
	json_object_del(parts, caller);
	return whole;
}

/* Of strace: the last line is asked about, or the first that was refused; those before it were
 * given. */
static int paste_strace(struct question *q, const struct source *text,
			const struct environment *env, struct error *e)
{
	struct where root = where_root(text);
	char *copy = or_exit(strdup(text->text)), *save = NULL;
	struct strace_result result = {.fd = -1};
	struct pasted p = {.q = q, .opened = json_object(), .fd = -1};
	json_t *parts = json_object(), *open, *begun = NULL;
	const char *caller;
	unsigned refused = 0;
	char note[128];

	for (char *line = strtok_r(copy, "\n", &save); line && !error_is_set(e);
	     line = strtok_r(NULL, "\n", &save)) {
		char *whole = join_parts(line, parts);
		bool is_call = whole && strace_has_call(whole);

		refused += is_call && strstr(whole, "= -1 E");
		/* What comes behind the first that was refused is only counted. */
		if (is_call && !result.error[0]) {
			open = strace_open(whole, env->abi, &result, &root, e);
			if (open)
				take_call(&p, open);
			p.fd = result.fd;
		}
		free(whole);
	}
	free(copy);
	if (!q->open && !error_is_set(e)) { /* a call that never came back */
		json_object_foreach(parts, caller, begun)
			break;
		q->open = arena_keep(&q->arena,
				     strace_open(begun ? json_string_value(begun) : call_name,
						 env->abi, &result, &root, e));
	}
	json_decref(p.opened);
	json_decref(parts);
	if (error_is_set(e))
		return -EINVAL;
	keep_what_is_met(q);
	if (result.is_told)
		q->told = json_string_value(
			arena_keep(&q->arena, json_string(result.error[0] ? result.error : "ok")));
	settle_paste(q, env);
	/* perf asks the kernel what it can by calls that are refused: others may be meant. */
	if (refused > 1) {
		snprintf(note, sizeof(note),
			 "%u calls were refused there: this is the first. Paste another alone to "
			 "ask about it",
			 refused);
		note_substitute(q, note);
	}
	return 0;
}

static bool take_call_of_block(void *context, json_t *open, int fd, int err)
{
	const json_t *attr = json_object_get(open, "attr");
	struct pasted *p = context;

	/* A dummy is perf's own, for side band. */
	if (p->q->open && !err && attr_number(attr, "type", ULONG_MAX) == PERF_TYPE_SOFTWARE &&
	    attr_number(attr, "config", ULONG_MAX) == PERF_COUNT_SW_DUMMY) {
		json_decref(open);
		return true;
	}
	take_call(p, open);
	p->fd = fd;
	p->err = err;
	return !err;
}

/* The call that failed is asked about, or the last; those before it were given. */
static int paste_blocks(struct question *q, const struct source *text,
			const struct environment *env, struct error *e)
{
	struct where root = where_root(text);
	struct pasted p = {.q = q, .opened = json_object(), .fd = -1};
	int err = attr_block_calls(text->text, env->abi, take_call_of_block, &p, &root, e);

	json_decref(p.opened);
	if (err)
		return err;
	keep_what_is_met(q);
	if (!json_array_size(q->given))
		q->given = NULL;
	if (p.err)
		q->told = errno_name(p.err);
	settle_paste(q, env);
	return 0;
}

/*
 * JSON with the parts of a question, and an event by its name.
 */

static int read_told(struct doc *d, const json_t *json, void *told, const struct where *w)
{
	const char *text = json_string_value(json);
	struct nearest near = nearest_to(text ? text : "");

	*(const char **)told = text;
	if (text && (!strcmp(text, "ok") || errno_by_name(text, &near)))
		return 0;
	return text ? error_name(d->e, w, text, near.best, "an errno's name, or ok")
		    : error_value(d->e, w, json, "an errno's name, or ok");
}

static const struct doc_type question_type = {
	"a question (as, open, event, given, then, errno)",
	.rows = (const struct doc_row[]){
		{"as", DOC_WORD, false, AT(struct question, as), .words = identity_names,
		 .expected = identity_choice},
		{"open", DOC_ANY, false, AT(struct question, open)},
		{"event", DOC_STRING, false, AT(struct question, event)},
		{"given", DOC_ANY, false, AT(struct question, given)},
		{"then", DOC_ANY, false, AT(struct question, then)},
		{"errno", DOC_READ, false, AT(struct question, told), .read = read_told},
		{0}}};

/* A bare attr or open is a question, too. */
static int read_json(struct question *q, const struct source *text, const json_t *names,
		     struct environment *env, struct error *e)
{
	struct where root = where_root(text);
	struct doc d = {&q->arena, e, NULL};
	json_t *json = arena_keep(&q->arena, call_text_parse(text, e));

	if (!json)
		return -EINVAL;
	q->open = json_object_get(json, "open");
	if (!q->open && json_object_get(json, "attr")) {
		q->open = json;
		return 0;
	}
	if (!q->open && json_object_get(json, "type")) {
		q->open = arena_keep(&q->arena, json_pack("{s:O}", "attr", json));
		return 0;
	}
	if (doc_read(&d, &question_type, json, q, &root))
		return -EINVAL;
	if (q->then) {
		q->told_behind = q->told;
		q->told = NULL;
	}
	if (q->open && q->event)
		return error_value(e, &root, json, "`open` or `event`, not both");
	if (q->event)
		return question_of_event(q, q->event, names, env, e);
	return q->open ? 0 : error_value(e, &root, json, "`open`, or `event`");
}

int question_of_event(struct question *q, const char *event, const json_t *names,
		      struct environment *env, struct error *e)
{
	json_t *attr = event_attr(event, names, env, &q->absence, e);

	q->open = attr ? arena_keep(&q->arena, json_pack("{s:o}", "attr", attr)) : NULL;
	return q->open ? 0 : -EINVAL;
}

int question_read(struct question *q, const struct source *text, const json_t *names,
		  struct environment *env, struct error *e)
{
	const char *at = text->text + strspn(text->text, " \t\n");
	size_t n = strcspn(at, " \t\n");
	const char *more = at + n + strspn(at + n, " \t\n");
	struct where root = where_root(text);
	char name[512], got[48];
	json_t *whole = json_stringn(text->text, text->length);
	bool is_text = whole && !memchr(text->text, '\0', text->length);

	*q = (struct question){.as = -1};
	json_decref(whole);
	if (!is_text)
		return error_text(e, &root, "other bytes", "a text in UTF-8, without NUL");
	if (*at == '{' && !isalpha((unsigned char)at[1])) /* else perf's form of a group */
		return read_json(q, text, names, env, e);
	q->given = arena_keep(&q->arena, json_array());
	if (attr_block_is_in(at))
		return paste_blocks(q, text, env, e);
	if (strace_has_call(at))
		return paste_strace(q, text, env, e);
	q->given = NULL;
	/* One word, without what is around it. */
	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name) - 1), at);
	snprintf(got, sizeof(got), "%.40s", *more ? more : name);
	if (*more)
		return error_text(e, &root, got, "one event, and nothing behind it");
	if (n >= sizeof(name))
		return error_text(e, &root, got, "an event of at most 511 letters");
	return question_of_event(q, name, names, env, e);
}

void question_free(struct question *q)
{
	arena_free(&q->arena);
}
