/* SPDX-License-Identifier: MIT
 *
 * A question becomes one probe for each bucket that it has to look at.  Probes go through three steps, WINDOW of them at a
 * time: ask for the bucket's start, ask for its keys, compare.
 */
#include "store/near_probing.h"

#include <stdlib.h>

#include "join/bits.h"

enum { LINE = 8, FETCH = 32 * LINE };	/* keys of a cache line; of a bucket, that are asked for */

const uint32_t *pd_near_masks(struct pd_near *near, int n_bits, int radius, size_t *n)
{
	if (radius > n_bits)
		radius = n_bits;
	if (!near->masks[n_bits][radius].v)
		near->masks[n_bits][radius].n = pd_cut_masks(n_bits, radius, &near->masks[n_bits][radius].v);
	*n = near->masks[n_bits][radius].n;
	return near->masks[n_bits][radius].v;
}

void pd_near_cross(struct pd_near *near, int bits, struct pd_join_run a, struct pd_join_run b, int k)
{
	if (!near->scan)
		near->scan = pd_join_scan_best();
	near->hits.n = 0;
	near->scan->by[pd_join_scan_width_of(bits)].cross(a, b, k, &near->hits);
}

bool pd_near_earlier(struct pd_apply_rewrite cut, const int *radius, int table, const uint64_t *x)
{
	for (int t = 0; t < table; t++)
		if (radius[t] >= 0 && (!cut.n_bits ||
		    __builtin_popcountll(pd_bits_get(x, t * cut.n_bits, cut.n_bits)) <= radius[t]))
			return true;
	return false;
}

int pd_probing_hit(struct pd_probing *p, uint32_t question, uint32_t place, uint32_t distance)
{
	struct pd_near *near = p->near;
	uint64_t x[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		x[w] = p->q->keys.w[w][question] ^ p->columns.w[w][place];
	if (pd_near_earlier(p->cut, p->radius, p->table, x))
		return PD_OK;
	uint64_t at = p->at + p->l.part[PD_TABLE_ROWS] + place * UINT64_C(4);
	if (pd_segment_check(p->s, at, 4, p->e))
		return PD_ERR_FORMAT;
	uint32_t row = pd_get32(p->s->map.p + at);
	if (row >= p->s->f.rows)
		return pd_segment_damaged(p->s, at, "a table leads out of the segment", p->e);
	near->v = pd_grow(near->v, near->n, &near->cap, sizeof *near->v);
	near->v[near->n++] = (struct pd_near_hit){ question, row, distance };
	return PD_OK;
}

int pd_probing_check(struct pd_probing *p, uint32_t from, uint32_t to)
{
	for (int w = 0; w < p->q->bits / 64; w++)
		if (pd_segment_check(p->s, p->at + p->l.part[PD_TABLE_KEYS] + (p->l.stride * (unsigned)w + from) * 8,
				     (to - from) * UINT64_C(8), p->e))
			return PD_ERR_FORMAT;
	return PD_OK;
}

static int compare(struct pd_probing *p, int i)
{
	uint32_t from = p->probe[i].from, to = p->probe[i].to, a = p->probe[i].question;
	struct pd_join_hits *hits = &p->near->hits;
	int status = pd_probing_check(p, from, to);
	hits->n = 0;
	if (!status)
		pd_near_cross(p->near, p->q->bits, (struct pd_join_run){ &p->q->keys, a, a + 1 },
			      (struct pd_join_run){ &p->columns, from, to }, p->q->k);
	for (size_t h = 0; !status && h < hits->n; h++)
		status = pd_probing_hit(p, a, hits->v[h].b, hits->v[h].distance);
	return status;
}

int pd_probing_bucket(struct pd_probing *p, uint32_t bucket, uint32_t *from, uint32_t *to)
{
	if (pd_segment_check(p->s, p->at + bucket * UINT64_C(4), 8, p->e))
		return PD_ERR_FORMAT;
	*from = p->starts[bucket];
	*to = p->starts[bucket + 1];
	if (*from > *to || *to > p->s->f.prints)
		return pd_segment_damaged(p->s, p->at + bucket * UINT64_C(4), "a bucket leads out of its table", p->e);
	return PD_OK;
}

static int open_bucket(struct pd_probing *p, int i)
{
	uint32_t from, to;
	int status = pd_probing_bucket(p, p->probe[i].bucket, &from, &to);
	if (status)
		return status;
	for (int w = 0; w < p->q->bits / 64; w++)
		for (uint32_t at = from; at < to && at < from + FETCH; at += LINE)
			__builtin_prefetch(p->columns.w[w] + at);
	p->probe[i].from = from;
	p->probe[i].to = to;
	return PD_OK;
}

static int answer_window(struct pd_probing *p)
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

static int add_probe(struct pd_probing *p, size_t question, uint32_t bucket)
{
	p->probe[p->n].question = (uint32_t)question;
	p->probe[p->n].bucket = bucket;
	__builtin_prefetch(p->starts + bucket);
	return ++p->n < PD_NEAR_WINDOW ? PD_OK : answer_window(p);
}

uint32_t pd_probing_block(const struct pd_probing *p, size_t question)
{
	uint64_t key[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		key[w] = p->q->keys.w[w][question];
	return p->cut.n_bits ? (uint32_t)pd_bits_get(key, p->table * p->cut.n_bits, p->cut.n_bits) : 0;
}

static int probe_table(struct pd_probing *p)
{
	size_t n_masks;
	const uint32_t *masks = pd_near_masks(p->near, p->cut.n_bits, p->radius[p->table], &n_masks);
	const uint8_t *base = p->s->map.p + p->at;
	int status = PD_OK;
	p->starts = (const uint32_t *)base;
	for (int w = 0; w < p->q->bits / 64; w++)
		p->columns.w[w] = (uint64_t *)(uintptr_t)(base + p->l.part[PD_TABLE_KEYS]) + p->l.stride * (unsigned)w;
	if (pd_probing_sorts(p, n_masks))
		return pd_probing_sorted(p, masks, n_masks);
	for (size_t i = 0; !status && i < p->q->n; i++) {
		uint32_t block = pd_probing_block(p, i);
		for (size_t m = 0; !status && m < n_masks; m++)
			status = add_probe(p, i, block ^ masks[m]);
	}
	return status ? status : answer_window(p);
}

int pd_near_segment(struct pd_near *near, struct pd_segment *s, const struct pd_questions *q, struct pd_err *e)
{
	struct pd_probing p = { .near = near, .s = s, .q = q, .e = e };
	int status = PD_OK;
	p.cut = (struct pd_apply_rewrite){ (int)s->f.tables, (int)s->f.table_bits };
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
