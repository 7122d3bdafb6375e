/* SPDX-License-Identifier: MIT */
/*
 * Verbs on the rest of the machine: files, sockets, limits, cgroups, clocks, BPF programs.
 */
#include <sys/sysmacros.h>
#include <time.h>

#include "machine/clock.h"
#include "machine/proc.h"
#include "step/runtime/machine.h"
#include "step/step.h"
#include "machine/environment.h"
#include "machine/names.h"

enum file_mode { FILE_READ, FILE_READ_WRITE };

/* Any path can be opened to be read: the kernel takes folders and programs so. */
static int check_mode(struct compiling *c, const struct statement *statement)
{
	struct operand path = statement->operands[0];
	struct compiling at = *c;

	at.argument = statement->verb->arguments;
	at.where = AT_KEY(c->where, "file");
	return statement->operands[1].number == FILE_READ_WRITE
		       ? argument_path_written.parse(&at, &path)
		       : 0;
}

static int run_file(struct step *s)
{
	const bool writes = s->arguments.kind == FILE_READ_WRITE;
	struct operand path = s->statement->operands[0];
	struct compiling c = {.scope = s->scope,
			      .arena = &s->arena,
			      .error = s->error,
			      .argument = s->statement->verb->arguments,
			      .where = &(struct where){0}};

	if (writes &&
	    argument_path_written.parse(&c, &path)) /* where it leads is looked at again */
		return -EINVAL;
	return step_prepared(s, open(s->arguments.text, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC));
}

/* A hierarchy of cgroups by its name: a literal. */
static int parse_hierarchy(struct compiling *c, struct operand *operand)
{
	const char *name = json_string_value(operand->json);

	return name && environment_is_hierarchy(name)
		       ? argument_literal.parse(c, operand)
		       : error_value(c->error, c->where, operand->json,
				     "\"v2\" or \"v1.CONTROLLER\"");
}

static const struct argument_type argument_hierarchy = {
	.c = C_AS_TEXT,
	.parse = parse_hierarchy,
	.is_made = true,
	.schema = "{\"type\": \"string\", \"pattern\": \"^(v2|v1\\\\..+)$\"}"};

static int run_cgroup(struct step *s)
{
	const struct arguments *a = &s->arguments;
	char path[384];
	size_t n;

	if (environment_cgroup(a->text, path, 256))
		return step_failed(s, ENOENT);
	n = strlen(path);
	if (a->end[0])
		snprintf(path + n, sizeof(path) - n, "/%s", a->end);
	return step_prepared(s, open(path, O_RDONLY | O_CLOEXEC));
}

static int run_enter(struct step *s)
{
	return step_prepared(s, cgroup_enter(s->arguments.text));
}

/* Below the cgroup of the case, which is removed with all that is in it. */
static int check_mkdir(struct compiling *c, const struct statement *statement)
{
	const json_t *json = statement_json(statement, "mkdir");

	return !strncmp(json_string_value(json), "$cgroup.path/", 13)
		       ? 0
		       : error_value(c->error, AT_KEY(c->where, "mkdir"), json,
				     "a folder below the case's cgroup: \"$cgroup.path/NAME\"");
}

static int run_mkdir(struct step *s)
{
	return step_prepared(s, mkdir(s->arguments.text, 0755));
}

static int run_memfd(struct step *s)
{
	return step_prepared(
		s, memfd(s->arguments.number, s->arguments.text ? s->arguments.text : ""));
}

static int run_limit(struct step *s)
{
	return step_prepared(s, set_soft_limit((int)s->arguments.number, s->arguments.to));
}

static int run_stat(struct step *s)
{
	struct stat st;

	if (stat(s->arguments.text, &st))
		return step_failed(s, errno);
	step_show_number(s, "ino", st.st_ino);
	step_show_number(s, "dev", st.st_dev);
	step_show_number(s, "maj", major(st.st_dev));
	step_show_number(s, "min", minor(st.st_dev));
	step_show_number(s, "size", (uint64_t)st.st_size);
	return 0;
}

static int run_text(struct step *s)
{
	char text[1024], *end;
	long long number;
	ssize_t n = read_line(s->arguments.text, text, sizeof(text));

	if (n < 0)
		return step_failed(s, (int)-n);
	number = strtoll(text, &end, 0);
	s->shown = end != text && !*end ? json_integer(number) : json_string(text);
	return 0;
}

/* A name of which NAME_a and NAME_b are bound. */
static int bind_pair(struct scope *scope, const char *name, const int pair[2])
{
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		char end[VARIABLE_NAME];

		snprintf(end, sizeof(end), "%.*s_%c", VARIABLE_NAME - 3, name, 'a' + i);
		err = scope_bind(scope, end, (uint64_t)pair[i]);
	}
	return err;
}

static int check_socket(struct compiling *c, const struct statement *statement)
{
	const json_t *json = statement_json(statement, "socket");

	return bind_pair(c->scope, json_string_value(json), (const int[2]){0})
		       ? error_value(c->error, AT_KEY(c->where, "socket"), json, "a name")
		       : 0;
}

static int run_socket(struct step *s)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return step_failed(s, errno);
	bind_pair(s->scope, s->arguments.literal, pair);
	return 0;
}

static int run_send(struct step *s)
{
	return step_prepared(s, send_fd(s->arguments.over, s->arguments.fd));
}

/* The event that came is read as the one it is, which the receiver knows by name. */
static int run_receive(struct step *s)
{
	const struct opened *event = step_event(s, s->arguments.as);
	int fd = receive_fd(s->arguments.over);

	if (fd < 0)
		return step_failed(s, errno);
	s->result = (uint64_t)fd;
	if (event)
		step_keep_copy(s, event, fd);
	return 0;
}

static int check_bpf(struct compiling *c, const struct statement *statement)
{
	const bool writes = statement_json(statement, "to");

	if (!writes && statement_json(statement, "of"))
		return error_text(c->error, c->where, "of",
				  "`to` beside `of`: the event that is written");
	if (writes && statement_json(statement, "does"))
		return error_text(c->error, c->where, "does", "`to` or `does`, not both");
	return 0;
}

static int run_bpf(struct step *s)
{
	struct bpf_program p;

	if (bpf_load((uint32_t)s->arguments.number, (enum bpf_does)s->arguments.kind,
		     s->arguments.fd, s->arguments.over, &p))
		return step_failed(s, errno);
	step_show_number(s, "fd", p.fd);
	step_show_number(s, "id", p.id);
	step_show_number(s, "type", p.type);
	step_show(s, "tag", json_string(p.tag));
	step_show_address(s, "address", p.address);
	step_show_number(s, "length", p.length);
	step_show(s, "name", json_string(p.name));
	return 0;
}

static int run_bpf_map(struct step *s)
{
	step_say(s, "bpf(BPF_MAP_UPDATE_ELEM), event %d", s->arguments.fd);
	s->result = (uint64_t)bpf_events(s->arguments.fd, -1);
	step_answer(s, (long)s->result);
	return 0;
}

static int run_lsm(struct step *s)
{
	step_say(s, "bpf(BPF_PROG_LOAD), a refusal by %s", s->arguments.text);
	s->result = (uint64_t)lsm_refuse(s->arguments.text);
	step_answer(s, (long)s->result);
	return 0;
}

static int run_bpf_link(struct step *s)
{
	return step_prepared(s, bpf_link(s->arguments.over, s->arguments.fd));
}

static int run_bpf_query(struct step *s)
{
	struct bpf_task_fd found;

	if (bpf_task_fd(s->arguments.fd, &found))
		return step_failed(s, errno);
	step_show_number(s, "program", found.program);
	step_show_number(s, "type", found.type);
	step_show_number(s, "offset", found.offset);
	step_show(s, "name", json_string(found.name));
	return 0;
}

static const struct member bpf_query_shows[] = {
	{"program", {.kind = SHAPE_NUMBER}, "its id"},
	{"type", {.kind = SHAPE_NUMBER}, "BPF_FD_TYPE_*: of what event"},
	{"offset", {.kind = SHAPE_NUMBER}, "of a probe in what is probed"},
	{"name", {.kind = SHAPE_TEXT}, "of the tracepoint, or of what is probed"},
	{0}};

static int run_seccomp(struct step *s)
{
	return step_prepared(s, seccomp_answer((int)s->arguments.number));
}

static int run_clock(struct step *s)
{
	struct timespec t;

	if (clock_gettime((clockid_t)s->arguments.number, &t))
		return step_failed(s, errno);
	s->shown = json_integer((json_int_t)t.tv_sec * 1000000000 + t.tv_nsec -
				clock_namespace_offset((clockid_t)s->arguments.number));
	return 0;
}

/* Whatever a name stands for, or what an expression comes to. */
static int run_value(struct step *s)
{
	const json_t *json = statement_json(s->statement, "value");
	const char *text = json_string_value(json);
	struct vars vars = scope_vars(s->scope);
	struct value number = {0};

	s->shown = text && text[0] == '$' ? json_incref(scope_json(s->scope, text + 1)) : NULL;
	if (s->shown)
		return 0;
	if (value_eval(json, NULL, &vars, &(struct where){0}, &number, s->error))
		return -EINVAL;
	s->shown =
		number.negative ? json_integer((json_int_t)number.bits) : value_json(number.bits);
	return 0;
}

static const struct member stat_shows[] = {
	{"ino", {.kind = SHAPE_NUMBER}, NULL},  {"dev", {.kind = SHAPE_NUMBER}, NULL},
	{"maj", {.kind = SHAPE_NUMBER}, NULL},  {"min", {.kind = SHAPE_NUMBER}, NULL},
	{"size", {.kind = SHAPE_NUMBER}, NULL}, {0}};

static int run_pmu_events(struct step *s)
{
	json_t *tried = json_array(), *opened = json_array(), *refused = json_array();
	json_t *unread = json_array();
	struct pmu_events all;
	int err = try_pmu_events(s->arguments.text, &all) ? step_failed(s, ENOMEM) : 0;

	for (uint64_t i = 0; i < all.tried_nr; i++) {
		const struct pmu_event *e = &all.list[i];

		json_array_append_new(tried, json_string(e->name));
		if (!e->err)
			json_array_append_new(opened, json_string(e->name));
		else if (e->err > 0)
			json_array_append_new(refused,
					      json_sprintf("%s: %s", e->name, errno_name(e->err)));
		else if (e->err == UNREAD_TERM)
			json_array_append_new(unread, json_string(e->name));
	}
	free(all.list);
	step_show(s, "tried", tried);
	step_show(s, "opened", opened);
	step_show(s, "refused", refused);
	step_show(s, "unread", unread);
	return err;
}

static const struct member pmu_shows[] = {
	{"tried", {.kind = SHAPE_NAMES}, NULL},
	{"opened", {.kind = SHAPE_NAMES}, NULL},
	{"refused", {.kind = SHAPE_NAMES}, "each with the errno behind it"},
	{"unread", {.kind = SHAPE_NAMES}, "those with a term that format/ does not have"},
	{0}};

const struct verb machine_verbs[] = {
	{"enter", "move this process to that cgroup", PREPARES, BINDS_NOTHING, run_enter,
	 "cgroup_enter(@enter)", ARGUMENTS({"enter", &argument_path_written, MEMBER(text)})},
	{"mkdir", "make a cgroup below the case's own", PREPARES, BINDS_NOTHING, run_mkdir,
	 "mkdir(@mkdir, 0755)", .check = check_mkdir,
	 ARGUMENTS({"mkdir", &argument_text, MEMBER(text)})},
	{"file", "open a file or directory", PREPARES, BINDS_RESULT, run_file,
	 "open(@file, @{mode?O_RDWR:O_RDONLY} | O_CLOEXEC)", .c_value = "int", .check = check_mode,
	 ARGUMENTS({"file", &argument_text, MEMBER(text), .most = 255},
		   {"mode", &argument_word, MEMBER(kind),
		    .words = (const struct word[]){{"read", FILE_READ},
						   {"read-write", FILE_READ_WRITE},
						   {0}},
		    .help = "(read)"})},
	{"cgroup", "open the root of the hierarchy \"v2\" or \"v1.CONTROLLER\"", PREPARES,
	 BINDS_RESULT, run_cgroup, "cgroup_open(@cgroup, @entry)", .c_value = "int",
	 ARGUMENTS({"cgroup", &argument_hierarchy, MEMBER(text), .most = 63},
		   {"entry", &argument_text, MEMBER(end), .most = 63,
		    .help = "open this file in it instead"})},
	{"memfd", "make an anonymous file of that many zero bytes", PREPARES, BINDS_RESULT,
	 run_memfd, "memfd(@memfd, @{text?@text:\"\"})", .c_value = "int",
	 ARGUMENTS({"memfd", &argument_number, MEMBER(number), .most = 1 << 20},
		   {"text", &argument_text, MEMBER(text), .most = 255,
		    .help = "what it begins with, instead"})},
	{"limit", "set a resource's soft limit", PREPARES, BINDS_NOTHING, run_limit,
	 "set_soft_limit(RLIMIT_@limit, @to)",
	 ARGUMENTS({"limit", &argument_word, MEMBER(number),
		    .words = (const struct word[]){{"nofile", RLIMIT_NOFILE},
						   {"memlock", RLIMIT_MEMLOCK},
						   {"cpu", RLIMIT_CPU},
						   {0}}},
		   {"to", &argument_number, MEMBER(to), .most = 1 << 30,
		    .help = "(0); for cpu, seconds of cpu time, within --timeout"})},
	{"stat", "stat(2) a path", SHOWS, BINDS_SHOWN, run_stat, "stat(@stat, &@=)",
	 .c_value = "struct stat: ino=st_ino dev=st_dev size=st_size",
	 .shows = {.kind = SHAPE_OBJECT, .members = stat_shows},
	 ARGUMENTS({"stat", &argument_text, MEMBER(text)})},
	{"text", "read a small file: a number, or its first line", SHOWS, BINDS_SHOWN, run_text,
	 NULL, .in_c = text_of_file_in_c, .shows = {.kind = SHAPE_ANY},
	 ARGUMENTS({"text", &argument_path_read, MEMBER(text)})},
	{"socket", "make a pair of sockets, NAME_a and NAME_b", PREPARES, BINDS_NOTHING, run_socket,
	 NULL, .in_c = socket_in_c, .check = check_socket,
	 ARGUMENTS({"socket", &argument_literal, MEMBER(literal), .most = VARIABLE_NAME - 3})},
	{"send", "send an fd with SCM_RIGHTS", PREPARES, BINDS_NOTHING, run_send,
	 "send_fd(@over, @send)",
	 ARGUMENTS({"send", &argument_bound, MEMBER(fd)},
		   {"over", &argument_bound, MEMBER(over), .is_required = true,
		    .help = "the socket"})},
	{"receive", "receive an fd from a socket", PREPARES, BINDS_RESULT, run_receive,
	 "receive_fd(@receive)", .c_value = "int",
	 ARGUMENTS({"receive", &argument_bound, MEMBER(over)},
		   {"as", &argument_bound, MEMBER(as), .fallback = UINT64_MAX,
		    .help = "the event that it is"})},
	{"bpf",
	 "load a BPF program of that type; binds fd, id, type, tag, name, and the "
	 "address and length of its code, 0 if the kernel hides them",
	 PREPARES, BINDS_SHOWN, run_bpf,
	 "bpf_load(BPF_PROG_TYPE_@bpf, BPF_DOES_@does, @{of?@of:-1}, @{to?@to:-1}, &@=)",
	 .c_value = "struct bpf_program: fd id type tag$ address length name$", .check = check_bpf,
	 ARGUMENTS({"bpf", &argument_word, MEMBER(number),
		    .words = (const struct word[]){{"socket-filter", BPF_PROG_TYPE_SOCKET_FILTER},
						   {"kprobe", BPF_PROG_TYPE_KPROBE},
						   {"tracepoint", BPF_PROG_TYPE_TRACEPOINT},
						   {"perf-event", BPF_PROG_TYPE_PERF_EVENT},
						   {0}}},
		   {"does", &argument_word, MEMBER(kind),
		    .words = (const struct word[]){{"nothing", BPF_DOES_NOTHING},
						   {"stack", BPF_DOES_STACK},
						   {"field", BPF_DOES_FIELD},
						   {"context", BPF_DOES_CONTEXT},
						   {"call", BPF_DOES_CALL},
						   {0}},
		    .help = "before it returns 0 (nothing): stack calls bpf_get_stack, field loads "
			    "the first 32 bits behind the fields that all tracepoints have, "
			    "context loads a word behind the fields of any, call calls a function "
			    "of its own"},
		   {"to", &argument_bound, MEMBER(over), .fallback = UINT64_MAX,
		    .help = "write 16 bits to this bpf_output event instead "
			    "(bpf_perf_event_output), and return 1"},
		   {"of", &argument_bound, MEMBER(fd), .fallback = UINT64_MAX,
		    .help = "the low 16 bits of this event's count, not 0 "
			    "(bpf_perf_event_read_value)"})},
	{"bpf-map", "put an event into a new BPF map of perf events", CALLS, BINDS_RESULT,
	 run_bpf_map, "bpf_events(@bpf-map, -1)", .c_value = "int",
	 ARGUMENTS({"bpf-map", &argument_bound, MEMBER(fd)})},
	{"lsm",
	 "make a security hook refuse this process, which gets a name for that, and what it "
	 "starts, "
	 "with EACCES, until the fd is closed (a BPF program of type LSM)",
	 CALLS, BINDS_RESULT, run_lsm, "lsm_refuse(@lsm)", .c_value = "int",
	 ARGUMENTS({"lsm", &argument_text, MEMBER(text), .help = "as in lsm_hook_defs.h"})},
	{"seccomp", "let a filter refuse perf_event_open(2), here and in children, for good",
	 PREPARES, BINDS_NOTHING, run_seccomp, "seccomp_answer(@seccomp)",
	 ARGUMENTS({"seccomp", &argument_word, MEMBER(number),
		    .words = (const struct word[]){{"EPERM", EPERM},
						   {"EACCES", EACCES},
						   {"ENOSYS", ENOSYS},
						   {0}}})},
	{"bpf-link", "attach a BPF program to an event until the link's fd is closed", PREPARES,
	 BINDS_RESULT, run_bpf_link, "bpf_link(@bpf-link, @on)", .c_value = "int",
	 ARGUMENTS({"bpf-link", &argument_number, MEMBER(over), .help = "the program's fd"},
		   {"on", &argument_bound, MEMBER(fd), .is_required = true, .help = "the event"})},
	{"bpf-query", "ask BPF what an event's fd is (BPF_TASK_FD_QUERY)", SHOWS, BINDS_SHOWN,
	 run_bpf_query, "bpf_task_fd(@bpf-query, &@=)",
	 .c_value = "struct bpf_task_fd: program type offset name$",
	 .shows = {.kind = SHAPE_OBJECT, .members = bpf_query_shows},
	 ARGUMENTS({"bpf-query", &argument_bound, MEMBER(fd)})},
	{"clock", "read a clock with clock_gettime(2), in nanoseconds, as outside time namespaces",
	 SHOWS, BINDS_SHOWN, run_clock, "@= = nanoseconds(CLOCK_@clock);",
	 .shows = {.kind = SHAPE_NUMBER},
	 ARGUMENTS({"clock", &argument_word, MEMBER(number),
		    .words = (const struct word[]){{"realtime", CLOCK_REALTIME},
						   {"monotonic", CLOCK_MONOTONIC},
						   {"monotonic_raw", CLOCK_MONOTONIC_RAW},
						   {"boottime", CLOCK_BOOTTIME},
						   {"tai", CLOCK_TAI},
						   {"thread_cputime_id", CLOCK_THREAD_CPUTIME_ID},
						   {0}}})},
	{"value", "evaluate an expression, or a name", SHOWS, BINDS_SHOWN, run_value, NULL,
	 .in_c = value_of_in_c, .shows = {.kind = SHAPE_ANY},
	 ARGUMENTS({.key = "value", .type = &argument_number})},
	{"pmu-events", "open each event in events/ of that PMU", SHOWS, BINDS_SHOWN, run_pmu_events,
	 "try_pmu_events(@pmu-events, &@=)",
	 .c_value = "struct pmu_events: tried[] opened[] refused[] unread[]",
	 .shows = {.kind = SHAPE_OBJECT, .members = pmu_shows},
	 ARGUMENTS({"pmu-events", &argument_text, MEMBER(text)})},
	{0}};
