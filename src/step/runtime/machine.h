/* SPDX-License-Identifier: MIT */
/*
 * Files, cgroups, limits, sockets, BPF programs; and the events that a PMU has in sysfs, by their
 * terms.
 */
#ifndef PERFABI_RUNTIME_MACHINE_H
#define PERFABI_RUNTIME_MACHINE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A text, written to a file that is there: how many bytes. */
static long write_to(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const long n = fd < 0 ? -1 : write(fd, text, strlen(text));
	const int err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return n;
}

/* This process moves to that cgroup. */
static int cgroup_enter(const char *path)
{
	char procs[352];

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	return write_to(procs, "0") == 1 ? 0 : -1;
}

/* An anonymous file of so many bytes: a text, and zeros. */
static int memfd(uint64_t size, const char *text)
{
	const int fd = (int)syscall(SYS_memfd_create, "perfabi", 1U /* MFD_CLOEXEC */);
	const ssize_t length = (ssize_t)strlen(text);

	return fd < 0 || write(fd, text, (size_t)length) != length || ftruncate(fd, (off_t)size)
		       ? -1
		       : fd;
}

#if defined(__GLIBC__)
typedef __rlimit_resource_t limited;
#else
typedef int limited;
#endif

/* The soft limit; a case that wants it asks for the hard one. */
static int set_soft_limit(int which, uint64_t to)
{
	const limited resource = (limited)which;
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -1;
	if (to > limit.rlim_max) {
		errno = EPERM;
		return -1;
	}
	limit.rlim_cur = to;
	return setrlimit(resource, &limit);
}

/* A message of one byte that carries, or has room for, one file descriptor. */
struct fd_message {
	struct msghdr head;
	struct iovec part;
	char byte;
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
};

static void make_message(struct fd_message *m)
{
	*m = (struct fd_message){.byte = 'f'};
	m->part = (struct iovec){&m->byte, 1};
	m->head = (struct msghdr){.msg_iov = &m->part,
				  .msg_iovlen = 1,
				  .msg_control = m->control.bytes,
				  .msg_controllen = sizeof(m->control.bytes)};
}

static int send_fd(int over, int fd)
{
	struct fd_message m;
	struct cmsghdr *c;

	make_message(&m);
	c = CMSG_FIRSTHDR(&m.head);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(over, &m.head, 0) == 1 ? 0 : -1;
}

static int receive_fd(int over)
{
	struct fd_message m;
	struct cmsghdr *c;
	int fd;

	make_message(&m);
	if (recvmsg(over, &m.head, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m.head);
	if (!c || c->cmsg_type != SCM_RIGHTS) {
		errno = EBADMSG;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

struct bpf_program {
	uint64_t fd, id, type, address, length;
	char tag[17], name[17];
};

static int bpf(int command, union bpf_attr *how)
{
	return (int)syscall(SYS_bpf, command, how, sizeof(*how));
}

/* What a program does before it returns 0, unless it writes to an event. */
enum bpf_does { BPF_DOES_NOTHING, BPF_DOES_STACK, BPF_DOES_FIELD, BPF_DOES_CONTEXT, BPF_DOES_CALL };

/* Instructions of struct bpf_insn: code, dst_reg, src_reg, off, imm. */
enum {
	BPF_SET = BPF_ALU64 | BPF_MOV | BPF_K,
	BPF_COPY = BPF_ALU64 | BPF_MOV | BPF_X,
	BPF_INCREASE = BPF_ALU64 | BPF_ADD | BPF_K,
	BPF_INVOKE = BPF_JMP | BPF_CALL,
	BPF_RETURN = BPF_JMP | BPF_EXIT,
};

static const struct bpf_insn bpf_nothing[] = {{BPF_SET, 0, 0, 0, 0}, {BPF_RETURN, 0, 0, 0, 0}};

/* bpf_get_stack(context, r10 - 8, 8, 0) */
static const struct bpf_insn bpf_stack[] = {{BPF_COPY, 2, 10, 0, 0},
					    {BPF_INCREASE, 2, 0, 0, -8},
					    {BPF_SET, 3, 0, 0, 8},
					    {BPF_SET, 4, 0, 0, 0},
					    {BPF_INVOKE, 0, 0, 0, BPF_FUNC_get_stack},
					    {BPF_SET, 0, 0, 0, 0},
					    {BPF_RETURN, 0, 0, 0, 0}};

/* Loads the word behind the fields that all tracepoints have. */
static const struct bpf_insn bpf_field[] = {
	{BPF_LDX | BPF_MEM | BPF_W, 0, 1, 8, 0}, {BPF_SET, 0, 0, 0, 0}, {BPF_RETURN, 0, 0, 0, 0}};

/* Loads a word that is further behind the context's beginning than any tracepoint has fields. */
static const struct bpf_insn bpf_context[] = {{BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 4096, 0},
					      {BPF_SET, 0, 0, 0, 0},
					      {BPF_RETURN, 0, 0, 0, 0}};

/* Calls a function of its own, which is behind its end. */
static const struct bpf_insn bpf_call[] = {{BPF_INVOKE, 0, BPF_PSEUDO_CALL, 0, 2},
					   {BPF_SET, 0, 0, 0, 0},
					   {BPF_RETURN, 0, 0, 0, 0},
					   {BPF_SET, 0, 0, 0, 0},
					   {BPF_RETURN, 0, 0, 0, 0}};

struct bpf_code {
	const struct bpf_insn *code;
	size_t bytes;
};

static const struct bpf_code bpf_codes[] = {
	[BPF_DOES_NOTHING] = {bpf_nothing, sizeof(bpf_nothing)},
	[BPF_DOES_STACK] = {bpf_stack, sizeof(bpf_stack)},
	[BPF_DOES_FIELD] = {bpf_field, sizeof(bpf_field)},
	[BPF_DOES_CONTEXT] = {bpf_context, sizeof(bpf_context)},
	[BPF_DOES_CALL] = {bpf_call, sizeof(bpf_call)},
};

/*
 * Makes a program or a map. Before 5.11 both count against RLIMIT_MEMLOCK, which is 64 KiB on many
 * machines: who may raise it does, while the kernel looks (bpf_charge_memlock()).
 */
static int bpf_make(int command, union bpf_attr *how)
{
	const struct rlimit lifted = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit before;
	int fd, err;

	if (getrlimit(RLIMIT_MEMLOCK, &before))
		return -1;
	err = setrlimit(RLIMIT_MEMLOCK, &lifted);
	fd = bpf(command, how);
	if (!err) {
		err = errno;
		setrlimit(RLIMIT_MEMLOCK, &before);
		errno = err;
	}
	return fd;
}

/* Loads a program; the least that any type of program may be is bpf_nothing. */
static int bpf_load_code(uint32_t type, const struct bpf_insn *code, size_t bytes)
{
	union bpf_attr load = {.prog_type = type,
			       .insn_cnt = (uint32_t)(bytes / sizeof(*code)),
			       .insns = (uintptr_t)code,
			       .license = (uintptr_t) "GPL",
			       .prog_name = "perfabi"};

	return bpf_make(BPF_PROG_LOAD, &load);
}

/*
 * A map of two events, of which either may be -1. It stays open: once nobody holds its file, the
 * events leave it (perf_event_fd_array_release()).
 */
static int bpf_events(int first, int second)
{
	union bpf_attr make = {.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
			       .key_size = sizeof(uint32_t),
			       .value_size = sizeof(uint32_t),
			       .max_entries = 2};
	int fds[2] = {first, second}, map = bpf_make(BPF_MAP_CREATE, &make);

	for (uint32_t i = 0; map >= 0 && i < 2; i++) {
		union bpf_attr put = {
			.map_fd = (uint32_t)map, .key = (uintptr_t)&i, .value = (uintptr_t)&fds[i]};

		if (fds[i] >= 0 && bpf(BPF_MAP_UPDATE_ELEM, &put))
			return -1;
	}
	return map;
}

/* bpf_perf_event_read_value() of the first event, and bpf_perf_event_output() of the low 16 bits of
 * its count, 0 if it cannot be read, to the second. It returns 1: nobody loses a hit by it. */
static int bpf_load_output(uint32_t type, int first, int second)
{
	const int map = bpf_events(first, second);
	const struct bpf_insn code[] = {{BPF_COPY, 6, 1, 0, 0},
					{BPF_ST | BPF_MEM | BPF_H, 10, 0, -2, 0},
					{BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map},
					{0, 0, 0, 0, 0}, /* the map's upper half */
					{BPF_SET, 2, 0, 0, 0},
					{BPF_COPY, 3, 10, 0, 0},
					{BPF_INCREASE, 3, 0, 0, -32},
					{BPF_SET, 4, 0, 0, 24},
					{BPF_INVOKE, 0, 0, 0, BPF_FUNC_perf_event_read_value},
					{BPF_LDX | BPF_MEM | BPF_DW, 0, 10, -32, 0},
					{BPF_STX | BPF_MEM | BPF_H, 10, 0, -2, 0},
					{BPF_COPY, 1, 6, 0, 0},
					{BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_FD, 0, map},
					{0, 0, 0, 0, 0},
					{BPF_SET, 3, 0, 0, 1},
					{BPF_COPY, 4, 10, 0, 0},
					{BPF_INCREASE, 4, 0, 0, -2},
					{BPF_SET, 5, 0, 0, 2},
					{BPF_INVOKE, 0, 0, 0, BPF_FUNC_perf_event_output},
					{BPF_SET, 0, 0, 0, 1},
					{BPF_RETURN, 0, 0, 0, 0}};

	return map < 0 ? -1 : bpf_load_code(type, code, sizeof(code));
}

/* A program of that type that does this and returns 0, or writes to the event `to` unless that is
 * -1; its code's address and length are 0 where they are kept secret. */
static int bpf_load(uint32_t type, enum bpf_does does, int of, int to, struct bpf_program *p)
{
	const int fd = to >= 0 ? bpf_load_output(type, of, to)
			       : bpf_load_code(type, bpf_codes[does].code, bpf_codes[does].bytes);
	uint64_t address = 0;
	uint32_t length = 0;
	struct bpf_prog_info info = {.nr_jited_ksyms = 1,
				     .jited_ksyms = (uintptr_t)&address,
				     .nr_jited_func_lens = 1,
				     .jited_func_lens = (uintptr_t)&length};
	union bpf_attr ask = {.info = {.bpf_fd = (uint32_t)fd,
				       .info_len = sizeof(info),
				       .info = (uintptr_t)&info}};

	if (fd < 0 || bpf(BPF_OBJ_GET_INFO_BY_FD, &ask))
		return -1;
	*p = (struct bpf_program){.fd = (uint64_t)fd,
				  .id = info.id,
				  .type = info.type,
				  .address = address,
				  .length = length};
	for (int i = 0; i < 8; i++)
		snprintf(p->tag + 2 * i, 3, "%02x", info.tag[i]);
	memcpy(p->name, info.name, sizeof(info.name));
	return 0;
}

/* Attaches a program to an event, for as long as what this returns is open: BPF_LINK_CREATE. */
static int bpf_link(int program, int event)
{
	union bpf_attr how = {.link_create = {.prog_fd = (uint32_t)program,
					      .target_fd = (uint32_t)event,
					      .attach_type = BPF_PERF_EVENT}};

	return bpf(BPF_LINK_CREATE, &how);
}

/* A file of this size or less as a whole, which is to be freed; NULL if it cannot be read. */
static void *file_whole(const char *path, size_t most, size_t *size)
{
	FILE *f = fopen(path, "re");
	char *bytes = f ? malloc(most) : NULL;

	*size = bytes ? fread(bytes, 1, most, f) : 0;
	if (f)
		fclose(f);
	return bytes;
}

/* The number of a function's type in the kernel's BTF, 0 if there is none:
 * Documentation/bpf/btf.rst. */
static uint32_t btf_function(const char *name)
{
	/* The bytes behind each type, and those of each of its members. */
	static const struct {
		unsigned char once, each;
	} behind[] = {[BTF_KIND_INT] = {4, 0},
		      [BTF_KIND_ARRAY] = {12, 0},
		      [BTF_KIND_STRUCT] = {0, 12},
		      [BTF_KIND_UNION] = {0, 12},
		      [BTF_KIND_ENUM] = {0, 8},
		      [BTF_KIND_FUNC_PROTO] = {0, 8},
		      [BTF_KIND_VAR] = {4, 0},
		      [BTF_KIND_DATASEC] = {0, 12},
		      [17 /* BTF_KIND_DECL_TAG */] = {4, 0},
		      [19 /* BTF_KIND_ENUM64 */] = {0, 12}};
	const size_t most = (size_t)64 << 20, length = strlen(name) + 1;
	size_t size, kind;
	char *btf = file_whole("/sys/kernel/btf/vmlinux", most, &size);
	struct btf_header head = {0};
	struct btf_type type;
	uint64_t at, end, text;
	uint32_t number = 0;

	if (btf && size > sizeof(head) && size < most)
		memcpy(&head, btf, sizeof(head));
	at = (uint64_t)head.hdr_len + head.type_off;
	end = at + head.type_len < size ? at + head.type_len : size;
	for (uint32_t id = 1; !number && at + sizeof(type) <= end; id++) {
		memcpy(&type, btf + at, sizeof(type));
		kind = BTF_INFO_KIND(type.info);
		text = (uint64_t)head.hdr_len + head.str_off + type.name_off;
		if (kind == BTF_KIND_FUNC && text + length <= size &&
		    !memcmp(btf + text, name, length))
			number = id;
		at += sizeof(type);
		if (kind < sizeof(behind) / sizeof(*behind))
			at += behind[kind].once +
			      behind[kind].each * (uint64_t)BTF_INFO_VLEN(type.info);
	}
	free(btf);
	return number;
}

/*
 * Makes a hook of security modules refuse this process, and what it starts, with EACCES, for as
 * long as what this returns is open: a program of BPF_PROG_TYPE_LSM, which knows them by the name
 * that they get for that.
 */
static int lsm_refuse(const char *hook)
{
	char function[64], name[16] = "";
	uint32_t low, high;

	snprintf(function, sizeof(function), "bpf_lsm_%s", hook);
	snprintf(name, sizeof(name), "L%07x", (unsigned)getpid() & 0xfffffff);
	memcpy(&low, name + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4), sizeof(low));
	memcpy(&high, name + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 4 : 0), sizeof(high));

	const struct bpf_insn code[] = {{BPF_COPY, 1, 10, 0, 0},
					{BPF_INCREASE, 1, 0, 0, -16},
					{BPF_SET, 2, 0, 0, sizeof(name)},
					{BPF_INVOKE, 0, 0, 0, BPF_FUNC_get_current_comm},
					{BPF_LDX | BPF_MEM | BPF_DW, 1, 10, -16, 0},
					{BPF_LD | BPF_DW | BPF_IMM, 2, 0, 0, (int32_t)low},
					{0, 0, 0, 0, (int32_t)high},
					{BPF_SET, 0, 0, 0, 0},
					{BPF_JMP | BPF_JNE | BPF_X, 1, 2, 1, 0},
					{BPF_SET, 0, 0, 0, -EACCES},
					{BPF_RETURN, 0, 0, 0, 0}};
	union bpf_attr load = {.prog_type = BPF_PROG_TYPE_LSM,
			       .expected_attach_type = BPF_LSM_MAC,
			       .attach_btf_id = btf_function(function),
			       .insn_cnt = sizeof(code) / sizeof(*code),
			       .insns = (uintptr_t)code,
			       .license = (uintptr_t) "GPL",
			       .prog_name = "perfabi"};
	union bpf_attr attach = {0};
	int program, fd = -1, err;

	if (!load.attach_btf_id) {
		errno = ENOTSUP;
		return -1;
	}
	program = bpf_make(BPF_PROG_LOAD, &load);
	if (program < 0)
		return -1;
	attach.raw_tracepoint.prog_fd = (uint32_t)program;
	if (!prctl(PR_SET_NAME, name))
		fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attach);
	err = errno;
	close(program);
	errno = err;
	return fd;
}

/* From now on a filter answers perf_event_open(2) with an errno, before the kernel sees the call.
 */
static int seccomp_answer(int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		       ? -1
		       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

struct bpf_task_fd {
	uint64_t program, type, offset;
	char name[64];
};

/* What a process's fd is to BPF: BPF_TASK_FD_QUERY. */
static int bpf_task_fd(int fd, struct bpf_task_fd *found)
{
	union bpf_attr how = {.task_fd_query = {.pid = (uint32_t)getpid(),
						.fd = (uint32_t)fd,
						.buf_len = sizeof(found->name),
						.buf = (uintptr_t)found->name}};

	*found = (struct bpf_task_fd){0};
	if (bpf(BPF_TASK_FD_QUERY, &how))
		return -1;
	found->program = how.task_fd_query.prog_id;
	found->type = how.task_fd_query.fd_type;
	found->offset = how.task_fd_query.probe_offset;
	return 0;
}

/* What became of one: it opened (0), the errno, or it was not tried. */
enum { UNREAD_TERM = -1, FOR_PEOPLE = -2 };

struct pmu_event {
	char name[256];
	int err;
};

struct pmu_events {
	struct pmu_event *list;
	uint64_t tried_nr, opened_nr, refused_nr, unread_nr;
};

/* As long as with config3, whatever <linux/perf_event.h> this is. */
union pmu_attr {
	struct perf_event_attr attr;
	uint64_t words[18];
};

static bool read_of_pmu(const char *pmu, const char *folder, const char *name, char line[512])
{
	char path[640];
	FILE *f;
	bool is_read;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s%s", pmu, folder, name);
	f = fopen(path, "re");
	is_read = f && fgets(line, 512, f);
	if (f)
		fclose(f);
	return is_read;
}

/* Lays a term's value over the bits that the PMU's format/ has for it: "config:0-7,32-35". */
static bool lay_term(const char *pmu, const char *name, uint64_t value, union pmu_attr *attr)
{
	char format[512], *at;
	uint64_t *word;

	if (!read_of_pmu(pmu, "format/", name, format) || !(at = strchr(format, ':')))
		return false;
	*at++ = '\0';
	word = !strcmp(format, "config")    ? &attr->words[1]
	       : !strcmp(format, "config1") ? &attr->words[7]
	       : !strcmp(format, "config2") ? &attr->words[8]
					    : &attr->words[16];
	while (*at && *at != '\n') {
		unsigned long first = strtoul(at, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		for (unsigned long bit = first; bit <= last && bit < 64; bit++, value >>= 1)
			*word |= (value & 1) << bit;
		at += *at && *at != '\n';
	}
	return true;
}

/* One by its terms, as "event=0x3c,umask=1": its err, and in *fd what it opened or -1. */
static int open_pmu_event(const char *pmu, const char *name, bool is_wide, int leader, int *fd)
{
	union pmu_attr attr = {.attr = {.size = sizeof(attr), .disabled = 1}};
	char terms[512], type[512], *save = NULL;

	*fd = -1;
	if (!read_of_pmu(pmu, "events/", name, terms) || !read_of_pmu(pmu, "type", "", type))
		return UNREAD_TERM;
	attr.attr.type = (uint32_t)strtoul(type, NULL, 10);
	if (strchr(terms, '?'))
		return FOR_PEOPLE;
	for (char *term = strtok_r(terms, ",\n", &save); term;
	     term = strtok_r(NULL, ",\n", &save)) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (!lay_term(pmu, term, value ? strtoull(value, NULL, 0) : 1, &attr))
			return UNREAD_TERM;
	}
	*fd = (int)syscall(SYS_perf_event_open, &attr, is_wide ? -1 : 0, is_wide ? 0 : -1, leader,
			   0UL);
	return *fd < 0 ? errno : 0;
}

/*
 * Tries them all; a PMU with a cpumask counts for cpus alone. Metrics of a core are shares of its
 * slots, and are refused without those (intel_pmu_hw_config()). The list is to be freed.
 */
static int try_pmu_events(const char *pmu, struct pmu_events *all)
{
	char path[320], line[512];
	const bool is_wide = read_of_pmu(pmu, "cpumask", "", line);
	struct dirent *entry;
	int slots, fd;
	DIR *dir;

	*all = (struct pmu_events){0};
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events", pmu);
	dir = opendir(path);
	if (!dir)
		return 0;
	open_pmu_event(pmu, "slots", is_wide, -1, &slots);
	while ((entry = readdir(dir))) {
		struct pmu_event *list, *e;

		if (strchr(entry->d_name, '.')) /* name.unit, name.scale */
			continue;
		list = realloc(all->list, (all->tried_nr + 1) * sizeof(*list));
		if (!list)
			break;
		all->list = list;
		e = &list[all->tried_nr++];
		snprintf(e->name, sizeof(e->name), "%s", entry->d_name);
		e->err = open_pmu_event(pmu, e->name, is_wide,
					strncmp(e->name, "topdown-", 8) ? -1 : slots, &fd);
		all->opened_nr += e->err == 0;
		all->refused_nr += e->err > 0;
		all->unread_nr += e->err == UNREAD_TERM;
		if (fd >= 0)
			close(fd);
	}
	closedir(dir);
	if (slots >= 0)
		close(slots);
	return entry ? -1 : 0;
}

#endif
