/* SPDX-License-Identifier: MIT */
/*
 * The model: what it says of calls on a recorded machine, of what it does not know, and of
 * predicates that are none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case/cases.h"
#include "machine/names.h"
#include "model/model.h"
#include "unit.h"

/* The built-in model, settled for a machine that is none of ours. */
struct oracle {
	struct sources sources;
	struct abi *abi;
	struct cases cases;
	struct environment env;
	struct model model;
	struct evaluation evaluation;
	json_t *checks; /* NULL: the built-in ones */
	struct call call;
	struct caller caller;
};

static const char machine_json[] =
	"{'kernel': '6.18.44', 'upstream': '6.18.44', 'machine': 'x86_64', 'kernel_bits': 64, "
	"'page_size': 4096,"
	" 'cpu_limit': 4, 'online': '0-2', 'attr_size': 136, 'uid': 0, 'capabilities': "
	"'0x1ffffffffff', 'lockdown': null,"
	" 'identities': {'root': 'opens events', 'user': 'opens events'},"
	" 'sysctls': {'perf_event_paranoid': 2, 'perf_event_max_sample_rate': 1000, "
	"'perf_event_max_stack': 127},"
	" 'pmus': {'software': 1, 'tracepoint': 2, 'breakpoint': 5, 'uprobe': 8, 'msr': 9, "
	"'uncore_imc': 20}}";

static void begin(struct oracle *o, const char *machine)
{
	json_t *json = test_json(machine);
	struct where nowhere = {0};
	struct error e = {0};
	struct model_sources from;

	o->sources = cases_builtin();
	o->abi = test_abi();
	ck_assert_int_eq(cases_load_tables(&o->cases, o->abi, "x86_64", &o->sources, "unit"), 0);
	ck_assert_int_eq(environment_from_json(&o->env, o->abi, json, &nowhere, &e), 0);
	from = (struct model_sources){.model = sources_find(&o->sources, "model.json"),
				      .checks = sources_find(&o->sources, "checks.json"),
				      .list = o->checks ? o->checks : o->cases.checks};
	ck_assert_msg(!model_load(&o->model, &from, &o->cases.tables, &o->env, &e), "%s: %s",
		      e.pointer, e.expected);
	machine_init(&o->model.machine, &o->env, &o->model.kinds, &o->model.learned);
	learned_from_json(&o->model.learned, NULL, &o->env);
	json_decref(json);
}

static void end(struct oracle *o)
{
	model_free(&o->model);
	environment_free(&o->env);
	cases_free(&o->cases);
	abi_free(o->abi);
	json_decref(o->checks);
	o->checks = NULL;
}

/* The evaluation of that call; end it with call_free(). */
static void meet(struct oracle *o, enum identity as, const char *open)
{
	static const struct objects objects;
	struct scope scope = {.env = &o->env};
	json_t *json = test_json(open);
	struct where nowhere = {0};
	struct error e = {0};

	o->caller = caller_as(&o->env.rights, as);
	ck_assert_msg(!call_from_json(&o->call, o->abi, o->env.arch, json, &scope, &nowhere, &e),
		      "%s: %s", open, e.expected);
	evaluation_begin(&o->evaluation, &o->model.machine, &o->call, &o->caller, &objects);
	json_decref(json);
}

/* "ok", "EINVAL O022", or "unknown O045". */
static void ask(struct oracle *o, enum identity as, const char *open, char *said, size_t size)
{
	struct prediction p;

	meet(o, as, open);
	p = model_predict(&o->model, &o->evaluation);
	if (p.outcome == OPENS)
		snprintf(said, size, "ok");
	else
		snprintf(said, size, "%s %s", p.outcome == REFUSED ? errno_name(p.err) : "unknown",
			 p.check->id);
	call_free(&o->call);
}

#define DUMMY "'type': 'software', 'config': 'dummy', 'exclude_kernel': 1"

static const struct row {
	enum identity as;
	const char *open, *said;
} rows[] = {
	{AS_USER, "{'attr': {'type': 'software', 'config': 'dummy'}}", "EACCES O031"},
	{AS_ROOT, "{'attr': {" DUMMY "}, 'flags': 16}", "EINVAL O001"},
	/* An entry gate before all that attr has. */
	{AS_ROOT, "{'attr': {}, 'memory': 'null', 'flags': 16}", "EINVAL O001"},
	{AS_ROOT, "{'attr': {}, 'memory': 'null'}", "EFAULT O002"},
	{AS_ROOT, "{'attr': {'size': 63}}", "E2BIG O004"},
	{AS_ROOT, "{'attr': {'size': 4097}}", "E2BIG O005"},
	/* The kernel's struct ends at 136. */
	{AS_ROOT, "{'attr': {" DUMMY ", 'size': 144, 'config4': 1}}", "E2BIG O006"},
	{AS_ROOT, "{'attr': {" DUMMY ", 'size': 200}, 'bytes': {'199': 1}}", "E2BIG O006"},
	{AS_ROOT,
	 "{'attr': {" DUMMY ", 'size': 200}, 'bytes': {'199': 1}, 'memory': {'mapped': 150}}",
	 "EFAULT O007"},
	{AS_ROOT,
	 "{'attr': {" DUMMY ", 'size': 200}, 'bytes': {'140': 1}, 'memory': {'mapped': 150}}",
	 "E2BIG O006"},
	/* What lies behind attr.size is not read. */
	{AS_ROOT,
	 "{'attr': {'type': 'breakpoint', 'size': 64, 'bp_type': ['w'], 'bp_len': 4, 'bp_addr': "
	 "4096}}",
	 "unknown O088"},
	{AS_USER, "{'attr': {" DUMMY ", 'freq': 1, 'sample_freq': 1000}}", "ok"},
	{AS_USER, "{'attr': {" DUMMY ", 'freq': 1, 'sample_freq': 1001}}", "EINVAL O035"},
	{AS_USER, "{'attr': {" DUMMY ", 'sample_type': ['stack_user'], 'sample_stack_user': 12}}",
	 "unknown O020"},
	/* A cpu that is, one that is not online, one that cannot be. */
	{AS_ROOT, "{'attr': {'type': 'uprobe' }, 'pid': -1, 'cpu': 4}", NULL},
	{AS_ROOT, "{'attr': {'type': 20}, 'pid': -1, 'cpu': 4}", "EINVAL O047"},
	{AS_ROOT, "{'attr': {'type': 20}, 'pid': -1, 'cpu': 0}", "unknown O169"},
	{AS_ROOT, "{'attr': {'type': 9, 'exclude_user': 1}, 'pid': -1, 'cpu': 3}", "EINVAL O055"},
	{AS_ROOT, "{'attr': {'type': 9, 'sample_period': 1}, 'pid': -1, 'cpu': 3}", "EINVAL O126"},
	/* Nobody has type 77; a processor's PMU may take type 0, and there is one that is not
	   known. */
	{AS_ROOT, "{'attr': {'type': 77}}", "ENOENT O051"},
	{AS_ROOT, "{'attr': {'type': 'hardware'}}", "unknown O051"},
	{AS_ROOT, "{'attr': {" DUMMY "}, 'pid': 7}", "unknown O045"},
	{AS_ROOT, "{'attr': {" DUMMY "}, 'pid': -2}", "ESRCH O045"},
	{AS_ROOT, "{'attr': {" DUMMY "}, 'group_fd': 7}", "EBADF O042"},
	{AS_ROOT, "{'attr': {'type': 'tracepoint', 'config': 7}}", "unknown O063"},
	{AS_PERFMON, "{'attr': {'type': 8, 'exclude_kernel': 1}}", "EACCES O075"},
	{AS_ROOT, "{'attr': {'type': 8}}", "EINVAL O077"},
	{AS_ROOT, "{'attr': {'type': 8, 'uprobe_path': 4096}}", "unknown O078"},
};

START_TEST(it_says_what_the_kernel_will)
{
	struct oracle *o = calloc(1, sizeof(*o));
	char said[64];

	ck_assert_ptr_nonnull(o);
	begin(o, machine_json);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].said)
			continue;
		ask(o, rows[i].as, rows[i].open, said, sizeof(said));
		ck_assert_msg(!strcmp(said, rows[i].said), "%s\n  expected: %s\n  got: %s",
			      rows[i].open, rows[i].said, said);
	}
	end(o);
	free(o);
}
END_TEST

/* A kernel that is not out: it knows the fields of SIMD registers, and no modelled PMU samples
 * them. */
START_TEST(it_knows_a_kernel_to_come)
{
#define SIMD "{'attr': {" DUMMY ", 'sample_type': ['regs_user'], 'sample_simd_regs_enabled': 1, "
	static const char *const asked[][2] = {
		{"{'attr': {" DUMMY ", '__reserved_4': 1}}", "EINVAL O194"},
		{"{'attr': {" DUMMY ", 'sample_simd_vec_reg_user': 1}}", "ok"},
		{"{'attr': {" DUMMY ", 'sample_simd_regs_enabled': 1}}", "EOPNOTSUPP O199"},
		{SIMD "'sample_regs_user': ['r16', 'ssp']}}", "EOPNOTSUPP O199"},
		{SIMD "'sample_regs_user': '1<<41'}}", "EINVAL O195"},
		{SIMD "'sample_simd_vec_reg_user': 1}}", "EINVAL O196"},
		{SIMD "'sample_simd_vec_reg_qwords': 3}}", "EINVAL O196"},
		{SIMD "'sample_simd_vec_reg_qwords': 2, 'sample_simd_vec_reg_user': 1}}",
		 "EINVAL O196"},
		{SIMD "'sample_simd_vec_reg_qwords': 2, 'sample_simd_vec_reg_user': '0xffff'}}",
		 "EOPNOTSUPP O199"},
		{SIMD "'sample_simd_pred_reg_qwords': 1, 'sample_simd_pred_reg_user': '0x1ff'}}",
		 "EINVAL O196"},
		{SIMD "'size': 208}, 'bytes': {'200': 1}}", "E2BIG O006"},
	};
	struct oracle *o = calloc(1, sizeof(*o));
	char said[64];
	json_t *learned;

	ck_assert_ptr_nonnull(o);
	begin(o,
	      "{'kernel': '7.4.0', 'upstream': '7.4.0', 'machine': 'x86_64', 'kernel_bits': 64, "
	      "'page_size': 4096, 'cpu_limit': 4, 'online': '0-3', 'attr_size': 176, 'uid': 0, "
	      "'capabilities': '0x1ffffffffff', 'lockdown': null, 'identities': {'root': 'opens "
	      "events'}, 'sysctls': {'perf_event_paranoid': 2, 'perf_event_max_sample_rate': 1000, "
	      "'perf_event_max_stack': 127}, 'pmus': {'software': 1}}");
	learned = test_json("{'kernel.has_regs': 1, 'kernel.regs': 16715775}");
	learned_from_json(&o->model.learned, learned, &o->env);
	json_decref(learned);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		ask(o, AS_ROOT, asked[i][0], said, sizeof(said));
		ck_assert_msg(!strcmp(said, asked[i][1]), "%s: %s", asked[i][0], said);
	}
	end(o);
	free(o);
}
END_TEST

/* A sandbox and a machine of which nothing is known but its kernel's name. */
START_TEST(it_knows_what_it_does_not_know)
{
	struct oracle *o = calloc(1, sizeof(*o));
	char said[64];

	ck_assert_ptr_nonnull(o);
	begin(o, "{'kernel': '6.1.0', 'refuses_all': 'EPERM'}");
	ask(o, AS_ROOT, "{'attr': {" DUMMY "}, 'flags': 16}", said, sizeof(said));
	ck_assert_str_eq(said, "EPERM S001");
	end(o);
	begin(o, "{'kernel': '6.1.0'}");
	ask(o, AS_ROOT, "{'attr': {" DUMMY "}, 'flags': 16}", said, sizeof(said));
	ck_assert_str_eq(said, "EINVAL O001");
	ask(o, AS_ROOT, "{'attr': {" DUMMY "}}", said, sizeof(said));
	ck_assert_msg(!strncmp(said, "unknown", 7), "%s", said);
	end(o);
	free(o);
}
END_TEST

/* What is no predicate, and where it is wrong. */
static const struct {
	const char *json, *pointer;
} wrong[] = {
	{"{}", ""},
	{"{'attr.confg': 1}", "/attr.confg"},
	{"{'attr.config': {'about': 1}}", "/attr.config/about"},
	{"{'attr.config': {}}", "/attr.config"},
	{"{'attr.config': '$attr.confg'}", "/attr.config"},
	{"{'call.cpu': {'gt': '$attr.config'}}", "/call.cpu/gt"},
	{"{'attr.sample_type': {'has': 'branches'}}", "/attr.sample_type/has"},
	{"{'attr.config': {'between': [1]}}", "/attr.config/between"},
	{"{'any': []}", "/any"},
	{"{'any': {'attr.config': 1}}", "/any"},
	{"{'not': {}}", "/not"},
	{"{'token': 'kernal>=6.2'}", "/token"},
	{"{'may_see_kernel': 1}", "/may_see_kernel"},
	{"{'may_see_kernl': true}", "/may_see_kernl"},
};

START_TEST(it_says_what_is_no_predicate)
{
	struct oracle *o = calloc(1, sizeof(*o));

	ck_assert_ptr_nonnull(o);
	begin(o, machine_json);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct arena arena = {0};
		struct vocabulary v = {.abi = o->abi,
				       .facts = &o->model.facts,
				       .terms = o->model.terms,
				       .arena = &arena};
		json_t *json = test_json(wrong[i].json);
		const struct source source = {.name = "p", .root = "", .text = "{}", .length = 2};
		struct where root = where_root(&source);
		struct error e = {0};

		ck_assert_msg(!predicate_compile(json, &v, &root, &e), "%s", wrong[i].json);
		ck_assert_msg(!strcmp(e.pointer, wrong[i].pointer), "%s: %s", wrong[i].json,
			      e.pointer);
		json_decref(json);
		arena_free(&arena);
	}
	end(o);
	free(o);
}
END_TEST

/* Checks of its own: two causes under one errno, and what can be a cause and decides nothing. */
static const char own_checks[] =
	"{'O001': {'gate': 'pmu', 'result': 'EINVAL', 'if': {'attr.config': {'ge': 1}}, 'says': ["
	"{'if': {'attr.config': 1}, 'because': 'config is one', 'instead': 'take another'},"
	"{'if': {'pmu.has_config': 1}, 'because': 'which is not known'},"
	"{'if': {'attr.config': 2}, 'because': 'config is $attr.config'},"
	"{'because': 'config is something else'}]},"
	"'O002': {'gate': 'pmu', 'result': 'ENOENT', 'may': {'pmu.has_config': 0}, "
	"'because': 'no such event'},"
	"'O003': {'gate': 'pmu', 'result': 'EINVAL', 'may': {'attr.config': 2}, 'because': 'two'},"
	"'O004': {'gate': 'pmu', 'result': 'ENOENT', 'may': {'attr.config': {'ge': 2}}, "
	"'because': 'more'},"
	"'O005': {'gate': 'pmu', 'result': 'unknown', 'may': {'attr.config': 3}, "
	"'because': 'any'}}";

static const struct {
	const char *open, *because, *suspects, *of_enoent;
} reasons[] = {
	{"{'attr': {'type': 77, 'config': 1}}", "config is one", "O001 O002", "O002"},
	{"{'attr': {'type': 77, 'config': 2}}", "config is 2", "O001 O003 O004 O002", "O004 O002"},
	{"{'attr': {'type': 77, 'config': 3}}", "config is something else", "O001 O004 O005 O002",
	 "O004 O005 O002"},
};

static void list_suspects(struct oracle *o, int err, char *out, size_t size)
{
	const struct check *found[8];
	size_t n = model_suspects(&o->model, &o->evaluation, err, found, 8);

	out[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? " " : "", found[i]->id);
}

START_TEST(it_tells_causes_apart)
{
	struct oracle *o = calloc(1, sizeof(*o));
	const struct check *one;
	char text[128];

	ck_assert_ptr_nonnull(o);
	o->checks = test_json(own_checks);
	begin(o, machine_json);
	ck_assert_uint_eq(o->model.count, 1);
	ck_assert_uint_eq(o->model.suspect_count, 5);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const struct reason *reason;

		meet(o, AS_ROOT, reasons[i].open);
		reason = check_reason(&o->model, &o->model.checks[0], &o->evaluation);
		sentence_write(&reason->because, &o->model.facts, &o->evaluation, text,
			       sizeof(text));
		ck_assert_str_eq(text, reasons[i].because);
		ck_assert_int_eq(reason->instead.count != 0, i == 0);
		list_suspects(o, 0, text, sizeof(text));
		ck_assert_str_eq(text, reasons[i].suspects);
		list_suspects(o, ENOENT, text, sizeof(text));
		ck_assert_str_eq(text, reasons[i].of_enoent);
		ck_assert_uint_eq(model_suspects(&o->model, &o->evaluation, 0, &one, 1), 1);
		call_free(&o->call);
	}
	end(o);
	free(o);
}
END_TEST

/* Checks that cannot be loaded, and where they are wrong. */
static const struct {
	const char *json, *pointer;
} wrong_checks[] = {
	{"{'O001': {'gate': 'pmu', 'result': 'EINVAL', 'if': {'attr.config': 1}}}", "/checks/O001"},
	{"{'O001': {'gate': 'pmu', 'result': 'EINVAL', 'if': {'attr.config': 1}, 'says': []}}",
	 "/checks/O001/says"},
	{"{'O001': {'gate': 'pmu', 'result': 'EINVAL', 'if': {'attr.config': 1}, 'says': "
	 "[{'instead': 'x'}]}}",
	 "/checks/O001/says/0/because"},
	{"{'O001': {'gate': 'pmu', 'result': 'EINVAL', 'if': {'attr.config': 1}, 'says': "
	 "[{'if': {'attr.confg': 1}, 'because': 'x'}]}}",
	 "/checks/O001/says/0/if/attr.confg"},
	{"{'O001': {'gate': 'pmu', 'result': 'EINVAL', 'if': {'attr.config': 1}, 'says': "
	 "[{'because': 'is $attr.confg'}]}}",
	 "/checks/O001/says/0/because"},
	{"{'O001': {'gate': 'pmu', 'result': 'EINVAL', 'may': {}, 'because': 'x'}}",
	 "/checks/O001/may"},
	{"{'O001': {'gate': 'pm', 'result': 'EINVAL', 'may': {'attr.config': 1}, 'because': 'x'}}",
	 "/checks/O001/gate"},
	{"{'O001': {'gate': 'pmu', 'result': 'EINVALL', 'may': {'attr.config': 1}, 'because': "
	 "'x'}}",
	 "/checks/O001/result"},
};

START_TEST(it_says_what_is_no_check)
{
	struct oracle *o = calloc(1, sizeof(*o));

	ck_assert_ptr_nonnull(o);
	begin(o, machine_json);
	for (size_t i = 0; i < sizeof(wrong_checks) / sizeof(wrong_checks[0]); i++) {
		json_t *json = test_json(wrong_checks[i].json);
		struct model_sources from = {.model = sources_find(&o->sources, "model.json"),
					     .checks = sources_find(&o->sources, "checks.json"),
					     .list = json};
		struct model *model = calloc(1, sizeof(*model));
		struct error e = {0};

		ck_assert_ptr_nonnull(model);
		ck_assert_msg(model_load(model, &from, &o->cases.tables, &o->env, &e), "%s",
			      wrong_checks[i].json);
		ck_assert_msg(!strcmp(e.pointer, wrong_checks[i].pointer), "%s: %s",
			      wrong_checks[i].json, e.pointer);
		model_free(model);
		free(model);
		json_decref(json);
	}
	end(o);
	free(o);
}
END_TEST

/* What a PMU's files say, and what is told of it: the first cause of that errno. */
static const char pmu_json[] =
	"{'kernel': '6.18.44', 'upstream': '6.18.44', 'machine': 'x86_64', 'kernel_bits': 64, "
	"'cpu_limit': 8, 'online': '0-7', 'attr_size': 136, 'uid': 0, 'capabilities': "
	"'0x1ffffffffff', 'identities': {'root': 'unavailable: perfabi is in a user namespace', "
	"'user': 'opens events'}, 'sysctls': {'perf_event_paranoid': -1}, 'pmus': {'software': 1, "
	"'cpu_core': 4, 'cpu_atom': 10, 'power': 11}, 'pmu_files': {'cpu_core': {'max_precise': 2, "
	"'branches': 0, 'cpus': '0-3'}, 'cpu_atom': {'cpus': '4-7'}, 'power': {'cpumask': '0'}}}";

static const struct {
	int err;
	const char *open, *check, *because;
} causes[] = {
	{EOPNOTSUPP, "{'attr': {'type': 'hardware', 'precise_ip': 3}}", "O105",
	 "precise_ip is 3, more than the PMU cpu_core supports: its caps/max_precise is 2"},
	{EOPNOTSUPP,
	 "{'attr': {'type': 'hardware', 'sample_type': ['branch_stack'], 'branch_sample_type': "
	 "['user', 'any']}}",
	 "O183", NULL},
	{ENOENT, "{'attr': {'type': 10, 'config': 60}, 'pid': -1, 'cpu': 0}", "O103",
	 "cpu is 0, and the PMU cpu_atom has only the cpus listed in its file cpus in "
	 "/sys/bus/event_source/devices"},
	{ENOENT, "{'attr': {'type': 'hw_cache', 'config': 512}}", "O113",
	 "this processor has no cache event l1d prefetch access"},
	{EINVAL, "{'attr': {'type': 11, 'config': 1}}", "O127",
	 "the PMU power counts for a whole package or machine, and pid is 0: it cannot count a "
	 "task"},
	{EINVAL, "{'attr': {'type': 'hardware', 'config': 60}}", "O110", NULL},
	/* What the predicates themselves say, in the names of C. */
	{EINVAL, "{'attr': {'type': 1, 'sample_type': '1<<40'}}", "O013",
	 "sample_type has bit 40, which has no meaning up to Linux $newest. This kernel does not "
	 "know that bit"},
	{E2BIG, "{'attr': {'type': 1, 'size': 144, 'config4': 1}}", "O006",
	 "the program sets config4, which came with Linux 6.19. This kernel's struct "
	 "perf_event_attr ends at byte 136, and attr.size says so now"},
	{EINVAL, "{'attr': {'type': 1}, 'flags': 64}", "O001",
	 "flags has bit 6, which has no meaning up to Linux $newest"},
	{EACCES, "{'attr': {'type': 1, 'namespaces': 1}}", "O034",
	 "namespaces is set. It needs CAP_PERFMON at every perf_event_paranoid"},
};

/* Numbers of what was counted, and of what follows, are read whole. */
START_TEST(facts_of_members_are_whole)
{
	static const struct counted counted = {
		.value = 256, .running = UINT64_C(1) << 40, .samples = 512, .has_samples = true};
	static const struct followed then = {.length = 1 << 20, .is_private = true};
	static const struct {
		const char *name;
		uint64_t value;
	} members[] = {{"counted.value", 256},   {"counted.running", UINT64_C(1) << 40},
		       {"counted.samples", 512}, {"counted.is_error", 0},
		       {"counted.throttled", 0}, {"then.length", 1 << 20},
		       {"then.is_private", 1},   {"then.offset", 0}};
	static const struct objects objects = {.counted = &counted, .then = &then};
	struct oracle *o = calloc(1, sizeof(*o));

	ck_assert_ptr_nonnull(o);
	begin(o, pmu_json);
	meet(o, AS_ROOT, "{'attr': {}}");
	evaluation_begin(&o->evaluation, &o->model.machine, &o->call, &o->caller, &objects);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		int index = facts_find(&o->model.facts, members[i].name, NULL);
		uint64_t value;

		ck_assert_int_ge(index, 0);
		ck_assert_msg(fact_get(&o->model.facts, (size_t)index, &o->evaluation, &value),
			      "%s", members[i].name);
		ck_assert_msg(value == members[i].value, "%s: %llu", members[i].name,
			      (unsigned long long)value);
	}
	call_free(&o->call);
	end(o);
	free(o);
}
END_TEST

START_TEST(it_names_the_cause)
{
	struct oracle *o = calloc(1, sizeof(*o));

	ck_assert_ptr_nonnull(o);
	begin(o, pmu_json);
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		const struct check *check;
		const struct reason *reason;
		const char *because = causes[i].because;
		const char *newest = because ? strstr(because, "$newest") : NULL;
		char text[512], expected[512];

		meet(o, AS_ROOT, causes[i].open);
		ck_assert_msg(model_suspects(&o->model, &o->evaluation, causes[i].err, &check, 1) ==
				      1,
			      "%s", causes[i].open);
		ck_assert_msg(!strcmp(check->id, causes[i].check), "%s: %s", causes[i].open,
			      check->id);
		reason = check_reason(&o->model, check, &o->evaluation);
		sentence_write(&reason->because, &o->model.facts, &o->evaluation, text,
			       sizeof(text));
		if (newest) {
			snprintf(expected, sizeof(expected), "%.*s%s%s", (int)(newest - because),
				 because, o->model.abi->newest, newest + strlen("$newest"));
			because = expected;
		}
		if (because)
			ck_assert_str_eq(text, because);
		call_free(&o->call);
	}
	end(o);
	free(o);
}
END_TEST

Suite *suite_model(void)
{
	Suite *suite = suite_create("model");
	TCase *test = tcase_create("model");

	tcase_add_test(test, it_says_what_the_kernel_will);
	tcase_add_test(test, it_knows_a_kernel_to_come);
	tcase_add_test(test, it_knows_what_it_does_not_know);
	tcase_add_test(test, it_says_what_is_no_predicate);
	tcase_add_test(test, it_tells_causes_apart);
	tcase_add_test(test, it_says_what_is_no_check);
	tcase_add_test(test, it_names_the_cause);
	tcase_add_test(test, facts_of_members_are_whole);
	suite_add_tcase(suite, test);
	return suite;
}
