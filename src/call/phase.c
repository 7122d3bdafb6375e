/* SPDX-License-Identifier: MIT */
/*
 * Gates and witnesses: loading cases/phases.json, and finding the gate that refused.
 */
#include "call/phase.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "language/one_line.h"
#include "machine/names.h"

static int errno_from_json(const json_t *json, const struct where *w, struct error *e)
{
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	int err = name ? errno_by_name(name, &near) : 0;

	if (!name)
		error_value(e, w, json, "the name of an errno");
	else if (!err)
		error_name(e, w, name, near.best, "the name of an errno");
	return err;
}

static int load_witness(struct phases *phases, unsigned phase, const json_t *json,
			const struct abi *abi, const struct where *w, struct error *e)
{
	struct where at_errno = where_key(w, "errno"), at_unless = where_key(w, "unless_flags");
	const json_t *open = json_object_get(json, "open");
	const json_t *unless = json_object_get(json, "unless_flags");
	const char *at = json_string_value(json_object_get(json, "at"));
	struct witness *grown =
		realloc(phases->witnesses, (phases->witness_count + 1) * sizeof(*grown));
	struct witness *out;
	struct value flags = {0};

	if (!grown)
		return error_no_memory(e, w, "memory for a witness");
	phases->witnesses = grown;
	out = &grown[phases->witness_count++];
	*out = (struct witness){
		.name = json_string_value(json_object_get(json, "name")),
		.phase = phase,
		.at_end = at && !strcmp(at, "end"),
		.as_user = json_object_get(json, "as") != NULL,
		.no_files = json_object_get(json, "nofile") != NULL,
		.zombie = json_is_true(json_object_get(json, "zombie")),
		.null = json_object_get(open, "memory") != NULL,
		.unless = json_object_get(json, "unless"),
		.again = json_object_get(json, "again"),
		.flip = json_string_value(json_object_get(json_object_get(json, "again"), "flip")),
		.set = json_object_get(open, "attr"),
		.or = json_object_get(json, "or"),
		.pid = json_object_get(open, "pid"),
		.flags = json_object_get(open, "flags"),
	};
	out->err = errno_from_json(json_object_get(json, "errno"), &at_errno, e);
	if (unless &&
	    value_eval(unless, abi_family(abi, "open_flags"), NULL, &at_unless, &flags, e))
		return -EINVAL;
	out->unless_flags = flags.bits;
	if (out->flip && !abi_field(abi, out->flip))
		return error_value(e, w, json, "flip, a field of attr");
	if (!out->name || !at)
		return error_value(e, w, json, "a name, and \"at\": \"start\" or \"end\"");
	return error_is_set(e) ? -EINVAL : 0;
}

static int load_phase(struct phases *phases, const json_t *json, const struct abi *abi,
		      const struct where *w, struct error *e)
{
	unsigned index = (unsigned)phases->count++;
	struct phase *phase = &phases->list[index];
	struct where at_errnos = where_key(w, "errnos"), at_list = where_key(w, "witnesses");
	json_t *item;
	size_t i;

	phase->name = json_string_value(json_object_get(json, "name"));
	phase->about = json_string_value(json_object_get(json, "about"));
	if (!phase->name || !one_line(phase->name) || !phase->about || !one_line(phase->about))
		return error_value(e, w, json, "`name` and `about`, one line each");
	json_array_foreach(json_object_get(json, "errnos"), i, item) {
		struct where at = where_index(&at_errnos, i);

		if (i == PHASE_ERRNOS_MAX)
			return error_text(e, &at, "more", "at most %d errnos", PHASE_ERRNOS_MAX);
		phase->errnos[phase->errno_count++] = errno_from_json(item, &at, e);
	}
	json_array_foreach(json_object_get(json, "witnesses"), i, item) {
		struct where at = where_index(&at_list, i);

		if (load_witness(phases, index, item, abi, &at, e))
			return -EINVAL;
	}
	return error_is_set(e) ? -EINVAL : 0;
}

int phases_load(struct phases *phases, const struct source *source, const struct abi *abi,
		struct error *e)
{
	struct where root = where_root(source), at_list = where_key(&root, "phases");
	json_t *item;
	size_t i;

	*phases = (struct phases){.json = source_parse(source, e)};
	if (!phases->json)
		return -EINVAL;
	if (json_array_size(json_object_get(phases->json, "phases")) > PHASES_MAX)
		error_text(e, &at_list, "more", "at most %d phases", PHASES_MAX);
	json_array_foreach(json_object_get(phases->json, "phases"), i, item) {
		struct where at = where_index(&at_list, i);

		if (error_is_set(e) || load_phase(phases, item, abi, &at, e))
			break;
	}
	if (!error_is_set(e) && !phases->count)
		error_value(e, &at_list, NULL, "a list of phases");
	if (error_is_set(e)) {
		phases_free(phases);
		return -EINVAL;
	}
	return 0;
}

void phases_free(struct phases *phases)
{
	free(phases->witnesses);
	json_decref(phases->json);
	*phases = (struct phases){0};
}

int phase_by_name(const struct phases *phases, const char *name, struct nearest *near)
{
	for (size_t i = 0; i < phases->count; i++)
		if (!strcmp(phases->list[i].name, name))
			return (int)i;
	for (size_t i = 0; i < phases->count && near; i++)
		nearest_try(near, phases->list[i].name);
	return -1;
}

void phase_names(const struct phases *phases, unsigned mask, char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < phases->count && at < size; i++)
		if (mask >> i & 1)
			at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " or " : "",
					       phases->list[i].name);
	if (!at)
		snprintf(out, size, "none that is known");
}

void phase_describe(const struct phases *phases, int err, unsigned mask, char *out, size_t size)
{
	char names[128];

	phase_names(phases, mask, names, sizeof(names));
	snprintf(out, size, "%s from %s", errno_name(err), names);
}

static unsigned phases_with_errno(const struct phases *phases, int err)
{
	unsigned mask = 0;

	for (size_t i = 0; i < phases->count; i++)
		for (size_t j = 0; j < phases->list[i].errno_count; j++)
			if (phases->list[i].errnos[j] == err)
				mask |= 1U << i;
	return mask;
}

int phase_giving(const struct phases *phases, const char *name, int err, const struct where *w,
		 struct error *e)
{
	struct nearest near = nearest_to(name);
	int phase = phase_by_name(phases, name, &near);
	unsigned mask = phases_with_errno(phases, err);
	char names[128];

	if (phase < 0)
		return error_name(e, w, name, near.best,
				  "a gate of phases.json (perfabi help phases)");
	if (mask >> phase & 1)
		return phase;
	phase_names(phases, mask, names, sizeof(names));
	return error_name(e, w, name, NULL, "a gate of phases.json that gives %s: %s",
			  errno_name(err), names);
}

/* The gates, or the parts of its own gate, that come before this witness. */
static unsigned before_witness(const struct witness *w)
{
	return (1U << (w->phase + (w->at_end ? 1 : 0))) - 1;
}

/* What was behind the size was not read, and must not be now. */
static void forget_behind(struct call *call, uint64_t size, const struct abi *abi)
{
	size_t kept = 0;

	if (size < abi->attr_size)
		memset(call->image + size, 0, abi->attr_size - (size_t)size);
	for (size_t i = 0; i < call->poke_count; i++)
		if (call->pokes[i].offset < size)
			call->pokes[kept++] = call->pokes[i];
	call->poke_count = kept;
}

/* Attr fields that the witness adds may lie past the size the case gave: then the size grows. */
static void cover(const struct abi *abi, struct call *call, const json_t *fields)
{
	unsigned char *image = call->image;
	const struct abi_field *size_field = abi_field(abi, "size");
	uint64_t size = attr_get(size_field, image, host_order());
	unsigned end = 0;
	const char *name;
	json_t *value;

	if (size && size < abi->sizes[0].size)
		return;
	json_object_foreach((json_t *)fields, name, value) {
		const struct abi_field *field = abi_field(abi, name);

		if (field && field->offset + field->size > end)
			end = field->offset + field->size;
	}
	if (!size)
		size = abi->sizes[0].size;
	if (size < end)
		forget_behind(call, size, abi);
	for (size_t i = 0; i < abi->size_count && size < end; i++)
		if (abi->sizes[i].size >= end)
			size = abi->sizes[i].size;
	if (end)
		attr_set(size_field, image, host_order(), size);
}

/* Bytes laid over the attr would lie over what a witness sets, too. */
static void fold_bytes(struct call *call, const struct abi *abi)
{
	size_t kept = 0;

	for (size_t i = 0; i < call->poke_count; i++) {
		if (call->pokes[i].offset < abi->attr_size)
			call->image[call->pokes[i].offset] = call->pokes[i].byte;
		else
			call->pokes[kept++] = call->pokes[i];
	}
	call->poke_count = kept;
}

/* Sets fields of attr, and adds bits to others; either may be NULL. */
static int change_attr(struct call *call, const json_t *set, const json_t *added,
		       const struct environment *env)
{
	const struct abi *abi = env->abi;
	unsigned char *bits = calloc(1, abi->attr_size);
	struct where nowhere = {0};
	struct error e = {0};
	int err = bits ? 0 : -ENOMEM;

	if (!err && set) {
		cover(abi, call, set);
		err = attr_from_json(abi, env->arch, set, NULL, &nowhere, call->image, &e);
	}
	if (!err && added) {
		cover(abi, call, added);
		err = attr_from_json(abi, env->arch, added, NULL, &nowhere, bits, &e);
		for (size_t i = 0; i < abi->attr_size; i++)
			call->image[i] |= bits[i];
	}
	free(bits);
	return err;
}

static int add_violation(struct call *call, const struct witness *w, const struct environment *env)
{
	struct where nowhere = {0};
	struct error e = {0};
	struct value value;
	int err;

	fold_bytes(call, env->abi);
	err = change_attr(call, w->set, w->or, env);
	if (!err && w->pid && !value_eval(w->pid, NULL, NULL, &nowhere, &value, &e))
		call->pid = (int32_t)value.bits;
	if (!err && w->flags && !value_eval(w->flags, NULL, NULL, &nowhere, &value, &e))
		call->flags |= value.bits;
	if (w->null)
		call->memory = MEMORY_NULL;
	return err;
}

struct attempt {
	const struct call *call;
	const struct environment *env;
};

/* The errno of one call, 0 if it succeeded; negative if it could not be made. */
static int attempt_call(void *argument)
{
	const struct attempt *attempt = argument;
	struct answer answer;
	int err = call_issue(attempt->call, attempt->env, &answer);

	if (err)
		return err;
	if (answer.fd >= 0)
		close(answer.fd);
	return answer.err;
}

static int attempt_without_files(struct attempt *attempt)
{
	struct rlimit limit, none;
	int err;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	none = limit;
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_NOFILE, &none))
		return -errno;
	err = attempt_call(attempt);
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : err;
}

/* The kernel asks for effective capabilities, so that they need only be put aside for the call. */
static int attempt_without_capabilities(struct attempt *attempt)
{
	uint64_t held;
	int err = identity_suspend(&held), restored;

	if (err)
		return err;
	err = attempt_call(attempt);
	restored = identity_resume(held);
	return restored ? restored : err;
}

pid_t phase_make_zombie(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		return -errno;
	return pid;
}

/* What makes the violation another one than the call had before. */
static int change_again(struct call *call, const struct witness *w, const struct environment *env)
{
	const struct abi_field *field = abi_field(env->abi, w->flip);

	attr_set(field, call->image, host_order(), !attr_get(field, call->image, host_order()));
	return change_attr(call, json_object_get(w->again, "attr"), json_object_get(w->again, "or"),
			   env);
}

/* Whether the call has one of the bits for which this witness's errno may be another gate's. */
static bool would_lie(const struct witness *w, const struct call *call,
		      const struct environment *env)
{
	unsigned char *bits = calloc(1, env->abi->attr_size);
	struct where nowhere = {0};
	struct error e = {0};
	bool any =
		!bits || attr_from_json(env->abi, env->arch, w->unless, NULL, &nowhere, bits, &e);

	for (size_t i = 0; !any && i < env->abi->attr_size; i++)
		any = call->image[i] & bits[i];
	free(bits);
	return any;
}

static int consult(const struct witness *w, const struct call *call, bool flips, pid_t *zombie,
		   const struct environment *env)
{
	struct call changed;
	struct attempt attempt = {.call = &changed, .env = env};
	int err = call_copy(&changed, call, env->abi);

	if (err)
		return err;
	err = add_violation(&changed, w, env);
	if (!err && flips)
		err = change_again(&changed, w, env);
	if (!err && w->zombie) {
		if (!*zombie)
			*zombie = phase_make_zombie();
		changed.pid = *zombie;
		err = *zombie < 0 ? *zombie : 0;
	}
	if (!err && w->no_files)
		err = attempt_without_files(&attempt);
	else if (!err && w->as_user)
		err = attempt_without_capabilities(&attempt);
	else if (!err)
		err = attempt_call(&attempt);
	call_free(&changed);
	return err;
}

unsigned phase_infer(const struct phases *phases, const struct call *call, int err, pid_t zombie,
		     const struct environment *env)
{
	unsigned candidates = phases_with_errno(phases, err);

	for (size_t i = 0; i < phases->witness_count; i++) {
		const struct witness *w = &phases->witnesses[i];
		unsigned before = before_witness(w);
		int got;

		if (w->err == err || (call->flags & w->unless_flags) || !(candidates & before) ||
		    !(candidates & ~before))
			continue;
		got = consult(w, call, false, &zombie, env);
		if (got == err && w->flip)
			got = consult(w, call, true, &zombie, env);
		if (got == w->err && !(w->unless && would_lie(w, call, env)))
			candidates &= ~before;
		else if (got == err)
			candidates &= before;
	}
	return candidates;
}
