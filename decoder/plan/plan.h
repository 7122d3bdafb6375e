/* SPDX-License-Identifier: MIT */
/*
 * A layout of cases/abi and an attr -> a flat list of operations. All that hangs on the attr is
 * decided here, once; what is left for the record's own bytes (misc, counts, an abi of 0) is an
 * operation that jumps. Running one is record.h's business.
 */
#ifndef PERFABI_PLAN_H
#define PERFABI_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/layout.h"
#include "abi/word.h"
#include "include/perfabi.h"

enum op_kind {
	OP_NEED, /* `bytes` must be there */
	OP_U8,
	OP_U16,
	OP_U32,
	OP_U64, /* decimal */
	OP_S8,
	OP_S16,
	OP_S32,
	OP_PAIR, /* OP_S32 in front of another */
	OP_I64,  /* OP_U64 up to INT64_MAX; "0x..." beyond */
	OP_S64,
	OP_X16,
	OP_X32,
	OP_X64,      /* "0x..." */
	OP_F64,      /* IEEE 754 */
	OP_SET,      /* a number of `width` bytes by its name, or a mask by its bits' names */
	OP_SKIP,     /* one of the above that is not asked for: read, and not written */
	OP_POSSIBLE, /* `reg` has no bits but `possible` */
	OP_KNOWN,    /* `reg` is a value of `known.set`, or known.most at most; `known.depth`
		      * objects deep */
	OP_PAD,      /* `bytes` that are zero */
	OP_ALIGN,    /* zeros up to a multiple of `bytes` */
	OP_WORD,     /* `width` bytes into `reg`, for the bit fields behind */
	OP_BITS,     /* `width` bits of `reg` */
	OP_REST,     /* those bits of `reg` that have no name */
	OP_TEXT,     /* the key alone: an object begins */
	OP_CLOSE,    /* ends an object */
	OP_STRING,
	OP_BYTES,
	OP_RAW,    /* the same, or by the event's format */
	OP_LOC,    /* text, bytes or an array somewhere else, where a u32 says */
	OP_OPAQUE, /* how many bytes there are, not which */
	OP_ATTR,   /* struct perf_event_attr */
	OP_ARRAY,  /* numbers of `width` bytes */
	OP_LOOP,   /* to OP_NEXT, for each element */
	OP_NEXT,
	OP_INDEX,           /* the name that belongs to the element's index */
	OP_UNLESS_BITS_ARE, /* jumps unless `width` bits of `reg` are `value` */
	OP_UNLESS_MISC,     /* ... unless misc has all its bits; in the order of layout_test */
	OP_UNLESS_IS,       /* ... unless `reg` is it */
	OP_UNLESS_NOT,
	OP_UNLESS_AT_LEAST,
	OP_UNLESS_LEFT,  /* ... unless `value` bytes are left */
	OP_UNLESS_MAYBE, /* ... unless the record did not fit without */
	OP_JUMP,
	OP_HIDE, /* what follows is read and not written ... */
	OP_SHOW, /* ... up to here */
	OP_END,
};

/* What a field is to the checks over many records. */
enum op_role { ROLE_NONE, ROLE_TIME, ROLE_CPU };

enum { NO_REG = 0xff, REG_KEPT = 0, REGS = LAYOUT_NAMED + 1 };

/* As much as the layout says, which outlives the plan. */
struct amount {
	const struct layout_size *size;
	uint8_t reg; /* that size->field is in */
};

/* The first of some bits of a word, from its least significant one, in either order. */
struct bit_place {
	uint8_t little, big;
};

struct op {
	uint8_t kind, width;
	uint8_t reg; /* that the value is put into, or is in; NO_REG: none */
	uint8_t role;
	uint8_t field; /* enum perfabi_kind */
	uint16_t key_length;
	int32_t offset;       /* from the start, or -1: not fixed */
	const char *key;      /* as record.c copies it: "\"ip\":\"0x" */
	const char *path;     /* "sample_id.time"; NULL inside arrays */
	struct amount amount; /* of text, bytes, opaque, attr, arrays and loops */
	uint32_t number;      /* of the field, as plan_for.paths has it; 0: it has none */
	uint32_t jump; /* where to; of OP_LOOP, behind OP_NEXT; of that, to an element's begin */
	union {
		uint32_t bytes; /* OP_NEED, OP_PAD, OP_ALIGN */
		uint64_t possible;
		struct {
			const struct abi_family *set; /* or NULL */
			uint8_t depth, most;
		} known;
		const struct abi_family *set; /* OP_SET, OP_INDEX */
		struct {
			struct bit_place place;
			uint8_t bytes; /* of the word, which is in front */
			bool omit_zero;
			const struct abi_family *set; /* names of its values; NULL: none */
		} bits;
		struct {
			uint64_t named, mirrored; /* the same as big endian has it */
			bool decimal;
		} rest;
		struct {
			uint8_t used;  /* the register that says how many bytes are meant */
			bool readable; /* it is not empty and has no control characters */
		} text;                /* and bytes, opaque, attr */
		struct {
			uint8_t element;                  /* how each is written: a kind */
			uint8_t field;                    /* what each is: enum perfabi_kind */
			const struct abi_family *markers; /* or NULL */
			uint64_t first_marker;            /* the smallest, */
			uint64_t cookie_marker;           /* and the one that a cookie follows */
		} array;
		bool bare; /* OP_LOOP, OP_NEXT: the elements are no objects */
		struct {
			uint64_t value;
			struct bit_place place;
		} test;
	};
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
	bool open;           /* a tracepoint's: bytes that no field accounts for are dynamic */
	bool no_rest;        /* nobody asks for the bytes that no field accounts for */
	bool trailer;        /* it ends with the sample_id ... */
	uint32_t tail;       /* ... of so many bytes; whoever knows the attr sets it */
	uint32_t ahead; /* bytes that numbers at fixed places take, up to `rest`, which is nothing
			 * but what nobody asks for; 0: it is not so */
	const struct op *rest;
	struct arena texts; /* keys and paths */
};

/* What a plan is made for. */
struct plan_for {
	const struct abi *abi;
	const struct abi_arch *arch; /* for the names of registers; may be NULL */
	const unsigned char *attr;   /* abi->attr_size bytes in the host's order; NULL: all zero */
	const char *const *fields;   /* the top-level fields to write; NULL: all */
	size_t field_count;
	bool value_names; /* of tracepoints' fields, as their print fmt has them */
	bool flat; /* one member for each value, with its path for a name; numbers are numbers */
	bool integers; /* no number is written that is over INT64_MAX: it is "0x..." text */
	const struct paths *paths; /* of all fields; NULL: nobody asks for fields by number */
	json_t *gathered; /* instead: takes as keys the paths of all that any attr asks for, and the
			   * plan is good for nothing else. NULL: nobody gathers */
};

/* compile.c: 0 or -ENOMEM. Free with plan_free(). */
int plan_make(struct plan *plan, const struct plan_for *with, const struct layout *layout);
void plan_free(struct plan *plan);

/* Bytes that its fields of fixed length take. */
size_t plan_fixed_size(const struct plan *plan);

/* Where a top-level or sample_id field stands from the plan's start, or -1 if that is not fixed. */
int plan_offset(const struct plan *plan, const char *path);

/* The number there, of `size` bytes; false if they have none. */
bool plan_number(const struct plan *plan, const char *path, const unsigned char *bytes, size_t size,
		 enum byte_order order, uint64_t *value);

struct paths {
	const char *const *names; /* sorted; a number is a place in it, from 1 on */
	size_t count;
	json_t *gathered; /* an object whose keys they are; NULL: they were prepared */
};

/* Those of cases/abi as it was at build time; ci/prepare.c writes them. */
extern const struct paths paths_prepared;

/* Sorts what was gathered. 0 or -ENOMEM. Free with paths_free() in any case. */
int paths_sort(struct paths *paths);
void paths_free(struct paths *paths);

/* The number of a path, 0 if it has none; the path of a number, or NULL. Threads may ask. */
uint32_t paths_number(const struct paths *paths, const char *path);
const char *paths_name(const struct paths *paths, uint32_t number);

#endif
