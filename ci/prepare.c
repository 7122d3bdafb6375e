/* SPDX-License-Identifier: MIT */
/*
 * Writes the tables of cases/abi as C: what abi_load() makes of the JSON, for programs that would
 * else parse it each time they start. It runs where perfabi is built, whatever machine that is for:
 * nothing in its output hangs on the size or order of words.
 *
 * usage: prepare FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/events.h"

enum kind { FAMILY, VALUE, FIELD, SIZE, ARCH, MEND, LAYOUT, NODE, NAMES };

struct array {
	enum kind kind;
	const void *first;
	size_t count;
};

/* All arrays that there are; each is walked once to find them, and once to be written. */
struct tables {
	struct array *arrays;
	size_t count, capacity;
	FILE *out; /* NULL: they are being found */
};

static void put_text(struct tables *t, const char *member, const char *text)
{
	if (!t->out || !text)
		return;
	fprintf(t->out, "%s\"", member);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		fprintf(t->out, *c < ' ' || *c > '~' || strchr("\"\\?", *c) ? "\\%03o" : "%c", *c);
	fputs("\",", t->out);
}

static void put_number(struct tables *t, const char *member, uint64_t number)
{
	if (t->out && number)
		fprintf(t->out, "%s0x%llx,", member, (unsigned long long)number);
}

static size_t size_of(enum kind kind)
{
	static const size_t sizes[] = {
		[FAMILY] = sizeof(struct abi_family), [VALUE] = sizeof(struct abi_value),
		[FIELD] = sizeof(struct abi_field),   [SIZE] = sizeof(struct abi_size),
		[ARCH] = sizeof(struct abi_arch),     [MEND] = sizeof(struct abi_mend),
		[LAYOUT] = sizeof(struct layout),     [NODE] = sizeof(struct layout_node),
		[NAMES] = sizeof(const char *),
	};

	return sizes[kind];
}

/* The array that has it, and its place there; NULL: none has. */
static const struct array *find(const struct tables *t, const void *it, size_t *index)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct array *array = &t->arrays[i];
		size_t offset = (size_t)((uintptr_t)it - (uintptr_t)array->first);

		*index = offset / size_of(array->kind);
		if ((uintptr_t)it >= (uintptr_t)array->first && *index < array->count)
			return array;
	}
	return NULL;
}

static void put_pointer(struct tables *t, const char *member, const void *to)
{
	size_t index;
	const struct array *array;

	if (!t->out || !to)
		return;
	array = find(t, to, &index);
	if (!array) {
		fprintf(stderr, "prepare:%s what is in no table\n", member);
		exit(1);
	}
	/* of what the loader still fills, the pointers are not const */
	fprintf(t->out, "%s(void *)&t%zu[%zu],", member, (size_t)(array - t->arrays), index);
}

static void put_array(struct tables *t, const char *member, enum kind kind, const void *first,
		      size_t count)
{
	size_t index;

	if (!first || !count)
		return;
	if (!t->out && !find(t, first, &index)) {
		if (list_grow(&t->arrays, t->count, &t->capacity, sizeof(*t->arrays)))
			exit(1);
		t->arrays[t->count++] = (struct array){kind, first, count};
	}
	put_pointer(t, member, first);
}

/* Of the struct that `one` points to. Zero is what a member is without a word. */
#define TEXT(m) put_text(t, "." #m "=", one->m)
#define NUMBER(m) put_number(t, "." #m "=", (uint64_t)one->m)
#define POINTER(m) put_pointer(t, "." #m "=", one->m)
#define ARRAY(kind, m, n) put_array(t, "." #m "=", kind, one->m, one->n), NUMBER(n)
#define ONE(kind, m) put_array(t, "." #m "=", kind, one->m, 1)
#define LIST(m) ARRAY(NODE, m.nodes, m.count)
#define AMOUNT(m)                                                                                  \
	NUMBER(m.from), NUMBER(m.number), NUMBER(m.prefix), POINTER(m.field), NUMBER(m.less),      \
		NUMBER(m.per)

static void put_names(struct tables *t, const char *member, const char *const *names)
{
	size_t n = 0;

	while (names && names[n])
		n++;
	put_array(t, member, NAMES, names, n + 1);
}

static void put_family(struct tables *t, const struct abi_family *one)
{
	TEXT(name), TEXT(prefix), NUMBER(kind), NUMBER(mask), NUMBER(shift);
	NUMBER(declared), NUMBER(omit_zero);
	ARRAY(VALUE, values, count);
}

static void put_value(struct tables *t, const struct abi_value *one)
{
	TEXT(name), TEXT(since), NUMBER(value);
	ONE(LAYOUT, layout);
	put_names(t, ".records=", one->records);
	TEXT(followed_by.field), NUMBER(followed_by.align);
	NUMBER(bits.first), NUMBER(bits.width), POINTER(bits.set), POINTER(bits.only);
	NUMBER(bits.is);
}

static void put_field(struct tables *t, const struct abi_field *one)
{
	_Static_assert(sizeof(one->by_type) / sizeof(one->by_type[0]) == 8, "all of them below");
	TEXT(name), TEXT(since), TEXT(alias_of), TEXT(when);
	NUMBER(offset), NUMBER(size), NUMBER(first), NUMBER(width);
	NUMBER(is_signed), NUMBER(reserved), NUMBER(of_bits), NUMBER(regs);
	POINTER(set), POINTER(by_type[0]), POINTER(by_type[1]), POINTER(by_type[2]);
	POINTER(by_type[3]), POINTER(by_type[4]), POINTER(by_type[5]), POINTER(by_type[6]);
	POINTER(by_type[7]);
}

#define REGISTERS(of)                                                                              \
	TEXT(of.name), TEXT(of.prefix), NUMBER(of.mask), ARRAY(VALUE, of.values, of.count)

static void put_arch(struct tables *t, const struct abi_arch *one)
{
	TEXT(name), TEXT(since), TEXT(prefix), TEXT(booted);
	REGISTERS(regs);
	TEXT(simd.since), REGISTERS(simd.regs), REGISTERS(simd.vectors), REGISTERS(simd.pred);
	put_names(t, ".machines=", one->machines);
	NUMBER(reserved[0]), NUMBER(reserved[1]), NUMBER(extended);
}

static void put_node(struct tables *t, const struct layout_node *one)
{
	NUMBER(kind), TEXT(name), NUMBER(is_named_by_others);
	switch (one->kind) {
	case LAYOUT_NUMBER:
		NUMBER(number.type), POINTER(number.set), NUMBER(number.keep);
		NUMBER(number.possible), NUMBER(number.known), NUMBER(number.counts);
		break;
	case LAYOUT_WORD:
		NUMBER(word.type), POINTER(word.fields);
		break;
	case LAYOUT_STRING:
	case LAYOUT_BYTES:
	case LAYOUT_OPAQUE:
	case LAYOUT_ATTR:
		AMOUNT(text.size), POINTER(text.used), NUMBER(text.readable),
			NUMBER(text.tracepoint);
		break;
	case LAYOUT_PAD:
	case LAYOUT_ALIGN:
		NUMBER(zeros);
		break;
	case LAYOUT_ARRAY:
		AMOUNT(array.count), NUMBER(array.type), POINTER(array.markers);
		break;
	case LAYOUT_LOOP:
		AMOUNT(loop.count), LIST(loop.body), NUMBER(loop.body.smallest), NUMBER(loop.bare);
		break;
	case LAYOUT_OBJECT:
		LIST(object);
		break;
	case LAYOUT_REGS:
		POINTER(regs.mask), NUMBER(regs.of), POINTER(regs.number);
		AMOUNT(regs.qwords), POINTER(regs.width), POINTER(regs.simd);
		break;
	case LAYOUT_INDEX:
		POINTER(index);
		break;
	case LAYOUT_WHEN:
		NUMBER(when.condition.test), POINTER(when.condition.attr);
		POINTER(when.condition.field), NUMBER(when.condition.value);
		LIST(when.then), LIST(when.other);
		break;
	case LAYOUT_USE:
		POINTER(use);
		break;
	case LAYOUT_SWITCH:
		POINTER(choice.field), POINTER(choice.over);
		break;
	}
}

static void put_element(struct tables *t, enum kind kind, const void *element)
{
	switch (kind) {
	case FAMILY:
		put_family(t, element);
		break;
	case VALUE:
		put_value(t, element);
		break;
	case FIELD:
		put_field(t, element);
		break;
	case SIZE: {
		const struct abi_size *one = element;

		TEXT(name), TEXT(since), NUMBER(size);
		break;
	}
	case ARCH:
		put_arch(t, element);
		break;
	case MEND: {
		const struct abi_mend *one = element;

		TEXT(name), TEXT(what), TEXT(commit);
		put_names(t, ".in=", one->in);
		break;
	}
	case LAYOUT: {
		const struct layout *one = element;

		TEXT(name), NUMBER(owner), LIST(list);
		break;
	}
	case NODE:
		put_node(t, element);
		break;
	case NAMES:
		put_text(t, "", *(const char *const *)element);
		break;
	}
}

static void put_abi(struct tables *t, const struct abi *one)
{
	TEXT(newest), TEXT(kept), NUMBER(attr_smallest), NUMBER(attr_size);
	ARRAY(FAMILY, families, family_count);
	ARRAY(FIELD, fields, field_count);
	ARRAY(SIZE, sizes, size_count);
	ARRAY(ARCH, archs, arch_count);
	ARRAY(MEND, mends, mend_count);
	ARRAY(LAYOUT, layouts, layout_count);
}

/* Declares an array, of which others may have the address before it is written. */
static void put_head(const struct tables *t, size_t i, const char *end)
{
	static const char *const types[] = {
		[FAMILY] = "struct abi_family", [VALUE] = "struct abi_value",
		[FIELD] = "struct abi_field",   [SIZE] = "struct abi_size",
		[ARCH] = "struct abi_arch",     [MEND] = "struct abi_mend",
		[LAYOUT] = "struct layout",     [NODE] = "struct layout_node",
		[NAMES] = "char *const",
	};

	fprintf(t->out, "static const %s t%zu[%zu]%s", types[t->arrays[i].kind], i,
		t->arrays[i].count, end);
}

static void put_tables(FILE *out, const struct abi *abi, const struct paths *paths)
{
	struct tables t = {0};

	put_abi(&t, abi);
	for (size_t i = 0; i < t.count; i++)
		for (size_t k = 0; k < t.arrays[i].count; k++) {
			const struct array *array = &t.arrays[i];

			put_element(&t, array->kind,
				    (const char *)array->first + k * size_of(array->kind));
		}
	t.out = out;
	fputs("/* Made by ci/prepare.c. */\n#include \"stream/events.h\"\n", out);
	for (size_t i = 0; i < t.count; i++)
		put_head(&t, i, ";\n");
	for (size_t i = 0; i < t.count; i++) {
		const struct array *array = &t.arrays[i];

		put_head(&t, i, " = {\n");
		for (size_t k = 0; k < array->count; k++) {
			fputs(array->kind == NAMES ? "" : "{", out);
			put_element(&t, array->kind,
				    (const char *)array->first + k * size_of(array->kind));
			fputs(array->kind == NAMES ? "\n" : "},\n", out);
		}
		fputs("};\n", out);
	}
	fputs("const struct abi abi_prepared = {", out);
	put_abi(&t, abi);
	fputs("};\nstatic const char *const paths[] = {\n", out);
	for (size_t i = 0; i < paths->count; i++)
		fprintf(out, "\"%s\",\n", paths->names[i]);
	fputs("};\nconst struct paths paths_prepared = {.names = paths, "
	      ".count = sizeof(paths) / sizeof(paths[0])};\n",
	      out);
	free(t.arrays);
}

int main(int argc, char **argv)
{
	struct sources sources;
	struct events events;
	struct error e = {0};
	struct paths paths;
	struct abi *abi = NULL;

	if (argc != 2)
		return 2;
	if (sources_read(&sources, argv[1], &e) || !(abi = abi_load(&sources, &e)) ||
	    events_init(&events, abi, &e) || events_gather(&events, &paths)) {
		error_print(stderr, "prepare", &e);
		return 1;
	}
	put_tables(stdout, abi, &paths);
	paths_free(&paths);
	events_free(&events);
	abi_free(abi);
	sources_free(&sources);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
