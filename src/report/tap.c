/* SPDX-License-Identifier: MIT */
/*
 * TAP 13, a line as each case ends, in that order; and KTAP 1, a suite as its last case ends.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "text/json_text.h"
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
	char prefix[16];

	if (result->verdict.outcome == PASS || result->verdict.outcome == SKIP ||
	    result->verdict.outcome == XFAIL)
		return;
	snprintf(prefix, sizeof(prefix), "%s# ", indent);
	print_details(f, result, report->again, prefix);
}

static void header(FILE *f, const struct report *report, const char *version)
{
	fprintf(f, "%s\n# perfabi %s, Linux %s %s, attr size %u, perf_event_paranoid %d\n", version,
		PERFABI_VERSION_TEXT, report->env->release, report->env->machine,
		report->env->attr_size, report->env->sysctls[SYSCTL_PARANOID]);
	print_host(f, report, "# ");
}

/* A comment, too: the plan has the cases. */
static void tap_raised(struct output *out, const struct report *report)
{
	fputs("# ALARM ", out->f);
	print_alarm(out->f, &report->alarms->list[report->alarms->count - 1], "#   ");
	fflush(out->f);
}

static void tap_begin(struct output *out, const struct report *report)
{
	header(out->f, report, "TAP version 13");
	fprintf(out->f, "1..%zu\n", report->count);
}

/* Of TAP the details come behind the line, of KTAP before it. */
static void tap_ended(struct output *out, const struct report *report, const struct result *result)
{
	test_line(out->f, "", ++out->put, result, false);
	details(out->f, "", report, result);
	fflush(out->f);
}

/*
 * KTAP: suites are tests, of which the cases are subtests. All cases of a suite that are skipped
 * for the same requirement are one.
 */
static const char indent[] = "    ";

static void ktap_begin(struct output *out, const struct report *report)
{
	struct suites *suites = suites_begin(report);

	out->state = suites;
	header(out->f, report, "KTAP version 1");
	fprintf(out->f, "1..%zu\n", suites->count);
}

/* Flushed: should the kernel panic, this is the last line. */
static void ktap_started(struct output *out, const struct instance *instance)
{
	fprintf(out->f, "# started %s\n", instance->id);
	fflush(out->f);
}

static void put_ktap_suite(struct output *out, struct suite *suite)
{
	struct suites *suites = out->state;
	bool is_bad = suite->totals.failures || suite->totals.errors;
	const char *token;
	json_t *reasons;

	json_object_foreach(suite->skips, token, reasons) {
		size_t count = json_array_size(reasons);

		fprintf(suite->f, "%sok %zu - %s # SKIP %zu case%s: ", indent, ++suite->lines,
			token, count, count == 1 ? "" : "s");
		put_plain(suite->f, json_string_value(json_array_get(reasons, 0)));
		fputc('\n', suite->f);
	}
	fclose(suite->f);
	fprintf(out->f, "%sKTAP version 1\n%s# Subtest: %s\n%s1..%zu\n", indent, indent,
		suite->first->suite, indent, suite->lines);
	fwrite(suite->text, 1, suite->size, out->f);
	fprintf(out->f, "%sok %zu - %s\n", is_bad ? "not " : "", ++suites->put,
		suite->first->suite);
	fflush(out->f);
}

static void ktap_ended(struct output *out, const struct report *report, const struct result *result)
{
	struct suite *suite = suite_of(out->state, result);
	const char *reason = result->reason;

	if (result->verdict.outcome == SKIP && result->token) {
		group_add(suite->skips, result->token, json_string_nocheck(reason ? reason : ""));
	} else {
		details(suite->f, indent, report, result);
		test_line(suite->f, indent, ++suite->lines, result, true);
	}
	if (!suite->left)
		put_ktap_suite(out, suite);
}

static void ktap_end(struct output *out, const struct report *report)
{
	put_unreached(out, report);
	suites_end(out->state);
}

const struct printer printer_tap = {.name = "tap",
				    .begin = tap_begin,
				    .ended = tap_ended,
				    .raised = tap_raised,
				    .end = put_unreached};
const struct printer printer_ktap = {.name = "ktap",
				     .begin = ktap_begin,
				     .started = ktap_started,
				     .ended = ktap_ended,
				     .raised = tap_raised,
				     .end = ktap_end};
