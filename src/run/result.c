/* SPDX-License-Identifier: MIT */
/*
 * A result owns its texts. One of several rounds has what they have in common, and how often they
 * did not.
 */
#include "run/result.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/require.h"

bool result_has_run(const struct result *result)
{
	return result->runs || result->disturbed;
}

void result_set_text(char **to, const char *text)
{
	free(*to);
	*to = text && text[0] ? strdup(text) : NULL;
}

void result_clear(struct result *result)
{
	free(result->token);
	free(result->reason);
	*result = (struct result){0};
}

/* Text with its numbers left out: of two cases that differ in these alone the cause is the same. */
static uint64_t hash_shape(uint64_t hash, const char *text)
{
	for (bool in_number = false; text && *text; text++) {
		bool is_digit = *text >= '0' && *text <= '9';

		if (!is_digit || !in_number)
			hash = (hash ^ (unsigned char)(is_digit ? '#' : *text)) *
			       UINT64_C(1099511628211);
		in_number = is_digit;
	}
	return hash;
}

uint64_t result_cause(const struct result *result)
{
	const struct verdict *v = &result->verdict;
	uint64_t hash = UINT64_C(14695981039346656037) + (uint64_t)v->outcome;

	if (v->got[0] == 'E' && strstr(v->got, " from ")) /* an errno, and the gate that gave it */
		return hash_shape(hash, v->got);
	hash = hash_shape(hash,
			  json_string_value(json_object_get(result->instance->spec, "kernel")));
	hash = hash_shape(hash, v->expected);
	hash = hash_shape(hash, v->got);
	return hash_shape(hash, result->reason);
}

struct result *results_new(size_t count)
{
	size_t size = (count + 1) * sizeof(struct result);
	struct result *results =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (results == MAP_FAILED)
		return NULL;
	madvise(results, size, MADV_DONTFORK); /* no case has any use for them */
	return results;
}

void results_free(struct result *results, size_t count)
{
	if (!results)
		return;
	for (size_t i = 0; i < count; i++)
		result_clear(&results[i]);
	munmap(results, (count + 1) * sizeof(*results));
}

void beside_add(struct beside *beside, const struct instance *instance)
{
	const struct instance *one;

	for (size_t i = 0; (one = beside_at(beside, i)); i++)
		if (one == instance)
			return; /* its trial: told once */
	beside->last[beside->count++ % BESIDE_MOST] = instance;
}

const struct instance *beside_at(const struct beside *beside, size_t i)
{
	size_t known = beside->count < BESIDE_MOST ? beside->count : BESIDE_MOST;

	return i < known ? beside->last[(beside->count - known + i) % BESIDE_MOST] : NULL;
}

void result_skip(struct result *result, const char *token, const char *reason)
{
	result_clear(result);
	result->verdict.outcome = SKIP;
	result_set_text(&result->token, token);
	result_set_text(&result->reason, reason);
}

void result_error(struct result *result, const char *reason)
{
	result->verdict.outcome = ERROR;
	result_set_text(&result->reason, reason);
}

void result_void(struct result *result, const char *reason)
{
	double seconds = result->seconds;

	result_clear(result);
	result->verdict.outcome = ERROR;
	result->disturbed = true;
	result->seconds = seconds;
	result_set_text(&result->reason, reason);
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* A round in which somebody was in the way says nothing. */
static bool is_passed_over(const struct result *result)
{
	return result->disturbed || (result->verdict.outcome == SKIP && result->token &&
				     require_is_fleeting(result->token));
}

/* Whether a round did not come out as the first did. */
static bool differs(const struct result *kept, const struct result *fresh)
{
	return fresh->verdict.outcome != kept->first ||
	       fresh->verdict.phases != kept->first_phases ||
	       (kept->first == SKIP && !same_text(fresh->token, kept->token));
}

void result_add_round(struct result *kept, struct result *fresh)
{
	bool begins = !kept->runs || is_passed_over(kept);
	bool differ = !begins && !is_passed_over(fresh) && differs(kept, fresh);
	int first = begins ? fresh->verdict.outcome : kept->first;
	unsigned first_phases = begins ? fresh->verdict.phases : kept->first_phases;
	unsigned runs = kept->runs + 1, differed = kept->differed + differ;

	fresh->has_failed = kept->has_failed |= fresh->verdict.outcome == FAIL;
	if (begins || (differ && !kept->differed && kept->verdict.outcome == PASS)) {
		struct result old = *kept;

		*kept = *fresh;
		*fresh = old;
	}
	result_clear(fresh);
	kept->first = first;
	kept->first_phases = first_phases;
	kept->runs = runs;
	kept->differed = differed;
}
