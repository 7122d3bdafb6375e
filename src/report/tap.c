/* SPDX-License-Identifier: MIT */
/*
 * TAP 13, in the order of the cases, and KTAP 1, in the order in which they end.
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

static void ktap_begin(struct output *out, const struct report *report)
{
	header(out->f, report, "KTAP version 1");
	fprintf(out->f, "1..%zu\n", report->count);
}

/* Flushed: should the kernel panic, this is the last line. */
static void ktap_started(struct output *out, const struct instance *instance)
{
	fprintf(out->f, "# begin %s\n", instance->id);
	fflush(out->f);
}

static void ktap_ended(struct output *out, const struct report *report, const struct result *result)
{
	(void)report;
	details(out->f, "", result);
	test_line(out->f, "", ++out->put, result, true);
	fflush(out->f);
}

static void ktap_end(struct output *out, const struct report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (is_unreached(&report->results[i], report))
			ktap_ended(out, report, &report->results[i]);
}

const struct printer printer_tap = {.name = "tap", .end = tap_end};
const struct printer printer_ktap = {.name = "ktap",
				     .begin = ktap_begin,
				     .started = ktap_started,
				     .ended = ktap_ended,
				     .end = ktap_end};
