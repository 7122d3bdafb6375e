/* SPDX-License-Identifier: MIT */
/*
 * A report is one object, or an object a line; what perfabi probe --json prints is one object, too.
 */
#include "diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case/load.h"
#include "text/source.h"
#include "text/where.h"

enum { FILE_MOST = 1 << 30 };

static const char expected[] =
	"what perfabi run --format json or jsonl, or perfabi probe --json, has written";

const char *diff_member(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "";
}

void side_free(struct side *side)
{
	json_decref(side->about);
	json_decref(side->answers);
	json_decref(side->facts);
	*side = (struct side){0};
}

static void copy_member_text(json_t *to, const char *as, const json_t *from, const char *key)
{
	const char *text = diff_member(from, key);

	if (text[0])
		json_object_set_new(to, as, json_string(text));
}

static void take_head(struct side *side, const json_t *head)
{
	const json_t *host = json_object_get(head, "host"),
		     *environment = json_object_get(head, "environment");

	copy_member_text(side->about, "name", host, "name");
	copy_member_text(side->about, "kernel", environment, "kernel");
	copy_member_text(side->about, "machine", environment, "machine");
	copy_member_text(side->about, "time", head, "time");
	copy_member_text(side->about, "perfabi", head, "perfabi");
	copy_member_text(side->about, "cases", head, "cases");
}

/* What is known of a result, in a line: why it did not run, or what came in place of what. */
static json_t *because_of(const json_t *result)
{
	const char *token = diff_member(result, "token"), *reason = diff_member(result, "reason");
	const char *wanted = diff_member(result, "expected"), *got = diff_member(result, "got");
	const char *outcome = diff_member(result, "outcome");

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
	const char *capability = diff_member(result, "capability");

	return capability[0] ? capability : diff_member(result, "outcome");
}

static void take_answer(struct side *side, const char *key, const char *topic, const char *title,
			const char *answer, json_t *because)
{
	json_t *one =
		json_pack("{s:s, s:s, s:s}", "topic", topic, "title", title, "answer", answer);

	if (because)
		json_object_set_new(one, "because", because);
	json_object_set_new(side->answers, key, one);
}

/* False if it is no result. */
static bool take_result(struct side *side, const json_t *result)
{
	const char *id = diff_member(result, "id");

	if (!id[0] || !diff_member(result, "outcome")[0])
		return false;
	take_answer(side, id, diff_member(result, "suite"), diff_member(result, "title"),
		    answer_of(result), because_of(result));
	return true;
}

/* Each caller's answer by itself. */
static bool take_capability(struct side *side, const json_t *topic, const json_t *capability)
{
	const json_t *answers = json_object_get(capability, "answers");
	const char *key = diff_member(capability, "key"), *caller;
	json_t *answer;

	if (!key[0] || !json_is_object(answers))
		return false;
	json_object_foreach((json_t *)answers, caller, answer) {
		const char *because = diff_member(answer, "because");
		char whole[512];

		snprintf(whole, sizeof(whole), "%s.%s", key, caller);
		take_answer(side, whole, diff_member(topic, "title"),
			    diff_member(capability, "title"), diff_member(answer, "answer"),
			    because[0] ? json_string(because) : NULL);
	}
	return true;
}

static bool take_fact(struct side *side, const json_t *topic, const json_t *fact)
{
	const char *key = diff_member(fact, "key");
	json_t *value = json_object_get(fact, "value");

	if (!key[0] || !value)
		return false;
	json_object_set_new(side->facts, key,
			    json_pack("{s:s, s:s, s:O}", "topic", diff_member(topic, "title"),
				      "title", diff_member(fact, "title"), "value", value));
	return true;
}

static bool take_topic(struct side *side, const json_t *topic)
{
	const json_t *capabilities = json_object_get(topic, "capabilities"), *one;
	const json_t *facts = json_object_get(topic, "facts");
	size_t i;

	json_array_foreach(capabilities, i, one)
		if (!take_capability(side, topic, one))
			return false;
	json_array_foreach(facts, i, one)
		if (!take_fact(side, topic, one))
			return false;
	return json_is_array(capabilities) && json_is_array(facts);
}

/* A PMU is a fact by its name: there, or not. */
static void take_pmu_names(struct side *side, const json_t *pmus)
{
	const json_t *pmu;
	size_t i;

	json_array_foreach(pmus, i, pmu) {
		char key[256];

		snprintf(key, sizeof(key), "pmu.%s", diff_member(pmu, "name"));
		json_object_set_new(side->facts, key,
				    json_pack("{s:s, s:s, s:b}", "topic", "PMUs", "title",
					      diff_member(pmu, "name"), "value", 1));
	}
}

/* Of one object: a report or a probe. False if it is neither. */
static bool take_object(struct side *side, const json_t *json)
{
	const json_t *results = json_object_get(json, "results"), *one;
	const json_t *topics = json_object_get(json, "topics");
	bool is_right = json_is_array(results) != json_is_array(topics);
	size_t i;

	take_head(side, json);
	side->kind = json_is_array(topics) ? DIFF_PROBE : DIFF_REPORT;
	json_array_foreach(results, i, one)
		is_right = is_right && take_result(side, one);
	json_array_foreach(topics, i, one)
		is_right = is_right && take_topic(side, one);
	take_pmu_names(side, json_object_get(json, "pmus"));
	return is_right && json_is_object(json_object_get(json, "environment"));
}

/* A machine that died can have left the last line cut. False if its first is no report's. */
static bool take_lines(struct side *side, const char *text, size_t size)
{
	bool has_head = false, is_right = true;

	side->kind = DIFF_REPORT;
	for (const char *end = text + size; text < end && is_right;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);
		json_t *line = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);

		if (!has_head) {
			has_head = json_is_object(json_object_get(line, "environment"));
			take_head(side, line);
			is_right = has_head;
		} else if (!strcmp(diff_member(line, "type"), "result")) {
			is_right = take_result(side, line);
		} else {
			is_right = line || !newline;
		}
		json_decref(line);
		text += n + 1;
	}
	return has_head && is_right;
}

/* True if the first line is an object by itself, and there are more. */
static bool has_lines(const char *text, size_t size)
{
	const char *newline = memchr(text, '\n', size);
	json_t *line = newline ? json_loadb(text, (size_t)(newline - text), 0, NULL) : NULL;
	bool has = !strcmp(diff_member(line, "type"), "environment");

	json_decref(line);
	return has;
}

int side_read(struct side *side, const char *path, struct error *e)
{
	const char *file = strcmp(path, "-") != 0 ? path : "/dev/stdin";
	struct source source = {.name = path, .root = ""};
	struct where root = where_root(&source);
	json_t *json = NULL;
	char *text;

	*side = (struct side){
		.about = json_object(), .answers = json_object(), .facts = json_object()};
	text = text_read(file, &source.length, FILE_MOST);
	if (!text)
		return -errno;
	source.text = text;
	if (has_lines(text, source.length)) {
		if (!take_lines(side, text, source.length))
			error_value(e, &root, NULL, expected);
	} else {
		json = source_parse(&source, e);
		if (json && !take_object(side, json))
			error_value(e, &root, json, expected);
	}
	json_decref(json);
	free(text);
	return error_is_set(e) ? -EINVAL : 0;
}
