/* SPDX-License-Identifier: MIT */
/*
 * Verbs on processes and threads, as C.
 */
#include <stdlib.h>
#include <string.h>

#include "step/in_c.h"
#include "step/verbs/in_c.h"

void process_in_c(struct translation *t, const struct statement *s)
{
	const char *kind = json_string_value(statement_json(s, "process"));

	bind_number(t, s, c_text(t, "%s_process()", kind));
}

void repeat_in_c(struct translation *t, const struct statement *s)
{
	const char *i = c_text(t, "i_%u", ++t->functions_made);

	c_line(t, "for (uint64_t %s = 0; %s < %s; %s++) {", i, i, number_in_c(t, s, "repeat"), i);
	t->indent++;
	block_in_c(t, block_of(s, "do"));
	t->indent--;
	c_line(t, "}");
}

/* A buffer is not there in a child: VM_DONTCOPY. */
static void forget_maps(struct translation *t)
{
	for (size_t i = 0; i < t->name_count; i++)
		t->names[i].map[0] = '\0';
}

void fork_in_c(struct translation *t, const struct statement *s)
{
	struct c_name *names = arena_alloc(t->arena, sizeof(t->names));
	size_t count = t->name_count;
	const char *c = c_text(t, "%s", bind_number(t, s, "fork_child()"));

	if (!names) {
		c_missing(t, "a child, for want of memory");
		return;
	}
	memcpy(names, t->names, sizeof(t->names));
	count = t->name_count;
	c_line(t, "if (!%s) {", c);
	t->indent++;
	forget_maps(t);
	child_in_c(t, block_of(s, "fork"), "end_children(), exit(0);");
	t->indent--;
	c_line(t, "}");
	memcpy(t->names, names, sizeof(t->names));
	t->name_count = count;
}

/* The body of another function than the one that is being written. */
struct function_text {
	FILE *body;
	int indent;
	char *text;
	size_t size;
};

static bool function_begin(struct function_text *f, struct translation *t)
{
	*f = (struct function_text){.body = t->body, .indent = t->indent};
	t->body = open_memstream(&f->text, &f->size);
	t->indent = 1;
	if (t->body)
		return true;
	t->body = f->body;
	t->indent = f->indent;
	c_missing(t, "a function, for want of memory");
	return false;
}

static void function_end(struct function_text *f, struct translation *t, const char *head)
{
	fclose(t->body);
	fprintf(t->functions, "%s%s}\n\n", head, f->text ? f->text : "");
	free(f->text);
	t->body = f->body;
	t->indent = f->indent;
}

void thread_in_c(struct translation *t, const struct statement *s)
{
	const char *function = c_text(t, "thread_%u", ++t->functions_made);
	struct function_text text;
	struct c_name *name;

	if (!function_begin(&text, t))
		return;
	child_in_c(t, block_of(s, "thread"), "return NULL;");
	function_end(&text, t,
		     c_text(t, "static void *%s(void *unused)\n{\n\t(void)unused;\n", function));
	bind_number(t, s, c_text(t, "start_thread(%s)", function));
	name = s->bind ? c_named(t, s->bind) : NULL;
	if (name)
		name->shape.kind = C_THREAD;
}

/* What comes behind the exec is a function that main() calls for its name. */
void exec_in_c(struct translation *t, const struct statement *s)
{
	const char *function = c_text(t, "behind_exec_%u", ++t->functions_made);
	struct function_text text;

	if (!function_begin(&text, t))
		return;
	t->is_behind_exec = true;
	child_in_c(t, block_of(s, "exec"), "exit(0);");
	t->is_behind_exec = false;
	function_end(&text, t, c_text(t, "static void %s(void)\n{\n", function));
	fprintf(t->entries, "\tif (argc == 3 && !strcmp(argv[1], \"%s\"))\n\t\t%s();\n", function,
		function);
	c_line(t, "exec_self(\"%s\");", function);
}

void wait_in_c(struct translation *t, const struct statement *s)
{
	static const char *const words[] = {"", NULL};
	static const struct c_member members[] = {
		{.path = "exit", .c = "exit", .kind = C_NUMBER},
		{.path = "signal", .c = "signal", .kind = C_BITS, .words = words, .prefix = ""},
		{0}};
	static const struct c_shape shape = {.kind = C_OBJECT, .members = members};
	struct c_name *name = c_named(t, json_string_value(statement_json(s, "wait")));
	const char *c;

	if (name && name->shape.kind == C_THREAD) {
		c_line(t, "join_thread(%s);", name_in_c(t, s, "wait"));
		return;
	}
	if (!s->expected || !s->expected->pattern) {
		c_line(t, "wait_for(%s);", name_in_c(t, s, "wait"));
		return;
	}
	c = c_declare(t, c_text(t, "end_%u", ++t->functions_made), "struct end_of", "");
	c_line(t, "%s = end_of(%s);", c, name_in_c(t, s, "wait"));
	shown_in_c(t, s, c, ".", &shape);
}

void kill_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "kill_child(%s);", name_in_c(t, s, "kill"));
}

void post_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "post(%s);", c_quote(t, json_string_value(statement_json(s, "post"))));
}

void await_in_c(struct translation *t, const struct statement *s)
{
	c_line(t, "await(%s);", c_quote(t, json_string_value(statement_json(s, "await"))));
}

void identity_in_c(struct translation *t, enum identity as, const json_t *with)
{
	static const char *const capabilities[] = {[AS_PERFMON] =
							   "UINT64_C(1) << 38 /* CAP_PERFMON */",
						   [AS_SYS_ADMIN] = "UINT64_C(1) << CAP_SYS_ADMIN",
						   [AS_USER] = "0"};

	if (as == AS_ROOT) {
		c_line(t, "must_be_root();");
		return;
	}
	c_line(t, "become(%s%s);", capabilities[as],
	       json_array_size(with) ? " | UINT64_C(1) << CAP_KILL" : "");
}

void become_in_c(struct translation *t, const struct statement *s)
{
	int as = identity_by_name(json_string_value(statement_json(s, "become")));

	if (as >= 0)
		identity_in_c(t, (enum identity)as, statement_json(s, "with"));
}

void affinity_in_c(struct translation *t, const struct statement *s)
{
	if (json_is_true(statement_json(s, "realtime")))
		c_line(t, "must(!sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){1}));");
	c_line(t, "run_on(%s);", number_in_c(t, s, "affinity"));
}
