/* SPDX-License-Identifier: MIT
 *
 * Open and close events -> boxes and links; a frame for each open element that breaks text.
 */
#include "page/build.h"

static bool breaks_text(enum pd_tag t)
{
	return pd_tag_class(t) != PD_CLASS_OTHER;
}

static bool emphasis(enum pd_tag t)
{
	return t == PD_TAG_b || t == PD_TAG_strong || t == PD_TAG_em || t == PD_TAG_i || t == PD_TAG_u || t == PD_TAG_mark;
}

static bool keeps_lines(enum pd_tag t)
{
	return t == PD_TAG_pre || t == PD_TAG_textarea || t == PD_TAG_listing || t == PD_TAG_xmp || t == PD_TAG_plaintext;
}

static struct pd_span kept(struct pd_blocks *out, const struct pd_attr *attrs, size_t n, enum pd_attr_id id)
{
	struct pd_span v = pd_span_trim(pd_attr_value(attrs, n, id));
	return v.n ? pd_arena_copy(&out->arena, v) : v;
}

static uint32_t add_box(struct pd_blocks *out, uint32_t parent, enum pd_tag t)
{
	out->boxes = pd_grow(out->boxes, out->n_boxes, &out->cap_boxes, sizeof(*out->boxes));
	out->boxes[out->n_boxes] = (struct pd_box){
		.parent = parent,
		.first_run = (uint32_t)out->n_runs,
		.block = PD_BLOCK_NONE,
		.tag = (uint16_t)t,
		.depth = parent == PD_BOX_NONE ? 0 : (uint16_t)(out->boxes[parent].depth + 1),
	};
	return (uint32_t)out->n_boxes++;
}

static void push_frame(struct pd_builder *b, uint32_t box, bool own, size_t markup)
{
	b->frames[b->n_frames++] = (struct pd_frame){
		.box = box,
		.own = own,
		.mark = (uint32_t)b->n_unclaimed,
		.markup_at = markup,
	};
}

/* "https://schema.org/Comment" -> "Comment". */
static struct pd_span type_name(struct pd_span url)
{
	size_t at = url.n;
	while (at && url.p[at - 1] != '/')
		at--;
	return at ? pd_span(url.p + at, url.n - at) : url;
}

static void name_box(struct pd_blocks *out, struct pd_box *box, const struct pd_attr *attrs, size_t n)
{
	box->klass = kept(out, attrs, n, PD_ATTR_CLASS);
	box->ident = kept(out, attrs, n, PD_ATTR_ID);
	box->role = kept(out, attrs, n, PD_ATTR_ROLE);
	if (box->role.n == 0)
		box->role = type_name(kept(out, attrs, n, PD_ATTR_ITEMTYPE));
	if (box->role.n == 0)
		box->role = kept(out, attrs, n, PD_ATTR_ITEMPROP);
}

/* A box's edge: the run ends, and what follows stands on a line of its own. */
static void edge(struct pd_builder *b)
{
	pd_build_end_run(b);
	b->space = b->line = true;
}

static void open_box(struct pd_builder *b, enum pd_tag t, const struct pd_attr *attrs, size_t n, size_t markup)
{
	struct pd_blocks *out = b->out;
	uint32_t box = pd_build_frame(b)->box;
	bool own = out->n_boxes < PD_BOXES_MAX;
	edge(b);
	if (own)
		box = add_box(out, box, t);
	if (own && n)
		name_box(out, &out->boxes[box], attrs, n);
	push_frame(b, box, own, markup);
	b->pre += keeps_lines(t);
}

static void end_box(struct pd_blocks *out, uint32_t box)
{
	out->boxes[box].end = (uint32_t)out->n_boxes;
	out->boxes[box].end_run = (uint32_t)out->n_runs;
}

static void close_box(struct pd_builder *b, enum pd_tag t, size_t markup)
{
	edge(b);
	pd_claim(b, t, markup);
	if (pd_build_frame(b)->own)
		end_box(b->out, pd_build_frame(b)->box);
	b->n_frames--;
	b->pre -= keeps_lines(t);
}

static void open_link(struct pd_builder *b, const struct pd_attr *attrs, size_t n)
{
	struct pd_blocks *out = b->out;
	struct pd_span href = kept(out, attrs, n, PD_ATTR_HREF);
	b->links[b->n_links++] = b->link;
	if (href.n == 0 || out->n_links == PD_LINKS_MAX)
		return;
	pd_build_end_run(b);
	out->links = pd_grow(out->links, out->n_links, &out->cap_links, sizeof(*out->links));
	out->links[out->n_links] = (struct pd_link){
		.href = href,
		.rel = kept(out, attrs, n, PD_ATTR_REL),
		.block = PD_BLOCK_NONE,
	};
	b->link = (uint32_t)out->n_links++;
	pd_build_frame(b)->links++;
}

static void close_link(struct pd_builder *b)
{
	uint32_t around = b->links[--b->n_links];
	if (around != b->link)
		pd_build_end_run(b);
	b->link = around;
}

static void emphasise(struct pd_builder *b, int by)
{
	if ((b->emphasis > 0) != (b->emphasis + by > 0))
		pd_build_end_run(b);
	b->emphasis += by;
}

void pd_build_start(struct pd_builder *b, struct pd_blocks *out)
{
	b->out = out;
	b->n_frames = b->n_unclaimed = b->n_links = 0;
	b->link = PD_LINK_NONE;
	b->emphasis = b->pre = 0;
	b->in_run = b->space = b->line = false;
	push_frame(b, add_box(out, PD_BOX_NONE, PD_TAG_NONE), false, 0);
}

void pd_build_open(struct pd_builder *b, enum pd_tag t, const struct pd_attr *attrs, size_t n, size_t markup)
{
	if (breaks_text(t))
		open_box(b, t, attrs, n, markup);
	else if (t == PD_TAG_a)
		open_link(b, attrs, n);
	else if (t == PD_TAG_img && b->link != PD_LINK_NONE)
		b->out->links[b->link].has_image = true;
	else if (emphasis(t))
		emphasise(b, 1);
}

void pd_build_close(struct pd_builder *b, enum pd_tag t, size_t markup)
{
	if (breaks_text(t))
		close_box(b, t, markup);
	else if (t == PD_TAG_a)
		close_link(b);
	else if (emphasis(t))
		emphasise(b, -1);
}

void pd_build_end(struct pd_builder *b)
{
	pd_build_end_run(b);
	end_box(b->out, 0);
	pd_claim_order(b);
}
