/* SPDX-License-Identifier: MIT */
/*
 * One flat object a line for each capability and caller, and for each fact: what a database of many
 * machines takes.
 */
#include <stdlib.h>

#include "probe/probe.h"

/* What every row begins with. */
static json_t *row_of_host(const json_t *probed)
{
	const json_t *host = json_object_get(probed, "host");
	const json_t *environment = json_object_get(probed, "environment");
	const struct {
		const char *key;
		const json_t *value;
	} members[] = {{"host", json_object_get(host, "name")},
		       {"boot_id", json_object_get(host, "boot_id")},
		       {"time", json_object_get(probed, "time")},
		       {"kernel", json_object_get(environment, "kernel")},
		       {"machine", json_object_get(environment, "machine")},
		       {"distribution", json_object_get(host, "distribution")},
		       {"cpu_model", json_object_get(host, "cpu_model")},
		       {"hypervisor", json_object_get(environment, "hypervisor")},
		       {"container", json_object_get(environment, "container")},
		       {"perfabi", json_object_get(probed, "perfabi")}};
	json_t *row = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].value)
			json_object_set(row, members[i].key, (json_t *)members[i].value);
		else
			json_object_set_new(row, members[i].key, json_null());
	return row;
}

/* A column has one type: numbers and truth values as text. A new reference. */
static json_t *column_of(json_t *value)
{
	char *text;
	json_t *json;

	if (!value || json_is_null(value) || json_is_string(value))
		return value ? json_incref(value) : json_null();
	text = json_dumps(value, JSON_ENCODE_ANY);
	json = text ? json_string(text) : json_null();
	free(text);
	return json;
}

/* Every row has every key, so that each is a column. */
static void write_row(const json_t *host, const json_t *topic, const json_t *what,
		      const char *caller, const json_t *answer, FILE *f)
{
	static const char *const of_answer[] = {"answer",   "errno",   "token",  "check",
						"function", "because", "instead"};
	json_t *row = json_copy((json_t *)host), *value = json_object_get(what, "value");
	char *text;

	json_object_set(row, "topic", json_object_get(topic, "topic"));
	json_object_set(row, "key", json_object_get(what, "key"));
	json_object_set(row, "title", json_object_get(what, "title"));
	json_object_set_new(row, "caller", caller ? json_string(caller) : json_null());
	for (size_t i = 0; i < sizeof(of_answer) / sizeof(of_answer[0]); i++) {
		json_t *member = json_object_get(answer, of_answer[i]);

		json_object_set(row, of_answer[i], member ? member : json_null());
	}
	json_object_set_new(row, "value", column_of(value));
	json_object_set(row, "unit",
			json_object_get(what, "unit") ? json_object_get(what, "unit")
						      : json_null());
	text = json_dumps(row, JSON_COMPACT);
	if (text)
		fprintf(f, "%s\n", text);
	free(text);
	json_decref(row);
}

static void write_facts(const json_t *host, const json_t *topic, FILE *f)
{
	json_t *answer = json_pack("{s:s}", "answer", "value"), *fact;
	size_t i;

	json_array_foreach(json_object_get(topic, "facts"), i, fact) {
		json_object_set(answer, "instead",
				json_object_get(fact, "instead") ? json_object_get(fact, "instead")
								 : json_null());
		write_row(host, topic, fact, NULL, answer, f);
	}
	json_decref(answer);
}

/* One row of what a PMU was seen to do; `what` is "cycles.counts". */
static void write_tried_row(const json_t *host, const json_t *pmu, const char *what,
			    const json_t *answer, FILE *f)
{
	const char *name = json_string_value(json_object_get(pmu, "name"));
	json_t *topic, *row;

	if (!answer)
		return;
	topic = json_pack("{s:s}", "topic", "pmus");
	row = json_pack("{s:o, s:o}", "key", json_sprintf("pmus.%s.%s", name, what), "title",
			json_sprintf("%s on %s", what, name));
	if (json_object_get(answer, "count")) {
		json_object_set(row, "value", json_object_get(answer, "count"));
		json_object_set_new(row, "unit", json_string("in a moment"));
	}
	write_row(host, topic, row, NULL, answer, f);
	json_decref(row);
	json_decref(topic);
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
	json_t *host = row_of_host(probed), *topic, *capability, *answer;
	const char *caller;
	size_t i, j;

	json_array_foreach(json_object_get(probed, "topics"), i, topic) {
		json_array_foreach(json_object_get(topic, "capabilities"), j, capability) {
			json_object_foreach(json_object_get(capability, "answers"), caller, answer)
				write_row(host, topic, capability, caller, answer, f);
		}
		write_facts(host, topic, f);
	}
	json_array_foreach(json_object_get(probed, "pmus"), i, capability)
		write_pmu(host, capability, f);
	json_decref(host);
}
