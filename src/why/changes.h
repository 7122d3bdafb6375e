/* SPDX-License-Identifier: MIT */
/*
 * `changes` of cases/why.json: what of a call can be made otherwise, and what is lost by it.
 */
#ifndef PERFABI_WHY_CHANGES_H
#define PERFABI_WHY_CHANGES_H

#include "model/model.h"

enum { CHANGE_SETTINGS = 8 };

/* What of a call is set. */
enum setting_of { SETS_FIELD, SETS_BITS, SETS_PID, SETS_CPU, SETS_GROUP_FD, SETS_FLAGS };

enum setting_how { SET_TO, SET_WITH, SET_WITHOUT, SET_WITHIN, SET_ALIGNED };

struct setting {
	enum setting_of of;
	const struct fact *fact; /* that it is in a call */
	enum setting_how how;
	struct right_side to;
};

struct change {
	struct predicate *when; /* of calls that it is for; NULL: any that it changes */
	struct settings_of_change {
		struct setting list[CHANGE_SETTINGS];
		size_t count;
	} set;
	struct sentence says, loses;
	bool is_fallback; /* another event takes the place of the one that was asked for */
};

struct changes {
	const struct change *list;
	size_t count;
};

/* One of them, read with a struct vocabulary as context. */
extern const struct doc_type change_type;

/*
 * Makes the change in *call, whose image is its own, and whose situation `s` has begun with.
 * Whether it has changed anything: false also where it is not for the call.
 */
bool change_make(const struct change *change, const struct model *model, struct situation *s,
		 struct call *call);

/* What the call has where the setting is. */
uint64_t setting_get(const struct setting *setting, const struct machine *machine,
		     const struct call *call);

/* What it is to have instead of `was`; false: that is not known. */
bool setting_value(const struct setting *setting, const struct facts *facts, struct situation *s,
		   uint64_t was, uint64_t *value);

/* change_text.c: what it changes in the call of that situation, for people: "set cpu to -1"; cut at
 * `size`. */
void change_write(const struct change *change, const struct model *model, struct situation *s,
		  char *out, size_t size);

#endif
