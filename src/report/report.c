/* SPDX-License-Identifier: MIT */
/*
 * What the printers share.
 */
#include "report/report.h"

#include <string.h>

#include "text/json_text.h"
#include "text/say.h"

enum { BESIDE_SHOWN = 4 }; /* in text; programs get all that are known */

const struct printer *printer_by_name(const char *name, struct nearest *near)
{
#define PRINTER_ADDRESS(name) &printer_##name,
	static const struct printer *const printers[] = {
		PRINTERS(PRINTER_ADDRESS, PRINTER_ADDRESS)};

	for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++) {
		if (!strcmp(printers[i]->name, name))
			return printers[i];
		nearest_try(near, printers[i]->name);
	}
	return NULL;
}

void put_unreached(struct output *out, const struct report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->results[i].runs < report->rounds)
			out->printer->ended(out, report, &report->results[i]);
}

/* What is no UTF-8, as a text that was cut within a character, is shown so and not left out. */
static void set_member_text(json_t *object, const char *key, const char *text)
{
	char shown[4096];
	json_t *json;

	if (!text || !text[0])
		return;
	json = json_string(text);
	if (!json)
		json = json_string(say_harmless(text, shown, sizeof(shown)));
	json_object_set_new(object, key, json);
}

static json_t *phases_json(unsigned mask, const struct cases *cases)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cases->tables.phases.count; i++)
		if (mask >> i & 1)
			json_array_append_new(list, json_string(cases->tables.phases.list[i].name));
	return list;
}

static json_t *beside_json(const struct beside *beside)
{
	json_t *ids = json_array();
	const struct instance *one;

	for (size_t i = 0; (one = beside_at(beside, i)); i++)
		json_array_append_new(ids, json_string(one->id));
	return json_pack("{s:I, s:o}", "count", (json_int_t)beside->count, "last", ids);
}

/* "cases/open/size.json:12": where the case stands, cut to fit. */
static void case_place(const struct instance *instance, char *out, size_t size)
{
	const struct source *source = instance->source;
	char pointer[32];

	snprintf(pointer, sizeof(pointer), "/cases/%zu", instance->case_index);
	snprintf(out, size, "%s%s%s:%d", source->root,
		 !source->root[0] || source->root[strlen(source->root) - 1] == '/' ? "" : "/",
		 source->name, where_line(source, pointer));
}

json_t *result_json(const struct result *result, const struct cases *cases)
{
	const struct instance *instance = result->instance;
	json_t *json = json_object();
	char place[512];

	set_member_text(json, "id", instance->id);
	set_member_text(json, "outcome", outcome_names[result->verdict.outcome]);
	set_member_text(json, "title", instance->title);
	set_member_text(json, "suite", instance->suite);
	case_place(instance, place, sizeof(place));
	set_member_text(json, "place", place);
	set_member_text(json, "as", identity_names[instance->who.as]);
	set_member_text(json, "vehicle", instance->who.vehicle);
	set_member_text(json, "kind", instance->kind == CAPABILITY ? "capability" : "conformance");
	set_member_text(json, "capability", result->verdict.capability);
	set_member_text(json, "token", result->token);
	set_member_text(json, "reason", result->reason);
	if (result->passes_without)
		set_member_text(json, "without", "pass");
	if (result->deviation) {
		json_t *deviation = json_copy((json_t *)result->deviation->json);

		set_member_text(deviation, "fixed", result->deviation->fixed);
		json_object_set_new(json, "deviation", deviation);
		set_member_text(json, "whose", deviation_whose(result->deviation));
	}
	set_member_text(json, "expected", result->verdict.expected);
	set_member_text(json, "got", result->verdict.got);
	if (result->verdict.phases)
		json_object_set_new(json, "phases", phases_json(result->verdict.phases, cases));
	set_member_text(json, "call", result->verdict.call);
	json_object_set(json, "spec", (json_t *)instance->spec);
	if (!result_has_run(result))
		json_object_set_new(json, "reached", json_false());
	if (result->tried)
		json_object_set_new(json, "tried",
				    json_pack("{s:i, s:i}", "runs", (int)result->tried, "failed",
					      (int)result->failed));
	if (result->runs > 1) {
		json_object_set_new(json, "runs", json_integer(result->runs));
		json_object_set_new(json, "differed", json_integer(result->differed));
	}
	if (outcome_is_bad(result->verdict.outcome) && result->beside.count)
		json_object_set_new(json, "beside", beside_json(&result->beside));
	json_object_set_new(json, "seconds", json_real(result->seconds));
	return json;
}

void cases_hash_text(uint64_t hash, char out[17])
{
	snprintf(out, 17, "%016llx", (unsigned long long)hash);
}

json_t *head_json(const struct environment *env, const struct host *host, uint64_t cases_hash)
{
	char hash[17];

	cases_hash_text(cases_hash, hash);
	return json_pack("{s:s, s:s, s:s, s:o, s:o}", "perfabi", PERFABI_VERSION_TEXT, "cases",
			 hash, "time", host->time, "host", host_json(host), "environment",
			 environment_json(env));
}

/* "name  text", nothing if there is no text. */
static void put_named(FILE *f, const char *indent, int width, const char *name, const char *text)
{
	if (!text || !text[0])
		return;
	fprintf(f, "%s%-*s ", indent, width, name);
	one_line_print(f, text, "\n");
	fputc('\n', f);
}

void print_host(FILE *f, const struct report *report, const char *indent)
{
	const struct host *host = report->host;
	char hash[17];

	cases_hash_text(report->cases_hash, hash);
	put_named(f, indent, 11, "host", host->name);
	put_named(f, indent, 11, "time", host->time);
	put_named(f, indent, 11, "processor", host->cpu_model);
	put_named(f, indent, 11, "system", host->distribution);
	put_named(f, indent, 11, "options", host->options);
	put_named(f, indent, 11, "cases", hash);
}

json_t *tally_json(const struct report *report)
{
	json_t *json = json_object();

	for (int i = 0; i < OUTCOMES; i++)
		json_object_set_new(json, outcome_names[i], json_integer(report->tally[i]));
	return json;
}

/* The spec of a case in a line: man page section, kernel function, since. */
static void spec_line(const json_t *spec, char *out, size_t size)
{
	static const struct {
		const char *key, *before;
	} parts[] = {{"man", ""}, {"kernel", "kernel "}, {"since", "since "}, {"note", ""}};
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && at < size; i++) {
		const char *text = json_string_value(json_object_get(spec, parts[i].key));

		if (text)
			at += (size_t)snprintf(out + at, size - at, "%s%s%s", at ? "; " : "",
					       parts[i].before, text);
	}
}

static void detail(FILE *f, const char *indent, const char *name, const char *text)
{
	put_named(f, indent, 10, name, text);
}

/* The last few that had a process meanwhile, and how many more had. */
static void print_beside(FILE *f, const struct beside *beside)
{
	size_t shown = beside->count < BESIDE_SHOWN ? beside->count : BESIDE_SHOWN;
	size_t known = beside->count < BESIDE_MOST ? beside->count : BESIDE_MOST;

	for (size_t i = 0; i < shown; i++)
		fprintf(f, "%s%s", i ? ", " : "", beside_at(beside, known - shown + i)->id);
	if (beside->count > shown)
		fprintf(f, " and, before these, %zu more", beside->count - shown);
}

static void beside_line(FILE *f, const struct result *result, const char *indent)
{
	if (!result->beside.count || !outcome_is_bad(result->verdict.outcome))
		return;
	fprintf(f, "%s%-10s ", indent, "beside:");
	print_beside(f, &result->beside);
	fputc('\n', f);
}

void group_add(json_t *groups, const char *key, json_t *value)
{
	if (!json_object_get(groups, key))
		json_object_set_new(groups, key, json_array());
	json_array_append_new(json_object_get(groups, key), value);
}

static void add_count(char *out, size_t size, unsigned count, const char *one, const char *many)
{
	size_t n = strlen(out);

	if (count)
		snprintf(out + n, size - n, "%s%u %s", n ? ", " : "", count,
			 count == 1 ? one : many);
}

json_t *alarm_json(const struct raised *raised)
{
	json_t *json = json_object();

	set_member_text(json, "is", raised->alarm.is);
	set_member_text(json, "text", raised->alarm.text);
	json_object_set_new(json, "during", beside_json(&raised->during));
	return json;
}

void print_alarm(FILE *f, const struct raised *raised, const char *indent)
{
	const struct alarm *alarm = &raised->alarm;

	fprintf(f, "the kernel reports a fault of its own (%s)%s", alarm->is,
		alarm->text[0] ? ": " : "; see dmesg");
	one_line_print(f, alarm->text, "\n");
	fprintf(f, "\n%s%-10s ", indent, "during:");
	print_beside(f, &raised->during);
	fputs(raised->during.count ? "\n" : "no case\n", f);
}

void report_verdict(const struct report *report, char *out, size_t size)
{
	const unsigned *tally = report->tally;
	unsigned judged = 0, passed = tally[PASS] + tally[XPASS];
	size_t n;

	for (int i = 0; i < OUTCOMES; i++)
		judged += i == SKIP ? 0 : tally[i];
	judged -= report->unreached;
	out[0] = '\0';
	if (report->alarms)
		add_count(out, size, (unsigned)(report->alarms->count + report->alarms->more),
			  "alarm of the kernel", "alarms of the kernel");
	add_count(out, size, tally[FAIL], "case fails", "cases fail");
	add_count(out, size, tally[UNSTABLE], "fails in some of its runs",
		  "fail in some of their runs");
	add_count(out, size, tally[XPASS], "passes though it is known to fail",
		  "pass though they are known to fail");
	add_count(out, size, tally[ERROR] - report->unreached, "could not be judged",
		  "could not be judged");
	add_count(out, size, report->unreached, "was not reached", "were not reached");
	n = strlen(out);
	if (!judged && !n && tally[SKIP] == 1)
		snprintf(out, size, "Nothing was judged: the only case is skipped");
	else if (!judged && !n)
		snprintf(out, size, "Nothing was judged: all %u cases are skipped", tally[SKIP]);
	else if (!n)
		snprintf(out, size,
			 tally[XFAIL]
				 ? "Nothing unexpected: %u of %u cases pass, and %u fail as known"
				 : "Nothing unexpected: %u of %u cases pass",
			 passed, judged, tally[XFAIL]);
	else if (judged)
		snprintf(out + n, size - n, "; %u of %u pass", passed, judged);
}

void print_details(FILE *f, const struct result *result, const char *again, const char *indent)
{
	char spec[512], place[512], *command = NULL;

	case_place(result->instance, place, sizeof(place));

	detail(f, indent, "promise:", result->instance->title);
	detail(f, indent, "as:", identity_names[result->instance->who.as]);
	detail(f, indent, "call:", result->verdict.call);
	detail(f, indent, "expected:", result->verdict.expected);
	detail(f, indent, "got:", result->verdict.got);
	if (result->tried) {
		snprintf(spec, sizeof(spec), "failed %u of %u", result->failed, result->tried);
		detail(f, indent, "runs:", spec);
	}
	detail(f, indent, "reason:", result->reason);
	spec_line(result->instance->spec, spec, sizeof(spec));
	detail(f, indent, "spec:", spec);
	beside_line(f, result, indent);
	detail(f, indent, "case:", place);
	if (again && outcome_is_bad(result->verdict.outcome) &&
	    asprintf(&command, "%s %s", again, result->instance->id) > 0)
		detail(f, indent, "again:", command);
	free(command);
}

static struct suite *find_suite(struct suites *suites, const struct instance *instance)
{
	const json_t *index = json_object_get(suites->by_name, instance->suite);

	return &suites->list[json_integer_value(index)];
}

struct suites *suites_begin(const struct report *report)
{
	struct suites *suites = or_exit(calloc(1, sizeof(*suites)));

	suites->list = or_exit(calloc(report->count + 1, sizeof(*suites->list)));
	suites->by_name = or_exit(json_object());
	for (size_t i = 0; i < report->count; i++) {
		const struct instance *instance = report->instances[i];
		struct suite *next = &suites->list[suites->count];

		if (!json_object_get(suites->by_name, instance->suite)) {
			json_object_set_new(suites->by_name, instance->suite,
					    json_integer((json_int_t)suites->count++));
			next->first = instance;
			next->skips = or_exit(json_object());
		}
		find_suite(suites, instance)->left++;
	}
	return suites;
}

struct suite *suite_of(struct suites *suites, const struct result *result)
{
	struct suite *suite = find_suite(suites, result->instance);
	int outcome = result->verdict.outcome;

	if (!suite->f)
		suite->f = or_exit(open_memstream(&suite->text, &suite->size));
	suite->totals.tests++;
	suite->totals.failures += outcome_is_bad(outcome) && outcome != ERROR;
	suite->totals.errors += outcome == ERROR;
	suite->totals.skipped += outcome == SKIP || outcome == XFAIL;
	suite->totals.seconds += result->seconds;
	suite->left--;
	return suite;
}

void suites_end(struct suites *suites)
{
	for (size_t i = 0; i < suites->count; i++) {
		json_decref(suites->list[i].skips);
		free(suites->list[i].text);
	}
	json_decref(suites->by_name);
	free(suites->list);
	free(suites);
}
