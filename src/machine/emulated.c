/* SPDX-License-Identifier: MIT */
#include "machine/emulated.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <string.h>

/* The leaf of hypervisors; its text lies in ebx, ecx and edx. */
enum { LEAF = 0x40000000 };

bool is_emulated(void)
{
	unsigned eax, text[3];

	__cpuid(1, eax, text[0], text[1], text[2]);
	if (!(text[1] >> 31)) /* no hypervisor: the leaf would be any other's */
		return false;
	__cpuid(LEAF, eax, text[0], text[1], text[2]);
	return !memcmp(text, "TCGTCGTCGTCG", sizeof(text));
}
#else
bool is_emulated(void)
{
	return false;
}
#endif
