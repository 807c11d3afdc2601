/* SPDX-License-Identifier: MIT
 *
 * Brute force: keys in, pairs out, in square tiles of which both sides stay in the first-level cache.
 */
#include <stdlib.h>

#include "base/threads.h"
#include "join/table.h"

#define TILE 1024

struct brute_force {
	const struct pd_join_keys *keys;
	const struct pd_join_table *table, *other;	/* other: what all of the table meets; NULL: itself */
	const struct pd_join_scan_loops *loops;
	int k;
	struct pd_join_hits *hits;	/* one of each for each thread */
	struct pd_items *lists;
};

static struct pd_join_run tile(const struct pd_join_table *t, size_t i)
{
	size_t from = i * TILE;
	return (struct pd_join_run){ &t->columns, from, from + TILE < t->n ? from + TILE : t->n };
}

static size_t n_tiles(size_t n)
{
	return (n + TILE - 1) / TILE;
}

static void take_hits(const struct brute_force *b, struct pd_join_hits *hits, struct pd_items *found)
{
	uint64_t n = 0;
	const uint32_t *ids = b->table->index, *others = b->other ? b->other->index : ids;
	for (size_t i = 0; i < hits->n; i++) {
		uint32_t x = ids[hits->v[i].a], y = others[hits->v[i].b];
		if (!pd_join_counts(b->keys, x, y))
			continue;
		pd_items_add_pair(found, x, y, hits->v[i].distance);
		n++;
	}
	hits->n = 0;
	pd_join_report(b->keys, n);
}

/* One tile with itself and all after it, or with all of the other table. */
static void meet_tile(void *ctx, size_t i, int thread)
{
	const struct brute_force *b = ctx;
	const struct pd_join_table *with = b->other ? b->other : b->table;
	struct pd_join_hits *hits = &b->hits[thread];
	if (!b->other && !pd_join_is_over(b->keys))
		b->loops->self(tile(b->table, i), b->k, hits);
	for (size_t j = b->other ? 0 : i + 1; j < n_tiles(with->n) && !pd_join_is_over(b->keys); j++) {
		b->loops->cross(tile(b->table, i), tile(with, j), b->k, hits);
		take_hits(b, hits, &b->lists[thread]);
	}
	take_hits(b, hits, &b->lists[thread]);
}

void pd_join_brute_force(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_items *lists)
{
	struct pd_join_table table = { 0 }, other = { 0 };
	struct brute_force b = { .keys = keys, .table = &table, .loops = &plan->scan->by[pd_join_scan_width_of(keys->bits)], .k = plan->k, .lists = lists };
	struct pd_join_source source = pd_join_source_keys(keys);
	double t = pd_cpu_seconds();
	b.hits = pd_zalloc((size_t)threads * sizeof *b.hits);
	pd_join_table_build(&table, &source, (struct pd_join_shape){ 0 });
	if (keys->against) {
		source = pd_join_source_some(keys, keys->against, keys->n_against);
		pd_join_table_build(&other, &source, (struct pd_join_shape){ 0 });
		b.other = &other;
	}
	pd_join_plan_clock(&plan->took.tables, &t);
	pd_parallel(threads, n_tiles(keys->n), meet_tile, &b);
	pd_join_plan_clock(&plan->took.meetings, &t);
	for (int i = 0; i < threads; i++)
		free(b.hits[i].v);
	free(b.hits);
	pd_join_table_release(&table);
	pd_join_table_release(&other);
}
