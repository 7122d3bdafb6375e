/* SPDX-License-Identifier: MIT */
/*
 * What is learned, as cases/model.json lists it and as reports have it, and how it is learned.
 */
#include "model/learned.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call/call.h"
#include "language/merge.h"
#include "machine/names.h"
#include "machine/version.h"

static const struct doc_row learned_item_rows[] = {
	{"about", DOC_TEXT, true, AT(struct learned_item, about)},
	{"bits_of", DOC_STRING, false, AT(struct learned_item, bits_of), .takes = "flags_or_attr"},
	{"values_of", DOC_STRING, false, AT(struct learned_item, values_of),
	 .takes = "flags_or_attr"},
	{"first_of", DOC_STRING, false, AT(struct learned_item, first_of),
	 .takes = "flags_or_attr"},
	{"least_of", DOC_STRING, false, AT(struct learned_item, least_of),
	 .takes = "flags_or_attr"},
	{"count", DOC_STRING, false, AT(struct learned_item, count), .takes = "errno"},
	{"unless", DOC_STRING, false, AT(struct learned_item, unless), .takes = "errno"},
	{"yes", DOC_STRINGS, false, AT(struct learned_item, yes)},
	{"no", DOC_STRINGS, false, AT(struct learned_item, no)},
	{"since", DOC_STRING, false, AT(struct learned_item, since)},
	{"as", DOC_STRING, false, AT(struct learned_item, as), .takes = "identity"},
	{"leader", DOC_STRING, false, AT(struct learned_item, leader)},
	{"open", DOC_ANY, false, AT(struct learned_item, open), .takes = "object"},
	{"without", DOC_ANY, false, AT(struct learned_item, without), .takes = "object"},
	{"by_arch", DOC_ANY, false, AT(struct learned_item, by_arch), .takes = "object"},
	{"capability", DOC_NUMBER, false, AT(struct learned_item, capability), .least = 1,
	 .most = 63},
	{"errno", DOC_NUMBER, false, AT(struct learned_item, errno_is_value), .most = 1},
	{0}};
const struct doc_type learned_item_type = {"what is learned, with `about`", learned_item_rows,
					   .size = sizeof(struct learned_item)};

int learned_read(struct doc *d, const json_t *json, void *to, const struct where *w)
{
	struct learned *learned = to;
	const char *name;
	json_t *item;

	*learned = (struct learned){0};
	json_object_foreach((json_t *)json, name, item) {
		if (learned->count == LEARNED_MAX)
			return error_text(d->e, w, "more", "at most %d of them", LEARNED_MAX);
		if (doc_read(d, &learned_item_type, item, &learned->list[learned->count],
			     AT_KEY(w, name)))
			return -EINVAL;
		learned->list[learned->count++].name = name;
	}
	return 0;
}

int learned_check(const struct learned *learned, const struct abi *abi, const struct where *w,
		  struct error *e)
{
	for (size_t i = 0; i < learned->count; i++) {
		const char *since = learned->list[i].since;

		if (since && (*since < '0' || *since > '9') && strcmp(since, "attr") &&
		    !abi_family(abi, since) &&
		    (strncmp(since, "mend.", 5) || !abi_mend(abi, since + 5, NULL)))
			return error_name(e, AT_KEY(w, learned->list[i].name), since, NULL,
					  "since: a version, or a family or mend of cases/abi");
	}
	return 0;
}

bool learned_get(const struct learned *learned, const char *name, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; name && i < learned->count; i++) {
		if (strcmp(learned->list[i].name, name) != 0)
			continue;
		*value = learned->list[i].value;
		return learned->list[i].is_known;
	}
	return false;
}

/* From the order of this machine to little-endian, and back, of a word of `size` bytes. */
static uint64_t bit_word(uint64_t word, unsigned size)
{
	uint64_t turned = 0;

	if (host_order() == LITTLE)
		return word;
	for (unsigned i = 0; i < size * 8; i++)
		turned |= (word >> i & 1) << (size * 8 - 1 - i);
	return turned;
}

uint64_t field_get(const struct abi_field *field, const unsigned char *attr)
{
	uint64_t value = attr_get(field, attr, host_order());

	return field->of_bits ? bit_word(value, field->size) : value;
}

void field_set(const struct abi_field *field, unsigned char *attr, uint64_t value)
{
	attr_set(field, attr, host_order(), field->of_bits ? bit_word(value, field->size) : value);
}

uint64_t field_bits(const struct abi_field *field, const struct abi_field *word)
{
	unsigned char bytes[8] = {0};
	struct abi_field moved = *field;

	if (!field->width || field->reserved || field->offset != word->offset)
		return 0;
	moved.offset = 0;
	attr_set(&moved, bytes, host_order(), UINT64_MAX);
	return bit_word(load_word(bytes, word->size, host_order()), word->size);
}

struct abi_field learned_field(const struct abi *abi, const char *name)
{
	struct abi_field word;

	if (strcmp(name, "attr.bits"))
		return *abi_field(abi, name + strlen("attr."));
	word = *abi_field(abi, "disabled");
	word.width = word.first = 0;
	word.of_bits = true;
	return word;
}

/* The bits of a family that a kernel of that version knows; of one that is no mask, a bit for each
 * value. */
static uint64_t known_bits(const struct abi_family *family, const char *version)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < family->count; i++) {
		uint64_t value = family->values[i].value;

		if (abi_version_compare(version, family->values[i].since) < 0)
			continue;
		if (family->mask)
			bits |= value;
		else if (value < 64)
			bits |= UINT64_C(1) << value;
	}
	return bits;
}

/* The same of the bit fields of attr that lie in one word, as that word has them. */
static uint64_t known_fields(const struct abi *abi, const struct abi_field *word,
			     const char *version)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < abi->field_count; i++)
		if (abi_version_compare(version, abi->fields[i].since) >= 0)
			bits |= field_bits(&abi->fields[i], word);
	return bits;
}

/* What the kernel's version and architecture alone say; *known: whether they say anything. */
static uint64_t learned_by_version(const struct learned_item *item, const struct environment *env,
				   bool *known)
{
	const char *since = item->since, *of = item->bits_of;
	const struct abi_family *family = since ? abi_family(env->abi, since) : NULL;
	const struct abi_mend *mend =
		since && !strncmp(since, "mend.", 5) ? abi_mend(env->abi, since + 5, NULL) : NULL;
	const json_t *value = env->arch ? json_object_get(item->by_arch, env->arch->name) : NULL;
	struct where nowhere = {0};
	struct error e = {0};
	struct value number; /* or a text with one */

	*known = value || (since && env->upstream[0]);
	if (value)
		return value_eval(value, NULL, NULL, &nowhere, &number, &e) ? 0 : number.bits;
	if (!*known)
		return 0;
	if (family)
		return known_bits(family, env->upstream);
	if (of) {
		const struct abi_field word = learned_field(env->abi, of);

		return known_fields(env->abi, &word, env->upstream);
	}
	return mend ? abi_mend_is_in(mend, env->upstream)
		    : abi_version_compare(env->upstream, since) >= 0;
}

void learned_from_json(struct learned *learned, const json_t *json, const struct environment *env)
{
	for (size_t i = 0; i < learned->count; i++) {
		struct learned_item *item = &learned->list[i];
		const json_t *told = json_object_get(json, item->name);
		struct where nowhere = {0};
		struct error e = {0};
		struct value value;

		if (told && !value_eval(told, NULL, NULL, &nowhere, &value, &e)) {
			item->value = value.bits;
			item->is_known = true;
		} else {
			item->value = learned_by_version(item, env, &item->is_known);
		}
	}
}

json_t *learned_json(const struct learned *learned)
{
	json_t *json = json_object();

	for (size_t i = 0; i < learned->count; i++)
		if (learned->list[i].is_known)
			json_object_set_new(json, learned->list[i].name,
					    value_json(learned->list[i].value));
	return json;
}

/*
 * Learning: the opens of cases/model.json are made, each by whom it says, and what they give is
 * taken down. None stays open.
 */

enum {
	BREAKPOINTS_MOST = 32, /* no processor has so many */
	TYPES_MOST = 64,       /* hidden PMUs come early at boot */
	SECONDS = 10
};

/* One item on its way. */
struct learning {
	struct learned_item *item;
	struct environment *env;
	struct call call;
};

/* 0 or the errno that the call gives; negative: it could not be made. */
static int try_call(const struct learning *l)
{
	struct answer answer;
	int err = call_issue(&l->call, l->env, &answer);

	if (!err && answer.fd >= 0)
		close(answer.fd);
	return err ? err : answer.err;
}

static int read_call(struct learning *l, const json_t *open)
{
	struct environment *env = l->env;
	struct scope scope = {.env = env};
	struct where nowhere = {0};
	struct error e = {0};
	int err = scope_bind(&scope, "long_size", env->kernel_bits / 8);

	if (!err)
		err = call_from_json(&l->call, env->abi, env->arch, open, &scope, &nowhere, &e);
	scope_free(&scope);
	return err;
}

/* The errno of that name: "opens" is none, 0. */
static int named_errno(const char *name)
{
	return name ? errno_by_name(name, NULL) : 0;
}

static void set_value(struct learning *l, const char *name, uint64_t value)
{
	struct abi_field field;

	if (!strcmp(name, "call.flags")) {
		l->call.flags = value;
		return;
	}
	field = learned_field(l->env->abi, name);
	field_set(&field, l->call.image, value);
}

/*
 * Each of these tries one way to learn the item, and sets its value; false: it stays unknown.
 */

/* Bits that are taken, each beside those that the call has. */
static bool learn_bits(struct learning *l, const char *of)
{
	bool is_flags = !strcmp(of, "call.flags"), by_version;
	struct abi_field field = is_flags ? (struct abi_field){.size = sizeof(long)}
					  : learned_field(l->env->abi, of);
	uint64_t base = is_flags ? l->call.flags : field_get(&field, l->call.image), bits = 0;
	int unless = named_errno(l->item->unless);

	for (unsigned i = 0; i < field.size * 8; i++) {
		int err;

		set_value(l, of, base | UINT64_C(1) << i);
		err = try_call(l);
		if (err < 0 || err == ENOSYS || err == EPERM)
			return false;
		if (err != unless)
			bits |= UINT64_C(1) << i;
	}
	if (l->item->since)
		bits |= learned_by_version(l->item, l->env, &by_version);
	l->item->value = bits;
	return true;
}

/* Values of 0 to 63 that open. */
static bool learn_values(struct learning *l, const char *of)
{
	int unless = named_errno(l->item->unless);
	uint64_t values = 0;

	for (unsigned i = 0; i < 64; i++) {
		int err;

		set_value(l, of, i);
		err = try_call(l);
		if (err && err != unless)
			return false;
		if (!err)
			values |= UINT64_C(1) << i;
	}
	l->item->value = values;
	return true;
}

/* The first type of none in sysfs that opens, behind those of the ABI. */
static bool learn_first(struct learning *l, const char *of)
{
	const struct abi_family *types = abi_family(l->env->abi, "type");

	for (uint32_t type = (uint32_t)types->count; type < TYPES_MOST; type++) {
		int err;

		if (environment_pmu_of_type(l->env, type))
			continue;
		set_value(l, of, type);
		err = try_call(l);
		if (err < 0 || err == ENOSYS || err == EPERM || err == EACCES)
			return false;
		if (err)
			continue;
		l->item->value = type;
		break;
	}
	return true;
}

/* The smallest value that is refused with that errno, between one that opens and one that is. */
static bool learn_least(struct learning *l, const char *of)
{
	uint64_t good = 0x10000,
		 bad = l->env->kernel_bits == 64 ? UINT64_C(0xffffffffffff0000) : 0xffffff00;
	int unless = named_errno(l->item->unless), err;

	set_value(l, of, good);
	if (try_call(l))
		return false;
	set_value(l, of, bad);
	err = try_call(l);
	if (err != unless && err != EPERM) /* arm's, to root too */
		return false;
	unless = err;
	while (bad - good > 1) {
		uint64_t middle = good + (bad - good) / 2;

		set_value(l, of, middle);
		err = try_call(l);
		if (err && err != unless)
			return false;
		if (err)
			bad = middle;
		else
			good = middle;
	}
	l->item->value = bad;
	return true;
}

/* How many such events can be open at a time. */
static bool learn_count(struct learning *l, const char *limit)
{
	int fds[BREAKPOINTS_MOST], err = 0;
	size_t n = 0;

	while (n < BREAKPOINTS_MOST && !err) {
		struct answer answer;

		err = call_issue(&l->call, l->env, &answer);
		err = err ? err : answer.err;
		if (!err)
			fds[n++] = answer.fd;
	}
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	l->item->value = n;
	/* Without any, others may hold them all. */
	return n ? err == named_errno(limit) : err == EOPNOTSUPP || err == ENODEV;
}

static bool lists_errno(const char *const *list, int err)
{
	for (; list && *list; list++)
		if (named_errno(*list) == err)
			return true;
	return false;
}

/* Whether the call without what is asked about gets that errno, too, and from the same check. */
static bool is_of_something_else(const struct learning *l, int err)
{
	struct learning plain = {.item = l->item, .env = l->env};
	json_t *open = l->item->without && err && err != ENOENT
			       ? merge(l->item->open, l->item->without)
			       : NULL;
	bool is_same = open && !read_call(&plain, open) && try_call(&plain) == err;

	if (open)
		call_free(&plain.call);
	json_decref(open);
	return is_same;
}

/* Whether that very call opens, or which errno it gives. */
static bool learn_answer(struct learning *l)
{
	int err = try_call(l);
	bool is_yes = lists_errno(l->item->yes, err);

	l->item->value = l->item->errno_is_value ? (uint64_t)(err > 0 ? err : 0) : is_yes;
	return l->item->errno_is_value
		       ? err >= 0
		       : (is_yes || lists_errno(l->item->no, err)) && !is_of_something_else(l, err);
}

/* An event on a child that has exited and been reaped: a descriptor, or -1. */
static int open_exited(struct learning *l)
{
	struct answer answer = {.fd = -1};
	struct call call;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	if (pid < 0)
		return -1;
	call_copy(&call, &l->call, l->env->abi);
	call.pid = pid;
	attr_set(abi_field(l->env->abi, "type"), call.image, host_order(),
		 abi_number(l->env->abi, "type", "software"));
	attr_set(abi_field(l->env->abi, "config"), call.image, host_order(),
		 abi_number(l->env->abi, "sw_id", "dummy"));
	if (call_issue(&call, l->env, &answer))
		answer.fd = -1;
	call_free(&call);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return answer.fd;
}

static void learn_one(struct learned_item *item, struct environment *env)
{
	struct learning l = {.item = item, .env = env};

	if (item->capability) {
		item->value = identity_kernel_has((int)item->capability);
		item->is_known = true;
		return;
	}
	if (!item->open || read_call(&l, item->open))
		return; /* this machine has no such PMU or tracepoint */
	if (item->leader)
		l.call.group_fd = open_exited(&l);
	if (l.call.group_fd != -1 || !item->leader)
		item->is_known = item->bits_of     ? learn_bits(&l, item->bits_of)
				 : item->values_of ? learn_values(&l, item->values_of)
				 : item->first_of  ? learn_first(&l, item->first_of)
				 : item->least_of  ? learn_least(&l, item->least_of)
				 : item->count     ? learn_count(&l, item->count)
						   : learn_answer(&l);
	if (!item->is_known)
		item->value = 0;
	if (l.call.group_fd != -1)
		close(l.call.group_fd);
	call_free(&l.call);
}

/* All that are learned by one caller; -1: by whoever runs this. */
struct learner {
	struct learned *learned;
	struct environment *env;
	int as;
};

static int learned_as(const struct learned_item *item)
{
	return item->as ? identity_by_name(item->as) : -1;
}

static int learn_all(void *context)
{
	const struct learner *learner = context;

	for (size_t i = 0; i < learner->learned->count; i++)
		if (learned_as(&learner->learned->list[i]) == learner->as)
			learn_one(&learner->learned->list[i], learner->env);
	return 0;
}

/* In a process of that identity, which writes down what it learns where this one reads it. */
static void learn_all_as(struct learner *learner, enum identity as)
{
	struct learned *own = learner->learned;
	char why[128];

	if (!identity_available(&learner->env->rights, as, why, sizeof(why)))
		return;
	learner->learned =
		mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (learner->learned != MAP_FAILED) {
		*learner->learned = *own;
		learner->as = (int)as;
		if (!identity_run(as, SECONDS, learn_all, learner))
			*own = *learner->learned;
		munmap(learner->learned, sizeof(*own));
	}
	learner->learned = own;
}

void learned_learn(struct learned *learned, struct environment *env)
{
	struct learner learner = {.learned = learned, .env = env, .as = -1};

	for (size_t i = 0; i < learned->count; i++) /* names that only root can look up */
		if (learned_as(&learned->list[i]) == AS_ROOT)
			environment_tracepoint(env, "ftrace:function");
	learn_all(&learner);
	for (enum identity as = 0; as < IDENTITIES; as++)
		learn_all_as(&learner, as);
	for (size_t i = 0; i < learned->count; i++)
		if (!learned->list[i].is_known)
			learned->list[i].value = learned_by_version(&learned->list[i], env,
								    &learned->list[i].is_known);
}
