/* SPDX-License-Identifier: MIT
 *
 * Lists of other pages: siblings that are each a linked headline with a few words, a date, a price.  On an
 * article's page they are chrome; where they are most of what the page says, they are its text and stay.
 */
#include "topic/finder.h"

/* What the children of a box are. */
struct family {
	size_t children, cards;
	uint64_t prose;		/* of the cards */
};

static bool is_card(const struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_box *b)
{
	const struct pd_weights *w = f->weights;
	struct pd_line_sum s = pd_lines_of_box(&f->lines, b);
	if ((double)s.link_mass < w->card_link || (double)s.mass > w->card_mass || (double)s.prose > w->card_prose)
		return false;
	size_t first = pd_lines_first(&f->lines, b), end = pd_lines_end(&f->lines, b);
	for (size_t i = first; i < end && (double)(i - first) < w->card_lines; i++) {
		const struct pd_run *r = &in->runs[f->lines.v[i].first_run];
		if (r->flags & PD_RUN_LINK && r->n >= w->card_link)
			return true;
	}
	return false;
}

static bool alive(const struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t box)
{
	const struct pd_box_note *note = &f->notes[box];
	return !note->rule && !note->card && in->boxes[box].first_run < in->boxes[box].end_run;
}

static struct family family_of(const struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t box)
{
	struct family m = { 0 };
	for (uint32_t c = box + 1; c < in->boxes[box].end; c = in->boxes[c].end) {
		if (!alive(f, in, c))
			continue;
		m.children++;
		if (is_card(f, in, &in->boxes[c])) {
			m.cards++;
			m.prose += pd_live_of_box(f, &in->boxes[c]);
		}
	}
	return m;
}

static void drop_box(struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t box)
{
	const struct pd_box *b = &in->boxes[box];
	for (uint32_t k = box; k < b->end; k++)
		f->notes[k].card = true;
	for (size_t i = pd_lines_first(&f->lines, b); i < pd_lines_end(&f->lines, b); i++)
		if (!f->why[i])
			f->why[i] = "cards";
}

void pd_cards_drop(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	const struct pd_weights *w = f->weights;
	uint64_t all = pd_live_of_page(f), left = all;
	for (uint32_t i = 0; i < in->n_boxes; i++) {
		if (!alive(f, in, i) || pd_live_of_box(f, &in->boxes[i]) == 0)
			continue;
		struct family m = family_of(f, in, i);
		if ((double)m.cards < w->card_count || (double)m.cards < w->card_share * (double)m.children)
			continue;
		uint64_t rest = left > m.prose ? left - m.prose : 0;
		if ((double)rest < w->card_rest || (double)rest < w->card_rest_share * (double)all)
			continue;
		left = rest;
		for (uint32_t c = i + 1; c < in->boxes[i].end; c = in->boxes[c].end)
			if (alive(f, in, c) && is_card(f, in, &in->boxes[c]))
				drop_box(f, in, c);
	}
}
