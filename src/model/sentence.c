/* SPDX-License-Identifier: MIT */
/*
 * Sentences with facts in them.
 */
#include "model/sentence.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "text/one_line.h"

enum { SENTENCE_MAX = 1024 };

/* The length of the name behind a $, without a full stop that ends it. */
static size_t name_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");

	while (n && text[n - 1] == '.')
		n--;
	return n;
}

static int compile_piece(struct piece *out, const char **text, const struct facts *facts,
			 const struct where *w, struct error *e)
{
	char name[64];
	struct nearest near;
	size_t n;

	*out = (struct piece){.text = *text, .length = strcspn(*text, "$"), .fact = -1};
	*text += out->length;
	if (!**text)
		return 0;
	n = name_length(*text + 1);
	snprintf(name, sizeof(name), "%.*s", (int)n, *text + 1);
	near = nearest_to(name);
	out->fact = facts_find(facts, name, &near);
	*text += 1 + n;
	return out->fact < 0 ? error_name(e, w, name, near.best, "a fact, after the $") : 0;
}

int sentence_read(struct doc *d, const json_t *json, void *sentence, const struct where *w)
{
	const struct vocabulary *v = d->context;
	const char *text = json_string_value(json);
	struct sentence *out = sentence;
	size_t most = 1;

	if (!text || !one_line(text))
		return error_value(d->e, w, json, "a sentence, one line");
	for (const char *at = text; *at; at++)
		most += *at == '$';
	out->pieces = arena_array(d->arena, most, sizeof(*out->pieces));
	if (!out->pieces)
		return error_no_memory(d->e, w, "memory for a sentence");
	while (*text)
		if (compile_piece(&out->pieces[out->count++], &text, v->facts, w, d->e))
			return -EINVAL;
	return 0;
}

int sentence_constant(const char *prefix, const char *name, char *out, size_t size)
{
	/* A number is better read without what C puts before it: HW_BREAKPOINT_LEN_4. */
	int n = snprintf(out, size, "%s%s", isdigit((unsigned char)name[0]) ? "" : prefix, name);

	for (char *c = out; prefix[0] && size && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return n;
}

/* The bits by name, and what has none as a number. */
static int print_bits(const struct abi_family *family, uint64_t value, char *out, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < family->count && at + 2 < size; i++) {
		uint64_t bit = family->values[i].value;

		if (!bit || (value & bit) != bit)
			continue;
		if (at)
			out[at++] = '|';
		at += (size_t)sentence_constant(family->prefix, family->values[i].name, out + at,
						size - at);
		value &= ~bit;
	}
	if (value && at < size)
		at += (size_t)snprintf(out + at, size - at, "%s%#llx", at ? "|" : "",
				       (unsigned long long)value);
	return (int)at;
}

/* A count as people write it; masks and addresses in hexadecimal. */
static int print_fact(const struct fact *fact, const struct situation *s, uint64_t value, char *out,
		      size_t size)
{
	const struct abi_value *name = fact->names ? abi_value_of(fact->names, value) : NULL;

	if (fact->print)
		return fact->print(fact, s, value, out, size);
	if (name)
		return sentence_constant(fact->names->prefix, name->name, out, size);
	if (fact->names && fact->names->mask && value)
		return print_bits(fact->names, value, out, size);
	if (fact->is_signed)
		return snprintf(out, size, "%lld", (long long)value);
	if (fact->is_mask || value > UINT64_C(1) << 40)
		return snprintf(out, size, "%#llx", (unsigned long long)value);
	return snprintf(out, size, "%llu", (unsigned long long)value);
}

void sentence_write(const struct sentence *sentence, const struct facts *facts, struct situation *s,
		    char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sentence->count && at + 1 < size; i++) {
		const struct piece *piece = &sentence->pieces[i];
		size_t n = piece->length < size - at ? piece->length : size - at - 1;
		uint64_t value;
		int printed = 0;

		memcpy(out + at, piece->text, n);
		at += n;
		out[at] = '\0';
		if (piece->fact >= 0 && fact_get(facts, (size_t)piece->fact, s, &value))
			printed = print_fact(&facts->list[piece->fact], s, value, out + at,
					     size - at);
		else if (piece->fact >= 0)
			printed = snprintf(out + at, size - at, "unknown");
		at += printed > 0 ? (size_t)printed : 0;
	}
}

void sentence_tell(const struct sentence *sentence, const struct facts *facts, struct situation *s,
		   json_t *json, const char *key)
{
	char text[SENTENCE_MAX];

	if (!sentence->count)
		return;
	sentence_write(sentence, facts, s, text, sizeof(text));
	json_object_set_new(json, key, json_string(text));
}
