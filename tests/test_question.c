/* SPDX-License-Identifier: MIT */
/*
 * Questions in all their forms, and what follows an open.
 */
#include <stdlib.h>
#include <string.h>

#include "asked.h"
#include "unit.h"
#include "why/why.h"
#include "why/question.h"

/*
 * Questions.
 */

#define TRACED_DUMMY(group, flags, result)                                                         \
	"perf_event_open({type=1, config=9}, 0, -1, " group ", " flags ") = " result "\n"
#define TRACED_DUMMY_OPEN(group, flags)                                                            \
	"{'attr': {'type': '1', 'config': '9'}, 'pid': '0', 'cpu': '-1', 'group_fd': '" group      \
	"', 'flags': '" flags "'}"
#define TRACED_BREAKPOINT                                                                          \
	"perf_event_open({type=PERF_TYPE_BREAKPOINT, bp_type=2}, 0, -1, -1, 0) = 9\n"

/* In a JSON text ' stands for "; what is expected is {"open", "as", "given", "then",
 * "told", "told_behind"}. */
static const struct {
	const char *text, *read; /* NULL: it is no question, for: */
	const char *expected;
} questions[] = {
	{"{'attr': " DUMMY "}", "{'open': {'attr': " DUMMY "}}", NULL},
	{" \t\n" DUMMY "\n", "{'open': {'attr': " DUMMY "}}", NULL},
	{"{'attr': " DUMMY ", 'cpu': 1}", "{'open': {'attr': " DUMMY ", 'cpu': 1}}", NULL},
	{"{'open': {'attr': " DUMMY "}}", "{'open': {'attr': " DUMMY "}}", NULL},
	{"{'event': 'dummy'}", "{'open': {'attr': " DUMMY "}}", NULL},
	{"{'event': 'dummy', 'as': 'user', 'errno': 'EACCES', 'given': [], 'then': [{'poll': {}}]}",
	 "{'open': {'attr': " DUMMY "}, 'as': 'user', 'told_behind': 'EACCES', 'given': [], "
	 "'then': [{'poll': {}}]}",
	 NULL},
	{"{'event': 'dummy', 'errno': 'ok'}", "{'open': {'attr': " DUMMY "}, 'told': 'ok'}", NULL},
	{"dummy", "{'open': {'attr': " DUMMY "}}", NULL},
	{"\n  dummy \t\n\n", "{'open': {'attr': " DUMMY "}}", NULL},
	/* A line of strace, and several. */
	{TRACED_DUMMY("-1", "0", "-1 EPERM (x)"),
	 "{'open': " TRACED_DUMMY_OPEN("-1", "0") ", 'given': [], 'told': 'EPERM'}", NULL},
	{TRACED_DUMMY("-1", "0", "3"),
	 "{'open': " TRACED_DUMMY_OPEN("-1", "0") ", 'given': [], 'told': 'ok'}", NULL},
	{"perf_event_open({type=1, config=9}, 0, -1, -1, 0 <unfinished ...>\n",
	 "{'open': " TRACED_DUMMY_OPEN("-1", "0") ", 'given': []}", NULL},
	/* The leader is named by what an earlier line opened. */
	{TRACED_DUMMY("-1", "0", "3") "close(2) = 0\n" TRACED_DUMMY("3", "8", "-1 EINVAL (x)"),
	 "{'open': " TRACED_DUMMY_OPEN("$fd3", "8") ", 'told': 'EINVAL', 'given': "
						    "[{'open': " TRACED_DUMMY_OPEN(
							    "-1", "0") ", 'bind': 'fd3'}]}",
	 NULL},
	/* So is the leader of another member; what comes behind the refusal is left out. */
	{TRACED_DUMMY("-1", "0", "3") TRACED_DUMMY("3", "0", "4")
		 TRACED_DUMMY("3", "0", "-1 EINVAL (x)") TRACED_DUMMY("-1", "2", "-1 ENOENT (x)"),
	 "{'open': " TRACED_DUMMY_OPEN(
		 "$fd3", "0") ", 'told': 'EINVAL', 'given': "
			      "[{'open': " TRACED_DUMMY_OPEN(
				      "-1", "0") ", 'bind': 'fd3'}, "
						 "{'open':"
						 " " TRACED_DUMMY_OPEN("$fd3",
								       "0") ", 'bind': 'fd4'}]}",
	 NULL},
	/* What it does not meet need not be had: but breakpoints are few. */
	{TRACED_DUMMY("-1", "0", "3") TRACED_BREAKPOINT TRACED_DUMMY("-1", "2", "-1 EINVAL (x)"),
	 "{'open': " TRACED_DUMMY_OPEN(
		 "-1",
		 "2") ", 'told': 'EINVAL', 'given': [{'open': {'attr': "
		      "{'type': 'PERF_TYPE_BREAKPOINT', 'bp_type': '2'}, 'pid': '0', 'cpu': '-1', "
		      "'group_fd': '-1', 'flags': '0'}, 'bind': 'fd9'}]}",
	 NULL},
	{"perf_event_attr:\n  type 1\n  config 9\n" LINE PERF_CALL
	 "\nsys_perf_event_open failed, error -13\n",
	 "{'open': " OPEN("'type': '1', 'config': '9'") "8}, 'told': 'EACCES'}", NULL},
	/* A size by strace's name; a call in two parts, for another process called meanwhile. */
	{"perf_event_open({type=1, size=PERF_ATTR_SIZE_VER7}, 0, -1, -1, 0) = 3",
	 "{'open': {'attr': {'type': '1', 'size': 128}, 'pid': '0', 'cpu': '-1', 'group_fd': '-1', "
	 "'flags': '0'}, 'told': 'ok', 'given': []}",
	 NULL},
	{"[pid 7] perf_event_open({type=1}, 0, 5, -1, 0 <unfinished ...>\n"
	 "[pid 8] perf_event_open({type=2}, 0, -1, -1, 0) = 3\n"
	 "[pid 7] <... perf_event_open resumed>) = -1 EINVAL (Invalid argument)\n",
	 "{'open': {'attr': {'type': '1'}, 'pid': '0', 'cpu': '5', 'group_fd': '-1', 'flags': "
	 "'0'}, "
	 "'told': 'EINVAL', 'given': []}",
	 NULL},
	/* What is none of these. */
	{"", NULL, "an event, as perf list shows them"},
	{" \n\t ", NULL, "an event, as perf list shows them"},
	{"{", NULL, ""},
	{"{}", NULL, "`open`, or `event`"},
	{"{'opne': {}}", NULL, "a key of a question (as, open, event, given, then, errno)"},
	{"{'as': 'user'}", NULL, "`open`, or `event`"},
	{"{'event': 5}", NULL, "a string"},
	{"{'event': 'dummy', 'open': {}}", NULL, "`open` or `event`, not both"},
	{"{'event': 'nosuch'}", NULL, "an event, as perf list shows them"},
	{"{'event': 'dummy', 'as': 5}", NULL, "root, perfmon, sys-admin or user"},
	{"{'event': 'dummy', 'errno': 13}", NULL, "an errno's name, or ok"},
	{"{'event': 'nosuch/x=1/', 'errno': 13}", NULL, "an errno's name, or ok"},
	{"{'event': 'nosuch/x=1/', 'as': 5}", NULL, "root, perfmon, sys-admin or user"},
	{"{'event': 'dummy', 'errno': 'EACCESS'}", NULL, "an errno's name, or ok"},
	{"{'event': 'dummy'} more", NULL, ""},
	{"{'type': 'software', 'config': 18446744073709551615}",
	 "{'open': {'attr': {'type': 'software', 'config': '18446744073709551615'}}}", NULL},
	{"dummy dummy", NULL, "one event, and nothing behind it"},
	{"dummy,cycles", NULL,
	 "one event at a time, as perf list shows them; of a group, each member by itself"},
	{"sched:*", NULL, "one tracepoint, and no pattern of several"},
	{"dummy\ncycles", NULL, "one event, and nothing behind it"},
	{"[1, 2]", NULL, "one event, and nothing behind it"},
	{"12", NULL, "an event, as perf list shows them"},
	{"\xff\xfe", NULL, "a text in UTF-8, without NUL"},
	{"perf_event_open({type=\xff}, 0, -1, -1, 0) = 3", NULL, "a text in UTF-8, without NUL"},
	{"perf_event_open(", NULL, "pid, cpu, group_fd and flags behind attr"},
	{TRACED_DUMMY("-1", "0", "3") "perf_event_open({type=1, ...}, 0, -1, -1, 0) = 3\n", NULL,
	 "all of attr, as strace -v prints it; without -v it leaves out the rest"},
	{"perf_event_attr:\n  typo 1\n", NULL, "a field of struct perf_event_attr"},
};

static json_t *question_json(const struct question *q)
{
	json_t *json = json_pack("{s:O}", "open", q->open);

	if (q->as >= 0)
		json_object_set_new(json, "as", json_string(identity_names[q->as]));
	if (q->given)
		json_object_set(json, "given", q->given);
	if (q->then)
		json_object_set(json, "then", q->then);
	if (q->told)
		json_object_set_new(json, "told", json_string(q->told));
	if (q->told_behind)
		json_object_set_new(json, "told_behind", json_string(q->told_behind));
	return json;
}

static int read_text(struct question *q, struct asked *o, const char *text, size_t size,
		     struct error *e)
{
	const struct source source = {.name = "q", .root = "", .text = text, .length = size};

	*e = (struct error){0};
	return question_read(q, &source, o->names, &o->env, e);
}

START_TEST(questions_have_many_forms)
{
	struct asked *o = asked_begin();

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		char *text = strdup(questions[i].text);
		struct question q;
		struct error e;
		int err;

		ck_assert_ptr_nonnull(text);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		err = read_text(&q, o, text, strlen(text), &e);
		ck_assert_msg((!err) == (!!questions[i].read), "%s: %s", text, e.expected);
		ck_assert_int_eq(error_is_set(&e), err != 0);
		if (!err)
			same_json(question_json(&q), questions[i].read, text);
		else
			ck_assert_msg(e.expected[0] && (!questions[i].expected[0] ||
							!strcmp(e.expected, questions[i].expected)),
				      "%s: %s", text, e.expected);
		question_free(&q);
		free(text);
	}
	asked_end(o);
}
END_TEST

/* A megabyte of each, with a NUL in the middle, and of every prefix of what is a question. */
START_TEST(no_text_is_too_much)
{
	static const char *const of[] = {
		"x",  "{",       "[",
		"\"", "dummy ",  "perf_event_open({",
		"\n", "{\"a\":", "perf_event_attr:\n  type 1\n",
		"9",  ",",       "perf_event_open({type=1}, 0, -1, -1, 0) = 3\n"};
	enum { LONG = 1 << 20 };
	struct asked *o = asked_begin();
	char *text = malloc(LONG + 1);
	struct question q;
	struct error e;

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		size_t n = strlen(of[i]);

		for (size_t at = 0; at < LONG; at++)
			text[at] = of[i][at % n];
		text[LONG] = '\0';
		ck_assert_int_eq(!read_text(&q, o, text, LONG, &e), !error_is_set(&e));
		question_free(&q);
	}
	free(text);
	ck_assert(read_text(&q, o, "dummy\0cycles", 12, &e));
	ck_assert_str_eq(e.expected, "a text in UTF-8, without NUL");
	question_free(&q);
	for (size_t n = 0; n <= strlen(sampled_cycles); n++) {
		text = strndup(sampled_cycles, n);
		ck_assert_int_eq(!read_text(&q, o, text, n, &e), !error_is_set(&e));
		question_free(&q);
		free(text);
	}
	asked_end(o);
}
END_TEST

/*
 * What follows an open.
 */

static const struct {
	const char *json, *written; /* NULL: it is wrong, at: */
	const char *pointer;
	char family;
} follows[] = {
	{"{'mmap': {'pages': 8}}", "mmap(NULL, 36864, PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0)",
	 NULL, 'M'},
	{"{'mmap': {'pages': 0}}", "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0)",
	 NULL, 'M'},
	{"{'mmap': {'length': 12288, 'offset': 4096, 'private': true}}",
	 "mmap(NULL, 12288, PROT_READ|PROT_WRITE, MAP_PRIVATE, fd, 4096)", NULL, 'M'},
	{"{'munmap': {'length': '0x1000'}}", "munmap(buffer, 4096)", NULL, 'M'},
	{"{'ioctl': {'request': 'enable'}}", "ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)", NULL, 'I'},
	{"{'ioctl': {'request': 'period', 'u64': 7}}", "ioctl(fd, PERF_EVENT_IOC_PERIOD, [7])",
	 NULL, 'I'},
	{"{'ioctl': {'request': 'set_filter', 'text': 'a == 1'}}",
	 "ioctl(fd, PERF_EVENT_IOC_SET_FILTER, \"a == 1\")", NULL, 'I'},
	{"{'ioctl': {'request': 'refresh', 'arg': 1}}", "ioctl(fd, PERF_EVENT_IOC_REFRESH, 1)",
	 NULL, 'I'},
	{"{'read': {'size': 8}}", "read(fd, buffer, 8)", NULL, 'R'},
	{"{'poll': {}}", "poll({fd, POLLIN}, 1, 100)", NULL, 'L'},
	{"{}", NULL, "", 0},
	{"5", NULL, "", 0},
	{"[]", NULL, "", 0},
	{"{'map': {}}", NULL, "", 0},
	{"{'read': {'size': 8}, 'poll': {}}", NULL, "", 0},
	{"{'mmap': 8}", NULL, "/mmap", 0},
	{"{'mmap': {'page': 8}}", NULL, "/mmap/page", 0},
	{"{'mmap': {'pages': 'x'}}", NULL, "/mmap/pages", 0},
	{"{'mmap': {'length': []}}", NULL, "/mmap/length", 0},
	{"{'mmap': {'offset': {}}}", NULL, "/mmap/offset", 0},
	{"{'mmap': {'pages': 1, 'private': 1}}", NULL, "/mmap/private", 0},
	{"{'munmap': {'pages': 8}}", NULL, "/munmap/pages", 0},
	{"{'ioctl': {}}", NULL, "/ioctl", 0},
	{"{'ioctl': {'request': 5}}", NULL, "/ioctl/request", 0},
	{"{'ioctl': {'request': 'enabel'}}", NULL, "/ioctl", 0},
	{"{'ioctl': {'request': 'enable', 'u32': 1}}", NULL, "/ioctl/u32", 0},
	{"{'ioctl': {'request': 'set_filter', 'text': 5}}", NULL, "/ioctl/text", 0},
	{"{'ioctl': {'request': 'period', 'u64': 'x'}}", NULL, "/ioctl/u64", 0},
	{"{'read': {'length': 8}}", NULL, "/read/length", 0},
	{"{'poll': {'ms': 8}}", NULL, "/poll/ms", 0},
	{"{'poll': 1}", NULL, "/poll", 0},
};

START_TEST(follows_are_calls)
{
	struct asked *o = asked_begin();

	for (size_t i = 0; i < sizeof(follows) / sizeof(follows[0]); i++) {
		const struct source source = {.name = "f", .root = "", .text = "{}", .length = 2};
		struct where root = where_root(&source);
		json_t *json = test_json(follows[i].json);
		struct error e = {0};
		struct then_call then;
		char text[256];
		int err = then_from_json(&then, json, &o->env, &root, &e);

		ck_assert_msg((!err) == (!!follows[i].written), "%s: %s", follows[i].json,
			      e.expected);
		if (err) {
			ck_assert_msg(!strcmp(e.pointer, follows[i].pointer), "%s: %s",
				      follows[i].json, e.pointer);
		} else {
			then_write(&then, text, sizeof(text));
			ck_assert_str_eq(text, follows[i].written);
			ck_assert_int_eq(then.then.family, follows[i].family);
		}
		json_decref(json);
	}
	asked_end(o);
}
END_TEST

Suite *suite_question(void)
{
	Suite *suite = suite_create("question");
	TCase *test = tcase_create("question");

	tcase_set_timeout(test, 120);
	tcase_add_test(test, questions_have_many_forms);
	tcase_add_test(test, no_text_is_too_much);
	tcase_add_test(test, follows_are_calls);
	suite_add_tcase(suite, test);
	return suite;
}
