/* SPDX-License-Identifier: MIT */
/*
 * Reports: one model, several printers, several at once.
 */
#ifndef PERFABI_REPORT_H
#define PERFABI_REPORT_H

#include <stdio.h>

#include "machine/host.h"
#include "include/perfabi.h"
#include "run/alarms.h"
#include "run/baseline.h"

/* What every printer is given. */
struct report {
	const struct environment *env;
	const struct host *host;
	uint64_t cases_hash; /* sources_hash() of all that was loaded */
	const struct cases *cases;
	const struct instance *const *instances;
	const struct result *results; /* in the order of the instances; NULL until the end */
	size_t count;
	unsigned rounds; /* that each was to have */
	unsigned tally[OUTCOMES];
	unsigned unreached; /* of the errors: those that the run did not come to */
	double seconds;
	int interrupted;             /* signal that ended the run, or 0 */
	const struct alarms *alarms; /* of the kernel; NULL: nobody looked */
	const char *again;           /* "perfabi run --cases DIR", for people to run a case by */
	json_t *again_words;         /* the same as a list, for programs; either may be NULL */
	const struct baseline *baseline; /* what of the results is known */
	const char *barred; /* the sentence that says why nothing could be judged; NULL: it was */
};

struct output;

struct printer {
	const char *name;
	void (*begin)(struct output *out, const struct report *report);
	/* Before an instance begins, and as it ends, in that order. Each may be NULL. */
	void (*started)(struct output *out, const struct instance *instance);
	void (*ended)(struct output *out, const struct report *report, const struct result *result);
	/* When the kernel has raised an alarm, the last in the report's list; may be NULL. */
	void (*raised)(struct output *out, const struct report *report);
	void (*end)(struct output *out, const struct report *report);
};

/* One printer writing to one file. */
struct output {
	const struct printer *printer;
	FILE *f;
	const char *path; /* NULL: stdout */
	bool colour, verbose, quiet;
	size_t put;  /* results that it has printed as they ended */
	void *state; /* the printer's own, from its begin to its end */
	int error;   /* errno of the first write that failed, or 0 */
};

/* All there are; the first is the default. */
#define PRINTERS(FIRST, NEXT) FIRST(pretty) NEXT(ktap) NEXT(tap) NEXT(junit) NEXT(json) NEXT(jsonl)

/* "pretty, ktap, ...", and "pretty (default), ktap, ...". */
#define PRINTER_FIRST_NAMED(name) #name
#define PRINTER_FIRST_AS_DEFAULT(name) #name " (default)"
#define PRINTER_NAMED(name) ", " #name
#define PRINTER_NAMES PRINTERS(PRINTER_FIRST_NAMED, PRINTER_NAMED)
#define PRINTER_CHOICE PRINTERS(PRINTER_FIRST_AS_DEFAULT, PRINTER_NAMED)

#define PRINTER_DECLARED(name) extern const struct printer printer_##name;
PRINTERS(PRINTER_DECLARED, PRINTER_DECLARED)

/* NULL if there is none of that name; `near` is offered all. */
const struct printer *printer_by_name(const char *name, struct nearest *near);

/* The hash of the cases as the reports have it: 16 digits. */
void cases_hash_text(uint64_t hash, char out[17]);

/* What every JSON report begins with: perfabi, cases, time, host, environment. A new reference. */
json_t *head_json(const struct environment *env, const struct host *host, uint64_t cases_hash);

/*
 * What every report for people begins with, behind perfabi's version and the kernel: a line each
 * for the host and what runs on it, behind `indent`.
 */
void print_host(FILE *f, const struct report *report, const char *indent);

/* One result as the JSON of the reports. A new reference. */
json_t *result_json(const struct result *result, const struct cases *cases);
json_t *tally_json(const struct report *report);

/* The end of a run that ended early: tells the printer that each that is left has ended. */
void put_unreached(struct output *out, const struct report *report);

/* The alarm as the JSON of the reports. A new reference. */
json_t *alarm_json(const struct raised *raised);

/* What the alarm says, and during which cases, in lines behind `indent`. */
void print_alarm(FILE *f, const struct raised *raised, const char *indent);

/* Appends to the list of that key in an object of lists, which has keys in the order of arrival. */
void group_add(json_t *groups, const char *key, json_t *value);

/* What came of the run in one sentence, without a full stop; cut to fit. */
void report_verdict(const struct report *report, char *out, size_t size);

/* A suite for printers that write it as a whole, when its last case has ended. */
struct suite {
	const struct instance *first; /* of those that were picked */
	size_t left;                  /* cases that have not ended */
	struct {
		size_t tests, failures, errors, skipped; /* skipped: with the known failures */
		double seconds;
	} totals;
	FILE *f; /* writes `text`: its cases so far; closed by who writes the suite */
	char *text;
	size_t size;
	json_t *skips; /* of KTAP: by token, the reasons */
	size_t lines;  /* of KTAP */
};

struct suites {
	json_t *by_name; /* indices in the list */
	struct suite *list;
	size_t count, put;
};

struct suites *suites_begin(const struct report *report);

/* The suite of a case that has ended, which is counted; `left` is 0 behind the last. */
struct suite *suite_of(struct suites *suites, const struct result *result);
void suites_end(struct suites *suites);

/*
 * The lines that say what is wrong with a result, each behind `indent`; with the command that runs
 * it again, which begins with `again` (NULL: none is told).
 */
void print_details(FILE *f, const struct result *result, const char *again, const char *indent);

#endif
