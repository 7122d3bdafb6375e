/* SPDX-License-Identifier: MIT */
/*
 * Workloads, as C: readied, done between the ioctls of `counted`, tidied up.
 */
#include <string.h>

#include "step/in_c.h"
#include "step/verbs/in_c.h"

/* One workload's lines, in front of what is counted, counted, and behind it. */
struct workload_lines {
	const char *name;
	void (*ready)(struct translation *t, const struct statement *s); /* or NULL */
	void (*act)(struct translation *t, const struct statement *s);
	void (*tidy)(struct translation *t, const struct statement *s); /* or NULL */
};

static void spin(struct translation *t, const struct statement *s)
{
	struct c_name *filled;
	const char *until = "";

	if (!statement_json(s, "ms")) {
		c_line(t, "for (volatile uint64_t i = 0; i < %s; i++)", number_in_c(t, s, "times"));
		c_line(t, "\t;");
		return;
	}
	if (statement_json(s, "signals"))
		until = c_text(t, "signals_noted() < %s && ", number_in_c(t, s, "signals"));
	if (statement_json(s, "filled")) {
		filled = c_named(t, json_string_value(statement_json(s, "filled")));
		if (!filled || !filled->map[0])
			c_missing(t, "spinning until a buffer is filled that is not mapped here");
		else
			until = c_text(t, "%shead_of(%s) < %s && ", until, filled->map,
				       number_in_c(t, s, "bytes"));
	}
	c_line(t, "for (uint64_t spun = 0; %sspun < UINT64_C(1000000) * %s;)", until,
	       number_in_c(t, s, "ms"));
	c_line(t, "\tspun += spin_once();");
}

static void sleep_ms(struct translation *t, const struct statement *s)
{
	c_line(t, "sleep_for(%s);", number_in_c(t, s, "ms"));
}

/* Eight bytes by one instruction, which 32-bit processors have for a double alone. */
static const char *word_type(const struct statement *s)
{
	switch (json_integer_value(statement_json(s, "size"))) {
	case 1:
		return "uint8_t";
	case 2:
		return "uint16_t";
	case 4:
		return "uint32_t";
	default:
		return sizeof(long) == 8 ? "uint64_t" : "double";
	}
}

static void store_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "for (uint64_t i = 0; i < %s; i++)", number_in_c(t, s, "times"));
	c_line(t, "\t*(volatile %s *)(uintptr_t)(%s) = (%s)i;", word_type(s),
	       number_in_c(t, s, "at"), word_type(s));
}

static void load_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "for (uint64_t i = 0; i < %s; i++)", number_in_c(t, s, "times"));
	c_line(t, "\t(void)*(volatile %s *)(uintptr_t)(%s);", word_type(s),
	       number_in_c(t, s, "at"));
}

static void call_probed(struct translation *t, const struct statement *s)
{
	c_line(t, "call_probed(%s);", number_in_c(t, s, "times"));
}

static const char *memory_of(struct translation *t)
{
	return c_text(t, "memory_%u", t->functions_made);
}

static void touch_ready_in_c(struct translation *t, const struct statement *s)
{
	const char *from = !strcmp(s->verb->name, "touch") ? "fresh_pages" : "file_pages";

	++t->functions_made;
	c_line(t, "%s = %s(%s);", c_declare(t, memory_of(t), "volatile unsigned char *", ""), from,
	       number_in_c(t, s, "pages"));
	c_line(t, "touch_pages(%s, 0); /* itself is no fault then */", memory_of(t));
}

static void touch(struct translation *t, const struct statement *s)
{
	c_line(t, "touch_pages(%s, %s);", memory_of(t), number_in_c(t, s, "pages"));
}

static void tidy_touch(struct translation *t, const struct statement *s)
{
	c_line(t, "munmap((void *)%s, %s * page_size());", memory_of(t),
	       number_in_c(t, s, "pages"));
}

static void times_of(struct translation *t, const struct statement *s, const char *call)
{
	c_line(t, "for (uint64_t i = 0; i < %s; i++)", number_in_c(t, s, "times"));
	c_line(t, "\t%s;", call);
}

static void system_call(struct translation *t, const struct statement *s)
{
	times_of(t, s, "syscall(SYS_getppid)");
}

static void open_close(struct translation *t, const struct statement *s)
{
	times_of(t, s, "close(open(\"/dev/null\", O_RDONLY | O_CLOEXEC))");
}

static void yield(struct translation *t, const struct statement *s)
{
	times_of(t, s, "sched_yield()");
}

static const struct c_member switch_members[] = {{.path = "least", .c = "least", .kind = C_NUMBER},
						 {.path = "most", .c = "most", .kind = C_NUMBER},
						 {0}};

/* The variable that the switches are counted in, and what it began with. */
static void ready_switch(struct translation *t, const struct statement *s)
{
	static const struct c_shape shape = {.kind = C_OBJECT, .members = switch_members};
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct left", &shape) : NULL;

	c_line(t, "%s = (struct left){.most = switches().all};",
	       name ? name->c
		    : c_declare(t, c_text(t, "left_%u", ++t->functions_made), "struct left", ""));
}

static const char *left_of(struct translation *t, const struct statement *s)
{
	struct c_name *name = s->bind ? c_named(t, s->bind) : NULL;

	return name ? name->c : c_text(t, "left_%u", t->functions_made);
}

static void leave_cpu(struct translation *t, const struct statement *s)
{
	c_line(t, "%s.least = leave_cpu(%s);", left_of(t, s), number_in_c(t, s, "times"));
}

static void tidy_switch(struct translation *t, const struct statement *s)
{
	const char *c = left_of(t, s);

	c_line(t, "%s.most = switches().all - %s.most;", c, c);
}

static void migrate_ready_in_c(struct translation *t, const struct statement *s)
{
	(void)s;
	c_line(t, "ready_to_migrate();");
}

static void migrate(struct translation *t, const struct statement *s)
{
	c_line(t, "migrate(%s);", number_in_c(t, s, "times"));
}

static bool is_by_proc(const struct statement *s)
{
	const char *what = json_string_value(statement_json(s, "what"));

	return what && !strcmp(what, "proc");
}

static void rename_ready_in_c(struct translation *t, const struct statement *s)
{
	if (is_by_proc(s))
		c_line(t, "%s = open(\"/proc/thread-self/comm\", O_WRONLY | O_CLOEXEC);",
		       c_declare(t, c_text(t, "comm_%u", ++t->functions_made), "int", ""));
}

static void rename_thread(struct translation *t, const struct statement *s)
{
	const json_t *name = statement_json(s, "name");
	const char *text = name ? c_string(t, name) : "\"\"";

	if (is_by_proc(s))
		c_line(t, "must(write(comm_%u, %s, strlen(%s)) >= 0);", t->functions_made, text,
		       text);
	else
		c_line(t, "prctl(PR_SET_NAME, %s);", text);
}

static const struct c_member map_members[] = {{.path = "address", .c = "address", .kind = C_NUMBER},
					      {.path = "length", .c = "length", .kind = C_NUMBER},
					      {.path = "maj", .c = "maj", .kind = C_NUMBER},
					      {.path = "min", .c = "min", .kind = C_NUMBER},
					      {.path = "ino", .c = "ino", .kind = C_NUMBER},
					      {0}};

static const char *mapped_of(struct translation *t, const struct statement *s)
{
	struct c_name *name = s->bind ? c_named(t, s->bind) : NULL;

	return name ? name->c : c_text(t, "mapped_%u", t->functions_made);
}

static void map_ready_in_c(struct translation *t, const struct statement *s)
{
	static const struct c_shape shape = {.kind = C_OBJECT, .members = map_members};
	const char *what = json_string_value(statement_json(s, "what"));
	const json_t *text = statement_json(s, "name");
	struct c_name *name = s->bind ? c_bind(t, s->bind, "struct mapped", &shape) : NULL;
	const char *c = name ? name->c
			     : c_declare(t, c_text(t, "mapped_%u", ++t->functions_made),
					 "struct mapped", "");

	c_line(t, "%s = %s(%s%s%s);", c,
	       !what || !strcmp(what, "anonymous") ? "map_nothing"
	       : !strcmp(what, "memfd")            ? "map_memfd"
						   : "map_file",
	       what && strcmp(what, "anonymous") != 0 ? c_string(t, text) : "",
	       what && strcmp(what, "anonymous") != 0 ? ", " : "", number_in_c(t, s, "length"));
}

static void map(struct translation *t, const struct statement *s)
{
	const json_t *prot = statement_json(s, "prot"), *private = statement_json(s, "private");

	c_line(t, "map_it(&%s, %s, %s);", mapped_of(t, s),
	       prot ? json_array_size(prot) ? c_words(t, prot, "PROT_") : "PROT_NONE" : "PROT_READ",
	       !private || json_is_true(private) ? "MAP_PRIVATE" : "MAP_SHARED");
}

static void protect(struct translation *t, const struct statement *s)
{
	const json_t *prot = statement_json(s, "prot");

	c_line(t, "must(!mprotect((void *)(uintptr_t)(%s), %s, %s));", number_in_c(t, s, "at"),
	       number_in_c(t, s, "length"),
	       prot ? json_array_size(prot) ? c_words(t, prot, "PROT_") : "PROT_NONE"
		    : "PROT_READ");
}

static void grow_heap(struct translation *t, const struct statement *s)
{
	c_line(t, "grow_heap(%s);", number_in_c(t, s, "length"));
}

static void leave_spaces(struct translation *t, const struct statement *s)
{
	const json_t *op = statement_json(s, "op");
	const char *flags = "0";
	json_t *one;
	size_t i;

	json_array_foreach(op, i, one) {
		const char *name = json_string_value(one);
		json_t *list = json_pack("[s]", !strcmp(name, "mnt") ? "ns" : name);

		flags = c_text(t, "%s | %s", flags,
			       !strcmp(name, "time")  ? "0x80 /* CLONE_NEWTIME */"
			       : !strcmp(name, "mnt") ? "CLONE_NEWNS"
						      : c_words(t, list, "CLONE_NEW"));
		json_decref(list);
	}
	c_line(t, "must(!unshare(%s));", flags);
}

static const struct workload_lines all[] = {{"spin", NULL, spin, NULL},
					    {"sleep", NULL, sleep_ms, NULL},
					    {"store", NULL, store_in_c, NULL},
					    {"load", NULL, load_in_c, NULL},
					    {"call", NULL, call_probed, NULL},
					    {"touch", touch_ready_in_c, touch, tidy_touch},
					    {"file-fault", touch_ready_in_c, touch, tidy_touch},
					    {"syscall", NULL, system_call, NULL},
					    {"open", NULL, open_close, NULL},
					    {"yield", NULL, yield, NULL},
					    {"switch", ready_switch, leave_cpu, tidy_switch},
					    {"migrate", migrate_ready_in_c, migrate, NULL},
					    {"rename", rename_ready_in_c, rename_thread, NULL},
					    {"map", map_ready_in_c, map, NULL},
					    {"protect", NULL, protect, NULL},
					    {"grow-heap", NULL, grow_heap, NULL},
					    {"unshare", NULL, leave_spaces, NULL},
					    {0}};

static const struct workload_lines *lines_of(const char *name)
{
	const struct workload_lines *lines = all;

	while (lines->name && strcmp(lines->name, name) != 0)
		lines++;
	return lines->name ? lines : NULL;
}

/* The requests are made once before, as nothing is to be looked up while it counts. */
static void counted(struct translation *t, const struct statement *s,
		    const struct workload_lines *lines)
{
	const char *fd = fd_in_c(t, s, "counted");
	bool by_refresh = statement_json(s, "refresh") != NULL;
	const char *whom = by_refresh ? "0" : "PERF_IOC_FLAG_GROUP";

	if (json_object_get(t->words, "signals"))
		c_line(t, "rehearse_signals();");
	c_line(t, "must(!ioctl(%s, PERF_EVENT_IOC_DISABLE, %s));", fd, whom);
	if (by_refresh)
		c_line(t, "must(!ioctl(%s, PERF_EVENT_IOC_REFRESH, %s));", fd,
		       number_in_c(t, s, "refresh"));
	else
		c_line(t, "must(!ioctl(%s, PERF_EVENT_IOC_ENABLE, %s));", fd, whom);
	lines->act(t, s);
	c_line(t, "must(!ioctl(%s, PERF_EVENT_IOC_DISABLE, %s));", fd, whom);
}

void workload_in_c(struct translation *t, const struct statement *s)
{
	const struct workload_lines *lines = lines_of(s->verb->name);

	if (!lines) {
		c_missing(t, "the workload \"%s\"", s->verb->name);
		return;
	}
	if (lines->ready)
		lines->ready(t, s);
	if (statement_json(s, "counted"))
		counted(t, s, lines);
	else
		lines->act(t, s);
	if (lines->tidy)
		lines->tidy(t, s);
}
