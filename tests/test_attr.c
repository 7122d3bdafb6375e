/* SPDX-License-Identifier: MIT */
/*
 * attr <-> bytes <-> JSON, in both byte orders; the bytes are written out here by hand.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/attr.h"
#include "call/call.h"
#include "unit.h"

/* perf_copy_attr() takes an attr of a page at most. */
enum { ROOM = 4096 };

static int lay_out(const struct abi *abi, const char *text, unsigned char *bytes, struct error *e)
{
	json_t *json = test_json(text);
	struct source source = {.name = "t", .root = "", .text = "{}", .length = 2};
	struct where root = where_root(&source);
	int err;

	memset(bytes, 0, abi->attr_size);
	err = attr_from_json(abi, abi_arch(abi, "x86_64"), json, NULL, &root, bytes, e);
	json_decref(json);
	return err;
}

START_TEST(fields_land_at_their_offsets)
{
	struct abi *abi = test_abi();
	unsigned char bytes[ROOM];
	struct error e = {0};

	ck_assert_int_eq(host_order(), LITTLE);
	ck_assert_int_eq(
		lay_out(abi,
			"{'type':'software','config':'dummy','size':64,'disabled':1,"
			"'precise_ip':2,'defer_output':1,'sample_type':['ip','weight_struct'],"
			"'clockid':-1,'sample_max_stack':513,'aux_resume':1,'config4':'1<<63'}",
			bytes, &e),
		0);
	ck_assert_uint_eq(bytes[0], 1);
	ck_assert_uint_eq(bytes[4], 64);
	ck_assert_uint_eq(bytes[8], 9);
	ck_assert_uint_eq(bytes[24], 1);
	ck_assert_uint_eq(bytes[27], 1);
	ck_assert_uint_eq(bytes[40], 1);
	ck_assert_uint_eq(bytes[42], 1);    /* precise_ip 2: bit 16 */
	ck_assert_uint_eq(bytes[44], 0x80); /* bit 39 */
	ck_assert_uint_eq(bytes[92] & bytes[93] & bytes[94] & bytes[95], 0xff);
	ck_assert_uint_eq(bytes[108], 1);
	ck_assert_uint_eq(bytes[109], 2);
	ck_assert_uint_eq(bytes[116], 4);
	ck_assert_uint_eq(bytes[143], 0x80);
	abi_free(abi);
}
END_TEST

START_TEST(big_endian_bits_start_at_the_top)
{
	struct abi *abi = test_abi();
	unsigned char bytes[ROOM] = {0};

	attr_set(abi_field(abi, "disabled"), bytes, BIG, 1);
	ck_assert_uint_eq(bytes[40], 0x80);
	attr_set(abi_field(abi, "precise_ip"), bytes, BIG, 3);
	ck_assert_uint_eq(bytes[41], 0x01);
	ck_assert_uint_eq(bytes[42], 0x80);
	attr_set(abi_field(abi, "type"), bytes, BIG, 2);
	ck_assert_uint_eq(bytes[3], 2);
	ck_assert_uint_eq(attr_get(abi_field(abi, "precise_ip"), bytes, BIG), 3);
	abi_free(abi);
}
END_TEST

/* Each field alone, set to all ones, comes back as it was and touches no other. */
START_TEST(every_field_comes_back)
{
	struct abi *abi = test_abi();

	for (int order = LITTLE; order <= BIG; order++) {
		for (size_t i = 0; i < abi->field_count; i++) {
			const struct abi_field *f = &abi->fields[i];
			unsigned width = f->width ? f->width : f->size * 8, ones = 0;
			unsigned char bytes[ROOM] = {0};

			attr_set(f, bytes, (enum byte_order)order, UINT64_MAX);
			for (size_t b = 0; b < sizeof(bytes) * 8; b++)
				ones += bytes[b / 8] >> b % 8 & 1;
			ck_assert_uint_eq(ones, width);
			ck_assert_uint_eq(attr_get(f, bytes, (enum byte_order)order),
					  f->is_signed ? UINT64_MAX : UINT64_MAX >> (64 - width));
		}
	}
	abi_free(abi);
}
END_TEST

START_TEST(json_comes_back)
{
	static const char *const texts[] = {
		"{'type':'software','size':144,'config':'dummy','sample_period':4000,'sample_type':"
		"['ip','tid','callchain'],'read_format':['group','lost'],'disabled':1,'clockid':'"
		"tai'}",
		"{'type':'breakpoint','size':112,'bp_type':['r','w'],'bp_addr':'0xffff800012345678'"
		","
		"'bp_len':8,'exclude_kernel':1}",
		"{'type':'hardware','size':144,'config':'instructions','branch_sample_type':['any',"
		"'counters'],'sample_regs_user':['ax','r15'],'aux_pause':1}",
		"{'type':'raw','size':144,'config':'0xffffffffffffffff','sample_type':['ip',"
		"'0x8000000000000000'],'clockid':-1}",
		"{'type':'raw','size':144,'sample_regs_user':['ax','xmm0','0x1000000']}",
		"{'type':'raw','size':176,'sample_regs_user':['ax','r16','r24','ssp',"
		"'0x8000000000000000'],'sample_simd_regs_enabled':1,'sample_simd_vec_reg_qwords':8,"
		"'sample_simd_pred_reg_intr':255,'sample_simd_vec_reg_user':'0xffffffff'}",
	};
	struct abi *abi = test_abi();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		unsigned char bytes[ROOM];
		struct error e = {0};
		json_t *wanted = test_json(texts[i]), *got;

		ck_assert_msg(!lay_out(abi, texts[i], bytes, &e), "%s: %s", e.pointer, e.expected);
		got = attr_to_json(abi, abi_arch(abi, "x86_64"), bytes, abi->attr_size, LITTLE);
		if (!strstr(texts[i], "clockid"))
			json_object_del(got, "clockid"); /* 0 is a clock */
		ck_assert_msg(json_equal(wanted, got), "%s", json_dumps(got, 0));
		json_decref(wanted);
		json_decref(got);
	}
	abi_free(abi);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
	static const char *const texts[] = {
		"{'disabled':2}",
		"{'sample_max_stack':65536}",
		"{'type':'0x100000000'}",
		"{'disabled':-1}",
		"{'clockid':'1<<32'}",
		"{'sample_freq':1,'sample_period':1}",
		"{'aux_action':1,'aux_pause':1}",
		"{'no_such_field':1}",
		"{'sample_type':['no']}",
		"{'config':'dummy'}",
		"{'sample_period':1.5}",
		"[]",
	};
	struct abi *abi = test_abi();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		unsigned char bytes[ROOM];
		struct error e = {0};

		ck_assert_msg(lay_out(abi, texts[i], bytes, &e) < 0, "%s", texts[i]);
		ck_assert(error_is_set(&e));
	}
	abi_free(abi);
}
END_TEST

START_TEST(cache_events_are_three_names)
{
	struct abi *abi = test_abi();
	unsigned char bytes[ROOM];
	struct error e = {0};

	ck_assert_int_eq(lay_out(abi, "{'type':'hw_cache','config':'dtlb:write:miss'}", bytes, &e),
			 0);
	ck_assert_uint_eq(attr_get(abi_field(abi, "config"), bytes, LITTLE), 3 | 1 << 8 | 1 << 16);
	ck_assert_int_lt(lay_out(abi, "{'type':'hw_cache','config':'dtlb:miss'}", bytes, &e), 0);
	abi_free(abi);
}
END_TEST

/* A short buffer is decoded as far as it goes, and bytes past the newest size are kept. */
START_TEST(any_length_is_decoded)
{
	struct abi *abi = test_abi();
	unsigned char *bytes = calloc(1, 200);
	json_t *json;

	ck_assert_ptr_nonnull(bytes);
	bytes[199] = 7;
	for (size_t length = 64; length <= 200; length++) {
		unsigned char *exact = malloc(length);

		ck_assert_ptr_nonnull(exact);
		memcpy(exact, bytes, length);
		json = attr_to_json(abi, NULL, exact, length, BIG);
		ck_assert_ptr_nonnull(json);
		ck_assert_int_eq(json_object_get(json, "bytes") != NULL, length == 200);
		json_decref(json);
		free(exact);
	}
	free(bytes);
	abi_free(abi);
}
END_TEST

/* Of two bytes at one offset the later is what was passed; the kernel has changed neither. */
START_TEST(bytes_may_be_laid_over_twice)
{
	struct abi *abi = test_abi();
	struct environment env = {.abi = abi, .page_size = (unsigned)sysconf(_SC_PAGESIZE)};
	struct call call = {.image = calloc(1, abi->attr_size), .cpu = -1, .group_fd = -1};
	struct answer answer;

	call.pokes[0] = (struct poke){abi->attr_size + 100, 0};
	call.pokes[1] = (struct poke){abi->attr_size + 50, 1};
	call.pokes[2] = (struct poke){abi->attr_size + 50, 2};
	call.pokes[3] = (struct poke){abi->attr_size + 100, 3};
	call.poke_count = 4;
	call.flags = UINT64_C(1) << 31; /* refused before anything is looked at */
	ck_assert_int_eq(call_issue(&call, &env, &answer), 0);
	ck_assert_int_eq(answer.fd, -1);
	ck_assert(!answer.other_written && !answer.size_written);
	call_free(&call);
	abi_free(abi);
}
END_TEST

Suite *suite_attr(void)
{
	Suite *s = suite_create("attr");
	TCase *c = tcase_create("attr");

	tcase_add_test(c, fields_land_at_their_offsets);
	tcase_add_test(c, big_endian_bits_start_at_the_top);
	tcase_add_test(c, every_field_comes_back);
	tcase_add_test(c, json_comes_back);
	tcase_add_test(c, what_does_not_fit_is_refused);
	tcase_add_test(c, cache_events_are_three_names);
	tcase_add_test(c, any_length_is_decoded);
	tcase_add_test(c, bytes_may_be_laid_over_twice);
	suite_add_tcase(s, c);
	return s;
}
