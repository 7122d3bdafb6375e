/* SPDX-License-Identifier: MIT */
/*
 * For people: the machine, a line a suite, every failure in full, what was skipped and why, what
 * the kernel is known to break.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "text/say.h"
#include "language/merge.h"
#include "machine/names.h"
#include "machine/require.h"
#include "text/json_text.h"

enum { RED = 31, GREEN = 32, YELLOW = 33 };

static const char *start_colour(const struct output *out, int colour)
{
	if (!out->colour)
		return "";
	return colour == RED ? "\033[31m" : colour == GREEN ? "\033[32m" : "\033[33m";
}

static const char *stop_colour(const struct output *out)
{
	return out->colour ? "\033[0m" : "";
}

static void begin(struct output *out, const struct report *report)
{
	const struct environment *env = report->env;

	if (out->quiet || report->barred)
		return;
	fprintf(out->f, "perfabi %s: perf_event_open(2) on Linux %s %s\n", PERFABI_VERSION_TEXT,
		env->release, env->machine);
	print_host(out->f, report, "  ");
	if (strcmp(env->upstream, env->release))
		fprintf(out->f, "  upstream    %s\n", env->upstream);
	fprintf(out->f, "  attr size   ");
	if (env->attr_size)
		fprintf(out->f, "%u bytes\n", env->attr_size);
	else
		fprintf(out->f, "unknown: an open with size 1 gives %s\n",
			env->attr_size_errno ? errno_name(env->attr_size_errno) : "an event");
	fprintf(out->f, "  cpus        %u of %u online, ", env->cpus_online, env->cpus_possible);
	if (env->cpus_allowed != env->cpus_online)
		fprintf(out->f, "%u to run on, ", env->cpus_allowed);
	fprintf(out->f, "pages of %u bytes\n", env->page_size);
	if (env->sysctls[SYSCTL_PARANOID] == SYSCTL_ABSENT)
		fprintf(out->f, "  paranoid    not there: no perf events in this kernel\n");
	else
		fprintf(out->f, "  paranoid    %d\n", env->sysctls[SYSCTL_PARANOID]);
	fprintf(out->f, "  PMUs       ");
	for (size_t i = 0; i < env->pmu_count; i++)
		fprintf(out->f, " %s", env->pmus[i].name);
	fprintf(out->f, "%s\n  runs as    ", env->pmu_count ? "" : " none in sysfs");
	for (enum identity as = 0; as < IDENTITIES; as++) {
		char why[128];

		if (identity_available(&env->rights, as, why, sizeof(why)))
			fprintf(out->f, " %s", identity_names[as]);
	}
	fprintf(out->f, "\n");
	if (env->hypervisor[0])
		fprintf(out->f, "  hypervisor  %s\n", env->hypervisor);
	if (env->container[0])
		fprintf(out->f, "  container   %s\n", env->container);
	if (env->lockdown[0] && strcmp(env->lockdown, "none"))
		fprintf(out->f, "  lockdown    %s\n", env->lockdown);
	if (env->seccomp)
		fprintf(out->f, "  seccomp     mode %d\n", env->seccomp);
	fprintf(out->f, "\n");
}

/* Results by a key are in groups, by their index. */
static const struct result *result_of(const struct report *report, const json_t *group, size_t i)
{
	return &report->results[json_integer_value(json_array_get(group, i))];
}

/* One block: the first in full, and the ids of those that are alike. */
static void put_block(struct output *out, const struct report *report, const json_t *group)
{
	enum { NAMED = 5 };
	const struct result *result = result_of(report, group, 0);
	int outcome = result->verdict.outcome;
	size_t alike = json_array_size(group) - 1;

	fputs(start_colour(out, outcome_is_bad(outcome) ? RED : GREEN), out->f);
	for (const char *c = outcome_names[outcome]; *c; c++)
		fputc(*c - 'a' + 'A', out->f);
	fprintf(out->f, "%s %s", stop_colour(out), result->instance->id);
	if (alike)
		fprintf(out->f, ", and %zu case%s alike", alike, alike == 1 ? "" : "s");
	fputc('\n', out->f);
	print_details(out->f, result, report->again, "  ");
	for (size_t i = 1; i <= alike && i <= NAMED; i++)
		fprintf(out->f, "%s%s", i == 1 ? "  alike:     " : " ",
			result_of(report, group, i)->instance->id);
	if (alike)
		fputs(alike > NAMED ? " ...\n" : "\n", out->f);
}

/* What went wrong, a block for each cause; with --verbose every case has a block. */
static void failures(struct output *out, const struct report *report)
{
	json_t *groups = or_exit(json_object()), *group;
	const char *key;

	for (size_t i = 0; i < report->count; i++) {
		const struct result *result = &report->results[i];
		char cause[24];

		snprintf(cause, sizeof(cause), "%llx",
			 (unsigned long long)(out->verbose ? i : result_cause(result)));
		if (result_has_run(result) &&
		    (out->verbose || outcome_is_bad(result->verdict.outcome)))
			group_add(groups, cause, json_integer((json_int_t)i));
	}
	json_object_foreach(groups, key, group)
		put_block(out, report, group);
	json_decref(groups);
}

static void count(const struct result *result, unsigned tally[OUTCOMES], unsigned *unreached)
{
	(*(result_has_run(result) ? &tally[result->verdict.outcome] : unreached))++;
}

static void suites(struct output *out, const struct report *report)
{
	for (size_t i = 0, next; i < report->count; i = next) {
		const char *suite = report->results[i].instance->suite;
		unsigned tally[OUTCOMES] = {0}, unreached = 0;

		for (next = i;
		     next < report->count && !strcmp(report->results[next].instance->suite, suite);
		     next++)
			count(&report->results[next], tally, &unreached);
		fprintf(out->f, "%-28s", suite);
		for (int o = 0; o < OUTCOMES; o++)
			if (tally[o])
				fprintf(out->f, " %s%4u %s%s",
					start_colour(out, o == PASS || o == XFAIL ? GREEN
							  : o == SKIP             ? YELLOW
										  : RED),
					tally[o], outcome_names[o], stop_colour(out));
		if (unreached)
			fprintf(out->f, " %s%4u not reached%s", start_colour(out, RED), unreached,
				stop_colour(out));
		fprintf(out->f, "\n");
	}
}

/* Each token once, below what a person would change: how many want it, and what was found. */
static void put_skips(struct output *out, const struct report *report, const json_t *groups)
{
	const char *token,
		*title = "\nskipped because they require what is not here; to have it:\n";
	json_t *group;

	for (size_t remedy = 0; remedy < REMEDY_KINDS; remedy++) {
		bool is_first = true;

		json_object_foreach((json_t *)groups, token, group) {
			const struct result *first = result_of(report, group, 0);

			if (require_remedy(token, report->env) != remedy)
				continue;
			if (is_first)
				fprintf(out->f, "%s  %s:\n", title, remedy_names[remedy]);
			title = "";
			is_first = false;
			say(out->f, "    %-32s %4zu  ", token, json_array_size(group));
			one_line_print(out->f, first->reason ? first->reason : "", "\n");
			fputc('\n', out->f);
		}
	}
}

static void skips(struct output *out, const struct report *report)
{
	json_t *all = or_exit(json_object()), *without = or_exit(json_object()), *group;
	const char *token;

	for (size_t i = 0; i < report->count; i++) {
		const struct result *result = &report->results[i];

		if (result->verdict.outcome != SKIP || !result->token || !result_has_run(result))
			continue;
		group_add(all, result->token, json_integer((json_int_t)i));
		if (result->passes_without)
			group_add(without, result->token, json_integer((json_int_t)i));
	}
	put_skips(out, report, all);
	if (json_object_size(without))
		fprintf(out->f, "\nskipped, and pass without what they require:\n");
	json_object_foreach(without, token, group) {
		say(out->f, "    %-32s %4zu ", token, json_array_size(group));
		for (size_t i = 0; i < json_array_size(group); i++)
			say(out->f, " %s", result_of(report, group, i)->instance->id);
		fputc('\n', out->f);
	}
	json_decref(all);
	json_decref(without);
}

/* Why some were not reached: one line, for there may be thousands. */
static void not_reached(struct output *out, const struct result *one, unsigned count)
{
	bool is_error;

	if (!count)
		return;
	is_error = one->verdict.outcome == ERROR; /* else that is what the user wanted */
	if (is_error)
		fprintf(out->f, "%sERROR%s ", start_colour(out, RED), stop_colour(out));
	fprintf(out->f, "%u case%s not reached: ", count, count == 1 ? " was" : "s were");
	one_line_print(out->f, one->reason ? one->reason : "", "\n");
	fputs("\n\n", out->f);
}

static void put_alarms(struct output *out, const struct alarms *alarms)
{
	for (size_t i = 0; i < alarms->count; i++) {
		fprintf(out->f, "%sALARM%s ", start_colour(out, RED), stop_colour(out));
		print_alarm(out->f, &alarms->list[i], "  ");
	}
	if (alarms->more)
		fprintf(out->f, "%sALARM%s %zu more; see dmesg\n", start_colour(out, RED),
			stop_colour(out), alarms->more);
	if (alarms->count)
		fputc('\n', out->f);
}

/* The first and the last of a list of versions, or the only one. */
static void put_versions(FILE *f, const char *words, const json_t *list)
{
	size_t count = json_array_size(list);

	if (!count)
		return;
	fprintf(f, "; %s %s", words, json_string_value(json_array_get(list, 0)));
	if (count > 1)
		fprintf(f, " to %s", json_string_value(json_array_get(list, count - 1)));
}

/* What a function or the machine does; which cases show it; since when, until when. */
static void put_deviation(FILE *f, const struct deviation *deviation, unsigned count)
{
	const json_t *ids = json_object_get(deviation->json, "id"), *id;

	if (deviation->of_machine)
		fputs("  ", f);
	else
		fprintf(f, "  %s() ", deviation->function);
	one_line_print(f, deviation->why, "");
	fputs("\n      ", f);
	for (size_t i = 0; (id = element(ids, i)); i++)
		say(f, "%s%s", i ? ", " : "", json_string_value(id));
	fprintf(f, ": %u failure%s", count, count == 1 ? "" : "s");
	if (deviation->since)
		say(f, "; since %s", deviation->since);
	if (deviation->fixed)
		say(f, "; fixed in %s", deviation->fixed);
	else if (!deviation->of_machine)
		fputs("; no fix is known", f);
	put_versions(f, "seen on", json_object_get(deviation->json, "seen"));
	put_versions(f, "source read of", json_object_get(deviation->json, "read"));
	fputc('\n', f);
}

/*
 * What the baseline knows and this run has seen, of the kernel or of the machine: each entry once,
 * in the baseline's order.
 */
static void deviations(struct output *out, const struct report *report, bool of_machine)
{
	const struct deviation *list = report->baseline->list;
	unsigned *counts = or_exit(calloc(report->baseline->count + 1, sizeof(*counts)));
	unsigned broken = 0;

	for (size_t i = 0; i < report->count; i++)
		if (report->results[i].verdict.outcome == XFAIL)
			counts[report->results[i].deviation - list]++;
	for (size_t i = 0; i < report->baseline->count; i++) {
		if (list[i].of_machine != of_machine)
			counts[i] = 0;
		broken += counts[i] > 0;
	}
	if (broken)
		fprintf(out->f, "\nThis %s breaks %u promise%s:\n",
			of_machine ? "machine" : "kernel", broken, broken == 1 ? "" : "s");
	for (size_t i = 0; i < report->baseline->count; i++)
		if (counts[i])
			put_deviation(out->f, &list[i], counts[i]);
	free(counts);
}

/* A pass of what fails only sometimes, or may be mended, proves neither. */
static void known_passes(struct output *out, const struct report *report)
{
	const char *title = "\nThese pass here, but are known to fail on kernels like this one:\n";

	for (size_t i = 0; i < report->count; i++) {
		const struct result *result = &report->results[i];

		if (result->verdict.outcome != PASS || !result->deviation)
			continue;
		say(out->f, "%s  %s  %s%s\n", title, result->instance->id,
		    result->deviation->sometimes ? "except when " : "unless the kernel has the fix",
		    result->deviation->sometimes ? result->deviation->sometimes : "");
		title = "";
	}
}

static void end(struct output *out, const struct report *report)
{
	unsigned tally[OUTCOMES] = {0}, unreached = 0;
	const struct result *one = NULL; /* that was not reached */
	char verdict[256];

	if (report->barred)
		say(out->f, "%s\n", report->barred);
	for (size_t i = 0; i < report->count; i++) {
		count(&report->results[i], tally, &unreached);
		if (!result_has_run(&report->results[i]))
			one = &report->results[i];
	}
	if (report->barred && tally[SKIP] == report->count)
		return;
	report_verdict(report, verdict, sizeof(verdict));
	if (!out->quiet)
		fprintf(out->f, "%s%s.\n\n", report->interrupted ? "The run ended early. " : "",
			verdict);
	put_alarms(out, report->alarms);
	failures(out, report);
	not_reached(out, one, unreached);
	if (!out->quiet) {
		suites(out, report);
		skips(out, report);
		deviations(out, report, false);
		deviations(out, report, true);
		known_passes(out, report);
		fputc('\n', out->f);
	}
	fprintf(out->f, "%s%zu %s:", report->interrupted ? "ended early; " : "", report->count,
		report->count == 1 ? "case" : "cases");
	for (int o = 0; o < OUTCOMES; o++)
		if (tally[o] || o == PASS || o == FAIL || o == SKIP)
			fprintf(out->f, "%s %u %s", o ? "," : "", tally[o], outcome_names[o]);
	if (unreached)
		fprintf(out->f, ", %u not reached", unreached);
	fprintf(out->f, " in %.2f s\n", report->seconds);
}

const struct printer printer_pretty = {.name = "pretty", .begin = begin, .end = end};
