/* SPDX-License-Identifier: MIT */
/*
 * No object has two members of one name: a list of fields and what it takes in from others, but for
 * fields in different conditions, of which there may be one or the other.
 */
#include "abi/layout_read.h"

#include <errno.h>

int layout_names_begin(struct layout_names *names)
{
	names->always = json_object();
	names->sometimes = json_object();
	return names->always && names->sometimes ? 0 : -ENOMEM;
}

void layout_names_end(struct layout_names *names)
{
	json_decref(names->always);
	json_decref(names->sometimes);
}

/* A name of the field that is being added. */
static int add_name(struct layout_reader *r, struct layout_names *names, const char *name,
		    bool always, const struct where *w)
{
	if (json_object_get(names->always, name) ||
	    (always && json_object_get(names->sometimes, name)))
		return error_name(r->e, w, name, NULL, "each name once in an object");
	if (json_object_set_new(always ? names->always : names->sometimes, name, json_true()))
		return error_no_memory(r->e, w, "memory for the ABI tables");
	return 0;
}

static int add_bits(struct layout_reader *r, struct layout_names *names,
		    const struct layout_word *word, bool always, const struct where *w)
{
	int err = 0;

	for (size_t i = 0; i < word->count && !err; i++)
		err = add_name(r, names, word->bits[i].name, always && !word->bits[i].only, w);
	return err ? err : add_name(r, names, "bits", always, w);
}

static int add_list(struct layout_reader *r, struct layout_names *names,
		    const struct layout_list *list, bool always, const struct where *w);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
static int add_choice(struct layout_reader *r, struct layout_names *names,
		      const struct abi_family *over, const struct where *w)
{
	int err = 0;

	for (size_t i = 0; i < over->count && !err; i++)
		if (over->values[i].layout)
			err = add_list(r, names, &over->values[i].layout->list, false, w);
	return err;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
static int add_node(struct layout_reader *r, struct layout_names *names,
		    const struct layout_node *node, bool always, const struct where *w)
{
	int err;

	if (node->name)
		return add_name(r, names, node->name, always, w);
	switch (node->kind) {
	case LAYOUT_WORD:
		return add_bits(r, names, node->word.word, always, w);
	case LAYOUT_WHEN:
		err = add_list(r, names, &node->when.then, false, w);
		return err ? err : add_list(r, names, &node->when.other, false, w);
	case LAYOUT_USE:
		return add_list(r, names, &node->use->list, always, w);
	case LAYOUT_SWITCH:
		return add_choice(r, names, node->choice.over, w);
	default:
		return 0;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
static int add_list(struct layout_reader *r, struct layout_names *names,
		    const struct layout_list *list, bool always, const struct where *w)
{
	int err = 0;

	for (size_t i = 0; i < list->count && !err; i++)
		err = add_node(r, names, &list->nodes[i], always, w);
	return err;
}

int layout_names_add(struct layout_reader *r, struct layout_names *names,
		     const struct layout_node *node, const struct where *w)
{
	return add_node(r, names, node, true, w);
}
