/* SPDX-License-Identifier: MIT */
#include "stream/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/ascii.h"

/* 0 or -ENOMEM. */
static int names_set(struct events *events, int event, const char *name, size_t size)
{
	char text[EVENT_NAME_MAX * PUT_STRING_MAX + PUT_STRING_FIXED + PUT_SLACK];
	char *p = put_text(text, "\"event\":");
	struct event_name *set;

	if (event < 0 || (size_t)event >= events->count || !size || size >= EVENT_NAME_MAX)
		return 0;
	p = put_string(p, (const unsigned char *)name, size);
	*p++ = ',';
	if (p - text > EVENT_TEXT_MAX)
		return 0;
	set = events->list[event].name ? events->list[event].name : calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	events->list[event].name = set;
	set->length = (size_t)(p - text);
	memcpy(set->text, text, set->length);
	memcpy(set->name, name, size);
	set->name[size] = '\0';
	set->is_by_attr = false;
	events->changes++;
	return 0;
}

/* The name of a constant as perf's command line has it: cpu-cycles. "" if it has none. */
static void constant(const struct events *events, const char *family, uint64_t value, char name[64])
{
	const struct abi_family *values = abi_family(events->abi, family);
	const struct abi_value *known = values ? abi_value_of(values, value) : NULL;

	snprintf(name, 64, "%s", known ? known->name : "");
	for (; *name; name++)
		*name = *name == '_' ? '-' : *name;
}

static void cache_name(const struct events *events, uint64_t config, char name[256])
{
	char id[64], op[64], result[64];

	constant(events, "hw_cache_id", config & 0xff, id);
	constant(events, "hw_cache_op", config >> 8 & 0xff, op);
	constant(events, "hw_cache_result", config >> 16, result);
	if (id[0] && op[0] && result[0])
		snprintf(name, 256, "%s-%s-%s", id, op, result);
}

int names_by_attr(struct events *events, int event, const unsigned char *attr, size_t size)
{
	static const char *const excludes[] = {"exclude_user", "exclude_kernel", "exclude_hv"};
	uint64_t type = events_attr(events, attr, size, "type");
	uint64_t config = events_attr(events, attr, size, "config");
	uint64_t precise = events_attr(events, attr, size, "precise_ip");
	char type_name[64], name[256] = "", levels[4] = "";
	size_t n, counted = 0;

	constant(events, "type", type, type_name);
	if (!strcmp(type_name, "hardware"))
		constant(events, "hw_id", config, name);
	else if (!strcmp(type_name, "software"))
		constant(events, "sw_id", config, name);
	else if (!strcmp(type_name, "hw-cache"))
		cache_name(events, config, name);
	else if (!strcmp(type_name, "breakpoint"))
		snprintf(name, sizeof(name), "mem:0x%" PRIx64,
			 events_attr(events, attr, size, "bp_addr"));
	else if (!strcmp(type_name, "raw"))
		snprintf(name, sizeof(name), "r%" PRIx64, config);
	if (!name[0] && type_name[0])
		snprintf(name, sizeof(name), "%s/config=0x%" PRIx64 "/", type_name, config);
	else if (!name[0])
		snprintf(name, sizeof(name), "%" PRIu64 "/config=0x%" PRIx64 "/", type, config);
	for (size_t i = 0; i < 3; i++)
		if (!events_attr(events, attr, size, excludes[i]))
			levels[counted++] = "ukh"[i];
	if (counted == 3) /* what is counted is said where not all is */
		levels[0] = '\0';
	n = strlen(name);
	if (levels[0] || (precise && !strchr(name, ':')))
		name[n++] = ':';
	n += (size_t)snprintf(name + n, sizeof(name) - n, "%s%.*s", levels, (int)precise, "ppp");
	if (names_set(events, event, name, n))
		return -ENOMEM;
	events->list[event].name->is_by_attr = true;
	return 0;
}

int names_by_formats(struct events *events)
{
	int err = 0;

	for (size_t i = 0; i < events->count && !err; i++) {
		const struct format *format = events->list[i].format;
		char name[EVENT_NAME_MAX];
		int n;

		if (!format || !events->list[i].name || !events->list[i].name->is_by_attr)
			continue;
		n = snprintf(name, sizeof(name), "%s:%s", format->system, format->name);
		err = n < (int)sizeof(name) ? names_set(events, (int)i, name, (size_t)n) : 0;
	}
	return err;
}

struct naming {
	struct events *events;
	int event;        /* that the text is of */
	const char *text; /* the last, ... */
	size_t size;
	uint64_t id;
	bool is_types; /* ... which is event_type_info */
};

/* EVENT_DESC has the attrs in their order, or says whose ids they are. */
static int tell_desc(void *context, const struct record_text *told)
{
	struct naming *n = context;
	int err = 0;

	if (told->path == 1) {
		n->text = told->text;
		n->size = told->size;
		return names_set(n->events, n->event++, n->text, n->size);
	}
	for (uint64_t i = 0; i < told->value && !err && n->text; i++)
		err = names_set(n->events,
				events_of_id(n->events,
					     load_word(told->bytes + 8 * i, 8, n->events->order)),
				n->text, n->size);
	return err;
}

static int tell_update(void *context, const struct record_text *told)
{
	struct naming *n = context;

	if (told->path == 0)
		n->id = told->value;
	return told->path == 1 ? names_set(n->events, events_of_id(n->events, n->id), told->text,
					   told->size)
			       : 0;
}

enum { TYPES_MAX = 1000 }; /* of simpleperf's lines, each of which looks through all events */

/* "cpu-cycles,0,0\ninstructions,0,1" under event_type_info. */
static int tell_meta(void *context, const struct record_text *told)
{
	struct naming *n = context;
	struct events *events = n->events;
	const char *at = told->text, *end = at + told->size;
	int err = 0;

	if (told->path == 0) {
		n->is_types = told->size == 15 && !memcmp(told->text, "event_type_info", 15);
		return 0;
	}
	while (n->is_types && at < end && !err && events->types_told++ < TYPES_MAX) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		char text[256];
		uint64_t type, config;
		int name;

		line = line ? line : end;
		snprintf(text, sizeof(text), "%.*s", (int)(line - at), at);
		if (sscanf(text, "%*[^,]%n,%" SCNu64 ",%" SCNu64, &name, &type, &config) == 2)
			for (size_t i = 0; i < events->count && !err; i++)
				if (events->list[i].type == type &&
				    events->list[i].config == config)
					err = names_set(events, (int)i, text, (size_t)name);
		at = line + 1;
	}
	return err;
}

static int tell_arch(void *context, const struct record_text *told)
{
	struct events *events = ((struct naming *)context)->events;
	char name[65];

	snprintf(name, sizeof(name), "%.*s", (int)told->size, told->text);
	events_set_arch(events, abi_arch(events->abi, name));
	return 0;
}

static const struct {
	const char *value;
	const char *paths[2];
	size_t count;
	int (*tell)(void *, const struct record_text *);
} namers[] = {
	{"arch", {"arch"}, 1, tell_arch},
	{"event_update", {"id", "name"}, 2, tell_update},
	{"event_desc", {"event_desc[].ids", "event_desc[].name"}, 2, tell_desc},
	{"simpleperf_meta_info", {"meta_info[].key", "meta_info[].value"}, 2, tell_meta},
};

int names_by(struct events *events, const struct abi_value *value, const unsigned char *bytes,
	     size_t from, size_t size)
{
	struct naming naming = {.events = events};

	for (size_t i = 0; i < sizeof(namers) / sizeof(namers[0]); i++)
		if (!strcmp(namers[i].value, value->name))
			return record_tell(events->abi, value->layout, events->order, bytes, from,
					   size, namers[i].paths, namers[i].count, namers[i].tell,
					   &naming);
	return 0;
}

int names_put(const struct events *events, struct out *out)
{
	int err = out_text(out, ",\"events\":[");

	for (size_t i = 0; i < events->count && !err; i++) {
		const struct event_name *name = events->list[i].name;
		char *p = out_room(out, EVENT_TEXT_MAX);

		if (!p)
			return -ENOMEM;
		p = i ? put_text(p, ",") : p;
		memcpy(p, name->text + 8, name->length - 9);
		out->at = p + name->length - 9;
	}
	return err ? err : out_text(out, "]");
}
