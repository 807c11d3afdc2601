/* SPDX-License-Identifier: MIT
 *
 * N, k and width in, a plan out.  Blocks are tried in every width from 6 to 16 bits: wide blocks have small buckets,
 * narrow ones small radii and few buckets to visit.  The estimate counts in comparisons of two keys, the unit in which
 * sorting a key, visiting a bucket and so on were measured; it assumes that bits are even, so skewed keys cost more (and
 * are then split again where they are: blocks.c).
 */
#include "match/plan.h"

#include <math.h>

#include "match/permute.h"

#define BLOCK_BITS_MIN 6
#define CHANCE_PAIRS (1.0 / 1000)

/* What a step costs, in comparisons (measured; between the figures with AVX-512 and with plain popcnt). */
#define COST_SORT 50.0		/* a key into its bucket */
#define COST_BUCKET 6.0		/* a bucket that exists */
#define COST_PROBE 15.0		/* looking at a neighbouring bucket */
#define COST_SHORT 4.0		/* a key against a bucket: the vector that is not full */

static double binomial(int n, int i)
{
	double c = 1;
	for (int j = 1; j <= i; j++)
		c = c * (n - i + j) / j;
	return c;
}

/* How many values of `bits` bits lie within `radius` of one. */
static double ball(int bits, int radius)
{
	double sum = 0;
	for (int i = 0; i <= radius && i <= bits; i++)
		sum += binomial(bits, i);
	return sum;
}

int pd_default_k(int bits, size_t n_keys)
{
	int k = 0;
	while (k < bits / 5 && n_keys / 2.0 * ldexp(ball(bits, k + 1), -bits) <= CHANCE_PAIRS)
		k++;
	return k;
}

static bool is_set(const struct pd_key *key, int bit)
{
	return key->w[bit / 64] >> (bit % 64) & 1;
}

static int count_set(const struct pd_key *key, int first, int n)
{
	return __builtin_popcountll(pd_bits_get(key->w, first, n));
}

/* One more block, kept in order of the bits that tell its keys apart: the best take the radii first. */
static void add_block(struct pd_plan *p, int *telling, const struct pd_key *varying, int first, int n)
{
	int t = count_set(varying, first, n), i = p->n_blocks;
	if (2 * t < n || i == PD_PLAN_BLOCKS_MAX)
		return;
	for (; i > 0 && telling[i - 1] < t; i--) {
		telling[i] = telling[i - 1];
		p->first_bit[i] = p->first_bit[i - 1];
		p->n_bits[i] = p->n_bits[i - 1];
	}
	telling[i] = t;
	p->first_bit[i] = first;
	p->n_bits[i] = n;
	p->n_blocks++;
}

/* Cuts each stretch of usable bits evenly into blocks of at most `width` bits. */
static void cut(struct pd_plan *p, int *telling, const struct pd_plan_part *part, int width)
{
	p->n_blocks = 0;
	for (int from = 0, to; from < p->bits; from = to + 1) {
		for (to = from; to < p->bits && is_set(&part->usable, to); to++)
			;
		int length = to - from, pieces = (length + width - 1) / width;
		for (int i = 0; i < pieces; i++) {
			int first = from + length * i / pieces;
			add_block(p, telling, &part->varying, first, from + length * (i + 1) / pieces - first);
		}
	}
}

/* The radii plus one sum to k + 1: two keys further apart than its radius in every block differ in k + 1 bits. */
static void spread_radii(struct pd_plan *p)
{
	for (int i = 0; i < p->n_blocks; i++)
		p->radius[i] = (p->k + 1) / p->n_blocks + (i < (p->k + 1) % p->n_blocks) - 1;
}

static double comparisons(const struct pd_plan_part *part)
{
	return part->n_b ? (double)part->n_a * (double)part->n_b : part->n_a * (part->n_a / 2.0);
}

static double block_cost(const struct pd_plan_part *part, int n_bits, int telling, int radius)
{
	double buckets = ldexp(1, telling), half = part->n_b ? 1 : .5;
	double per_bucket = (part->n_b ? part->n_b : part->n_a) / buckets;
	double near = fmin(ball(telling, radius), buckets);
	double probes = half * fmin(buckets, part->n_a) * ball(n_bits, radius);
	double shorts = half * part->n_a * near * fmin(1, per_bucket);
	return COST_SORT * ((double)part->n_a + part->n_b) + COST_BUCKET * ldexp(1, n_bits) + COST_PROBE * probes +
	       COST_SHORT * shorts + comparisons(part) * near / buckets;
}

static double blocks_cost(const struct pd_plan *p, const int *telling, const struct pd_plan_part *part)
{
	double sum = 0;
	for (int i = 0; i < p->n_blocks; i++)
		if (p->radius[i] >= 0)
			sum += block_cost(part, p->n_bits[i], telling[i], p->radius[i]);
	return sum;
}

void pd_plan_part(struct pd_plan *out, enum pd_plan_kind kind, const struct pd_plan_part *part)
{
	struct pd_plan p = { .kind = PD_PLAN_BLOCKS, .bits = out->bits, .k = out->k };
	int telling[PD_PLAN_BLOCKS_MAX];
	*out = (struct pd_plan){ .kind = PD_PLAN_ALL, .bits = p.bits, .k = p.k, .cost = comparisons(part) };
	for (int width = PD_BLOCK_BITS_MAX; kind != PD_PLAN_ALL && width >= BLOCK_BITS_MIN; width--) {
		cut(&p, telling, part, width);
		if (!p.n_blocks)
			continue;
		spread_radii(&p);
		p.cost = blocks_cost(&p, telling, part);
		if (p.cost < out->cost || (kind == PD_PLAN_BLOCKS && out->kind == PD_PLAN_ALL))
			*out = p;
	}
}

static void plan_paper(struct pd_plan *p, size_t n_keys)
{
	p->kind = PD_PLAN_PAPER;
	p->n_blocks = 4;
	for (int i = 0; i < 4; i++) {
		p->n_bits[i] = p->bits / 4;
		p->first_bit[i] = pd_block_first(p->bits, 4, i);
	}
	p->cost = 4 * n_keys * (COST_SORT + log2(n_keys + 1.0) + ldexp(n_keys, -p->bits / 4));
}

int pd_plan_choose(struct pd_plan *out, enum pd_plan_kind kind, int bits, int k, size_t n_keys, struct pd_err *e)
{
	if (bits != 64 && bits != 128 && bits != 256)
		return pd_fail(e, PD_ERR_USAGE, "keys of %d bits: only 64, 128 and 256 can be matched", bits);
	if (k < 0 || k > bits / 4)
		return pd_fail(e, PD_ERR_USAGE, "distance %d: must be 0 to %d, a quarter of the %d bits", k, bits / 4, bits);
	if (kind == PD_PLAN_PAPER && k > 3)
		return pd_fail(e, PD_ERR_USAGE, "plan 'paper' finds every pair only for distances up to 3, not %d; "
			       "use plan 'auto'", k);
	*out = (struct pd_plan){ .bits = bits, .k = k };
	struct pd_plan_part part = { .n_a = n_keys };
	memset(&part.usable, 0xff, (size_t)bits / 8);
	part.varying = part.usable;
	if (kind == PD_PLAN_PAPER)
		plan_paper(out, n_keys);
	else
		pd_plan_part(out, kind, &part);
	return PD_OK;
}

static void print_blocks(const struct pd_plan *p, struct pd_buf *out)
{
	int narrow = p->n_bits[0], wide = p->n_bits[0];
	for (int i = 1; i < p->n_blocks; i++) {
		narrow = p->n_bits[i] < narrow ? p->n_bits[i] : narrow;
		wide = p->n_bits[i] > wide ? p->n_bits[i] : wide;
	}
	pd_buf_printf(out, " %d x %d", p->n_blocks, narrow);
	if (wide > narrow)
		pd_buf_printf(out, "-%d", wide);
	pd_buf_add_z(out, " bits, radii");
	for (int i = 0; i < p->n_blocks; i++)
		if (p->radius[i] < 0)
			pd_buf_add_z(out, " -");
		else
			pd_buf_printf(out, " %d", p->radius[i]);
	pd_buf_add_c(out, ',');
}

void pd_plan_print(const struct pd_plan *p, struct pd_buf *out)
{
	static const char *const names[] = { "auto", "paper", "blocks", "all" };
	pd_buf_printf(out, "%s:", names[p->kind]);
	if (p->n_blocks)
		print_blocks(p, out);
	pd_buf_printf(out, " about %.2g comparisons", p->cost);
}
