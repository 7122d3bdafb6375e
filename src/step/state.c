/* SPDX-License-Identifier: MIT */
/*
 * A run begins with nothing, or with what its parent has.
 */
#include "step/state.h"

#include <errno.h>

#include "step/sync.h"

int steps_begin(struct steps *s, const struct tables *tables, const struct who *who,
		struct environment *env)
{
	*s = (struct steps){.tables = tables, .who = *who, .env = env};
	s->scope.env = env;
	s->scope.unmapped = call_unmapped_page(env);
	s->sync_fd = -1;
	s->sync = sync_make(&s->sync_fd);
	return s->sync ? 0 : -ENOMEM;
}

void steps_inherit(struct steps *to, const struct steps *from)
{
	*to = *from;
	scope_copy(&to->scope, &from->scope);
	to->child_count = 0;
	to->first_map = to->map_count;
	to->at_step = NULL;
	to->refused = NULL; /* it would be this process's own */
}
