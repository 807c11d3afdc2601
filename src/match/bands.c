/* SPDX-License-Identifier: MIT */
#include "match/bands.h"

#include <math.h>
#include <stdlib.h>

#include "base/threads.h"
#include "join/bits.h"

#define CHANCE_COMPARISONS 128

struct bands {
	const struct pd_bands *b;
	int least;			/* minima that must agree */
	struct pd_items *lists;		/* one for each thread */
};

int pd_bands_width_max(const struct pd_sketch_options *o)
{
	return 64 / o->bits < o->minima ? 64 / o->bits : o->minima;
}

int pd_bands_width(const struct pd_sketch_options *o, size_t n)
{
	int r = 1;
	while (r < pd_bands_width_max(o) && n / 2. * (o->minima / r) * ldexp(1, -r * o->bits) > CHANCE_COMPARISONS)
		r++;
	return r;
}

/* The band's minima as one number; they may lie in two words. */
static uint64_t band_of(const struct pd_bands *b, size_t i, size_t band)
{
	int bits = b->width * b->sketch.bits;
	return pd_bits_get(b->v + i * (size_t)pd_sketch_words(&b->sketch), (int)band * bits, bits);
}

static bool shared_before(const struct pd_bands *b, size_t i, size_t j, size_t band)
{
	for (size_t t = 0; t < band; t++)
		if (band_of(b, i, t) == band_of(b, j, t))
			return true;
	return false;
}

/* The sketch at place `at` of a run of equal values with those behind it. */
static void compare_one(const struct bands *all, const struct pd_item *run, size_t at, size_t n, size_t band, struct pd_items *out)
{
	const struct pd_bands *b = all->b;
	size_t words = (size_t)pd_sketch_words(&b->sketch), i = run[at].value;
	for (size_t k = at + 1; k < n && k <= at + b->window; k++) {
		size_t j = run[k].value;
		int agreeing = pd_sketch_agreeing(&b->sketch, b->v + i * words, b->v + j * words);
		if (agreeing >= all->least && !shared_before(b, i, j, band))
			pd_items_add(out, (uint64_t)i << 32 | j, (uint32_t)agreeing);
	}
}

/* Sorting is stable, so a run is in the order of the sketches. */
static void run_band(void *ctx, size_t band, int thread)
{
	const struct bands *all = ctx;
	struct pd_items table = { .v = pd_alloc(all->b->n * sizeof *table.v), .n = all->b->n, .cap = all->b->n };
	for (size_t i = 0; i < all->b->n; i++)
		table.v[i] = (struct pd_item){ band_of(all->b, i, band), (uint32_t)i };
	pd_items_sort(&table);
	for (size_t from = 0, to; from < table.n; from = to) {
		for (to = from + 1; to < table.n && table.v[to].key == table.v[from].key; to++)
			;
		for (size_t at = from; at + 1 < to; at++)
			compare_one(all, table.v + from, at - from, to - from, band, &all->lists[thread]);
	}
	pd_items_release(&table);
}

/* The fewest minima with which a pair may stand the second look, on one host or on two. */
static int least_agreeing(const struct pd_sketch_options *o, const struct pd_verify_options *verify)
{
	int n = 0;
	while (n <= o->minima && pd_verify(verify, pd_sketch_estimate(o, n), 0) == PD_LOOK_NO)
		n++;
	return n;
}

int pd_bands_join(const struct pd_bands *b, const struct pd_verify_options *verify, int threads, struct pd_budget *budget,
		  struct pd_items *out, struct pd_err *e)
{
	threads = threads > 1 ? threads : 1;
	struct bands all = { .b = b, .least = least_agreeing(&b->sketch, verify) };
	all.lists = pd_items_lists(threads, budget);
	pd_parallel(threads, (size_t)(b->sketch.minima / b->width), run_band, &all);
	return pd_items_gather(all.lists, threads, threads, out, e);
}
