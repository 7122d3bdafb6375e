/* SPDX-License-Identifier: MIT */
/*
 * JUnit XML, as Jenkins and GitLab read it: a testsuite a suite.
 */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "html/html.h"
#include "text/json.h"
#include "text/json_text.h"

/*
 * Bytes of the character at `text` that XML 1.0 can hold; 0: it cannot, as control characters, what
 * is no UTF-8, U+FFFE and U+FFFF.
 */
static size_t allowed(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (*c < 0x20)
		return *c == '\n' || *c == '\t';
	if (!strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3))
		return 0;
	return utf8_length(c, strlen(text));
}

/* Text for an attribute or element; a byte of what XML cannot hold becomes '?'. */
static void put_escaped(FILE *f, const char *text)
{
	while (text && *text) {
		size_t n = allowed(text);

		html_piece(f, n ? text : "?", n ? n : 1);
		text += n ? n : 1;
	}
}

static void attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	put_escaped(f, value);
	fputc('"', f);
}

static void problem(FILE *f, const char *element, const struct report *report,
		    const struct result *result)
{
	const struct verdict *v = &result->verdict;
	char *text = NULL, message[sizeof(v->expected) + sizeof(v->got) + 32];
	size_t size = 0;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return;
	print_details(lines, result, report->again, "");
	fclose(lines);
	fprintf(f, "      <%s", element);
	attribute(f, "type", outcome_names[result->verdict.outcome]);
	snprintf(message, sizeof(message), "expected %s, got %s", v->expected, v->got);
	attribute(f, "message",
		  v->expected[0] && v->got[0] ? message
		  : v->got[0]                 ? v->got
					      : result->reason);
	fputc('>', f);
	put_escaped(f, text);
	fprintf(f, "</%s>\n", element);
	free(text);
}

static void testcase(FILE *f, const struct report *report, const struct result *result)
{
	const char *name = result->instance->id + strlen(result->instance->suite) + 1;
	char message[512];

	fprintf(f, "    <testcase");
	attribute(f, "classname", result->instance->suite);
	attribute(f, "name", name);
	fprintf(f, " time=\"%.6f\"", result->seconds);
	if (result->verdict.outcome == PASS) {
		fputs("/>\n", f);
		return;
	}
	fputs(">\n", f);
	if (result->verdict.outcome == SKIP || result->verdict.outcome == XFAIL) {
		snprintf(message, sizeof(message), "%s: %s",
			 result->verdict.outcome == SKIP ? result->token : "known to fail",
			 result->reason ? result->reason : "");
		fputs("      <skipped", f);
		attribute(f, "message", message);
		fputs("/>\n", f);
	} else {
		problem(f, result->verdict.outcome == ERROR ? "error" : "failure", report, result);
	}
	fputs("    </testcase>\n", f);
}

static void property(FILE *f, const char *name, const char *value)
{
	fputs("      <property", f);
	attribute(f, "name", name);
	attribute(f, "value", value);
	fputs("/>\n", f);
}

static void properties(FILE *f, const struct report *report)
{
	json_t *env = environment_json(report->env), *value;
	json_t *host = host_json(report->host);
	const char *name;
	char hash[17];

	cases_hash_text(report->cases_hash, hash);
	fputs("    <properties>\n", f);
	property(f, "perfabi", PERFABI_VERSION_TEXT);
	property(f, "cases", hash);
	property(f, "time", report->host->time);
	json_object_foreach(host, name, value)
		property(f, strcmp(name, "name") ? name : "host", json_string_value(value));
	json_decref(host);
	json_object_foreach(env, name, value) {
		char *text = json_is_string(value)
				     ? or_exit(strdup(json_string_value(value)))
				     : or_exit(json_text(value, JSON_COMPACT | JSON_ENCODE_ANY));

		if (!json_is_null(value))
			property(f, name, text);
		free(text);
	}
	fputs("    </properties>\n", f);
	json_decref(env);
}

static void begin(struct output *out, const struct report *report)
{
	out->state = suites_begin(report);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"perfabi\">\n",
	      out->f);
}

static void put_suite(FILE *f, const struct report *report, struct suite *suite)
{
	fclose(suite->f);
	fputs("  <testsuite", f);
	attribute(f, "name", suite->first->suite);
	fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.6f\"",
		suite->totals.tests, suite->totals.failures, suite->totals.errors,
		suite->totals.skipped, suite->totals.seconds);
	fputs(">\n", f);
	properties(f, report);
	fwrite(suite->text, 1, suite->size, f);
	fputs("  </testsuite>\n", f);
	fflush(f);
}

/* A suite is written as its last case ends. */
static void suite_ended(struct output *out, const struct report *report,
			const struct result *result)
{
	struct suite *suite = suite_of(out->state, result);

	testcase(suite->f, report, result);
	if (!suite->left)
		put_suite(out->f, report, suite);
}

/* Readers of JUnit go by test cases, so each alarm of the kernel is one that has failed. */
static void put_alarm_suite(FILE *f, const struct report *report)
{
	const struct alarms *alarms = report->alarms;

	if (!alarms->count)
		return;
	fprintf(f,
		"  <testsuite name=\"kernel\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		"skipped=\"0\" time=\"0\">\n",
		alarms->count, alarms->count);
	properties(f, report);
	for (size_t i = 0; i < alarms->count; i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *lines = or_exit(open_memstream(&text, &size));

		print_alarm(lines, &alarms->list[i], "");
		fclose(lines);
		fprintf(f,
			"    <testcase classname=\"kernel\" name=\"alarm.%zu\" time=\"0\">\n"
			"      <failure type=\"alarm\"",
			i + 1);
		attribute(f, "message",
			  alarms->list[i].alarm.text[0] ? alarms->list[i].alarm.text
							: alarms->list[i].alarm.is);
		fputc('>', f);
		put_escaped(f, text);
		fputs("</failure>\n    </testcase>\n", f);
		free(text);
	}
	fputs("  </testsuite>\n", f);
}

static void end(struct output *out, const struct report *report)
{
	put_unreached(out, report);
	put_alarm_suite(out->f, report);
	fputs("</testsuites>\n", out->f);
	suites_end(out->state);
}

const struct printer printer_junit = {
	.name = "junit", .begin = begin, .ended = suite_ended, .end = end};
