/* SPDX-License-Identifier: MIT */
#include "page/packed.h"

/* A member more must be packed too. */
_Static_assert(sizeof(struct pd_run) == 28 && sizeof(struct pd_box) == 72 && sizeof(struct pd_block) == 40, "all is packed");
_Static_assert(sizeof(struct pd_blocks) == 280, "all is packed");
_Static_assert(sizeof(struct pd_meta) == 7 * sizeof(struct pd_span), "all is packed");

void pd_packed_number(struct pd_buf *out, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		pd_buf_add_c(out, (char)(n | 0x80));
	pd_buf_add_c(out, (char)n);
}

/* A difference of either sign: 0, -1, 1, -2 … */
static void add_signed(struct pd_buf *out, int64_t n)
{
	pd_packed_number(out, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

void pd_packed_span(struct pd_buf *out, struct pd_span s)
{
	pd_packed_number(out, s.n);
	pd_buf_add_span(out, s);
}

uint64_t pd_packed_next(struct pd_packed *p)
{
	uint64_t n = 0;
	for (int shift = 0; shift < 64 && p->at < p->end; shift += 7) {
		uint8_t c = (uint8_t)*p->at++;
		n |= (uint64_t)(c & 0x7F) << shift;
		if (c < 0x80)
			return n;
	}
	p->bad = true;
	p->at = p->end;
	return 0;
}

static int64_t next_signed(struct pd_packed *p)
{
	uint64_t n = pd_packed_next(p);
	return (int64_t)(n >> 1 ^ -(n & 1));
}

struct pd_span pd_packed_next_span(struct pd_packed *p)
{
	uint64_t n = pd_packed_next(p);
	if (n > (uint64_t)(p->end - p->at)) {
		p->bad = true;
		n = 0;
	}
	struct pd_span s = pd_span(p->at, n);
	if (n)
		p->at += n;
	return s;
}

static void pack_runs(const struct pd_blocks *b, struct pd_buf *out)
{
	uint32_t at = 0, box = 0;
	pd_packed_number(out, b->n_runs);
	for (size_t i = 0; i < b->n_runs; i++) {
		const struct pd_run *r = &b->runs[i];
		add_signed(out, (int64_t)r->at - at);
		pd_packed_number(out, r->n);
		pd_packed_number(out, r->n - r->chars);
		add_signed(out, (int64_t)r->box - box);
		pd_packed_number(out, r->block + 1);
		pd_packed_number(out, r->link + 1);
		pd_packed_number(out, r->flags);
		at = r->at + r->n;
		box = r->box;
	}
}

static void pack_boxes(const struct pd_blocks *b, struct pd_buf *out)
{
	uint32_t run = 0;
	pd_packed_number(out, b->n_boxes);
	for (size_t i = 0; i < b->n_boxes; i++) {
		const struct pd_box *x = &b->boxes[i];
		pd_packed_number(out, x->parent == PD_BOX_NONE ? 0 : i - x->parent);
		pd_packed_number(out, x->end - i);
		add_signed(out, (int64_t)x->first_run - run);
		pd_packed_number(out, x->end_run - x->first_run);
		pd_packed_number(out, x->block + 1);
		pd_packed_number(out, x->tag);
		pd_packed_number(out, x->depth);
		pd_packed_span(out, x->klass);
		pd_packed_span(out, x->ident);
		pd_packed_span(out, x->role);
		run = x->first_run;
	}
}

static void pack_m3(const struct pd_blocks *b, struct pd_buf *out)
{
	pd_packed_number(out, b->n_blocks);
	for (size_t i = 0; i < b->n_blocks; i++) {
		const struct pd_block *k = &b->blocks[i];
		pd_packed_number(out, k->box);
		pd_packed_number(out, k->title);
		pd_packed_number(out, k->chars);
		pd_packed_number(out, k->anchor_chars);
		pd_packed_number(out, k->levels);
		pd_packed_number(out, k->links);
		pd_packed_number(out, k->first_run);
		pd_packed_number(out, k->end_run - k->first_run);
	}
}

static void pack_links(const struct pd_blocks *b, struct pd_buf *out)
{
	pd_packed_number(out, b->n_links);
	for (size_t i = 0; i < b->n_links; i++) {
		const struct pd_link *l = &b->links[i];
		pd_packed_span(out, l->href);
		pd_packed_span(out, l->rel);
		pd_packed_number(out, l->block + 1);
		pd_packed_number(out, l->has_text | l->has_image << 1);
	}
}

static void pack_meta(const struct pd_meta *m, struct pd_buf *out)
{
	const struct pd_span all[] = { m->title, m->keywords, m->description, m->canonical, m->timestamp, m->lang, m->site_name };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		pd_packed_span(out, all[i]);
}

void pd_blocks_pack(const struct pd_blocks *b, struct pd_buf *out)
{
	pd_packed_span(out, pd_buf_span(&b->text));
	pack_runs(b, out);
	pack_boxes(b, out);
	pack_m3(b, out);
	pack_links(b, out);
	pack_meta(&b->meta, out);
	pd_packed_number(out, b->noscript | b->redirects << 1);
}

/* How many follow; each takes at least a byte. */
static size_t next_count(struct pd_packed *p)
{
	uint64_t n = pd_packed_next(p);
	if (n <= (uint64_t)(p->end - p->at))
		return n;
	p->bad = true;
	return 0;
}

static void unpack_runs(struct pd_packed *p, struct pd_blocks *b)
{
	uint32_t at = 0, box = 0;
	for (size_t n = next_count(p); b->n_runs < n; b->n_runs++) {
		b->runs = pd_grow(b->runs, b->n_runs, &b->cap_runs, sizeof *b->runs);
		struct pd_run *r = &b->runs[b->n_runs];
		*r = (struct pd_run){ .at = at + (uint32_t)next_signed(p), .n = (uint32_t)pd_packed_next(p) };
		r->chars = r->n - (uint32_t)pd_packed_next(p);
		r->box = box + (uint32_t)next_signed(p);
		r->block = (uint32_t)pd_packed_next(p) - 1;
		r->link = (uint32_t)pd_packed_next(p) - 1;
		r->flags = (uint32_t)pd_packed_next(p);
		at = r->at + r->n;
		box = r->box;
		p->bad |= (uint64_t)r->at + r->n > b->text.n;
	}
}

static void unpack_boxes(struct pd_packed *p, struct pd_blocks *b)
{
	uint32_t run = 0;
	for (size_t n = next_count(p); b->n_boxes < n; b->n_boxes++) {
		b->boxes = pd_grow(b->boxes, b->n_boxes, &b->cap_boxes, sizeof *b->boxes);
		struct pd_box *x = &b->boxes[b->n_boxes];
		uint32_t i = (uint32_t)b->n_boxes, up = (uint32_t)pd_packed_next(p);
		x->parent = up ? i - up : PD_BOX_NONE;
		x->end = i + (uint32_t)pd_packed_next(p);
		x->first_run = run + (uint32_t)next_signed(p);
		x->end_run = x->first_run + (uint32_t)pd_packed_next(p);
		x->block = (uint32_t)pd_packed_next(p) - 1;
		x->tag = (uint16_t)pd_packed_next(p);
		x->depth = (uint16_t)pd_packed_next(p);
		x->klass = pd_packed_next_span(p);
		x->ident = pd_packed_next_span(p);
		x->role = pd_packed_next_span(p);
		run = x->first_run;
		p->bad |= up > i || (!up) != (!i) || x->end <= i || x->end > n || x->first_run > x->end_run || x->end_run > b->n_runs;
		p->bad |= x->tag >= PD_TAG_COUNT;
	}
}

static void unpack_m3(struct pd_packed *p, struct pd_blocks *b)
{
	for (size_t n = next_count(p); b->n_blocks < n; b->n_blocks++) {
		b->blocks = pd_grow(b->blocks, b->n_blocks, &b->cap_blocks, sizeof *b->blocks);
		struct pd_block *k = &b->blocks[b->n_blocks];
		*k = (struct pd_block){ .box = (uint32_t)pd_packed_next(p), .title = pd_packed_next(p) != 0 };
		k->chars = (uint32_t)pd_packed_next(p);
		k->anchor_chars = (uint32_t)pd_packed_next(p);
		k->levels = (uint32_t)pd_packed_next(p);
		k->links = (uint32_t)pd_packed_next(p);
		k->first_run = (uint32_t)pd_packed_next(p);
		k->end_run = k->first_run + (uint32_t)pd_packed_next(p);
		p->bad |= k->box >= b->n_boxes || k->first_run > k->end_run || k->end_run > b->n_runs;
	}
}

static void unpack_links(struct pd_packed *p, struct pd_blocks *b)
{
	for (size_t n = next_count(p); b->n_links < n; b->n_links++) {
		b->links = pd_grow(b->links, b->n_links, &b->cap_links, sizeof *b->links);
		struct pd_link *l = &b->links[b->n_links];
		l->href = pd_packed_next_span(p);
		l->rel = pd_packed_next_span(p);
		l->block = (uint32_t)pd_packed_next(p) - 1;
		uint64_t has = pd_packed_next(p);
		l->has_text = has & 1;
		l->has_image = has >> 1 & 1;
	}
}

static void unpack_meta(struct pd_packed *p, struct pd_meta *m)
{
	struct pd_span *const all[] = { &m->title, &m->keywords, &m->description, &m->canonical, &m->timestamp, &m->lang, &m->site_name };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		*all[i] = pd_packed_next_span(p);
}

/* What stood before what it refers to. */
static bool refers_well(const struct pd_blocks *b)
{
	bool bad = b->n_runs && !b->n_boxes;
	for (size_t i = 0; i < b->n_runs; i++) {
		const struct pd_run *r = &b->runs[i];
		bad |= r->box >= b->n_boxes || (r->block != PD_BLOCK_NONE && r->block >= b->n_blocks) ||
		       (r->link != PD_LINK_NONE && r->link >= b->n_links);
	}
	for (size_t i = 0; i < b->n_boxes; i++)
		bad |= b->boxes[i].block != PD_BLOCK_NONE && b->boxes[i].block >= b->n_blocks;
	for (size_t i = 0; i < b->n_links; i++)
		bad |= b->links[i].block != PD_BLOCK_NONE && b->links[i].block >= b->n_blocks;
	return !bad;
}

bool pd_blocks_unpack(struct pd_packed *p, struct pd_blocks *out)
{
	pd_blocks_clear(out);
	pd_buf_set(&out->text, pd_packed_next_span(p));
	unpack_runs(p, out);
	unpack_boxes(p, out);
	unpack_m3(p, out);
	unpack_links(p, out);
	unpack_meta(p, &out->meta);
	uint64_t flags = pd_packed_next(p);
	out->noscript = flags & 1;
	out->redirects = flags >> 1 & 1;
	return !p->bad && refers_well(out);
}
