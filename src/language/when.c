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

/* A key that stands for a token: "kernel": ">=5.13" is kernel>=5.13. */
static const struct token_key {
	const char *key, *token;
} token_keys[] = {{"kernel", "kernel"}, {"paranoid", "paranoid"}, {"attr_size", "attr_size"},
		  {"arch", "arch."},    {"cpus", "cpus"},         {"bits", "bits"},
		  {"token", ""}};
enum { TOKEN_KEYS = sizeof(token_keys) / sizeof(token_keys[0]) };

/* A key of globs, of which one must match what the environment has there. */
static const struct machine_key {
	const char *key;
	size_t offset;
} machine_keys[] = {{"hypervisor", offsetof(struct environment, hypervisor)},
		    {"vendor", offsetof(struct environment, vendor)},
		    {"cpu", offsetof(struct environment, cpu)}};
enum { MACHINE_KEYS = sizeof(machine_keys) / sizeof(machine_keys[0]) };

static const struct machine_key *machine_key(const char *key)
{
	for (size_t i = 0; i < MACHINE_KEYS; i++)
		if (!strcmp(machine_keys[i].key, key))
			return &machine_keys[i];
	return NULL;
}

static const struct token_key *token_key(const char *key, struct nearest *near)
{
	for (size_t i = 0; i < TOKEN_KEYS; i++) {
		if (!strcmp(token_keys[i].key, key))
			return &token_keys[i];
		if (near)
			nearest_try(near, token_keys[i].key);
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

static int check_token(const struct token_key *key, const char *text, const struct abi *abi,
		       const struct where *w, struct error *e)
{
	char token[REQUIRE_TOKEN];

	if ((size_t)snprintf(token, sizeof(token), "%s%s", key->token, text) >= sizeof(token))
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
	const struct token_key *known = token_key(key, &near);

	if (!text)
		return error_value(e, w, value, "a string, or a list of them");
	if (known)
		return check_token(known, text, names->abi, w, e);
	if (!strcmp(key, "as"))
		return identity_by_name(text) >= 0
			       ? 0
			       : error_name(e, w, text, NULL, "%s", identity_choice);
	if (!strcmp(key, "vehicle"))
		return check_among(names->vehicles, text, "a name in vehicles.json", w, e);
	if (!strcmp(key, "row"))
		return names->rows
			       ? check_among(names->rows, text, "a row of the case's `each`", w, e)
			       : 0;
	if (names->of_machine && machine_key(key))
		return text[0] ? 0
			       : error_value(e, w, value,
					     "a glob of what the report names: AMD EPYC*");
	nearest_try(&near, "as");
	nearest_try(&near, "vehicle");
	nearest_try(&near, "row");
	for (size_t i = 0; names->of_machine && i < MACHINE_KEYS; i++)
		nearest_try(&near, machine_keys[i].key);
	return error_name(e, w, key, near.best,
			  "as, vehicle, row, kernel, arch, paranoid, attr_size, bits, cpus%s or "
			  "token",
			  names->of_machine ? ", hypervisor, vendor, cpu" : "");
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
	for (size_t i = 0; i < MACHINE_KEYS; i++)
		if (json_object_get(when, machine_keys[i].key))
			return true;
	return false;
}

const struct abi_arch *when_arch(const json_t *when, const struct abi *abi)
{
	const struct abi_arch *arch = NULL;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)when, key, value) {
		const struct token_key *known = token_key(key, NULL);
		char token[REQUIRE_TOKEN];
		const json_t *one;

		for (size_t i = 0; known && !arch && (one = element(value, i)); i++) {
			snprintf(token, sizeof(token), "%s%s", known->token,
				 json_string_value(one));
			arch = require_arch(token, abi);
		}
	}
	return arch;
}

/* The name that a key of who asks is held against; NULL where there is none. */
static const char *name_of(const struct who *who, const char *key)
{
	if (!strcmp(key, "as"))
		return identity_names[who->as];
	return !strcmp(key, "vehicle") ? who->vehicle : who->row;
}

static bool is_one_of(const json_t *names, const char *name)
{
	const json_t *one;

	for (size_t i = 0; name && (one = element(names, i)); i++)
		if (!strcmp(json_string_value(one), name))
			return true;
	return false;
}

/* Of a machine that does not tell, nothing holds. */
static bool is_such_machine(const json_t *globs, const char *text)
{
	const json_t *one;

	for (size_t i = 0; text[0] && (one = element(globs, i)); i++)
		if (!fnmatch(json_string_value(one), text, 0))
			return true;
	return false;
}

/* All of a list are met; of architectures one, for that is what a machine has. */
static bool are_met(const struct token_key *key, const json_t *tokens, enum identity as,
		    struct environment *env)
{
	bool one_will_do = !strcmp(key->key, "arch");
	char token[REQUIRE_TOKEN], found[128];
	const json_t *one;

	for (size_t i = 0; (one = element(tokens, i)); i++) {
		snprintf(token, sizeof(token), "%s%s", key->token, json_string_value(one));
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
		const struct token_key *known = token_key(key, NULL);
		const struct machine_key *machine = machine_key(key);

		if (known     ? !are_met(known, value, who->as, env)
		    : machine ? !is_such_machine(value, (const char *)env + machine->offset)
			      : !is_one_of(value, name_of(who, key)))
			return false;
	}
	return true;
}
