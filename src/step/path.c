/* SPDX-License-Identifier: MIT */
/*
 * The paths by what they begin with.
 */
#include "step/path.h"

#include <errno.h>
#include <string.h>

#include "step/step.h"
#include "step/types.h"

enum step_access { STEP_READS, STEP_WRITES };

static const struct {
	const char *prefix;
	enum step_access most;
} reachable[] = {
	{"/proc/sys/kernel/perf_", STEP_WRITES},
	{"/sys/kernel/tracing/", STEP_WRITES},
	{"/sys/kernel/debug/tracing/", STEP_WRITES},
	{"/sys/bus/event_source/devices/", STEP_READS},
};

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* In the case's cgroup, which it has made and which goes with it. */
static bool is_own(const struct scope *scope, const char *path)
{
	const char *cgroup =
		json_string_value(json_object_get(scope_json(scope, "cgroup"), "path"));
	size_t n = cgroup ? strlen(cgroup) : 0;

	return n && !strncmp(path, cgroup, n) && (path[n] == '/' || !path[n]);
}

static bool is_reachable(const struct scope *scope, enum step_access access, const char *path)
{
	if (strstr(path, "/.."))
		return false;
	for (size_t i = 0; i < sizeof(reachable) / sizeof(reachable[0]); i++)
		if (access <= reachable[i].most && begins_with(path, reachable[i].prefix))
			return true;
	return is_own(scope, path);
}

/* Whether a path that begins with these letters could be. */
static bool could_be(enum step_access access, const char *text)
{
	size_t n = strcspn(text, "$");

	if (strstr(text, "/..") || (!n && text[0] != '$'))
		return false;
	for (size_t i = 0; i < sizeof(reachable) / sizeof(reachable[0]); i++) {
		const char *prefix = reachable[i].prefix;
		size_t least = strlen(prefix) < n ? strlen(prefix) : n;

		if (access <= reachable[i].most && !strncmp(text, prefix, least) &&
		    (text[n] == '$' || n >= strlen(prefix)))
			return true;
	}
	return !n; /* $cgroup.path, or a parameter that has the whole path */
}

static int elsewhere(const char *path, enum step_access access, const struct where *w,
		     struct error *e)
{
	return error_name(e, w, path, NULL,
			  access == STEP_WRITES
				  ? "a file of perf's sysctls, of tracefs or of the case's cgroup"
				  : "a file of perf's sysctls, of tracefs, of the PMUs in sysfs "
				    "or of the case's cgroup");
}

static int compile_path(struct compiling *c, const struct argument *a, struct operand *operand,
			const struct where *w, enum step_access access)
{
	const char *text = json_string_value(operand->json);
	int err = argument_text.compile(c, a, operand, w);

	return err || could_be(access, text) ? err : elsewhere(text, access, w, c->error);
}

static int path_value(struct step *s, const struct argument *a, const struct operand *operand,
		      void *out, enum step_access access)
{
	struct where nowhere = {0};
	int err = argument_text.evaluate(s, a, operand, out);

	return err || is_reachable(s->scope, access, out)
		       ? err
		       : elsewhere(out, access, &nowhere, s->error);
}

static int compile_path_read(struct compiling *c, const struct argument *a, struct operand *operand,
			     const struct where *w)
{
	return compile_path(c, a, operand, w, STEP_READS);
}

static int path_read_value(struct step *s, const struct argument *a, const struct operand *operand,
			   void *out)
{
	return path_value(s, a, operand, out, STEP_READS);
}

static int compile_path_written(struct compiling *c, const struct argument *a,
				struct operand *operand, const struct where *w)
{
	return compile_path(c, a, operand, w, STEP_WRITES);
}

static int path_written_value(struct step *s, const struct argument *a,
			      const struct operand *operand, void *out)
{
	return path_value(s, a, operand, out, STEP_WRITES);
}

const struct argument_type argument_path_read = {.c = C_AS_TEXT,
						 .compile = compile_path_read,
						 .evaluate = path_read_value,
						 .schema = "{\"type\": \"string\"}"};
const struct argument_type argument_path_written = {.c = C_AS_TEXT,
						    .compile = compile_path_written,
						    .evaluate = path_written_value,
						    .schema = "{\"type\": \"string\"}"};

static bool is_path(const struct operand *operand)
{
	const char *text = json_string_value(operand->json);

	return text && text[0] == '/';
}

static const struct argument target_path = {.room = sizeof(((struct write_target *)0)->path)};

static int compile_target(struct compiling *c, const struct argument *a, struct operand *operand,
			  const struct where *w)
{
	return is_path(operand) ? compile_path_written(c, &target_path, operand, w)
				: argument_bound.compile(c, a, operand, w);
}

static int target_value(struct step *s, const struct argument *a, const struct operand *operand,
			void *out)
{
	struct write_target *target = out;

	return is_path(operand) ? path_written_value(s, &target_path, operand, target->path)
				: argument_bound.evaluate(s, a, operand, &target->fd);
}

const struct argument_type argument_write_target = {
	.compile = compile_target, .evaluate = target_value, .schema = "{\"type\": \"string\"}"};
