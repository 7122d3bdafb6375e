/* SPDX-License-Identifier: MIT */
/*
 * One step on its way through its verb: what verbs are given, and what they use. A verb reads its
 * arguments first, and returns there while the case is only checked; then it acts.
 */
#ifndef PERFABI_STEP_H
#define PERFABI_STEP_H

#include "step/steps.h"

struct step {
	const json_t *json;
	const json_t *argument; /* the verb's own value */
	const struct cases *cases;
	struct scope *scope;
	struct steps *run;         /* NULL while checking */
	const struct where *where; /* of the step */
	struct where at;           /* of the argument */
	struct error *error;

	/* What came. */
	int err;               /* errno of the call, or 0 */
	uint64_t result;       /* for bind, unless there is more to see */
	json_t *seen;          /* what `expect` and bind are about, owned; or NULL */
	struct failure *inner; /* of a list within it, owned; or NULL */
	char call[1000];       /* as strace would show it; empty: the step's own JSON will do */
};

/* One row of the table of verbs. */
struct verb {
	const char *name;
	/*
	 * 0 when it has acted, or looked at its arguments; with error filled -ECANCELED if the
	 * kernel did not keep its word, -EINVAL if the arguments are wrong, another negative errno
	 * if what is no call under test failed.
	 */
	int (*run)(struct step *);
	const char *keys; /* what else it knows, a space between */
	enum {
		PREPARES,
		CALLS,
		SHOWS,
		SHOWS_RECORDS
	} kind; /* all but PREPARES can have `expect` */
	enum { BINDS_NOTHING, BINDS_RESULT, BINDS_SEEN } binds;
	const char *help;
};
const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e);

/* In checking, a step's arguments have been looked at. */
static inline bool step_is_checked(const struct step *s)
{
	return s->scope->checking;
}

/* Fills it; returns false. */
bool failure_set(struct failure *f, enum outcome outcome, const char *expected, const char *got);

/* What a verb returns when something failed that is not under test. */
int step_failed(struct step *s, int err);

/* A number at `key` (NULL: the verb's own), at most `max`; `fallback` if it is not there. */
int step_number(struct step *s, const char *key, uint64_t fallback, uint64_t max, uint64_t *out);

/* The same with negative numbers, in 32 bits. */
int step_signed(struct step *s, const char *key, int fallback, int *out);

/* What the name at `key` (NULL: the verb's own) was bound to. */
int step_bound(struct step *s, const char *key, uint64_t *out);

/* A text with its $names put in. */
int step_text(struct step *s, const char *key, char *out, size_t size);

/* The index of the word at `key` in a list; `fallback` if there is none. */
int step_word(struct step *s, const char *key, const char *const words[], int fallback, int *out);

/* True at `key`; false by default. */
int step_truth(struct step *s, const char *key, bool fallback, bool *out);

/* The bits of the names at `key`, a list. */
struct step_bit {
	const char *name;
	unsigned bit;
};
int step_bits(struct step *s, const char *key, const struct step_bit *bits, size_t count,
	      unsigned fallback, unsigned *out);

/* `prot`: the bits of mmap(2) by name. */
int step_prot(struct step *s, unsigned fallback, unsigned *prot);

/* Notes the call for people. */
void step_say(struct step *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes what a system call returned: its errno if `ret` is -1. */
void step_answer(struct step *s, long ret);

/* Sets a member of `seen`. */
void step_show(struct step *s, const char *key, json_t *value);
void step_show_number(struct step *s, const char *key, uint64_t value);

/* The event of that fd, or NULL; the mapping of its data, or NULL. */
struct opened *step_event(struct step *s, int fd);
struct map *step_map(struct step *s, int fd);

/*
 * Decodes bytes as the records of `events`, strictly: anything that is not accounted for to its
 * last byte fails the case. Returns the records, a new reference; NULL with `error` filled.
 * step_records.c.
 */
json_t *decode_records(struct step *s, const struct opened *const events[], size_t count,
		       const unsigned char *bytes, size_t size);
/* The mmap area as it is: {"page": ..., "records": [...]}. */
json_t *decode_ring(struct step *s, const struct opened *const events[], size_t count,
		    const struct map *map);

/* The verbs. */
int verb_open(struct step *s);
int verb_close(struct step *s);
int verb_dup(struct step *s);
int verb_ioctl(struct step *s);
int verb_prctl(struct step *s);
int verb_mmap(struct step *s);
int verb_munmap(struct step *s);
int verb_mremap(struct step *s);
int verb_mprotect(struct step *s);
int verb_buffer(struct step *s);
int verb_string(struct step *s);
int verb_poke(struct step *s);
int verb_peek(struct step *s);
int verb_function(struct step *s);
int verb_read(struct step *s);
int verb_write(struct step *s);
int verb_pread(struct step *s);
int verb_lseek(struct step *s);
int verb_page(struct step *s);
int verb_rdpmc(struct step *s);
int verb_records(struct step *s);
int verb_poll(struct step *s);
int verb_fcntl(struct step *s);
int verb_signals(struct step *s);
int verb_signals_seen(struct step *s);
int verb_process(struct step *s);
int verb_repeat(struct step *s);
int verb_fork(struct step *s);
int verb_thread(struct step *s);
int verb_exec(struct step *s);
int verb_wait(struct step *s);
int verb_kill(struct step *s);
int verb_post(struct step *s);
int verb_await(struct step *s);
int verb_become(struct step *s);
int verb_affinity(struct step *s);
int verb_enter(struct step *s);
int verb_file(struct step *s);
int verb_cgroup(struct step *s);
int verb_mkdir(struct step *s);
int verb_memfd(struct step *s);
int verb_limit(struct step *s);
int verb_stat(struct step *s);
int verb_text(struct step *s);
int verb_socket(struct step *s);
int verb_send(struct step *s);
int verb_receive(struct step *s);
int verb_bpf(struct step *s);
int verb_clock(struct step *s);
int verb_value(struct step *s);
int verb_pmu_events(struct step *s);
int verb_workload(struct step *s);
void workloads_help(FILE *f);

/* Whether `word` is one of those in `list`, a space between. verbs.c. */
bool step_in_words(const char *list, const char *word);

/* A help's words to the end of the line, and on the next ones below the first. verbs.c. */
void help_words(FILE *f, const char *words);

/* How many signals have been noted since the step that looked at them; step_signal.c. */
unsigned signals_noted(void);

/* Before an event counts: signals that come then touch nothing new. 0 or a negative errno. */
int signals_rehearse(void);

/* Waits for the child; its wait status in *status. 0 or a negative errno. step_process.c. */
int child_wait(struct child *child, int *status);

#endif
