/* SPDX-License-Identifier: MIT */
/*
 * Opening, mapping, draining. data_head is read before the data it covers, data_tail is written
 * after the data was copied: an acquire and a release, as the kernel's ring_buffer.c asks for.
 */
#include "capture/capture.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "call/call.h"
#include "input/perfdata.h"
#include "machine/proc.h"
#include "perfabi.h"
#include "text/out.h"

static bool attr_flag(const struct capture *c, size_t i, const char *name)
{
	const struct abi_field *field = abi_field(c->abi, name);

	return field && attr_get(field, c->attrs->bytes + i * c->abi->attr_size, host_order());
}

static bool any_attr(const struct capture *c, const char *name)
{
	for (size_t i = 0; i < c->attrs->count; i++)
		if (attr_flag(c, i, name))
			return true;
	return false;
}

static int find_head_and_tail(struct capture *c)
{
	c->data_head = mmap_page_offset(c->abi, "data_head");
	c->data_tail = mmap_page_offset(c->abi, "data_tail");
	return c->data_head < 0 || c->data_tail < 0 ? -EINVAL : 0;
}

/* All that the command may run on: it can ask for others than we were started on. */
static int choose_cpus(struct capture *c)
{
	cpu_set_t *set = CPU_ALLOC(CAPTURE_CPUS), *own = CPU_ALLOC(CAPTURE_CPUS);
	size_t size = CPU_ALLOC_SIZE(CAPTURE_CPUS);
	int err = 0;

	if (!set || !own) {
		CPU_FREE(set);
		CPU_FREE(own);
		return -ENOMEM;
	}
	CPU_ZERO_S(size, set);
	if (any_attr(c, "inherit"))
		err = usable_cpus(set, own, size);
	c->buffers = calloc((size_t)CPU_COUNT_S(size, set) + 1, sizeof(*c->buffers));
	for (int cpu = 0; c->buffers && !err && cpu < CAPTURE_CPUS; cpu++)
		if (CPU_ISSET_S((size_t)cpu, size, set))
			c->buffers[c->buffer_count++].cpu = cpu;
	if (c->buffers && !c->buffer_count)
		c->buffers[c->buffer_count++].cpu = -1;
	CPU_FREE(set);
	CPU_FREE(own);
	for (size_t i = 0; i < c->buffer_count; i++)
		for (size_t k = 0; k < CAPTURE_ATTRS; k++)
			c->buffers[i].fds[k] = -1;
	return c->buffers ? err : -ENOMEM;
}

static int open_attr(struct capture *c, struct buffer *buffer, size_t i, pid_t pid)
{
	const struct abi_family *flags = abi_family(c->abi, "open_flags");
	const struct abi_value *cloexec = abi_value(flags, "fd_cloexec", NULL);
	long fd = syscall(SYS_perf_event_open, c->attrs->bytes + i * c->abi->attr_size, pid,
			  buffer->cpu, i ? buffer->fds[0] : -1, cloexec ? cloexec->value : 0);

	if (fd < 0)
		return -errno;
	buffer->fds[i] = (int)fd;
	return event_ioctl(c->abi, buffer->fds[i], "id", &buffer->ids[i]);
}

static int map_buffer(struct capture *c, struct buffer *buffer)
{
	void *map = mmap(NULL, (c->pages + 1) * c->page_size,
			 PROT_READ | (c->writable ? PROT_WRITE : 0), MAP_SHARED, buffer->fds[0], 0);

	if (map == MAP_FAILED)
		return -errno;
	buffer->map = map;
	buffer->size = c->pages * c->page_size;
	return 0;
}

static int open_buffer(struct capture *c, struct buffer *buffer, pid_t pid, struct capture_error *e)
{
	int err;

	for (size_t i = 0; i < c->attrs->count; i++) {
		*e = (struct capture_error){"open", i, buffer->cpu, 0};
		err = open_attr(c, buffer, i, pid);
		if (err)
			return err;
	}
	*e = (struct capture_error){"map", 0, buffer->cpu, 0};
	err = map_buffer(c, buffer);
	for (size_t i = 1; i < c->attrs->count && !err; i++) {
		*e = (struct capture_error){"redirect", i, buffer->cpu, 0};
		err = event_ioctl(c->abi, buffer->fds[i], "set_output",
				  (void *)(long)buffer->fds[0]);
	}
	return err;
}

int capture_open(struct capture *c, const struct abi *abi, const struct attr_list *attrs, pid_t pid,
		 size_t pages, bool writable, struct capture_error *e)
{
	int err;

	*c = (struct capture){.abi = abi,
			      .attrs = attrs,
			      .page_size = (size_t)sysconf(_SC_PAGESIZE),
			      .pages = pages,
			      .writable = writable};
	*e = (struct capture_error){"prepare for", 0, -1, 0};
	err = attrs->count > CAPTURE_ATTRS ? -E2BIG : find_head_and_tail(c);
	if (!err)
		err = choose_cpus(c);
	for (size_t i = 0; i < c->buffer_count && !err; i++)
		err = open_buffer(c, &c->buffers[i], pid, e);
	e->err = err;
	return err;
}

static int for_each_cpu(struct capture *c, size_t attr, const char *ioctl_name)
{
	int err = 0;

	for (size_t i = 0; i < c->buffer_count && !err; i++)
		err = event_ioctl(c->abi, c->buffers[i].fds[attr], ioctl_name, NULL);
	return err;
}

int capture_enable(struct capture *c)
{
	int err = 0;

	for (size_t i = 0; i < c->attrs->count && !err; i++)
		if (attr_flag(c, i, "disabled") && !attr_flag(c, i, "enable_on_exec"))
			err = for_each_cpu(c, i, "enable");
	return err;
}

int capture_disable(struct capture *c)
{
	return for_each_cpu(c, 0, "disable");
}

static uint64_t load_head(const struct capture *c, const struct buffer *buffer)
{
	return __atomic_load_n((const uint64_t *)(const void *)(buffer->map + c->data_head),
			       __ATOMIC_ACQUIRE);
}

static int drain_buffer(struct capture *c, struct buffer *buffer, struct recording *r, bool *any)
{
	uint64_t *tail = (uint64_t *)(void *)(buffer->map + c->data_tail);
	const unsigned char *data = buffer->map + c->page_size;
	uint64_t from = *tail, head = load_head(c, buffer);
	/* data_head of a kernel of 32 bits goes from 2^32 - 1 to 0. */
	uint64_t left = head < from ? (uint32_t)(head - from) : head - from;
	/* The kernel writes over nothing that has not been read. */
	int err = left > buffer->size ? -EIO : 0;

	while (left && !err) {
		size_t at = (size_t)(from & (buffer->size - 1)), n = buffer->size - at;

		if (n > left)
			n = (size_t)left;
		err = recording_append(r, data + at, n);
		from += n;
		left -= n;
		*any = true;
	}
	if (!err)
		__atomic_store_n(tail, head, __ATOMIC_RELEASE);
	return err;
}

int capture_drain(struct capture *c, struct recording *r, bool *any)
{
	int err = 0;

	for (size_t i = 0; i < c->buffer_count && !err; i++)
		err = drain_buffer(c, &c->buffers[i], r, any);
	return err;
}

int capture_write_image(const struct capture *c, int fd)
{
	return write_fully(fd, c->buffers[0].map, c->page_size + c->buffers[0].size);
}

void capture_close(struct capture *c)
{
	for (size_t i = 0; i < c->buffer_count; i++) {
		struct buffer *buffer = &c->buffers[i];

		if (buffer->map)
			munmap(buffer->map, c->page_size + buffer->size);
		for (size_t k = CAPTURE_ATTRS; k--;)
			if (buffer->fds[k] >= 0)
				close(buffer->fds[k]);
	}
	free(c->buffers);
	*c = (struct capture){0};
}

/*
 * The other side of decoder/input/perfdata.c, in this machine's byte order.
 */

enum { NAME_ALIGN = 64 };

struct text {
	unsigned char *bytes;
	size_t size;
};

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

int recording_begin(struct recording *r, int fd, const struct recording_attr *attrs, size_t count,
		    size_t attr_size)
{
	static const unsigned char empty[PERFDATA_HEADER];
	uint64_t at = PERFDATA_HEADER;
	int err = write_fully(fd, empty, sizeof(empty));

	*r = (struct recording){.fd = fd, .entry_size = attr_size + sizeof(struct segment)};
	for (size_t i = 0; i < count && !err; i++)
		err = write_fully(fd, attrs[i].ids, attrs[i].id_count * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++)
		r->attrs_offset += attrs[i].id_count * sizeof(uint64_t);
	r->attrs_offset += PERFDATA_HEADER;
	r->attrs_size = count * r->entry_size;
	for (size_t i = 0; i < count && !err; i++) {
		struct segment ids = {at, attrs[i].id_count * sizeof(uint64_t)};

		at += ids.size;
		err = write_fully(fd, attrs[i].attr, attr_size);
		if (!err)
			err = write_fully(fd, &ids, sizeof(ids));
	}
	r->data_offset = r->attrs_offset + r->attrs_size;
	return err ? err : write_header(r, 0); /* without a size: not closed yet */
}

int recording_append(struct recording *r, const void *bytes, size_t size)
{
	int err = write_fully(r->fd, bytes, size);

	if (!err)
		r->data_size += size;
	return err;
}

static void put_u32(struct text *text, uint32_t value)
{
	memcpy(text->bytes + text->size, &value, sizeof(value));
	text->size += sizeof(value);
}

static size_t padded(const char *string)
{
	return (strlen(string) + 1 + NAME_ALIGN - 1) & ~(size_t)(NAME_ALIGN - 1);
}

/* A length, then the text with its NUL, zero-padded to a multiple of 64. */
static void put_string(struct text *text, const char *string)
{
	size_t n = padded(string);

	put_u32(text, (uint32_t)n);
	memset(text->bytes + text->size, 0, n);
	memcpy(text->bytes + text->size, string, strlen(string));
	text->size += n;
}

static void put_command(struct text *text, char *const command[])
{
	uint32_t count = 0;

	while (command[count])
		count++;
	put_u32(text, count);
	for (uint32_t i = 0; i < count; i++)
		put_string(text, command[i]);
}

static void put_nrcpus(struct text *text)
{
	put_u32(text, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	put_u32(text, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

/* What all sections take together: numbers, the names of uname(2) and the version, the command. */
static size_t longest_text(char *const command[])
{
	size_t longest = 8192;

	for (size_t i = 0; command[i]; i++)
		longest += 4 + padded(command[i]);
	return longest;
}

/* A section that ends here: its bit, by the feature's name, and its place in the table. */
static void end_section(struct segment *section, uint64_t begin, const struct text *text,
			size_t before, const struct abi_family *features, const char *name,
			uint64_t *bits)
{
	const struct abi_value *feature = features ? abi_value(features, name, NULL) : NULL;

	*section = (struct segment){begin + before, text->size - before};
	if (feature)
		*bits |= UINT64_C(1) << (feature->value & 63);
}

int recording_end(struct recording *r, const struct abi *abi, char *const command[])
{
	const struct abi_family *features = abi_family(abi, "feature");
	enum {
		HOSTNAME,
		OSRELEASE,
		VERSION,
		ARCH,
		NRCPUS,
		CMDLINE,
		COUNT
	}; /* in the bits' order */
	static const char *const names[COUNT] = {"hostname", "osrelease", "version",
						 "arch",     "nrcpus",    "cmdline"};
	struct segment table[COUNT];
	struct text text = {malloc(longest_text(command)), 0};
	uint64_t bits = 0, at = r->data_offset + r->data_size + sizeof(table);
	struct utsname u;
	int err;

	if (!text.bytes)
		return -ENOMEM;
	if (uname(&u))
		memset(&u, 0, sizeof(u));
	for (size_t i = 0; i < COUNT; i++) {
		const char *const strings[COUNT] = {u.nodename, u.release, PERFABI_VERSION_TEXT,
						    u.machine};
		size_t before = text.size;

		if (strings[i])
			put_string(&text, strings[i]);
		else if (i == NRCPUS)
			put_nrcpus(&text);
		else
			put_command(&text, command);
		end_section(&table[i], at, &text, before, features, names[i], &bits);
	}
	err = write_fully(r->fd, table, sizeof(table));
	if (!err)
		err = write_fully(r->fd, text.bytes, text.size);
	if (!err)
		err = write_header(r, bits);
	free(text.bytes);
	return err;
}
