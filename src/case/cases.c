/* SPDX-License-Identifier: MIT */
/*
 * Case files -> instances. A file is checked as it stands, then each case of it is completed
 * (parameters, vehicle, defaults) and checked again, so that no case can run in error.
 */
#include "case/cases.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "call/call.h"
#include "call/tables.h"
#include "case/case.h"
#include "language/merge.h"
#include "machine/require.h"
#include "text/arena.h"
#include "text/json_text.h"
#include "text/say.h"

/*
 * Made of the layouts of cases/abi, by which the decoder goes: it and a case cannot come to differ.
 */

enum { MEMBERS_MAX = 256 };

/* Members as they are told, each once. */
struct gathered {
	const struct abi *abi;
	struct arena *arena;
	struct member list[MEMBERS_MAX + 1];
	size_t count;
};

static struct gathered *gather(const struct abi *abi, struct arena *arena)
{
	struct gathered *g = or_exit(calloc(1, sizeof(*g)));

	g->abi = abi;
	g->arena = arena;
	return g;
}

/* The list in the arena, its end behind it. */
static struct member *keep_members(struct gathered *g)
{
	struct member *out = or_exit(arena_array(g->arena, g->count + 1, sizeof(*out)));

	memcpy(out, g->list, g->count * sizeof(*out));
	free(g);
	return out;
}

static layout_tell add_member;

/*
 * The members of one that is an object or a list of objects. Registers are those of all
 * architectures. Of an attr and of others nothing is told.
 */
static void gather_inner(struct gathered *within, const struct layout_node *node)
{
	struct layout_node unnamed = node ? *node : (struct layout_node){0};

	unnamed.name = NULL;
	if (unnamed.kind != LAYOUT_LOOP || !unnamed.loop.bare)
		layout_members(&(struct layout_list){.nodes = &unnamed, .count = 1}, add_member,
			       within);
	for (size_t i = 0; unnamed.kind == LAYOUT_REGS && i < within->abi->arch_count; i++) {
		const struct abi_arch *arch = &within->abi->archs[i];

		/* SIMD registers have a number behind the name: they are not told */
		for (int simd = 0; unnamed.regs.of == REGS_PLAIN && simd < 2; simd++)
			for (size_t k = 0; k < abi_regs(arch, simd)->count; k++)
				add_member(within,
					   &(struct layout_member){
						   .name = abi_regs(arch, simd)->values[k].name,
						   .value = VALUE_NUMBER});
	}
}

/* One that is told twice, and not alike, can be anything. NOLINTNEXTLINE(misc-no-recursion) */
static void add_member(void *context, const struct layout_member *told)
{
	static const enum shape_kind kinds[] = {[VALUE_NUMBER] = SHAPE_NUMBER,
						[VALUE_TEXT] = SHAPE_TEXT,
						[VALUE_NAMES] = SHAPE_NAMES,
						[VALUE_LIST] = SHAPE_LIST,
						[VALUE_OBJECT] = SHAPE_OBJECT};
	struct gathered *g = context, *within;
	enum shape_kind kind = kinds[told->value];
	struct member *known = (struct member *)member_named(g->list, told->name, NULL);

	if (known) {
		if (known->shape.kind != kind || known->shape.members)
			known->shape = (struct value_shape){.kind = SHAPE_ANY};
		return;
	}
	known = or_exit(g->count < MEMBERS_MAX ? &g->list[g->count++] : NULL);
	*known = (struct member){.name = told->name, .shape = {.kind = kind}};
	if (kind != SHAPE_OBJECT && kind != SHAPE_LIST)
		return;
	within = gather(g->abi, g->arena);
	gather_inner(within, told->node);
	/* NULL where nothing is told of them */
	known->shape.members = within->count ? keep_members(within) : NULL;
	if (!known->shape.members)
		free(within);
}

/* All that has this layout can show. */
static struct member *members_of(const struct abi *abi, struct arena *arena,
				 const struct layout *layout)
{
	struct gathered *g = gather(abi, arena);

	layout_members(&layout->list, add_member, g);
	return keep_members(g);
}

/* The type as the decoder writes it: "MMAP2". */
static void type_text(const char *name, char *out, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		out[i] = (char)toupper((unsigned char)name[i]);
	out[i] = '\0';
}

/* Fills records, read and page of the tables, in memory of the arena. 0, or -EINVAL with `e`. */
static int shapes_load(struct tables *tables, struct arena *arena, struct error *e)
{
	static const char *const names[PAGE_MEMBERS] = {
		[PAGE_DATA_HEAD] = "data_head", [PAGE_DATA_TAIL] = "data_tail"};
	const struct abi *abi = tables->abi;
	const struct abi_family *family = abi_family(abi, "record");
	struct record_shapes *records = &tables->records;
	struct gathered *common = gather(abi, arena); /* what every line has */

	for (const struct layout_member *m = layout_line; m->name; m++)
		add_member(common, m);
	*records = (struct record_shapes){
		.list = or_exit(arena_array(arena, family->count + 1, sizeof(*records->list))),
		.common = keep_members(common)};
	for (size_t i = 0; i < family->count; i++) {
		struct record_shape *shape = &records->list[records->count];

		if (!family->values[i].layout)
			continue;
		type_text(family->values[i].name, shape->type, sizeof(shape->type));
		shape->members = members_of(abi, arena, family->values[i].layout);
		records->count++;
	}
	tables->read = members_of(abi, arena, abi_layout(abi, "read_format"));
	tables->page = members_of(abi, arena, abi_layout(abi, "mmap_page"));
	for (size_t i = 0; i < PAGE_MEMBERS; i++) {
		tables->page_at[i] = mmap_page_offset(abi, names[i]);
		if (tables->page_at[i] == -ENOMEM)
			return error_no_memory(e, NULL, "memory for the ABI tables");
		if (tables->page_at[i] < 0)
			return error_text(e, NULL, "none",
					  "a member \"%s\" of mmap_page in a file abi/*.json",
					  names[i]);
	}
	return 0;
}

/* The file, which lives as long as the cases; NULL with `e` filled. */
static json_t *keep_file(struct cases *cases, const struct source *source, struct error *e)
{
	json_t *file = source_parse(source, e);

	if (file)
		json_array_append_new(cases->storage, file);
	return file;
}

/* One case file on its way. */
struct load {
	struct cases *cases;
	const struct source *source;
	const json_t *file, *defaults;
	struct error *e;
};

static void add_instance(struct cases *cases, const struct instance *instance)
{
	if ((cases->count & (cases->count - 1)) == 0)
		cases->list = or_exit(realloc(cases->list, (cases->count ? cases->count * 2 : 1) *
								   sizeof(*cases->list)));
	cases->list[cases->count++] = *instance;
}

/* One instance for each identity; `like` has all that they share. */
static void add_identities(struct load *l, const struct instance *like, bool vehicle_in_id)
{
	const json_t *json = like->program->definition, *as = json_object_get(json, "as");
	const char *vehicle = vehicle_in_id ? like->who.vehicle : NULL, *row = like->who.row;

	for (size_t i = 0; i < elements(as); i++) {
		const char *name = json_string_value(element(as, i));
		const char *in_id = json_is_array(as) ? name : NULL;
		struct instance one = *like;

		one.who.as = (enum identity)identity_by_name(name);
		one.kind = case_kind(json);
		one.alone = json_is_true(json_object_get(json, "alone")) ||
			    json_object_get(json, "sysctl") || json_object_get(json, "machine");
		or_exit(asprintf(&one.id, "%s.%s%s%s%s%s%s%s", one.suite, one.name,
				 in_id ? "." : "", in_id ? in_id : "", vehicle ? "." : "",
				 vehicle ? vehicle : "", row ? "." : "", row ? row : "") < 0
				? NULL
				: one.id);
		add_instance(l->cases, &one);
	}
}

/* One row of a case on one vehicle (NULL: none): completed, checked, compiled. */
static int expand_vehicle(struct load *l, const json_t *one, struct instance *like,
			  const struct row_context *row, const struct where *w)
{
	struct cases *cases = l->cases;
	const json_t *vehicle = like->who.vehicle
					? json_object_get(cases->tables.vehicles, like->who.vehicle)
					: NULL;
	json_t *json = case_complete(l->file, one, vehicle);
	int err;

	cases->programs = or_exit(
		realloc(cases->programs, (cases->program_count + 1) * sizeof(*cases->programs)));
	like->program = cases->programs[cases->program_count++] =
		or_exit(calloc(1, sizeof(*like->program)));
	err = case_read(&case_complete_type, json, cases, w, l->e);
	if (err) {
		json_decref(json);
		return err;
	}
	err = case_compile(like->program, json, cases, row, w, l->e);
	like->title = json_string_value(json_object_get(json, "title"));
	like->spec = json_object_get(json, "spec");
	return err;
}

/* One row of a case: once on each vehicle. `one` has the row's value put in. */
static int expand_row(struct load *l, const json_t *one, struct instance *like,
		      const struct row_context *row, const struct where *w)
{
	const json_t *vehicle = case_own_or_default(one, l->defaults, "vehicle");
	size_t count = vehicle ? elements(vehicle) : 1;
	int err = case_check_vehicles(vehicle, l->cases, w, l->e);

	json_array_append(l->cases->storage, (json_t *)vehicle);
	for (size_t i = 0; i < count && !err; i++) {
		like->who.vehicle = vehicle ? json_string_value(element(vehicle, i)) : NULL;
		err = expand_vehicle(l, one, like, row, w);
		if (!err)
			add_identities(l, like, json_is_array(vehicle));
	}
	return err;
}

static int expand_rows(struct load *l, const json_t *one, const struct row_context *context,
		       struct instance *like, const struct where *w)
{
	const char *row;
	json_t *value;

	json_object_foreach((json_t *)context->rows, row, value) {
		struct where at = *w;
		char note[80];
		json_t *filled;
		int err;

		snprintf(note, sizeof(note), "row %.64s", row);
		at.note = note;
		if (!case_is_id(row))
			return error_name(l->e, &at, row, NULL,
					  "a row's name of a-z and 0-9, joined by - or .");
		filled = substitute(one, context->parameter, value);
		like->who.row = row;
		err = expand_row(l, filled, like, context, &at);
		json_decref(filled);
		if (err)
			return err;
	}
	return 0;
}

/* Of which registers `each` makes rows. */
static const struct abi_arch *arch_of_rows(const struct load *l, const json_t *one)
{
	const struct tables *tables = &l->cases->tables;
	const struct abi_arch *own = case_arch(json_object_get(one, "requires"), tables->abi);
	const struct abi_arch *general =
		case_arch(json_object_get(l->defaults, "requires"), tables->abi);

	return own ? own : general ? general : tables->arch;
}

static int expand_case(struct load *l, const json_t *one, size_t index, const struct where *w)
{
	json_t *each = json_object_get(one, "each"), *rows = each ? NULL : json_object();
	struct where at_each = where_key(w, "each");
	const char *parameter = json_object_iter_key(json_object_iter(each));
	struct where at_rows = where_key(&at_each, parameter ? parameter : "");
	struct instance like = {.suite = json_string_value(json_object_get(l->file, "suite")),
				.name = json_string_value(json_object_get(one, "name")),
				.source = l->source,
				.case_index = index};
	struct row_context context = {.parameter = parameter};

	if (each && (!json_is_object(each) || json_object_size(each) != 1))
		return error_value(l->e, &at_each, each, "one parameter and its rows");
	if (each && strspn(parameter, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(parameter))
		return error_name(l->e, &at_rows, parameter, NULL, "a name of a-z, 0-9 and _");
	if (each)
		rows = each_rows(json_object_get(each, parameter), l->cases->tables.abi,
				 arch_of_rows(l, one), &at_rows, l->e);
	if (!rows)
		return -EINVAL;
	json_array_append_new(l->cases->storage, rows);
	context.rows = rows;
	return each ? expand_rows(l, one, &context, &like, w)
		    : expand_row(l, one, &like, &context, w);
}

void say_suite(const char *path, char *text, size_t size)
{
	size_t n = (size_t)snprintf(text, size, "%s", path);

	if (n >= size)
		n = size - 1;
	if (n > 5)
		text[n - 5] = '\0';
	for (char *c = text; *c; c++)
		*c = *c == '/' ? '.' : *c;
}

/*
 * Whether the folder that was named lies below the root: where it is cases/open, size.json in it is
 * open.size.
 */
static bool is_below_folder(const char *suite, const char *name, const char *folder)
{
	size_t all = strlen(suite), own = strlen(name), length;
	char *path = realpath(folder, NULL);
	bool is_below = false;

	if (path && all > own + 1 && suite[all - own - 1] == '.' &&
	    !strcmp(suite + all - own, name)) {
		all -= own + 1;
		length = strlen(path);
		is_below = length > all && path[length - all - 1] == '/';
		for (size_t i = 0; is_below && i < all; i++) {
			char c = path[length - all + i];

			is_below = (c == '/' ? '.' : c) == suite[i];
		}
	}
	free(path);
	return is_below;
}

/* A file's suite is its path below the root: open/size.json is open.size. */
static int read_suite(struct doc *d, const json_t *suite, void *out, const struct where *w)
{
	const char *name = json_string_value(suite);
	char expected[256];

	(void)out;
	if (!name || !case_is_id(name))
		return error_value(d->e, w, suite, "the file's path with dots for slashes");
	say_suite(w->source->name, expected, sizeof(expected));
	/* A file named on the command line has no root to count from. */
	if (w->source->root[0] && strcmp(expected, name) &&
	    !is_below_folder(name, expected, w->source->root))
		return error_value(d->e, w, suite, "\"%s\", as the file is called", expected);
	return 0;
}

static const struct doc_row file_rows[] = {
	{"$schema", .kind = DOC_ANY, .help = "for editors: the schema of this file"},
	{"suite", .kind = DOC_READ, .is_required = true, .read = read_suite, .takes = "id",
	 .expected = "the file's path with dots for slashes",
	 .help = "the file's path below the folder of cases, with dots for slashes"},
	{"about", .kind = DOC_TEXT, .is_required = true, .help = "the subject of the file"},
	{"spec", .kind = DOC_OBJECT, .is_required = true, .type = &case_spec_type,
	 .help = "where the file's promises are written; man or kernel is required"},
	{"defaults", .kind = DOC_OBJECT, .type = &case_defaults_type,
	 .help = "defaults of the file's cases"},
	{"cases", .kind = DOC_ANY, .is_required = true, .expected = "a list of cases",
	 .takes = "{\"type\": \"array\", \"minItems\": 1, \"items\": {\"$ref\": \"#/$defs/case\"}}",
	 .help = "the cases"},
	{.key = NULL}};

static int check_cases(struct doc *d, void *made, const json_t *file, const struct where *w)
{
	const json_t *list = json_object_get(file, "cases");

	(void)made;
	return json_array_size(list)
		       ? 0
		       : error_value(d->e, AT_KEY(w, "cases"), list, "a list of cases");
}

const struct doc_type case_file_type = {
	"a case file", .rows = file_rows, .check = check_cases,
	.rules = "{\"$ref\": \"names.schema.json#/$defs/own_or_default\"}"};

static void say_error(const char *program, const struct error *e)
{
	or_exit(e->no_memory ? NULL : (void *)e);
	error_print(stderr, program, e);
}

/* Of one file; each is looked for in its text, so that all of many would take long. */
enum { ERRORS_SHOWN = 100 };

/* Says each case's first error as `program`. Whether there was any. */
static bool load_file(struct cases *cases, const struct source *source, const char *program)
{
	struct where root = where_root(source), at_cases = where_key(&root, "cases");
	struct error e = {0};
	struct load l = {.cases = cases, .source = source, .e = &e};
	json_t *file = keep_file(cases, source, &e), *one;
	unsigned wrong = 0;
	size_t i;

	if (!file || bases_apply(file, cases->bases, &root, &e) ||
	    case_read(&case_file_type, file, cases, &root, &e)) {
		say_error(program, &e);
		return true;
	}
	l.file = file;
	l.defaults = json_object_get(file, "defaults");
	json_array_foreach(json_object_get(file, "cases"), i, one) {
		e = (struct error){0};
		if (!case_read(&case_type, one, cases, AT_INDEX(&at_cases, i), &e) &&
		    !expand_case(&l, one, i, AT_INDEX(&at_cases, i)))
			continue;
		if (wrong++ == ERRORS_SHOWN) {
			say(stderr,
			    "%s: %s: more than %d cases are wrong; the rest was not checked\n",
			    program, e.file, ERRORS_SHOWN);
			break;
		}
		say_error(program, &e);
	}
	return wrong > 0;
}

/* The tables that all case files share: gates, vehicles, the kernel's checks. */
static int load_shared(struct cases *cases, const struct sources *sources, struct error *e)
{
	const struct source *phases = sources_find(sources, "phases.json");
	const struct source *vehicles = sources_find(sources, "vehicles.json");
	const struct source *checks = sources_find(sources, "checks.json");
	struct where root;
	json_t *file;

	if (!phases || !vehicles)
		return error_text(e, NULL, "none", "phases.json and vehicles.json");
	if (phases_load(&cases->tables.phases, phases, cases->tables.abi, e))
		return -EINVAL;
	file = keep_file(cases, vehicles, e);
	if (!file)
		return -EINVAL;
	cases->tables.vehicles = json_object_get(file, "vehicles");
	cases->bases = json_object_get(file, "bases");
	root = where_root(vehicles);
	if (case_read(&vehicles_type, file, cases, &root, e))
		return -EINVAL;
	if (!checks)
		return 0;
	file = keep_file(cases, checks, e);
	cases->checks = json_object_get(file, "checks");
	return file ? 0 : -EINVAL;
}

const char *const shared_tables[] = {"phases.json",   "vehicles.json", "checks.json", "model.json",
				     "setup.json",    "events.json",   "why.json",    "probe.json",
				     "baseline.json", "manpage.json",  NULL};

bool is_case_file(const char *name)
{
	return strncmp(name, "abi/", 4) && name_index(name, shared_tables, NULL) < 0;
}

/* A suite in a file that has the name of a table would be passed over in silence. */
static int check_name(const struct source *source, struct error *e)
{
	struct where root = where_root(source);

	if (is_case_file(source->name) || !strstr(source->text, "\"cases\":"))
		return 0;
	return error_text(e, &root, "a suite in it",
			  "perfabi's own table of this name; a suite needs another name");
}

/* Of one id, what is borrowed comes last. */
static int by_id(const void *a, const void *b)
{
	const struct instance *const *x = a, *const *y = b;
	int order = strcmp((*x)->id, (*y)->id);

	order = order ? order : (*x)->source->is_borrowed - (*y)->source->is_borrowed;
	return order ? order : (*x > *y) - (*x < *y);
}

static void sort_by_id(struct cases *cases)
{
	cases->by_id = or_exit(calloc(cases->count + 1, sizeof(*cases->by_id)));
	for (size_t i = 0; i < cases->count; i++)
		cases->by_id[i] = &cases->list[i];
	qsort(cases->by_id, cases->count, sizeof(*cases->by_id), by_id);
}

static int check_duplicates(const struct cases *cases, struct error *e)
{
	for (size_t i = 1; i < cases->count; i++) {
		const struct instance *one = cases->by_id[i];
		const struct source *other = cases->by_id[i - 1]->source;
		struct where root = where_root(one->source), list = where_key(&root, "cases");

		/* What is borrowed may be of the very file, named by another path. */
		if (one->source->is_borrowed || other->is_borrowed ||
		    strcmp(one->id, cases->by_id[i - 1]->id) != 0)
			continue;
		if (other == one->source)
			return error_name(e, AT_INDEX(&list, one->case_index), one->id, NULL,
					  "each id once");
		/* The very file may have been named twice. */
		return error_name(e, AT_INDEX(&list, one->case_index), one->id, NULL,
				  "each id once, and each file once; %s%s%s has it", other->root,
				  other->root[0] ? "/" : "", other->name);
	}
	return 0;
}

/* Whether any of what a case requires is a case. */
static bool requires_a_case(const struct instance *instance)
{
	json_t *item;
	size_t i;

	json_array_foreach(instance->program->requirements, i, item) {
		const char *tokens = json_string_value(item);
		char one[REQUIRE_TOKEN];

		while (require_next(&tokens, one, sizeof(one)))
			if (require_case_id(one))
				return true;
	}
	return false;
}

/* A case that is required is there, and can be run beside the one that requires it. */
static int check_case_token(const char *token, const struct instance *instance,
			    const struct cases *cases, const struct where *w, struct error *e)
{
	struct nearest near = nearest_to(require_case_id(token));
	const struct instance *required = cases_required(cases, token, instance->who.as, &near);

	if (!required)
		return error_name(e, w, token, near.best, "case. and the id of a case");
	if (requires_a_case(required))
		return error_name(
			e, w, token, NULL,
			"case. and the id of another case, which requires no case itself");
	if (required->program->sysctl || required->program->has_cgroup ||
	    required->program->is_expendable)
		return error_name(e, w, token, NULL,
				  "case. and the id of a case without sysctl, cgroup and machine");
	if (required->alone && !instance->alone)
		return error_name(e, w, token, NULL,
				  "case. and the id of a case without `alone`, or "
				  "`alone` here too");
	return 0;
}

/* Whether the list has the token, too, of which this one is the negation. */
static bool has_opposite(const json_t *requirements, const json_t *token)
{
	const char *text = json_string_value(token);
	const json_t *other;
	size_t i;

	json_array_foreach(requirements, i, other)
		if (text[0] == '!' && !strcmp(text + 1, json_string_value(other)))
			return true;
	return false;
}

bool cases_check_use(const struct instance *const *list, size_t count, const char *program)
{
	const struct instance *said = NULL;
	json_t *item;
	size_t i, j;

	for (i = 0; i < count; i++) {
		struct where root = where_root(list[i]->source), cases = where_key(&root, "cases");
		struct error e = {0};

		json_array_foreach(list[i]->program->requirements, j, item) {
			bool is_used = require_is_used(json_string_value(item),
						       list[i]->program->definition);

			if ((is_used && !has_opposite(list[i]->program->requirements, item)) ||
			    (said && said->source == list[i]->source &&
			     said->case_index == list[i]->case_index))
				continue;
			said = list[i];
			error_name(&e, AT_INDEX(&cases, said->case_index), json_string_value(item),
				   NULL,
				   is_used ? "not a token and its opposite: %s can run nowhere"
					   : "only what the case needs: no step of %s uses this "
					     "token",
				   said->id);
			say_error(program, &e);
		}
	}
	return !said;
}

/* Each token that names a case names one. */
static int check_required(const struct cases *cases, struct error *e)
{
	for (size_t i = 0; i < cases->count; i++) {
		const struct instance *instance = &cases->list[i];
		struct where root = where_root(instance->source), list = where_key(&root, "cases");
		struct where at = where_index(&list, instance->case_index);
		json_t *item;
		size_t j;

		json_array_foreach(instance->program->requirements, j, item) {
			const char *tokens = json_string_value(item);
			char one[REQUIRE_TOKEN];

			while (require_next(&tokens, one, sizeof(one)))
				if (require_case_id(one) &&
				    check_case_token(one, instance, cases, &at, e))
					return -EINVAL;
		}
	}
	return 0;
}

int cases_load_tables(struct cases *out, const struct abi *abi, const char *machine,
		      const struct sources *sources, const char *program)
{
	struct error e = {0};

	*out = (struct cases){
		.tables = {.abi = abi, .arch = machine ? abi_arch(abi, machine) : NULL},
		.storage = json_array()};
	if (!shapes_load(&out->tables, &out->shapes, &e) && !load_shared(out, sources, &e))
		return 0;
	say_error(program, &e);
	return 1;
}

int cases_load(struct cases *out, const struct abi *abi, const char *machine,
	       const struct sources *sources, const char *program)
{
	int broken = cases_load_tables(out, abi, machine, sources, program);
	struct error e;

	if (broken)
		return broken;
	for (size_t i = 0; i < sources->count; i++) {
		e = (struct error){0};
		if (check_name(&sources->list[i], &e)) {
			say_error(program, &e);
			broken++;
		}
		if (!is_case_file(sources->list[i].name) || sources->list[i].is_left_out)
			continue;
		broken += load_file(out, &sources->list[i], program);
	}
	e = (struct error){0};
	if (broken)
		return broken;
	sort_by_id(out);
	if (check_duplicates(out, &e) || check_required(out, &e)) {
		say_error(program, &e);
		broken++;
	}
	return broken;
}

void cases_free(struct cases *cases)
{
	for (size_t i = 0; i < cases->count; i++)
		free(cases->list[i].id);
	for (size_t i = 0; i < cases->program_count; i++) {
		program_free(cases->programs[i]);
		free(cases->programs[i]);
	}
	free(cases->programs);
	free(cases->by_id);
	free(cases->list);
	phases_free(&cases->tables.phases);
	arena_free(&cases->shapes);
	json_decref(cases->storage);
	*cases = (struct cases){0};
}

const struct instance *cases_find(const struct cases *cases, const char *id)
{
	size_t first = 0, end = cases->by_id ? cases->count : 0;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (strcmp(cases->by_id[middle]->id, id) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return cases->by_id && first < cases->count && !strcmp(cases->by_id[first]->id, id)
		       ? cases->by_id[first]
		       : NULL;
}

void cases_nearest(const struct cases *cases, bool to_pick, struct nearest *near)
{
	for (size_t i = 0; i < cases->count; i++) {
		if (to_pick && cases->list[i].source->is_borrowed)
			continue;
		nearest_try(near, cases->list[i].id);
		if (to_pick)
			nearest_try(near, cases->list[i].suite);
	}
}

const struct instance *cases_required(const struct cases *cases, const char *token,
				      enum identity as, struct nearest *near)
{
	const char *name = require_case_id(token);
	const struct instance *instance = cases_find(cases, name);
	char id[256];

	snprintf(id, sizeof(id), "%s.%s", name, identity_names[as]);
	if (!instance)
		instance = cases_find(cases, id);
	if (!instance && near)
		cases_nearest(cases, false, near);
	return instance;
}
