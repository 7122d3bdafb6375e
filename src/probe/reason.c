/* SPDX-License-Identifier: MIT */
/*
 * Why a capability is not there: what cases/probe.json says of it, or the model of the call that
 * was refused, or else what the case has found.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"
#include "probe/probe.h"

/* What the model says of a call that was refused; false: nothing. */
static bool ask_model(json_t *json, const struct probe *probe, const struct result *result)
{
	const struct verdict *v = &result->verdict;
	struct caller caller = caller_as(&probe->env->rights, result->instance->who.as);
	struct world_event leader = {.fd = v->refused.group_fd, .is_unknown = true};
	struct world world = {.told = v->err,
			      .events = &leader,
			      .event_count = v->refused.group_fd >= 0,
			      .sees_processes = true};
	struct call call = {.image = malloc(sizeof(v->refused.attr)),
			    .pid = v->refused.pid,
			    .cpu = v->refused.cpu,
			    .group_fd = v->refused.group_fd,
			    .flags = v->refused.flags};
	bool found = false;

	if (call.image) {
		memcpy(call.image, v->refused.attr, sizeof(v->refused.attr));
		found = model_tell_cause(probe->model, &call, &caller, &world, json);
	}
	free(call.image);
	return found;
}

/* How a kernel, or a machine, is known to break it, and the version that mended it. */
static void tell_deviation(json_t *json, const struct deviation *known)
{
	char words[900];

	deviation_words(known, words, sizeof(words));
	json_object_set_new(json, "because",
			    json_sprintf("this %s breaks it: %s", deviation_whose(known), words));
	if (known->fixed)
		json_object_set_new(json, "instead",
				    json_sprintf("a kernel with the fix: %s", known->fixed));
}

static void set_reason(json_t *json, const struct probe *probe, const struct result *result,
		       const char *key)
{
	const struct verdict *v = &result->verdict;
	const struct absence_of what = {.key = key,
					.caller = identity_names[result->instance->who.as],
					.token = result->token,
					.err = v->err};
	const struct guide_reason *reason = guide_reason(probe->guide, &what, probe->env);
	const struct deviation *known =
		v->err || result->token
			? NULL
			: baseline_find(probe->baseline, result->instance, probe->env);

	if (known && !(known->of_machine && reason)) {
		tell_deviation(json, known);
		return;
	}
	if (reason) {
		json_object_set_new(json, "because", json_string(reason->because));
		if (reason->instead)
			json_object_set_new(json, "instead", json_string(reason->instead));
		return;
	}
	if (v->refused.is_there && v->err && ask_model(json, probe, result))
		return;
	if (result->token)
		json_object_set_new(
			json, "because",
			json_sprintf("it takes %s: %s", result->token,
				     result->reason ? result->reason : "it is not met"));
	else if (v->err)
		json_object_set_new(json, "because",
				    json_sprintf("the kernel says %s to %.400s", errno_name(v->err),
						 v->call[0] ? v->call : "it"));
	else if (v->expected[0] || v->got[0])
		json_object_set_new(json, "because",
				    json_sprintf("the event opens, and what came is not what was "
						 "looked for: expected %.200s, got %.200s",
						 v->expected, v->got));
	else if (result->reason)
		json_object_set_new(json, "because", json_string(result->reason));
}

/* Of a case that did not run: what its token says of the machine. */
static const char *answer_of_skip(const struct probe *probe, const struct result *result,
				  const char *key)
{
	const struct absence_of what = {.key = key,
					.caller = identity_names[result->instance->who.as],
					.token = result->token};
	const struct guide_reason *reason = guide_reason(probe->guide, &what, probe->env);

	return reason ? guide_answers[reason->answer] : guide_answers[ANSWER_UNKNOWN];
}

json_t *answer_json(const struct probe *probe, const struct result *result, const char *key)
{
	const struct verdict *v = &result->verdict;
	json_t *json = json_object();
	const char *answer = "unknown";

	if (v->outcome == SKIP && result->token)
		answer = answer_of_skip(probe, result, key);
	else if (v->outcome == PASS)
		answer = v->capability[0] ? v->capability : "unknown";
	else if (v->outcome == FAIL) /* the kernel does another thing than it says */
		answer = "no";
	json_object_set_new(json, "answer", json_string(answer));
	if (v->err)
		json_object_set_new(json, "errno", json_string(errno_name(v->err)));
	if (result->token)
		json_object_set_new(json, "token", json_string(result->token));
	if (strcmp(answer, "yes") != 0)
		set_reason(json, probe, result, key);
	return json;
}
