/* SPDX-License-Identifier: MIT */
/*
 * A list of steps as lines of C. Most verbs have in their row what they are in C: a call, which
 * answers -1 where it fails, or statements, which end with a semicolon. In that stands
 *
 *     @KEY         for the argument, as its type is written; the letters in front of a word's are
 *                  in front of each word: "PROT_@prot" is PROT_READ | PROT_WRITE
 *     @*KEY        where the newest buffer of the event is mapped that the argument names
 *     @=           for the variable that has what comes of it
 *     @{KEY?A:B}   A if the argument is there, and neither false nor 0, or is the path of what
 *                  is written; else B, or nothing
 *
 * and in what it shows, behind the type of that variable, its members with their names in C:
 * "struct stat: ino=st_ino". Behind a name $ is a string, [] a list, {} an object, ? the member
 * that says whether it is there, and : what stands in front of the names of its bits.
 */
#include <ctype.h>
#include <string.h>

#include "machine/names.h"
#include "step/program.h"
#include "text/json_text.h"
#include "translate/translate.h"

static const struct argument *argument_at(const struct statement *s, const char *key, size_t length,
					  size_t *index)
{
	const struct argument *a = s->verb->arguments;

	for (*index = 0; a[*index].key; ++*index)
		if (strlen(a[*index].key) == length && !strncmp(a[*index].key, key, length))
			return &a[*index];
	return NULL;
}

static const char *name_in_c(struct translation *t, const struct statement *s, const char *key)
{
	const char *name = json_string_value(statement_json(s, key));
	struct c_value value;

	if (name && c_variable(t, name, &value))
		return value.c;
	c_missing(t, "the name \"%s\"", name ? name : key);
	return "0";
}

static bool is_refusal(const struct statement *s)
{
	return s->expected && s->expected->err;
}

static const struct pattern *pattern_of_success(const struct statement *s)
{
	return s->expected && !s->expected->err ? s->expected->pattern : NULL;
}

static void shown_in_c(struct translation *t, const struct statement *s, const char *value,
		       const struct c_shape *shape)
{
	if (pattern_of_success(s))
		c_expect(t, s->expected->pattern, value, shape);
}

struct c_shape value_in_c(struct translation *t, const char *text, const char **type)
{
	static const char ends[] = "=$[{?: ";
	size_t n = strcspn(text, ":"), count = 0, room = 1, length;
	const char *at = text + n + strspn(text + n, ": ");
	struct c_member *members;

	for (const char *p = at; *p; p++)
		room += *p == ' ';
	*type = c_text(t, "%.*s", (int)n, text);
	members = or_exit(arena_alloc(t->arena, (room + 1) * sizeof(*members)));
	for (; *at; at += length + (at[length] == ' ')) {
		struct c_member *m = &members[count++];
		const char *c, *behind;

		/* "signo:", "ino=st_ino", "value?has_value"; or a list's element: "ids[]=". */
		length = strcspn(at, " ");
		n = strcspn(at, ends);
		n += strncmp(at + n, "[]=", 3) ? 0 : 2;
		c = at[n] == '=' ? at + n + 1 : at;
		behind = at[n] == '=' ? c + strcspn(c, ends) : at + n;
		m->kind = C_NUMBER;
		m->path = c_text(t, "%.*s", (int)n, at);
		m->c = c_text(t, "%.*s", (int)(behind - c), c);
		if (behind >= at + length)
			continue;
		if (*behind == ':') {
			m->kind = C_BITS;
			m->prefix = c_text(t, "%.*s", (int)(at + length - behind - 1), behind + 1);
		} else if (*behind == '?') {
			m->has = c_text(t, "%.*s", (int)(at + length - behind - 1), behind + 1);
		} else {
			m->kind = *behind == '$' ? C_STRING : *behind == '[' ? C_LIST : C_OBJECT;
		}
	}
	return (struct c_shape){.kind = (*type)[strlen(*type) - 1] == '*' ? C_LIST
					: count                           ? C_OBJECT
									  : C_NUMBER,
				.members = members};
}

static const char *variable_in_c(struct translation *t, const struct statement *s, const char *type,
				 const struct c_shape *shape)
{
	char own[VARIABLE_NAME];
	struct c_name *name = s->bind ? c_bind(t, s->bind, type, shape) : NULL;
	const char *c = name ? name->c : "";

	if (!s->bind) {
		snprintf(own, sizeof(own), "%s_%u", s->verb->name, ++t->functions_made);
		for (char *p = own; *p; p++)
			*p = (char)(*p == '-' ? '_' : *p);
		c = c_declare(t, own, type);
	}
	if (shape->kind == C_LIST)
		c_declare(t, c_text(t, "%s_nr", c), "uint64_t");
	return c;
}

/* What a row says, on its way to C. */
struct filling {
	struct translation *t;
	const struct statement *s;
	const char *value; /* the variable; NULL: none yet */
	struct c_shape shape;
	struct out out;
};

static const char *variable_of(struct filling *f)
{
	const char *type;

	if (!f->value) {
		f->shape = value_in_c(f->t, f->s->verb->c_value ? f->s->verb->c_value : "uint64_t",
				      &type);
		f->value = variable_in_c(f->t, f->s, type, &f->shape);
	}
	return f->value;
}

static uint64_t operand_number(const struct argument *a, const struct operand *operand)
{
	return operand->json ? operand->number : a->fallback;
}

/* The words that make up the number, with what stands in front of each. */
static const char *words_in_c(struct filling *f, const struct argument *a, uint64_t number)
{
	char *at = f->out.at;
	const char *before, *all = "";

	while (at > f->out.base && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
		at--;
	before = at ? c_text(f->t, "%s", at) : "";
	f->out.at = at;
	for (const struct word *word = a->words; word->name; word++) {
		if (a->type == &argument_words ? !(number & word->value) : number != word->value)
			continue;
		all = c_text(f->t, "%s%s%s", all, all[0] ? " | " : "",
			     islower((unsigned char)before[0])
				     ? c_text(f->t, "%s%s", before, word->name)
				     : c_capitals(f->t, before, word->name));
	}
	return all[0] ? all : "0";
}

static const char *argument_in_c(struct filling *f, const struct argument *a,
				 const struct operand *operand)
{
	const json_t *json = operand->json;
	const char *text = json_string_value(json);

	if (a->type->c == C_AS_WORDS)
		return words_in_c(f, a, operand_number(a, operand));
	if (a->type->c == C_AS_TRUTH)
		return operand_number(a, operand) ? "true" : "false";
	if (a->type->c == C_AS_NUMBER)
		return json ? c_number(f->t, json, NULL)
			    : c_text(f->t, "%llu", (unsigned long long)a->fallback);
	if (a->type->c == C_AS_FD || (a->type->c == C_AS_TARGET && text[0] != '/'))
		return c_cast(f->t, "int", name_in_c(f->t, f->s, a->key));
	if (a->type->c == C_AS_NAME)
		return text;
	return text ? c_string(f->t, json) : "\"\"";
}

static void fill_in(struct filling *f, const char *text, const char *end);

/* "KEY?A:B}": what is behind it. */
/* NOLINTNEXTLINE(misc-no-recursion): A and B have no other within them */
static const char *fill_choice(struct filling *f, const char *text)
{
	size_t key = strcspn(text, "?"), i;
	const char *end = strchr(text, '}'), *yes = text + key + 1;
	const char *colon = memchr(yes, ':', (size_t)(end - yes));
	const struct argument *a = argument_at(f->s, text, key, &i);
	bool holds = false;

	if (a && (a->type->c == C_AS_WORDS || a->type->c == C_AS_TRUTH))
		holds = operand_number(a, &f->s->operands[i]) != 0;
	else if (a && a->type->c == C_AS_TARGET)
		holds = json_string_value(f->s->operands[i].json)[0] == '/';
	else if (a)
		holds = f->s->operands[i].json != NULL;
	if (holds)
		fill_in(f, yes, colon ? colon : end);
	else if (colon)
		fill_in(f, colon + 1, end);
	return end + 1;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void fill_in(struct filling *f, const char *text, const char *end)
{
	while (text < end) {
		size_t n = strcspn(text, "@"), i;
		const struct c_name *name;
		const struct argument *a;
		bool is_map;

		n = n < (size_t)(end - text) ? n : (size_t)(end - text);
		c_put(&f->out, "%.*s", (int)n, text);
		text += n;
		if (text == end)
			return;
		text++;
		if (*text == '=') {
			c_put(&f->out, "%s", variable_of(f));
			text++;
			continue;
		}
		if (*text == '{') {
			text = fill_choice(f, text + 1);
			continue;
		}
		is_map = *text == '*';
		text += is_map;
		n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
		a = argument_at(f->s, text, n, &i);
		text += n;
		name = a && is_map ? c_named(f->t, json_string_value(f->s->operands[i].json))
				   : NULL;
		if (name && name->map)
			c_put(&f->out, "%s", name->map);
		else if (is_map)
			c_missing(f->t, "the buffer of what is not mapped here");
		else if (a)
			c_put(&f->out, "%s", argument_in_c(f, a, &f->s->operands[i]));
		else
			c_missing(f->t, "the argument \"%.*s\"", (int)n, text - n);
	}
}

static const char *text_in_c(struct translation *t, const struct statement *s, const char *text)
{
	struct filling f = {.t = t, .s = s};

	fill_in(&f, text, text + strlen(text));
	return c_taken(t, &f.out);
}

static const char *checked_in_c(struct translation *t, const struct statement *s, const char *call)
{
	enum { KERNELS_OWN = 512 }; /* and up; <errno.h> has none of them */
	const int err = is_refusal(s) ? s->expected->err : 0;

	if (s->verb->kind != CALLS)
		return c_text(t, "needed(%s)", call);
	if (err >= KERNELS_OWN)
		return c_text(t, "expect_errno(%s, %d /* %s */)", call, err, errno_name(err));
	return c_text(t, "expect_errno(%s, %s)", call, err ? errno_name(err) : "0");
}

/* Statements as they are; of a call its errno is checked, and what it returns kept if asked for. */
static void fill_lines(struct filling *f, const char *text)
{
	struct translation *t = f->t;
	const struct statement *s = f->s;
	const struct c_name *from;
	struct c_name *to;
	const char *line;

	if (!text)
		return;
	fill_in(f, text, text + strlen(text));
	line = c_taken(t, &f->out);
	if (!line[0])
		return;
	if (line[strlen(line) - 1] != ';') {
		const char *call = checked_in_c(t, s, line);

		if (!f->value && !is_refusal(s) && (s->bind || pattern_of_success(s))) {
			const char *c = variable_of(f);

			call = c_text(t, c_is_int(t, c) ? "%s = %s" : "%s = (unsigned long)%s", c,
				      call);
		}
		c_line(t, "%s;", call);
		to = s->bind && s->verb->binds == BINDS_RESULT ? c_named(t, s->bind) : NULL;
		/* What is known of an event is known of its copy. */
		for (size_t i = 0; to && s->verb->arguments[i].key; i++) {
			if (s->verb->arguments[i].type->c != C_AS_FD || !s->operands[i].json)
				continue;
			from = c_named(t, json_string_value(s->operands[i].json));
			if (from && from->open)
				to->open = from->open;
		}
		return;
	}
	for (size_t n; *line; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		c_line(t, "%.*s", (int)n, line);
	}
}

static void statement_in_c(struct translation *t, const struct statement *s)
{
	const bool is_counted = statement_json(s, "counted");
	struct filling f = {.t = t, .s = s};

	if (s->verb->in_c) {
		s->verb->in_c(t, s);
		return;
	}
	if (!s->verb->c)
		c_missing(t, "the step \"%s\"", s->verb->name);
	fill_lines(&f, s->verb->c_ready);
	/* The requests are made once before, as nothing is to be looked up while it counts. */
	if (is_counted && t->has_signals)
		c_line(t, "needed(rehearse_signals());");
	if (is_counted)
		fill_lines(&f, "needed(ioctl(@counted, PERF_EVENT_IOC_DISABLE, "
			       "@{refresh?0:PERF_IOC_FLAG_GROUP}));\n"
			       "needed(ioctl(@counted, PERF_EVENT_IOC_@{refresh?REFRESH, @refresh:"
			       "ENABLE, PERF_IOC_FLAG_GROUP}));");
	fill_lines(&f, s->verb->c);
	if (is_counted)
		fill_lines(&f, "needed(ioctl(@counted, PERF_EVENT_IOC_DISABLE, "
			       "@{refresh?0:PERF_IOC_FLAG_GROUP}));");
	fill_lines(&f, s->verb->c_tidy);
	if (f.value)
		shown_in_c(t, s, f.value, &f.shape);
}

/* An empty line stands in front of an open, and behind what takes several lines. */
void block_in_c(struct translation *t, const struct block *block)
{
	unsigned before = t->lines;
	bool is_first = true;

	for (size_t i = 0; i < block->count; i++) {
		const struct statement *s = &block->list[i];

		if (!s->is_on && !t->is_behind_exec)
			continue;
		if (is_first ? t->indent == 1 : t->lines - before > 1 || s->verb->has_gates)
			c_put(&t->parts[C_BODY], "\n");
		before = t->lines;
		is_first = false;
		statement_in_c(t, s);
	}
}

/*
 * The verbs whose C has a shape of its own.
 */

static const struct c_shape number_shape = {.kind = C_NUMBER};

/*
 * Opening, ioctl(2).
 */

static const char *argument_of_open(struct translation *t, const json_t *open, const char *key,
				    const char *fallback)
{
	const json_t *json = json_object_get(open, key);

	return c_cast(t, "int", json ? c_number(t, json, NULL) : fallback);
}

/* The event and its id, which records and signals have. */
static void bind_event(struct translation *t, const struct statement *s, const char *call)
{
	struct c_name *event = c_bind(t, s->bind, "int", &number_shape), *name;
	const char *id = c_text(t, "%s.id", s->bind), *event_c;

	if (!event)
		return;
	event->open = s->operands[0].made;
	event_c = event->c;
	c_line(t, "%s = %s;", event->c, checked_in_c(t, s, call));
	if (strlen(id) >= VARIABLE_NAME || !json_object_get(t->words, c_text(t, "$%s", id)))
		return;
	name = c_bind_as(t, id, c_declare(t, c_text(t, "%s_id", s->bind), "uint64_t"),
			 &number_shape);
	if (name)
		c_line(t, "%s = event_id(%s);", name->c, event_c);
}

/* An attr's type, and the member that is looked at. */
static const char *attr_in_c(const struct translation *t)
{
	return t->has_union ? "union long_attr: size=attr.size" : "struct perf_event_attr: size";
}

/* The call, and what it leaves of attr and of the descriptor. */
static void judged_open_in_c(struct translation *t, const struct statement *s, const char *call)
{
	const struct pattern *pattern = s->expected ? s->expected->pattern : NULL;
	const struct pattern *attr = pattern_member(pattern, "attr");
	const struct pattern *cloexec = pattern_member(pattern, "cloexec");
	const char *type;
	struct c_shape shape = value_in_c(t, attr_in_c(t), &type);

	if (!attr)
		c_line(t, "%s before = attr;", type);
	if (cloexec)
		c_line(t, "long fd = %s;", checked_in_c(t, s, call));
	else
		c_line(t, "%s;", checked_in_c(t, s, call));
	if (attr)
		c_expect(t, attr, "attr", &shape);
	else
		c_line(t, "expect(!memcmp(&attr, &before, sizeof(attr)), attr.%s);",
		       shape.members->c);
	if (cloexec)
		c_line(t, "expect((fcntl((int)fd, F_GETFD) & FD_CLOEXEC) == %s, fd);",
		       json_is_true(cloexec->json) ? "FD_CLOEXEC" : "0");
}

void open_in_c(struct translation *t, const struct statement *s)
{
	const json_t *open = statement_json(s, "open"), *times = statement_json(s, "times");
	const json_t *flags = json_object_get(open, "flags"),
		     *memory = json_object_get(open, "memory");
	const json_t *mapped = json_object_get(memory, "mapped");
	const char *kind = json_string_value(memory), *call = "&attr";

	if (times && s->bind && !is_refusal(s))
		c_line(t, "/* the first of them is %s */", s->bind);
	c_line(t, "{");
	t->indent++;
	c_attr(t, "attr", json_object_get(open, "attr"), json_object_get(open, "bytes"));
	/* Passed as it is, or as a copy in memory of another kind. */
	if (mapped)
		call = c_text(t, "cut_off(&attr, sizeof(attr), %s)", c_number(t, mapped, NULL));
	else if (kind && !strcmp(kind, "read-only"))
		call = "read_only(&attr, sizeof(attr))";
	else if (kind && !strcmp(kind, "null"))
		call = "NULL";
	if (!strcmp(call, "NULL"))
		c_line(t, "(void)attr; /* is not passed */");
	call = c_text(t, "open_event(%s, %s, %s, %s, %s)", call,
		      argument_of_open(t, open, "pid", "0"), argument_of_open(t, open, "cpu", "-1"),
		      argument_of_open(t, open, "group_fd", "-1"),
		      flags ? c_number(t, flags, abi_family(t->tables->abi, "open_flags")) : "0");
	if (!s->bind && !times && !memory)
		judged_open_in_c(t, s, call);
	else if (is_refusal(s) || !s->bind)
		c_line(t, "%s;", checked_in_c(t, s, call));
	else
		bind_event(t, s, call);
	if (times) {
		c_line(t, "for (uint64_t i = 1; i < %s; i++)", c_number(t, times, NULL));
		c_line(t, "\t%s;", checked_in_c(t, s, call));
	}
	t->indent--;
	c_line(t, "}");
}

void ioctl_in_c(struct translation *t, const struct statement *s)
{
	const json_t *attr = statement_json(s, "attr"), *ids = statement_json(s, "ids");
	const json_t *json = statement_json(s, "ioctl");
	const struct abi_family *known = abi_family(t->tables->abi, "ioctl");
	const struct abi_value *request =
		json_is_string(json) ? abi_value(known, json_string_value(json), NULL) : NULL;
	const char *kind =
		request ? json_string_value(json_object_get(request->json, "arg")) : NULL;
	bool takes_word =
		!request || (kind && strcmp(kind, "u32") != 0) || statement_json(s, "u64");
	bool is_plain = statement_json(s, "text") || statement_json(s, "arg") ||
			statement_json(s, "address");
	const char *call, *type, *c = "0";
	struct c_shape shape;

	call = request ? c_capitals(t, "PERF_EVENT_IOC_", request->name)
		       : c_text(t, "(unsigned long)(%s)", c_number(t, json, NULL));
	call = c_text(t, "ioctl(%s, %s, ", text_in_c(t, s, "@on"), call);
	shape = value_in_c(t,
			   attr  ? attr_in_c(t)
			   : ids ? "struct bpf_query: ids_len prog_cnt ids[] ids[]="
				 : "uint64_t",
			   &type);
	if (is_plain) {
		c_line(t, "%s;",
		       checked_in_c(t, s,
				    c_text(t, "%s%s)", call,
					   text_in_c(t, s,
						     "@{text?@text:}@{arg?(unsigned long)(@arg):}"
						     "@{address?(unsigned long)(@address):}"))));
		return;
	}
	if (attr) {
		c_line(t, "{");
		t->indent++;
		c = "attr";
		c_attr(t, c, attr, NULL);
	} else if (ids || takes_word) {
		c = variable_in_c(t, s, type, &shape);
	}
	if (ids)
		c_line(t,
		       "%s = (struct bpf_query){.ids_len = (uint32_t)(%s), .prog_cnt = "
		       "UINT32_MAX};",
		       c, c_number(t, ids, NULL));
	else if (!attr && takes_word)
		c_line(t, "%s = %s;", c, text_in_c(t, s, "@u64"));
	call = c_text(t, "%s%s%s)", call, attr || ids || takes_word ? "&" : "", c);
	c_line(t, "%s;", checked_in_c(t, s, call));
	if (ids)
		c_line(t, "%s.ids_nr = ids_in(&%s);", c, c);
	if (s->expected && s->expected->pattern && (attr || ids || !s->expected->err))
		c_expect(t, s->expected->pattern, c, &shape);
	if (attr) {
		t->indent--;
		c_line(t, "}");
	}
}

/*
 * Memory, reading.
 */

void mmap_in_c(struct translation *t, const struct statement *s)
{
	const char *event = json_string_value(statement_json(s, "mmap"));
	struct c_name *name = c_named(t, event);
	const char *map = c_text(t, "%s_map", event);
	const char *pages = text_in_c(t, s, "@pages");
	const char *length = statement_json(s, "length")
				     ? text_in_c(t, s, "@length")
				     : c_text(t,
					      strchr(pages, ' ') ? "(1 + (%s)) * page_size()"
								 : "(1 + %s) * page_size()",
					      pages);
	const char *offset = text_in_c(t, s, "@offset");

	/* One variable a mapping, for what was mapped before is still there. */
	for (unsigned i = 2; json_object_get(t->declared, map); i++)
		map = c_text(t, "%s_map_%u", event, i);
	map = c_declare(t, map, "void *");
	if (t->has_parts) {
		const char *variable = c_declare(t, c_text(t, "%s_length", map), "uint64_t");

		c_line(t, "%s = %s;", variable, length);
		length = variable;
	}
	c_line(t, "%s = (void *)%s;", map,
	       checked_in_c(
		       t, s,
		       c_text(t, "(long)mmap(NULL, %s, %s, %s)", length,
			      text_in_c(t, s,
					"PROT_@prot, @{private?MAP_PRIVATE:MAP_SHARED}, @mmap"),
			      c_cast(t, "off_t", offset))));
	if (is_refusal(s))
		return;
	if (name && !strcmp(offset, "0"))
		name->map = map;
	if (s->bind)
		c_line(t, "%s = (uintptr_t)%s;", variable_in_c(t, s, "uint64_t", &number_shape),
		       map);
}

void mremap_in_c(struct translation *t, const struct statement *s)
{
	struct c_name *event = c_named(t, json_string_value(statement_json(s, "mremap")));
	const char *now = c_declare(t, c_text(t, "moved_%u", ++t->functions_made), "void *");
	const char *call = text_in_c(
		t, s,
		"move_map((char *)@*mremap + @offset, @{length?@length:@*mremap_length - @offset}, "
		"@to, "
		"@{move?mmap(NULL, @to, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0):NULL})");

	c_line(t, "%s = (void *)%s;", now, checked_in_c(t, s, c_text(t, "(long)%s", call)));
	if (is_refusal(s) || !event)
		return;
	event->map = now;
	c_line(t, "%s = %s;", c_declare(t, c_text(t, "%s_length", now), "uint64_t"),
	       text_in_c(t, s, "@to"));
}

/* What this process has opened: that says how it is read. */
static struct c_name *opened_event(struct translation *t, const struct statement *s,
				   const char *key)
{
	struct c_name *event = c_named(t, json_string_value(statement_json(s, key)));

	if (event && event->open)
		return event;
	c_missing(t, "\"%s\" of what no step of this process opened", key);
	return NULL;
}

void read_in_c(struct translation *t, const struct statement *s)
{
	const json_t *at = statement_json(s, "at");
	struct c_name *event;
	const struct c_layout *layout;
	struct c_value value;
	const char *c, *to, *call;

	if (is_refusal(s) || (!s->bind && (!s->expected || !s->expected->pattern))) {
		c_line(t, "%s;",
		       checked_in_c(t, s,
				    c_text(t, "read(%s, %s, %s)", text_in_c(t, s, "@read"),
					   at ? text_in_c(t, s, "(void *)(uintptr_t)(@at)")
					      : "(char[65536]){0}",
					   text_in_c(t, s, "@size"))));
		return;
	}
	event = opened_event(t, s, "read");
	if (!event)
		return;
	layout = c_layout(t, event->name, event->open, false);
	c = variable_in_c(t, s, c_text(t, "struct %s", layout->name), &layout->shape);
	to = at                          ? text_in_c(t, s, "(void *)(uintptr_t)(@at)")
	     : statement_json(s, "size") ? "read_room"
					 : NULL;
	call = c_text(t, "read(%s, %s, %s)", text_in_c(t, s, "@read"),
		      to ? to : c_text(t, "&%s", c),
		      to ? text_in_c(t, s, "@size") : c_text(t, "sizeof(%s)", c));
	call = checked_in_c(t, s, call);
	value = (struct c_value){.c = c, .members = layout->shape.members, .path = ""};
	if (c_enter(t, &value, "bytes", 5))
		c_line(t, "%s = %s;", value.c, call);
	else
		c_line(t, "%s;", call);
	if (to)
		c_line(t, "memcpy(&%s, %s, %s);", c, to,
		       value.path[0] ? value.c : c_text(t, "sizeof(%s)", c));
	value.c = c;
	value.path = "";
	if (c_enter(t, &value, "words", 5)) {
		c_line(t, "memcpy(%s.words, &%s, %s.bytes);", c, c, c);
		c_line(t, "%s.words_nr = %s.bytes / 8;", c, c);
	}
	shown_in_c(t, s, c, &layout->shape);
}

void records_in_c(struct translation *t, const struct statement *s)
{
	const struct abi_family *records = abi_family(t->tables->abi, "record");
	const json_t *of = statement_json(s, "of");
	struct c_name *event = opened_event(t, s, "records");
	const char *c, *map = text_in_c(t, s, "@*records");
	const struct c_layout *layout;
	uint64_t types = 0; /* a bit for each */
	json_t *name;
	size_t i;

	if (!event)
		return;
	json_array_foreach(of, i, name) {
		const struct abi_value *value = abi_value(records, json_string_value(name), NULL);

		if (value && value->value < 64)
			types |= UINT64_C(1) << value->value;
	}
	layout = c_layout(t, event->name, event->open, true);
	c = variable_in_c(t, s, c_text(t, "struct %s *", layout->name), &layout->shape);
	c_line(t, "%s = parse_records(%s, %s, sizeof(*%s), parse_%s, &%s_nr);", c,
	       call_field(&event->open->call, t->tables->abi, "write_backward")
		       ? c_text(t, "copy_backward(%s)", map)
		       : c_text(t, "copy_new(%s, %s)", map, text_in_c(t, s, "@keep")),
	       of ? c_text(t, "%#llx", (unsigned long long)types) : "UINT64_MAX", c, layout->name,
	       c);
	shown_in_c(t, s, c, &layout->shape);
}

/*
 * Processes and threads.
 */

void repeat_in_c(struct translation *t, const struct statement *s)
{
	const char *i = c_text(t, "i_%u", ++t->functions_made);

	c_line(t, "for (uint64_t %s = 0; %s < %s; %s++) {", i, i, text_in_c(t, s, "@repeat"), i);
	t->indent++;
	block_in_c(t, s->operands[1].made);
	t->indent--;
	c_line(t, "}");
}

/* The steps of a child, which binds names of its own, and then `last`. */
static void child_in_c(struct translation *t, const struct block *block, const char *last,
		       bool has_maps)
{
	struct c_name *names = or_exit(arena_alloc(t->arena, sizeof(t->names)));
	size_t count = t->name_count;

	memcpy(names, t->names, sizeof(t->names));
	for (size_t i = 0; !has_maps && i < count; i++)
		t->names[i].map = NULL;
	block_in_c(t, block);
	c_line(t, "%s", last);
	memcpy(t->names, names, sizeof(t->names));
	t->name_count = count;
}

void fork_in_c(struct translation *t, const struct statement *s)
{
	const char *c = variable_in_c(t, s, "int", &number_shape);
	const bool was_child = t->is_child;

	c_line(t, "%s = fork_child();", c);
	c_line(t, "if (!%s) {", c);
	t->indent++;
	/* A buffer is not there in a child: VM_DONTCOPY. */
	t->is_child = true;
	child_in_c(t, s->operands[0].made, "end_children(), exit(0);", false);
	t->is_child = was_child;
	t->indent--;
	c_line(t, "}");
}

/* A child's steps as a function; its name. */
static const char *function_in_c(struct translation *t, const struct block *block, const char *kind,
				 const char *name, const char *last)
{
	const char *function = c_text(t, "%s_%u", name, ++t->functions_made);
	struct out body = t->parts[C_BODY];
	int indent = t->indent;

	t->parts[C_BODY] = (struct out){0};
	t->indent = 1;
	child_in_c(t, block, last, true);
	c_put(&t->parts[C_FUNCTIONS], "%s%s}\n\n", c_text(t, kind, function),
	      c_taken(t, &t->parts[C_BODY]));
	t->parts[C_BODY] = body;
	t->indent = indent;
	return function;
}

void thread_in_c(struct translation *t, const struct statement *s)
{
	const char *function = function_in_c(t, s->operands[0].made,
					     "static void *%s(void *unused)\n{\n\t(void)unused;\n",
					     "thread", "return NULL;");
	static const struct c_shape thread = {.kind = C_THREAD};

	c_line(t, "%s = start_thread(%s);", variable_in_c(t, s, "uint64_t", &thread), function);
}

/* What comes behind the exec is a function that main() calls for its name. */
void exec_in_c(struct translation *t, const struct statement *s)
{
	const char *function;

	t->is_behind_exec = true;
	function = function_in_c(t, s->operands[0].made, "static void %s(void)\n{\n", "behind_exec",
				 "exit(0);");
	t->is_behind_exec = false;
	c_put(&t->parts[C_ENTRIES], "\tif (argc == 3 && !strcmp(argv[1], \"%s\"))\n\t\t%s();\n",
	      function, function);
	c_line(t, "exec_self(\"%s\");", function);
}

void wait_in_c(struct translation *t, const struct statement *s)
{
	struct c_name *name = c_named(t, json_string_value(statement_json(s, "wait")));
	const char *id = name_in_c(t, s, "wait"), *type, *c;
	struct c_shape shape = value_in_c(t, "struct end_of: exit signal:", &type);

	if (name && name->shape.kind == C_THREAD) {
		c_line(t, "join_thread(%s);", id);
	} else if (!s->expected || !s->expected->pattern) {
		c_line(t, "wait_for(%s);", id);
	} else {
		c = variable_in_c(t, s, type, &shape);
		c_line(t, "%s = end_of(%s);", c, id);
		shown_in_c(t, s, c, &shape);
	}
}

void identity_in_c(struct translation *t, enum identity as, bool may_kill)
{
	static const char *const capabilities[] = {[AS_PERFMON] =
							   "UINT64_C(1) << 38 /* CAP_PERFMON */",
						   [AS_SYS_ADMIN] = "UINT64_C(1) << CAP_SYS_ADMIN",
						   [AS_USER] = "0"};

	if (as == AS_ROOT)
		c_line(t, "must_have(!geteuid(), \"root\");");
	else if (as == AS_USER && !may_kill)
		c_line(t, "become_user();");
	else
		c_line(t, "become(%s%s);", capabilities[as],
		       may_kill ? " | UINT64_C(1) << CAP_KILL" : "");
	if (as != AS_ROOT && t->is_child)
		c_line(t, "prctl(PR_SET_PDEATHSIG, SIGKILL); /* changed uids clear it */");
}

void become_in_c(struct translation *t, const struct statement *s)
{
	identity_in_c(t, (enum identity)s->operands[0].number, s->operands[1].number != 0);
}

/*
 * The rest.
 */

/* A number, unless what is expected is text that is none. */
void text_of_file_in_c(struct translation *t, const struct statement *s)
{
	const json_t *expected = pattern_of_success(s) ? s->expected->pattern->json : NULL;
	const char *text = json_string_value(expected), *c;
	struct c_shape shape = {.kind = C_NUMBER};

	if ((text && !strchr(text, '$') && text[strspn(text, "0123456789")]) ||
	    json_object_get(expected, "like"))
		shape.kind = C_STRING;
	c = variable_in_c(t, s, shape.kind == C_STRING ? "const char *" : "uint64_t", &shape);
	c_line(t, "%s = %s(%s);", c, shape.kind == C_STRING ? "first_line_of" : "number_in",
	       text_in_c(t, s, "@text"));
	shown_in_c(t, s, c, &shape);
}

void socket_in_c(struct translation *t, const struct statement *s)
{
	const char *name = json_string_value(statement_json(s, "socket"));
	struct c_name *a = c_bind(t, c_text(t, "%s_a", name), "uint64_t", &number_shape);
	const char *c = a ? a->c : "";
	struct c_name *b = c_bind(t, c_text(t, "%s_b", name), "uint64_t", &number_shape);

	if (a && b)
		c_line(t, "make_sockets(&%s, &%s);", c, b->c);
}

/* What a name stands for is looked at where it is; an expression is a number of its own. */
void value_of_in_c(struct translation *t, const struct statement *s)
{
	const json_t *json = statement_json(s, "value");
	const char *text = json_string_value(json), *number;
	struct c_value value = {.kind = C_NUMBER, .path = ""};
	bool is_name = text && text[0] == '$' && scope_name_length(text + 1) == strlen(text + 1) &&
		       c_variable(t, text + 1, &value);

	if (!is_name || (value.kind == C_NUMBER && s->bind)) {
		number = c_number(t, json, NULL);
		value = (struct c_value){.kind = C_NUMBER, .path = ""};
		value.c = variable_in_c(t, s, "uint64_t", &number_shape);
		c_line(t, "%s = %s;", value.c, number);
	} else if (s->bind) {
		c_missing(t, "another name for \"%s\"", text);
	}
	if (s->expected && !s->expected->err && s->expected->pattern)
		c_expect_value(t, s->expected->pattern, &value);
}
