/* SPDX-License-Identifier: MIT */
/*
 * Between the files that make plans (plan.c and plan_*.c): the compiler's state, and what it is
 * made of. Functions return 0, or a negative errno with the compiler's error filled.
 */
#ifndef PERFABI_PLAN_COMPILE_H
#define PERFABI_PLAN_COMPILE_H

#include "plan/plan.h"

enum { DEPTH_MAX = 16, NAMES = 192, PATH = 128, HEADER = 8, ATTR_JSON = 8192, TEXT_BLOCK = 1024 };

/* The types of numbers, in the order of their operations. */
struct plan_type {
	const char *name;
	uint8_t kind, width;
	uint8_t longest; /* characters of JSON, with quotes and comma */
};

enum { PLAN_TYPES = 10 };
extern const struct plan_type plan_types[PLAN_TYPES];

struct compiler {
	const struct plan_for *with;
	struct plan *plan;
	struct error *e;
	const char *record; /* for misc bits; NULL in a feature */
	size_t need;        /* the OP_NEED that covers what comes now; 0: a new one is due */
	int offset;         /* from the start; -1: not fixed */
	unsigned depth, loops;
	uint8_t regs;
	bool outside;    /* top level of a record, where --fields and `taken` apply */
	char path[PATH]; /* of the object we are in, with its dot; "" at the top */
	bool in_loop;
	size_t smallest; /* bytes that the loop's element takes at least */
	size_t longest;  /* JSON of one element */
	struct {
		const char *name;
		size_t op;
	} names[NAMES];
	size_t name_count;
};

/* plan_emit.c: operations, keys, registers, room. */
int plan_no_memory(struct compiler *c, const struct where *w);

/* A new operation, the last one; NULL when there is no memory. */
struct op *plan_add(struct compiler *c, uint8_t kind, const struct where *w);

/* Behind a jump's target nothing is known of what was checked before. */
void plan_forget_need(struct compiler *c);

/* Bytes of fixed length come now: one check serves all that follow each other. */
int plan_need(struct compiler *c, uint32_t bytes, const struct where *w);

/* What a value of that many characters adds to the longest line; what each byte of a text does. */
void plan_grows(struct compiler *c, size_t characters);
void plan_grows_per_byte(struct compiler *c, size_t characters);

/* The operation's key, `"name":` and what opens the value, and its path. */
int plan_set_key(struct compiler *c, size_t at, const char *name, const char *opening,
		 const struct where *w);
const char *plan_keep(struct compiler *c, const char *text, const struct where *w);

/* Names the last operation's value, for plan_reg_of() to find: the register that it is kept in. */
int plan_remember(struct compiler *c, const char *name, const struct where *w);
int plan_reg_of(struct compiler *c, const json_t *json, uint8_t *reg, const struct where *w);

/* Members of a field in JSON. */
const char *plan_name_of(const json_t *item);
int plan_unknown_keys(struct compiler *c, const json_t *item, const char *const known[],
		      const struct where *w);
int plan_small_number(struct compiler *c, const json_t *item, const char *key, uint32_t *out,
		      const struct where *w);
const struct abi_family *plan_family_named(struct compiler *c, const json_t *item, const char *key,
					   const struct where *w);
size_t plan_longest_of(const struct abi_family *set);
int plan_type_named(const char *name); /* index of plan_types, or -1 */
uint8_t plan_kind_of(const struct compiler *c, int type);

/* plan_fields.c */
int compile_scalar(struct compiler *c, const json_t *item, int type, const struct where *w);
int compile_zeros(struct compiler *c, const json_t *item, const struct where *w);
int compile_text(struct compiler *c, const json_t *item, uint8_t kind, const struct where *w);
int compile_count(struct compiler *c, const json_t *item, const struct where *w);

/* plan_objects.c */
int compile_object(struct compiler *c, const char *name, const json_t *fields,
		   const struct where *w);
int compile_bitfield(struct compiler *c, const json_t *item, int type, const struct where *w);
int compile_regs(struct compiler *c, const json_t *item, const struct where *w);

/* plan_when.c */
int compile_when(struct compiler *c, const json_t *item, const struct where *w);
int compile_use(struct compiler *c, const json_t *item, const struct where *w);
int compile_switch(struct compiler *c, const json_t *item, const struct where *w);

/* plan.c */
int compile_list(struct compiler *c, const json_t *list, const struct where *w);

#endif
