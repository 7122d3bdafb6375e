/* SPDX-License-Identifier: MIT */
/*
 * jansson when memory ends.
 */
#ifndef PERFABI_JSON_MEMORY_H
#define PERFABI_JSON_MEMORY_H

/* The exit status then. */
enum { EXIT_NO_MEMORY = 3 };

/*
 * From now on an allocation of jansson's that fails ends the program with a message and that
 * exit status. Its parser (2.14) loses text or aborts there, so that nothing it returns could be
 * believed. For main() alone: it is one setting of the whole process.
 */
void json_memory_or_exit(void);

#endif
