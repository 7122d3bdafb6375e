/* SPDX-License-Identifier: MIT */
/*
 * perfabi-decode: so far, an attr's bytes as the JSON that a case uses. Records are not decoded
 * yet.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "attr.h"

enum { EXIT_BAD = 2, EXIT_WRITE = 3, ATTR_BYTES_MAX = 65536 };

static void help(FILE *f)
{
	fputs("usage: perfabi-decode [OPTIONS] --attr FILE\n\n"
	      "Prints struct perf_event_attr, from its raw bytes in FILE (- for standard input), "
	      "as\n"
	      "JSON: the fields that are not zero, by the kernel's names, as a case gives them.\n"
	      "Ring buffers and perf.data are not decoded in this version.\n\n"
	      "  -a, --attr FILE     the bytes, as long as attr.size says\n"
	      "  -B, --big-endian    they come from a big-endian machine\n"
	      "  -L, --little-endian they come from a little-endian machine (default: this one's)\n"
	      "  -m, --machine NAME  the machine, as uname -m names it, for register names\n"
	      "  -h, --help\n"
	      "  -V, --version\n",
	      f);
}

static int read_all(const char *path, unsigned char *bytes, size_t *length)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;

	if (!f)
		return -errno;
	*length = fread(bytes, 1, ATTR_BYTES_MAX, f);
	if (ferror(f)) {
		int err = errno ? -errno : -EIO;

		if (f != stdin)
			fclose(f);
		return err;
	}
	if (f != stdin)
		fclose(f);
	return 0;
}

static int print_attr(const char *path, enum byte_order order, const char *machine)
{
	struct sources sources = abi_builtin();
	unsigned char *bytes = malloc(ATTR_BYTES_MAX);
	struct error e = {0};
	struct abi *abi = abi_load(&sources, &e);
	size_t length = 0;
	json_t *json;
	int err;

	if (!abi || !bytes) {
		error_print(stderr, "perfabi-decode", &e);
		free(bytes);
		return EXIT_WRITE;
	}
	err = read_all(path, bytes, &length);
	if (err)
		fprintf(stderr, "perfabi-decode: cannot read %s: %s\n", path, strerror(-err));
	else if (length < abi->sizes[0].size)
		fprintf(stderr, "perfabi-decode: %s: an attr has at least %u bytes, here are %zu\n",
			path, abi->sizes[0].size, length);
	if (err || length < abi->sizes[0].size) {
		free(bytes);
		abi_free(abi);
		return EXIT_BAD;
	}
	json = attr_to_json(abi, abi_arch(abi, machine), bytes, length, order);
	err = !json || json_dumpf(json, stdout, JSON_INDENT(2)) || puts("") < 0 || fflush(stdout);
	if (err)
		fprintf(stderr, "perfabi-decode: writing to standard output: %s\n",
			strerror(errno));
	json_decref(json);
	free(bytes);
	abi_free(abi);
	return err ? EXIT_WRITE : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"attr", required_argument, NULL, 'a'},
						{"big-endian", no_argument, NULL, 'B'},
						{"little-endian", no_argument, NULL, 'L'},
						{"machine", required_argument, NULL, 'm'},
						{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{NULL, 0, NULL, 0}};
	enum byte_order order = host_order();
	const char *path = NULL, *machine;
	struct utsname u;
	int option;

	machine = uname(&u) ? "" : u.machine;
	while ((option = getopt_long(argc, argv, "a:BLm:hV", options, NULL)) != -1) {
		switch (option) {
		case 'a':
			path = optarg;
			break;
		case 'B':
			order = BIG;
			break;
		case 'L':
			order = LITTLE;
			break;
		case 'm':
			machine = optarg;
			break;
		case 'h':
			help(stdout);
			return fflush(stdout) ? EXIT_WRITE : 0;
		case 'V':
			puts("perfabi-decode 0.1.0");
			return fflush(stdout) ? EXIT_WRITE : 0;
		default:
			fputs("  `perfabi-decode --help` lists the options\n", stderr);
			return EXIT_BAD;
		}
	}
	if (!path || optind < argc) {
		help(stderr);
		return EXIT_BAD;
	}
	return print_attr(path, order, machine);
}
