/* SPDX-License-Identifier: MIT */
/*
 * What read(2) gives, as a struct that it is read into; and what records hold, as a struct and a
 * function that parses one: by the layouts of cases/abi, for one attr. Fields of records of which
 * the case does not speak are stepped over.
 */
#include <string.h>

#include "abi/attr.h"
#include "abi/layout.h"
#include "text/json_text.h"
#include "translate/translate.h"

/* Elements of a list that are kept: of a record, and of what read(2) gives at most. */
enum { MEMBERS = 256, LIST_ROOM = 512, READ_ROOM = 4096 };

/* A layout on its way to C. */
struct reading {
	struct translation *t;
	const struct opening *open;
	struct out members, code;
	const char *type; /* of the members on the line that is open; NULL: none is */
	size_t column;
	int indent;
	bool is_record;
	struct prefix {
		const char *path, *c; /* "sample_id.", "sample_id_" */
	} in;                         /* in front of a name */
	const char *element; /* of a list: "r->values[i]", and whether it is kept; else NULL */
	bool is_kept, has_length, has_locals;
	unsigned conditions; /* around a field, that only the record can answer */
	unsigned skipped;    /* bytes that nothing is made of, not yet said; */
	const char *of;      /* those of these fields, */
	int skipped_at;      /* so far indented */
	struct c_member list[MEMBERS];
	size_t count;
	struct {
		const struct layout_node *node;
		const char *c;
		bool is_used;
	} named[LAYOUT_NAMED + 1];
	size_t named_count;
};

static void indent(struct reading *r, int by)
{
	for (int i = 0; i < by; i++)
		c_put(&r->code, "\t");
}

/* The step over fields of which the case does not speak. */
static void say_skipped(struct reading *r)
{
	if (!r->skipped)
		return;
	indent(r, r->skipped_at);
	c_put(&r->code, "p += %u;%s%s%s\n", r->skipped, r->of[0] ? " /* " : "", r->of,
	      r->of[0] ? " */" : "");
	r->skipped = 0;
}

/* A line of code. */
#define say_code(r, ...)                                                                           \
	(say_skipped(r), indent(r, (r)->indent), c_put(&(r)->code, __VA_ARGS__),                   \
	 c_put(&(r)->code, "\n"))

/* Steps over a field. */
static void skip_field(struct reading *r, unsigned width, const char *name)
{
	if (!r->skipped) {
		r->of = "";
		r->skipped_at = r->indent;
	}
	r->skipped += width;
	if (name && strlen(r->of) < 60)
		r->of = c_text(r->t, "%s%s%s", r->of, r->of[0] ? ", " : "", name);
}

static bool is_spoken_of(const struct reading *r, const char *name)
{
	return json_object_get(r->t->words, name) != NULL;
}

static bool has_member(const struct reading *r, const char *path)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->list[i].path, path))
			return true;
	return false;
}

static void end_members(struct reading *r)
{
	if (r->type)
		c_put(&r->members, ";\n");
	r->type = NULL;
}

/* A member as C has it, on one line with others of its type. */
static void put_c_member(struct reading *r, const char *type, const char *c, const char *array)
{
	const char *tab = r->element ? "\t" : "", *blank = type[strlen(type) - 1] == '*' ? "" : " ";
	size_t n = strlen(c) + strlen(array) + 2;

	if (r->type && !strcmp(r->type, type) && r->column + n < 80) {
		r->column += n;
		c_put(&r->members, ", %s%s", c, array);
		return;
	}
	end_members(r);
	r->type = type;
	r->column = strlen(tab) + 1 + strlen(type) + strlen(blank) + n - 2;
	c_put(&r->members, "%s\t%s%s%s%s", tab, type, blank, c, array);
}

/*
 * A member of the struct, once, whichever record it is of; of a list or bytes, how many there are,
 * too. Where it is while it is read. Type NULL: it takes no room itself.
 */
static const char *add_c_member(struct reading *r, const char *name, struct c_member member,
				const char *type, const char *array)
{
	const char *path = c_text(r->t, "%s%s", r->in.path, name);
	const char *c = c_text(r->t, "%s%s", r->element ? "" : r->in.c, name);

	if (!has_member(r, path) && r->count + 3 >= MEMBERS) {
		c_missing(r->t, "more than %d members", MEMBERS);
	} else if (!has_member(r, path)) {
		member.path = path;
		member.c = c;
		r->list[r->count++] = member;
		if (member.kind == C_LIST || member.kind == C_BYTES)
			put_c_member(r, "uint64_t", c_text(r->t, "%s_nr", c), "");
		if (type && type[strlen(type) - 1] == '*')
			end_members(r);
		if (type)
			put_c_member(r, type, c, array);
	}
	return r->element ? c_text(r->t, "%s.%s", r->element, c) : c_text(r->t, "r->%s", c);
}

/* The members behind that name, until r->in is again what it was, which is returned. */
static struct prefix enter_member(struct reading *r, const char *name, const char *brackets)
{
	struct prefix was = r->in;

	r->in.path = c_text(r->t, "%s%s%s.", was.path, name, brackets);
	r->in.c = c_text(r->t, "%s%s_", was.c, name);
	return was;
}

static const char *local_of(struct reading *r, const struct layout_node *node)
{
	for (size_t i = r->named_count; i-- > 0;) {
		if (r->named[i].node != node)
			continue;
		r->named[i].is_used = true;
		return r->named[i].c;
	}
	return "0";
}

/* The member that says that a field or an object is there, in a record of this event's. */
static const char *say_presence(struct reading *r, const char *name)
{
	const char *has = c_text(r->t, "has_%s%s", r->in.c, name);

	if (!has_member(r, c_text(r->t, "%s%s", r->in.path, name)))
		put_c_member(r, "bool", has, "");
	say_code(r, "r->%s = true;", has);
	return has;
}

/* The same of a field that only some records of a type have. NULL: all have it. */
static const char *conditional(struct reading *r, const char *name)
{
	return r->conditions && !r->element ? say_presence(r, name) : NULL;
}

/* The member of that name has this value. */
static void say_member(struct reading *r, const char *name, const char *has,
		       const struct abi_family *set, const char *value)
{
	struct c_member m = {.kind = set ? C_BITS : C_NUMBER, .set = set, .has = has};

	say_code(r, "%s = %s;", add_c_member(r, name, m, "uint64_t", ""), value);
}

static void read_list(struct reading *r, const struct layout_list *list);

static const char *take_in_c(struct reading *r, unsigned width)
{
	return c_text(r->t, "take(uint%u_t)", width * 8);
}

/* A number that others name gets a variable of its own. */
static void number_field_in_c(struct reading *r, const struct layout_node *node)
{
	unsigned width = layout_widths[node->number.type];
	const char *take = take_in_c(r, width);

	if (node->is_named_by_others) {
		const char *local = c_text(r->t, "%s%s", r->in.c, node->name);

		say_code(r, "uint64_t %s = %s;", local, take);
		if (r->named_count < sizeof(r->named) / sizeof(r->named[0])) {
			r->named[r->named_count].node = node;
			r->named[r->named_count].is_used = false;
			r->named[r->named_count++].c = local;
		}
		r->has_locals = true;
		take = local;
	}
	if (node->name && is_spoken_of(r, node->name) && (!r->element || r->is_kept))
		say_member(r, node->name, conditional(r, node->name), node->number.set, take);
	else if (!node->is_named_by_others)
		skip_field(r, width, node->name);
}

static void word_field_in_c(struct reading *r, const struct layout_node *node)
{
	unsigned width = layout_widths[node->word.type];
	const struct abi_family *word = node->word.fields;
	bool wanted = false;
	struct prefix was = r->in;
	const char *local;

	for (size_t i = 0; i < word->count; i++)
		wanted = wanted || is_spoken_of(r, word->values[i].name);
	if (node->name && is_spoken_of(r, node->name) && (!r->element || r->is_kept))
		add_c_member(r, node->name, (struct c_member){.kind = C_OBJECT}, NULL, "");
	else if (node->name || (r->element && !r->is_kept))
		wanted = false;
	if (!wanted) {
		skip_field(r, width, node->name);
		return;
	}
	local = c_text(r->t, "%s%s_word", r->in.c, node->name ? node->name : "bits");
	say_code(r, "uint64_t %s = %s;", local, take_in_c(r, width));
	r->has_locals = true;
	if (node->name)
		enter_member(r, node->name, "");
	for (size_t i = 0; i < word->count; i++) {
		const char *name = word->values[i].name;
		const struct abi_bits *bits = &word->values[i].bits;
		bool is_turned = word->declared && host_order() == BIG;

		if (is_spoken_of(r, name))
			say_member(r, name, NULL, bits->set,
				   c_text(r->t, "%s >> %u & %#llx", local,
					  is_turned ? width * 8 - bits->first - bits->width
						    : bits->first,
					  bits->width == 64 ? ~0ULL : (1ULL << bits->width) - 1));
	}
	r->in = was;
}

/* How long it is goes into n: elements of that width. */
static void say_length(struct reading *r, const struct layout_size *size, unsigned width)
{
	const char *count = NULL;

	if (size->from == LAYOUT_FROM_NUMBER)
		count = c_text(r->t, "%u", size->number);
	else if (size->from == LAYOUT_FROM_FIELD)
		count = local_of(r, size->field);
	else if (size->from == LAYOUT_FROM_PREFIX)
		count = take_in_c(r, size->prefix);
	else if (size->from == LAYOUT_FROM_REST)
		count = c_text(r->t, "(uint64_t)(end - p) / %u", width);
	if (!count || size->less || size->per)
		c_missing(r->t, "a list of such a length");
	say_code(r, "n = %s;", count ? count : "0");
	r->has_length = true;
}

/* Text up to a NUL is the last thing in front of sample_id, which stands at the end. */
static void read_string(struct reading *r, const struct layout_node *node)
{
	if (node->text.size.from != LAYOUT_FROM_NUL) {
		c_missing(r->t, "a text of a length of its own");
		return;
	}
	if (is_spoken_of(r, node->name))
		say_code(r, "%s = (const char *)p;",
			 add_c_member(r, node->name, (struct c_member){.kind = C_STRING},
				      "const char *", ""));
	say_code(r, "expect(is_padded(p, end), 0);");
	say_code(r, "p = end;");
}

static void read_bytes(struct reading *r, const struct layout_node *node)
{
	struct c_member m = {.kind = C_BYTES};
	const char *c;

	if (node->text.size.from == LAYOUT_FROM_NUMBER && !is_spoken_of(r, node->name)) {
		skip_field(r, node->text.size.number, node->name);
		return;
	}
	say_length(r, &node->text.size, 1);
	if (is_spoken_of(r, node->name)) {
		m.has = conditional(r, node->name);
		c = add_c_member(r, node->name, m, "const unsigned char *", "");
		say_code(r, "%s = p;", c);
		say_code(r, "%s_nr = n;", c);
	}
	say_code(r, "p += n;");
}

/* What an element of a list of numbers is: itself, and a marker as {"context": NAME}. */
static void add_elements(struct reading *r, const char *name, const struct abi_family *markers)
{
	const char *path = c_text(r->t, "%s%s[]", r->in.path, name);

	if (has_member(r, path) || r->count + 3 >= MEMBERS)
		return;
	r->list[r->count++] = (struct c_member){.path = path, .c = "", .kind = C_NUMBER};
	if (markers)
		r->list[r->count++] = (struct c_member){.path = c_text(r->t, "%s.context", path),
							.c = "",
							.kind = C_BITS,
							.set = markers};
}

/* Numbers of one width. */
static void array_in_c(struct reading *r, const struct layout_node *node)
{
	unsigned width = layout_widths[node->array.type];
	const char *c;

	say_length(r, &node->array.count, width);
	if (!is_spoken_of(r, node->name) || r->element) {
		say_code(r, "p += n * %u;", width);
		return;
	}
	c = add_c_member(r, node->name, (struct c_member){.kind = C_LIST}, "uint64_t",
			 c_text(r->t, "[%u]", LIST_ROOM));
	add_elements(r, node->name, node->array.markers);
	say_code(r, "%s_nr = n;", c);
	say_code(r, "for (uint64_t i = 0; i < n; i++)");
	say_code(r, "\t%s[i < %u ? i : %u] = %s;", c, LIST_ROOM - 1, LIST_ROOM - 1,
		 take_in_c(r, width));
}

/* Elements of several fields: a list of structs. */
static void loop_in_c(struct reading *r, const struct layout_node *node)
{
	bool wanted = is_spoken_of(r, node->name) && !node->loop.bare && !r->element;
	bool is_new = wanted && !has_member(r, c_text(r->t, "%s%s", r->in.path, node->name));
	const char *c = "";
	struct prefix was;

	say_length(r, &node->loop.count, 1);
	if (wanted) {
		c = add_c_member(r, node->name, (struct c_member){.kind = C_LIST}, NULL, "");
		say_code(r, "%s_nr = n;", c);
	}
	if (is_new) {
		end_members(r);
		c_put(&r->members, "\tstruct {\n");
	}
	say_code(r, "for (uint64_t i = 0; i < n; i++) {");
	r->indent++;
	r->element =
		wanted ? c_text(r->t, "%s[i < %u ? i : %u]", c, LIST_ROOM - 1, LIST_ROOM - 1) : "";
	r->is_kept = wanted;
	was = enter_member(r, node->name, "[]");
	read_list(r, &node->loop.body);
	r->in = was;
	r->element = NULL;
	r->is_kept = false;
	r->indent--;
	say_code(r, "}");
	if (is_new) {
		end_members(r);
		c_put(&r->members, "\t} %s[%u];\n", c + strlen("r->"), LIST_ROOM);
	}
}

static void object_in_c(struct reading *r, const char *name, const struct layout_list *list)
{
	struct c_member m = {.kind = C_OBJECT};
	struct prefix was;

	if (is_spoken_of(r, name) && !r->element) {
		m.has = say_presence(r, name);
		add_c_member(r, name, m, NULL, "");
	}
	was = enter_member(r, name, "");
	read_list(r, list);
	r->in = was;
}

/* A register for each bit of the mask in attr, in the order of the bits. */
static void regs_in_c(struct reading *r, const struct layout_node *node)
{
	const struct abi_arch *arch = r->t->tables->arch;
	const struct abi_field *simd = node->regs.simd;
	const struct abi *abi = r->t->tables->abi;
	const struct abi_family *names =
		abi_regs(arch, simd && call_field(&r->open->call, abi, simd->name));
	uint64_t mask = call_field(&r->open->call, abi, node->regs.mask->name);
	struct prefix was;

	if (node->regs.of >= REGS_VECTORS && mask) {
		c_missing(r->t, "SIMD registers");
		return;
	}

	add_c_member(r, node->name, (struct c_member){.kind = C_OBJECT}, NULL, "");
	was = enter_member(r, node->name, "");
	for (unsigned bit = 0; bit < 64; bit++) {
		const struct abi_value *value =
			names ? abi_value_of(names, UINT64_C(1) << bit) : NULL;

		if (!(mask >> bit & 1))
			continue;
		if (value && is_spoken_of(r, value->name) && is_spoken_of(r, node->name))
			say_member(r, value->name, NULL, NULL, take_in_c(r, 8));
		else
			skip_field(r, 8, NULL);
	}
	r->in = was;
}

/* What attr says of a condition. */
static bool attr_holds(const struct reading *r, const struct layout_condition *c)
{
	uint64_t attr = call_field(&r->open->call, r->t->tables->abi, c->attr->name);

	return c->test == LAYOUT_IF_ATTR ? attr != 0 : (attr & c->value) == c->value;
}

static void read_when(struct reading *r, const struct layout_node *node)
{
	const struct layout_condition *c = &node->when.condition;
	const char *field = c->field ? local_of(r, c->field) : "0", *test;
	unsigned long long value = (unsigned long long)c->value;

	if (c->attr ||
	    c->test == LAYOUT_IF_MAYBE) { /* of what may be, as the newest kernel has it */
		read_list(r, c->attr && attr_holds(r, c) ? &node->when.then : &node->when.other);
		return;
	}
	if (c->test == LAYOUT_IF_MISC)
		test = c_text(r->t, "(header->misc & %#llx) == %#llx", value, value);
	else if (c->test == LAYOUT_IF_LEFT)
		test = c_text(r->t, "(uint64_t)(end - p) >= %llu", value);
	else
		test = c_text(r->t, "%s %s %#llx", field,
			      c->test == LAYOUT_IF_NOT  ? "!="
			      : c->test == LAYOUT_IF_IS ? "=="
							: ">=",
			      value);
	say_code(r, "if (%s) {", test);
	r->indent++;
	r->conditions++;
	read_list(r, &node->when.then);
	if (node->when.other.count) {
		r->indent--;
		say_code(r, "} else {");
		r->indent++;
		read_list(r, &node->when.other);
	}
	r->conditions--;
	r->indent--;
	say_code(r, "}");
}

/* The name of an element that is kept. */
static void index_in_c(struct reading *r, const struct layout_node *node)
{
	if (r->is_kept && is_spoken_of(r, node->name))
		say_member(r, node->name, NULL, node->index, "i");
}

static void use_in_c(struct reading *r, const struct layout_node *node)
{
	if (r->is_record && !strcmp(node->use->name, "sample_id"))
		return; /* read behind the switch, as it is of all records */
	if (node->name)
		object_in_c(r, node->name, &node->use->list);
	else
		read_list(r, &node->use->list);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as LAYOUT_DEPTH */
static void read_list(struct reading *r, const struct layout_list *list)
{
	static void (*const by_kind[])(struct reading *, const struct layout_node *) = {
		[LAYOUT_NUMBER] = number_field_in_c, [LAYOUT_WORD] = word_field_in_c,
		[LAYOUT_STRING] = read_string,       [LAYOUT_BYTES] = read_bytes,
		[LAYOUT_ARRAY] = array_in_c,         [LAYOUT_LOOP] = loop_in_c,
		[LAYOUT_REGS] = regs_in_c,           [LAYOUT_INDEX] = index_in_c,
		[LAYOUT_WHEN] = read_when,           [LAYOUT_USE] = use_in_c};
	size_t named = r->named_count;

	for (size_t i = 0; i < list->count; i++) {
		const struct layout_node *node = &list->nodes[i];

		if (node->kind < sizeof(by_kind) / sizeof(by_kind[0]) && by_kind[node->kind])
			by_kind[node->kind](r, node);
		else if (node->kind == LAYOUT_PAD)
			skip_field(r, node->zeros, NULL);
		else if (node->kind == LAYOUT_ALIGN)
			say_code(r, "p += -(uintptr_t)(p - begin) & %u;", node->zeros - 1);
		else if (node->kind == LAYOUT_OBJECT)
			object_in_c(r, node->name, &node->object);
		else
			c_missing(r->t, "a field of such a kind");
	}
	for (size_t i = named; i < r->named_count; i++)
		if (!r->named[i].is_used) /* nothing here goes by it */
			say_code(r, "(void)%s;", r->named[i].c);
	r->named_count = named;
}

/* What read(2) gives by the event's read_format: words, each a member in its place. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as LAYOUT_DEPTH */
static void values_in_c(struct reading *r, const struct layout_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct layout_node *node = &list->nodes[i];
		struct c_member m = {.kind = C_NUMBER};
		struct prefix was;

		if (node->kind == LAYOUT_WHEN) {
			values_in_c(r, attr_holds(r, &node->when.condition) ? &node->when.then
									    : &node->when.other);
		} else if (node->kind == LAYOUT_LOOP) {
			r->list[r->count++] = (struct c_member){
				.path = node->name, .c = node->name, .kind = C_LIST};
			end_members(r);
			c_put(&r->members, "\tstruct {\n");
			r->element = "";
			was = enter_member(r, node->name, "[]");
			values_in_c(r, &node->loop.body);
			r->in = was;
			end_members(r);
			r->element = NULL;
			c_put(&r->members, "\t} %s[%u];\n", node->name, READ_ROOM);
		} else if (node->is_named_by_others) { /* how many elements there are in `values` */
			r->list[r->count++] = (struct c_member){
				.path = node->name, .c = "values_nr", .kind = C_NUMBER};
			put_c_member(r, "uint64_t", "values_nr", "");
		} else {
			add_c_member(r, node->name, m, "uint64_t", "");
		}
	}
}

static bool has_field(const struct layout *layout, const char *name)
{
	for (size_t i = 0; layout && i < layout->list.count; i++)
		if (layout->list.nodes[i].name && !strcmp(layout->list.nodes[i].name, name))
			return true;
	return false;
}

/* The case names the type, or a field that at most one other has. */
static bool speaks_of(const struct translation *t, const struct abi_family *records,
		      const struct abi_value *record)
{
	const struct layout *layout = record->layout;

	if (layout && json_object_get(t->words, record->name))
		return true;
	for (size_t i = 0; layout && i < layout->list.count; i++) {
		const char *name = layout->list.nodes[i].name;
		unsigned have = 0;

		if (!name || !json_object_get(t->words, name))
			continue;
		for (size_t k = 0; k < records->count; k++)
			have += has_field(records->values[k].layout, name);
		if (have <= 2)
			return true;
	}
	return false;
}

static bool is_sample(const struct abi_value *record)
{
	return !strcmp(record->name, "sample");
}

/* A type's case of the switch; in braces, if it has variables. A sample has no sample_id. */
static void record_in_c(struct reading *r, const struct abi_family *records,
			const struct abi_value *record, bool has_sample_id, bool reads_sample_id)
{
	json_t *name = json_string(record->name);
	struct out all = r->code;
	const char *code;

	r->code = (struct out){0};
	r->has_locals = false;
	r->indent++;
	if (is_sample(record) && has_sample_id)
		say_code(r, "end = begin + header->size;");
	read_list(r, &record->layout->list);
	if (is_sample(record) && reads_sample_id)
		say_code(r, "expect(p == end, header->size);\n\t\treturn;");
	else
		say_code(r, "break;");
	r->indent--;
	code = c_taken(r->t, &r->code);
	r->code = all;
	c_put(&r->code, "\tcase %s:%s\n%s%s", c_number(r->t, name, records),
	      r->has_locals ? " {" : "", code, r->has_locals ? "\t}\n" : "");
	json_decref(name);
}

static void header_in_c(struct reading *r, const char *name, struct c_member member)
{
	if (is_spoken_of(r, name) || !strcmp(name, "type"))
		say_code(r, "%s = header->%s;", add_c_member(r, name, member, "uint64_t", ""),
			 name);
}

/* The members of the header, a switch over the types that the case speaks of, and at the end of
 * every record that is no sample its sample_id. */
static void records_of_event(struct reading *r, const char *name)
{
	const struct abi *abi = r->t->tables->abi;
	const struct abi_family *records = abi_family(abi, "record");
	const struct layout *sample_id = abi_layout(abi, "sample_id");
	struct translation silent = {.arena = r->t->arena, .tables = r->t->tables};
	struct reading blind = {.t = &silent, .open = r->open, .in = {"", ""}};
	bool reads_sample_id;
	unsigned at_end; /* bytes of sample_id: what is stepped over if nothing is spoken of */

	if (sample_id)
		read_list(&blind, &sample_id->list);
	at_end = blind.skipped;
	reads_sample_id = at_end && is_spoken_of(r, "sample_id");
	r->is_record = true;
	header_in_c(r, "type", (struct c_member){.kind = C_BITS, .set = records});
	header_in_c(r, "misc",
		    (struct c_member){.kind = C_BITS,
				      .set = abi_family(abi, "cpumode"),
				      .rest = abi_family(abi, "misc")});
	header_in_c(r, "size", (struct c_member){.kind = C_NUMBER});
	say_code(r, "switch (header->type) {");
	for (size_t i = 0; i < records->count; i++) {
		const struct abi_value *record = &records->values[i];

		if (is_sample(record) || speaks_of(r->t, records, record))
			record_in_c(r, records, record, at_end, reads_sample_id);
	}
	say_code(r, "default:\n\t\tp = end;\n\t}");
	if (reads_sample_id)
		read_list(r, &sample_id->list);
	say_code(r, "expect(p == %s, header->size);",
		 reads_sample_id ? "begin + header->size" : "end");
	c_put(&r->t->parts[C_FUNCTIONS],
	      "static void parse_%s(const unsigned char *begin, void *to)\n{\n"
	      "\tconst struct perf_event_header *header = (const void *)begin;\n"
	      "\tconst unsigned char *p = begin + sizeof(*header);\n"
	      "\tconst unsigned char *end = begin + header->size%s;\n"
	      "\tstruct %s *r = to;\n%s\n%s}\n\n",
	      name, at_end ? c_text(r->t, " - %u /* sample_id */", at_end) : "", name,
	      r->has_length ? "\tuint64_t n;\n" : "", c_taken(r->t, &r->code));
}

const struct c_layout *c_layout(struct translation *t, const char *event,
				const struct opening *open, bool of_records)
{
	struct reading r = {.t = t, .open = open, .in = {"", ""}, .of = "", .indent = 1};
	struct c_layout *layout = &t->layouts[t->layout_count];
	const char *what = of_records ? "record" : "values",
		   *name = c_text(t, "%s_%s", event, what);
	struct c_member *members;

	for (size_t i = 0; i < t->layout_count; i++)
		if (t->layouts[i].open == open && t->layouts[i].of_records == of_records)
			return &t->layouts[i];
	for (unsigned i = 2; json_object_get(t->declared, name); i++)
		name = c_text(t, "%s_%s_%u", event, what, i);
	json_object_set_new(t->declared, name, json_string("struct"));
	if (t->layout_count + 1 < C_NAMES)
		t->layout_count++;
	*layout = (struct c_layout){.open = open,
				    .of_records = of_records,
				    .name = name,
				    .shape.kind = of_records ? C_LIST : C_OBJECT};
	if (of_records)
		records_of_event(&r, name);
	else
		values_in_c(&r, &abi_layout(t->tables->abi, "read_format")->list);
	/* Behind the values how many bytes they were, and those plain. */
	if (!of_records && (is_spoken_of(&r, "bytes") || is_spoken_of(&r, "words")))
		add_c_member(&r, "bytes", (struct c_member){.kind = C_NUMBER}, "uint64_t", "");
	if (!of_records && is_spoken_of(&r, "words")) {
		add_c_member(&r, "words", (struct c_member){.kind = C_LIST}, "uint64_t",
			     c_text(t, "[%u]", 2 * READ_ROOM));
		add_elements(&r, "words", NULL);
	}
	end_members(&r);
	members = or_exit(arena_alloc(t->arena, (r.count + 1) * sizeof(*members)));
	memcpy(members, r.list, r.count * sizeof(*members));
	c_put(&t->parts[C_TYPES], "struct %s {\n%s};\n\n", name, c_taken(t, &r.members));
	layout->shape.members = members;
	return layout;
}
