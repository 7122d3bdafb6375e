/* SPDX-License-Identifier: MIT */
/*
 * A member of a struct as data: a row of a table says where its number or text stands.
 */
#ifndef PERFABI_DATUM_H
#define PERFABI_DATUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum datum_kind {
	NO_MEMBER,
	A_BOOL,
	AN_INT,
	AN_UNSIGNED,
	A_LONG,
	AN_UNSIGNED_LONG,
	A_LONG_LONG,
	AN_UNSIGNED_LONG_LONG,
	TEXT_OF /* an array of char; empty: it is not known */
};

enum { SYSCTL_ABSENT = -1000000 };

/* Which numbers say that it is not known. */
enum datum_known { ALWAYS_KNOWN, UNKNOWN_IF_0, UNKNOWN_IF_NEGATIVE, UNKNOWN_IF_ABSENT };

struct datum {
	enum datum_kind kind;
	enum datum_known known;
	size_t at, size;
};

#define DATUM_KIND(type, name)                                                                     \
	_Generic(((type *)0)->name, bool                                                           \
		 : A_BOOL, int                                                                     \
		 : AN_INT, unsigned                                                                \
		 : AN_UNSIGNED, long                                                               \
		 : A_LONG, unsigned long                                                           \
		 : AN_UNSIGNED_LONG, long long                                                     \
		 : A_LONG_LONG, unsigned long long                                                 \
		 : AN_UNSIGNED_LONG_LONG, char *                                                   \
		 : TEXT_OF)

/* In a row: DATUM(struct environment, page_size, UNKNOWN_IF_0). */
#define DATUM(type, name, known)                                                                   \
	{                                                                                          \
		DATUM_KIND(type, name), known, offsetof(type, name), sizeof(((type *)0)->name)     \
	}

/* Whether `object` knows it; *value is the number, with its sign. Of a text, whether there is one.
 */
bool datum_get(const void *object, const struct datum *datum, uint64_t *value);

/* Sets a number that is not known, or not told. */
void datum_forget(void *object, const struct datum *datum);

/* A number cut to the member's width, a text to its room. */
void datum_set(void *object, const struct datum *datum, uint64_t value);
void datum_set_text(void *object, const struct datum *datum, const char *text);

#endif
