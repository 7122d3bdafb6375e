/* SPDX-License-Identifier: MIT */
/*
 * The built-in cases: enough of them, each id once, each check of the kernel covered or explained.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case/cases.h"
#include "machine/require.h"
#include "unit.h"

struct set {
	struct sources sources;
	struct abi *abi;
	struct cases cases;
};

static void load(struct set *set)
{
	set->sources = cases_builtin();
	set->abi = test_abi();
	ck_assert_int_eq(cases_load(&set->cases, set->abi, "x86_64", &set->sources, "unit"), 0);
}

static void unload(struct set *set)
{
	cases_free(&set->cases);
	abi_free(set->abi);
}

START_TEST(there_are_enough)
{
	struct set set;
	size_t rows = 0;

	load(&set);
	/* one of each case and row, whoever runs it and on whatever vehicle */
	for (size_t i = 0; i < set.cases.count; i++) {
		const struct instance *a = &set.cases.list[i], *b = i ? a - 1 : NULL;

		rows += !b || a->case_index != b->case_index || a->source != b->source ||
			a->who.row != b->who.row;
	}
	ck_assert_uint_ge(rows, 450);
	unload(&set);
}
END_TEST

/* What a case of another architecture names is no error where it cannot run. */
START_TEST(they_load_on_every_architecture)
{
	struct sources sources = cases_builtin();
	struct abi *abi = test_abi();

	for (size_t i = 0; i <= abi->arch_count; i++) {
		const char *machine = i < abi->arch_count ? abi->archs[i].machines[0] : "vax";
		struct cases cases;

		ck_assert_msg(!cases_load(&cases, abi, machine, &sources, "unit"), "%s", machine);
		cases_free(&cases);
	}
	abi_free(abi);
}
END_TEST

/* A register has the number that it has on the architecture which the case, or the step, is for. */
START_TEST(registers_are_of_the_architecture_that_is_named)
{
	static const char text[] =
		"{\"suite\": \"c\", \"about\": \"a\", \"spec\": {\"man\": \"m\"}, \"cases\": [{"
		"\"name\": \"c\", \"title\": \"t\", \"as\": \"user\", "
		"\"requires\": [\"arch.arm64\"], \"steps\": ["
		"{\"open\": {\"attr\": {\"sample_regs_user\": [\"pc\"]}}},"
		"{\"open\": {\"attr\": {\"sample_regs_user\": [\"pc\"]}}, "
		"\"when\": {\"arch\": \"riscv\"}},"
		"{\"open\": {\"attr\": {\"sample_regs_user\": [\"ip\"]}}, "
		"\"when\": {\"token\": \"arch.x86\"}}]}]}";
	static const uint64_t expected[] = {UINT64_C(1) << 32, 1, 1 << 8};
	struct sources all = cases_builtin(), some = {0};
	struct source *list = calloc(all.count + 1, sizeof(*list));
	struct abi *abi = test_abi();
	struct cases cases;

	list[some.count++] = (struct source){
		.root = "", .name = "c.json", .text = text, .length = sizeof(text) - 1};
	for (size_t i = 0; i < all.count; i++)
		if (!strchr(all.list[i].name, '/'))
			list[some.count++] = all.list[i];
	some.list = list;
	ck_assert_int_eq(cases_load(&cases, abi, "x86_64", &some, "unit"), 0);
	for (size_t i = 0; i < 3; i++) {
		const struct statement *step = &cases.list[0].program->steps.list[i];
		const struct opening *opening = step->operands[0].made;

		ck_assert_uint_eq(attr_get(abi_field(abi, "sample_regs_user"), opening->call.image,
					   host_order()),
				  expected[i]);
	}
	cases_free(&cases);
	abi_free(abi);
	free(list);
}
END_TEST

static bool covers(const json_t *definition, const char *check)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(definition, "covers"), i, item)
		if (!strcmp(json_string_value(item), check))
			return true;
	return false;
}

START_TEST(every_check_has_a_case_or_a_reason)
{
	struct set set;
	const char *check;
	json_t *entry;

	load(&set);
	json_object_foreach(set.cases.checks, check, entry) {
		bool has_reason = json_object_get(entry, "no_case") != NULL, covered = false;

		for (size_t i = 0; i < set.cases.count && !covered; i++)
			covered = covers(set.cases.list[i].program->definition, check);
		ck_assert_msg(covered || has_reason, "no case covers %s, and nothing says why",
			      check);
		ck_assert_msg(!covered || !has_reason, "%s has both a case and a reason for none",
			      check);
	}
	unload(&set);
}
END_TEST

START_TEST(every_gate_has_a_case)
{
	struct set set;
	unsigned seen = 0;

	load(&set);
	for (size_t i = 0; i < set.cases.count; i++) {
		const json_t *expect =
			json_object_get(set.cases.list[i].program->definition, "expect");
		const char *phase = json_string_value(json_object_get(expect, "phase"));

		if (phase)
			seen |= 1U << phase_by_name(&set.cases.tables.phases, phase, NULL);
	}
	ck_assert_uint_eq(seen, (1U << set.cases.tables.phases.count) - 1);
	unload(&set);
}
END_TEST

START_TEST(tokens_are_a_closed_vocabulary)
{
	static const char *const good[] = {
		"kernel>=5.13",         "!pmu.hw",    "pmu.hw.sampling",
		"paranoid>-1",          "arch.x86",   "since.attr.sigtrap",
		"since.sample_type.ip", "file:/proc", "cap.ipc-lock",
		"abi.complete",         "as.perfmon"};
	static const char *const bad[] = {
		"",   "!",    "kernel",       "kernel>=", "kernel=5", "kernal>=5", "pmu.",
		"hw", "abi.", "since.attr.x", "since.ip", "file:",    "as.nobody"};
	struct abi *abi = test_abi();
	struct where nowhere = {0};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct error e = {0};

		ck_assert_msg(!require_check(good[i], abi, &nowhere, &e), "%s", good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error e = {0};

		ck_assert_msg(require_check(bad[i], abi, &nowhere, &e), "%s", bad[i]);
	}
	abi_free(abi);
}
END_TEST

/* What the machine does not tell is met neither as it is nor turned round. */
START_TEST(what_is_not_known_is_not_met)
{
	static const char *const tokens[] = {"config.KPROBES", "attr_size>=64", "paranoid>1",
					     "pmu.hw", "cap.no-such-capability"};
	struct abi *abi = test_abi();
	struct environment env = {.abi = abi,
				  .tracefs = -1,
				  .rights = {.uid = 1},
				  .sysctls = {[SYSCTL_PARANOID] = SYSCTL_ABSENT},
				  .hardware = {.counting = EACCES}};

	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		char turned[64], found[128];

		snprintf(turned, sizeof(turned), "!%s", tokens[i]);
		ck_assert_msg(require_truth(&env, tokens[i], AS_USER, found, sizeof(found)) != 1,
			      "%s", tokens[i]);
		ck_assert_msg(require_truth(&env, turned, AS_USER, found, sizeof(found)) != 1, "%s",
			      turned);
	}
	environment_free(&env);
	abi_free(abi);
}
END_TEST

static bool holds(struct environment *env, const char *token)
{
	char found[128];

	return require_truth(env, token, AS_USER, found, sizeof(found)) == 1;
}

/* ENOENT alone says that there are no hardware events: what else refuses may take others. */
START_TEST(only_enoent_is_no_hardware)
{
	struct environment none = {.hardware = {.counting = ENOENT, .sampling = ENOENT}};
	struct environment other = {.hardware = {.counting = EOPNOTSUPP,
						 .sampling = EOPNOTSUPP,
						 .wants = "exclude_guest"}};
	struct environment one = {.hardware = {.sampling = EOPNOTSUPP}};
	char found[128];

	ck_assert(holds(&none, "!pmu.hw") && !holds(&none, "pmu.hw"));
	ck_assert(!holds(&other, "!pmu.hw") && !holds(&other, "pmu.hw"));
	ck_assert(holds(&one, "pmu.hw") && !holds(&one, "!pmu.hw"));
	ck_assert(holds(&one, "!pmu.hw.sampling") && !holds(&one, "pmu.hw.sampling"));
	require_truth(&other, "pmu.hw", AS_ROOT, found, sizeof(found));
	ck_assert_str_eq(found, "cpu-cycles gives EOPNOTSUPP, with exclude_guest an event");
}
END_TEST

/* What no PMU says is not known, and not met either way. */
START_TEST(without_a_pmu_its_files_say_nothing)
{
	static const char *const tokens[] = {
		"max_precise>=0",
		"!max_precise>=0",
		"rdpmc>=0",
		"!rdpmc>=0",
		"pmu.hw.format.event",
		"!pmu.hw.format.event",
		"pmu.x",
		"!pmu.x",
		"breakpoint",
		"!breakpoint",
		"breakpoint.counts",
		"!breakpoint.counts",
	};
	struct pmu software = {.name = "software", .type = 1};
	struct environment none = {.breakpoint_hits = -1};
	struct environment some = {.pmus = &software, .pmu_count = 1, .breakpoint_hits = -1};

	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		ck_assert_msg(!holds(&none, tokens[i]), "%s", tokens[i]);
	ck_assert(!holds(&none, "sysfs") && holds(&some, "sysfs"));
	for (size_t i = 4; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		ck_assert_msg(holds(&some, tokens[i]) == (tokens[i][0] == '!'), "%s", tokens[i]);
}
END_TEST

/* With an event on it, even one that is off, the kernel traces each of its functions. */
START_TEST(the_tracepoint_of_all_functions_is_not_held)
{
	struct abi *abi = test_abi();
	struct environment env = {.abi = abi, .tracefs = -1};
	const struct tracepoint *other = environment_tracepoint(&env, "sched:sched_kthread_stop");

	if (other && other->held >= 0) /* only where one can be had */
		ck_assert_int_eq(
			environment_add_tracepoint(&env, "ftrace:function", other->id, true)->held,
			-1);
	environment_let_go(&env);
	environment_hold(&env);
	for (size_t i = 0; i < env.tracepoint_count; i++)
		ck_assert(strcmp(env.tracepoints[i].name, "ftrace:function") != 0 ||
			  env.tracepoints[i].held < 0);
	environment_free(&env);
	abi_free(abi);
}
END_TEST

/* A program's long and its kernel's are two things: what a call can pass, and what it meets. */
START_TEST(bits_are_the_programs_or_the_kernels)
{
	const char *own = sizeof(long) == 8 ? "bits==64" : "bits==32";
	unsigned other = sizeof(long) == 8 ? 32 : 64;
	struct environment same = {.kernel_bits = sizeof(long) * 8}, mixed = {.kernel_bits = other};

	ck_assert(holds(&same, own) && holds(&mixed, own));
	ck_assert(holds(&same, "!compat") && !holds(&same, "compat"));
	ck_assert(holds(&mixed, "compat") && !holds(&mixed, "!compat"));
	ck_assert(holds(&mixed, other == 32 ? "kernel_bits==32" : "kernel_bits==64"));
}
END_TEST

Suite *suite_case(void)
{
	Suite *s = suite_create("case");
	TCase *c = tcase_create("case");

	tcase_set_timeout(c, 30);
	tcase_add_test(c, there_are_enough);
	tcase_add_test(c, they_load_on_every_architecture);
	tcase_add_test(c, registers_are_of_the_architecture_that_is_named);
	tcase_add_test(c, every_check_has_a_case_or_a_reason);
	tcase_add_test(c, every_gate_has_a_case);
	tcase_add_test(c, tokens_are_a_closed_vocabulary);
	tcase_add_test(c, what_is_not_known_is_not_met);
	tcase_add_test(c, bits_are_the_programs_or_the_kernels);
	tcase_add_test(c, the_tracepoint_of_all_functions_is_not_held);
	tcase_add_test(c, only_enoent_is_no_hardware);
	tcase_add_test(c, without_a_pmu_its_files_say_nothing);
	suite_add_tcase(s, c);
	return s;
}
