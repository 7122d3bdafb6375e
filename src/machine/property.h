/* SPDX-License-Identifier: MIT */
/*
 * What a machine is, a row each: reports write and read it, tokens compare it, and variables and
 * the model's facts are it.
 */
#ifndef PERFABI_PROPERTY_H
#define PERFABI_PROPERTY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/environment.h"

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

/* What a person would change so that a token is met, the easiest first. */
enum remedy_kind {
	REMEDY_RIGHTS,
	REMEDY_SETTING,
	REMEDY_QUIET,
	REMEDY_KERNEL,
	REMEDY_MACHINE,
	REMEDY_KINDS
};

struct property {
	/* Its key in a report's "environment"; NULL: reports do not have it. What is not known is
	 * null there where `is_nullable`, and else left out. */
	const char *key;
	bool is_nullable;
	struct datum of; /* struct environment */
	/* How reports have what is no number or text of a member. */
	json_t *(*write)(const struct environment *env);
	void (*read)(struct environment *env, const json_t *json);
	struct {
		const char *name; /* a token compares it: paranoid>1; NULL: none does */
		enum remedy_kind remedy;
		const char *example, *help;
		const char *found; /* "perf_event_paranoid is %lld" */
		const char *in_c;  /* as in struct form */
	} token;
	struct {
		const char *name, *help; /* $name; NULL: there is none */
	} variable;
	struct {
		const char *name, *about, *unknown; /* NULL: there is none */
		bool is_signed;
	} fact;
};

/* NULL behind the last. */
const struct property *property_at(size_t i);

#endif
