/* SPDX-License-Identifier: MIT */
/*
 * What read(2) gives and what records hold, as a struct and a function that reads it: by the
 * layouts of cases/abi, for one attr. Fields of which the case does not speak are stepped over.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "abi/layout.h"
#include "translate/translate.h"

/* Elements of a list that are kept: of a record, and of what read(2) gives at most. */
enum { MEMBERS = 256, LIST_ROOM = 512, READ_ROOM = 4096 };

/* A layout on its way to C. */
struct reading {
	struct translation *t;
	const struct opening *open;
	FILE *members, *code;
	int indent;
	const char *record;   /* "COMM"; NULL: it is no record */
	const char *path, *c; /* in front of a name: "sample_id.", "sample_id_" */
	const char *element;  /* of a list: "r->values[i]", and whether it is kept; else NULL */
	bool is_kept;
	unsigned room;       /* of a list */
	unsigned conditions; /* around a field, that only the record can answer */
	struct c_member list[MEMBERS];
	size_t count;
	struct {
		const struct layout_node *node;
		const char *c;
	} named[LAYOUT_NAMED + 1];
	size_t named_count;
};

static void say_code(struct reading *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void say_code(struct reading *r, const char *format, ...)
{
	va_list args;

	for (int i = 0; i < r->indent; i++)
		fputc('\t', r->code);
	va_start(args, format);
	vfprintf(r->code, format, args);
	va_end(args);
	fputc('\n', r->code);
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

/* A member of the struct, once, whichever record it is of. */
static const char *add_c_member(struct reading *r, const char *name, struct c_member member,
				const char *type, const char *array)
{
	const char *path = c_text(r->t, "%s%s", r->path, name);
	const char *c = c_text(r->t, "%s%s", r->element ? "" : r->c, name);

	if (has_member(r, path))
		return c;
	if (r->count + 1 == MEMBERS) {
		c_missing(r->t, "more than %d members", MEMBERS);
		return c;
	}
	member.path = path;
	member.c = c;
	r->list[r->count++] = member;
	if (type)
		fprintf(r->members, "\t%s%s%s%s;\n", type, type[strlen(type) - 1] == '*' ? "" : " ",
			c, array);
	return c;
}

/* Where a member is while it is read. */
static const char *place(struct reading *r, const char *c)
{
	return r->element ? c_text(r->t, "%s.%s", r->element, c) : c_text(r->t, "r->%s", c);
}

static void name_it(struct reading *r, const struct layout_node *node, const char *c)
{
	if (r->named_count == sizeof(r->named) / sizeof(r->named[0]))
		return;
	r->named[r->named_count].node = node;
	r->named[r->named_count++].c = c;
}

static const char *local_of(const struct reading *r, const struct layout_node *node)
{
	for (size_t i = r->named_count; i-- > 0;)
		if (r->named[i].node == node)
			return r->named[i].c;
	return "0";
}

/* Of a field that only some records of a type have: the member that says so. NULL: all have it. */
static const char *conditional(struct reading *r, const char *name)
{
	const char *has = c_text(r->t, "has_%s%s", r->c, name);

	if (!r->conditions || r->element)
		return NULL;
	if (!has_member(r, c_text(r->t, "%s%s", r->path, name)))
		fprintf(r->members, "\tbool %s;\n", has);
	say_code(r, "r->%s = true;", has);
	return has;
}

static void read_list(struct reading *r, const struct layout_list *list);

/* A number that others name gets a variable of its own. */
static void number_field_in_c(struct reading *r, const struct layout_node *node)
{
	unsigned width = layout_types[node->number.type].width;
	const char *take = c_text(r->t, "take%u(&p)", width * 8), *c;
	bool wanted = node->name && is_spoken_of(r, node->name) && (!r->element || r->is_kept);

	if (node->is_named_by_others) {
		const char *local = c_text(r->t, "%s%s", r->c, node->name);

		say_code(r, "uint64_t %s = %s;", local, take);
		say_code(r, "(void)%s;", local);
		name_it(r, node, local);
		take = local;
	}
	if (wanted) {
		const char *has = conditional(r, node->name);

		c = add_c_member(r, node->name,
				 (struct c_member){.kind = node->number.set ? C_BITS : C_NUMBER,
						   .set = node->number.set,
						   .has = has},
				 "uint64_t", "");
		say_code(r, "%s = %s;", place(r, c), take);
	} else if (!node->is_named_by_others) {
		say_code(r, "p += %u;%s%s%s", width, node->name ? " /* " : "",
			 node->name ? node->name : "", node->name ? " */" : "");
	}
}

static unsigned shift_of_bits(const struct layout_word *word, const struct layout_bits *bits,
			      unsigned unit)
{
	return word->declared && host_order() == BIG ? unit - bits->first - bits->width
						     : bits->first;
}

static void word_field_in_c(struct reading *r, const struct layout_node *node)
{
	unsigned width = layout_types[node->word.type].width;
	const struct layout_word *word = node->word.word;
	const char *prefix = r->path, *c_prefix = r->c;
	const char *local;
	bool any = !node->name || is_spoken_of(r, node->name);

	if (!any || (r->element && !r->is_kept)) {
		say_code(r, "p += %u;", width);
		return;
	}
	local = c_text(r->t, "%s%s_word", r->c, node->name ? node->name : "bits");
	say_code(r, "uint64_t %s = take%u(&p);", local, width * 8);
	say_code(r, "(void)%s;", local);
	if (node->name) {
		add_c_member(r, node->name, (struct c_member){.kind = C_OBJECT}, NULL, "");
		r->path = c_text(r->t, "%s%s.", r->path, node->name);
		r->c = c_text(r->t, "%s%s_", r->c, node->name);
	}
	for (size_t i = 0; i < word->count; i++) {
		const struct layout_bits *bits = &word->bits[i];

		if (!is_spoken_of(r, bits->name))
			continue;
		say_code(r, "%s = %s >> %u & %#llx;",
			 place(r,
			       add_c_member(r, bits->name,
					    (struct c_member){.kind = bits->set ? C_BITS : C_NUMBER,
							      .set = bits->set},
					    "uint64_t", "")),
			 local, shift_of_bits(word, bits, width * 8),
			 bits->width == 64 ? ~0ULL : (1ULL << bits->width) - 1);
	}
	r->path = prefix;
	r->c = c_prefix;
}

static const char *amount_in_c(struct reading *r, const struct layout_size *size, unsigned width)
{
	const char *count;

	switch (size->from) {
	case LAYOUT_FROM_NUMBER:
		count = c_text(r->t, "%u", size->number);
		break;
	case LAYOUT_FROM_FIELD:
		count = local_of(r, size->field);
		break;
	case LAYOUT_FROM_PREFIX:
		count = c_text(r->t, "take%u(&p)", size->prefix * 8U);
		break;
	case LAYOUT_FROM_REST:
		count = c_text(r->t, "(uint64_t)(end - p) / %u", width);
		break;
	default:
		c_missing(r->t, "a list of such a length");
		return "0";
	}
	if (size->less || size->per)
		c_missing(r->t, "a list of such a length");
	return count;
}

/* Text up to a NUL is the last thing in front of sample_id, which stands at the end. */
static void read_string(struct reading *r, const struct layout_node *node)
{
	const char *c;

	if (node->text.size.from != LAYOUT_FROM_NUL) {
		c_missing(r->t, "a text of a length of its own");
		return;
	}
	if (is_spoken_of(r, node->name)) {
		c = add_c_member(r, node->name, (struct c_member){.kind = C_STRING}, "const char *",
				 "");
		say_code(r, "%s = (const char *)p;", place(r, c));
	}
	say_code(r, "well_formed(is_padded(p, end), \"a text, and less than 8 zeros behind it\");");
	say_code(r, "p = end;");
}

static void read_bytes(struct reading *r, const struct layout_node *node)
{
	const char *c, *nr = amount_in_c(r, &node->text.size, 1);

	say_code(r, "n = %s;", nr);
	if (is_spoken_of(r, node->name)) {
		const char *has = conditional(r, node->name);

		c = add_c_member(r, node->name, (struct c_member){.kind = C_BYTES, .has = has},
				 "const unsigned char *", "");
		if (!has_member(r, c_text(r->t, "%s%s_nr", r->path, node->name)))
			add_c_member(r, c_text(r->t, "%s_nr", node->name),
				     (struct c_member){.kind = C_NUMBER}, "uint64_t", "");
		say_code(r, "%s = p;", place(r, c));
		say_code(r, "%s_nr = n;", place(r, c));
	}
	say_code(r, "p += n;");
}

/* What an element of a list of numbers is: itself, and a marker as {"context": NAME}. */
static void add_elements(struct reading *r, const struct layout_node *node, const char *c)
{
	const char *path = c_text(r->t, "%s%s[]", r->path, node->name);

	if (has_member(r, path) || r->count + 3 >= MEMBERS)
		return;
	fprintf(r->members, "\tuint64_t %s_nr;\n", c);
	r->list[r->count++] = (struct c_member){.path = path, .c = "", .kind = C_NUMBER};
	if (node->array.markers)
		r->list[r->count++] = (struct c_member){.path = c_text(r->t, "%s.context", path),
							.c = "",
							.kind = C_BITS,
							.set = node->array.markers};
}

/* Numbers of one width. */
static void array_in_c(struct reading *r, const struct layout_node *node)
{
	unsigned width = layout_types[node->array.type].width;
	const char *c, *nr = amount_in_c(r, &node->array.count, width);

	say_code(r, "n = %s;", nr);
	if (!is_spoken_of(r, node->name) || r->element) {
		say_code(r, "p += n * %u;", width);
		return;
	}
	c = add_c_member(r, node->name, (struct c_member){.kind = C_LIST}, "uint64_t",
			 c_text(r->t, "[%u]", r->room));
	add_elements(r, node, c);
	say_code(r, "%s_nr = n;", place(r, c));
	say_code(r, "for (uint64_t i = 0; i < n; i++)");
	say_code(r, "\t%s[i < %u ? i : %u] = take%u(&p);", place(r, c), r->room - 1, r->room - 1,
		 width * 8);
}

/* Elements of several fields: a list of structs. */
static void loop_in_c(struct reading *r, const struct layout_node *node)
{
	const char *path = r->path, *c_prefix = r->c, *c = "", *nr;
	bool wanted = is_spoken_of(r, node->name) && !node->loop.bare && !r->element, is_new;

	nr = amount_in_c(r, &node->loop.count, 1);
	say_code(r, "n = %s;", nr);
	is_new = wanted && !has_member(r, c_text(r->t, "%s%s", r->path, node->name));
	if (wanted) {
		c = add_c_member(r, node->name, (struct c_member){.kind = C_LIST}, NULL, "");
		say_code(r, "%s_nr = n;", place(r, c));
	}
	if (is_new)
		fprintf(r->members, "\tuint64_t %s_nr;\n\tstruct {\n", c);
	say_code(r, "for (uint64_t i = 0; i < n; i++) {");
	r->indent++;
	r->element =
		wanted ? c_text(r->t, "r->%s[i < %u ? i : %u]", c, r->room - 1, r->room - 1) : "";
	r->is_kept = wanted;
	r->path = c_text(r->t, "%s%s[].", r->path, node->name);
	r->c = c_text(r->t, "%s%s_", r->c, node->name);
	read_list(r, &node->loop.body);
	r->indent--;
	say_code(r, "}");
	if (is_new)
		fprintf(r->members, "\t} %s[%u];\n", c, r->room);
	r->element = NULL;
	r->is_kept = false;
	r->path = path;
	r->c = c_prefix;
}

static void object_in_c(struct reading *r, const char *name, const struct layout_list *list)
{
	const char *path = r->path, *c = r->c;
	bool asks = is_spoken_of(r, name) && !r->element;

	if (asks && !has_member(r, c_text(r->t, "%s%s", path, name))) {
		fprintf(r->members, "\tbool has_%s%s;\n", c, name);
		add_c_member(r, name,
			     (struct c_member){.kind = C_OBJECT,
					       .has = c_text(r->t, "has_%s%s", c, name)},
			     NULL, "");
	}
	if (asks)
		say_code(r, "r->has_%s%s = true;", c, name);
	r->path = c_text(r->t, "%s%s.", path, name);
	r->c = c_text(r->t, "%s%s_", c, name);
	read_list(r, list);
	r->path = path;
	r->c = c;
}

/* A register for each bit of the mask in attr, in the order of the bits. */
static void regs_in_c(struct reading *r, const struct layout_node *node)
{
	const struct abi *abi = r->t->tables->abi;
	const struct abi_arch *arch = r->t->tables->arch;
	uint64_t mask = call_field(&r->open->call, abi, node->regs->name);
	const char *path = r->path, *c_prefix = r->c;

	add_c_member(r, node->name, (struct c_member){.kind = C_OBJECT}, NULL, "");
	r->path = c_text(r->t, "%s%s.", path, node->name);
	r->c = c_text(r->t, "%s%s_", c_prefix, node->name);
	for (unsigned bit = 0; bit < 64; bit++) {
		const struct abi_value *value =
			arch ? abi_value_of(&arch->regs, UINT64_C(1) << bit) : NULL;

		if (!(mask >> bit & 1))
			continue;
		if (value && is_spoken_of(r, value->name) && is_spoken_of(r, node->name))
			say_code(r, "%s = take64(&p);",
				 place(r, add_c_member(r, value->name,
						       (struct c_member){.kind = C_NUMBER},
						       "uint64_t", "")));
		else
			say_code(r, "p += 8;");
	}
	r->path = path;
	r->c = c_prefix;
}

static void read_switch(struct reading *r, const struct layout_list *then,
			const struct layout_list *other, const char *condition)
{
	say_code(r, "if (%s) {", condition);
	r->indent++;
	r->conditions++;
	read_list(r, then);
	if (other->count) {
		r->indent--;
		say_code(r, "} else {");
		r->indent++;
		read_list(r, other);
	}
	r->conditions--;
	r->indent--;
	say_code(r, "}");
}

static void read_when(struct reading *r, const struct layout_node *node)
{
	const struct layout_condition *c = &node->when.condition;
	const char *field = c->field ? local_of(r, c->field) : "0";
	unsigned long long value = (unsigned long long)c->value;
	uint64_t attr = 0;

	switch (c->test) {
	case LAYOUT_IF_ATTR:
	case LAYOUT_IF_ATTR_HAS:
		attr = call_field(&r->open->call, r->t->tables->abi, c->attr->name);
		if (c->test == LAYOUT_IF_ATTR ? attr != 0 : (attr & c->value) == c->value)
			read_list(r, &node->when.then);
		else
			read_list(r, &node->when.other);
		return;
	case LAYOUT_IF_MISC:
		read_switch(r, &node->when.then, &node->when.other,
			    c_text(r->t, "(r->misc & %#llx) == %#llx", value, value));
		return;
	case LAYOUT_IF_IS:
	case LAYOUT_IF_NOT:
	case LAYOUT_IF_AT_LEAST:
		read_switch(r, &node->when.then, &node->when.other,
			    c_text(r->t, "%s %s %#llx", field,
				   c->test == LAYOUT_IF_IS    ? "=="
				   : c->test == LAYOUT_IF_NOT ? "!="
							      : ">=",
				   value));
		return;
	case LAYOUT_IF_LEFT:
		read_switch(r, &node->when.then, &node->when.other,
			    c_text(r->t, "(uint64_t)(end - p) >= %llu", value));
		return;
	case LAYOUT_IF_MAYBE: /* as the newest kernel has it */
		read_list(r, &node->when.other);
		return;
	}
}

/* The name of an element by its index. */
static void index_in_c(struct reading *r, const struct layout_node *node)
{
	if (r->is_kept && is_spoken_of(r, node->name))
		say_code(
			r, "%s = i;",
			place(r, add_c_member(r, node->name,
					      (struct c_member){.kind = C_BITS, .set = node->index},
					      "uint64_t", "")));
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as LAYOUT_DEPTH */
static void read_list(struct reading *r, const struct layout_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct layout_node *node = &list->nodes[i];

		switch (node->kind) {
		case LAYOUT_NUMBER:
			number_field_in_c(r, node);
			break;
		case LAYOUT_WORD:
			word_field_in_c(r, node);
			break;
		case LAYOUT_STRING:
			read_string(r, node);
			break;
		case LAYOUT_BYTES:
			read_bytes(r, node);
			break;
		case LAYOUT_PAD:
			say_code(r, "p += %u;", node->zeros);
			break;
		case LAYOUT_ALIGN:
			say_code(r, "p += -(uintptr_t)(p - begin) & %u;", node->zeros - 1);
			break;
		case LAYOUT_ARRAY:
			array_in_c(r, node);
			break;
		case LAYOUT_LOOP:
			loop_in_c(r, node);
			break;
		case LAYOUT_OBJECT:
			object_in_c(r, node->name, &node->object);
			break;
		case LAYOUT_REGS:
			regs_in_c(r, node);
			break;
		case LAYOUT_INDEX:
			index_in_c(r, node);
			break;
		case LAYOUT_WHEN:
			read_when(r, node);
			break;
		case LAYOUT_USE:
			if (r->record && !strcmp(node->use->name, "sample_id"))
				break; /* read behind the switch, as it is of all records */
			if (node->name)
				object_in_c(r, node->name, &node->use->list);
			else
				read_list(r, &node->use->list);
			break;
		default:
			c_missing(r->t, "a field of such a kind");
		}
	}
}

/* Bytes that a list of numbers takes with this attr. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as LAYOUT_DEPTH */
static unsigned fixed_size(const struct reading *r, const struct layout_list *list)
{
	unsigned size = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct layout_node *node = &list->nodes[i];
		const struct layout_condition *c = &node->when.condition;
		uint64_t attr;

		if (node->kind == LAYOUT_NUMBER)
			size += layout_types[node->number.type].width;
		else if (node->kind == LAYOUT_PAD)
			size += node->zeros;
		else if (node->kind == LAYOUT_OBJECT)
			size += fixed_size(r, &node->object);
		if (node->kind != LAYOUT_WHEN || !c->attr)
			continue;
		attr = call_field(&r->open->call, r->t->tables->abi, c->attr->name);
		if (c->test == LAYOUT_IF_ATTR ? attr != 0 : (attr & c->value) == c->value)
			size += fixed_size(r, &node->when.then);
	}
	return size;
}

/* What was written, as the struct's and the function's text; frees the streams. */
struct written {
	char *members, *code;
	size_t members_size, code_size;
};

static bool begin_reading(struct reading *r, struct translation *t, const struct opening *open,
			  struct written *w)
{
	*r = (struct reading){
		.t = t, .open = open, .path = "", .c = "", .indent = 1, .room = LIST_ROOM};
	*w = (struct written){0};
	r->members = open_memstream(&w->members, &w->members_size);
	r->code = open_memstream(&w->code, &w->code_size);
	if (r->members && r->code)
		return true;
	c_missing(t, "a layout, for want of memory");
	return false;
}

static void end_reading(struct reading *r, struct written *w, struct c_shape *shape)
{
	struct c_member *list = arena_alloc(r->t->arena, (r->count + 1) * sizeof(*list));

	if (r->members)
		fclose(r->members);
	if (r->code)
		fclose(r->code);
	if (list)
		memcpy(list, r->list, r->count * sizeof(*list));
	shape->members = list;
	if (!list || !w->members || !w->code)
		c_missing(r->t, "a layout, for want of memory");
}

/* What was read, plain. */
static void keep_words(struct reading *r)
{
	const char *c;

	if (!is_spoken_of(r, "words"))
		return;
	c = add_c_member(r, "words", (struct c_member){.kind = C_LIST}, "uint64_t",
			 c_text(r->t, "[%u]", 2 * r->room));
	add_c_member(r, "words[]", (struct c_member){.kind = C_NUMBER}, NULL, "");
	r->list[r->count - 1].c = "";
	fprintf(r->members, "\tuint64_t %s_nr;\n", c);
	say_code(r, "memcpy(r->%s, p, (size_t)got);", c);
	say_code(r, "r->%s_nr = (uint64_t)got / 8;", c);
}

/* One that was written before; NULL: it is new. */
static const struct c_layout *layout_of(struct translation *t, const struct opening *open,
					bool of_records)
{
	for (size_t i = 0; i < t->layout_count; i++)
		if (t->layouts[i].open == open && t->layouts[i].of_records == of_records)
			return &t->layouts[i];
	return NULL;
}

static const char *remember(struct translation *t, const struct c_layout *layout)
{
	if (t->layout_count < C_NAMES)
		t->layouts[t->layout_count++] = *layout;
	return layout->type;
}

/* A name that no other struct of the program has. */
static const char *own_name(struct translation *t, const char *name, const char *what)
{
	for (unsigned i = 1;; i++) {
		const char *own = i > 1 ? c_text(t, "%s_%s_%u", name, what, i)
					: c_text(t, "%s_%s", name, what);

		if (json_object_get(t->declared, own))
			continue;
		json_object_set_new(t->declared, own, json_string("struct"));
		return own;
	}
}

const char *c_read_layout(struct translation *t, const char *event, const struct opening *open,
			  struct c_shape *shape, const char **function)
{
	const struct c_layout *before = layout_of(t, open, false);
	const char *name, *reader;
	struct reading r;
	struct written w;

	if (before) {
		*shape = before->shape;
		*function = before->function;
		return before->type;
	}
	name = own_name(t, event, "values");
	reader = c_text(t, "read_%s", name);
	*shape = (struct c_shape){.kind = C_OBJECT};
	*function = reader;
	if (!begin_reading(&r, t, open, &w))
		return "int";
	r.indent = 2;
	r.room = READ_ROOM;
	add_c_member(&r, "bytes", (struct c_member){.kind = C_NUMBER}, "uint64_t", "");
	keep_words(&r);
	read_list(&r, &abi_layout(t->tables->abi, "read_format")->list);
	end_reading(&r, &w, shape);
	fprintf(t->parts[C_TYPES].file, "struct %s {\n%s};\n\n", name, w.members ? w.members : "");
	fprintf(t->parts[C_FUNCTIONS].file,
		"/* By the read_format of the event. */\n"
		"static struct %s %s(int fd, void *at, size_t size)\n{\n"
		"\tstatic unsigned char buffer[65536];\n"
		"\tconst unsigned char *p = at ? at : buffer;\n"
		"\tstruct %s kept = {0}, *r = &kept;\n"
		"\tlong got = read(fd, at ? at : buffer, size);\n"
		"\tuint64_t n = 0;\n\n"
		"\t(void)n, (void)r;\n"
		"\tanswer(\"read\", got, 0, \"success\");\n"
		"\tkept.bytes = (uint64_t)got;\n"
		"\tif (got) {\n%s\t}\n"
		"\t(void)p;\n"
		"\treturn kept;\n}\n\n",
		name, reader, name, w.code ? w.code : "");
	free(w.members);
	free(w.code);
	return remember(t, &(struct c_layout){.open = open,
					      .type = c_text(t, "struct %s", name),
					      .function = reader,
					      .shape = *shape});
}

static bool has_field(const struct layout *layout, const char *name)
{
	for (size_t i = 0; layout && i < layout->list.count; i++)
		if (layout->list.nodes[i].name && !strcmp(layout->list.nodes[i].name, name))
			return true;
	return false;
}

/* How many types of record have a field of that name. */
static unsigned types_with(const struct abi_family *records, const char *name)
{
	unsigned n = 0;

	for (size_t i = 0; i < records->count; i++)
		n += has_field(records->values[i].layout, name);
	return n;
}

/* The case names the type, or a field that few others have. */
static bool speaks_of(const struct translation *t, const struct abi_family *records,
		      const struct abi_value *record)
{
	const struct layout *layout = record->layout;

	if (!layout)
		return false;
	if (json_object_get(t->words, record->name) || !strcmp(record->name, "sample"))
		return true;
	for (size_t i = 0; i < layout->list.count; i++) {
		const char *name = layout->list.nodes[i].name;

		if (name && json_object_get(t->words, name) && types_with(records, name) <= 2)
			return true;
	}
	return false;
}

static void record_in_c(struct reading *r, const struct abi_family *records,
			const struct abi_value *record)
{
	char upper[64];
	size_t n = 0;

	if (!speaks_of(r->t, records, record))
		return;
	for (const char *p = record->name; *p && n + 1 < sizeof(upper); p++)
		upper[n++] = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	upper[n] = '\0';
	say_code(r, "case %llu: { /* PERF_RECORD_%s */", (unsigned long long)record->value, upper);
	r->indent++;
	r->record = record->name;
	r->named_count = 0;
	if (!strcmp(record->name, "sample"))
		say_code(r, "end = begin + r->size;");
	read_list(r, &record->layout->list);
	say_code(r, "break;");
	r->indent--;
	say_code(r, "}");
}

/* At the end of every record that is no sample. */
static void read_sample_id(struct reading *r, const struct layout *sample_id)
{
	static const char check[] =
		"well_formed(p == begin + header->size, \"fields that take all of a record\");";

	say_code(r, "default:");
	say_code(r, "\tp = end;");
	say_code(r, "}");
	r->record = NULL;
	r->named_count = 0;
	if (!sample_id || !fixed_size(r, &sample_id->list)) {
		say_code(r, "%s", check);
		return;
	}
	say_code(r, "if (r->type == PERF_RECORD_SAMPLE) {");
	say_code(r, "\t%s", check);
	say_code(r, "\treturn;");
	say_code(r, "}");
	read_list(r, &sample_id->list);
	say_code(r, "%s", check);
}

const char *c_record_layout(struct translation *t, const char *event, const struct opening *open,
			    struct c_shape *shape, const char **function)
{
	const struct abi_family *records = abi_family(t->tables->abi, "record");
	const struct layout *sample_id = abi_layout(t->tables->abi, "sample_id");
	const struct c_layout *before = layout_of(t, open, true);
	const char *name;
	struct reading r;
	struct written w;

	if (before) {
		*shape = before->shape;
		*function = before->function;
		return before->type;
	}
	name = own_name(t, event, "record");
	*shape = (struct c_shape){.kind = C_LIST};
	*function = c_text(t, "read_%ss", name);
	if (!begin_reading(&r, t, open, &w))
		return "int";
	add_c_member(&r, "type", (struct c_member){.kind = C_BITS, .set = records}, "uint64_t", "");
	add_c_member(&r, "misc",
		     (struct c_member){.kind = C_BITS,
				       .set = abi_family(t->tables->abi, "cpumode"),
				       .rest = abi_family(t->tables->abi, "misc")},
		     "uint64_t", "");
	add_c_member(&r, "size", (struct c_member){.kind = C_NUMBER}, "uint64_t", "");
	for (size_t i = 0; records && i < records->count; i++)
		record_in_c(&r, records, &records->values[i]);
	read_sample_id(&r, sample_id);
	end_reading(&r, &w, shape);
	fprintf(t->parts[C_TYPES].file, "struct %s {\n%s};\n\n", name, w.members ? w.members : "");
	fprintf(t->parts[C_FUNCTIONS].file,
		"static void parse_%s(const unsigned char *begin, struct %s *r)\n{\n"
		"\tconst struct perf_event_header *header = (const void *)begin;\n"
		"\tconst unsigned char *p = begin + sizeof(*header);\n"
		"\tconst unsigned char *end = begin + header->size - %u; /* sample_id */\n"
		"\tuint64_t n = 0;\n\n"
		"\tr->type = header->type;\n\tr->misc = header->misc;\n\tr->size = header->size;\n"
		"\tswitch (r->type) {\n%s"
		"\t(void)n;\n\t(void)p;\n\t(void)end;\n}\n\n",
		name, name, sample_id ? fixed_size(&r, &sample_id->list) : 0, w.code ? w.code : "");
	fprintf(t->parts[C_FUNCTIONS].file,
		"/* What is new in the buffer, of the types whose bits are set. */\n"
		"static struct %s *%s(void *map, uint64_t types, bool keep, uint64_t *nr)\n{\n"
		"\tstruct %s *list;\n"
		"\tsize_t size;\n"
		"\tunsigned char *at = copy_ring(map, keep, &size);\n\n"
		"\tlist = calloc(size / sizeof(struct perf_event_header) + 16, sizeof(*list));\n"
		"\tmust(list);\n"
		"\t*nr = 0;\n"
		"\tfor (size_t n = 0; n < size; n += ((struct perf_event_header *)(void *)(at + "
		"n))->size)\n"
		"\t\tif (types >> ((struct perf_event_header *)(void *)(at + n))->type & 1)\n"
		"\t\t\tparse_%s(at + n, &list[(*nr)++]);\n"
		"\treturn list;\n}\n\n",
		name, *function, name, name);
	free(w.members);
	free(w.code);
	return remember(t, &(struct c_layout){.open = open,
					      .of_records = true,
					      .type = c_text(t, "struct %s", name),
					      .function = *function,
					      .shape = *shape});
}
