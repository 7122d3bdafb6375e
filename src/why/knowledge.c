/* SPDX-License-Identifier: MIT */
/*
 * Loading cases/why.json.
 */
#include "why/knowledge.h"

#include <errno.h>
#include <string.h>

static int check_remark(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct remark *remark = made;

	return remark->when && remark->says.count ? 0
						  : error_value(d->e, w, json, "`if` and `says`");
}

static const struct doc_type remark_type = {
	"a remark",
	(const struct doc_row[]){
		{"if", DOC_READ, false, AT(struct remark, when), .read = predicate_read},
		{"says", DOC_READ, false, AT(struct remark, says), .read = sentence_read},
		{"check", DOC_TEXT, false, AT(struct remark, check)},
		{"measured", DOC_TRUTH, false, AT(struct remark, is_measured)},
		{"useless", DOC_TRUTH, false, AT(struct remark, is_useless)},
		{0}},
	.size = sizeof(struct remark), .check = check_remark};

static const struct doc_type caller_type = {
	"a caller",
	(const struct doc_row[]){
		{"as", DOC_WORD, true, AT(struct caller_change, as), .words = identity_names},
		{"is", DOC_TEXT, true, AT(struct caller_change, is)},
		{"says", DOC_TEXT, true, AT(struct caller_change, says)},
		{"is_confined", DOC_TEXT, false, AT(struct caller_change, is_confined)},
		{0}},
	.size = sizeof(struct caller_change)};

/* One sysctl; what it is to be is a number as the fact machine.paranoid, with a sign. */
static int read_sysctl(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	static const struct fact number = {.name = "a number"};
	struct sysctl_setting *out = at;
	json_t *to = NULL;

	json_object_foreach((json_t *)json, out->name, to)
		break;
	while (to && sysctl_names[out->place] && strcmp(sysctl_names[out->place], out->name))
		out->place++;
	if (!to || !sysctl_names[out->place])
		return error_value(d->e, w, json, "one sysctl of perf's, and its value");
	return right_side_compile(&out->to, to, &number, d->context, w, d->e);
}

static const struct doc_type sysctl_type = {
	"a sysctl",
	(const struct doc_row[]){
		{"set", DOC_READ, true, AT(struct sysctl_change, set), .read = read_sysctl},
		{"if", DOC_READ, true, AT(struct sysctl_change, when), .read = predicate_read},
		{"loses", DOC_READ, false, AT(struct sysctl_change, loses), .read = sentence_read},
		{"untried", DOC_TRUTH, false, AT(struct sysctl_change, is_untried)},
		{0}},
	.size = sizeof(struct sysctl_change)};

#define LIST_OF(key, member, counted, what)                                                        \
	{                                                                                          \
		key, DOC_LIST, true, AT(struct knowledge, member),                                 \
			.type = &(what), .count = offsetof(struct knowledge, counted)              \
	}

static const struct doc_type knowledge_type = {
	"why.json",
	(const struct doc_row[]){{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
				 {"about", DOC_ANY, false, .at = DOC_NOWHERE},
				 {"absent", DOC_ANY, false, AT(struct knowledge, absent)},
				 LIST_OF("changes", changes.list, changes.count, change_type),
				 LIST_OF("callers", callers, caller_count, caller_type),
				 LIST_OF("sysctls", sysctls, sysctl_count, sysctl_type),
				 LIST_OF("notes", notes.list, notes.count, remark_type),
				 LIST_OF("others", others.list, others.count, remark_type),
				 {0}},
	.size = offsetof(struct knowledge, arena)};

int knowledge_load(struct knowledge *k, const struct source *source, const struct model *model,
		   struct error *e)
{
	struct vocabulary v = {.abi = model->abi,
			       .facts = &model->facts,
			       .terms = json_object_get(model->json, "terms"),
			       .env = model->machine.env,
			       .arena = &k->arena};
	struct doc d = {&k->arena, e, &v};

	*k = (struct knowledge){0};
	return doc_load(&d, &knowledge_type, source, k);
}

void knowledge_free(struct knowledge *k)
{
	arena_free(&k->arena);
}
