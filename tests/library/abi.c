/* SPDX-License-Identifier: MIT */
/*
 * What perfabi.h promises of its structs: where each member is, on machines of 64 bits and of 32.
 * It is compiled and not run, and includes nothing but that header, so that it compiles for either.
 * A line here is changed only together with the soname.
 */
#include "perfabi.h"

#ifdef __cplusplus
#define AT static_assert
#else
#define AT _Static_assert
#endif
/* The offset on a machine of 64 bits, on i386, and on others of 32, where a uint64_t has an address
 * that is a multiple of 8. */
#if __SIZEOF_POINTER__ == 8
#define ONE_OF(wide, i386, narrow) (wide)
#elif defined(__i386__)
#define ONE_OF(wide, i386, narrow) (i386)
#else
#define ONE_OF(wide, i386, narrow) (narrow)
#endif
#define IS(type, member, wide, i386, narrow)                                                       \
	AT(offsetof(struct type, member) == ONE_OF(wide, i386, narrow), #type "." #member)
#define HAS(type, wide, i386, narrow) AT(sizeof(struct type) == ONE_OF(wide, i386, narrow), #type)

IS(perfabi_options, format, 0, 0, 0);
IS(perfabi_options, order, 4, 4, 4);
IS(perfabi_options, machine, 8, 8, 8);
IS(perfabi_options, attr, 16, 12, 12);
IS(perfabi_options, attr_name, 24, 16, 16);
IS(perfabi_options, types, 32, 20, 20);
IS(perfabi_options, type_count, 40, 24, 24);
IS(perfabi_options, fields, 48, 28, 28);
IS(perfabi_options, field_count, 56, 32, 32);
IS(perfabi_options, header_only, 64, 36, 36);
IS(perfabi_options, no_summary, 65, 37, 37);
IS(perfabi_options, check, 66, 38, 38);
IS(perfabi_options, bytes, 67, 39, 39);
IS(perfabi_options, pieces, 68, 40, 40);
IS(perfabi_options, sort, 69, 41, 41);
IS(perfabi_options, flat, 70, 42, 42);
IS(perfabi_options, join, 71, 43, 43);
IS(perfabi_options, jobs, 72, 44, 44);
IS(perfabi_options, shard, 76, 48, 48);
IS(perfabi_options, shards, 80, 52, 52);
IS(perfabi_options, tracefs, 88, 56, 56);
IS(perfabi_options, aux, 96, 60, 60);
IS(perfabi_options, output, 104, 64, 64);
IS(perfabi_options, value_names, 108, 68, 68);
IS(perfabi_options, event, 112, 72, 72);
IS(perfabi_options, symbol, 120, 76, 76);
IS(perfabi_options, symbol_context, 128, 80, 80);
IS(perfabi_options, reserved, 136, 84, 88);
HAS(perfabi_options, 200, 148, 152);

IS(perfabi_result, errors, 0, 0, 0);
IS(perfabi_result, warnings, 8, 8, 8);
IS(perfabi_result, notes, 16, 16, 16);
IS(perfabi_result, records, 24, 24, 24);
IS(perfabi_result, lost, 32, 32, 32);
IS(perfabi_result, option, 40, 40, 40);
IS(perfabi_result, reserved, 48, 44, 48);
IS(perfabi_result, message, 112, 108, 112);
HAS(perfabi_result, 1136, 1132, 1136);

IS(perfabi_field, number, 0, 0, 0);
IS(perfabi_field, offset, 4, 4, 4);
IS(perfabi_field, size, 8, 8, 8);
IS(perfabi_field, kind, 12, 12, 12);
IS(perfabi_field, width, 13, 13, 13);
IS(perfabi_field, element, 14, 14, 14);
IS(perfabi_field, own, 16, 16, 16);
IS(perfabi_field, value, 24, 24, 24);
HAS(perfabi_field, 32, 32, 32);

/* Which may grow. */
IS(perfabi_record, what, 0, 0, 0);
IS(perfabi_record, order, 4, 4, 4);
IS(perfabi_record, type, 8, 8, 8);
IS(perfabi_record, misc, 12, 12, 12);
IS(perfabi_record, size, 14, 14, 14);
IS(perfabi_record, bytes, 16, 16, 16);
IS(perfabi_record, name, 24, 20, 20);
IS(perfabi_record, event, 32, 24, 24);
IS(perfabi_record, grade, 36, 28, 28);
IS(perfabi_record, offset, 40, 32, 32);
IS(perfabi_record, within, 48, 40, 40);
IS(perfabi_record, fields, 56, 48, 48);
IS(perfabi_record, field_count, 64, 52, 52);
IS(perfabi_record, message, 72, 56, 56);
IS(perfabi_record, skipped, 80, 60, 64);
IS(perfabi_record, own, 88, 68, 72);
IS(perfabi_record, part, 96, 72, 76);

/* The numbers that programs have been compiled with. */
AT(PERFABI_AUTO == 0 && PERFABI_PERF_DATA == 1 && PERFABI_RING == 2 && PERFABI_RECORDS == 3,
   "format");
AT(PERFABI_HOST == 0 && PERFABI_LITTLE == 1 && PERFABI_BIG == 2, "order");
AT(PERFABI_UNSIGNED == 1 && PERFABI_HEX == 2 && PERFABI_SIGNED == 3 && PERFABI_DOUBLE == 4, "kind");
AT(PERFABI_BITS == 5 && PERFABI_STRING == 6 && PERFABI_BYTES == 7 && PERFABI_OPAQUE == 8, "kind");
AT(PERFABI_ATTR == 9 && PERFABI_ARRAY == 10 && PERFABI_LIST == 11 && PERFABI_INDEX == 12, "kind");
AT(PERFABI_RECORD == 0 && PERFABI_DIAGNOSTIC == 1, "what");
AT(PERFABI_ERROR == 0 && PERFABI_WARNING == 1 && PERFABI_NOTE == 2, "grade");
