/* SPDX-License-Identifier: MIT */
/*
 * File descriptors that a process is not to have.
 */
#ifndef PERFABI_DESCRIPTORS_H
#define PERFABI_DESCRIPTORS_H

/* Closes all from `first` on, up to the limit, but for `kept` (in any order, -1: none). */
void descriptors_close_from(int first, int kept, int kept_too);

/*
 * /dev/null, or where there is none a file in memory, which is empty to whoever reads it from its
 * beginning; closed at exec. -1 with errno.
 */
int descriptors_open_null(void);

/* 0, 1 and 2 become /dev/null; under a sanitizer 2 stays, where it writes what it finds. */
void descriptors_null(int devnull);

#endif
