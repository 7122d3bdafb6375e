/* SPDX-License-Identifier: MIT */
/*
 * Loading cases/why.json.
 */
#include "why/knowledge.h"

#include <errno.h>
#include <string.h>

static int load_when(struct predicate **out, const json_t *json, struct vocabulary *v,
		     const struct where *w, struct error *e)
{
	const json_t *when = json_object_get(json, "if");
	struct where at = where_key(w, "if");

	*out = when ? predicate_compile(when, v, &at, e) : NULL;
	return when && !*out ? -EINVAL : 0;
}

static int load_remarks(struct remarks *out, const json_t *list, struct vocabulary *v,
			const struct where *w, struct error *e)
{
	json_t *json;
	size_t i;

	json_array_foreach(list, i, json) {
		struct where at = where_index(w, i), at_says = where_key(&at, "says");
		struct remark *remark = &out->list[i];

		if (i == REMARKS_MAX)
			return error_text(e, w, "more", "at most %d of them", REMARKS_MAX);
		out->count++;
		remark->check = json_string_value(json_object_get(json, "check"));
		remark->is_measured = json_is_true(json_object_get(json, "measured"));
		remark->is_useless = json_is_true(json_object_get(json, "useless"));
		if (load_when(&remark->when, json, v, &at, e) ||
		    sentence_compile(&remark->says, json_object_get(json, "says"), v->facts,
				     v->arena, &at_says, e))
			return -EINVAL;
		if (!remark->when || !remark->says.count)
			return error_value(e, &at, json, "`if` and `says`");
	}
	return 0;
}

static int load_callers(struct knowledge *k, const json_t *list, const struct where *w,
			struct error *e)
{
	json_t *json;
	size_t i;

	json_array_foreach(list, i, json) {
		struct where at = where_index(w, i);
		const char *name = json_string_value(json_object_get(json, "as"));
		const char *says = json_string_value(json_object_get(json, "says"));
		const char *is = json_string_value(json_object_get(json, "is"));
		int as = name ? identity_by_name(name) : -1;

		if (as < 0 || !is || !says || k->caller_count == IDENTITIES)
			return error_value(e, &at, json, "`as` (%s), `is` and `says`",
					   identity_choice);
		k->callers[k->caller_count++] = (struct caller_change){
			.as = (enum identity)as,
			.is = is,
			.says = says,
			.is_confined = json_string_value(json_object_get(json, "is_confined"))};
	}
	return 0;
}

/* `set` has one sysctl; what it is to be is a number as the fact machine.paranoid, with a sign. */
static int load_sysctl(struct sysctl_change *out, const json_t *json, struct vocabulary *v,
		       const struct where *w, struct error *e)
{
	static const struct fact number = {.name = "a number"};
	struct where at_set = where_key(w, "set"), at_loses = where_key(w, "loses");
	json_t *to = NULL;

	json_object_foreach(json_object_get(json, "set"), out->name, to)
		break;
	while (to && sysctl_names[out->place] && strcmp(sysctl_names[out->place], out->name))
		out->place++;
	if (!to || !sysctl_names[out->place])
		return error_value(e, &at_set, json, "one sysctl of perf's, and its value");
	if (right_side_compile(&out->to, to, &number, v, &at_set, e) ||
	    load_when(&out->when, json, v, w, e))
		return -EINVAL;
	if (!out->when)
		return error_value(e, w, json, "`if`");
	out->is_untried = json_is_true(json_object_get(json, "untried"));
	return sentence_compile(&out->loses, json_object_get(json, "loses"), v->facts, v->arena,
				&at_loses, e);
}

static int load_sysctls(struct knowledge *k, const json_t *list, struct vocabulary *v,
			const struct where *w, struct error *e)
{
	json_t *json;
	size_t i;

	json_array_foreach(list, i, json) {
		struct where at = where_index(w, i);

		if (k->sysctl_count == SYSCTLS)
			return error_text(e, w, "more", "at most %d of them", SYSCTLS);
		if (load_sysctl(&k->sysctls[k->sysctl_count++], json, v, &at, e))
			return -EINVAL;
	}
	return 0;
}

int knowledge_load(struct knowledge *k, const struct source *source, const struct model *model,
		   struct error *e)
{
	struct where root = where_root(source);
	struct where at_changes = where_key(&root, "changes"),
		     at_callers = where_key(&root, "callers");
	struct where at_sysctls = where_key(&root, "sysctls"), at_notes = where_key(&root, "notes");
	struct where at_others = where_key(&root, "others");
	struct vocabulary v = {.abi = model->abi,
			       .facts = &model->facts,
			       .terms = json_object_get(model->json, "terms"),
			       .env = model->machine.env,
			       .arena = &k->arena};

	*k = (struct knowledge){.json = source_parse(source, e)};
	if (!k->json)
		return -EINVAL;
	if (changes_load(&k->changes, json_object_get(k->json, "changes"), &v, &at_changes, e) ||
	    load_callers(k, json_object_get(k->json, "callers"), &at_callers, e) ||
	    load_sysctls(k, json_object_get(k->json, "sysctls"), &v, &at_sysctls, e) ||
	    load_remarks(&k->notes, json_object_get(k->json, "notes"), &v, &at_notes, e))
		return -EINVAL;
	return load_remarks(&k->others, json_object_get(k->json, "others"), &v, &at_others, e);
}

void knowledge_free(struct knowledge *k)
{
	changes_free(&k->changes);
	arena_free(&k->arena);
	json_decref(k->json);
}
