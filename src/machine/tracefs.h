/* SPDX-License-Identifier: MIT */
/*
 * tracefs and its like, wherever they are mounted, or not at all.
 */
#ifndef PERFABI_TRACEFS_H
#define PERFABI_TRACEFS_H

/* The root folder of tracefs. Needs root. A file descriptor, or -1. */
int tracefs_open(void);

/*
 * The root folder of a file system of which a kernel has one instance, "tracefs" or "debugfs":
 * where it is mounted at one of the paths (NULL-terminated), or a mount of our own that no path
 * leads to and that goes with its file descriptor (fsopen(2), Linux 5.2). -1 if neither can be had.
 */
int tracefs_open_as(const char *type, long magic, const char *const paths[]);

#endif
