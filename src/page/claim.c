/* SPDX-License-Identifier: MIT
 *
 * M3 (module 210), the rule itself.  Leaves first: an element's end comes after the ends of all that is in it, so the
 * frames of open elements and the stack of unclaimed runs are all that is needed.  A block takes the runs above its
 * frame's mark; an element that is none leaves them, and its counts, to the one around it.
 */
#include "page/build.h"

#include <stdlib.h>

static bool qualifies(const struct pd_builder *b, const struct pd_frame *f, enum pd_tag_class c)
{
	if (!f->own)
		return false;
	if (c == PD_CLASS_TITLE)
		return f->chars > 0;
	return c == PD_CLASS_BLOCK &&
	       (f->chars > (uint32_t)b->o->min_chars || f->levels > (uint32_t)b->o->min_levels);
}

static void become_block(struct pd_builder *b, const struct pd_frame *f, bool title, size_t markup)
{
	struct pd_blocks *out = b->out;
	uint32_t index = (uint32_t)out->n_blocks, first = (uint32_t)out->n_runs, end = first;
	if (b->n_unclaimed > f->mark) {
		first = b->unclaimed[f->mark];
		end = b->unclaimed[b->n_unclaimed - 1] + 1;
	}
	for (size_t i = f->mark; i < b->n_unclaimed; i++)
		out->runs[b->unclaimed[i]].block = index;
	b->n_unclaimed = f->mark;
	out->boxes[f->box].block = index;
	out->blocks = pd_grow(out->blocks, out->n_blocks, &out->cap_blocks, sizeof(*out->blocks));
	out->blocks[out->n_blocks++] = (struct pd_block){
		.box = f->box,
		.title = title,
		.chars = f->chars,
		.anchor_chars = f->anchor_chars,
		.levels = f->levels,
		.links = f->links,
		.first_run = first,
		.end_run = end,
		.markup_at = (uint32_t)f->markup_at,
		.markup_n = (uint32_t)(markup - f->markup_at),
	};
}

static void pass_up(const struct pd_frame *f, struct pd_frame *parent)
{
	parent->chars += f->chars;
	parent->anchor_chars += f->anchor_chars;
	parent->levels += f->levels;
	parent->links += f->links;
}

void pd_claim(struct pd_builder *b, enum pd_tag t, size_t markup)
{
	const struct pd_frame *f = pd_build_frame(b);
	enum pd_tag_class c = pd_tag_class(t);
	if (qualifies(b, f, c)) {
		become_block(b, f, c == PD_CLASS_TITLE, markup);
		return;
	}
	struct pd_frame *parent = &b->frames[b->n_frames - 2];
	pass_up(f, parent);
	parent->levels += c == PD_CLASS_LEVEL;
}

/* A link belongs to the block of its first run. */
static void links_to_blocks(struct pd_blocks *out)
{
	for (size_t i = 0; i < out->n_runs; i++) {
		const struct pd_run *r = &out->runs[i];
		if (r->link == PD_LINK_NONE || out->links[r->link].has_text)
			continue;
		out->links[r->link].has_text = true;
		out->links[r->link].block = r->block;
	}
}

void pd_claim_order(struct pd_builder *b)
{
	struct pd_blocks *out = b->out;
	uint32_t next = 0;
	b->order = pd_grow(b->order, out->n_blocks, &b->cap_order, sizeof(*b->order));
	b->sorted = pd_grow(b->sorted, out->n_blocks, &b->cap_sorted, sizeof(*b->sorted));
	for (size_t i = 0; i < out->n_boxes; i++) {
		uint32_t old = out->boxes[i].block;
		if (old == PD_BLOCK_NONE)
			continue;
		b->sorted[next] = out->blocks[old];
		b->order[old] = next;
		out->boxes[i].block = next++;
	}
	if (out->n_blocks)
		memcpy(out->blocks, b->sorted, out->n_blocks * sizeof(*out->blocks));
	for (size_t i = 0; i < out->n_runs; i++)
		if (out->runs[i].block != PD_BLOCK_NONE)
			out->runs[i].block = b->order[out->runs[i].block];
	links_to_blocks(out);
}

void pd_builder_release(struct pd_builder *b)
{
	free(b->unclaimed);
	free(b->order);
	free(b->sorted);
}
