/* SPDX-License-Identifier: MIT */
/*
 * What a machine is, a row each: reports write and read it, tokens compare it, and variables and
 * the model's facts are it.
 */
#ifndef PERFABI_PROPERTY_H
#define PERFABI_PROPERTY_H

#include <jansson.h>

#include "machine/environment.h"

/* What a person would change so that a token is met, the easiest first. */
enum remedy {
	REMEDY_RIGHTS,
	REMEDY_SETTING,
	REMEDY_QUIET,
	REMEDY_KERNEL,
	REMEDY_MACHINE,
	REMEDIES
};

struct property {
	/* Its key in a report's "environment"; NULL: reports do not have it. What is not known is
	 * null there where `is_nullable`, and else left out. */
	const char *key;
	bool is_nullable;
	struct datum of; /* struct environment */
	/* How reports have what is no number or text of a member. */
	json_t *(*write)(const struct environment *env);
	int (*read)(struct environment *env, const json_t *json);
	struct {
		const char *name; /* a token compares it: paranoid>1; NULL: none does */
		enum remedy remedy;
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
