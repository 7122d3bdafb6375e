/* SPDX-License-Identifier: MIT */
/*
 * perfabi probe: what this machine can do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/modelled.h"
#include "command/session.h"
#include "probe/probe.h"
#include "text/say.h"

static const char program[] = "perfabi probe";

static const char help[] =
	"usage: perfabi probe [OPTIONS] [TOPIC|KEY-GLOB...]\n\n"
	"Says what this machine can do with perf_event_open(2): each event is counted or sampled,\n"
	"each record is made, and what comes is looked at. What is not there, or denied to a "
	"caller,\n"
	"has its reason, and what would change it. Topics: event, sampling, records, hardware,\n"
	"breakpoints, probes, user-reads, callers. Without an argument all of them, the machine's\n"
	"limits, what stands between, and its PMUs.\n\n"
	"  -f, --format FORMAT  text (default), json, or jsonl: one flat line for each capability "
	"and\n"
	"                       caller, with the host, its kernel and the time\n"
	"      --json           as --format json\n"
	"  -r, --read FILE      what --json has printed, here or on another machine; nothing is "
	"asked\n"
	"      --host NAME      this machine's name (default: its own)\n"
	"      --no-host        no name, and no boot id\n"
	"  -c, --cases DIR      the cases below DIR, not the built-in ones\n"
	"  -j, --jobs N         processes at a time (default: two a cpu)\n"
	"  -h, --help           this help\n\n"
	"exit status: 0 it was found out, 2 wrong usage, 3 perfabi failed\n";

struct format {
	const char *name;
	void (*write)(const json_t *probed, FILE *f);
};

static void write_whole(const json_t *probed, FILE *f)
{
	char *text = json_dumps(probed, JSON_INDENT(1));

	if (text)
		fprintf(f, "%s\n", text);
	free(text);
}

static const struct format formats[] = {
	{"text", probe_write}, {"json", write_whole}, {"jsonl", probe_write_rows}};

enum { RECORDED_MAX = 64 << 20 };

struct settings {
	struct session session;
	const struct format *format;
	struct host host;
	const char *read;
	bool is_part;
};

static const struct option long_options[] = {{"format", required_argument, NULL, 'f'},
					     {"json", no_argument, NULL, 'J'},
					     {"read", required_argument, NULL, 'r'},
					     {"host", required_argument, NULL, 'H'},
					     {"no-host", no_argument, NULL, 'N'},
					     {"cases", required_argument, NULL, 'c'},
					     {"jobs", required_argument, NULL, 'j'},
					     {"help", no_argument, NULL, 'h'},
					     {NULL, 0, NULL, 0}};

static int take_format(struct settings *s, const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name)) {
			s->format = &formats[i];
			return 0;
		}
	return session_bad_value(&s->session, "format", name, "text, json or jsonl");
}

/* 0 to go on, 1 after help was printed, or -EINVAL. */
static int parse_options(struct settings *s, int argc, char **argv)
{
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "f:r:c:j:h", long_options, NULL)) != -1) {
		switch (option) {
		case 'f':
			err = take_format(s, optarg);
			break;
		case 'J':
			err = take_format(s, "json");
			break;
		case 'r':
			s->read = optarg;
			break;
		case 'H':
			err = session_host(&s->session, &s->host, optarg);
			break;
		case 'N':
			host_hide(&s->host);
			break;
		case 'h':
			fputs(help, stdout);
			return 1;
		case '?':
			say(stderr, "  `perfabi probe --help` lists the options\n");
			return -EINVAL;
		default:
			err = session_option(&s->session, option, optarg);
		}
	}
	return err;
}

static void free_suites(char **suites)
{
	for (size_t i = 0; suites && suites[i]; i++)
		free(suites[i]);
	free(suites);
}

/* "event" as the suite of its cases; all of them without an argument. NULL without memory. */
static char **suites_of(char *const arguments[])
{
	size_t n = 0;
	char **suites;

	while (arguments[n])
		n++;
	suites = calloc(n + 2, sizeof(*suites));
	for (size_t i = 0; suites && i < (n ? n : 1); i++)
		if (asprintf(&suites[i], PROBE_SUITES "%s", n ? arguments[i] : "*") < 0) {
			suites[i] = NULL;
			free_suites(suites);
			return NULL;
		}
	return suites;
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
			      .is_part = s->is_part};
	json_t *probed;

	probed = probe_json(&probe);
	s->format->write(probed, stdout);
	json_decref(probed);
	return session_is_flawed(session) ? EXIT_HARNESS : 0;
}

/* The model of this machine, and what cases/probe.json says; then the answers. */
static int say_answers(struct settings *s)
{
	struct loaded *loaded = &s->session.loaded;
	const struct source *source = sources_find(&loaded->sources, "probe.json");
	struct baseline baseline = {0};
	struct guide guide = {0};
	struct error e = {0};
	struct model model;
	int status;

	if (!source) {
		say(stderr, "%s: these cases have no probe.json\n", program);
		return EXIT_USAGE;
	}
	status = model_of_here(&model, loaded, program);
	if (!status && guide_load(&guide, source, &e)) {
		error_print(stderr, program, &e);
		status = EXIT_USAGE;
	}
	if (!status)
		status = baseline_load(&baseline, NULL, loaded, program);
	if (!status)
		status = write_answers(s, &model, &guide, &baseline);
	baseline_free(&baseline);
	guide_free(&guide);
	model_free(&model);
	return status;
}

/* The members that the table and the rows go by are there. */
static bool is_probed(const json_t *json)
{
	const json_t *topics = json_object_get(json, "topics"), *topic;
	size_t i;

	json_array_foreach(topics, i, topic)
		if (!json_is_array(json_object_get(topic, "capabilities")) ||
		    !json_is_array(json_object_get(topic, "facts")))
			return false;
	return json_is_array(topics) && json_is_array(json_object_get(json, "callers")) &&
	       json_is_object(json_object_get(json, "environment"));
}

/* Shows what a file has. An exit status. */
static int show_recorded(const struct settings *s)
{
	struct source source = {.name = s->read, .root = ""};
	struct where root = where_root(&source);
	struct error e = {0};
	char *text = text_read(s->read, &source.length, RECORDED_MAX);
	json_t *json;

	if (!text) {
		say(stderr, "%s: %s: %s\n", program, s->read, strerror(errno));
		return EXIT_USAGE;
	}
	source.text = text;
	json = source_parse(&source, &e);
	if (json && !is_probed(json))
		error_value(&e, &root, json, "what perfabi probe --json prints");
	if (error_is_set(&e))
		error_print(stderr, program, &e);
	else
		s->format->write(json, stdout);
	json_decref(json);
	free(text);
	return error_is_set(&e) ? EXIT_USAGE : 0;
}

int command_probe(int argc, char **argv)
{
	struct settings s = {.format = &formats[0]};
	char **suites;
	int parsed, status;

	session_begin(&s.session, program);
	host_read(&s.host);
	parsed = parse_options(&s, argc, argv);
	if (parsed)
		return parsed > 0 ? 0 : EXIT_USAGE;
	s.is_part = argv[optind] != NULL;
	if (s.read && s.is_part) {
		say(stderr, "%s: --read shows the whole file; no topic with it\n", program);
		return EXIT_USAGE;
	}
	if (s.read)
		return show_recorded(&s);
	suites = suites_of(argv + optind);
	status = suites ? session_prepare(&s.session, suites) : EXIT_HARNESS;
	if (!status)
		status = session_run(&s.session, s.session.picked, s.session.count);
	if (!status)
		status = say_answers(&s);
	free_suites(suites);
	session_end(&s.session);
	return status;
}
