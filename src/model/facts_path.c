/* SPDX-License-Identifier: MIT */
/*
 * The text that config1 points to, for a uprobe or kprobe: what it is, and the file that it names.
 */
#include "abi/attr.h"
#include "model/fact.h"

/* A text at config1 that is known without being read; NULL: there is none. */
static const struct world_text *known_text(const struct situation *s)
{
	uint64_t address = attr_get(s->machine->config1, s->attr, host_order());

	for (size_t i = 0; i < s->world->text_count; i++)
		if (s->world->texts[i].address == address)
			return &s->world->texts[i];
	return NULL;
}

/*
 * The one at config1, with its file unless `text_alone`; NULL where that cannot be known. Whatever
 * points nowhere cannot be read.
 */
static const struct text_at *find_text(struct situation *s, bool text_alone)
{
	const struct world_text *known = s->world->sees_memory ? NULL : known_text(s);

	if (!s->world->sees_memory && (!known || !text_alone))
		return NULL;
	if (!s->path_was_sought && known)
		s->path = (struct text_at){.is_readable = true, .length = known->length};
	else if (!s->path_was_sought)
		text_read_at(attr_get(s->machine->config1, s->attr, host_order()), &s->path);
	s->path_was_sought = true;
	return &s->path;
}

static const void *text_there(struct situation *s)
{
	return find_text(s, true);
}

static const void *file_named(struct situation *s)
{
	return find_text(s, false);
}

/* Of a file that others can open it is not known who has. */
static bool path_is_mapped(struct situation *s, uint64_t *value)
{
	const struct text_at *path = find_text(s, false);

	*value = 0;
	return path && path->is_nameless;
}

static const char memory[] =
	"config1 is an address in the caller's memory, and what is there is not known";

#define PATH(member_, of_)                                                                         \
	.unknown = memory, .of = of_, .datum = DATUM(struct text_at, member_, ALWAYS_KNOWN)

const struct fact path_facts[] = {
	{.name = "path.is_readable",
	 .about = "1: the text at config1 can be read",
	 PATH(is_readable, text_there)},
	{.name = "path.length", .about = "its bytes", PATH(length, text_there)},
	{.name = "path.errno",
	 .about = "what finding the file gives, or 0",
	 .print = fact_print_errno,
	 PATH(err, file_named)},
	{.name = "path.is_regular",
	 .about = "1: it is a regular file",
	 PATH(is_regular, file_named)},
	{.name = "path.has_pages",
	 .about = "1: it has pages that a probe can be put in",
	 PATH(has_pages, file_named)},
	{.name = "path.size", .about = "the bytes of the file", PATH(size, file_named)},
	{.name = "path.is_mapped",
	 .about = "1: a process has it mapped",
	 .unknown = "which processes have the file mapped is not known",
	 .get = path_is_mapped},
	{.name = NULL}};
