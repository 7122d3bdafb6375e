/* SPDX-License-Identifier: MIT */
/*
 * The case files, loaded strictly, and the instances that they expand to: a case run once as each
 * identity, on each vehicle, with each row of its table.
 */
#ifndef PERFABI_CASE_H
#define PERFABI_CASE_H

#include <jansson.h>

#include "step/program.h"
#include "text/doc.h"

enum kind { CONFORMANCE, CAPABILITY };

/* One thing to run: who, on what, with which row. */
struct instance {
	char *id;
	const char *suite, *name, *title;
	struct who who;
	enum kind kind;
	bool alone;              /* nothing else runs meanwhile */
	const json_t *spec;      /* complete */
	struct program *program; /* which the other identities have, too */
	const struct source *source;
	size_t case_index; /* in the source's `cases` */
};

/* Everything that is loaded from cases/, but for the ABI. */
struct cases {
	struct tables tables;
	struct arena shapes; /* of what the tables say that is shown */
	json_t *checks;      /* the kernel's checks, or NULL */
	json_t *bases;       /* base events, by name, or NULL */
	struct instance *list;
	size_t count;
	const struct instance **by_id; /* all of them, sorted by id */
	struct program **programs;     /* each once */
	size_t program_count;
	json_t *storage; /* the files, and what is kept of their cases */
	bool are_some;   /* there may be cases that are not loaded */
	bool are_given;  /* of files that were named, in place of the built-in ones */
};

/* What a row gives beside its value. */
struct row_context {
	const char *parameter; /* of `each`, or NULL */
	const json_t *rows;    /* all of them, by name; an empty object without `each` */
};

/*
 * The architecture that a list of tokens demands, whose names the case has on every machine: that
 * it cannot run here is no error of it, and a name that is wrong there is one everywhere. NULL:
 * any.
 */
const struct abi_arch *case_arch(const json_t *requirements, const struct abi *abi);

/* Whether they are those of a case for kernels that do not have perf_event_open(2), as others want.
 */
bool case_is_without_call(const json_t *requirements);

/*
 * Compiles what case_read() has found well formed. Takes the reference to `definition`.
 * 0, or a negative errno with `e` filled; program_free() it in any case.
 */
int case_compile(struct program *out, json_t *definition, const struct cases *cases,
		 const struct row_context *row, const struct where *w, struct error *e);

/*
 * What a case file is made of: its spec, its defaults, a case as it stands, and as case_complete()
 * puts it together; and vehicles.json.
 */
extern const struct doc_type case_spec_type, case_defaults_type, case_type, case_complete_type,
	vehicles_type;

/* Whether it is well formed, but for what is compiled. 0, or a negative errno with `e` filled. */
int case_read(const struct doc_type *type, const json_t *json, const struct cases *cases,
	      const struct where *w, struct error *e);

/* The same of a name of a vehicle, or a list of such, NULL: none. */
int case_check_vehicles(const json_t *vehicle, const struct cases *cases, const struct where *w,
			struct error *e);

/* Words of a-z and 0-9 joined by single . or -: what KTAP, LAVA and KCIDB take unchanged. */
bool case_is_id(const char *text);

enum kind case_kind(const json_t *json);

/* The case's member, or else the one in `defaults`; NULL if neither has it. */
const json_t *case_own_or_default(const json_t *own, const json_t *defaults, const char *key);

/*
 * The case `one`, its row put in, with the file's defaults and the vehicle (of vehicles.json; NULL:
 * none) merged in, as it is compiled and shown. Members of a wrong type stay as they are, for the
 * check to find. A new reference.
 */
json_t *case_complete(const json_t *file, const json_t *one, const json_t *vehicle);

/*
 * Puts, in each `open` of the file that has a `base`, the open of that name under what is written
 * there. 0, or a negative errno with `e` filled.
 */
int bases_apply(json_t *file, const json_t *bases, const struct where *w, struct error *e);

#endif
