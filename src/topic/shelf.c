/* SPDX-License-Identifier: MIT
 *
 * A price is a sign of money beside a digit, in a short line.  Lines are summed up, so a box is asked for its prices in
 * constant time and the children of all boxes are looked at once each.
 */
#include "topic/shelf.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { PRICE_LINE = 200 };	/* a line that names a price is no longer */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A sign of money that ends before `at`, or begins there; one space may part it from the digits. */
static bool has_money(struct pd_span s, size_t at, bool before)
{
	static const char signs[][4] = { "$", "£", "€", "¥", "￥", "₹", "₽", "₩", "₺", "元", "円" };
	if (before)
		at -= at > 0 && s.p[at - 1] == ' ';
	else
		at += at < s.n && s.p[at] == ' ';
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t n = strlen(signs[i]), room = before ? at : s.n - at;
		if (room >= n && memcmp(s.p + (before ? at - n : at), signs[i], n) == 0)
			return true;
	}
	return false;
}

static bool has_price(struct pd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!is_digit(s.p[i]))
			continue;
		if ((i == 0 || !is_digit(s.p[i - 1])) && has_money(s, i, true))
			return true;
		if ((i + 1 == s.n || !is_digit(s.p[i + 1])) && has_money(s, i + 1, false))
			return true;
	}
	return false;
}

static uint32_t prices_of(const struct pd_shelf *s, const struct pd_lines *l, const struct pd_box *b)
{
	return s->sums[pd_lines_end(l, b)].prices - s->sums[pd_lines_first(l, b)].prices;
}

static bool is_left(const struct pd_shelf *s, const struct pd_lines *l, const struct pd_box *b)
{
	return s->sums[pd_lines_end(l, b)].left > s->sums[pd_lines_first(l, b)].left;
}

/* Is the box a shelf, and richer than what was found before? */
static void try_box(struct pd_shelf *s, const struct pd_blocks *in, const struct pd_lines *l, uint32_t box)
{
	const struct pd_weights *w = l->weights;
	const struct pd_box *b = &in->boxes[box];
	size_t children = 0, goods = 0;
	uint64_t mass = 0;
	for (uint32_t i = box + 1; i < b->end; i = in->boxes[i].end) {
		const struct pd_box *child = &in->boxes[i];
		struct pd_line_sum sum = pd_lines_of_box(l, child);
		if (!is_left(s, l, child))
			continue;
		children++;
		if (!prices_of(s, l, child) || !sum.link_mass || (double)sum.mass > w->shelf_card)
			continue;
		goods++;
		mass += sum.mass;
	}
	if ((double)goods < w->shelf_count || (double)goods < w->shelf_share * (double)children || mass <= s->mass)
		return;
	s->first = pd_lines_first(l, b);
	s->end = pd_lines_end(l, b);
	s->goods = goods;
	s->mass = mass;
}

static uint64_t key_of(const struct pd_blocks *in, const struct pd_line *l)
{
	struct pd_span text = pd_line_text(in, l);
	return pd_hash64(text.p, text.n);
}

void pd_shelf_find(struct pd_shelf *s, const struct pd_blocks *in, const struct pd_lines *l, const char *const *why)
{
	struct pd_shelf_sum sum = { 0 };
	s->mass = 0;
	s->sums = pd_grow(s->sums, l->n, &s->cap, sizeof *s->sums);
	for (size_t i = 0; i < l->n; i++) {
		s->sums[i] = sum;
		sum.left += !why[i];
		sum.prices += !why[i] && l->v[i].mass <= PRICE_LINE && has_price(pd_line_text(in, &l->v[i]));
	}
	s->sums[l->n] = sum;
	for (uint32_t i = 0; sum.prices >= l->weights->shelf_count && i < in->n_boxes; i++) {
		/* a box with too few prices has no children with more */
		if (prices_of(s, l, &in->boxes[i]) >= l->weights->shelf_count)
			try_box(s, in, l, i);
		else
			i = in->boxes[i].end - 1;
	}
	if (!s->mass)
		return;
	pd_map_clear(&s->alike, s->end - s->first);
	for (size_t i = s->first; i < s->end; i++)
		++*pd_map_put(&s->alike, key_of(in, &l->v[i]));
}

bool pd_shelf_same(const struct pd_shelf *s, const struct pd_blocks *in, const struct pd_lines *l, size_t i)
{
	const uint32_t *times = pd_map_find(&s->alike, key_of(in, &l->v[i]));
	return times && *times >= l->weights->shelf_same * (double)s->goods;
}

void pd_shelf_release(struct pd_shelf *s)
{
	free(s->sums);
	pd_map_release(&s->alike);
}
