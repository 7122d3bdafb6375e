/* SPDX-License-Identifier: MIT */
/*
 * How many signals a case can have; runtime/signal.h notes them.
 */
#ifndef PERFABI_RUNTIME_SIGNALS_H
#define PERFABI_RUNTIME_SIGNALS_H

/*
 * How the handler ends its process where signals come without end, as on arm64, where what is
 * watched is done again behind the handler.
 */
enum { EXIT_SIGNALS = 4, SIGNALS_MAX = 4096 };

#endif
