/* SPDX-License-Identifier: MIT */
/*
 * The list of lies out of JSON, and those of them that are live.
 */
#include "lie.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call/call.h"
#include "machine/names.h"

static const char *const kinds[LIE_KINDS] = {
	"attr", "flag",   "target", "size", "errno",  "nothing", "as",   "also",   "arg",
	"keep", "result", "short",  "poll", "signal", "member",  "misc", "records"};

/* Of each kind the live ones, in a list that ends in NULL. */
static struct lie **live[LIE_KINDS];
static struct lie *none[1];
static struct lie *only[2];
static bool is_child, rehearses;
static const struct lies *all;
static unsigned char *occasions;
static size_t occasions_row;
static unsigned *told;

__thread const char *lie_verb;

bool lie_in(const char *verb)
{
	return is_child && lie_verb && !strcmp(lie_verb, verb);
}

static const char *text(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

static int kind_of(const char *name)
{
	for (int i = 0; name && i < LIE_KINDS; i++)
		if (!strcmp(kinds[i], name))
			return i;
	return -1;
}

/* A name that must be one of the ABI's where it is given. */
static const struct abi_field *field(const json_t *json, const char *key, const struct abi *abi,
				     bool *wrong)
{
	const struct abi_field *found = text(json, key) ? abi_field(abi, text(json, key)) : NULL;

	*wrong = *wrong || (text(json, key) && !found);
	return found;
}

static unsigned long request(const json_t *json, const char *key, const struct abi *abi)
{
	return text(json, key) ? event_ioctl_number(abi, text(json, key)) : 0;
}

static int read_one(struct lie *lie, const json_t *json, const struct abi *abi)
{
	int kind = kind_of(text(json, "kind"));
	const json_t *type = json_object_get(json, "attr_type");
	bool wrong = kind < 0 || !text(json, "name");

	*lie = (struct lie){.name = text(json, "name"),
			    .kind = (enum lie_kind)kind,
			    .how = text(json, "how"),
			    .call = text(json, "call"),
			    .type = text(json, "type"),
			    .path = text(json, "path"),
			    .field = field(json, "field", abi, &wrong),
			    .when = field(json, "when", abi, &wrong),
			    .unless = field(json, "unless", abi, &wrong),
			    .value = (uint64_t)json_integer_value(json_object_get(json, "value")),
			    .attr_type = type ? json_integer_value(type) : -1,
			    .request = request(json, "ioctl", abi),
			    .other = request(json, "other", abi),
			    .percent = 100,
			    .effect = json_is_true(json_object_get(json, "effect"))};
	if (json_object_get(json, "percent"))
		lie->percent = (unsigned)json_integer_value(json_object_get(json, "percent"));
	if (text(json, "errno"))
		lie->err = errno_by_name(text(json, "errno"), NULL);
	if (text(json, "to"))
		lie->to = errno_by_name(text(json, "to"), NULL);
	return wrong ? -EINVAL : 0;
}

int lies_read(struct lies *lies, const json_t *json, const struct abi *abi)
{
	json_t *one;
	size_t i;

	*lies = (struct lies){.list = calloc(json_array_size(json) + 1, sizeof(*lies->list))};
	json_array_foreach((json_t *)json, i, one) {
		if (!lies->list || read_one(&lies->list[i], one, abi)) {
			fprintf(stderr, "lies: number %zu is none: %s\n", i,
				json_dumps(one, JSON_COMPACT));
			return -EINVAL;
		}
		lies->count++;
	}
	return 0;
}

void lies_none(void)
{
	for (size_t kind = 0; kind < LIE_KINDS; kind++)
		live[kind] = none;
	rehearses = false;
}

void lies_rehearse(const struct lies *lies, unsigned char *rows, size_t row)
{
	lies_none();
	for (size_t kind = 0; kind < LIE_KINDS; kind++) {
		size_t n = 0;

		live[kind] = calloc(lies->count + 1, sizeof(*live[kind])); /* for good */
		if (!live[kind])
			abort();
		for (size_t i = 0; i < lies->count; i++)
			if (lies->list[i].kind == kind)
				live[kind][n++] = &lies->list[i];
	}
	all = lies;
	occasions = rows;
	occasions_row = row;
	rehearses = true;
}

void lies_tell(struct lie *lie, unsigned *times)
{
	lies_none();
	told = times;
	*told = 0;
	only[0] = lie;
	live[lie->kind] = only;
}

/* What is written to later is touched here: a page fault may be what a case counts. */
void lies_begin(size_t instance)
{
	is_child = live[0] != NULL;
	if (!rehearses)
		return;
	occasions += instance * occasions_row;
	for (size_t i = 0; i < occasions_row; i++)
		((volatile unsigned char *)occasions)[i] = 0;
}

bool lies_here(void)
{
	return is_child;
}

struct lie *const *lies_of(enum lie_kind kind)
{
	return is_child ? live[kind] : none;
}

bool lie_would_tell(const struct lie *lie)
{
	size_t i = (size_t)(lie - (all ? all->list : lie));
	unsigned chance = 0;

	if (!rehearses)
		return lie->percent >= 100 ||
		       (syscall(SYS_getrandom, &chance, sizeof(chance), 0) == sizeof(chance) &&
			chance % 100 < lie->percent);
	__atomic_fetch_or(&occasions[i / 8], (unsigned char)(1u << i % 8), __ATOMIC_RELAXED);
	return false;
}

void lie_told(void)
{
	__atomic_fetch_add(told, 1, __ATOMIC_RELAXED);
}

bool lie_tells(const struct lie *lie)
{
	bool tells = lie_would_tell(lie);

	if (tells)
		lie_told();
	return tells;
}

int lie_errno(const char *call, int err)
{
	for (struct lie *const *l = lies_of(LIE_ERRNO); *l; l++)
		if ((*l)->err == err && !strcmp((*l)->call, call) && lie_tells(*l))
			return (*l)->to;
	return err;
}

bool lie_peek(void *to, const void *from, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)(uintptr_t)from, n};
	int err = errno;
	ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);

	errno = err;
	return got == (ssize_t)n;
}
