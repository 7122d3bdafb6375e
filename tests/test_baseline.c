/* SPDX-License-Identifier: MIT */
/*
 * Baselines: which entry is about a case on which kernel, what is no entry, the words for people.
 */
#include <stdlib.h>
#include <string.h>

#include "run/baseline.h"
#include "unit.h"

/* What a baseline is held against: two cases, of which results are the first's. */
struct fixture {
	struct abi *abi;
	char ids[2][16];
	struct instance list[2];
	struct cases cases;
};

static void begin(struct fixture *fixture)
{
	static const struct source source = {.name = "a.json", .root = "cases"};

	fixture->abi = test_abi();
	strcpy(fixture->ids[0], "a.b");
	strcpy(fixture->ids[1], "a.b-c.user");
	fixture->list[0] =
		(struct instance){.id = fixture->ids[0], .suite = "a", .source = &source};
	fixture->list[1] =
		(struct instance){.id = fixture->ids[1], .suite = "a", .source = &source};
	fixture->cases =
		(struct cases){.tables = {.abi = fixture->abi}, .list = fixture->list, .count = 2};
}

/* Reads entries, in which ' stands for ". 0, or an error in *e. */
static int parse(struct baseline *baseline, struct fixture *fixture, const char *entries,
		 bool is_borrowed, struct error *e)
{
	char *text;
	struct source source = {
		.name = "baseline.json", .root = "cases", .is_borrowed = is_borrowed};
	int err;

	ck_assert_int_gt(asprintf(&text, "{'deviations': [%s]}", entries), 0);
	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	source.text = text;
	source.length = strlen(text);
	err = baseline_parse(baseline, &source, &fixture->cases, e);
	free(text);
	return err;
}

#define FUNCTION "'function': 'f', 'why': 'errs', 'seen': ['6.1']"
#define ENTRY "{'id': 'a.b', " FUNCTION "}"
/* Of a kernel that it is known to be on, whatever `when` says of others. */
#define ENTRY_WHEN(when, seen)                                                                     \
	"{'id': 'a.b', 'when': " when ", 'function': 'f', 'why': 'errs', 'seen': ['" seen "']}"
#define MACHINE(when) "{'id': 'a.b', 'when': " when ", 'why': 'is silent', 'seen': ['6.1']}"

static const struct row {
	const char *entries, *release;
	enum outcome before, after;
	const char *reason; /* NULL: none */
} rows[] = {
	{ENTRY, "6.1.0", FAIL, XFAIL, "f() errs"},
	{ENTRY, "6.1.0", ERROR, ERROR, NULL},
	{ENTRY, "6.1.0", SKIP, SKIP, NULL},
	{"", "6.1.0", FAIL, FAIL, NULL},
	{"{'id': 'a', " FUNCTION "}", "6.1.0", FAIL, XFAIL, "f() errs"},
	{"{'id': 'a.*', " FUNCTION "}", "6.1.0", FAIL, XFAIL, "f() errs"},
	{"{'id': 'a.b-c', " FUNCTION "}", "6.1.0", FAIL, FAIL, NULL},
	{"{'id': ['a.b-c', 'a.b'], " FUNCTION "}", "6.1.0", FAIL, XFAIL, "f() errs"},
	{"{'id': ['a.b', 'a.b-c'], " FUNCTION "}", "6.1.0", FAIL, XFAIL, "f() errs"},
	{"{'id': 'a.b', 'fixed': '6.2 (0123)', " FUNCTION "}", "6.1.0", FAIL, XFAIL,
	 "f() errs; fixed in 6.2 (0123)"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'read': ['6.1']}", "6.1.0", FAIL, XFAIL,
	 "f() errs"},
	{"{'id': 'a.b', 'sometimes': 's', " FUNCTION "}", "6.1.0", FAIL, XFAIL, "f() errs"},
	{"{'id': 'a.b', 'sometimes': 's', " FUNCTION "}", "6.1.0", PASS, PASS, NULL},
	/* the edges of a kernel condition, and outside it */
	{ENTRY_WHEN("{'kernel': '>=5.13'}", "6.1"), "5.12.19", FAIL, FAIL, NULL},
	{ENTRY_WHEN("{'kernel': '>=5.13'}", "6.1"), "5.13.0-rc1", FAIL, XFAIL, "f() errs"},
	{ENTRY_WHEN("{'kernel': '>=5.13'}", "6.1"), "5.12.19", PASS, PASS, NULL},
	{ENTRY_WHEN("{'kernel': ['>=5.13', '<6.18.2']}", "6.1"), "6.18.1-x", FAIL, XFAIL,
	 "f() errs"},
	{ENTRY_WHEN("{'kernel': ['>=5.13', '<6.18.2']}", "6.1"), "6.18.2", FAIL, FAIL, NULL},
	/* of a list of conditions one is enough */
	{ENTRY_WHEN("[{'kernel': '<5.4'}, {'kernel': ['>=6.0', '<6.2']}]", "6.1"), "5.3", FAIL,
	 XFAIL, "f() errs"},
	{ENTRY_WHEN("[{'kernel': '<5.4'}, {'kernel': ['>=6.0', '<6.2']}]", "6.1"), "5.4", FAIL,
	 FAIL, NULL},
	{ENTRY_WHEN("[{'kernel': '<5.4'}, {'kernel': ['>=6.0', '<6.2']}]", "6.1"), "6.1.9", FAIL,
	 XFAIL, "f() errs"},
	{ENTRY_WHEN("[{'kernel': '<5.4'}, {'kernel': ['>=6.0', '<6.2']}]", "6.1"), "6.2", FAIL,
	 FAIL, NULL},
	/* other conditions; all must hold, but of architectures one */
	{ENTRY_WHEN("{'arch': 'x86'}", "6.1"), "6.1.0", FAIL, XFAIL, "f() errs"},
	{ENTRY_WHEN("{'arch': 'arm64'}", "6.1"), "6.1.0", FAIL, FAIL, NULL},
	{ENTRY_WHEN("{'arch': ['arm64', 'x86']}", "6.1"), "6.1.0", FAIL, XFAIL, "f() errs"},
	{ENTRY_WHEN("{'arch': ['arm64', 's390']}", "6.1"), "6.1.0", FAIL, FAIL, NULL},
	{ENTRY_WHEN("{'kernel': '>=6.0', 'arch': 'arm64'}", "6.1"), "6.1.0", FAIL, FAIL, NULL},
	{ENTRY_WHEN("{'token': 'arch.x86'}", "6.1"), "6.1.0", FAIL, XFAIL, "f() errs"},
	{ENTRY_WHEN("{'token': ['arch.x86', 'arch.arm64']}", "6.1"), "6.1.0", FAIL, FAIL, NULL},
	{ENTRY_WHEN("{'token': '!arch.x86'}", "6.1"), "6.1.0", FAIL, FAIL, NULL},
	{ENTRY_WHEN("{'as': 'user'}", "6.1"), "6.1.0", FAIL, FAIL, NULL},
	{ENTRY_WHEN("{'as': ['user', 'root']}", "6.1"), "6.1.0", FAIL, XFAIL, "f() errs"},
	/* of a machine, which has no function: globs, of which one must match what there is */
	{MACHINE("{'hypervisor': 'PVM', 'vendor': 'AuthenticAMD', 'cpu': 'AMD EPYC*'}"), "6.1.0",
	 FAIL, XFAIL, "this machine, not its kernel: is silent"},
	{MACHINE("{'hypervisor': ['Xen', 'P*'], 'kernel': '>=6.0'}"), "6.1.0", FAIL, XFAIL,
	 "this machine, not its kernel: is silent"},
	{MACHINE("{'hypervisor': 'PVM', 'kernel': '>=6.0'}"), "5.4", FAIL, FAIL, NULL},
	{MACHINE("{'hypervisor': 'PVM', 'token': 'arch.x86'}"), "6.1.0", FAIL, XFAIL,
	 "this machine, not its kernel: is silent"},
	{MACHINE("{'hypervisor': 'PVM', 'token': '!arch.x86'}"), "6.1.0", FAIL, FAIL, NULL},
	{MACHINE("{'hypervisor': 'PVM', 'vendor': 'GenuineIntel'}"), "6.1.0", FAIL, FAIL, NULL},
	{MACHINE("{'hypervisor': 'KVM'}"), "6.1.0", FAIL, FAIL, NULL},
	{MACHINE("{'cpu': 'EPYC*'}"), "6.1.0", FAIL, FAIL, NULL},
	{MACHINE("[{'arch': 'arm64'}, {'cpu': '*EPYC*'}]"), "6.1.0", FAIL, XFAIL,
	 "this machine, not its kernel: is silent"},
	{MACHINE("{'cpu': 'AMD*', 'vendor': '*'}"), "6.1.0", PASS, XPASS,
	 "passes here, though the baseline says that it fails where {\"cpu\": \"AMD*\", "
	 "\"vendor\": \"*\"} (is silent); change `when` or `id` of /deviations/0 in cases/baseline.json"},
	/* the first that holds counts */
	{ENTRY_WHEN(
		 "{'kernel': '<6.0'}",
		 "5.4") ", {'id': 'a.*', 'function': 'g', 'why': 'too', 'seen': ['6.1']}, " ENTRY,
	 "6.1.0", FAIL, XFAIL, "g() too"},
	/* a pass says which entry is not right, and what is to be changed */
	{ENTRY, "6.1.0", PASS, XPASS,
	 "passes here, though the baseline says that it fails everywhere (f() errs); "
	 "change `when` or `id` of /deviations/0 in cases/baseline.json"},
	{ENTRY_WHEN("{'kernel': '<5'}", "4.9") ", " ENTRY_WHEN(
		 "[{'kernel': ['>=5.10', '<5.11']}, {'arch': ['x86', 'arm'], 'kernel': '<7.3'}]",
		 "5.10.2"),
	 "6.1.0", PASS, XPASS,
	 "passes here, though the baseline says that it fails where [{\"kernel\": [\">=5.10\", "
	 "\"<5.11\"]}, {\"arch\": [\"x86\", \"arm\"], \"kernel\": \"<7.3\"}] (f() errs); change `when` or `id` of /deviations/1 in cases/baseline.json"},
};

START_TEST(entry_is_about_the_kernel)
{
	const struct row *row = &rows[_i];
	struct fixture fixture;
	struct baseline baseline;
	struct error e = {0};
	struct environment env = {0};
	struct result result;

	begin(&fixture);
	env.abi = fixture.abi;
	env.arch = abi_arch(fixture.abi, "x86_64");
	strcpy(env.upstream, row->release);
	strcpy(env.hypervisor, "PVM");
	strcpy(env.vendor, "AuthenticAMD");
	strcpy(env.cpu, "AMD EPYC 9B45");
	result = (struct result){.instance = &fixture.list[0],
				 .verdict = {.outcome = (int)row->before}};
	ck_assert_msg(!parse(&baseline, &fixture, row->entries, false, &e), "%s: %s %s",
		      row->entries, e.pointer, e.expected);
	baseline_apply(&baseline, &env, &result, 1);
	ck_assert_msg(result.verdict.outcome == (int)row->after, "%s on %s: %s", row->entries,
		      row->release, outcome_names[result.verdict.outcome]);
	ck_assert_pstr_eq(result.reason, row->reason);
	ck_assert_int_eq(result.deviation != NULL,
			 row->reason != NULL || strstr(row->entries, "sometimes") != NULL);
	free(result.reason);
	baseline_free(&baseline);
	abi_free(fixture.abi);
}
END_TEST

/* Texts that are no entry, where it is wrong, and what is expected there. */
static const struct wrong {
	const char *entry, *pointer, *expected;
} wrongs[] = {
	{"7", "", "a deviation"},
	{"{" FUNCTION "}", "/id", "an id"},
	{"{'id': [], " FUNCTION "}", "/id", "an id"},
	{"{'id': 7, " FUNCTION "}", "/id", "an id"},
	{"{'id': ['a.b', ''], " FUNCTION "}", "/id/1", "an id"},
	{"{'id': 'a.bb', " FUNCTION "}", "/id", "the id of a case"},
	{"{'id': ['a.b', 'a.c.*'], " FUNCTION "}", "/id/1", "the id of a case"},
	{"{'id': 'a.b', 'why': 'errs', 'seen': ['6.1']}", "/function", "the kernel's function"},
	{"{'id': 'a.b', 'function': 'f()', 'why': 'errs', 'seen': ['6.1']}", "/function",
	 "the kernel's function"},
	{"{'id': 'a.b', 'function': '', 'why': 'errs', 'seen': ['6.1']}", "/function",
	 "a line of text"},
	{"{'id': 'a.b', 'function': 'f', 'seen': ['6.1']}", "/why",
	 "what that function, or machine, does wrong"},
	{"{'id': 'a.b', 'function': 'f', 'why': ' ', 'seen': ['6.1']}", "/why", "a line of text"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs'}", "/seen",
	 "the versions that it was seen on"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': []}", "/seen",
	 "a list of versions"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': '6.1'}", "/seen",
	 "a list of versions"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': ['6']}", "/seen/0",
	 "a version of Linux"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': ['6.']}", "/seen/0",
	 "a version of Linux"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': ['6.1', '6.x']}", "/seen/1",
	 "a version of Linux"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': [6.1]}", "/seen/0",
	 "a version of Linux"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': ['6.18', '6.2']}", "/seen/1",
	 "later than 6.18"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'seen': ['6.1', '6.1.0']}", "/seen/1",
	 "later than 6.1"},
	{"{'id': 'a.b', 'function': 'f', 'why': 'errs', 'read': ['6.1', '5.1']}", "/read/1",
	 "later than 6.1"},
	{ENTRY_WHEN("{'kernel': '<6.1'}", "6.1"), "/seen/0", "`when` holds for"},
	{ENTRY_WHEN("[{'kernel': '<5.4'}, {'kernel': '>=6.2'}]", "6.1"), "/seen/0",
	 "`when` holds for"},
	{ENTRY_WHEN("[]", "6.1"), "/when", "an object of conditions"},
	{ENTRY_WHEN("7", "6.1"), "/when", "an object of conditions"},
	{ENTRY_WHEN("{'kernel': '=>6.1'}", "6.1"), "/when/kernel", "a token"},
	{ENTRY_WHEN("{'arch': 'x87'}", "6.1"), "/when/arch", "an architecture"},
	{ENTRY_WHEN("[{'kernel': '>5'}, {'kernl': '<6'}]", "6.1"), "/when/1/kernl", "kernel"},
	{ENTRY_WHEN("{}", "6.1"), "/when", "a condition"},
	{ENTRY_WHEN("{'kernel': []}", "6.1"), "/when/kernel", "at least one value"},
	{ENTRY_WHEN("{'kernel': '>=6..1'}", "6.1"), "/when/kernel", "a token"},
	{ENTRY_WHEN("{'hypervisor': 'PVM'}", "6.1"), "/function", "no function of the kernel"},
	{ENTRY_WHEN("[{'kernel': '>5'}, {'cpu': '*'}]", "6.1"), "/function",
	 "no function of the kernel"},
	{MACHINE("{'kernel': '>=6.1'}"), "/function", "the kernel's function"},
	{MACHINE("{'hypervisor': ''}"), "/when/hypervisor", "a glob"},
	{MACHINE("{'vendor': 7}"), "/when/vendor", "a string, or a list of them"},
	{MACHINE("{'cpu': []}"), "/when/cpu", "at least one value"},
	{MACHINE("{'cpu': 'a', 'hypervizor': 'b'}"), "/when/hypervizor", "hypervisor"},
	{"{'id': 'a.b', 'fixed': 6, " FUNCTION "}", "/fixed", "a line of text"},
	{"{'id': 'a.b', 'note': '\\u0007', " FUNCTION "}", "/note", "a line of text"},
	{"{'id': 'a.b', 'reason': 'r', " FUNCTION "}", "/reason", "a deviation"},
};

START_TEST(entry_is_refused)
{
	const struct wrong *wrong = &wrongs[_i];
	char pointer[80];
	struct fixture fixture;
	struct baseline baseline;
	struct error e = {0};

	begin(&fixture);
	snprintf(pointer, sizeof(pointer), "/deviations/0%s", wrong->pointer);
	ck_assert_msg(parse(&baseline, &fixture, wrong->entry, false, &e), "%s is taken",
		      wrong->entry);
	ck_assert_str_eq(e.pointer, pointer);
	ck_assert_msg(strstr(e.expected, wrong->expected), "%s: expected %s", wrong->entry,
		      e.expected);
	baseline_free(&baseline);
	abi_free(fixture.abi);
}
END_TEST

/* The built-in baseline beside other cases, and any beside some of the cases. */
START_TEST(ids_of_cases_that_are_left_out)
{
	struct fixture fixture;
	struct baseline baseline;
	struct error e = {0};

	begin(&fixture);
	fixture.cases.are_some = _i == 0;
	ck_assert_int_eq(
		parse(&baseline, &fixture, "{'id': 'other.case', " FUNCTION "}", _i == 1, &e), 0);
	ck_assert_uint_eq(baseline.count, 1);
	baseline_free(&baseline);
	abi_free(fixture.abi);
}
END_TEST

Suite *suite_baseline(void)
{
	Suite *s = suite_create("baseline");
	TCase *c = tcase_create("entries");

	tcase_add_loop_test(c, entry_is_about_the_kernel, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_loop_test(c, entry_is_refused, 0, sizeof(wrongs) / sizeof(wrongs[0]));
	tcase_add_loop_test(c, ids_of_cases_that_are_left_out, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
