/* SPDX-License-Identifier: MIT */
/*
 * Files, cgroups, limits, sockets, BPF programs.
 */
#ifndef PERFABI_RUNTIME_MACHINE_H
#define PERFABI_RUNTIME_MACHINE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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

/* An anonymous file of so many zero bytes. */
static int memfd(const char *name, uint64_t size)
{
	const int fd = (int)syscall(SYS_memfd_create, name, 1U /* MFD_CLOEXEC */);

	return fd < 0 || ftruncate(fd, (off_t)size) ? -1 : fd;
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

/*
 * r0 = 0; exit: the least that any type of program may be. Before 5.11 a program counts against
 * RLIMIT_MEMLOCK, which is 64 KiB on many machines: who may raise it does, while the kernel looks
 * (bpf_prog_charge_memlock()).
 */
static int bpf_load_least(uint32_t type)
{
	static const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					       {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr load = {.prog_type = type,
			       .insn_cnt = 2,
			       .insns = (uintptr_t)code,
			       .license = (uintptr_t) "GPL",
			       .prog_name = "perfabi"};
	const struct rlimit lifted = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit before;
	int fd, err;

	if (getrlimit(RLIMIT_MEMLOCK, &before))
		return -1;
	err = setrlimit(RLIMIT_MEMLOCK, &lifted);
	fd = bpf(BPF_PROG_LOAD, &load);
	if (!err) {
		err = errno;
		setrlimit(RLIMIT_MEMLOCK, &before);
		errno = err;
	}
	return fd;
}

/* A program of that type that returns 0; its code's address and length are 0 where they are kept
 * secret. */
static int bpf_load(uint32_t type, struct bpf_program *p)
{
	const int fd = bpf_load_least(type);
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

#endif
