/* SPDX-License-Identifier: MIT */
/*
 * What a machine can do: the answers of the capability cases of cases/probe/, by topic, each with
 * its reason; the machine's limits; its PMUs.
 */
#ifndef PERFABI_PROBE_ANSWER_H
#define PERFABI_PROBE_ANSWER_H

#include <stdio.h>

#include "language/when.h"
#include "machine/host.h"
#include "model/model.h"
#include "run/baseline.h"
#include "text/doc.h"
#include "text/source.h"

struct guide {
	const struct guide_topic {
		const char *name, *title;
		const struct guide_fact {
			const char *key, *title;
			const json_t *path; /* names of members, from the environment on */
			const char *unit, *instead;
			int shows; /* 1: of a mask, the first bit that is refused */
		} * facts;
		size_t fact_count;
	} * topics;
	size_t topic_count;
	const struct guide_reason {
		const char *key, *caller, *token, *err; /* globs, or NULL */
		bool is_of_opened; /* of what opens, and does not do its work */
		enum { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_DENIED } answer;
		const char *because, *instead;
		const json_t *when; /* or NULL */
	} * reasons;
	size_t reason_count;
	struct arena arena;
};

extern const struct doc_type guide_type;

/* `names`: of the reasons' `when`. 0, or a negative errno with `e` filled. Free with guide_free(),
 * whatever came. */
int guide_load(struct guide *guide, const struct source *source, struct when_names *names,
	       struct error *e);
void guide_free(struct guide *guide);

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
 * What cases/schema/probed.schema.json describes: a new reference. Topics
 * of which nothing was asked are left out.
 */
json_t *probe_json(const struct probe *probe);

/* pmus.c: each PMU of sysfs with what its files say: a new reference to a list. */
json_t *pmus_json(const struct probe *probe);

/* The same for people, on `f`, and as flat rows, one a capability and caller. */
void probe_write(const json_t *probed, FILE *f);
void probe_write_rows(const json_t *probed, FILE *f);

#endif
