/* SPDX-License-Identifier: MIT */
/*
 * Request numbers are made here and not taken from a header: directions are encoded differently by
 * architectures, which <sys/ioctl.h> knows.
 */
#include "call/event_ioctl.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

static unsigned long direction(const char *text)
{
	if (!text || !strcmp(text, "none"))
		return _IOC_NONE;
	return (strchr(text, 'r') ? _IOC_READ : 0u) | (strchr(text, 'w') ? _IOC_WRITE : 0u);
}

static unsigned long argument_size(const char *text)
{
	if (!text)
		return 0;
	return !strcmp(text, "u32") ? 4 : !strcmp(text, "u64") ? 8 : sizeof(void *);
}

unsigned long event_ioctl_number(const struct abi *abi, const char *name)
{
	const struct abi_family *family = abi_family(abi, "ioctl");
	const struct abi_value *value = abi_value(family, name, NULL);

	if (!value)
		return 0;
	return _IOC(direction(json_string_value(json_object_get(value->json, "dir"))), '$',
		    (unsigned long)value->value,
		    argument_size(json_string_value(json_object_get(value->json, "arg"))));
}

int event_ioctl(const struct abi *abi, int fd, const char *name, void *argument)
{
	unsigned long number = event_ioctl_number(abi, name);

	if (!number)
		return -ENOSYS;
	return ioctl(fd, (ioctl_request)number, argument) ? -errno : 0;
}
