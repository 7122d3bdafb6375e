/* SPDX-License-Identifier: MIT */
/*
 * The first process of a cell of the matrix: runs the jobs of /plan one after the other, and hands
 * what they print out of the guest.
 *
 * A line of /plan is a job: NAME, UID, CAPS, PARANOID, SECONDS and the words of a command, with
 * tabs between. UID is whom it runs as. CAPS, a mask in hexadecimal, is all that it has of
 * capabilities (-: what UID has). PARANOID is written to perf_event_paranoid first (-: what stood
 * there at boot is). After SECONDS the job is killed.
 *
 * Output leaves in blocks of 4 KiB, aligned to 4 KiB. They lie in the guest's RAM, which the host
 * has as a file; it finds them by the nonce of the kernel's command line (cell.nonce=HEX). With
 * cell.disk=PATH they are written to that disk. Either way a guest that hangs leaves its blocks. A
 * block is, in little endian:
 *
 *     nonce[16]  u32 stream  u32 number  u32 length  u32 crc32 of the payload  payload[4064]
 *
 * Where there is a /bin/busybox, it gives a shell on the console instead, and no plan is looked
 * for.
 *
 * Stream 0 is this program's own lines of JSON: what began, what ended and how, what alarms the
 * kernel raised before a line's end, and at last {"end": 0}. Job n (from 0) has the streams 2n+1,
 * its standard output, and 2n+2, its standard error. `number` counts the blocks of a stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "machine/alarm.h"

enum {
	NONCE = 16,
	BLOCK = 4096,
	HEADER = NONCE + 4 * 4,
	PAYLOAD = BLOCK - HEADER,
	RESERVED = 64, /* blocks that only stream 0 gets */
	WORDS_MAX = 40,
	LINE_SIZE = 4096,
	GRACE = 5, /* seconds between SIGTERM and SIGKILL, and for what a job leaves behind */
};

/* Where blocks go. */
struct area {
	unsigned char nonce[NONCE];
	unsigned char *memory; /* NULL: to the disk */
	int disk;
	size_t used, room; /* in blocks */
};

struct stream {
	struct area *area;
	uint32_t id, number;
	size_t at; /* the block's place in the area; SIZE_MAX: none yet */
	size_t length;
	unsigned char payload[PAYLOAD];
};

struct job {
	const char *name, *caps, *paranoid;
	uid_t uid;
	long seconds; /* how long it may say nothing */
	char *words[WORDS_MAX + 1];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void put_u32(unsigned char *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

/* The block that the stream is filling, to its place. */
static void stream_flush(struct stream *s)
{
	struct area *area = s->area;
	unsigned char block[BLOCK] = {0};
	size_t room = s->id ? area->room - RESERVED : area->room;

	if (!s->length)
		return;
	if (s->at == SIZE_MAX) {
		if (area->used >= room)
			return;
		s->at = area->used++;
	}
	memcpy(block, area->nonce, NONCE);
	put_u32(block + NONCE, s->id);
	put_u32(block + NONCE + 4, s->number);
	put_u32(block + NONCE + 8, (uint32_t)s->length);
	put_u32(block + NONCE + 12, (uint32_t)crc32(0, s->payload, (uInt)s->length));
	memcpy(block + HEADER, s->payload, s->length);
	if (area->memory)
		memcpy(area->memory + s->at * BLOCK, block, BLOCK);
	else if (pwrite(area->disk, block, BLOCK, (off_t)(s->at * BLOCK)) != BLOCK)
		perror("init: disk");
}

static void stream_put(struct stream *s, const void *data, size_t size)
{
	const unsigned char *from = data;

	while (size) {
		size_t n = size < PAYLOAD - s->length ? size : PAYLOAD - s->length;

		memcpy(s->payload + s->length, from, n);
		s->length += n;
		from += n;
		size -= n;
		if (s->length < PAYLOAD)
			continue;
		stream_flush(s);
		s->number++;
		s->length = 0;
		s->at = SIZE_MAX;
	}
}

/* A line of JSON to stream 0, and to the console, where a person may look on. */
__attribute__((format(printf, 2, 3))) static void say(struct stream *s, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(line))
		return;
	stream_put(s, line, (size_t)length);
	stream_flush(s);
	printf("cell: %s", line);
	fflush(stdout);
}

/* As text within a string of JSON: the kernel's log has no control characters but its own escapes.
 */
static void say_alarm(void *context, const struct alarm *alarm)
{
	char text[2 * sizeof(alarm->text)], *to = text;

	for (const char *from = alarm->text; *from; from++) {
		if (*from == '"' || *from == '\\')
			*to++ = '\\';
		*to++ = *from;
	}
	*to = '\0';
	say(context, "{\"alarm\":\"%s\",\"text\":\"%s\"}\n", alarm->is, text);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* What a file holds, without the end of its line; an empty text if there is none. */
static void read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	out[n < 0 ? 0 : n] = 0;
	out[strcspn(out, "\n")] = 0;
	if (fd >= 0)
		close(fd);
}

static void mount_at(const char *type, const char *path)
{
	mkdir(path, 0755);
	mount(type, path, type, 0, NULL);
}

static void set_up(void)
{
	int console;

	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("devtmpfs", "/dev");
	mount_at("tmpfs", "/tmp");
	mount_at("tmpfs", "/run");
	mount_at("tracefs", "/sys/kernel/tracing");
	mount_at("debugfs", "/sys/kernel/debug");
	mount_at("securityfs", "/sys/kernel/security");
	mount_at("cgroup2", "/sys/fs/cgroup");
	chmod("/tmp", 01777);
	console = open("/dev/console", O_RDWR);
	for (int fd = 0; console >= 0 && fd < 3; fd++)
		dup2(console, fd);
	if (console > 2)
		close(console);
	/* A hierarchy comes to life with its first controller. */
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "+pids");
	write_file("/sys/fs/cgroup/cgroup.subtree_control", "-pids");
	/* An emulator is slow, not busy with samples: the kernel is not to lower its rate. */
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "99");
}

/* The value of `key` on the kernel's command line, into `out`; an empty text if there is none. */
static void option(const char *key, char *out, size_t size)
{
	char line[LINE_SIZE], *at;

	read_file("/proc/cmdline", line, sizeof(line));
	at = strstr(line, key);
	snprintf(out, size, "%s", at ? at + strlen(key) : "");
	out[strcspn(out, " ")] = 0;
}

static bool area_open(struct area *area)
{
	char nonce[2 * NONCE + 1], disk[100];
	long ram = sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / BLOCK);

	option("cell.nonce=", nonce, sizeof(nonce));
	for (int i = 0; i < NONCE; i++) {
		char byte[3] = {nonce[2 * i], nonce[2 * i + 1], 0};

		area->nonce[i] = (unsigned char)strtoul(byte, NULL, 16);
	}
	area->room = (size_t)ram / 4;
	option("cell.disk=", disk, sizeof(disk));
	if (*disk) {
		area->disk = open(disk, O_WRONLY | O_DSYNC | O_CLOEXEC);
		return area->disk >= 0;
	}
	/* Shared: a write after a fork must not move a page and leave an old one behind. */
	area->memory = mmap(NULL, area->room * BLOCK, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return area->memory != MAP_FAILED;
}

/* A line of /plan, which is cut into its words. */
static bool job_read(char *line, struct job *job)
{
	char *words[5] = {NULL}, *rest = line;
	size_t count = 0;

	for (size_t i = 0; i < 5 && rest; i++)
		words[i] = strsep(&rest, "\t");
	while (rest && count < WORDS_MAX)
		job->words[count++] = strsep(&rest, "\t");
	job->words[count] = NULL;
	if (!count)
		return false;
	job->name = words[0];
	job->uid = (uid_t)strtoul(words[1], NULL, 10);
	job->caps = words[2];
	job->paranoid = words[3];
	job->seconds = strtol(words[4], NULL, 10);
	return true;
}

/* The child's identity: false if the kernel will not have it. */
static bool become(const struct job *job)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}, {0}};
	unsigned long long mask = strtoull(job->caps, NULL, 16);

	if (!job->uid)
		return true;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(job->uid, job->uid, job->uid) || setresuid(job->uid, job->uid, job->uid))
		return false;
	for (int i = 0; i < 2; i++)
		data[i].permitted = data[i].effective = data[i].inheritable =
			(uint32_t)(mask >> (32 * i));
	if (syscall(SYS_capset, &header, data))
		return false;
	for (unsigned long cap = 0; cap < 64; cap++) {
		if ((mask >> cap & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			return false;
	}
	return true;
}

/* A file to standard output: where no shell is, nothing else hands one out. */
static int cat(const char *path)
{
	char buffer[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0, done; at < n; at += done)
			if ((done = write(1, buffer + at, (size_t)(n - at))) < 0)
				return 1;
	return n ? 1 : 0;
}

static void run_child(const struct job *job, int out, int err)
{
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	if (!strcmp(job->words[0], "cat"))
		_exit(cat(job->words[1]));
	if (become(job))
		execv(job->words[0], job->words);
	fprintf(stderr, "init: %s: %s\n", job->words[0], strerror(errno));
	_exit(127);
}

/* What is there to read of `fd`, to its stream; closes it and makes it -1 at its end. True if there
 * was something. */
static bool drain(struct pollfd *fd, struct stream *s)
{
	char buffer[65536];
	ssize_t n;

	if (!fd->revents)
		return false;
	n = read(fd->fd, buffer, sizeof(buffer));
	if (n > 0) {
		stream_put(s, buffer, (size_t)n);
		stream_flush(s);
	} else {
		close(fd->fd);
		fd->fd = -1;
	}
	return n > 0;
}

/* Reads both until the job is over. Its status as of wait(2); -1: it had to be killed. */
static int attend(pid_t pid, const struct job *job, struct pollfd fds[2], struct stream streams[2])
{
	double deadline = now() + (double)job->seconds;
	bool killed = false, over = false;
	int status = 0;

	while (!over || fds[0].fd >= 0 || fds[1].fd >= 0) {
		int any;

		poll(fds, 2, 100);
		for (int i = 0; i < 2; i++)
			if (drain(&fds[i], &streams[i]) && !over && !killed)
				deadline = now() + (double)job->seconds;
		for (pid_t dead; (dead = waitpid(-1, &any, WNOHANG)) > 0;) {
			if (dead != pid)
				continue;
			over = true;
			status = any;
			if (!killed)
				deadline = now() + GRACE; /* for whoever still holds a pipe */
		}
		if (now() < deadline)
			continue;
		if (over)
			break;
		kill(-pid, killed ? SIGKILL : SIGTERM);
		killed = true;
		deadline = now() + GRACE;
	}
	return killed ? -1 : status;
}

/* Sets perf_event_paranoid, where the kernel has it: "-" is what it was. False if it is another
 * then. */
static bool set_paranoid(const char *value)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	char is[20];

	if (!strcmp(value, "-"))
		return true;
	write_file(path, value);
	read_file(path, is, sizeof(is));
	return !is[0] || !strcmp(is, value);
}

static void job_run(const struct job *job, uint32_t number, struct area *area, struct stream *own,
		    struct alarm_watch *watch)
{
	struct stream streams[2] = {
		{.area = area, .id = 2 * number + 1, .at = SIZE_MAX},
		{.area = area, .id = 2 * number + 2, .at = SIZE_MAX},
	};
	double began = now();
	int out[2], err[2], status;
	struct pollfd fds[2];
	pid_t pid;

	alarm_watch_look(watch, say_alarm, own);
	say(own, "{\"begin\":\"%s\",\"job\":%u,\"at\":%.3f}\n", job->name, number, began);
	if (!set_paranoid(job->paranoid) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ||
	    (pid = fork()) < 0) {
		say(own, "{\"over\":\"%s\",\"status\":-2,\"signal\":0,\"seconds\":0}\n", job->name);
		return;
	}
	if (!pid)
		run_child(job, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	fds[0] = (struct pollfd){.fd = out[0], .events = POLLIN};
	fds[1] = (struct pollfd){.fd = err[0], .events = POLLIN};
	status = attend(pid, job, fds, streams);
	for (int i = 0; i < 2; i++) {
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	}
	alarm_watch_look(watch, say_alarm, own);
	say(own, "{\"over\":\"%s\",\"status\":%d,\"signal\":%d,\"seconds\":%.3f}\n", job->name,
	    status < 0 ? -1 : WEXITSTATUS(status), status < 0 ? 0 : WTERMSIG(status),
	    now() - began);
}

/* The PMUs of /modules/pmus, a line each, which a module makes. */
static void register_pmus(struct stream *own)
{
	static const char parameter[] = "/sys/module/perfabi_pmu/parameters/register";
	FILE *lines = fopen("/modules/pmus", "re");
	int module = lines ? open("/modules/perfabi_pmu.ko", O_RDONLY | O_CLOEXEC) : -1;
	char line[LINE_SIZE];

	if (lines && (module < 0 || syscall(SYS_finit_module, module, "", 0)))
		say(own, "{\"pmu\":\"perfabi_pmu\",\"errno\":%d}\n", errno);
	while (lines && fgets(line, sizeof(line), lines)) {
		line[strcspn(line, "\n")] = 0;
		if (!write_file(parameter, line))
			say(own, "{\"pmu\":\"%s\",\"errno\":%d}\n", line, errno);
	}
	if (lines)
		fclose(lines);
	if (module >= 0)
		close(module);
}

static void run_plan(struct area *area, struct stream *own)
{
	char paranoid[20], line[LINE_SIZE];
	FILE *plan = fopen("/plan", "re");
	struct alarm_watch watch;
	struct job job;

	alarm_watch_begin(&watch, true);
	if (!access("/modules/pmus", F_OK)) /* a module from outside, and without a signature */
		watch.told |= UINT64_C(1) << 12 | UINT64_C(1) << 13;
	read_file("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	for (uint32_t number = 0; plan && fgets(line, sizeof(line), plan);) {
		line[strcspn(line, "\n")] = 0;
		if (!job_read(line, &job))
			continue;
		if (!strcmp(job.paranoid, "-"))
			job.paranoid = paranoid;
		job_run(&job, number++, area, own, &watch);
	}
	if (plan)
		fclose(plan);
	alarm_watch_look(&watch, say_alarm, own);
	alarm_watch_end(&watch);
}

/* For a person, with the console as its terminal, until they leave it. */
static void run_shell(void)
{
	char *words[] = {
		"busybox", "sh", "-c",
		"busybox --install -s /bin; cd /; [ ! -e command ] || exec sh command; exec sh -i",
		NULL};
	char *environment[] = {"PATH=/bin:/cell", "HOME=/", "TERM=vt100", "PS1=\\h:\\w# ", NULL};
	pid_t pid = fork();

	if (!pid) {
		int console;

		setsid();
		console = open("/dev/console", O_RDWR);
		for (int fd = 0; console >= 0 && fd < 3; fd++)
			dup2(console, fd);
		ioctl(0, TIOCSCTTY, 1);
		execve("/bin/busybox", words, environment);
		perror("init: /bin/busybox");
		_exit(127);
	}
	for (pid_t dead; (dead = wait(NULL)) != pid && (dead > 0 || errno == EINTR);)
		;
}

static void power_off(void)
{
	tcdrain(1);
	sync();
	reboot(RB_POWER_OFF);
	reboot(RB_AUTOBOOT);
}

int main(void)
{
	struct area area = {.disk = -1};
	struct stream own = {.area = &area, .at = SIZE_MAX};
	struct utsname name = {0};
	char paranoid[20];

	set_up();
	if (!access("/bin/busybox", X_OK)) {
		run_shell();
		power_off();
	}
	uname(&name);
	if (area_open(&area)) {
		read_file("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
		say(&own,
		    "{\"release\":\"%s\",\"version\":\"%s\",\"machine\":\"%s\",\"page_size\":%ld,"
		    "\"cpus\":%ld,\"paranoid\":\"%s\",\"at\":%.3f}\n",
		    name.release, name.version, name.machine, sysconf(_SC_PAGESIZE),
		    sysconf(_SC_NPROCESSORS_ONLN), paranoid, now());
		/* What a kernel of gcov's has counted while it booted is not the plan's. */
		write_file("/sys/kernel/debug/gcov/reset", "1");
		register_pmus(&own);
		run_plan(&area, &own);
		say(&own, "{\"end\":0,\"blocks\":%zu,\"room\":%zu}\n", area.used, area.room);
	} else {
		perror("init: nowhere to put what is found");
	}
	power_off();
	return 1;
}
