/* SPDX-License-Identifier: MIT */
/*
 * Verbs on memory: mappings of events, buffers, words, strings.
 */

#include "step/runtime/memory.h"
#include "step/step.h"

const struct word memory_prots[] = {
	{"read", PROT_READ}, {"write", PROT_WRITE}, {"exec", PROT_EXEC}, {0}};

static int run_mmap(struct step *s)
{
	static const char *const prots[] = {"PROT_NONE",
					    "PROT_READ",
					    "PROT_WRITE",
					    "PROT_READ|PROT_WRITE",
					    "PROT_EXEC",
					    "PROT_READ|PROT_EXEC",
					    "PROT_WRITE|PROT_EXEC",
					    "PROT_READ|PROT_WRITE|PROT_EXEC"};
	const struct arguments *a = &s->arguments;
	uint64_t length = step_has(s, "length") ? a->length
						: (1 + a->pages) * (uint64_t)s->run->env->page_size;
	const struct opened *event = step_event(s, a->fd);
	size_t place = s->run->first_map;
	void *at;

	_Static_assert(PROT_READ == 1 && PROT_WRITE == 2 && PROT_EXEC == 4, "bits of prot");
	if (length > SIZE_MAX)
		return step_misnamed(s, "pages", "pages that this program can address");
	step_say(s, "mmap(NULL, %llu, %s, %s, %d, %#llx)", (unsigned long long)length,
		 prots[a->prot & 7], a->is_private ? "MAP_PRIVATE" : "MAP_SHARED", a->fd,
		 (unsigned long long)a->offset);
	at = mmap(NULL, (size_t)length, a->prot, a->is_private ? MAP_PRIVATE : MAP_SHARED, a->fd,
		  (off_t)a->offset);
	step_answer(s, at == MAP_FAILED ? -1 : (long)at);
	s->result = (uintptr_t)at;
	if (s->err)
		return 0;
	while (place < s->run->map_count && s->run->maps[place].at)
		place++; /* that of one that is gone will do */
	if (place == MAPS_MAX)
		return error_text(s->error, NULL, "more", "at most %d mappings", MAPS_MAX);
	s->run->map_count += place == s->run->map_count;
	s->run->maps[place] = (struct map){.at = at,
					   .length = (size_t)length,
					   .fd = a->fd,
					   .event = event ? event->event : NO_EVENT,
					   .writable = (a->prot & PROT_WRITE) != 0,
					   .is_data = a->offset == 0};
	return 0;
}

/* `length` bytes at `offset` of the newest mapping of the event NAME; all of it by default. */
struct area {
	struct map *map;
	unsigned char *at;
	size_t length;
};

static int find_part(struct step *s, struct area *part)
{
	const struct arguments *a = &s->arguments;
	uint64_t length;

	*part = (struct area){0};
	part->map = step_map(s, a->fd, false);
	if (!part->map)
		return step_misnamed(s, verb_key(s->statement->verb), "an event that is mapped");
	if (a->offset > part->map->length)
		return step_misnamed(s, "offset", "an offset within the mapping");
	length = step_has(s, "length") ? a->length : part->map->length - a->offset;
	if (length > part->map->length - a->offset)
		return step_misnamed(s, "length", "a length that ends within the mapping");
	part->at = part->map->at + a->offset;
	part->length = (size_t)length;
	return 0;
}

static int run_munmap(struct step *s)
{
	struct area part;
	int err = find_part(s, &part);

	if (err)
		return err;
	step_say(s, s->arguments.is_replaced ? "mmap(%p, %zu, MAP_FIXED)" : "munmap(%p, %zu)",
		 (void *)part.at, part.length);
	step_answer(s, s->arguments.is_replaced ? map_over(part.at, part.length)
						: munmap(part.at, part.length));
	if (!s->err)
		part.map->at = NULL;
	return 0;
}

static int run_mremap(struct step *s)
{
	const struct arguments *a = &s->arguments;
	void *now, *place = NULL;
	size_t to = (size_t)a->to;
	struct area part;
	int err = find_part(s, &part);

	if (err)
		return err;
	if (a->moves)
		place = mmap(NULL, to, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED) /* which is not what mremap says */
		return step_failed(s, errno);
	step_say(s, "mremap(%p, %zu, %zu, MREMAP_MAYMOVE%s)", (void *)part.at, part.length, to,
		 a->moves ? "|MREMAP_FIXED" : "");
	now = move_map(part.at, part.length, to, place);
	step_answer(s, now == MAP_FAILED ? -1 : 0);
	if (!s->err) /* all of it that was moved is as it was; anything else is no longer it */
		part.map->at = part.length == part.map->length && to == part.length ? now : NULL;
	return 0;
}

static int run_mprotect(struct step *s)
{
	const struct arguments *a = &s->arguments;
	struct area part;
	int err = find_part(s, &part);

	if (err)
		return err;
	step_say(s, "mprotect(%p, %zu, %#x)", (void *)part.at, part.length, (unsigned)a->prot);
	step_answer(s, mprotect(part.at, part.length, a->prot));
	if (!s->err && !(a->prot & PROT_WRITE))
		part.map->mangled = true; /* data_tail cannot be written any more */
	return 0;
}

static int run_buffer(struct step *s)
{
	void *map = mmap(NULL, (size_t)s->arguments.size, s->arguments.prot,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	s->result = (uintptr_t)map;
	return map == MAP_FAILED ? step_failed(s, errno) : 0;
}

static int run_string(struct step *s)
{
	const struct arguments *a = &s->arguments;
	long address = repeated(a->text, (size_t)a->times, a->end);

	s->result = (uintptr_t)address;
	return address == -1 ? step_failed(s, ENOMEM) : 0;
}

/* A member of the metadata page, by its name: where it is. */
static int parse_page_member(struct compiling *c, struct operand *operand)
{
	const char *name = json_string_value(operand->json);
	int offset = name ? mmap_page_offset(c->tables->abi, name) : -1;

	operand->number = (uint64_t)offset;
	if (offset == -ENOMEM)
		return error_no_memory(c->error, c->where, "memory for the metadata page");
	return offset < 0 ? error_value(c->error, c->where, operand->json,
					"a member of the metadata page")
			  : 0;
}

static const struct argument_type argument_page_member = {.c = C_AS_NAME,
							  .parse = parse_page_member};

/* An address: a name, or an expression; with an offset, or the one of a member. */
static uint64_t address_of(const struct arguments *a)
{
	return a->address + (a->member ? a->member : a->offset);
}

static int run_poke(struct step *s)
{
	uint64_t address = address_of(&s->arguments);

	for (size_t i = 0; i < s->run->map_count; i++)
		if (address - (uintptr_t)s->run->maps[i].at < s->run->maps[i].length)
			s->run->maps[i].mangled = true;
	*(volatile uint64_t *)(uintptr_t)address = s->arguments.value;
	return 0;
}

static int run_peek(struct step *s)
{
	uint64_t address = address_of(&s->arguments);

	s->shown = value_json(*(volatile uint64_t *)(uintptr_t)address);
	return 0;
}

/* What they have in common that are about a part of a mapping. */
#define PART_LENGTH                                                                                \
	"length", &argument_number, MEMBER(length),                                                \
		.help = "the length in bytes (default: to the end)"
#define PART_OFFSET "offset", &argument_number, MEMBER(offset), .help = "the offset in bytes (0)"
#define PROT                                                                                       \
	"prot", &argument_words, MEMBER(prot), .words = memory_prots,                              \
					       .fallback = PROT_READ | PROT_WRITE,                 \
					       .help = "([\"read\", \"write\"])"
#define PLACE_OFFSET                                                                               \
	"offset", &argument_number, MEMBER(offset), .help = "the offset from it in bytes"
#define PLACE_MEMBER                                                                               \
	"member", &argument_page_member, MEMBER(member),                                           \
		.help = "a member of the metadata page, instead of an offset"

const struct verb memory_verbs[] = {
	{"mmap", "map an event's ring buffer; binds the address", CALLS, BINDS_RESULT, run_mmap,
	 NULL, .in_c = mmap_in_c,
	 ARGUMENTS({"mmap", &argument_bound, MEMBER(fd)},
		   {"pages", &argument_number, MEMBER(pages), .fallback = 8, .most = 1 << 20,
		    .help = "data pages, after the metadata page (8)"},
		   {"length", &argument_number, MEMBER(length), .is_long = true,
		    .help = "the length in bytes, instead of pages"},
		   {"offset", &argument_number, MEMBER(offset), .help = "the offset in bytes (0)"},
		   {PROT},
		   {"private", &argument_truth, MEMBER(is_private),
		    .help = "use MAP_PRIVATE instead of MAP_SHARED"})},
	{"munmap", "munmap(2) of the mapping of the event NAME, or of part of it", CALLS,
	 BINDS_NOTHING, run_munmap,
	 "@{replaced?map_over:munmap}((char *)@*munmap + @offset, "
	 "@{length?@length:@*munmap_length - @offset})",
	 ARGUMENTS({"munmap", &argument_bound, MEMBER(fd)}, {PART_LENGTH}, {PART_OFFSET},
		   {"replaced", &argument_truth, MEMBER(is_replaced),
		    .help = "replace it by other memory"})},
	{"mremap", "mremap(2) of the mapping of the event NAME, or of part of it", CALLS,
	 BINDS_NOTHING, run_mremap, NULL, .in_c = mremap_in_c,
	 ARGUMENTS({"mremap", &argument_bound, MEMBER(fd)}, {PART_LENGTH}, {PART_OFFSET},
		   {"to", &argument_number, MEMBER(to), .is_long = true,
		    .help = "the new length in bytes"},
		   {"move", &argument_truth, MEMBER(moves), .help = "move it to another address"})},
	{"mprotect", "mprotect(2) of the mapping of the event NAME, or of part of it", CALLS,
	 BINDS_NOTHING, run_mprotect,
	 "mprotect((char *)@*mprotect + @offset, @{length?@length:@*mprotect_length - "
	 "@offset}, PROT_@prot)",
	 ARGUMENTS({"mprotect", &argument_bound, MEMBER(fd)}, {PART_LENGTH}, {PART_OFFSET},
		   {PROT})},
	{"buffer", "allocate that many zero bytes at a page boundary; binds the address", PREPARES,
	 BINDS_RESULT, run_buffer,
	 "(long)mmap(NULL, @buffer, PROT_@prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)",
	 ARGUMENTS({"buffer", &argument_number, MEMBER(size), .most = 1 << 24}, {PROT})},
	{"string", "store a string; binds its address", PREPARES, BINDS_RESULT, run_string,
	 "repeated(@string, @times, @end)",
	 ARGUMENTS({"string", &argument_text, MEMBER(text), .most = 255},
		   {"times", &argument_number, MEMBER(times), .fallback = 1, .most = 1 << 16,
		    .help = "repeat it this many times"},
		   {"end", &argument_text, MEMBER(end), .most = 255,
		    .help = "a text that follows it"})},
	{"poke", "store a u64 at an address; a signal that this causes goes to the process",
	 PREPARES, BINDS_NOTHING, run_poke,
	 "*(volatile uint64_t *)(uintptr_t)(@poke@{offset? + @offset}@{member? + "
	 "offsetof(struct perf_event_mmap_page, @member)}) = (uint64_t)(@value);",
	 ARGUMENTS({"poke", &argument_number, MEMBER(address), .is_long = true},
		   {"value", &argument_number, MEMBER(value), .help = "(0)"}, {PLACE_OFFSET},
		   {PLACE_MEMBER})},
	{"peek", "load a u64 from an address", SHOWS, BINDS_SHOWN, run_peek,
	 "@= = *(volatile uint64_t *)(uintptr_t)(@peek@{offset? + @offset}@{member? + "
	 "offsetof(struct perf_event_mmap_page, @member)});",
	 .shows = {.kind = SHAPE_NUMBER},
	 ARGUMENTS({"peek", &argument_number, MEMBER(address), .is_long = true}, {PLACE_OFFSET},
		   {PLACE_MEMBER})},
	{"function",
	 "bind a function that the workload \"call\" calls: its address, its path and offset for "
	 "a uprobe, the program's build_id, and the address and offset of a word for a reference "
	 "counter",
	 PREPARES, BINDS_SHOWN, run_function, "find_function(@function, &@=)",
	 .c_value = "struct function: address offset counter counter_offset path$ build_id$",
	 ARGUMENTS({"function", &argument_word, MEMBER(number), .words = probeable_functions,
		    .help = "of nops; of an instruction that a uprobe steps elsewhere; or that of "
			    "the workload \"nest\""})},
	{0}};
