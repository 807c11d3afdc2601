/* SPDX-License-Identifier: MIT
 *
 * Keys in, pairs out, in square tiles of which both sides stay in the first-level cache.
 */
#include "join/all.h"

#include <stdlib.h>

#include "base/threads.h"
#include "join/scan.h"
#include "join/table.h"

#define TILE 1024

struct all {
	const struct pd_keys *keys;
	const struct pd_key_table *table, *other;	/* other: what all of the table meets; NULL: itself */
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

static void take_hits(const struct all *all, struct pd_hits *hits, struct pd_items *found)
{
	const uint32_t *a = all->table->index, *b = all->other ? all->other->index : a;
	for (size_t i = 0; i < hits->n; i++) {
		uint32_t x = a[hits->v[i].a], y = b[hits->v[i].b];
		if (pd_keys_pair(all->keys, x, y))
			pd_items_add_pair(found, x, y, hits->v[i].distance);
	}
	hits->n = 0;
}

/* One tile with itself and all after it, or with all of the other table. */
static void run_task(void *ctx, size_t i, int thread)
{
	const struct all *all = ctx;
	const struct pd_key_table *with = all->other ? all->other : all->table;
	struct pd_hits *hits = &all->hits[thread];
	if (!all->other)
		all->loops->self(tile(all->table, i), all->k, hits);
	for (size_t j = all->other ? 0 : i + 1; j < n_tiles(with->n); j++) {
		all->loops->cross(tile(all->table, i), tile(with, j), all->k, hits);
		take_hits(all, hits, &all->lists[thread]);
	}
	take_hits(all, hits, &all->lists[thread]);
}

void pd_all_join(const struct pd_keys *keys, struct pd_plan *plan, int threads, struct pd_items *lists)
{
	struct pd_key_table table = { 0 }, other = { 0 };
	struct all all = { .keys = keys, .table = &table, .loops = &plan->scan->by[pd_scan_width_of(keys->bits)], .k = plan->k, .lists = lists };
	struct pd_key_source source = pd_source_keys(keys);
	double t = pd_cpu_seconds();
	all.hits = pd_zalloc((size_t)threads * sizeof *all.hits);
	pd_table_build(&table, &source, (struct pd_table_shape){ 0 });
	if (keys->against) {
		source = pd_source_some(keys, keys->against, keys->n_against);
		pd_table_build(&other, &source, (struct pd_table_shape){ 0 });
		all.other = &other;
	}
	pd_plan_clock(&plan->took.tables, &t);
	pd_parallel(threads, n_tiles(keys->n), run_task, &all);
	pd_plan_clock(&plan->took.meetings, &t);
	for (int i = 0; i < threads; i++)
		free(all.hits[i].v);
	free(all.hits);
	pd_table_release(&table);
	pd_table_release(&other);
}
