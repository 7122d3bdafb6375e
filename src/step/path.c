/* SPDX-License-Identifier: MIT */
/*
 * The paths by what they begin with.
 */
#include "step/path.h"

#include <errno.h>
#include <string.h>

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
static bool is_own(const struct step *s, const char *path)
{
	const char *cgroup =
		json_string_value(json_object_get(scope_json(s->scope, "cgroup"), "path"));
	size_t n = cgroup ? strlen(cgroup) : 0;

	return n && !strncmp(path, cgroup, n) && (path[n] == '/' || !path[n]);
}

static bool is_reachable(const struct step *s, enum step_access access, const char *path)
{
	if (strstr(path, "/.."))
		return false;
	for (size_t i = 0; i < sizeof(reachable) / sizeof(reachable[0]); i++)
		if (access <= reachable[i].most && begins_with(path, reachable[i].prefix))
			return true;
	return is_own(s, path);
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

int step_path(struct step *s, enum step_access access, char *out, size_t size)
{
	const char *text = json_string_value(s->argument);
	int err = step_text(s, NULL, out, size);

	if (err)
		return err;
	if (step_is_checked(s) ? could_be(access, text) : is_reachable(s, access, out))
		return 0;
	return error_name(s->error, &s->at, out, NULL,
			  access == STEP_WRITES
				  ? "a file of perf's sysctls, of tracefs or of the case's cgroup"
				  : "a file of perf's sysctls, of tracefs, of the PMUs in sysfs "
				    "or of the case's cgroup");
}
