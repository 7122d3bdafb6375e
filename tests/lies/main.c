/* SPDX-License-Identifier: MIT */
/*
 * perfabi as it is, under lies:
 *
 *     perfabi lies LIES.json FIRST SECONDS [ID-GLOB...]
 *     PERFABI_LIE='{"name": ..., "percent": 50}' perfabi run ID -v
 *
 * The first rehearses: all cases (or those named) are run once with the truth, and each lie notes
 * the cases that give occasion to it. Then those cases are run under it until one fails, and fails
 * again. A JSON line has the names of those that have an occasion; a line each says what came of
 * it. It stops after so many SECONDS, having begun with lie FIRST.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/clock.h"
#include "run/baseline.h"
#include "run/child.h"
#include "run/run.h"
#include "command/command.h"
#include "lie.h"

struct liar {
	struct loaded loaded;
	struct lies lies;
	struct baseline baseline;
	json_t *json; /* that the lies are out of */
	const struct instance **all, **list;
	size_t count;
	struct result *results; /* of the rehearsal, by place in cases.list, as the occasions are */
	unsigned char *occasions; /* of each case, the lies that it gives occasion to */
	size_t row;
	unsigned *told;        /* how often the one was told */
	const struct lie *lie; /* the one that is told */
	struct result noticed; /* by whom; its texts are owned */
};

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

_Noreturn void __real_child_run(const struct instance *instance, unsigned wrong_part,
				const struct cases *cases, struct environment *env,
				struct slot *slot, const struct surroundings *surroundings,
				const char *cgroup);
_Noreturn void __wrap_child_run(const struct instance *instance, unsigned wrong_part,
				const struct cases *cases, struct environment *env,
				struct slot *slot, const struct surroundings *surroundings,
				const char *cgroup);

/* One lie out of the environment, for looking at what it does to a case. */
static void tell_one(const char *text, const struct abi *abi)
{
	json_t *json = json_loads(text, 0, NULL), *list = json_pack("[o]", json);
	static struct lies one;
	static unsigned times;

	if (!list || lies_read(&one, list, abi))
		_exit(2);
	lies_tell(one.list, &times);
}

_Noreturn void __wrap_child_run(const struct instance *instance, unsigned wrong_part,
				const struct cases *cases, struct environment *env,
				struct slot *slot, const struct surroundings *surroundings,
				const char *cgroup)
{
	if (getenv("PERFABI_LIE"))
		tell_one(getenv("PERFABI_LIE"), cases->tables.abi);
	if (strcmp(instance->suite, "machine.quiet") != 0) /* these say whether others can run */
		lies_begin((size_t)(instance - cases->list));
	__real_child_run(instance, wrong_part, cases, env, slot, surroundings, cgroup);
}

static struct run_options options_of(struct liar *liar)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return (struct run_options){.jobs = cpus > 0 ? (unsigned)cpus * 2 : 2,
				    .timeout = 5,
				    .wait = -1,
				    .repeat = 1,
				    .context = liar};
}

static void *shared(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static size_t place_of(const struct liar *liar, const struct instance *instance)
{
	return (size_t)(instance - liar->loaded.cases.list);
}

/* Those of liar->all, which are in the order of cases.list, go where they belong; from the end. */
static void spread_results(struct liar *liar)
{
	for (size_t i = liar->count; i-- > 0;)
		liar->results[place_of(liar, liar->all[i])] = liar->results[i];
}

static int rehearse(struct liar *liar)
{
	struct run_options options = options_of(liar);
	struct run_end end = {0};
	int err;

	liar->row = liar->lies.count / 8 + 1;
	liar->occasions = shared(liar->row * liar->loaded.cases.count);
	liar->told = shared(sizeof(*liar->told));
	if (!liar->occasions || !liar->told)
		return -ENOMEM;
	lies_rehearse(&liar->lies, liar->occasions, liar->row);
	err = run_all(liar->all, liar->count, &liar->loaded.cases, &liar->loaded.env, &options,
		      liar->results, &end);
	baseline_apply(&liar->baseline, &liar->loaded.env, liar->results, liar->count);
	for (size_t i = 0; i < liar->count; i++)
		if (liar->results[i].verdict.outcome == FAIL ||
		    liar->results[i].verdict.outcome == ERROR)
			fprintf(stderr, "lies: without any, %s gives: %s\n", liar->all[i]->id,
				liar->results[i].verdict.got[0] ? liar->results[i].verdict.got
								: "an error");
	spread_results(liar);
	return err ? err : end.signal;
}

static int by_time(const void *a, const void *b, void *context)
{
	const struct liar *liar = context;
	double t[2];

	for (size_t i = 0; i < 2; i++) {
		const struct instance *const *p = i ? b : a;
		const struct instance *instance = *p;

		t[i] = liar->results[place_of(liar, instance)].seconds;
	}
	return (t[0] > t[1]) - (t[0] < t[1]);
}

/* The cases that pass with the truth and can be told the lie, the quick ones first. */
static size_t choose(struct liar *liar, size_t lie)
{
	size_t n = 0;

	for (size_t i = 0; i < liar->count; i++) {
		size_t place = place_of(liar, liar->all[i]);

		if (liar->results[place].verdict.outcome == PASS &&
		    liar->occasions[place * liar->row + lie / 8] & 1u << lie % 8)
			liar->list[n++] = liar->all[i];
	}
	qsort_r(liar->list, n, sizeof(*liar->list), by_time, liar);
	return n;
}

static void forget(struct liar *liar)
{
	liar->noticed = (struct result){0};
}

/*
 * Where a lie is about what a call does, a refusal that does not come has noticed nothing of it.
 * What fails once of several times may have failed for another reason.
 */
static bool notices(const struct lie *lie, const struct result *result)
{
	return (result->verdict.outcome == FAIL ||
		(result->verdict.outcome == UNSTABLE && result->failed > 1)) &&
	       !(lie->effect && !strcmp(result->verdict.got, "success"));
}

/* The first that fails ends the run, as a signal would. */
static bool ended(void *context, const struct result *result, size_t done, size_t total)
{
	struct liar *liar = context;

	(void)done;
	(void)total;
	if (liar->noticed.instance || !notices(liar->lie, result))
		return true;
	liar->noticed = (struct result){.instance = result->instance, .verdict = result->verdict};
	kill(getpid(), SIGTERM);
	return true;
}

/* Runs so many of liar->list. True if one fails; the number of a signal that is not ours in *sig.
 */
static bool run_under(struct liar *liar, size_t n, int *sig)
{
	struct run_options options = options_of(liar);
	struct result *results = results_new(n);
	struct run_end end = {0};

	forget(liar);
	options.ended = ended;
	*sig = results ? run_all(liar->list, n, &liar->loaded.cases, &liar->loaded.env, &options,
				 results, &end)
		       : -ENOMEM;
	*sig = *sig ? *sig : end.signal;
	if (*sig == SIGTERM && liar->noticed.instance)
		*sig = 0;
	results_free(results, n);
	return liar->noticed.instance != NULL;
}

static void print(const struct liar *liar, size_t index, size_t cases, bool noticed, double seconds)
{
	json_t *line = json_pack("{s:s,s:s,s:i,s:f}", "name", liar->lies.list[index].name, "state",
				 noticed                ? "noticed"
				 : cases && *liar->told ? "unnoticed"
							: "no occasion",
				 "cases", (int)cases, "seconds", seconds);

	if (noticed) {
		json_object_set_new(line, "by", json_string(liar->noticed.instance->id));
		json_object_set_new(line, "expected", json_string(liar->noticed.verdict.expected));
		json_object_set_new(line, "got", json_string(liar->noticed.verdict.got));
	}
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(line);
}

/* The names of the lies that some case gives occasion to. */
static void print_occasions(struct liar *liar)
{
	json_t *names = json_array();

	for (size_t i = 0; i < liar->lies.count; i++)
		if (choose(liar, i))
			json_array_append_new(names, json_string(liar->lies.list[i].name));
	json_dumpf(names, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(names);
}

static int tell_all(struct liar *liar, size_t first, double seconds)
{
	double end = clock_seconds() + seconds;
	int sig = 0;

	print_occasions(liar);
	for (size_t i = 0; i < liar->lies.count && !sig && clock_seconds() < end; i++) {
		size_t index = (first + i) % liar->lies.count, cases = choose(liar, index);
		double began = clock_seconds();
		bool noticed;

		liar->lie = &liar->lies.list[index];
		lies_tell(&liar->lies.list[index], liar->told);
		noticed = run_under(liar, cases, &sig);
		if (!sig)
			print(liar, index, cases, noticed, clock_seconds() - began);
	}
	return sig;
}

static int prepare(struct liar *liar, char **argv)
{
	struct loaded *loaded = &liar->loaded;

	if (load_cases(loaded, NULL, argv + 4, true, "lies"))
		return -EINVAL;
	liar->json = json_load_file(argv[1], 0, NULL);
	if (pick(&loaded->cases, argv + 4, &(struct filters){0}, &liar->all, &liar->count, "lies"))
		return -EINVAL;
	if (!liar->json || lies_read(&liar->lies, liar->json, loaded->abi) ||
	    baseline_load(&liar->baseline, NULL, loaded, "lies"))
		return -EINVAL;
	liar->list = calloc(liar->count, sizeof(*liar->list));
	liar->results = results_new(loaded->cases.count);
	environment_read(&loaded->env, loaded->abi);
	loaded->has_env = true;
	return liar->list && liar->results ? 0 : -ENOMEM;
}

int __wrap_main(int argc, char **argv)
{
	static struct liar liar;
	int err;

	lies_none();
	if (argc < 5 || strcmp(argv[1], "lies") != 0)
		return __real_main(argc, argv);
	signal(SIGTERM, SIG_IGN); /* our own, where nobody waits for it any more */
	err = prepare(&liar, argv + 1);
	if (!err)
		err = rehearse(&liar);
	if (!err)
		err = tell_all(&liar, strtoul(argv[3], NULL, 10), strtod(argv[4], NULL));
	if (err)
		fprintf(stderr, "lies: ended early: %s\n",
			err < 0 ? strerror(-err) : strsignal(err));
	return err ? EXIT_HARNESS : 0;
}
