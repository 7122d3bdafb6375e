/* SPDX-License-Identifier: MIT */
/*
 * libperfabi on a ring that the kernel is writing: this process changes its own name again and
 * again, and reads each COMM record of that as it comes. One data page goes around many times.
 *
 * usage: live_ring         exit status 0 if each was there, 77 if no such event opens here
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <perfabi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAMES = 5000, AT_ONCE = 20 };

static const char attr_json[] = "{\"type\": \"software\", \"config\": \"dummy\", \"comm\": 1, "
				"\"sample_id_all\": 1, \"sample_type\": [\"tid\", \"time\"]}";

struct seen {
	unsigned names;      /* in order */
	unsigned around;     /* records that went around the end of the buffer */
	uint64_t time, next; /* of the last one; where the next one has to be */
	uint32_t comm, pid, tid, sample_time;
};

static void fail(const char *what, long long got)
{
	printf("FAILED: %s: %lld\n", what, got);
	exit(1);
}

static void look_at(const struct perfabi_record *record, uint64_t data_size, struct seen *seen)
{
	const struct perfabi_field *comm = perfabi_field(record, seen->comm);
	const struct perfabi_field *time = perfabi_field(record, seen->sample_time);
	const struct perfabi_field *pid = perfabi_field(record, seen->pid);
	const struct perfabi_field *tid = perfabi_field(record, seen->tid);
	char wanted[16];

	if (record->what != PERFABI_RECORD || strcmp(record->name, "COMM") != 0)
		fail(record->message ? record->message : record->name, record->type);
	if (!comm || !time || !pid || !tid || pid->value != (uint64_t)getpid() ||
	    tid->value != (uint64_t)getpid() || record->event != -1)
		fail("fields", (long long)record->field_count);
	snprintf(wanted, sizeof(wanted), "name%u", seen->names++);
	if (comm->kind != PERFABI_STRING || comm->value != strlen(wanted) ||
	    strcmp((const char *)record->bytes + comm->offset, wanted) != 0)
		fail(wanted, (long long)comm->value);
	if (time->value <= seen->time)
		fail("time", (long long)time->value);
	seen->time = time->value;
	if (seen->next != record->offset)
		fail("offset", (long long)record->offset);
	seen->next = (record->offset + record->size) % data_size;
	seen->around += record->offset + record->size > data_size;
}

static void change_names(unsigned *name)
{
	for (int i = 0; i < AT_ONCE; i++) {
		char text[16];

		snprintf(text, sizeof(text), "name%u", (*name)++);
		prctl(PR_SET_NAME, text);
	}
}

/* Each name that was set is in the ring at once, and no more. */
static void follow(struct perfabi_reader *reader, int fd,
		   volatile struct perf_event_mmap_page *page, struct seen *seen)
{
	const struct perfabi_record *record;
	struct pollfd poll_fd = {fd, POLLIN, 0};
	unsigned name = 0;
	int got;

	while (name < NAMES) {
		uint64_t tail = page->data_tail;

		if (perfabi_next(reader, &record) || record)
			fail("a record before it was written", seen->names);
		change_names(&name);
		if (poll(&poll_fd, 1, 10000) != 1)
			fail("poll", errno);
		for (unsigned first = seen->names; (got = perfabi_next(reader, &record)) == 1;) {
			if (seen->names == first && page->data_tail != tail)
				fail("data_tail before the record is done with", first);
			look_at(record, page->data_size, seen);
		}
		if (got || seen->names != name)
			fail("names", seen->names);
		if (page->data_tail != page->data_head)
			fail("data_tail", (long long)page->data_tail);
	}
}

/* More than there is room for: LOST counts what the kernel dropped, and the ring goes on. */
static void overflow(struct perfabi_reader *reader, struct perfabi *perfabi, struct seen *seen)
{
	uint32_t lost_number = perfabi_field_number(perfabi, "lost");
	const struct perfabi_record *record;
	struct perfabi_result result;
	unsigned name = NAMES, records = 0;
	uint64_t lost = 0;

	while (name < 2 * NAMES)
		change_names(&name);
	while (perfabi_next(reader, &record) == 1)
		records += !strcmp(record->name, "COMM");
	change_names(&name);
	while (perfabi_next(reader, &record) == 1) {
		const struct perfabi_field *field = perfabi_field(record, lost_number);

		records += !strcmp(record->name, "COMM");
		lost += !strcmp(record->name, "LOST") && field ? field->value : 0;
	}
	perfabi_reader_result(reader, &result);
	if (!lost || result.lost != lost || records + lost != NAMES + AT_ONCE || result.errors)
		fail("lost", (long long)lost);
	if (result.records != seen->names + records + 1)
		fail("records", (long long)result.records);
}

int main(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				       .comm = 1,
				       .sample_id_all = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .watermark = 1,
				       .wakeup_watermark = 1};
	struct perfabi_options options = {.attr = attr_json};
	long page = sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	struct perfabi *perfabi = perfabi_new(NULL, NULL, 0);
	struct perfabi_reader *reader = NULL;
	struct perfabi_result result;
	struct seen seen = {0};
	void *area;

	if (fd < 0) {
		printf("perf_event_open: %s\n", strerror(errno));
		return errno == EACCES || errno == EPERM || errno == ENOSYS ? 77 : 1;
	}
	area = mmap(NULL, (size_t)(2 * page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area == MAP_FAILED)
		fail("mmap", errno);
	if (!perfabi ||
	    perfabi_open_ring(perfabi, area, (size_t)(2 * page), &options, &reader, &result))
		fail(perfabi ? result.message : "perfabi_new", 0);
	seen.comm = perfabi_field_number(perfabi, "comm");
	seen.pid = perfabi_field_number(perfabi, "pid");
	seen.tid = perfabi_field_number(perfabi, "sample_id.tid");
	seen.sample_time = perfabi_field_number(perfabi, "sample_id.time");
	follow(reader, fd, area, &seen);
	overflow(reader, perfabi, &seen);
	printf("%u names, %u went around\n", seen.names, seen.around);
	if (seen.around < 5)
		fail("too few records went around", seen.around);
	perfabi_close(reader);
	perfabi_free(perfabi);
	return 0;
}
