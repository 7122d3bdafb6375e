/* SPDX-License-Identifier: MIT */
/*
 * One lie of the kernel: what it does not do, or says other than it is. The list is JSON, made of
 * cases/abi by list.py. What perfabi asks of the kernel passes through functions that ld's --wrap
 * puts in its way (open.c, calls.c, signals.c, records.c); each goes through the lies of its kind.
 */
#ifndef PERFABI_LIE_H
#define PERFABI_LIE_H

#include "abi/abi.h"

enum lie_kind {
	LIE_ATTR,    /* a field of attr, or bits of it, is taken for something else */
	LIE_FLAG,    /* a flag of the open is without effect, or has it unasked */
	LIE_TARGET,  /* pid, cpu or group_fd is taken for its default */
	LIE_SIZE,    /* the size that E2BIG writes back is not written */
	LIE_ERRNO,   /* a call gives another errno, or success */
	LIE_NOTHING, /* a call says success and does nothing */
	LIE_AS,      /* an ioctl does what another one does */
	LIE_ALSO,    /* ... does another one's work, too */
	LIE_ARG,     /* ... takes its argument for another */
	LIE_KEEP,    /* MODIFY_ATTRIBUTES leaves a field as the open had it */
	LIE_RESULT,  /* a word that an ioctl writes is larger by one */
	LIE_SHORT,   /* read(2) gives a word less */
	LIE_POLL,    /* a bit of revents is missing, or too much */
	LIE_SIGNAL,  /* a member of siginfo is changed, or the signal lost, or doubled */
	LIE_MEMBER,  /* a member of a record, of the metadata page, or of read(2) is changed */
	LIE_MISC,    /* a bit of a record's misc is missing, or too much */
	LIE_RECORDS, /* records of a type are missing, doubled, or in another order */
	LIE_KINDS
};

struct lie {
	const char *name;
	enum lie_kind kind;
	const char *how;  /* in which way, of those that the kind knows */
	const char *call; /* "open", "read", "ioctl.enable" */
	const char *type; /* of a record; "page", "read(2)" */
	const char *path; /* of a member: "sample_id.time", "values[-1].id" */
	const struct abi_field *field, *when, *unless;
	uint64_t value;               /* a mask, bit or index */
	int64_t attr_type;            /* of the events that it is about; -1: all */
	int err, to;                  /* errnos */
	unsigned long request, other; /* ioctls */
	unsigned percent; /* of the occasions on which it is told */
	bool effect; /* about what a call does: a refusal that is missing is none */
};

struct lies {
	struct lie *list;
	size_t count;
};

/* All of a JSON list. 0 or -EINVAL after a message. */
int lies_read(struct lies *lies, const json_t *json, const struct abi *abi);

/*
 * From now on nothing is a lie; every lie is looked at, and none told; that one alone is told. In
 * `occasions` each case has a row of so many bytes, with a bit for each lie that it gives occasion
 * to; *times is how often the one was told.
 */
void lies_none(void);
void lies_rehearse(const struct lies *lies, unsigned char *occasions, size_t row);
void lies_tell(struct lie *lie, unsigned *times);

/* A case's process begins: only from there on is there anything to lie about. */
void lies_begin(size_t instance);

/* Whether there may be lies here; and the live ones of a kind, NULL behind the last. */
bool lies_here(void);
struct lie *const *lies_of(enum lie_kind kind);

/*
 * Whether the kernel is to tell this lie, which would change what the caller sees. In a rehearsal
 * it is not, and noted as one that the case gives occasion to.
 */
bool lie_tells(const struct lie *lie);

/* The same for one that may not come off: it is told when lie_told() says so. */
bool lie_would_tell(const struct lie *lie);
void lie_told(void);

/* The errno that comes of a call instead of `err`; 0: success. */
int lie_errno(const char *call, int err);

/* The attr that the event of that fd was opened with, or NULL. open.c. */
const unsigned char *lie_opened(int fd);

/* True if the bytes can be read; then they are in `to`. */
bool lie_peek(void *to, const void *from, size_t n);

/* The verb whose step is being done by this thread: "read"; or NULL. */
extern __thread const char *lie_verb;
bool lie_in(const char *verb);

#endif
