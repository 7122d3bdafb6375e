/* SPDX-License-Identifier: MIT */
/*
 * Parts of a case as C: names, expressions, attrs, patterns, what a ring buffer holds. What is
 * written compiles on its own with any <linux/perf_event.h> since Linux 5.10; what that one does
 * not know is written as a number.
 *
 * Lists are written as two things: `r` and `r_nr`, so many there are.
 */
#ifndef PERFABI_TRANSLATE_H
#define PERFABI_TRANSLATE_H

#include "call/call.h"
#include "call/tables.h"
#include "language/pattern.h"
#include "text/arena.h"
#include "text/out.h"

enum { C_NAMES = 128 };

/* What a value is in C. */
enum c_kind {
	C_NUMBER = 1, /* uint64_t */
	C_BITS,       /* the same, whose bits or values have names */
	C_STRING,     /* const char * */
	C_BYTES,      /* const unsigned char *, and how many */
	C_OBJECT,     /* its members are told apart */
	C_LIST,       /* of objects with members, or of numbers */
	C_THREAD      /* the id of a thread, uint64_t */
};

/* A member of a value; of an element of a list within it, behind "[]": "values[].id". */
struct c_member {
	const char *path; /* as patterns have it; of a list's element itself, "values[]" */
	const char *c;    /* as C has it, behind the value or the element: "sample_id_time" */
	enum c_kind kind;
	const struct abi_family *set;  /* of C_BITS: the names, */
	const struct abi_family *rest; /* and those of the bits above the ones of an enum `set` */
	const char *prefix;            /* of C_BITS without: "POLL" for "in" as POLLIN; else NULL */
	const char *has;               /* what says whether it is there; NULL: it always is */
};

struct c_shape {
	enum c_kind kind;
	const struct c_member *members; /* the last has no path */
};

/* A value: the expression, and its place among the members of what it is a part of. */
struct c_value {
	const char *c;
	enum c_kind kind;
	const struct c_member *members,
		*member;  /* member NULL: it is the whole, or none is known */
	const char *path; /* "" is the whole, "values[]" an element */
	bool is_certain;  /* `bind` may bind here: nothing turns it round */
	bool is_said;     /* each part of a pattern on it becomes a line of its own */
};

/* What a name of the case stands for. */
struct c_name {
	const char *name, *c;
	struct c_shape shape;
	const struct opening *open; /* of an event; else NULL */
	const char *map;            /* ... and where its buffer is mapped; or NULL */
};

/*
 * What has been written of an event that is opened so: "struct NAME", which is what read(2) gives
 * or what "parse_NAME()" makes of one of its records.
 */
struct c_layout {
	const struct opening *open;
	bool of_records;
	const char *name;
	struct c_shape shape;
};

/* Texts that a program is put together of. */
enum {
	C_COMMENT,
	C_OWN, /* definitions, if they are named */
	C_TYPES,
	C_FUNCTIONS,
	C_ENTRIES, /* what main() begins with: where it goes behind an exec */
	C_FIRST,   /* what it does before it becomes anybody else */
	C_BODY,
	C_PARTS
};

struct translation {
	const struct tables *tables;
	const struct scope *scope; /* what is settled on this machine */
	struct arena *arena;
	json_t *words; /* what is spoken of: of the rest of what events tell, nothing is read */
	bool has_signals, has_children;
	bool has_union; /* an attr has what no member of the header's struct is: `union long_attr`;
			 */
	bool has_room;  /* it is longer than that struct, or bytes lie behind it */
	bool has_parts; /* parts of mappings are named, so each has its length in a variable */
	struct out parts[C_PARTS];
	bool is_behind_exec,
		is_child; /* whose steps these are: what was begun goes with its parent */
	int indent;
	unsigned lines; /* of c_line() */
	struct c_name names[C_NAMES];
	size_t name_count;
	struct c_layout layouts[C_NAMES];
	size_t layout_count;
	json_t *declared;  /* globals and structs, by name: their types */
	json_t *variables; /* by type: those names, as they are declared */
	unsigned functions_made;
	char missing[256]; /* the first thing that cannot be written as C; empty: none */
};

/* Text behind what is there, as printf(3) has it. */
void c_put(struct out *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All of that as text in the arena; it begins anew. */
const char *c_taken(struct translation *t, struct out *from);

/* A line of the body, or of a function; indented, and ended. */
void c_line(struct translation *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes what cannot be written. */
void c_missing(struct translation *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The C name of a variable of that type: declared, once a name and type. "" if there is no room.
 */
const char *c_declare(struct translation *t, const char *name, const char *type);

/* Whether that variable is a file descriptor, or a process, as the C library has them. */
bool c_is_int(const struct translation *t, const char *c);

/* What that name stands for from now on: of that shape. NULL if there is no room. */
struct c_name *c_bind(struct translation *t, const char *name, const char *type,
		      const struct c_shape *shape);
struct c_name *c_named(struct translation *t, const char *name);

/* The same of a variable that is there. */
struct c_name *c_bind_as(struct translation *t, const char *name, const char *c,
			 const struct c_shape *shape);

/* Text in the arena, as printf(3) has it; "" without memory. */
const char *c_text(struct translation *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* `text` as a C string, quoted, with the names in it left as they are. */
const char *c_quote(struct translation *t, const char *text);

/* The text with its $names put in, as an expression of type const char *. */
const char *c_string(struct translation *t, const json_t *text);

/*
 * A number as the case writes it; `set` (may be NULL) has the names that may stand in it. "0" after
 * c_missing() if it cannot be said.
 */
const char *c_number(struct translation *t, const json_t *json, const struct abi_family *set);

/* A constant's name: the prefix, and the name in capitals. */
const char *c_capitals(struct translation *t, const char *prefix, const char *name);

/* The expression as that type; a plain number is left as it is, and what is an int already. */
const char *c_cast(struct translation *t, const char *type, const char *c);

/* Declares and fills an attr called `name`, of that type. */
void c_attr(struct translation *t, const char *name, const json_t *attr, const json_t *bytes);

/* What an attr of the case needs, which decides the type of all of them. */
void c_note_attr(struct translation *t, const json_t *attr, bool has_bytes);

/* What `$path` stands for; false: for nothing in C. */
bool c_variable(struct translation *t, const char *path, struct c_value *out);

/* An element of a list; and the member of that name, false if it is not known. */
struct c_value c_element(struct translation *t, const struct c_value *list, const char *index);
bool c_enter(struct translation *t, struct c_value *v, const char *name, size_t length);

/*
 * Checks: one `expect()` for each part of the pattern, on the value `c`; what it binds is bound.
 */
void c_expect(struct translation *t, const struct pattern *pattern, const char *c,
	      const struct c_shape *shape);
void c_expect_value(struct translation *t, const struct pattern *pattern,
		    const struct c_value *value);

/* That of the event called `name`; events that are opened alike have the same. */
const struct c_layout *c_layout(struct translation *t, const char *name, const struct opening *open,
				bool of_records);

/*
 * Writes the program: its comment, headers, what it names of its own definitions and of the
 * snippets, the text. A definition of its own replaces the snippet of that name.
 */
void c_write(FILE *f, const char *comment, const char *own, const char *text);

/* Whether there is a snippet of that name. */
bool c_is_snippet(const char *name);

#endif
