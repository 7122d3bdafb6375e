/* SPDX-License-Identifier: MIT */
/*
 * perfabi capture: record any attr while a command runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/abi.h"
#include "abi/attr.h"
#include "call/call.h"
#include "command/session.h"
#include "input/perfdata.h"
#include "language/scope.h"
#include "machine/proc.h"
#include "include/perfabi.h"
#include "stream/events.h"
#include "stream/perfdata_header.h"
#include "text/options.h"
#include "text/out.h"
#include "text/outfile.h"
#include "text/say.h"
#include "text/json_text.h"

/* A perf.data that is being written. */
struct recording {
	int fd;
	uint64_t attrs_offset, attrs_size, entry_size;
	uint64_t data_offset, data_size;
};

enum { CAPTURE_ATTRS = 64, CAPTURE_CPUS = 4096 };

/* One ring buffer: of a cpu, or of the process wherever it runs. */
struct buffer {
	int cpu; /* -1: any */
	int fds[CAPTURE_ATTRS];
	uint64_t ids[CAPTURE_ATTRS];
	struct perf_event_mmap_page *map;
	size_t size; /* of the data pages */
	void *aux;   /* NULL: none */
	bool hung_up;
};

struct capture {
	const struct environment *env;
	const struct attr_list *attrs;
	struct buffer *buffers;
	size_t buffer_count;
	size_t page_size, pages; /* data pages of each, a power of two */
	size_t aux_size;         /* bytes of each AUX area, 0: none */
	bool writable;           /* else the kernel overwrites what is old */
};

/*
 * The other side of decoder/input/perfdata.c, in this machine's byte order.
 */

enum { NAME_ALIGN = 64 };

static int write_header(const struct recording *r, uint64_t features)
{
	const uint64_t words[] = {PERFDATA_HEADER,
				  r->entry_size,
				  r->attrs_offset,
				  r->attrs_size,
				  r->data_offset,
				  r->data_size,
				  0,
				  0,
				  features,
				  0,
				  0,
				  0};
	unsigned char header[PERFDATA_HEADER];
	uint64_t magic;
	ssize_t n;

	memcpy(&magic, "PERFILE2", sizeof(magic));
	if (BYTE_ORDER == BIG_ENDIAN) /* a number: the other order has it backwards */
		magic = __builtin_bswap64(magic);
	memcpy(header, &magic, sizeof(magic));
	memcpy(header + sizeof(magic), words, sizeof(words));
	n = pwrite(r->fd, header, sizeof(header), 0);
	return n == sizeof(header) ? 0 : n < 0 ? -errno : -EIO;
}

/* Bytes of the data section. 0 or a negative errno. */
static int recording_append(struct recording *r, const void *bytes, size_t size)
{
	int err = write_fully(r->fd, bytes, size);

	if (!err)
		r->data_size += size;
	return err;
}

static void put_u32(FILE *f, size_t value)
{
	const uint32_t word = (uint32_t)value;

	fwrite(&word, sizeof(word), 1, f);
}

/* A length, then the text with its NUL, zero-padded to a multiple of 64. */
static void put_padded(FILE *f, const char *string)
{
	size_t padded = (strlen(string) + 1 + NAME_ALIGN - 1) & ~(size_t)(NAME_ALIGN - 1);

	put_u32(f, padded);
	fputs(string, f);
	for (size_t i = strlen(string); i < padded; i++)
		fputc(0, f);
}

static void put_counted(FILE *f, const char *text, size_t size)
{
	const uint64_t word = size;

	fwrite(&word, sizeof(word), 1, f);
	fwrite(text, 1, size, f);
}

static int put_format(void *f, const char *system, const char *text, size_t size)
{
	fwrite(system, 1, strlen(system) + 1, f);
	put_u32(f, 1);
	put_counted(f, text, size);
	return 0;
}

static int take_format(void *of, const char *system, const char *text, size_t size)
{
	struct events *events = of;

	if (formats_add(&events->formats, events->abi, system, text, size) == -ENOMEM)
		or_exit(NULL);
	return 0;
}

/* A file of the folder events, with its name; perf does not go on without. */
static void put_header_file(FILE *f, int tracefs, const char *name)
{
	char path[64], text[8192];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "events/%s", name);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	fwrite(name, 1, strlen(name) + 1, f);
	put_counted(f, text, n > 0 ? (size_t)n : 0);
}

/* What the formats are asked for of, and by. */
struct traced {
	uint64_t *ids;
	size_t count;
	int tracefs;
};

/* The tracepoints among the events, with their formats and names. */
static struct traced find_traced(struct events *events)
{
	struct traced traced = {or_exit(calloc(events->count + 1, sizeof(uint64_t))), 0,
				tracefs_open()};

	for (size_t i = 0; i < events->count; i++)
		if (events->list[i].is_traced)
			traced.ids[traced.count++] = events->list[i].config;
	if (traced.count && traced.tracefs >= 0)
		tracefs_formats(traced.tracefs, traced.ids, traced.count, take_format, events);
	events_set_formats(events);
	if (names_by_formats(events))
		or_exit(NULL);
	return traced;
}

/* TRACING_DATA as tools/perf/util/trace-event-info.c writes it, with the tracepoints' formats. */
static void put_tracing_data(FILE *f, const struct events *events, const struct traced *traced)
{
	const char magic[] = {0x17,        0x08, 0x44, 't', 'r',
			      'a',         'c',  'i',  'n', 'g',
			      '0',         '.',  '5',  0,   BYTE_ORDER == BIG_ENDIAN,
			      sizeof(long)};

	fwrite(magic, 1, sizeof(magic), f);
	put_u32(f, (size_t)sysconf(_SC_PAGESIZE));
	put_header_file(f, traced->tracefs, "header_page");
	put_header_file(f, traced->tracefs, "header_event");
	put_u32(f, 0); /* ftrace's own */
	put_u32(f, events->formats.by_id.count);
	tracefs_formats(traced->tracefs, traced->ids, traced->count, put_format, f);
	put_u32(f, 0); /* kallsyms */
	put_u32(f, 0); /* printk formats */
}

/* EVENT_DESC: attrs with their names and ids. */
static void put_event_desc(FILE *f, const struct recording *r, const struct capture *c,
			   const struct events *events)
{
	size_t size = r->entry_size - sizeof(struct segment), stride = c->env->abi->attr_size;

	put_u32(f, c->attrs->count);
	put_u32(f, size);
	for (size_t i = 0; i < c->attrs->count; i++) {
		fwrite(c->attrs->bytes + i * stride, 1, size, f);
		put_u32(f, c->buffer_count);
		put_padded(f, events->list[i].name->name);
		for (size_t k = 0; k < c->buffer_count; k++)
			fwrite(&c->buffers[k].ids[i], sizeof(uint64_t), 1, f);
	}
}

/* Features (the machine, the command, the events) behind the data, and the header at the front. */
static int recording_end(struct recording *r, const struct capture *c, char *const command[])
{
	static const char *const names[] = {"tracing_data", "hostname",  "osrelease",
					    "version",      "arch",      "nrcpus",
					    "cmdline",      "event_desc"}; /* as the bits */
	enum { TRACING, CPUS = 5, COMMAND, EVENTS, COUNT };
	const struct abi *abi = c->env->abi;
	const struct abi_family *features = abi_family(abi, "feature");
	struct segment table[COUNT];
	uint64_t bits = 0, at = r->data_offset + r->data_size + sizeof(table);
	struct traced traced;
	struct events events;
	struct error e = {0};
	struct utsname u;
	char *text = NULL;
	size_t size = 0, first;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -errno;
	if (uname(&u))
		memset(&u, 0, sizeof(u));
	if (events_init(&events, abi, &e) || given_attrs_add(c->attrs, &events, &e))
		or_exit(NULL);
	traced = find_traced(&events);
	first = events.formats.by_id.count ? TRACING : TRACING + 1;
	at -= first * sizeof(*table);
	for (size_t i = first; i < COUNT; i++) {
		const char *const strings[COUNT] = {NULL, u.nodename, u.release,
						    PERFABI_VERSION_TEXT, u.machine};
		const struct abi_value *feature =
			features ? abi_value(features, names[i], NULL) : NULL;
		uint64_t before = (uint64_t)ftell(f);

		if (strings[i]) {
			put_padded(f, strings[i]);
		} else if (i == TRACING) {
			put_tracing_data(f, &events, &traced);
		} else if (i == EVENTS) {
			put_event_desc(f, r, c, &events);
		} else if (i == CPUS) {
			put_u32(f, (size_t)sysconf(_SC_NPROCESSORS_CONF));
			put_u32(f, (size_t)sysconf(_SC_NPROCESSORS_ONLN));
		} else {
			size_t count = 0;

			while (command[count])
				count++;
			put_u32(f, count);
			for (size_t k = 0; k < count; k++)
				put_padded(f, command[k]);
		}
		table[i] = (struct segment){at + before, (uint64_t)ftell(f) - before};
		bits |= feature ? UINT64_C(1) << (feature->value & 63) : 0;
	}
	events_free(&events);
	free(traced.ids);
	if (traced.tracefs >= 0)
		close(traced.tracefs);
	err = ferror(f) ? -ENOMEM : 0;
	if (fclose(f))
		err = -ENOMEM;
	if (!err)
		err = write_fully(r->fd, table + first, sizeof(table) - first * sizeof(*table));
	if (!err)
		err = write_fully(r->fd, text, size);
	if (!err)
		err = write_header(r, bits);
	free(text);
	return err;
}

/*
 * Opening, mapping, draining. data_head is read before the data it covers, data_tail is written
 * after the data was copied: an acquire and a release, as the kernel's ring_buffer.c asks for.
 */

/* Whether that attr has something there. */
static bool attr_has(const struct abi *abi, const unsigned char *attr, const char *name)
{
	const struct abi_field *field = abi_field(abi, name);

	return field && attr_get(field, attr, host_order());
}

/* All that the command may run on: it can ask for others than we were started on. */
static int choose_cpus(struct capture *c)
{
	cpu_set_t *set = CPU_ALLOC(CAPTURE_CPUS), *own = CPU_ALLOC(CAPTURE_CPUS);
	size_t size = CPU_ALLOC_SIZE(CAPTURE_CPUS);
	int err = set && own ? 0 : -ENOMEM;

	if (set)
		CPU_ZERO_S(size, set);
	if (!err && attr_has(c->env->abi, c->attrs->bytes, "inherit"))
		err = usable_cpus(set, own, size);
	if (!err)
		c->buffers = calloc((size_t)CPU_COUNT_S(size, set) + 1, sizeof(*c->buffers));
	for (int cpu = 0; c->buffers && cpu < CAPTURE_CPUS; cpu++)
		if (CPU_ISSET_S((size_t)cpu, size, set))
			c->buffers[c->buffer_count++].cpu = cpu;
	if (c->buffers && !c->buffer_count)
		c->buffers[c->buffer_count++].cpu = -1;
	for (size_t i = 0; i < c->buffer_count; i++)
		memset(c->buffers[i].fds, 0xff, sizeof(c->buffers[i].fds));
	CPU_FREE(set);
	CPU_FREE(own);
	return !err && !c->buffers ? -ENOMEM : err;
}

static const char *hint(int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return "  `perfabi why` says what forbids it, and what to do\n";
	case -ENOENT:
	case -EOPNOTSUPP:
		return "  this kernel or machine has no such event\n";
	case -EINVAL:
		return "  the kernel refuses this attr; `perfabi why` with it says which check "
		       "does\n";
	default:
		return "";
	}
}

/* An exit status, after a message. */
static int cannot_capture(const char *what, size_t attr, const struct buffer *buffer, int err)
{
	char on[32] = "";

	if (buffer && buffer->cpu >= 0)
		snprintf(on, sizeof(on), " on cpu %d", buffer->cpu);
	return fail(EXIT_USAGE, "perfabi capture: cannot %s the event of attr %zu%s: %s\n%s", what,
		    attr, on, strerror(-err), hint(err));
}

/* The leader's AUX area, behind its data (aux_offset). 0 or a negative errno. */
static int map_aux(const struct capture *c, struct buffer *buffer)
{
	const size_t offset = c->page_size + buffer->size;
	void *aux;

	buffer->map->aux_offset = offset;
	buffer->map->aux_size = c->aux_size;
	aux = mmap(NULL, c->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fds[0],
		   (off_t)offset);
	if (aux == MAP_FAILED)
		return -errno;
	buffer->aux = aux;
	return 0;
}

static int open_buffer(struct capture *c, struct buffer *buffer, pid_t pid)
{
	struct call call = {
		.pid = pid, .cpu = buffer->cpu, .group_fd = -1, .flags = PERF_FLAG_FD_CLOEXEC};
	size_t size = c->pages * c->page_size;
	void *map;

	for (size_t i = 0; i < c->attrs->count; i++) {
		struct answer answer = {.fd = -1};
		int err;

		call.image = c->attrs->bytes + i * c->env->abi->attr_size;
		err = call_issue(&call, c->env, &answer);
		if (err || answer.fd < 0)
			return cannot_capture("open", i, buffer, err ? err : -answer.err);
		buffer->fds[i] = answer.fd;
		call.group_fd = buffer->fds[0];
		err = event_ioctl(c->env->abi, buffer->fds[i], "id", &buffer->ids[i]);
		if (err)
			return cannot_capture("open", i, buffer, err);
	}
	map = mmap(NULL, size + c->page_size, PROT_READ | (c->writable ? PROT_WRITE : 0),
		   MAP_SHARED, buffer->fds[0], 0);
	if (map == MAP_FAILED)
		return cannot_capture("map", 0, buffer, -errno);
	buffer->map = map;
	buffer->size = size;
	if (c->aux_size) {
		int err = map_aux(c, buffer);

		if (err)
			return fail(EXIT_USAGE,
				    "perfabi capture: --aux-pages: the first event gets no AUX "
				    "area: %s\n%s",
				    strerror(-err),
				    err == -EOPNOTSUPP ? "  its PMU has none\n" : "");
	}
	for (size_t i = 1; i < c->attrs->count; i++) {
		int err = event_ioctl(c->env->abi, buffer->fds[i], "set_output",
				      (void *)(long)buffer->fds[0]);

		if (err)
			return cannot_capture("redirect", i, buffer, err);
	}
	return 0;
}

/*
 * Opens all attrs on `pid` and maps a buffer for each cpu if one of them is inherited (the kernel
 * wants it so), else one for all; the first attr leads the group. 0, or an exit status after a
 * message. Free with capture_close() in any case.
 */
static int capture_open(struct capture *c, pid_t pid)
{
	int err = choose_cpus(c), status = 0;

	if (err)
		return cannot_capture("prepare for", 0, NULL, err);
	for (size_t i = 0; i < c->buffer_count && !status; i++)
		status = open_buffer(c, &c->buffers[i], pid);
	return status;
}

static int for_each_cpu(struct capture *c, size_t attr, const char *ioctl_name)
{
	int err = 0;

	for (size_t i = 0; i < c->buffer_count && !err; i++)
		err = event_ioctl(c->env->abi, c->buffers[i].fds[attr], ioctl_name, NULL);
	return err;
}

/* Bytes of a ring of `room` bytes, a power of two, from a position on that only grows. */
static int append_ring(struct recording *r, const unsigned char *ring, size_t room, uint64_t from,
		       uint64_t size)
{
	int err = 0;

	while (size && !err) {
		size_t at = (size_t)(from & (room - 1)), n = room - at;

		if (n > size)
			n = (size_t)size;
		err = recording_append(r, ring + at, n);
		from += n;
		size -= n;
	}
	return err;
}

/* Appends what it holds, oldest first, and frees that room. 0 or a negative errno of writing. */
static int drain_buffer(struct capture *c, struct buffer *buffer, struct recording *r, bool *any)
{
	const unsigned char *data = (const unsigned char *)buffer->map + c->page_size;
	uint64_t head = __atomic_load_n(&buffer->map->data_head, __ATOMIC_ACQUIRE);
	const uint64_t from = buffer->map->data_tail;
	/* data_head of a kernel of 32 bits goes from 2^32 - 1 to 0. */
	const uint64_t size = head < from ? (uint32_t)(head - from) : head - from;
	/* The kernel writes over nothing that has not been read. */
	int err = size > buffer->size ? -EIO : append_ring(r, data, buffer->size, from, size);

	*any = *any || size;
	if (!err)
		__atomic_store_n(&buffer->map->data_tail, head, __ATOMIC_RELEASE);
	return err;
}

/*
 * Appends the trace as perf does: a record AUXTRACE, and behind it the bytes, zero-padded to a
 * multiple of 8. Frees their room, and while the command is running lets the event go on, which a
 * full area has stopped. 0 or a negative errno.
 */
static int drain_aux(struct capture *c, struct buffer *buffer, pid_t pid, bool running,
		     struct recording *r, bool *any)
{
	static const unsigned char zeros[8];
	const uint64_t head = __atomic_load_n(&buffer->map->aux_head, __ATOMIC_ACQUIRE);
	const uint64_t from = buffer->map->aux_tail, size = head - from;
	const size_t padding = (size_t)(-size & 7);
	const struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t data_size, offset, reference;
		uint32_t idx, tid, cpu, reserved;
	} record = {.type = (uint32_t)abi_number(c->env->abi, "tool_record", "auxtrace"),
		    .size = sizeof(record),
		    .data_size = size + padding,
		    .offset = from,
		    .idx = (uint32_t)(buffer - c->buffers),
		    .tid = buffer->cpu < 0 ? (uint32_t)pid : (uint32_t)-1,
		    .cpu = (uint32_t)buffer->cpu};
	int err = size > c->aux_size || !record.type ? -EIO : 0;

	if (!size)
		return 0;
	*any = true;
	if (!err)
		err = recording_append(r, &record, sizeof(record));
	if (!err)
		err = append_ring(r, buffer->aux, c->aux_size, from, size);
	if (!err)
		err = recording_append(r, zeros, padding);
	if (!err)
		__atomic_store_n(&buffer->map->aux_tail, head, __ATOMIC_RELEASE);
	if (!err && running)
		err = event_ioctl(c->env->abi, buffer->fds[0], "enable", NULL);
	return err;
}

static void capture_close(struct capture *c)
{
	for (size_t i = 0; i < c->buffer_count; i++) {
		struct buffer *buffer = &c->buffers[i];

		if (buffer->aux)
			munmap(buffer->aux, c->aux_size);
		if (buffer->map)
			munmap(buffer->map, c->page_size + buffer->size);
		for (size_t k = CAPTURE_ATTRS; k--;)
			if (buffer->fds[k] >= 0)
				close(buffer->fds[k]);
	}
	free(c->buffers);
	*c = (struct capture){0};
}

enum { PAGES = 128, PAGES_MAX = 1 << 20, WAIT_MS = 100, NOT_FOUND = 127, ATTR_JSON_MAX = 1 << 20 };

struct settings {
	const char *attr, *output, *folder;
	size_t pages, aux_pages;
	bool raw;
	char **command;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

static int take_pages(void *pages, const char *text, const struct option_row *row, const char *of)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || !n || (n & (n - 1)) || n > PAGES_MAX)
		return option_bad_value(of, row->name, text, "a power of two, at most 1048576");
	*(size_t *)pages = n;
	return 0;
}

static const struct option_row rows[] = {
	{"attr", 'a', OPTION_TEXT, "FILE",
	 "read the attr from FILE (- for standard input); it can use the $variables of cases",
	 AT(struct settings, attr)},
	{"output", 'o', OPTION_TEXT, "FILE",
	 "write to FILE (default: perf.data, or perf.ring with --raw); an existing file is kept as "
	 "FILE.old",
	 AT(struct settings, output)},
	{"pages", 'm', OPTION_TAKEN, "N",
	 "use N data pages for each buffer, a power of two (default 128)",
	 AT(struct settings, pages), .take = take_pages},
	{"aux-pages", 0, OPTION_TAKEN, "N",
	 "map an AUX area of N pages, a power of two, for the first event, whose PMU must trace; "
	 "perf(1) needs --no-itrace to read the file",
	 AT(struct settings, aux_pages), .take = take_pages},
	{"raw", 0, OPTION_SET, NULL,
	 "write an image of the mmap area as it is when COMMAND ends; the buffer is not drained, "
	 "so it holds the first records, or with write_backward the last; not possible with "
	 "inherit, which needs a buffer for each cpu",
	 AT(struct settings, raw)},
	{"cases", 'c', OPTION_TEXT, "DIR", "use DIR/abi instead of the built-in tables",
	 AT(struct settings, folder)},
	{0}};

static const struct command_line command_line = {
	.program = "perfabi capture",
	.usage = "usage: perfabi capture --attr A.json [OPTIONS] -- COMMAND [ARGUMENT...]\n"
		 "\n"
		 "Opens the events of A.json on COMMAND before it starts, and writes their records "
		 "to a file that\n"
		 "perfabi-decode and perf(1) read, until COMMAND ends. A.json is an attr as cases "
		 "write it, or a\n"
		 "list of them: the first is the group leader, and the sample_type of each must "
		 "have identifier\n"
		 "or id, so that each record names its event.\n"
		 "\n",
	.rows = rows,
	.end = "\n"
	       "Exit status: 0 success, 1 COMMAND failed, 2 wrong usage or an attr that the kernel "
	       "refuses,\n"
	       "3 reading or writing failed.\n",
	.stops_at_operand = true};

static void begin(void *settings)
{
	((struct settings *)settings)->pages = PAGES;
}

static int check_settings(struct settings *s)
{
	struct stat attr, output;

	if (!s->attr || !s->command[0])
		return fail(EXIT_USAGE,
			    "perfabi capture: %s\n  `perfabi capture --help` lists the options\n",
			    s->attr ? "no command to run" : "no --attr");
	if (s->output && !strcmp(s->output, "-"))
		return fail(EXIT_USAGE, "perfabi capture: --output -: a recording needs a file, "
					"whose beginning is written last\n");
	if (s->raw && s->aux_pages)
		return fail(EXIT_USAGE, "perfabi capture: --aux-pages: --raw writes no AUX area\n");
	if (!s->output)
		s->output = s->raw ? "perf.ring" : "perf.data";
	/* The file that is read is not to be written. */
	if (!(strcmp(s->attr, "-") ? stat(s->attr, &attr) : fstat(STDIN_FILENO, &attr)) &&
	    S_ISREG(attr.st_mode) && !stat(s->output, &output) && attr.st_dev == output.st_dev &&
	    attr.st_ino == output.st_ino)
		return fail(EXIT_USAGE, "perfabi capture: --output: %s is the file of --attr\n",
			    s->output);
	return 0;
}

static int take_attrs(struct attr_list *attrs, const struct settings *s, struct environment *env)
{
	static const char prefix[] = "$tracepoint.";
	struct error e = {0};
	struct scope scope = {.env = env};
	struct vars vars = scope_vars(&scope);
	size_t size;
	char *text = text_read(s->attr, &size, ATTR_JSON_MAX);
	int err;

	if (!text)
		return fail(EXIT_USAGE, "perfabi capture: cannot read %s: %s\n", s->attr,
			    strerror(errno));
	if (strlen(text) != size) {
		err = fail(EXIT_USAGE,
			   "perfabi capture: %s: expected JSON, got a NUL byte at %zu\n", s->attr,
			   strlen(text));
		free(text);
		return err;
	}
	/* A tracepoint's id is looked up before it is asked for. */
	for (const char *at = text; (at = strstr(at, prefix)); at++) {
		const char *begin = at + sizeof(prefix) - 1;
		size_t n = strcspn(begin, "\"");
		char name[96];

		if (n >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n, begin);
		environment_tracepoint(env, name);
	}
	err = attr_list_read(attrs, env->abi, env->arch, text, s->attr, &vars, &e);
	free(text);
	if (err)
		return fail_with("perfabi capture", &e);
	return attrs->count <= CAPTURE_ATTRS
		       ? 0
		       : fail(EXIT_USAGE,
			      "perfabi capture: %s: expected at most %d attrs, got %zu\n", s->attr,
			      CAPTURE_ATTRS, attrs->count);
}

/* Nobody could say afterwards which event a record is of. */
static int check_told_apart(const struct abi *abi, const struct attr_list *attrs)
{
	struct error e = {0};
	struct events events;
	int status = 0, err = events_init(&events, abi, &e);

	for (size_t i = 0; i < attrs->count && err >= 0; i++)
		err = events_add(&events, attrs->bytes + i * abi->attr_size, abi->attr_size, &e);
	for (size_t i = 0; i < attrs->count && err >= 0 && !status; i++) {
		const unsigned char *attr = attrs->bytes + i * abi->attr_size;

		/* One that only counts is read, if at all; samples with an id can be told apart. */
		if ((!attr_has(abi, attr, "sample_period") &&
		     !attr_has(abi, attr, "sample_id_all")) ||
		    events.count == 1 || events.list[i].shape->sample_id >= 0)
			continue;
		say(stderr,
		    "perfabi capture: nothing in the records of attr %zu tells them from those of "
		    "the others\n"
		    "  add identifier to the sample_type of each attr\n",
		    i);
		status = EXIT_USAGE;
	}
	events_free(&events);
	if (err < 0 && error_is_set(&e))
		return fail_with("perfabi capture", &e);
	return err < 0 ? fail(EXIT_HARNESS, "perfabi capture: %s\n", strerror(-err)) : status;
}

struct recorded_command {
	pid_t pid;
	int go;     /* a byte here, and it starts */
	int failed; /* errno comes from here if it cannot */
};

/* Starts a process that waits before it becomes the command. */
static int start_command(struct recorded_command *command, char **argv)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return -errno;
	command->pid = fork();
	if (command->pid < 0)
		return -errno;
	if (!command->pid) {
		char byte;

		close(go[1]);
		if (read(go[0], &byte, 1) == 1) {
			signal(SIGXFSZ, SIG_DFL); /* main() ignores it */
			execvp(argv[0], argv);
			write_fully(failed[1], &errno, sizeof(errno));
		}
		_exit(NOT_FOUND);
	}
	close(go[0]);
	close(failed[1]);
	command->go = go[1];
	command->failed = failed[0];
	return 0;
}

/* Writes all before the data; `fd` is empty and stays the caller's. 0 or a negative errno. */
static int recording_begin(struct recording *r, int fd, const struct capture *c)
{
	const size_t of_attr = c->buffer_count * sizeof(uint64_t); /* bytes of its ids */
	const size_t attr_size = c->env->abi->attr_size, count = c->attrs->count;
	const struct abi_field *field = abi_field(c->env->abi, "size");
	unsigned char *attrs = or_exit(calloc(count, attr_size));
	uint64_t size = 0;
	int err;

	/* perf reads entries of the size that their attr says: all get the largest. */
	for (size_t i = 0; i < count; i++) {
		uint64_t n = attr_get(field, c->attrs->bytes + i * attr_size, host_order());

		size = n > size ? n : size;
	}
	size = size < attr_size ? size : attr_size;
	*r = (struct recording){.fd = fd, .entry_size = size + sizeof(struct segment)};
	r->attrs_offset = PERFDATA_HEADER + count * of_attr;
	r->attrs_size = count * r->entry_size;
	r->data_offset = r->attrs_offset + r->attrs_size;
	err = write_header(r, 0); /* without a size: not closed yet */
	if (!err && lseek(fd, PERFDATA_HEADER, SEEK_SET) < 0)
		err = -errno;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < c->buffer_count && !err; k++)
			err = write_fully(fd, &c->buffers[k].ids[i], sizeof(uint64_t));
	for (size_t i = 0; i < count && !err; i++) {
		const struct segment ids = {PERFDATA_HEADER + i * of_attr, of_attr};
		unsigned char *attr =
			memcpy(attrs + i * attr_size, c->attrs->bytes + i * attr_size, attr_size);

		attr_set(field, attr, host_order(), size);
		err = write_fully(fd, attr, size);
		if (!err)
			err = write_fully(fd, &ids, sizeof(ids));
	}
	free(attrs);
	return err;
}

/* perf orders records between these marks, one after each round over all buffers. */
static int finish_round(struct recording *r, const struct abi *abi)
{
	const struct {
		uint32_t type;
		uint16_t misc, size;
	} header = {(uint32_t)abi_number(abi, "tool_record", "finished_round"), 0, sizeof(header)};

	return header.type ? recording_append(r, &header, sizeof(header)) : 0;
}

/* Waits for a buffer to fill to its watermark, or for the command to end. */
static bool wait_for_more(const struct capture *c, struct pollfd *polls, int pidfd, pid_t pid,
			  int *status)
{
	for (size_t i = 0; i < c->buffer_count; i++)
		polls[i] = (struct pollfd){c->buffers[i].hung_up ? -1 : c->buffers[i].fds[0],
					   POLLIN, 0};
	polls[c->buffer_count] = (struct pollfd){pidfd, POLLIN, 0};
	poll(polls, c->buffer_count + 1, WAIT_MS);
	for (size_t i = 0; i < c->buffer_count; i++)
		if (polls[i].revents &
		    (POLLHUP | POLLERR)) /* the task is gone: it would never wait again */
			c->buffers[i].hung_up = true;
	if (interrupted) {
		kill(pid, interrupted);
		interrupted = 0;
	}
	return waitpid(pid, status, WNOHANG) == 0;
}

static int record(struct capture *c, struct recording *r, pid_t pid, bool raw, int *status)
{
	struct pollfd *polls = calloc(c->buffer_count + 1, sizeof(*polls));
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* -1 before 5.3: then the timeout does */
	bool running = true, wrote = false, any;
	int err = polls ? 0 : -ENOMEM;

	while (running && !err) {
		running = wait_for_more(c, polls, pidfd, pid, status);
		if (!running)
			for_each_cpu(c, 0, "disable"); /* the leaders, and with them all */
		any = false;
		for (size_t i = 0; i < c->buffer_count && !raw && !err; i++)
			err = drain_buffer(c, &c->buffers[i], r, &any);
		for (size_t i = 0; i < c->buffer_count && c->aux_size && !raw && !err; i++)
			err = drain_aux(c, &c->buffers[i], pid, running, r, &any);
		if (!err && any)
			err = finish_round(r, c->env->abi);
		wrote = wrote || any;
	}
	if (!err && !raw && !wrote) /* a file without any data is one that was not closed */
		err = finish_round(r, c->env->abi);
	if (running) {
		kill(pid, SIGTERM);
		waitpid(pid, status, 0);
	}
	if (pidfd >= 0)
		close(pidfd);
	free(polls);
	return err;
}

/* What is in the file, by the decoder: proof that it can be read. */
static void say_result(const struct settings *s, int fd)
{
	struct perfabi_options options = {.no_summary = true};
	struct perfabi *perfabi = perfabi_new(s->folder, NULL, 0);
	struct perfabi_result result;

	if (perfabi && !lseek(fd, 0, SEEK_SET) &&
	    !perfabi_decode(perfabi, fd, &options, out_drop, NULL, &result)) {
		say(stderr, "perfabi capture: %s: records: %llu, lost: %llu", s->output,
		    (unsigned long long)result.records, (unsigned long long)result.lost);
		say(stderr, ", errors: %llu, warnings: %llu\n", (unsigned long long)result.errors,
		    (unsigned long long)result.warnings);
	}
	perfabi_free(perfabi);
}

/* What was at the path is PATH.old from now on; an empty file is nothing to keep. */
static int keep_old(const char *path)
{
	char old[PATH_MAX];
	struct stat st;

	if (stat(path, &st) || !st.st_size)
		return 0;
	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return -ENAMETOOLONG;
	return rename(path, old) ? -errno : 0;
}

/*
 * Events are open and the file is: runs the command and writes. What is before the first record is
 * written at once: a command is not run whose recording cannot be written. Until the command is
 * there what is in an older file stays.
 */
static int run_and_record(const struct settings *s, struct capture *c,
			  struct recorded_command *command, struct outfile *output)
{
	const struct abi *abi = c->env->abi;
	struct recording r = {0};
	int status = 0, err = s->raw ? 0 : recording_begin(&r, output->fd, c), cannot = 0;

	for (size_t i = 0; i < c->attrs->count && !err; i++)
		if (attr_has(abi, c->attrs->bytes + i * abi->attr_size, "disabled") &&
		    !attr_has(abi, c->attrs->bytes + i * abi->attr_size, "enable_on_exec"))
			err = for_each_cpu(c, i, "enable");
	if (!err && write(command->go, "", 1) != 1)
		cannot = errno;
	if (!err && !cannot) { /* it runs, or tells with which errno exec failed */
		close(command->go);
		command->go = -1;
		if (read(command->failed, &cannot, sizeof(cannot)) != sizeof(cannot))
			cannot = 0;
	}
	if (cannot)
		return fail(EXIT_USAGE, "perfabi capture: cannot run %s: %s\n", s->command[0],
			    strerror(cannot));
	if (!err && output->temporary)
		err = keep_old(output->path);
	if (!err)
		err = outfile_place(output);
	if (!err)
		err = record(c, &r, command->pid, s->raw, &status);
	if (!err)
		err = s->raw ? write_fully(output->fd, c->buffers[0].map,
					   c->page_size + c->buffers[0].size)
			     : recording_end(&r, c, s->command);
	if (err)
		return fail(EXIT_HARNESS, "perfabi capture: writing %s: %s\n", s->output,
			    strerror(-err));
	if (!s->raw)
		say_result(s, output->fd);
	if (WIFSIGNALED(status))
		say(stderr, "perfabi capture: %s: killed by signal %d\n", s->command[0],
		    WTERMSIG(status));
	else if (WEXITSTATUS(status))
		say(stderr, "perfabi capture: %s: exit status %d\n", s->command[0],
		    WEXITSTATUS(status));
	return status ? EXIT_FAILED : 0;
}

static int capture_into_file(const struct settings *s, const struct environment *env,
			     const struct attr_list *attrs)
{
	bool backward = attr_has(env->abi, attrs->bytes, "write_backward");
	const struct sigaction action = {.sa_handler = on_signal};
	struct recorded_command command = {.pid = -1, .go = -1, .failed = -1};
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct capture c = {.env = env,
			    .attrs = attrs,
			    .page_size = page_size,
			    .pages = s->pages,
			    .aux_size = s->aux_pages * page_size,
			    .writable = !(s->raw && backward)};
	struct outfile output;
	int status, err;

	if (backward && !s->raw)
		return fail(EXIT_USAGE,
			    "perfabi capture: an event with write_backward overwrites what nobody "
			    "has read, and is read when it has ended\n"
			    "  perfabi capture --raw writes that, an image of its buffer\n");
	err = start_command(&command, s->command);
	if (err)
		return fail(EXIT_HARNESS, "perfabi capture: cannot start a process: %s\n",
			    strerror(-err));
	status = capture_open(&c, command.pid);
	if (!status && s->raw && c.buffer_count > 1)
		status = fail(EXIT_USAGE, "perfabi capture: --raw takes one buffer, and inherit "
					  "needs one a cpu\n");
	if (!status) {
		err = outfile_open(&output, s->output, 0600);
		if (err) {
			status = fail(EXIT_HARNESS, "perfabi capture: cannot write %s: %s\n",
				      s->output, strerror(-err));
		} else {
			sigaction(SIGINT, &action, NULL);
			sigaction(SIGTERM, &action, NULL);
			status = run_and_record(s, &c, &command, &output);
		}
		outfile_close(&output);
	}
	capture_close(&c);
	if (command.go >= 0)
		close(command.go); /* it ends without having become anything */
	close(command.failed);
	waitpid(command.pid, NULL, 0);
	return status;
}

static int run(void *settings, char **operands)
{
	struct settings *s = settings;
	struct sources sources = abi_builtin();
	struct environment env;
	struct attr_list attrs = {0};
	struct error e = {0};
	struct abi *abi;
	int status;

	s->command = operands;
	status = check_settings(s);
	if (status)
		return status;
	abi = s->folder && sources_read(&sources, s->folder, &e) ? NULL : abi_load(&sources, &e);
	if (!abi)
		return fail_with("perfabi capture", &e);
	status = barred_by_death("perfabi capture");
	if (status)
		return status;
	environment_read(&env, abi);
	/* so that a run that wants quiet says who is in its way */
	prctl(PR_SET_NAME, "perfabi-capture");
	status = take_attrs(&attrs, s, &env);
	if (!status)
		status = check_told_apart(abi, &attrs);
	if (!status)
		status = capture_into_file(s, &env, &attrs);
	attr_list_free(&attrs);
	environment_free(&env);
	abi_free(abi);
	if (s->folder)
		sources_free(&sources);
	return status;
}

const struct command capture_command = {
	"capture",      "record events while a command runs, for perfabi-decode and perf",
	&command_line,  sizeof(struct settings),
	.begin = begin, .run = run};
