/* SPDX-License-Identifier: MIT */
/*
 * What stands where in a record, a feature section or the metadata page: the layouts of cases/abi
 * as trees. They are made and checked when the ABI is loaded; whoever walks one need not look
 * again.
 */
#ifndef PERFABI_LAYOUT_H
#define PERFABI_LAYOUT_H

#include "abi/abi.h"

/* What a layout can be at most, however its parts are put together. */
enum {
	LAYOUT_DEPTH = 16,        /* lists in lists */
	LAYOUT_LOOPS = 4,         /* arrays in arrays */
	LAYOUT_NAMED = 31,        /* fields that others name, and words of bit fields */
	LAYOUT_FIELDS = 4096,     /* all of them */
	LAYOUT_NAME = 40,         /* characters of a name */
	LAYOUT_NUMBER_MAX = 65535 /* of sizes, counts and pads that are given as a number */
};

enum layout_type {
	LAYOUT_U8,
	LAYOUT_U16,
	LAYOUT_U32,
	LAYOUT_U64,
	LAYOUT_S8,
	LAYOUT_S16,
	LAYOUT_S32,
	LAYOUT_S64,
	LAYOUT_HEX16,
	LAYOUT_HEX32,
	LAYOUT_HEX64,
	LAYOUT_F64,
	LAYOUT_TYPES
};

/* Their names in cases/abi, the last of which is NULL, and the bytes that one takes. */
extern const char *const layout_type_names[];
extern const uint8_t layout_widths[LAYOUT_TYPES];

enum layout_kind {
	LAYOUT_NUMBER,
	LAYOUT_WORD, /* a number of bit fields */
	LAYOUT_STRING,
	LAYOUT_BYTES,
	LAYOUT_OPAQUE, /* bytes of which only the count is told */
	LAYOUT_ATTR,   /* a struct perf_event_attr */
	LAYOUT_PAD,
	LAYOUT_ALIGN,
	LAYOUT_ARRAY, /* numbers of one type */
	LAYOUT_LOOP,  /* other elements */
	LAYOUT_OBJECT,
	LAYOUT_REGS,  /* the registers of a mask in attr */
	LAYOUT_INDEX, /* the name that belongs to the element's index; takes no bytes */
	LAYOUT_WHEN,
	LAYOUT_USE,   /* another layout's fields; in an object if it has a name */
	LAYOUT_SWITCH /* the fields of the family's value that a field has */
};

struct layout_list {
	const struct layout_node *nodes; /* in wire order */
	size_t count;
	size_t smallest; /* bytes that it takes at least; the loader's */
};

/* How many bytes or elements there are; after that, `per` of what is counted make one. */
struct layout_size {
	enum layout_from {
		LAYOUT_FROM_NUMBER,
		LAYOUT_FROM_FIELD,    /* what `field` holds */
		LAYOUT_FROM_KEPT,     /* what the field with `keep` held, in a record before */
		LAYOUT_FROM_PREFIX,   /* a number of `prefix` bytes in front */
		LAYOUT_FROM_REST,     /* all that is left */
		LAYOUT_FROM_NUL,      /* the same, up to a NUL */
		LAYOUT_TO_NUL,        /* what a NUL ends, with that */
		LAYOUT_FROM_DATA_LOC, /* a u32 says: so many bytes << 16 | their offset, ... */
		LAYOUT_FROM_REL_LOC   /* ... or that from behind it */
	} from;
	uint32_t number;
	uint8_t prefix;
	const struct layout_node *field;
	uint32_t less, per; /* 0: neither */
};

struct layout_condition {
	enum layout_test {
		LAYOUT_IF_ATTR,     /* attr.`attr` is not 0 */
		LAYOUT_IF_ATTR_HAS, /* attr.`attr` has all bits of `value` */
		LAYOUT_IF_MISC,     /* misc has all bits of `value` */
		LAYOUT_IF_IS,       /* `field` is `value`, ... */
		LAYOUT_IF_NOT,
		LAYOUT_IF_AT_LEAST,
		LAYOUT_IF_LEFT, /* `value` bytes are left */
		LAYOUT_IF_MAYBE /* the record does not fit without */
	} test;
	const struct abi_field *attr;
	const struct layout_node *field; /* NULL: the one with `keep` */
	uint64_t value;
};

struct layout_node {
	enum layout_kind kind;
	const char *name; /* NULL: it has none */
	bool is_named_by_others;
	union {
		struct {
			enum layout_type type;
			const struct abi_family *set; /* may be NULL */
			bool keep;                    /* later records go by it */
			bool possible;                /* it has no bits but those of `set` */
			bool known; /* with a value that `set` lacks, what follows is unknown */
			enum layout_counts {
				COUNTS_NOTHING,
				COUNTS_LOST,
				COUNTS_LOST_SAMPLES
			} counts;
		} number;
		struct {
			enum layout_type type;
			const struct abi_family *fields;
		} word;
		struct {
			struct layout_size size;
			const struct layout_node *used; /* says how many are meant; may be NULL */
			bool readable;   /* not empty, and without control characters */
			bool tracepoint; /* by the event's format, if there is one */
		} text;                  /* and bytes, opaque, attr */
		uint32_t zeros;          /* of a pad; of align, what the place is a multiple of */
		struct {
			struct layout_size count;
			enum layout_type type;
			const struct abi_family *markers; /* of 64 bits; may be NULL */
		} array;
		struct {
			struct layout_size count;
			struct layout_list body;
			bool bare; /* the elements are no objects */
		} loop;
		struct layout_list object;
		struct {
			const struct abi_field *mask; /* in attr */
			enum layout_regs { REGS_PLAIN, REGS_VECTORS, REGS_PRED } of;
			/* Of the last two: how many of the mask's came, of how many words of 64
			 * bits each; and the words that attr wants of each. */
			const struct layout_node *number;
			struct layout_size qwords;
			const struct abi_field *width;
			const struct abi_field *simd; /* of the first: others if it is set */
		} regs;
		const struct abi_family *index;
		struct {
			struct layout_condition condition;
			struct layout_list then, other;
		} when;
		const struct layout *use;
		struct {
			const struct layout_node *field;
			const struct abi_family *over; /* values with a layout */
		} choice;
	};
};

/* Whose fields they are. */
enum layout_owner {
	LAYOUT_OF_RECORD,      /* the kernel's, behind a header */
	LAYOUT_OF_TOOL_RECORD, /* perf's own, likewise */
	LAYOUT_OF_TRACEPOINT,  /* of raw data: what no field accounts for is dynamic */
	LAYOUT_OF_VALUE,       /* what belongs to another family's value: a feature section */
	LAYOUT_ALONE           /* of "layouts" */
};

struct layout {
	const char *name; /* "sample_id", "mmap2" */
	enum layout_owner owner;
	struct layout_list list;

	/* The loader's: what it takes at most, and where it stands. */
	unsigned depth, loops, named, fields;
	enum { LAYOUT_UNREAD, LAYOUT_BEING_READ, LAYOUT_READ } state;
	const json_t *json;
	const struct source *source;
	const struct abi_family *family; /* NULL: it is LAYOUT_ALONE */
	size_t index;                    /* of the value in the family */
};

/* One of "layouts", by its name: "sample_id"; NULL: there is none. */
const struct layout *abi_layout(const struct abi *abi, const char *name);

/* What a member is in JSON. */
enum layout_value {
	VALUE_NUMBER, /* or "0x..." text */
	VALUE_TEXT,
	VALUE_NAMES, /* a list of them */
	VALUE_LIST,
	VALUE_OBJECT
};

struct layout_member {
	const char *name;
	enum layout_value value;
	const struct layout_node *node; /* NULL: it is a bit field */
	bool is_sometimes;              /* what the record itself holds decides */
};

/* What the line of every record has before the members of its layout; the last has no name. */
extern const struct layout_member layout_line[];

typedef void layout_tell(void *context, const struct layout_member *member);

/*
 * Tells each member that what has these fields can have, whatever its attr and its other fields
 * are; one that can stand in several places, or be of several kinds, is told for each.
 * Of a field without a name its members are told.
 */
void layout_members(const struct layout_list *list, layout_tell *tell, void *context);

/* Tells each field of attr on which it hangs what is there. */
void layout_attr_fields(const struct layout_list *list,
			void (*tell)(void *context, const struct abi_field *field), void *context);

#endif
