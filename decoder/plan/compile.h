/* SPDX-License-Identifier: MIT */
/*
 * Between the files that make plans: the compiler's state, and what it is made of. What a layout
 * says was checked when it was loaded: only memory can be wanting here, and then compiler.err is
 * set and stays so, and what is made meanwhile is thrown away.
 */
#ifndef PERFABI_PLAN_COMPILE_H
#define PERFABI_PLAN_COMPILE_H

#include "plan/plan.h"

enum {
	PATH = LAYOUT_DEPTH * (LAYOUT_NAME + 1) + 2 * LAYOUT_LOOPS + 1,
	HEADER = 8,
	ATTR_JSON = 8192
};

struct compiler {
	const struct plan_for *with;
	struct plan *plan;
	int err;        /* -ENOMEM, or 0 */
	struct op none; /* in place of an operation for which there is no memory */
	size_t need;    /* the OP_NEED that covers what comes now; 0: a new one is due */
	int offset;     /* from the start; -1: not fixed */
	uint8_t regs;
	bool outside;    /* top level of a record, where --fields applies */
	char path[PATH]; /* of the object we are in, with its dot; "" at the top */
	bool in_loop;
	size_t smallest; /* bytes that the loop's element takes at least */
	size_t longest;  /* JSON of one element */
	struct {
		const struct layout_node *node;
		uint8_t reg;
	} named[LAYOUT_NAMED + 1];
	size_t named_count;
};

/* emit.c: operations, keys, registers, room. */

/* A new operation, the last one. */
struct op *plan_add(struct compiler *c, uint8_t kind);

/* The index of the last operation; the operation of an index. */
size_t plan_last(const struct compiler *c);
struct op *plan_op(struct compiler *c, size_t index);

/* Aims an operation's jump at what comes next. */
void plan_aim(struct compiler *c, size_t index);

/* Behind a jump's target nothing is known of what was checked before. */
void plan_forget_need(struct compiler *c);

/* Bytes of fixed length come now: one check serves all that follow each other. */
void plan_need(struct compiler *c, uint32_t bytes);

/* Bytes of any length come now. */
void plan_unfix(struct compiler *c);

/* What a value of that many characters adds to the longest line; what each byte of a text does. */
void plan_grows(struct compiler *c, size_t characters);
void plan_grows_per_byte(struct compiler *c, size_t characters);

/* The operation's key, `"name":` and what opens the value, and its path. `name` may be NULL. */
void plan_set_key(struct compiler *c, size_t at, const char *name, const char *opening);

/* The key alone: no path leads there. */
void plan_set_plain_key(struct compiler *c, size_t at, const char *name, const char *opening);

/* Text that lives as long as the plan, readable to PUT_KEY bytes. */
const char *plan_keep(struct compiler *c, const char *text);

/* The path of a member of the object we are in; NULL in an array. */
const char *plan_path(struct compiler *c, const char *name);

/* The number of the field that the operation tells; `name` may be NULL. */
void plan_set_number(struct compiler *c, size_t at, const char *name);

/* What a number that is written so is: enum field_kind. */
uint8_t plan_field_of(uint8_t kind);

/* A register for what others name; the one that a field is in, or that of the field kept. */
uint8_t plan_new_reg(struct compiler *c, const struct layout_node *node);
uint8_t plan_reg_of(const struct compiler *c, const struct layout_node *node);

size_t plan_longest_of(const struct abi_family *set);

/* fields.c */
void compile_number(struct compiler *c, const struct layout_node *node);
void compile_zeros(struct compiler *c, const struct layout_node *node);
void compile_text(struct compiler *c, const struct layout_node *node);
void compile_array(struct compiler *c, const struct layout_node *node);
void compile_loop(struct compiler *c, const struct layout_node *node);
void compile_index(struct compiler *c, const struct layout_node *node);

/* objects.c */
void compile_object(struct compiler *c, const char *name, const struct layout_list *fields);
void compile_word(struct compiler *c, const struct layout_node *node);
void compile_regs(struct compiler *c, const struct layout_node *node);

/* when.c */
void compile_when(struct compiler *c, const struct layout_node *node);
void compile_use(struct compiler *c, const struct layout_node *node);
void compile_switch(struct compiler *c, const struct layout_node *node);

/* compile.c */
void compile_list(struct compiler *c, const struct layout_list *list);

#endif
