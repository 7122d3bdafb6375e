/* SPDX-License-Identifier: MIT */
/*
 * What a machine can do: the answers of the capability cases of cases/probe/, by topic, each with
 * its reason; the machine's limits; its PMUs.
 */
#ifndef PERFABI_PROBE_ANSWER_H
#define PERFABI_PROBE_ANSWER_H

#include <stdio.h>

#include "machine/host.h"
#include "model/model.h"
#include "probe/guide.h"
#include "run/baseline.h"

/* What the answers are made from. */
struct probe {
	const struct guide *guide;
	struct model *model; /* of this machine */
	struct environment *env;
	const struct baseline *baseline; /* what kernels break */
	const struct host *host;
	uint64_t cases_hash;          /* as in a report */
	const struct result *results; /* in the order of the instances */
	size_t count;
	char *const *wanted; /* topics and globs of keys, to a NULL; none of them is everything */
};

/* The PMUs of sysfs are asked for by this name. */
#define PROBE_PMUS "pmus"

/* Whether what has that key, or the topic of that name, is among what is wanted. */
bool probe_wants(char *const wanted[], const char *key);

/* The suites of the capability cases begin with this. */
#define PROBE_SUITES "probe."

/*
 * What cases/schema/probed.schema.json describes: a new reference, or NULL without memory. Topics
 * of which nothing was asked are left out.
 */
json_t *probe_json(const struct probe *probe);

/* pmus.c: each PMU of sysfs with what its files say: a new reference to a list. */
json_t *pmus_json(const struct probe *probe);

/* reason.c: what came of one capability as one caller: a new reference to an object. */
json_t *answer_json(const struct probe *probe, const struct result *result, const char *key);

/* The same for people, on `f`, and as flat rows, one a capability and caller. */
void probe_write(const json_t *probed, FILE *f);
void probe_write_rows(const json_t *probed, FILE *f);

#endif
