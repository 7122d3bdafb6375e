/* SPDX-License-Identifier: MIT */
/*
 * What a run has found, into the baseline. The function of a new entry is the one that the case
 * says keeps the promise: a place to begin to look.
 */
#include "run/baseline_update.h"

#include <stdlib.h>
#include <string.h>

#include "text/one_line.h"
#include "language/one_or_list.h"

enum { WHY_MOST = 120 };

/* What the results of an entry say of it. */
struct findings {
	unsigned failed, passed;
};

/* "6.18.44" of "6.18.44-fc-v669". */
static void plain_version(const char *version, char *out, size_t size)
{
	size_t n = strspn(version, "0123456789.");

	while (n && version[n - 1] == '.')
		n--;
	snprintf(out, size, "%.*s", (int)n, version);
}

/* The first name in "perf_event_alloc, perf_try_init_event". */
static json_t *function_of(const struct instance *instance)
{
	const char *text = json_string_value(json_object_get(instance->spec, "kernel"));
	size_t n = 0;

	while (text && ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z') ||
			(n && text[n] >= '0' && text[n] <= '9') || text[n] == '_'))
		n++;
	return n ? json_stringn(text, n) : json_string("sys_perf_event_open");
}

/* As much of a text as there is room for; where it is cut, it says so. */
static void put_cut(const char *text, char out[WHY_MOST])
{
	if ((size_t)snprintf(out, WHY_MOST, "%s", text) >= WHY_MOST)
		memcpy(out + WHY_MOST - sizeof("..."), "...", sizeof("..."));
}

/* One line of what came in place of what, without what a baseline may not hold. */
static json_t *why_of(const struct result *result)
{
	char text[WHY_MOST * 3], got[WHY_MOST], expected[WHY_MOST];
	json_t *json;

	put_cut(result->verdict.got[0] ? result->verdict.got : "nothing", got);
	put_cut(result->verdict.expected[0] ? result->verdict.expected : "something", expected);
	snprintf(text, sizeof(text), "gives %s where %s is promised", got, expected);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = ' ';
	json = json_string(text);
	return json;
}

static bool is_of_same_case(const struct result *a, const struct result *b)
{
	return a->instance->source == b->instance->source &&
	       a->instance->case_index == b->instance->case_index;
}

static json_t *new_entry(const struct result *result, const struct abi_arch *arch,
			 const char *version)
{
	char from[96];
	json_t *when;

	snprintf(from, sizeof(from), ">=%s", version);
	when = json_pack("{s:s}", "kernel", from);
	if (arch)
		json_object_set_new(when, "arch", json_string(arch->name));
	return json_pack("{s:[s], s:o, s:o, s:o, s:[s]}", "id", result->instance->id, "when", when,
			 "function", function_of(result->instance), "why", why_of(result), "seen",
			 version);
}

static bool is_known_failure(const struct result *result)
{
	return result->verdict.outcome == FAIL && !result->differed && result->runs;
}

/* One entry for each case; those of the same case stand beside each other. */
static void add_failures(json_t *deviations, const struct abi_arch *arch, const char *version,
			 const struct result *results, size_t count,
			 struct baseline_changes *changes)
{
	const struct result *before = NULL;
	json_t *entry = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct result *result = &results[i];

		if (!is_known_failure(result))
			continue;
		if (before && is_of_same_case(before, result)) {
			json_array_append_new(json_object_get(entry, "id"),
					      json_string(result->instance->id));
			continue;
		}
		entry = new_entry(result, arch, version);
		json_array_append_new(deviations, entry);
		before = result;
		changes->added++;
	}
}

/* Oldest first. True if it was not there. */
static bool add_version(json_t *entry, const char *version)
{
	json_t *seen = json_object_get(entry, "seen");
	size_t i = 0;

	if (!seen) {
		seen = json_array();
		json_object_set_new(entry, "seen", seen);
	}
	while (i < json_array_size(seen) &&
	       abi_version_compare(json_string_value(json_array_get(seen, i)), version) < 0)
		i++;
	if (i < json_array_size(seen) &&
	    !abi_version_compare(json_string_value(json_array_get(seen, i)), version))
		return false;
	return !json_array_insert_new(seen, i, json_string(version));
}

/* Whether its versions are all older. */
static bool is_before(const json_t *entry, const char *version)
{
	static const char *const keys[] = {"seen", "read"};

	for (size_t k = 0; k < 2; k++) {
		const json_t *list = json_object_get(entry, keys[k]);
		size_t n = json_array_size(list);
		const char *last = n ? json_string_value(json_array_get(list, n - 1)) : NULL;

		if (last && abi_version_compare(last, version) >= 0)
			return false;
	}
	return true;
}

/* One of its conditions holds for older kernels alone from now on. */
static void end_condition(json_t *when, const char *until)
{
	json_t *kernel = json_object_get(when, "kernel"), *list = json_array();
	const json_t *one;

	for (size_t i = 0; (one = element(kernel, i)); i++)
		json_array_append(list, (json_t *)one);
	json_array_append_new(list, json_string(until));
	json_object_set_new(when, "kernel", list);
}

static void narrow(json_t *entry, const char *version)
{
	json_t *when = json_object_get(entry, "when");
	char until[96];
	size_t i;

	snprintf(until, sizeof(until), "<%s", version);
	if (json_is_array(when)) {
		json_t *one;

		json_array_foreach(when, i, one)
			end_condition(one, until);
	} else if (when) {
		end_condition(when, until);
	} else {
		json_object_set_new(entry, "when", json_pack("{s:s}", "kernel", until));
	}
}

/* What the results say of each entry; NULL without memory. */
static struct findings *find_all(const struct baseline *baseline, const struct result *results,
				 size_t count, struct baseline_changes *changes)
{
	struct findings *findings = calloc(baseline->count + 1, sizeof(*findings));

	for (size_t i = 0; i < count && findings; i++) {
		const struct result *result = &results[i];

		if (result->verdict.outcome == ERROR || result->differed)
			changes->left++;
		else if (result->verdict.outcome == XFAIL)
			findings[result->deviation - baseline->list].failed++;
		else if (result->verdict.outcome == XPASS)
			findings[result->deviation - baseline->list].passed++;
	}
	return findings;
}

/* An entry of a machine does not end with a kernel. */
static void take_findings(json_t *entry, bool of_machine, struct findings found,
			  const char *version, struct baseline_changes *changes)
{
	if (found.failed)
		changes->seen += add_version(entry, version);
	if (found.passed && (of_machine || found.failed || !is_before(entry, version))) {
		changes->left += found.passed;
	} else if (found.passed) {
		narrow(entry, version);
		changes->narrowed++;
	}
}

json_t *baseline_update(const struct baseline *baseline, const struct environment *env,
			const struct result *results, size_t count,
			struct baseline_changes *changes)
{
	struct findings *findings;
	json_t *json, *deviations;
	char version[80];

	*changes = (struct baseline_changes){0};
	findings = find_all(baseline, results, count, changes);
	json = baseline->json
		       ? json_deep_copy(baseline->json)
		       : json_pack("{s:s, s:[]}", "about", "What kernels break.", "deviations");
	if (!findings || !json) {
		free(findings);
		json_decref(json);
		return NULL;
	}
	deviations = json_object_get(json, "deviations");
	plain_version(env->upstream, version, sizeof(version));
	for (size_t i = 0; i < baseline->count; i++)
		take_findings(json_array_get(deviations, i), baseline->list[i].of_machine,
			      findings[i], version, changes);
	add_failures(deviations, env->arch, version, results, count, changes);
	free(findings);
	return json;
}
