/* SPDX-License-Identifier: MIT
 *
 * Events (html.h) -> struct pd_blocks, in one pass: runs of text (runs.c), boxes and links (build.c), the documents'
 * blocks (claim.c).  Internal to page/.
 */
#ifndef PD_PAGE_BUILD_H
#define PD_PAGE_BUILD_H

#include "page/blocks.h"
#include "page/html.h"

/* An open element that breaks text, with what stands in it and no block has claimed. */
struct pd_frame {
	uint32_t box;		/* itself, or the box around it when there are too many boxes */
	bool own;		/* `box` is itself */
	uint32_t mark;		/* its runs begin here in `unclaimed` */
	uint32_t chars, anchor_chars, levels, links;
	size_t markup_at;
};

struct pd_builder {
	const struct pd_html_options *o;
	struct pd_blocks *out;
	struct pd_frame frames[PD_DEPTH_MAX + 1];
	size_t n_frames;
	uint32_t *unclaimed;		/* runs that no block has claimed yet */
	size_t n_unclaimed, cap_unclaimed;
	uint32_t link, links[PD_DEPTH_MAX];	/* the link that we are in; those around open <a> */
	size_t n_links;
	int emphasis, pre;		/* how many such elements are open */
	bool in_run;			/* the last run is still being written */
	bool space, line;		/* white space, a line's end since the last character */
	/* for putting blocks in order */
	uint32_t *order;
	struct pd_block *sorted;
	size_t cap_order, cap_sorted;
};

void pd_build_start(struct pd_builder *b, struct pd_blocks *out);
/* `markup`: how much XHTML is written before this start tag, behind this end tag. */
void pd_build_open(struct pd_builder *b, enum pd_tag t, const struct pd_attr *attrs, size_t n, size_t markup);
void pd_build_close(struct pd_builder *b, enum pd_tag t, size_t markup);
void pd_build_text(struct pd_builder *b, struct pd_span s);
void pd_build_end(struct pd_builder *b);
void pd_builder_release(struct pd_builder *b);

/* Ends the run that is being written: its text now counts for the innermost frame. */
void pd_build_end_run(struct pd_builder *b);
/* M3: the innermost frame ends; it becomes a block, or what it holds passes to the frame around it. */
void pd_claim(struct pd_builder *b, enum pd_tag t, size_t markup);
/* Puts the blocks in document order. */
void pd_claim_order(struct pd_builder *b);

static inline struct pd_frame *pd_build_frame(struct pd_builder *b)
{
	return &b->frames[b->n_frames - 1];
}

#endif
