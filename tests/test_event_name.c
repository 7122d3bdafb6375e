/* SPDX-License-Identifier: MIT */
/*
 * Events as perf writes them: what each is as an attr, and what is none.
 */
#include <unistd.h>

#include <string.h>

#include "case/cases.h"
#include "unit.h"
#include "why/question.h"

static const struct row {
	const char *text, *attr;
} rows[] = {
	{"cycles", "{'type': 'hardware', 'config': 'cpu_cycles'}"},
	{"cpu-cycles:u",
	 "{'type': 'hardware', 'config': 'cpu_cycles', 'exclude_kernel': 1, 'exclude_hv': 1}"},
	{"instructions:kpp", "{'type': 'hardware', 'config': 'instructions', 'exclude_user': 1, "
			     "'exclude_hv': 1, 'precise_ip': 2}"},
	{"cs", "{'type': 'software', 'config': 'context_switches'}"},
	{"minor-faults:H", "{'type': 'software', 'config': 'page_faults_min', 'exclude_guest': 1}"},
	{"L1-dcache-load-misses", "{'type': 'hw_cache', 'config': 'l1d:read:miss'}"},
	{"LLC-stores:u",
	 "{'type': 'hw_cache', 'config': 'll:write:access', 'exclude_kernel': 1, 'exclude_hv': 1}"},
	{"dTLB-misses", "{'type': 'hw_cache', 'config': 'dtlb:read:miss'}"},
	{"branch-loads", "{'type': 'hw_cache', 'config': 'bpu:read:access'}"},
	{"branch-misses", "{'type': 'hardware', 'config': 'branch_misses'}"},
	{"r01c2", "{'type': 'raw', 'config': '0x01c2'}"},
	{"r1a8:D", "{'type': 'raw', 'config': '0x1a8', 'pinned': 1}"},
	{"mem:0x1000",
	 "{'type': 'breakpoint', 'bp_addr': '0x1000', 'bp_len': 4, 'bp_type': ['r', 'w']}"},
	{"mem:4096/8:w",
	 "{'type': 'breakpoint', 'bp_addr': '0x1000', 'bp_len': 8, 'bp_type': ['w']}"},
	{"mem:0x1000:w:u", "{'type': 'breakpoint', 'bp_addr': '0x1000', 'bp_len': 4, 'bp_type': "
			   "['w'], 'exclude_kernel': 1, 'exclude_hv': 1}"},
	{"page-faults/period=1000/u", "{'type': 'software', 'config': 'page_faults', "
				      "'sample_period': 1000, 'exclude_kernel': 1, "
				      "'exclude_hv': 1}"},
	{"cycles/nosuch=1/", NULL},
	{"sched:*", NULL},
	{"cpu-clock/config1=18446744073709551615/",
	 "{'type': 'software', 'config': 'cpu_clock', 'config1': '0xffffffffffffffff'}"},
	{"cpu-clock/freq=99/", "{'type': 'software', 'config': 'cpu_clock', 'freq': 1, "
			       "'sample_period': 99}"},
	{"cpu-clock/config=99999999999999999999/", NULL},
	{"cpu-clock/period=/", NULL},
	{"cpu-clock/period=-1/", NULL},
	{"//", NULL},
	{"mem:0x", NULL},
	{"mem:0x1000/99999999999999999999:w", NULL},
	{"mem:0xfffffffffffffffffffff", NULL},
	{"mem:0x1000/:w", NULL},
	{"mem:0x1000:x",
	 "{'type': 'breakpoint', 'bp_addr': '0x1000', 'bp_len': 8, 'bp_type': ['x']}"},
	{"cycles,instructions", NULL},
	{"none/event=1/", NULL},
	{"cpu/", NULL},
	{"cycles:q", NULL},
	{"cycle", NULL},
	{"mem:", NULL},
	{"mem:here:w", NULL},
	{"", NULL},
	{":u", NULL},
	{"r01g", NULL},
	{"L1-dcache", NULL},
	{"no:such", NULL},
};

static const struct lack {
	const char *text;
	enum absent what;
	const char *name, *modifiers;
} lacks[] = {
	{"none/event=1/upp", ABSENT_PMU, "none", "upp"},
	{"no:such:u", ABSENT_TRACEPOINT, "no:such", "u"},
	{"none/event=1/q", ABSENT_NOTHING, "", ""},
	{"cycle", ABSENT_NOTHING, "", ""},
	{"cycles:u", ABSENT_NOTHING, "", ""},
};

START_TEST(what_the_machine_has_not_is_named)
{
	struct sources sources = cases_builtin();
	struct abi *abi = test_abi();
	struct environment env = {.abi = abi, .tracefs = -1, .runner = getpid()};
	struct error e = {0};
	json_t *names = source_parse(sources_find(&sources, "events.json"), &e);

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		struct absence absence;

		e = (struct error){0};
		json_decref(event_attr(lacks[i].text, names, &env, &absence, &e));
		if (absence.what == ABSENT_TRACEFS) /* it is not mounted where the test runs */
			absence.what = ABSENT_TRACEPOINT;
		ck_assert_msg(absence.what == lacks[i].what, "%s: %d", lacks[i].text, absence.what);
		ck_assert_str_eq(absence.name, lacks[i].name);
		ck_assert_str_eq(absence.modifiers, lacks[i].modifiers);
	}
	json_decref(names);
	environment_free(&env);
	abi_free(abi);
}
END_TEST

START_TEST(events_have_attrs)
{
	struct sources sources = cases_builtin();
	struct abi *abi = test_abi();
	struct environment env = {.abi = abi, .tracefs = -1, .runner = getpid()};
	struct error e = {0};
	struct absence absence;
	json_t *elsewhere;
	json_t *names = source_parse(sources_find(&sources, "events.json"), &e);

	ck_assert_ptr_nonnull(names);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *expected = rows[i].attr ? test_json(rows[i].attr) : NULL, *attr;

		e = (struct error){0};
		attr = event_attr(rows[i].text, names, &env, &absence, &e);
		ck_assert_msg(expected ? json_equal(attr, expected) : !attr, "%s: %s", rows[i].text,
			      attr ? json_dumps(attr, JSON_COMPACT) : e.expected);
		ck_assert_msg(attr || e.expected[0], "%s: nothing is said", rows[i].text);
		json_decref(attr);
		json_decref(expected);
	}
	/* Another machine has ids of its own. */
	env.runner = 0;
	e = (struct error){0};
	elsewhere = event_attr("no:such", names, &env, &absence, &e);
	ck_assert_str_eq(json_string_value(json_object_get(elsewhere, "config")),
			 "$tracepoint.no:such");
	json_decref(elsewhere);
	json_decref(names);
	environment_free(&env);
	abi_free(abi);
}
END_TEST

Suite *suite_event_name(void)
{
	Suite *suite = suite_create("event_name");
	TCase *test = tcase_create("event_name");

	tcase_add_test(test, events_have_attrs);
	tcase_add_test(test, what_the_machine_has_not_is_named);
	suite_add_tcase(suite, test);
	return suite;
}
