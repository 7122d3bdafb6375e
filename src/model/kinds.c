/* SPDX-License-Identifier: MIT */
/*
 * Loading the kinds, and finding them.
 */
#include "model/kinds.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "abi/value.h"

const char *const pmu_properties[] = {"modelled",   "excludes",  "all_clocks",
				      "samples",    "tasks",     "extended_regs",
				      "aux_output", "aux_pause", NULL};

/* Of a text "$kernel.NAME" the name of what is learned; NULL: it is none. */
static const char *learned_name(const json_t *json)
{
	const char *text = json_string_value(json);

	return text && text[0] == '$' ? text + 1 : NULL;
}

static int load_kind(struct pmu_kind *kind, const json_t *json, const struct where *w,
		     struct error *e)
{
	const json_t *configs = json_object_get(json, "configs");
	struct value value;

	for (size_t i = 0; pmu_properties[i]; i++)
		kind->has[i] = json_integer_value(json_object_get(json, pmu_properties[i])) != 0;
	kind->type_learned = learned_name(json_object_get(json, "type"));
	kind->configs_learned = learned_name(configs);
	if (!configs || kind->configs_learned)
		return 0;
	if (value_eval(configs, NULL, NULL, w, &value, e))
		return -EINVAL;
	kind->configs = value.bits;
	return 0;
}

static int load_kinds(struct kinds *kinds, const json_t *pmus, const struct where *w,
		      struct error *e)
{
	const char *name;
	json_t *json;

	json_object_foreach((json_t *)pmus, name, json) {
		struct where at = where_key(w, name);
		struct pmu_kind *kind = &kinds->list[kinds->count];

		if (kinds->count == KINDS_MAX)
			return error_text(e, &at, "more", "at most %d kinds of PMU", KINDS_MAX);
		kind->name = name;
		if (load_kind(kind, json, &at, e))
			return -EINVAL;
		kinds->values[kinds->count] =
			(struct abi_value){.name = name, .value = kinds->count + 1};
		kinds->count++;
	}
	kinds->names = (struct abi_family){
		.name = "pmu_kind", .prefix = "", .values = kinds->values, .count = kinds->count};
	return 0;
}

int kinds_load(struct kinds *kinds, const json_t *file, const struct where *w, struct error *e)
{
	const char *name;
	json_t *json;

	*kinds = (struct kinds){
		.processors = json_object_get(json_object_get(file, "processors"), "names")};
	if (load_kinds(kinds, json_object_get(file, "pmus"), AT_KEY(w, "pmus"), e))
		return -EINVAL;
	json_object_foreach(json_object_get(file, "tracepoints"), name, json) {
		if (kinds->class_count == CLASSES_MAX)
			return error_text(e, AT_KEY(w, "tracepoints"), "more", "at most %d classes",
					  CLASSES_MAX);
		kinds->classes[kinds->class_count++] = (struct tracepoint_class){
			.name = name,
			.about = json_string_value(json_object_get(json, "about")),
			.names = json_object_get(json, "names")};
	}
	return 0;
}

const struct pmu_kind *kinds_find(const struct kinds *kinds, const char *name)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (!strcmp(kinds->list[i].name, name))
			return &kinds->list[i];
	return NULL;
}

static bool matches(const json_t *globs, const char *name)
{
	json_t *glob;
	size_t i;

	json_array_foreach(globs, i, glob)
		if (!fnmatch(json_string_value(glob), name, 0))
			return true;
	return false;
}

unsigned kinds_classes(const struct kinds *kinds, const char *tracepoint)
{
	unsigned mask = 0;

	for (size_t i = 0; i < kinds->class_count; i++)
		if (matches(kinds->classes[i].names, tracepoint))
			mask |= 1U << i;
	return mask;
}

bool kinds_is_processor(const struct kinds *kinds, const char *pmu)
{
	return matches(kinds->processors, pmu);
}
