/* SPDX-License-Identifier: MIT
 *
 * Plan `paper`: the scheme of patent CN101645082 (module 400).  Four blocks, each exchanged with the first in turn;
 * four tables of permuted keys sorted by the first block; each key is looked for by binary search and compared with the
 * run of equal first blocks.  Keys that differ in up to three bits share a block.  Also: G. S. Manku, A. Jain, A. Das
 * Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.
 *
 * A table is searched as a new page would search it, so the cost of a run of equal blocks is that of the documents'
 * scheme: quadratic in the longest run.  A pair is given by the first table that finds it.
 */
#include <stdlib.h>

#include "base/bound.h"
#include "base/threads.h"
#include "join/keys.h"

#define BLOCKS 4
#define CHUNK 4096	/* keys that a thread looks up at a time */

struct paper {
	const struct pd_join_keys *keys;	/* that are looked up */
	struct pd_join_keys table;		/* in these: the same, or those of the other set */
	int k, exchanged;		/* the block that stands first */
	struct pd_items order;		/* (first block, key), sorted by the block */
	uint64_t *permuted;		/* the permuted keys in that order */
	struct pd_items *lists;
};

static const uint64_t *key_at(const struct pd_join_keys *keys, size_t i)
{
	return keys->v + (keys->ids ? keys->ids[i] : i) * (size_t)(keys->bits / 64);
}

static uint64_t block_of(const struct pd_join_keys *keys, const uint64_t *key, int b)
{
	return pd_bits_get(key, pd_bits_block(keys->bits, BLOCKS, b), keys->bits / BLOCKS);
}

static void build_table(struct paper *p)
{
	size_t words = (size_t)p->keys->bits / 64;
	p->order.n = 0;
	for (size_t i = 0; i < p->table.n; i++)
		pd_items_add(&p->order, block_of(&p->table, key_at(&p->table, i), p->exchanged), (uint32_t)i);
	pd_items_sort(&p->order);
	for (size_t i = 0; i < p->table.n; i++)
		pd_bits_exchange(key_at(&p->table, p->order.v[i].value), p->permuted + i * words, p->keys->bits,
			    BLOCKS, p->exchanged);
}

static bool is_found_before(const struct paper *p, size_t i, size_t j)
{
	for (int b = 0; b < p->exchanged; b++)
		if (block_of(p->keys, key_at(p->keys, i), b) == block_of(&p->table, key_at(&p->table, j), b))
			return true;
	return false;
}

static uint32_t number(const struct pd_join_keys *keys, size_t i)
{
	return keys->ids ? keys->ids[i] : (uint32_t)i;
}

/* Key i against its run; of one set only keys after it, or each pair would be named twice. */
static void look_up(const struct paper *p, size_t i, struct pd_items *found)
{
	int words = p->keys->bits / 64;
	uint64_t n_found = 0, mine[PD_KEY_WORDS], first = block_of(p->keys, key_at(p->keys, i), p->exchanged);
	pd_bits_exchange(key_at(p->keys, i), mine, p->keys->bits, BLOCKS, p->exchanged);
	for (size_t at = PD_LOWER_BOUND(x, 0, p->order.n, p->order.v[x].key < first); at < p->order.n && p->order.v[at].key == first; at++) {
		size_t j = p->order.v[at].value;
		uint32_t x = number(p->keys, i), y = number(&p->table, j);
		if (p->keys->against ? !pd_join_counts(p->keys, x, y) : j <= i)
			continue;
		int d = pd_bits_distance(mine, p->permuted + at * (size_t)words, words);
		if (d <= p->k && !is_found_before(p, i, j)) {
			pd_items_add_pair(found, x, y, (uint32_t)d);
			n_found++;
		}
	}
	pd_join_report(p->keys, n_found);
}

static void look_up_some(void *ctx, size_t i, int thread)
{
	const struct paper *p = ctx;
	size_t end = (i + 1) * CHUNK < p->keys->n ? (i + 1) * CHUNK : p->keys->n;
	for (size_t key = i * CHUNK; key < end && !pd_join_is_over(p->keys); key++)
		look_up(p, key, &p->lists[thread]);
}

void pd_join_paper(const struct pd_join_keys *keys, struct pd_join_plan *plan, int threads, struct pd_items *lists)
{
	struct paper p = { .keys = keys, .table = *keys, .k = plan->k, .lists = lists };
	if (keys->against) {
		p.table.ids = keys->against;
		p.table.n = keys->n_against;
	}
	double t = pd_cpu_seconds();
	p.permuted = pd_alloc((p.table.n + 1) * ((size_t)keys->bits / 8));
	for (p.exchanged = 0; p.exchanged < BLOCKS; p.exchanged++) {
		build_table(&p);
		pd_join_plan_clock(&plan->took.tables, &t);
		pd_parallel(threads, (keys->n + CHUNK - 1) / CHUNK, look_up_some, &p);
		pd_join_plan_clock(&plan->took.meetings, &t);
	}
	pd_items_release(&p.order);
	free(p.permuted);
}
