/* SPDX-License-Identifier: MIT */
/*
 * What each verb is in C; the rows of the verbs name these.
 */
#ifndef PERFABI_VERBS_IN_C_H
#define PERFABI_VERBS_IN_C_H

#include "step/program.h"
#include "translate/translate.h"

typedef void verb_in_c(struct translation *t, const struct statement *s);

verb_in_c open_in_c, close_in_c, dup_in_c, ioctl_in_c, prctl_in_c;
verb_in_c mmap_in_c, munmap_in_c, mremap_in_c, mprotect_in_c, buffer_in_c, string_in_c, poke_in_c,
	peek_in_c, function_in_c;
verb_in_c read_in_c, pread_in_c, lseek_in_c, write_in_c, page_in_c, rdpmc_in_c, records_in_c;
verb_in_c poll_in_c, fcntl_in_c, signals_in_c, signals_seen_in_c;
verb_in_c process_in_c, repeat_in_c, fork_in_c, thread_in_c, wait_in_c, kill_in_c, post_in_c,
	await_in_c, exec_in_c, become_in_c, affinity_in_c;
verb_in_c enter_in_c, mkdir_in_c, cgroup_in_c, file_in_c, memfd_in_c, limit_in_c, stat_in_c,
	text_in_c, socket_in_c, send_in_c, receive_in_c, bpf_in_c, clock_in_c, value_in_c;
verb_in_c pmu_events_in_c;
verb_in_c workload_in_c;

/* The call that `open` of a case makes, its attr declared in front of it under that name. */
const char *open_call_in_c(struct translation *t, const json_t *open, const char *attr);

/* The program becomes who the case is for. */
void identity_in_c(struct translation *t, enum identity as, const json_t *with);

#endif
