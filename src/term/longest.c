/* SPDX-License-Identifier: MIT */
#include "term/longest.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "term/unicode.h"

enum { ROOT, ROOM = 64 };

static uint64_t step_key(uint32_t node, uint32_t cp)
{
	return (uint64_t)node << 21 | cp;
}

static uint32_t add_node(struct pd_longest *l)
{
	l->word = pd_grow(l->word, l->nodes, &l->cap, sizeof *l->word);
	l->word[l->nodes] = PD_LONGEST_NONE;
	return (uint32_t)l->nodes++;
}

uint32_t pd_longest_add(struct pd_longest *l, struct pd_span word, uint32_t number)
{
	const char *p = word.p, *end = p + word.n;
	uint32_t node = ROOT;
	if (!l->nodes) {
		pd_map_clear(&l->step, ROOM);
		add_node(l);
	}
	while (p < end) {
		uint32_t *next = pd_map_put(&l->step, step_key(node, pd_utf8_next(&p)));
		if (!*next)
			*next = add_node(l);
		node = *next;
	}
	uint32_t before = l->word[node];
	l->word[node] = number;
	return before;
}

static bool is_part_of_word(uint32_t cp)
{
	enum pd_char_class class = pd_char_kind_of(cp)->class;
	return class == PD_CHAR_LETTER || class == PD_CHAR_DIGIT || class == PD_CHAR_EXTEND;
}

static uint32_t char_before(const char *begin, const char *p)
{
	do
		p--;
	while (p > begin && (*p & 0xC0) == 0x80);
	return pd_utf8_next(&p);
}

uint32_t pd_longest_find(const struct pd_longest *l, struct pd_span text, size_t at, size_t *n)
{
	const char *begin = text.p + at, *p = begin, *end = text.p + text.n, *after;
	uint32_t found = PD_LONGEST_NONE, node = ROOT, *next, cp;
	if (!l->nodes || p >= end)
		return found;
	while (p < end) {
		cp = pd_utf8_next(&p);
		next = pd_map_find(&l->step, step_key(node, cp));
		if (!next)
			break;
		/* Only now is it worth asking what stands before. */
		if (node == ROOT && at && is_part_of_word(cp) && is_part_of_word(char_before(text.p, begin)))
			return found;
		node = *next;
		after = p;
		if (l->word[node] == PD_LONGEST_NONE || (p < end && is_part_of_word(cp) && is_part_of_word(pd_utf8_next(&after))))
			continue;
		found = l->word[node];
		*n = (size_t)(p - begin);
	}
	return found;
}

void pd_longest_release(struct pd_longest *l)
{
	pd_map_release(&l->step);
	free(l->word);
	*l = (struct pd_longest){ 0 };
}
