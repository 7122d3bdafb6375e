/* SPDX-License-Identifier: MIT */
/*
 * TAP 13 and KTAP 1, a line as each case ends, in that order.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "text/say.h"

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
static void details(FILE *f, const char *indent, const struct report *report,
		    const struct result *result)
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
	print_details(lines, result, report->again, prefix);
	fclose(lines);
	fputs(text, f);
	free(text);
}

static void header(FILE *f, const struct report *report, const char *version)
{
	fprintf(f, "%s\n# perfabi %s, Linux %s %s, attr size %u, perf_event_paranoid %d\n", version,
		PERFABI_VERSION_TEXT, report->env->release, report->env->machine,
		report->env->attr_size, report->env->sysctls[SYSCTL_PARANOID]);
	print_host(f, report, "# ");
}

static void begin_tap(struct output *out, const struct report *report, const char *version)
{
	header(out->f, report, version);
	fprintf(out->f, "1..%zu\n", report->count);
}

static void tap_begin(struct output *out, const struct report *report)
{
	begin_tap(out, report, "TAP version 13");
}

static void ktap_begin(struct output *out, const struct report *report)
{
	begin_tap(out, report, "KTAP version 1");
}

/* Of TAP the details come behind the line, of KTAP before it. */
static void tap_ended(struct output *out, const struct report *report, const struct result *result)
{
	test_line(out->f, "", ++out->put, result, false);
	details(out->f, "", report, result);
	fflush(out->f);
}

/* Flushed: should the kernel panic, this is the last line. */
static void ktap_started(struct output *out, const struct instance *instance)
{
	fprintf(out->f, "# started %s\n", instance->id);
	fflush(out->f);
}

static void ktap_ended(struct output *out, const struct report *report, const struct result *result)
{
	details(out->f, "", report, result);
	test_line(out->f, "", ++out->put, result, true);
	fflush(out->f);
}

/* What the run has not come to, if it ended early. */
static void end_tap(struct output *out, const struct report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (is_unreached(&report->results[i], report))
			out->printer->ended(out, report, &report->results[i]);
}

const struct printer printer_tap = {
	.name = "tap", .begin = tap_begin, .ended = tap_ended, .end = end_tap};
const struct printer printer_ktap = {.name = "ktap",
				     .begin = ktap_begin,
				     .started = ktap_started,
				     .ended = ktap_ended,
				     .end = end_tap};
