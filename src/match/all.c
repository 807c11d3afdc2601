/* SPDX-License-Identifier: MIT
 *
 * Keys in, pairs out, in square tiles of which both sides stay in the first-level cache.
 */
#include "match/all.h"

#include <stdlib.h>

#include "base/threads.h"
#include "match/scan.h"
#include "match/table.h"

#define TILE 1024

struct all {
	const struct pd_key_table *table;
	const struct pd_scan_loops *loops;
	int k;
	struct pd_hits *hits;	/* one of each for each thread */
	struct pd_items *lists;
};

static struct pd_key_run tile(const struct pd_key_table *t, size_t i)
{
	size_t from = i * TILE;
	return (struct pd_key_run){ &t->columns, from, from + TILE < t->n ? from + TILE : t->n };
}

static size_t n_tiles(size_t n)
{
	return (n + TILE - 1) / TILE;
}

/* The table holds the keys in their order, which is that of their numbers, so a < b. */
static void take_hits(const struct all *all, struct pd_hits *hits, struct pd_items *found)
{
	const uint32_t *index = all->table->index;
	for (size_t i = 0; i < hits->n; i++)
		pd_items_add(found, (uint64_t)index[hits->v[i].a] << 32 | index[hits->v[i].b], hits->v[i].distance);
	hits->n = 0;
}

/* One tile with itself and all after it. */
static void run_task(void *ctx, size_t i, int thread)
{
	const struct all *all = ctx;
	struct pd_hits *hits = &all->hits[thread];
	all->loops->self(tile(all->table, i), all->k, hits);
	take_hits(all, hits, &all->lists[thread]);
	for (size_t j = i + 1; j < n_tiles(all->table->n); j++) {
		all->loops->cross(tile(all->table, i), tile(all->table, j), all->k, hits);
		take_hits(all, hits, &all->lists[thread]);
	}
}

void pd_all_join(const struct pd_keys *keys, const struct pd_scan *scan, int k, int threads, struct pd_items *lists)
{
	struct pd_key_table table = { 0 };
	struct all all = { .table = &table, .loops = &scan->by[pd_scan_width_of(keys->bits)], .k = k, .lists = lists };
	struct pd_key_source source = pd_source_keys(keys);
	all.hits = pd_zalloc((size_t)threads * sizeof *all.hits);
	pd_table_build(&table, &source, (struct pd_table_shape){ 0 });
	pd_parallel(threads, n_tiles(keys->n), run_task, &all);
	for (int i = 0; i < threads; i++)
		free(all.hits[i].v);
	free(all.hits);
	pd_table_release(&table);
}
