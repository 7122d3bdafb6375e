/* SPDX-License-Identifier: MIT */
/*
 * Made of the layouts of cases/abi by the decoder's own plans: it and a case cannot come to differ.
 */
#include "case/record_members.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "language/pattern.h"
#include "language/pattern_operator.h"
#include "plan/plan.h"
#include "stream/select.h"

static void add_member(void *context, const char *name)
{
	json_object_set_new(context, name, json_true());
}

/* The type as the decoder writes it: "MMAP2". */
static void type_text(const char *name, char *out, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		out[i] = (char)toupper((unsigned char)name[i]);
	out[i] = '\0';
}

json_t *record_members(const struct abi *abi, struct error *e)
{
	const struct abi_family *records = abi_family(abi, "record");
	json_t *all = json_object();

	for (size_t i = 0; all && i < records->count; i++) {
		json_t *members = json_object();
		struct plan_for with = {.abi = abi, .offer = add_member, .context = members};
		struct plan plan;
		char type[64];

		if (!json_object_get(records->values[i].json, "fields")) {
			json_decref(members);
			continue;
		}
		type_text(records->values[i].name, type, sizeof(type));
		json_object_set_new(all, type, members);
		if (plan_make(&plan, &with, records, &records->values[i], e)) {
			json_decref(all);
			return NULL;
		}
		plan_free(&plan);
	}
	return all;
}

struct check {
	const json_t *members;
	struct error *e;
};

static bool knows(const json_t *of, const char *name, struct nearest *near)
{
	const char *known;
	json_t *ignored;

	json_object_foreach((json_t *)of, known, ignored)
		nearest_try(near, known);
	return json_object_get(of, name) != NULL;
}

static int check_member(const struct check *check, const char *type, const char *name,
			const struct where *w)
{
	struct nearest near = nearest_to(name);
	bool known = select_is_common(name);
	const char *of;
	json_t *members;

	json_object_foreach((json_t *)check->members, of, members)
		if (!type || !strcmp(of, type))
			known = knows(members, name, &near) || known;
	return known ? 0
		     : error_name(check->e, w, name, near.best, "a member of %s",
				  type ? type : "some record");
}

static int check_record(void *context, const json_t *pattern, const struct where *w)
{
	const struct check *check = context;
	const char *name, *type = json_string_value(json_object_get(pattern, "type"));
	struct where at = where_key(w, "type");
	struct nearest near = nearest_to(type ? type : "");
	json_t *ignored;
	int err = 0;

	if (type && !knows(check->members, type, &near))
		return error_name(check->e, &at, type, near.best, "a record of cases/abi");
	json_object_foreach((json_t *)pattern, name, ignored) {
		at = where_key(w, name);
		err = err ? err : check_member(check, type, name, &at);
	}
	return err;
}

int record_members_check(const json_t *members, const json_t *pattern, const struct where *w,
			 struct error *e)
{
	struct check check = {members, e};

	if (!json_is_array(pattern) && !pattern_is_operation(pattern))
		return error_value(e, w, pattern,
				   "a list of patterns, or operators (perfabi help patterns)");
	return pattern_visit_elements(pattern, check_record, &check, w);
}
