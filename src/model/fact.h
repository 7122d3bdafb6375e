/* SPDX-License-Identifier: MIT */
/*
 * The closed vocabulary of the model: numbers that the kernel's checks go by. A fact has one owner
 * here: a field of attr as the kernel reads it, the call's other arguments, the caller, the
 * machine, the PMU, the target, the group, what was counted; what is learned of a kernel has it in
 * cases/model.json.
 */
#ifndef PERFABI_MODEL_FACT_H
#define PERFABI_MODEL_FACT_H

#include <stdio.h>

#include "text/arena.h"
#include "model/machine.h"
#include "machine/property.h"

struct fact_words;

struct fact {
	const char *name;  /* "attr.sample_type"; operands name it with a $ before it */
	const char *about; /* for help texts */
	/* "unknown" of a call that hangs on it where it is not known */
	const char *unknown;
	/* What it is a member of, of which `mask` (0: all) are the bits that it is about; NULL from
	 * of(): it is not known. Without of(), get() or get_by() has it, or says that it is not
	 * known. */
	const void *(*of)(struct evaluation *s);
	struct datum datum;
	uint64_t mask;
	bool (*get)(struct evaluation *s, uint64_t *value);
	bool (*get_by)(const struct fact *fact, struct evaluation *s, uint64_t *value);
	bool is_signed;
	bool is_mask;                   /* people read it in hexadecimal */
	const char *family;             /* that its values' names are of, or NULL */
	const struct abi_family *names; /* the same, once it is loaded; NULL: they have none */
	const struct abi_field *field;  /* of attr, where it is one */
	const struct fact_words *words; /* of cases/model.json, where it is one */
	/* How sentences have it, where its value is not enough: as snprintf(3); NULL: they do. */
	int (*print)(const struct fact *fact, const struct evaluation *s, uint64_t value, char *out,
		     size_t size);
	size_t index; /* for get_by() */
};

struct facts {
	struct fact list[FACTS_MAX];
	size_t count;
	bool is_full; /* some were left out */
};

/* What the vocabulary is made of; each list ends with a fact without a name. */
extern const struct fact attr_facts[], call_facts[], caller_facts[], pmu_facts[],
	breakpoint_facts[], path_facts[], group_facts[], unknown_facts[], then_facts[];

/* Beyond FACTS_MAX, sets is_full. */
void facts_add(struct facts *facts, const struct fact *fact);

/* The fields of struct perf_event_attr, as attr.NAME. */
void facts_add_fields(struct facts *facts, const struct abi *abi, struct arena *arena);

/* The classes of tracepoints, as tracepoint.CLASS; what is learned, by its name. */
void facts_add_classes(struct facts *facts, const struct kinds *kinds, struct arena *arena);
void facts_add_learned(struct facts *facts, const struct learned *learned);

/* The properties of the machine. */
void facts_add_properties(struct facts *facts);

/* The index of the fact of that name, or -1; `near` (may be NULL) is offered all. */
int facts_find(const struct facts *facts, const char *name, struct nearest *near);

/* The same, computed anew. */
bool fact_compute(const struct fact *fact, struct evaluation *s, uint64_t *value);

/* The value of a fact in that evaluation; false: it is not known. Computed once. */
static inline bool fact_get(const struct facts *facts, size_t index, struct evaluation *s,
			    uint64_t *value)
{
	if (s->state[index] == FACT_NEW) {
		s->value[index] = 0;
		s->state[index] = fact_compute(&facts->list[index], s, &s->value[index])
					  ? FACT_KNOWN
					  : FACT_UNKNOWN;
	}
	*value = s->value[index];
	return s->state[index] == FACT_KNOWN;
}

/* __perf_event_read_size(): bytes of a read of an event that leads so many siblings. */
uint64_t size_of_read(const struct abi *abi, uint64_t read_format, unsigned siblings);

/* `of` a fact: the evaluation itself. */
const void *fact_evaluation(struct evaluation *s);

/* `print` of a fact that is an errno: its name. */
int fact_print_errno(const struct fact *fact, const struct evaluation *s, uint64_t value, char *out,
		     size_t size);

/* The vocabulary, one a line with its meaning: for help texts. */
void facts_help(const struct facts *facts, FILE *f);

#endif
