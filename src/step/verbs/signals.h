/* SPDX-License-Identifier: MIT */
/*
 * What the handler of the case's signals has noted; signal.c.
 */
#ifndef PERFABI_SIGNALS_H
#define PERFABI_SIGNALS_H

/*
 * How the handler ends its process where signals come without end, as on arm64, where what is
 * watched is done again behind the handler.
 */
enum { EXIT_SIGNALS = 4, SIGNALS_MAX = 4096 };

/* How many signals have been noted since the step that looked at them. */
unsigned signals_noted(void);

/* Before an event counts: signals that come then touch nothing new. 0 or a negative errno. */
int signals_rehearse(void);

#endif
