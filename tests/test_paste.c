/* SPDX-License-Identifier: MIT */
/*
 * The calls that people paste: the attr block of perf -vv, lines of strace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asked.h"
#include "unit.h"
#include "why/question.h"

/*
 * The attr block of perf -vv.
 */

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
	struct abi *abi = test_abi();

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct source source = {.name = "s", .root = "", .text = lines[i].line};
		struct where root = where_root(&source);
		struct error e = {0};
		struct strace_result result = {.fd = 99, .is_told = true, .error = "x"};
		json_t *open = strace_open(lines[i].line, abi, &result, &root, &e);

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
	abi_free(abi);
}
END_TEST

Suite *suite_paste(void)
{
	Suite *suite = suite_create("paste");
	TCase *test = tcase_create("paste");

	tcase_set_timeout(test, 120);
	tcase_add_test(test, blocks_of_perf_are_calls);
	tcase_add_test(test, long_lines_of_blocks);
	tcase_add_test(test, lines_of_strace_have_results);
	suite_add_tcase(suite, test);
	return suite;
}
