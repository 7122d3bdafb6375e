/* SPDX-License-Identifier: MIT */
/*
 * What the tests of `perfabi why` ask: the model of a recorded machine.
 */
#ifndef PERFABI_TEST_ASKED_H
#define PERFABI_TEST_ASKED_H

#include "case/cases.h"
#include "why/knowledge.h"

/* In a JSON text ' stands for ". */
#define DUMMY "{'type': 'software', 'config': 'dummy'}"
#define LINE "------------------------------------------------------------\n"
#define PERF_CALL "sys_perf_event_open: pid 1  cpu -1  group_fd -1  flags 0x8"
#define OPEN(attr) "{'attr': {" attr "}, 'pid': 0, 'cpu': -1, 'group_fd': -1, 'flags': "

/* An attr as perf 6.12 prints it. */
extern const char sampled_cycles[];

/* The built-in model and what why.json knows, on the recorded virtual machine without a PMU. */
struct asked {
	struct sources sources;
	struct abi *abi;
	struct cases cases;
	json_t *machine, *names;
	struct environment env;
	struct model model;
	struct knowledge knowledge;
	struct call call;
	struct caller caller;
	struct objects objects;
	struct evaluation evaluation;
};

/* Loads all of it; aborts the test if it cannot. End with asked_end(). */
struct asked *asked_begin(void);
void asked_end(struct asked *o);

/* Whether `got`, a new reference, is what stands in `expected`. */
void same_json(json_t *got, const char *expected, const char *of);

#endif
