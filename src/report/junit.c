/* SPDX-License-Identifier: MIT */
/*
 * JUnit XML, as Jenkins and GitLab read it: a testsuite a suite.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "text/json.h"

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

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

/* Text for an attribute or element; a byte of what XML cannot hold becomes '?'. */
static void put_escaped(FILE *f, const char *text)
{
	while (text && *text) {
		size_t n = allowed(text);

		if (entity(*text))
			fputs(entity(*text), f);
		else if (n)
			fwrite(text, 1, n, f);
		else
			fputc('?', f);
		text += n ? n : 1;
	}
}

static void attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	put_escaped(f, value);
	fputc('"', f);
}

struct totals {
	size_t tests, failures, errors, skipped;
	double seconds;
};

static void add(struct totals *t, const struct result *result)
{
	t->tests++;
	t->failures += result->verdict.outcome == FAIL || result->verdict.outcome == XPASS;
	t->errors += result->verdict.outcome == ERROR;
	t->skipped += result->verdict.outcome == SKIP || result->verdict.outcome == XFAIL;
	t->seconds += result->seconds;
}

static void put_totals(FILE *f, const struct totals *t)
{
	fprintf(f, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.6f\"",
		t->tests, t->failures, t->errors, t->skipped, t->seconds);
}

static void problem(FILE *f, const char *element, const struct result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return;
	print_details(lines, result, "");
	fclose(lines);
	fprintf(f, "      <%s", element);
	attribute(f, "type", outcome_names[result->verdict.outcome]);
	attribute(f, "message", result->verdict.got[0] ? result->verdict.got : result->reason);
	fputc('>', f);
	put_escaped(f, text);
	fprintf(f, "</%s>\n", element);
	free(text);
}

static void testcase(FILE *f, const struct result *result)
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
		problem(f, result->verdict.outcome == ERROR ? "error" : "failure", result);
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
	const char *name;

	fputs("    <properties>\n", f);
	property(f, "perfabi", perfabi_version);
	json_object_foreach(env, name, value) {
		char *text = json_is_string(value)
				     ? strdup(json_string_value(value))
				     : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

		if (text && !json_is_null(value))
			property(f, name, text);
		free(text);
	}
	fputs("    </properties>\n", f);
	json_decref(env);
}

static void testsuite(FILE *f, const struct report *report, size_t first, size_t last)
{
	struct totals totals = {0};

	for (size_t i = first; i < last; i++)
		add(&totals, &report->results[i]);
	fputs("  <testsuite", f);
	attribute(f, "name", report->results[first].instance->suite);
	put_totals(f, &totals);
	fputs(">\n", f);
	properties(f, report);
	for (size_t i = first; i < last; i++)
		testcase(f, &report->results[i]);
	fputs("  </testsuite>\n", f);
}

static void end(struct output *out, const struct report *report)
{
	struct totals totals = {0};

	for (size_t i = 0; i < report->count; i++)
		add(&totals, &report->results[i]);
	totals.seconds = report->seconds;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"perfabi\"", out->f);
	put_totals(out->f, &totals);
	fputs(">\n", out->f);
	for (size_t i = 0, next; i < report->count; i = next) {
		const char *suite = report->results[i].instance->suite;

		for (next = i;
		     next < report->count && !strcmp(report->results[next].instance->suite, suite);)
			next++;
		testsuite(out->f, report, i, next);
	}
	fputs("</testsuites>\n", out->f);
}

const struct printer printer_junit = {.name = "junit", .end = end};
