/* SPDX-License-Identifier: MIT */
/*
 * The decoder as a function: attrs and bytes in memory -> JSON values, in this machine's byte
 * order. A number over INT64_MAX, which no JSON integer of jansson's holds, is "0x..." text.
 */
#ifndef PERFABI_VALUES_H
#define PERFABI_VALUES_H

#include "abi/attr.h"
#include "include/perfabi.h"

/* What bytes are decoded by. All of it is the caller's. */
struct values_by {
	const struct abi *abi;
	const struct abi_arch *arch;   /* for the names of registers; may be NULL */
	const struct attr_list *attrs; /* one at least; the first where records do not say */
	bool strict; /* findings too: reserved bits, padding, times out of order on a cpu */
};

struct values {
	json_t *records; /* a list of objects, as the lines of perfabi-decode */
	json_t *finding; /* its first diagnostic, likewise; NULL: there is none */
};

/*
 * `size` bytes of PERFABI_RECORDS, oldest first; none is a list of none. Or of PERFABI_RING, an
 * image of the mmap area, with a metadata page and 2^n data pages at least: that newer records took
 * the place of older ones is no finding. 0, or a negative errno with `e` filled. Free with
 * values_free() in any case.
 */
int values_of(struct values *out, const struct values_by *by, enum perfabi_format format,
	      const unsigned char *bytes, size_t size, struct error *e);
void values_free(struct values *values);

/* The metadata page, of which there are `size` bytes. A new reference; NULL with `e` filled. */
json_t *values_of_page(const struct values_by *by, const unsigned char *page, size_t size,
		       struct error *e);

/*
 * What read(2) gave of the first attr's event, by its read_format, to the last byte. A new
 * reference; NULL with `e` filled.
 */
json_t *values_of_read(const struct values_by *by, const unsigned char *bytes, size_t size,
		       struct error *e);

#endif
