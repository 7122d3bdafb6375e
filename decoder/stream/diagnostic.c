/* SPDX-License-Identifier: MIT */
/*
 * The codes of diagnostics, each with its grade.
 */
#include "stream/diagnostic.h"

#include <stddef.h>
#include <string.h>

const char *const grade_names[GRADES] = {"error", "warning", "note"};

static const struct {
	const char *code;
	enum grade grade;
} diagnostics[] = {
	/* Where records begin and end. */
	{"size-zero", GRADE_ERROR},
	{"size-short", GRADE_ERROR},
	{"size-past-end", GRADE_ERROR},
	{"no-record", GRADE_ERROR},
	{"truncated", GRADE_ERROR},
	{"overwritten", GRADE_WARNING}, /* a buffer that goes round is meant to */
	{"size-unaligned", GRADE_WARNING},
	/* What is in a record. */
	{"field-past-end", GRADE_ERROR},
	{"no-attr", GRADE_ERROR},
	{"unknown-id", GRADE_ERROR},
	{"no-id", GRADE_ERROR},
	{"unknown-type", GRADE_WARNING},
	{"unknown-bits", GRADE_WARNING},
	{"bytes-left", GRADE_WARNING},
	{"impossible", GRADE_WARNING},
	{"unterminated", GRADE_WARNING},
	{"time-order", GRADE_WARNING},
	{"reserved", GRADE_NOTE},
	{"padding", GRADE_NOTE},
	/* The file around the records. */
	{"not-closed", GRADE_ERROR}, /* perf was killed: what it had not written is lost */
	{"section-past-end", GRADE_ERROR},
	{"attr", GRADE_ERROR},
	{"attr-size", GRADE_ERROR},
	{"attr-short", GRADE_WARNING}, /* an older perf may have rewritten it */
	{"too-many-ids", GRADE_ERROR},
	{"ids-overlap", GRADE_ERROR},
	{"id-twice", GRADE_ERROR},
	{"id-shared", GRADE_WARNING}, /* their records have the same fields */
	{"feature", GRADE_WARNING},
	{"more", GRADE_NOTE}, /* each of them counts in its own grade */
	{"zstd", GRADE_ERROR},
	{"misplaced", GRADE_ERROR},
};

enum grade diagnostic_grade(const char *code)
{
	for (size_t i = 0; i < sizeof(diagnostics) / sizeof(diagnostics[0]); i++)
		if (!strcmp(diagnostics[i].code, code))
			return diagnostics[i].grade;
	return GRADE_ERROR;
}
