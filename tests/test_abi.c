/* SPDX-License-Identifier: MIT */
/*
 * The ABI tables: complete, consistent, and found by name.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "machine/version.h"
#include "unit.h"

START_TEST(sizes_ascend_to_the_newest)
{
	struct abi *abi = test_abi();
	unsigned end = 0;

	ck_assert_uint_ge(abi->size_count, 10);
	ck_assert_uint_eq(abi->sizes[0].size, 64);
	ck_assert_uint_eq(abi->sizes[9].size, 144);
	ck_assert_str_eq(abi->sizes[9].name, "VER9");
	ck_assert_uint_eq(abi->sizes[10].size, 176);
	for (size_t i = 0; i < abi->size_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "VER%zu", i);
		ck_assert_str_eq(abi->sizes[i].name, name);
		ck_assert(!i || abi->sizes[i].size > abi->sizes[i - 1].size);
	}
	ck_assert_uint_eq(abi->attr_size, abi->sizes[abi->size_count - 1].size);
	for (size_t i = 0; i < abi->field_count; i++)
		if (abi->fields[i].offset + abi->fields[i].size > end)
			end = abi->fields[i].offset + abi->fields[i].size;
	ck_assert_uint_eq(end, abi->attr_size);
	abi_free(abi);
}
END_TEST

/* Every bit of the struct belongs to one field: no gap, no overlap, but for unions. */
START_TEST(fields_cover_every_bit_once)
{
	struct abi *abi = test_abi();
	unsigned char *seen = calloc(abi->attr_size * 8, 1);

	ck_assert_ptr_nonnull(seen);
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *f = &abi->fields[i];
		unsigned width = f->width ? f->width : f->size * 8;

		if (f->alias_of || f->of_bits)
			continue;
		for (unsigned bit = f->first; bit < f->first + width; bit++) {
			ck_assert_msg(!seen[f->offset * 8 + bit], "%s overlaps", f->name);
			seen[f->offset * 8 + bit] = 1;
		}
	}
	for (unsigned bit = 0; bit < abi->attr_size * 8; bit++)
		ck_assert_msg(seen[bit], "no field has bit %u of byte %u", bit % 8, bit / 8);
	free(seen);
	abi_free(abi);
}
END_TEST

START_TEST(names_are_found_in_any_spelling)
{
	static const char *const spellings[] = {"ip", "IP", "PERF_SAMPLE_IP", "perf_sample_ip"};
	struct abi *abi = test_abi();
	const struct abi_family *samples = abi_family(abi, "sample_type");
	const struct abi_family *software = abi_family(abi, "sw_id");

	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(abi_value(samples, spellings[i], NULL)->value, 1);
	ck_assert_uint_eq(abi_value(software, "cpu-clock", NULL)->value, 0);
	ck_assert_uint_eq(abi_value(software, "PERF_COUNT_SW_DUMMY", NULL)->value, 9);
	ck_assert_ptr_null(abi_value(samples, "ipp", NULL));
	abi_free(abi);
}
END_TEST

START_TEST(a_misspelt_name_has_a_nearest)
{
	struct abi *abi = test_abi();
	struct nearest near = nearest_to("calchain");

	ck_assert_ptr_null(abi_value(abi_family(abi, "sample_type"), "calchain", &near));
	ck_assert_str_eq(near.best, "callchain");
	near = nearest_to("something-else-altogether");
	abi_value(abi_family(abi, "sample_type"), near.name, &near);
	ck_assert_ptr_null(near.best);
	abi_free(abi);
}
END_TEST

START_TEST(versions_compare_by_number)
{
	ck_assert_int_lt(abi_version_compare("5.9", "5.13"), 0);
	ck_assert_int_gt(abi_version_compare("6.18.44-fc-v595", "6.18.2"), 0);
	ck_assert_int_eq(abi_version_compare("6.1", "6.1.0"), 0);
	ck_assert_int_gt(abi_version_compare("6.1.1", "6.1"), 0);
	ck_assert_int_lt(abi_version_compare("2.6.31", "3.0"), 0);
}
END_TEST

START_TEST(a_mend_is_in_its_branches_and_in_what_is_newer_than_its_release)
{
	static const char *const in[] = {"5.10.231", "6.12.2", "6.13", NULL};
	static const struct abi_mend mend = {.name = "m", .what = "w", .in = in};
	static const struct {
		const char *version;
		bool has;
	} rows[] = {{"5.10.230", false}, {"5.10.231", true}, {"5.10.300", true},
		    {"5.11.400", false}, {"5.1.999", false}, {"6.1.999", false},
		    {"6.12", false},     {"6.12.1", false},  {"6.12.2", true},
		    {"6.12.117", true},  {"6.13", true},     {"6.13.0", true},
		    {"6.120.1", true},   {"7.3.4", true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(abi_mend_is_in(&mend, rows[i].version) == rows[i].has, "%s",
			      rows[i].version);
}
END_TEST

START_TEST(every_field_names_a_version_and_every_register_an_architecture)
{
	struct abi *abi = test_abi();

	for (size_t i = 0; i < abi->field_count; i++)
		ck_assert_int_ge(abi_version_compare(abi->fields[i].since, "2.6.31"), 0);
	ck_assert_uint_ge(abi->arch_count, 10);
	ck_assert_str_eq(abi_arch(abi, "x86_64")->name, "x86");
	ck_assert_uint_eq(abi_arch(abi, "x86_64")->reserved[1], 0xff00f000);
	ck_assert_ptr_null(abi_arch(abi, "vax"));
	abi_free(abi);
}
END_TEST

static struct abi *load_text(const char *text, struct error *e)
{
	struct source source = {
		.name = "abi/x.json", .root = "t", .text = text, .length = strlen(text)};
	struct sources sources = {.list = &source, .count = 1};

	return abi_load(&sources, e);
}

START_TEST(broken_tables_are_refused)
{
	static const char *const texts[] = {
		"{",
		"{}",
		"{\"constants\": {\"a\": {\"prefix\": \"A_\", \"kind\": \"mask\"}}}",
		"{\"constants\": {\"a\": {\"prefix\": \"A_\", \"kind\": \"mask\", \"values\": "
		"[{\"name\": \"x\", \"bit\": 64, \"since\": \"1.0\"}]}}}",
		"{\"newest\": \"7.3\", \"attr\": {\"sizes\": [{\"name\": \"VER0\", \"size\": 64, "
		"\"since\": \"2.6.31\"}], \"fields\": [{\"name\": \"type\", \"offset\": 64, "
		"\"type\": \"u32\", \"since\": \"2.6.31\"}]}}",
		"{\"newest\": \"7.3\", \"attr\": {\"sizes\": [{\"name\": \"VER0\", \"size\": 64, "
		"\"since\": \"2.6.31\"}], \"fields\": [{\"name\": \"type\", \"offset\": 0, "
		"\"type\": \"u7\", \"since\": \"2.6.31\"}]}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error e = {0};

		ck_assert_ptr_null(load_text(texts[i], &e));
		ck_assert(error_is_set(&e));
	}
}
END_TEST

/* What else such an ABI lacks comes after its fields were looked at. */
#define NOTHING_ELSE "none", "constants called \"type\" in a file abi/*.json"

/* Two fields of attr, or two bit fields of a word, at one place; and what is said of it. */
static const struct {
	const char *fields, *got, *expected;
} overlaps[] = {
	{"{'name': 'b', 'offset': 8, 'type': 'u64', 'since': '5.0'}", "\"b\"",
	 "bits of attr that \"config\" does not have"},
	{"{'name': 'b', 'offset': 12, 'type': 'u16', 'since': '5.0'}", "\"b\"",
	 "bits of attr that \"config\" does not have"},
	{"{'name': 'b', 'offset': 40, 'type': 'u64', 'bits': [0, 2], 'since': '5.0'},"
	 "{'name': 'c', 'offset': 40, 'type': 'u64', 'bits': [1, 1], 'since': '5.0'}",
	 "\"c\"", "bits of attr that \"b\" does not have"},
	{"{'name': 'b', 'offset': 40, 'type': 'u64', 'since': '5.0'},"
	 "{'name': 'c', 'offset': 40, 'type': 'u64', 'bits': [1, 1], 'since': '5.0'}",
	 "\"c\"", "bits of attr that \"b\" does not have"},
	{"{'name': 'b', 'offset': 40, 'type': 'u64', 'since': '5.0', 'of_bits': true},"
	 "{'name': 'c', 'offset': 40, 'type': 'u64', 'bits': [1, 1], 'since': '5.0'}",
	 NOTHING_ELSE},
	{"{'name': 'b', 'offset': 40, 'type': 'u64', 'bits': [0, 1], 'since': '5.0'},"
	 "{'name': 'c', 'offset': 40, 'type': 'u64', 'bits': [1, 1], 'since': '5.0'}",
	 NOTHING_ELSE},
};

START_TEST(fields_that_overlap_are_refused)
{
	static const char begin[] =
		"{'newest': '7.3', 'attr': {'sizes': [{'name': 'VER0', 'size': 64, 'since': "
		"'2.6.31'}], 'fields': ["
		"{'name': 'type', 'offset': 0, 'type': 'u32', 'since': '2.6.31'},"
		"{'name': 'size', 'offset': 4, 'type': 'u32', 'since': '2.6.31'},"
		"{'name': 'config', 'offset': 8, 'type': 'u64', 'since': '2.6.31'},"
		"{'name': 'sample_type', 'offset': 24, 'type': 'u64', 'since': '2.6.31'},"
		"{'name': 'read_format', 'offset': 32, 'type': 'u64', 'since': '2.6.31'},";
	char text[2048];
	struct error e = {0};

	snprintf(text, sizeof(text), "%s%s]}}", begin, overlaps[_i].fields);
	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	ck_assert_ptr_null(load_text(text, &e));
	ck_assert_str_eq(e.got, overlaps[_i].got);
	ck_assert_str_eq(e.expected, overlaps[_i].expected);
}
END_TEST

START_TEST(bit_fields_of_a_word_that_overlap_are_refused)
{
	static const char before[] =
		"{\"constants\": {\"w\": {\"prefix\": \"\", \"kind\": \"layout\", \"values\": ["
		"{\"name\": \"a\", \"bits\": [0, 4], \"since\": \"1.0\"},"
		"{\"name\": \"b\", \"bits\": [3, 4], \"since\": \"1.0\"}]}}}";
	struct source word = {
		.name = "abi/x.json", .root = "t", .text = before, .length = strlen(before)};
	struct sources all = abi_builtin();
	struct source *list = calloc(all.count + 1, sizeof(*list));
	struct error e = {0};

	ck_assert_ptr_nonnull(list);
	memcpy(list, all.list, all.count * sizeof(*list));
	list[all.count] = word;
	ck_assert_ptr_null(abi_load(&(struct sources){.list = list, .count = all.count + 1}, &e));
	ck_assert_str_eq(e.got, "\"b\"");
	ck_assert_str_eq(e.expected, "bits that \"a\" does not have");
	ck_assert_str_eq(e.pointer, "/constants/w/values/1/bits");
	free(list);
}
END_TEST

/* A layout, or constants, beside those that there are; what is said of it, and where. */
static const struct {
	const char *file, *got, *expected, *pointer;
} doubles[] = {
	{"{'layouts': {'l': [{'name': 'a', 'type': 'u32'}, {'name': 'a', 'type': 'u64'}]}}",
	 "\"a\"", "each name once in an object", "/layouts/l/1"},
	{"{'layouts': {'l': [{'use': 'sample_id'}, {'name': 'sample_id', 'type': 'u32'}]}}",
	 "\"sample_id\"", "each name once in an object", "/layouts/l/1"},
	{"{'layouts': {'l': [{'name': 'sample_id', 'type': 'u32'}, {'use': 'sample_id'}]}}",
	 "\"sample_id\"", "each name once in an object", "/layouts/l/1"},
	{"{'layouts': {'l': [{'name': 'o', 'fields': [{'name': 'a', 'type': 'u32'},"
	 "{'when': {'attr': 'freq'}, 'then': [{'name': 'a', 'type': 'u32'}]}]}]}}",
	 "\"a\"", "each name once in an object", "/layouts/l/0/fields/1"},
	{"{'layouts': {'l': [{'type': 'u64', 'bitfield': 'data_src'},"
	 "{'name': 'mem_op', 'type': 'u32'}]}}",
	 "\"mem_op\"", "each name once in an object", "/layouts/l/1"},
	{"{'layouts': {'l': [{'when': {'attr': 'freq'}, 'then': [{'name': 'a', 'type': 'u32'}],"
	 "'else': [{'name': 'a', 'type': 'u64'}]}, {'name': 'o', 'fields':"
	 "[{'name': 'a', 'type': 'u32'}]}, {'when': {'attr': 'mmap'}, 'then': "
	 "[{'name': 'a', 'type': 'u64'}]}]}}",
	 NULL, NULL, NULL},
	{"{'constants': {'f': {'kind': 'enum', 'prefix': '', 'values': ["
	 "{'name': 'a', 'value': 3, 'since': '1.0'}, {'name': 'b', 'value': '0x3', "
	 "'since': '1.0'}]}}}",
	 "\"b\"", "a value that \"a\" does not have", "/constants/f/values/1"},
	{"{'constants': {'f': {'kind': 'mask', 'prefix': '', 'values': ["
	 "{'name': 'a', 'bit': 3, 'since': '1.0'}, {'name': 'b', 'bit': 3, 'since': '1.0'}]}}}",
	 NULL, NULL, NULL},
};

START_TEST(what_is_there_twice_is_refused)
{
	char text[1024];
	struct source one = {.name = "abi/x.json", .root = "t", .text = text};
	struct sources all = abi_builtin();
	struct source *list = calloc(all.count + 1, sizeof(*list));
	struct error e = {0};
	struct abi *abi;

	ck_assert_ptr_nonnull(list);
	snprintf(text, sizeof(text), "%s", doubles[_i].file);
	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	one.length = strlen(text);
	memcpy(list, all.list, all.count * sizeof(*list));
	list[all.count] = one;
	abi = abi_load(&(struct sources){.list = list, .count = all.count + 1}, &e);
	if (doubles[_i].got) {
		ck_assert_ptr_null(abi);
		ck_assert_str_eq(e.got, doubles[_i].got);
		ck_assert_str_eq(e.expected, doubles[_i].expected);
		ck_assert_str_eq(e.pointer, doubles[_i].pointer);
	} else {
		ck_assert_msg(abi != NULL, "%s: %s, not %s", e.pointer, e.got, e.expected);
	}
	abi_free(abi);
	free(list);
}
END_TEST

/* What is looked for among the members that are told. */
struct search {
	const char *name;
	unsigned values; /* bits: of each kind that was told */
	const struct layout_node *node;
};

static void look(void *context, const struct layout_member *member)
{
	struct search *search = context;

	if (strcmp(member->name, search->name) != 0)
		return;
	search->values |= 1U << member->value;
	search->node = member->node;
}

static const struct {
	const char *record, *member, *inner; /* inner: of that member; may be NULL */
	unsigned values;
} members[] = {
	{"mmap2", "filename", NULL, 1U << VALUE_TEXT},
	{"mmap2", "prot", NULL, 1U << VALUE_NAMES},
	{"mmap2", "ino", NULL, 1U << VALUE_NUMBER},
	{"mmap2", "build_id", NULL, 1U << VALUE_TEXT},
	{"mmap2", "sample_id", "identifier", 1U << VALUE_NUMBER},
	{"ksymbol", "ksym_type", NULL, 1U << VALUE_TEXT},
	{"sample", "ip", NULL, 1U << VALUE_NUMBER},
	{"sample", "callchain", NULL, 1U << VALUE_LIST},
	{"sample", "weight", NULL, 1U << VALUE_NUMBER | 1U << VALUE_OBJECT},
	{"sample", "data_src", "mem_op", 1U << VALUE_NAMES},
	{"sample", "read", "values", 1U << VALUE_LIST},
	{"sample", "branch_stack", "entries", 1U << VALUE_LIST},
	{"sample", "regs_user", "regs", 1U << VALUE_OBJECT},
	{"namespaces", "namespaces", "name", 1U << VALUE_TEXT},
	{"mmap2", "no_such", NULL, 0},
};

START_TEST(a_layout_tells_its_members_and_their_kinds)
{
	struct abi *abi = test_abi();
	const struct abi_value *record =
		abi_value(abi_family(abi, "record"), members[_i].record, NULL);
	struct search search = {.name = members[_i].member};

	layout_members(&record->layout->list, look, &search);
	if (members[_i].inner) {
		struct layout_node unnamed = *search.node;

		unnamed.name = NULL;
		search = (struct search){.name = members[_i].inner};
		layout_members(&(struct layout_list){.nodes = &unnamed, .count = 1}, look, &search);
	}
	ck_assert_uint_eq(search.values, members[_i].values);
	abi_free(abi);
}
END_TEST

Suite *suite_abi(void)
{
	Suite *s = suite_create("abi");
	TCase *c = tcase_create("abi");

	tcase_add_test(c, sizes_ascend_to_the_newest);
	tcase_add_test(c, fields_cover_every_bit_once);
	tcase_add_test(c, names_are_found_in_any_spelling);
	tcase_add_test(c, a_misspelt_name_has_a_nearest);
	tcase_add_test(c, versions_compare_by_number);
	tcase_add_test(c, a_mend_is_in_its_branches_and_in_what_is_newer_than_its_release);
	tcase_add_test(c, every_field_names_a_version_and_every_register_an_architecture);
	tcase_add_test(c, broken_tables_are_refused);
	tcase_add_loop_test(c, fields_that_overlap_are_refused, 0,
			    sizeof(overlaps) / sizeof(overlaps[0]));
	tcase_add_loop_test(c, a_layout_tells_its_members_and_their_kinds, 0,
			    sizeof(members) / sizeof(members[0]));
	tcase_add_loop_test(c, what_is_there_twice_is_refused, 0,
			    sizeof(doubles) / sizeof(doubles[0]));
	tcase_add_test(c, bit_fields_of_a_word_that_overlap_are_refused);
	suite_add_tcase(s, c);
	return s;
}
