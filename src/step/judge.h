/* SPDX-License-Identifier: MIT */
/*
 * What came of a step, held against what it expects.
 */
#ifndef PERFABI_JUDGE_H
#define PERFABI_JUDGE_H

#include "step/step.h"

/* Whether it is what was expected; else the step's verdict says what came. */
bool step_judge(struct step *s);

#endif
