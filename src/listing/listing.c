/* SPDX-License-Identifier: MIT */
/*
 * The frame around a case's lines: what it promises, who makes the calls, what the machine is set
 * to, and the verdict.
 */
#include "listing/listing.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"
#include "machine/require.h"
#include "step/expect.h"
#include "step/in_c.h"
#include "step/verbs/in_c.h"

/* A program that is being put together. */
struct listing {
	const struct instance *instance;
	const struct program *program;
	struct translation t;
	struct arena arena;
	struct scope scope;
	char *types, *globals, *functions, *body, *own, *comment, *entries, *first;
	char *text; /* the case */
	size_t sizes[8];
	FILE *own_file, *comment_file;
};

/* Each word of a text: what stands between other characters, also in small letters. */
static void note_words(json_t *words, const char *text)
{
	while (*text) {
		char word[128];
		size_t n = 0;

		while (isalnum((unsigned char)text[n]) || text[n] == '_')
			n++;
		if (n && n < sizeof(word)) {
			snprintf(word, sizeof(word), "%.*s", (int)n, text);
			json_object_set_new(words, word, json_true());
			for (char *p = word; *p; p++)
				*p = (char)tolower((unsigned char)*p);
			json_object_set_new(words, word, json_true());
		}
		text += n ? n : 1;
	}
}

/* Of keys and texts; as deep as the case's JSON. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void add_words_of(json_t *words, const json_t *json)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(json))
		note_words(words, json_string_value(json));
	json_array_foreach(json, i, item)
		add_words_of(words, item);
	if (!json_is_object(json))
		return;
	json_object_foreach((json_t *)json, key, item) {
		note_words(words, key);
		add_words_of(words, item);
	}
}

static json_t *words_of_case(const struct program *program)
{
	static const char *const parts[] = {"given", "steps", "open", "expect", NULL};
	json_t *words = json_object();

	for (size_t i = 0; parts[i]; i++)
		add_words_of(words, json_object_get(program->definition, parts[i]));
	return words;
}

static bool open_streams(struct listing *l)
{
	struct {
		FILE **file;
		char **text;
	} all[] = {{&l->t.types, &l->types},         {&l->t.globals, &l->globals},
		   {&l->t.functions, &l->functions}, {&l->t.body, &l->body},
		   {&l->own_file, &l->own},          {&l->comment_file, &l->comment},
		   {&l->t.entries, &l->entries},     {&l->t.first, &l->first}};

	for (size_t i = 0; i < 8; i++) {
		*all[i].file = open_memstream(all[i].text, &l->sizes[i]);
		if (!*all[i].file)
			return false;
	}
	return true;
}

static void close_streams(struct listing *l)
{
	FILE *all[] = {l->t.types,  l->t.globals,    l->t.functions, l->t.body,
		       l->own_file, l->comment_file, l->t.entries,   l->t.first};

	for (size_t i = 0; i < 8; i++)
		if (all[i])
			fclose(all[i]);
}

static void free_listing(struct listing *l)
{
	free(l->types);
	free(l->globals);
	free(l->functions);
	free(l->body);
	free(l->own);
	free(l->comment);
	free(l->entries);
	free(l->first);
	free(l->text);
	json_decref((json_t *)l->t.words);
	json_decref(l->t.declared);
	scope_free(&l->scope);
	arena_free(&l->arena);
}

/* A text as lines of a comment. */
static void say_comment(FILE *f, const char *head, const char *text)
{
	size_t column = 3 + strlen(head);

	fprintf(f, " * %s", head);
	while (*text) {
		size_t n = strcspn(text, " \n");

		if (column + n > 96) {
			fprintf(f, "\n *  ");
			column = 4;
		}
		c_comment(f, text, n);
		column += n + 1;
		text += n;
		if (*text)
			fputc(' ', f), text++;
	}
	fputc('\n', f);
}

static void say_spec(FILE *f, const json_t *spec)
{
	static const char *const parts[][2] = {{"man", "Man page: "},
					       {"kernel", "Kernel: "},
					       {"since", "Since: Linux "},
					       {"note", "Note: "},
					       {NULL, NULL}};

	for (size_t i = 0; parts[i][0]; i++) {
		const json_t *part = json_object_get(spec, parts[i][0]);

		if (json_is_string(part))
			say_comment(f, parts[i][1], json_string_value(part));
	}
}

static void say_needs(FILE *f, const json_t *requirements)
{
	char line[1024] = "";
	size_t n = 0, i;
	json_t *token;

	json_array_foreach(requirements, i, token)
		if (n < sizeof(line))
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", i ? ", " : "",
					      json_string_value(token));
	if (n)
		say_comment(f, "Needs (perfabi help tokens): ", line);
}

static void say_head(struct listing *l)
{
	FILE *f = l->comment_file;
	const json_t *about = json_object_get(l->program->definition, "about");

	fprintf(f, "/* SPDX-License-Identifier: MIT */\n/*\n * %s\n", l->instance->id);
	say_comment(f, "", l->instance->title);
	if (json_is_string(about))
		say_comment(f, "", json_string_value(about));
	fprintf(f, " *\n");
	say_spec(f, l->instance->spec);
	say_needs(f, l->program->requirements);
	fprintf(f,
		" *\n"
		" *     cc -Wall -Wextra -Werror -pthread -o case case.c && %s./case\n"
		" *\n"
		" * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else "
		"failed, 4 it\n"
		" * cannot be tried like this. Written by `perfabi show --c`.\n */\n",
		l->instance->who.as == AS_ROOT ? "sudo " : "");
}

/* Room behind attr where the case's size says more, or bytes lie there. */
static void say_sizes(struct listing *l)
{
	const struct abi *abi = l->t.tables->abi;
	const char *text = l->text;
	bool more = (strstr(text, "\"bytes\"") || strstr(text, "\"size\"") ||
		     strstr(text, "\"memory\""));

	if ((strstr(text, "\"attr\"") || strstr(text, "\"pmu-events\"")))
		fprintf(l->own_file,
			"/* sizeof(struct perf_event_attr) of Linux %s, and the room that it is "
			"passed "
			"in. */\nenum { ATTR_SIZE = %u, ATTR_ROOM = %s };\n",
			abi->newest, abi->attr_size, more ? "1 << 17" : "ATTR_SIZE");
}

static void say_errnos(FILE *f, const int errnos[PHASE_ERRNOS_MAX], const char *answer)
{
	for (size_t i = 0; i < PHASE_ERRNOS_MAX && errnos[i]; i++)
		fprintf(f, "\tif (err == %s)\n\t\tanswer = \"%s\";\n", errno_name(errnos[i]),
			answer);
}

/* Of a capability a refusal is an answer, as the case has it. */
static void say_capability(struct listing *l)
{
	const struct outcomes *c = &l->program->outcomes;

	if (!l->program->is_capability)
		return;
	fprintf(l->own_file,
		"\n/* The machine cannot, or not like this: that is an answer, too. */\n"
		"static void fail(int err)\n{\n\tconst char *answer = %s;\n\n",
		c->otherwise ? "\"no\"" : "NULL");
	say_errnos(l->own_file, c->no, "no");
	say_errnos(l->own_file, c->denied, "denied");
	fprintf(l->own_file, "\t(void)err, (void)errno, (void)strerror;\n"
			     "\tprintf(\"%%s\\n\", answer ? answer : \"FAIL\");\n"
			     "\tfflush(NULL);\n\texit(answer ? 0 : 1);\n}\n");
}

/* The words that processes of the case wait for. */
static void say_words(struct listing *l, FILE *f)
{
	json_t *posted = json_object(), *ignored;
	const char *word;

	for (const char *p = l->text; (p = strstr(p, "\"post\":\"")); p++) {
		char name[64];

		if (sscanf(p, "\"post\":\"%31[^\"]", name) == 1)
			json_object_set_new(posted, name, json_true());
	}
	for (const char *p = l->text; (p = strstr(p, "\"await\":\"")); p++) {
		char name[64];

		if (sscanf(p, "\"await\":\"%31[^\"]", name) == 1)
			json_object_set_new(posted, name, json_true());
	}
	if (json_object_size(posted) || l->entries[0]) {
		fprintf(f, "\tprepare_words((const char *const[]){");
		json_object_foreach(posted, word, ignored)
			fprintf(f, "\"%s\", ", word);
		fprintf(f, "NULL}, %s);\n", l->entries[0] ? "argc == 3 ? argv[2] : NULL" : "NULL");
	}
	json_decref(posted);
}

static void sysctls_in_main(struct listing *l)
{
	const char *name;
	json_t *value;

	if (l->program->sysctl)
		c_line(&l->t, "save_sysctls();");
	json_object_foreach((json_t *)l->program->sysctl, name, value)
		c_line(&l->t, "set_sysctl(\"%s\", text_of(\"%%lld\", (long long)(%s)));", name,
		       c_number(&l->t, value, NULL));
}

/* The case's own cgroup; of a hierarchy of v1 there is none. */
static void cgroup_in_main(struct listing *l)
{
	static const struct c_member members[] = {{.path = "path", .c = "path", .kind = C_STRING},
						  {.path = "id", .c = "id", .kind = C_NUMBER},
						  {.path = "fd", .c = "fd", .kind = C_NUMBER},
						  {0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	struct c_name *name;

	if (!l->program->has_cgroup)
		return;
	name = c_bind(&l->t, "cgroup", "struct cgroup", &shape);
	if (name)
		c_line(&l->t, "%s = cgroup_make();", name->c);
}

/* What changes the machine is done by a child, behind which it is as it was. */
/* What is to be set back, by a process that waits for the case. */
static bool changes_machine(const struct listing *l)
{
	return l->program->sysctl || l->program->has_cgroup;
}

static bool needs_root(const struct listing *l)
{
	return changes_machine(l) || l->instance->who.as == AS_ROOT;
}

static void main_in_c(struct listing *l)
{
	const bool changes = changes_machine(l);
	struct translation *t = &l->t;

	t->indent = 1;
	if (changes) {
		if (l->program->sysctl)
			c_line(t, "lock_machine();");
		c_line(t, "keep_signals();");
		sysctls_in_main(l);
		cgroup_in_main(l);
		c_line(t, "if (!(%s = fork_child())) {", c_declare(t, "the_case", "uint64_t", ""));
		t->indent = 2;
		c_line(t, "let_signals();");
	}
	if (l->instance->who.as != AS_ROOT)
		identity_in_c(t, l->instance->who.as, false);
	block_in_c(t, &l->program->given);
	block_in_c(t, &l->program->steps);
	c_blank(t);
	if (json_object_get(t->words, "fork"))
		c_line(t, "end_children();");
	c_line(t, "printf(\"%s\\n\");", l->program->is_capability ? "yes" : "PASS");
	c_line(t, "must(!fflush(stdout));");
	if (changes) {
		c_line(t, "exit(0);");
		t->indent = 1;
		c_line(t, "}");
		c_line(t, "the_end = outlast(the_case);");
		c_declare(t, "the_end", "int", "");
		if (l->program->has_cgroup)
			c_line(t, "cgroup_remove(&%s);", c_named(t, "cgroup")->c);
		c_line(t, "return the_end;");
	} else {
		c_line(t, "return 0;");
	}
}

/* What C can ask of the machine is asked; else it is as on this one, which has it or has not. */
static void need_in_main(struct listing *l, struct environment *env, const char *tokens)
{
	char *question = NULL, found[192];
	size_t size;
	FILE *f = open_memstream(&question, &size);
	bool asks = f && require_in_c(f, tokens, l->t.tables->abi);

	if (f)
		fclose(f);
	if (question && asks)
		fprintf(l->t.first, "\tmust_have(%s, \"%s\");\n", question, tokens);
	else if (!require_is_fleeting(tokens) &&
		 !require_any_met(env, tokens, l->instance->who.as, found, sizeof(found)))
		fprintf(l->t.first,
			"\tmust_have(0 /* as where this was written; 1 where it is there */, "
			"\"%s\");\n",
			tokens);
	free(question);
}

static void needs_in_main(struct listing *l, struct environment *env)
{
	const json_t *requirement;
	size_t i;

	need_in_main(l, env, "perf_event_open"); /* which a container's filter may refuse */
	json_array_foreach(l->program->requirements, i, requirement)
		need_in_main(l, env, json_string_value(requirement));
}

static int write_listing(FILE *f, struct listing *l, struct error *e)
{
	char *text = NULL;
	size_t size;
	FILE *all;
	int err;

	if (l->t.missing[0]) {
		error_text(e, NULL, l->t.missing, "a case that can be written as C");
		return -ENOTSUP;
	}
	all = open_memstream(&text, &size);
	if (all) {
		fprintf(all, "%s%s%s%sint main(%s)\n{\n\talarm(300);\n", l->types, l->globals,
			l->globals[0] ? "\n" : "", l->functions,
			l->entries[0] ? "int argc, char **argv" : "void");
		say_words(l, all);
		fprintf(all, "%s%s%s%s}\n", l->entries, needs_root(l) ? "\tmust_be_root();\n" : "",
			l->first, l->body);
		fclose(all);
	}
	err = text ? c_write(f, l->comment, l->own, text) : -ENOMEM;
	free(text);
	return err ? error_no_memory(e, NULL, "memory for a program") : 0;
}

int listing_print(FILE *f, const struct instance *instance, const struct cases *cases,
		  struct environment *env, struct error *e)
{
	struct listing *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return error_no_memory(e, NULL, "memory for a program");
	l->instance = instance;
	l->program = instance->program;
	block_settle(&l->program->given, &instance->who, env);
	block_settle(&l->program->steps, &instance->who, env);
	l->scope.env = env;
	l->text = json_dumps(l->program->definition, JSON_COMPACT);
	l->t = (struct translation){.tables = &cases->tables,
				    .scope = &l->scope,
				    .arena = &l->arena,
				    .text = l->text,
				    .words = words_of_case(l->program),
				    .declared = json_object()};
	if (!open_streams(l) || !l->text) {
		c_missing(&l->t, "anything, for want of memory");
	} else {
		say_head(l);
		say_sizes(l);
		say_capability(l);
		needs_in_main(l, env);
		main_in_c(l);
	}
	close_streams(l);
	err = write_listing(f, l, e);
	free_listing(l);
	free(l);
	return err;
}
