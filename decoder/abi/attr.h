/* SPDX-License-Identifier: MIT */
/*
 * struct perf_event_attr between its bytes and JSON, by the tables of cases/abi and never by a
 * header: any size, either byte order.
 */
#ifndef PERFABI_ATTR_H
#define PERFABI_ATTR_H

#include "abi/abi.h"
#include "abi/value.h"
#include "abi/word.h"

/* The names that the field's values have in that attr of `length` bytes; NULL: none. */
const struct abi_family *attr_names(const struct abi *abi, const struct abi_field *field,
				    const struct abi_arch *arch, const unsigned char *bytes,
				    size_t length, enum byte_order order);

/*
 * Reads or writes one field. `bytes` holds at least field->offset + field->size bytes. A bit field
 * is counted from the least significant bit in little-endian order, from the most significant in
 * big-endian order, as compilers lay them out. A signed field comes back sign-extended.
 */
uint64_t attr_get(const struct abi_field *field, const unsigned char *bytes, enum byte_order order);
void attr_set(const struct abi_field *field, unsigned char *bytes, enum byte_order order,
	      uint64_t value);

/*
 * Lays out `attr`, a JSON object of fields by name, over `bytes`, abi->attr_size of them; what it
 * does not name is left as it is. Values are those of value_eval(), names those of the field's
 * constants. 0, or -EINVAL with `e` filled: an unknown field, the same place set twice, a value
 * that does not fit. Values that are not known yet are left out.
 */
int attr_from_json(const struct abi *abi, const struct abi_arch *arch, const json_t *attr,
		   const struct vars *vars, const struct where *w, unsigned char *bytes,
		   struct error *e);

/*
 * The fields of an attr of `length` bytes that are not zero, as the JSON that attr_from_json()
 * takes (of the names of a union the one that fits: sample_freq with freq, wakeup_watermark with
 * watermark, bp_addr and bp_len for a breakpoint); bytes past
 * the newest known size are under "bytes" as "offset": value. A new reference, or NULL when there
 * is no memory.
 */
json_t *attr_to_json(const struct abi *abi, const struct abi_arch *arch, const unsigned char *bytes,
		     size_t length, enum byte_order order);

/* The same as compact text; free() it. */
char *attr_to_text(const struct abi *abi, const struct abi_arch *arch, const unsigned char *bytes,
		   size_t length, enum byte_order order);

struct attr_ids {
	uint64_t *ids;
	size_t count;
};

struct attr_list {
	unsigned char *bytes; /* for each an attr in abi->attr_size bytes, in the host's order; its
			       * size is, where none is given, the smallest that will do */
	struct attr_ids *ids; /* for each, those of its events; none if nobody said */
	size_t count;
};

/*
 * Reads an object of attr fields, an object with "attr" and perhaps "ids", or a list of such. 0, or
 * a negative errno with `e` filled, which names `name` as the file. `vars` may be NULL: then there
 * are no $variables. Free with attr_list_free().
 */
int attr_list_read(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		   const char *text, const char *name, const struct vars *vars, struct error *e);

void attr_list_free(struct attr_list *list);

#endif
