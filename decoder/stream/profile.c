/* SPDX-License-Identifier: MIT */
/*
 * Trees of calls, one for each thread, command or event as the form needs, and how each form
 * writes them.
 */
#include "stream/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/lines.h"
#include "text/json.h"
#include "text/table.h"

struct mapping {
	const struct object *object;
	uint64_t number; /* from 1 on */
	bool has_functions;
	struct mapping *next;
};

/* What a frame is called, and where it is. */
struct label {
	const char *symbol;
	uint64_t offset;         /* 0 with a symbol: one label for all of the function */
	uint64_t number;         /* from 1 on */
	struct mapping *mapping; /* NULL: nothing is known to be there */
	struct label *next;
};

/* A call below its caller, or a root: what is at the outside of stacks. */
struct node {
	struct node *caller, *next; /* next: of the same root */
	const struct label *label;
	uint64_t samples, period;
	uint64_t index; /* among those of the root, from 0 on */
};

struct root {
	struct root *next;
	int event;
	int64_t pid, tid;
	const char *comm;
	struct node node, *last; /* its own, for samples without frames */
	uint64_t count;
	struct moment {
		const struct node *node;
		uint64_t time;
	} * moments; /* of Firefox's form, each sample */
	size_t moment_count, moment_capacity;
};

struct profile {
	enum perfabi_output output;
	const char *event;
	int only; /* the first event that has samples, once all are here; -1: none */
	const struct events *events;
	struct arena arena;
	struct table nodes, labels, roots, texts, mappings;
	struct root *first_root, *last_root;
	struct label *first_label;
	struct mapping *first_mapping;
	struct out message, part, strings; /* of pprof: what is in the profile, and in that */
	uint64_t string_count;
};

struct profile *profile_new(enum perfabi_output output, const char *event,
			    const struct events *events)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (profile)
		*profile = (struct profile){
			.output = output, .event = event, .only = -1, .events = events};
	return profile;
}

void profile_free(struct profile *profile)
{
	struct table *tables[] = {&profile->nodes, &profile->labels, &profile->roots,
				  &profile->texts, &profile->mappings};

	for (struct root *root = profile->first_root; root; root = root->next)
		free(root->moments);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		free(tables[i]->slots);
	out_free(&profile->message);
	out_free(&profile->part);
	out_free(&profile->strings);
	arena_free(&profile->arena);
	free(profile);
}

static struct mapping *mapping_of(struct profile *profile, const struct object *object)
{
	struct mapping *mapping = table_entry(&profile->mappings, &profile->arena, &object,
					      sizeof(void *), sizeof(*mapping));

	if (mapping && !mapping->object) {
		*mapping = (struct mapping){.object = object,
					    .number = profile->mappings.count,
					    .next = profile->first_mapping};
		profile->first_mapping = mapping;
	}
	return mapping;
}

static const struct label *label_of(struct profile *profile, const struct frame *frame)
{
	uint64_t offset = frame->symbol || !frame->object ? 0 : frame->offset;
	const uint64_t key[3] = {(uintptr_t)frame->object, (uintptr_t)frame->symbol, offset};
	struct label *label =
		table_entry(&profile->labels, &profile->arena, key, sizeof(key), sizeof(*label));

	if (!label || label->number)
		return label;
	*label = (struct label){.symbol = frame->symbol,
				.offset = offset,
				.number = profile->labels.count,
				.next = profile->first_label};
	profile->first_label = label;
	if (frame->object)
		label->mapping = mapping_of(profile, frame->object);
	if (label->mapping && frame->symbol)
		label->mapping->has_functions = true;
	return frame->object && !label->mapping ? NULL : label;
}

static struct root *root_of(struct profile *profile, const struct joined *joined)
{
	const char *comm =
		table_text(&profile->texts, &profile->arena, joined->comm, strlen(joined->comm));
	bool is_firefox = profile->output == PERFABI_FIREFOX;
	const uint64_t key[2] = {profile->event ? 0 : (uint64_t)joined->event,
				 is_firefox ? (uint64_t)joined->tid : (uintptr_t)comm};
	struct root *root;

	root = table_entry(&profile->roots, &profile->arena, key, sizeof(key), sizeof(*root));
	if (!comm || !root)
		return NULL;
	if (!root->last) {
		*root = (struct root){.event = joined->event, .tid = joined->tid};
		root->last = &root->node;
		if (profile->last_root)
			profile->last_root->next = root;
		else
			profile->first_root = root;
		profile->last_root = root;
	}
	root->pid = joined->pid;
	root->comm = comm; /* a thread's last */
	return root;
}

static struct node *callee_of(struct profile *profile, struct root *root, struct node *caller,
			      const struct label *label)
{
	const void *key[2] = {caller, label};
	struct node *node =
		table_entry(&profile->nodes, &profile->arena, key, sizeof(key), sizeof(*node));

	if (node && !node->label) {
		*node = (struct node){.caller = caller, .label = label, .index = root->count++};
		root->last->next = node;
		root->last = node;
	}
	return node;
}

int profile_add(struct profile *profile, const struct joined *joined)
{
	struct node *node;
	struct root *root;

	if (joined->event < 0 ||
	    (profile->event &&
	     strcmp(profile->event, profile->events->list[joined->event].name->name) != 0))
		return 0;
	root = root_of(profile, joined);
	node = root ? &root->node : NULL;
	for (size_t i = joined->frame_count; i-- && node;) {
		const struct label *label = label_of(profile, &joined->frames[i]);

		node = label ? callee_of(profile, root, node, label) : NULL;
	}
	if (!node)
		return -ENOMEM;
	node->samples++;
	node->period += joined->period;
	if (profile->output != PERFABI_FIREFOX)
		return 0;
	if (list_grow(&root->moments, root->moment_count, &root->moment_capacity,
		      sizeof(*root->moments)))
		return -ENOMEM;
	root->moments[root->moment_count++] = (struct moment){node, joined->time};
	return 0;
}

/* "main", or "libc.so.6+0x1234". */
static const char *label_text(const struct label *label, char *text, size_t size)
{
	const char *object = label->mapping ? label->mapping->object->name : "";
	const char *slash = strrchr(object, '/');

	if (label->symbol)
		snprintf(text, size, "%s", label->symbol);
	else if (label->mapping)
		snprintf(text, size, "%s+0x%" PRIx64, slash && slash[1] ? slash + 1 : object,
			 label->offset);
	else
		snprintf(text, size, "[unknown]");
	return text;
}

/* A sample's addresses and those of a CALLCHAIN_DEFERRED fit in STACK. */
enum { LABEL = 2048, STACK = 2 * (UINT16_MAX / 8) };

/* What is between the frames and behind the stack is in none of them. */
static void put_clean(struct out *out, char *text)
{
	for (char *p = text; (p = strpbrk(p, ";\n"));)
		*p = ':';
	out_text(out, text);
}

/* comm;outermost;...;innermost samples */
static void put_folded(struct profile *profile, struct out *out)
{
	const struct node *stack[STACK];
	char text[LABEL];

	for (const struct root *root = profile->first_root; root; root = root->next)
		for (const struct node *node = &root->node; node; node = node->next) {
			size_t depth = 0;

			if (!node->samples || (!profile->event && root->event != profile->only))
				continue;
			for (const struct node *at = node; at->label && depth < STACK;
			     at = at->caller)
				stack[depth++] = at;
			snprintf(text, sizeof(text), "%s", root->comm);
			put_clean(out, text);
			while (depth--) {
				out_text(out, ";");
				label_text(stack[depth]->label, text, sizeof(text));
				put_clean(out, text);
			}
			out_format(out, " %" PRIu64 "\n", node->samples);
		}
}

/*
 * pprof: https://github.com/google/pprof, proto/profile.proto. A message that is in another is
 * made apart, since its size stands in front.
 */

enum { VARINT, LENGTH = 2 };
enum {
	SAMPLE_TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING_TABLE,
	DEFAULT_SAMPLE_TYPE = 14
};

static void put_varint(struct out *out, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	out_append(out, bytes, n);
}

static void put_varint_field(struct out *out, unsigned field, uint64_t value)
{
	put_varint(out, field << 3 | VARINT);
	put_varint(out, value);
}

static void put_sized(struct out *out, unsigned field, const char *bytes, size_t size)
{
	put_varint(out, field << 3 | LENGTH);
	put_varint(out, size);
	out_append(out, bytes, size);
}

static void put_message(struct out *out, unsigned field, struct out *message)
{
	put_sized(out, field, message->base, (size_t)(message->at - message->base));
	message->at = message->base;
}

/* The number of a text in the table of strings, to which it is added. */
static uint64_t string_of(struct profile *profile, const char *text)
{
	put_sized(&profile->strings, STRING_TABLE, text, strlen(text));
	return profile->string_count++;
}

static void put_sample_type(struct profile *profile, struct out *out, const char *type,
			    const char *unit)
{
	put_varint_field(&profile->message, 1, string_of(profile, type));
	put_varint_field(&profile->message, 2, string_of(profile, unit));
	put_message(out, SAMPLE_TYPE, &profile->message);
}

static void put_pprof_samples(struct profile *profile, struct out *out)
{
	struct out *m = &profile->message, *part = &profile->part;
	size_t events = profile->event ? 1 : profile->events->count;
	uint64_t comm = string_of(profile, "comm");

	for (const struct root *root = profile->first_root; root; root = root->next) {
		uint64_t name = string_of(profile, root->comm);

		for (const struct node *node = &root->node; node; node = node->next) {
			if (!node->samples)
				continue;
			for (const struct node *at = node; at->label; at = at->caller)
				put_varint_field(m, 1, at->label->number);
			put_varint_field(m, 2, node->samples);
			for (size_t i = 0; i < events; i++)
				put_varint_field(
					m, 2,
					profile->event || (int)i == root->event ? node->period : 0);
			put_varint_field(part, 1, comm);
			put_varint_field(part, 2, name);
			put_message(m, 3, part);
			put_message(out, SAMPLE, m);
		}
	}
}

static void put_pprof(struct profile *profile, struct out *out)
{
	struct out *m = &profile->message, *part = &profile->part;
	char text[LABEL];

	string_of(profile, "");
	put_sample_type(profile, out, "samples", "count");
	for (size_t i = 0; i < profile->events->count; i++) {
		const char *name = profile->events->list[i].name->name;
		bool is_time = !strncmp(name, "cpu-clock", 9) || !strncmp(name, "task-clock", 10);

		if ((int)i == profile->only)
			put_varint_field(out, DEFAULT_SAMPLE_TYPE, profile->string_count);
		if (!profile->event || (int)i == profile->only)
			put_sample_type(profile, out, name, is_time ? "nanoseconds" : "count");
	}
	put_pprof_samples(profile, out);
	for (const struct mapping *mapping = profile->first_mapping; mapping;
	     mapping = mapping->next) {
		put_varint_field(m, 1, mapping->number);
		put_varint_field(m, 3, UINT64_MAX);
		put_varint_field(m, 5, string_of(profile, mapping->object->name));
		put_varint_field(m, 6, string_of(profile, mapping->object->build_id));
		put_varint_field(m, 7, mapping->has_functions);
		put_message(out, MAPPING, m);
	}
	for (const struct label *label = profile->first_label; label; label = label->next) {
		put_varint_field(m, 1, label->number);
		put_varint_field(m, 2, label->mapping ? label->mapping->number : 0);
		put_varint_field(m, 3, label->offset);
		put_varint_field(part, 1, label->number);
		put_message(m, 4, part);
		put_message(out, LOCATION, m);
		put_varint_field(m, 1, label->number);
		put_varint_field(m, 2, string_of(profile, label_text(label, text, sizeof(text))));
		put_message(out, FUNCTION, m);
	}
	out_append(out, profile->strings.base,
		   (size_t)(profile->strings.at - profile->strings.base));
}

/*
 * Firefox: what its "gecko profile" is, as perf's gecko.py writes it. Each thread has tables of its
 * own; a call is a stack, a frame and a string of one number.
 */

static void put_json_text(struct out *out, const char *text)
{
	size_t n = strlen(text);
	char *p = out_room(out, PUT_STRING_MAX * n + PUT_STRING_FIXED);

	if (p)
		out->at = put_lossy(p, (const unsigned char *)text, n);
}

static void put_thread(const struct root *root, struct out *out)
{
	const char *comma = "";
	char text[LABEL], label[LABEL + 512];

	out_format(out, "{\"tid\":%" PRId64 ",\"pid\":%" PRId64 ",\"name\":", root->tid, root->pid);
	put_json_text(out, root->comm);
	out_text(out, ",\"processType\":\"default\",\"registerTime\":0,\"unregisterTime\":null,"
		      "\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,"
		      "\"phase\":3,\"category\":4,\"data\":5},\"data\":[]},"
		      "\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"responsiveness\":2},"
		      "\"data\":[");
	for (size_t i = 0; i < root->moment_count; i++, comma = ",") {
		const struct moment *moment = &root->moments[i];

		if (moment->node->label)
			out_format(out, "%s[%" PRIu64 ",", comma, moment->node->index);
		else
			out_format(out, "%s[null,", comma);
		out_format(out, "%" PRIu64 ".%06" PRIu64 ",0]", moment->time / 1000000,
			   moment->time % 1000000);
	}
	out_text(out, "]},\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,"
		      "\"innerWindowID\":2,\"implementation\":3,\"optimizations\":4,\"line\":5,"
		      "\"column\":6,\"category\":7,\"subcategory\":8},\"data\":[");
	for (uint64_t i = 0; i < root->count; i++)
		out_format(out, "%s[%" PRIu64 ",false,0,null,null,null,null,0,null]", i ? "," : "",
			   i);
	out_text(out, "]},\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[");
	for (const struct node *node = root->node.next; node; node = node->next) {
		comma = node->index ? "," : "";
		if (node->caller->label)
			out_format(out, "%s[%" PRIu64 ",%" PRIu64 "]", comma, node->caller->index,
				   node->index);
		else
			out_format(out, "%s[null,%" PRIu64 "]", comma, node->index);
	}
	out_text(out, "]},\"stringTable\":[");
	for (const struct node *node = root->node.next; node; node = node->next) {
		label_text(node->label, text, sizeof(text));
		snprintf(label, sizeof(label), "%s (in %.500s)", text,
			 node->label->mapping ? node->label->mapping->object->name : "[unknown]");
		out_text(out, node->index ? "," : "");
		put_json_text(out, label);
	}
	out_text(out, "]}");
}

static void put_firefox(struct profile *profile, struct out *out)
{
	const char *comma = "";

	out_text(out, "{\"meta\":{\"interval\":1,\"processType\":0,\"product\":\"perf\","
		      "\"stackwalk\":1,\"debug\":0,\"gcpoison\":0,\"asyncstack\":1,\"startTime\":0,"
		      "\"shutdownTime\":null,\"version\":24,\"presymbolicated\":true,"
		      "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\","
		      "\"subcategories\":[\"Other\"]}],\"markerSchema\":[]},\"libs\":[],"
		      "\"threads\":[");
	for (const struct root *root = profile->first_root; root; root = root->next) {
		if (!profile->event && root->event != profile->only)
			continue;
		out_text(out, comma);
		put_thread(root, out);
		comma = ",";
	}
	out_text(out, "],\"processes\":[],\"pausedRanges\":[]}\n");
}

int profile_end(struct profile *profile, struct out *out)
{
	if (profile->event && !profile->first_root)
		return 1;
	for (const struct root *root = profile->first_root; root; root = root->next)
		if (profile->only < 0 || root->event < profile->only)
			profile->only = root->event;
	if (profile->output == PERFABI_FOLDED)
		put_folded(profile, out);
	else if (profile->output == PERFABI_PPROF)
		put_pprof(profile, out);
	else
		put_firefox(profile, out);
	if (profile->message.err || profile->part.err || profile->strings.err)
		return -ENOMEM;
	return out->err;
}
