/* SPDX-License-Identifier: MIT
 *
 * Lists of items in, one in order out.  Items are dealt from the lists into parts by the highest bits that any key has, and
 * the parts, which are small, are sorted on all threads.
 */
#include <stdlib.h>

#include "base/threads.h"
#include "base/items.h"
#include "base/memory.h"
#include "base/spill.h"

#define PART_ITEMS 8192		/* in a part, on average, */
#define PART_BITS_MAX 12	/* unless there would be too many places to write to at once */

struct gathering {
	struct pd_items *lists, all;
	size_t n_lists, n_parts;
	int shift;
	size_t *next;	/* list, part -> where the next item goes */
	size_t *part;	/* n_parts + 1: where parts begin */
};

static void count_task(void *ctx, size_t list, int thread)
{
	const struct gathering *g = ctx;
	const struct pd_items *from = &g->lists[list];
	size_t *next = g->next + list * g->n_parts;
	(void)thread;
	for (size_t i = 0; i < from->n; i++)
		next[from->v[i].key >> g->shift]++;
}

static void place_task(void *ctx, size_t list, int thread)
{
	const struct gathering *g = ctx;
	struct pd_items *from = &g->lists[list];
	size_t *next = g->next + list * g->n_parts;
	(void)thread;
	for (size_t i = 0; i < from->n; i++)
		g->all.v[next[from->v[i].key >> g->shift]++] = from->v[i];
	pd_items_release(from);
}

static void sort_task(void *ctx, size_t p, int thread)
{
	const struct gathering *g = ctx;
	struct pd_item *to = g->all.v + g->part[p];
	size_t n = g->part[p + 1] - g->part[p];
	struct pd_items part = { .v = pd_alloc(n * sizeof *part.v), .n = n, .cap = n };
	(void)thread;
	memcpy(part.v, to, n * sizeof *to);
	pd_items_sort(&part);
	memcpy(to, part.v, n * sizeof *to);
	pd_items_release(&part);
}

static void sum_counts(struct gathering *g)
{
	size_t at = 0;
	for (size_t p = 0; p < g->n_parts; p++) {
		g->part[p] = at;
		for (size_t l = 0; l < g->n_lists; l++) {
			size_t n = g->next[l * g->n_parts + p];
			g->next[l * g->n_parts + p] = at;
			at += n;
		}
	}
	g->part[g->n_parts] = at;
}

static void choose_parts(struct gathering *g)
{
	uint64_t all = 0;
	int bits = 0, key_bits = 1;
	for (size_t l = 0; l < g->n_lists; l++)
		for (size_t i = 0; i < g->lists[l].n; i++)
			all |= g->lists[l].v[i].key;
	while (key_bits < 64 && all >> key_bits)
		key_bits++;
	while (bits < PART_BITS_MAX && bits < key_bits - 1 && g->all.n >> bits > PART_ITEMS)
		bits++;
	g->shift = key_bits - bits < 64 ? key_bits - bits : 63;
	g->n_parts = (size_t)1 << bits << (bits == 0);	/* a shift of 64 is not defined: two parts do as well as one */
}

static void gather(struct gathering *g, int threads)
{
	choose_parts(g);
	g->next = pd_zalloc(g->n_lists * g->n_parts * sizeof *g->next);
	g->part = pd_alloc((g->n_parts + 1) * sizeof *g->part);
	g->all.v = pd_big_alloc(g->all.n * sizeof *g->all.v);
	g->all.cap = g->all.n;
	pd_parallel(threads, g->n_lists, count_task, g);
	sum_counts(g);
	pd_parallel(threads, g->n_lists, place_task, g);
	pd_parallel(threads, g->n_parts, sort_task, g);
	free(g->part);
	free(g->next);
}

int pd_items_gather(struct pd_items *lists, int n_lists, int threads, struct pd_items *out, struct pd_err *e)
{
	struct gathering g = { .lists = lists, .n_lists = (size_t)n_lists };
	bool spilled = false;
	int status = PD_OK;
	for (int i = 0; i < n_lists; i++) {
		g.all.n += lists[i].n;
		spilled = spilled || (lists[i].spill && lists[i].spill->n_runs);
	}
	if (spilled)
		status = pd_spill_merge(lists, n_lists, &g.all, e);
	else if (g.all.n)
		gather(&g, threads);
	for (int i = 0; i < n_lists; i++)
		pd_items_release(&lists[i]);
	*out = g.all;
	return status;
}
