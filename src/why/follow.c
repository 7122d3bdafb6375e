/* SPDX-License-Identifier: MIT */
/*
 * Each verb reads its members, does the call and says how it is written.
 */
#include "why/follow.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/value.h"
#include "call/call.h"
#include "language/keys.h"

enum { READ_MOST = 65536, POLL_MS = 100 };
#define PAGES_MOST (UINT64_C(1) << 40)

/* What the reading of members needs. */
struct reading {
	const json_t *json;
	const struct environment *env;
	const struct where *w;
	struct error *e;
};

static int read_number(const struct reading *r, const char *key, uint64_t *out)
{
	const json_t *json = json_object_get(r->json, key);
	struct value value;

	if (!json)
		return 0;
	if (value_eval(json, NULL, NULL, AT_KEY(r->w, key), &value, r->e))
		return -EINVAL;
	*out = value.bits;
	return 0;
}

/* `pages` of data and the first, or `length`. */
static int read_mmap(struct follow *out, const struct reading *r)
{
	static const char *const keys[] = {"pages", "length", "offset", "private", NULL};
	const json_t *private = json_object_get(r->json, "private");
	uint64_t pages = UINT64_MAX;

	if (keys_check(r->json, keys, "mmap (pages, length, offset, private)", r->w, r->e) ||
	    read_number(r, "pages", &pages) || read_number(r, "length", &out->then.length) ||
	    read_number(r, "offset", &out->then.offset))
		return -EINVAL;
	if (pages != UINT64_MAX && pages >= PAGES_MOST)
		return error_value(r->e, r->w, json_object_get(r->json, "pages"),
				   "fewer than 1<<40 pages");
	if (pages != UINT64_MAX)
		out->then.length = (pages + 1) * r->env->page_size;
	if (private && !json_is_boolean(private))
		return error_value(r->e, AT_KEY(r->w, "private"), private, "true or false");
	out->then.is_private = json_is_true(private);
	return 0;
}

static int read_munmap(struct follow *out, const struct reading *r)
{
	static const char *const keys[] = {"length", NULL};

	out->then.is_unmap = true;
	return keys_check(r->json, keys, "munmap (length)", r->w, r->e) ||
			       read_number(r, "length", &out->then.length)
		       ? -EINVAL
		       : 0;
}

static bool is_variable(const json_t *json)
{
	const char *text = json_string_value(json);

	return text && text[0] == '$' && text[1];
}

static int read_ioctl(struct follow *out, const struct reading *r)
{
	static const char *const keys[] = {"request", "arg", "u64", "text", NULL};
	const json_t *text = json_object_get(r->json, "text");
	const struct abi_family *names = abi_family(r->env->abi, "ioctl");
	const json_t *argument = json_object_get(r->json, "arg");
	const struct abi_value *value;
	struct nearest near;

	out->request = json_string_value(json_object_get(r->json, "request"));
	out->text = json_string_value(text);
	out->points = json_object_get(r->json, "u64") != NULL;
	near = nearest_to(out->request ? out->request : "");
	value = out->request ? abi_value(names, out->request, &near) : NULL;
	if (keys_check(r->json, keys, "ioctl (request, arg, u64, text)", r->w, r->e))
		return -EINVAL;
	if (text && !out->text)
		return error_value(r->e, AT_KEY(r->w, "text"), text, "a text");
	if (!value)
		return error_name(r->e, r->w, out->request ? out->request : "nothing", near.best,
				  "a request of PERF_EVENT_IOC_");
	out->then.request = value->value;
	if (argument && (out->points || out->text))
		return error_value(r->e, r->w, r->json, "one of arg, u64 and text");
	if (is_variable(argument)) {
		out->variable = json_string_value(argument) + 1;
		return 0;
	}
	return read_number(r, "arg", &out->then.argument) ||
			       read_number(r, "u64", &out->then.argument)
		       ? -EINVAL
		       : 0;
}

static int read_read(struct follow *out, const struct reading *r)
{
	static const char *const keys[] = {"size", NULL};

	return keys_check(r->json, keys, "read (size)", r->w, r->e) ||
			       read_number(r, "size", &out->then.size)
		       ? -EINVAL
		       : 0;
}

static int read_poll(struct follow *out, const struct reading *r)
{
	static const char *const keys[] = {NULL};

	(void)out;
	return keys_check(r->json, keys, "poll", r->w, r->e);
}

static int do_mmap(const struct follow *follow, const struct environment *env, int fd,
		   struct followed_buffer *buffer)
{
	void *at;

	(void)env;
	if (follow->then.length != (size_t)follow->then.length ||
	    follow->then.offset > (uint64_t)INT64_MAX)
		return ENOMEM;
	at = mmap(NULL, (size_t)follow->then.length, PROT_READ | PROT_WRITE,
		  follow->then.is_private ? MAP_PRIVATE : MAP_SHARED, fd,
		  (off_t)follow->then.offset);
	if (at == MAP_FAILED)
		return errno;
	if (!follow->then.offset)
		*buffer = (struct followed_buffer){at, follow->then.length};
	return 0;
}

static int do_munmap(const struct follow *follow, const struct environment *env, int fd,
		     struct followed_buffer *buffer)
{
	(void)env;
	(void)fd;
	if (!buffer->at || follow->then.length > buffer->length)
		return EINVAL;
	if (munmap(buffer->at, (size_t)follow->then.length))
		return errno;
	*buffer = (struct followed_buffer){0};
	return 0;
}

int follow_settle(struct follow *follow, const struct scope *scope)
{
	struct vars vars = scope_vars(scope);
	struct value value = {0};

	if (!follow->variable)
		return 0;
	if (vars.lookup(vars.context, follow->variable, &value, NULL))
		return -ENOENT;
	follow->then.argument = value.bits;
	return 0;
}

static int do_ioctl(const struct follow *follow, const struct environment *env, int fd,
		    struct followed_buffer *buffer)
{
	/* What the kernel writes behind the number (QUERY_BPF: 64 ids at most) has room. */
	uint64_t numbers[64] = {follow->then.argument};
	void *argument = (void *)(uintptr_t)follow->then.argument;

	(void)buffer;
	if (follow->text)
		argument = (void *)(uintptr_t)follow->text;
	else if (follow->points)
		argument = numbers;
	return -event_ioctl(env->abi, fd, follow->request, argument);
}

static int do_read(const struct follow *follow, const struct environment *env, int fd,
		   struct followed_buffer *buffer)
{
	char *to = malloc(READ_MOST);
	uint64_t size = follow->then.size < READ_MOST ? follow->then.size : READ_MOST;
	int err;

	(void)env;
	(void)buffer;
	if (!to)
		return ENOMEM;
	err = read(fd, to, (size_t)size) < 0 ? errno : 0;
	free(to);
	return err;
}

static int do_poll(const struct follow *follow, const struct environment *env, int fd,
		   struct followed_buffer *buffer)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	(void)follow;
	(void)env;
	(void)buffer;
	return poll(&one, 1, POLL_MS) < 0 ? errno : 0;
}

static void write_mmap(const struct follow *f, char *out, size_t size)
{
	snprintf(out, size, "mmap(NULL, %llu, PROT_READ|PROT_WRITE, %s, fd, %llu)",
		 (unsigned long long)f->then.length,
		 f->then.is_private ? "MAP_PRIVATE" : "MAP_SHARED",
		 (unsigned long long)f->then.offset);
}

static void write_munmap(const struct follow *f, char *out, size_t size)
{
	snprintf(out, size, "munmap(buffer, %llu)", (unsigned long long)f->then.length);
}

static void write_ioctl(const struct follow *f, char *out, size_t size)
{
	int n = snprintf(out, size, "ioctl(fd, PERF_EVENT_IOC_");
	size_t at = n > 0 ? (size_t)n : 0;

	for (const char *c = f->request; *c && at + 1 < size; c++)
		out[at++] = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	if (f->text)
		snprintf(out + at, size - at, ", \"%s\")", f->text);
	else
		snprintf(out + at, size - at,
			 f->points                      ? ", [%llu])"
			 : f->then.argument > INT64_MAX ? ", %lld)"
							: ", %llu)",
			 (unsigned long long)f->then.argument);
}

static void write_read(const struct follow *f, char *out, size_t size)
{
	snprintf(out, size, "read(fd, buffer, %llu)", (unsigned long long)f->then.size);
}

static void write_poll(const struct follow *f, char *out, size_t size)
{
	(void)f;
	snprintf(out, size, "poll({fd, POLLIN}, 1, %d)", POLL_MS);
}

static const struct {
	const char *name;
	char family;
	int (*read)(struct follow *out, const struct reading *r);
	int (*run)(const struct follow *follow, const struct environment *env, int fd,
		   struct followed_buffer *buffer);
	void (*write)(const struct follow *follow, char *out, size_t size);
} verbs[] = {[FOLLOW_MMAP] = {"mmap", 'M', read_mmap, do_mmap, write_mmap},
	     [FOLLOW_MUNMAP] = {"munmap", 'M', read_munmap, do_munmap, write_munmap},
	     [FOLLOW_IOCTL] = {"ioctl", 'I', read_ioctl, do_ioctl, write_ioctl},
	     [FOLLOW_READ] = {"read", 'R', read_read, do_read, write_read},
	     [FOLLOW_POLL] = {"poll", 'L', read_poll, do_poll, write_poll}};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

int follow_from_json(struct follow *out, const json_t *json, const struct environment *env,
		     const struct where *w, struct error *e)
{
	const char *name = NULL;
	struct nearest near = nearest_to("");
	json_t *arguments = NULL;

	*out = (struct follow){0};
	if (json_object_size(json) > 1)
		return error_value(e, w, json, "one of mmap, munmap, ioctl, read and poll");
	json_object_foreach((json_t *)json, name, arguments) {
		struct reading r = {.json = arguments, .env = env, .w = AT_KEY(w, name), .e = e};

		near = nearest_to(name);
		for (size_t i = 0; i < VERBS; i++) {
			nearest_try(&near, verbs[i].name);
			if (strcmp(verbs[i].name, name))
				continue;
			out->verb = (enum follow_verb)i;
			out->then.family = verbs[i].family;
			return verbs[i].read(out, &r);
		}
	}
	return error_name(e, w, name ? name : "nothing", near.best,
			  "mmap, munmap, ioctl, read or poll");
}

int follow_do(const struct follow *follow, const struct environment *env, int fd,
	      struct followed_buffer *buffer)
{
	return verbs[follow->verb].run(follow, env, fd, buffer);
}

void follow_write(const struct follow *follow, char *out, size_t size)
{
	verbs[follow->verb].write(follow, out, size);
}
