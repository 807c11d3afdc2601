/* SPDX-License-Identifier: MIT
 *
 * In this order: the stack of open elements; runs of text; the patent's blocks; boxes and links; the events.
 */
#include "page/build.h"

#include <stdlib.h>

/* An open element that breaks text, with what stands in it and no block has. */
struct frame {
	uint32_t box;		/* itself, or the box around it when there are too many boxes */
	bool own;		/* `box` is itself */
	uint32_t mark;		/* its runs begin here in `unassigned` */
	uint32_t chars, anchor_chars, levels, links;
	size_t markup_at;
};

struct pd_builder {
	uint32_t min_chars, min_levels;	/* of a block: more than */
	struct pd_blocks *out;
	struct frame frames[PD_DEPTH_MAX + 1];
	size_t n_frames;
	uint32_t *unassigned;		/* runs that no block has yet */
	size_t n_unassigned, cap_unassigned;
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

static struct frame *innermost(struct pd_builder *b)
{
	return &b->frames[b->n_frames - 1];
}

struct pd_builder *pd_builder_new(int min_chars, int min_levels)
{
	struct pd_builder *b = pd_zalloc(sizeof *b);
	b->min_chars = (uint32_t)min_chars;
	b->min_levels = (uint32_t)min_levels;
	return b;
}

void pd_builder_free(struct pd_builder *b)
{
	if (!b)
		return;
	free(b->unassigned);
	free(b->order);
	free(b->sorted);
	free(b);
}

/*
 * Text events -> runs: white space collapsed, ends trimmed, blank runs never begun, code points counted on the way.
 * A run goes on through inline tags, and ends where a box begins or ends, or where links, emphasis or <pre> change.
 */

/* The bytes that white space may begin with: controls, and the first bytes of U+0085, U+00A0, U+1680, U+2000 … and
 * U+3000, U+FEFF. */
static const bool maybe_white[256] = {
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	[0xC2] = 1, [0xE1] = 1, [0xE2] = 1, [0xE3] = 1, [0xEF] = 1,
};

static bool wide_white(const uint8_t *p)
{
	switch (p[0]) {
	case 0xE1:
		return p[1] == 0x9A && p[2] == 0x80;
	case 0xE2:
		return (p[1] == 0x80 && (p[2] <= 0x8A || p[2] == 0xA8 || p[2] == 0xA9 || p[2] == 0xAF)) ||
		       (p[1] == 0x81 && p[2] == 0x9F);
	case 0xE3:
		return p[1] == 0x80 && p[2] == 0x80;
	default:
		return p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF;
	}
}

/* Bytes of the white space character (a control counts as one) at p, 0 when there is none. */
static size_t white(const uint8_t *p, const uint8_t *end)
{
	if (p[0] <= ' ')
		return 1;
	if (p[0] == 0xC2)
		return end - p >= 2 && (p[1] == 0xA0 || p[1] == 0x85) ? 2 : 0;
	return end - p >= 3 && wide_white(p) ? 3 : 0;
}

static void end_run(struct pd_builder *b)
{
	struct pd_blocks *out = b->out;
	if (!b->in_run)
		return;
	b->in_run = false;
	const struct pd_run *r = &out->runs[out->n_runs - 1];
	struct frame *f = innermost(b);
	f->chars += r->chars;
	if (r->flags & PD_RUN_LINK)
		f->anchor_chars += r->chars;
	b->unassigned = pd_grow(b->unassigned, b->n_unassigned, &b->cap_unassigned, sizeof(*b->unassigned));
	b->unassigned[b->n_unassigned++] = (uint32_t)(out->n_runs - 1);
}

static void begin_run(struct pd_builder *b)
{
	struct pd_blocks *out = b->out;
	out->runs = pd_grow(out->runs, out->n_runs, &out->cap_runs, sizeof(*out->runs));
	uint32_t flags = (b->link != PD_LINK_NONE ? PD_RUN_LINK : 0) | (b->emphasis ? PD_RUN_EMPHASIS : 0) |
			 (b->pre ? PD_RUN_PRE : 0) | (b->space || b->line ? PD_RUN_SPACE : 0) |
			 (b->line ? PD_RUN_LINE : 0);
	out->runs[out->n_runs++] = (struct pd_run){
		.at = (uint32_t)out->text.n,
		.box = innermost(b)->box,
		.block = PD_BLOCK_NONE,
		.link = b->link,
		.flags = flags,
	};
	b->in_run = true;
}

/* A character that is not white comes next: `to` is where the text goes, returned moved on. */
static char *before_character(struct pd_builder *b, char *to, uint32_t *chars)
{
	if (!b->in_run) {
		begin_run(b);
	} else if (b->space) {
		*to++ = b->line ? '\n' : ' ';
		++*chars;
	}
	b->space = b->line = false;
	return to;
}

void pd_build_text(struct pd_builder *b, struct pd_span s)
{
	struct pd_blocks *out = b->out;
	const uint8_t *p = (const uint8_t *)s.p, *end = p + s.n;
	if (out->n_runs == PD_RUNS_MAX && !b->in_run)
		return;
	char *start = pd_buf_reserve(&out->text, s.n + 1), *to = start;
	uint32_t chars = 0;
	while (p < end) {
		size_t k = maybe_white[*p] ? white(p, end) : 0;
		if (k) {
			b->space = true;
			b->line |= b->pre && *p == '\n';
			p += k;
			continue;
		}
		if (b->space || !b->in_run)
			to = before_character(b, to, &chars);
		do {
			chars += (*p & 0xC0) != 0x80;
			*to++ = (char)*p++;
		} while (p < end && !maybe_white[*p]);
	}
	if (to == start)
		return;
	struct pd_run *r = &out->runs[out->n_runs - 1];
	r->n += (uint32_t)(to - start);
	r->chars += chars;
	out->text.n += (size_t)(to - start);
	*to = 0;
}

/*
 * M3 (module 210), the rule itself.  Leaves first: an element's end comes after the ends of all that is in it, so the frames of
 * open elements and the stack of runs that no block has yet are all that is needed.  A block takes the runs above its frame's
 * mark; an element that is none leaves them, and its counts, to the one around it.
 */

static bool qualifies(const struct pd_builder *b, const struct frame *f, enum pd_tag_class c)
{
	if (!f->own)
		return false;
	if (c == PD_CLASS_TITLE)
		return f->chars > 0;
	return c == PD_CLASS_BLOCK &&
	       (f->chars > b->min_chars || f->levels > b->min_levels);
}

static void become_block(struct pd_builder *b, const struct frame *f, bool title, size_t markup)
{
	struct pd_blocks *out = b->out;
	uint32_t index = (uint32_t)out->n_blocks, first = (uint32_t)out->n_runs, end = first;
	if (b->n_unassigned > f->mark) {
		first = b->unassigned[f->mark];
		end = b->unassigned[b->n_unassigned - 1] + 1;
	}
	for (size_t i = f->mark; i < b->n_unassigned; i++)
		out->runs[b->unassigned[i]].block = index;
	b->n_unassigned = f->mark;
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

static void pass_up(const struct frame *f, struct frame *parent)
{
	parent->chars += f->chars;
	parent->anchor_chars += f->anchor_chars;
	parent->levels += f->levels;
	parent->links += f->links;
}

static void assign_runs(struct pd_builder *b, enum pd_tag t, size_t markup)
{
	const struct frame *f = innermost(b);
	enum pd_tag_class c = pd_tag_class(t);
	if (qualifies(b, f, c)) {
		become_block(b, f, c == PD_CLASS_TITLE, markup);
		return;
	}
	struct frame *parent = &b->frames[b->n_frames - 2];
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

static void order_blocks(struct pd_builder *b)
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

/*
 * Open and close events -> boxes and links; a frame for each open element that breaks text.
 */

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
	b->frames[b->n_frames++] = (struct frame){
		.box = box,
		.own = own,
		.mark = (uint32_t)b->n_unassigned,
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
	end_run(b);
	b->space = b->line = true;
}

static void open_box(struct pd_builder *b, enum pd_tag t, const struct pd_attr *attrs, size_t n, size_t markup)
{
	struct pd_blocks *out = b->out;
	uint32_t box = innermost(b)->box;
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
	assign_runs(b, t, markup);
	if (innermost(b)->own)
		end_box(b->out, innermost(b)->box);
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
	end_run(b);
	out->links = pd_grow(out->links, out->n_links, &out->cap_links, sizeof(*out->links));
	out->links[out->n_links] = (struct pd_link){
		.href = href,
		.rel = kept(out, attrs, n, PD_ATTR_REL),
		.block = PD_BLOCK_NONE,
	};
	b->link = (uint32_t)out->n_links++;
	innermost(b)->links++;
}

static void close_link(struct pd_builder *b)
{
	uint32_t around = b->links[--b->n_links];
	if (around != b->link)
		end_run(b);
	b->link = around;
}

static void emphasise(struct pd_builder *b, int by)
{
	if ((b->emphasis > 0) != (b->emphasis + by > 0))
		end_run(b);
	b->emphasis += by;
}

void pd_build_start(struct pd_builder *b, struct pd_blocks *out)
{
	b->out = out;
	b->n_frames = b->n_unassigned = b->n_links = 0;
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
	end_run(b);
	end_box(b->out, 0);
	order_blocks(b);
}
