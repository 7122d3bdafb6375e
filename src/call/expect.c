/* SPDX-License-Identifier: MIT */
/*
 * Expectations: reading them, choosing among them, judging by them. What judges sees the answer and
 * the gates, nothing else.
 */
#include "call/expect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language/one_or_list.h"
#include "language/pattern.h"
#include "machine/require.h"

const char *const outcome_names[OUTCOMES] = {"pass", "fail", "skip", "xfail", "xpass", "error"};
const char *const flip_names[FLIPS] = {"none",          "another errno", "success for failure",
				       "phase before",  "phase after",   "attr written",
				       "close-on-exec", "part of a step"};

/* A key of `when` that stands for a token: "kernel": ">=5.13" is kernel>=5.13. */
static const struct when_key {
	const char *key, *token;
} when_keys[] = {{"kernel", "kernel"}, {"paranoid", "paranoid"}, {"attr_size", "attr_size"},
		 {"arch", "arch."},    {"cpus", "cpus"},         {"bits", "bits"},
		 {"token", ""}};

static const struct when_key *find_when_key(const char *key, struct nearest *near)
{
	size_t n = sizeof(when_keys) / sizeof(when_keys[0]);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(when_keys[i].key, key))
			return &when_keys[i];
	for (size_t i = 0; i < n && near; i++)
		nearest_try(near, when_keys[i].key);
	return NULL;
}

static int check_condition(const char *key, const json_t *value, const struct cases *cases,
			   const struct where *w, struct error *e)
{
	struct nearest near = nearest_to(key);
	const struct when_key *known = find_when_key(key, &near);
	const json_t *one;

	for (size_t i = 0; (one = element(value, i)); i++) {
		const char *text = json_string_value(one);
		char token[128];

		if (!text)
			return error_value(e, w, one, "a string, or a list of them");
		if (!strcmp(key, "as")) {
			if (identity_by_name(text) < 0)
				return error_name(e, w, text, NULL,
						  "root, perfmon, sys-admin or user");
		} else if (!strcmp(key, "vehicle")) {
			if (!json_object_get(cases->vehicles, text))
				return error_name(e, w, text, NULL, "a name in vehicles.json");
		} else if (known) {
			snprintf(token, sizeof(token), "%s%s", known->token, text);
			if (require_case_id(token) || strchr(token, '|'))
				return error_name(
					e, w, text, NULL,
					"one token that is no case (perfabi help tokens)");
			if (require_check(token, cases->abi, w, e))
				return -EINVAL;
		} else {
			return error_name(e, w, key, near.best,
					  "as, vehicle, kernel, arch, paranoid, "
					  "attr_size, bits, cpus or token");
		}
	}
	return 0;
}

int expect_check_when(json_t *when, const struct cases *cases, const struct where *w,
		      struct error *e)
{
	const char *key;
	json_t *value;

	if (when && !json_is_object(when))
		return error_value(e, w, when, "an object of conditions");
	json_object_foreach(when, key, value) {
		struct where at = where_key(w, key);

		if (check_condition(key, value, cases, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* An errno that some gate of phases.json can give; what none gives is a slip of the pen. */
static int check_errno(const char *name, const struct cases *cases, const struct where *w,
		       struct error *e)
{
	const struct phases *phases = &cases->phases;
	struct nearest near = nearest_to(name);
	int err = errno_by_name(name, NULL);

	for (size_t i = 0; i < phases->count; i++) {
		for (size_t j = 0; j < phases->list[i].errno_count; j++) {
			if (err == phases->list[i].errnos[j])
				return 0;
			nearest_try(&near, strerrorname_np(phases->list[i].errnos[j]));
		}
	}
	return error_name(e, w, name, near.best, "an errno that a gate of phases.json gives");
}

static int check_refusal(const json_t *x, const struct cases *cases, const struct where *w,
			 struct error *e)
{
	const json_t *name = json_object_get(x, "errno"), *phase = json_object_get(x, "phase");
	struct where at_errno = where_key(w, "errno"), at_phase = where_key(w, "phase");
	const char *text = json_string_value(name), *phase_text = json_string_value(phase);
	struct nearest near = nearest_to(phase_text ? phase_text : "");

	if (!text)
		return error_value(e, &at_errno, name, "the name of an errno, as \"EINVAL\"");
	if (check_errno(text, cases, &at_errno, e))
		return -EINVAL;
	if (!phase_text)
		return error_value(e, &at_phase, phase, "the gate that refuses, as \"copy\"");
	if (phase_by_name(&cases->phases, phase_text, &near) < 0)
		return error_name(e, &at_phase, phase_text, near.best,
				  "a gate of phases.json (perfabi help phases)");
	return 0;
}

static int check_attr_patterns(json_t *attr, const struct where *w, struct error *e)
{
	struct scope scope = {.checking = true};
	const char *key;
	json_t *pattern;

	if (attr && !json_is_object(attr))
		return error_value(e, w, attr, "an object: {\"size\": pattern}");
	json_object_foreach(attr, key, pattern) {
		struct where at = where_key(w, key);

		if (strcmp(key, "size"))
			return error_name(e, &at, key, "size", "size, the field the kernel writes");
		if (pattern_check_number(pattern, &scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int check_alternative(const json_t *x, const struct cases *cases, const struct where *w,
			     struct error *e)
{
	static const char *const keys[] = {"when", "ok", "errno", "phase", "attr", "cloexec", NULL};
	const json_t *ok = json_object_get(x, "ok"), *cloexec = json_object_get(x, "cloexec");
	struct where at_when = where_key(w, "when"), at_attr = where_key(w, "attr");
	struct where at_ok = where_key(w, "ok"), at_cloexec = where_key(w, "cloexec");
	const char *key;
	json_t *value;

	if (!json_is_object(x))
		return error_value(e, w, x, "an object with ok or errno");
	json_object_foreach((json_t *)x, key, value) {
		struct where at = where_key(w, key);
		struct nearest near = nearest_to(key);

		if (name_index(key, keys, &near) < 0)
			return error_name(e, &at, key, near.best,
					  "when, ok, errno, phase, attr or cloexec");
	}
	if (expect_check_when(json_object_get(x, "when"), cases, &at_when, e) ||
	    check_attr_patterns(json_object_get(x, "attr"), &at_attr, e))
		return -EINVAL;
	if (cloexec && !json_is_boolean(cloexec))
		return error_value(e, &at_cloexec, cloexec, "true or false");
	if (!ok)
		return check_refusal(x, cases, w, e);
	if (!json_is_true(ok))
		return error_value(e, &at_ok, ok, "true; a refusal has errno and phase");
	if (json_object_get(x, "errno") || json_object_get(x, "phase"))
		return error_value(e, &at_ok, x, "either ok, or errno and phase");
	return 0;
}

int expect_check(const json_t *expect, const struct cases *cases, const struct where *w,
		 struct error *e)
{
	json_t *alternative;
	size_t i;

	if (!json_is_array(expect))
		return check_alternative(expect, cases, w, e);
	if (!json_array_size(expect))
		return error_value(e, w, expect, "at least one alternative");
	json_array_foreach(expect, i, alternative) {
		struct where at = where_index(w, i);

		if (check_alternative(alternative, cases, &at, e))
			return -EINVAL;
	}
	return 0;
}

int outcome_check(const json_t *outcome, bool has_steps, const struct cases *cases,
		  const struct where *w, struct error *e)
{
	const char *key, *yes = json_string_value(json_object_get(outcome, "yes"));
	json_t *list, *item;
	size_t i;

	if (!yes || strcmp(yes, "pass"))
		return error_value(e, w, outcome,
				   "\"yes\": \"pass\", with the errnos of no and denied");
	json_object_foreach((json_t *)outcome, key, list) {
		struct where at = where_key(w, key);

		if (!strcmp(key, "yes"))
			continue;
		if (strcmp(key, "no") && strcmp(key, "denied"))
			return error_name(e, &at, key, NULL, "yes, no or denied");
		if (!json_is_array(list))
			return error_value(e, &at, list, "a list of errnos");
		json_array_foreach(list, i, item) {
			struct where at_item = where_index(&at, i);
			const char *name = json_string_value(item);

			if (!name)
				return error_value(e, &at_item, item, "the name of an errno");
			if (has_steps && !strcmp(key, "no") && !strcmp(name, "otherwise"))
				continue;
			if (check_errno(name, cases, &at_item, e))
				return -EINVAL;
		}
	}
	return 0;
}

static bool condition_holds(const char *key, const json_t *value, const struct instance *instance,
			    struct environment *env)
{
	const struct when_key *known = find_when_key(key, NULL);
	bool is_one_of = !known, met = !is_one_of;
	const json_t *one;

	for (size_t i = 0; (one = element(value, i)); i++) {
		const char *text = json_string_value(one);
		char token[128], found[128];

		if (!strcmp(key, "as"))
			met |= identity_by_name(text) == (int)instance->as;
		else if (!strcmp(key, "vehicle"))
			met |= instance->vehicle && !strcmp(instance->vehicle, text);
		else {
			snprintf(token, sizeof(token), "%s%s", known->token, text);
			met = met && require_met(env, token, instance->as, found, sizeof(found));
		}
	}
	return met;
}

bool expect_applies(const json_t *alternative, const struct instance *instance,
		    struct environment *env)
{
	json_t *when = json_object_get(alternative, "when"), *value;
	const char *key;

	json_object_foreach(when, key, value)
		if (!condition_holds(key, value, instance, env))
			return false;
	return true;
}

static void read_alternative(const json_t *x, const struct cases *cases, struct expectation *out)
{
	const json_t *cloexec = json_object_get(x, "cloexec");

	*out = (struct expectation){.ok = json_is_true(json_object_get(x, "ok")),
				    .attr = json_object_get(x, "attr"),
				    .cloexec = cloexec ? json_is_true(cloexec) : -1};
	if (out->ok)
		return;
	out->err = errno_by_name(json_string_value(json_object_get(x, "errno")), NULL);
	out->phase =
		phase_by_name(&cases->phases, json_string_value(json_object_get(x, "phase")), NULL);
}

int expect_choose(const struct instance *instance, const struct body *body,
		  const struct cases *cases, struct environment *env, struct expectation *out)
{
	const json_t *alternative;

	if (body->outcome) {
		*out = (struct expectation){.yes = json_object_get(body->outcome, "yes"),
					    .no = json_object_get(body->outcome, "no"),
					    .denied = json_object_get(body->outcome, "denied"),
					    .cloexec = -1};
		return 0;
	}
	for (size_t i = 0; (alternative = element(body->expect, i)); i++) {
		if (!expect_applies(alternative, instance, env))
			continue;
		read_alternative(alternative, cases, out);
		return 0;
	}
	return -ENOENT;
}

static bool flip_capability(struct expectation *x, enum flip_kind flip)
{
	if (flip != FLIP_OUTCOME)
		return false;
	x->yes = x->no = x->denied = NULL; /* no outcome is known: each must be a failure */
	return true;
}

bool expect_flip(struct expectation *x, enum flip_kind flip, const struct cases *cases)
{
	if (x->yes)
		return flip_capability(x, flip);
	switch (flip) {
	case FLIP_ERRNO:
		x->err = x->err == EINVAL ? ENOENT : EINVAL;
		return !x->ok;
	case FLIP_OUTCOME:
		x->ok = !x->ok;
		x->err = EINVAL;
		return true;
	case FLIP_PHASE_BEFORE:
		x->phase--;
		return !x->ok && x->phase >= 0;
	case FLIP_PHASE_AFTER:
		x->phase++;
		return !x->ok && x->phase < (int)cases->phases.count;
	case FLIP_ATTR:
		x->attr_flipped = true;
		return true;
	case FLIP_CLOEXEC:
		if (!x->ok || x->cloexec < 0)
			return false;
		x->cloexec = !x->cloexec;
		return true;
	default:
		return false;
	}
}

static bool lists_errno(const json_t *list, int err)
{
	const json_t *item;

	for (size_t i = 0; (item = element(list, i)); i++)
		if (errno_by_name(json_string_value(item), NULL) == err)
			return true;
	return false;
}

bool expect_takes_all(const struct body *body)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(body->outcome, "no"), i, item)
		if (!strcmp(json_string_value(item), "otherwise"))
			return true;
	return false;
}

const char *expect_capability(const struct body *body, int err)
{
	if (err && lists_errno(json_object_get(body->outcome, "denied"), err))
		return "denied";
	if (err && lists_errno(json_object_get(body->outcome, "no"), err))
		return "no";
	return expect_takes_all(body) ? "no" : NULL;
}

static void judge_capability(const struct expectation *x, const struct observation *seen,
			     struct verdict *out)
{
	int err = seen->answer.err;

	if (!err && x->yes && seen->answer.fd_is_event)
		out->capability = "yes";
	else if (err && lists_errno(x->no, err))
		out->capability = "no";
	else if (err && lists_errno(x->denied, err))
		out->capability = "denied";
	out->outcome = out->capability ? PASS : FAIL;
	snprintf(out->expected, sizeof(out->expected),
		 "an event, or one of the errnos that mean no or denied");
	snprintf(out->got, sizeof(out->got), "%s", err ? strerrorname_np(err) : "an event");
}

/* What is wrong with an event that was to be opened; NULL if nothing. */
static const char *fault_of_fd(const struct expectation *x, const struct answer *answer)
{
	if (!answer->fd_is_event)
		return "a file descriptor that is no anon_inode:[perf_event]";
	if (!answer->fd_rdwr)
		return "a file descriptor that is not O_RDWR";
	if (x->cloexec == 1 && !answer->fd_cloexec)
		return "a file descriptor without FD_CLOEXEC";
	if (x->cloexec == 0 && answer->fd_cloexec)
		return "a file descriptor with FD_CLOEXEC";
	return NULL;
}

static bool attr_is_right(const struct expectation *x, const struct answer *answer,
			  const struct scope *scope)
{
	const json_t *size = json_object_get(x->attr, "size");

	if (x->attr_flipped)
		return size ? !pattern_match(size, answer->size_after, scope)
			    : answer->size_written;
	if (answer->other_written)
		return false;
	return size ? pattern_match(size, answer->size_after, scope) : !answer->size_written;
}

static void describe_expected(const struct expectation *x, const struct cases *cases,
			      struct verdict *out)
{
	char *attr = x->attr ? json_dumps(x->attr, JSON_COMPACT) : NULL;

	if (x->ok)
		snprintf(out->expected, sizeof(out->expected), "an event%s",
			 x->cloexec == 1   ? " with FD_CLOEXEC"
			 : x->cloexec == 0 ? " without FD_CLOEXEC"
					   : "");
	else
		snprintf(out->expected, sizeof(out->expected), "%s from %s%s%.100s",
			 strerrorname_np(x->err), cases->phases.list[x->phase].name,
			 attr ? ", then attr " : "", attr ? attr : "");
	free(attr);
}

static void describe_got(const struct observation *seen, const struct cases *cases,
			 struct verdict *out)
{
	const struct answer *answer = &seen->answer;
	char phases[128];

	if (!answer->err) {
		snprintf(out->got, sizeof(out->got), "%s",
			 answer->fd_is_event ? "an event" : "success without an event");
		return;
	}
	phase_names(&cases->phases, seen->phases, phases, sizeof(phases));
	snprintf(out->got, sizeof(out->got), "%s from %s", strerrorname_np(answer->err), phases);
}

static void append(struct verdict *out, const char *format, unsigned number)
{
	size_t n = strlen(out->got);

	snprintf(out->got + n, sizeof(out->got) - n, format, number);
}

void expect_judge(const struct expectation *x, const struct observation *seen,
		  const struct cases *cases, const struct scope *scope, struct verdict *out)
{
	const struct answer *answer = &seen->answer;
	const char *fault;

	*out = (struct verdict){.outcome = FAIL};
	if (x->yes || (!x->ok && !x->err)) {
		judge_capability(x, seen, out);
		return;
	}
	describe_expected(x, cases, out);
	describe_got(seen, cases, out);
	if (x->ok != !answer->err)
		return;
	fault = x->ok ? fault_of_fd(x, answer) : NULL;
	if (fault) {
		snprintf(out->got, sizeof(out->got), "%s", fault);
		return;
	}
	if (!x->ok && (answer->err != x->err || !(seen->phases >> x->phase & 1)))
		return;
	if (!attr_is_right(x, answer, scope)) {
		append(out,
		       answer->other_written ? ", and the kernel wrote into attr past its size"
					     : ", with attr.size now %u",
		       answer->size_after);
		return;
	}
	out->outcome = PASS;
}
