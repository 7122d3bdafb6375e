/* SPDX-License-Identifier: MIT */
/*
 * A program put together: of the definitions in snippets/ those that its text names, each behind
 * those that it names itself; and the headers of what all that names of the C library and the
 * kernel.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "translate/translate.h"
#include "text/json_text.h"

struct sources snippets_builtin(void);

/* What the headers have. _ at the end: all names that begin so. */
static const struct {
	const char *header, *names;
} headers[] = {
	{"dirent.h", "opendir DIR"},
	{"elf.h", "PT_NOTE NT_GNU_BUILD_ID"},
	{"errno.h", "errno"},
	{"fcntl.h", "open openat fcntl F_ FD_CLOEXEC O_"},
	{"fnmatch.h", "fnmatch"},
	{"glob.h", "glob"},
	{"grp.h", "setgroups"},
	{"limits.h", "INT_MAX LONG_MAX"},
	{"link.h", "dl_phdr_info"},
	{"linux/bpf.h", "BPF_"},
	{"linux/btf.h", "BTF_ btf_header btf_type"},
	{"linux/capability.h", "CAP_ __user_cap_header_struct"},
	{"linux/filter.h", "BPF_JUMP BPF_STMT sock_filter sock_fprog"},
	{"linux/futex.h", "FUTEX_"},
	{"linux/hw_breakpoint.h", "HW_BREAKPOINT_"},
	{"linux/perf_event.h", "PERF_ perf_event_attr perf_event_header perf_event_mmap_page"},
	{"linux/seccomp.h", "SECCOMP_ seccomp_data"},
	{"poll.h", "POLLIN pollfd"},
	{"pthread.h", "pthread_"},
	{"sched.h", "CPU_ CLONE_ SCHED_ cpu_set_t sched_getaffinity sched_getcpu sched_setaffinity "
		    "sched_setscheduler sched_yield unshare"},
	{"setjmp.h", "longjmp setjmp"},
	{"signal.h", "SIG_ SIGIO SIGKILL SIGTRAP kill raise sigaction siginfo_t sigset_t"},
	{"stdarg.h", "va_list"},
	{"stdbool.h", "bool true false"},
	{"stddef.h", "offsetof"},
	{"stdint.h", "INT64_C UINT64_C UINT64_MAX uintptr_t uint8_t uint16_t uint32_t uint64_t"},
	{"stdio.h", "FILE fflush perror printf puts snprintf sscanf"},
	{"stdlib.h", "atexit atoi calloc exit free malloc strtoll strtoul strtoull system"},
	{"string.h",
	 "memcmp memcpy memset stpcpy strchr strcmp strcpy strcspn strerror strlen strncmp strstr"},
	{"sys/auxv.h", "getauxval"},
	{"sys/epoll.h", "epoll_create1 epoll_ctl epoll_event epoll_wait"},
	{"sys/file.h", "flock"},
	{"sys/ioctl.h", "ioctl"},
	{"sys/mman.h", "MADV_ MAP_ MFD_ MREMAP_ PROT_ madvise memfd_create mmap mprotect munmap"},
	{"sys/prctl.h", "PR_ prctl"},
	{"sys/ptrace.h", "PTRACE_ ptrace"},
	{"sys/resource.h", "RLIM_ RLIMIT_ RUSAGE_ getrlimit setrlimit"},
	{"sys/select.h", "fd_set select"},
	{"sys/socket.h", "CMSG_ MSG_ SCM_ cmsghdr msghdr socketpair"},
	{"sys/stat.h", "fstat mkdir stat"},
	{"sys/syscall.h", "SYS_"},
	{"sys/sysmacros.h", "major minor"},
	{"sys/user.h", "user"},
	{"sys/utsname.h", "utsname"},
	{"sys/wait.h", "WIFEXITED waitid waitpid"},
	{"time.h", "CLOCK_ clockid_t nanosleep timespec"},
	{"unistd.h",
	 "_exit access alarm close dup execl faccessat fork ftruncate getegid geteuid "
	 "getpid gettid "
	 "getppid getuid lseek pause pread read rmdir seteuid syscall sysconf usleep write"}};

enum { DEFINITIONS_MAX = 256, NAMES_MAX = 512, HEADERS = sizeof(headers) / sizeof(headers[0]) };

struct definition {
	const char *text;
	size_t length;
	bool is_entered;
};

/* A word that a definition gives a meaning to. */
struct name {
	const char *word;
	size_t length;
	struct definition *of;
};

struct writing {
	struct definition all[DEFINITIONS_MAX];
	struct name names[NAMES_MAX];
	const struct definition *order[DEFINITIONS_MAX]; /* as they are written */
	size_t count, name_count, taken;
	size_t own_names; /* so many of them are the program's own */
	bool needs[HEADERS];
};

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static void define_word(struct writing *w, const char *word, size_t length)
{
	if (length && strncmp(word, "struct", length) != 0 && word[0] != '_' &&
	    w->name_count < NAMES_MAX)
		w->names[w->name_count++] = (struct name){word, length, &w->all[w->count]};
}

/* What a line that begins a definition, or ends one of a variable, gives a meaning to. */
static void define_words_of(struct writing *w, const char *line)
{
	const char *at = line, *end = line + strcspn(line, "([=;{\n");

	if (!strncmp(line, "enum", 4)) { /* its tag and its enumerators */
		for (size_t n; *at != '}'; at += n ? n : 1)
			if ((n = word_length(at)) && at != line)
				define_word(w, at, n);
	} else if (!strncmp(line, "#define ", 8)) {
		define_word(w, line + 8, word_length(line + 8));
	} else if (!strncmp(line, "} ", 2)) {
		at += 2 + strspn(line + 2, "*");
		define_word(w, at, word_length(at));
	} else if (*line != '#' && *line != '/' && *line != '}') {
		while (end > line && isspace((unsigned char)end[-1]))
			end--;
		for (at = end; at > line && word_length(at - 1);)
			at--;
		define_word(w, at, (size_t)(end - at));
	}
}

static void split(struct writing *w, const char *text)
{
	for (size_t n; *text && w->count < DEFINITIONS_MAX; text += n + strspn(text + n, "\n")) {
		size_t depth = 0;

		/* Up to the empty line in front of the next, or the end; #if holds several. */
		for (n = 0; text[n] && (depth || !n || text[n] != '\n' ||
					isspace((unsigned char)text[n + 1]));) {
			depth += !strncmp(text + n, "#if ", 4);
			depth -= depth && !strncmp(text + n, "#endif", 6);
			n += strcspn(text + n, "\n");
			n += text[n] == '\n';
		}
		if (!strncmp(text, "/* SPDX", 7))
			continue;
		w->all[w->count] = (struct definition){.text = text, .length = n};
		for (const char *line = text; line < text + n; line += strcspn(line, "\n") + 1)
			if (!isspace((unsigned char)*line))
				define_words_of(w, line);
		w->count++;
	}
}

static bool is_word(const char *at, size_t n, const char *word, size_t length)
{
	return n == length && !strncmp(at, word, n);
}

static bool has_name(const char *names, const char *word, size_t length)
{
	for (size_t n; (n = strcspn(names, " ")); names += n + (names[n] == ' '))
		if (is_word(names, n, word, length) ||
		    (names[n - 1] == '_' && n < length && !strncmp(names, word, n)))
			return true;
	return false;
}

static void split_all(struct writing *w)
{
	struct sources snippets = snippets_builtin();

	for (size_t i = 0; i < snippets.count; i++)
		split(w, snippets.list[i].text);
}

bool c_is_snippet(const char *name)
{
	struct writing *w = or_exit(calloc(1, sizeof(*w)));
	size_t length = strlen(name);
	bool found = false;

	split_all(w);
	for (size_t i = 0; i < HEADERS; i++)
		found = found || has_name(headers[i].names, name, length);
	for (size_t i = 0; i < w->name_count; i++)
		found = found || is_word(w->names[i].word, w->names[i].length, name, length);
	free(w);
	return found;
}

static void take_what_it_names(struct writing *w, const char *text, const struct definition *of);

static void take_meaning(struct writing *w, const char *word, size_t n,
			 const struct definition *from)
{
	for (size_t i = 0; i < HEADERS; i++)
		w->needs[i] = w->needs[i] || has_name(headers[i].names, word, n);
	for (size_t i = 0; i < w->name_count; i++) {
		struct definition *d = w->names[i].of;

		if (!is_word(w->names[i].word, w->names[i].length, word, n))
			continue;
		if (d == from) /* which may be of a struct of the same name, before it */
			return;
		if (!d->is_entered) {
			d->is_entered = true;
			take_what_it_names(w, d->text, d);
			w->order[w->taken++] = d;
		}
		if (i < w->own_names) /* which stands for a snippet of the same name */
			return;
	}
}

/* Each definition is entered once, so this goes no deeper than there are definitions. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void take_what_it_names(struct writing *w, const char *text, const struct definition *of)
{
	const char *end = text + (of ? of->length : strlen(text));

	for (size_t n; text < end; text += n ? n : 1) {
		n = word_length(text);
		if (!strncmp(text, "/*", 2)) {
			n = (size_t)(strstr(text, "*/") + 2 - text);
		} else if (*text == '"') { /* what is quoted names nothing */
			for (n = 1; text[n] != '"'; n++)
				n += text[n] == '\\';
			n++;
		} else if (n) {
			take_meaning(w, text, n, of);
		}
	}
}

void c_write(FILE *f, const char *comment, const char *own, const char *text)
{
	struct writing *w = or_exit(calloc(1, sizeof(*w)));

	split(w, own);
	w->own_names = w->name_count;
	split_all(w);
	take_what_it_names(w, text, NULL);
	fprintf(f, "%s#define _GNU_SOURCE\n", comment);
	for (size_t i = 0; i < HEADERS; i++)
		if (w->needs[i])
			fprintf(f, "#include <%s>\n", headers[i].header);
	for (size_t i = 0; i < w->taken; i++)
		fprintf(f, "\n%.*s", (int)w->order[i]->length, w->order[i]->text);
	fprintf(f, "\n/* The case. */\n\n%s", text);
	free(w);
}
