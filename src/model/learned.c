/* SPDX-License-Identifier: MIT */
/*
 * What is learned, as cases/model.json lists it, and as reports have it. How it is learned is
 * learn.c.
 */
#include "model/learned.h"

#include <errno.h>
#include <string.h>

#include "model/bit_word.h"

int learned_load(struct learned *learned, const json_t *file, const struct where *w,
		 struct error *e)
{
	const char *name;
	json_t *json;

	*learned = (struct learned){0};
	json_object_foreach(json_object_get(file, "learned"), name, json) {
		struct where at = where_key(AT_KEY(w, "learned"), name);
		const char *about = json_string_value(json_object_get(json, "about"));

		if (learned->count == LEARNED_MAX)
			return error_text(e, &at, "more", "at most %d of them", LEARNED_MAX);
		if (!about)
			return error_value(e, &at, json, "`about`, and how it is learned");
		learned->list[learned->count++] =
			(struct lesson){.name = name, .about = about, .json = json};
	}
	return 0;
}

const struct lesson *learned_find(const struct learned *learned, const char *name)
{
	for (size_t i = 0; i < learned->count; i++)
		if (!strcmp(learned->list[i].name, name))
			return &learned->list[i];
	return NULL;
}

struct abi_field lesson_field(const struct abi *abi, const char *name)
{
	struct abi_field word;

	if (strcmp(name, "attr.bits"))
		return *abi_field(abi, name + strlen("attr."));
	word = *abi_field(abi, "disabled");
	word.width = word.first = 0;
	word.of_bits = true;
	return word;
}

/* The bits of a family that a kernel of that version knows; of one that is no mask, a bit for each
 * value. */
static uint64_t known_bits(const struct abi_family *family, const char *version)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < family->count; i++) {
		uint64_t value = family->values[i].value;

		if (abi_version_compare(version, family->values[i].since) < 0)
			continue;
		if (family->mask)
			bits |= value;
		else if (value < 64)
			bits |= UINT64_C(1) << value;
	}
	return bits;
}

/* The same of the bit fields of attr that lie in one word, as that word has them. */
static uint64_t known_fields(const struct abi *abi, const struct abi_field *word,
			     const char *version)
{
	unsigned char bytes[8];
	uint64_t bits = 0;

	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		struct abi_field moved = *field;

		if (!field->width || field->offset != word->offset || field->reserved ||
		    abi_version_compare(version, field->since) < 0)
			continue;
		memset(bytes, 0, sizeof(bytes));
		moved.offset = 0;
		attr_set(&moved, bytes, host_order(), UINT64_MAX);
		bits |= bit_word(load_word(bytes, word->size, host_order()), word->size);
	}
	return bits;
}

/* A number, or a text with one; 0 of anything else. */
static uint64_t arch_number(const json_t *json)
{
	struct where nowhere = {0};
	struct error e = {0};
	struct value value;

	return value_eval(json, NULL, NULL, &nowhere, &value, &e) ? 0 : value.bits;
}

uint64_t lesson_by_version(const struct lesson *lesson, const struct environment *env, bool *known)
{
	const char *since = json_string_value(json_object_get(lesson->json, "since"));
	const char *of = json_string_value(json_object_get(lesson->json, "bits_of"));
	const json_t *by_arch = json_object_get(lesson->json, "by_arch");
	const struct abi_family *family = since ? abi_family(env->abi, since) : NULL;
	const json_t *value = env->arch ? json_object_get(by_arch, env->arch->name) : NULL;

	*known = value || (since && env->upstream[0]);
	if (value)
		return arch_number(value);
	if (!*known)
		return 0;
	if (family)
		return known_bits(family, env->upstream);
	if (of) {
		const struct abi_field word = lesson_field(env->abi, of);

		return known_fields(env->abi, &word, env->upstream);
	}
	return abi_version_compare(env->upstream, since) >= 0;
}

void learned_from_json(struct learned *learned, const json_t *json, const struct environment *env)
{
	for (size_t i = 0; i < learned->count; i++) {
		struct lesson *lesson = &learned->list[i];
		const json_t *told = json_object_get(json, lesson->name);
		struct where nowhere = {0};
		struct error e = {0};
		struct value value;

		if (told && !value_eval(told, NULL, NULL, &nowhere, &value, &e)) {
			lesson->value = value.bits;
			lesson->is_known = true;
		} else {
			lesson->value = lesson_by_version(lesson, env, &lesson->is_known);
		}
	}
}

json_t *learned_json(const struct learned *learned)
{
	json_t *json = json_object();

	for (size_t i = 0; i < learned->count; i++)
		if (learned->list[i].is_known)
			json_object_set_new(json, learned->list[i].name,
					    value_json(learned->list[i].value));
	return json;
}
