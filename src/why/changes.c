/* SPDX-License-Identifier: MIT */
/*
 * Loading the changes, and making them.
 */
#include "why/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "model/bit_word.h"

static const struct {
	const char *name;
	enum setting_of of;
} arguments[] = {{"attr.bits", SETS_BITS},
		 {"call.pid", SETS_PID},
		 {"call.cpu", SETS_CPU},
		 {"call.group_fd", SETS_GROUP_FD},
		 {"call.flags", SETS_FLAGS}};
enum { ARGUMENTS = sizeof(arguments) / sizeof(arguments[0]) };

static const struct {
	const char *name;
	enum setting_how how;
} ways[] = {{"with", SET_WITH},
	    {"without", SET_WITHOUT},
	    {"within", SET_WITHIN},
	    {"aligned", SET_ALIGNED}};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* The part of a call that the fact is; only such a fact can be set. */
static int find_setting(struct setting *out, const char *name, const struct facts *facts,
			const struct where *w, struct error *e)
{
	struct nearest near = nearest_to(name);
	int index = facts_find(facts, name, &near);

	if (index < 0)
		return error_name(e, w, name, near.best, "a field of attr, or an argument");
	out->fact = &facts->list[index];
	out->of = SETS_FIELD;
	for (size_t i = 0; i < ARGUMENTS; i++) {
		if (strcmp(arguments[i].name, name))
			continue;
		out->of = arguments[i].of;
		return 0;
	}
	return out->fact->field || !strcmp(name, "attr.size")
		       ? 0
		       : error_name(e, w, name, NULL, "a field of attr, or an argument");
}

static int add_setting(struct settings_of_change *set, const struct setting *part,
		       enum setting_how how, const json_t *to, struct vocabulary *v,
		       const struct where *w, struct error *e)
{
	struct setting *out = &set->list[set->count];

	if (set->count == CHANGE_SETTINGS)
		return error_text(e, w, "more", "at most %d settings", CHANGE_SETTINGS);
	*out = *part;
	out->how = how;
	set->count++;
	return right_side_compile(&out->to, to, part->fact, v, w, e);
}

/* A value; or an object of ways, in their order. */
static int load_setting(struct settings_of_change *set, const char *name, const json_t *json,
			struct vocabulary *v, const struct where *w, struct error *e)
{
	struct setting part;
	const char *way;
	json_t *to;

	if (find_setting(&part, name, v->facts, w, e))
		return -EINVAL;
	if (!json_is_object(json))
		return add_setting(set, &part, SET_TO, json, v, w, e);
	json_object_foreach((json_t *)json, way, to) {
		struct where at = where_key(w, way);
		size_t i = 0;

		while (i < WAYS && strcmp(ways[i].name, way))
			i++;
		if (i == WAYS)
			return error_name(e, &at, way, NULL, "with, without, within or aligned");
		if (add_setting(set, &part, ways[i].how, to, v, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int read_settings(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	struct settings_of_change *set = at;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)json, name, value) {
		if (load_setting(set, name, value, d->context, AT_KEY(w, name), d->e))
			return -EINVAL;
	}
	return set->count ? 0 : error_value(d->e, w, json, "what to set");
}

const struct doc_type change_type = {
	"a change",
	(const struct doc_row[]){
		{"set", DOC_READ, true, AT(struct change, set), .read = read_settings},
		{"if", DOC_READ, false, AT(struct change, when), .read = predicate_read},
		{"fallback", DOC_TRUTH, false, AT(struct change, is_fallback)},
		{"says", DOC_READ, false, AT(struct change, says), .read = sentence_read},
		{"loses", DOC_READ, false, AT(struct change, loses), .read = sentence_read},
		{0}},
	.size = sizeof(struct change)};

uint64_t setting_get(const struct setting *setting, const struct machine *machine,
		     const struct call *call)
{
	switch (setting->of) {
	case SETS_BITS:
		return bit_word(attr_get(&machine->bits, call->image, host_order()),
				machine->bits.size);
	case SETS_PID:
		return (uint64_t)(int64_t)call->pid;
	case SETS_CPU:
		return (uint64_t)(int64_t)call->cpu;
	case SETS_GROUP_FD:
		return (uint64_t)(int64_t)call->group_fd;
	case SETS_FLAGS:
		return call->flags;
	default:
		return attr_get(setting->fact->field ? setting->fact->field : machine->size,
				call->image, host_order());
	}
}

static void set_part(const struct setting *setting, const struct machine *machine,
		     struct call *call, uint64_t value)
{
	switch (setting->of) {
	case SETS_BITS:
		attr_set(&machine->bits, call->image, host_order(),
			 bit_word(value, machine->bits.size));
		break;
	case SETS_PID:
		call->pid = (int32_t)value;
		break;
	case SETS_CPU:
		call->cpu = (int32_t)value;
		break;
	case SETS_GROUP_FD:
		call->group_fd = (int32_t)value;
		break;
	case SETS_FLAGS:
		call->flags = value;
		break;
	default:
		attr_set(setting->fact->field ? setting->fact->field : machine->size, call->image,
			 host_order(), value);
	}
}

/* Bytes laid over attr end with it. */
static void cut_bytes(struct call *call, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < call->poke_count; i++)
		if (call->pokes[i].offset < size)
			call->pokes[kept++] = call->pokes[i];
	call->poke_count = kept;
}

bool setting_value(const struct setting *setting, const struct facts *facts, struct situation *s,
		   uint64_t was, uint64_t *value)
{
	uint64_t to;

	if (!right_side_get(&setting->to, facts, s, &to))
		return false;
	switch (setting->how) {
	case SET_WITH:
		*value = was | to;
		break;
	case SET_WITHOUT:
		*value = was & ~to;
		break;
	case SET_WITHIN:
		*value = was & to;
		break;
	case SET_ALIGNED:
		*value = to ? was - was % to : was;
		break;
	default:
		*value = to;
	}
	return true;
}

static bool is_for(const struct change *change, const struct facts *facts, struct situation *s)
{
	const struct fact *why;

	return !change->when || predicate_holds(change->when, facts, s, &why) == HOLDS;
}

bool change_make(const struct change *change, const struct model *model, struct situation *s,
		 struct call *call)
{
	bool any = false;

	if (!is_for(change, &model->facts, s))
		return false;
	for (size_t i = 0; i < change->set.count; i++) {
		const struct setting *setting = &change->set.list[i];
		uint64_t was = setting_get(setting, &model->machine, call), value;

		if (!setting_value(setting, &model->facts, s, was, &value))
			return false;
		if (value == was)
			continue;
		if (!strcmp(setting->fact->name, "attr.size"))
			cut_bytes(call, value);
		set_part(setting, &model->machine, call, value);
		any = true;
	}
	return any;
}
