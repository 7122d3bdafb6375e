/* SPDX-License-Identifier: MIT */
/*
 * What `perfabi why` reads, changes and finds, by the model alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "case/cases.h"
#include "machine/names.h"
#include "model/bit_word.h"
#include "unit.h"
#include "why/attr_block.h"
#include "why/follow.h"
#include "why/knowledge.h"
#include "why/question.h"
#include "why/search.h"
#include "why/strace.h"

/* The built-in model and what why.json knows, on the recorded virtual machine without a PMU. */
struct asked {
	struct sources sources;
	struct abi *abi;
	struct cases cases;
	json_t *machine, *names;
	struct environment env;
	struct model model;
	struct knowledge knowledge;
	struct call call;
	struct caller caller;
	struct world world;
	struct situation situation;
};

static const char machine_path[] = "fixtures/machines/x86_64-6.18-vm.json";

static struct asked *begin(void)
{
	struct asked *o = calloc(1, sizeof(*o));
	const json_t *environment;
	struct where nowhere = {0};
	struct error e = {0};
	struct model_sources from;

	ck_assert_ptr_nonnull(o);
	o->machine = json_load_file(machine_path, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(o->machine != NULL, "%s: %s", machine_path, strerror(errno));
	environment = json_object_get(o->machine, "environment");
	o->sources = cases_builtin();
	o->abi = test_abi();
	ck_assert_int_eq(cases_load_tables(&o->cases, o->abi, "x86_64", &o->sources, "unit"), 0);
	ck_assert_int_eq(environment_from_json(&o->env, o->abi, environment, &nowhere, &e), 0);
	from = (struct model_sources){.model = sources_find(&o->sources, "model.json"),
				      .checks = sources_find(&o->sources, "checks.json"),
				      .list = o->cases.checks};
	ck_assert_msg(!model_load(&o->model, &from, &o->cases.tables, &o->env, &e), "%s: %s",
		      e.pointer, e.expected);
	machine_init(&o->model.machine, &o->env, &o->model.kinds, &o->model.learned);
	learned_from_json(&o->model.learned, json_object_get(environment, "learned"), &o->env);
	ck_assert_msg(!knowledge_load(&o->knowledge, sources_find(&o->sources, "why.json"),
				      &o->model, &e),
		      "%s: %s", e.pointer, e.expected);
	o->names = source_parse(sources_find(&o->sources, "events.json"), &e);
	ck_assert_ptr_nonnull(o->names);
	return o;
}

static void end(struct asked *o)
{
	knowledge_free(&o->knowledge);
	model_free(&o->model);
	environment_free(&o->env);
	cases_free(&o->cases);
	abi_free(o->abi);
	json_decref(o->names);
	json_decref(o->machine);
	free(o);
}

/* Whether `got`, a new reference, is what stands in `expected`. */
static void same_json(json_t *got, const char *expected, const char *of)
{
	json_t *json = test_json(expected);
	char *text = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY);

	ck_assert_msg(json_equal(got, json), "%s\n  expected: %s\n  got: %s", of, expected, text);
	free(text);
	json_decref(json);
	json_decref(got);
}

/*
 * The attr block of perf -vv.
 */

#define LINE "------------------------------------------------------------\n"

/* As perf 6.12 prints it. */
static const char sampled_cycles[] =
	"Using CPUID GenuineIntel-6-9A-3\n"
	"nr_cblocks: 0\n" LINE "perf_event_attr:\n"
	"  type                             0 (PERF_TYPE_HARDWARE)\n"
	"  size                             136\n"
	"  config                           0 (PERF_COUNT_HW_CPU_CYCLES)\n"
	"  { sample_period, sample_freq }   4000\n"
	"  sample_type                      IP|TID|TIME|PERIOD\n"
	"  read_format                      ID|LOST\n"
	"  disabled                         1\n"
	"  inherit                          1\n"
	"  mmap                             1\n"
	"  comm                             1\n"
	"  freq                             1\n"
	"  enable_on_exec                   1\n"
	"  task                             1\n"
	"  precise_ip                       3\n"
	"  sample_id_all                    1\n"
	"  exclude_guest                    1\n"
	"  mmap2                            1\n"
	"  comm_exec                        1\n"
	"  ksymbol                          1\n"
	"  bpf_event                        1\n"
	"  { wakeup_events, wakeup_watermark } 1\n" LINE
	"sys_perf_event_open: pid 4711  cpu 0  group_fd -1  flags 0x8\n"
	"sys_perf_event_open failed, error -95\n";

#define SAMPLED                                                                                    \
	"{'attr': {'type': '0', 'size': '136', 'config': '0', 'sample_freq': '4000', "             \
	"'sample_type': "                                                                          \
	"['ip', 'tid', 'time', 'period'], 'read_format': ['id', 'lost'], 'disabled': '1', "        \
	"'inherit': "                                                                              \
	"'1', 'mmap': '1', 'comm': '1', 'freq': '1', 'enable_on_exec': '1', 'task': '1', "         \
	"'precise_ip': '3', 'sample_id_all': '1', 'exclude_guest': '1', 'mmap2': '1', "            \
	"'comm_exec': '1', 'ksymbol': '1', 'bpf_event': '1', 'wakeup_events': '1'}, 'pid': 0, "    \
	"'cpu': 0, 'group_fd': -1, 'flags': 8}"

#define BLOCK(fields) "perf_event_attr:\n" fields LINE
#define PERF_CALL "sys_perf_event_open: pid 1  cpu -1  group_fd -1  flags 0x8"
#define OPEN(attr) "{'attr': {" attr "}, 'pid': 0, 'cpu': -1, 'group_fd': -1, 'flags': "

static const struct {
	const char *text, *open;
	int told;
} blocks[] = {
	{sampled_cycles, SAMPLED, EOPNOTSUPP},
	/* The one that failed, and not the one that perf then tried. */
	{BLOCK("  type 1 (software)\n  config 9\n") PERF_CALL
	 " = 5\n" BLOCK("  type 0\n  precise_ip 3\n") PERF_CALL
	 "\nsys_perf_event_open failed, error -95\nWarning:\ndecreasing "
	 "precise_ip by one (2)\n" BLOCK("  type 0\n  precise_ip 2\n") PERF_CALL
	 "\nsys_perf_event_open failed, error -2\n",
	 OPEN("'type': '0', 'precise_ip': '3'") "8}", EOPNOTSUPP},
	/* The last, where none failed. */
	{BLOCK("  type 1\n") PERF_CALL " = 5\n" BLOCK("  type 2\n") PERF_CALL " = 7\n",
	 OPEN("'type': '2'") "8}", 0},
	/* Of the calls for each cpu the one that failed. */
	{BLOCK("  type 9\n") "sys_perf_event_open: pid -1  cpu 0  group_fd -1  flags 0x8 = 5\n"
			     "sys_perf_event_open: pid -1  cpu 1  group_fd 5  flags 0x8\n"
			     "sys_perf_event_open failed, error -19\n"
			     "sys_perf_event_open: pid -1  cpu 2  group_fd -1  flags 0x8\n",
	 "{'attr': {'type': '9'}, 'pid': -1, 'cpu': 1, 'group_fd': 5, 'flags': 8}", ENODEV},
	/* No errno. */
	{BLOCK("  type 1\n") PERF_CALL "\nsys_perf_event_open failed, error -2147483648\n",
	 OPEN("'type': '1'") "8}", 0},
	{BLOCK("  type 1\n") PERF_CALL "\nsys_perf_event_open failed, error ",
	 OPEN("'type': '1'") "8}", 0},
	/* No call behind it. */
	{BLOCK("  type 1\n"), OPEN("'type': '1'") "0}", 0},
	/* A period and a frequency have one place. */
	{BLOCK("  type 1\n  { sample_period, sample_freq }   250000\n") PERF_CALL,
	 OPEN("'type': '1', 'sample_period': '250000'") "8}", 0},
	{BLOCK("  type 1\n  { sample_period, sample_freq }   99\n  freq  1\n") PERF_CALL,
	 OPEN("'type': '1', 'sample_freq': '99', 'freq': '1'") "8}", 0},
	{BLOCK("  type 1\n  { wakeup_events, wakeup_watermark } 9\n  watermark 1\n") PERF_CALL,
	 OPEN("'type': '1', 'wakeup_watermark': '9', 'watermark': '1'") "8}", 0},
	/* An address for a breakpoint, a config1 for others. */
	{BLOCK("  type 5\n  bp_type 3\n  { bp_addr, config1 } 0x1000\n  { bp_len, config2 } 0x4\n")
		 PERF_CALL,
	 OPEN("'type': '5', 'bp_type': '3', 'bp_addr': '0x1000', 'bp_len': '0x4'") "8}", 0},
	{BLOCK("  type 4\n  { bp_addr, config1 } 0x1000\n  { bp_len, config2 } 0x4\n") PERF_CALL,
	 OPEN("'type': '4', 'config1': '0x1000', 'config2': '0x4'") "8}", 0},
	/* Cut where it is: in a value, in a name, behind a brace. */
	{"perf_event_attr:\n  type 1\n  sample_type IP|TI",
	 OPEN("'type': '1', 'sample_type': ['ip', 'ti']") "0}", 0},
	{"perf_event_attr:\n  type 1\n  { sample_per", OPEN("'type': '1'") "0}", 0},
	{"perf_event_attr:\n  type 1\n  { sample_period, sample_freq }", OPEN("'type': '1'") "0}",
	 0},
	{"perf_event_attr:\n  type 1\n  disab", OPEN("'type': '1'") "0}", 0},
	/* A type by its name, which is no number. */
	{BLOCK("  type software\n") PERF_CALL, OPEN("'type': ['software']") "8}", 0},
	{BLOCK("  type 1\n  nonsense 3\n") PERF_CALL, NULL, 0},
	{"perf_event_attr:\n", NULL, 0},
	{"perf_event_attr:", NULL, 0},
	{BLOCK(""), NULL, 0},
};

struct last_call {
	json_t *open;
	int fd, err;
};

static bool keep_call(void *context, json_t *open, int fd, int err)
{
	struct last_call *last = context;

	json_decref(last->open);
	*last = (struct last_call){open, fd, err};
	return !err;
}

/* The call that is asked about: the first that failed, or the last. */
static json_t *open_of_blocks(const char *text, const struct abi *abi, int *told,
			      const struct where *w, struct error *e)
{
	struct last_call last = {0};

	if (attr_block_calls(text, abi, keep_call, &last, w, e)) {
		json_decref(last.open);
		last = (struct last_call){0};
	}
	*told = last.err;
	return last.open;
}

START_TEST(blocks_of_perf_are_calls)
{
	struct abi *abi = test_abi();

	ck_assert(!attr_block_is_in("  type 1\n"));
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		const struct source source = {.name = "b", .root = "", .text = blocks[i].text};
		struct where root = where_root(&source);
		struct error e = {0};
		int told = -1;
		json_t *open = open_of_blocks(blocks[i].text, abi, &told, &root, &e);

		ck_assert(attr_block_is_in(blocks[i].text));
		ck_assert_int_eq(told, blocks[i].told);
		ck_assert_msg((open == NULL) == error_is_set(&e), "%s", blocks[i].text);
		ck_assert_msg((!open) == (!blocks[i].open), "%s: %s", blocks[i].text, e.expected);
		if (open)
			same_json(open, blocks[i].open, blocks[i].text);
	}
	abi_free(abi);
}
END_TEST

/* A line of a megabyte, of a name and of a value. */
START_TEST(long_lines_of_blocks)
{
	enum { LONG = 1 << 20 };
	static const char before[] = "perf_event_attr:\n  type 1\n  config ";
	static const char *const fillings[] = {"9", "A", " ", "{", "|", "}"};
	struct abi *abi = test_abi();
	char *text = malloc(sizeof(before) + LONG + 8);

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < 2 * sizeof(fillings) / sizeof(fillings[0]); i++) {
		const struct source source = {.name = "b", .root = "", .text = text};
		struct where root = where_root(&source);
		struct error e = {0};
		size_t n = sizeof(before) - 1 - (i % 2 ? strlen("config ") : 0);
		int told;
		json_t *open;

		memcpy(text, before, n);
		memset(text + n, fillings[i / 2][0], LONG);
		memcpy(text + n + LONG, " 1\n", 4);
		open = open_of_blocks(text, abi, &told, &root, &e);
		ck_assert((open == NULL) == error_is_set(&e));
		ck_assert_int_eq(told, 0);
		json_decref(open);
	}
	free(text);
	abi_free(abi);
}
END_TEST

/*
 * Lines of strace.
 */

#define TRACED "perf_event_open({type=PERF_TYPE_SOFTWARE, size=0x88 /* VER8 */, config=9}, 0, -1, "
#define TRACED_OPEN                                                                                \
	"{'attr': {'type': 'PERF_TYPE_SOFTWARE', 'size': '0x88', 'config': '9'}, 'pid': '0', "     \
	"'cpu': '-1', 'group_fd': "

static const struct {
	const char *line, *open; /* NULL: it is cut */
	bool is_told;
	int fd;
	const char *error;
	bool group_is_event;
} lines[] = {
	{TRACED "-1, 0) = 3", TRACED_OPEN "'-1', 'flags': '0'}", true, 3, "", false},
	{TRACED "-1, 0) = 12<anon_inode:[perf_event]>", TRACED_OPEN "'-1', 'flags': '0'}", true, 12,
	 "", false},
	{TRACED "-1, 0) = -1 EINVAL (Invalid argument)", TRACED_OPEN "'-1', 'flags': '0'}", true,
	 -1, "EINVAL", false},
	{TRACED "-1, 0)  = -1 E2BIG (Argument list too long)", TRACED_OPEN "'-1', 'flags': '0'}",
	 true, -1, "E2BIG", false},
	{TRACED "3<anon_inode:[perf_event]>, PERF_FLAG_FD_CLOEXEC) = 4<anon_inode:[perf_event]>",
	 TRACED_OPEN "'3', 'flags': 'PERF_FLAG_FD_CLOEXEC'}", true, 4, "", true},
	{TRACED "3<pipe:[77]>, PERF_FLAG_FD_CLOEXEC|PERF_FLAG_FD_OUTPUT) = -1 EBADF (x)",
	 TRACED_OPEN "'3', 'flags': ['PERF_FLAG_FD_CLOEXEC', 'PERF_FLAG_FD_OUTPUT']}", true, -1,
	 "EBADF", false},
	{"[pid  4712] 12:00:01.5 " TRACED "-1, 0 <unfinished ...>",
	 TRACED_OPEN "'-1', 'flags': '0'}", false, -1, "", false},
	{TRACED "-1, 0) = ?", TRACED_OPEN "'-1', 'flags': '0'}", false, -1, "", false},
	{TRACED "-1, 0)", TRACED_OPEN "'-1', 'flags': '0'}", false, -1, "", false},
	{TRACED "-1", NULL, false, -1, "", false},
	{"perf_event_open({type=PERF_TYPE_SOFTWARE, ...}, 0, -1, -1, 0) = 3", NULL, false, -1, "",
	 false},
	{"perf_event_open({type=PERF_TYPE_SOFT", NULL, false, -1, "", false},
	{"perf_event_open({type", NULL, false, -1, "", false},
	{"perf_event_open({", NULL, false, -1, "", false},
	{"perf_event_open(", NULL, false, -1, "", false},
	{"perf_event_open(NULL, 0, -1, -1, 0) = -1 EFAULT (Bad address)",
	 "{'memory': 'null', 'pid': '0', 'cpu': '-1', 'group_fd': '-1', 'flags': '0'}", true, -1,
	 "EFAULT", false},
};

START_TEST(lines_of_strace_have_results)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct source source = {.name = "s", .root = "", .text = lines[i].line};
		struct where root = where_root(&source);
		struct error e = {0};
		struct strace_result result = {.fd = 99, .is_told = true, .error = "x"};
		json_t *open = strace_open(lines[i].line, &result, &root, &e);

		ck_assert(strace_has_call(lines[i].line));
		ck_assert_msg((!open) == (!lines[i].open), "%s: %s", lines[i].line, e.expected);
		ck_assert_msg((open == NULL) == error_is_set(&e), "%s", lines[i].line);
		ck_assert_msg(result.is_told == lines[i].is_told && result.fd == lines[i].fd &&
				      !strcmp(result.error, lines[i].error) &&
				      result.group_is_event == lines[i].group_is_event,
			      "%s: told %d, fd %d, error %s, group %d", lines[i].line,
			      result.is_told, result.fd, result.error, result.group_is_event);
		if (open)
			same_json(open, lines[i].open, lines[i].line);
	}
}
END_TEST

/*
 * Questions.
 */

#define DUMMY "{'type': 'software', 'config': 'dummy'}"
#define TRACED_DUMMY(group, flags, result)                                                         \
	"perf_event_open({type=1, config=9}, 0, -1, " group ", " flags ") = " result "\n"
#define TRACED_DUMMY_OPEN(group, flags)                                                            \
	"{'attr': {'type': '1', 'config': '9'}, 'pid': '0', 'cpu': '-1', 'group_fd': '" group      \
	"', 'flags': '" flags "'}"
#define TRACED_BREAKPOINT                                                                          \
	"perf_event_open({type=PERF_TYPE_BREAKPOINT, bp_type=2}, 0, -1, -1, 0) = 9\n"

/* In a JSON text ' stands for "; what is expected is {"open", "as", "given", "then", "told"}. */
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
	 "{'open': {'attr': " DUMMY "}, 'as': 'user', 'told': 'EACCES', 'given': [], "
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
	{"{'event': 5}", NULL, "`open`, or `event`"},
	{"{'event': 'dummy', 'open': {}}", NULL, "`open` or `event`, not both"},
	{"{'event': 'nosuch'}", NULL, "an event, as perf list shows them"},
	{"{'event': 'dummy', 'as': 5}", NULL, "root, perfmon, sys-admin or user"},
	{"{'event': 'dummy', 'errno': 13}", NULL, "an errno's name, or ok"},
	{"{'event': 'dummy', 'errno': 'EACCESS'}", NULL, "an errno's name, or ok"},
	{"{'event': 'dummy'} more", NULL, ""},
	{"dummy dummy", NULL, "one event, and nothing behind it"},
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

	if (q->as)
		json_object_set(json, "as", q->as);
	if (q->given)
		json_object_set(json, "given", q->given);
	if (q->then)
		json_object_set(json, "then", q->then);
	if (q->told)
		json_object_set(json, "told", q->told);
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
	struct asked *o = begin();

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
	end(o);
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
	struct asked *o = begin();
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
	end(o);
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
	{"{'ioctl': {'request': 5}}", NULL, "/ioctl", 0},
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
	struct asked *o = begin();

	for (size_t i = 0; i < sizeof(follows) / sizeof(follows[0]); i++) {
		const struct source source = {.name = "f", .root = "", .text = "{}", .length = 2};
		struct where root = where_root(&source);
		json_t *json = test_json(follows[i].json);
		struct error e = {0};
		struct follow follow;
		char text[256];
		int err = follow_from_json(&follow, json, &o->env, &root, &e);

		ck_assert_msg((!err) == (!!follows[i].written), "%s: %s", follows[i].json,
			      e.expected);
		if (err) {
			ck_assert_msg(!strcmp(e.pointer, follows[i].pointer), "%s: %s",
				      follows[i].json, e.pointer);
		} else {
			follow_write(&follow, text, sizeof(text));
			ck_assert_str_eq(text, follows[i].written);
			ck_assert_int_eq(follow.then.family, follows[i].family);
		}
		json_decref(json);
	}
	end(o);
}
END_TEST

/*
 * Changes.
 */

/* A list of changes of its own. */
static int load_own(struct changes *changes, struct asked *o, const json_t *json,
		    struct arena *arena, struct error *e)
{
	const struct source source = {.name = "c", .root = "", .text = "{}", .length = 2};
	struct where root = where_root(&source);
	struct vocabulary v = {.abi = o->abi,
			       .facts = &o->model.facts,
			       .terms = json_object_get(o->model.json, "terms"),
			       .env = &o->env,
			       .arena = arena};

	return changes_load(changes, json, &v, &root, e);
}

static const struct {
	const char *json, *pointer;
} wrong_changes[] = {
	{"[{}]", "/0/set"},
	{"[5]", "/0/set"},
	{"[{'set': 5}]", "/0/set"},
	{"[{'set': {}}]", "/0/set"},
	{"[{'set': {'attr.config': {}}}]", "/0/set"},
	{"[{'set': {'attr.config': 1}}, {'set': {'attr.confg': 1}}]", "/1/set/attr.confg"},
	{"[{'set': {'machine.paranoid': 1}}]", "/0/set/machine.paranoid"},
	{"[{'set': {'pmu.type': 1}}]", "/0/set/pmu.type"},
	{"[{'set': {'attr.config': {'about': 1}}}]", "/0/set/attr.config/about"},
	{"[{'set': {'attr.sample_type': {'without': 'callchian'}}}]",
	 "/0/set/attr.sample_type/without"},
	{"[{'set': {'attr.config': '$attr.confg'}}]", "/0/set/attr.config"},
	{"[{'set': {'attr.config': [[]]}}]", "/0/set/attr.config/0"},
	{"[{'set': {'attr.type': 1, 'attr.config': 1, 'attr.config1': 1, 'attr.config2': 1, "
	 "'attr.freq': 1, 'attr.pinned': 1, 'attr.mmap': 1, 'attr.comm': 1, 'call.cpu': 1}}]",
	 "/0/set/call.cpu"},
	{"[{'set': {'attr.config': 1}, 'if': {'attr.confg': 1}}]", "/0/if/attr.confg"},
	{"[{'set': {'attr.config': 1}, 'says': 'it is $attr.confg'}]", "/0/says"},
	{"[{'set': {'attr.config': 1}, 'loses': 'it is $attr.confg'}]", "/0/loses"},
};

START_TEST(it_says_what_is_no_change)
{
	struct asked *o = begin();

	for (size_t i = 0; i < sizeof(wrong_changes) / sizeof(wrong_changes[0]); i++) {
		json_t *json = test_json(wrong_changes[i].json);
		struct arena arena = {0};
		struct changes changes;
		struct error e = {0};

		ck_assert_msg(load_own(&changes, o, json, &arena, &e), "%s", wrong_changes[i].json);
		ck_assert_msg(!strcmp(e.pointer, wrong_changes[i].pointer), "%s: %s",
			      wrong_changes[i].json, e.pointer);
		changes_free(&changes);
		json_decref(json);
		arena_free(&arena);
	}
	end(o);
}
END_TEST

/* Begins the situation of that call; end it with call_free(). */
static void meet(struct asked *o, enum identity as, const char *open)
{
	struct scope scope = {.env = &o->env};
	json_t *json = test_json(open);
	struct where nowhere = {0};
	struct error e = {0};

	o->caller = caller_as(&o->env.rights, as);
	o->caller.has_files = true;
	ck_assert_msg(!call_from_json(&o->call, o->abi, o->env.arch, json, &scope, &nowhere, &e),
		      "%s: %s", open, e.expected);
	situation_begin(&o->situation, &o->model.machine, &o->call, &o->caller, &o->world);
	json_decref(json);
}

/* The bits of one letter are one fact; the others have fields, or are arguments. */
static uint64_t part_of(const struct asked *o, const char *name)
{
	const struct machine *machine = &o->model.machine;

	if (!strcmp(name, "pid"))
		return (uint64_t)(int64_t)o->call.pid;
	if (!strcmp(name, "cpu"))
		return (uint64_t)(int64_t)o->call.cpu;
	if (!strcmp(name, "group_fd"))
		return (uint64_t)(int64_t)o->call.group_fd;
	if (!strcmp(name, "flags"))
		return o->call.flags;
	if (!strcmp(name, "bytes"))
		return o->call.poke_count;
	if (!strcmp(name, "bits"))
		return bit_word(attr_get(&machine->bits, o->call.image, host_order()),
				machine->bits.size);
	ck_assert_msg(abi_field(o->abi, name) != NULL, "%s", name);
	return attr_get(abi_field(o->abi, name), o->call.image, host_order());
}

static const struct {
	const char *change, *open;
	const char *text; /* NULL: it changes nothing */
	const char *part;
	uint64_t value;
} made[] = {
	/* A number. */
	{"{'set': {'attr.exclude_kernel': 1}}", "{'attr': {}}", "set exclude_kernel to 1",
	 "exclude_kernel", 1},
	{"{'set': {'attr.exclude_kernel': 1}}", "{'attr': {'exclude_kernel': 1}}", NULL,
	 "exclude_kernel", 1},
	{"{'set': {'attr.sample_freq': '$machine.max_sample_rate'}}",
	 "{'attr': {'freq': 1, 'sample_freq': 200000}}", "set sample_freq to 100000", "sample_freq",
	 100000},
	{"{'set': {'attr.type': 'raw'}}", "{'attr': {'type': 'software'}}",
	 "set type to PERF_TYPE_RAW", "type", 4},
	{"{'set': {'attr.size': '$kernel.attr_size'}}", "{'attr': {'size': 144}}",
	 "set size to 136", "size", 136},
	/* Bytes laid over attr go with what is set below them. */
	{"{'set': {'attr.size': '$kernel.attr_size'}}",
	 "{'attr': {'size': 200}, 'bytes': {'199': 1}}", "set size to 136", "bytes", 0},
	{"{'set': {'call.cpu': 0}}", "{'attr': {'size': 200}, 'bytes': {'199': 1}}", "set cpu to 0",
	 "bytes", 1},
	{"{'set': {'attr.config': 1}}", "{'attr': {'size': 200}, 'bytes': {'199': 1}}",
	 "set config to 1", "bytes", 1},
	/* A mask. */
	{"{'set': {'attr.sample_type': {'with': 'tid'}}}", "{'attr': {'sample_type': ['ip']}}",
	 "set PERF_SAMPLE_TID in sample_type", "sample_type", 3},
	{"{'set': {'attr.sample_type': {'with': ['tid', 'time', 'addr']}}}",
	 "{'attr': {'sample_type': ['ip', 'tid']}}",
	 "set PERF_SAMPLE_TIME and PERF_SAMPLE_ADDR in sample_type", "sample_type", 15},
	{"{'set': {'attr.sample_type': {'without': 'ip'}}}",
	 "{'attr': {'sample_type': ['ip', 'tid']}}", "clear PERF_SAMPLE_IP in sample_type",
	 "sample_type", 2},
	{"{'set': {'attr.sample_type': {'without': ['ip', 'tid', 'time']}}}",
	 "{'attr': {'sample_type': ['ip', 'tid', 'time', 'addr']}}",
	 "clear PERF_SAMPLE_IP, PERF_SAMPLE_TID and PERF_SAMPLE_TIME in sample_type", "sample_type",
	 8},
	{"{'set': {'attr.sample_type': {'without': 'ip'}}}", "{'attr': {'sample_type': ['ip']}}",
	 "set sample_type to 0", "sample_type", 0},
	{"{'set': {'attr.sample_type': {'without': 'raw'}}}", "{'attr': {'sample_type': ['ip']}}",
	 NULL, "sample_type", 1},
	{"{'set': {'attr.sample_type': {'within': '$kernel.sample_type'}}}",
	 "{'attr': {'sample_type': ['ip', '1<<40']}}", "clear bit 40 in sample_type", "sample_type",
	 1},
	{"{'set': {'attr.branch_sample_type': {'without': ['kernel', 'hv'], 'with': 'user'}}}",
	 "{'attr': {'branch_sample_type': ['kernel', 'any']}}",
	 "clear PERF_SAMPLE_BRANCH_KERNEL in branch_sample_type and set PERF_SAMPLE_BRANCH_USER in "
	 "branch_sample_type",
	 "branch_sample_type", 9},
	/* A number that is cut to a multiple. */
	{"{'set': {'attr.sample_stack_user': {'aligned': 8}}}",
	 "{'attr': {'sample_stack_user': "
	 "4097}}",
	 "set sample_stack_user to 4096", "sample_stack_user", 4096},
	{"{'set': {'attr.sample_stack_user': {'aligned': 8}}}",
	 "{'attr': {'sample_stack_user': "
	 "4096}}",
	 NULL, "sample_stack_user", 4096},
	{"{'set': {'attr.sample_stack_user': {'aligned': 0}}}",
	 "{'attr': {'sample_stack_user': "
	 "4097}}",
	 NULL, "sample_stack_user", 4097},
	{"{'set': {'attr.bp_addr': {'aligned': 4}}}",
	 "{'attr': {'type': 'breakpoint', 'bp_addr': '0xffffffffff600003'}}",
	 "set bp_addr to 18446744073699065856", "bp_addr", UINT64_C(0xffffffffff600000)},
	/* Arguments. */
	{"{'set': {'call.cpu': -1}}", "{'attr': {}, 'cpu': 3}", "set cpu to -1", "cpu", UINT64_MAX},
	{"{'set': {'call.pid': 0, 'call.cpu': -1}}", "{'attr': {}, 'pid': -1, 'cpu': 3}",
	 "set pid to 0 and set cpu to -1", "pid", 0},
	{"{'set': {'call.pid': 0, 'call.cpu': -1}}", "{'attr': {}, 'pid': 0, 'cpu': 3}",
	 "set cpu to -1", "cpu", UINT64_MAX},
	{"{'set': {'call.pid': -1, 'call.cpu': 0}}", "{'attr': {}}",
	 "set pid to -1 and set cpu to 0", "pid", UINT64_MAX},
	{"{'set': {'call.group_fd': -1, 'call.flags': {'without': ['fd_output', 'fd_no_group']}}}",
	 "{'attr': {}, 'group_fd': 7, 'flags': ['fd_output', 'fd_cloexec']}",
	 "set group_fd to -1 and clear PERF_FLAG_FD_OUTPUT in flags", "flags", 8},
	{"{'set': {'call.flags': {'within': '$kernel.flags'}}}", "{'attr': {}, 'flags': 24}",
	 "clear bit 4 in flags", "flags", 8},
	/* The bits of attr as one. */
	{"{'set': {'attr.bits': {'within': 1}}}", "{'attr': {'disabled': 1, 'inherit': 1}}",
	 "clear inherit", "bits", 1},
	{"{'set': {'attr.bits': {'within': 4}}}", "{'attr': {'disabled': 1, 'inherit': 1}}",
	 "clear disabled and inherit", "bits", 0},
	{"{'set': {'attr.bits': {'within': 3}}}", "{'attr': {'disabled': 1, 'inherit': 1}}", NULL,
	 "bits", 3},
	/* What is said of it by itself; whom it is for. */
	{"{'set': {'attr.config': 1}, 'says': 'make config $attr.config one'}",
	 "{'attr': {'config': 7}}", "make config 7 one", "config", 1},
	{"{'set': {'attr.config': 1}, 'if': {'attr.type': 'software'}}", "{'attr': {'config': 7}}",
	 NULL, "config", 7},
	{"{'set': {'attr.config': 1}, 'if': {'attr.type': 'software'}}",
	 "{'attr': {'type': 'software', 'config': 7}}", "set config to 1", "config", 1},
	/* A fact that is not known changes nothing. */
	{"{'set': {'attr.config': '$counted.value'}}", "{'attr': {'config': 3}}", NULL, "config",
	 3},
};

START_TEST(changes_are_made_and_told)
{
	struct asked *o = begin();

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		json_t *json = json_array();
		struct arena arena = {0};
		struct changes changes;
		struct error e = {0};
		char text[512], small[8];
		bool any;

		json_array_append_new(json, test_json(made[i].change));
		ck_assert_msg(!load_own(&changes, o, json, &arena, &e), "%s: %s %s", made[i].change,
			      e.pointer, e.expected);
		ck_assert_uint_eq(changes.count, 1);
		meet(o, AS_ROOT, made[i].open);
		change_write(&changes.list[0], &o->model, &o->situation, text, sizeof(text));
		change_write(&changes.list[0], &o->model, &o->situation, small, sizeof(small));
		ck_assert_msg(strlen(small) < sizeof(small) && !strncmp(small, text, strlen(small)),
			      "cut: %s", small);
		situation_begin(&o->situation, &o->model.machine, &o->call, &o->caller, &o->world);
		any = change_make(&changes.list[0], &o->model, &o->situation, &o->call);
		if (made[i].part) {
			ck_assert_msg(any == !!made[i].text, "%s on %s: %s", made[i].change,
				      made[i].open, text);
			ck_assert_msg(part_of(o, made[i].part) == made[i].value, "%s on %s: %#llx",
				      made[i].change, made[i].open,
				      (unsigned long long)part_of(o, made[i].part));
		}
		if (made[i].text)
			ck_assert_msg(!strcmp(text, made[i].text), "%s on %s: %s", made[i].change,
				      made[i].open, text);
		call_free(&o->call);
		changes_free(&changes);
		json_decref(json);
		arena_free(&arena);
	}
	end(o);
}
END_TEST

/*
 * The search.
 */

static const struct {
	enum identity as;
	const char *open;
	const char *first; /* remedy, its changes joined by "; "; NULL: there is none */
	bool is_fallback;
} searches[] = {
	{AS_USER, "{'attr': " DUMMY "}", "set exclude_kernel to 1", false},
	{AS_ROOT, "{'attr': {'type': 'software', 'freq': 1, 'sample_freq': 100001}}",
	 "set sample_freq to 100000", false},
	{AS_ROOT, "{'attr': " DUMMY ", 'flags': 16}", "set flags to 0", false},
	{AS_ROOT, "{'attr': " DUMMY ", 'cpu': 7}", "set cpu to -1", false},
	{AS_ROOT, "{'attr': " DUMMY ", 'pid': -1, 'cpu': -1}", "set cpu to 0", false},
	{AS_ROOT,
	 "{'attr': {'type': 'software', 'sample_type': ['stack_user', '1<<40'], "
	 "'sample_stack_user': 4096, 'exclude_user': 1}}",
	 "clear bit 40 in sample_type", false},
	{AS_ROOT, "{'attr': {'type': 'software', 'sigtrap': 1}}", "set remove_on_exec to 1", false},
	/* Bytes laid over attr: only what they ask for is taken away. */
	{AS_ROOT, "{'attr': {'type': 'software', 'disabled': 1}, 'bytes': {'45': 64}}",
	 "clear the reserved bits", false},
	{AS_ROOT, "{'attr': {'type': 'software', 'size': 200}, 'bytes': {'199': 1}}",
	 "set size to 136", false},
	/* Both or neither. */
	{AS_USER, "{'attr': " DUMMY ", 'pid': -1, 'cpu': 0}",
	 "set exclude_kernel to 1; set pid to 0 and set cpu to -1", false},
	{AS_USER,
	 "{'attr': {'type': 'software', 'freq': 1, 'sample_freq': 100001, "
	 "'sample_type': ['1<<40']}}",
	 "set exclude_kernel to 1; set sample_type to 0; set sample_freq to 100000", false},
	/* Another event, for want of this one. */
	{AS_ROOT, "{'attr': {'type': 'hardware'}}",
	 "count cpu-clock (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK)", true},
	{AS_ROOT, "{'attr': {'type': 'hardware', 'freq': 1, 'sample_freq': 99}}",
	 "sample cpu-clock (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK)", true},
	/* Nothing that can be set opens it; what a type that nobody has was to count is not known.
	 */
	{AS_ROOT, "{'attr': {'type': 77}}", NULL, false},
	{AS_ROOT, "{'attr': {}, 'memory': 'null'}", NULL, false},
	{AS_ROOT, "{'attr': " DUMMY ", 'pid': -2}", "set pid to 0", false},
};

struct remedy_text {
	const struct model *model;
	char *out;
	size_t size;
};

static void add_change_text(void *context, const struct change *change, struct situation *s)
{
	struct remedy_text *t = context;
	size_t at = strlen(t->out);

	if (at)
		at += (size_t)snprintf(t->out + at, t->size - at, "; ");
	change_write(change, t->model, s, t->out + at, t->size - at);
}

static void write_remedy(const struct asked *o, struct asker *a, const struct remedy *remedy,
			 struct call *changed, char *out, size_t size)
{
	struct remedy_text t = {&o->model, out, size};

	out[0] = '\0';
	remedy_make(remedy, a, &o->knowledge.changes, &o->call, changed, add_change_text, &t);
}

static bool is_part_of(const struct remedy *less, const struct remedy *more)
{
	size_t same = 0;

	for (size_t i = 0; i < less->count; i++)
		for (size_t j = 0; j < more->count; j++)
			same += less->changes[i] == more->changes[j];
	return same == less->count;
}

/* Each opens the call, and none has more changes than it needs. */
static void check_remedies(const struct asked *o, struct asker *a, const struct remedies *found,
			   const char *open)
{
	struct call changed = {.image = calloc(1, o->abi->attr_size)};

	ck_assert_ptr_nonnull(changed.image);
	for (size_t i = 0; i < found->count; i++) {
		const struct remedy *one = &found->list[i];
		bool is_fallback = false;

		for (size_t n = 0; n < one->count; n++) {
			struct remedy less = {0};

			is_fallback |= o->knowledge.changes.list[one->changes[n]].is_fallback;
			for (size_t k = 0; k < one->count; k++)
				if (k != n)
					less.changes[less.count++] = one->changes[k];
			remedy_make(&less, a, &o->knowledge.changes, &o->call, &changed, NULL,
				    NULL);
			ck_assert_msg(asker_ask(a, &changed).outcome != OPENS,
				      "%s: remedy %zu without its change %zu", open, i, n);
		}
		ck_assert_int_eq(is_fallback, one->is_fallback);
		remedy_make(one, a, &o->knowledge.changes, &o->call, &changed, NULL, NULL);
		ck_assert_msg(asker_ask(a, &changed).outcome == OPENS, "%s: remedy %zu", open, i);
		ck_assert(!i || found->list[i - 1].count <= one->count);
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(!is_part_of(&found->list[j], one), "%s: remedy %zu in %zu",
				      open, j, i);
	}
	free(changed.image);
}

START_TEST(the_fewest_changes_are_found)
{
	struct asked *o = begin();
	struct remedies *found = calloc(1, sizeof(*found));
	struct call changed = {.image = calloc(1, o->abi->attr_size)};
	struct asker *a = calloc(1, sizeof(*a));

	ck_assert(found && changed.image && a);
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		struct finding refused;
		char text[512];

		meet(o, searches[i].as, searches[i].open);
		*a = (struct asker){.model = &o->model, .caller = o->caller, .world = o->world};
		refused = asker_ask(a, &o->call);
		ck_assert_msg(refused.outcome == REFUSED, "%s", searches[i].open);
		ck_assert_int_eq(
			search_remedies(a, &o->knowledge.changes, &o->call, &refused, found), 0);
		ck_assert(!found->is_cut);
		text[0] = '\0';
		if (found->count)
			write_remedy(o, a, &found->list[0], &changed, text, sizeof(text));
		ck_assert_msg(!strcmp(text, searches[i].first ? searches[i].first : ""),
			      "%s\n  expected: %s\n  got: %s", searches[i].open, searches[i].first,
			      text);
		ck_assert_int_eq(found->count && found->list[0].is_fallback,
				 searches[i].is_fallback);
		check_remedies(o, a, found, searches[i].open);
		call_free(&o->call);
	}
	free(changed.image);
	free(found);
	free(a);
	end(o);
}
END_TEST

Suite *suite_why(void)
{
	Suite *suite = suite_create("why");
	TCase *test = tcase_create("why");

	tcase_set_timeout(test, 120);
	tcase_add_test(test, blocks_of_perf_are_calls);
	tcase_add_test(test, long_lines_of_blocks);
	tcase_add_test(test, lines_of_strace_have_results);
	tcase_add_test(test, questions_have_many_forms);
	tcase_add_test(test, no_text_is_too_much);
	tcase_add_test(test, follows_are_calls);
	tcase_add_test(test, it_says_what_is_no_change);
	tcase_add_test(test, changes_are_made_and_told);
	tcase_add_test(test, the_fewest_changes_are_found);
	suite_add_tcase(suite, test);
	return suite;
}
