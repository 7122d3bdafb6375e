/* SPDX-License-Identifier: MIT */
/*
 * Trying a call, and making it simple.
 */
#include "hunt/difference.h"

#include <errno.h>
#include <string.h>

#include "abi/attr.h"
#include "machine/names.h"

/* Where the kernel's own size is written back: the check says so, and the memory can be written. */
static bool writes_size(const struct trial *t)
{
	return t->prediction.outcome == REFUSED &&
	       json_object_get(t->prediction.check->json, "writes_size") &&
	       t->call.memory != MEMORY_READ_ONLY;
}

static bool is_of_other_gate(const struct trial *t)
{
	return t->prediction.outcome == REFUSED && !t->prediction.unknown && t->gates &&
	       !(t->gates >> t->prediction.check->gate & 1);
}

static bool agrees(const struct hunter *h, const struct trial *t)
{
	if (t->prediction.err != t->result.err || t->result.other_written || is_of_other_gate(t))
		return false;
	if (writes_size(t))
		return t->result.size == h->model->machine.env->attr_size;
	return !t->result.size_written;
}

static void ask_witnesses(struct hunter *h, struct trial *t)
{
	t->gates = ~0U;
	if (t->result.err && !t->no_files)
		t->gates = phase_infer(h->model->phases, &t->call, t->result.err, h->zombie,
				       h->model->machine.env);
}

struct prediction trial_predict(struct hunter *h, const struct trial *t)
{
	h->caller.has_files = !t->no_files;
	situation_begin(&h->situation, &h->model->machine, &t->call, &h->caller, &h->stage->world);
	return model_predict(h->model, &h->situation);
}

bool trial_run(struct hunter *h, struct trial *t)
{
	t->prediction = trial_predict(h, t);
	t->result = (struct attempt){0};
	if (t->prediction.outcome == UNFORESEEN)
		return true;
	t->result = attempts_make(&h->attempts, &t->call, t->no_files);
	/* Of what stands before the kernel the witnesses tell nothing. */
	if (t->prediction.check && t->prediction.check->id[0] == 'S')
		t->gates = 0;
	if (t->gates)
		ask_witnesses(h, t);
	return agrees(h, t);
}

static void describe_prediction(const struct trial *t, char *text, size_t size)
{
	if (t->prediction.outcome == REFUSED)
		snprintf(text, size, "%s (%s)", errno_name(t->prediction.err),
			 t->prediction.check->id);
	else
		snprintf(text, size, "that it opens");
}

void trial_describe(const struct hunter *h, const struct trial *t, char *text, size_t size)
{
	char foretold[64], gates[128];

	text[0] = '\0';
	if (agrees(h, t))
		return;
	describe_prediction(t, foretold, sizeof(foretold));
	if (t->prediction.err != t->result.err)
		snprintf(text, size, "the model says %s, the kernel %s", foretold,
			 t->result.err ? errno_name(t->result.err) : "opens it");
	else if (is_of_other_gate(t)) {
		phase_names(h->model->phases, t->gates, gates, sizeof(gates));
		snprintf(text, size, "%s as foretold, from %s by the model and %s by the witnesses",
			 foretold, h->model->phases->list[t->prediction.check->gate].name, gates);
	} else if (t->result.other_written)
		snprintf(text, size, "%s as foretold, and attr is changed beyond its size",
			 t->result.err ? errno_name(t->result.err) : "it opens");
	else
		snprintf(text, size, "%s as foretold, and attr.size is %u afterwards",
			 t->result.err ? errno_name(t->result.err) : "it opens", t->result.size);
}

/* Whether the simpler call differs in the same way; then it is taken. */
static bool take_if_same(struct hunter *h, struct trial *best, struct trial *candidate)
{
	const struct check *check = best->prediction.check;
	int err = best->result.err;

	if (trial_run(h, candidate) || candidate->result.err != err ||
	    candidate->prediction.check != check)
		return false;
	*best = *candidate;
	return true;
}

static bool simplify_arguments(struct hunter *h, struct trial *best)
{
	bool any = false;
	struct trial t;

#define TRY(condition, change)                                                                     \
	do {                                                                                       \
		t = *best;                                                                         \
		if (condition) {                                                                   \
			change;                                                                    \
			any = take_if_same(h, best, &t) || any;                                    \
		}                                                                                  \
	} while (0)
	TRY(t.no_files, t.no_files = false);
	TRY(t.call.memory != MEMORY_WRITABLE, t.call.memory = MEMORY_WRITABLE);
	TRY(t.call.poke_count, t.call.poke_count--);
	TRY(t.call.group_fd != -1, t.call.group_fd = -1);
	TRY(t.call.pid != 0, t.call.pid = 0);
	TRY(t.call.cpu != -1, t.call.cpu = -1);
	TRY(t.call.cpu > 0, t.call.cpu = 0);
	for (unsigned bit = 0; bit < 64; bit++)
		TRY(t.call.flags >> bit & 1, t.call.flags &= ~(UINT64_C(1) << bit));
#undef TRY
	return any;
}

/* Sets a field of the one image that all trials share; puts it back if that is not the same. */
static bool try_value(struct hunter *h, struct trial *best, const struct abi_field *field,
		      uint64_t value)
{
	uint64_t was = attr_get(field, best->call.image, host_order());
	struct trial t = *best;

	if (value == was)
		return false;
	attr_set(field, best->call.image, host_order(), value);
	if (take_if_same(h, best, &t))
		return true;
	attr_set(field, best->call.image, host_order(), was);
	return false;
}

static bool simplify_field(struct hunter *h, struct trial *best, const struct abi_field *field)
{
	uint64_t value = attr_get(field, best->call.image, host_order());
	bool any = false;

	if (!strcmp(field->name, "size"))
		return try_value(h, best, field, h->model->abi->attr_size);
	if (!value)
		return false;
	if (try_value(h, best, field, 0))
		return true;
	for (unsigned bit = 0; bit < 64; bit++)
		if (value >> bit & 1 && try_value(h, best, field, value & ~(UINT64_C(1) << bit))) {
			value &= ~(UINT64_C(1) << bit);
			any = true;
		}
	return any;
}

void trial_shrink(struct hunter *h, struct trial *t)
{
	const struct abi *abi = h->model->abi;
	bool any = true;

	for (unsigned round = 0; any && round < 8; round++) {
		any = simplify_arguments(h, t);
		for (size_t i = 0; i < abi->field_count; i++)
			if (!abi->fields[i].alias_of && !abi->fields[i].of_bits)
				any = simplify_field(h, t, &abi->fields[i]) || any;
	}
}

/* Whether a text anywhere in the JSON names that thing. NOLINTNEXTLINE(misc-no-recursion) */
static bool names_thing(const json_t *json, const char *name)
{
	const char *text = json_string_value(json), *key;
	size_t n = strlen(name), i;
	json_t *item;

	if (text && text[0] == '$')
		return !strncmp(text + 1, name, n) && scope_name_length(text + 1) == n;
	if (text)
		return strstr(text, name) && strchr(text, '$');
	json_object_foreach((json_t *)json, key, item)
		if (names_thing(item, name))
			return true;
	json_array_foreach(json, i, item)
		if (names_thing(item, name))
			return true;
	return false;
}

/* The steps of the stage that the call hangs on, in their order. */
static json_t *given_json(const struct hunter *h, const json_t *open)
{
	const json_t *all = json_object_get(h->stage->plan->json, "given");
	json_t *given = json_array(), *step;
	size_t i = json_array_size(all);

	while (i-- > 0) {
		const char *name;

		step = json_array_get(all, i);
		name = json_string_value(json_object_get(step, "bind"));
		if (!name)
			name = json_string_value(json_object_get(step, "mmap"));
		if (!name)
			name = json_string_value(json_object_get(step, "kill"));
		if (name && (names_thing(open, name) || names_thing(given, name)))
			json_array_insert(given, 0, step);
	}
	return given;
}

static json_t *expect_json(struct hunter *h, const struct trial *t)
{
	unsigned gates;
	json_t *expect;

	if (!t->result.err)
		return json_pack("{s:b}", "ok", 1);
	gates = phase_infer(h->model->phases, &t->call, t->result.err, h->zombie,
			    h->model->machine.env);
	expect = json_pack("{s:s}", "errno", errno_name(t->result.err));
	for (size_t i = 0; i < h->model->phases->count; i++)
		if (gates == 1U << i)
			json_object_set_new(expect, "phase",
					    json_string(h->model->phases->list[i].name));
	return expect;
}

json_t *trial_case(struct hunter *h, const struct trial *t)
{
	json_t *json = json_object(),
	       *open = stage_open_json(h->stage, h->model->machine.env, &t->call),
	       *given = given_json(h, open);
	const struct check *check = t->prediction.check;
	char text[256];

	trial_describe(h, t, text, sizeof(text));
	json_object_set_new(json, "title", json_string(text));
	json_object_set_new(json, "as", json_pack("[s]", identity_names[h->caller.as]));
	if (json_array_size(given))
		json_object_set(json, "given", given);
	json_decref(given);
	json_object_set_new(json, "open", open);
	json_object_set_new(json, "expect", expect_json(h, t));
	if (check)
		json_object_set_new(json, "covers", json_pack("[s]", check->id));
	return json;
}
