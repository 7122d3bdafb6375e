/* SPDX-License-Identifier: MIT */
/*
 * The plan's interpreter, the decoder's inner loop. It is compiled four times, for either byte
 * order and with or without what --check and --bytes ask for, so that the common way has neither
 * test.
 */
#include "plan/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/attr.h"
#include "text/json.h"
#include "text/json_text.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

size_t record_longest(const struct plan *plan, size_t size)
{
	/* The type, offset, size, misc and event come before, the rest and the notes behind. */
	return plan->fixed + plan->paths + size * (plan->per_byte > 2 ? plan->per_byte : 2) + 1024;
}

/* The names of the bits that are set; what has none as one "0x...". */
static char *put_mask(char *p, const struct abi_family *set, uint64_t value, uint64_t *unknown)
{
	*p++ = '[';
	for (size_t i = 0; i < set->count && value; i++) {
		uint64_t bit = set->values[i].value;

		if (!bit || (bit & (bit - 1)) || !(value & bit))
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

/* Up to INT64_MAX as a number, beyond it as text. */
static char *put_i64(char *p, uint64_t value)
{
	if (value <= INT64_MAX)
		return put_u64(p, value);
	p = put_hex(put_text(p, "\"0x"), value);
	*p = '"';
	return p + 1;
}

static char *put_name(char *p, const struct abi_family *set, bool integers, uint64_t value,
		      uint64_t *unknown)
{
	const struct abi_value *known = abi_value_of(set, value);

	*unknown = !known;
	if (!known)
		return integers ? put_i64(p, value) : put_u64(p, value);
	*p++ = '"';
	p = put_text(p, known->name);
	*p++ = '"';
	return p;
}

static char *put_set(char *p, const struct abi_family *set, bool integers, uint64_t value,
		     uint64_t *unknown)
{
	return set->mask ? put_mask(p, set, value, unknown)
			 : put_name(p, set, integers, value, unknown);
}

static void find(struct record *r, const char *code, const struct op *op, size_t offset)
{
	if (r->finding_count < FINDINGS)
		r->findings[r->finding_count++] =
			(struct finding){code, op->path, (uint32_t)offset};
}

static void note(struct record *r, const char *path, size_t offset, size_t length)
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

static void find_nonzero(struct record *r, const char *code, const struct op *op,
			 const unsigned char *bytes, const unsigned char *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at[i]) {
			find(r, code, op, (size_t)(at - bytes) + i);
			return;
		}
}

/* The mark of the context that the addresses behind it are of, and the cookie of a deferred one. */
static char *put_marker(char *p, const struct op *op, uint64_t value, const unsigned char **at,
			uint64_t *left, bool swap)
{
	const struct abi_value *marker = abi_value_of(op->array.markers, value);

	p = put_text(p, "{\"context\":\"");
	if (marker)
		p = put_text(p, marker->name);
	else
		p = put_hex(put_text(p, "0x"), value);
	*p++ = '"';
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

static char *put_attr(char *p, struct record *r, const unsigned char *at, size_t n)
{
	json_t *json = r->dry ? NULL : attr_to_json(r->abi, r->arch, at, n, r->order);
	char *text = json ? json_text(json, JSON_COMPACT) : NULL;

	if (!text && !r->dry)
		r->err = -ENOMEM;
	p = put_text(p, text ? text : "null");
	free(text);
	json_decref(json);
	return p;
}

/* Bytes before the sample_id, or the end; none where a short record's fields reach into it. */
ALWAYS_INLINE size_t left_of(const unsigned char *at, const unsigned char *limit)
{
	return at < limit ? (size_t)(limit - at) : 0;
}

/* Text as a kernel names things: something, and no control characters in it. */
static bool is_readable(const unsigned char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] < 0x20)
			return false;
	return n > 0;
}

/* How what may be there is taken, and what cannot be: the last two in turn where the first fails.
 */
enum pass { WITHOUT_MAYBE, WITH_MAYBE, TAKE_ALL };

struct loop {
	uint64_t left, index;
	const unsigned char *begin;
	bool to_end;
};

/* How many there are of what has `width` bytes at least; false if the prefix itself is not there.
 */
ALWAYS_INLINE bool amount(const struct amount *a, unsigned width, const struct record *r,
			  const unsigned char **at, const unsigned char *limit, uint64_t *out,
			  bool swap)
{
	uint64_t n;

	switch (a->from) {
	case FROM_NUMBER:
		n = a->number;
		break;
	case FROM_REG:
		n = r->regs[a->reg];
		break;
	case FROM_PREFIX:
		if (left_of(*at, limit) < a->prefix)
			return false;
		n = load_swapped(*at, a->prefix, swap);
		*at += a->prefix;
		break;
	default:
		n = left_of(*at, limit) / width;
	}
	if (a->less)
		n = n > a->less ? n - a->less : 0;
	if (a->per)
		n = n / a->per + (n % a->per != 0);
	*out = n;
	return true;
}

/* `width` bits of the word in the operation's register. */
ALWAYS_INLINE uint64_t bits_of(const struct record *r, const struct op *op, struct bit_place place)
{
	bool from_top = place.unit && r->order == BIG;
	unsigned shift = from_top ? (unsigned)(place.unit - place.first - op->width) : place.first;

	return r->regs[op->reg] >> shift & UINT64_MAX >> (64 - op->width);
}

ALWAYS_INLINE enum record_problem run(const struct plan *plan, struct record *r,
				      const unsigned char *bytes, size_t from, size_t size,
				      uint16_t misc, char **out, enum pass pass, bool *maybe,
				      const bool swap, const bool slow)
{
	const unsigned char *at = bytes + from, *end = bytes + size, *limit = end - plan->tail;
	const struct op *op = plan->ops;
	enum record_problem problem = RECORD_OK;
	struct loop loops[LAYOUT_LOOPS], *loop = loops;
	char *p = *out, *hidden = p, *hidden_at = r->at;
	uint64_t v = 0, unknown = 0;

	if (size < from + plan->tail) {
		r->failed = NULL;
		r->failed_at = (uint32_t)size;
		return RECORD_SHORT;
	}
	for (;; op++) {
		const unsigned char *before = at;

		switch ((enum op_kind)op->kind) {
		case OP_NEED:
			if ((size_t)(end - at) < op->bytes)
				goto too_short;
			continue;
		case OP_U8:
			v = *at;
			at += 1;
			p = put_u64(put_key(p, op->key, op->key_length), v);
			break;
		case OP_U16:
			v = load_swapped(at, 2, swap);
			at += 2;
			p = put_u64(put_key(p, op->key, op->key_length), v);
			break;
		case OP_U32:
			v = load_swapped(at, 4, swap);
			at += 4;
			p = put_u64(put_key(p, op->key, op->key_length), v);
			break;
		case OP_U64:
			v = load_swapped(at, 8, swap);
			at += 8;
			p = put_u64(put_key(p, op->key, op->key_length), v);
			break;
		case OP_X64:
			v = load_swapped(at, 8, swap);
			at += 8;
			p = put_hex(put_key(p, op->key, op->key_length), v);
			*p++ = '"';
			break;
		case OP_I64:
		case OP_S32:
		case OP_S64:
		case OP_X16:
		case OP_X32:
			v = load_swapped(at, op->width, swap);
			at += op->width;
			p = put_number(put_key(p, op->key, op->key_length), op->kind, v);
			break;
		case OP_F64: {
			double number;

			v = load_swapped(at, 8, swap);
			at += 8;
			memcpy(&number, &v, 8);
			p = put_double(put_key(p, op->key, op->key_length), number);
			break;
		}
		case OP_SET:
			v = load_swapped(at, op->width, swap);
			p = put_set(put_key(p, op->key, op->key_length), op->names.set,
				    op->names.integers, v, &unknown);
			if (slow && r->strict && unknown)
				find(r, "unknown-bits", op, (size_t)(at - bytes));
			at += op->width;
			break;
		case OP_SKIP:
			v = load_swapped(at, op->width, swap);
			at += op->width;
			if (op->reg != NO_REG)
				r->regs[op->reg] = v;
			if (slow)
				keep_role(r, op, v);
			continue;
		case OP_POSSIBLE:
			if (!(r->regs[op->reg] & ~op->possible))
				continue;
			problem = RECORD_IMPOSSIBLE;
			if (pass != TAKE_ALL)
				goto failed;
			r->failed = op->key;
			r->failed_at = (uint32_t)(at - bytes);
			continue;
		case OP_PAD:
			if (slow && r->strict)
				find_nonzero(r, "reserved", op, bytes, at, op->bytes);
			at += op->bytes;
			continue;
		case OP_ALIGN: {
			size_t n = (size_t)(at - bytes) % op->bytes;

			n = n ? op->bytes - n : 0;
			if (n > left_of(at, limit))
				n = left_of(at, limit);
			if (slow && r->strict)
				find_nonzero(r, "padding", op, bytes, at, n);
			at += n;
			continue;
		}
		case OP_WORD:
			r->regs[op->reg] = load_swapped(at, op->width, swap);
			at += op->width;
			if (slow && r->notes && op->path)
				note(r, op->path, (size_t)(before - bytes), op->width);
			continue;
		case OP_BITS: {
			v = bits_of(r, op, op->bits.place);
			if (op->bits.omit_zero && !v)
				continue;
			p = put_key(p, op->key, op->key_length);
			unknown = 0;
			p = op->bits.set ? put_set(p, op->bits.set, false, v, &unknown)
					 : put_u64(p, v);
			if (slow && r->strict && unknown)
				find(r, "unknown-bits", op, (size_t)(at - bytes));
			*p++ = ',';
			continue;
		}
		case OP_REST:
			v = r->regs[op->reg] & UINT64_MAX >> (64 - op->width);
			v &= ~(op->rest.declared && r->order == BIG ? op->rest.mirrored
								    : op->rest.named);
			if (!v)
				continue;
			if (slow && r->strict)
				find(r, "reserved", op, (size_t)(at - bytes));
			p = put_hex(put_key(p, op->key, op->key_length), v);
			*p++ = '"';
			*p++ = ',';
			continue;
		case OP_TEXT:
			p = put_key(p, op->key, op->key_length);
			continue;
		case OP_CLOSE:
			p = put_close(p, '}');
			*p++ = ',';
			continue;
		case OP_STRING: {
			size_t n;

			if (!amount(&op->text.amount, 1, r, &at, limit, &v, swap) ||
			    v > left_of(at, limit))
				goto too_short;
			n = strnlen((const char *)at, (size_t)v);
			if (op->text.readable && !is_readable(at, n)) {
				problem = RECORD_IMPOSSIBLE;
				goto failed;
			}
			p = put_string(put_key(p, op->key, op->key_length), at, n);
			if (slow && r->strict) {
				find_nonzero(r, "padding", op, bytes, at + n, (size_t)v - n);
				if (n == v && v)
					find(r, "unterminated", op, (size_t)(at - bytes) + n);
			}
			at += v;
			break;
		}
		case OP_BYTES: {
			uint64_t shown;

			if (!amount(&op->text.amount, 1, r, &at, limit, &v, swap) ||
			    v > left_of(at, limit))
				goto too_short;
			shown = op->text.used != NO_REG && r->regs[op->text.used] < v
					? r->regs[op->text.used]
					: v;
			p = put_bytes(put_key(p, op->key, op->key_length), at, (size_t)shown);
			*p++ = '"';
			if (slow && r->strict)
				find_nonzero(r, "padding", op, bytes, at + shown,
					     (size_t)(v - shown));
			at += v;
			if (slow && r->notes && op->path)
				note(r, op->path, (size_t)(before - bytes), (size_t)(at - before));
			*p++ = ',';
			continue;
		}
		case OP_OPAQUE:
			if (!amount(&op->text.amount, 1, r, &at, limit, &v, swap) ||
			    v > left_of(at, limit))
				goto too_short;
			p = put_u64(put_key(p, op->key, op->key_length), v);
			at += v;
			break;
		case OP_ATTR:
			if (left_of(at, limit) < 8)
				goto too_short;
			if (op->text.amount.from == FROM_REG)
				v = r->regs[op->text.amount.reg];
			else
				v = load_swapped(at + 4, 4, swap);
			if (!v)
				v = r->abi->attr_smallest;
			if (v < r->abi->attr_smallest) {
				problem = RECORD_ATTR;
				goto failed;
			}
			if (v > left_of(at, limit))
				goto too_short;
			p = put_attr(put_key(p, op->key, op->key_length), r, at, (size_t)v);
			at += v;
			break;
		case OP_ARRAY:
			if (!amount(&op->array.amount, op->width, r, &at, limit, &v, swap))
				goto too_short;
			if (v > left_of(at, limit) / op->width)
				goto too_many;
			p = put_array(put_key(p, op->key, op->key_length), op, at, v, swap);
			at += v * op->width;
			break;
		case OP_LOOP:
			if (!amount(&op->loop.amount, 1, r, &at, limit, &v, swap))
				goto too_short;
			if (v > left_of(at, limit))
				goto too_many;
			p = put_key(p, op->key, op->key_length);
			loop->left = v;
			loop->index = 0;
			loop->begin = before;
			loop->to_end = op->loop.amount.from == FROM_REST;
			if (!v) {
				p = put_close(p, ']');
				if (slow && r->notes && op->path)
					note(r, op->path, (size_t)(before - bytes),
					     (size_t)(at - before));
				*p++ = ',';
				op = plan->ops + op->loop.jump - 1;
				continue;
			}
			loop++;
			if (!op->loop.bare)
				*p++ = '{';
			continue;
		case OP_NEXT:
			if (!op->loop.bare) {
				p = put_close(p, '}');
				*p++ = ',';
			}
			loop[-1].index++;
			loop[-1].left--;
			if (slow && r->spill)
				p = r->spill(r->spill_to, p);
			if (loop[-1].to_end ? at < limit : loop[-1].left) {
				if (!op->loop.bare)
					*p++ = '{';
				op = plan->ops + op->loop.jump - 1;
				continue;
			}
			loop--;
			p = put_close(p, ']');
			if (slow && r->notes && op->path)
				note(r, op->path, (size_t)(loop->begin - bytes),
				     (size_t)(at - loop->begin));
			*p++ = ',';
			continue;
		case OP_INDEX:
			p = put_key(p, op->key, op->key_length);
			p = put_name(p, op->names.set, false, loop[-1].index, &unknown);
			*p++ = ',';
			continue;
		case OP_UNLESS_MISC:
			if ((misc & op->test.value) != op->test.value)
				op = plan->ops + op->test.jump - 1;
			continue;
		case OP_UNLESS_IS:
			if (r->regs[op->reg] != op->test.value)
				op = plan->ops + op->test.jump - 1;
			continue;
		case OP_UNLESS_BITS_ARE:
			if (bits_of(r, op, op->test.place) != op->test.value)
				op = plan->ops + op->test.jump - 1;
			continue;
		case OP_UNLESS_NOT:
			if (r->regs[op->reg] == op->test.value)
				op = plan->ops + op->test.jump - 1;
			continue;
		case OP_UNLESS_AT_LEAST:
			if (r->regs[op->reg] < op->test.value)
				op = plan->ops + op->test.jump - 1;
			continue;
		case OP_UNLESS_LEFT:
			if (left_of(at, limit) < op->test.value)
				op = plan->ops + op->test.jump - 1;
			continue;
		case OP_UNLESS_MAYBE:
			*maybe = true;
			if (pass != WITH_MAYBE)
				op = plan->ops + op->test.jump - 1;
			continue;
		case OP_JUMP:
			op = plan->ops + op->jump - 1;
			continue;
		case OP_HIDE:
			hidden = p;
			hidden_at = r->at;
			continue;
		case OP_SHOW:
			p = hidden;
			r->at = hidden_at;
			continue;
		case OP_END:
			goto done;
		}
		*p++ = ',';
		if (op->reg != NO_REG)
			r->regs[op->reg] = v;
		if (slow)
			keep_role(r, op, v);
		if (slow && r->notes && op->path)
			note(r, op->path, (size_t)(before - bytes), (size_t)(at - before));
		continue;
	too_short:
		problem = RECORD_SHORT;
		goto failed;
	too_many:
		problem = RECORD_COUNT;
		goto failed;
	}
done:
	if (at < end) {
		size_t n = (size_t)(end - at), used = 0;

		while (used < n && !at[used])
			used++;
		if (used < n || (n >= 8 && !plan->lenient)) {
			p = put_text(p, "\"rest\":\"");
			p = put_bytes(p, at, n);
			p = put_text(p, "\",");
			r->failed_at = (uint32_t)(at - bytes);
			problem = RECORD_LEFT;
		}
	}
	*out = p;
	return problem;
failed:
	for (r->failed = op->key; !r->failed[0] && op->kind != OP_END; op++)
		r->failed = op[1].key;
	r->failed_at = (uint32_t)(at - bytes);
	return problem;
}

static enum record_problem run_once(const struct plan *plan, struct record *r,
				    const unsigned char *bytes, size_t from, size_t size,
				    uint16_t misc, char **out, enum pass pass, bool *maybe)
{
	bool swap = r->order != host_order();

	if (r->notes || r->strict || r->spill)
		return swap ? run(plan, r, bytes, from, size, misc, out, pass, maybe, true, true)
			    : run(plan, r, bytes, from, size, misc, out, pass, maybe, false, true);
	return swap ? run(plan, r, bytes, from, size, misc, out, pass, maybe, true, false)
		    : run(plan, r, bytes, from, size, misc, out, pass, maybe, false, false);
}

enum record_problem record_put(const struct plan *plan, struct record *r,
			       const unsigned char *bytes, size_t from, size_t size, uint16_t misc,
			       char **out)
{
	char *start = *out, *at = r->at;
	bool maybe = false;
	enum record_problem first, second;

	r->failed = NULL;
	r->has_time = r->has_cpu = false;
	r->finding_count = 0;
	first = run_once(plan, r, bytes, from, size, misc, out, WITHOUT_MAYBE, &maybe);
	if (!first || (!maybe && first != RECORD_IMPOSSIBLE))
		return first;
	*out = start;
	r->at = at;
	r->finding_count = 0;
	second =
		maybe ? run_once(plan, r, bytes, from, size, misc, out, WITH_MAYBE, &maybe) : first;
	if (!second)
		return second;
	*out = start;
	r->at = at;
	r->finding_count = 0;
	return run_once(plan, r, bytes, from, size, misc, out, TAKE_ALL, &maybe);
}

const char *record_problem_text(enum record_problem problem, const struct record *r, char *text,
				size_t size)
{
	const char *key = r->failed && r->failed[0] == '"' ? r->failed + 1 : NULL;
	int n = key ? (int)strcspn(key, "\"") : 0;

	switch (problem) {
	case RECORD_SHORT:
		snprintf(text, size, "%.*s%sends past the record", n, key ? key : "",
			 n ? " " : "a field ");
		break;
	case RECORD_COUNT:
		snprintf(text, size, "%.*s%smore elements than bytes", n, key ? key : "",
			 n ? " has " : "");
		break;
	case RECORD_ATTR:
		snprintf(text, size, "an attr of less than %u bytes", r->abi->attr_smallest);
		break;
	case RECORD_IMPOSSIBLE:
		snprintf(text, size, "%.*s has a value that no kernel gives it", n, key ? key : "");
		break;
	case RECORD_LEFT:
		snprintf(text, size, "no field accounts for the bytes from %u on", r->failed_at);
		break;
	case RECORD_OK:
		snprintf(text, size, "whole");
		break;
	}
	return text;
}
