/* SPDX-License-Identifier: MIT */
/*
 * The rows of the verbs: what they say of their arguments is so.
 */
#include <string.h>

#include "step/verb.h"
#include "unit.h"

static const char *shown(const struct verb *verb)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s %s", verb_key(verb), verb->key ? verb->name : "");
	return text;
}

START_TEST(a_verb_begins_with_its_own_argument)
{
	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		ck_assert_msg(v->run && v->help && v->arguments, "%s", shown(v));
		ck_assert_msg(!strcmp(v->arguments[0].key, verb_key(v)), "%s", shown(v));
	}
}
END_TEST

/* Members have a size that their type writes. */
START_TEST(arguments_have_room)
{
	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		for (const struct argument *a = v->arguments; a->key; a++) {
			bool is_number = a->type == &argument_number || a->type == &argument_word ||
					 a->type == &argument_words || a->type == &argument_bound;
			bool is_wide = a->room == sizeof(uint64_t) || a->room == sizeof(int);

			ck_assert_msg(a->at + a->room <= sizeof(struct arguments), "%s: %s",
				      shown(v), a->key);
			ck_assert_msg(a->type != &argument_truth || a->room == sizeof(bool),
				      "%s: %s", shown(v), a->key);
			ck_assert_msg(!is_number || is_wide || !a->room, "%s: %s has %zu bytes",
				      shown(v), a->key, a->room);
			ck_assert_msg(a == v->arguments || a->help || a->type->holds,
				      "%s: %s has no help", shown(v), a->key);
		}
	}
}
END_TEST

/* No two arguments of a verb have one key, and no two verbs one name. */
START_TEST(names_are_said_once)
{
	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		for (const struct verb *w = verb_next(v); w; w = verb_next(w))
			ck_assert_msg(strcmp(v->name, w->name) || !v->key != !w->key, "%s",
				      shown(v));
		for (const struct argument *a = v->arguments; a->key; a++)
			for (const struct argument *other = v->arguments; other < a; other++)
				ck_assert_msg(strcmp(other->key, a->key) != 0, "%s: %s", shown(v),
					      a->key);
	}
}
END_TEST

/* Each verb is found by its own step, with all its arguments; other arguments decide on others. */
START_TEST(steps_have_their_verb)
{
	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		json_t *step = json_pack("{s:s}", verb_key(v), v->key ? v->name : "x");

		for (const struct argument *a = v->arguments + 1; a->key; a++)
			json_object_set_new(step, a->key, json_true());
		ck_assert_msg(verb_of(step, NULL, NULL) == v, "%s", shown(v));
		json_object_set_new(step, "no-such-key", json_true());
		ck_assert_msg(!verb_of(step, NULL, NULL), "%s", shown(v));
		json_decref(step);
	}
}
END_TEST

Suite *suite_verbs(void)
{
	Suite *s = suite_create("verbs");
	TCase *c = tcase_create("rows");

	tcase_add_test(c, a_verb_begins_with_its_own_argument);
	tcase_add_test(c, arguments_have_room);
	tcase_add_test(c, names_are_said_once);
	tcase_add_test(c, steps_have_their_verb);
	suite_add_tcase(s, c);
	return s;
}
