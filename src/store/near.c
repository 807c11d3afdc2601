/* SPDX-License-Identifier: MIT
 *
 * A question becomes one probe for each bucket that it has to look at.  Probes go through three steps, WINDOW of them at a
 * time: ask for the bucket's start, ask for its keys, compare.
 */
#include "store/near.h"

#include <stdlib.h>

#include "match/permute.h"

enum { WINDOW = 32 };

/* A table of a segment, for questions of one k. */
struct probing {
	struct pd_near *near;
	struct pd_segment *s;
	const struct pd_questions *q;
	struct pd_cut cut;
	int radius[PD_STORE_TABLES_MAX];
	int table;
	uint64_t at;			/* of the table in the file */
	struct pd_table_layout l;
	const uint32_t *starts;
	struct pd_columns columns;
	struct {
		uint32_t question, bucket;
		uint32_t from, to;
	} probe[WINDOW];
	int n;
	struct pd_err *e;
};

const uint32_t *pd_near_masks(struct pd_near *near, int n_bits, int radius, size_t *n)
{
	if (radius > n_bits)
		radius = n_bits;
	if (!near->masks[n_bits][radius].v)
		near->masks[n_bits][radius].n = pd_cut_masks(n_bits, radius, &near->masks[n_bits][radius].v);
	*n = near->masks[n_bits][radius].n;
	return near->masks[n_bits][radius].v;
}

const struct pd_scan_loops *pd_near_scan(struct pd_near *near, int bits)
{
	if (!near->scan)
		near->scan = pd_scan_best();
	return &near->scan->by[pd_scan_width_of(bits)];
}

bool pd_near_earlier(struct pd_cut cut, const int *radius, int table, const uint64_t *x)
{
	for (int t = 0; t < table; t++)
		if (radius[t] >= 0 && (!cut.n_bits ||
		    __builtin_popcountll(pd_bits_get(x, t * cut.n_bits, cut.n_bits)) <= radius[t]))
			return true;
	return false;
}

static int take_hit(struct probing *p, const struct pd_hit *h)
{
	struct pd_near *near = p->near;
	uint64_t x[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		x[w] = p->q->keys.w[w][h->a] ^ p->columns.w[w][h->b];
	if (pd_near_earlier(p->cut, p->radius, p->table, x))
		return PD_OK;
	uint64_t at = p->at + p->l.part[PD_TABLE_ROWS] + h->b * UINT64_C(4);
	if (pd_segment_check(p->s, at, 4, p->e))
		return PD_ERR_FORMAT;
	uint32_t row = pd_get32(p->s->map.p + at);
	if (row >= p->s->f.rows)
		return pd_segment_damaged(p->s, at, "a table leads out of the segment", p->e);
	near->v = pd_grow(near->v, near->n, &near->cap, sizeof *near->v);
	near->v[near->n++] = (struct pd_near_hit){ h->a, row, h->distance };
	return PD_OK;
}

static int check_keys(struct probing *p, uint32_t from, uint32_t to)
{
	for (int w = 0; w < p->q->bits / 64; w++)
		if (pd_segment_check(p->s, p->at + p->l.part[PD_TABLE_KEYS] + (p->l.stride * (unsigned)w + from) * 8,
				     (to - from) * UINT64_C(8), p->e))
			return PD_ERR_FORMAT;
	return PD_OK;
}

static int compare(struct probing *p, int i)
{
	uint32_t from = p->probe[i].from, to = p->probe[i].to, a = p->probe[i].question;
	struct pd_hits *hits = &p->near->hits;
	int status = check_keys(p, from, to);
	hits->n = 0;
	if (!status)
		pd_near_scan(p->near, p->q->bits)->cross((struct pd_key_run){ &p->q->keys, a, a + 1 },
							 (struct pd_key_run){ &p->columns, from, to }, p->q->k, hits);
	for (size_t h = 0; !status && h < hits->n; h++)
		status = take_hit(p, &hits->v[h]);
	return status;
}

static int open_bucket(struct probing *p, int i)
{
	uint32_t b = p->probe[i].bucket;
	if (pd_segment_check(p->s, p->at + b * UINT64_C(4), 8, p->e))
		return PD_ERR_FORMAT;
	p->probe[i].from = p->starts[b];
	p->probe[i].to = p->starts[b + 1];
	if (p->starts[b] > p->starts[b + 1] || p->starts[b + 1] > p->s->f.prints)
		return pd_segment_damaged(p->s, p->at + b * UINT64_C(4), "a bucket leads out of its table", p->e);
	for (int w = 0; w < p->q->bits / 64; w++)
		__builtin_prefetch(p->columns.w[w] + p->probe[i].from);
	return PD_OK;
}

static int answer_window(struct probing *p)
{
	int status = PD_OK;
	for (int i = 0; !status && i < p->n; i++)
		status = open_bucket(p, i);
	for (int i = 0; !status && i < p->n; i++)
		if (p->probe[i].from < p->probe[i].to)
			status = compare(p, i);
	p->n = 0;
	return status;
}

static int add_probe(struct probing *p, size_t question, uint32_t bucket)
{
	p->probe[p->n].question = (uint32_t)question;
	p->probe[p->n].bucket = bucket;
	__builtin_prefetch(p->starts + bucket);
	return ++p->n < WINDOW ? PD_OK : answer_window(p);
}

static uint32_t block_of(const struct probing *p, size_t question)
{
	uint64_t key[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		key[w] = p->q->keys.w[w][question];
	return p->cut.n_bits ? (uint32_t)pd_bits_get(key, p->table * p->cut.n_bits, p->cut.n_bits) : 0;
}

static int probe_table(struct probing *p)
{
	size_t n_masks;
	const uint32_t *masks = pd_near_masks(p->near, p->cut.n_bits, p->radius[p->table], &n_masks);
	const uint8_t *base = p->s->map.p + p->at;
	int status = PD_OK;
	p->starts = (const uint32_t *)base;
	for (int w = 0; w < p->q->bits / 64; w++)
		p->columns.w[w] = (uint64_t *)(uintptr_t)(base + p->l.part[PD_TABLE_KEYS]) + p->l.stride * (unsigned)w;
	for (size_t i = 0; !status && i < p->q->n; i++) {
		uint32_t block = block_of(p, i);
		for (size_t m = 0; !status && m < n_masks; m++)
			status = add_probe(p, i, block ^ masks[m]);
	}
	return status ? status : answer_window(p);
}

int pd_near_segment(struct pd_near *near, struct pd_segment *s, const struct pd_questions *q, struct pd_err *e)
{
	struct probing p = { .near = near, .s = s, .q = q, .e = e };
	int status = PD_OK;
	p.cut = (struct pd_cut){ (int)s->f.tables, (int)s->f.table_bits };
	pd_cut_radii(p.cut, q->k, p.radius);
	pd_table_layout(&s->f, &p.l);
	for (p.table = 0; !status && s->f.prints && p.table < p.cut.n_blocks; p.table++) {
		p.at = s->f.section[PD_SEG_TABLES].at + p.l.bytes * (unsigned)p.table;
		if (p.radius[p.table] >= 0)
			status = probe_table(&p);
	}
	return status;
}

void pd_near_release(struct pd_near *near)
{
	for (int w = 0; w <= PD_CUT_BITS_MAX; w++)
		for (int r = 0; r <= PD_CUT_BITS_MAX; r++)
			free(near->masks[w][r].v);
	free(near->v);
	free(near->hits.v);
	*near = (struct pd_near){ 0 };
}
