/* SPDX-License-Identifier: MIT */
/*
 * Verbs that read an event: read(2) as its read_format lays it out, the metadata page, rdpmc; and
 * what cannot be done with its file descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <strings.h>

#include "step/step.h"
#include "step/runtime/counter.h"

enum { READ_MOST = 64 * 1024 };

/* Shows it by its names in read_format, its size in bytes, and the plain words. */
static int run_read(struct step *s)
{
	const struct arguments *a = &s->arguments;
	const bool has_at = step_has(s, "at");
	unsigned char *buffer =
		has_at ? (void *)(uintptr_t)a->at : arena_alloc(&s->arena, READ_MOST);
	const struct opened *event = step_event(s, a->fd);
	json_t *words;
	uint64_t word;
	ssize_t n;

	if (!buffer && !has_at)
		return step_failed(s, ENOMEM);
	step_say(s, "read(%d, %llu)", a->fd, (unsigned long long)a->size);
	n = read(a->fd, buffer, (size_t)a->size);
	step_answer(s, n);
	if (n > 0 && event)
		s->shown = buffer_of_read(s->run, event, buffer, (size_t)n, s->error);
	if (n < 0 || (n && event && !s->shown))
		return n < 0 ? 0 : -ECANCELED;
	step_show_number(s, "bytes", (uint64_t)n);
	words = json_array();
	for (size_t i = 0; i + sizeof(word) <= (size_t)n; i += sizeof(word)) {
		memcpy(&word, buffer + i, sizeof(word));
		json_array_append_new(words, value_json(word));
	}
	step_show(s, "words", words);
	return 0;
}

static int run_pread(struct step *s)
{
	unsigned char buffer[256];

	step_say(s, "pread(%d, %zu, 0)", s->arguments.fd, sizeof(buffer));
	step_answer(s, pread(s->arguments.fd, buffer, sizeof(buffer), 0));
	return 0;
}

static int run_lseek(struct step *s)
{
	step_say(s, "lseek(%d, 0, SEEK_SET)", s->arguments.fd);
	step_answer(s, lseek(s->arguments.fd, 0, SEEK_SET) < 0 ? -1 : 0);
	return 0;
}

static int write_to_file(struct step *s, const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	step_say(s, "write(\"%s\", \"%s\")", path, text);
	step_answer(s, fd < 0 ? -1 : write(fd, text, strlen(text)));
	if (fd >= 0)
		close(fd);
	return 0;
}

static int run_write(struct step *s)
{
	const struct arguments *a = &s->arguments;

	if (a->path && !s->run->is_expendable &&
	    (!s->run->restores_sysctls || path_stays_changed(a->path)))
		return error_text(s->error, NULL, a->path,
				  "a sysctl in a case with `sysctl`, which restores it afterwards, "
				  "or a case with \"machine\": \"expendable\"");
	if (a->path)
		return write_to_file(s, a->path, a->text);
	step_say(s, "write(%d, \"%s\")", a->fd, a->text);
	step_answer(s, write(a->fd, a->text, strlen(a->text)));
	return 0;
}

/* A line to the driver of the PMUs made of software (ci/pmu), which is done when it returns. */
static int run_trigger(struct step *s)
{
	return write_to_file(s, "/dev/perfabi", s->arguments.text);
}

/* Shows the metadata page as the decoder has it. */
static int run_page(struct step *s)
{
	const struct opened *event = step_event(s, s->arguments.fd);
	const struct map *map = step_map(s, s->arguments.fd, true);
	json_t *all;

	if (!event || !map)
		return step_misnamed(s, verb_key(s->statement->verb), "an event that is mapped");
	all = buffer_image(s->run, &event, 1, map, s->error);
	s->shown = json_incref(json_object_get(all, "page"));
	json_decref(all);
	return s->shown ? 0 : -ECANCELED;
}

/* The count beside a page that decodes. */
static int run_rdpmc(struct step *s)
{
	int err = run_page(s);
	struct rdpmc got;

	if (err)
		return err;
	json_decref(s->shown);
	s->shown = NULL;
	got = rdpmc_count(step_map(s, s->arguments.fd, true)->at);
	step_show_number(s, "index", got.index);
	if (got.has_value)
		step_show_number(s, "value", got.value);
	return 0;
}

static const struct member read_shows[] = {
	{.name = "bytes", .shape = {.kind = SHAPE_NUMBER}, .help = "how many were read"},
	{.name = "words", .shape = {.kind = SHAPE_LIST}, .help = "plain"},
	{0}};
static const struct member rdpmc_shows[] = {
	{"index", {.kind = SHAPE_NUMBER}, "as the page has it; 0: it may not be read"},
	{"value", {.kind = SHAPE_NUMBER}, "the count, where it could be read"},
	{0}};

/* The header has pmc_width and the capabilities as a newer one than 3.12 has them. */
static const char page_in_c[] =
	"struct perf_event_mmap_page: version compat_version lock index offset time_enabled "
	"time_running capabilities={} capabilities.cap_bit0=cap_bit0 "
	"capabilities.cap_bit0_is_deprecated=cap_bit0_is_deprecated "
	"capabilities.cap_user_rdpmc=cap_user_rdpmc capabilities.cap_user_time=cap_user_time "
	"capabilities.cap_user_time_zero=cap_user_time_zero "
	"capabilities.cap_user_time_short=cap_user_time_short pmc_width time_shift time_mult "
	"time_offset time_zero size time_cycles time_mask data_head data_tail data_offset "
	"data_size "
	"aux_head aux_tail aux_offset aux_size";

/* A list of records' types, by their names in cases/abi. No member: run_records() has the list. */
static int parse_types(struct compiling *c, struct operand *operand)
{
	const struct abi_family *family = abi_family(c->tables->abi, "record");
	json_t *item;
	size_t i;

	if (!json_is_array(operand->json))
		return error_value(c->error, c->where, operand->json, "a list of records' types");
	json_array_foreach(operand->json, i, item) {
		const char *name = json_string_value(item);
		struct nearest near = nearest_to(name ? name : "");

		if (!name || !abi_value(family, name, &near))
			return error_name(c->error, c->where, name ? name : "", near.best,
					  "a record of cases/abi");
	}
	return 0;
}

static const struct argument_type argument_types = {
	.parse = parse_types, .schema = "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}"};

static int run_records(struct step *s)
{
	const json_t *types = statement_json(s->statement, "of");
	struct map *map = step_map(s, s->arguments.fd, true);
	json_t *one;
	size_t k;

	if (!map || map->event == NO_EVENT)
		return step_misnamed(s, "records", "an event that is mapped");
	s->shown = buffer_records(s->run, map, s->arguments.keeps, s->error);
	if (!s->shown)
		return -ECANCELED;
	for (size_t i = json_array_size(s->shown); types && i-- > 0;) {
		const json_t *type = json_object_get(json_array_get(s->shown, i), "type");
		bool is_wanted = false;

		json_array_foreach(types, k, one)
			is_wanted = is_wanted ||
				    !strcasecmp(json_string_value(one), json_string_value(type));
		if (!is_wanted)
			json_array_remove(s->shown, i);
	}
	return 0;
}

/* What cases/abi has of it: all, or what comes beside the row's own. */
static void shape_by_abi(const struct tables *tables, const struct statement *statement,
			 struct value_shape *out)
{
	(void)statement;
	if (out->kind == SHAPE_RECORDS)
		out->records = &tables->records;
	else if (out->members)
		out->more = tables->read;
	else
		out->members = tables->page;
}

const struct verb read_verbs[] = {
	{"read", "read an event; shows its words by their names in read_format", CALLS, BINDS_SHOWN,
	 run_read, NULL, .in_c = read_in_c, .shows = {.kind = SHAPE_OBJECT, .members = read_shows},
	 .shape = shape_by_abi,
	 ARGUMENTS({"read", &argument_bound, MEMBER(fd)},
		   {"size", &argument_number, MEMBER(size), .is_long = true, .fallback = READ_MOST,
		    .most = READ_MOST, .help = "the size of the buffer in bytes"},
		   {"at", &argument_number, MEMBER(at), .is_long = true,
		    .help = "read to this address"})},
	{"pread", "read an event at an offset with pread(2)", CALLS, BINDS_NOTHING, run_pread,
	 "pread(@pread, (char[256]){0}, 256, 0)",
	 ARGUMENTS({"pread", &argument_bound, MEMBER(fd)})},
	{"write", "write to an event, or to the file /PATH (in a case with `sysctl` or `machine`)",
	 CALLS, BINDS_NOTHING, run_write,
	 "@{write?write_to(@write, @text):write(@write, @text, strlen(@text))}",
	 ARGUMENTS({"write", &argument_write_target, MEMBER(path), .most = 255},
		   {"text", &argument_text, MEMBER(text), .most = 255, .is_required = true,
		    .help = "the text to write"})},
	{"trigger", "make a line of events happen to a PMU made of software, on this cpu", CALLS,
	 BINDS_NOTHING, run_trigger, "write_to(\"/dev/perfabi\", @trigger)",
	 ARGUMENTS({"trigger", &argument_text, MEMBER(text), .most = 1023})},
	{"lseek", "seek in an event", CALLS, BINDS_NOTHING, run_lseek, "lseek(@lseek, 0, SEEK_SET)",
	 ARGUMENTS({"lseek", &argument_bound, MEMBER(fd)})},
	{"page", "show an event's metadata page, member by member", SHOWS, BINDS_SHOWN, run_page,
	 "memcpy(&@=, @*page, sizeof(@=));", .c_value = page_in_c, .shows = {.kind = SHAPE_OBJECT},
	 .shape = shape_by_abi, ARGUMENTS({"page", &argument_bound, MEMBER(fd)})},
	{"rdpmc", "read an event's count in user space, by the man page's algorithm", SHOWS,
	 BINDS_SHOWN, run_rdpmc, "@= = rdpmc_count(@*rdpmc);",
	 .c_value = "struct rdpmc: index value?has_value",
	 .shows = {.kind = SHAPE_OBJECT, .members = rdpmc_shows},
	 ARGUMENTS({"rdpmc", &argument_bound, MEMBER(fd)})},
	{"records", "show the records in an event's ring buffer, decoded strictly", SHOWS,
	 BINDS_SHOWN, run_records, NULL, .in_c = records_in_c, .shows = {.kind = SHAPE_RECORDS},
	 .shape = shape_by_abi,
	 ARGUMENTS({"records", &argument_bound, MEMBER(fd)},
		   {"of", &argument_types, .help = "only records of these types"},
		   {"keep", &argument_truth, MEMBER(keeps), .help = "leave them unread"})},
	{0}};
