/* SPDX-License-Identifier: MIT */
/*
 * A report, or what perfabi probe --json prints: an answer for each case, or capability and caller.
 */
#include "diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/file.h"
#include "text/json_text.h"

static const char expected[] =
	"what perfabi run --format json or jsonl, or perfabi probe --json, has written";

/* A side as it is read. */
struct side_reading {
	json_t *about, *answers, *facts;
	const char *type;
	struct error *e;
	json_int_t unreached;
};

/* What is known of a result, in a line: why it did not run, or what came in place of what. */
static json_t *because_of(const json_t *result)
{
	const char *token = member_text(result, "token"), *reason = member_text(result, "reason");
	const char *wanted = member_text(result, "expected"), *got = member_text(result, "got");
	const char *outcome = member_text(result, "outcome");

	if (!strcmp(outcome, "pass"))
		return NULL;
	if (token[0])
		return json_sprintf("requires %s: %s", token, reason);
	if (reason[0])
		return json_string(reason);
	return wanted[0] || got[0] ? json_sprintf("expected %s, got %s", wanted, got) : NULL;
}

/* A capability's answer, where it gave one, says more than that its case came to an end. */
static const char *answer_of(const json_t *result)
{
	const char *capability = member_text(result, "capability");

	return capability[0] ? capability : member_text(result, "outcome");
}

static void take_answer(struct side_reading *r, const char *key, const char *topic,
			const char *title, const char *answer, json_t *because)
{
	json_t *one =
		json_pack("{s:s, s:s, s:s}", "topic", topic, "title", title, "answer", answer);

	if (because)
		json_object_set_new(one, "because", because);
	json_object_set_new(r->answers, key, one);
}

/* Each caller's answer by itself. */
static bool take_capability(struct side_reading *r, const json_t *topic, const json_t *capability)
{
	const json_t *answers = json_object_get(capability, "answers");
	const char *key = member_text(capability, "key"), *caller;
	json_t *answer;

	if (!key[0] || !json_is_object(answers))
		return false;
	json_object_foreach((json_t *)answers, caller, answer) {
		const char *because = member_text(answer, "because");
		char whole[512];

		snprintf(whole, sizeof(whole), "%s.%s", key, caller);
		take_answer(r, whole, member_text(topic, "title"), member_text(capability, "title"),
			    member_text(answer, "answer"),
			    because[0] ? json_string(because) : NULL);
	}
	return true;
}

static bool take_fact(struct side_reading *r, const char *key, const char *topic, const char *title,
		      json_t *value)
{
	return key[0] && value &&
	       !json_object_set_new(r->facts, key,
				    json_pack("{s:s, s:s, s:O}", "topic", topic, "title", title,
					      "value", value));
}

static bool take_topic(struct side_reading *r, const json_t *topic)
{
	const json_t *capabilities = json_object_get(topic, "capabilities"), *one;
	const json_t *facts = json_object_get(topic, "facts");
	size_t i;

	json_array_foreach(capabilities, i, one)
		if (!take_capability(r, topic, one))
			return false;
	json_array_foreach(facts, i, one)
		if (!take_fact(r, member_text(one, "key"), member_text(topic, "title"),
			       member_text(one, "title"), json_object_get(one, "value")))
			return false;
	return json_is_array(capabilities) && json_is_array(facts);
}

/* A PMU is a fact by its name: there, or not. */
static void take_pmu_names(struct side_reading *r, const json_t *pmus)
{
	const json_t *pmu;
	size_t i;

	json_array_foreach(pmus, i, pmu) {
		char key[256];

		snprintf(key, sizeof(key), "pmu.%s", member_text(pmu, "name"));
		take_fact(r, key, "PMUs", member_text(pmu, "name"), json_true());
	}
}

static int side_head(void *context, const json_t *head, const struct where *w)
{
	struct side_reading *r = context;

	r->about = report_about(head, w, r->e);
	return r->about ? 0 : -EINVAL;
}

static int side_result(void *context, const json_t *result, enum outcome outcome)
{
	struct side_reading *r = context;

	(void)outcome;
	if (json_is_false(json_object_get(result, "reached")))
		r->unreached++;
	else
		take_answer(r, member_text(result, "id"), member_text(result, "suite"),
			    member_text(result, "title"), answer_of(result), because_of(result));
	return 0;
}

static int side_probe(void *context, const json_t *probed, const struct where *w)
{
	struct side_reading *r = context;
	const json_t *topics = json_object_get(probed, "topics"), *topic;
	bool is_right =
		json_is_array(topics) && json_is_object(json_object_get(probed, "environment"));
	size_t i;

	r->type = "probe";
	r->about = report_about(probed, w, r->e);
	if (!r->about)
		return -EINVAL;
	json_array_foreach(topics, i, topic)
		is_right = is_right && take_topic(r, topic);
	take_pmu_names(r, json_object_get(probed, "pmus"));
	return is_right ? 0 : error_value(r->e, w, probed, "%s", expected);
}

json_t *side_read(const char *path, struct error *e)
{
	struct side_reading r = {
		.answers = json_object(), .facts = json_object(), .type = "report", .e = e};
	const struct report_sink sink = {side_head, side_result, side_probe, &r};
	bool has_end = false;
	int err = report_file_read(path, &sink, &has_end, e);
	json_t *side;

	/* What the file does not have of the run that it is of; a probe's is written at its end. */
	if (!has_end && !strcmp(r.type, "report"))
		json_object_set_new(r.about, "ended", json_false());
	if (r.unreached)
		json_object_set_new(r.about, "unreached", json_integer(r.unreached));
	side = json_pack("{s:s, s:o*, s:o, s:o}", "type", r.type, "about", r.about, "answers",
			 r.answers, "facts", r.facts);
	if (!err)
		return side;
	json_decref(side);
	return NULL;
}
