/* SPDX-License-Identifier: MIT */
/*
 * A report never writes over what the run reads, nor over another report.
 */
#include "command/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/baseline.h"
#include "text/outfile.h"
#include "text/say.h"

int outputs_add(void *to, const char *text, const struct option_row *row, const char *program)
{
	struct outputs *outputs = to;
	const char *colon = strchr(text, ':');
	char name[16];
	struct nearest near;
	struct output *out = &outputs->list[outputs->count];

	if (outputs->count == OUTPUTS_MAX)
		return option_bad_value(program, row->name, text, "at most 8 formats");
	snprintf(name, sizeof(name), "%.*s", colon && colon - text < 15 ? (int)(colon - text) : 15,
		 text);
	near = nearest_to(name);
	*out = (struct output){.printer = printer_by_name(name, &near),
			       .path = colon && strcmp(colon, ":-") != 0 ? colon + 1 : NULL};
	if (!out->printer || (colon && !colon[1]))
		return option_bad_value(
			program, row->name, text,
			"pretty, ktap, tap, junit, json or jsonl, and :FILE if you like");
	for (size_t i = 0; i < outputs->count; i++)
		if (!out->path && !outputs->list[i].path)
			return option_bad_value(program, row->name, text,
						"one format alone on standard output; give "
						"the others a file, as junit:report.xml");
	outputs->count++;
	return 0;
}

/* Where another format goes already: into a file or pipe; a terminal or /dev/null takes both. */
static bool is_taken(const struct outputs *outputs, size_t count)
{
	struct stat own, other;

	if (fstat(fileno(outputs->list[count].f), &own) || S_ISCHR(own.st_mode))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!fstat(fileno(outputs->list[i].f), &other) && other.st_dev == own.st_dev &&
		    other.st_ino == own.st_ino)
			return true;
	return false;
}

/* Whether it is a file that this run reads: a case file, the baseline. */
static bool is_read(const struct session *session, const char *baseline, FILE *f)
{
	const struct sources *sources = &session->loaded.sources;
	char path[PATH_MAX];
	struct stat own;

	if (fstat(fileno(f), &own) || !S_ISREG(own.st_mode))
		return false;
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->list[i];

		snprintf(path, sizeof(path), "%s%s%s", source->root, source->root[0] ? "/" : "",
			 source->name);
		if (is_file_at(path, &own))
			return true;
	}
	return !baseline_is_none(baseline) && is_file_at(baseline, &own);
}

/* What was in the files is gone only when all of them can be written. */
static void empty_outputs(const struct outputs *outputs)
{
	struct stat st;

	for (size_t i = 0; i < outputs->count; i++) {
		int fd = fileno(outputs->list[i].f);

		if (outputs->list[i].path && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    ftruncate(fd, 0))
			continue; /* then writing fails, and says why */
	}
}

/* As no-color.org has it, and only where a terminal shows it. */
static bool wants_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && no[0]) && isatty(fileno(f)) && strcmp(term ? term : "dumb", "dumb") != 0;
}

int outputs_open(struct outputs *outputs, const struct session *session, const char *baseline)
{
	if (!outputs->count)
		outputs_add(outputs, "pretty", NULL, session->program);
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *out = &outputs->list[i];

		out->verbose = outputs->is_verbose;
		out->f = out->path ? fopen(out->path, "ae") : stdout;
		if (!out->f) {
			int err = -errno;

			say(stderr, "perfabi run: cannot write %s: %s\n", out->path,
			    strerror(-err));
			return err;
		}
		if (is_read(session, baseline, out->f)) {
			say(stderr,
			    "perfabi run: %s is a file that this run reads\n"
			    "  write the report to another one\n",
			    out->path);
			return -EINVAL;
		}
		if (is_taken(outputs, i)) {
			say(stderr,
			    "perfabi run: %s is where another format is written already\n"
			    "  give each format a file of its own\n",
			    out->path ? out->path : "standard output");
			return -EINVAL;
		}
		out->colour = outputs->colour == COLOUR_ALWAYS ||
			      (outputs->colour == COLOUR_AUTO && wants_colour(out->f));
		out->quiet = outputs->is_quiet;
	}
	empty_outputs(outputs);
	return 0;
}

int outputs_close(struct outputs *outputs)
{
	int status = 0;

	for (size_t i = 0; i < outputs->count; i++) {
		struct output *out = &outputs->list[i];

		if (!out->f)
			continue;
		if (out->f == stdout ? fflush(stdout) : fclose(out->f))
			out->error = out->error ? out->error : errno;
		out->f = NULL;
		if (!out->error)
			continue;
		say(stderr, "perfabi run: writing %s: %s\n",
		    out->path ? out->path : "to standard output", strerror(out->error));
		status = EXIT_HARNESS;
	}
	return status;
}

/* Keeps the first error of a stream while errno still has it. */
static void note_error(struct output *out)
{
	if (ferror(out->f) && !out->error)
		out->error = errno ? errno : EIO;
}

void outputs_begin(struct outputs *outputs, const struct report *report)
{
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *out = &outputs->list[i];

		if (!out->printer->begin)
			continue;
		errno = 0;
		out->printer->begin(out, report);
		fflush(out->f);
		note_error(out);
	}
}

void outputs_started(struct outputs *outputs, const struct instance *instance)
{
	for (size_t i = 0; i < outputs->count; i++) {
		if (!outputs->list[i].printer->started)
			continue;
		errno = 0;
		outputs->list[i].printer->started(&outputs->list[i], instance);
		note_error(&outputs->list[i]);
	}
}

void outputs_ended(struct outputs *outputs, const struct report *report,
		   const struct result *result)
{
	for (size_t i = 0; i < outputs->count; i++) {
		if (!outputs->list[i].printer->ended)
			continue;
		errno = 0;
		outputs->list[i].printer->ended(&outputs->list[i], report, result);
		note_error(&outputs->list[i]);
	}
}

void outputs_end(struct outputs *outputs, const struct report *report)
{
	for (size_t i = 0; i < outputs->count; i++) {
		errno = 0;
		outputs->list[i].printer->end(&outputs->list[i], report);
		note_error(&outputs->list[i]);
	}
}

bool outputs_have_json(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		if (!strncmp(outputs->list[i].printer->name, "json", 4))
			return true;
	return false;
}

bool outputs_tell_people(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		if (outputs->list[i].printer == &printer_pretty && !outputs->list[i].path)
			return true;
	return false;
}
