/* SPDX-License-Identifier: MIT */
/*
 * The suites of the unit tests, and what they share.
 */
#ifndef PERFABI_UNIT_H
#define PERFABI_UNIT_H

#include <check.h>

#include "abi/abi.h"

Suite *suite_abi(void);
Suite *suite_attr(void);
Suite *suite_prepared(void);
Suite *suite_value(void);
Suite *suite_source(void);
Suite *suite_merge(void);
Suite *suite_sort(void);
Suite *suite_steps(void);
Suite *suite_verbs(void);
Suite *suite_case(void);
Suite *suite_damage(void);
Suite *suite_json(void);
Suite *suite_values(void);
Suite *suite_baseline(void);
Suite *suite_descriptors(void);
Suite *suite_names(void);
Suite *suite_upstream(void);
Suite *suite_cpu_list(void);
Suite *suite_alarm(void);
Suite *suite_model(void);
Suite *suite_event_name(void);
Suite *suite_paste(void);
Suite *suite_question(void);
Suite *suite_changes(void);

/* The built-in ABI, loaded afresh; the caller frees it. */
struct abi *test_abi(void);

/* JSON from text in which ' stands for "; aborts the test if it is broken. */
json_t *test_json(const char *text);

#endif
