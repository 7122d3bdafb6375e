/* SPDX-License-Identifier: MIT */
/*
 * A struct perfabi over tables that are loaded already: for programs of this repository.
 */
#ifndef PERFABI_LAYOUTS_H
#define PERFABI_LAYOUTS_H

#include "abi/abi.h"
#include "perfabi.h"

/* The tables that it decodes by; they live as long as it does. */
const struct abi *decoder_abi(const struct perfabi *perfabi);

#endif
