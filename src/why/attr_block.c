/* SPDX-License-Identifier: MIT */
/*
 * perf_event_attr__fprintf() of perf writes "  name   value (NAME)", and of unions
 * "{ name, other }"; sys_perf_event_open writes "pid 1  cpu -1  group_fd -1  flags 0x8" behind it.
 */
#include "why/attr_block.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

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

/* Of a union the name that fits what the block has said so far is attr's own affair: the first. */
static size_t take_name_of_line(const char *at, size_t n, char *name, size_t size)
{
	const char *open = memchr(at, '{', n), *close = open ? memchr(at, '}', n) : NULL;
	size_t from = open ? (size_t)(open - at) + 1 : strspn(at, " \t"), length;

	length = strcspn(at + from, open ? ",}" : " \t\n");
	copy_trimmed(name, size, at + from, length);
	return close ? (size_t)(close - at) + 1 : from + length;
}

static bool take_field(const char *at, struct line *line)
{
	size_t n = strcspn(at, "\n"), behind;
	const char *comment;

	if (!strspn(at, " \t"))
		return false;
	behind = take_name_of_line(at, n, line->name, sizeof(line->name));
	if (!line->name[0] || behind >= n)
		return false;
	copy_trimmed(line->value, sizeof(line->value), at + behind, n - behind);
	comment = strstr(line->value, " (");
	if (comment)
		line->value[comment - line->value] = '\0';
	return line->value[0] != '\0';
}

/* IP|TID|TIME as a list of the names that cases have; a number as it is. */
static json_t *value_of_line(char *value)
{
	char *save = NULL;
	json_t *list;

	if (!isalpha((unsigned char)value[0]))
		return json_string(value);
	list = json_array();
	for (char *name = strtok_r(value, "|", &save); name; name = strtok_r(NULL, "|", &save)) {
		for (char *c = name; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		json_array_append_new(list, json_string(name));
	}
	return list;
}

/* The union's names that an attr has by what else it says. */
static void name_unions(json_t *attr)
{
	static const struct {
		const char *first, *other, *with;
	} unions[] = {{"sample_period", "sample_freq", "freq"},
		      {"wakeup_events", "wakeup_watermark", "watermark"}};
	json_t *type = json_object_get(attr, "type");
	bool is_breakpoint = json_is_string(type) &&
			     strtoul(json_string_value(type), NULL, 0) == PERF_TYPE_BREAKPOINT;

	for (size_t i = 0; i < sizeof(unions) / sizeof(unions[0]); i++) {
		json_t *value = json_object_get(attr, unions[i].first);

		if (!value || !json_object_get(attr, unions[i].with))
			continue;
		json_object_set(attr, unions[i].other, value);
		json_object_del(attr, unions[i].first);
	}
	if (is_breakpoint)
		return;
	for (size_t i = 0; i < 2; i++) {
		static const char *const breakpoints[] = {"bp_addr", "bp_len"};
		static const char *const others[] = {"config1", "config2"};
		json_t *value = json_object_get(attr, breakpoints[i]);

		if (!value)
			continue;
		json_object_set(attr, others[i], value);
		json_object_del(attr, breakpoints[i]);
	}
}

/* The lines up to that of dashes. */
static json_t *take_block(const char **at, const struct abi *abi, const struct where *w,
			  struct error *e)
{
	json_t *attr = json_object();
	struct line line;

	for (*at = line_behind(*at); take_field(*at, &line); *at = line_behind(*at)) {
		struct nearest near = nearest_to(line.name);

		for (size_t i = 0; i < abi->field_count; i++)
			nearest_try(&near, abi->fields[i].name);
		if (!abi_field(abi, line.name)) {
			json_decref(attr);
			error_name(e, w, line.name, near.best, "a field of struct perf_event_attr");
			return NULL;
		}
		json_object_set_new(attr, line.name, value_of_line(line.value));
	}
	if (!json_object_size(attr)) {
		json_decref(attr);
		error_text(e, w, heading, "the fields of attr behind it, a line each");
		return NULL;
	}
	name_unions(attr);
	return attr;
}

/* "pid 1  cpu -1  group_fd -1  flags 0x8", and " = 5" of one that opened; NULL: it was not made. */
static json_t *take_arguments(const char *at, json_t *attr, int *fd)
{
	long pid = 0, cpu = -1, group_fd = -1;
	unsigned long flags = 0;

	*fd = -1;
	if (at)
		sscanf(at + strlen(call_words), "pid %ld cpu %ld group_fd %ld flags %lx = %d", &pid,
		       &cpu, &group_fd, &flags, fd);
	/* A process of perf's that is long gone is no part of the question. */
	return json_pack("{s:O,s:i,s:I,s:I,s:I}", "attr", attr, "pid", pid == -1 ? -1 : 0, "cpu",
			 (json_int_t)cpu, "group_fd", (json_int_t)group_fd, "flags",
			 (json_int_t)flags);
}

static const char *find_words(const char *at, const char *end, const char *words)
{
	return at ? memmem(at, (size_t)(end - at), words, strlen(words)) : NULL;
}

/* "failed, error -22", before `end`. */
static int errno_before(const char *at, const char *end)
{
	const char *found = find_words(at, end, failed_words);
	long number = found ? -strtol(found + strlen(failed_words), NULL, 10) : 0;

	return number > 0 && number <= ERRNO_MOST ? (int)number : 0;
}

/* The calls of one block, a cpu each; one that was not made where it has none. */
static bool tell_calls(const char *at, const char *end, json_t *attr, attr_block_call *each,
		       void *context)
{
	const char *call = find_words(at, end, call_words);

	do {
		const char *next = call ? find_words(call + 1, end, call_words) : NULL;
		int fd, err = errno_before(call ? call : at, next ? next : end);
		json_t *open = take_arguments(call, attr, &fd);

		if (!each(context, open, fd, err))
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
