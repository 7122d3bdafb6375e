/* SPDX-License-Identifier: MIT */
/*
 * Formats of tracepoints: include/trace/stages and kernel/trace/trace_events.c, f_show().
 */
#include "plan/format.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/ascii.h"
#include "text/source.h"

enum {
	FORMATS_MAX = 65536,
	FORMAT_BYTES = 1 << 20,
	FIELDS_MAX = 1024,
	LINE = 1024,
	PRINT_FMT_MAX = 16384
};

void formats_free(struct formats *formats)
{
	for (size_t i = 0; i < formats->by_id.capacity; i++)
		if (formats->by_id.slots[i].value)
			plan_free(&((struct format *)formats->by_id.slots[i].value)->plan);
	free(formats->by_id.slots);
	arena_free(&formats->arena);
	*formats = (struct formats){0};
}

const struct format *formats_find(const struct formats *formats, uint64_t id)
{
	return table_find(&formats->by_id, &id, sizeof(id));
}

/* A field's line, taken apart. */
struct field_line {
	char type[LINE], name[LAYOUT_NAME + 1];
	unsigned long elements; /* in brackets behind the name; 0: none, or as many as there are */
	bool is_array, is_dynamic, is_relative;
	unsigned offset, size, is_signed;
};

static bool take_prefix(const char **text, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*text, prefix, n) != 0)
		return false;
	*text += n;
	return true;
}

/* "field:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:1;" False if it is something else. */
static bool parse_field(const char *line, struct field_line *field)
{
	const char *end, *name, *bracket;
	size_t n;

	*field = (struct field_line){0};
	line += strspn(line, " \t");
	if (!take_prefix(&line, "field:") && !take_prefix(&line, "field special:"))
		return false;
	end = strchr(line, ';');
	if (!end || (size_t)(end - line) >= sizeof(field->type) ||
	    sscanf(end, "; offset:%u; size:%u; signed:%u", &field->offset, &field->size,
		   &field->is_signed) < 2)
		return false;
	field->is_dynamic = take_prefix(&line, "__data_loc ");
	if (!field->is_dynamic)
		field->is_dynamic = field->is_relative = take_prefix(&line, "__rel_loc ");
	if (end > line && end[-1] == ']' && !field->is_dynamic) {
		for (bracket = end; bracket > line && *bracket != '['; bracket--)
			;
		field->is_array = true;
		field->elements = strtoul(bracket + 1, NULL, 0);
		end = bracket;
	}
	for (name = end; name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_');
	     name--)
		;
	n = (size_t)(end - name);
	if (!n || n >= sizeof(field->name))
		return false;
	memcpy(field->name, name, n);
	snprintf(field->type, sizeof(field->type), "%.*s", (int)(name - line), line);
	return true;
}

/* The bytes of one element of a dynamic array, whose type alone is given; 0: not known. */
static unsigned width_of_type(const char *type, unsigned long_size)
{
	static const struct {
		const char *word;
		unsigned width; /* 0: of the machine's long */
	} words[] = {{"char", 1},    {"u8", 1},       {"s8", 1},       {"__u8", 1},
		     {"__s8", 1},    {"bool", 1},     {"short", 2},    {"u16", 2},
		     {"s16", 2},     {"__u16", 2},    {"__be16", 2},   {"u64", 8},
		     {"s64", 8},     {"__u64", 8},    {"uint64_t", 8}, {"long long", 8},
		     {"u32", 4},     {"s32", 4},      {"__u32", 4},    {"uint32_t", 4},
		     {"uint8_t", 1}, {"uint16_t", 2}, {"long", 0},     {"cpumask_t", 0},
		     {"size_t", 0},  {"int", 4},      {"unsigned", 4}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (ascii_has_name(type, words[i].word))
			return words[i].width ? words[i].width : long_size;
	return 0;
}

/* The type of a number of that width; LAYOUT_TYPES: there is none. */
static enum layout_type number_type(const struct field_line *field, unsigned width)
{
	static const enum layout_type types[9][2] = {[1] = {LAYOUT_U8, LAYOUT_S8},
						     [2] = {LAYOUT_U16, LAYOUT_S16},
						     [4] = {LAYOUT_U32, LAYOUT_S32},
						     [8] = {LAYOUT_U64, LAYOUT_S64}};

	if (width != 1 && width != 2 && width != 4 && width != 8)
		return LAYOUT_TYPES;
	if (strchr(field->type, '*') && width >= 4)
		return width == 8 ? LAYOUT_HEX64 : LAYOUT_HEX32;
	return types[width][field->is_signed && !ascii_has_name(field->type, "bool")];
}

/* What a field is in a layout. */
static void make_node(const struct field_line *field, unsigned long_size, struct layout_node *node)
{
	bool is_array = field->is_array || field->is_dynamic,
	     is_text = ascii_has_name(field->type, "char") &&
		       !ascii_has_name(field->type, "unsigned");
	unsigned width = field->is_dynamic  ? width_of_type(field->type, long_size)
			 : !field->is_array ? field->size
			 : field->elements  ? (unsigned)(field->size / field->elements)
					    : width_of_type(field->type, long_size);
	enum layout_type type = number_type(field, width);
	struct layout_size size = {.from = field->is_dynamic ? field->is_relative
								       ? LAYOUT_FROM_REL_LOC
								       : LAYOUT_FROM_DATA_LOC
					   : field->size     ? LAYOUT_FROM_NUMBER
							     : LAYOUT_FROM_REST,
				   .number = field->size};

	if (!is_array && type != LAYOUT_TYPES) {
		node->kind = LAYOUT_NUMBER;
		node->number.type = type;
		return;
	}
	if (is_array && width > 1 && type != LAYOUT_TYPES) {
		node->kind = LAYOUT_ARRAY;
		node->array.type = type;
		if (size.from == LAYOUT_FROM_NUMBER)
			size.number /= width;
		node->array.count = size;
		return;
	}
	node->kind = is_array && is_text ? LAYOUT_STRING : LAYOUT_BYTES;
	node->text.size = size;
}

/* Adds a node for the field behind what there is, with what lies between; false if it cannot be. */
static bool format_field(struct formats *formats, const struct field_line *field,
			 struct layout_list *list, uint32_t *end)
{
	struct layout_node *node = (struct layout_node *)&list->nodes[list->count];

	if (field->offset < *end || field->size > LAYOUT_NUMBER_MAX ||
	    field->offset > LAYOUT_NUMBER_MAX || (field->is_dynamic && field->size != 4))
		return false;
	if (field->offset > *end) {
		*node++ = (struct layout_node){.kind = LAYOUT_PAD, .zeros = field->offset - *end};
		list->count++;
	}
	*node = (struct layout_node){.name = arena_join(&formats->arena, field->name, "")};
	make_node(field, formats->long_size, node);
	list->count++;
	*end = field->offset + field->size;
	return node->name != NULL;
}

/* The next line of `size` bytes, without its newline, cut to fit. */
static bool format_line(const char **text, size_t *size, char line[LINE])
{
	const char *end = memchr(*text, '\n', *size);
	size_t n = end ? (size_t)(end - *text) : *size;

	if (!*size)
		return false;
	snprintf(line, LINE, "%.*s", (int)(n < LINE ? n : LINE - 1), *text);
	n += end != NULL;
	*text += n;
	*size -= n;
	return true;
}

/* The number behind "ID: " at the beginning of a line, and how many lines have fields. */
static uint64_t look_through(const char *text, size_t size, size_t *fields)
{
	unsigned long long number, id = UINT64_MAX;
	char line[LINE];

	*fields = 0;
	while (format_line(&text, &size, line)) {
		*fields += strstr(line, "field") != NULL;
		if (sscanf(line, "ID: %llu", &number) == 1)
			id = number;
	}
	return id;
}

int formats_add(struct formats *formats, const struct abi *abi, const char *system,
		const char *text, size_t size)
{
	struct layout_node *objects, *nodes;
	struct format *format;
	struct field_line field;
	char line[LINE], name[LINE], *print_fmt = NULL;
	size_t fields, object = 0; /* that the last field is in: the common ones come first */
	uint64_t id = look_through(text, size, &fields);
	uint32_t end = 0;
	bool fits = true;
	int err;

	if (size > FORMAT_BYTES || formats->tried == FORMATS_MAX || id > UINT32_MAX || !fields ||
	    fields > FIELDS_MAX)
		return -EINVAL;
	if (formats_find(formats, id))
		return 0;
	formats->tried++; /* what is not understood has cost memory, too */
	format = arena_alloc(&formats->arena, sizeof(*format));
	objects = arena_array(&formats->arena, 2, sizeof(*objects));
	nodes = arena_array(&formats->arena, 4 * fields, sizeof(*nodes));
	if (!format || !objects || !nodes)
		return -ENOMEM;
	objects[0] = (struct layout_node){.kind = LAYOUT_OBJECT, .name = "common"};
	objects[0].object.nodes = nodes;
	objects[1] = (struct layout_node){.kind = LAYOUT_OBJECT, .name = "raw"};
	objects[1].object.nodes = nodes + 2 * fields;
	format->id = id;
	if (formats->value_names) {
		const char *found = memmem(text, size, "print fmt:", 10);
		size_t n = found ? size - (size_t)(found - text) : SIZE_MAX;

		print_fmt = n <= PRINT_FMT_MAX ? arena_alloc(&formats->arena, n + 1) : NULL;
		if (print_fmt)
			memcpy(print_fmt, found, n);
		else if (n <= PRINT_FMT_MAX)
			return -ENOMEM;
	}
	while (fits && format_line(&text, &size, line)) {
		if (sscanf(line, "name: %1000s", name) == 1)
			format->name = arena_join(&formats->arena, name, "");
		else if (parse_field(line, &field)) {
			size_t own = strncmp(field.name, "common_", 7) != 0;

			fits = own >= object &&
			       format_field(formats, &field, &objects[own].object, &end);
			object = own;
		}
	}
	if (print_fmt && print_fmt_names(&formats->arena, print_fmt, nodes + 2 * fields,
					 objects[1].object.count))
		return -ENOMEM;
	format->system = arena_join(&formats->arena, system, "");
	if (!fits || !format->name || !format->system || !objects[1].object.count)
		return -EINVAL;
	format->layout = (struct layout){.name = format->name,
					 .owner = LAYOUT_OF_TRACEPOINT,
					 .list = {.nodes = objects, .count = 2}};
	err = plan_make(&format->plan, &(struct plan_for){.abi = abi, .flat = formats->flat},
			&format->layout);
	if (!err && table_put(&formats->by_id, &format->id, sizeof(format->id), format)) {
		plan_free(&format->plan);
		err = -ENOMEM;
	}
	return err;
}

/* Bytes that are taken from the front. */
struct cursor {
	const unsigned char *at;
	size_t left;
	enum byte_order order;
};

static const unsigned char *take_some(struct cursor *c, uint64_t n)
{
	const unsigned char *at = c->at;

	if (n > c->left)
		return NULL;
	c->at += n;
	c->left -= (size_t)n;
	return at;
}

static bool take_word(struct cursor *c, unsigned width, uint64_t *value)
{
	const unsigned char *at = take_some(c, width);

	*value = at ? load_word(at, width, c->order) : 0;
	return at != NULL;
}

static const char *take_text(struct cursor *c)
{
	const unsigned char *end = memchr(c->at, '\0', c->left);

	return end ? (const char *)take_some(c, (uint64_t)(end - c->at) + 1) : NULL;
}

/* As many formats as a number in front says, each with its size. 0, -ENOMEM, or -EINVAL. */
static int take_formats(struct formats *formats, const struct abi *abi, const char *system,
			struct cursor *c)
{
	uint64_t count, size;
	int err = take_word(c, 4, &count) ? 0 : -EINVAL;

	while (!err && count--) {
		const unsigned char *text = take_word(c, 8, &size) ? take_some(c, size) : NULL;

		if (!text)
			return -EINVAL;
		err = formats_add(formats, abi, system, (const char *)text, (size_t)size);
		err = err == -ENOMEM ? err : 0; /* one that is not understood stands alone */
	}
	return err;
}

int formats_add_all(struct formats *formats, const struct abi *abi, const unsigned char *bytes,
		    size_t size)
{
	struct cursor c = {bytes, size, LITTLE};
	const unsigned char *magic = take_some(&c, 10), *machine;
	const char *version = magic ? take_text(&c) : NULL;
	uint64_t n, systems;
	int err;

	machine = version ? take_some(&c, 6) : NULL;
	if (!machine || memcmp(magic, "\x17\x08\x44tracing", 10) != 0)
		return -EINVAL;
	c.order = machine[0] ? BIG : LITTLE;
	formats->long_size = machine[1] == 4 ? 4 : 8;
	for (int i = 0; i < 2; i++) /* header_page, header_event */
		if (!take_text(&c) || !take_word(&c, 8, &n) || !take_some(&c, n))
			return -EINVAL;
	err = take_formats(formats, abi, "ftrace", &c);
	if (!err && !take_word(&c, 4, &systems))
		err = -EINVAL;
	for (uint64_t i = 0; !err && i < systems; i++) {
		const char *system = take_text(&c);

		err = system ? take_formats(formats, abi, system, &c) : -EINVAL;
	}
	return err;
}

/* Tells the format of events/SYSTEM/NAME if its id is among them. 0 or what `tell` returned. */
static int tell_if_wanted(int events, const char *system, const char *name, const uint64_t *ids,
			  size_t count, int (*tell)(void *, const char *, const char *, size_t),
			  void *context)
{
	char path[600], *text;
	bool is_wanted = false;
	uint64_t id;
	size_t size;
	int err = 0;

	if (ids) {
		snprintf(path, sizeof(path), "%.255s/%.255s/id", system, name);
		text = text_read_in(events, path, &size, FORMAT_BYTES);
		id = text && size ? strtoull(text, NULL, 10) : UINT64_MAX;
		free(text);
		for (size_t i = 0; i < count && !is_wanted; i++)
			is_wanted = ids[i] == id;
		if (!is_wanted)
			return 0;
	}
	snprintf(path, sizeof(path), "%.255s/%.255s/format", system, name);
	text = text_read_in(events, path, &size, FORMAT_BYTES);
	if (text)
		err = tell(context, system, text, size);
	free(text);
	return err;
}

int tracefs_formats(int tracefs, const uint64_t *ids, size_t count,
		    int (*tell)(void *context, const char *system, const char *text, size_t size),
		    void *context)
{
	const struct dirent *system, *name;
	DIR *events = folder_open_at(tracefs, "events"), *systems;
	int err = events ? 0 : -errno;

	while (!err && (system = readdir(events))) {
		systems = system->d_name[0] == '.' ? NULL
						   : folder_open_at(dirfd(events), system->d_name);
		while (systems && !err && (name = readdir(systems)))
			if (name->d_name[0] != '.')
				err = tell_if_wanted(dirfd(events), system->d_name, name->d_name,
						     ids, count, tell, context);
		if (systems)
			closedir(systems);
	}
	if (events)
		closedir(events);
	return err;
}

struct adding {
	struct formats *formats;
	const struct abi *abi;
};

static int add_told(void *context, const char *system, const char *text, size_t size)
{
	struct adding *adding = context;
	int err = formats_add(adding->formats, adding->abi, system, text, size);

	return err == -ENOMEM ? err : 0;
}

int formats_add_tracefs(struct formats *formats, const struct abi *abi, const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	formats->long_size = sizeof(long);
	err = tracefs_formats(fd, NULL, 0, add_told, &(struct adding){formats, abi});
	close(fd);
	return err;
}
