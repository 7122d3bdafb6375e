/* SPDX-License-Identifier: MIT */
/*
 * Opens by which perfabi learns what a machine has.
 */
#include "machine/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/attr.h"

enum { FD_CLOEXEC_FLAG = 1 << 3 }; /* PERF_FLAG_FD_CLOEXEC */

int probe_open(const struct abi *abi, const char *json_text, unsigned char *attr)
{
	json_t *json = json_loads(json_text, 0, NULL);
	struct where nowhere = {0};
	struct error e = {0};
	long fd;
	int err;

	memset(attr, 0, abi->attr_size);
	err = attr_from_json(abi, NULL, json, NULL, &nowhere, attr, &e);
	json_decref(json);
	if (err)
		return err;
	fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, (unsigned long)FD_CLOEXEC_FLAG);
	return fd < 0 ? -errno : (int)fd;
}

int probe_errno(const struct abi *abi, const char *json_text, unsigned char *attr)
{
	int fd = probe_open(abi, json_text, attr);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -fd : 0;
}
