/* SPDX-License-Identifier: MIT */
/*
 * Expectations of a call: reading them, choosing among them, judging by them. What judges sees the
 * answer and the gates, nothing else.
 */
#include "call/expect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language/keys.h"
#include "language/one_or_list.h"
#include "language/pattern.h"
#include "machine/names.h"

/* An errno that some gate of phases.json can give; what none gives is a slip of the pen. */
static int check_errno(const char *name, const struct tables *tables, const struct where *w,
		       struct error *e)
{
	const struct phases *phases = &tables->phases;
	struct nearest near = nearest_to(name);
	int err = errno_by_name(name, NULL);

	for (size_t i = 0; i < phases->count; i++) {
		for (size_t j = 0; j < phases->list[i].errno_count; j++) {
			if (err == phases->list[i].errnos[j])
				return 0;
			nearest_try(&near, errno_name(phases->list[i].errnos[j]));
		}
	}
	return error_name(e, w, name, near.best, "an errno that a gate of phases.json gives");
}

static int read_refusal(struct expectation *out, const json_t *x, const struct tables *tables,
			const struct where *w, struct error *e)
{
	const json_t *name = json_object_get(x, "errno"), *phase = json_object_get(x, "phase");
	struct where at_errno = where_key(w, "errno"), at_phase = where_key(w, "phase");
	const char *text = json_string_value(name), *phase_text = json_string_value(phase);

	if (!text)
		return error_value(e, &at_errno, name, "the name of an errno, as \"EINVAL\"");
	if (check_errno(text, tables, &at_errno, e))
		return -EINVAL;
	if (!phase_text)
		return error_value(e, &at_phase, phase, "the gate that refuses, as \"copy\"");
	out->err = errno_by_name(text, NULL);
	out->phase = phase_giving(&tables->phases, phase_text, out->err, &at_phase, e);
	return out->phase < 0 ? -EINVAL : 0;
}

static int check_attr_patterns(const json_t *attr, const struct where *w, struct error *e)
{
	struct scope scope = {.checking = true};
	const char *key;
	json_t *pattern;

	if (attr && !json_is_object(attr))
		return error_value(e, w, attr, "an object: {\"size\": pattern}");
	json_object_foreach((json_t *)attr, key, pattern) {
		struct where at = where_key(w, key);

		if (strcmp(key, "size"))
			return error_name(e, &at, key, "size", "size, the field the kernel writes");
		if (pattern_check_number(pattern, &scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int read_expectation(struct expectation *out, const json_t *x, const struct tables *tables,
			    const struct when_names *names, const struct where *w, struct error *e)
{
	static const char *const keys[] = {"when", "ok", "errno", "phase", "attr", "cloexec", NULL};
	const json_t *ok = json_object_get(x, "ok"), *cloexec = json_object_get(x, "cloexec");
	struct where at_when = where_key(w, "when"), at_attr = where_key(w, "attr");
	struct where at_ok = where_key(w, "ok"), at_cloexec = where_key(w, "cloexec");

	*out = (struct expectation){.when = json_object_get(x, "when"),
				    .ok = json_is_true(ok),
				    .attr = json_object_get(x, "attr"),
				    .cloexec = cloexec ? json_is_true(cloexec) : -1};
	if (keys_check(x, keys, "expect (when, ok, errno, phase, attr, cloexec)", w, e) ||
	    when_check(out->when, names, &at_when, e) ||
	    check_attr_patterns(out->attr, &at_attr, e))
		return -EINVAL;
	if (cloexec && !json_is_boolean(cloexec))
		return error_value(e, &at_cloexec, cloexec, "true or false");
	if (!ok)
		return read_refusal(out, x, tables, w, e);
	if (!out->ok)
		return error_value(e, &at_ok, ok, "true; a refusal has errno and phase");
	if (json_object_get(x, "errno") || json_object_get(x, "phase"))
		return error_value(e, &at_ok, x, "either ok, or errno and phase");
	return 0;
}

int expectations_compile(struct expectations *out, const json_t *expect,
			 const struct tables *tables, const struct when_names *names,
			 struct arena *arena, const struct where *w, struct error *e)
{
	size_t count = json_is_array(expect) ? json_array_size(expect) : 1;
	int err = 0;

	if (!count)
		return error_value(e, w, expect, "at least one alternative");
	*out = (struct expectations){arena_alloc(arena, count * sizeof(*out->list)), count};
	if (!out->list)
		return error_no_memory(e, w, "memory for what is expected");
	for (size_t i = 0; i < count && !err; i++) {
		struct where at = json_is_array(expect) ? where_index(w, i) : *w;

		err = read_expectation(&out->list[i], element(expect, i), tables, names, &at, e);
	}
	return err;
}

/* A list of errnos, among which "otherwise" may be, if `otherwise` is not NULL. */
static int read_errnos(int out[PHASE_ERRNOS_MAX], bool *otherwise, const json_t *list,
		       const struct tables *tables, const struct where *w, struct error *e)
{
	json_t *item;
	size_t i, count = 0;

	if (!json_is_array(list))
		return error_value(e, w, list, "a list of errnos");
	json_array_foreach(list, i, item) {
		struct where at = where_index(w, i);
		const char *name = json_string_value(item);

		if (!name)
			return error_value(e, &at, item, "the name of an errno");
		if (otherwise && !strcmp(name, "otherwise")) {
			*otherwise = true;
			continue;
		}
		if (check_errno(name, tables, &at, e))
			return -EINVAL;
		if (count + 1 == PHASE_ERRNOS_MAX)
			return error_text(e, &at, "more", "at most %d errnos",
					  PHASE_ERRNOS_MAX - 1);
		out[count++] = errno_by_name(name, NULL);
	}
	return 0;
}

int capability_compile(struct capability *out, const json_t *outcome, bool has_steps,
		       const struct tables *tables, const struct where *w, struct error *e)
{
	const char *key, *yes = json_string_value(json_object_get(outcome, "yes"));
	json_t *list;
	int err = 0;

	*out = (struct capability){0};
	if (!yes || strcmp(yes, "pass"))
		return error_value(e, w, outcome,
				   "\"yes\": \"pass\", with the errnos of no and denied");
	json_object_foreach((json_t *)outcome, key, list) {
		struct where at = where_key(w, key);

		if (!strcmp(key, "no"))
			err = read_errnos(out->no, has_steps ? &out->otherwise : NULL, list, tables,
					  &at, e);
		else if (!strcmp(key, "denied"))
			err = read_errnos(out->denied, NULL, list, tables, &at, e);
		else if (strcmp(key, "yes") != 0)
			err = error_name(e, &at, key, NULL, "yes, no or denied");
		if (err)
			return err;
	}
	return 0;
}

struct expectation *expectations_choose(const struct expectations *x, const struct who *who,
					struct environment *env)
{
	for (size_t i = 0; i < x->count; i++)
		if (when_holds(x->list[i].when, who, env))
			return &x->list[i];
	return NULL;
}

bool expectation_mutate(struct expectation *x, enum call_mutation how, const struct tables *tables)
{
	switch (how) {
	case MUTATE_ERRNO:
		x->err = x->err == EINVAL ? ENOENT : EINVAL;
		return !x->ok;
	case MUTATE_OUTCOME:
		x->ok = !x->ok;
		x->err = EINVAL;
		return true;
	case MUTATE_PHASE_BEFORE:
		x->phase--;
		return !x->ok && x->phase >= 0;
	case MUTATE_PHASE_AFTER:
		x->phase++;
		return !x->ok && x->phase < (int)tables->phases.count;
	case MUTATE_ATTR:
		x->attr_mutated = true;
		return true;
	case MUTATE_CLOEXEC:
		if (!x->ok || x->cloexec < 0)
			return false;
		x->cloexec = !x->cloexec;
		return true;
	default:
		return false;
	}
}

bool capability_lists(const int errnos[PHASE_ERRNOS_MAX], int err)
{
	for (size_t i = 0; i < PHASE_ERRNOS_MAX && errnos[i]; i++)
		if (errnos[i] == err)
			return true;
	return false;
}

const char *capability_answer(const struct capability *c, int err)
{
	if (c->mutated)
		return NULL;
	if (!err)
		return "yes";
	if (capability_lists(c->denied, err))
		return "denied";
	return capability_lists(c->no, err) || c->otherwise ? "no" : NULL;
}

void capability_judge(const struct capability *c, const struct observation *seen,
		      struct verdict *out)
{
	int err = seen->answer.err;
	const char *answer = err || seen->answer.fd_is_event ? capability_answer(c, err) : NULL;

	verdict_set(out, answer ? PASS : FAIL,
		    "an event, or one of the errnos that mean no or denied",
		    err ? errno_name(err) : "an event");
	snprintf(out->capability, sizeof(out->capability), "%s", answer ? answer : "");
	out->err = err;
	out->phases = seen->phases;
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

	if (x->attr_mutated)
		return size ? !pattern_match(size, answer->size_after, scope)
			    : answer->size_written;
	if (answer->other_written)
		return false;
	return size ? pattern_match(size, answer->size_after, scope) : !answer->size_written;
}

static void describe_expected(const struct expectation *x, const struct tables *tables,
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
			 errno_name(x->err), tables->phases.list[x->phase].name,
			 attr ? ", then attr " : "", attr ? attr : "");
	free(attr);
}

void describe_refusal(int err, unsigned phases, const struct tables *tables, char *out, size_t size)
{
	char names[128];

	phase_names(&tables->phases, phases, names, sizeof(names));
	snprintf(out, size, "%s from %s", errno_name(err), names);
}

static void describe_got(const struct observation *seen, const struct tables *tables,
			 struct verdict *out)
{
	const struct answer *answer = &seen->answer;

	if (answer->err)
		describe_refusal(answer->err, seen->phases, tables, out->got, sizeof(out->got));
	else
		snprintf(out->got, sizeof(out->got), "%s",
			 answer->fd_is_event ? "an event" : "success without an event");
}

/* Behind what came: what the call has done to attr. */
static void describe_attr(const struct answer *answer, struct verdict *out)
{
	size_t n = strlen(out->got);

	if (answer->other_written)
		snprintf(out->got + n, sizeof(out->got) - n,
			 ", and the kernel wrote into attr past its size");
	else
		snprintf(out->got + n, sizeof(out->got) - n, ", with attr.size now %u",
			 answer->size_after);
}

void expectation_judge(const struct expectation *x, const struct observation *seen,
		       const struct tables *tables, const struct scope *scope, struct verdict *out)
{
	const struct answer *answer = &seen->answer;
	const char *fault = x->ok ? fault_of_fd(x, answer) : NULL;

	out->outcome = FAIL;
	out->err = answer->err;
	out->phases = seen->phases;
	describe_expected(x, tables, out);
	describe_got(seen, tables, out);
	if (x->ok != !answer->err)
		return;
	if (fault)
		snprintf(out->got, sizeof(out->got), "%s", fault);
	else if (!x->ok && (answer->err != x->err || !(seen->phases >> x->phase & 1)))
		return;
	else if (!attr_is_right(x, answer, scope))
		describe_attr(answer, out);
	else
		out->outcome = PASS;
}
