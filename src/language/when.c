/* SPDX-License-Identifier: MIT */
/*
 * Conditions: who asks (as, vehicle, row) and where (arch, hypervisor, vendor, cpu), of which one
 * must be it; and tokens, which must all be met.
 */
#include "language/when.h"

#include <errno.h>
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "language/merge.h"
#include "machine/require.h"

static const struct condition {
	const char *key;
	enum { OF_CALLER, OF_TOKENS, OF_MACHINE } kind;
	const char *token; /* that the key stands for: "kernel": ">=5.13" is kernel>=5.13 */
	size_t offset;     /* in the environment, of what one of the globs must match */
} conditions[] = {{"as", OF_CALLER, NULL, 0},
		  {"vehicle", OF_CALLER, NULL, 0},
		  {"row", OF_CALLER, NULL, 0},
		  {"kernel", OF_TOKENS, "kernel", 0},
		  {"paranoid", OF_TOKENS, "paranoid", 0},
		  {"attr_size", OF_TOKENS, "attr_size", 0},
		  {"arch", OF_TOKENS, "arch.", 0},
		  {"cpus", OF_TOKENS, "cpus", 0},
		  {"bits", OF_TOKENS, "bits", 0},
		  {"token", OF_TOKENS, "", 0},
		  {"hypervisor", OF_MACHINE, NULL, offsetof(struct environment, hypervisor)},
		  {"vendor", OF_MACHINE, NULL, offsetof(struct environment, vendor)},
		  {"cpu", OF_MACHINE, NULL, offsetof(struct environment, cpu)}};
enum { CONDITIONS = sizeof(conditions) / sizeof(conditions[0]) };

/* The condition of that key, or NULL; `near` (may be NULL) is offered those before it. */
static const struct condition *condition_of(const char *key, bool of_machine, struct nearest *near)
{
	for (size_t i = 0; i < CONDITIONS; i++) {
		if (conditions[i].kind == OF_MACHINE && !of_machine)
			continue;
		if (!strcmp(conditions[i].key, key))
			return &conditions[i];
		if (near)
			nearest_try(near, conditions[i].key);
	}
	return NULL;
}

/* One of the names that are keys of `known`. */
static int check_among(const json_t *known, const char *text, const char *what,
		       const struct where *w, struct error *e)
{
	struct nearest near = nearest_to(text);
	const char *name;
	json_t *ignored;

	if (json_object_get(known, text))
		return 0;
	json_object_foreach((json_t *)known, name, ignored)
		nearest_try(&near, name);
	return error_name(e, w, text, near.best, "%s", what);
}

static int check_token(const char *prefix, const char *text, const struct abi *abi,
		       const struct where *w, struct error *e)
{
	char token[REQUIRE_TOKEN];

	if ((size_t)snprintf(token, sizeof(token), "%s%s", prefix, text) >= sizeof(token))
		return error_name(e, w, text, NULL, "a token of at most %d bytes",
				  REQUIRE_TOKEN - 1);
	if (require_case_id(token) || strchr(token, '|'))
		return error_name(e, w, text, NULL,
				  "one token that is no case (perfabi help tokens)");
	return require_check(token, abi, w, e);
}

static int check_value(const char *key, const json_t *value, const struct when_names *names,
		       const struct where *w, struct error *e)
{
	const char *text = json_string_value(value);
	struct nearest near = nearest_to(key);
	const struct condition *known = condition_of(key, names->of_machine, &near);

	if (!text)
		return error_value(e, w, value, "a string, or a list of them");
	if (!known)
		return error_name(e, w, key, near.best,
				  "as, vehicle, row, kernel, arch, paranoid, attr_size, bits, "
				  "cpus%s or token",
				  names->of_machine ? ", hypervisor, vendor, cpu" : "");
	if (known->kind == OF_TOKENS)
		return check_token(known->token, text, names->abi, w, e);
	if (known->kind == OF_MACHINE)
		return text[0] ? 0
			       : error_value(e, w, value,
					     "a glob of what the report names: AMD EPYC*");
	if (!strcmp(key, "vehicle"))
		return check_among(names->vehicles, text, "a name in vehicles.json", w, e);
	if (!strcmp(key, "row"))
		return names->rows
			       ? check_among(names->rows, text, "a row of the case's `each`", w, e)
			       : 0;
	return identity_by_name(text) >= 0 ? 0
					   : error_name(e, w, text, NULL, "%s", identity_choice);
}

int when_check(const json_t *when, const struct when_names *names, const struct where *w,
	       struct error *e)
{
	const char *key;
	json_t *value;

	if (when && !json_is_object(when))
		return error_value(e, w, when, "an object of conditions");
	json_object_foreach((json_t *)when, key, value) {
		const json_t *one;

		for (size_t i = 0; (one = element(value, i)); i++)
			if (check_value(key, one, names, AT_KEY(w, key), e))
				return -EINVAL;
	}
	return 0;
}

bool when_names_machine(const json_t *when)
{
	for (size_t i = 0; i < CONDITIONS; i++)
		if (conditions[i].kind == OF_MACHINE && json_object_get(when, conditions[i].key))
			return true;
	return false;
}

const struct abi_arch *when_arch(const json_t *when, const struct abi *abi)
{
	const struct abi_arch *arch = NULL;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)when, key, value) {
		const struct condition *known = condition_of(key, false, NULL);
		char token[REQUIRE_TOKEN];
		const json_t *one;

		for (size_t i = 0; known && known->token && !arch && (one = element(value, i));
		     i++) {
			snprintf(token, sizeof(token), "%s%s", known->token,
				 json_string_value(one));
			arch = require_arch(token, abi);
		}
	}
	return arch;
}

/* Whether one of the names, or globs, is that of the text; of a text that is not told, none is. */
static bool is_one_of(const json_t *names, bool are_globs, const char *text)
{
	const json_t *one;

	for (size_t i = 0; text && text[0] && (one = element(names, i)); i++)
		if (are_globs ? !fnmatch(json_string_value(one), text, 0)
			      : !strcmp(json_string_value(one), text))
			return true;
	return false;
}

/* All of a list are met; of architectures one, for that is what a machine has. */
static bool are_met(const char *prefix, const json_t *tokens, enum identity as,
		    struct environment *env)
{
	bool one_will_do = !strcmp(prefix, "arch.");
	char token[REQUIRE_TOKEN], found[128];
	const json_t *one;

	for (size_t i = 0; (one = element(tokens, i)); i++) {
		snprintf(token, sizeof(token), "%s%s", prefix, json_string_value(one));
		if ((require_truth(env, token, as, found, sizeof(found)) == 1) == one_will_do)
			return one_will_do;
	}
	return !one_will_do;
}

bool when_holds(const json_t *when, const struct who *who, struct environment *env)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)when, key, value) {
		const struct condition *known = condition_of(key, true, NULL);
		bool of_machine = known->kind == OF_MACHINE;
		const char *text = of_machine                ? (const char *)env + known->offset
				   : !strcmp(key, "as")      ? identity_names[who->as]
				   : !strcmp(key, "vehicle") ? who->vehicle
							     : who->row;

		if (known->token ? !are_met(known->token, value, who->as, env)
				 : !is_one_of(value, of_machine, text))
			return false;
	}
	return true;
}
