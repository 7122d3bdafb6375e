/* SPDX-License-Identifier: MIT */
/*
 * The frame around a case's lines: what it promises, who makes the calls, what the machine is set
 * to, and the verdict.
 */
#include "show/show.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"
#include "machine/require.h"
#include "machine/version.h"
#include "step/program.h"
#include "text/json_text.h"
#include "translate/translate.h"

/* A program that is being put together. */
struct c_program {
	const struct instance *instance;
	const struct program *program;
	struct translation t;
	struct arena arena;
	struct scope scope;
	json_t *posted; /* the words that processes of the case wait for */
};

/* Notes what a text speaks of: each word, and whole what stands behind a $. */
static void note_words(struct translation *t, const char *text, bool is_pattern)
{
	for (size_t n; *text; text += n ? n : *text != '\0') {
		char name[VARIABLE_NAME];
		bool is_variable = *text == '$';

		text += is_variable;
		n = is_variable ? scope_name_length(text)
				: strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
					       "Z0123456789_");
		snprintf(name, sizeof(name), "%.*s", (int)n, text);
		if (is_variable) {
			json_object_set_new(t->words, c_text(t, "$%s", name), json_true());
			for (char *save = NULL, *part = strtok_r(name, ".", &save); part;
			     part = strtok_r(NULL, ".", &save))
				json_object_set_new(t->words, part, json_true());
		} else if (is_pattern && n) {
			json_object_set_new(t->words, name, json_true());
			for (char *p = name; *p; p++)
				*p = (char)tolower((unsigned char)*p);
			json_object_set_new(t->words, name, json_true());
		}
	}
}

/* Of its texts, and of a pattern's keys; as deep as the case's JSON. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void note_json(struct translation *t, const json_t *json, bool is_pattern)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(json))
		note_words(t, json_string_value(json), is_pattern);
	json_array_foreach(json, i, item)
		note_json(t, item, is_pattern);
	json_object_foreach((json_t *)json, key, item) {
		if (is_pattern)
			note_words(t, key, true);
		note_json(t, item, is_pattern);
	}
}

/* What the case speaks of: of the rest of what events tell, nothing is read. */
static int note_statement(void *context, struct statement *s)
{
	struct c_program *p = context;
	struct translation *t = &p->t;
	const char *key = verb_key(s->verb);
	const json_t *word = statement_json(s, key);
	const json_t *open = s->verb->has_gates ? word : NULL;

	note_json(t, s->json, false);
	note_json(t, statement_json(s, "of"), true);
	if (s->expected && s->expected->pattern)
		note_json(t, s->expected->pattern->json, true);
	t->has_signals = t->has_signals || !strcmp(key, "signals");
	t->has_children = t->has_children || !strcmp(key, "fork");
	t->has_parts = t->has_parts || !strcmp(key, "munmap") || !strcmp(key, "mremap") ||
		       !strcmp(key, "mprotect");
	if (open)
		c_note_attr(t, json_object_get(open, "attr"),
			    json_object_get(open, "bytes") || json_object_get(open, "memory"));
	if (statement_json(s, "attr"))
		c_note_attr(t, statement_json(s, "attr"), false);
	if (!strcmp(key, "post") || !strcmp(key, "await"))
		json_object_set(p->posted, json_string_value(word), (json_t *)word);
	return 0;
}

/*
 * A text as lines of a comment, which it neither ends nor begins; it has no trigraph, and what is
 * not ASCII is shown as ?.
 */
static void say_comment(struct translation *t, const char *head, const char *text)
{
	struct out *to = &t->parts[C_COMMENT];
	size_t column = 3 + strlen(head), n;

	c_put(to, " * %s", head);
	for (; *text; text += *text != '\0') {
		n = strcspn(text, " \n");
		if (column + n > 96) {
			c_put(to, "\n *  ");
			column = 4;
		}
		column += n + 1;
		for (char before = ' '; n; before = *text++, n--) {
			bool is_marked = (*text == '/' && before == '*') ||
					 (*text == '*' && before == '/') ||
					 (*text == '?' && before == '?');

			if ((*text & 0xc0) != 0x80) /* one for each character */
				c_put(to, is_marked ? " %c" : "%c",
				      *text >= ' ' && *text < 0x7f ? *text : '?');
		}
		c_put(to, "%s", *text ? " " : "");
	}
	c_put(to, "\n");
}

static void say_head(struct c_program *p)
{
	static const char *const parts[][2] = {{"man", "Man page: "},
					       {"kernel", "Kernel: "},
					       {"since", "Since: Linux "},
					       {"note", "Note: "}};
	const char *about = json_string_value(json_object_get(p->program->definition, "about"));
	struct translation *t = &p->t;
	const struct abi_arch *own = case_arch(p->program->requirements, t->tables->abi);
	const struct abi_arch *arch = own ? own : t->tables->arch;

	c_put(&t->parts[C_COMMENT], "/* SPDX-License-Identifier: MIT */\n/*\n * %s\n",
	      p->instance->id);
	say_comment(t, "", p->instance->title);
	if (about)
		say_comment(t, "", about);
	c_put(&t->parts[C_COMMENT], " *\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const json_t *part = json_object_get(p->instance->spec, parts[i][0]);

		const char *text = json_string_value(part);

		/* What no kernel that ran the cases is older than is from texts. */
		if (text && !strcmp(parts[i][0], "since") && arch && arch->booted &&
		    abi_version_compare(text, arch->booted) <= 0)
			text = c_text(t, "%s (untried below %s)", text, arch->booted);
		if (text)
			say_comment(t, parts[i][1], text);
	}
	c_put(&t->parts[C_COMMENT],
	      " *\n"
	      " * By `perfabi show --c`. Build it with cc -pthread%s. Its exit status:\n"
	      " * 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it cannot "
	      "be "
	      "tried.\n"
	      " */\n",
	      p->instance->who.as == AS_ROOT ? ", and run it as root" : "");
}

/* A capability's call: an errno that the case knows is an answer. */
static void say_errnos(struct translation *t, const int errnos[PHASE_ERRNOS_MAX],
		       const char *answer)
{
	struct out *own = &t->parts[C_OWN];

	for (size_t i = 0; i < PHASE_ERRNOS_MAX && errnos[i]; i++)
		c_put(own, "%s%s", i ? " || got == " : "\tif (got == ", errno_name(errnos[i]));
	if (errnos[0])
		c_put(own, ")\n\t\tsaid = \"%s\";\n", answer);
}

/* What stands in front of the snippets: room behind attr where the case's size says more, or bytes
 * lie there; and of a capability a refusal is an answer, as the case has it. */
static void say_own(struct c_program *p)
{
	const struct abi *abi = p->t.tables->abi;
	const struct outcomes *c = &p->program->outcomes;
	struct translation *t = &p->t;
	struct out *own = &t->parts[C_OWN];

	c_put(own,
	      "/* sizeof(struct perf_event_attr) of Linux %s, and the room that it is "
	      "passed in. */\nenum { ATTR_SIZE = %u, ATTR_ROOM = %s };\n",
	      abi->newest, abi->attr_size, t->has_room ? "1 << 17" : "ATTR_SIZE");
	if (!p->program->is_capability)
		return;
	c_put(own,
	      "\n/* The machine cannot, or not like this: that is an answer, too. */\n"
	      "static long answer(const char *call, long ret, int expected)\n{\n"
	      "\tconst char *said = %s;\n\tint got = ret == -1 ? errno : 0;\n\n"
	      "\tif (got == expected)\n\t\treturn ret;\n",
	      c->otherwise ? "\"no\"" : "NULL");
	if (!c->otherwise)
		say_errnos(t, c->no, "no");
	say_errnos(t, c->denied, "denied");
	c_put(own, "\tif (said)\n\t\tputs(said);\n"
		   "\telse\n\t\tprintf(\"FAIL: %%s: %%s\\n\", call, strerror(got));\n"
		   "\texit(said ? 0 : 1);\n}\n");
	if (c->otherwise)
		c_put(own, "\n#define fail(condition, got) (puts(\"no\"), exit(0))\n");
}

/* What changes the machine is done by a child, behind which it is as it was. */
static void main_in_c(struct c_program *p)
{
	const bool changes = p->program->sysctl || p->program->has_cgroup;
	struct translation *t = &p->t;
	const char *name, *type;
	struct c_shape shape = value_in_c(t, "struct cgroup: path$ name$ id fd", &type);
	json_t *value;

	t->indent = 1;
	if (changes) {
		if (p->program->sysctl)
			c_line(t, "lock_machine();");
		c_line(t, "keep_signals();");
		if (p->program->sysctl)
			c_line(t, "save_sysctls();");
		json_object_foreach((json_t *)p->program->sysctl, name, value)
			c_line(t,
			       "must(write_sysctl(\"/proc/sys/kernel/%s\", text_of(\"%%lld\", "
			       "(long long)(%s))) > 0);",
			       name, c_number(t, value, NULL));
		if (p->program->has_cgroup && c_bind(t, "cgroup", type, &shape))
			c_line(t, "%s = cgroup_make();", c_named(t, "cgroup")->c);
		c_line(t, "if (!(%s = fork_child())) {", c_declare(t, "the_case", "int"));
		t->indent = 2;
		t->is_child = true;
		c_line(t, "let_signals();");
	}
	if (p->instance->who.as != AS_ROOT)
		identity_in_c(t, p->instance->who.as, false);
	block_in_c(t, &p->program->given);
	block_in_c(t, &p->program->steps);
	c_put(&t->parts[C_BODY], "\n");
	if (t->has_children)
		c_line(t, "end_children();");
	c_line(t, "puts(\"%s\");", p->program->is_capability ? "yes" : "PASS");
	if (changes) {
		c_line(t, "exit(0);");
		t->indent = 1;
		c_line(t, "}");
		if (p->program->has_cgroup) {
			c_line(t, "int status = outlast(the_case);");
			c_line(t, "cgroup_remove(&%s);", c_named(t, "cgroup")->c);
			c_line(t, "return status;");
		} else {
			c_line(t, "return outlast(the_case);");
		}
	} else {
		c_line(t, "return 0;");
	}
}

/* What C can ask of the machine is asked; else it is as on this one, which has it or has not. */
static void need_in_main(struct c_program *p, struct environment *env, const char *tokens)
{
	struct out *first = &p->t.parts[C_FIRST];
	char *question = NULL, found[192];
	size_t size;
	FILE *f = open_memstream(&question, &size);
	bool asks = f && require_in_c(f, tokens, p->t.tables->abi);

	if (f)
		fclose(f);
	if (question && asks)
		c_put(first, "\tmust_have(%s, \"%s\");\n", question, tokens);
	else if (!require_is_fleeting(tokens) &&
		 !require_any_met(env, tokens, p->instance->who.as, found, sizeof(found)))
		c_put(first,
		      "\tmust_have(0 /* as where this was written; 1 where it is there */, "
		      "\"%s\");\n",
		      tokens);
	free(question);
}

static void needs_in_main(struct c_program *p, struct environment *env)
{
	const struct program *program = p->program;
	const json_t *requirement;
	size_t i;

	if (program->is_expendable)
		c_put(&p->t.parts[C_FIRST],
		      "\t/* It changes the machine for good: EXPENDABLE=1 lets it. */\n"
		      "\tmust_have(getenv(\"EXPENDABLE\") != NULL, \"machine.expendable\");\n");
	if (program->sysctl || program->has_cgroup || p->instance->who.as == AS_ROOT)
		c_put(&p->t.parts[C_FIRST], "\tmust_have(!geteuid(), \"root\");\n");
	if (!case_is_without_call(program->requirements))
		need_in_main(p, env, "perf_event_open"); /* which a filter may refuse */
	json_array_foreach(program->requirements, i, requirement) {
		size_t same = 0;

		while (!json_equal(json_array_get(program->requirements, same), requirement))
			same++;
		if (same == i) /* a case and its suite may name the same */
			need_in_main(p, env, json_string_value(requirement));
	}
}

static int write_program(FILE *f, struct c_program *p, struct error *e)
{
	struct translation *t = &p->t;
	const char *texts[C_PARTS], *type;
	struct out all = {0};
	bool has_entries;
	json_t *variables;

	for (size_t i = 0; i < C_PARTS; i++)
		texts[i] = c_taken(t, &t->parts[i]);
	has_entries = texts[C_ENTRIES][0];
	c_put(&all, "%s", texts[C_TYPES]);
	json_object_foreach(t->variables, type, variables)
		c_put(&all, "static %s%s;\n", type, json_string_value(variables));
	c_put(&all, "%s%sint main(%s)\n{\n\talarm(300);\n",
	      json_object_size(t->variables) ? "\n" : "", texts[C_FUNCTIONS],
	      has_entries ? "int argc, char **argv" : "void");
	if (json_object_size(p->posted) || has_entries) {
		c_put(&all, "\tprepare_words((const char *const[]){");
		json_object_foreach(p->posted, type, variables)
			c_put(&all, "\"%s\", ", type);
		c_put(&all, "NULL}, %s);\n", has_entries ? "argc == 3 ? argv[2] : NULL" : "NULL");
	}
	c_put(&all, "%s%s%s}\n", texts[C_ENTRIES], texts[C_FIRST], texts[C_BODY]);
	type = c_taken(t, &all);
	if (!t->missing[0]) {
		c_write(f, texts[C_COMMENT], texts[C_OWN], type);
		return 0;
	}
	error_text(e, NULL, t->missing, "a case that can be written as C");
	return -ENOTSUP;
}

int show_in_c(FILE *f, const struct instance *instance, const struct cases *cases,
	      struct environment *env, struct error *e)
{
	struct c_program *p = or_exit(calloc(1, sizeof(*p)));
	const struct program *program = instance->program;
	int err;

	*p = (struct c_program){.instance = instance, .program = program, .posted = json_object()};
	block_settle(&program->given, &instance->who, env);
	block_settle(&program->steps, &instance->who, env);
	p->scope.env = env;
	p->t = (struct translation){.tables = &cases->tables,
				    .scope = &p->scope,
				    .arena = &p->arena,
				    .words = json_object(),
				    .declared = json_object(),
				    .variables = json_object()};
	block_visit(&program->given, &instance->who, env, note_statement, p);
	block_visit(&program->steps, &instance->who, env, note_statement, p);
	say_head(p);
	needs_in_main(p, env);
	main_in_c(p);
	say_own(p);
	err = write_program(f, p, e);
	json_decref(p->t.words);
	json_decref(p->t.declared);
	json_decref(p->t.variables);
	json_decref(p->posted);
	scope_free(&p->scope);
	arena_free(&p->arena);
	free(p);
	return err;
}
