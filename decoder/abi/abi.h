/* SPDX-License-Identifier: MIT */
/*
 * The ABI as cases/abi has it, loaded once: constants by family, the fields of struct
 * perf_event_attr, its sizes, registers by architecture, layouts. Nothing of it stands in C.
 */
#ifndef PERFABI_ABI_H
#define PERFABI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/arena.h"
#include "text/error.h"
#include "text/source.h"

/* One named constant; for a bit of a mask `value` is the bit's value. */
struct abi_value {
	const char *name;  /* lower case, without the family's prefix */
	const char *since; /* first mainline kernel that knows it: "5.13" */
	uint64_t value;
	const struct layout *layout; /* of what it is the type of; NULL: none */
	const char *const *records;  /* of a bit of misc: where it means something, by name,
				      * NULL-terminated; NULL: everywhere */
	struct abi_follow {
		const char *field; /* what comes behind: a cookie, or as many bytes as ... */
		uint32_t align;    /* ... that field says, up to a multiple of this; 0: of 1 */
	} followed_by;
	struct abi_bits {                     /* of a bit field in a word, which has no `value` */
		unsigned first, width;        /* from the least significant bit on */
		const struct abi_family *set; /* names of its values; may be NULL */
		const struct abi_value *only; /* told if that one is `is`; NULL: always */
		uint64_t is;
	} bits;
	const json_t *json; /* all that the file says of it */
};

struct abi_family {
	const char *name;                             /* "sample_type" */
	const char *prefix;                           /* "PERF_SAMPLE_" */
	enum { ABI_MASK, ABI_ENUM, ABI_LAYOUT } kind; /* layout: a word of bit fields */
	bool mask;      /* values are or-ed; else one of them is meant */
	bool is_open;   /* what has no name is nothing new; names of several bits come first */
	unsigned shift; /* of the value in its field */
	const struct abi_value *values;
	size_t count;
	bool declared;      /* of C bit fields, which big endian counts from the other end */
	bool omit_zero;     /* of bit fields: one that is 0 is not told */
	const json_t *json; /* as the file has it */
	const struct source *source; /* the file */
};

/* One name of struct perf_event_attr; a union's other names are fields of their own. */
struct abi_field {
	const char *name;
	const char *since;
	const char *alias_of;  /* the first name at that place, or NULL */
	const char *when;      /* the flag that makes this alias the right name, or NULL */
	unsigned offset, size; /* bytes; of the storage unit if it is a bit field */
	unsigned first, width; /* bits; width 0: the whole unit */
	bool is_signed, reserved;
	const struct abi_family *set;        /* names its values have, or NULL */
	const struct abi_family *by_type[8]; /* the same by attr.type, for config */
	bool of_bits;                        /* the word of bit fields that are fields too */
	bool regs;                           /* its bits are the architecture's registers */
};

struct abi_size {
	const char *name; /* "VER0" */
	const char *since;
	unsigned size;
};

struct abi_arch {
	const char *name;  /* "x86" */
	const char *since; /* of all its registers */
	const char *prefix;
	struct abi_family regs;
	const char *const *machines; /* as uname(2) names them; NULL-terminated */
	uint64_t reserved[2];        /* refused on a 32-bit, on a 64-bit kernel */
	uint64_t extended;           /* need a PMU with extended registers */
	struct abi_simd {            /* what attr.sample_simd_regs_enabled makes of them */
		const char *since;
		struct abi_family regs; /* in place of the above; empty: there are none */
		/* What the SIMD registers are called without their number, by their `value` words
		 * of 64 bits; bits.width: how many there are. */
		struct abi_family vectors, pred;
	} simd;
	const char *booted; /* the oldest kernel that ran the cases, or NULL */
};

/* A fix of the kernel. */
struct abi_mend {
	const char *name, *what;
	const char *commit;    /* of mainline, or NULL */
	const char *const *in; /* the first versions: 6.12.113 of its stable branch, 7.3 of all */
};

struct abi {
	const char *newest; /* the kernel version that the tables describe */
	struct abi_family *families;
	size_t family_count;
	struct abi_field *fields;
	size_t field_count;
	struct abi_size *sizes; /* ascending */
	size_t size_count;
	struct abi_arch *archs;
	size_t arch_count;
	const struct abi_mend *mends;
	size_t mend_count;
	struct layout *layouts; /* that others use, or that stand alone; layout.h */
	size_t layout_count;
	const char *kept;       /* the field that later records go by; NULL: none */
	unsigned attr_smallest; /* the oldest of sizes, in bytes */
	unsigned attr_size;     /* the newest of sizes, in bytes */
	struct arena arena;     /* with the JSON into which the names above point */
};

/*
 * Loads every source whose name begins with `abi/`. Returns the ABI, to be freed with abi_free(),
 * or NULL with `e` filled. The sources must outlive it.
 */
struct abi *abi_load(const struct sources *sources, struct error *e);
void abi_free(struct abi *abi);

/* The same of cases/abi as it was at build time, but for the JSON and the sources; ci/prepare.c
 * writes it. Never to be freed. */
extern const struct abi abi_prepared;

/* The sources of cases/abi as they were at build time; perfabi alone has them. */
struct sources abi_builtin(void);

/* NULL where there is none. */
const struct abi_family *abi_family(const struct abi *abi, const char *name);
const struct abi_field *abi_field(const struct abi *abi, const char *name);
const struct abi_arch *abi_arch(const struct abi *abi, const char *machine);

/* The registers that bits of sample_regs_user and sample_regs_intr are; NULL: none is known. */
const struct abi_family *abi_regs(const struct abi_arch *arch, bool simd);

/*
 * A value of the family by its name, in any case, with or without the prefix, - and _ alike; NULL
 * if there is none. `near`, if not NULL, is offered every name.
 */
const struct abi_value *abi_value(const struct abi_family *family, const char *name,
				  struct nearest *near);

/* Its number, in the family of that name; 0: there is none. */
uint64_t abi_number(const struct abi *abi, const char *family, const char *name);

/* The first value of the family that is exactly `value`, or NULL. */
const struct abi_value *abi_value_of(const struct abi_family *family, uint64_t value);

/* Whether a bit of misc means something in the record of that name. */
bool abi_is_of_record(const struct abi_value *bit, const char *record);

/* The names that fit a field's values in an attr of that type; NULL if it has none. */
const struct abi_family *abi_field_set(const struct abi_field *field, uint32_t type,
				       const struct abi_arch *arch);

#endif
