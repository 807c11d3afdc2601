/* SPDX-License-Identifier: MIT */
#include "store/near.h"

#include <stdlib.h>

enum {
	WINDOW = 32,		/* probes that wait for memory together */
	LINE = 8,		/* keys of a cache line */
	FETCH = 32 * LINE,	/* keys of a bucket that are asked for ahead */
	PROBES = 1 << 20,	/* that are sorted at a time */
	SORTED_BITS = 20,	/* of a block whose probes are sorted: one counter for each bucket */
	TOGETHER = 64		/* questions that are compared with a bucket at once */
};

static const struct pd_join_masks *masks_of(struct pd_store_near *near, int n_bits, int radius)
{
	struct pd_join_masks **m = &near->masks[n_bits][radius < n_bits ? radius : n_bits];
	if (!*m) {
		*m = pd_zalloc(sizeof **m);
		pd_join_masks_fill(*m, n_bits, radius);
	}
	return *m;
}

static void cross(struct pd_store_near *near, int bits, struct pd_join_run a, struct pd_join_run b, int k)
{
	if (!near->scan)
		near->scan = pd_join_scan_best();
	near->hits.n = 0;
	near->scan->by[pd_join_scan_width_of(bits)].cross(a, b, k, &near->hits);
}

static bool found_earlier(struct pd_store_partition partition, const int *radius, int table, const uint64_t *x)
{
	for (int t = 0; t < table; t++)
		if (radius[t] >= 0 && pd_bits_count(pd_store_partition_block(partition, x, t)) <= radius[t])
			return true;
	return false;
}

static void add_near(struct pd_store_near *near, struct pd_store_near_hit hit)
{
	near->v = pd_grow(near->v, near->n, &near->cap, sizeof *near->v);
	near->v[near->n++] = hit;
}

/* One table of a segment, while questions are put to it.  A question becomes one probe for each bucket that it looks at. */
struct probing {
	struct pd_store_near *near;
	struct pd_store_segment *s;
	const struct pd_store_questions *q;
	struct pd_store_partition partition;
	int radius[PD_STORE_TABLES_MAX];
	int table;
	uint64_t at;			/* of the table in the file */
	struct pd_store_table_layout l;
	const uint32_t *starts;
	struct pd_join_columns columns;
	const struct pd_join_masks *masks;
	struct {
		uint32_t question, bucket;
		uint32_t from, to;
	} probe[WINDOW];		/* buckets that were asked for and not looked at yet */
	int n;
	struct pd_err *e;
};

static uint32_t block_of(const struct probing *p, size_t question)
{
	uint64_t key[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		key[w] = p->q->keys.w[w][question];
	return pd_store_partition_block(p->partition, key, p->table);
}

/* The keys of a bucket: *from .. *to - 1. */
static int bucket_bounds(struct probing *p, uint32_t bucket, uint32_t *from, uint32_t *to)
{
	if (pd_store_segment_check(p->s, p->at + bucket * UINT64_C(4), 8, p->e))
		return PD_ERR_FORMAT;
	*from = p->starts[bucket];
	*to = p->starts[bucket + 1];
	if (*from > *to || *to > p->s->f.prints)
		return pd_store_segment_damaged(p->s, p->at + bucket * UINT64_C(4), "a bucket leads out of its table",
						p->e);
	return PD_OK;
}

/* Their checksums. */
static int check_keys(struct probing *p, uint32_t from, uint32_t to)
{
	uint64_t at = p->at + p->l.part[PD_STORE_TABLE_KEYS] + from * UINT64_C(8);
	for (int w = 0; w < p->q->bits / 64; w++, at += p->l.stride * 8)
		if (pd_store_segment_check(p->s, at, (to - from) * UINT64_C(8), p->e))
			return PD_ERR_FORMAT;
	return PD_OK;
}

/* A key at `place` of the table is within k of a question: a hit, unless an earlier table found it. */
static int add_hit(struct probing *p, uint32_t question, uint32_t place, uint32_t distance)
{
	uint64_t x[PD_KEY_WORDS];
	for (int w = 0; w < p->q->bits / 64; w++)
		x[w] = p->q->keys.w[w][question] ^ p->columns.w[w][place];
	if (found_earlier(p->partition, p->radius, p->table, x))
		return PD_OK;
	uint64_t at = p->at + p->l.part[PD_STORE_TABLE_ROWS] + place * UINT64_C(4);
	if (pd_store_segment_check(p->s, at, 4, p->e))
		return PD_ERR_FORMAT;
	uint32_t row = pd_store_get32(p->s->map.p + at);
	if (row >= p->s->f.rows)
		return pd_store_segment_damaged(p->s, at, "a table leads out of the segment", p->e);
	add_near(p->near, (struct pd_store_near_hit){ question, row, distance });
	return PD_OK;
}

/* Few questions.  Probes go through three steps, WINDOW of them at a time: ask for the bucket's start, ask for its keys,
 * compare. */

static int open_bucket(struct probing *p, int i)
{
	uint32_t from, to;
	int status = bucket_bounds(p, p->probe[i].bucket, &from, &to);
	if (status)
		return status;
	for (int w = 0; w < p->q->bits / 64; w++)
		for (uint32_t at = from; at < to && at < from + FETCH; at += LINE)
			__builtin_prefetch(p->columns.w[w] + at);
	p->probe[i].from = from;
	p->probe[i].to = to;
	return PD_OK;
}

static int compare_one(struct probing *p, int i)
{
	uint32_t from = p->probe[i].from, to = p->probe[i].to, a = p->probe[i].question;
	struct pd_join_hits *hits = &p->near->hits;
	int status = check_keys(p, from, to);
	if (status)
		return status;
	cross(p->near, p->q->bits, (struct pd_join_run){ &p->q->keys, a, a + 1 },
			    (struct pd_join_run){ &p->columns, from, to }, p->q->k);
	for (size_t h = 0; !status && h < hits->n; h++)
		status = add_hit(p, a, hits->v[h].b, hits->v[h].distance);
	return status;
}

static int answer_window(struct probing *p)
{
	int status = PD_OK;
	for (int i = 0; !status && i < p->n; i++)
		status = open_bucket(p, i);
	for (int i = 0; !status && i < p->n; i++)
		if (p->probe[i].from < p->probe[i].to)
			status = compare_one(p, i);
	p->n = 0;
	return status;
}

static int probe_one_by_one(struct probing *p)
{
	int status = PD_OK;
	for (size_t i = 0; !status && i < p->q->n; i++) {
		uint32_t block = block_of(p, i);
		for (size_t m = 0; !status && m < p->masks->n; m++) {
			uint32_t bucket = block ^ p->masks->v[m];
			__builtin_prefetch(p->starts + bucket);
			p->probe[p->n].question = (uint32_t)i;
			p->probe[p->n].bucket = bucket;
			if (++p->n == WINDOW)
				status = answer_window(p);
		}
	}
	return status ? status : answer_window(p);
}

/* Many questions: their probes are sorted by bucket (a counting sort), and the table is gone through once, each bucket
 * compared with all that ask for it.  What is waited for is then read in order, and read once. */

/* Questions from .. to - 1: who asks for bucket v is asker[starts[v]] .. asker[starts[v + 1] - 1]. */
static void sort_probes(const struct probing *p, size_t from, size_t to, uint32_t *starts, uint32_t *asker)
{
	size_t n = (size_t)1 << p->partition.n_bits;
	memset(starts, 0, (n + 2) * sizeof *starts);
	for (size_t i = from; i < to; i++) {
		uint32_t block = block_of(p, i);
		for (size_t m = 0; m < p->masks->n; m++)
			starts[(block ^ p->masks->v[m]) + 2]++;
	}
	for (size_t v = 2; v < n + 2; v++)
		starts[v] += starts[v - 1];
	for (size_t i = from; i < to; i++) {
		uint32_t block = block_of(p, i);
		for (size_t m = 0; m < p->masks->n; m++)
			asker[starts[(block ^ p->masks->v[m]) + 1]++] = (uint32_t)i;
	}
}

/* Up to TOGETHER questions with the keys from .. to - 1. */
static int compare_many(struct probing *p, const uint32_t *asker, size_t n, uint32_t from, uint32_t to)
{
	uint64_t words[PD_KEY_WORDS][TOGETHER + PD_SCAN_PAD];
	struct pd_join_columns together;
	struct pd_join_hits *hits = &p->near->hits;
	int status = PD_OK;
	for (int w = 0; w < p->q->bits / 64; w++) {
		for (size_t i = 0; i < n; i++)
			words[w][i] = p->q->keys.w[w][asker[i]];
		together.w[w] = words[w];
	}
	cross(p->near, p->q->bits, (struct pd_join_run){ &together, 0, n },
			    (struct pd_join_run){ &p->columns, from, to }, p->q->k);
	for (size_t h = 0; !status && h < hits->n; h++)
		status = add_hit(p, asker[hits->v[h].a], hits->v[h].b, hits->v[h].distance);
	return status;
}

static int ask_bucket(struct probing *p, uint32_t bucket, const uint32_t *asker, size_t n)
{
	uint32_t from, to;
	int status = bucket_bounds(p, bucket, &from, &to);
	if (!status)
		status = check_keys(p, from, to);
	for (size_t at = 0, m; !status && from < to && at < n; at += m) {
		m = n - at < TOGETHER ? n - at : TOGETHER;
		status = compare_many(p, asker + at, m, from, to);
	}
	return status;
}

static int probe_in_order(struct probing *p)
{
	size_t n = (size_t)1 << p->partition.n_bits, n_masks = p->masks->n, round = n_masks < PROBES ?
		PROBES / n_masks : 1;
	uint32_t *starts = pd_alloc((n + 2) * sizeof *starts);
	uint32_t *asker = pd_alloc((round < p->q->n ? round : p->q->n) * n_masks * sizeof *asker);
	int status = PD_OK;
	for (size_t from = 0, to; !status && from < p->q->n; from = to) {
		to = p->q->n - from < round ? p->q->n : from + round;
		sort_probes(p, from, to, starts, asker);
		for (uint32_t v = 0; !status && v < n; v++)
			if (starts[v] < starts[v + 1])
				status = ask_bucket(p, v, asker + starts[v], starts[v + 1] - starts[v]);
	}
	free(starts);
	free(asker);
	return status;
}

static int probe_table(struct probing *p)
{
	const uint8_t *base = p->s->map.p + p->at;
	int bits = p->partition.n_bits;
	p->masks = masks_of(p->near, bits, p->radius[p->table]);
	p->starts = (const uint32_t *)base;
	for (int w = 0; w < p->q->bits / 64; w++)
		p->columns.w[w] =
			(uint64_t *)(uintptr_t)(base + p->l.part[PD_STORE_TABLE_KEYS]) + p->l.stride * (unsigned)w;
	/* One probe for every bucket, at least: fewer are not worth the counters. */
	bool many = bits > 0 && bits <= SORTED_BITS && p->q->n * p->masks->n >> bits > 0;
	return many ? probe_in_order(p) : probe_one_by_one(p);
}

int pd_store_near_segment(struct pd_store_near *near, struct pd_store_segment *s, const struct pd_store_questions *q,
			  struct pd_err *e)
{
	struct probing p = { .near = near, .s = s, .q = q, .e = e };
	int status = PD_OK;
	p.partition = (struct pd_store_partition){ (int)s->f.tables, (int)s->f.table_bits };
	pd_join_radii(q->k, p.partition.n_blocks, p.radius);
	pd_store_table_layout(&s->f, &p.l);
	for (p.table = 0; !status && s->f.prints && p.table < p.partition.n_blocks; p.table++) {
		p.at = s->f.section[PD_STORE_SEG_TABLES].at + p.l.bytes * (unsigned)p.table;
		if (p.radius[p.table] >= 0)
			status = probe_table(&p);
	}
	return status;
}

/* What lies in memory: no checksums, and few keys in a bucket. */

static void take_recent(struct pd_store_near *near, const struct pd_store_recent *r, const struct pd_store_questions *q,
		      const int *radius, int table, const uint32_t *rows)
{
	for (size_t h = 0; h < near->hits.n; h++) {
		const struct pd_join_hit *hit = &near->hits.v[h];
		uint64_t x[PD_KEY_WORDS];
		for (int w = 0; w < r->bits / 64; w++)
			x[w] = q->keys.w[w][hit->a] ^ r->pages[rows[hit->b]].key.w[w];
		if (found_earlier(r->partition, radius, table, x))
			continue;
		add_near(near, (struct pd_store_near_hit){ hit->a, rows[hit->b], hit->distance });
	}
}

static void probe_recent(struct pd_store_near *near, const struct pd_store_recent *r,
			 const struct pd_store_questions *q, const int *radius, int table, uint32_t question)
{
	uint64_t key[PD_KEY_WORDS];
	const struct pd_join_masks *masks = masks_of(near, r->partition.n_bits, radius[table]);
	for (int w = 0; w < r->bits / 64; w++)
		key[w] = q->keys.w[w][question];
	uint32_t block = pd_store_partition_block(r->partition, key, table);
	for (size_t m = 0; m < masks->n; m++) {
		const struct pd_store_recent_bucket *b =
			&r->buckets[((size_t)table << r->partition.n_bits) + (block ^ masks->v[m])];
		struct pd_join_columns columns;
		if (!b->n)
			continue;
		for (int w = 0; w < r->bits / 64; w++)
			columns.w[w] = b->keys + (size_t)w * b->cap;
		cross(near, r->bits, (struct pd_join_run){ &q->keys, question, question + 1 },
			      (struct pd_join_run){ &columns, 0, b->n }, q->k);
		take_recent(near, r, q, radius, table, b->rows);
	}
}

void pd_store_near_recent(struct pd_store_near *near, const struct pd_store_recent *r,
			  const struct pd_store_questions *q)
{
	int radius[PD_STORE_TABLES_MAX];
	pd_join_radii(q->k, r->partition.n_blocks, radius);
	for (int t = 0; r->n && t < r->partition.n_blocks; t++)
		for (uint32_t i = 0; radius[t] >= 0 && i < q->n; i++)
			probe_recent(near, r, q, radius, t, i);
}

void pd_store_near_release(struct pd_store_near *near)
{
	for (int w = 0; w <= PD_STORE_BLOCK_BITS_MAX; w++)
		for (int r = 0; r <= PD_STORE_BLOCK_BITS_MAX; r++)
			if (near->masks[w][r]) {
				pd_join_masks_release(near->masks[w][r]);
				free(near->masks[w][r]);
			}
	free(near->v);
	free(near->hits.v);
	*near = (struct pd_store_near){ 0 };
}
