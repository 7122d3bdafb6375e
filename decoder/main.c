/* SPDX-License-Identifier: MIT */
/*
 * perfabi-decode: options and exit statuses around perfabi_decode().
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "html/anatomy.h"
#include "stream/compare.h"
#include "text/out.h"
#include "text/outfile.h"
#include "perfabi.h"
#include "text/say.h"
#include "text/standard.h"
#include "text/source.h"
#include "text/json_memory.h"

enum { EXIT_DAMAGED = 1, EXIT_BAD = 2, EXIT_IO = 3 };
enum { ATTR_JSON_MAX = 16 * 1024 * 1024, LIST_MAX = 256 };
enum { SHARDS_MAX = 1000000, LINES_MAX = 1000000 };

struct request {
	struct perfabi_options options;
	const char *file, *attr_of, *attr_file, *expect, *cases;
	bool html;
	const char *output; /* of --html; NULL: standard output */
	unsigned limit;     /* lines of its page; 0: as many as it has by default */
	struct perfabi *perfabi;
	const char *types[LIST_MAX], *fields[LIST_MAX];
};

static void help(FILE *f)
{
	fputs("usage: perfabi-decode [OPTIONS] [FILE]\n"
	      "       perfabi-decode --attr-of FILE\n\n"
	      "Prints a recording (perf.data, perf record -o - through a pipe, an image of the "
	      "mmap area,\n"
	      "or bare records) as JSON Lines: a header, an object a record, a summary. What is "
	      "damaged\n"
	      "becomes a line of type diagnostic, and decoding goes on behind it.\n\n"
	      "What to read\n"
	      "  -a, --attr FILE       the attrs in JSON, for input that has none: an object of "
	      "attr fields,\n"
	      "                        {\"attr\": {...}, \"ids\": [...]}, or a list of these; a "
	      "perf.data has\n"
	      "                        its own, and goes by them\n"
	      "  -i, --input FORMAT    perf.data, ring or records; by default the input tells\n"
	      "  -B, --big-endian, -L, --little-endian\n"
	      "                        the byte order of a ring or records (default: this "
	      "machine's);\n"
	      "                        a perf.data tells its own\n"
	      "  -m, --machine NAME    the machine, as uname -m names it, for register names\n"
	      "      --cases DIR       take the layouts from DIR/abi instead of those built in\n\n"
	      "What to print\n"
	      "  -t, --type TYPE,...   these record types alone (SAMPLE, mmap2, unknown...)\n"
	      "  -f, --fields NAME,...  these members alone, beside type\n"
	      "      --no-summary      no last line\n"
	      "      --bytes           \"at\": each member's [offset, length] in its record\n"
	      "      --header          the header alone\n"
	      "      --html            a page of HTML: each record's bytes beside its members; of "
	      "the "
	      "first\n"
	      "                        1000 lines, and of 4096 bytes of a record\n"
	      "      --limit N         with --html: of the first N lines\n"
	      "  -o, --output FILE     with --html: the page's file (default: standard output)\n"
	      "      --attr-of FILE    the attrs of a recording, or of the bytes of one attr, as "
	      "--attr\n"
	      "                        and a case take them\n\n"
	      "What to check\n"
	      "      --check           print what is wrong instead of the records; also report set "
	      "reserved\n"
	      "                        bits, padding, and times out of order on a cpu\n"
	      "      --expect F.jsonl  compare with F instead of printing; say the first "
	      "difference\n\n"
	      "How\n"
	      "  -j, --jobs N          N threads; the output does not depend on it\n"
	      "      --shard I/N       the I-th of N parts of the records: the outputs of all, in "
	      "order, are\n"
	      "                        that of --no-summary\n"
	      "  -h, --help\n"
	      "  -V, --version\n\n"
	      "Exit status: 0 no errors, 1 a diagnostic of grade error or a difference from "
	      "--expect,\n"
	      "2 wrong usage or not a recording, 3 reading, writing or memory failed.\n",
	      f);
}

/* What was printed is written, or it is said why not. */
static int end_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	say(stderr, "perfabi-decode: writing to standard output: %s\n",
	    strerror(errno ? errno : EIO));
	return EXIT_IO;
}

static int usage(const char *format, const char *what)
{
	fputs("perfabi-decode: ", stderr);
	say(stderr, format, what); /* one of ours, with one %s */
	fputs("\n  `perfabi-decode --help` lists the options\n", stderr);
	return EXIT_BAD;
}

/* A sink; what it fails with is in *context, an int, too. */
static int write_out(void *context, const char *text, size_t size)
{
	return *(int *)context = write_fully(STDOUT_FILENO, text, size);
}

/* Commas to strings, in place; 0 after saying what is wrong with the list. */
static size_t split(const char *option, char *list, const char **out, size_t n)
{
	char format[96], *name;

	while ((name = strsep(&list, ",")) && name[0] && n < LIST_MAX)
		out[n++] = name;
	if (!name)
		return n;
	snprintf(format, sizeof(format), "%s: expected up to %d names, a comma between%%s", option,
		 LIST_MAX);
	usage(format, "");
	return 0;
}

/* Digits alone, in range. */
static bool is_number(const char *text, unsigned long max, unsigned *out)
{
	unsigned long n = 0;

	for (const char *at = text; *at; at++) {
		if (*at < '0' || *at > '9' || n > max)
			return false;
		n = n * 10 + (unsigned long)(*at - '0');
	}
	*out = (unsigned)n;
	return text[0] && n >= 1 && n <= max;
}

static int parse_shard(const char *text, struct perfabi_options *options)
{
	char first[16];
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : 0;

	if (n && n < sizeof(first)) {
		memcpy(first, text, n);
		first[n] = '\0';
		if (is_number(slash + 1, SHARDS_MAX, &options->shards) &&
		    is_number(first, options->shards, &options->shard))
			return 0;
	}
	return usage("--shard: expected I/N with I from 1 to N, and N to a million, got \"%s\"",
		     text);
}

static int parse_jobs(const char *text, struct perfabi_options *options)
{
	if (!is_number(text, PERFABI_JOBS_MAX, &options->jobs))
		return usage("--jobs: expected a number from 1 to 1024, got \"%s\"", text);
	return 0;
}

static int take_order(enum perfabi_order order, struct perfabi_options *options)
{
	if (options->order != PERFABI_HOST && options->order != order)
		return usage("%s", "--big-endian or --little-endian, not both");
	options->order = order;
	return 0;
}

static int parse_format(const char *text, struct perfabi_options *options)
{
	static const struct {
		const char *name;
		enum perfabi_format format;
	} formats[] = {{"perf.data", PERFABI_PERF_DATA},
		       {"ring", PERFABI_RING},
		       {"records", PERFABI_RECORDS}};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, text)) {
			options->format = formats[i].format;
			return 0;
		}
	return usage("--input: expected perf.data, ring or records, got \"%s\"", text);
}

static int report_failure(const char *name, int err, const struct perfabi_result *result,
			  bool has_attr)
{
	static const struct {
		const char *option, *ours;
	} options[] = {{"types", "--type"},      {"fields", "--fields"}, {"machine", "--machine"},
		       {"shards", "--shard"},    {"shard", "--shard"},   {"format", "--input"},
		       {"order", "--big-endian"}};
	const char *option = NULL;
	bool bad = err == -EINVAL;
	char message[sizeof(result->message) + 32];

	if (err ==
	    -EPIPE) /* whoever reads has seen enough; SIGPIPE is ignored, or we were not here */
		return EXIT_IO;
	for (size_t i = 0; result->option && i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(result->option, options[i].option))
			option = options[i].ours;
	if (option) {
		snprintf(message, sizeof(message), "%s: %s", option, result->message);
		return usage("%s", message);
	}
	say(stderr, "perfabi-decode: %s: %s\n", name,
	    result->message[0] ? result->message : strerror(-err));
	if (result->option && !strcmp(result->option, "attr") && !has_attr)
		fputs("  --attr FILE gives the attrs; perfabi-decode --attr-of on a recording of "
		      "the same "
		      "events prints one\n",
		      stderr);
	return bad || err == -EISDIR ? EXIT_BAD : EXIT_IO;
}

/* Opens the input; -1 after saying why not. */
static int open_input(const char *file)
{
	int fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0)
		say(stderr, "perfabi-decode: cannot read %s: %s\n", file, strerror(errno));
	return fd;
}

static int print_attrs(struct request *request)
{
	struct perfabi_result result;
	int fd = open_input(request->attr_of), err, unwritten = 0;
	char *text;

	if (fd < 0)
		return EXIT_BAD;
	err = perfabi_attrs(request->perfabi, fd, &request->options, &text, &result);
	close(fd);
	if (err)
		return report_failure(request->attr_of, err, &result, true);
	if (!write_out(&unwritten, text, strlen(text)))
		write_out(&unwritten, "\n", 1);
	free(text);
	if (unwritten)
		return report_failure("writing", unwritten, &(struct perfabi_result){0}, true);
	if (!result.errors)
		return 0;
	say(stderr,
	    "perfabi-decode: %s has errors, and perhaps more attrs than these: `perfabi-decode "
	    "--check` says which\n",
	    request->attr_of);
	return EXIT_DAMAGED;
}

static int decode_expecting(const struct request *request, int fd, const char *name)
{
	struct perfabi_result result;
	struct compare compare;
	int err = compare_open(&compare, request->expect);
	int same = 0;

	if (err) {
		say(stderr, "perfabi-decode: cannot read %s: %s\n", request->expect,
		    strerror(-err));
		return err == -ENOMEM ? EXIT_IO : EXIT_BAD;
	}
	err = perfabi_decode(request->perfabi, fd, &request->options, compare_text, &compare,
			     &result);
	if (!err || err == -ECANCELED)
		same = compare_end(&compare);
	compare_close(&compare);
	if (compare.err)
		return report_failure(request->expect, compare.err, &(struct perfabi_result){0},
				      true);
	if (same < 0)
		err = same;
	if (err && err != -ECANCELED)
		return report_failure(name, err, &result, request->attr_file);
	return same ? 0 : EXIT_DAMAGED;
}

/* The page's file, or standard output. 0, or an exit status after saying why not. */
static int open_page(const char *path, int recording, struct outfile *out, FILE **f)
{
	struct stat st;
	int err;

	*out = (struct outfile){.fd = -1};
	*f = stdout;
	if (!path || !strcmp(path, "-"))
		return 0;
	if (!fstat(recording, &st) && S_ISREG(st.st_mode) && is_file_at(path, &st)) {
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
	say(stderr, "perfabi-decode: cannot write %s: %s\n", path, strerror(-err));
	return EXIT_BAD;
}

/* Puts it in its place if it is whole. An exit status. */
static int close_page(FILE *f, struct outfile *out, bool is_whole)
{
	int err;

	if (f == stdout)
		return end_output();
	err = outfile_end(out, f, is_whole);
	if (err)
		report_failure(out->path, err, &(struct perfabi_result){0}, true);
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
	err = anatomy_begin(&page, f, fd, slash ? slash + 1 : name,
			    request->limit ? request->limit : ANATOMY_LINES);
	if (!err) {
		err = perfabi_decode(request->perfabi, fd, &request->options, anatomy_text, &page,
				     &result);
		anatomy_end(&page);
	}
	err = err == -ECANCELED ? 0 : err; /* the page has all that it takes */
	status = close_page(f, &out, !err);
	if (err)
		return report_failure(name, err, &result, request->attr_file);
	return status ? status : page.has_errors ? EXIT_DAMAGED : 0;
}

/* What --attr names; *text is to be freed. 0, or an exit status after saying why not. */
static int read_attrs(struct request *request, char **text)
{
	size_t size;

	*text = text_read(request->attr_file, &size, ATTR_JSON_MAX);
	if (!*text) {
		int err = errno;

		say(stderr, "perfabi-decode: cannot read %s: %s\n", request->attr_file,
		    strerror(err));
		return err == ENOMEM || err == EIO ? EXIT_IO : EXIT_BAD;
	}
	if (strlen(*text) != size) {
		say(stderr, "perfabi-decode: %s: expected JSON, got a NUL byte at %zu\n",
		    request->attr_file, strlen(*text));
		free(*text);
		return EXIT_BAD;
	}
	request->options.attr = *text;
	request->options.attr_name = request->attr_file;
	return 0;
}

static int decode_file(struct request *request)
{
	const char *name = strcmp(request->file, "-") ? request->file : "standard input";
	struct perfabi_result result;
	char *attr = NULL;
	int fd = open_input(request->file), err, status;

	if (fd < 0)
		return EXIT_BAD;
	status = request->attr_file ? read_attrs(request, &attr) : 0;
	if (status) {
		close(fd);
		return status;
	}
	if (request->expect) {
		status = decode_expecting(request, fd, name);
	} else if (request->html) {
		status = decode_to_page(request, fd, name);
	} else {
		int unwritten = 0;

		err = perfabi_decode(request->perfabi, fd, &request->options, write_out, &unwritten,
				     &result);
		if (unwritten)
			status = report_failure("writing", unwritten, &(struct perfabi_result){0},
						true);
		else if (err)
			status = report_failure(name, err, &result, request->attr_file);
		else
			status = result.errors ? EXIT_DAMAGED : 0;
	}
	close(fd);
	free(attr);
	return status;
}

enum { ATTR_OF = 256, CASES, NO_SUMMARY, BYTES, HEADER, CHECK, EXPECT, SHARD, HTML, LIMIT };

static int read_command_line(int argc, char **argv, struct request *request)
{
	static const struct option long_options[] = {{"attr", required_argument, NULL, 'a'},
						     {"attr-of", required_argument, NULL, ATTR_OF},
						     {"input", required_argument, NULL, 'i'},
						     {"big-endian", no_argument, NULL, 'B'},
						     {"little-endian", no_argument, NULL, 'L'},
						     {"machine", required_argument, NULL, 'm'},
						     {"cases", required_argument, NULL, CASES},
						     {"type", required_argument, NULL, 't'},
						     {"fields", required_argument, NULL, 'f'},
						     {"no-summary", no_argument, NULL, NO_SUMMARY},
						     {"bytes", no_argument, NULL, BYTES},
						     {"header", no_argument, NULL, HEADER},
						     {"html", no_argument, NULL, HTML},
						     {"limit", required_argument, NULL, LIMIT},
						     {"output", required_argument, NULL, 'o'},
						     {"check", no_argument, NULL, CHECK},
						     {"expect", required_argument, NULL, EXPECT},
						     {"jobs", required_argument, NULL, 'j'},
						     {"shard", required_argument, NULL, SHARD},
						     {"help", no_argument, NULL, 'h'},
						     {"version", no_argument, NULL, 'V'},
						     {NULL, 0, NULL, 0}};
	struct perfabi_options *o = &request->options;
	int option, status = 0;

	o->pieces = true;
	while (!status &&
	       (option = getopt_long(argc, argv, "a:i:BLm:t:f:o:j:hV", long_options, NULL)) != -1) {
		switch (option) {
		case 'a':
			request->attr_file = optarg;
			break;
		case ATTR_OF:
			request->attr_of = optarg;
			break;
		case 'i':
			status = parse_format(optarg, o);
			break;
		case 'B':
			status = take_order(PERFABI_BIG, o);
			break;
		case 'L':
			status = take_order(PERFABI_LITTLE, o);
			break;
		case 'm':
			o->machine = optarg;
			break;
		case CASES:
			request->cases = optarg;
			break;
		case 't':
			o->type_count = split("--type", optarg, request->types, o->type_count);
			status = o->type_count ? 0 : EXIT_BAD;
			o->types = request->types;
			break;
		case 'f':
			o->field_count = split("--fields", optarg, request->fields, o->field_count);
			status = o->field_count ? 0 : EXIT_BAD;
			o->fields = request->fields;
			break;
		case NO_SUMMARY:
			o->no_summary = true;
			break;
		case BYTES:
			o->bytes = true;
			break;
		case HEADER:
			o->header_only = true;
			break;
		case HTML:
			request->html = true;
			break;
		case LIMIT:
			if (!is_number(optarg, LINES_MAX, &request->limit))
				status = usage(
					"--limit: expected a number from 1 to 1000000, got \"%s\"",
					optarg);
			break;
		case 'o':
			request->output = optarg;
			break;
		case CHECK:
			o->check = true;
			break;
		case EXPECT:
			request->expect = optarg;
			break;
		case 'j':
			status = parse_jobs(optarg, o);
			break;
		case SHARD:
			status = parse_shard(optarg, o);
			break;
		case 'h':
			help(stdout);
			exit(end_output());
		case 'V':
			puts("perfabi-decode " PERFABI_VERSION_TEXT);
			exit(end_output());
		default:
			fputs("  `perfabi-decode --help` lists the options\n", stderr);
			status = EXIT_BAD;
		}
	}
	return status;
}

int main(int argc, char **argv)
{
	struct request request = {0};
	char message[1024];
	int status, err = standard_hold();

	if (err) {
		say(stderr, "perfabi-decode: /dev/null, for what is closed: %s\n", strerror(-err));
		return EXIT_IO;
	}
	argv[0] = "perfabi-decode"; /* what getopt_long(3) puts in front of its messages */
	signal(SIGXFSZ, SIG_IGN);   /* a file that may not grow is an error of write(2) */
	status = read_command_line(argc, argv, &request);
	if (status)
		return status;
	if (request.attr_of && optind < argc)
		return usage("--attr-of takes one file, not \"%s\" too", argv[optind]);
	if (request.attr_of && (request.options.check || request.expect || request.attr_file))
		return usage("--attr-of prints attrs, and has nothing to do with %s",
			     request.options.check ? "--check"
			     : request.expect      ? "--expect"
						   : "--attr");
	if (!request.html && (request.limit || request.output))
		return usage("%s goes with --html alone", request.limit ? "--limit" : "--output");
	if (request.html && (request.attr_of || request.expect || request.options.check))
		return usage("--html prints a page, and has nothing to do with %s",
			     request.expect    ? "--expect"
			     : request.attr_of ? "--attr-of"
					       : "--check");
	if (optind + 1 < argc)
		return usage("one recording at a time, not \"%s\" too", argv[optind + 1]);
	request.file = optind < argc ? argv[optind] : "-";
	if (!request.attr_of && optind == argc && isatty(STDIN_FILENO)) {
		help(stderr);
		return EXIT_BAD;
	}
	json_memory_or_exit();
	request.perfabi = perfabi_new(request.cases, message, sizeof(message));
	if (!request.perfabi) {
		status = errno == ENOMEM ? EXIT_IO : EXIT_BAD;
		say(stderr, "perfabi-decode: %s\n", message);
		return status;
	}
	status = request.attr_of ? print_attrs(&request) : decode_file(&request);
	exit(status); /* to free each value of the tables would take as long as a small file does */
}
