/* SPDX-License-Identifier: MIT */
#include "run/alarms.h"

struct look {
	struct alarms *alarms;
	const struct beside *during;
};

static void take_alarm(void *context, const struct alarm *alarm)
{
	const struct look *look = context;
	struct alarms *alarms = look->alarms;
	struct raised *raised = &alarms->list[alarms->count];

	if (alarms->count == ALARMS_MOST) {
		alarms->more++;
		return;
	}
	*raised = (struct raised){.alarm = *alarm};
	if (look->during)
		raised->during = *look->during;
	alarms->count++;
	if (alarms->raised)
		alarms->raised(alarms->context, raised);
}

void alarms_look(struct alarms *alarms, const struct beside *during)
{
	struct look look = {alarms, during};

	alarm_watch_look(&alarms->watch, take_alarm, &look);
}
