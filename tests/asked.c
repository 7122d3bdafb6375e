/* SPDX-License-Identifier: MIT */
/*
 * The built-in model on the recorded virtual machine without a PMU.
 */
#include "asked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

const char sampled_cycles[] = "Using CPUID GenuineIntel-6-9A-3\n"
			      "nr_cblocks: 0\n" LINE "perf_event_attr:\n"
			      "  type                             0 (PERF_TYPE_HARDWARE)\n"
			      "  size                             136\n"
			      "  config                           0 (PERF_COUNT_HW_CPU_CYCLES)\n"
			      "  { sample_period, sample_freq }   4000\n"
			      "  sample_type                      IP|TID|TIME|PERIOD\n"
			      "  read_format                      ID|LOST\n"
			      "  disabled                         1\n"
			      "  inherit                          1\n"
			      "  mmap                             1\n"
			      "  comm                             1\n"
			      "  freq                             1\n"
			      "  enable_on_exec                   1\n"
			      "  task                             1\n"
			      "  precise_ip                       3\n"
			      "  sample_id_all                    1\n"
			      "  exclude_guest                    1\n"
			      "  mmap2                            1\n"
			      "  comm_exec                        1\n"
			      "  ksymbol                          1\n"
			      "  bpf_event                        1\n"
			      "  { wakeup_events, wakeup_watermark } 1\n" LINE
			      "sys_perf_event_open: pid 4711  cpu 0  group_fd -1  flags 0x8\n"
			      "sys_perf_event_open failed, error -95\n";

static const char machine_path[] = "fixtures/machines/x86_64-6.18-vm.json";

struct asked *asked_begin(void)
{
	struct asked *o = calloc(1, sizeof(*o));
	const json_t *environment;
	struct where nowhere = {0};
	struct error e = {0};
	struct model_sources from;

	ck_assert_ptr_nonnull(o);
	o->machine = json_load_file(machine_path, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(o->machine != NULL, "%s: %s", machine_path, strerror(errno));
	environment = json_object_get(o->machine, "environment");
	o->sources = cases_builtin();
	o->abi = test_abi();
	ck_assert_int_eq(cases_load_tables(&o->cases, o->abi, "x86_64", &o->sources, "unit"), 0);
	ck_assert_int_eq(environment_from_json(&o->env, o->abi, environment, &nowhere, &e), 0);
	from = (struct model_sources){.model = sources_find(&o->sources, "model.json"),
				      .checks = sources_find(&o->sources, "checks.json"),
				      .list = o->cases.checks};
	ck_assert_msg(!model_load(&o->model, &from, &o->cases.tables, &o->env, &e), "%s: %s",
		      e.pointer, e.expected);
	machine_init(&o->model.machine, &o->env, &o->model.kinds, &o->model.learned);
	learned_from_json(&o->model.learned, json_object_get(environment, "learned"), &o->env);
	ck_assert_msg(!knowledge_load(&o->knowledge, sources_find(&o->sources, "why.json"),
				      &o->model, &e),
		      "%s: %s", e.pointer, e.expected);
	o->names = source_parse(sources_find(&o->sources, "events.json"), &e);
	ck_assert_ptr_nonnull(o->names);
	return o;
}

void asked_end(struct asked *o)
{
	knowledge_free(&o->knowledge);
	model_free(&o->model);
	environment_free(&o->env);
	cases_free(&o->cases);
	abi_free(o->abi);
	json_decref(o->names);
	json_decref(o->machine);
	free(o);
}

void same_json(json_t *got, const char *expected, const char *of)
{
	json_t *json = test_json(expected);
	char *text = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY);

	ck_assert_msg(json_equal(got, json), "%s\n  expected: %s\n  got: %s", of, expected, text);
	free(text);
	json_decref(json);
	json_decref(got);
}
