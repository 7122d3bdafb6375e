/* SPDX-License-Identifier: MIT */
/*
 * Names of errnos and signals.
 */
#ifndef PERFABI_NAMES_H
#define PERFABI_NAMES_H

#include "text/error.h"

/* "EINVAL"; of a number that is no errno, a text that says so. */
const char *errno_name(int err);

/* The errno of that name, or 0; then `near` (may be NULL) is offered all. */
int errno_by_name(const char *name, struct nearest *near);

/* "SIGSEGV"; of one of the realtime signals, "SIGRTMIN"; of what is none, "SIG?". */
const char *signal_name(int signo);

/* The signal of that name, or 0. */
int signal_by_name(const char *name);

#endif
