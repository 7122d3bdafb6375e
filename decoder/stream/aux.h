/* SPDX-License-Identifier: MIT */
/*
 * AUX data in files of its own, as decoders of traces take it: ptdump, libipt, OpenCSD.
 */
#ifndef PERFABI_AUX_H
#define PERFABI_AUX_H

#include "input/input.h"
#include "text/table.h"
#include "stream/taken.h"

enum { AUX_RECORD = 64 }; /* bytes of an AUXTRACE at most */

struct aux {
	int dir, index; /* -1: not open */
	struct table seen;
	struct arena arena;
};

/* Opens the folder, which is made if it is not there, for aux-idxN.bin and index.jsonl, none of
 * which may be there. 0 or a negative errno; close with aux_close() in any case. */
int aux_open(struct aux *aux, const char *dir);
void aux_close(struct aux *aux);

/*
 * Appends `size` bytes of the input, which follow an AUXTRACE of `bytes`, to the file of its idx,
 * and a line to the index. *taken is how many there were. 0 or a negative errno.
 */
int aux_take(struct aux *aux, struct input *in, uint64_t size, const struct plan *plan,
	     const unsigned char *bytes, enum byte_order order, struct place place,
	     uint64_t *taken);

#endif
