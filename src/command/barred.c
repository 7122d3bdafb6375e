/* SPDX-License-Identifier: MIT */
/*
 * The sentence is what the model says of a plain dummy event.
 */
#include "command/barred.h"

#include <unistd.h>

#include "machine/names.h"
#include "text/say.h"

/* What the model says of a plain dummy event of whoever runs perfabi. */
static json_t *ask_of_dummy(const struct model *model)
{
	struct environment *env = model->machine.env;
	const struct caller caller = caller_as(&env->rights, env->rights.uid ? AS_USER : AS_ROOT);
	const struct world world = {.told = env->attr_size_errno};
	const struct scope scope = {.env = env};
	json_t *open = json_pack("{s:{s:s,s:s,s:i}}", "attr", "type", "software", "config", "dummy",
				 "exclude_kernel", 1);
	json_t *told = json_object();
	struct where nowhere = {0};
	struct error e = {0};
	struct call call;

	if (!call_from_json(&call, env->abi, env->arch, open, &scope, &nowhere, &e)) {
		model_tell_cause(model, &call, &caller, &world, told);
		call_free(&call);
	}
	json_decref(open);
	return told;
}

bool is_barred_here(const struct model *model, const char *program, char *says)
{
	const struct environment *env = model->machine.env;
	const char *because, *instead;
	json_t *told;

	if (!environment_is_barred(env))
		return false;
	told = ask_of_dummy(model);
	because = json_string_value(json_object_get(told, "because"));
	instead = json_string_value(json_object_get(told, "instead"));
	if (because)
		snprintf(says, BARRED_TEXT, "%s: nothing can be judged here: %s%s%s", program,
			 because, instead ? "; " : "", instead ? instead : "");
	else
		snprintf(says, BARRED_TEXT,
			 "%s: nothing can be judged here: every perf_event_open(2) gives %s",
			 program, errno_name(env->attr_size_errno));
	json_decref(told);
	return true;
}

int barred_of_here(struct loaded *loaded, const char *program, char *says)
{
	struct model model;
	int status;

	says[0] = '\0';
	if (!environment_is_barred(&loaded->env))
		return 0;
	environment_read_alone(&loaded->env);
	status = model_of_here(&model, loaded, program);
	if (!status)
		is_barred_here(&model, program, says);
	model_free(&model);
	return status;
}
