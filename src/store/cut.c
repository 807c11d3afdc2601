/* SPDX-License-Identifier: MIT */
#include "store/cut.h"

#include <math.h>

#include "base/buf.h"

/* A bucket that is looked at costs as much as this many comparisons of keys that lie in it (measured). */
#define COST_BUCKET 40.0
#define BLOCK_BITS_MIN 4

void pd_cut_radii(struct pd_apply_rewrite cut, int k, int *radius)
{
	for (int i = 0; i < cut.n_blocks; i++)
		radius[i] = (k + 1) / cut.n_blocks + (i < (k + 1) % cut.n_blocks) - 1;
}

static double ball(int bits, int radius)
{
	double sum = 1, c = 1;
	for (int i = 1; i <= radius && i <= bits; i++)
		sum += c = c * (bits - i + 1) / i;
	return radius < 0 ? 0 : sum;
}

static double cost_of(struct pd_apply_rewrite cut, int k, uint64_t n_keys)
{
	int radius[PD_STORE_TABLES_MAX];
	double sum = 0;
	pd_cut_radii(cut, k, radius);
	for (int i = 0; i < cut.n_blocks; i++)
		sum += ball(cut.n_bits, radius[i]) * (ldexp((double)n_keys, -cut.n_bits) + COST_BUCKET);
	return sum;
}

/* More tables than one for 16 bits are more disk than they save time; buckets shall not outnumber keys by far. */
struct pd_apply_rewrite pd_cut_choose(int bits, int k, uint64_t n_keys, double *cost)
{
	struct pd_apply_rewrite best = { 1, 0 };
	double least = (double)n_keys;
	for (int w = BLOCK_BITS_MIN; w <= PD_CUT_BITS_MAX && n_keys >> w; w++)
		for (int m = 1; m <= bits / 16 && m * w <= bits; m++) {
			double c = cost_of((struct pd_apply_rewrite){ m, w }, k, n_keys);
			if (c >= least)
				continue;
			least = c;
			best = (struct pd_apply_rewrite){ m, w };
		}
	if (cost)
		*cost = least;
	return best;
}

/* The next word with as many ones (Gosper, HAKMEM item 175). */
static uint64_t next_mask(uint64_t v)
{
	uint64_t low = v & -v, high = v + low;
	return high | ((v ^ high) >> 2) / low;
}

size_t pd_cut_masks(int n_bits, int radius, uint32_t **masks)
{
	size_t n = 0, cap = 0;
	*masks = NULL;
	for (int ones = 0; ones <= radius && ones <= n_bits; ones++) {
		uint64_t v = (UINT64_C(1) << ones) - 1;
		while (v >> n_bits == 0) {
			*masks = pd_grow(*masks, n, &cap, sizeof **masks);
			(*masks)[n++] = (uint32_t)v;
			if (!v)
				break;
			v = next_mask(v);
		}
	}
	return n;
}
