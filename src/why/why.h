/* SPDX-License-Identifier: MIT */
/*
 * Why a call is refused, or does not do what it is for: as its caller, as others, and with other
 * sysctls.
 */
#ifndef PERFABI_WHY_H
#define PERFABI_WHY_H

#include "why/explain.h"

/*
 * The explanation, which lives as long as `why`: end that with why_free(), whatever came. NULL with
 * `e` filled: the question is wrong, or what is `given` could not be had.
 */
struct explanation *why_explain(struct why *why, struct error *e);
void why_free(struct why *why);

#endif
