/* SPDX-License-Identifier: MIT */
/*
 * The notes lie in memory, in segments that the program headers name.
 */
#include "step/verbs/build_id.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

enum { NOTE_ALIGN = 4 };

static size_t aligned(size_t n)
{
	return (n + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);
}

static void print_note(const unsigned char *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n && 2 * i + 2 < BUILD_ID_TEXT; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void look_at_notes(const unsigned char *at, size_t size, char *out)
{
	ElfW(Nhdr) note;

	for (size_t n; size >= sizeof(note); at += n, size -= n) {
		memcpy(&note, at, sizeof(note));
		n = sizeof(note) + aligned(note.n_namesz) + aligned(note.n_descsz);
		if (n > size)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(at + sizeof(note), "GNU", sizeof("GNU")))
			print_note(at + sizeof(note) + aligned(note.n_namesz), note.n_descsz, out);
	}
}

/* The program itself comes first. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *out)
{
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			look_at_notes((const unsigned char *)info->dlpi_addr +
					      info->dlpi_phdr[i].p_vaddr,
				      info->dlpi_phdr[i].p_memsz, out);
	return 1;
}

void build_id_text(char out[BUILD_ID_TEXT])
{
	out[0] = '\0';
	dl_iterate_phdr(look_at_program, out);
}
