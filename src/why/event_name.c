/* SPDX-License-Identifier: MIT */
/*
 * The event is what stands before its modifiers; each form is tried in turn.
 */
#include "why/question.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/value.h"
#include "machine/environment.h"
#include "machine/proc.h"

enum { EVENT_TEXT = 512 };

/* One event on its way. */
struct parsing {
	const json_t *names;
	struct environment *env;
	const char *text;
	char event[EVENT_TEXT], modifiers[32];
	struct absence *absence;
	struct error *e;
};

/* Where an error is: there are no lines. */
static const struct source event_source = {.name = "event", .root = "", .text = "{}", .length = 2};

static json_t *refuse(struct parsing *p, const char *got, const char *expected)
{
	const struct where root = where_root(&event_source);

	error_text(p->e, &root, got, "%s", expected);
	p->e->line = 0;
	return NULL;
}

/* The machine does not have that, whose message says what is expected. */
static json_t *lack(struct parsing *p, enum absent what, const char *expected)
{
	if (p->absence) {
		p->absence->what = what;
		snprintf(p->absence->name, sizeof(p->absence->name), "%s", p->event);
		snprintf(p->absence->modifiers, sizeof(p->absence->modifiers), "%s", p->modifiers);
	}
	return refuse(p, p->event, expected);
}

/* A whole number of 64 bits that ends where one of `ends` stands, or the text does; *at is behind
 * it.
 */
static bool whole_number(const char **at, const char *ends, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = isdigit((unsigned char)**at) ? strtoull(*at, &end, 0) : 0;
	if (!isdigit((unsigned char)**at) || errno || (*end && !strchr(ends, *end)))
		return false;
	*at = end;
	return true;
}

static json_t *attr_of(const char *type, json_t *config)
{
	return json_pack("{s:s,s:o}", "type", type, "config", config);
}

/* A hardware or software event by perf's name or the kernel's. */
static const struct abi_value *generic_value(const struct parsing *p, const char *family,
					     const char *event)
{
	const json_t *own = json_object_get(json_object_get(p->names, "names"), event);

	return abi_value(abi_family(p->env->abi, family), own ? json_string_value(own) : event,
			 NULL);
}

static json_t *generic_event(struct parsing *p)
{
	static const char *const families[] = {"hw_id", "sw_id"};
	static const char *const types[] = {"hardware", "software"};

	for (size_t i = 0; i < 2; i++) {
		const struct abi_value *value = generic_value(p, families[i], p->event);

		if (value)
			return attr_of(types[i], json_string(value->name));
	}
	return NULL;
}

/* What perf counts without the kernel's events. */
static json_t *own_event(struct parsing *p)
{
	const json_t *own = json_object_get(p->names, "own");

	for (size_t i = 0; i < json_array_size(own); i++)
		if (!strcmp(p->event, json_string_value(json_array_get(own, i))))
			return lack(p, ABSENT_CALL,
				    "an event of the kernel's; this one is perf's own");
	return NULL;
}

/* The longest of the names that the text begins with, up to its end or a -; moves *text behind it.
 */
static const char *take_name(const json_t *names, const char **text)
{
	const char *name, *best = NULL;
	size_t longest = 0;
	json_t *value;

	json_object_foreach((json_t *)names, name, value) {
		size_t n = strlen(name);

		if (n > longest && !strncmp(*text, name, n) && ((*text)[n] == '-' || !(*text)[n])) {
			longest = n;
			best = json_string_value(value);
		}
	}
	*text += longest;
	if (longest && **text == '-')
		++*text;
	return best;
}

/* ID[-OP][-RESULT]: "LLC-load-misses", "dTLB-misses", "L1-icache-prefetches". */
static json_t *cache_event(struct parsing *p)
{
	const json_t *cache = json_object_get(p->names, "cache");
	const char *at = p->event;
	const char *id = take_name(json_object_get(cache, "ids"), &at);
	const char *op = id ? take_name(json_object_get(cache, "ops"), &at) : NULL;
	const char *result = id ? take_name(json_object_get(cache, "results"), &at) : NULL;

	if (!id || *at || (!op && !result))
		return NULL;
	return attr_of("hw_cache",
		       json_sprintf("%s:%s:%s", id, op ? op : "read", result ? result : "access"));
}

/* r and hexadecimal digits: the config of a raw event. */
static json_t *raw_event(struct parsing *p)
{
	const char *digits = p->event + 1;

	if (p->event[0] != 'r' || !*digits || digits[strspn(digits, "0123456789abcdefABCDEF")])
		return NULL;
	return attr_of("raw", json_sprintf("0x%s", digits));
}

/* mem:ADDR[/LEN][:ACCESS] */
static json_t *breakpoint_event(struct parsing *p)
{
	static const char form[] = "mem:ADDRESS[/LENGTH][:ACCESS], numbers of 64 bits";
	const char *at = p->event + 4, *access = "rw";
	uint64_t address, length = 4;
	json_t *types;
	bool has_length;

	if (strncmp(p->event, "mem:", 4))
		return NULL;
	if (!whole_number(&at, "/:", &address))
		return refuse(p, p->event, form);
	has_length = *at == '/';
	at += has_length;
	if (has_length && !whole_number(&at, ":", &length))
		return refuse(p, p->event, form);
	if (*at == ':')
		access = at + 1;
	if (strchr(access, 'x') && !has_length)
		length = sizeof(long);
	types = json_array();
	for (; *access && *access != ':'; access++)
		json_array_append_new(types, json_stringn(access, 1));
	return json_pack("{s:s, s:o, s:o, s:o}", "type", "breakpoint", "bp_addr",
			 json_sprintf("0x%llx", (unsigned long long)address), "bp_len",
			 value_json(length), "bp_type", types);
}

/* SYSTEM:EVENT of tracefs. */
static json_t *tracepoint_event(struct parsing *p)
{
	const struct tracepoint *tracepoint;
	const char *colon = strchr(p->event, ':');

	if (!colon || colon == p->event || !colon[1])
		return NULL;
	if (strpbrk(p->event, "*?["))
		return refuse(p, p->event, "one tracepoint, and no pattern of several");
	if (!p->env->runner) /* another machine has ids of its own */
		return attr_of("tracepoint", json_sprintf("$tracepoint.%s", p->event));
	tracepoint = environment_tracepoint(p->env, p->event);
	if (!tracepoint && !environment_reads_tracepoints(p->env))
		return lack(p, ABSENT_TRACEFS,
			    "a tracepoint's id as config, for /sys/kernel/tracing/events cannot be "
			    "read here");
	if (!tracepoint)
		return lack(p, ABSENT_TRACEPOINT, "a tracepoint of /sys/kernel/tracing/events");
	return attr_of("tracepoint", json_integer(tracepoint->id));
}

/* What perf itself has as a term; or a name of events/, which stands for terms; or a term. 0 or a
 * negative errno. */
static int apply_one_term(const char *pmu, char *term, json_t *attr)
{
	static const char *const own[] = {"config", "config1", "config2", "config3", NULL};
	char path[2 * EVENT_TEXT], terms[EVENT_TEXT];
	bool has_value = strchr(term, '='), is_freq;
	uint64_t value;

	if (!strncmp(term, "name=", 5))
		return 0;
	if (!pmu_term_value(term, &value))
		return -ERANGE;
	is_freq = !strcmp(term, "freq");
	if (has_value && name_index(term, own, NULL) >= 0)
		return json_object_set_new(attr, term,
					   json_sprintf("0x%llx", (unsigned long long)value));
	if (has_value && !strcmp(term, "max-stack"))
		return json_object_set_new(attr, "sample_max_stack", value_json(value));
	if (has_value && is_freq)
		json_object_set_new(attr, "freq", json_integer(1));
	if (has_value && (is_freq || !strcmp(term, "period")))
		return json_object_set_new(attr, "sample_period", value_json(value));
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu, term);
	return has_value || read_line(path, terms, sizeof(terms)) <= 0
		       ? pmu_term(pmu, term, value, attr)
		       : pmu_terms(pmu, terms, attr);
}

/* perf's name of a generic event, counted by the PMU of one kind of core: the PMU's type stands in
 * config. 0, or -ENOENT: it is none. */
static int take_generic(struct parsing *p, const struct pmu *pmu, const char *name, json_t *attr)
{
	const struct abi_value *value = generic_value(p, "hw_id", name);

	if (!value)
		return -ENOENT;
	json_object_set_new(attr, "type", json_string("hardware"));
	return json_object_set_new(attr, "config",
				   value_json((uint64_t)pmu->type << 32 | value->value));
}

/* PMU/TERM,.../ */
static json_t *pmu_event(struct parsing *p)
{
	char *slash = strchr(p->event, '/'), *end = slash ? strrchr(p->event, '/') : NULL;
	char there[EVENT_TEXT] =
		"a PMU of this machine (without its driver, or in a virtual machine, "
		"there may be none of that name):";
	size_t at = strlen(there);
	const struct pmu *pmu;
	char *save = NULL;
	json_t *attr;

	if (!slash || !strncmp(p->event, "mem:", 4))
		return NULL;
	if (end == slash || end[1] || slash == p->event)
		return refuse(p, p->text, "PMU/TERM=VALUE,.../");
	*slash = *end = '\0';
	/* What stands before the terms: a PMU, or a generic event, as in page-faults/period=1000/.
	 */
	pmu = environment_pmu(p->env, p->event);
	attr = pmu ? json_pack("{s:I,s:s}", "type", (json_int_t)pmu->type, "config", "0x0")
		   : generic_event(p);
	attr = attr ? attr : cache_event(p);
	attr = attr ? attr : tracepoint_event(p);
	if (error_is_set(p->e))
		return NULL;
	for (size_t i = 0; !attr && i < p->env->pmu_count && at < sizeof(there); i++)
		at += (size_t)snprintf(there + at, sizeof(there) - at, "%s %s", i ? "," : "",
				       p->env->pmus[i].name);
	if (!attr)
		return lack(p, ABSENT_PMU, there);
	for (char *term = strtok_r(slash + 1, ",", &save); term;
	     term = strtok_r(NULL, ",", &save)) {
		bool is_name = !strchr(term, '=');
		int err = apply_one_term(p->event, term, attr);

		if (err && pmu && is_name && pmu->cpus[0])
			err = take_generic(p, pmu, term, attr);
		if (!err)
			continue;
		json_decref(attr);
		if (err != -ERANGE && pmu && is_name && p->env->runner)
			return lack(p, ABSENT_EVENT, "a name in events/ or format/ of that PMU");
		return refuse(p, term,
			      err == -ERANGE ? "TERM=VALUE, a number of 64 bits"
					     : "a name in events/ or format/ of that PMU in sysfs");
	}
	return attr;
}

static const json_t *modifier_of(const struct parsing *p, char letter)
{
	return json_object_get(json_object_get(p->names, "modifiers"),
			       (const char[]){letter, '\0'});
}

/* Of u, k and h those that are not there are excluded; so with G and H. */
static void exclude_others(struct parsing *p, const char *kind, json_t *attr)
{
	const char *name;
	json_t *modifier;
	bool any = false;

	json_object_foreach(json_object_get(p->names, "modifiers"), name, modifier)
		any = any || (json_object_get(modifier, kind) && strchr(p->modifiers, name[0]));
	if (!any)
		return;
	json_object_foreach(json_object_get(p->names, "modifiers"), name, modifier) {
		const json_t *bits = json_object_get(modifier, kind);

		if (bits && !strchr(p->modifiers, name[0]))
			json_object_set_new(attr, json_string_value(json_array_get(bits, 0)),
					    json_integer(1));
	}
}

static json_t *apply_modifiers(struct parsing *p, json_t *attr)
{
	exclude_others(p, "levels", attr);
	exclude_others(p, "hosts", attr);
	for (const char *at = p->modifiers; *at; at++) {
		const json_t *modifier = modifier_of(p, *at);
		const char *field;
		json_t *value;

		json_object_update(attr, json_object_get(modifier, "set"));
		json_object_foreach(json_object_get(modifier, "add"), field, value)
			json_object_set_new(
				attr, field,
				json_integer(json_integer_value(json_object_get(attr, field)) +
					     json_integer_value(value)));
	}
	return attr;
}

/* Whether what stands before the colon is an event by itself. */
static bool is_event_before(struct parsing *p, const char *colon)
{
	struct parsing before = {.names = p->names, .env = p->env};
	size_t n = (size_t)(colon - p->text);
	json_t *attr;

	if (n >= sizeof(before.event))
		return false;
	memcpy(before.event, p->text, n);
	attr = generic_event(&before);
	attr = attr ? attr : cache_event(&before);
	attr = attr ? attr : raw_event(&before);
	json_decref(attr);
	return attr != NULL;
}

/* What stands behind the last / or the last :, if it is made of the modifiers' letters. */
static int take_modifiers(struct parsing *p)
{
	size_t n = strlen(p->text);
	const char *slash = strrchr(p->text, '/'), *colon = strrchr(p->text, ':');
	const char *at = slash && strncmp(p->text, "mem:", 4) ? slash + 1 : NULL;

	if (!at && colon && colon[1] && !strncmp(p->text, "mem:", 4) &&
	    strspn(colon + 1, "rwx") == strlen(colon + 1))
		at = NULL; /* the access to watch for */
	else if (!at && colon && is_event_before(p, colon))
		at = colon;
	else if (!at && colon && colon > p->text && modifier_of(p, colon[1]) &&
		 strspn(colon + 1, "ukhGHIpPDeSW") == strlen(colon + 1))
		at = colon;
	if (at)
		n = (size_t)(at - p->text);
	if (n >= sizeof(p->event) || (at && strlen(at) >= sizeof(p->modifiers)))
		return -E2BIG;
	memcpy(p->event, p->text, n);
	if (at)
		snprintf(p->modifiers, sizeof(p->modifiers), "%s", at + (*at == ':'));
	return 0;
}

json_t *event_attr(const char *text, const json_t *names, struct environment *env,
		   struct absence *absence, struct error *e)
{
	static json_t *(*const forms[])(struct parsing *) = {
		generic_event, cache_event,      raw_event, breakpoint_event,
		pmu_event,     tracepoint_event, own_event};
	struct parsing p = {.names = names, .env = env, .text = text, .absence = absence, .e = e};
	const struct where root = where_root(&event_source);
	const size_t n = strcspn(text, ":");
	char before[EVENT_TEXT];
	struct nearest near;
	const char *name;
	json_t *attr = NULL, *value;

	if (absence)
		*absence = (struct absence){.what = ABSENT_NOTHING};
	if (take_modifiers(&p))
		return refuse(&p, text, "an event of at most 511 letters");
	snprintf(before, sizeof(before), "%.*s", (int)n, text);
	for (const char *at = p.modifiers; *at; at++)
		if (!modifier_of(&p, *at) && text[n] && environment_pmu(env, before))
			return refuse(&p, text,
				      "PMU/TERM=VALUE,.../: a PMU stands before the colon");
		else if (!modifier_of(&p, *at))
			return refuse(&p, (const char[]){*at, '\0'},
				      "a modifier: u, k, h, G, H, I, p, P, D, e, S or W");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !attr && !error_is_set(e); i++)
		attr = forms[i](&p);
	if (attr)
		return apply_modifiers(&p, attr);
	if (!error_is_set(e) && strchr(text, ','))
		return refuse(&p, text,
			      "one event at a time, as perf list shows them; of a group, each "
			      "member by itself");
	if (error_is_set(e))
		return NULL;
	near = nearest_to(p.event);
	json_object_foreach(json_object_get(names, "names"), name, value)
		nearest_try(&near, name);
	abi_value(abi_family(env->abi, "hw_id"), "", &near);
	abi_value(abi_family(env->abi, "sw_id"), "", &near);
	error_name(e, &root, text, near.best, "an event, as perf list shows them");
	e->line = 0;
	return NULL;
}
