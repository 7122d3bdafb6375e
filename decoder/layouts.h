/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this repository ask of a struct perfabi beyond perfabi.h.
 */
#ifndef PERFABI_LAYOUTS_H
#define PERFABI_LAYOUTS_H

struct abi;
struct perfabi;

/* The tables that it decodes by; they live as long as it does. */
const struct abi *decoder_abi(const struct perfabi *perfabi);

#endif
