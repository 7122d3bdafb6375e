/* SPDX-License-Identifier: MIT */
/*
 * All layouts of the tables: words of bit fields first, then each layout in its turn, or before one
 * that uses it. All that can be wrong with one is said here, at its place; the shape of what may
 * stand in a layout is in docs/layouts.md and cases/schema/abi.schema.json.
 */
#include <errno.h>
#include <string.h>

#include "abi/load.h"

/* What else there is in constants means nothing in a word of bit fields. */
static int check_keys(struct error *e, const json_t *json, const char *const keys[],
		      const char *what, const struct where *w)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)json, key, value) {
		struct nearest near = nearest_to(key);

		if (name_index(key, keys, &near) < 0)
			return error_name(e, AT_KEY(w, key), key, near.best, "a key of %s", what);
	}
	return 0;
}

/*
 * A bit field with {"field": "type", "is": 15} means something only with another's value. Members
 * share bits only where none of them is told together with the other.
 */
static int read_bit_field(struct doc *d, const struct abi_family *word, struct abi_value *value,
			  const struct where *w)
{
	static const char *const keys[] = {"name", "since", "bits", "set", "only", "note", NULL};
	struct abi_bits *bits = &value->bits;
	const json_t *set = json_object_get(value->json, "set"),
		     *only = json_object_get(value->json, "only"),
		     *is = json_object_get(only, "is");
	const char *name = json_string_value(json_object_get(only, "field"));

	if (check_keys(d->e, value->json, keys, "a bit field", w) ||
	    (set && read_family(d, set, &bits->set, AT_KEY(w, "set"))))
		return -EINVAL;
	bits->only = name && json_is_integer(is) ? abi_value(word, name, NULL) : NULL;
	bits->is = (uint64_t)json_integer_value(is);
	if (only && !bits->only)
		return error_value(d->e, AT_KEY(w, "only"), only,
				   "{\"field\": another member, \"is\": a number}");
	for (const struct abi_value *other = word->values; other < value; other++)
		if (other->bits.first + other->bits.width > bits->first &&
		    bits->first + bits->width > other->bits.first &&
		    !(other->bits.only && bits->only))
			return error_name(d->e, AT_KEY(w, "bits"), value->name, NULL,
					  "bits that \"%s\" does not have", other->name);
	return 0;
}

static int read_words(struct doc *d)
{
	static const char *const keys[] = {"prefix", "kind",      "order", "note",
					   "values", "omit_zero", NULL};
	const struct abi *abi = d->context;
	int err = 0;

	for (size_t i = 0; i < abi->family_count && !err; i++) {
		const struct abi_family *word = &abi->families[i];

		if (word->kind != ABI_LAYOUT)
			continue;
		err = check_keys(d->e, word->json, keys, "a word of bit fields", AT_FAMILY(word));
		for (size_t k = 0; k < word->count && !err; k++)
			err = read_bit_field(d, word, (struct abi_value *)&word->values[k],
					     AT_VALUE(word, k));
	}
	return err;
}

enum { VISIBLE = 256 };

/* One layout on its way. */
struct reader {
	struct doc doc; /* first: what the rows below read with */
	struct abi *abi;
	struct layout *layout;
	unsigned chain;                             /* layouts that wait for this one */
	unsigned depth, loops, objects;             /* lists, arrays and objects that we are in */
	bool is_element;                            /* what comes next stands alone in an array */
	const struct layout_node *visible[VISIBLE]; /* fields that those behind can name */
	size_t visible_count;
};

static int check_limits(struct reader *r, const struct where *w, const json_t *json)
{
	const struct layout *layout = r->layout;
	struct error *e = r->doc.e;

	if (layout->depth > LAYOUT_DEPTH)
		return error_value(e, w, json, "fields no more than %d deep", LAYOUT_DEPTH);
	if (layout->loops > LAYOUT_LOOPS)
		return error_value(e, w, json, "arrays in no more than %d arrays",
				   LAYOUT_LOOPS - 1);
	if (layout->named > LAYOUT_NAMED)
		return error_value(e, w, json, "fewer fields that others name");
	if (layout->fields > LAYOUT_FIELDS)
		return error_value(e, w, json, "no more than %d fields", LAYOUT_FIELDS);
	return 0;
}

/* Adds what a layout that is used takes to what this one does. */
static int add_limits(struct reader *r, const struct layout *used, const struct where *w,
		      const json_t *json)
{
	struct layout *layout = r->layout;

	if (r->depth + used->depth > layout->depth)
		layout->depth = r->depth + used->depth;
	if (r->loops + used->loops > layout->loops)
		layout->loops = r->loops + used->loops;
	layout->named += used->named;
	layout->fields += used->fields;
	return check_limits(r, w, json);
}

/* Names of members, each in one place: true, or false for what a condition or a value decides, of
 * which there may be one or the other. */
struct names {
	struct reader *r;
	json_t *there;
	const struct where *w;
};

static bool line_has_name(const char *name)
{
	/* where a record is damaged, compressed or not known */
	static const char *const others[] = {"type_id", "within", "at", "bytes", "rest", NULL};

	for (const struct layout_member *member = layout_line; member->name; member++)
		if (!strcmp(member->name, name))
			return true;
	return name_index(name, others, NULL) >= 0;
}

/* A record's own must not be its line's, too. */
static void add_name(void *context, const struct layout_member *member)
{
	struct names *names = context;
	const struct reader *r = names->r;
	const json_t *there = json_object_get(names->there, member->name);
	enum layout_owner owner = r->layout->owner;
	bool is_record = owner == LAYOUT_OF_RECORD || owner == LAYOUT_OF_TOOL_RECORD;

	if (json_is_true(there) || (there && !member->is_sometimes))
		error_name(r->doc.e, names->w, member->name, NULL, "each name once in an object");
	else if (is_record && !r->objects && !r->loops && line_has_name(member->name))
		error_name(r->doc.e, names->w, member->name, NULL,
			   "a name that a record's line does not have");
	else if (!there && json_object_set_new(names->there, member->name,
					       json_boolean(!member->is_sometimes)))
		error_no_memory(r->doc.e, names->w, "memory for the ABI tables");
}

/* The field before this one that `json` names; NULL for one that is kept: "$name". */
static int read_field_named(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	const struct layout_node **out = at;
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");

	*out = NULL;
	if (!name)
		return error_value(r->doc.e, w, json, "the name of a field before this one");
	if (name[0] == '$') {
		if (r->abi->kept && !strcmp(r->abi->kept, name + 1))
			return 0;
		return error_name(r->doc.e, w, name, r->abi->kept,
				  "a field with `keep` that came before, after the $");
	}
	for (size_t i = r->visible_count; i--;) {
		struct layout_node *node = (struct layout_node *)r->visible[i];

		if (strcmp(node->name, name) != 0)
			continue;
		r->layout->named += !node->is_named_by_others;
		node->is_named_by_others = true;
		*out = node;
		return 0;
	}
	for (size_t i = 0; i < r->visible_count; i++)
		nearest_try(&near, r->visible[i]->name);
	return error_name(r->doc.e, w, name, near.best, "the name of a field before this one");
}

static int type_named(const json_t *json)
{
	return json_is_string(json) ? name_index(json_string_value(json), layout_type_names, NULL)
				    : -1;
}

/* size, length, count: a number, a field's name, the type of a prefix, "rest". */
static int read_size(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct layout_size *out = at;
	const char *text = json_string_value(json);
	int err, type = type_named(json);

	if (json_is_integer(json) && json_integer_value(json) >= 0 &&
	    json_integer_value(json) <= LAYOUT_NUMBER_MAX) {
		out->from = LAYOUT_FROM_NUMBER;
		out->number = (uint32_t)json_integer_value(json);
		return 0;
	}
	if (type >= 0) {
		out->from = LAYOUT_FROM_PREFIX;
		out->prefix = layout_widths[type];
		return 0;
	}
	if (text && (!strcmp(text, "rest") || !strcmp(text, "nul"))) {
		out->from = text[0] == 'r' ? LAYOUT_FROM_REST : LAYOUT_TO_NUL;
		return 0;
	}
	err = read_field_named(d, json, &out->field, w);
	out->from = out->field ? LAYOUT_FROM_FIELD : LAYOUT_FROM_KEPT;
	return err;
}

static int read_fields(struct reader *r, struct layout_list *out, const json_t *list,
		       const struct where *w);

/* A list whose fields need not be there for what comes behind it: it cannot name them. */
static int read_branch(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	size_t seen = r->visible_count;
	int err = read_fields(r, at, json, w);

	r->visible_count = seen;
	return err;
}

static int read_members(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	int err;

	r->objects++;
	err = read_fields(r, at, json, w);
	r->objects--;
	return err;
}

/* The fields of each element of an array. */
static int read_elements(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	int err;

	r->loops++;
	err = read_branch(d, json, at, w);
	r->loops--;
	return err;
}

/* The one field that each element is. */
static int read_element(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	json_t *one = arena_keep(d->arena, json_pack("[O]", json));

	if (!one)
		return error_no_memory(d->e, w, "memory for the ABI tables");
	r->is_element = true;
	return read_elements(d, one, at, w);
}

static int read_attr_field(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	const char *name = json_string_value(json);
	const struct abi_field *field = name ? abi_field(d->context, name) : NULL;

	memcpy(at, &field, sizeof(field));
	return field ? 0 : error_name(d->e, w, name ? name : w->key, NULL, "a field of attr");
}

/* A field of attr, or misc, and one of its flags. */
static int if_has(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	struct layout_condition *out = at;
	bool is_misc = !strcmp(w->key, "misc");
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	const struct abi_family *set;
	const struct abi_value *flag;

	out->test = is_misc ? LAYOUT_IF_MISC : LAYOUT_IF_ATTR_HAS;
	out->attr = is_misc ? NULL : abi_field(r->abi, w->key);
	set = is_misc ? abi_family(r->abi, "misc") : out->attr ? out->attr->set : NULL;
	flag = name && set ? abi_value(set, name, &near) : NULL;
	out->value = flag ? flag->value : 0;
	return flag ? 0
		    : error_name(d->e, w, name ? name : "", near.best, "a %s of %s",
				 is_misc ? "bit" : "flag", w->key);
}

static int if_number(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	/* from LAYOUT_IF_IS on */
	static const char *const tests[] = {"is", "not", "at_least", "left", "maybe", NULL};
	struct layout_condition *out = at;

	out->test = LAYOUT_IF_IS + (unsigned)name_index(w->key, tests, NULL);
	out->value = (uint64_t)json_integer_value(json);
	if (out->test == LAYOUT_IF_MAYBE ? json_is_true(json) : json_is_integer(json))
		return 0;
	return error_value(d->e, w, json, out->test == LAYOUT_IF_MAYBE ? "true" : "a number");
}

static int check_condition(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct layout_condition *condition = made;
	bool has_field = json_object_get(json, "field") != NULL;
	bool compares = condition->test >= LAYOUT_IF_IS && condition->test <= LAYOUT_IF_AT_LEAST;

	if (has_field != compares || (has_field && json_object_size(json) != 2))
		return error_value(d->e, w, json, "a field and is, not or at_least a number");
	return has_field || json_object_size(json) == 1
		       ? 0
		       : error_value(d->e, w, json, "one condition");
}

static const struct doc_row condition_rows[] = {
	{"attr", DOC_READ, false, AT(struct layout_condition, attr), .read = read_attr_field,
	 .takes = "line"},
	{"sample_type", DOC_READ, false, .read = if_has, .takes = "line"},
	{"read_format", DOC_READ, false, .read = if_has, .takes = "line"},
	{"branch_sample_type", DOC_READ, false, .read = if_has, .takes = "line"},
	{"misc", DOC_READ, false, .read = if_has, .takes = "line"},
	{"field", DOC_READ, false, AT(struct layout_condition, field), .read = read_field_named,
	 .takes = "line"},
	{"is", DOC_READ, false, .read = if_number, .takes = "integer"},
	{"not", DOC_READ, false, .read = if_number, .takes = "integer"},
	{"at_least", DOC_READ, false, .read = if_number, .takes = "integer"},
	{"left", DOC_READ, false, .read = if_number, .takes = "integer"},
	{"maybe", DOC_READ, false, .read = if_number, .takes = "{\"const\": true}"},
	{0}};
static const struct doc_type condition_type = {"a condition", condition_rows,
					       .size = sizeof(struct layout_condition),
					       .check = check_condition};

static int check_number_field(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	struct layout_node *node = made;

	if (node->number.keep && node->name) { /* one such field, in all of cases/abi */
		if (r->abi->kept && strcmp(r->abi->kept, node->name) != 0)
			return error_name(d->e, AT_KEY(w, "keep"), node->name, NULL,
					  "one field to keep, not \"%s\" too", r->abi->kept);
		r->abi->kept = node->name;
	}
	if ((node->number.possible || node->number.known) && !node->number.set)
		return error_value(d->e, w, json, "a `set` with `possible` and with `known`");
	if (node->number.known && r->loops)
		return error_value(d->e, w, json, "`known` outside arrays");
	if (node->number.possible || node->number.known) {
		node->is_named_by_others = true; /* by the test */
		r->layout->named++;
	}
	return 0;
}

static int check_bitfield(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	const struct layout_node *node = made;
	const struct abi_family *word = node->word.fields;
	unsigned unit = layout_widths[node->word.type] * 8u;

	(void)json;
	if (word->kind != ABI_LAYOUT)
		return error_name(d->e, AT_KEY(w, "bitfield"), word->name, NULL,
				  "a family of kind layout");
	for (size_t i = 0; i < word->count; i++)
		if (word->values[i].bits.first + word->values[i].bits.width > unit)
			return error_name(d->e, AT_KEY(w, "bitfield"), word->values[i].name, NULL,
					  "bits that are among the %u of the word", unit);
	r->layout->named++;
	return 0;
}

/* From LAYOUT_STRING on. */
static const char *const texts[] = {"string", "bytes", "opaque", "attr", NULL};

static int check_text_field(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct layout_node *node = made;
	const char *type = json_string_value(json_object_get(json, "type"));

	(void)d;
	(void)w;
	node->kind = LAYOUT_STRING + (unsigned)name_index(type, texts, NULL);
	if (!json_object_get(json, "size") && !json_object_get(json, "length"))
		node->text.size.from =
			node->kind == LAYOUT_STRING ? LAYOUT_FROM_NUL : LAYOUT_FROM_REST;
	return 0;
}

/* What a key is of that is none of a field's. */
#define SUCH "such a field"

static int read_each(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	static const struct doc_row rows[] = {
		{"type", DOC_WORD, true, AT(struct layout_node, array.type),
		 .words = layout_type_names, .takes = "number_type"},
		{"markers", DOC_READ, false, AT(struct layout_node, array.markers),
		 .read = read_family, .takes = "line"},
		{0}};
	static const struct doc_type type = {SUCH, rows, .size = 0};
	const struct layout_node *node = at;
	int err = doc_read(d, &type, json, at, w);

	if (!err && node->array.markers && layout_widths[node->array.type] != 8)
		err = error_value(d->e, w, json, "markers of 64 bits");
	return err;
}

static size_t node_smallest(const struct abi *abi, const struct layout_node *node)
{
	const struct layout_size *size = &node->text.size; /* of text, bytes, arrays and loops */
	size_t then = node->when.then.smallest, other = node->when.other.smallest;

	if (node->kind == LAYOUT_WHEN && !node->when.condition.attr)
		return 0; /* what one holds decides: it may do without */
	switch (node->kind) {
	case LAYOUT_NUMBER:
		return layout_widths[node->number.type];
	case LAYOUT_WORD:
		return layout_widths[node->word.type];
	case LAYOUT_STRING:
	case LAYOUT_BYTES:
	case LAYOUT_OPAQUE:
		if (size->from == LAYOUT_FROM_NUMBER)
			return size->number > size->less ? size->number - size->less : 0;
		return size->from == LAYOUT_FROM_PREFIX ? size->prefix
							: size->from == LAYOUT_TO_NUL;
	case LAYOUT_ATTR:
		return abi->attr_smallest;
	case LAYOUT_PAD:
		return node->zeros;
	case LAYOUT_ARRAY:
	case LAYOUT_LOOP:
		return size->from == LAYOUT_FROM_PREFIX ? size->prefix : 0;
	case LAYOUT_OBJECT:
		return node->object.smallest;
	case LAYOUT_USE:
		return node->use->list.smallest;
	case LAYOUT_WHEN:
		return then < other ? then : other;
	default:
		return 0;
	}
}

static int check_loop(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct layout_node *node = made;
	const json_t *each = json_object_get(json, "each"),
		     *fields = json_object_get(json, "fields");
	struct where at = where_key(w, each ? "each" : "fields");

	if (!each == !fields)
		return error_value(d->e, w, json, "each or fields");
	node->loop.bare = each != NULL;
	return node->loop.body.smallest ? 0
					: error_value(d->e, &at, each ? each : fields,
						      "elements of one byte at least");
}

static int read_used(struct reader *r, struct layout *layout, const struct where *w,
		     const json_t *used);

static int read_use(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct reader *r = (struct reader *)d;
	const char *name = json_string_value(json);
	const struct layout *used = name ? abi_layout(r->abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");

	for (size_t i = 0; !used && i < r->abi->layout_count; i++)
		nearest_try(&near, r->abi->layouts[i].name);
	if (!used)
		return error_name(d->e, w, name ? name : "", near.best, "a name in layouts");
	memcpy(at, &used, sizeof(used));
	return read_used(r, (struct layout *)used, w, json);
}

/* Of SIMD registers the record says how many there are and how wide they are. */
static int check_regs(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct reader *r = (struct reader *)d;
	const struct layout_node *node = made;
	bool is_wide = node->regs.of >= REGS_VECTORS;

	if (is_wide && (!node->regs.number || !node->regs.qwords.field || !node->regs.width))
		return error_value(d->e, w, json, "number, qwords and width of SIMD registers");
	return is_wide && r->loops ? error_value(d->e, w, json, "SIMD registers outside arrays")
				   : 0;
}

/* {"switch": "feat_id", "over": "feature"}: the fields of the family's value that the field is. */
static int check_switch(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct abi_family *over = ((struct layout_node *)made)->choice.over;
	int err = 0;

	for (size_t i = 0; !err && i < over->count; i++)
		if (over->values[i].layout)
			err = read_used((struct reader *)d, (struct layout *)over->values[i].layout,
					AT_KEY(w, "over"), json);
	return err;
}

#define NODE(member) AT(struct layout_node, member)
#define NAME "name", DOC_STRING, false, NODE(name)
#define SMALL DOC_NUMBER, false, .most = LAYOUT_NUMBER_MAX

static const char *const counts[] = {"nothing", "lost", "lost_samples", NULL};
static const char size_expected[] = "the name of a field before this one";
static const struct doc_row number_rows[] = {
	{NAME},
	{"type", DOC_WORD, true, NODE(number.type), .words = layout_type_names,
	 .takes = "number_type"},
	{"set", DOC_READ, false, NODE(number.set), .read = read_family, .takes = "line"},
	{"keep", DOC_TRUTH, false, NODE(number.keep)},
	{"possible", DOC_TRUTH, false, NODE(number.possible)},
	{"known", DOC_TRUTH, false, NODE(number.known)},
	{"counts", DOC_WORD, false, NODE(number.counts), .words = counts,
	 .expected = "lost or lost_samples"},
	{0}};
static const struct doc_row bitfield_rows[] = {
	{NAME},
	{"type", DOC_WORD, true, NODE(word.type), .words = layout_type_names,
	 .takes = "number_type"},
	{"bitfield", DOC_READ, true, NODE(word.fields), .read = read_family, .takes = "line"},
	{0}};
static const struct doc_row text_rows[] = {
	{NAME},
	{"type", DOC_ANY, true, .at = DOC_NOWHERE,
	 .takes = "{\"enum\": [\"string\", \"bytes\", \"opaque\", \"attr\"]}"},
	{"size", DOC_READ, false, NODE(text.size), .read = read_size, .takes = "size"},
	{"length", DOC_READ, false, NODE(text.size), .read = read_size, .takes = "size"},
	{"less", SMALL, NODE(text.size.less)},
	{"used", DOC_READ, false, NODE(text.used), .read = read_field_named, .takes = "line"},
	{"readable", DOC_TRUTH, false, NODE(text.readable)},
	{"tracepoint", DOC_TRUTH, false, NODE(text.tracepoint)},
	{0}};
static const struct doc_row zeros_rows[] = {
	{"pad", SMALL, NODE(zeros)}, {"align", SMALL, NODE(zeros), .least = 1}, {0}};
static const struct doc_row array_rows[] = {
	{NAME},
	{"count", DOC_READ, true, NODE(array.count), .read = read_size, .takes = "size",
	 .expected = size_expected},
	{"per", SMALL, NODE(array.count.per)},
	{"each", DOC_READ, true, .read = read_each, .takes = "each_of_array"},
	{0}};
static const struct doc_row loop_rows[] = {
	{NAME},
	{"count", DOC_READ, true, NODE(loop.count), .read = read_size, .takes = "size",
	 .expected = size_expected},
	{"per", SMALL, NODE(loop.count.per)},
	{"each", DOC_READ, false, NODE(loop.body), .read = read_element, .takes = "#/$defs/field"},
	{"fields", DOC_READ, false, NODE(loop.body), .read = read_elements,
	 .takes = "#/$defs/fields"},
	{0}};
static const struct doc_row object_rows[] = {
	{NAME},
	{"fields", DOC_READ, true, NODE(object), .read = read_members, .takes = "#/$defs/fields"},
	{0}};
static const char *const regs_words[] = {"plain", "vectors", "pred", NULL};
static const struct doc_row regs_rows[] = {
	{NAME},
	{"regs", DOC_READ, true, NODE(regs.mask), .read = read_attr_field, .takes = "line"},
	{"of", DOC_WORD, false, NODE(regs.of), .words = regs_words,
	 .expected = "plain, vectors or pred"},
	{"number", DOC_READ, false, NODE(regs.number), .read = read_field_named, .takes = "line"},
	{"qwords", DOC_READ, false, NODE(regs.qwords), .read = read_size, .takes = "size",
	 .expected = size_expected},
	{"width", DOC_READ, false, NODE(regs.width), .read = read_attr_field, .takes = "line"},
	{"simd", DOC_READ, false, NODE(regs.simd), .read = read_attr_field, .takes = "line"},
	{0}};
static const struct doc_row index_rows[] = {
	{NAME}, {"index", DOC_READ, true, NODE(index), .read = read_family, .takes = "line"}, {0}};
static const struct doc_row when_rows[] = {
	{"when", DOC_OBJECT, true, NODE(when.condition), &condition_type},
	{"then", DOC_READ, true, NODE(when.then), .read = read_branch, .takes = "#/$defs/fields",
	 .expected = "a list of fields"},
	{"else", DOC_READ, false, NODE(when.other), .read = read_branch, .takes = "#/$defs/fields"},
	{0}};
static const struct doc_row use_rows[] = {
	{NAME},
	{"use", DOC_READ, true, NODE(use), .read = read_use, .expected = "a name in layouts"},
	{0}};
static const struct doc_row switch_rows[] = {
	{"switch", DOC_READ, true, NODE(choice.field), .read = read_field_named, .takes = "line"},
	{"over", DOC_READ, true, NODE(choice.over), .read = read_family, .takes = "line",
	 .expected = "the name of a family of constants"},
	{0}};

/* In `kinds`: first those by their key, then those by what they hold. */
enum { KEYS = 10, TEXT = KEYS, NUMBER, ARRAY, KINDS };

static const struct field_kind {
	const char *key; /* that it has; where a field has several, the first counts */
	enum layout_kind kind;
	enum {
		BARE,  /* it has no name of its own, or need not */
		VALUE, /* it has one, but for an element of an array */
		MEMBER /* it has one */
	} place;
	struct doc_type type;
} kinds[KINDS] = {
	{"when", LAYOUT_WHEN, BARE, {SUCH, when_rows, .size = 0}},
	{"pad", LAYOUT_PAD, BARE, {SUCH, zeros_rows, .size = 0}},
	{"align", LAYOUT_ALIGN, BARE, {SUCH, zeros_rows, .size = 0}},
	{"use", LAYOUT_USE, BARE, {SUCH, use_rows, .size = 0}},
	{"count", LAYOUT_LOOP, VALUE, {SUCH, loop_rows, .check = check_loop}},
	{"regs", LAYOUT_REGS, MEMBER, {SUCH, regs_rows, .check = check_regs}},
	{"switch", LAYOUT_SWITCH, BARE, {SUCH, switch_rows, .check = check_switch}},
	{"index", LAYOUT_INDEX, VALUE, {SUCH, index_rows, .size = 0}},
	{"fields", LAYOUT_OBJECT, MEMBER, {SUCH, object_rows, .size = 0}},
	{"bitfield", LAYOUT_WORD, BARE, {SUCH, bitfield_rows, .check = check_bitfield}},
	[TEXT] = {"type", LAYOUT_STRING, VALUE, {SUCH, text_rows, .check = check_text_field}},
	[NUMBER] = {"type", LAYOUT_NUMBER, VALUE, {SUCH, number_rows, .check = check_number_field}},
	[ARRAY] = {"each", LAYOUT_ARRAY, VALUE, {SUCH, array_rows, .size = 0}},
};

const struct doc_type *abi_field_type(size_t i)
{
	return i < KINDS ? &kinds[i].type : NULL;
}

/* What kind of field it is; NULL with the error filled. */
static const struct field_kind *kind_of(struct error *e, const json_t *item, const struct where *w)
{
	const json_t *type = json_object_get(item, "type"), *each = json_object_get(item, "each");
	const char *name = json_string_value(type);
	struct nearest near = nearest_to(name ? name : "");
	bool is_number = type_named(type) >= 0;
	size_t first = 0;

	while (first < KEYS && !json_object_get(item, kinds[first].key))
		first++;
	if (kinds[first].kind == LAYOUT_LOOP && type_named(json_object_get(each, "type")) >= 0)
		return &kinds[ARRAY];
	if (first < KEYS && (kinds[first].kind != LAYOUT_WORD || is_number))
		return &kinds[first];
	if (is_number)
		return &kinds[NUMBER];
	if (name && name_index(name, texts, &near) >= 0)
		return &kinds[TEXT];
	if (name && name_index(name, layout_type_names, &near) < 0)
		error_name(e, AT_KEY(w, "type"), name, near.best, "a type");
	else
		error_value(e, w, item,
			    "a field: type, pad, align, count, fields, regs, use or when");
	return NULL;
}

static int read_one_field(struct reader *r, struct layout_node *node, const json_t *item,
			  const struct where *w)
{
	const json_t *name = json_object_get(item, "name");
	struct where at = where_key(w, "name");
	bool is_element = r->is_element;
	const struct field_kind *kind;
	struct error *e = r->doc.e;
	int err;

	r->is_element = false;
	if (!json_is_object(item))
		return error_value(e, w, item, "a field");
	if (name && !json_string_length(name))
		return error_value(e, &at, name, "a name");
	if (json_string_length(name) > LAYOUT_NAME)
		return error_text(e, &at, json_string_value(name), "a shorter name");
	kind = kind_of(e, item, w);
	if (!kind)
		return -EINVAL;
	node->kind = kind->kind;
	err = doc_read(&r->doc, &kind->type, item, node, w);
	if (!err && node->kind == LAYOUT_INDEX && !r->loops)
		return error_value(e, w, item, "an array around an index");
	if (!err && is_element && (kind->place != VALUE || node->name))
		return error_value(e, w, item, "an element: one value without a name");
	if (!err && !is_element && kind->place != BARE && !node->name)
		return error_value(e, w, item, "a field with a name");
	return err;
}

static int read_fields(struct reader *r, struct layout_list *out, const json_t *list,
		       const struct where *w)
{
	size_t count = json_array_size(list);
	const struct layout list_alone = {.depth = 1, .fields = (unsigned)count};
	struct names names = {.r = r, .there = json_object()};
	struct layout_node *nodes = arena_array(&r->abi->arena, count, sizeof(*nodes));
	int err = 0;

	if (!json_is_array(list))
		err = error_value(r->doc.e, w, list, "a list of fields");
	else if (!nodes || !names.there)
		err = error_no_memory(r->doc.e, w, "memory for the ABI tables");
	else
		err = add_limits(r, &list_alone, w, list);
	out->nodes = nodes;
	r->depth++;
	for (size_t i = 0; i < count && !err; i++) {
		const json_t *item = json_array_get(list, i);
		struct where at = where_index(w, i);
		struct layout_node *node = &nodes[i];
		const struct layout_list alone = {.nodes = node, .count = 1};

		names.w = &at;
		err = read_one_field(r, node, item, &at);
		if (err)
			break;
		layout_members(&alone, add_name, &names);
		if (error_is_set(r->doc.e))
			err = -EINVAL;
		else if (node->kind == LAYOUT_NUMBER && node->name && r->visible_count == VISIBLE)
			err = error_name(r->doc.e, &at, node->name, NULL,
					 "no more than %d fields that others could name", VISIBLE);
		else if (node->kind == LAYOUT_NUMBER && node->name)
			r->visible[r->visible_count++] = node;
		out->count++;
		out->smallest += node_smallest(r->abi, node);
		if (!err)
			err = check_limits(r, &at, item);
	}
	r->depth--;
	json_decref(names.there);
	return err;
}

/* NOLINTNEXTLINE(misc-no-recursion): a layout in a layout, LAYOUT_DEPTH at most */
static int read_layout(struct doc *d, struct layout *layout, unsigned chain)
{
	struct reader r = {.doc = *d, .abi = d->context, .layout = layout, .chain = chain};
	const struct abi_family *family = layout->family;
	struct where at =
		family ? where_key(AT_VALUE(family, layout->index), "fields")
		       : where_key(AT_KEY(AT_ROOT(layout->source), "layouts"), layout->name);
	int err;

	if (layout->state == LAYOUT_READ)
		return 0;
	layout->state = LAYOUT_BEING_READ;
	err = read_fields(&r, &layout->list, layout->json, &at);
	layout->state = LAYOUT_READ;
	return err;
}

/* Reads a layout, unless it is read already, for one that uses it. */
static int read_used(struct reader *r, struct layout *layout, const struct where *w,
		     const json_t *used)
{
	int err;

	if (layout->state == LAYOUT_BEING_READ || r->chain == LAYOUT_DEPTH)
		return error_value(r->doc.e, w, used, "fields no more than %d deep", LAYOUT_DEPTH);
	err = read_layout(&r->doc, layout, r->chain + 1);
	return err ? err : add_limits(r, layout, w, used);
}

/* Gives each value that has fields its layout, not yet read. */
static int take_values(struct abi *abi, struct abi_family *family, struct error *e)
{
	struct layout *layouts = arena_array(&abi->arena, family->count, sizeof(*layouts));
	enum layout_owner owner = !strcmp(family->name, "record")        ? LAYOUT_OF_RECORD
				  : !strcmp(family->name, "tool_record") ? LAYOUT_OF_TOOL_RECORD
									 : LAYOUT_OF_VALUE;

	if (!layouts)
		return error_no_memory(e, NULL, "memory for the ABI tables");
	for (size_t i = 0; i < family->count; i++) {
		struct abi_value *value = (struct abi_value *)&family->values[i];
		const json_t *fields = json_object_get(value->json, "fields");

		if (!fields && owner == LAYOUT_OF_VALUE)
			continue;
		layouts[i] = (struct layout){.name = value->name,
					     .owner = owner,
					     .json = fields,
					     .source = family->source,
					     .family = family,
					     .index = i};
		value->layout = &layouts[i];
	}
	return 0;
}

int layouts_load(struct doc *d)
{
	struct abi *abi = d->context;
	int err = read_words(d);

	for (size_t i = 0; i < abi->family_count && !err; i++)
		err = take_values(abi, &abi->families[i], d->e);
	for (size_t i = 0; i < abi->layout_count && !err; i++)
		err = read_layout(d, &abi->layouts[i], 0);
	for (size_t i = 0; i < abi->family_count && !err; i++)
		for (size_t k = 0; k < abi->families[i].count && !err; k++) {
			struct layout *layout = (struct layout *)abi->families[i].values[k].layout;

			err = layout ? read_layout(d, layout, 0) : 0;
		}
	return err;
}
