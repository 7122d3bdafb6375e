/* SPDX-License-Identifier: MIT */
/*
 * The plan's interpreter, the decoder's inner loop. It is compiled six times: for either byte
 * order, and for text, for text with what --check and --bytes ask for, and for fields, so that the
 * common way has none of these tests.
 */
#include "plan/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/attr.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A value that has no name is "0x...": a member has one type. */
static char *put_name(char *p, const struct abi_family *set, uint64_t value, uint64_t *unknown)
{
	const struct abi_value *known = abi_value_of(set, value);

	*unknown = !known;
	*p++ = '"';
	p = known ? put_text(p, known->name) : put_hex(put_text(p, "0x"), value);
	*p++ = '"';
	return p;
}

/* The same, or of a mask the names of the bits that are set; what has none as one "0x...". */
static char *put_set(char *p, const struct abi_family *set, uint64_t value, uint64_t *unknown)
{
	if (!set->mask)
		return put_name(p, set, value, unknown);
	*p++ = '[';
	for (size_t i = 0; i < set->count && value; i++) {
		uint64_t bit = set->values[i].value;

		if (!bit || (!set->is_open && (bit & (bit - 1))) || (value & bit) != bit)
			continue;
		value &= ~bit;
		*p++ = '"';
		p = put_text(p, set->values[i].name);
		*p++ = '"';
		*p++ = ',';
	}
	*unknown = value;
	if (value) {
		p = put_text(p, "\"0x");
		p = put_hex(p, value);
		*p++ = '"';
	}
	return put_close(p, ']');
}

static void add_finding(struct record *r, const char *code, const struct op *op, size_t offset)
{
	if (r->finding_count < FINDINGS)
		r->findings[r->finding_count++] =
			(struct finding){code, op->path, (uint32_t)offset};
}

static void note_place(struct record *r, const char *path, size_t offset, size_t length)
{
	char *p = r->at;

	*p++ = '"';
	p = put_text(p, path);
	p = put_text(p, "\":[");
	p = put_u64(p, offset);
	*p++ = ',';
	p = put_u64(p, length);
	p = put_text(p, "],");
	r->at = p;
}

/* What the checks over many records hold against each other. */
static void keep_role(struct record *r, const struct op *op, uint64_t value)
{
	if (op->role == ROLE_TIME) {
		r->time = value;
		r->has_time = true;
	} else if (op->role == ROLE_CPU) {
		r->cpu = value;
		r->has_cpu = true;
	}
}

/* The mark of the context that the addresses behind it are of, and the cookie of a deferred one. */
static char *put_marker(char *p, const struct op *op, uint64_t value, const unsigned char **at,
			uint64_t *left, bool swap)
{
	uint64_t unknown;

	p = put_name(put_text(p, "{\"context\":"), op->array.markers, value, &unknown);
	if (value == op->array.cookie_marker && *left) {
		p = put_hex(put_text(p, ",\"cookie\":\"0x"), load_swapped(*at, 8, swap));
		*p++ = '"';
		*at += 8;
		--*left;
	}
	*p++ = '}';
	return p;
}

ALWAYS_INLINE char *put_number(char *p, uint8_t kind, uint64_t v)
{
	switch (kind) {
	case OP_S8:
		return put_s64(p, (int8_t)v);
	case OP_S16:
		return put_s64(p, (int16_t)v);
	case OP_S32:
		return put_s64(p, (int32_t)v);
	case OP_S64:
		return put_s64(p, (int64_t)v);
	case OP_I64:
		return put_i64(p, v);
	case OP_X16:
	case OP_X32:
	case OP_X64:
		p = put_hex(p, v);
		*p = '"';
		return p + 1;
	default:
		return put_u64(p, v);
	}
}

/* The numbers of an array; `left` of them are there. */
ALWAYS_INLINE char *put_array(char *p, const struct op *op, const unsigned char *at, uint64_t left,
			      bool swap)
{
	uint64_t first_marker = op->array.markers ? op->array.first_marker : UINT64_MAX;

	while (left--) {
		uint64_t v = load_swapped(at, op->width, swap);

		at += op->width;
		if (op->array.markers && v >= first_marker) {
			p = put_marker(p, op, v, &at, &left, swap);
		} else {
			if (op->array.element >= OP_X16 && op->array.element <= OP_X64) {
				memcpy(p, "\"0x", 4);
				p += 3;
			}
			p = put_number(p, op->array.element, v);
		}
		*p++ = ',';
	}
	return put_close(p, ']');
}

static char *put_attr_text(char *p, struct record *r, const unsigned char *at, size_t n)
{
	char *text = r->dry ? NULL : attr_to_text(r->abi, r->arch, at, n, r->order);

	if (!text && !r->dry)
		r->err = -ENOMEM;
	p = put_text(p, text ? text : "null");
	free(text);
	return p;
}

/* What is made of a record: text, the same with notes, findings or a spill, or fields. */
enum how { AS_TEXT, AS_TEXT_AND_MORE, AS_FIELDS };

struct loop {
	uint64_t left, index;
	size_t field; /* the list's own */
	const unsigned char *begin;
	bool to_end;
};

/*
 * What stays the same while a record is read. The functions below are inlined into run(), where
 * this and the state become what the compiler can keep in registers: neither is to be handed to a
 * function that is not inlined.
 */
struct input {
	const struct plan *plan;
	struct record *r;
	const unsigned char *bytes, *end, *limit; /* up to the limit fields of any length go */
	uint16_t misc;
	enum record_pass pass;
	bool swap;
	enum how how;
};

struct state {
	const unsigned char *at; /* the bytes to come */
	char *p;                 /* the text so far */
	uint64_t v;              /* the value that was written last */
	struct loop *loop;       /* behind the innermost one */
	char *hidden, *hidden_at;
	size_t hidden_fields;
};

ALWAYS_INLINE bool as_text(const struct input *in)
{
	return in->how != AS_FIELDS;
}

/* Whether the text of a value is wanted; between OP_HIDE and OP_SHOW it is not. */
ALWAYS_INLINE bool is_written(const struct input *in, const struct state *s)
{
	return as_text(in) && !s->hidden;
}

ALWAYS_INLINE bool is_slow(const struct input *in)
{
	return in->how == AS_TEXT_AND_MORE;
}

/* Bytes before the sample_id, or the end; none where a short record's fields reach into it. */
ALWAYS_INLINE size_t left(const struct input *in, const struct state *s)
{
	return s->at < in->limit ? (size_t)(in->limit - s->at) : 0;
}

ALWAYS_INLINE size_t offset_at(const struct input *in, const unsigned char *at)
{
	return (size_t)(at - in->bytes);
}

ALWAYS_INLINE uint64_t take_number(const struct input *in, struct state *s, unsigned width)
{
	uint64_t v = load_swapped(s->at, width, in->swap);

	s->at += width;
	return v;
}

ALWAYS_INLINE void put_op_key(struct state *s, const struct op *op)
{
	s->p = put_key(s->p, op->key, op->key_length);
}

/* Room for one more field; false if there is no memory. */
static __attribute__((noinline)) bool more_fields(struct record *r)
{
	int err = list_grow(&r->fields, r->field_count, &r->field_capacity, sizeof(*r->fields));

	r->err = err ? err : r->err;
	return !err;
}

/* The operation's field, of those who ask for fields. */
ALWAYS_INLINE void add_field(const struct input *in, const struct op *op,
			     const unsigned char *begin, size_t size, uint64_t value)
{
	struct record *r = in->r;

	if (as_text(in) || !op->number)
		return;
	if (__builtin_expect(r->field_count == r->field_capacity, 0) && !more_fields(r))
		return;
	r->fields[r->field_count++] = (struct perfabi_field){
		.number = op->number,
		.offset = (uint32_t)offset_at(in, begin),
		.size = (uint32_t)size,
		.kind = op->field,
		.width = op->width,
		.element = op->field == PERFABI_ARRAY ? op->array.field : 0,
		.own = {(uint32_t)(op - in->plan->ops)},
		.value = value,
	};
}

/* Of a value that was read, with whatever stands in front of it. */
ALWAYS_INLINE void add_value(const struct input *in, const struct state *s, const struct op *op,
			     const unsigned char *begin)
{
	uint64_t sign = op->field == PERFABI_SIGNED ? UINT64_C(1) << (8 * op->width - 1) : 0;

	add_field(in, op, begin, (size_t)(s->at - begin), (s->v ^ sign) - sign);
}

/* From where the loop over operations goes on to the target. */
ALWAYS_INLINE const struct op *before(const struct input *in, uint32_t target)
{
	return in->plan->ops + target - 1;
}

ALWAYS_INLINE const struct op *unless(const struct input *in, const struct op *op, bool holds)
{
	return holds ? op : before(in, op->jump);
}

ALWAYS_INLINE void note_bytes(const struct input *in, const struct op *op,
			      const unsigned char *begin, const unsigned char *at)
{
	if (is_slow(in) && in->r->notes && op->path)
		note_place(in->r, op->path, offset_at(in, begin), (size_t)(at - begin));
}

ALWAYS_INLINE void find_at(const struct input *in, const char *code, const struct op *op,
			   const unsigned char *at)
{
	if (is_slow(in) && in->r->strict)
		add_finding(in->r, code, op, offset_at(in, at));
}

ALWAYS_INLINE void find_nonzeros(const struct input *in, const char *code, const struct op *op,
				 const unsigned char *at, size_t n)
{
	for (size_t i = 0; is_slow(in) && in->r->strict && i < n; i++)
		if (at[i]) {
			add_finding(in->r, code, op, offset_at(in, at) + i);
			return;
		}
}

/* How many there are of what has `width` bytes at least; false if the prefix is not there. */
ALWAYS_INLINE bool amount(const struct input *in, struct state *s, const struct op *op,
			  unsigned width, uint64_t *out)
{
	const struct layout_size *size = op->amount.size;
	uint64_t n;

	switch (size->from) {
	case LAYOUT_FROM_NUMBER:
		n = size->number;
		break;
	case LAYOUT_FROM_FIELD:
	case LAYOUT_FROM_KEPT:
		n = in->r->regs[op->amount.reg];
		break;
	case LAYOUT_FROM_PREFIX:
		if (left(in, s) < size->prefix)
			return false;
		n = take_number(in, s, size->prefix);
		break;
	case LAYOUT_TO_NUL:
		n = strnlen((const char *)s->at, left(in, s)) + 1;
		break;
	default:
		n = left(in, s) / width;
	}
	if (size->less)
		n = n > size->less ? n - size->less : 0;
	if (size->per)
		n = n / size->per + (n % size->per != 0);
	*out = n;
	return true;
}

/* The same, of bytes that have to be there. */
ALWAYS_INLINE bool length(const struct input *in, struct state *s, const struct op *op)
{
	return amount(in, s, op, 1, &s->v) && s->v <= left(in, s);
}

/* `width` bits of the word in the operation's register. */
ALWAYS_INLINE uint64_t bits_of(const struct record *r, const struct op *op, struct bit_place place)
{
	unsigned shift = r->order == BIG ? place.big : place.little;

	return r->regs[op->reg] >> shift & UINT64_MAX >> (64 - op->width);
}

ALWAYS_INLINE void run_number(const struct input *in, struct state *s, const struct op *op,
			      unsigned width, uint8_t kind)
{
	uint64_t high;

	s->v = take_number(in, s, width);
	if (!as_text(in))
		return;
	if (!is_slow(in) && kind <= OP_S32 &&
	    !(kind >= OP_S8 && s->v >> (8 * width - 1))) { /* negative */
		/* of a large number, a time, the upper digits come again */
		high = s->v < 100000000 ? s->v : s->v / 100000000;
		s->p = put_again(s->p, in->r->again, op, op->key, op->key_length, high);
		if (s->v >= 100000000)
			s->p = put_all8(s->p, (uint32_t)(s->v % 100000000));
		return;
	}
	put_op_key(s, op);
	s->p = put_number(s->p, kind, s->v);
}

/* Two numbers, mostly a process and a thread, as one that comes again; false: they are two. */
ALWAYS_INLINE bool run_pair(const struct input *in, struct state *s, const struct op *op)
{
	const void *of = &op->width; /* another than the first number alone has */
	struct again *one;
	uint64_t both;
	char *p;

	if (!as_text(in) || is_slow(in))
		return false;
	memcpy(&both, s->at, 8);
	one = again_of(in->r->again, of, both);
	if (__builtin_expect(again_is(one, of, both), 1)) {
		memcpy(s->p, one->text, AGAIN_TEXT);
		s->p += one->length;
		s->at += 8;
		return true;
	}
	p = s->p;
	run_number(in, s, op, 4, OP_S32);
	*s->p++ = ',';
	run_number(in, s, op + 1, 4, OP_S32);
	*s->p++ = ',';
	again_keep(one, of, both, p, s->p);
	return true;
}

ALWAYS_INLINE void run_double(const struct input *in, struct state *s, const struct op *op)
{
	double number;

	s->v = take_number(in, s, 8);
	if (!as_text(in))
		return;
	memcpy(&number, &s->v, 8);
	put_op_key(s, op);
	s->p = put_double(s->p, number);
}

ALWAYS_INLINE void run_set(const struct input *in, struct state *s, const struct op *op)
{
	uint64_t unknown;

	s->v = take_number(in, s, op->width);
	if (!as_text(in))
		return;
	put_op_key(s, op);
	s->p = put_set(s->p, op->set, s->v, &unknown);
	if (unknown && !op->set->is_open)
		find_at(in, "unknown-bits", op, s->at - op->width);
}

ALWAYS_INLINE void run_align(const struct input *in, struct state *s, const struct op *op)
{
	size_t n = (op->bytes - offset_at(in, s->at) % op->bytes) % op->bytes;

	if (n > left(in, s))
		n = left(in, s);
	find_nonzeros(in, "padding", op, s->at, n);
	s->at += n;
}

ALWAYS_INLINE void run_bits(const struct input *in, struct state *s, const struct op *op)
{
	uint64_t v = bits_of(in->r, op, op->bits.place), unknown = 0;

	if (op->bits.omit_zero && !v)
		return;
	add_field(in, op, s->at - op->bits.bytes, op->bits.bytes, v);
	if (!as_text(in))
		return;
	put_op_key(s, op);
	s->p = op->bits.set ? put_set(s->p, op->bits.set, v, &unknown) : put_u64(s->p, v);
	*s->p++ = ',';
	if (unknown)
		find_at(in, "unknown-bits", op, s->at);
}

ALWAYS_INLINE void run_rest(const struct input *in, struct state *s, const struct op *op)
{
	uint64_t v = in->r->regs[op->reg];

	v &= ~(in->r->order == BIG ? op->rest.mirrored : op->rest.named);
	if (!v)
		return;
	find_at(in, "reserved", op, s->at);
	add_field(in, op, s->at - op->width / 8, op->width / 8, v);
	if (!as_text(in))
		return;
	put_op_key(s, op);
	s->p = op->rest.decimal ? put_text(put_u64(s->p, v), ",")
				: put_text(put_hex(s->p, v), "\",");
}

/* RECORD_IMPOSSIBLE with the text written only if all is to be taken. */
ALWAYS_INLINE enum record_problem run_string(const struct input *in, struct state *s,
					     const struct op *op)
{
	enum record_problem impossible = RECORD_OK;
	size_t n, readable = 0;

	if (!length(in, s, op))
		return RECORD_SHORT;
	n = strnlen((const char *)s->at, (size_t)s->v);
	/* as a kernel names things: something, and no control characters in it */
	while (op->text.readable && readable < n && s->at[readable] >= 0x20)
		readable++;
	if (op->text.readable && (!n || readable < n)) {
		impossible = RECORD_IMPOSSIBLE;
		in->r->failed = op->key;
		in->r->failed_at = (uint32_t)offset_at(in, s->at);
		if (in->pass != TAKE_ALL)
			return impossible;
	}
	if (is_written(in, s)) {
		put_op_key(s, op);
		s->p = (in->r->lossy ? put_lossy : put_string)(s->p, s->at, n);
	}
	find_nonzeros(in, "padding", op, s->at + n, (size_t)s->v - n);
	if (n == s->v && n)
		find_at(in, "unterminated", op, s->at + n);
	s->at += s->v;
	s->v = n;
	return impossible;
}

ALWAYS_INLINE enum record_problem run_bytes(const struct input *in, struct state *s,
					    const struct op *op)
{
	uint64_t shown;

	if (!length(in, s, op))
		return RECORD_SHORT;
	shown = s->v;
	if (op->text.used != NO_REG && in->r->regs[op->text.used] < shown)
		shown = in->r->regs[op->text.used];
	if (is_written(in, s)) {
		put_op_key(s, op);
		s->p = put_bytes(s->p, s->at, (size_t)shown);
		*s->p++ = '"';
	}
	find_nonzeros(in, "padding", op, s->at + shown, (size_t)(s->v - shown));
	s->at += s->v;
	s->v = shown;
	return RECORD_OK;
}

static __typeof__(record_put) text, text_swapped;

/* Raw data by its format: where that is written up to, or NULL where it does not fit. */
static __attribute__((noinline)) char *put_traced(struct record *r, const unsigned char *bytes,
						  size_t size, char *p)
{
	const struct plan *plan = &r->format->plan;

	r->raw->order = r->order;
	r->raw->located = 0;
	if (size >= 2 && load_word(bytes, 2, r->order) == r->format->id &&
	    (r->order == host_order() ? text : text_swapped)(plan, r->raw, bytes, 0, size, 0, &p) ==
		    RECORD_OK)
		return p;
	r->misfit = true;
	return NULL;
}

ALWAYS_INLINE enum record_problem run_raw(const struct input *in, struct state *s,
					  const struct op *op)
{
	char *p;

	if (!is_written(in, s) || !in->r->raw || !in->r->format)
		return run_bytes(in, s, op);
	if (!length(in, s, op))
		return RECORD_SHORT;
	p = put_traced(in->r, s->at, (size_t)s->v, s->p);
	if (!p) {
		put_op_key(s, op);
		p = put_bytes(s->p, s->at, (size_t)s->v);
		*p++ = '"';
		*p++ = ',';
	}
	s->p = p - 1; /* a comma comes behind each value */
	s->at += s->v;
	return RECORD_OK;
}

ALWAYS_INLINE enum record_problem run_loc(const struct input *in, struct state *s,
					  const struct op *op)
{
	size_t size = (size_t)(in->end - in->bytes), at, n;
	uint64_t v = take_number(in, s, 4);

	at = v & 0xffff;
	n = (size_t)(v >> 16);
	if (op->amount.size->from == LAYOUT_FROM_REL_LOC)
		at += offset_at(in, s->at);
	in->r->located += n;
	if (at > size || n > size - at || in->r->located > size)
		return RECORD_SHORT;
	put_op_key(s, op);
	if (op->array.element == OP_STRING) {
		n = strnlen((const char *)in->bytes + at, n);
		s->p = (in->r->lossy ? put_lossy : put_string)(s->p, in->bytes + at, n);
	} else if (op->array.element == OP_BYTES) {
		*s->p++ = '"';
		s->p = put_bytes(s->p, in->bytes + at, n);
		*s->p++ = '"';
	} else {
		*s->p++ = '[';
		s->p = put_array(s->p, op, in->bytes + at, n / op->width, in->swap);
	}
	return RECORD_OK;
}

ALWAYS_INLINE enum record_problem run_opaque(const struct input *in, struct state *s,
					     const struct op *op)
{
	if (!length(in, s, op))
		return RECORD_SHORT;
	if (is_written(in, s)) {
		put_op_key(s, op);
		s->p = put_u64(s->p, s->v);
	}
	s->at += s->v;
	return RECORD_OK;
}

ALWAYS_INLINE enum record_problem run_attr(const struct input *in, struct state *s,
					   const struct op *op)
{
	enum layout_from from = op->amount.size->from;
	uint64_t size;

	if (left(in, s) < 8)
		return RECORD_SHORT;
	size = from == LAYOUT_FROM_FIELD || from == LAYOUT_FROM_KEPT
		       ? in->r->regs[op->amount.reg]
		       : load_swapped(s->at + 4, 4, in->swap);
	if (!size)
		size = in->r->abi->attr_smallest;
	if (size < in->r->abi->attr_smallest)
		return RECORD_ATTR;
	if (size > left(in, s))
		return RECORD_SHORT;
	if (is_written(in, s)) {
		put_op_key(s, op);
		s->p = put_attr_text(s->p, in->r, s->at, (size_t)size);
	}
	s->at += size;
	s->v = size;
	return RECORD_OK;
}

ALWAYS_INLINE enum record_problem run_array(const struct input *in, struct state *s,
					    const struct op *op)
{
	if (!amount(in, s, op, op->width, &s->v))
		return RECORD_SHORT;
	if (s->v > left(in, s) / op->width)
		return RECORD_COUNT;
	if (is_written(in, s)) {
		put_op_key(s, op);
		s->p = put_array(s->p, op, s->at, s->v, in->swap);
	}
	s->at += s->v * op->width;
	return RECORD_OK;
}

ALWAYS_INLINE void begin_element(const struct input *in, struct state *s, const struct op *op)
{
	if (as_text(in) && !op->bare)
		*s->p++ = '{';
}

ALWAYS_INLINE void end_loop(const struct input *in, struct state *s, const struct op *op,
			    const struct loop *loop)
{
	if (as_text(in)) {
		s->p = put_close(s->p, ']');
		*s->p++ = ',';
	} else if (loop->field < in->r->field_count) {
		in->r->fields[loop->field].size = (uint32_t)(s->at - loop->begin);
		in->r->fields[loop->field].value = loop->index;
	}
	note_bytes(in, op, loop->begin, s->at);
}

/* *next: where to go on. */
ALWAYS_INLINE enum record_problem run_loop(const struct input *in, struct state *s,
					   const struct op *op, const struct op **next)
{
	struct loop loop = {.begin = s->at, .to_end = op->amount.size->from == LAYOUT_FROM_REST};

	if (!amount(in, s, op, 1, &loop.left))
		return RECORD_SHORT;
	if (loop.left > left(in, s))
		return RECORD_COUNT;
	loop.field = op->number ? in->r->field_count : SIZE_MAX;
	add_field(in, op, loop.begin, 0, 0);
	if (as_text(in))
		put_op_key(s, op);
	if (loop.left) {
		*s->loop++ = loop;
		begin_element(in, s, op);
	} else {
		end_loop(in, s, op, &loop);
		*next = before(in, op->jump);
	}
	return RECORD_OK;
}

/* Behind an element: to the next one, or on. */
ALWAYS_INLINE const struct op *run_next(const struct input *in, struct state *s,
					const struct op *op)
{
	struct loop *loop = &s->loop[-1];

	if (as_text(in) && !op->bare) {
		s->p = put_close(s->p, '}');
		*s->p++ = ',';
	}
	loop->index++;
	loop->left--;
	if (is_slow(in) && in->r->spill)
		s->p = in->r->spill(in->r->spill_to, s->p);
	if (loop->to_end ? s->at < in->limit : loop->left) {
		begin_element(in, s, op);
		return before(in, op->jump);
	}
	s->loop--;
	end_loop(in, s, op, loop);
	return op;
}

ALWAYS_INLINE void run_index(const struct input *in, struct state *s, const struct op *op)
{
	uint64_t unknown;

	add_field(in, op, s->at, 0, s->loop[-1].index);
	if (!as_text(in))
		return;
	put_op_key(s, op);
	s->p = put_name(s->p, op->set, s->loop[-1].index, &unknown);
	*s->p++ = ',';
}

/* Behind all fields: bytes that none accounts for. */
ALWAYS_INLINE enum record_problem run_end(const struct input *in, struct state *s,
					  enum record_problem problem)
{
	size_t n = (size_t)(in->end - s->at), used = 0;

	while (used < n && !s->at[used])
		used++;
	if (in->plan->open || (used == n && (n < 8 || in->plan->lenient)))
		return problem;
	if (!in->plan->no_rest)
		add_field(in, &in->plan->ops[in->plan->count - 1], s->at, n, n);
	if (as_text(in) && !in->plan->no_rest) {
		s->p = put_text(s->p, "\"rest\":\"");
		s->p = put_bytes(s->p, s->at, n);
		s->p = put_text(s->p, "\",");
	}
	in->r->failed_at = (uint32_t)offset_at(in, s->at);
	return RECORD_LEFT;
}

/* Ends the objects around a field behind which nothing is known; the bytes there are the rest. */
ALWAYS_INLINE enum record_problem run_unknown(const struct input *in, struct state *s,
					      const struct op *op)
{
	if (as_text(in) && s->hidden) {
		s->p = s->hidden;
		in->r->at = s->hidden_at;
	} else if (as_text(in)) {
		for (unsigned i = 0; i < op->known.depth; i++) {
			s->p = put_close(s->p, '}');
			*s->p++ = ',';
		}
	}
	if (!as_text(in) && s->hidden)
		in->r->field_count = s->hidden_fields;
	run_end(in, s, RECORD_OK);
	in->r->failed = op->key;
	return op->known.set ? RECORD_UNKNOWN : RECORD_MORE;
}

/* The field that did not fit, or the next one that has a key. */
static void say_failed(struct record *r, const struct op *op, size_t at)
{
	for (r->failed = op->key; !r->failed[0] && op->kind != OP_END; op++)
		r->failed = op[1].key;
	r->failed_at = (uint32_t)at;
}

/* In the switch, `break` leads to what is the same behind every value, `continue` past it. */
ALWAYS_INLINE enum record_problem run(const struct plan *plan, struct record *r,
				      const unsigned char *bytes, size_t from, size_t size,
				      uint16_t misc, char **out, const bool swap,
				      const enum how how)
{
	const struct input in = {plan, r,       bytes, bytes + size, bytes + size - plan->tail,
				 misc, r->pass, swap,  how};
	struct loop loops[LAYOUT_LOOPS];
	char nothing;
	struct state s = {bytes + from, out ? *out : &nothing, 0, loops, NULL, r->at, 0};
	enum record_problem problem = RECORD_OK, failed;
	const struct op *op = plan->ops;

	r->finding_count = 0;
	r->field_count = 0;
	r->fixed = NULL;
	if (size < from + plan->tail) {
		r->failed = NULL;
		r->failed_at = (uint32_t)size;
		return RECORD_SHORT;
	}
	for (;; op++) {
		const unsigned char *begin = s.at;

		failed = RECORD_OK;
		switch ((enum op_kind)op->kind) {
		case OP_NEED:
			if ((size_t)(in.end - s.at) >= op->bytes)
				continue;
			failed = RECORD_SHORT;
			break;
		case OP_U32:
			run_number(&in, &s, op, 4, OP_U32);
			break;
		case OP_U64:
			run_number(&in, &s, op, 8, OP_U64);
			break;
		case OP_X64:
			run_number(&in, &s, op, 8, OP_X64);
			break;
		case OP_PAIR:
			if (run_pair(&in, &s, op)) {
				op++;
				continue;
			}
			__attribute__((fallthrough));
		case OP_S32:
			run_number(&in, &s, op, 4, OP_S32);
			break;
		case OP_U8: /* and others that are rare enough to be looked at twice */
		case OP_U16:
		case OP_S8:
		case OP_S16:
		case OP_I64:
		case OP_S64:
		case OP_X16:
		case OP_X32:
			run_number(&in, &s, op, op->width, op->kind);
			break;
		case OP_F64:
			run_double(&in, &s, op);
			break;
		case OP_SET:
			run_set(&in, &s, op);
			break;
		case OP_SKIP:
			s.v = take_number(&in, &s, op->width);
			if (op->reg != NO_REG)
				r->regs[op->reg] = s.v;
			if (is_slow(&in))
				keep_role(r, op, s.v);
			continue;
		case OP_POSSIBLE:
			if (!(r->regs[op->reg] & ~op->possible))
				continue;
			failed = RECORD_IMPOSSIBLE;
			if (in.pass != TAKE_ALL)
				break;
			say_failed(r, op, offset_at(&in, s.at));
			problem = failed;
			continue;
		case OP_KNOWN:
			if (op->known.set ? abi_value_of(op->known.set, r->regs[op->reg]) != NULL
					  : r->regs[op->reg] <= op->known.most)
				continue;
			problem = run_unknown(&in, &s, op);
			if (as_text(&in))
				*out = s.p;
			return problem;
		case OP_PAD:
			find_nonzeros(&in, "reserved", op, s.at, op->bytes);
			s.at += op->bytes;
			continue;
		case OP_ALIGN:
			run_align(&in, &s, op);
			continue;
		case OP_WORD:
			r->regs[op->reg] = take_number(&in, &s, op->width);
			add_field(&in, op, begin, op->width, r->regs[op->reg]);
			note_bytes(&in, op, begin, s.at);
			continue;
		case OP_BITS:
			run_bits(&in, &s, op);
			continue;
		case OP_REST:
			run_rest(&in, &s, op);
			continue;
		case OP_TEXT:
			if (as_text(&in))
				put_op_key(&s, op);
			continue;
		case OP_CLOSE:
			if (!as_text(&in))
				continue;
			s.p = put_close(s.p, '}');
			*s.p++ = ',';
			continue;
		case OP_STRING:
			failed = run_string(&in, &s, op);
			if (failed == RECORD_IMPOSSIBLE && in.pass == TAKE_ALL) {
				problem = failed;
				failed = RECORD_OK;
			}
			break;
		case OP_BYTES:
			failed = run_bytes(&in, &s, op);
			break;
		case OP_RAW:
			failed = run_raw(&in, &s, op);
			break;
		case OP_LOC:
			failed = run_loc(&in, &s, op);
			break;
		case OP_OPAQUE:
			failed = run_opaque(&in, &s, op);
			break;
		case OP_ATTR:
			failed = run_attr(&in, &s, op);
			break;
		case OP_ARRAY:
			failed = run_array(&in, &s, op);
			break;
		case OP_LOOP:
			failed = run_loop(&in, &s, op, &op);
			if (!failed)
				continue;
			break;
		case OP_NEXT:
			op = run_next(&in, &s, op);
			continue;
		case OP_INDEX:
			run_index(&in, &s, op);
			continue;
		case OP_UNLESS_MISC:
			op = unless(&in, op, (in.misc & op->test.value) == op->test.value);
			continue;
		case OP_UNLESS_IS:
			op = unless(&in, op, r->regs[op->reg] == op->test.value);
			continue;
		case OP_UNLESS_BITS_ARE:
			op = unless(&in, op, bits_of(r, op, op->test.place) == op->test.value);
			continue;
		case OP_UNLESS_NOT:
			op = unless(&in, op, r->regs[op->reg] != op->test.value);
			continue;
		case OP_UNLESS_AT_LEAST:
			op = unless(&in, op, r->regs[op->reg] >= op->test.value);
			continue;
		case OP_UNLESS_LEFT:
			op = unless(&in, op, left(&in, &s) >= op->test.value);
			continue;
		case OP_UNLESS_MAYBE:
			r->maybe = true;
			op = unless(&in, op, in.pass == WITH_MAYBE);
			continue;
		case OP_JUMP:
			op = before(&in, op->jump);
			continue;
		case OP_HIDE:
			s.hidden = s.p;
			s.hidden_at = r->at;
			s.hidden_fields = r->field_count;
			continue;
		case OP_SHOW:
			s.p = s.hidden;
			s.hidden = NULL;
			r->at = s.hidden_at;
			if (!as_text(&in))
				r->field_count = s.hidden_fields;
			continue;
		case OP_END:
			if (s.at < in.end)
				problem = run_end(&in, &s, problem);
			if (as_text(&in))
				*out = s.p;
			return problem;
		}
		if (__builtin_expect(failed != RECORD_OK, 0)) {
			say_failed(r, op, offset_at(&in, s.at));
			return failed;
		}
		if (as_text(&in))
			*s.p++ = ',';
		else
			add_value(&in, &s, op, begin);
		if (op->reg != NO_REG)
			r->regs[op->reg] = s.v;
		if (is_slow(&in))
			keep_role(r, op, s.v);
		note_bytes(&in, op, begin, s.at);
	}
}

#define VARIANT(name, swap, how)                                                                   \
	static enum record_problem name(const struct plan *plan, struct record *r,                 \
					const unsigned char *bytes, size_t from, size_t size,      \
					uint16_t misc, char **out)                                 \
	{                                                                                          \
		return run(plan, r, bytes, from, size, misc, out, swap, how);                      \
	}
VARIANT(text, false, AS_TEXT)
VARIANT(text_swapped, true, AS_TEXT)
VARIANT(text_and_more, false, AS_TEXT_AND_MORE)
VARIANT(text_and_more_swapped, true, AS_TEXT_AND_MORE)
VARIANT(fields, false, AS_FIELDS)
VARIANT(fields_swapped, true, AS_FIELDS)

/* The fields of all records of that plan, but for their values. False: no memory. */
static __attribute__((noinline)) bool add_fixed(const struct plan *plan, struct record *r,
						const unsigned char *bytes)
{
	const struct input in = {.plan = plan, .r = r, .bytes = bytes, .how = AS_FIELDS};

	r->field_count = 0;
	for (const struct op *op = plan->ops; op < plan->rest; op++)
		if (op->kind <= OP_SET)
			add_field(&in, op, bytes + op->offset, op->width, 0);
	r->fixed = r->err ? NULL : plan;
	return !r->err;
}

bool record_take_fixed(const struct plan *plan, struct record *r, const unsigned char *bytes,
		       size_t size)
{
	bool swap = r->order != host_order();
	size_t at = plan->ahead;

	if (!at || size < at)
		return false;
	for (const struct op *op = plan->rest; op->kind != OP_END; op++) {
		size_t width = op->kind == OP_ARRAY ? op->width : 1;
		uint64_t n;
		uint8_t prefix;

		if (op->kind == OP_HIDE || op->kind == OP_SHOW)
			continue;
		prefix = op->amount.size->prefix;
		if (size - at < prefix)
			return false;
		n = load_swapped(bytes + at, prefix, swap);
		at += prefix;
		if (n > size || n * width > size - at)
			return false;
		at += n * width;
	}
	if (at != size)
		return false;
	if (r->fixed != plan && !add_fixed(plan, r, bytes))
		return false;
	for (size_t i = 0; i < r->field_count; i++) {
		struct perfabi_field *field = &r->fields[i];
		uint64_t v = load_swapped(bytes + field->offset, field->width, swap);
		uint64_t sign =
			field->kind == PERFABI_SIGNED ? UINT64_C(1) << (8 * field->width - 1) : 0;

		field->value = (v ^ sign) - sign;
	}
	return true;
}

/* In each way that there is, until one fits; the last is kept if none does. */
enum record_problem record_put(const struct plan *plan, struct record *r,
			       const unsigned char *bytes, size_t from, size_t size, uint16_t misc,
			       char **out)
{
	static __typeof__(record_put) *const variants[][2] = {
		[AS_TEXT] = {text, text_swapped},
		[AS_TEXT_AND_MORE] = {text_and_more, text_and_more_swapped},
		[AS_FIELDS] = {fields, fields_swapped}};
	enum how how = !out ? AS_FIELDS : r->again && !r->spill ? AS_TEXT : AS_TEXT_AND_MORE;
	bool swap = r->order != host_order();
	char *start = out ? *out : NULL, *at = r->at;
	enum record_problem problem;

	r->failed = NULL;
	r->misfit = false;
	r->has_time = r->has_cpu = r->maybe = false;
	r->pass = WITHOUT_MAYBE;
	for (;;) {
		problem = variants[how][swap](plan, r, bytes, from, size, misc, out);
		if (!problem || r->pass == TAKE_ALL || (!r->maybe && problem != RECORD_IMPOSSIBLE))
			return problem;
		r->pass = r->maybe && r->pass == WITHOUT_MAYBE ? WITH_MAYBE : TAKE_ALL;
		if (out)
			*out = start;
		r->at = at;
	}
}

const char *record_problem_text(enum record_problem problem, const struct record *r, char *text,
				size_t size)
{
	static const char *const says[] = {
		[RECORD_OK] = "is whole",
		[RECORD_SHORT] = "ends past the record",
		[RECORD_COUNT] = "has more elements than bytes",
		[RECORD_IMPOSSIBLE] = "has a value that no kernel gives it",
		[RECORD_UNKNOWN] =
			"has a value that cases/abi has no name for: what follows is not known",
		[RECORD_MORE] = "is more than attr asks for: what follows is not known"};
	const char *key = r->failed && r->failed[0] == '"' ? r->failed + 1 : "a field\"";

	if (problem == RECORD_ATTR)
		snprintf(text, size, "an attr of less than %u bytes", r->abi->attr_smallest);
	else if (problem == RECORD_LEFT)
		snprintf(text, size, "no field accounts for the bytes from %u on", r->failed_at);
	else
		snprintf(text, size, "%.*s %s", (int)strcspn(key, "\""), key, says[problem]);
	return text;
}

int record_tell(const struct abi *abi, const struct layout *layout, enum byte_order order,
		const unsigned char *bytes, size_t from, size_t size, const char *const *paths,
		size_t count, int (*tell)(void *context, const struct record_text *told),
		void *context)
{
	struct record r = {.abi = abi, .order = order};
	struct paths numbers = {.names = paths, .count = count};
	const struct plan_for with = {.abi = abi, .paths = &numbers};
	struct plan plan = {0};
	int err;

	err = plan_make(&plan, &with, layout);
	if (!err && record_put(&plan, &r, bytes, from, size, 0, NULL) < RECORD_IMPOSSIBLE &&
	    r.failed)
		r.field_count = 0;
	for (size_t i = 0; i < r.field_count && !err && !r.err; i++) {
		const struct perfabi_field *field = &r.fields[i];
		const struct op *op = &plan.ops[field->own[0]];
		bool is_text = field->kind == PERFABI_STRING,
		     is_array = field->kind == PERFABI_ARRAY;
		const unsigned char *at = bytes + field->offset;

		if (is_text || is_array)
			at += op->amount.size->prefix;
		err = tell(context,
			   &(struct record_text){.path = (int)field->number - 1,
						 .text = is_text ? (const char *)at : NULL,
						 .size = is_text ? (size_t)field->value : 0,
						 .bytes = at,
						 .value = field->value});
	}
	err = err ? err : r.err;
	free(r.fields);
	plan_free(&plan);
	return err;
}
