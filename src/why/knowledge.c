/* SPDX-License-Identifier: MIT */
/*
 * Loading cases/why.json, making its changes, and searching those by which a call opens.
 */
#include "why/knowledge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "machine/clock.h"
#include "text/json_text.h"

static int check_note_rule(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct note_rule *rule = made;

	return rule->when && rule->says.count ? 0 : error_value(d->e, w, json, "`if` and `says`");
}

static const struct doc_type note_rule_type = {
	"a note",
	(const struct doc_row[]){{"if", DOC_READ, false, AT(struct note_rule, when),
				  .read = predicate_read, .takes = "predicate"},
				 {"says", DOC_READ, false, AT(struct note_rule, says),
				  .read = sentence_read, .takes = "sentence"},
				 {"check", DOC_TEXT, false, AT(struct note_rule, check)},
				 {"measured", DOC_TRUTH, false, AT(struct note_rule, is_measured)},
				 {"useless", DOC_TRUTH, false, AT(struct note_rule, is_useless)},
				 {0}},
	.size = sizeof(struct note_rule), .check = check_note_rule};

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
		{"set", DOC_READ, true, AT(struct sysctl_change, set), .read = read_sysctl,
		 .takes = "sysctl_change"},
		{"if", DOC_READ, true, AT(struct sysctl_change, when), .read = predicate_read,
		 .takes = "predicate"},
		{"loses", DOC_READ, false, AT(struct sysctl_change, loses), .read = sentence_read,
		 .takes = "sentence"},
		{"untried", DOC_TRUTH, false, AT(struct sysctl_change, is_untried)},
		{0}},
	.size = sizeof(struct sysctl_change)};

const char *const absent_names[] = {"pmu", "tracepoint", "tracefs", "event", "call", NULL};

static const struct doc_type absent_type = {
	"what is said of what is absent",
	(const struct doc_row[]){
		{"of", DOC_WORD, true, AT(struct absent_sentences, of), .words = absent_names},
		{"named", DOC_NAMES, false, AT(struct absent_sentences, named)},
		{"if", DOC_READ, false, AT(struct absent_sentences, when), .read = predicate_read,
		 .takes = "predicate"},
		{"is", DOC_TEXT, true, AT(struct absent_sentences, is)},
		{"because", DOC_TEXT, true, AT(struct absent_sentences, because)},
		{"instead", DOC_TEXT, true, AT(struct absent_sentences, instead)},
		{0}},
	.size = sizeof(struct absent_sentences)};

#define LIST_OF(key, member, counted, what)                                                        \
	{                                                                                          \
		key, DOC_LIST, true, AT(struct knowledge, member),                                 \
			.type = &(what), .count = offsetof(struct knowledge, counted)              \
	}

const struct doc_type knowledge_type = {
	"why.json",
	(const struct doc_row[]){{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
				 {"about", DOC_ANY, false, .at = DOC_NOWHERE},
				 LIST_OF("absent", absent, absent_count, absent_type),
				 LIST_OF("changes", changes.list, changes.count, change_type),
				 LIST_OF("callers", callers, caller_count, caller_type),
				 LIST_OF("sysctls", sysctls, sysctl_count, sysctl_type),
				 LIST_OF("notes", notes.list, notes.count, note_rule_type),
				 LIST_OF("others", others.list, others.count, note_rule_type),
				 {0}},
	.size = offsetof(struct knowledge, arena)};

int knowledge_load(struct knowledge *k, const struct source *source, const struct model *model,
		   struct error *e)
{
	struct vocabulary v = {.abi = model->abi,
			       .facts = &model->facts,
			       .terms = model->terms,
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

/*
 * Loading the changes, and making them.
 */

static const char *const arguments[] = {
	[PART_FIELD] = "attr.bits",        [PART_PID] = "call.pid",     [PART_CPU] = "call.cpu",
	[PART_GROUP_FD] = "call.group_fd", [PART_FLAGS] = "call.flags", NULL};

/* In the order of enum setting_how, from the second on. */
static const char *const ways[] = {"with", "without", "within", "aligned", NULL};

/* The part of a call that the fact is; only such a fact can be set. */
static int find_setting(struct setting *out, const char *name, const struct vocabulary *v,
			const struct where *w, struct error *e)
{
	struct nearest near = nearest_to(name);
	int index = facts_find(v->facts, name, &near), argument = name_index(name, arguments, NULL);

	if (index < 0)
		return error_name(e, w, name, near.best, "a field of attr, or an argument");
	out->fact = &v->facts->list[index];
	out->is_bits = argument == PART_FIELD;
	if (argument >= 0)
		out->part.of = (enum call_part_of)argument;
	out->part.field = strcmp(name, "attr.size") ? out->fact->field : abi_field(v->abi, "size");
	return argument >= 0 || out->part.field
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
	struct setting part = {0};
	const char *way;
	json_t *to;

	if (find_setting(&part, name, v, w, e))
		return -EINVAL;
	if (!json_is_object(json))
		return add_setting(set, &part, SET_TO, json, v, w, e);
	json_object_foreach((json_t *)json, way, to) {
		struct where at = where_key(w, way);
		struct nearest near = nearest_to(way);
		int how = name_index(way, ways, &near);

		if (how < 0)
			return error_name(e, &at, way, near.best,
					  "with, without, within or aligned");
		if (add_setting(set, &part, (enum setting_how)(SET_WITH + how), to, v, &at, e))
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
	(const struct doc_row[]){{"set", DOC_READ, true, AT(struct change, set),
				  .read = read_settings, .takes = "settings"},
				 {"if", DOC_READ, false, AT(struct change, when),
				  .read = predicate_read, .takes = "predicate"},
				 {"fallback", DOC_TRUTH, false, AT(struct change, is_fallback)},
				 {"says", DOC_READ, false, AT(struct change, says),
				  .read = sentence_read, .takes = "sentence"},
				 {"loses", DOC_READ, false, AT(struct change, loses),
				  .read = sentence_read, .takes = "sentence"},
				 {0}},
	.size = sizeof(struct change)};

/* The word of all bits is the machine's. */
static uint64_t setting_get(const struct setting *setting, const struct machine *machine,
			    const struct call *call)
{
	return setting->is_bits ? field_get(&machine->bits, call->image)
				: call_get(call, setting->part);
}

/* What it is to have instead of `was`; false: that is not known. */
static bool setting_value(const struct setting *setting, const struct facts *facts,
			  struct evaluation *s, uint64_t was, uint64_t *value)
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

bool change_make(const struct change *change, const struct model *model, struct evaluation *s,
		 struct call *call)
{
	bool any = false;

	if (change->when && predicate_holds(change->when, &model->facts, s, NULL) != HOLDS)
		return false;
	for (size_t i = 0; i < change->set.count; i++) {
		const struct setting *setting = &change->set.list[i];
		uint64_t was = setting_get(setting, &model->machine, call), value;

		if (!setting_value(setting, &model->facts, s, was, &value))
			return false;
		if (value == was)
			continue;
		if (!strcmp(setting->fact->name, "attr.size"))
			call_cut(call, value);
		if (setting->is_bits)
			field_set(&model->machine.bits, call->image, value);
		else
			call_set(call, setting->part, value);
		any = true;
	}
	return any;
}

/*
 * Saying what a change does to a call.
 */

/* More of them than a reader would read. */
enum { BITS_NAMED = 6 };

/* "a, b and c" of the names of these bits; a bit without a name, and a crowd, as a number. */
static void write_bits(char *out, size_t size, const struct abi_family *names, uint64_t bits)
{
	size_t at = 0;

	out[0] = '\0';
	if (__builtin_popcountll(bits) > BITS_NAMED) {
		snprintf(out, size, "%#llx", (unsigned long long)bits);
		return;
	}
	for (unsigned bit = 0; bit < 64 && at + 1 < size; bit++) {
		uint64_t one = UINT64_C(1) << bit;
		const struct abi_value *name = names ? abi_value_of(names, one) : NULL;
		const char *between = !at                                         ? ""
				      : bits & (one - 1 + one) && bits >> bit > 1 ? ", "
										  : " and ";
		char text[96];
		int n;

		if (!(bits & one))
			continue;
		if (name)
			sentence_constant(names->prefix, name->name, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "bit %u", bit);
		n = snprintf(out + at, size - at, "%s%s", between, text);
		at += n > 0 ? (size_t)n : 0;
	}
}

/* "clear use_clockid and inherit": the fields of attr that are bits and that differ. */
static int write_attr_bits(const struct machine *machine, uint64_t was, uint64_t now, char *out,
			   size_t size)
{
	const struct abi *abi = machine->env->abi;
	unsigned char before[ATTR_BYTES_MAX] = {0}, after[ATTR_BYTES_MAX] = {0};
	const char *between = "";
	size_t at = (size_t)snprintf(out, size, "clear ");

	field_set(&machine->bits, before, was);
	field_set(&machine->bits, after, now);
	for (size_t i = 0; i < abi->field_count && at < size; i++) {
		const struct abi_field *field = &abi->fields[i];

		if (!field->width || field->offset != machine->bits.offset ||
		    attr_get(field, before, host_order()) == attr_get(field, after, host_order()))
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%s", between,
				       field->reserved ? "the reserved bits" : field->name);
		between = " and ";
	}
	return (int)at;
}

static int write_setting(const struct setting *setting, const struct machine *machine, uint64_t was,
			 uint64_t now, char *out, size_t size)
{
	const struct abi_field *field = setting->fact->field;
	const struct abi_arch *arch = machine->env->arch;
	/* The names that its values have on this machine: registers are the processor's. */
	const struct abi_family *names = !field || !field->regs ? setting->fact->names
					 : arch                 ? &arch->regs
								: NULL;
	const struct abi_value *name = names && !names->mask ? abi_value_of(names, now) : NULL;
	/* A field by its name, an argument by its own: what stands behind the dot. */
	const char *part = strchr(setting->fact->name, '.') + 1;
	char bits[256];

	if (name) {
		sentence_constant(names->prefix, name->name, bits, sizeof(bits));
		return snprintf(out, size, "set %s to %s", part, bits);
	}
	if (setting->fact->is_mask && !(now & ~was) && (now || names)) {
		write_bits(bits, sizeof(bits), names, was & ~now);
		return snprintf(out, size, "clear %s in %s", bits, part);
	}
	if (setting->fact->is_mask && !(was & ~now)) {
		write_bits(bits, sizeof(bits), names, now & ~was);
		return snprintf(out, size, "set %s in %s", bits, part);
	}
	if (setting->fact->is_mask && names && now) {
		write_bits(bits, sizeof(bits), names, now);
		return snprintf(out, size, "set %s to %s", part, bits);
	}
	if (setting->fact->is_signed)
		return snprintf(out, size, "set %s to %lld", part, (long long)now);
	return snprintf(out, size,
			setting->fact->is_mask && now ? "set %s to %#llx" : "set %s to %llu", part,
			(unsigned long long)now);
}

void change_write(const struct change *change, const struct model *model, struct evaluation *s,
		  char *out, size_t size)
{
	const struct call *call = s->call;
	size_t at = 0;

	out[0] = '\0';
	if (change->says.count) {
		sentence_write(&change->says, &model->facts, s, out, size);
		return;
	}
	for (size_t i = 0; i < change->set.count; i++) {
		const struct setting *setting = &change->set.list[i];
		uint64_t was = setting_get(setting, &model->machine, call), now;
		int n;

		if (!setting_value(setting, &model->facts, s, was, &now) || now == was)
			continue;
		if (at && at < size)
			at += (size_t)snprintf(out + at, size - at, " and ");
		if (at >= size)
			return;
		n = setting->is_bits
			    ? write_attr_bits(&model->machine, was, now, out + at, size - at)
			    : write_setting(setting, &model->machine, was, now, out + at,
					    size - at);
		at += n > 0 ? (size_t)n : 0;
	}
}

/*
 * The search goes breadth first: all sets of one change, then all of two. From there on only such
 * sets grow as have brought the call past the check that refused it.
 */

struct finding judge_call(struct judge *judge, const struct call *call)
{
	const struct check *behind = NULL;
	struct prediction p;
	struct answer answer;
	struct finding f;
	int err;

	judge->asked++;
	judge_begin(judge, call);
	p = model_predict(judge->model, &judge->evaluation);
	f = (struct finding){.outcome = p.outcome,
			     .err = p.err,
			     .check = p.check,
			     .unknown = p.unknown,
			     .is_foreseen = p.outcome != UNFORESEEN};
	/* A check that refuses whatever a PMU says before it is as good as known. */
	if (!judge->is_tried && judge->looks_behind && p.outcome == UNFORESEEN)
		behind = model_check_behind(judge->model, &judge->evaluation, p.check);
	if (behind)
		f = (struct finding){.outcome = REFUSED,
				     .err = behind->result.err,
				     .check = behind,
				     .unknown = p.unknown,
				     .is_foreseen = true};
	err = judge->is_tried ? call_try(call, judge->setup->no_files, judge->model->machine.env,
					 &judge->memory, &answer)
			      : -EOPNOTSUPP;
	if (err < 0)
		return f;
	f.is_foreseen = p.outcome != UNFORESEEN && p.err == err;
	/* Without /sys the PMUs are not known: then the model is not held to its word. */
	f.differs = p.outcome != UNFORESEEN && p.err != err && judge->model->machine.env->pmu_count;
	f.predicted = p.err;
	if (p.outcome == REFUSED && !f.is_foreseen)
		f.check = NULL;
	f.outcome = err ? REFUSED : OPENS;
	f.err = err;
	return f;
}

/* So many calls, for so long: one tracepoint alone can take the kernel 0.2 seconds. */
enum { ASKED_MOST = 40000, SETS_MOST = 4096 };
static const double seconds_most = 2;

/* The sets of one size that did not open. */
struct sets {
	struct remedy *list;
	size_t count;
};

struct search {
	struct judge *judge;
	const struct changes *changes;
	const struct call *call;
	const struct finding *refused;
	struct remedies *found;
	struct call changed; /* its image is its own */
	double until;
};

/* Makes one change more. Whether it changes anything. */
static bool change_once(struct judge *judge, const struct change *change, struct call *call)
{
	judge_begin(judge, call);
	return change_make(change, judge->model, &judge->evaluation, call);
}

void remedy_make(const struct remedy *remedy, struct judge *judge, const struct changes *changes,
		 const struct call *call, struct call *changed)
{
	call_assign(changed, call, judge->model->abi);
	call_fold(changed, judge->model->abi);
	for (size_t i = 0; i < remedy->count; i++)
		change_once(judge, &changes->list[remedy->changes[i]], changed);
}

/* Whether the call got further than the one that was asked about. */
static bool has_gone_on(const struct search *s, const struct finding *f)
{
	if (f->check && s->refused->check)
		return f->check > s->refused->check;
	return f->err != s->refused->err || f->check != s->refused->check;
}

static bool has_change(const struct remedy *set, size_t change)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->changes[i] == change)
			return true;
	return false;
}

/* Whether one of the list has no change that this set does not have. */
static bool has_part_of(const struct remedy *list, size_t count, const struct remedy *set)
{
	for (size_t i = 0; i < count; i++) {
		size_t same = 0;

		while (same < list[i].count && has_change(set, list[i].changes[same]))
			same++;
		if (same == list[i].count)
			return true;
	}
	return false;
}

/* Tries all sets that have one change more than this one: each is a remedy, or may grow. Pairs are
 * made in the order of the changes; from then on each change comes behind those that have brought
 * the call to where it helps. */
static void grow_set(struct search *s, const struct remedy *first, struct sets *next)
{
	size_t from = first->count == 1 ? first->changes[0] + 1 : 0;

	for (size_t j = from; j < s->changes->count; j++) {
		const struct change *change = &s->changes->list[j];
		struct remedy set = *first;
		struct finding f;

		s->found->is_cut = s->judge->asked >= ASKED_MOST || clock_seconds() >= s->until;
		if (s->found->is_cut)
			return;
		if (has_change(first, j))
			continue;
		set.changes[set.count++] = j;
		set.is_fallback = first->is_fallback || change->is_fallback;
		if (has_part_of(s->found->list, s->found->count, &set) ||
		    (set.count >= 3 && has_part_of(next->list, next->count, &set)))
			continue;
		remedy_make(first, s->judge, s->changes, s->call, &s->changed);
		if (!change_once(s->judge, change, &s->changed))
			continue;
		f = judge_call(s->judge, &s->changed);
		if (f.outcome != REFUSED && s->found->count < REMEDIES) {
			set.unsure = f;
			set.is_unsure = f.outcome == UNFORESEEN;
			s->found->list[s->found->count++] = set;
		} else if (f.outcome == REFUSED && next->count < SETS_MOST &&
			   (set.count == 1 || has_gone_on(s, &f))) {
			next->list[next->count++] = set;
		}
	}
}

void search_remedies(struct judge *judge, const struct changes *changes, const struct call *call,
		     const struct finding *refused, struct remedies *found)
{
	struct sets sets = {.count = 1}, next = {0};
	struct search s = {.judge = judge,
			   .changes = changes,
			   .call = call,
			   .refused = refused,
			   .found = found,
			   .until = clock_seconds() + seconds_most};
	bool is_enough = false;

	*found = (struct remedies){0};
	sets.list = or_exit(calloc(SETS_MOST, sizeof(*sets.list)));
	next.list = or_exit(calloc(SETS_MOST, sizeof(*next.list)));
	s.changed.image = or_exit(malloc(judge->model->abi->attr_size));
	for (size_t n = 0; n < CHANGES_AT_ONCE; n++) {
		struct sets was = sets;

		/* Another event is only taken for want of the one that was asked for. */
		for (size_t i = 0; i < found->count; i++)
			is_enough = is_enough || !found->list[i].is_fallback;
		if (found->is_cut || is_enough)
			break;
		next.count = 0;
		for (size_t i = 0; i < sets.count && !s.found->is_cut; i++)
			grow_set(&s, &sets.list[i], &next);
		sets = next;
		next = was;
	}
	free(sets.list);
	free(next.list);
	free(s.changed.image);
}
