/* SPDX-License-Identifier: MIT */
/*
 * What verbs use: their arguments out of the JSON, what came of the call, events and mappings by
 * fd.
 */
#include "step/step.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

int step_failed(struct step *s, int err)
{
	char got[96];

	snprintf(got, sizeof(got), "%s (%s)", strerrorname_np(err), strerror(err));
	error_text(s->error, s->where, got, "this preparation to succeed");
	return -err;
}

static const json_t *value_at(struct step *s, const char *key, struct where *at)
{
	*at = key ? where_key(s->where, key) : s->at;
	return key ? json_object_get(s->json, key) : s->argument;
}

int step_number(struct step *s, const char *key, uint64_t fallback, uint64_t max, uint64_t *out)
{
	struct vars vars = scope_vars(s->scope);
	struct where at;
	const json_t *json = value_at(s, key, &at);
	struct value value;

	*out = fallback;
	if (!json)
		return 0;
	if (value_eval(json, NULL, &vars, &at, &value, s->error))
		return -EINVAL;
	if (value.known && value.bits > max)
		return error_value(s->error, &at, json, "0 to %llu", (unsigned long long)max);
	*out = value.bits;
	return 0;
}

int step_signed(struct step *s, const char *key, int fallback, int *out)
{
	uint64_t value;
	int err = step_number(s, key, (uint64_t)fallback, UINT64_MAX, &value);

	*out = (int)value;
	return err;
}

int step_bound(struct step *s, const char *key, uint64_t *out)
{
	struct vars vars = scope_vars(s->scope);
	struct where at;
	const json_t *json = value_at(s, key, &at);
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	bool known;

	if (!name)
		return error_value(s->error, &at, json, "a name bound before");
	if (vars.lookup(vars.context, name, out, &known, &near))
		return error_name(s->error, &at, name, near.best, "a name bound before");
	return 0;
}

int step_text(struct step *s, const char *key, char *out, size_t size)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);
	const char *text = json_string_value(json);
	int err;

	if (!text)
		return error_value(s->error, &at, json, "a text");
	err = scope_expand(s->scope, text, out, size);
	if (err == -ENOENT)
		return error_value(s->error, &at, json, "$names that are known here");
	return err ? error_value(s->error, &at, json, "less than %zu bytes", size) : 0;
}

int step_word(struct step *s, const char *key, const char *const words[], int fallback, int *out)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);
	const char *text = json_string_value(json);
	struct nearest near = nearest_to(text ? text : "");
	char all[160] = "";

	*out = fallback;
	if (!json && fallback >= 0)
		return 0;
	*out = text ? name_index(text, words, &near) : -1;
	if (*out >= 0)
		return 0;
	for (size_t i = 0; words[i]; i++) {
		size_t n = strlen(all);

		snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", words[i]);
	}
	return text ? error_name(s->error, &at, text, near.best, "one of %s", all)
		    : error_value(s->error, &at, json, "one of %s", all);
}

int step_truth(struct step *s, const char *key, bool fallback, bool *out)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);

	*out = json ? json_is_true(json) : fallback;
	return json && !json_is_boolean(json) ? error_value(s->error, &at, json, "true or false")
					      : 0;
}

int step_bits(struct step *s, const char *key, const struct step_bit *bits, size_t count,
	      unsigned fallback, unsigned *out)
{
	struct where at;
	const json_t *json = value_at(s, key, &at);
	json_t *item;
	size_t i;

	*out = json ? 0 : fallback;
	if (json && !json_is_array(json))
		return error_value(s->error, &at, json, "a list of names");
	json_array_foreach(json, i, item) {
		const char *text = json_string_value(item);
		struct nearest near = nearest_to(text ? text : "");
		size_t k = 0;

		for (; k < count && strcmp(bits[k].name, text ? text : ""); k++)
			nearest_try(&near, bits[k].name);
		if (k == count)
			return error_name(s->error, &at, text ? text : "", near.best,
					  "names such as \"%s\"", bits[0].name);
		*out |= bits[k].bit;
	}
	return 0;
}

int step_prot(struct step *s, unsigned fallback, unsigned *prot)
{
	static const struct step_bit bits[] = {
		{"read", PROT_READ}, {"write", PROT_WRITE}, {"exec", PROT_EXEC}};

	return step_bits(s, "prot", bits, 3, fallback, prot);
}

void step_say(struct step *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->call, sizeof(s->call), format, args);
	va_end(args);
}

void step_answer(struct step *s, long ret)
{
	size_t n;

	s->err = ret == -1 ? errno : 0;
	n = strlen(s->call);
	if (!n)
		return;
	if (s->err)
		snprintf(s->call + n, sizeof(s->call) - n, " = -1 %s (%s)", strerrorname_np(s->err),
			 strerror(s->err));
	else
		snprintf(s->call + n, sizeof(s->call) - n, " = %ld", ret);
}

void step_show(struct step *s, const char *key, json_t *value)
{
	if (!s->seen)
		s->seen = json_object();
	json_object_set_new(s->seen, key, value);
}

void step_show_number(struct step *s, const char *key, uint64_t value)
{
	step_show(s, key, json_integer((json_int_t)value));
}

struct opened *step_event(struct step *s, int fd)
{
	for (size_t i = s->run->event_count; i-- > 0;)
		if (s->run->events[i].fd == fd)
			return &s->run->events[i];
	return NULL;
}

struct map *step_map(struct step *s, int fd)
{
	for (size_t i = s->run->map_count; i-- > 0;)
		if (s->run->maps[i].at && s->run->maps[i].fd == fd && s->run->maps[i].is_data)
			return &s->run->maps[i];
	return NULL;
}
