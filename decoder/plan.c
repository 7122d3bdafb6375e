/* SPDX-License-Identifier: MIT */
/*
 * Layouts -> plans. One function a kind of field; the shape of what may stand in a layout is in
 * cases/README.md and cases/schema/abi.schema.json.
 */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "json.h"

enum { DEPTH_MAX = 16, NAMES = 192, PATH = 128, HEADER = 8, ATTR_JSON = 8192, TEXT_BLOCK = 1024 };

static const struct {
	const char *name;
	uint8_t kind, width;
	uint8_t longest; /* characters of JSON, with quotes and comma */
} types[] = {
	{"u8", OP_U8, 1, 4},     {"u16", OP_U16, 2, 6},    {"u32", OP_U32, 4, 11},
	{"u64", OP_U64, 8, 21},  {"s32", OP_S32, 4, 12},   {"s64", OP_S64, 8, 21},
	{"hex16", OP_X16, 2, 9}, {"hex32", OP_X32, 4, 13}, {"hex64", OP_X64, 8, 21},
	{"f64", OP_F64, 8, 32},
};

/* Keys of a record's line that a field of it must not take. */
static const char *const taken[] = {"type", "offset", "size", "misc",    "event", "within",
				    "at",   "bytes",  "rest", "type_id", NULL};

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

static int compile_list(struct compiler *c, const json_t *list, const struct where *w);

static int no_memory(struct compiler *c, const struct where *w)
{
	error_text(c->e, w, strerror(ENOMEM), "memory for a plan");
	return -ENOMEM;
}

static struct op *add(struct compiler *c, uint8_t kind, const struct where *w)
{
	struct plan *plan = c->plan;
	struct op *op;

	if (plan->count == plan->capacity) {
		size_t capacity = plan->capacity ? 2 * plan->capacity : 16;
		struct op *grown = realloc(plan->ops, capacity * sizeof(*grown));

		if (!grown) {
			no_memory(c, w);
			return NULL;
		}
		plan->ops = grown;
		plan->capacity = capacity;
	}
	op = &plan->ops[plan->count++];
	*op = (struct op){
		.kind = kind, .reg = NO_REG, .used = NO_REG, .offset = c->offset, .key = ""};
	return op;
}

/* Behind a jump's target nothing is known of what was checked before. */
static void forget_need(struct compiler *c)
{
	c->need = 0;
}

/* Bytes of fixed length come now: one check serves all that follow each other. */
static int need(struct compiler *c, uint32_t bytes, const struct where *w)
{
	if (!c->need) {
		if (!add(c, OP_NEED, w))
			return -ENOMEM;
		c->need = c->plan->count;
	}
	c->plan->ops[c->need - 1].n += bytes;
	if (c->offset >= 0)
		c->offset += (int)bytes;
	if (c->in_loop)
		c->smallest += bytes;
	return 0;
}

/* Text that lives as long as the plan, readable to PUT_KEY bytes; many share a block. */
static const char *keep(struct compiler *c, const char *text, const struct where *w)
{
	struct plan *plan = c->plan;
	size_t n = strlen(text) + 1;
	char *copy;

	if (!plan->text_count || plan->text_used + n + PUT_KEY > TEXT_BLOCK) {
		void **grown = realloc(plan->texts, (plan->text_count + 1) * sizeof(*grown));
		void *block = grown ? calloc(1, TEXT_BLOCK) : NULL;

		if (grown)
			plan->texts = grown;
		if (!block) {
			no_memory(c, w);
			return NULL;
		}
		plan->texts[plan->text_count++] = block;
		plan->text_used = 0;
	}
	copy = (char *)plan->texts[plan->text_count - 1] + plan->text_used;
	memcpy(copy, text, n);
	plan->text_used += n;
	return copy;
}

/* What a value of that many characters, key included, adds to the longest line. */
static void grows(struct compiler *c, size_t characters)
{
	if (c->in_loop)
		c->longest += characters;
	else
		c->plan->fixed += characters;
}

static void grows_per_byte(struct compiler *c, size_t characters)
{
	if (characters > c->plan->per_byte)
		c->plan->per_byte = characters;
}

static const char *name_of(const json_t *item)
{
	return json_string_value(json_object_get(item, "name"));
}

static int set_key(struct compiler *c, size_t at, const char *name, const char *opening,
		   const struct where *w)
{
	char text[PATH + 32];
	const char *key, *path = NULL;
	struct op *op;
	int n = name ? snprintf(text, sizeof(text), "\"%s\":%s", name, opening)
		     : snprintf(text, sizeof(text), "%s", opening);

	if (n < 0 || (size_t)n >= sizeof(text))
		return error_text(c->e, w, name, "a shorter name");
	key = keep(c, text, w);
	if (!key)
		return -ENOMEM;
	if (name && !c->in_loop) {
		char full[2 * PATH];

		snprintf(full, sizeof(full), "%s%s", c->path, name);
		path = keep(c, full, w);
		if (!path)
			return -ENOMEM;
		c->plan->paths += strlen(full) + 32;
	}
	op = &c->plan->ops[at];
	op->key = key;
	op->key_length = (uint16_t)n;
	op->path = path;
	if (path && (!strcmp(path, "time") || !strcmp(path, "sample_id.time")))
		op->role = ROLE_TIME;
	if (path && (!strcmp(path, "cpu") || !strcmp(path, "sample_id.cpu")))
		op->role = ROLE_CPU;
	grows(c, (size_t)n);
	return 0;
}

static int remember(struct compiler *c, const char *name, const struct where *w)
{
	if (!name)
		return 0;
	if (c->name_count == NAMES) /* the oldest are out of reach */
		memmove(&c->names[0], &c->names[1], --c->name_count * sizeof(c->names[0]));
	c->names[c->name_count].name = name;
	c->names[c->name_count++].op = c->plan->count - 1;
	if (c->outside && name_index(name, taken, NULL) >= 0 && c->record)
		return error_name(c->e, w, name, NULL, "a name that a record's line does not have");
	return 0;
}

/* The register that the field of that name is kept in from now on. */
static int reg_of(struct compiler *c, const json_t *json, uint8_t *reg, const struct where *w)
{
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	struct op *op;

	if (!name)
		return error_value(c->e, w, json, "the name of a field before this one");
	if (name[0] == '$') {
		*reg = REG_KEPT;
		return 0;
	}
	for (size_t i = c->name_count; i--;) {
		if (strcmp(c->names[i].name, name))
			continue;
		op = &c->plan->ops[c->names[i].op];
		if (op->reg == NO_REG) {
			if (c->regs == REGS)
				return error_name(c->e, w, name, NULL,
						  "fewer fields that others name");
			op->reg = c->regs++;
		}
		*reg = op->reg;
		return 0;
	}
	for (size_t i = 0; i < c->name_count; i++)
		nearest_try(&near, c->names[i].name);
	return error_name(c->e, w, name, near.best, "the name of a field before this one");
}

static int unknown_keys(struct compiler *c, const json_t *item, const char *const known[],
			const struct where *w)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)item, key, value) {
		struct nearest near = nearest_to(key);
		struct where at = where_key(w, key);

		if (name_index(key, known, &near) < 0)
			return error_name(c->e, &at, key, near.best, "a key of such a field");
	}
	return 0;
}

static int small_number(struct compiler *c, const json_t *item, const char *key, uint32_t *out,
			const struct where *w)
{
	const json_t *value = json_object_get(item, key);
	struct where at = where_key(w, key);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > 65535)
		return error_value(c->e, &at, value, "a number from 0 to 65535");
	*out = (uint32_t)json_integer_value(value);
	return 0;
}

static const struct abi_family *family_named(struct compiler *c, const json_t *item,
					     const char *key, const struct where *w)
{
	const struct abi *abi = c->with->abi;
	const json_t *value = json_object_get(item, key);
	const char *name = json_string_value(value);
	const struct abi_family *family = name ? abi_family(abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, key);

	if (family)
		return family;
	for (size_t i = 0; i < abi->family_count; i++)
		nearest_try(&near, abi->families[i].name);
	if (name)
		error_name(c->e, &at, name, near.best, "a family of constants");
	else
		error_value(c->e, &at, value, "the name of a family of constants");
	return NULL;
}

/* The most that OP_SET or bits of a family can take: all names of a mask, the longest of an enum.
 */
static size_t longest_of(const struct abi_family *set)
{
	size_t sum = 32, longest = 24;

	for (size_t i = 0; i < set->count; i++) {
		size_t n = strlen(set->values[i].name) + 8;

		sum += n;
		longest = n > longest ? n : longest;
	}
	return set->mask ? sum : longest;
}

static int type_named(const char *name)
{
	for (size_t i = 0; name && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return (int)i;
	return -1;
}

static const char *opening_of(uint8_t kind)
{
	return kind == OP_X16 || kind == OP_X32 || kind == OP_X64 ? "\"0x" : "";
}

static int compile_scalar(struct compiler *c, const json_t *item, int type, const struct where *w)
{
	static const char *const known[] = {"name", "type", "set", "keep", "counts", NULL};
	const char *counts = json_string_value(json_object_get(item, "counts"));
	const struct abi_family *set = NULL;
	const char *name = name_of(item);
	size_t at;
	struct op *op;
	int err = unknown_keys(c, item, known, w);

	if (err)
		return err;
	if (json_object_get(item, "set")) {
		set = family_named(c, item, "set", w);
		if (!set)
			return -EINVAL;
	}
	if (need(c, types[type].width, w))
		return -ENOMEM;
	op = add(c, set ? OP_SET : types[type].kind, w);
	if (!op)
		return -ENOMEM;
	if (op->offset >= 0)
		op->offset -= types[type].width;
	op->width = types[type].width;
	op->set = set;
	if (json_is_true(json_object_get(item, "keep")))
		op->reg = REG_KEPT;
	if (counts && op->offset > 0 && op->width == 8) {
		c->plan->lost_offset = op->offset;
		c->plan->lost_samples = !strcmp(counts, "lost_samples");
	}
	at = c->plan->count - 1;
	grows(c, set ? longest_of(set) : types[type].longest);
	err = remember(c, name, w);
	return err ? err : set_key(c, at, name, set ? "" : opening_of(types[type].kind), w);
}

static int compile_pad(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"pad", NULL};
	uint32_t n = 0;
	struct op *op;

	if (unknown_keys(c, item, known, w) || small_number(c, item, "pad", &n, w))
		return -EINVAL;
	if (need(c, n, w))
		return -ENOMEM;
	op = add(c, OP_PAD, w);
	if (!op)
		return -ENOMEM;
	op->n = n;
	return 0;
}

static int compile_align(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"align", NULL};
	uint32_t n = 0;
	struct op *op;

	if (unknown_keys(c, item, known, w) || small_number(c, item, "align", &n, w))
		return -EINVAL;
	op = add(c, OP_ALIGN, w);
	if (!op)
		return -ENOMEM;
	op->n = n ? n : 1;
	c->offset = -1;
	forget_need(c);
	return 0;
}

/* size, length, count: a number, a field's name, the type of a prefix, "rest". */
static int size_source(struct compiler *c, const json_t *value, struct op *out,
		       const struct where *w)
{
	const char *text = json_string_value(value);
	int type = type_named(text);

	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
	    json_integer_value(value) <= 65535) {
		out->from = FROM_NUMBER;
		out->n = (uint32_t)json_integer_value(value);
		return 0;
	}
	if (type >= 0) {
		out->from = FROM_PREFIX;
		out->prefix = types[type].width;
		return 0;
	}
	if (text && !strcmp(text, "rest")) {
		out->from = FROM_REST;
		return 0;
	}
	out->from = FROM_REG;
	return reg_of(c, value, &out->used, w);
}

/* string, bytes, opaque, attr: as many bytes as something says. */
static int compile_text(struct compiler *c, const json_t *item, uint8_t kind, const struct where *w)
{
	static const char *const known[] = {"name", "type", "size", "length", "less", "used", NULL};
	const json_t *size = json_object_get(item, "size"),
		     *length = json_object_get(item, "length");
	const json_t *used = json_object_get(item, "used");
	struct where at_size = where_key(w, size ? "size" : "length"),
		     at_used = where_key(w, "used");
	struct op source = {.from = kind == OP_STRING ? FROM_NUL : FROM_REST, .used = NO_REG};
	uint8_t shown = NO_REG;
	size_t at;
	struct op *op;
	int err = unknown_keys(c, item, known, w);

	if (!err && (size || length))
		err = size_source(c, size ? size : length, &source, &at_size);
	if (!err && used)
		err = reg_of(c, used, &shown, &at_used);
	if (!err)
		err = small_number(c, item, "less", &source.less, w);
	if (err)
		return err;
	op = add(c, kind, w);
	if (!op)
		return -ENOMEM;
	at = c->plan->count - 1;
	op->from = source.from;
	op->n = source.n;
	op->prefix = source.prefix;
	op->used = source.used;
	op->less = source.less;
	op->reg = shown;
	if (c->in_loop)
		c->smallest += source.from == FROM_PREFIX   ? source.prefix
			       : source.from == FROM_NUMBER ? source.n
							    : 0;
	c->offset = -1;
	forget_need(c);
	if (kind == OP_ATTR && c->in_loop)
		c->smallest += ATTR_SMALLEST;
	grows(c, kind == OP_ATTR ? ATTR_JSON : PUT_STRING_FIXED);
	grows_per_byte(c, kind == OP_ATTR ? 12 : kind == OP_STRING ? PUT_STRING_MAX : 2);
	err = remember(c, name_of(item), w);
	return err ? err : set_key(c, at, name_of(item), kind == OP_BYTES ? "\"" : "", w);
}

static int compile_array(struct compiler *c, const json_t *item, const struct op *source, int type,
			 const struct where *w)
{
	static const char *const known[] = {"type", "markers", NULL};
	const json_t *each = json_object_get(item, "each");
	struct where at_each = where_key(w, "each");
	const struct abi_family *markers = NULL;
	size_t at, longest = types[type].longest;
	struct op *op;

	if (unknown_keys(c, each, known, &at_each))
		return -EINVAL;
	if (json_object_get(each, "markers")) {
		markers = family_named(c, each, "markers", &at_each);
		if (!markers || types[type].width != 8)
			return markers ? error_value(c->e, &at_each, each, "markers of 64 bits")
				       : -EINVAL;
		longest = longest_of(markers) + 48;
	}
	op = add(c, OP_ARRAY, w);
	if (!op)
		return -ENOMEM;
	at = c->plan->count - 1;
	op->from = source->from;
	op->n = source->n;
	op->prefix = source->prefix;
	op->used = source->used;
	op->per = source->per;
	op->element = types[type].kind;
	op->width = types[type].width;
	op->set = markers;
	op->value = op->mirrored = UINT64_MAX;
	for (size_t i = 0; markers && i < markers->count; i++) {
		if (!strcmp(markers->values[i].name, "max"))
			op->value = markers->values[i].value;
		if (json_object_get(markers->values[i].json, "followed_by"))
			op->mirrored = markers->values[i].value;
	}
	c->offset = -1;
	forget_need(c);
	grows(c, 8);
	grows_per_byte(c, longest / types[type].width + 1);
	return set_key(c, at, name_of(item), "[", w);
}

/* The fields between OP_LOOP and OP_NEXT, with what they take counted apart. */
static int compile_body(struct compiler *c, const json_t *body, bool is_list, const struct where *w)
{
	size_t outer_smallest = c->smallest, outer_longest = c->longest;
	bool outer_in_loop = c->in_loop, outside = c->outside;
	int err;

	c->in_loop = true;
	c->outside = false;
	c->smallest = 0;
	c->longest = 8;
	if (is_list) {
		err = compile_list(c, body, w);
	} else {
		json_t *one = json_pack("[O]", body);

		err = one ? compile_list(c, one, w) : no_memory(c, w);
		json_decref(one);
	}
	if (!err && !c->smallest)
		err = error_value(c->e, w, body, "elements of one byte at least");
	if (!err)
		grows_per_byte(c, c->longest / c->smallest + 1);
	c->in_loop = outer_in_loop;
	c->outside = outside;
	c->smallest = outer_smallest;
	c->longest = outer_longest;
	return err;
}

static int compile_count(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "count", "per", "each", "fields", NULL};
	const json_t *each = json_object_get(item, "each"),
		     *fields = json_object_get(item, "fields");
	struct where at_count = where_key(w, "count"),
		     at_each = where_key(w, each ? "each" : "fields");
	struct op source = {.used = NO_REG};
	int type = type_named(json_string_value(json_object_get(each, "type")));
	size_t begin;
	struct op *op;
	int err = unknown_keys(c, item, known, w);

	if (!err && !each == !fields)
		err = error_value(c->e, w, item, "each or fields");
	if (!err)
		err = size_source(c, json_object_get(item, "count"), &source, &at_count);
	if (!err)
		err = small_number(c, item, "per", &source.per, w);
	if (err)
		return err;
	if (c->in_loop && source.from == FROM_PREFIX)
		c->smallest += source.prefix;
	if (each && type >= 0)
		return compile_array(c, item, &source, type, w);
	if (c->loops == LOOPS)
		return error_value(c->e, w, item, "arrays in no more than %d arrays", LOOPS - 1);
	op = add(c, OP_LOOP, w);
	if (!op)
		return -ENOMEM;
	begin = c->plan->count - 1;
	op->from = source.from;
	op->n = source.n;
	op->prefix = source.prefix;
	op->used = source.used;
	op->per = source.per;
	op->bare = !fields;
	c->offset = -1;
	forget_need(c);
	grows(c, 8);
	err = set_key(c, begin, name_of(item), "[", w);
	c->loops++;
	if (!err)
		err = compile_body(c, fields ? fields : each, fields != NULL, &at_each);
	c->loops--;
	forget_need(c);
	if (err)
		return err;
	op = add(c, OP_NEXT, w);
	if (!op)
		return -ENOMEM;
	op->jump = (uint32_t)begin + 1;
	op->bare = !fields;
	op->path = c->plan->ops[begin].path;
	c->plan->ops[begin].jump = (uint32_t)c->plan->count;
	return 0;
}

/* Enters an object: its fields' paths begin with its name. */
static int push_path(struct compiler *c, const char *name, size_t *old, const struct where *w)
{
	*old = strlen(c->path);
	if (*old + strlen(name) + 2 > sizeof(c->path))
		return error_text(c->e, w, name, "shorter names, or fewer objects in objects");
	sprintf(c->path + *old, "%s.", name);
	return 0;
}

static int open_object(struct compiler *c, const char *name, const struct where *w)
{
	struct op *op = add(c, OP_TEXT, w);
	int err = op ? set_key(c, c->plan->count - 1, name, "{", w) : -ENOMEM;

	if (!err)
		c->plan->ops[c->plan->count - 1].path = NULL;
	grows(c, 4);
	return err;
}

static int close_object(struct compiler *c, const struct where *w)
{
	struct op *op = add(c, OP_CLOSE, w);

	if (!op)
		return -ENOMEM;
	return 0;
}

static int compile_object(struct compiler *c, const char *name, const json_t *fields,
			  const struct where *w)
{
	bool outside = c->outside;
	size_t old;
	int err = push_path(c, name, &old, w);

	if (err)
		return err;
	c->path[old] = '\0';
	err = open_object(c, name, w);
	sprintf(c->path + old, "%s.", name);
	c->outside = false;
	if (!err)
		err = compile_list(c, fields, w);
	c->outside = outside;
	c->path[old] = '\0';
	return err ? err : close_object(c, w);
}

static int bits_of(struct compiler *c, const json_t *member, unsigned unit, struct op *op,
		   const struct where *w)
{
	const json_t *bits = json_object_get(member, "bits");
	long long first = json_integer_value(json_array_get(bits, 0));
	long long width = json_integer_value(json_array_get(bits, 1));

	if (json_array_size(bits) != 2 || first < 0 || width < 1 || width > 64 ||
	    first + width > (long long)unit * 8)
		return error_value(c->e, w, bits, "[first, width] within the word");
	op->n = (uint32_t)first;
	op->width = (uint8_t)width;
	return 0;
}

/* {"field": "type", "is": 15}: a bit field that means something only with another's value. */
static int compile_only(struct compiler *c, const json_t *only, const json_t *members, uint8_t reg,
			unsigned unit, size_t *skip, const struct where *w)
{
	const char *name = json_string_value(json_object_get(only, "field"));
	const json_t *is = json_object_get(only, "is"), *member;
	size_t i;

	json_array_foreach(members, i, member) {
		struct op bits = {0}, *op;

		if (!name || !name_of(member) || strcmp(name_of(member), name))
			continue;
		if (!json_is_integer(is) || bits_of(c, member, unit, &bits, w))
			break;
		op = add(c, OP_UNLESS_IS, w);
		if (!op)
			return -ENOMEM;
		op->reg = reg;
		op->n = bits.n;
		op->width = bits.width;
		op->value = (uint64_t)json_integer_value(is);
		*skip = c->plan->count;
		return 0;
	}
	return error_value(c->e, w, only, "{\"field\": another member, \"is\": a number}");
}

static int compile_member(struct compiler *c, const json_t *member, const json_t *layout,
			  uint8_t reg, unsigned unit, const struct where *w)
{
	const json_t *only = json_object_get(member, "only");
	const struct abi_family *set = NULL;
	size_t skip = 0;
	struct op *op;
	int err = 0;

	if (json_object_get(member, "set") && !(set = family_named(c, member, "set", w)))
		return -EINVAL;
	if (only)
		err = compile_only(c, only, json_object_get(layout, "values"), reg, unit, &skip, w);
	if (err)
		return err;
	op = add(c, OP_BITS, w);
	if (!op)
		return -ENOMEM;
	err = bits_of(c, member, unit, op, w);
	op->reg = reg;
	op->set = set;
	op->per = json_string_value(json_object_get(layout, "order")) ? unit * 8 : 0;
	op->omit_zero = json_is_true(json_object_get(layout, "omit_zero"));
	grows(c, set ? longest_of(set) : 24);
	if (!err)
		err = set_key(c, c->plan->count - 1, name_of(member), "", w);
	c->plan->ops[c->plan->count - 1].path = NULL;
	if (skip) {
		c->plan->ops[skip - 1].per = op->per;
		c->plan->ops[skip - 1].jump = (uint32_t)c->plan->count;
	}
	return err;
}

/* A word whose members are listed in a family of kind layout; what has no member is under "bits".
 */
static int compile_bitfield(struct compiler *c, const json_t *item, int type, const struct where *w)
{
	const struct abi_family *layout = family_named(c, item, "bitfield", w);
	const char *name = name_of(item);
	uint64_t named = 0, mirrored = 0;
	const json_t *member;
	struct op *op;
	uint8_t reg = c->regs;
	size_t i, word;
	int err = 0;

	if (!layout)
		return -EINVAL;
	if (c->regs == REGS)
		return error_value(c->e, w, item, "fewer fields that others name");
	c->regs++;
	if (name)
		err = open_object(c, name, w);
	if (err || need(c, types[type].width, w))
		return -ENOMEM;
	op = add(c, OP_WORD, w);
	if (!op)
		return -ENOMEM;
	word = c->plan->count - 1;
	op->width = types[type].width;
	op->reg = reg;
	if (op->offset >= 0)
		op->offset -= types[type].width;
	json_array_foreach(json_object_get(layout->json, "values"), i, member) {
		err = compile_member(c, member, layout->json, reg, types[type].width, w);
		if (err)
			return err;
		op = &c->plan->ops[c->plan->count - 1];
		named |= UINT64_MAX >> (64 - op->width) << op->n;
		if (op->per)
			mirrored |= UINT64_MAX >> (64 - op->width) << (op->per - op->n - op->width);
	}
	op = add(c, OP_BITS, w); /* the rest, as one number */
	if (!op)
		return -ENOMEM;
	op->reg = reg;
	op->width = (uint8_t)(types[type].width * 8);
	op->omit_zero = true;
	op->value = named;
	op->mirrored = mirrored;
	op->per = json_string_value(json_object_get(layout->json, "order")) ? op->width : 0;
	op->element = OP_X64;
	grows(c, 24);
	err = set_key(c, c->plan->count - 1, "bits", "\"0x", w);
	c->plan->ops[c->plan->count - 1].path = NULL;
	if (!err && name) {
		char full[2 * PATH];

		snprintf(full, sizeof(full), "%s%s", c->path, name);
		c->plan->ops[word].path = c->in_loop ? NULL : keep(c, full, w);
		c->plan->paths += strlen(full) + 32;
		err = close_object(c, w);
	}
	return err;
}

/* The registers of the architecture that the attr's mask asks for, each by its name. */
static int compile_regs(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "regs", NULL};
	const struct plan_for *with = c->with;
	const char *mask_name = json_string_value(json_object_get(item, "regs"));
	const struct abi_field *field = mask_name ? abi_field(with->abi, mask_name) : NULL;
	uint64_t mask;
	size_t old;
	int err = unknown_keys(c, item, known, w);

	if (!err && (!field || !name_of(item)))
		err = error_value(c->e, w, item, "a name, and regs: a field of attr");
	if (err)
		return err;
	if (with->uses)
		with->uses(with->context, field);
	mask = with->attr ? attr_get(field, with->attr, host_order()) : UINT64_MAX;
	err = open_object(c, name_of(item), w);
	if (!err)
		err = push_path(c, name_of(item), &old, w);
	for (unsigned bit = 0; bit < 64 && !err; bit++) {
		const struct abi_value *reg =
			with->arch ? abi_value_of(&with->arch->regs, UINT64_C(1) << bit) : NULL;
		char name[32];
		struct op *op;

		if (!(mask >> bit & 1))
			continue;
		if (reg)
			snprintf(name, sizeof(name), "%s", reg->name);
		else
			snprintf(name, sizeof(name), "bit%u", bit);
		if (need(c, 8, w) || !(op = add(c, OP_X64, w)))
			return -ENOMEM;
		op->width = 8;
		grows(c, 24);
		err = set_key(c, c->plan->count - 1, name, "\"0x", w);
	}
	if (err)
		return err;
	c->path[old] = '\0';
	return close_object(c, w);
}

/*
 * What a condition comes to: LATER is an operation, the last one, whose jump is to be aimed behind
 * `then`; BOTH is for a plan of any attr, which is made to check the layout alone.
 */
enum { ALWAYS, NEVER, LATER, BOTH };

static int condition_of_attr(struct compiler *c, const char *key, const json_t *value,
			     const struct where *w)
{
	const struct plan_for *with = c->with;
	bool is_flag = !strcmp(key, "attr");
	const char *text = json_string_value(value);
	const struct abi_field *field = abi_field(with->abi, is_flag && text ? text : key);
	const struct abi_value *bit;
	struct nearest near = nearest_to(text ? text : "");
	uint64_t now;

	if (!field)
		return error_name(c->e, w, text ? text : key, NULL, "a field of attr");
	if (with->uses)
		with->uses(with->context, field);
	if (!with->attr)
		return BOTH;
	now = attr_get(field, with->attr, host_order());
	if (is_flag)
		return now ? ALWAYS : NEVER;
	bit = field->set && text ? abi_value(field->set, text, &near) : NULL;
	if (!bit)
		return error_name(c->e, w, text ? text : "", near.best, "a flag of %s", key);
	return (now & bit->value) == bit->value ? ALWAYS : NEVER;
}

static int condition_of_misc(struct compiler *c, const json_t *value, const struct where *w)
{
	const struct abi_family *misc = abi_family(c->with->abi, "misc");
	const char *text = json_string_value(value);
	struct nearest near = nearest_to(text ? text : "");
	const struct abi_value *bit = misc && text ? abi_value(misc, text, &near) : NULL;
	struct op *op;

	if (!bit)
		return error_name(c->e, w, text ? text : "", near.best, "a bit of misc");
	op = add(c, OP_UNLESS_MISC, w);
	if (!op)
		return -ENOMEM;
	op->value = bit->value;
	return LATER;
}

static int condition_of_field(struct compiler *c, const json_t *when, const struct where *w)
{
	static const struct {
		const char *key;
		uint8_t kind;
	} comparisons[] = {
		{"is", OP_UNLESS_IS}, {"not", OP_UNLESS_NOT}, {"at_least", OP_UNLESS_AT_LEAST}};
	uint8_t reg;
	int err = reg_of(c, json_object_get(when, "field"), &reg, w);

	for (size_t i = 0; !err && i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const json_t *value = json_object_get(when, comparisons[i].key);
		struct op *op;

		if (!json_is_integer(value))
			continue;
		op = add(c, comparisons[i].kind, w);
		if (!op)
			return -ENOMEM;
		op->reg = reg;
		op->value = (uint64_t)json_integer_value(value);
		return LATER;
	}
	return err ? err : error_value(c->e, w, when, "a field and is, not or at_least a number");
}

static int compile_condition(struct compiler *c, const json_t *when, const struct where *w)
{
	void *first = json_object_iter((json_t *)when);
	const char *key = first ? json_object_iter_key(first) : NULL;
	const json_t *value = first ? json_object_iter_value(first) : NULL;
	struct where at = where_key(w, key ? key : "");
	struct op *op;

	if (!json_is_object(when) || !key)
		return error_value(c->e, w, when, "a condition");
	if (json_object_get(when, "field"))
		return condition_of_field(c, when, w);
	if (json_object_size(when) != 1)
		return error_value(c->e, w, when, "one condition");
	if (!strcmp(key, "misc"))
		return condition_of_misc(c, value, &at);
	if (strcmp(key, "left") && strcmp(key, "maybe"))
		return condition_of_attr(c, key, value, &at);
	op = add(c, key[0] == 'l' ? OP_UNLESS_LEFT : OP_UNLESS_MAYBE, w);
	if (!op)
		return -ENOMEM;
	return small_number(c, json_is_integer(value) ? when : NULL, key, &op->n, w) ? -EINVAL
										     : LATER;
}

static int compile_branch(struct compiler *c, const json_t *list, const struct where *w)
{
	int err;

	forget_need(c);
	err = list ? compile_list(c, list, w) : 0;
	forget_need(c);
	return err;
}

static int compile_when(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"when", "then", "else", NULL};
	const json_t *then = json_object_get(item, "then"), *other = json_object_get(item, "else");
	struct where at_when = where_key(w, "when"), at_then = where_key(w, "then");
	struct where at_else = where_key(w, "else");
	size_t test, over, smallest = c->smallest;
	int offset, decided;
	struct op *op;
	int err = unknown_keys(c, item, known, w);

	if (!err && !json_is_array(then))
		err = error_value(c->e, &at_then, then, "a list of fields");
	if (err)
		return err;
	decided = compile_condition(c, json_object_get(item, "when"), &at_when);
	if (decided < 0)
		return decided;
	if (decided == ALWAYS)
		return compile_list(c, then, &at_then);
	if (decided == NEVER)
		return other ? compile_list(c, other, &at_else) : 0;
	if (decided == BOTH) {
		err = compile_branch(c, then, &at_then);
		return err ? err : compile_branch(c, other, &at_else);
	}
	test = c->plan->count - 1;
	offset = c->offset;
	err = compile_branch(c, then, &at_then);
	if (err)
		return err;
	if (other) {
		int after = c->offset;

		op = add(c, OP_JUMP, w);
		if (!op)
			return -ENOMEM;
		over = c->plan->count - 1;
		c->plan->ops[test].jump = (uint32_t)c->plan->count;
		c->offset = offset;
		err = compile_branch(c, other, &at_else);
		c->plan->ops[over].jump = (uint32_t)c->plan->count;
		c->offset = c->offset == after ? after : -1;
	} else {
		c->plan->ops[test].jump = (uint32_t)c->plan->count;
		c->offset = c->offset == offset ? offset : -1;
	}
	c->smallest = smallest; /* an element may do without */
	return err;
}

static int compile_use(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"use", "name", NULL};
	const char *name = json_string_value(json_object_get(item, "use"));
	const struct abi_layout *layout = name ? abi_layout(c->with->abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, "use"), root;
	int err = unknown_keys(c, item, known, w);

	if (err)
		return err;
	for (size_t i = 0; !layout && i < c->with->abi->layout_count; i++)
		nearest_try(&near, c->with->abi->layouts[i].name);
	if (!layout)
		return error_name(c->e, &at, name ? name : "", near.best, "a name in layouts");
	root = where_root(layout->source);
	root = where_key(&root, "layouts");
	at = where_key(&root, name);
	if (!strcmp(name, "sample_id"))
		c->plan->trailer = true;
	if (name_of(item))
		return compile_object(c, name_of(item), layout->fields, &at);
	return compile_list(c, layout->fields, &at);
}

/* {"switch": "feat_id", "over": "feature"}: the fields of the family's value that the field is. */
static int compile_switch(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"switch", "over", NULL};
	const struct abi_family *over = family_named(c, item, "over", w);
	struct where at_switch = where_key(w, "switch");
	uint8_t reg;
	int err = unknown_keys(c, item, known, w);

	if (!err && !over)
		err = -EINVAL;
	if (!err)
		err = reg_of(c, json_object_get(item, "switch"), &reg, &at_switch);
	for (size_t i = 0; !err && i < over->count; i++) {
		const json_t *fields = json_object_get(over->values[i].json, "fields");
		struct where root = where_root(over->source);
		struct where constants = where_key(&root, "constants");
		struct where family = where_key(&constants, over->name);
		struct where values = where_key(&family, "values");
		struct where value = where_index(&values, i), at = where_key(&value, "fields");
		struct op *op;
		size_t test;

		if (!fields)
			continue;
		op = add(c, OP_UNLESS_IS, w);
		if (!op)
			return -ENOMEM;
		op->reg = reg;
		op->value = over->values[i].value;
		test = c->plan->count - 1;
		c->offset = -1;
		err = compile_branch(c, fields, &at);
		c->plan->ops[test].jump = (uint32_t)c->plan->count;
	}
	return err;
}

static int compile_index(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "index", NULL};
	const struct abi_family *set = family_named(c, item, "index", w);
	struct op *op;

	if (!set || unknown_keys(c, item, known, w))
		return -EINVAL;
	if (!c->in_loop)
		return error_value(c->e, w, item, "an array around an index");
	op = add(c, OP_INDEX, w);
	if (!op)
		return -ENOMEM;
	op->set = set;
	grows(c, longest_of(set));
	return set_key(c, c->plan->count - 1, name_of(item), "", w);
}

static int compile_typed(struct compiler *c, const json_t *item, const struct where *w)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} texts[] = {{"string", OP_STRING},
		     {"bytes", OP_BYTES},
		     {"opaque", OP_OPAQUE},
		     {"attr", OP_ATTR}};
	const char *name = json_string_value(json_object_get(item, "type"));
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, "type");
	int type = type_named(name);

	if (type >= 0 && json_object_get(item, "bitfield"))
		return compile_bitfield(c, item, type, w);
	if (type >= 0)
		return compile_scalar(c, item, type, w);
	for (size_t i = 0; name && i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(texts[i].name, name))
			return compile_text(c, item, texts[i].kind, w);
		nearest_try(&near, texts[i].name);
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		nearest_try(&near, types[i].name);
	if (name)
		return error_name(c->e, &at, name, near.best, "a type");
	return error_value(c->e, w, item,
			   "a field: type, pad, align, count, fields, regs, use or when");
}

static int compile_item(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "fields", NULL};
	static const struct {
		const char *key;
		int (*compile)(struct compiler *, const json_t *, const struct where *);
	} kinds[] = {{"when", compile_when},     {"pad", compile_pad},     {"align", compile_align},
		     {"use", compile_use},       {"count", compile_count}, {"regs", compile_regs},
		     {"switch", compile_switch}, {"index", compile_index}};
	const json_t *fields = json_object_get(item, "fields");
	struct where at_fields = where_key(w, "fields");

	if (!json_is_object(item))
		return error_value(c->e, w, item, "a field");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (json_object_get(item, kinds[i].key))
			return kinds[i].compile(c, item, w);
	if (!fields)
		return compile_typed(c, item, w);
	if (!name_of(item) || unknown_keys(c, item, known, w))
		return error_value(c->e, w, item, "an object with a name and fields");
	return compile_object(c, name_of(item), fields, &at_fields);
}

static bool is_wanted(const struct compiler *c, const char *name)
{
	if (!c->with->fields || !name || !c->outside || !c->record)
		return true;
	for (size_t i = 0; i < c->with->field_count; i++)
		if (!strcmp(c->with->fields[i], name))
			return true;
	return false;
}

/* A plain number that nobody asked for is stepped over; anything else is read and not written. */
static void hide(struct compiler *c)
{
	struct op *last = &c->plan->ops[c->plan->count - 1];

	if (last->kind >= OP_U8 && last->kind <= OP_SET && last->role == ROLE_NONE) {
		last->n = last->width;
		last->kind = OP_SKIP;
		last->path = NULL;
	}
}

static int compile_list(struct compiler *c, const json_t *list, const struct where *w)
{
	const json_t *item;
	size_t i;
	int err = 0;

	if (!json_is_array(list))
		return error_value(c->e, w, list, "a list of fields");
	if (++c->depth > DEPTH_MAX)
		return error_value(c->e, w, list, "fields no more than %d deep", DEPTH_MAX);
	json_array_foreach(list, i, item) {
		struct where at = where_index(w, i);
		const char *name = name_of(item);
		bool named = c->outside && name, wanted = is_wanted(c, name);
		bool plain = type_named(json_string_value(json_object_get(item, "type"))) >= 0 &&
			     !json_object_get(item, "bitfield");

		if (named && c->with->offer)
			c->with->offer(c->with->context, name);
		if (!wanted && !plain && !add(c, OP_HIDE, &at))
			return -ENOMEM;
		err = compile_item(c, item, &at);
		if (!err && !wanted && plain)
			hide(c);
		if (!err && !wanted && !plain && !add(c, OP_SHOW, &at))
			err = -ENOMEM;
		if (err)
			break;
	}
	c->depth--;
	return err;
}

static uint64_t misc_of(const struct abi *abi, const char *record)
{
	const struct abi_family *misc = abi_family(abi, "misc");
	uint64_t known = 0;

	for (size_t i = 0; misc && i < misc->count; i++) {
		const json_t *records = json_object_get(misc->values[i].json, "records"), *name;
		size_t k;

		if (!records)
			known |= misc->values[i].value;
		json_array_foreach(records, k, name)
			if (!strcmp(json_string_value(name), record))
				known |= misc->values[i].value;
	}
	return known;
}

static int finish(struct compiler *c, const struct where *w)
{
	return add(c, OP_END, w) ? 0 : -ENOMEM;
}

static int make(struct plan *plan, struct compiler *c, const json_t *fields, const struct where *w)
{
	int err = compile_list(c, fields, w);

	if (!err)
		err = finish(c, w);
	if (err)
		plan_free(plan);
	return err;
}

int plan_make_layout(struct plan *plan, const struct plan_for *with, const char *name,
		     struct error *e)
{
	const struct abi_layout *layout = abi_layout(with->abi, name);
	struct compiler c = {.with = with, .plan = plan, .e = e, .regs = REG_KEPT + 1};
	struct where root, layouts, at;

	*plan = (struct plan){.name = name};
	if (!layout)
		return error_name(e, NULL, name, NULL, "a layout of that name in cases/abi");
	root = where_root(layout->source);
	layouts = where_key(&root, "layouts");
	at = where_key(&layouts, name);
	return make(plan, &c, layout->fields, &at);
}

int plan_make(struct plan *plan, const struct plan_for *with, const struct abi_family *family,
	      const struct abi_value *value, struct error *e)
{
	struct where root = where_root(family->source);
	struct where constants = where_key(&root, "constants"),
		     in = where_key(&constants, family->name);
	struct where values = where_key(&in, "values");
	struct where one = where_index(&values, (size_t)(value - family->values));
	struct where at = where_key(&one, "fields");
	bool is_record = strstr(family->name, "record") != NULL;
	struct compiler c = {.with = with,
			     .plan = plan,
			     .e = e,
			     .record = is_record ? value->name : NULL,
			     .offset = is_record ? HEADER : 0,
			     .outside = true,
			     .regs = REG_KEPT + 1};
	*plan = (struct plan){
		.name = value->name, .type = value, .lenient = strcmp(family->name, "record") != 0};
	if (is_record)
		plan->misc_known = misc_of(with->abi, value->name);
	return make(plan, &c, json_object_get(value->json, "fields"), &at);
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->text_count; i++)
		free(plan->texts[i]);
	free(plan->texts);
	free(plan->ops);
	*plan = (struct plan){0};
}

int plan_offset(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->ops[i].path && !strcmp(plan->ops[i].path, path) &&
		    plan->ops[i].kind >= OP_U8 && plan->ops[i].kind <= OP_SET)
			return plan->ops[i].offset;
	return -1;
}
