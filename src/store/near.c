/* SPDX-License-Identifier: MIT
 *
 * Search by key (index/near.h): the tables of segments, and the pages in memory.
 */
#include <stdlib.h>

#include "store/segment.h"

static int verify_bytes(void *segment, uint64_t at, uint64_t n, struct pd_err *e)
{
	return pd_store_segment_check(segment, at, n, e);
}

static int report_damage(void *segment, uint64_t at, const char *what, struct pd_err *e)
{
	return pd_store_segment_damaged(segment, at, what, e);
}

int pd_store_near_segments(struct pd_index_near *near, struct pd_store_segment *segments, size_t n,
			   const struct pd_index_queries *q, struct pd_err *e)
{
	struct pd_index_file *files = pd_alloc((n + 1) * sizeof *files);
	struct pd_index_near_table *tables = pd_alloc((n * PD_STORE_TABLES_MAX + 1) * sizeof *tables);
	int status = PD_OK;
	/* Segments with equal partitions are searched together. */
	for (size_t from = 0, to; !status && from < n; from = to) {
		const struct pd_store_segment_params *f = &segments[from].f;
		size_t n_sets = 0;
		for (to = from; to < n && segments[to].f.tables == f->tables && segments[to].f.table_bits == f->table_bits; to++)
			n_sets += segments[to].f.fingerprints > 0;
		for (size_t i = from, set = 0; i < to; i++) {
			struct pd_store_segment *s = &segments[i];
			struct pd_store_table_layout l;
			if (!s->f.fingerprints)
				continue;
			files[i] =
				(struct pd_index_file){ s->map.p, s->seen, PD_STORE_BLOCK_SHIFT, verify_bytes, report_damage, s };
			pd_store_lay_out_table(&s->f, &l);
			for (uint32_t block = 0; block < f->tables; block++) {
				const uint8_t *base = s->section[PD_STORE_SEG_TABLES] + l.bytes * block;
				struct pd_index_near_table *t = &tables[block * n_sets + set];
				*t = (struct pd_index_near_table){ .start = (const uint32_t *)base,
								   .number = (const uint32_t *)(base + l.part[PD_STORE_TABLE_ROWS]),
								   .n = s->f.fingerprints,
								   .n_numbers = s->f.rows,
								   .set = (uint32_t)i,
								   .file = &files[i] };
				for (int w = 0; w < q->bits / 64; w++)
					t->columns.w[w] = (uint64_t *)(uintptr_t)(base + l.part[PD_STORE_TABLE_KEYS]) +
							  l.stride * (unsigned)w;
			}
			set++;
		}
		struct pd_index_even even = pd_index_even_of((int)f->tables, (int)f->table_bits, q->k);
		status = pd_index_near_even(near, &even, tables, n_sets, q, e);
	}
	free(tables);
	free(files);
	return status;
}

/* Compare a query with the pages in memory: no checksums, and few keys in a bucket. */
static int probe_recent(struct pd_index_near *near, const struct pd_store_recent *r, const struct pd_index_queries *q,
			const struct pd_index_even *even, int table, uint32_t query)
{
	uint64_t key[PD_KEY_WORDS], x[PD_KEY_WORDS];
	const struct pd_index_masks *masks = pd_index_near_masks(near, even->n_bits, even->least - (table >= even->rest));
	int status = PD_OK;
	for (int w = 0; w < r->bits / 64; w++)
		key[w] = q->keys.w[w][query];
	uint32_t block = pd_index_even_block(even, key, table);
	for (size_t m = 0; !status && m < masks->n; m++) {
		const struct pd_store_recent_bucket *b = &r->buckets[((size_t)table << even->n_bits) + (block ^ masks->v[m])];
		struct pd_index_columns columns;
		if (!b->n)
			continue;
		for (int w = 0; w < r->bits / 64; w++)
			columns.w[w] = b->keys + (size_t)w * b->cap;
		pd_index_near_compare(near, pd_index_scan_width_of(r->bits), (struct pd_index_run){ &q->keys, query, query + 1 },
				      (struct pd_index_run){ &columns, 0, b->n }, q->k);
		for (size_t h = 0; !status && h < near->hits.n; h++) {
			const struct pd_index_hit *hit = &near->hits.v[h];
			for (int w = 0; w < r->bits / 64; w++)
				x[w] = key[w] ^ columns.w[w][hit->b];
			if (pd_index_even_table(even, x) == table)
				status = pd_index_near_emit(near,
							    (struct pd_index_near_hit){ query, 0, b->rows[hit->b], hit->distance });
		}
	}
	return status;
}

void pd_store_near_recent(struct pd_index_near *near, const struct pd_store_recent *r, const struct pd_index_queries *q)
{
	struct pd_index_even even = pd_index_even_of(r->partition.n_blocks, r->partition.n_bits, q->k);
	for (int t = 0; r->n && t < even.n_blocks; t++)
		for (uint32_t i = 0; even.least - (t >= even.rest) >= 0 && i < q->n; i++)
			probe_recent(near, r, q, &even, t, i);
}
