/* SPDX-License-Identifier: MIT */
/*
 * `requires` and `when`: the closed vocabulary of tokens in which a case says when it means
 * anything. A token is settled before the case runs, and never by the errno under test. "!" before
 * a token turns it round; what the machine does not tell is not met either way.
 */
#ifndef PERFABI_REQUIRE_H
#define PERFABI_REQUIRE_H

#include "machine/property.h"

/* 0 if the token is of a known form and names what the ABI has, else -EINVAL with `e` filled. */
int require_check(const char *token, const struct abi *abi, const struct where *w, struct error *e);

enum { REQUIRE_TOKEN = 128 }; /* bytes that one can have, with its NUL */

/* The same for `requires`, whose tokens may be several, a | between: one of them must be met. */
int require_check_any(const char *tokens, const struct abi *abi, const struct where *w,
		      struct error *e);

/*
 * False if that token says what it is needed for and nothing in the complete case does it: "since."
 * a name that is not there, breakpoint.counts without a workload. Tokens with ! or | may be for
 * what cannot be seen.
 */
bool require_is_used(const char *token, const json_t *definition);

/* False if a case that requires it does not end without: a store that nothing steps over. */
bool require_may_be_tried(const char *token, const struct environment *env);

/* The next of these, in `one`, which is returned; NULL behind the last. Moves *tokens on. */
const char *require_next(const char **tokens, char *one, size_t size);

/*
 * 1 if the token is met; else `found` says what was found: 0, or -1 where this machine does not
 * tell. Looks tracepoints up as needed. `as` is who will make the call.
 */
int require_truth(struct environment *env, const char *token, enum identity as, char *found,
		  size_t size);

/* The same of tokens with a | between: true if one is met; else what was found of the last. */
bool require_any_met(struct environment *env, const char *tokens, enum identity as, char *found,
		     size_t size);

/* The id in a token that names another case, before which a ! may stand; NULL: it is none. */
const char *require_case_id(const char *token);

/* Where a mend came, the newest first: "7.3 (b9d1fdc6f4ac), 7.2.10"; cut to fit. */
void mend_versions(const struct abi_mend *m, char *out, size_t size);

/* The architecture that a token demands; NULL: another token, or several of them. */
const struct abi_arch *require_arch(const char *token, const struct abi *abi);

/* In words. */
extern const char *const remedy_names[REMEDY_KINDS];

/* Of tokens with a | between, the easiest; of those that only reports have, too. */
enum remedy_kind require_remedy(const char *tokens, const struct environment *env);

/*
 * Writes the question whether one of the tokens is met as an expression of C, of what
 * src/translate/snippets has; false: C cannot ask it, and part of it may be written.
 */
bool require_in_c(FILE *f, const char *tokens, const struct abi *abi);

/* Whether a token is of what others do to the machine, and may have changed since it was met. */
bool require_is_fleeting(const char *tokens);

/*
 * The tokens that tell whether something else than the kernel makes a case fail that requires
 * these: of others, themselves; of breakpoints, whether the machine loses debug registers, as
 * hypervisors do. NULL: none.
 */
const char *require_control(const char *tokens);

/* The vocabulary, one form a line, with what only reports have: for help texts. */
void require_help(FILE *f);

#endif
