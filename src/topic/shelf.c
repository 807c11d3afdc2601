/* SPDX-License-Identifier: MIT */
#include "topic/shelf.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"

enum { PRICE_LINE = 200 }; /* longest line that can contain a price */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return whether a currency sign ends before `at`, or begins there.  One space may separate it from the digits. */
static bool has_money(struct pd_span s, size_t at, bool before)
{
	static const char signs[][4] = { "$", "£", "€", "¥", "￥", "₹", "₽", "₩", "₺", "元", "円" };
	if (before)
		at -= at > 0 && s.p[at - 1] == ' ';
	else
		at += at < s.n && s.p[at] == ' ';
	if (before ? !at : at == s.n)
		return false;
	char c = s.p[before ? at - 1 : at];
	if (c != '$' && !(c & 0x80)) /* all others have several bytes */
		return false;
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
		if (!is_digit(s.p[i])) {
			for (; i + 9 <= s.n; i += 8) { /* eight bytes without a digit */
				uint64_t x = pd_eight_load(s.p + i + 1);
				if (pd_eight_range(x & ~PD_HIGH, '0', '9') & ~x)
					break;
			}
			continue;
		}
		if ((i == 0 || !is_digit(s.p[i - 1])) && has_money(s, i, true))
			return true;
		if ((i + 1 == s.n || !is_digit(s.p[i + 1])) && has_money(s, i + 1, false))
			return true;
	}
	return false;
}

static uint32_t prices_of(const struct pd_shelf *s, const struct pd_topic_lines *l, const struct pd_box *b)
{
	return s->sums[pd_end_line(l, b)].prices - s->sums[pd_first_line(l, b)].prices;
}

/* Make the box the shelf if it is one and holds more than the best so far. */
static void compare_shelf(struct pd_shelf *s, const struct pd_blocks *in, const struct pd_topic_lines *l, uint32_t box)
{
	const struct pd_weights *w = l->weights;
	const struct pd_box *b = &in->boxes[box];
	size_t children = 0, goods = 0;
	uint64_t mass = 0;
	for (uint32_t i = box + 1; i < b->end; i = in->boxes[i].end) {
		const struct pd_box *child = &in->boxes[i];
		struct pd_line_sum sum = pd_sum_of_box(l, child);
		if (s->sums[pd_end_line(l, child)].left == s->sums[pd_first_line(l, child)].left)
			continue;
		children++;
		if (!prices_of(s, l, child) || !sum.link_mass || (double)sum.mass > w->shelf_card)
			continue;
		goods++;
		mass += sum.mass;
	}
	if ((double)goods < w->shelf_count || (double)goods < w->shelf_share * (double)children || mass <= s->mass)
		return;
	s->first = pd_first_line(l, b);
	s->end = pd_end_line(l, b);
	s->goods = goods;
	s->mass = mass;
}

static uint64_t text_key(const struct pd_blocks *in, const struct pd_line *l)
{
	struct pd_span text = pd_line_text(in, l);
	return pd_hash64(text.p, text.n);
}

void pd_shelf_find(struct pd_shelf *s, const struct pd_blocks *in, const struct pd_topic_lines *l, const char *const *why)
{
	struct pd_shelf_sum sum = { 0 };
	s->mass = 0;
	s->sums = pd_grow(s->sums, l->n, &s->cap, sizeof *s->sums);
	for (size_t i = 0; i < l->n; i++) {
		s->sums[i] = sum;
		sum.left += !why[i];
		if (why[i] || l->v[i].mass > PRICE_LINE)
			continue;
		if (!(l->known[i] & (PD_LINE_PRICE | PD_LINE_NO_PRICE)))
			l->known[i] |= has_price(pd_line_text(in, &l->v[i])) ? PD_LINE_PRICE : PD_LINE_NO_PRICE;
		sum.prices += (l->known[i] & PD_LINE_PRICE) != 0;
	}
	s->sums[l->n] = sum;
	for (uint32_t i = 0; sum.prices >= l->weights->shelf_count && i < in->n_boxes; i++) {
		/* a box with too few prices has no children with more */
		if (prices_of(s, l, &in->boxes[i]) >= l->weights->shelf_count)
			compare_shelf(s, in, l, i);
		else
			i = in->boxes[i].end - 1;
	}
	if (!s->mass)
		return;
	pd_map_clear(&s->alike, s->end - s->first);
	for (size_t i = s->first; i < s->end; i++)
		++*pd_map_put(&s->alike, text_key(in, &l->v[i]));
}

bool pd_shelf_is_control(const struct pd_shelf *s, const struct pd_blocks *in, const struct pd_topic_lines *l, size_t i)
{
	const uint32_t *times = pd_map_find(&s->alike, text_key(in, &l->v[i]));
	return times && *times >= l->weights->shelf_same * (double)s->goods;
}

void pd_shelf_release(struct pd_shelf *s)
{
	free(s->sums);
	pd_map_release(&s->alike);
}
