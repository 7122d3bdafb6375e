/* SPDX-License-Identifier: MIT */
/*
 * A plan and bytes -> the members of a JSON object, or a list of fields. No lookup by name, no look
 * at the attr: the plan has settled that.
 */
#ifndef PERFABI_RECORD_H
#define PERFABI_RECORD_H

#include <jansson.h>

#include "abi/word.h"
#include "plan/format.h"
#include "text/json.h"

/* Why a record could not be read by its plan; 0 if it could. */
enum record_problem {
	RECORD_OK,
	RECORD_SHORT, /* a field ends past the record */
	RECORD_COUNT, /* more elements than bytes */
	RECORD_ATTR,  /* an attr of a size that none has */
	/* Of these, the members are there. */
	RECORD_IMPOSSIBLE, /* a field has a value that none has */
	RECORD_LEFT,       /* bytes are left that no field accounts for; they are under "rest" */
	RECORD_UNKNOWN,    /* a field has a value that changes what follows in a way that is not
			    * known: that is under "rest" */
	RECORD_MORE        /* the same of a count: there is more than attr asks for */
};

/* What a strict look at a record found in one field. */
struct finding {
	const char *code; /* "reserved", "padding", "unterminated", "unknown-bits" */
	const char *path; /* the field, or NULL */
	uint32_t offset;  /* in the record */
};

enum { FINDINGS = 8 };

/* How what may be there is taken, and what cannot be: the last two where the first fails. */
enum record_pass { WITHOUT_MAYBE, WITH_MAYBE, TAKE_ALL };

struct record {
	const struct abi *abi;
	const struct abi_arch *arch; /* may be NULL */
	enum byte_order order;
	bool notes;  /* write each field's place under "at" */
	bool strict; /* gather findings */
	char *at;    /* room for plan->paths characters if `notes` is set */
	/*
	 * Is shown the text behind each element of an array, and may take all but its last byte
	 * away: it returns where to go on. NULL: the text stays. What it took is not taken back if
	 * the bytes do not fit the plan.
	 */
	char *(*spill)(void *to, char *text);
	void *spill_to;
	/* AGAIN of them, to be cleared with the plans. NULL: none, as with `notes` and `strict`. */
	struct again *again;
	bool lossy; /* a text that is no UTF-8 is a text nevertheless */
	bool dry;   /* the text is not wanted: what costs most of it may be left out */
	const struct format *format; /* of raw data; NULL: none is known */
	struct record *raw;          /* room to read it; NULL: it is not read */

	/* What came out. */
	int err;            /* -ENOMEM: the text is not what it should be; it stays set */
	uint64_t located;   /* bytes that were found by their place */
	const char *failed; /* the field that did not fit, as a key; may be NULL */
	uint32_t failed_at; /* in the record */
	uint64_t regs[REGS];
	uint64_t time, cpu; /* if has_ says so; strict alone */
	bool has_time, has_cpu;
	bool misfit;           /* the raw data does not fit its format: it is hexadecimal */
	bool maybe;            /* something was met that may be there, in the pass ... */
	enum record_pass pass; /* ... that it is in, or was in last */
	struct finding findings[FINDINGS];
	size_t finding_count;
	struct perfabi_field *fields; /* own[0] is the plan's operation; to be freed with free() */
	size_t field_count, field_capacity;
	const struct plan *fixed; /* record_take_fixed() gave its fields last; NULL: it did not */
};

/* What record_put() writes at most of so many bytes by that plan, with raw data by r->format. */
static inline size_t record_longest(const struct plan *plan, const struct record *r, size_t size)
{
	/* What is found by its place may be there twice, but not more. */
	size_t raw = r->format ? r->format->plan.fixed + 2 * size * r->format->plan.per_byte : 0;

	/* The type, offset, size, misc and event come before, the rest and the notes behind. */
	return raw + plan->fixed + plan->paths + size * (plan->per_byte > 2 ? plan->per_byte : 2) +
	       1536;
}

/*
 * Writes the members of the `size` bytes at `bytes`, read from byte `from` on, each with a comma
 * behind it, and moves *out there; where the members are not there, *out is where it was. With
 * `out` NULL they come as fields: r->fields has them in the order of the bytes, those of the plan
 * that have a number.
 */
enum record_problem record_put(const struct plan *plan, struct record *r,
			       const unsigned char *bytes, size_t from, size_t size, uint16_t misc,
			       char **out);

/*
 * The same as fields, of a record all of whose fields are at places that the plan knows, and which
 * fits it; false: whether it does is for record_put() to say.
 */
bool record_take_fixed(const struct plan *plan, struct record *r, const unsigned char *bytes,
		       size_t size);

/* The sentence to a problem: "callchain: more elements than bytes". Returns `text`. */
const char *record_problem_text(enum record_problem problem, const struct record *r, char *text,
				size_t size);

/* A field that record_tell() tells. */
struct record_text {
	int path;         /* its index among those that are asked for */
	const char *text; /* of a string: `size` bytes */
	size_t size;
	const unsigned char *bytes; /* of an array: its `value` elements */
	uint64_t value;             /* a number, or how many elements */
};

/*
 * Reads `size` bytes from byte `from` on by that layout, and tells the fields that have one of
 * `count` paths ("event_desc[].name"; sorted), in the order of the bytes: strings, arrays, numbers.
 * 0, -ENOMEM, or what `tell` returned, which ends it. What does not fit the layout is not told.
 */
int record_tell(const struct abi *abi, const struct layout *layout, enum byte_order order,
		const unsigned char *bytes, size_t from, size_t size, const char *const *paths,
		size_t count, int (*tell)(void *context, const struct record_text *told),
		void *context);

#endif
