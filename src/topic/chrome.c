/* SPDX-License-Identifier: MIT
 *
 * Boxes that say what they are -> boxes that are dropped.  A hint is weighed against what would be lost: a
 * "sidebar" that holds nearly all of a page's sentences is its layout, not its margin.
 */
#include "topic/finder.h"

static uint32_t first_heading(const struct pd_blocks *in)
{
	for (uint32_t i = 0; i < in->n_boxes; i++)
		if (in->boxes[i].tag == PD_TAG_h1 && in->boxes[i].first_run < in->boxes[i].end_run)
			return i;
	return UINT32_MAX;
}

void pd_chrome_begin(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	f->notes = pd_grow(f->notes, in->n_boxes, &f->cap_notes, sizeof(*f->notes));
	memset(f->notes, 0, in->n_boxes * sizeof(*f->notes));
}

static bool is_own_tag(const struct pd_box *b, const char *name)
{
	return strcmp(name, pd_tag_name((enum pd_tag)b->tag)) == 0;
}

static bool weak_holds(const struct pd_weights *w, struct pd_line_sum sum, double all)
{
	double mass = (double)sum.mass;
	if ((double)sum.link_mass <= w->weak_links * mass && (double)sum.prose >= w->weak_prose * mass)
		return false;
	return (double)sum.prose <= w->hint_weak * all;
}

/* A paragraph that stands beside a box, right before or behind it: both are parts of one text. */
static bool is_paragraph_beside(const struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_box *b, size_t i)
{
	const struct pd_line *l = &f->lines.v[i];
	const struct pd_box *around = &in->boxes[b->parent];
	return i >= pd_lines_first(&f->lines, around) && i < pd_lines_end(&f->lines, around) && l->prose &&
	       in->boxes[l->box].depth <= b->depth;
}

/* A note in the midst of a text, in sentences: a manual's "sidebar" or "aside". */
static bool is_note(const struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_box *b)
{
	const struct pd_weights *w = f->weights;
	struct pd_line_sum sum = pd_lines_of_box(&f->lines, b);
	size_t first = pd_lines_first(&f->lines, b), end = pd_lines_end(&f->lines, b);
	if (b->parent == PD_BOX_NONE || (double)sum.link_mass > w->note_links * (double)sum.mass ||
	    (double)sum.prose < w->note_prose * (double)sum.mass)
		return false;
	return (first && is_paragraph_beside(f, in, b, first - 1)) || is_paragraph_beside(f, in, b, end);
}

/* An element that was never closed swallows what follows: a control that holds paragraphs is none. */
static bool holds_paragraphs(const struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_box *b)
{
	double prose = 0, enough = f->weights->control_prose;
	for (size_t i = pd_lines_first(&f->lines, b); i < pd_lines_end(&f->lines, b) && prose < enough; i++) {
		const struct pd_line *l = &f->lines.v[i];
		uint16_t tag = in->boxes[l->box].tag;
		if (l->prose && &in->boxes[l->box] != b && tag != PD_TAG_option && tag != PD_TAG_optgroup)
			prose += l->mass - l->link_mass;
	}
	return prose >= enough;
}

/* Is the hint of a box, which holds the first h1 or not, to be followed? */
static bool hint_holds(const struct pd_topic_finder *f, const struct pd_blocks *in, const struct pd_box *b, const struct pd_box_note *note,
	bool heading, enum pd_level level)
{
	const struct pd_weights *w = f->weights;
	struct pd_line_sum sum = pd_lines_of_box(&f->lines, b);
	double all = (double)f->lines.sums[f->lines.n].prose, prose = (double)sum.prose;
	bool tag = is_own_tag(b, note->name);
	enum pd_hint hint = (note->hint == PD_HINT_NOTICE || note->hint == PD_HINT_FOOT) && heading ? PD_HINT_CHROME : note->hint;
	double rest = (double)(f->lines.sums[f->lines.n].mass - sum.mass);
	if (note->hint == PD_HINT_NEVER)
		return true;
	if (note->hint == PD_HINT_CONTROL)
		return !holds_paragraphs(f, in, b);
	bool low = 2 * pd_lines_first(&f->lines, b) > f->lines.n;
	if (hint == PD_HINT_FOOT && sum.notices && rest >= w->foot_rest && (low || prose <= w->foot_prose))
		return true;
	if (level == PD_LEVEL_NONE || (level == PD_LEVEL_TAGS && !tag && hint != PD_HINT_NOTICE))
		return false;
	bool chrome = prose <= (tag ? w->hint_tag : heading ? w->hint_heading : w->hint_name) * all;
	switch (hint) {
	case PD_HINT_MARGIN:
		return chrome && !is_note(f, in, b);
	case PD_HINT_ADVERT:
		return chrome && level < PD_LEVEL_ADVERTS;
	case PD_HINT_FOOT:
	case PD_HINT_CHROME:
		return chrome;
	case PD_HINT_NOTICE:
		return all - prose >= w->notice_rest || prose <= w->hint_name * all;
	case PD_HINT_COMMENT:
		return level < PD_LEVEL_COMMENTS && !note->forum && prose <= w->hint_comment * all;
	case PD_HINT_WEAK:
		return weak_holds(w, sum, all);
	default:
		return false;
	}
}

void pd_chrome_drop(struct pd_topic_finder *f, const struct pd_blocks *in, enum pd_level level)
{
	uint32_t h1 = first_heading(in);
	for (uint32_t i = 0; i < in->n_boxes; i++) {
		const struct pd_box *b = &in->boxes[i];
		struct pd_box_note *note = &f->notes[i];
		const struct pd_box_note *around = b->parent == PD_BOX_NONE ? NULL : &f->notes[b->parent];
		note->rule = around ? around->rule : NULL;
		if (note->rule || b->first_run == b->end_run)
			continue;
		/* asked for only now, and once: what lies in chrome is most of a page's boxes */
		if (!note->name)
			note->hint = pd_hint_of(f->hinter, b, &note->name);
		note->forum = note->hint == PD_HINT_FORUM || (around && around->forum);
		bool heading = h1 != UINT32_MAX && h1 > i && h1 < b->end;
		if (hint_holds(f, in, b, note, heading, level))
			note->rule = note->name;
	}
	f->why = pd_grow(f->why, f->lines.n, &f->cap_why, sizeof(*f->why));
	for (size_t i = 0; i < f->lines.n; i++)
		f->why[i] = f->notes[f->lines.v[i].box].rule;
}

void pd_live_sum(struct pd_topic_finder *f, enum pd_live what)
{
	f->live = pd_grow(f->live, f->lines.n, &f->cap_live, sizeof(*f->live));
	uint64_t sum = 0;
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct pd_line *l = &f->lines.v[i];
		f->live[i] = sum;
		if (f->why[i])
			continue;
		if (what == PD_LIVE_TEXT)
			sum += l->mass;
		else if (l->prose)
			sum += l->mass - l->link_mass;
	}
	f->live[f->lines.n] = sum;
}
