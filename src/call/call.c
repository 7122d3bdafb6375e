/* SPDX-License-Identifier: MIT */
/*
 * perf_event_open(2), with the attr in any memory that a program could pass.
 */
#include "call/call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/names.h"
#include "plan/plan.h"
#include "text/json_text.h"

/* Past this many pages nothing of attr is laid out: the kernel refuses more than one unread. */
enum { ATTR_PAGES = 1 };

static const struct {
	const char *name;
	enum memory memory;
} memories[] = {
	{"writable", MEMORY_WRITABLE}, {"read-only", MEMORY_READ_ONLY}, {"null", MEMORY_NULL}};

/* A reading of `open`; its values are the call's, with the variables that are known. */
struct open_reading {
	struct call *call;
	const struct abi *abi;
	const struct abi_arch *arch;
	struct vars vars;
};

static int read_open_attr(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const struct open_reading *r = d->context;

	(void)none;
	return attr_from_json(r->abi, r->arch, json, &r->vars, w, r->call->image, d->e);
}

static int read_memory(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const struct open_reading *r = d->context;
	const json_t *mapped = json_object_get(json, "mapped");
	struct where at = where_key(w, "mapped");
	struct value value;

	(void)none;
	for (size_t i = 0; json_is_string(json) && i < sizeof(memories) / sizeof(memories[0]);
	     i++) {
		if (strcmp(memories[i].name, json_string_value(json)))
			continue;
		r->call->memory = memories[i].memory;
		return 0;
	}
	if (!mapped || json_object_size(json) != 1)
		return error_value(d->e, w, json,
				   "\"writable\", \"read-only\", \"null\" or {\"mapped\": BYTES}");
	if (value_eval(mapped, NULL, &r->vars, &at, &value, d->e))
		return -EINVAL;
	if (value.known && (value.negative || value.bits > 1 << 20))
		return error_value(d->e, &at, mapped, "0 to 1048576 bytes");
	r->call->memory = MEMORY_CUT;
	r->call->mapped = value.bits;
	return 0;
}

static int read_poke(struct call *call, const char *offset, const json_t *byte,
		     const struct vars *vars, const struct where *w, struct error *e)
{
	json_t *text = json_string(offset);
	struct value at = {0}, value = {0};
	int err = !text || value_eval(text, NULL, vars, w, &at, e) ||
		  value_eval(byte, NULL, vars, w, &value, e);

	json_decref(text);
	if (err)
		return -EINVAL;
	if (value.known && value.bits > 255)
		return error_value(e, w, byte, "a byte, 0 to 255");
	if (at.known && (at.negative || at.bits >= POKE_OFFSET_MAX))
		return error_text(e, w, offset, "an offset from 0 to %d", POKE_OFFSET_MAX - 1);
	if (call->poke_count == POKES_MAX)
		return error_text(e, w, "more", "at most %d bytes", POKES_MAX);
	for (size_t i = 0; at.known && i < call->poke_count; i++)
		if (call->pokes[i].offset == at.bits)
			return error_text(e, w, offset, "each byte once");
	if (at.known && value.known)
		call->pokes[call->poke_count++] =
			(struct poke){.offset = at.bits, .byte = (unsigned char)value.bits};
	return 0;
}

static int read_pokes(struct doc *d, const json_t *bytes, void *none, const struct where *w)
{
	const struct open_reading *r = d->context;
	const char *offset;
	json_t *byte;

	(void)none;
	if (!json_is_object(bytes))
		return error_value(d->e, w, bytes, "an object of \"OFFSET\": byte");
	json_object_foreach((json_t *)bytes, offset, byte) {
		int err = read_poke(r->call, offset, byte, &r->vars, AT_KEY(w, offset), d->e);

		if (err)
			return err;
	}
	return 0;
}

static int read_s32(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	const struct open_reading *r = d->context;
	struct value value;

	if (value_eval(json, NULL, &r->vars, w, &value, d->e))
		return -EINVAL;
	if (value.known &&
	    (value.negative ? (int64_t)value.bits < INT32_MIN : value.bits > INT32_MAX))
		return error_value(d->e, w, json, "a value of 32 signed bits");
	*(int32_t *)at = (int32_t)value.bits;
	return 0;
}

static int read_call_flags(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const struct open_reading *r = d->context;
	struct value value;

	(void)none;
	if (value_eval(json, abi_family(r->abi, "open_flags"), &r->vars, w, &value, d->e))
		return -EINVAL;
	r->call->flags = value.bits;
	return 0;
}

/* In case files bases_apply() has put the base in. */
static int refuse_base(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	(void)none;
	return error_value(d->e, w, json, "no base: only files of cases have them");
}

const struct doc_type call_type = {
	"open (attr, bytes, memory, pid, cpu, group_fd, flags)",
	.rows = (const struct doc_row[]){
		{"base", DOC_READ, .read = refuse_base, .takes = "line",
		 .help = "a base event of vehicles.json, into which the rest is merged"},
		{"attr", DOC_READ, .read = read_open_attr, .takes = "attr_or_parameter",
		 .help = "struct perf_event_attr, field by field; size defaults to the newest in "
			 "cases/abi, every other field to 0"},
		{"bytes", DOC_READ, .read = read_pokes, .takes = "bytes",
		 .help = "single bytes that overwrite the attr, by offset"},
		{"memory", DOC_READ, .read = read_memory, .takes = "memory",
		 .help = "the attr's memory; with {\"mapped\": N} only the first N bytes are "
			 "readable; writable is the default"},
		{"pid", DOC_READ, AT(struct call, pid), .read = read_s32, .takes = "number",
		 .help = "0 by default"},
		{"cpu", DOC_READ, AT(struct call, cpu), .read = read_s32, .takes = "number",
		 .help = "-1 by default"},
		{"group_fd", DOC_READ, AT(struct call, group_fd), .read = read_s32,
		 .takes = "number", .help = "-1 by default"},
		{"flags", DOC_READ, .read = read_call_flags, .takes = "flags",
		 .help = "perf_event_open(2)'s flags; 0 by default"},
		{0}}};

int call_from_json(struct call *call, const struct abi *abi, const struct abi_arch *arch,
		   const json_t *open, const struct scope *scope, const struct where *w,
		   struct error *e)
{
	struct open_reading reading = {call, abi, arch, scope_vars(scope)};
	struct doc d = {.e = e, .context = &reading};
	int err;

	*call = (struct call){.cpu = -1, .group_fd = -1};
	call->image = or_exit(calloc(1, abi->attr_size));
	/* Unless the case gives one, size is what a program built with the newest header would
	 * pass. */
	attr_set(abi_field(abi, "size"), call->image, host_order(), abi->attr_size);
	err = doc_read(&d, &call_type, open, call, w);
	if (err)
		call_free(call);
	return err;
}

void call_free(struct call *call)
{
	free(call->image);
	call->image = NULL;
}

uint64_t call_field(const struct call *call, const struct abi *abi, const char *name)
{
	return attr_get(abi_field(abi, name), call->image, host_order());
}

/* The arguments that are an int. */
static int32_t *call_number(struct call *call, struct call_part part)
{
	return part.of == PART_PID   ? &call->pid
	       : part.of == PART_CPU ? &call->cpu
				     : &call->group_fd;
}

uint64_t call_get(const struct call *call, struct call_part part)
{
	if (part.of == PART_FIELD)
		return attr_get(part.field, call->image, host_order());
	if (part.of == PART_FLAGS)
		return call->flags;
	return (uint64_t)(int64_t)*call_number((struct call *)call, part);
}

void call_set(struct call *call, struct call_part part, uint64_t value)
{
	if (part.of == PART_FIELD)
		attr_set(part.field, call->image, host_order(), value);
	else if (part.of == PART_FLAGS)
		call->flags = value;
	else
		*call_number(call, part) = (int32_t)value;
}

void call_assign(struct call *to, const struct call *from, const struct abi *abi)
{
	unsigned char *image = to->image;

	*to = *from;
	to->image = memcpy(image, from->image, abi->attr_size);
}

void call_copy(struct call *to, const struct call *from, const struct abi *abi)
{
	to->image = or_exit(malloc(abi->attr_size));
	call_assign(to, from, abi);
}

void call_cut(struct call *call, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < call->poke_count; i++)
		if (call->pokes[i].offset < size)
			call->pokes[kept++] = call->pokes[i];
	call->poke_count = kept;
}

void call_fold(struct call *call, const struct abi *abi)
{
	size_t kept = 0;

	for (size_t i = 0; i < call->poke_count; i++) {
		if (call->pokes[i].offset < abi->attr_size)
			call->image[call->pokes[i].offset] = call->pokes[i].byte;
		else
			call->pokes[kept++] = call->pokes[i];
	}
	call->poke_count = kept;
}

/* Where an attr is passed: within memory, `readable` bytes before its end. */
struct placed {
	unsigned char *attr; /* NULL: nowhere */
	size_t readable;
};

/* Memory of at least so many bytes, with a page behind it that is not there. */
static int grow_memory(struct call_memory *memory, size_t size, const struct environment *env)
{
	unsigned char *map;

	if (memory->size >= size)
		return 0;
	if (memory->map)
		munmap(memory->map, memory->size + env->page_size);
	*memory = (struct call_memory){0};
	map = mmap(NULL, size + env->page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	if (map == MAP_FAILED)
		return -errno;
	*memory = (struct call_memory){map, size};
	return mprotect(map + size, env->page_size, PROT_NONE) ? -errno : 0;
}

static int protect(const struct call *call, const struct call_memory *memory, int prot)
{
	return call->memory == MEMORY_READ_ONLY && mprotect(memory->map, memory->size, prot)
		       ? -errno
		       : 0;
}

static int place_attr(const struct call *call, const struct environment *env,
		      struct call_memory *memory, struct placed *p)
{
	size_t page = env->page_size, mapped = (size_t)call->mapped; /* 1 MiB at most */
	size_t size = (ATTR_PAGES + (mapped + page - 1) / page) * page, n;
	int err;

	*p = (struct placed){0};
	if (call->memory == MEMORY_NULL)
		return 0;
	err = grow_memory(memory, size, env);
	if (err)
		return err;
	p->readable = call->memory == MEMORY_CUT ? mapped : size;
	p->attr = memory->map + memory->size - p->readable;
	memset(p->attr, 0, p->readable);
	n = env->abi->attr_size < p->readable ? env->abi->attr_size : p->readable;
	memcpy(p->attr, call->image, n);
	for (size_t i = 0; i < call->poke_count; i++)
		if (call->pokes[i].offset < p->readable)
			p->attr[call->pokes[i].offset] = call->pokes[i].byte;
	return protect(call, memory, PROT_READ);
}

static unsigned char laid_out(const struct call *call, const struct environment *env, size_t at)
{
	for (size_t i = call->poke_count; i-- > 0;)
		if (call->pokes[i].offset == at)
			return call->pokes[i].byte;
	return at < env->abi->attr_size ? call->image[at] : 0;
}

/* Whether a later poke is laid over that one. */
static bool is_poked_again(const struct call *call, size_t index)
{
	for (size_t i = index + 1; i < call->poke_count; i++)
		if (call->pokes[i].offset == call->pokes[index].offset)
			return true;
	return false;
}

/* True if a byte behind those that attr_size covers is not what it was laid out as. */
static bool tail_changed(const struct call *call, const struct environment *env,
			 const struct placed *p)
{
	size_t nonzero = 0, expected = 0;

	for (size_t i = env->abi->attr_size; i < p->readable; i++)
		nonzero += p->attr[i] != 0;
	for (size_t i = 0; i < call->poke_count; i++) {
		uint64_t at = call->pokes[i].offset;

		if (at < env->abi->attr_size || at >= p->readable || is_poked_again(call, i))
			continue;
		expected += call->pokes[i].byte != 0;
		if (p->attr[at] != call->pokes[i].byte)
			return true;
	}
	return nonzero != expected;
}

/* Compares the attr with what was laid out. */
static void look_at_attr(const struct call *call, const struct environment *env,
			 const struct placed *p, struct answer *answer)
{
	const struct abi_field *size = abi_field(env->abi, "size");
	size_t head = env->abi->attr_size < p->readable ? env->abi->attr_size : p->readable;

	if (head < size->offset + size->size)
		return;
	answer->size_after = (uint32_t)attr_get(size, p->attr, host_order());
	for (size_t i = 0; i < head; i++) {
		if (p->attr[i] == laid_out(call, env, i))
			continue;
		if (i >= size->offset && i < size->offset + size->size)
			answer->size_written = true;
		else
			answer->other_written = true;
	}
	answer->other_written = answer->other_written || tail_changed(call, env, p);
}

static void look_at_fd(struct answer *answer)
{
	static const char link[] = "anon_inode:[perf_event]";
	char path[32], target[64];
	int flags, tries = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", answer->fd);
	/* The kernel may have failed an allocation on purpose, which the open did not need. */
	do
		n = readlink(path, target, sizeof(target));
	while (n < 0 && !tries++);
	answer->fd_is_event = n == (ssize_t)sizeof(link) - 1 && !memcmp(target, link, (size_t)n);
	flags = fcntl(answer->fd, F_GETFD);
	answer->fd_cloexec = flags >= 0 && flags & FD_CLOEXEC;
	flags = fcntl(answer->fd, F_GETFL);
	answer->fd_rdwr = flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
}

/* `memory` NULL: in memory of its own. */
static int issue_in(const struct call *call, const struct environment *env,
		    struct call_memory *memory, struct answer *answer)
{
	struct call_memory own = {0}, *in = memory ? memory : &own;
	unsigned char *allocated = NULL;
	struct placed p;
	long ret;
	int err;

	*answer = (struct answer){.fd = -1};
	if (call->flags > ULONG_MAX)
		return -EOVERFLOW;                        /* a program of 32 bits has flags of 32 */
	if (!memory && call->memory == MEMORY_WRITABLE) { /* to map some would take longer */
		own.size = ATTR_PAGES * env->page_size;
		own.map = allocated = or_exit(malloc(own.size));
	}
	err = place_attr(call, env, in, &p);
	if (!err) {
		ret = syscall(SYS_perf_event_open, p.attr, call->pid, call->cpu, call->group_fd,
			      (unsigned long)call->flags);
		if (ret < 0)
			answer->err = errno;
		else
			answer->fd = (int)ret;
		if (p.attr)
			look_at_attr(call, env, &p, answer);
		err = protect(call, in, PROT_READ | PROT_WRITE);
	}
	if (own.map && !allocated)
		munmap(own.map, own.size + env->page_size);
	free(allocated);
	return err;
}

int call_issue(const struct call *call, const struct environment *env, struct answer *answer)
{
	int err = issue_in(call, env, NULL, answer);

	if (!err && !answer->err)
		look_at_fd(answer);
	return err;
}

int call_try(const struct call *call, bool no_files, const struct environment *env,
	     struct call_memory *memory, struct answer *answer)
{
	struct rlimit limit = {0}, none;
	int err;

	if (no_files && getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	none = (struct rlimit){.rlim_max = limit.rlim_max};
	if (no_files && setrlimit(RLIMIT_NOFILE, &none))
		return -errno;
	err = issue_in(call, env, memory, answer);
	if (no_files && setrlimit(RLIMIT_NOFILE, &limit))
		err = -errno;
	if (answer->fd >= 0)
		close(answer->fd);
	return err ? err : answer->err;
}

const void *call_unmapped_page(const struct environment *env)
{
	void *page = mmap(NULL, env->page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

struct out {
	char *text;
	size_t at, size;
};

__attribute__((format(printf, 2, 3))) static void print(struct out *o, const char *format, ...)
{
	va_list args;
	int n;

	if (o->at >= o->size)
		return;
	va_start(args, format);
	n = vsnprintf(o->text + o->at, o->size - o->at, format, args);
	va_end(args);
	if (n > 0)
		o->at += (size_t)n;
}

static void print_upper(struct out *o, const char *text)
{
	for (; *text; text++)
		print(o, "%c", *text >= 'a' && *text <= 'z' ? *text - 32 : *text);
}

static void print_mask(struct out *o, const struct abi_family *set, uint64_t value)
{
	const char *between = "";

	for (size_t i = 0; i < set->count; i++) {
		uint64_t bit = set->values[i].value;

		if (!bit || (bit & (bit - 1)) || !(value & bit))
			continue;
		print(o, "%s%s", between, set->prefix);
		print_upper(o, set->values[i].name);
		between = "|";
		value &= ~bit;
	}
	if (value || !*between)
		print(o, "%s%#llx", between, (unsigned long long)value);
}

/* What a PMU makes of it has the bits of a manual, as a raw event's config; a tracepoint's is an
 * id, and a breakpoint's are a length and an address. */
static bool is_code(const struct abi_field *field, const struct abi_value *type)
{
	return !strncmp(field->name, "config", strlen("config")) &&
	       (!type ||
		(strcmp(type->name, "tracepoint") != 0 && strcmp(type->name, "breakpoint") != 0));
}

static void print_value(struct out *o, const struct abi_field *field, const struct abi_family *set,
			bool in_hex, uint64_t value)
{
	const struct abi_value *constant = set ? abi_value_of(set, value) : NULL;

	if (set && set->mask)
		print_mask(o, set, value);
	else if (constant) {
		print(o, "%s", set->prefix);
		print_upper(o, constant->name);
	} else if (field->is_signed)
		print(o, "%lld", (long long)value);
	else
		print(o, value < 1000000 && !in_hex ? "%llu" : "%#llx", (unsigned long long)value);
}

static void print_attr(struct out *o, const struct call *call, const struct environment *env)
{
	const struct abi *abi = env->abi;
	uint32_t type = (uint32_t)attr_get(abi_field(abi, "type"), call->image, host_order());
	const struct abi_value *type_name = abi_value_of(abi_family(abi, "type"), type);

	print(o, "{");
	for (size_t i = 0; i < abi->field_count; i++) {
		const struct abi_field *field = &abi->fields[i];
		uint64_t value = attr_get(field, call->image, host_order());

		if (field->alias_of || field->of_bits || (!value && field->offset >= 8))
			continue;
		print(o, "%s%s=", i ? ", " : "", field->name);
		print_value(o, field,
			    attr_names(abi, field, env->arch, call->image, abi->attr_size,
				       host_order()),
			    is_code(field, type_name), value);
	}
	print(o, "}");
	for (size_t i = 0; i < call->poke_count; i++)
		print(o, " /* byte %llu: %#x */", (unsigned long long)call->pokes[i].offset,
		      call->pokes[i].byte);
}

void call_format(const struct call *call, const struct answer *answer,
		 const struct environment *env, char *text, size_t size)
{
	const struct abi_family *flags = abi_family(env->abi, "open_flags");
	struct out o = {.text = text, .size = size};

	print(&o, "perf_event_open(");
	if (call->memory == MEMORY_NULL)
		print(&o, "NULL");
	else
		print_attr(&o, call, env);
	if (call->memory == MEMORY_CUT)
		print(&o, " /* first %llu bytes mapped */", (unsigned long long)call->mapped);
	else if (call->memory == MEMORY_READ_ONLY)
		print(&o, " /* read-only */");
	print(&o, ", %d, %d, %d, ", call->pid, call->cpu, call->group_fd);
	if (call->flags)
		print_mask(&o, flags, call->flags);
	else
		print(&o, "0");
	if (!answer)
		print(&o, ")");
	else if (answer->err)
		print(&o, ") = -1 %s (%s)", errno_name(answer->err), strerror(answer->err));
	else
		print(&o, ") = %d", answer->fd);
}

/*
 * JSON with numbers above 2^63 - 1, which jansson does not read.
 */

/* Digits of the longest number that jansson is sure to read, and of 2^64 - 1. */
enum { DIGITS_SAFE = 18, DIGITS_MOST = 20 };

/*
 * Numbers above 2^63-1 are well-formed JSON, and jansson reads none: as texts they are the same to
 * value_eval(). A copy with these between quotes, to be freed.
 */
static char *quote_large_numbers(const char *line, size_t size)
{
	char *copy = or_exit(malloc(size * 2 + 1)), *to = copy;
	bool in_text = false;

	for (size_t i = 0; i < size; i++) {
		size_t n = in_text ? 0 : strspn(line + i, "0123456789");

		if (n > DIGITS_SAFE && n <= DIGITS_MOST && (!i || line[i - 1] != '-')) {
			to += sprintf(to, "\"%.*s\"", (int)n, line + i);
			i += n - 1;
			continue;
		}
		if (in_text && line[i] == '\\' && i + 1 < size)
			*to++ = line[i++];
		else if (line[i] == '"')
			in_text = !in_text;
		*to++ = line[i];
	}
	*to = '\0';
	return copy;
}

json_t *call_text_parse(const struct source *source, struct error *e)
{
	json_error_t why;
	json_t *json = json_loadb(source->text, source->length, JSON_REJECT_DUPLICATES, &why);
	char *quoted;

	if (json)
		return json;
	quoted = json_error_code(&why) == json_error_numeric_overflow
			 ? quote_large_numbers(source->text, source->length)
			 : NULL;
	if (quoted)
		json = json_loads(quoted, JSON_REJECT_DUPLICATES, NULL);
	free(quoted);
	return json ? json : source_parse(source, e);
}

/*
 * Request numbers are made here and not taken from a header: directions are encoded differently by
 * architectures, which <sys/ioctl.h> knows.
 */

static unsigned long direction(const char *text)
{
	if (!text || !strcmp(text, "none"))
		return _IOC_NONE;
	return (strchr(text, 'r') ? _IOC_READ : 0u) | (strchr(text, 'w') ? _IOC_WRITE : 0u);
}

static unsigned long argument_size(const char *text)
{
	if (!text)
		return 0;
	return !strcmp(text, "u32") ? 4 : !strcmp(text, "u64") ? 8 : sizeof(void *);
}

unsigned long event_ioctl_number(const struct abi *abi, const char *name)
{
	const struct abi_family *family = abi_family(abi, "ioctl");
	const struct abi_value *value = abi_value(family, name, NULL);

	if (!value)
		return 0;
	return _IOC(direction(json_string_value(json_object_get(value->json, "dir"))), '$',
		    (unsigned long)value->value,
		    argument_size(json_string_value(json_object_get(value->json, "arg"))));
}

int event_ioctl(const struct abi *abi, int fd, const char *name, void *argument)
{
	unsigned long number = event_ioctl_number(abi, name);

	if (!number)
		return -ENOSYS;
	return ioctl(fd, (ioctl_request)number, argument) ? -errno : 0;
}

/*
 * Members of the metadata page, by the layout in cases/abi.
 */

int mmap_page_offset(const struct abi *abi, const char *name)
{
	struct plan_for with = {.abi = abi};
	struct plan page;
	int offset = plan_make(&page, &with, abi_layout(abi, "mmap_page"));

	if (offset)
		return offset;
	offset = plan_offset(&page, name);
	plan_free(&page);
	return offset;
}

/*
 * An open that names no variable is the same call each time.
 */

int opening_compile(struct opening *out, const json_t *json, const struct abi *abi,
		    const struct abi_arch *arch, struct scope *scope, struct arena *arena,
		    const struct where *w, struct error *e)
{
	bool asked = false;
	unsigned char *image = or_exit(arena_alloc(arena, abi->attr_size));
	int err;

	scope->was_asked = &asked;
	err = call_from_json(&out->call, abi, arch, json, scope, w, e);
	scope->was_asked = NULL;
	if (err)
		return err;
	out->json = asked ? json : NULL;
	memcpy(image, out->call.image, abi->attr_size);
	call_free(&out->call);
	out->call.image = image;
	return 0;
}

int opening_make(const struct opening *open, const struct abi *abi, const struct abi_arch *arch,
		 const struct scope *scope, struct call *made, const struct call **call,
		 struct error *e)
{
	struct where nowhere = {0};

	*made = (struct call){0};
	*call = open->json ? made : &open->call;
	return open->json ? call_from_json(made, abi, arch, open->json, scope, &nowhere, e) : 0;
}
