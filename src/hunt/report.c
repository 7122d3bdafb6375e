/* SPDX-License-Identifier: MIT */
/*
 * Printing results as they come, or all of them as one object.
 */
#include "hunt/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_text.h"

static const struct environment *machine_of(const struct hunt_sum *sum)
{
	return sum->hunt->model->machine.env;
}

int hunt_sum_begin(struct hunt_sum *sum, const struct hunt *hunt, bool is_json)
{
	*sum = (struct hunt_sum){.hunt = hunt, .is_json = is_json, .callers = json_array()};
	if (!is_json)
		printf("perfabi hunt on Linux %s %s, seed %llu\n\n", machine_of(sum)->release,
		       machine_of(sum)->machine, (unsigned long long)hunt->options->seed);
	return sum->callers ? 0 : -ENOMEM;
}

void hunt_sum_free(struct hunt_sum *sum)
{
	json_decref(sum->callers);
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_caller(const struct hunt_result *r)
{
	const struct tally *t = r->sum;

	printf("  %-10s %llu calls: %llu refused, %llu opened, %.2f %% unknown, %llu differ; "
	       "%.0f a second\n",
	       identity_names[r->as], (unsigned long long)t->calls, (unsigned long long)t->refused,
	       (unsigned long long)t->opened, share(t->unknown, t->calls),
	       (unsigned long long)t->differ, r->seconds > 0 ? (double)t->calls / r->seconds : 0);
	if (t->sought)
		printf("             %llu of %llu boundaries\n", (unsigned long long)t->found,
		       (unsigned long long)t->sought);
	if (t->unsteady)
		printf("             %llu differed once and not again\n",
		       (unsigned long long)t->unsteady);
	if (t->moved)
		printf("             %llu differed after a sysctl had been changed\n",
		       (unsigned long long)t->moved);
	if (t->held)
		printf("             %llu were refused, perhaps because another program holds what "
		       "they need\n",
		       (unsigned long long)t->held);
	for (unsigned i = 0; i < t->difference_count; i++)
		printf("%s\n", t->differences[i]);
	fflush(stdout);
}

static json_t *counts_json(const struct model *model, const uint64_t counts[HUNT_CHECKS])
{
	json_t *json = json_object();

	for (size_t i = 0; i < model->count && i < HUNT_CHECKS; i++)
		if (counts[i])
			json_object_set_new(json, model->checks[i].id,
					    json_integer((json_int_t)counts[i]));
	return json;
}

static json_t *caller_json(const struct hunt_result *r, const struct model *model)
{
	static const char *const keys[] = {"calls",  "refused",  "opened", "unknown",
					   "differ", "unsteady", "moved",  "held",
					   "sought", "found",    NULL};
	const struct tally *t = r->sum;
	const uint64_t values[] = {t->calls,    t->refused, t->opened, t->unknown, t->differ,
				   t->unsteady, t->moved,   t->held,   t->sought,  t->found};
	json_t *json = json_object(), *differences = json_array();

	json_object_set_new(json, "as", json_string(identity_names[r->as]));
	for (size_t i = 0; keys[i]; i++)
		json_object_set_new(json, keys[i], json_integer((json_int_t)values[i]));
	json_object_set_new(json, "seconds", json_real(r->seconds));
	json_object_set_new(json, "checks", counts_json(model, t->by_check));
	json_object_set_new(json, "unknown_checks", counts_json(model, t->unknown_by_check));
	for (unsigned i = 0; i < t->difference_count; i++)
		json_array_append_new(differences, json_loads(t->differences[i], 0, NULL));
	json_object_set_new(json, "differences", differences);
	return json;
}

void hunt_sum_add(struct hunt_sum *sum, const struct hunt_result *result)
{
	for (size_t i = 0; i < HUNT_CHECKS; i++)
		sum->met[i] |= result->sum->met[i];
	for (size_t i = 0; i < HUNT_TERMS; i++)
		sum->noticed[i] |= result->sum->noticed[i];
	sum->any_differ = sum->any_differ || result->sum->differ;
	if (sum->is_json)
		json_array_append_new(sum->callers, caller_json(result, sum->hunt->model));
	else
		print_caller(result);
}

/* The checks that no call met. */
static json_t *unmet_json(const struct hunt_sum *sum)
{
	json_t *list = json_array();

	for (size_t i = 0; i < sum->hunt->model->count && i < HUNT_CHECKS; i++)
		if (!sum->met[i])
			json_array_append_new(list, json_string(sum->hunt->model->checks[i].id));
	return list;
}

/* Terms that nobody noticed, of checks that were met. */
struct unnoticed {
	const struct hunt_sum *sum;
	json_t *list;
	size_t terms;
};

static void note_unnoticed(void *context, size_t number, const struct check *check,
			   struct term *term)
{
	struct unnoticed *u = context;
	const struct model *model = u->sum->hunt->model;

	if (!u->sum->met[check - model->checks])
		return;
	u->terms++;
	if (!u->sum->noticed[number])
		json_array_append_new(u->list, json_sprintf("%s %s", check->id,
							    model->facts.list[term->fact].name));
}

static void print_list(const char *what, const json_t *list)
{
	json_t *item;
	size_t i;

	if (!json_array_size(list))
		return;
	printf("  %s", what);
	json_array_foreach(list, i, item)
		printf("%s%s", i ? ", " : " ", json_string_value(item));
	printf("\n");
}

static void print_sum(const struct hunt_sum *sum, json_t *unmet, const struct unnoticed *u)
{
	const struct environment *env = machine_of(sum);
	json_t *json =
		json_pack("{s:s,s:s,s:I,s:O}", "kernel", env->release, "machine", env->machine,
			  "seed", (json_int_t)sum->hunt->options->seed, "callers", sum->callers);
	char *text;

	if (sum->hunt->options->boundaries)
		json_object_set(json, "unmet", unmet);
	if (sum->hunt->options->mutates) {
		json_object_set_new(json, "terms", json_integer((json_int_t)u->terms));
		json_object_set(json, "unnoticed", u->list);
	}
	text = json ? json_text(json, JSON_INDENT(2)) : NULL;
	puts(text ? text : "");
	free(text);
	json_decref(json);
}

bool hunt_sum_end(struct hunt_sum *sum)
{
	struct unnoticed u = {.sum = sum, .list = json_array()};
	json_t *unmet = unmet_json(sum);
	bool is_good;

	if (sum->hunt->options->mutates)
		hunt_terms(sum->hunt->model, note_unnoticed, &u);
	is_good = !sum->any_differ && !json_array_size(u.list);
	if (sum->is_json) {
		print_sum(sum, unmet, &u);
	} else if (sum->hunt->options->boundaries) {
		printf("\n");
		print_list("no call here meets", unmet);
		print_list("turned round, and not noticed:", u.list);
		if (sum->hunt->options->mutates)
			printf("  %zu of %zu terms noticed when they are turned round\n",
			       u.terms - json_array_size(u.list), u.terms);
	}
	json_decref(unmet);
	json_decref(u.list);
	return is_good;
}
