/* SPDX-License-Identifier: MIT */
/*
 * The kernel's names of errnos and signals: their numbers differ between architectures, and not
 * every libc tells them (glibc does since 2.32).
 */
#include "machine/names.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define NAMED(name)                                                                                \
	{                                                                                          \
		name, #name                                                                        \
	}

struct named {
	int number;
	const char *name;
};

/* clang-format off */
static const struct named errnos[] = {
	NAMED(EPERM), NAMED(ENOENT), NAMED(ESRCH), NAMED(EINTR), NAMED(EIO), NAMED(ENXIO),
	NAMED(E2BIG), NAMED(ENOEXEC), NAMED(EBADF), NAMED(ECHILD), NAMED(EAGAIN), NAMED(ENOMEM),
	NAMED(EACCES), NAMED(EFAULT), NAMED(ENOTBLK), NAMED(EBUSY), NAMED(EEXIST), NAMED(EXDEV),
	NAMED(ENODEV), NAMED(ENOTDIR), NAMED(EISDIR), NAMED(EINVAL), NAMED(ENFILE), NAMED(EMFILE),
	NAMED(ENOTTY), NAMED(ETXTBSY), NAMED(EFBIG), NAMED(ENOSPC), NAMED(ESPIPE), NAMED(EROFS),
	NAMED(EMLINK), NAMED(EPIPE), NAMED(EDOM), NAMED(ERANGE), NAMED(EDEADLK),
	NAMED(ENAMETOOLONG), NAMED(ENOLCK), NAMED(ENOSYS), NAMED(ENOTEMPTY), NAMED(ELOOP),
	NAMED(ENOMSG), NAMED(EIDRM), NAMED(ECHRNG), NAMED(EL2NSYNC), NAMED(EL3HLT), NAMED(EL3RST),
	NAMED(ELNRNG), NAMED(EUNATCH), NAMED(ENOCSI), NAMED(EL2HLT), NAMED(EBADE), NAMED(EBADR),
	NAMED(EXFULL), NAMED(ENOANO), NAMED(EBADRQC), NAMED(EBADSLT), NAMED(EBFONT), NAMED(ENOSTR),
	NAMED(ENODATA), NAMED(ETIME), NAMED(ENOSR), NAMED(ENONET), NAMED(ENOPKG), NAMED(EREMOTE),
	NAMED(ENOLINK), NAMED(EADV), NAMED(ESRMNT), NAMED(ECOMM), NAMED(EPROTO), NAMED(EMULTIHOP),
	NAMED(EDOTDOT), NAMED(EBADMSG), NAMED(EOVERFLOW), NAMED(ENOTUNIQ), NAMED(EBADFD),
	NAMED(EREMCHG), NAMED(ELIBACC), NAMED(ELIBBAD), NAMED(ELIBSCN), NAMED(ELIBMAX),
	NAMED(ELIBEXEC), NAMED(EILSEQ), NAMED(ERESTART), NAMED(ESTRPIPE), NAMED(EUSERS),
	NAMED(ENOTSOCK), NAMED(EDESTADDRREQ), NAMED(EMSGSIZE), NAMED(EPROTOTYPE),
	NAMED(ENOPROTOOPT), NAMED(EPROTONOSUPPORT), NAMED(ESOCKTNOSUPPORT), NAMED(EOPNOTSUPP),
	NAMED(EPFNOSUPPORT), NAMED(EAFNOSUPPORT), NAMED(EADDRINUSE), NAMED(EADDRNOTAVAIL),
	NAMED(ENETDOWN), NAMED(ENETUNREACH), NAMED(ENETRESET), NAMED(ECONNABORTED),
	NAMED(ECONNRESET), NAMED(ENOBUFS), NAMED(EISCONN), NAMED(ENOTCONN), NAMED(ESHUTDOWN),
	NAMED(ETOOMANYREFS), NAMED(ETIMEDOUT), NAMED(ECONNREFUSED), NAMED(EHOSTDOWN),
	NAMED(EHOSTUNREACH), NAMED(EALREADY), NAMED(EINPROGRESS), NAMED(ESTALE), NAMED(EUCLEAN),
	NAMED(ENOTNAM), NAMED(ENAVAIL), NAMED(EISNAM), NAMED(EREMOTEIO), NAMED(EDQUOT),
	NAMED(ENOMEDIUM), NAMED(EMEDIUMTYPE), NAMED(ECANCELED), NAMED(ENOKEY), NAMED(EKEYEXPIRED),
	NAMED(EKEYREVOKED), NAMED(EKEYREJECTED), NAMED(EOWNERDEAD), NAMED(ENOTRECOVERABLE),
	NAMED(ERFKILL), NAMED(EHWPOISON),
	{524, "ENOTSUPP"}, /* the kernel's own, which no user's header has; some calls give it */
};

/* SIGIO first of those that have its number. */
static const struct named signals[] = {
	NAMED(SIGHUP), NAMED(SIGINT), NAMED(SIGQUIT), NAMED(SIGILL), NAMED(SIGTRAP), NAMED(SIGABRT),
	NAMED(SIGBUS), NAMED(SIGFPE), NAMED(SIGKILL), NAMED(SIGUSR1), NAMED(SIGSEGV),
	NAMED(SIGUSR2), NAMED(SIGPIPE), NAMED(SIGALRM), NAMED(SIGTERM), NAMED(SIGCHLD),
	NAMED(SIGCONT), NAMED(SIGSTOP), NAMED(SIGTSTP), NAMED(SIGTTIN), NAMED(SIGTTOU),
	NAMED(SIGURG), NAMED(SIGXCPU), NAMED(SIGXFSZ), NAMED(SIGVTALRM), NAMED(SIGPROF),
	NAMED(SIGWINCH), NAMED(SIGIO), NAMED(SIGPWR), NAMED(SIGSYS), NAMED(SIGPOLL),
#if defined(SIGSTKFLT)
	NAMED(SIGSTKFLT),
#endif
#if defined(SIGEMT)
	NAMED(SIGEMT),
#endif
};
/* clang-format on */
enum {
	ERRNOS = sizeof(errnos) / sizeof(errnos[0]),
	SIGNALS = sizeof(signals) / sizeof(signals[0])
};

static const char *find_name(const struct named *list, size_t count, int number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].number == number)
			return list[i].name;
	return NULL;
}

static int find_number(const struct named *list, size_t count, const char *name,
		       struct nearest *near)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return list[i].number;
	for (size_t i = 0; i < count && near; i++)
		nearest_try(near, list[i].name);
	return 0;
}

const char *errno_name(int err)
{
	const char *name = find_name(errnos, ERRNOS, err);

	return name ? name : "an errno without a name";
}

int errno_by_name(const char *name, struct nearest *near)
{
	return find_number(errnos, ERRNOS, name, near);
}

const char *signal_name(int signo)
{
	const char *name = find_name(signals, SIGNALS, signo);

	if (signo >= SIGRTMIN)
		return "SIGRTMIN";
	return name ? name : "SIG?";
}

int signal_by_name(const char *name)
{
	return !strcmp(name, "SIGRTMIN") ? SIGRTMIN : find_number(signals, SIGNALS, name, NULL);
}
