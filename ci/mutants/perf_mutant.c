// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/module/kernel/parameters/perf_mutant is the number of the mutant that is on, 0 for none.
 * /sys/kernel/debug/perf_mutants has a byte for each, by its number: 1 if it was reached since that
 * number was written. PERF_MUTANTS is how many there are.
 */
#include <linux/debugfs.h>
#include <linux/moduleparam.h>

unsigned int perf_mutant;
u8 perf_mutant_reached[PERF_MUTANTS + 1];

static int perf_mutant_switch(const char *text, const struct kernel_param *parameter)
{
	int err = param_set_uint(text, parameter);

	memset(perf_mutant_reached, 0, sizeof(perf_mutant_reached));
	return err;
}

static const struct kernel_param_ops perf_mutant_ops = {
	.set = perf_mutant_switch,
	.get = param_get_uint,
};

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "kernel."
module_param_cb(perf_mutant, &perf_mutant_ops, &perf_mutant, 0644);

static int __init perf_mutant_init(void)
{
	static struct debugfs_blob_wrapper blob = {perf_mutant_reached, sizeof(perf_mutant_reached)};

	debugfs_create_blob("perf_mutants", 0400, NULL, &blob);
	return 0;
}
late_initcall(perf_mutant_init);
