/* SPDX-License-Identifier: MIT */
/*
 * What can be wrong with a recording, and how wrong that is.
 */
#ifndef PERFABI_DIAGNOSTIC_H
#define PERFABI_DIAGNOSTIC_H

enum grade {
	GRADE_ERROR,   /* something is missing from the output, or cannot be believed */
	GRADE_WARNING, /* all of it is there; not all of it is understood, or in order */
	GRADE_NOTE,    /* what kernels and perf do write and should not */
	GRADES
};
extern const char *const grade_names[GRADES];

/* The grade of a code; each code has one. */
enum grade diagnostic_grade(const char *code);

#endif
