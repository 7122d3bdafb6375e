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
#include "step/in_c.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"

static const struct argument *argument_at(const struct statement *s, const char *key, size_t length,
					  size_t *index)
{
	const struct argument *a = s->verb->arguments;

	for (*index = 0; a[*index].key; ++*index)
		if (strlen(a[*index].key) == length && !strncmp(a[*index].key, key, length))
			return &a[*index];
	return NULL;
}

const struct block *block_of(const struct statement *s, const char *key)
{
	static const struct block none;
	size_t i;

	return argument_at(s, key, strlen(key), &i) && s->operands[i].made ? s->operands[i].made
									   : &none;
}

const char *name_in_c(struct translation *t, const struct statement *s, const char *key)
{
	const char *name = json_string_value(statement_json(s, key));
	struct c_value value;

	if (name && c_variable(t, name, &value))
		return value.c;
	c_missing(t, "the name \"%s\"", name ? name : key);
	return "0";
}

/* The same as an int, which file descriptors are. */
static const char *fd_in_c(struct translation *t, const struct statement *s, const char *key)
{
	const char *name = name_in_c(t, s, key);

	return c_is_int(t, name) ? name : c_text(t, "(int)%s", name);
}

bool is_refusal(const struct statement *s)
{
	return s->expected && s->expected->err;
}

static const struct pattern *pattern_of_success(const struct statement *s)
{
	return s->expected && !s->expected->err ? s->expected->pattern : NULL;
}

void shown_in_c(struct translation *t, const struct statement *s, const char *value,
		const struct c_shape *shape)
{
	if (pattern_of_success(s))
		c_expect(t, s->expected->pattern, value, shape);
}

/* A member: "signo:", "ino=st_ino", "value?has_value"; or a list's element: "ids[]=". */
static struct c_member member_in_c(struct translation *t, const char *text, size_t length)
{
	static const char ends[] = "=$[{?: ";
	static const char *const words[] = {"", NULL};
	size_t n = strcspn(text, ends), from = 0, end;
	struct c_member m = {.kind = C_NUMBER};
	char suffix;

	if (!strncmp(text + n, "[]=", 3))
		n += 2;
	if (text[n] == '=')
		from = n + 1;
	end = from ? from + strcspn(text + from, ends) : n;
	suffix = end < length ? text[end] : '\0';
	m.path = c_text(t, "%.*s", (int)n, text);
	m.c = c_text(t, "%.*s", (int)(end - from), text + from);
	if (suffix == ':') {
		m.kind = C_BITS;
		m.words = words;
		m.prefix = c_text(t, "%.*s", (int)(length - end - 1), text + end + 1);
	} else if (suffix == '?') {
		m.has = c_text(t, "%.*s", (int)(length - end - 1), text + end + 1);
	} else if (suffix) {
		m.kind = suffix == '$' ? C_STRING : suffix == '[' ? C_LIST : C_OBJECT;
	}
	return m;
}

struct c_shape value_in_c(struct translation *t, const char *text, const char **type)
{
	size_t n = strcspn(text, ":"), count = 0, room = 1;
	const char *at = text + n + strspn(text + n, ": ");
	struct c_member *members;

	for (const char *p = at; *p; p++)
		room += *p == ' ';
	*type = c_text(t, "%.*s", (int)n, text);
	members = arena_alloc(t->arena, (room + 1) * sizeof(*members));
	if (!members)
		c_missing(t, "a value, for want of memory");
	for (; members && *at; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		members[count++] = member_in_c(t, at, n);
	}
	return (struct c_shape){.kind = (*type)[strlen(*type) - 1] == '*' ? C_LIST
					: count                           ? C_OBJECT
									  : C_NUMBER,
				.members = members};
}

const char *variable_in_c(struct translation *t, const struct statement *s, const char *type,
			  const struct c_shape *shape)
{
	char own[VARIABLE_NAME];
	struct c_name *name = s->bind ? c_bind(t, s->bind, type, shape) : NULL;
	const char *c = name ? c_text(t, "%s", name->c) : "";

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

static void append_text(struct filling *f, const char *text)
{
	c_put(f->t, &f->out, "%s", text);
}

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
static void append_words(struct filling *f, const struct argument *a, uint64_t number)
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
	append_text(f, all[0] ? all : "0");
}

static void append_argument(struct filling *f, const struct argument *a,
			    const struct operand *operand)
{
	struct translation *t = f->t;
	const json_t *json = operand->json;

	switch (a->type->c) {
	case C_AS_NUMBER:
		append_text(f, json ? c_number(t, json, NULL)
				    : c_text(t, "%llu", (unsigned long long)a->fallback));
		break;
	case C_AS_FD:
		append_text(f, fd_in_c(t, f->s, a->key));
		break;
	case C_AS_TEXT:
		append_text(f, json ? c_string(t, json) : "\"\"");
		break;
	case C_AS_TARGET:
		append_text(f, json_string_value(json)[0] == '/' ? c_string(t, json)
								 : fd_in_c(t, f->s, a->key));
		break;
	case C_AS_NAME:
		append_text(f, json_string_value(json));
		break;
	case C_AS_WORDS:
		append_words(f, a, operand_number(a, operand));
		break;
	case C_AS_TRUTH:
		append_text(f, operand_number(a, operand) ? "true" : "false");
		break;
	}
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
		c_put(f->t, &f->out, "%.*s", (int)n, text);
		text += n;
		if (text == end)
			return;
		text++;
		if (*text == '=') {
			append_text(f, variable_of(f));
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
		if (name && name->map[0])
			append_text(f, name->map);
		else if (is_map)
			c_missing(f->t, "the buffer of what is not mapped here");
		else if (a)
			append_argument(f, a, &f->s->operands[i]);
		else
			c_missing(f->t, "the argument \"%.*s\"", (int)n, text - n);
	}
}

const char *text_in_c(struct translation *t, const struct statement *s, const char *text)
{
	struct filling f = {.t = t, .s = s};

	fill_in(&f, text, text + strlen(text));
	return c_taken(t, &f.out);
}

const char *checked_in_c(struct translation *t, const struct statement *s, const char *call)
{
	if (s->verb->kind != CALLS)
		return c_text(t, "needed(%s)", call);
	return c_text(t, "expect_errno(%s, %s)", call,
		      is_refusal(s) ? errno_name(s->expected->err) : "0");
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
			c_put(t, &t->parts[C_BODY], "\n");
		before = t->lines;
		is_first = false;
		statement_in_c(t, s);
	}
}
