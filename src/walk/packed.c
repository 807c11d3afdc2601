/* SPDX-License-Identifier: MIT */
#include "walk/packed.h"

#include "base/codec.h"
#include "text/text.h"

/* A member more must be packed too. */
_Static_assert(sizeof(struct pd_run) == 28 && sizeof(struct pd_box) == 72 && sizeof(struct pd_block) == 40, "all is packed");
_Static_assert(sizeof(struct pd_blocks) == 296 && sizeof(struct pd_link) == 80, "all is packed");
_Static_assert(sizeof(struct pd_meta) == 7 * sizeof(struct pd_span), "all is packed");

static inline void put_number(struct pd_buf *out, uint64_t n)
{
	char *to = pd_buf_reserve(out, 10);
	for (; n >= 0x80; n >>= 7)
		*to++ = (char)(n | 0x80);
	*to++ = (char)n;
	out->n = (size_t)(to - out->p);
}

/* A difference of either sign: 0, -1, 1, -2 … */
static void put_signed(struct pd_buf *out, int64_t n)
{
	put_number(out, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

static void put_span(struct pd_buf *out, struct pd_span s)
{
	put_number(out, s.n);
	pd_buf_add_span(out, s);
}

static uint64_t next_long_number(struct pd_packed *p)
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

/* Most are of one byte. */
static inline uint64_t next_number(struct pd_packed *p)
{
	return p->at < p->end && (uint8_t)*p->at < 0x80 ? (uint8_t)*p->at++ : next_long_number(p);
}

static int64_t next_signed(struct pd_packed *p)
{
	uint64_t n = next_number(p);
	return (int64_t)(n >> 1 ^ -(n & 1));
}

/* Borrowed from the bytes. */
static struct pd_span next_span(struct pd_packed *p)
{
	uint64_t n = next_number(p);
	if (n > (uint64_t)(p->end - p->at)) {
		p->bad = true;
		n = 0;
	}
	struct pd_span s = pd_span(p->at, n);
	if (n)
		p->at += n;
	return s;
}

static void pack_runs(const struct pd_blocks *b, bool links, struct pd_buf *out)
{
	uint32_t at = 0, box = 0;
	put_number(out, b->n_runs);
	for (size_t i = 0; i < b->n_runs; i++) {
		const struct pd_run *r = &b->runs[i];
		put_signed(out, (int64_t)r->at - at);
		put_number(out, r->n);
		put_number(out, r->n - r->chars);
		put_signed(out, (int64_t)r->box - box);
		put_number(out, r->block + 1);
		put_number(out, links ? r->link + 1 : 0);
		put_number(out, r->flags);
		at = r->at + r->n;
		box = r->box;
	}
}

static void pack_boxes(const struct pd_blocks *b, struct pd_buf *out)
{
	uint32_t run = 0;
	put_number(out, b->n_boxes);
	for (size_t i = 0; i < b->n_boxes; i++) {
		const struct pd_box *x = &b->boxes[i];
		put_number(out, x->parent == PD_BOX_NONE ? 0 : i - x->parent);
		put_number(out, x->end - i);
		put_signed(out, (int64_t)x->first_run - run);
		put_number(out, x->end_run - x->first_run);
		put_number(out, x->block + 1);
		put_number(out, x->tag);
		put_number(out, x->depth);
		put_span(out, x->klass);
		put_span(out, x->ident);
		put_span(out, x->role);
		run = x->first_run;
	}
}

static void pack_m3(const struct pd_blocks *b, struct pd_buf *out)
{
	put_number(out, b->n_blocks);
	for (size_t i = 0; i < b->n_blocks; i++) {
		const struct pd_block *k = &b->blocks[i];
		put_number(out, k->box);
		put_number(out, k->title);
		put_number(out, k->chars);
		put_number(out, k->anchor_chars);
		put_number(out, k->levels);
		put_number(out, k->links);
		put_number(out, k->first_run);
		put_number(out, k->end_run - k->first_run);
	}
}

static void pack_links(const struct pd_blocks *b, size_t n, struct pd_buf *out)
{
	put_number(out, n);
	for (size_t i = 0; i < n; i++) {
		const struct pd_link *l = &b->links[i];
		put_span(out, l->href);
		put_span(out, l->rel);
		put_span(out, l->alt);
		put_span(out, l->hidden_text);
		put_number(out, l->block + 1);
		put_number(out, l->box);
		put_number(out, l->run);
		put_number(out, l->has_text | l->has_image << 1 | l->hidden << 2 | l->frame << 3);
	}
}

static void pack_meta(const struct pd_meta *m, struct pd_buf *out)
{
	const struct pd_span all[] = { m->title, m->keywords, m->description, m->canonical, m->timestamp, m->lang, m->site_name };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		put_span(out, all[i]);
}

void pd_blocks_pack(const struct pd_blocks *b, bool links, struct pd_buf *out)
{
	put_span(out, pd_buf_span(&b->text));
	pack_runs(b, links, out);
	pack_boxes(b, out);
	pack_m3(b, out);
	pack_links(b, links ? b->n_links : 0, out);
	pack_meta(&b->meta, out);
	put_span(out, b->base);
	put_number(out, b->noscript | b->redirects << 1);
}

/* How many follow; each takes at least a byte. */
static size_t next_count(struct pd_packed *p)
{
	uint64_t n = next_number(p);
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
		*r = (struct pd_run){ .at = at + (uint32_t)next_signed(p), .n = (uint32_t)next_number(p) };
		r->chars = r->n - (uint32_t)next_number(p);
		r->box = box + (uint32_t)next_signed(p);
		r->block = (uint32_t)next_number(p) - 1;
		r->link = (uint32_t)next_number(p) - 1;
		r->flags = (uint32_t)next_number(p);
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
		uint32_t i = (uint32_t)b->n_boxes, up = (uint32_t)next_number(p);
		x->parent = up ? i - up : PD_BOX_NONE;
		x->end = i + (uint32_t)next_number(p);
		x->first_run = run + (uint32_t)next_signed(p);
		x->end_run = x->first_run + (uint32_t)next_number(p);
		x->block = (uint32_t)next_number(p) - 1;
		x->tag = (uint16_t)next_number(p);
		x->depth = (uint16_t)next_number(p);
		x->klass = next_span(p);
		x->ident = next_span(p);
		x->role = next_span(p);
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
		*k = (struct pd_block){ .box = (uint32_t)next_number(p), .title = next_number(p) != 0 };
		k->chars = (uint32_t)next_number(p);
		k->anchor_chars = (uint32_t)next_number(p);
		k->levels = (uint32_t)next_number(p);
		k->links = (uint32_t)next_number(p);
		k->first_run = (uint32_t)next_number(p);
		k->end_run = k->first_run + (uint32_t)next_number(p);
		p->bad |= k->box >= b->n_boxes || k->first_run > k->end_run || k->end_run > b->n_runs;
	}
}

static void unpack_links(struct pd_packed *p, struct pd_blocks *b)
{
	for (size_t n = next_count(p); b->n_links < n; b->n_links++) {
		b->links = pd_grow(b->links, b->n_links, &b->cap_links, sizeof *b->links);
		struct pd_link *l = &b->links[b->n_links];
		l->href = next_span(p);
		l->rel = next_span(p);
		l->alt = next_span(p);
		l->hidden_text = next_span(p);
		l->block = (uint32_t)next_number(p) - 1;
		l->box = (uint32_t)next_number(p);
		l->run = (uint32_t)next_number(p);
		uint64_t has = next_number(p);
		l->has_text = has & 1;
		l->has_image = has >> 1 & 1;
		l->hidden = has >> 2 & 1;
		l->frame = has >> 3 & 1;
		p->bad |= l->box >= b->n_boxes || l->run > b->n_runs;
	}
}

static void unpack_meta(struct pd_packed *p, struct pd_meta *m)
{
	struct pd_span *const all[] = { &m->title, &m->keywords, &m->description, &m->canonical, &m->timestamp, &m->lang, &m->site_name };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		*all[i] = next_span(p);
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
	pd_buf_set(&out->text, next_span(p));
	unpack_runs(p, out);
	unpack_boxes(p, out);
	unpack_m3(p, out);
	unpack_links(p, out);
	unpack_meta(p, &out->meta);
	out->base = next_span(p);
	uint64_t flags = next_number(p);
	out->noscript = flags & 1;
	out->redirects = flags >> 1 & 1;
	return !p->bad && refers_well(out);
}

static void pack_plain(const struct pd_pipeline *p, struct pd_buf *out)
{
	const struct pd_page *g = &p->page;
	const struct pd_span spans[] = { g->id, g->url, g->fetch_time, g->digest, g->user_id, g->content_type, g->charset };
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
		put_span(out, spans[i]);
	put_number(out, g->type);
	put_number(out, (uint64_t)g->status);
	put_number(out, g->flags);
	put_span(out, pd_buf_span(&p->content_digest));
	for (int i = 0; i < p->tables->methods.n; i++)	/* those that are known already: they read the body, which does not come along */
		put_span(out, p->by_method[i].present ? pd_buf_span(&p->by_method[i].column) : pd_span("", 0));
	put_number(out, p->text.charset->id);
	put_number(out, p->text.how);
	put_number(out, p->text.replaced);
	pd_blocks_pack(&p->blocks, p->link_finder != NULL, out);
	put_span(out, pd_buf_span(&p->known));
}

void pd_packed_write(struct pd_buf *plain, const struct pd_pipeline *p, bool smaller, struct pd_buf *out)
{
	pd_buf_clear(plain);
	pack_plain(p, plain);
	pd_block_pack(pd_buf_span(plain), smaller, out);
}

static bool unpack_plain(struct pd_span bytes, struct pd_pipeline *p)
{
	struct pd_packed in = { bytes.p, bytes.p + bytes.n, false };
	struct pd_page *g = &p->page;
	*g = (struct pd_page){ 0 };
	struct pd_span *const spans[] = { &g->id, &g->url, &g->fetch_time, &g->digest, &g->user_id, &g->content_type, &g->charset };
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
		*spans[i] = next_span(&in);
	g->type = (enum pd_page_type)next_number(&in);
	g->status = (int)next_number(&in);
	g->flags = (unsigned)next_number(&in);
	pd_buf_set(&p->content_digest, next_span(&in));
	for (int i = 0; i < p->tables->methods.n; i++) {
		pd_buf_set(&p->by_method[i].column, next_span(&in));
		p->by_method[i].present = p->by_method[i].column.n > 0;
	}
	p->text.utf8 = pd_span(NULL, 0);
	p->text.charset = pd_charset_by_id((enum pd_charset_id)next_number(&in));
	p->text.how = (enum pd_charset_how)next_number(&in);
	p->text.replaced = next_number(&in);
	bool whole = pd_blocks_unpack(&in, &p->blocks) && p->text.charset;
	pd_buf_set(&p->known, next_span(&in));
	return whole && !in.bad && in.at == in.end && pd_topic_recall(p->finder, &p->blocks, pd_buf_span(&p->known));
}

bool pd_packed_read(struct pd_buf *plain, struct pd_span bytes, struct pd_pipeline *p)
{
	pd_buf_clear(plain);
	return pd_block_unpack(bytes, plain) && unpack_plain(pd_buf_span(plain), p);
}
