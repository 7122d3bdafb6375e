/* SPDX-License-Identifier: MIT */
/*
 * The page: a template with its style and script, the table as JSON for the script, and as a plain
 * table for who has none.
 */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "html/html.h"
#include "report/report.h"
#include "text/json_text.h"
#include "text/source.h"

struct sources page_builtin(void);

/*
 * JSON within <script type="application/json">: the same value, whose text ends no script and
 * begins no comment.
 */
static void put_script_json(FILE *f, const char *json)
{
	size_t plain;

	/* Outside strings JSON has no <, and inside them it may be written so. */
	while (json[plain = strcspn(json, "<")]) {
		fwrite(json, 1, plain, f);
		fputs("\\u003c", f);
		json += plain + 1;
	}
	fputs(json, f);
}

static void put_value(FILE *f, const json_t *json)
{
	char *text = or_exit(json_text(json, JSON_COMPACT | JSON_ENCODE_ANY));

	put_script_json(f, text);
	free(text);
}

static void put_columns(FILE *f, const struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		json_object_set_new(column->about, "rank", json_integer(column->kernel_rank));
		fputs(i ? ",\n" : "\n", f);
		put_value(f, column->about);
	}
}

/* [what it is about, a letter for each column] */
static void put_row(FILE *f, const struct table *table, const struct row *row)
{
	fputc('[', f);
	put_value(f, row->about);
	fputs(",\"", f);
	for (size_t i = 0; i < table->column_count; i++)
		fputc(verdict_kinds[row->said[table->columns[i].number]].letter, f);
	fputs("\"]", f);
}

static void put_suite_rows(FILE *f, const struct table *table, size_t first, size_t end)
{
	fputs("{\"suite\":", f);
	put_value(f, json_object_get(table->rows[first].about, "suite"));
	fputs(",\"rows\":[", f);
	for (size_t i = first; i < end; i++) {
		fputs(i > first ? ",\n" : "\n", f);
		put_row(f, table, &table->rows[i]);
	}
	fputs("]}", f);
}

static void put_table(FILE *f, const void *context)
{
	const struct table *table = context;

	fputs("{\"machines\":[", f);
	put_columns(f, table);
	fprintf(f, "],\"kernels\":%zu,\"groups\":[", table->kernel_count);
	for (size_t i = 0, end; i < table->row_count; i = end) {
		end = table_suite_end(table, i);
		fputs(i ? ",\n" : "\n", f);
		put_suite_rows(f, table, i, end);
	}
	fputs("]}", f);
}

/* [[what reports say of it, each once], the index of what each column says, or null: none] */
static void put_details(FILE *f, const struct table *table, const struct row *row)
{
	const char *text;
	json_t *index;

	fputs("[[", f);
	json_object_foreach(row->details, text, index) {
		fputs(json_integer_value(index) ? "," : "", f);
		put_script_json(f, text);
	}
	fputs("],[", f);
	for (size_t i = 0; i < table->column_count; i++)
		fprintf(f, "%s%d", i ? "," : "", row->detail[table->columns[i].number]);
	fputs("]]", f);
}

/* In the order of the rows: the script reads it when somebody asks for a case. */
static void put_all_details(FILE *f, const void *context)
{
	const struct table *table = context;

	fputc('[', f);
	for (size_t i = 0; i < table->row_count; i++) {
		fputs(i ? ",\n" : "\n", f);
		put_details(f, table, &table->rows[i]);
	}
	fputc(']', f);
}

static void put_plain_head(FILE *f, const struct table *table)
{
	fputs("<table class=plain>\n<thead><tr><th scope=col>Case<th scope=col>Promise<th "
	      "scope=col>Between machines",
	      f);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];
		const char *const lines[] = {column->name, column->kernel, column->machine,
					     member_text(column->about, "note")};

		fputs("<th scope=col>", f);
		for (size_t j = 0; j < 3 || (j < 4 && lines[j][0]); j++) {
			fputs(j ? "<br>" : "", f);
			html_text(f, lines[j]);
		}
	}
	fputs("</thead>\n", f);
}

static void put_plain_row(FILE *f, const struct table *table, const struct row *row)
{
	fputs("<tr><th scope=row>", f);
	html_text(f, row->id);
	fputs("<td>", f);
	html_text(f, member_text(row->about, "title"));
	fputs(row->own.differs   ? "<td class=differs>differs"
	      : row->own.partial ? "<td class=partial>partial"
				 : "<td>",
	      f);
	for (size_t i = 0; i < table->column_count; i++) {
		unsigned said = row->said[table->columns[i].number];
		const char *word = verdict_kinds[said].word;

		if (said == PASS || said == SAYS_NOTHING)
			fprintf(f, "<td>%s", word);
		else
			fprintf(f, "<td class=%s>%s", word, word);
	}
	fputc('\n', f);
}

static void put_plain_table(FILE *f, const void *context)
{
	const struct table *table = context;

	put_plain_head(f, table);
	for (size_t i = 0, end; i < table->row_count; i = end) {
		end = table_suite_end(table, i);
		fprintf(f, "<tbody><tr class=suite><th scope=rowgroup colspan=%zu>",
			table->column_count + 3);
		html_text(f, table->rows[i].suite);
		fputc('\n', f);
		for (size_t j = i; j < end; j++)
			put_plain_row(f, table, &table->rows[j]);
	}
	fputs("</table>\n", f);
}

/* Each case by the worst that a machine says of it. */
static void put_verdict(FILE *f, const void *context)
{
	static const enum outcome from_the_worst[] = {FAIL,  UNSTABLE, XPASS, ERROR,
						      XFAIL, PASS,     SKIP};
	const struct table *table = context;
	struct report report = {0};
	char text[256];

	for (size_t i = 0; i < table->row_count; i++) {
		bool says[SAIDS] = {false};
		size_t worst = 0;

		for (size_t j = 0; j < table->column_count; j++)
			says[table->rows[i].said[j]] = true;
		says[PASS] |= says[SAYS_YES] || says[SAYS_NO] || says[SAYS_DENIED];
		while (worst < OUTCOMES - 1 && !says[from_the_worst[worst]])
			worst++;
		report.tally[from_the_worst[worst]]++;
	}
	report_verdict(&report, text, sizeof(text));
	html_text(f, text);
}

static const char *template_of(const struct sources *sources, const char *name)
{
	const struct source *source = sources_find(sources, name);

	return source ? source->text : "";
}

void page_write(FILE *f, const struct table *table, const char *title)
{
	struct sources sources = page_builtin();
	const struct html_slot slots[] = {
		{"title", html_slot_text, title ? title : "perf_event_open(2) by machine"},
		{"style", html_slot_raw, template_of(&sources, "src/page/page.css")},
		{"script", html_slot_raw, template_of(&sources, "src/page/page.js")},
		{"verdict", put_verdict, table},
		{"table", put_table, table},
		{"details", put_all_details, table},
		{"plain", put_plain_table, table},
		{NULL, NULL, NULL}};

	html_fill(f, template_of(&sources, "src/page/page.html"), slots);
}
