/* SPDX-License-Identifier: MIT */
/*
 * Gates and witnesses: loading cases/phases.json, and finding the gate that refused.
 */
#include "call/phase.h"
#include "call/call.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text/say.h"
#include "machine/names.h"
#include "text/json_text.h"

/* ABI of the reading. */
static const struct abi *abi_of(const struct doc *d)
{
	return d->context;
}

static int one_errno(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	int err = name ? errno_by_name(name, &near) : 0;

	*(int *)at = err;
	if (err)
		return 0;
	return name ? error_name(d->e, w, name, near.best, "the name of an errno")
		    : error_value(d->e, w, json, "the name of an errno");
}

/* A list; what is behind the last is 0. */
static int all_errnos(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	int *errnos = at, err = 0;

	if (!json_is_array(json) || json_array_size(json) >= PHASE_ERRNOS_MAX)
		return error_value(d->e, w, json, "a list of less than %d errnos",
				   PHASE_ERRNOS_MAX);
	for (size_t i = 0; i < json_array_size(json) && !err; i++) {
		err = one_errno(d, json_array_get(json, i), &errnos[i], AT_INDEX(w, i));
	}
	return err;
}

static int read_flags(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct value flags = {0};
	int err = value_eval(json, abi_family(abi_of(d), "open_flags"), NULL, w, &flags, d->e);

	*(uint64_t *)at = flags.bits;
	return err;
}

static int flip_field(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	const char *name = json_string_value(json);
	const struct abi_field *field = name ? abi_field(abi_of(d), name) : NULL;

	*(const struct abi_field **)at = field;
	return field ? 0 : error_value(d->e, w, json, "a field of attr");
}

static const struct doc_type open_type = {
	"what a witness makes of a call",
	(const struct doc_row[]){
		{"attr", DOC_ANY, false, AT(struct witness_open, attr), .takes = "attr"},
		{"pid", DOC_ANY, false, AT(struct witness_open, pid), .takes = "number"},
		{"flags", DOC_ANY, false, AT(struct witness_open, flags), .takes = "flags"},
		{"memory", DOC_ANY, false, AT(struct witness_open, null), .takes = "memory"},
		{0}},
	.size = sizeof(struct witness_open)};

static const struct doc_type again_type = {
	"another violation",
	(const struct doc_row[]){
		{"flip", DOC_READ, true, AT(struct witness_again, flip), .read = flip_field,
		 .takes = "line"},
		{"attr", DOC_ANY, false, AT(struct witness_again, attr), .takes = "attr"},
		{"or", DOC_ANY, false, AT(struct witness_again, or), .takes = "attr"},
		{0}},
	.size = sizeof(struct witness_again)};

static const struct doc_type witness_type = {
	"a witness",
	(const struct doc_row[]){
		{"name", DOC_TEXT, true, AT(struct witness, name)},
		{"at", DOC_WORD, true, AT(struct witness, at_end),
		 .words = (const char *const[]){"start", "end", NULL}},
		{"errno", DOC_READ, true, AT(struct witness, err), .read = one_errno,
		 .takes = "any_errno"},
		{"as", DOC_WORD, false, AT(struct witness, as_user),
		 .words = (const char *const[]){"root", "user", NULL}},
		{"nofile", DOC_ANY, false, AT(struct witness, no_files), .takes = "{\"const\": 0}"},
		{"zombie", DOC_TRUTH, false, AT(struct witness, zombie)},
		{"open", DOC_OBJECT, false, AT(struct witness, open), .type = &open_type},
		{"or", DOC_ANY, false, AT(struct witness, or), .takes = "attr"},
		{"unless", DOC_ANY, false, AT(struct witness, unless), .takes = "attr"},
		{"unless_flags", DOC_READ, false, AT(struct witness, unless_flags),
		 .read = read_flags, .takes = "flags"},
		{"again", DOC_OBJECT, false, AT(struct witness, again), .type = &again_type},
		{0}},
	.size = sizeof(struct witness)};

static const struct doc_type phase_type = {
	"a gate",
	(const struct doc_row[]){
		{"name", DOC_TEXT, true, AT(struct phase, name)},
		{"about", DOC_TEXT, true, AT(struct phase, about)},
		{"kernel", DOC_TEXT, false, .at = DOC_NOWHERE},
		{"errnos", DOC_READ, true, AT(struct phase, errnos), .read = all_errnos,
		 .takes = "{\"type\": \"array\", \"items\": {\"$ref\": "
			  "\"names.schema.json#/$defs/any_errno\"}}"},
		{"witnesses", DOC_LIST, false, AT(struct phase, witnesses), .type = &witness_type,
		 .count = offsetof(struct phase, witness_count)},
		{0}},
	.size = sizeof(struct phase)};

const struct doc_type phases_type = {
	"phases.json",
	(const struct doc_row[]){{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
				 {"about", DOC_ANY, false, .at = DOC_NOWHERE},
				 {"phases", DOC_LIST, true, AT(struct phases, list),
				  .type = &phase_type, .count = offsetof(struct phases, count),
				  .least = 1, .most = PHASES_MAX},
				 {0}},
	.size = offsetof(struct phases, arena)};

int phases_load(struct phases *phases, const struct source *source, const struct abi *abi,
		struct error *e)
{
	struct doc d = {&phases->arena, e, (void *)abi};
	int err;

	*phases = (struct phases){0};
	err = doc_load(&d, &phases_type, source, phases);
	if (err)
		phases_free(phases);
	return err;
}

void phases_free(struct phases *phases)
{
	arena_free(&phases->arena);
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
		for (const int *one = phases->list[i].errnos; *one; one++)
			if (*one == err)
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
static unsigned before_witness(const struct witness *w, size_t phase)
{
	return (1U << (phase + (w->at_end ? 1 : 0))) - 1;
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
	if (size < end) { /* what is behind the size was not read, and must not be now */
		memset(image + size, 0, abi->attr_size - (size_t)size);
		call_cut(call, size);
	}
	for (size_t i = 0; i < abi->size_count && size < end; i++)
		if (abi->sizes[i].size >= end)
			size = abi->sizes[i].size;
	if (end)
		attr_set(size_field, image, host_order(), size);
}

/* Sets fields of attr, and adds bits to others; either may be NULL. */
static int change_attr(struct call *call, const json_t *set, const json_t *added,
		       const struct environment *env)
{
	const struct abi *abi = env->abi;
	unsigned char *bits = or_exit(calloc(1, abi->attr_size));
	struct where nowhere = {0};
	struct error e = {0};
	int err = 0;

	if (set) {
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

	call_fold(call, env->abi); /* bytes would lie over what the witness sets, too */
	err = change_attr(call, w->open.attr, w->or, env);
	if (!err && w->open.pid && !value_eval(w->open.pid, NULL, NULL, &nowhere, &value, &e))
		call->pid = (int32_t)value.bits;
	if (!err && w->open.flags && !value_eval(w->open.flags, NULL, NULL, &nowhere, &value, &e))
		call->flags |= value.bits;
	if (w->open.null)
		call->memory = MEMORY_NULL;
	return err;
}

/* The kernel asks for effective capabilities, so that they need only be put aside for the call. */
static int try_without_capabilities(const struct call *call, const struct environment *env)
{
	struct answer answer;
	uint64_t held;
	int err = identity_suspend(&held), restored;

	if (err)
		return err;
	err = call_try(call, false, env, NULL, &answer);
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
	const struct abi_field *field = w->again.flip;

	attr_set(field, call->image, host_order(), !attr_get(field, call->image, host_order()));
	return change_attr(call, w->again.attr, w->again.or, env);
}

/* Whether the call has one of the bits for which this witness's errno may be another gate's. */
static bool would_lie(const struct witness *w, const struct call *call,
		      const struct environment *env)
{
	unsigned char *bits = or_exit(calloc(1, env->abi->attr_size));
	struct where nowhere = {0};
	struct error e = {0};
	bool any = attr_from_json(env->abi, env->arch, w->unless, NULL, &nowhere, bits, &e);

	for (size_t i = 0; !any && i < env->abi->attr_size; i++)
		any = call->image[i] & bits[i];
	free(bits);
	return any;
}

static int consult(const struct witness *w, const struct call *call, bool flips, pid_t *zombie,
		   const struct environment *env)
{
	struct call changed;
	struct answer answer;
	int err;

	call_copy(&changed, call, env->abi);
	err = add_violation(&changed, w, env);
	if (!err && flips)
		err = change_again(&changed, w, env);
	if (!err && w->zombie) {
		if (!*zombie)
			*zombie = phase_make_zombie();
		changed.pid = *zombie;
		err = *zombie < 0 ? *zombie : 0;
	}
	if (!err)
		err = w->as_user && !w->no_files
			      ? try_without_capabilities(&changed, env)
			      : call_try(&changed, w->no_files != NULL, env, NULL, &answer);
	call_free(&changed);
	return err;
}

unsigned phase_infer(const struct phases *phases, const struct call *call, int err, pid_t zombie,
		     const struct environment *env)
{
	unsigned candidates = phases_with_errno(phases, err);

	for (size_t i = 0; i < phases->count; i++)
		for (size_t j = 0; j < phases->list[i].witness_count; j++) {
			const struct witness *w = &phases->list[i].witnesses[j];
			unsigned before = before_witness(w, i);
			int got;

			if (w->err == err || (call->flags & w->unless_flags) ||
			    !(candidates & before) || !(candidates & ~before))
				continue;
			got = consult(w, call, false, &zombie, env);
			if (got == err && w->again.flip)
				got = consult(w, call, true, &zombie, env);
			if (got == w->err && !(w->unless && would_lie(w, call, env)))
				candidates &= ~before;
			else if (got == err)
				candidates &= before;
		}
	return candidates;
}
