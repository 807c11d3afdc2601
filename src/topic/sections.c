/* SPDX-License-Identifier: MIT
 *
 * Lines that announce what follows ("Related articles", 网友评论): they go with the region that they head, unless that
 * is a good part of the text.
 */
#include "topic/finder.h"

static bool is_heading(uint16_t tag)
{
	return tag >= PD_TAG_h1 && tag <= PD_TAG_h6;
}

/* The outermost box whose first line is line i. */
static uint32_t headed_box(const struct pd_topic_finder *f, const struct pd_blocks *in, size_t i)
{
	const struct pd_lines *l = &f->lines;
	uint32_t b = l->v[i].box;
	while (b && pd_lines_first(l, &in->boxes[b]) == i && pd_lines_end(l, &in->boxes[b]) == i + 1)
		b = in->boxes[b].parent;
	return b;
}

/* Where the section of line i ends: with the box that it heads; else a heading's at the next heading of its rank, and
 * another line's with the box around it. */
static size_t section_end(const struct pd_topic_finder *f, const struct pd_blocks *in, size_t i)
{
	const struct pd_lines *l = &f->lines;
	const struct pd_box *box = &in->boxes[headed_box(f, in, i)];
	size_t end = pd_lines_end(l, box);
	uint16_t tag = in->boxes[l->v[i].box].tag;
	if (pd_lines_first(l, box) == i || !is_heading(tag))
		return end;
	for (size_t k = i + 1; k < end; k++) {
		uint16_t other = in->boxes[l->v[k].box].tag;
		if (is_heading(other) && other <= tag)
			return k;
	}
	return end;
}

static enum pd_head head_of(const struct pd_topic_finder *f, const struct pd_blocks *in, size_t i, const char **name)
{
	const struct pd_line *l = &f->lines.v[i];
	const struct pd_run *last = &in->runs[l->end_run - 1], *first = &in->runs[l->first_run];
	/* Not its mass: what a site repeats has none, and still announces what follows. */
	size_t n = last->at + last->n - first->at;
	if (f->why[i] || n > PD_HEAD_MAX)
		return PD_HEAD_NONE;
	return pd_head_of(f->heads, pd_span(in->text.p + first->at, n), name);
}

void pd_sections_drop(struct pd_topic_finder *f, const struct pd_blocks *in)
{
	pd_live_sum(f, PD_LIVE_TEXT);
	double most = f->weights->section_share * (double)pd_live_of_page(f);
	for (size_t i = 0; i < f->lines.n; i++) {
		const char *name = NULL;
		enum pd_head head = head_of(f, in, i, &name);
		if (head == PD_HEAD_NONE)
			continue;
		size_t end = head == PD_HEAD_SECTION ? section_end(f, in, i) : i + 1;
		if ((double)(f->live[end] - f->live[i]) > most)
			end = i + 1;
		for (size_t k = i; k < end; k++)
			if (!f->why[k])
				f->why[k] = name;
	}
}
