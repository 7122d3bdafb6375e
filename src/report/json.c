/* SPDX-License-Identifier: MIT */
/*
 * JSON (one object) and JSON Lines (a line as each case begins, and one as it ends).
 * cases/schema/report.schema.json describes both.
 */
#include "report/report.h"
#include "text/json_text.h"

#include <stdlib.h>

static json_t *summary(const struct report *report)
{
	const struct alarms *alarms = report->alarms;
	json_t *json = tally_json(report), *list = json_array();

	json_object_set_new(json, "seconds", json_real(report->seconds));
	if (report->interrupted)
		json_object_set_new(json, "interrupted", json_integer(report->interrupted));
	for (size_t i = 0; i < alarms->count; i++)
		json_array_append_new(list, alarm_json(&alarms->list[i]));
	if (alarms->watch.log >= 0 || alarms->watch.has_taint)
		json_object_set(json, "alarms", list);
	json_decref(list);
	if (alarms->more)
		json_object_set_new(json, "more_alarms", json_integer((json_int_t)alarms->more));
	return json;
}

static void dump(struct output *out, json_t *json, size_t flags)
{
	/* fputs, not json_dumpf: a write error must stay on the stream for whoever closes it. */
	char *text = or_exit(json_text(json, flags | JSON_REAL_PRECISION(6)));

	fprintf(out->f, "%s\n", text);
	free(text);
	json_decref(json);
}

static json_t *head(const struct report *report)
{
	json_t *json = head_json(report->env, report->host, report->cases_hash);
	char *text = report->again_words ? json_text(report->again_words, 0) : NULL;

	if (text) /* a folder's name may be no UTF-8: no JSON has that */
		json_object_set(json, "again", report->again_words);
	free(text);
	return json;
}

static void json_end(struct output *out, const struct report *report)
{
	json_t *results = json_array(), *json = head(report);

	for (size_t i = 0; i < report->count; i++)
		json_array_append_new(results, result_json(&report->results[i], report->cases));
	json_object_set_new(json, "summary", summary(report));
	json_object_set_new(json, "results", results);
	dump(out, json, JSON_INDENT(1));
}

/* A line: its type, and the members of `rest`, which it takes. */
static void put_json_line(struct output *out, const char *type, json_t *rest)
{
	json_t *json = json_pack("{s:s}", "type", type);

	json_object_update(json, rest);
	json_decref(rest);
	dump(out, json, JSON_COMPACT);
	fflush(out->f);
}

static void jsonl_begin(struct output *out, const struct report *report)
{
	put_json_line(out, "environment", head(report));
}

static void jsonl_started(struct output *out, const struct instance *instance)
{
	put_json_line(out, "begin", json_pack("{s:s}", "id", instance->id));
}

static void jsonl_ended(struct output *out, const struct report *report,
			const struct result *result)
{
	put_json_line(out, "result", result_json(result, report->cases));
}

static void jsonl_raised(struct output *out, const struct report *report)
{
	put_json_line(out, "alarm", alarm_json(&report->alarms->list[report->alarms->count - 1]));
}

static void jsonl_end(struct output *out, const struct report *report)
{
	put_unreached(out, report);
	put_json_line(out, "summary", summary(report));
}

const struct printer printer_json = {.name = "json", .end = json_end};
const struct printer printer_jsonl = {.name = "jsonl",
				      .begin = jsonl_begin,
				      .started = jsonl_started,
				      .ended = jsonl_ended,
				      .raised = jsonl_raised,
				      .end = jsonl_end};
