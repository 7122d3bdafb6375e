/* SPDX-License-Identifier: MIT */
/*
 * perfabi-decode: options and exit statuses around perfabi_decode().
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "html/anatomy.h"
#include "include/perfabi.h"
#include "symbols.h"
#include "text/json_text.h"
#include "text/options.h"
#include "text/out.h"
#include "text/outfile.h"
#include "text/say.h"
#include "text/source.h"

enum { EXIT_DAMAGED = 1, EXIT_BAD = 2, EXIT_IO = 3 };
enum { ATTR_JSON_MAX = 16 * 1024 * 1024, LIST_MAX = 256 };
enum { SHARDS_MAX = 1000000, LINES_MAX = 1000000 };

/* A list of names, with commas between. */
struct list {
	const char *names[LIST_MAX];
	size_t count;
};

struct request {
	struct perfabi_options options;
	const char *file, *attr_of, *attr_file, *cases;
	bool html, symbols;
	const char *output; /* of --html; NULL: standard output */
	unsigned limit;     /* lines of its page; 0: as many as it has by default */
	struct perfabi *perfabi;
	int format;        /* of the input, from 0; -1: it tells */
	int output_format; /* from 0; -1: lines */
	struct list types, fields;
	char *text; /* of attrs, read or to be written; it stays */
};

/* What was printed is written, or it is said why not. */
static int end_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	say(stderr, "perfabi-decode: writing to standard output: %s\n",
	    strerror(errno ? errno : EIO));
	return EXIT_IO;
}

static int __attribute__((format(printf, 1, 2))) usage(const char *format, ...)
{
	va_list args;

	fputs("perfabi-decode: ", stderr);
	va_start(args, format);
	say_list(stderr, format, args);
	va_end(args);
	fputs("\n  `perfabi-decode --help` lists the options\n", stderr);
	return EXIT_BAD;
}

/* A sink; what it fails with is in *context, an int, too. */
static int write_out(void *context, const char *text, size_t size)
{
	return *(int *)context = write_fully(STDOUT_FILENO, text, size);
}

static int take_names(void *to, const char *value, const struct option_row *row,
		      const char *program)
{
	struct list *list = to;
	char *rest = or_exit(strdup(value)), *name = rest; /* stays, as the list does */

	while ((name = strsep(&rest, ",")) && name[0] && list->count < LIST_MAX)
		list->names[list->count++] = name;
	return name ? option_bad_value(program, row->name, value,
				       "up to 256 names, a comma between")
		    : 0;
}

static int take_shard(void *to, const char *value, const struct option_row *row,
		      const char *program)
{
	struct perfabi_options *options = to;
	char end;

	if (value[strspn(value, "0123456789/")] == '\0' &&
	    sscanf(value, "%7u/%7u%c", &options->shard, &options->shards, &end) == 2 &&
	    options->shard && options->shard <= options->shards && options->shards <= SHARDS_MAX)
		return 0;
	return option_bad_value(program, row->name, value,
				"I/N with I from 1 to N, and N to a million");
}

static int take_order(void *to, const char *value, const struct option_row *row,
		      const char *program)
{
	enum perfabi_order *order = to, wanted = (enum perfabi_order)row->least;

	(void)value;
	if (*order != PERFABI_HOST && *order != wanted) {
		say(stderr, "%s: --big-endian or --little-endian, not both\n", program);
		return -EINVAL;
	}
	*order = wanted;
	return 0;
}

static int take_version(void *options, const char *value, const struct option_row *row,
			const char *program)
{
	(void)options;
	(void)value;
	(void)row;
	printf("%s " PERFABI_VERSION_TEXT "\n", program);
	exit(end_output());
}

/* In the order of enum perfabi_format, behind PERFABI_AUTO. */
static const char *const formats[] = {"perf.data", "ring", "records", NULL};

/* Likewise of enum perfabi_output, behind PERFABI_LINES. */
static const char *const output_formats[] = {"folded", "pprof", "firefox", NULL};

#define OF_DECODER(member) AT(struct request, options.member)

static const struct option_row rows[] = {
	{"What to read", .kind = OPTION_TITLE},
	{"attr", 'a', OPTION_TEXT, "FILE",
	 "read the attrs from FILE, for input that has none: in JSON, an object of attr fields, "
	 "{\"attr\": {...}, \"ids\": [...]}, or a list of these; perf.data files have their own",
	 AT(struct request, attr_file)},
	{"input", 'i', OPTION_WORD, "FORMAT", "perf.data, ring or records (default: detected)",
	 AT(struct request, format), .words = formats},
	{"big-endian", 'B', OPTION_TAKEN, NULL,
	 "the ring or records are big-endian (default: this machine's byte order; perf.data files "
	 "record theirs)",
	 OF_DECODER(order), .least = PERFABI_BIG, .take = take_order},
	{"little-endian", 'L', OPTION_TAKEN, NULL, "the ring or records are little-endian",
	 OF_DECODER(order), .least = PERFABI_LITTLE, .take = take_order},
	{"machine", 'm', OPTION_TEXT, "NAME",
	 "use the register names of that machine, as uname -m prints it", OF_DECODER(machine)},
	{"tracefs", 0, OPTION_TEXT, "DIR",
	 "read the formats of tracepoints from DIR (/sys/kernel/tracing) where the recording has "
	 "none",
	 OF_DECODER(tracefs)},
	{"cases", 0, OPTION_TEXT, "DIR", "use the layouts in DIR/abi instead of the built-in ones",
	 AT(struct request, cases)},
	{"What to print", .kind = OPTION_TITLE},
	{"type", 't', OPTION_TAKEN, "TYPE,...",
	 "print only records of these types (SAMPLE, mmap2, unknown, ...)",
	 AT(struct request, types), .take = take_names},
	{"fields", 'f', OPTION_TAKEN, "NAME,...", "print only these members, and type",
	 AT(struct request, fields), .take = take_names},
	{"sort", 0, OPTION_SET, NULL,
	 "print records in the order of their time, as perf does; a directory's always are",
	 OF_DECODER(sort)},
	{"join", 0, OPTION_SET, NULL,
	 "sort, and add to samples the thread's name and for each address the file, its build ID "
	 "and the offset in it",
	 OF_DECODER(join)},
	{"flat", 0, OPTION_SET, NULL,
	 "print lines as tables are read from: addresses, masks and constants are numbers, call "
	 "chains lists of them, and a member of a member is named by both",
	 OF_DECODER(flat)},
	{"value-names", 0, OPTION_SET, NULL,
	 "print the names that a tracepoint's print fmt gives to values, instead of numbers",
	 OF_DECODER(value_names)},
	{"format", 0, OPTION_WORD, "FORMAT",
	 "print a profile instead of lines: folded (stacks for flame graphs), pprof (protobuf) or "
	 "firefox (for profiler.firefox.com)",
	 AT(struct request, output_format), .words = output_formats},
	{"aux", 0, OPTION_TEXT, "DIR",
	 "write AUX data to DIR/aux-idxN.bin, one file for each buffer, and DIR/index.jsonl",
	 OF_DECODER(aux)},
	{"symbols", 0, OPTION_SET, NULL,
	 "with --join and --format: name functions, from this machine's files and kernel "
	 "unless their build IDs differ from those recorded",
	 AT(struct request, symbols)},
	{"event", 'e', OPTION_TEXT, "NAME",
	 "with --format: take the samples of that event (default: the first that has any; of "
	 "pprof, all)",
	 OF_DECODER(event)},
	{"no-summary", 0, OPTION_SET, NULL, "omit the summary line", OF_DECODER(no_summary)},
	{"bytes", 0, OPTION_SET, NULL, "add \"at\": each member's [offset, length] in its record",
	 OF_DECODER(bytes)},
	{"header", 0, OPTION_SET, NULL, "print only the header", OF_DECODER(header_only)},
	{"html", 0, OPTION_SET, NULL,
	 "print an HTML page that shows each record's bytes next to its members, for at most 1000 "
	 "lines and 4096 bytes of each record",
	 AT(struct request, html)},
	{"limit", 0, OPTION_UNSIGNED, "N", "with --html: show the first N lines",
	 AT(struct request, limit), .least = 1, .most = LINES_MAX},
	{"output", 'o', OPTION_TEXT, "FILE",
	 "with --html: write the page to FILE (default: standard output)",
	 AT(struct request, output)},
	{"attr-of", 0, OPTION_TEXT, "FILE",
	 "print the attrs of a recording, or of the raw bytes of one attr, in the form that --attr "
	 "and cases take",
	 AT(struct request, attr_of)},
	{"What to check", .kind = OPTION_TITLE},
	{"check", 0, OPTION_SET, NULL,
	 "print diagnostics instead of records; also report nonzero reserved bits and padding, and "
	 "times out of order on a cpu",
	 OF_DECODER(check)},
	{"How", .kind = OPTION_TITLE},
	{"jobs", 'j', OPTION_UNSIGNED, "N", "use N threads; the output is the same",
	 OF_DECODER(jobs), .least = 1, .most = PERFABI_JOBS_MAX},
	{"shard", 0, OPTION_TAKEN, "I/N",
	 "decode part I of N of the records; the outputs of all parts, in order, are that of "
	 "--no-summary",
	 AT(struct request, options), .take = take_shard},
	{"version", 'V', OPTION_TAKEN, NULL, "print the version", .take = take_version},
	{0}};

static const struct command_line command_line = {
	.program = "perfabi-decode",
	.usage = "usage: perfabi-decode [OPTIONS] [FILE]\n"
		 "       perfabi-decode --attr-of FILE\n\n"
		 "Prints a recording (perf.data, what perf record -o - writes to a pipe, an image "
		 "of the mmap\n"
		 "area, or bare records) as JSON Lines: a header, an object for each record, a "
		 "summary. Where\n"
		 "the input is damaged, it prints a line of type diagnostic and goes on.\n\n",
	.rows = rows,
	.end = "\nExit status: 0 no errors, 1 a diagnostic of grade error,\n"
	       "2 wrong usage or not a recording, 3 reading, writing or memory failed.\n"};

/* `result` may be NULL. */
static int report_failure(const char *name, int err, const struct perfabi_result *result,
			  bool has_attr)
{
	static const struct {
		const char *option, *ours;
	} options[] = {{"types", "--type"},       {"fields", "--fields"},
		       {"machine", "--machine"},  {"shards", "--shard"},
		       {"shard", "--shard"},      {"format", "--input"},
		       {"order", "--big-endian"}, {"value_names", "--value-names"}};
	const char *option = result ? result->option : NULL;

	if (err == -EPIPE) /* whoever reads has seen enough; SIGPIPE is ignored, or not ours */
		return EXIT_IO;
	for (size_t i = 0; option && i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(option, options[i].option))
			return usage("%s: %s", options[i].ours, result->message);
	say(stderr, "perfabi-decode: %s: %s\n", name,
	    result && result->message[0] ? result->message : strerror(-err));
	if (option && !strcmp(option, "attr") && !has_attr)
		fputs("  --attr FILE gives the attrs; perfabi-decode --attr-of on a recording of "
		      "the same events prints one\n",
		      stderr);
	return err == -EINVAL || err == -EISDIR ? EXIT_BAD : EXIT_IO;
}

/* An exit status. */
static int cannot(const char *what, const char *file, int err)
{
	say(stderr, "perfabi-decode: cannot %s %s: %s\n", what, file, strerror(-err));
	return err == -ENOMEM || err == -EIO ? EXIT_IO : EXIT_BAD;
}

static int print_attrs(struct request *request, int fd)
{
	struct perfabi_result result;
	int err = perfabi_attrs(request->perfabi, fd, &request->options, &request->text, &result);

	if (err)
		return report_failure(request->attr_of, err, &result, true);
	err = write_fully(STDOUT_FILENO, request->text, strlen(request->text));
	if (!err)
		err = write_fully(STDOUT_FILENO, "\n", 1);
	if (err)
		return report_failure("writing", err, NULL, true);
	if (!result.errors)
		return 0;
	say(stderr,
	    "perfabi-decode: %s has errors, and perhaps more attrs than these: `perfabi-decode "
	    "--check` says which\n",
	    request->attr_of);
	return EXIT_DAMAGED;
}

/* The page's file, or standard output. 0, or an exit status after saying why not. */
static int open_page(const char *path, int recording, struct outfile *out, FILE **f)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	struct stat st;
	int err;

	*out = (struct outfile){.fd = -1};
	*f = stdout;
	if (!path || !strcmp(path, "-"))
		return 0;
	if (!fstat(recording, &st) &&
	    (S_ISDIR(st.st_mode) ? !fstatat(recording, slash ? slash + 1 : path, &st, 0)
				 : S_ISREG(st.st_mode)) &&
	    is_file_at(path, &st)) {
		say(stderr,
		    "perfabi-decode: %s is the recording\n  write the page to another file\n",
		    path);
		return EXIT_BAD;
	}
	err = outfile_open(out, path, outfile_mode(path));
	*f = err ? NULL : outfile_stream(out);
	if (*f)
		return 0;
	err = err ? err : -errno;
	outfile_close(out);
	return cannot("write", path, err);
}

/* Puts it in its place if it is whole. An exit status. */
static int close_page(FILE *f, struct outfile *out, bool is_whole)
{
	int err;

	if (f == stdout)
		return end_output();
	err = outfile_end(out, f, is_whole);
	if (err)
		report_failure(out->path, err, NULL, true);
	outfile_close(out);
	return err ? EXIT_IO : 0;
}

static int decode_to_page(struct request *request, int fd, const char *name)
{
	const char *slash = strrchr(name, '/');
	struct perfabi_result result = {0};
	struct anatomy page;
	struct outfile out;
	int err, status;
	FILE *f;

	status = open_page(request->output, fd, &out, &f);
	if (status)
		return status;
	request->options.bytes = true;
	anatomy_begin(&page, f, fd, slash ? slash + 1 : name,
		      request->limit ? request->limit : ANATOMY_LINES);
	err = perfabi_decode(request->perfabi, fd, &request->options, anatomy_text, &page, &result);
	anatomy_end(&page);
	err = err == -ECANCELED ? 0 : err; /* the page has all that it takes */
	status = close_page(f, &out, !err);
	if (err)
		return report_failure(name, err, &result, request->attr_file);
	return status ? status : page.has_errors ? EXIT_DAMAGED : 0;
}

/* What --attr names. 0, or an exit status after saying why not. */
static int read_attrs(struct request *request)
{
	const char *file = request->attr_file;
	size_t size;

	request->text = text_read(file, &size, ATTR_JSON_MAX);
	if (!request->text)
		return cannot("read", file, -errno);
	if (strlen(request->text) != size) {
		say(stderr, "perfabi-decode: %s: expected JSON, got a NUL byte at %zu\n", file,
		    strlen(request->text));
		return EXIT_BAD;
	}
	request->options.attr = request->text;
	request->options.attr_name = file;
	return 0;
}

static int decode_file(struct request *request, int fd)
{
	const char *name = strcmp(request->file, "-") ? request->file : "standard input";
	struct perfabi_result result;
	int err, unwritten = 0, status = request->attr_file ? read_attrs(request) : 0;

	if (status)
		return status;
	if (request->html)
		return decode_to_page(request, fd, name);
	err = perfabi_decode(request->perfabi, fd, &request->options, write_out, &unwritten,
			     &result);
	if (unwritten)
		return report_failure("writing", unwritten, NULL, true);
	if (err)
		return report_failure(name, err, &result, request->attr_file);
	if (request->options.output && result.errors)
		say(stderr,
		    "perfabi-decode: %s has errors: `perfabi-decode --check --join` says which\n",
		    name);
	return result.errors ? EXIT_DAMAGED : 0;
}

/* 0, or EXIT_BAD after a message. */
static int check_together(const struct request *request)
{
	bool has_format = request->output_format >= 0;
	const char *prints[] = {has_format ? "--format" : NULL,
				request->html ? "--html" : NULL,
				request->attr_of ? "--attr-of" : NULL,
				request->options.check ? "--check" : NULL,
				has_format && request->options.header_only ? "--header" : NULL,
				has_format && request->types.count ? "--type" : NULL,
				has_format && request->fields.count ? "--fields" : NULL,
				has_format && request->options.bytes ? "--bytes" : NULL,
				has_format && request->options.flat ? "--flat" : NULL,
				request->attr_of && request->attr_file ? "--attr" : NULL};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
		if (first && prints[i])
			return usage("%s cannot be combined with %s", first, prints[i]);
		first = prints[i] ? prints[i] : first;
	}
	if (!has_format && (request->options.event || (request->symbols && !request->options.join)))
		return usage("%s", request->options.event ? "--event needs --format"
							  : "--symbols needs --join or --format");
	if (!request->html && (request->limit || request->output))
		return usage("%s needs --html", request->limit ? "--limit" : "--output");
	return 0;
}

int main(int argc, char **argv)
{
	struct request request = {.format = -1, .output_format = -1};
	char message[1024];
	int fd, status, err = standard_hold();

	if (err) {
		say(stderr, "perfabi-decode: /dev/null, for what is closed: %s\n", strerror(-err));
		return EXIT_IO;
	}
	json_memory_or_exit();
	argv[0] = "perfabi-decode"; /* what getopt_long(3) puts in front of its messages */
	signal(SIGXFSZ, SIG_IGN);   /* a file that may not grow is an error of write(2) */
	status = options_read(&command_line, &request, argc, argv);
	if (status > 0)
		return end_output();
	if (status)
		return EXIT_BAD;
	request.options.pieces = true;
	request.options.format = (enum perfabi_format)(request.format + 1);
	if (request.symbols) {
		request.options.symbol = symbols_find;
		request.options.symbol_context = or_exit(symbols_new());
	}
	request.options.output = (enum perfabi_output)(request.output_format + 1);
	request.options.types = request.types.names;
	request.options.type_count = request.types.count;
	request.options.fields = request.fields.names;
	request.options.field_count = request.fields.count;
	if (request.attr_of && optind < argc)
		return usage("--attr-of takes one file, not \"%s\" too", argv[optind]);
	status = check_together(&request);
	if (status)
		return status;
	if (optind + 1 < argc)
		return usage("one recording at a time, not \"%s\" too", argv[optind + 1]);
	request.file = request.attr_of ? request.attr_of : optind < argc ? argv[optind] : "-";
	if (!request.attr_of && optind == argc && isatty(STDIN_FILENO)) {
		options_help(&command_line, stderr);
		return EXIT_BAD;
	}
	request.perfabi = perfabi_new(request.cases, message, sizeof(message));
	if (!request.perfabi) {
		status = errno == ENOMEM ? EXIT_IO : EXIT_BAD;
		say(stderr, "perfabi-decode: %s\n", message);
		return status;
	}
	fd = strcmp(request.file, "-") ? open(request.file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	status = fd < 0            ? cannot("read", request.file, -errno)
		 : request.attr_of ? print_attrs(&request, fd)
				   : decode_file(&request, fd);
	exit(status); /* to free each value of the tables would take as long as a small file does */
}
