/* SPDX-License-Identifier: MIT */
/*
 * Layouts -> plans. What a layout says was checked when it was loaded: only memory can be wanting
 * here, and then compiler.err is set and stays so, and what is made meanwhile is thrown away.
 */
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "text/json.h"

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
	size_t longest; /* JSON of one element */
	struct {
		const struct layout_node *node;
		uint8_t reg;
	} named[LAYOUT_NAMED + 1];
	size_t named_count;
};

/* What each operation that tells a value is; how the value begins in JSON, and the most characters
 * that it takes, with quotes and comma. */
static const struct {
	enum perfabi_kind field;
	const char *opening;
	size_t longest;
} values[] = {
	[OP_U8] = {PERFABI_UNSIGNED, "", 4},
	[OP_U16] = {PERFABI_UNSIGNED, "", 6},
	[OP_U32] = {PERFABI_UNSIGNED, "", 11},
	[OP_U64] = {PERFABI_UNSIGNED, "", 21},
	[OP_I64] = {PERFABI_UNSIGNED, "", 21},
	[OP_S8] = {PERFABI_SIGNED, "", 5},
	[OP_S16] = {PERFABI_SIGNED, "", 7},
	[OP_S32] = {PERFABI_SIGNED, "", 12},
	[OP_S64] = {PERFABI_SIGNED, "", 21},
	[OP_X16] = {PERFABI_HEX, "\"0x", 9},
	[OP_X32] = {PERFABI_HEX, "\"0x", 13},
	[OP_X64] = {PERFABI_HEX, "\"0x", 21},
	[OP_F64] = {PERFABI_DOUBLE, "", 32},
	[OP_SET] = {PERFABI_UNSIGNED, "", 0},
	[OP_SKIP] = {PERFABI_UNSIGNED, "", 0},
	[OP_KNOWN] = {PERFABI_UNSIGNED, "", 0},
	[OP_WORD] = {PERFABI_UNSIGNED, "", 0},
	[OP_BITS] = {PERFABI_BITS, "", 24},
	[OP_REST] = {PERFABI_BITS, "\"0x", 24},
	[OP_TEXT] = {PERFABI_UNSIGNED, "{", 4},
	[OP_STRING] = {PERFABI_STRING, "", PUT_STRING_FIXED},
	[OP_BYTES] = {PERFABI_BYTES, "\"", PUT_STRING_FIXED},
	[OP_RAW] = {PERFABI_BYTES, "\"", PUT_STRING_FIXED},
	[OP_LOC] = {PERFABI_BYTES, "", PUT_STRING_FIXED},
	[OP_OPAQUE] = {PERFABI_OPAQUE, "", PUT_STRING_FIXED},
	[OP_ATTR] = {PERFABI_ATTR, "", ATTR_JSON},
	[OP_ARRAY] = {PERFABI_ARRAY, "[", 8},
	[OP_LOOP] = {PERFABI_LIST, "[", 8},
	[OP_INDEX] = {PERFABI_INDEX, "", 0},
	[OP_END] = {PERFABI_BYTES, "", 0},
};

/* A new operation, the last one. */
static struct op *plan_add(struct compiler *c, uint8_t kind)
{
	struct plan *plan = c->plan;
	struct op *op = &c->none;

	if (!c->err)
		c->err = list_grow(&plan->ops, plan->count, &plan->capacity, sizeof(*plan->ops));
	if (!c->err)
		op = &plan->ops[plan->count++];
	*op = (struct op){.kind = kind, .reg = NO_REG, .offset = c->offset, .key = ""};
	return op;
}

static struct op *plan_op(struct compiler *c, size_t index)
{
	return c->err ? &c->none : &c->plan->ops[index];
}

static struct op *last_op(struct compiler *c)
{
	return plan_op(c, c->plan->count - 1);
}

/* Aims an operation's jump at what comes next. */
static void plan_aim(struct compiler *c, size_t index)
{
	plan_op(c, index)->jump = (uint32_t)c->plan->count;
}

/* An operation that jumps unless something is that value; to be aimed. Its index. */
static size_t plan_unless(struct compiler *c, uint8_t kind, uint8_t reg, uint64_t value)
{
	struct op *op = plan_add(c, kind);

	op->reg = reg;
	op->test.value = value;
	return c->plan->count - 1;
}

/* Bytes of fixed length come now: one check serves all that follow each other. */
static void plan_need(struct compiler *c, uint32_t bytes)
{
	if (!c->need) {
		plan_add(c, OP_NEED);
		c->need = c->plan->count;
	}
	plan_op(c, c->need - 1)->bytes += bytes;
	if (c->offset >= 0)
		c->offset += (int)bytes;
}

/* What a value of that many characters adds to the longest line; what each byte of a text does. */
static void plan_grows(struct compiler *c, size_t characters)
{
	if (c->in_loop)
		c->longest += characters;
	else
		c->plan->fixed += characters;
}

static void plan_grows_per_byte(struct compiler *c, size_t characters)
{
	if (characters > c->plan->per_byte)
		c->plan->per_byte = characters;
}

/* The last operation's path, of a member of the object we are in; none in an array. */
static void plan_set_path(struct compiler *c, const char *name)
{
	struct op *op = last_op(c);
	const char *path;

	if (!name || c->in_loop)
		return;
	path = c->err ? NULL : arena_join(&c->plan->texts, c->path, name);
	if (!path) {
		c->err = -ENOMEM;
		return;
	}
	c->plan->paths += strlen(path) + 32;
	op->path = path;
	if (!strcmp(path, "time") || !strcmp(path, "sample_id.time"))
		op->role = ROLE_TIME;
	if (!strcmp(path, "cpu") || !strcmp(path, "sample_id.cpu"))
		op->role = ROLE_CPU;
}

/* The number of the field that the last operation tells; `name` may be NULL. */
static void plan_set_number(struct compiler *c, const char *name)
{
	const struct plan_for *with = c->with;
	struct op *op = last_op(c);
	char full[PATH + LAYOUT_NAME];
	int n;

	if (!with->paths && !with->gathered)
		return;
	n = snprintf(full, sizeof(full), "%s%s", c->path, name ? name : "");
	if (!name && n) /* an element that is no object has its list's name */
		full[n - 1] = '\0';
	if (with->gathered && !c->err && json_object_set_new(with->gathered, full, json_true()))
		c->err = -ENOMEM;
	op->number = with->paths ? paths_number(with->paths, full) : 0;
	op->field = (uint8_t)values[op->kind].field;
}

/* The last operation's key, `"name":` and what opens the value. `name` may be NULL. */
static void plan_set_key(struct compiler *c, const char *name)
{
	bool is_flat = c->with->flat && !c->in_loop;
	struct op *op = last_op(c);
	const char *opening = is_flat && op->kind == OP_REST ? "" : values[op->kind].opening;
	bool is_common = c->plan->open && name && !strncmp(name, "common_", 7);
	char text[PATH + LAYOUT_NAME + 32], *key;
	int n = name ? snprintf(text, sizeof(text), "\"%s%s\":%s",
				is_flat && !is_common ? c->path : "", name, opening)
		     : snprintf(text, sizeof(text), "%s", opening);

	for (char *p = text; is_flat && (p = strchr(p, '.'));)
		*p = '_';
	key = c->err ? NULL : arena_alloc(&c->plan->texts, strlen(text) + PUT_KEY);
	if (key)
		op->key = memcpy(key, text, strlen(text));
	else
		c->err = -ENOMEM;
	op->key_length = (uint16_t)n;
	plan_grows(c, (size_t)n);
}

/* Tells the last operation's value as a member of that name. */
static void plan_set_name(struct compiler *c, const char *name)
{
	plan_set_path(c, name);
	plan_set_key(c, name);
	plan_set_number(c, name);
}

static uint8_t plan_reg_of(const struct compiler *c, const struct layout_node *node)
{
	for (size_t i = c->named_count; node && i--;)
		if (c->named[i].node == node)
			return c->named[i].reg;
	return REG_KEPT;
}

/* The most that a value of a family can take: all names of a mask, the longest of an enum. */
static size_t plan_longest_of(const struct abi_family *set)
{
	size_t sum = 32, longest = 24;

	for (size_t i = 0; i < set->count; i++) {
		size_t n = strlen(set->values[i].name) + 8;

		sum += n;
		longest = n > longest ? n : longest;
	}
	return set->mask ? sum : longest;
}

static uint8_t op_of_type(const struct compiler *c, enum layout_type type)
{
	static const uint8_t kinds[LAYOUT_TYPES] = {
		[LAYOUT_U8] = OP_U8,     [LAYOUT_U16] = OP_U16,   [LAYOUT_U32] = OP_U32,
		[LAYOUT_U64] = OP_U64,   [LAYOUT_S8] = OP_S8,     [LAYOUT_S16] = OP_S16,
		[LAYOUT_S32] = OP_S32,   [LAYOUT_S64] = OP_S64,   [LAYOUT_HEX16] = OP_X16,
		[LAYOUT_HEX32] = OP_X32, [LAYOUT_HEX64] = OP_X64, [LAYOUT_F64] = OP_F64};

	/* either three stand in the order of their widths */
	if (c->with->flat && type >= LAYOUT_HEX16 && type <= LAYOUT_HEX64)
		return kinds[LAYOUT_U16 + (type - LAYOUT_HEX16)];
	return type == LAYOUT_U64 && c->with->integers ? OP_I64 : kinds[type];
}

/* An operation on what the last one has read. */
static struct op *add_test(struct compiler *c, uint8_t kind)
{
	struct op last = *last_op(c), *op = plan_add(c, kind);

	op->reg = last.reg;
	op->key = last.key;
	return op;
}

/* The objects that are open. */
static uint8_t depth_of(const struct compiler *c)
{
	uint8_t depth = 0;

	for (const char *p = c->with->flat ? "" : c->path; (p = strchr(p, '.')); p++)
		depth++;
	return depth;
}

static void compile_number(struct compiler *c, const struct layout_node *node)
{
	enum layout_type type = node->number.type;
	const struct abi_family *set = node->number.set;
	bool is_named = set && !c->with->flat;
	uint8_t width = layout_widths[type], kind = is_named ? OP_SET : op_of_type(c, type);
	struct op *op;

	plan_need(c, width);
	op = plan_add(c, kind);
	if (op->offset >= 0)
		op->offset -= width;
	op->width = width;
	if (is_named)
		op->set = set;
	if (node->number.keep || node->is_named_by_others)
		op->reg = node->number.keep ? REG_KEPT : c->regs++;
	c->plan->keeps = c->plan->keeps || node->number.keep;
	if (node->is_named_by_others) {
		c->named[c->named_count].node = node;
		c->named[c->named_count++].reg = op->reg;
	}
	if (node->number.counts && op->offset > 0 && width == 8) {
		c->plan->lost_offset = op->offset;
		c->plan->lost_samples = node->number.counts == COUNTS_LOST_SAMPLES;
	}
	plan_grows(c, is_named ? plan_longest_of(set) : values[kind].longest);
	plan_set_name(c, node->name);
	if (node->number.known) {
		op = add_test(c, OP_KNOWN);
		op->known.set = set;
		op->known.depth = depth_of(c);
	}
	if (!node->number.possible)
		return;
	/* it has no bits but those that `set` names: with others the record is of another shape */
	op = add_test(c, OP_POSSIBLE);
	for (size_t i = 0; i < set->count; i++)
		op->possible |= set->values[i].value;
}

/* An operation on as much as something says, with what stands in front of it and says so. */
static struct op *add_amount(struct compiler *c, uint8_t kind, const struct layout_size *size)
{
	struct op *op = plan_add(c, kind);

	op->amount = (struct amount){size, plan_reg_of(c, size->field)};
	c->offset = -1;
	c->need = 0; /* what was checked before is not known, as behind a jump's target */
	plan_grows(c, values[kind].longest);
	return op;
}

/* Text, bytes, or an array of numbers where a u32 says; false: it is not from there. */
static bool compile_loc(struct compiler *c, const char *name, uint8_t element, size_t width,
			const struct layout_size *size)
{
	struct op *op;

	if (size->from != LAYOUT_FROM_DATA_LOC && size->from != LAYOUT_FROM_REL_LOC)
		return false;
	plan_need(c, 4);
	op = plan_add(c, OP_LOC);
	op->width = (uint8_t)width;
	op->array.element = element;
	op->amount.size = size;
	plan_grows(c, values[OP_LOC].longest);
	plan_grows_per_byte(c, element == OP_STRING  ? PUT_STRING_MAX
			       : element == OP_BYTES ? 2
						     : values[element].longest / width + 1);
	plan_set_name(c, name);
	return true;
}

/* string, bytes, opaque, attr: as many bytes as something says. */
static void compile_bytes(struct compiler *c, const struct layout_node *node)
{
	static const struct {
		uint8_t kind;
		size_t per_byte;
	} kinds[] = {[LAYOUT_STRING] = {OP_STRING, PUT_STRING_MAX},
		     [LAYOUT_BYTES] = {OP_BYTES, 2},
		     [LAYOUT_OPAQUE] = {OP_OPAQUE, 2},
		     [LAYOUT_ATTR] = {OP_ATTR, 12}};
	const struct layout_size *size = &node->text.size;
	size_t sure = 0; /* how long it is at least */
	struct op *op;

	if (compile_loc(c, node->name, kinds[node->kind].kind, 1, size))
		return;
	op = add_amount(c, node->text.tracepoint ? OP_RAW : kinds[node->kind].kind, size);
	op->text.used = node->text.used ? plan_reg_of(c, node->text.used) : NO_REG;
	op->text.readable = node->text.readable;
	if (node->kind == LAYOUT_ATTR)
		sure = c->with->abi->attr_smallest;
	else if (size->from == LAYOUT_FROM_NUMBER && size->number > size->less)
		sure = size->number - size->less;
	else if (size->from == LAYOUT_TO_NUL)
		sure = 1;
	if (c->in_loop) /* what its bytes become comes on top of what is in each element */
		plan_grows(c, sure * kinds[node->kind].per_byte);
	plan_grows_per_byte(c, kinds[node->kind].per_byte);
	plan_set_name(c, node->name);
}

static void compile_array(struct compiler *c, const struct layout_node *node)
{
	const struct abi_family *markers = c->with->flat ? NULL : node->array.markers;
	enum layout_type type = node->array.type;
	size_t width = layout_widths[type];
	uint8_t element = op_of_type(c, type);
	size_t longest = markers ? plan_longest_of(markers) + 48 : values[element].longest;
	struct op *op;

	if (compile_loc(c, node->name, element, width, &node->array.count))
		return;
	op = add_amount(c, OP_ARRAY, &node->array.count);
	op->width = (uint8_t)width;
	op->array.element = element;
	op->array.field = (uint8_t)values[element].field;
	op->array.markers = markers;
	op->array.first_marker = op->array.cookie_marker = UINT64_MAX;
	for (size_t i = 0; markers && i < markers->count; i++) {
		if (!strcmp(markers->values[i].name, "max"))
			op->array.first_marker = markers->values[i].value;
		if (markers->values[i].followed_by.field)
			op->array.cookie_marker = markers->values[i].value;
	}
	plan_grows_per_byte(c, longest / width + 1);
	plan_set_name(c, node->name);
}

static void compile_fields(struct compiler *c, const struct layout_list *list);

/* The fields between OP_LOOP and OP_NEXT, with what they take counted apart. */
static void compile_loop(struct compiler *c, const struct layout_node *node)
{
	struct op *op = add_amount(c, OP_LOOP, &node->loop.count);
	size_t begin = c->plan->count - 1, old = strlen(c->path), outer_longest = c->longest;
	size_t at = node->name || !old ? old : old - 1; /* a list in a list: in place of the dot */
	bool outer_in_loop = c->in_loop, outside = c->outside;
	const char *path;

	op->bare = node->loop.bare;
	plan_set_name(c, node->name);
	snprintf(c->path + at, sizeof(c->path) - at, "%s[].", node->name ? node->name : "");
	c->in_loop = true;
	c->outside = false;
	c->longest = 8;
	compile_fields(c, &node->loop.body);
	plan_grows_per_byte(c, c->longest / node->loop.body.smallest + 1);
	c->in_loop = outer_in_loop;
	c->outside = outside;
	c->longest = outer_longest;
	c->path[old] = '\0';
	if (old)
		c->path[old - 1] = '.';
	c->need = 0;
	path = plan_op(c, begin)->path;
	op = plan_add(c, OP_NEXT);
	op->jump = (uint32_t)begin + 1;
	op->bare = node->loop.bare;
	op->path = path;
	plan_aim(c, begin);
}

/* Enters an object: its fields' paths begin with its name. Returns what to come back to. */
static size_t open_object(struct compiler *c, const char *name)
{
	size_t old = strlen(c->path);

	if (!c->with->flat || c->in_loop) {
		plan_add(c, OP_TEXT);
		plan_set_key(c, name);
		plan_grows(c, values[OP_TEXT].longest);
	}
	snprintf(c->path + old, sizeof(c->path) - old, "%s.", name);
	return old;
}

static void close_object(struct compiler *c, size_t old)
{
	c->path[old] = '\0';
	if (!c->with->flat || c->in_loop)
		plan_add(c, OP_CLOSE);
}

static void compile_object(struct compiler *c, const char *name, const struct layout_list *fields)
{
	bool outside = c->outside;
	size_t old = open_object(c, name);

	c->outside = false;
	compile_fields(c, fields);
	c->outside = outside;
	close_object(c, old);
}

static struct bit_place bit_place_of(const struct abi_bits *bits, const struct abi_family *word,
				     uint8_t width)
{
	unsigned mirrored = width * 8u - bits->first - bits->width;

	return (struct bit_place){(uint8_t)bits->first,
				  (uint8_t)(word->declared ? mirrored : bits->first)};
}

static void compile_bits(struct compiler *c, const struct abi_value *field, uint8_t reg,
			 const struct abi_family *word, uint8_t width)
{
	const struct abi_bits *bits = &field->bits, *only = bits->only ? &bits->only->bits : NULL;
	struct op *op;
	size_t test = 0;

	if (only) {
		test = plan_unless(c, OP_UNLESS_BITS_ARE, reg, bits->is);
		op = last_op(c);
		op->width = (uint8_t)only->width;
		op->test.place = bit_place_of(only, word, width);
	}
	op = plan_add(c, OP_BITS);
	op->reg = reg;
	op->width = (uint8_t)bits->width;
	op->bits.place = bit_place_of(bits, word, width);
	op->bits.bytes = width;
	op->bits.omit_zero = word->omit_zero;
	op->bits.set = c->with->flat ? NULL : bits->set;
	plan_grows(c, op->bits.set ? plan_longest_of(bits->set) : values[OP_BITS].longest);
	plan_set_key(c, field->name);
	plan_set_number(c, field->name);
	if (only)
		plan_aim(c, test);
}

static void compile_bit_word(struct compiler *c, const struct layout_node *node)
{
	const struct abi_family *word = node->word.fields;
	uint8_t width = layout_widths[node->word.type], reg = c->regs++;
	size_t old = 0;
	struct op *op;

	plan_need(c, width);
	op = plan_add(c, OP_WORD);
	op->width = width;
	op->reg = reg;
	if (op->offset >= 0)
		op->offset -= width;
	if (node->name) {
		plan_set_path(c, node->name);
		plan_set_number(c, node->name);
		old = open_object(c, node->name);
	}
	for (size_t i = 0; i < word->count; i++)
		compile_bits(c, &word->values[i], reg, word, width);
	/* what has no name, as one number under "bits" */
	op = plan_add(c, OP_REST);
	op->reg = reg;
	op->width = (uint8_t)(width * 8);
	op->rest.decimal = c->with->flat && !c->in_loop;
	for (size_t i = 0; i < word->count; i++) {
		struct bit_place place = bit_place_of(&word->values[i].bits, word, width);
		uint64_t mask = UINT64_MAX >> (64 - word->values[i].bits.width);

		op->rest.named |= mask << place.little;
		op->rest.mirrored |= mask << place.big;
	}
	plan_grows(c, values[OP_REST].longest);
	plan_set_key(c, "bits");
	plan_set_number(c, "bits");
	if (node->name)
		close_object(c, old);
}

/* What attr has in the field; 0 where no attr is meant. */
static uint64_t asked(const struct compiler *c, const struct abi_field *field)
{
	return c->with->attr ? attr_get(field, c->with->attr, host_order()) : 0;
}

static const struct abi_family *names_of_regs(const struct abi_arch *arch, enum layout_regs of,
					      bool simd)
{
	if (of == REGS_PLAIN || !arch)
		return abi_regs(arch, simd);
	return of == REGS_VECTORS ? &arch->simd.vectors : &arch->simd.pred;
}

/* All names that registers can have, for those who gather paths. */
static void gather_regs(struct compiler *c, enum layout_regs of, bool simd)
{
	const struct abi *abi = c->with->abi;
	char name[LAYOUT_NAME];

	for (size_t i = 0; i < abi->arch_count; i++) {
		const struct abi_family *names = names_of_regs(&abi->archs[i], of, simd);

		for (size_t k = 0; k < names->count; k++)
			for (unsigned n = 0; !n || n < names->values[k].bits.width; n++) {
				snprintf(name, sizeof(name), of == REGS_PLAIN ? "%s" : "%s%u",
					 names->values[k].name, n);
				plan_set_number(c, name);
			}
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		snprintf(name, sizeof(name), "bit%u", bit);
		plan_set_number(c, name);
	}
}

/* A SIMD register, if so many came: as many words as the record says. */
static void compile_wide(struct compiler *c, const struct layout_node *node, const char *name,
			 unsigned nth)
{
	size_t test = plan_unless(c, OP_UNLESS_AT_LEAST, plan_reg_of(c, node->regs.number), nth);
	struct op *op = add_amount(c, OP_ARRAY, &node->regs.qwords);

	op->width = 8;
	op->array.element = op_of_type(c, LAYOUT_HEX64);
	op->array.field = (uint8_t)values[op->array.element].field;
	plan_grows_per_byte(c, values[op->array.element].longest / 8 + 1);
	plan_set_name(c, name);
	plan_aim(c, test);
}

/* The registers of the architecture that the attr's mask asks for, each by its name. */
static void compile_regs(struct compiler *c, const struct layout_node *node)
{
	enum layout_regs of = node->regs.of;
	uint64_t mask = asked(c, node->regs.mask);
	const struct abi_family *names =
		names_of_regs(c->with->arch, of, node->regs.simd && asked(c, node->regs.simd));
	unsigned nth = 0;
	size_t old;

	if (of != REGS_PLAIN) { /* of more than were asked for nobody knows which they are */
		struct op *op = plan_add(c, OP_KNOWN);

		op->reg = plan_reg_of(c, node->regs.number);
		op->known.depth = depth_of(c);
		op->known.most = (uint8_t)__builtin_popcountll(mask);
		plan_set_key(c, node->regs.number->name);
	}
	old = open_object(c, node->name);
	for (int simd = 0; c->with->gathered && simd <= (node->regs.simd != NULL); simd++)
		gather_regs(c, of, simd);
	for (unsigned bit = 0; bit < 64 && !c->err; bit++) {
		uint64_t of_name =
			of == REGS_PLAIN ? UINT64_C(1) << bit : asked(c, node->regs.width);
		const struct abi_value *reg = names ? abi_value_of(names, of_name) : NULL;
		char name[LAYOUT_NAME];

		if (!(mask >> bit & 1))
			continue;
		snprintf(name, sizeof(name), reg && of == REGS_PLAIN ? "%s" : "%s%u",
			 reg ? reg->name : "bit", bit);
		if (of != REGS_PLAIN) {
			compile_wide(c, node, name, ++nth);
			continue;
		}
		plan_need(c, 8);
		plan_add(c, op_of_type(c, LAYOUT_HEX64))->width = 8;
		plan_grows(c, 24);
		plan_set_name(c, name);
	}
	close_object(c, old);
}

/* Fields that others do without. */
static void compile_branch(struct compiler *c, const struct layout_list *list)
{
	c->need = 0;
	compile_fields(c, list);
	c->need = 0;
}

static void compile_when(struct compiler *c, const struct layout_node *node)
{
	const struct layout_condition *condition = &node->when.condition;
	const struct layout_list *then = &node->when.then, *other = &node->when.other;
	size_t test, over;
	int offset = c->offset, after;

	if (condition->attr) { /* which is settled now, unless all attrs are meant */
		bool is_any = c->with->gathered != NULL;
		uint64_t now =
			c->with->attr ? attr_get(condition->attr, c->with->attr, host_order()) : 0;
		bool holds = condition->test == LAYOUT_IF_ATTR
				     ? now
				     : (now & condition->value) == condition->value;

		if (is_any || holds)
			compile_fields(c, then);
		if (is_any || !holds)
			compile_fields(c, other);
		return;
	}
	_Static_assert(OP_UNLESS_MAYBE - OP_UNLESS_MISC == LAYOUT_IF_MAYBE - LAYOUT_IF_MISC,
		       "they are in one order");
	test = plan_unless(c, (uint8_t)(OP_UNLESS_MISC + (condition->test - LAYOUT_IF_MISC)),
			   plan_reg_of(c, condition->field), condition->value);
	compile_branch(c, then);
	after = c->offset;
	if (other->count) {
		plan_add(c, OP_JUMP);
		over = c->plan->count - 1;
		plan_aim(c, test);
		c->offset = offset;
		compile_branch(c, other);
		plan_aim(c, over);
		offset = c->offset;
	} else {
		plan_aim(c, test);
	}
	c->offset = offset == after ? after : -1;
}

static void compile_switch(struct compiler *c, const struct layout_node *node)
{
	const struct abi_family *over = node->choice.over;
	uint8_t reg = plan_reg_of(c, node->choice.field);

	for (size_t i = 0; i < over->count && !c->err; i++) {
		size_t test;

		if (!over->values[i].layout)
			continue;
		test = plan_unless(c, OP_UNLESS_IS, reg, over->values[i].value);
		c->offset = -1;
		compile_branch(c, &over->values[i].layout->list);
		plan_aim(c, test);
	}
}

static void compile_node(struct compiler *c, const struct layout_node *node)
{
	switch (node->kind) {
	case LAYOUT_NUMBER:
		compile_number(c, node);
		break;
	case LAYOUT_WORD:
		compile_bit_word(c, node);
		break;
	case LAYOUT_STRING:
	case LAYOUT_BYTES:
	case LAYOUT_OPAQUE:
	case LAYOUT_ATTR:
		compile_bytes(c, node);
		break;
	case LAYOUT_PAD:
		plan_need(c, node->zeros);
		plan_add(c, OP_PAD)->bytes = node->zeros;
		break;
	case LAYOUT_ALIGN:
		plan_add(c, OP_ALIGN)->bytes = node->zeros;
		c->offset = -1;
		c->need = 0;
		break;
	case LAYOUT_ARRAY:
		compile_array(c, node);
		break;
	case LAYOUT_LOOP:
		compile_loop(c, node);
		break;
	case LAYOUT_OBJECT:
		compile_object(c, node->name, &node->object);
		break;
	case LAYOUT_REGS:
		compile_regs(c, node);
		break;
	case LAYOUT_INDEX:
		plan_add(c, OP_INDEX)->set = node->index;
		plan_grows(c, plan_longest_of(node->index));
		plan_set_name(c, node->name);
		break;
	case LAYOUT_WHEN:
		compile_when(c, node);
		break;
	case LAYOUT_USE:
		if (!strcmp(node->use->name, "sample_id"))
			c->plan->trailer = true;
		if (node->name)
			compile_object(c, node->name, &node->use->list);
		else
			compile_fields(c, &node->use->list);
		break;
	case LAYOUT_SWITCH:
		compile_switch(c, node);
		break;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
static void compile_fields(struct compiler *c, const struct layout_list *list)
{
	const struct plan_for *with = c->with;

	for (size_t i = 0; i < list->count && !c->err; i++) {
		const struct layout_node *node = &list->nodes[i];
		size_t first;
		bool is_wanted = !with->fields || !node->name || !c->outside;

		for (size_t k = 0; !is_wanted && k < with->field_count; k++)
			is_wanted = !strcmp(with->fields[k], node->name);
		/* what nobody asked for is read and not written; a number is stepped over */
		first = c->plan->count;
		if (!is_wanted && node->kind != LAYOUT_NUMBER)
			plan_add(c, OP_HIDE);
		compile_node(c, node);
		for (; !is_wanted && first < c->plan->count; first++) {
			uint8_t *kind = &plan_op(c, first)->kind;

			if (*kind >= OP_U8 &&
			    (*kind < OP_SET || (*kind == OP_SET && node->kind == LAYOUT_NUMBER)))
				*kind = OP_SKIP;
		}
		if (!is_wanted && node->kind != LAYOUT_NUMBER)
			plan_add(c, OP_SHOW);
	}
}

/* Whether it is of a kind that has its count in front and nothing else to it. */
static bool is_counted(const struct op *op)
{
	const struct layout_size *size = op->amount.size;

	return (op->kind == OP_BYTES || op->kind == OP_RAW || op->kind == OP_ARRAY) &&
	       size->from == LAYOUT_FROM_PREFIX && !size->less && !size->per;
}

/* Whoever wants fields alone need not run a plan all of whose fields are at known places. */
static void find_fixed(struct plan *plan)
{
	const struct op *op = plan->ops;
	size_t size = HEADER;

	for (; op->kind <= OP_SKIP || op->kind == OP_PAD || op->kind == OP_TEXT ||
	       op->kind == OP_CLOSE;
	     op++)
		size += op->kind == OP_NEED ? op->bytes : 0;
	plan->rest = op;
	while (op->kind == OP_HIDE && is_counted(op + 1) && op[2].kind == OP_SHOW)
		op += 3;
	if (op->kind == OP_END && !plan->keeps)
		plan->ahead = (uint32_t)size;
}

int plan_make(struct plan *plan, const struct plan_for *with, const struct layout *layout)
{
	bool is_tools = layout->owner == LAYOUT_OF_TOOL_RECORD;
	bool is_record = layout->owner == LAYOUT_OF_RECORD || is_tools;
	const struct abi_family *misc = abi_family(with->abi, "misc");
	struct compiler c = {.with = with,
			     .plan = plan,
			     .offset = is_record ? HEADER : 0,
			     .outside = is_record,
			     .regs = REG_KEPT + 1};

	*plan = (struct plan){.name = layout->name,
			      .open = layout->owner == LAYOUT_OF_TRACEPOINT,
			      .lenient = is_tools || layout->owner == LAYOUT_OF_VALUE};
	for (size_t i = 0; is_record && i < misc->count; i++)
		if (abi_is_of_record(&misc->values[i], layout->name))
			plan->misc_known |= misc->values[i].value;
	plan->no_rest = is_record && with->fields;
	for (size_t i = 0; i < with->field_count; i++)
		plan->no_rest = plan->no_rest && strcmp(with->fields[i], "rest") != 0;
	compile_fields(&c, &layout->list);
	plan_add(&c, OP_END);
	plan_set_number(&c, "rest");
	/* numbers of 32 bits that stand next to each other and that nothing else goes by */
	for (size_t i = 0; i + 1 < plan->count; i++) {
		struct op *op = &plan->ops[i];

		if (op->kind == OP_S32 && op[1].kind == OP_S32 && op->reg == NO_REG &&
		    op[1].reg == NO_REG)
			plan->ops[i++].kind = OP_PAIR;
	}
	if (is_record && !c.err)
		find_fixed(plan);
	if (c.err)
		plan_free(plan);
	return c.err;
}

void plan_free(struct plan *plan)
{
	arena_free(&plan->texts);
	free(plan->ops);
	*plan = (struct plan){0};
}

size_t plan_fixed_size(const struct plan *plan)
{
	size_t size = 0;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->ops[i].kind == OP_NEED)
			size += plan->ops[i].bytes;
	return size;
}

static const struct op *number_op(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->ops[i].path && !strcmp(plan->ops[i].path, path) &&
		    plan->ops[i].kind >= OP_U8 && plan->ops[i].kind <= OP_SKIP)
			return &plan->ops[i];
	return NULL;
}

int plan_offset(const struct plan *plan, const char *path)
{
	const struct op *op = number_op(plan, path);

	return op ? op->offset : -1;
}

bool plan_number(const struct plan *plan, const char *path, const unsigned char *bytes, size_t size,
		 enum byte_order order, uint64_t *value)
{
	const struct op *op = number_op(plan, path);

	if (!op || op->offset < 0 || size < (size_t)op->offset + op->width)
		return false;
	*value = load_word(bytes + op->offset, op->width, order);
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int paths_sort(struct paths *paths)
{
	const char **names = calloc(json_object_size(paths->gathered) + 1, sizeof(*names)), *name;
	json_t *value;

	if (!names)
		return -ENOMEM;
	json_object_foreach(paths->gathered, name, value)
		names[paths->count++] = name;
	qsort(names, paths->count, sizeof(*names), compare_names);
	paths->names = names;
	return 0;
}

void paths_free(struct paths *paths)
{
	if (paths->gathered)
		free((void *)paths->names);
	json_decref(paths->gathered);
	*paths = (struct paths){0};
}

uint32_t paths_number(const struct paths *paths, const char *path)
{
	const char *const *found =
		bsearch(&path, paths->names, paths->count, sizeof(path), compare_names);

	return found ? (uint32_t)(found - paths->names) + 1 : 0;
}

const char *paths_name(const struct paths *paths, uint32_t number)
{
	return number >= 1 && number <= paths->count ? paths->names[number - 1] : NULL;
}
