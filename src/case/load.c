/* SPDX-License-Identifier: MIT */
/*
 * Loading a case set, and picking from it.
 */
#include "case/cases.h"
#include "case/load.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "machine/names.h"
#include "text/json_text.h"
#include "text/say.h"

/* Whether `text` is `name`, or a folder of names above it: "open" of "open.size". */
static bool is_above(const char *text, const char *name)
{
	size_t n = strlen(text);

	return !strncmp(text, name, n) && (!name[n] || name[n] == '.');
}

/* Whether an id or glob may mean cases of that file: its suite is above it, or below. */
static bool may_name(const char *argument, const struct source *source)
{
	const char *text = argument + (argument[0] == '=');
	size_t fixed = strcspn(text, "*?[\\");
	char suite[256];

	if (!is_case_file(source->name))
		return false;
	say_suite(source->name, suite, sizeof(suite));
	if (text[fixed])
		return !strncmp(text, suite, fixed < strlen(suite) ? fixed : strlen(suite));
	return is_above(text, suite) || is_above(suite, text);
}

/* Whether it may mean cases of a built-in file. */
static bool names_a_suite(const char *argument)
{
	struct sources builtin = cases_builtin();

	for (size_t i = 0; i < builtin.count; i++)
		if (may_name(argument, &builtin.list[i]))
			return true;
	return false;
}

bool is_path(const char *argument)
{
	size_t n = strlen(argument);
	struct stat st;

	if (strchr(argument, '/') || (n > 5 && !strcmp(argument + n - 5, ".json")))
		return true;
	return !strpbrk(argument, "*?[") && !names_a_suite(argument) && !stat(argument, &st);
}

static int by_source_name(const void *a, const void *b)
{
	return strcmp(((const struct source *)a)->name, ((const struct source *)b)->name);
}

static void add_source(struct sources *to, const struct source *source)
{
	to->list = or_exit(realloc(to->list, (to->count + 1) * sizeof(*to->list)));
	to->list[to->count++] = *source;
}

/* Whether one of them has a name that begins with `prefix`. */
static bool has_source(const struct sources *s, const char *prefix)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strncmp(s->list[i].name, prefix, strlen(prefix)))
			return true;
	return false;
}

/* Puts in what is not there yet of `from`: its sources whose names begin with `prefix`. */
static void fall_back(struct sources *to, const struct sources *from, const char *prefix)
{
	if (has_source(to, prefix))
		return;
	for (size_t i = 0; i < from->count; i++)
		if (!strncmp(from->list[i].name, prefix, strlen(prefix))) {
			struct source borrowed = from->list[i];

			borrowed.is_borrowed = prefix[0] != '\0';
			add_source(to, &borrowed);
		}
}

/*
 * Whether cases of other files may require those of that one as `case.ID`: it says what the machine
 * can do, or PMU hardware.
 */
static bool has_capabilities(const char *name)
{
	return !strncmp(name, "machine/", 8) || !strcmp(name, "pmu/hardware.json");
}

static int read_path(struct loaded *l, const char *path, struct error *e)
{
	struct sources *read = &l->read[l->read_count];
	struct stat st;
	int err;

	if (l->read_count == sizeof(l->read) / sizeof(l->read[0])) {
		error_text(e, NULL, path, "at most 16 files or folders");
		return -E2BIG;
	}
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		err = sources_read(read, path, e);
	else
		err = sources_read_file(read, path, e);
	if (err)
		return err;
	l->read_count++;
	for (size_t i = 0; i < read->count; i++)
		add_source(&l->sources, &read->list[i]);
	return 0;
}

static int gather_sources(struct loaded *l, const char *folder, char *const arguments[],
			  struct error *e)
{
	struct sources abi = abi_builtin(), builtin = cases_builtin();
	int err = folder ? read_path(l, folder, e) : 0;

	for (size_t i = 0; arguments && arguments[i] && !err; i++)
		if (is_path(arguments[i]))
			err = read_path(l, arguments[i], e);
	if (err)
		return err;
	if (!l->read_count)
		fall_back(&l->sources, &builtin, "");
	fall_back(&l->sources, &abi, "abi/");
	for (size_t i = 0; shared_tables[i]; i++)
		fall_back(&l->sources, &builtin, shared_tables[i]);
	/* for files that are read without the folder that they are from */
	for (size_t i = 0; i < builtin.count; i++)
		if (has_capabilities(builtin.list[i].name))
			fall_back(&l->sources, &builtin, builtin.list[i].name);
	if (!l->read_count)
		qsort(l->sources.list, l->sources.count, sizeof(*l->sources.list), by_source_name);
	return 0;
}

static int load_abi(struct loaded *l, const char *folder, char *const arguments[],
		    const char *program)
{
	struct error e = {0};

	*l = (struct loaded){0};
	if (!gather_sources(l, folder, arguments, &e) && (l->abi = abi_load(&l->sources, &e)))
		return 0;
	if (!error_is_set(&e))
		error_no_memory(&e, NULL, "memory for the cases");
	error_print(stderr, program, &e);
	return e.no_memory ? EXIT_HARNESS : EXIT_USAGE;
}

/*
 * Whether each of the arguments, of which there are some, can be the name of built-in cases. Of one
 * that cannot, the nearest name may be in any file.
 */
static bool are_suites(char *const arguments[])
{
	for (size_t i = 0; arguments && arguments[i]; i++)
		if (!names_a_suite(arguments[i]))
			return false;
	return arguments && arguments[0];
}

/* Leaves out the files of which no argument can mean cases, but for what others require. */
static void leave_out(struct sources *sources, char *const arguments[])
{
	for (size_t i = 0; i < sources->count; i++) {
		struct source *source = &sources->list[i];
		bool is_meant = false;

		for (size_t j = 0; !is_meant && arguments[j]; j++)
			is_meant = may_name(arguments[j], source);
		if (!is_meant && has_capabilities(source->name))
			source->is_borrowed = true;
		else if (!is_meant && is_case_file(source->name))
			source->is_left_out = true;
	}
}

int load_tables(struct loaded *l, const char *folder, const char *program)
{
	int status = load_abi(l, folder, NULL, program);
	struct utsname u;

	if (status)
		return status;
	l->has_cases = true;
	return cases_load_tables(&l->cases, l->abi, uname(&u) ? NULL : u.machine, &l->sources,
				 program)
		       ? EXIT_USAGE
		       : 0;
}

int load_cases(struct loaded *l, const char *folder, char *const arguments[], bool whole,
	       const char *program)
{
	int status = load_abi(l, folder, arguments, program), broken;
	bool is_part = !status && !whole && !l->read_count && are_suites(arguments);
	struct utsname u;

	if (status)
		return status;
	if (is_part)
		leave_out(&l->sources, arguments);
	broken = cases_load(&l->cases, l->abi, uname(&u) ? NULL : u.machine, &l->sources, program);
	l->has_cases = true;
	l->cases.are_some = is_part || l->read_count > (folder ? 1 : 0);
	l->cases.are_given = l->read_count;
	if (!broken)
		return 0;
	say(stderr, "%s: %d file%s errors; no case runs until you fix %s\n", program, broken,
	    broken == 1 ? " has" : "s have", broken == 1 ? "it" : "them");
	return EXIT_USAGE;
}

void load_free(struct loaded *l)
{
	if (l->has_cases)
		cases_free(&l->cases);
	if (l->has_env)
		environment_free(&l->env);
	abi_free(l->abi);
	for (size_t i = 0; i < l->read_count; i++)
		sources_free(&l->read[i]);
	free(l->sources.list);
}

enum { BY_ID, BY_SUITE, BY_CALLER, BY_KIND, BY_VEHICLE, BY_TITLE, BY_ERRNO, BY_PHASE };
static const char *const filter_keys[] = {
	[BY_ID] = "id",       [BY_SUITE] = "suite",     [BY_CALLER] = "as",
	[BY_KIND] = "kind",   [BY_VEHICLE] = "vehicle", [BY_TITLE] = "title",
	[BY_ERRNO] = "errno", [BY_PHASE] = "phase",     NULL};

static int filter_parse(struct filter *filter, const char *text, const struct option_row *row,
			const char *program)
{
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : 0;
	char key[16];

	filter->negated = n && text[n - 1] == '!';
	n -= filter->negated;
	snprintf(key, sizeof(key), "%.*s", (int)n, text);
	filter->key = n < sizeof(key) ? name_index(key, filter_keys, NULL) : -1;
	filter->glob = equals ? equals + 1 : "";
	if (filter->key >= 0)
		return 0;
	return option_bad_value(program, row->name, text,
				"KEY=GLOB or KEY!=GLOB, KEY one of id, suite, as, kind, vehicle, "
				"title, errno, phase");
}

int filters_add(void *to, const char *text, const struct option_row *row, const char *program)
{
	struct filters *filters = to;

	filters->list =
		or_exit(realloc(filters->list, (filters->count + 1) * sizeof(*filters->list)));
	return filter_parse(&filters->list[filters->count++], text, row, program);
}

void filters_free(struct filters *filters)
{
	free(filters->list);
	*filters = (struct filters){0};
}

/* A name that an expectation has under `errno` or `phase`, looked for by a glob. */
struct search {
	const char *glob;
	bool is_phase;
	const struct phases *phases;
};

static bool is_found(const struct search *search, int err, int phase)
{
	const char *name = NULL;

	if (search->is_phase && err && phase >= 0)
		name = search->phases->list[phase].name;
	else if (!search->is_phase && err)
		name = errno_name(err);
	return name && !fnmatch(search->glob, name, 0);
}

static int search_statement(void *context, struct statement *statement)
{
	bool found = false;

	for (size_t i = 0; i < statement->alternative_count && !found; i++)
		found = is_found(context, statement->alternatives[i].err,
				 statement->alternatives[i].phase);
	return found;
}

static bool filter_holds(const struct filter *f, const struct cases *cases,
			 const struct instance *instance)
{
	const char *const texts[] = {[BY_ID] = instance->id,
				     [BY_SUITE] = instance->suite,
				     [BY_CALLER] = identity_names[instance->who.as],
				     [BY_KIND] = instance->kind == CAPABILITY ? "capability"
									      : "conformance",
				     [BY_VEHICLE] = instance->who.vehicle,
				     [BY_TITLE] = instance->title};
	struct search search = {f->glob, f->key == BY_PHASE, &cases->tables.phases};
	bool holds = f->key >= BY_ERRNO ? block_visit(&instance->program->steps, NULL, NULL,
						      search_statement, &search)
					: texts[f->key] && !fnmatch(f->glob, texts[f->key], 0);

	return holds != f->negated;
}

bool id_matches(const char *glob, const char *id)
{
	if (glob[0] == '=')
		return !strcmp(glob + 1, id);
	return is_above(glob, id) || !fnmatch(glob, id, 0);
}

bool cases_mark(const struct cases *cases, const char *glob, bool *marked)
{
	const struct instance *exact = cases_find(cases, glob + (glob[0] == '='));
	bool is_exact = exact && !exact->source->is_borrowed, any = is_exact;

	if (is_exact && marked)
		marked[exact - cases->list] = true;
	for (size_t i = 0; i < cases->count && !is_exact && (marked || !any); i++) {
		const struct instance *one = &cases->list[i];

		if (one->source->is_borrowed || !id_matches(glob, one->id))
			continue;
		any = true;
		if (marked)
			marked[i] = true;
	}
	return any;
}

/* The longest beginning of `text`, up to a dot, that picks cases: its length, or 0. */
static size_t known_part(const struct cases *cases, const char *text)
{
	size_t most = 0;

	for (size_t i = 0; i < cases->count; i++) {
		const char *id = cases->list[i].id;
		size_t n = 0, part = 0;

		if (cases->list[i].source->is_borrowed)
			continue;
		for (; text[n] && text[n] == id[n]; n++)
			part = text[n] == '.' ? n : part;
		if (!text[n] && (!id[n] || id[n] == '.'))
			part = n;
		if (part > most)
			most = part;
	}
	return most;
}

static void say_unknown(const struct cases *cases, const char *argument, const char *nearest,
			const char *program)
{
	const char *text = argument + (argument[0] == '=');
	size_t part = known_part(cases, text);

	if (cases->are_given && !nearest) {
		say(stderr,
		    "%s: none of the cases in the files given has the id \"%s\", and no file is "
		    "called so\n"
		    "  files take the place of the built-in cases; name none to pick one of "
		    "those\n",
		    program, text);
		return;
	}
	say(stderr, "%s: no case has the id \"%s\", and no file is called so\n", program, text);
	if (argument[0] == '=' && part && !text[part])
		say(stderr, "  without the =, it picks the cases whose ids begin so\n");
	else if (nearest)
		say(stderr, "  nearest:  \"%s\"\n", nearest);
	else if (part)
		say(stderr, "  there is \"%.*s\"\n", (int)part, text);
	say(stderr, "  `perfabi list` shows all ids; a suite (open.size) or a glob "
		    "(\"open.*.user*\") picks several\n");
}

/* Marks what all of them mean, everything if none is an id or a glob. 0, or EXIT_USAGE. */
static int mark_all(const struct cases *cases, char *const arguments[], const char *program,
		    bool *marked)
{
	bool any_id = false;

	for (size_t i = 0; arguments && arguments[i]; i++) {
		struct nearest near = nearest_to(arguments[i] + (arguments[i][0] == '='));

		if (is_path(arguments[i]))
			continue;
		any_id = true;
		if (cases_mark(cases, arguments[i], marked))
			continue;
		cases_nearest(cases, true, &near);
		say_unknown(cases, arguments[i], near.best, program);
		return EXIT_USAGE;
	}
	if (!any_id)
		cases_mark(cases, "*", marked);
	return 0;
}

int pick(const struct cases *cases, char *const arguments[], const struct filters *filters,
	 const struct instance ***picked, size_t *count, const char *program)
{
	const struct instance **list = or_exit(calloc(cases->count + 1, sizeof(*list)));
	bool *marked = or_exit(calloc(cases->count + 1, sizeof(*marked)));
	int status = mark_all(cases, arguments, program, marked);

	*count = 0;
	for (size_t i = 0; !status && i < cases->count; i++) {
		const struct instance *instance = &cases->list[i];
		bool is_picked = marked[i];

		for (size_t j = 0; j < filters->count && is_picked; j++)
			is_picked = filter_holds(&filters->list[j], cases, instance);
		if (is_picked)
			list[(*count)++] = instance;
	}
	free(marked);
	if (!status && !*count) {
		say(stderr, "%s: %s\n", program,
		    filters->count ? "no case fits the filters" : "these files hold no case");
		status = EXIT_USAGE;
	}
	*picked = status ? NULL : list;
	if (status)
		free(list);
	return status;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t sources_hash(const struct sources *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct source *source = &s->list[i];
		uint64_t hash = UINT64_C(0xcbf29ce484222325);

		hash = hash_bytes(hash, source->name, strlen(source->name) + 1);
		sum += hash_bytes(hash, source->text, source->length);
	}
	return sum;
}
