/* SPDX-License-Identifier: MIT */
/*
 * One perf_event_open(2) call: the `open` of a case as JSON, as memory and arguments, as what came
 * back, and as strace would print it.
 */
#ifndef PERFABI_CALL_H
#define PERFABI_CALL_H

#include "abi/abi.h"
#include "abi/attr.h"
#include "language/scope.h"
#include "text/arena.h"
#include "text/doc.h"

enum memory {
	MEMORY_WRITABLE,
	MEMORY_READ_ONLY, /* the kernel cannot write the size back */
	MEMORY_NULL,
	MEMORY_CUT /* only the first `mapped` bytes are there, unmapped from there on */
};

enum { POKES_MAX = 16, POKE_OFFSET_MAX = 65536 };

struct call {
	unsigned char *image; /* abi->attr_size bytes, owned */
	struct poke {
		uint64_t offset;
		unsigned char byte;
	} pokes[POKES_MAX]; /* single bytes laid over the attr, within it or behind it */
	size_t poke_count;
	enum memory memory;
	uint64_t mapped; /* bytes, for MEMORY_CUT */
	int32_t pid, cpu, group_fd;
	uint64_t flags;
};

/* What the kernel answered. */
struct answer {
	int fd;  /* or -1 */
	int err; /* errno, or 0 */
	bool fd_is_event, fd_cloexec, fd_rdwr;
	bool size_written;   /* the attr's size is not what it was */
	bool other_written;  /* some other byte of the attr is not what it was */
	uint32_t size_after; /* attr.size after the call, if it can be read */
};

/* The rows of `open`. */
extern const struct doc_type call_type;

/*
 * Reads `open` into *call, with scope->checking as far as it hangs on no variable. call_free() it.
 * 0, or -EINVAL with `e` filled.
 */
int call_from_json(struct call *call, const struct abi *abi, const struct abi_arch *arch,
		   const json_t *open, const struct scope *scope, const struct where *w,
		   struct error *e);
void call_free(struct call *call);

/* What the call has in that field of attr. */
uint64_t call_field(const struct call *call, const struct abi *abi, const char *name);

/* A number in a call: a field of attr, or one of the other arguments. */
struct call_part {
	enum call_part_of { PART_FIELD, PART_PID, PART_CPU, PART_GROUP_FD, PART_FLAGS } of;
	const struct abi_field *field; /* of PART_FIELD */
};

/* What it is, with its sign; and making it another, cut to its width. */
uint64_t call_get(const struct call *call, struct call_part part);
void call_set(struct call *call, struct call_part part, uint64_t value);

/* A copy with an image of its own. */
void call_copy(struct call *to, const struct call *from, const struct abi *abi);

/* The same into a call that has one. */
void call_assign(struct call *to, const struct call *from, const struct abi *abi);

/* Bytes laid over attr become attr's own. */
void call_fold(struct call *call, const struct abi *abi);

/* Takes away the bytes laid over attr from `size` on. */
void call_cut(struct call *call, uint64_t size);

/*
 * Lays the attr out in fresh memory, calls, and looks at what came: the file descriptor (which
 * stays open and is the caller's) and the attr. 0, or a negative errno if the memory could not be
 * had.
 */
int call_issue(const struct call *call, const struct environment *env, struct answer *answer);

/* What attrs are laid out in, one after the other: none yet where it is zeroed. It ends with the
 * process. */
struct call_memory {
	unsigned char *map; /* behind which nothing is mapped */
	size_t size;
};

/*
 * Makes many calls: as call_issue(), closed again, and without a descriptor left for it where
 * `no_files`. `memory` may be NULL. Its errno or 0, or a negative errno if it could not be made.
 */
int call_try(const struct call *call, bool no_files, const struct environment *env,
	     struct call_memory *memory, struct answer *answer);

/* An unmapped page for $unmapped; NULL if none could be had. */
const void *call_unmapped_page(const struct environment *env);

/* The call and its result (NULL: it was not made) in strace's notation, cut at `size`. */
void call_format(const struct call *call, const struct answer *answer,
		 const struct environment *env, char *out, size_t size);

/*
 * The text as JSON, a new reference; where it is none only for its large numbers, with these as
 * texts, which value_eval() takes as well. NULL with `e` filled.
 */
json_t *call_text_parse(const struct source *source, struct error *e);

/* In which this libc takes a request; the kernel looks at 32 bits of it. */
#if defined(__GLIBC__)
typedef unsigned long ioctl_request;
#else
typedef int ioctl_request;
#endif

/*
 * The request number of PERF_EVENT_IOC_name on this machine: _IOC() of the direction and argument
 * that cases/abi has. 0 if there is none.
 */
unsigned long event_ioctl_number(const struct abi *abi, const char *name);

/* ioctl(2) of that name. 0 or a negative errno; -ENOSYS for an unknown name. */
int event_ioctl(const struct abi *abi, int fd, const char *name, void *argument);

/* Where a member of it is, in bytes; -EINVAL if cases/abi has none of that name, or -ENOMEM. */
int mmap_page_offset(const struct abi *abi, const char *name);

struct opening {
	struct call call;   /* what is settled of it; its image is the arena's */
	const json_t *json; /* the whole where something is not settled, else NULL */
};

/*
 * Registers have the names of `arch`, which need not be this machine's; of NULL, none. 0, or a
 * negative errno with `e` filled. `json` must outlive *out.
 */
int opening_compile(struct opening *out, const json_t *json, const struct abi *abi,
		    const struct abi_arch *arch, struct scope *scope, struct arena *arena,
		    const struct where *w, struct error *e);

/*
 * The call, with what `scope` has put in. *made is it, or a new one, which call_free() frees. 0, or
 * a negative errno with `e` filled.
 */
int opening_make(const struct opening *open, const struct abi *abi, const struct abi_arch *arch,
		 const struct scope *scope, struct call *made, const struct call **call,
		 struct error *e);

#endif
