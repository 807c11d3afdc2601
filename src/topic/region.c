/* SPDX-License-Identifier: MIT
 *
 * The box that holds the main text: from the page down while one box holds most of the prose left, or a good part
 * where its author marked it (article, main, schema.org's articleBody), then further to where the richest flow of
 * paragraphs stands with those that are comparable to it (the parts of an article, the posts of a thread), so that
 * many small texts around a short article do not drown it.  Where that place begins with a heading and what stands
 * around it with a higher one, as the sections of a manual do, the outer section is the text.
 */
#include "topic/finder.h"

uint32_t pd_region_of_most(const struct pd_topic_finder *f, const struct pd_blocks *in)
{
	double enough = f->weights->region_most * (double)pd_live_of_page(f);
	uint32_t root = 0;
	for (uint32_t i = 0; enough > 0 && i < in->n_boxes;) {
		if ((double)pd_live_of_box(f, &in->boxes[i]) >= enough)
			root = i++;
		else
			i = in->boxes[i].end;
	}
	return root;
}

/* The innermost box inside `root` that its author marked as the main text. */
static uint32_t marked(const struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t root)
{
	for (uint32_t i = root + 1; i < in->boxes[root].end; i++) {
		double enough = f->weights->region_marked * (double)pd_live_of_box(f, &in->boxes[root]);
		bool good = f->notes[i].hint == PD_HINT_GOOD && !f->notes[i].rule;
		if (good && enough > 0 && (double)pd_live_of_box(f, &in->boxes[i]) >= enough)
			root = i;
	}
	return root;
}

/* What stands beside others of its kind: a paragraph that holds most of a short text is not the text. */
static bool is_paragraph(uint16_t tag)
{
	switch (tag) {
	case PD_TAG_p:
	case PD_TAG_pre:
	case PD_TAG_blockquote:
	case PD_TAG_ul:
	case PD_TAG_ol:
	case PD_TAG_li:
	case PD_TAG_dl:
	case PD_TAG_dd:
		return true;
	default:
		return false;
	}
}

static bool same_name(const struct pd_box *a, const struct pd_box *b)
{
	return a->tag == b->tag && a->klass.n && pd_span_eq(a->klass, b->klass);
}

/* Does a box of the same name with prose of its own stand beside it? */
static bool has_twin(const struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t box)
{
	uint32_t parent = in->boxes[box].parent;
	if (!in->boxes[box].klass.n)
		return false;
	for (uint32_t i = parent + 1; i < in->boxes[parent].end; i = in->boxes[i].end)
		if (i != box && same_name(&in->boxes[i], &in->boxes[box]) && pd_live_of_box(f, &in->boxes[i]))
			return true;
	return false;
}

/* Fills the prose of every home inside `root`; the richest is returned, the first on ties. */
static uint32_t richest(struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t root)
{
	const struct pd_box *b = &in->boxes[root];
	uint32_t best = root;
	for (uint32_t i = root; i < b->end; i++)
		f->notes[i].prose = 0;
	for (size_t i = pd_lines_first(&f->lines, b); i < pd_lines_end(&f->lines, b); i++) {
		const struct pd_line *l = &f->lines.v[i];
		if (!f->why[i] && l->prose && l->home >= root)
			f->notes[l->home].prose += l->mass - l->link_mass;
	}
	for (uint32_t i = root; i < b->end; i++)
		if (f->notes[i].prose > f->notes[best].prose)
			best = i;
	return best;
}

/* The lines from `first` on that no rule has dropped yet. */
struct stretch {
	double mass, link_mass;
	size_t head;		/* the first of them; `end`: there is none */
};

static struct stretch stretch_of(const struct pd_topic_finder *f, size_t first, size_t end)
{
	struct stretch s = { .head = end };
	for (size_t i = end; i-- > first;) {
		if (f->why[i])
			continue;
		s.mass += f->lines.v[i].mass;
		s.link_mass += f->lines.v[i].link_mass;
		s.head = i;
	}
	return s;
}

/* The rank of a line that is a heading: 1 for h1; 0: it is none. */
static int rank_of(const struct pd_topic_finder *f, const struct pd_blocks *in, size_t line)
{
	uint16_t tag = line < f->lines.n ? in->boxes[f->lines.v[line].box].tag : PD_TAG_NONE;
	return tag >= PD_TAG_h1 && tag <= PD_TAG_h6 ? tag - PD_TAG_h1 + 1 : 0;
}

/* A manual's chapter is made of sections in sections: what stands around the richest of them, begins with a heading of no
 * lower rank, and is no list of links, is text as well.  On a page of a manual the richest part need not begin with one. */
static uint32_t widen(const struct pd_topic_finder *f, const struct pd_blocks *in, uint32_t best)
{
	uint32_t wide = best;
	size_t first = pd_lines_first(&f->lines, &in->boxes[best]), end = pd_lines_end(&f->lines, &in->boxes[best]);
	size_t head = stretch_of(f, first, end).head;
	int rank = rank_of(f, in, head == end ? f->lines.n : head);
	double mass = 0, link_mass = 0;
	for (uint32_t i = best; i && (rank || f->kind == PD_KIND_REFERENCE);) {
		i = in->boxes[i].parent;
		size_t from = pd_lines_first(&f->lines, &in->boxes[i]), to = pd_lines_end(&f->lines, &in->boxes[i]);
		struct stretch before = stretch_of(f, from, first), behind = stretch_of(f, end, to);
		double more = before.mass + behind.mass;
		head = before.head < first ? before.head : head;
		mass += more;
		link_mass += before.link_mass + behind.link_mass;
		first = from;
		end = to;
		if (more == 0)
			continue;
		int outer = rank_of(f, in, head);
		if (!outer || (rank && outer > rank) || link_mass > f->weights->widen_links * mass)
			break;
		rank = outer;
		wide = i;
	}
	return wide;
}

uint32_t pd_region_find(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	if ((double)pd_live_of_page(f) < f->weights->region_prose)
		return 0;
	uint32_t root = marked(f, in, pd_region_of_most(f, in));
	while (root && (is_paragraph(in->boxes[root].tag) || has_twin(f, in, root)))
		root = in->boxes[root].parent;
	uint32_t best = richest(f, in, root), first = best, last = best;
	double rich = (double)f->notes[best].prose;
	for (uint32_t i = root; i < in->boxes[root].end; i++) {
		struct pd_box_note *note = &f->notes[i];
		bool same = same_name(&in->boxes[i], &in->boxes[best]);
		note->home |= same;
		if (note->prose && (same || (double)note->prose >= f->weights->region_comparable * rich)) {
			first = i < first ? i : first;
			last = i;
		}
	}
	if (rich < f->weights->region_rich)
		return widen(f, in, root);
	while (best != root && (best > first || in->boxes[best].end <= last))
		best = in->boxes[best].parent;
	return widen(f, in, best);
}
