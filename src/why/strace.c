/* SPDX-License-Identifier: MIT */
/*
 * strace's notation: {name=value, ...} with constants joined by | and comments, then the arguments.
 */
#include "why/strace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* "PERF_COUNT_HW_CACHE_RESULT_MISS<<16|PERF_COUNT_HW_CACHE_OP_READ<<8|PERF_COUNT_HW_CACHE_L1D" to
 * "L1D:READ:MISS"; NULL: it is another. */
static json_t *cache_json(const char *text)
{
	char result[32], op[32], id[32];

	if (sscanf(text,
		   "PERF_COUNT_HW_CACHE_RESULT_%31[A-Z]<<16|PERF_COUNT_HW_CACHE_OP_%31[A-Z]<<8|"
		   "PERF_COUNT_HW_CACHE_%31[A-Z0-9]",
		   result, op, id) != 3)
		return NULL;
	return json_sprintf("%s:%s:%s", id, op, result);
}

/* A list where constants are joined, else one text, which is a number or a name. */
static json_t *value_as_json(const char *text)
{
	json_t *list = cache_json(text);
	char *copy, *save = NULL;

	if (list)
		return list;
	if (!strchr(text, '|'))
		return json_string(text);
	copy = strdup(text);
	list = json_array();
	for (char *one = copy ? strtok_r(copy, "|", &save) : NULL; one;
	     one = strtok_r(NULL, "|", &save))
		json_array_append_new(list, json_string(one));
	free(copy);
	return list;
}

static json_t *take_value(const char **at)
{
	size_t n = value_length(*at);
	char *text = strndup(*at, n);
	json_t *value = text ? value_as_json(text) : NULL;

	free(text);
	*at += n;
	if (**at == '<') /* what a descriptor is, of strace -y */
		*at += strcspn(*at, ",)");
	skip_comment(at);
	return value;
}

static json_t *refuse_line(const struct where *w, struct error *e, const char *at,
			   const char *expected)
{
	char got[48];

	snprintf(got, sizeof(got), "%.40s", *at ? at : "the end of the line");
	error_text(e, w, got, "%s", expected);
	return NULL;
}

/* name=value, ... up to the closing brace. */
static json_t *take_attr(const char **at, const struct where *w, struct error *e)
{
	json_t *attr = json_object();
	char name[64];

	while (**at && **at != '}') {
		size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789_");

		if (!strncmp(*at, "...", 3)) {
			json_decref(attr);
			return refuse_line(w, e, *at,
					   "all of attr, as strace -v prints it; without -v it "
					   "leaves out the rest");
		}
		if (!n || (*at)[n] != '=' || n >= sizeof(name)) {
			json_decref(attr);
			return refuse_line(w, e, *at, "name=value in attr, as strace -v prints it");
		}
		snprintf(name, sizeof(name), "%.*s", (int)n, *at);
		*at += n + 1;
		json_object_set_new(attr, name, take_value(at));
		if (**at == ',')
			++*at;
		skip_comment(at);
	}
	*at += **at == '}';
	return attr;
}

/* ") = 3<anon_inode:[perf_event]>" or ") = -1 EINVAL (Invalid argument)"; short lines have more
 * spaces, and of a process that was ended meanwhile it is ") = ?". */
static void read_result(const char *at, struct strace_result *out)
{
	*out = (struct strace_result){.fd = -1, .group_is_event = out->group_is_event};
	if (*at != ')')
		return;
	at++;
	skip_spaces(&at);
	out->is_told = sscanf(at, "= -1 %15[A-Z0-9]", out->error) == 1 ||
		       sscanf(at, "= %d", &out->fd) == 1;
}

json_t *strace_open(const char *line, struct strace_result *result, const struct where *w,
		    struct error *e)
{
	static const char *const arguments[] = {"pid", "cpu", "group_fd", "flags", NULL};
	const char *at = strstr(line, call_name) + strlen(call_name);
	json_t *open = json_object(), *attr;

	if (result)
		*result = (struct strace_result){.fd = -1};
	skip_comment(&at);
	if (*at == '{') {
		at++;
		attr = take_attr(&at, w, e);
		if (!attr) {
			json_decref(open);
			return NULL;
		}
		json_object_set_new(open, "attr", attr);
	} else {
		json_object_set_new(open, "memory", json_string("null"));
		at += strcspn(at, ",");
	}
	for (size_t i = 0; arguments[i]; i++) {
		static const char event[] = "<anon_inode:[perf_event]>";

		skip_comment(&at);
		if (*at != ',') {
			json_decref(open);
			return refuse_line(w, e, at, "pid, cpu, group_fd and flags behind attr");
		}
		at++;
		skip_comment(&at);
		if (result && !strcmp(arguments[i], "group_fd"))
			result->group_is_event =
				!strncmp(at + strspn(at, "0123456789"), event, strlen(event));
		json_object_set_new(open, arguments[i], take_value(&at));
	}
	if (result)
		read_result(at, result);
	return open;
}

void strace_resolve_size(json_t *open, const struct abi *abi)
{
	static const char prefix[] = "PERF_ATTR_SIZE_";
	json_t *attr = json_object_get(open, "attr");
	const char *size = json_string_value(json_object_get(attr, "size"));

	if (!size || strncmp(size, prefix, strlen(prefix)))
		return;
	for (size_t i = 0; i < abi->size_count; i++) {
		if (strcmp(abi->sizes[i].name, size + strlen(prefix)))
			continue;
		json_object_set_new(attr, "size", json_integer(abi->sizes[i].size));
		return;
	}
}
