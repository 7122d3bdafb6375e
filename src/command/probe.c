/* SPDX-License-Identifier: MIT */
/*
 * perfabi probe: what this machine can do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/session.h"
#include "probe/probe.h"
#include "text/say.h"

static const char program[] = "perfabi probe";

static void write_whole(const json_t *probed, FILE *f)
{
	(void)f;
	print_json(json_incref((json_t *)probed), JSON_INDENT(1));
}

typedef void write_probed(const json_t *probed, FILE *f);
static write_probed *const formats[] = {probe_write, write_whole, probe_write_rows};

enum { RECORDED_MAX = 64 << 20 };

struct settings {
	struct session session;
	int format; /* index in formats */
	struct host host;
	const char *read;
	char *const *wanted; /* topics and keys; none of them is everything */
};

static const struct option_row rows[] = {
	{"format", 'f', OPTION_WORD, "FORMAT",
	 "text (default), json, or jsonl: a flat object for each capability and caller, with the "
	 "host, its kernel and the time",
	 AT(struct settings, format),
	 .words = (const char *const[]){"text", "json", "jsonl", NULL}},
	{"json", 0, OPTION_IS, NULL, "same as --format json", AT(struct settings, format),
	 .least = 1},
	{"read", 'r', OPTION_TEXT, "FILE",
	 "show what --json printed here or on another machine, and probe nothing",
	 AT(struct settings, read)},
	{"host", 0, OPTION_TAKEN, "NAME", "name this machine NAME (default: its host name)",
	 AT(struct settings, host), .take = take_host},
	{"no-host", 0, OPTION_TAKEN, NULL, "omit the machine's name and boot id",
	 AT(struct settings, host), .take = take_no_host},
	{"cases", 'c', OPTION_TEXT, "DIR", "use the cases in DIR instead of the built-in ones",
	 AT(struct settings, session.folder)},
	{"jobs", 'j', OPTION_UNSIGNED, "N", "run N cases at a time (default: two for each cpu)",
	 AT(struct settings, session.options.jobs), .least = 1, .most = 1024},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi probe [OPTIONS] [TOPIC|KEY-GLOB...]\n"
		 "\n"
		 "Shows what this machine can do with perf_event_open(2), by counting or sampling "
		 "each event and\n"
		 "looking at each record. For what is missing, or denied to a caller, it gives the "
		 "reason and\n"
		 "what would change it. Topics: event, sampling, records, hardware,\n"
		 "breakpoints, probes, user-reads, callers, limits, abi, sandbox, pmus. Without an "
		 "argument\n"
		 "all of them.\n"
		 "\n",
	.rows = rows,
	.end = "\n"
	       "Exit status: 0 success, 2 wrong usage, 3 perfabi failed, 4 this machine cannot be "
	       "judged\n"};

static int check_wanted(const struct session *session, const struct guide *guide,
			char *const wanted[])
{
	for (; *wanted; wanted++) {
		char *const one[] = {*wanted, NULL};
		bool known = probe_wants(one, PROBE_PMUS);
		struct nearest near = nearest_to(*wanted);

		nearest_try(&near, PROBE_PMUS);
		for (size_t n = 0; n < session->count && !known; n++) {
			known = probe_wants(one, session->picked[n]->id + strlen(PROBE_SUITES));
			nearest_try(&near, session->picked[n]->id + strlen(PROBE_SUITES));
		}
		for (size_t i = 0; i < guide->topic_count; i++) {
			const struct guide_topic *topic = &guide->topics[i];

			nearest_try(&near, topic->name);
			for (size_t k = 0; k < topic->fact_count && !known; k++) {
				char key[256];

				snprintf(key, sizeof(key), "%s.%s", topic->name,
					 topic->facts[k].key);
				known = probe_wants(one, key);
			}
		}
		if (known)
			continue;
		say(stderr, "%s: there is no topic or key \"%s\"\n", program, *wanted);
		if (near.best)
			say(stderr, "  nearest: \"%s\"\n", near.best);
		say(stderr, "  topics: ");
		for (size_t i = 0; i < guide->topic_count; i++)
			say(stderr, "%s, ", guide->topics[i].name);
		return fail(EXIT_USAGE, PROBE_PMUS "; keys are those of --json\n");
	}
	return 0;
}

static int write_answers(struct settings *s, struct model *model, const struct guide *guide,
			 const struct baseline *baseline)
{
	struct session *session = &s->session;
	struct probe probe = {.guide = guide,
			      .model = model,
			      .baseline = baseline,
			      .env = &session->loaded.env,
			      .host = &s->host,
			      .cases_hash = sources_hash(&session->loaded.sources),
			      .results = session->results,
			      .count = session->count,
			      .wanted = s->wanted};
	char barred[BARRED_TEXT];
	bool is_barred = session->count && is_barred_here(model, program, barred);
	json_t *probed;

	if (is_barred)
		say(stderr, "%s\n", barred);
	if (is_barred && formats[s->format] == probe_write)
		return EXIT_ALL_SKIPPED;
	probed = probe_json(&probe);
	formats[s->format](probed, stdout);
	json_decref(probed);
	if (session->count && session_is_flawed(session))
		return EXIT_HARNESS;
	return is_barred ? EXIT_ALL_SKIPPED : 0;
}

/* Runs the cases that are wanted, and says what came of them, by the model of this machine. */
static int ask_wanted(struct settings *s, const struct guide *guide)
{
	struct session *session = &s->session;
	struct baseline baseline = {0};
	struct model model;
	size_t kept = 0;
	int status;

	for (size_t i = 0; i < session->count; i++)
		if (probe_wants(s->wanted, session->picked[i]->id + strlen(PROBE_SUITES)))
			session->picked[kept++] = session->picked[i];
	session->count = kept;
	status = session->count ? session_run(session, session->picked, session->count) : 0;
	if (status)
		return status;
	status = model_of_here(&model, &session->loaded, program);
	if (!status)
		status = baseline_load(&baseline, NULL, &session->loaded, program);
	if (!status)
		status = write_answers(s, &model, guide, &baseline);
	baseline_free(&baseline);
	model_free(&model);
	return status;
}

/* What cases/probe.json says; then what is wanted is asked. */
static int ask_machine(struct settings *s)
{
	char all[] = "probe", *suites[] = {all, NULL};
	const struct tables *tables = &s->session.loaded.cases.tables;
	struct when_names names;
	const struct source *source;
	struct guide guide = {0};
	struct error e = {0};
	int status = session_prepare(&s->session, suites);

	if (status)
		return status;
	source = sources_find(&s->session.loaded.sources, "probe.json");
	if (!source)
		return fail(EXIT_USAGE, "%s: these cases have no probe.json\n", program);
	names = (struct when_names){.abi = s->session.loaded.abi, .vehicles = tables->vehicles};
	if (guide_load(&guide, source, &names, &e))
		status = fail_with(program, &e);
	if (!status)
		status = check_wanted(&s->session, &guide, s->wanted);
	if (!status)
		status = ask_wanted(s, &guide);
	guide_free(&guide);
	return status;
}

/* Shows what a file has. An exit status. */
static int show_recorded(const struct settings *s)
{
	struct source source = {.name = s->read, .root = ""};
	struct where root = where_root(&source);
	struct error e = {0};
	char *text = text_read(s->read, &source.length, RECORDED_MAX);
	const json_t *topics, *callers, *one;
	json_t *json;
	size_t i;
	bool good;

	if (!text)
		return fail(EXIT_USAGE, "%s: %s: %s\n", program, s->read, strerror(errno));
	source.text = text;
	json = source_parse(&source, &e);
	/* The members that the table and the rows go by. */
	topics = json_object_get(json, "topics");
	callers = json_object_get(json, "callers");
	good = json_is_array(topics) && json_is_array(callers) &&
	       json_is_object(json_object_get(json, "environment"));
	json_array_foreach(topics, i, one)
		good = good && json_is_array(json_object_get(one, "capabilities")) &&
		       json_is_array(json_object_get(one, "facts"));
	json_array_foreach(callers, i, one)
		good = good && json_is_string(one);
	if (json && !good)
		error_value(&e, &root, json, "what perfabi probe --json prints");
	if (!error_is_set(&e))
		formats[s->format](json, stdout);
	json_decref(json);
	free(text);
	return error_is_set(&e) ? fail_with(program, &e) : 0;
}

static void begin(void *settings)
{
	struct settings *s = settings;

	session_begin(&s->session, program);
	host_read(&s->host);
}

static int run(void *settings, char **operands)
{
	struct settings *s = settings;
	int status;

	s->wanted = operands;
	if (s->read && operands[0])
		return fail(EXIT_USAGE, "%s: --read shows the whole file; no topic with it\n",
			    program);
	if (s->read)
		return show_recorded(s);
	status = ask_machine(s);
	session_end(&s->session);
	return status;
}

const struct command probe_command = {
	"probe",        "show what this machine can do, and why it cannot do more",
	&command_line,  sizeof(struct settings),
	.begin = begin, .run = run};
