/* SPDX-License-Identifier: MIT */
/*
 * Changes of a call, and the search for the fewest, by the model alone.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "asked.h"
#include "machine/names.h"
#include "unit.h"
#include "why/knowledge.h"

/*
 * Changes.
 */

static const struct doc_type changes_type = {
	"a list of changes",
	(const struct doc_row[]){{"changes", DOC_LIST, true, AT(struct changes, list),
				  .type = &change_type, .count = offsetof(struct changes, count)},
				 {0}},
	.size = sizeof(struct changes)};

/* A list of changes of its own. */
static int load_own(struct changes *changes, struct asked *o, const json_t *json,
		    struct arena *arena, struct error *e)
{
	const struct source source = {.name = "c", .root = "", .text = "{}", .length = 2};
	struct where root = where_root(&source);
	struct vocabulary v = {.abi = o->abi,
			       .facts = &o->model.facts,
			       .terms = o->model.terms,
			       .env = &o->env,
			       .arena = arena};

	struct doc d = {arena, e, &v};

	return doc_read(&d, &changes_type, arena_keep(arena, json_pack("{s:O}", "changes", json)),
			changes, &root);
}

static const struct {
	const char *json, *pointer;
} wrong_changes[] = {
	{"[{}]", "/0/set"},
	{"[5]", "/0"},
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
	struct asked *o = asked_begin();

	for (size_t i = 0; i < sizeof(wrong_changes) / sizeof(wrong_changes[0]); i++) {
		json_t *json = test_json(wrong_changes[i].json);
		struct arena arena = {0};
		struct changes changes;
		struct error e = {0};

		ck_assert_msg(load_own(&changes, o, json, &arena, &e), "%s", wrong_changes[i].json);
		ck_assert_msg(!strcmp(e.pointer + strlen("/changes"), wrong_changes[i].pointer),
			      "%s: %s", wrong_changes[i].json, e.pointer);
		json_decref(json);
		arena_free(&arena);
	}
	asked_end(o);
}
END_TEST

/* Begins the evaluation of that call; end it with call_free(). */
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
	evaluation_begin(&o->evaluation, &o->model.machine, &o->call, &o->caller, &o->objects);
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
		return field_get(&machine->bits, o->call.image);
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
	{"{'set': {'attr.sample_type': {'within': '0xff'}}}", "{'attr': {'sample_type': '0x7f01'}}",
	 "clear 0x7f00 in sample_type", "sample_type", 1},
	{"{'set': {'attr.sample_regs_user': {'without': '0x1001'}}}",
	 "{'attr': {'sample_regs_user': '0x1003'}}",
	 "clear PERF_REG_X86_AX and PERF_REG_X86_DS in sample_regs_user", "sample_regs_user", 2},
	{"{'set': {'attr.sample_type': {'without': 'ip'}}}",
	 "{'attr': {'sample_type': ['ip', 'tid']}}", "clear PERF_SAMPLE_IP in sample_type",
	 "sample_type", 2},
	{"{'set': {'attr.sample_type': {'without': ['ip', 'tid', 'time']}}}",
	 "{'attr': {'sample_type': ['ip', 'tid', 'time', 'addr']}}",
	 "clear PERF_SAMPLE_IP, PERF_SAMPLE_TID and PERF_SAMPLE_TIME in sample_type", "sample_type",
	 8},
	{"{'set': {'attr.sample_type': {'without': 'ip'}}}", "{'attr': {'sample_type': ['ip']}}",
	 "clear PERF_SAMPLE_IP in sample_type", "sample_type", 0},
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
	struct asked *o = asked_begin();

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
		change_write(&changes.list[0], &o->model, &o->evaluation, text, sizeof(text));
		change_write(&changes.list[0], &o->model, &o->evaluation, small, sizeof(small));
		ck_assert_msg(strlen(small) < sizeof(small) && !strncmp(small, text, strlen(small)),
			      "cut: %s", small);
		evaluation_begin(&o->evaluation, &o->model.machine, &o->call, &o->caller,
				 &o->objects);
		any = change_make(&changes.list[0], &o->model, &o->evaluation, &o->call);
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
		json_decref(json);
		arena_free(&arena);
	}
	asked_end(o);
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
	{AS_ROOT, "{'attr': " DUMMY ", 'flags': 16}", "clear bit 4 in flags", false},
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
	 "set exclude_kernel to 1; clear bit 40 in sample_type; set sample_freq to 100000", false},
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

static void write_remedy(const struct asked *o, struct judge *a, const struct remedy *remedy,
			 struct call *changed, char *out, size_t size)
{
	const struct changes *changes = &o->knowledge.changes;
	struct remedy before = *remedy;
	size_t at = 0;

	out[0] = '\0';
	for (before.count = 0; before.count < remedy->count; before.count++) {
		remedy_make(&before, a, changes, &o->call, changed);
		judge_begin(a, changed);
		if (at)
			at += (size_t)snprintf(out + at, size - at, "; ");
		change_write(&changes->list[remedy->changes[before.count]], &o->model,
			     &a->evaluation, out + at, size - at);
		at = strlen(out);
	}
	remedy_make(remedy, a, changes, &o->call, changed);
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
static void check_remedies(const struct asked *o, struct judge *a, const struct remedies *found,
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
			remedy_make(&less, a, &o->knowledge.changes, &o->call, &changed);
			ck_assert_msg(judge_call(a, &changed).outcome != OPENS,
				      "%s: remedy %zu without its change %zu", open, i, n);
		}
		ck_assert_int_eq(is_fallback, one->is_fallback);
		remedy_make(one, a, &o->knowledge.changes, &o->call, &changed);
		ck_assert_msg(judge_call(a, &changed).outcome == OPENS, "%s: remedy %zu", open, i);
		ck_assert(!i || found->list[i - 1].count <= one->count);
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(!is_part_of(&found->list[j], one), "%s: remedy %zu in %zu",
				      open, j, i);
	}
	free(changed.image);
}

START_TEST(the_fewest_changes_are_found)
{
	struct asked *o = asked_begin();
	struct remedies *found = calloc(1, sizeof(*found));
	struct call changed = {.image = calloc(1, o->abi->attr_size)};
	struct judge *a = calloc(1, sizeof(*a));

	ck_assert(found && changed.image && a);
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		struct finding refused;
		char text[512];

		meet(o, searches[i].as, searches[i].open);
		*a = (struct judge){.model = &o->model, .caller = o->caller, .objects = o->objects};
		refused = judge_call(a, &o->call);
		ck_assert_msg(refused.outcome == REFUSED, "%s", searches[i].open);
		search_remedies(a, &o->knowledge.changes, &o->call, &refused, found);
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
	asked_end(o);
}
END_TEST

Suite *suite_changes(void)
{
	Suite *suite = suite_create("changes");
	TCase *test = tcase_create("changes");

	tcase_set_timeout(test, 120);
	tcase_add_test(test, it_says_what_is_no_change);
	tcase_add_test(test, changes_are_made_and_told);
	tcase_add_test(test, the_fewest_changes_are_found);
	suite_add_tcase(suite, test);
	return suite;
}
