/* SPDX-License-Identifier: MIT */
/*
 * Numbers as cases write them, as C: the operators are C's own, and have C's precedence. And struct
 * perf_event_attr as an initializer; what an old header has no name for is laid over it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "language/scope.h"
#include "machine/version.h"
#include "translate/translate.h"

/* The oldest <linux/perf_event.h> that is built against. */
static const char header_version[] = "5.10";

/* A variable of every machine, as a call of a snippet; "" where it is settled here and now. */
static const struct {
	const char *name, *c;
} machine_variables[] = {{"page_size", "page_size()"},
			 {"cpus", "sysconf(_SC_NPROCESSORS_CONF)"},
			 {"cpu", "sched_getcpu()"},
			 {"pid", "getpid()"},
			 {"tid", "gettid()"},
			 {"uid", "getuid()"},
			 {"runner", "getppid()"},
			 {"unmapped", "unmapped()"},
			 {"breakpoint.bytes", "breakpoint_bytes()"}};

static const char *pmu_in_c(struct translation *t, const char *name)
{
	const size_t n = scope_pmu_name_length(name, strlen(name));

	return name[n] ? c_text(t, "cpu_of_pmu(\"%.*s\")", (int)n, name)
		       : c_text(t, "number_in(\"/sys/bus/event_source/devices/%s/type\")", name);
}

static const char *machine_variable(struct translation *t, const char *name)
{
	struct vars vars = scope_vars(t->scope);
	const char *colon, *own;
	char c[VARIABLE_NAME];
	struct value value;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(machine_variables) / sizeof(machine_variables[0]); i++)
		if (!strcmp(machine_variables[i].name, name))
			return machine_variables[i].c;
	/* Where plain hardware events count on every cpu, the one that the program is on will do.
	 */
	if (!strcmp(name, "hardware.cpu") &&
	    CPU_EQUAL(&t->scope->env->hardware.cpus, &t->scope->env->cpus_usable))
		return "sched_getcpu()";
	if (!strncmp(name, "pmu.", 4))
		return pmu_in_c(t, name + 4);
	if (!strncmp(name, "tracepoint.", 11) && (colon = strchr(name, ':'))) {
		for (const char *p = name + 11; *p && n + 1 < sizeof(c); p++)
			c[n++] = isalnum((unsigned char)*p) ? *p : '_';
		c[n] = '\0';
		n = json_object_size(t->declared);
		own = c_declare(t, c, "uint64_t");
		/* Looked up while the program is whoever began it: not everybody may. */
		if (json_object_size(t->declared) > n)
			c_put(&t->parts[C_FIRST], "\t%s = tracepoint(\"%.*s/%s\");\n", own,
			      (int)(colon - name - 11), name + 11, colon + 1);
		return own;
	}
	if (!strncmp(name, "sysctl.", 7))
		return c_text(t, "number_in(\"/proc/sys/kernel/%s\")", name + 7);
	if (vars.lookup(vars.context, name, &value, NULL) || !value.known)
		return NULL;
	return c_text(t, "/* $%s here */ UINT64_C(%llu)", name, (unsigned long long)value.bits);
}

static const struct c_member *find_member(const struct c_value *v, const char *path)
{
	for (const struct c_member *m = v->members; m && m->path; m++)
		if (!strcmp(m->path, path))
			return m;
	return NULL;
}

struct c_value c_element(struct translation *t, const struct c_value *list, const char *index)
{
	const char *path = list->path[0] ? c_text(t, "%s[]", list->path) : "";
	const struct c_member *m = find_member(list, path);

	return (struct c_value){.c = c_text(t, "%s[%s]", list->c, index),
				.kind = m ? m->kind : C_OBJECT,
				.members = list->members,
				.member = m,
				.path = path};
}

bool c_enter(struct translation *t, struct c_value *v, const char *name, size_t length)
{
	const char *path = c_text(t, "%s%s%.*s", v->path, v->path[0] ? "." : "", (int)length, name);
	const struct c_member *m = find_member(v, path);

	if (!m)
		return false;
	v->path = path;
	v->member = m;
	v->kind = m->kind;
	if (m->c[0] && m->kind != C_OBJECT) /* whose members are the struct's own */
		v->c = c_text(t, "%s.%s", v->c, m->c);
	return true;
}

bool c_variable(struct translation *t, const char *name, struct c_value *out)
{
	const struct c_name *bound = NULL;
	const char *path = name;

	/* What "a.b.c" begins with: the longest that is bound; behind it is a path. */
	for (size_t i = 0; i < t->name_count; i++) {
		size_t n = strlen(t->names[i].name);

		if (strncmp(name, t->names[i].name, n) || (name[n] && name[n] != '.') ||
		    n < (size_t)(path - name))
			continue;
		bound = &t->names[i];
		path = name + n;
	}
	path += *path == '.';
	*out = (struct c_value){.kind = C_NUMBER, .path = ""};
	if (!bound) {
		out->c = machine_variable(t, name);
		return out->c != NULL;
	}
	out->c = bound->c;
	out->kind = bound->shape.kind;
	out->members = bound->shape.members;
	for (size_t n; *path; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		if (out->kind == C_LIST && isdigit((unsigned char)*path))
			*out = c_element(t, out, c_text(t, "%.*s", (int)n, path));
		else if (!c_enter(t, out, path, n))
			return false;
	}
	return true;
}

/* What the name behind a $ stands for. Returns what is behind that. */
static const char *take_variable(struct translation *t, const char *at, struct c_value *value)
{
	char name[VARIABLE_NAME];
	size_t n = scope_name_length(at);

	snprintf(name, sizeof(name), "%.*s", (int)n, at);
	if (!c_variable(t, name, value))
		c_missing(t, "$%s", name);
	if (!value->c)
		value->c = "0";
	return at + n;
}

/* Sums beside | and shifts stand in parentheses: C warns of bare ones there. */
static const char *text_number(struct translation *t, const char *text)
{
	const bool has_bits = strpbrk(text, "|<>") != NULL;
	struct out out = {0};
	struct c_value value;
	char *behind;
	bool wide;

	while (true) {
		size_t n = strcspn(text, "|<>");
		const char *end = text + n;
		bool is_sum = has_bits && n > 1 && strcspn(text + 1, "+-") < n - 1;

		c_put(&out, "%s", is_sum ? "(" : "");
		while (text < end) {
			if (isdigit((unsigned char)*text)) { /* of 64 bits if large, or shifted */
				wide = strtoull(text, &behind, 0) > INT32_MAX ||
				       !strncmp(behind + strspn(behind, " "), "<<", 2);
				c_put(&out, wide ? "UINT64_C(%.*s)" : "%.*s", (int)(behind - text),
				      text);
				text = behind;
			} else if (*text == '$') {
				text = take_variable(t, text + 1, &value);
				c_put(&out, "%s", value.c);
			} else {
				c_put(&out, "%c", *text++);
			}
		}
		c_put(&out, "%s", is_sum ? ")" : "");
		n = strspn(text, "|<>");
		if (!n)
			return c_taken(t, &out);
		c_put(&out, " %.*s ", (int)n, text);
		text += n;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): a list holds no list */
const char *c_number(struct translation *t, const json_t *json, const struct abi_family *set)
{
	const char *text = json_string_value(json), *upper, *all = "0";
	const struct abi_value *value = set && text ? abi_value(set, text, NULL) : NULL;
	json_t *item;
	size_t i;

	if (json_is_integer(json)) {
		long long number = (long long)json_integer_value(json);

		return number > INT32_MAX || number < INT32_MIN ? c_text(t, "INT64_C(%lld)", number)
								: c_text(t, "%lld", number);
	}
	if (value) { /* as a number where an older header may not have it */
		upper = c_capitals(t, set->prefix ? set->prefix : "", value->name);
		return !set->prefix || !set->prefix[0] || set->shift ||
				       abi_version_compare(value->since, header_version) > 0
			       ? c_text(t, "%#llx /* %s */",
					(unsigned long long)value->value << set->shift, upper)
			       : upper;
	}
	if (text)
		return text_number(t, text);
	json_array_foreach(json, i, item)
		all = c_text(t, "%s%s%s", i ? all : "", i ? " | " : "", c_number(t, item, set));
	return all;
}

const char *c_string(struct translation *t, const json_t *json)
{
	const char *text = json_string_value(json), *quoted;
	struct out format = {0}, arguments = {0};
	struct c_value value;

	if (!strchr(text, '$'))
		return c_quote(t, text);
	while (*text) {
		if (*text != '$') {
			c_put(&format, *text == '%' ? "%%%c" : "%c", *text);
			text++;
			continue;
		}
		text = take_variable(t, text + 1, &value);
		c_put(&format, value.kind == C_STRING ? "%%s" : "%%llu");
		c_put(&arguments, value.kind == C_STRING ? ", %s" : ", (unsigned long long)(%s)",
		      value.c);
	}
	quoted = c_quote(t, c_taken(t, &format));
	return c_text(t, "text_of(%s%s)", quoted, c_taken(t, &arguments));
}

/* What that header has as a member of its own. */
static bool is_in_header(const struct abi_field *field)
{
	return !field->reserved && !field->of_bits &&
	       abi_version_compare(field->since, header_version) <= 0;
}

/* "l1d:read:miss", of which each part has names of its own. */
static const char *cache_event_in_c(struct translation *t, const char *text)
{
	static const char *const families[] = {"hw_cache_id", "hw_cache_op", "hw_cache_result"};
	const char *all = "";

	for (size_t i = 0; i < 3 && *text; i++) {
		size_t n = strcspn(text, ":");
		const struct abi_family *set = abi_family(t->tables->abi, families[i]);
		json_t *name = json_stringn(text, n);

		all = c_text(t, "%s%s%s << %u", all, i ? " | " : "",
			     abi_value(set, json_string_value(name), NULL)
				     ? c_capitals(t, set->prefix, json_string_value(name))
				     : "0",
			     set->shift);
		json_decref(name);
		text += n + (text[n] == ':');
	}
	return all;
}

/* Registers have names of the architecture's; their bits are written as numbers. */
static const char *field_value(struct translation *t, const struct abi_field *field,
			       const json_t *attr, const json_t *json)
{
	const char *type = json_string_value(json_object_get(attr, "type"));
	const struct abi_value *of =
		type ? abi_value(abi_family(t->tables->abi, "type"), type, NULL) : NULL;
	const struct abi_family *set = NULL;
	struct vars vars = scope_vars(t->scope);
	struct where nowhere = {0};
	struct error e = {0};
	struct value value;

	if (!field->regs)
		set = abi_field_set(field, of ? (uint32_t)of->value : UINT32_MAX, t->tables->arch);
	else
		set = abi_regs(t->tables->arch, json_object_get(attr, "sample_simd_regs_enabled"));
	if (!strcmp(field->name, "config") && json_is_string(json) &&
	    strchr(json_string_value(json), ':') && json_string_value(json)[0] != '$')
		return cache_event_in_c(t, json_string_value(json));
	if (!field->regs)
		return c_number(t, json, set);
	if (value_eval(json, set, &vars, &nowhere, &value, &e)) {
		c_missing(t, "the registers of \"%s\"", field->name);
		return "0";
	}
	return c_text(t, "UINT64_C(%#llx)", (unsigned long long)value.bits);
}

void c_note_attr(struct translation *t, const json_t *attr, bool has_bytes)
{
	const struct abi *abi = t->tables->abi;

	t->has_room = t->has_room || has_bytes || json_object_get(attr, "size");
	t->has_union = t->has_union || t->has_room;
	for (size_t i = 0; i < abi->field_count; i++)
		if (json_object_get(attr, abi->fields[i].name) && !is_in_header(&abi->fields[i]))
			t->has_union = true;
}

void c_attr(struct translation *t, const char *name, const json_t *attr, const json_t *bytes)
{
	const struct abi *abi = t->tables->abi;
	const char *offset, *bits;
	json_t *byte;

	c_line(t,
	       t->has_union ? "union long_attr %s = {.attr = {" : "struct perf_event_attr %s = {",
	       name);
	t->indent++;
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		const json_t *json = json_object_get(attr, field->name);
		const char *value =
			json && is_in_header(field) ? field_value(t, field, attr, json) : NULL;

		if (value) /* an int that is written as a number beyond INT_MAX is a negative one */
			c_line(t, ".%s = %s,", field->name,
			       field->is_signed ? c_cast(t, "int32_t", value) : value);
		else if (!json && !strcmp(field->name, "size"))
			c_line(t, t->has_union ? ".size = ATTR_SIZE," : ".size = sizeof(%s),",
			       name);
	}
	t->indent--;
	c_line(t, t->has_union ? "}};" : "};");
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		const json_t *json = json_object_get(attr, field->name);
		/* Of a bit field, from the least significant bit of its unit. */
		unsigned shift = field->width && host_order() == BIG
					 ? field->size * 8 - field->first - field->width
					 : field->first;

		if (!json || is_in_header(field))
			continue;
		bits = field_value(t, field, attr, json);
		bits = c_text(t,
			      bits[strspn(bits, "0123456789")] ? "(uint64_t)(%s)" : "UINT64_C(%s)",
			      bits);
		if (field->width && shift)
			bits = c_text(t, "%s << %u", bits, shift);
		c_line(t, "put_bits(%s.bytes + %u, %u, %s); /* %s, since Linux %s */", name,
		       field->offset, field->size, bits, field->name, field->since);
	}
	json_object_foreach((json_t *)bytes, offset, byte) {
		json_t *at = json_string(offset);

		c_line(t, "put_byte(%s.bytes, sizeof(%s), %s, %s);", name, name,
		       c_number(t, at, NULL), c_number(t, byte, NULL));
		json_decref(at);
	}
}
