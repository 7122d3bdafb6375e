/* SPDX-License-Identifier: MIT */
/*
 * A table for each topic, a column for each caller; below it the reasons, each once, by the numbers
 * that stand behind its answers.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "text/json_text.h"
#include "text/say.h"

enum { TITLE = 46, ANSWER = 13, REASONS_MAX = 64 };

/* The reasons of one topic, in the order in which they were met. */
struct reasons {
	const json_t *list[REASONS_MAX]; /* answers that have them */
	size_t count;
};

/* The number of an answer's reason, from 1; 0: it has none, or there is no room for it. */
static size_t reason_number(struct reasons *reasons, const json_t *answer)
{
	const char *because = member_text(answer, "because"),
		   *instead = member_text(answer, "instead");

	if (!because[0])
		return 0;
	for (size_t i = 0; i < reasons->count; i++)
		if (!strcmp(member_text(reasons->list[i], "because"), because) &&
		    !strcmp(member_text(reasons->list[i], "instead"), instead))
			return i + 1;
	if (reasons->count == REASONS_MAX)
		return 0;
	reasons->list[reasons->count++] = answer;
	return reasons->count;
}

static void write_capability(const json_t *capability, const json_t *callers,
			     struct reasons *reasons, FILE *f)
{
	const json_t *answers = json_object_get(capability, "answers"), *caller;
	size_t i;

	say(f, "  %-*s", TITLE, member_text(capability, "title"));
	json_array_foreach(callers, i, caller) {
		const json_t *answer = json_object_get(answers, json_string_value(caller));
		const char *word = answer ? member_text(answer, "answer") : "-";
		size_t number = answer ? reason_number(reasons, answer) : 0;
		bool is_last = i + 1 == json_array_size(callers);
		char cell[32];

		snprintf(cell, sizeof(cell), number ? "%s [%zu]" : "%s", word, number);
		say(f, " %-*s", is_last ? 0 : ANSWER, cell);
	}
	fputc('\n', f);
}

static void write_reasons(const struct reasons *reasons, FILE *f)
{
	for (size_t i = 0; i < reasons->count; i++) {
		const json_t *reason = reasons->list[i];
		const char *instead = member_text(reason, "instead");
		char number[24];

		snprintf(number, sizeof(number), "[%zu]", i + 1);
		say(f, "  %-5s", number);
		say_wrapped(f, member_text(reason, "because"), 7, 7, SAY_COLUMNS);
		if (instead[0]) {
			say(f, "       To change it: ");
			say_wrapped(f, instead, 21, 21, SAY_COLUMNS);
		}
	}
}

static void write_topic(const json_t *topic, const json_t *callers, FILE *f)
{
	const json_t *capabilities = json_object_get(topic, "capabilities"), *one;
	struct reasons reasons = {.count = 0};
	size_t i;

	say(f, "\n%s\n", member_text(topic, "title"));
	if (json_array_size(capabilities)) {
		say(f, "  %-*s", TITLE, "");
		json_array_foreach(callers, i, one)
			say(f, " %-*s", i + 1 == json_array_size(callers) ? 0 : ANSWER,
			    json_string_value(one));
		fputc('\n', f);
	}
	json_array_foreach(capabilities, i, one)
		write_capability(one, callers, &reasons, f);
	write_reasons(&reasons, f);
	json_array_foreach(json_object_get(topic, "facts"), i, one) {
		const json_t *value = json_object_get(one, "value");
		const char *unit = json_is_null(value) ? "" : member_text(one, "unit");
		char *text = json_dumps(value, JSON_ENCODE_ANY);

		say(f, "  %-*s %s%s%s\n", TITLE + ANSWER, member_text(one, "title"),
		    json_is_string(value)          ? json_string_value(value)
		    : json_is_null(value) || !text ? "none, or not told"
						   : text,
		    unit[0] ? " " : "", unit);
		free(text);
	}
}

/* What came of an event: an errno, else why it is not "yes", else that. */
static const char *what_came(const json_t *answer)
{
	const char *errno_text = member_text(answer, "errno"),
		   *because = member_text(answer, "because");

	return errno_text[0] ? errno_text : because[0] ? because : member_text(answer, "answer");
}

/* The names of the members, in lines: all, or those of which that came. */
static void write_members(const char *before, const json_t *members, const char *came, FILE *f)
{
	json_t *all = json_string(before), *value, *more;
	const char *name, *between = "";

	json_object_foreach((json_t *)members, name, value) {
		if (came && strcmp(what_came(value), came) != 0)
			continue;
		more = json_sprintf("%s%s%s", json_string_value(all), between, name);
		json_decref(all);
		all = more;
		between = " ";
	}
	say_wrapped(f, json_string_value(all), 13, 13, SAY_COLUMNS);
	json_decref(all);
}

/* "12 of 14 events count", and the others by what came of them. */
static void write_tried(const json_t *tried, FILE *f)
{
	json_t *seen = json_object(), *answer;
	char before[1024];
	const char *name;
	size_t counting = 0;

	if (!json_object_size(tried)) {
		json_decref(seen);
		return;
	}
	json_object_foreach((json_t *)tried, name, answer)
		counting += !strcmp(what_came(answer), "yes");
	say(f, "    %-8s %zu of %zu events count\n", "tried", counting, json_object_size(tried));
	json_object_foreach((json_t *)tried, name, answer) {
		const char *came = what_came(answer);

		if (!strcmp(came, "yes") || json_object_get(seen, came))
			continue;
		json_object_set_new(seen, came, json_true());
		snprintf(before, sizeof(before), "%s: ", came);
		say(f, "%13s", "");
		write_members(before, tried, came, f);
	}
	json_decref(seen);
}

static void write_pmus(const json_t *pmus, FILE *f)
{
	static const char *const folders[] = {"format", "events", "caps"};
	const json_t *pmu, *cycles;
	size_t i;

	say(f, "\nPMUs in /sys/bus/event_source/devices\n");
	if (!json_array_size(pmus))
		say(f, "  none\n");
	json_array_foreach(pmus, i, pmu) {
		const char *cpus = member_text(pmu, "cpus"), *cpumask = member_text(pmu, "cpumask");

		say(f, "  %-30s type %lld%s%s%s%s%s\n", member_text(pmu, "name"),
		    (long long)json_integer_value(json_object_get(pmu, "type")),
		    json_is_true(json_object_get(pmu, "processors")) ? " a processor's" : "",
		    cpus[0] ? " on cpus " : "", cpus, cpumask[0] ? " through cpus " : "", cpumask);
		for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); k++) {
			if (!json_object_get(pmu, folders[k]))
				continue;
			say(f, "    %-8s ", folders[k]);
			write_members("", json_object_get(pmu, folders[k]), NULL, f);
		}
		cycles = json_object_get(pmu, "cycles");
		if (cycles)
			say(f, "    %-8s counts: %s, samples: %s\n", "cycles",
			    what_came(json_object_get(cycles, "counts")),
			    what_came(json_object_get(cycles, "samples")));
		write_tried(json_object_get(pmu, "tried"), f);
		if (json_object_get(pmu, "aux"))
			say(f, "    %-8s %s\n", "AUX data", what_came(json_object_get(pmu, "aux")));
	}
}

static void write_head(const json_t *probed, FILE *f)
{
	static const struct {
		const char *what, *key;
		bool of_host;
	} lines[] = {{"host", "name", true},           {"time", "time", false},
		     {"processor", "cpu_model", true}, {"system", "distribution", true},
		     {"options", "options", true},     {"cases", "cases", false}};
	const json_t *host = json_object_get(probed, "host");
	const json_t *environment = json_object_get(probed, "environment");

	say(f, "perfabi %s: what perf_event_open(2) can do on Linux %s %s\n",
	    member_text(probed, "perfabi"), member_text(environment, "kernel"),
	    member_text(environment, "machine"));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *text = member_text(lines[i].of_host ? host : probed, lines[i].key);

		if (text[0])
			say(f, "  %-11s %s\n", lines[i].what, text);
	}
}

void probe_write(const json_t *probed, FILE *f)
{
	const json_t *callers = json_object_get(probed, "callers"), *topic;
	size_t i;

	write_head(probed, f);
	json_array_foreach(json_object_get(probed, "topics"), i, topic)
		write_topic(topic, callers, f);
	if (json_object_get(probed, "pmus"))
		write_pmus(json_object_get(probed, "pmus"), f);
}

/*
 * One flat object a line for each capability and caller, and for each fact: what a database of many
 * machines takes.
 */

/* What every row begins with. */
static json_t *row_of_host(const json_t *probed)
{
	const json_t *host = json_object_get(probed, "host");
	const json_t *environment = json_object_get(probed, "environment");

	return json_pack("{s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "host",
			 json_object_get(host, "name"), "boot_id", json_object_get(host, "boot_id"),
			 "time", json_object_get(probed, "time"), "kernel",
			 json_object_get(environment, "kernel"), "machine",
			 json_object_get(environment, "machine"), "distribution",
			 json_object_get(host, "distribution"), "cpu_model",
			 json_object_get(host, "cpu_model"), "hypervisor",
			 json_object_get(environment, "hypervisor"), "container",
			 json_object_get(environment, "container"), "perfabi",
			 json_object_get(probed, "perfabi"));
}

/* A column has one type: numbers and truth values as text. A new reference, or NULL. */
static json_t *column_of(json_t *value)
{
	char *text;
	json_t *json;

	if (!value || json_is_null(value) || json_is_string(value))
		return json_incref(value);
	text = or_exit(json_text(value, JSON_ENCODE_ANY));
	json = json_string(text);
	free(text);
	return json;
}

/* Every row has every key, so that each is a column. */
static void write_row(const json_t *host, const char *topic, const json_t *what, const char *caller,
		      const json_t *answer, FILE *f)
{
	static const char *const of_answer[] = {"answer",   "errno",   "token",  "check",
						"function", "because", "instead"};
	json_t *row = json_copy((json_t *)host), *own;
	char *text;

	own = json_pack("{s:s, s:O?, s:O?, s:s?}", "topic", topic, "key",
			json_object_get(what, "key"), "title", json_object_get(what, "title"),
			"caller", caller);
	for (size_t i = 0; i < sizeof(of_answer) / sizeof(of_answer[0]); i++) {
		json_t *member = json_object_get(answer, of_answer[i]);

		json_object_set(own, of_answer[i], member ? member : json_null());
	}
	json_object_update(row, own);
	json_decref(own);
	own = json_pack("{s:o?, s:O?}", "value", column_of(json_object_get(what, "value")), "unit",
			json_object_get(what, "unit"));
	json_object_update(row, own);
	json_decref(own);
	text = or_exit(json_text(row, JSON_COMPACT));
	fprintf(f, "%s\n", text);
	free(text);
	json_decref(row);
}

/* One row of what a PMU was seen to do; `what` is "cycles.counts". */
static void write_tried_row(const json_t *host, const json_t *pmu, const char *what,
			    const json_t *answer, FILE *f)
{
	const char *name = member_text(pmu, "name");
	json_t *row, *count = json_object_get(answer, "count");

	if (!answer)
		return;
	row = json_pack("{s:o, s:o, s:O*, s:s*}", "key", json_sprintf("pmus.%s.%s", name, what),
			"title", json_sprintf("%s on %s", what, name), "value", count, "unit",
			count ? "in a moment" : NULL);
	write_row(host, PROBE_PMUS, row, NULL, answer, f);
	json_decref(row);
}

static void write_pmu(const json_t *host, const json_t *pmu, FILE *f)
{
	const json_t *cycles = json_object_get(pmu, "cycles");
	json_t *answer;
	const char *name;
	char what[300];

	write_tried_row(host, pmu, "cycles.counts", json_object_get(cycles, "counts"), f);
	write_tried_row(host, pmu, "cycles.samples", json_object_get(cycles, "samples"), f);
	json_object_foreach(json_object_get(pmu, "tried"), name, answer) {
		snprintf(what, sizeof(what), "event.%s", name);
		write_tried_row(host, pmu, what, answer, f);
	}
	write_tried_row(host, pmu, "aux", json_object_get(pmu, "aux"), f);
}

void probe_write_rows(const json_t *probed, FILE *f)
{
	json_t *host = row_of_host(probed), *topic, *one, *answer;
	const char *caller;
	size_t i, j;

	json_array_foreach(json_object_get(probed, "topics"), i, topic) {
		const char *name = member_text(topic, "topic");

		json_array_foreach(json_object_get(topic, "capabilities"), j, one) {
			json_object_foreach(json_object_get(one, "answers"), caller, answer)
				write_row(host, name, one, caller, answer, f);
		}
		json_array_foreach(json_object_get(topic, "facts"), j, one) {
			answer = json_pack("{s:s, s:O?}", "answer", "value", "instead",
					   json_object_get(one, "instead"));
			write_row(host, name, one, NULL, answer, f);
			json_decref(answer);
		}
	}
	json_array_foreach(json_object_get(probed, "pmus"), i, one)
		write_pmu(host, one, f);
	json_decref(host);
}
