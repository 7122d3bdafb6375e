/* SPDX-License-Identifier: MIT */
/*
 * Between the files that read layouts: layout_load.c (which of them, in what order), layout_list.c
 * (lists, and where they may stand), layout_names.c (no name twice) and layout_field.c (one
 * function a kind of field). All that can be wrong with one is said here, at its place. Functions
 * return 0, or a negative errno with the reader's error filled.
 */
#ifndef PERFABI_LAYOUT_READ_H
#define PERFABI_LAYOUT_READ_H

#include "abi/layout.h"

enum { VISIBLE = 256 };

/* One layout on its way. */
struct layout_reader {
	struct abi *abi;
	struct error *e;
	struct layout *layout;
	unsigned chain;                             /* layouts that wait for this one */
	unsigned depth, loops;                      /* lists and arrays that we are in */
	bool in_object;                             /* its members are not those of the record */
	bool is_element;                            /* what comes next stands alone in an array */
	const struct layout_node *visible[VISIBLE]; /* fields that those behind can name */
	size_t visible_count;
};

/* layout_load.c: reads a layout, unless it is read already, for one that uses it. */
int layout_read(struct layout_reader *r, struct layout *layout, const struct where *w,
		const json_t *used);

/* layout_list.c */
int layout_read_list(struct layout_reader *r, struct layout_list *out, const json_t *list,
		     const struct where *w);

/* A list whose fields need not be there for what comes behind it: it cannot name them. */
int layout_read_branch(struct layout_reader *r, struct layout_list *out, const json_t *list,
		       const struct where *w);

/* The bytes that a list takes at least. */
size_t layout_smallest(const struct abi *abi, const struct layout_list *list);

/* Adds what a layout that is used takes to what this one does. */
int layout_add_limits(struct layout_reader *r, const struct layout *used, const struct where *w,
		      const json_t *json);

/* Names that a record's line has already are not for its members. */
int layout_check_name(struct layout_reader *r, const char *name, const struct where *w);

/* layout_names.c: the names that the members of a list's object have so far. */
struct layout_names {
	json_t *always, *sometimes; /* sets; sometimes: what a condition or a value decides */
};

/* 0 or -ENOMEM. End it in any case. */
int layout_names_begin(struct layout_names *names);
void layout_names_end(struct layout_names *names);

/* Adds those of a field, none of which may be there together with one that was added before. */
int layout_names_add(struct layout_reader *r, struct layout_names *names,
		     const struct layout_node *node, const struct where *w);

/* layout_field.c: the field that an object of JSON is. */
int layout_read_field(struct layout_reader *r, struct layout_node *node, const json_t *item,
		      const struct where *w);

/* layout_when.c: `when`, `use` and `switch`. */
int layout_read_when(struct layout_reader *r, struct layout_node *node, const json_t *item,
		     const struct where *w);
int layout_read_use(struct layout_reader *r, struct layout_node *node, const json_t *item,
		    const struct where *w);
int layout_read_switch(struct layout_reader *r, struct layout_node *node, const json_t *item,
		       const struct where *w);

/* Members of JSON that several kinds of fields have. */
int layout_unknown_keys(struct layout_reader *r, const json_t *item, const char *const known[],
			const struct where *w);
int layout_small_number(struct layout_reader *r, const json_t *item, const char *key, uint32_t *out,
			const struct where *w);
const struct abi_family *layout_family(struct layout_reader *r, const json_t *item, const char *key,
				       const struct where *w);

/* The field before this one that `json` names; NULL for one that is kept: "$name". */
int layout_field_named(struct layout_reader *r, const json_t *json, const struct layout_node **out,
		       const struct where *w);

#endif
