/* SPDX-License-Identifier: MIT */
/*
 * Verbs on the rest of the machine: files, sockets, limits, cgroups, clocks, BPF programs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "machine/small_file.h"
#include "step/path.h"

int verb_file(struct step *s)
{
	static const char *const modes[] = {"read", "read-write", NULL};
	char path[256];
	int mode, fd, err = step_word(s, "mode", modes, 0, &mode);

	if (!err) /* any path can be opened to be read: the kernel takes folders and programs so */
		err = mode ? step_path(s, STEP_WRITES, path, sizeof(path))
			   : step_text(s, NULL, path, sizeof(path));
	if (err || step_is_checked(s))
		return err;
	fd = open(path, (mode ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	s->result = (uint64_t)fd;
	return fd < 0 ? step_failed(s, errno) : 0;
}

int verb_cgroup(struct step *s)
{
	const char *hierarchy = json_string_value(s->argument);
	const json_t *file = json_object_get(s->json, "entry");
	struct where at_file = where_key(s->where, "entry");
	char path[320];
	size_t n;
	int fd;

	if (!hierarchy || (strcmp(hierarchy, "v2") && strncmp(hierarchy, "v1.", 3)))
		return error_value(s->error, &s->at, s->argument, "\"v2\" or \"v1.CONTROLLER\"");
	if (file && !json_is_string(file))
		return error_value(s->error, &at_file, file, "the name of a file in the cgroup");
	if (step_is_checked(s))
		return 0;
	if (environment_cgroup(hierarchy, path, 256))
		return step_failed(s, ENOENT);
	n = strlen(path);
	if (file)
		snprintf(path + n, sizeof(path) - n, "/%.60s", json_string_value(file));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	s->result = (uint64_t)fd;
	return fd < 0 ? step_failed(s, errno) : 0;
}

int verb_enter(struct step *s)
{
	char path[400];
	int fd, err = step_path(s, STEP_WRITES, path, 320);

	if (err || step_is_checked(s))
		return err;
	strcat(path, "/cgroup.procs");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		return step_failed(s, errno);
	close(fd);
	return 0;
}

/* Below the cgroup of the case, which is removed with all that is in it. */
int verb_mkdir(struct step *s)
{
	const char *path = json_string_value(s->argument);
	char whole[400];
	int err;

	if (!path || strncmp(path, "$cgroup.path/", 13) != 0)
		return error_value(s->error, &s->at, s->argument,
				   "a folder below the case's cgroup: \"$cgroup.path/NAME\"");
	err = step_text(s, NULL, whole, sizeof(whole));
	if (err || step_is_checked(s))
		return err;
	return mkdir(whole, 0755) ? step_failed(s, errno) : 0;
}

int verb_memfd(struct step *s)
{
	uint64_t size;
	int err = step_number(s, NULL, 0, 1 << 20, &size), fd;

	if (err || step_is_checked(s))
		return err;
	fd = (int)syscall(SYS_memfd_create, "perfabi", 1U /* MFD_CLOEXEC */);
	s->result = (uint64_t)fd;
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return step_failed(s, errno);
	return 0;
}

int verb_limit(struct step *s)
{
	static const char *const names[] = {"nofile", "memlock", NULL};
	static const __rlimit_resource_t resources[] = {RLIMIT_NOFILE, RLIMIT_MEMLOCK};
	struct rlimit limit;
	uint64_t soft;
	int which, err = step_word(s, NULL, names, -1, &which);

	if (!err)
		err = step_number(s, "to", 0, 1 << 30, &soft);
	if (err || step_is_checked(s))
		return err;
	if (getrlimit(resources[which], &limit))
		return step_failed(s, errno);
	if (soft > limit.rlim_max) /* a case asks for it: nofile>=N, memlock>=N */
		return step_failed(s, EPERM);
	limit.rlim_cur = soft;
	return setrlimit(resources[which], &limit) ? step_failed(s, errno) : 0;
}

int verb_stat(struct step *s)
{
	char path[256];
	struct stat st;
	int err = step_text(s, NULL, path, sizeof(path));

	if (err || step_is_checked(s))
		return err;
	if (stat(path, &st))
		return step_failed(s, errno);
	step_show_number(s, "ino", st.st_ino);
	step_show_number(s, "dev", st.st_dev);
	step_show_number(s, "maj", major(st.st_dev));
	step_show_number(s, "min", minor(st.st_dev));
	step_show_number(s, "size", (uint64_t)st.st_size);
	return 0;
}

int verb_text(struct step *s)
{
	char path[256], text[1024], *end;
	long long number;
	ssize_t n;
	int err = step_path(s, STEP_READS, path, sizeof(path));

	if (err || step_is_checked(s))
		return err;
	n = read_line(path, text, sizeof(text));
	if (n < 0)
		return step_failed(s, (int)-n);
	number = strtoll(text, &end, 0);
	s->seen = end != text && !*end ? json_integer(number) : json_string(text);
	return 0;
}

int verb_socket(struct step *s)
{
	const char *name = json_string_value(s->argument);
	char end[2][SCOPE_NAME];
	int pair[2] = {0};

	if (!name || strlen(name) > SCOPE_NAME - 3)
		return error_value(s->error, &s->at, s->argument, "a name");
	if (!step_is_checked(s) && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return step_failed(s, errno);
	for (int i = 0; i < 2; i++) {
		snprintf(end[i], sizeof(end[i]), "%.29s_%c", name, 'a' + i);
		if (scope_bind(s->scope, end[i], (uint64_t)pair[i]))
			return error_value(s->error, &s->at, s->argument, "a name");
	}
	return 0;
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

int verb_send(struct step *s)
{
	struct fd_message m;
	struct cmsghdr *c;
	uint64_t fd, over;
	int err = step_bound(s, NULL, &fd), number;

	if (!err)
		err = step_bound(s, "over", &over);
	if (err || step_is_checked(s))
		return err;
	make_message(&m);
	number = (int)fd;
	c = CMSG_FIRSTHDR(&m.head);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &number, sizeof(number));
	return sendmsg((int)over, &m.head, 0) == 1 ? 0 : step_failed(s, errno);
}

/* The event that came is read as the one it is, which the receiver knows by name. */
static void know_event(struct step *s, int fd, int original)
{
	struct opened *event = step_event(s, original);

	if (!event || s->run->event_count == OPENED_MAX)
		return;
	s->run->events[s->run->event_count] = *event;
	s->run->events[s->run->event_count++].fd = fd;
}

int verb_receive(struct step *s)
{
	struct fd_message m;
	struct cmsghdr *c;
	uint64_t over, as = 0;
	int err = step_bound(s, NULL, &over), fd;

	if (!err && json_object_get(s->json, "as"))
		err = step_bound(s, "as", &as);
	if (err || step_is_checked(s))
		return err;
	make_message(&m);
	if (recvmsg((int)over, &m.head, MSG_CMSG_CLOEXEC) != 1)
		return step_failed(s, errno);
	c = CMSG_FIRSTHDR(&m.head);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return step_failed(s, EBADMSG);
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	s->result = (uint64_t)fd;
	know_event(s, fd, (int)as);
	return 0;
}

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* r0 = 0; exit: the least that any type of program may be. */
static int load_program(uint32_t type)
{
	static const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					       {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr = {.prog_type = type,
			       .insn_cnt = 2,
			       .insns = (uintptr_t)code,
			       .license = (uintptr_t) "GPL",
			       .prog_name = "perfabi"};

	return bpf(BPF_PROG_LOAD, &attr);
}

static int show_program(struct step *s, int fd)
{
	uint64_t address = 0;
	uint32_t length = 0;
	struct bpf_prog_info info = {.nr_jited_ksyms = 1,
				     .jited_ksyms = (uintptr_t)&address,
				     .nr_jited_func_lens = 1,
				     .jited_func_lens = (uintptr_t)&length};
	union bpf_attr attr = {.info = {.bpf_fd = (uint32_t)fd,
					.info_len = sizeof(info),
					.info = (uintptr_t)&info}};
	char tag[17], text[24];

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		return step_failed(s, errno);
	for (int i = 0; i < 8; i++)
		snprintf(tag + 2 * i, 3, "%02x", info.tag[i]);
	step_show_number(s, "fd", (uint64_t)fd);
	step_show_number(s, "id", info.id);
	step_show_number(s, "type", info.type);
	step_show(s, "tag", json_string(tag));
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	step_show(s, "address", json_string(text));
	step_show_number(s, "length", length);
	step_show(s, "name", json_string(info.name));
	return 0;
}

int verb_bpf(struct step *s)
{
	static const char *const names[] = {"socket-filter", "kprobe", "tracepoint", "perf-event",
					    NULL};
	static const uint32_t types[] = {BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_KPROBE,
					 BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_PERF_EVENT};
	int which, fd, err = step_word(s, NULL, names, -1, &which);

	if (err || step_is_checked(s))
		return err;
	fd = load_program(types[which]);
	return fd < 0 ? step_failed(s, errno) : show_program(s, fd);
}

int verb_clock(struct step *s)
{
	static const char *const names[] = {"realtime", "monotonic", "monotonic_raw",
					    "boottime", "tai",       "thread_cputime_id",
					    NULL};
	static const clockid_t ids[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
					CLOCK_BOOTTIME, CLOCK_TAI,       CLOCK_THREAD_CPUTIME_ID};
	struct timespec t;
	int which, err = step_word(s, NULL, names, -1, &which);

	if (err || step_is_checked(s))
		return err;
	if (clock_gettime(ids[which], &t))
		return step_failed(s, errno);
	s->seen = json_integer((json_int_t)t.tv_sec * 1000000000 + t.tv_nsec);
	return 0;
}

int verb_value(struct step *s)
{
	const char *text = json_string_value(s->argument);
	json_t *bound = text && text[0] == '$' ? scope_json(s->scope, text + 1) : NULL;
	uint64_t value;
	int err;

	if (bound && !step_is_checked(s)) {
		s->seen = json_incref(bound);
		return 0;
	}
	err = step_number(s, NULL, 0, UINT64_MAX, &value);
	if (err || step_is_checked(s))
		return err;
	s->seen = json_integer((json_int_t)value);
	return 0;
}

/* Lays a term's value over config, config1 or config2, as the PMU's format/ has its bits. */
static int apply_term(const char *pmu, const char *name, uint64_t value, json_t *attr)
{
	char path[512], format[128], *at;
	json_t *field;
	uint64_t word;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%s", pmu, name);
	if (read_line(path, format, sizeof(format)) < 0)
		return -ENOENT;
	at = strchr(format, ':');
	if (!at)
		return -EINVAL;
	*at++ = '\0';
	field = json_object_get(attr, format);
	word = field ? strtoull(json_string_value(field), NULL, 0) : 0;
	while (at && *at) { /* "0-7,32-35" */
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;
		char text[24];

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last > 63 || first > last)
			return -EINVAL;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			word |= (value & 1) << bit;
		at = *end == ',' ? end + 1 : NULL;
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)word);
		json_object_set_new(attr, format, json_string(text));
	}
	return 0;
}

/* "event=0x3c,umask=1" to the fields of an attr; what has a "?" is for people to fill in. */
static json_t *attr_of_terms(const char *pmu, uint32_t type, char *terms)
{
	json_t *attr = json_pack("{s:I,s:i}", "type", (json_int_t)type, "disabled", 1);
	char *save = NULL;

	for (char *term = strtok_r(terms, ",", &save); term; term = strtok_r(NULL, ",", &save)) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if ((value && strchr(value, '?')) ||
		    apply_term(pmu, term, value ? strtoull(value, NULL, 0) : 1, attr)) {
			json_decref(attr);
			return NULL;
		}
	}
	return attr;
}

static int open_terms(struct step *s, json_t *attr, int pid, int cpu)
{
	json_t *open_json = json_pack("{s:O,s:i,s:i}", "attr", attr, "pid", pid, "cpu", cpu);
	struct answer answer;
	struct call call;
	int err = call_from_json(&call, s->cases->abi, s->run->env->arch, open_json, s->scope,
				 s->where, s->error);

	json_decref(open_json);
	if (err)
		return -EINVAL;
	err = call_issue(&call, s->run->env, &answer);
	call_free(&call);
	if (!err && answer.fd >= 0)
		close(answer.fd);
	return err ? err : answer.err;
}

/* Whether a PMU counts for cpus alone: then it has a cpumask. */
static bool is_cpu_wide(const char *pmu)
{
	char path[300];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask", pmu);
	return !access(path, R_OK);
}

static void try_event(struct step *s, const char *pmu, const char *name, json_t *lists[3])
{
	const struct pmu *known = environment_pmu(s->run->env, pmu);
	bool wide = is_cpu_wide(pmu);
	char path[640], terms[512];
	json_t *attr;
	int err;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu, name);
	if (!known || strchr(name, '.') || read_line(path, terms, sizeof(terms)) < 0)
		return; /* name.unit, name.scale */
	json_array_append_new(lists[0], json_string(name));
	attr = attr_of_terms(pmu, known->type, terms);
	if (!attr)
		return;
	err = open_terms(s, attr, wide ? -1 : 0, wide ? 0 : -1);
	if (err)
		json_array_append_new(lists[2], json_sprintf("%s: %s", name, strerrorname_np(err)));
	else
		json_array_append_new(lists[1], json_string(name));
	json_decref(attr);
}

int verb_pmu_events(struct step *s)
{
	static const char *const keys[] = {"tried", "opened", "refused"};
	json_t *lists[3] = {json_array(), json_array(), json_array()};
	char pmu[64], path[160];
	struct dirent *entry;
	DIR *dir;
	int err = step_text(s, NULL, pmu, sizeof(pmu));

	if (!err && !step_is_checked(s)) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events", pmu);
		dir = opendir(path);
		while (dir && (entry = readdir(dir)))
			try_event(s, pmu, entry->d_name, lists);
		if (dir)
			closedir(dir);
	}
	for (size_t i = 0; i < 3; i++)
		step_show(s, keys[i], lists[i]);
	return err;
}
