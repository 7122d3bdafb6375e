/* SPDX-License-Identifier: MIT */
/*
 * A layout of cases/abi and an attr -> a flat list of operations. All that hangs on the attr is
 * decided here, once; what is left for the record's own bytes (misc, counts, an abi of 0) is an
 * operation that jumps. Running one is record.h's business.
 */
#ifndef PERFABI_PLAN_H
#define PERFABI_PLAN_H

#include "abi/abi.h"

enum op_kind {
	OP_NEED, /* `n` bytes must be there */
	OP_U8,
	OP_U16,
	OP_U32,
	OP_U64, /* decimal */
	OP_I64, /* the same up to INT64_MAX; "0x..." beyond */
	OP_S32,
	OP_S64,
	OP_X16,
	OP_X32,
	OP_X64,      /* "0x..." */
	OP_F64,      /* IEEE 754 */
	OP_SET,      /* a number of `width` bytes by its name, or a mask by its bits' names */
	OP_SKIP,     /* one of the above that is not asked for: read, and not written */
	OP_POSSIBLE, /* `reg` has bits of `value` alone */
	OP_PAD,      /* `n` bytes that are zero */
	OP_ALIGN,
	OP_WORD,  /* `width` bytes into `reg`, for the bit fields behind */
	OP_BITS,  /* `width` bits of `reg` from bit `n` */
	OP_TEXT,  /* the key alone: an object begins */
	OP_CLOSE, /* ends an object */
	OP_STRING,
	OP_BYTES,
	OP_OPAQUE, /* how many bytes there are, not which */
	OP_ATTR,   /* struct perf_event_attr */
	OP_ARRAY,  /* numbers of one type, `element` */
	OP_LOOP,   /* to OP_NEXT, for each element */
	OP_NEXT,
	OP_INDEX,       /* the name that belongs to the element's index */
	OP_UNLESS_MISC, /* to `jump` unless misc has all bits of `value` */
	OP_UNLESS_IS,   /* ... unless `reg` is `value` */
	OP_UNLESS_NOT,
	OP_UNLESS_AT_LEAST,
	OP_UNLESS_LEFT,  /* ... unless `n` bytes are left */
	OP_UNLESS_MAYBE, /* ... unless the record did not fit without */
	OP_JUMP,
	OP_HIDE, /* what follows is read and not written ... */
	OP_SHOW, /* ... up to here */
	OP_END,
};

/* Where an array's count or a text's length comes from. */
enum size_from { FROM_NUMBER, FROM_REG, FROM_PREFIX, FROM_REST, FROM_NUL };

/* What a field is to the checks over many records. */
enum op_role { ROLE_NONE, ROLE_TIME, ROLE_CPU };

enum { NO_REG = 0xff, REG_KEPT = 0, REGS = 32, LOOPS = 4 };

struct op {
	uint8_t kind, width, reg, element;
	uint8_t from, prefix, used, role;
	uint16_t key_length;
	bool bare;      /* of a loop: its elements are no objects */
	bool omit_zero; /* of bits: not written when 0 */
	bool integers;  /* of a set: what has no name is as OP_I64 has it */
	bool readable;  /* of text: it is not empty and has no control characters */
	uint32_t n, per, less, jump;
	int32_t offset;               /* from the start, or -1: not fixed */
	const char *key;              /* as record.c copies it: "\"ip\":\"0x" */
	const char *path;             /* "sample_id.time"; NULL inside arrays */
	const struct abi_family *set; /* names of the values, or markers of an array */
	/*
	 * Of bits: what has a name, and the same as big endian has it. Of an array with markers:
	 * the smallest, and the one that a cookie follows.
	 */
	uint64_t value, mirrored;
};

/* One layout for one attr. Line lengths: at most fixed + size * per_byte bytes of JSON. */
struct plan {
	const char *name; /* "mmap2" */
	struct op *ops;
	size_t count, capacity;
	size_t fixed, per_byte, paths;
	uint64_t misc_known; /* bits of misc that have a name here */
	int lost_offset;     /* of the u64 that counts what was lost, or 0 */
	bool lost_samples;   /* it counts samples that never were records */
	bool keeps;          /* a value that later records go by */
	bool lenient;        /* perf's own: zeros of any length may follow */
	bool trailer;        /* it ends with the sample_id ... */
	uint32_t tail;       /* ... of so many bytes; whoever knows the attr sets it */
	void **texts;
	size_t text_count, text_used;
};

/* What a plan is made for. */
struct plan_for {
	const struct abi *abi;
	const struct abi_arch *arch; /* for the names of registers; may be NULL */
	const unsigned char *attr;   /* abi->attr_size bytes in the host's order; NULL: any attr,
				      * every branch is taken, to check the layout */
	const char *const *fields;   /* the top-level fields to write; NULL: all */
	size_t field_count;
	bool integers; /* no number is written that is over INT64_MAX: it is "0x..." text */
	void (*offer)(void *context, const char *name); /* is told each top-level name ... */
	void (*uses)(void *context, const struct abi_field *field); /* ... and each field of attr
								     * that decides; may be NULL */
	void *context;
};

/*
 * Makes the plan of a record or feature, a value of a family that has `fields`. Free with
 * plan_free(). 0, or a negative errno with `e` filled: a layout that is none.
 */
int plan_make(struct plan *plan, const struct plan_for *with, const struct abi_family *family,
	      const struct abi_value *value, struct error *e);

/* The plan of a layout alone: of sample_id, to know its size and what stands where. */
int plan_make_layout(struct plan *plan, const struct plan_for *with, const char *name,
		     struct error *e);
void plan_free(struct plan *plan);

/* Bytes that its fields of fixed length take. */
size_t plan_fixed_size(const struct plan *plan);

/* Where a top-level or sample_id field stands from the plan's start, or -1 if that is not fixed. */
int plan_offset(const struct plan *plan, const char *path);

#endif
