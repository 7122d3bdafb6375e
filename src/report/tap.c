/* SPDX-License-Identifier: MIT */
/*
 * TAP 13 (flat) and KTAP 1 (a test a suite, its cases nested two spaces deep).
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "language/one_line.h"

/* A reason in one line, without what would end or comment a TAP description. */
static void put_plain(FILE *f, const char *text)
{
	if (text)
		one_line_print(f, text, "#\n");
}

static bool is_ok(int outcome, bool ktap)
{
	return outcome == PASS || outcome == SKIP || (ktap && outcome == XFAIL);
}

static void test_line(FILE *f, const char *indent, size_t number, const struct result *result,
		      bool ktap)
{
	fprintf(f, "%s%sok %zu - %s", indent, is_ok(result->verdict.outcome, ktap) ? "" : "not ",
		number, result->instance->id);
	switch (result->verdict.outcome) {
	case SKIP:
		fprintf(f, " # SKIP ");
		put_plain(f, result->token);
		fputs(": ", f);
		put_plain(f, result->reason);
		break;
	case XFAIL:
		fprintf(f, ktap ? " # XFAIL " : " # TODO ");
		put_plain(f, result->reason);
		break;
	case ERROR:
		if (ktap)
			fprintf(f, " # ERROR");
		break;
	default:
		break;
	}
	fputc('\n', f);
}

/* Failures as comment lines, which every reader of TAP passes on to people. */
static void details(FILE *f, const char *indent, const struct result *result)
{
	char *text = NULL, prefix[16];
	size_t size = 0;
	FILE *lines;

	if (result->verdict.outcome == PASS || result->verdict.outcome == SKIP ||
	    result->verdict.outcome == XFAIL)
		return;
	lines = open_memstream(&text, &size);
	if (!lines)
		return;
	snprintf(prefix, sizeof(prefix), "%s# ", indent);
	print_details(lines, result, prefix);
	fclose(lines);
	fputs(text, f);
	free(text);
}

static void header(FILE *f, const struct report *report, const char *version)
{
	fprintf(f, "%s\n# perfabi %s, Linux %s %s, attr size %u, perf_event_paranoid %d\n", version,
		perfabi_version, report->env->release, report->env->machine, report->env->attr_size,
		report->env->paranoid);
}

static void tap_end(struct output *out, const struct report *report)
{
	header(out->f, report, "TAP version 13");
	fprintf(out->f, "1..%zu\n", report->count);
	for (size_t i = 0; i < report->count; i++) {
		test_line(out->f, "", i + 1, &report->results[i], false);
		details(out->f, "", &report->results[i]);
	}
}

static size_t suite_end(const struct report *report, size_t first)
{
	const char *suite = report->results[first].instance->suite;

	while (first < report->count && !strcmp(report->results[first].instance->suite, suite))
		first++;
	return first;
}

static void ktap_suite(struct output *out, const struct report *report, size_t first, size_t last,
		       size_t number)
{
	bool ok = true, all_skipped = true;

	fprintf(out->f, "  KTAP version 1\n  1..%zu\n", last - first);
	for (size_t i = first; i < last; i++) {
		details(out->f, "  ", &report->results[i]);
		test_line(out->f, "  ", i - first + 1, &report->results[i], true);
		ok = ok && is_ok(report->results[i].verdict.outcome, true);
		all_skipped = all_skipped && report->results[i].verdict.outcome == SKIP;
	}
	fprintf(out->f, "%sok %zu - %s%s\n", ok ? "" : "not ", number,
		report->results[first].instance->suite, all_skipped ? " # SKIP all its cases" : "");
}

static void ktap_end(struct output *out, const struct report *report)
{
	size_t suites = 0, number = 0;

	for (size_t i = 0; i < report->count; i = suite_end(report, i))
		suites++;
	header(out->f, report, "KTAP version 1");
	fprintf(out->f, "1..%zu\n", suites);
	for (size_t i = 0, next; i < report->count; i = next) {
		next = suite_end(report, i);
		ktap_suite(out, report, i, next, ++number);
	}
}

const struct printer printer_tap = {.name = "tap", .end = tap_end};
const struct printer printer_ktap = {.name = "ktap", .end = ktap_end};
